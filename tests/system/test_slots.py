"""ACQUIRE slot=yes: which of the permits one has, through two brokers; and `run --slot`."""

import unittest

from lib.resp import Resp
from lib.slots import give_elsewhere
from lib.wait import eventually
from test_cli import CommandTest


class Slots(CommandTest):
    limit = 60

    def prepare(self, lease=2):
        self.server = self.redis()
        self.one, self.other = [self.broker(self.server, trust_new=True, lease=lease)
                                for _ in range(2)]
        self.a, self.b, self.c = self.client(self.one), self.client(self.other), \
            self.client(self.other)

    @staticmethod
    def take(client, more=""):
        return client.ok(f"ACQUIRE gpu limit=3 slot=yes {more}")["slot"]

    def test_the_lowest_free_one(self):
        self.prepare()
        self.assertEqual([self.take(x) for x in (self.a, self.b, self.c)], ["0", "1", "2"])
        late = self.client(self.one)
        self.assertEqual(late.ask("ACQUIRE gpu limit=3 slot=yes wait=0").status, "BUSY")
        self.assertEqual(self.a.ask("ACQUIRE gpu limit=3 slot=yes").code, "exists")
        self.assertEqual(self.a.ask("ACQUIRE gpu limit=3 slot=yes permits=2").code, "bad-option")
        self.assertEqual(self.a.ask("ACQUIRE many limit=1025 slot=yes").code, "bad-option")
        self.assertIn(" slot=1 ", self.b.ok("LIST").body[0])
        lines = self.b.ok("QUEUE gpu kind=semaphore").body
        self.assertEqual([" slot=1 " in line or " slot=2 " in line for line in lines], [True] * 2)
        self.b.ok("RELEASE gpu")
        self.a.ok("RELEASE gpu")
        self.assertEqual([self.take(late), self.take(self.a)], ["0", "1"])
        self.b.send("ACQUIRE gpu limit=3 slot=yes")
        self.b.silent(0.1)
        self.c.ok("RELEASE gpu")
        self.assertEqual(self.b.reply()["slot"], "2")

    def test_beside_permits_without_one(self):
        self.prepare()
        self.b.ok("ACQUIRE gpu limit=3 permits=2")
        self.assertEqual(self.take(self.a), "0")
        self.b.ok("RELEASE gpu")
        self.assertEqual(self.take(self.b), "1")
        self.assertEqual(self.b.ok("RELEASE gpu")["permits"], "1")
        self.assertEqual(self.take(self.c), "2")

    def test_what_a_killed_broker_had_stays_taken_for_its_lease(self):
        self.prepare()
        self.take(self.b)
        self.take(self.a)
        self.other.kill()
        late = self.client(self.one)
        self.assertEqual(self.take(late), "2")
        self.a.ok("RELEASE gpu")
        self.assertEqual(self.take(self.a), "1")
        self.assertEqual(self.take(self.client(self.one), "wait=30s"), "0")

    def test_after_lost_data_each_keeps_its_own(self):
        self.prepare()
        self.assertEqual([self.take(x) for x in (self.a, self.b)], ["0", "1"])
        self.server.cmd("FLUSHALL")
        self.assertEqual(self.take(self.c, "wait=30s"), "2")
        self.assertEqual([x.ok("LIST").body[0].split()[3] for x in (self.a, self.b)],
                         ["slot=0", "slot=1"])

    def test_who_says_it_second_loses_it(self):
        self.prepare(lease=6)
        self.take(self.a)
        give_elsewhere(self.server, "gpu")
        event = self.a.event(timeout=20)
        self.assertEqual((event.status, event["permits"], event["slot"], event["reason"]),
                         ("!LOST", "1", "0", "taken"))
        self.assertEqual(self.a.ask("RELEASE gpu").code, "not-held")

    def test_in_resp_the_answer_is_a_map(self):
        self.prepare()
        conn = Resp(f"127.0.0.1:{self.one.port}")
        self.addCleanup(conn.close)
        self.assertEqual(conn("ACQUIRE", "gpu", "limit=3", "slot=yes"),
                         ["permits", 1, "free", 2, "slot", 0])
        self.assertEqual(conn("RELEASE", "gpu"), 0)

    def test_the_command(self):
        self.prepare()
        self.take(self.a)
        said = self.run_it("run", "-l", "3", "--slot", "gpu", "--", "sh", "-c",
                           "echo $LOCKBROKER_SLOT $LOCKBROKER_FENCE")
        self.assertEqual(said[:2], (0, "1\n"))
        said = self.run_it("run", "x", "--", "sh", "-c", "echo [$LOCKBROKER_SLOT]")
        self.assertEqual(said[1], "[]\n")
        self.assertEqual(self.run_it("run", "--slot", "x", "--", "true")[0], 64)
        shown = self.run_it("queue", "gpu")[1]
        self.assertIn("SLOT", shown)
        eventually(lambda: self.b.ok("STATUS gpu kind=semaphore")["free"] == "2", 20, "given back")


if __name__ == "__main__":
    unittest.main()
