"""Lock libraries written for Redis, at Redis itself and at the broker: only the
address is another one.  `run` takes case_libraries as one of its own.

The drivers, redlock.js and redispy.py, run so many workers, each on a
connection of its own and with the library's own pauses between tries.  They
print "ready", wait for a line, and print what every turn took as JSON."""

import json
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
from pathlib import Path

WORKERS = 50
PACKAGES = ("redlock@5.0.0-beta.2", "ioredis@5")
HERE = Path(__file__).resolve().parent
# Milliseconds: the work under the one lock, and the pause of those that have
# locks of their own, so that few of them want a processor at a time.
SHARED = {"name": "one", "work": 1, "pause": 0}
OWN = {"name": "own", "work": 0, "pause": 100}


def redis_py(_bench):
    """How to start a driver, and in which environment; or None."""
    for python in (sys.executable, "/usr/bin/python3"):
        try:
            subprocess.run([python, "-c", "import redis"], check=True,
                           capture_output=True)
        except (subprocess.SubprocessError, OSError):
            continue
        return [python, str(HERE / "redispy.py")], None
    return None


def redlock(bench):
    modules = bench.directory / "node"
    if not (shutil.which("node") and shutil.which("npm")):
        return None
    modules.mkdir(exist_ok=True)
    done = subprocess.run(["npm", "install", "--silent", *PACKAGES],
                          cwd=modules, stdout=bench.log, stderr=bench.log,
                          check=False)
    if done.returncode != 0:
        return None
    return (["node", str(HERE / "redlock.js")],
            dict(os.environ, NODE_PATH=str(modules / "node_modules")))


def commands(redis):
    """How many commands Redis has run, those of scripts included."""
    host, port = redis.tcp.rsplit(":", 1)
    with socket.create_connection((host, int(port)), 10) as s, \
            s.makefile("rb") as file:
        s.sendall(b"INFO commandstats\r\n")
        text = file.read(int(file.readline()[1:]))
    return sum(int(calls) for name, calls in re.findall(
        rb"cmdstat_([a-z|]+):calls=(\d+)", text) if name != b"info")


def percentile(values, part):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * part))]


def measure(turns, seconds, spent):
    """Of turns, each [moment of the grant, worker, ms waited, ms of the pair],
    moments in seconds from the start."""
    turns = sorted(turns)
    inside = [turn for turn in turns if turn[0] < seconds]
    owners = [turn[1] for turn in inside]
    waits = [turn[2] for turn in turns]
    return {
        "grants_per_s": len(inside) / seconds,
        "changes_per_s": sum(a != b for a, b in zip(owners, owners[1:]))
        / seconds,
        "commands": spent / len(turns),
        "pair_p50": percentile([turn[3] for turn in turns], 0.5),
        "pair_p99": percentile([turn[3] for turn in turns], 0.99),
        **{f"wait_p{p}": percentile(waits, p / 100) for p in (50, 95, 99)}}


def drive(bench, driver, server, redis, locks):
    """One run of a driver."""
    argv, env = driver
    seconds = bench.options.seconds
    port = server.address.rsplit(":", 1)[1]
    argv = [*argv, port, str(WORKERS), str(seconds), locks["name"],
            str(locks["work"]), str(locks["pause"])]
    with subprocess.Popen(argv, env=env, stdin=subprocess.PIPE, text=True,
                          stdout=subprocess.PIPE, stderr=bench.log) as run:
        if run.stdout.readline() != "ready\n":
            sys.exit(f"bench: {' '.join(argv)} failed")
        before = commands(redis)
        text, _ = run.communicate("go\n")
    spent = commands(redis) - before
    if run.returncode != 0:
        sys.exit(f"bench: {' '.join(argv)} failed")
    result = measure(json.loads(text), seconds, spent)
    if bench.options.json:
        bench.options.json.write(json.dumps({"argv": argv, **result}) + "\n")
    return result


def rows(bench, name, turns, keys):
    """A row of the table for each: (key, words, unit, target)."""
    a, b = turns
    for key, words, unit, target in keys:
        bench.row(f"{name}: {words}",
                  statistics.median(run[key] for run in a),
                  statistics.median(run[key] for run in b), target, unit,
                  statistics.median(x[key] / max(y[key], 1e-9)
                                    for x, y in zip(a, b)), less=True)


def case_libraries(bench):
    """redis-py's Lock and node-redlock, at the broker and at Redis"""
    if bench.options.unix:
        print("libraries: skipped, the drivers speak TCP")
        return
    for name, find in (("redis-py", redis_py), ("redlock", redlock)):
        driver = find(bench)
        if driver is None:
            print(f"libraries: {name} is not installed; skipped")
            continue
        with bench.redis() as redis, bench.broker(redis) as broker:
            shared, own = (bench.turns(
                lambda locks=locks: drive(bench, driver, broker, redis, locks),
                lambda locks=locks: drive(bench, driver, redis, redis, locks))
                for locks in (SHARED, OWN))
        rows(bench, f"{name}, {WORKERS} on one lock", shared, (
            ("grants_per_s", "grants/s", "", None),
            ("changes_per_s", "changes of owner/s", "", None),
            ("wait_p50", "wait p50", " ms", None),
            ("wait_p95", "wait p95", " ms", None),
            ("wait_p99", "wait p99", " ms", None),
            ("commands", "commands a grant", "", None)))
        rows(bench, f"{name}, own locks", own, (
            ("pair_p50", "pair p50", " ms", 1.3),
            ("pair_p99", "pair p99", " ms", None),
            ("commands", "commands a grant", "", None)))
