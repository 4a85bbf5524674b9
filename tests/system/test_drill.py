"""DRILL: a holder is told that it has lost a name, and keeps others away until it has let go."""

import json

from lib import http
from lib.case import SystemTest
from lib.resp import Resp
from lib.wait import eventually, let_time_pass, patience
from test_cli import CommandTest
from test_sentinel import SentinelTest


class Drills(SystemTest):
    def held(self, broker, name="a", label="etl", **options):
        holder = self.client(broker, **options)
        holder.ok(f"SESSION label={label}")
        holder.lock(name)
        return holder

    def begin(self, broker, holder, name="a", options=""):
        """The holder is told; who asked waits. A broker may be too busy to say who has it."""
        def told():
            asker = self.client(broker)
            asker.send(f"DRILL {name}{options}")
            eventually(lambda: not (holder.silent() and asker.silent()), 10, "it is answered")
            if holder.events:
                lost = holder.event()
                self.assertEqual((lost.status, lost["reason"]), ("!LOST", "drill"))
                return asker
            self.assertEqual(asker.reply().code, "unavailable")
            return None
        return eventually(told, 20, "the drill begins")

    def kept(self, *brokers, name="a"):
        for broker in brokers:
            self.assertEqual(self.client(broker).ask(f"TRYLOCK {name}").text, "BUSY")

    def over(self, asker, label="etl"):
        reply = asker.reply(timeout=patience(20))
        self.assertEqual((reply.status, reply["holder"]), ("OK", label))
        self.assertRegex(reply["took"], r"^\d+ms$")
        return int(reply["took"][:-2])


class One(Drills):
    """One broker, with its own Redis."""

    def test_unlock_lets_go(self):
        broker = self.broker(http=True)
        holder = self.held(broker)
        asker = self.begin(broker, holder)
        waiter = self.client()
        waiter.send("LOCK a")
        self.kept(broker)
        self.assertEqual(self.client().ask("DRILL a").code, "exists")
        holder.err("LOCK a", "lost")
        holder.err("EXTEND a hold=1m", "lost")
        self.assertEqual(holder.ok("LIST").body, [])
        self.assertTrue(waiter.silent(0.3))
        holder.err("UNLOCK a", "lost")
        self.assertGreaterEqual(self.over(asker), 300)
        waiter.reply()
        holder.err("UNLOCK a", "not-held")
        rows = [row for row in self.client().ok("HISTORY a").body if "end=drill" in row]
        self.assertEqual(len(rows), 1)
        self.assertIn('class="other",reason="drill"} 1', http.of(broker).get("/metrics").text)

    def test_the_end_of_the_session_lets_go(self):
        broker = self.broker()
        for end in ("QUIT", None):
            holder = self.held(broker)
            asker = self.begin(broker, holder)
            self.kept(broker)
            if end:
                holder.ok(end)
            else:
                holder.close()
            self.over(asker)
            self.assertTrue(self.client().ask("TRYLOCK a").ok)
            self.client().ask("UNLOCK-FORCE a")

    def test_the_last_valid_lets_go(self):
        """The client may be at work for as long as it was told."""
        broker = self.broker(lease=3)
        holder = self.held(broker, tcp=True)
        holder.ok("SESSION end=quit")
        valid = int(holder.ok("PING")["valid"][:-2])
        asker = self.begin(broker, holder)
        holder.close()
        self.kept(broker)
        self.assertGreater(self.over(asker), valid - 1000)

    def test_max(self):
        broker = self.broker()
        holder = self.held(broker)
        asker = self.begin(broker, holder, options=" max=200ms")
        self.assertEqual(asker.reply()["took"], "max")
        self.kept(broker)
        self.client().ok("UNLOCK-FORCE a")
        self.assertTrue(self.client().ask("TRYLOCK a").ok)

    def test_the_one_who_asked_goes(self):
        broker = self.broker()
        holder = self.held(broker)
        self.begin(broker, holder).close()
        let_time_pass(0.2)
        self.kept(broker)
        holder.err("UNLOCK a", "lost")
        self.assertTrue(self.client().ask("TRYLOCK a").ok)

    def test_what_is_refused(self):
        broker = self.broker()
        admin = self.client()
        admin.err("DRILL a", "not-found")
        shared = self.client()
        shared.ok("LOCK s mode=shared")
        admin.err("DRILL s", "unsupported")
        resp = Resp(f"unix:{broker.unix_path}")
        self.addCleanup(resp.close)
        self.assertEqual(resp("SET", "t", "secret", "NX", "PX", 60000), "OK")
        admin.err("DRILL t", "unsupported")
        self.assertIsInstance(resp("LOCK", "r"), int)
        admin.err("DRILL r", "unsupported")
        self.client(tcp=True).err("DRILL a", "denied")
        admin.err("DRILL", "bad-request")
        admin.err("DRILL a max=5", "bad-option")

    def test_resp3(self):
        broker = self.broker()
        resp = Resp(f"unix:{broker.unix_path}")
        self.addCleanup(resp.close)
        resp("HELLO", "3")
        self.assertIsInstance(resp("LOCK", "r"), int)
        asker = self.client()
        asker.send("DRILL r")
        self.assertEqual(resp.push()[-1], "drill")
        self.kept(broker, name="r")
        resp("QUIT")
        self.assertTrue(asker.reply().ok)


class Command(CommandTest, Drills):
    def test_run_stops(self):
        """`run` stops its command; the drill says how long that took."""
        self.broker()
        child = self.start("run", "--label", "etl", "a", "--", "sleep", "60")
        eventually(lambda: self.client().ok("STATUS a")["state"] == "held", 10, "it runs")
        status, out, err = self.run_it("drill", "--max", "30s", "a")
        self.assertEqual((status, err), (0, ""))
        self.assertRegex(out, r"^etl let go [\d.]+ s after the loss\n$")
        self.assertNotEqual(child.wait(), 0)
        self.assertEqual(self.run_it("drill", "a")[0], 1)

    def test_one_that_does_not_stop(self):
        broker = self.broker()
        self.held(broker)
        status, out, _ = self.run_it("drill", "--max", "200ms", "a")
        self.assertEqual(status, 1)
        self.assertRegex(out, r"^etl has not let go, [\d.]+ s after the loss; a stays reserved ")
        self.held(broker, "b")
        status, out, _ = self.run_it("--json", "drill", "--max", "200ms", "b")
        self.assertEqual(json.loads(out)["took"], "max")
        self.assertEqual(self.run_it("drill", "--max", "soon", "b")[0], 64)


class Two(Drills):
    def prepare(self, lease=10):
        server = self.redis()
        for _ in range(2):
            self.broker(server, trust_new=True, lease=lease)
        return self.brokers

    def test_through_another_broker(self):
        one, two = self.prepare()
        holder = self.held(two)
        asker = self.begin(one, holder)
        self.kept(one, two)
        let_time_pass(0.2)
        holder.err("UNLOCK a", "lost")
        self.assertGreaterEqual(self.over(asker), 200)
        self.assertGreater(self.client(one).lock("a"), 0)

    def test_the_broker_is_replaced(self):
        one, two = self.prepare()
        holder = self.held(two)
        asker = self.begin(one, holder)
        two.replace()
        holder.event()
        self.kept(one, two)
        holder.err("UNLOCK a", "lost")
        self.over(asker)

    def test_the_broker_is_killed(self):
        """Its lease runs out; nobody says that the holder has let go."""
        one, two = self.prepare(lease=3)
        holder = self.held(two)
        asker = self.begin(one, holder, options=" max=4s")
        two.kill()
        self.kept(one)
        self.assertEqual(asker.reply(timeout=patience(20))["took"], "max")
        self.client(one).lock("a", timeout=patience(20))

    def test_redis_is_away(self):
        """Then it is lost in earnest, and the drill says so."""
        server = self.redis()
        broker = self.broker(server, trust_new=True, lease=3)
        holder = self.held(broker)
        asker = self.begin(broker, holder)
        server.freeze()
        self.addCleanup(server.thaw)
        self.assertEqual(asker.reply(timeout=patience(20)).code, "lost")
        server.thaw()
        self.assertFalse(holder.events)


class Failover(SentinelTest, Drills):
    limit = 60

    def test_it_goes_on(self):
        self.prepare(lease=6, down_after=2, confirm=1)
        one, two = self.brokers
        holder = self.held(two)
        asker = self.begin(one, holder)
        self.fail_over()
        self.assertEqual(self.client(two).ok("STATUS a kind=lock")["label"], "etl")
        self.assertTrue(holder.silent(0.1))
        holder.err("UNLOCK a", "lost")
        self.over(asker)
