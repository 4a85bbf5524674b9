import asyncio

from aioredlock import Aioredlock
from common import BUSY_S, PORTS, contend_aio, say_aio


async def main():
    one, other = (Aioredlock([{"host": "127.0.0.1", "port": port}], retry_count=3)
                  for port in PORTS)
    patient = [Aioredlock([{"host": "127.0.0.1", "port": port}], retry_count=1000,
                          retry_delay_min=0.01, retry_delay_max=0.02) for port in PORTS]

    class Held:
        def __init__(self, number):
            self.manager = patient[number % 2]

        async def __aenter__(self):
            self.lock = await self.manager.lock("busy", lock_timeout=BUSY_S)

        async def __aexit__(self, *_):
            await self.manager.unlock(self.lock)

    await contend_aio(Held)
    lock = await one.lock("job", lock_timeout=20)
    await say_aio("another is refused", other.lock("job", lock_timeout=20))
    await say_aio("locked", other.is_locked("job"))
    await say_aio("extend", one.extend(lock))
    await say_aio("release", one.unlock(lock))
    await say_aio("free", other.is_locked("job"))
    next_one = await other.lock("job", lock_timeout=20)
    await say_aio("another releases it", other.unlock(next_one))


asyncio.run(main())
