"""locks.warm: what it saves, and that it costs others nothing.  `run` takes every
case_NAME of this file as its own."""

import contextlib
import subprocess
import sys
from pathlib import Path

DELAY = Path(__file__).resolve().parent / "delay.py"
WARM = {"warm": "1s"}


def case_warm(bench):
    """the same locks again and again, with locks.warm"""
    for clients, target in ((1, None), (50, 0.9), (1000, 1.15)):
        # What counts is names that have been taken for a while: before that,
        # each draws fences, a few and then more.
        bench.own_locks(clients, target, 0.02, what="warm", p50=0.5,
                        load={"warm": 10 if clients == 1000 else 3}, **WARM)


def case_cool(bench):
    """a name for each pair, with locks.warm, which must cost nothing there"""
    bench.own_locks(50, 0.8, 0.4, ("fresh", "simple-fresh"),
                    "fresh names with locks.warm", **WARM)


class Delayed:
    """A server, and a process between it and its clients that delays what they
    say to each other, by 0.25 ms each way."""

    def __init__(self, bench, server):
        port = bench.port()
        self.address = self.tcp = f"127.0.0.1:{port}"
        self.process = subprocess.Popen(
            [sys.executable, str(DELAY), str(port), server.tcp],
            stdout=subprocess.PIPE)
        if self.process.stdout.readline() != b"ready\n":
            sys.exit("bench: delay.py failed")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def case_far(bench):
    """one client, with Redis half a millisecond away"""
    if bench.options.unix:
        print("far: skipped, the delay is between TCP sockets")
        return
    for what, locks, target in (("", {}, None), (", warm", WARM, 8)):
        with bench.redis() as redis, Delayed(bench, redis) as far, \
                bench.broker(far, **locks) as broker:
            a, b = bench.turns(
                lambda: bench.load("broker", broker, clients=1),
                lambda: bench.load("simple", far, clients=1))
        bench.against(f"1 client, Redis 0.5 ms away{what}: pairs/s", a, b,
                      "pairs_per_s", target)


def both(bench, name, load, n, key="pairs_per_s", jain=False):
    """The same load on n brokers of one Redis each, with locks.warm and without."""
    with contextlib.ExitStack() as stack:
        fleets = []
        for which, locks in enumerate((WARM, {})):
            redis = stack.enter_context(bench.redis())
            fleets.append([stack.enter_context(bench.broker(
                redis, f"bench{which}{i}", **locks)) for i in range(n)])
        a, b = bench.turns(lambda: load(fleets[0]), lambda: load(fleets[1]))
    bench.against(f"{name}, to without: {key.split('_')[0]}/s", a, b, key, 0.97)
    if jain:
        bench.against(f"{name}, to without: Jain", a, b, "jain", 0.97)


def case_turns(bench):
    """names that are not for one broker, with locks.warm, to without"""
    both(bench, "names used once",
         lambda brokers: bench.load("fresh", *brokers, clients=50), 1)
    both(bench, "2 brokers in turn on a name",
         lambda brokers: bench.load("broker", *brokers, clients=2, names=1), 2,
         jain=True)
    both(bench, "3 brokers at 90, 5 and 5 % on a name",
         lambda brokers: bench.load("broker", *([brokers[0]] * 18 + brokers[1:]),
                                    clients=20, names=1), 3, jain=True)

    both(bench, "TRYLOCK through 2 brokers, mostly busy",
         lambda brokers: bench.load("try", brokers[0], *[brokers[1]] * 9, clients=50,
                                    names=5, work_us=1000), 2)
    both(bench, "TRYLOCK through 2 brokers, mostly free",
         lambda brokers: bench.load("try", *brokers, clients=10, names=100), 2)
