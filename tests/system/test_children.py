"""What `lockbroker run` has started, and what it has not."""

import contextlib
import os
import resource
import signal
import unittest

from lib.proxy import Proxy
from lib.wait import eventually, hang, let_time_pass, now
from test_cli import CommandTest
from test_floods import is_sanitized
from test_tls_clients import ClientsTest


class ChildrenTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.broker(self.redis(), trust_new=True, lease=2)
        self.control = self.client()

    @staticmethod
    def kill_if_there(pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

    @staticmethod
    def words_of(pid):
        """The command line of a process, or nothing if it has ended."""
        try:
            with open(f"/proc/{pid}/cmdline", encoding="ascii") as file:
                return file.read().rstrip("\0").replace("\0", " ")
        except FileNotFoundError:
            return ""


class Children(ChildrenTest):
    """Whom `run` must end, and whom it can't or must not."""

    @unittest.skipUnless(os.geteuid() == 0, "only root can run something as another user")
    def test_a_command_of_another_user(self):
        """As with `run x sudo ...`; root without CAP_KILL can signal no other user either."""
        self.program, program = "setpriv", self.program
        child = self.start(
            "--bounding-set=-kill", "--inh-caps=-kill", program, "run", "-k", "100ms", "x", "--",
            "setpriv", "--reuid=65534", "--clear-groups", "sh", "-c", "echo $$; read line",
            env={"LOCKBROKER": f"127.0.0.1:{self.brokers[0].port}"}, stdin=-1)
        other = int(child.stdout.readline())
        self.addCleanup(self.kill_if_there, other)
        child.send_signal(signal.SIGTERM)
        self.assertIn("cannot pass signal 15 to the command", child.stderr.readline())
        self.assertEqual(self.control.ok("STATUS x")["state"], "held")
        self.control.ok("UNLOCK-FORCE x")
        self.assertIn("lock lost (forced): it was released by force; stopping",
                      child.stderr.readline())
        self.assertRegex(child.stderr.readline(),
                         rf"cannot stop sh \({other}\): it belongs to another user "
                         r"and continues WITHOUT the lock; put sudo before lockbroker")
        let_time_pass(0.5)
        self.assertIsNone(child.poll())
        os.kill(other, signal.SIGKILL)
        self.assertEqual(child.wait(hang()), 123)
        self.assertEqual(child.stderr.read(), "")

    def test_children_from_before(self):
        """Entry points of containers start something beside, and then become `run`."""
        self.program, program = "sh", self.program
        child = self.start(
            "-c",
            "sleep 60 & echo $!; sh -c 'sleep 61 & echo $! > pid; wait $!' & echo $!; "
            "until [ -s pid ]; do sleep 0.05; done; cat pid; "
            "exec \"$0\" run x -- sh -c 'echo $$; trap \"\" TERM; sleep 62 & wait'", program,
            env={"LOCKBROKER": f"127.0.0.1:{self.brokers[0].port}"})
        spared, shell, orphan, command = [int(child.stdout.readline()) for _ in range(4)]
        for pid in (spared, shell, orphan, command):
            self.addCleanup(self.kill_if_there, pid)
        os.kill(shell, signal.SIGKILL)
        self.control.ok("UNLOCK-FORCE x")
        # Not before the command has ended, but long before the others do.
        self.assertEqual(child.wait(hang()), 123)
        self.assertEqual(self.words_of(command), "")
        self.assertEqual(self.words_of(spared), "sleep 60")
        self.assertEqual(self.words_of(orphan), "sleep 61")

class WithoutProc(ChildrenTest):
    """What `run` can't see it can't stop: then it does not begin, or says so."""

    COMMAND = "sleep 60 & echo $!; wait"

    def start_by(self, script, *words):
        """A shell says something, and becomes `lockbroker`."""
        self.program, program = "sh", self.program
        try:
            return self.start("-c", f'{script}; exec "$0" "$@"', program, *words,
                              env={"LOCKBROKER": f"127.0.0.1:{self.brokers[0].port}"})
        finally:
            self.program = program

    def in_namespace(self, script, *words):
        if is_sanitized():
            self.skipTest("a sanitizer needs /proc")
        self.program, program = "unshare", self.program
        try:
            return self.start("-m", "sh", "-c", f'{script}; exec "$0" "$@"', program, *words,
                              env={"LOCKBROKER": f"127.0.0.1:{self.brokers[0].port}"})
        finally:
            self.program = program

    def sleeper(self, child):
        pid = int(child.stdout.readline())
        self.addCleanup(self.kill_if_there, pid)
        return pid

    @unittest.skipUnless(os.geteuid() == 0, "only root can mount something at /proc")
    def test_none_at_the_start(self):
        hide = "mount -t tmpfs none /proc"
        for command in ("run", "elect"):
            status, out, err = self.end(self.in_namespace(hide, command, "x", "echo", "ran"))
            self.assertEqual((status, out), (70, ""))
            self.assertEqual(err, "lockbroker: cannot read /proc (No such file or directory), "
                             "which is needed to stop the processes of the command if the lock is "
                             "lost; mount it, or give --on-lost=ignore\n")
        self.assertEqual(self.control.ok("HISTORY x").body, [])
        child = self.in_namespace(hide, "run", "--on-lost=ignore", "x", "echo", "ran")
        self.assertEqual(self.end(child), (0, "ran\n", ""))
        self.assertEqual(self.end(self.in_namespace(hide, "lock", "x"))[0], 0)

    @unittest.skipUnless(os.geteuid() == 0, "only root can make a PID namespace")
    def test_that_of_another_namespace(self):
        self.program, program = "unshare", self.program
        status, _, err = self.run_it("-p", "-f", program, "run", "x", "echo", "ran",
                                     env={"LOCKBROKER": f"127.0.0.1:{self.brokers[0].port}"})
        self.assertEqual(status, 70)
        self.assertIn("(it belongs to another PID namespace)", err)

    @unittest.skipUnless(os.geteuid() == 0, "only root can mount something at /proc")
    def test_hidden_later(self):
        child = self.in_namespace(":", "run", "x", "sh", "-c",
                                  f"mount -t tmpfs none /proc; {self.COMMAND}")
        sleeper = self.sleeper(child)
        self.control.ok("UNLOCK-FORCE x")
        self.assertEqual(child.wait(hang()), 123)
        self.assertEqual(self.words_of(sleeper), "")

    def test_few_descriptors(self):
        """Enough for all, or it does not begin."""
        began = 0
        for limit in range(6, 14):
            with self.subTest(limit=limit):
                child = self.start_by(f"ulimit -n {limit}", "run", f"x{limit}", "sh", "-c",
                                      self.COMMAND)
                first = child.stdout.readline()
                if not first:
                    self.assertNotEqual(child.wait(hang()), 0)
                    self.assertIn("Too many open files", child.stderr.read())
                    continue
                began += 1
                self.addCleanup(self.kill_if_there, int(first))
                self.control.ok(f"UNLOCK-FORCE x{limit}")
                self.assertEqual(child.wait(hang()), 123)
                self.assertEqual(self.words_of(int(first)), "")
        self.assertGreater(began, 3)

    def test_no_descriptor_later(self):
        """It tells, and tries until it can."""
        child = self.start("run", "x", "sh", "-c", self.COMMAND)
        sleeper = self.sleeper(child)
        before = resource.prlimit(child.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(child.pid, resource.RLIMIT_NOFILE, (6, before[1]))
        self.control.ok("UNLOCK-FORCE x")
        self.assertIn("lock lost (forced)", child.stderr.readline())
        self.assertEqual(child.stderr.readline(),
                         "lockbroker: x: cannot read /proc (Too many open files): "
                         "processes of the command may continue WITHOUT the lock\n")
        eventually(lambda: self.words_of(sleeper) == "sleep 60", 10, "what it became")
        self.assertIsNone(child.poll())
        resource.prlimit(child.pid, resource.RLIMIT_NOFILE, before)
        self.assertEqual(child.wait(hang()), 123)
        self.assertEqual(self.words_of(sleeper), "")

    def test_a_process_group_gets_signals_all_the_same(self):
        child = self.start("run", "x", "setsid", "sh", "-c", self.COMMAND)
        sleeper = self.sleeper(child)
        hard = resource.prlimit(child.pid, resource.RLIMIT_NOFILE)[1]
        resource.prlimit(child.pid, resource.RLIMIT_NOFILE, (6, hard))
        self.control.ok("UNLOCK-FORCE x")
        self.assertEqual(child.wait(hang()), 123)
        self.assertEqual(self.words_of(sleeper), "")


class OverTls(CommandTest, ClientsTest):
    """The process that speaks TLS is not the command's, though it may be a child of `run`."""

    def setUp(self):
        super().setUp()
        self.tls_broker(self.redis(), trust_new=True, lease=3)
        self.control = self.client()
        self.net = Proxy(f"localhost:{self.port}")
        self.addCleanup(self.net.stop)

    def start_one(self, *words):
        """It writes its fence each time that it starts."""
        port = self.net.address.rpartition(":")[2]
        return self.start(
            "--ca", self.file("ca.crt"), *words, "--grace", "20s", "x", "--",
            "sh", "-c", "echo $LOCKBROKER_FENCE; exec sleep 60",
            address=f"tls://localhost:{port}", env={})

    def give_back(self, child):
        start = now()
        child.terminate()
        self.assertEqual(child.wait(hang()), 143)
        self.assertEqual(self.control.ok("STATUS x")["state"], "free")
        self.assertLess(now() - start, 0.7)
        self.assertIn("end=released", "\n".join(map(str, self.control.ok("HISTORY x").body)))

    def test_a_second_term(self):
        child = self.start_one("elect")
        first = int(child.stdout.readline())
        self.control.ok("UNLOCK-FORCE x")
        self.assertGreater(int(child.stdout.readline()), first)
        self.give_back(child)

    def test_after_a_resume(self):
        child = self.start_one("run", "-v")
        child.stdout.readline()
        self.net.cut()
        while "resumed" not in child.stderr.readline():
            pass
        self.give_back(child)
