"""Runs one of the recipes in Python: main.py NAME ARGUMENT."""

import sqlite3
import sys
import threading

import recipes  # pylint: disable=import-error


def thumbnails():
    threads = [threading.Thread(target=recipes.thumbnail, args=(f"{i}.jpg",)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main(name, argument):
    if name == "once":
        recipes.nightly_report(argument)
    elif name == "lead":
        recipes.lead(argument)
    elif name == "leader":
        print(recipes.leader() or "none")
    elif name == "thumbnails":
        thumbnails()
    elif name == "store":
        recipes.store(sqlite3.connect("books.sqlite"))


main(*sys.argv[1:])
