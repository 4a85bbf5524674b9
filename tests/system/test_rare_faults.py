"""Rare events: no memory, no time, no names, a full log, and odd states of Redis."""

import os
import resource
import signal
import socket
import subprocess
import threading
import time
import unittest

from lib.broker import find_program
from lib.case import SystemTest, grace_of, pad_of, top_fence
from lib.client import Line, fork_client
from lib.history import Contender, check_history, stop_contenders
from lib.sentinel import Watched
from lib.wait import eventually, let_time_pass, now, patience


def lost(client):
    client.pump()
    return [line for line in client.events if line.status == "!LOST"]


class Throttle(threading.Thread):
    """Lets a process run for a tenth of the time only, as a quota of the kernel does."""

    def __init__(self, process):
        super().__init__(daemon=True)
        self.process = process
        self.stopping = threading.Event()

    def run(self):
        while not self.stopping.wait(0.01):
            self.process.signal(signal.SIGSTOP)
            self.stopping.wait(0.09)
            self.process.signal(signal.SIGCONT)

    def stop(self):
        self.stopping.set()
        self.join()


class OfMachine(SystemTest):
    """One Redis, two brokers, and trouble of the first one's own."""

    limit = 40
    lease = 1

    def prepare(self, **spawn):
        self.server = self.redis()
        for options in (spawn, {}):
            broker = self.broker(self.server, start=False, lease=self.lease, trust_new=True)
            broker.start(**options).wait_granting()
        self.holder, self.other = self.client(), self.client()
        self.rival = self.client(self.brokers[1])
        self.fence = self.holder.lock("held")

    def test_no_memory(self):
        """The broker ends, or loses its way to Redis, and grants nothing more; its names are free
        when the lease is over, and not before it has told its clients, if it still can."""
        self.prepare()
        broker = self.brokers[0]
        with open(f"/proc/{broker.pid}/maps", encoding="utf-8") as maps:
            if "asan" in maps.read():
                self.skipTest("a sanitizer needs all the memory there is")
        self.rival.send("LOCK held")
        resource.prlimit(broker.pid, resource.RLIMIT_AS, (1 << 20, 1 << 20))
        granted = 0
        try:
            for number in range(900):
                names = " ".join(f"{number}-{k}-{'x' * 200}" for k in range(4))
                granted += self.client(broker).ask(f"LOCK {names}", timeout=3).ok
        except (AssertionError, OSError):
            pass
        self.assertLess(granted, 900)
        self.assertGreater(self.rival.reply(self.lease + pad_of(self.lease) + 15).fence,
                           self.fence)
        told = broker.process.alive and lost(self.holder)
        broker.kill()
        broker.expected_status = broker.process.returncode
        self.assertTrue(told or broker.expected_status == -signal.SIGABRT,
                        f"ended with {broker.expected_status}, and told {told}")

    def test_a_full_log(self):
        """Lines are dropped; nothing else happens."""
        def to_full():
            full = os.open("/dev/full", os.O_WRONLY)
            os.dup2(full, 1)
            os.dup2(full, 2)
        self.prepare(preexec=to_full)
        self.server.restart()
        self.other.lock("new", timeout=grace_of(self.lease) + 10)
        self.assertEqual(self.holder.ok("LOCK held").fence, self.fence)
        self.assertEqual(lost(self.holder), [])
        self.assertEqual(self.brokers[0].log(), "")

    def test_a_closed_log(self):
        self.prepare(preexec=lambda: (os.close(1), os.close(2)))
        self.brokers[0].signal(signal.SIGHUP)
        self.server.restart()
        self.other.lock("new", timeout=grace_of(self.lease) + 10)
        self.assertEqual(self.holder.ok("LOCK held").fence, self.fence)

    def test_a_tenth_of_the_time(self):
        """It may lose what it has, but never vouches for anything that it has lost."""
        self.prepare()
        crowd = [Contender(broker.unix_path, "x") for broker in self.brokers for _ in range(2)]
        self.addCleanup(stop_contenders, crowd)
        for one in crowd:
            one.start()
        throttle = Throttle(self.brokers[0].process)
        throttle.start()
        try:
            let_time_pass(4)
        finally:
            throttle.stop()
        stop_contenders(crowd, 10, since=now())
        check_history(crowd)

    def test_a_second_signal_ends_it_at_once(self):
        """The first one waits for Redis, which is frozen."""
        self.prepare()
        self.server.freeze()
        self.brokers[0].signal(signal.SIGTERM)
        eventually(lambda: self.brokers[0].log_lines("stopping"), 5)
        asked = now()
        self.brokers[0].signal(signal.SIGTERM)
        self.brokers[0].expected_status = self.brokers[0].process.wait()
        self.assertLess(now() - asked, patience(1))
        self.server.thaw()

    def test_a_stopped_holder(self):
        """The session keeps what it has while its connection lives; heartbeat= changes that."""
        self.prepare()
        pids, asks = [], self.client(self.brokers[0])
        for name, options in (("kept", []), ("freed", ["SESSION heartbeat=1s"])):
            pids.append(fork_client(self.brokers[0].unix_path, [*options, f"LOCK {name}"]))
        for pid in pids:
            self.addCleanup(os.waitpid, pid, 0)
            self.addCleanup(os.kill, pid, signal.SIGKILL)
        for name in ("kept", "freed"):
            # A TRYLOCK would have it if it came first, or when the second has gone again.
            eventually(lambda: asks.ok(f"HISTORY {name}").body, 5, "it was granted")
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        self.rival.send("LOCK freed")
        self.assertTrue(self.rival.reply(10).ok)
        let_time_pass(self.lease)
        self.assertEqual(self.rival.ask("TRYLOCK kept").status, "BUSY")


class OfRedis(SystemTest):
    """One server, one broker."""

    limit = 60
    lease = 1

    def prepare(self, lease=1, **options):
        self.lease = lease
        self.grace = grace_of(lease)
        self.server = self.redis(**options)
        self.broker(self.server, lease=lease, trust_new=True, redis={"reply_timeout": "500ms"})
        self.holder, self.other = self.clients(2)
        self.fence = self.holder.lock("held")

    def assert_kept(self):
        self.assertEqual(self.holder.ok("LOCK held").fence, self.fence)
        self.holder.ok("UNLOCK held")
        self.assertEqual(lost(self.holder), [])

    def costs_a_grace(self):
        """What is held is put back; nothing new is granted meanwhile."""
        begin = now()
        self.other.err("TRYLOCK new", "unavailable")
        eventually(lambda: top_fence(self.server.get("held")) >= self.fence, 3,
                   "the lease is put back")
        last = self.other.lock("new", timeout=self.grace + 10)
        self.assertGreater(last, self.fence)
        self.assertGreater(now() - begin, self.grace - 0.1)
        self.other.ok("UNLOCK new")
        self.assert_kept()

    def test_flushdb(self):
        self.prepare(lease=2)
        self.server.cmd("FLUSHDB")
        self.costs_a_grace()

    def test_swapdb(self):
        """There and back: the earlier keys come back, and are outdated."""
        self.prepare(lease=2)
        self.server.cmd("SWAPDB", 0, 1)
        self.costs_a_grace()
        self.holder.ok("UNLOCK held")
        self.fence = self.holder.lock("held")
        self.server.cmd("SWAPDB", 0, 1)
        # The earlier guard is older than a stall: its blessing no longer counts.
        self.costs_a_grace()

    def test_the_first_replica(self):
        """The server begins another history, although nothing was lost: one grace period, and
        another one when its backlog is freed and the replica comes back."""
        self.prepare(lease=2, tcp=True, repl_backlog_ttl=1, repl_diskless_sync_delay=0)
        replica = self.redis()
        Watched.attach(replica, self.server)
        self.costs_a_grace()
        self.assertTrue(self.brokers[0].log_lines("guard-pending.*cause=replica"))
        replica.kill()

        def is_freed():
            return "repl_backlog_active:0" in self.server.cmd("INFO", "replication")
        eventually(is_freed, 15, "the backlog is freed")
        self.costs_a_grace()

    def test_clients_paused(self):
        """CLIENT PAUSE WRITE for longer than the lease, then late answers to all."""
        self.prepare()
        self.server.cmd("CLIENT", "PAUSE", 2500, "WRITE")
        self.assertEqual(self.holder.event(5, kind="LOST").fence, self.fence)
        self.other.err("TRYLOCK held", "unavailable")
        self.assertGreater(self.other.lock("held", timeout=self.grace + 10), self.fence)
        self.assertFalse(self.holder.ask("TRYLOCK held").ok, "granted twice")

    def test_debug_sleep(self):
        """Redis sleeps in a command for longer than the lease."""
        self.prepare(enable_debug_command="yes")
        sleeper = self.server.connect()
        sleeper.send("DEBUG", "SLEEP", "2")
        self.assertEqual(self.holder.event(5, kind="LOST").fence, self.fence)
        self.assertEqual(sleeper.read(), "OK")
        self.assertGreater(self.other.lock("held", timeout=self.grace + 10), self.fence)
        self.assertFalse(self.holder.ask("TRYLOCK held").ok, "granted twice")

    def test_noreplicas(self):
        """min-replicas-to-write: nothing new is granted, and what can't be renewed is lost in
        time."""
        self.prepare()
        self.server.config("min-replicas-to-write", "1")
        self.assertRegex(self.other.err("TRYLOCK new", "unavailable").text, "(?i)replicas")
        self.assertEqual(self.holder.event(5, kind="LOST").fence, self.fence)
        self.assertIsNone(self.server.get("new"))
        self.server.config("min-replicas-to-write", "0")
        self.assertGreater(self.other.lock("held", timeout=self.grace + 10), self.fence)
        self.assertLess(len(self.brokers[0].log_lines("redis-noreplicas")), 4, "a flood")

    def test_the_user_is_deleted(self):
        """Redis closes its connections; if it comes back in time, nothing is lost."""
        self.server = self.redis()
        account = ["on", ">geheim", "~*", "&*", "+@all"]
        self.server.cmd("ACL", "SETUSER", "keeper", *account)
        self.lease, self.grace = 4, grace_of(4)
        self.broker(self.server, lease=4, trust_new=True,
                    redis={"user": "keeper", "password": "geheim", "reply_timeout": "500ms"})
        self.holder, self.other = self.clients(2)
        self.fence = self.holder.lock("held")
        self.server.cmd("ACL", "DELUSER", "keeper")

        def is_told():
            reply = self.other.ask("TRYLOCK new")
            return reply.code == "unavailable" and "WRONGPASS" in reply.text
        eventually(is_told, 5, "the reason")
        self.server.cmd("ACL", "SETUSER", "keeper", *account)
        self.other.lock("new", timeout=10)
        self.assert_kept()


class Herd(SystemTest):
    """Very many clients that want the same name."""

    limit = 60
    count = 2000

    def setUp(self):
        super().setUp()
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, limits)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(limits[1], 3 * self.count), limits[1]))
        self.server = self.redis()
        self.broker(self.server, trust_new=True)
        self.holder, self.other = self.clients(2)
        self.fence = self.holder.lock("x")
        self.herd = [self.join(number) for number in range(1, self.count + 1)]

    def join(self, number):
        """Plain sockets: select() knows no more than 1024."""
        sock = socket.socket(socket.AF_UNIX)
        self.addCleanup(sock.close)
        sock.settimeout(patience(20))
        sock.connect(self.brokers[0].unix_path)
        sock.sendall(b"LOCK x\n")
        if number % 100 == 0:
            eventually(lambda: self.other.ok("STATUS x")["waiters"] == str(number), 20)
        return sock

    def test_all_are_served(self):
        """In the order of arrival, and Redis hears nothing of most of them."""
        self.server.cmd("CONFIG", "RESETSTAT")
        self.holder.ok("UNLOCK x")
        for sock in self.herd:
            line = b""
            while not line.endswith(b"\n"):
                line += sock.recv(200)
            grant = Line(line.decode().strip())
            self.assertGreater(grant.fence, self.fence)
            self.fence = grant.fence
            sock.sendall(b"UNLOCK x\n")
        self.assertLess(self.server.calls("evalsha"), self.count / 4)

    def test_all_die(self):
        """A client that comes then is served at once."""
        for sock in self.herd:
            sock.close()
        self.holder.ok("UNLOCK x")
        self.other.lock("x")
        eventually(lambda: self.other.stats()["clients"] == "2", 20, "all are gone")


class Names(SystemTest):
    """The broker knows Redis by a name, and has an /etc/hosts and /etc/resolv.conf of its own."""

    limit = 60
    name = "redis.lock.test"

    def setUp(self):
        super().setUp()
        if subprocess.run(["unshare", "--mount", "true"], check=False,
                          stderr=subprocess.DEVNULL).returncode:
            self.skipTest("no rights to make a mount namespace")
        self.hosts = os.path.join(self.directory, "hosts")
        self.resolv = os.path.join(self.directory, "resolv")

    def write(self, path, text):
        with open(path, "w", encoding="ascii") as file:
            file.write(text + "\n")

    def start(self, port, address=None, nameserver="127.0.0.1"):
        self.write(self.hosts, f"{address} {self.name}" if address else "127.0.0.1 localhost")
        self.write(self.resolv, f"nameserver {nameserver}\noptions timeout:1 attempts:1")
        broker = self.broker(f"{self.name}:{port}", start=False, lease=2, trust_new=True)
        script = (f"mount --bind {self.hosts} /etc/hosts"
                  f" && mount --bind {self.resolv} /etc/resolv.conf"
                  f" && exec {find_program()} -c {broker.config_path}")
        return broker.start(argv=["unshare", "--mount", "sh", "-c", script])

    def test_it_moves(self):
        """The new address is used as soon as the old one does not answer."""
        one = self.redis(tcp=True)
        two = self.redis(tcp=True, start=False, bind="127.0.0.2")
        two.port = one.port
        two.start()
        broker = self.start(one.port, "127.0.0.1").wait_granting()
        client = self.client()
        fence = client.lock("x")
        client.ok("UNLOCK x")
        self.write(self.hosts, f"127.0.0.2 {self.name}")
        one.kill()
        self.assertGreater(client.lock("x", timeout=20), fence)
        self.assertIsNotNone(two.get("x"))
        self.assertGreater(len(broker.log_lines("redis-up")), 1)

    def test_nobody_at_the_first_address(self):
        """There is another address, so the failure is not logged."""
        server = self.redis(tcp=True)
        broker = self.start(server.port, f"::1 {self.name}\n127.0.0.1").wait_granting()
        self.assertFalse(broker.log_lines("redis-down"))

    def test_nobody_answers_for_names(self):
        """Requests that need no Redis are answered at once; everything works as soon as names
        do."""
        server = self.redis(tcp=True)
        silent = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(silent.close)
        try:
            silent.bind(("127.0.0.9", 53))
        except OSError:
            self.skipTest("port 53 can't be had")
        self.start(server.port, nameserver="127.0.0.9")
        client = self.client()
        for _ in range(5):
            asked = time.monotonic()
            client.ok("PING")
            self.assertLess(time.monotonic() - asked, patience(0.5))
        silent.settimeout(patience(5))
        self.assertIn(b"redis", silent.recv(512))
        client.err("TRYLOCK x", "unavailable")
        self.write(self.hosts, f"127.0.0.1 {self.name}")
        client.lock("x", timeout=20)


if __name__ == "__main__":
    unittest.main()
