"""Rights that are taken away while processes leave hold there, too."""

import hashlib
import os
import pwd
import signal

from lib.case import SystemTest
from lib.wait import eventually
from test_tls_clients import ClientsTest

HASH = "sha256:" + hashlib.sha256(b"secret").hexdigest()
OTHER = "sha256:" + hashlib.sha256(b"another").hexdigest()
ME = pwd.getpwuid(os.getuid()).pw_name
OPS = {"name": "ops", "hash": HASH, "admin": True}


def user(name="deploy", **more):
    return {"name": name, **{"hash": HASH, "lock": ["*"]}, **more}


class WithUsers(SystemTest):
    limit = 60

    def prepare(self, *users):
        self.b = self.broker(self.redis(), trust_new=True, ready=False,
                             auth={"users": [OPS, *users]})
        eventually(lambda: self.b.log_lines("guard-ready"), 10, "it grants")

    def known(self, name="deploy", secret="secret"):
        client = self.client(self.b)
        client.ok(f"AUTH {name} {secret}")
        return client

    def replace(self):
        control = self.known("ops")
        self.b.replaced_by(int(control.ok("REPLACE")["pid"]))
        control.close()

    def now(self, *users):
        """The file has these from now on."""
        self.b.write_config({"auth": {"users": [OPS, *users]}})

    def reload(self, *users):
        self.now(*users)
        self.b.signal(signal.SIGHUP)

    def heard(self, times=1):
        """Those that leave have read it that often."""
        eventually(lambda: len(self.b.log_lines("reloaded .*reread=auth,limits,log")) >= times, 10,
                   "it is read where they are")


class TakenAway(WithUsers):

    def test_whose_user_is_gone_is_closed_there_too(self):
        self.prepare(user(), user("stays"))
        gone, stays = self.known(), self.known("stays")
        gone.lock("held")
        stays.send("LOCK held")
        self.replace()
        self.reload(user("stays"))
        gone.event(kind="LEAVING")
        gone.expect_eof()
        self.assertTrue(stays.reply(15).ok)
        eventually(lambda: self.b.log_lines("reread=configuration"), 10, "here, too")
        self.client(self.b).err("AUTH deploy secret", "auth")

    def test_what_a_replacement_has_read_anew(self):
        self.prepare(user(), user("stays"))
        gone, stays = self.known(), self.known("stays")
        gone.lock("held")
        self.now(user("stays"))
        self.replace()
        gone.event(kind="LEAVING")
        gone.expect_eof()
        stays.ok("WHOAMI")

    def test_from_the_next_request_on(self):
        """Also in one that left before the last."""
        self.prepare(user(), user("other"), user("boss", admin=True))
        client, other, boss = self.known(), self.known("other"), self.known("boss")
        client.lock("held")
        self.replace()
        self.known("ops")  # stays, and so does its process
        self.replace()
        boss.ok("STATS")
        self.reload(user(deny=["secret"]), user("other", hash=OTHER), user("boss"))
        eventually(lambda: boss.ask("STATS").code == "denied", 10, "it is read where they are")
        client.err("LOCK secret", "denied")
        client.ok("UNLOCK held")
        other.event(kind="LEAVING")
        other.expect_eof()

    def test_a_reload_while_the_next_one_begins(self):
        """Which may have read the file before that."""
        self.prepare(user())
        control = self.known("ops")
        self.servers[0].freeze()
        before = len(self.b.log_lines(" starting "))
        control.send("REPLACE")
        eventually(lambda: len(self.b.log_lines(" starting ")) > before, 10, "it has read the file")
        self.reload()
        eventually(lambda: self.b.log_lines("reloaded "), 10, "the other one has read it")
        self.servers[0].thaw()
        self.b.replaced_by(int(control.reply(30)["pid"]))
        control.close()

        def refused():
            client = self.client(self.b)
            reply = client.ask("AUTH deploy secret", 20)
            client.close()
            return reply.code == "auth"
        eventually(refused, 20, "the user is gone")

    def test_only_what_all_share_is_read(self):
        """Another version may have settings that the process does not know."""
        self.prepare(user())
        client = self.known()
        self.replace()
        self.heard()
        old = self.b.replaced[0]
        self.now(user(lock=["a"]))
        with open(self.b.config_path, "a", encoding="ascii") as file:
            file.write("\nfuture:\n  setting: 1\n")
        old.signal(signal.SIGHUP)
        self.heard(2)
        client.err("LOCK b", "denied")
        client.lock("a")
        self.assertEqual(self.b.log_lines("reload-failed"), [])


class HandedOn(WithUsers):
    """How a client was found out goes with its connection, and is judged at each reload."""

    def resumed_in_the_next(self, connect):
        """A connection that came to a process that leaves now has a session of the new one."""
        client = connect()
        client.ok("WHOAMI")
        self.b.replaced_by(int(self.boss().ok("REPLACE")["pid"]))
        other = connect()
        key = other.ok("SESSION grace=1m")["key"]
        other.lock("kept")
        other.reset()
        client.ok(f"RESUME key={key}")
        return client

    def boss(self):
        return self.client(self.b)

    def judged(self, client, via, changed):
        self.assertEqual(client.ok("WHOAMI")["via"], via)
        self.b.write_config({"auth": {"users": changed}})
        self.b.signal(signal.SIGHUP)
        client.event(kind="LEAVING")
        client.expect_eof()

    def test_the_peer_of_a_unix_socket(self):
        local = {"name": "local", "unix": [ME], "admin": True, "lock": ["*"]}
        self.b = self.broker(self.redis(), trust_new=True, auth={"users": [local]})
        client = self.resumed_in_the_next(lambda: self.client(self.b))
        client.ok("STATS")
        self.judged(client, "unix", [dict(local, unix=["nobody"])])

    def test_one_who_has_said_a_password(self):
        self.prepare(user())
        client = self.known()
        self.replace()
        key = self.known().ok("SESSION grace=1m")["key"]
        client.ok(f"RESUME key={key}")
        self.judged(client, "password", [OPS, user(hash=OTHER)])


class ByCertificate(ClientsTest):
    def test_the_names_of_a_certificate(self):
        local = {"name": "local", "unix": [ME], "admin": True, "lock": ["*"]}
        deploy = {"name": "deploy", "certificate": ["CN=client"], "lock": ["*"]}
        self.b = self.tls_broker(self.redis(), {"client_ca": self.file("ca.crt"),
                                                "verify": "require"}, trust_new=True, auth={"users": [local, deploy]})
        client = HandedOn.resumed_in_the_next(self, lambda: self.tls("client"))
        HandedOn.judged(self, client, "certificate",
                        [local, dict(deploy, certificate=["CN=other"])])

    def boss(self):
        return self.client(self.b)
