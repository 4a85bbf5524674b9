"""The recipes of lockbroker-recipes(7) that it shows in each language, as programs.

A program is a main of tests/system/recipes with the recipes as they are printed, and is started
with the name of one and an argument. If it can't be made here, the test is skipped.
"""

import os
import shutil
import subprocess
import sys
import unittest

from lib import golang, jdk, liblockbroker, npm, pinned
from lib.manual import SOURCE, blocks

FOLDER = os.path.join(SOURCE, "tests", "system", "recipes")
RECIPES = blocks("man/lockbroker-recipes.7", "recipe")
LANGUAGES = ("python", "node", "go", "java", "c")
LOCKS = ("once", "leader", "semaphore")
ALL = (*LOCKS, "fence")
# The newest that Go 1.21 compiles, and has no packages below it.
PQ = ("github.com/lib/pq", "v1.10.9", """\
github.com/lib/pq v1.10.9 h1:YXG7RB+JIjhP29X+OtkiDnYaXQwpS4JEWq7dtCCRUEw=
github.com/lib/pq v1.10.9/go.mod h1:AlVN5x4E4T544tWzH6hKfbfQvm3HdbOxrmggDNAPY9o=
""")


class Program:
    def __init__(self, argv, **env):
        self.argv, self.env = argv, env


def _texts(language, names=ALL):
    return "\n".join(RECIPES[f"{name}-{language}"] for name in names)


def _ours(name):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return file.read()


def _write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def python(folder):
    for name in "main.py", "work.py":
        shutil.copy(os.path.join(FOLDER, name), folder)
    _write(folder, "recipes.py", """
import logging
import time

import lockbroker
from work import bill, compute, convert, report

broker = lockbroker.Broker()

""" + _texts("python"))
    return Program([sys.executable, os.path.join(folder, "main.py")],
                   PYTHONPATH=os.path.join(SOURCE, "clients", "python"),
                   PYTHONDONTWRITEBYTECODE="1")


def node(folder, library=None):
    """With the packages of a row of tests/libraries."""
    if npm.version() < 18:
        raise unittest.SkipTest("node is not installed, or is older than 18")
    env = {"NODE_PATH": f"{pinned.folder_of(library)}/node_modules"} if library else {}
    os.mkdir(os.path.join(folder, "node_modules"))
    os.symlink(os.path.join(SOURCE, "clients", "node"),
               os.path.join(folder, "node_modules", "lockbroker"))
    for name in "main.js", "work.js":
        shutil.copy(os.path.join(FOLDER, name), folder)
    _write(folder, "recipes.js", """'use strict';
const { Broker } = require('lockbroker');
const { bill, compute, convert, report } = require('./work');

const broker = new Broker();

""" + _texts("node") + "\nmodule.exports = { broker, lead, leader, nightlyReport, store, thumbnail };\n")
    return Program(["node", os.path.join(folder, "main.js")], **env)


def _go(folder, main, names, **more):
    text = _texts("go", names)
    imports = [f'\t"{path}"\n' for path in ("context", "database/sql", "errors", "log", "time")
               if path.rpartition("/")[2] + "." in text]
    return Program([golang.with_client(
        folder, "recipes", _ours("main.go"), _ours(main), "package main\n\nimport (\n"
        + "".join(imports) + f'\tlockbroker "{golang.MODULE}"\n)\n\n' + text, **more)])


def go(folder):
    return _go(folder, "locks.go", LOCKS)


def go_with_postgresql(folder):
    return _go(folder, "store.go", ["fence"], module=PQ)


def java(folder, library=None):
    jdk.need(jdk.UNIX)
    jars = f"{pinned.folder_of(library)}/jars/*:" if library else ""
    main = _write(folder, "Main.java",
                  _ours("Main.java") + "\nclass Recipes {\n" + _texts("java") + "}\n")
    jdk.compiled([main], folder, jdk.jar())
    return Program(["java", *jdk.FLAGS, "-cp", f"{jars}{jdk.jar()}:{folder}", "Main"])


def c(folder):
    if shutil.which("cc") is None:
        raise unittest.SkipTest("no C compiler is installed")
    recipes = _write(folder, "recipes.c", """
#include <poll.h>
#include <stdio.h>
#include <unistd.h>
#include <lockbroker.h>
#include "work.h"

""" + _texts("c", LOCKS))
    return Program([liblockbroker.link(
        folder, "recipes", f"-I{FOLDER}", os.path.join(FOLDER, "main.c"), recipes)],
        LD_LIBRARY_PATH=folder)


def c_with_sqlite(folder):
    if shutil.which("cc") is None:
        raise unittest.SkipTest("no C compiler is installed")
    there = subprocess.run(["cc", "-E", "-include", "sqlite3.h", "-xc", os.devnull], check=False,
                           capture_output=True)
    if there.returncode:
        raise unittest.SkipTest("sqlite3.h is not installed")
    recipes = _write(folder, "recipes.c", """
#include <sqlite3.h>
#include <lockbroker.h>

int64_t compute(struct lockbroker *lb);

""" + _texts("c", ["fence"]))
    return Program([liblockbroker.link(
        folder, "recipes", os.path.join(FOLDER, "store.c"), recipes, "-lsqlite3")],
        LD_LIBRARY_PATH=folder)
