"""Token holds outlive brokers: they are granted, released and extended through any of them."""

import re

from lib.case import SystemTest, grace_of
from lib.proxy import Proxy
from lib.resp import RedisError, Resp
from lib.wait import eventually, let_time_pass, now, patience


class TwoBrokers(SystemTest):
    """On one Redis; clients of Redis come through either."""

    limit = 60

    def prepare(self, lease=1):
        self.lease = lease
        self.server = self.redis()
        for _ in range(2):
            self.broker(self.server, trust_new=True, lease=lease)
        for client in (self.client(broker) for broker in self.brokers):
            client.lock("warm-up", timeout=20)
            client.ok("UNLOCK warm-up")
        self.a, self.b = (self.resp_of(broker) for broker in self.brokers)

    def resp_of(self, broker):
        conn = Resp(f"127.0.0.1:{broker.port}")
        self.addCleanup(conn.close)
        return conn


class TokenHolds(TwoBrokers):
    def test_through_the_other_broker(self):
        self.prepare()
        self.assertEqual(self.a("SET", "x", "t", "NX", "PX", 60000), "OK")
        fence = self.a("LB.FENCE", "x", "t")
        self.assertIsNone(self.b("SET", "x", "t", "NX", "PX", 60000))
        self.assertIsNone(self.b("SET", "x", "other", "NX", "PX", 60000))
        self.assertEqual(self.b("GET", "x"), "t")
        self.assertEqual(self.b("LB.FENCE", "x", "t"), fence)
        self.assertEqual(self.b("DELEX", "x", "IFEQ", "other"), 0)
        self.assertEqual(self.b("PEXPIRE", "x", 30000), 1)
        self.assertLessEqual(self.a("PTTL", "x"), 30000)
        self.assertEqual(self.a("LB.FENCE", "x", "t"), fence)
        self.assertEqual(self.b("DELEX", "x", "IFEQ", "t"), 1)
        self.assertEqual(self.a("EXISTS", "x"), 0)
        self.assertGreater(self.client(self.brokers[0]).ok("TRYLOCK x").fence, fence)

    def test_its_broker_is_killed(self):
        self.prepare()
        self.assertEqual(self.a("SET", "x", "t", "NX", "PX", 60000), "OK")
        self.assertEqual(self.a("SET", "y", "t", "NX"), "OK")
        fence = self.a("LB.FENCE", "x", "t")
        self.brokers[0].kill()
        let_time_pass(3 * self.lease)
        line = self.client(self.brokers[1])
        for name in ("x", "y"):
            self.assertEqual(line.ask(f"TRYLOCK {name}").status, "BUSY")
            self.assertIsNone(self.b("SET", name, "other", "NX", "PX", 60000))
            self.assertEqual(self.b("GET", name), "t")
        self.assertEqual(self.b("PTTL", "y"), -1)
        start = now()
        self.assertEqual(self.b("PEXPIRE", "x", 50000), 1)
        self.assertEqual(self.b("DEL", "x", "y"), 2)
        self.assertLess(now() - start, patience(0.5))
        self.assertGreater(line.ok("TRYLOCK x").fence, fence)

    def test_its_time_is_over_and_its_broker_is_killed(self):
        self.prepare()
        start = now()
        self.assertEqual(self.a("SET", "x", "t", "NX", "PX", 3000), "OK")
        self.brokers[0].kill()
        line = self.client(self.brokers[1])
        line.lock("x", timeout=20)
        self.assert_within(2.95, now() - start, patience(3 + 2 * self.lease))

    def test_a_waiting_line_client_is_served_at_once(self):
        self.prepare(lease=10)
        self.assertEqual(self.a("SET", "x", "t", "NX", "PX", 60000), "OK")
        line = self.client(self.brokers[1])
        line.send("LOCK x")
        eventually(lambda: self.client(self.brokers[1]).ok("STATUS x")["waiters"] == "1")
        start = now()
        self.assertEqual(self.a("DELEX", "x", "IFEQ", "t"), 1)
        self.assertTrue(line.reply(10).ok)
        self.assertLess(now() - start, patience(1))

    def test_one_that_is_made_shorter_is_waited_for_no_longer(self):
        self.prepare(lease=20)
        self.assertEqual(self.a("SET", "x", "t", "NX", "PX", 60000), "OK")
        line = self.client(self.brokers[1])
        line.send("LOCK x")
        eventually(lambda: self.client(self.brokers[1]).ok("STATUS x")["waiters"] == "1")
        start = now()
        self.assertEqual(self.a("PEXPIRE", "x", 300), 1)
        self.assertTrue(line.reply(30).ok)
        self.assertLess(now() - start, patience(2))

    def test_nobody_passes_those_who_wait(self):
        self.prepare(lease=10)
        self.assertEqual(self.a("SET", "x", "t", "NX", "PX", 60000), "OK")
        line = self.client(self.brokers[1])
        line.send("LOCK x")
        eventually(lambda: self.client(self.brokers[1]).ok("STATUS x")["waiters"] == "1")
        # As if the time of the hold had just run out.
        self.server.cmd("DEL", "lock:x")
        self.assertIsNone(self.a("SET", "x", "other", "NX", "PX", 60000))
        self.assertTrue(line.reply(10).ok)

    def test_a_broker_that_stops_leaves_them(self):
        self.prepare()
        self.assertEqual(self.a("SET", "x", "t", "NX", "PX", 60000), "OK")
        self.brokers[0].stop()
        self.assertEqual(len(self.brokers[0].log_lines("tokens-left")), 1)
        self.assertEqual(self.client(self.brokers[1]).ask("TRYLOCK x").status, "BUSY")
        self.assertEqual(self.b("DELEX", "x", "IFEQ", "t"), 1)

    def test_redis_forgets_it(self):
        self.prepare()
        self.assertEqual(self.a("SET", "x", "t", "NX", "PX", 60000), "OK")
        self.assertEqual(self.a("SET", "y", "t", "NX", "PX", 60000), "OK")
        self.assertEqual(self.b("PEXPIRE", "y", 60000), 1)
        self.server.cmd("FLUSHALL")
        line = self.client(self.brokers[1])
        reply = line.ask("LOCK x wait=%dms" % (1000 * grace_of(self.lease) + 2000), timeout=30)
        self.assertEqual(reply.status, "TIMEOUT")
        self.assertEqual(self.b("GET", "x"), "t")
        self.assertEqual(self.a("GET", "y"), "t")
        self.assertEqual(self.a("DEL", "x", "y"), 2)

    def test_people_see_it_and_end_it(self):
        self.prepare()
        self.assertEqual(self.a("SET", "x", "secret-token", "NX"), "OK")
        line = self.client(self.brokers[0])
        status = line.ok("STATUS x")
        self.assertEqual((status["state"], status["broker"]), ("held", "b1"))
        self.assertIn("age", status.fields)
        row, = line.ok("QUEUE x").body
        self.assertIn(f" fence={status['fence']} ", row)
        other = self.client(self.brokers[1])
        other.ok("WATCH x")
        self.assertIn("b1", str(other.event(10, kind="HELD")))
        other.ok("UNLOCK-FORCE x")
        self.assertTrue(other.event(10, kind="FREE"))
        self.assertEqual(self.a("EXISTS", "x"), 0)
        for broker in self.brokers:
            self.assertNotIn("secret-token", broker.log())


class BrokerGone(TwoBrokers):
    """What a broker had that is gone is taken up by another one, so that Redis may lose its data
    at any time after."""

    def holds(self):
        self.prepare()
        self.line = self.client(self.brokers[0])
        self.assertEqual(self.a("SET", "x", "t", "NX", "PX", 60000), "OK")
        self.assertEqual(self.a("SET", "y", "u", "NX"), "OK")
        self.fence = self.a("LB.FENCE", "x", "t")
        self.line.lock("kept keep=60s")
        self.line.ok("UNLOCK kept")

    def adopted(self, broker, count=3):
        eventually(lambda: broker.log_lines("tokens-adopted"), patience(10), "taken up")
        self.assertIn(f" count={count}", broker.log_lines("tokens-adopted")[0])
        stats = {row.split("=")[0]: row for row in self.client(broker).ok("STATS").body}
        self.assertIn(str(count), str(stats.get("token_holds_adopted_total", stats)))

    def outlives_the_data(self, broker):
        conn, line = self.resp_of(broker), self.client(broker)
        self.server.cmd("FLUSHALL")
        eventually(lambda: self.client(broker).ask("TRYLOCK other").ok, grace_of(self.lease) + 5)
        for name in ("x", "y", "kept"):
            self.assertEqual(line.ask(f"TRYLOCK {name}").status, "BUSY", name)
        self.assertEqual((conn("GET", "x"), conn("GET", "y")), ("t", "u"))
        self.assertEqual(conn("LB.FENCE", "x", "t"), self.fence)
        self.assert_within(30000, conn("PTTL", "x"), 60000)
        self.assertEqual(conn("PTTL", "y"), -1)
        self.assertEqual(conn("DELEX", "x", "IFEQ", "t"), 1)
        self.assertTrue(line.ask("TRYLOCK x").ok)

    def test_it_was_stopped(self):
        self.holds()
        self.brokers[0].stop()
        self.adopted(self.brokers[1])
        self.outlives_the_data(self.brokers[1])

    def test_it_was_killed(self):
        self.holds()
        third = self.broker(self.server, trust_new=True, lease=self.lease)
        self.assertEqual(self.resp_of(third)("SET", "not-left", "v", "NX"), "OK")
        self.brokers[0].kill()
        others = (self.brokers[1], third)
        eventually(lambda: any(broker.log_lines("tokens-adopted") for broker in others),
                   patience(10), "taken up")
        heir, = (broker for broker in others if broker.log_lines("tokens-adopted"))
        self.adopted(heir)
        self.outlives_the_data(heir)

    def test_the_next_one_goes_too(self):
        self.holds()
        self.brokers[0].kill()
        self.adopted(self.brokers[1])
        self.brokers[1].kill()
        third = self.broker(self.server, trust_new=True, lease=self.lease)
        self.adopted(third)
        self.outlives_the_data(third)

    def test_all_were_killed_and_one_is_started_again(self):
        self.holds()
        for broker in self.brokers:
            broker.kill()
        self.brokers[0].start()
        self.brokers[0].wait_granting()
        self.brokers[0].expected_status = 0
        self.adopted(self.brokers[0])
        self.outlives_the_data(self.brokers[0])

    def test_its_time_is_over(self):
        """Who takes a hold up ends it when its time is over."""
        self.prepare()
        start = now()
        self.assertEqual(self.a("SET", "x", "t", "NX", "PX", 9000), "OK")
        self.brokers[0].kill()
        self.adopted(self.brokers[1], 1)
        line = self.client(self.brokers[1])
        line.lock("x", timeout=20)
        self.assert_within(9, now() - start, patience(10.5, start))


class LostExtension(SystemTest):
    """The reply to an extension is lost: the hold is looked after all the same."""

    limit = 60

    def test_it_outlives_the_data_of_redis(self):
        server = self.redis()
        proxy = Proxy(server.unix_address)
        self.addCleanup(proxy.stop)
        broker = self.broker(proxy.address, trust_new=True, lease=1)
        line = self.client(broker)
        line.lock("warm-up", timeout=20)
        conn = Resp(f"127.0.0.1:{broker.port}")
        self.addCleanup(conn.close)
        self.assertEqual(conn("SET", "x", "t", "NX", "PX", 60000), "OK")
        proxy.drop_reply("token")
        with self.assertRaisesRegex(RedisError, "UNAVAILABLE"):
            conn("PEXPIRE", "x", 120000)
        self.assertTrue(proxy.fired.is_set())
        let_time_pass(3)
        self.assertNotIn("end=taken", str(line.ok("HISTORY x").body))
        self.assertGreater(conn("PTTL", "x"), 60000)
        server.cmd("FLUSHALL")
        reply = line.ask("LOCK x wait=%dms" % (1000 * grace_of(1) + 2000), timeout=30)
        self.assertEqual(reply.status, "TIMEOUT")
        self.assertEqual(conn("GET", "x"), "t")


class HandedOver(SystemTest):
    """When a token releases a name, the next token that polls at the same broker gets it."""

    limit = 60

    def prepare(self, brokers=1):
        self.server = self.redis()
        for _ in range(brokers):
            self.broker(self.server, trust_new=True, lease=10, resp={"park": "20s"})
        self.lines = [self.client(broker) for broker in self.brokers]
        for line in self.lines:
            line.lock("warm-up", timeout=20)
            line.ok("UNLOCK warm-up")

    def resp_of(self, broker=0):
        conn = Resp(f"127.0.0.1:{self.brokers[broker].port}")
        self.addCleanup(conn.close)
        return conn

    def waiters(self, broker=0):
        return int(self.lines[broker].ok("STATUS x")["waiters"])

    def park(self, conn, token, broker=0):
        """The second try of a token waits."""
        before = self.waiters(broker)
        self.assertIsNone(conn("SET", "x", token, "NX", "PX", 60000))
        conn.send("SET", "x", token, "NX", "PX", 60000)
        eventually(lambda: self.waiters(broker) == before + 1)

    def test_in_one_call_and_in_order(self):
        self.prepare()
        conns = [self.resp_of() for _ in range(3)]
        self.assertEqual(conns[0]("SET", "x", "t0", "NX", "PX", 60000), "OK")
        for i in (1, 2):
            self.park(conns[i], f"t{i}")
        fence, calls, turns = 0, 0, 12
        for turn in range(turns):
            mine, heir = turn % 3, (turn + 1) % 3
            before = self.server.calls("evalsha")
            self.assertEqual(conns[mine]("DELEX", "x", "IFEQ", f"t{mine}"), 1)
            self.assertEqual(conns[heir].read(), "OK")
            # A heartbeat may come in between.
            calls += self.server.calls("evalsha") - before > 1
            self.assertEqual(self.server.cmd("GET", "lock:x").split("|")[2], f"t{heir}")
            last, fence = fence, conns[heir]("LB.FENCE", "x", f"t{heir}")
            self.assertGreater(fence, last)
            self.park(conns[mine], f"t{mine}")
        self.assertLess(calls, turns / 2)

    def test_not_before_those_who_wait_at_another_broker(self):
        self.prepare(2)
        one, two, three = self.resp_of(), self.resp_of(), self.resp_of(1)
        self.assertEqual(one("SET", "x", "t1", "NX", "PX", 60000), "OK")
        self.park(three, "t3", 1)
        self.park(two, "t2")
        self.assertEqual(one("DELEX", "x", "IFEQ", "t1"), 1)
        self.assertEqual(three.read(), "OK")
        self.assertEqual(three("DELEX", "x", "IFEQ", "t3"), 1)
        self.assertEqual(two.read(), "OK")

    def test_nor_before_a_line_client(self):
        self.prepare()
        one, two, line = self.resp_of(), self.resp_of(), self.client(self.brokers[0])
        self.assertEqual(one("SET", "x", "t1", "NX", "PX", 60000), "OK")
        self.park(two, "t2")
        line.send("LOCK x")
        eventually(lambda: self.waiters() == 2)
        self.assertEqual(one("DELEX", "x", "IFEQ", "t1"), 1)
        self.assertEqual(two.read(), "OK")
        self.assertEqual(two("DELEX", "x", "IFEQ", "t2"), 1)
        self.assertTrue(line.reply(10).ok)

    def queue_up(self, word):
        """Waiters in this order, a letter for each: line clients, and tokens that poll. Returns
        what each is, asks to give the name back with, and where its answer comes."""
        waiters = []
        for i, kind in enumerate(word):
            if kind == "l":
                line = self.client(self.brokers[0])
                before = self.waiters()
                line.send("LOCK x")
                eventually(lambda: self.waiters() == before + 1)
                waiters.append((line.reply, lambda line=line: line.send("UNLOCK x")))
            else:
                conn = self.resp_of()
                self.park(conn, f"t{i}")
                waiters.append((conn.read, lambda conn=conn, i=i: conn.send("DELIFEQ", "x", f"t{i}")))
        return waiters

    def test_tokens_and_line_clients_are_one_queue(self):
        self.prepare()
        for word in ("tl", "ltl", "tltl", "ttlltl"):
            holder = self.client(self.brokers[0])
            holder.lock("x")
            waiters = self.queue_up(word)
            ages = [int(re.search(r" age=(\d+)ms", row)[1])
                    for row in holder.ok("QUEUE x").body]
            self.assertEqual(ages, sorted(ages, reverse=True), word)
            holder.ok("UNLOCK x")
            for i, (take, give_back) in enumerate(waiters):
                self.assertIn("OK", str(take()))
                left = self.waiters()
                self.assertEqual(left, len(word) - i - 1, f"{word}: {i} has it")
                give_back()
                take()

    def test_a_token_has_its_place_from_its_first_try(self):
        self.prepare()
        holder, line, conn = self.client(), self.client(), self.resp_of()
        holder.lock("x")
        self.assertIsNone(conn("SET", "x", "t", "NX", "PX", 60000))
        let_time_pass(0.1)
        line.send("LOCK x")
        eventually(lambda: self.waiters() == 1)
        conn.send("SET", "x", "t", "NX", "PX", 60000)
        eventually(lambda: self.waiters() == 2)
        ages = [int(re.search(r" age=(\d+)ms", row)[1]) for row in holder.ok("QUEUE x").body[1:]]
        self.assertGreaterEqual(ages[0], ages[1] + 80, ages)
        holder.ok("UNLOCK x")
        self.assertEqual(conn.read(), "OK")
        self.assertEqual(conn("DELIFEQ", "x", "t"), 1)
        self.assertTrue(line.reply(10).ok)
