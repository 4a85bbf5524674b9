"""The driver for redis-py's Lock; see libraries.py.
usage: redispy.py PORT WORKERS SECONDS one|own WORK-MS PAUSE-MS"""

import json
import multiprocessing
import random
import sys
import time

import redis


def work(index, settings, gate, results):
    """One worker: a process, since threads would wait for one another."""
    port, workers, seconds, name, work_s, pause_s = settings
    client = redis.Redis(port=port)
    client.ping()
    gate.wait()
    gate.wait()
    begin, turns = time.monotonic(), []
    time.sleep(pause_s * index / workers)
    while time.monotonic() < begin + seconds:
        lock = client.lock(name if name == "one" else f"own{index}",
                           timeout=20)
        start = time.monotonic()
        lock.acquire()
        taken = time.monotonic()
        time.sleep(work_s)
        lock.release()
        end = time.monotonic()
        turns.append((taken, index, (taken - start) * 1e3,
                      (end - start) * 1e3))
        time.sleep(pause_s * random.uniform(0.5, 1.5))
    results.put(turns)


def main():
    port, workers, seconds, name, work_ms, pause_ms = sys.argv[1:]
    settings = (int(port), int(workers), float(seconds), name,
                float(work_ms) / 1e3, float(pause_ms) / 1e3)
    results = multiprocessing.Queue()
    gate = multiprocessing.Barrier(int(workers) + 1)
    running = [multiprocessing.Process(
        target=work, args=(i, settings, gate, results), daemon=True)
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


if __name__ == "__main__":
    main()
