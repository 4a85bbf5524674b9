"""The driver for redis-py's Lock; see libraries.py.
usage: redispy.py PORT WORKERS SECONDS one|own WORK-MS PAUSE-MS"""

import sys

import redis
import workers


def open_lock(port, name):
    client = redis.Redis(port=port)
    client.ping()
    lock = None

    def acquire():
        nonlocal lock
        lock = client.lock(name, timeout=20)
        lock.acquire()

    return acquire, lambda: lock.release()


if __name__ == "__main__":
    workers.main(open_lock, sys.argv[1:])
