"""locks.warm: a name that is locked here again and again stays at the broker for a moment, and the
next LOCK asks nobody."""

import signal

from lib.case import SystemTest
from lib.wait import eventually, now, patience

CALLS = ("evalsha", "eval")


class Warm(SystemTest):
    def prepare(self, **locks):
        """Two brokers on one Redis, the first with locks.warm."""
        self.server = self.redis()
        self.one = self.broker(self.server, trust_new=True, locks={"warm": "1s", **locks})
        self.other = self.broker(self.server, trust_new=True)
        self.a, self.b = self.client(self.one), self.client(self.other)

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
