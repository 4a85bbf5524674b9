"""Builds the package, with the standard library alone: `pip install` of this
folder needs no network.  pyproject.toml names it (PEP 517)."""

import base64
import hashlib
import os
import re
import zipfile

FILES = ("lockbroker/__init__.py", "lockbroker/aio.py", "lockbroker/py.typed")


def _read(name):
    with open(name, encoding="utf-8") as file:
        return file.read()


def _info():
    """The folder of what is said about the package, and that."""
    version = re.search(r'^__version__ = "(.*)"', _read(FILES[0]), re.M)[1]
    return f"lockbroker-{version}.dist-info", {
        "METADATA": f"""Metadata-Version: 2.1
Name: lockbroker
Version: {version}
Summary: Distributed locks from lockbroker
Requires-Python: >=3.9
Classifier: Typing :: Typed
Classifier: Framework :: AsyncIO
Description-Content-Type: text/markdown

""" + _read("README.md"),
        "WHEEL": """Wheel-Version: 1.0
Generator: lockbroker
Root-Is-Purelib: true
Tag: py3-none-any
"""}


def prepare_metadata_for_build_wheel(directory, _settings=None):
    folder, texts = _info()
    os.mkdir(os.path.join(directory, folder))
    for name, text in texts.items():
        with open(os.path.join(directory, folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    return folder


def build_wheel(directory, _settings=None, _metadata=None):
    folder, texts = _info()
    parts = {name: _read(name) for name in FILES}
    parts.update((f"{folder}/{name}", text) for name, text in texts.items())
    record = ""
    for name, text in parts.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest())
        record += f"{name},sha256={digest.decode().rstrip('=')},{len(text.encode())}\n"
    parts[f"{folder}/RECORD"] = record + f"{folder}/RECORD,,\n"
    wheel = folder.replace(".dist-info", "-py3-none-any.whl")
    with zipfile.ZipFile(os.path.join(directory, wheel), "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in parts.items():
            file.writestr(name, text)
    return wheel
