"""Slots of semaphores in the clients for Python and C: each hold has the slot that the broker
says, while connections are lost and the broker is replaced, and a lost one is reported."""

import asyncio
import os
import threading

from lib.proxy import Proxy
from lib.wait import eventually, hang
from test_client_c import INVALID, LOST, OK, UNAVAILABLE, Client as InC
from test_client_python import Client, lockbroker


class Slots:
    """What the clients' tests have in common: a broker behind a proxy."""

    def prepare_slots(self, lease=10):
        self.prepare(lease)
        self.net = Proxy(f"127.0.0.1:{self.main.port}")
        self.addCleanup(self.net.stop)
        return f"127.0.0.1:{self.net.port}"

    def slots(self):
        """Those that are held, as the process says that was the broker's when the test began."""
        rows = self.control.ok("QUEUE gpu kind=semaphore").body
        return sorted(int(row.partition(" slot=")[2].split()[0]) for row in rows)

    def take_away(self, slot):
        """As after a failover during which two brokers were given the same slot."""
        key, = self.server.cmd("KEYS", "*sem:gpu")
        field, = [field for field in self.server.cmd("HKEYS", key) if field.startswith("s:")]
        said = self.server.cmd("HGET", key, field)
        self.assertEqual(self.slots(), [slot])
        self.server.cmd("HSET", key, "p:x.1", f"1 {2 ** 45} 1", "s:x.1", said)

    def others_slot(self, limit=2):
        """What another client is given."""
        return int(self.control.ok(f"ACQUIRE gpu limit={limit} slot=yes wait=20s")["slot"])


class Threads(Slots, Client):
    def test_each_has_its_own(self):
        self.prepare()
        broker, met, seen = self.open(), threading.Barrier(4), []

        def work():
            with broker.semaphore("gpu", 4, slot=True) as hold:
                met.wait(hang(20))
                seen.append((hold.slot, threading.current_thread()))
                met.wait(hang(20))

        for _ in range(3):
            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(hang(20))
        self.assertEqual([sorted(slot for slot, _ in seen[i:i + 4]) for i in (0, 4, 8)],
                         [[0, 1, 2, 3]] * 3)
        eventually(lambda: self.slots() == [], 10)

    def test_one_thread_has_several(self):
        self.prepare()
        broker = self.open()
        lock = broker.semaphore("gpu", 2, wait=0, slot=True)
        with lock as one, lock as two:
            self.assertEqual((sorted([one.slot, two.slot]), lock.slot), ([0, 1], two.slot))
            self.assertRegex(repr(one), f"^<Hold 'gpu', slot {one.slot}, valid [0-9.]+ s>$")
            with self.assertRaises(lockbroker.Busy):
                lock.acquire()
            one.check()
            two.check()
        self.assertIsNone(one.slot)
        self.assertIsNone(lock.slot)
        with broker.semaphore("gpu", 2) as hold, lock:
            self.assertIsNone(hold.slot)
            self.assertEqual(len(self.control.ok("QUEUE gpu kind=semaphore").body), 2)
        with self.assertRaisesRegex(lockbroker.Error, "^gpu: a slot goes with one permit"):
            broker.semaphore("gpu", 2, permits=2, slot=True)
        with self.assertRaisesRegex(lockbroker.Error, "^gpu: slot=yes takes a limit=") as caught:
            broker.semaphore("gpu", 2000, slot=True).acquire()
        self.assertEqual(caught.exception.code, "bad-option")

    def test_a_session_is_resumed_and_the_broker_replaced(self):
        to = self.prepare_slots(lease=6)
        self.assertEqual(self.others_slot(3), 0)
        broker = self.open(to=to, grace=10)
        with broker.semaphore("gpu", 3, slot=True) as hold:
            for happens in (self.net.cut, self.main.replace, self.net.cut):
                happens()
                seen = [hold.valid]
                eventually(lambda: seen.append(hold.valid) or seen[-1] > seen[-2], 20)
                self.assertFalse(hold.lost.is_set())
                self.assertEqual((hold.slot, self.slots()), (1, [0, 1]))
            with broker.semaphore("gpu", 3, slot=True) as other:
                self.assertEqual(other.slot, 2)
        eventually(lambda: self.slots() == [0], 10)

    def test_what_was_asked_when_the_connection_was_lost(self):
        broker = self.open(to=self.prepare_slots(), grace=200)
        for happens in (self.net.drop_reply, self.net.drop_request):
            for what in ("ACQUIRE gpu", "PING"):
                happens(what)
                with broker.semaphore("gpu", 2, wait=20, slot=True) as hold:
                    self.assertTrue(self.net.fired.is_set())
                    self.assertEqual([hold.slot], self.slots())
                    happens("RELEASE gpu")
                self.assertTrue(self.net.fired.is_set())
                eventually(lambda: self.slots() == [], 10)

    def test_a_lost_one_is_reported(self):
        to = self.prepare_slots()
        with self.assertRaisesRegex(lockbroker.Lost, r"^gpu was lost \(taken\)"):
            with self.open(to=to).semaphore("gpu", 2, slot=True) as hold:
                self.take_away(hold.slot)
                self.assertTrue(hold.lost.wait(hang(20)))
                self.assertEqual(self.others_slot(), 1)


class Lent(Threads):
    """... with a client that has locked before, so that it lends its session to the thread."""

    def open(self, *more, to=None, **options):
        broker = super().open(*more, to=to, **options)

        def is_lent():
            with broker.lock("before"):
                pass
            return broker._own.ways  # pylint: disable=protected-access

        if not options:  # with grace, it lends none
            eventually(is_lent, 10)
        return broker


class Tasks(Slots, Client):
    def run_async(self, main):
        return asyncio.run(asyncio.wait_for(main, hang(40)))

    def test_each_has_its_own(self):
        self.prepare()

        async def work(broker, seen, all_):
            async with broker.semaphore("gpu", 4, slot=True) as hold:
                seen.append(hold.slot)
                if len(seen) == 4:
                    all_.set()
                await all_.wait()

        async def main():
            async with lockbroker.aio.Broker(self.main.unix_path) as broker:
                for _ in range(3):
                    seen, all_ = [], asyncio.Event()
                    await asyncio.gather(*[work(broker, seen, all_) for _ in range(4)])
                    self.assertEqual(sorted(seen), [0, 1, 2, 3])
                lock = broker.semaphore("gpu", 4, slot=True)
                async with lock as hold:
                    self.assertEqual(lock.slot, hold.slot)
                self.assertIsNone(hold.slot)

        self.run_async(main())

    def test_a_session_is_resumed_and_the_broker_replaced(self):
        to = self.prepare_slots(lease=6)
        self.assertEqual(self.others_slot(), 0)

        async def renewed(hold):
            valid = hold.valid
            while hold.valid <= valid:
                valid = hold.valid
                await asyncio.sleep(0.02)

        async def main():
            loop = asyncio.get_running_loop()
            async with lockbroker.aio.Broker(to, grace=10) as broker:
                async with broker.semaphore("gpu", 2, slot=True) as hold:
                    for happens in (self.net.cut, self.main.replace, self.net.cut):
                        await loop.run_in_executor(None, happens)
                        await renewed(hold)
                        said = await loop.run_in_executor(None, self.slots)
                        self.assertEqual((hold.slot, said), (1, [0, 1]))

        self.run_async(main())

    def test_a_lost_one_cancels_the_task(self):
        to = self.prepare_slots()

        async def main():
            async with lockbroker.aio.Broker(to) as broker:
                with self.assertRaisesRegex(lockbroker.Lost, r"^gpu was lost \(taken\)"):
                    async with broker.semaphore("gpu", 2, slot=True) as hold:
                        self.take_away(hold.slot)
                        await asyncio.sleep(hang(30))
                        self.fail("it goes on")

        self.run_async(main())


class Handles(Slots, InC):
    """Two of them: a handle of the library for C is one session."""

    def take(self, driver, more="5000"):
        driver.tell(f"slot gpu|{more}")
        code, slot = map(int, driver.next().split())
        self.assertEqual(code, OK)
        return slot

    def test_each_has_its_own(self):
        self.prepare()
        one, two = self.open(), self.open()
        self.assertEqual(sorted([self.take(one), self.take(two)]), [0, 1])
        self.assertEqual(one.call("slot gpu|0"), INVALID)
        self.assertEqual(one.call("acquire gpu|0"), INVALID)
        self.assertGreater(one.call("valid gpu"), 1000)
        self.assertEqual(one.call("release gpu"), OK)
        self.assertEqual(one.call("release gpu"), INVALID)
        self.assertEqual(len(self.slots()), 1)
        self.assertEqual(sorted([self.take(one), *self.slots()])[0], 0)
        self.assertEqual(one.finish(), 0)
        eventually(lambda: len(self.slots()) == 1, 5)
        self.assertEqual(two.finish(), 0)

    def open_with_grace(self, grace_ms):
        to = self.prepare_slots()
        os.environ["DRIVER_GRACE_MS"] = str(grace_ms)
        self.addCleanup(os.environ.pop, "DRIVER_GRACE_MS")
        return self.open(to)

    def test_a_session_is_resumed_and_the_broker_replaced(self):
        driver = self.open_with_grace(10000)
        self.assertEqual(self.others_slot(), 0)
        self.assertEqual(self.take(driver), 1)
        for happens in (self.net.cut, self.main.replace, self.net.cut):
            happens()
            self.assertEqual(driver.call("loop 500"), OK)
            self.assertGreater(driver.call("valid gpu"), 0)
            self.assertEqual(self.slots(), [0, 1])
        self.assertEqual(driver.call("release gpu"), OK)
        self.assertEqual(self.slots(), [0])

    def test_what_was_asked_when_the_connection_was_lost(self):
        driver = self.open_with_grace(200000)
        for happens in (self.net.drop_reply, self.net.drop_request):
            happens("ACQUIRE gpu")
            slot = self.take(driver)
            self.assertTrue(self.net.fired.is_set())
            self.assertEqual([slot], self.slots())
            happens("RELEASE gpu")
            self.assertEqual(driver.call("release gpu"), OK)
            self.assertTrue(self.net.fired.is_set())
            self.assertEqual(self.slots(), [])

    def test_asked_again_when_no_answer_came_in_time(self):
        """The first request is granted, but nobody waits for it any more."""
        driver = self.open(self.prepare_slots(lease=30))
        driver.tell("lock other|0")
        self.assertEqual(int(driver.next().split()[0]), OK)
        for _ in range(3):
            self.net.stalled = True
            driver.tell("slot gpu|0")
            self.assertEqual(int(driver.next().split()[0]), UNAVAILABLE)
            self.net.stalled = False
            self.assertEqual([self.take(driver)], self.slots())
            self.assertEqual(driver.call("release gpu"), OK)
            self.assertEqual(self.slots(), [])

    def test_a_lost_one_is_reported(self):
        driver = self.open(self.prepare_slots())
        slot = self.take(driver)
        self.take_away(slot)
        driver.tell("loop 20000")
        self.assertEqual([driver.next(), driver.next()], ["lost gpu taken", "3 lost"])
        self.assertEqual(driver.call("valid gpu"), 0)
        self.assertEqual(driver.call("release gpu"), LOST)
        self.assertEqual(self.take(driver, "20000"), 1 - slot)
