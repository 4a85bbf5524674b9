"""`lockbrokerd --take-over`: a process that somebody else has started takes a broker's place."""

import os
import random
import shutil
import signal
import subprocess
import time
import unittest

from lib import http
from lib.broker import find_program
from lib.case import SystemTest
from lib.client import Client
from lib.clock import Clock
from lib.ports import free_port
from lib.proc import Process
from lib.wait import eventually
from test_replace_asked import at_leaver, leavers
import test_replace_load
from test_replace_users import HASH, ME

OVER = "takes-over from="


def comer(b, *options, program=None, preexec=None, argv=(), env=None):
    """A process that asks for the place of the broker."""
    return Process([*argv, program or find_program(), "-c", b.config_path, "--take-over", *options],
                   b.log_path, env=b.environment(**(env or {})), preexec=preexec, cwd=b.directory)


def take_over(b, *options, **more):
    """Returns the old process when the new one is that of the broker."""
    before = len(b.log_lines(OVER))
    process = comer(b, *options, **more)
    eventually(lambda: len(b.log_lines(OVER)) > before or not process.alive, 20, "it takes over")
    assert process.alive, b.log()[-2000:]
    old, b.process = b.process, process
    b.replaced.append(old)
    return old


class TakesOver(SystemTest):
    limit = 60

    def prepare(self, **settings):
        self.port = free_port()
        settings.setdefault("listen", [
            {"unix": os.path.join(self.directory, "b1", "s")}, {"tcp": f"127.0.0.1:{self.port}"},
            {"http": f"127.0.0.1:{free_port()}"}])
        self.b = self.broker(self.redis(), trust_new=True, **settings)
        return self.b

    def over_tcp(self, port=None):
        client = Client(("127.0.0.1", port or self.port))
        self.addCleanup(client.close)
        return client

    def refused(self, why, *options, event="take-over-failed", **more):
        """It ends with 1 and says why, and the broker goes on."""
        process = comer(self.b, *options, **more)
        self.assertEqual(process.wait(), 1)
        self.assertTrue(self.b.log_lines(f"{event} .*{why}"), self.b.log()[-1000:])
        self.assertTrue(self.b.process.alive)
        self.assertTrue(os.path.exists(self.b.unix_path))


class Plain(TakesOver):
    def test_where_nobody_listens_it_starts(self):
        b = self.prepare(start=False)
        b.spawn(argv=[find_program(), "-c", b.config_path, "--take-over"])
        eventually(lambda: b.log_lines("guard-ready"), 10, "it grants")
        self.client(b).lock("a")
        b.kill()
        b.spawn(argv=[find_program(), "-c", b.config_path, "--take-over"])
        b.expected_status = 0
        eventually(lambda: len(b.log_lines("guard-ready")) == 2, 20, "a stale socket is nobody")

    def test_clients_stay_and_new_ones_come_to_the_new_process(self):
        b = self.prepare()
        web = http.of(b)
        holder, waiter = self.over_tcp(), self.client(b)
        fence = holder.lock("a")
        waiter.send("LOCK a")
        inode = os.stat(b.unix_path).st_ino
        old = take_over(b)
        self.assertEqual(os.stat(b.unix_path).st_ino, inode)
        self.assertRegex(holder.event().text, r"^!LEAVING left=\d+ms$")
        for fresh in self.over_tcp(), self.client(b):
            self.assertEqual(fresh.ask("TRYLOCK a").status, "BUSY")
            stats = fresh.stats()
            self.assertEqual((stats["leaving"], stats["replaced_total"]), ("1", "1"))
        self.assertEqual(web.get("/readyz").status, 200)
        holder.ok("UNLOCK a")
        self.assertGreater(waiter.reply().fence, fence)
        waiter.ok("QUIT")
        holder.ok("QUIT")
        # All its places have been taken.
        self.assertEqual(old.wait(), 0)
        eventually(lambda: self.client(b).stats()["leaving"] == "0", 5, "none leaves")
        self.assertEqual(b.log_lines("leaving-died"), [])
        self.assertEqual(b.stop(), 0)
        self.assertFalse(os.path.exists(b.unix_path))

    def test_two_upgrades_within_one_hold(self):
        b = self.prepare()
        holder, gone = self.clients(2, b)
        fence = holder.lock("a")
        key = gone.ok("SESSION grace=1m")["key"]
        gone.lock("away")
        gone.reset()
        first = take_over(b)
        second = take_over(b)
        # Nothing keeps the one between them.
        self.assertEqual(second.wait(), 0)
        asks = self.client(b)
        self.assertEqual(asks.stats()["leaving"], "1")
        self.assertEqual(asks.stats()["replaced_total"], "2")
        self.assertEqual(int(asks.ok("STATUS a")["fence"]), fence)
        back = self.client(b)
        self.assertEqual(back.ok(f"RESUME key={key}")["locks"], "1")
        self.assertTrue(first.alive)
        for client in holder, back:
            client.ok("QUIT")
        self.assertEqual(first.wait(), 0)

    def test_by_turns_with_replace(self):
        b = self.prepare()
        holder = self.client(b)
        holder.lock("a")
        first = take_over(b)
        second = b.replace()
        self.assertEqual(second.wait(), 0)
        self.assertEqual(take_over(b).wait(), 0)
        self.assertEqual(self.client(b).ask("TRYLOCK a").status, "BUSY")
        holder.ok("QUIT")
        self.assertEqual(first.wait(), 0)

    def test_the_old_one_goes_on_at_places_of_its_own(self):
        """For 30 s; the new one has another address."""
        b = self.prepare()
        other = free_port()
        b.write_config({"listen": [{"unix": b.unix_path}, {"tcp": f"127.0.0.1:{other}"}]})
        old = take_over(b)
        for port in self.port, other:
            self.over_tcp(port).ok("QUIT")
        time.sleep(10.5)  # the way back is closed
        late = self.over_tcp()
        self.assertEqual(late.ok("PING").status, "OK")
        self.assertRegex(late.event().text, "^!LEAVING")
        late.ok("QUIT")
        eventually(lambda: self.port not in old.listening_ports(), 30, "it accepts no more")
        self.assertEqual(old.wait(), 0)
        self.over_tcp(other).ok("READY")


    def test_the_file_of_the_old_one_has_a_fault(self):
        """Where each has a file of its own: the old one goes on with the users that it knows."""
        users = [{"name": "me", "unix": [ME], "admin": True, "lock": ["*"]},
                 {"name": "dev", "hash": HASH, "lock": ["a"]}]
        b = self.prepare(auth={"users": users})
        holder, gone = self.clients(2, b)
        holder.lock("a")
        key = gone.ok("SESSION grace=1m")["key"]
        gone.lock("away")
        gone.reset()
        b.write_config({"auth": {"users": [*users, {"name": "new", "hash": HASH, "lock": ["*"]}]}})
        theirs = shutil.copy(b.config_path, os.path.join(self.directory, "theirs.yaml"))
        with open(b.config_path, "w", encoding="ascii") as file:
            file.write("auth: [\n")
        old = take_over(b, "-c", theirs)
        dev, new, back = self.over_tcp(), self.over_tcp(), self.client(b)
        instance = leavers(back)[0]["instance"]
        dev.ok("AUTH dev secret")
        dev.ok(f"LEAVING {instance}")
        self.assertEqual(dev.ok("STATUS a")["state"], "held")
        new.ok("AUTH new secret")
        new.send(f"LEAVING {instance}")
        new.expect_eof()  # it does not know who that is
        self.assertEqual(back.ok(f"RESUME key={key}")["locks"], "1")
        self.assertTrue(b.log_lines("reload-failed"))
        for client in holder, dev, back:
            client.ok("QUIT")
        self.assertEqual(old.wait(), 0)


class Refused(TakesOver):
    def test_another_name(self):
        self.prepare()
        self.refused("another broker.name, b1", "-o", "broker.name=b2")
        self.client(self.b).lock("a")

    def test_another_redis(self):
        self.prepare()
        for option in "redis.prefix=other:", "redis.database=1":
            self.refused("uses another Redis", "-o", option)
        self.client(self.b).lock("a")

    @unittest.skipUnless(os.geteuid() == 0, "only root can mount something over a socket")
    def test_another_redis_at_the_same_address(self):
        """As in a container of its own: it can grant, and must not."""
        self.prepare()
        ours, other = self.servers[0], self.redis()
        script = f"mount --bind {other.unix_path} {ours.unix_path} && exec \"$@\""
        argv = ["unshare", "--mount", "sh", "-c", script, "sh"]
        if subprocess.run([*argv, "true"], check=False, stderr=subprocess.DEVNULL).returncode:
            self.skipTest("nothing can be mounted here")
        self.refused("another server at the address of ours", "-o", "redis.trust_new=true",
                     argv=argv)
        self.client(self.b).lock("a")

    def test_an_embedded_redis(self):
        self.b = self.broker()
        self.refused("its Redis is embedded")
        self.client(self.b).lock("a")

    def test_a_faulty_one(self):
        """It is handed all, and ends: nothing has happened."""
        self.prepare()
        holder = self.client(self.b)
        holder.lock("a")
        self.refused("cannot listen on this address", "-o", f"listen.unix={self.b.unix_path}", "-o",
                     "listen.tcp=192.0.2.1:1", event="listen-failed")
        eventually(lambda: self.b.log_lines("replace-failed .*the new process ended"), 5, "so")
        self.client(self.b).ok("READY")
        self.assertEqual(holder.events, [])
        take_over(self.b)
        holder.ok("QUIT")

    def not_ready(self):
        """It can't be: it does not reach Redis."""
        self.prepare()
        self.servers[0].freeze()
        self.addCleanup(self.servers[0].thaw)
        process = comer(self.b)
        eventually(lambda: self.b.log_lines("taking-over"), 10, "it is handed all")
        eventually(lambda: len(self.b.log_lines("listening address=unix:")) == 2, 10,
                   "it has opened what it was handed")
        return process

    def test_one_that_does_not_get_ready(self):
        """The old one tells it why after 30 s, and goes on."""
        process = self.not_ready()
        self.assertEqual(process.wait(), 1)
        self.assertTrue(self.b.log_lines("take-over-failed .*not ready after 30 s"))
        self.assertTrue(os.path.exists(self.b.unix_path))
        self.servers[0].thaw()
        self.over_tcp().ok("PING")
        asks = self.client(self.b)
        eventually(lambda: asks.ask("READY").ok, 30, "it grants again")

    def test_while_the_broker_stops(self):
        process = self.not_ready()
        self.b.signal(signal.SIGTERM)
        self.assertEqual(process.wait(), 1)
        self.assertTrue(self.b.log_lines("take-over-failed .*the broker is stopping"))
        self.assertEqual(self.b.process.wait(), 0)

    def test_one_that_is_drained(self):
        self.prepare()
        holder, admin = self.clients(2, self.b)
        holder.lock("a")
        admin.ok("DRAIN")
        self.refused("the broker is stopping")
        holder.ok("UNLOCK a")
        self.assertEqual(self.b.process.wait(), 0)

    def test_two_at_once(self):
        self.prepare()
        self.b.process.freeze()
        comers = [comer(self.b), comer(self.b)]
        self.b.process.thaw()
        eventually(lambda: self.b.log_lines(OVER), 20, "one takes over")
        eventually(lambda: [c for c in comers if not c.alive] or
                   len(self.b.log_lines(OVER)) == 2, 20, "the other is refused, or comes later")
        for process in comers:
            if process.alive:
                self.b.replaced.append(self.b.process)
                self.b.process = process
        self.client(self.b).ok("READY")

    @unittest.skipUnless(os.geteuid() == 0, "only root can be others")
    def test_the_uids(self):
        """The broker's own user may, and neither another nor root; and never 65534."""
        server = self.redis()
        os.chmod(self.directory, 0o777)
        os.chmod(os.path.dirname(server.unix_path), 0o777)
        os.chmod(server.unix_path, 0o777)
        # Where it was built, others may not be let in.
        program = shutil.copy(find_program(), self.directory)
        if subprocess.run(["setpriv", "--reuid", "12345", program, "-V"], check=False,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("the program can't be run by another user")
        for own, others in (12345, (0, 54321, 65534)), (65534, (65534,)):
            self.b = self.broker(server, trust_new=True, start=False, listen=[
                {"unix": os.path.join(self.directory, f"b{len(self.brokers) + 1}", "s"),
                 "mode": "0666"}])
            os.chmod(self.b.directory, 0o777)
            self.b.spawn(preexec=lambda own=own: os.setuid(own),
                         argv=[program, "-c", self.b.config_path])
            eventually(lambda: self.b.log_lines("guard-ready"), 10, "it grants")
            for uid in others:
                self.refused("for administrators|own user may|uid 65534",
                             program=program, preexec=lambda uid=uid: os.setuid(uid))
        self.b = self.brokers[0]
        take_over(self.b, program=program, preexec=lambda: os.setuid(12345))

    def test_a_user_without_the_right(self):
        """With users, who is known by `unix` and administrates."""
        self.prepare(ready=False, auth={"users": [
            {"name": "me", "unix": [ME], "lock": ["*"]},
            {"name": "ops", "hash": HASH, "admin": True}]})
        self.refused("me may not TAKEOVER")
        ops = self.client(self.b)
        ops.ok("AUTH ops secret")
        self.assertRegex(ops.ask("TAKEOVER name=b1 redis=x version=1").text,
                         "only a user with `unix`")
        self.b.write_config({"auth": {"users": [{"name": "me", "unix": [ME], "admin": True}]}})
        self.b.signal(signal.SIGHUP)
        eventually(lambda: self.b.log_lines("reloaded"), 5, "it is read")
        ops.close()
        take_over(self.b)

    def test_nobody_over_tcp_or_in_resp(self):
        self.prepare()
        reply = self.over_tcp().ask("TAKEOVER name=b1 redis=x version=1")
        self.assertEqual((reply.status, reply.code), ("ERR", "denied"))


class Killed(TakesOver):
    def test_the_successor_within_200_ms(self):
        """The old one takes its places back, and all is as before."""
        b = self.prepare(locks={"lease": "2s"})
        holder, waiter = self.over_tcp(), self.client(b)
        fence = holder.lock("a")
        waiter.send("LOCK a")
        for i in range(8):
            process = comer(b)
            eventually(lambda i=i: len(b.log_lines(OVER)) > i, 20, "it takes over")
            time.sleep(random.random() / 5)
            process.kill()
            eventually(lambda i=i: len(b.log_lines("returned clients=")) > i, 5, "it is back")
            for client in self.over_tcp(), self.client(b):
                client.ok("READY")
                self.assertEqual(client.ask("TRYLOCK a").status, "BUSY")
                client.close()
        self.assertEqual(self.client(b).stats()["leaving"], "0")
        self.assertEqual(http.of(b).get("/readyz").status, 200)
        take_over(b)
        self.assertEqual(holder.ok("LOCK a").fence, fence)
        holder.ok("QUIT")
        self.assertGreater(waiter.reply().fence, fence)
        self.client(b).ok("READY")

    def test_one_that_fails_by_itself(self):
        """It leaves the path of the Unix socket to the old one, which comes back to it."""
        b = self.prepare()
        self.client(b).lock("a")
        inode = os.stat(b.unix_path).st_ino
        clock = Clock(b.directory)
        process = comer(b, env=clock.environment)
        eventually(lambda: b.log_lines(OVER), 20, "it takes over")
        self.client(b).ok("READY")
        clock.stop_waiting()
        self.assertEqual(process.wait(), 1)
        self.assertTrue(b.log_lines("loop-failed"))
        eventually(lambda: b.log_lines("returned clients="), 5, "the old one is back")
        self.assertEqual(os.stat(b.unix_path).st_ino, inode)
        self.assertEqual(self.client(b).ask("TRYLOCK a").status, "BUSY")
        self.assertEqual(b.stop(), 0)
        self.assertFalse(os.path.exists(b.unix_path))

    def test_the_old_one_before_it_has_handed_over(self):
        """The new one waits until it is ready, and then there is nobody to tell it to go."""
        b = self.prepare()
        b.process.freeze()
        process = comer(b)
        b.process.thaw()
        eventually(lambda: b.log_lines("handing-over"), 10, "it begins")
        b.process.kill()
        b.process, b.expected_status = process, 0
        eventually(lambda: b.log_lines("takes-over|take-over-failed"), 10, "it is told by the end")
        if process.alive:
            asks = self.client(b)
            eventually(lambda: asks.ask("READY").ok, 20, "it serves")
        else:
            self.assertEqual(process.wait(), 1)
            b.expected_status = 1


class FoundAgain(TakesOver):
    """A broker that was started anew, after the successor was killed, finds those that leave."""

    def lose_the_successor(self, b, replace):
        self.holder, gone = self.clients(2, b)
        self.holder.lock("held")
        key = gone.ok("SESSION grace=1m")["key"]
        self.fence = gone.lock("away")
        gone.reset()
        old = replace()
        eventually(lambda: old.listening_ports() == [], 20, "there is no way back any more")
        b.process.kill()
        eventually(lambda: b.log_lines("successor-gone"), 5, "it is noticed")
        return old, key

    def found(self, replace):
        b = self.prepare()
        old, key = self.lose_the_successor(b, lambda: replace(b))
        b.replaced = [old]
        b.start()
        eventually(lambda: b.log_lines("taken-in"), 10, "it is found")
        asks = self.client(b)
        eventually(lambda: asks.stats()["leaving"] == "1", 5, "it is counted")
        back = self.client(b)
        self.assertEqual(back.ok(f"RESUME key={key}")["locks"], "1")
        self.assertIn(f" fence={self.fence}", back.ok("LIST").body[0])
        there = at_leaver(self.client(b))
        self.assertEqual(len(there.ok("NAMES").body), 2)
        for client in self.holder, back, there:
            client.ok("QUIT")
        self.assertEqual(old.wait(), 0)
        eventually(lambda: asks.stats()["leaving"] == "0", 5, "it has left")

    def test_after_a_take_over(self):
        self.found(take_over)

    def test_after_a_replace(self):
        self.found(lambda b: b.replace())


class UnderLoad(test_replace_load.UnderLoad):
    """As one that is replaced under load: only who starts the new process differs."""

    def replaceable(self, *server, **settings):
        """With ports that can't be had anew."""
        web, tcp = free_port(), free_port()
        self.listen_tcp = {"tcp": f"127.0.0.1:{tcp}"}
        b = self.tls_broker(*server, more=[{"http": f"127.0.0.1:{web}"}], start=False, **settings)
        b.settings["listen"][1] = self.listen_tcp
        b.start()
        b.wait_granting()
        b.replace = lambda: take_over(b)
        return b

    def test_twelve(self):
        self.replace_often(12, self.replaceable(self.redis(), trust_new=True))

    test_twenty = test_twenty_with_an_embedded_redis = test_eighty = None


@unittest.skipUnless(os.geteuid() == 0, "only root can make namespaces")
class Apart(TakesOver):
    """Two mount, pid and network namespaces that share only a folder."""

    APART = ["unshare", "--mount", "--pid", "--net", "--fork", "--kill-child"]

    def unshared(self, b, *words):
        return comer(b, argv=[*self.APART, *words])

    def test_a_socket_of_its_own(self):
        """Each has one in a folder that the other does not see: by it, a pod's preStop drains the
        process that it belongs to, whoever has the shared one by then."""
        if subprocess.run([*self.APART, "true"], check=False,
                          stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("no namespaces can be made here")
        own = os.path.join(self.directory, "own")
        os.mkdir(own)
        b = self.prepare(start=False, listen=[
            {"unix": os.path.join(self.directory, "b1", "s")}, {"unix": os.path.join(own, "s")}])
        b.write_config()
        alone = ["sh", "-c", f'mount -t tmpfs none {own} && exec "$0" "$@"']
        b.process = first = self.unshared(b, *alone)
        eventually(lambda: b.log_lines("guard-ready"), 10, "it grants")
        holder, idle = self.clients(2, b)
        holder.lock("a")
        second = self.unshared(b, *alone)
        eventually(lambda: b.log_lines(OVER), 20, "it takes over")
        there = ["nsenter", "--mount", "--target", str(first.children()[0]),
                 find_program("lockbroker"), "-S", os.path.join(own, "s"), "drain", "--wait"]
        with subprocess.Popen(there, stdout=subprocess.PIPE) as drain:
            self.assertTrue(drain.stdout.readline().startswith(b"draining: 1 held"))
            self.client(b).lock("b")  # at the second one, which is not drained
            idle.err("LOCK c", "shutdown")
            holder.ok("UNLOCK a")
            self.assertEqual(drain.wait(), 0)
        self.assertEqual(first.wait(), 0)
        b.process, b.replaced = second, []
        self.client(b).ok("READY")
        os.kill(second.children()[0], signal.SIGTERM)
        self.assertEqual(second.wait(), 0)

    def test_two_that_share_a_folder(self):
        if subprocess.run(["unshare", "--mount", "--pid", "--net", "--fork", "true"],
                          check=False, stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("no namespaces can be made here")
        b = self.prepare(start=False)
        b.write_config()
        b.process = self.unshared(b)
        eventually(lambda: b.log_lines("guard-ready"), 10, "it grants")
        holder, gone = self.clients(2, b)
        fence = holder.lock("a")
        key = gone.ok("SESSION grace=1m")["key"]
        gone.lock("away")
        gone.reset()
        before = b.process
        second = self.unshared(b)
        eventually(lambda: b.log_lines(OVER), 20, "it takes over")
        # Each has the TCP address in its own namespace, so both are served.
        asks = self.client(b)
        self.assertEqual(asks.stats()["leaving"], "1")
        self.assertEqual(int(asks.ok("STATUS a")["fence"]), fence)
        back = self.client(b)
        self.assertEqual(back.ok(f"RESUME key={key}")["locks"], "1")
        third = self.unshared(b)
        eventually(lambda: len(b.log_lines(OVER)) == 2, 20, "once more, within one hold")
        later = self.client(b)
        self.assertEqual(later.stats()["leaving"], "2")
        self.assertEqual(later.ask("TRYLOCK a").status, "BUSY")
        third.kill()
        eventually(lambda: b.log_lines("returned clients="), 5, "it is back")
        self.client(b).ok("READY")
        holder.ok("QUIT")
        back.ok("QUIT")
        b.process, b.replaced = second, []
        # The first one accepts in its namespace for 30 s; what it is told to do is to stop.
        os.kill(second.children()[0], signal.SIGTERM)
        self.assertEqual((before.wait(), second.wait()), (0, 0))
