"""What a broker that stops keeps for clients that count on a `valid=` (lockbroker-protocol(7),
EVENTS)."""

import os
import re
import signal

from lib.case import grace_of
from lib.client import Client
from lib.proxy import Proxy
from lib.wait import eventually, let_time_pass, now, patience
from test_cli import CommandTest


def parse_ms(text):
    return int(re.fullmatch(r"(\d+)ms", text).group(1))


class TwoBrokers(CommandTest):
    """The first broker is told to stop; a client of the second waits for what it has."""

    lease = 3
    give_back = 1.0

    def setUp(self):
        super().setUp()
        self.server = self.redis()
        self.first, self.second = (self.broker(self.server, trust_new=True, lease=self.lease)
                                   for _ in range(2))

    def promised(self, client, request="LOCK x"):
        """A client has the name and counts on it until the time returned; another one waits for
        it."""
        client.ok(request)
        self.waiter = self.client(self.second)
        self.waiter.send(request)
        self.await_waiter(self.client(self.second))
        # Asked late enough that a good part of it is still left a second later.
        asked = now()
        return asked + parse_ms(client.ok("PING")["valid"]) / 1000

    @staticmethod
    def await_waiter(control):
        eventually(lambda: control.stats()["waiters"] == "1", 5, "it waits")

    def granted(self):
        """When the waiter was granted it."""
        reply = self.waiter.reply(timeout=3 * self.lease)
        self.assertTrue(reply.ok, reply)
        return reply.at

    def end_of_first(self):
        self.assertEqual(self.first.process.wait(), 0)
        return now()

    # Locks.

    def test_a_client_that_is_cut_off_may_count_on_it(self):
        """The network is gone, and the broker does not know."""
        net = Proxy(f"127.0.0.1:{self.first.port}")
        self.addCleanup(net.stop)
        until = self.promised(self.client_at(net))
        net.stalled = True
        self.first.signal(signal.SIGTERM)
        start = now()
        self.assertLess(self.end_of_first() - start, patience(self.give_back + 1))
        self.assertGreater(self.granted(), until)

    def client_at(self, net):
        client = Client(("127.0.0.1", net.port))
        self.addCleanup(client.close)
        return client

    def test_a_client_that_does_nothing_may_count_on_it(self):
        for tcp in (True, False):
            with self.subTest(tcp=tcp):
                client = self.client(self.first, tcp=tcp)
                until = self.promised(client)
                self.first.signal(signal.SIGTERM)
                start = now()
                self.assertGreater(self.end_of_first() - start, self.give_back - 0.05)
                self.assertEqual(client.event().text, "!SHUTDOWN")
                self.assertGreater(self.granted(), until)
                self.waiter.ok("QUIT")
                self.first.start()
                self.first.wait_granting()

    def test_what_is_given_back_is_free_at_once(self):
        for request in ("UNLOCK x", "QUIT", None):
            with self.subTest(request):
                client = self.client(self.first, tcp=True)
                until = self.promised(client)
                self.first.signal(signal.SIGTERM)
                self.assertEqual(client.event().text, "!SHUTDOWN")
                start = now()
                if request is None:
                    client.close()
                else:
                    client.ok(request)
                at = self.granted()
                self.assertLess(at - start, patience(0.5))
                self.assertLess(at, until)
                self.assertLess(self.end_of_first() - start, patience(self.give_back))
                self.waiter.ok("QUIT")
                self.first.start()
                self.first.wait_granting()

    def test_one_that_is_reset_meanwhile_may_count_on_it(self):
        client = self.client(self.first, tcp=True)
        until = self.promised(client)
        self.first.signal(signal.SIGTERM)
        self.assertEqual(client.event().text, "!SHUTDOWN")
        client.reset()
        self.end_of_first()
        self.assertGreater(self.granted(), until)

    def test_it_is_served_meanwhile_but_granted_nothing(self):
        client = self.client(self.first)
        until = self.promised(client)
        self.first.signal(signal.SIGTERM)
        self.assertEqual(client.event().text, "!SHUTDOWN")
        client.err("LOCK y", "shutdown")
        client.err("LOCK x", "shutdown")
        client.err("ACQUIRE s limit=1", "shutdown")
        left = parse_ms(client.ok("PING")["valid"]) / 1000
        self.assertLess(now() + left, until + patience(0.2), "more was promised")
        self.assertEqual(client.ok("LIST").body[0].split(" ")[1], "x")
        client.ok("UNLOCK x")
        self.granted()
        self.end_of_first()

    def test_what_nobody_counts_on_is_free_at_once(self):
        client = self.client(self.first, tcp=True)
        client.lock("x")
        self.first.signal(signal.SIGTERM)
        start = now()
        self.client(self.second).lock("x")
        self.assertLess(now() - start, patience(0.5))
        self.assertLess(self.end_of_first() - start, patience(self.give_back))

    def test_a_second_signal_does_not_wait(self):
        client = self.client(self.first)
        until = self.promised(client)
        self.first.expected_status = 1
        self.first.signal(signal.SIGTERM)
        client.event()
        start = now()
        self.first.signal(signal.SIGTERM)
        self.assertEqual(self.first.process.wait(), 1)
        self.assertLess(now() - start, patience(0.5))
        self.assertGreater(self.granted(), until)

    # Permits.

    def test_permits_that_a_client_counts_on(self):
        client = self.client(self.first, tcp=True)
        until = self.promised(client, "ACQUIRE s limit=1")
        self.first.signal(signal.SIGTERM)
        self.end_of_first()
        self.assertGreater(self.granted(), until)

    def test_permits_that_are_given_back(self):
        client = self.client(self.first, tcp=True)
        self.promised(client, "ACQUIRE s limit=1")
        self.first.signal(signal.SIGTERM)
        client.event()
        start = now()
        client.ok("RELEASE s")
        self.assertLess(self.granted() - start, patience(0.5))

    # Commands.

    def path(self, name):
        return os.path.join(self.directory, name)

    def times(self, name):
        if not os.path.exists(self.path(name)):
            return []
        with open(self.path(name), encoding="ascii") as file:
            return [int(line) for line in file.read().split("\n")[:-1]]

    def ticking(self, name, broker, prelude=""):
        """A command under a lock that writes down how long it runs."""
        return self.start("run", "job", "--", "sh", "-c",
                          f"{prelude} while :; do date +%s%N >> {self.path(name)};"
                          " sleep 0.01; done", address=broker.unix_path)

    def test_two_commands_never_overlap(self):
        """The first one ignores TERM, as a program that must not be stopped halfway."""
        one = self.ticking("one", self.first, "trap '' TERM;")
        eventually(lambda: self.times("one"), 5, "the first runs")
        control = self.client(self.second)
        self.ticking("two", self.second)
        eventually(lambda: control.ok("STATUS job")["waiters"] == "1", 5, "the second waits")
        let_time_pass(self.lease / 2)
        self.first.signal(signal.SIGTERM)
        self.end_of_first()
        self.first.start()
        self.assertEqual(self.end(one, 2 * self.lease)[0], 123)
        eventually(lambda: self.times("two"), 3 * self.lease, "the second runs")
        self.assertLess(self.times("one")[-1], self.times("two")[0])

    def test_a_command_that_ends_in_time_delays_nobody(self):
        one = self.ticking("one", self.first)
        eventually(lambda: self.times("one"), 5, "the first runs")
        control = self.client(self.second)
        self.ticking("two", self.second)
        eventually(lambda: control.ok("STATUS job")["waiters"] == "1", 5, "the second waits")
        self.first.signal(signal.SIGTERM)
        start = now()
        self.assertEqual(self.end(one)[0], 123)
        self.end_of_first()
        eventually(lambda: self.times("two"), 5, "the second runs")
        self.assertLess(now() - start, patience(1))
        self.assertLess(self.times("one")[-1], self.times("two")[0])


class Detached(CommandTest):
    """A client whose connection had gone before is not asked."""

    def test_it_lingers(self):
        server = self.redis()
        first, second = (self.broker(server, trust_new=True, lease=3) for _ in range(2))
        client = self.client(first, tcp=True)
        client.lock("x")
        asked = now()
        until = asked + parse_ms(client.ok("PING")["valid"]) / 1000
        client.reset()
        eventually(lambda: self.client(first).stats()["clients"] == "1", 5, "it is gone")
        first.signal(signal.SIGTERM)
        self.assertEqual(first.process.wait(), 0)
        self.assertLess(now() - asked, patience(1))
        self.client(second).lock("x", timeout=10)
        self.assertGreater(now(), until)


class Embedded(CommandTest):
    """What clients count on outlives the broker of an embedded Redis."""

    lease = 3

    def setUp(self):
        super().setUp()
        self.first = self.broker(lease=self.lease)

    def promised(self, **options):
        self.holder = self.client(**options)
        self.holder.lock("x")
        asked = now()
        return asked + parse_ms(self.holder.ok("PING")["valid"]) / 1000

    def killed(self):
        self.first.kill()
        self.first.expected_status = 0

    def granted(self):
        """When the next broker, which is already there, grants it."""
        self.first.start()
        client = self.client()
        client.lock("x", timeout=15)
        at = now()
        client.ok("UNLOCK x")
        return at

    def test_a_crash(self):
        for tcp in (True, False):
            with self.subTest(tcp=tcp):
                until = self.promised(tcp=tcp)
                self.killed()
                at = self.granted()
                self.assertGreater(at, until)
                self.assertLess(at, until + patience(grace_of(self.lease)))

    def test_permits_too(self):
        client = self.client()
        client.ok("ACQUIRE s limit=1")
        asked = now()
        until = asked + parse_ms(client.ok("PING")["valid"]) / 1000
        self.killed()
        self.first.start()
        self.client().ok("ACQUIRE s limit=1", timeout=15)
        self.assertGreater(now(), until)

    def test_a_clean_stop_costs_nothing(self):
        self.promised()
        self.holder.ok("UNLOCK x")
        self.assertEqual(self.first.stop(), 0)
        start = now()
        self.assertLess(self.granted() - start, patience(self.lease / 2))

    def test_what_was_not_given_back_at_a_stop(self):
        until = self.promised(tcp=True)
        self.assertEqual(self.first.stop(), 0)
        self.assertGreater(self.granted(), until)

    def test_a_stop_meanwhile_forgets_nothing(self):
        until = self.promised()
        self.killed()
        self.first.start()
        self.assertEqual(self.first.stop(), 0)
        self.assertGreater(self.granted(), until)

    def test_a_second_signal_forgets_nothing(self):
        until = self.promised()
        self.first.signal(signal.SIGTERM)
        self.holder.event()
        self.first.signal(signal.SIGTERM)
        self.assertEqual(self.first.process.wait(), 1)
        self.assertGreater(self.granted(), until)
