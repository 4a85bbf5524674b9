"""Cold pairs, SET NX PX and the script that gives back, of Jedis, redis-py and
go-redis as they are: at the broker, and at Redis behind a hop that only copies bytes
(hop.c).  `run` takes case_pairs as one of its own."""

import json
import os
import statistics
import subprocess
import sys

import libraries
import redisson
from install import Absent
from points import hop

# Language, library of tests/libraries/table.py, its program.
DRIVERS = (("Jedis", "Jedis", "JedisPairs.java"), ("go-redis", "redsync", "pairs.go"))
TARGET = 1.2


def drivers():
    """(name, how it is started, its environment)"""
    yield "redis-py", [sys.executable, str(libraries.HERE / "pair.py"), "redis"], {
        "PYTHONPATH": redis_py()}
    for name, library, program in DRIVERS:
        try:
            yield (name, *redisson.program(library, "", program))
        except Absent as error:
            print(f"pairs: {name}: skipped: {error}")


def redis_py():
    """The packages of its newest row."""
    return redisson.program("redis-py", "8", "redis_py.py")[1]["PYTHONPATH"]


def drive(bench, argv, env, address):
    argv = [*argv, address.rsplit(":", 1)[1], str(bench.options.seconds)]
    done = subprocess.run(argv, env={**os.environ, **env}, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=bench.log)
    if done.returncode != 0:
        sys.exit(f"bench: {' '.join(argv)} failed")
    took = json.loads(done.stdout)
    return {f"p{p}": libraries.percentile(took, p / 100) for p in (50, 99)}


def case_pairs(bench):
    """Jedis, redis-py and go-redis: cold pairs, against a hop that copies bytes"""
    if bench.options.unix:
        print("pairs: skipped, the drivers speak TCP")
        return
    for name, argv, env in drivers():
        with bench.redis() as redis, bench.broker(redis) as broker, \
                bench.redis() as bare, hop(bench, bare) as relay:
            runs = [[drive(bench, argv, env, server.address)
                     for server in (broker, relay, bare)]
                    for _ in range(bench.options.rounds)]
        a, b, direct = zip(*runs)
        libraries.rows(bench, f"{name}, cold pairs, against a hop", (a, b), (
            ("p50", "pair p50", " us", TARGET), ("p99", "pair p99", " us", None)))
        libraries.rows(bench, f"{name}, cold pairs, against Redis", (a, direct), (
            ("p50", "pair p50", " us", None),))
        print("   quartiles of the p50, broker and hop:", *(
            "/".join(f"{value:.0f}" for value in statistics.quantiles(
                [run["p50"] for run in side], n=4)) for side in (a, b) if len(a) > 1),
            flush=True)
