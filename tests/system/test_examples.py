"""The examples for containers, as far as they go without any: brokers with their configurations, the
Redis of the compose file, and every probe and command, run as they stand there."""

import json
import os
import pwd
import re
import subprocess

from lib import http
from lib.broker import find_program
from lib.case import SystemTest
from lib.wait import eventually, hang, now, patience

TOP = os.environ.get("LOCKBROKER_SRC", os.path.join(os.path.dirname(__file__), "..", ".."))


def source(path):
    with open(os.path.join(TOP, path), encoding="utf-8") as file:
        return file.read()


def only(pattern, text):
    """What the group of the pattern is in the one place that it matches."""
    found, = re.findall(pattern, text, flags=re.M)
    return found


class Examples(SystemTest):
    limit = 60

    def serve(self, configuration, server):
        """A broker with this file, but for the hosts and ports that only a cluster has."""
        broker = self.broker(server, start=False)
        broker.unix_path = os.path.join(broker.directory, "lockbrokerd.sock")
        text, count = re.subn(r"\bredis:6379\b", server.address, configuration)
        self.assertEqual(count, 1)
        text = re.sub(r"\b0\.0\.0\.0:\d+$", "127.0.0.1:0", text, flags=re.M)
        text = text.replace("/run/own/", broker.directory + "/own-")
        # Clients of the test are the broker's user, and want to lock, too.
        text = text.replace("[lockbrokerd]", f"[{pwd.getpwuid(os.geteuid()).pw_name}]")
        text = text.replace("admin: true\n", "admin: true\n      lock: ['*']\n")
        path = os.path.join(broker.directory, "example.yaml")
        with open(path, "w", encoding="utf-8") as file:
            # A server that is new would make each test wait for the grace period.
            file.write(text.replace("redis:\n", "redis:\n  trust_new: true\n", 1))
        broker.start(argv=[find_program(), "-c", path])
        return broker.wait_granting()

    @staticmethod
    def command(broker, words, **options):
        """A command of an example, which finds the socket of this broker."""
        program, *rest = words
        return subprocess.Popen([find_program(program), *rest],
                                env={**os.environ, "LOCKBROKER": broker.unix_path}, **options)


class Kubernetes(Examples):
    def setUp(self):
        super().setUp()
        self.text = source("conf/kubernetes.yaml")
        block = only(r"^  lockbrokerd\.yaml: \|\n((?:    .*\n|\n)+)", self.text)
        self.server = self.redis()
        self.b = self.serve(re.sub(r"^    ", "", block, flags=re.M), self.server)
        self.web = http.of(self.b)
        paths = dict(re.findall(r"^ +(\w+)Probe:\n +httpGet:\n +path: (\S+)$", self.text, re.M))
        self.live, self.ready = paths["liveness"], paths["readiness"]

    def test_probes(self):
        self.assertEqual(self.web.get(self.live).status, 200)
        self.assertEqual(self.web.get(self.ready).status, 200)
        self.server.kill()
        eventually(lambda: self.web.get(self.ready).status == 503, 20, "it is not ready")
        self.assertEqual(self.web.get(self.live).status, 200)

    def pre_stop(self):
        words = json.loads(only(r"^ +preStop:\n +exec:\n(?: +#.*\n)* +command: (\[.*\])$",
                                self.text))
        for there, here in (("lockbroker -S", find_program("lockbroker") + " -S"),
                            ("/run/own/", self.b.directory + "/own-"),
                            ("--pid=1 ", f"--pid={self.b.process.pid} ")):
            self.assertEqual(words[-1].count(there), 1)
            words[-1] = words[-1].replace(there, here)
        return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def test_who_has_no_name(self):
        """He may lock, and look at locks, and no more: root of a pod, too."""
        text = only(r"^      anonymous:\n((?:        .*\n)+)", self.text)
        self.assertEqual(re.findall(r"(\w+):", text), ["lock", "watch"])
        self.assertEqual(self.web.get("/locks/a").status, 404)
        self.assertEqual(self.web.get("/metrics").status, 401)

    def test_stop_of_one_that_was_replaced(self):
        """It does not listen any more: preStop waits until it has ended."""
        os.unlink(self.b.directory + "/own-lockbrokerd.sock")
        with self.pre_stop() as command:
            self.assertIn(b"no broker answers", command.stderr.readline())
            with self.assertRaises(subprocess.TimeoutExpired):
                command.wait(0.2)
            self.assertEqual(self.b.stop(), 0)
            self.assertEqual(command.wait(hang()), 0)

    def test_stop(self):
        """preStop waits for who holds a lock, and then the broker has ended."""
        holder = self.client(self.b)
        holder.lock("a")
        with self.pre_stop() as command:
            self.assertRegex(holder.event().text, "^!LEAVING")
            self.assertEqual(self.web.get(self.ready).status, 503)
            self.assertEqual(self.web.get(self.live).status, 200)
            with self.assertRaises(subprocess.TimeoutExpired):
                command.wait(0.2)
            holder.ok("UNLOCK a")
            self.assertEqual(command.wait(hang()), 0)
        self.assertEqual(self.b.process.wait(), 0)


class Compose(Examples):
    def setUp(self):
        super().setUp()
        self.text = source("conf/compose.yaml")
        program, *words = json.loads(only(r"^    command: (\[.*\])$", self.text))
        self.assertEqual(program, "redis-server")
        options = {key.removeprefix("--"): value for key, value in zip(words[::2], words[1::2])}
        self.b = self.serve(source("conf/container.yaml"), self.redis(**options))

    def test_health(self):
        words = json.loads(only(r"^HEALTHCHECK CMD (\[.*\])$", source("Containerfile")))
        with self.command(self.b, words, stdout=subprocess.DEVNULL) as command:
            self.assertEqual(command.wait(hang()), 0)
        self.b.stop()
        with self.command(self.b, words, stderr=subprocess.DEVNULL) as command:
            self.assertEqual(command.wait(hang()), 69)

    def test_stop(self):
        """As long as the container's end is awaited, a holder that does not care is, too."""
        period = int(only(r"^ +stop_grace_period: (\d+)s$", self.text))
        holder = self.client(self.b)
        holder.lock("a")
        holder.ok("PING")
        start = now()
        self.b.process.signal(15)
        self.assertEqual(holder.event().text, "!SHUTDOWN")
        self.assertEqual(self.b.process.wait(), 0)
        self.assertLess(now() - start, patience(period))
