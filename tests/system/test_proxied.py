"""The PROXY protocol: a proxy tells whose connection it is, or sends what nobody has asked for."""

import os
import shutil
import socket
import struct
import subprocess
import time

from lib.case import SystemTest
from lib.ports import free_port
from lib.proc import die_with_parent
from lib.tls_client import context
from lib.wait import eventually, hang, now, patience
from test_replace_asked import at_leaver
from test_tls_clients import ClientsTest
from test_users import HASH, SECRET

SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"
PEER = "10.0.0.7:5512"


def one(address="10.0.0.7", port=5512, kind="TCP4", there="127.0.0.1"):
    return f"PROXY {kind} {address} {there} {port} 5625\r\n".encode()


def two(address="10.0.0.7", port=5512, family=socket.AF_INET, more=b""):
    body = (socket.inet_pton(family, address) * 2 + struct.pack(">HH", port, 5625) + more)
    kind = 0x11 if family == socket.AF_INET else 0x21
    return SIGNATURE + struct.pack(">BBH", 0x21, kind, len(body)) + body


LOCAL = SIGNATURE + b"\x20\0\0\0"


class Raw:
    """A connection whose bytes the test sends as it likes."""

    def __init__(self, port):
        self.sock = socket.create_connection(("127.0.0.1", port), timeout=hang())
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, data, piece=None):
        for i in range(0, len(data), piece or len(data)):
            self.sock.sendall(data[i:i + (piece or len(data))])
            if piece:
                time.sleep(0.001)

    def line(self):
        got = b""
        while not got.endswith(b"\n"):
            byte = self.sock.recv(1)
            if not byte:
                break
            got += byte
        return got.decode()

    def rest(self):
        got = b""
        try:
            while data := self.sock.recv(4096):
                got += data
        except ConnectionResetError:
            pass
        return got


class ProxiedTest(SystemTest):
    def setUp(self):
        super().setUp()
        self.port, self.yes, self.no = free_port(), free_port(), free_port()

    def proxied(self, **settings):
        directory = os.path.join(self.directory, "b1")
        broker = self.broker(listen=[
            {"unix": os.path.join(directory, "s")},
            {"tcp": f"127.0.0.1:{self.port}", "proxied": "header"},
            {"tcp": f"127.0.0.1:{self.yes}", "proxied": True},
            {"tcp": f"127.0.0.1:{self.no}"}], **settings)
        self.control = self.client()
        return broker

    def raw(self, port=None):
        raw = Raw(port or self.port)
        self.addCleanup(raw.sock.close)
        return raw

    def peer_of(self, name):
        return self.control.ok(f"QUEUE {name}").body[0].split(" peer=")[1].split()[0]


class Proxied(ProxiedTest):
    def test_whose_connection_it_is(self):
        self.proxied(log={"level": "debug"})
        heads = [(one(), PEER), (two(), PEER), (two(more=b"\x04\0\x01x"), PEER),
                 (one("2001:db8::1", kind="TCP6", there="::1"), "[2001:db8::1]:5512"),
                 (two("2001:db8::1", family=socket.AF_INET6), "[2001:db8::1]:5512"),
                 (LOCAL, None), (b"PROXY UNKNOWN\r\n", None)]
        for number, (head, peer) in enumerate(heads):
            for piece in (1, None):
                for resp in (False, True):
                    with self.subTest(number=number, piece=piece, resp=resp):
                        name = f"x{number}-{piece}-{resp}"
                        raw = self.raw()
                        expected = peer or "%s:%d" % raw.sock.getsockname()
                        raw.send(head, piece)
                        raw.send(f"*2\r\n$7\r\nTRYLOCK\r\n${len(name)}\r\n{name}\r\n".encode()
                                 if resp else f"TRYLOCK {name}\n".encode(), piece)
                        self.assertRegex(raw.line(), r"^:\d+" if resp else "^OK fence=")
                        self.assertEqual(self.peer_of(name), expected)

    def test_only_quit_is_orderly(self):
        """As with `proxied: true`: the close may be the proxy's."""
        self.proxied(locks={"lease": "2s"})
        for last, state in ((b"", "held"), (b"QUIT\n", "free")):
            raw = self.raw()
            raw.send(one() + b"TRYLOCK x\nPING\n" + last)
            raw.line()
            self.assertIn("valid=", raw.line())
            if last:
                raw.line()
            raw.sock.close()
            eventually(lambda: self.control.stats()["clients"] == "1")
            self.assertEqual(self.control.ok("STATUS x")["state"], state)
            eventually(lambda: self.control.ok("STATUS x")["state"] == "free")

    def test_without_a_header(self):
        broker = self.proxied(limits={"first_line": "300ms"})
        for data in (b"PING\n", b"*1\r\n$4\r\nPING\r\n", b"PROXY TCP4 1.2.3.4 x 1 2\r\n",
                     SIGNATURE + b"\x21\x11\0\x02xx", SIGNATURE + b"\x21\x11\xff\xff"):
            raw = self.raw()
            raw.send(data)
            self.assertEqual(raw.rest(), b"", data)
        start = now()
        raw = self.raw()
        raw.send(one()[:-1])
        self.assertEqual(raw.rest(), b"")
        self.assert_within(0.3, now() - start, patience(1))
        lines = broker.log_lines(" proxy-protocol ")
        self.assertEqual(len(lines), 1, lines)
        self.assertIn(" peer=127.0.0.1:", lines[0])

    def test_where_it_is_not_asked_for(self):
        """No line of the client is answered, or each would get the answer to another."""
        broker = self.proxied()
        for port in (self.yes, self.no):
            for head in (one(), two(), LOCAL, b"PROXY UNKNOWN\r\n"):
                for piece in (1, None):
                    raw = self.raw(port)
                    try:
                        raw.send(head + b"TRYLOCK p1\nTRYLOCK p2\n", piece)
                    except (BrokenPipeError, ConnectionResetError):
                        pass
                    self.assertEqual(raw.rest(), b"")
        raw = socket.socket(socket.AF_UNIX)
        self.addCleanup(raw.close)
        raw.connect(broker.unix_path)
        raw.sendall(one() + b"PING\n")
        self.assertEqual(raw.recv(100), b"")
        self.assertEqual(self.control.ok("STATUS p1")["state"], "free")
        lines = broker.log_lines(" proxy-protocol ")
        self.assertEqual(len(lines), 1, lines)
        self.assertIn("`proxied: header`", lines[0])

    def test_no_right_depends_on_it(self):
        """It is no administrator and no user, whatever it says; the log names it."""
        broker = self.proxied(auth={"users": [
            {"name": "root", "admin": True, "unix": ["root"]},
            {"name": "ann", "hash": HASH, "lock": ["*"]}]}, ready=False)
        raw = self.raw()
        raw.send(one("127.0.0.1") + b"WHOAMI\n")
        self.assertIn("ERR auth", raw.line())
        raw = self.raw()
        raw.send(one() + b"AUTH ann wrong\nAUTH ann " + SECRET.encode() + b"\nWHOAMI\n")
        self.assertIn("ERR auth", raw.line())
        self.assertIn("OK user=ann", raw.line())
        self.assertIn("via=password", raw.line())
        self.assertIn(f"peer={PEER}", broker.log_lines(" auth-failed ")[0])

    def test_a_replacement(self):
        """The next process asks for it, too, and a session that is resumed keeps its address."""
        broker = self.proxied()
        raw = self.raw()
        raw.send(two() + b"SESSION grace=1m\nTRYLOCK x\n")
        self.assertIn("OK id=", raw.line())
        self.assertIn("OK fence=", raw.line())
        broker.replace()
        self.control = self.client()
        other = self.raw()
        other.send(one("10.0.0.8") + b"TRYLOCK y\n")
        self.assertIn("OK fence=", other.line())
        self.assertEqual(self.peer_of("y"), "10.0.0.8:5512")
        at_leaver(self.control)
        self.assertEqual(self.peer_of("x"), PEER)
        bare = self.raw()
        bare.send(b"PING\n")
        self.assertEqual(bare.rest(), b"")
        raw.send(b"UNLOCK x\nQUIT\n")
        self.assertIn("OK depth=0", [raw.line() for _ in range(2)][1] + raw.line())


class HaProxy(ProxiedTest):
    def test_real(self):
        """Both versions, with checks of its own, which are LOCAL connections."""
        program = shutil.which("haproxy") or "/usr/sbin/haproxy"
        if not os.path.exists(program):
            self.skipTest("haproxy is not installed")
        broker = self.proxied()
        ports = {word: free_port() for word in ("send-proxy", "send-proxy-v2")}
        path = os.path.join(self.directory, "haproxy.cfg")
        with open(path, "w", encoding="ascii") as file:
            file.write("defaults\n mode tcp\n timeout connect 5s\n timeout client 30s\n"
                       " timeout server 30s\n")
            for word, port in ports.items():
                file.write(f"listen {word}\n bind 127.0.0.1:{port}\n server b "
                           f"127.0.0.1:{self.port} {word} check inter 50ms\n")
        proxy = subprocess.Popen([program, "-db", "-f", path], preexec_fn=die_with_parent,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(proxy.wait)
        self.addCleanup(proxy.kill)
        for number, port in enumerate(ports.values()):
            raw = eventually(lambda port=port: self.raw(port), 10, "HAProxy listens")
            raw.send(f"TRYLOCK a{number}\nTRYLOCK b{number}\nSTATUS a{number}\n".encode())
            lines = [raw.line() for _ in range(3)]
            self.assertEqual([line[:8] for line in lines], ["OK fence", "OK fence", "OK state"])
            self.assertIn(lines[0].split()[1], lines[2])
            self.assertEqual(self.peer_of(f"a{number}"), "%s:%d" % raw.sock.getsockname())
        time.sleep(0.3)  # some checks
        self.assertEqual(broker.log_lines(" proxy-protocol "), [])


class OverTls(ClientsTest):
    """The header comes before the handshake."""

    def shake(self, head, piece=None):
        raw = Raw(self.port)
        self.addCleanup(raw.sock.close)
        raw.send(head, piece)
        how = context(self.file("ca"))
        raw.sock = how.wrap_socket(raw.sock, server_hostname="localhost")
        self.addCleanup(raw.sock.close)
        return raw

    def test_whose_connection_it_is(self):
        broker = self.tls_broker(options={"proxied": "header"}, limits={"first_line": "500ms"})
        for number, head in enumerate((one(), two(), LOCAL)):
            for piece in (1, None):
                raw = self.shake(head, piece)
                raw.send(f"TRYLOCK x{number}{piece}\n".encode())
                self.assertIn("OK fence=", raw.line())
                row = self.client().ok(f"QUEUE x{number}{piece}").body[0]
                self.assertIn(f"peer={PEER} " if number < 2 else "peer=127.0.0.1:", row)
        raw = Raw(self.port)
        raw.send(self.hello())
        self.assertEqual(raw.rest(), b"")
        eventually(lambda: broker.log_lines("does not begin with a PROXY"))
        start = now()
        raw = Raw(self.port)
        raw.send(one()[:9])
        self.assertEqual(raw.rest(), b"")
        self.assert_within(0.5, now() - start, patience(1.5))

    def test_where_it_is_not_asked_for(self):
        broker = self.tls_broker()
        for head in (one(), two()):
            for piece in (1, None):
                raw = Raw(self.port)
                self.addCleanup(raw.sock.close)
                try:
                    raw.send(head, piece)
                except (BrokenPipeError, ConnectionResetError):
                    pass
                self.assertEqual(raw.rest(), b"")
        eventually(lambda: broker.log_lines("a proxy sends the PROXY protocol"))
        raw = Raw(self.port)
        raw.send(b"PING\n")
        self.assertIn("this port speaks TLS", raw.line())
