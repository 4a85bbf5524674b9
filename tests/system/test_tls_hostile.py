"""The process that speaks TLS reads what strangers send: the broker does not rely on it."""

import ctypes
import os
import select
import shutil
import socket
import subprocess
import sys
import threading
import unittest

from lib.broker import find_program
from lib.wait import eventually, now, patience
from test_tls_clients import ClientsTest

HOSTILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib", "hostile_tls.py")


class OtherPort(ClientsTest):
    """The command at the other port of the same broker."""

    def said(self, address):
        done = subprocess.run([find_program("lockbroker"), "-S", address, "ping"],
                              capture_output=True, text=True, check=False, timeout=40)
        self.assertEqual(done.returncode, 69)
        return done.stderr

    def test_what_it_says(self):
        broker = self.tls_broker()
        plain = broker.port
        self.assertIn("this port speaks TLS (put tls:// in front", self.said(f"127.0.0.1:{self.port}"))
        self.assertIn("check that the port is a TLS port", self.said(f"tls://127.0.0.1:{plain}"))


class Hostile(ClientsTest):
    """A broker beside which another program has the name of lockbroker-tls."""

    def beside(self, what):
        """It finds the process in its own directory first."""
        programs = self.file("programs")
        os.mkdir(programs)
        daemon = shutil.copy(find_program(), programs)
        path = os.path.join(programs, "lockbroker-tls")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\nexec {sys.executable} {HOSTILE} {what}\n")
        os.chmod(path, 0o755)
        broker = self.tls_broker(start=False)
        broker.start(argv=[daemon, "-c", broker.config_path])
        return broker

    def check(self, what, dies):
        broker = self.beside(what)
        client = self.client()
        eventually(lambda: client.ask("LOCK x").ok, 15)
        if dies:
            eventually(lambda: broker.log_lines("tls-process-died"))
        client.ok("UNLOCK x")
        eventually(lambda: client.stats()["clients"] in ("1", "2", "3"))
        self.assertEqual(bool(broker.log_lines("tls-process-died")), dies)
        for line in broker.log().splitlines():
            self.assertRegex(line, r"^20\d\d-")
            self.assertLess(len(line), 5000)

    def test_clients_of_no_place(self):
        self.check("place", False)

    def test_long_names(self):
        self.check("names", False)

    def test_lines_for_the_log(self):
        self.check("log", False)
        eventually(lambda: self.brokers[0].log_lines("tls-odd"))
        log = self.brokers[0].log()
        self.assertRegex(log, r'tls-odd key="a value.{1,4}and another line"')
        self.assertNotIn("wwww", log)
        self.assertNotIn("kkkk", log)

    def test_ends_of_nobody(self):
        self.check("ends", False)

    def test_descriptors_that_do_not_belong_there(self):
        self.check("descriptors", False)

    def test_what_is_no_packet(self):
        self.check("unknown", True)

    def test_a_text_without_an_end(self):
        self.check("no-end", True)

    def test_no_word(self):
        self.check("empty", True)

    def test_too_many_texts(self):
        self.check("many", True)

    def test_it_ends_at_once(self):
        self.check("gone", True)


class Flood:
    """OpenSSL by its C functions, for things that Python's ssl can't do."""

    def __init__(self, port):
        self.ssl = ctypes.CDLL("libssl.so.3")
        for name in ("SSL_CTX_new", "TLS_client_method", "SSL_new"):
            getattr(self.ssl, name).restype = ctypes.c_void_p
        pointer = ctypes.c_void_p
        self.ssl.SSL_CTX_new.argtypes = [pointer]
        self.ssl.SSL_new.argtypes = [pointer]
        self.ssl.SSL_set_fd.argtypes = [pointer, ctypes.c_int]
        self.ssl.SSL_connect.argtypes = [pointer]
        self.ssl.SSL_key_update.argtypes = [pointer, ctypes.c_int]
        self.ssl.SSL_do_handshake.argtypes = [pointer]
        self.sock = socket.create_connection(("127.0.0.1", port))
        self.made = self.ssl.SSL_new(self.ssl.SSL_CTX_new(self.ssl.TLS_client_method()))
        self.ssl.SSL_set_fd(self.made, self.sock.fileno())
        assert self.ssl.SSL_connect(self.made) == 1

    def new_key(self):
        """Whether it could be sent."""
        return (self.ssl.SSL_key_update(self.made, 0) == 1
                and self.ssl.SSL_do_handshake(self.made) == 1)


def readable(sockets):
    """How many of them have something to read."""
    poll = select.poll()
    for sock in sockets:
        poll.register(sock, select.POLLIN)
    return len(poll.poll(0))


class Crowds(ClientsTest):
    limit = 60

    def test_a_byte_now_and_then_keeps_nobody_out(self):
        """Handshakes that never end, and always seem about to."""
        self.room_for(2600)
        self.tls_broker()
        # The whole first message, and then the beginning of a long record.
        hello, sockets = self.hello(), []
        for _ in range(1100):
            sock = socket.create_connection(("127.0.0.1", self.port), timeout=20)
            sock.sendall(hello)
            sockets.append(sock)
        eventually(lambda: readable(sockets) >= 1000, 20)  # nearly all that have room
        over = threading.Event()

        def dribble():
            head = b"\x17\x03\x03\x40\x00"
            for turn in range(1000):
                for sock in sockets:
                    try:
                        sock.send(head[turn:turn + 1] or b"x")
                    except OSError:
                        pass
                if over.wait(0.2):
                    return

        thread = threading.Thread(target=dribble)
        thread.start()
        try:
            begun = now()
            self.tls().ok("PING", timeout=20)
            self.assertLess(now() - begun, patience(5, begun))
        finally:
            over.set()
            thread.join()
            for sock in sockets:
                sock.close()

    def test_new_keys_without_end(self):
        """Each costs more than any data: a client that sends nothing else is dropped."""
        broker = self.tls_broker()
        other = self.tls()
        flood = Flood(self.port)
        sent = 0
        # Python ignores SIGPIPE, and so does this.
        while flood.new_key():
            sent += 1
            self.assertLess(sent, 100000)
        other.ok("PING")
        eventually(lambda: broker.log_lines("tls-handshake-failed .*keeps sending new keys"))
        eventually(lambda: other.stats()["clients"] == "1")


if __name__ == "__main__":
    unittest.main()
