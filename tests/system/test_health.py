"""Health is true: where Redis refuses, all that tell of health say so, in its words."""

import json
import socket
import threading

from lib import http
from lib.case import SystemTest
from lib.fake import FakeServer
from lib.sentinel import Watched
from lib.wait import eventually, let_time_pass

LEASE = 1


class Refused(SystemTest):
    limit = 60

    def serve(self, server, **redis):
        """A broker with HTTP that grants."""
        broker = self.broker(server, http=True, lease=LEASE, trust_new=True, redis=redis)
        self.web = http.of(broker)
        self.holder, self.other = self.clients(2)
        eventually(lambda: self.other.ask("READY").ok, 30, "it grants")

    def ready(self):
        return self.other.ask("READY").ok

    def fails_to_lock(self):
        reply = self.other.ask("TRYLOCK new")
        if reply.ok:
            self.other.ask("UNLOCK new")
        return reply.code == "unavailable"

    def lock_ends_unavailable(self, text):
        reply = self.other.ask("LOCK new wait=300ms")
        self.assertEqual(reply.code, "unavailable", reply)
        self.assertRegex(reply.text, text)
        self.assertRegex(str(self.other.ask("TRYLOCK new")), "^ERR unavailable .*" + text)

    def all_say_no(self, text):
        """Several times, as one answer might only be between two others."""
        eventually(lambda: not self.ready(), 5, "it is felt")
        for _ in range(4):
            self.lock_ends_unavailable(text)
            reply = self.other.ask("READY")
            self.assertEqual(reply.code, "unavailable", reply)
            self.assertRegex(reply.text, text)
            answer = self.web.get("/readyz")
            self.assertEqual(answer.status, 503)
            self.assertRegex(answer.text, text)
            self.assertEqual(self.other.stats()["grants_ready"], "0")
            self.assertEqual(self.web.metrics()["lockbrokerd_grants_ready"], 0)
            self.assertRegex(json.dumps(json.loads(self.web.get("/status.json").text)), text)
            for told in (reply.text, answer.text):
                for ours in ("lock:", "user_script", "#!lua", "evalsha ", "f_"):
                    self.assertNotIn(ours, told)

    def all_is_well_again(self):
        eventually(self.ready, 15, "it grants again")
        eventually(lambda: self.other.ask("TRYLOCK new").ok, 5, "a lock")
        self.other.ok("UNLOCK new")
        self.assertEqual(self.web.get("/readyz").status, 200)

    def test_what_is_there_is_something_else(self):
        server = self.redis()
        self.serve(server)
        for key, make in (("lock:@guard", ("SET", "lock:@guard", "x")),
                          ("lock:@fence", ("RPUSH", "lock:@fence", "x"))):
            with self.subTest(key=key):
                server.cmd("DEL", key)
                server.cmd(*make)
                self.all_say_no("WRONGTYPE")
                server.cmd("DEL", key)
                self.all_is_well_again()

    def test_a_right_is_missing(self):
        server = self.redis()
        server.cmd("ACL", "SETUSER", "lb", "on", ">hush", "~lock:*", "&*", "+@all")
        self.serve(server, user="lb", password="hush")
        for command in ("hset", "set", "evalsha", "info", "time"):
            with self.subTest(command=command):
                server.cmd("ACL", "SETUSER", "lb", "-" + command)
                # Some are needed to grant, and not to renew.
                eventually(self.fails_to_lock, 5, "it is felt")
                self.all_say_no("ACL of Redis lacks rights .*(can't run|no permissions)")
                self.assertNotIn("hush", self.web.get("/readyz").text)
                server.cmd("ACL", "SETUSER", "lb", "+" + command)
                self.all_is_well_again()

    def test_memory_is_full(self):
        """What is held is kept, and can be given back."""
        server = self.redis()
        self.serve(server)
        fence = self.holder.lock("held")
        server.config("maxmemory", "1")
        self.other.ask("TRYLOCK new")
        self.all_say_no("OOM command not allowed")
        self.assertEqual(self.holder.ok("LOCK held").fence, fence)
        self.holder.ok("UNLOCK held")
        self.assertNotIn("deferred", self.holder.ok("UNLOCK held").fields)
        self.other.send("LOCK new")
        server.config("maxmemory", "0")
        self.assertTrue(self.other.reply(5).ok)
        self.other.ok("UNLOCK new")
        self.all_is_well_again()
        self.assertEqual(len(self.brokers[0].log_lines("guard-refuses")), 1)

    def test_an_operation_lacks_a_right(self):
        """The rest goes on, so health is well; people are told once, and where they look."""
        server = self.redis()
        server.cmd("ACL", "SETUSER", "lb", "on", ">hush", "~lock:*", "&*", "+@all")
        self.serve(server, user="lb", password="hush")
        other = self.broker(server, lease=LEASE, redis={
            "trust_new": True, "user": "lb", "password": "hush"})
        far = self.client(other)
        server.cmd("ACL", "SETUSER", "lb", "-publish")
        for _ in range(3):
            self.holder.lock("x")
            far.send("LOCK x")
            eventually(lambda: server.cmd("EXISTS", "lock:@queue:x"), 5, "it waits")
            self.holder.ok("UNLOCK x")
            self.assertTrue(far.reply(10).ok)
            far.ok("UNLOCK x")
        self.assertTrue(self.ready())
        (line,) = self.brokers[0].log_lines("redis-noperm .*operation=end")
        self.assertRegex(line, "can't run|no permissions")
        answer = self.web.get("/readyz?verbose")
        self.assertEqual(answer.status, 200)
        self.assertRegex(answer.text, r"\[!\]rights: .*operation end: .*(can't run|no permissions)")
        self.assertGreater(int(self.other.stats()["redis_lacking_total"]), 2)

    def test_one_name_speaks_for_itself(self):
        server = self.redis()
        self.serve(server)
        server.cmd("RPUSH", "lock:odd", "x")
        for _ in range(3):
            self.assertFalse(self.other.ask("TRYLOCK odd").ok)
            self.assertTrue(self.ready())
        self.assertEqual(self.brokers[0].log_lines("guard-refuses"), [])

    def says(self, why, **redis):
        """READY and a request say why, before any server was found."""
        broker = self.broker(redis["nodes"][0], lease=LEASE, ready=False, redis=redis)
        client = self.client(broker)
        eventually(lambda: why in client.ask("READY").text, 10, "READY says " + why)
        self.assertIn(why, client.ask("TRYLOCK x").text)

    def test_no_sentinel_tells_of_a_master(self):
        sentinel = {"mode": "sentinel", "replicas": 0}
        self.says("Sentinel 127.0.0.1:1: Connection refused", nodes=["127.0.0.1:1"],
                  master="mymaster", **sentinel)
        self.says("knows no master 'nope'", nodes=Watched(self, 0).addresses, master="nope",
                  **sentinel)
        self.says("check that this is a Sentinel", nodes=[self.redis(tcp=True).address], master="nope",
                  **sentinel)

    def test_no_node_tells_of_a_cluster(self):
        cluster = {"mode": "cluster", "replicas": 0}
        self.says("127.0.0.1:1: Connection refused", nodes=["127.0.0.1:1"], **cluster)
        self.says("check that it is a Redis Cluster", nodes=[self.redis(tcp=True).address], **cluster)
        self.says("buckets have no master", nodes=[
            self.redis(tcp=True, cluster_enabled="yes").address], **cluster)

    def test_over_a_quorum(self):
        """One server that refuses does no harm, two of three do."""
        nodes = [self.redis() for _ in range(3)]
        self.serve(nodes[0], mode="quorum", nodes=[node.address for node in nodes])
        nodes[0].config("maxmemory", "1")
        for _ in range(4):
            self.other.lock("x")
            self.other.ok("UNLOCK x")
            self.assertTrue(self.ready())
        nodes[1].config("maxmemory", "1")
        self.other.ask("TRYLOCK new")
        self.all_say_no("OOM command not allowed")
        nodes[1].config("maxmemory", "0")
        self.all_is_well_again()


class Strangers(SystemTest):
    """What is no server for locks is told from others, at once and in few lines."""

    def stranger(self, address, **redis):
        broker = self.broker(address, lease=LEASE, ready=False, redis=redis)
        return broker, self.client(broker)

    def says(self, broker, client, why, advice):
        eventually(lambda: why in client.ask("READY").text, 10, "READY says so")
        self.assertRegex(str(client.ask("TRYLOCK x")), "ERR unavailable .*" + why)
        self.assertRegex(broker.log_lines("redis-down")[0], why + ".*advice=.*" + advice)

    def test_a_sentinel(self):
        watched = Watched(self, 0)
        broker, client = self.stranger(watched.addresses[0])
        self.says(broker, client, "this is a Sentinel", "redis.mode sentinel")

    def test_a_node_of_a_cluster(self):
        broker, client = self.stranger(self.redis(cluster_enabled="yes"))
        self.says(broker, client, "a node of a Redis Cluster", "redis.mode cluster")

    def test_a_proxy(self):
        fake = FakeServer({"": b"-ERR unsupported command 'CLIENT'\r\n"})
        self.addCleanup(fake.stop)
        broker, client = self.stranger(fake.address)
        self.says(broker, client, "CLIENT ID: ERR unsupported command", "a proxy")

    def test_protected_mode(self):
        """Redis writes one line, and closes before it has read anything."""
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        denied = (b"-DENIED Redis is running in protected mode because protected mode is enabled "
                  b"and no password is set for the default user.\r\n")
        stop = threading.Event()

        def serve():
            while not stop.is_set():
                try:
                    sock = listener.accept()[0]
                    sock.sendall(denied)
                    let_time_pass(0.05)
                    sock.close()
                except OSError:
                    return
        threading.Thread(target=serve, daemon=True).start()
        self.addCleanup(stop.set)
        broker, client = self.stranger("127.0.0.1:%d" % listener.getsockname()[1])
        self.says(broker, client, "DENIED Redis is running in protected mode", "password")
        let_time_pass(3)
        self.assertEqual(len(broker.log_lines("redis-down")), 1)

    def test_connections_that_are_lost_at_once(self):
        """A limit that no greeting passes: told in few lines, and so is its end."""
        server = self.redis()
        broker = self.broker(server, lease=LEASE, trust_new=True)
        client = self.client(broker)
        server.config("client-output-buffer-limit", "normal 16kb 0 0")
        server.cmd("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        let_time_pass(12)
        self.assertLess(len(broker.log_lines("redis-(up|down)")), 16)
        self.assertRegex(broker.log_lines("redis-down")[-1], "soon after it is made")
        server.config("client-output-buffer-limit", "normal 0 0 0")
        up = len(broker.log_lines("redis-up"))
        client.lock("x", timeout=10)
        eventually(lambda: len(broker.log_lines("redis-up")) > up, 20, "it is told")

    def test_a_password_where_none_is_wanted(self):
        server = self.redis()
        broker = self.broker(server, lease=LEASE,
                             redis={"trust_new": True, "password": "hush", "connections": 4})
        self.client(broker).lock("x")
        self.assertEqual(len(broker.log_lines("redis-no-password")), 1)
