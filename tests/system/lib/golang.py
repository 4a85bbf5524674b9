"""Programs in Go, made with Debian's packages, or with the client of this tree (clients/go)."""

import functools
import os
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

from .manual import SOURCE
from .wait import hang

PATH = "/usr/share/gocode"
CLIENT = os.path.join(SOURCE, "clients", "go")
MODULE = "github.com/lockbroker/lockbroker/clients/go"


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
               GOTOOLCHAIN="local")
    subprocess.run(["go", "build", "-o", program, source], env=env, check=True,
                   timeout=hang(60))
    return program


PROXY = os.environ.get("GOPROXY") or "https://proxy.golang.org,direct"
# Nothing is fetched: the client needs the standard library only.
OFFLINE = {"GO111MODULE": "on", "GOTOOLCHAIN": "local", "GOFLAGS": "", "GOPROXY": "off",
           "GOWORK": "off"}


@functools.lru_cache(None)
def version():
    """(1, 21), or (0, 0) where there is none."""
    if not shutil.which("go"):
        return 0, 0
    said = subprocess.run(["go", "version"], capture_output=True, text=True, check=False)
    found = re.search(r"go(\d+)\.(\d+)", said.stdout)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def needs_client():
    if version() < (1, 21):
        raise unittest.SkipTest("Go is not installed, or is older than 1.21")


def run(folder, *argv, **env):
    """A command of Go, which succeeds."""
    done = subprocess.run(["go", *argv], cwd=folder, env={**os.environ, **OFFLINE, **env},
                          capture_output=True, text=True, check=False, timeout=hang(300))
    if done.returncode:
        raise AssertionError(f"go {' '.join(argv)}: {done.stdout}{done.stderr}")
    return done.stdout


def _fetch(source, module, version, sums):
    """A module of others, whose go.sum is known; if it can't be had, the test is skipped."""
    with open(os.path.join(source, "go.sum"), "w", encoding="ascii") as file:
        file.write(sums)
    run(source, "mod", "edit", f"-require={module}@{version}")
    env = {**os.environ, **{key: OFFLINE[key] for key in OFFLINE if key != "GOPROXY"}}
    try:
        done = subprocess.run(["go", "mod", "download", module], cwd=source, env=env, check=False,
                              capture_output=True, text=True, timeout=hang(60))
    except subprocess.TimeoutExpired:
        raise unittest.SkipTest(f"{module} can't be had: the proxy hangs") from None
    if done.returncode and "SECURITY ERROR" not in done.stderr:
        raise unittest.SkipTest(f"{module} can't be had: {done.stderr.strip()[-150:]}")


def with_client(folder, name, *texts, module=None):
    """The path of a program with the client, which is had as its README says, and another
    module: its name, version and go.sum."""
    needs_client()
    source = os.path.join(folder, name + ".d")
    os.mkdir(source)
    for i, text in enumerate(texts):
        with open(os.path.join(source, f"main{i}.go"), "w", encoding="utf-8") as file:
            file.write(text)
    # The first time, all of the standard library is compiled: that is not the test's time.
    left = signal.alarm(0)
    try:
        run(source, "mod", "init", "example.net/" + name)
        run(source, "mod", "edit", f"-replace={MODULE}={CLIENT}")
        if module:
            _fetch(source, *module)
        run(source, "get", MODULE + "@v1.0.0")
        run(source, "build", "-o", os.path.join(folder, name), ".")
    finally:
        signal.alarm(left)
    return os.path.join(folder, name)


CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"),
                     "lockbroker", "go")
# The newest that each Go can compile.
STATICCHECK = (((1, 26), "v0.8.2"), ((1, 25), "v0.7.0"), ((1, 23), "v0.6.1"), ((1, 21), "v0.4.7"))


def staticcheck():
    """Its path. It is fetched and compiled once for each Go; if it can't be had, the test is
    skipped."""
    needs_client()
    found = shutil.which("staticcheck")
    if found:
        return found
    release = next(release for least, release in STATICCHECK if version() >= least)
    program = os.path.join(CACHE, "staticcheck-%s-go%d.%d" % (release, *version()))
    if os.path.exists(program):
        return program
    left = signal.alarm(0)
    try:
        os.makedirs(CACHE, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as folder:
            env = dict(os.environ, **{**OFFLINE, "GOPROXY": PROXY}, GOBIN=folder)
            # To compile it may take long on a busy machine; a proxy that hangs is not waited for.
            for argv, most in ((["mod", "download", "honnef.co/go/tools@" + release], 30),
                               (["install", "honnef.co/go/tools/cmd/staticcheck@" + release], 300)):
                subprocess.run(["go", *argv], cwd=folder, env=env, check=True,
                               capture_output=True, timeout=hang(most))
            os.rename(os.path.join(folder, "staticcheck"), program)
    except (subprocess.SubprocessError, OSError):
        raise unittest.SkipTest(f"staticcheck {release} can't be had") from None
    finally:
        signal.alarm(left)
    return program


def driver(folder):
    """The driver of the conformance story."""
    with open(os.path.join(SOURCE, "clients", "conformance", "driver.go"),
              encoding="utf-8") as file:
        return with_client(folder, "driver-go", file.read())
