"""What an embedded Redis keeps in its directory: when it counts, and when it is set aside."""

import glob
import os
import resource
import shutil
import signal
import subprocess
import sys
import unittest

from lib.case import SystemTest, grace_of, stall_of
from lib.proc import pid_gone
from lib.resp import RedisError, Resp
from lib.wait import eventually, let_time_pass, now, parse_ms

LEASE = 2


class EmbeddedData(SystemTest):
    """One broker and its directory."""

    limit = 60

    def prepare(self, **env):
        self.env = {"LOCKBROKER_BOOT": "boot-1", **env}
        self.first = self.broker(lease=LEASE, start=False)
        self.first.start(env=self.env)
        self.a = self.resp()
        eventually(lambda: self.client().ok("READY"), 10, "it grants")
        self.assertEqual(self.a("SET", "x", "t", "NX", "PX", 600000), "OK")

    def resp(self):
        conn = Resp(f"127.0.0.1:{self.first.port}")
        self.addCleanup(conn.close)
        return conn

    def path(self, *more):
        return os.path.join(self.first.directory, f"{self.first.name}.redis", *more)

    def file(self):
        """The part of the append-only file to which Redis adds."""
        return max(glob.glob(self.path("data", "**", "*.incr.aof"), recursive=True)
                   or glob.glob(self.path("data", "*.aof")))

    def kill(self):
        children = self.first.process.children()
        self.first.kill()
        self.first.expected_status = 0
        eventually(lambda: all(pid_gone(pid) for pid in children), 5, "redis-server is gone")

    def again(self, **env):
        self.began = now()
        self.first.start(env={**self.env, **env})
        self.a = self.resp()

    def granted_after(self):
        """Seconds from the start to the first grant."""
        self.client().lock("another", timeout=20)
        return now() - self.began

    def assert_grace(self):
        self.assertGreater(self.granted_after(), grace_of(LEASE) - 0.1)

    def assert_no_grace(self):
        self.assertLess(self.granted_after(), grace_of(LEASE))

    def assert_held(self):
        self.assertEqual(self.a("GET", "x"), "t")
        # On a machine where the start took long, a grace period comes first.
        eventually(lambda: self.client().ok("READY"), 10, "it grants")
        self.assertIsNone(self.a("SET", "x", "other", "NX", "PX", 60000))

    # Starts.

    def test_a_stop_and_a_start_cost_nothing(self):
        self.prepare()
        self.assertEqual(self.first.stop(), 0)
        self.again()
        self.assert_no_grace()
        self.assert_held()
        self.assertFalse(self.first.log_lines("redis-server-(aside|cut|doubt)"))

    def test_a_crash_costs_nothing(self):
        self.prepare()
        killed = now()
        self.kill()
        self.again()
        eventually(lambda: self.client().ok("READY"), 20, "it grants")
        if now() - killed < stall_of(LEASE) / 2:
            self.assertFalse(self.first.log_lines("guard-pending"))
        self.assert_held()

    def test_the_machine_was_off_after_a_stop(self):
        self.prepare()
        self.assertEqual(self.first.stop(), 0)
        self.again(LOCKBROKER_BOOT="boot-2")
        self.assert_no_grace()
        self.assert_held()

    def test_the_machine_crashed(self):
        self.prepare()
        self.kill()
        self.again(LOCKBROKER_BOOT="boot-2")
        self.assertTrue(self.first.log_lines("warning redis-server-aside .*machine was off"))
        self.assert_grace()
        self.assertEqual(self.a("EXISTS", "x"), 0)
        self.assertTrue(os.listdir(self.path("aside")))
        # That is over: the next crash costs nothing more.
        self.assertEqual(self.a("SET", "x", "t", "NX", "PX", 600000), "OK")
        self.kill()
        self.again(LOCKBROKER_BOOT="boot-2")
        self.assert_held()

    def test_a_crash_in_the_grace_period(self):
        self.prepare()
        self.kill()
        self.again(LOCKBROKER_BOOT="boot-2")
        self.kill()
        self.again(LOCKBROKER_BOOT="boot-2")
        self.assertTrue(self.first.log_lines("warning redis-server-doubt"))
        self.assert_grace()

    def test_a_boot_that_is_not_known(self):
        self.prepare(LOCKBROKER_BOOT="")
        self.kill()
        self.again()
        self.assertTrue(self.first.log_lines("warning redis-server-doubt"))
        self.assert_grace()
        self.assert_held()

    def test_the_state_directory_comes_first(self):
        state = os.path.join(self.directory, "state")
        os.mkdir(state)
        self.prepare(STATE_DIRECTORY=state)
        self.assertEqual(os.listdir(state), ["b1.redis"])
        self.assertEqual(os.stat(os.path.join(state, "b1.redis")).st_mode & 0o777, 0o700)
        self.assertFalse(os.path.exists(self.path()))
        self.kill()
        self.again()
        self.assert_held()

    def test_a_lease_outlives_its_broker_as_long_as_was_told(self):
        self.prepare()
        client = self.client()
        client.lock("l")
        start, valid = now(), parse_ms(client.ok("PING")["valid"]) / 1000
        self.kill()
        self.again()
        self.client().lock("l", timeout=20)
        self.assertGreater(now() - start, valid)

    # Damage.

    def test_a_damaged_file_is_set_aside(self):
        self.prepare()
        self.kill()
        with open(self.file(), "r+b") as file:
            file.seek(100)
            file.write(b"#" * 50)
        self.again()
        self.assertTrue(self.first.log_lines("warning redis-server-aside .*cannot read it"))
        self.assert_grace()
        self.assertEqual(self.a("EXISTS", "x"), 0)
        self.assertTrue(os.listdir(self.path("aside")))

    def test_a_missing_part_is_set_aside(self):
        self.prepare()
        self.kill()
        os.unlink(self.file())
        self.again()
        self.assertTrue(self.first.log_lines("warning redis-server-aside|redis-server-cut"))
        self.assert_grace()

    def test_a_broken_end_is_left_out(self):
        self.prepare()
        self.assertEqual(self.a("SET", "later", "t", "NX", "PX", 60000), "OK")
        self.kill()
        os.truncate(self.file(), os.path.getsize(self.file()) - 3)
        self.again()
        self.assertTrue(self.first.log_lines("warning redis-server-cut"))
        self.assertFalse(self.first.log_lines("redis-server-aside"))
        self.assert_grace()
        self.assert_held()

    def test_it_is_damaged_while_the_broker_runs(self):
        """Redis dies, and can't read its file: the broker writes again what it has."""
        self.prepare()
        holder = self.client()
        fence = holder.lock("l")
        with open(self.file(), "r+b") as file:
            file.seek(100)
            file.write(b"#" * 50)
        os.kill(self.first.process.children()[0], signal.SIGKILL)
        eventually(lambda: self.first.log_lines("redis-server-aside"), 5, "it is set aside")
        other = self.client()
        self.assertGreater(other.lock("free", timeout=20), fence)
        self.assert_held()
        self.assertEqual(other.ask("TRYLOCK l").status, "BUSY")
        holder.ok("UNLOCK l")

    def test_a_program_that_fails_is_not_the_fault_of_the_file(self):
        self.prepare()
        self.kill()
        server = self.first.settings["redis"]["server"]
        self.first.write_config({"redis": {"server": "false"}})
        self.first.spawn(env=self.env)
        self.assertEqual(self.first.process.wait(), 1)
        self.first.write_config({"redis": {"server": server}})
        self.again()
        self.assert_grace()
        self.assert_held()

    def redis(self):
        (path,) = glob.glob(os.path.join(self.first.directory, "lockbrokerd-*", "redis.sock"))
        conn = Resp("unix:" + path)
        self.addCleanup(conn.close)
        return conn

    def test_it_is_emptied(self):
        self.prepare()
        holder = self.client()
        holder.lock("l")
        self.began = now()
        self.redis()("FLUSHALL")
        self.assert_grace()
        self.assert_held()
        self.assertEqual(self.client().ask("TRYLOCK l").status, "BUSY")

    def test_redis_dies_in_the_grace_period(self):
        self.prepare()
        self.began = now()
        self.redis()("FLUSHALL")
        eventually(lambda: self.first.log_lines("guard-pending"), 5, "a grace period")
        os.kill(self.first.process.children()[0], signal.SIGKILL)
        self.assert_grace()
        self.assert_held()

    # Disks.

    @staticmethod
    def bear_limits():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    def fill(self):
        """As if the disk were full: returns what sets it free."""
        (child,) = self.first.process.children()
        most = resource.prlimit(child, resource.RLIMIT_FSIZE)
        resource.prlimit(child, resource.RLIMIT_FSIZE, (os.path.getsize(self.file()), most[1]))
        eventually(lambda: self.first.log_lines("error redis-server-stuck"), 5, "it is stuck")
        return lambda: resource.prlimit(child, resource.RLIMIT_FSIZE, most)

    def prepare_disk(self):
        self.env = {"LOCKBROKER_BOOT": "boot-1"}
        self.first = self.broker(lease=LEASE, start=False)
        self.first.start(env=self.env, preexec=self.bear_limits)
        self.a = self.resp()
        eventually(lambda: self.client().ok("READY"), 10, "it grants")
        self.assertEqual(self.a("SET", "x", "t", "NX", "PX", 600000), "OK")

    def test_a_full_disk_refuses_and_says_so(self):
        self.prepare_disk()
        free = self.fill()
        self.assertRaises(RedisError, self.a, "SET", "y", "t", "NX", "PX", 60000)
        reply = self.client().ask("TRYLOCK l")
        self.assertRegex(str(reply), "unavailable.*(MISCONF|disk|write|save)")
        (line,) = self.first.log_lines("error redis-server-stuck")
        self.assertIn("free some space", line)
        free()
        eventually(lambda: self.first.log_lines("notice redis-server-writes"), 5, "it writes")
        self.client().lock("l", timeout=20)
        self.assert_held()
        self.assertEqual(self.a("SET", "y", "t", "NX", "PX", 600000), "OK")
        # Redis may have failed again meanwhile, and tells that not before half a minute is over.
        self.kill()
        self.again()
        self.assertTrue(self.first.log_lines("warning redis-server-doubt"))
        self.assert_grace()
        self.assert_held()

    def test_a_crash_while_the_disk_is_full(self):
        self.prepare_disk()
        self.fill()
        self.kill()
        self.again()
        self.assertTrue(self.first.log_lines("warning redis-server-doubt"))
        self.assert_grace()
        self.assert_held()

    def test_a_redis_that_dies_while_the_disk_is_full(self):
        self.prepare_disk()
        holder = self.client()
        holder.lock("l")
        self.fill()
        os.kill(self.first.process.children()[0], signal.SIGKILL)
        eventually(lambda: self.first.log_lines("guard-pending"), 10, "a grace period")
        self.client().lock("free", timeout=20)
        self.assertEqual(self.client().ask("TRYLOCK l").status, "BUSY")

    # Others.

    def test_two_brokers_do_not_share_it(self):
        self.prepare()
        second = self.broker(start=False)
        second.write_config({"broker": {"name": "b1"}})
        second.spawn(env={**self.env, "RUNTIME_DIRECTORY": self.first.directory})
        self.assertEqual(second.process.wait(), 1)
        second.expected_status = 1
        (line,) = second.log_lines("error redis-impossible")
        self.assertIn("another lockbrokerd uses", line)
        self.assertIn("broker.name", line)
        self.assert_held()
        self.kill()
        self.again()
        self.assert_held()

    def test_a_server_that_was_left_is_ended(self):
        self.prepare()
        self.kill()
        code = ("import fcntl, os, sys, time\n"
                "fd = os.open(sys.argv[1], os.O_RDWR)\n"
                "fcntl.lockf(fd, fcntl.LOCK_EX, 1, 1)\n"
                "print('locked', flush=True)\n"
                "time.sleep(600)\n")
        with subprocess.Popen([sys.executable, "-c", code, self.path("lock")],
                              stdout=subprocess.PIPE) as left:
            self.assertEqual(left.stdout.readline(), b"locked\n")
            self.again()
            self.assertEqual(left.wait(10), -signal.SIGKILL)
        self.assertTrue(self.first.log_lines(f"warning redis-server-left pid={left.pid}"))
        eventually(lambda: self.a("GET", "x") == "t", 10, "it serves")

    def test_no_directories_pile_up(self):
        self.prepare()
        lives = os.path.join(self.first.directory, "lockbrokerd-*", "life")
        for _ in range(3):
            self.kill()
            for path in glob.glob(lives):
                os.utime(path, (1, 1))
            self.again()
            self.assert_held()
        self.assertEqual(len(glob.glob(os.path.dirname(lives))), 1)
        self.assertEqual(self.first.stop(), 0)
        self.assertEqual(glob.glob(os.path.dirname(lives)), [])

    @unittest.skipUnless(shutil.which("systemd-tmpfiles"), "systemd-tmpfiles is not there")
    def test_what_cleans_tmp_leaves_it_alone(self):
        tmp = os.path.join(self.directory, "tmp")
        os.mkdir(tmp)
        self.first = self.broker(lease=LEASE, start=False)
        self.first.start(env={"TMPDIR": tmp, "RUNTIME_DIRECTORY": ""})
        self.first.replace()
        other = os.path.join(tmp, "other")
        with open(other, "w", encoding="ascii"):
            pass
        let_time_pass(1.1)
        rules = os.path.join(self.directory, "tmp.conf")
        with open(rules, "w", encoding="ascii") as file:
            file.write(f"e {tmp} - - - 1s\n")
        def kept():
            return sorted(glob.glob(os.path.join(tmp, "lockbrokerd-*", "**"), recursive=True))
        before = kept()
        subprocess.run(["systemd-tmpfiles", "--clean", rules], check=True)
        self.assertFalse(os.path.exists(other))
        self.assertEqual(kept(), before)

    def test_a_directory_that_can_not_be_made(self):
        self.first = self.broker(start=False)
        self.first.spawn(env={"STATE_DIRECTORY": "/proc/none"})
        self.assertEqual(self.first.process.wait(), 1)
        self.first.expected_status = 1
        (line,) = self.first.log_lines("error redis-impossible")
        self.assertIn("/proc/none/b1.redis", line)
