"""WHY: who has a name, what that one waits for, and so on, over brokers."""

import json
import re

from lib.case import SystemTest
from lib.resp import Resp
from lib.wait import eventually, now, patience
from test_cli import CommandTest
from test_sentinel import SentinelTest
from test_users import HASH, Users, user


class Chains(SystemTest):
    @staticmethod
    def links(reply):
        """A link each: its name and its fields."""
        links = []
        for row in reply.body:
            name, *words = row.split(" ")
            links.append(dict(word.split("=", 1) for word in words) | {"name": name})
        return links

    def why(self, asker, name, want):
        """The chain, as its names and their holders, once it is told to its end; on a busy machine
        a broker may not answer in time."""
        def told():
            links = self.links(asker.ok(f"WHY {name}"))
            seen = [(link["name"], link.get("holder")) for link in links]
            return links if (seen, links[-1]["end"]) == want else None
        return eventually(told, 10, f"WHY {name} is {want}")

    def chain(self, first, second):
        """etl has report and waits for export, which api has, through the other broker."""
        etl, api = self.client(first), self.client(second)
        etl.ok("SESSION label=etl")
        api.ok("SESSION label=api")
        api.lock("export")
        etl.lock("report")
        etl.send("LOCK export")
        watch = self.client(first)
        eventually(lambda: watch.ok("STATUS export")["waiters"] == "1", 5, "it waits")
        return etl, api

    def check(self, *brokers):
        for broker in brokers:
            first, second = self.why(self.client(broker), "report", (
                [("report", "etl"), ("export", "api")], "holder"))
            self.assertRegex(first["age"], r"^\d+ms$")
            self.assertEqual((first["state"], second["state"]), ("held", "held"))
            self.assertNotIn("end", first)
        return first, second


class One(Chains):
    """One broker, with its own Redis."""

    def test_the_chain(self):
        self.broker()
        asker = self.client()
        (link,) = self.links(asker.ok("WHY none"))
        self.assertEqual((link["state"], link["end"]), ("free", "holder"))
        etl, api = self.chain(self.brokers[0], self.brokers[0])
        first, second = self.check(self.brokers[0])
        self.assertEqual(first["broker"], self.brokers[0].name)
        api.ok("UNLOCK export")
        etl.reply()
        self.why(asker, "report", ([("report", "etl")], "holder"))
        asker.err("WHY", "bad-request")
        asker.err("WHY a b", "bad-request")
        asker.err("WHY a wait=1s", "bad-option")

    def test_resp(self):
        self.broker()
        self.chain(self.brokers[0], self.brokers[0])
        resp = Resp(f"unix:{self.brokers[0].unix_path}")
        self.addCleanup(resp.close)
        rows = resp("WHY", "report")
        self.assertEqual(len(rows), 2)
        row = dict(zip(rows[1][::2], rows[1][1::2]))
        self.assertEqual((row["name"], row["holder"], row["end"]), ("export", "api", "holder"))

    def test_under_a_tag(self):
        self.broker()
        holder, other, third = (self.client() for _ in range(3))
        other.lock("b")
        third.lock("c")
        other.send("LOCK c")
        holder.lock("a")
        holder.send("@1 LOCK b")
        watch = self.client()
        eventually(lambda: watch.ok("STATUS b")["waiters"] == "1", 5, "it waits")
        first, second = self.links(watch.ok("WHY a"))
        self.assertEqual((second["name"], second["tagged"], second["end"]), ("b", "1", "holder"))


class Command(CommandTest, Chains):
    def test_it_tells_the_chain(self):
        self.broker()
        self.chain(self.brokers[0], self.brokers[0])
        status, out, err = self.run_it("why", "report")
        self.assertEqual((status, err), (0, ""))
        self.assertRegex(out, r"^report: held by etl through broker \S+ for [\d.]+ s, which "
                              r"waits for export: held by api through broker \S+ for "
                              r"[\d.]+ s\n$")
        rows = [json.loads(line) for line in
                self.run_it("--json", "why", "report")[1].splitlines()]
        self.assertEqual([row["name"] for row in rows], ["report", "export"])
        self.assertEqual(rows[1]["end"], "holder")
        self.assertIsInstance(rows[0]["age_ms"], int)
        self.assertEqual(self.run_it("why", "none"), (0, "none: free\n", ""))
        self.assertEqual(self.run_it("why", "a=b")[0], 64)


class Two(Chains):
    def prepare(self, n=2):
        server = self.redis()
        for _ in range(n):
            self.broker(server, trust_new=True, lease=10)
        return server

    def test_over_brokers(self):
        self.prepare()
        one, two = self.brokers
        self.chain(one, two)
        first, second = self.check(one, two)
        self.assertEqual((first["broker"], second["broker"]), (one.name, two.name))

    def test_a_circle(self):
        """Nobody sees it who looks at one broker alone."""
        self.prepare()
        one, two = self.brokers
        _etl, api = self.chain(one, two)
        api.send("LOCK report")
        watch = self.client(two)
        eventually(lambda: watch.ok("STATUS report")["waiters"] == "1", 5, "it waits")
        for broker in self.brokers:
            self.why(self.client(broker), "report", (
                [("report", "etl"), ("export", "api")], "circle"))

    def test_a_broker_that_is_killed(self):
        """What it had is told as far as Redis knows it; and when others have it, by them."""
        self.prepare()
        one, two = self.brokers
        etl, _api = self.chain(one, two)
        self.check(one)
        two.kill()
        first, second = self.why(self.client(one), "report", (
            [("report", "etl"), ("export", None)], "unknown"))
        self.assertEqual(second["broker"], two.name)
        etl.reply(timeout=patience(40))
        self.why(self.client(one), "export", ([("export", "etl")], "holder"))

    def test_a_broker_that_does_not_answer(self):
        self.prepare()
        one, two = self.brokers
        self.chain(one, two)
        self.check(one)
        two.freeze()
        begin = now()
        self.why(self.client(one), "report", (
            [("report", "etl"), ("export", None)], "unknown"))
        self.assertLess(now() - begin, patience(2, begin))
        two.thaw()

    def test_a_broker_that_is_replaced(self):
        self.prepare()
        one, two = self.brokers
        self.chain(one, two)
        old = two.replace()
        self.check(one, two)
        self.assertTrue(old.alive)

    def test_without_redis(self):
        """What is held here is told from memory."""
        server = self.prepare()
        one, two = self.brokers
        self.chain(one, two)
        self.check(one)
        server.freeze()
        self.addCleanup(server.thaw)
        asker = self.client(one)
        eventually(lambda: asker.ask("READY").code == "unavailable", 20, "Redis is away")
        links = self.links(asker.ok("WHY report"))
        self.assertEqual([(link["name"], link.get("holder")) for link in links],
                         [("report", "etl"), ("export", None)])
        self.assertEqual(links[-1]["end"], "unknown")
        server.thaw()


class Failover(SentinelTest, Chains):
    limit = 60

    def test_it_goes_on(self):
        self.prepare(lease=6, down_after=2, confirm=1)
        one, two = self.brokers
        self.chain(one, two)
        self.check(one, two)
        self.fail_over()
        self.check(one, two)


class Denied(Users, Chains):
    def test_a_name_that_may_not_be_watched(self):
        """The chain ends before it, and nothing of it is told."""
        self.prepare(user("deploy", hash=HASH, watch=["report"]),
                     user("all", hash=HASH, lock=["*"]))
        etl, api = self.known("all"), self.known("all")
        etl.ok("SESSION label=etl")
        api.ok("SESSION label=api")
        api.lock("export")
        etl.lock("report")
        etl.send("LOCK export")
        everything = self.known("all")
        self.why(everything, "report", ([("report", "etl"), ("export", "api")], "holder"))
        reply = self.known().ok("WHY report")
        self.assertEqual(self.links(reply)[-1]["end"], "denied")
        self.assertEqual(len(reply.body), 1)
        self.assertFalse(re.search("export|api", " ".join(reply.body)))
        self.known().err("WHY export", "denied")
