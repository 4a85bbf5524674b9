"""A broker with an embedded Redis whose process is replaced: its server stays, and has one owner."""

import ctypes
import errno
import glob
import os
import re
import signal
import struct

from lib.broker import find_program
from lib.case import SystemTest, grace_of, note
from lib.proc import Orphan, pid_gone
from lib.resp import Resp
from lib.wait import eventually, let_time_pass, now

LEASE = 2


def without_pidfds():
    """In the child: has its kernel say that it has no pidfd_open(2), as before Linux 5.3."""
    libc = ctypes.CDLL(None, use_errno=True)
    # Load the number of the call; if it is 434, that error, else allow it.
    code = struct.pack("HBBIHBBIHBBIHBBI", 0x20, 0, 0, 0, 0x15, 0, 1, 434,
                       0x06, 0, 0, 0x00050000 | errno.ENOSYS, 0x06, 0, 0, 0x7fff0000)
    text = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("HP", 4, ctypes.addressof(text))
    if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, program, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "seccomp")


class Embedded(SystemTest):
    limit = 60

    def prepare(self, **settings):
        self.b = self.broker(lease=LEASE, **settings)
        self.server = self.server_pid()
        return self.b

    def sockets(self):
        return glob.glob(os.path.join(self.b.directory, "lockbrokerd-*", "redis.sock"))

    def server_pid(self):
        """None while there is no socket: a server that is restarted makes it anew."""
        path = max(self.sockets(), key=os.path.getmtime, default=None)
        if path is None:
            return None
        server = Resp(f"unix:{path}")
        try:
            return int(re.search(r"process_id:(\d+)", server("INFO", "server"))[1])
        finally:
            server.close()

    def with_grace(self):
        """A session whose connection is lost, and which holds a lock."""
        client = self.client(self.b)
        key = client.ok("SESSION grace=30s")["key"]
        client.lock("graceful")
        client.reset()
        return key

    def assert_nothing_left(self, *pids):
        for pid in (self.server, *pids):
            eventually(lambda pid=pid: pid_gone(pid), 5, f"process {pid} is gone")

    def assert_clean(self):
        """What a stop leaves: the data, the configuration, the log; a crash: its socket, too."""
        self.assertEqual(sorted(set(os.listdir(self.b.directory)) - {"s"}),
                         [f"{self.b.name}.redis", "lockbrokerd.yaml", "log"])

    def ended(self):
        for old in self.b.replaced:
            self.assertEqual(old.wait(), 0)

    # It goes on.

    def test_clients_stay_over_three_replacements(self):
        b = self.prepare()
        holder, waiter = self.client(b), self.client(b)
        fence = holder.lock("a")
        waiter.send("LOCK a")
        key = self.with_grace()
        for i in range(3):
            b.replace()
            self.assertEqual(self.server_pid(), self.server)
            fresh = self.client(b)
            self.assertEqual(fresh.ask("TRYLOCK a").status, "BUSY")
            fresh.lock(f"n{i}")
        self.assertFalse(b.log_lines("guard-pending|redis-server-(died|doubt|aside)"))
        self.assertEqual(len(b.log_lines(f"info redis-server-kept pid={self.server}")), 3)
        again = self.client(b)
        self.assertEqual(again.ok(f"RESUME key={key}")["locks"], "1")
        holder.ok("UNLOCK a")
        self.assertGreater(waiter.reply().fence, fence)
        self.assertTrue(all(event.status == "!LEAVING" for event in holder.events + waiter.events))
        pids = [old.pid for old in b.replaced]
        b.signal(signal.SIGTERM)
        self.assertEqual(b.process.wait(), 0)
        self.ended()
        self.assert_nothing_left(*pids)
        self.assert_clean()

    def test_the_old_process_goes_and_the_server_stays(self):
        b = self.prepare()
        self.assertEqual(b.replace().wait(), 0)
        client = self.client(b)
        client.lock("a")
        self.assertEqual(self.server_pid(), self.server)
        self.assertEqual(b.stop(), 0)
        self.assert_nothing_left()
        self.assert_clean()

    def test_the_data_are_whole_afterwards(self):
        b = self.prepare()
        resp = Resp(f"unix:{b.unix_path}")
        resp("SET", "token", "mine", "NX", "PX", "600000")
        resp.close()
        self.assertEqual(b.replace().wait(), 0)
        for end in (b.stop, b.kill):
            end()
            b.expected_status = 0
            self.assert_nothing_left()
            b.replaced.clear()
            start = now()
            b.start()
            client = self.client(b)
            eventually(lambda client=client: client.ok("READY"), 10, "it grants")
            self.assertLess(now() - start, grace_of(LEASE))
            self.server = self.server_pid()
            self.assertEqual(client.ask("TRYLOCK token").status, "BUSY")
            client.ok("QUIT")
            self.assertEqual(b.replace().wait(), 0)

    # It dies.

    def restarted(self):
        old = self.server

        def is_new():
            self.server = self.server_pid()
            return self.server not in (None, old)

        eventually(is_new, 10, "there is a new server")

    def test_a_server_that_dies_is_restarted_by_its_owner(self):
        b = self.prepare()
        holder = self.client(b)
        fence = holder.lock("a")
        for _ in range(2):
            b.replace()
        eventually(lambda: len(b.log_lines("redis-server-kept")) == 2, 5, "it has its last owner")
        # The first is the child of the process that leaves, the second of its owner.
        for _ in range(2):
            os.kill(self.server, signal.SIGKILL)
            self.restarted()
            client = self.client(b)
            client.lock("b", timeout=15)
            self.assertEqual(client.ask("TRYLOCK a").status, "BUSY")
            client.ok("UNLOCK b")
        self.assertEqual(len(b.log_lines("redis-server-died")), 2)
        self.assertTrue(b.log_lines("redis-server-died how=unknown"))
        self.assertFalse([event for event in holder.events if event.status == "!LOST"])
        # Those that leave follow.
        eventually(lambda: holder.ok("LOCK a").fence == fence, 10)
        holder.ok("UNLOCK a")
        holder.ok("UNLOCK a")
        self.assertGreater(self.client(b).lock("a"), fence)

    def test_a_process_that_leaves_does_not_restart_it(self):
        b = self.prepare()
        holder = self.client(b)
        holder.lock("a")
        old = b.replace()
        b.freeze()
        os.kill(self.server, signal.SIGKILL)
        eventually(lambda: b.log_lines("redis-down"), 15, "the old one notices")
        self.assertTrue(old.alive)
        self.assertEqual(old.children(), [])
        b.thaw()
        self.restarted()

    # Either process dies.

    def test_the_old_process_is_killed_while_it_leaves(self):
        b = self.prepare()
        holder = self.client(b)
        holder.lock("a")
        old = b.replace()
        old.kill()
        b.replaced.clear()
        eventually(lambda: b.log_lines("leaving-died"), 5, "it is noticed")
        self.assertEqual(self.server_pid(), self.server)
        client = self.client(b)
        client.lock("b")
        client.lock("a", timeout=15)

    def successor_killed(self, temporary=False):
        """Returns the process that is left, one that holds `a` there and one that waits for it."""
        self.b = b = self.broker(lease=LEASE, start=False)
        env = {"RUNTIME_DIRECTORY": "", "TMPDIR": b.directory} if temporary else {}
        b.start(env=env).wait_granting()
        self.server = self.server_pid()
        holder, waiter = self.clients(2, b)
        holder.lock("a")
        waiter.send("LOCK a")
        old = b.replace()
        eventually(lambda: b.log_lines("redis-server-kept"), 5, "it has a new owner")
        b.kill()
        b.expected_status = 0
        b.process = old
        eventually(lambda: b.log_lines("successor-gone"), 5, "the old one says so")
        b.replaced.clear()
        return old, holder, waiter

    def test_the_new_process_is_killed(self):
        old, holder, waiter = self.successor_killed()
        self.assertEqual(self.server_pid(), self.server)
        holder.ok("UNLOCK a")
        self.assertTrue(waiter.reply().ok)
        holder.lock("b")
        for client in holder, waiter:
            client.ok("QUIT")
        self.assertEqual(old.wait(), 0)
        self.assert_nothing_left()
        self.assert_clean()

    def test_a_broker_that_is_started_then_shares_its_server(self):
        old, holder, waiter = self.successor_killed()
        b = self.b
        fence = holder.ok("LOCK a").fence
        b.start().wait_granting()
        self.assertEqual(len(b.log_lines(f"redis-server-kept pid={self.server}")), 2)
        fresh = self.client(b)
        self.assertEqual(fresh.ask("TRYLOCK a").status, "BUSY")
        # It is the owner: it restarts the server, and the other one follows.
        os.kill(self.server, signal.SIGKILL)
        self.restarted()
        fresh.lock("b", timeout=15)
        eventually(lambda: holder.ok("LOCK a").fence == fence, 10, "the old one follows")
        for _ in range(3):
            holder.ok("UNLOCK a")
        self.assertGreater(waiter.reply(15).fence, fence)
        self.assertEqual(fresh.ask("TRYLOCK a").status, "BUSY")
        self.assertFalse([event for event in holder.events if event.status == "!LOST"])
        for client in holder, waiter:
            client.ok("QUIT")
        self.assertEqual(old.wait(), 0)
        fresh.lock("a")
        self.assertEqual(self.server_pid(), self.server)
        self.assertEqual(b.stop(), 0)
        self.assert_nothing_left()
        self.assert_clean()

    def test_a_broker_that_was_started_then_stops_first(self):
        old, holder, waiter = self.successor_killed()
        b = self.b
        b.start().wait_granting()
        self.assertEqual(b.stop(), 0)
        self.assertEqual(self.server_pid(), self.server)
        holder.ok("UNLOCK a")
        self.assertTrue(waiter.reply().ok)
        for client in holder, waiter:
            client.ok("QUIT")
        self.assertEqual(old.wait(), 0)
        self.assert_nothing_left()
        self.assert_clean()
        # Nothing but a crash of the machine makes the data doubtful.
        b.start().wait_granting()
        self.assertFalse(b.log_lines("redis-server-(doubt|aside|left)"))

    def test_the_new_process_is_killed_and_the_data_are_temporary(self):
        old, holder, waiter = self.successor_killed(temporary=True)
        # Nobody finds them, so the server ends, and the old process has its clients go elsewhere.
        self.assert_nothing_left()
        self.assertEqual(waiter.reply().code, "shutdown")
        waiter.err("LOCK b", "shutdown")
        self.assertEqual(holder.event(30, kind="LOST").words[1], "a")
        self.assertEqual(old.wait(), 0)

    def slow(self):
        """Begins a replacement, whose new process waits for a file. Returns its pid and that
        file's path."""
        go, program = (os.path.join(self.directory, name) for name in ("go", "lockbrokerd"))
        self.b = b = self.broker(lease=LEASE, start=False)
        os.symlink(find_program(), program)
        b.start(argv=[program, "-c", b.config_path]).wait_granting()
        self.server = self.server_pid()
        with open(program + ".new", "w", encoding="ascii") as file:
            file.write(f'#!/bin/sh\nwhile ! [ -e {go} ]; do sleep 0.05; done\n'
                       f'exec {find_program()} "$@"\n')
        os.chmod(program + ".new", 0o755)
        os.rename(program + ".new", program)
        b.signal(signal.SIGUSR2)
        line = eventually(lambda: b.log_lines(r"replacing pid="), 5, "it begins")[0]
        return int(re.search(r"pid=(\d+)", line)[1]), go

    def test_the_old_process_is_killed_before_the_new_one_is_ready(self):
        pid, go = self.slow()
        b = self.b
        b.process.kill()
        with open(go, "w", encoding="ascii"):
            pass
        b.replaced_by(pid)
        b.replaced.clear()
        eventually(lambda: b.log_lines("takes-over"), 10, "it takes over")
        self.assertEqual(self.server_pid(), self.server)
        self.client(b).lock("a", timeout=20)
        self.assertEqual(b.stop(), 0)
        self.assert_nothing_left()

    def test_the_server_dies_during_a_replacement(self):
        pid, go = self.slow()
        b = self.b
        os.kill(self.server, signal.SIGKILL)
        self.restarted()
        with open(go, "w", encoding="ascii"):
            pass
        eventually(lambda: b.log_lines(f"replaced pid={pid}"), 10, "it is replaced")
        b.replaced_by(pid)
        self.assertTrue(b.log_lines(f"redis-server-kept pid={self.server}"))
        self.client(b).lock("a", timeout=20)
        self.assertEqual(b.stop(), 0)
        self.assert_nothing_left()
        self.assert_clean()

    def test_the_new_process_is_killed_before_it_is_ready(self):
        pid, _ = self.slow()
        os.kill(pid, signal.SIGKILL)
        eventually(lambda: self.b.log_lines("replace-failed .*signal 9"), 5, "it is noticed")
        self.client(self.b).lock("a")
        self.assertEqual(self.server_pid(), self.server)
        self.assertEqual(self.b.stop(), 0)
        self.assert_nothing_left(pid)
        self.assert_clean()

    def test_a_stop_during_a_replacement(self):
        pid, _ = self.slow()
        self.assertEqual(self.b.stop(), 0)
        self.assert_nothing_left(pid)
        self.assert_clean()

    def dies_at(self, seconds, which):
        """Kills one of the two, so long after the replacement began."""
        b = self.prepare()
        old, control = b.process, self.client(b)
        control.send("REPLACE")
        line = eventually(lambda: b.log_lines(r"replacing pid="), 5, "it begins", every=0.0005)[0]
        new = Orphan(int(re.search(r"pid=(\d+)", line)[1]), b.log_path)
        let_time_pass(seconds)
        (old, new)[which].kill()
        if which == 0:
            b.process = new
            eventually(lambda: b.log_lines("takes-over"), 5, "the new one takes over")
        elif eventually(lambda: b.log_lines("replace-failed|successor-gone"), 5, "it is noticed",
                        every=0.001)[0].find("successor-gone") > 0:
            self.assertEqual(self.server_pid(), self.server)
            control.close()
            self.assertEqual(old.wait(), 0)
            self.assert_nothing_left()
            self.assert_clean()
            return "gone"
        self.client(b).lock("a", timeout=15)
        self.assertEqual(self.server_pid(), self.server)
        self.assertEqual(b.stop(), 0)
        self.assert_nothing_left(old.pid, new.pid)
        self.assert_clean()
        return "kept"

    def test_either_dies_at_any_moment(self):
        ends = {"gone": 0, "kept": 0}
        for i in range(24):
            ends[self.dies_at(i // 2 * 0.0007, i % 2)] += 1
        note(f"{ends['kept']} times the killed one left, {ends['gone']} times it was the owner")
        self.assertGreater(ends["kept"], 0)

    # Refused.

    def refused(self, pattern):
        b = self.b
        holder = self.client(b)
        holder.lock("held")
        self.assertRegex(self.client(b).ask("REPLACE", 20).text, pattern)
        holder.silent()
        holder.ok("UNLOCK held")
        # The server is still that of the process that is still there.
        self.assertEqual(self.server_pid(), self.server)
        self.assertEqual(b.process.children(), [self.server])
        os.kill(self.server, signal.SIGKILL)
        self.restarted()
        self.client(b).lock("other", timeout=15)

    def test_a_process_that_does_not_become_ready(self):
        b = self.prepare()
        b.write_config({"locks": {"lease": "soon"}})
        self.refused("unavailable .*locks.lease")

    def test_another_redis(self):
        b = self.prepare()
        b.write_config({"redis": {"mode": "standalone", "nodes": [self.redis().address]}})
        self.refused("unavailable .*another Redis")

    def test_another_name(self):
        b = self.prepare()
        b.write_config({"broker": {"name": "other"}})
        self.refused("unavailable .*broker.name")
        self.assertFalse(os.path.exists(os.path.join(b.directory, "other.redis")))

    def test_a_kernel_that_does_not_tell_of_ends(self):
        self.b = self.broker(lease=LEASE, start=False)
        self.b.start(preexec=without_pidfds).wait_granting()
        self.server = self.server_pid()
        self.refused("unavailable .*Linux 5.3")
        self.assertEqual(self.b.stop(), 0)
        self.assert_nothing_left()
        self.assert_clean()

    # Ends.

    def test_a_stop_ends_those_that_leave_first(self):
        b = self.prepare()
        holders = []
        for i in range(3):
            holders.append(self.client(b))
            holders[-1].lock(f"n{i}")
            b.replace()
        b.signal(signal.SIGTERM)
        for holder in holders:
            holder.event(kind="SHUTDOWN")
        self.assertEqual(b.process.wait(), 0)
        self.ended()
        self.assert_nothing_left()
        self.assert_clean()
        # All was given back while the server was there.
        self.assertFalse(b.log_lines("stop-incomplete|redis-down"))
        b.replaced.clear()
        b.start()
        for i in range(3):
            self.assertTrue(self.client(b).ask(f"TRYLOCK n{i}").ok)

    def test_a_drain_waits_for_those_that_leave(self):
        b = self.prepare()
        holder = self.client(b)
        holder.lock("a")
        old = b.replace()
        self.client(b).ok("DRAIN")
        holder.ok("PING")
        self.assertTrue(old.alive and b.process.alive)
        holder.ok("UNLOCK a")
        self.assertEqual(old.wait(), 0)
        self.assertEqual(b.process.wait(), 0)
        self.assert_nothing_left()
        self.assert_clean()

    def test_leave_bounds_it(self):
        b = self.prepare(broker={"leave": "1s"})
        holder = self.client(b)
        holder.lock("a")
        self.assertEqual(b.replace().wait(), 0)
        self.client(b).lock("a")
        self.assertEqual(self.server_pid(), self.server)
