"""A broker that is drained: DRAIN, `lockbroker drain`, and !LEAVING."""

import hashlib
import os
import re
import signal
import socket
import ssl
import subprocess

from lib import http
from lib.broker import find_program
from lib.case import SystemTest
from lib.client import Client
from lib.ports import free_port
from lib.resp import Resp
from lib.wait import eventually, hang, now, patience
from test_tls_clients import ClientsTest

SECRET = "c2VjcmV0LW1hZGUtYnktZ2VucGFzcy0yNTYtYml0cw"
HASH = "sha256:" + hashlib.sha256(SECRET.encode()).hexdigest()


class Commands(SystemTest):
    def command(self, *words):
        return subprocess.Popen([find_program("lockbroker"), "-S", self.b.unix_path, *words],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")

    def told(self, *words):
        with self.command(*words) as command:
            out, err = command.communicate()
        return command.returncode, out, err


class Draining(Commands):
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
        late = self.client(self.b)  # an administrator
        late.ok("STATS")
        for wants in ("LOCK c", "SESSION label=x"):
            late.err(wants, "shutdown")
            late.expect_eof()  # its program goes on to the next broker
            late = self.client(self.b)
        with self.assertRaises(OSError):
            Client(self.holder.sock.getpeername())
        web = http.of(self.b)
        self.assertEqual(web.get("/livez").status, 200)
        ready = web.get("/readyz?verbose")
        self.assertEqual(ready.status, 503)
        self.assertIn("[-]running failed: the broker is drained", ready.text)
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
        self.assertRegex(done.stdout, rb"^draining: 1 held, \d clients; exits once no lock is held,"
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

    def test_a_run_says_it(self):
        self.drained()
        with subprocess.Popen([find_program("lockbroker"), "-S", self.b.unix_path, "run", "-v", "job",
                               "--", "sh", "-c", "echo up; read stop; true"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
            self.assertEqual(run.stdout.readline(), "up\n")
            self.holder.ok("QUIT")
            self.waiter.reply()
            self.waiter.ok("QUIT")
            self.client(self.b).ok("DRAIN")
            run.stdin.close()
            self.assertIn("the broker is draining; the lock stays, for at most 1 d",
                          run.stderr.read())
            self.assertEqual(run.wait(), 0)
        self.assertEqual(self.b.process.wait(), 0)

    def test_the_command_tells_what_it_waits_for(self):
        self.drained()
        self.holder.ok("SESSION label=etl")
        self.holder.ok("ACQUIRE s limit=2")
        with self.command("drain", "--wait") as command:
            self.assertRegex(command.stdout.readline(), "^draining: 2 held")
            self.assertRegex(command.stdout.readline(),
                             r"^waits for 2 held: a \(etl, for [0-9.]+ s\), s \(etl, for ")
            self.holder.ok("UNLOCK a")
            self.assertRegex(command.stdout.readline(), r"^waits for 1 held: s \(etl, for ")
            self.holder.ok("RELEASE s")
            self.assertRegex(command.stdout.read(), "the broker has exited\n$")
            self.assertEqual(command.wait(hang()), 0)
        self.assertEqual(self.b.process.wait(), 0)

    def test_the_command_waits_for_what_was_taken_back(self):
        admin = self.drained()
        with self.command("drain", "--wait") as command:
            self.assertRegex(command.stdout.readline(), "^draining")
            admin.ok("DRAIN abort=yes")
            self.assertEqual(command.wait(hang()), 1)
            self.assertRegex(command.stderr.read(), "the drain was aborted")


class TakenBack(Commands):
    """DRAIN abort=yes, and who may come during a drain."""

    def placed(self, **settings):
        """A broker at a port that is the same after all."""
        self.port = free_port()
        self.b = self.broker(self.redis(), trust_new=True,
                             listen=[{"unix": os.path.join(self.directory, "b1", "s")},
                                     {"http": "127.0.0.1:0"},
                                     {"tcp": f"127.0.0.1:{self.port}"}], **settings)
        self.holder = self.remote()
        self.holder.lock("a")

    def remote(self):
        client = Client(("127.0.0.1", self.port))
        self.addCleanup(client.close)
        return client

    def refused(self):
        with self.assertRaises(OSError):
            self.remote()

    def test_all_is_as_before(self):
        self.placed()
        idle, web = self.remote(), http.of(self.b)
        idle.ok("PING")
        self.assertEqual(self.told("drain")[0], 0)
        self.refused()
        idle.err("LOCK b", "shutdown")
        eventually(lambda: " draining " in self.told("brokers")[1], 10, "it is told")
        self.assertRegex(self.told("list")[2], "^lockbroker: unavailable: the broker is draining; .* "
                                               r"no new locks since [\d:]{8} UTC")
        self.assertEqual(self.told("drain", "--abort"),
                         (0, "drain aborted: the broker accepts clients and grants locks\n", ""))
        self.remote().lock("c")
        idle.lock("b")
        idle.ok("READY")
        self.assertEqual(web.get("/readyz").status, 200)
        self.assertEqual(self.told("list")[2], "")
        eventually(lambda: " this " in self.told("brokers")[1], 10, "it is told")
        self.holder.ok("UNLOCK a")  # it is not the last that is given back
        idle.ok("UNLOCK b")
        self.assertEqual(self.told("drain", "--abort")[0], 0, "there is none")
        self.assertTrue(self.b.log_lines(r"drain-aborted after_ms=\d+ "))
        # It may be drained anew, and replaced.
        self.client(self.b).ok("DRAIN")
        self.refused()
        self.client(self.b).ok("DRAIN abort=yes")
        self.b.replace()
        self.remote().lock("d")

    def test_an_address_is_taken(self):
        self.placed()
        admin = self.client(self.b)
        admin.ok("DRAIN")
        with socket.create_server(("127.0.0.1", self.port)):
            reply = admin.err("DRAIN abort=yes", "unavailable")
            self.assertIn(f"127.0.0.1:{self.port}: cannot listen on this address", reply.text)
            status, _, err = self.told("drain", "--abort")
            self.assertEqual(status, 1)
            self.assertIn(f"127.0.0.1:{self.port}", err)
            admin.err("LOCK b", "shutdown")
        self.refused()
        admin.ok("DRAIN abort=yes")
        self.remote().lock("b")

    def test_who_may_come(self):
        """Administrators, and whoever comes back to its session."""
        self.placed(auth={"users": [{"name": "boss", "hash": HASH, "admin": True}],
                          "anonymous": {"lock": ["*"], "watch": ["*"]}}, ready=False)
        key = self.holder.ok("SESSION grace=1m")["key"]
        boss = self.client(self.b)
        boss.ok(f"AUTH boss {SECRET}")
        boss.ok("DRAIN")
        for words in ("PING", "LOCK b", "STATUS a", "SESSION"):
            stranger = self.client(self.b)
            stranger.err(words, "shutdown")
            stranger.expect_eof()
        redis = Resp(f"unix:{self.b.unix_path}")
        with self.assertRaisesRegex(Exception, "draining"):
            redis("SET", "x", "t", "NX", "PX", 1000)
        self.holder.close()
        again = self.client(self.b)
        again.ok(f"RESUME key={key}")
        again.ok("LOCK b")
        again.ok("UNLOCK b")
        late = self.client(self.b)
        late.ok(f"AUTH boss {SECRET}")
        late.ok("STATS")
        late.ok("DRAIN abort=yes")
        self.client(self.b).lock("c")

    def test_by_whom(self):
        self.placed()
        self.holder.err("DRAIN abort=yes", "denied")


class OverTls(ClientsTest):
    def test_a_drain_is_taken_back(self):
        """The port is closed, and open again, also for a new TLS process."""
        broker = self.tls_broker()
        held = self.tls()
        held.lock("x")
        for i in range(3):
            self.client(broker).ok("DRAIN")
            eventually(lambda: not self.connects(), 10, "nobody listens")
            self.client(broker).ok("DRAIN abort=yes")
            self.tls().ok(f"TRYLOCK y{i}")
        os.kill(self.tls_pid(broker), signal.SIGKILL)
        eventually(self.connects, 10, "another one listens")

    def connects(self):
        try:
            self.tls().ok("PING")
        except (ssl.SSLError, OSError, EOFError):
            return False
        return True
