"""Clients that have not logged in: what they may use up; and what is left of a password."""

import os
import shutil
import subprocess
import unittest

from lib.broker import find_program
from lib.wait import eventually, let_time_pass, now, patience
from test_tls_clients import ClientsTest
from test_users import HASH, SECRET, Users, crypt_of, user


class Strangers(Users):
    def test_they_have_ten_seconds(self):
        """Not so clients that have logged in, or that came when nobody had to."""
        broker = self.broker()
        held = self.client(tcp=True)
        held.ok("LOCK x")
        broker.write_config({"auth": {"users": [user("deploy", hash=HASH, lock=["*"])]}})
        broker.signal(1)
        eventually(lambda: broker.log_lines("reloaded"))
        begun = now()
        silent, talking, known = self.clients(3, tcp=True)
        known.ok(f"AUTH deploy {SECRET}")
        while not talking.eof:
            talking.send("PING")
            talking.pump(0.2)
            self.assertLess(now() - begun, patience(12, begun))
        self.assertGreater(now() - begun, 9.9)
        self.assertEqual(talking.replies[-1].code, "auth")
        self.assertEqual(silent.reply().code, "auth")
        silent.expect_eof()
        known.ok("LOCK y")
        held.ok("UNLOCK x")
        self.assertEqual(len(broker.log_lines("client-stranger")), 1)

    def test_a_first_line_is_wanted_sooner(self):
        broker = self.broker(limits={"first_line": "300ms"}, ready=False,
                             auth={"users": [user("deploy", hash=HASH, lock=["*"])]})
        silent, talking = self.clients(2)
        talking.ok("PING")
        silent.expect_eof(5)
        eventually(lambda: broker.log_lines("client-silent"))
        let_time_pass(0.5)
        talking.ok(f"AUTH deploy {SECRET}")

    def test_they_make_room(self):
        """A client gets in even though strangers have taken all places, but never takes a user's
        place."""
        self.broker(limits={"clients": 5}, ready=False,
                    auth={"users": [user("deploy", hash=HASH, lock=["*"])]})
        users = []
        for place in range(5):
            crowd = self.clients(20, tcp=True)
            mine = self.client(tcp=True)
            mine.ok(f"AUTH deploy {SECRET}")
            users.append(mine)
            for stranger in crowd:
                stranger.pump(0)
        late = self.client(tcp=True)
        self.assertEqual(late.reply().code, "limit")
        for number, mine in enumerate(users):
            mine.ok(f"LOCK n{number}")

    def test_what_is_sent_before_auth_is_bounded(self):
        """Thousands of lines before any login: they are handled one at a time, and few are kept."""
        broker = self.broker(start=False, auth={"users": [user("deploy", hash=HASH)]})
        # A sanitizer keeps what was freed: else it would count how many lines were handled, and
        # not how many are kept.
        broker.start(env={"ASAN_OPTIONS": os.environ["ASAN_OPTIONS"] + ":quarantine_size_mb=1"})
        before = broker.process.rss_bytes()
        crowd = self.clients(50, tcp=True)
        for stranger in crowd:
            stranger.sock.setblocking(False)
            try:
                for _ in range(50):
                    stranger.sock.send(b"HELP\n" * 20000)
            except BlockingIOError:
                pass
        # The last of them is beyond what the kernel has room for.
        worst = 0.0
        for _ in range(50):
            began = now()
            self.client().ok("PING")
            worst = max(worst, now() - began)
        self.assertLess(worst, patience(0.5))
        self.assertLess(broker.process.rss_bytes() - before, 8 << 20)


class Memory(ClientsTest):
    """Nothing of a password is left in a process once it has been checked."""

    @staticmethod
    def writable(pid):
        """The content of its memory, one mapping at a time."""
        with open(f"/proc/{pid}/maps", encoding="ascii") as maps:
            rows = [line.split() for line in maps]
        with open(f"/proc/{pid}/mem", "rb", 0) as mem:
            for span, rights, *_ in rows:
                if "w" not in rights:
                    continue
                low, high = (int(end, 16) for end in span.split("-"))
                # A sanitizer has terabytes, with next to nothing in them.
                if high - low > 1 << 30:
                    continue
                mem.seek(low)
                try:
                    yield mem.read(high - low)
                except OSError:
                    pass

    def assert_forgotten(self, pid, *secrets):
        for part in self.writable(pid):
            for secret in secrets:
                at = part.find(secret.encode())
                self.assertEqual(at, -1, f"{secret}: {part[max(0, at - 80):at + 80]}")

    def ask_in_pieces(self, client, *pieces):
        """One request, in several reads."""
        for piece in pieces:
            client.send_raw(piece.encode())
            let_time_pass(0.05)
        return client.reply(5)

    @staticmethod
    def over_resp(client, words, answer):
        """The same, as a client of Redis says it."""
        client.send_raw(f"*{len(words)}\r\n".encode() + b"".join(
            f"${len(word)}\r\n{word}\r\n".encode() for word in words))
        client.sock.settimeout(10)
        said = client.sock.recv(4096)
        assert said.startswith(answer), said

    def everything(self, connect):
        """Right and wrong passwords of both kinds, whole, in pieces, and among other lines."""
        one = connect()
        self.assertTrue(one.ok(f"AUTH cheap {SECRET}"))
        one.ok("LOCK x" + "y" * 100)
        self.assertTrue(connect().ok("AUTH slow right-and-slow-1234"))
        self.assertEqual(connect().ask("AUTH slow wrong-and-slow-1234").code, "auth")
        self.assertEqual(connect().ask("AUTH cheap wrong-and-cheap-1234").code, "auth")
        self.assertEqual(connect().ask("AUTH nobody wrong-and-nobody-1234").code, "auth")
        self.assertEqual(connect().ask("AUTH cheap faulty-1234 word").code, "bad-request")
        self.assertEqual(self.ask_in_pieces(connect(), "AUTH cheap in-several-1234-",
                                            "pieces-1234-" + "p" * 100, "-last-1234\n").code,
                         "auth")
        behind = connect()
        behind.send(*["PING"] * 30, "AUTH cheap behind-others-1234", *["PING"] * 30)
        eventually(lambda: behind.pump(0.1) is not None and len(behind.replies) == 61, 10)
        self.over_resp(connect(), ["AUTH", "cheap", "resp-wrong-1234"], b"-WRONGPASS")
        self.over_resp(connect(), ["HELLO", "3", "AUTH", "slow", "hello-wrong-1234"],
                       b"-WRONGPASS")
        self.over_resp(connect(), ["HELLO", "3", "AUTH", "slow", "right-and-slow-1234"], b"%")
        self.over_resp(connect(), ["AUTH", "alone-1234"], b"-")
        connect().send_raw(b"AUTH cheap without-an-end-1234")
        gone = connect()
        gone.send("AUTH slow gone-meanwhile-1234")
        gone.close()
        return (SECRET, "right-and-slow-1234", "wrong-and-slow-1234", "wrong-and-cheap-1234",
                "wrong-and-nobody-1234", "faulty-1234", "in-several-1234", "pieces-1234",
                "-last-1234", "resp-wrong-1234", "hello-wrong-1234", "alone-1234", "behind-others-1234", "gone-meanwhile-1234")

    users = {"users": [user("cheap", hash=HASH, lock=["*"]),
                       user("slow", hash=crypt_of("right-and-slow-1234"))]}

    def check(self, pids, secrets):
        # A right password is remembered by a digest; a wrong one for a second.
        let_time_pass(0.1)
        for pid in pids:
            self.assert_forgotten(pid, *secrets)

    @unittest.skipUnless(os.getuid() == 0, "only root may look into the memory of others")
    def test_of_the_broker(self):
        broker = self.broker(auth=self.users, ready=False)
        secrets = self.everything(lambda: self.client(tcp=True))
        self.check([broker.pid], secrets)

    @unittest.skipUnless(os.getuid() == 0, "only root may look into the memory of others")
    def test_of_the_process_that_speaks_tls(self):
        broker = self.tls_broker(auth=self.users, ready=False)
        secrets = self.everything(self.tls)
        self.check([broker.pid, self.tls_pid(broker)], secrets)

    @unittest.skipUnless(os.getuid() == 0, "only root can be others")
    def test_there_is_no_core(self):
        """Hashes, and the password for Redis, stay in memory for good."""
        def become():
            os.setgid(65534)
            os.setuid(65534)

        def look(broker):
            """Whether others of the same user may look into it."""
            done = subprocess.run(["cat", f"/proc/{broker.pid}/environ"], preexec_fn=become,
                                  capture_output=True, check=False, timeout=20)
            return done.returncode == 0

        os.chmod(self.directory, 0o777)
        # The tree may lie where only root may enter.
        program = shutil.copy(find_program(), self.directory)
        server = self.redis(requirepass="secret")
        for name, open_to_others, settings in (
                ("b1", False, {"auth": self.users}),
                ("b2", False, {"redis": {"password": "secret", "trust_new": True}}),
                ("b3", True, {})):
            broker = self.broker(server if name == "b2" else None, name=name, start=False,
                                 **settings)
            os.chmod(broker.directory, 0o777)
            broker.start(preexec=become, argv=[program, "-c", broker.config_path])
            self.assertEqual(look(broker), open_to_others, name)
            with open(f"/proc/{broker.pid}/limits", encoding="ascii") as limits:
                core = next(line.split()[4] for line in limits if "core" in line)
            if not open_to_others:
                self.assertEqual(core, "0")
