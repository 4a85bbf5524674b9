from common import PORTS, say
from redlock import Redlock

one, other = (Redlock([{"host": "127.0.0.1", "port": port}], retry_count=2) for port in PORTS)
lock = one.lock("job", 20000)
say("take", lambda: bool(lock))
say("another is refused", other.lock, "job", 20000)
say("release", one.unlock, lock)
lock = other.lock("job", 20000)
say("another takes it", lambda: bool(lock))
say("release it", other.unlock, lock)
