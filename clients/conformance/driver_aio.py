"""The driver of the conformance story for the client in Python with asyncio.
usage: driver_aio.py ADDRESSES [grace]"""

import asyncio
import sys
import time

import lockbroker
import lockbroker.aio
from driver import lock_of, say, slot_of, what_of


class Block:
    """An `async with` block, in a task of its own, until it is told to end."""

    def __init__(self, number, lock):
        self.number = number
        self.lock = lock
        self.end = asyncio.Event()
        self.task = asyncio.ensure_future(self.run())

    async def run(self):
        try:
            async with self.lock as lock:
                say(self.number, "held", what_of(lock))
                try:
                    await self.end.wait()
                except asyncio.CancelledError:
                    say(self.number, "told")
                    await self.end.wait()
            say(self.number, "released")
        except lockbroker.Error as error:
            say(self.number, error.code, error)

    async def value(self, text):
        try:
            await self.lock.set_value(text)
            say(self.number, "valued")
        except lockbroker.Error as error:
            say(self.number, error.code, error)

    def check(self):
        try:
            self.lock.check()
            say(self.number, "safe")
        except lockbroker.Lost:
            say(self.number, "lost")


async def read(broker, number, name):
    try:
        value = await broker.value(name)
        say(number, *(["none"] if value is None else ["read", value]))
    except lockbroker.Error as error:
        say(number, error.code, error)


async def main():
    grace = 5 if "grace" in sys.argv[2:] else 0
    blocks, tasks = {}, []
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    async with lockbroker.aio.Broker(sys.argv[1], grace=grace) as broker:
        async for line in reader:
            what, number, *rest = line.decode().split()
            if what == "lock":
                blocks[number] = Block(number, lock_of(broker, *rest))
            elif what == "slot":
                blocks[number] = Block(number, slot_of(broker, *rest))
            elif what == "unlock":
                blocks[number].end.set()
            elif what == "check":
                blocks[number].check()
            elif what == "value":
                tasks.append(asyncio.ensure_future(blocks[number].value(*rest)))
            elif what == "read":
                tasks.append(asyncio.ensure_future(read(broker, number, *rest)))
            elif what == "stall":
                time.sleep(int(number) / 1000)
                say(number, "stalled")


if __name__ == "__main__":
    asyncio.run(main())
