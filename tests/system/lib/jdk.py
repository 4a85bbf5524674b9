"""The client in Java (clients/java), compiled for programs that use it, and those programs."""

import fcntl
import functools
import glob
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from .manual import SOURCE

FOLDER = os.path.join(SOURCE, "clients", "java")
SOURCES = os.path.join(FOLDER, "src", "main", "java")
PROGRAMS = [os.path.join(SOURCE, "clients", "conformance", "Driver.java"),
            os.path.join(SOURCE, "tests", "system", "JavaStories.java")]
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"),
                     "lockbroker", "java")
LEAST = 11
UNIX = 16  # from which on it has Unix sockets
KNOWN = 25
VIRTUAL = 21  # ... and virtual threads
# A virtual machine that starts soon, and takes little.
FLAGS = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto", "-Xmx64m"]


def version_of(java):
    try:
        told = subprocess.run([java, "-version"], capture_output=True, text=True,
                              check=False).stderr
    except OSError:
        return 0
    found = re.search(r'version "(?:1\.)?(\d+)', told)
    return int(found[1]) if found else 0


@functools.lru_cache(None)
def version():
    """Of the JDK, whose compiler is there as well; 0: none."""
    if not (shutil.which("java") and shutil.which("javac") and shutil.which("jar")):
        return 0
    return version_of("java")


@functools.lru_cache(None)
def virtual():
    """A java that has virtual threads; None: there is none."""
    for java in ["java", *sorted(glob.glob("/usr/lib/jvm/*/bin/java"))]:
        if version_of(java) >= VIRTUAL:
            return java
    return None


def need(least=LEAST):
    if version() < least:
        raise unittest.SkipTest(f"no JDK of Java {least} or later is installed")


def compiled(sources, to, *path):
    """... as the client is: for the oldest Java that it is for, and without a warning of a
    compiler that is known."""
    subprocess.run(["javac", "--release", str(LEAST), "-Xlint:all,-try",
                    *(["-Werror"] if version() <= KNOWN else []), "-d", to,
                    *(["-cp", ":".join(path)] if path else []), *sources], check=True)


@functools.lru_cache(None)
def classes():
    """The folder of the client, of its driver (Driver) and of JavaStories. It is made once, for all
    processes that test these sources."""
    sources = sorted(glob.glob(os.path.join(SOURCES, "**", "*.java"), recursive=True))
    sources += PROGRAMS
    known = hashlib.sha256(f"{version()}".encode())
    for path in sources:
        with open(path, "rb") as file:
            known.update(file.read())
    made = os.path.join(CACHE, known.hexdigest()[:20])
    os.makedirs(CACHE, exist_ok=True)
    with open(made + ".lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.isdir(made):
            with tempfile.TemporaryDirectory(dir=CACHE) as folder:
                compiled(sources, os.path.join(folder, "classes"))
                subprocess.run(["jar", "cf", os.path.join(folder, "classes", "all.jar"), "-C",
                                os.path.join(folder, "classes"), "."], check=True)
                os.rename(os.path.join(folder, "classes"), made)
    return made


def jar():
    """The same: what is in a jar is had without further descriptors."""
    return os.path.join(classes(), "all.jar")


def driver(*options, java="java", least=UNIX):
    """How the driver of the conformance story is started, but for its arguments."""
    need(least)
    return [java, *FLAGS, *options, "-cp", jar(), "Driver"]
