"""What a JVM with Redisson does about its locks, as its sources have it: the scripts, the channel
of a lock, and the threads that wait for it."""

import contextlib
import queue
import random
import socket
import threading
import time
import uuid

from .redisson_scripts import FAIR
from .resp import RedisError
from .wait import now, patience

# The scripts by what they do, and by the release that brought them: the sha1 that Redisson sends,
# and a text that does the same in a layout of our own.
SCRIPTS = {
    "TAKE": ("149c5a8bf18676fd99e9e6e24923bd64d9b62f94", """
    if ((redis.call("exists", KEYS[1]) == 0) or (redis.call("hexists", KEYS[1], ARGV[2]) == 1)) then
    redis.call("hincrby", KEYS[1], ARGV[2], 1)
    redis.call("pexpire", KEYS[1], ARGV[1])
    return nil
    end
    return redis.call("pttl", KEYS[1])
"""),
    "TAKE_3_15": ("dad0f8d619e548e04f21fb48d50be5034df3adae", """
    if (redis.call("exists", KEYS[1]) == 0) then
    redis.call("hincrby", KEYS[1], ARGV[2], 1)
    redis.call("pexpire", KEYS[1], ARGV[1])
    return nil
    end
    if (redis.call("hexists", KEYS[1], ARGV[2]) == 1) then
    redis.call("hincrby", KEYS[1], ARGV[2], 1)
    redis.call("pexpire", KEYS[1], ARGV[1])
    return nil
    end
    return redis.call("pttl", KEYS[1])
"""),
    "TAKE_3_2": ("9401052d872adfd0179ef8c8e8c028512707629a", """
    if (redis.call("exists", KEYS[1]) == 0) then
    redis.call("hset", KEYS[1], ARGV[2], 1)
    redis.call("pexpire", KEYS[1], ARGV[1])
    return nil
    end
    if (redis.call("hexists", KEYS[1], ARGV[2]) == 1) then
    redis.call("hincrby", KEYS[1], ARGV[2], 1)
    redis.call("pexpire", KEYS[1], ARGV[1])
    return nil
    end
    return redis.call("pttl", KEYS[1])
"""),
    "UNLOCK": ("6866459238a13a701d42f4971f12d9f3a50e2442", """
    local val = redis.call("get", KEYS[3])
    if val ~= false then
    return tonumber(val)
    end
    if (redis.call("hexists", KEYS[1], ARGV[3]) == 0) then
    return nil
    end
    local counter = redis.call("hincrby", KEYS[1], ARGV[3], -1)
    if (counter > 0) then
    redis.call("pexpire", KEYS[1], ARGV[2])
    redis.call("set", KEYS[3], 0, "px", ARGV[5])
    return 0
    else redis.call("del", KEYS[1])
    redis.call(ARGV[4], KEYS[2], ARGV[1])
    redis.call("set", KEYS[3], 1, "px", ARGV[5])
    return 1
    end
"""),
    "UNLOCK_3_22": ("778cea8aada230ae060b432fc333adaec85f2f4c", """
    if (redis.call("hexists", KEYS[1], ARGV[3]) == 0) then
    return nil
    end
    local counter = redis.call("hincrby", KEYS[1], ARGV[3], -1)
    if (counter > 0) then
    redis.call("pexpire", KEYS[1], ARGV[2])
    return 0
    else redis.call("del", KEYS[1])
    redis.call(ARGV[4], KEYS[2], ARGV[1])
    return 1
    end
    return nil
"""),
    "UNLOCK_3_10": ("3ffe249c16dee540ac8ab32e39bd408626b9aff7", """
    if (redis.call("hexists", KEYS[1], ARGV[3]) == 0) then
    return nil
    end
    local counter = redis.call("hincrby", KEYS[1], ARGV[3], -1)
    if (counter > 0) then
    redis.call("pexpire", KEYS[1], ARGV[2])
    return 0
    else redis.call("del", KEYS[1])
    redis.call("publish", KEYS[2], ARGV[1])
    return 1
    end
    return nil
"""),
    "UNLOCK_3_2": ("93cfc048f82624d1670a310aa0ad58918c0824a5", """
    if (redis.call("exists", KEYS[1]) == 0) then
    redis.call("publish", KEYS[2], ARGV[1])
    return 1
    end
    if (redis.call("hexists", KEYS[1], ARGV[3]) == 0) then
    return nil
    end
    local counter = redis.call("hincrby", KEYS[1], ARGV[3], -1)
    if (counter > 0) then
    redis.call("pexpire", KEYS[1], ARGV[2])
    return 0
    else redis.call("del", KEYS[1])
    redis.call("publish", KEYS[2], ARGV[1])
    return 1
    end
    return nil
"""),
    "FORCE": ("605e338249a7a1d40df83b04f7658354f883b41b", """
    if (redis.call("del", KEYS[1]) == 1) then
    redis.call(ARGV[2], KEYS[2], ARGV[1])
    return 1
    else
    return 0 end
"""),
    "FORCE_3_2": ("7e9c80b3d786b95d5d4aaf8fd73adb9775fa6fb1", """
    if (redis.call("del", KEYS[1]) == 1) then
    redis.call("publish", KEYS[2], ARGV[1])
    return 1
    else
    return 0 end
"""),
    "RENEW_3_2": ("8e19a1ddbdee9138df9f32a480c57addab4353d1", """
    if (redis.call("hexists", KEYS[1], ARGV[2]) == 1) then
    redis.call("pexpire", KEYS[1], ARGV[1])
    return 1
    end
    return 0
"""),
    "RENEW": ("6a3d31570dc6f4b0bd32bcdc8e75667747c6f635", """
    local result = {} for i = 1, #KEYS, 1 do
    if (redis.call("hexists", KEYS[i], ARGV[i + 1]) == 1) then
    redis.call("pexpire", KEYS[i], ARGV[1])
    table.insert(result, 1)
    else table.insert(result, 0)
    end
    end
    return result
"""),
    "SPIN_UNLOCK": ("73ac2729af29ea9a975f95e8097f7ee9a74cce3d", """
    local val = redis.call("get", KEYS[2])
    if val ~= false then
    return tonumber(val)
    end
    if (redis.call("hexists", KEYS[1], ARGV[2]) == 0) then
    return nil
    end
    local counter = redis.call("hincrby", KEYS[1], ARGV[2], -1)
    if (counter > 0) then
    redis.call("pexpire", KEYS[1], ARGV[1])
    redis.call("set", KEYS[2], 0, "px", ARGV[3])
    return 0
    else redis.call("del", KEYS[1])
    redis.call("set", KEYS[2], 1, "px", ARGV[3])
    return 1
    end
"""),
    "SPIN_UNLOCK_3_15": ("5b9e58d1bcb8498e14aa1d5b49a1ca5b90748946", """
    if (redis.call("hexists", KEYS[1], ARGV[2]) == 0) then
    return nil
    end
    local counter = redis.call("hincrby", KEYS[1], ARGV[2], -1)
    if (counter > 0) then
    redis.call("pexpire", KEYS[1], ARGV[1])
    return 0
    else redis.call("del", KEYS[1])
    return 1
    end
    return nil
"""),
    "SPIN_FORCE": ("51b433c3cc9a6ca991b3aefec63d23490c246318", """
    if (redis.call("del", KEYS[1]) == 1) then
    return 1
    else
    return 0 end
"""),
    "EXPIRE": ("3fd750e0b43af99dbd223e5523718f18cded3664", """
    local result = 0
    for j = 1, #KEYS, 1 do
    local expireSet
    if ARGV[2] ~= "" then
    expireSet = redis.call("pexpire", KEYS[j], ARGV[1], ARGV[2])
    else
    expireSet = redis.call("pexpire", KEYS[j], ARGV[1])
    end
    if expireSet == 1 then
    result = expireSet
    end
    end
    return result
"""),
    "EXPIRE_3_13": ("3adcab8843f28538b47f67950913e2a88189dddd", """
    local result = 0
    for j = 1, #KEYS, 1 do
    local expireSet = redis.call("pexpire", KEYS[j], ARGV[1])
    if expireSet == 1 then
    result = expireSet
    end
    end
    return result
"""),
    "FENCED_TAKE": ("46b5551ba403d6152a7a6eca122e08728d6c8c66", """
    if ((redis.call("exists", KEYS[1]) == 0) or (redis.call("hexists", KEYS[1], ARGV[2]) == 1)) then
    redis.call("incr", KEYS[2])
    redis.call("hincrby", KEYS[1], ARGV[2], 1)
    redis.call("pexpire", KEYS[1], ARGV[1])
    return nil
    end
    return redis.call("pttl", KEYS[1])
"""),
    "FENCED_TAKE_TOKEN": ("49babb5a1e6a0c5f188c2ae62b93b51cdfd63e45", """
    if (redis.call("exists", KEYS[1]) == 0 or (redis.call("hexists", KEYS[1], ARGV[2]) == 1)) then
    local token = redis.call("incr", KEYS[2])
    redis.call("hincrby", KEYS[1], ARGV[2], 1)
    redis.call("pexpire", KEYS[1], ARGV[1])
    return {-1, token}
    end
    return {redis.call("pttl", KEYS[1]), -1}
"""),
}

SCRIPTS.update(FAIR)

ONE, OTHER = "6f0b:1", "6f0b:12"  # two threads; the first begins the second

WATCHDOG = 30.0  # lockWatchdogTimeout, in seconds
BATCH = 100  # lockWatchdogBatchSize
PLACE = 300000  # fairLockWaitTimeout, in ms


def prefixed(prefix, name):
    """RedissonObject.prefixName."""
    return f"{prefix}:{name}" if "{" in name else f"{prefix}:{{{name}}}"


def channel_of(name):
    """Where those that wait for the lock listen."""
    return prefixed("redisson_lock__channel", name)


def latch_of(name, number):
    """What keeps the answer of an unlock, if that is sent again."""
    return prefixed("redisson_unlock_latch", name) + f":{number:032x}"


def fair_keys(name):
    """The lock, and those that wait for it."""
    return [name, prefixed("redisson_lock_queue", name), prefixed("redisson_lock_timeout", name)]


def wall_ms():
    return int(time.time() * 1000)


class Entry:
    """RedissonLockEntry: the subscription of a JVM to a channel, and its semaphore."""

    def __init__(self):
        self.users, self.waiting = 0, 0
        self.subscribed = threading.Event()
        self.latch = threading.Semaphore(0)

    def sleep(self, seconds):
        self.waiting += 1
        self.latch.acquire(timeout=max(seconds, 0))
        self.waiting -= 1


class Jvm:
    """A RedissonClient in single-server mode: a pool of connections, one of them for messages."""

    def __init__(self, connect, pool=8, watchdog=WATCHDOG, timeout=3.0):
        self.connect, self.watchdog, self.timeout = connect, watchdog, timeout
        self.id = str(uuid.uuid4())
        self.pool = queue.Queue()
        for _ in range(pool):
            self.pool.put(None)
        self.guard = threading.Lock()
        self.entries, self.holds = {}, {}  # by channel; by name
        self.fences = {}  # of getFencedLock(), by name and thread
        self.listener = None
        self.done = threading.Event()
        self.threads = [threading.Thread(target=self.renew_all, daemon=True)]
        self.threads[0].start()

    def close(self):
        self.done.set()
        if self.listener:
            with contextlib.suppress(OSError):
                self.listener.sock.shutdown(socket.SHUT_RDWR)
        for thread in self.threads:
            thread.join(patience(10))
        while not self.pool.empty():
            client = self.pool.get()
            if client:
                client.close()
        if self.listener:
            self.listener.close()

    # Requests.

    def command(self, *words):
        """On any connection of the pool.  What is answered TRYAGAIN is sent again."""
        for attempt in range(5):
            client = self.pool.get()
            try:
                client = client or self.connect()
                reply = client(*words)
                self.pool.put(client)
                return reply
            except RedisError as error:
                self.pool.put(client)
                if attempt == 4 or not str(error).startswith(("TRYAGAIN", "LOADING")):
                    raise
            except OSError:
                if client:
                    client.close()
                self.pool.put(None)
                if attempt == 4:
                    raise
            self.done.wait(1)
        raise AssertionError

    def script(self, name, keys, *args):
        """EVALSHA; the text only if the server doesn't know it."""
        sha = SCRIPTS[name][0]
        return self.command("EVALSHA", sha, len(keys), *keys, *args)

    def token(self, thread):
        return f"{self.id}:{thread}"

    def take(self, name, thread, lease, kind=None, wait=None):
        ms = int((lease or self.watchdog) * 1000)
        if kind == "fair":
            ttl = self.script("FAIR_TAKE", fair_keys(name), ms, self.token(thread),
                              int(wait * 1000) if wait else PLACE, wall_ms())
        elif kind == "fenced":
            ttl, fence = self.script("FENCED_TAKE_TOKEN",
                                     [name, prefixed("redisson_lock_token", name)],
                                     ms, self.token(thread))
            if ttl == -1:
                ttl, self.fences[name, thread] = None, fence
        else:
            ttl = self.script("TAKE", [name], ms, self.token(thread))
        if ttl is None and lease is None:
            with self.guard:
                self.holds.setdefault(name, []).append(thread)
        return ttl

    # RLock.

    def lock(self, name, thread, lease=None, wait=None, kind=None):
        """RedissonLock.lock() and tryLock(), of getLock() or of the kind "fair" or "fenced";
        returns whether it has the lock."""
        end = now() + wait if wait is not None else None
        if self.take(name, thread, lease, kind, wait) is None:
            return True
        if end is not None and now() >= end:
            return self.failed(name, thread, kind, wait)
        channel = channel_of(name)
        if kind == "fair":
            channel += ":" + self.token(thread)
        entry = self.subscribe(channel)
        try:
            while True:
                ttl = self.take(name, thread, lease, kind, wait)
                if ttl is None:
                    return True
                assert ttl >= 0, ttl
                sleep = ttl / 1000
                if end is not None:
                    if now() >= end:
                        return self.failed(name, thread, kind, wait)
                    sleep = min(sleep, end - now())
                entry.sleep(sleep)
                if end is not None and now() >= end:
                    return self.failed(name, thread, kind, wait)
        finally:
            self.unsubscribe(channel, entry)

    # RedissonSpinLock.

    def spin_lock(self, name, thread, wait=10):
        """Polls, twice as slowly each time."""
        end, delay = now() + wait, 0.001
        while self.script("TAKE_3_15", [name], int(self.watchdog * 1000),
                          self.token(thread)) is not None:
            if now() >= end:
                return False
            self.done.wait(random.uniform(delay / 2, delay))
            delay = min(2 * delay, 0.128)
        return True

    def spin_unlock(self, name, thread):
        key = latch_of(name, uuid.uuid4().int)
        result = self.script("SPIN_UNLOCK", [name, key], int(self.watchdog * 1000),
                             self.token(thread), 16000)
        self.command("DEL", key)
        return result

    # RedissonMultiLock.

    def multi_lock(self, names, thread, lease, wait):
        """All of them or none: each for twice the time that this may take, and in the end all for
        the time of the lease."""
        end, got = now() + wait, []
        for name in names:
            if not self.lock(name, thread, lease=2 * wait, wait=max(0, end - now())):
                for other in got:
                    self.unlock(other, thread)
                return False
            got.append(name)
        for name in names:
            assert self.script("EXPIRE", [name], int(lease * 1000), "") == 1
        return True

    def failed(self, name, thread, kind, wait):
        """acquireFailed()."""
        if kind == "fair":
            self.script("FAIR_LEAVE", fair_keys(name)[1:], self.token(thread),
                        int(wait * 1000) or PLACE)
        return False

    def unlock(self, name, thread, kind=None):
        """Raises if this thread doesn't have the lock."""
        key = latch_of(name, uuid.uuid4().int)
        keys, args = [name, channel_of(name), key], ["0", int(self.watchdog * 1000), self.token(thread)]
        if kind == "fair":
            keys, args = [*fair_keys(name), channel_of(name), key], [*args, wall_ms()]
        result = self.script("FAIR_UNLOCK" if kind == "fair" else "UNLOCK", keys, *args,
                             "PUBLISH", 16000)
        self.command("DEL", key)
        with self.guard:
            threads = self.holds.get(name, [])
            if thread in threads:
                threads.remove(thread)
            if not threads:
                self.holds.pop(name, None)
        if result is None:
            raise RuntimeError("attempt to unlock lock, not locked by current thread")
        return result

    def depth(self, name, thread):
        return int(self.command("HGET", name, self.token(thread)) or 0)

    # LockPubSub.

    def subscribe(self, channel):
        with self.guard:
            if self.listener is None:
                self.connect_listener()
                self.threads.append(threading.Thread(target=self.listen, daemon=True))
                self.threads[-1].start()
            entry = self.entries.setdefault(channel, Entry())
            entry.users += 1
            if entry.users == 1:
                self.ask_listener("SUBSCRIBE", channel)
        assert entry.subscribed.wait(patience(self.timeout))
        return entry

    def unsubscribe(self, channel, entry):
        with self.guard:
            entry.users -= 1
            if entry.users == 0:
                del self.entries[channel]
                self.ask_listener("UNSUBSCRIBE", channel)

    def ask_listener(self, *words):
        with contextlib.suppress(OSError):  # reconnect() asks for all of them
            self.listener.send(*words)

    def connect_listener(self):
        self.listener = self.connect()
        self.listener.sock.settimeout(None)

    def reconnect(self):
        """ConnectionWatchdog: connects again, and subscribes to what is waited for."""
        while not self.done.wait(0.1):
            with contextlib.suppress(OSError), self.guard:
                self.listener.close()
                self.connect_listener()
                for channel in self.entries:
                    self.listener.send("SUBSCRIBE", channel)
                return

    def listen(self):
        """Messages, and the answers to subscriptions."""
        while not self.done.is_set():
            try:
                word, channel, text = self.listener.read()
            except (OSError, ValueError):
                self.reconnect()
                continue
            with self.guard:
                entry = self.entries.get(channel)
            if entry and word == "subscribe":
                entry.subscribed.set()
            elif entry and word == "message" and text == "0":
                entry.latch.release()
            elif entry and word == "message" and text == "1":
                for _ in range(entry.waiting):
                    entry.latch.release()

    # LockTask.

    def renew_all(self):
        while not self.done.wait(self.watchdog / 3):
            with self.guard:
                holds = [(name, threads[0]) for name, threads in self.holds.items()]
            for i in range(0, len(holds), BATCH):
                part = holds[i:i + BATCH]
                try:
                    kept = self.script("RENEW", [name for name, _ in part],
                                       int(self.watchdog * 1000),
                                       *(self.token(thread) for _, thread in part))
                except (RedisError, OSError):
                    continue
                with self.guard:
                    for (name, _), one in zip(part, kept):
                        if not one:
                            self.holds.pop(name, None)


class Scripted:
    """What tests share that run scripts through the connection `one`."""

    def run_script(self, name, *words):
        return self.one("EVALSHA", SCRIPTS[name][0], *words)


def run_threads(jvms, numbers, run, middle=lambda: None):
    """run(jvm, number) for each of both, all at once; returns what they have raised."""
    errors = []

    def guarded(jvm, number):
        try:
            run(jvm, number)
        except Exception as error:  # pylint: disable=broad-except
            errors.append(error)

    running = [threading.Thread(target=guarded, args=(jvm, number), daemon=True)
               for jvm in jvms for number in numbers]
    for thread in running:
        thread.start()
    middle()
    for thread in running:
        thread.join(120)
        assert not thread.is_alive(), "a thread does not end"
    return errors
