"""`lockbroker run` with more than one lock, with grace; `elect`, `watch`, `unlock-force`."""

import json
import os
import signal

from lib.proxy import Proxy
from lib.wait import eventually, hang, let_time_pass, now, patience
from test_cli import CommandTest


class Runs(CommandTest):
    """Commands against one broker."""

    lease = 2

    def setUp(self):
        super().setUp()
        self.server = self.redis()
        self.broker(self.server, trust_new=True, lease=self.lease)
        self.control = self.client()

    def state(self, name="x"):
        return self.control.ok(f"STATUS {name}")["state"]

    def await_state(self, state, name="x", timeout=5):
        eventually(lambda: self.state(name) == state, timeout, f"{name} is {state}")

    def path(self, name):
        return os.path.join(self.directory, name)

    def lines_of(self, name):
        if not os.path.exists(self.path(name)):
            return []
        with open(self.path(name), encoding="ascii") as file:
            return file.read().split("\n")[:-1]

    def await_lines(self, name, count, timeout=10):
        eventually(lambda: len(self.lines_of(name)) >= count, timeout,
                   f"{count} lines in {name}")

    # What to take.

    def test_shared(self):
        readers = [self.start("run", "-s", "x", "--", "cat", stdin=-1) for _ in range(2)]
        self.await_state("shared")
        eventually(lambda: len(self.control.ok("QUEUE x").body) == 2)
        self.assertEqual(self.run_it("run", "-n", "x", "true")[0], 1)
        self.assertEqual(self.run_it("run", "-ns", "x", "true")[0], 0)
        for reader in readers:
            reader.stdin.close()
            reader.stdin = None
            self.assertEqual(self.end(reader)[0], 0)
        self.await_state("free")

    def test_one_of_n(self):
        workers = [self.start("run", "-l", "2", "s", "--", "cat", stdin=-1) for _ in range(2)]
        eventually(lambda: self.run_it("run", "-n", "-l", "2", "s", "true")[0] == 1)
        self.assertEqual(self.run_it("run", "-n", "-l", "3", "s", "true")[0], 64)
        waiting = self.start("run", "-l", "2", "s", "--", "echo", "ran")
        workers[0].stdin.close()
        workers[0].stdin = None
        self.assertEqual(self.end(workers[0])[0], 0)
        self.assertEqual(self.end(waiting)[:2], (0, "ran\n"))

    def test_several_names(self):
        status, out, _ = self.run_it(
            "run", "-a", "y", "--also", "z", "x", "--", "sh", "-c",
            'echo "$LOCKBROKER_NAME $LOCKBROKER_FENCE"')
        self.assertEqual(status, 0)
        self.assertRegex(out, r"^x y z \d+,\d+,\d+\n$")
        self.control.lock("z")
        self.assertEqual(self.run_it("run", "-n", "-a", "z", "x", "true")[0], 1)
        self.assertEqual(self.state("x"), "free")

    def test_one_of_several_is_lost(self):
        child = self.start("run", "-a", "y", "x", "--", "sleep", "60")
        self.await_state("held", "y")
        self.assertEqual(self.run_it("unlock-force", "y")[0], 0)
        status, _, err = self.end(child)
        self.assertEqual(status, 123)
        self.assertIn("forced", err)
        self.await_state("free", "x")

    def test_a_forced_release_and_a_command_that_is_deaf_to_term(self):
        """KILL comes when the broker no longer vouches for the lock, however long -k is."""
        child = self.start("run", "-k", "60", "x", "--", "sh", "-c",
                           f"trap '' TERM; echo up > {self.path('up')}; "
                           "while :; do sleep 0.05; done")
        self.await_lines("up", 1)
        start = now()
        self.assertEqual(self.run_it("unlock-force", "x")[0], 0)
        self.await_state("free", "x")
        status, _, err = self.end(child)
        self.assertEqual(status, 123)
        self.assertIn("forced", err)
        self.assertLess(now() - start, patience(self.lease + 1))

    def test_a_label_and_a_delay(self):
        """Who is killed keeps the name from others for as long as --delay says."""
        child = self.start("run", "--label", "cron", "--delay", "100s", "x", "--", "sleep", "100")
        self.await_state("held")
        self.assertEqual(self.control.ok("STATUS x")["label"], "cron")
        child.kill()
        eventually(lambda: "session" not in self.control.ok("STATUS x").fields, 20)
        self.assertEqual(self.state(), "held")

    def test_usage(self):
        for words in (("-l", "0", "x"), ("-l", "x", "x"), ("-s", "-l", "1", "x"),
                      ("-a", "x", "x"), ("-a", "a b", "x"), ("-l", "1", "--keep", "1s", "x")):
            with self.subTest(words):
                self.assertEqual(self.run_it("run", *words, "true")[0], 64)
        self.assertEqual(self.run_it("elect", "-n", "x", "true")[0], 64)
        self.assertEqual(self.run_it("elect", "x")[0], 64)

    # Grace.

    def behind_a_net(self):
        self.net = Proxy(f"127.0.0.1:{self.brokers[0].port}")
        self.addCleanup(self.net.stop)

    def graced(self, *words):
        """A run over a network that can be cut for a while; and its session."""
        child = self.start("run", "-v", *words, "x", "--", "sh", "-c",
                           "echo go > started; while [ ! -e stop ]; do sleep 0.05; done; exit 7",
                           address=self.net.address)
        self.await_lines("started", 1)
        return child, self.control.ok("STATUS x")["session"]

    def let_it_end(self):
        with open(self.path("stop"), "w", encoding="ascii"):
            pass

    def test_a_cut_is_survived(self):
        self.behind_a_net()
        child, session = self.graced("--grace", "10s")
        for _ in range(3):
            self.net.notice("RESUME")
            self.net.cut()
            self.assertTrue(self.net.fired.wait(hang()))
            let_time_pass(patience(0.2))
            self.assertEqual(self.control.ok("STATUS x")["session"], session)
        # Longer than the broker vouched for when the network was cut.
        let_time_pass(1.2 * self.lease)
        self.assertIsNone(child.poll())
        self.let_it_end()
        status, _, err = self.end(child)
        self.assertEqual((status, err.count("resumed")), (7, 3))
        self.await_state("free", timeout=2)
        eventually(lambda: self.control.stats()["sessions"] == "1", 2)

    def test_a_long_cut_is_not(self):
        self.behind_a_net()
        child, session = self.graced("--grace", "20s")
        self.net.refuse = True
        self.net.cut()
        status, _, err = self.end(child, 2 * self.lease + 2)
        self.assertEqual(status, 123, err)
        self.assertIn("no connection to the broker", err)
        # The broker decides when the grace is over.
        self.assertEqual(self.control.ok("STATUS x")["session"], session)

    def test_a_command_that_ends_during_a_cut(self):
        self.behind_a_net()
        child, _ = self.graced("--grace", "20s")
        self.net.refuse = True
        self.net.cut()
        let_time_pass(0.1)
        self.let_it_end()
        let_time_pass(0.5)
        self.net.refuse = False
        self.assertEqual(self.end(child)[0], 7)
        self.await_state("free", timeout=2)

    def test_without_grace_a_cut_is_the_end(self):
        self.behind_a_net()
        child, _ = self.graced()
        self.net.cut()
        self.assertEqual(self.end(child)[0], 123)

    def test_a_session_that_was_forced_while_cut(self):
        self.behind_a_net()
        child, _ = self.graced("--grace", "20s")
        self.net.refuse = True
        self.net.cut()
        let_time_pass(0.1)
        self.control.ok("UNLOCK-FORCE x")
        self.net.refuse = False
        status, _, err = self.end(child)
        self.assertEqual(status, 123)
        self.assertIn("forced", err)

    # Leaders.

    def leader(self, name):
        """Writes a line for each term; a term lasts until it is ended."""
        return self.start("elect", "-v", "job", "--", "sh", "-c",
                          f"echo $LOCKBROKER_FENCE >> {name}; exec sleep 60")

    def test_leadership_comes_back(self):
        child = self.leader("one")
        self.await_lines("one", 1)
        self.control.ok("UNLOCK-FORCE job")
        self.await_lines("one", 2)
        first, second = map(int, self.lines_of("one"))
        self.assertLess(first, second)
        child.send_signal(signal.SIGTERM)
        self.assertEqual(self.end(child)[0], 143)
        self.await_state("free", "job")

    def test_one_leader_at_a_time(self):
        one, two = self.leader("one"), self.leader("two")
        eventually(lambda: self.lines_of("one") or self.lines_of("two"))
        eventually(lambda: self.control.ok("STATUS job")["waiters"] == "1")
        both = {"one": one, "two": two}
        (first, _), = [(n, c) for n, c in both.items() if self.lines_of(n)]
        second = "two" if first == "one" else "one"
        both[first].send_signal(signal.SIGKILL)
        self.await_lines(second, 1)
        self.assertLess(int(self.lines_of(first)[0]), int(self.lines_of(second)[0]))

    def test_a_broker_that_comes_back(self):
        child = self.leader("one")
        self.await_lines("one", 1)
        self.control.close()
        self.brokers[0].stop()
        # It comes back after the command has ended, and an attempt has failed.
        while "no broker answers" not in child.stderr.readline():
            self.assertIsNone(child.poll())
        self.broker(self.server, name="b1", trust_new=True, lease=self.lease)
        self.await_lines("one", 2, 15)
        child.send_signal(signal.SIGINT)
        self.assertEqual(self.end(child)[0], 130)

    def test_a_command_that_ends(self):
        self.assertEqual(self.run_it("elect", "job", "--", "sh", "-c", "exit 5")[0], 5)
        self.await_state("free", "job")

    def test_who_is_killed_leaves_the_command_time_to_die(self):
        """The kernel closes a killed process' connections as if it were done."""
        child = self.start("run", "job", "--", "sh", "-c", "echo >> job; exec sleep 60")
        self.await_lines("job", 1)
        waiting = self.client()
        waiting.send("LOCK job")
        eventually(lambda: self.control.ok("STATUS job")["waiters"] == "1")
        killed = now()
        child.send_signal(signal.SIGKILL)
        self.assertTrue(waiting.reply(self.lease * 3).ok)
        # What is vouched for is renewed every third of it.
        self.assertGreater(now() - killed, self.lease / 4)
        waiting.ok("UNLOCK job")

    def test_regular_ends_pass_it_on_at_once(self):
        for command, status in ((["true"], 0), (["sh", "-c", "kill -9 $$"], 137),
                                (["no-such-program"], 127)):
            self.assertEqual(self.run_it("run", "x", "--", *command)[0], status)
            self.assertTrue(self.control.ok("TRYLOCK x"), command)
            self.control.ok("UNLOCK x")
        child = self.start("run", "x", "--", "sleep", "60")
        self.await_state("held")
        child.send_signal(signal.SIGTERM)
        self.assertEqual(self.end(child)[0], 143)
        self.control.ok("TRYLOCK x")

    # Watching, forcing.

    def test_watch(self):
        child = self.start("watch", "x", "y")
        for name in "xy":
            self.assertEqual(child.stdout.readline(), f"!FREE {name}\n")
        fence = self.control.lock("y")
        self.assertEqual(child.stdout.readline(), f"!HELD y fence={fence} broker=b1\n")
        child.terminate()

    def test_watch_json(self):
        child = self.start("--json", "watch", "x")
        self.assertEqual(json.loads(child.stdout.readline()), {"event": "FREE", "name": "x"})
        child.terminate()

    def test_watch_ends_with_the_broker(self):
        child = self.start("watch", "x")
        child.stdout.readline()
        self.control.close()
        self.brokers[0].stop()
        self.assertEqual(self.end(child)[0], 69)

    def test_unlock_force(self):
        self.assertEqual(self.run_it("unlock-force", "x")[0], 1)
        fence = self.control.lock("x")
        status, _, err = self.run_it("unlock-force", "--fence", str(fence + 1), "x")
        self.assertEqual(status, 64)
        self.assertIn(f"the fence is {fence} now", err)
        self.assertEqual(self.run_it("unlock-force", "--fence", str(fence), "x")[0], 0)
        self.assertEqual(self.control.event()["reason"], "forced")
        self.assertEqual(self.run_it("unlock-force", "--fence", "1x", "x")[0], 64)
        tcp = f"127.0.0.1:{self.brokers[0].port}"
        self.assertEqual(self.run_it("unlock-force", "x", address=tcp)[0], 77)
