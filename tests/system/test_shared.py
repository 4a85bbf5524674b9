"""Shared locks under faults; shared.t has their rules."""

from lib.case import SystemTest, grace_of
from lib.wait import eventually, let_time_pass


class Shared(SystemTest):
    """Two readers and a writer that waits."""

    def prepare(self, lease=1, brokers=1):
        self.lease = lease
        self.server = self.redis()
        for _ in range(brokers):
            self.broker(self.server, trust_new=True, lease=lease)
        self.reader, self.reader_2, self.writer = (
            self.client(self.brokers[i % brokers]) for i in range(3))
        self.fence = self.reader.lock("x", "mode=shared")
        self.assertEqual(self.reader_2.lock("x", "mode=shared"), self.fence)
        self.writer.send("LOCK x")

    def still_shared(self):
        for reader in (self.reader, self.reader_2):
            self.assertEqual(reader.ok("LIST").body[0].split(" ")[:3],
                             ["lock", "x", "mode=shared"])
            self.assertEqual([event for event in reader.events if event.status == "!LOST"], [])
        self.assertTrue(self.writer.silent())

    def passes_to_the_writer(self):
        self.reader.ok("UNLOCK x")
        self.assertTrue(self.writer.silent())
        self.reader_2.ok("UNLOCK x")
        self.assertGreater(self.writer.reply(10).fence, self.fence)

    def test_it_is_renewed(self):
        self.prepare()
        let_time_pass(3 * self.lease)
        self.still_shared()
        self.passes_to_the_writer()

    def test_redis_restarted_empty(self):
        self.prepare()
        self.server.restart()
        let_time_pass(self.lease)
        self.still_shared()
        let_time_pass(grace_of(self.lease))
        self.still_shared()
        self.passes_to_the_writer()

    def test_key_deleted(self):
        self.prepare()
        self.server.cmd("DEL", "lock:x")
        for reader in (self.reader, self.reader_2):
            event = reader.event(5, kind="LOST")
            self.assertEqual((event.fence, event["reason"]), (self.fence, "taken"))
        self.assertGreater(self.writer.reply(10).fence, self.fence)

    def test_one_reader_dies(self):
        self.prepare()
        self.reader.close()
        let_time_pass(2 * self.lease)
        self.assertTrue(self.writer.silent())
        self.reader_2.close()
        self.assertGreater(self.writer.reply(10).fence, self.fence)

    def test_across_brokers(self):
        self.prepare(brokers=2)
        let_time_pass(2 * self.lease)
        self.still_shared()
        self.passes_to_the_writer()

    def test_across_brokers_one_is_killed(self):
        self.prepare(brokers=2)
        self.brokers[1].kill()
        # The writer waits at the first broker, and for a reader there.
        let_time_pass(2 * self.lease)
        self.assertTrue(self.writer.silent())
        self.reader.ok("UNLOCK x")
        self.assertGreater(self.writer.reply(10).fence, self.fence)

    def test_nothing_is_left_in_redis(self):
        self.prepare()
        self.passes_to_the_writer()
        self.writer.ok("UNLOCK x")
        eventually(lambda: not set(self.server.keys()) - {"lock:@guard", "lock:@fence"}, 3)

    def test_a_keep_of_one_of_them_is_over(self):
        """The key may last longer than anybody has the name."""
        self.server = self.redis()
        for _ in range(2):
            self.broker(self.server, trust_new=True, lease=10)
        first, second = (self.client(broker) for broker in self.brokers)
        first.lock("x", "mode=shared", timeout=15)
        second.lock("x", "mode=shared keep=1s", timeout=15)
        second.ok("UNLOCK x")
        first.ok("UNLOCK x")
        self.assertEqual(first.ok("STATUS x")["state"], "shared")
        eventually(lambda: first.ok("STATUS x")["state"] == "free", 4, "x is free")
        self.assertGreater(self.server.pttl("x"), 1000)
