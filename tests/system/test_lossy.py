"""Packets are lost, late and out of order, between broker and Redis and between client and broker:
TCP makes up for that, and whatever it can't make up for in time is lost, never held twice."""

from lib.case import SystemTest
from lib.client import Client
from lib.history import check_history, run_contenders
from lib.lossy import HERE, THERE, LossyLine
from lib.wait import eventually, let_time_pass


class Lossy(SystemTest):
    limit = 90
    lease = 3

    def start(self, loss, delay):
        """Two brokers; everything they and their clients say goes over the line."""
        self.line = LossyLine(loss, delay)
        self.addCleanup(self.line.stop)
        self.server = self.redis(tcp=True, bind=["127.0.0.1", HERE], protected_mode="no")
        for number in range(2):
            name = f"b{number + 1}"
            self.broker(f"{THERE}:{self.server.port}", name=name, lease=self.lease,
                        trust_new=True, ready=False,
                        listen=[{"unix": f"{self.directory}/{name}/s"}, {"tcp": f"{HERE}:0"}],
                        redis={"connect_timeout": "10s"})
        for broker in self.brokers:
            broker.wait_granting(30)
        return [(THERE, broker.port) for broker in self.brokers]

    def open(self, address):
        client = Client(address)
        self.addCleanup(client.close)
        return client

    def test_histories(self):
        """One packet of 25 is lost, and most are overtaken."""
        addresses = self.start(loss=25, delay=0.01)
        crowd = run_contenders(addresses, "x", 8, 15)
        self.assertEqual([one.fault for one in crowd], [None] * len(crowd))
        self.assertGreaterEqual(check_history(crowd), 15)
        self.assertGreater(self.line.lost, 20)
        self.assertGreater(self.line.overtaken, 100)

    def test_held_through(self):
        """A lease outlives the losses on the way of its renewals, and a long answer arrives
        complete."""
        addresses = self.start(loss=25, delay=0.01)
        holder, other = (self.open(address) for address in addresses)
        fence = holder.lock("held", timeout=10)
        names = [f"{number:03}" + "n" * 200 for number in range(200)]
        holder.send(*[f"LOCK {name}" for name in names])
        for _ in names:
            self.assertTrue(holder.reply(20).ok)
        holder.send("LIST")
        self.assertEqual(len(holder.reply(20).body), len(names) + 1)
        other.send("LOCK held")
        let_time_pass(self.lease * 2)
        self.assertEqual(holder.ok("LOCK held", 10).fence, fence)
        holder.ok("UNLOCK held", 10)
        holder.ok("UNLOCK held", 10)
        self.assertGreater(other.reply(20).fence, fence)
        self.assertEqual([event for event in holder.events if event.status == "!LOST"], [])
        eventually(lambda: self.line.lost > 5)
