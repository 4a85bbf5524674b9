"""The clients of this tree at the broker, against the library for Redis of their
language at Redis: what one pair costs a program that does nothing else.  `run`
takes case_clients as one of its own."""

import json
import os
import shutil
import subprocess
import sys

import libraries
import pairs

CLIENTS = libraries.HERE.parent.parent / "clients"
JEDIS = libraries.HERE.parent / "libraries" / "pinned" / "java-jedis-8.0.2" / "pom.xml"
DEPENDENCIES = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"


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


def go(bench):
    """Made once: go-redis is fetched."""
    source = bench.directory / "pair.d"
    if shutil.which("go") and not source.exists():
        source.mkdir()
        shutil.copy(libraries.HERE / "pair.go", source / "main.go")
        module = "github.com/lockbroker/lockbroker/clients/go"
        for words in (["mod", "init", "example.net/pair"],
                      ["mod", "edit", f"-replace={module}={CLIENTS / 'go'}"],
                      ["get", f"{module}@v1.0.0", "github.com/redis/go-redis/v9"],
                      ["build", "-o", "pair", "."]):
            if subprocess.run(["go", *words], cwd=source, stdout=bench.log,
                              stderr=bench.log, check=False).returncode != 0:
                break
    program = source / "pair"
    return ([str(program)], dict(os.environ)) if program.exists() else None


def java(bench):
    folder = bench.directory / "java"
    if not all(map(shutil.which, ("java", "javac", "mvn"))):
        return None
    shutil.copytree(JEDIS.parent, folder, dirs_exist_ok=True)
    sources = [libraries.HERE / "Pair.java", *(CLIENTS / "java" / "src").rglob("*.java")]
    for argv in (["mvn", "-q", "-B", "-DoutputDirectory=jars", DEPENDENCIES],
                 ["javac", "-d", "classes", "-cp", "jars/*", *map(str, sources)]):
        done = subprocess.run(argv, cwd=folder, stdout=bench.log, stderr=bench.log, check=False)
        if done.returncode != 0:
            return None
    # A server's compiler takes more of two processors than all the rest.
    return (["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp",
             f"{folder}/classes:{folder}/jars/*", "Pair"], None)


def drive(bench, driver, kind, server, at_socket=False):
    """One run of a driver."""
    argv, env = driver
    where = server.unix if at_socket else server.address
    if kind == "redis":
        where = where.rsplit(":", 1)[1]
    argv = [*argv, kind, where, str(bench.options.seconds)]
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
    """the clients for Python, Node, Go and Java, against the usual libraries for Redis"""
    if bench.options.unix:
        print("clients: skipped, the drivers speak TCP")
        return
    # Cold pairs of the last two have their target by_relay().
    for name, find, cold in (("Python, against redis-py", python, 1.2),
                             ("Node, against ioredis", node, 1.2),
                             ("Go, against go-redis", go, None),
                             ("Java, against Jedis", java, None)):
        driver = find(bench)
        if driver is None:
            print(f"clients: {name}: not installed; skipped")
            continue
        for what, locks, at_socket in (
                ("", {}, False), (", locks.warm", {"warm": "1s"}, False),
                # Where clients look without an address.
                (", locks.warm, at the broker's socket", {"warm": "1s"}, True)):
            with bench.redis() as redis, bench.broker(redis, **locks) as broker:
                turns = bench.turns(
                    lambda: drive(bench, driver, "broker", broker, at_socket),
                    lambda: drive(bench, driver, "redis", redis))
            libraries.rows(bench, name + what, turns, (
                ("p50", "pair p50", " us", 0.6 if locks else cold),
                ("p99", "pair p99", " us", None)))
    by_relay(bench)


def by_relay(bench):
    """Two hops more than SET NX: as hop.c, which does nothing else, costs."""
    for name, find in (("Go, against go-redis", go), ("Java, against Jedis", java)):
        driver = find(bench)
        if driver is None:
            continue
        with bench.redis() as redis, bench.broker(redis) as broker, \
                pairs.hop(bench, redis) as far:
            turns = bench.turns(lambda: drive(bench, driver, "broker", broker),
                                lambda: drive(bench, driver, "redis", far))
        libraries.rows(bench, f"{name} by a relay", turns, (("p50", "pair p50", " us", 1.2),))
