"""The client that lockbroker-protocol(7) prints, as it is printed there."""

import contextlib
import io
import re
import signal
import threading

from lib.case import SystemTest
from lib.manual import blocks, read_source
from lib.proxy import Proxy
from lib.wait import eventually, hang, patience


class ReferenceClient(SystemTest):
    limit = 60
    blocks = blocks("man/lockbroker-protocol.7", "client")

    def prepare(self, lease=10, **settings):
        self.server = self.redis()
        self.main = self.broker(self.server, lease=lease, trust_new=True, **settings)
        self.net = Proxy(f"127.0.0.1:{self.main.port}")
        self.addCleanup(self.net.stop)
        self.control = self.client()
        # pylint: disable=exec-used
        self.printed = {}
        exec(self.blocks["lock"], self.printed)
        self.now, self.lost = self.printed["now"], self.printed["Lost"]

    def lock(self, spare=0.2, port=None):
        lock = self.printed["Lock"](("127.0.0.1", port or self.net.port), "x", spare)
        self.addCleanup(lock.close)
        return lock

    def until_lost(self, lock):
        """Works until it must stop; return when that was, and why."""
        give_up = self.now() + hang(10)
        while self.now() < give_up:
            try:
                lock.check()
            except self.lost as why:
                return self.now(), str(why)
        self.fail("it was never told to stop")

    def held_once(self, fence):
        """As the broker sees it."""
        status = self.control.ok("STATUS x")
        self.assertEqual((status["state"], status.fence), ("held", fence))
        self.assertEqual(self.control.ask("TRYLOCK x").status, "BUSY")

    def test_a_cut_connection(self):
        self.prepare()
        lock = self.lock()
        fence = lock.acquire()
        for cuts in range(1, 4):
            self.net.cut()
            eventually(lambda n=cuts: lock.check() or self.net.connections == 1 + n, 5)
            lock.check()
            self.held_once(fence)
        self.assertEqual(lock.ask("UNLOCK x", self.now() + hang())[1]["depth"], "0")
        lock.release()
        self.control.lock("x", "wait=2s")

    def test_a_grant_that_was_not_heard(self):
        self.prepare()
        lock = self.lock()
        self.net.drop_reply("LOCK x")
        fence = lock.acquire()
        self.assertTrue(self.net.fired.is_set())
        self.held_once(fence)
        self.assertEqual(lock.ask("UNLOCK x", self.now() + hang())[1]["depth"], "0")

    def test_a_wait_that_is_cut(self):
        self.prepare()
        self.control.lock("x")
        lock, fences = self.lock(), []
        waiter = threading.Thread(target=lambda: fences.append(lock.acquire()), daemon=True)
        waiter.start()
        for _ in range(2):
            eventually(lambda: self.control.ok("STATUS x")["waiters"] == "1", 5)
            self.net.cut()
            eventually(lambda: self.control.ok("STATUS x")["waiters"] == "0", 5)
        eventually(lambda: self.control.ok("STATUS x")["waiters"] == "1", 5)
        self.control.ok("UNLOCK x")
        waiter.join(patience(5))
        self.held_once(*fences)

    def test_a_broker_that_is_restarted(self):
        self.prepare()
        lock = self.lock()
        fence = lock.acquire()
        self.main.signal(signal.SIGTERM)
        at, why = self.until_lost(lock)
        self.assertIn("stops", why)
        self.assertLess(at, lock.until)
        lock.release()
        self.net.refuse = True  # who connects to a port that is free may reach itself
        self.main.stop()
        again = []
        waiter = threading.Thread(target=lambda: again.append(lock.acquire()), daemon=True)
        waiter.start()
        self.main.start()
        self.net.upstream = f"127.0.0.1:{self.main.port}"
        self.net.refuse = False
        waiter.join(patience(10))
        self.assertGreater(again[0], fence)

    def test_a_broker_that_is_killed(self):
        self.prepare(lease=4)
        other = self.broker(self.server, lease=4, trust_new=True)
        lock = self.lock(spare=1.0)
        lock.acquire()
        self.main.kill()
        at, _ = self.until_lost(lock)
        self.assertLess(at, lock.until)
        self.assertEqual(self.client(other).ask("TRYLOCK x").status, "BUSY")

    def test_another_broker_does_not_know_the_session(self):
        self.prepare()
        other = self.broker(self.server, lease=10, trust_new=True)
        lock = self.lock()
        lock.acquire()
        self.net.upstream = f"127.0.0.1:{other.port}"
        self.net.cut()
        self.assertEqual(self.until_lost(lock)[1], "the session has ended")

    def test_a_broker_that_is_frozen(self):
        self.prepare(lease=4)
        lock = self.lock(spare=1.0)
        lock.acquire()
        self.main.freeze()
        at, why = self.until_lost(lock)
        self.main.thaw()
        self.assertIn("could not confirm", why)
        self.assertGreaterEqual(at, lock.until - 1.0)
        self.assertLess(at, lock.until)

    def test_a_loss(self):
        """The client hears it at once, long before the next PING."""
        self.prepare(lease=60)
        lock = self.lock()
        fence = lock.acquire()
        self.control.ok("UNLOCK-FORCE x")
        at, why = self.until_lost(lock)
        self.assertEqual(why, f"!LOST x fence={fence} reason=forced")
        self.assertLess(at, lock.ping_at)

    def test_a_connection_that_is_given_up(self):
        """Even without grace, a lock that somebody counts on stays held: a reset gives nothing
        back."""
        self.prepare(locks={"max_grace": 0})
        lock = self.lock(port=self.main.port)
        fence = lock.acquire()
        lock.close()
        eventually(lambda: self.control.stats()["clients"] == "1", 5)
        self.held_once(fence)

    def test_the_longest_line(self):
        """The longest reply is that about a circle of waiting sessions, with the longest possible
        names."""
        self.prepare(lease=60)
        names = [f"{i:03}".ljust(255, "x") for i in range(40)]
        clients = self.clients(len(names))
        for client, name in zip(clients, names):
            client.lock(name)
        for i, client in enumerate(clients[:-1]):
            client.send("LOCK " + names[i + 1])
            eventually(lambda n=i: self.control.stats()["waiters"] == str(n + 1), 5)
        longest = clients[-1].ask("LOCK " + names[0])
        self.assertEqual(longest.code, "deadlock")
        page = read_source("man/lockbroker-protocol.7")
        bound = int(re.search(r"is longer than (\d+) bytes", page).group(1))
        self.assert_within(bound // 2, len(longest.text.encode()), bound)

    def test_a_refusal(self):
        self.prepare()
        lock = self.lock()
        lock.name = "a=b"
        with self.assertRaisesRegex(ValueError, "ERR bad-"):
            lock.acquire()

    def test_its_use(self):
        self.prepare()
        written = []

        def parts():
            yield from range(3)
            self.control.ok("UNLOCK-FORCE nightly-report")
            eventually(lambda: self.control.ok("STATUS nightly-report")["state"] == "free")
            while True:
                yield "more"
        names = dict(self.printed, parts=parts(), write=lambda *what: written.append(what))
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            # pylint: disable=exec-used
            exec(self.blocks["use"].replace("5625", str(self.net.port)), names)
        self.assertEqual([part for part, _ in written if part != "more"], [0, 1, 2])
        self.assertIn("reason=forced", said.getvalue())
        self.assertEqual({fence for _, fence in written}, {names["fence"]})
