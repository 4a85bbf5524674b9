"""The driver of the conformance story for the client in Python with asyncio.
usage: driver_aio.py ADDRESSES [grace]"""

import asyncio
import sys
import time

import lockbroker
import lockbroker.aio


def say(*words):
    print(*words, flush=True)


class Block:
    """An `async with` block, in a task of its own, until it is told to end."""

    def __init__(self, broker, number, wait, names, value):
        self.number = number
        self.lock = broker.lock(*names, wait=wait, value=value)
        self.end = asyncio.Event()
        self.task = asyncio.ensure_future(self.run())

    async def run(self):
        try:
            async with self.lock as lock:
                say(self.number, "held", ",".join(map(str, lock.fences)))
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
                wait = None if rest[0] == "-" else int(rest[0]) / 1000
                value = rest.pop().partition("=")[2] if "=" in rest[-1] else None
                blocks[number] = Block(broker, number, wait, rest[1:], value)
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
