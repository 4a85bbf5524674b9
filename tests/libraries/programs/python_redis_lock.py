import time

import redis
import redis_lock
from common import BUSY_S, PORTS, contend, say

one, other = (redis.StrictRedis(port=port) for port in PORTS)
contend(lambda number: redis_lock.Lock((one, other)[number % 2], "busy", expire=BUSY_S))
a, b = (redis_lock.Lock(client, "job", expire=20) for client in (one, other))
say("take", a.acquire, blocking=False)
say("take twice", a.acquire)
say("another is refused", b.acquire, blocking=False)
say("another waits in vain", b.acquire, timeout=1)
say("extend", a.extend, 30)
say("another extends", b.extend, 30)
say("release of another's", b.release)
say("release", a.release)
say("release again", a.release)
say("another takes it", b.acquire, blocking=False)
say("reset", b.reset)
say("free", a.acquire, blocking=False)
say("release it", a.release)
renewed = redis_lock.Lock(one, "renewed", expire=1, auto_renewal=True)
say("take and renew", renewed.acquire)
time.sleep(2.5)
say("it is renewed", redis_lock.Lock(other, "renewed", expire=1).acquire, blocking=False)
say("release what is renewed", renewed.release)
