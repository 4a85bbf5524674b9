"""What `lockbroker run` has started, and what it has not."""

import contextlib
import os
import signal
import unittest

from lib.wait import hang, let_time_pass
from test_cli import CommandTest


class Children(CommandTest):
    """Whom `run` must end, and whom it can't or must not."""

    def setUp(self):
        super().setUp()
        self.broker(self.redis(), trust_new=True, lease=2)
        self.control = self.client()

    @staticmethod
    def kill_if_there(pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

    @unittest.skipUnless(os.geteuid() == 0, "only root can run something as another user")
    def test_a_command_of_another_user(self):
        """As with `run x sudo ...`; root without CAP_KILL can signal no other user either."""
        self.program, program = "setpriv", self.program
        child = self.start(
            "--bounding-set=-kill", "--inh-caps=-kill", program, "run", "-k", "100ms", "x", "--",
            "setpriv", "--reuid=65534", "--clear-groups", "sh", "-c", "echo $$; exec sleep 60",
            env={"LOCKBROKER": f"127.0.0.1:{self.brokers[0].port}"})
        other = int(child.stdout.readline())
        self.addCleanup(self.kill_if_there, other)
        child.send_signal(signal.SIGTERM)
        self.assertIn("can't pass signal 15 on to the command", child.stderr.readline())
        self.assertEqual(self.control.ok("STATUS x")["state"], "held")
        self.control.ok("UNLOCK-FORCE x")
        self.assertIn("lock lost (forced)", child.stderr.readline())
        self.assertRegex(child.stderr.readline(),
                         rf"can't stop sleep \({other}\): it belongs to another user "
                         r"and goes on WITHOUT the lock; put sudo before lockbroker")
        let_time_pass(0.5)
        self.assertIsNone(child.poll())
        os.kill(other, signal.SIGKILL)
        self.assertEqual(child.wait(hang()), 123)
        self.assertEqual(child.stderr.read(), "")
