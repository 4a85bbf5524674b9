"""The base of every system test: a directory, a deadline, and the end of everything it started."""

import glob
import os
import shutil
import signal
import sys
import tempfile
import unittest

from .broker import Broker
from .clock import Clock
from .net import Network
from .proxy import Proxy
from .redisd import RedisServer
from .wait import hang


NOTE = "note: "


def note(text):
    """Something to tell, a measurement for example: `run -v` shows it, and a failure does."""
    print(NOTE + text, flush=True)


class TimedOut(Exception):
    """The test as a whole took too long."""


# Constants that the broker derives from a lease (core/kernel/guard/DESIGN), in seconds.

def pad_of(lease):
    return min(max(0.3 * lease, 0.5), 3.0)


stall_of = pad_of


def grace_of(lease):
    """How long an unblessed Redis grants nothing."""
    return lease * 1.01 + pad_of(lease) + 0.5


def top_fence(value):
    """The highest fence that the key of a lease reserves; -1 where there is no key."""
    return int(value.rsplit("|", 1)[1]) if value else -1


class SystemTest(unittest.TestCase):
    """Start things with self.redis(), self.broker(), self.proxy(), self.client()."""

    # Seconds that a test takes on a slow day, clean-up included; it may take four times as long.
    limit = 30

    def setUp(self):
        self.addCleanup(signal.alarm, 0)
        signal.signal(signal.SIGALRM, self._out_of_time)
        signal.alarm(int(hang(self.limit)))
        self.directory = tempfile.mkdtemp(prefix="lbt-")
        self.addCleanup(shutil.rmtree, self.directory, True)
        self.addCleanup(self._show_logs, self._faults())
        self._watch_sanitizers()
        self.brokers = []
        self.servers = []
        self.clocks = 0

    def _watch_sanitizers(self):
        """Whatever ASan, LSan and UBSan report, in any program, goes to files that the end of the
        test looks for; and their exit status is one that no test expects."""
        for name in ("ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS"):
            given = os.environ.get(name)
            options = f"log_path={self.directory}/sanitizer:exitcode=99"
            if name == "UBSAN_OPTIONS":
                options += ":print_stacktrace=1"
            os.environ[name] = f"{given}:{options}" if given else options
            self.addCleanup(self._restore, name, given)
        self.addCleanup(self.check_sanitizers)

    @staticmethod
    def _restore(name, value):
        if value is None:
            del os.environ[name]
        else:
            os.environ[name] = value

    def check_sanitizers(self):
        """Runs when everything that was started has ended."""
        for path in sorted(glob.glob(os.path.join(self.directory, "sanitizer.*"))):
            with open(path, encoding="utf-8", errors="replace") as file:
                self.fail(f"a sanitizer found:\n{file.read()[:4000]}")

    def _out_of_time(self, _signal, _frame):
        raise TimedOut(f"the test took more than {hang(self.limit):.0f}s")

    def _faults(self):
        result = self._outcome.result
        return len(result.failures) + len(result.errors)

    def _show_logs(self, faults):
        """Runs when everything has ended, even if that failed."""
        if self._faults() > faults:
            for broker in self.brokers:
                self._show(f"log of {broker.name}", broker.log_path)

    @staticmethod
    def _show(title, path):
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                tail = file.readlines()[-40:]
        except OSError:
            return
        print(f"--- {title}", *[line.rstrip() for line in tail], sep="\n", file=sys.stderr)

    def clock(self):
        """A clock that this test sets, for servers and brokers."""
        self.clocks += 1
        return Clock(self.directory, f"clock{self.clocks}")

    def redis(self, tcp=False, start=True, clock=None, **options):
        """A redis-server; options as in redis.conf, with _ for -."""
        options = {key.replace("_", "-"): value for key, value in options.items()}
        directory = os.path.join(self.directory, f"r{len(self.servers) + 1}")
        server = RedisServer(directory, tcp=tcp, options=options, clock=clock)
        self.servers.append(server)
        self.addCleanup(server.stop)
        return server.start() if start else server

    def broker(self, server=None, start=True, lease=None, trust_new=None, name=None, ready=None,
               clock=None, http=False, **settings):
        """A lockbrokerd on a RedisServer, on an address, or with an embedded Redis; sections of
        lockbrokerd.yaml as keywords: limits={"clients": 5}. If Redis can grant at once, wait for
        that, unless ready=False."""
        name = name or f"b{len(self.brokers) + 1}"
        if lease is not None:
            settings.setdefault("locks", {}).setdefault("lease", f"{int(lease * 1000)}ms")
        if trust_new is not None:
            settings.setdefault("redis", {})["trust_new"] = trust_new
        broker = Broker(self.directory, name, server, settings)
        if http:
            broker.settings["listen"].append({"http": "127.0.0.1:0"})
        self.brokers.append(broker)
        self.addCleanup(broker.check_end)
        if not start:
            return broker
        broker.start(env=clock.environment if clock else None)
        if ready is None:
            ready = server is None or settings.get("redis", {}).get("trust_new", False)
        return broker.wait_granting() if ready else broker

    def network(self):
        net = Network()
        self.addCleanup(net.stop)
        return net

    def proxy(self, server):
        proxy = Proxy(server.unix_address)
        self.addCleanup(proxy.stop)
        return proxy

    def client(self, broker=None, tcp=False, **options):
        client = (broker or self.brokers[0]).client(tcp=tcp, **options)
        self.addCleanup(client.close)
        return client

    def clients(self, count, broker=None, **options):
        return [self.client(broker, **options) for _ in range(count)]

    def assert_within(self, low, value, high, what=""):
        # A timer of the broker counts from the start of its turn, which may be
        # some milliseconds before this process looked at the clock.
        self.assertGreaterEqual(value, low - 0.02, what)
        self.assertLessEqual(value, high, what)
