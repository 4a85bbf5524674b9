"""Redisson of several releases, byte for byte, and what comes back.

Those in `replays` were recorded between Redisson and Redis (tests/libraries/record). Of releases that
did not run, REPLAYS are made from their sources, as the encoder writes (CommandEncoder: the name of
the command, and each argument as a bulk string). A script is sent by its sha1 where the release does
so by itself; else as a text of the same normal form (lib/redisson.py)."""

import ast
import glob
import io
import os
import re
import unittest

from lib.redisson import SCRIPTS, channel_of, latch_of
from lib.resp import RedisError, Resp
from test_resp import RespTest

A = "b983c153-7421-469a-addb-44fb92259a1b"
B = "285475da-9152-4c83-822a-67ee2f116a79"
CHANNEL = channel_of("job")
U = latch_of("job", int("0123456789abcdef" * 2, 16))
NIL, NULL, ONE, ZERO, OK = b"$-1\r\n", b"_\r\n", b":1\r\n", b":0\r\n", b"+OK\r\n"
LEFT = re.compile(rb":[1-9][0-9]*\r\n")
MAP = re.compile(rb"%7\r\n.*\*0\r\n", re.DOTALL)
# As soon as a client has subscribed, all that wait there try again: only those do that waited
# before its connection broke.
MESSAGE = b"*3\r\n$7\r\nmessage\r\n$28\r\n%s\r\n$1\r\n0\r\n" % CHANNEL.encode()
ALL = MESSAGE[:-3] + b"1\r\n"


def encode(*words):
    data = [str(word).encode() for word in words]
    return b"*%d\r\n" % len(data) + b"".join(b"$%d\r\n%s\r\n" % (len(d), d) for d in data)


def text(script, *words):
    return encode("EVAL", SCRIPTS[script][1], *words)


def by_sum(script, *words):
    return encode("EVALSHA", SCRIPTS[script][0], *words)


def subscribed(word=b"subscribe", count=1, kind=b"*"):
    return kind + b"3\r\n$%d\r\n%s\r\n$28\r\n%s\r\n:%d\r\n" % (
        len(word), word, CHANNEL.encode(), count)


PING = ("a", encode("PING"), b"+PONG\r\n")


def story(send, take, unlock, renew, latch=False, many=False):
    """`a` takes the lock twice, `b` waits for it over `l`, and both give it back."""
    last = ["PUBLISH"] if unlock != "UNLOCK_3_10" else []
    keys = [3, "job", CHANNEL, U] if latch else [2, "job", CHANNEL]

    def release(who, token, answer):
        yield (who, send(unlock, *keys, "0", 30000, token, *last, *([16000] if latch else [])),
               answer)
        if latch:
            yield who, encode("DEL", U), ONE

    return [
        ("a", send(take, 1, "job", 30000, A + ":1"), NIL),
        ("a", send(take, 1, "job", 30000, A + ":1"), NIL),
        ("a", encode("HGET", "job", A + ":1"), b"$1\r\n2\r\n"),
        ("b", send(take, 1, "job", 30000, B + ":1"), LEFT),
        ("l", encode("SUBSCRIBE", CHANNEL), subscribed()),
        ("l", b"", ALL),
        ("b", send(take, 1, "job", 30000, B + ":1"), LEFT),
        ("l", encode("PING"), b"*2\r\n$4\r\npong\r\n$0\r\n\r\n"),
        ("a", send(renew, 1, "job", 30000, A + ":1"), b"*1\r\n:1\r\n" if many else ONE),
        *release("a", A + ":1", ZERO),
        ("b", send(renew, 1, "job", 30000, B + ":1"), b"*1\r\n:0\r\n" if many else ZERO),
        *release("a", A + ":1", ONE),
        ("l", b"", MESSAGE),
        ("b", send(take, 1, "job", 30000, B + ":1"), NIL),
        ("l", encode("UNSUBSCRIBE", CHANNEL), subscribed(b"unsubscribe", 0)),
        ("a", encode("EXISTS", "job"), ONE),
        ("a", encode("HEXISTS", "job", A + ":1"), ZERO),
        ("a", encode("PTTL", "job"), LEFT),
        *release("b", B + ":1", ONE),
        ("a", encode("EXISTS", "job"), ZERO),
    ]


REPLAYS = {
    "3.12": story(text, "TAKE_3_2", "UNLOCK_3_10", "RENEW_3_2"),
    "3.12.3": story(text, "TAKE_3_15", "UNLOCK_3_10", "RENEW_3_2"),
    "3.36": [PING, ("a", encode("CLIENT", "SETNAME", "me"), OK),
             *story(text, "TAKE", "UNLOCK", "RENEW_3_2", latch=True)],
    "4.7 with RESP3": [
        ("a", encode("HELLO", 3) + encode("PING"), re.compile(MAP.pattern + rb"\+PONG\r\n",
                                                              re.DOTALL)),
        ("l", encode("HELLO", 3), MAP),
        ("a", by_sum("TAKE", 1, "job", 30000, A + ":1"), NULL),
        ("b", by_sum("TAKE", 1, "job", 30000, B + ":1"), LEFT),
        ("l", encode("SUBSCRIBE", CHANNEL), subscribed(kind=b">")),
        ("l", b"", b">" + ALL[1:]),
        ("b", by_sum("TAKE", 1, "job", 30000, B + ":1"), LEFT),
        ("a", by_sum("UNLOCK", 3, "job", CHANNEL, U, "0", 30000, A + ":1", "PUBLISH", 16000), ONE),
        ("a", encode("DEL", U), ONE),
        ("l", b"", b">" + MESSAGE[1:]),
        ("b", by_sum("TAKE", 1, "job", 30000, B + ":1"), NIL),
    ],
}


class Replays(RespTest):

    def exchange(self, client, data, answer):
        """The answer must be exactly that, or match it, and nothing may come behind it."""
        client.sock.sendall(data)
        got = b""
        while not (answer.fullmatch(got) if isinstance(answer, re.Pattern)
                   else got == answer):
            self.assertLess(len(got), 1000, got)
            if not isinstance(answer, re.Pattern):
                self.assertTrue(answer.startswith(got), (data, got, answer))
            got += client.file.read1(1)

    def replay(self, steps, addresses):
        clients = {who: Resp(addresses[who]) for who in addresses}
        for client in clients.values():
            self.addCleanup(client.close)
        for who, data, answer in steps:
            with self.subTest(who=who, request=data):
                self.exchange(clients[who], data, answer)

    def test_releases(self):
        self.broker(resp={"park": 0})
        address = f"unix:{self.brokers[0].unix_path}"
        for release, steps in REPLAYS.items():
            with self.subTest(release=release):
                self.replay(steps, {"a": address, "b": address, "l": address})
                self.resp()("DEL", "job")

    def test_as_redis(self):
        """What is sent by its text, at a bare Redis, which says nothing when one subscribes."""
        server = self.redis()
        for release in ("3.12", "3.12.3", "3.36"):
            with self.subTest(release=release):
                self.replay([step for step in REPLAYS[release] if step[2] is not ALL],
                            {who: server.address for who in "abl"})


def values(data):
    """What these answers say."""
    reader = Resp.__new__(Resp)
    reader.file, reader.pushes = io.BufferedReader(io.BytesIO(data)), []
    while reader.file.peek(1):
        yield reader.read()


def alike(got, expected):
    """Times pass, and errors have words of their own."""
    if isinstance(expected, RedisError):
        return isinstance(got, RedisError) and str(got).split()[0] == str(expected).split()[0]
    if isinstance(expected, int) and expected > 100:
        return isinstance(got, int) and got > 100
    return got == expected


class Recorded(RespTest):
    def replay(self, path, address):
        clients, over = {}, set()
        with open(path, encoding="ascii") as file:
            steps = [line.split(" ", 2) for line in file]
        self.assertGreater(len(steps), 100)
        for who, way, data in steps:
            if who not in clients:
                clients[who] = Resp(address)
                self.addCleanup(clients[who].close)
            client, data = clients[who], ast.literal_eval("b" + data)
            if way == ">":
                client.sock.sendall(data)
            for expected in values(data) if way == "<" else ():
                got = client.read()
                # To all: who waited before a connection broke tries again (ALL).
                while got != expected and isinstance(got, list) and got[::2] == ["message", "1"]:
                    got = client.read()
                self.assertTrue(alike(got, expected), (who, data, got))
            if b"QUIT" in data:
                over.add(who)
        for who in set(clients) - over:
            client = clients[who]
            self.assertIn(client("PING"), ("PONG", ["pong", ""]), "nothing more came")

    def recorded(self, least, without=None):
        here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "replays")
        found = []
        for path in sorted(glob.glob(os.path.join(here, "redisson-*"))):
            with open(path, "rb") as file:
                if without is None or without not in file.read():
                    found.append(path)
        self.assertGreaterEqual(len(found), least)
        return found

    def test_at_a_broker(self):
        self.broker(resp={"park": 0})
        for path in self.recorded(4):
            with self.subTest(path=path):
                self.replay(path, f"unix:{self.brokers[0].unix_path}")
        self.assertEqual(self.brokers[0].log_lines("script-unknown"), [])

    def test_as_redis(self):
        """What is sent by its text."""
        server = self.redis()
        for path in self.recorded(2, b"EVALSHA"):
            with self.subTest(path=path):
                self.replay(path, server.address)


if __name__ == "__main__":
    unittest.main()
