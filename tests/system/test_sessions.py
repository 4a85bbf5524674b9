"""Sessions that outlive their connections, watches and forced releases: what takes a broken
network, another broker, or a Redis that can't be reached. The rules themselves are told in
transcripts/grace.t, watch.t and force.t."""

from lib.case import SystemTest, pad_of
from lib.client import Client
from lib.proxy import Proxy
from lib.wait import eventually, let_time_pass, now, patience


class Connections(SystemTest):
    """Clients behind a network that breaks."""

    def prepare(self, **settings):
        self.main = self.broker(**settings)
        self.net = Proxy(f"127.0.0.1:{self.main.port}")
        self.addCleanup(self.net.stop)

    def remote(self):
        client = Client(("127.0.0.1", self.net.port))
        self.addCleanup(client.close)
        return client

    def resumed(self, key, client=None):
        client = client or self.remote()
        return client, client.ok(f"RESUME key={key}")

    def test_a_cut_network(self):
        self.prepare()
        first = self.remote()
        session = first.ok("SESSION grace=20s label=x")
        fence = first.lock("x")
        self.net.cut()
        first.expect_eof()
        other = self.client()
        self.assertEqual(other.ask("TRYLOCK x").status, "BUSY")
        again, reply = self.resumed(session["key"])
        self.assertEqual((reply["id"], reply["locks"]), (session["id"], "1"))
        self.assertEqual(again.lock("x"), fence)
        again.ok("UNLOCK x")
        again.ok("UNLOCK x")
        other.lock("x")

    def test_a_network_that_swallows_everything(self):
        """The broker does not know that the first connection is dead, and has told it things."""
        self.prepare()
        first = self.remote()
        key = first.ok("SESSION grace=20s")["key"]
        fence = first.lock("x", "hold=300ms")
        first.lock("y")
        self.net.stalled = True
        other = self.client()
        other.lock("x", "wait=5s")
        again, reply = self.resumed(key, self.client(tcp=True))
        self.assertEqual(reply["locks"], "1")
        lost = again.event(kind="LOST")
        self.assertEqual((lost.words[1], lost.fence, lost["reason"]), ("x", fence, "hold"))
        again.err("UNLOCK x", "lost")
        again.ok("UNLOCK y")
        self.net.stalled = False

    def test_resumed_again_and_again(self):
        self.prepare()
        client = self.remote()
        session = client.ok("SESSION grace=20s")
        fences = [client.lock(name) for name in ("a", "b", "c")]
        for _ in range(20):
            self.net.cut()
            client.expect_eof()
            client, reply = self.resumed(session["key"])
            self.assertEqual((reply["id"], reply["locks"]), (session["id"], "3"))
        self.assertEqual([client.lock(name) for name in ("a", "b", "c")], fences)
        client.ok("QUIT")
        other = self.client()
        for name in ("a", "b", "c"):
            other.lock(name, "wait=2s")
        self.assertEqual(other.stats()["sessions"], "1")

    def test_stolen_back_and_forth(self):
        self.prepare()
        key = self.client().ok("SESSION grace=1m")["key"]
        owner = self.client()
        owner.ok(f"RESUME key={key}")
        owner.lock("x")
        for _ in range(10):
            thief = self.client()
            thief.send("PING", f"RESUME key={key}", "LIST")
            self.assertTrue(thief.reply().ok)
            self.assertEqual(thief.reply()["locks"], "1")
            self.assertEqual(len(thief.reply().body), 1)
            owner.expect_eof()
            owner = thief

    def test_an_untagged_wait_is_forgotten(self):
        self.prepare()
        holder = self.client()
        holder.lock("x")
        first = self.remote()
        key = first.ok("SESSION grace=20s")["key"]
        first.lock("y")
        first.send("LOCK x", "LOCK z")
        eventually(lambda: holder.ok("STATUS x")["waiters"] == "1")
        again, reply = self.resumed(key)
        self.assertEqual(reply["locks"], "1")
        first.expect_eof()
        self.assertEqual(holder.ok("STATUS x")["waiters"], "0")
        holder.ok("UNLOCK x")
        self.assertEqual(len(again.ok("LIST").body), 1)
        self.assertTrue(again.silent())

    def test_valid_and_grace_overlap(self):
        self.prepare(locks={"lease": "2s"})
        for grace, least, most in (("100ms", 0.8, 2.5), ("3s", 2.8, 4.5)):
            client = self.client(tcp=True)
            client.ok(f"SESSION grace={grace}")
            client.lock("x")
            self.assertIn("valid", client.ok("PING").fields)
            start = now()
            client.reset()
            other = self.client()
            other.lock("x", "wait=10s", timeout=12)
            self.assert_within(least, now() - start, patience(most))
            other.ok("QUIT")

    def test_a_crowd_that_has_gone_pushes_nobody_out(self):
        self.prepare(limits={"clients": 100})
        control = self.client()
        for _ in range(130):
            client = self.client(tcp=True)
            client.ok("SESSION grace=5m")
            client.close()
        eventually(lambda: control.stats()["clients"] == "1")
        self.assertEqual(control.stats()["graces"], "0")
        victim = self.client(tcp=True)
        key = victim.ok("SESSION grace=5m")["key"]
        fence = victim.lock("precious")
        victim.reset()
        eventually(lambda: control.stats()["clients"] == "1")
        self.assertEqual(control.ask("TRYLOCK precious").status, "BUSY")
        stats = control.stats()
        self.assertEqual((stats["graces"], stats["graces_dropped_total"], stats["sessions"]),
                         ("1", "31", "101"))
        again, _ = self.resumed(key)
        self.assertEqual(again.lock("precious"), fence)

    def test_too_many_that_hold_are_told_so(self):
        self.prepare(limits={"clients": 6})
        control = self.client()
        for number in range(6):
            client = self.client()
            client.ok("SESSION grace=20s")
            client.lock(f"x-{number}")
            client.close()
        eventually(lambda: control.stats()["clients"] == "1")
        for _ in range(2):
            control.err("SESSION grace=20s label=one-too-many", "limit")
        self.assertNotIn("label", control.ok("SESSION").words)
        self.assertEqual(control.stats()["graces_refused_total"], "2")
        self.assertEqual(len(self.main.log_lines("grace-exhausted.* limit=6")), 1)
        for number in range(6):
            self.assertEqual(control.ask(f"TRYLOCK x-{number}").status, "BUSY")

    def test_stopping_ends_grace(self):
        server = self.redis()
        self.broker(server, trust_new=True)
        second = self.broker(server, trust_new=True)
        client = self.client()
        client.ok("SESSION grace=20s")
        client.lock("x")
        client.close()
        other = self.client(second)
        self.assertEqual(other.ask("TRYLOCK x").status, "BUSY")
        self.brokers[0].stop()
        other.lock("x", "wait=2s")

    def test_a_session_is_one_broker_s(self):
        server = self.redis()
        self.broker(server, trust_new=True)
        second = self.broker(server, trust_new=True)
        client = self.client()
        key = client.ok("SESSION grace=20s")["key"]
        self.client(second).err(f"RESUME key={key}", "not-found")
        self.client().err(f"RESUME key={key[:-1]}{'0' if key[-1] != '0' else '1'}", "not-found")
        self.client().ok(f"RESUME key={key}")

    def test_heartbeat_behind_a_silent_network(self):
        self.prepare()
        client = self.remote()
        key = client.ok("SESSION heartbeat=500ms grace=20s")["key"]
        client.lock("x")
        for _ in range(6):
            let_time_pass(0.2)
            client.ok("PING")
        self.net.stalled = True
        control = self.client()
        eventually(lambda: control.stats()["clients"] == "1")
        self.assertEqual(control.ask("TRYLOCK x").status, "BUSY")
        control.ok(f"RESUME key={key}")
        control.ok("UNLOCK x")


class Brokers(SystemTest):
    """Two brokers on one Redis."""

    limit = 60

    def prepare(self, lease=1):
        self.lease = lease
        self.server = self.redis()
        for _ in range(2):
            self.broker(self.server, trust_new=True, lease=lease)
        self.a, self.b = (self.client(broker) for broker in self.brokers)
        for client in (self.a, self.b):
            client.lock("warm-up", timeout=20)
            client.ok("UNLOCK warm-up")

    # Watches.

    def test_watching_another_broker(self):
        self.prepare(lease=2)
        self.b.ok("WATCH x")
        self.assertEqual(self.b.event().status, "!FREE")
        fence = self.a.lock("x")
        start = now()
        event = self.b.event()
        self.assertEqual((event.status, event["broker"], event.fence), ("!HELD", "b1", fence))
        self.assertLess(now() - start, patience(self.lease + 0.5))
        late = self.client(self.brokers[1])
        late.ok("WATCH x")
        event = late.event()
        self.assertEqual((event.status, event["broker"], event.fence), ("!HELD", "b1", fence))
        self.a.ok("UNLOCK x")
        start = now()
        for client in (self.b, late):
            self.assertEqual(client.event().status, "!FREE")
        self.assertLess(now() - start, patience(self.lease + 0.5))

    def test_what_is_noticed_by_the_way(self):
        self.prepare(lease=10)
        self.b.ok("WATCH x")
        self.assertEqual(self.b.event().status, "!FREE")
        self.a.lock("x")
        self.assertEqual(self.client(self.brokers[1]).ask("TRYLOCK x").status, "BUSY")
        self.assertEqual(self.b.event(timeout=2)["broker"], "b1")

    def test_passed_on_to_another_broker(self):
        self.prepare(lease=10)
        self.b.ok("WATCH x")
        self.b.event()
        other = self.client(self.brokers[1])
        other.lock("x")
        self.assertEqual(self.b.event()["broker"], "b2")
        self.a.send("LOCK x")
        control = self.client(self.brokers[0])
        eventually(lambda: control.ok("STATUS x")["waiters"] == "1")
        let_time_pass(0.1)
        other.ok("UNLOCK x")
        fence = self.a.reply().fence
        event = self.b.event(timeout=2)
        self.assertEqual((event.status, event["broker"], event.fence), ("!HELD", "b1", fence))

    def test_a_plain_client(self):
        self.prepare()
        self.server.cmd("SET", "lock:x", "somebody", "NX", "PX", "60000")
        self.b.ok("WATCH x")
        event = self.b.event()
        self.assertEqual((event.status, event.fields), ("!HELD", {}))
        self.server.cmd("DEL", "lock:x")
        self.assertEqual(self.b.event(timeout=self.lease + 1).status, "!FREE")

    def test_many_watchers_cost_one_look(self):
        self.prepare()
        watchers = self.clients(20, self.brokers[1])
        for client in watchers:
            client.ok("WATCH x")
        control = self.client(self.brokers[1])

        def looks():
            # A heartbeat may be among them: heartbeats are at least pad / 3 apart.
            return int(control.stats()["redis_operations_total"])
        before, start = looks(), now()
        let_time_pass(4 * self.lease)
        spent = now() - start
        most = spent / (0.75 * self.lease) + spent / (pad_of(self.lease) / 3) + 3
        self.assertLess(looks() - before, most)
        self.a.lock("x")
        for client in watchers:
            client.event(kind="HELD", timeout=self.lease + 1)

    def test_watching_while_redis_is_gone(self):
        self.prepare()
        self.a.ok("WATCH x")
        self.a.event()
        self.server.kill()
        eventually(lambda: self.a.stats()["redis_up"] == "0")
        self.client().err("WATCH y", "unavailable")
        self.server.start()
        self.b.lock("x", timeout=20)
        self.assertEqual(self.a.event(timeout=5, kind="HELD")["broker"], "b2")

    # Forced releases.

    def test_forced_at_another_broker(self):
        self.prepare()
        fence = self.a.lock("x")
        start = now()
        self.b.ok("UNLOCK-FORCE x")
        self.assertLess(now() - start, patience(0.5))
        lost = self.a.event()
        self.assertEqual((lost.status, lost.fence, lost["reason"]), ("!LOST", fence, "forced"))
        self.assertGreater(self.b.ok("TRYLOCK x").fence, fence)
        self.a.err("UNLOCK x", "lost")

    def test_forced_where_both_share(self):
        self.prepare()
        fence = self.a.lock("x", "mode=shared")
        self.assertEqual(self.b.lock("x", "mode=shared"), fence)
        self.b.ok("UNLOCK-FORCE x")
        for client in (self.a, self.b):
            self.assertEqual(client.event()["reason"], "forced")
        self.assertGreater(self.b.ok("TRYLOCK x").fence, fence)

    def test_forced_where_the_other_broker_waits(self):
        self.prepare()
        fence = self.a.lock("x")
        waiter = self.client(self.brokers[1])
        waiter.send("LOCK x")
        eventually(lambda: self.b.ok("STATUS x")["waiters"] == "1")
        self.b.ok("UNLOCK-FORCE x")
        self.assertEqual(self.a.event()["reason"], "forced")
        self.assertGreater(waiter.reply().fence, fence)
        self.b.ok("UNLOCK-FORCE x")
        self.assertEqual(waiter.event()["reason"], "forced")

    def test_a_plain_client_is_forced(self):
        self.prepare()
        self.server.cmd("SET", "lock:x", "somebody", "NX", "PX", "60000")
        waiter = self.client()
        waiter.send("LOCK x")
        eventually(lambda: self.a.ok("STATUS x")["waiters"] == "1")
        start = now()
        self.b.ok("UNLOCK-FORCE x")
        self.assertTrue(waiter.reply().ok)
        self.assertLess(now() - start, patience(0.5))
        self.server.cmd("SET", "lock:y", "somebody")
        self.b.ok("UNLOCK-FORCE y")
        self.assertIsNone(self.server.cmd("GET", "lock:y"))

    def test_a_frozen_broker_keeps_its_lease(self):
        self.prepare(lease=2)
        self.a.lock("x")
        self.brokers[0].freeze()
        start = now()
        self.b.err("UNLOCK-FORCE x", "unavailable", timeout=10)
        self.assertLess(now() - start, patience(4))
        self.brokers[0].thaw()

    def test_a_killed_broker_keeps_its_lease(self):
        self.prepare(lease=2)
        self.a.lock("x")
        self.brokers[0].kill()
        eventually(lambda: self.server.cmd("PUBSUB", "CHANNELS", "lock:@b1*") == [])
        start = now()
        self.b.err("UNLOCK-FORCE x", "unavailable")
        self.assertLess(now() - start, patience(0.5))
        self.b.lock("x", timeout=10)

    def test_forced_while_redis_is_gone(self):
        self.prepare(lease=4)
        self.a.lock("x")
        self.server.freeze()
        start = now()
        self.client().err("UNLOCK-FORCE x", "unavailable", timeout=10)
        self.assertLess(now() - start, patience(4))
        self.assertEqual(self.a.event(kind="LOST")["reason"], "forced")
        self.server.thaw()
        self.b.lock("x", timeout=20)
