"""What parts keep for a session (value, trace, slot, limits of its user), and what WHY and GET
/locks/NAME tell of it, through a failover, a replacement and the death of its broker; test_drill
has DRILL."""

import hashlib
import os
import pwd

from lib import http
from lib.wait import eventually, patience
from test_sentinel import SentinelTest
from test_why import Chains

SECRET = "secret"
HASH = "sha256:" + hashlib.sha256(SECRET.encode()).hexdigest()
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
SETTINGS = {
    "http": True,
    "log": {"audit": True, "level": "info"},
    "auth": {"users": [
        {"name": "boss", "unix": [pwd.getpwuid(os.getuid()).pw_name], "lock": ["*"], "admin": True},
        {"name": "etl", "hash": HASH, "lock": ["*"], "limits": {"holds": 3}}]}}


class Parts(Chains):
    limit = 60

    def known(self, broker):
        client = self.client(broker, tcp=True)
        client.ok(f"AUTH etl {SECRET}")
        return client

    def begin(self, one, two):
        """etl is at two, with all that a user may have there; what it waits for is held at one."""
        self.one, self.two = one, two
        self.etl, self.beside, self.api = self.known(two), self.known(two), self.client(one)
        self.etl.ok("SESSION label=etl grace=30s")
        self.api.ok("SESSION label=api")
        self.api.lock("export")
        self.fence = self.etl.lock("report", f"value=10.0.0.7:8080 trace={TRACE}")
        self.assertEqual(self.slot(self.etl), "0")
        self.etl.send("LOCK export")
        self.told(one, two)
        self.kept()

    def ended(self):
        """etl gets what it waits for, and gives all back: the log has the trace."""
        self.api.ok("UNLOCK export")
        self.etl.reply()
        self.etl.ok("UNLOCK report")
        self.etl.ok("RELEASE gpu")
        self.beside.ok("TRYLOCK more")
        eventually(lambda: self.two.log_lines(rf" lock-ended name=report .* trace={TRACE}"), 10,
                   "the log has the trace")

    def told(self, *brokers):
        for broker in brokers:
            self.why(self.client(broker), "report", (
                [("report", "etl"), ("export", "api")], "holder"))
            asker = self.client(broker)
            eventually(lambda: asker.ok("STATUS report").fields.get("value") == "10.0.0.7:8080",
                       20, "the value is told")
            for query, status in ((f"fence={self.fence}&holder=etl", 200),
                                  (f"fence={self.fence + 1}", 412), ("holder=api", 412)):
                eventually(lambda: self.web(broker, "report?" + query) == status, 20, query)

    def kept(self):
        """What the process of the session tells of it, and that its user has reached a limit."""
        (row, *_) = self.beside.ok("QUEUE report").body
        self.assertIn(f" trace={TRACE}", row)
        (row, *_) = self.beside.ok("QUEUE gpu kind=semaphore").body
        self.assertRegex(row, r"^holder .* slot=0\b")
        self.assertIn("auth.users[].limits.holds", self.beside.err("TRYLOCK more", "limit").text)

    @staticmethod
    def slot(client, timeout=None):
        return client.ok("ACQUIRE gpu limit=2 slot=yes", timeout=timeout)["slot"]

    @staticmethod
    def web(broker, path):
        return http.of(broker, user="etl", password=SECRET).get("/locks/" + path).status


class Two(Parts):
    def prepare(self, lease=10):
        server = self.redis()
        self.begin(*[self.broker(server, trust_new=True, lease=lease, **SETTINGS)
                     for _ in range(2)])

    def test_the_broker_is_replaced(self):
        """The process that leaves keeps all of it; each of the two counts what its user has."""
        self.prepare()
        self.two.replace()
        self.etl.event()
        self.told(self.one, self.two)
        self.kept()
        fresh = self.known(self.two)
        for name in "abc":
            fresh.lock(name)
        fresh.err("LOCK d", "limit")
        self.assertEqual(self.slot(self.client(self.two)), "1")
        self.ended()

    def test_the_broker_is_killed(self):
        """What it kept is gone with it, the slot when its lease has expired; and another broker
        has counted its own clients all along."""
        self.prepare(lease=3)
        self.two.kill()
        asker, fresh = self.client(self.one), self.known(self.one)
        self.why(asker, "report", ([("report", None)], "unknown"))
        self.assertEqual(self.web(self.one, "report?holder=etl"), 503)
        self.assertNotIn("value", asker.ok("STATUS report").fields)
        fresh.lock("a")
        self.assertEqual(self.slot(asker), "1")
        self.assertEqual(self.slot(fresh, timeout=patience(20)), "0")
        asker.lock("report", timeout=patience(20))
        self.assertNotIn("value", asker.ok("STATUS report").fields)
        for request in "QUEUE report", "HISTORY report":
            self.assertNotIn("trace=", " ".join(asker.ok(request).body))
        self.assertEqual(self.web(self.one, f"report?fence={self.fence}"), 412)
        self.assertFalse(self.two.log_lines(" lock-ended name=report"))


class Failover(SentinelTest, Parts):
    settings = SETTINGS

    def meanwhile(self):
        """Its own broker knows it from memory, and no other one says that it is free."""
        self.assertEqual(self.web(self.two, "report?holder=etl"), 200)
        self.assertIn(self.web(self.one, "report?holder=etl"), (200, 503))

    def test_all_go_on(self):
        """The slot, too: it is given to nobody else when the new master grants again."""
        self.prepare(lease=6, down_after=2, confirm=1)
        self.begin(*self.brokers)
        self.fail_over(self.meanwhile)
        self.told(*self.brokers)
        self.kept()
        self.assertEqual(self.slot(self.client(self.one), timeout=patience(30)), "1")
        self.no_loss(self.etl)
        self.ended()
