"""Token holds outlive a broker with an embedded Redis, and that Redis."""

import glob
import os
import signal
import threading

from lib.case import SystemTest
from lib.resp import Resp
from lib.wait import eventually, now, patience


class EmbeddedTokenHolds(SystemTest):
    """One broker, killed or stopped, and started again."""

    limit = 60

    def prepare(self, **settings):
        self.first = self.broker(lease=2, **settings)
        self.a = self.resp()

    def resp(self):
        conn = Resp(f"127.0.0.1:{self.first.port}")
        self.addCleanup(conn.close)
        return conn

    def kill(self):
        self.first.kill()
        self.first.expected_status = 0

    def again(self):
        self.first.start()
        self.a = self.resp()

    def wait_ready(self):
        """On a machine where the start took long, a grace period comes first."""
        eventually(lambda: self.client().ok("READY"), 10, "it grants")

    def assert_held(self, name, token):
        """By that token, and refused to that token as well as to everybody else."""
        self.assertEqual(self.a("GET", name), token)
        self.wait_ready()
        self.assertIsNone(self.a("SET", name, token, "NX", "PX", 60000))
        self.assertIsNone(self.a("SET", name, "other", "NX", "PX", 60000))
        self.assertEqual(self.client().ask(f"TRYLOCK {name}").status, "BUSY")

    def take(self):
        self.assertEqual(self.a("SET", "x", "t", "NX", "PX", 60000), "OK")
        self.assertEqual(self.a("SET", "y", "no bound", "NX"), "OK")
        self.assertEqual(self.a("SET", "long", "t", "NX", "PX", 1000), "OK")
        self.assertEqual(self.a("PEXPIRE", "long", 50000), 1)
        self.assertEqual(self.a("SET", "gone", "t", "NX", "PX", 60000), "OK")
        self.assertEqual(self.a("DELEX", "gone", "IFEQ", "t"), 1)
        return self.a("LB.FENCE", "x", "t")

    def assert_all_is_there(self, fence):
        for name, token in (("x", "t"), ("y", "no bound"), ("long", "t")):
            self.assert_held(name, token)
        self.assertEqual(self.a("PTTL", "y"), -1)
        self.assert_within(40000, self.a("PTTL", "long"), 50000)
        self.assertEqual(self.a("EXISTS", "gone"), 0)
        self.assertEqual(self.a("LB.FENCE", "x", "t"), fence)
        self.assertEqual(self.a("PEXPIRE", "x", 30000), 1)
        self.assertEqual(self.a("DELEX", "x", "IFEQ", "other"), 0)
        self.assertEqual(self.a("DELEX", "x", "IFEQ", "t"), 1)
        self.assertGreater(self.client().ok("TRYLOCK x").fence, fence)

    def test_its_broker_is_killed(self):
        self.prepare()
        fence = self.take()
        self.kill()
        self.again()
        self.assert_all_is_there(fence)

    def test_its_broker_is_stopped(self):
        self.prepare()
        fence = self.take()
        self.assertEqual(self.first.stop(), 0)
        self.again()
        self.assert_all_is_there(fence)

    def test_again_and_again(self):
        self.prepare()
        fence = self.take()
        for _ in range(3):
            self.kill()
            self.again()
        self.assertEqual(self.first.stop(), 0)
        self.again()
        self.assert_all_is_there(fence)

    def test_its_redis_dies_first(self):
        self.prepare()
        fence = self.take()
        (child,) = eventually(self.first.process.children, 5)
        os.kill(child, signal.SIGKILL)
        eventually(lambda: self.first.log_lines("redis-server-died"), 5, "it died")
        eventually(lambda: self.client().ok("READY"), 10, "another one serves")
        self.kill()
        self.again()
        self.assert_all_is_there(fence)

    def test_its_time_is_over(self):
        self.prepare()
        start = now()
        self.assertEqual(self.a("SET", "x", "t", "NX", "PX", 3000), "OK")
        self.kill()
        self.again()
        self.client().lock("x", timeout=20)
        self.assert_within(3, now() - start, patience(5))

    def test_who_has_it_may_be_asked_and_ended(self):
        self.prepare()
        self.take()
        self.kill()
        self.again()
        line = self.client()
        status = line.ok("STATUS x")
        self.assertEqual(status["state"], "held")
        self.assertNotIn("session", status.fields)
        line.ok("UNLOCK-FORCE x")
        self.assertEqual(self.a("EXISTS", "x"), 0)
        self.kill()
        self.again()
        self.assertEqual(self.a("EXISTS", "x"), 0)

    def test_a_client_that_waits_is_served_at_the_release(self):
        self.prepare()
        self.take()
        self.kill()
        self.again()
        line = self.client()
        line.send("LOCK x")
        eventually(lambda: self.client().ok("STATUS x")["waiters"] == "1")
        self.assertEqual(self.a("DELEX", "x", "IFEQ", "t"), 1)
        self.assertTrue(line.reply(10).ok)

    def test_without_a_directory_to_keep_them(self):
        self.first = self.broker(start=False)
        self.first.start(env={"RUNTIME_DIRECTORY": ""})
        self.a = self.resp()
        eventually(lambda: self.client().ok("READY"), 10, "it grants")
        self.assertEqual(self.a("SET", "x", "t", "NX", "PX", 60000), "OK")
        (child,) = self.first.process.children()
        os.kill(child, signal.SIGKILL)
        eventually(lambda: self.first.log_lines("redis-server-died"), 5, "it died")
        eventually(lambda: self.client().ok("READY"), 10, "another one serves")
        self.assert_held("x", "t")
        self.assertEqual(self.first.stop(), 0)
        self.again()
        self.assertEqual(self.a("EXISTS", "x"), 0)

    # A flood, and a kill in the middle of it.

    def flood(self, number, held, doubted):
        conn = Resp(f"127.0.0.1:{self.first.port}")
        self.addCleanup(conn.close)
        try:
            for i in range(100000):
                name = f"f{number}-{i}"
                doubted.add(name)
                if conn("SET", name, f"t{i}", "NX", "PX", 600000) == "OK":
                    doubted.discard(name)
                    held[name] = f"t{i}"
                if i % 3 == 0:
                    doubted.add(name)
                    self.assertEqual(conn("DEL", name), 1)
                    doubted.discard(name)
                    del held[name]
        except (OSError, AssertionError, ValueError):
            return  # its broker is gone

    def rewrite(self):
        """Has Redis write its file anew, again and again."""
        path, = glob.glob(os.path.join(self.first.directory, "lockbrokerd-*", "redis.sock"))
        try:
            redis = Resp("unix:" + path)
            self.addCleanup(redis.close)
            while redis.send("BGREWRITEAOF") is None and redis.read() is not None:
                pass
        except OSError:
            return  # it is gone

    def test_what_a_client_was_told_counts(self):
        self.prepare(limits={"unowned": 100000})
        for _ in range(3):
            threads, facts = [], []
            for number in range(4):
                facts.append(({}, set()))
                threads.append(threading.Thread(target=self.flood,
                                                args=(number, *facts[-1]), daemon=True))
                threads[-1].start()
            threads.append(threading.Thread(target=self.rewrite, daemon=True))
            threads[-1].start()
            eventually(lambda: sum(len(held) for held, _ in facts) > 600, 30, "a flood")
            self.kill()
            for thread in threads:
                thread.join()
            self.again()
            self.wait_ready()
            for number, (held, doubted) in enumerate(facts):
                for i in range(len(held) + len(held) // 2):
                    name = f"f{number}-{i}"
                    if name not in doubted:
                        self.assertEqual(self.a("GET", name), held.get(name))
                    self.a("DEL", name)
                for name in set(held) | doubted:
                    self.a("DEL", name)
