"""`lockbroker run` and `elect` before the command: a broker that does not vouch, or hangs."""

import os
import re
import socket
import unittest

from lib.ports import free_port
from lib.proxy import Proxy
from lib.wait import eventually, let_time_pass, now, patience
from test_cli import CommandTest


class _Doubted(socket.socket):
    """A connection to the broker whose first PING is told that nothing is left of the lock."""

    doubts = 0

    def recv(self, *args):
        data = super().recv(*args)
        if self.doubts and b"valid=" in data:
            _Doubted.doubts -= 1
            data = re.sub(rb"valid=\d+ms", b"valid=0ms", data)
        return data


class _Doubting(Proxy):
    """As when the lease ends between the grant and the PING after it."""

    def _connect(self):
        return _Doubted(fileno=super()._connect().detach())


class Starts(CommandTest):
    lease = 2

    def setUp(self):
        super().setUp()
        self.server = self.redis()
        self.broker(self.server, trust_new=True, lease=self.lease)

    def test_a_lock_that_is_not_confirmed_is_taken_again(self):
        for command in ("run", "elect"):
            with self.subTest(command):
                net = _Doubting(f"127.0.0.1:{self.brokers[0].port}")
                self.addCleanup(net.stop)
                _Doubted.doubts = 1
                status, out, err = self.run_it(command, "-v", "x", "--", "echo", "ran",
                                               address=net.address)
                self.assertEqual((status, out), (0, "ran\n"), err)
                self.assertEqual(err.count("does not confirm"), 1)

    def test_a_broker_that_hangs_while_it_waits(self):
        self.broker(self.server, name="b2", trust_new=True, lease=self.lease)
        b1, b2 = self.brokers
        addresses = f"127.0.0.1:{b1.port},127.0.0.1:{b2.port}"
        control = self.client(b2)
        control.lock("x")
        waiting = [self.start("run", "-v", *words, "x", "--", "echo", "ran", address=addresses)
                   for words in ((), ("-w", "30"), ("-w", "5"))]
        waiting.append(self.start("elect", "-v", "x", "--", "echo", "ran", address=addresses))
        there = self.client(b1)
        eventually(lambda: there.ok("STATUS x")["waiters"] == "4")
        there.close()
        b1.freeze()
        control.ok("UNLOCK x")
        for child in waiting:
            status, out, err = self.end(child, 15)
            self.assertEqual((status, out), (0, "ran\n"), err)
            self.assertIn(f"127.0.0.1:{b1.port}: the broker does not answer", err)
        b1.thaw()

    def test_a_broker_that_hangs_leaves_the_next_one_time(self):
        self.broker(self.server, name="b2", trust_new=True, lease=self.lease)
        b1, b2 = self.brokers
        addresses = f"127.0.0.1:{b1.port},127.0.0.1:{b2.port}"
        b1.freeze()
        for wait in ("0.1", "1", "3"):
            start = now()
            status, out, err = self.run_it("run", "-w", wait, "x", "--", "echo", "ran",
                                           address=addresses)
            self.assertEqual((status, out, err), (0, "ran\n", ""), wait)
            self.assertLess(now() - start, patience(max(float(wait), 2)))
        b1.thaw()

    def test_a_wait_outlives_any_number_of_brokers(self):
        """Though each is there for a moment only."""
        control = self.client()
        control.lock("x")
        net = Proxy(f"127.0.0.1:{self.brokers[0].port}")
        self.addCleanup(net.stop)
        child = self.start("run", "-v", "x", "--", "echo", "ran", address=net.address)
        for _ in range(24):
            eventually(lambda: control.ok("STATUS x")["waiters"] == "1")
            net.cut()
            while not child.stderr.readline().startswith(f"lockbroker: {net.address}: "):
                pass
        control.ok("UNLOCK x")
        self.assertEqual(self.end(child)[:2], (0, "ran\n"))

    def test_a_wait_outlives_a_dozen_restarts(self):
        self.broker(self.server, name="b2", trust_new=True, lease=self.lease)
        control = self.client(self.brokers[1])
        control.lock("x")
        broker = self.brokers[0]
        port = broker.port
        broker.settings["listen"][1]["tcp"] = f"127.0.0.1:{port}"
        child = self.start("run", "x", "--", "echo", "ran", address=f"127.0.0.1:{port}")
        for _ in range(12):
            eventually(lambda: self.client(broker).ok("STATUS x")["waiters"] == "1")
            broker.stop()
            broker.start()
        control.ok("UNLOCK x")
        self.assertEqual(self.end(child), (0, "ran\n", ""))

    def test_a_wait_without_a_broker(self):
        """It says so once, and goes on."""
        broker = self.brokers[0]
        address = f"127.0.0.1:{broker.port}"
        broker.settings["listen"][1]["tcp"] = address
        control = self.client()
        control.lock("x")
        child = self.start("run", "x", "--", "echo", "ran", address=address)
        eventually(lambda: control.ok("STATUS x")["waiters"] == "1")
        start = now()
        broker.stop()
        self.assertEqual(child.stderr.readline(), f"lockbroker: x: no broker answers: {address}: "
                         "Connection refused; waiting for one\n")
        self.assert_within(10, now() - start, patience(12))
        broker.start()
        self.assertEqual(self.end(child), (0, "ran\n", ""))

    def test_inside_itself(self):
        """It waits for its own caller, and says so."""
        inner = [self.program, "run", "-w", "500ms", "x", "true"]
        child = self.start("run", "x", "--", *inner)
        status, _, err = self.end(child)
        self.assertEqual((status, err), (1, "lockbroker: x: this may deadlock: this process already runs under "
                                         "x (LOCKBROKER_NAME)\n"))
        self.assertEqual(self.run_it("run", "x", "--", self.program, "run", "-n", "x", "true"),
                         (1, "", ""))
        self.assertEqual(self.run_it("run", "-s", "x", "--", self.program, "run", "-s", "x", "true"),
                         (0, "", ""))

    @unittest.skipUnless(os.geteuid() == 0, "only root can replace resolv.conf")
    def test_a_dead_name_server(self):
        """It costs no more than its share, and the healthy broker is used."""
        server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(server.close)
        server.bind(("127.77.0.1", 53))
        path = os.path.join(self.directory, "resolv.conf")
        with open(path, "w", encoding="ascii") as file:
            file.write("nameserver 127.77.0.1\n")
        name = "lock1.example.net"
        healthy = f"127.0.0.1:{self.brokers[0].port}"
        nobody = f"127.0.0.1:{free_port()}"
        self.program, program = "unshare", self.program

        def ask(addresses, *words):
            start = now()
            result = self.run_it("-m", "sh", "-c", f"mount --bind {path} /etc/resolv.conf; "
                                 'exec "$0" "$@"', program, "-S", addresses, *words)
            return (*result, now() - start)

        for words, most in ((("run", "-w", "2", "x", "true"), 2), (("run", "-n", "x", "true"), 3.2),
                            (("status", "x"), 3.2)):
            status, _, err, took = ask(f"{name},{healthy}", *words)
            self.assertEqual((status, err), (0, ""), words)
            self.assertLess(took, patience(most))
            status, _, err, took = ask(f"{name},{nobody}", *words)
            self.assertEqual(status, 69)
            self.assertIn(f"{name}: no name server answers; {nobody}: Connection refused", err)
            self.assertLess(took, patience(most + 1))
        status, _, err, took = ask(name, "run", "-w", "1", "x", "true")
        self.assertEqual((status, err), (69, f"lockbroker: x: no broker answers: {name}: no name "
                                         "server answers\n"))
        self.assertLess(took, patience(2))

    def test_a_grace_that_the_broker_does_not_grant(self):
        self.broker(self.server, name="b2", trust_new=True, lease=self.lease,
                    locks={"max_grace": 0})
        net = Proxy(f"127.0.0.1:{self.brokers[1].port}")
        self.addCleanup(net.stop)
        child = self.start("run", "-v", "--grace", "5s", "x", "--", "sh", "-c",
                           "echo up; exec sleep 60", address=net.address)
        child.stdout.readline()
        let_time_pass(1)
        net.cut()
        status, _, err = self.end(child)
        self.assertEqual(status, 123)
        self.assertNotIn("connecting again", err)

    def test_a_grace_for_which_there_is_no_place(self):
        self.broker(self.server, name="b2", trust_new=True, lease=self.lease,
                    limits={"clients": 2})
        for number in range(2):
            client = self.client(self.brokers[1])
            client.ok("SESSION grace=1m")
            client.lock(f"away-{number}")
            client.close()
        status, out, err = self.run_it("run", "--grace", "5s", "x", "--", "sh", "-c",
                                       "sleep 0.5; echo ran", address=f"127.0.0.1:{self.brokers[1].port}")
        self.assertEqual((status, out), (0, "ran\n"))
        self.assertIn("continuing without --grace: limit", err)

    def test_a_hold_that_is_too_short(self):
        self.assertEqual(self.run_it("run", "--hold", "99ms", "x", "true")[0], 64)
        self.assertEqual(self.run_it("run", "--hold", "1", "x", "true")[0], 0)
