"""cache.lock() of django-redis; its keys get the prefix of the cache."""
import time

import django
from common import BUSY_S, PORTS, contend, say, unserved
from django.conf import settings

settings.configure(CACHES={name: {
    "BACKEND": "django_redis.cache.RedisCache", "LOCATION": f"redis://127.0.0.1:{port}/0",
} for name, port in zip(("default", "other"), PORTS)})
django.setup()

from django.core.cache import caches  # noqa: E402 (it needs the settings)

one, other = caches["default"], caches["other"]
contend(lambda number: (one, other)[number % 2].lock("busy", timeout=BUSY_S, sleep=0.01))
a, b = (cache.lock("job", timeout=20, sleep=0.02) for cache in (one, other))
say("take", a.acquire, blocking=False)
say("another is refused", b.acquire, blocking=False)
say("another waits in vain", b.acquire, blocking_timeout=0.3)
say("extend", a.extend, 10)
say("release of another's", b.release)
say("release", a.release)
short = one.lock("job", timeout=0.3)
say("take for a while", short.acquire, blocking=False)
time.sleep(0.5)
say("take what is over", b.acquire, blocking=False)
say("release it", b.release)
unserved("cache.set", one.set, "k", "v")
