"""The sources of the manual, and the blocks of a page that a comment names."""

import os
import re

SOURCE = os.environ.get("LOCKBROKER_SRC") or \
    os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))


def read_source(path):
    """The text of a file of the sources."""
    with open(os.path.join(SOURCE, path), encoding="utf-8") as file:
        return file.read()


def blocks(page, kind):
    """The blocks behind comments such as `recipe: NAME`, by their names, as they are shown."""
    found = re.findall(rf'^\.\\" {kind}: (\S+)\n\.Bd [^\n]*\n(.*?)^\.Ed$',
                       read_source(page), re.M | re.S)
    return {name: re.sub(r"^\\&", "", block, flags=re.M).replace("\\e", "\\")
            for name, block in found}
