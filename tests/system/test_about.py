"""One question between brokers: what is told through one of a name that another one has."""

import re

from lib import http
from lib.case import SystemTest
from lib.resp import Resp
from lib.wait import eventually, let_time_pass, now, patience
from test_cluster import Clusters
from test_sentinel import SentinelTest

OLD = "old.0123456789abcdef"  # a broker that knows no such question


class Told:
    """True of any two brokers."""

    def tell(self, one, other):
        """STATUS through the other broker tells what it tells through the one, after the same
        grant and after one that has another fence than its lease."""
        holder, asker = self.client(one), self.client(other)
        holder.ok("SESSION label=cron")
        for name in ("a", "b"):
            fence = holder.lock(name, "hold=1h")
            seen, told = self.client(one).ok(f"STATUS {name}"), self.told(asker, name)
            for key in ("state", "broker", "session", "label", "peer", "fence"):
                self.assertEqual(told[key], seen[key], key)
            self.assertEqual((told["label"], told.fence), ("cron", fence))
            self.assertNotIn("lease_fence", told.fields)
            for key in ("age", "until"):
                self.assert_within(0, abs(self.ms(told[key]) - self.ms(seen[key])), 10000, key)
            holder.ok(f"UNLOCK {name}")
        self.assertEqual(asker.ok("STATUS a")["state"], "free")

    @staticmethod
    def told(asker, name):
        """What the other broker tells; on a busy machine it may take longer than it may."""
        def answer():
            status = asker.ok(f"STATUS {name}")
            return status if "session" in status.fields else None
        return eventually(answer, 10, "the other broker answers")

    @staticmethod
    def refused(admin, name, fence):
        """The answer where the hold has another fence; unavailable where it came too late."""
        def answer():
            reply = admin.ask(f"UNLOCK-FORCE {name} fence={fence}")
            return reply if reply.code == "mismatch" else None
        return eventually(answer, 10, "the hold has another fence").text

    @staticmethod
    def ms(text):
        return int(text.removesuffix("ms"))

    def force(self, one, other):
        """UNLOCK-FORCE fence= through the other broker ends the hold with that fence alone."""
        holder, admin = self.client(one), self.client(other)
        holder.ok("SESSION label=cron")
        fence = holder.lock("x")
        self.assertRegex(self.refused(admin, "x", fence + 1), rf"the fence is {fence} now \(cron, for [0-9.]+ s\)$")
        self.assertEqual(holder.ok("LIST").body[0].split()[1], "x")
        admin.ask(f"UNLOCK-FORCE x fence={fence}")
        lost = holder.event()
        self.assertEqual((lost.status, lost.fence, lost["reason"]), ("!LOST", fence, "forced"))
        self.assertGreater(admin.lock("x"), fence)
        admin.ok("UNLOCK x")


class About(SystemTest, Told):
    def prepare(self):
        self.server = self.redis()
        self.one, self.other = (self.broker(self.server, http=True, trust_new=True, lease=10)
                                for _ in range(2))
        self.a, self.b = self.client(self.one), self.client(self.other)

    def test_status(self):
        self.prepare()
        self.tell(self.one, self.other)
        self.tell(self.other, self.one)

    def test_a_token_hold(self):
        """It has its fence in Redis, and all else at the broker that granted it."""
        self.prepare()
        resp = Resp(f"unix:{self.one.unix_path}")
        self.addCleanup(resp.close)
        self.assertEqual(resp("SET", "t", "secret", "NX", "PX", 60000), "OK")
        seen, told = self.a.ok("STATUS t"), self.told(self.b, "t")
        for key in ("session", "peer", "fence"):
            self.assertEqual(told[key], seen[key], key)
        self.assertNotIn("secret", told.text)
        self.b.err(f"UNLOCK-FORCE t fence={told.fence + 1}", "mismatch")
        self.assertEqual(resp("GET", "t"), "secret")
        self.b.ok(f"UNLOCK-FORCE t fence={told.fence}")
        self.assertIsNone(resp("GET", "t"))

    def test_http(self):
        self.prepare()
        self.a.ok("SESSION label=cron")
        fence = self.a.lock("x")
        self.told(self.b, "x")
        answer = http.of(self.other).get("/locks/x")
        self.assertEqual((answer.status, answer.json["label"], answer.json["fence"]),
                         (200, "cron", fence))
        self.assertIn("peer", answer.json)
        self.assertLess(answer.json["age_ms"], 20000)
        self.check_meant("x", fence, "cron")
        no_label = self.client(self.one)
        fence_y = no_label.lock("y")
        self.check_meant("y", fence_y, self.told(self.b, "y")["peer"])
        self.server.cmd("SET", "lock:z", "plain", "PX", 60000)
        self.assertEqual([http.of(self.one).get("/locks/z?" + query).status for query in
                          ("fence=1", "holder=plain")], [412, 412])
        self.one.freeze()
        self.assertEqual([http.of(self.other).get("/locks/x?" + query).status for query in
                          (f"fence={fence}", "holder=cron")], [503, 503])
        begin = now()
        answer = http.of(self.other).get("/locks/x")
        self.assertLess(now() - begin, patience(0.5, begin))
        self.assertEqual((answer.status, answer.json["broker"]), (200, self.one.name))
        self.assertNotIn("label", answer.json)
        self.one.thaw()

    def check_meant(self, name, fence, holder):
        """?fence= and ?holder=, through the broker that has the name and through another."""
        for web in http.of(self.one), http.of(self.other):
            for query, status in (
                    (f"fence={fence}", 200), (f"fence={fence + 1}", 412),
                    (f"holder={holder}", 200), ("holder=other", 412), ("holder=", 412),
                    (f"holder={holder}&fence={fence}", 200), (f"holder={holder}&fence=1", 412),
                    (f"holder=other&fence={fence}", 412), ("fence=x", 400), ("fence=", 400),
                    ("holder=%2", 400)):
                self.assertEqual(web.get(f"/locks/{name}?{query}").status, status, query)
        self.assertEqual(http.of(self.other).get("/locks/free?fence=1").status, 404)

    def test_a_broker_that_is_frozen(self):
        """The answer goes without after 200 ms, and the loop does not wait for it."""
        self.prepare()
        fence = self.a.lock("x")
        self.one.freeze()
        begin = now()
        self.b.send("@1 STATUS x")
        self.b.send("PING")
        self.assertEqual(self.b.reply().text, "OK")
        told = self.b.reply(tag="1")
        self.assert_within(0.2, now() - begin, patience(0.5, begin))
        self.assertEqual((told["state"], told["broker"]), ("held", self.one.name))
        self.assertLessEqual(int(told["lease_fence"]), fence)
        for key in ("fence", "session", "label", "age"):
            self.assertNotIn(key, told.fields)
        self.one.thaw()
        eventually(lambda: "session" in self.b.ok("STATUS x").fields, 10, "it answers again")

    def test_force(self):
        self.prepare()
        self.force(self.one, self.other)
        self.force(self.one, self.one)
        self.b.err("UNLOCK-FORCE x fence=0", "bad-option")
        self.b.err("UNLOCK-FORCE x fence=1", "not-held")
        self.server.cmd("SET", "lock:plain", "mine")
        self.b.err("UNLOCK-FORCE plain fence=1", "mismatch")
        self.assertEqual(self.server.cmd("GET", "lock:plain"), "mine")

    def test_force_of_those_who_share(self):
        self.prepare()
        fence = self.a.lock("x", "mode=shared")
        self.b.err(f"UNLOCK-FORCE x fence={fence - 1}", "mismatch")
        self.assertEqual(self.b.lock("x", "mode=shared"), fence)
        third = self.client(self.other)
        third.err(f"UNLOCK-FORCE x fence={fence - 1}", "mismatch")
        third.ok(f"UNLOCK-FORCE x fence={fence}")
        for client in (self.a, self.b):
            self.assertEqual(client.event()["reason"], "forced")

    def test_force_of_what_is_kept(self):
        """The hold has ended: what is left of it has no fence."""
        self.prepare()
        fence = self.a.lock("x", "keep=1h")
        self.a.ok("UNLOCK x")
        for client in (self.a, self.b):
            client.err(f"UNLOCK-FORCE x fence={fence}", "mismatch")
            self.assertEqual(client.ok("STATUS x")["state"], "held")
        self.b.ok("UNLOCK-FORCE x")

    def held_by_old(self):
        """Such a broker has x; returns what hears its channel."""
        self.server.cmd("SET", "lock:x", f"{OLD}.7|5", "PX", 60000)
        channel = Resp(self.server.address)
        self.addCleanup(channel.close)
        channel("SUBSCRIBE", f"lock:@{OLD}")
        return channel

    def test_a_broker_of_before(self):
        """One that knows neither word is silent: who asks goes without, and nothing is ended."""
        self.prepare()
        channel = self.held_by_old()
        begin = now()
        told = self.b.ok("STATUS x")
        self.assert_within(0.2, now() - begin, patience(0.5, begin))
        self.assertEqual((told["broker"], told["lease_fence"]), ("old", "5"))
        self.b.err("UNLOCK-FORCE x fence=5", "unavailable")
        self.assertEqual(self.server.cmd("GET", "lock:x"), f"{OLD}.7|5")
        words = [channel.read()[2].split()[0] for _ in range(4)]
        self.assertEqual(words, ["about", "force-by", "force-if", "about"])

    def test_nobody_listens(self):
        """There is no channel: the answer goes without at once."""
        self.prepare()
        self.server.cmd("SET", "lock:x", f"{OLD}.7|5", "PX", 60000)
        begin = now()
        self.assertEqual(self.b.ok("STATUS x")["lease_fence"], "5")
        self.assertLess(now() - begin, patience(0.15, begin))

    def test_a_hundred_a_second(self):
        """More than that go without, at once."""
        self.prepare()
        channel = self.held_by_old()
        begin = now()
        for number in range(300):
            self.b.send(f"@{number} STATUS x")
        told = [self.b.reply(tag=str(number)) for number in range(300)]
        self.assertTrue(all("lease_fence" in one.fields for one in told))
        self.server.cmd("PUBLISH", f"lock:@{OLD}", "end")
        asked = 0
        while channel.read()[2] != "end":
            asked += 1
        self.assertGreaterEqual(asked, 100)
        self.assertLessEqual(asked, 100 * (int(now() - begin) + 1))

    def test_what_anybody_says_in_the_channel(self):
        """No message ends a broker, or is shown where it is none."""
        self.prepare()
        self.a.lock("x")
        instance = re.match(r"([^.]+\.[0-9a-f]{16})\.\d+\|", self.server.cmd("GET", "lock:x"))
        said = ("about", "about 1", "about 1 x", "about 1 nobody x", f"about 1 {OLD} x",
                f"about 1 {OLD}. x", f"about 1 {OLD}.1 {'n' * 300}", f"about x {OLD}.1 x",
                f"about 1 {'b' * 500}.0123456789abcdef.1 x", f"about 1 {OLD}.1 \x01",
                "told", "told 1", "told 1 x", "told 99999999999999999999 x",
                "told 1 fence=x x", "told 1 label=" + "l" * 5000 + " x", "told 1 = x",
                "told 1  x", "told 1 x ", "force-if 1 1 x", "force-if 1 1 1 1 1 x",
                "force-if 1 18446744073709551615 1 1 0123456789abcdef x")
        for broker in (self.one, self.other):
            for channel in self.server.cmd("PUBSUB", "CHANNELS", "lock:@*"):
                for text in said:
                    self.server.cmd("PUBLISH", channel, text)
        self.assertIn(f"lock:@{instance[1]}", self.server.cmd("PUBSUB", "CHANNELS", "lock:@*"))
        let_time_pass(0.1)
        self.assertEqual(self.told(self.b, "x")["session"], self.a.ok("STATUS x")["session"])
        self.a.ok("UNLOCK x")


class OfACluster(Clusters, Told):
    def test_status_and_force(self):
        self.prepare(lease=10)
        self.tell(*self.brokers)
        for master in self.cluster.masters:
            name = self.name_on(master)
            fence = self.a.lock(name)
            self.assertEqual(self.told(self.b, name).fence, fence)
            self.refused(self.b, name, fence + 1)
            self.b.ask(f"UNLOCK-FORCE {name} fence={fence}")
            self.assertEqual(self.a.event(kind="LOST")["reason"], "forced")


class OfSentinels(SentinelTest, Told):
    def test_status_and_force(self):
        self.prepare(lease=10)
        self.tell(*self.brokers)
        self.force(*self.brokers)
