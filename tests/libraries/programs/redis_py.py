import time

import redis
from common import BUSY_S, PORTS, contend, say

one, other = (redis.Redis(port=port) for port in PORTS)
contend(lambda number: (one, other)[number % 2].lock("busy", timeout=BUSY_S, sleep=0.01))
a, b = (client.lock("job", timeout=20, sleep=0.02) for client in (one, other))
say("take", a.acquire, blocking=False)
say("another is refused", b.acquire, blocking=False)
say("another waits in vain", b.acquire, blocking_timeout=0.3)
say("locked", b.locked)
say("owned", a.owned)
say("extend", a.extend, 10)
say("extend, instead", a.extend, 30, replace_ttl=True)
say("reacquire", a.reacquire)
say("release of another's", b.release)
say("release", a.release)
say("release again", a.release)
say("free", b.locked)
short = one.lock("job", timeout=0.3)
say("take for a while", short.acquire, blocking=False)
time.sleep(0.5)
say("extend what is over", short.extend, 5)
say("take what is over", b.acquire, blocking=False)
say("release what is over", short.release)
say("still owned", b.owned)
say("release it", b.release)
