"""What a broker tells of locks that a process has which it has replaced."""

import hashlib
import json
import os
import pwd
import re
import signal
import socket
import subprocess
import unittest

from lib import chromium, http
from lib.broker import find_program
from lib.client import Client
from lib.case import SystemTest
from lib.resp import Resp
from lib.wait import eventually, now, patience


def fields(row):
    """The words of a row that have a value."""
    return dict(word.split("=", 1) for word in row.split() if "=" in word)


def labels(rows):
    return [fields(row).get("label") for row in rows]


class Crowded(SystemTest):
    limit = 60

    def named(self, label, **options):
        client = self.client(self.b, **options)
        client.ok(f"SESSION label={label}")
        return client

    def aged(self, request, key="age"):
        """Wait until all rows are old: each process says how old by a look of its own."""
        asks = self.client(self.b)
        eventually(lambda: all(int(fields(row)[key][:-2]) >= 100 for row in asks.ok(request).body),
                   5, "time passes")
        asks.close()

    def crowd(self):
        """One that holds and one that waits in the old process, and one in the new one."""
        self.holder, self.second = self.named("first"), self.named("second")
        self.fence = self.holder.lock("a")
        self.second.send("LOCK a")
        admin = self.client(self.b)
        eventually(lambda: admin.stats()["waiters"] == "1", 5, "it waits")
        admin.close()
        self.old = self.b.replace()
        self.aged("QUEUE a")
        self.third, self.asks = self.named("third"), self.client(self.b)
        self.third.send("LOCK a")
        eventually(lambda: self.asks.stats()["waiters"] == "1", 5, "it waits")


class Views(Crowded):
    def setUp(self):
        super().setUp()
        self.b = self.broker(self.redis(), trust_new=True)

    def test_status(self):
        self.crowd()
        status = self.asks.ok("STATUS a")
        self.assertEqual((status["state"], status["label"], status["waiters"]),
                         ("held", "first", "2"))
        self.assertEqual(int(status["fence"]), self.fence)
        self.assertEqual(status["leaving"], "1")
        # It has the name itself in the end, and says so itself.
        self.holder.ok("UNLOCK a")
        self.second.reply()
        self.second.ok("UNLOCK a")
        self.third.reply()
        status = self.asks.ok("STATUS a")
        self.assertEqual((status["label"], status["waiters"]), ("third", "0"))
        self.assertNotIn("leaving", status.fields)

    def test_queue(self):
        self.crowd()
        reply = self.asks.ok("QUEUE a")
        self.assertEqual(reply["waiters"], "2")
        self.assertEqual([row.split()[0] for row in reply.body], ["holder", "waiter", "waiter"])
        self.assertEqual(labels(reply.body), ["first", "second", "third"])
        self.assertEqual([fields(row).get("leaving") for row in reply.body], ["1", "1", None])
        self.assertEqual(int(fields(reply.body[0])["fence"]), self.fence)
        self.assertEqual(labels(self.asks.ok("QUEUE a limit=2").body), ["first", "second"])

    def test_queue_of_a_semaphore(self):
        first = self.named("first")
        first.ok("ACQUIRE pool limit=2")
        old = self.b.replace()
        self.aged("QUEUE pool kind=semaphore")
        second, third = self.named("second"), self.named("third")
        second.ok("ACQUIRE pool limit=2")
        third.send("ACQUIRE pool limit=2")
        asks = self.client(self.b)
        eventually(lambda: asks.stats()["waiters"] == "1", 5, "it waits")
        reply = asks.ok("QUEUE pool kind=semaphore")
        self.assertEqual(labels(reply.body), ["first", "second", "third"])
        self.assertEqual(asks.ok("STATUS pool kind=semaphore")["waiters"], "1")
        asks.err("STATUS nothing kind=semaphore", "not-found")
        first.ok("QUIT")
        self.assertEqual(old.wait(), 0)
        third.reply()

    def test_names(self):
        self.crowd()
        self.holder.lock("only/old")
        self.third.close()
        free = self.client(self.b)
        free.lock("only/new")
        reply = self.asks.ok("NAMES")
        rows = {row.split()[0]: fields(row) for row in reply.body}
        self.assertEqual([row.split()[0] for row in reply.body], ["a", "only/new", "only/old"])
        self.assertEqual(reply["total"], "3")
        self.assertEqual((rows["a"]["state"], rows["a"]["holder"]), ("held", "first"))
        self.assertEqual(rows["only/old"]["holder"], "first")
        reply = self.asks.ok("NAMES only/* limit=1")
        self.assertEqual((len(reply.body), reply["total"]), (1, "2"))

    def test_names_are_added_up(self):
        self.crowd()
        row = fields(self.asks.ok("NAMES a").body[0])
        self.assertEqual((row["waiters"], row["holder"]), ("2", "first"))

    def shown(self, *words):
        """The rows of a table: the first word of each, and the last."""
        out = subprocess.run([find_program("lockbroker"), "-S", self.b.unix_path, *words],
                             stdout=subprocess.PIPE, check=True, text=True).stdout
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
            self.assertEqual(self.shown(*words), [("NAME", "LEAVING"), ("b", "yes"), ("c", "-")])
        self.assertEqual(self.shown("queue", "b"), [("ROLE", "LEAVING"), ("holder", "yes")])
        self.assertEqual(self.shown("history", "b"), [("ENDED", "LEAVING"), ("-", "yes")])
        out = subprocess.run(
            [find_program("lockbroker"), "-S", self.b.unix_path, "--json", "top", "-n", "1"],
            stdout=subprocess.PIPE, check=True, text=True).stdout
        told = [json.loads(line) for line in out.splitlines()]
        self.assertEqual([row.get("leaving") for row in told], [1, None])

    def test_history(self):
        first = self.named("first")
        first.lock("a")
        first.ok("UNLOCK a")
        self.b.replace()
        self.aged("HISTORY a", "ago")
        second = self.named("second")
        second.lock("a")
        second.ok("UNLOCK a")
        self.aged("HISTORY a", "ago")
        first.lock("a")
        rows = self.client(self.b).ok("HISTORY a").body
        self.assertEqual(labels(rows), ["first", "second", "first"])
        self.assertEqual([fields(row)["end"] for row in rows], ["held", "released", "released"])
        self.assertEqual([fields(row).get("leaving") for row in rows], ["1", None, "1"])

    def test_several_leave(self):
        clients = []
        for i in range(3):
            clients.append(self.named(f"n{i}"))
            clients[i].send("LOCK a")
            self.b.replace()
            self.aged("QUEUE a")
        asks = self.client(self.b)
        eventually(lambda: asks.ok("STATUS a")["waiters"] == "2", 5, "all wait")
        self.assertEqual(labels(asks.ok("QUEUE a").body), ["n0", "n1", "n2"])

    def test_tags_and_what_comes_behind(self):
        self.crowd()
        self.asks.send_raw(b"@x STATUS a\r\n@y QUEUE a\r\nPING\r\nSTATUS a\r\nPING\r\n")
        self.assertEqual(self.asks.reply(tag="x")["label"], "first")
        self.assertEqual(len(self.asks.reply(tag="y").body), 3)
        self.assertTrue(self.asks.reply().ok)
        self.assertEqual(self.asks.reply()["label"], "first")
        self.assertTrue(self.asks.reply().ok)
        # Also for one that sends no more.
        last = self.client(self.b)
        last.send_raw(b"STATUS a\r\nNAMES\r\n")
        last.sock.shutdown(socket.SHUT_WR)
        self.assertEqual(last.reply()["label"], "first")
        self.assertEqual(len(last.reply().body), 1)
        last.expect_eof()

    def test_resp(self):
        self.crowd()
        resp = Resp(f"unix:{self.b.unix_path}")
        self.addCleanup(resp.close)
        resp("HELLO", "3")
        status = resp("STATUS", "a")
        self.assertEqual((status["label"], status["waiters"]), ("first", 2))
        rows = resp("QUEUE", "a")
        self.assertEqual([row["label"] for row in rows], ["first", "second", "third"])
        self.assertEqual(rows[0]["fence"], self.fence)
        self.assertIsInstance(rows[0]["age"], int)

    def test_many_rows(self):
        holder = self.client(self.b)
        for i in range(0, 3000, 30):
            holder.ok("LOCK " + " ".join(f"many/{j:04}" for j in range(i, i + 30)))
        self.b.replace()
        asks = self.client(self.b)
        reply = asks.ok("NAMES many/* limit=5000")
        self.assertEqual((len(reply.body), reply["total"]), (3000, "3000"))
        self.assertEqual(asks.ok("NAMES many/*")["total"], "3000")

    def test_many_at_once(self):
        self.crowd()
        clients = [self.client(self.b) for _ in range(100)]
        for client in clients:
            client.send("QUEUE a")
        for client in clients:
            self.assertEqual(labels(client.reply().body), ["first", "second", "third"])
        for client in clients:
            client.close()
        eventually(lambda: self.asks.stats()["clients"] == "2", 5, "nobody is left")

    def test_one_that_is_frozen(self):
        self.crowd()
        self.old.freeze()
        start = now()
        reply = self.asks.ok("QUEUE a")
        self.assert_within(0.5, now() - start, patience(5))
        self.assertEqual(labels(reply.body), [None, "third"])
        self.assertTrue(self.b.log_lines(
            rf"leaving-silent pid={self.old.pid} why=.*in time"))
        self.old.thaw()
        self.assertEqual(labels(self.asks.ok("QUEUE a").body), ["first", "second", "third"])

    def test_one_that_ends_meanwhile(self):
        self.crowd()
        self.old.freeze()
        self.asks.send("QUEUE a")
        self.client(self.b).ok("PING")
        self.old.kill()
        self.b.replaced.clear()
        self.assertEqual(self.asks.reply().body[-1].split()[0], "waiter")

    def test_redis_is_away(self):
        """Who has a name is still known to the process that has it."""
        self.crowd()
        self.servers[0].freeze()
        self.assertEqual(self.asks.ok("STATUS a")["label"], "first")
        self.servers[0].thaw()


class OverHttp(Crowded):
    """/status.json, the page and /locks/NAME tell of all processes."""

    def setUp(self):
        super().setUp()
        path = os.path.join(self.directory, "b1", "s")
        self.b = self.broker(self.redis(), trust_new=True,
                             listen=[{"unix": path}, {"http": "127.0.0.1:0"}])
        self.web = http.of(self.b)

    def json(self, query=""):
        return self.web.get("/status.json" + query).json

    @staticmethod
    def marked(rows, key):
        return [(row.get(key), row.get("leaving", False)) for row in rows]

    def test_names(self):
        self.crowd()
        self.holder.lock("only/old")
        self.aged("NAMES only/*")
        self.asks.lock("only/new")
        self.asks.ok("SESSION label=asks")
        told = self.json()
        self.assertEqual(self.marked(told["names"], "name"),
                         [("a", True), ("only/new", False), ("only/old", True)])
        self.assertEqual((told["names_total"], told["leaving_silent"]), (3, 0))
        self.assertEqual((told["names"][0]["holder"], told["names"][0]["waiters"]), ("first", 2))
        self.assertEqual(told["statistics"]["leaving"], 1)
        told = self.json("?names=only/*&limit=1")
        self.assertEqual((len(told["names"]), told["names_total"]), (1, 2))
        self.aged("NAMES only/*")
        self.asks.lock("only/newer")
        self.assertEqual([row["name"] for row in self.json("?names=only/*&sort=age")["names"]],
                         ["only/old", "only/new", "only/newer"])
        for none in ("x", "a%20b", "a%0d%0aDRAIN", "a=b", "n" * 255 + "*"):
            self.assertEqual(self.json("?names=" + none)["names"], [], none)

    def test_of_a_name(self):
        self.crowd()
        self.holder.ok("ACQUIRE a limit=1")
        self.asks.send("ACQUIRE a limit=1")
        asked = self.json("?name=a&limit=0")["asked"]
        self.assertEqual((asked["lock"]["label"], asked["lock"]["leaving"]), ("first", True))
        self.assertEqual(self.marked(asked["queue"], "label"),
                         [("first", True), ("second", True), ("third", False)])
        self.assertEqual([row["is"] for row in asked["queue"]], ["holder", "waiter", "waiter"])
        self.assertEqual(asked["waiters"], 2)
        self.assertEqual(self.marked(asked["history"], "end"), [("held", True)])
        eventually(lambda: self.marked(self.json("?name=a")["asked"]["semaphore"], "is") ==
                   [("holder", True), ("waiter", False)], 5, "it waits for a permit")
        self.assertEqual((asked["latch"], asked["barrier"]), ([], []))
        self.assertEqual(self.json("?name=@a")["asked"]["fault"], "begins with \"@\"")

    def test_a_name_for_programs(self):
        self.crowd()
        answer = self.web.get("/locks/a")
        self.assertEqual((answer.status, answer.json["label"], answer.json["leaving"]),
                         (200, "first", True))
        answer = self.web.get("/locks/free")
        self.assertEqual((answer.status, answer.json["state"]), (404, "free"))
        self.servers[0].freeze()
        answer = self.web.get("/locks/free")
        self.assertEqual((answer.status, "error" in answer.json), (503, True))
        self.servers[0].thaw()

    def test_one_that_is_frozen(self):
        self.crowd()
        self.old.freeze()
        start = now()
        told = self.json("?name=a")
        self.assert_within(0.5, now() - start, patience(5))
        self.assertEqual(told["leaving_silent"], 1)
        self.assertEqual(self.marked(told["asked"]["queue"], "label"),
                         [(None, False), ("third", False)])
        answer = self.web.get("/locks/a")
        self.assertEqual((answer.status, answer.json["leaving_silent"]), (200, 1))
        self.old.thaw()
        self.assertEqual(self.json()["leaving_silent"], 0)

    def test_all_ends_while_one_is_asked(self):
        self.crowd()
        self.old.freeze()
        with socket.create_connection(("127.0.0.1", self.web.port)) as half:
            half.sendall(b"GET /status.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            eventually(lambda: self.asks.stats()["http_requests_total"] != "0", 5, "it is asked")
            self.b.signal(signal.SIGTERM)
            self.old.thaw()
            self.assertEqual(self.b.process.wait(), 0)

    @unittest.skipIf(chromium.program() is None, "no chromium")
    def test_the_page(self):
        self.crowd()
        browser = chromium.Browser()
        self.addCleanup(browser.close)
        browser.open(f"http://127.0.0.1:{self.web.port}/")
        eventually(lambda: "first leaving" in (browser.text("#list") or ""), 20, "it is drawn")
        self.assertIn("1 process that this one has replaced", browser.text("#now"))
        self.assertRegex(browser.text(".figures"), r"locks held\s+1\s+requests waiting\s+2")
        browser.open(f"http://127.0.0.1:{self.web.port}/?name=a")
        eventually(lambda: "third" in (browser.text("#name-asked") or ""), 20, "it is drawn")
        self.assertRegex(browser.text("#name-asked"),
                         r"(?s)first .* has had it for .* leaving.*1\. second .* leaving.*2\. third")
        self.old.freeze()
        eventually(lambda: "1 process of this broker does not answer" in browser.text("#now"), 20, "it is said")
        self.assertRegex(browser.text("#name-asked"), r"(?s)A process .* has it that.* third")
        self.old.thaw()
        eventually(lambda: "does not answer" not in browser.text("#now"), 20, "it is over")
        self.assertEqual(browser.said, [])


class Users(SystemTest):
    def test_over_http(self):
        of = "sha256:" + hashlib.sha256(b"secret").hexdigest()
        path = os.path.join(self.directory, "b1", "s")
        me = pwd.getpwuid(os.getuid()).pw_name
        b = self.broker(self.redis(), trust_new=True,
                        listen=[{"unix": path}, {"http": "127.0.0.1:0"}], auth={"users": [
                            {"name": "boss", "admin": True, "hash": of},
                            {"name": "root", "admin": True, "hash": of, "deny": ["secret/*"]},
                            {"name": "me", "unix": [me], "admin": True, "lock": ["*"]}]})
        holder = self.client(b)
        holder.ok("LOCK open/a secret/b")
        port = http.of(b).port
        b.replace()
        for who, seen in ("boss", ["open/a", "secret/b"]), ("root", ["open/a"]):
            told = http.Http(port, who, "secret").get("/status.json").json
            self.assertEqual([row["name"] for row in told["names"]], seen)
            self.assertEqual(told["names_total"], len(seen))
        told = http.Http(port, "root", "secret").get("/status.json?name=secret/b").json
        self.assertEqual(told["asked"], {"name": "secret/b", "fault": "may not be looked at by you"})

    def test_each_sees_what_is_his(self):
        me = pwd.getpwuid(os.getuid()).pw_name
        b = self.broker(self.redis(), trust_new=True, auth={
            "users": [{"name": "me", "unix": [me], "admin": True, "lock": ["*"]}],
            "anonymous": {"lock": ["open/*"]}})
        holder = self.client(b)
        holder.ok("LOCK open/a secret/b")
        holder.ok("SESSION label=boss")
        b.replace()
        admin, anybody = self.client(b), Client(("127.0.0.1", b.port))
        self.addCleanup(anybody.close)
        self.assertEqual(admin.ok("NAMES")["total"], "2")
        reply = anybody.ok("NAMES")
        self.assertEqual([row.split()[0] for row in reply.body], ["open/a"])
        self.assertEqual(reply["total"], "1")
        anybody.err("STATUS secret/b", "denied")
        self.assertEqual(anybody.ok("STATUS open/a")["state"], "held")
