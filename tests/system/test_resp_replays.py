"""What lock libraries send that can't be installed here, as it was recorded, and its answers.

Each has taken its lock with the client `a`, is refused with `b`, and gives it back. Where no
script is sent, a bare redis-server must answer the same.
"""

import unittest

from lib.resp import RedisError, Resp
from test_resp import RespTest

ANY = object()  # anything but an error
NOSCRIPT = RedisError("NOSCRIPT No matching script. Please use EVAL.")
RELEASE = ('if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("del",KEYS[1]) '
           "else return 0 end")

SETINFO = [("a", ("CLIENT", "SETINFO", "LIB-NAME", "x"), "OK"),
           ("a", ("CLIENT", "SETINFO", "LIB-VER", "1"), "OK")]
OBTAIN, RENEW, UNLINK = ("175897a4e379e99e79a54937be09226f76cdcfe5",
                         "879e0f7b8d83c3266d4e996627438c05dbda0b89",
                         "f0f9038aa2b6d6c3436c72d147573ea2a58f0ef2")

SERVED = {
    # It releases after each failed try.
    "redsync": [
        ("a", ("hello", "3"), ANY),
        ("a", ("set", "job", "YQ==", "px", 8000, "nx"), "OK"),
        ("b", ("set", "job", "Yg==", "px", 8000, "nx"), None),
        ("b", ("evalsha", "e950836ed1e694540c503ef9972b8de518044d3b", 1, "job", "Yg=="), 0),
        ("a", ("get", "job"), "YQ=="),
        ("a", ("evalsha", "d75bb8b5bd13532ddedd17762e772346e39b321e", 1, "job", "YQ==", 8000), 1),
        ("a", ("evalsha", "e950836ed1e694540c503ef9972b8de518044d3b", 1, "job", "YQ=="), 1),
        ("a", ("evalsha", "e950836ed1e694540c503ef9972b8de518044d3b", 1, "job", "YQ=="), -1),
    ],
    "redlock-rb": [
        ("a", ("EVALSHA", "ceb2b2062e40c51a2b3963fd078bc71f11bdc65c", 1, "job", "t", 2000, "yes"),
         "OK"),
        ("b", ("EVALSHA", "ceb2b2062e40c51a2b3963fd078bc71f11bdc65c", 1, "job", "u", 2000, "yes"),
         None),
        ("a", ("EVALSHA", "ceb2b2062e40c51a2b3963fd078bc71f11bdc65c", 1, "job", "t", 9000, "no"),
         "OK"),
        ("b", ("EVALSHA", "8e4905cee18e7c3188d10f2b8b170e403baed34f", 1, "job", "u"), 0),
        ("a", ("EVALSHA", "8e4905cee18e7c3188d10f2b8b170e403baed34f", 1, "job", "t"), 1),
    ],
    "bsm/redislock": [
        ("a", ("evalsha", "eb0c00d98f6f33b4262419a509002884540f30be", 1, "job", "t22-meta", 3, 9000),
         "OK"),
        ("b", ("evalsha", "eb0c00d98f6f33b4262419a509002884540f30be", 1, "job", "u22-meta", 3, 9000),
         None),
        ("a", ("evalsha", "5a22d7e8431313862816d4416b5e46dd70fc340d", 1, "job", "t22-meta", 9000),
         "OK"),
        ("b", ("evalsha", "66e1084c2d842a7e8c271925aae90219fac4e129", 1, "job", "u22-meta"), None),
        ("a", ("evalsha", "9470c810040e272ee6c579d8d4331aaf6332a7b1", 1, "job", "t22-meta"), "OK"),
    ],
    "aioredlock": [
        ("a", ("EVALSHA", "c75a9bf1538efcdb1f383acc3e273c5089d57e58", 1, "job", "t", 9000), "OK"),
        ("b", ("EVALSHA", "c75a9bf1538efcdb1f383acc3e273c5089d57e58", 1, "job", "u", 9000),
         RedisError("ERROR")),
        ("a", ("EVALSHA", "f908d3f43dbcabc68fc0c9ecaf1fa4a285ecdb0a", 1, "job", "t"), 9),
        ("b", ("EVALSHA", "241e4ca540a1cc4ec1f32d9eb9f879e607d7e6e5", 1, "job", "u"),
         RedisError("ERROR")),
        ("a", ("EVALSHA", "241e4ca540a1cc4ec1f32d9eb9f879e607d7e6e5", 1, "job", "t"), 1),
    ],
    "pottery": [
        ("a", ("SET", "redlock:job", "t", "PX", 10000, "NX"), "OK"),
        ("b", ("SET", "redlock:job", "u", "PX", 10000, "NX"), None),
        ("b", ("EVALSHA", "f5f7bd3a3aa4a63c507c1155c5ea1219b350d992", 1, "redlock:job", "u"), 0),
        ("a", ("EVALSHA", "ba015a80261b616e7a62d35df0b8e3edbe6c9414", 1, "redlock:job", "t", 9000),
         1),
        ("a", ("EVALSHA", "a4aada0b36710970eedaaaeec4a6b7d8c78c4f80", 1, "redlock:job", "t"), 1),
    ],
    "RedLock.net": [
        ("a", ("SET", "redlock:job", "t", "PX", 30000, "NX"), "OK"),
        ("b", ("SET", "redlock:job", "u", "PX", 30000, "NX"), None),
        ("a", ("EVALSHA", "9f614a785a5f9ae8c6396c6b4bf94d2087342603", 1, "redlock:job", "t", 30000),
         1),
        ("b", ("EVALSHA", "9f614a785a5f9ae8c6396c6b4bf94d2087342603", 1, "redlock:job", "u", 30000),
         -1),
        ("a", ("EVALSHA", "18b2a577dbe847b16bebde190d69a1613d68e60e", 1, "redlock:job", "t"), 1),
    ],
    "StackExchange.Redis": [
        ("a", ("SET", "job", "t", "PX", 10000, "NX"), "OK"),
        ("b", ("SET", "job", "u", "PX", 10000, "NX"), None),
        ("b", ("GET", "job"), "t"),
        ("a", ("SET", "job", "t", "IFEQ", "t", "PX", 20000), "OK"),
        ("b", ("SET", "job", "u", "IFEQ", "u", "PX", 20000), None),
        ("b", ("DELEX", "job", "IFEQ", "u"), 0),
        ("a", ("DELEX", "job", "IFEQ", "t"), 1),
    ],
    "spring-integration 7.0": [
        ("a", ("HELLO", "3"), ANY), *SETINFO,
        ("a", ("EVALSHA", OBTAIN, 1, "registry:job", "t", 60000), 1),
        ("b", ("EVALSHA", OBTAIN, 1, "registry:job", "u", 60000), None),
        ("a", ("EVALSHA", OBTAIN, 1, "registry:job", "t", 60000), 1),
        ("a", ("EVALSHA", RENEW, 1, "registry:job", "t", 60000), 1),
        ("b", ("EVALSHA", RENEW, 1, "registry:job", "u", 60000), None),
        ("b", ("EVALSHA", UNLINK, 1, "registry:job", "u"), None),
        ("a", ("EVALSHA", UNLINK, 1, "registry:job", "t"), 1),
        ("a", ("EVALSHA", UNLINK, 1, "registry:job", "t"), None),
    ],
    "spring-integration 7.1": [
        ("a", ("SET", "registry:job", "t", "IFEQ", "t", "PX", 60000), None),
        ("a", ("SET", "registry:job", "t", "NX", "PX", 60000), "OK"),
        ("b", ("SET", "registry:job", "u", "NX", "PX", 60000), None),
        ("a", ("SET", "registry:job", "t", "PX", 60000, "IFEQ", "t"), "OK"),
        ("a", ("DELEX", "registry:job", "IFEQ", "t"), 1),
    ],
    "ShedLock": [
        ("a", ("SET", "job-lock:default:job", "ADDED:t@h:1", "PX", 9000, "NX"), "OK"),
        ("b", ("SET", "job-lock:default:job", "ADDED:u@h:1", "PX", 9000, "NX"), None),
        ("a", ("SET", "job-lock:default:job", "ADDED:t@h:1", "PX", 5000, "XX"), "OK"),
        ("a", ("DEL", "job-lock:default:job"), 1),
        ("a", ("SET", "job-lock:default:job", "ADDED:t@h:1", "PX", 5000, "XX"), None),
    ],
    "ShedLock, safe": [
        ("a", ("SET", "job-lock:default:job", "ADDED:t@h:1", "PX", 9000, "NX"), "OK"),
        ("b", ("EVAL", RELEASE, 1, "job-lock:default:job", "ADDED:u@h:1"), 0),
        ("a", ("EVAL", RELEASE, 1, "job-lock:default:job", "ADDED:t@h:1"), 1),
    ],
    "celery-singleton": [
        ("a", ("SET", "SINGLETONLOCK_job", "task-1", "NX", "EX", 60), "OK"),
        ("b", ("SET", "SINGLETONLOCK_job", "task-2", "NX", "EX", 60), None),
        ("b", ("GET", "SINGLETONLOCK_job"), "task-1"),
        ("a", ("DEL", "SINGLETONLOCK_job"), 1),
        ("a", ("SCAN", "0", "MATCH", "SINGLETONLOCK_*"), ["0", []]),
    ],
    "celery-once": [
        ("a", ("SET", "qo_job", "t", "NX", "PX", 3600000), "OK"),
        ("b", ("SET", "qo_job", "u", "NX", "PX", 3600000), None),
        ("b", ("PTTL", "qo_job"), ANY),
        ("a", ("DEL", "qo_job"), 1),
    ],
    "Dapr": [
        ("a", ("hello", "3"), ANY),
        ("a", ("ping",), "PONG"),
        ("a", ("INFO", "replication"), ANY),
        ("a", ("set", "lock||app||job", "t", "ex", 60, "nx"), "OK"),
        ("b", ("set", "lock||app||job", "u", "ex", 60, "nx"), None),
        ("b", ("evalsha", "08741c111900b6318ee3f60cb3c2fa1f6c74d859", 1, "lock||app||job", "u"),
         -2),
        ("a", ("evalsha", "08741c111900b6318ee3f60cb3c2fa1f6c74d859", 1, "lock||app||job", "t"),
         1),
        ("a", ("evalsha", "08741c111900b6318ee3f60cb3c2fa1f6c74d859", 1, "lock||app||job", "t"),
         -1),
    ],
}

# The beginnings of scripts: whatever follows them, they are unknown.
REFUSED = {
    "Redisson": [
        ("a", ("SELECT", "0"), "OK"),
        ("a", ("SUBSCRIBE", "redisson_lock__channel:{job}"),
         ["subscribe", "redisson_lock__channel:{job}", 1]),
        ("b", ("EVAL", "if (redis.call('exists', KEYS[1]) == 0) then "
               "redis.call('hincrby', KEYS[1], ARGV[2], 1)", 1, "job", 30000, "t:1"), "script"),
    ],
    "sidekiq-unique-jobs": [
        ("a", ("SCRIPT", "LOAD", "-------- BEGIN keys ---------\nlocal digest = KEYS[1]"), "script"),
        ("a", ("EVALSHA", "0" * 40, 1, "uniquejobs:job"), NOSCRIPT),
    ],
    "redbeat": [
        ("a", ("SET", "redbeat::lock", "t", "NX", "PX", 1500000), "OK"),
        ("a", ("ZRANGEBYSCORE", "redbeat::schedule", "0", "1"), "ERR unknown command "),
        ("a", ("HGET", "redbeat:task", "definition"), "ERR unknown command "),
    ],
}


class Replays(RespTest):
    def setUp(self):
        super().setUp()
        self.broker(resp={"park": 0})

    def check(self, words, reply, expected):
        if expected is ANY:
            self.assertNotIsInstance(reply, RedisError, words)
        elif isinstance(expected, RedisError):
            self.assertIsInstance(reply, RedisError, words)
            self.assertEqual(str(reply), str(expected), words)
        elif expected == "script":
            self.assertRegex(str(reply), r"^ERR script not known to lockbroker \(sha1 \w+\); see")
        elif isinstance(reply, RedisError):
            self.assertTrue(isinstance(expected, str) and str(reply).startswith(expected) and
                            expected.startswith("ERR "), f"{words}: {reply}")
        else:
            self.assertEqual(reply, expected, words)

    def play(self, library, requests, **clients):
        with self.subTest(library=library):
            for who, words, expected in requests:
                clients[who].send(*words)
                self.check(words, clients[who].read(), expected)

    def test_libraries_that_are_served(self):
        for library, requests in SERVED.items():
            self.play(library, requests, a=self.resp(), b=self.resp())

    def test_libraries_that_are_not(self):
        for library, requests in REFUSED.items():
            self.play(library, requests, a=self.resp(), b=self.resp())

    def test_a_bare_redis_answers_the_same(self):
        server = self.redis()
        for library, requests in SERVED.items():
            if any(word in ("IFEQ", "DELEX") or str(word).upper() in ("EVALSHA", "SETINFO")
                   for _, words, _ in requests for word in words):
                continue
            clients = [Resp(server.address) for _ in range(2)]
            for client in clients:
                self.addCleanup(client.close)
            self.play(library, requests, a=clients[0], b=clients[1])


if __name__ == "__main__":
    unittest.main()
