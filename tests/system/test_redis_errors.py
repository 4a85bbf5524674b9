"""Each error that Redis can answer with is understood, reported as what it is, and survived."""

import os
import shutil
import signal

from lib.case import SystemTest
from lib.resp import RedisError, Resp
from lib.wait import eventually, let_time_pass, now, patience

LEASE = 1


class RedisErrors(SystemTest):
    """A standalone Redis, a holder of `held`, and trouble."""

    def prepare(self, lease=LEASE, options=None, **settings):
        self.server = self.redis(**(options or {}))
        self.broker(self.server, trust_new=True, lease=lease,
                    redis={"reply_timeout": "500ms"}, **settings)
        self.holder, self.other = self.clients(2)
        self.fence = self.holder.lock("held")

    def not_lost(self):
        self.holder.ok("PING")
        lost = [line for line in self.holder.events if line.status == "!LOST"]
        self.assertEqual(lost, [])
        self.assertEqual(self.holder.ok("LOCK held").fence, self.fence)
        self.assertEqual(self.holder.ok("UNLOCK held")["depth"], "1")

    def is_unavailable(self, about=""):
        """TRYLOCK is refused, and the text says why."""
        reply = self.other.ask("TRYLOCK wanted")
        self.assertEqual(reply.code, "unavailable", reply)
        if about:
            self.assertRegex(reply.text, "(?i)" + about)

    def until_unavailable(self):
        """TRYLOCK until the broker notices the trouble; return the reply."""
        def felt():
            reply = self.other.ask("TRYLOCK wanted")
            if reply.ok:
                self.other.ok("UNLOCK wanted")
            return reply if reply.code == "unavailable" else None
        return eventually(felt, 5, "the trouble is felt")

    def works_again(self, timeout=10):
        self.other.lock("wanted", timeout=timeout)
        self.other.ok("UNLOCK wanted")

    def logged_once(self, pattern):
        lines = self.brokers[0].log_lines(pattern)
        self.assert_within(1, len(lines), 3, lines)

    def test_oom(self):
        """maxmemory is reached: nothing new is granted, but holds are renewed and released."""
        self.prepare()
        self.server.config("maxmemory", "1")
        self.is_unavailable("OOM|memory")
        self.other.send("LOCK wanted")
        let_time_pass(3 * LEASE)
        self.not_lost()
        self.assertGreaterEqual(int(self.server.get("held").rsplit("|", 1)[1]), self.fence)
        reply = self.holder.ok("UNLOCK held")
        self.assertNotIn("deferred", reply.fields)
        self.assertIsNone(self.server.get("held"))
        self.assertTrue(self.other.silent())
        self.logged_once("OOM")
        self.server.config("maxmemory", "0")
        self.assertTrue(self.other.reply(10).ok)

    def test_oom_and_ends_beside_acquires(self):
        """They leave in one call; the acquires are refused, the ends are not."""
        self.prepare()
        holders, others = self.clients(8), self.clients(8)
        for i, client in enumerate(holders):
            client.lock(f"held-{i}")
        self.server.config("maxmemory", "1")
        self.brokers[0].freeze()
        for i, (holder, other) in enumerate(zip(holders, others)):
            holder.send(f"UNLOCK held-{i}")
            other.send(f"TRYLOCK new-{i}")
        self.brokers[0].thaw()
        for i, (holder, other) in enumerate(zip(holders, others)):
            reply = holder.reply()
            self.assertTrue(reply.ok, reply)
            self.assertNotIn("deferred", reply.fields)
            self.assertEqual(other.reply().code, "unavailable")
            self.assertIsNone(self.server.get(f"held-{i}"))

    def test_oom_requests_end_in_time(self):
        self.prepare()
        self.server.config("maxmemory", "1")
        start = now()
        self.other.err("LOCK wanted wait=500ms", "unavailable")
        self.assert_within(0.45, now() - start, patience(1.5))
        for _ in range(20):
            self.is_unavailable()
        self.logged_once("OOM")

    def test_oom_is_one_spell(self):
        """Renewals go on meanwhile, and do not end that state."""
        self.prepare()
        self.server.config("maxmemory", "1")
        for _ in range(5):
            self.is_unavailable("OOM|memory")
            let_time_pass(LEASE / 2)
        log = self.brokers[0].log_lines
        self.assertEqual(len(log("redis-oom")), 1, log("redis-o"))
        self.assertRegex(log("redis-oom")[0], "maxmemory")
        self.assertEqual(log("redis-ok"), [])
        self.server.config("maxmemory", "0")
        self.works_again()
        self.assertEqual(len(log("redis-ok")), 1)
        self.server.config("maxmemory", "1")
        self.is_unavailable("OOM|memory")
        self.assertEqual(len(log("redis-oom")), 2, "a new spell")

    def test_readonly(self):
        """The server becomes a replica, and a master again: another history."""
        self.prepare(lease=3)
        self.server.cmd("REPLICAOF", "127.0.0.1", "1")
        self.is_unavailable()
        self.other.send("LOCK wanted")
        start = now()
        self.server.cmd("REPLICAOF", "NO", "ONE")
        reply = self.other.reply(15)
        self.assertTrue(reply.ok)
        self.assertGreater(now() - start, 3, "no grace after the history changed")
        self.not_lost()

    def test_a_replica_that_can_be_written(self):
        """Only a master may grant, even if a replica would accept writes."""
        self.prepare(options={"replica_read_only": "no"})
        self.server.cmd("REPLICAOF", "127.0.0.1", "1")
        self.is_unavailable()
        self.assertIsNone(self.server.get("wanted"))
        self.assertEqual(self.holder.event(5, kind="LOST").fence, self.fence)
        self.server.cmd("REPLICAOF", "NO", "ONE")
        self.works_again()

    def test_readonly_for_long(self):
        self.prepare()
        self.server.cmd("REPLICAOF", "127.0.0.1", "1")
        event = self.holder.event(5, kind="LOST")
        self.assertEqual((event.fence, event["reason"]), (self.fence, "unreachable"))
        self.holder.err("UNLOCK held", "lost")
        self.logged_once("(?i)readonly|replica|slave|master")
        self.assertLess(len(self.brokers[0].log_lines("redis-down")), 3)
        self.server.cmd("REPLICAOF", "NO", "ONE")
        self.works_again()
        self.assertGreater(self.holder.lock("held"), self.fence)

    def test_readonly_at_a_moved_address(self):
        """Another server becomes the master behind the address; the old one lives on."""
        old, new = self.redis(), self.redis()
        link = os.path.join(self.directory, "address")
        os.symlink(old.address.removeprefix("unix:"), link)
        self.broker("unix:" + link, trust_new=True, lease=LEASE)
        self.holder, self.other = self.clients(2)
        self.fence = self.holder.lock("held")
        old.cmd("REPLICAOF", "127.0.0.1", "1")
        os.unlink(link)
        os.symlink(new.address.removeprefix("unix:"), link)
        self.works_again(20)
        self.assertIsNotNone(new.get("@fence"))
        self.assertGreater(self.holder.lock("held"), self.fence)

    def test_masterdown(self):
        self.prepare(options={"replica_serve_stale_data": "no"})
        self.server.cmd("REPLICAOF", "127.0.0.1", "1")
        self.until_unavailable()
        self.server.cmd("REPLICAOF", "NO", "ONE")
        self.works_again()

    def test_loading(self):
        self.server = self.redis()
        client = self.server.connect()
        for i in range(2000):
            client.send("SET", f"filler-{i}", "x" * 20)
        for i in range(2000):
            client.read()
        self.broker(self.server, trust_new=True, lease=LEASE)
        self.holder, self.other = self.clients(2)
        self.fence = self.holder.lock("held")
        self.server.cmd("SAVE")
        self.server.restart(wait_loaded=False, **{
            "key-load-delay": 500, "loading-process-events-interval-bytes": 1024})
        with self.assertRaisesRegex(RedisError, "LOADING"):
            self.server.cmd("GET", "filler-0")
        self.until_unavailable()
        self.works_again(15)

    def test_busy(self):
        """Some script runs for ever."""
        self.prepare(lease=3)
        self.server.config("busy-reply-threshold", "50")
        runaway = self.server.connect()
        runaway.send("EVAL", "while true do end", "0")

        def is_busy():
            try:
                self.server.cmd("GET", "x")
            except RedisError as error:
                return str(error).startswith("BUSY")
        eventually(is_busy, 5, "BUSY")
        self.is_unavailable()
        self.other.send("LOCK wanted")
        self.server.cmd("SCRIPT", "KILL")
        self.assertTrue(self.other.reply(15).ok)
        self.not_lost()

    def test_noauth(self):
        """A password is set, and taken away again."""
        self.prepare(lease=3)
        self.server.config("requirepass", "new")
        # Connections that are authorised stay so; new ones are not.
        self.is_still_granting()
        self.server.cmd("AUTH", "new")
        self.server.cmd("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        reply = self.until_unavailable()
        self.assertRegex(reply.text, "(?i)auth")
        self.logged_once("(?i)noauth|auth")
        self.server.config("requirepass", "")
        self.works_again(15)
        self.not_lost()

    def is_still_granting(self):
        self.other.ok("TRYLOCK wanted")
        self.other.ok("UNLOCK wanted")

    def test_passwords(self):
        secret = os.path.join(self.directory, "secret")
        with open(secret, "w", encoding="utf-8") as file:
            file.write("hush\n")
        os.chmod(secret, 0o600)
        server = self.redis(requirepass="hush")
        server.cmd("AUTH", "hush")
        server.cmd("ACL", "SETUSER", "lb", "on", ">other", "~*", "&*", "+@all")
        for redis in ({"password": "hush"}, {"password_file": secret},
                      {"user": "lb", "password": "other"}):
            with self.subTest(redis):
                broker = self.broker(server, redis={"trust_new": True, **redis})
                client = self.client(broker)
                client.lock("x", timeout=20)
                client.ok("UNLOCK x")
                self.assertNotIn("hush", broker.log())
                self.assertEqual(broker.stop(), 0)
        broker = self.broker(server, redis={"password": "wrong"})
        client = self.client(broker)
        client.err("TRYLOCK x", "unavailable")
        eventually(lambda: broker.log_lines("WRONGPASS|(?i:password)"), 5, "logged")

    def write_secret(self, text):
        """As programs do that hand out secrets: another file takes the place of the old one."""
        path = os.path.join(self.directory, "secret")
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        os.rename(path + ".new", path)
        return path

    def with_secret(self, text="old-secret\n"):
        self.server = self.redis()
        self.server.cmd("ACL", "SETUSER", "lb", "on", ">old-secret", "~lock:*", "&*", "+@all")
        self.broker(self.server, lease=3, redis={
            "trust_new": True, "user": "lb", "password_file": self.write_secret(text)})
        self.holder, self.other = self.clients(2)
        self.fence = self.holder.lock("held")

    def cut(self):
        before = set(self.links())
        self.server.cmd("CLIENT", "KILL", "USER", "lb")
        eventually(lambda: len(set(self.links()) - before) >= 2, 10, "it is back")

    def links(self):
        """The ids of the broker's connections that are logged in."""
        rows = self.server.cmd("CLIENT", "LIST")
        rows = rows.decode() if isinstance(rows, bytes) else rows
        return [row.split()[0] for row in rows.splitlines() if " user=lb " in row]

    def test_a_new_password(self):
        """Nobody tells the broker of it, and no lock is lost."""
        self.with_secret("old-secret\n\n")
        self.server.cmd("ACL", "SETUSER", "lb", ">new-secret")
        self.write_secret("new-secret\r\nold-secret\n")
        self.server.cmd("ACL", "SETUSER", "lb", "<old-secret")
        self.cut()
        self.works_again()
        self.not_lost()
        self.brokers[0].signal(signal.SIGHUP)
        eventually(lambda: self.brokers[0].log_lines("reloaded"), 5, "it is reloaded")
        self.assertEqual(self.brokers[0].log_lines("setting-needs-restart|WRONGPASS|-secret"), [])

    def test_a_password_that_comes_late(self):
        """Withdrawn before the new one is in its file."""
        self.with_secret()
        self.server.cmd("ACL", "SETUSER", "lb", ">new-secret", "<old-secret")
        self.server.cmd("CLIENT", "KILL", "USER", "lb")
        eventually(lambda: self.brokers[0].log_lines("WRONGPASS"), 5, "it is refused")
        self.write_secret("new-secret\n")
        self.works_again()
        self.not_lost()

    def test_a_password_that_can_not_be_read(self):
        """The former one counts, whatever is in its place."""
        self.with_secret()
        path = self.write_secret("")
        self.cut()
        os.unlink(path)
        self.cut()
        os.mkfifo(path)
        self.cut()
        os.unlink(path)
        self.write_secret("x" * 5000)
        self.cut()
        self.not_lost()
        lines = self.brokers[0].log_lines("warning redis-password-file")
        self.assertRegex(lines[0], "empty.*previous")
        self.assertLessEqual(len(lines), 3, "one for each connection")

    def test_noperm(self):
        self.server = self.redis()
        self.server.cmd("ACL", "SETUSER", "lb", "on", ">pw", "~lock:*", "&*", "+@all")
        self.broker(self.server, lease=LEASE,
                    redis={"trust_new": True, "user": "lb", "password": "pw"})
        self.holder, self.other = self.clients(2)
        self.fence = self.holder.lock("held", timeout=15)
        self.server.cmd("ACL", "SETUSER", "lb", "-evalsha")
        self.is_unavailable("NOPERM|ACL|permi")
        self.is_unavailable()
        self.logged_once("NOPERM")
        self.server.cmd("ACL", "SETUSER", "lb", "+evalsha")
        self.works_again()

    def test_no_right_to_kill_connections(self):
        """Nothing is granted: calls of a lost connection that still have to run could not be
        stopped."""
        self.server = self.redis()
        self.server.cmd("ACL", "SETUSER", "lb", "on", ">pw", "~lock:*", "&*", "+@all",
                        "-client|kill")
        self.broker(self.server, lease=LEASE,
                    redis={"trust_new": True, "user": "lb", "password": "pw"}, ready=False)
        (self.other,) = self.clients(1)
        self.is_unavailable("CLIENT KILL")
        self.logged_once("redis-down .*CLIENT KILL.*permi")
        self.server.cmd("ACL", "SETUSER", "lb", "+client|kill")
        self.works_again()
        self.server.cmd("ACL", "SETUSER", "lb", "-client|kill")
        self.server.cmd("CLIENT", "KILL", "ID", self.link_ids()[0])
        self.until_unavailable()
        eventually(lambda: self.link_ids() == [], 5, "no link is used without it")
        self.server.cmd("ACL", "SETUSER", "lb", "+client|kill")
        self.works_again()

    def link_ids(self):
        """The broker's connections for commands."""
        return [row["id"] for row in self.server.clients()
                if row["name"] == "lockbroker-b1" and row["sub"] == "0"]

    def test_a_user_with_few_rights_is_enough(self):
        server = self.redis()
        server.cmd("ACL", "SETUSER", "lb", "on", ">pw", "~lock:*", "&lock:*", "-@all", "+auth",
                   "+hello", "+select", "+ping", "+info", "+client", "+time", "+evalsha",
                   "+eval", "+script|load", "+get", "+set", "+del", "+pexpire", "+pttl",
                   "+hget", "+hset", "+hmget", "+hdel", "+hgetall", "+exists", "+type",
                   "+publish", "+subscribe", "+unsubscribe", "+wait", "+zadd", "+zrem",
                   "+zrange", "+zrangebyscore", "+zcard", "+lpush", "+rpush", "+lpop", "+lrem",
                   "+lrange", "+llen", "+lpos", "+hlen", "+expire", "+pexpireat", "+incr",
                   "+hincrby")
        self.broker(server, redis={"trust_new": True, "user": "lb", "password": "pw"})
        client = self.client()
        client.lock("x")
        client.ok("UNLOCK x")

    def test_misconf(self):
        """Redis can't save, and so refuses to write."""
        gone = os.path.join(self.directory, "gone")
        os.mkdir(gone)
        self.prepare(lease=3, options={"save": ["3600", "1"], "dir": gone})
        shutil.rmtree(gone)
        self.server.cmd("BGSAVE")

        def refuses():
            try:
                self.server.cmd("SET", "probe", "1")
            except RedisError as error:
                return "MISCONF" in str(error)
        eventually(refuses, 5, "MISCONF")
        self.is_unavailable("MISCONF|save|disk|persist|snapshot")
        self.other.send("LOCK wanted")
        self.server.config("stop-writes-on-bgsave-error", "no")
        self.assertTrue(self.other.reply(15).ok)
        self.logged_once("MISCONF")
        self.not_lost()

    def test_wrong_type_under_our_key(self):
        self.prepare()
        self.server.cmd("LPUSH", "lock:odd", "element")
        reply = self.other.ask("TRYLOCK odd")
        self.assertIn(reply.status, ("BUSY", "ERR"))
        self.assertEqual(self.server.cmd("LRANGE", "lock:odd", "0", "-1"), ["element"])
        # One bad name never fails another, not even in the same turn.
        self.other.send("@1 TRYLOCK odd", "@2 TRYLOCK fine", "@3 TRYLOCK odd-2")
        self.assertFalse(self.other.reply(tag="1").ok)
        self.assertTrue(self.other.reply(tag="2").ok)
        self.assertTrue(self.other.reply(tag="3").ok)
        self.not_lost()
        self.server.cmd("DEL", "lock:odd")
        eventually(lambda: self.other.ask("TRYLOCK odd").ok, 5)

    def test_wrong_type_under_a_held_key(self):
        self.prepare()
        self.server.cmd("DEL", "lock:held")
        self.server.cmd("LPUSH", "lock:held", "element")
        self.assertEqual(self.holder.event(5, kind="LOST").words[1], "held")
        self.assertEqual(self.server.cmd("LRANGE", "lock:held", "0", "-1"), ["element"])
        self.holder.lock("fine")

    def test_a_key_deleted_behind_our_back(self):
        self.prepare()
        self.server.cmd("DEL", "lock:held")
        event = self.holder.event(5, kind="LOST")
        self.assertEqual((event.words[1], event.fence, event["reason"]),
                         ("held", self.fence, "taken"))
        self.assertEqual(self.holder.ok("LIST").body, [])
        self.holder.err("UNLOCK held", "lost")
        self.holder.err("UNLOCK held", "not-held")
        self.assertGreater(self.other.lock("held"), self.fence)

    def test_a_key_taken_behind_our_back(self):
        self.prepare()
        self.server.cmd("SET", "lock:held", "plain-client", "PX", "60000")
        event = self.holder.event(5, kind="LOST")
        self.assertEqual((event.fence, event["reason"]), (self.fence, "taken"))
        self.assertEqual(self.server.get("held"), "plain-client")
        self.assertEqual(self.other.ask("TRYLOCK held").status, "BUSY")
        self.holder.close()
        self.other.ok("PING")
        self.assertEqual(self.server.get("held"), "plain-client")

    def test_a_key_taken_just_before_its_release(self):
        self.prepare(lease=10)
        self.server.cmd("SET", "lock:held", "plain-client", "PX", "60000")
        self.holder.ask("UNLOCK held")
        self.assertEqual(self.holder.ok("LIST").body, [])
        let_time_pass(0.2)
        self.assertEqual(self.server.get("held"), "plain-client")

    def test_plain_clients_exclude_and_are_excluded(self):
        self.prepare()
        # redis-py, redsync and other libraries use exactly this.
        self.assertIsNone(self.server.cmd("SET", "lock:held", "v", "NX", "PX", "30000"))
        start = now()
        self.assertEqual(self.server.cmd("SET", "lock:theirs", "v", "NX", "PX", "1500"), "OK")
        self.assertEqual(self.other.ask("TRYLOCK theirs").status, "BUSY")
        status = self.other.ok("STATUS theirs")
        self.assertEqual(status["state"], "held")
        self.assertNotIn("broker", status.fields)
        self.assertNotIn("fence", status.fields)
        self.assertEqual(self.server.get("theirs"), "v")
        self.assertGreater(self.other.lock("theirs", timeout=10), 0)
        self.assertGreater(now() - start, 1.49)
        self.holder.ok("UNLOCK held")
        self.assertEqual(self.server.cmd("SET", "lock:held", "v", "NX", "PX", "30000"), "OK")

    def test_a_plain_key_without_time_to_live(self):
        self.prepare()
        self.server.cmd("SET", "lock:theirs", "v")
        self.assertEqual(self.other.ask("TRYLOCK theirs").status, "BUSY")
        self.other.send("LOCK theirs")
        self.assertTrue(self.other.silent(0.3))
        self.server.cmd("DEL", "lock:theirs")
        self.assertTrue(self.other.reply(10).ok)

    def test_a_plain_key_that_lives_for_ages(self):
        self.prepare()
        one = Resp(f"unix:{self.brokers[0].unix_path}")
        self.addCleanup(one.close)
        for ms in (2**53, 9 * 10**18, 2**63 - 1 - 2**42):
            self.server.cmd("SET", "lock:theirs", "v", "PX", ms)
            self.assertEqual(self.other.ask("TRYLOCK theirs").status, "BUSY", ms)
            self.assertEqual(self.other.ok("STATUS theirs")["state"], "held", ms)
            self.assertIsNone(one("SET", "theirs", "t", "NX", "PX", 1000), ms)
            self.assertEqual(one("GET", "theirs"), "v", ms)
            self.assertGreaterEqual(one("PTTL", "theirs"), 2**52, ms)
        self.assertEqual(self.brokers[0].log_lines("redis-link-down"), [])
        self.assertEqual(self.brokers[0].log_lines("redis-down"), [])

    def test_a_name_passes_on_to_who_came_while_redis_was_frozen(self):
        self.prepare(lease=10)
        third = self.client()
        self.server.freeze()
        for count, client in enumerate((self.other, third), 1):
            client.send("LOCK held")
            eventually(lambda: self.holder.ok("STATUS held")["waiters"] == str(count), 2,
                       "it waits")
        self.holder.ok("UNLOCK held")
        first = self.other.reply(2).fence
        self.assertGreater(first, self.fence)
        self.other.ok("UNLOCK held")
        self.assertGreater(third.reply(2).fence, first)
        self.server.thaw()

    def test_plain_keys_of_any_value(self):
        self.prepare()
        # The last two differ slightly from what a broker writes.
        for value in ("", "-", "@shared|x", "a.b.c|12", "b.0123456789abcde.1|12",
                      "b.0123456789abcdef.|12"):
            self.server.cmd("SET", "lock:theirs", value, "PX", "60000")
            self.assertEqual(self.other.ask("TRYLOCK theirs").status, "BUSY", value)
            status = self.other.ok("STATUS theirs")
            self.assertEqual(status["state"], "held", value)
            self.assertNotIn("broker", status.fields, value)
            self.assertNotIn("fence", status.fields, value)
        self.server.cmd("DEL", "lock:theirs")
        self.assertEqual(self.other.ok("STATUS theirs")["state"], "free")

    def test_a_plain_value_of_any_size(self):
        """Clients may look at it as often as they like; the link and the locks live on."""
        self.prepare()
        self.server.cmd("SET", "lock:theirs", "x" * 6000000, "PX", "60000")
        for _ in range(5):
            self.assertEqual(self.other.ok("STATUS theirs")["state"], "held")
        self.other.ok("WATCH theirs")
        self.assertEqual(self.other.event(kind="HELD").words[1], "theirs")
        self.assertEqual(self.brokers[0].log_lines("redis-link-down|redis-down"), [])
        self.not_lost()

    def test_script_flush(self):
        self.prepare()
        for _ in range(3):
            self.server.cmd("SCRIPT", "FLUSH")
            self.is_still_granting()
        self.server.cmd("SCRIPT", "FLUSH")
        let_time_pass(2 * LEASE)
        self.not_lost()
        self.server.cmd("SCRIPT", "FLUSH")
        self.holder.ok("UNLOCK held")
        self.assertIsNone(self.server.get("held"))

    def test_script_flush_under_many_requests(self):
        self.prepare()
        self.server.cmd("SCRIPT", "FLUSH")
        self.other.send(*[f"@{i} LOCK many-{i}" for i in range(300)])
        for i in range(300):
            self.assertTrue(self.other.reply(tag=str(i)).ok)

    def test_a_server_that_may_evict_locks_is_refused(self):
        for policy in ("allkeys-lru", "volatile-ttl"):
            with self.subTest(policy):
                server = self.redis(maxmemory="100mb", maxmemory_policy=policy)
                broker = self.broker(server, trust_new=True, ready=False)
                client = self.client(broker)
                reply = client.err("TRYLOCK x", "unavailable")
                eventually(lambda: broker.log_lines("maxmemory-policy"), 5, "a clear message")
                self.assertRegex(reply.text, "policy|evict")
                self.assertEqual(server.keys("lock:x"), [])
                server.config("maxmemory-policy", "noeviction")
                client.lock("x", timeout=15)

    def test_a_server_that_may_evict_locks_from_now_on(self):
        self.prepare(lease=10)
        self.server.config("maxmemory", "100mb")
        self.server.config("maxmemory-policy", "allkeys-lru")
        eventually(lambda: self.brokers[0].log_lines("allkeys-lru may evict locks"), 20,
                   "it is noticed")
        self.is_unavailable("policy|evict")
        self.server.config("maxmemory-policy", "noeviction")
        self.works_again(15)
        self.not_lost()

    def test_redis_has_no_place_for_us(self):
        """maxclients: the broker comes back when there is room."""
        server = self.redis(maxclients="4")
        crowd = [server.connect() for _ in range(3)]
        broker = self.broker(server, trust_new=True, ready=False)
        client = self.client(broker)
        client.err("LOCK x wait=500ms", "unavailable")
        for one in crowd:
            one.close()
        client.lock("x", timeout=15)

    def test_redis_has_a_place_for_some_of_us(self):
        """Connections that find no room try again and again; the log does not say so each time."""
        server = self.redis(maxclients="4")
        broker = self.broker(server, trust_new=True, ready=False, log={"level": "debug"},
                             redis={"connections": 8})
        self.client().lock("x", timeout=15)
        # Each of them has tried ten times by then.
        eventually(lambda: len(broker.log_lines("to=connecting")) > 8 * 10, 40, "it tries")
        self.assert_within(1, len(broker.log_lines("redis-link-down")), 8 * 4)

    def test_database_and_prefix(self):
        server = self.redis()
        self.broker(server, redis={"trust_new": True, "database": 3, "prefix": "app1:"})
        self.client().lock("x")
        self.assertEqual(server.keys(), [])
        server.cmd("SELECT", "3")
        self.assertIn("app1:x", server.keys())
        self.assertEqual([key for key in server.keys() if not key.startswith("app1:")], [])

    def test_attempts_to_connect_become_rare(self):
        """From 50 ms on each pause is twice the one before, or half of that."""
        server = self.redis(start=False)
        broker = self.broker(server, ready=False, log={"level": "debug"},
                             redis={"connections": 1})
        eventually(lambda: broker.log_lines("to=connecting"), 5, "it tries")
        let_time_pass(2)
        # Two connections, for calls and for messages: 50, 100, 200, 400, 800 ms of pause, if not
        # half of it, then 1 s to 2 s.
        self.assert_within(6, len(broker.log_lines("to=connecting")), 22)

    def test_no_redis_at_first(self):
        """The broker starts without Redis, says so, and grants when it comes."""
        server = self.redis(start=False)
        broker = self.broker(server, trust_new=True, ready=False)
        client, waiter = self.clients(2)
        client.ok("PING")
        self.assertEqual(client.stats()["redis_up"], "0")
        start = now()
        client.err("TRYLOCK x", "unavailable")
        self.assertLess(now() - start, patience(2.5), "longer than redis.reply_timeout")
        client.err("LOCK x wait=200ms", "unavailable")
        waiter.send("LOCK x")
        self.assertTrue(waiter.silent(0.2))
        server.start()
        self.assertTrue(waiter.reply(15).ok)
        self.assertEqual(client.stats()["redis_up"], "1")
        eventually(lambda: client.stats()["redis_nodes_subscribed"] == "1", what="it is heard")
        server.kill()
        eventually(lambda: client.stats()["redis_nodes_subscribed"] == "0", what="it is not")
        self.assert_within(1, len(broker.log_lines("(?i)refused|No such file|connect")), 6)
