"""Several brokers on one Redis: they exclude each other, and wait for each other."""

from lib.case import SystemTest, grace_of, pad_of
from lib.history import Contender, check_history, run_contenders, stop_contenders
from lib.wait import eventually, let_time_pass, now, patience


class Brokers(SystemTest):
    """N brokers; everything here is true of any N."""

    count = 2
    limit = 60

    def prepare(self, lease=1, trust_new=True, count=None):
        self.lease = lease
        self.server = self.redis()
        for _ in range(count or self.count):
            self.broker(self.server, trust_new=trust_new, lease=lease)
        self.each = [self.client(broker) for broker in self.brokers]
        self.a, self.b = self.each[:2]
        for client in self.each:
            client.lock("warm-up", timeout=20)
            client.ok("UNLOCK warm-up")

    def longest_wait(self):
        """How long a client waits for a name that is free."""
        return patience(self.lease + pad_of(self.lease) + 0.5)

    def test_exclusion(self):
        self.prepare()
        fence = self.a.lock("x")
        self.assertEqual(self.b.ask("TRYLOCK x").status, "BUSY")
        self.assertEqual(self.b.ask("LOCK x wait=100ms").status, "TIMEOUT")
        self.b.err("UNLOCK x", "not-held")
        status = self.b.ok("STATUS x")
        self.assertEqual((status["state"], status["broker"]), ("held", "b1"))
        self.assertIn("ttl", status.fields)
        self.a.ok("UNLOCK x")
        self.assertGreater(self.b.ok("TRYLOCK x").fence, fence)
        self.assertEqual(self.a.ask("TRYLOCK x").status, "BUSY")

    def test_waiting_across_brokers(self):
        self.prepare()
        fence = self.a.lock("x")
        self.b.send("LOCK x")
        eventually(lambda: self.client(self.brokers[1]).ok("STATUS x")["waiters"] == "1")
        let_time_pass(2 * self.lease)
        self.assertTrue(self.b.silent())
        start = now()
        self.a.ok("UNLOCK x")
        self.assertGreater(self.b.reply(10).fence, fence)
        self.assertLess(now() - start, self.longest_wait())

    def test_waiting_for_a_broker_that_is_killed(self):
        self.prepare()
        fence = self.a.lock("x")
        self.b.send("LOCK x")
        eventually(lambda: self.client(self.brokers[1]).ok("STATUS x")["waiters"] == "1")
        start = now()
        self.brokers[0].kill()
        self.assertGreater(self.b.reply(10).fence, fence)
        self.assertLess(now() - start, self.longest_wait())

    def test_waiting_for_a_broker_that_stops(self):
        self.prepare()
        fence = self.a.lock("x")
        self.b.send("LOCK x")
        eventually(lambda: self.client(self.brokers[1]).ok("STATUS x")["waiters"] == "1")
        start = now()
        self.assertEqual(self.brokers[0].stop(), 0)
        self.assertGreater(self.b.reply(10).fence, fence)
        self.assertLess(now() - start, self.longest_wait())

    def test_nothing_is_left_of_brokers_that_are_killed(self):
        """Neither the key nor the queue stays, although nobody is there to look."""
        self.prepare(lease=1)
        self.a.lock("x")
        self.b.send("LOCK x")
        eventually(lambda: self.client(self.brokers[1]).ok("STATUS x")["waiters"] == "1")
        eventually(lambda: len(self.server.keys("*x*")) == 2, 5, "one holds, one is queued")
        for broker in self.brokers:
            broker.kill()
        eventually(lambda: not self.server.keys("*x*"), 2 * (self.lease + pad_of(self.lease)) + 2,
                   "nothing is left")

    def test_a_history_without_faults(self):
        self.prepare()
        crowd = run_contenders([broker.unix_path for broker in self.brokers], "x", 4, 30)
        self.assertGreater(check_history(crowd), 20)
        for one in crowd:
            self.assertTrue(one.held, "one was never granted it")
            self.assertIsNone(one.fault)

    def contend(self):
        crowd = [Contender(broker.unix_path, "x") for broker in self.brokers for _ in range(2)]
        for one in crowd:
            one.start()
        self.addCleanup(stop_contenders, crowd)
        return crowd

    def test_a_history_with_redis_restarted(self):
        self.prepare()
        crowd = self.contend()
        let_time_pass(1)
        self.server.restart()
        let_time_pass(grace_of(self.lease) + 2)
        self.server.cmd("FLUSHALL")
        let_time_pass(grace_of(self.lease) + 2)
        stop_contenders(crowd, 20)
        self.assertGreater(check_history(crowd), 10)

    def test_a_history_with_redis_frozen(self):
        self.prepare()
        crowd = self.contend()
        for seconds in (0.2, 0.7, 1.8):
            let_time_pass(0.5)
            self.server.freeze()
            let_time_pass(seconds)
            self.server.thaw()
        healed = now()
        let_time_pass(grace_of(self.lease) + 3)
        stop_contenders(crowd, 20, healed)
        self.assertGreater(check_history(crowd), 10)

    def test_a_history_with_brokers_frozen_and_killed(self):
        self.prepare()
        crowd = self.contend()
        first, second = self.brokers[:2]
        let_time_pass(0.5)
        first.freeze()
        let_time_pass(2.2)
        first.thaw()
        let_time_pass(1)
        second.kill()
        let_time_pass(1)
        second.expected_status = 0
        second.start()
        let_time_pass(grace_of(self.lease) + 2)
        stop_contenders(crowd, 20)
        self.assertGreater(check_history(crowd), 10)

    def test_no_second_grant_while_the_first_is_vouched_for(self):
        """Redis restarts empty; the holder's broker is cut off, the other one is not."""
        self.server = self.redis()
        through = self.proxy(self.server)
        self.lease = 2
        holding = self.broker(through.address, lease=self.lease)
        other = self.broker(self.server, lease=self.lease)
        holder, rival = self.client(holding), self.client(other)
        fence = holder.lock("x", timeout=30)
        rival.send("LOCK x")
        through.stalled = True
        self.server.restart()
        self.assertEqual(holder.event(10, kind="LOST").fence, fence)
        self.assertTrue(rival.silent(), "granted before it was lost")
        reply = rival.reply(20)
        self.assertGreater(reply.fence, fence)
        through.stalled = False
        self.assertEqual(holder.ask("LOCK x wait=500ms").ok, False)
        self.assertEqual(rival.ok("LOCK x").fence, reply.fence)

    def test_other_constants_are_refused(self):
        """Leases must be equal on all brokers: a broker with another one says so."""
        server = self.redis()
        self.broker(server, trust_new=True, lease=1)
        self.client().lock("x")
        odd = self.broker(server, trust_new=True, lease=4, ready=False)
        reply = self.client(odd).err("TRYLOCK y", "unavailable")
        self.assertRegex(reply.text, "4000|4s")
        self.assertRegex(reply.text, "1000|1s")
        self.client(odd).ok("PING")
