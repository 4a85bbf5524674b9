"""What people are told who run brokers: who has what, where and since when; what the log says
of a night; and whether new locks can be granted."""

from lib.case import SystemTest, grace_of
from lib.wait import eventually


class TwoBrokers(SystemTest):
    """One is asked about what the other has."""

    def prepare(self):
        self.server = self.redis()
        self.here = self.broker(self.server, name="here", trust_new=True,
                                broker={"address": "here.example.org:5625"})
        self.there = self.broker(self.server, name="there", trust_new=True)
        self.holder = self.client(self.here)
        self.holder.lock("x")

    def look(self):
        return self.client(self.there).ok("STATUS x")

    def test_where_a_lock_is(self):
        self.prepare()
        status = self.look()
        self.assertEqual((status["broker"], status["address"]),
                         ("here", "here.example.org:5625"))
        self.assertNotIn("session", status.fields)
        queue = self.client(self.there).ok("QUEUE x")
        self.assertEqual(queue["waiters"], "0")
        self.assertRegex(queue.body[0], r"^holder broker=here address=here\.example\.org:5625 "
                                        r"mode=exclusive ttl=\d+ms$")
        self.assertEqual(len(queue.body), 1)

    def test_where_it_is_after_redis_was_emptied(self):
        """The broker says again where it is reached."""
        self.prepare()
        self.server.cmd("FLUSHALL")
        eventually(lambda: self.look().fields.get("address") == "here.example.org:5625", 10)
        self.assertEqual(self.look()["broker"], "here")

    def test_a_broker_without_an_address(self):
        self.prepare()
        self.client(self.there).lock("y")
        status = self.client(self.here).ok("STATUS y")
        self.assertEqual(status["broker"], "there")
        self.assertNotIn("address", status.fields)

    def test_objects_of_another_broker(self):
        self.prepare()
        client = self.client(self.here)
        client.ok("ACQUIRE x limit=3 permits=2")
        client.ok("LATCH x count=2")
        status = self.look()
        self.assertEqual(status["other"], "semaphore,latch")
        semaphore = self.client(self.there).ok("STATUS x kind=semaphore")
        self.assertEqual((semaphore["limit"], semaphore["free"]), ("3", "1"))
        self.assertEqual(self.client(self.there).ok("STATUS x kind=latch")["count"], "2")


class Ready(SystemTest):
    """Can new locks be granted now, and if not, why, and for how long?"""

    def test_a_new_redis(self):
        self.broker(self.redis(), lease=1.0)
        client = self.client()
        text = eventually(lambda: "no new locks for" in client.ask("READY").text and
                          client.ask("READY").text, 5)
        self.assertRegex(text, r"^ERR unavailable no new locks for [0-9.]+ s: no broker has used "
                               r"this Redis before; locks that are held are kept$")
        left = int(client.stats()["grants_ready_in_ms"])
        self.assert_within(0, left, int(grace_of(1.0) * 1000) + 1)
        eventually(lambda: client.ask("READY").ok, 10)
        client.ok("TRYLOCK x")

    def test_no_redis(self):
        self.broker("127.0.0.1:1")
        client = self.client()
        reply = client.err("READY", "unavailable")
        self.assertIn("Redis can't be used", reply.text)
        self.assertEqual(client.stats()["grants_ready_in_ms"], "0")

    def test_brokers_with_other_settings(self):
        """How long that lasts is not known, and no number says otherwise."""
        server = self.redis()
        self.broker(server, trust_new=True)
        other = self.broker(server, lease=2.0)
        client = self.client(other)
        reply = eventually(lambda: "other settings" in client.ask("READY").text and
                           client.ask("READY"), 5)
        self.assertEqual(reply.code, "unavailable")
        self.assertEqual(client.stats()["grants_ready_in_ms"], "0")
        self.assertNotIn("did not answer", client.err("STATUS x", "unavailable").text)
