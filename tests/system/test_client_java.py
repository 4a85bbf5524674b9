"""The client in Java (clients/java), as programs use it; JavaStories.java has these programs."""

import hashlib
import os
import re
import subprocess
import tempfile
import unittest

from lib import jdk, spoken
from lib.case import SystemTest
from lib.delays import program_loses
from lib.manual import read_source
from lib.proxy import Proxy
from lib.slots import program_keeps_and_loses
from lib.wait import eventually, hang
from test_tls_clients import ClientsTest


class Program(spoken.Program):
    patience_s = 30


@unittest.skipIf(jdk.version() < jdk.LEAST, "no JDK of Java 11 or later is installed")
class Client(SystemTest):
    limit = 90

    def prepare(self, lease=10, **settings):
        self.server = self.redis()
        self.main = self.broker(self.server, lease=lease, trust_new=True, **settings)
        self.control = self.client()

    def start(self, name, *given, java="java", options=()):
        given = given or (f"127.0.0.1:{self.main.port}",)
        program = Program([java, *jdk.FLAGS, *options, "-cp", jdk.jar(), "JavaStories", name,
                           *given])
        self.addCleanup(program.close)
        return program

    def ends(self, program, errors=()):
        """What it has yet said until its end, which is a good one; and warned of."""
        told = program.end()
        self.assertEqual([one for one in errors if one not in told], [], told)
        self.assertEqual(bool(told), bool(errors), told)
        self.assertEqual(program.process.returncode, 0)
        return list(program.said.queue)

    def story(self, name, *given, **options):
        """All that a program says until its end, which must be a good one."""
        return self.ends(self.start(name, *given, **options))

    def waiters(self, name, count):
        eventually(lambda: self.control.ok(f"STATUS {name}")["waiters"] == str(count), 20)

    def is_free(self, name):
        return self.control.ok(f"STATUS {name}")["state"] == "free"


class Locks(Client):
    def test_a_lock(self):
        """Reentrant for its thread, also by another object; counted in the client."""
        self.prepare()
        program = self.start("lock")
        fence = program.next().removesuffix(" true false")
        status = self.control.ok("STATUS a")
        self.assertEqual((status["state"], status["fence"]), ("held", fence))
        self.assertEqual([program.next() for _ in range(4)], [
            "true true", f"true {fence}", "false false IllegalMonitorStateException",
            "UnsupportedOperationException busy timeout"])
        program.tell()
        self.assertEqual(program.next(), "true")
        self.assertFalse(self.is_free("a"))
        program.tell()
        self.assertEqual(program.next(), "false IllegalMonitorStateException "
                         "IllegalMonitorStateException")
        self.assertEqual(self.ends(program), ["true"])

    def test_interrupts(self):
        self.prepare()
        self.control.lock("held")
        program = self.start("interrupt")
        self.waiters("held", 1)
        program.tell()
        self.assertEqual(program.next(), "InterruptedException")
        self.assertEqual(program.next(), "waits")
        self.waiters("held", 1)
        program.tell()
        self.assertEqual(program.next(), "interrupted")
        self.waiters("held", 1)
        self.control.ok("UNLOCK held")
        program.tell()
        self.assertEqual(self.ends(program), ["held true", "true [held]",
                                              "InterruptedException false true"])

    def test_threads_exclude_each_other(self):
        self.prepare()
        self.assertEqual(self.story("crowd"), ["1 150 true"])

    def test_several_names_hold_keep(self):
        self.prepare()
        self.control.lock("other")
        self.assertEqual(self.story("options"), [
            "[a, b] 2 deadlock false", "false", "true lost lost none", "bad-option bad-option",
            "not-held PT0S false"])
        self.assertEqual(self.control.ask("TRYLOCK k").status, "BUSY")

    def test_readers_and_a_writer(self):
        self.prepare()
        said = self.story("readWrite")
        self.assertEqual(said[0], "true false")
        self.assertIn("s: it is held (shared) by this thread", said[1])
        self.assertEqual(said[2:], ["true false", "false true"])

    def test_semaphore_and_elect(self):
        self.prepare()
        self.control.ok("WATCH leader")
        self.assertEqual(self.story("permits"), [
            "false timeout mismatch", "UnsupportedOperationException bad-option", "true", "true",
            "true 10.0.0.7:80", "10.0.0.8:80 Optional.empty bad-option", "not-held", "true",
            "bad-option bad-option IllegalMonitorStateException"])
        self.assertIn(" trace=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                      self.control.ok("HISTORY t").body[0])
        while self.control.event().fields.get("value") != "10.0.0.8:80":
            pass

    def test_slots(self):
        program_keeps_and_loses(self, lambda address: self.start("slots", address))

    def test_slots_that_can_not_be(self):
        self.prepare()
        self.assertEqual(self.story("noSlots"), [
            "bad-option gpu: slot=yes takes a limit= of at most 512",
            "bad-option bad-option -1 -1"])

    def test_traces(self):
        self.prepare()
        self.assertEqual(self.story("traces"), ["bad-option"])
        rows = self.control.ok("HISTORY a").body
        self.assertEqual([re.findall(r" trace=00-(...)", row) for row in rows],
                         [[], ["111"], ["4bf"], ["4bf"], ["0af"]])

    def test_futures(self):
        """They belong to no thread, and end their wait when they are cancelled."""
        self.prepare()
        program = self.start("async")
        self.assertEqual([program.next(), program.next()], ["false busy", "waits"])
        self.waiters("a", 1)
        program.tell()
        self.waiters("a", 0)
        program.tell()
        self.assertEqual(self.ends(program), ["true"])
        self.assertTrue(self.is_free("a"))

    def test_a_loss(self):
        self.prepare()
        program = self.start("loss")
        self.assertEqual(program.next(), "held")
        self.control.ok("UNLOCK-FORCE a")
        self.assertEqual(program.next(), "told")
        program.tell()
        self.assertEqual(self.ends(program), [
            "true true lost lost", "a was lost (forced): an administrator ended it",
            "IllegalMonitorStateException true"])

    def test_what_is_dropped_is_given_back(self):
        self.prepare(lease=2)
        program = self.start("dropped")
        said = self.ends(program, ("WARNING: hold is given back", "WARNING: thread is given back"))
        self.assertEqual(said, ["dropped", "had"])

    def test_errors(self):
        self.prepare()
        self.control.ok("SESSION label=worker")
        self.control.lock("held")
        said = self.story("errors")
        for line, code in zip(said, ("busy", "timeout")):
            self.assertRegex(line, rf"^{code} true true true held: .*held by worker through")
        self.assertEqual(said[2:], [
            *["bad-name"] * 5, "bad-request bad-request bad-name", *["bad-option"] * 3,
            "unavailable", "closed"])

    def test_what_errors_know(self):
        self.prepare()
        self.control.ok("SESSION label=worker")
        self.control.lock("held")
        waits = self.client()
        waits.send("LOCK held")
        self.waiters("held", 1)
        self.assertEqual(self.story("known"), [
            f"timeout [held] worker {self.main.name} 1 true",
            "[a, b] Optional.empty Optional.empty Optional.empty Optional.empty",
            "unavailable [a]"])

    def test_times(self):
        self.prepare()
        program = self.start("times")
        self.assertEqual(program.next(), "kept Hold[kept, given back] not-held not-held")
        for name in ("delayed", "kept", "longer"):
            self.assertEqual(self.control.ask(f"TRYLOCK {name}").status, "BUSY")
        program.tell()
        self.assertEqual(self.ends(program), ["bad-option bad-option", "lost lost lost lost"])
        for name in ("free", "longer"):
            self.assertTrue(self.is_free(name))

    def test_a_delay(self):
        program_loses(self, lambda addresses: self.start("delay", addresses))

    def test_what_a_lock_says(self):
        self.prepare()
        self.assertEqual(self.story("shown"), [
            "[a, b] BrokerLock[a, b] IllegalMonitorStateException PT0S "
            "IllegalMonitorStateException",
            "true 2 Hold[a, b]", "false false",
            "BrokerLock[s, shared] BrokerSemaphore[s, 2]"])

    def test_a_user_by_password(self):
        secret = "s" * 43
        self.prepare(ready=False, auth={"users": [{
            "name": "deploy", "lock": ["mine/*"],
            "hash": "sha256:" + hashlib.sha256(secret.encode()).hexdigest()}]})
        eventually(lambda: self.main.log_lines("guard-ready"), 20, "it grants")
        program = self.start("password", f"127.0.0.1:{self.main.port}", "deploy", secret)
        self.assertEqual(program.next(), "held")
        other = self.client()
        other.ok(f"AUTH deploy {secret}")
        self.assertIn(" label=here", other.ok("QUEUE mine/a").body[0])
        program.tell()
        self.assertEqual(self.ends(program), ["denied [other]"])
        self.assertEqual(self.story("password", f"127.0.0.1:{self.main.port}", "deploy", "wrong"),
                         ["auth [mine/a]", "auth [other]"])

    def test_names_in_pieces(self):
        """Characters of several bytes, and each byte comes by itself."""
        self.prepare()
        net = Proxy(f"127.0.0.1:{self.main.port}")
        self.addCleanup(net.stop)
        net.split = True
        program = self.start("names", net.address, options=("-Dsun.stdout.encoding=UTF-8",
                                                            "-Dfile.encoding=UTF-8",
                                                            "-Dstdout.encoding=UTF-8"))
        self.assertEqual(program.next(), "held")
        self.control.ok("UNLOCK-FORCE 鍵")
        self.assertEqual(self.ends(program), [
            "true lost", "größe, 鍵, 𝄞 was lost (forced): an administrator ended it"])

    @unittest.skipIf(jdk.version() < jdk.UNIX, "this Java has no Unix sockets")
    def test_a_unix_socket(self):
        self.prepare()
        self.assertEqual(self.story("crowd", self.main.unix_path), ["1 150 true"])


class Ends(Client):
    def test_nothing_keeps_a_program_alive(self):
        self.prepare()
        self.assertEqual(self.story("open"), ["held"])
        for name in ("a", "b"):
            eventually(lambda n=name: self.is_free(n), 20)

    def test_close_leaves_nothing(self):
        self.prepare()
        said = self.story("closed")
        self.assertEqual(sorted(said), ["nothing is left", "told", "true lost closed"])

    def test_virtual_threads_pin_nothing(self):
        java = jdk.virtual()
        if java is None:
            self.skipTest("no Java of 21 or later is installed")
        self.prepare()
        self.control.lock("held")
        program = self.start("virtual", java=java, options=(
            "-Djdk.virtualThreadScheduler.parallelism=1",
            "-Djdk.virtualThreadScheduler.maxPoolSize=1"))
        self.waiters("held", 20)
        program.tell()
        self.assertEqual(program.next(), "held 0")
        self.control.ok("UNLOCK held")
        program.tell()
        self.assertEqual(self.ends(program), ["20"])


class Tls(ClientsTest, Client):
    def test_a_lock(self):
        self.tls_broker()
        address = f"tls://localhost:{self.port}"
        self.assertEqual(self.story("user", address, self.file("ca.crt")), ["held", "held"])
        self.assertEqual(self.story("context", address, self.file("ca.crt")), ["true"])
        refused = self.story("user", address)
        self.assertRegex(refused[0], "^unavailable a: .*certificat")

    def test_a_user_by_certificate(self):
        self.broker_by_certificate()
        address, ca = f"tls://localhost:{self.port}", self.file("ca.crt")
        known = self.story("user", address, ca, self.file("client.crt"), self.file("client.key"))
        self.assertEqual(known[0], "held")
        self.assertRegex(known[1], "^denied ")
        for line in self.story("user", address, ca):
            self.assertRegex(line, "^auth ")


class Package(Client):
    def blocks(self):
        return dict(re.findall(r"^```(\w+)\n(.*?)^```", read_source("clients/java/README.md"),
                               re.M | re.S))

    def test_the_program_of_the_readme(self):
        self.prepare()
        path = os.path.join(self.directory, "Report.java")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.blocks()["java"])
        done = subprocess.run(
            ["java", "-cp", jdk.jar(), path], text=True, capture_output=True, check=False,
            timeout=hang(60), env=dict(os.environ, LOCKBROKER=f"127.0.0.1:{self.main.port}"))
        self.assertRegex(done.stdout, r"^here we work \d+\n$", done.stderr)
        self.assertTrue(self.is_free("nightly-report"))

    def test_javadoc(self):
        """It is complete, and right."""
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                ["javadoc", "-quiet", "-Xdoclint:all,-missing", "-Werror", "-d", folder,
                 "-sourcepath", jdk.SOURCES, "org.lockbroker"],
                capture_output=True, text=True, check=False, timeout=hang(60))
            self.assertEqual((done.returncode, done.stderr), (0, ""))
