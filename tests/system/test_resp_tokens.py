"""Locks as lock libraries take them from Redis: commands on keys, scripts, and the same answers."""

import hashlib
import itertools
import random
import signal
import time
import unittest

from lib.case import note
from lib.resp import RedisError, Resp
from lib.wait import eventually, now, patience
from test_resp import HASH, SECRET, RespTest, encode

# Some texts of libraries, in their own layout.
RELEASE = ("\n        if redis.call('get', KEYS[1]) == ARGV[1] then\n"
           "            return redis.call('del', KEYS[1])\n"
           "        else\n            return 0\n        end\n")
RELEASE_CRLF = RELEASE.replace("\n", "\r\n").replace("'", '"')
EXTEND = 'if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("pexpire",KEYS[1],' \
         "ARGV[2]) else return 0 end -- renew"

# Scripts that take a name, or extend the hold that its token has.
SYMFONY_TAKE = "6fdee501a3714553b74c0d67687b921b90b05d18"
AIOREDLOCK_TAKE = "c75a9bf1538efcdb1f383acc3e273c5089d57e58"

# What redis-py, redlock, redsync, redlock-rb, bsm/redislock, aioredlock, Laravel, pottery,
# RedLock.net, python-redis-lock, redis-semaphore and Symfony send by EVALSHA: keys, arguments
# and the answer while `mine` is held by the token t with some 10 s left, and `free` is free.
SCRIPTS = [
    ("c3f8721cbb97f72bc19e972846bd7aaf91901658", ["mine"], ["x"], 0),
    ("c3f8721cbb97f72bc19e972846bd7aaf91901658", ["free"], ["t"], 0),
    ("c3f8721cbb97f72bc19e972846bd7aaf91901658", ["mine"], ["t"], 1),
    ("a4e8783852e6b949f9ef3a97212805108459a890", ["mine"], ["t", 5000, "0"], 1),
    ("a4e8783852e6b949f9ef3a97212805108459a890", ["mine"], ["t", 5000, "1"], 1),
    ("a4e8783852e6b949f9ef3a97212805108459a890", ["mine"], ["x", 5000, "0"], 0),
    ("1cac51482acf5858da00f6d685d68f886cd6b6b2", ["mine"], ["t", 5000], 1),
    ("1cac51482acf5858da00f6d685d68f886cd6b6b2", ["free"], ["t", 5000], 0),
    ("96da70f7716f27d278a5218544df37fd8b0a5e4c", ["free", "free2"], ["t", 5000], 2),
    ("96da70f7716f27d278a5218544df37fd8b0a5e4c", ["free", "mine"], ["x", 5000], 0),
    ("aed6f382e410db8ba7926d4e5e9aab410bf2a78a", ["mine"], ["t", 5000], 1),
    ("aed6f382e410db8ba7926d4e5e9aab410bf2a78a", ["mine", "free"], ["t", 5000], 0),
    ("e4612211c9f8f51c257e26e056b0a654b3187242", ["free", "mine"], ["t"], 1),
    ("e4612211c9f8f51c257e26e056b0a654b3187242", ["free", "mine"], ["x"], 0),
    ("e950836ed1e694540c503ef9972b8de518044d3b", ["mine"], ["t"], 1),
    ("e950836ed1e694540c503ef9972b8de518044d3b", ["mine"], ["x"], 0),
    ("e950836ed1e694540c503ef9972b8de518044d3b", ["free"], ["t"], -1),
    ("b6b55c439e02c6f52ffb8be7ec8c0d0ac816ea79", ["free"], ["t", 5000], 1),
    ("b6b55c439e02c6f52ffb8be7ec8c0d0ac816ea79", ["mine"], ["t", 5000], 1),
    ("b6b55c439e02c6f52ffb8be7ec8c0d0ac816ea79", ["mine"], ["x", 5000], 0),
    ("ceb2b2062e40c51a2b3963fd078bc71f11bdc65c", ["free"], ["t", 5000, "yes"], "OK"),
    ("ceb2b2062e40c51a2b3963fd078bc71f11bdc65c", ["free"], ["t", 5000, "no"], None),
    ("ceb2b2062e40c51a2b3963fd078bc71f11bdc65c", ["mine"], ["t", 5000, "no"], "OK"),
    ("ceb2b2062e40c51a2b3963fd078bc71f11bdc65c", ["mine"], ["x", 5000, "yes"], None),
    ("9470c810040e272ee6c579d8d4331aaf6332a7b1", ["mine"], ["t"], "OK"),
    ("9470c810040e272ee6c579d8d4331aaf6332a7b1", ["mine", "free"], ["t"], None),
    ("5a22d7e8431313862816d4416b5e46dd70fc340d", ["mine"], ["t", 5000], "OK"),
    ("5a22d7e8431313862816d4416b5e46dd70fc340d", ["mine", "free"], ["t", 5000], None),
    ("eb0c00d98f6f33b4262419a509002884540f30be", ["free", "free2"], ["t-meta", 1, 5000], "OK"),
    ("eb0c00d98f6f33b4262419a509002884540f30be", ["mine"], ["t-meta", 1, 5000], "OK"),
    ("eb0c00d98f6f33b4262419a509002884540f30be", ["mine"], ["x-meta", 1, 5000], None),
    ("c75a9bf1538efcdb1f383acc3e273c5089d57e58", ["free"], ["t", 5000], "OK"),
    ("c75a9bf1538efcdb1f383acc3e273c5089d57e58", ["mine"], ["x", 5000], RedisError("ERROR")),
    ("241e4ca540a1cc4ec1f32d9eb9f879e607d7e6e5", ["mine"], ["t"], 1),
    ("241e4ca540a1cc4ec1f32d9eb9f879e607d7e6e5", ["free"], ["t"], "OK"),
    ("241e4ca540a1cc4ec1f32d9eb9f879e607d7e6e5", ["mine"], ["x"], RedisError("ERROR")),
    ("f908d3f43dbcabc68fc0c9ecaf1fa4a285ecdb0a", ["mine"], ["t"], 10),
    ("f908d3f43dbcabc68fc0c9ecaf1fa4a285ecdb0a", ["free"], ["t"], RedisError("ERROR")),
    ("d5f94f1848f0c54fff99d99dbc4d54184a157c02", ["mine"], ["t", 5], 1),
    ("d5f94f1848f0c54fff99d99dbc4d54184a157c02", ["mine"], ["t", 0], 1),
    ("d5f94f1848f0c54fff99d99dbc4d54184a157c02", ["mine"], ["x", 5], 0),
    ("a08c9c69b7c07ae2485190873b90d128a23e502d", ["free"], ["t", 5], "OK"),
    ("a08c9c69b7c07ae2485190873b90d128a23e502d", ["mine"], ["t", 5], None),
    ("f5f7bd3a3aa4a63c507c1155c5ea1219b350d992", ["mine"], ["x"], 0),
    ("9f614a785a5f9ae8c6396c6b4bf94d2087342603", ["free"], ["t", 5000], 1),
    ("9f614a785a5f9ae8c6396c6b4bf94d2087342603", ["mine"], ["t", 5000], 1),
    ("9f614a785a5f9ae8c6396c6b4bf94d2087342603", ["mine"], ["x", 5000], -1),
    ("90da91872223f85eb1376a17e3c4df21ace8c54b", ["mine", "signal"], ["t"], 0),
    ("90da91872223f85eb1376a17e3c4df21ace8c54b", ["mine", "signal"], ["x"], 1),
    ("fed16109024d968d9496e4140fe1355bac05ebff", ["mine"], ["t", 5], 0),
    ("fed16109024d968d9496e4140fe1355bac05ebff", ["mine"], ["x", 5], 1),
    ("afbc8014508f92e446b56567e8ba600e811c1bd5", ["mine", "signal"], [], 1),
    ("c481d49b4a48e48a9eeacd5d51655b5fcbb19925", ["free"], [], 1),
    ("c481d49b4a48e48a9eeacd5d51655b5fcbb19925", ["mine"], [], 1),
    ("6fdee501a3714553b74c0d67687b921b90b05d18", ["free"], ["1.5", "t", 5000], 1),
    ("6fdee501a3714553b74c0d67687b921b90b05d18", ["mine"], ["1.5", "t", 5000], 1),
    ("6fdee501a3714553b74c0d67687b921b90b05d18", ["mine"], ["1.5", "x", 5000], None),
    ("63be12a3515941092212f15c08327d60916de9fa", ["mine"], ["1.5", "t", 5000], 1),
    ("63be12a3515941092212f15c08327d60916de9fa", ["mine"], ["1.5", "x", 5000], None),
    ("63be12a3515941092212f15c08327d60916de9fa", ["free"], ["1.5", "t", 5000], None),
    ("3b6bdbbe16f821f49177b16c7707f331f015a779", ["mine"], ["1.5", "t"], 1),
    ("3b6bdbbe16f821f49177b16c7707f331f015a779", ["mine"], ["1.5", "x"], None),
    ("3b6bdbbe16f821f49177b16c7707f331f015a779", ["free"], ["1.5", "t"], None),
    ("a70f7f5087a0cb2c2c9ca50d1f64e234c2628f0c", ["mine"], ["t"], 1),
    ("a70f7f5087a0cb2c2c9ca50d1f64e234c2628f0c", ["mine"], ["x"], None),
    ("a70f7f5087a0cb2c2c9ca50d1f64e234c2628f0c", ["free"], ["t"], None),
    ("7157921a7cc7cfba979acf6d63f073151df17d12", ["mine"], ["t"], 1),
    ("7157921a7cc7cfba979acf6d63f073151df17d12", ["mine"], ["x"], 0),
    ("594683e49a64ebaf975caf5f8079a1d097c438f1", ["mine"], ["t", 5000], 1),
    ("594683e49a64ebaf975caf5f8079a1d097c438f1", ["free"], ["t", 5000], 0),
    ("15c8f9866a66624fdde522d8ee86a463c6a7b821", ["mine"], ["t", 5000], 1),
    ("15c8f9866a66624fdde522d8ee86a463c6a7b821", ["mine"], ["x", 5000], 0),
    ("15c8f9866a66624fdde522d8ee86a463c6a7b821", ["free"], ["t", 5000], 1),
]


def read(client):
    """An answer in a form that can be compared."""
    reply = client.read()
    return ("error", str(reply)) if isinstance(reply, RedisError) else reply


class Tokens(RespTest):
    def setUp(self):
        super().setUp()
        self.broker(resp={"park": 0})

    def test_a_hold_is_of_its_token(self):
        one, other = self.resp(), self.resp()
        self.assertEqual(one("SET", "a", "t", "NX", "PX", 10000), "OK")
        self.assertIsNone(other("SET", "a", "u", "NX", "PX", 10000))
        self.assertIsNone(one("SET", "a", "t", "NX", "PX", 10000), "the same token twice")
        self.assertEqual(other("GET", "a"), "t")
        self.assertGreater(other("PTTL", "a"), 5000)
        self.assertEqual((other("TTL", "a"), other("EXISTS", "a", "b")), (10, 1))
        self.assertEqual((other("TYPE", "a"), other("TYPE", "b")), ("string", "none"))
        one.close()
        self.assertEqual(other("DELEX", "a", "IFEQ", "u"), 0)
        self.assertEqual(other("DELEX", "a", "IFEQ", "t"), 1)
        self.assertIsNone(other("GET", "a"))

    def test_lines_see_it(self):
        line, one = self.client(), self.resp()
        one("SET", "a", "t", "NX", "PX", 300)
        self.assertEqual(line.ok("STATUS a")["state"], "held")
        self.assertEqual(line.ask("TRYLOCK a").status, "BUSY")
        line.lock("a", timeout=10)
        self.assertIsNone(one("SET", "a", "t", "NX", "PX", 300))
        self.assertEqual(one("DEL", "a"), 0)
        self.assertIsNotNone(one("GET", "a"))
        line.ok("UNLOCK a")
        self.assertEqual(eventually(lambda: one("SET", "a", "t", "NX", "PX", 300), 5), "OK")

    def test_a_name_that_is_shared(self):
        line, one = self.client(), self.resp()
        line.lock("a", "mode=shared")
        self.assertIsNone(one("SET", "a", "t", "NX", "PX", 10000))
        self.assertEqual((one("EXISTS", "a"), one("DEL", "a")), (1, 0))

    def test_a_hold_outlives_its_broker(self):
        server = self.redis()
        one, other = (self.broker(server, trust_new=True, lease=1, resp={"park": 0})
                      for _ in range(2))
        self.resp(one)("SET", "a", "t", "NX", "PX", 60000)
        one.kill()
        client = self.resp(other)
        self.assertIsNone(client("SET", "a", "u", "NX", "PX", 10000))
        self.assertEqual(client("GET", "a"), "t")
        self.assertEqual(client("EVAL", EXTEND, 1, "a", "t", 90000), 1)
        self.assertGreater(client("PTTL", "a"), 60000)
        self.assertEqual(client("EVAL", RELEASE, 1, "a", "t"), 1)
        self.assertEqual(client("SET", "a", "u", "NX", "PX", 10000), "OK")

    def test_a_fence(self):
        one = self.resp()
        one("SET", "a", "t", "NX", "PX", 10000)
        first = one("LB.FENCE", "a", "t")
        self.assertIsInstance(first, int)
        self.assertIsNone(one("LB.FENCE", "a", "u"))
        one("DEL", "a")
        self.assertIsNone(one("LB.FENCE", "a", "t"))
        one("SET", "a", "t", "NX", "PX", 10000)
        self.assertGreater(one("LB.FENCE", "a", "t"), first)

    def test_half_close(self):
        sent = encode("SET", "a", "t", "NX", "PX", "60000") + encode("GET", "a") + encode("PING")
        self.assertEqual(self.raw(sent), b"+OK\r\n$1\r\nt\r\n+PONG\r\n")
        self.assertEqual(self.raw(sent), b"$-1\r\n$1\r\nt\r\n+PONG\r\n")

    def test_what_is_refused(self):
        one = self.resp()
        for words, error in (
                (("SET", "a", "t"), "ERR lockbroker supports SET only with NX, XX or IFEQ"),
                (("SET", "a", "t", "PX", "5"), "ERR lockbroker supports SET only with NX, XX or IFEQ"),
                (("SET", "a", "t", "XX", "KEEPTTL"), "ERR lockbroker does not support KEEPTTL"),
                (("SET", "a b", "t", "NX"), 'ERR bad-name the name "a?b" contains a space'),
                (("SET", "a", "", "NX"), "ERR bad-token a token has 1 to 512 bytes"),
                (("SET", "a", "t" * 513, "NX"), "ERR bad-token a token has 1 to 512 bytes"),
                (("DELEX", "a", "IFDEQ", "t"),
                 "ERR lockbroker supports DELEX only with IFEQ or IFNE")):
            with self.subTest(words=words):
                self.assertTrue(one.error(*words).startswith(error.split('"')[0]),
                                one.error(*words))
        self.assertEqual(one("SET", "a", "t" * 512, "NX"), "OK")
        self.assertEqual(one("STRLEN", "a"), 512)

    def test_ifeq(self):
        one = self.resp()
        self.assertIsNone(one("SET", "a", "t", "IFEQ", "t", "PX", 1000))
        one("SET", "a", "t", "NX", "PX", 1000)
        self.assertEqual(one("SET", "a", "u", "IFEQ", "t", "PX", 20000), "OK")
        self.assertEqual(one("GET", "a"), "u")
        self.assertGreater(one("PTTL", "a"), 10000)
        self.assertEqual(one("DELIFEQ", "a", "t"), 0)
        self.assertEqual(one("DELEX", "a", "IFNE", "t"), 1)

    def test_a_question_of_stackexchange(self):
        self.assertIsNone(self.resp()("GET", "__Booksleeve_TieBreak"))

    def test_no_token_is_logged(self):
        one = self.resp()
        one("SET", "a", "secret-token", "NX", "PX", 1000)
        one("DEL", "a")
        self.assertNotIn("secret-token", self.brokers[0].log())


class Scripts(RespTest):
    def setUp(self):
        super().setUp()
        self.broker(resp={"park": 0})

    def prepare(self, one):
        one("DEL", "mine", "free", "free2")
        one("SET", "mine", "t", "NX", "PX", 10000)

    def test_of_each_library(self):
        one = self.resp()
        for sha1, keys, args, expected in SCRIPTS:
            with self.subTest(sha1=sha1, keys=keys, args=args):
                self.prepare(one)
                one.send("EVALSHA", sha1, len(keys), *keys, *args)
                reply = one.read()
                self.assertEqual(str(reply), str(expected))

    def test_a_text_is_known_by_its_normal_form(self):
        one = self.resp()
        self.prepare(one)
        self.assertEqual(one("EVAL", EXTEND, 1, "mine", "t", 20000), 1)
        self.assertGreater(one("PTTL", "mine"), 15000)
        sha1 = one("SCRIPT", "LOAD", RELEASE_CRLF)
        self.assertEqual(one("SCRIPT", "EXISTS", sha1, "0" * 40), [1, 0])
        self.assertEqual(self.resp()("EVALSHA", sha1.upper(), 1, "mine", "t"), 1)

    def test_a_release_by_del_is_not_logged(self):
        """Some libraries release so."""
        one = self.resp()
        for _ in range(3):
            one("SET", "mine", "t", "NX")
            self.assertEqual(one("DEL", "mine"), 1)
        self.assertEqual(self.brokers[0].log_lines("token-deleted"), [])

    def test_an_unknown_text(self):
        one = self.resp()
        text = "return redis.call('get', KEYS[1]) .. 'secret'"
        error = one.error("EVAL", text, 1, "mine")
        self.assertRegex(error, r"^ERR script not known to lockbroker \(sha1 [0-9a-f]{40}\); "
                                r"see lockbroker-resp\(7\), or declare it in resp.scripts$")
        self.assertEqual(one.error("SCRIPT", "LOAD", text), error)
        sha1 = error.split()[7][:40]
        self.assertEqual(one.error("EVALSHA", sha1, 1, "mine"),
                         "NOSCRIPT No matching script. Please use EVAL.")
        self.assertEqual(len(self.brokers[0].log_lines("script-unknown")), 1)
        self.assertEqual(self.client().stats()["resp_scripts_unknown_total"], "2")

    def test_an_unknown_text_that_is_loaded(self):
        """The library will need it for a release: there is a warning, with who it is."""
        one, broker = self.resp(), self.brokers[0]
        one("CLIENT", "SETNAME", "celery-7")
        one.error("SCRIPT", "LOAD", "return redis.call('get', KEYS[1]) .. 'secret'")
        self.assertRegex(broker.log_lines("script-unknown")[0],
                         r" warning script-unknown sha1=\S+ label=celery-7 peer=\S+ text=")

    def test_texts_of_the_configuration(self):
        texts = {word: f"-- {word} of a library\nreturn redis.call('get', KEYS[1]) ~= 'x'"
                 for word in ("acquire", "release", "extend", "query")}
        sums = {word: hashlib.sha1(text.encode()).hexdigest() for word, text in texts.items()}
        broker = self.broker(resp={"scripts": [{"sha1": sums[word], "as": word}
                                               for word in ("acquire", "release", "query")]})
        one = Resp(f"127.0.0.1:{broker.port}")
        self.addCleanup(one.close)
        self.assertEqual(one("EVAL", texts["acquire"], 1, "mine", "t", 5000), "OK")
        self.assertIsNone(one("EVALSHA", sums["acquire"], 1, "mine", "u", 5000))
        self.assertEqual(one("EVAL", texts["query"], 1, "mine", "t"), 1)
        self.assertIsNone(one("EVAL", texts["query"], 1, "mine", "u"))
        self.assertIn("not known", one.error("EVAL", texts["extend"], 1, "mine", "t", 90000))
        broker.settings["resp"]["scripts"].append({"sha1": sums["extend"], "as": "extend"})
        broker.write_config()
        broker.signal(signal.SIGHUP)
        eventually(lambda: broker.log_lines("reloaded"), 5, "it has reloaded")
        self.assertEqual(one("SCRIPT", "EXISTS", *sums.values()), [1, 1, 1, 1])
        self.assertEqual(one("EVAL", texts["extend"], 1, "mine", "t", 90000), 1)
        self.assert_within(60000, one("PTTL", "mine"), 90000)
        self.assertEqual(one("EVAL", texts["release"], 1, "mine", "u"), 0)
        self.assertEqual(one("SCRIPT", "LOAD", texts["release"]), sums["release"])
        self.assertEqual(one("EVALSHA", sums["release"], 1, "mine", "t"), 1)
        self.assertEqual(one("EXISTS", "mine"), 0)

    def test_many_unknown_texts(self):
        """They fill no log, and what they have in them does not get there."""
        one, broker = self.resp(), self.brokers[0]
        start = now()
        for i in range(600):
            one.error("EVAL", f"return redis.call('set', KEYS[1], 'secret', 7{i})", 1, "mine")
        texts = broker.log_lines("script-unknown")
        self.assertLessEqual(len(texts), 2 + now() - start)
        self.assertIn('text="return redis.call(\\"...\\",KEYS[1],\\"...\\",70)"', texts[0])
        self.assertNotIn("secret", broker.log())
        more = itertools.count()

        def next_line():
            one.error("EVAL", f"return {next(more)}", 1, "mine")
            return broker.log_lines("script-unknown")[len(texts):]

        self.assertRegex(eventually(next_line, 5)[0], r"left_out=[1-9]")

    def test_keys(self):
        one = self.resp()
        for words, error in (
                ((RELEASE, "x", "mine"), "ERR value is not an integer or out of range"),
                ((RELEASE, -1, "mine"), "ERR Number of keys can't be negative"),
                ((RELEASE, 2, "mine"), "ERR Number of keys can't be greater than number of args"),
                ((RELEASE, 0, "mine"), "ERR this script takes the name of a lock"),
                ((RELEASE, 1, "mine"), "ERR this script takes more arguments")):
            with self.subTest(words=words[1:]):
                self.assertEqual(one.error("EVAL", *words), error)


class Rights(RespTest):
    def test_on_names(self):
        deploy = {"name": "deploy", "hash": HASH, "lock": ["mine/*"]}
        broker = self.broker(auth={"users": [deploy, dict(deploy, name="other")]}, ready=False)
        eventually(lambda: broker.log_lines("guard-ready"), 10)
        one, other = self.resp(), self.resp()
        one("AUTH", "deploy", SECRET)
        other("AUTH", "other", SECRET)
        for words in (("SET", "x", "t", "NX"), ("GET", "x"), ("DEL", "mine/a", "x"),
                      ("EXISTS", "x"), ("PTTL", "x"), ("EVAL", RELEASE, 1, "x", "t")):
            self.assertTrue(one.error(*words).startswith("NOPERM "), words)
        self.assertEqual(one("SET", "mine/a", "t", "NX", "PX", 10000), "OK")
        # A token belongs to its user: no other user ends the hold, or sees the token.
        self.assertEqual(other("EVAL", RELEASE, 1, "mine/a", "t"), 0)
        self.assertEqual(other("DEL", "mine/a"), 0)
        self.assertEqual(other("GET", "mine/a"), "another-user")
        self.assertEqual(one("EVAL", RELEASE, 1, "mine/a", "t"), 1)

    def test_what_is_held_can_be_released_whatever_the_rights_are_now(self):
        deploy = {"name": "deploy", "hash": HASH, "lock": ["mine/*"]}
        broker = self.broker(auth={"users": [deploy, dict(deploy, name="other")]}, ready=False)
        eventually(lambda: broker.log_lines("guard-ready"), 10)
        one, other = self.resp(), self.resp()
        one("AUTH", "deploy", SECRET)
        other("AUTH", "other", SECRET)
        names = [f"mine/{i}" for i in range(5)]
        for name in names:
            self.assertEqual(one("SET", name, "t", "NX", "PX", 60000), "OK")
        nothing = dict(deploy, lock=["x"])
        broker.write_config({"auth": {"users": [nothing, dict(nothing, name="other")]}})
        broker.signal(signal.SIGHUP)
        eventually(lambda: broker.log_lines("reloaded"), 10)
        for name in names + ["mine/free"]:
            for words in (("GET", name), ("PEXPIRE", name, 9000), ("PERSIST", name),
                          ("EVAL", EXTEND, 1, name, "t", 9000), ("SET", name, "u", "XX")):
                self.assertTrue(one.error(*words).startswith("NOPERM "), words)
            for words in (("DEL", name), ("DELIFEQ", name, "t"), ("EVAL", RELEASE, 1, name, "t")):
                self.assertTrue(other.error(*words).startswith("NOPERM "), words)
        self.assertTrue(one.error("DEL", "mine/0", "mine/free").startswith("NOPERM "))
        for words in (("DEL", names[0]), ("UNLINK", names[1]), ("DELEX", names[2], "IFEQ", "t"),
                      ("DELIFEQ", names[3], "t"), ("EVAL", RELEASE, 1, names[4], "t")):
            self.assertEqual(one(*words), 1, words)
            self.assertTrue(one.error(*words).startswith("NOPERM "), words)


class Quorum(RespTest):
    def test_only_sessions_hold_there(self):
        nodes = [self.redis() for _ in range(3)]
        self.broker(nodes[0], ready=True, redis={
            "mode": "quorum", "nodes": [node.address for node in nodes], "trust_new": True})
        one = self.resp()
        for words in (("SET", "a", "t", "NX"), ("GET", "a"), ("DEL", "a"),
                      ("EVAL", RELEASE, 1, "a", "t")):
            self.assertTrue(one.error(*words).startswith("UNSUPPORTED "), words)
        self.assertIsInstance(one("LOCK", "a"), int)


class Oracle(RespTest):
    """The same bytes to a bare redis-server and to the broker get the same answers."""

    limit = 60
    STEPS = 3000

    def command(self, rng):
        key, token = rng.choice(["a", "b"]), rng.choice(["t", "u", "token-3"])
        # Hardly any two of them end at the same time: they must end in the same order on both.
        ms, seconds = str(rng.randrange(10**5, 10**9)), str(rng.randrange(10**2, 10**6))
        return rng.choice([
            ("SET", key, token, "NX"), ("SET", key, token, "NX", "PX", ms),
            ("SET", key, token, "PX", ms, "NX"), ("set", key, token, "nx", "ex", seconds),
            ("SET", key, token, "NX", "PX", ms, "GET"), ("SET", key, token, "XX", "PX", ms),
            ("SET", key, token, "XX"), ("SETNX", key, token),
            ("SET", key, token, "NX", "PX", "0"), ("SET", key, token, "NX", "PX", "x"),
            ("SET", key, token, "NX", "XX"), ("SET", key, token, "NX", "EX"),
            ("SET", key, token, "NX", "PXAT", self.noon),
            ("SET", key, token, "NX", "EXAT", self.noon[:-3]),
            ("SET", key, token, "NX", "EX", "1", "PX", "1"), ("SET", key),
            ("DEL", key), ("DEL", "a", "b"), ("UNLINK", key), ("UNLINK", "a", "b", "c"),
            ("GET", key), ("EXISTS", key), ("EXISTS", "a", "b"), ("TYPE", key), ("STRLEN", key),
            ("TTL", key), ("PERSIST", key),
            ("PEXPIRE", key, ms), ("EXPIRE", key, seconds), ("PEXPIRE", key, "0"),
            ("EXPIRE", key, "-1"), ("PEXPIRE", key, "x"),
            ("PEXPIRE", key, ms, "NX"), ("PEXPIRE", key, ms, "XX"),
            ("EXPIRE", key, seconds, "GT"), ("EXPIRE", key, seconds, "LT"),
            ("PEXPIRE", key, ms, "NX", "XX"), ("PEXPIRE", key, ms, "GT", "LT"),
            ("GET",), ("GET", "a", "b"), ("EXPIRE", key),
            ("EVAL", RELEASE, "1", key, token), ("EVAL", EXTEND, "1", key, token, ms),
            ("EVAL", RELEASE, "5", key), ("EVAL", RELEASE, "-1", key),
            ("EVALSHA", "0" * 40, "1", key), ("PING",), ("ECHO", token), ("SELECT", "0"),
            ("CLIENT", "SETNAME", token), ("CLIENT", "GETNAME"),
        ])

    def compare(self, seed, three):
        rng = random.Random(seed)
        bare = Resp(self.bare.address)
        self.addCleanup(bare.close)
        one = self.resp(three=three)
        if three:
            bare("HELLO", 3)
        for client in (bare, one):
            client("DEL", "a", "b", "c")
            client("CLIENT", "SETNAME", "x")
        for step in range(self.STEPS // 2):
            words = self.command(rng)
            bare.send(*words)
            one.send(*words)
            expected, reply = read(bare), read(one)
            if words[0] in ("TTL", "PTTL") and isinstance(reply, int) and reply > 0:
                self.assertLess(abs(reply - expected), patience(3), words)
            else:
                self.assertEqual(reply, expected, f"seed {seed}, step {step}: {words}")

    def test_equal_answers(self):
        self.bare = self.redis()
        self.broker(resp={"park": 0})
        self.noon = str(int(time.time() + 1000) * 1000)
        seed = random.randrange(1 << 32)
        note(f"seed {seed}")
        for three in (False, True):
            self.compare(seed, three)


class Parking(RespTest):
    def test_who_polls_is_served_when_the_name_is_free(self):
        self.broker(resp={"park": "2s"})
        one, other = self.resp(), self.resp()
        one("SET", "a", "t", "NX", "PX", 30000)
        start = now()
        self.assertIsNone(other("SET", "a", "u", "NX", "PX", 30000), "the first try")
        self.assertLess(now() - start, patience(1))
        other.send("SET", "a", "u", "NX", "PX", 30000)
        self.assertEqual(one("GET", "a"), "t")
        one("DEL", "a")
        self.assertEqual(other.read(), "OK")

    def test_who_takes_or_extends_by_one_script_is_served_as_well(self):
        def symfony(token):
            return "EVALSHA", SYMFONY_TAKE, 1, "a", 0, token, 30000

        def aioredlock(token):
            return "EVALSHA", AIOREDLOCK_TAKE, 1, "a", token, 30000

        self.broker(resp={"park": "2s"})
        holder, one, two, line = self.resp(), self.resp(), self.resp(), self.client()
        holder("SET", "a", "t", "NX", "PX", 30000)
        self.assertIsNone(one(*symfony("u")), "the first try")
        with self.assertRaisesRegex(RedisError, "ERROR"):
            two(*aioredlock("v"))
        one.send(*symfony("u"))
        eventually(lambda: line.ok("STATUS a")["waiters"] == "1", 5)
        two.send(*aioredlock("v"))
        eventually(lambda: line.ok("STATUS a")["waiters"] == "2", 5)
        holder("DEL", "a")
        self.assertEqual(one.read(), 1, "first come, first served")
        self.assertEqual(holder("GET", "a"), "u")
        start = now()
        self.assertEqual(one(*symfony("u")), 1, "while another waits")
        self.assertLess(now() - start, patience(1))
        one("DEL", "a")
        self.assertEqual(two.read(), "OK")
        self.assertEqual(holder("GET", "a"), "v")


class Signals(RespTest):
    """python-redis-lock, as recorded: its waiters wait for a list."""

    UNLOCK, EXTEND = ("90da91872223f85eb1376a17e3c4df21ace8c54b",
                      "fed16109024d968d9496e4140fe1355bac05ebff")

    def take(self, client, token):
        self.assertIsNone(client("GET", "lock:job"))
        self.assertEqual(client("SET", "lock:job", token, "NX", "EX", 30), "OK")

    def release(self, client, token):
        self.assertEqual(
            client("EVALSHA", self.UNLOCK, 2, "lock:job", "lock-signal:job", token), 0)
        self.assertEqual(client("DEL", "lock-signal:job"), 0)

    def begin_to_wait(self, client, token):
        client("GET", "lock:job")
        self.assertIsNone(client("SET", "lock:job", token, "NX", "EX", 30))
        client.send("BLPOP", "lock-signal:job", 30)

    def test_who_waits_is_woken_and_served(self):
        server = self.redis()
        one, other = (self.broker(server, trust_new=True) for _ in range(2))
        holder, lines = self.resp(one), [self.client(broker) for broker in (one, other)]
        waiting = [self.resp(other), self.resp(one, three=True), self.resp(other)]
        self.take(holder, "t")
        for number, client in enumerate(waiting):
            self.begin_to_wait(client, f"t{number}")
            eventually(lambda: sum(int(line.ok("STATUS lock:job")["waiters"])
                                   for line in lines) > number, 5)
        self.assertEqual(holder("EVALSHA", self.EXTEND, 1, "lock:job", "t", 30), 0)
        self.release(holder, "t")
        for number, client in enumerate(waiting):
            self.assertEqual(client.read(), ["lock-signal:job", "1"])
            self.assertEqual(client("SET", "lock:job", f"t{number}", "NX", "EX", 30), "OK")
            self.release(client, f"t{number}")

    def test_its_time_is_up(self):
        self.broker()
        holder = self.resp()
        self.take(holder, "t")
        for three in (False, True):
            start = now()
            self.assertIsNone(self.resp(three=three)("BLPOP", "lock-signal:job", "0.2"))
            self.assert_within(0.2, now() - start, patience(5))

    def test_what_is_refused(self):
        self.broker()
        one = self.resp()
        for words, error in (
                (("jobs", "5"), "ERR unknown command 'BLPOP', with args beginning with: 'jobs' "),
                (("lock-signal:a", "lock-signal:b", "5"), "ERR unknown command 'BLPOP', "),
                (("lock-signal:a", "x"), "ERR timeout is not a float or out of range"),
                (("lock-signal:a", "1.5s"), "ERR timeout is not a float or out of range"),
                (("lock-signal:a", "-1"), "ERR timeout is negative"),
                (("lock-signal:" + "a" * 251, "1"), "ERR bad-name ")):
            with self.subTest(words=words):
                self.assertTrue(one.error("BLPOP", *words).startswith(error),
                                one.error("BLPOP", *words))
        self.assertEqual(one.error("INCR", "a"), "ERR unknown command 'INCR', with args beginning "
                                                 "with: 'a' ; lockbroker stores no data, only locks")
        self.assertTrue(one.error("SET", "@job", "t", "NX").startswith("ERR bad-name "))


if __name__ == "__main__":
    unittest.main()
