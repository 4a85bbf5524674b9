"""A tiny Redis client, to look at what the broker left in Redis and to break things there."""

import socket

from .wait import patience


# The script by which redis-py gives a lock back.
REDIS_PY_RELEASE = "c3f8721cbb97f72bc19e972846bd7aaf91901658"


class RedisError(Exception):
    """An error reply."""


def answer(client, *words):
    """The reply; of an error, what kind it is."""
    client.send(*words)
    reply = client.read()
    return ("error", str(reply).split()[0]) if isinstance(reply, RedisError) else reply


class Resp:
    """One connection, one command at a time."""

    def __init__(self, address, timeout=10.0, source=None):
        if address.startswith("unix:"):
            self.sock = socket.socket(socket.AF_UNIX)
            self.sock.settimeout(patience(timeout))
            self.sock.connect(address[5:])
        else:
            host, port = address.rsplit(":", 1)
            self.sock = socket.create_connection((host, int(port)), patience(timeout),
                                                 source and (source, 0))
        self.file = self.sock.makefile("rb")
        self.pushes = []  # of RESP3, as they came before a reply

    def close(self):
        self.file.close()
        self.sock.close()

    def send(self, *args):
        """Send a command, and leave its reply unread."""
        parts = [b"*%d\r\n" % len(args)]
        for arg in args:
            data = arg if isinstance(arg, bytes) else str(arg).encode()
            parts.append(b"$%d\r\n%s\r\n" % (len(data), data))
        self.sock.sendall(b"".join(parts))

    def __call__(self, *args):
        self.send(*args)
        reply = self.read()
        if isinstance(reply, RedisError):
            raise reply
        return reply

    def push(self):
        """The next push, which is expected before any reply."""
        if not self.pushes:
            assert self.file.peek(1)[:1] == b">", self.file.peek(1)
            self.pushes.append([self.read() for _ in range(int(self.file.readline()[1:]))])
        return self.pushes.pop(0)

    def error(self, *args):
        """Send a command, insist on an error, and return its text."""
        self.send(*args)
        reply = self.read()
        assert isinstance(reply, RedisError), f"{args} was answered {reply!r}"
        return str(reply)

    def read(self):
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("Redis closed the connection")
        kind, rest = line[:1], line[1:-2]
        if kind == b"+":
            return rest.decode()
        if kind == b"-":
            return RedisError(rest.decode())
        if kind == b":":
            return int(rest)
        if kind == b"$":
            if rest == b"-1":
                return None
            return self.file.read(int(rest) + 2)[:-2].decode("utf-8", "surrogateescape")
        if kind == b"%":
            return {self.read(): self.read() for _ in range(int(rest))}
        if kind == b"_":
            return None
        if kind == b"=":
            return self.file.read(int(rest) + 2)[4:-2].decode()
        if kind == b">":
            self.pushes.append([self.read() for _ in range(int(rest))])
            return self.read()
        if kind == b"*":
            return None if rest == b"-1" else [self.read() for _ in range(int(rest))]
        raise ConnectionError(f"not RESP: {line!r}")
