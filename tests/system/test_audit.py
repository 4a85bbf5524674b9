"""log.audit: a line of JSON for each hold that is over."""

import json
import os
import signal

from lib.case import SystemTest
from lib.wait import eventually, now, patience


class Audit(SystemTest):

    def setUp(self):
        super().setUp()
        self.path = os.path.join(self.directory, "audit")

    def lines(self, path=None):
        """The lines, without those about names whose clients waited until the broker granted."""
        if not os.path.exists(path or self.path):
            return []
        with open(path or self.path, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        return [line for line in lines if len(line["name"]) <= 4]

    def wait_for_lines(self, n, path=None):
        eventually(lambda: len(self.lines(path)) >= n, what=f"{n} lines")
        return self.lines(path)

    def use(self, client, name):
        client.ok(f"LOCK {name}")
        client.ok(f"UNLOCK {name}")

    def hang_up(self, broker, times):
        broker.signal(signal.SIGHUP)
        eventually(lambda: len(broker.log_lines(" reloaded ")) == times, what="a reload")

    def test_each_end_has_a_line(self):
        self.broker(log={"audit": self.path})
        client, other = self.clients(2)
        client.ok('SESSION label=a"b')
        fence = client.ok("LOCK x")["fence"]
        client.ok("UNLOCK x")
        client.ok("LOCK y mode=shared")
        other.ok("UNLOCK-FORCE y")
        client.ok("LOCK z")
        client.close()
        first, forced, dropped = self.wait_for_lines(3)
        self.assertEqual((first["name"], first["label"], str(first["fence"])),
                         ("x", 'a"b', fence))
        self.assertEqual((first["mode"], first["end"]), ("exclusive", "released"))
        self.assertRegex(first["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
        for key in ("session", "waited_ms", "held_ms"):
            self.assertIsInstance(first[key], int)
        self.assertNotIn("by", first)
        self.assertEqual((forced["name"], forced["mode"], forced["end"]),
                         ("y", "shared", "forced"))
        self.assertIn("session=", forced["by"])
        self.assertEqual((dropped["name"], dropped["end"]), ("z", "dropped"))
        self.assertEqual(os.stat(self.path).st_mode & 0o777 & ~0o640, 0)

    def test_it_may_be_moved_away(self):
        broker = self.broker(log={"audit": self.path})
        client = self.client()
        self.use(client, "a")
        self.wait_for_lines(1)
        os.rename(self.path, self.path + ".1")
        self.use(client, "b")
        self.wait_for_lines(2, self.path + ".1")
        self.hang_up(broker, 1)
        eventually(lambda: os.path.exists(self.path), what="another file")
        self.use(client, "c")
        self.assertEqual([line["name"] for line in self.wait_for_lines(1)], ["c"])
        self.assertEqual(len(self.lines(self.path + ".1")), 2)

    def test_it_begins_and_ends_with_a_reload(self):
        broker = self.broker()
        client = self.client()
        self.use(client, "a")
        broker.write_config({"log": {"audit": self.path}})
        self.hang_up(broker, 1)
        self.use(client, "b")
        self.wait_for_lines(1)
        broker.write_config({"log": {"audit": ""}})
        self.hang_up(broker, 2)
        self.use(client, "c")
        broker.write_config({"log": {"audit": self.path}})
        self.hang_up(broker, 3)
        self.use(client, "d")
        self.assertEqual([line["name"] for line in self.wait_for_lines(2)], ["b", "d"])

    def test_what_can_not_be_written_is_counted_and_told(self):
        path = os.path.join(self.directory, "missing", "audit")
        broker = self.broker(log={"audit": path})
        client = self.client()

        def told():
            self.use(client, "a")
            return broker.log_lines("audit-failed")
        eventually(told, what="it is told")
        eventually(lambda: int(client.stats()["audit_lost_total"]) > 0, what="it is counted")
        os.mkdir(os.path.dirname(path))
        self.hang_up(broker, 1)
        eventually(lambda: os.path.exists(path), what="the file")

        def goes_on():
            self.use(client, "b")
            return broker.log_lines("audit-goes-on")
        eventually(goes_on, what="that it goes on is told")
        self.assertEqual(len(broker.log_lines("audit-failed")), 1)
        lost = int(client.stats()["audit_lost_total"])
        self.use(client, "last")
        eventually(lambda: self.lines(path)[-1]["name"] == "last", what="the last line")
        self.assertEqual(int(client.stats()["audit_lost_total"]), lost)

    def test_nobody_waits_for_it(self):
        """Nobody reads at the other end: opening it takes for ever."""
        os.mkfifo(self.path)
        broker = self.broker(log={"audit": self.path})
        client = self.client()
        label = "x" * 64
        client.ok(f"SESSION label={label}")
        begin = now()
        for _ in range(15):
            for verb in ("LOCK", "UNLOCK"):
                client.send(*(f"@{n} {verb} n{n}" for n in range(500)))
                for n in range(500):
                    self.assertEqual(client.reply(30, tag=str(n)).status, "OK")
        self.assertGreater(int(client.stats()["audit_lost_total"]), 0)
        self.assertEqual(len(broker.log_lines("audit-failed")), 1)
        self.assertLess(now() - begin, patience(60))
        begin = now()
        self.assertEqual(broker.stop(), 0)
        self.assertLess(now() - begin, patience(10))
