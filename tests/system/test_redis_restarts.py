"""Redis killed, emptied, frozen, cut off: nobody is granted what another still has.

core/kernel/guard/DESIGN: after such a change nothing new is granted for one grace G, while brokers
put back what they hold. The tests here do without trust_new, so each starts with one G.
"""

import time

from lib.case import SystemTest, grace_of, stall_of
from lib.wait import eventually, let_time_pass, now, parse_ms, patience


class Restarts(SystemTest):
    """One broker, one Redis; a holder, a waiter, and a client that wants something new."""

    limit = 60

    def prepare(self, lease=1, via_proxy=False, **options):
        self.lease = lease
        self.grace = grace_of(lease)
        self.server = self.redis(**options)
        if via_proxy:
            self.through = self.proxy(self.server)
        # TRYLOCK waits for Redis for so long; it must be answered well within the grace period.
        self.broker(self.through.address if via_proxy else self.server, lease=lease,
                    redis={"reply_timeout": "500ms"})
        self.holder, self.waiter, self.other = self.clients(3)
        self.fence = self.holder.lock("held", timeout=self.grace + 10)
        self.token, _ = self.lease_of("held")

    def lost(self):
        return [line for line in self.holder.events if line.status == "!LOST"]

    def still_held(self):
        self.assertEqual(self.holder.ok("LOCK held").fence, self.fence)
        self.assertEqual(self.holder.ok("UNLOCK held")["depth"], "1")
        self.assertEqual(self.lost(), [])

    def lease_of(self, name):
        """The token in the key, and the highest fence that it reserves."""
        token, fence = (self.server.get(name) or "|-1").rsplit("|", 1)
        return token, int(fence)

    def put_back(self):
        """Wait until the broker has put its lease back as it was before."""
        def is_back():
            token, fence = self.lease_of("held")
            return token == self.token and fence >= self.fence
        eventually(is_back, 2, "the lease is put back")

    def new_grant_takes_a_grace(self, since):
        self.assertEqual(self.other.ask("TRYLOCK new").code, "unavailable")
        self.other.lock("new", timeout=self.grace + 10)
        self.assertGreater(now() - since, self.grace - 0.05)
        self.assertLess(now() - since, patience(self.grace + 3))

    def test_a_new_server_costs_one_grace(self):
        server = self.redis()
        start = now()
        self.broker(server, lease=1, redis={"reply_timeout": "500ms"})
        client = self.client()
        client.err("TRYLOCK x", "unavailable")
        client.err("LOCK x wait=300ms", "unavailable")
        client.lock("x", timeout=15)
        self.assertGreater(now() - start, grace_of(1) - 0.05)

    def test_trust_new_costs_nothing(self):
        self.broker(self.redis(), trust_new=True, lease=10)
        start = now()
        self.client().lock("x", timeout=15)
        self.assertLess(now() - start, patience(3))

    def test_an_embedded_server_costs_nothing(self):
        self.broker()
        start = now()
        self.client().lock("x", timeout=15)
        self.assertLess(now() - start, patience(3))

    def test_restarted_empty(self):
        self.prepare()
        self.waiter.send("LOCK held")
        killed = now()
        self.server.restart()
        self.put_back()
        self.still_held()
        self.new_grant_takes_a_grace(killed)
        self.still_held()
        self.assertTrue(self.waiter.silent())
        self.holder.ok("UNLOCK held")
        self.assertGreater(self.waiter.reply().fence, self.fence)

    def test_restarted_with_its_data(self):
        self.prepare(appendonly="yes", appendfsync="always")
        killed = now()
        self.server.restart()
        self.new_grant_takes_a_grace(killed)
        self.still_held()

    def test_restarted_with_data_of_long_ago(self):
        self.prepare(lease=3)
        past = self.holder.lock("past")
        self.server.cmd("SAVE")
        self.holder.ok("UNLOCK past")
        again = self.other.lock("past")
        self.assertGreater(again, past)
        killed = now()
        self.server.restart()
        eventually(lambda: self.lease_of("past")[1] >= again, 3,
                   "the newer lease replaces the older one")
        self.new_grant_takes_a_grace(killed)
        self.assertEqual(self.other.ok("LOCK past").fence, again)
        self.still_held()

    def test_restarted_with_a_share_of_long_ago(self):
        """Only a keep= of that time is left of it: who shares the name now has a fence of now."""
        self.prepare()
        second = self.client(self.broker(self.server, lease=1))
        keeper = self.client()
        old = keeper.ok("LOCK past mode=shared keep=30s", timeout=self.grace + 10).fence
        self.assertEqual(second.ok("LOCK past mode=shared", timeout=self.grace + 10).fence, old)
        keeper.close()
        eventually(lambda: self.share_ends("past") > 20, 3, "the name is kept")
        self.server.cmd("SAVE")
        second.ok("UNLOCK past")
        self.other.ok("UNLOCK-FORCE past")
        newer = self.other.lock("past", timeout=5)
        self.assertGreater(newer, old)
        self.other.ok("UNLOCK past")
        killed = now()
        self.server.restart()
        self.new_grant_takes_a_grace(killed)
        self.assertGreater(self.share_ends("past"), 5)
        shared = second.ok("LOCK past mode=shared", timeout=10).fence
        self.assertGreater(shared, newer)
        self.assertEqual(self.other.ok("LOCK past mode=shared").fence, shared)

    def test_a_share_is_written_again_too_late(self):
        """A renewal comes when its broker vouches no more for what is shared, and others have had
        the name: nobody may join that."""
        self.prepare(via_proxy=True)
        second = self.client(self.broker(self.server, lease=1))
        old = self.holder.ok("LOCK past mode=shared", timeout=self.grace + 10).fence
        self.server.cmd("CONFIG", "SET", "slowlog-log-slower-than", "0")
        self.through.stalled = True
        while self.holder.event(timeout=5, kind="LOST").words[1] != "past":
            pass
        self.brokers[0].freeze()  # it would end what it is said to have
        newer = second.lock("past", timeout=10)
        self.assertGreater(newer, old)
        second.ok("UNLOCK past")
        self.server.cmd("FLUSHALL")
        self.server.cmd("SLOWLOG", "RESET")
        self.through.stalled = False
        eventually(self.renewed_past, 5, "the renewal is carried out")
        self.assertIsNone(self.server.get("past"))

    def renewed_past(self):
        return any("renew" in words and "lock:past" in words
                   for *_, words in (entry[:4] for entry in self.server.cmd("SLOWLOG", "GET", "100")))

    def test_emptied_while_a_broker_that_shares_can_not_tell(self):
        """The other one leaves a keep= behind, and sees nobody else who shares the name."""
        self.prepare(lease=3)
        frozen = self.broker(self.server, lease=3)
        second = self.client(frozen)
        keeper = self.client()
        fence = keeper.ok("LOCK both mode=shared keep=30s", timeout=self.grace + 10).fence
        self.assertEqual(second.ok("LOCK both mode=shared", timeout=5).fence, fence)
        frozen.freeze()
        self.server.cmd("FLUSHALL")
        eventually(lambda: self.server.get("both"), 3, "one broker puts it back")
        keeper.close()
        eventually(lambda: not (self.server.get("both") or "@").startswith("@"), 3,
                   "it has the name alone")
        frozen.thaw()
        eventually(lambda: (self.server.get("both") or "").startswith("@shared"), 3,
                   "they share it again")
        self.assertGreater(self.share_ends("both"), 20)
        self.assertEqual(second.ok("LOCK both mode=shared").fence, fence)
        self.assertEqual(second.events, [])

    def share_ends(self, name):
        """In how many seconds the last of those who share it runs out."""
        last = self.server.cmd("ZRANGE", f"lock:@shared:{name}", "-1", "-1", "WITHSCORES")
        return float(last[1]) / 1000 - time.time() if last else 0

    def test_flushall(self):
        self.prepare()
        flushed = now()
        self.server.cmd("FLUSHALL")
        self.put_back()
        self.new_grant_takes_a_grace(flushed)
        self.still_held()

    def test_flushall_twice(self):
        """The second restart, within the grace period of the first, begins another one."""
        self.prepare()
        self.server.cmd("FLUSHALL")
        self.put_back()
        let_time_pass(self.grace / 2)
        flushed = now()
        self.server.cmd("FLUSHALL")
        self.new_grant_takes_a_grace(flushed)
        self.still_held()

    def test_fences_rise_over_the_loss_of_all_data(self):
        self.prepare()
        self.holder.ok("UNLOCK held")
        for _ in range(200):
            self.fence = self.holder.lock("held")
            self.holder.ok("UNLOCK held")
        self.server.restart()
        self.assertGreater(self.holder.lock("held", timeout=self.grace + 10), self.fence)

    def test_fences_rise_over_the_loss_of_all_data_and_of_the_broker(self):
        """Fences then rest on the server's clock."""
        self.prepare()
        self.brokers[0].kill()
        self.server.restart()
        second = self.broker(self.server, lease=1)
        self.assertGreater(self.client(second).lock("held", timeout=self.grace + 10), self.fence)

    def test_handover_and_reentry_go_on_while_redis_is_unblessed(self):
        self.prepare(lease=2)
        self.waiter.send("LOCK held")
        # The next renewal, at the latest, reserves the waiter's fence.
        let_time_pass(self.lease)
        self.server.restart()
        self.assertEqual(self.other.ask("TRYLOCK new").code, "unavailable")
        self.still_held()
        self.holder.ok("UNLOCK held")
        self.assertGreater(self.waiter.reply(1).fence, self.fence)

    def test_frozen_shorter_than_stall(self):
        self.prepare(lease=3)
        self.server.freeze()
        let_time_pass(0.25)
        self.server.thaw()
        start = now()
        self.other.lock("new")
        self.assertLess(now() - start, patience(1))
        self.still_held()
        self.assertEqual(self.holder.events, [])

    def test_frozen_longer_than_stall(self):
        self.prepare(lease=3)
        self.server.freeze()
        let_time_pass(stall_of(3) + 0.3)
        thawed = now()
        self.server.thaw()
        self.new_grant_takes_a_grace(thawed)
        self.still_held()

    def test_frozen_longer_than_half_a_lease_is_a_risk(self):
        """!ATRISK when half the lease has passed without a renewal, !SAFE when it is confirmed
        again."""
        self.prepare(lease=3)
        self.server.freeze()
        event = self.holder.event(5)
        self.assertEqual((event.status, event.words[1], event.fence),
                         ("!ATRISK", "held", self.fence))
        self.assert_within(1, parse_ms(event["left"]), 1500)
        self.server.thaw()
        event = self.holder.event(3)
        self.assertEqual((event.status, event.words[1], event.fence),
                         ("!SAFE", "held", self.fence))
        let_time_pass(self.lease / 2)
        self.still_held()
        self.assertEqual(self.holder.events, [], "once for each such spell")

    def test_frozen_longer_than_the_lease(self):
        self.prepare()
        self.waiter.send("LOCK held")
        asked = now()
        valid = parse_ms(self.holder.ok("PING")["valid"])
        self.server.freeze()
        self.assertEqual(self.holder.event(3).status, "!ATRISK")
        event = self.holder.event(3)
        self.assertEqual((event.status, event.fence, event["reason"]),
                         ("!LOST", self.fence, "unreachable"))
        self.assertGreater(now() - asked, valid / 1000 - 0.02, "lost before its time")
        self.assertLess(now() - asked, patience(self.lease + 0.4))
        self.assertEqual(self.other.ask("LOCK held wait=300ms").code, "unavailable")
        self.assertEqual(self.other.ask("TRYLOCK held").code, "unavailable")
        self.assertEqual(self.holder.ok("LIST").body, [])
        self.assertTrue(self.waiter.silent())
        self.server.thaw()
        self.assertGreater(self.waiter.reply(self.grace + 10).fence, self.fence)
        self.holder.err("UNLOCK held", "lost")
        self.holder.err("UNLOCK held", "not-held")

    def test_gone_for_longer_than_the_lease(self):
        self.prepare()
        self.server.kill()
        self.assertEqual(self.holder.event(5, kind="LOST")["reason"], "unreachable")
        self.assertEqual(self.holder.ok("STATS").ok, True)
        started = now()
        self.server.start()
        self.assertEqual(self.other.ask("TRYLOCK held").code, "unavailable")
        self.assertGreater(self.other.lock("held", timeout=self.grace + 10), self.fence)
        self.assertGreater(now() - started, self.grace - 0.05)

    def test_valid_is_never_more_than_what_is_vouched_for(self):
        """PING counts down while Redis is frozen, and never past the loss."""
        self.prepare(lease=2)
        self.server.freeze()
        ends = []
        while not self.lost():
            asked = now()
            reply = self.holder.ok("PING")
            if "valid" in reply.fields:
                ends.append(asked + parse_ms(reply["valid"]) / 1000)
            let_time_pass(0.05)
            self.holder.pump()
        lost = self.lost()[0].at
        # The time that a client computes from any reply is over when another could be granted the
        # name.
        self.assertLess(max(ends), lost + 0.1)

    def test_unlock_without_redis_is_deferred(self):
        self.prepare(lease=3)
        self.server.freeze()
        reply = self.holder.ok("UNLOCK held", timeout=6)
        self.assertEqual((reply["depth"], reply["deferred"]), ("0", "1"))
        self.assertEqual(self.holder.ok("LIST").body, [])
        self.holder.err("UNLOCK held", "not-held")
        self.server.thaw()
        eventually(lambda: self.server.get("held") is None, 3, "released after all")

    def test_connections_cut(self):
        self.prepare()
        for _ in range(3):
            self.server.cmd("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            self.server.cmd("CLIENT", "KILL", "TYPE", "pubsub")
            self.other.lock("new")
            self.other.ok("UNLOCK new")
            let_time_pass(self.lease / 2)
        self.still_held()
        self.assertGreaterEqual(int(self.other.stats()["redis_reconnects_total"]), 1)

    def test_blackholed(self):
        """The network swallows everything, and delivers it later."""
        self.prepare(via_proxy=True)
        self.through.stalled = True
        self.assertEqual(self.holder.event(5, kind="LOST")["reason"], "unreachable")
        self.assertEqual(self.other.ask("TRYLOCK held", 5).code, "unavailable")
        self.through.stalled = False
        self.assertGreater(self.other.lock("held", timeout=self.grace + 10), self.fence)

    def test_a_spell_of_refused_connections(self):
        self.prepare(lease=3, via_proxy=True)
        self.through.refuse = True
        self.through.cut()
        before = self.through.connections
        let_time_pass(1)
        self.assertLess(self.through.connections - before, 60, "no pause between attempts")
        self.through.refuse = False
        self.other.lock("new", timeout=10)
        self.still_held()

    def test_stop_of_the_only_broker_while_unblessed(self):
        self.prepare()
        self.server.restart()
        self.assertEqual(self.brokers[0].stop(), 0)
        self.assertIsNone(self.server.get("held"))
