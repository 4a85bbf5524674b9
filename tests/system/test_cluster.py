"""Redis Cluster: buckets on several masters, slots that move, masters that die."""

from lib.case import SystemTest, grace_of, pad_of
from lib.client import first_of
from lib.cluster import Cluster, bucket_of, key_of, names_in, slot_of
from lib.history import Contender, check_history, stop_contenders
from lib.resp import Resp
from lib.wait import eventually, let_time_pass, moment, now, patience


class Clusters(SystemTest):
    limit = 90

    def prepare(self, lease=2, masters=3, replicas=0, confirm=None, trust_new=True, seeds=None,
                brokers=2, **options):
        self.lease = lease
        self.grace = grace_of(lease)
        self.cluster = Cluster(self.directory, masters, replicas, **options)
        self.addCleanup(self.cluster.stop)
        redis = {"mode": "cluster", "replicas": replicas if confirm is None else confirm,
                 "nodes": seeds(self.cluster) if seeds else self.cluster.addresses[:2]}
        for _ in range(brokers):
            self.broker(lease=lease, trust_new=trust_new, ready=False, redis=dict(redis))
        self.each = [self.client(broker) for broker in self.brokers]
        self.a, self.b = self.each[0], self.each[-1]
        for client in self.each:
            self.wait_ready(client)

    def wait_ready(self, client, timeout=30):
        """Every bucket grants."""
        eventually(lambda: client.stats()["grants_ready"] == "1", timeout, "all buckets grant",
                   every=0.05)

    def wait_grace(self, client):
        """A grace period begins in some bucket, and all of them end."""
        eventually(lambda: int(client.stats()["grants_ready_in_ms"]) > 0, 10, "a grace period")
        self.wait_ready(client, self.grace + 15)

    def name_on(self, master, stem="on"):
        return next(name for name in (f"{stem}{number}" for number in range(1000))
                    if self.cluster.home(name) is master)

    def contend(self, name):
        crowd = [Contender(broker.unix_path, name) for broker in self.brokers for _ in range(2)]
        for one in crowd:
            one.start()
        self.addCleanup(stop_contenders, crowd)
        return crowd

    def assert_kept(self, client, name, fence):
        client.pump()
        self.assertEqual([line for line in client.events if line.status == "!LOST"], [])
        self.assertEqual(client.ok(f"LOCK {name}").fence, fence)
        client.ok(f"UNLOCK {name}")


class TokenHolds(Clusters):
    def test_they_are_taken_up(self):
        """A broker that is killed leaves token holds on each master, which forget them later."""
        self.prepare(lease=1)
        names = [self.name_on(master) for master in self.cluster.nodes]
        first, other = (Resp(f"127.0.0.1:{broker.port}") for broker in self.brokers)
        self.addCleanup(first.close)
        self.addCleanup(other.close)
        for name in names:
            self.assertEqual(first("SET", name, "t", "NX", "PX", 90000), "OK")
        self.brokers[0].kill()
        eventually(lambda: self.b.stats()["token_holds_adopted_total"] == str(len(names)),
                   patience(10), "all are taken up")
        for master in self.cluster.nodes:
            master.cmd("FLUSHALL")
        self.wait_grace(self.b)
        for name in names:
            self.assertEqual(self.b.ask(f"TRYLOCK {name}").status, "BUSY")
            self.assertEqual(other("GET", name), "t")
            self.assertEqual(other("DEL", name), 1)


class Spread(Clusters):
    """Nothing goes wrong."""

    def test_names_over_all_buckets(self):
        self.prepare(lease=10)
        names = [f"name-{number}" for number in range(600)]
        self.assertGreater(len({bucket_of(name) for name in names}), 200)
        self.a.send(*[f"LOCK {name}" for name in names])
        fences = [self.a.reply(20).fence for _ in names]
        self.b.send(*[f"TRYLOCK {name}" for name in names])
        self.assertEqual({self.b.reply(20).status for _ in names}, {"BUSY"})
        for node in self.cluster.masters:
            mine = [key for key in node.keys("lock:{*}:name-*")]
            self.assertGreater(len(mine), 100)
        for name, fence in list(zip(names, fences))[:20]:
            self.assertIn(f"|{fence}", self.cluster.get(name), "where plain clients look")
        self.a.send(*[f"UNLOCK {name}" for name in names])
        self.assertEqual({self.a.reply(20).status for _ in names}, {"OK"})
        self.b.send(*[f"TRYLOCK {name}" for name in names])
        for fence in fences:
            self.assertGreater(self.b.reply(20).fence, fence)
        stats = self.a.stats()
        self.assertEqual((stats["redis_up"], stats["redis_nodes"]), ("1", "3"))
        self.assertLess(len(self.brokers[0].log_lines("guard-")), 12, "one line for many")

    def test_waiting_across_brokers(self):
        self.prepare(lease=5)
        for master in self.cluster.masters:
            name = self.name_on(master)
            fence = self.a.lock(name)
            self.b.send(f"LOCK {name}")
            eventually(lambda: self.client(self.brokers[1]).ok(f"STATUS {name}")["waiters"]
                       == "1")
            self.assertTrue(self.b.silent(0.3))
            start = now()
            self.a.ok(f"UNLOCK {name}")
            self.assertGreater(self.b.reply(10).fence, fence)
            self.assertLess(now() - start, patience(pad_of(self.lease)), "not by a message")
            self.b.ok(f"UNLOCK {name}")

    def test_several_names_across_slots(self):
        self.prepare()
        names = [self.name_on(master, f"m{number}-")
                 for number, master in enumerate(self.cluster.masters)]
        several = " ".join(names + ["p", "q", "r"])
        self.b.lock(names[2])
        self.assertEqual(self.a.ask(f"LOCK {several} wait=500ms").status, "TIMEOUT")
        self.assertEqual(self.a.ok("LIST").body, [])
        self.a.send(f"LOCK {several}")
        let_time_pass(0.2)
        self.b.ok(f"UNLOCK {names[2]}")
        self.assertTrue(self.a.reply(20).ok)
        self.assertEqual(self.b.ask(f"LOCK {several} wait=0").status, "BUSY")

    def test_histories(self):
        self.prepare()
        crowds = [self.contend(self.name_on(master)) for master in self.cluster.masters]
        let_time_pass(3)
        for crowd in crowds:
            stop_contenders(crowd, 30)
            self.assertGreater(check_history(crowd), 20)
            for one in crowd:
                self.assertIsNone(one.fault)

    def test_plain_clients(self):
        self.prepare(brokers=1)
        node = self.cluster.home("plain")
        self.assertEqual(node.cmd("SET", key_of("plain"), "me", "NX", "PX", 60000), "OK")
        self.assertEqual(self.a.ask("TRYLOCK plain").status, "BUSY")
        node.cmd("DEL", key_of("plain"))
        self.a.lock("plain")
        self.assertIsNone(node.cmd("SET", key_of("plain"), "me", "NX", "PX", 60000))

    def test_a_new_cluster_costs_one_grace(self):
        start = now()
        self.prepare(lease=1, trust_new=False, seeds=lambda cluster: [
            "127.0.0.1:1", cluster.nodes[2].tcp_address])
        self.assertGreater(now() - start, self.grace - 0.1)
        self.assertLess(len(self.brokers[0].log_lines("guard-")), 64, "one line for many")
        self.a.lock("x")
        eventually(lambda: self.a.stats()["redis_nodes"] == "3", 10, "the dead seed is left")
        self.assertEqual(self.a.stats()["redis_up"], "1")


class Moving(Clusters):
    """Slots move while locks are held."""

    def test_resharding_under_load(self):
        self.prepare(lease=3)
        first, second, _ = self.cluster.masters
        held, wanted, new = names_in(bucket_of(self.name_on(first)), 3)
        beside = self.name_on(second, "beside")
        fence = self.a.lock(held)
        self.b.send(f"LOCK {held}")
        crowds = [self.contend(wanted), self.contend(beside)]
        begin = now()
        let_time_pass(1)
        for target in (second, first):
            moved = now()
            self.assertIs(self.cluster.move(held, target),
                          second if target is first else first)
            self.assertEqual(self.client().ask(f"TRYLOCK {new}").code, "unavailable",
                             "a bucket with an unknown past grants nothing new")
            eventually(lambda: self.cluster.get(held) is not None, 5, "the lease is there")
            client = self.client()
            client.lock(new, timeout=self.grace + 10)
            self.assertGreater(now() - moved, self.grace - 0.1)
            client.ok(f"UNLOCK {new}")
            self.assert_kept(self.a, held, fence)
        stop_contenders(crowds[0], 30)
        stop_contenders(crowds[1], 150)
        self.assertGreater(check_history(crowds[0]), 20)
        self.assertGreater(check_history(crowds[1]), 100)
        gaps = sorted(begin for one in crowds[1] for begin, _, _ in one.held)
        self.assertLess(max(b - a for a, b in zip(gaps, gaps[1:])), patience(1.0, begin),
                        "other buckets go on")
        self.assertTrue(self.b.silent())
        self.a.ok(f"UNLOCK {held}")
        self.assertGreater(self.b.reply(self.grace + 10).fence, fence)

    def test_a_slot_that_takes_its_time(self):
        """ASK and TRYAGAIN for a while: calls wait, and nothing is lost."""
        self.prepare(lease=5)
        first, second, _ = self.cluster.masters
        name = self.name_on(first)
        fence = self.a.lock(name)
        slot = slot_of(name)
        second.cmd("CLUSTER", "SETSLOT", slot, "IMPORTING", self.cluster.id_of(first))
        first.cmd("CLUSTER", "SETSLOT", slot, "MIGRATING", self.cluster.id_of(second))
        other = names_in(bucket_of(name), 1, "other")[0]
        self.b.send(f"LOCK {other}")
        let_time_pass(0.5)
        self.assertTrue(self.b.silent())
        keys = first.cmd("CLUSTER", "GETKEYSINSLOT", slot, 100)
        first.cmd("MIGRATE", "127.0.0.1", second.port, "", 0, 5000, "KEYS", *keys)
        let_time_pass(0.5)
        self.assertTrue(self.b.silent())
        for node in (second, first):
            node.cmd("CLUSTER", "SETSLOT", slot, "NODE", self.cluster.id_of(second))
        self.assertGreater(self.b.reply(self.grace + 10).fence, fence)
        self.assert_kept(self.a, name, fence)

    def test_a_redirected_call_has_what_is_left_of_its_time(self):
        """The node that has the slot tells late who has the keys, and the node with the keys says
        nothing."""
        self.prepare(lease=10, brokers=1)
        first, second, _ = self.cluster.masters
        name = self.name_on(first)
        slot = slot_of(name)
        second.cmd("CLUSTER", "SETSLOT", slot, "IMPORTING", self.cluster.id_of(first))
        first.cmd("CLUSTER", "SETSLOT", slot, "MIGRATING", self.cluster.id_of(second))
        keys = first.cmd("CLUSTER", "GETKEYSINSLOT", slot, 100)
        first.cmd("MIGRATE", "127.0.0.1", second.port, "", 0, 5000, "KEYS", *keys)
        first.freeze()
        sent = now()
        self.a.send(f"STATUS {name}")
        let_time_pass(1.2)
        second.freeze()
        first.thaw()
        self.assertEqual(self.a.reply(10).code, "unavailable")
        self.assertLess(now() - sent, 2.8, "longer than redis.reply_timeout")
        second.thaw()

    def test_there_and_back(self):
        """A hands over to B; then B dies with a lock that A lacks, and A is the master again."""
        self.prepare(lease=5, replicas=1, confirm=0)
        a = self.cluster.masters[0]
        b = next(one for one in self.cluster.replicas if self.cluster.master_of[one] is a)
        first, second, new = names_in(bucket_of(self.name_on(a)), 3)
        fence = self.a.lock(first)
        eventually(lambda: self.fail_over(b), 15, "promoted", every=0.1)
        self.wait_grace(self.a)
        eventually(lambda: b.cmd("INFO", "replication").count("state=online") == 1, 15,
                   "A is a replica of B")
        a.freeze()
        last = self.a.lock(second)
        self.assertGreater(last, fence)
        self.b.send(f"LOCK {second}")
        b.kill()
        a.thaw()
        eventually(lambda: self.cluster.role(a) == "master", 20, "A is the master again")
        self.assertGreater(self.client().lock(new, timeout=self.grace + 20), last)
        # A failover may take longer than a lease: then the holder was told.
        self.a.pump()
        lost = {line.words[1] for line in self.a.events if line.status == "!LOST"}
        if first not in lost:
            self.assertEqual(self.a.ok(f"LOCK {first}").fence, fence)
        if second not in lost:
            self.assertTrue(self.b.silent(), "granted twice")
            self.assertEqual(self.a.ok(f"LOCK {second}").fence, last)
            self.a.send(f"UNLOCK {second}", f"UNLOCK {second}")
        self.assertGreater(self.b.reply(self.grace + 15).fence, last)

    def fail_over(self, replica):
        """Redis gives a failover up after 5 s; then it must be requested again. Without FORCE the
        master pauses its clients meanwhile, which can last longer than a lease."""
        if self.cluster.role(replica) == "master":
            return True
        if now() - self.asked > 5.5:
            self.asked = now()
            replica.cmd("CLUSTER", "FAILOVER", "FORCE")
        return False

    asked = 0

    def test_a_manual_failover(self):
        """The old master answers MOVED."""
        self.prepare(lease=3, replicas=1)
        master = self.cluster.masters[0]
        replica = next(one for one in self.cluster.replicas
                       if self.cluster.master_of[one] is master)
        name = self.name_on(master)
        fence = self.a.lock(name)
        self.b.send(f"LOCK {name}")
        eventually(lambda: self.fail_over(replica), 40, "promoted", every=0.1)
        self.wait_grace(self.a)
        self.assert_kept(self.a, name, fence)
        self.assertTrue(self.b.silent())
        self.a.ok(f"UNLOCK {name}")
        self.assertGreater(self.b.reply(self.grace + 10).fence, fence)
        self.assertEqual(self.a.stats()["redis_up"], "1")


class Dying(Clusters):
    """Masters die."""

    def replica_of(self, master):
        return next(one for one in self.cluster.replicas
                    if self.cluster.master_of[one] is master)

    def test_a_master_dies_with_a_lock_that_was_not_replicated(self):
        """The second is not granted the name while the first is vouched for."""
        self.prepare(lease=8, replicas=1, confirm=0)
        master = self.cluster.masters[0]
        replica = self.replica_of(master)
        name = self.name_on(master)
        replica.freeze()
        fence = self.a.lock(name)
        self.assertEqual(self.b.ask(f"TRYLOCK {name}").status, "BUSY")
        self.b.send(f"LOCK {name}")
        master.kill()
        replica.thaw()
        promoted = moment(lambda: self.cluster.role(replica) == "master", 40, "promoted")
        other = self.name_on(self.cluster.masters[1])
        self.client().lock(other, timeout=5)
        eventually(lambda: replica.cmd("GET", key_of(name)) is not None, 8, "asserted again")
        new = names_in(bucket_of(name), 1, "new")[0]
        self.assertEqual(self.client().ask(f"TRYLOCK {new}").code, "unavailable")
        self.wait_grace(self.a)
        self.assertGreater(now() - promoted, self.grace - 0.1)
        self.assert_kept(self.a, name, fence)
        self.assertTrue(self.b.silent())
        self.a.ok(f"UNLOCK {name}")
        self.assertGreater(self.b.reply(self.grace + 10).fence, fence)

    def test_a_master_dies_and_all_is_confirmed(self):
        """With redis.replicas: nothing counts before the new master has a replica again."""
        self.prepare(lease=8, replicas=1)
        master = self.cluster.masters[0]
        replica = self.replica_of(master)
        name = self.name_on(master)
        fence = self.a.lock(name)
        self.b.send(f"LOCK {name}")
        master.kill()
        eventually(lambda: self.cluster.role(replica) == "master", 40, "promoted")
        master.start()
        eventually(lambda: replica.cmd("INFO", "replication").count("state=online") == 1, 40,
                   "it is a replica now")
        self.wait_grace(self.a)
        self.assert_kept(self.a, name, fence)
        self.assertTrue(self.b.silent())
        self.a.ok(f"UNLOCK {name}")
        self.assertGreater(self.b.reply(self.grace + 10).fence, fence)

    def test_a_woken_master(self):
        """The master was stopped with grants in its sockets, and another was promoted: the grants
        don't count, although it has not heard of the promotion yet."""
        net = self.network()
        self.prepare(lease=3, replicas=1, confirm=0, net=net)
        old = self.cluster.masters[0]
        new = self.replica_of(old)
        name = self.name_on(old)
        fence = self.a.lock(name)
        self.a.ok(f"UNLOCK {name}")
        old.freeze()
        net.cut([old], [one for one in self.cluster.nodes if one is not old])
        self.a.send(f"LOCK {name}")
        self.b.send(f"LOCK {name}")
        eventually(lambda: self.cluster.role(new) == "master", 20, "promoted")
        woken = old.connect()
        woken.send("ROLE")
        woken.send("GET", key_of(name))
        old.thaw()
        role, value = woken.read(), woken.read()
        self.assertEqual(role[0], "master", "no old master woke")
        self.assertIsNone(value, "the old master granted what was queued in its sockets")
        net.heal()
        first, second = first_of(self.a, self.b, self.grace + 15)
        last = first.reply().fence
        self.assertGreater(last, fence)
        self.assertIn(f"|{last}", new.cmd("GET", key_of(name)))
        self.assertTrue(second.silent(0.3), "granted twice")
        first.ok(f"UNLOCK {name}")
        self.assertGreater(second.reply(10).fence, last)

    def test_a_history_with_a_master_killed(self):
        self.prepare(lease=2, replicas=1, confirm=0)
        master = self.cluster.masters[0]
        crowd = self.contend(self.name_on(master))
        let_time_pass(1)
        master.kill()
        eventually(lambda: self.cluster.role(self.replica_of(master)) == "master", 40)
        master.start()
        healed = now()
        let_time_pass(self.grace + 2)
        stop_contenders(crowd, 30, healed)
        self.assertGreater(check_history(crowd), 20)

    def test_only_what_is_down_is_down(self):
        self.prepare(lease=2, **{"cluster-require-full-coverage": "no"})
        first, second, third = self.cluster.masters
        names = [self.name_on(master) for master in (first, second, third)]
        slot = slot_of(names[0])
        beside = next(name for name in (f"beside{number}" for number in range(1000))
                      if slot_of(name) != slot and self.cluster.home(name) is first)
        first.cmd("CLUSTER", "DELSLOTS", slot)
        self.assertEqual(self.a.ask(f"TRYLOCK {names[0]}").code, "unavailable")
        for name in (beside, names[1], names[2]):
            self.a.lock(name, timeout=3)
            self.a.ok(f"UNLOCK {name}")
        third.kill()
        eventually(lambda: self.a.ask(f"TRYLOCK {names[2]}").code == "unavailable", 5)
        for name in (beside, names[1]):
            self.b.lock(name, timeout=3)
        self.assertEqual(self.a.stats()["redis_up"], "0")
        first.cmd("CLUSTER", "ADDSLOTS", slot)
        self.a.lock(names[0], timeout=self.grace + 10)
        third.start()
        self.a.lock(names[2], timeout=self.grace + 10)
        lines = len(self.brokers[0].log().splitlines())
        self.assertLess(lines, 60, "the log is no flood")
