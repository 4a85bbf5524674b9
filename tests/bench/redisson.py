"""Threads of five JVMs that want one lock, as Redisson's getLock() takes it: the
broker against bare Redis.  `run` takes case_redisson as one of its own.

Where there is a javac, these are JVMs (Jvm.java); else processes of the test client
that does what Redisson does.

By itself: redisson.py HOST:PORT THREADS SECONDS TAKE UNLOCK: one such process, with
the sha1 of its scripts.  It waits for a line, and prints when each wait began, was
over, and when the lock was given back."""

import contextlib
import json
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "system"))
# pylint: disable=wrong-import-position
from lib.fairness import beyond, jain
from lib.redisson import SCRIPTS, Jvm
from lib.resp import Resp

JVMS, THREADS, WORK_S = 5, 4, 0.001


def jvm(address, threads, seconds, *scripts):
    sys.setswitchinterval(0.0005)
    for name, sha in zip(("TAKE", "UNLOCK"), scripts):
        SCRIPTS[name] = (sha, SCRIPTS[name][1])
    jvm = Jvm(lambda: Resp(address), pool=threads + 1)
    grants = []

    def run(thread):
        while time.monotonic() < end:
            start = time.monotonic()
            jvm.lock("bench", thread)
            begin = time.monotonic()
            time.sleep(WORK_S)
            jvm.unlock("bench", thread)
            grants.append((thread, start, begin, time.monotonic()))

    print("ready", flush=True)
    sys.stdin.readline()
    end = time.monotonic() + seconds
    running = [threading.Thread(target=run, args=(i,)) for i in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    print(json.dumps(grants), flush=True)
    jvm.close()


def percentile(values, part):
    return sorted(values)[int(len(values) * part)] * 1000


@contextlib.contextmanager
def program():
    """How one JVM is started, but for its arguments."""
    if not shutil.which("javac"):
        yield lambda address: [sys.executable, __file__, address]
        return
    with tempfile.TemporaryDirectory() as classes:
        source = Path(__file__).with_name("Jvm.java")
        subprocess.run(["javac", "-d", classes, source], check=True)
        # A server's compiler takes more of two processors than all the rest.
        yield lambda address: ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
                               "-cp", classes, "Jvm", *address.rsplit(":", 1)]


def measure(argv, seconds, scripts):
    """One run of all of them."""
    argv = [*argv, str(THREADS), str(seconds), *scripts]
    processes = [subprocess.Popen(argv, stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True)
                 for _ in range(JVMS)]
    for process in processes:
        if process.stdout.readline() != "ready\n":
            raise SystemExit(f"bench: {' '.join(argv)} failed")
    counts, waits, holds = {}, [], []
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    for i, process in enumerate(processes):
        for thread, start, begin, end in json.loads(process.communicate()[0]):
            counts[i, thread] = counts.get((i, thread), 0) + 1
            waits.append((start, begin))
            holds.append((begin, end))
    took = [begin - start for start, begin in waits]
    counts = list(counts.values()) + [0] * (JVMS * THREADS - len(counts))
    more = list(beyond(waits, holds))
    return {"grants_per_s": len(waits) / seconds,
            "jain": jain(counts),
            "p50_ms": percentile(took, 0.5), "p99_ms": percentile(took, 0.99),
            "beyond_p99_ms": percentile(more, 0.99)}


def case_redisson(bench):
    """Redisson's getLock(): 20 threads of five JVMs, against bare Redis"""
    seconds = bench.options.seconds
    with bench.redis() as redis, bench.broker(redis) as broker, \
            bench.redis() as bare, program() as argv:
        load = Resp(bench.node(bare))
        loaded = [load("SCRIPT", "LOAD", SCRIPTS[name][1]) for name in ("TAKE", "UNLOCK")]
        known = [SCRIPTS[name][0] for name in ("TAKE", "UNLOCK")]
        a, b = bench.turns(lambda: measure(argv(bench.node(broker)), seconds, known),
                           lambda: measure(argv(bench.node(bare)), seconds, loaded))
    name = f"Redisson, {JVMS * THREADS} threads, 1 ms of work: "
    bench.against(name + "grants/s", a, b, "grants_per_s")
    bench.against(name + "wait p50", a, b, "p50_ms", unit=" ms")
    bench.against(name + "wait p99", a, b, "p99_ms", unit=" ms", less=True)
    for key, what, target, how in (
            ("jain", "Jain", 0.99, {}),
            ("beyond_p99_ms", "p99 beyond the work in front", 20,
             {"unit": " ms", "less": True})):
        for run, whose in ((a, "broker"), (b, "Redis")):
            bench.row(f"{name}{what}, {whose}",
                      sorted(one[key] for one in run)[len(run) // 2], None,
                      target if run is a else None, **how)


if __name__ == "__main__":
    jvm(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), *sys.argv[4:])
