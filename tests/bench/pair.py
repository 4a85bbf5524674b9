"""A client in Python that takes a lock and gives it back, again and again; see
clients.py.
usage: pair.py broker|redis PORT SECONDS"""

import json
import sys
import time


def broker(address):
    """The client of this tree."""
    import lockbroker
    client = lockbroker.Broker(address)

    def pair():
        with client.lock("pair"):
            pass
    return pair


def redis(port):
    """redis-py's Lock, which is SET NX PX and a script."""
    import redis as library
    client = library.Redis(port=int(port))

    def pair():
        with client.lock("pair", timeout=20):
            pass
    return pair


def main():
    kind, where, seconds = sys.argv[1:]
    pair = {"broker": broker, "redis": redis}[kind](where)
    took = []
    for _ in range(100):
        pair()
    end = time.perf_counter() + float(seconds)
    begin = time.perf_counter()
    while begin < end:
        pair()
        now = time.perf_counter()
        took.append((now - begin) * 1e6)
        begin = now
    print(json.dumps(took))


if __name__ == "__main__":
    main()
