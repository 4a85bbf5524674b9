"""What a client says of its hold for others: value=, SETVALUE, trace=."""

import json
import signal

from lib import http
from lib.wait import eventually
from test_cli import CommandTest


TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
OTHER = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"


class Values(CommandTest):
    limit = 60

    def prepare(self, lease=2):
        self.server = self.redis()
        self.one, self.other = (self.broker(self.server, http=True, trust_new=True, lease=lease)
                                for _ in range(2))
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


class Traces(CommandTest):
    def prepare(self):
        self.b = self.broker(lease=2, trust_new=True, log={"audit": True, "format": "json",
                                                             "level": "info"})
        self.a, self.other = self.clients(2)

    def ended(self, *traces):
        """These holds have ended by now, with lines in the log, and no others."""
        asked = r'"lock-ended","name":"[ab]"'
        lines = eventually(lambda: len(self.b.log_lines(asked)) >= len(traces) and
                           self.b.log_lines(asked), what="the lines")
        self.assertEqual([json.loads(line).get("trace") for line in lines], list(traces))

    def test_it_is_told(self):
        """To who looks while it waits and is held, to who is refused, and in log and history."""
        self.prepare()
        self.other.ok("SESSION why=yes")
        self.a.lock("a", f"trace={TRACE}")
        self.assertEqual(self.other.ask("TRYLOCK a")["trace"], TRACE)
        self.other.send(f"@1 LOCK a trace={OTHER}")
        eventually(lambda: len(self.a.ok("QUEUE a").body) == 2, what="it waits")
        for row, trace in zip(self.a.ok("QUEUE a").body, (TRACE, OTHER)):
            self.assertIn(f" trace={trace}", row)
        self.assertIn(f" trace={TRACE}", self.a.ok("HISTORY a").body[0])
        self.a.ok("UNLOCK a")
        self.assertEqual(self.other.reply(tag="1").status, "OK")
        self.other.ok("UNLOCK a")
        self.ended(TRACE, OTHER)
        for row, trace in zip(self.a.ok("HISTORY a").body, (OTHER, TRACE)):
            self.assertIn(f" trace={trace}", row)
        self.a.lock("a")
        self.a.ok("UNLOCK a")
        self.ended(TRACE, OTHER, None)

    def test_of_several_and_of_those_who_share(self):
        self.prepare()
        self.a.ok(f"LOCK a b mode=shared trace={TRACE}")
        self.other.ok(f"LOCK a mode=shared trace={OTHER}")
        self.a.ok("UNLOCK a b")
        self.ended(TRACE, TRACE)
        self.other.close()
        self.ended(TRACE, TRACE, OTHER)

    def test_a_loss_has_it(self):
        self.prepare()
        self.a.ok(f"LOCK a hold=100ms trace={TRACE}")
        self.assertEqual(self.a.event().status, "!LOST")
        self.ended(TRACE)
        [line] = self.b.log_lines('"lock-lost"')
        self.assertEqual(json.loads(line)["trace"], TRACE)

    def test_what_is_no_trace(self):
        self.prepare()
        for trace in ("", "00", TRACE[:-1], TRACE + "0", TRACE.upper(), "ff" + TRACE[2:],
                      TRACE.replace("-", "_"), f"00-{32 * '0'}-{16 * '1'}-01",
                      f"00-{32 * '1'}-{16 * '0'}-01", "0g" + TRACE[2:]):
            self.a.err(f"LOCK a trace={trace}", "bad-option")

    def test_a_process_that_leaves_tells_it(self):
        self.prepare()
        self.a.lock("a", f"trace={TRACE}")
        self.b.replace()
        self.assertIn(f" trace={TRACE}", self.a.ok("QUEUE a").body[0])
        self.a.ok("UNLOCK a")
        self.ended(TRACE)

    def test_the_command_takes_it_from_its_environment(self):
        self.prepare()
        for trace, told in ((TRACE, [TRACE]), ("none", [TRACE, None])):
            self.run_it("run", "a", "--", "true", env={"TRACEPARENT": trace})
            self.ended(*told)
        self.assertIn(TRACE, self.run_it("history", "a")[1])
        status, _, err = self.run_it("run", "-l", "2", "s", "--", "true",
                                     env={"TRACEPARENT": TRACE})
        self.assertEqual((status, err), (0, ""))
