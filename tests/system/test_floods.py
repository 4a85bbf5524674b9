"""Requests that cost much, and answers that nobody reads, neither delay nor harm others."""

import socket

from lib.broker import find_program
from lib.case import SystemTest
from lib.wait import eventually, now

NAMES = 10000
WAITERS = 20000
HOSTILE = 8
EACH = 64  # lines that a hostile client sends at a time
MB = 1 << 20


class FloodTest(SystemTest):
    """A holder of `NAMES` names, and a client that asks for nothing but a PING."""

    limit = 60

    def setUp(self):
        super().setUp()
        self.server = self.redis()
        self.broker(self.server, trust_new=True, limits={"holds": 2 * NAMES})
        self.holder = self.client()
        self.quiet = self.client()

    def many(self, client, requests, at_a_time=500):
        """Tagged requests, all of which are granted."""
        for start in range(0, len(requests), at_a_time):
            some = requests[start:start + at_a_time]
            client.send(*[f"@{number} {request}" for number, request in enumerate(some)])
            for number in range(len(some)):
                assert client.reply(20, tag=str(number)).ok
            client.lines.clear()

    def hold_all(self):
        self.many(self.holder, [f"LOCK n{number}" for number in range(NAMES)])

    def assert_nothing_lost(self):
        self.holder.pump()
        self.assertEqual([line for line in self.holder.events if line.status == "!LOST"], [])
        self.assertEqual(self.quiet.stats()["lost_total"], "0")

    def raw(self):
        sock = socket.socket(socket.AF_UNIX)
        self.addCleanup(sock.close)
        sock.connect(self.brokers[0].unix_path)
        sock.setblocking(False)
        return sock


def answers(socks):
    """How many answers can be read."""
    count = 0
    for sock in socks:
        try:
            while True:
                data = sock.recv(MB)
                if not data:
                    break
                count += data.count(b"OK lines=") + data.count(b"BUSY")
        except BlockingIOError:
            pass
    return count


class Lists(FloodTest):
    """Long lists are made a little at a time."""

    def flood(self, lines):
        """All at once; then a PING is answered while the lists are being made."""
        socks = [self.raw() for _ in range(HOSTILE)]
        data = "".join(lines[number % len(lines)] + "\n" for number in range(EACH)).encode()
        for sock in socks:
            self.assertEqual(sock.send(data), len(data))
        self.quiet.ok("PING", timeout=30)
        early = answers(socks)
        self.assertLess(early, HOSTILE * EACH / 4, "it had to wait for the answers of others")
        total = [early]

        def all_answered():
            total[0] += answers(socks)
            return total[0] == HOSTILE * EACH
        pings = 0
        while not all_answered():
            self.quiet.ok("PING", timeout=30)
            pings += 1
        self.assertGreater(pings, HOSTILE)

    def test_names(self):
        self.hold_all()
        self.flood(["NAMES limit=1"])
        self.assertEqual(len(self.quiet.ok(f"NAMES limit={NAMES * 2}").body), NAMES)
        self.assert_nothing_lost()

    def test_a_mixture(self):
        """Together with requests that might hold up a list: many names at once, counters,
        queues."""
        self.hold_all()
        for number in range(20):
            waiter = self.client()
            waiter.send(*[f"@{tag} LOCK n{number}" for tag in range(500)])
        many = " ".join(f"n{number}" for number in range(64))
        eventually(lambda: self.quiet.stats()["waiters"] == "10000", 10)
        self.flood(["NAMES limit=100000", "TRYLOCK " + many, "STATS", "QUEUE n1 limit=1000",
                    "HELP", "LIST", "NAMES"])
        self.assert_nothing_lost()

    def test_what_one_holds(self):
        """The list is complete, and others are served while it is made."""
        self.hold_all()
        self.holder.send("LIST", "PING")
        listed = self.holder.reply(20)
        self.assertEqual(len(listed.body), NAMES)
        self.assertEqual({row.split(" ")[1] for row in listed.body},
                         {f"n{number}" for number in range(NAMES)})
        self.assertIn("valid", self.holder.reply(5).fields)


def is_sanitized():
    """A sanitizer keeps freed memory for a while, and some room around each piece."""
    with open(find_program(), "rb") as program:
        return b"__asan_init" in program.read()


class Unread(FloodTest):
    """Answers that nobody reads take bounded space, in total."""

    def test_long_queues(self):
        broker = self.brokers[0]
        self.holder.lock("q")
        for _ in range(WAITERS // 1000):
            waiter = self.client()
            waiter.send(*[f"@{tag} LOCK q" for tag in range(1000)])
        eventually(lambda: self.quiet.stats()["waiters"] == str(WAITERS), 10)
        whole = self.quiet.ok("QUEUE q limit=100000", timeout=20)
        self.assertEqual((len(whole.body), whole["waiters"]), (WAITERS + 1, str(WAITERS)))
        before = broker.process.rss_bytes()
        room = (64 * MB + 40 * MB) * (4 if is_sanitized() else 1)
        deaf = [self.raw() for _ in range(120)]
        for sock in deaf:
            sock.send(b"QUEUE q limit=100000\n" * 10)
        eventually(lambda: broker.log_lines("output-exhausted"), 30)
        start = now()
        while now() < start + 1:
            self.assertLess(broker.process.rss_bytes() - before, room)
            self.quiet.ok("PING", timeout=5)
        self.assertTrue(broker.log_lines("client-too-slow"))
        self.assertGreater(int(self.quiet.stats()["clients_too_slow_total"]), 0)
        self.assertLessEqual(int(self.quiet.stats()["output_unread_bytes"]), 64 * MB)
        self.assert_nothing_lost()
