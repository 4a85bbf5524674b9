"""Scripts of lock libraries with a number that is no time to come, to the broker and to a bare
redis-server: a script looks who has its names before it comes to the number. The answers are
equal, and so is what is held afterwards."""

import itertools
import unittest

from lib.redisson import SCRIPTS, channel_of, fair_keys, latch_of, wall_ms
from lib.resp import RedisError
from test_resp import encode
from test_resp_numbers import LEAST, REFUSED, Compared
from test_resp_redisson import ONE, OTHER, unlock

NUMBERS = (*REFUSED, "0", "-1", "-20000")
NOT_A_NUMBER = "ERR value is not an integer or out of range"


def each(what):
    return f"for i, key in ipairs(KEYS) do {what} end "


SET_EACH = each("redis.call('set', key, ARGV[1], 'PX', ARGV[2])") + "return #KEYS"
REFRESH = ("local values = redis.call('mget', unpack(KEYS)) "
           + each("if values[i] ~= ARGV[1] then return false end")
           + each("redis.call('pexpire', key, ARGV[2])") + "return redis.status_reply('OK')")
OBTAIN = ("local keys = {} " + each("table.insert(keys, key) table.insert(keys, ARGV[1])")
          + "if redis.call('msetnx', unpack(keys)) ~= 1 then "
          + each("if redis.call('getrange', key, 0, ARGV[2] - 1) ~= "
                 "string.sub(ARGV[1], 1, ARGV[2]) then return false end")
          + "redis.call('mset', unpack(keys)) end "
          + each("redis.call('pexpire', key, ARGV[3])") + "return redis.status_reply('OK')")
SPRING = ("local id = redis.call('GET', KEYS[1]) "
          "if id == ARGV[1] then redis.call('PEXPIRE', KEYS[1], ARGV[2]) return true "
          "elseif not id then redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) return true end "
          "return false")

# A text, which the broker knows by its form or else by the sha1 of the library's own; and what is
# behind it, for each number.
PLAIN = {
    "redlock, take": (
        each("if redis.call('exists', key) == 1 then return 0 end") + SET_EACH, None,
        lambda n: (2, "k", "l", "t", n)),
    "redlock, extend": (
        each("if redis.call('get', key) ~= ARGV[1] then return 0 end") + SET_EACH, None,
        lambda n: (2, "k", "l", "t", n)),
    "bsm/redislock, refresh": (
        REFRESH, "5a22d7e8431313862816d4416b5e46dd70fc340d", lambda n: (2, "k", "l", "t", n)),
    "Laravel, take": (
        "return redis.call('exists',KEYS[1])<1 and redis.call('setex',KEYS[1],ARGV[2],ARGV[1])",
        None, lambda n: (1, "k", "t", n)),
    "redsync": (
        "if redis.call('GET', KEYS[1]) == ARGV[1] then "
        "return redis.call('PEXPIRE', KEYS[1], ARGV[2]) "
        "elseif redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2], 'NX') then return 1 "
        "else return 0 end", None, lambda n: (1, "k", "t", n)),
    "RedLock.net": (
        "local value = redis.call('get', KEYS[1]) if (value == false) then "
        "return redis.call('set', KEYS[1], ARGV[1], 'PX', ARGV[2]) and 1 or 0 "
        "elseif (value == ARGV[1]) then return redis.call('pexpire', KEYS[1], ARGV[2]) "
        "else return -1 end", "9f614a785a5f9ae8c6396c6b4bf94d2087342603",
        lambda n: (1, "k", "t", n)),
    "aioredlock": (
        "local id = redis.call('get', KEYS[1]) if not id or id == ARGV[1] then "
        "return redis.call('set', KEYS[1], ARGV[1], 'PX', ARGV[2]) "
        "else return redis.error_reply('ERROR') end", "c75a9bf1538efcdb1f383acc3e273c5089d57e58",
        lambda n: (1, "k", "t", n)),
    "spring-integration": (
        SPRING, "175897a4e379e99e79a54937be09226f76cdcfe5", lambda n: (1, "k", "t", n)),
    "redlock-rb": (
        "if (redis.call('exists', KEYS[1]) == 0 and ARGV[3] == 'yes') or "
        "redis.call('get', KEYS[1]) == ARGV[1] then "
        "return redis.call('set', KEYS[1], ARGV[1], 'PX', ARGV[2]) end", None,
        lambda n: (1, "k", "t", n, "yes")),
    "redlock-rb, extend": (
        "if (redis.call('exists', KEYS[1]) == 0 and ARGV[3] == 'yes') or "
        "redis.call('get', KEYS[1]) == ARGV[1] then "
        "return redis.call('set', KEYS[1], ARGV[1], 'PX', ARGV[2]) end", None,
        lambda n: (1, "k", "t", n, "no")),
    "node-redis-warlock": (
        "if redis.call('get', KEYS[1]) == KEYS[3] then "
        "return redis.call('set', KEYS[1], KEYS[3], 'PX', KEYS[2], 'XX') else return 0 end",
        None, lambda n: (3, "k", n, "t")),
    "bsm/redislock, obtain": (
        OBTAIN, "eb0c00d98f6f33b4262419a509002884540f30be", lambda n: (1, "k", "t-meta", 1, n)),
    "node-redis-lock": (
        "local lockSet = redis.call('setnx', KEYS[1], KEYS[2]) "
        "if lockSet == 1 then redis.call('expire', KEYS[1], KEYS[3]) end return lockSet", None,
        lambda n: (3, "k", "t", n)),
}
# Symfony's locks are sorted sets.
STRING = "if redis.call('TYPE', KEYS[1]).ok == 'string' then return false end "
TIME = ("local now = redis.call('TIME') now = now[1] * 1000 + math.floor(now[2] / 1000) "
        "local ttl = tonumber(ARGV[3]) ")
STALE = "redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now) "
MINE = "redis.call('ZSCORE', KEYS[1], ARGV[2])"
COUNT = "redis.call('ZCOUNT', KEYS[1], '-inf', '+inf')"
WRITES = "redis.call('ZSCORE', KEYS[1], '__write__')"
UNTIL = ("redis.call('PEXPIREAT', KEYS[1], "
         "redis.call('ZREVRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2]) return true")
SYMFONY = {
    "take": (
        STRING + TIME + STALE + f"if {MINE} then if not {WRITES} and {COUNT} > 1 then "
        f"return false end elseif {COUNT} > 0 then return false end "
        "redis.call('ZADD', KEYS[1], now + ttl, ARGV[2]) "
        "redis.call('ZADD', KEYS[1], now + ttl, '__write__') " + UNTIL,
        "6fdee501a3714553b74c0d67687b921b90b05d18", lambda n: (1, "k", 0, "t", n)),
    "extend": (
        STRING + TIME + f"if not {MINE} then return false end "
        "redis.call('ZADD', KEYS[1], now + ttl, ARGV[2]) "
        f"if {WRITES} then redis.call('ZADD', KEYS[1], now + ttl, '__write__') end " + UNTIL,
        "63be12a3515941092212f15c08327d60916de9fa", lambda n: (1, "k", 0, "t", n)),
}
SYMFONY_QUERY = (STRING + TIME + STALE + f"if {MINE} then return true end return false",
                 "3b6bdbbe16f821f49177b16c7707f331f015a779")

HELD = {"bound": ("t", "NX", "PX", 10000), "without a bound": ("t", "NX"),
        "another's": ("u", "NX", "PX", 10000), "free": None}

COUNTED = {name: (*reversed(SCRIPTS[name.split(",")[0]]), words) for name, words in {
    "TAKE": lambda n: (1, "k", n, ONE), "TAKE_3_15": lambda n: (1, "k", n, ONE),
    "TAKE_3_2": lambda n: (1, "k", n, ONE),
    "FENCED_TAKE": lambda n: (2, "k", "fence", n, ONE),
    "FENCED_TAKE_TOKEN": lambda n: (2, "k", "fence", n, ONE),
    "FAIR_TAKE": lambda n: (3, *fair_keys("k"), n, ONE, 300000, wall_ms()),
    "FAIR_TRY": lambda n: (3, *fair_keys("k"), n, ONE, wall_ms(), 300000),
    "FAIR_TAKE, wait": lambda n: (3, *fair_keys("k"), 20000, ONE, n, wall_ms()),
    "FAIR_TAKE_3_11, clock": lambda n: (3, *fair_keys("k"), 20000, ONE, 300000, n),
    "RENEW_3_2": lambda n: (1, "k", n, ONE), "RENEW": lambda n: (2, "k", "l", n, ONE, ONE),
    "EXPIRE": lambda n: (1, "k", n, ""), "EXPIRE_3_13": lambda n: (1, "k", n),
    **{name: lambda n, name=name: unlock(name, "k", ONE, ms=n) for name in SCRIPTS
       if name.startswith(("UNLOCK", "SPIN_UNLOCK"))},
}.items()}
# Those that keep their answer, for a time that comes last.
LATCHED = {name: (*reversed(SCRIPTS[name.split(",")[0]]), words) for name, words in {
    "UNLOCK": lambda n: unlock("UNLOCK", "k", ONE, latch_ms=n),
    "SPIN_UNLOCK": lambda n: unlock("SPIN_UNLOCK", "k", ONE, latch_ms=n),
    "UNLOCK, both": lambda n: unlock("UNLOCK", "k", ONE, ms=n, latch_ms=n),
    **{name: lambda n: (5, *fair_keys("k"), channel_of("k"), latch_of("k", 0),
                        "0", 30000, ONE, wall_ms(), "PUBLISH", n)
       for name in ("FAIR_UNLOCK", "FAIR_UNLOCK_3_24")},
}.items()}
DEPTHS = {"mine": (ONE, 1), "mine, twice": (ONE, 2), "another's": (OTHER, 1), "free": (ONE, 0)}


class Numbers(Compared):
    def words(self, client, form, args):
        text, sha = form[:2]
        return (*(("EVALSHA", sha) if sha and client is self.one else ("EVAL", text)), *args)

    def answers(self, client, form, prepare, look, numbers):
        """What is there before, the answer, and what is there then, for each number."""
        blocks = [[*prepare(client), *look(client), self.words(client, form, form[2](number)),
                   *look(client)] for number in numbers]
        client.sock.sendall(b"".join(encode(*words) for block in blocks for words in block))
        n = len(look(client))
        for block in blocks:
            replies = [client.read() for _ in block]
            yield replies[-1 - 2 * n:-1 - n], replies[-1 - n], replies[-n:]

    def check(self, form, prepare, look, *, means=lambda reply: reply, numbers=NUMBERS,
              behind=False, computes=False):
        """An error of Redis may come when half of the script is done; the broker then has done
        nothing. Or it comes behind all that (`behind`), which both have done. Lua `computes` with
        the number, or hands it on."""
        for number, one, bare in zip(
                numbers, *(self.answers(client, form, prepare, look, numbers)
                           for client in (self.one, self.bare))):
            with self.subTest(number=number):
                before, reply, after = one
                expected, there = bare[1:]
                if computes and self.refused(number, expected):
                    expected = RedisError(NOT_A_NUMBER)
                if isinstance(expected, RedisError):
                    self.assertIsInstance(reply, RedisError)
                    # The script's own, or that of the number.
                    self.assertEqual("ERROR" in str(reply), "ERROR" in str(expected))
                    there = there if behind else before
                else:
                    self.assertEqual(means(reply), means(expected))
                self.assertEqual(*([*map(about, state)] for state in (after, there)))

    def test_plain(self):
        def look(_):
            return [(word, key) for key in "kl" for word in ("GET", "PTTL")]

        for name, form in PLAIN.items():
            two = form[2](0)[2] == "l"
            for states in itertools.product([*HELD][two:], repeat=1 + two):
                made = [("SET", key, *HELD[state]) for key, state in zip("kl", states) if HELD[state]]
                with self.subTest(script=name, states=states):
                    self.check(form, lambda _, made=made: [("DEL", "k"), ("DEL", "l"), *made], look)

    def test_all_names_or_none(self):
        """bsm/redislock: all are free, or all are its own."""
        text, sha, _ = PLAIN["bsm/redislock, obtain"]
        for states in itertools.product(HELD, repeat=2):
            made = [("SET", key, *HELD[state]) for key, state in zip("kl", states) if HELD[state]]
            with self.subTest(states=states):
                self.check((text, sha, lambda n: (2, "k", "l", "t-meta", 1, n)),
                           lambda _, made=made: [("DEL", "k"), ("DEL", "l"), *made],
                           lambda _: [(word, key) for key in "kl" for word in ("GET", "PTTL")],
                           numbers=(*NUMBERS, "10000"))

    def test_how_much_of_a_token_counts(self):
        """bsm/redislock: Lua computes with that number, and only if the name is taken."""
        text, sha, _ = PLAIN["bsm/redislock, obtain"]
        for token in (None, "t", "t-meta", "t-metals", "u"):
            def prepare(_, token=token):
                return [("DEL", "k"), *([("SET", "k", token, "NX", "PX", 20000)] if token else [])]

            for words in (lambda n: (1, "k", "t-meta", n, 10000), lambda n: (1, "k", "t-meta", n, n)):
                with self.subTest(held=token, words=words("n")):
                    self.check((text, sha, words), prepare, lambda _: [("GET", "k"), ("PTTL", "k")],
                               numbers=(*REFUSED, "0", "-1", "1000", "2000", "6000"))
            with self.subTest(held=token):
                self.check((text, sha, lambda n: (1, "k", "t-meta", n, 10000)), prepare,
                           lambda _: [("GET", "k"), ("PTTL", "k")],
                           numbers=("1", "2", "6", "7", "0x1", "1.0", " 6\n", "1e0"))

    def test_symfony(self):
        def prepare(client, token, *more):
            take = self.words(client, SYMFONY["take"], (1, "k", 0, token, 10000))
            return [("DEL", "k"), *([take] if token else []), *more]

        def look(client):
            return [*(self.words(client, SYMFONY_QUERY, (1, "k", 0, token)) for token in "tu"),
                    ("PTTL", "k")]

        for name, form in SYMFONY.items():
            for state in ((None,), ("t",), ("u",), ("t", ("PERSIST", "k"))):
                with self.subTest(script=name, state=state):
                    self.check(form, lambda client, state=state: prepare(client, *state), look,
                               numbers=(*NUMBERS, "1e17", "-2e17", str(-2**62)), computes=True)

    def test_counted(self):
        for name, form in COUNTED.items():
            for state, (token, depth) in DEPTHS.items():
                with self.subTest(script=name, state=state):
                    self.check(form, self.taken(token, depth), self.depth_of(token), means=met)

    def test_latches(self):
        for name, form in LATCHED.items():
            for state, (token, depth) in DEPTHS.items():
                # With a depth that is left, the time of that comes first.
                behind = depth < 2 or "both" not in name
                numbers = NUMBERS if behind else [n for n in REFUSED if n != LEAST]
                with self.subTest(script=name, state=state):
                    self.check(form, self.taken(token, depth), self.depth_of(token),
                               numbers=numbers, behind=behind)
            with self.subTest(script=name, state="answered before"):
                self.check(form, self.taken(ONE, 2, form), self.depth_of(ONE), behind=True)

    def taken(self, token, depth, told=None):
        """Makes a hold of that depth, one of which was taken off and is in the latch (`told`)."""
        def prepare(client):
            take = self.words(client, COUNTED["TAKE"], (1, "k", 10000, token))
            gone = [("DEL", key) for key in ("k", latch_of("k", 0))]
            if client is self.bare:
                gone += [("DEL", key) for key in ("fence", *fair_keys("k"))]
            return gone + [take] * depth + (
                [self.words(client, told, told[2](16000))] if told else [])

        return prepare

    @staticmethod
    def depth_of(token):
        return lambda _: [("HGET", "k", token), ("PTTL", "k")]


def about(value):
    """A time to come is the same in both, but for what has passed of it."""
    return "some time" if isinstance(value, int) and value > 0 else value


def met(reply):
    """A thread is refused until some time, and gets a fence that Redis does not know."""
    if isinstance(reply, list) and len(reply) == 2 and -1 in reply:
        return "refused" if reply[0] > 0 else "taken"
    return "refused" if isinstance(reply, int) and reply > 1 else reply


if __name__ == "__main__":
    unittest.main()
