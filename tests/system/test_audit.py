"""log.audit: a line `lock-ended` for each hold that is over."""

import json
import signal

from lib.case import SystemTest
from lib.wait import eventually


class Audit(SystemTest):

    def lines(self, broker):
        """Without those about names whose clients waited until the broker granted."""
        lines = [json.loads(line) for line in broker.log_lines('"lock-ended"')]
        return [line for line in lines if len(line["name"]) <= 4]

    def wait_for_lines(self, broker, n):
        eventually(lambda: len(self.lines(broker)) >= n, what=f"{n} lines")
        return self.lines(broker)

    def use(self, client, name):
        client.ok(f"LOCK {name}")
        client.ok(f"UNLOCK {name}")

    def hang_up(self, broker, times):
        broker.signal(signal.SIGHUP)
        eventually(lambda: len(broker.log_lines('"reloaded"')) == times, what="a reload")

    def test_each_end_has_a_line(self):
        broker = self.broker(log={"audit": True, "format": "json"})
        client, other = self.clients(2)
        client.ok('SESSION label=a"b')
        fence = client.ok("LOCK x")["fence"]
        client.ok("UNLOCK x")
        client.ok("LOCK y mode=shared")
        other.ok("UNLOCK-FORCE y")
        client.ok("LOCK z")
        client.close()
        first, forced, dropped = self.wait_for_lines(broker, 3)
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

    def test_it_begins_and_ends_with_a_reload(self):
        broker = self.broker(log={"format": "json"})
        client = self.client()
        self.use(client, "a")
        for times, (audit, name) in enumerate(((True, "b"), (False, "c"), (True, "d")), 1):
            broker.write_config({"log": {"audit": audit, "format": "json"}})
            self.hang_up(broker, times)
            self.use(client, name)
        names = [line["name"] for line in self.wait_for_lines(broker, 2)]
        self.assertEqual(names, ["b", "d"])

    def test_it_is_logged_at_any_level(self):
        broker = self.broker(log={"audit": True, "level": "error"})
        self.use(self.client(), "a")
        eventually(lambda: broker.log_lines(" lock-ended name=a .* end=released"), what="the line")
