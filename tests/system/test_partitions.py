"""Networks that are torn in two, with brokers on both sides.

Who is on the side that can't go on is told of its loss before anybody on the other side is
granted the name; fences rise; what was under way comes late, when the network is whole again.
"""

from lib.case import SystemTest, grace_of, pad_of
from lib.cluster import Cluster, key_of
from lib.history import Contender, check_history, granted, stop_contenders
from lib.sentinel import NAME, Watched
from lib.wait import eventually, let_time_pass, now, patience


class Partition(SystemTest):
    """A client of broker `here` holds `held`; a client of broker `there` waits for it."""

    limit = 60

    def meet(self, servers=(), count=2, **redis):
        """Brokers that go to these servers, or to redis["nodes"]; all but the second are here."""
        for _ in range(count):
            broker = self.broker("127.0.0.1:1", start=False, lease=self.lease,
                                 redis={"trust_new": True, **redis})
            self.net.join(broker)
            if servers:
                broker.settings["redis"]["nodes"] = [
                    f"127.0.0.1:{self.net.way(broker, server, server.port)}"
                    for server in servers]
            broker.start().wait_granting()
        self.here, self.there, *self.beside = self.brokers
        self.holder, self.near = self.clients(2, self.here)
        self.rival, self.far = self.clients(2, self.there)

    def hold(self, name="held"):
        self.name = name
        self.fence = self.holder.lock(name)
        self.rival.send(f"LOCK {name}")
        eventually(lambda: self.far.ok(f"STATUS {name}")["waiters"] == "1")

    def is_told(self, longest):
        """The holder is told of its loss in time, and before the rival is granted the name."""
        torn = now()
        told = self.holder.event(longest + 5, kind="LOST")
        self.assertTrue(self.rival.silent(0.01), "granted before it was lost")
        self.assertEqual(told.fence, self.fence)
        self.assertLess(told.at - torn, patience(longest + 0.5))

    def no_loss(self):
        self.holder.pump()
        self.assertEqual([line for line in self.holder.events if line.status == "!LOST"], [])

    def is_passed_back(self, timeout=10):
        """The rival has the name; a client near it waits for it, and gets it then."""
        fence = self.rival.ok(f"LOCK {self.name}").fence
        self.near.send(f"LOCK {self.name}")
        self.assertTrue(self.near.silent(0.2), "granted twice")
        self.rival.ok(f"UNLOCK {self.name}")
        self.rival.ok(f"UNLOCK {self.name}")
        self.assertGreater(self.near.reply(timeout).fence, fence)

    def contend(self):
        crowd = [Contender(broker.unix_path, "x") for broker in (self.here, self.there)
                 for _ in range(2)]
        for one in crowd:
            one.start()
        self.addCleanup(stop_contenders, crowd)
        return crowd

    @staticmethod
    def check(crowd):
        """The name is granted again, now that all is well, and two never had it at once."""
        stop_contenders(crowd, 10, since=now())
        check_history(crowd)


class OfOneServer(Partition):
    """Nobody but the holder's broker is cut off."""

    lease = 2
    grace = grace_of(2)

    def setUp(self):
        super().setUp()
        self.net = self.network()
        self.server = self.redis(tcp=True)
        self.meet([self.server], reply_timeout="500ms")
        self.hold()

    def passes_over(self):
        self.is_told(self.lease)
        self.near.err("TRYLOCK new", "unavailable")
        reply = self.rival.reply(self.lease + pad_of(self.lease) + 5)
        self.assertGreater(reply.fence, self.fence)
        self.net.heal()
        self.is_passed_back()

    def test_nothing_passes(self):
        self.net.cut([self.here], [self.server])
        self.passes_over()

    def test_requests_arrive_and_answers_do_not(self):
        self.net.cut_one_way([self.server], [self.here])
        self.passes_over()

    def test_requests_do_not_arrive(self):
        self.net.cut_one_way([self.here], [self.server])
        self.passes_over()

    def test_healed_before_the_lease_is_over(self):
        self.net.cut([self.here], [self.server])
        self.near.send("LOCK late")
        let_time_pass(self.lease / 4)
        self.net.heal()
        self.assertGreater(self.near.reply(5).fence, self.fence)
        self.no_loss()
        self.assertTrue(self.rival.silent())
        self.holder.ok("UNLOCK held")
        self.assertGreater(self.rival.reply(5).fence, self.fence)

    def test_a_history(self):
        crowd = self.contend()
        for some, others in (([self.here], [self.server]), ([self.server], [self.there])):
            let_time_pass(0.4)
            self.net.cut_one_way(some, others)
            let_time_pass(1.3 * self.lease)
            self.net.heal()
        self.check(crowd)


class OfSentinels(Partition):
    """The old master, a Sentinel and a broker here; the replica and the others there."""

    def prepare(self, lease=3, confirm=1, count=2):
        self.lease = lease
        self.grace = grace_of(lease)
        self.net = self.network()
        self.watched = Watched(self, down_after=pad_of(lease) + 0.3, net=self.net)
        self.old, self.new = self.watched.servers
        self.meet(mode="sentinel", nodes=self.watched.addresses, master=NAME, replicas=confirm,
                  count=count)

    def tear(self):
        first, *others = self.watched.sentinels
        self.net.cut([self.old, first, self.here, *self.beside],
                     [self.new, *others, self.there])

    def add_replica(self):
        """So that the new master can confirm anything."""
        self.watched.promoted(self.new)
        third = self.redis(tcp=True)
        self.watched.attach(third, self.new)

    def heal(self):
        self.net.heal()
        eventually(lambda: self.here.log_lines(f"master-changed .*:{self.new.seen_port}\\b"),
                   20, "the broker follows")
        eventually(lambda: "role:slave" in self.old.cmd("INFO", "replication"), 20,
                   "the old master is a replica")

    def test_the_minority_is_told_before_the_majority_grants(self):
        self.prepare()
        self.hold()
        self.tear()
        self.is_told(self.lease)
        self.assertIn("role:master", self.old.cmd("INFO", "replication"))
        self.near.err("TRYLOCK new", "unavailable")
        self.add_replica()
        reply = self.rival.reply(self.grace + 20)
        self.assertGreater(reply.fence, self.fence)
        self.assertEqual(self.near.ask("LOCK held wait=500ms").ok, False)
        self.heal()
        self.is_passed_back(self.grace + 15)

    def test_polling_for_permits_does_not_keep_them(self):
        """A master that no replica follows any more answers BUSY again and again. Those answers
        keep no permits of the brokers that ask it."""
        self.prepare(lease=2, count=3)
        crowd = [self.holder, self.client(self.beside[0])]
        pollers = [self.near, self.client(self.beside[0])]
        for client in crowd:
            client.ok("ACQUIRE s limit=2")
        self.tear()
        torn = now()
        while now() - torn < patience(self.lease + 1) and not all(
                any(event.status == "!LOST" for event in client.events) for client in crowd):
            for poller in pollers:
                poller.send("ACQUIRE s limit=2 wait=0")
            for poller in pollers:
                poller.reply(5)
            for client in crowd:
                client.pump()
        for client in crowd:
            self.assertEqual(client.event(0.1, kind="LOST")["reason"], "unreachable")
        self.add_replica()
        self.rival.ok("ACQUIRE s limit=2 permits=2", timeout=self.grace + 20)

    def test_without_confirmation_fences_help(self):
        """Best effort: the holder learns it when the network is whole again."""
        self.prepare(confirm=0)
        self.hold()
        self.tear()
        self.watched.promoted(self.new)
        reply = self.rival.reply(self.grace + 20)
        self.assertGreater(reply.fence, self.fence)
        self.heal()
        self.assertEqual(self.holder.event(10, kind="LOST").fence, self.fence)
        self.is_passed_back(self.grace + 15)

    def test_only_the_brokers_see_different_masters(self):
        """The servers see each other. A broker that was cut off from the Sentinels and stays with
        the former master is refused by it, and follows when it can."""
        self.prepare()
        self.hold()
        first, *others = self.watched.sentinels
        self.net.cut([self.here], [self.new, first, *others])
        self.no_loss()
        self.watched.hand_over()
        self.watched.promoted(self.new)
        self.is_told(self.lease + 5)
        self.near.err("TRYLOCK new", "unavailable")
        self.assertGreater(self.rival.reply(self.grace + 20).fence, self.fence)
        self.heal()
        self.is_passed_back(self.grace + 15)

    def test_a_history(self):
        """The other side grants while the network is torn."""
        self.prepare(lease=2)
        crowd = self.contend()
        let_time_pass(0.5)
        self.tear()
        self.add_replica()
        torn = now()
        eventually(lambda: granted(crowd[2:], torn), self.grace + 15, "it is granted there")
        let_time_pass(0.5)
        self.heal()
        self.check(crowd)


class OfQuorum(Partition):
    """Five servers."""

    lease = 2
    grace = grace_of(2)

    def setUp(self):
        super().setUp()
        self.net = self.network()
        self.nodes = [self.redis(tcp=True) for _ in range(5)]
        self.meet(self.nodes, mode="quorum", reply_timeout="500ms")

    def tear(self, count):
        """So many servers with the first broker."""
        self.net.cut([self.here, *self.nodes[:count]], [self.there, *self.nodes[count:]])

    def test_the_minority_is_told_before_the_majority_grants(self):
        self.hold()
        self.tear(2)
        self.is_told(self.lease)
        self.near.err("TRYLOCK new", "unavailable", timeout=3)
        reply = self.rival.reply(self.lease + pad_of(self.lease) + 5)
        self.assertGreater(reply.fence, self.fence)
        self.net.heal()
        self.is_passed_back()

    def test_the_majority_goes_on(self):
        self.hold()
        self.tear(3)
        self.far.err("TRYLOCK new", "unavailable", timeout=3)
        self.near.lock("new")
        let_time_pass(2 * self.lease)
        self.no_loss()
        self.assertTrue(self.rival.silent(), "granted twice")
        self.net.heal()
        self.holder.ok("UNLOCK held")
        self.assertGreater(self.rival.reply(10).fence, self.fence)

    def test_majorities_that_share_one_server(self):
        """Each broker sees three. They exclude each other, and fences rise, by that one."""
        self.net.cut([self.here], self.nodes[3:])
        self.net.cut([self.there], self.nodes[:2])
        last = 0
        for _ in range(4):
            for one, other in ((self.near, self.far), (self.far, self.near)):
                fence = one.lock("x", timeout=5)
                self.assertGreater(fence, last)
                last = fence
                self.assertFalse(other.ask("TRYLOCK x", timeout=3).ok, "granted twice")
                one.ok("UNLOCK x")

    def test_a_history(self):
        crowd = self.contend()
        for count in (2, 3):
            let_time_pass(0.4)
            self.tear(count)
            let_time_pass(1.3 * self.lease)
            self.net.heal()
        self.check(crowd)


class OfCluster(Partition):
    """One master and a broker here; its replica and all the others there."""

    limit = 90

    def test_the_minority_is_told_before_the_majority_grants(self):
        self.lease = 3
        self.grace = grace_of(self.lease)
        self.net = self.network()
        cluster = Cluster(self.directory, 3, 1, net=self.net)
        self.addCleanup(cluster.stop)
        old, *masters = cluster.masters
        new = next(one for one in cluster.replicas if cluster.master_of[one] is old)
        self.meet(mode="cluster", nodes=cluster.addresses, replicas=0)
        name = next(name for name in (f"n{number}" for number in range(1000))
                    if cluster.home(name) is old)
        beside = next(name for name in (f"n{number}" for number in range(1000))
                      if cluster.home(name) is masters[0])
        self.hold(name)
        self.net.cut([old, self.here],
                     [new, self.there, *masters, *[one for one in cluster.replicas
                                                   if one is not new]])
        # The old master goes on until it notices that it is alone.
        self.is_told(2 + self.lease + 2)
        self.near.err(f"TRYLOCK {beside}", "unavailable", timeout=5)
        self.far.lock(beside, timeout=10)
        reply = self.rival.reply(self.grace + 25)
        self.assertGreater(reply.fence, self.fence)
        self.assertIn(f"|{reply.fence}", new.cmd("GET", key_of(name)))
        self.net.heal()
        eventually(lambda: cluster.role(old) == "slave", 20, "the old master is a replica")
        self.is_passed_back(self.grace + 15)
