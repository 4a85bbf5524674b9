"""spring-integration with PUB_SUB_LOCK: who waits for a lock listens, and is told when it is free."""

import unittest

from lib.case import SystemTest
from lib.resp import Resp
from lib.wait import eventually
from test_resp import HASH, SECRET, RespTest

TAKE = ("local lockClientId = redis.call('GET', KEYS[1])\nif lockClientId == ARGV[1] then\n"
        "\tredis.call('PEXPIRE', KEYS[1], ARGV[2])\n\treturn true\nelseif not lockClientId then\n"
        "\tredis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])\n\treturn true\nend\nreturn false\n")
RELEASE = ("local lockClientId = redis.call('GET', KEYS[1])\n"
           "if (lockClientId == ARGV[1] and redis.call('UNLINK', KEYS[1]) == 1) then\n"
           "\tredis.call('PUBLISH', ARGV[2], KEYS[1])\n\treturn true\nend\nreturn false\n")
# Of 5.5: whoever has it.
RELEASE_5 = ("if (redis.call('unlink', KEYS[1]) == 1) then redis.call('publish', ARGV[1], KEYS[1]) "
             "return true end return false")
NAME, CHANNEL, PATTERN = "jobs:nightly", "jobs-channel", "jobs-channel:*"


class PubSubLock(SystemTest):
    def setUp(self):
        super().setUp()
        server = self.redis()
        self.one, self.other = (self.broker(server, trust_new=True) for _ in range(2))

    def connect(self, broker=None, *subscribe):
        client = Resp(f"127.0.0.1:{(broker or self.one).port}")
        self.addCleanup(client.close)
        if subscribe:
            self.assertEqual(client(*subscribe)[1], subscribe[1])
        return client

    @staticmethod
    def take(client, token):
        return client("EVAL", TAKE, 1, NAME, token, 20000)

    @staticmethod
    def release(client, token):
        return client("EVAL", RELEASE, 1, NAME, token, f"{CHANNEL}:{NAME}")

    def refuse(self, client, token):
        """It waits from now on."""
        waiters = int(client("STATUS", NAME)[3])
        self.assertIsNone(self.take(client, token))
        eventually(lambda: int(client("STATUS", NAME)[3]) > waiters, 5)

    def test_who_listens_is_told(self):
        for broker in (self.one, self.other):
            holder, waiting = self.connect(), self.connect(broker)
            plain = self.connect(broker, "SUBSCRIBE", CHANNEL)
            pattern = self.connect(broker, "PSUBSCRIBE", PATTERN)
            others = [self.connect(broker, "SUBSCRIBE", "job-channel"),
                      self.connect(broker, "PSUBSCRIBE", "jobs:*"),
                      self.connect(broker, "SUBSCRIBE", PATTERN)]
            with self.subTest(broker=broker.name):
                self.assertEqual(self.take(holder, "a"), 1)
                self.refuse(waiting, "b")
                self.assertIsNone(self.release(holder, "c"))
                self.assertEqual(self.release(holder, "a"), 1)
                self.assertEqual(plain.read(), ["message", CHANNEL, NAME])
                self.assertEqual(pattern.read(),
                                 ["pmessage", PATTERN, f"{CHANNEL}:{NAME}", NAME])
                self.assertEqual(self.take(waiting, "b"), 1)
                self.assertEqual(self.release(waiting, "b"), 1)
                self.assertEqual([client("PING") for client in others], [["pong", ""]] * 3)

    def test_nobody_listens(self):
        """SPIN_LOCK sends the same text: the name is kept for nobody."""
        holder, waiting = self.connect(), self.connect()
        self.assertEqual(self.take(holder, "a"), 1)
        self.assertIsNone(self.take(waiting, "b"))
        self.assertEqual(holder("EVAL", RELEASE_5, 1, NAME, CHANNEL), 1)
        self.assertIsNone(holder("EVAL", RELEASE_5, 1, NAME, CHANNEL))
        self.assertEqual(self.client(self.one).ok(f"STATUS {NAME}")["state"], "free")

    def test_what_is_kept_is_nobodys(self):
        """A lock that is kept for who was told is free for who looks, or deletes it."""
        holder, waiting = self.connect(), self.connect()
        listener = self.connect(None, "PSUBSCRIBE", PATTERN)
        for words in (("EXISTS", NAME), ("GET", NAME), ("DEL", NAME),
                      ("EVAL", RELEASE_5, 1, NAME, CHANNEL)):
            with self.subTest(words=words[0]):
                self.assertEqual(self.take(holder, "a"), 1)
                self.refuse(waiting, "b")
                self.assertEqual(self.release(holder, "a"), 1)
                self.assertEqual(listener.read()[0], "pmessage")
                self.assertFalse(holder(*words))
                self.assertEqual(self.take(waiting, "b"), 1)
                self.assertEqual(self.release(waiting, "b"), 1)


class Listeners(RespTest):
    """Who is told, and for whom the broker keeps the name."""

    def setUp(self):
        super().setUp()
        user = {"name": "deploy", "hash": HASH, "lock": ["jobs:*"]}
        broker = self.broker(auth={"users": [user, dict(user, name="other")]}, ready=False)
        eventually(lambda: broker.log_lines("guard-ready"), 10)
        self.holder = self.connect()

    def connect(self, user="deploy", three=False, listens=False):
        client = self.resp()
        client("HELLO", 3 if three else 2, "AUTH", user, SECRET)
        if listens:
            client.send("SUBSCRIBE", CHANNEL)
            self.assertEqual(client.push() if three else client.read(), ["subscribe", CHANNEL, 1])
        return client

    def refuse(self):
        """Returns a client that waits for the name, which is held. Its request keeps a place, too."""
        waiting = self.connect()
        self.assertEqual(PubSubLock.take(self.holder, "a"), 1)
        self.assertIsNone(PubSubLock.take(waiting, "b"))
        eventually(lambda: self.holder("STATUS", NAME)[3] > 0, 5)
        return waiting

    def nobody_waits(self):
        """The next client gets it at once."""
        eventually(lambda: self.holder("STATUS", NAME)[3] == 0, 5)
        self.assertEqual(PubSubLock.release(self.holder, "a"), 1)
        other = self.connect("other")
        self.assertEqual(PubSubLock.take(other, "c"), 1)
        self.assertEqual(PubSubLock.release(other, "c"), 1)

    def test_of_the_same_user_only(self):
        two, three = self.connect(listens=True), self.connect(three=True, listens=True)
        silent = [self.connect("other", listens=True), self.connect(listens=True),
                  self.connect(listens=True)]
        silent[1]("RESET")
        silent[1]("AUTH", "deploy", SECRET)
        silent[2]("UNSUBSCRIBE")
        waiting = self.refuse()
        self.assertEqual(PubSubLock.release(self.holder, "a"), 1)
        self.assertEqual(two.read(), ["message", CHANNEL, NAME])
        self.assertEqual(three.push(), ["message", CHANNEL, NAME])
        self.assertEqual(PubSubLock.take(waiting, "b"), 1)
        self.assertEqual([client("PING") for client in silent], [["pong", ""], "PONG", "PONG"])

    def test_whose_client_has_become_another_user(self):
        """By RESET or by AUTH: the broker keeps the name for nobody any more."""
        self.connect(listens=True)
        for words in (("RESET",), ("AUTH", "other", SECRET)):
            with self.subTest(words=words):
                self.refuse()(*words)
                self.nobody_waits()

    def test_whose_client_is_gone(self):
        listener = self.connect(listens=True)
        self.refuse().close()
        self.nobody_waits()
        self.assertEqual(listener("PING"), ["pong", ""])


if __name__ == "__main__":
    unittest.main()
