"""Clocks that jump or go wrong: of a server, of one of several, of a broker.

What is held is put back by its broker, and nothing new is granted meanwhile
(src/core/kernel/guard/DESIGN).
A server's clock is seen by its keys, which run out by it; the broker's own time is that since
boot, whatever the time of day.
"""

import os
import re
import time

from lib.case import SystemTest, grace_of, pad_of, stall_of, top_fence
from lib.history import Contender, check_history, stop_contenders
from lib.resp import Resp
from lib.sentinel import NAME, Watched
from lib.wait import eventually, let_time_pass, now, parse_ms, patience

HOUR = 3600


class ClockTest(SystemTest):
    """A holder of `held` with the fence `fence`; and a rival at another broker."""

    limit = 60

    def lost(self):
        self.holder.pump()
        return [line for line in self.holder.events if line.status == "!LOST"]

    def assert_kept(self):
        self.assertEqual(self.holder.ok("LOCK held").fence, self.fence)
        self.holder.ok("UNLOCK held")
        self.assertEqual(self.lost(), [])

    def is_given_back(self):
        """The holder gives it back, if it still has it; the rival, who waits, gets it then."""
        if not self.rival.silent():
            self.assertTrue(self.lost(), "granted twice")
        else:
            self.holder.ask("UNLOCK held")
        self.assertGreater(self.rival.reply(grace_of(self.lease) + 10).fence, self.fence)


class OfServer(ClockTest):
    """One Redis whose clock jumps; two brokers."""

    def prepare(self, lease=2):
        self.lease = lease
        self.grace = grace_of(lease)
        self.time = self.clock()
        self.server = self.redis(clock=self.time)
        for _ in range(2):
            self.broker(self.server, lease=lease, trust_new=True,
                        redis={"reply_timeout": "500ms"})
        self.holder, self.other = self.client(), self.client()
        self.rival = self.client(self.brokers[1])
        self.fence = self.holder.lock("held")

    def server_time(self):
        return int(self.server.cmd("TIME")[0])

    def test_the_shim(self):
        """The other tests rely on this: it is the server's time that jumps."""
        self.time = self.clock()
        self.server = self.redis(clock=self.time)
        self.server.cmd("SET", "key", "1", "PX", 60000)
        self.time.step(30)
        self.assert_within(28, self.server_time() - time.time(), 32)
        self.assert_within(1, self.server.cmd("PTTL", "key"), 30000)
        self.time.step(-90)
        self.assert_within(-62, self.server_time() - time.time(), -58)
        self.time.step(200)
        self.assertIsNone(self.server.cmd("GET", "key"))

    def jump(self, seconds):
        """Forward: every key is gone at once. The holder keeps its lock, the rival waits."""
        self.rival.send("LOCK held")
        eventually(lambda: self.client(self.brokers[1]).ok("STATUS held")["waiters"] == "1")
        stepped = now()
        self.time.step(seconds)
        self.assertEqual(self.other.ask("TRYLOCK new").code, "unavailable")
        eventually(lambda: top_fence(self.server.get("held")) >= self.fence, 3,
                   "the lease is put back")
        self.assertGreater(self.other.lock("new", timeout=self.grace + 10), self.fence)
        self.assertGreater(now() - stepped, self.grace - 0.05)
        self.assert_kept()
        self.is_given_back()

    def test_forward_by_more_than_a_lease(self):
        self.prepare()
        self.jump(2 * (self.lease + pad_of(self.lease)))

    def test_forward_by_an_hour(self):
        self.prepare()
        self.jump(HOUR)

    def test_forward_by_less_than_stall_costs_nothing(self):
        """The pad of the keys makes up for it."""
        self.prepare(lease=4)
        for _ in range(4):
            self.time.step(stall_of(4) / 3)
            self.other.lock("new", timeout=patience(1))
            self.other.ok("UNLOCK new")
            let_time_pass(0.3)
        self.assert_kept()

    def prepare_tokens(self):
        self.prepare(lease=4)
        clients = [Resp(f"127.0.0.1:{broker.port}") for broker in self.brokers]
        for client in clients:
            self.addCleanup(client.close)
        return clients

    def test_a_time_of_the_day_is_that_of_redis(self):
        """PXAT and EXAT count by the clock of Redis, not by those of brokers."""
        one, other = self.prepare_tokens()
        self.time.step(-HOUR)
        eventually(lambda: one("SET", "set", "t", "NX", "PX", 1) == "OK", 10)
        eventually(lambda: other("SET", "too", "t", "NX", "PX", 1) == "OK", 10)
        at = self.server_time() + 30
        self.assertEqual(one("SET", "a", "t", "NX", "EXAT", at), "OK")
        self.assertEqual(other("SET", "b", "t", "NX", "PXAT", 1000 * at), "OK")
        for name in ("a", "b"):
            self.assert_within(25000, other("PTTL", name), 31000, name)

    def test_forward_by_less_than_stall_ends_no_short_token_hold(self):
        one, other = self.prepare_tokens()
        self.assertEqual(one("SET", "job", "t", "NX", "PX", 500), "OK")
        start = now()
        self.time.step(stall_of(4) / 2)
        self.assertIsNone(other("SET", "job", "u", "NX", "PX", 1000))
        self.assertLess(now() - start, 0.5, "the machine is too slow for this test")

    def test_forward_by_less_than_stall_shortens_no_token_hold(self):
        """The keys of token holds have a pad, too, and their broker gives back what steps take
        from it."""
        one, other = self.prepare_tokens()
        start = now()
        self.assertEqual(one("SET", "job", "t", "NX", "PX", 6000), "OK")
        for _ in range(4):
            self.time.step(stall_of(4) / 2)
            let_time_pass(1)
        eventually(lambda: other("SET", "job", "u", "NX", "PX", 1000) == "OK", 10)
        self.assert_within(6, now() - start, patience(7, start))

    def test_beyond_what_fences_can_count(self):
        """Nothing is granted, and the reason is told; all is well once the clock is set right."""
        self.prepare()
        far = 2 ** 53 / 10 ** 6 - time.time() + 1
        self.time.step(far)
        refused = self.other.ask("TRYLOCK new")
        self.assertEqual(refused.code, "unavailable")
        self.assertIn("2255", refused.text)
        self.time.step(-far)
        self.assertGreater(self.other.lock("new", timeout=self.grace + 10), self.fence)
        self.rival.send("LOCK held")
        self.is_given_back()

    def test_back_by_an_hour(self):
        """Keys live longer than they should, until their lease is renewed; fences rise."""
        self.prepare()
        self.rival.send("LOCK held")
        self.time.step(-HOUR)
        longest = 1000 * (self.lease + pad_of(self.lease))
        eventually(lambda: 0 < (self.server.pttl("held") or 0) <= longest, self.lease + 2,
                   "the key ends with its lease again")
        last = self.other.lock("new")
        self.assertGreater(last, self.fence)
        self.assert_kept()
        self.assertTrue(self.rival.silent(), "granted twice")
        self.holder.ok("UNLOCK held")
        self.assertGreater(self.rival.reply(5).fence, last)

    def test_back_by_an_hour_and_its_broker_killed(self):
        """The rival waits for what the key says, and gets it when the clock is set right."""
        self.prepare()
        self.rival.send("LOCK held")
        eventually(lambda: self.client(self.brokers[1]).ok("STATUS held")["waiters"] == "1")
        self.brokers[0].kill()
        self.time.step(-HOUR)
        self.assertTrue(self.rival.silent(self.lease))
        self.time.step(HOUR)
        self.assertGreater(self.rival.reply(self.grace + 10).fence, self.fence)

    def test_forward_while_redis_is_frozen(self):
        """As if the machine had slept: every lease is over when it wakes."""
        self.prepare(lease=1)
        self.rival.send("LOCK held")
        self.server.freeze()
        told = self.holder.event(5, kind="LOST")
        self.assertTrue(self.rival.silent())
        self.time.step(HOUR)
        thawed = now()
        self.server.thaw()
        reply = self.rival.reply(self.grace + 10)
        self.assertGreater(reply.fence, told.fence)
        self.assertGreater(reply.at - thawed, self.grace - 0.1)

    def test_a_jump_while_the_only_broker_is_restarted(self):
        """A client has not given back what it held, and counts on its valid=."""
        self.lease = 4
        self.time = self.clock()
        self.server = self.redis(clock=self.time)
        first = self.broker(self.server, lease=self.lease, trust_new=True)
        holder = self.client(first)
        holder.lock("held")
        valid, told = parse_ms(holder.ask("PING")["valid"]) / 1000, now()
        self.assertEqual(first.stop(), 0)
        self.time.step(5 * self.lease)
        rival = self.client(self.broker(self.server, lease=self.lease))
        rival.lock("held", timeout=grace_of(self.lease) + 10)
        self.assertGreater(now() - told, valid - 0.02, "granted twice")

    def test_a_clock_that_runs_too_fast(self):
        """By the one percent that is allowed: nothing is lost, and nobody notices."""
        self.prepare(lease=1)
        self.time.drift(0.01)
        let_time_pass(3)
        self.assert_kept()
        self.assertEqual(self.holder.events, [])
        self.assertEqual(self.rival.ask("TRYLOCK held").status, "BUSY")

    def test_a_history_of_jumps(self):
        self.prepare(lease=1)
        crowd = [Contender(broker.unix_path, "x") for broker in self.brokers for _ in range(2)]
        self.addCleanup(stop_contenders, crowd)
        for one in crowd:
            one.start()
        for seconds in (5, -3, 0.4, -HOUR, HOUR, 60):
            let_time_pass(0.4)
            self.time.step(seconds)
        stop_contenders(crowd, 10, since=now())
        check_history(crowd)


class OfSeveral(ClockTest):
    """A quorum of five, two brokers; clocks of some of the servers jump."""

    lease = 2

    def setUp(self):
        super().setUp()
        self.times = [self.clock() for _ in range(5)]
        self.nodes = [self.redis(clock=one) for one in self.times]
        for _ in range(2):
            self.broker(self.nodes[0], lease=self.lease, ready=True, redis={
                "mode": "quorum", "nodes": [node.address for node in self.nodes],
                "trust_new": True, "reply_timeout": "300ms"})
        self.holder, self.other = self.client(), self.client()
        self.rival = self.client(self.brokers[1])
        self.fence = self.holder.lock("held")
        eventually(lambda: all(node.get("held") for node in self.nodes), 5, "all have it")

    def jump(self, seconds, count):
        for clock in self.times[:count]:
            clock.step(seconds)

    def keeps(self, seconds, count):
        """If a minority jumps, only its brokers notice."""
        self.jump(seconds, count)
        self.assertEqual(self.rival.ask("TRYLOCK held").status, "BUSY")
        last = self.other.lock("new", timeout=5)
        self.assertGreater(last, self.fence)
        self.rival.send("LOCK held")
        let_time_pass(2 * self.lease)
        self.assert_kept()
        self.is_given_back()

    def test_one_forward(self):
        self.keeps(HOUR, 1)

    def test_two_forward(self):
        self.keeps(HOUR, 2)

    def test_one_back(self):
        self.keeps(-HOUR, 1)

    def test_three_forward(self):
        """Most of its keys are gone. The rival is granted nothing while the holder's lease is
        vouched for."""
        self.rival.send("LOCK held")
        stepped = now()
        self.jump(HOUR, 3)
        # A majority has an unknown past: it grants nothing new for one grace.
        self.assertEqual(self.other.ask("TRYLOCK new").code, "unavailable")
        self.assertTrue(self.rival.silent(), "granted twice")
        last = self.other.lock("new", timeout=grace_of(self.lease) + 10)
        self.assertGreater(last, self.fence)
        self.assertGreater(now() - stepped, grace_of(self.lease) - 0.1)
        self.is_given_back()


class BehindSentinels(ClockTest):
    """The clock of the master jumps, or that of its replica, or of a Sentinel."""

    def prepare(self, lease=2, **watched):
        self.lease = lease
        self.grace = grace_of(lease)
        self.watched = Watched(self, down_after=lease, **watched)
        for _ in range(2):
            self.broker(self.watched.addresses[0], lease=lease, ready=False, redis={
                "mode": "sentinel", "nodes": self.watched.addresses, "master": NAME,
                "replicas": 1, "trust_new": True})
        for broker in self.brokers:
            broker.wait_granting()
        self.holder, self.other = self.client(), self.client()
        self.rival = self.client(self.brokers[1])
        self.fence = self.holder.lock("held")

    def test_the_master_forward(self):
        times = [self.clock(), self.clock()]
        self.prepare(clocks=times)
        self.rival.send("LOCK held")
        stepped = now()
        times[0].step(2 * self.lease + 5)
        self.assertEqual(self.other.ask("TRYLOCK new").code, "unavailable")
        eventually(lambda: top_fence(self.watched.replica.get("held")) >= self.fence, 3,
                   "the lease is put back, and replicated")
        self.assertGreater(self.other.lock("new", timeout=self.grace + 10), self.fence)
        self.assertGreater(now() - stepped, self.grace - 0.05)
        self.assert_kept()
        self.is_given_back()

    def test_the_replica_is_ahead_when_promoted(self):
        """For the server all leases are over; the holder's broker writes its own again."""
        times = [self.clock(), self.clock()]
        self.prepare(lease=4, clocks=times)
        old, new = self.watched.servers
        self.rival.send("LOCK held")
        times[1].step(30)
        old.kill()
        promoted = self.watched.promoted(new)
        third = self.redis(tcp=True)
        self.watched.attach(third, new)
        eventually(lambda: self.brokers[0].log_lines("master-changed"), 15, "it is followed")
        last = self.other.lock("new", timeout=self.grace + 15)
        self.assertGreater(last, self.fence)
        self.assertGreater(last, (time.time() + 15) * 1000000, "not by its clock")
        self.assertGreater(now() - promoted, self.grace - 0.1)
        self.is_given_back()

    def test_a_sentinel_in_tilt(self):
        """Its clock jumps: it says so, and the master stays."""
        tilt = self.clock()
        self.prepare(sentinel_clock=tilt)
        for seconds in (HOUR, -HOUR):
            tilt.step(seconds)
            eventually(lambda: self.watched.sentinels[0].is_tilted(), 5, "in TILT")
            self.assertGreater(self.other.lock("new"), self.fence)
            self.other.ok("UNLOCK new")
        eventually(lambda: self.brokers[0].log_lines("sentinel-tilt"), 5)
        self.assertEqual(self.brokers[0].log_lines("master-changed|sentinel-down"), [])
        self.assertEqual(self.lost(), [])


class OfBroker(ClockTest):
    """Its own clocks."""

    lease = 2

    def setUp(self):
        super().setUp()
        self.server = self.redis()
        self.time = self.clock()
        for clock in (self.time, None):
            self.broker(self.server, lease=self.lease, trust_new=True, clock=clock)
        self.holder, self.other = self.client(), self.client()
        self.rival = self.client(self.brokers[1])
        self.fence = self.holder.lock("held")

    def test_a_machine_that_was_paused_with_its_clocks(self):
        """As after a snapshot: the broker's time stood still, but the server's went on."""
        broker = self.brokers[0]
        broker.freeze()
        paused = now()
        fence = self.rival.lock("held", timeout=30)
        self.assertGreater(fence, self.fence)
        self.time.suspend(paused - now())
        broker.thaw()
        thawed = now()
        self.assertEqual(self.holder.event(5, kind="LOST").words[1], "held")
        self.assertLess(now() - thawed, patience(stall_of(self.lease)))
        self.assertTrue(broker.log_lines("clock-gained"))
        self.assertEqual(self.holder.ask("TRYLOCK held").status, "BUSY")

    def test_the_time_of_day_means_nothing(self):
        """Except for the times of log lines."""
        last = self.fence
        for seconds in (HOUR, -2 * HOUR):
            self.time.step(seconds)
            self.other.send("LOCK wait wait=100ms", "LOCK held wait=200ms")
            last, before = self.other.reply().fence, last
            self.assertGreater(last, before)
            self.assertEqual(self.other.reply().status, "TIMEOUT")
            self.other.ok("UNLOCK wait")
            let_time_pass(self.lease / 2)
        self.assertEqual(self.holder.ok("LOCK held").fence, self.fence)
        self.assertEqual(self.holder.events, [])
        self.assertEqual(self.rival.ask("TRYLOCK held").status, "BUSY")

    def test_a_machine_that_sleeps_for_longer_than_the_lease(self):
        """When it wakes, it tells what it has lost before it says anything else."""
        self.rival.send("LOCK held")
        self.brokers[0].freeze()
        self.holder.send("PING", "UNLOCK held")
        self.other.send("LOCK held wait=5s")
        let_time_pass(0.2)
        self.time.suspend(HOUR)
        self.brokers[0].thaw()
        told = self.holder.event(5)
        self.assertEqual((told.status, told.fence), ("!LOST", self.fence))
        self.assertIs(self.holder.lines[1], told, "something was said before")
        self.assertNotIn("valid", self.holder.reply().fields)
        self.assertEqual(self.holder.reply().code, "lost")
        self.assertGreater(self.rival.reply(10).fence, self.fence)
        self.assertFalse(self.other.reply(10).ok)

    def test_a_nap_loses_nothing(self):
        self.time.suspend(self.lease / 4)
        let_time_pass(self.lease)
        self.assertEqual(self.holder.ok("LOCK held").fence, self.fence)
        self.assertEqual(self.lost(), [])

    def test_an_idle_broker_wakes_with_its_machine(self):
        """Whatever ran out meanwhile is told at once, and not when some timer fires that slept,
        too."""
        alone = self.redis()
        holder = self.client(self.broker(alone, lease=10, trust_new=True, clock=self.time))
        for second in (1, 2):
            name = f"nap-{second}"
            holder.lock(name)
            # With this lease a broker calls once a second: the next call is far.
            before = self.calls(alone)
            eventually(lambda: self.calls(alone) > before, 5, "a heartbeat")
            woken = now()
            self.time.suspend(60)
            told = holder.event(5, kind="LOST")
            self.assertEqual(told.words[1], name)
            self.assertLess(told.at - woken, 0.5)

    @staticmethod
    def calls(server):
        """How many scripts Redis has run."""
        return sum(int(calls) for calls in
                   re.findall(r"cmdstat_evalsha:calls=(\d+)",
                              server.cmd("INFO", "commandstats")))
