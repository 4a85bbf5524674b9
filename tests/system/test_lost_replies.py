"""The reply of a command is lost after the command has run, or the command itself: the
outcome is unknown, and must come out right. A fault proxy sits between broker and Redis."""

import threading

from lib.case import SystemTest, grace_of, pad_of
from lib.client import Client
from lib.history import check_history, run_contenders
from lib.proxy import Proxy, Trickle
from lib.wait import eventually, let_time_pass, now, parse_ms, patience

LEASE = 6


class Swallowing(Proxy):
    """A proxy whose drop_reply() cuts nothing: no reply comes over that connection any more."""

    def hold(self, link, is_request):
        super().hold(link, is_request)
        if link.doomed and not is_request:
            self.fired.set()
            threading.Event().wait()


class SwallowedReplies(SystemTest):
    """An operation that is ahead of the renewal of a hold is given up in time for that."""

    lease = 3

    def setUp(self):
        super().setUp()
        self.through = Swallowing(self.redis().unix_address)
        self.addCleanup(self.through.stop)
        self.broker(self.through.address, trust_new=True, lease=self.lease)
        self.holder, = self.clients(1)

    def swallow(self, word, request):
        """The reply to this request; what was held before is not even at risk."""
        self.through.drop_reply(word)
        self.assertTrue(self.holder.ask(request, timeout=self.lease).ok)
        self.assertTrue(self.through.fired.is_set())
        self.assertEqual(self.holder.events, [])

    def test_of_an_upgrade(self):
        self.holder.lock("x", "mode=shared")
        self.swallow("convert", "LOCK x")

    def test_of_more_permits(self):
        self.holder.ok("ACQUIRE s limit=3")
        self.swallow("take", "ACQUIRE s limit=3")


class LostReplies(SystemTest):
    """The lease is long, so that waiting for its end puts nothing right."""

    limit = 40

    def prepare(self, lease=LEASE, **redis):
        self.lease = lease
        self.server = self.redis()
        self.through = self.proxy(self.server)
        self.broker(self.through.address, trust_new=True, lease=lease, redis=redis,
                    locks={"warm": 0})
        self.client_a, self.client_b = self.clients(2)
        # Everything is connected and loaded before the trouble begins.
        self.client_a.lock("warm-up", timeout=15)
        self.client_a.ok("UNLOCK warm-up")

    def fired(self):
        self.assertTrue(self.through.fired.wait(patience(self.lease)), "the fault never came")

    def soon_free(self, stalled=False):
        """Nothing is left in Redis; after a longer stall, grants need a grace as well."""
        eventually(lambda: self.server.get("x") is None, 3, "nothing is left in Redis")
        self.client_b.lock("x", timeout=3 + (grace_of(self.lease) if stalled else 0))

    def test_each_old_connection_is_killed(self):
        """Also if the connection that was to kill another one is cut before it has."""
        self.prepare(connections=1)
        self.client_a.lock("x")
        old = next(row["id"] for row in self.server.clients() if row["name"] == "lockbroker-b1"
                   and row["sub"] == "0")
        before = self.server.calls("client|kill")
        self.through.drop_request(f"KILL\r\n$2\r\nID\r\n${len(old)}\r\n{old}\r\n")
        self.through.cut()
        self.fired()
        greetings = 2  # each tries the command
        eventually(lambda: self.server.calls("client|kill") == before + greetings + 2, 5,
                   "both are killed")
        self.client_a.ok("UNLOCK x")

    def test_acquire_that_waits(self):
        self.prepare()
        for drop in (self.through.drop_reply, self.through.drop_request):
            with self.subTest(drop.__name__):
                drop("lock:x")
                start = now()
                fence = self.client_a.lock("x")
                self.fired()
                self.assertLess(now() - start, patience(4))
                self.assertGreaterEqual(int(self.server.get("x").rsplit("|", 1)[1]), fence)
                self.assertEqual(self.client_b.ask("TRYLOCK x").status, "BUSY")
                self.client_a.ok("UNLOCK x")
                self.assertIsNone(self.server.get("x"))

    def test_acquire_that_does_not_wait(self):
        self.prepare()
        for drop in (self.through.drop_reply, self.through.drop_request):
            with self.subTest(drop.__name__):
                drop("lock:x")
                start = now()
                reply = self.client_a.ask("TRYLOCK x")
                self.fired()
                self.assertLess(now() - start, patience(3))
                if reply.ok:
                    self.client_a.ok("UNLOCK x")
                else:
                    self.assertEqual(reply.code, "unavailable")
                    self.assertEqual(self.client_a.ok("LIST").body, [])
                self.soon_free()
                self.client_b.ok("UNLOCK x")

    def test_acquire_whose_client_is_gone(self):
        """The client vanishes while the outcome is unknown: no orphan stays."""
        self.prepare()
        self.through.drop_reply("lock:x")
        self.through.delay = 0.1
        self.client_a.send("LOCK x")
        eventually(lambda: self.server.get("x"), 3, "taken in Redis")
        self.client_a.close()
        self.fired()
        self.through.delay = 0
        self.soon_free()

    def test_acquire_that_is_cancelled(self):
        self.prepare()
        self.through.delay = 0.2
        self.client_a.send("@1 LOCK x", "CANCEL 1")
        reply = self.client_a.reply(tag="1")
        cancel = self.client_a.reply()
        self.through.delay = 0
        if reply.ok:
            self.assertEqual(cancel.code, "not-found")
            self.client_a.ok("UNLOCK x")
        else:
            self.assertEqual(reply.status, "CANCELLED")
            self.assertTrue(cancel.ok)
        self.soon_free()

    def test_acquire_that_times_out_meanwhile(self):
        self.prepare()
        self.through.stalled = True
        start = now()
        reply = self.client_a.ask("LOCK x wait=300ms")
        # Unavailable only if it knows by then that Redis did not answer.
        self.assertTrue(reply.status == "TIMEOUT" or reply.code == "unavailable", reply)
        self.assert_within(0.28, now() - start, patience(1))
        self.through.stalled = False
        self.soon_free()

    def test_renew(self):
        self.prepare(lease=2)
        fence = self.client_a.lock("x")
        for drop in (self.through.drop_reply, self.through.drop_request):
            with self.subTest(drop.__name__):
                drop("lock:x")
                self.fired()
                let_time_pass(self.lease * 1.2)
                self.assertEqual(self.client_a.ok("LOCK x").fence, fence)
                self.assertEqual(self.client_b.ask("TRYLOCK x").status, "BUSY")
        self.assertEqual([line for line in self.client_a.events if line.status == "!LOST"], [])

    def test_release(self):
        self.prepare()
        for drop in (self.through.drop_reply, self.through.drop_request):
            with self.subTest(drop.__name__):
                fence = self.client_a.lock("x")
                drop("lock:x")
                self.assertEqual(self.client_a.ok("UNLOCK x")["depth"], "0")
                self.fired()
                self.assertEqual(self.client_a.ok("LIST").body, [])
                self.assertGreater(self.client_b.lock("x", timeout=3), fence)
                self.client_b.ok("UNLOCK x")
                eventually(lambda: self.server.get("x") is None, 3)

    def test_release_by_an_ended_session(self):
        self.prepare()
        for drop in (self.through.drop_reply, self.through.drop_request):
            with self.subTest(drop.__name__):
                client = self.client()
                client.lock("x")
                drop("lock:x")
                client.close()
                self.fired()
                self.soon_free()
                self.client_b.ok("UNLOCK x")

    def test_half_close_with_an_answer_under_way(self):
        """The request is completed, and then the next line is handled (lockbroker-protocol(7), "End
        of stream")."""
        self.prepare()
        self.through.delay = 0.2
        self.client_a.send("LOCK x", "STATUS x", "UNLOCK x", "LOCK x")
        self.client_a.shut()
        first = self.client_a.reply()
        self.assertTrue(first.ok)
        self.assertEqual(self.client_a.reply()["state"], "held")
        self.assertEqual(self.client_a.reply()["depth"], "0")
        self.assertGreater(self.client_a.reply().fence, first.fence)
        self.client_a.expect_eof()
        self.through.delay = 0
        self.soon_free()

    def test_half_close_while_redis_is_away(self):
        """A request that waits for Redis to come back can be cancelled, too."""
        self.prepare(lease=2)
        self.through.refuse = True
        self.through.cut()
        eventually(lambda: self.client_b.ask("TRYLOCK y").code == "unavailable", 5)
        self.client_a.send("LOCK x", "PING")
        self.client_a.shut()
        self.assertEqual(self.client_a.reply().status, "CANCELLED")
        self.assertTrue(self.client_a.reply().ok)
        self.client_a.expect_eof()
        self.through.refuse = False
        self.soon_free(stalled=True)

    def test_one_byte_at_a_time(self):
        self.prepare(lease=2)
        self.through.split = True
        self.through.cut()
        last = 0
        for _ in range(10):
            fence = self.client_a.lock("x", timeout=10)
            self.assertGreater(fence, last)
            last = fence
            self.client_a.ok("UNLOCK x")
        self.client_a.lock("x")
        let_time_pass(self.lease * 1.5)
        self.client_a.ok("UNLOCK x")
        self.assertEqual([line for line in self.client_a.events if line.status == "!LOST"], [])

    def test_a_slow_network(self):
        self.prepare(lease=2)
        self.through.delay = 0.08
        fence = self.client_a.lock("x")
        let_time_pass(self.lease * 1.5)
        self.assertEqual(self.client_a.ok("LOCK x").fence, fence)
        self.client_a.ok("UNLOCK x")
        self.client_a.ok("UNLOCK x")

    def test_unlock_is_answered_when_redis_has_confirmed(self):
        self.prepare(lease=2)
        self.through.delay = 0.1
        for _ in range(3):
            self.client_a.lock("x")
            start = now()
            self.assertNotIn("deferred", self.client_a.ok("UNLOCK x").fields)
            self.assertGreater(now() - start, 0.19)
            self.assertIsNone(self.server.get("x"))

    def test_unlock_while_a_renewal_is_under_way(self):
        self.prepare(lease=2)
        self.client_a.lock("x")
        self.through.delay = 0.1  # each way, of the third of a second that a renewal may take
        self.through.notice("lock:x")
        self.fired()
        self.assertNotIn("deferred", self.client_a.ok("UNLOCK x").fields)
        self.assertIsNone(self.server.get("x"), "answered before Redis has confirmed")

    def test_a_cut_in_the_middle_of_many(self):
        self.prepare()
        names = [f"many-{i}" for i in range(100)]
        self.through.drop_reply("many-50")
        self.client_a.send(*[f"@{name} LOCK {name}" for name in names])
        for name in names:
            self.assertTrue(self.client_a.reply(10, tag=name).ok)
        self.fired()
        self.assertEqual(len(self.server.keys("lock:many-*")), 100)
        self.client_a.close()
        eventually(lambda: self.server.keys("lock:many-*") == [], 3, "all released")

    def test_late_delivery_to_redis(self):
        """What an old connection still had under way must not run after a later release."""
        self.prepare(lease=3)
        self.through.stalled = True
        self.client_a.send("@1 LOCK x wait=200ms")
        self.assertFalse(self.client_a.reply(5, tag="1").ok)
        let_time_pass(3)
        self.through.stalled = False
        let_time_pass(1)
        self.soon_free(stalled=True)
        self.assertLess(self.server.pttl("x"), (self.lease + pad_of(self.lease)) * 1000 + 1)


class SlowLine(SystemTest):
    """A line that passes a few bytes at a time and stops now and then: nothing is lost or
    misunderstood, and leases hold, because all of it is within their bounds."""

    limit = 90
    lease = 6  # a renewal may take a sixth of it: three stalls

    def assert_all_told(self, client, names):
        """Each request is granted under its own tag, and shown."""
        client.send(*[f"@{i} LOCK {name}" for i, name in enumerate(names)])
        fences = [client.reply(30, tag=str(i)).fence for i in range(len(names))]
        self.assertEqual(len(set(fences)), len(fences))
        client.send("LIST", *[f"STATUS {name}" for name in names])
        self.assertEqual(sorted(line.split()[1] for line in client.reply(30).body),
                         sorted(names))
        self.assertEqual([client.reply(30).fence for _ in names], fences)
        return fences

    def test_between_broker_and_redis(self):
        server = self.redis()
        through = self.proxy(server)
        slow = self.broker(through.address, lease=self.lease, trust_new=True,
                           redis={"connect_timeout": "30s"})
        quick = self.broker(server, lease=self.lease, ready=False)
        through.trickle = Trickle(512)
        through.cut()  # it greets slowly, too: that is some 40 KB
        holder = self.client(slow)
        eventually(lambda: holder.ask("LOCK held wait=1s").ok, 30, "it is there again")
        through.trickle = Trickle(48)
        fence = holder.ok("STATUS held").fence
        crowd = run_contenders([slow.unix_path, quick.unix_path], "x", 0, 40)
        begin = now()
        many = self.client(slow)
        names = [f"many-{i}" for i in range(20)]
        self.assert_all_told(many, names)
        let_time_pass(max(0, self.lease * 1.5 - (now() - begin)))
        check_history(crowd)
        self.assertEqual([one.fault for one in crowd], [None] * len(crowd))
        self.assertGreater(through.trickle.stalls, 0)
        self.assertEqual(many.ok("UNLOCK " + " ".join(names), 30)["depth"], ",".join("0" * 20))
        self.assertEqual(holder.ok("LOCK held").fence, fence)
        self.assertEqual([line for line in holder.events + many.events if line.status == "!LOST"],
                         [])

    def test_between_client_and_broker(self):
        broker = self.broker(self.redis(), lease=self.lease, trust_new=True)
        through = Proxy("unix:" + broker.unix_path)
        self.addCleanup(through.stop)
        through.trickle = Trickle(5, every=200)
        client, direct = Client(("127.0.0.1", through.port)), self.client()
        self.addCleanup(client.close)
        # Characters of several bytes are split as well.
        names = [f"\u00fc-\u20ac-\U0001f512-{i}" for i in range(20)]
        self.assert_all_told(client, names)
        client.ok("WATCH x", 30)
        fences = [direct.lock("x")]
        for _ in range(10):
            direct.ok("UNLOCK x")
            fences.append(direct.lock("x"))
        client.send("STATS", "@p PING", "NAMES")
        for line in client.reply(30).body:
            self.assertRegex(line, r"^[a-z_]+ \d+$")
        self.assertGreater(parse_ms(client.reply(30, tag="p")["valid"]), 0)
        self.assertEqual(len(client.reply(30).body), 21)
        eventually(lambda: client.pump() or client.events[-1].fields.get("fence") ==
                   str(fences[-1]), 30, "the last change is told")
        for line in client.events:
            self.assertRegex(line.text, r"^!HELD x fence=\d+ broker=b1$|^!FREE x$")
        told = [line.fence for line in client.events if line.status == "!HELD"]
        self.assertEqual(told, sorted(told))
        self.assertLessEqual(set(told), set(fences))
        self.assertEqual(client.ok("UNLOCK " + " ".join(names), 30)["depth"], ",".join("0" * 20))
        self.assertEqual(client.ok("LIST", 30).body, [])
