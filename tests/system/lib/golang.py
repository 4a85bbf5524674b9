"""Programs in Go, made with Debian's packages."""

import os
import shutil
import subprocess
import unittest

from .wait import hang

PATH = "/usr/share/gocode"


def build(directory, name, text, *packages):
    """The path of the program; if it can't be made, the test is skipped."""
    if not shutil.which("go"):
        raise unittest.SkipTest("go is not installed")
    for package in packages:
        if not os.path.isdir(f"{PATH}/src/{package}"):
            raise unittest.SkipTest(f"this is not installed: {package} for go")
    source, program = os.path.join(directory, name + ".go"), os.path.join(directory, name)
    with open(source, "w", encoding="utf-8") as file:
        file.write(text)
    # With cgo, which Debian used for the standard library.
    env = dict(os.environ, GO111MODULE="off", GOPATH=PATH, GOFLAGS="", CGO_ENABLED="1",
               GOTOOLCHAIN="local", GOCACHE=os.path.join(directory, "gocache"))
    subprocess.run(["go", "build", "-o", program, source], env=env, check=True,
                   timeout=hang(60))
    return program
