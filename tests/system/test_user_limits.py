"""Limits of a user of its own (auth.users[].limits): clients, holds, waiters, requests."""

import hashlib
import os
import pwd
import signal

from lib import http
from lib.case import SystemTest
from lib.resp import Resp, answer
from lib.wait import eventually

SECRET = "c2VjcmV0LW1hZGUtYnktZ2VucGFzcy0yNTYtYml0cw"
HASH = "sha256:" + hashlib.sha256(SECRET.encode()).hexdigest()


def user(name, **limits):
    return {"name": name, "hash": HASH, "lock": ["*"], "limits": limits}


class Limits(SystemTest):
    def prepare(self, *users, **more):
        broker = self.broker(auth={"users": list(users), **more}, ready=False)
        eventually(lambda: broker.log_lines("guard-ready"), 10, "it grants")
        return broker

    def known(self, name="etl"):
        client = self.client(tcp=True)
        client.ok(f"AUTH {name} {SECRET}")
        return client

    def refused(self, client, request, limit):
        """It is refused, and the limit is named."""
        text = client.err(request, "limit").text
        self.assertIn(f"auth.users[].limits.{limit}", text)
        return text

    def reload(self, *users):
        broker = self.brokers[0]
        broker.settings["auth"] = {"users": list(users)}
        broker.write_config()
        count = len(broker.log_lines("reloaded"))
        broker.signal(signal.SIGHUP)
        eventually(lambda: len(broker.log_lines("reloaded")) > count, 5, "it has reloaded")


class Clients(Limits):
    def test_one_more_than_that_can_not_log_in(self):
        self.prepare(user("etl", clients=2), user("web"))
        first, second = self.known(), self.known()
        third = self.client(tcp=True)
        self.assertIn("etl already has 2 clients", self.refused(third, f"AUTH etl {SECRET}", "clients"))
        third.ok(f"AUTH web {SECRET}")
        # Who is that user already takes no second place.
        second.ok(f"AUTH etl {SECRET}")
        first.close()
        fourth = self.client(tcp=True)
        eventually(lambda: fourth.ask(f"AUTH etl {SECRET}").text.startswith("OK"), 5, "there is room")

    def test_a_peer_that_is_one_too_many_is_told_and_closed(self):
        me = pwd.getpwuid(os.getuid()).pw_name
        self.prepare({"name": "me", "unix": [me], "lock": ["*"], "limits": {"clients": 1}})
        first = self.client()
        first.ok("WHOAMI")
        second = self.client()
        self.assertRegex(second.reply().text, r"^ERR limit me already has 1 clients")
        second.expect_eof()
        first.ok("LOCK a")

    def test_one_that_becomes_another_user_leaves_its_place(self):
        self.prepare(user("etl", clients=1), user("web"))
        self.known().ok(f"AUTH web {SECRET}")
        self.known().ok("WHOAMI")


class Holds(Limits):
    def test_all_sessions_together(self):
        self.prepare(user("etl", holds=3), user("web"))
        one, two = self.known(), self.known()
        one.ok("LOCK a")
        two.ok("LOCK b")
        one.ok("ACQUIRE s limit=4")
        for client, request in ((one, "LOCK c"), (two, "TRYLOCK c"), (two, "ACQUIRE s limit=4"),
                                (one, "LOCK d e wait=0")):
            self.assertIn("the sessions of etl already hold or wait for 3 objects",
                          self.refused(client, request, "holds"))
        self.known("web").ok("LOCK c")
        one.ok("UNLOCK a")
        two.ok("LOCK d")

    def test_what_ends_with_its_session_counts_no_more(self):
        self.prepare(user("etl", holds=1))
        one, two = self.known(), self.known()
        one.ok("LOCK a")
        self.refused(two, "LOCK b", "holds")
        one.ok("QUIT")
        eventually(lambda: two.ask("LOCK b").text.startswith("OK"), 5, "the hold is over")

    def test_token_holds_count(self):
        broker = self.prepare(user("etl", holds=2))
        redis = Resp(f"127.0.0.1:{broker.port}")
        self.addCleanup(redis.close)
        redis("AUTH", "etl", SECRET)
        client = self.known()
        client.ok("LOCK a")
        self.assertEqual(redis("SET", "b", "token", "NX", "PX", "10000"), "OK")
        self.assertEqual(answer(redis, "SET", "c", "token", "NX", "PX", "10000"),
                         ("error", "LIMIT"))
        self.refused(client, "LOCK c", "holds")
        self.assertEqual(redis("DEL", "b"), 1)
        self.assertEqual(redis("SET", "c", "token", "NX", "PX", "10000"), "OK")

    def test_a_reload_changes_it_for_those_who_are_there(self):
        self.prepare(user("etl"))
        client = self.known()
        for name in "abc":
            client.ok(f"LOCK {name}")
        self.reload(user("etl", holds=2))
        self.refused(client, "LOCK d", "holds")
        client.ok("UNLOCK a")
        client.ok("UNLOCK b")
        client.ok("LOCK d")
        self.reload(user("etl"))
        client.ok("LOCK e")

    def test_what_a_session_has_counts_for_its_user_of_now(self):
        me = pwd.getpwuid(os.getuid()).pw_name
        self.prepare(anonymous={"lock": ["*"]})
        client = self.client()
        client.ok("LOCK a")
        self.reload({"name": "me", "unix": [me], "lock": ["*"], "limits": {"holds": 1}})
        self.assertEqual(client.ask("WHOAMI").text, "OK user=me via=unix")
        self.refused(client, "LOCK b", "holds")
        client.ok("UNLOCK a")
        client.ok("LOCK b")


class Waiters(Limits):
    def test_so_many_wait(self):
        self.prepare(user("etl", waiters=2), user("web"))
        holder = self.known("web")
        holder.ok("LOCK a")
        holder.ok("LOCK b")
        clients = [self.known() for _ in range(3)]
        clients[0].send("LOCK a")
        clients[1].send("LOCK b")
        eventually(lambda: self.waiting(holder, "a") and self.waiting(holder, "b"), 5, "both wait")
        self.assertIn("the sessions of etl already wait for 2 objects",
                      self.refused(clients[2], "LOCK c", "waiters"))
        # What does not wait is no waiter.
        self.assertEqual(clients[2].ask("TRYLOCK a").text.split()[0], "BUSY")
        clients[2].ok("LOCK c wait=0")
        holder.ok("UNLOCK a")
        self.assertTrue(clients[0].reply().ok)
        clients[2].ok("LOCK d")

    def test_who_polls_is_one_of_them(self):
        broker = self.prepare(user("etl", waiters=1), user("web"))
        holder = self.known("web")
        holder.ok("LOCK a")
        pollers = [Resp(f"127.0.0.1:{broker.port}") for _ in range(2)]
        for number, redis in enumerate(pollers):
            self.addCleanup(redis.close)
            redis("AUTH", "etl", SECRET)
            for _ in range(2):
                self.assertIsNone(redis("SET", "a", f"token{number}", "NX", "PX", "10000"))
        self.assertTrue(self.waiting(holder, "a"))
        self.refused(self.known(), "LOCK b", "waiters")

    @staticmethod
    def waiting(client, name):
        return client.ok(f"STATUS {name}")["waiters"] == "1"


class Requests(Limits):
    def test_more_than_that_in_a_second_are_refused(self):
        self.prepare(user("etl", requests=20), user("web"))
        client = self.known()
        client.ok("LOCK a")
        client.send(*["WHOAMI"] * 60)
        replies = [client.reply().text for _ in range(60)]
        refused = [reply for reply in replies if reply.startswith("ERR limit ")]
        self.assertTrue(0 < len(refused) <= 41, replies)
        self.assertIn("etl has sent more than 20 requests in a second"
                      " (auth.users[].limits.requests)", refused[0])
        # What gives back is never refused; and others are not slowed.
        client.ok("UNLOCK a")
        web = self.known("web")
        for _ in range(60):
            web.ok("WHOAMI")
        eventually(lambda: client.ask("WHOAMI").text.startswith("OK"), 5, "its second is over")

    def test_those_of_redis(self):
        broker = self.prepare(user("etl", requests=5))
        redis = Resp(f"127.0.0.1:{broker.port}")
        self.addCleanup(redis.close)
        redis("AUTH", "etl", SECRET)
        answers = [answer(redis, "GET", "a") for _ in range(20)]
        self.assertIn(("error", "LIMIT"), answers)
        self.assertIsNone(answers[0])


class Told(Limits):
    def test_metrics_by_user(self):
        boss = {"name": "boss", "hash": HASH, "admin": True, "watch": ["*"]}
        broker = self.broker(http=True, ready=False, auth={
            "users": [user("etl", holds=1), user("web"), boss]})
        eventually(lambda: broker.log_lines("guard-ready"), 10, "it grants")
        client = self.known()
        client.ok("LOCK a")
        self.refused(client, "LOCK b", "holds")
        client.err("STATS", "denied")
        self.assertEqual(self.known("boss").stats()["user_limit_refused_total"], "1")
        metrics = http.of(broker, user="boss", password=SECRET).metrics()
        for name, etl, web in (("clients", 1, 0), ("holds", 1, 0), ("waiters", 0, 0),
                               ("refused_total", 1, 0), ("denied_total", 1, 0)):
            for who, value in (("etl", etl), ("web", web)):
                self.assertEqual(metrics[f'lockbrokerd_user_{name}{{user="{who}"}}'], value, name)
