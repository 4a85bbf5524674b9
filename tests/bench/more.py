"""More cases: other requests than one exclusive lock, and other ways to keep
them than one server. `run` takes every case_NAME of this file as its own."""

import contextlib


def pairs(bench, *server, mode="broker", **options):
    """What runs in a turn."""
    return lambda: bench.load(mode, *server, **options)


# ---- requests ----

def case_shared(bench):
    """50 readers of one name, against 50 locks of their own"""
    with bench.redis() as redis, bench.broker(redis) as broker:
        bench.compare("50 readers of a name, to own locks: pairs/s",
                      pairs(bench, broker, mode="shared", names=1),
                      pairs(bench, broker))


def case_permits(bench):
    """a semaphore of 10 for 50 clients, against a hot lock"""
    with bench.redis() as redis, bench.broker(redis) as broker:
        bench.compare("hot semaphore of 10, to a hot lock: pairs/s",
                      pairs(bench, broker, mode="permits", names=1),
                      pairs(bench, broker, names=1))


def case_several(bench):
    """three names at once, against one after another"""
    with bench.redis() as redis, bench.broker(redis) as broker:
        for names, whose in ((0, "own"), (1, "hot")):
            bench.compare(f"3 {whose} names at once, to 3 in turn: sets/s",
                          pairs(bench, broker, mode="several", names=names),
                          pairs(bench, broker, mode="each", names=names))


def case_scripts(bench):
    """fence, queue and guard: the scripts, against SET NX PX"""
    with bench.redis() as redis:
        seen = [("redis", redis)]
        a, b = bench.compare("the scripts, to SET NX PX: pairs/s",
                             pairs(bench, redis, mode="direct",
                                   processes=seen),
                             pairs(bench, redis, mode="simple",
                                   processes=seen))
    bench.ratio("the scripts, to SET NX PX: Redis CPU", a, b,
                "redis_cpu_us_per_pair", unit=" us")


# ---- brokers and servers ----

def case_spread(bench):
    """a hot lock through 2 and 3 brokers, against 1"""
    with bench.redis() as redis, contextlib.ExitStack() as stack:
        brokers = [stack.enter_context(bench.broker(redis, f"bench{i}"))
                   for i in range(3)]
        for n in (2, 3):
            bench.compare(f"hot lock, {n} brokers to 1: grants/s",
                          pairs(bench, *brokers[:n], names=1),
                          pairs(bench, brokers[0], names=1))


def against_one(bench, name, redis, **settings):
    """A broker with these settings, against one in front of one server."""
    with bench.redis() as one, bench.broker(one) as plain, \
            bench.broker(redis, "other", settings=settings) as other:
        for names, whose in ((0, "own locks"), (1, "hot lock")):
            bench.compare(f"{name}, to standalone: {whose}, pairs/s",
                          pairs(bench, other, names=names),
                          pairs(bench, plain, names=names))


def case_wait(bench):
    """grants that a replica must have, against none"""
    with bench.redis() as master, bench.replica(master):
        against_one(bench, "1 replica", master, replicas=1)


def case_quorum(bench):
    """a majority of 3 and of 5 servers, against one server"""
    for n in (3, 5):
        with contextlib.ExitStack() as stack:
            nodes = [stack.enter_context(bench.redis()) for _ in range(n)]
            against_one(bench, f"quorum of {n}", nodes[0], mode="quorum",
                        nodes=[bench.node(node) for node in nodes])


def case_cluster(bench):
    """three masters of a cluster, against one server"""
    with bench.cluster(3) as masters:
        against_one(bench, "cluster of 3", masters[0], mode="cluster",
                    nodes=[node.tcp for node in masters], replicas=0)
