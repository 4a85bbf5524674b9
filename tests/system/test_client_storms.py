"""The clients of this tree while everything around them fails: fifty tasks that want one lock,
through two brokers. No two may work under it, fences rise, and whoever went on after a loss was
told before."""

import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from lib.case import SystemTest
from lib.liblockbroker import link
from lib.manual import SOURCE
from lib.proxy import Proxy
from lib.wait import eventually, hang
from test_client_node import version

HERE = os.path.join(SOURCE, "clients", "conformance")
LEASE = 2.5


class Program:
    """A driver of the conformance story (clients/conformance) with some blocks, each in a loop."""

    def __init__(self, storm, argv, addresses, blocks):
        self.storm = storm
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            [*argv, addresses], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.said = {str(i): queue.Queue() for i in range(blocks)}
        self.threads = [threading.Thread(target=self._read)]
        self.threads += [threading.Thread(target=self._loop, args=(one,)) for one in self.said]
        self.mutex = threading.Lock()
        for thread in self.threads:
            thread.start()

    def _read(self):
        for line in self.process.stdout:
            number, *words = line.split()
            if words[0] == "told":
                self.storm.leaves(self, number)
                continue
            if words[0] == "held":
                self.storm.enters(self, number, int(words[1]))
            self.said[number].put(words)
        for one in self.said.values():
            one.put(["gone"])

    def _tell(self, line):
        try:
            with self.mutex:
                self.process.stdin.write(line + "\n")
                self.process.stdin.flush()
        except (OSError, ValueError):
            pass

    def _loop(self, number):
        said = self.said[number]
        while not self.storm.over.is_set():
            self._tell(f"lock {number} 30000 hot")
            words = said.get()
            if words[0] == "gone":
                return
            if words[0] != "held":
                self.storm.refused.append(words[0])
                time.sleep(0.05)
                continue
            time.sleep(0.002)
            self.storm.leaves(self, number)  # nobody works on while it is given back
            self._tell(f"unlock {number}")
            if said.get()[0] == "gone":
                return

    def freeze(self):
        """What it holds, it can't work under: its own clock must tell when it wakes up."""
        self.process.send_signal(signal.SIGSTOP)
        self.storm.freezes(self)

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)

    def finish(self):
        """All blocks come to their end."""
        for thread in self.threads[1:]:
            thread.join(hang(40))

    def stop(self):
        try:
            self.process.stdin.close()
            self.process.wait(hang(20))
        except (OSError, subprocess.TimeoutExpired):
            pass
        self.process.kill()
        self.process.wait()
        for thread in self.threads:
            thread.join(hang(20))
        self.process.stdout.close()


class Storm:
    """Who works under the lock."""

    def __init__(self):
        self.mutex = threading.Lock()
        self.inside = {}  # (program, number): fence
        self.fences = []
        self.faults = []
        self.refused = []
        self.over = threading.Event()

    def enters(self, program, number, fence):
        with self.mutex:
            if self.inside:
                self.faults.append(f"{fence} while {list(self.inside.values())}")
            if self.fences and fence <= self.fences[-1]:
                self.faults.append(f"{fence} after {self.fences[-1]}")
            self.inside[program, number] = fence
            self.fences.append(fence)

    def leaves(self, program, number):
        with self.mutex:
            self.inside.pop((program, number), None)

    def freezes(self, program):
        with self.mutex:
            for one in [one for one in self.inside if one[0] is program]:
                del self.inside[one]


class Storms(SystemTest):
    limit = 150
    programs, blocks = 5, 10

    def go_on(self, storm, what):
        """It has been granted again and again since."""
        before = len(storm.fences)
        eventually(lambda: len(storm.fences) >= before + 20, 40, f"grants after: {what}")
        self.assertEqual(storm.faults, [], what)

    def storm(self, *argv):
        server = self.redis()
        one = self.broker(server, lease=LEASE, trust_new=True)
        two = self.broker(server, lease=LEASE, trust_new=True, name="b2", start=False)
        # Who is cut off there holds on for as long as he was told.
        two.settings["listen"][1]["proxied"] = True
        two.start().wait_granting()
        net = Proxy(f"127.0.0.1:{two.port}")
        self.addCleanup(net.stop)
        storm = Storm()
        addresses = [f"{one.unix_path},127.0.0.1:{net.port}",
                     f"127.0.0.1:{net.port},{one.unix_path}"]
        programs = [Program(storm, argv, addresses[i % 2], self.blocks)
                    for i in range(self.programs)]

        def end():
            storm.over.set()
            for act in (Program.thaw, Program.finish, Program.stop):
                for program in programs:
                    act(program)
        self.addCleanup(end)
        self.go_on(storm, "the start")
        one.stop()
        one.start()
        self.go_on(storm, "a restart")
        self.client(one).ok("REPLACE")
        self.go_on(storm, "a replacement")
        net.cut()
        self.go_on(storm, "a cut")
        for what in (two, server, programs[0]):
            what.freeze()
            time.sleep(2 * LEASE)  # longer than any `valid=`
            what.thaw()
            self.go_on(storm, "a freeze")
        end()
        self.assertEqual(storm.faults, [])
        self.assertEqual(len(storm.fences), len(set(storm.fences)))
        self.assertLessEqual(set(storm.refused), {"lost", "unavailable", "shutdown", "timeout", "closed"})
        eventually(lambda: self.client(two).ok("STATUS hot")["state"] == "free", 20)

    def test_python(self):
        os.environ["PYTHONPATH"] = os.path.join(SOURCE, "clients", "python")
        self.addCleanup(os.environ.pop, "PYTHONPATH")
        self.storm(sys.executable, os.path.join(HERE, "driver.py"))

    @unittest.skipIf(version() < 18, "node is not installed, or is older than 18")
    def test_node(self):
        self.storm("node", os.path.join(HERE, "driver.js"))


@unittest.skipIf(shutil.which("cc") is None, "no C compiler is installed")
class Library(Storms):
    """A handle is one session, and makes one request at a time."""

    programs, blocks = 20, 1

    def test_c(self):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        program = link(folder, "driver", os.path.join(HERE, "driver.c"))
        os.environ["LD_LIBRARY_PATH"] = folder
        self.addCleanup(os.environ.pop, "LD_LIBRARY_PATH")
        self.storm(program)

    test_python = test_node = None
