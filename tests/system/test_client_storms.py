"""The clients of this tree while everything around them fails: fifty tasks that want one lock,
through two brokers. No two may work under it, fences rise, and whoever went on after a loss was
told before. A program that is killed leaves nothing behind."""

import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from lib import golang, jdk
from lib.case import SystemTest
from lib.liblockbroker import link
from lib.manual import SOURCE
from lib.proxy import Proxy
from lib.wait import eventually, hang
from test_client_node import version
from test_sentinel import SentinelTest

HERE = os.path.join(SOURCE, "clients", "conformance")
LEASE = 2.5


class Program:
    """A driver of the conformance story (clients/conformance) with some blocks, each in a loop."""

    def __init__(self, storm, argv, addresses, blocks, options=()):
        self.storm = storm
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            [*argv, addresses, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.said = {str(i): queue.Queue() for i in range(blocks)}
        self.threads = [threading.Thread(target=self._read, daemon=True)]
        self.threads += [threading.Thread(target=self._loop, args=(one,), daemon=True)
                         for one in self.said]
        self.mutex = threading.Lock()
        self.killed = False
        for thread in self.threads:
            thread.start()

    def _read(self):
        try:
            for line in self.process.stdout:
                number, *words = line.split()
                if words[0] == "told":
                    self.storm.leaves(self, number)
                    continue
                if words[0] == "held":
                    self.storm.enters(self, number, int(words[1]))
                self.said[number].put(words)
        finally:
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

    def kill(self):
        """It works no more, though what it said before is still to be read."""
        self.killed = True
        self.storm.freezes(self)
        self.process.kill()

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
            if program.killed:
                return
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


class Crowd(SystemTest):
    programs, blocks = 5, 10
    options = ()

    def go_on(self, storm, what):
        """It has been granted again and again since."""
        before = len(storm.fences)
        eventually(lambda: len(storm.fences) >= before + 20, 40, f"grants after: {what}")
        self.assertEqual(storm.faults, [], what)

    def begin(self, argv, addresses):
        """Programs that take the lock through these addresses, and what ends them."""
        storm = Storm()
        programs = [Program(storm, argv, addresses[i % len(addresses)], self.blocks,
                            self.options)
                    for i in range(self.programs)]

        def end():
            storm.over.set()
            for act in (Program.thaw, Program.finish, Program.stop):
                for program in programs:
                    act(program)
        self.addCleanup(end)
        self.go_on(storm, "the start")
        return storm, programs, end

    def judge(self, storm, end, broker):
        end()
        self.assertEqual(storm.faults, [])
        self.assertEqual(len(storm.fences), len(set(storm.fences)))
        self.assertLessEqual(set(storm.refused),
                             {"lost", "unavailable", "shutdown", "timeout", "closed"})
        eventually(lambda: self.client(broker).ok("STATUS hot")["state"] == "free", 20)

    def python(self, driver="driver.py"):
        os.environ["PYTHONPATH"] = os.path.join(SOURCE, "clients", "python")
        self.addCleanup(os.environ.pop, "PYTHONPATH")
        return [sys.executable, os.path.join(HERE, driver)]

    def node(self):
        if version() < 18:
            self.skipTest("node is not installed, or is older than 18")
        return ["node", os.path.join(HERE, "driver.js")]

    def go(self):
        return [golang.driver(self.directory)]

    def library(self):
        """A handle is one session, and makes one request at a time."""
        if shutil.which("cc") is None:
            self.skipTest("no C compiler is installed")
        self.programs, self.blocks = 20, 1
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        program = link(folder, "driver", os.path.join(HERE, "driver.c"))
        os.environ["LD_LIBRARY_PATH"] = folder
        self.addCleanup(os.environ.pop, "LD_LIBRARY_PATH")
        return [program]


class Each:
    """The storm of a Crowd, for each client."""

    def test_python(self):
        self.storm(self.python())

    def test_python_with_tasks(self):
        self.storm(self.python("driver_aio.py"))

    def test_node(self):
        self.storm(self.node())

    def test_go(self):
        self.storm(self.go())

    def test_java(self):
        self.storm(jdk.driver())

    def test_c(self):
        self.storm(self.library())


class Storms(Each, Crowd):
    limit = 180

    def storm(self, argv):
        server = self.redis()
        one = self.broker(server, lease=LEASE, trust_new=True)
        two = self.broker(server, lease=LEASE, trust_new=True, name="b2", start=False)
        # Who is cut off there holds on for as long as he was told.
        two.settings["listen"][1]["proxied"] = True
        two.start().wait_granting()
        net = Proxy(f"127.0.0.1:{two.port}")
        self.addCleanup(net.stop)
        storm, programs, end = self.begin(argv, [f"{one.unix_path},127.0.0.1:{net.port}",
                                                 f"127.0.0.1:{net.port},{one.unix_path}"])
        one.stop()
        one.start()
        self.go_on(storm, "a restart")
        one.replace()
        self.go_on(storm, "a replacement")
        net.cut()
        self.go_on(storm, "a cut")
        for what in (two, server, programs[0]):
            what.freeze()
            time.sleep(2 * LEASE)  # longer than any `valid=`
            what.thaw()
            self.go_on(storm, "a freeze")
        for program in programs[1:3]:
            program.kill()
            self.go_on(storm, "a program is killed")
        self.judge(storm, end, two)


class Survivors(Storms):
    """The same with sessions that survive their connection (grace=)."""

    options = ("grace",)


class Kills(Each, Crowd):
    """A program that is killed, at whatever it just does, leaves nothing behind."""

    limit = 120

    def storm(self, argv):
        broker = self.broker(self.redis(), trust_new=True)
        control = self.client()
        for grants in range(1, 9):
            storm = Storm()
            program = Program(storm, argv, broker.unix_path, 3)
            self.addCleanup(program.stop)
            eventually(lambda: len(storm.fences) >= grants, 20)
            program.kill()
            storm.over.set()
            eventually(lambda: {control.stats()[one] for one in
                                ("locks_held", "waiters", "clients")} == {"0", "1"}, 20)
            self.assertEqual(control.stats()["sessions"], "1")
            self.assertEqual(control.ok("STATUS hot")["state"], "free")


class Failovers(Each, Crowd, SentinelTest):
    limit = 180

    def storm(self, argv):
        """A replica that is behind becomes the master; then that one dies, too, and comes
        back with nothing."""
        self.prepare(lease=LEASE)
        old, new = self.watched.servers
        paths = [broker.unix_path for broker in self.brokers]
        storm, programs, end = self.begin(argv, [",".join(paths), ",".join(reversed(paths))])
        new.freeze()
        time.sleep(0.2)
        old.kill()
        new.thaw()
        self.watched.promoted(new)
        self.go_on(storm, "a failover")
        programs[1].kill()
        self.go_on(storm, "a program is killed")
        new.kill()
        new.start()
        self.go_on(storm, "Redis is killed, and back")
        self.judge(storm, end, self.brokers[1])
