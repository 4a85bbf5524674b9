from contextlib import contextmanager

from common import BUSY_S, PORTS, contend, say
from redlock import Redlock

one, other = (Redlock([{"host": "127.0.0.1", "port": port}], retry_count=2) for port in PORTS)


@contextmanager
def held(number):
    manager = Redlock([{"host": "127.0.0.1", "port": PORTS[number % 2]}], 10000, 0.01)
    lock = manager.lock("busy", BUSY_S * 1000)
    if not lock:
        raise TimeoutError("it has given up")
    try:
        yield
    finally:
        manager.unlock(lock)


contend(held)
lock = one.lock("job", 20000)
say("take", lambda: bool(lock))
say("another is refused", other.lock, "job", 20000)
say("release", one.unlock, lock)
lock = other.lock("job", 20000)
say("another takes it", lambda: bool(lock))
say("release it", other.unlock, lock)
