"""Node and packages of npm, for tests of programs that use them."""

import os
import shutil
import subprocess
import unittest

from .wait import hang


def version():
    """Of Node; 0: it is not installed."""
    program = shutil.which("node")
    if program is None:
        return 0
    told = subprocess.run([program, "--version"], stdout=subprocess.PIPE, check=False).stdout
    return int(told.decode().strip().lstrip("v").partition(".")[0] or 0)


def install(directory, *packages):
    """The environment for a node program that uses these packages; if they can't be had, the test
    is skipped."""
    if not (shutil.which("node") and shutil.which("npm")):
        raise unittest.SkipTest("node and npm are not installed")
    modules = os.path.join(directory, "node")
    os.mkdir(modules)
    try:
        subprocess.run(["npm", "install", "--silent", *packages],
                       cwd=modules, check=True, capture_output=True, timeout=hang(20))
    except (subprocess.SubprocessError, OSError):
        raise unittest.SkipTest(f"npm can't install {packages}") from None
    return dict(os.environ, NODE_PATH=os.path.join(modules, "node_modules"))
