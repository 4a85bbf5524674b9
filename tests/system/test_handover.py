"""Three brokers on one Redis: how soon a name passes from one to the next, whatever dies meanwhile;
how fairly; and what waiting costs."""

import re
import select

from lib.case import SystemTest, pad_of
from lib.client import Client
from lib.fairness import jain
from lib.wait import eventually, let_time_pass, now, patience

LATE = 0.2  # seconds that a grant may be late, on an idle machine
CALLS = ("evalsha", "eval", "ping", "wait", "publish", "script|load", "config|get")


class ThreeBrokers(SystemTest):
    """The holder is at the first broker; the second and the third wait, in this order."""

    limit = 40

    def prepare(self, lease=10, proxied=None):
        """`proxied` is the number of the broker that reaches Redis through self.through."""
        self.lease = lease
        self.server = self.redis()
        self.through = self.proxy(self.server) if proxied is not None else None
        for i in range(3):
            self.broker(self.through.address if i == proxied else self.server,
                        trust_new=True, lease=lease)
        self.a, self.b, self.c = self.each = [self.client(one) for one in self.brokers]

    def queue(self, name="x"):
        return self.server.cmd("LRANGE", f"lock:@queue:{name}", "0", "-1")

    def line_up(self, *clients, name="x"):
        for client in clients:
            before = len(self.queue(name))
            client.send(f"LOCK {name}")
            eventually(lambda: len(self.queue(name)) == before + 1, what="it is in the queue")

    def hold_and_line_up(self):
        self.fence = self.a.lock("x")
        self.line_up(self.b, self.c)

    def given(self, client, since, soonest, latest, what):
        """The grant comes within these seconds, with a higher fence."""
        reply = client.reply(latest + 10)
        self.assertTrue(reply.ok, reply)
        self.assertGreater(reply.fence, self.fence)
        self.fence = reply.fence
        took = reply.at - since
        self.assertGreaterEqual(took, soonest, what)
        self.assertLess(took, patience(latest, since), what)
        return reply

    def handover_lease(self):
        """How long others wait for an heir that says nothing."""
        return 2 * pad_of(self.lease)


class Speed(ThreeBrokers):
    def test_a_handover_is_prompt(self):
        """p99 under 5 ms."""
        self.prepare()
        late, rounds, begin = [], 200, now()
        self.fence = self.a.lock("x")
        holder, heirs = self.a, [self.b, self.c]
        for i in range(rounds):
            heir = heirs[i % 2]
            self.line_up(heir)
            start = now()
            holder.send("UNLOCK x")
            reply = heir.reply(10)
            took = reply.at - start
            self.assertGreater(reply.fence, self.fence)
            self.fence = reply.fence
            self.assertTrue(holder.reply().ok)
            if took > patience(0.005, start):
                late.append(took)
            heirs[i % 2], holder = holder, heir
        busy = patience(0, begin) > 0
        self.assertLessEqual(len(late), rounds // (10 if busy else 100), f"late: {late}")

    def test_a_handover_is_one_call(self):
        """The heir grants without asking."""
        self.prepare()
        self.a.lock("x")
        holder, heir = self.a, self.b
        rounds, more = 50, 0
        for _ in range(rounds):
            self.line_up(heir)
            before = self.server.calls("evalsha")
            holder.ok("UNLOCK x")
            self.assertTrue(heir.reply(10).ok)
            more += self.server.calls("evalsha") - before > 1
            holder, heir = heir, holder
        # A heartbeat may come between, and a broker that hears of a handover late asks.
        self.assertLess(more, rounds // 2)


class Cost(ThreeBrokers):
    def test_waiting_costs_next_to_nothing(self):
        """100 waiters for a name that is held make fewer than 20 calls a second, all brokers
        together."""
        self.prepare()
        self.a.lock("x")
        crowd = [self.client(self.brokers[i % 3]) for i in range(100)]
        for one in crowd:
            one.send("LOCK x")
        eventually(lambda: len(self.queue()) == 2 and self.waiting() == 100)
        seconds = 5
        start, before = now(), sum(self.server.calls(call) for call in CALLS)
        let_time_pass(seconds)
        calls = sum(self.server.calls(call) for call in CALLS) - before
        self.assertLess(calls, 20 * (now() - start))
        self.assertGreater(calls, 0)
        self.assertTrue(all(one.silent(0) for one in crowd))

    def waiting(self):
        return sum(int(one.stats()["waiters"]) for one in self.each)

    def test_a_thousand_waiters_are_one_entry(self):
        """...and one attempt, which all requests share that come while it is under way."""
        self.prepare(proxied=1)
        self.a.lock("x")
        self.through.delay = 0.1
        before = self.server.calls("lpos")
        crowd = [self.client(self.brokers[1]) for _ in range(4)]
        for i, one in enumerate(crowd):
            one.send(*[f"@{tag} LOCK x" for tag in range(250)])
            eventually(lambda: int(self.b.stats()["waiters"]) == 250 * (i + 1))
        eventually(lambda: len(self.queue()) == 1)
        let_time_pass(1)
        # Only an acquire that may queue up asks for places.
        self.assertEqual(self.server.calls("lpos") - before, 1)
        self.assertEqual(len(self.queue()), 1)
        self.through.delay = 0
        self.a.ok("UNLOCK x")
        self.assertTrue(crowd[0].reply(tag="0").ok)
        self.assertEqual(self.queue(), [])


class Fairness(ThreeBrokers):
    def test_clients_of_three_brokers_get_the_same(self):
        """Jain's index of the grants of their clients, in five seconds."""
        self.prepare()
        crowd = {}
        for broker in self.brokers:
            for _ in range(4):
                client = Client(broker.unix_path)
                self.addCleanup(client.close)
                crowd[client.sock.fileno()] = client
        counts = self.contend(crowd, 5)
        self.assertGreater(sum(counts), 500)
        self.assertGreaterEqual(jain(counts), 0.95, counts)

    @staticmethod
    def contend(crowd, seconds):
        """Each client locks, unlocks at once, and locks again. Return how often each was granted
        it."""
        counts = dict.fromkeys(crowd, 0)
        for client in crowd.values():
            client.send("LOCK x")
        end = now() + seconds
        while now() < end:
            for number in select.select(list(crowd), [], [], 0.1)[0]:
                client = crowd[number]
                client.pump()
                while client.replies:
                    reply = client.replies.pop(0)
                    assert reply.ok, reply
                    if "fence" in reply.fields:
                        counts[number] += 1
                        client.send("UNLOCK x")
                    else:
                        client.send("LOCK x")
        return list(counts.values())


class HoldersBroker(ThreeBrokers):
    """What happens if the holder's broker dies, freezes or is cut off."""

    def key_end(self, name="x"):
        return now() + self.server.pttl(name) / 1000

    def shared_for(self, name="x"):
        """How long the first of the sharers to run out has the name."""
        first = self.server.cmd("ZRANGE", f"lock:@shared:{name}", "0", "0", "WITHSCORES")
        seconds, micros = map(int, self.server.cmd("TIME"))
        return int(first[1]) / 1000 - seconds - micros / 1e6

    def test_killed(self):
        self.prepare(lease=2)
        self.hold_and_line_up()
        end = self.key_end()
        self.brokers[0].kill()
        killed = now()
        self.given(self.b, killed, end - killed - 0.05, end - killed + LATE, "the next")
        start = now()
        self.b.ok("UNLOCK x")
        self.given(self.c, start, 0, LATE, "the one after")

    def test_killed_with_a_delay(self):
        self.prepare(lease=2)
        self.fence = self.a.lock("x", "delay=1s")
        self.line_up(self.b, self.c)
        end = self.key_end()
        self.assertGreater(end - now(), 2 + pad_of(2))
        self.brokers[0].kill()
        killed = now()
        self.given(self.b, killed, end - killed - 0.05, end - killed + LATE, "the next")

    def test_the_delay_of_a_dead_sharer_outlasts_the_others(self):
        self.prepare(proxied=0)
        self.fence = self.a.lock("x", "mode=shared delay=1s")
        self.b.lock("x", "mode=shared")
        self.line_up(self.c)
        died = now()
        self.a.reset()
        eventually(lambda: self.shared_for() < 2, what="only the delay is left of its lease")
        self.through.delay = 0.2  # its end comes when it has just run out
        self.b.ok("UNLOCK x")
        self.given(self.c, died, 0.98, 1.2 + LATE, "the next")

    def test_frozen(self):
        self.prepare(lease=2)
        self.hold_and_line_up()
        self.brokers[0].freeze()
        frozen, end = now(), self.key_end()
        lost = self.fence
        self.given(self.b, frozen, end - frozen - 0.05, end - frozen + LATE, "the next")
        self.brokers[0].thaw()
        self.assertEqual(self.a.event(10, kind="LOST").fence, lost)
        start = now()
        self.b.ok("UNLOCK x")
        self.given(self.c, start, 0, LATE, "the one after")

    def test_cut_for_a_moment(self):
        self.prepare(lease=2, proxied=0)
        self.hold_and_line_up()
        self.through.cut()
        let_time_pass(1.5 * self.lease)
        self.assertTrue(self.a.silent() and self.b.silent() and self.c.silent())
        start = now()
        self.a.ok("UNLOCK x")
        self.given(self.b, start, 0, LATE, "the next")

    def test_cut_off(self):
        self.prepare(lease=2, proxied=0)
        self.hold_and_line_up()
        self.through.refuse = True
        self.through.cut()
        start, end = now(), self.key_end()
        lost = self.fence
        self.assertEqual(self.a.event(10, kind="LOST").fence, lost)
        self.assertTrue(self.b.silent(0), "granted before it was lost")
        self.given(self.b, start, end - start - 0.05, end - start + LATE, "the next")


class QueuedBroker(ThreeBrokers):
    """What happens if the next broker in the queue dies, freezes or is cut off."""

    def release(self):
        """UNLOCK at the first broker; return when that was."""
        start = now()
        self.a.ok("UNLOCK x")
        return start

    def test_killed(self):
        """Dead brokers are skipped at once."""
        self.prepare()
        self.hold_and_line_up()
        self.brokers[1].kill()
        self.given(self.c, self.release(), 0, LATE, "the next that lives")
        self.assertEqual(self.queue(), [])

    def test_frozen(self):
        """The heir is given the name, and says nothing; then the one after it gets the name."""
        self.prepare(lease=2)
        self.hold_and_line_up()
        self.brokers[1].freeze()
        self.given(self.c, self.release(), self.handover_lease() - 0.05,
                   self.handover_lease() + LATE, "the one after the frozen")
        self.brokers[1].thaw()
        self.assertTrue(self.b.silent(0.3), "held twice")
        start = now()
        self.c.ok("UNLOCK x")
        self.given(self.b, start, 0, self.lease + LATE, "the frozen")

    def test_frozen_for_a_moment(self):
        """The heir hears of it late, and must ask whether the name is still its own."""
        self.prepare(lease=4)
        self.hold_and_line_up()
        self.brokers[1].freeze()
        start = self.release()
        let_time_pass(pad_of(self.lease) * 0.6)
        self.brokers[1].thaw()
        self.given(self.b, start, 0, pad_of(self.lease) * 0.6 + LATE, "the frozen")
        let_time_pass(self.handover_lease() + LATE)
        self.assertTrue(self.b.silent(0) and self.c.silent(0), "held twice")
        start = now()
        self.b.ok("UNLOCK x")
        self.given(self.c, start, 0, LATE, "the one after")

    def test_messages_cut(self):
        """Subscriptions end before the release: waiting brokers look as soon as they listen
        again."""
        self.prepare(lease=2)
        self.hold_and_line_up()
        self.server.cmd("CLIENT", "KILL", "TYPE", "pubsub")
        start = self.release()
        first = eventually(lambda: next(
            (one for one in (self.b, self.c) if one.pump() or one.replies), None), 10)
        self.given(first, start, 0, self.handover_lease() + LATE, "one of them")
        other = self.c if first is self.b else self.b
        start = now()
        first.ok("UNLOCK x")
        self.given(other, start, 0, self.handover_lease() + LATE, "the other")

    def test_all_cut(self):
        self.prepare(lease=2, proxied=1)
        self.hold_and_line_up()
        self.through.cut()
        start = self.release()
        first = eventually(lambda: next(
            (one for one in (self.b, self.c) if one.pump() or one.replies), None), 10)
        self.given(first, start, 0, self.handover_lease() + LATE, "one of them")
        other = self.c if first is self.b else self.b
        start = now()
        first.ok("UNLOCK x")
        self.given(other, start, 0, self.lease + pad_of(self.lease) + LATE, "the other")

    def test_cancelled_in_the_moment_of_the_grant(self):
        """Either it was granted, and is released, or it was not; in both cases the next one gets
        it."""
        self.prepare()
        self.fence = self.a.lock("x")
        for _ in range(20):
            self.b.send("@1 LOCK x")
            eventually(lambda: len(self.queue()) == 1)
            self.line_up(self.c)
            self.a.send("UNLOCK x")
            self.b.send("CANCEL 1")
            outcome = self.b.reply(tag="1")
            self.assertTrue(self.a.reply().ok)
            self.assertTrue(self.b.reply())
            start = now()
            if outcome.ok:
                self.b.ok("UNLOCK x")
            self.given(self.c, start, -1, LATE, "the next")
            self.c.ok("UNLOCK x")
            self.fence = self.a.lock("x")


class HeirsBroker(ThreeBrokers):
    """What happens if a broker that was just given a name dies, freezes or is cut off."""

    def hand_over(self):
        """To the second broker, which is kept from hearing of it."""
        self.through.stalled = True
        start = now()
        self.a.ok("UNLOCK x")
        eventually(lambda: re.match(r"b2\.", self.server.get("x") or ""), what="it is b2's")
        return start

    def test_does_not_hear_of_it(self):
        """The message comes when another has the name: it must not count."""
        self.prepare(lease=2, proxied=1)
        self.hold_and_line_up()
        start = self.hand_over()
        self.given(self.c, start, self.handover_lease() - 0.05, self.handover_lease() + LATE,
                   "the one after")
        self.through.stalled = False
        self.assertTrue(self.b.silent(0.3), "held twice")
        start = now()
        self.c.ok("UNLOCK x")
        self.given(self.b, start, 0, self.lease + pad_of(self.lease) + LATE, "the first heir")

    def test_killed(self):
        self.prepare(lease=2, proxied=1)
        self.hold_and_line_up()
        start = self.hand_over()
        self.brokers[1].kill()
        self.given(self.c, start, self.handover_lease() - 0.05, self.handover_lease() + LATE,
                   "the one after")

    def test_cut_off_after_it_granted(self):
        """It holds by the message alone: it tells the loss before another is granted the name."""
        self.prepare(lease=2, proxied=1)
        self.hold_and_line_up()
        self.through.notice("keep")
        start = now()
        self.a.ok("UNLOCK x")
        self.given(self.b, start, 0, LATE, "the heir")
        self.through.stalled = True
        lost = self.fence
        if self.through.fired.is_set():
            self.skipTest("it was renewed already")
        self.assertEqual(self.b.event(10, kind="LOST").fence, lost)
        self.assertLess(now() - start, patience(pad_of(self.lease), start))
        self.assertTrue(self.c.silent(0), "granted before it was lost")
        self.given(self.c, start, self.handover_lease() - 0.05, self.handover_lease() + LATE,
                   "the one after")

    def test_killed_after_it_granted(self):
        self.prepare(lease=2)
        self.hold_and_line_up()
        start = now()
        self.a.ok("UNLOCK x")
        self.given(self.b, start, 0, LATE, "the heir")
        self.brokers[1].kill()
        end = now() + self.server.pttl("x") / 1000
        self.given(self.c, start, end - start - 0.05, end - start + LATE, "the one after")


class OneBroker(SystemTest):
    def test_passes_on_while_a_renewal_is_under_way(self):
        """Whatever Redis does, as long as the lease is vouched for."""
        server = self.redis()
        through = self.proxy(server)
        self.broker(through.address, trust_new=True, lease=12)
        holder, waiter = self.clients(2)
        fence = holder.lock("x")
        waiter.send("LOCK x")
        eventually(lambda: int(server.get("@fence")) > fence, what="the next fence is drawn")
        through.notice("keep")
        through.delay = 0.3  # each way; `fired` is between
        eventually(through.fired.is_set, what="it is renewed")
        through.stalled = True
        start = now()
        holder.send("UNLOCK x")
        self.assertGreater(waiter.reply(5).fence, fence)
        self.assertLess(now() - start, patience(LATE, start))
        through.delay, through.stalled = 0, False
        self.assertTrue(holder.reply().ok)
        waiter.ok("UNLOCK x")
