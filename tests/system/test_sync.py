"""Semaphores, latches and barriers: through several brokers, and with faults. The rules themselves
are stories: transcripts/semaphores.t, latches.t, barriers.t."""

import random

from lib.case import SystemTest, grace_of, pad_of
from lib.wait import eventually, let_time_pass, now, patience


class Synchronizers(SystemTest):
    """Brokers on one Redis, with a client each."""

    limit = 60

    def prepare(self, lease=1, trust_new=True, count=2, via_proxy=False, **options):
        self.lease = lease
        self.server = self.redis(**options)
        self.through = self.proxy(self.server) if via_proxy else None
        for number in range(count):
            where = self.through.address if via_proxy and number == 0 else self.server
            self.broker(where, lease=lease,
                        redis={"reply_timeout": "500ms", "trust_new": trust_new})
        self.each = [self.client(broker) for broker in self.brokers]
        for client in self.each:
            client.lock("warm-up", timeout=20)
            client.ok("UNLOCK warm-up")
        self.a, self.b = self.each[0], self.each[-1]

    def longest_wait(self):
        """Until everything that a dead broker had has run out, and somebody has looked."""
        return patience(self.lease + pad_of(self.lease) + 0.5)

    def waits(self, broker, count=1):
        """Wait until so many requests wait through this broker."""
        eventually(lambda: self.stats(broker)["waiters"] == str(count), 5, "waiting")

    def stats(self, broker):
        client = broker.client()
        try:
            return client.stats()
        finally:
            client.close()

    def nothing_left(self, pattern, seconds=None):
        eventually(lambda: not self.server.keys(pattern), seconds or self.longest_wait(),
                   f"nothing is left of {pattern}")


class Semaphores(Synchronizers):
    """Permits through two brokers."""

    def test_permits_are_shared_between_brokers(self):
        self.prepare()
        self.assertEqual(self.a.ok("ACQUIRE s limit=3 permits=2")["free"], "1")
        self.b.err("ACQUIRE s limit=4 wait=0", "mismatch")
        self.assertEqual(self.b.ok("ACQUIRE s limit=3")["free"], "0")
        self.assertEqual(self.b.ask("ACQUIRE s limit=3 wait=0").status, "BUSY")
        self.assertEqual(self.b.ask("ACQUIRE s limit=3 wait=100ms").status, "TIMEOUT")
        self.b.err("ACQUIRE s limit=4 wait=0", "mismatch")
        self.client(self.brokers[0]).err("ACQUIRE s limit=4", "mismatch")
        self.b.send("ACQUIRE s limit=3 permits=2")
        self.waits(self.brokers[1])
        start = now()
        self.a.ok("RELEASE s permits=2")
        self.assertEqual(self.b.reply()["permits"], "3")
        self.assertLess(now() - start, patience(0.5))
        self.b.ok("RELEASE s permits=3")
        self.nothing_left("*sem*", 1)

    def test_the_limit_is_written_again(self):
        """Data that go back contain an earlier limit than that of the permits that are held."""
        self.prepare()
        self.a.ok("ACQUIRE s limit=5")
        key = self.server.keys("*@sem:s")[0]
        # In one script: no broker sees one of them without the other.
        self.server.cmd("EVAL", "redis.call('HSET', KEYS[1], 'limit', 4)"
                        " redis.call('HDEL', KEYS[2], 'id')", "2", key, "lock:@guard")
        eventually(lambda: self.server.cmd("HGET", key, "limit") == "5", 5, "it is written again")
        self.assertEqual(self.b.ok("ACQUIRE s limit=5", timeout=20)["free"], "3")
        self.b.err("ACQUIRE s limit=4 wait=0", "mismatch")

    def test_nobody_may_stay_away_for_a_large_request(self):
        """Small requests come and go through one broker; a large one waits at the other."""
        self.prepare()
        crowd = self.clients(4, self.brokers[0])
        for client in crowd[:3]:
            client.ok("ACQUIRE s limit=3")
        crowd[3].send("ACQUIRE s limit=3")
        self.waits(self.brokers[0])
        self.b.send("ACQUIRE s limit=3 permits=3")
        self.waits(self.brokers[1])
        start = now()
        waiting, holding = [crowd[3]], crowd[:3]
        while True:
            self.b.pump()
            if self.b.replies:
                break
            self.assertLess(now() - start, patience(4 * self.lease), "passed for ever")
            if holding:
                one = holding.pop(0)
                one.ok("RELEASE s")
                one.send("ACQUIRE s limit=3")
                waiting.append(one)
            for one in list(waiting):
                one.pump(0.01)
                if one.replies:
                    self.assertTrue(one.reply().ok)
                    waiting.remove(one)
                    holding.append(one)
        self.assertEqual(self.b.reply()["permits"], "3")

    def test_a_local_handover_costs_redis_nothing(self):
        self.prepare(lease=10, count=1)
        first, second = self.clients(2)
        first.ok("ACQUIRE s limit=1")
        before = int(self.stats(self.brokers[0])["redis_operations_total"])
        for _ in range(50):
            second.send("ACQUIRE s limit=1")
            self.waits(self.brokers[0])
            first.ok("RELEASE s")
            self.assertTrue(second.reply().ok)
            first, second = second, first
        stats = self.stats(self.brokers[0])
        self.assertEqual(int(stats["handovers_total"]), 50)
        self.assertLess(int(stats["redis_operations_total"]) - before, 25)
        self.assertEqual((stats["permits_held"], stats["semaphores"]), ("1", "1"))

    def test_permits_are_kept(self):
        self.prepare()
        self.a.ok("ACQUIRE s limit=2 permits=2")
        self.b.send("ACQUIRE s limit=2")
        let_time_pass(3 * self.lease)
        self.assertTrue(self.a.silent())
        self.assertTrue(self.b.silent())
        self.assertGreater(self.server.cmd("PTTL", "lock:@sem:s"), 0)

    def test_the_broker_is_killed(self):
        self.prepare()
        self.a.ok("ACQUIRE s limit=2 permits=2")
        self.b.send("ACQUIRE s limit=2")
        self.waits(self.brokers[1])
        start = now()
        self.brokers[0].kill()
        self.assertEqual(self.b.reply(10)["free"], "1")
        self.assertLess(now() - start, self.longest_wait())
        self.assertGreater(now() - start, self.lease * 0.6)

    def is_skipped(self, stop):
        """The second of two waiting brokers gets the permit although stop(the first)."""
        self.prepare(count=3)
        self.a.ok("ACQUIRE s limit=1")
        self.each[1].send("ACQUIRE s limit=1")
        self.waits(self.brokers[1])
        self.b.send("ACQUIRE s limit=1")
        self.waits(self.brokers[2])
        stop(self.brokers[1])
        start = now()
        self.a.ok("RELEASE s")
        self.assertTrue(self.b.reply().ok)
        self.assertLess(now() - start, self.longest_wait())

    def test_a_waiting_broker_is_killed(self):
        self.is_skipped(lambda broker: broker.kill())

    def test_a_waiting_broker_is_frozen(self):
        self.is_skipped(lambda broker: broker.freeze())
        self.brokers[1].thaw()
        self.b.ok("RELEASE s")
        self.assertTrue(self.each[1].reply().ok)

    def test_the_broker_is_frozen(self):
        self.prepare()
        self.a.ok("ACQUIRE s limit=1")
        self.b.send("ACQUIRE s limit=1")
        self.waits(self.brokers[1])
        self.brokers[0].freeze()
        self.assertTrue(self.b.reply(10).ok)
        self.brokers[0].thaw()
        lost = self.a.event(kind="LOST")
        self.assertEqual(lost.text, "!LOST s kind=semaphore permits=1 reason=unreachable")

    def test_the_broker_stops(self):
        self.prepare()
        self.a.ok("ACQUIRE s limit=1")
        self.b.send("ACQUIRE s limit=1")
        self.waits(self.brokers[1])
        start = now()
        self.assertEqual(self.brokers[0].stop(), 0)
        self.assertTrue(self.b.reply().ok)
        self.assertLess(now() - start, patience(1))

    def test_redis_is_away_for_a_moment(self):
        self.prepare(lease=6, via_proxy=True)
        self.a.ok("ACQUIRE s limit=2")
        self.through.refuse = True
        self.through.cut()
        risk = self.a.event(10, kind="ATRISK")
        self.assertEqual((risk["kind"], risk["permits"]), ("semaphore", "1"))
        other = self.client(self.brokers[0])
        other.err("ACQUIRE s limit=2 wait=100ms", "unavailable")
        self.assertEqual(other.ask("ACQUIRE s limit=2 permits=2 wait=100ms").status, "TIMEOUT")
        self.through.refuse = False
        self.assertEqual(self.a.event(kind="SAFE").text, "!SAFE s kind=semaphore permits=1")
        self.assertEqual(other.ok("ACQUIRE s limit=2")["free"], "0")

    def test_redis_is_away_for_longer(self):
        self.prepare(via_proxy=True)
        self.a.ok("ACQUIRE s limit=2 permits=2")
        self.through.refuse = True
        self.through.cut()
        start = now()
        self.assertEqual(self.a.event(kind="LOST").text,
                         "!LOST s kind=semaphore permits=2 reason=unreachable")
        self.assertLess(now() - start, patience(self.lease + pad_of(self.lease)))
        self.a.err("RELEASE s", "not-held")
        self.assertTrue(self.b.ask("ACQUIRE s limit=2 permits=2", 10).ok)

    def test_released_while_redis_is_away(self):
        self.prepare(via_proxy=True)
        self.a.ok("ACQUIRE s limit=2 permits=2")
        self.through.refuse = True
        self.through.cut()
        self.assertEqual(self.a.ok("RELEASE s")["deferred"], "1")
        self.assertEqual(self.a.ok("LIST").body[0].split()[:3], ["semaphore", "s", "permits=1"])
        self.through.refuse = False
        self.assertTrue(self.b.ask("ACQUIRE s limit=2", 10).ok)

    def test_redis_forgets(self):
        """The permits are written again before anything new is granted."""
        self.prepare(trust_new=False)
        self.a.ok("ACQUIRE s limit=2 permits=1")
        self.b.ok("ACQUIRE s limit=2 permits=1")
        self.a.send("@1 ACQUIRE s limit=2")
        for forget in (self.server.restart, lambda: self.server.cmd("FLUSHALL")):
            start = now()
            forget()
            eventually(lambda: self.server.cmd("HLEN", "lock:@sem:s") >= 3, 5, "written again")
            self.client(self.brokers[0]).err("ACQUIRE new limit=2 wait=0", "unavailable")
            let_time_pass(max(0, start + grace_of(self.lease) + 1 - now()))
            self.assertEqual(self.client(self.brokers[1]).ask(
                "ACQUIRE s limit=2 wait=0").status, "BUSY")
        self.assertEqual(self.a.events + self.b.events, [])
        self.b.ok("RELEASE s")
        self.assertEqual(self.a.reply(tag="1")["permits"], "2")

    def test_lost_replies(self):
        self.prepare(lease=6, via_proxy=True)
        for drop in (self.through.drop_reply, self.through.drop_request):
            with self.subTest(drop.__name__):
                drop("@sem:s")
                self.assertEqual(self.a.ok("ACQUIRE s limit=3 permits=2")["permits"], "2")
                self.assertEqual(self.b.ok("ACQUIRE s limit=3 wait=0")["free"], "0")
                drop("@sem:s")
                self.assertEqual(self.a.ok("RELEASE s")["permits"], "1")
                self.assertEqual(self.b.ok("ACQUIRE s limit=3 wait=3s")["permits"], "2")
                self.a.ok("RELEASE s")
                self.b.ok("RELEASE s permits=2")
                self.nothing_left("*sem*", 3)

    def test_keys_run_out_by_themselves(self):
        self.prepare()
        self.a.ok("ACQUIRE s limit=2 permits=2")
        self.b.send("ACQUIRE s limit=2")
        self.waits(self.brokers[1])
        for broker in self.brokers:
            broker.kill()
        self.nothing_left("*sem*", 2 * (self.lease + pad_of(self.lease)) + 1)

    def crowd_of(self, count):
        return [self.client(self.brokers[i % len(self.brokers)]) for i in range(count)]

    def test_never_more_than_the_limit(self):
        """A crowd that asks, releases and drops at random, while connections are cut."""
        self.prepare(count=2)
        chance = random.Random(7)
        crowd = self.crowd_of(10)
        held, asked, grants = {}, {}, 0
        start, cuts = now(), 0
        while now() - start < 6:
            if now() - start > 1 + cuts:
                self.server.cmd("CLIENT", "KILL", "TYPE", "pubsub")
                cuts += 1
            for i, client in enumerate(crowd):
                client.pump()
                client.events.clear()
                if asked.get(i):
                    if not client.replies:
                        continue
                    reply, permits = client.reply(), asked.pop(i)
                    if reply.ok and permits > 0:
                        held[i] = held.get(i, 0) + permits
                        grants += 1
                        self.assertEqual(int(reply["permits"]), held[i])
                    self.assertLessEqual(sum(held.values()), 4, "more than the limit")
                elif chance.random() < 0.01:
                    held.pop(i, None)
                    client.close()
                    crowd[i] = self.client(self.brokers[i % len(self.brokers)])
                elif held.get(i) and chance.random() < 0.5:
                    permits = chance.randint(1, held[i])
                    held[i] -= permits
                    asked[i] = -permits
                    client.send(f"RELEASE s permits={permits}")
                else:
                    permits = chance.randint(1, 3)
                    asked[i] = permits
                    wait = chance.choice(["0", "20ms"] if held.get(i) else ["50ms", "3s"])
                    client.send(f"ACQUIRE s limit=4 permits={permits} wait={wait}")
        self.assertGreater(grants, 100)
        for client in crowd:
            client.close()
        self.nothing_left("*sem*")


class Latches(Synchronizers):
    """A latch seen from two brokers."""

    def test_across_brokers(self):
        self.prepare(lease=3)
        self.a.ok("LATCH l count=3")
        self.b.err("LATCH l count=3", "exists")
        waiting = [self.client(broker) for broker in self.brokers for _ in range(2)]
        for client in waiting:
            client.send("AWAIT l")
        for broker in self.brokers:
            self.waits(broker, 2)
        self.assertEqual(self.b.ok("COUNTDOWN l")["count"], "2")
        let_time_pass(1.5 * self.lease)
        self.assertEqual(self.a.ok("COUNTDOWN l")["count"], "1")
        self.assertTrue(all(client.silent(0.02) for client in waiting))
        start = now()
        self.assertEqual(self.b.ok("COUNTDOWN l")["count"], "0")
        for client in waiting:
            self.assertTrue(client.reply().ok)
        self.assertLess(now() - start, patience(0.5))
        self.assertTrue(self.client(self.brokers[1]).ask("AWAIT l").ok)
        self.assertGreater(self.server.cmd("PTTL", "lock:@latch:l"), 86000000)

    def test_messages_are_lost(self):
        """A broker that missed the message looks, once a lease."""
        self.prepare(via_proxy=True)
        self.a.ok("LATCH l count=1")
        self.a.send("AWAIT l")
        self.waits(self.brokers[0])
        self.through.stalled = True
        self.b.ok("COUNTDOWN l")
        let_time_pass(0.1)
        self.through.cut()
        self.through.stalled = False
        self.assertTrue(self.a.reply(self.longest_wait() + 2).ok)

    def test_a_count_down_is_counted_once(self):
        self.prepare(lease=6, via_proxy=True)
        self.a.ok("LATCH l count=10")
        for drop, left in ((self.through.drop_reply, 8), (self.through.drop_request, 6)):
            with self.subTest(drop.__name__):
                drop("@latch:l")
                self.assertEqual(self.a.ok("COUNTDOWN l by=2")["count"], str(left))
                self.assertTrue(self.through.fired.wait(1))
                self.assertEqual(int(self.server.cmd("HGET", "lock:@latch:l", "count")), left)

    def test_it_is_made_once(self):
        self.prepare(lease=6, via_proxy=True)
        for drop in (self.through.drop_reply, self.through.drop_request):
            name = drop.__name__
            drop("@latch:" + name)
            self.assertEqual(self.a.ok(f"LATCH {name} count=2")["count"], "2")
            self.b.err(f"LATCH {name} count=2", "exists")

    def test_redis_is_away(self):
        self.prepare(lease=1, via_proxy=True)
        self.a.ok("LATCH l count=1")
        self.through.refuse = True
        self.through.cut()
        other, third = self.clients(2, self.brokers[0])
        self.a.send("COUNTDOWN l")
        other.err("AWAIT l wait=300ms", "unavailable")
        third.send("COUNTDOWN l")
        third.shut()
        self.assertEqual(third.reply().status, "CANCELLED")
        self.assertEqual(self.a.reply(5).code, "unavailable")
        self.assertEqual(int(self.server.cmd("HGET", "lock:@latch:l", "count")), 1)

    def test_redis_forgets(self):
        self.prepare(trust_new=False)
        self.a.ok("LATCH l count=1")
        self.a.send("AWAIT l")
        self.b.send("AWAIT l")
        self.waits(self.brokers[1])
        self.server.cmd("FLUSHALL")
        for client in (self.a, self.b):
            reply = client.reply(grace_of(self.lease) + self.lease + 5)
            self.assertEqual(reply.code, "not-found")

    def test_it_survives_a_restart_with_its_data(self):
        self.prepare(trust_new=False, appendonly="yes", appendfsync="always")
        self.a.ok("LATCH l count=2")
        self.b.send("AWAIT l")
        self.waits(self.brokers[1])
        self.a.ok("COUNTDOWN l")
        self.server.restart()
        let_time_pass(grace_of(self.lease) + 0.5)
        self.assertEqual(self.a.ok("COUNTDOWN l")["count"], "0")
        self.assertTrue(self.b.reply().ok)


class Barriers(Synchronizers):
    """Parties from two brokers."""

    def arrive(self, client, parties, options=""):
        client.send(f"BARRIER b parties={parties} {options}".rstrip())

    def complete(self, clients, parties):
        """Everybody is told, with one generation and an index each. Return the generation."""
        replies = [client.reply(10) for client in clients]
        self.assertTrue(all(reply.ok for reply in replies), replies)
        self.assertEqual(len({reply["generation"] for reply in replies}), 1)
        self.assertEqual(sorted(int(reply["index"]) for reply in replies),
                         list(range(parties)))
        return int(replies[0]["generation"])

    def test_across_brokers(self):
        self.prepare()
        third = self.client(self.brokers[0])
        last = 0
        for _ in range(20):
            parties = [self.a, self.b, third]
            for client in parties:
                self.arrive(client, 3)
            generation = self.complete(parties, 3)
            self.assertGreater(generation, last)
            last = generation
        self.nothing_left("*barrier*", 2 * (self.lease + pad_of(self.lease)) + 1)

    def test_in_order_of_arrival(self):
        self.prepare(lease=3)
        self.arrive(self.a, 3)
        self.waits(self.brokers[0])
        eventually(lambda: self.server.cmd("HGET", "lock:@barrier:b", "n") == "1")
        self.arrive(self.b, 3)
        eventually(lambda: self.server.cmd("HGET", "lock:@barrier:b", "n") == "2")
        # The arrivals are kept for longer than a lease.
        let_time_pass(2.5 * self.lease)
        third = self.client(self.brokers[0])
        third.err("BARRIER b parties=4", "mismatch")
        start = now()
        self.arrive(third, 3)
        self.assertEqual([client.reply()["index"] for client in (self.a, self.b, third)],
                         ["2", "1", "0"])
        self.assertLess(now() - start, patience(0.5))

    def test_a_mismatch_across_brokers(self):
        self.prepare()
        self.arrive(self.a, 3)
        eventually(lambda: self.server.cmd("HGET", "lock:@barrier:b", "n") == "1")
        self.b.err("BARRIER b parties=2", "mismatch")
        self.assertTrue(self.a.silent())

    def test_a_party_leaves(self):
        self.prepare()
        leavers = {
            "time-out": lambda client: self.assertEqual(client.reply().status, "TIMEOUT"),
            "drop": lambda client: client.close(),
            "broker": lambda _: self.brokers[1].stop(),
        }
        for how, leave in leavers.items():
            with self.subTest(how):
                leaver = self.client(self.brokers[1])
                self.arrive(self.a, 3)
                self.arrive(leaver, 3, "wait=300ms" if how == "time-out" else "")
                eventually(lambda: self.server.cmd("HGET", "lock:@barrier:b", "n") == "2")
                leave(leaver)
                self.assertEqual(self.a.reply().code, "broken")
        third = self.client(self.brokers[0])
        self.arrive(self.a, 2)
        self.arrive(third, 2)
        self.complete([self.a, third], 2)

    def test_a_broker_with_a_party_is_killed(self):
        self.prepare()
        self.arrive(self.a, 3)
        self.arrive(self.b, 3)
        eventually(lambda: self.server.cmd("HGET", "lock:@barrier:b", "n") == "2")
        start = now()
        self.brokers[1].kill()
        self.assertEqual(self.a.reply(10).code, "broken")
        self.assertLess(now() - start, self.longest_wait())

    def test_data_that_go_back(self):
        """Redis knows the first of two parties of a broker only: both hear that it is broken."""
        self.prepare(lease=3)
        other = self.client(self.brokers[0])
        self.arrive(self.a, 3)
        eventually(lambda: self.server.cmd("HGET", "lock:@barrier:b", "n") == "1")
        before = self.server.cmd("HGETALL", "lock:@barrier:b")
        self.arrive(other, 3)
        eventually(lambda: self.server.cmd("HGET", "lock:@barrier:b", "n") == "2")
        self.server.cmd(
            "EVAL", "redis.call('DEL', KEYS[1]) redis.call('HSET', KEYS[1], unpack(ARGV))",
            1, "lock:@barrier:b", *before)
        self.assertEqual([client.reply().code for client in (self.a, other)], ["broken"] * 2)

    def test_a_generation_that_comes_back(self):
        """Data go back to those of a generation that has tripped since, and one of its parties has
        not heard of that: it waits on, and goes on under a number that nobody was told yet."""
        self.prepare(lease=3, trust_new=False)
        third = self.client(self.brokers[1])
        self.arrive(self.a, 2)
        eventually(lambda: self.server.cmd("HGET", "lock:@barrier:b", "n") == "1")
        before = self.server.cmd("HGETALL", "lock:@barrier:b")
        self.brokers[0].freeze()
        self.arrive(self.b, 2)
        told = int(self.b.reply()["generation"])
        self.server.cmd(
            "EVAL", "redis.call('DEL', KEYS[1]) redis.call('HSET', KEYS[1], unpack(ARGV))"
            " redis.call('HDEL', KEYS[2], 'id')",
            2, "lock:@barrier:b", "lock:@guard", *before)
        self.brokers[0].thaw()
        eventually(lambda: self.server.cmd("HGET", "lock:@guard", "id"), grace_of(self.lease) + 10)
        self.arrive(third, 2)
        self.assertGreater(self.complete([self.a, third], 2), told)

    def test_an_older_generation(self):
        """A party leaves, and data that went back tell that an older generation has tripped."""
        self.prepare(lease=6)
        self.arrive(self.a, 3, "wait=1s")
        eventually(lambda: self.server.cmd("HGET", "lock:@barrier:b", "n") == "1")
        entries = self.server.cmd("HGETALL", "lock:@barrier:b")
        field = next(word for word in entries if word.startswith("b:"))
        gen, _, seq, *rest = self.server.cmd("HGET", "lock:@barrier:b", field).split()
        older = " ".join([str(int(gen) - 1), "t", str(int(seq) - 1), *rest])
        self.server.cmd("HSET", "lock:@barrier:b", field, older)
        self.assertEqual(self.a.reply().status, "TIMEOUT")

    def test_lost_replies(self):
        self.prepare(lease=6, via_proxy=True)
        for drop in (self.through.drop_reply, self.through.drop_request):
            for last in (self.a, self.b):
                first = self.b if last is self.a else self.a
                with self.subTest(drop.__name__, a_is_last=last is self.a):
                    if first is self.a:
                        drop("@barrier:b")
                    self.arrive(first, 2)
                    eventually(lambda: self.server.cmd("HGET", "lock:@barrier:b", "n") == "1")
                    if last is self.a:
                        drop("@barrier:b")
                    self.arrive(last, 2)
                    self.complete([first, last], 2)

    def test_redis_forgets(self):
        self.prepare(trust_new=False)
        for forget in (self.server.restart, lambda: self.server.cmd("FLUSHALL")):
            self.arrive(self.a, 3)
            self.arrive(self.b, 3)
            eventually(lambda: self.server.cmd("HGET", "lock:@barrier:b", "n") == "2")
            forget()
            for client in (self.a, self.b):
                self.assertEqual(client.reply(10).code, "broken")
            self.arrive(self.a, 2)
            self.arrive(self.b, 2)
            self.complete([self.a, self.b], 2)

    def test_redis_comes_back_with_its_data(self):
        """Redis may lack the latest arrivals all the same, so the generation is broken."""
        self.prepare(trust_new=False, appendonly="yes", appendfsync="always")
        self.arrive(self.a, 2)
        eventually(lambda: self.server.cmd("HGET", "lock:@barrier:b", "n") == "1")
        self.server.restart()
        self.assertEqual(self.a.reply(grace_of(self.lease) + 10).code, "broken")

    def test_a_history_that_comes_back(self):
        """As when a bucket of a cluster was elsewhere: higher numbers were told meanwhile."""
        self.prepare(trust_new=False)
        self.arrive(self.a, 2)
        self.arrive(self.b, 2)
        told = self.complete([self.a, self.b], 2) + 1000
        self.server.cmd("SET", "lock:@fence", told)
        self.server.cmd("HDEL", "lock:@guard", "id")
        eventually(lambda: self.server.cmd("HGET", "lock:@guard", "id"), grace_of(self.lease) + 10)
        self.arrive(self.a, 2)
        self.arrive(self.b, 2)
        self.assertGreater(self.complete([self.a, self.b], 2), told)

    def test_an_arrival_that_redis_has_forgotten(self):
        """The generation was complete for the other party; only this broker was not told."""
        self.prepare(via_proxy=True)
        self.arrive(self.b, 2)
        eventually(lambda: self.server.cmd("HGET", "lock:@barrier:b", "n") == "1")
        self.through.refuse = True
        self.through.drop_reply("@barrier:b")
        self.arrive(self.a, 2)
        self.assertTrue(self.b.reply().ok)
        self.server.cmd("FLUSHALL")
        self.through.refuse = False
        self.assertEqual(self.a.reply(15).code, "broken")

    def test_generations_are_complete_or_broken(self):
        """Parties that come, time out and drop at random, while connections are cut."""
        self.prepare()
        chance = random.Random(3)
        crowd = [self.client(self.brokers[i % 2]) for i in range(7)]
        waiting, told, gone = set(), {}, 0
        start, cuts = now(), 0
        while now() - start < 6:
            if now() - start > 1 + cuts:
                self.server.cmd("CLIENT", "KILL", "TYPE", "pubsub")
                cuts += 1
            for i, client in enumerate(crowd):
                client.pump()
                if i not in waiting:
                    self.arrive(client, 3, chance.choice(["", "", "wait=200ms", "wait=0"]))
                    waiting.add(i)
                elif client.replies:
                    waiting.discard(i)
                    reply = client.reply()
                    if reply.ok:
                        told.setdefault(reply["generation"], []).append(reply["index"])
                elif chance.random() < 0.0005:
                    client.close()
                    gone += 1
                    waiting.discard(i)
                    crowd[i] = self.client(self.brokers[i % 2])
        # Requests that are under way still are.
        for i in waiting:
            crowd[i].shut()
        for i in waiting:
            reply = crowd[i].reply()
            if reply.ok:
                told.setdefault(reply["generation"], []).append(reply["index"])
        self.assertGreater(len(told), 50)
        for generation, indexes in told.items():
            self.assertEqual(len(set(indexes)), len(indexes), generation)
        incomplete = [indexes for indexes in told.values() if len(indexes) != 3]
        self.assertLessEqual(len(incomplete), gone, incomplete)
