"""The lock of redis-py for asyncio."""
import asyncio

import redis.asyncio as redis
from common import BUSY_S, PORTS, contend_aio, say_aio


async def main():
    one, other = (redis.Redis(port=port) for port in PORTS)
    await contend_aio(lambda number: (one, other)[number % 2].lock(
        "busy", timeout=BUSY_S, sleep=0.01))
    a, b = (client.lock("job", timeout=20, sleep=0.02) for client in (one, other))
    await say_aio("take", a.acquire(blocking=False))
    await say_aio("another is refused", b.acquire(blocking=False))
    await say_aio("another waits in vain", b.acquire(blocking_timeout=0.3))
    await say_aio("locked", b.locked())
    await say_aio("owned", a.owned())
    await say_aio("extend", lambda: a.extend(10))
    await say_aio("reacquire", a.reacquire)
    await say_aio("release of another's", b.release)
    waits = asyncio.create_task(b.acquire())
    await asyncio.sleep(0.1)
    await say_aio("release", a.release)
    await say_aio("it has got it", asyncio.wait_for(waits, 5))
    await say_aio("release it", b.release)
    short = one.lock("job", timeout=0.3)
    await say_aio("take for a while", short.acquire(blocking=False))
    await asyncio.sleep(0.5)
    await say_aio("extend what is over", lambda: short.extend(5))
    await say_aio("take what is over", b.acquire(blocking=False))
    await say_aio("release what is over", short.release)
    await say_aio("release that", b.release)


asyncio.run(main())
