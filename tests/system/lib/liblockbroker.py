"""Programs that are linked with the library for C (clients/c)."""

import os
import shutil
import subprocess

from lib.broker import find_program
from lib.manual import SOURCE

FOLDER = os.path.join(SOURCE, "clients", "c")
BUILT = os.path.join(os.environ.get("top_builddir", "."), "clients", "c")


def link(folder, name, *sources):
    """Returns the path of the program, in a folder that has the library, too; it is found by
    LD_LIBRARY_PATH."""
    library = os.path.join(folder, "liblockbroker.so")
    shutil.copy(os.path.join(BUILT, "liblockbroker.so.0"), library + ".0")
    os.symlink("liblockbroker.so.0", library)
    # The library finds it beside the program, or where it is installed.
    os.symlink(find_program("lockbroker-tls"), os.path.join(folder, "lockbroker-tls"))
    with open(library, "rb") as file:
        sanitized = b"__asan_init" in file.read()
    program = os.path.join(folder, name)
    subprocess.run(["cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-pthread",
                    *(["-fsanitize=address,undefined"] if sanitized else []),
                    f"-I{FOLDER}", *sources, f"-L{folder}", "-llockbroker", "-o", program],
                   check=True)
    return program
