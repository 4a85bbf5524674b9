"""The disk of an embedded Redis is full: what it has answered is in its file, or nobody counts on it.

Redis answers what it carries out in the turn in which it finds that it can't write, and refuses
from then on. Here it, or it and its broker, are killed in between.
"""

import glob
import os
import re
import signal
import subprocess
import unittest

from lib.case import SystemTest
from lib.proc import pid_gone
from lib.resp import RedisError, Resp
from lib.wait import eventually, let_time_pass, now

LEASE = 3
SIZE = "3m"


@unittest.skipUnless(os.getuid() == 0, "root makes the disk")
class Full(SystemTest):
    limit = 90

    def prepare(self):
        self.disk = os.path.join(self.directory, "disk")
        os.mkdir(self.disk)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", self.disk],
                          check=False, capture_output=True).returncode != 0:
            self.skipTest("no file system can be mounted")
        self.addCleanup(subprocess.run, ["umount", "-l", self.disk], check=True)
        self.env = {"STATE_DIRECTORY": self.disk}
        self.b = self.broker(lease=LEASE, start=False, redis={"reply_timeout": "1s"})
        self.b.start(env=self.env)
        self.client_ready()
        self.find_server()

    def client_ready(self):
        eventually(lambda: self.client().ask("READY").ok, 30, "it grants")

    def resp(self):
        conn = Resp(f"127.0.0.1:{self.b.port}")
        self.addCleanup(conn.close)
        return conn

    def fill(self):
        """Leaves no room; returns what frees it."""
        path = os.path.join(self.disk, "filler")
        with open(path, "wb", buffering=0) as file:
            for size in (65536, 4096, 1):
                try:
                    while file.write(b"x" * size) == size:
                        pass
                except OSError:
                    pass
        return lambda: os.unlink(path)

    def is_written(self, word):
        paths = glob.glob(os.path.join(self.disk, "**", "*.aof"), recursive=True)
        return any(word.encode() in open(path, "rb").read() for path in paths)

    def unwritten(self, take):
        """The first name that is granted and not in the file, or None: something else of the
        broker's came first and was refused."""
        for number in range(200):
            name = f"n{number}-{'x' * 200}"
            if not take(name):
                return None
            if not self.is_written(name):
                return name
        return None

    def find_server(self):
        """It may be a child of the process that leaves."""
        (path,) = glob.glob(os.path.join(self.b.directory, "lockbrokerd-*", "redis.sock"))
        server = Resp(f"unix:{path}")
        self.pid = int(re.search(r"process_id:(\d+)", server("INFO", "server"))[1])
        server.close()

    def kill_server(self):
        os.kill(self.pid, signal.SIGKILL)

    def kill_both(self):
        self.b.freeze()
        self.kill_server()
        self.b.kill()
        self.b.expected_status = 0
        eventually(lambda: pid_gone(self.pid), 5, "redis-server is gone")

    def take_token(self, name):
        try:
            return self.a("SET", name, "t" * 500, "NX", "PX", 600000) == "OK"
        except RedisError:
            return False

    def until_unwritten(self, take):
        """Fills the disk until something is answered that is not in the file."""
        for _ in range(5):
            free = self.fill()
            name = self.unwritten(take)
            if name is not None:
                return name, free
            free()
            eventually(lambda: self.client().ask("READY").ok, 30, "it grants again")
        self.skipTest("each time something else was refused")

    def assert_doubted(self):
        self.assertTrue(self.b.log_lines("error redis-server-stuck"))

    def test_a_token_hold_while_the_server_dies(self):
        self.prepare()
        self.a = self.resp()
        name, free = self.until_unwritten(self.take_token)
        self.kill_server()
        free()
        end = now() + 3 * LEASE
        other = self.resp()
        while now() < end:
            try:
                self.assertIsNone(other("SET", name, "other", "NX", "PX", 600000))
            except RedisError:
                pass
            let_time_pass(0.05)
        self.client_ready()
        self.assertIsNone(other("SET", name, "other", "NX", "PX", 600000))
        self.assertEqual(other("GET", name), "t" * 500)
        self.assert_doubted()
        self.assertTrue(self.b.log_lines("guard-pending"))

    def is_lost(self):
        return any(event.status == "!LOST" for event in self.holder.events)

    def take_lock(self, name):
        return self.holder.ask(f"TRYLOCK {name}").ok

    def test_a_lock_of_the_process_that_leaves(self):
        """The server is that of the new process, which has never heard of the lock."""
        self.prepare()
        self.holder = self.client()
        self.b.replace()
        name, free = self.until_unwritten(self.take_lock)
        valid = int(self.holder.ok("PING")["valid"].removesuffix("ms")) / 1000
        end = now() + valid
        self.kill_server()
        free()
        other = self.client()
        while now() < end - 0.05 and not self.is_lost():
            self.assertFalse(other.ask(f"TRYLOCK {name}").ok)
            self.holder.pump(0.05)

    def test_a_lock_while_server_and_broker_die(self):
        self.prepare()
        self.holder = self.client()
        name, free = self.until_unwritten(self.take_lock)
        valid = int(self.holder.ok("PING")["valid"].removesuffix("ms")) / 1000
        end = now() + valid
        self.kill_both()
        free()
        self.b.start(env=self.env)
        other = self.client()
        other.lock(name, timeout=30)
        self.assertGreater(now(), end)
        self.assertTrue(self.b.log_lines("warning redis-server-doubt"))
