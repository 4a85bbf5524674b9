"""Many brokers that have nothing, on one Redis: they cost it next to nothing, and no promise
depends on their calling often."""

import re

from lib.case import SystemTest, pad_of, stall_of
from lib.wait import eventually, let_time_pass, now, patience

GUARD = "lock:@guard"
LEASE = 2
MARK_LIVES = LEASE + pad_of(LEASE)


class IdleBrokers(SystemTest):
    limit = 90

    def prepare(self, count, as_many_as=0):
        """Add fields that nobody reads, so that the guard looks as if there were so many
        brokers."""
        self.server = self.redis()
        for i in range(as_many_as):
            self.server.cmd("HSET", GUARD, f"x:{i}", "")
        for _ in range(count):
            self.broker(self.server, trust_new=True, lease=LEASE)

    def calls(self, command):
        found = re.search(rf"cmdstat_{command}:calls=(\d+)", self.server.cmd("INFO", "commandstats"))
        return int(found[1]) if found else 0

    def clock(self):
        seconds, us = self.server.cmd("TIME")
        return int(seconds) + int(us) / 1e6

    def marks(self):
        """Until when each broker counts as present, in seconds from now, by its name."""
        fields = self.server.cmd("HGETALL", GUARD)
        clock = self.clock()
        return {key[2:].split(".")[0]: int(ms) / 1000 - clock
                for key, ms in zip(fields[::2], fields[1::2]) if key.startswith("b:")}

    def watchers(self):
        return {word.split(".")[0] for word in (self.server.cmd("HGET", GUARD, "watch") or "").split()[::2]}

    def away(self):
        """The brokers that stay away, if two watch."""
        names = [broker.name for broker in self.brokers]
        eventually(lambda: len(self.watchers()) == 2 and len(
            [name for name in names if self.marks().get(name, 0) > 0]) == len(names) - 2, 10)
        watching = self.watchers()
        return ([broker for broker in self.brokers if broker.name not in watching],
                [broker for broker in self.brokers if broker.name in watching])

    def test_they_call_seldom_and_grant_at_once(self):
        self.prepare(5, as_many_as=240)
        away, _ = self.away()
        blessed = self.server.cmd("HGET", GUARD, "n")
        before, start = self.calls("evalsha"), now()
        let_time_pass(4 * stall_of(LEASE))
        took, made = now() - start, self.calls("evalsha") - before
        # Calling as often as ever would be five times three in a stall.
        self.assertLess(made, took / stall_of(LEASE) * 3 * 3.5)
        start = now()
        self.client(away[0]).lock("x")
        self.assertLess(now() - start, patience(1))
        self.assertEqual(self.server.cmd("HGET", GUARD, "n"), blessed, "there was a grace period")

    def test_one_that_has_something_calls_often(self):
        self.prepare(4, as_many_as=240)
        away, _ = self.away()
        self.client(away[0]).lock("x")
        # Marks of brokers that stay away never show a time that is over.
        eventually(lambda: self.marks()[away[0].name] <= 0, 20, "it calls")

    def test_others_watch_when_those_that_did_are_dead(self):
        self.prepare(5, as_many_as=80)
        _, watching = self.away()
        dead = {broker.name for broker in watching}
        for broker in watching:
            broker.kill()
        eventually(lambda: len(self.watchers() - dead) == 2, 20, "two others watch")

    def test_a_stop_forgets_none_that_stays_away(self):
        """They are silent for longer than a broker may be that holds something."""
        self.prepare(4, as_many_as=320)
        away, watching = self.away()
        for broker in away:
            eventually(lambda name=broker.name: self.marks()[name] > MARK_LIVES + 0.5, 10)
            broker.freeze()
        most = 4 * MARK_LIVES
        # The server's time when each was marked, less the life of that mark, is over now.
        eventually(lambda: all(self.marks()[b.name] < most - MARK_LIVES for b in away), 10)
        for broker in watching:
            self.assertEqual(broker.stop(), 0)
        left = self.marks()
        self.assertIsNone(self.server.cmd("HGET", GUARD, "idle"))
        self.assertEqual(set(left), {broker.name for broker in away})
        blessed = self.server.cmd("HGET", GUARD, "n")
        for broker in away:
            broker.thaw()
            self.client(broker).ok("PING")
        self.assertEqual(self.server.cmd("HGET", GUARD, "n"), blessed)

    def test_the_dead_are_forgotten_by_one_of_them_now_and_then(self):
        self.prepare(2)
        old = int((self.clock() - 11 * MARK_LIVES) * 1000)
        for i in range(50):
            self.server.cmd("HSET", GUARD, f"b:dead{i}.0", old, f"a:dead{i}.0", "h:1")
        self.server.cmd("HDEL", GUARD, "swept")
        eventually(lambda: not [name for name in self.marks() if name.startswith("dead")], 5)
        for i in range(50):
            self.server.cmd("HSET", GUARD, f"b:dead{i}.0", old)
        before = self.calls("evalsha")
        sweeps = self.calls("hgetall")
        eventually(lambda: self.calls("evalsha") > before + 10, 10)
        self.assertEqual(self.calls("hgetall"), sweeps, "each heartbeat reads them all")
        self.assertEqual(self.server.cmd("HEXISTS", GUARD, "b:dead1.0"), 1)


class OnePacket(SystemTest):
    """One broker that has nothing else to do: nothing but a request wakes it soon."""

    LISTS = "LIST", "NAMES", "QUEUE x", "HISTORY x"

    def test_a_list_is_not_left_until_something_else_wakes_the_broker(self):
        self.broker(lease=60)
        start = now()
        for listing in self.LISTS * 8:
            client = self.client()
            client.send("LOCK x", listing, "UNLOCK x")
            self.assertEqual([client.reply().status for _ in range(3)], ["OK"] * 3)
            client.close()
        # Each list took up to a second: with a timer of the broker.
        self.assertLess(now() - start, patience(3, start))
