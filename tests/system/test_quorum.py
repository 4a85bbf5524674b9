"""Redlock: one broker's lock on a majority of independent servers."""

import threading
import unittest

from lib.case import SystemTest, grace_of, pad_of
from lib.client import first_of
from lib.history import Contender, check_history, granted, run_contenders, stop_contenders
from lib.wait import eventually, let_time_pass, now

LEASE = 1
NODES = 5


class Quorum(SystemTest):
    """Five servers and two brokers."""

    def setUp(self):
        super().setUp()
        self.nodes = [self.redis() for _ in range(NODES)]
        for _ in range(2):
            self.broker(self.nodes[0], lease=LEASE, ready=True, redis={
                "mode": "quorum", "nodes": [node.address for node in self.nodes],
                "trust_new": True, "reply_timeout": "300ms"})
        self.a, self.b = (self.client(broker) for broker in self.brokers)

    def holds(self, client, name):
        return any(line.startswith(f"lock {name} ") for line in client.ok("LIST").body)

    def values(self, name):
        return [node.get(name) for node in self.nodes if node.process.alive]

    def test_one_at_a_time(self):
        first = self.a.lock("x")
        self.assertEqual(self.b.ask("TRYLOCK x").status, "BUSY")
        self.b.send("LOCK x")
        self.assertTrue(self.b.silent())
        self.a.ok("UNLOCK x")
        self.assertGreater(self.b.reply(2).fence, first)
        self.b.ok("UNLOCK x")
        eventually(lambda: set(self.values("x")) == {None}, 2, "the key is gone everywhere")

    def test_all_servers_have_it(self):
        fence = self.a.lock("x")
        eventually(lambda: len(set(self.values("x"))) == 1, 2, "one value")
        self.assertTrue(self.values("x")[0].endswith(f"|{fence}"))

    def test_what_is_unsound_is_refused(self):
        for request in ("ACQUIRE s limit=1", "LATCH l count=1", "BARRIER b parties=2",
                        "LOCK x mode=shared"):
            self.a.err(request, "unsupported")

    def test_a_dead_minority_costs_nothing(self):
        fence = self.a.lock("x")
        for node in self.nodes[:2]:
            node.kill()
        let_time_pass(3 * LEASE)
        self.assertTrue(self.holds(self.a, "x"))
        self.a.ok("UNLOCK x")
        self.assertGreater(self.b.lock("x", timeout=2), fence)

    def test_a_frozen_minority_costs_nothing(self):
        for node in self.nodes[3:]:
            node.freeze()
        fence = self.a.lock("x", timeout=2)
        let_time_pass(3 * LEASE)
        self.assertTrue(self.holds(self.a, "x"))
        for node in self.nodes[3:]:
            node.thaw()
        self.a.ok("UNLOCK x")
        self.assertGreater(self.b.lock("x", timeout=2), fence)

    def test_without_a_majority_it_is_lost_and_not_granted(self):
        fence = self.a.lock("x")
        for node in self.nodes[:3]:
            node.kill()
        self.assertEqual(self.a.event(3 * LEASE, kind="LOST")["reason"], "unreachable")
        self.b.err("TRYLOCK x", "unavailable", timeout=3)
        for broker in self.brokers:
            self.assertEqual(len(broker.log_lines("error quorum-lost")), 1)
        for node in self.nodes[:3]:
            node.start()
        self.assertGreater(self.b.lock("x", timeout=10), fence)
        for broker in self.brokers:
            eventually(lambda one=broker: one.log_lines("notice quorum-back"), 5)
            self.assertEqual(len(broker.log_lines("quorum-(lost|back)")), 2)

    def test_replicas_among_them(self):
        """A server that has become a replica takes no writes: it counts as away, and as there again
        once it is a master."""
        fence = self.a.lock("x")
        for node in self.nodes[:2]:
            node.cmd("REPLICAOF", "127.0.0.1", "1")
        let_time_pass(3 * LEASE)
        self.assertTrue(self.holds(self.a, "x"))
        self.b.lock("y", timeout=3)
        self.nodes[2].cmd("REPLICAOF", "127.0.0.1", "1")
        self.assertEqual(self.a.event(3 * LEASE, kind="LOST")["reason"], "unreachable")
        self.b.err("TRYLOCK z", "unavailable", timeout=3)
        for node in self.nodes[:3]:
            node.cmd("REPLICAOF", "NO", "ONE")
        self.assertGreater(self.b.lock("x", timeout=10), fence)

    def test_who_comes_back_empty_is_told(self):
        fence = self.a.lock("x")
        for node in self.nodes:
            node.restart()
            eventually(lambda one=node: one.get("x"), 5, "it is written again")
        self.assertTrue(self.holds(self.a, "x"))
        self.assertEqual(self.b.ask("TRYLOCK x", timeout=3).status in ("BUSY", "ERR"), True)
        self.a.ok("UNLOCK x")
        self.assertGreater(self.b.lock("x", timeout=10), fence)

    def freeze(self, count):
        for node in self.nodes[:count]:
            node.freeze()

    def thaw(self, count):
        for node in self.nodes[:count]:
            node.thaw()

    def test_a_frozen_majority(self):
        """As without a quorum; calls that were queued in their sockets count for nothing when they
        wake."""
        fence = self.a.lock("x")
        self.b.send("LOCK x")
        self.freeze(3)
        queued = self.client(self.brokers[1])
        queued.send("LOCK queued")
        self.assertEqual(self.a.event(3 * LEASE, kind="LOST")["reason"], "unreachable")
        self.a.events.clear()
        self.assertTrue(self.b.silent())
        woken = now()
        self.thaw(3)
        rival = self.client()
        rival.send("LOCK queued")
        last = self.b.reply(grace_of(LEASE) + 10)
        self.assertGreater(last.fence, fence)
        self.assertGreater(last.at - woken, grace_of(LEASE) - 0.1, "no grace period")
        first, second = first_of(queued, rival)
        fence = first.reply().fence
        self.assertTrue(second.silent(0.3), "granted twice")
        first.ok("UNLOCK queued")
        self.assertGreater(second.reply(10).fence, fence)

    def come_back_empty(self, count):
        """So many names at once, while one broker holds a name and the other waits for it."""
        fence = self.a.lock("x")
        self.b.send("LOCK x")
        eventually(lambda: self.client(self.brokers[1]).ok("STATUS x")["waiters"] == "1")
        for node in self.nodes[:count]:
            node.kill()
        emptied = now()
        for node in self.nodes[:count]:
            node.start()
        other = self.client()
        if count > NODES // 2:
            other.err("TRYLOCK new", "unavailable", timeout=3)
        last = other.lock("new", timeout=grace_of(LEASE) + 10)
        self.assertGreater(last, fence)
        if count > NODES // 2:
            self.assertGreater(now() - emptied, grace_of(LEASE) - 0.1, "no grace period")
        self.a.pump()
        lost = [line for line in self.a.events if line.status == "!LOST"]
        if count <= NODES // 2:
            self.assertEqual(lost, [])
        if not lost:
            self.assertTrue(self.b.silent(), "granted twice")
            self.a.ask("UNLOCK x")
        self.assertGreater(self.b.reply(grace_of(LEASE) + 10).fence, fence)

    def test_one_empty(self):
        self.come_back_empty(1)

    def test_two_empty(self):
        self.come_back_empty(2)

    def test_three_empty(self):
        self.come_back_empty(3)

    def test_all_empty(self):
        self.come_back_empty(5)

    def test_a_dead_broker(self):
        fence = self.a.lock("x")
        self.brokers[0].expected_status = -9
        self.brokers[0].kill()
        self.assertGreater(self.b.lock("x", timeout=3 * LEASE), fence)

    def test_fences_rise_where_counters_were_lost(self):
        seen = 0
        for node in self.nodes:
            fence = self.a.lock("x", timeout=5)
            self.assertGreater(fence, seen)
            seen = fence
            self.a.ok("UNLOCK x")
            node.restart()

    def test_brokers_take_turns(self):
        """However many wait at each broker: one that has had its turn gives the others time to
        try."""
        crowd = [Contender(broker.unix_path, "hot") for broker in self.brokers
                 for _ in range(2)]
        for one in crowd:
            one.start()
        self.addCleanup(stop_contenders, crowd)
        for _ in range(3):
            begin = now()
            eventually(lambda: all(granted([one], begin) for one in crowd), 20,
                       "each is granted it again")

    def test_many_fight(self):
        crowd = run_contenders([broker.unix_path for broker in self.brokers], "hot", 3, 60)
        self.assertGreater(check_history(crowd), 50)


class Rivals(SystemTest):
    """Brokers that try for a name which another has, while that one needs every server that is
    left."""

    LEASE = 4

    def setUp(self):
        super().setUp()
        self.nodes = [self.redis() for _ in range(3)]
        for _ in range(2):
            self.broker(self.nodes[0], lease=self.LEASE, ready=True, redis={
                "mode": "quorum", "nodes": [node.address for node in self.nodes],
                "trust_new": True})
        self.a = self.client(self.brokers[0])
        self.stopped = threading.Event()
        self.addCleanup(self.stopped.set)

    def try_for(self, name):
        """Over and over, until the test ends."""
        client = self.client(self.brokers[1])

        def run():
            while not self.stopped.is_set():
                client.ask(f"TRYLOCK {name}", timeout=10)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(self.stopped.set)

    def test_they_do_not_cost_it_its_majority(self):
        self.a.lock("x")
        eventually(lambda: all(node.get("x") for node in self.nodes), 2)
        self.nodes[0].freeze()
        self.try_for("x")
        self.nodes[2].cmd("DEL", "lock:x")
        let_time_pass(2 * self.LEASE)
        self.a.pump()
        self.assertEqual(self.a.events, [])
        self.assertEqual(self.nodes[2].get("x"), self.nodes[1].get("x"))
        self.nodes[0].thaw()

    def claimed(self, node):
        """A renewal finds another's vote there, and leaves a claim."""
        self.a.lock("x")
        eventually(lambda: node.get("x"), 2)
        node.cmd("SET", "lock:x", "other.0123456789abcdef.1|1", "PX", "60000")
        eventually(lambda: node.get("@shared:x"), self.LEASE, "it is claimed")
        claim = node.get("@shared:x")
        self.assertTrue(self.nodes[1].get("x").startswith(claim + "|"))

    def test_a_claim_keeps_others_out(self):
        node, other = self.nodes[2], self.client(self.brokers[1])
        self.claimed(node)
        self.nodes[0].freeze()
        node.cmd("DEL", "lock:x")
        begin = now()
        # No vote there, and none where the name is held: nobody need wait for the third server.
        self.assertEqual(other.ask("TRYLOCK x").status, "BUSY")
        self.assert_within(0, now() - begin, self.LEASE / 12)
        eventually(lambda: node.get("x") == self.nodes[1].get("x"), self.LEASE)
        self.assertIsNone(node.get("@shared:x"))
        self.nodes[0].thaw()

    def test_a_claim_lasts_until_the_next_renewal(self):
        node = self.nodes[2]
        self.claimed(node)
        eventually(
            lambda: node.cmd("PTTL", "lock:@shared:x") > 1000 * pad_of(self.LEASE), self.LEASE
        )

    def test_a_claim_ends_with_the_lock(self):
        node = self.nodes[2]
        self.claimed(node)
        self.a.ok("UNLOCK x")
        eventually(lambda: node.get("@shared:x") is None, pad_of(self.LEASE) / 2)

    def test_an_attempt_waits_for_no_silent_server(self):
        self.a.lock("x")
        eventually(lambda: all(node.get("x") for node in self.nodes), 2)
        self.nodes[0].freeze()
        self.nodes[2].cmd("DEL", "lock:x")
        begin = now()
        self.assertEqual(self.client(self.brokers[1]).ask("TRYLOCK x").status, "BUSY")
        # A sixth of the lease, and not redis.reply_timeout, which is 2 s.
        self.assert_within(0, now() - begin, self.LEASE / 6 + 0.5)
        self.nodes[0].thaw()

    def test_the_end_of_a_keep_is_told(self):
        self.a.lock("x", "keep=1s")
        waiter = self.client(self.brokers[1])
        waiter.send("LOCK x")
        eventually(lambda: all(node.cmd("EXISTS", "lock:@queue:x") for node in self.nodes), 2)
        self.a.ok("UNLOCK x")
        waiter.reply(self.LEASE / 2)

    def test_a_waiter_asks_seldom(self):
        """A waiter is told; it looks when the other's key ends, and once a lease."""
        self.a.lock("x")
        waiter = self.client(self.brokers[1])
        waiter.send("LOCK x")
        eventually(lambda: self.a.ok("STATUS x")["state"] == "held")
        eventually(lambda: all(node.cmd("EXISTS", "lock:@queue:x") for node in self.nodes), 2)
        for node in self.nodes:
            node.cmd("CONFIG", "RESETSTAT")
        let_time_pass(self.LEASE)
        # An attempt that finds the name taken looks into the queue for its place.
        self.assertLess(max(node.calls("lpos") for node in self.nodes), 4)
        self.a.ok("UNLOCK x")
        waiter.reply(1)


class Restarted(SystemTest):
    """Servers that were never used before are not trusted."""

    def test_grace(self):
        nodes = [self.redis() for _ in range(3)]
        broker = self.broker(nodes[0], lease=LEASE, ready=False, redis={
            "mode": "quorum", "nodes": [node.address for node in nodes]})
        client = self.client(broker)
        eventually(lambda: client.stats()["redis_nodes_up"] == "3", 5, "all are reached")
        client.err("TRYLOCK x", "unavailable", timeout=3)
        client.lock("x", timeout=grace_of(LEASE) + 3)


if __name__ == "__main__":
    unittest.main()
