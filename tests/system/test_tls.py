"""Redis over TLS, where the build can: standalone and behind Sentinels.

A build without hiredis_ssl says so, and names the way around.
"""

import os
import shutil
import subprocess
import unittest

from lib.broker import find_program
from lib.case import SystemTest
from lib.ports import free_port
from lib.redisd import RedisServer
from lib.sentinel import NAME, Watched
from lib.wait import eventually


def openssl(directory, *args):
    subprocess.run(["openssl", *args], cwd=directory, check=True, capture_output=True)


def make_authority(directory, name):
    openssl(directory, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
            f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.crt")


def make_certificate(directory, name, authority):
    openssl(directory, "req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}",
            "-keyout", f"{name}.key", "-out", f"{name}.csr")
    openssl(directory, "x509", "-req", "-days", "2", "-in", f"{name}.csr", "-CA",
            f"{authority}.crt", "-CAkey", f"{authority}.key", "-CAcreateserial", "-out",
            f"{name}.crt")


class Tls(SystemTest):
    limit = 40

    def setUp(self):
        super().setUp()
        config = os.path.join(self.directory, "tls.yaml")
        with open(config, "w", encoding="ascii") as file:
            file.write("redis: {mode: standalone, nodes: ['127.0.0.1:1'], tls: true}\n")
        done = subprocess.run([find_program(), "-t", "-c", config], capture_output=True,
                              text=True, check=False)
        if done.returncode != 0:
            self.assertIn("stunnel", done.stderr)
            self.skipTest("this build can't speak TLS to Redis")
        if not shutil.which("openssl"):
            raise unittest.SkipTest("openssl is not installed")
        make_authority(self.directory, "ca")
        make_certificate(self.directory, "server", "ca")
        make_certificate(self.directory, "client", "ca")

    def file(self, name):
        return os.path.join(self.directory, name)

    def tls_server(self):
        """A RedisServer whose only TCP port speaks TLS and wants a certificate."""
        port = free_port()
        server = RedisServer(self.file(f"tls{port}"), options={
            "tls-port": port, "tls-cert-file": self.file("server.crt"),
            "tls-key-file": self.file("server.key"), "tls-ca-cert-file": self.file("ca.crt")})
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
        done = subprocess.run([find_program(), "-t", "--probe", "-c", broker.config_path],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("over TLS", done.stdout)

    def test_another_authority_is_refused(self):
        make_authority(self.directory, "stranger")
        _, address = self.tls_server()
        broker = self.join(address, tls_ca=self.file("stranger.crt"))
        eventually(lambda: broker.log_lines("redis-down .*certificate"), 5)
        self.client().err("TRYLOCK x", "unavailable")

    def test_plain_text_on_either_side(self):
        _, address = self.tls_server()
        plain = self.join(address, tls=False, tls_ca="", tls_cert="", tls_key="")
        self.client(plain).err("TRYLOCK x", "unavailable")
        server = self.redis(tcp=True)
        broker = self.join(server)
        eventually(lambda: broker.log_lines("redis-down"), 10)
        self.client(broker).err("TRYLOCK x", "unavailable")

    def test_a_file_that_is_not_there(self):
        _, address = self.tls_server()
        broker = self.broker(address, start=False, redis={
            "tls": True, "tls_ca": self.file("no-such-file")})
        broker.spawn()
        self.assertNotEqual(broker.process.wait(), 0)
        broker.expected_status = broker.process.returncode
        self.assertIn("no-such-file", broker.log())

    def test_behind_sentinels(self):
        """Servers and Sentinels, all over TLS."""
        files = {"tls-cert-file": self.file("server.crt"),
                 "tls-key-file": self.file("server.key"),
                 "tls-ca-cert-file": self.file("ca.crt"), "tls-replication": "yes"}
        watched = Watched(self, tls=files)
        broker = self.join(watched.addresses[0], mode="sentinel", nodes=watched.addresses,
                           master=NAME, replicas=1)
        broker.wait_granting()
        fence = self.client().lock("x")
        watched.hand_over()
        watched.promoted(watched.replica)
        eventually(lambda: broker.log_lines("master-changed"), 15, "the broker follows")
        self.assertGreater(self.client().lock("y", timeout=20), fence)
