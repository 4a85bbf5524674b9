"""The program's own part of the recipes in Python."""

import os
import sys
import time


def note(name, line):
    with open(name, "a", encoding="ascii") as file:
        file.write(f"{line}\n")


def wait_for(name):
    while not os.path.exists(name):
        time.sleep(0.01)


def report(day):
    note("did", day)
    if os.path.exists("slow"):
        wait_for("go")


def bill(fence):
    note("billed", f"{sys.argv[2]}/{fence}")


def convert(_, lost):
    note("did", "+")
    while not os.path.exists("go") and not lost.wait(0.01):
        pass
    note("did", "-")


def compute():
    if os.path.exists("slow"):
        note("did", "computes")
        wait_for("go")
    return int(sys.argv[2])
