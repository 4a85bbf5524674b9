"""The conformance story (clients/conformance), played by the clients of this tree."""

import os
import shutil
import sys
import tempfile
import unittest

from lib import golang, jdk
from lib.case import SystemTest
from lib.liblockbroker import link
from lib.manual import SOURCE
from lib.wait import hang
from test_client_node import version

HERE = os.path.join(SOURCE, "clients", "conformance")
STORY = os.path.join(HERE, "story.txt")

sys.path.insert(0, HERE)

import play  # pylint: disable=import-error,wrong-import-position


class Story(SystemTest):
    """Each client plays all that it can, and what a real broker can play once more there."""

    limit = 100
    can = ("two", "grace", "value", "slot")

    def check(self, *argv):
        play.ANSWER_S, play.SLACK_S = hang(20), hang(0.3)
        cases = play.cases(STORY, self.can)
        self.assertGreater(len(cases), 20)
        for case in cases:
            with self.subTest(case.title):
                play.Play(case, argv).run()
        broker = self.broker(self.redis(), trust_new=True)
        cases = play.cases(STORY, self.can, broker=True)
        self.assertGreater(len(cases), 4)
        for case in cases:
            with self.subTest(case.title + ", at a broker"):
                play.Play(case, argv, broker.unix_path).run()

    def takes_two_round_trips(self, *argv):
        """What is free is tried, and asked to be safe, in one go; a client may need some locks
        before it does so."""
        play.ANSWER_S = hang(20)
        server = play.Server()
        self.addCleanup(server.stop)
        driver = play.Driver(argv, server.addresses, [])
        self.addCleanup(driver.end)

        def pair(number):
            number %= 8
            driver.tell(f"lock {number} 5000 a")
            driver.claim(f"{number} held")
            driver.tell(f"unlock {number}")
            driver.claim(f"{number} released")
            return (server.seen[-3:] == ["LOCK a wait=0", "PING", "UNLOCK a"] and
                    server.packets[-3] is server.packets[-2])

        self.assertTrue(any(pair(number) for number in range(50)))
        # One that is not free is waited for, with tags.
        server.rules.append((["LOCK", "a", "wait=0"], "BUSY", True))
        server.seen.clear()
        self.assertTrue(any(not pair(number) for number in range(50, 60)))
        waited = server.seen.index("LOCK a wait=0") + 2
        self.assertRegex(server.seen[waited], r"^LOCK a wait=[0-9]+ms$")

    def test_python(self):
        os.environ["PYTHONPATH"] = os.path.join(SOURCE, "clients", "python")
        self.addCleanup(os.environ.pop, "PYTHONPATH")
        self.check(sys.executable, os.path.join(HERE, "driver.py"))
        self.takes_two_round_trips(sys.executable, os.path.join(HERE, "driver.py"))

    def test_python_with_tasks(self):
        os.environ["PYTHONPATH"] = os.path.join(SOURCE, "clients", "python")
        self.addCleanup(os.environ.pop, "PYTHONPATH")
        self.check(sys.executable, os.path.join(HERE, "driver_aio.py"))
        self.takes_two_round_trips(sys.executable, os.path.join(HERE, "driver_aio.py"))

    @unittest.skipIf(version() < 18, "node is not installed, or is older than 18")
    def test_node(self):
        self.check("node", os.path.join(HERE, "driver.js"))
        self.takes_two_round_trips("node", os.path.join(HERE, "driver.js"))

    def test_go(self):
        driver = golang.driver(self.directory)
        self.check(driver)
        self.takes_two_round_trips(driver)

    def test_java(self):
        driver = jdk.driver()
        self.check(*driver)
        self.takes_two_round_trips(*driver)

    def test_a_client_that_is_wrong_fails(self):
        """One that says that it holds what nobody has vouched for yet, and never asks again."""
        script = os.path.join(self.directory, "driver.py")
        with open(script, "w", encoding="utf-8") as file:
            file.write(WRONG)
        failed = 0
        for case in play.cases(STORY, ()):
            try:
                play.ANSWER_S = 0.3
                play.Play(case, [sys.executable, script]).run()
            except play.Failed:
                failed += 1
        self.assertGreater(failed, 10)


WRONG = """
import socket, sys
host, port = sys.argv[1].split(",")[0].split(":")
sock = socket.create_connection((host, int(port)))
file = sock.makefile("r")
for line in sys.stdin:
    what, number, *rest = line.split()
    if what == "check":
        print(number, "safe", flush=True)
        continue
    names = rest[1:] if what == "lock" else names
    sock.sendall(("%s %s\\n" % (what.upper(), " ".join(names))).encode())
    words = file.readline().split()
    print(number, {"LOCK": "held 1", "UNLOCK": "released"}[what.upper()], flush=True)
"""


@unittest.skipIf(shutil.which("cc") is None, "no C compiler is installed")
class Library(Story):
    """The library for C has one session, which makes one request at a time."""

    can = ("grace", "value", "slot")

    def test_c(self):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        program = link(folder, "driver", os.path.join(HERE, "driver.c"))
        os.environ["LD_LIBRARY_PATH"] = folder
        self.addCleanup(os.environ.pop, "LD_LIBRARY_PATH")
        self.check(program)
        self.takes_two_round_trips(program)

    test_python = test_python_with_tasks = test_node = test_go = test_java = None
    test_a_client_that_is_wrong_fails = None
