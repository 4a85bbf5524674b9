"""Numbers agree with each other while clients of all kinds come and go. Redis is frozen while holders of three kinds have locks: does each record of that night, by
itself, say who lost what, and why?"""

import re

from lib import chromium, http
from lib.resp import Resp
from lib.wait import eventually
from test_cli import CommandTest


class Frozen(CommandTest):

    limit = 60

    def test_five_holders(self):
        server = self.redis()
        broker = self.broker(server, http=True, lease=2, trust_new=True)
        web = http.of(broker)
        runs = [self.start("run", f"run{i}", "--", "sleep", "100") for i in range(3)]
        line = self.client()
        line.lock("line")
        poller = Resp(f"unix:{broker.unix_path}")
        self.assertEqual(poller("SET", "token", "t", "NX", "PX", 4000), "OK")
        eventually(lambda: web.metrics()["lockbrokerd_locks_held"] == 5, 10, "all five hold")
        names = {"run0", "run1", "run2", "line", "token"}

        server.freeze()
        eventually(lambda: web.metrics()["lockbrokerd_locks_at_risk"] > 0, 10, "they are at risk")
        eventually(lambda: "at_risk" in line.ok("STATUS line").fields, 10, "STATUS says so")
        eventually(lambda: "line" in {
            one["name"] for one in web.get("/status.json").json["names"] if "at_risk_ms" in one},
                   10, "and which ones")
        eventually(lambda: re.match(r"Attention:.*Redis cannot be used.*\nAttention: \d locks",
                                    self.run_it("top", "-bn1", address=broker.unix_path)[1]),
                   10, "top says so first")
        for run in runs:
            self.assertEqual(self.end(run)[0], 123)
        eventually(lambda: web.metrics()["lockbrokerd_lost_total"] == 5, 20, "all are lost")

        lines = {event: [dict(word.split("=", 1) for word in one.split() if "=" in word)
                         for one in broker.log_lines(rf" {event} ")]
                 for event in ("lock-at-risk", "lock-given-up", "lock-lost", "lock-safe")}
        ends = {one["name"]: one["reason"]
                for one in lines["lock-lost"] + lines["lock-given-up"]}
        self.assertEqual(set(ends), names)
        self.assertEqual({ends["line"], ends["token"]}, {"unreachable"})
        self.assertEqual({ends[f"run{i}"] for i in range(3)}, {"given-up"})
        at_risk = sorted(one["fence"] for one in lines["lock-at-risk"])
        sequels = sorted(one["fence"] for event in ("lock-given-up", "lock-lost", "lock-safe")
                         for one in lines[event] if one["name"] != "token")
        self.assertEqual(at_risk, sequels, "each has one sequel")

        metrics = web.metrics()
        reasons = {reason: metrics['lockbrokerd_lock_losses_total{class="other",'
                                   f'reason="{reason}"}}'] for reason in
                   ("given-up", "unreachable", "taken", "forced", "hold")}
        self.assertEqual(reasons, {"given-up": 3, "unreachable": 2, "taken": 0, "forced": 0,
                                   "hold": 0})
        self.assertEqual(metrics["lockbrokerd_locks_at_risk"], 0)
        status = web.get("/status.json").json
        self.assertEqual({one["name"]: one["reason"] for one in status["losses"]}, ends)
        self.assertFalse(status["ready"])
        self.assertGreater(status["paused_ms"], 0)
        for one in status["losses"]:
            self.assertTrue(one["holder"])
        self.check_page(web, names)
        server.thaw()

    def check_page(self, web, names):
        """What it shows is what happened, and what is wrong comes first."""
        if chromium.program() is None:
            return
        browser = chromium.Browser()
        self.addCleanup(browser.close)
        browser.open(f"http://127.0.0.1:{web.port}/")
        eventually(lambda: browser.text(".verdict h2"), 10, "it is drawn")
        self.assertIn("No new locks since", browser.text(".verdict h2"))
        self.assertIn("Redis cannot be used", browser.text(".verdict"))
        lost = browser.text(".troubles")
        self.assertIn("5 locks were lost", lost)
        for words in ("3 \u00d7 released while at risk",
                      "2 \u00d7 Redis was unreachable for too long to renew it"):
            self.assertIn(words, lost)
        self.assertNotIn("locks at risk", lost)
        browser.evaluate("document.querySelectorAll('#losses summary').forEach(e => e.click())")
        lost = browser.text("#losses")
        for name in names:
            self.assertIn(name, lost)
        self.assertEqual(browser.evaluate("document.querySelector('.figures dd').innerText"), "0")

    def test_numbers_agree(self):
        """Lines, tokens that poll, and permits: in each scrape, what is counted twice is equal."""
        broker = self.broker(self.redis(), http=True, trust_new=True)
        web = http.of(broker)
        lines = self.clients(4)
        pollers = [Resp(f"unix:{broker.unix_path}") for _ in range(3)]
        for client in lines:
            client.ok("ACQUIRE s limit=4")
        holder = Resp(f"unix:{broker.unix_path}")
        self.assertEqual(holder("SET", "a", "t", "NX", "PX", 60000), "OK")
        for turn in range(40):
            for i, poller in enumerate(pollers):
                self.assertIsNone(poller("SET", "a", f"t{i}", "NX", "PX", 60000))
            client = lines[turn % 4]
            if turn < 3:
                client.lock(f"b{turn}")
            m = web.metrics()
            for total, parts in (("locks_held", "lock_holds"), ("lost_total", "lock_losses_total"),
                                 ("waiters", "lock_waiters")):
                self.assertEqual(m["lockbrokerd_" + total],
                                 sum(value for key, value in m.items()
                                     if key.startswith(f"lockbrokerd_{parts}{{")), total)
            if turn > 0:
                self.assertEqual(m["lockbrokerd_waiters"], 3)
                self.assertEqual(client.ok("STATUS a")["waiters"], "3")
                self.assertGreater(m['lockbrokerd_lock_oldest_wait_seconds{class="other"}'], 0)
