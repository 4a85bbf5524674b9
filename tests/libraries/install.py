"""Gets the packages of a row, by the lock file that is pinned for it, and builds its program.

What was got stays in the cache: ~/.cache/lockbroker/libraries, by what is pinned."""

import fcntl
import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "programs")
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"),
                     "lockbroker", "libraries")
FETCH_S = 600
# What tools say when a package is not what was pinned.
TAMPERED = re.compile(r"do not match the hashes|EINTEGRITY|checksum|SECURITY ERROR", re.I)
DEPENDENCIES = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"


class Absent(Exception):
    """It can't be had on this machine; the text says why."""


class Python:
    tools, lock = ["python3"], ["requirements.txt"]

    def pin(self, folder, packages):
        with open("requirements.in", "w", encoding="ascii") as file:
            file.writelines(package + "\n" for package in packages)
        call([sys.executable, "-m", "venv", "venv"])
        call(["venv/bin/pip", "install", "-q", "pip-tools"])
        call(["venv/bin/pip-compile", "-q", "--generate-hashes", "--strip-extras", "--no-header",
              "--no-annotate", "--allow-unsafe", "--no-emit-find-links", "requirements.in"])

    def fetch(self, folder):
        call([sys.executable, "-m", "pip", "install", "-q", "--require-hashes", "--target",
              "packages", "-r", "requirements.txt"])

    def build(self, folder, program):
        return [sys.executable, os.path.join(PROGRAMS, program)], {
            "PYTHONPATH": os.path.join(folder, "packages")}


class Node:
    tools, lock = ["node", "npm"], ["package.json", "package-lock.json"]

    def pin(self, folder, packages):
        call(["npm", "install", "--silent", "--package-lock-only", "--save-exact", *packages])

    def fetch(self, folder):
        call(["npm", "ci", "--silent", "--ignore-scripts", "--no-audit", "--no-fund"])

    def build(self, folder, program):
        return ["node", os.path.join(PROGRAMS, program)], {
            "NODE_PATH": os.path.join(folder, "node_modules")}


class Java:
    tools, lock = ["java", "javac", "mvn"], ["pom.xml", "jars.sha256"]

    def pin(self, folder, packages):
        rows = [package.split(":") for package in packages]
        with open("pom.xml", "w", encoding="ascii") as file:
            print('<project xmlns="http://maven.apache.org/POM/4.0.0">',
                  "<modelVersion>4.0.0</modelVersion><groupId>x</groupId>",
                  "<artifactId>x</artifactId><version>1</version><packaging>pom</packaging>",
                  "<dependencies>", sep="\n", file=file)
            for group, name, version in rows:
                print(f"<dependency><groupId>{group}</groupId><artifactId>{name}</artifactId>"
                      f"<version>{version}</version></dependency>", file=file)
            print("</dependencies></project>", file=file)
        self.copy()
        with open("jars.sha256", "w", encoding="ascii") as file:
            file.writelines(self.sums())

    def copy(self):
        call(["mvn", "-q", "-B", "-C", "-Dmaven.repo.local=" + os.path.join(CACHE, "maven"),
              "-DincludeScope=runtime", "-DoutputDirectory=jars", DEPENDENCIES])

    def sums(self):
        for path in sorted(glob.glob("jars/*.jar")):
            with open(path, "rb") as file:
                yield f"{hashlib.sha256(file.read()).hexdigest()}  {path}\n"

    def fetch(self, folder):
        self.copy()
        with open("jars.sha256", encoding="ascii") as file:
            assert file.readlines() == list(self.sums()), "jars are not those of jars.sha256"

    def build(self, folder, program):
        classes = "classes-" + digest(sorted(glob.glob(os.path.join(PROGRAMS, "*.java"))))
        name = program.removesuffix(".java")
        if not os.path.exists(f"{classes}/{name}.class"):
            call(["javac", "-nowarn", "-cp", "jars/*", "-sourcepath", PROGRAMS, "-d", classes,
                  os.path.join(PROGRAMS, program)])
        return ["java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp",
                f"{folder}/jars/*:{folder}/{classes}", name], {}


class Go:
    tools, lock = ["go"], ["go.mod", "go.sum"]

    def check(self, pinned):
        """One that is too old can't even read a go.mod of today."""
        with open(pinned[0], encoding="ascii") as file:
            wanted = re.search(r"(?m)^go (\d+)\.(\d+)", file.read()).groups()
        said = subprocess.run(["go", "version"], capture_output=True, text=True, check=False)
        found = re.search(r"go(\d+)\.(\d+)", said.stdout)
        if not found or [*map(int, found.groups())] < [*map(int, wanted)]:
            raise Absent(f"it needs go {'.'.join(wanted)}")

    def env(self):
        return {"GOTOOLCHAIN": "local", "GOFLAGS": "-mod=mod",
                "GOMODCACHE": os.path.join(CACHE, "go")}

    def pin(self, folder, packages):
        call(["go", "mod", "init", "lockbroker.test/libraries"], self.env())
        call(["go", "get", *packages], self.env())
        call(["go", "mod", "tidy"], self.env())

    def fetch(self, folder):
        # Only what the program needs; `go mod download` fetches what tests of others need, too.
        call(["go", "list", "-deps", "."], {**self.env(), "GOFLAGS": "-mod=readonly"})

    def build(self, folder, program):
        call(["go", "build", "-o", "program", "."], {**self.env(), "GOFLAGS": "-mod=readonly"})
        return [os.path.join(folder, "program")], {}


class Rust:
    tools, lock = ["cargo"], ["Cargo.toml", "Cargo.lock"]

    def pin(self, folder, packages):
        call(["cargo", "init", "-q", "--vcs", "none", "--name", "program"])
        for package in packages:
            call(["cargo", "add", "-q", *package.split()])
        call(["cargo", "generate-lockfile", "-q"])

    def fetch(self, folder):
        call(["cargo", "fetch", "-q", "--locked"])

    def build(self, folder, program):
        call(["cargo", "build", "-q", "--locked", "--offline"])
        return [os.path.join(folder, "target", "debug", "program")], {}


class Distribution:
    """A library that is a package of the distribution: there, or not."""

    lock = []

    def __init__(self, interpreter, probe):
        self.tools, self.interpreter, self.probe = [interpreter], interpreter, probe

    def pin(self, folder, packages):
        pass

    def fetch(self, folder):
        call([self.interpreter, *self.probe])

    def build(self, folder, program):
        return [self.interpreter, os.path.join(PROGRAMS, program)], {}


LANGUAGES = {"python": Python(), "node": Node(), "java": Java(), "go": Go(), "rust": Rust(),
             "php": Distribution("php", ["-r", "new Redis(); require 'Predis/autoload.php';"]),
             "ruby": Distribution("ruby", ["-e", "require 'redis'"])}
# Where a language wants the sources beside its lock file.
SOURCES = {"go": "{}", "rust": "src/{}"}


def call(command, env=None):
    """In the working directory; what a tool that fails has said last is in the exception."""
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=FETCH_S, check=False,
                             env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        raise Absent(f"{command[0]} took too long") from None
    said = (ran.stderr + ran.stdout).strip()
    if ran.returncode != 0 and TAMPERED.search(said):
        raise AssertionError(said)
    if ran.returncode != 0:
        raise Absent(f"{' '.join(command[:3])}: {(said.splitlines() or ['?'])[-1][:150]}")


def slug_of(row):
    return re.sub(r"[^a-z0-9.]+", "-", f"{row.language} {row.library} {row.version}".lower())


def place_sources(row, folder):
    where = SOURCES.get(row.language)
    if where is None:
        return
    end = row.program.rsplit(".", 1)[1]
    sources = {"main." + end: os.path.join("programs", row.program),
               "common." + end: f"programs/common.{end}"}
    if row.library == "porcupine":
        sources = {"main.go": row.program}
    for name, source in sources.items():
        path = os.path.join(folder, where.format(name))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        shutil.copy(os.path.join(HERE, source), path)


def pin(row):
    """Writes its lock files, as the registries are today."""
    language, place = LANGUAGES[row.language], os.path.join(HERE, "pinned", slug_of(row))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        place_sources(row, folder)
        language.pin(folder, row.packages)
        os.makedirs(place, exist_ok=True)
        for name in language.lock:
            shutil.copy(name, place)


def digest(paths):
    total = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as file:
            total.update(file.read())
    return total.hexdigest()[:12]


def fetched(row):
    """The folder that has its packages, which is the working directory from then on."""
    language, slug = LANGUAGES[row.language], slug_of(row)
    for tool in language.tools:
        if not shutil.which(tool):
            raise Absent(f"{tool} is not installed")
    pinned = [os.path.join(HERE, "pinned", slug, name) for name in language.lock]
    if row.language == "go":
        language.check(pinned)
    folder = os.path.join(CACHE, f"{slug}-{digest(pinned)}")
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    # Several rows may have the same packages, and not all tools can fetch at once.
    with open(os.path.join(CACHE, row.language + ".lock"), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists("fetched"):
            for path in pinned:
                shutil.copy(path, folder)
            place_sources(row, folder)
            language.fetch(folder)
            with open("fetched", "w", encoding="ascii"):
                pass
    return folder


def install(row):
    """The command and the environment of its program."""
    language, folder = LANGUAGES[row.language], fetched(row)
    with open(os.path.join(CACHE, row.language + ".lock"), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        place_sources(row, folder)
        try:
            return language.build(folder, row.program)
        except Absent as error:
            raise AssertionError(str(error)) from None
