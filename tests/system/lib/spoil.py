"""A proxy between a broker and its Redis that spoils what Redis says, and clients that ask for all
there is meanwhile. All that is random comes from a seed."""

import contextlib
import random
import re
import threading

from .client import Client
from .proxy import Proxy
from .resp import Resp
from .wait import hang, now

NUMBERS = (0, 1, 2, 7, 2 ** 31, 2 ** 32, 2 ** 52 - 1, 2 ** 52, 2 ** 53 - 2, 2 ** 53 - 1, 2 ** 53,
           2 ** 63 - 1, 2 ** 64, -1, -2, -2 ** 63)
WORDS = re.findall(r"\w+", """
    granted queued busy foreign renewed again lost ended gone value taken kept mismatch made exists
    counted open shut waiting tripped broken late done pending refused unknown unsent blessed
    readonly config nodes clock grants message subscribe unsubscribe""")
_BULK = re.compile(rb"\$\d+\r\n([^\r\n]*)\r\n")


def _bulk(data):
    return b"$%d\r\n%s\r\n" % (len(data), data)


class Spoiler(Proxy):
    """rate: of so many chunks of replies one is spoilt; 0: none is."""

    def __init__(self, upstream, seed):
        super().__init__(upstream)
        self.random = random.Random(seed)
        self.rate = 0
        self.spoilt = 0
        self._turn = threading.Lock()

    def alter(self, _link, is_request, data):
        with self._turn:
            if is_request or self.rate == 0 or self.random.randrange(self.rate) > 0:
                return data
            self.spoilt += 1
            way = self.random.choice((self.number, self.number, self.digits, self.text, self.word,
                                      self.byte))
            return way(data)

    def _number(self, was):
        return self.random.choice((self.random.choice(NUMBERS), was + 1, was - 1, 2 * was,
                                   was + 10 ** 6, self.random.randrange(2 ** 53)))

    def _one_of(self, pattern, data):
        found = list(re.finditer(pattern, data))
        return self.random.choice(found) if found else None

    @staticmethod
    def _put(data, match, new):
        return data[:match.start()] + new + data[match.end():]

    def number(self, data):
        """One that stands by itself."""
        match = self._one_of(rb":(-?\d+)\r\n|\$\d+\r\n(\d+)\r\n", data)
        if match is None:
            return self.digits(data)
        if match[1] is not None:
            return self._put(data, match, b":%d\r\n" % self._number(int(match[1])))
        return self._put(data, match, _bulk(b"%d" % self._number(int(match[2]))))

    def digits(self, data):
        """One within a text; it stays as long as it is."""
        match = self._one_of(rb"(?<=[^:$*\d])\d+", data)
        if match is None:
            return self.byte(data)
        digits = b"%d" % abs(self._number(int(match[0])))
        return self._put(data, match, digits[:len(match[0])].rjust(len(match[0]), b"0"))

    def text(self, data):
        """Becomes a little longer, shorter, or empty."""
        match = self._one_of(_BULK, data)
        if match is None:
            return self.byte(data)
        was = match[1]
        return self._put(data, match, _bulk(self.random.choice(
            (b"", was[:-1], was + b"x", was + b"\0", was + b" 1\n2", was * 3, b"x" * 3000))))

    def word(self, data):
        match = self._one_of(rb"\$\d+\r\n(" + b"|".join(word.encode() for word in WORDS)
                             + rb")\r\n", data)
        if match is None:
            return self.byte(data)
        return self._put(data, match, _bulk(self.random.choice(WORDS).encode()))

    def byte(self, data):
        at = self.random.randrange(len(data))
        return data[:at] + bytes((self.random.randrange(256),)) + data[at + 1:]


LINES = (
    "LOCK {a} wait=50ms", "LOCK {a} wait=50ms", "TRYLOCK {a}", "UNLOCK {a}", "UNLOCK {a}",
    "LOCK {a} mode=shared wait=30ms", "LOCK {a} wait=20ms keep=300ms delay=200ms",
    "LOCK {a} {b} wait=50ms", "UNLOCK {a} {b}", "LOCK {a} hold=100ms wait=20ms", "STATUS {a}",
    "STATUS {a} kind=semaphore", "STATUS {a} kind=barrier", "QUEUE {a}", "HISTORY {a}",
    "UNLOCK-FORCE {a}", "WATCH {a}", "UNWATCH {a}", "LIST", "NAMES", "BROKERS", "STATS", "READY",
    "PING", "ACQUIRE {s} limit=3 n=2 wait=30ms", "ACQUIRE {s} limit=3 wait=30ms", "RELEASE {s}",
    "RELEASE {s} n=2", "LATCH {l} count=3 ttl=1s", "COUNTDOWN {l}", "AWAIT {l} wait=20ms",
    "BARRIER {p} parties=2 wait=50ms", "QUIT",
)
COMMANDS = (
    ("SET", "{a}", "{t}", "NX", "PX", "300"), ("SET", "{a}", "{t}", "NX", "PX", "300"),
    ("DEL", "{a}"), ("GET", "{a}"), ("PEXPIRE", "{a}", "200"), ("PTTL", "{a}"), ("EXISTS", "{a}"),
    ("EVAL", "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) "
     "else return 0 end", "1", "{a}", "{t}"), ("LB.FENCE", "{a}", "{t}"),
)


class Customer(threading.Thread):
    """One client after the other, at one broker after the other, until `over` is set."""

    def __init__(self, brokers, over, seed):
        super().__init__(daemon=True)
        self.brokers = brokers
        self.over = over
        self.random = random.Random(seed)
        self.requests = 0

    def fill(self, text):
        pick = self.random.randrange
        return text.format(a=f"n{pick(4)}", b=f"n{4 + pick(3)}", s=f"s{pick(2)}", l=f"l{pick(2)}",
                           p=f"p{pick(2)}", t=f"t{pick(3)}")

    def lines(self, broker):
        client = Client(broker.unix_path)
        try:
            for _ in range(self.random.randrange(1, 60)):
                client.ask(self.fill(self.random.choice(LINES)), hang(5))
                self.requests += 1
        finally:
            client.close()

    def commands(self, broker):
        client = Resp(f"unix:{broker.unix_path}")
        try:
            for _ in range(self.random.randrange(1, 60)):
                client.send(*[self.fill(word) for word in self.random.choice(COMMANDS)])
                client.read()
                self.requests += 1
        finally:
            client.close()

    def run(self):
        while not self.over.is_set():
            broker = self.random.choice(self.brokers)
            # Whoever has gone was one that asked to, or the broker; the test looks at that.
            with contextlib.suppress(OSError, AssertionError, ValueError):
                (self.lines if self.random.randrange(3) else self.commands)(broker)
            if not broker.process.alive:
                self.over.wait(0.05)


def shop(brokers, seconds, seed, count):
    """So many customers for so long, or until a broker ends. Returns how much they asked for."""
    over = threading.Event()
    crowd = [Customer(brokers, over, f"{seed}/{number}") for number in range(count)]
    for one in crowd:
        one.start()
    end = now() + seconds
    while now() < end and all(broker.process.alive for broker in brokers):
        over.wait(0.1)
    over.set()
    for one in crowd:
        one.join(hang(10))
    return sum(one.requests for one in crowd)
