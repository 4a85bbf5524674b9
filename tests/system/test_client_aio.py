"""The Python client for asyncio (clients/python), as programs use it."""

import asyncio

from lib.wait import hang
from test_client_python import Client, lockbroker


class Tasks(Client):
    def run_async(self, main):
        return asyncio.run(asyncio.wait_for(main, hang(40)))

    def aio(self, *more, **options):
        return lockbroker.aio.Broker(f"127.0.0.1:{self.main.port}", *more, **options)

    def test_a_block(self):
        self.prepare()

        async def main():
            async with self.aio() as broker:
                async with broker.lock("a", wait=5) as lock:
                    self.assertEqual(self.control.ok("STATUS a").fence, lock.fence)
                    with self.assertRaises(lockbroker.Deadlock):
                        async with broker.lock("a", wait=0):
                            self.fail("both")
                async with broker.semaphore("s", 1):
                    pass
                latch = broker.latch("l")
                await latch.create(1)
                await latch.count_down()
                await latch.wait()
                places = await asyncio.gather(
                    *(broker.barrier("b", 3).wait(10) for _ in range(3)))
                self.assertEqual(sorted(places), [0, 1, 2])

        self.run_async(main())
        self.assertEqual(self.control.ok("STATUS a")["state"], "free")

    def test_in_another_loop(self):
        """It is refused in words: its connections belong to the first one."""
        self.prepare()
        broker = self.aio()
        loops = [asyncio.new_event_loop() for _ in range(2)]
        for loop in loops:
            self.addCleanup(loop.close)

        async def take():
            hold = await broker.lock("a", wait=5).acquire()
            await hold.release()

        loops[0].run_until_complete(take())
        with self.assertRaisesRegex(lockbroker.Error, "another event loop, or in one that has ended"):
            loops[1].run_until_complete(take())
        loops[0].run_until_complete(broker.close())

    def test_a_loss_cancels_the_task(self):
        self.prepare()

        async def main():
            async with self.aio() as broker:
                with self.assertRaises(lockbroker.Lost):
                    async with broker.lock("a", hold=0.2):
                        await asyncio.sleep(hang(30))
                        self.fail("it goes on")
                # What is cancelled is the block, and nothing after it.
                await asyncio.sleep(0.01)
                async with broker.lock("a", wait=5):
                    pass

        self.run_async(main())

    def test_who_else_cancels_the_task_at_a_loss_is_heeded(self):
        self.prepare()
        if not hasattr(asyncio, "timeout"):
            self.skipTest("before Python 3.11 nobody knows")

        async def main():
            async with self.aio() as broker:
                with self.assertRaises(asyncio.TimeoutError):
                    async with asyncio.timeout(hang(30)) as end:
                        async with broker.lock("a") as lock:
                            self.control.ok("UNLOCK-FORCE a")
                            try:
                                await asyncio.sleep(hang(30))
                            finally:
                                self.assertTrue(lock.lost.is_set())
                                end.reschedule(asyncio.get_running_loop().time())
                                await asyncio.sleep(hang(30))

        self.run_async(main())

    def test_a_cancelled_grant(self):
        """It is given back, whenever the task ends; with a session that survives its
        connection, too."""
        self.prepare()

        async def take(broker, steps):
            task = asyncio.ensure_future(broker.lock("a", wait=20).acquire())
            for _ in range(steps):
                await asyncio.sleep(0)
            task.cancel()
            try:
                await (await task).release()
            except asyncio.CancelledError:
                pass

        async def main():
            for grace in (0, 100):
                async with self.aio(grace=grace) as broker:
                    for steps in range(100):
                        await take(broker, steps)
                    async with broker.lock("a", wait=20):
                        pass

        self.run_async(main())
        self.assertEqual(self.control.ok("STATUS a")["state"], "free")

    def test_a_cancelled_wait(self):
        self.prepare()
        self.control.lock("a")

        async def main():
            async with self.aio() as broker:
                async def wait():
                    async with broker.lock("a"):
                        self.fail("it is held")
                task = asyncio.ensure_future(wait())
                while self.control.ok("STATUS a")["waiters"] != "1":
                    await asyncio.sleep(0.01)
                task.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await task
                while self.control.ok("STATUS a")["waiters"] != "0":
                    await asyncio.sleep(0.01)
                self.control.ok("UNLOCK a")
                async with broker.lock("a", wait=5):
                    pass

        self.run_async(main())

    def test_fifty_tasks(self):
        self.prepare()
        inside, fences = 0, []

        async def work(broker):
            nonlocal inside
            for _ in range(4):
                async with broker.lock("a") as lock:
                    inside += 1
                    self.assertEqual(inside, 1)
                    await asyncio.sleep(0)
                    fences.append(lock.fence)
                    inside -= 1

        async def main():
            async with self.aio() as broker:
                await asyncio.gather(*(work(broker) for _ in range(50)))

        self.run_async(main())
        self.assertEqual(len(fences), 200)
        self.assertEqual(fences, sorted(set(fences)))
