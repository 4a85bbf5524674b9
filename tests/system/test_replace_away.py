"""A broker whose process is replaced while Redis is away, frozen, failing over, or forgetful."""

import re
import signal
import subprocess
import threading
import time

from lib.broker import find_program
from lib.case import SystemTest, grace_of
from lib.history import Contender, check_history, stop_contenders
from lib.resp import Resp, answer
from lib.sentinel import NAME, Watched
from lib.wait import eventually, hang, now, patience

READY = 30  # seconds that a new process has


class Poller(threading.Thread):
    """A program with a lock library for Redis: it tries on one connection until it has the name."""

    def __init__(self, path, name):
        super().__init__(daemon=True)
        self.resp, self.name = Resp(f"unix:{path}", hang()), name
        self.fence = self.fault = None
        self.over = False

    def run(self):
        try:
            while self.fence is None and not self.over:
                if answer(self.resp, "SET", self.name, "mine", "NX", "PX", 600000) == "OK":
                    self.fence = self.resp("LB.FENCE", self.name, "mine")
                time.sleep(0.02)
        except Exception as fault:  # pylint: disable=broad-except
            self.fault = fault

    def stop(self):
        self.over = True
        self.join(hang())
        self.resp.close()


class Away(SystemTest):
    limit = 60
    lease = 6

    def prepare(self, server=None, **settings):
        """A broker with clients that hold, wait, poll, and one that will be resumed."""
        self.time = self.clock()
        if server is None:
            server = self.server = self.redis()
        self.b = self.broker(server, lease=self.lease, trust_new=True, clock=self.time, **settings)
        self.begin_holders()
        self.begin_others()

    def begin_holders(self):
        self.holder, self.waiter = self.clients(2)
        self.fence = self.holder.lock("held")
        self.waiter.send("LOCK held")
        gone = self.client(tcp=True)
        self.key = gone.ok("SESSION grace=1m")["key"]
        self.kept = gone.lock("kept")
        gone.reset()
        self.owner = Resp(f"unix:{self.b.unix_path}", hang())
        self.addCleanup(self.owner.close)
        self.assertEqual(self.owner("SET", "token", "other", "NX", "PX", 600000), "OK")
        self.token = self.owner("LB.FENCE", "token", "other")

    def begin_others(self):
        self.poller = Poller(self.b.unix_path, "token")
        self.contenders = [Contender(self.b.unix_path, "busy") for _ in range(2)]
        self.addCleanup(self.end_others)
        for one in (self.poller, *self.contenders):
            one.start()
        eventually(lambda: all(one.held for one in self.contenders), what="they have had it")
        eventually(lambda: self.ask("STATUS held")["waiters"] == "1", what="it waits")

    def ask(self, request):
        """On a connection that keeps no process."""
        client = self.client()
        reply = client.ask(request)
        client.close()
        return reply

    def end_others(self):
        stop_contenders(self.contenders)
        self.poller.stop()

    # A replacement that is under way.

    def begin(self):
        """It has begun, and the new process with it."""
        before = len(self.b.log_lines("replacing pid="))
        asked = subprocess.Popen([find_program("lockbroker"), "-S", self.b.unix_path, "replace"],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(asked.communicate)
        self.addCleanup(asked.kill)
        eventually(lambda: len(self.b.log_lines("replacing pid=")) > before, what="it begins")
        return asked

    def done(self, asked):
        out, errors = asked.communicate(timeout=hang(READY))
        self.assertEqual((asked.returncode, errors), (0, ""))
        return self.b.replaced_by(int(re.fullmatch(r"replaced pid=(\d+)\n", out)[1]))

    def is_refused(self, asked):
        """When the new process has had its time."""
        before = len(self.b.log_lines("replace-failed"))
        self.assertIsNone(asked.poll())
        self.time.hurry(READY - 1)
        out, errors = asked.communicate(timeout=hang())
        self.assertEqual((asked.returncode, out), (1, ""))
        why = f"the new process was not ready after {READY} s: Redis cannot be used"
        self.assertIn(why, errors)
        failed = self.b.log_lines("replace-failed")
        self.assertEqual(len(failed), before + 1)
        self.assertIn(why, failed[-1])
        self.assertEqual(self.b.process.children(), [])
        self.nobody_minds()

    # What becomes of the clients.

    def nobody_minds(self):
        """All are connected, and have what they had."""
        for client in (self.holder, self.waiter):
            client.pump()
            self.assertEqual([line for line in client.events if line.status == "!LOST"], [])
        self.assertEqual(self.holder.ok("LOCK held").fence, self.fence)
        self.assertEqual(self.holder.ok("UNLOCK held")["depth"], "1")
        self.assertEqual((self.waiter.replies, self.waiter.eof), ([], False))
        self.assertEqual(self.owner("PING"), "PONG")
        self.assertEqual((self.poller.fault, self.poller.fence), (None, None))
        self.assertEqual([one.fault for one in self.contenders], [None, None])

    def resume(self):
        """At the process that accepts now."""
        client = self.client()
        client.ok(f"RESUME key={self.key}")
        self.assertIn(f"fence={self.kept}", client.ok("LIST").body[0])
        client.ok("UNLOCK kept")
        client.close()

    def end(self):
        """All goes on as before: it can be replaced, each has its turn, and no process stays."""
        self.nobody_minds()
        self.b.replace()
        self.resume()
        well = now()
        self.holder.ok("UNLOCK held")
        self.assertGreater(self.waiter.reply(15).fence, self.fence)
        eventually(lambda: answer(self.owner, "DEL", "token") == 1, 15, "it is given back")
        eventually(lambda: self.poller.fence or self.poller.fault, 15, "it has its turn")
        self.assertIsNone(self.poller.fault)
        self.assertGreater(self.poller.fence, self.token)
        stop_contenders(self.contenders, 10, well)
        self.assertEqual([one.fault for one in self.contenders], [None, None])
        check_history(self.contenders)
        for client in (self.holder, self.waiter, self.owner):
            client.close()
        self.poller.stop()
        self.assertEqual([old.wait() for old in self.b.replaced], [0] * len(self.b.replaced))
        self.assertEqual(self.b.log_lines("leaving-died"), [])
        self.assertEqual(self.client().stats()["replaced_total"], str(len(self.b.replaced)))


class Stopped(Away):

    def test_refused_in_the_end_and_done_when_it_is_back(self):
        self.prepare()
        self.server.kill()
        asked = self.begin()
        self.assertIn("already in progress", self.ask("REPLACE").text)
        self.is_refused(asked)
        asked = self.begin()
        self.server.start()
        self.done(asked)
        self.nobody_minds()
        # Again, while one leaves and nothing is granted yet.
        self.b.replace()
        self.end()

    def test_one_leaves_already(self):
        self.prepare()
        old = self.b.replace()
        self.server.kill()
        between = self.b.process
        stays = self.client()
        self.is_refused(self.begin())
        asked = self.begin()
        self.server.start()
        self.done(asked)
        self.assertTrue(old.alive and between.alive)
        stays.ok("PING")
        stays.close()
        self.assertEqual(between.wait(), 0)
        self.end()


class Frozen(Away):

    def test_until_it_goes_on(self):
        self.prepare()
        before = len(self.b.log_lines(" starting "))
        self.server.freeze()
        self.b.signal(signal.SIGUSR2)
        eventually(lambda: len(self.b.log_lines(" starting ")) > before, what="the new process")
        self.assertEqual(self.b.log_lines("replaced pid="), [])
        self.nobody_minds()
        self.server.thaw()
        line = eventually(lambda: self.b.log_lines("replaced pid="), 15, "it is replaced")[0]
        self.b.replaced_by(int(re.search(r"pid=(\d+)", line)[1]))
        self.end()

    def test_for_too_long(self):
        self.prepare()
        self.server.freeze()
        self.is_refused(self.begin())
        asked = self.begin()
        self.server.thaw()
        self.done(asked)
        self.end()


class FailingOver(Away):
    limit = 120

    def test_when_another_master_is_there(self):
        watched = Watched(self)
        self.prepare(watched.addresses[0], redis={
            "mode": "sentinel", "nodes": watched.addresses, "master": NAME, "replicas": 1})
        eventually(lambda: watched.replica.cmd("HEXISTS", "lock:@guard", "id"), 5, "replicated")
        watched.master.kill()
        asked = self.begin()
        self.nobody_minds()
        watched.promoted(watched.replica)
        watched.master.start()
        watched.attach(watched.master, watched.replica)
        self.done(asked)
        self.nobody_minds()
        self.b.replace()
        self.end()


class Forgetful(Away):
    lease = 3

    def grants_after_one_grace(self, since):
        fresh = self.client()
        self.assertEqual(fresh.ask("TRYLOCK new").code, "unavailable")
        fresh.lock("new", timeout=30)
        self.assert_within(grace_of(self.lease) - 0.05, now() - since,
                           patience(grace_of(self.lease) + 2, since))
        fresh.close()

    def test_nothing_is_granted_yet(self):
        """The new process takes over at once, and begins no grace period of its own."""
        self.prepare(redis={"reply_timeout": "500ms"})
        killed = now()
        self.server.restart()
        eventually(lambda: not self.ask("READY").ok, what="it is noticed")
        for _ in range(2):
            start = now()
            self.b.replace()
            self.assertLess(now() - start, patience(1))
            self.nobody_minds()
        self.grants_after_one_grace(killed)
        self.end()

    def test_it_is_no_new_server_to_a_new_process(self):
        """Which has never seen it, and trusts new ones; but others hold what it has forgotten."""
        self.prepare(redis={"reply_timeout": "500ms"})
        killed = now()
        self.server.kill()
        asked = self.begin()
        self.server.start()
        self.done(asked)
        self.nobody_minds()
        self.grants_after_one_grace(killed)
        self.end()
