"""Clients of Redis that poll: who is told no, who waits for whom, and crowds of them."""

import signal
import threading
import time

from lib.redisson import ONE, SCRIPTS
from lib.resp import REDIS_PY_RELEASE, RedisError, Resp
from lib.wait import eventually, now, patience
from test_resp import RespTest


class Newcomers(RespTest):
    """A name that nobody has is refused to nobody, whoever was here."""

    def setUp(self):
        super().setUp()
        self.broker(resp={"park": "50ms"})
        self.holder, self.poller, self.newcomer = (self.resp() for _ in range(3))

    def release_behind(self, name, gap):
        """`holder` had the name while `poller` came twice, and gives it back."""
        self.assertEqual(self.holder("SET", name, "a", "NX", "PX", 60000), "OK")
        self.assertIsNone(self.poller("SET", name, "b", "NX", "PX", 60000))
        time.sleep(gap)
        self.assertIsNone(self.poller("SET", name, "b", "NX", "PX", 60000))
        self.assertEqual(self.holder("EVALSHA", REDIS_PY_RELEASE, 1, name, "a"), 1)

    def take(self, name):
        """How long it takes the newcomer, who is granted it at the first try."""
        begin = now()
        self.assertEqual(self.newcomer("SET", name, "c", "NX", "PX", 60000), "OK")
        return now() - begin

    def test_waits_for_a_turn(self):
        for gap, least, most in ((0, 0, 0.05), (0.1, 0.13, 0.2), (1, 0.23, 0.3)):
            with self.subTest(gap=gap):
                self.release_behind(f"x{gap}", gap)
                begin = now()
                self.assert_within(least, self.take(f"x{gap}"), patience(most, begin))

    def test_who_has_the_turn_comes_back(self):
        self.release_behind("x", 0.2)
        self.newcomer.send("SET", "x", "c", "NX", "PX", 60000)
        self.assertEqual(self.poller("SET", "x", "b", "NX", "PX", 60000), "OK")
        self.assertIsNone(self.newcomer.read())

    def test_who_has_the_turn_is_gone(self):
        self.release_behind("x", 0.2)
        self.poller.close()
        self.resp()("PING")  # the broker has seen it
        begin = now()
        self.assertLess(self.take("x"), patience(0.05, begin))

    def test_who_waits_goes(self):
        """So no place in the queue keeps a name that nobody has."""
        self.assertEqual(self.holder("SET", "x", "a", "NX", "PX", 60000), "OK")
        self.assertIsNone(self.poller("SET", "x", "b", "NX", "PX", 60000))
        self.poller.send("SET", "x", "b", "NX", "PX", 60000)
        self.poller.close()
        self.resp()("PING")
        self.assertEqual(self.holder("EVALSHA", REDIS_PY_RELEASE, 1, "x", "a"), 1)
        begin = now()
        self.assertLess(self.take("x"), patience(0.05, begin))

    def test_what_is_held_is_refused_at_once(self):
        self.release_behind("x", 0.2)
        self.assertEqual(self.holder("SET", "other", "a", "NX", "PX", 60000), "OK")
        self.assertEqual(self.poller("SET", "x", "b", "NX", "PX", 60000), "OK")
        begin = now()
        self.assertIsNone(self.newcomer("SET", "x", "c", "NX", "PX", 60000))
        self.assertLess(now() - begin, patience(0.05, begin))

    def test_who_waits_has_more_to_ask(self):
        """What it waits for may come behind it, over the same connection."""
        self.release_behind("x", 0.5)
        begin = now()
        self.newcomer.send("SET", "x", "c", "NX", "PX", 60000)
        self.newcomer.send("GET", "x")
        self.assertEqual((self.newcomer.read(), self.newcomer.read()), ("OK", "c"))
        self.assertLess(now() - begin, patience(0.15, begin))

    def test_a_program_that_tries_once(self):
        """redis-py: acquire(blocking=False), right behind a release, again and again."""
        for i in range(30):
            self.release_behind("x", 0)
            self.take("x")
            self.assertEqual(self.newcomer("EVALSHA", REDIS_PY_RELEASE, 1, "x", "c"), 1, i)


class Shared(RespTest):
    """Workers of a program that share a connection, as most client libraries have it."""

    def setUp(self):
        super().setUp()
        self.broker(resp={"park": "10s"})
        self.shared = self.resp()
        self.assertEqual(self.shared("SET", "a", "t", "NX", "PX", 60000), "OK")
        self.assertIsNone(self.shared("SET", "a", "u", "NX", "PX", 60000))

    def test_a_release_comes_behind_a_try(self):
        line = self.client()
        for parked in (False, True):
            with self.subTest(parked=parked):
                begin = now()
                self.shared.send("SET", "a", "u", "NX", "PX", 60000)
                if parked:
                    eventually(lambda: line.ok("STATUS a")["waiters"] == "1", 5)
                self.shared.send("EVALSHA", REDIS_PY_RELEASE, 1, "a", "t")
                self.shared.send("SET", "a", "u", "NX", "PX", 60000)
                answers = [self.shared.read() for _ in range(3)]
                self.assertEqual(answers, [None, 1, "OK"])
                self.assertLess(now() - begin, patience(1))
                self.assertEqual(self.shared("DEL", "a"), 1)
                self.assertEqual(self.shared("SET", "a", "t", "NX", "PX", 60000), "OK")
                self.assertIsNone(self.shared("SET", "a", "u", "NX", "PX", 60000))

    def test_a_place_is_kept(self):
        other = self.resp()
        self.shared.send("SET", "a", "u", "NX", "PX", 60000)
        self.shared.send("PING")
        self.assertEqual((self.shared.read(), self.shared.read()), (None, "PONG"))
        self.shared.send("SET", "a", "u", "NX", "PX", 60000)
        self.assertEqual(other("DEL", "a"), 1)
        self.assertEqual(self.shared.read(), "OK")

    def test_what_blocks_in_redis_blocks(self):
        self.assertEqual(self.shared("SET", "lock:a", "t", "NX", "PX", 60000), "OK")
        for command in (("BLPOP", "lock-signal:a", 0.3), ("LOCK", "a", "wait=300ms")):
            with self.subTest(command=command):
                begin = now()
                self.shared.send(*command)
                self.shared.send("PING")
                self.assertEqual((self.shared.read(), self.shared.read()), (None, "PONG"))
                self.assertGreater(now() - begin, 0.29)


class Stopping(RespTest):
    def test_libraries_try_again_elsewhere(self):
        """While a session may count on what it was told, the broker is still there."""
        self.broker()
        line = self.client()
        line.lock("x")
        line.ok("PING")
        one, other = self.resp(), self.resp()
        one("PING")
        other("PING")
        self.brokers[0].signal(signal.SIGTERM)
        self.assertEqual(line.event().text, "!SHUTDOWN")
        for sha, words in ((SCRIPTS["TAKE"][0], (1, "y", 30000, ONE)),
                           (SCRIPTS["RENEW_3_2"][0], (1, "y", 30000, ONE))):
            self.assertTrue(one.error("EVALSHA", sha, *words).startswith("TRYAGAIN "))
        self.assertTrue(one.error("SET", "y", "t", "NX", "PX", 30000).startswith("TRYAGAIN "))
        self.assertTrue(one.error("EVALSHA", REDIS_PY_RELEASE, 1, "y", "t").startswith("TRYAGAIN "))
        other.send("SUBSCRIBE", "redisson_lock__channel:{y}")
        with self.assertRaises(ConnectionError):
            other.read()
        line.ok("QUIT")
        eventually(lambda: self.brokers[0].log_lines("stopped"), what="it has stopped")


class Crowds(RespTest):
    """python-redis-lock: SET NX, and BLPOP of a list that its release script pushes to."""

    limit = 60
    RELEASE = "90da91872223f85eb1376a17e3c4df21ace8c54b"

    def worker(self, number, done):
        one = Resp(f"unix:{self.brokers[0].unix_path}", 60)
        token = f"t{number}"
        try:
            while one("SET", "lock:x", token, "NX", "EX", 30) is None:
                one("BLPOP", "lock-signal:x", 30)
            self.inside += 1
            done.append((number, self.inside))
            self.inside -= 1
            one("EVALSHA", self.RELEASE, 2, "lock:x", "lock-signal:x", token, "1000")
        except RedisError as error:
            done.append((number, str(error)))
        finally:
            one.close()

    def all_get_it(self, count, **settings):
        self.broker(**settings)
        self.inside, done = 0, []
        threads = [threading.Thread(target=self.worker, args=(i, done)) for i in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(done), [(i, 1) for i in range(count)])

    def test_all_get_it(self):
        self.all_get_it(125)

    def test_with_few_places(self):
        self.all_get_it(12, limits={"waiters": 3}, resp={"park": "50ms"})

    def test_with_one_for_each_connection(self):
        self.all_get_it(12, limits={"requests": 1}, resp={"park": "50ms"})

    def test_without_a_place(self):
        self.broker(limits={"waiters": 1})
        one, other, third = (self.resp() for _ in range(3))
        self.assertEqual(one("SET", "lock:x", "a", "NX", "PX", 60000), "OK")
        self.assertIsNone(other("SET", "lock:x", "b", "NX", "PX", 60000))
        begin = now()
        self.assertIsNone(third("BLPOP", "lock-signal:x", 0.2))
        self.assert_within(0.2, now() - begin, patience(0.5, begin))
        begin = now()
        third("BLPOP", "lock-signal:x", 0)  # it looks again
        self.assert_within(1, now() - begin, patience(1.5, begin))
