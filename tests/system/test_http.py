"""Monitoring over HTTP: what each path answers, to whom, and what it refuses."""

import hashlib
import json
import os
import re
import shutil
import socket
import subprocess
import time
import unittest

from lib import chromium, http
from lib.case import SystemTest, grace_of
from lib.manual import SOURCE
from lib.ports import free_port
from lib.wait import eventually, now, patience

SECRET = "c2VjcmV0LW1hZGUtYnktZ2VucGFzcy0yNTYtYml0cw"
HASH = "sha256:" + hashlib.sha256(SECRET.encode()).hexdigest()
TEXT = "text/plain; version=0.0.4; charset=utf-8"
OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"


def slow_hash(password):
    """crypt(3) of some 20 ms."""
    import ctypes
    library = ctypes.CDLL("libcrypt.so.1")
    library.crypt.restype = ctypes.c_char_p
    return library.crypt(password.encode(), b"$y$j9T$saltsaltsalt$").decode()


def page_of_metrics():
    with open(os.path.join(SOURCE, "man/lockbroker-metrics.7"), encoding="utf-8") as file:
        return file.read()


class Web(SystemTest):
    def web(self, server=None, ready=None, lease=None, http_at="127.0.0.1:0", **settings):
        """A broker with HTTP, and no lock port but its Unix socket."""
        broker = self.broker(server, start=False, lease=lease, **settings)
        broker.settings["listen"] = [{"unix": broker.unix_path}, {"http": http_at}]
        broker.start()
        if ready or (ready is None and server is None):
            self.granting(broker)
        return http.of(broker)

    @staticmethod
    def statistics(client):
        """Statistics without a class: those with one are metrics with a label."""
        return {name: value for name, value in client.stats().items()
                if not name.startswith("class.")}

    @staticmethod
    def granting(broker):
        eventually(lambda: broker.log_lines("guard-ready"), 15, "it grants")


class Paths(Web):
    def test_health(self):
        web = self.web()
        for target in ("/livez", "/readyz"):
            answer = web.get(target)
            self.assertEqual((answer.status, answer.text), (200, "ok\n"))
        self.assertEqual(web.get("/readyz?verbose").text,
                         "[+]running ok\n[+]redis ok\n[+]grants ok\nreadyz check passed\n")

    def test_readyz_while_redis_is_away(self):
        server = self.redis()
        web = self.web(server, lease=1, redis={"trust_new": True}, ready=True)
        client = self.client()
        client.lock("held")
        server.kill()
        eventually(lambda: web.get("/readyz").status == 503, 10, "it is not ready")
        # In its first millisecond a pause has no length yet.
        eventually(lambda: "since" in web.get("/readyz").text, 10, "it says since when")
        self.assertRegex(web.get("/readyz").text,
                         r"Redis.*; no new locks since [\d:]{8} UTC \(.+\)\n")
        verbose = web.get("/readyz?verbose")
        self.assertEqual(verbose.status, 503)
        self.assertIn("[-]redis failed: 0 of 1 servers reachable\n", verbose.text)
        self.assertRegex(verbose.text, r"\[-\]grants failed: .+; no new locks since [\d:]{8} UTC "
                         r"\(.+\)\nreadyz check failed\n\Z")
        self.assertEqual(web.get("/livez").status, 200)
        self.assertEqual(web.get("/status.json").json["ready"], False)
        self.assertEqual(web.metrics()["lockbrokerd_grants_ready"], 0)
        begin = now()
        server.start()
        eventually(lambda: "no new locks for" in web.get("/readyz").text, 10, "the grace period")
        self.assertGreater(web.metrics()["lockbrokerd_grants_ready_in_seconds"], 0)
        eventually(lambda: web.get("/readyz").status == 200, 20, "it is ready again")
        self.assertGreater(now() - begin, grace_of(1) - 0.1)

    def test_readyz_while_the_broker_stops(self):
        web = self.web()
        client = self.client()
        client.lock("promised")
        client.ok("PING")
        self.brokers[0].signal(15)
        eventually(lambda: self.stopping(web), 5, "it says so")
        client.ok("UNLOCK promised")
        eventually(lambda: not self.brokers[0].process.alive, 5, "it ends")

    @staticmethod
    def stopping(web):
        answer = web.get("/readyz?verbose")
        return answer.status == 503 and "[-]running failed: the broker is stopping" in answer.text

    def test_locks(self):
        web = self.web(broker={"address": "there:1"})
        client = self.client()
        client.ok("SESSION label=cron")
        fence = client.lock("deploy/a&b")
        for target in ("/locks/deploy/a&b", "/locks/deploy%2Fa%26b"):
            answer = web.get(target)
            self.assertEqual(answer.status, 200)
            self.assertEqual(answer.headers["content-type"], "application/json")
            told = answer.json
            self.assertEqual(told["name"], "deploy/a&b")
            self.assertEqual((told["state"], told["label"], told["fence"], told["address"]),
                             ("held", "cron", fence, "there:1"))
            self.assertLess(told["age_ms"], 20000)
        client.ok("UNLOCK deploy/a&b")
        eventually(lambda: web.get("/locks/deploy/a&b").status == 404, 5, "it is free")
        self.assertEqual(web.get("/locks/other").json["state"], "free")
        sessions = self.client().stats()["sessions"]
        self.assertEqual(sessions, "2", "a session for each request is left")

    def test_locks_of_another_broker(self):
        server = self.redis()
        web = self.web(server, redis={"trust_new": True}, ready=True)
        other = self.broker(server, redis={"trust_new": True})
        self.client(other).lock("there")
        told = web.get("/locks/there").json
        self.assertEqual((told["state"], told["broker"]), ("held", other.name))
        server.kill()
        eventually(lambda: web.get("/locks/there").status == 503, 10, "nobody knows")

    def test_hostile_names(self):
        web = self.web()
        client = self.client()
        name = '<script>"\\\u202e{}'
        client.lock(name)
        encoded = "".join(f"%{byte:02x}" for byte in name.encode())
        told = web.get("/locks/" + encoded)
        self.assertEqual((told.status, told.json["name"]), (200, name))
        for target in ("/locks/", "/locks/a%", "/locks/a%4", "/locks/a%zz", "/locks/a%00b",
                       "/locks/a%0d%0aX:y", "/locks/a%20b", "/locks/a=b", "/locks/%ff",
                       "/locks/@a", "/locks/" + "a" * 256):
            answer = web.get(target)
            self.assertEqual(answer.status, 400, target)
            self.assertNotIn("x", answer.headers)
        self.assertEqual(web.get("/locks/" + "a" * 255).status, 404)
        self.assertEqual(web.get("/locks/..%2f..%2fetc").json["name"], "../../etc")

    def test_what_is_not_there(self):
        web = self.web()
        for target in ("/nothing", "/metrics/", "/livez/x", "/locks", "//metrics", "/%6detrics"):
            self.assertEqual(web.get(target).status, 404, target)

    def test_as_if_to_a_proxy(self):
        web = self.web()
        host = f"127.0.0.1:{web.port}"
        self.assertEqual(web.get(f"http://{host}/livez").text, "ok\n")
        self.assertIn("[+]grants ok", web.get(f"http://{host}/readyz?verbose").text)
        self.assertIn("<title>", web.get(f"http://{host}").text)

    def test_status(self):
        web = self.web()
        told = web.get("/status.json").json
        self.assertEqual((told["broker"], told["ready"], told["stopping"]), ("b1", True, False))
        self.assertEqual([(n["up"], n["ready"]) for n in told["redis"]], [(True, True)])
        self.assertEqual(set(told["statistics"]), set(self.statistics(self.client())))
        client = self.client()
        client.ok("SESSION label=cron")
        client.lock('lost"', "hold=20ms")
        client.event(kind="LOST")
        client.lock("held")
        told = web.get("/status.json").json
        self.assertEqual([(c["class"], c["held"]) for c in told["classes"]], [("other", 1)])
        self.assertEqual([(x["name"], x["reason"]) for x in told["losses"]], [('lost"', "hold")])
        self.assertTrue(told["losses"][0]["holder"].startswith("cron ("))

    def test_headers_of_all_answers(self):
        web = self.web()
        for target, status in (("/livez", 200), ("/nothing", 404), ("/metrics", 200)):
            answer = web.get(target)
            self.assertEqual(answer.status, status)
            self.assertEqual(answer.headers["x-content-type-options"], "nosniff")
            self.assertEqual(answer.headers["cache-control"], "no-store")
            self.assertIn("default-src 'none'", answer.headers["content-security-policy"])
            self.assertEqual(answer.headers["connection"], "close")
            self.assertEqual(int(answer.headers["content-length"]), len(answer.body))


class Requests(Web):
    """What it refuses."""

    def test_head_has_no_body(self):
        web = self.web()
        for target in ("/livez", "/status.json", "/locks/a", "/nothing"):
            head, get = web.ask("HEAD", target), web.get(target)
            self.assertEqual(head.status, get.status)
            self.assertEqual(head.body, b"")
            self.assertEqual(head.headers["content-type"], get.headers["content-type"])
        self.assertGreater(int(web.ask("HEAD", "/metrics").headers["content-length"]), 1000)

    def test_methods(self):
        web = self.web()
        for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"):
            answer = web.ask(method, "/livez")
            self.assertEqual((answer.status, answer.headers["allow"]), (405, "GET, HEAD"), method)
        answer = web.ask("POST", "/locks/a", ["Content-Length: 3\r\n\r\nxyz"])
        self.assertEqual(answer.status, 405)
        self.assertEqual(web.ask("BREW", "/livez").status // 100, 5)
        self.assertEqual(web.metrics()["lockbrokerd_http_refused_total"], 7)

    def test_nonsense(self):
        web = self.web()
        for raw in (b"\r\n\r\n", b"LOCK a\r\n\r\n", b"GET /livez\r\n\r\n", b"GET  HTTP/1.1\r\n\r\n",
                    b"GET /livez HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00" * 50 + b"\r\n\r\n",
                    b"GET /livez HTTP/1.1\r\nNo colon\r\n\r\n", b"*1\r\n$4\r\nPING\r\n\r\n",
                    b"GET http://[ HTTP/1.1\r\nHost: x\r\n\r\n", b"\x00" * 100 + b"\r\n\r\n",
                    b"POST /livez HTTP/1.1\r\nHost: localhost\r\n"
                    b"Transfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
                    b"POST /livez HTTP/1.1\r\nHost: localhost\r\n"
                    b"Content-Length: 99999999999999999999\r\n\r\n"):
            with self.subTest(raw[:40]):
                said = web.raw(raw)
                self.assertTrue(said == b"" or said.startswith(b"HTTP/1."), said[:60])
                self.assertNotIn(b" 200 ", said[:20])
        self.assertEqual(web.get("/livez").status, 200)

    def test_two_requests_in_one_write(self):
        web = self.web()
        said = web.raw(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n" * 2)
        self.assertEqual(said.count(b"HTTP/1.1 200"), 1)

    def test_long_headers(self):
        web = self.web()
        for more in (["X: " + "a" * 9000], [f"X{i}: {'a' * 90}" for i in range(100)]):
            said = web.raw(("GET /livez HTTP/1.1\r\nHost: localhost\r\n"
                            + "\r\n".join(more) + "\r\n\r\n").encode())
            self.assertNotIn(b" 200 ", said[:20])
        said = web.raw(b"GET /" + b"a" * 20000)
        self.assertNotIn(b" 200 ", said[:20])
        self.assertEqual(web.get("/livez", "X: " + "a" * 7000).status, 200)

    def test_a_long_body_is_not_read(self):
        web = self.web()
        said = web.raw(b"POST /livez HTTP/1.1\r\nHost: localhost\r\n"
                       b"Content-Length: 1000000\r\n\r\n")
        self.assertRegex(said[:20], rb"HTTP/1\.1 4")

    def test_hosts_at_a_loopback_address(self):
        web = self.web()
        for host in ("localhost", "LOCALHOST:1", "127.0.0.1", "127.8.8.8:80", "[::1]:5627",
                     "x.localhost:7", "10.0.0.1"):
            self.assertEqual(web.get("/livez", f"Host: {host}").status, 200, host)
        for host in ("evil.example", "localhost.evil.example:80", "127.0.0.1.evil.example",
                     "notlocalhost"):
            self.assertEqual(web.get("/livez", f"Host: {host}").status, 403, host)

    def test_any_host_elsewhere(self):
        port = free_port()
        broker = self.broker(start=False)
        broker.settings["listen"] = [{"unix": broker.unix_path}, {"http": f"0.0.0.0:{port}"}]
        broker.start()
        self.assertEqual(http.Http(port).get("/livez", "Host: broker.example").status, 200)
        self.assertTrue(broker.log_lines("http-open"))

    def test_a_port_that_is_taken(self):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            s.listen()
            broker = self.broker(start=False)
            broker.expected_status = 1
            broker.settings["listen"] = [{"unix": broker.unix_path},
                                         {"http": f"127.0.0.1:{s.getsockname()[1]}"}]
            broker.spawn()
            eventually(lambda: not broker.process.alive, 10, "it ends")
        self.assertIn("cannot listen on this address: Address already in use", broker.log())

    def test_http_alone_is_no_place_for_clients(self):
        broker = self.broker(start=False)
        broker.expected_status = 1
        broker.settings["listen"] = [{"http": "127.0.0.1:0"}]
        broker.spawn()
        eventually(lambda: not broker.process.alive, 10, "it ends")
        self.assertIn("nothing to listen on", broker.log())

    def test_the_lock_port_still_closes_on_http(self):
        self.web()
        client = self.client()
        client.send("GET /livez HTTP/1.1")
        client.expect_eof()


class Slow(Web):
    limit = 60

    def open(self, web, data=b""):
        s = web.connect()
        self.addCleanup(s.close)
        if data:
            s.sendall(data)
        return s

    @staticmethod
    def drip(sockets):
        """Send one more byte on each; leave out those that are closed."""
        left = []
        for s in sockets:
            try:
                s.sendall(b"a")
                left.append(s)
            except OSError:
                pass
        return left

    def test_a_request_that_takes_too_long(self):
        web = self.web()
        begin = now()
        sockets = [self.open(web, b"GET /livez HTTP/1.1\r\nX: ") for _ in range(3)]
        while sockets:
            self.assertLess(now() - begin, patience(5) + 5)
            time.sleep(0.2)  # the time is the subject
            sockets = self.drip(sockets)
        self.assertGreater(now() - begin, 4.9)
        self.assertEqual(web.metrics()["lockbrokerd_http_dropped_total"], 3)

    def test_others_are_served_meanwhile(self):
        web = self.web()
        sockets = [self.open(web, b"GET /livez HTTP/1.1\r\nX: ") for _ in range(200)]
        for _ in range(20):
            begin = now()
            self.assertEqual(web.get("/livez").status, 200)
            self.assertLess(now() - begin, patience(1.0))
            sockets = self.drip(sockets)
        self.assertLessEqual(web.metrics()["lockbrokerd_http_connections"], 64)

    def test_a_client_that_does_not_read(self):
        web = self.web()
        s = socket.socket()
        self.addCleanup(s.close)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        s.connect(("127.0.0.1", web.port))
        s.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.assertEqual(web.get("/livez").status, 200)

    def test_descriptors_are_given_back(self):
        web = self.web()
        eventually(lambda: web.get("/readyz").status == 200, 30, "Redis is there")
        before = web.metrics()["process_open_fds"]
        for _ in range(100):
            self.open(web, b"GET /").close()
            web.get("/nothing")
        # The last connections to Redis may come up after the first answers.
        eventually(lambda: web.metrics()["process_open_fds"] <= before + 10, 10, "all are closed")

    def test_lock_clients_do_not_notice(self):
        web = self.web()
        client = self.client()
        for _ in range(50):
            self.open(web, b"GET /livez HTTP/1.1\r\nX: ")
        begin = now()
        for _ in range(100):
            client.ok("PING")
        self.assertLess(now() - begin, patience(2.0))


class Rights(Web):
    users = [{"name": "root", "hash": HASH, "admin": True},
             {"name": "ops", "hash": HASH, "watch": ["deploy/*"]},
             {"name": "human", "hash": slow_hash("pass word"), "admin": True}]

    def secured(self, **auth):
        return self.web(auth={"users": self.users, **auth})

    def test_nobody(self):
        web = self.secured()
        for target in ("/livez", "/readyz"):
            self.assertEqual(web.get(target).status, 200)
        for target in ("/metrics", "/status.json", "/locks/a"):
            answer = web.get(target)
            self.assertEqual(answer.status, 401, target)
            self.assertIn("Basic", answer.headers["www-authenticate"])
        self.assertEqual(web.get("/nothing").status, 404)

    def test_each_user(self):
        port = self.secured().port
        for name, sees in (("root", "/metrics /status.json /locks/a /locks/deploy/a"),
                           ("ops", "/locks/deploy/a")):
            web = http.Http(port, name, SECRET)
            for target in ("/metrics", "/status.json", "/locks/a", "/locks/deploy/a"):
                allowed = target in sees.split()
                status = web.get(target).status
                self.assertEqual(status not in (401, 403), allowed, f"{name} {target} {status}")
        self.assertEqual(http.Http(port, "ops", SECRET).get("/locks/a").status, 403)

    def test_anonymous(self):
        web = self.secured(anonymous={"lock": [], "watch": ["public/*"]})
        self.assertEqual(web.get("/locks/public/a").status, 404)
        self.assertEqual(web.get("/locks/a").status, 401)
        self.assertEqual(web.get("/metrics").status, 401)

    def test_slow_passwords(self):
        port = self.secured().port
        web = http.Http(port, "human", "pass word")
        self.assertEqual(web.get("/metrics").status, 200)
        begin = now()
        for _ in range(20):  # it is remembered
            self.assertEqual(web.get("/status.json").status, 200)
        self.assertLess(now() - begin, patience(2.0))

    def test_wrong_ones_take_a_second_and_are_told_alike(self):
        port = self.secured().port
        said = set()
        for name, password in (("root", "x"), ("human", "x"), ("nobody", "x"), ("", "")):
            begin = now()
            answer = http.Http(port, name, password).get("/metrics")
            self.assertGreater(now() - begin, 0.98)
            said.add((answer.status, answer.text))
        self.assertEqual(len(said), 1)
        metrics = http.Http(port, "root", SECRET).metrics()
        self.assertEqual(metrics["lockbrokerd_http_auth_failed_total"], 4)
        self.assertTrue(self.brokers[0].log_lines("auth-failed .*protocol=http"))

    def test_malformed(self):
        web = self.secured()
        for value in ("Basic", "Basic ", "Basic ====", "Basic !!!!", "Basic cm9vdA==",
                      "Bearer x", "Basic cm9vdDp4 x", ""):
            self.assertEqual(web.get("/metrics", f"Authorization: {value}").status, 401, value)

    def test_a_client_that_leaves_while_it_is_compared(self):
        port = self.secured().port
        for user, password in (("human", "x"), ("human", "pass word"), ("root", "x")):
            with http.Http(port).connect() as s:
                basic = http.Http(port, user, password).more[0]
                s.sendall(f"GET /metrics HTTP/1.1\r\nHost: localhost\r\n{basic}\r\n\r\n".encode())
        web = http.Http(port, "root", SECRET)
        eventually(lambda: web.metrics()["lockbrokerd_http_auth_failed_total"] == 2, 10,
                   "both were refused")

    def test_a_reload_takes_a_user(self):
        web = http.Http(self.secured().port, "ops", SECRET)
        self.assertEqual(web.get("/locks/deploy/a").status, 404)
        broker = self.brokers[0]
        broker.write_config({"auth": {"users": self.users[:1]}})
        broker.signal(1)
        eventually(lambda: broker.log_lines("reloaded"), 5, "it has")
        self.assertEqual(web.get("/locks/deploy/a").status, 401)


class Metrics(Web):
    def test_formats(self):
        web = self.web()
        plain = web.get("/metrics")
        self.assertEqual(plain.headers["content-type"], TEXT)
        self.assertNotIn("# EOF", plain.text)
        newer = web.get("/metrics", "Accept: application/openmetrics-text;version=1.0.0;q=0.75,"
                                    "text/plain;version=0.0.4;q=0.5,*/*;q=0.1")
        self.assertEqual(newer.headers["content-type"], OPENMETRICS)
        self.assertTrue(newer.text.endswith("\n# EOF\n"))
        self.assertIn("# TYPE lockbrokerd_grants counter\n", newer.text)
        self.assertIn("\nlockbrokerd_grants_total 0\n", newer.text)
        self.assertEqual(set(http.samples(plain.text)), set(http.samples(newer.text)))
        # No two families may have one name, whatever their types.
        for text in (plain.text, newer.text):
            families = re.findall(r"^# TYPE (\S+) ", text, re.M)
            self.assertEqual(len(families), len(set(families)), families)
        self.assertNotIn("certificate", newer.text, "there is no TLS")

    def test_every_statistic(self):
        web = self.web()
        client = self.client()
        client.lock("a")
        stats = self.statistics(client)
        metrics = web.metrics()
        # No two questions come at the same moment.
        moving = re.compile(r"uptime|http_|bytes|calls|operations|things_at_a_time|sessions|redis_")
        for name, value in stats.items():
            key = "lockbrokerd_" + re.sub(r"_ms$", "_seconds", name)
            self.assertIn(key, metrics)
            if not moving.search(name):
                self.assertEqual(metrics[key], float(value), name)

    def test_the_manual_has_all(self):
        """By name, or as a statistic."""
        web = self.web()
        text = web.get("/metrics").text
        stats = {"lockbrokerd_" + re.sub(r"_ms$", "_seconds", name)
                 for name in self.statistics(self.client())}
        section = page_of_metrics().split(".Sh METRICS")[1]
        manual = dict(re.findall(r"^\.It Li (\S+)\n(.*?)(?=^\.)", section, re.M | re.S))
        served = set(http.families(text)) - stats
        self.assertEqual(served, set(manual))
        helps = dict(re.findall(r"^# HELP (\S+) (.*)$", text, re.M))
        for name, words in manual.items():
            self.assertEqual(" ".join(words.split()), helps[name], name)

    def test_promtool(self):
        if shutil.which("promtool") is None:
            self.skipTest("promtool is not installed")
        web = self.web()
        self.client().lock("a")
        done = subprocess.run(["promtool", "check", "metrics"], input=web.get("/metrics").text,
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_a_scenario_moves_them(self):
        web = self.web()
        before = web.metrics()
        one, two = self.clients(2)
        one.lock("a")
        two.send("LOCK a")
        eventually(lambda: web.metrics()["lockbrokerd_waiters"] == 1, 5, "one waits")
        during = web.metrics()
        self.assertEqual(during["lockbrokerd_locks_held"], 1)
        one.ok("UNLOCK a")
        self.assertTrue(two.reply().ok)
        two.ok("UNLOCK a")
        after = web.metrics()
        for name, by in (("grants_total", 2), ("handovers_total", 1), ("releases_total", 2),
                         ("clients_accepted_total", 2)):
            key = "lockbrokerd_" + name
            self.assertEqual(after[key] - before[key], by, name)
        sent = len("LOCK a\r\nUNLOCK a\r\n") * 2
        received = after["lockbrokerd_received_bytes_total"] - \
            before["lockbrokerd_received_bytes_total"]
        self.assertIn(received, (sent, sent - 4), "with or without a CR")
        self.assertGreater(after["lockbrokerd_sent_bytes_total"], 60)
        self.assertGreater(after["lockbrokerd_http_requests_total"],
                           before["lockbrokerd_http_requests_total"])

    def test_trips_to_redis(self):
        server = self.redis()
        web = self.web(server, redis={"trust_new": True}, ready=True)
        before = web.metrics()
        self.client().lock("a")
        after = web.metrics()
        name = "lockbrokerd_redis_call_seconds"
        self.assertGreater(after[name + "_count"], before[name + "_count"])
        self.assertGreater(after[name + "_sum"], before[name + "_sum"])
        self.assertEqual(after[name + '_bucket{le="+Inf"}'], after[name + "_count"])
        # An answer that takes long is counted as one.
        server.cmd("CLIENT", "PAUSE", "300", "ALL")
        self.client().lock("b")
        slow = web.metrics()
        self.assertGreaterEqual(
            slow[name + '_bucket{le="+Inf"}'] - slow[name + '_bucket{le="0.1"}'], 1)
        self.assertGreater(slow[name + "_sum"], 0.1)

    def test_one_server_of_a_quorum_is_away(self):
        servers = [self.redis(tcp=True) for _ in range(3)]
        web = self.web(redis={"mode": "quorum", "nodes": [s.address for s in servers],
                              "trust_new": True}, ready=False)
        # Two of three grant; the third may vote a little later.
        eventually(lambda: all(web.metrics()["lockbrokerd_redis_node_guards_ready"
                                             f'{{node="{s.address}"}}'] == 1 for s in servers),
                   20, "all may vote")
        self.assertEqual(web.get("/readyz").status, 200)
        servers[0].kill()
        node = f'{{node="{servers[0].address}"}}'
        eventually(lambda: web.metrics()["lockbrokerd_redis_node_up" + node] == 0, 10, "it is gone")
        self.assertIn("[+]redis ok", web.get("/readyz?verbose").text)
        self.assertEqual([n["up"] for n in web.get("/status.json").json["redis"]],
                         [False, True, True])
        if chromium.program() is None:
            return
        browser = chromium.Browser()
        self.addCleanup(browser.close)
        browser.open(f"http://127.0.0.1:{web.port}/")
        eventually(lambda: "Granting locks, with warnings" in (browser.text("#now") or ""),
                   10, "it is drawn")
        self.assertIn(f"Redis server {servers[0].address} is not granting now", browser.text("#now"))

    def test_servers(self):
        server = self.redis()
        web = self.web(server, redis={"trust_new": True}, ready=True)
        node = f'{{node="{server.address}"}}'
        self.assertEqual(web.metrics()["lockbrokerd_redis_node_up" + node], 1)
        self.assertEqual(web.metrics()["lockbrokerd_redis_node_guards_ready" + node], 1)
        server.kill()
        eventually(lambda: web.metrics()["lockbrokerd_redis_node_up" + node] == 0, 10, "it is gone")
        self.assertEqual(web.metrics()["lockbrokerd_redis_node_guards_ready" + node], 0)


if __name__ == "__main__":
    unittest.main()
