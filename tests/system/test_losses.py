"""A loss is told first: before Redis hears of it, and before anybody else does (promise P3)."""

from lib.case import SystemTest
from lib.sends import Sends
from lib.wait import eventually


class Order(SystemTest):
    """What is written first, according to the system calls."""

    def setUp(self):
        super().setUp()
        self.server = self.redis()
        self.sends = Sends(self.directory)
        broker = self.broker(self.server, start=False, trust_new=True)
        broker.start(env=self.sends.environment)
        broker.wait_granting()
        self.holder = self.client()

    def after_grant(self, client):
        """The number of the first piece after its grant."""
        return self.sends.first(0, f"OK fence={client.fence}") + 1

    def test_before_redis(self):
        """A bound on holding: the name is given back in Redis only when its holder knows."""
        granted = self.holder.ok("LOCK name hold=300ms")
        start = self.after_grant(granted)
        self.holder.event(5, kind="LOST")
        eventually(lambda: self.server.get("name") is None, 5, "it is given back")
        told = self.sends.first(start, "!LOST name")
        ended = self.sends.first(start, "lock:name")
        self.assertLess(told, ended)

    def test_before_the_next_here(self):
        """A waiter at the same broker gets the name in the same step, and is told afterwards."""
        granted = self.holder.ok("LOCK name hold=300ms")
        start = self.after_grant(granted)
        heirs = self.clients(3)
        heirs[0].send("LOCK name")
        heir = heirs[0].reply(5)
        told = self.sends.first(start, "!LOST name")
        self.assertLess(told, self.sends.first(start, f"OK fence={heir.fence}"))

    def test_before_redis_at_a_stop(self):
        granted = self.holder.ok("LOCK name")
        start = self.after_grant(granted)
        self.brokers[0].stop()
        told = self.sends.first(start, "!SHUTDOWN")
        self.assertLess(told, self.sends.first(start, "lock:name"))

    def test_before_redis_where_it_is_forced(self):
        granted = self.holder.ok("LOCK name")
        start = self.after_grant(granted)
        self.client().ok("UNLOCK-FORCE name")
        told = self.sends.first(start, "!LOST name", "forced")
        self.assertLess(told, self.sends.first(start, "lock:name"))


class Waking(SystemTest):
    """After a suspension (the clocks went on, the process did not)."""

    lease = 2

    def setUp(self):
        super().setUp()
        self.server = self.redis()
        self.time = self.clock()
        self.broker(self.server, lease=self.lease, trust_new=True, clock=self.time)

    def test_no_answer_comes_before_the_loss(self):
        asked = ("PING", "LIST", "QUEUE held", "NAMES", "STATS", "VERSION", "HELP", "NOSUCH",
                 "LOCK held held", "SESSION", "STATUS other", "@t PING", "UNLOCK other", "WHAT=")
        for number, request in enumerate(asked):
            with self.subTest(request=request):
                client = self.client()
                fence = client.lock(f"held{number}", timeout=20)
                told = len(client.lines)
                self.time.suspend(60)
                client.send(request)
                line = client.event(5)
                self.assertIs(client.lines[told], line, "something was said before")
                self.assertEqual((line.status, line.fence), ("!LOST", fence))
                reply = client.reply(5, tag="t" if request[0] == "@" else None)
                self.assertNotIn("valid", reply.fields)
                client.close()

    def test_another_is_answered_behind_it(self):
        """The request of the client itself discovers the loss."""
        holder, other = self.clients(2)
        holder.lock("held")
        self.time.suspend(60)
        other.send("PING")
        other.reply(5)
        self.assertTrue(holder.pump(), "the loss is not there yet")
        self.assertEqual(holder.event(0).status, "!LOST")
