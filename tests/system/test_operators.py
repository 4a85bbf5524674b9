"""What the operators of brokers are told: who has what, where and since when; what the log says
after a night; and whether new locks can be granted."""

import os
import re
import signal
import subprocess
import time

from lib import http
from lib.broker import find_program
from lib.case import SystemTest, grace_of
from lib.wait import eventually, let_time_pass


class TwoBrokers(SystemTest):
    """One broker is asked about a name that the other one has."""

    def prepare(self):
        self.server = self.redis()
        self.here = self.broker(self.server, name="here", trust_new=True,
                                broker={"address": "here.example.org:5625"})
        self.there = self.broker(self.server, name="there", trust_new=True)
        self.holder = self.client(self.here)
        self.holder.lock("x")

    def look(self):
        return self.client(self.there).ok("STATUS x")

    def test_where_a_lock_is(self):
        self.prepare()
        status = self.look()
        self.assertEqual((status["broker"], status["address"]),
                         ("here", "here.example.org:5625"))
        queue = self.client(self.there).ok("QUEUE x")
        self.assertEqual(queue["waiters"], "0")
        self.assertRegex(queue.body[0], r"^holder broker=here address=here\.example\.org:5625 "
                                        r"mode=exclusive ttl=\d+ms$")
        self.assertEqual(len(queue.body), 1)

    def test_where_it_is_after_redis_was_emptied(self):
        """The broker publishes its address again."""
        self.prepare()
        self.server.cmd("FLUSHALL")
        eventually(lambda: self.look().fields.get("address") == "here.example.org:5625", 10)
        self.assertEqual(self.look()["broker"], "here")

    def test_a_broker_without_an_address(self):
        self.prepare()
        self.client(self.there).lock("y")
        status = self.client(self.here).ok("STATUS y")
        self.assertEqual(status["broker"], "there")
        self.assertNotIn("address", status.fields)

    def test_objects_of_another_broker(self):
        self.prepare()
        client = self.client(self.here)
        client.ok("ACQUIRE x limit=3 permits=2")
        client.ok("LATCH x count=2")
        status = self.look()
        self.assertEqual(status["other"], "semaphore,latch")
        semaphore = self.client(self.there).ok("STATUS x kind=semaphore")
        self.assertEqual((semaphore["limit"], semaphore["free"]), ("3", "1"))
        self.assertEqual(self.client(self.there).ok("STATUS x kind=latch")["count"], "2")


class Listed(SystemTest):
    """`list` for people: nothing is held by a ghost."""

    def said(self, broker, *words):
        return subprocess.run([find_program("lockbroker"), "-S", broker.unix_path, *words],
                              stdout=subprocess.PIPE, check=True, encoding="utf-8").stdout

    def rows(self, broker):
        return {line.split()[0]: line for line in self.said(broker, "list").splitlines()}

    def test_what_is_kept(self):
        broker = self.broker(self.redis(), trust_new=True)
        client = self.client(broker)
        client.ok("SESSION label=cron")
        client.lock("nightly", "keep=10m")
        self.assertNotIn("kept", client.ok("STATUS nightly").fields)
        client.ok("UNLOCK nightly")
        status = client.ok("STATUS nightly")
        self.assertEqual(status["state"], "held")
        self.assertEqual(status["kept"], status["until"])
        self.assertRegex(client.ok("NAMES").body[0], r"^nightly state=held kept=(59\d{4}|600000)ms was=cron ")
        self.assertRegex(self.rows(broker)["nightly"], r"^nightly +kept +\(was cron\) +[0-9m]+s ")
        for words, told in ((("status", "nightly"), r"(?m)^state +kept \(was cron\)$"),
                            (("queue", "nightly"), r"(?m)^kept +- +\(was cron\) "),
                            (("top", "-n", "1"), r"(?m)^nightly +kept +\(was cron\) +[0-9m]+s ")):
            self.assertRegex(self.said(broker, *words), told)

    def test_what_is_kept_elsewhere(self):
        server = self.redis()
        here = self.broker(server, name="here", trust_new=True)
        there = self.broker(server, name="there", trust_new=True)
        client = self.client(there)
        client.ok("SESSION label=cron")
        client.lock("nightly", "keep=10m")
        client.ok("UNLOCK nightly")
        self.assertRegex(self.said(here, "status", "nightly"), r"(?m)^state +kept \(was cron\)$")

    def test_a_semaphore(self):
        broker = self.broker(self.redis(), trust_new=True)
        for label in ("a", "b", "c"):
            client = self.client(broker)
            client.ok(f"SESSION label={label}")
            client.ok("ACQUIRE payments limit=3")
        self.assertRegex(client.ok("NAMES").body[0], " permits=3 limit=3 ")
        self.assertRegex(self.rows(broker)["payments"], r"^payments +semaphore +3 of 3 +a ")
        self.assertRegex(self.said(broker, "top", "-n", "1"), r"(?m)^payments +semaphore +3 of 3 ")
        told = self.said(broker, "queue", "payments")
        for words in (r" a +pid", r" b +pid", r" c +pid", "^3 of 3 permits are taken through"):
            self.assertRegex(told, "(?m)" + words)

    def test_what_another_broker_has(self):
        server = self.redis()
        here = self.broker(server, name="here", trust_new=True)
        there = self.broker(server, name="there", trust_new=True)
        self.client(there).lock("x")
        waiter = self.client(here)
        waiter.send("LOCK x")
        eventually(lambda: " broker=there " in self.client(here).ok("NAMES").body[0], 10,
                   "it is told")
        self.assertRegex(self.rows(here)["x"], r"^x +held +at there +- +1 ")


class Ready(SystemTest):
    """Can new locks be granted now, and if not, why, and for how long?"""

    def test_a_new_redis(self):
        self.broker(self.redis(), lease=1.0)
        client = self.client()
        text = eventually(lambda: "no new locks for" in client.ask("READY").text and
                          client.ask("READY").text, 5)
        self.assertRegex(text, r"^ERR unavailable no new locks for [0-9.]+ s: no broker has used "
                               r"this Redis before; locks that are held are kept; "
                               r"no new locks since [0-9:]{8} UTC \(.+\)$")
        left = int(client.stats()["grants_ready_in_ms"])
        self.assert_within(0, left, int(grace_of(1.0) * 1000) + 1)
        eventually(lambda: client.ask("READY").ok, 10)
        client.ok("TRYLOCK x")

    def test_one_outage(self):
        """Frozen, back, in its grace period: no new locks since one moment, that of the last that
        was possible."""
        server = self.redis()
        broker = self.broker(server, trust_new=True, lease=2.0, http=True)
        client, web = self.client(), http.of(broker)
        begun = time.time()
        server.freeze()
        frozen = time.time()
        told, steps = set(), set()

        def since(thaw=None):
            reply = client.ask("READY")
            if not reply.ok:
                status = web.get("/status.json").json
                told.add(re.search(r"no new locks since ([\d:]{8}) UTC", reply.text)[1])
                if not status["ready"]:
                    told.add(time.strftime("%H:%M:%S", time.gmtime(status["paused_since"])))
                    steps.add("grace" if status["ready_in_ms"] > 0 else "away")
            return not reply.ok

        eventually(since, 10, "it is told")
        let_time_pass(2)
        since()
        server.thaw()
        eventually(lambda: not since(), 20, "it grants again")
        self.assertEqual(steps, {"away", "grace"})
        self.assertEqual(len(told), 1, told)
        # The last call before came within a third of the stall time.
        self.assertIn(told.pop(), [time.strftime("%H:%M:%S", time.gmtime(begun - 2 + i * 0.5))
                                   for i in range(int((frozen - begun + 2) * 2) + 2)])
        client.ok("TRYLOCK x")

    def test_no_redis(self):
        self.broker("127.0.0.1:1")
        client = self.client()
        reply = client.err("READY", "unavailable")
        self.assertIn("Redis cannot be used", reply.text)
        self.assertEqual(client.stats()["grants_ready_in_ms"], "0")

    def test_brokers_with_other_settings(self):
        """Nobody knows how long that lasts, and no number claims to."""
        server = self.redis()
        self.broker(server, trust_new=True)
        other = self.broker(server, lease=2.0)
        client = self.client(other)
        reply = eventually(lambda: "other settings" in client.ask("READY").text and
                           client.ask("READY"), 5)
        self.assertEqual(reply.code, "unavailable")
        self.assertEqual(client.stats()["grants_ready_in_ms"], "0")
        self.assertNotIn("did not answer", client.err("STATUS x", "unavailable").text)


def fields(line):
    """The key=value pairs of a line of the log, quoted or not."""
    return {key: quoted or plain for key, quoted, plain in
            re.findall(r'([\w.]+)=(?:"((?:[^"\\]|\\.)*)"|(\S*))', line)}


class Log(SystemTest):
    """The log says what was seen, for those who read it later."""

    def one(self, broker, pattern, timeout=10):
        lines = eventually(lambda: broker.log_lines(pattern), timeout, pattern)
        self.assertEqual(len(lines), 1, lines)
        return fields(lines[0])

    def test_redis_refuses_connections(self):
        """Nothing listens there, and the log says so."""
        broker = self.broker("127.0.0.1:1")
        line = self.one(broker, "warning redis-down")
        self.assertEqual((line["node"], line["why"]), ("127.0.0.1:1", "Connection refused"))
        self.assertIn("Connection refused",
                      self.client().err("TRYLOCK x", "unavailable").text)

    def test_redis_stays_away(self):
        """It is logged again after five minutes, with the time that has passed."""
        clock = self.clock()
        broker = self.broker("127.0.0.1:1", clock=clock)
        self.one(broker, "warning redis-down")
        clock.suspend(301)
        lines = eventually(lambda: len(broker.log_lines("redis-down")) > 1 and
                           broker.log_lines("redis-down"), 10)
        self.assert_within(300000, int(fields(lines[1])["down_ms"]), 330000)

    def test_an_embedded_redis(self):
        broker = self.broker()
        self.assertIn("this broker only", self.one(broker, "warning embedded-redis")["text"])
        probe = subprocess.run([find_program(), "-t", "--probe", "-c", broker.config_path],
                               capture_output=True, text=True, check=True)
        self.assertRegex(probe.stdout, "(?m)^warn .*this broker only")

    def test_what_is_no_redis(self):
        """The advice says what it is, or what it should be."""
        other = self.broker(name="other")
        node = f"127.0.0.1:{other.port}"
        broker = self.broker(name="b2", ready=False, redis={"mode": "standalone", "nodes": [node]})
        self.assertIn("a lockbroker or a proxy", self.one(broker, "redis-down")["advice"])
        broker = self.broker(name="b3", ready=False, redis={
            "mode": "sentinel", "master": "m", "replicas": 0, "nodes": [node]})
        self.assertIn("check that this is a Sentinel", self.one(broker, "sentinel-down")["advice"])

    def test_a_name_that_changes(self):
        broker = self.broker(self.redis())
        broker.write_config({"broker": {"name": "b9"}})
        broker.signal(signal.SIGHUP)
        told = self.one(broker, "setting-needs-restart")
        self.assertEqual((told["setting"], told["from"], told["to"]), ("broker.name", "b1", "b9"))

    def test_a_reload(self):
        server = self.redis()
        broker = self.broker(server, lease=2.0, trust_new=True)
        broker.write_config({"locks": {"lease": "3s", "handovers": 7},
                             "log": {"level": "debug"}})
        broker.signal(signal.SIGHUP)
        done = self.one(broker, "notice reloaded")
        self.assertEqual((done["changed"], done["settings"]), ("2", "locks.handovers,log.level"))
        self.assertEqual(done["reread"], "configuration")
        other = self.one(broker, "setting-needs-restart")
        self.assertEqual((other["setting"], other["from"], other["to"]),
                         ("locks.lease", "2s", "3s"))
        self.assertIn("CHANGING THE LEASE", other["advice"])
        probe = subprocess.run([find_program(), "-t", "--probe", "-c", broker.config_path],
                               capture_output=True, text=True, check=False)
        self.assertEqual(probe.returncode, 1)
        self.assertRegex(probe.stdout, "(?m)^fail .*lease=2000,replicas=0, .*lease=3000")

    def test_debugging(self):
        """A session's number leads to its label, and each grant and release has a line."""
        broker = self.broker(log={"level": "debug"})
        client = self.client()
        number = client.ok("SESSION label=nightly grace=5s")["id"]
        fence = client.lock("x")
        client.ok("UNLOCK x")
        client.ok("QUIT")
        named = self.one(broker, "debug session-named .*label=nightly")
        self.assertEqual((named["session"], named["uid"]), (number, str(os.getuid())))
        for event in ("lock-granted", "lock-released"):
            line = self.one(broker, f"debug {event} name=x")
            self.assertEqual((line["session"], line["label"], line["fence"]),
                             (number, "nightly", str(fence)))
        self.one(broker, f"debug session-ends session={number}")


class Night(SystemTest):
    """Redis is killed and emptied, brokers are killed, forced and changed; and in the morning
    somebody reads the log, and nothing else, to tell who lost what, when, why, and where it is
    now."""

    limit = 90

    def lines(self, broker, event):
        return [fields(line) | {"at": line.split(" ")[0], "level": line.split(" ")[1]}
                for line in broker.log_lines(rf"^\S+ \w+ {event}( |$)")]

    def lost(self, broker, name):
        found = [line for line in self.lines(broker, "lock-lost") if line["name"] == name]
        self.assertEqual(len(found), 1, f"{name}: {found}")
        return found[0]

    def named(self, broker, label):
        client = self.client(broker)
        client.ok(f"SESSION label={label}")
        return client

    def start(self):
        self.server = self.redis(tcp=True)
        self.first = self.broker(self.server, name="first", lease=1.0, trust_new=True)
        self.second = self.broker(self.server, name="second", lease=1.0, trust_new=True)

    def wait_ready(self, *brokers):
        for broker in brokers:
            client = self.client(broker)
            eventually(lambda: client.ask("READY").ok, 20, f"{broker.name} grants")

    def test_what_the_log_tells(self):
        self.start()
        importer, backup = self.named(self.first, "import"), self.named(self.second, "backup")
        self.hold_runs_out()
        importer.lock("import")
        self.redis_is_killed(importer)
        self.redis_is_emptied(backup)
        self.it_is_forced(backup)
        self.a_broker_is_killed(importer)
        self.the_lease_is_changed()

    def hold_runs_out(self):
        client = self.named(self.first, "report")
        fence = client.lock("report", "hold=200ms")
        client.event(5, kind="LOST")
        line = self.lost(self.first, "report")
        self.assertEqual((line["level"], line["reason"], line["label"], line["fence"]),
                         ("info", "hold", "report", str(fence)))
        self.assert_within(200, int(line["held_ms"]), 2000)

    def redis_is_killed(self, importer):
        self.server.kill()
        importer.event(10, kind="LOST")
        line = self.lost(self.first, "import")
        self.assertEqual((line["level"], line["reason"], line["label"]),
                         ("warning", "unreachable", "import"))
        self.assertTrue(line["peer"].startswith("pid:"))
        risk, = (one for one in self.lines(self.first, "lock-at-risk") if
                 one["name"] == "import")
        self.assertEqual(risk["session"], line["session"])
        self.assertLess(risk["at"], line["at"])
        down = self.lines(self.first, "redis-down")
        self.assertLess(down[0]["at"], line["at"])
        self.server.start()
        self.wait_ready(self.first, self.second)
        pending = self.lines(self.first, "guard-pending")[-1]
        self.assertIn(pending["cause"], ("restarted", "emptied"))
        self.assertEqual(pending["node"], self.lines(self.first, "redis-up")[0]["node"])
        self.assertIn("locks that are held are kept", pending["text"])
        ready = self.lines(self.first, "guard-ready")[-1]
        self.assertGreater(int(ready["after_ms"]), 1000)

    def redis_is_emptied(self, backup):
        """Everything held is kept, and no line says that it was lost."""
        backup.lock("backup")
        before = len(self.lines(self.second, "guard-pending"))
        self.server.cmd("FLUSHALL")
        eventually(lambda: len(self.lines(self.second, "guard-pending")) > before, 10)
        self.assertEqual(self.lines(self.second, "guard-pending")[-1]["cause"], "emptied")
        self.wait_ready(self.first, self.second)
        self.assertEqual(self.lines(self.second, "lock-lost"), [])

    def it_is_forced(self, backup):
        self.client(self.first).ok("UNLOCK-FORCE backup", timeout=10)
        backup.event(5, kind="LOST")
        asked, = self.lines(self.first, "unlock-force")
        self.assertEqual((asked["name"], asked["uid"], asked["peer"]),
                         ("backup", str(os.getuid()), f"pid:{os.getpid()}"))
        self.assertEqual(self.lines(self.first, "unlock-force-asked")[0]["broker"], "second")
        forced, = self.lines(self.second, "forced")
        self.assertEqual((forced["name"], forced["label"]), ("backup", "backup"))
        for part in (f"uid={os.getuid()}", f"pid:{os.getpid()}", "broker=first"):
            self.assertIn(part, forced["by"])
        self.assertEqual(self.lost(self.second, "backup")["reason"], "forced")

    def a_broker_is_killed(self, importer):
        """Its clients lose everything; the other broker logs no loss, and has the name now."""
        importer.lock("import")
        heir = self.named(self.second, "heir")
        self.first.kill()
        heir.lock("import", timeout=15)
        status = heir.ok("STATUS import")
        self.assertEqual((status["broker"], status["label"]), ("second", "heir"))
        heir.ok("UNLOCK import")

    def the_lease_is_changed(self):
        third = self.broker(self.server, name="third", lease=2.0)
        eventually(lambda: self.lines(third, "guard-refuses"), 10)
        refuses, = self.lines(third, "guard-refuses")
        self.assertEqual((refuses["level"], refuses["cause"]), ("error", "settings"))
        self.assertIn("(locks.lease 1s, ", refuses["text"])
        self.second.kill()
        self.wait_ready(third)
        pending = self.lines(third, "guard-pending")[-1]
        self.assertEqual(pending["cause"], "settings")
        self.assertTrue(self.lines(third, "guard-ready"))
