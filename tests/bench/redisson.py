"""Threads of five JVMs that want one lock, as Redisson's getLock() takes it: the
broker against bare Redis, with the newest Redisson of tests/libraries/table.py.
`run` takes case_redisson as one of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "system"), str(TESTS / "libraries")]
# pylint: disable=wrong-import-position
from install import Absent, install
from lib.fairness import beyond, jain
from table import ROWS

JVMS = 5
# Threads of each.
THREADS = (1, 4)
# Milliseconds of work under the lock, and what part of the grants of bare Redis
# there must be; without work Redis gives it to whoever is still running.
WORKS = ((5, 0.9), (0, 0.3))


def percentile(values, part):
    return sorted(values)[int(len(values) * part)] * 1000


def program(library, version, name):
    """How a program of tests/libraries is started, with that library."""
    row = [row for row in ROWS if row.library == library and
           row.version.startswith(version)][-1]
    folder = os.getcwd()
    try:
        return install(row._replace(program=name))
    finally:
        os.chdir(folder)


def run_jvms(argv, env, *words):
    """None once all are ready; then [JVM, thread, when it began to wait, had it, had
    given it back] of each turn."""
    argv = [*argv, *map(str, words)]
    processes = [subprocess.Popen(argv, stdin=subprocess.PIPE, env={**os.environ, **env},
                                  stdout=subprocess.PIPE, text=True)
                 for _ in range(JVMS)]
    for process in processes:
        if process.stdout.readline() != "ready\n":
            raise SystemExit(f"bench: {' '.join(argv)} failed")
    yield None
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    for i, process in enumerate(processes):
        for turn in json.loads(process.communicate()[0]):
            yield [i, *turn]


def measure(argv, env, port, threads, seconds, work_ms):
    """One run of all of them."""
    counts, waits, holds = {}, [], []
    turns = run_jvms(argv, env, port, threads, seconds, work_ms, "one")
    next(turns)
    for i, thread, start, begin, end in turns:
        counts[i, thread] = counts.get((i, thread), 0) + 1
        waits.append((start, begin))
        holds.append((begin, end))
    took = [begin - start for start, begin in waits]
    counts = list(counts.values()) + [0] * (JVMS * threads - len(counts))
    more = list(beyond(waits, holds))
    return {"grants_per_s": len(waits) / seconds,
            "jain": jain(counts),
            "p50_ms": percentile(took, 0.5), "p99_ms": percentile(took, 0.99),
            "beyond_p99_ms": percentile(more, 0.99)}


def with_work(bench, ready, threads, work_ms, share):
    def run(server):
        return measure(*ready, server.address.rsplit(":", 1)[1], threads,
                       bench.options.seconds, work_ms)

    with bench.redis() as redis, bench.broker(redis) as broker, bench.redis() as bare:
        a, b = bench.turns(lambda: run(broker), lambda: run(bare))
    name = f"Redisson, {JVMS * threads} threads, {work_ms} ms of work: "
    bench.against(name + "grants/s", a, b, "grants_per_s", share)
    bench.against(name + "wait p50", a, b, "p50_ms", unit=" ms")
    bench.against(name + "wait p99", a, b, "p99_ms", unit=" ms", less=True)
    for key, what, target, how in (
            ("jain", "Jain", 0.99, {}),
            ("beyond_p99_ms", "p99 beyond the work in front", 20,
             {"unit": " ms", "less": True})):
        for runs, whose in ((a, "broker"), (b, "Redis")):
            values = sorted(one[key] for one in runs)
            bench.row(f"{name}{what}, {whose}", values[len(values) // 2], None,
                      target if runs is a else None, **how)
            print("   quartiles", *(f"{values[len(values) * part // 4]:.3f}"
                                     for part in (1, 2, 3)), flush=True)
    ratios = sorted(x["grants_per_s"] / y["grants_per_s"] for x, y in zip(a, b))
    print("   quartiles of the grants' ratio", *(f"{ratios[len(ratios) * part // 4]:.2f}"
                                                   for part in (1, 2, 3)), flush=True)


def case_redisson(bench):
    """Redisson's getLock(): threads of five JVMs, against bare Redis"""
    if bench.options.unix:
        print("redisson: skipped, the JVMs speak TCP")
        return
    try:
        ready = program("Redisson", "", "RedissonBench.java")
    except Absent as error:
        print(f"redisson: skipped: {error}")
        return
    for threads in THREADS:
        for work_ms, share in WORKS:
            with_work(bench, ready, threads, work_ms, share)
