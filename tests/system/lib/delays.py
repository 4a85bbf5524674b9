"""What is lost by the clock of a program keeps its delay=: the broker must not read a QUIT, which
is an end like a release."""

import os
import sys

from .manual import SOURCE
from .wait import eventually

sys.path.insert(0, os.path.join(SOURCE, "clients", "conformance"))

import play  # pylint: disable=import-error,wrong-import-position


def program_loses(test, start):
    """start() runs a program at some addresses: it takes the lock "a" with a delay of 30 s, and
    says something when that is lost."""
    server = play.Server()
    test.addCleanup(server.stop)
    server.rules += [[["PING"], "nothing", False], [["PING"], "OK valid=200ms", True]]
    program = start(server.addresses)
    program.next()
    eventually(lambda: not server.open, 20, "the session has ended")
    test.assertTrue([line for line in server.seen if line.startswith("LOCK a delay=30000ms")])
    test.assertNotIn("QUIT", server.seen)
