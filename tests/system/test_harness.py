"""The harness itself: what it says about a broker is worth nothing if it can't fail."""

import glob
import importlib
import os
import re
import select
import unittest

from lib.broker import merge, to_yaml
from lib.case import SystemTest
from lib.client import Line
from lib.history import check_history
from lib.proc import pid_gone
from lib.proxy import Trickle
from lib.resp import RedisError, Resp
from lib.transcript import line_matches
from lib.wait import eventually, now


class Matching(unittest.TestCase):
    """What a transcript expects, and what it must refuse."""

    def matches(self, pattern, text, **known):
        return line_matches(pattern, text, known)

    def test_words_in_order(self):
        self.assertTrue(self.matches("OK", "OK"))
        self.assertFalse(self.matches("OK", "BUSY"))
        self.assertFalse(self.matches("OK", "OK surplus"))
        self.assertFalse(self.matches("OK more", "OK"))

    def test_fields_in_any_order_and_unknown_ones(self):
        self.assertTrue(self.matches("OK a=1 b=2", "OK b=2 new=x a=1"))
        self.assertFalse(self.matches("OK a=1", "OK b=1"))
        self.assertFalse(self.matches("OK a=1", "OK a=12"))
        self.assertTrue(self.matches("OK no:a", "OK b=1"))
        self.assertFalse(self.matches("OK no:b", "OK b=1"))

    def test_numbers(self):
        known = {}
        self.assertTrue(line_matches("OK fence=<F>", "OK fence=7", known))
        self.assertEqual(known, {"F": 7})
        self.assertFalse(line_matches("OK fence=<F>", "OK fence=8", known))
        self.assertTrue(line_matches("OK fence=<G>F>", "OK fence=8", known))
        self.assertFalse(line_matches("OK fence=<H>G>", "OK fence=8", known))
        self.assertFalse(self.matches("OK fence=<F>", "OK fence=07"))
        self.assertFalse(self.matches("OK fence=<F>", "OK fence=x"))
        self.assertTrue(self.matches("OK ttl=<5..9>ms", "OK ttl=9ms"))
        self.assertFalse(self.matches("OK ttl=<5..9>ms", "OK ttl=10ms"))
        self.assertFalse(self.matches("OK ttl=<5..9>ms", "OK ttl=9s"))

    def test_errors_need_their_code_and_a_text(self):
        self.assertTrue(self.matches("ERR bad-option", "ERR bad-option wait= needs a unit"))
        self.assertFalse(self.matches("ERR bad-option", "ERR bad-option"))
        self.assertFalse(self.matches("ERR bad-option", "ERR bad-request wait= ..."))
        self.assertTrue(self.matches("ERR bad-option ~wait", "ERR bad-option WAIT: no"))
        self.assertFalse(self.matches("ERR bad-option ~hold", "ERR bad-option wait: no"))
        self.assertTrue(self.matches("ERR a-b|c-d", "ERR c-d text"))
        self.assertFalse(self.matches("ERR a-b|c-d", "ERR e-f text"))

    def test_lines(self):
        line = Line("@7 OK fence=3 depth=1")
        self.assertEqual((line.tag, line.ok, line.fence), ("7", True, 3))
        self.assertEqual(Line("ERR not-held you don't").code, "not-held")
        self.assertEqual(Line("!LOST x fence=3 reason=hold").status, "!LOST")

    def test_yaml(self):
        self.assertEqual(to_yaml({"a": {"b": "1s", "c": True}, "d": [{"e": "x: y", "f": 1}]}),
                         'a:\n  b: 1s\n  c: true\nd:\n  - e: "x: y"\n    f: 1')
        self.assertEqual(merge({"a": {"b": 1}}, {"a": {"c": 2}}), {"a": {"b": 1, "c": 2}})


class Machinery(SystemTest):
    """Servers start and end; the proxy does what it says."""

    def test_redis_starts_forgets_and_ends(self):
        server = self.redis()
        server.cmd("SET", "a", "1")
        pid = server.process.pid
        server.restart()
        self.assertTrue(pid_gone(pid))
        self.assertIsNone(server.cmd("GET", "a"))
        pid = server.process.pid
        server.freeze()
        server.stop()
        self.assertTrue(pid_gone(pid))

    def test_redis_keeps_its_data_if_asked(self):
        server = self.redis(appendonly="yes", appendfsync="always")
        server.cmd("SET", "a", "1")
        server.restart()
        self.assertEqual(server.cmd("GET", "a"), "1")

    def test_redis_errors_are_raised(self):
        server = self.redis(tcp=True)
        with self.assertRaises(RedisError):
            Resp(server.tcp_address)("NONSENSE")

    def test_a_child_dies_with_the_test(self):
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                server = self.redis()
                os.write(writing, str(server.process.pid).encode())
            finally:
                os._exit(0)
        os.close(writing)
        os.waitpid(pid, 0)
        child = int(os.read(reading, 20))
        os.close(reading)
        eventually(lambda: pid_gone(child), 5, "redis-server is gone")

    def test_a_sanitizers_report_fails_the_test(self):
        options = dict(one.split("=", 1) for one in os.environ["ASAN_OPTIONS"].split(":"))
        report = f"{options['log_path']}.{os.getpid()}"
        with open(report, "w", encoding="ascii") as file:
            file.write("ERROR: AddressSanitizer: nonsense\n")
        with self.assertRaisesRegex(AssertionError, "nonsense"):
            self.check_sanitizers()
        os.unlink(report)
        self.check_sanitizers()

    def test_proxy_passes_and_splits(self):
        proxy = self.proxy(self.redis())
        proxy.split = True
        direct = Resp(proxy.address)
        self.assertEqual(direct("SET", "a", "x" * 300), "OK")
        self.assertEqual(direct("GET", "a"), "x" * 300)

    def test_proxy_trickles_and_stalls(self):
        proxy = self.proxy(self.redis())
        direct = Resp(proxy.address)
        proxy.trickle = Trickle(4, every=50)
        start = now()
        self.assertEqual(direct("SET", "a", "x" * 1000), "OK")
        self.assertEqual(direct("GET", "a"), "x" * 1000)
        self.assertGreater(proxy.trickle.stalls, 0)
        self.assertGreater(now() - start, proxy.trickle.stalls * proxy.trickle.stall)

    def test_proxy_drops_a_reply_after_the_command_has_run(self):
        server = self.redis()
        proxy = self.proxy(server)
        direct = Resp(proxy.address)
        proxy.drop_reply("victim")
        self.assertEqual(direct("SET", "other", "1"), "OK")
        with self.assertRaises(OSError):
            direct("SET", "victim", "1")
        self.assertTrue(proxy.fired.is_set())
        self.assertEqual(server.cmd("GET", "victim"), "1")
        self.assertEqual(Resp(proxy.address)("SET", "victim", "2"), "OK")

    def test_proxy_drops_a_request(self):
        server = self.redis()
        proxy = self.proxy(server)
        direct = Resp(proxy.address)
        proxy.drop_request("victim")
        with self.assertRaises(OSError):
            direct("SET", "victim", "1")
        self.assertIsNone(server.cmd("GET", "victim"))

    def test_proxy_stalls_and_delivers_late(self):
        server = self.redis()
        proxy = self.proxy(server)
        direct = Resp(proxy.address)
        proxy.stalled = True
        direct.send("SET", "late", "1")
        self.assertIsNone(server.cmd("GET", "late"))
        proxy.stalled = False
        self.assertEqual(direct.read(), "OK")
        self.assertEqual(server.cmd("GET", "late"), "1")

    def test_proxy_cuts_and_refuses(self):
        proxy = self.proxy(self.redis())
        direct = Resp(proxy.address)
        proxy.refuse = True
        proxy.cut()
        with self.assertRaises(OSError):
            direct("PING")
        with self.assertRaises(OSError):
            Resp(proxy.address)("PING")
        proxy.refuse = False
        self.assertEqual(Resp(proxy.address)("PING"), "PONG")

    def test_network_swallows_and_delivers_late(self):
        server = self.redis(tcp=True)
        net = self.network()
        direct = Resp(f"127.0.0.1:{net.way(self, server, server.port)}")
        self.assertEqual(direct("PING"), "PONG")
        net.cut([self], [server])
        direct.send("SET", "late", "1")
        self.assertTrue(self.stays_silent(direct))
        self.assertIsNone(server.cmd("GET", "late"))
        direct.close()
        net.heal()
        eventually(lambda: server.cmd("GET", "late") == "1", 5, "it comes, though we are gone")

    def test_network_one_way(self):
        server = self.redis(tcp=True)
        net = self.network()
        direct = Resp(f"127.0.0.1:{net.way(self, server, server.port)}")
        net.cut_one_way([server], [self])
        direct.send("SET", "heard", "1")
        eventually(lambda: server.cmd("GET", "heard") == "1", 5)
        self.assertTrue(self.stays_silent(direct))
        net.heal()
        self.assertEqual(direct.read(), "OK")

    def test_network_knows_who_connects(self):
        """The master's side of a replica's connection, not that of others."""
        master, replica = self.redis(tcp=True, repl_diskless_sync_delay=0), self.redis()
        net = self.network()
        port = net.listen(master, master.port)
        net.join(replica)
        replica.cmd("REPLICAOF", "127.0.0.1", str(port))
        eventually(lambda: master.cmd("WAIT", 1, 100) == 1, 10, "the replica answers")
        net.cut([replica], [master])
        master.cmd("SET", "a", "1")
        self.assertEqual(master.cmd("WAIT", 1, 300), 0)
        self.assertEqual(Resp(f"127.0.0.1:{port}")("GET", "a"), "1")
        net.heal()
        self.assertEqual(master.cmd("WAIT", 1, 5000), 1)
        self.assertEqual(replica.cmd("GET", "a"), "1")

    @staticmethod
    def stays_silent(direct, seconds=0.3):
        return not select.select([direct.sock], [], [], seconds)[0]


class Histories(unittest.TestCase):
    """The history check finds what it is there to find."""

    def check(self, *intervals):
        class Crowd:
            held = list(intervals)
        return check_history([Crowd])

    def test_a_good_one(self):
        self.assertEqual(self.check((0.0, 1.0, 5), (1.0, 2.0, 6), (2.5, 3.0, 9)), 3)

    def test_an_overlap(self):
        with self.assertRaisesRegex(AssertionError, "held twice"):
            self.check((0.0, 1.0, 5), (0.9, 2.0, 6))

    def test_a_fence_that_does_not_rise(self):
        for fence in (5, 4):
            with self.assertRaisesRegex(AssertionError, "fence"):
                self.check((0.0, 1.0, 5), (1.5, 2.0, fence))


class Readme(unittest.TestCase):
    """The tests that the list of faults names exist."""

    here = os.path.dirname(os.path.abspath(__file__))

    def rows(self):
        with open(os.path.join(self.here, "README.md"), encoding="utf-8") as file:
            found = re.findall(r"^\| (\d+) \| (.*) \|$", file.read(), re.M)
        return [(int(number), cells.split(" | ")) for number, cells in found]

    def exists(self, name):
        """A test, its class or its file; a transcript, a story; a unit test."""
        if name.endswith((".t", ".story")):
            folder = "transcripts" if name.endswith(".t") else "../unit/core/stories"
            return os.path.exists(os.path.join(self.here, folder, name))
        module, *names = name.split(".")
        if not os.path.exists(os.path.join(self.here, module + ".py")):
            return not names and bool(glob.glob(
                os.path.join(self.here, "..", "unit", "*", module + ".c")))
        thing = importlib.import_module(module)
        for part in names:
            thing = getattr(thing, part, None)
        return thing is not None

    def test_the_list_of_faults(self):
        rows = self.rows()
        self.assertEqual([number for number, _ in rows], list(range(1, 56)))
        for number, (_, shown, _) in rows:
            names = re.findall(r"`((?:test_)[A-Za-z_.]+|[a-z-]+\.(?:t|story))`", shown)
            self.assertTrue(names or "S: " in shown, f"row {number} has no test")
            for name in names:
                self.assertTrue(self.exists(name), f"row {number}: there is no {name}")
