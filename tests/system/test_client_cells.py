"""Every client of this tree in every state, while something happens to its broker.

A cell is a state, what happens, one address or two, and what is asked: how long a lock is waited
for. What must be true is the same in each (`Cell.check`): no call takes more than its wait and the
patience; nothing is entered without its lock, and who has lost it is told; a second broker that is
well is used; nothing is left held once the program has ended; and it does not spin.

CELLS=all runs them all, CELLS=pairs each pair of a state and what happens once, with addresses and
a wait that are drawn. Without it each thing that happens is run once, in a state that is drawn,
too. CELLS_SEED, which a failure names, makes the same draw again."""

import itertools
import os
import queue
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from lib.case import SystemTest
from lib.liblockbroker import link
from lib.manual import SOURCE
from lib.proxy import Proxy, Trickle
from lib.wait import eventually, hang
from test_client_node import version

HERE = os.path.join(SOURCE, "clients", "conformance")
PATIENCE_S = 1
SILENCE_S = 10
SLACK_S = 0.7
LEASE_S = 3

# What the client does when it happens.
STATES = ("new", "idle", "waits", "holds", "gives", "closes")
WAITS = (0, 500, 3000, None)  # ms; None: for ever


class Stranger:
    """Something that listens where a broker was, and is none."""

    def __init__(self, says):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.says = says
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def address(self):
        return "127.0.0.1:%d" % self.listener.getsockname()[1]

    def _accept(self):
        while True:
            try:
                sock, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, sock):
        try:
            while sock.recv(4096):
                sock.sendall(self.says)
        except OSError:
            pass
        sock.close()

    def stop(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


def stranger(says):
    def happen(cell):
        other = Stranger(says)
        cell.test.addCleanup(other.stop)
        cell.net.upstream = other.address
        cell.net.cut()
    return happen


def frozen(cell):
    cell.net.stalled = True


def half_open(cell):
    """What is connected is so no more, and nobody says that; new connections are well."""
    cell.dead = cell.net.forget()


def refused(cell):
    cell.net.refuse = True
    cell.net.cut()


def slow(cell):
    cell.net.trickle = Trickle(3, pause=0.02)


def killed(cell):
    cell.main.kill()


def stopped(cell):
    cell.main.stop()


def replaced(cell):
    cell.main.replace()


def drained(cell):
    cell.control.ask("DRAIN")


def program_frozen(cell):
    cell.driver.process.send_signal(signal.SIGSTOP)
    time.sleep(LEASE_S + 2)
    cell.driver.process.send_signal(signal.SIGCONT)


# What happens: how, and whether a broker answers at the first address after that.
FAULTS = {
    "frozen": (frozen, False),
    "cut": (lambda cell: cell.net.cut(), True),
    "half-open": (half_open, True),
    "refused": (refused, False),
    "slow": (slow, True),
    "garbage": (stranger(b"\x80\xff\x00 nonsense\r\n"), False),
    "http": (stranger(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"), False),
    "redis": (stranger(b"-ERR unknown command 'SESSION'\r\n"), False),
    "killed": (killed, False),
    "stopped": (stopped, False),
    "replaced": (replaced, True),
    "drained": (drained, False),
    "program frozen": (program_frozen, True),
}


class Unless:
    """A socket to which nothing passes once the link is dead, but the end: so nothing is held for
    as long as TCP takes to notice."""

    def __init__(self, link, sock):
        self.link, self.sock = link, sock

    def sendall(self, data):
        if not getattr(self.link, "is_dead", False):
            self.sock.sendall(data)


class Net(Proxy):
    """The way to the first broker."""

    def forget(self):
        """Those that are there pass nothing any more."""
        with self._lock:
            links, self._links = self._links, []
        for one in links:
            one.is_dead = True
        return links

    def _forward(self, link, source, target, judge):
        super()._forward(link, source, Unless(link, target), judge)


class Driver:
    """A driver of the conformance story, whose answers have a time."""

    def __init__(self, argv, addresses):
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            [*argv, addresses], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)
        self.said = queue.Queue()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        self.asked = {}

    def _read(self):
        for line in self.process.stdout:
            self.said.put((time.monotonic(), line.split()))
        self.said.put((time.monotonic(), ["end"]))

    def tell(self, line):
        self.asked[line.split()[1]] = time.monotonic()
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def hear(self, number, timeout, told_is_well=True):
        """What it says of a block, and how long that took."""
        end = time.monotonic() + timeout
        while True:
            try:
                when, words = self.said.get(timeout=max(0, end - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"it says nothing of {number} in {timeout} s") from None
            if words[0] == "end":
                raise AssertionError("it has ended")
            if words[0] == number and not (told_is_well and words[1] == "told"):
                return words[1:], when - self.asked[number]

    def end(self):
        try:
            self.process.stdin.close()
        except OSError:
            pass

    def close(self):
        self.process.kill()
        self.process.wait()
        self.reader.join()
        self.process.stdout.close()
        try:
            self.process.stdin.close()
        except OSError:
            pass


class Cell:
    """One of them, run."""

    def __init__(self, test, argv, state, fault, two, wait):
        self.test, self.argv = test, argv
        self.state, self.fault, self.two, self.wait = state, fault, two, wait
        self.happen, self.answers = FAULTS[fault]
        self.dead = []
        self.name = f"{state}/{fault}/{'two' if two else 'one'}/{wait}"

    def run(self):
        test = self.test
        self.server = test.redis()
        self.main = test.broker(self.server, lease=LEASE_S, trust_new=True, name="b1")
        self.second = test.broker(self.server, lease=LEASE_S, name="b2")
        self.control, self.witness = self.main.client(), self.second.client()
        test.addCleanup(self.control.close)
        test.addCleanup(self.witness.close)
        self.net = Net(f"127.0.0.1:{self.main.port}")
        test.addCleanup(self.net.stop)
        addresses = self.net.address + (f",127.0.0.1:{self.second.port}" if self.two else "")
        self.driver = Driver(self.argv, addresses)
        test.addCleanup(self.driver.close)
        self.begin()
        self.happen(self)
        self.go_on()
        self.end()

    def begin(self):
        driver = self.driver
        if self.state != "new":
            driver.tell("lock 1 5000 first")
            test_words, _ = driver.hear("1", hang(6))
            self.test.assertEqual(test_words[0], "held")
        if self.state in ("idle", "waits"):
            driver.tell("unlock 1")
            driver.hear("1", hang(6))
        if self.state == "waits":
            self.witness.lock("asked")
            driver.tell(f"lock 2 {self.word()} asked")
            if self.wait != 0:
                eventually(lambda: self.control.ok("STATUS asked")["waiters"] == "1", 10)

    def word(self):
        return "-" if self.wait is None else str(self.wait)

    def most(self):
        """So long a call may take."""
        return (SILENCE_S if self.wait is None else self.wait / 1000) + PATIENCE_S

    def go_on(self):
        """Asks for a lock, and looks at what becomes of it, and of the one before."""
        driver = self.driver
        if self.state == "closes":
            return
        if self.state == "gives":
            driver.tell("unlock 1")
            words, took = driver.hear("1", hang(PATIENCE_S + 4))
            self.test.assertIn(words[0], ("released", "lost"))
            self.within(took, PATIENCE_S)
            return
        if self.state == "waits":
            if self.wait is None:
                self.witness.ok("UNLOCK asked")
        elif not (self.test.one_at_a_time and self.state == "holds"):
            driver.tell(f"lock 2 {self.word()} asked")
        else:
            return
        words, took = driver.hear("2", hang(self.most() + 4))
        self.within(took, self.most())
        self.judge(words)

    def judge(self, words):
        """Is that what it may be told?"""
        if words[0] == "held":
            status = self.witness.ok("STATUS asked")
            self.test.assertEqual(status["state"], "held", "it was not granted")
            self.driver.tell("unlock 2")
            self.driver.hear("2", hang(PATIENCE_S + 4))
            return
        refusals = {"unavailable", "lost"}
        if self.state == "waits" and self.wait is not None:
            refusals |= {"timeout", "busy"}
        elif self.two or self.answers:
            # Somebody is there, and nobody else has it.
            is_short = self.wait is not None and self.wait <= 500 and not self.two
            if not (is_short and self.fault in ("cut", "slow", "half-open")):
                refusals = {"lost"} if self.fault == "program frozen" else set()
        self.test.assertIn(words[0], refusals)

    def within(self, took, most):
        if self.fault == "program frozen":
            most += LEASE_S + 2
        if self.state == "new":
            most += 5  # the program has to start yet
        self.test.assertLess(took, most + hang(SLACK_S))

    def end(self):
        """It ends, does not spin until then, and nothing is left held."""
        self.driver.end()
        pid = self.driver.process.pid
        ended = threading.Event()

        def stop():
            if not ended.wait(hang(PATIENCE_S * 3 + 4)):
                os.kill(pid, signal.SIGKILL)

        threading.Thread(target=stop, daemon=True).start()
        _, status, usage = os.wait4(pid, 0)
        ended.set()
        self.driver.process.returncode = os.waitstatus_to_exitcode(status)
        self.test.assertEqual(self.driver.process.returncode, 0, "it does not end")
        spent = usage.ru_utime + usage.ru_stime
        self.test.assertLess(spent, 2.5, "it spins")
        if self.state == "waits" and self.wait is not None:
            self.witness.ok("UNLOCK asked")
        # What keeps the broker from noticing that, ends.
        self.net.stalled = False
        for one in self.dead:
            one.close()
        for name in ("first", "asked"):
            eventually(lambda n=name: self.witness.ok(f"STATUS {n}")["state"] == "free",
                       LEASE_S * 3)


def cells():
    """All of them, or a draw."""
    every = list(itertools.product(STATES, FAULTS, (False, True), WAITS))
    if os.environ.get("CELLS") == "all":
        return every, 0
    seed = int(os.environ.get("CELLS_SEED") or random.randrange(1000000))
    draw = random.Random(seed)
    pairs = list(itertools.product(STATES, FAULTS))
    if os.environ.get("CELLS") != "pairs":
        pairs = [(draw.choice(STATES), fault) for fault in FAULTS]
    return [(state, fault, draw.random() < 0.5, draw.choice(WAITS))
            for state, fault in pairs], seed


class Cells(SystemTest):
    """A test for each client; each runs some cells at a time."""

    limit = 900
    one_at_a_time = False  # a client has one request at a time
    at_once = 6 if os.environ.get("CELLS") else 2

    def run_cells(self, *argv):
        todo, seed = cells()
        which = os.environ.get("CELLS_ONLY")
        waiting = [one for one in todo if not which or which in "/".join(map(str, one))]
        failed, mutex = [], threading.Lock()

        def work():
            while True:
                with mutex:
                    if not waiting:
                        return
                    cell = waiting.pop(0)
                one = OneCell(argv, cell, self.one_at_a_time)
                result = unittest.TestResult()
                one.run(result)
                with mutex:
                    for _, text in result.failures + result.errors:
                        failed.append(f"{'/'.join(map(str, cell))}: {text}")

        threads = [threading.Thread(target=work) for _ in range(self.at_once)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failed:
            self.fail("\n".join([f"CELLS_SEED={seed}, {len(failed)} of {len(todo)}:", *failed]))

    def test_python(self):
        self.run_cells(sys.executable, os.path.join(HERE, "driver.py"))

    def test_python_with_tasks(self):
        self.run_cells(sys.executable, os.path.join(HERE, "driver_aio.py"))

    @unittest.skipIf(version() < 18, "node is not installed, or is older than 18")
    def test_node(self):
        self.run_cells("node", os.path.join(HERE, "driver.js"))

    @unittest.skipIf(shutil.which("cc") is None, "no C compiler is installed")
    def test_c(self):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        program = link(folder, "driver", os.path.join(HERE, "driver.c"))
        os.environ["LD_LIBRARY_PATH"] = folder
        self.addCleanup(os.environ.pop, "LD_LIBRARY_PATH")
        self.one_at_a_time = True
        self.run_cells(program)

    def setUp(self):
        super().setUp()
        os.environ["PYTHONPATH"] = os.path.join(SOURCE, "clients", "python")
        self.addCleanup(os.environ.pop, "PYTHONPATH")


class OneCell(SystemTest):
    """A cell, which cleans up what it started."""

    def __init__(self, argv, cell, one_at_a_time):
        super().__init__("run_cell")
        self.argv, self.cell, self.one_at_a_time = argv, cell, one_at_a_time

    def setUp(self):
        """Without what only the main thread may do."""
        self.directory = tempfile.mkdtemp(prefix="lbt-")
        self.addCleanup(shutil.rmtree, self.directory, True)
        self.brokers, self.servers, self.clocks = [], [], 0

    def run_cell(self):
        Cell(self, self.argv, *self.cell).run()
