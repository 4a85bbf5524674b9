"""A master with replicas and Sentinels: failovers, lost locks, woken masters, odd Sentinels.

The rows 35 to 38 and 41 of the list of faults: what was granted stays granted, nothing is
granted twice, fences rise, and the broker finds the new master by itself.
"""

from lib.case import SystemTest, grace_of
from lib.history import Contender, check_history, stop_contenders
from lib.proxy import Proxy
from lib.sentinel import NAME, Sentinel, Watched
from lib.wait import eventually, let_time_pass, now


class SentinelTest(SystemTest):
    limit = 60
    settings = {}  # of the brokers, besides those of Redis

    def prepare(self, lease=2, replicas=1, brokers=2, confirm=0, nodes=None, **options):
        """A master, replicas, Sentinels, and brokers that grant."""
        self.lease = lease
        self.grace = grace_of(lease)
        self.watched = Watched(self, replicas, **options)
        for _ in range(brokers):
            self.join(nodes or self.watched.addresses, confirm)
        for broker in self.brokers:
            broker.wait_granting()
        # The guard as well: a server without one would be a new one, and trusted.
        for server in self.watched.servers if brokers else []:
            eventually(lambda: server.cmd("HEXISTS", "lock:@guard", "id"), 5, "guard replicated")

    def join(self, nodes, confirm=0, **redis):
        return self.broker(nodes[0], lease=self.lease, ready=False, **self.settings, redis={
            "mode": "sentinel", "nodes": nodes, "master": NAME, "replicas": confirm,
            "trust_new": True, **redis})

    def follows(self, broker, server, timeout=40):
        eventually(lambda: broker.log_lines(rf" (master|master-changed) .*:{server.seen_port}\b"),
                   timeout, "the broker follows")

    def all_follow(self, server, timeout=40):
        for broker in self.brokers:
            self.follows(broker, server, timeout)

    def fail_over(self, meanwhile=lambda: None):
        """The master dies, and comes back as a replica; all brokers follow the other one."""
        old, new = self.watched.servers
        old.kill()
        meanwhile()
        self.watched.promoted(new)
        old.start()
        self.watched.attach(old, new)
        self.all_follow(new)

    def keep_alive(self, client, seconds):
        """Let time pass; fail if the client is told that it lost something."""
        end = now() + seconds
        while now() < end:
            client.pump(0.05)
            self.no_loss(client)

    def no_loss(self, client):
        self.assertFalse([line for line in client.events if line.status == "!LOST"])


class Failover(SentinelTest):

    def test_with_the_lock_replicated(self):
        """The master is killed; its process comes back as a replica, as service managers and
        Sentinel do it. The holder keeps its lock; nothing new is granted for one grace."""
        self.prepare(lease=6, down_after=2, confirm=1)
        old, new = self.watched.servers
        holder, waiter, other = self.client(), self.client(self.brokers[1]), self.client()
        fence = holder.lock("held")
        self.assertIsNotNone(new.get("held"), "granted before the replica had it")
        waiter.send("LOCK held")
        pids = [broker.pid for broker in self.brokers]
        old.kill()
        promoted = self.watched.promoted(new)
        old.start()
        self.watched.attach(old, new)
        self.all_follow(new)
        self.assertEqual(other.ask("TRYLOCK new").code, "unavailable")
        last = other.lock("new", timeout=self.grace + 10)
        self.assertGreater(now() - promoted, self.grace - 0.1)
        self.assertGreater(last, fence)
        self.no_loss(holder)
        self.assertTrue(waiter.silent(), "granted twice")
        self.assertEqual(holder.ok("LOCK held").fence, fence)
        holder.ok("UNLOCK held")
        holder.ok("UNLOCK held")
        self.assertGreater(waiter.reply(10).fence, last)
        self.assertEqual(pids, [broker.pid for broker in self.brokers])
        self.assertEqual(other.stats()["redis_failovers_total"], "1")

    def lose_the_lock(self):
        """A lock that only the master has; then the replica becomes the master."""
        old, new = self.watched.servers
        self.holder, self.rival = self.client(), self.client(self.brokers[1])
        self.watched.cut_off(new, old)
        self.fence = self.holder.lock("held")
        self.assertIsNotNone(old.get("held"))
        old.kill()
        new.thaw()
        self.watched.promoted(new)
        return new

    def test_with_the_lock_lost(self):
        """Without WAIT. The holder's broker puts the lock back; the other one gets it when it
        is given back."""
        self.prepare(lease=6, down_after=2)
        new = self.lose_the_lock()
        self.rival.send("LOCK held")
        self.all_follow(new)
        eventually(lambda: new.get("held"), 3, "the lock is put back")
        self.keep_alive(self.holder, self.grace + 0.5)
        self.assertTrue(self.rival.silent(), "granted twice")
        self.client().lock("new", timeout=10)
        self.holder.ok("UNLOCK held")
        self.assertGreater(self.rival.reply(10).fence, self.fence)

    def test_with_the_lock_lost_and_its_broker_frozen(self):
        """Nobody writes it again: the other client gets it when its time is certainly over."""
        self.prepare(lease=2)
        old, new = self.watched.servers
        self.watched.cut_off(new, old)
        self.holder = self.client()
        self.fence = self.holder.lock("held")
        self.brokers[0].freeze()
        frozen = now()
        old.kill()
        new.thaw()
        self.watched.promoted(new)
        self.assertIsNone(new.get("held"))
        rival = self.client(self.brokers[1])
        rival.send("LOCK held")
        reply = rival.reply(self.grace + 15)
        self.assertGreater(reply.fence, self.fence)
        self.assertGreater(reply.at - frozen, self.lease, "granted while it was vouched for")
        self.brokers[0].thaw()
        self.assertEqual(self.holder.event(5, kind="LOST").fence, self.fence)
        self.assertFalse(self.holder.ask("LOCK held wait=100ms").ok)

    def test_a_history(self):
        """Contenders on both brokers, the master killed without a word, its replica behind."""
        self.prepare(lease=1)
        old, new = self.watched.servers
        crowd = [Contender(broker.unix_path, "x") for broker in self.brokers for _ in range(2)]
        for one in crowd:
            one.start()
        let_time_pass(1)
        new.freeze()
        let_time_pass(0.3)
        old.kill()
        new.thaw()
        self.watched.promoted(new)
        healed = now()
        let_time_pass(self.grace + 4)
        stop_contenders(crowd, 30, healed)
        self.assertGreater(check_history(crowd), 20)

    def test_there_and_back(self):
        """A to B by the book (A goes on as a replica), then back to A, which lacks a lock."""
        self.prepare(lease=6, down_after=2)
        a, b = self.watched.servers
        holder, rival = self.client(), self.client(self.brokers[1])
        first = holder.lock("first")
        open_fds = [broker.process.open_fds() for broker in self.brokers]
        self.watched.hand_over()
        self.watched.promoted(b)
        self.all_follow(b)
        eventually(lambda: "master_link_status:up" in a.cmd("INFO", "replication"), 60,
                   "A is a replica of B")
        second = holder.lock("second", timeout=self.grace + 10)
        self.assertGreater(second, first)
        for sentinel in self.watched.sentinels:
            eventually(lambda: sentinel.sees(1, 2) and sentinel.master_port() == b.port, 40)
        self.watched.cut_off(a, b)
        holder.ok("UNLOCK second")
        third = holder.lock("second")
        rival.send("LOCK second")
        b.kill()
        a.thaw()
        self.watched.promoted(a)
        eventually(lambda: all(len(broker.log_lines("master-changed")) == 2
                               for broker in self.brokers), 40, "back to A")
        eventually(lambda: a.get("second"), 3, "the lock is put back")
        self.keep_alive(holder, 2)
        self.assertTrue(rival.silent(), "granted twice")
        eventually(lambda: open_fds == [broker.process.open_fds() for broker in self.brokers],
                   20, "as many descriptors as before")
        self.assertEqual(holder.ok("LOCK first").fence, first)
        self.assertEqual(holder.ok("LOCK second").fence, third)
        self.assertGreater(self.client().lock("new", timeout=self.grace + 10), third)


class Replicas(SentinelTest):

    def test_a_grant_counts_when_the_replicas_have_it(self):
        self.prepare(lease=2, replicas=2, brokers=1, confirm=2)
        client, other = self.clients(2)
        client.lock("x")
        for server in self.watched.servers[1:]:
            self.assertIsNotNone(server.get("x"))
        self.watched.servers[2].freeze()
        other.send("LOCK y")
        self.assertTrue(other.silent(0.8), "granted with one of two replicas")
        self.assertIsNotNone(self.watched.replica.get("y"))
        self.assertTrue(self.brokers[0].log_lines("redis-replicas .*replicas=1 wanted=2"))
        self.watched.servers[2].thaw()
        self.assertTrue(other.reply(10).ok)
        self.assertIsNotNone(self.watched.servers[2].get("y"))

    def test_what_can_not_be_confirmed_is_refused_and_taken_back(self):
        self.prepare(lease=2, brokers=1, confirm=1)
        client = self.client()
        client.lock("before")
        client.ok("UNLOCK before")
        self.watched.replica.freeze()
        client.err("TRYLOCK x", "unavailable")
        self.assertFalse(client.ask("LOCK y wait=500ms").ok)
        for name in ("x", "y"):
            eventually(lambda: self.watched.master.get(name) is None, self.lease,
                       "a grant that nobody was told is taken back")
        self.assertEqual(client.ok("LIST").body, [])
        self.watched.replica.thaw()
        client.ok("TRYLOCK x", 10)

    def test_a_lock_that_too_few_replicas_confirm_is_lost(self):
        """Renewals count like grants: the holder is told, though the master is fine."""
        self.prepare(lease=2, brokers=1, confirm=1)
        client = self.client()
        fence = client.lock("x")
        self.watched.replica.freeze()
        event = client.event(5, kind="LOST")
        self.assertEqual(event.fence, fence)

    def test_none_is_said_to_be_best_effort(self):
        self.prepare(brokers=1)
        self.assertEqual(len(self.brokers[0].log_lines("warning replicas-none")), 1)


class WokenMaster(SentinelTest):
    """The old master is stopped, not dead: it wakes with grants in its sockets."""

    def wake(self, confirm):
        self.prepare(lease=2, brokers=2, confirm=confirm)
        old, new = self.watched.servers
        client, other = self.client(), self.client(self.brokers[1])
        fence = client.lock("before")
        client.ok("UNLOCK before")
        old.freeze()
        client.send("LOCK queued")
        other.send("LOCK queued")
        self.watched.promoted(new)
        self.all_follow(new)
        woken = old.connect()
        woken.send("INFO", "replication")
        woken.send("GET", "lock:queued")
        old.thaw()
        role, value = woken.read(), woken.read()
        self.assertIn("role:master", role, "no old master woke")
        self.assertIsNone(value, "the old master granted what was queued in its sockets")
        return client, other, fence

    def test_queued_grants_do_not_count(self):
        client, other, fence = self.wake(confirm=0)
        waiting = [client, other]
        eventually(lambda: [one for one in waiting if one.pump(0.05) or one.replies],
                   self.grace + 10, "the lock is granted by the new master")
        got = [one for one in waiting if one.replies]
        self.assertEqual(len(got), 1)
        self.assertGreater(got[0].reply().fence, fence)
        waiting.remove(got[0])
        self.assertTrue(waiting[0].silent(0.3), "granted twice")
        got[0].ok("UNLOCK queued")
        self.assertTrue(waiting[0].reply(10).ok)

    def test_a_broker_that_can_not_follow_is_granted_nothing(self):
        """Split brain: one broker sees the old master only; WAIT is what stops it."""
        self.lease, self.grace = 2, grace_of(2)
        self.watched = Watched(self)
        paths = [Proxy(address) for address in self.watched.addresses]
        for path in paths:
            self.addCleanup(path.stop)
        self.join([path.address for path in paths], confirm=1)
        self.join(self.watched.addresses, confirm=1)
        for broker in self.brokers:
            broker.wait_granting()
        old, new = self.watched.servers
        behind, client = self.client(), self.client(self.brokers[1])
        fence = client.lock("x")
        client.ok("UNLOCK x")
        for path in paths:
            path.refuse = True
            path.cut()
        old.freeze()
        behind.send("LOCK x")
        self.watched.promoted(new)
        old.thaw()
        # A replica for the new master, so that it can confirm anything.
        third = self.redis(tcp=True)
        self.watched.attach(third, new)
        self.follows(self.brokers[1], new)
        mine = client.lock("x", timeout=self.grace + 10)
        self.assertGreater(mine, fence)
        self.assertTrue(behind.silent(1), "granted by a master of the past")
        for path in paths:
            path.refuse = False
        self.follows(self.brokers[0], new)
        self.assertTrue(behind.silent(0.5))
        client.ok("UNLOCK x")
        self.assertGreater(behind.reply(self.grace + 10).fence, mine)


class Sentinels(SentinelTest):

    def test_one_killed_then_a_failover(self):
        self.prepare(lease=1)
        self.watched.sentinels[0].kill()
        client = self.client()
        client.lock("x")
        eventually(lambda: self.brokers[0].log_lines("sentinel-down"), 5)
        old, new = self.watched.servers
        old.kill()
        self.watched.promoted(new)
        self.all_follow(new)
        client.lock("y", timeout=self.grace + 10)

    def test_all_gone_changes_nothing(self):
        self.prepare(lease=1, brokers=1)
        client = self.client()
        fence = client.lock("x")
        for sentinel in self.watched.sentinels:
            sentinel.kill()
        eventually(lambda: self.brokers[0].log_lines("sentinels-few"), 5)
        client.lock("y")
        self.keep_alive(client, 2 * self.lease)
        self.assertEqual(client.ok("LOCK x").fence, fence)
        self.assertEqual(self.brokers[0].log_lines("master-changed"), [])
        self.assertEqual(len(self.brokers[0].log_lines("sentinel-down")), 3, "once for each")

    def test_all_stopped_for_a_while(self):
        """After the pause they are in TILT, because their clock jumped. The master stays."""
        self.prepare(lease=1, brokers=1)
        broker = self.brokers[0]
        for sentinel in self.watched.sentinels:
            sentinel.freeze()
        eventually(lambda: len(broker.log_lines("sentinel-down")) == 3, 10)
        for sentinel in self.watched.sentinels:
            sentinel.thaw()
        eventually(lambda: len(broker.log_lines("sentinel-tilt")) == 3, 10)
        self.client().lock("x")
        self.assertEqual(broker.log_lines("master-changed"), [])

    def test_started_before_the_sentinels(self):
        self.lease = 1
        self.watched = Watched(self)
        for sentinel in self.watched.sentinels:
            sentinel.kill()
        self.join(self.watched.addresses)
        client = self.client()
        client.err("TRYLOCK x", "unavailable")
        for sentinel in self.watched.sentinels:
            sentinel.spawn()
        client.lock("x", timeout=40)

    def odd_one(self):
        """A Sentinel that names another master, and that master."""
        elsewhere = self.redis(tcp=True)
        odd = Sentinel(self.directory + "/odd")
        self.addCleanup(odd.stop)
        odd.start(f"127.0.0.1 {elsewhere.port} 1")
        eventually(lambda: odd.master_port() == elsewhere.port, 5)
        return odd, elsewhere

    def test_the_first_to_answer_is_not_believed_alone(self):
        """The others are a little slower, and name another master."""
        self.prepare(lease=1, brokers=0)
        odd, elsewhere = self.odd_one()
        slow = [Proxy(address) for address in self.watched.addresses[:2]]
        for proxy in slow:
            proxy.delay = 0.03
            self.addCleanup(proxy.stop)
        broker = self.join([odd.address] + [proxy.address for proxy in slow])
        broker.wait_granting()
        self.follows(broker, self.watched.master)
        self.assertEqual(broker.log_lines("master-changed"), [])
        self.assertEqual(elsewhere.keys(), [])

    def test_one_that_disagrees_is_outvoted(self):
        """Also if it is the only one left, as long as the master serves."""
        self.prepare(lease=1, brokers=0)
        odd, elsewhere = self.odd_one()
        broker = self.join([odd.address] + self.watched.addresses[:2])
        broker.wait_granting()
        self.follows(broker, self.watched.master)
        eventually(lambda: broker.log_lines("sentinels-disagree"), 5)
        client = self.client()
        client.lock("x")
        for sentinel in self.watched.sentinels:
            sentinel.kill()
        eventually(lambda: len(broker.log_lines("sentinel-down")) == 2, 5)
        self.keep_alive(client, 2.5)
        client.lock("y")
        self.assertEqual(broker.log_lines("master-changed"), [])
        self.assertEqual(elsewhere.keys(), [])
        self.assertEqual(len(broker.log_lines("sentinels-disagree")), 1, "once for a spell")

    def test_host_names_and_passwords(self):
        self.lease, self.grace = 1, grace_of(1)
        # Sentinels use the first address of a name, which may be the one of IPv6.
        self.watched = Watched(self, host="localhost", bind=["127.0.0.1", "-::1"], lines=[
            "sentinel resolve-hostnames yes", "sentinel announce-hostnames yes"])
        for sentinel in self.watched.sentinels:
            sentinel.cmd("ACL", "SETUSER", "asker", "on", ">geheim", "-@all", "+client",
                         "+sentinel|get-master-addr-by-name", "+info", "+subscribe", "&*")
        secret = self.directory + "/secret"
        with open(secret, "w", encoding="ascii") as file:
            file.write("geheim\n")
        broker = self.join(
            [address.replace("127.0.0.1", "localhost") for address in self.watched.addresses],
            sentinel_user="asker", sentinel_password_file=secret)
        broker.wait_granting()
        self.assertTrue(broker.log_lines(f" master node=localhost:{self.watched.master.port}"))
        self.assertFalse(broker.log_lines("sentinel-down"))

    def test_a_name_that_they_do_not_know(self):
        self.lease = 1
        self.watched = Watched(self)
        broker = self.join(self.watched.addresses, master="another")
        eventually(lambda: len(broker.log_lines("sentinel-stranger")) == 3, 5)
        self.client().err("TRYLOCK x", "unavailable")
