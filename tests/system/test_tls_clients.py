"""Clients over TLS: everything promised over TCP holds, and certificates are checked."""

import contextlib
import os
import random
import re
import resource
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import threading
import time

from lib.broker import find_program
from lib.net import established
from lib.ports import free_port
from lib.proc import rss_bytes
from lib.tls_client import TlsClient, context
from lib.wait import eventually, now, parse_ms, patience
from test_floods import is_sanitized
from test_tls import TlsTest
from test_users import HASH, RIGHTS, SECRET, Users


class ClientsTest(TlsTest):
    limit = 40

    def setUp(self):
        super().setUp()
        self.port = free_port()

    def tls_broker(self, server=None, options=None, more=(), **settings):
        """A broker with a plain port, a Unix socket, and a port for TLS."""
        place = {"tls": f"0.0.0.0:{self.port}", "certificate": self.file("server.crt"),
                 "key": self.file("server.key"), **(options or {})}
        directory = os.path.join(self.directory, "b1")
        listen = [{"unix": os.path.join(directory, "s")}, {"tcp": "127.0.0.1:0"}, place, *more]
        return self.broker(server, listen=listen, **settings)

    def broker_by_certificate(self):
        """One where whoever shows client.crt may lock a*, and nobody else anything."""
        return self.tls_broker(
            options={"client_ca": self.file("ca.crt"), "verify": "optional"}, ready=False,
            auth={"users": [{"name": "deploy", "certificate": ["CN=client"], "lock": ["a*"]}]})

    def tls(self, certificate=None, authority="ca", version=None, **options):
        how = context(authority and self.file(authority),
                      certificate and self.file(certificate), version)
        client = TlsClient(self.port, how, **options)
        self.addCleanup(client.close)
        return client

    def connect(self):
        sock = socket.create_connection(("127.0.0.1", self.port), timeout=20)
        self.addCleanup(sock.close)
        return sock

    def tls_pid(self, broker):
        """A number about the process that speaks TLS."""
        for pid in broker.process.children():
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if b"lockbroker-tls" in file.read():
                    return pid
        raise AssertionError("no lockbroker-tls runs")

    def hello(self, version=None):
        """The first message of a client."""
        hello = ssl.MemoryBIO()
        shaker = context(version=version).wrap_bio(ssl.MemoryBIO(), hello)
        with self.assertRaises(ssl.SSLWantReadError):
            shaker.do_handshake()
        return hello.read()

    def room_for(self, count):
        """So many descriptors for this process, or the test is skipped."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard != resource.RLIM_INFINITY and hard < count:
            self.skipTest(f"{count} descriptors are needed, and ulimit -Hn is {hard}")
        resource.setrlimit(resource.RLIMIT_NOFILE, (count, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))


class Clients(ClientsTest):
    def test_locks(self):
        self.tls_broker()
        a, b = self.tls(), self.tls(version=ssl.TLSVersion.TLSv1_2)
        fence = a.lock("x")
        b.send("LOCK x")
        eventually(lambda: self.client().ok("STATUS x")["waiters"] == "1")
        a.ok("UNLOCK x")
        self.assertGreater(b.reply().fence, fence)
        self.assertRegex(self.client().ok("QUEUE x").body[0], r" peer=127\.0\.0\.1:\d+ ")
        self.assertEqual(self.client().stats()["tls_handshakes_total"], "2")

    def test_many_lines_at_once(self):
        self.tls_broker()
        a = self.tls()
        names = [f"{number:05}" + "n" * 200 for number in range(2000)]
        a.send(*[f"LOCK {name}" for name in names])
        for _ in names:
            self.assertTrue(a.reply(20).ok)
        self.assertEqual(len(a.ok("LIST", timeout=20).body), len(names))

    def test_clients_of_redis(self):
        self.tls_broker()
        client = self.tls()
        sock, expected, got = client.sock, b"+PONG\r\n$1\r\nx\r\n", b""
        sock.sendall(b"*1\r\n$4\r\nPING\r\n*2\r\n$4\r\nECHO\r\n$1\r\nx\r\n")
        while len(got) < len(expected):
            more = sock.recv(1024)
            self.assertTrue(more, got)
            got += more
        self.assertEqual(got, expected)

    def test_what_is_sent_before_the_end_is_answered(self):
        self.tls_broker()
        a = self.tls()
        a.send("LOCK a", "STATUS a")
        a.shut()
        self.assertTrue(a.reply().ok)
        self.assertEqual(a.reply()["state"], "held")
        a.expect_eof()
        b = self.tls()
        b.send("LATCH l count=2", "COUNTDOWN l")
        b.close()
        eventually(lambda: self.client().ok("STATUS l kind=latch")["count"] == "1")

    def test_a_waiting_client_that_ends_leaves_the_queue(self):
        """By a close_notify, by a bare FIN, by a reset, and after lines that nobody reads."""
        self.tls_broker()
        watcher = self.client()
        self.client().lock("x")
        for how in (TlsClient.end, TlsClient.close, TlsClient.reset):
            for behind in (0, 100, 5000):
                a = self.tls()
                a.send("LOCK x")
                eventually(lambda: watcher.ok("STATUS x")["waiters"] == "1")
                if behind:
                    a.sock.settimeout(0.3)
                    try:
                        for _ in range(behind // 100):
                            a.sock.sendall(b"STATUS x\n" * 100)
                    except (TimeoutError, ssl.SSLError):
                        pass
                how(a)
                eventually(lambda: watcher.ok("STATUS x")["waiters"] == "0", 5,
                           f"{how.__name__} behind {behind}")

    def ends(self, how):
        """The valid= of a PING, and how long after it the lock of a client passes on that ends
        so."""
        holder, other = self.tls(), self.client()
        holder.lock("v")
        asked = now()
        valid = parse_ms(holder.ok("PING")["valid"]) / 1000
        other.send("LOCK v")
        how(holder)
        grant = other.reply(20)
        other.ok("UNLOCK v")
        return grant.at - asked, valid

    def test_only_an_end_that_was_signed_is_orderly(self):
        """Nothing that anybody in the network can cause takes a lock from a client that was told
        valid=."""
        self.tls_broker(lease=2)
        took, valid = self.ends(TlsClient.end)
        self.assertLess(took, patience(valid / 2))
        for how in (TlsClient.close, TlsClient.reset):
            took, valid = self.ends(how)
            self.assertGreater(valid, 0.5)
            self.assert_within(valid - 0.02, took, patience(valid + 0.5))

    def test_limits(self):
        broker = self.tls_broker(limits={"clients": 2, "first_line": "500ms"}, ready=False)
        a = self.tls()
        eventually(lambda: a.stats()["clients"] == "1")
        silent = self.tls()
        third = self.tls()
        self.assertEqual(third.reply().code, "limit")
        third.expect_eof()
        silent.expect_eof()
        eventually(lambda: broker.log_lines("clients-exhausted"))

    def test_how_long_a_vanished_host_is_waited_for(self):
        broker = self.tls_broker(limits={"unreachable": "30s"})
        client = self.tls()
        client.ok("PING")
        program = shutil.which("ss")
        if not program:
            self.skipTest("ss is not installed")
        port = client.sock.getsockname()[1]

        def timer():
            """Seconds to the kernel's next probe, at the broker's side of the connection."""
            done = subprocess.run(
                [program, "-tnoH", f"( sport = :{self.port} and dport = :{port} )"],
                capture_output=True, text=True, check=True)
            # 12sec, 9.960sec, 960ms; 9.960ms of an older ss is 9.96 s, too.
            found = re.search(r"keepalive,([\d.]+)(sec|ms),", done.stdout)
            self.assertTrue(found, done.stdout)
            return float(found[1]) / (1000 if found[2] == "ms" and "." not in found[1] else 1)

        eventually(lambda: 5 < timer() <= 10.1)
        broker.write_config({"limits": {"unreachable": "9s"}})
        broker.signal(signal.SIGHUP)
        eventually(lambda: timer() <= 3.1, 4)

    def test_a_slow_reader_is_dropped(self):
        broker = self.tls_broker(limits={"output": "64KB"})
        slow, other = self.tls(receive_buffer=4096), self.client()
        slow.send(*[f"@{n} LOCK n{n}" for n in range(200)])
        for number in range(200):
            self.assertTrue(slow.reply(tag=str(number)).ok)
        slow.sock.setblocking(False)
        end = now() + 20
        while not broker.log_lines("client-too-slow") and now() < end:
            try:
                slow.sock.send(b"LIST\n" * 100)
            except ssl.SSLError:
                time.sleep(0.02)
            except OSError:
                break
            other.ok("PING")
        eventually(lambda: other.ok("STATUS n0")["state"] == "free", 15)

    def test_an_end_of_the_broker_is_told(self):
        broker = self.tls_broker()
        a = self.tls()
        a.lock("x")
        broker.signal(signal.SIGTERM)
        a.event(kind="SHUTDOWN")
        a.expect_eof()

    def test_the_process_dies(self):
        """Its clients are reset; their sessions can be resumed over TLS when it is back."""
        broker = self.tls_broker()
        a = self.tls()
        key = a.ok("SESSION grace=1m")["key"]
        fence = a.lock("x")
        before = self.tls_pid(broker)
        os.kill(before, signal.SIGKILL)
        a.expect_eof()
        back = eventually(self.tls)
        self.assertNotEqual(self.tls_pid(broker), before)
        self.assertEqual(back.ok(f"RESUME key={key}")["locks"], "1")
        self.assertEqual(back.ok("STATUS x")["fence"], str(fence))
        self.assertTrue(broker.log_lines("tls-process-died .*signal 9"))
        self.assertEqual(back.stats()["tls_restarts_total"], "1")

    def test_the_process_dies_with_the_broker(self):
        broker = self.tls_broker()
        pid = self.tls_pid(broker)
        broker.kill()
        eventually(lambda: not os.path.exists(f"/proc/{pid}")
                   or "Z" in open(f"/proc/{pid}/stat", encoding="ascii").read().split(")")[1][:3])


class Strangers(ClientsTest, Users):
    """Clients that speak something else, or show the wrong certificate."""

    def refused(self, broker, reason, **options):
        with self.assertRaises((ssl.SSLError, OSError, AssertionError)):
            self.tls(**options).ok("PING")
        eventually(lambda: broker.log_lines(f"tls-handshake-failed peer=127.0.0.1:.*{reason}"),
                   10, reason)

    def test_certificates_of_clients(self):
        other = type(self.ca)(self.directory, "stranger")
        other.issue("foreign")
        self.ca.issue("old", expired=True)
        broker = self.tls_broker(options={"client_ca": self.file("ca.crt"), "verify": "require"},
                                 log={"level": "debug"})
        self.tls("client").ok("PING")
        eventually(lambda: broker.log_lines('tls-client .*name="CN=client"'))
        self.refused(broker, "it sends no certificate")
        self.refused(broker, "not signed by a CA in client_ca", certificate="foreign")
        self.refused(broker, "the client's certificate expired at", certificate="old")
        eventually(lambda: self.client().stats()["tls_failed_total"] == "3")

    def test_a_certificate_that_may_be_missing(self):
        broker = self.tls_broker(options={"client_ca": self.file("ca.crt"),
                                          "verify": "optional"})
        self.tls().ok("PING")
        self.tls("client").ok("PING")
        type(self.ca)(self.directory, "stranger").issue("foreign")
        self.refused(broker, "not signed by a CA in client_ca", certificate="foreign")

    def test_users_by_their_certificates(self):
        self.ca.issue("other", names=["DNS:other.example.org", "URI:spiffe://x/other"])
        self.ca.issue("third", subject="/O=lb/CN=third", names=["DNS:third.example.org"])
        self.tls_broker(options={"client_ca": self.file("ca.crt"), "verify": "optional"}, auth={
            "users": [{"name": "deploy", "certificate": ["CN=client"], "lock": ["a*"]},
                      {"name": "other", "certificate": ["URI:spiffe://x/other"],
                       "lock": ["b*"]}]}, ready=False)
        client = self.tls("client")
        self.assertEqual(client.ok("WHOAMI").text, "OK user=deploy via=certificate")
        client.lock("a1")
        client.err("LOCK b1", "denied")
        other = self.tls("other")
        self.assertEqual(other.ok("WHOAMI")["user"], "other")
        other.err("LOCK a1", "denied")
        for nobody in (self.tls(), self.tls("third")):
            nobody.err("LOCK a1", "auth")

    def test_rights_by_certificate(self):
        """The whole table, as test_users has it for the other ways to be a user."""
        self.tls_broker(options={"client_ca": self.file("ca.crt"), "verify": "require"}, auth={
            "users": [{"name": "deploy", "certificate": ["DNS:client.example.org"],
                       **RIGHTS, "lock": ["mine/*", "free"]}]}, ready=False)
        client = self.tls("client")
        eventually(lambda: client.ask("READY").ok)
        self.check_table(client)

    def test_a_comma_in_a_name_is_none_between_two(self):
        """Whoever may choose a CN does not choose the rest of the subject with it."""
        self.ca.issue("real", subject="/O=lb/CN=deploy", names=[])
        self.ca.issue("forged", subject="/CN=deploy,O=lb", names=[])
        self.tls_broker(options={"client_ca": self.file("ca.crt"), "verify": "require"}, auth={
            "users": [{"name": "deploy", "certificate": ["CN=deploy,O=lb"]},
                      {"name": "odd", "certificate": ["CN=deploy\\,O=lb"]}]}, ready=False)
        self.assertEqual(self.tls("real").ok("WHOAMI")["user"], "deploy")
        self.assertEqual(self.tls("forged").ok("WHOAMI")["user"], "odd")

    def test_versions(self):
        broker = self.tls_broker(options={"min_version": "1.3"})
        self.tls().ok("PING")
        self.refused(broker, "TLS version", version=ssl.TLSVersion.TLSv1_2)

    def test_plain_text_and_nonsense(self):
        broker = self.tls_broker()
        plain = self.connect()
        plain.sendall(b"LOCK x\n")
        self.assertIn(b"ERR bad-request this port speaks TLS", plain.recv(100))
        eventually(lambda: broker.log_lines("tls-handshake-failed .*speaks plain text"))
        for data in (b"\x16\x03\x01\x00\x05hello", b"\x16\x03\x01\xff\xffxx",
                     b"\x16\x03\x01\x02\x00\x01" + bytes(range(256)) * 2):
            sock = self.connect()
            sock.sendall(data)
            with contextlib.suppress(OSError):  # refused and closed by now
                sock.shutdown(socket.SHUT_WR)
            eventually(lambda s=sock: s.recv(1000) == b"")
        self.connect().close()
        self.tls().ok("PING")
        eventually(lambda: self.client().stats()["tls_failed_total"] == "4")

    def test_handshakes_cut_off(self):
        """At any point, by an end and by a reset: each is counted, and takes nothing with it."""
        self.tls_broker()
        held = self.tls()
        held.lock("x")
        cuts = 0
        for hello in (self.hello(), self.hello(ssl.TLSVersion.TLSv1_2)):
            for at in (1, 2, 3, 4, 5, 6, 9, 43, 44, len(hello) - 1, len(hello)):
                for end in (self.end_of, self.reset_of):
                    sock = self.connect()
                    sock.sendall(hello[:at])
                    end(sock)
                    cuts += 1
        self.tls().ok("PING")
        held.ok("UNLOCK x")
        eventually(lambda: int(self.client().stats()["tls_failed_total"]) == cuts, 15)

    @staticmethod
    def end_of(sock):
        sock.shutdown(socket.SHUT_WR)

    @staticmethod
    def reset_of(sock):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        sock.close()

    def test_garbage(self):
        """First messages with any content, and anything after a good one."""
        self.tls_broker()
        held = self.tls()
        held.lock("x")
        hello, dice = self.hello(), random.Random(7)
        record = b"\x16\x03\x01"
        garbage = [
            b"\x80\x2e\x01\x00\x02", b"\x15\x03\x01\x00\x02\x02\x28",
            b"\x17\x03\x03\x00\x05hello", record + b"\x00\x00", record + b"\x41\x01",
            record + b"\x00\x04\x01\xff\xff\xff", record + b"\x00\x04\x02\x00\x00\x00",
            hello + hello, hello + b"LOCK x\n", hello + bytes(1000),
            hello + b"\x14\x03\x03\x00\x01\x01" * 100, hello + b"\x15\x03\x03\x00\x02\x01\x00",
            hello + b"\x16\x03\x03\x40\x00" + bytes(16384),
            hello + b"\x17\x03\x03\x40\x00" + bytes(16384)]
        for _ in range(200):
            spoilt = bytearray(hello)
            for _ in range(dice.randint(1, 8)):
                spoilt[dice.randrange(5, len(spoilt))] = dice.randrange(256)
            garbage.append(bytes(spoilt))
        for data in garbage:
            sock = self.connect()
            try:
                sock.sendall(data)
                sock.shutdown(socket.SHUT_WR)
                while sock.recv(4096):
                    pass
            except OSError:
                pass
            sock.close()
        self.tls().ok("PING")
        held.ok("UNLOCK x")
        stats = self.client().stats()
        self.assertEqual(stats["tls_restarts_total"], "0")
        self.assertEqual(stats["tls_handshakes_total"], "2")

    def test_a_first_message_in_many_records(self):
        """That is TLS, too, however odd."""
        self.tls_broker()
        hello, sock = self.hello(), self.connect()
        for byte in hello[5:]:
            sock.sendall(b"\x16\x03\x01\x00\x01" + bytes([byte]))
        # The answer is a ServerHello.
        self.assertEqual(sock.recv(6)[::5], b"\x16\x02")

    def s_client(self, *options):
        """openssl s_client, which takes what it is to do from a pipe."""
        client = subprocess.Popen(
            ["openssl", "s_client", "-connect", f"127.0.0.1:{self.port}", "-CAfile",
             self.file("ca.crt"), *options],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.addCleanup(client.wait)
        self.addCleanup(client.stdout.close)
        self.addCleanup(client.kill)
        self.addCleanup(client.stdin.close)
        return client

    def lines_until(self, client, wanted):
        """What it prints, up to a line with this in it."""
        lines = b""
        while wanted not in lines:
            line = client.stdout.readline()
            self.assertTrue(line, f"it has ended: {lines[-500:]}")
            lines += line
        return lines

    def test_a_renegotiation_is_refused(self):
        """TLS 1.2 has it, and each costs the server more than the client."""
        self.tls_broker()
        held = self.tls()
        held.lock("x")
        client = self.s_client("-tls1_2")
        client.stdin.write(b"PING\n")
        client.stdin.flush()
        self.lines_until(client, b"OK\r\n")
        client.stdin.write(b"R\n")
        client.stdin.flush()
        said = self.lines_until(client, b"RENEGOTIATING") + client.stdout.read()
        self.assertIn(b"no renegotiation", said)
        self.assertNotEqual(client.wait(), 0)
        held.ok("UNLOCK x")
        self.assertEqual(self.client().stats()["tls_handshakes_total"], "2")

    def test_new_keys(self):
        """The equivalent of TLS 1.3 goes unnoticed."""
        self.tls_broker()
        client = self.s_client("-tls1_3")
        for keys in (b"K\n", b"k\n", b"K\n"):
            # A line that begins with the letter of a command is one of s_client's own.
            for command, answer in ((b"PING\n", b"OK\r\n"), (keys, b"KEYUPDATE"),
                                    (b"VERSION\n", b"OK version=")):
                client.stdin.write(command)
                client.stdin.flush()
                self.lines_until(client, answer)

    def test_tls_on_a_plain_port(self):
        broker = self.tls_broker()
        self.assertTrue(broker.log_lines(rf"listening address=\S+:{self.port} protocol=tls$"))
        self.port = broker.port
        with self.assertRaises((ssl.SSLError, OSError)):
            self.tls()
        eventually(lambda: broker.log_lines("tls-on-plain-port peer=127.0.0.1"))

    def test_handshakes_that_end_half_way(self):
        """10,000 of them harm nobody, and they are bounded."""
        self.room_for(10300)
        pid = self.tls_pid(self.tls_broker())
        held = self.tls()
        held.lock("x")
        hello = self.hello()
        half, before = contextlib.ExitStack(), rss_bytes(pid)
        self.addCleanup(half.close)
        for number in range(10000):
            sock = socket.create_connection(("127.0.0.1", self.port), timeout=20)
            half.enter_context(sock)
            # Nothing, a part of the first message, all of it.
            sock.sendall((b"", hello[:50], hello)[number % 3])
            if number % 1000 == 0:
                held.ok("PING", timeout=patience(2))
        self.tls().ok("PING", timeout=20)
        held.ok("STATUS x")
        eventually(lambda: established(self.port) < 1024 + 50)
        # 60 KB for each whose first message OpenSSL has seen; sanitizers keep 256 MB freed.
        self.assertLess(rss_bytes(pid) - before, (700 if is_sanitized() else 100) << 20)
        half.close()
        eventually(lambda: established(self.port) < 50, 20)
        self.assertGreater(int(self.client().stats()["tls_failed_total"]), 8000)

    def test_a_storm_of_handshakes(self):
        """50 clients lock and unlock while 1,000 others shake hands."""
        self.tls_broker()
        stop, worst, failed = threading.Event(), [], []
        clients = [self.tls() for _ in range(50)]

        def work(mine):
            slowest, turn = 0.0, 0
            try:
                while not stop.is_set():
                    client = mine[turn % len(mine)]
                    turn += 1
                    began = now()
                    client.lock(f"n{turn % len(mine)}")
                    client.ok(f"UNLOCK n{turn % len(mine)}")
                    slowest = max(slowest, now() - began)
                    time.sleep(0.01)
            except AssertionError as error:
                failed.append(error)
            worst.append(slowest)

        threads = [threading.Thread(target=work, args=(clients[at::5],)) for at in range(5)]
        for thread in threads:
            thread.start()
        begun, how = now(), context(self.file("ca"))
        storm = [TlsClient(self.port, how, timeout=20) for _ in range(1000)]
        for one in storm:
            one.ok("PING")
        took = now() - begun
        stop.set()
        for thread in threads:
            thread.join()
        for one in storm:
            one.close()
        self.assertEqual(failed, [])
        self.assertLess(max(worst), patience(2.0, begun), f"the storm took {took:.1f}s")


class Files(ClientsTest):
    """Certificates and keys: read at the start, read again, and kept where nobody looks."""

    def run_daemon(self, broker, *options):
        return subprocess.run([find_program(), *options, "-c", broker.config_path],
                              capture_output=True, text=True, check=False, timeout=30)

    def served(self):
        """The serial number of the certificate that is shown."""
        with contextlib.closing(self.tls()) as client:
            return client.sock.getpeercert()["serialNumber"]

    def test_new_certificates(self):
        broker = self.tls_broker()
        old, first = self.tls(), self.served()
        old.lock("x")
        self.ca.issue("server")
        broker.signal(signal.SIGHUP)
        second = eventually(lambda: self.served() != first and self.served())
        old.ok("UNLOCK x")
        with open(self.file("server.crt"), "w", encoding="ascii") as file:
            file.write("nothing of use\n")
        broker.signal(signal.SIGHUP)
        eventually(lambda: broker.log_lines("tls-reload-failed .*server.crt"))
        self.assertIn("reread=configuration,certificates", broker.log())
        self.assertEqual(self.served(), second)
        self.ca.issue("server", expired=True)
        broker.signal(signal.SIGHUP)
        eventually(lambda: broker.log_lines("tls-reload-failed .*has expired"))
        self.assertEqual(self.served(), second)
        left = int(old.stats()["tls_certificate_expiry_timestamp_seconds"]) - time.time()
        self.assert_within(86400, left, 2 * 86400 + 60)

    def test_what_can_not_be_used_stops_the_start(self):
        broker = self.tls_broker(start=False)
        with open(self.file("server.key"), "w", encoding="ascii") as file:
            file.write("nothing of use\n")
        broker.write_config()
        done = self.run_daemon(broker, "-t")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"listen: cannot use the key in .*server\.key")
        os.unlink(self.file("server.key"))
        done = self.run_daemon(broker, "-t")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"lockbrokerd.yaml:\d+:\d+: listen.key: .* cannot be read")
        self.ca.issue("server")
        self.ca.issue("client")
        os.rename(self.file("client.key"), self.file("server.key"))
        broker.spawn()
        broker.expected_status = 2
        self.assertEqual(broker.process.wait(), 2)
        self.assertIn("does not fit the key", broker.log())

    def test_files_that_systemd_hands_over(self):
        """LoadCredential= in the unit: anything secret may be in that directory."""
        credentials = os.path.join(self.directory, "credentials")
        os.mkdir(credentials, 0o700)
        for name in ("server.crt", "server.key", "ca.crt"):
            shutil.copy(self.file(name), credentials)
        self.put(credentials, "users", f"deploy:{HASH}\n")
        self.put(credentials, "redis", "redis-password\n")
        server = self.redis(requirepass="redis-password")
        within = "${CREDENTIALS_DIRECTORY}/"
        broker = self.tls_broker(
            server, start=False,
            options={"certificate": within + "server.crt", "key": within + "server.key",
                     "client_ca": within + "ca.crt", "verify": "optional"},
            redis={"password_file": within + "redis", "trust_new": True},
            auth={"users_file": within + "users", "users": [{"name": "deploy", "lock": ["*"]}]})
        broker.write_config()
        done = self.run_daemon(broker, "-t")
        self.assertEqual(done.returncode, 2)
        for key in ("listen.certificate", "redis.password_file", "auth"):
            self.assertRegex(done.stderr, f"(?m)^.*: {key}: .*CREDENTIALS_DIRECTORY is not set")
        broker.start(env={"CREDENTIALS_DIRECTORY": credentials})
        client = self.tls()
        client.ok(f"AUTH deploy {SECRET}")
        eventually(lambda: client.ask("LOCK x").ok)
        self.ca.issue("server")
        shutil.copy(self.file("server.crt"), credentials)
        shutil.copy(self.file("server.key"), credentials)
        first = self.served()
        broker.signal(signal.SIGHUP)
        eventually(lambda: self.served() != first)

    @staticmethod
    def put(directory, name, text):
        with open(os.path.join(directory, name), "w", encoding="ascii") as file:
            file.write(text)

    def test_the_key_stays_where_it_is(self):
        broker = self.tls_broker()
        self.tls().ok("PING")
        with open(self.file("server.key"), encoding="ascii") as file:
            key = "".join(file.read().splitlines()[1:-1])
        for options in (["-T"], ["-t"]):
            done = self.run_daemon(broker, *options)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn(key[:20], done.stdout + done.stderr)
        with open(f"/proc/{broker.pid}/maps", encoding="ascii") as maps:
            self.assertNotRegex(maps.read(), r"libssl|libcrypto")
        pid = self.tls_pid(broker)
        with open(f"/proc/{pid}/limits", encoding="ascii") as limits:
            self.assertRegex(limits.read(), r"Max core file size +0 +0 ")
        with open(f"/proc/{pid}/status", encoding="ascii") as status:
            self.assertRegex(status.read(), r"NoNewPrivs:\s+1")

    def test_a_dump_can_be_read_again(self):
        broker = self.tls_broker(options={"client_ca": self.file("ca.crt"), "verify": "optional",
                                          "min_version": "1.3"})
        first = self.run_daemon(broker, "-T").stdout
        with open(broker.config_path, "w", encoding="ascii") as file:
            file.write(first)
        self.assertEqual(self.run_daemon(broker, "-T").stdout, first)
        self.assertIn("verify: optional", first)


class Command(ClientsTest):
    """lockbroker(1) over TLS."""

    def run_command(self, *words, host="localhost", ca="ca"):
        trust = ["--ca", self.file(f"{ca}.crt")] if ca else []
        return subprocess.run(
            [find_program("lockbroker"), "-S", f"tls://{host}:{self.port}", *trust, *words],
            capture_output=True, text=True, check=False, timeout=40)

    def test_commands(self):
        self.tls_broker()
        self.assertEqual(self.run_command("send", "LATCH", "l", "count=2").stdout, "OK count=2\n")
        done = self.run_command("run", "x", "sh", "-c", "echo held; exit 5")
        self.assertEqual((done.stdout, done.returncode), ("held\n", 5))
        self.assertEqual(self.client().ok("STATUS x")["state"], "free")
        self.assertEqual(self.run_command("ping", host="127.0.0.1").returncode, 0)

    def test_a_command_that_is_killed_gives_back(self):
        self.tls_broker()
        watcher = self.client()
        held = subprocess.Popen([find_program("lockbroker"), "-S", f"tls://localhost:{self.port}",
                                 "--ca", self.file("ca.crt"), "run", "x", "sleep", "30"])
        eventually(lambda: watcher.ok("STATUS x")["state"] == "held")
        held.kill()
        held.wait()
        eventually(lambda: watcher.ok("STATUS x")["state"] == "free", 20)

    def refused(self, reason, *words, **options):
        done = self.run_command(*words, "ping", **options)
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, reason)

    def test_what_is_wrong_is_said(self):
        type(self.ca)(self.directory, "stranger")
        self.tls_broker(options={"client_ca": self.file("ca.crt"), "verify": "require"})
        good = ("--cert", self.file("client.crt"), "--key", self.file("client.key"))
        self.assertEqual(self.run_command(*good, "ping").returncode, 0)
        self.refused("it requires a client certificate; see --cert and --key")
        self.refused("not signed by a trusted CA; set --ca", *good, ca="stranger")
        self.refused("valid for CN=server", *good, host="127.0.0.2")
        self.refused("No such file", *good, ca="nothing")
        self.refused("give both --cert and --key", *good[:2])
