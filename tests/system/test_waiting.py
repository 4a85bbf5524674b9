"""`lockbroker run` while it waits: for a lock, for a broker, for Redis; and what it says."""

import os
import pty
import re
import signal
import subprocess

from lib.proc import die_with_parent
from lib.wait import eventually, hang, let_time_pass, now, patience
from test_cli import CommandTest


class Waits(CommandTest):
    """-w covers everything that keeps the command from its lock."""

    def setUp(self):
        super().setUp()
        self.server = self.redis()

    def b1(self, **settings):
        return self.broker(self.server, name="b1", trust_new=True, lease=2, **settings)

    def test_a_broker_that_is_not_there_yet(self):
        path = os.path.join(self.directory, "b1", "s")
        child = self.start("run", "-v", "-w", "1m", "x", "--", "echo", "ran", address=path)
        self.assertRegex(child.stderr.readline(),
                         rf"^lockbroker: x: waiting; no broker answers: {path}: No such file")
        self.b1()
        began = now()
        status, out, err = self.end(child)
        self.assertEqual((status, out), (0, "ran\n"), err)
        self.assertLess(now() - began, patience(2))

    def test_a_broker_that_restarts_while_it_waits(self):
        broker = self.b1()
        self.client().lock("x")
        child = self.start("run", "-v", "-w", "1m", "x", "--", "echo", "ran")
        self.assertIn("waiting; held by", child.stderr.readline())
        broker.kill()
        broker.expected_status = 0
        self.assertIn("the connection was closed", child.stderr.readline())
        self.assertIn("waiting; no broker answers", child.stderr.readline())
        # Longer than it waits without -w.
        let_time_pass(5.5)
        broker.start()
        self.assertEqual(self.end(child, 15)[:2], (0, "ran\n"))

    def test_a_broker_that_does_not_come(self):
        began = now()
        status, _, err = self.run_it("run", "-w", "1", "-E", "0", "x", "true",
                                     address="127.0.0.1:1")
        self.assertEqual(status, 69, "not run anywhere is not the same as busy")
        self.assert_within(1, now() - began, patience(2))
        self.assertIn("Connection refused", err)

    def test_without_a_time_a_broker_must_be_there(self):
        began = now()
        self.assertEqual(self.run_it("run", "x", "true", address="127.0.0.1:1")[0], 69)
        self.assertLess(now() - began, patience(1))

    def test_the_time_counts_from_the_start(self):
        """Time that was spent waiting for the broker is not waited again."""
        path = os.path.join(self.directory, "b1", "s")
        self.server.cmd("SET", "lock:x", "held by a plain client")
        began = now()
        child = self.start("run", "-w", "4", "x", "true", address=path)
        let_time_pass(2.5)
        self.b1()
        self.assertEqual(self.end(child)[0], 1)
        self.assert_within(4, now() - began, patience(5.5))

    def test_a_grace_period(self):
        """A server never seen before grants nothing at first; -w waits for it, -n does not."""
        self.broker(self.server, name="b1", lease=2)
        child = self.start("run", "-v", "-w", "1m", "x", "--", "echo", "ran")
        self.assertRegex(child.stderr.readline(), r"x: waiting; .*\d s\b")
        self.assertEqual(self.run_it("run", "-n", "x", "true")[0], 69)
        self.assertEqual(self.end(child)[:2], (0, "ran\n"))

    def test_redis_that_is_away(self):
        self.b1()
        self.server.stop()
        eventually(lambda: self.client().stats()["redis_up"] == "0", what="Redis is away")
        child = self.start("run", "-v", "-w", "1m", "x", "--", "echo", "ran")
        self.assertIn("x: waiting; ", child.stderr.readline())
        self.server.start()
        self.assertEqual(self.end(child, 20)[:2], (0, "ran\n"))

    def test_redis_that_stays_away(self):
        self.b1()
        self.server.stop()
        began = now()
        status, _, err = self.run_it("run", "-w", "2", "x", "true")
        self.assertEqual(status, 69)
        self.assertRegex(err, "^lockbroker: x: unavailable: ")
        self.assert_within(2, now() - began, patience(3.5))


class Words(CommandTest):
    """What it says while it waits, and at the end."""

    def setUp(self):
        super().setUp()
        self.server = self.redis()
        self.broker(self.server, trust_new=True)
        self.holder = self.client()
        self.holder.ok("SESSION label=cron")
        self.holder.lock("x")

    def test_without_a_terminal(self):
        self.client().send("LOCK x")
        eventually(lambda: self.holder.ok("STATUS x")["waiters"] == "1")
        child = self.start("run", "-v", "-w", "5", "x", "true")
        self.assertRegex(child.stderr.readline(),
                         r"^lockbroker: x: waiting; held by cron \(pid:\d+\) since"
                         r" \d\d:\d\d:\d\d, 1 in front$")
        status, _, err = self.end(child)
        self.assertEqual(status, 1)
        self.assertRegex(err, r"^lockbroker: x: timed out after 5(\.\d)? s; held by cron .*\n$")

    def test_when_the_reason_changes(self):
        second = self.client()
        second.ok("SESSION label=second")
        second.send("LOCK x")
        eventually(lambda: self.holder.ok("STATUS x")["waiters"] == "1")
        child = self.start("run", "-v", "x", "true")
        self.assertIn("held by cron", child.stderr.readline())
        self.holder.ok("UNLOCK x")
        self.assertTrue(second.reply().ok)
        self.assertIn("waiting; held by second", child.stderr.readline())
        second.ok("UNLOCK x")
        status, _, err = self.end(child)
        self.assertEqual(status, 0)
        self.assertRegex(err, r"^lockbroker: x: granted after [\d.]+ s, fence \d+\n$")

    def test_without_v_a_script_is_told_nothing(self):
        self.assertEqual(self.run_it("run", "-w", "1", "x", "true"), (1, "", ""))

    def test_held_through_another_broker(self):
        other = self.broker(self.server, name="b2", trust_new=True)
        child = self.start("run", "-v", "x", "true", address=other.unix_path)
        self.assertRegex(child.stderr.readline(),
                         "waiting; held by cron through broker b1 since")

    def test_who_has_it_at_another_broker(self):
        """That broker tells ours, so it need not be reached from here."""
        there = self.broker(self.server, name="there", trust_new=True,
                            broker={"address": "there.example:5625"})
        holder = self.client(there)
        holder.ok("SESSION label=cron")
        holder.lock("y")
        self.assertRegex(self.start("run", "-v", "y", "true").stderr.readline(),
                         r"^lockbroker: y: waiting; held by cron through broker there at "
                         r"there\.example:5625 since \d\d:\d\d:\d\d$")

    def test_permits(self):
        self.holder.ok("ACQUIRE s limit=1")
        child = self.start("run", "-v", "-l", "1", "s", "true")
        self.assertIn("s: waiting; all of the 1 permits are taken", child.stderr.readline())

    def on_a_terminal(self, *words):
        """Run it to its end; return its status and everything on the terminal."""
        ours, theirs = pty.openpty()
        child = subprocess.Popen([self.program, "-S", self.brokers[0].unix_path, *words],
                                 stdin=theirs, stdout=theirs, stderr=theirs,
                                 preexec_fn=die_with_parent)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        os.close(theirs)
        seen = b""
        try:
            while True:
                seen += os.read(ours, 4096)
        except OSError:  # the last writer is gone
            pass
        os.close(ours)
        return child.wait(hang()), seen.decode()

    def test_on_a_terminal(self):
        status, seen = self.on_a_terminal("run", "-w", "1.5", "x", "true")
        self.assertEqual(status, 1)
        line, end = seen.split("\r\x1b[K")[1:3]
        self.assertRegex(line, r"^waiting for x \([01] s\): held by cron \(pid:\d+\) for \d+ s$")
        held = re.search(r"^lockbroker: x: timed out after 1\.\d s; held by cron .* for (\d+) s", end)
        self.assertGreaterEqual(int(held.group(1)), 1, "as of now, and not as it was heard last")

    def test_on_a_terminal_without_redis(self):
        self.holder.close()
        self.server.stop()
        control = self.client()
        eventually(lambda: control.stats()["redis_up"] == "0", what="Redis is away")
        status, seen = self.on_a_terminal("run", "-w", "1.5", "y", "true")
        self.assertEqual(status, 69)
        self.assertRegex(seen, r"waiting for y \(\d s\): [^\r]*Redis")


class Leaders(CommandTest):
    def test_a_leader_waits_for_a_broker(self):
        path = os.path.join(self.directory, "b1", "s")
        child = self.start("elect", "-v", "x", "--", "sleep", "60", address=path)
        self.assertIn("waiting; no broker answers", child.stderr.readline())
        self.broker(self.redis(), name="b1", trust_new=True, ready=False)
        self.assertRegex(child.stderr.readline(), re.compile("granted"))
        child.send_signal(signal.SIGTERM)
        self.assertEqual(self.end(child)[0], 143)
