"""A broker that is drained: DRAIN, `lockbroker drain`, and !LEAVING."""

import os
import re
import subprocess

from lib import http
from lib.broker import find_program
from lib.case import SystemTest
from lib.client import Client
from lib.wait import eventually, hang, now, patience


class Draining(SystemTest):
    limit = 60

    def drained(self, **broker):
        """A broker with a client that holds a, one that waits for it, and one that has nothing."""
        self.b = self.broker(self.redis(), trust_new=True, broker=broker,
                             listen=[{"unix": os.path.join(self.directory, "b1", "s")},
                                     {"http": "127.0.0.1:0"}, {"tcp": "127.0.0.1:0"}])
        places = eventually(lambda: self.b.log_lines(r"listening address=127\.0\.0\.1:\d+$"), 5,
                            "it listens")
        address = ("127.0.0.1", int(places[0].rsplit(":", 1)[1]))
        self.holder, self.waiter, self.idle = (Client(address) for _ in range(3))
        for client in (self.holder, self.waiter, self.idle):
            self.addCleanup(client.close)
        self.holder.ok("LOCK a")
        self.waiter.send("LOCK a")
        admin = self.client(self.b)
        eventually(lambda: admin.stats()["waiters"] == "1", 5, "it waits")
        return admin

    def test_who_holds_nothing_is_turned_away(self):
        admin = self.drained()
        self.idle.ok("PING")
        told = admin.ok("DRAIN")
        self.assertEqual((told["holds"], told["left"]), ("1", "86400000ms"))
        self.assertGreaterEqual(int(told["clients"]), 4)
        for client in (self.holder, self.waiter, self.idle, admin):
            left = re.fullmatch(r"!LEAVING left=(\d+)ms", client.event().text)
            self.assert_within(86400000 - 10000, int(left[1]), 86400000)
        self.assertEqual(self.waiter.reply().code, "shutdown")
        self.idle.err("LOCK b", "shutdown")
        self.idle.err("READY", "unavailable")
        self.assertLessEqual(int(admin.ok("DRAIN")["left"][:-2]), 86400000)
        with self.assertRaises(OSError):
            Client(self.b.unix_path)
        with self.assertRaises(OSError):
            Client(self.holder.sock.getpeername())
        web = http.of(self.b)
        self.assertEqual(web.get("/livez").status, 200)
        self.assertEqual(web.get("/readyz").status, 503)
        # What the holder needs to finish it gets.
        self.holder.ok("LOCK b")
        self.holder.ok("UNLOCK b")
        self.holder.ok("PING")
        self.holder.ok("UNLOCK a")
        self.assertEqual(self.b.process.wait(), 0)
        for client in (self.holder, self.idle):
            client.expect_eof()
        self.assertTrue(self.b.log_lines(r"left after_ms=\d+"))

    def test_it_ends_after_a_time(self):
        admin = self.drained(leave="1s")
        start = now()
        admin.ok("DRAIN")
        self.assertEqual(self.b.process.wait(), 0)
        self.assert_within(0.98, now() - start, patience(4))

    def test_only_administrators_may(self):
        self.drained()
        self.idle.err("DRAIN", "denied")

    def test_the_command(self):
        self.drained()
        done = subprocess.run([find_program("lockbroker"), "-S", self.b.unix_path, "drain"],
                              stdout=subprocess.PIPE, check=True)
        self.assertRegex(done.stdout, rb"^draining: 1 held, \d clients; ends when all is given back,"
                                      rb" by \d+-\d\d-\d\d \d\d:\d\d at the latest\n$")
        self.holder.ok("QUIT")
        self.assertEqual(self.b.process.wait(), 0)

    def test_the_command_waits(self):
        """As preStop of Kubernetes needs it."""
        self.drained()
        with subprocess.Popen([find_program("lockbroker"), "-S", self.b.unix_path, "drain",
                               "--wait"]) as command:
            self.assertRegex(self.holder.event().text, "^!LEAVING")
            with self.assertRaises(subprocess.TimeoutExpired):
                command.wait(0.2)
            self.holder.ok("UNLOCK a")
            self.assertEqual(command.wait(hang()), 0)
        self.assertEqual(self.b.process.wait(), 0)
