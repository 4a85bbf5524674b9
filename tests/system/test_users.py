"""Who a client is, what that allows, and how passwords are compared."""

import hashlib
import os
import signal
import socket
import subprocess
import sys
import threading
import unittest

from lib.broker import find_program
from lib.case import SystemTest
from lib.wait import eventually, now, patience

SECRET = "c2VjcmV0LW1hZGUtYnktZ2VucGFzcy0yNTYtYml0cw"
HASH = "sha256:" + hashlib.sha256(SECRET.encode()).hexdigest()
# crypt(3) of "password": yescrypt, its cheapest; and one of some 20 ms.
CHEAP = "$y$j1T$saltsaltsalt$"
RIGHTS = {"lock": ["mine/*", "%u"], "watch": ["seen/*"], "deny": ["mine/not*"]}

# A request of each verb on names, and the right that it needs.
ON_NAMES = [
    ("LOCK {}", "lock"), ("TRYLOCK {}", "lock"), ("LOCK free {}", "lock"),
    ("UNLOCK {}", "lock"), ("EXTEND {} hold=5s", "lock"), ("SETVALUE {} value=v", "lock"),
    ("ACQUIRE {} limit=2 wait=0", "lock"), ("RELEASE {}", "lock"),
    ("LATCH {} count=1", "lock"), ("COUNTDOWN {}", "lock"), ("AWAIT {} wait=0", "lock"),
    ("BARRIER {} parties=2 wait=0", "lock"),
    ("STATUS {}", "watch"), ("QUEUE {}", "watch"), ("WATCH {}", "watch"),
    ("HISTORY {}", "watch"), ("WHY {}", "watch"),
]
# Verbs that every user may use, and those of administrators; BROKERS is also for those who may
# watch all names.
ALWAYS = ["SESSION", "VALID", "LIST", "NAMES", "PING", "READY", "VERSION", "HELP", "WHOAMI",
          "CANCEL x", "RESUME key=00", "LEAVING 00", "UNWATCH x"]
ADMIN = ["STATS", "UNLOCK-FORCE free", "DRILL free", "BROKERS"]
NOBODY = ["HELP", "VERSION", "PING", "READY"]


def crypt_of(password, salt=CHEAP):
    """crypt(3), by libcrypt."""
    import ctypes
    library = ctypes.CDLL("libcrypt.so.1")
    library.crypt.restype = ctypes.c_char_p
    return library.crypt(password.encode(), salt.encode()).decode()


def user(name, **more):
    return {"name": name, **more}


class Users(SystemTest):
    def prepare(self, *users, limits=None, **more):
        auth = {"users": list(users), **more}
        broker = self.broker(auth=auth, limits=limits or {}, ready=False)
        eventually(lambda: broker.log_lines("guard-ready"), 10, "it grants")
        return broker

    def known(self, name="deploy", secret=SECRET, **options):
        client = self.client(**options)
        self.assertEqual(client.ok(f"AUTH {name} {secret}")["user"], name)
        return client

    def told(self, request, client, allowed):
        reply = client.ask(request)
        self.assertEqual(reply.code not in ("denied", "auth"), allowed, f"{request}: {reply}")

    def check_table(self, client):
        for request, right in ON_NAMES:
            self.told(request.format("mine/x"), client, True)
            self.told(request.format("mine/not-this"), client, False)
            self.told(request.format("seen/x"), client, right == "watch")
            self.told(request.format("other"), client, False)
        for request in ALWAYS:
            self.told(request, client, True)
        for request in ADMIN:
            self.told(request, client, False)


class Rights(Users):
    """The table of rights, for each way to be a user."""

    def test_the_table_is_whole(self):
        self.broker()
        known = [line.split()[0] for line in self.client().ok("HELP").body]
        tested = [request.split()[0] for request, _ in ON_NAMES] + [
            request.split()[0] for request in [*ALWAYS, *ADMIN, "DRAIN", "REPLACE",
                                               "TAKEOVER"]]
        self.assertEqual(set(known), {*tested, "AUTH", "QUIT"})

    def test_by_password(self):
        self.prepare(user("deploy", hash=HASH, **dict(RIGHTS, lock=["mine/*", "free"])))
        client = self.known(tcp=True)
        self.assertEqual(client.ask("WHOAMI").text, "OK user=deploy via=password")
        self.check_table(client)

    def test_by_slow_password(self):
        self.prepare(user("deploy", hash=crypt_of("password"),
                          **dict(RIGHTS, lock=["mine/*", "free"])))
        self.check_table(self.known(secret="password"))

    def test_by_peer(self):
        import pwd
        me = pwd.getpwuid(os.getuid()).pw_name
        self.prepare(user("deploy", unix=[me], **dict(RIGHTS, lock=["mine/*", "free"])))
        client = self.client()
        self.assertEqual(client.ask("WHOAMI").text, "OK user=deploy via=unix")
        self.check_table(client)
        # The peer of a TCP connection is not known.
        self.client(tcp=True).err("WHOAMI", "auth")

    def test_by_being_anonymous(self):
        self.prepare(anonymous=dict(RIGHTS, lock=["mine/*", "free"]))
        client = self.client(tcp=True)
        self.assertEqual(client.ask("WHOAMI").text, "OK user=anonymous via=anonymous")
        self.check_table(client)

    def test_nobody(self):
        self.prepare(user("deploy", hash=HASH, **RIGHTS))
        client = self.client()
        for request in NOBODY:
            self.assertTrue(client.ask(request).ok, request)
        for request, _ in ON_NAMES:
            client.err(request.format("mine/x"), "auth")
        for request in ALWAYS:
            if request not in NOBODY:
                client.err(request, "auth")
        for request in ADMIN:
            client.err(request, "auth")
        client.ok("QUIT")

    def test_administrators(self):
        self.prepare(user("ops", hash=HASH, admin=True),
                     user("deploy", hash=crypt_of("password"), lock=["*"]))
        admin, holder = self.known("ops", tcp=True), self.known(secret="password")
        holder.ok("LOCK a")
        admin.ok("STATS")
        self.assertEqual(admin.ok("NAMES").body[0].split()[0], "a")
        admin.ok("QUEUE a")
        admin.err("LOCK a", "denied")
        admin.ok("UNLOCK-FORCE a")
        self.assertEqual(holder.event(kind="LOST")["reason"], "forced")

    def test_who_watches_all_may_see_the_brokers(self):
        self.prepare(user("ops", hash=HASH, admin=True), user("all", hash=HASH, watch=["*"]),
                     user("some", hash=HASH, watch=["a*"]))
        for name in ("ops", "all"):
            self.assertEqual(self.known(name).ok("BROKERS")["lines"], "1")
        self.known("some").err("BROKERS", "denied")

    def test_deny_binds_administrators_too(self):
        self.prepare(user("all", hash=HASH, lock=["*"]),
                     user("ops", hash=HASH, admin=True, deny=["secret/*"]))
        holder, admin = self.known("all"), self.known("ops")
        holder.ok("LOCK secret/x")
        holder.ok("LOCK seen")
        self.assertEqual([line.split()[0] for line in admin.ok("NAMES").body], ["seen"])
        admin.err("STATUS secret/x", "denied")

    def test_names_that_may_not_be_seen_are_left_out(self):
        self.prepare(user("all", hash=HASH, lock=["*"]),
                     user("deploy", hash=crypt_of("password"), watch=["seen/*"]))
        holder, watcher = self.known("all"), self.known(secret="password")
        for name in ("a", "b", "seen/x", "c"):
            holder.ok(f"LOCK {name}")
        self.assertEqual([line.split()[0] for line in watcher.ok("NAMES limit=1").body],
                         ["seen/x"])
        self.assertEqual(len(holder.ok("NAMES").body), 4)

    def test_a_circle_does_not_tell_of_them(self):
        self.prepare(user("deploy", hash=HASH, lock=["a*", "b*"]),
                     user("other", hash=HASH, lock=["b*", "c*"]),
                     user("third", hash=HASH, lock=["c*", "a*"]),
                     user("all", hash=HASH, lock=["*"]))
        for name, told in (("deploy", "sessions would deadlock"),
                           ("all", "sessions would deadlock: a -> b -> c -> a")):
            asker, other, third = (self.known(user) for user in (name, "other", "third"))
            asker.ok("LOCK a")
            other.ok("LOCK b")
            third.ok("LOCK c")
            other.send("LOCK c")
            third.send("LOCK a")
            for waited in ("c", "a"):
                eventually(lambda: self.known("all").ok(f"STATUS {waited}")["waiters"] == "1")
            self.assertEqual(asker.ask("LOCK b").text, f"ERR deadlock {told}")
            for client in (asker, other, third):
                client.close()

    def test_the_users_own_names(self):
        self.prepare(user("deploy", hash=HASH, lock=["home/%u/*"]))
        client = self.known()
        client.ok("LOCK home/deploy/x")
        client.err("LOCK home/ops/x", "denied")

    def test_a_denied_name_is_denied_whether_it_is_there_or_not(self):
        self.prepare(user("all", hash=HASH, lock=["*"]),
                     user("deploy", hash=crypt_of("password"), lock=["mine/*"]))
        client = self.known(secret="password")
        before = client.ask("STATUS x").text
        self.known("all").ok("LOCK x")
        self.assertEqual(client.ask("STATUS x").text, before)

    def test_a_session_is_resumed_by_its_user_alone(self):
        self.prepare(user("deploy", hash=HASH, lock=["*"]),
                     user("ops", hash=HASH, lock=["*"]))
        owner = self.known()
        key = owner.ok("SESSION grace=30s")["key"]
        owner.ok("LOCK x")
        owner.close()
        self.known("ops").err(f"RESUME key={key}", "not-found")
        again = self.known()
        again.ok(f"RESUME key={key}")
        self.assertEqual(len(again.ok("LIST").body), 1)


@unittest.skipUnless(os.getuid() == 0, "only root can be others")
class Peers(Users):
    """Users and groups of the host, other than root."""

    def ask_as(self, uid, gid, groups):
        """What WHOAMI answers to a client with these ids."""
        def become():
            os.setgroups(groups)
            os.setgid(gid)
            os.setuid(uid)
        code = ("import socket,sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); "
                "s.sendall(b'WHOAMI\\n'); print(s.makefile().readline().strip())")
        os.chmod(self.directory, 0o755)
        os.chmod(os.path.dirname(self.brokers[0].unix_path), 0o755)
        return subprocess.run([sys.executable, "-c", code, self.brokers[0].unix_path],
                              preexec_fn=become, stdout=subprocess.PIPE, text=True,
                              check=True, timeout=20).stdout.strip()

    def test_users_and_groups(self):
        import grp
        import pwd
        daemon, sys_group = pwd.getpwnam("daemon"), grp.getgrnam("sys").gr_gid
        self.broker(listen=[{"unix": os.path.join(self.directory, "b1", "s"), "mode": "0666"}],
                    auth={"users": [user("one", unix=["daemon"]), user("many", unix=["%sys"])]},
                    ready=False)
        self.assertEqual(self.ask_as(daemon.pw_uid, 65534, []), "OK user=one via=unix")
        self.assertEqual(self.ask_as(65534, sys_group, []), "OK user=many via=unix")
        self.assertEqual(self.ask_as(65534, 65534, [12345, sys_group]), "OK user=many via=unix")
        self.assertIn("ERR auth", self.ask_as(65534, 65534, [12345]))
        self.assertIn("ERR auth", self.ask_as(0, 0, []))


class Passwords(Users):
    def test_wrong_ones_take_alike_long(self):
        self.prepare(user("deploy", hash=HASH), user("slow", hash=crypt_of("password")),
                     user("unixed", unix=["root"]))
        texts = set()
        for name, password in (("deploy", "wrong"), ("slow", "wrong"), ("unknown", "wrong"),
                               ("unixed", "wrong"), ("anonymous", "x"), ("deploy", SECRET[:-1])):
            client, start = self.client(tcp=True), now()
            texts.add(client.err(f"AUTH {name} {password}", "auth").text)
            self.assert_within(1, now() - start, patience(1.5, start), name)
        self.assertEqual(len(texts), 1, texts)

    def test_one_password_is_good_for_one_user(self):
        """A user without a password is compared with another's hash, which then must not count."""
        self.prepare(user("slow", hash=crypt_of("password"), lock=["a"]),
                     user("ops", unix=["root"], admin=True),
                     user("certified", certificate=["CN=x"], lock=["*"]),
                     anonymous={"lock": ["b"]})
        for name in ("ops", "certified", "anonymous", "nobody"):
            client = self.client(tcp=True)
            client.err(f"AUTH {name} password", "auth")
            self.assertEqual(client.ok("WHOAMI")["user"], "anonymous")
        self.known("slow", "password")
        self.client(tcp=True).err("AUTH ops password", "auth")

    def test_nothing_is_taken_while_it_is_compared(self):
        self.prepare(user("slow", hash=crypt_of("password", "$y$j9T$saltsaltsalt$"),
                          lock=["*"]), anonymous={"lock": ["b"]})
        client = self.client(tcp=True)
        client.send("@a AUTH slow password", "LOCK b")
        self.assertTrue(client.reply().ok)
        self.assertEqual(client.reply(tag="a").code, "bad-request")
        self.assertEqual(client.ok("WHOAMI")["user"], "anonymous")
        client.ok("UNLOCK b")
        client.ok("AUTH slow password")

    def test_what_came_behind_waits_for_it(self):
        self.prepare(user("deploy", hash=crypt_of("password"), lock=["*"]))
        client = self.client()
        client.send("AUTH deploy password", "LOCK x", "AUTH deploy password")
        self.assertTrue(client.reply().ok)
        self.assertTrue(client.reply().ok)
        self.assertEqual(client.reply().code, "bad-request")

    def test_one_at_a_time(self):
        self.prepare(user("deploy", hash=HASH, lock=["*"]))
        client = self.client()
        client.send("@a AUTH deploy wrong", "@b AUTH deploy " + SECRET)
        self.assertEqual(client.reply(tag="b").code, "bad-request")
        self.assertEqual(client.reply(tag="a").code, "auth")
        client.ok("AUTH deploy " + SECRET)

    def test_not_while_something_is_held_or_waited_for(self):
        self.prepare(user("deploy", hash=HASH, lock=["*"]), anonymous={"lock": ["*"]})
        holder, waiter = self.clients(2)
        holder.ok("LOCK x")
        holder.err("AUTH deploy " + SECRET, "bad-request")
        waiter.send("@w LOCK x")
        eventually(lambda: "waiters=1" in holder.ask("STATUS x").text, 5, "it waits")
        waiter.err("AUTH deploy " + SECRET, "bad-request")
        holder.ok("UNLOCK x")
        self.assertTrue(waiter.reply(tag="w").ok)
        holder.ok("AUTH deploy " + SECRET)

    def test_the_crowd_is_bounded_and_locks_do_not_wait_for_it(self):
        slow = crypt_of("password", "$y$j9T$saltsaltsalt$")
        self.prepare(user("slow", hash=slow), user("deploy", hash=HASH, lock=["*"]))
        quick = self.known()
        crowd = self.clients(150)
        for client in crowd:
            client.send("AUTH slow wrong")
        start = now()
        for _ in range(50):
            quick.ok("LOCK x")
            quick.ok("UNLOCK x")
        self.assertLess(now() - start, patience(1, start))
        codes = [client.reply(30).code for client in crowd]
        self.assertEqual(set(codes), {"auth", "limit"})
        self.assertGreaterEqual(codes.count("auth"), 64)

    def test_a_crowd_does_not_help_to_tell_users_apart(self):
        """While the queue is full, every wrong password has the same answer."""
        slow = crypt_of("password", "$y$j9T$saltsaltsalt$")
        self.prepare(user("slow", hash=slow), user("deploy", hash=HASH, lock=["*"]))
        crowd = self.clients(100)
        for client in crowd:
            client.send("AUTH slow wrong")
        codes = set()
        for name in ("deploy", "slow", "nobody"):
            codes.add(self.client().ask(f"AUTH {name} wrong", 30).code)
        self.assertEqual(codes, {"limit"})
        self.known()

    def test_a_client_that_goes_meanwhile(self):
        self.prepare(user("slow", hash=crypt_of("password")), user("deploy", hash=HASH))
        for _ in range(5):
            client = self.client()
            client.send("AUTH slow password")
            client.reset()
            client = self.client()
            client.send("AUTH deploy wrong")
            client.reset()
        self.known()

    def test_no_secret_is_told(self):
        password = "a-password-nobody-guesses"
        broker = self.prepare(user("deploy", hash=crypt_of(password)), user("ops", hash=HASH))
        client = self.client()
        client.ok(f"AUTH deploy {password}")
        self.client().err("AUTH deploy wrong-password-here", "auth")
        shown = subprocess.run([find_program(), "-c", broker.config_path, "-T"],
                               stdout=subprocess.PIPE, text=True, check=True).stdout
        self.assertIn("********", shown)
        for text in (broker.log(), shown):
            for secret in (password, "wrong-password-here", crypt_of(password), HASH[7:]):
                self.assertNotIn(secret, text)
        failures = broker.log_lines("auth-failed")
        self.assertEqual(len(failures), 1)
        self.assertIn("user=deploy", failures[0])

    def test_the_log_is_not_flooded(self):
        broker = self.prepare(user("deploy", hash=HASH, lock=["mine"]))
        client = self.known()
        start = now()
        for _ in range(500):
            client.err("LOCK other", "denied")
        self.assertLessEqual(len(broker.log_lines("request-denied")), 2 + now() - start)
        admin = self.broker(name="c2", auth={"users": [user("ops", hash=HASH, admin=True)]},
                            ready=False)
        watcher = self.client(admin)
        watcher.ok("AUTH ops " + SECRET)
        self.assertEqual(watcher.stats()["auth_ok_total"], "1")


class UnderFire(Users):
    """One host tries passwords without end; a client of another one logs in all the same."""

    GUESSES = 90

    def guesser(self):
        sock = socket.socket()
        self.addCleanup(sock.close)
        sock.bind(("127.0.0.2", 0))
        sock.connect(("127.0.0.1", self.brokers[0].port))
        return sock

    def guess(self, sock):
        """Ask again as soon as the last guess is refused."""
        with sock, sock.makefile("rb") as answers:
            try:
                while not self.over.is_set():
                    sock.sendall(b"AUTH deploy wrong\r\n")
                    if not answers.readline():
                        return
            except OSError:
                pass

    def test_who_knows_the_password_gets_in(self):
        self.prepare(user("deploy", hash=crypt_of("password", "$y$j9T$saltsaltsalt$"),
                          lock=["*"]))
        self.over = threading.Event()
        threads = [threading.Thread(target=self.guess, args=(self.guesser(),))
                   for _ in range(self.GUESSES)]
        for thread in threads:
            thread.start()
        try:
            # A password that was right is remembered, a wrong one is compared each time.
            for secret, answer in (("bad", "ERR auth"), ("worse", "ERR auth"), ("password", "OK")):
                start = now()
                reply = self.client(tcp=True).ask(f"AUTH deploy {secret}")
                self.assertTrue(reply.text.startswith(answer), reply)
                self.assertLess(now() - start, patience(3))
        finally:
            self.over.set()
            for thread in threads:
                thread.join()


class Reload(Users):
    def reload(self, *users, **more):
        broker = self.brokers[0]
        broker.settings["auth"] = {"users": list(users), **more}
        broker.write_config()
        count = len(broker.log_lines("reloaded"))
        broker.signal(signal.SIGHUP)
        eventually(lambda: len(broker.log_lines("reloaded")) > count, 5, "it has reloaded")

    def test_rights_hold_from_the_next_request_on(self):
        self.prepare(user("deploy", hash=HASH, lock=["*"]))
        client = self.known()
        client.ok("LOCK a")
        client.ok("ACQUIRE s limit=2")
        self.reload(user("deploy", hash=HASH, lock=["b"]))
        client.err("LOCK a", "denied")
        client.err("EXTEND a hold=5s", "denied")
        client.ok("LOCK b")
        client.ok("UNLOCK a")
        client.ok("RELEASE s")
        client.err("UNLOCK a", "denied")
        client.err("RELEASE s", "denied")

    def left_behind(self):
        """The key of a session that is away, of a broker without users."""
        self.broker()
        client = self.client(tcp=True)
        key = client.ok("SESSION grace=1m")["key"]
        client.lock("x")
        client.reset()
        return key

    def test_a_session_of_before_there_were_users_is_of_who_has_its_key(self):
        key = self.left_behind()
        self.reload(user("deploy", hash=HASH, lock=["*"]))
        self.assertEqual(self.known().ok(f"RESUME key={key}")["locks"], "1")

    def test_the_same_where_the_replacement_has_users(self):
        key = self.left_behind()
        broker = self.brokers[0]
        broker.settings["auth"] = {"users": [user("deploy", hash=HASH, lock=["*"])]}
        broker.write_config()
        broker.replace()
        # The process that leaves has read them, too.
        eventually(lambda: broker.log_lines("reloaded .* reread=auth"), 10)
        self.assertEqual(self.known().ok(f"RESUME key={key}")["locks"], "1")

    def test_those_whose_user_is_gone_are_closed(self):
        self.prepare(user("deploy", hash=HASH, lock=["*"]), user("ops", hash=HASH, lock=["*"]))
        gone, stays = self.known(), self.known("ops")
        gone.ok("LOCK x")
        stays.send("LOCK x")
        self.reload(user("ops", hash=HASH, lock=["*"]))
        gone.expect_eof()
        self.assertTrue(stays.reply(15).ok)

    def test_watches_hear_nothing_without_the_right(self):
        self.prepare(user("deploy", hash=HASH, watch=["a", "b"]),
                     user("ops", hash=HASH, lock=["*"]))
        watcher, holder = self.known(), self.known("ops")
        for name in ("a", "b"):
            watcher.ok(f"WATCH {name}")
            self.assertEqual(watcher.event(kind="FREE").text.split()[1], name)
        self.reload(user("deploy", hash=HASH, watch=["b"]), user("ops", hash=HASH, lock=["*"]))
        for name in ("a", "b"):
            holder.ok(f"LOCK {name}")
        # The first that it hears is about the second.
        self.assertEqual(watcher.event(kind="HELD").text.split()[1], "b")
        watcher.err("STATUS a", "denied")

    def test_another_password_closes(self):
        other = "sha256:" + hashlib.sha256(b"x" * 43).hexdigest()
        self.prepare(user("deploy", hash=HASH, lock=["*"]), user("ops", hash=HASH, lock=["*"]))
        gone, stays = self.known(), self.known("ops")
        self.reload(user("deploy", hash=other, lock=["*"]), user("ops", hash=HASH, lock=["*"]))
        gone.expect_eof()
        stays.ok("LOCK x")
        self.known(secret="x" * 43)

    def test_a_peer_who_would_be_nobody_is_closed(self):
        import pwd
        me = pwd.getpwuid(os.getuid()).pw_name
        # The user stays, and has its password.
        self.prepare(user("ops", hash=HASH, unix=[me], admin=True))
        gone, stays = self.client(), self.known("ops")
        self.assertEqual(gone.ask("WHOAMI").text, "OK user=ops via=unix")
        self.reload(user("ops", hash=HASH, admin=True))
        gone.expect_eof()
        stays.ok("STATS")

    def test_clients_that_come_and_go_meanwhile(self):
        broker = self.prepare(user("deploy", hash=HASH, lock=["*"]))
        over = threading.Event()

        def come_and_go():
            while not over.is_set():
                crowd = [socket.socket(socket.AF_UNIX) for _ in range(8)]
                for s in crowd:
                    s.connect(broker.unix_path)
                for s in crowd:
                    s.close()

        thread = threading.Thread(target=come_and_go)
        thread.start()
        try:
            for name in ["a", "b"] * 20:
                self.reload(user("deploy", hash=HASH, lock=[name]))
        finally:
            over.set()
            thread.join()
        self.known().ok("LOCK b")

    def test_a_bad_file_leaves_all_as_it_was(self):
        broker = self.prepare(user("deploy", hash=HASH, lock=["*"]))
        client = self.known()
        path = os.path.join(broker.directory, "users")
        with open(path, "w", encoding="ascii") as file:
            file.write("ops:nonsense\n")
        broker.settings["auth"] = {"users_file": path}
        broker.write_config()
        broker.signal(signal.SIGHUP)
        eventually(lambda: broker.log_lines("reload-failed"), 5, "it says so")
        self.assertIn(f"{path}:1:", broker.log_lines("reload-failed")[0])
        client.ok("LOCK x")
        self.known()

    def test_the_file_of_users_is_read_again(self):
        path = os.path.join(self.directory, "users")
        def write(*lines):
            with open(path, "w", encoding="ascii") as file:
                file.write("".join(line + "\n" for line in lines))
        write("# who", f"deploy:{HASH}")
        users = [user("deploy", lock=["*"]), user("ops", lock=["*"])]
        self.prepare(*users, users_file=path)
        self.known()
        self.client().err("AUTH ops password", "auth")
        write(f"ops:{crypt_of('password')}")
        self.reload(*users, users_file=path)
        self.known("ops", "password")
        self.client().err("AUTH deploy " + SECRET, "auth")

    def test_from_no_users_and_back(self):
        broker = self.broker()
        client = self.client(tcp=True)
        client.ok("LOCK x")
        self.reload(user("deploy", hash=HASH, lock=["*"]))
        client.err("LOCK y", "auth")
        client.ok("UNLOCK x")
        client.ok("AUTH deploy " + SECRET)
        client.ok("LOCK y")
        del broker.settings["auth"]
        broker.write_config()
        broker.signal(signal.SIGHUP)
        eventually(lambda: len(broker.log_lines("reloaded")) == 2, 5, "it has reloaded")
        self.assertEqual(client.ask("WHOAMI").text, "OK user=-")
        client.ok("UNLOCK y")


class Command(Users):
    """`lockbroker` as a user."""

    def run_it(self, *argv, **env):
        path = find_program("lockbroker")
        done = subprocess.run([path, "-S", self.brokers[0].unix_path, *argv],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=30, env=self.brokers[0].environment(**env))
        return done.returncode, done.stdout, done.stderr

    def run_it_alone(self, *argv):
        done = subprocess.run([find_program("lockbroker"), *argv], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=30)
        return done.returncode, done.stdout, done.stderr

    def password_file(self, text=SECRET + "\n"):
        path = os.path.join(self.directory, "password")
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        return path

    def prepare_one(self):
        self.prepare(user("deploy", hash=HASH, lock=["deploy"]))
        return self.password_file()

    def test_run(self):
        path = self.prepare_one()
        options = ("--user", "deploy", "--password-file", path)
        self.assertEqual(self.run_it(*options, "run", "deploy", "--", "true")[0], 0)
        self.assertEqual(self.run_it(*options, "status", "deploy")[0], 0)
        self.assertEqual(self.run_it(*options, "run", "other", "--", "true")[0], 77)
        status, _, err = self.run_it("run", "deploy", "--", "true")
        self.assertEqual(status, 77)
        self.assertIn("(give --user and --password-file)", err)
        self.assertNotIn("give --user", self.run_it(*options, "run", "other", "--", "true")[2])
        self.assertEqual(self.run_it("send", "WHOAMI", LOCKBROKER_USER="deploy",
                                     LOCKBROKER_PASSWORD_FILE=path)[1],
                         "OK user=deploy via=password\n")

    def test_a_wrong_password_is_told_and_not_tried_again(self):
        self.prepare_one()
        path = self.password_file("wrong\n")
        start = now()
        status, _, err = self.run_it("--user", "deploy", "--password-file", path,
                                     "run", "-w", "20s", "deploy", "--", "true")
        self.assertEqual(status, 77)
        self.assertIn("ERR auth", err)
        self.assertLess(now() - start, patience(5, start))

    def test_genpass_makes_what_the_broker_takes(self):
        status, out, _ = self.run_it_alone("genpass", "deploy")
        self.assertEqual(status, 0)
        secret, line = out.splitlines()
        self.assertGreaterEqual(len(secret), 43)
        users = os.path.join(self.directory, "users")
        with open(users, "w", encoding="ascii") as file:
            file.write(line + "\n")
        self.prepare(user("deploy", lock=["*"]), users_file=users)
        self.known(secret=secret)
        self.assertNotEqual(self.run_it_alone("genpass", "deploy")[1], out)
        self.assertEqual(self.run_it_alone("genpass", "a b")[0], 64)

    def test_acl_tells_what_would_be_allowed_and_why(self):
        broker = self.prepare(user("deploy", hash=HASH, **RIGHTS),
                              user("ops", unix=["root"], admin=True),
                              anonymous={"lock": ["public/*"]})
        for words, answer in (
                ("deploy LOCK mine/x", 'allowed: lock "mine/*"'),
                ("deploy lock mine/not-this", 'denied: deny "mine/not*"'),
                ("deploy STATUS seen/x", 'allowed: watch "seen/*"'),
                ("deploy LOCK seen/x", "denied: no pattern matches"),
                ("deploy LOCK deploy", 'allowed: lock "%u"'),
                ("deploy STATS", "denied: is not an administrator"),
                ("ops UNLOCK-FORCE x", "allowed: admin"),
                ("anonymous LOCK public/x", 'allowed: lock "public/*"'),
                ("- LOCK public/x", "denied: is not logged in"),
                ("- PING", "allowed: everybody may"),
                ("deploy LIST", "allowed: every user has this right")):
            status, out, _ = self.run_it_alone("acl", "--config", broker.config_path,
                                               *words.split())
            self.assertEqual((out, status), (answer + "\n", 77 if "denied" in answer else 0))
        for words in ("nobody LOCK x", "deploy FROB x", "deploy LOCK"):
            status, out, err = self.run_it_alone("acl", "--config", broker.config_path,
                                                 *words.split())
            self.assertEqual((status, out), (2, ""), words)
            self.assertIn("--acl", err)

    def test_users_that_nobody_can_be_are_told(self):
        broker = self.prepare(user("deploy", lock=["*"]))
        done = subprocess.run([find_program(), "-t", "-c", broker.config_path],
                              stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 0)
        self.assertIn("no client can log in as deploy", done.stderr)

    def test_what_is_said_wrong(self):
        path = self.prepare_one()
        empty = os.path.join(self.directory, "empty")
        open(empty, "w", encoding="ascii").close()
        for argv, word in (
                (("--user", "deploy", "ping"), "--password-file"),
                (("--password-file", path, "ping"), "--user"),
                (("--user", "deploy", "--password-file", empty, "ping"), "(empty, or has a space)"),
                (("--user", "deploy", "--password-file", "/none", "ping"), "/none"),
                (("--user", "deploy", "--password", SECRET, "ping"), "into a file"),
                (("send", "AUTH", "deploy", SECRET), "--password-file")):
            status, _, err = self.run_it(*argv)
            self.assertEqual(status, 64, argv)
            self.assertIn(word, err)
            self.assertNotIn(SECRET, err)


if __name__ == "__main__":
    unittest.main()
