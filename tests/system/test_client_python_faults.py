"""The Python client where something goes wrong: exceptions at any moment, silent brokers, objects
that threads share and that a program drops."""

import asyncio
import gc
import os
import subprocess
import sys
import textwrap
import threading
import time
import unittest.mock
import warnings

from lib import pinned
from lib.case import SystemTest
from lib.wait import eventually, hang
from test_client_python import FOLDER, Client, lockbroker


class Interrupt(Exception):
    pass


class At:
    """Raises Interrupt before the n-th step (bytecode) that this thread does in the client."""

    def __init__(self, n):
        self.left = n
        self.struck = None

    def __enter__(self):
        sys.settrace(self._call)
        return self

    def __exit__(self, *_):
        sys.settrace(None)

    def _call(self, frame, _what, _arg):
        if frame.f_code.co_filename != lockbroker.__file__:
            return None
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        return self._step

    def _step(self, frame, what, _arg):
        if what == "opcode":
            self.left -= 1
            if self.left < 0 and self.struck is None:
                self.struck = f"{frame.f_code.co_name}:{frame.f_lineno}"
                sys.settrace(None)
                raise Interrupt
        return self._step


class Interrupts(Client):
    """An exception before each single step of taking and giving back: nothing is left held, nothing
    hangs, and a block that begins has its lock."""

    def ready(self, broker, lent):
        def is_ready():
            with broker.lock("before"):
                pass
            own = broker._own  # pylint: disable=protected-access
            return own.idle or not lent

        eventually(is_ready, 20)

    def strike(self, broker, lent, block):
        """Returns where it struck, by the name that was asked for."""
        struck, n = {}, 0
        while True:
            if lent:
                self.ready(broker, lent)
            at = At(n)
            try:
                with at:
                    block(broker, f"n{n}")
            except Interrupt:
                pass
            if at.struck is None:
                return struck
            struck[f"n{n}"] = at.struck
            n += 1 if n < 150 or lent else 2

    def check(self, lent, block):
        self.prepare()
        broker = self.open()
        if not lent:
            broker._start().may_lend = False  # pylint: disable=protected-access
        self.ready(broker, lent)
        self.kept = []
        struck = self.strike(broker, lent, block)
        self.assertGreater(len(struck), 150)
        try:
            eventually(lambda: self.control.stats()["locks_held"] == "0", 15)
        except AssertionError:
            held = [row.split()[0] for row in self.control.ask("NAMES n* limit=9999").body]
            self.fail([(name, struck[name]) for name in held])
        with broker.lock("n5", wait=5) as hold:
            hold.check()

    def block(self, broker, name):
        lock = broker.lock(name, wait=20)
        self.kept.append(lock)
        with lock as hold:
            hold.check()

    def acquired(self, broker, name):
        lock = broker.lock(name, wait=20)
        self.kept.append(lock)
        hold = lock.acquire()
        hold.release()

    def test_a_block(self):
        self.check(False, self.block)

    def give_up_at_the_end(self, own, broker, words):
        """Nobody wants it any more when it is granted, and nobody was told."""
        # pylint: disable=protected-access
        async def run():
            hold = lockbroker.Hold(broker, words, lambda: None)
            work = hold._work
            limit = lockbroker.Limit(own.core, None, loop=own.loop)
            ref = own.enter(hold, work)
            own._begin(work, lambda: own.core.hold(words, limit, lambda _: None))
            while not work.task.done():
                await asyncio.sleep(0)
            self.assertFalse(work.is_ended)
            own._give_up(ref)

        asyncio.run_coroutine_threadsafe(run(), own.loop).result(10)

    def test_nobody_wants_it_when_it_is_granted(self):
        self.prepare()
        broker = self.open()
        with broker.lock("before"):
            pass
        # pylint: disable=protected-access
        self.give_up_at_the_end(broker._own, broker, broker.lock("a")._words)
        eventually(lambda: self.control.ok("STATUS a")["state"] == "free", 10)

    async def cancel_when_it_is_connected(self):
        """Cancels a request in the step of the loop in which its connection is made."""
        # pylint: disable=protected-access
        connect = lockbroker.aio.Session._connect
        asked = None

        async def connected(session):
            await connect(session)
            asked.cancel()

        async with lockbroker.aio.Broker(f"127.0.0.1:{self.main.port}") as broker:
            with unittest.mock.patch.object(lockbroker.aio.Session, "_connect", connected):
                asked = asyncio.ensure_future(broker.lock("a").acquire())
                with self.assertRaises(asyncio.CancelledError):
                    await asked
            self.assertFalse(broker.sessions)

    def test_a_cancelled_request_is_not_made(self):
        self.prepare()
        asyncio.run(self.cancel_when_it_is_connected())
        eventually(lambda: self.control.stats()["clients"] == "1", 10)
        self.assertEqual(self.control.ok("STATUS a")["state"], "free")

    def test_a_block_with_a_session_that_is_lent(self):
        self.check(True, self.block)


class Silence(Client):
    """No call takes more than its wait and the patience, whatever the broker does."""

    def prepare(self, lease=10, **settings):
        super().prepare(lease, **settings)
        self.second = self.broker(self.server, name="b2", lease=lease)
        self.addCleanup(self.main.thaw)

    def states(self):
        """Of each state of a client, with one address and with two."""
        for two in (False, True):
            more = [f"127.0.0.1:{self.second.port}"] if two else []
            yield two, "new", self.open(*more)
            used = self.open(*more)
            used._start().may_lend = False  # pylint: disable=protected-access
            with used.lock("u"):
                pass
            yield two, "used", used
            lent = self.open(*more)

            def is_lent():
                with lent.lock("u"):
                    pass
                return lent._own.ways  # pylint: disable=protected-access

            eventually(is_lent, 10)
            yield two, "lent", lent

    def test_a_frozen_broker(self):
        self.prepare()
        brokers = list(self.states())
        self.main.freeze()
        for wait in (0, 0.5):
            for two, state, broker in brokers:
                with self.subTest(two=two, state=state, wait=wait):
                    begun = time.monotonic()
                    try:
                        with broker.lock(f"{two}{state}{wait}", wait=wait) as hold:
                            self.assertTrue(two)
                            hold.check()
                    except lockbroker.Unavailable as error:
                        self.assertFalse(two, error)
                        self.assertIn(f"{two}{state}{wait}", str(error))
                    self.assertLess(time.monotonic() - begun, wait + 1 + hang(0.4))

    def test_who_waits_when_it_freezes(self):
        self.prepare()
        brokers = list(self.states())
        self.control.lock("a")
        took, threads = {}, []

        def wait(key, broker):
            begun = time.monotonic()
            try:
                with broker.lock("a", wait=3):
                    took[key] = "held"
            except lockbroker.Error as error:
                took[key] = (error.code, time.monotonic() - begun)

        for two, state, broker in brokers:
            threads.append(threading.Thread(target=wait, args=((two, state), broker)))
            threads[-1].start()
        eventually(lambda: self.control.ok("STATUS a")["waiters"] == "6", 10)
        self.main.freeze()
        for thread in threads:
            thread.join(hang(20))
        for (two, state), (code, seconds) in took.items():
            self.assertIn(code, ("timeout",) if two else ("unavailable", "timeout"), state)
            self.assertLess(seconds, 3 + 1 + hang(0.4), (two, state))
        self.assertEqual(len(took), 6)

    def test_giving_back(self):
        self.prepare(lease=30)
        for two, state, broker in self.states():
            if two:
                continue
            hold = broker.lock(state).acquire()
            self.main.freeze()
            begun = time.monotonic()
            hold.release()  # it was safe until now
            self.assertLess(time.monotonic() - begun, 1 + hang(0.4))
            self.main.thaw()
            eventually(lambda s=state: self.control.ok(f"STATUS {s}")["state"] == "free", 10)

    def test_time_in_which_the_process_did_not_run(self):
        self.prepare()
        self.control.lock("a")
        program = subprocess.Popen(  # pylint: disable=consider-using-with
            [sys.executable, "-c", """
import sys, lockbroker
with lockbroker.Broker(sys.argv[1]) as broker:
    with broker.lock("b"):
        print("runs", flush=True)
    with broker.lock("a", wait=60) as hold:
        hold.check()
    print("held", flush=True)
""", f"127.0.0.1:{self.main.port}"], env=dict(os.environ, PYTHONPATH=FOLDER),
            stdout=subprocess.PIPE, text=True)
        self.addCleanup(program.stdout.close)
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        self.assertEqual(program.stdout.readline(), "runs\n")
        eventually(lambda: self.control.ok("STATUS a")["waiters"] == "1", 10)
        program.send_signal(19)
        time.sleep(7)  # longer than a broker may be silent
        program.send_signal(18)
        self.control.ok("UNLOCK a")
        self.assertEqual(program.stdout.readline(), "held\n")


class Objects(Client):
    def test_one_lock_object_in_many_threads(self):
        """A hold is the thread's that took it, whatever becomes of others'."""
        self.prepare()
        broker = self.open()
        lock = broker.lock("x", hold=0.8, wait=20)
        second, told = [], threading.Event()

        def wait():
            with lock as hold:
                second.append(hold.fence)
                told.wait(hang(20))
                try:
                    hold.check()
                except lockbroker.Lost:
                    second.append("lost")

        with self.assertRaises(lockbroker.Lost):
            with lock as hold:
                fence = hold.fence
                thread = threading.Thread(target=wait)
                thread.start()
                self.assertTrue(hold.lost.wait(hang(10)))
                eventually(lambda: second, 10)
                self.assertEqual(hold.fence, fence)
                with self.assertRaises(lockbroker.Lost):
                    lock.check()
        # The end of this block has not given back what the other thread has.
        self.assertEqual(self.control.ask("TRYLOCK x").status, "BUSY")
        told.set()
        thread.join(hang(20))
        self.assertGreater(second[0], fence)
        self.assertEqual(len(second), 1)

    def test_what_is_asked_of_the_lock_itself(self):
        self.prepare()
        broker = self.open()
        lock = broker.lock("x")
        with self.assertRaises(lockbroker.Lost):
            lock.check()
        lock.acquire()
        fences = []
        thread = threading.Thread(target=lambda: fences.append(lock.fence))  # the only one
        thread.start()
        thread.join()
        self.assertEqual(fences, [lock.fence])
        lock.release()
        with self.assertRaises(lockbroker.Lost):
            lock.release()
        shared = broker.lock("s", shared=True)
        inside = [shared.acquire(), shared.acquire()]
        self.assertEqual(shared.fence, inside[1].fence)
        raised = []

        def ask():
            try:
                shared.check()
            except lockbroker.Error as error:
                raised.append(error.code)

        thread = threading.Thread(target=ask)
        thread.start()
        thread.join()
        self.assertEqual(raised, ["not-held"])
        for hold in inside:
            hold.release()
        self.assertEqual(self.control.ok("STATUS s")["state"], "free")
        # By hand, as contextlib and tests do.
        hold = lock.__enter__()  # pylint: disable=unnecessary-dunder-call
        hold.check()
        lock.__exit__(None, None, None)
        self.assertEqual(self.control.ok("STATUS x")["state"], "free")

    def test_a_refusal_says_who_has_it(self):
        self.prepare()
        broker = self.open()
        self.control.ok("SESSION label=cron@db2")
        self.control.lock("a")
        for wait, kind in ((0, lockbroker.Busy), (0.1, lockbroker.TimedOut)):
            with self.assertRaises(kind) as caught:
                with broker.lock("b", "a", wait=wait):
                    self.fail("both")
            error = caught.exception
            self.assertEqual((error.name, error.holder), ("a", "cron@db2"))
            self.assertGreaterEqual(error.age, 0)
            self.assertRegex(str(error), "^a: .*held by cron@db2")

    def test_what_is_dropped_is_given_back(self):
        self.prepare()
        broker = self.open()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            broker.lock("a").acquire()
            hold = broker.lock("b").acquire()
            del hold
            gc.collect()
            for name in ("a", "b"):
                eventually(lambda n=name: self.control.ok(f"STATUS {n}")["state"] == "free", 5)
        self.assertEqual({one.category for one in caught}, {ResourceWarning})
        self.assertIn("a was dropped while it was held", [str(w.message)[12:] for w in caught])

    def test_brokers_that_are_dropped_take_their_threads_along(self):
        self.prepare()
        before = threading.active_count()
        for _ in range(20):
            with lockbroker.Broker(f"127.0.0.1:{self.main.port}").lock("a"):
                pass
            gc.collect()
        eventually(lambda: threading.active_count() <= before, 10)
        eventually(lambda: self.control.stats()["clients"] == "1", 10)

    def test_a_wait_is_ended(self):
        self.prepare()
        broker = self.open()
        self.control.lock("a")
        for lent in (False, True):
            broker._start().may_lend = lent  # pylint: disable=protected-access
            for way in ("stop", "cancel", "cancel"):
                with broker.lock("other"):
                    pass
                lock, stop, raised = broker.elect("a"), threading.Event(), []

                def wait(lock=lock, stop=stop, raised=raised, way=way):
                    try:
                        lock.acquire(stop=stop if way == "stop" else None)
                    except lockbroker.Error as error:
                        raised.append(error.code)

                thread = threading.Thread(target=wait)
                thread.start()
                eventually(lambda: self.control.ok("STATUS a")["waiters"] == "1", 10)
                if way == "stop":
                    stop.set()
                else:
                    lock.cancel()
                thread.join(hang(10))
                self.assertEqual(raised, ["cancelled"], (lent, way))
                eventually(lambda: self.control.ok("STATUS a")["waiters"] == "0", 10)


class Green(Client):
    """Threads that an event loop of somebody else replaces."""

    def run_green(self, patch, spawn):
        python = next((one for one in (sys.executable, "/usr/bin/python3") if subprocess.run(
            [one, "-c", patch], check=False, stderr=subprocess.DEVNULL).returncode == 0), None)
        if python is None:
            self.skipTest(f"no {patch.split()[1].split('.')[0]} here")
        self.prepare(lease=3)
        program = subprocess.run([python, "-c", patch + textwrap.dedent(f"""
            import sys, threading, time, lockbroker
            broker = lockbroker.Broker(sys.argv[1])
            grants, ticks, over = 0, 0, time.monotonic() + 3
            def work():
                global grants
                while time.monotonic() < over:
                    with broker.lock("x", wait=20) as hold:
                        time.sleep(0.003)
                        hold.check()
                        grants += 1
            def tick():
                global ticks
                while time.monotonic() < over:
                    time.sleep(0.01)
                    ticks += 1
            {spawn}
            print(grants, ticks)
            """), f"127.0.0.1:{self.main.port}"], env=dict(os.environ, PYTHONPATH=FOLDER),
            timeout=hang(40), check=True, stdout=subprocess.PIPE, text=True)
        grants, ticks = map(int, program.stdout.split())
        self.assertGreater(grants, 30)
        self.assertGreater(ticks, 50)

    def test_gevent(self):
        self.run_green("from gevent import monkey; monkey.patch_all()",
                       "import gevent; gevent.joinall([gevent.spawn(f) for f in [work] * 6 + [tick]])")

    def test_eventlet(self):
        self.run_green("import eventlet; eventlet.monkey_patch()",
                       "[t.wait() for t in [eventlet.spawn(f) for f in [work] * 6 + [tick]]]")


class Types(SystemTest):
    limit = 60

    def test_strict(self):
        packages = pinned.folder_of("mypy") + "/packages"
        done = subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", "--cache-dir", self.directory, "lockbroker"],
            cwd=FOLDER, env=dict(os.environ, PYTHONPATH=packages), capture_output=True, text=True,
            check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
