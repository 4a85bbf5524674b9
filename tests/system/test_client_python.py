"""The Python client (clients/python), as programs use it."""

import base64
import copy
import hashlib
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import zipfile

from lib.case import SystemTest
from lib.proxy import Proxy
from lib.wait import eventually, hang
from test_tls_clients import ClientsTest

FOLDER = os.path.join(
    os.environ.get("LOCKBROKER_SRC") or os.path.join(os.path.dirname(__file__), "..", ".."),
    "clients", "python")
sys.path.insert(0, FOLDER)

import lockbroker  # pylint: disable=import-error,wrong-import-position


class Client(SystemTest):
    limit = 60

    def prepare(self, lease=10, **settings):
        self.server = self.redis()
        self.main = self.broker(self.server, lease=lease, trust_new=True, **settings)
        self.control = self.client()

    def open(self, *more, to=None, **options):
        to = to or f"127.0.0.1:{self.main.port}"
        broker = lockbroker.Broker(to, *more, **options)
        self.addCleanup(broker.close)
        return broker


class Blocks(Client):
    def test_a_block(self):
        self.prepare()
        broker = self.open()
        with broker.lock("a") as lock:
            status = self.control.ok("STATUS a")
            self.assertEqual((status["state"], status.fence), ("held", lock.fence))
            self.assertGreater(lock.valid, 1)
            self.assertLessEqual(lock.valid, 10)
            lock.check()
            self.assertFalse(lock.lost.is_set())
            first = lock.fence
        self.assertEqual(self.control.ok("STATUS a")["state"], "free")
        with broker.lock("a") as lock:
            self.assertGreater(lock.fence, first)
        with self.assertRaises(lockbroker.Lost):
            lock.check()

    def test_threads_exclude_each_other_and_so_does_the_own_block(self):
        self.prepare()
        broker = self.open()
        with broker.lock("a"):
            for wait in (0, 0.2, None):
                with self.assertRaises(lockbroker.Deadlock) as caught:
                    with broker.lock("b", "a", wait=wait):
                        self.fail("both")
                self.assertEqual((caught.exception.code, caught.exception.name),
                                 ("deadlock", "a"))
        self.control.lock("a")
        with self.assertRaises(lockbroker.Busy) as caught:
            with broker.lock("a", wait=0):
                self.fail("both")
        self.assertEqual(caught.exception.code, "busy")
        for name in "held", "not":  # words of what is said
            self.control.lock(name)
            with self.assertRaisesRegex(lockbroker.Error, f"^{name}: (not|held by) "):
                broker.lock(name, wait=0.1 * (name == "not")).acquire()
        begun = time.monotonic()
        with self.assertRaises(lockbroker.TimedOut):
            with broker.lock("a", wait=0.2):
                self.fail("both")
        self.assertGreaterEqual(time.monotonic() - begun, 0.19)
        self.control.ok("UNLOCK a")
        inside, most, fences = 0, 0, []

        def work():
            nonlocal inside, most
            for _ in range(10):
                with broker.lock("a") as lock:
                    inside += 1
                    most = max(most, inside)
                    fences.append(lock.fence)
                    inside -= 1

        threads = [threading.Thread(target=work) for _ in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(hang(30))
        self.assertEqual((most, len(fences)), (1, 100))
        self.assertEqual(fences, sorted(set(fences)))

    def test_several_names_shared_hold_keep(self):
        self.prepare()
        broker = self.open()
        with broker.lock("a", "b") as lock:
            self.assertEqual(len(lock.fences), 2)
            self.assertEqual(self.control.ok("STATUS b")["state"], "held")
        with broker.lock("s", shared=True), broker.lock("s", shared=True, wait=0):
            self.assertEqual(self.control.ok("STATUS s")["state"], "shared")
        with broker.lock("k", keep=30):
            pass
        self.assertEqual(self.control.ask("TRYLOCK k").status, "BUSY")
        with self.assertRaises(lockbroker.Lost) as caught:
            with broker.lock("h", hold=0.2) as lock:
                self.assertTrue(lock.lost.wait(hang(5)))
                with self.assertRaises(lockbroker.Lost):
                    lock.check()
        self.assertEqual(caught.exception.code, "lost")
        self.assertIn("(hold)", str(caught.exception))
        with self.assertRaises(KeyError):
            with broker.lock("h", hold=0.2) as lock:
                self.assertTrue(lock.lost.wait(hang(5)))
                raise KeyError("what is under way comes first")

    def test_of_several_names_one_is_lost(self):
        """The others are given back with it."""
        self.prepare()
        broker = self.open()
        with self.assertRaises(lockbroker.Lost):
            with broker.lock("a", "b", "c"):
                self.control.ok("UNLOCK-FORCE b")
        for name in ("a", "b", "c"):
            self.assertEqual(self.control.ok(f"STATUS {name}")["state"], "free")

    def test_a_hold_that_ends_takes_nothing_else_with_it(self):
        self.prepare()
        broker = self.open()
        with broker.lock("a") as lock:
            with self.assertRaises(lockbroker.Lost):
                with broker.lock("h", hold=0.2) as brief:
                    with broker.lock("b") as other:
                        self.assertTrue(brief.lost.wait(hang(5)))
                        other.check()
            lock.check()
            self.assertFalse(lock.lost.is_set())

    def test_semaphore_latch_barrier_elect(self):
        self.prepare()
        broker = self.open()
        with broker.semaphore("s", 2), broker.semaphore("s", 2, wait=0):
            with self.assertRaises(lockbroker.Busy):
                with broker.semaphore("s", 2, wait=0):
                    self.fail("three")
        with broker.semaphore("s", 2, permits=2):
            pass
        latch = broker.latch("l")
        self.assertEqual(latch.create(2), 2)
        with self.assertRaises(lockbroker.TimedOut):
            latch.wait(0.05)
        self.assertEqual(latch.count_down(), 1)
        self.assertEqual(latch.count_down(), 0)
        latch.wait()
        places = []
        threads = [threading.Thread(
            target=lambda: places.append(broker.barrier("b", 3).wait())) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(hang(10))
        self.assertEqual(sorted(places), [0, 1, 2])
        with broker.elect("leader"):
            self.assertEqual(self.control.ok("STATUS leader")["state"], "held")
        with broker.elect("leader", value="10.0.0.7:80"):
            self.assertEqual(self.control.ok("STATUS leader")["value"], "10.0.0.7:80")
        with self.assertRaises(lockbroker.Error):
            broker.lock("a", value="a b")

    def assert_code(self, code, lock):
        with self.assertRaises(lockbroker.Error) as caught:
            with lock:
                self.fail("it is refused")
        self.assertEqual(caught.exception.code, code)

    def test_times(self):
        self.prepare()
        broker = self.open()
        # A part of a millisecond is not "without end", and is not tried for ever.
        begun = time.monotonic()
        try:
            with broker.lock("a", hold=0.0001) as lock:
                self.assertTrue(lock.lost.wait(hang(5)))
        except lockbroker.Lost as error:
            self.assertIn("(hold)", str(error))
        self.assertLess(time.monotonic() - begun, hang(10))
        with broker.lock("a", wait=float("inf")):
            pass
        self.control.lock("a")
        with self.assertRaises(lockbroker.TimedOut):
            with broker.lock("a", wait=0.01):
                self.fail("both")
        with self.assertRaises(lockbroker.Busy):
            with broker.lock("a", wait=-1):  # what is left of some time
                self.fail("both")
        for hold in (0, -1):
            with self.assertRaises(lockbroker.Error) as caught:
                broker.lock("a", hold=hold)
            self.assertEqual(caught.exception.code, "bad-option")

    def wrong_types(self):
        """They are told at once, in words of the caller's."""
        broker = self.open()
        for words, call in (("lock\\('a', 'b'\\)", lambda: broker.lock(["a", "b"])),
                            ("^5 is no str", lambda: broker.lock(5)),
                            ("seconds, and not '10'", lambda: broker.lock("a", wait="10").acquire()),
                            ("seconds, and not '10'", lambda: broker.lock("a", hold="10")),
                            ("HOST:PORT.*6379", lambda: lockbroker.Broker(6379)),
                            ("neither copied", lambda: copy.deepcopy(broker)),
                            ("neither copied", lambda: pickle.dumps(broker.lock("a")))):
            with self.assertRaisesRegex(TypeError, words):
                call()
        with self.assertRaisesRegex(lockbroker.Error, "'a b' has a space in it"):
            broker.lock("a b")
        with self.assertRaisesRegex(lockbroker.Error, "redis:// is no way to a lockbroker"):
            lockbroker.Broker("redis://127.0.0.1:6379")

    def test_how_they_look(self):
        self.prepare()
        broker = self.open()
        lock = broker.lock("a", "b")
        self.assertEqual(repr(lock), "<Lock 'a' 'b'>")
        with lock as hold:
            self.assertRegex(repr(hold), f"^<Hold 'a' 'b', fence {hold.fence}, valid [0-9.]+ s>$")
            self.assertEqual(repr(lock), "<Lock 'a' 'b', held>")
        self.assertEqual(repr(hold), "<Hold 'a' 'b', not held>")
        kept = broker.lock("a").acquire()
        broker.close()
        self.assertRegex(repr(broker), "^<Broker .*, closed>$")
        with self.assertRaisesRegex(lockbroker.Lost, r"\(closed\): its Broker was closed"):
            kept.check()
        with lockbroker.Broker(self.redis(tcp=True).address) as wrong:
            with self.assertRaisesRegex(lockbroker.Unavailable, "a Redis server, not a lockbroker"):
                wrong.lock("a", wait=0).acquire()

    def test_errors(self):
        self.prepare()
        broker = self.open()
        with self.assertRaises(lockbroker.Error) as caught:
            broker.latch("none").wait()
        self.assertEqual(caught.exception.code, "not-found")
        for name in ("a b", "", "a\r\nUNLOCK-FORCE b", "a=b", "\udc80"):
            with self.assertRaises(lockbroker.Error) as caught:
                with broker.lock(name):
                    self.fail("no name")
            self.assertEqual(caught.exception.code, "bad-name")
        self.wrong_types()
        # The broker can't read it, says so without a tag, and hangs up.
        self.assert_code("too-long", broker.lock("a" * 5000))
        self.assert_code("bad-option", broker.lock("a", wait=float("nan")))
        with self.assertRaises(lockbroker.Error):
            broker.lock("a", hold=-1)
        with broker.semaphore("s", 1) as held:
            with self.assertRaises(lockbroker.Error) as caught:
                self.assertIsNone(held.fence)
            self.assertEqual(caught.exception.code, "unsupported")
        self.assertEqual(lockbroker.aio.Address("::1").host, "::1")
        self.assertEqual(lockbroker.aio.Address("[::1]:7").port, 7)
        for address in ("a:b", "a:70000"):
            with self.assertRaises(lockbroker.Error) as caught:
                lockbroker.Broker(address)
            self.assertEqual(caught.exception.code, "bad-option")
        nobody = lockbroker.Broker("127.0.0.1:1")
        self.addCleanup(nobody.close)
        with self.assertRaises(lockbroker.Unavailable):
            with nobody.lock("a", wait=0):
                self.fail("nobody grants")

    def test_users(self):
        secret = "s" * 43
        users = os.path.join(self.directory, "users")
        with open(users, "w", encoding="utf-8") as file:
            file.write("deploy:sha256:" + hashlib.sha256(secret.encode()).hexdigest() + "\n")
        os.chmod(users, 0o600)
        self.prepare(auth={"users": [{"name": "deploy", "lock": ["deploy/*"]}],
                           "users_file": users}, ready=False)
        eventually(lambda: self.main.log_lines("guard-ready"), 10, "it grants")
        broker = self.open(user="deploy", password=secret, label="ci")
        with broker.lock("deploy/web") as lock:
            self.assertGreater(lock.valid, 0)
        with self.assertRaises(lockbroker.Denied):
            with broker.lock("other"):
                self.fail("it may not")
        with self.assertRaises(lockbroker.Denied):
            with self.open(user="deploy", password="wrong").lock("deploy/web"):
                self.fail("it is somebody else")

    def test_a_broker_that_leaves(self):
        self.prepare()
        second = self.broker(self.server, name="b2", lease=10)
        broker = self.open(second.unix_path, to=self.main.unix_path)
        with broker.lock("a") as lock:
            self.control.ok("DRAIN")
            with broker.lock("b", wait=10):
                self.assertEqual(second.client().ok("STATUS b")["state"], "held")
            lock.check()
        eventually(lambda: not self.main.process.alive, 10)

    def test_an_interrupt_gives_back_what_comes(self):
        self.prepare()
        broker = self.open()
        held = self.control
        held.lock("a")

        class Interrupt(Exception):
            pass

        def interrupt(*_):
            raise Interrupt

        old = signal.signal(signal.SIGUSR1, interrupt)
        self.addCleanup(signal.signal, signal.SIGUSR1, old)

        def when_it_waits():
            eventually(lambda: held.ok("STATUS a")["waiters"] == "1", 10)
            os.kill(os.getpid(), signal.SIGUSR1)

        thread = threading.Thread(target=when_it_waits)
        thread.start()
        with self.assertRaises(Interrupt):
            with broker.lock("a"):
                self.fail("it is held")
        thread.join()
        eventually(lambda: held.ok("STATUS a")["waiters"] == "0", 10)


class Faults(Client):
    def test_a_cut_connection(self):
        self.prepare()
        net = Proxy(f"127.0.0.1:{self.main.port}")
        self.addCleanup(net.stop)
        broker = self.open(to=f"127.0.0.1:{net.port}")
        with self.assertRaises(lockbroker.Lost):
            with broker.lock("a") as lock:
                net.cut()
                self.assertTrue(lock.lost.wait(hang(5)))
        with broker.lock("b", wait=10):
            self.assertEqual(self.control.ok("STATUS b")["state"], "held")

    def test_a_session_is_resumed(self):
        self.prepare()
        net = Proxy(f"127.0.0.1:{self.main.port}")
        self.addCleanup(net.stop)
        broker = self.open(to=f"127.0.0.1:{net.port}", grace=10)
        with broker.lock("a") as lock:
            fence = lock.fence
            net.cut()
            eventually(lambda: net.connections == 2, 5)
            seen = [lock.valid]
            # It is told a new one.
            eventually(lambda: seen.append(lock.valid) or seen[-1] > seen[-2], 10)
            self.assertFalse(lock.lost.is_set())
            self.assertEqual(self.control.ok("STATUS a").fence, fence)
        self.assertEqual(self.control.ok("STATUS a")["state"], "free")

    def test_what_was_asked_when_the_connection_was_lost(self):
        """It is asked again, and what the broker had done of it is found by the session that
        is resumed: nothing is kept until the grace is over."""
        self.prepare()
        net = Proxy(f"127.0.0.1:{self.main.port}")
        self.addCleanup(net.stop)
        broker = self.open(to=f"127.0.0.1:{net.port}", grace=200)

        def check():
            for happens in (net.drop_reply, net.drop_request):
                for what, take, give in ((broker.lock("b", wait=20), "LOCK b", "UNLOCK b"),
                                         (broker.lock("b", wait=20), "PING", "UNLOCK b"),
                                         (broker.lock("b", wait=0), "LOCK b", "UNLOCK b"),
                                         (broker.semaphore("p", 1, wait=20), "ACQUIRE p",
                                          "RELEASE p")):
                    happens(take)
                    with what:
                        self.assertTrue(net.fired.is_set())
                        what.check()
                        happens(give)
                    self.assertTrue(net.fired.is_set())
                    eventually(lambda: self.control.ok("STATUS b")["state"] == "free", 10)

        check()
        with broker.lock("a") as lock:
            check()
            self.assertFalse(lock.lost.is_set())
            self.assertEqual(self.control.ok("STATUS a").fence, lock.fence)
        # What is under way at the end is given back, too.
        with broker.lock("a"):
            net.drop_reply("UNLOCK a")
        broker.close()
        eventually(lambda: self.control.stats()["locks_held"] == "0", 5)

    def test_what_counts_is_not_asked_again(self):
        self.prepare()
        net = Proxy(f"127.0.0.1:{self.main.port}")
        self.addCleanup(net.stop)
        latch = self.open(to=f"127.0.0.1:{net.port}").latch("l")
        self.assertEqual(latch.create(5), 5)
        net.drop_reply("COUNTDOWN")
        with self.assertRaises(lockbroker.Unavailable):
            latch.count_down()
        self.assertEqual(latch.count_down(), 3)

    def test_a_frozen_broker(self):
        self.prepare(lease=1.5)
        second = self.broker(self.server, lease=1.5, name="b2")
        broker = self.open(f"127.0.0.1:{second.port}")
        with self.assertRaises(lockbroker.Lost):
            with broker.lock("a") as lock:
                self.main.freeze()
                self.addCleanup(self.main.thaw)
                # Nobody else has it before the block was told.
                other = second.client()
                other.send("LOCK a wait=20s")
                self.assertTrue(lock.lost.wait(hang(10)))
                self.assertEqual(lock.valid, 0)
                told = time.monotonic()
                self.assertEqual(other.reply(20).status, "OK")
                self.assertGreaterEqual(time.monotonic(), told)
        with broker.lock("b", wait=20):
            pass
        self.main.thaw()

    def test_a_broker_that_is_restarted_under_load(self):
        self.prepare(lease=1.5)
        broker = self.open(to=self.main.unix_path)
        stop = time.monotonic() + 6
        inside, fences, broken = 0, [], []

        def work():
            nonlocal inside
            while time.monotonic() < stop:
                try:
                    with broker.lock("a", wait=20) as lock:
                        inside += 1
                        if inside != 1:
                            broken.append(lock.fence)
                        fences.append(lock.fence)
                        inside -= 1
                except lockbroker.Lost:
                    pass

        threads = [threading.Thread(target=work) for _ in range(50)]
        for thread in threads:
            thread.start()
        time.sleep(1)
        self.main.stop()
        before = len(fences)
        self.main.start()
        for thread in threads:
            thread.join(hang(40))
        self.assertFalse(any(thread.is_alive() for thread in threads))
        self.assertEqual(broken, [])
        self.assertEqual(fences, sorted(set(fences)))
        self.assertGreater(len(fences), before)

    def test_a_program_that_is_killed_leaves_nothing_behind(self):
        self.prepare()
        broker = self.open()
        read, write = os.pipe()
        with broker.lock("mine") as mine:
            child = os.fork()
            if child == 0:
                # A child of fork begins anew, and harms not what its parent has.
                for act in (mine.check, mine.release):
                    try:
                        act()
                        os._exit(2)  # pylint: disable=protected-access
                    except lockbroker.Lost:
                        pass
                with broker.lock("a"):
                    os.write(write, b".")
                    time.sleep(hang(60))
                os._exit(1)  # pylint: disable=protected-access
            self.addCleanup(lambda: (os.close(read), os.close(write)))
            os.read(read, 1)
            self.assertEqual(self.control.ask("TRYLOCK a").status, "BUSY")
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            self.control.lock("a", "wait=12s")
            self.assertEqual(self.control.ok("STATUS mine")["state"], "held")
        self.assertEqual(self.control.ok("STATUS mine")["state"], "free")


class Lent(Blocks, Faults):
    """All of these once more with a client that has locked before, so that it
    lends its session to the thread that locks."""

    def open(self, *more, to=None, **options):
        broker = super().open(*more, to=to, **options)
        if options:
            return broker  # a user has no right to this name; grace: never lent

        def is_lent():
            with broker.lock("before"):
                pass
            return broker._own.ways  # pylint: disable=protected-access

        eventually(is_lent, 10)
        return broker

    def test_it_is_used_by_one_thread_alone(self):
        self.prepare()
        broker = self.open()
        turns = []

        def work(name):
            for _ in range(200):
                with broker.lock(name) as lock:
                    turns.append((name, lock.fence))

        threads = [threading.Thread(target=work, args=(f"n{i % 3}",)) for i in range(9)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(hang(60))
        self.assertEqual(len(turns), 1800)
        for name in ("n0", "n1", "n2"):
            fences = [fence for of, fence in turns if of == name]
            self.assertEqual(fences, sorted(set(fences)))

    def test_a_broker_that_was_started_anew(self):
        self.prepare()
        broker = self.open(to=self.main.unix_path)
        self.main.stop()
        self.main.start().wait_granting()
        with broker.lock("a", wait=10) as lock:
            self.assertEqual(self.client().ok("STATUS a").fence, lock.fence)

    def test_a_broker_that_freezes_while_a_thread_waits(self):
        self.prepare(lease=1.5)
        second = self.broker(self.server, lease=1.5, name="b2")
        broker = self.open(f"127.0.0.1:{second.port}")
        self.control.lock("a")
        got = []

        def work():
            with broker.lock("a", wait=40) as lock:
                got.append(lock.fence)

        thread = threading.Thread(target=work)
        thread.start()
        eventually(lambda: self.control.ok("STATUS a")["waiters"] == "1", 10)
        self.main.freeze()
        self.addCleanup(self.main.thaw)
        thread.join(hang(40))
        self.assertEqual(len(got), 1)

    def test_the_end_while_a_thread_waits(self):
        self.prepare()
        broker = self.open()
        self.control.lock("a")
        raised = []

        def work():
            try:
                with broker.lock("a"):
                    pass
            except lockbroker.Error as error:
                raised.append(error.code)

        thread = threading.Thread(target=work)
        thread.start()
        eventually(lambda: self.control.ok("STATUS a")["waiters"] == "1", 10)
        broker.close()
        thread.join(hang(20))
        self.assertEqual(raised, ["closed"])
        eventually(lambda: self.control.ok("STATUS a")["waiters"] == "0", 10)

    def test_interrupts_at_any_moment(self):
        """They come between any two steps: before the request is sent, while it
        is answered, inside the block, and at its end."""
        self.prepare()
        broker = self.open()

        class Interrupt(Exception):
            pass

        def interrupt(*_):
            raise Interrupt

        old = signal.signal(signal.SIGALRM, interrupt)
        self.addCleanup(signal.signal, signal.SIGALRM, old)
        self.addCleanup(signal.setitimer, signal.ITIMER_REAL, 0)
        done, begun = 0, time.monotonic()
        for i in range(20):
            with broker.lock(f"b{i}"):
                pass
        usual = (time.monotonic() - begun) / 20
        for i in range(1, 200):
            try:
                # Again after a while, so that nothing hangs for ever.
                signal.setitimer(signal.ITIMER_REAL, usual * i / 50, 5)
                with broker.lock(f"a{i}"):
                    pass
                done += 1
                time.sleep(0.01)
            except (Interrupt, RuntimeError):
                pass  # RuntimeError: within a condition of Python's own
        self.assertGreater(done, 0)
        signal.setitimer(signal.ITIMER_REAL, 60)
        with broker.lock("b", wait=20) as lock:
            self.assertEqual(self.control.ok("STATUS b").fence, lock.fence)
        broker.close()
        eventually(lambda: self.control.stats()["locks_held"] == "0", 15)


class Package(unittest.TestCase):
    def test_it_is_built_without_anything_else(self):
        with tempfile.TemporaryDirectory() as directory:
            subprocess.run(
                [sys.executable, "-B", "-c",
                 "import build_wheel, sys; print(build_wheel.build_wheel(sys.argv[1]))",
                 directory], cwd=FOLDER, check=True, stdout=subprocess.PIPE)
            name, = os.listdir(directory)
            self.assertEqual(name, f"lockbroker-{lockbroker.__version__}-py3-none-any.whl")
            wheel = os.path.join(directory, name)
            with zipfile.ZipFile(wheel) as file:
                record = next(one for one in file.namelist() if one.endswith("/RECORD"))
                rows = [row.split(",") for row in file.read(record).decode().splitlines()]
                self.assertEqual({row[0] for row in rows}, set(file.namelist()))
                for part, digest, size in rows:
                    if part != record:
                        self.assertEqual(len(file.read(part)), int(size))
                        self.assertEqual(digest, "sha256=" + base64.urlsafe_b64encode(
                            hashlib.sha256(file.read(part)).digest()).decode().rstrip("="))
            subprocess.run([sys.executable, "-B", "-c", "import lockbroker.aio"], check=True,
                           cwd=directory, env={**os.environ, "PYTHONPATH": wheel})


class Ends(Client):
    def test_a_program_ends_in_silence(self):
        self.prepare()
        self.control.lock("held")
        program = subprocess.run(
            [sys.executable, "-X", "dev", "-c", """
import logging, sys, threading, time, lockbroker
logging.getLogger("asyncio").setLevel(logging.ERROR)  # a slow machine is none
broker = lockbroker.Broker(sys.argv[1])
for _ in range(3):
    with broker.lock("a"):
        pass
def wait():
    try:
        broker.lock("held").acquire()
    except lockbroker.Error:
        pass
waits = threading.Thread(target=wait)
waits.start()
try:
    with broker.lock("b"):
        broker.lock("held", wait=0.1).acquire()
except lockbroker.TimedOut:
    pass
broker.close()
waits.join()
"""
             , f"127.0.0.1:{self.main.port}"], env=dict(os.environ, PYTHONPATH=FOLDER),
            timeout=hang(30), check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual((program.returncode, program.stdout), (0, b""))


class Tls(ClientsTest, Client):
    def test_a_lock(self):
        self.tls_broker()
        address = f"tls://localhost:{self.port}"
        with lockbroker.Broker(address, ca=self.file("ca.crt")) as broker:
            for _ in range(3):
                with broker.lock("a", wait=5) as lock:
                    self.assertEqual(self.client().ok("STATUS a").fence, lock.fence)
        with lockbroker.Broker(address) as stranger:
            with self.assertRaisesRegex(lockbroker.Unavailable, "certificate"):
                stranger.lock("a", wait=1).acquire()

    def test_a_user_by_certificate(self):
        self.broker_by_certificate()
        address, ca = f"tls://localhost:{self.port}", self.file("ca.crt")
        with lockbroker.Broker(address, ca=ca, cert=self.file("client.crt"),
                               key=self.file("client.key")) as broker:
            with broker.lock("a", wait=5):
                pass
            with self.assertRaises(lockbroker.Denied):
                broker.lock("b", wait=5).acquire()
        with lockbroker.Broker(address, ca=ca) as nobody:
            with self.assertRaises(lockbroker.Denied):
                nobody.lock("a", wait=5).acquire()
