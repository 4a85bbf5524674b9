"""`lockbroker queue`: a name as a lock, a semaphore, a latch and a barrier."""

import json

from lib.wait import eventually
from test_cli import CommandTest


class Queue(CommandTest):
    def setUp(self):
        super().setUp()
        self.broker()
        self.holder = self.client()
        self.holder.lock("x")

    def test_of_each_kind(self):
        waiter, other = self.clients(2)
        self.holder.ok("SESSION label=first")
        self.holder.ok("ACQUIRE x limit=2 permits=2")
        waiter.send("@1 ACQUIRE x limit=2", "@2 BARRIER x parties=2", "@3 LOCK x")
        eventually(lambda: other.ok("STATUS x kind=semaphore")["waiters"] == "1"
                   and other.ask("STATUS x kind=barrier").ok
                   and other.ok("STATUS x")["waiters"] == "1")
        status, out, err = self.run_it("queue", "x")
        self.assertEqual((status, err), (0, ""))
        rows = [line.split() for line in out.splitlines()]
        self.assertEqual(rows[0][:4], ["ROLE", "KIND", "SESSION", "LABEL"])
        self.assertIn("2 of 2 permits are taken through", out.splitlines()[-1])
        self.assertEqual(sorted(row[:2] for row in rows[1:-1]),
                         [["holder", "-"], ["holder", "semaphore"], ["waiter", "-"],
                          ["waiter", "barrier"], ["waiter", "semaphore"]])
        lines = [json.loads(line) for line in self.run_it("queue", "--json", "x")[1].splitlines()]
        self.assertEqual([(line["label"], line["permits"]) for line in lines
                          if line["role"] == "holder" and line.get("kind") == "semaphore"],
                         [("first", 2)])

    def test_of_nobody(self):
        self.assertEqual(self.run_it("queue", "nobody"), (0, "free, no waiters\n", ""))
        self.assertEqual(self.run_it("queue", "--json", "nobody"), (0, "", ""))
        self.holder.ok("LATCH nobody count=1")
        self.assertEqual(self.run_it("queue", "nobody")[1],
                         "the lock is free; latch: no holder or waiter through this broker\n")
