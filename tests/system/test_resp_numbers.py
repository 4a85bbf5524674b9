"""Each number that a client may send, to the broker and to a bare redis-server: the answers are
equal, and so is what is held afterwards."""

import unittest

from lib.resp import RedisError, Resp
from test_resp import RespTest

LONGEST = 2**53 - 1  # of a bound of the broker, in ms
NUMBERS = ("0", "-1", "1000", "-1000", "-10000", "-20000", "2147483648", "9007199254740991")
LEAST = str(-2**63)
# No time that Redis takes.
REFUSED = ("", "0.5", "1e3", "+1000", " 1000", "01000", "-0", "0x4000", "nan", str(2**63 - 1),
           str(2**63), LEAST, str(-2**63 - 1))

# What each library extends its hold by: the text, and its arguments behind the token.
ADD = """
local token = redis.call('get', KEYS[1])
if not token or token ~= ARGV[1] then return 0 end
local expiration = redis.call('pttl', KEYS[1])
if not expiration then expiration = 0 end
if expiration < 0 then return 0 end
local newttl = ARGV[2]
if ARGV[3] == "0" then newttl = ARGV[2] + expiration end
redis.call('pexpire', KEYS[1], newttl)
return 1
"""
SIGNAL = """
if redis.call("get", KEYS[1]) ~= ARGV[1] then return 1
elseif redis.call("ttl", KEYS[1]) < 0 then return 2
else redis.call("expire", KEYS[1], ARGV[2]) return 0 end
"""
EXTEND = ('if redis.call("get",KEYS[1]) == ARGV[1] then '
          'return redis.call("pexpire",KEYS[1],ARGV[2]) else return 0 end')

EXTENSIONS = [(ADD, ("0",)), (ADD, ("1",)), (SIGNAL, ()), (EXTEND, ())]

STATES = {
    "bound": [("SET", "k", "t", "NX", "PX", "10000")],
    "without a bound": [("SET", "k", "t", "NX")],
    "another's": [("SET", "k", "u", "NX", "PX", "10000")],
    "free": [],
}


class Compared(RespTest):
    """A broker, and a bare redis-server. Their answers differ in one place: what Lua computes is no
    integer for Redis 7.0 from 10^17 on, as it has an exponent; later servers take most of these.
    The broker does as 7.0 with any server behind it."""

    limit = 60

    def setUp(self):
        super().setUp()
        self.broker(resp={"park": 0})
        self.one, self.bare = self.resp(), Resp(self.redis().address)
        self.addCleanup(self.bare.close)
        self.takes_large = self.bare("EVAL", "return redis.call('ECHO', 1e17)", 0) != "1e+17"

    def refused(self, number, expected):
        """Lua computes with this number, and the bare server has taken it: does the broker not?"""
        return self.takes_large and expected == 1 and is_large(number)


def is_large(number):
    try:
        return abs(float(number)) >= 1e17
    except ValueError:
        return False


class Numbers(Compared):
    def answers(self, client, state, words):
        """The answer to a request, and what is there afterwards: the token, and for how long."""
        client("DEL", "k")
        for command in STATES[state]:
            client(*command)
        client.send(*words)
        reply = client.read()
        if isinstance(reply, RedisError):
            reply = "ERR" if "script" in str(reply) else str(reply)
        return reply, client("GET", "k"), min(client("PTTL", "k"), LONGEST)

    def check(self, words):
        for state in STATES:
            with self.subTest(state=state, words=words):
                reply, token, left = self.answers(self.one, state, words)
                expected = self.answers(self.bare, state, words)
                self.assertEqual((reply, token), expected[:2])
                self.assertAlmostEqual(left, expected[2], delta=2000 if left > 0 else 0)

    def test_extensions(self):
        for number in NUMBERS:
            for text, more in EXTENSIONS:
                self.check(("EVAL", text, 1, "k", "t", number, *more))

    def test_an_end_that_is_no_number(self):
        """2^63 - 1 ms from now: an error, and nothing changes."""
        state = "bound"
        for text, more in EXTENSIONS:
            words = ("EVAL", text, 1, "k", "t", "9223372036854775807", *more)
            with self.subTest(words=words):
                (reply, *there), (expected, *bare) = (
                    self.answers(client, state, words) for client in (self.one, self.bare))
                self.assertTrue(str(reply).startswith("ERR") and str(expected).startswith("ERR"),
                                (reply, expected))
                self.assertEqual(there[0], bare[0])
                self.assertAlmostEqual(there[1], bare[1], delta=2000)

    def test_the_token_comes_first(self):
        """A script that compares the token does not look at the number if that is another's. What
        it adds to is a number if Lua takes it for one."""
        for number in REFUSED:
            for text, more in EXTENSIONS:
                for state in STATES:
                    words = ("EVAL", text, 1, "k", "t", number, *more)
                    with self.subTest(state=state, words=words):
                        (reply, token, _), (expected, bare, _) = (
                            self.answers(client, state, words) for client in (self.one, self.bare))
                        if more == ("0",) and self.refused(number, expected):
                            expected, bare = "ERR", "t"
                        self.assertEqual(token, bare)
                        if str(expected).startswith("ERR"):
                            self.assertTrue(str(reply).startswith("ERR"), reply)
                        else:
                            self.assertEqual(reply, expected)

    def test_large_ones_that_lua_computes(self):
        """Whatever is behind the broker: nothing changes."""
        for number in ("1e17", "-2e17", "2" + 17 * "0", hex(2**61), str(2**62), str(-2**62), LEAST):
            for state in STATES:
                words = ("EVAL", ADD, 1, "k", "t", number, "0")
                with self.subTest(state=state, number=number):
                    (reply, token, left), (expected, *bare) = (
                        self.answers(client, state, words) for client in (self.one, self.bare))
                    if state == "bound":
                        self.assertTrue(reply.startswith("ERR"), reply)
                        self.assertEqual(token, "t")
                        self.assertGreater(left, 8000)
                        self.assertEqual(expected != "ERR", self.takes_large)
                    else:
                        self.assertEqual((reply, token), (expected, bare[0]))

    def test_expire(self):
        for number in NUMBERS:
            for word in ("PEXPIRE", "EXPIRE"):
                for how in ((), ("NX",), ("XX",), ("GT",), ("LT",)):
                    self.check((word, "k", number, *how))

    def test_numbers_that_are_none(self):
        for number in REFUSED:
            for word in ("PEXPIRE", "EXPIRE"):
                self.check((word, "k", number))
            for how in (("NX",), ("XX",), ("NX", "GET")):
                for unit in ("PX", "EX", "PXAT", "EXAT"):
                    self.check(("SET", "k", "t", *how, unit, number))

    def test_the_least_number(self):
        self.check(("EVAL", EXTEND, 1, "k", "t", LEAST))

    def test_set(self):
        for number in NUMBERS:
            for unit in ("PX", "EX"):
                for how in (("NX",), ("XX",), ("NX", "GET")):
                    self.check(("SET", "k", "t", *how, unit, number))

    def test_without_a_number(self):
        for words in (("SETNX", "k", "t"), ("PERSIST", "k"), ("TYPE", "k"), ("EXISTS", "k"),
                      ("DEL", "k"), ("UNLINK", "k"), ("SET", "k", "t", "NX"),
                      ("SET", "k", "t", "NX", "GET")):
            self.check(words)


if __name__ == "__main__":
    unittest.main()
