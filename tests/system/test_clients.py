"""Clients that die, vanish, flood, or never read; and clients that come in too great a number."""

import ctypes
import fcntl
import os
import resource
import shutil
import signal
import socket
import statistics
import struct
import subprocess
import sys
import unittest

from lib.case import SystemTest
from lib.client import Client, fork_client
from lib.wait import eventually, hang, let_time_pass, now, parse_ms, patience


class Endings(SystemTest):
    """Promise P4: what a session holds is released when its connection ends, at once."""

    def setUp(self):
        super().setUp()
        self.server = self.redis()
        self.broker(self.server, trust_new=True)
        self.control = self.client()

    def waiters(self, name):
        return int(self.control.ok(f"STATUS {name}")["waiters"])

    def await_waiters(self, name, count):
        eventually(lambda: self.waiters(name) == count, 5, f"{count} wait for {name}")

    def victim(self, *requests, tcp=False):
        broker = self.brokers[0]
        address = ("127.0.0.1", broker.port) if tcp else broker.unix_path
        pid = fork_client(address, requests)
        self.addCleanup(self.bury, pid)
        return pid

    @staticmethod
    def bury(pid):
        try:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass

    def test_a_killed_holder_releases(self):
        for tcp in (False, True):
            with self.subTest(tcp=tcp):
                pid = self.victim("LOCK x", tcp=tcp)
                eventually(lambda: self.control.ok("STATUS x")["state"] == "held")
                first = int(self.control.ok("STATUS x")["fence"])
                waiter = self.client()
                waiter.send("LOCK x")
                self.await_waiters("x", 1)
                start = now()
                self.bury(pid)
                self.assertGreater(waiter.reply().fence, first)
                self.assertLess(now() - start, patience(0.5))
                waiter.ok("UNLOCK x")

    def test_a_killed_holder_leaves_nothing_in_redis(self):
        pid = self.victim("LOCK x", "LOCK y")
        eventually(lambda: self.server.get("x") and self.server.get("y"))
        self.bury(pid)
        eventually(lambda: self.server.keys("lock:[xy]") == [], 2, "released in Redis")

    def test_a_killed_waiter_leaves_its_queue(self):
        holder = self.client()
        holder.lock("x")
        for tcp in (False, True):
            with self.subTest(tcp=tcp):
                pid = self.victim("LOCK x", "PING", "PING", tcp=tcp)
                self.await_waiters("x", 1)
                start = now()
                self.bury(pid)
                self.await_waiters("x", 0)
                self.assertLess(now() - start, patience(0.5))

    def test_a_waiter_that_ends_behind_much_unread_leaves_its_queue(self):
        """A little is in the broker's own buffer; 140 KB are more than that can hold."""
        holder = self.client()
        holder.lock("x")
        for count in (1000, 20000):
            for end, tcp in (("close", True), ("reset", True), ("shut", True),
                             ("close", False), ("shut", False)):
                with self.subTest(end=end, tcp=tcp, count=count):
                    waiter = self.client(tcp=tcp)
                    waiter.send("LOCK x")
                    self.await_waiters("x", 1)
                    waiter.sock.sendall(b"PING a\n" * count)
                    getattr(waiter, end)()
                    start = now()
                    self.await_waiters("x", 0)
                    self.assertLess(now() - start, patience(1))
        self.assertEqual(self.control.stats()["locks_held"], "1")

    def test_the_end_of_one_waiter_passes_nothing_on(self):
        holder, gone, last = self.clients(3)
        holder.lock("x")
        gone.send("LOCK x")
        self.await_waiters("x", 1)
        last.send("LOCK x")
        self.await_waiters("x", 2)
        gone.close()
        self.await_waiters("x", 1)
        self.assertTrue(last.silent())
        holder.ok("UNLOCK x")
        self.assertTrue(last.reply().ok)

    def test_everything_of_a_session_ends_together(self):
        holder, other = self.clients(2)
        other.lock("wanted")
        names = [f"many-{i}" for i in range(200)]
        holder.send(*[f"LOCK {name}" for name in names])
        for _ in names:
            self.assertTrue(holder.reply().ok)
        holder.send("@1 LOCK wanted")
        self.await_waiters("wanted", 1)
        holder.close()
        self.await_waiters("wanted", 0)
        eventually(lambda: self.control.stats()["locks_held"] == "1")
        eventually(lambda: self.server.keys("lock:many-*") == [], 2, "released in Redis")

    def test_nc_half_closes(self):
        program = shutil.which("nc")
        if not program:
            self.skipTest("nc is not installed")
        done = subprocess.run([program, "-N", "127.0.0.1", str(self.brokers[0].port)],
                              input=b"LOCK a\nSTATUS a\n", stdout=subprocess.PIPE, timeout=hang(),
                              check=True)
        first, second = done.stdout.decode().split("\r\n")[:2]
        self.assertRegex(first, r"^OK .*depth=1")
        self.assertRegex(second, r"^OK state=held")
        self.assertEqual(self.control.ok("STATUS a")["state"], "free")

    def test_peer_is_watched_on_tcp(self):
        """limits.unreachable: keepalive probes run on an idle connection, and early enough."""
        program = shutil.which("ss")
        if not program:
            self.skipTest("ss is not installed")
        client = self.client(tcp=True)
        client.ok("PING")
        port = self.brokers[0].port
        client_port = client.sock.getsockname()[1]

        def shown():
            """Another timer runs until everything is acknowledged."""
            text = subprocess.run([program, "-tnoH", "state", "established",
                                   f"( sport = :{port} and dport = :{client_port} )"],
                                  stdout=subprocess.PIPE, text=True, check=True).stdout
            self.assertRegex(text, r"timer:\(keepalive,")
            return text
        left = eventually(shown).split("timer:(keepalive,", 1)[1].split(",", 1)[0]
        self.assertRegex(left, r"^[0-9.]+(sec|ms)$", "the first probe comes within seconds")
        if left.endswith("sec"):
            self.assertLess(float(left[:-3]), 30)


class Promised(SystemTest):
    """A session that was told a `valid=` over TCP and then broke: its holds pass on only when that
    time is over (lockbroker-protocol(7), "End of stream")."""

    def ends(self, how, tcp=True, ping=True):
        """The valid= of a PING, and how long after it the lock of a session passes on that ends
        so."""
        holder, waiter = self.client(tcp=tcp), self.client()
        fence = holder.lock("x")
        waiter.send("LOCK x")
        eventually(lambda: holder.ok("STATUS x")["waiters"] == "1")
        asked = now()
        valid = parse_ms(holder.ok("PING")["valid"]) / 1000 if ping else 0
        how(holder)
        grant = waiter.reply(10)
        self.assertGreater(grant.fence, fence)
        waiter.ok("UNLOCK x")
        return grant.at - asked, valid

    def prepare(self):
        self.broker(lease=2)

    def test_a_reset_waits_for_it(self):
        self.prepare()
        took, valid = self.ends(lambda client: client.reset())
        self.assertGreater(valid, 0.5)
        self.assert_within(valid - 0.02, took, patience(valid + 0.5))

    def test_an_orderly_end_does_not(self):
        self.prepare()
        for how in (lambda client: client.shut(), lambda client: client.close(),
                    lambda client: client.ok("QUIT")):
            took, _ = self.ends(how)
            self.assertLess(took, patience(0.5))

    def test_a_reset_without_it_does_not(self):
        self.prepare()
        took, _ = self.ends(lambda client: client.reset(), ping=False)
        self.assertLess(took, patience(0.5))

    def behind_proxies(self):
        broker = self.broker(start=False, lease=2)
        broker.settings["listen"][1]["proxied"] = True
        broker.start().wait_granting()

    def test_a_close_waits_for_it_where_a_proxy_may_close(self):
        self.behind_proxies()
        for how in (lambda client: client.close(), lambda client: client.shut()):
            took, valid = self.ends(how)
            self.assertGreater(valid, 0.5)
            self.assert_within(valid - 0.02, took, patience(valid + 0.5))

    def test_a_close_without_it_does_not_even_there(self):
        self.behind_proxies()
        took, _ = self.ends(lambda client: client.close(), ping=False)
        self.assertLess(took, patience(0.5))

    def test_quit_does_not_even_there(self):
        self.behind_proxies()
        took, _ = self.ends(lambda client: client.ok("QUIT"))
        self.assertLess(took, patience(0.5))

    def test_a_unix_socket_does_not_even_there(self):
        self.behind_proxies()
        took, _ = self.ends(lambda client: client.close(), tcp=False)
        self.assertLess(took, patience(0.5))

    def test_a_unix_socket_does_not(self):
        self.prepare()
        took, _ = self.ends(lambda client: client.close(), tcp=False)
        self.assertLess(took, patience(0.5))


_NEWNET = 0x40000000
_LIBC = ctypes.CDLL(None, use_errno=True)


def _set_loopback(up):
    """Set this network namespace's loopback device up, or down."""
    with socket.socket() as sock:
        fcntl.ioctl(sock, 0x8914, struct.pack("16sh14x", b"lo", 1 if up else 0))


class Vanished(SystemTest):
    """limits.unreachable: a host that vanishes without a word. The broker runs in a network of
    its own, whose loopback device is taken down."""

    def setUp(self):
        super().setUp()
        if os.geteuid() != 0 or not hasattr(_LIBC, "setns"):
            self.skipTest("needs to be root")
        self.server = self.redis()
        broker = self.broker(self.server, start=False, trust_new=True,
                             limits={"unreachable": "3s"})
        broker.start(preexec=self._own_network)
        self.own = os.open("/proc/self/ns/net", os.O_RDONLY)
        self.addCleanup(os.close, self.own)
        self.theirs = os.open(f"/proc/{broker.pid}/ns/net", os.O_RDONLY)
        self.addCleanup(os.close, self.theirs)

    @staticmethod
    def _own_network():
        if _LIBC.unshare(_NEWNET) == 0:
            _set_loopback(True)

    def in_their_network(self, action):
        if _LIBC.setns(self.theirs, _NEWNET) != 0:
            self.skipTest("no network namespaces here")
        try:
            return action()
        finally:
            _LIBC.setns(self.own, _NEWNET)

    def vanish(self, *requests):
        port = self.brokers[0].port
        holder = self.in_their_network(lambda: self.client(tcp=True))
        self.assertGreater(port, 0)
        holder.lock("x")
        waiter = self.client()
        waiter.send("LOCK x")
        for request in requests:
            holder.send(request)
        start = now()
        self.in_their_network(lambda: _set_loopback(False))
        self.assertTrue(waiter.reply(10).ok)
        return now() - start

    def test_while_it_is_idle(self):
        self.assert_within(1, self.vanish(), patience(4.5))

    def test_while_it_is_sent_something(self):
        blocker = self.client()
        blocker.lock("y")
        self.assert_within(1, self.vanish("@1 LOCK y wait=500ms"), patience(4.5))


class Crowds(SystemTest):
    """Promise P7: bounds, and fairness among clients."""

    def test_a_flood_does_not_delay_others(self):
        broker = self.broker()
        quiet = self.client()
        flooder = subprocess.Popen(
            [sys.executable, "-c",
             "import socket, threading, sys\n"
             "s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])\n"
             "def drain():\n"
             "    while s.recv(1 << 16): pass\n"
             "threading.Thread(target=drain, daemon=True).start()\n"
             "while True: s.sendall(b'PING\\n' * 2000)\n", broker.unix_path],
            stderr=subprocess.DEVNULL)
        self.addCleanup(flooder.wait)
        self.addCleanup(flooder.kill)
        before = broker.process.cpu_seconds()
        eventually(lambda: broker.process.cpu_seconds() > before + 0.2, 10, "the flood runs")
        times = []
        for _ in range(200):
            start = now()
            quiet.ok("PING")
            times.append(now() - start)
        self.assertIsNone(flooder.poll(), "the flooding client was not served")
        self.assertLess(statistics.median(times), patience(0.02))
        self.assertLess(sorted(times)[190], patience(0.1))

    def test_a_client_that_never_reads_is_dropped(self):
        broker = self.broker(limits={"output": "64KB"})
        holder, other, deaf = self.client(), self.client(), self.client(receive_buffer=4096)
        names = [f"{i:04d}-{'n' * 200}" for i in range(3000)]
        holder.send(*[f"LOCK {name}" for name in names])
        for _ in names:
            self.assertTrue(holder.reply().ok)
        deaf.lock("deaf")
        before = broker.process.rss_bytes()
        deaf.sock.sendall(b"NAMES limit=3000\n" * 10)
        # What it held is free again, although it never closed.
        other.lock("deaf", timeout=5)
        eventually(lambda: other.stats()["clients"] == "2", 5, "the deaf client is gone")
        self.assertLess(broker.process.rss_bytes() - before, 20 << 20)
        other.ok("PING")

    def test_output_that_is_read_is_no_fault(self):
        self.broker(limits={"output": "64KB"})
        client = self.client()
        client.send(*["HELP"] * 2000)
        for _ in range(2000):
            self.assertTrue(client.reply().ok)

    def test_a_flood_of_replies_that_nobody_reads_is_bounded(self):
        broker = self.broker(limits={"output": "64KB"})
        other = self.client()
        deaf = self.client()
        deaf.sock.setblocking(False)
        before = broker.process.rss_bytes()
        sent, begin, idle_since = 0, now(), now()
        # Either the broker drops the client, or it stops reading: both bound the memory.
        while now() - idle_since < 0.5 and sent < 64 << 20 and now() - begin < 10:
            try:
                sent += deaf.sock.send(b"HELP\n" * 1000)
                idle_since = now()
            except BlockingIOError:
                let_time_pass(0.01)
            except OSError:
                break
        self.assertLess(sent, 64 << 20, "the broker read on and on")
        self.assertLess(broker.process.rss_bytes() - before, 20 << 20)
        start = now()
        other.ok("PING")
        self.assertLess(now() - start, patience(0.5))

    def test_an_endless_line_is_bounded(self):
        broker = self.broker()
        client = self.client()
        before = broker.process.rss_bytes()
        with self.assertRaises((OSError, AssertionError)):
            for _ in range(1000):
                client.send_raw(b"x" * 65536)
                if client.eof:
                    raise OSError("closed")
        self.assertLess(broker.process.rss_bytes() - before, 10 << 20)
        self.client().ok("PING")

    def test_too_many_clients(self):
        self.broker(limits={"clients": 5})
        clients = self.clients(5)
        for client in clients:
            client.ok("PING")
        surplus = self.client()
        surplus.expect_eof()
        for line in surplus.lines:
            self.assertEqual(line.code, "limit")
        for client in clients:
            client.ok("PING")
        clients[0].close()

        def is_let_in():
            client = self.client()
            return client.ok("PING")
        eventually(is_let_in, 5, "a place is free again")

    def test_used_up_descriptors_stall_nothing(self):
        server = self.redis()
        broker = self.broker(server, trust_new=True)
        holder = self.client()
        holder.lock("x")
        room = broker.process.open_fds() + 5
        limits = resource.prlimit(broker.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(broker.pid, resource.RLIMIT_NOFILE, (room, limits[1]))
        crowd = []
        for _ in range(20):
            client = Client(broker.unix_path)
            self.addCleanup(client.close)
            crowd.append(client)
            try:
                client.send("PING")
            except OSError:
                pass
        eventually(lambda: broker.process.open_fds() >= room - 2, 5, "descriptors used up")
        cpu, start = broker.process.cpu_seconds(), now()
        while now() - start < 1.0:
            holder.ok("PING")
            let_time_pass(0.05)
        self.assertLess(broker.process.cpu_seconds() - cpu, 0.3, "it spins")
        holder.lock("y")
        holder.ok("UNLOCK x")
        self.assertIsNone(server.get("x"))
        for client in crowd:
            client.close()
        eventually(lambda: self.client().ok("PING"), 5, "new clients come in again")
        resource.prlimit(broker.pid, resource.RLIMIT_NOFILE, limits)

    def test_a_flood_leaves_descriptors_for_redis(self):
        """Clients beyond the limit are refused before they use up what is kept for others."""
        ours = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, ours)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(2048, ours[1]), ours[1]))
        server = self.redis()
        broker = self.broker(server, start=False, redis={"trust_new": True})
        broker.start(preexec=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (400, 400)))
        holder = self.client()
        holder.lock("x", timeout=15)
        told = broker.log_lines("descriptors-few")[0]
        clients = [Client(broker.unix_path) for _ in range(int(told.rsplit("=", 1)[1]) - 1)]
        flood = []
        for client in clients:
            self.addCleanup(client.close)
            client.ok("PING")
        most = 0
        for _ in range(4):
            for _ in range(100):
                flood.append(Client(broker.unix_path))
                self.addCleanup(flood[-1].close)
            holder.ok("PING")
            most = max(most, broker.process.open_fds())
        for client in flood:
            self.assertEqual(client.reply().code, "limit")
        self.assertEqual(broker.log_lines("descriptors-exhausted"), [])
        self.assertLess(most, 400 - 8)

    def test_a_client_that_says_nothing_is_dropped_where_asked(self):
        self.broker(limits={"first_line": "1s"})
        start = now()
        mute, partial, speaker = self.clients(3)
        speaker.ok("PING")
        partial.send_raw(b"PIN")
        mute.expect_eof()
        partial.expect_eof()
        self.assert_within(1, now() - start, patience(2.5))
        speaker.ok("PING")
        self.assertTrue(speaker.silent(0.5))

    def test_many_idle_clients(self):
        broker = self.broker()
        resource_limit = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, resource_limit[1]),
                                                    resource_limit[1]))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, resource_limit)
        idle = [Client(broker.unix_path) for _ in range(1000)]
        for client in idle:
            self.addCleanup(client.close)
        for client in idle:
            client.ok("PING")
        control = self.client()
        self.assertEqual(control.stats()["clients"], "1001")
        for client in idle:
            client.close()
        eventually(lambda: control.stats()["clients"] == "1", 5)

    def test_many_waiters_are_served_in_turn(self):
        self.broker()
        control, *ring = self.clients(21)
        fence = ring[0].lock("x")
        for number, waiter in enumerate(ring[1:], 1):
            waiter.send("LOCK x")
            eventually(lambda: control.ok("STATUS x")["waiters"] == str(number))
        for number in range(200):
            holder, heir = ring[number % 20], ring[(number + 1) % 20]
            # It queues again behind the others, in the same write.
            holder.send("UNLOCK x", "LOCK x")
            self.assertEqual(holder.reply()["depth"], "0")
            grant = heir.reply()
            self.assertGreater(grant.fence, fence)
            fence = grant.fence


class Transport(SystemTest):
    """TCP and Unix sockets side by side."""

    def test_the_socket_has_its_mode(self):
        broker = self.broker(start=False)
        broker.settings["listen"] = [{"unix": broker.unix_path, "mode": "0600"}]
        broker.start()
        self.assertEqual(os.stat(broker.unix_path).st_mode & 0o777, 0o600)
        self.assertEqual(broker.process.listening_ports(), [])

    def test_the_default_mode(self):
        broker = self.broker()
        self.assertEqual(os.stat(broker.unix_path).st_mode & 0o777, 0o660)

    def test_a_stale_socket_is_replaced_a_live_one_is_not(self):
        broker = self.broker()
        second = self.broker(start=False)
        second.settings["listen"] = [{"unix": broker.unix_path}]
        second.expected_status = 1
        second.spawn()
        self.assertEqual(second.process.wait(), 1)
        self.client(broker).ok("PING")
        broker.kill()
        self.assertTrue(os.path.exists(broker.unix_path))
        third = self.broker(start=False)
        third.settings["listen"] = [{"unix": broker.unix_path}]
        third.unix_path = broker.unix_path
        third.start()
        self.client(third).ok("PING")

    def test_the_socket_is_removed_at_the_end(self):
        broker = self.broker()
        broker.stop()
        self.assertFalse(os.path.exists(broker.unix_path))

    def test_port_0_is_logged(self):
        broker = self.broker()
        eventually(lambda: broker.log_lines(rf"127\.0\.0\.1:{broker.port}\b"), 5)

    def test_ipv6(self):
        try:
            with socket.socket(socket.AF_INET6) as probe:
                probe.bind(("::1", 0))
        except OSError:
            raise unittest.SkipTest("no IPv6 here") from None
        broker = self.broker(start=False)
        broker.settings["listen"] = [{"unix": broker.unix_path}, {"tcp": "[::1]:0"}]
        broker.start()
        with socket.create_connection(("::1", broker.port), 5) as sock:
            sock.sendall(b"PING\n")
            self.assertEqual(sock.recv(100), b"OK\r\n")
