"""MULTI and EXEC: pipelines of client libraries that take or release one lock."""

import json
import os
import time
import unittest

from lib.resp import REDIS_PY_RELEASE, RedisError
from lib.wait import now, patience
from test_resp import RespTest

TAKE = ("SET", "x", "t", "NX", "PX", 60000)


class Multi(RespTest):
    def setUp(self):
        super().setUp()
        self.broker()

    def transaction(self, client, *commands, end="EXEC"):
        """The answer to EXEC; all is sent in one go."""
        for words in (("MULTI",), *commands, (end,)):
            client.send(*words)
        self.assertEqual(client.read(), "OK")
        for _ in commands:
            self.assertEqual(client.read(), "QUEUED")
        return client.read()

    def refused(self, client, *commands):
        reply = self.transaction(client, *commands)
        self.assertIsInstance(reply, RedisError, commands)
        self.assertTrue(str(reply).startswith("EXECABORT nothing was done: "), reply)
        return str(reply)

    def each(self):
        for three in (False, True):
            with self.subTest(three=three):
                yield self.resp(three=three)

    def test_one_command_on_locks(self):
        for one in self.each():
            self.assertEqual(self.transaction(one, TAKE), ["OK"])
            self.assertEqual(self.transaction(one, TAKE), [None])
            self.assertEqual(self.transaction(one, ("GET", "x")), ["t"])
            self.assertEqual(
                self.transaction(one, ("EVALSHA", REDIS_PY_RELEASE, 1, "x", "t")), [1])
            self.assertEqual(one("EXISTS", "x"), 0)

    def test_others_beside_it(self):
        for one in self.each():
            seconds = str(int(time.time()))[:7]
            reply = self.transaction(one, ("PING",), ("ECHO", "a"), TAKE, ("PING", "b"), ("TIME",))
            self.assertEqual(reply[:4], ["PONG", "a", "OK", "b"])
            self.assertTrue(reply[4][0].startswith(seconds))
            self.assertEqual(one("DEL", "x"), 1)

    def test_a_script_that_looks_before_it_extends(self):
        """The broker makes two requests of it, and the answer is still one."""
        path = os.path.join(os.path.dirname(__file__), "releases.json")
        with open(path, encoding="utf-8") as file:
            text, = [row["text"] for row in json.load(file)
                     if "redlock-universal" in row["of"][0] and row["words"] == "1 k t 1000 N"]
        for one in self.each():
            look = ("EVAL", text, 1, "x", "t", 1000, 90000)
            self.assertEqual(self.transaction(one, ("PING",), look, ("PING",)),
                             ["PONG", [-1, -2], "PONG"])
            one(*TAKE)
            code, left = self.transaction(one, look)[0]
            self.assertEqual(code, 1)
            self.assertGreater(left, 0)
            self.assertEqual(one("PING"), "PONG")
            self.assertGreater(one("PTTL", "x"), 60000)
            one("DEL", "x")

    def test_what_is_refused(self):
        for one in self.each():
            for commands in (
                    (), (("PING",),), (TAKE, TAKE), (TAKE, ("SET", "y", "t", "NX")),
                    (TAKE, ("INCR", "x")), (TAKE, ("FOO", "a")), (TAKE, ("GET",)),
                    (TAKE, ("CLIENT", "ID")), (TAKE, ("SUBSCRIBE", "c")), (TAKE, ("HELLO", 3)),
                    (TAKE, ("LOCK", "y")), (("LOCK", "y"), TAKE), (TAKE, ("UNLOCK", "y")),
                    (TAKE, *[("PING",)] * 100), (("ECHO", "a" * 40000), TAKE, ("ECHO", "a" * 40000))):
                self.refused(one, *commands)
                self.assertEqual(one("EXISTS", "x", "y"), 0, commands)
            self.assertEqual(self.transaction(one, TAKE, *[("PING",)] * 99)[0], "OK")
            self.assertEqual(one("DEL", "x"), 1)

    def test_a_malformed_verb_spoils_it(self):
        one = self.resp()
        one("MULTI")
        self.assertEqual(one(*TAKE), "QUEUED")
        one.error("LOCK", "y", "bogus=1")
        self.assertTrue(one.error("EXEC").startswith("EXECABORT nothing was done: "))
        self.assertEqual(one("EXISTS", "x"), 0)

    def test_an_error_is_part_of_the_answer(self):
        one = self.resp()
        reply = self.transaction(one, ("PING",), ("SET", "x", "t", "NX", "PX", "0"), ("PING",))
        self.assertEqual([reply[0], reply[2]], ["PONG", "PONG"])
        self.assertIsInstance(reply[1], RedisError)
        self.assertEqual(one("EXISTS", "x"), 0)

    def test_dropped(self):
        one = self.resp()
        self.assertEqual(self.transaction(one, TAKE, end="DISCARD"), "OK")
        self.assertEqual(self.transaction(one, TAKE, end="RESET"), "RESET")
        self.assertEqual(one.error("EXEC"), "ERR EXEC without MULTI")
        self.assertEqual(one.error("DISCARD"), "ERR DISCARD without MULTI")
        gone = self.resp()
        gone.send("MULTI")
        gone.send(*TAKE)
        gone.read()
        gone.read()
        gone.close()
        self.assertEqual(one("EXISTS", "x"), 0)
        one("MULTI")
        self.assertEqual(one.error("MULTI"), "ERR MULTI calls can not be nested")
        self.assertEqual(one(*TAKE), "QUEUED")
        self.assertEqual(one("EXEC"), ["OK"])

    def test_it_never_waits(self):
        for one in self.each():
            other = self.resp()
            self.assertEqual(other("SET", "x", "o", "NX", "PX", 60000), "OK")
            begin = now()
            for _ in range(3):
                self.assertEqual(self.transaction(one, TAKE), [None])
                self.assertEqual(self.transaction(one, ("BLPOP", "lock-signal:x", 0)), [None])
            self.assertLess(now() - begin, patience(0.3, begin))
            self.assertEqual(other("DEL", "x"), 1)

    def test_no_event_comes_into_it(self):
        one = self.resp(three=True)
        one("LOCK", "held", "hold=100ms")
        for _ in range(30):
            self.assertEqual(self.transaction(one, ("PING",), ("GET", "y"), ("PING",)),
                             ["PONG", None, "PONG"])
            time.sleep(0.01)

    def test_redis_is_away(self):
        server = self.redis()
        broker = self.broker(server, trust_new=True, redis={"reply_timeout": "300ms"})
        one = self.resp(broker)
        server.freeze()
        reply = self.transaction(one, ("PING",), TAKE, ("PING",))
        server.thaw()
        self.assertEqual([reply[0], reply[2]], ["PONG", "PONG"])
        self.assertIsInstance(reply[1], RedisError)

    def test_redis_py(self):
        try:
            import redis
        except ImportError:
            raise unittest.SkipTest("python3-redis is not installed") from None
        for protocol in (2, 3) if redis.VERSION[0] >= 5 else (None,):
            options = {} if protocol is None else {"protocol": protocol}
            client = redis.Redis(unix_socket_path=self.brokers[0].unix_path, **options)
            self.addCleanup(client.close)
            with client.pipeline(transaction=True) as pipe:
                pipe.set("x", "t", nx=True, px=60000)
                self.assertEqual(pipe.execute(), [True])
                pipe.set("x", "t", nx=True, px=60000)
                pipe.ping()
                self.assertEqual(pipe.execute(), [None, True])
                pipe.set("y", "t", nx=True, px=60000)
                pipe.set("z", "t", nx=True, px=60000)
                with self.assertRaisesRegex(redis.exceptions.ExecAbortError, "nothing was done"):
                    pipe.execute()
            self.assertEqual(client.exists("y", "z"), 0)
            self.assertEqual(client.delete("x"), 1)
