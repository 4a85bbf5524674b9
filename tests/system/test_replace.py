"""A broker whose process is replaced: REPLACE, SIGUSR2, `lockbroker replace`."""

import os
import pwd
import re
import signal
import socket
import subprocess

from lib import http
from lib.broker import find_program
from lib.case import SystemTest
from lib.client import Client
from lib.proc import pid_gone
from lib.resp import Resp
from lib.wait import eventually, hang, now, patience


class Plain:
    """A client of which there may be very many."""

    def __init__(self, path):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(hang())
        self.sock.connect(path)
        self.file = self.sock.makefile("rb")

    def send(self, line):
        self.sock.sendall(line.encode() + b"\n")

    def line(self):
        return self.file.readline().decode()

    def close(self):
        self.file.close()
        self.sock.close()


class Replaced(SystemTest):
    limit = 60

    def replaceable(self, **settings):
        settings.setdefault("listen", [
            {"unix": os.path.join(self.directory, "b1", "s")}, {"tcp": "127.0.0.1:0"},
            {"http": "127.0.0.1:0"}])
        self.b = self.broker(self.redis(), trust_new=True, **settings)
        line = self.b.log_lines(r"listening address=127\.0\.0\.1:\d+$")[0]
        self.tcp = ("127.0.0.1", int(line.rsplit(":", 1)[1]))
        return self.b

    def over_tcp(self):
        client = Client(self.tcp)
        self.addCleanup(client.close)
        return client

    def test_clients_stay_and_new_ones_come_to_the_new_process(self):
        b = self.replaceable()
        holder, waiter = self.over_tcp(), self.client(b)
        fence = holder.lock("a")
        waiter.send("LOCK a")
        admin = self.client(b)
        eventually(lambda: admin.stats()["waiters"] == "1", 5, "it waits")
        self.assertEqual(admin.stats()["replaced_total"], "0")
        admin.close()
        old = b.replace()
        self.assertRegex(holder.event().text, r"^!LEAVING left=\d+ms$")
        fresh = self.over_tcp()
        fresh.send("LOCK a")
        # The one that has waited longer has it first, and another process has it then.
        holder.ok("UNLOCK a")
        self.assertGreater(waiter.reply().fence, fence)
        self.assertTrue(old.alive)
        stats = self.client(b).stats()
        self.assertEqual(stats["leaving"], "1")
        self.assertEqual(stats["replaced_total"], "1")
        watcher = self.client(b)
        eventually(lambda: watcher.stats()["leaving_clients"] == "2", 5, "they are counted")
        eventually(lambda: self.brokers_of(watcher) == ["leaving=1", "self=1"], 10,
                   "BROKERS tells who leaves")
        watcher.close()
        waiter.ok("UNLOCK a")
        self.assertGreater(fresh.reply().fence, fence + 1)
        waiter.ok("QUIT")
        holder.ok("QUIT")
        self.assertEqual(old.wait(), 0)
        eventually(lambda: self.client(b).stats()["leaving"] == "0", 5, "none leaves")
        self.assertTrue(b.log_lines(rf"replaced pid={b.pid} clients=\d+ holds=1 took_ms=\d+"))
        self.assertTrue(b.log_lines(r"left after_ms=\d+"))
        fresh.ok("UNLOCK a")

    @staticmethod
    def brokers_of(client):
        """What BROKERS says of each, beside what all have."""
        words = [word for row in client.ok("BROKERS").body for word in row.split()]
        return sorted(word for word in words
                      if word.split("=")[0] in ("leaving", "self", "missing"))

    def test_one_that_has_not_spoken_is_told_later(self):
        """What it speaks is not known yet."""
        b = self.replaceable()
        lines, resp = self.client(b), Resp(f"unix:{b.unix_path}")
        self.addCleanup(resp.close)
        b.replace()
        self.assertEqual(resp("PING"), "PONG")
        self.assertTrue(lines.silent())
        lines.ok("PING")
        self.assertRegex(lines.event().text, r"^!LEAVING left=\d+ms$")
        b.stop()
        lines.event(kind="SHUTDOWN")

    def test_every_socket_goes_on(self):
        """Also those whose port the kernel has chosen, and over and over."""
        b = self.replaceable()
        web = http.of(b)
        for _ in range(3):
            old = b.replace()
            self.assertEqual(old.wait(), 0)
            for address in (b.unix_path, self.tcp):
                client = Client(address)
                client.ok("PING")
                client.close()
            self.assertEqual(web.get("/readyz").status, 200)
        self.assertEqual(self.client(b).stats()["replaced_total"], "3")
        self.assertEqual(b.stop(), 0)
        self.assertFalse(os.path.exists(b.unix_path))

    def test_an_http_request_that_is_under_way(self):
        b = self.replaceable()
        web = http.of(b)
        with socket.create_connection(("127.0.0.1", web.port), timeout=20) as half:
            half.sendall(b"GET /readyz HTTP/1.1\r\n")
            web.get("/readyz")
            old = b.replace()
            b.replace()
            half.sendall(b"Host: 127.0.0.1\r\n\r\n")
            self.assertIn(b" 200 ", half.recv(100))
        self.assertEqual(old.wait(), 0)

    def test_sockets_that_the_configuration_drops_and_brings(self):
        b = self.replaceable()
        second = os.path.join(self.directory, "second")
        b.write_config({"listen": [{"unix": second}]})
        b.replace()
        b.unix_path, first = second, b.unix_path
        Client(second).close()
        eventually(lambda: not os.path.exists(first), 5, "its path is removed")
        eventually(self.is_closed, 15, "nobody listens there any more")

    def is_closed(self):
        try:
            Client(self.tcp).close()
        except OSError:
            return True
        return False

    def test_signal(self):
        b = self.replaceable()
        b.signal(signal.SIGUSR2)
        line = eventually(lambda: b.log_lines(r"replaced pid="), 10, "it is replaced")[0]
        old = b.replaced_by(int(re.search(r"pid=(\d+)", line)[1]))
        self.assertEqual(old.wait(), 0)
        self.client(b).ok("PING")

    @staticmethod
    def command(b, meanwhile=lambda: None):
        """Its exit status, output, and errors."""
        with subprocess.Popen([find_program("lockbroker"), "-S", b.unix_path, "replace"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as asked:
            meanwhile()
            out, errors = asked.communicate()
        return subprocess.CompletedProcess(asked.args, asked.returncode, out, errors)

    def test_the_command(self):
        b = self.replaceable()
        done = self.command(b)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^replaced pid=\d+\n$")
        b.replaced_by(int(done.stdout.split("=")[1]))
        self.client(b).ok("PING")

    def test_only_administrators_may(self):
        b = self.replaceable()
        self.over_tcp().err("REPLACE", "denied")

    def test_one_at_a_time(self):
        b = self.replaceable()
        first, second = self.client(b), self.client(b)
        first.send("REPLACE")
        eventually(lambda: b.log_lines("replacing pid="), 5, "it begins")
        second.send("REPLACE")
        replies = [first.reply(), second.reply()]
        b.replaced_by(int(replies[0]["pid"]))
        self.assertEqual(replies[1].code, "unavailable")

    # Sessions that are resumed.

    def with_grace(self):
        """A session of a process that leaves by now, whose connection is lost."""
        client = self.client(self.b)
        key = client.ok("SESSION grace=30s label=mine")["key"]
        fence = client.lock("a")
        client.reset()
        old = self.b.replace()
        return old, key, fence

    def test_a_session_of_the_old_process_is_resumed_at_the_new_one(self):
        b = self.replaceable()
        for connect in (self.over_tcp, lambda: self.client(b)):
            old, key, fence = self.with_grace()
            # One that left long ago is found, too.
            b.replace()
            client = connect()
            client.err("RESUME key=" + "0" * 48, "not-found")
            # What comes behind the request comes along.
            client.send_raw(f"RESUME key={key}\r\nLIST\r\n@x LOCK a\r\nPI".encode())
            self.assertEqual(client.reply()["locks"], "1")
            self.assertIn(f"depth=1 fence={fence}", client.reply().body[0])
            self.assertEqual(client.reply(tag="x")["depth"], "2")
            client.send_raw(b"NG\r\n")
            self.assertTrue(client.reply().ok)
            self.assertTrue(old.alive)
            client.ok("UNLOCK a")
            client.ok("UNLOCK a")
            client.ok("QUIT")
            client.expect_eof()
            self.assertEqual(old.wait(), 0)

    def test_one_that_has_not_the_session_goes_before_the_other_answers(self):
        b = self.replaceable()
        old, key, fence = self.with_grace()
        stays = self.client(b)
        between = b.replace()
        other, client = self.client(b), self.client(b)
        old.freeze()
        client.send(f"RESUME key={key}")
        other.ok("PING")
        stays.ok("PING")
        stays.ok("QUIT")
        self.assertEqual(between.wait(), 0)
        eventually(lambda: other.stats()["leaving"] == "1", 5, "the new one knows")
        old.thaw()
        self.assertEqual(client.reply()["locks"], "1")
        self.assertIn(f"fence={fence}", client.ok("LIST").body[0])
        client.ok("UNLOCK a")

    def test_a_resume_at_a_process_that_leaves_itself(self):
        b = self.replaceable()
        old, key, fence = self.with_grace()
        stays, other = self.client(b), self.client(b)
        between = b.replace()
        stays.ok(f"RESUME key={key}")
        self.assertIn(f"fence={fence}", stays.ok("LIST").body[0])
        stays.ok("UNLOCK a")
        stays.ok("QUIT")
        self.assertEqual(old.wait(), 0)
        # So does one of the process that has replaced it.
        latest = self.client(b)
        key = latest.ok("SESSION grace=30s")["key"]
        latest.lock("b")
        latest.reset()
        other.err("RESUME key=" + "0" * 48, "not-found")
        other.ok(f"RESUME key={key}")
        self.assertEqual(between.wait(), 0)
        other.ok("UNLOCK b")

    def test_a_resume_that_is_under_way_when_its_process_is_replaced(self):
        b = self.replaceable()
        old, key, _ = self.with_grace()
        client, other = self.client(b), self.client(b)
        old.freeze()
        client.send(f"RESUME key={key}")
        other.ok("PING")
        b.replace()
        old.thaw()
        self.assertTrue(client.reply().ok)
        client.ok("UNLOCK a")

    def test_one_that_leaves_while_the_next_replacement_is_under_way(self):
        b = self.replaceable()
        stays, admin = self.client(b), self.client(b)
        old = b.replace()
        admin.close()
        admin = self.client(b)
        self.servers[0].freeze()
        admin.send("REPLACE")
        eventually(lambda: len(b.log_lines("replacing pid=")) == 2, 5, "it begins")
        stays.ok("QUIT")
        self.assertEqual(old.wait(), 0)
        self.servers[0].thaw()
        b.replaced_by(int(admin.reply(30)["pid"]))
        eventually(lambda: self.client(b).stats()["leaving"] == "1", 5, "it is noticed")
        self.assertEqual(b.log_lines("leaving-died"), [])

    def test_a_session_is_resumed_over_resp(self):
        b = self.replaceable()
        _, key, _ = self.with_grace()
        resp = Resp(f"unix:{b.unix_path}")
        self.addCleanup(resp.close)
        resp("HELLO", "3")
        self.assertIn("locks", str(resp("RESUME", f"key={key}")))
        resp("UNLOCK", "a")
        resp.close()

    def test_a_tagged_resume(self):
        b = self.replaceable()
        _, key, _ = self.with_grace()
        client = self.client(b)
        client.send(f"@7 RESUME key={key}")
        self.assertEqual(client.reply(tag="7")["locks"], "1")
        client.ok("UNLOCK a")

    def test_only_its_user_resumes_a_session(self):
        me = pwd.getpwuid(os.getuid()).pw_name
        b = self.replaceable(auth={
            "users": [{"name": "me", "unix": [me], "admin": True, "lock": ["*"]}],
            "anonymous": {"lock": ["*"]}})
        old, key, _ = self.with_grace()
        self.over_tcp().err(f"RESUME key={key}", "not-found")
        client = self.client(b)
        client.ok(f"RESUME key={key}")
        self.assertEqual(client.ok("WHOAMI")["user"], "me")
        client.ok("QUIT")
        self.assertEqual(old.wait(), 0)

    def test_a_resume_while_the_process_that_leaves_is_frozen(self):
        b = self.replaceable()
        old, key, _ = self.with_grace()
        old.freeze()
        client = self.client(b)
        client.err(f"RESUME key={key}", "unavailable")
        old.thaw()
        client.ok(f"RESUME key={key}")
        client.ok("QUIT")
        self.assertEqual(old.wait(), 0)

    def test_token_holds_pass_to_the_new_process(self):
        """Which looks after them then: they are there also if Redis forgets them."""
        b = self.replaceable(locks={"lease": "1s"})
        resp = Resp(f"unix:{b.unix_path}")
        resp("SET", "token", "mine", "NX", "PX", "600000")
        resp.close()
        old = b.replace()
        self.assertEqual(old.wait(), 0)
        self.taken_up(b, 1)
        resp = Resp(f"unix:{b.unix_path}")
        self.addCleanup(resp.close)
        self.assertEqual(resp("GET", "token"), "mine")
        resp("DEL", "token")
        self.assertEqual(self.client(b).ok("STATUS token")["state"], "free")

    def taken_up(self, b, count):
        watcher = self.client(b)
        eventually(lambda: watcher.stats()["token_holds"] == str(count), 10, "taken up")
        watcher.close()

    def test_token_holds_pass_while_the_old_process_still_leaves(self):
        """They are of no connection; what is taken through the old one later is its own."""
        b = self.replaceable(locks={"lease": "1s"})
        resp, stays = Resp(f"unix:{b.unix_path}"), self.client(b)
        self.addCleanup(resp.close)
        resp("SET", "token", "mine", "NX", "PX", "600000")
        fence = resp("LB.FENCE", "token", "mine")
        stays.ok("LOCK kept keep=10m")
        old = b.replace()
        start = now()
        self.taken_up(b, 1)
        self.assert_within(0, now() - start, patience(3))
        self.assertTrue(old.alive)
        self.assertIn(" count=1", b.log_lines("tokens-adopted")[0])
        # Through either process it is the hold that it was.
        self.assertEqual(resp("LB.FENCE", "token", "mine"), fence)
        self.assertIsNone(resp("SET", "token", "other", "NX", "PX", "1000"))
        self.assertEqual(resp("PEXPIRE", "token", "500000"), 1)
        self.assertEqual(stays.ok("LIST").body[0].split()[1], "kept")
        resp("SET", "later", "mine", "NX", "PX", "600000")
        self.taken_up(b, 0)
        old.kill()
        b.replaced.clear()
        # So does the name that is kept, for nobody now.
        self.taken_up(b, 3)

    def test_a_hold_lasts_no_longer_for_being_handed_over_often(self):
        b = self.replaceable(locks={"lease": "1s"})
        resp = Resp(f"unix:{b.unix_path}")
        start = now()
        resp("SET", "token", "mine", "NX", "PX", "60000")
        resp.close()
        for _ in range(3):
            self.assertEqual(b.replace().wait(), 0)
            self.taken_up(b, 1)
            taken = now()
            eventually(lambda since=taken: now() > since + 1.5, 5, "it was looked at once more")
        # A pad longer, for steps of the clock of Redis, and that once.
        left = self.servers[0].pttl("token") / 1000 + now() - start
        self.assert_within(60, left, 60.8)

    def test_what_is_kept_for_nobody_passes_while_the_old_process_still_leaves(self):
        b = self.replaceable(locks={"lease": "1s"})
        stays, gone, waits = self.client(b), self.client(b), self.client(b)
        fence = gone.ok("LOCK kept keep=10m").fence
        gone.ok("LOCK soon keep=6s")
        gone.ok("LOCK late delay=10m")
        stays.ok("LOCK mine keep=10m")
        stays.ok("UNLOCK mine")
        gone.close()
        waits.send("LOCK soon")
        eventually(lambda: stays.stats()["waiters"] == "1" and stays.stats()["locks_held"] == "0", 5,
                   "it waits, and nobody holds")
        old = b.replace()
        # What its holder may come back for stays where that is.
        self.taken_up(b, 3)
        self.assertTrue(old.alive)
        self.assertIn(" count=3", b.log_lines("tokens-adopted")[0])
        fresh = self.client(b)
        self.assertEqual(int(fresh.ok("STATUS kept")["fence"]), fence)
        for name in ("kept", "late", "mine"):
            self.assertEqual(fresh.ask(f"TRYLOCK {name}").status, "BUSY")
            self.assertEqual(stays.ask(f"TRYLOCK {name}").status,
                             "OK" if name == "mine" else "BUSY")
        # It ends when it would have, and passes on.
        self.assertGreater(waits.reply(15).fence, fence)
        waits.ok("UNLOCK soon")
        fresh.lock("soon")
        # Redis forgets it, and the new process writes it again.
        old.kill()
        b.replaced.clear()
        self.servers[0].kill()
        self.servers[0].start()
        fresh.lock("new", timeout=15)
        self.assertEqual(int(fresh.ok("STATUS kept")["fence"]), fence)
        self.assertEqual(fresh.ask("TRYLOCK late").status, "BUSY")

    # Refused beforehand.

    def refused(self, b, pattern, meanwhile=lambda: None):
        holder = self.client(b)
        fence = holder.lock("held")
        done = self.command(b, meanwhile)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, pattern)
        self.assertTrue(b.log_lines("replace-failed why="))
        # As if nothing had been asked.
        holder.silent()
        holder.ok("UNLOCK held")
        self.assertGreater(holder.lock("held"), fence)
        holder.close()
        self.client(b).ok("PING")
        self.assertEqual(b.process.children(), [])

    def test_a_faulty_configuration(self):
        b = self.replaceable()
        b.write_config({"locks": {"lease": "soon"}})
        self.refused(b, "status 2: .*locks.lease")

    def test_a_place_that_is_taken(self):
        b = self.replaceable()
        taken = self.broker(b.settings["redis"]["nodes"][0])
        b.write_config({"listen": [{"unix": b.unix_path},
                                   {"tcp": f"127.0.0.1:{taken.port}"}]})
        self.refused(b, "status 1: listen-failed: .*already in use")

    def test_another_redis(self):
        b = self.replaceable()
        b.write_config({"redis": {"prefix": "other:"}})
        self.refused(b, "another Redis")

    def test_an_embedded_redis_instead(self):
        b = self.replaceable()
        before = sorted(os.listdir(b.directory))
        b.write_config({"redis": {"mode": "embedded", "nodes": []}})
        self.refused(b, "another Redis")
        self.assertEqual(sorted(os.listdir(b.directory)), before)

    def copied(self, clock=None):
        """A broker whose program is a file of its own."""
        program = os.path.join(self.directory, "lockbrokerd")
        with open(find_program(), "rb") as file:
            content = file.read()
        self.install(program, content)
        b = self.broker(self.redis(), start=False, trust_new=True)
        b.start(argv=[program, "-c", b.config_path], env=clock.environment if clock else None)
        return b.wait_granting(), program

    @staticmethod
    def install(path, content, mode=0o755):
        """As install(1) does: a new file in place of the old one."""
        with open(path + ".new", "wb") as file:
            file.write(content)
        os.chmod(path + ".new", mode)
        os.rename(path + ".new", path)

    def test_another_program(self):
        b, program = self.copied()
        with open(program, "rb") as file:
            content = file.read()
        for bad, mode, pattern in (
                (b"no program", 0o755, "cannot start .*lockbrokerd: Exec format error"),
                (content, 0o644, "cannot start .*lockbrokerd: Permission denied"),
                (b"#!/bin/sh\nexit 7\n", 0o755, "status 7"),
                (b"#!/bin/sh\nkill -SEGV $$\n", 0o755, "signal 11")):
            self.install(program, bad, mode)
            self.refused(b, pattern)
        self.install(program, content)
        b.replace()
        self.client(b).ok("PING")

    def test_another_version_that_a_thousand_do_not_notice(self):
        b, program = self.copied()
        asks = self.client(b)
        version = asks.ok("VERSION")["version"]
        crowd = [Plain(b.unix_path) for _ in range(1000)]
        for plain in crowd:
            self.addCleanup(plain.close)
        holders, waiters = crowd[::2], crowd[1::2]
        for i, plain in enumerate(holders):
            plain.send(f"LOCK n{i}")
        fences = [int(plain.line().split("fence=")[1].split()[0]) for plain in holders]
        for i, plain in enumerate(waiters):
            plain.send(f"LOCK n{i}")
        eventually(lambda: asks.stats()["waiters"] == "500", 20, "they wait")
        asks.close()
        with open(program, "rb") as file:
            content = file.read()
        later = re.sub(r"\d", "9", version)
        self.install(program, content.replace(version.encode(), later.encode()))
        done = self.command(b)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        b.replaced_by(int(done.stdout.split("=")[1]))
        said = subprocess.run([find_program("lockbroker"), "-S", b.unix_path, "version"],
                              stdout=subprocess.PIPE, check=True, text=True).stdout
        self.assertIn(f"lockbrokerd {later} ", said)
        for plain in crowd:  # they are told fifty in a millisecond, and served meanwhile
            self.assertRegex(plain.line(), "^!LEAVING")
        for holder, waiter, fence, i in zip(holders, waiters, fences, range(500)):
            holder.send(f"UNLOCK n{i}")
            self.assertRegex(holder.line(), "^OK depth=0")
            self.assertGreater(int(waiter.line().split("fence=")[1].split()[0]), fence)
        for plain in crowd:
            plain.close()
        self.assertEqual(b.replaced[0].wait(), 0)
        told = [re.sub(r"\S+ \w+ (\S+ version=\S+|\S+ pid=\d+|\S+).*", r"\1", line)
                for line in b.log_lines(" (starting|replaced|left) ")]
        self.assertEqual(told, [f"starting version={version}", f"starting version={later}",
                                f"replaced pid={b.pid}", "left"])
        self.assertTrue(b.log_lines(r"replaced pid=\d+ clients=100\d holds=500 "))

    def test_one_that_dies_when_it_is_killed(self):
        """A new process that never becomes ready ends with the request to stop."""
        b, program = self.copied()
        self.install(program, b"#!/bin/sh\nexec sleep 1000\n")
        admin = self.client(b)
        admin.send("REPLACE")
        line = eventually(lambda: b.log_lines(r"replacing pid="), 5, "it begins")[0]
        pid = int(re.search(r"pid=(\d+)", line)[1])
        b.signal(signal.SIGTERM)
        self.assertEqual(admin.reply().code, "unavailable")
        self.assertEqual(b.process.wait(), 0)
        self.assertTrue(pid_gone(pid))

    def test_one_that_is_never_ready(self):
        clock = self.clock()
        b, program = self.copied(clock)
        self.install(program, b"#!/bin/sh\nexec sleep 1000\n")

        def wait():
            eventually(lambda: b.log_lines("replacing pid="), 5, "it begins")
            clock.hurry(28)

        start = now()
        self.refused(b, "not ready after 30 s: it gave no reason", wait)
        self.assert_within(2, now() - start, patience(7))

    # Ends.

    def test_a_stop_ends_all(self):
        b = self.replaceable()
        holders = []
        for i in range(3):
            holders.append(self.client(b))
            holders[-1].lock(f"n{i}")
            b.replace()
        b.signal(signal.SIGTERM)
        for holder in holders:
            self.assertRegex(holder.event(kind="SHUTDOWN").text, "SHUTDOWN")
        self.assertEqual(b.process.wait(), 0)
        for old in b.replaced:
            self.assertTrue(pid_gone(old.pid) or old.wait() == 0)

    def test_a_drain_waits_for_those_that_leave(self):
        b = self.replaceable()
        holder, idle = self.client(b), self.client(b)
        holder.lock("a")
        old = b.replace()
        self.client(b).ok("DRAIN")
        idle.err("LOCK b", "shutdown")
        holder.ok("PING")
        self.assertTrue(old.alive and b.process.alive)
        holder.ok("UNLOCK a")
        self.assertEqual(old.wait(), 0)
        self.assertEqual(b.process.wait(), 0)

    def test_a_drain_is_taken_back(self):
        """Those that leave go on leaving, and serve their clients."""
        b = self.replaceable()
        holder, idle = self.client(b), self.client(b)
        holder.lock("a")
        old = b.replace()
        admin = self.client(b)
        admin.ok("DRAIN")
        idle.err("LOCK b", "shutdown")
        admin.ok("DRAIN abort=yes")
        eventually(lambda: idle.ask("TRYLOCK b").ok, 10, "it is served again")
        self.client(b).lock("c")
        idle.ok("UNLOCK b")
        holder.ok("UNLOCK a")
        self.assertTrue(old.alive)
        for client in (holder, idle):
            client.ok("QUIT")
        self.assertEqual(old.wait(), 0)
        self.client(b).ok("TRYLOCK a")

    def test_a_crash_harms_nobody_else(self):
        b = self.replaceable()
        holder = self.client(b)
        holder.lock("a")
        old = b.replace()
        other = self.client(b)
        other.lock("b")
        eventually(lambda: not old.listening_ports(), 15, "it is too late to return")
        b.process.kill()
        holder.ok("PING")
        holder.ok("UNLOCK a")
        holder.close()
        self.assertEqual(old.wait(), 0)
        self.assertTrue(b.log_lines("successor-gone"))
        b.replaced.clear()
        b.start()
        third = self.client(b)
        third.lock("c")
        leaving = b.replace()
        leaving.signal(signal.SIGKILL)
        eventually(lambda: b.log_lines("leaving-died"), 5, "it is noticed")
        b.replaced.clear()
        self.client(b).ok("PING")

    def test_leave_bounds_it(self):
        b = self.replaceable(broker={"leave": "1s"})
        holder = self.client(b)
        holder.lock("a")
        start = now()
        old = b.replace()
        self.assertEqual(old.wait(), 0)
        self.assert_within(0.98, now() - start, patience(5))
