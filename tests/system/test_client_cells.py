"""Every client of this tree in every state, while something happens to its broker.

A cell is a state, what happens (lib/harm.py), one address or two, and what is asked: how long a
lock is waited for. What must be true is the same in each: no call takes more than its wait and the
patience; nothing is entered without its lock, and who has lost it is told while the last `valid=`
lasts; a second broker that is well is used; nothing is left held once the program has let go or has
died; it does not spin, and keeps no descriptors, threads or memory; and an error names the lock,
and the broker.

CELLS=all runs them all, CELLS=whole each pair of a state and what happens once, with the rest
drawn, and a thirtieth of the others. Without it each thing that happens is run once. CELLS_SEED, which
a failure names, makes the same draw again; CELLS_ONLY=WORD runs those that have this in their name,
CELLS_JOBS=N so many at a time, and CELLS_LOG=FILE gets a line for each as it ends."""

import itertools
import os
import random
import shutil
import sys
import tempfile
import threading
import time
import unittest
import zlib

from lib import golang, harm, jdk
from lib.broker import find_program
from lib.case import SystemTest, note
from lib.driven import Driver
from lib.harm import FAULTS, STILL_S, NameServer, Net
from lib.liblockbroker import link
from lib.manual import SOURCE
from lib.wait import eventually, hang, patience
from test_client_node import version

HERE = os.path.join(SOURCE, "clients", "conformance")
PATIENCE_S = 1
SILENCE_S = 10
SLACK_S = 0.5
LEASE_S = 3
CPU_S = 1.0
# So many that fail are tried once more, or this part of all of them.
UNSTEADY_LEAST, UNSTEADY_PART = 3, 10
# More than this at the end than before: descriptors, threads, kB.
GROWS = (8, 6, 40000)
MOST = (48, 24, 250000)

# What the client does when it happens.
STATES = ("new", "idle", "waits", "holds", "both", "gives", "closes")
WAITS = (0, 500, 3000, None)  # ms; None: for ever


class Kind:
    """A client. `processes`: it is a command, each lock a process; `loop`: its connections are
    served by a loop of the program; `one`: it makes one request at a time, of one session.
    `hosts_s`: it remembers /etc/hosts, which has its names here, for so long."""

    def __init__(self, *argv, processes=False, loop=False, one=False, options=(), hosts_s=0):
        self.argv, self.options, self.hosts_s = argv, options, hosts_s
        self.processes, self.loop, self.one = processes, loop, one


def impossible(kind, state, fault, wait):
    """Why there is no such cell, or None."""
    if state in ("gives", "closes") and wait != 0:
        return "asks for nothing, so that it is run once"
    if state in ("waits", "both") and wait == 0:
        return "what does not wait is not found waiting"
    if state == "new" and fault in ("cut", "reset", "half-open") and not kind.one:
        return "there is no connection yet"
    if state == "idle" and kind.processes:
        return "a command has no connection before it asks"
    if fault == "loop-blocked" and not kind.loop:
        return "no loop of the program serves its connections"
    if fault == "loop-blocked" and kind.one and state in ("waits", "both"):
        return "its call is the loop"
    if fault == "names" and not NAMES:
        return "only root can have a name server of its own"
    return None


NAMES = NameServer.possible()


def name_of(cell):
    state, fault, two, wait = cell
    return f"{state}/{fault}/{'two' if two else 'one'}/{'-' if wait is None else wait}"


class Cell:
    """One of them, run."""

    numbers = itertools.count(3)

    def __init__(self, test, kind, rig, cell):
        self.test, self.kind, self.rig = test, kind, rig
        self.state, self.fault, self.two, self.wait = cell
        self.harm = FAULTS[self.fault]
        self.name = name_of(cell)
        self.number = next(self.numbers)
        self.first, self.asked = f"first-{self.number}", f"asked-{self.number}"
        self.holds = self.state in ("holds", "both")
        self.waits = self.state in ("waits", "both")
        self.dead, self.names = [], None
        self.checked = self.handed = False
        self.still = 0.0  # so long the program stood still

    # Before it happens.

    def run(self):
        test, rig = self.test, self.rig
        self.main = rig.main
        if self.harm.own:
            self.main = test.broker(rig.server, lease=LEASE_S, name=f"b{self.number}", ready=True)
        self.second = rig.second
        self.control, self.witness = self.main.client(), self.second.client()
        test.addCleanup(self.control.close)
        test.addCleanup(self.witness.close)
        self.net = Net(f"127.0.0.1:{self.main.port}", self.fault == "reset")
        test.addCleanup(self.net.stop)
        self.start()
        self.begin()
        before = None if self.state == "new" else self.driver.uses()
        self.happened = time.monotonic()
        self.harm.happen(self)
        if self.fault == "program-frozen":
            self.still = time.monotonic() - self.happened
        elif self.fault == "loop-blocked":
            self.still = STILL_S
        self.go_on()
        self.end(before)

    def start(self):
        argv = list(self.kind.argv)
        host = "127.0.0.1"
        if self.fault == "names":
            self.names = NameServer(self.test.directory)
            argv = self.names.before() + argv
            host = harm.NAME
        self.addresses = [f"{host}:{self.net.port}"]
        if self.two:
            self.addresses.append(f"127.0.0.1:{self.second.port}")
        self.driver = Driver([*argv, ",".join(self.addresses), *self.kind.options],
                             os.path.join(self.test.directory, "driver"))
        self.test.addCleanup(self.driver.close)

    def soon(self, seconds):
        """What need not take longer is waited for no longer than this."""
        return seconds + self.still + patience(4)

    def begin(self):
        driver = self.driver
        driver.tell("stall 0")
        driver.hear("0", hang(10), "stalled")
        if self.state not in ("new", "waits" if self.kind.processes else "new"):
            driver.tell(f"lock 1 5000 {self.first}")
            words, _ = driver.hear("1", hang(6))
            self.test.assertEqual(words[0], "held", words)
        if self.state in ("idle", "waits") and not self.kind.processes:
            driver.tell("unlock 1")
            driver.hear("1", hang(6))
        if self.waits:
            self.witness.lock(self.asked)
            driver.tell(f"lock 2 {self.word()} {self.asked}")
            eventually(lambda: self.control.ok(f"STATUS {self.asked}")["waiters"] == "1", 10)

    def word(self):
        return "-" if self.wait is None else str(self.wait)

    def hand_over(self):
        if not self.handed:
            self.handed = True
            self.witness.ok(f"UNLOCK {self.asked}")

    # Afterwards.

    def go_on(self):
        """Asks for a lock, and looks at what becomes of it, and of the one before."""
        driver = self.driver
        if self.state == "closes":
            return
        if self.state == "gives":
            driver.tell("unlock 1")
            words, when = driver.hear("1", self.soon(PATIENCE_S), "released", "lost")
            self.within(when - driver.asked["1"], PATIENCE_S)
            if self.harm.keeps:
                self.test.assertEqual(words[0], "released")
            return
        if not self.waits:
            driver.tell(f"lock 2 {self.word()} {self.asked}")
        elif self.wait is None:
            self.hand_over()
        self.second_block()
        if self.holds:
            self.first_block()
        self.recover()

    def second_block(self):
        """What was asked for, while it happened or after that."""
        driver = self.driver
        if self.kind.processes and self.waits and self.wait is None and not self.two and (
                self.fault == "half-open" or not self.harm.answers):
            return  # a command that has begun to wait goes on
        begun = driver.asked["2"]
        if self.wait is None:
            begun = max(begun, self.happened)
        most = (SILENCE_S if self.wait is None else self.wait / 1000) + PATIENCE_S
        words, when = driver.hear("2", self.soon(most))
        self.within(when - begun, most)
        self.judge(words)

    def judge(self, words):
        """Is that what it may be told?"""
        if words[0] == "held":
            self.test.assertEqual(self.witness.ok(f"STATUS {self.asked}")["state"], "held",
                                  "it was not granted")
            # Another broker tells it within 200 ms, or not at all.
            status = eventually(lambda: (lambda told: "fence" in told.fields and told)(
                self.witness.ok(f"STATUS {self.asked}")), 5, "the fence is told")
            self.test.assertEqual(status["fence"], words[1])
            self.driver.tell("unlock 2")
            self.driver.hear("2", self.soon(PATIENCE_S))
            return
        self.test.assertIn(words[0], self.refusals(), words)
        if words[0] == "failed":
            return  # of this machine, before it could ask
        text = " ".join(words[1:])
        self.test.assertIn(self.asked, text)
        if words[0] == "unavailable":
            self.test.assertTrue(any(one in text for one in self.addresses), text)

    def refusals(self):
        most = {"unavailable", "lost"}
        if self.waits and self.wait is not None:
            return most | {"timeout", "busy"}
        if self.kind.one and self.holds:
            return most  # its one session is that of what it holds
        if self.fault == "descriptors" and (
                self.state == "new" or self.kind.processes):
            return most | ({"failed"} if self.kind.processes else set())
        if not self.two and not self.harm.answers:
            return most
        # Somebody is there, and nobody else has it.
        is_short = self.wait is not None and self.wait <= 500
        if is_short and self.fault == "slow":
            return most | {"timeout", "busy"}  # perhaps by what it has given up
        if is_short and not self.two and self.fault in ("cut", "reset", "half-open"):
            return most
        return set()

    def first_block(self):
        """What it held when it happened."""
        driver, keeps = self.driver, self.harm.keeps
        if self.checked:
            words, _ = driver.hear("1", self.soon(0), "safe", "lost")
            self.test.assertEqual(words[0], "lost", "it goes on after its valid= is over")
            keeps = False
        elif self.fault == "program-frozen":
            keeps = False
        elif keeps is None or keeps:
            driver.tell("check 1")
            words, _ = driver.hear("1", self.soon(0), "safe", "lost")
            keeps = words[0] == "safe" or keeps
            self.test.assertEqual(words[0], "safe" if keeps else "lost")
        if keeps:
            self.test.assertEqual(self.witness.ok(f"STATUS {self.first}")["state"], "held")
        else:
            _, when = driver.hear("1", self.soon(LEASE_S), "told")
            until = max(self.net.until, self.happened + self.still)
            self.test.assertLess(when, until + patience(SLACK_S, self.happened), "too late")
        driver.tell("unlock 1")
        words, when = driver.hear("1", self.soon(PATIENCE_S), "released", "lost")
        self.test.assertEqual(words[0], "released" if keeps else "lost")

    def recover(self):
        """Once what was wrong is not any more, it is well."""
        if self.harm.mend is None and not self.two:
            return
        if self.harm.mend is not None:
            self.harm.mend(self)
        if self.waits and self.wait is not None:
            self.hand_over()
        wait = 5 + (self.kind.hosts_s if self.fault == "names" else 0)
        self.driver.tell(f"lock 3 {wait * 1000} {self.first}")
        words, _ = self.driver.hear("3", self.soon(wait + PATIENCE_S))
        self.test.assertEqual(words[0], "held", words)
        self.driver.tell("unlock 3")
        words, _ = self.driver.hear("3", self.soon(PATIENCE_S))
        self.test.assertEqual(words[0], "released", words)

    def within(self, took, most):
        most += self.still + patience(SLACK_S, self.happened)
        if self.kind.processes:
            most += 0.3  # it has to start
        self.test.assertLess(took, most)

    # The end.

    def end(self, before):
        """It ends, or dies, and nothing is left of it."""
        driver, test = self.driver, self.test
        after = driver.uses()
        most = MOST if before is None else tuple(map(sum, zip(before, GROWS)))
        for what, used, limit in zip(("descriptors", "threads", "kB"), after, most):
            test.assertLessEqual(used, limit, f"{what}: {before}, then {after}")
        dies = zlib.crc32(self.name.encode()) % 4 == 0 and self.state != "closes"
        begun = time.monotonic()
        if dies:
            driver.process.kill()
        else:
            driver.end()
        status, spent = driver.wait(hang(PATIENCE_S * 3 + 6))
        if not dies:
            test.assertEqual(status, 0, f"it does not end: {driver.log()}")
            most = PATIENCE_S + 1 + (5 if self.kind.processes else 0)
            test.assertLess(time.monotonic() - begun,
                            most + self.still + patience(SLACK_S, begun))
        test.assertLess(spent, CPU_S, "it spins")
        if self.waits:
            self.hand_over()
        # What keeps the broker from noticing that, ends.
        for one in self.dead:
            one.close()
        for name in (self.first, self.asked):
            eventually(lambda n=name: self.witness.ok(f"STATUS {n}")["state"] == "free",
                       LEASE_S * 3, f"{name} is free", 0.05)


def all_cells(kind):
    """Those that are possible, and how many are not."""
    every = list(itertools.product(STATES, FAULTS, (False, True), WAITS))
    can = [one for one in every if impossible(kind, one[0], one[1], one[3]) is None]
    return can, len(every) - len(can)


def draw(can, mode, seed):
    """Some of them."""
    if mode == "all":
        return can
    chance = random.Random(seed)
    by_pair = {}
    for one in can:
        by_pair.setdefault(one[:2], []).append(one)
    if mode == "whole":
        drawn = [chance.choice(some) for some in by_pair.values()]
        rest = [one for one in can if one not in drawn]
        return drawn + chance.sample(rest, len(rest) // 30)
    return [chance.choice([one for one in can if one[1] == fault])
            for fault in FAULTS if any(one[1] == fault for one in can)]


class Rig:
    """What the cells of a client share."""

    def __init__(self, test):
        self.server = test.redis()
        self.main = test.broker(self.server, lease=LEASE_S, trust_new=True, name="b1")
        self.second = test.broker(self.server, lease=LEASE_S, name="b2", ready=True)
        if NAMES:
            try:
                test.addCleanup(harm.silent_name_server().close)
            except OSError:
                pass  # another test has it already, and nobody reads it


class Cells(SystemTest):
    """A test for each client; each runs some cells at a time."""

    limit = 900

    def run_cells(self, kind):
        mode = os.environ.get("CELLS")
        jobs = int(os.environ.get("CELLS_JOBS") or (6 if mode else 2))
        seed = int(os.environ.get("CELLS_SEED") or random.randrange(1000000))
        can, cannot = all_cells(kind)
        which = os.environ.get("CELLS_ONLY", "")
        todo = [one for one in draw(can, mode, seed) if which in name_of(one)]
        rig = Rig(self)
        failed = self.run_some(kind, rig, todo, jobs)
        # A machine that stalls fails what is a matter of time, all that are under way at once.
        few = len(failed) <= max(UNSTEADY_LEAST, len(todo) // UNSTEADY_PART)
        again = self.run_some(kind, rig, list(failed), 1) if few else failed
        note(f"CELLS_SEED={seed}: {len(todo)} cells of {len(can)}, {cannot} impossible; failed "
             f"{len(again)}, unsteady {[name_of(one) for one in failed if one not in again]}")
        if again:
            self.fail("\n".join([f"CELLS_SEED={seed}, {len(again)} of {len(todo)}:",
                                 *(f"{name_of(one)}: {text}" for one, text in again.items())]))

    def run_some(self, kind, rig, todo, jobs):
        """Those that failed, and why."""
        waiting, failed, mutex = list(todo), {}, threading.Lock()

        def work():
            while True:
                with mutex:
                    if not waiting:
                        return
                    cell = waiting.pop(0)
                one, begun = OneCell(kind, rig, cell), time.monotonic()
                result = unittest.TestResult()
                one.run(result)
                texts = [text for _, text in result.failures + result.errors]
                with mutex:
                    if texts:
                        failed[cell] = "\n".join(texts)
                    self.log(cell, time.monotonic() - begun, texts)

        threads = [threading.Thread(target=work) for _ in range(jobs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return failed

    def log(self, cell, seconds, texts):
        path = os.environ.get("CELLS_LOG")
        if path:
            with open(path, "a", encoding="utf-8") as file:
                print(self.id().rpartition(".")[2], "FAIL" if texts else "ok",
                      f"{seconds:.1f}", name_of(cell), *texts, file=file)

    def test_command(self):
        self.run_cells(Kind(sys.executable, os.path.join(HERE, "driver_command.py"),
                            processes=True))

    def test_command_that_runs(self):
        self.run_cells(Kind(sys.executable, os.path.join(HERE, "driver_command.py"),
                            processes=True, options=("run",)))

    def test_python(self):
        self.run_cells(Kind(sys.executable, os.path.join(HERE, "driver.py")))

    def test_python_with_tasks(self):
        self.run_cells(Kind(sys.executable, os.path.join(HERE, "driver_aio.py"), loop=True))

    @unittest.skipIf(version() < 18, "node is not installed, or is older than 18")
    def test_node(self):
        self.run_cells(Kind("node", os.path.join(HERE, "driver.js"), loop=True))

    def test_go(self):
        self.run_cells(Kind(golang.driver(self.directory), hosts_s=5))

    def test_java(self):
        self.run_cells(Kind(*jdk.driver()))

    @unittest.skipIf(shutil.which("cc") is None, "no C compiler is installed")
    def test_c(self):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        program = link(folder, "driver", os.path.join(HERE, "driver.c"))
        os.environ["LD_LIBRARY_PATH"] = folder
        self.addCleanup(os.environ.pop, "LD_LIBRARY_PATH")
        self.run_cells(Kind(program, loop=True, one=True))

    def setUp(self):
        super().setUp()
        for key, value in (("PYTHONPATH", os.path.join(SOURCE, "clients", "python")),
                           ("LOCKBROKER_COMMAND", find_program("lockbroker"))):
            os.environ[key] = value
            self.addCleanup(os.environ.pop, key)


class OneCell(SystemTest):
    """A cell, which cleans up what it started."""

    def __init__(self, kind, rig, cell):
        super().__init__("run_cell")
        self.kind, self.rig, self.cell = kind, rig, cell

    def setUp(self):
        """Without what only the main thread may do."""
        self.directory = tempfile.mkdtemp(prefix="lbt-")
        self.addCleanup(shutil.rmtree, self.directory, True)
        self.brokers, self.servers, self.clocks = [], [], 0

    def run_cell(self):
        Cell(self, self.kind, self.rig, self.cell).run()
