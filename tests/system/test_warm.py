"""locks.warm: a name that is locked here again and again stays at the broker for a moment, and the
next LOCK asks nobody."""

import re
import signal
import subprocess
import time

from lib import http
from lib.broker import find_program
from lib.case import SystemTest, note
from lib.redisson import ONE, SCRIPTS as REDISSON
from lib.resp import Resp
from lib.wait import eventually, hang, now, patience

CALLS = ("evalsha", "eval")
STORM, CROWD = 100, 10  # names, and clients that want each
TURNS = 1120  # so many within a moment draw the largest reserve, and leave most of it
NAMES, ROUNDS = 500, 30

# Scripts that take a name, by the sha1 of their text: what stands behind the name, and the answer.
TAKES = {
    "redlock 5": ("96da70f7716f27d278a5218544df37fd8b0a5e4c", ("t", 10000), 1),
    "redlock-rb": ("ceb2b2062e40c51a2b3963fd078bc71f11bdc65c", ("t", 10000, "yes"), "OK"),
    "redsync": ("b6b55c439e02c6f52ffb8be7ec8c0d0ac816ea79", ("t", 10000), 1),
    "bsm/redislock": ("52ea3e09e6f54c2d8407710e32616177dbe4f761", ("t", 1, 10000), "OK"),
    "aioredlock": ("c75a9bf1538efcdb1f383acc3e273c5089d57e58", ("t", 10000), "OK"),
    "Laravel": ("a08c9c69b7c07ae2485190873b90d128a23e502d", ("t", 10), "OK"),
    "RedLock.net": ("9f614a785a5f9ae8c6396c6b4bf94d2087342603", ("t", 10000), 1),
    "Spring": ("175897a4e379e99e79a54937be09226f76cdcfe5", ("t", 10000), 1),
    "Redisson": (REDISSON["TAKE"][0], (10000, ONE), None),
    "Redisson 3.15": (REDISSON["TAKE_3_15"][0], (10000, ONE), None),
    "Redisson 3.2": (REDISSON["TAKE_3_2"][0], (10000, ONE), None),
}
# Other requests of a client of Redis, and their answers where nobody has the name.
COMMANDS = (
    (("SET", "{}", "t", "NX", "PX", 10000), "OK"),
    (("SET", "{}", "t", "NX"), "OK"),
    (("SET", "{}", "t", "NX", "PX", 10000, "GET"), None),
    (("SETNX", "{}", "t"), 1),
    (("SET", "{}", "t", "XX", "PX", 10000), None),
    (("GET", "{}"), None), (("EXISTS", "{}"), 0), (("TYPE", "{}"), "none"), (("PTTL", "{}"), -2),
    (("STRLEN", "{}"), 0), (("LB.FENCE", "{}", "t"), None), (("DEL", "{}"), 0),
    (("PEXPIRE", "{}", 1000), 0), (("HEXISTS", "{}", ONE), 0), (("HGET", "{}", ONE), None),
)
# What tells who has a name: what it says where nobody has it, and where somebody does.
TELLS = (
    ("STATUS {}", r"OK state=free ", r"OK state=held "),
    ("STATUS {} kind=lock", r"OK state=free ", r"OK state=held "),
    ("QUEUE {}", r"OK lines=0 ", r"OK lines=1 waiters=0\nholder "),
    ("WHY {}", r"OK lines=1\n\S+ state=free ", r"OK lines=1\n\S+ state=held "),
    ("WATCH {}", r"OK\n!FREE ", r"OK\n!HELD "),
    ("DRILL {}", r"ERR not-found ", None),
    ("UNLOCK-FORCE {}", r"ERR not-held ", r"OK$"),
    ("UNLOCK-FORCE {} fence=1", r"ERR not-held ", r"ERR mismatch "),
    ("GET /locks/{}", r"404\n.*\"state\":\"free\"", r"200\n.*\"state\":\"held\""),
)
LINES = (
    "TRYLOCK {}", "LOCK {} wait=0", "LOCK {} wait=0 mode=shared", "LOCK {} wait=0 keep=1s",
    "LOCK {} wait=0 delay=1s", "LOCK {} other-{} wait=0",
)


class WarmNames(SystemTest):
    def prepare(self, lease=10, **locks):
        """Two brokers on one Redis, the first with locks.warm."""
        self.server = self.redis()
        self.one = self.broker(self.server, trust_new=True, lease=lease,
                               locks={"warm": "1s", **locks})
        self.other = self.broker(self.server, trust_new=True, lease=lease)
        self.a, self.b = self.client(self.one), self.client(self.other)

    def with_page(self, **settings):
        return self.broker(self.server, trust_new=True, http=True, **settings)

    def warm_up(self, client, name="x"):
        fence = 0
        for _ in range(3):
            later = client.lock(name)
            self.assertGreater(later, fence)
            fence = later
            self.assertEqual(client.ok(f"UNLOCK {name}")["depth"], "0")
        return fence

    def key(self, name="x"):
        return self.server.cmd("GET", f"lock:{name}")

    def stats(self, broker):
        return self.client(broker).stats()

    def calls(self):
        return sum(self.server.calls(one) for one in CALLS)


class Warm(WarmNames):
    def test_redis_is_not_asked_and_fences_rise(self):
        self.prepare()
        fence = self.warm_up(self.a)
        before = self.calls()
        for _ in range(500):
            later = self.a.lock("x")
            self.assertGreater(later, fence)
            fence = later
            self.a.ok("UNLOCK x")
        self.assertLess(self.calls() - before, 100)
        self.assertGreaterEqual(int(self.stats(self.one)["warm_grants_total"]), 450)
        self.assertEqual(self.a.ok("STATUS x")["state"], "free")

    def test_it_goes_back_when_its_time_is_over(self):
        self.prepare()
        self.warm_up(self.a)
        self.assertIsNotNone(self.key())
        eventually(lambda: self.key() is None, what="the key is gone")

    def test_another_broker_has_it_at_once_and_it_stays_cold(self):
        self.prepare()
        fence = self.warm_up(self.a)
        begin = now()
        self.assertGreater(self.b.lock("x"), fence)
        self.assertLess(now() - begin, patience(0.2, begin))
        self.b.ok("UNLOCK x")
        self.warm_up(self.a)
        self.assertIsNone(self.key())
        self.assertEqual(self.stats(self.one)["warm_recalls_total"], "1")

    def test_a_broker_that_stops_gives_it_back(self):
        self.prepare()
        self.warm_up(self.a)
        self.one.stop()
        self.assertIsNone(self.key())
        self.b.ok("TRYLOCK x")

    def test_a_reload_turns_it_off(self):
        self.prepare()
        self.warm_up(self.a)
        self.one.write_config({"locks": {"warm": 0}})
        self.one.signal(signal.SIGHUP)
        eventually(lambda: self.key() is None, what="the key is gone")
        self.warm_up(self.a)
        self.assertIsNone(self.key())


class Auto(WarmNames):
    def test_not_beside_plain_clients(self):
        self.prepare(warm="auto")
        self.warm_up(self.a)
        self.assertIsNotNone(self.key())
        eventually(lambda: self.key() is None, 2, "a fiftieth of the lease is over")
        self.server.cmd("SET", "lock:plain", "me", "NX", "PX", 60000)
        self.assertEqual(self.a.ask("TRYLOCK plain").status, "BUSY")
        eventually(lambda: len(self.one.log_lines("warm-plain .*name=plain")) == 1, 2, "it is told")
        for name in ("x", "y"):
            self.warm_up(self.a, name)
            self.assertIsNone(self.key(name))

    def test_what_one_broker_has_met_all_know(self):
        """And again by those that come later; but a number means what it says."""
        self.prepare(warm="1s")
        brokers = [self.with_page() for _ in range(2)]
        self.warm_up(self.client(brokers[0]), "mine")
        self.assertIsNotNone(self.key("mine"))
        self.server.cmd("SET", "lock:plain", "me", "NX", "PX", 60000)
        self.assertEqual(self.client(brokers[1]).ask("TRYLOCK plain").status, "BUSY")
        brokers.append(self.with_page())
        begin = int(time.time())
        for broker in brokers:
            client = self.client(broker)
            eventually(lambda: client.stats()["plain_met"] == "1", 20, "it is told")
            stats = client.stats()
            self.assertAlmostEqual(int(stats["plain_met_since_timestamp_seconds"]), begin, delta=60)
            self.assertAlmostEqual(int(stats["plain_met_until_timestamp_seconds"]), begin + 3660,
                                   delta=60)
            self.warm_up(client, broker.name)
            self.assertIsNone(self.key(broker.name))
            self.assertEqual(len(broker.log_lines("warm-plain .*name=plain")), 1)
            told = http.of(broker).get("/status.json").json["redis"][0]["plain"]
            self.assertEqual(told["name"], "plain")
            self.assertEqual(told["until"], int(stats["plain_met_until_timestamp_seconds"]))
        self.warm_up(self.a)
        self.assertIsNotNone(self.key())
        self.assertEqual(self.a.stats()["plain_met"], "0")

    def test_a_mark_is_made_once_a_minute_and_swept(self):
        self.prepare(warm="auto", lease=1)
        self.server.cmd("SET", "lock:plain", "me", "NX", "PX", 60000)
        mark = None
        for _ in range(3):
            self.assertEqual(self.a.ask("TRYLOCK plain").status, "BUSY")
            last, mark = mark, self.server.cmd("HMGET", "lock:@guard", "plain", "met")
            self.assertIn(last, (None, mark))
        self.server.cmd("HINCRBY", "lock:@guard", "plain", -3 * 3600 * 1000)
        eventually(lambda: self.server.cmd("HEXISTS", "lock:@guard", "plain") == 0, 30, "it is old")

    def test_what_is_no_time_is_no_mark(self):
        self.prepare(warm="auto")
        for odd in ("", "x", "-1", "9" * 30, "1e300"):
            self.server.cmd("HSET", "lock:@guard", "plain", odd, "met", "x")
            self.warm_up(self.a, "x" + odd)
            self.assertIsNotNone(self.key("x" + odd))
        self.assertEqual(self.a.stats()["plain_met"], "0")

    def test_nobody_else_is_at_an_embedded_redis(self):
        client = self.client(self.broker(lease=10))
        before, start = int(client.stats()["redis_calls_total"]), now()
        while now() < start + 6:
            client.lock("x")
            client.ok("UNLOCK x")
        calls = int(client.stats()["redis_calls_total"]) - before
        self.assertLess(calls, 400, "it is not free after 5 s")

    def test_a_lock_library_meets_one(self):
        self.prepare(warm="auto")
        self.server.cmd("SET", "lock:plain", "me", "NX", "PX", 60000)
        resp = Resp(f"127.0.0.1:{self.one.port}")
        self.addCleanup(resp.close)
        self.assertIsNone(resp("SET", "plain", "t", "NX", "PX", 10000))
        eventually(lambda: self.one.log_lines("warm-plain .*name=plain"), 2, "it is told")
        self.warm_up(self.a)
        self.assertIsNone(self.key())

    def test_a_plain_client_that_polls_is_let_in(self):
        self.prepare(warm="auto")
        self.warm_up(self.a)
        start = now()
        while not self.server.cmd("SET", "lock:x", "me", "NX", "PX", 10):
            self.a.lock("x", timeout=10)
            self.a.ok("UNLOCK x")
            self.assertLess(now() - start, patience(8))
        self.assertGreater(now() - start, 4)


class AsCold(WarmNames):
    """To clients a warm name is as any other that nobody has."""

    def test_what_is_told_of_it(self):
        self.prepare()
        self.warm_up(self.a)
        self.assertIsNotNone(self.key())
        self.assertEqual(self.a.ok("STATUS x")["state"], "free")
        self.assertEqual(self.a.ok("LIST")["lines"], "0")
        self.assertEqual(self.stats(self.one)["locks_held"], "0")
        self.assertIn(" end=released ", str(self.a.ok("HISTORY x limit=1").body))

    def test_keep(self):
        self.prepare()
        self.warm_up(self.a)
        self.a.ok("LOCK x keep=20s")
        self.a.ok("UNLOCK x")
        for client in (self.client(self.one), self.b):
            self.assertEqual(client.ask("TRYLOCK x").status, "BUSY")
        self.a.ok("TRYLOCK x")

    def test_delay(self):
        self.prepare()
        self.warm_up(self.a)
        client = self.client(self.one)
        client.ok("LOCK x delay=20s")
        client.close()
        eventually(lambda: self.stats(self.one)["locks_held"] == "0", what="it has gone")
        for client in (self.a, self.b):
            self.assertEqual(client.ask("TRYLOCK x").status, "BUSY")

    def test_hold(self):
        self.prepare()
        fence = self.warm_up(self.a)
        self.assertGreater(self.a.ok("LOCK x hold=100ms").fence, fence)
        self.assertEqual(self.a.event().status, "!LOST")
        self.b.ok("TRYLOCK x")


class GivenBack(WarmNames):
    NAMES = 40

    def warm_up_many(self):
        """So many names at once, within a second."""
        for _ in range(3):
            for verb in ("LOCK", "UNLOCK"):
                for i in range(self.NAMES):
                    self.a.send(f"@{i} {verb} x{i}")
                for i in range(self.NAMES):
                    self.assertTrue(self.a.reply(tag=str(i)).ok)
        self.assertEqual(self.kept(), self.NAMES)

    def kept(self):
        return len(self.server.cmd("KEYS", "lock:x*"))

    def test_many_in_few_calls(self):
        self.prepare()
        self.warm_up_many()
        before = self.calls()
        self.one.write_config({"locks": {"warm": 0}})
        self.one.signal(signal.SIGHUP)
        eventually(lambda: self.kept() == 0, 0.9, what="all go before their time")
        self.assertLess(self.calls() - before, self.NAMES / 4)

    def test_the_connection_is_lost(self):
        self.prepare(lease=100, warm="10s")
        self.warm_up(self.a)
        self.assertIsNotNone(self.key())
        self.server.cmd("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        eventually(lambda: self.key() is None, 8, what="it is given back")

    def test_a_new_history(self):
        self.prepare(lease=1, warm="100ms")
        fence = self.warm_up(self.a)
        self.server.cmd("FLUSHALL")
        self.assertGreater(self.b.lock("x"), fence)
        self.b.ok("UNLOCK x")
        self.assertGreater(self.a.lock("x"), fence)


class Recalled(WarmNames):
    """Another broker is never told that a name is taken which is only warm."""

    def recalled(self):
        """The one name that is warm was recalled, within its time."""
        self.assertEqual(self.stats(self.one)["warm_recalls_total"], "1")

    def test_trylock_and_no_wait(self):
        for request in ("TRYLOCK x", "LOCK x wait=0", "LOCK x wait=0 mode=shared"):
            with self.subTest(request):
                self.prepare()
                fence = self.warm_up(self.a)
                self.assertGreater(self.b.ok(request).fence, fence)
                self.recalled()

    def test_several_names(self):
        self.prepare()
        self.warm_up(self.a)
        self.warm_up(self.a, "y")
        self.b.ok("TRYLOCK w x y z")

    def test_what_is_held_is_busy_and_asked_for_once(self):
        self.prepare()
        self.warm_up(self.a)
        self.a.lock("x")
        for _ in range(20):
            self.assertEqual(self.b.ask("TRYLOCK x").status, "BUSY")
        self.a.ok("UNLOCK x")
        self.assertIsNone(self.key(), "it stays cold")
        self.b.ok("TRYLOCK x")

    def storm(self, crowd, names):
        """Each of the crowd wants each name, all at once, and all are refused. Returns what the
        other broker has asked of Redis, and how many messages there were."""
        before, messages = self.b.stats(), self.server.calls("publish")
        for client in crowd:
            client.send(*(f"TRYLOCK {name}" for name in names))
        for client in crowd:
            for _ in names:
                self.assertEqual(client.reply(hang(20)).text, "BUSY")
        after = self.b.stats()
        return int(after["redis_operations_total"]) - int(before["redis_operations_total"]), \
            self.server.calls("publish") - messages

    def test_a_storm_at_what_is_held(self):
        """It costs a question and its answer for each name, once, and then what it costs where
        nothing is warm: an operation for a request, or for several at once."""
        took = {}
        for warm in (0, "1s"):
            self.prepare(warm=warm, lease=60)
            names = [f"x{i}" for i in range(STORM)]
            for name in names:
                self.warm_up(self.a, name)
                self.a.lock(name)
            crowd = self.clients(CROWD, self.other)
            took[warm] = [self.storm(crowd, names) for _ in range(2)]
        note(f"operations and messages of two storms, without and with warm names: {took}")
        for storm, (cold, warm) in enumerate(zip(*took.values())):
            more = 0 if storm else 2 * STORM
            more += 40  # that share a place with another name (recall.c), and heartbeats
            self.assertLessEqual(cold[0], CROWD * STORM + 20)
            self.assertLessEqual(warm[0], CROWD * STORM + more)
            self.assertLessEqual(warm[1], cold[1] + more)

    def test_status_and_watch(self):
        self.prepare()
        self.warm_up(self.a)
        self.assertEqual(self.b.ok("STATUS x")["state"], "free")
        self.recalled()
        self.assertIsNone(self.key())
        self.warm_up(self.a, "y")
        self.b.ok("WATCH y")
        self.assertEqual(self.b.event().status, "!FREE")

    def test_a_lock_library(self):
        self.prepare()
        self.warm_up(self.a)
        resp = Resp(f"127.0.0.1:{self.other.port}")
        self.addCleanup(resp.close)
        self.assertEqual(resp("GET", "x"), None)
        self.recalled()
        self.warm_up(self.a, "y")
        self.assertEqual(resp("SET", "y", "token", "NX", "PX", "10000"), "OK")

    def test_force(self):
        self.prepare()
        for end in ("", " fence=1"):
            self.warm_up(self.a)
            self.b.err("UNLOCK-FORCE x" + end, "not-held")
            self.assertIsNone(self.key())
            self.warm_up(self.a)  # it stays cold
        for name in ("y", "z"):
            self.warm_up(self.a, name)
            fence = self.a.lock(name)
            self.b.ok(f"UNLOCK-FORCE {name} fence={fence}")
            self.assertEqual(self.a.event().status, "!LOST")
            self.a.err(f"UNLOCK {name}", "lost")

    def test_all_that_ask(self):
        """Each request as if nobody had the name: while it is warm, and while it stays cold."""
        self.prepare(warm="9s", lease=90)
        resp, names = Resp(f"127.0.0.1:{self.other.port}"), 0
        self.addCleanup(resp.close)
        asks = [(words, words, answer) for words, answer in COMMANDS]
        asks += [(library, ("EVALSHA", sha, 1, "{}") + words, answer)
                 for library, (sha, words, answer) in TAKES.items()]
        for label, words, answer in asks:
            for state in ("warm", "cold"):
                with self.subTest(label=label, state=state):
                    names += 1
                    name = self.prepared(f"x{names}", state)
                    self.assertEqual(
                        resp(*(name if word == "{}" else word for word in words)), answer)
        for line in LINES:
            for state in ("warm", "cold"):
                with self.subTest(line=line, state=state):
                    names += 1
                    client = self.client(self.other)
                    request = line.replace("{}", self.prepared(f"x{names}", state))
                    self.assertTrue(client.ask(request).ok)

    def prepared(self, name, state):
        self.warm_up(self.a, name)
        self.assertIsNotNone(self.key(name))
        if state == "cold":
            self.assertEqual(self.b.ok(f"STATUS {name}")["state"], "free")
            self.warm_up(self.a, name)
            self.assertIsNone(self.key(name))
        return name

    def test_an_owner_that_does_not_answer(self):
        self.prepare()
        self.warm_up(self.a)
        self.one.freeze()
        begin = now()
        self.assertEqual(self.b.ask("TRYLOCK x").status, "BUSY")
        self.assertLess(now() - begin, patience(2, begin))
        self.one.thaw()
        eventually(lambda: self.b.ask("TRYLOCK x").ok, what="it is given back")


class SameBroker(WarmNames):
    """Nor is anybody at the broker that keeps it."""

    def setUp(self):
        super().setUp()
        self.prepare(warm="9s", lease=90)
        self.resp = Resp(f"127.0.0.1:{self.one.port}")
        self.addCleanup(self.resp.close)
        self.names = 0

    def warm_name(self):
        self.names += 1
        name = f"x{self.names}"
        self.warm_up(self.a, name)
        self.assertIsNotNone(self.key(name))
        return name

    def test_clients_of_redis(self):
        for words, answer in COMMANDS:
            with self.subTest(words=words):
                name = self.warm_name()
                self.assertEqual(self.resp(*(name if word == "{}" else word for word in words)),
                                 answer)

    def test_scripts(self):
        for library, (sha, words, answer) in TAKES.items():
            with self.subTest(library=library):
                self.assertEqual(self.resp("EVALSHA", sha, 1, self.warm_name(), *words), answer)

    def test_several_names(self):
        names = [self.warm_name() for _ in range(3)]
        sha, words, _ = TAKES["redlock 5"]
        self.assertEqual(self.resp("EVALSHA", sha, 4, "free", *names, *words), 4)

    def test_sessions(self):
        for line in LINES:
            with self.subTest(line=line):
                client = self.client(self.one)
                self.assertTrue(client.ask(line.replace("{}", self.warm_name())).ok)

    def test_in_one_go(self):
        """The name goes back and is taken in one call."""
        name = self.warm_name()
        before = self.calls()
        self.assertEqual(self.resp("SET", name, "t", "NX", "PX", 10000), "OK")
        self.assertEqual(self.calls() - before, 1)

    def test_under_load(self):
        """Many at once, so that calls fill and wait for each other."""
        names = [self.warm_name() for _ in range(30)]
        conns = [Resp(f"127.0.0.1:{self.one.port}") for _ in range(30)]
        for conn in conns:
            self.addCleanup(conn.close)
        for i, conn in enumerate(conns):
            for j in range(5):
                conn.send("SET", f"free-{i}-{j}", "t", "NX", "PX", 10000)
            conn.send("SET", names[i], "t", "NX", "PX", 10000)
        for conn in conns:
            self.assertEqual([conn.read() for _ in range(6)], ["OK"] * 6)


class WhoHasIt(WarmNames):
    """Nothing that tells who has a name says that of a warm one, at no broker, be it warm or cold;
    and it can tell."""

    limit = 60

    def setUp(self):
        super().setUp()
        self.server = self.redis()
        self.one, self.other = (self.with_page(lease=90, locks={"warm": "9s"}) for _ in range(2))
        self.a, self.b = self.client(self.one), self.client(self.other)
        self.names = 0

    def name_in(self, state):
        """A new name in this state, and its only key is the first broker's, if it has any."""
        self.names += 1
        name = f"x{self.names}"
        self.warm_up(self.a, name)
        self.assertIsNotNone(self.key(name))
        if state == "cold":
            self.b.lock(name)
            self.b.ok(f"UNLOCK {name}")
            self.warm_up(self.a, name)
            self.assertIsNone(self.key(name))
        if state == "held":
            self.a.lock(name)
        return name

    def told(self, broker, words):
        """All that is said, in lines."""
        if words.startswith("GET "):
            answer = http.of(broker).get(words[4:])
            return f"{answer.status}\n{answer.text}"
        client = self.client(broker)
        reply = client.ask(words)
        rows = list(reply.body)
        if words.startswith("WATCH "):
            rows.append(client.event().text)
        client.close()
        return "\n".join([reply.text] + rows)

    def test_each_that_tells(self):
        for broker in (self.one, self.other):
            for words, free, held in TELLS:
                for state, says in (("warm", free), ("cold", free), ("held", held)):
                    if says is None:
                        continue
                    with self.subTest(at=broker.name, words=words, state=state):
                        name = self.name_in(state)
                        told = self.told(broker, words.replace("{}", name))
                        self.assertRegex(told, f"^{says}")

    def test_lists(self):
        """What has a row for each name that is held."""
        name = self.name_in("warm")
        for broker in (self.one, self.other):
            for words in ("LIST", f"HISTORY {name}"):
                self.assertNotIn("held ", self.told(broker, words).replace("end=released", ""))
            self.assertEqual(self.client(broker).stats()["locks_held"], "0")


class Told(WarmNames):
    def test_top(self):
        self.prepare()
        self.warm_up(self.a)
        done = subprocess.run([find_program("lockbroker"), "-S", self.one.unix_path, "top", "-b",
                               "-n", "1"], stdout=subprocess.PIPE, text=True, check=True)
        self.assertRegex(done.stdout.splitlines()[0], r" waiting, 0/s warm, 0/s recalled$")
        done = subprocess.run([find_program("lockbroker"), "-S", self.other.unix_path, "top", "-b",
                               "-n", "1"], stdout=subprocess.PIPE, text=True, check=True)
        self.assertNotIn("warm", done.stdout)


class OldBrokers(WarmNames):
    def test_nothing_is_kept_warm_while_one_is_there(self):
        """One that is known by its heartbeat and says nothing of warm names."""
        self.prepare(lease=1, warm="100ms")
        self.warm_up(self.a)
        self.assertIsNotNone(self.key())
        old = "b:old.00000000000000aa"

        def beats():
            self.server.cmd("HSET", "lock:@guard", old, int(time.time() * 1000))
            return self.one.log_lines("warm-refused")

        eventually(beats, 20, "it is seen")
        self.warm_up(self.a)
        self.assertIsNone(self.key())
        self.server.cmd("HDEL", "lock:@guard", old)

        def is_warm():
            self.warm_up(self.a)
            return self.key() is not None

        eventually(is_warm, 20, "names are kept again")


class WarmFences(WarmNames):
    limit = 60

    def clock_us(self):
        seconds, us = self.server.cmd("TIME")
        return int(seconds) * 1000000 + int(us)

    def storm(self, sockets, seconds):
        """Names that are taken just often enough to have a large reserve, and then let go. Returns
        the highest fence that was told."""
        number, end, fence = 0, now() + seconds, 0
        while now() < end:
            number += 1
            for which, sock in enumerate(sockets):
                name = f"n{number}-{which}"
                sock.sendall(f"LOCK {name}\nUNLOCK {name}\n".encode() * TURNS)
            for sock in sockets:
                lines, last = 0, b""
                while lines < 2 * TURNS:
                    last = sock.recv(1 << 20)
                    lines += last.count(b"\n")
                found = re.findall(rb"fence=(\d+) ", last)
                fence = max([fence] + [int(one) for one in found])
        return fence

    def test_there_are_some_for_each_of_many_names(self):
        self.prepare(warm="1s")
        clients = self.clients(NAMES, self.one)

        def all_take():
            for number, client in enumerate(clients):
                client.send(f"LOCK n{number}", f"UNLOCK n{number}")
            for client in clients:
                client.reply()
                client.reply()

        before = self.stats(self.one)
        for _ in range(ROUNDS):
            all_take()
        after = self.stats(self.one)
        asked, warm = (int(after[key]) - int(before[key])
                       for key in ("redis_operations_total", "warm_grants_total"))
        note(f"{asked} operations, {warm} of {NAMES * ROUNDS} grants warm")
        self.assertGreater(warm, 0.6 * NAMES * ROUNDS)

    def test_fences_do_not_run_ahead_of_the_clock(self):
        """However many are drawn and thrown away, the next ones are higher once all is lost."""
        self.prepare(warm="200ms")
        sockets = [client.sock for client in self.clients(20, self.one)]
        fence = self.storm(sockets, 4)
        ahead_us = int(self.key("@fence")) - self.clock_us()
        note(f"{ahead_us} us ahead of the clock")
        self.assertLess(ahead_us, 20000)
        self.one.kill()
        self.other.kill()
        self.server.cmd("FLUSHALL")
        new = self.broker(self.server, trust_new=True)
        self.assertGreater(self.client(new).lock("x"), fence)
