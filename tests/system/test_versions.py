"""Brokers of this version and of an earlier one, on one Redis: a fleet that is upgraded one broker
after the other, in any order, and back.

LOCKBROKERD_PREVIOUS names the lockbrokerd of that version; without it all of this is skipped.
"""

import os
import shutil
import unittest

from lib.broker import find_program
from lib.case import SystemTest, grace_of
from lib.history import Contender, check_history, granted, stop_contenders
from lib.resp import Resp
from lib.wait import eventually, now, patience

PREVIOUS = os.environ.get("LOCKBROKERD_PREVIOUS")
LEASE = 2
PROMPT = 0.5


@unittest.skipUnless(PREVIOUS, "LOCKBROKERD_PREVIOUS names no lockbrokerd of an earlier version")
class Versions(SystemTest):
    limit = 60

    def setUp(self):
        super().setUp()
        self.assertTrue(os.access(PREVIOUS, os.X_OK), f"{PREVIOUS} can't be executed")
        self.server = self.redis()

    def of(self, program, name):
        """A broker whose program another one can take the place of."""
        broker = self.broker(self.server, start=False, name=name, lease=LEASE, trust_new=True)
        broker.program = os.path.join(broker.directory, "lockbrokerd")
        self.put(broker, program)
        return self.run_it(broker).wait_granting()

    @staticmethod
    def put(broker, program):
        """As a package does: what runs goes on with its file."""
        shutil.copy(program, broker.program + ".new")
        os.replace(broker.program + ".new", broker.program)

    @staticmethod
    def run_it(broker):
        return broker.start(argv=[broker.program, "-c", broker.config_path])

    def each_way(self):
        """The earlier one and this one, then the other way round."""
        old, new = self.of(PREVIOUS, "old"), self.of(find_program(), "new")
        return (old, new), (new, old)

    def resp_of(self, broker):
        conn = Resp(f"127.0.0.1:{broker.port}")
        self.addCleanup(conn.close)
        return conn


class Together(Versions):
    """Two brokers, each way."""

    def test_only_this_one_can_be_asked(self):
        """The earlier one does not know the question: the answer goes without what it alone knows,
        and it ends nothing that it would have to compare."""
        old, new = self.of(PREVIOUS, "old"), self.of(find_program(), "new")
        if any("UNLOCK-FORCE NAME [fence=F]" in line for line in self.client(old).ok("HELP").body):
            self.skipTest("that version compares fences, too")
        for name, holder, asker in (("a", old, new), ("b", new, old)):
            holder, asker = self.client(holder), self.client(asker)
            fence = holder.lock(name)
            status = asker.ok(f"STATUS {name}")
            self.assertEqual((status["state"], "session" in status.fields), ("held", False))
            if asker.ask(f"UNLOCK-FORCE {name} fence={fence}").code not in (
                    "unavailable", "bad-option"):
                self.fail("it compares")
            self.assertEqual(len(holder.ok("LIST").body), 1)
            asker.ok(f"UNLOCK-FORCE {name}")
            self.assertEqual(holder.event()["reason"], "forced")

    def test_a_lock_passes_on(self):
        for one, other in self.each_way():
            holder, waiter = self.client(one), self.client(other)
            fence = holder.lock("a")
            self.assertEqual(waiter.ask("TRYLOCK a").status, "BUSY")
            waiter.send("LOCK a")
            eventually(lambda: self.server.cmd("LLEN", "lock:@queue:a") == 1, 5, "it is in the queue")
            begin = now()
            holder.ok("UNLOCK a")
            reply = waiter.reply()
            self.assertGreater(reply.fence, fence)
            self.assertLess(reply.at - begin, patience(PROMPT, begin))
            waiter.ok("UNLOCK a")

    def test_shared_and_exclusive(self):
        for one, other in self.each_way():
            reader, second, writer = self.client(one), self.client(other), self.client(other)
            for client in (reader, second):
                self.assertTrue(client.ask("LOCK s mode=shared").ok)
            writer.send("LOCK s")
            writer.silent(0.1)
            second.ok("UNLOCK s")
            writer.silent(0.1)
            begin = now()
            reader.ok("UNLOCK s")
            self.assertTrue(writer.reply().ok)
            self.assertLess(now() - begin, patience(PROMPT, begin))
            writer.ok("UNLOCK s")

    def test_permits_are_counted_together(self):
        for one, other in self.each_way():
            a, b, c = self.client(one), self.client(other), self.client(other)
            a.ok("ACQUIRE p limit=2")
            b.ok("ACQUIRE p limit=2")
            c.send("ACQUIRE p limit=2")
            c.silent(0.1)
            a.ok("RELEASE p")
            self.assertTrue(c.reply().ok)
            b.ok("RELEASE p")
            c.ok("RELEASE p")

    def test_a_token_is_good_at_either(self):
        for one, other in self.each_way():
            mine, theirs = self.resp_of(one), self.resp_of(other)
            self.assertEqual(mine("SET", "t", "mine", "NX", "PX", 60000), "OK")
            self.assertIsNone(theirs("SET", "t", "other", "NX", "PX", 60000))
            self.assertEqual(theirs("GET", "t"), "mine")
            self.assertEqual(theirs("PEXPIRE", "t", 30000), 1)
            self.assertEqual(theirs("DELEX", "t", "IFEQ", "mine"), 1)
            self.assertEqual(mine("EXISTS", "t"), 0)

    def test_one_dies(self):
        for one, other in self.each_way():
            holder, heir = self.client(one), self.client(other)
            fence = holder.lock("d")
            heir.send("LOCK d")
            heir.silent(0.1)
            begin = now()
            one.kill()
            one.expected_status = 0
            reply = heir.reply(60)
            self.assertGreater(reply.fence, fence)
            self.assertLess(reply.at - begin, patience(LEASE + grace_of(LEASE), begin))
            heir.ok("UNLOCK d")
            self.run_it(one).wait_granting()

    def test_redis_forgets_all(self):
        """Either writes again what it has, and takes nothing from the other."""
        for one, other in self.each_way():
            clients = self.client(one), self.client(other)
            for client, name in zip(clients, "ab"):
                client.lock(name)
            self.server.cmd("FLUSHALL")
            for client, name in zip(clients[::-1], "ab"):
                client.lock(f"new-{name}", timeout=30)
                self.assertEqual(client.ask(f"TRYLOCK {name}").status, "BUSY")
            for client, name in zip(clients, "ab"):
                self.assertEqual(client.ok(f"UNLOCK {name}")["depth"], "0")
                client.close()


class Fleet(Versions):
    """Three brokers, whose clients fight for a name meanwhile."""

    limit = 120

    def setUp(self):
        super().setUp()
        self.fleet = [self.of(PREVIOUS, name) for name in "abc"]
        self.crowd = [Contender(broker.unix_path, "hot") for broker in self.fleet for _ in (1, 2)]
        for one in self.crowd:
            one.start()

    def with_each(self, change):
        """Bring each to this version, in an order that is not that of their names, and one of them
        back, while all are at work."""
        ways = [(i, find_program()) for i in (1, 2, 0)] + [(2, PREVIOUS)]
        for i, program in ways:
            self.put(self.fleet[i], program)
            change(self.fleet[i])
            since = now()
            eventually(lambda since=since: granted(self.crowd, since) >= 30, 60,
                       "the others and this one go on")
        stop_contenders(self.crowd)
        self.assertGreater(check_history(self.crowd), 100)

    def test_restarted_one_after_the_other(self):
        def restart(broker):
            self.assertEqual(broker.stop(), 0)
            self.run_it(broker)
        self.with_each(restart)

    def test_replaced_one_after_the_other(self):
        """Nobody loses what he holds, or his connection."""
        holders = [self.client(broker) for broker in self.fleet]
        for i, holder in enumerate(holders):
            holder.lock(f"kept{i}")
        self.with_each(lambda broker: broker.replace())
        for i, holder in enumerate(holders):
            self.assertEqual(holder.ok(f"LOCK kept{i}")["depth"], "2")
            self.assertFalse([event for event in holder.events if event.status == "!LOST"])
            self.assertEqual(self.client(self.fleet[i - 1]).ask(f"TRYLOCK kept{i}").status, "BUSY")
            holder.close()
