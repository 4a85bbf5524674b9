"""How the daemon starts, reloads, stops and dies; and what it logs."""

import glob
import json
import os
import resource
import signal
import socket

from lib.case import SystemTest, grace_of, pad_of, stall_of
from lib.ports import free_port
from lib.proc import pid_gone
from lib.wait import eventually, let_time_pass, now, parse_ms, patience


class Starting(SystemTest):
    """Requests during a start are not refused: they wait for Redis."""

    def first_words(self, *requests):
        """Say something as soon as the broker listens."""
        broker = self.broker(start=False)
        broker.spawn()
        client = eventually(lambda: self.client(broker), 5, "it listens")
        client.send(*requests)
        return client

    def test_lock(self):
        self.assertEqual(self.first_words("LOCK x wait=2s").reply()["depth"], "1")

    def test_trylock(self):
        """wait=0 waits for Redis at most redis.reply_timeout."""
        self.assertTrue(self.first_words("TRYLOCK x").reply().ok)

    def test_status(self):
        self.assertEqual(self.first_words("STATUS x").reply()["state"], "free")


    def test_closed_standard_streams(self):
        """No socket gets the number of one: the log would be written into it."""
        broker = self.broker(start=False)
        broker.start(preexec=lambda: os.closerange(0, 3))
        self.client(broker).lock("x")
        self.assertEqual([os.readlink(f"/proc/{broker.pid}/fd/{fd}") for fd in range(3)],
                         ["/dev/null"] * 3)

    def test_a_limit_on_the_size_of_files(self):
        """It costs lines of the log, and no lock; redis-server is free of it."""
        unlimited = resource.RLIM_INFINITY
        broker = self.broker(start=False, log={"level": "debug"})
        broker.start(preexec=lambda: resource.setrlimit(resource.RLIMIT_FSIZE,
                                                        (4096, unlimited)))
        client = self.client(broker)
        client.lock("x")
        eventually(lambda: (self.client(broker).close(),
                            os.path.getsize(broker.log_path) == 4096)[1])
        self.assertGreater(int(client.stats()["log_dropped_bytes_total"]), 0)
        self.assertEqual(client.ok("STATUS x")["state"], "held")
        server, = broker.process.children()
        self.assertEqual(resource.prlimit(server, resource.RLIMIT_FSIZE), (unlimited, unlimited))

    def test_an_address_of_each_family_on_one_port(self):
        """[::] leaves 0.0.0.0 to whoever wants it: for clients and for HTTP."""
        if not os.path.exists("/proc/net/if_inet6"):
            self.skipTest("no IPv6")
        port, page = free_port(), free_port()
        broker = self.broker(start=False)
        broker.settings["listen"] = [
            {"unix": broker.unix_path}, {"tcp": f"[::]:{port}"}, {"tcp": f"0.0.0.0:{port}"},
            {"http": f"0.0.0.0:{page}"}, {"http": f"[::]:{page}"}]
        broker.start()
        for host in ("127.0.0.1", "::1"):
            for there in (port, page):
                socket.create_connection((host, there)).close()


class Stopping(SystemTest):
    """SIGTERM and SIGINT release what is held, tell the clients, and end with status 0."""

    def stop_with(self, number):
        server = self.redis()
        broker = self.broker(server, trust_new=True)
        holder, waiter = self.client(), self.client(tcp=True)
        holder.lock("x")
        waiter.send("LOCK x")
        eventually(lambda: self.client().ok("STATUS x")["waiters"] == "1")
        start = now()
        broker.signal(number)
        self.assertEqual(broker.process.wait(), 0)
        self.assertLess(now() - start, patience(3))
        for client in (holder, waiter):
            self.assertEqual(client.event().text, "!SHUTDOWN")
            client.expect_eof()
        self.assertFalse([line for line in waiter.lines if line.ok], "granted while stopping")
        self.assertIsNone(server.get("x"), "not released")

    def test_sigterm(self):
        self.stop_with(signal.SIGTERM)

    def test_sigint(self):
        self.stop_with(signal.SIGINT)

    def test_signals_that_ask_for_nothing(self):
        broker = self.broker()
        holder = self.client()
        fence = holder.lock("x")
        for number in (signal.SIGUSR1, signal.SIGUSR2):
            broker.signal(number)
        self.assertEqual(holder.ok("STATUS x")["fence"], str(fence))
        holder.ok("UNLOCK x")

    def test_the_next_broker_grants_at_once(self):
        """The idle mark of the last broker's clean stop (core/kernel/guard/DESIGN)."""
        server = self.redis()
        first = self.broker(server, trust_new=True, lease=3)
        fence = self.client(first).lock("x")
        self.assertEqual(first.stop(), 0)
        # Longer than stall: without the mark the server would look like one that was frozen.
        let_time_pass(stall_of(3) + 0.3)
        second = self.broker(server, lease=3)
        start = now()
        self.assertGreater(self.client(second).lock("x", timeout=15), fence)
        self.assertLess(now() - start, patience(2))

    def test_the_next_broker_grants_at_once_with_another_lease(self):
        """Nothing is held, so the other settings can't be wrong for anything."""
        server = self.redis()
        first = self.broker(server, trust_new=True, lease=3)
        fence = self.client(first).lock("x")
        self.assertEqual(first.stop(), 0)
        second = self.broker(server, lease=4)
        start = now()
        self.assertGreater(self.client(second).lock("x", timeout=15), fence)
        self.assertLess(now() - start, patience(2))

    def test_data_of_an_idle_time_that_come_back(self):
        """As after a snapshot: the history goes on and is idle, but a broker was noted since."""
        server = self.redis()
        first = self.broker(server, trust_new=True, lease=3)
        self.client(first).lock("x")
        self.assertEqual(first.stop(), 0)
        idle = server.cmd("HGETALL", "lock:@guard")
        second, third = (self.broker(server, lease=3) for _ in range(2))
        fence = self.client(second).lock("x")
        self.assertIsNone(server.cmd("HGET", "lock:@guard", "idle"))
        server.cmd("EVAL", "redis.call('FLUSHDB') redis.call('HSET', 'lock:@guard', unpack(ARGV))",
                   0, *idle)
        start = now()
        eventually(lambda: server.get("x"), 3, "the lease is put back")
        rival = self.client(third)
        rival.send("LOCK x")
        self.assertTrue(rival.silent(1), "granted twice")
        other = self.client(third)
        self.assertGreater(other.lock("y", timeout=15), fence)
        self.assertGreater(now() - start, grace_of(3) - 0.1)
        self.assertTrue(rival.silent(), "granted twice")

    def test_data_of_an_idle_time_that_a_frozen_broker_was_noted_before(self):
        """The broker was silent for so long that it can't hold anything; it holds something
        later."""
        server = self.redis()
        first, frozen = (self.broker(server, trust_new=True, lease=1) for _ in range(2))
        self.client(frozen).lock("x")
        frozen.freeze()
        let_time_pass(1 + pad_of(1) + 0.2)
        self.assertEqual(first.stop(), 0)
        idle = server.cmd("HGETALL", "lock:@guard")
        self.assertIn("idle", idle)
        frozen.thaw()
        self.client(frozen).lock("y", timeout=15)
        server.cmd("EVAL", "redis.call('FLUSHDB') redis.call('HSET', 'lock:@guard', unpack(ARGV))",
                   0, *idle)
        eventually(lambda: server.cmd("HGET", "lock:@guard", "pend"), 3, "it is noticed")
        eventually(lambda: server.get("y"), 3, "the lease is put back")

    def test_no_idle_mark_while_another_broker_may_hold_something(self):
        server = self.redis()
        first, second = (self.broker(server, trust_new=True, lease=3) for _ in range(2))
        self.client(second).lock("x")
        second.freeze()
        self.assertEqual(first.stop(), 0)
        self.assertIsNone(server.cmd("HGET", "lock:@guard", "idle"))
        second.thaw()
        self.assertEqual(second.stop(), 0)
        self.assertIsNotNone(server.cmd("HGET", "lock:@guard", "idle"))

    def test_the_next_broker_waits_where_it_was_no_clean_stop(self):
        server = self.redis()
        self.broker(server, trust_new=True, lease=3).kill()
        let_time_pass(stall_of(3) + 0.3)
        start = now()
        second = self.broker(server, lease=3)
        self.client(second).lock("x", timeout=15)
        self.assertGreater(now() - start, grace_of(3) - 0.1)

    def test_it_ends_though_redis_is_frozen(self):
        server = self.redis()
        broker = self.broker(server, trust_new=True)
        holder = self.client()
        holder.lock("x")
        server.freeze()
        start = now()
        broker.signal(signal.SIGTERM)
        self.assertEqual(broker.process.wait(), 0)
        self.assertLess(now() - start, patience(5))
        self.assertEqual(holder.event().text, "!SHUTDOWN")

    def test_keep_and_delay_outlive_it(self):
        server = self.redis()
        broker = self.broker(server, trust_new=True)
        holder = self.client()
        holder.lock("kept", "keep=1m")
        holder.lock("delayed", "delay=1m")
        holder.lock("plain")
        broker.signal(signal.SIGTERM)
        self.assertEqual(broker.process.wait(), 0)
        self.assertIsNone(server.get("plain"))
        self.assert_within(50000, server.pttl("kept"), 60000)
        self.assert_within(50000, server.pttl("delayed"), 61000)

    def test_who_comes_before_the_embedded_redis_is_served(self):
        broker = self.broker(start=False).spawn()
        early = eventually(lambda: os.path.exists(broker.unix_path) and self.client(), 5)
        early.send("LOCK early")
        early.shut()
        self.assertTrue(early.reply(5).ok)

    def test_embedded_redis_ends_with_it(self):
        broker = self.broker()
        children = eventually(broker.process.children, 5)
        self.assertEqual(broker.stop(), 0)
        eventually(lambda: all(pid_gone(pid) for pid in children), 2, "redis-server is gone")
        left = glob.glob(broker.directory + "/**/*.sock", recursive=True)
        self.assertEqual(left, [], "sockets left behind")


class Dying(SystemTest):
    """kill -9 and SIGSTOP of the broker."""

    def test_embedded_redis_dies_with_a_killed_broker(self):
        broker = self.broker()
        children = eventually(broker.process.children, 5)
        self.client().lock("x")
        broker.kill()
        eventually(lambda: all(pid_gone(pid) for pid in children), 2, "redis-server is gone")

    def test_embedded_redis_is_restarted_if_it_dies(self):
        broker = self.broker(lease=2)
        holder = self.client()
        fence = holder.lock("x")
        (child,) = eventually(broker.process.children, 5)
        os.kill(child, signal.SIGKILL)
        eventually(lambda: broker.process.children() not in ([], [child]), 5, "a new one")
        # The holder keeps its lock, and others get theirs in the end.
        other = self.client()
        other.lock("y", timeout=10)
        self.assertTrue(other.ask("TRYLOCK x").status == "BUSY")
        self.assertTrue(holder.silent())
        self.assertEqual(holder.ok("LIST").body[0].split(" ")[1], "x")
        holder.ok("UNLOCK x")
        self.assertGreater(other.lock("x"), fence)

    def test_the_lock_of_a_killed_broker_ends_with_its_lease(self):
        lease = 1
        server = self.redis()
        first = self.broker(server, trust_new=True, lease=lease)
        second = self.broker(server, trust_new=True, lease=lease)
        fence = self.client(first).lock("x")
        waiter = self.client(second)
        waiter.ok("PING")
        first.kill()
        killed = now()
        left = server.pttl("x")
        self.assertLessEqual(left, (lease + pad_of(lease)) * 1000)
        self.assertEqual(waiter.ask("TRYLOCK x").status, "BUSY")
        waiter.send("LOCK x")
        reply = waiter.reply(10)
        self.assertGreater(reply.fence, fence)
        waited = now() - killed
        self.assertGreater(waited, left / 1000 - 0.05)
        self.assertLess(waited, patience(lease + pad_of(lease) + 0.7))

    def test_a_frozen_broker_says_lost_before_anything_else(self):
        lease = 1
        broker = self.broker(self.redis(), trust_new=True, lease=lease)
        holder = self.client()
        fence = holder.lock("x")
        broker.freeze()
        let_time_pass(lease + pad_of(lease) + 0.3)
        holder.send("STATUS x", "LOCK x wait=0", "UNLOCK x", "UNLOCK x")
        broker.thaw()
        event = holder.event()
        self.assertEqual(holder.lines[1].text, event.text, "LOST comes first")
        self.assertEqual((event.status, event.words[1], event.fence), ("!LOST", "x", fence))
        self.assertIn(event["reason"], ("unreachable", "taken"))
        self.assertTrue(holder.reply().ok)
        self.assertNotEqual(holder.reply().text, f"OK fence={fence} depth=2")

    def test_unlock_after_a_freeze_is_lost_once(self):
        broker = self.broker(self.redis(), trust_new=True, lease=1)
        holder = self.client()
        holder.lock("x")
        broker.freeze()
        let_time_pass(1.8)
        holder.send("UNLOCK x", "UNLOCK x")
        broker.thaw()
        self.assertEqual(holder.reply().code, "lost")
        self.assertEqual(holder.reply().code, "not-held")
        self.assertEqual([line.status for line in holder.lines[1:2]], ["!LOST"])

    def test_while_it_is_frozen_another_takes_over(self):
        server = self.redis()
        frozen = self.broker(server, trust_new=True, lease=1)
        other = self.broker(server, trust_new=True, lease=1)
        holder, heir = self.client(frozen), self.client(other)
        fence = holder.lock("x")
        frozen.freeze()
        grant = heir.ask("LOCK x", 10)
        self.assertGreater(grant.fence, fence)
        holder.send("LOCK x wait=0", "PING")
        frozen.thaw()
        self.assertEqual(holder.event().status, "!LOST")
        self.assertEqual(holder.lines[1].status, "!LOST")
        self.assertIn(holder.reply().status, ("BUSY", "ERR"))
        self.assertNotIn("valid", holder.reply().fields)
        self.assertEqual(heir.ok("UNLOCK x")["depth"], "0")

    def test_a_short_freeze_loses_nothing(self):
        broker = self.broker(self.redis(), trust_new=True, lease=2)
        holder = self.client()
        fence = holder.lock("x")
        broker.freeze()
        let_time_pass(0.8)
        broker.thaw()
        self.assertEqual(holder.ok("LOCK x").fence, fence)
        self.assertEqual([line for line in holder.events if line.status == "!LOST"], [])

    def test_a_restarted_broker_knows_nothing_of_earlier_holds(self):
        server = self.redis()
        broker = self.broker(server, trust_new=True, lease=1)
        holder = self.client()
        fence = holder.lock("x")
        broker.kill()
        holder.expect_eof()
        broker.expected_status = 0
        broker.start()
        client = self.client()
        self.assertEqual(client.ok("LIST").body, [])
        # Busy; or unavailable, if the restart took so long that Redis looks stalled.
        self.assertFalse(client.ask("TRYLOCK x").ok)
        self.assertGreater(client.lock("x", timeout=10), fence)

    def test_delay_and_keep_hold_though_the_broker_is_killed(self):
        server = self.redis()
        first = self.broker(server, trust_new=True, lease=1)
        second = self.broker(server, trust_new=True, lease=1)
        holder, other = self.client(first), self.client(second)
        holder.lock("delayed", "delay=2s")
        granted = now()
        holder.lock("kept", "keep=3s")
        killed = now()
        first.kill()
        self.assertEqual(other.ask("TRYLOCK delayed").status, "BUSY")
        self.assertEqual(other.ask("TRYLOCK kept").status, "BUSY")
        other.send("@d LOCK delayed", "@k LOCK kept")
        self.assertTrue(other.reply(10, tag="d").ok)
        self.assertGreater(now() - killed, 2)
        self.assertTrue(other.reply(10, tag="k").ok)
        self.assertGreater(now() - granted, 2.99)


class Reloading(SystemTest):
    """SIGHUP."""

    def reload(self, broker, settings):
        before = len(broker.log())
        broker.write_config(settings)
        broker.signal(signal.SIGHUP)
        return lambda: broker.log()[before:]

    def unread(self, broker):
        """Reload, with a configuration that takes as long to read as the test likes."""
        os.rename(broker.config_path, broker.config_path + ".old")
        os.mkfifo(broker.config_path)
        broker.signal(signal.SIGHUP)
        return eventually(lambda: os.open(broker.config_path, os.O_WRONLY | os.O_NONBLOCK))

    def test_nobody_waits_for_a_reload(self):
        """Neither for a slow file, nor for users that a directory service is asked about."""
        broker = self.broker(limits={"holds": 3})
        client = self.client()
        pipe = self.unread(broker)
        broker.signal(signal.SIGHUP)
        for _ in range(20):
            client.ok("LOCK x")
            client.ok("UNLOCK x")
        self.assertFalse(broker.log_lines("reloaded"))
        with open(broker.config_path + ".old", "rb") as file:
            text = file.read()
        os.unlink(broker.config_path)
        broker.write_config({"limits": {"holds": 1}})
        os.write(pipe, text.replace(b"holds: 3", b"holds: 2"))
        os.close(pipe)
        # Requests that came meanwhile are answered after it, and see the new settings.
        eventually(lambda: len(broker.log_lines("reloaded")) == 2)
        client.ok("LOCK x")
        client.err("LOCK y", "limit")

    def test_a_stop_does_not_wait_for_a_reload(self):
        broker = self.broker()
        pipe = self.unread(broker)
        begun = now()
        broker.signal(signal.SIGTERM)
        self.assertEqual(broker.process.wait(), 0)
        self.assertLess(now() - begun, patience(3, begun))
        os.close(pipe)

    def test_what_can_be_reloaded(self):
        broker = self.broker(limits={"clients": 3})
        holder = self.client()
        holder.lock("old")
        self.reload(broker, {"locks": {"max_hold": "300ms"}, "limits": {"clients": 2,
                                                                        "holds": 3}})

        def is_in_force():
            probe = self.client()
            try:
                probe.lock("probe", "hold=1h")
                return probe.event(1, kind="LOST")["reason"] == "hold"
            finally:
                probe.close()
        eventually(is_in_force, 10, "max_hold is in force")
        eventually(lambda: holder.stats()["clients"] == "1")
        second = self.client()
        second.ok("PING")
        surplus = self.client()
        surplus.expect_eof()

    def test_bounds_on_what_is_kept_for_nobody(self):
        broker = self.broker(limits={"unowned": 1})
        client = self.client()
        client.lock("x", "keep=1h")
        client.ok("UNLOCK x")
        client.err("LOCK y keep=1s", "limit")
        stats = client.stats()
        self.assertEqual([stats[key] for key in ("names_unowned", "names_bound")], ["1", "1"])
        log = self.reload(broker, {"limits": {"unowned": 10},
                                   "locks": {"max_keep": "2s", "max_delay": 0, "max_ttl": "1s"}})
        eventually(lambda: "reloaded" in log(), 5, "it is read again")
        client.lock("y", "keep=2s")
        for request in ("LOCK z keep=3s", "LOCK z delay=1ms", "LATCH z count=1 ttl=2s"):
            client.err(request, "limit")

    def test_names_of_those_who_disconnect_are_counted(self):
        self.broker(limits={"unowned": 5})
        for i in range(5):
            client = self.client(tcp=True)
            client.lock(f"x{i}", "delay=1h")
            client.close()
        client = self.client()
        eventually(lambda: client.stats()["names_unowned"] == "5", 5, "all are counted")
        client.err("LOCK y delay=1ms", "limit")
        client.ok("UNLOCK-FORCE x0")
        client.lock("y", "delay=1ms")

    def test_an_invalid_file_changes_nothing_and_is_reported(self):
        broker = self.broker()
        holder = self.client()
        holder.lock("x")
        log = self.reload(broker, {"limits": {"client": 1}})
        eventually(lambda: "limits.client" in log(), 5, "the fault is logged")
        holder.ok("PING")
        self.assertEqual(holder.ok("LIST").body[0].split(" ")[1], "x")
        self.client().ok("PING")

    def test_what_cannot_be_reloaded_is_said(self):
        broker = self.broker(lease=2)
        log = self.reload(broker, {"locks": {"lease": "5s"}})
        eventually(lambda: "locks.lease" in log(), 5, "it says so")
        self.client().lock("x")
        self.assertLessEqual(parse_ms(self.client().ok("STATUS x")["ttl"]), 2000 + 600)

    def test_the_log_level(self):
        broker = self.broker(log={"level": "error"})
        self.assertEqual(broker.log_lines(" notice "), [])
        self.reload(broker, {"log": {"level": "notice"}})
        let_time_pass(0.2)
        broker.stop()
        self.assertTrue(broker.log_lines(" notice "), "not even that it stops")


class Logging(SystemTest):
    """Log lines: time level event key=value."""

    def test_text(self):
        broker = self.broker()
        self.client().lock("x")
        broker.stop()
        for line in broker.log().splitlines():
            self.assertRegex(line, r"^(<\d>)?\S+ (debug|info|notice|warning|error) "
                                   r"[a-z][a-z0-9_.-]*( [a-z_][a-z0-9_.-]*=.*)?$")

    def test_json(self):
        broker = self.broker(log={"format": "json", "level": "debug"})
        client = self.client()
        client.lock('quote"back\\slash/ü')
        client.ok('UNLOCK quote"back\\slash/ü')
        broker.stop()
        lines = broker.log().splitlines()
        self.assertTrue(lines)
        for line in lines:
            self.assertIn("event", json.loads(line))

    def test_a_name_cannot_forge(self):
        broker = self.broker(log={"level": "debug"})
        client = self.client(tcp=True)
        forged = '1970-01-01T00:00:00Z\u2028error\u0085forged'
        client.ok("SESSION label=" + forged.replace("\u0085", ""))
        client.send_raw(b"LOCK forged\x1b[2J\n")
        self.assertEqual(client.reply().code, "bad-request")
        client.lock("a\u202ename\"quoted'hold")
        client.close()
        broker.stop()
        for line in broker.log().split("\n"):
            self.assertNotIn("\x1b", line)
            if line:
                self.assertRegex(line, r"^(<\d>)?\S+ (debug|info|notice|warning|error) ")
