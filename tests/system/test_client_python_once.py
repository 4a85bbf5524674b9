"""once() of the Python client (clients/python): functions that are run at one host; traces and
values."""

import asyncio
import inspect
import sys
import time
import types
import unittest.mock

from lib.wait import eventually, hang
import test_client_python as python

import lockbroker.aio  # pylint: disable=import-error,wrong-import-order


class Once(python.Client):
    def test_functions(self):
        self.prepare()
        broker, other = self.open(), self.open()
        ran = []

        @broker.once("report:{day}", keep=60)
        def report(day, *, lines=3):
            """Of a day."""
            ran.append(day)
            self.assertEqual(self.control.ok(f"STATUS report:{day}")["state"], "held")
            return lines

        self.assertEqual(report("mon", lines=4), 4)
        self.assertIsNone(report("mon"), "it is kept, and so skipped")
        self.assertEqual(report(day="tue"), 3)
        self.assertEqual(ran, ["mon", "tue"])
        # A later wait outlasts what is kept.
        for who, took in ((broker, 0.3), (other, 0.3)):
            brief = who.once(f"brief-{took}", keep=took, wait=10)(lambda: True)
            begun = time.monotonic()
            self.assertTrue(brief() and brief())
            self.assertGreaterEqual(time.monotonic(), begun + took)
        with self.assertRaisesRegex(lockbroker.Busy, "report:mon: reserved \\(keep= or delay=\\)"):
            broker.once("report:mon", busy="raise")(report)("mon")
        self.assertEqual((report.__name__, report.__doc__), ("report", "Of a day."))

        @other.once("one/{self.name}/{part}", busy="raise", wait=0.01)
        def first(self, part="x", **_):
            raise lockbroker.Busy("its own")

        self.name = "me"
        with self.assertRaisesRegex(lockbroker.Busy, "^its own$"):
            first(self)
        with broker.lock("one/me/y"):
            with self.assertRaises(lockbroker.TimedOut):
                first(self, part="y")
        self.assertEqual(self.control.ok("STATUS one/me/y")["state"], "free")

        # What its function raises is never taken for a refusal of the name.
        @broker.once("deep")
        def deep():
            raise lockbroker.Busy("within")
        with self.assertRaisesRegex(lockbroker.Busy, "within"):
            deep()

        # Errors are not skipped.
        @broker.once("again")
        def again(depth):
            return again(depth - 1) if depth else None
        with self.assertRaises(lockbroker.Deadlock):
            again(1)
        with self.assertRaises(TypeError):
            report()
        with self.assertRaisesRegex(lockbroker.Error, "a space"):
            report("a b")

    def test_what_is_wrong_is_told_where_it_is_written(self):
        broker = lockbroker.Broker("127.0.0.1:1")

        async def coroutine():
            pass

        def generator():
            yield

        for name, options, call in (
                ("a", {"busy": "wait"}, None), ("a", {"hold": 0}, None),
                ("{day}", {}, lambda: 1), ("{}", {}, lambda: 1), ("{0}", {}, lambda **all_: 1),
                ("a", {"keep": "1h"}, None), ("a", {}, coroutine), ("a", {}, generator)):
            with self.subTest(name, **options), self.assertRaises((lockbroker.Error, TypeError)):
                broker.once(name, **options)(call or (lambda: 1))
        with self.assertRaisesRegex(TypeError, "once.. needs a name"):
            broker.once(lambda: 1)

    def test_coroutines(self):
        self.prepare()

        async def main():
            async with lockbroker.aio.Broker(f"127.0.0.1:{self.main.port}") as broker:
                ran = []

                @broker.once("report:{day}", keep=60)
                async def report(day):
                    ran.append(day)
                    await asyncio.sleep(0)
                    return day

                self.assertTrue(inspect.iscoroutinefunction(report))
                got = await asyncio.gather(*(report("mon") for _ in range(5)), report("tue"))
                self.assertEqual((sorted(map(str, got)), sorted(ran)),
                                 (4 * ["None"] + ["mon", "tue"], ["mon", "tue"]))

                self.assertIsNone(await report("mon"))

                @broker.once("short", hold=0.2, busy="raise")
                async def short():
                    await asyncio.sleep(hang(30))
                with self.assertRaises(lockbroker.Lost):
                    await short()
                async with broker.lock("short", wait=5):
                    with self.assertRaises(lockbroker.Deadlock):
                        await short()
                with self.assertRaises(TypeError):
                    broker.once("a")(lambda: None)

        asyncio.run(main())


class Traces(python.Client):
    def test_traces(self):
        """Its own option, or the span of OpenTelemetry in which it asks."""
        self.prepare()
        broker, trace = self.open(), "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        span = types.SimpleNamespace(is_valid=True, trace_id=int(trace[3:35], 16),
                                     span_id=int(trace[36:52], 16), trace_flags=1)
        module = types.SimpleNamespace(get_current_span=lambda: types.SimpleNamespace(
            get_span_context=lambda: span))
        lock = broker.lock("a")
        with unittest.mock.patch.dict(sys.modules, {"opentelemetry.trace": module}):
            with lock:
                self.assertIn(f" trace={trace}", self.control.ok("QUEUE a").body[0])
            with broker.lock("a", trace=trace[:-2] + "00"):
                self.assertIn(f" trace={trace[:-2]}00", self.control.ok("QUEUE a").body[0])
            with broker.semaphore("s", 2):
                pass
            span.is_valid = False
            with lock:
                self.assertNotIn(" trace=", self.control.ok("QUEUE a").body[0])


class Values(python.Client):
    def test_values(self):
        """With a session of the own thread, and with one that is lent."""
        self.prepare()
        broker, other = self.open(), self.open()
        self.check(broker, other)

        def is_lent():
            with broker.lock("before"):
                pass
            return broker._own.ways  # pylint: disable=protected-access
        eventually(is_lent, 10)
        self.check(broker, other)

    def check(self, broker, other):
        self.assertIsNone(other.value("leader"))
        lock = broker.elect("leader", value="a")
        for _ in range(3):
            with lock as hold:
                self.assertEqual(other.value("leader"), "a")
                hold.set_value("\u00e9l\u00e8ve=1")
                self.assertEqual((other.value("leader"), broker.value("leader")),
                                 2 * ("\u00e9l\u00e8ve=1",))
                lock.set_value("b")
                self.assertEqual(other.value("leader"), "b")
        with self.assertRaisesRegex(lockbroker.Lost, "^leader is not held"):
            hold.set_value("c")
        c = broker.lock("c").acquire()
        with broker.lock("a", "b") as two, broker.semaphore("s", 1) as permit:
            for hold, value in ((two, "x"), (permit, "x"), (c, "a b"), (c, "")):
                with self.assertRaises(lockbroker.Error) as caught:
                    hold.set_value(value)
                self.assertEqual((caught.exception.code, caught.exception.names),
                                 ("bad-option", hold.names))
            self.control.ok("UNLOCK-FORCE c")
            self.assertTrue(c.lost.wait(hang(10)))
            with self.assertRaisesRegex(lockbroker.Lost, "forced"):
                c.set_value("x")
            with self.assertRaises(lockbroker.Error):
                broker.value("a b")
            with self.assertRaises(lockbroker.Lost):
                c.release()
