"""`lockbroker top`: what it says first, and how it uses the room."""

import os
import subprocess
import termios

from lib.proc import die_with_parent
from lib.wait import eventually, hang
from test_cli import CommandTest


class Trouble(CommandTest):
    def test_redis_is_away(self):
        """What is wrong comes first, and why; also that a lock will be lost."""
        server = self.redis()
        broker = self.broker(server, name="b2", trust_new=True, lease=4)
        client = self.client(broker)
        client.ok("LOCK kept")
        client.ok("ACQUIRE kept limit=1")
        address = broker.unix_path
        fine = self.run_it("top", "-b", "-n", "1", address=address)[1]
        self.assertNotIn("Attention", fine)
        self.assertRegex(fine, r"(?m)^kept +semaphore +1 of 1 ")
        server.kill()
        eventually(lambda: client.stats()["locks_at_risk"] == "1", 10)
        out = self.run_it("top", "-b", "-n", "1", address=address)[1].splitlines()
        self.assertRegex(out[0], "^Attention: .*Redis cannot be used")
        self.assertRegex(out[1], "^Attention: [12] .* at risk: lost soon unless Redis confirms")
        self.assertIn(" held, ", out[2])
        self.assertNotIn("heard", "".join(out))


class Narrow(CommandTest):
    """top on terminals of any width."""

    def setUp(self):
        super().setUp()
        self.broker()
        self.client().lock("n" * 100)

    def drawn(self, columns):
        ours, theirs = os.openpty()
        for fd in (ours, theirs):
            self.addCleanup(os.close, fd)
        termios.tcsetwinsize(theirs, (24, columns))
        child = subprocess.Popen([self.program, "-S", self.brokers[0].unix_path, "top", "-n", "1"],
                                 stdin=theirs, stdout=theirs, stderr=theirs,
                                 preexec_fn=die_with_parent)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        self.assertEqual(child.wait(hang()), 0)
        text = os.read(ours, 8192).decode().replace("\r", "").split("\033[H\033[J")[1]
        return [line for line in text.split("\033[?7h")[0].splitlines() if line]

    def test_long_names_are_shortened(self):
        title, row = self.drawn(80)[1:]
        self.assertRegex(title, r"^NAME +STATE +WAITING +HANDOFFS/S +OLDEST$")
        self.assertRegex(row, r"^n+~ +held +0 +- +-$")
        self.assertLessEqual(len(row), 80)

    def test_numbers_first_where_it_is_narrow(self):
        title, row = self.drawn(40)[1:]
        self.assertRegex(title, r"^WAIT +RATE +OLDEST +STATE +NAME$")
        self.assertRegex(row, r"^0 +- +- +held +n{5,}~$")
        self.assertLessEqual(len(row), 40)

    def test_where_there_is_room(self):
        self.assertIn("n" * 100, self.drawn(200)[2])

    def test_who_has_it_where_there_is_room(self):
        self.assertRegex(self.drawn(120)[1], r"^NAME +STATE +HOLDER +FOR +WAITING ")
