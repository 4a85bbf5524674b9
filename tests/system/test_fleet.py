"""Which brokers use the same Redis, and which one is missing: BROKERS, `lockbroker brokers`, and
/status.json."""

import json
import subprocess

from lib import http
from lib.broker import find_program
from lib.case import SystemTest, grace_of
from lib.cluster import Cluster
from lib.wait import eventually

LEASE = 2


def parts(line):
    """The name and the fields of a row."""
    name, *fields = line.split(" ")
    return name, dict(field.split("=", 1) for field in fields)


class Fleet(SystemTest):
    limit = 60

    def brokers_at(self, client):
        return dict(parts(line) for line in client.ok("BROKERS").body)

    def command(self, broker, *words):
        done = subprocess.run([find_program("lockbroker"), "-S", broker.unix_path, *words, "brokers"],
                              text=True, stdout=subprocess.PIPE, check=True)
        return done.stdout

    def test_who_is_there_and_who_is_missing(self):
        server = self.redis()
        self.broker(server, name="a", trust_new=True, lease=LEASE, broker={
            "address": "a.example.org:5625", "http_address": "http://a.example.org:5627/"})
        self.broker(server, name="b", trust_new=True, lease=LEASE)
        client = self.client()
        version = client.ok("VERSION")["version"]
        fleet = self.brokers_at(client)
        self.assertEqual(list(fleet), ["a", "b"])
        for fields in fleet.values():
            self.assertEqual((fields["version"], fields["lease"]), (version, f"{LEASE}000ms"))
            self.assertLess(int(fields["seen"][:-2]), 2 * LEASE * 1000)
            self.assertNotIn("missing", fields)
        self.assertEqual((fleet["a"]["self"], fleet["a"]["address"], fleet["a"]["http"]),
                         ("1", "a.example.org:5625", "http://a.example.org:5627/"))
        self.assertFalse({"self", "address", "http"} & set(fleet["b"]))
        self.assertEqual(self.brokers_at(self.client(self.brokers[1]))["b"]["self"], "1")
        self.brokers[1].kill()
        eventually(lambda: "missing" in self.brokers_at(client)["b"], 3 * LEASE + 5, "it is missing")
        self.assertRegex(self.command(self.brokers[0]),
                         r"(?m)^a +this .*\nb +MISSING +\d+\.?\d*s? ")
        told = [json.loads(line) for line in self.command(self.brokers[0], "--json").splitlines()]
        self.assertEqual([(one["name"], one.get("missing")) for one in told], [("a", None), ("b", 1)])
        # One that is started again is not missing.
        self.brokers[1].expected_status = 0
        self.brokers[1].start()
        eventually(lambda: "missing" not in self.brokers_at(client)["b"], 5)
        self.assertEqual(list(self.brokers_at(client)), ["a", "b"])

    def test_one_that_stops_is_forgotten_at_once(self):
        server = self.redis()
        for name in "ab":
            self.broker(server, name=name, trust_new=True, lease=LEASE)
        self.assertEqual(self.brokers[1].stop(), 0)
        self.assertEqual(list(self.brokers_at(self.client())), ["a"])

    def test_a_dead_one_stays_for_a_day_unless_its_name_lives(self):
        server = self.redis()
        self.broker(server, name="a", trust_new=True, lease=LEASE)
        now = int(server.cmd("TIME")[0]) * 1000
        dead = {"a.00000000000000aa": 60000, "b.00000000000000aa": 60000,
                "b.00000000000000bb": 80000, "c.00000000000000aa": 86390000,
                "d.00000000000000aa": 86410000}
        for broker, ago in dead.items():
            server.cmd("HSET", "lock:@guard", "b:" + broker, now - ago, "i:" + broker, "0 2000 -")
        server.cmd("HDEL", "lock:@guard", "swept")
        eventually(lambda: server.cmd("HEXISTS", "lock:@guard", "swept"), 10)
        left = [field for field in server.cmd("HKEYS", "lock:@guard") if field[:2] in ("b:", "i:")]
        self.assertEqual({field[2:] for field in left if not field[2:].startswith("a.")},
                         {"b.00000000000000aa", "c.00000000000000aa"})
        self.assertEqual(len([field for field in left if field[2:].startswith("a.")]), 2)
        fleet = self.brokers_at(self.client())
        self.assertEqual([(name, fields.get("missing")) for name, fields in fleet.items()],
                         [("a", None), ("b", "1"), ("c", "1")])

    def test_redis_has_forgotten_them(self):
        server = self.redis()
        self.broker(server, name="a", trust_new=True, lease=LEASE,
                    broker={"http_address": "https://a/"})
        client = self.client()
        server.cmd("FLUSHALL")
        eventually(lambda: self.brokers_at(client).get("a", {}).get("http") == "https://a/", 5)

    def test_redis_is_away(self):
        server = self.redis()
        broker = self.broker(server, name="a", trust_new=True, lease=LEASE, http=True)
        client, web = self.client(broker), http.of(broker)
        eventually(lambda: client.ask("READY").ok, 20, "it grants")

        def status():
            return web.get("/status.json").json

        told = status()
        self.assertEqual([(x["name"], x["self"], x["lease_ms"]) for x in told["brokers"]],
                         [("a", True, LEASE * 1000)])
        self.assertLess(told["brokers_ago_ms"], 5000)
        server.kill()
        eventually(lambda: "asof" in client.ask("BROKERS").fields, 10, "it says since when")
        late = client.ask("BROKERS")
        self.assertGreater(int(late["asof"][:-2]), 0)
        self.assertRegex(late.body[0], "^a version=")
        self.assertEqual([x["name"] for x in status()["brokers"]], ["a"])
        done = self.said("brokers")
        self.assertRegex(done.stdout, r"\na +this ")
        self.assertRegex(done.stderr, r"^lockbroker: as of [0-9.]+ s ago: Redis does not answer now")
        held = self.client(broker)
        self.assertIn("unavailable", held.ask("READY").text)
        self.assertRegex(self.said("list").stderr, r"no new locks since [\d:]{8} UTC")

    def test_redis_is_away_before_anybody_has_asked(self):
        """The broker asks by itself when it begins to grant."""
        server = self.redis()
        for name in "ab":
            self.broker(server, name=name, trust_new=True, lease=LEASE)
            eventually(lambda: "cmdstat_hgetall" in server.cmd("INFO", "commandstats"), 10,
                       "it has asked")
        client = self.client(self.brokers[1])
        client.lock("x")
        server.kill()
        late = eventually(lambda: (lambda told: "asof" in told.fields and told)(
            client.ask("BROKERS")), 10, "it says since when")
        self.assertEqual([parts(row)[0] for row in late.body], ["a", "b"])

    def test_two_of_one_name(self):
        server = self.redis()
        one, two = (self.broker(server, trust_new=True, lease=1, broker={"name": "a"})
                    for _ in range(2))
        web = self.broker(server, name="b", trust_new=True, lease=1, http=True)
        clients = [self.client(broker) for broker in self.brokers]
        for client in clients:
            rows = eventually(lambda client=client: (lambda rows: "twice=1" in rows[0] and rows)(
                client.ok("BROKERS").body), 30, "it is told")
            self.assertEqual([("twice=1" in row, row[0]) for row in rows],
                             [(True, "a"), (True, "a"), (False, "b")])
        done = self.said("brokers")
        self.assertIn("brokers share a name", done.stderr)
        self.assertRegex(done.stdout, r"(?m)^a +this .* yes$")
        self.assertEqual([b["name"] for b in http.of(web).get("/status.json").json["brokers"]
                          if b.get("twice")], ["a", "a"])
        for broker in one, two:
            self.assertEqual(len(broker.log_lines("broker-same-name")), 1)
        self.assertEqual(web.log_lines("broker-same-name"), [])
        two.stop()
        eventually(lambda: "twice" not in clients[0].ok("BROKERS").body[0], 10, "it is over")

    def test_redis_was_never_there(self):
        """Nothing is known then."""
        self.broker("127.0.0.1:1", name="a")
        self.client().err("BROKERS", "unavailable")

    def said(self, word):
        return subprocess.run([find_program("lockbroker"), "-S", self.brokers[0].unix_path, word],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True,
                              encoding="utf-8")

    def test_over_a_quorum(self):
        servers = [self.redis(tcp=True) for _ in range(3)]
        for name in "ab":
            self.broker(name=name, lease=LEASE, trust_new=True, ready=False, redis={
                "mode": "quorum", "nodes": [server.address for server in servers]})
        client = self.client()
        eventually(lambda: client.ask("READY").ok, 20, "it grants")
        eventually(lambda: list(self.brokers_at(client)) == ["a", "b"], 10)
        servers[0].kill()
        eventually(lambda: len(self.brokers_at(client)) == 2, 10)
        self.brokers[1].kill()
        eventually(lambda: "missing" in self.brokers_at(client)["b"], 3 * LEASE + 5, "it is missing")

    def test_in_a_cluster(self):
        cluster = Cluster(self.directory)
        self.addCleanup(cluster.stop)
        for name in "ab":
            self.broker(name=name, lease=LEASE, trust_new=True, ready=False, redis={
                "mode": "cluster", "nodes": cluster.addresses[:1], "replicas": 0})
        client = self.client()
        eventually(lambda: list(self.brokers_at(client)) == ["a", "b"], grace_of(LEASE) + 20)
