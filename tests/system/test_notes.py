"""What a client says of its hold for others: value=, SETVALUE."""

import json
import signal

from lib import http
from lib.wait import eventually, let_time_pass
from test_cli import CommandTest


class Values(CommandTest):
    limit = 60

    def prepare(self, lease=2):
        self.server = self.redis()
        for _ in range(2):
            self.broker(self.server, start=False, trust_new=True, lease=lease)
        for broker in self.brokers:
            broker.settings["listen"] = [{"unix": broker.unix_path}, {"tcp": "127.0.0.1:0"},
                                         {"http": "127.0.0.1:0"}]
            broker.start()
        self.one, self.other = self.brokers
        self.a, self.b = self.client(self.one), self.client(self.other)

    def told(self, client, value, name="a"):
        """The other broker may answer later than the question waits for it."""
        eventually(lambda: client.ok(f"STATUS {name}").fields.get("value") == value, 20,
                   f"it tells {value}")

    @staticmethod
    def hears(watcher, value):
        """The watcher is told of the value; what it is told before does not count."""
        while True:
            event = watcher.event()
            if event.status == "!HELD" and event.fields.get("value") == value:
                return event

    def test_through_both_brokers(self):
        self.prepare()
        here, there = self.client(self.one), self.client(self.other)
        here.ok("WATCH a")
        there.ok("WATCH a")
        fence = self.a.lock("a", "value=10.0.0.7:8080/?x=1")
        for client in here, there:
            self.assertEqual(self.hears(client, "10.0.0.7:8080/?x=1").fence, fence)
        for client in self.a, self.b:
            self.told(client, "10.0.0.7:8080/?x=1")
        self.assertIn(" value=10.0.0.7:8080/?x=1", self.a.ok("QUEUE a").body[0])
        for broker in self.brokers:
            web = http.of(broker)
            eventually(lambda web=web: web.get("/locks/a").json.get("value") ==
                       "10.0.0.7:8080/?x=1", 20, "so does /locks")
        self.a.ok("SETVALUE a value=\u00e9l\u00e8ve")
        for client in here, there:
            self.hears(client, "\u00e9l\u00e8ve")
        self.told(self.b, "\u00e9l\u00e8ve")
        self.assertNotIn("\u00e9l\u00e8ve", self.everything_in_redis())
        self.b.err("SETVALUE a value=mine", "not-held")
        self.a.ok("UNLOCK a")
        self.told(self.b, None)
        self.assertNotIn("value", self.b.ok("STATUS a").fields)
        self.b.lock("a")
        self.assertNotIn("value", self.b.ok("STATUS a").fields)

    def everything_in_redis(self):
        return "".join(str(self.server.cmd("DUMP", key)) + key
                       for key in self.server.cmd("KEYS", "*"))

    def test_what_is_refused(self):
        self.prepare()
        for line in ("LOCK a b value=x", "LOCK a mode=shared value=x", "LOCK a value=",
                     "LOCK a value=x value=y", "ACQUIRE a limit=2 value=x",
                     "LOCK a value=" + 513 * "x"):
            self.a.err(line, "bad-option")
        self.a.err("SETVALUE a", "bad-request")
        self.a.err("SETVALUE a value=x", "not-held")
        self.a.lock("a", "value=" + 512 * "x")
        self.told(self.b, 512 * "x")

    def test_a_session_that_is_resumed_has_it(self):
        """Over another connection, at the process of before, and at the one that replaces it."""
        self.prepare()
        key = self.a.ok("SESSION grace=30s")["key"]
        self.a.lock("a", "value=x")
        self.a.close()
        self.told(self.b, "x")
        again = self.client(self.one)
        again.ok(f"RESUME key={key}")
        self.told(again, "x")
        self.one.replace()
        again.ok("SETVALUE a value=y")
        self.told(self.b, "y")
        again.close()
        fresh = self.client(self.one)
        self.told(fresh, "y")
        eventually(lambda: fresh.ask(f"RESUME key={key}").status == "OK", 10, "it resumes")
        self.told(fresh, "y")
        fresh.ok("SETVALUE a value=z")
        self.told(self.b, "z")

    def test_a_broker_that_is_killed_takes_it_along(self):
        self.prepare()
        self.a.lock("a", "value=x")
        watcher = self.client(self.other)
        watcher.ok("WATCH a")
        self.hears(watcher, "x")
        self.one.kill()
        self.b.lock("a")
        self.assertNotIn("value", self.b.ok("STATUS a").fields)
        while watcher.event().fields.get("value") is not None:
            pass

    def test_redis_is_restarted(self):
        """The broker keeps it: what Redis forgets is written again, and the value stays."""
        self.prepare()
        self.a.lock("a", "value=x")
        self.server.restart()
        self.told(self.a, "x")
        eventually(lambda: self.b.ask("STATUS a").fields.get("value") == "x", 20,
                   "the other broker asks again")

    def test_the_command(self):
        self.prepare()
        child = self.start("elect", "--value", "host-a:8080", "lead", "--", "sleep", "100")
        self.told(self.b, "host-a:8080", "lead")
        out = self.run_it("status", "lead", address=self.other.unix_path)[1]
        self.assertRegex(out, r"(?m)^value    host-a:8080$")
        out = self.run_it("--json", "status", "lead")[1]
        self.assertEqual(json.loads(out)["value"], "host-a:8080")
        self.assertIn("host-a:8080", self.run_it("queue", "lead")[1])
        child.send_signal(signal.SIGTERM)
        self.end(child)
        for words in (("--value", "", "a"), ("--value", "a b", "a"), ("--value", 513 * "x", "a"),
                      ("--value", "x", "-s", "a"), ("--value", "x", "-l", "2", "a"),
                      ("--value", "x", "-a", "b", "a")):
            status, _, err = self.run_it("run", *words, "--", "true")
            self.assertEqual(status, 2 if not words else status)
            self.assertIn("--value", err)
            self.assertNotEqual(status, 0)

    def test_a_duration_is_a_value_like_any_other(self):
        self.prepare()
        self.a.lock("a", "value=500ms")
        self.assertRegex(self.run_it("status", "a")[1], r"(?m)^value    500ms$")
        self.assertIn("500ms", self.run_it("queue", "a")[1])
