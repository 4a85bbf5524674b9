"""A client asks a process that leaves: BROKERS lists it, LEAVING hands the connection over."""

import hashlib
import json
import os
import pwd
import re
import subprocess
import time
import unittest

from lib import chromium, http
from lib.broker import find_program
from lib.case import SystemTest
from lib.client import Client
from lib.resp import Resp
from lib.wait import eventually, patience
from test_tls_clients import ClientsTest

ME = pwd.getpwuid(os.getuid()).pw_name


def fields(row):
    """The words of a row that have a value."""
    return dict(word.split("=", 1) for word in row.split() if "=" in word)


def leavers(client):
    """The rows of those that can be asked."""
    rows = [fields(row) for row in client.ok("BROKERS").body]
    return [row for row in rows if row.get("leaving") and "clients" in row]


def at_leaver(client, which=0):
    """The client, at the process that leaves."""
    client.ok("LEAVING " + leavers(client)[which]["instance"])
    return client


class Crowded(SystemTest):
    limit = 60

    def named(self, label, **options):
        client = self.client(self.b, **options)
        client.ok(f"SESSION label={label}")
        return client

    def crowd(self):
        """One that holds and one that waits in the old process, and one in the new one."""
        self.holder, self.second = self.named("first"), self.named("second")
        self.fence = self.holder.lock("a")
        self.second.send("LOCK a")
        self.asks = self.client(self.b)
        eventually(lambda: self.asks.stats()["waiters"] == "1", 5, "it waits")
        self.asks.close()
        self.old = self.b.replace()
        self.third, self.asks = self.named("third"), self.client(self.b)
        self.third.send("LOCK a")
        eventually(lambda: self.asks.stats()["waiters"] == "1", 5, "it waits")


class Asked(Crowded):
    def setUp(self):
        super().setUp()
        self.b = self.broker(self.redis(), trust_new=True)

    def test_brokers_has_a_row(self):
        self.crowd()
        self.assertNotEqual(leavers(self.asks), [])
        row, = eventually(lambda: [row for row in leavers(self.asks)
                                   if "version" in row and row["clients"] == "2"], 10,
                          "Redis knows of it, and it has told what it has")
        self.assertRegex(row["instance"], "^[0-9a-f]{16}$")
        self.assertEqual((row["leaving"], row["holds"]), ("1", "1"))
        self.holder.close()
        self.second.reply()
        self.second.close()
        self.assertEqual(self.old.wait(), 0)
        eventually(lambda: leavers(self.asks) == [], 5, "it has gone")

    def test_it_answers_from_then_on(self):
        self.crowd()
        instance = leavers(self.asks)[0]["instance"]
        self.asks.send(f"LEAVING {instance}", "@x STATUS a", "PING")
        self.assertTrue(self.asks.reply().ok)
        self.assertEqual(self.asks.reply(tag="x")["label"], "first")
        self.assertTrue(self.asks.reply().ok)
        queue = self.asks.ok("QUEUE a").body
        self.assertEqual([fields(row)["label"] for row in queue], ["first", "second"])
        self.assertEqual(int(fields(queue[0])["fence"]), self.fence)
        self.assertEqual(len(self.asks.ok("NAMES").body), 1)
        self.asks.send(f"@y LEAVING {instance}")  # it is there already
        self.assertTrue(self.asks.reply(tag="y").ok)
        self.asks.close()
        self.holder.close()
        self.second.reply()

    def test_without_redis(self):
        """Who has a name is still known to the process that has it."""
        self.crowd()
        self.servers[0].freeze()
        self.assertEqual(at_leaver(self.asks).ok("STATUS a")["label"], "first")
        self.servers[0].thaw()

    def test_several(self):
        clients = []
        for i in range(3):
            clients.append(self.named(f"n{i}"))
            clients[i].send("LOCK a")
            self.b.replace()
        asks = self.client(self.b)
        self.assertEqual(len(leavers(asks)), 3)
        labels = {fields(at_leaver(self.client(self.b), i).ok("QUEUE a").body[-1])["label"]
                  for i in range(3)}
        self.assertEqual(labels, {"n0", "n1", "n2"})
        # One that leaves has the one that does not hand it on.
        first, second = (row["instance"] for row in leavers(asks)[:2])
        asks.ok(f"LEAVING {first}")
        asks.ok(f"LEAVING {second}")

    def test_resp(self):
        self.crowd()
        resp = Resp(f"unix:{self.b.unix_path}")
        self.addCleanup(resp.close)
        resp("HELLO", "3")
        self.assertEqual(resp("LEAVING", leavers(self.asks)[0]["instance"]), "OK")
        self.assertEqual(resp("STATUS", "a")["label"], "first")

    def test_refused(self):
        self.asks = self.client(self.b)
        self.asks.err("LEAVING 0123456789abcdef", "not-found")
        self.crowd()
        instance = leavers(self.asks)[0]["instance"]
        self.asks.err("LEAVING 0123456789abcdef", "not-found")
        self.asks.err("LEAVING " + "x" * 100, "not-found")
        self.asks.lock("b")
        self.asks.err(f"LEAVING {instance}", "bad-request")
        self.asks.ok("UNLOCK b")
        self.asks.send("@w LOCK a")
        self.asks.err(f"LEAVING {instance}", "bad-request")
        self.asks.ok("CANCEL w")

    def test_one_that_is_frozen_or_ends(self):
        self.crowd()
        instance = leavers(self.asks)[0]["instance"]
        self.old.freeze()
        self.asks.err(f"LEAVING {instance}", "unavailable")
        self.asks.send(f"LEAVING {instance}")
        self.old.kill()
        self.b.replaced.clear()
        self.assertEqual(self.asks.reply().code, "not-found")
        self.asks.ok("PING")


class Tables(Crowded):
    """The command asks each process over a connection of its own."""

    def setUp(self):
        super().setUp()
        self.b = self.broker(self.redis(), trust_new=True)

    def out(self, *words, server=None):
        done = subprocess.run(
            [find_program("lockbroker"), "-S", server or self.b.unix_path, *words],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True, text=True)
        self.err = done.stderr
        return done.stdout

    def shown(self, *words, **more):
        """The rows of a table: the first word of each, and the last."""
        out = self.out(*words, **more)
        table = out[re.search("(?m)^(NAME|ROLE|ENDED) ", out).start():]
        return [(row.split()[0], row.split()[-1]) for row in table.splitlines() if row]

    def test_tables_mark_what_leaves(self):
        mine = self.named("mine")
        mine.lock("b")
        for words in (("list",), ("top", "-b", "-n", "1")):
            self.assertNotIn("LEAVING", dict(self.shown(*words)).values())
        self.b.replace()
        fresh = self.named("fresh")
        fresh.lock("c")
        for words in (("list",), ("top", "-b", "-n", "1")):
            self.assertEqual(sorted(self.shown(*words)),
                             [("NAME", "LEAVING"), ("b", "yes"), ("c", "-")])
        self.assertEqual(self.shown("list", server=f"127.0.0.1:{self.b.port}")[-1], ("b", "yes"))
        self.assertEqual(self.shown("queue", "b"), [("ROLE", "LEAVING"), ("holder", "yes")])
        self.assertEqual(self.shown("history", "b"), [("ENDED", "LEAVING"), ("-", "yes")])
        self.assertEqual(sorted(self.out("names").split()), ["b", "c"])
        self.assertEqual(sorted(self.out("complete", "--", "-S", self.b.unix_path, "status", "")
                                .split()), ["b", "c"])
        told = [json.loads(line) for line in self.out("--json", "list").splitlines()]
        self.assertEqual({row["name"]: row.get("leaving") for row in told}, {"b": 1, "c": None})
        # Nothing of ours keeps it.
        mine.close()
        self.assertEqual(self.b.replaced[0].wait(), 0)

    def test_one_name_in_both(self):
        self.crowd()
        status = self.out("status", "a")
        self.assertRegex(status, r"(?s)label +first.*\n\nname.*label +first.*leaving +1")
        rows = [json.loads(line) for line in self.out("--json", "queue", "a").splitlines()]
        self.assertEqual([(row["role"], row.get("label"), row.get("leaving")) for row in rows],
                         [("holder", "first", 1), ("waiter", "second", 1), ("waiter", "third", None)])

    def test_one_that_is_frozen(self):
        self.crowd()
        self.old.freeze()
        self.out("list")
        self.assertIn("1 old process of this broker does not answer", self.err)
        begun = time.monotonic()
        done = subprocess.run([find_program("lockbroker"), "complete", "--", "-S", self.b.unix_path,
                               "status", ""], stdout=subprocess.PIPE, text=True)
        self.assertEqual(done.stdout.split(), ["a"])
        self.assertLess(time.monotonic() - begun, patience(2, begun))
        self.old.thaw()


class OverHttp(Crowded):
    def setUp(self):
        super().setUp()
        self.b = self.broker(self.redis(), trust_new=True, listen=[
            {"unix": os.path.join(self.directory, "b1", "s")}, {"http": "127.0.0.1:0"}])
        self.web = http.of(self.b)

    def test_a_name_for_programs(self):
        self.crowd()
        answer = self.web.get("/locks/a")
        self.assertEqual((answer.status, answer.json["label"]), (200, "first"))
        self.assertEqual(self.web.get(f"/locks/a?fence={self.fence}&holder=first").status, 200)
        self.assertEqual(self.web.get("/locks/a?holder=other").status, 412)

    @unittest.skipIf(chromium.program() is None, "no chromium")
    def test_the_page(self):
        self.crowd()
        browser = chromium.Browser()
        self.addCleanup(browser.close)
        browser.open(f"http://127.0.0.1:{self.web.port}/")
        eventually(lambda: "which hold 1 lock" in (browser.text("#now") or ""), 20, "it is said")
        self.assertIn("1 old process of this broker", browser.text("#now"))
        self.assertIn("lockbroker list", browser.text("#now"))
        self.assertRegex(browser.text(".figures"), r"locks held\s+1\s+requests waiting\s+2")
        browser.open(f"http://127.0.0.1:{self.web.port}/?name=a")
        eventually(lambda: "through an old process" in (browser.text("#name-asked") or ""), 20,
                   "who has it is said")
        self.assertEqual(browser.said, [])


class ByUser(SystemTest):
    limit = 60

    def prepare(self, **anonymous):
        of = "sha256:" + hashlib.sha256(b"secret").hexdigest()
        self.users = [{"name": "me", "unix": [ME], "admin": True, "lock": ["*"]},
                      {"name": "dev", "hash": of, "watch": ["*"]}]
        self.b = self.broker(self.redis(), trust_new=True, auth={
            "users": self.users, "anonymous": anonymous})
        self.holder = self.client(self.b)
        self.holder.ok("LOCK open/a secret/b")

    def dev(self, name="dev"):
        dev = Client(("127.0.0.1", self.b.port))
        self.addCleanup(dev.close)
        dev.ok(f"AUTH {name} secret")
        return dev

    def test_each_sees_what_is_his(self):
        self.prepare(lock=["open/*"])
        self.b.replace()
        me = self.client(self.b)
        instance = leavers(me)[0]["instance"]
        anybody = Client(("127.0.0.1", self.b.port))
        self.addCleanup(anybody.close)
        anybody.err("BROKERS", "denied")
        anybody.ok(f"LEAVING {instance}")
        anybody.err("STATUS secret/b", "denied")
        self.assertEqual([row.split()[0] for row in anybody.ok("NAMES").body], ["open/a"])
        self.assertEqual(len(at_leaver(self.dev()).ok("NAMES").body), 2)

    def replace_late(self):
        """One that leaves may be late: it waits for a file that is a pipe now."""
        self.prepare()
        self.b.write_config({"auth": {"users": [
            self.users[0], dict(self.users[1], deny=["secret/*"]), dict(self.users[1], name="new")]}})
        with open(self.b.config_path, encoding="utf-8") as file:
            text = file.read()
        os.unlink(self.b.config_path)
        os.mkfifo(self.b.config_path)
        control, old = self.client(self.b), self.b.process
        control.send("REPLACE")
        with open(self.b.config_path, "w", encoding="utf-8") as pipe:
            pipe.write(text)
        self.b.replaced_by(int(control.reply()["pid"]))
        return text, old

    def goes_on(self, text):
        with open(self.b.config_path, "w", encoding="utf-8") as pipe:
            pipe.write(text)

    def test_it_keeps_what_was_where_it_can_not_read(self):
        self.replace_late()
        dev, new = self.dev(), self.dev("new")
        instance = leavers(dev)[0]["instance"]
        for client in dev, new:
            client.send(f"LEAVING {instance}", "STATUS secret/b")
        self.goes_on("auth: [\n")
        self.assertTrue(dev.reply().ok)
        self.assertEqual(dev.reply()["state"], "held")
        new.expect_eof()  # is not known there
        self.assertEqual(new.replies, [])

    def test_by_the_rights_of_today(self):
        text, old = self.replace_late()
        dev, new = self.dev(), self.dev("new")
        instance = leavers(dev)[0]["instance"]
        dev.err(f"LEAVING {instance}", "unavailable")  # after three seconds
        new.send(f"LEAVING {instance}", "STATUS secret/b")
        self.assertEqual(self.b.log_lines("reread=auth"), [])
        self.assertTrue(old.alive)
        self.goes_on(text)
        eventually(lambda: self.b.log_lines("reread=auth"), 10, "it has read it")
        self.assertTrue(new.reply().ok)
        self.assertEqual(new.reply()["state"], "held")
        self.assertEqual([row.split()[0] for row in at_leaver(self.dev()).ok("NAMES").body],
                         ["open/a"])


class OverTls(ClientsTest):
    def test_it_goes_as_over_a_socket(self):
        self.b = self.tls_broker(
            self.redis(), {"client_ca": self.file("ca.crt"), "verify": "require"}, trust_new=True,
            auth={"users": [{"name": "local", "unix": [ME], "admin": True, "lock": ["*"]},
                            {"name": "deploy", "certificate": ["CN=client"], "lock": ["a*"]}]})
        holder = self.tls("client")
        holder.lock("a")
        self.b.replaced_by(int(self.client(self.b).ok("REPLACE")["pid"]))
        instance = leavers(self.client(self.b))[0]["instance"]
        asks = self.tls("client")
        asks.ok(f"LEAVING {instance}")
        self.assertEqual(asks.ok("WHOAMI")["via"], "certificate")
        self.assertEqual(asks.ok("STATUS a")["state"], "held")
