"""Measurements by class of names: each number is moved by what happens, and read back."""

import hashlib
import re
import signal

from lib import http
from lib.case import SystemTest
from lib.manual import read_source
from lib.wait import eventually, let_time_pass

CLASSES = [{"name": "deploy", "names": ["deploy/*", "release"]}, {"name": "cron", "names": ["c*"]}]


class Measures(SystemTest):

    limit = 40

    def setUp(self):
        super().setUp()
        self.server = self.redis()
        self.webs = [self.web() for _ in range(2)]
        self.here, self.there = self.clients(2, self.brokers[0])
        self.far = self.client(self.brokers[1])

    def web(self):
        broker = self.broker(self.server, http=True, lease=2, trust_new=True,
                             metrics={"classes": CLASSES})
        return http.of(broker)

    def number(self, name, broker=0, cls="deploy", **labels):
        """The one number with these labels."""
        wanted = {f'{key}="{value}"' for key, value in {"class": cls, **labels}.items()}
        found = [value for key, value in self.webs[broker].metrics().items()
                 if key.startswith(f"lockbrokerd_{name}{{") and wanted <= set(
                     key[key.index("{") + 1:-1].split(","))]
        self.assertEqual(len(found), 1, (name, wanted))
        return found[0]

    def counted(self, name, n, broker=0, **labels):
        eventually(lambda: self.number(name, broker, **labels) == n, what=f"{name} is {n}")

    def test_a_wait_and_a_hold(self):
        self.here.lock("deploy/a")
        self.there.send("LOCK deploy/a")
        self.counted("lock_waiters", 1)
        let_time_pass(0.1)
        self.assertGreaterEqual(self.number("lock_oldest_wait_seconds"), 0.1)
        self.assertEqual(self.number("lock_waiters", cls="other"), 0)
        self.assertEqual(self.number("lock_holds"), 1)
        self.here.ok("UNLOCK deploy/a")
        self.assertTrue(self.there.reply().ok)
        self.assertEqual(self.number("lock_wait_seconds_count", result="granted"), 2)
        self.assertGreaterEqual(self.number("lock_wait_seconds_sum", result="granted"), 0.1)
        self.assertEqual(
            self.number("lock_wait_seconds_bucket", result="granted", le="0.1"), 1)
        self.assertEqual(self.number("lock_hold_seconds_count"), 1)
        self.assertGreaterEqual(self.number("lock_hold_seconds_sum"), 0.1)
        self.assertEqual(self.number("lock_handover_seconds_count", **{"from": "here"}), 1)
        self.assertEqual(self.number("lock_oldest_wait_seconds"), 0)
        self.assertEqual(self.number("lock_wait_seconds_count", cls="cron", result="granted"), 0)

    def test_waits_that_are_given_up(self):
        self.here.lock("release")
        self.assertEqual(self.there.ask("LOCK release wait=50ms").status, "TIMEOUT")
        self.counted("lock_wait_seconds_count", 1, result="timeout")
        self.assertGreaterEqual(self.number("lock_wait_seconds_sum", result="timeout"), 0.05)
        self.assertEqual(self.there.ask("TRYLOCK release").status, "BUSY")
        self.counted("lock_busy_total", 1)
        self.there.send("LOCK release")
        self.counted("lock_waiters", 1)
        self.there.close()
        self.counted("lock_wait_seconds_count", 1, result="cancelled")
        self.counted("lock_waiters", 0)

    def test_it_comes_from_another_broker(self):
        self.here.lock("deploy/a")
        self.far.send("LOCK deploy/a")
        self.counted("lock_waiters", 1, broker=1)
        eventually(lambda: self.server.cmd("LRANGE", "lock:@queue:deploy/a", "0", "-1"),
                   what="it is in the queue")
        self.here.ok("UNLOCK deploy/a")
        self.assertTrue(self.far.reply().ok)
        self.counted("lock_handover_seconds_count", 1, broker=1, **{"from": "elsewhere"})
        self.assertEqual(
            self.number("lock_handover_seconds_count", broker=1, **{"from": "here"}), 0)

    def test_losses(self):
        self.here.lock("cron")
        self.there.ok("UNLOCK-FORCE cron")
        self.counted("lock_losses_total", 1, cls="cron", reason="forced")
        self.here.ask("LOCK cron hold=20ms")
        self.counted("lock_losses_total", 1, cls="cron", reason="hold")
        self.assertEqual(self.number("lock_losses_total", cls="cron", reason="unreachable"), 0)

    def test_renewals(self):
        self.here.lock("cron")
        eventually(lambda: self.number("lease_renewal_margin_seconds_count", cls="cron") > 0, 10,
                   "a renewal")
        count = self.number("lease_renewal_margin_seconds_count", cls="cron")
        total = self.number("lease_renewal_margin_seconds_sum", cls="cron")
        self.assertLess(total / count, 2)
        self.assertGreater(total / count, 0)

    def test_a_reload(self):
        self.here.lock("x")
        self.counted("lock_holds", 1, cls="other")
        broker = self.brokers[0]
        broker.write_config({"metrics": {"classes": [{"name": "new", "names": ["x"]}]}})
        broker.signal(signal.SIGHUP)
        eventually(lambda: broker.log_lines(" reloaded "), what="a reload")
        self.here.ok("UNLOCK x")
        self.counted("lock_hold_seconds_count", 1, cls="new")
        self.counted("lock_holds", 0, cls="other")
        self.assertNotIn('class="deploy"', self.webs[0].get("/metrics").text)


class Manual(SystemTest):
    def test_the_manual_has_the_type_and_labels_of_each(self):
        """In the last line of its item; some labels come with a user, or a server."""
        secret = "sha256:" + hashlib.sha256(b"secret").hexdigest()
        broker = self.broker(http=True, ready=False,
                             auth={"users": [{"name": "root", "hash": secret, "admin": True}]})
        text = http.of(broker, user="root", password="secret").get("/metrics").text
        page = read_source("man/lockbroker-metrics.7").split(".Sh METRICS")[1]
        items = re.split(r"\n\.(?:It|El)\b", page)
        manual = {item.split()[1]: item.split("\n.D1 ")[1] for item in items if "\n.D1 " in item}
        for name, kind in http.families(text).items():
            *_, labels = re.search(rf"\n{name}(_bucket)?({{.*}})? ", text).groups()
            labels = [key for key in re.findall(r'(\w+)="', labels or "") if key != "le"]
            if name in manual:
                said = "; label" + "s" * (len(labels) > 1) + " " + ", ".join(labels)
                self.assertEqual(manual.pop(name), kind + (said if labels else "; no labels"))
            else:
                self.assertEqual((kind == "counter", labels), (name.endswith("_total"), []), name)
        self.assertEqual(manual, {})
