"""TCP ports for servers of the tests.

They are none that the kernel gives to whoever connects, so that nobody takes one between here and
the start of its server, and each process of the tests has a hundred of its own.
"""

import os
import socket

FIRST, A_PROCESS, PROCESSES = 11000, 100, 100
BUS = 10000  # a node of a cluster also uses the port so much higher


class _Range:
    """The ports of this process, given out in turn. A socket named after their number says whom
    they belong to: it is visible wherever the ports are, whoever runs the tests, and ends with
    us."""

    def __init__(self):
        self.owner, self.given = None, 0

    def claim(self):
        for number in range(PROCESSES):
            name = socket.socket(socket.AF_UNIX)
            try:
                name.bind(f"\0lockbroker-test-ports-{number}")
            except OSError:
                name.close()
                continue
            self.owner, self.name, self.first = os.getpid(), name, FIRST + number * A_PROCESS
            return
        raise RuntimeError(f"{PROCESSES} processes of tests have ports already")

    def next(self):
        if self.owner != os.getpid():
            self.claim()
        self.given += 1
        return self.first + self.given % A_PROCESS


_range = _Range()


def _is_free(port):
    with socket.socket() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def free_port():
    """A port that this process was not given lately, and that no other process has."""
    for _ in range(A_PROCESS):
        port = _range.next()
        if _is_free(port) and _is_free(port + BUS):
            return port
    raise RuntimeError("no port is free")
