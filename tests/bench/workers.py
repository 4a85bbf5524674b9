"""What the drivers in Python share: so many workers, each a process, since threads
would wait for one another, and with a connection of its own.  A driver says how
one of them makes a lock; see libraries.py for what is printed."""

import json
import multiprocessing
import random
import sys
import time


def work(index, open_lock, settings, gate, results):
    """One worker; open_lock() gives the functions that take its lock and give it
    back."""
    port, workers, seconds, name, work_s, pause_s = settings
    acquire, release = open_lock(
        port, name if name == "one" else f"own{index}")
    gate.wait()
    gate.wait()
    begin, turns = time.monotonic(), []
    time.sleep(pause_s * index / workers)
    while time.monotonic() < begin + seconds:
        start = time.monotonic()
        acquire()
        taken = time.monotonic()
        time.sleep(work_s)
        release()
        end = time.monotonic()
        turns.append((taken, index, (taken - start) * 1e3,
                      (end - start) * 1e3))
        time.sleep(pause_s * random.uniform(0.5, 1.5))
    results.put(turns)


def main(open_lock, words):
    port, workers, seconds, name, work_ms, pause_ms = words
    settings = (int(port), int(workers), float(seconds), name,
                float(work_ms) / 1e3, float(pause_ms) / 1e3)
    results = multiprocessing.Queue()
    gate = multiprocessing.Barrier(int(workers) + 1)
    running = [multiprocessing.Process(
        target=work, args=(i, open_lock, settings, gate, results), daemon=True)
        for i in range(int(workers))]
    for process in running:
        process.start()
    gate.wait()
    print("ready", flush=True)
    sys.stdin.readline()
    begin = time.monotonic()
    gate.wait()
    turns = [turn for _ in running for turn in results.get(timeout=300)]
    print(json.dumps([(taken - begin, *rest) for taken, *rest in turns]))
