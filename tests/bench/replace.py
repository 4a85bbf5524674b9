"""A process that takes over from one with many clients and locks.  `run` takes
case_replace as one of its own."""

import os
import signal
import socket
import threading
import time

import libraries

PINGERS = 20
SECONDS = 1 # before it, and after the new process has answered


def dial(path):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(60)
    s.connect(path)
    return s


def ask(s, request):
    """The answer, as far as it has come, and the events before it."""
    s.sendall(request + b"\r\n")
    got = b""
    while all(line.startswith(b"!") for line in got.split(b"\r\n")[:-1]):
        more = s.recv(65536)
        if not more:
            raise SystemExit("bench: the broker has gone")
        got += more
    return got


class Pings(threading.Thread):
    """Old clients that ping one after the other."""

    def __init__(self, path):
        super().__init__()
        self.clients = [dial(path) for _ in range(PINGERS)]
        self.took, self.over = [], False

    def run(self):
        while not self.over:
            for client in self.clients:
                start = time.monotonic()
                ask(client, b"PING")
                self.took.append(time.monotonic() - start)
            time.sleep(0.001)

    def since(self):
        """All that were measured since the last call, in ms."""
        took, self.took = self.took, []
        return [one * 1000 for one in took]

    def stop(self):
        self.over = True
        self.join()
        for client in self.clients:
            client.close()


def first_ping(path):
    """Seconds until the new process answers a PING: its STATS tell that it is."""
    start = time.monotonic()
    while True:
        with dial(path) as s:
            ask(s, b"PING")
            took = time.monotonic() - start
            if b"\r\nreplaced_total 1\r\n" in ask(s, b"STATS"):
                return took
        if took > 30:
            raise SystemExit("bench: no process has taken over")


def replaced(bench, clients, locks):
    """One replacement: seconds until the new process answers, what others saw
    before and meanwhile."""
    path = bench.path("place")
    with bench.redis() as redis, \
            bench.broker(redis, place={"unix": path}) as broker, \
            bench.stay("hold", broker, "-c", clients, "-m", locks // clients):
        pings = Pings(path)
        pings.start()
        time.sleep(SECONDS)
        before = pings.since()
        os.kill(broker.pid, signal.SIGUSR2)
        took = first_ping(path)
        time.sleep(SECONDS)
        meanwhile = pings.since()
        pings.stop()
        # It ends those that it has replaced, too.
        with dial(path) as s:
            drained = ask(s, b"DRAIN")
            assert b"OK" in drained, drained
    return took, before, meanwhile


def case_replace(bench):
    """a new process takes over 10,000 clients and 100,000 locks"""
    clients = 1000 if bench.options.quick else 10_000
    runs = [replaced(bench, clients, 10 * clients)
            for _ in range(bench.options.rounds)]
    name = f"{clients:,} clients, {10 * clients:,} locks: "
    bench.row(name + "replaced in", max(run[0] for run in runs) * 1000,
              target=1000, unit=" ms", less=True)
    for which, what, target in ((1, "before", None), (2, "meanwhile", 20)):
        p99 = [libraries.percentile(run[which], 0.99) for run in runs]
        bench.row(name + f"PING p99 {what}", max(p99), target=target,
                  unit=" ms", less=True)
    bench.row(name + "the slowest PING", max(max(run[2]) for run in runs),
              unit=" ms")
