"""The clients of this tree at the broker, against the library for Redis of their
language at Redis: what one pair costs a program that does nothing else.  `run`
takes case_clients as one of its own."""

import json
import os
import subprocess
import sys

import libraries

CLIENTS = libraries.HERE.parent.parent / "clients"


def python(bench):
    """How to start a driver, and in which environment; or None."""
    found = libraries.redis_py(bench)
    if found is None:
        return None
    return ([found[0][0], str(libraries.HERE / "pair.py")],
            dict(os.environ, PYTHONPATH=str(CLIENTS / "python")))


def node(bench):
    found = libraries.redlock(bench)
    if found is None:
        return None
    return (["node", str(libraries.HERE / "pair.js")],
            dict(found[1], LOCKBROKER_CLIENT=str(CLIENTS / "node")))


def drive(bench, driver, kind, server):
    """One run of a driver."""
    argv, env = driver
    port = server.address.rsplit(":", 1)[1]
    argv = [*argv, kind, port, str(bench.options.seconds)]
    done = subprocess.run(argv, env=env, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=bench.log)
    if done.returncode != 0:
        sys.exit(f"bench: {' '.join(argv)} failed")
    took = json.loads(done.stdout)
    result = {f"p{p}": libraries.percentile(took, p / 100) for p in (50, 99)}
    if bench.options.json:
        bench.options.json.write(json.dumps({"argv": argv, **result}) + "\n")
    return result


def case_clients(bench):
    """the clients for Python and Node, against redis-py and ioredis"""
    if bench.options.unix:
        print("clients: skipped, the drivers speak TCP")
        return
    for name, find in (("Python, against redis-py", python),
                       ("Node, against ioredis", node)):
        driver = find(bench)
        if driver is None:
            print(f"clients: {name}: not installed; skipped")
            continue
        for what, locks in (("", {}), (", locks.warm", {"warm": "1s"})):
            with bench.redis() as redis, bench.broker(redis, **locks) as broker:
                turns = bench.turns(
                    lambda: drive(bench, driver, "broker", broker),
                    lambda: drive(bench, driver, "redis", redis))
            libraries.rows(bench, name + what, turns, (
                ("p50", "pair p50", " us", 1.2), ("p99", "pair p99", " us", None)))
