"""Redisson of several releases, byte for byte as its encoder writes (CommandEncoder: the name of the
command, and each argument as a bulk string), and what comes back.

No Redisson ran for these: they are made from its sources. A script is sent by its sha1 where the
release does so by itself; else as a text of the same normal form (lib/redisson.py)."""

import re
import unittest

from lib.redisson import SCRIPTS, channel_of, latch_of
from lib.resp import Resp
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
    "3.22": [PING, *story(text, "TAKE", "UNLOCK_3_22", "RENEW_3_2")],
    "3.36": [PING, ("a", encode("CLIENT", "SETNAME", "me"), OK),
             *story(text, "TAKE", "UNLOCK", "RENEW_3_2", latch=True)],
    "3.46": [PING, *story(by_sum, "TAKE", "UNLOCK", "RENEW", latch=True, many=True)],
    "4.7": [PING, ("a", encode("CLIENT", "CAPA", "redirect"), OK),
            *story(by_sum, "TAKE", "UNLOCK", "RENEW", latch=True, many=True)],
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
        for release in ("3.12", "3.12.3", "3.22", "3.36"):
            with self.subTest(release=release):
                self.replay([step for step in REPLAYS[release] if step[2] is not ALL],
                            {who: server.address for who in "abl"})


if __name__ == "__main__":
    unittest.main()
