"""Scripts that programs write in their own ways: the broker knows a text by its normal form, and
what it takes for known answers and leaves what redis-server does."""

import itertools
import unittest

from lib.resp import RedisError, Resp
from test_resp import RespTest

# Each part of a text, in ways of which some mean the same, some do not, and some are no Lua.
BEGIN = {
    "plain": ("", "KEYS[1]", "ARGV[1]"),
    "aliases": ("local k = KEYS[1] local t=ARGV[1];\n", "k", "t"),
    "of another case": ("local Key = KEYS[1] local t = ARGV[1] ", "key", "t"),
    "swapped": ("local k = ARGV[1] local t = KEYS[1] ", "k", "t"),
    "declared twice": ("local k = KEYS[1] local k = ARGV[1] ", "k", "ARGV[1]"),
    "with a choice": ("local k = KEYS[1] or ARGV[1] ", "k", "ARGV[1]"),
    "a global": ("k = KEYS[1] ", "k", "ARGV[1]"),
    "small keys": ("", "keys[1]", "ARGV[1]"),
    "second": ("", "KEYS[1]", "ARGV[2]"),
}
TEST = (
    "if redis.call('get', {k}) == {t} then ",
    "local v = redis.call('GET', {k}); if v == {t} then ",
    "local v = redis.call('get', {k}) if V == {t} then ",
    "local v = redis.call('get', {k}) v = {t} if v == {t} then ",
    "if redis.call('get', {k}) ~= {t} then ",
    "if redis.call('exists', {k}) == {t} then ",
    'if redis.call("Get", {k}) --[[ if ]] ==\n{t} then ',
    "if redis.Call('get', {k}) == {t} then ",
    "if redis.pcall('get', {k}) == {t} then ",
    "if redis.call('get', {k}); == {t} then ",
    "if redis.call('\\103et', {k}) == {t} then ",
    "if not redis.call('get', {k}) == {t} then ",
)
THEN = (
    "return redis.call('del', {k})", "return redis.call('UNLINK', {k});",
    "redis.call('del', {k}) return 1", "redis.call('del', {k}); return 1",
    "redis.call('del', {k})", "redis.call('del', {k}) return 2", "return ;redis.call('del', {k})",
    "return redis.call('del', {t})", "return redis.call('pexpire', {k}, ARGV[2])",
    "return redis.call('expire', {k}, ARGV[2])", "redis.call('pexpire', {k}, ARGV[2]) return 1",
    "return redis.call('pexpire', {k}, ARGV[2] * 2)", "return redis.call('del', {k}) == 1",
    "return redis.call\n('del', {k})", "redis.call('del', {k}) return true",
)
END = (
    " else return 0 end", " end return 0", " end; return 0;", " end", " else return nil end",
    " end return false", " end return nil", " end return -1", " else return end", " else end return 0",
    " end end return 0", " end ;; return 0", " end return 00", " end return '0'", " else return 1 end",
)
STATES = {"mine": "t", "another's": "u", "free": None}


class Variants(RespTest):
    limit = 120

    def setUp(self):
        super().setUp()
        self.broker(resp={"park": 0})
        self.one, self.bare = self.resp(), Resp(self.redis().address)
        self.addCleanup(self.bare.close)

    def answers(self, client, state, text):
        client("DEL", "k")
        if STATES[state]:
            client("SET", "k", STATES[state], "NX", "PX", 10000)
        client.send("EVAL", text, 1, "k", "t", 5000)
        reply = client.read()
        return reply, client("GET", "k"), max(client("PTTL", "k"), -1) // 1000 > 5

    def is_known(self, text):
        self.one.send("SCRIPT", "LOAD", text)
        return not isinstance(self.one.read(), RedisError)

    def test_what_is_known_does_what_redis_does(self):
        known = 0
        for (begin, key, token), test, then, end in itertools.product(
                BEGIN.values(), TEST, THEN, END):
            text = begin + (test + then).format(k=key, t=token) + end
            if not self.is_known(text):
                continue
            known += 1
            for state in STATES:
                with self.subTest(text=text, state=state):
                    self.assertEqual(self.answers(self.one, state, text),
                                     self.answers(self.bare, state, text))
        self.assertGreater(known, 200)

    def test_what_is_known(self):
        same = "if redis.call('get', KEYS[1]) == ARGV[1] then "
        for text in (
                same + "return redis.call('del', KEYS[1]) end return 0",
                same + "return redis.call('unlink', KEYS[1]) else return 0 end",
                same + "redis.call('del', KEYS[1]) return 1 else return 0 end",
                same + "return redis.call('del', KEYS[1]) else return nil end",
                same + "return redis.call('del', KEYS[1]) else return false end",
                same + "return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0",
                "local v = redis.call('get', KEYS[1]) if v == ARGV[1] then "
                "return redis.call('del', KEYS[1]) end return 0"):
            with self.subTest(text=text):
                self.assertTrue(self.is_known(text))

    def test_what_is_known_by_its_keys(self):
        """Some libraries pass the token and the time as keys."""
        same = "if redis.call('get', KEYS[1]) == "
        release = same + "KEYS[2] then return redis.call('del', KEYS[1]) else return 0 end"
        extend = same + ("KEYS[2] then return redis.call('expire', KEYS[1], KEYS[3])"
                         " else return 0 end")
        touch = same + ("KEYS[3] then return redis.call('SET', KEYS[1], KEYS[3], 'PX', KEYS[2],"
                        " 'XX') else return 0 end")
        take = ("local key = KEYS[1] local value = KEYS[2] local ttl = KEYS[3]"
                " local lockSet = redis.call('setnx', key, value) if lockSet == 1 then"
                " redis.call('expire', key, ttl) end return lockSet")
        for (text, keys), (state, held) in itertools.product((
                (take, ("k", "t", 7)), (release, ("k", "t")), (extend, ("k", "t", 7)),
                (extend, ("k", "t", -1)), (touch, ("k", 7000, "t")), (touch, ("k", 0, "t"))),
                STATES.items()):
            replies = []
            for client in self.one, self.bare:
                client("DEL", "k")
                if held:
                    client("SET", "k", held, "NX", "PX", 20000)
                client.send("EVAL", text, len(keys), *keys)
                reply = client.read()
                replies.append((type(reply) if isinstance(reply, RedisError) else reply,
                                client("GET", "k"), round(max(client("PTTL", "k"), 0), -3)))
            with self.subTest(text=text, state=state):
                self.assertEqual(*replies)

    def test_keys_that_are_missing(self):
        release = ("if redis.call('get', KEYS[1]) == KEYS[2] then return redis.call('del', KEYS[1])"
                   " else return 0 end")
        self.one.send("EVAL", release, 1, "k", "t")
        self.assertIn("takes more arguments", str(self.one.read()))

    def test_what_is_not(self):
        same = "if redis.call('get', KEYS[1]) == ARGV[1] then "
        for text in (
                "if redis.call('get', keys[1]) == ARGV[1] then "
                "return redis.call('del', KEYS[1]) else return 0 end",
                same + "return redis.call('del', KEYS[1]) else return 1 end",
                same + "redis.call('del', KEYS[1]) end return 0",
                same + "return redis.call('del', KEYS[2]) else return 0 end",
                "if redis.call('get', KEYS[1]) ~= ARGV[1] then "
                "return redis.call('del', KEYS[1]) else return 0 end"):
            with self.subTest(text=text):
                self.assertFalse(self.is_known(text))


if __name__ == "__main__":
    unittest.main()
