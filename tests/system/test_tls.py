"""Redis over TLS: standalone, behind Sentinels, in a cluster."""

import os
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time
import unittest

from lib.broker import find_program
from lib.case import SystemTest
from lib.certificates import Authority
from lib.cluster import Cluster
from lib.ports import free_port
from lib.redisd import RedisServer
from lib.sentinel import NAME, Watched
from lib.wait import eventually


class TlsTest(SystemTest):
    """Makes an authority `ca`, and certificates of it: server, client."""

    def setUp(self):
        super().setUp()
        try:
            find_program("lockbroker-tls")
        except FileNotFoundError:
            self.skipTest("this build is without TLS")
        if not shutil.which("openssl"):
            raise unittest.SkipTest("openssl is not installed")
        self.ca = Authority(self.directory, "ca")
        self.ca.issue("server")
        self.ca.issue("client", names=["DNS:client.example.org"])

    def file(self, name):
        return os.path.join(self.directory, name)


class Tls(TlsTest):
    limit = 40

    def tls_server(self, certificate="server"):
        """A RedisServer whose only TCP port speaks TLS and wants a certificate."""
        port = free_port()
        server = RedisServer(self.file(f"tls{port}"), options={
            "tls-port": port, "tls-cert-file": self.file(f"{certificate}.crt"),
            "tls-key-file": self.file(f"{certificate}.key"),
            "tls-ca-cert-file": self.file("ca.crt")})
        self.addCleanup(server.stop)
        server.start()
        return server, f"127.0.0.1:{port}"

    def join(self, address, **redis):
        return self.broker(address, lease=1, ready=False, redis={
            "tls": True, "tls_ca": self.file("ca.crt"), "tls_cert": self.file("client.crt"),
            "tls_key": self.file("client.key"), "trust_new": True, **redis})

    def test_locks(self):
        server, address = self.tls_server()
        first, second = self.join(address), self.join(address)
        first.wait_granting()
        a, b = self.client(first), self.client(second)
        fence = a.lock("x")
        b.send("LOCK x")
        eventually(lambda: self.client(second).ok("STATUS x")["waiters"] == "1")
        a.ok("UNLOCK x")
        self.assertGreater(b.reply(5).fence, fence)
        # More than fits into one record, and back.
        names = [f"{number:05}" + "n" * 200 for number in range(2000)]
        a.send(*[f"LOCK {name}" for name in names])
        for _ in names:
            self.assertTrue(a.reply(10).ok)
        server.restart()
        self.assertTrue(a.lock("y", timeout=15))

    def test_probe(self):
        _, address = self.tls_server()
        broker = self.join(address)
        done = self.probe(broker)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("over TLS", done.stdout)

    def probe(self, broker):
        return subprocess.run([find_program(), "-t", "--probe", "-c", broker.config_path],
                              capture_output=True, text=True, check=False, timeout=30)

    def refused(self, address, reason, **redis):
        """The broker is told why, in its log and by --probe, and answers unavailable."""
        broker = self.join(address, **redis)
        eventually(lambda: broker.log_lines(f"redis-down .*{reason}"), 10, reason)
        self.client(broker).err("TRYLOCK x", "unavailable")
        done = self.probe(broker)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, f"(?m)^fail .*{reason}")

    def test_another_authority_is_refused(self):
        Authority(self.directory, "stranger")
        _, address = self.tls_server()
        self.refused(address, "the server's certificate is not signed by a trusted CA; "
                     "set redis.tls_ca", tls_ca=self.file("stranger.crt"))

    def test_an_old_certificate_is_refused(self):
        self.ca.issue("old", expired=True)
        _, address = self.tls_server("old")
        self.refused(address, "the server's certificate expired at 20.*renew it")

    def test_a_name_is_verified(self):
        self.ca.issue("other", names=["DNS:redis.example.org"])
        _, address = self.tls_server("other")
        self.refused(address, "valid for CN=other, DNS:redis.example.org only.*tls_names")
        broker = self.join(address, tls_names=False)
        broker.wait_granting()

    def test_a_host_name_is_verified(self):
        self.ca.issue("local", names=["DNS:localhost"])
        _, address = self.tls_server("local")
        self.join(address.replace("127.0.0.1", "localhost")).wait_granting()

    def test_a_server_that_wants_a_certificate(self):
        _, address = self.tls_server()
        self.refused(address, "it requires a client certificate; see redis.tls_cert", tls_cert="",
                     tls_key="")

    def test_the_tls_process_is_started_again(self):
        _, address = self.tls_server()
        broker = self.join(address)
        broker.wait_granting()
        a = self.client(broker)
        fence = a.lock("x")
        for child in broker.process.children():
            os.kill(child, signal.SIGKILL)
        eventually(lambda: broker.log_lines("tls-process-died .*signal 9"), 5)
        self.assertTrue(a.lock("y", timeout=10))
        self.assertEqual(a.ok("STATUS x")["fence"], str(fence))

    def test_plain_text_on_either_side(self):
        _, address = self.tls_server()
        plain = self.join(address, tls=False, tls_ca="", tls_cert="", tls_key="")
        self.client(plain).err("TRYLOCK x", "unavailable")
        server = self.redis(tcp=True)
        self.refused(server.address, "check that the port is a TLS port")

    def test_a_file_that_is_not_there(self):
        _, address = self.tls_server()
        broker = self.broker(address, start=False, redis={
            "tls": True, "tls_ca": self.file("no-such-file")})
        broker.spawn()
        self.assertNotEqual(broker.process.wait(), 0)
        broker.expected_status = broker.process.returncode
        self.assertIn("no-such-file", broker.log())

    def test_the_tls_process_stands_still(self):
        """More requests than fit into its socket; it goes on when it can."""
        _, address = self.tls_server()
        broker = self.join(address, connections=64, connect_timeout="100ms",
                           reply_timeout="300ms")
        broker.wait_granting()
        for child in broker.process.children():
            os.kill(child, signal.SIGSTOP)
            self.addCleanup(os.kill, child, signal.SIGCONT)
        time.sleep(6)  # links give up and try again, many times
        for child in broker.process.children():
            os.kill(child, signal.SIGCONT)
        self.assertTrue(self.client(broker).lock("x", timeout=20))
        self.assertFalse(broker.log_lines("tls-process-died"))

    def files(self):
        return {"tls-cert-file": self.file("server.crt"),
                "tls-key-file": self.file("server.key"),
                "tls-ca-cert-file": self.file("ca.crt")}

    def test_a_cluster(self):
        cluster = Cluster(self.directory, tls=self.files())
        self.addCleanup(cluster.stop)
        addresses = [f"127.0.0.1:{node.port}" for node in cluster.masters]
        broker = self.join(addresses[0], mode="cluster", nodes=addresses[:1], replicas=0,
                           connections=64)
        broker.wait_granting()
        client = self.client(broker)
        for number in range(20):
            client.lock(f"n{number}", timeout=20)
        self.assertFalse(broker.log_lines("tls-process-died"))

    def test_a_quorum(self):
        addresses = [self.tls_server()[1] for _ in range(3)]
        first = self.join(addresses[0], mode="quorum", nodes=addresses)
        second = self.join(addresses[0], mode="quorum", nodes=addresses)
        a, b = self.client(first), self.client(second)
        fence = a.lock("x", timeout=20)
        b.send("LOCK x")
        a.ok("UNLOCK x")
        self.assertGreater(b.reply(20).fence, fence)

    def told_why(self, addresses, **redis):
        """In each mode the reason is told in the log, and by --probe."""
        Authority(self.directory, "stranger")
        self.ca.issue("elsewhere", names=["DNS:client.example.org"])
        for reason, wrong in (
                ("not signed by a trusted CA", {"tls_ca": self.file("stranger.crt")}),
                ("it requires a client certificate", {"tls_cert": "", "tls_key": ""})):
            broker = self.join(addresses[0], nodes=addresses, **redis, **wrong)
            eventually(lambda b=broker, r=reason: b.log_lines(r), 10, reason)
            self.client(broker).err("TRYLOCK x", "unavailable")
            done = self.probe(broker)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stdout, f"(?m)^fail .*{reason}")
            broker.stop()

    def test_what_a_cluster_refuses(self):
        cluster = Cluster(self.directory, tls=self.files())
        self.addCleanup(cluster.stop)
        self.told_why([f"127.0.0.1:{cluster.masters[0].port}"], mode="cluster", replicas=0)

    def test_what_a_quorum_refuses(self):
        self.told_why([self.tls_server()[1] for _ in range(3)], mode="quorum")

    def test_what_sentinels_refuse(self):
        watched = Watched(self, tls={**self.files(), "tls-replication": "yes"})
        self.told_why(watched.addresses, mode="sentinel", master=NAME, replicas=1)

    def test_the_name_is_told_beforehand(self):
        """SNI: a server of many names learns which one is meant; an address is none."""
        for host, name in (("localhost", "localhost"), ("127.0.0.1", None)):
            # Each broker has a listener of its own: one that has stopped may
            # have left connections that wait to be accepted.
            told, port = self.listen_for_names()
            broker = self.join(f"{host}:{port}")
            self.assertEqual(eventually(lambda: told[:1]), [name])
            broker.stop()

    def listen_for_names(self):
        """Shakes hands with who comes; returns the names they say, and its port."""
        told = []
        how = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        how.load_cert_chain(self.file("server.crt"), self.file("server.key"))
        how.sni_callback = lambda sock, name, context: told.append(name)
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        # It must not block in accept() for ever.
        self.addCleanup(listener.shutdown, socket.SHUT_RDWR)

        def serve():
            while True:
                try:
                    sock, _ = listener.accept()
                except OSError:
                    return
                try:
                    how.wrap_socket(sock, server_side=True).close()
                except OSError:  # a broker that stops resets its connections
                    sock.close()

        threading.Thread(target=serve, daemon=True).start()
        return told, listener.getsockname()[1]

    def test_behind_sentinels(self):
        """Servers and Sentinels, all over TLS."""
        watched = Watched(self, tls={**self.files(), "tls-replication": "yes"})
        broker = self.join(watched.addresses[0], mode="sentinel", nodes=watched.addresses,
                           master=NAME, replicas=1)
        broker.wait_granting()
        fence = self.client().lock("x")
        watched.hand_over()
        watched.promoted(watched.replica)
        eventually(lambda: broker.log_lines("master-changed"), 15, "the broker follows")
        self.assertGreater(self.client().lock("y", timeout=20), fence)
