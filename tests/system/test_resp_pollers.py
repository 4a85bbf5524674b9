"""Clients of Redis that poll: who is told no, who waits for whom, and crowds of them."""

import time

from lib.resp import REDIS_PY_RELEASE
from lib.wait import now, patience
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

    def test_a_program_that_tries_once(self):
        """redis-py: acquire(blocking=False), right behind a release, again and again."""
        for i in range(30):
            self.release_behind("x", 0)
            self.take("x")
            self.assertEqual(self.newcomer("EVALSHA", REDIS_PY_RELEASE, 1, "x", "c"), 1, i)
