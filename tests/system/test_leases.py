"""The watchdog: what is held is renewed for as long as it is held, and then no longer."""

from lib.case import SystemTest, pad_of
from lib.wait import PATIENCE, eventually, let_time_pass, now, parse_ms, patience

LEASE = 1


class Leases(SystemTest):
    """What is promised in time, what is left at the end, and the data in Redis."""

    def prepare(self, lease=LEASE, **settings):
        self.server = self.redis()
        self.broker(self.server, trust_new=True, lease=lease, **settings)
        self.holder, self.other = self.clients(2)

    def test_a_lock_is_kept_for_five_leases(self):
        self.prepare()
        fence = self.holder.lock("x")
        token = self.server.get("x").rsplit("|", 1)[0]
        bound = (LEASE + pad_of(LEASE)) * 1000
        end = now() + 5 * LEASE
        lowest = bound
        while now() < end:
            self.assertEqual((self.server.get("x") or "").rsplit("|", 1)[0], token)
            self.assertLessEqual(self.server.pttl("x"), bound)
            lowest = min(lowest, self.server.pttl("x"))
            let_time_pass(0.05)
        self.assertGreater(lowest, pad_of(LEASE) * 1000, "renewed too late")
        self.assertEqual(self.holder.ok("LOCK x").fence, fence)
        self.assertEqual(self.holder.events, [])
        self.assertEqual(self.other.ask("TRYLOCK x").status, "BUSY")

    def test_an_end_by_itself_asks_nothing_of_the_guard(self):
        """The guard asks for INFO in each call that has one: of a pair, the LOCK's."""
        self.prepare(lease=10, locks={"warm": 0})
        self.holder.lock("x")
        self.holder.ok("UNLOCK x")
        before = self.server.calls("INFO")
        for _ in range(100):
            self.holder.lock("x")
            self.holder.ok("UNLOCK x")
            self.assertIsNone(self.server.get("x"))
        self.assertLess(self.server.calls("INFO") - before, 150)

    def test_the_key_in_redis(self):
        self.prepare()
        fence = self.holder.lock("x")
        token, top = self.server.get("x").rsplit("|", 1)
        self.assertRegex(token, r"^b1\.[0-9a-zA-Z]+\.[0-9]+$")
        self.assertGreaterEqual(int(top), fence)
        self.assertGreaterEqual(int(self.server.get("@fence")), int(top))
        self.assertEqual(self.server.cmd("TYPE", "lock:@guard"), "hash")
        self.holder.ok("UNLOCK x")
        self.holder.lock("x")
        again, _ = self.server.get("x").rsplit("|", 1)
        self.assertNotEqual(token, again, "a token is never used twice")

    def test_nothing_is_left_in_redis(self):
        self.prepare()
        self.holder.send(*[f"LOCK n{i}" for i in range(50)])
        for _ in range(50):
            self.assertTrue(self.holder.reply().ok)
        self.other.send("@1 LOCK n1", "@2 LOCK n2 wait=50ms")
        self.other.reply(tag="2")
        for key in self.server.keys():
            if key not in ("lock:@guard", "lock:@fence"):
                self.assertGreater(self.server.cmd("PTTL", key), 0, f"{key} would stay for ever")
        self.holder.close()
        self.assertTrue(self.other.reply(tag="1").ok)
        self.other.close()
        eventually(lambda: not set(self.server.keys()) - {"lock:@guard", "lock:@fence"}, 3,
                   "all keys are gone")

    def test_waiting_costs_redis_nothing(self):
        self.prepare(lease=10)
        self.holder.lock("x")
        crowd = self.clients(50)
        for client in crowd:
            client.send("LOCK x")
        eventually(lambda: self.other.ok("STATUS x")["waiters"] == "50")
        self.server.cmd("CONFIG", "RESETSTAT")
        let_time_pass(2)
        self.assertLess(self.server.calls("evalsha"), 20)

    def test_valid_is_bounded_by_the_lease(self):
        self.prepare(lease=2)
        self.holder.lock("x")
        end = now() + 3
        while now() < end:
            self.assert_within(1, parse_ms(self.holder.ok("PING")["valid"]), 1980)
            let_time_pass(0.05)

    def test_status_ttl(self):
        self.prepare(lease=2)
        self.holder.lock("x")
        self.assert_within(1, parse_ms(self.other.ok("STATUS x")["ttl"]),
                           (2 + pad_of(2)) * 1000)

    def test_many_locks_are_renewed(self):
        lease, count = 8, 20000
        self.prepare(lease=lease, limits={"holds": count})
        for start in range(0, count, 1000):
            self.holder.send(*[f"LOCK n{i}" for i in range(start, start + 1000)])
            for _ in range(1000):
                self.assertTrue(self.holder.reply(20).ok)
        self.server.cmd("CONFIG", "RESETSTAT")
        cpu, begin = self.brokers[0].process.cpu_seconds(), now()
        slowest = 0.0
        while now() - begin < 1.5 * lease:
            asked = now()
            self.other.ok("TRYLOCK probe")
            self.other.ok("UNLOCK probe")
            slowest = max(slowest, now() - asked)
            let_time_pass(0.02)
        self.holder.ok("PING")
        self.assertEqual(self.holder.events, [])
        self.assertEqual(len(self.server.keys("lock:n*")), count)
        self.assertEqual(self.holder.stats()["locks_held"], str(count))
        # Up to 100 renewals go out together; one call each would make 72,000.
        self.assertLess(self.server.calls("evalsha"), 20000)
        self.assertLess(self.brokers[0].process.cpu_seconds() - cpu, 5 * PATIENCE)
        self.assertLess(slowest, patience(0.5))
        self.assertGreater(int(self.holder.stats()["renewals_total"]), count)

    def test_many_locks_end_together(self):
        count = 5000
        self.prepare(lease=5, limits={"holds": count})
        self.holder.send(*[f"LOCK n{i}" for i in range(count)])
        for _ in range(count):
            self.assertTrue(self.holder.reply(20).ok)
        self.holder.close()
        start = now()
        eventually(lambda: self.server.keys("lock:n*") == [], 5, "all released")
        self.assertLess(now() - start, patience(2))
        self.assertEqual(self.other.stats()["locks_held"], "0")

    def test_keep_is_kept_over_the_holders_end(self):
        self.prepare()
        granted = now()
        fence = self.holder.lock("x", "keep=3s")
        self.holder.close()
        let_time_pass(1.5 * LEASE)
        self.assertEqual(self.other.ask("TRYLOCK x").status, "BUSY")
        self.assertIsNone(self.server.cmd("SET", "lock:x", "plain", "NX", "PX", "1000"))
        self.assertGreater(self.other.lock("x", timeout=10), fence)
        self.assert_within(2.99, now() - granted, patience(4))

    def test_keep_bounds_the_key(self):
        """Every grant and renewal writes a time to live of max(lease + pad + delay, keep)."""
        self.prepare()
        self.holder.lock("kept", "keep=20s")
        self.holder.lock("delayed", "delay=20s")
        self.assert_within(19000, self.server.pttl("kept"), 20000 + 1500)
        self.assert_within(20500, self.server.pttl("delayed"), 21500)
        let_time_pass(2 * LEASE)
        self.assert_within(16000, self.server.pttl("kept"), 18500 + 1500)
        self.assert_within(20500, self.server.pttl("delayed"), 21500)

    def test_names_are_listed_up_to_a_limit(self):
        self.prepare(lease=10)
        self.holder.send(*[f"LOCK n{i}" for i in range(150)])
        for _ in range(150):
            self.assertTrue(self.holder.reply().ok)
        self.assertEqual(len(self.other.ok("NAMES").body), 100)
        self.assertEqual(len(self.other.ok("NAMES limit=7").body), 7)
        names = [line.split(" ")[0] for line in self.other.ok("NAMES limit=1000").body]
        self.assertEqual(sorted(names), sorted(f"n{i}" for i in range(150)))
        self.holder.close()
        eventually(lambda: self.other.ok("NAMES").body == [], 3)

    def test_statistics(self):
        self.prepare()
        before = self.holder.stats()
        for name in ("clients", "sessions", "locks_held", "waiters", "grants_total",
                     "handovers_total", "releases_total", "renewals_total", "lost_total",
                     "timeouts_total", "redis_up", "redis_reconnects_total", "uptime_seconds"):
            self.assertRegex(before[name], r"^\d+$", name)
        self.holder.lock("x")
        self.other.send("@1 LOCK x", "@2 LOCK x wait=20ms")
        self.other.reply(tag="2")
        during = self.holder.stats()
        self.assertEqual((during["locks_held"], during["waiters"], during["clients"],
                          during["redis_up"]), ("1", "1", "2", "1"))
        self.holder.ok("UNLOCK x")
        self.other.reply(tag="1")
        self.other.ok("EXTEND x hold=20ms")
        self.other.event(kind="LOST")
        after = self.holder.stats()
        for name, least in (("grants_total", 2), ("handovers_total", 1), ("lost_total", 1),
                            ("releases_total", 1), ("timeouts_total", 1)):
            self.assertGreaterEqual(int(after[name]) - int(before[name]), least, name)

    def test_two_scripts_a_turn(self):
        """All Redis writes of a turn leave together: many requests are few calls."""
        self.prepare(lease=10)
        self.server.cmd("CONFIG", "RESETSTAT")
        self.holder.send(*[f"@{i} LOCK n{i}" for i in range(500)])
        for i in range(500):
            self.assertTrue(self.holder.reply(tag=str(i)).ok)
        self.assertLess(self.server.calls("evalsha"), 250)
