"""locks.warm: that it costs others nothing; what it saves, `points` tells.  `run` takes every
case_NAME of this file as its own."""

import contextlib

WARM = {"warm": "1s"}


def case_cool(bench):
    """a name for each pair, with locks.warm, which must cost nothing there"""
    bench.own_locks(50, 0.8, 0.4, ("fresh", "simple-fresh"),
                    "fresh names with locks.warm", **WARM)


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
