"""RESP: the commands of Redis clients, and their answers (lockbroker-resp(7))."""

import hashlib
import socket
import unittest

from lib.case import SystemTest
from lib.resp import RedisError, Resp
from lib.wait import eventually, hang, now, patience

SECRET = "c2VjcmV0LW1hZGUtYnktZ2VucGFzcy0yNTYtYml0cw"
HASH = "sha256:" + hashlib.sha256(SECRET.encode()).hexdigest()


def encode(*words):
    """A request as bytes."""
    out = b"*%d\r\n" % len(words)
    for word in words:
        word = word if isinstance(word, bytes) else str(word).encode()
        out += b"$%d\r\n%s\r\n" % (len(word), word)
    return out


class RespTest(SystemTest):
    def resp(self, broker=None, tcp=False, three=False):
        broker = broker or self.brokers[0]
        address = f"127.0.0.1:{broker.port}" if tcp else f"unix:{broker.unix_path}"
        client = Resp(address)
        self.addCleanup(client.close)
        if three:
            client("HELLO", 3)
        return client

    def raw(self, data, size=None):
        """Send bytes; what comes back until the end of the stream, or so many bytes."""
        sock = socket.socket(socket.AF_UNIX)
        self.addCleanup(sock.close)
        sock.settimeout(patience(5))
        sock.connect(self.brokers[0].unix_path)
        sock.sendall(data)
        if size is None:
            sock.shutdown(socket.SHUT_WR)
        got = b""
        while size is None or len(got) < size:
            more = sock.recv(65536)
            if not more:
                break
            got += more
        return got


class Native(RespTest):
    """The table of commands."""

    def setUp(self):
        super().setUp()
        self.broker()

    def test_locks(self):
        for three in (False, True):
            with self.subTest(resp3=three):
                one, other = self.resp(three=three), self.resp(three=three)
                fence = one("LOCK", "a")
                self.assertIsInstance(fence, int)
                self.assertEqual(one("lock", "a"), fence)
                self.assertIsNone(other("TRYLOCK", "a"))
                self.assertIsNone(other("LOCK", "a", "wait=20ms"))
                self.assertEqual(one("UNLOCK", "a"), 1)
                self.assertEqual(one("UNLOCK", "a"), 0)
                several = one("LOCK", "b", "c")
                self.assertEqual([type(fence) for fence in several], [int, int])
                self.assertEqual(one("EXTEND", "b", "hold=10s"), "OK")
                self.assertEqual(one("UNLOCK", "b", "c"), [0, 0])
                self.assertTrue(one.error("UNLOCK", "b").startswith("NOT-HELD "))
                self.assertTrue(one.error("LOCK", "a b").startswith("BAD-NAME "))
                self.assertTrue(one.error("LOCK", "a", "wait=5").startswith("BAD-OPTION "))
                self.assertTrue(one.error("LOCK").startswith("BAD-REQUEST "))

    def test_synchronizers(self):
        one = self.resp()
        self.assertEqual(one("ACQUIRE", "s", "limit=3", "permits=2"), 2)
        self.assertEqual(one("RELEASE", "s"), 1)
        self.assertIsNone(self.resp()("ACQUIRE", "s", "limit=3", "permits=3", "wait=0"))
        self.assertTrue(one.error("ACQUIRE", "s", "limit=4").startswith("MISMATCH "))
        self.assertEqual(one("LATCH", "l", "count=2"), 2)
        self.assertTrue(one.error("LATCH", "l", "count=2").startswith("EXISTS "))
        self.assertEqual(one("COUNTDOWN", "l"), 1)
        self.assertIsNone(one("AWAIT", "l", "wait=10ms"))
        self.assertEqual(one("COUNTDOWN", "l", "by=5"), 0)
        self.assertEqual(one("AWAIT", "l"), "OK")
        index, at, generation, number = one("BARRIER", "b", "parties=1")
        self.assertEqual((index, at, generation), ("index", 0, "generation"))
        self.assertIsInstance(number, int)
        self.assertTrue(one.error("AWAIT", "none").startswith("NOT-FOUND "))

    def test_maps_and_lists(self):
        two, three = self.resp(), self.resp(three=True)
        fence = three("LOCK", "a")
        status = three("STATUS", "a")
        self.assertEqual((status["state"], status["fence"], status["waiters"]),
                         ("held", fence, 0))
        self.assertIsInstance(status["ttl"], int)
        flat = two("STATUS", "a")
        self.assertEqual(dict(zip(flat[::2], flat[1::2]))["fence"], fence)
        held = three("LIST")
        self.assertEqual([(row["kind"], row["name"], row["mode"], row["fence"]) for row in held],
                         [("lock", "a", "exclusive", fence)])
        queue = two("QUEUE", "a")
        self.assertEqual([row[:2] for row in queue], [["kind", "holder"]])
        self.assertEqual([row["name"] for row in three("NAMES")], ["a"])
        self.assertIn("VALID - ", " ".join(three("HELP")))
        stats = three("STATS")
        self.assertEqual((stats["clients"], stats["locks_held"]), (2, 1))
        self.assertEqual(stats["clients_resp"], 2)
        self.assertEqual(self.client().stats()["clients_resp"], "2")
        flat = two("STATS")
        self.assertEqual(dict(zip(flat[::2], flat[1::2]))["locks_held"], 1)
        session = three("SESSION", "label=cron", "grace=30s")
        self.assertEqual((session["label"], session["grace"]), ("cron", 30000))
        version = three("VERSION")
        self.assertEqual(version["protocol"], 1)
        self.assertEqual(three("WHOAMI"), {"user": "-"})
        self.assertEqual(three("READY"), "OK")

    def test_a_session_is_resumed(self):
        one, other = self.resp(three=True), self.resp(three=True)
        one("LOCK", "a")
        key = one("SESSION", "grace=30s")["key"]
        resumed = other("RESUME", f"key={key}")
        self.assertEqual(resumed["locks"], 1)
        self.assertEqual(other("UNLOCK", "a"), 0)

    def test_what_is_vouched_for(self):
        for three in (False, True):
            one = self.resp(three=three)
            self.assertIsNone(one("VALID"))
            one("LOCK", "a")
            self.assertGreater(one("VALID"), 0)
            one("UNLOCK", "a")
        line = self.client()
        self.assertNotIn("valid", line.ok("VALID").fields)
        line.lock("a")
        self.assertRegex(line.ok("VALID")["valid"], r"^\d+ms$")

    def test_events_are_pushes(self):
        one, other = self.resp(three=True), self.resp(three=True)
        self.assertEqual(one("OBSERVE", "a"), "OK")
        self.assertEqual(one.push(), ["lockbroker", "FREE", "a"])
        fence = other("LOCK", "a", "hold=100ms")
        held = one.push()
        self.assertEqual(held[:5], ["lockbroker", "HELD", "a", "fence", fence])
        lost = other.push()
        self.assertEqual(lost[:3], ["lockbroker", "LOST", "a"])
        self.assertEqual(lost[-2:], ["reason", "hold"])
        self.assertTrue(other.error("UNLOCK", "a").startswith("LOST "))
        self.assertEqual(one("UNOBSERVE", "a"), "OK")

    def test_resp2_has_no_events(self):
        one = self.resp()
        self.assertEqual(one("OBSERVE", "a"), "OK")
        one("LOCK", "a", "hold=50ms")
        eventually(lambda: self.client().ok("STATUS a")["state"] == "free", 5)
        self.assertEqual(one("PING"), "PONG")
        self.assertTrue(one.error("UNLOCK", "a").startswith("LOST "))

    def test_lines_and_resp_share_a_queue(self):
        line, one = self.client(), self.resp()
        first = line.lock("a")
        one.send("LOCK", "a")
        eventually(lambda: line.ok("STATUS a")["waiters"] == "1", 5)
        line.ok("UNLOCK a")
        self.assertGreater(one.read(), first)


class Stream(RespTest):
    """Bytes: limits, order, ends."""

    def setUp(self):
        super().setUp()
        self.broker()

    def test_pipelining(self):
        data = b"".join(encode("ECHO", n) + encode("PING") for n in range(500))
        self.assertEqual(self.raw(data),
                         b"".join(b"$%d\r\n%d\r\n+PONG\r\n" % (len(str(n)), n)
                                  for n in range(500)))

    def test_a_lock_that_waits_keeps_back_what_is_behind_it(self):
        holder, one = self.client(), self.resp()
        holder.lock("a")
        one.sock.sendall(encode("LOCK", "a") + encode("ECHO", "x"))
        eventually(lambda: holder.ok("STATUS a")["waiters"] == "1", 5)
        holder.ok("UNLOCK a")
        self.assertIsInstance(one.read(), int)
        self.assertEqual(one.read(), "x")

    def test_half_close(self):
        holder = self.client()
        holder.lock("a")
        self.assertEqual(self.raw(encode("LOCK", "a") + encode("PING")), b"$-1\r\n+PONG\r\n")

    def test_malformed(self):
        for data, error in (
                (b"*1\r\nPING\r\n", b"expected '$', got 'P'"),
                (b"*x\r\n", b"invalid multibulk length"),
                (b"*65\r\n", b"invalid multibulk length"),
                (b"*1000000000\r\n", b"invalid multibulk length"),
                (b"*1\r\n$-5\r\n", b"invalid bulk length"),
                (b"*1\r\n$70000\r\n", b"invalid bulk length"),
                (encode("PING") + b"PING\r\n", b"expected '*', got 'P'")):
            with self.subTest(data=data):
                got = self.raw(data + encode("PING") * 3)
                before = b"+PONG\r\n" if data.startswith(encode("PING")) else b""
                self.assertEqual(got, before + b"-ERR Protocol error: " + error + b"\r\n")

    def test_the_longest_request(self):
        self.assertEqual(len(self.raw(encode("ECHO", "x" * 65500))), 65500 + 10)

    def test_the_first_byte_decides(self):
        self.assertEqual(self.raw(b"\n*1\r\nPING\r\n"),
                         b"ERR unknown-command no command \"*1\"; HELP lists all\r\nOK\r\n")
        # As a line, an HTTP method closes the connection; within an array it is a command.
        self.assertEqual(self.raw(encode("GET", "a")), b"$-1\r\n")
        self.assertEqual(self.raw(b"GET a\n"), b"")

    def test_a_reset_releases(self):
        one = self.resp(tcp=True)
        one("LOCK", "a")
        one.close()
        self.client().lock("a")

    def test_quit(self):
        self.assertEqual(self.raw(encode("QUIT") + encode("PING"), 100), b"+OK\r\n")


class Silent(RespTest):
    def test_a_request_must_come_whole_in_time(self):
        self.broker(limits={"first_line": "300ms"})
        start = now()
        self.assertEqual(self.raw(b"*1\r\n$4\r\nPI", 1), b"")
        self.assert_within(0.3, now() - start, patience(5))

    def test_long_names_of_channels(self):
        self.broker()
        one = self.resp()
        self.assertEqual(one.error("SUBSCRIBE", "a", "x" * 1025),
                         "LIMIT the name of a channel may have 1024 bytes")
        self.assertEqual(one("ECHO", "nothing is subscribed to"), "nothing is subscribed to")
        self.assertEqual(one("SUBSCRIBE", "x" * 1024)[0], "subscribe")

    def test_half_a_request(self):
        """It costs no memory for long."""
        broker = self.broker()
        one = self.resp()
        one("LOCK", "a")
        start = now()
        one.sock.sendall(b"*2\r\n$4\r\nECHO\r\n$60000\r\n" + b"x" * 50000)
        one.sock.settimeout(hang(15))
        self.assertTrue(str(one.read()).startswith("LIMIT the rest of a request"))
        self.assertRaises(ConnectionError, one.read)
        self.assertGreater(now() - start, 9.9)
        self.assertTrue(broker.log_lines("client-too-slow"))
        self.client().lock("a", timeout=10)

    def test_a_wait_is_bounded(self):
        self.broker(resp={"max_wait": "100ms"})
        line, one = self.client(), self.resp()
        line.lock("a")
        start = now()
        self.assertIsNone(one("LOCK", "a", "wait=1m"))
        self.assertIsNone(one("LOCK", "a"))
        self.assert_within(0.2, now() - start, patience(5))
        line.send("@1 LOCK a wait=forever", "PING")
        line.reply()

    def test_who_does_not_read_is_dropped(self):
        self.broker(limits={"output": "1KB"})
        one = self.resp(tcp=True)
        one.sock.settimeout(patience(10))
        try:
            for _ in range(2000):
                one.sock.sendall(encode("ECHO", "x" * 60000))
        except OSError:
            pass
        eventually(lambda: self.client().stats()["clients"] == "1", 10)


# What each library sends before anything else, and what it must be answered; None: whatever,
# but no error.
SETINFO = [(("CLIENT", "SETINFO", "LIB-NAME", "x"), "OK"),
           (("CLIENT", "SETINFO", "LIB-VER", "1.0"), "OK")]
HANDSHAKES = {
    "redis-cli": [(("COMMAND", "DOCS"), None)],
    "redis-py 4.3": [(("CLIENT", "SETNAME", "me"), "OK"), (("SELECT", "0"), "OK")],
    "redis-py 6": SETINFO,
    "redis-py 8": [(("HELLO", "3"), None)] + SETINFO,
    "ioredis 5": [(("client", "SETINFO", "LIB-NAME", "ioredis"), "OK"), (("info",), None)],
    "ioredis 6": [(("hello", "3"), None)] + SETINFO + [(("info",), None)],
    "iovalkey": [(("info",), None)],
    "node-redis 6": [(("HELLO", "3"), None)] + SETINFO,
    "node-redis 5, a name": [(("HELLO", "3", "SETNAME", "me"), None), (("SELECT", "0"), "OK")],
    "valkey-glide": [(("HELLO", "3"), None), (("INFO", "REPLICATION"), None)],
    "go-redis": [(("hello", "3"), None), (("client", "setinfo", "LIB-NAME", "go-redis"), "OK")],
    "Jedis": [(("SELECT", "0"), "OK"), (("CLIENT", "SETNAME", "me"), "OK")],
    "Lettuce": [(("HELLO", "3"), None), (("SELECT", "0"), "OK")] + SETINFO,
    "phpredis": [(("CLIENT", "setname", "me"), "OK")],
    "perl Redis": [(("CLIENT", "SETNAME", "me"), "OK")],
    "Redisson": [(("SELECT", "0"), "OK"), (("CLIENT", "SETNAME", "me"), "OK"),
                 (("PING",), "PONG")],
    "Dapr": [(("INFO", "replication"), None)],
    "celery-singleton": [(("SCAN", "0", "MATCH", "x*"), ["0", []])],
}


class Handshakes(RespTest):
    def setUp(self):
        super().setUp()
        self.broker()

    def test_of_each_library(self):
        for library, commands in HANDSHAKES.items():
            with self.subTest(library=library):
                one = self.resp()
                one.sock.sendall(b"".join(encode(*words) for words, _ in commands))
                for words, expected in commands:
                    reply = one.read()
                    self.assertNotIsInstance(reply, RedisError, words)
                    if expected is not None:
                        self.assertEqual(reply, expected, words)
                self.assertIsInstance(one("TRYLOCK", "a"), int)
                one("UNLOCK", "a")

    def test_of_stackexchange(self):
        one = self.resp()
        sent = [("CLIENT", "SETNAME", "me"), *(words for words, _ in SETINFO), ("CLIENT", "ID"),
                ("CONFIG", "GET", "timeout"), ("CONFIG", "GET", "slave-read-only"),
                ("CONFIG", "GET", "databases"), ("SENTINEL", "MASTERS"),
                ("INFO", "replication"), ("INFO", "server"), ("CLUSTER", "NODES")]
        one.sock.sendall(b"".join(encode(*words) for words in sent) + encode("ECHO", b"\0\1id"))
        replies = [one.read() for _ in sent]
        self.assertEqual(replies[:3] + replies[4:7], ["OK"] * 3 + [[]] * 3)
        self.assertIsInstance(replies[7], RedisError)
        self.assertIsInstance(replies[10], RedisError)
        self.assertEqual(one.read(), "\0\1id")
        other = self.resp()
        self.assertEqual(other("SUBSCRIBE", "__Booksleeve_MasterChanged"),
                         ["subscribe", "__Booksleeve_MasterChanged", 1])
        self.assertEqual(other("PING"), ["pong", ""])
        self.assertIn("allowed in this context", other.error("ECHO", "x"))
        self.assertEqual(other("UNSUBSCRIBE"), ["unsubscribe", "__Booksleeve_MasterChanged", 0])
        self.assertEqual(other("ECHO", "x"), "x")

    def test_hello(self):
        one = self.resp()
        flat = one("HELLO")
        self.assertEqual(flat[:6], ["server", "redis", "version", "8.4.0", "proto", 2])
        hello = one("HELLO", "3", "SETNAME", "me")
        self.assertEqual({key: hello[key] for key in ("proto", "mode", "role", "modules")},
                         {"proto": 3, "mode": "standalone", "role": "master", "modules": []})
        self.assertEqual(hello["id"], one("CLIENT", "ID"))
        self.assertEqual(one("CLIENT", "GETNAME"), "me")
        self.assertEqual(one("SESSION")["label"], "me")
        self.assertEqual(one.error("HELLO", "4"), "NOPROTO unsupported protocol version")
        self.assertEqual(one.error("HELLO", "x"),
                         "ERR Protocol version is not an integer or out of range")
        self.assertEqual(one.error("HELLO", "3", "FOO"),
                         "ERR Syntax error in HELLO option 'FOO'")
        self.assertEqual(one("HELLO", "2")[5], 2)

    def test_info(self):
        one = self.resp()
        info = one("INFO")
        for line in ("redis_version:8.4.0", "redis_mode:standalone", "loading:0", "role:master",
                     "connected_slaves:0", "cluster_enabled:0"):
            self.assertIn(f"\r\n{line}\r\n", info)
        self.assertNotIn("redis_version", one("INFO", "replication"))
        self.assertIn("role:master", self.resp(three=True)("INFO", "replication"))

    def test_what_is_asked_of_a_server(self):
        one = self.resp()
        self.assertEqual(one("PING", "x"), "x")
        self.assertEqual(one("WAIT", "0", "100"), 0)
        self.assertEqual(one("DBSIZE"), 0)
        self.assertEqual(one("ROLE"), ["master", 0, []])
        self.assertEqual([len(text) > 0 for text in one("TIME")], [True, True])
        self.assertEqual(one("COMMAND", "COUNT"), len(one("COMMAND", "LIST")))
        self.assertEqual(one("COMMAND", "INFO", "get", "x"), [None, None])
        self.assertEqual(one("READONLY"), "OK")
        self.assertEqual((one("SCRIPT", "FLUSH"), one("SCRIPT", "FLUSH", "ASYNC")), ("OK", "OK"))
        self.assertEqual(one("PUBSUB", "CHANNELS", "*"), [])
        self.assertEqual(one("PUBSUB", "NUMSUB", "a", "b"), ["a", 0, "b", 0])
        info = dict(line.split(":", 1) for line in one("INFO").splitlines() if ":" in line)
        self.assertEqual((info["os"], info["arch_bits"]), ("Linux", "64"))
        self.assertEqual(int(info["process_id"]), self.brokers[0].pid)
        self.assertIn("tcp_port", info)
        self.assertIn(f"id={one('CLIENT', 'ID')} ", one("CLIENT", "LIST"))

    def test_what_is_refused(self):
        one = self.resp()
        for words, error in (
                (("FOO", "a", "b"), "ERR unknown command 'FOO', with args beginning with: "
                                    "'a' 'b' ; lockbroker stores no data, only locks"),
                (("EXEC",), "ERR EXEC without MULTI"),
                (("DISCARD",), "ERR DISCARD without MULTI"),
                (("WATCH", "a"), "ERR unknown command 'WATCH', with args beginning with: "
                                 "'a' ; lockbroker watches names, with OBSERVE"),
                (("SENTINEL", "get-master-addr-by-name", "x"),
                 "ERR unknown command 'SENTINEL', with args beginning with: "
                 "'get-master-addr-by-name' 'x' "
                 "; configure the broker as a single server"),
                (("CLIENT", "TRACKING", "ON"), "ERR lockbroker has no data to cache; turn "
                                               "off client-side caching"),
                (("CLIENT", "KILL", "ID", "5"),
                 "ERR lockbroker ends no connection for another client; to force-release a "
                 "lock, send UNLOCK-FORCE"),
                (("CLIENT", "MAINT_NOTIFICATIONS", "ON"),
                 "ERR unknown subcommand 'MAINT_NOTIFICATIONS'. Try CLIENT HELP."),
                (("CLIENT", "a\0b"), "ERR unknown subcommand 'a?b'. Try CLIENT HELP."),
                (("a\0b\n",), "ERR unknown command 'a?b?', with args beginning with: "
                              "; lockbroker stores no data, only locks"),
                (("LOCK", "a\0b"),
                 'BAD-NAME the name "a?b" contains a control character'),
                (("ECHO",), "ERR wrong number of arguments for 'echo' command"),
                (("CLIENT", "SETNAME"),
                 "ERR wrong number of arguments for 'client|setname' command"),
                (("SELECT", "1"),
                 "ERR DB index is out of range: lockbroker has database 0 only"),
                (("SELECT", "x"), "ERR value is not an integer or out of range"),
                (("CLUSTER", "NODES"), "ERR This instance has cluster support disabled"),
                (("AUTH", "x"), "ERR AUTH <password> called without any password configured for "
                                "the default user. Are you sure your configuration is correct?"),
                (("CLIENT", "SETNAME", "a b"), "ERR Client names cannot contain spaces, newlines "
                                               "or special characters.")):
            with self.subTest(words=words):
                self.assertEqual(one.error(*words), error)

    def test_a_reset_begins_anew(self):
        one = self.resp(three=True)
        one("CLIENT", "SETNAME", "me")
        one("LOCK", "a")
        self.assertTrue(one.error("RESET").startswith("BAD-REQUEST "))
        one("UNLOCK", "a")
        self.assertEqual(one("RESET"), "RESET")
        self.assertIsNone(one("CLIENT", "GETNAME"))
        self.assertIsInstance(one("HELLO"), list)


class Rights(RespTest):
    def setUp(self):
        super().setUp()
        deploy = {"name": "deploy", "hash": HASH, "lock": ["mine/*"]}
        broker = self.broker(auth={"users": [deploy, dict(deploy, name="default")]},
                             ready=False)
        eventually(lambda: broker.log_lines("guard-ready"), 10)

    def test_who_has_not_said_who_it_is(self):
        one = self.resp()
        for words in (("LOCK", "mine/a"), ("ECHO", "x"), ("CLIENT", "ID"), ("VALID",)):
            self.assertEqual(one.error(*words), "NOAUTH Authentication required.")
        self.assertTrue(one.error("HELLO", "3").startswith("NOAUTH HELLO must be called"))
        self.assertEqual(one("PING"), "PONG")
        self.assertTrue(one.error("FOO").startswith("ERR unknown command 'FOO'"))
        self.assertEqual(one("QUIT"), "OK")

    def test_a_password(self):
        one = self.resp()
        wrong = "WRONGPASS invalid username-password pair or user is disabled."
        self.assertEqual(one.error("AUTH", "deploy", "x"), wrong)
        self.assertEqual(one.error("HELLO", "3", "AUTH", "nobody", SECRET), wrong)
        self.assertEqual(one.error("AUTH", "a", "b", "c"), "ERR syntax error")
        self.assertEqual(one("AUTH", "deploy", SECRET), "OK")
        flat = one("WHOAMI")
        self.assertEqual(flat, ["user", "deploy", "via", "password"])
        self.assertIsInstance(one("LOCK", "mine/a"), int)
        self.assertTrue(one.error("AUTH", "deploy", SECRET).startswith("ERR this connection"))

    def test_a_password_alone_is_of_the_default_user(self):
        one = self.resp()
        self.assertEqual(one("AUTH", SECRET), "OK")
        self.assertEqual(one("WHOAMI")[1], "default")

    def test_hello_with_all_of_it(self):
        one = self.resp()
        one.sock.sendall(encode("HELLO", "3", "AUTH", "deploy", SECRET, "SETNAME", "me") +
                         encode("SELECT", "0"))
        self.assertEqual(one.read()["proto"], 3)
        self.assertEqual(one.read(), "OK")
        self.assertEqual(one("SESSION")["label"], "me")

    def test_what_libraries_send_first(self):
        """With a user and a name; clients do not mind an error to MAINT_NOTIFICATIONS."""
        auth, name, zero = ("AUTH", "deploy", SECRET), ("CLIENT", "SETNAME", "me"), ("SELECT", "0")
        setinfo = [words for words, _ in SETINFO]
        hello = ("HELLO", "3", *auth)
        maint = ("CLIENT", "MAINT_NOTIFICATIONS", "ON", "moving-endpoint-type", "internal-ip")
        for library, commands in {
                "redis-cli -3": [auth, zero, ("HELLO", "3")],
                "redis-py 4.3": [auth, name, zero], "redis-py 6": [hello, *setinfo],
                "ioredis 5": [("auth", *auth[1:]), zero, name, *setinfo, ("info",)],
                "node-redis 4": [auth, name, *setinfo, zero],
                "node-redis 6": [(*hello, "SETNAME", "me"), zero, *setinfo, maint],
                "valkey-glide": [hello, zero, name, *setinfo, ("INFO", "REPLICATION")],
                "go-redis": [("hello", "3", *auth, "setname", "me"), zero, name, maint, *setinfo],
                "ruby-redis, Jedis": [auth, zero, name], "Predis, redigo": [auth, zero],
                "phpredis": [auth, zero, ("CLIENT", "setname", "me")],
                "Redis for Perl": [("AUTH", SECRET), name],
                "Lettuce": [hello, zero, *setinfo, maint],
                "StackExchange.Redis": [auth, ("HELLO",), name, *setinfo, ("CLIENT", "ID")],
                "Redisson": [auth, ("HELLO", "3"), zero, name, ("PING",)]}.items():
            with self.subTest(library=library):
                one = self.resp()
                one.sock.sendall(b"".join(encode(*words) for words in commands))
                for words in commands:
                    self.assertEqual(isinstance(one.read(), RedisError), words == maint, words)
                self.assertIsInstance(one("TRYLOCK", "mine/a"), int)
                one("UNLOCK", "mine/a")

    def test_what_is_not_allowed(self):
        one = self.resp()
        one("AUTH", "deploy", SECRET)
        for words in (("LOCK", "other"), ("TRYLOCK", "mine/a", "other"), ("UNLOCK", "other"),
                      ("ACQUIRE", "other", "limit=1"), ("STATUS", "other"), ("OBSERVE", "other"),
                      ("STATS",), ("UNLOCK-FORCE", "mine/a")):
            with self.subTest(words=words):
                self.assertTrue(one.error(*words).startswith("NOPERM "))


if __name__ == "__main__":
    unittest.main()
