#!/usr/bin/env python3
"""delay.py PORT HOST:PORT: passes on what it hears at 127.0.0.1:PORT, both ways,
each byte a quarter of a millisecond later."""

import collections
import select
import socket
import sys
import time

DELAY_S = 0.00025


class Way:
    """One direction of a connection."""

    def __init__(self, source, target):
        self.source, self.target = source, target
        self.late = collections.deque()

    def read(self, now):
        data = self.source.recv(65536)
        if data:
            self.late.append((now + DELAY_S, data))
        return bool(data)

    def write(self, now):
        while self.late and self.late[0][0] <= now:
            self.target.sendall(self.late.popleft()[1])


def main():
    listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
    host, port = sys.argv[2].rsplit(":", 1)
    ways = {}
    print("ready", flush=True)
    while True:
        now = time.monotonic()
        due = min((way.late[0][0] for way in ways.values() if way.late),
                  default=now + 1)
        # A poll is too coarse for what is due at once.
        readable = select.select([listener, *ways], [], [], max(0, due - now))[0]
        now = time.monotonic()
        for one in readable:
            if one is listener:
                near = listener.accept()[0]
                far = socket.create_connection((host, int(port)))
                for end in (near, far):
                    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                ways[near], ways[far] = Way(near, far), Way(far, near)
            elif one in ways and not ways[one].read(now):
                other = ways.pop(one).target
                ways.pop(other, None)
                one.close()
                other.close()
        for way in list(ways.values()):
            way.write(now)


main()
