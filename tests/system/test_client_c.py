"""The library for C (clients/c), as programs use it."""

import hashlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from lib.case import SystemTest
from lib.liblockbroker import FOLDER, link
from lib.manual import SOURCE
from lib.proxy import Proxy
from lib.spoken import Program
from lib.wait import eventually, let_time_pass, patience
from test_tls_clients import ClientsTest

OK, BUSY, TIMEOUT, LOST, UNAVAILABLE, DENIED = range(6)
INVALID, FORKED = 7, 8


def processor_s(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Driver(Program):
    """A running program that is linked with the library."""

    def __init__(self, program, *arguments, **files):
        library = os.path.dirname(program)
        super().__init__([program, *arguments], stderr=None, env={
            **os.environ, "LD_LIBRARY_PATH": library,
            **{"DRIVER_" + name.upper(): path for name, path in files.items()}})

    def call(self, line, timeout=20):
        """The code that the call returns."""
        self.tell(line)
        return int(self.next(timeout).split()[0])


@unittest.skipIf(shutil.which("cc") is None, "no C compiler is installed")
class Client(SystemTest):
    limit = 60

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.program = link(cls.folder, "driver",
                           os.path.join(SOURCE, "tests", "system", "c", "driver.c"))

    def prepare(self, lease=10, **settings):
        self.server = self.redis()
        self.main = self.broker(self.server, lease=lease, trust_new=True, **settings)
        self.control = self.client()

    def start(self, *arguments):
        driver = Driver(self.program, *(arguments or [f"127.0.0.1:{self.main.port}"]))
        self.addCleanup(driver.close)
        return driver

    def open(self, *arguments):
        driver = self.start(*arguments)
        self.assertEqual(driver.next(), "0 ")
        return driver


class Calls(Client):
    def test_what_is_exported(self):
        with open(os.path.join(FOLDER, "lockbroker.h"), encoding="utf-8") as file:
            declared = set(re.findall(r"\b(lockbroker_[a-z_]+)\(", file.read()))
        declared.remove("lockbroker_lost_fn")
        listed = subprocess.run(["nm", "-D", "--defined-only", self.folder + "/liblockbroker.so"],
                                check=True, stdout=subprocess.PIPE, text=True).stdout
        exported = set(re.findall(r" [TD] (\w+)", listed))
        self.assertEqual(exported, declared)

    def test_a_lock(self):
        self.prepare()
        driver = self.open()
        driver.tell("lock a|5000")
        code, fence = map(int, driver.next().split())
        status = self.control.ok("STATUS a")
        self.assertEqual((code, status["state"], status.fence), (OK, "held", fence))
        valid = driver.call("valid a")
        self.assertTrue(1000 < valid <= 10000)
        self.assertLessEqual(driver.call("valid"), valid)
        self.assertEqual(driver.call("lock a|0"), INVALID)
        self.assertEqual(driver.call("unlock a"), OK)
        self.assertEqual(self.control.ok("STATUS a")["state"], "free")
        self.assertEqual(driver.call("valid a"), 0)
        self.assertEqual(driver.call("unlock a"), INVALID)
        self.assertEqual(driver.call("nothing"), INVALID)
        self.control.lock("a")
        self.assertEqual(driver.call("lock a|0"), BUSY)
        self.assertEqual(driver.call("lock a|100"), TIMEOUT)
        self.assertEqual(driver.finish(), 0)

    def test_several_names_shared_semaphores(self):
        self.prepare()
        one, other = self.open(), self.open()
        self.assertEqual(one.call("lock a b|0"), OK)
        self.assertEqual(other.call("lock b|0"), BUSY)
        self.assertEqual(one.call("unlock a b"), OK)
        for driver in (one, other):
            self.assertEqual(driver.call("lock s|0 mode=shared"), OK)
            self.assertEqual(driver.call("acquire p|0"), OK)
        third = self.open()
        self.assertEqual(third.call("acquire p|0"), BUSY)
        self.assertEqual(one.call("release p"), OK)
        self.assertEqual(third.call("acquire p|1000"), OK)
        self.assertEqual(one.call("request STATUS s"), OK)
        self.assertEqual(one.call("lock a=b|0"), INVALID)

    def test_some_of_the_permits_are_given_back(self):
        """The others are held on, and counted on."""
        self.prepare()
        one, other = self.open(), self.open()
        self.assertEqual(one.call("both p|0"), OK)
        self.assertEqual(one.call("release p"), OK)
        self.assertGreater(one.call("valid p"), 0)
        self.assertEqual(one.call("release-three p"), INVALID)
        self.assertGreater(one.call("valid p"), 0)
        self.assertEqual(other.call("acquire p|0"), OK)
        self.assertEqual(one.call("release p"), OK)
        self.assertEqual(one.call("release p"), INVALID)
        self.assertEqual(one.call("acquire p|0"), OK)

    def test_of_several_names_one_is_lost(self):
        """The others are given back with it."""
        self.prepare()
        driver = self.open()
        self.assertEqual(driver.call("lock a b c|0"), OK)
        self.control.ok("UNLOCK-FORCE b")
        driver.tell("unlock a b c")
        self.assertEqual([driver.next(), driver.next()], ["lost b forced", "3 lost"])
        for name in ("a", "b", "c"):
            self.assertEqual(self.control.ok(f"STATUS {name}")["state"], "free")

    def test_a_bound_is_told_in_an_event_loop(self):
        self.prepare()
        driver = self.open()
        self.assertEqual(driver.call("lock h|0 hold=300ms"), OK)
        driver.tell("loop 20000")
        self.assertRegex(driver.next(), "^lost h (hold|unreachable)$")
        self.assertEqual(driver.next(), "3 lost")
        self.assertEqual(driver.call("valid h"), 0)
        self.assertEqual(driver.call("unlock h"), LOST)
        self.assertEqual(driver.call("lock h|1000"), OK)

    def test_a_loop_keeps_it(self):
        self.prepare(lease=1.5)
        driver = self.open()
        self.assertEqual(driver.call("lock a|0"), OK)
        self.assertEqual(driver.call("loop 4000"), OK)
        self.assertGreater(driver.call("valid a"), 0)
        self.assertEqual(driver.call("unlock a"), OK)

    def test_a_child_harms_nothing(self):
        self.prepare()
        driver = self.open()
        self.assertEqual(driver.call("lock a|0"), OK)
        self.assertEqual(driver.call("fork b"), OK)
        self.assertEqual(driver.call("loop 300"), OK)
        self.assertGreater(driver.call("valid a"), 0)
        self.assertEqual(self.control.ok("STATUS b")["state"], "free")
        self.assertEqual(driver.call("unlock a"), OK)

    def test_users(self):
        secret = "s" * 43
        users = os.path.join(self.directory, "users")
        with open(users, "w", encoding="utf-8") as file:
            file.write("deploy:sha256:" + hashlib.sha256(secret.encode()).hexdigest() + "\n")
        os.chmod(users, 0o600)
        self.prepare(auth={"users": [{"name": "deploy", "lock": ["deploy/*"]}],
                           "users_file": users}, ready=False)
        eventually(lambda: self.main.log_lines("guard-ready"), 10, "it grants")
        address = f"127.0.0.1:{self.main.port}"
        driver = self.open(address, "deploy", secret)
        self.assertEqual(driver.call("lock deploy/web|0"), OK)
        self.assertEqual(driver.call("lock other|0"), DENIED)
        self.assertEqual(int(self.start(address, "deploy", "wrong").next().split()[0]), DENIED)

    def test_nobody_is_there(self):
        self.prepare()
        driver = self.start("127.0.0.1:1")
        self.assertRegex(driver.next(), "^4 127.0.0.1:1: Connection refused$")
        self.assertEqual(driver.call("lock a|100"), UNAVAILABLE)


class Faults(Client):
    def through_a_proxy(self, grace_ms=None):
        """What cuts the connection of a driver, and the driver."""
        self.prepare()
        net = Proxy(f"127.0.0.1:{self.main.port}")
        self.addCleanup(net.stop)
        if grace_ms is not None:
            os.environ["DRIVER_GRACE_MS"] = str(grace_ms)
            self.addCleanup(os.environ.pop, "DRIVER_GRACE_MS")
        return net, self.open(f"127.0.0.1:{net.port}")

    def test_a_cut_connection(self):
        net, driver = self.through_a_proxy()
        self.assertEqual(driver.call("lock a|0"), OK)
        driver.tell("loop 20000")
        net.cut()
        self.assertEqual([driver.next(), driver.next()], ["lost a unreachable", "3 lost"])
        self.assertEqual(driver.call("valid"), 0)
        # The next request makes a connection.
        self.assertEqual(driver.call("lock b|5000"), OK)
        self.assertEqual(driver.call("unlock a"), LOST)

    def test_a_session_is_resumed(self):
        net, driver = self.through_a_proxy(10000)
        for name in ("a", "b", "c"):
            self.assertEqual(driver.call(f"lock {name}|0"), OK)
        fence = self.control.ok("STATUS a").fence
        # By an event loop, by a release, and by the next request.
        net.cut()
        self.assertEqual(driver.call("loop 500"), OK)
        self.assertEqual(net.connections, 2)
        self.assertGreater(driver.call("valid a"), 0)
        net.cut()
        self.assertEqual(driver.call("unlock b"), OK)
        self.assertEqual(self.control.ok("STATUS b")["state"], "free")
        net.cut()
        self.assertEqual(driver.call("lock d|5000"), OK)
        self.assertGreater(driver.call("valid d"), 0)
        self.assertEqual(driver.call("unlock d"), OK)
        self.assertGreater(driver.call("valid a"), 0)
        self.assertEqual(self.control.ok("STATUS a").fence, fence)
        # The end gives back what it has.
        net.cut()
        self.assertEqual(driver.finish(), 0)
        eventually(lambda: self.control.stats()["locks_held"] == "0", 5)

    def test_what_was_asked_when_the_connection_was_lost(self):
        """It is asked again, and what the broker had done of it is found by the session that
        is resumed: nothing is kept until the grace is over."""
        net, driver = self.through_a_proxy(200000)

        def check():
            for happens in (net.drop_reply, net.drop_request):
                for take, give in (("LOCK b", "UNLOCK b"), ("ACQUIRE p", "RELEASE p"),
                                   ("PING", "UNLOCK b")):
                    name = "p" if take == "ACQUIRE p" else "b"
                    happens(take)
                    words = ("acquire", "release") if name == "p" else ("lock", "unlock")
                    self.assertEqual(driver.call(f"{words[0]} {name}|20000"), OK)
                    self.assertTrue(net.fired.is_set())
                    self.assertGreater(driver.call(f"valid {name}"), 0)
                    happens(give)
                    self.assertEqual(driver.call(f"{words[1]} {name}"), OK)
                    self.assertTrue(net.fired.is_set())
                    self.assertEqual(self.control.ok("STATUS b")["state"], "free")

        check()
        self.assertEqual(driver.call("lock a|0"), OK)
        fence = self.control.ok("STATUS a").fence
        check()
        self.assertGreater(driver.call("valid a"), 0)
        self.assertEqual(self.control.ok("STATUS a").fence, fence)
        self.assertEqual(driver.call("unlock a"), OK)
        self.assertEqual(self.control.stats()["locks_held"], "0")

    def test_a_frozen_broker(self):
        self.prepare(lease=1.5)
        second = self.broker(self.server, lease=1.5, name="b2")
        driver = self.open(f"127.0.0.1:{self.main.port},127.0.0.1:{second.port}")
        self.assertEqual(driver.call("lock a|0"), OK)
        self.main.freeze()
        self.addCleanup(self.main.thaw)
        other = second.client()
        other.send("LOCK a wait=20s")
        driver.tell("loop 20000")
        # Nobody else has it before the program was told.
        self.assertEqual([driver.next(), driver.next()], ["lost a unreachable", "3 lost"])
        told = time.monotonic()
        self.assertEqual(other.reply(20).status, "OK")
        self.assertGreaterEqual(time.monotonic(), told)
        self.assertEqual(driver.call("lock b|20000", 30), OK)
        self.main.thaw()

    def freeze(self, *addresses):
        """A program that has been granted something, holds nothing, and whose broker freezes."""
        driver = self.open(",".join(addresses or [f"127.0.0.1:{self.main.port}"]))
        self.assertEqual([driver.call("lock a|0"), driver.call("unlock a")], [OK, OK])
        self.main.freeze()
        self.addCleanup(self.main.thaw)
        return driver

    def timed(self, driver, call, timeout=20):
        """Its code, how long it took, and how long it used the processor."""
        pid = driver.process.pid
        start, used = time.monotonic(), processor_s(pid)
        code = driver.call(call, timeout)
        return code, time.monotonic() - start, processor_s(pid) - used

    def test_no_call_outlasts_its_wait(self):
        """By more than a second; and what was given up is given back when the broker wakes up."""
        self.prepare(lease=30)
        for wait in (0, 500, 1500):
            driver = self.freeze()
            code, took, used = self.timed(driver, f"lock a|{wait}")
            self.assertEqual(code, UNAVAILABLE)
            self.assert_within(wait / 1000 + 0.9, took, patience(wait / 1000 + 1.2))
            self.assertLess(used, 0.2)
            self.main.thaw()
            eventually(lambda: int(self.control.stats()["clients"]) <= 2)
            eventually(lambda: self.control.ok("STATUS a")["state"] == "free")
            driver.close()

    def test_a_program_that_was_stopped(self):
        """That time was not its broker's: there is as much left as before."""
        self.prepare()
        proxy = Proxy(f"127.0.0.1:{self.main.port}")
        self.addCleanup(proxy.stop)
        driver = self.open(proxy.address)
        self.assertEqual([driver.call("lock a|0"), driver.call("unlock a")], [OK, OK])
        proxy.stalled = True
        driver.tell("lock a|1000")
        let_time_pass(0.3)
        driver.process.send_signal(signal.SIGSTOP)
        let_time_pass(3)
        driver.process.send_signal(signal.SIGCONT)
        let_time_pass(0.2)
        proxy.stalled = False
        self.assertEqual(driver.next().split()[0], str(OK))

    def test_one_that_waits_while_the_broker_freezes(self):
        self.prepare(lease=30)
        self.control.lock("a")
        driver = self.open()
        start = time.monotonic()
        driver.tell("lock a|2000")
        eventually(lambda: self.control.ok("STATUS a")["waiters"] == "1")
        self.main.freeze()
        self.addCleanup(self.main.thaw)
        self.assertEqual(int(driver.next().split()[0]), UNAVAILABLE)
        self.assert_within(2.8, time.monotonic() - start, patience(3.3))
        self.assertLess(processor_s(driver.process.pid), 0.2)

    def test_the_other_broker_is_used_in_time(self):
        self.prepare(lease=2)
        second = self.broker(self.server, lease=2, name="b2")
        for wait in (0, 500, 3000):
            driver = self.freeze(f"127.0.0.1:{self.main.port}", f"127.0.0.1:{second.port}")
            code, took, used = self.timed(driver, f"lock b{wait}|{wait}")
            self.assertEqual(code, OK, wait)
            self.assertLess(took, patience(wait / 1000 + 1))
            self.assertLess(used, 0.2)
            self.main.thaw()
            driver.close()

    def test_without_a_wait_it_is_given_up_after_ten_seconds(self):
        self.prepare(lease=30)
        driver = self.freeze()
        code, took, used = self.timed(driver, "lock a|-1")
        self.assertEqual(code, UNAVAILABLE)
        self.assert_within(9, took, patience(12))
        self.assertLess(used, 0.3)

    def test_giving_back_does_not_wait_for_a_frozen_broker(self):
        self.prepare(lease=30)
        driver = self.open()
        self.assertEqual(driver.call("lock a|0"), OK)
        self.assertEqual(driver.call("lock keeps|0"), OK)
        self.main.freeze()
        self.addCleanup(self.main.thaw)
        code, took, _ = self.timed(driver, "unlock a")
        self.assertEqual(code, OK)
        self.assert_within(0.9, took, patience(1.3))
        code, took, _ = self.timed(driver, "lock other|100")
        self.assertEqual(code, UNAVAILABLE)
        self.assertLess(took, patience(1.4))
        self.main.thaw()
        eventually(lambda: self.control.ok("STATUS a")["state"] == "free")
        driver.tell("loop 500")
        self.assertEqual(driver.next(), "0 ")
        self.assertEqual(self.control.ok("STATUS other")["state"], "free")
        self.assertEqual(self.control.ok("STATUS keeps")["state"], "held")

    def test_a_hold_that_is_over_at_once(self):
        self.prepare()
        driver = self.open()
        for hold in ("0", "0s", "00ms"):
            self.assertEqual(driver.call(f"lock a|0 hold={hold}"), INVALID)
        self.assertEqual(driver.call("lock a|0 hold=20s"), OK)

    def test_errors_name_the_lock_and_its_holder(self):
        self.prepare()
        self.control.ok("SESSION label=cron@db2")
        self.control.lock("a")
        driver = self.open()
        for wait in (0, 50):
            self.assertIn(driver.call(f"lock a|{wait}"), (BUSY, TIMEOUT))
            driver.tell("error")
            self.assertRegex(driver.next(), r"^a: .* \(holder=cron@db2 .*age=\d+ms")

    def test_a_program_that_does_not_call(self):
        """Its clock says that it is over, whatever the broker would renew."""
        self.prepare(lease=1.5)
        driver = self.open()
        self.assertEqual(driver.call("lock a|0"), OK)
        eventually(lambda: driver.call("valid a") == 0, 10)

    def test_a_broker_that_leaves(self):
        self.prepare()
        second = self.broker(self.server, name="b2", lease=10)
        driver = self.open(f"{self.main.unix_path},{second.unix_path}")
        self.control.ok("DRAIN")
        eventually(lambda: not self.main.process.alive, 10)
        self.assertEqual(driver.call("lock b|10000"), OK)
        self.assertEqual(second.client().ok("STATUS b")["state"], "held")

    def test_a_broker_that_is_drained_while_others_hold(self):
        """It answers that it goes; the other broker grants."""
        self.prepare()
        second = self.broker(self.server, name="b2", lease=10)
        driver = self.open(f"{self.main.unix_path},{second.unix_path}")
        self.control.lock("x")
        self.control.ok("DRAIN")
        self.assertEqual(driver.call("lock b|10000"), OK)
        self.assertEqual(second.client().ok("STATUS b")["state"], "held")
        self.assertTrue(self.main.process.alive)

    def test_a_bound_that_is_too_short_is_not_tried_for_ever(self):
        self.prepare()
        driver = self.open()
        self.assertIn(driver.call("lock a|-1 hold=1ms"), (OK, LOST))

    def under_load(self, happens):
        self.prepare(lease=1.5)
        driver = self.open(self.main.unix_path)
        driver.tell("stress 5000")
        eventually(lambda: int(self.control.stats()["grants_total"]) > 100, 20)
        happens()
        words = driver.next(40).split()
        self.assertEqual(words[:2], ["broken", "0"])

    def test_a_restart_under_load(self):
        def restart():
            self.main.stop()
            self.main.start()
        self.under_load(restart)

    def test_replacements_under_load(self):
        def replace():
            self.control.close()
            for _ in range(3):
                self.main.replace()
        self.under_load(replace)


class Tls(ClientsTest, Client):
    def test_a_lock(self):
        self.tls_broker()
        driver = Driver(self.program, f"tls://localhost:{self.port}", ca=self.file("ca.crt"))
        self.addCleanup(driver.close)
        self.assertEqual(driver.next(), "0 ")
        self.assertEqual(driver.call("lock a|5000"), OK)
        self.assertEqual(self.client().ok("STATUS a")["state"], "held")
        self.assertEqual(driver.call("unlock a"), OK)
        stranger = self.start(f"tls://localhost:{self.port}")
        self.assertRegex(stranger.next(), "^4 .*certificate")

    def test_a_user_by_certificate(self):
        self.broker_by_certificate()
        driver = Driver(self.program, f"tls://localhost:{self.port}", ca=self.file("ca.crt"),
                        cert=self.file("client.crt"), key=self.file("client.key"))
        self.addCleanup(driver.close)
        self.assertEqual(driver.next(), "0 ")
        self.assertEqual(driver.call("lock a|5000"), OK)
        self.assertEqual(driver.call("lock b|5000"), DENIED)
        nobody = Driver(self.program, f"tls://localhost:{self.port}", ca=self.file("ca.crt"))
        self.addCleanup(nobody.close)
        self.assertEqual(int(nobody.next().split()[0]), DENIED)
