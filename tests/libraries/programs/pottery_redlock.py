from common import BUSY_S, PORTS, contend, say
from pottery import Redlock
from redis import Redis

contend(lambda number: Redlock(key="busy", masters={Redis(port=PORTS[number % 2])},
                               auto_release_time=BUSY_S))
a, b = (Redlock(key="job", masters={Redis(port=port)}, auto_release_time=20) for port in PORTS)
say("take", a.acquire, blocking=False)
say("another is refused", b.acquire, blocking=False)
say("another waits in vain", b.acquire, timeout=0.5)
say("locked", lambda: a.locked() > 0)
say("extend", a.extend)
say("release of another's", b.release)
say("release", a.release)
say("release again", a.release)
say("another takes it", b.acquire, blocking=False)
say("release it", b.release)
