"""getFairLock() and getFencedLock() of Redisson."""

import random
import unittest

from lib.case import note
from lib.redisson import (ONE, OTHER, SCRIPTS, Jvm, Scripted, channel_of, fair_keys, latch_of,
                          prefixed, run_threads, wall_ms)
from lib.resp import Resp, answer
from lib.wait import eventually, now
from test_resp import HASH, SECRET, RespTest

TAKES = ("FAIR_TAKE", "FAIR_TAKE_3_32", "FAIR_TAKE_3_31", "FAIR_TAKE_3_11")
TRIES = ("FAIR_TRY", "FAIR_TRY_3_11")
UNLOCKS = ("FAIR_UNLOCK", "FAIR_UNLOCK_3_24", "FAIR_UNLOCK_3_22", "FAIR_UNLOCK_3_3")
FORCES = ("FAIR_FORCE", "FAIR_FORCE_3_22", "FAIR_FORCE_3_2")


def take(script, name, token, ms=30000):
    """The words behind the script."""
    times = [wall_ms(), 300000]
    if script in TAKES:
        times.reverse()
    return [3, *fair_keys(name), ms, token, *times]


def unlock(script, name, token, ms=30000, number=None):
    keys = [*fair_keys(name), channel_of(name)]
    args = ["0", ms, token, wall_ms()]
    if script != "FAIR_UNLOCK_3_3":
        args.append("PUBLISH")
    if script in ("FAIR_UNLOCK", "FAIR_UNLOCK_3_24"):
        keys.append(latch_of(name, random.getrandbits(128) if number is None else number))
        args.append(16000)
    return [len(keys), *keys, *args]


def force(script, name):
    words = [4, *fair_keys(name), channel_of(name), "0", wall_ms()]
    return words if script == "FAIR_FORCE_3_2" else [*words, "PUBLISH"]


def leave(name, token):
    return [2, *fair_keys(name)[1:], token, 300000]


class Scripts(Scripted, RespTest):
    """Each form, alone."""

    def setUp(self):
        super().setUp()
        self.broker(resp={"park": 0})
        self.one = self.resp()

    def test_take_again_and_unlock(self):
        for i, release in enumerate(UNLOCKS):
            for script in TAKES + TRIES:
                with self.subTest(take=script, unlock=release):
                    name = f"a{i}{script}"
                    for depth in (1, 2, 3):
                        self.assertIsNone(self.run_script(script, *take(script, name, ONE)))
                        self.assertEqual(self.one("HGET", name, ONE), str(depth))
                    refused = self.run_script(script, *take(script, name, OTHER))
                    if script in TRIES:
                        self.assertEqual(refused, 1)
                    else:
                        self.assert_within(1, refused, 500)
                    self.assertIsNone(self.run_script(release, *unlock(release, name, OTHER)))
                    for left in (0, 0, 1, 1):  # who doesn't have it hears that it is free
                        self.assertEqual(self.run_script(release, *unlock(release, name, ONE)),
                                         left)
                    self.assertEqual(self.one("EXISTS", name), 0)

    def test_force(self):
        for script in FORCES:
            with self.subTest(force=script):
                self.assertEqual(self.run_script(script, *force(script, "a")), 0)
                self.run_script("FAIR_TAKE", *take("FAIR_TAKE", "a", ONE))
                self.assertEqual(self.run_script(script, *force(script, "a")), 1)
                self.assertEqual(self.one("EXISTS", "a"), 0)

    def test_an_answer_that_was_lost(self):
        for _ in range(2):
            self.run_script("FAIR_TAKE", *take("FAIR_TAKE", "a", ONE))
        words = unlock("FAIR_UNLOCK", "a", ONE, number=7)
        self.assertEqual([self.run_script("FAIR_UNLOCK", *words) for _ in range(3)], [0, 0, 0])
        self.assertEqual(self.one("HGET", "a", ONE), "1")

    def test_the_same_lock_as_that_of_getlock(self):
        self.run_script("FAIR_TAKE", *take("FAIR_TAKE", "a", ONE))
        self.assertGreater(self.run_script("TAKE", 1, "a", 30000, OTHER), 0)
        self.assertIsNone(self.run_script("TAKE", 1, "a", 30000, ONE))
        self.assertEqual(self.one("HGET", "a", ONE), "2")

    def test_another_time(self):
        self.assertEqual(self.run_script("EXPIRE", 3, *fair_keys("a"), 60000, ""), 0)
        self.run_script("FAIR_TAKE", *take("FAIR_TAKE", "a", ONE, 5000))
        self.assertEqual(self.run_script("EXPIRE", 3, *fair_keys("a"), 60000, ""), 1)
        self.assertGreater(self.one("PTTL", "a"), 50000)
        self.assertIn("one key", self.one.error(
            "EVALSHA", SCRIPTS["EXPIRE"][0], 3, "a", "b", "c", 60000, ""))

    def test_what_is_refused(self):
        words = unlock("FAIR_UNLOCK", "a", ONE)
        words[words.index("PUBLISH")] = "FLUSHALL"
        self.assertIn("PUBLISH", self.one.error("EVALSHA", SCRIPTS["FAIR_UNLOCK"][0], *words))
        self.assertIn("queue", self.one.error(
            "EVALSHA", SCRIPTS["FAIR_LEAVE"][0], 2, "a", "b", ONE, 1))
        self.assertIn("arguments", self.one.error(
            "EVALSHA", SCRIPTS["FAIR_LEAVE"][0], 2, *fair_keys("a")[1:]))
        self.assertIsNone(self.run_script("FAIR_LEAVE", *leave("a", ONE)))

    def test_rights_are_those_of_the_name(self):
        broker = self.broker(auth={"users": [{"name": "j", "hash": HASH, "lock": ["job-*"]}]},
                             ready=False)
        eventually(lambda: broker.log_lines("guard-ready"), 10)
        self.one = self.resp(broker)
        self.one("AUTH", "j", SECRET)
        self.assertIsNone(self.run_script("FAIR_TAKE", *take("FAIR_TAKE", "job-1", ONE)))
        self.assertIsNone(self.run_script("FAIR_LEAVE", *leave("job-1", OTHER)))
        self.assertIsNotNone(self.one("GET", prefixed("redisson_lock_token", "job-1")))
        self.assertEqual(self.run_script("FAIR_UNLOCK", *unlock("FAIR_UNLOCK", "job-1", ONE)), 1)
        for words in (("EVALSHA", SCRIPTS["FAIR_TAKE"][0], *take("FAIR_TAKE", "other", ONE)),
                      ("EVALSHA", SCRIPTS["FAIR_LEAVE"][0], *leave("other", ONE)),
                      ("GET", prefixed("redisson_lock_token", "other"))):
            self.assertTrue(self.one.error(*words).startswith("NOPERM "), words)


class Oracle(RespTest):
    """One client alone, whose threads do not wait: what the broker answers is what Redis answers."""

    def test_as_redis(self):
        seed = random.randrange(1 << 32)
        note(f"seed {seed}")
        rng = random.Random(seed)
        server = self.redis()
        self.broker(resp={"park": 0})
        broker, redis = self.resp(), Resp(server.address)
        self.addCleanup(redis.close)
        for serial in range(600):
            name, token = rng.choice("ab"), rng.choice((ONE, OTHER))
            ms = rng.choice((60000, 60000, 60000, 0, -1))
            kind = rng.randrange(10)
            if kind < 4:
                script = rng.choice(TRIES)
                words = take(script, name, token, ms)
            elif kind < 9:
                script = rng.choice(UNLOCKS)
                words = unlock(script, name, token, ms, rng.choice((serial, max(serial - 1, 1))))
            else:
                script = rng.choice(FORCES)
                words = force(script, name)
            sha, text = SCRIPTS[script]
            mine = answer(broker, *rng.choice((("EVALSHA", sha), ("EVAL", text))), *words)
            self.assertEqual(mine, answer(redis, "EVAL", text, *words), (serial, script, words))
            for ask in (("HGET", name, token), ("EXISTS", "a", "b")):
                self.assertEqual(broker(*ask), redis(*ask), (serial, script, words))


class Thread:
    """One that waits for a fair lock, in small steps, and the connections of its JVM."""

    def __init__(self, number, listener, client, name="a"):
        self.listener, self.client, self.name = listener, client, name
        self.token = f"6f0b:{number}"
        self.channel = f"{channel_of(name)}:{self.token}"

    def take(self):
        return self.client("EVALSHA", SCRIPTS["FAIR_TAKE"][0],
                           *take("FAIR_TAKE", self.name, self.token))

    def wait(self):
        assert self.take() is not None
        self.listener.send("SUBSCRIBE", self.channel)
        assert self.listener.read()[0] == "subscribe"
        assert self.listener.read() == ["message", self.channel, "1"]
        ms = self.take()
        assert ms is not None
        return ms

    def told(self):
        """Waits for a message, which must be for this thread; returns after how long it came."""
        start = now()
        message = self.listener.read()
        assert message == ["message", self.channel, "0"], message
        return now() - start

    def unsubscribe(self):
        self.listener.send("UNSUBSCRIBE", self.channel)
        assert self.listener.read()[0] == "unsubscribe"

    def give_up(self):
        assert self.client("EVALSHA", SCRIPTS["FAIR_LEAVE"][0],
                           *leave(self.name, self.token)) is None

    def leave(self):
        self.give_up()
        self.unsubscribe()

    def unlock(self):
        return self.client("EVALSHA", SCRIPTS["FAIR_UNLOCK"][0],
                           *unlock("FAIR_UNLOCK", self.name, self.token))


class Turns(RespTest):
    """Of the threads of one JVM, too, exactly the one whose turn it is is told."""

    def setUp(self):
        super().setUp()
        self.broker()
        self.listener, self.scripts = self.resp(), self.resp()
        self.holder = self.thread(99)
        self.assertIsNone(self.holder.take())

    def thread(self, number, name="a"):
        return Thread(number, self.listener, self.scripts, name)

    def waiting(self, count):
        threads = [self.thread(number) for number in random.sample(range(1, 98), count)]
        for thread in threads:
            # It is known at once who listens.
            self.assert_within(501, thread.wait(), 10000)
        return threads

    def test_in_the_order_in_which_they_came(self):
        before = self.holder
        for thread in self.waiting(5):
            self.assertEqual(before.unlock(), 1)
            thread.told()
            self.assertGreater(self.thread(98).take(), 0, "who has not waited")
            self.assertIsNone(thread.take())
            thread.unsubscribe()
            before = thread

    def test_the_turn_is_of_that_thread_alone(self):
        one, other = self.waiting(2)
        self.holder.unlock()
        one.told()
        self.assertGreater(other.take(), 0)
        self.assertIsNone(one.take())

    def test_nobody_comes(self):
        one, other = self.waiting(2)
        self.holder.unlock()
        one.told()
        one.told()  # once more, in vain
        other.told()
        self.assertIsNone(other.take())

    def test_who_gives_up_has_no_turn(self):
        one, two, three = self.waiting(3)
        two.leave()
        self.holder.unlock()
        one.told()
        start = now()
        one.give_up()
        three.told()
        self.assertIsNone(three.take())
        self.assert_within(0, now() - start, 0.4)

    def test_who_listens_no_more_has_no_turn(self):
        one, other = self.waiting(2)
        one.unsubscribe()
        self.holder.unlock()
        other.told()
        self.assertIsNone(other.take())

    def test_who_leaves_another_channel_of_the_lock_keeps_its_turn(self):
        """Other threads of the JVM take the lock by getLock()."""
        one, = self.waiting(1)
        self.listener.send("SUBSCRIBE", channel_of("a"))
        self.assertEqual([self.listener.read()[0] for _ in range(2)], ["subscribe", "message"])
        self.listener.send("UNSUBSCRIBE", channel_of("a"))
        self.assertEqual(self.listener.read()[0], "unsubscribe")
        self.holder.unlock()
        one.told()
        self.assertIsNone(one.take())

    def test_names_with_braces_and_colons(self):
        for name in ("{b}", "b{c}d", "b:c", "b:{c}:d", "x" * 200):
            with self.subTest(name=name):
                holder, one, other = (self.thread(i, name) for i in (99, 1, 2))
                self.assertIsNone(holder.take())
                one.wait()
                other.wait()
                one.leave()
                holder.unlock()
                other.told()
                self.assertIsNone(other.take())
                other.unsubscribe()

    def test_line_clients_have_their_turn(self):
        line, other_line = self.client(), self.client()
        one, = self.waiting(1)
        line.send("LOCK a wait=20s")
        eventually(lambda: other_line.ask("STATUS a")["waiters"] == "2", 5)
        other, = self.waiting(1)
        self.holder.unlock()
        one.told()
        self.assertIsNone(one.take())
        one.unsubscribe()
        one.unlock()
        self.assertEqual(line.reply(10).status, "OK")
        line.ok("UNLOCK a")
        other.told()
        self.assertIsNone(other.take())


class Fences(RespTest):
    """getFencedLock()."""

    def setUp(self):
        super().setUp()
        self.broker()
        self.one = self.resp()

    def take(self, script, token, name="a"):
        return self.one("EVALSHA", SCRIPTS[script][0], 2, name,
                        prefixed("redisson_lock_token", name), 30000, token)

    def token(self, name="a"):
        """getToken()."""
        answer = self.one("GET", prefixed("redisson_lock_token", name))
        return answer if answer is None else int(answer)

    def unlock(self, token, name="a"):
        return self.one("EVALSHA", SCRIPTS["UNLOCK"][0], 3, name, channel_of(name),
                        latch_of(name, random.getrandbits(128)), "0", 30000, token, "PUBLISH", 16000)

    def test_the_fence_of_the_broker(self):
        for name in ("a", "b:c", "c{d}"):
            with self.subTest(name=name):
                last = 0
                self.assertIsNone(self.token(name))
                for token, refused in ((ONE, OTHER), (OTHER, ONE), (ONE, OTHER)):
                    ttl, fence = self.take("FENCED_TAKE_TOKEN", token, name)
                    self.assertEqual(ttl, -1)
                    self.assertGreater(fence, last)
                    self.assertEqual(self.token(name), fence)
                    self.assertEqual(self.one("LB.FENCE", name, token), fence)
                    self.assertEqual(self.take("FENCED_TAKE_TOKEN", token, name), [-1, fence])
                    # Whose turn it is then.
                    ttl, none = self.take("FENCED_TAKE_TOKEN", refused, name)
                    self.assertEqual(none, -1)
                    self.assert_within(1, ttl, 10000)
                    self.assertEqual([self.unlock(token, name), self.unlock(token, name)], [0, 1])
                    last = fence
                self.assertIsNone(self.take("FENCED_TAKE", OTHER, name))
                self.assertGreater(self.token(name), last)

    def test_of_what_others_hold(self):
        line = self.client()
        fence = line.lock("a")
        self.assertEqual(self.token(), fence)

    def test_the_key_is_no_lock(self):
        self.take("FENCED_TAKE", ONE)
        key = prefixed("redisson_lock_token", "a")
        self.assertEqual(self.one("DEL", key), 0)
        self.assertEqual(self.one("EXISTS", key), 0)
        self.assertEqual(self.one("EXISTS", "a"), 1)


class Jvms(RespTest):
    """Programs that lock as Redisson does."""

    def test_threads_of_three_jvms_at_two_brokers(self):
        server = self.redis()
        for _ in range(2):
            self.broker(server, trust_new=True)
        jvms = [Jvm(lambda i=i: Resp(f"unix:{self.brokers[i % 2].unix_path}")) for i in range(3)]
        for jvm in jvms:
            self.addCleanup(jvm.close)
        inside, fences, kinds = [], [], ("fair", "fair", "fenced", None)

        def run(jvm, thread):
            for _ in range(4):
                self.assertTrue(jvm.lock("a", thread, kind=kinds[thread]))
                inside.append(jvm)
                assert len(inside) == 1, inside
                fences.append(jvm.command("LB.FENCE", "a", jvm.token(thread)))
                inside.pop()
                assert jvm.unlock("a", thread, kinds[thread]) == 1

        self.assertEqual(run_threads(jvms, range(len(kinds)), run), [])
        self.assertEqual(fences, sorted(set(fences)))
        self.assertEqual(len(fences), 4 * len(kinds) * len(jvms))

    def test_try_lock(self):
        self.broker()
        one, other = (Jvm(lambda: Resp(f"unix:{self.brokers[0].unix_path}")) for _ in range(2))
        for jvm in (one, other):
            self.addCleanup(jvm.close)
        self.assertTrue(one.lock("a", 1, wait=0, kind="fair"))
        self.assertFalse(other.lock("a", 1, wait=0, kind="fair"))
        start = now()
        self.assertFalse(other.lock("a", 1, wait=0.7, kind="fair"))
        self.assert_within(0.7, now() - start, 3)
        self.assertEqual(one.unlock("a", 1, "fair"), 1)
        self.assertTrue(other.lock("a", 2, wait=5, kind="fair"))


if __name__ == "__main__":
    unittest.main()
