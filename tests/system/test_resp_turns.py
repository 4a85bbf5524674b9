"""Threads of Redisson that wait: each JVM listens over one connection.  When the turn of a thread
has come, all who listen are told, and its JVM gets the lock."""

import random
import time
import unittest

from lib.case import note
from lib.redisson import SCRIPTS, channel_of, latch_of
from lib.resp import Resp
from lib.wait import eventually, now, patience
from test_resp import HASH, SECRET, RespTest

HOLDER = "0000:1"
KEPT = 0.25  # seconds for which a name is kept for a JVM, at most


class Program:
    """A JVM, in small steps: one connection that listens, one for scripts."""

    def __init__(self, test, number, broker=None, other=None, auth=None, three=False,
                 source=None):
        """From an address of its own; it listens at the one broker and takes at the other."""
        broker = broker or test.brokers[0]
        source = source or f"127.0.0.{number + 1}"
        self.id = f"{number}{number}{number}{number}"
        self.listener = Resp(f"127.0.0.1:{broker.port}", source=source)
        self.client = Resp(f"127.0.0.1:{(other or broker).port}", source=source)
        for client in (self.listener, self.client):
            test.addCleanup(client.close)
            if auth:
                client("AUTH", *auth)
        if three:
            self.listener("HELLO", 3)
        self.three = three

    def listen(self, name="a"):
        self.listener.send("SUBSCRIBE", channel_of(name))
        assert self.next()[0] == "subscribe"
        assert self.next() == ["message", channel_of(name), "1"]

    def leave(self, name="a"):
        self.listener.send("UNSUBSCRIBE", channel_of(name))
        while (reply := self.next())[0] != "unsubscribe":
            assert reply == ["message", channel_of(name), "0"]

    def next(self):
        """What comes next on the connection that listens."""
        return self.listener.push() if self.three else self.listener.read()

    def told(self, name="a"):
        """Waits for a message; returns after how long it came."""
        start = now()
        assert self.next() == ["message", channel_of(name), "0"]
        return now() - start

    def messages(self):
        """How many have come by now."""
        self.listener.send("PING")
        count = 0
        while True:
            reply = self.listener.read()
            count += len(self.listener.pushes)
            self.listener.pushes.clear()
            if reply == "PONG" or reply[0] == "pong":
                return count
            count += 1

    def take(self, thread=1, name="a", ms=60000):
        """None, or for how long to sleep."""
        return self.client("EVALSHA", SCRIPTS["TAKE"][0], 1, name, ms, f"{self.id}:{thread}")

    def unlock(self, thread=1, name="a"):
        return self.client(
            "EVALSHA", SCRIPTS["UNLOCK"][0], 3, name, channel_of(name),
            latch_of(name, random.getrandbits(128)), "0", 60000, f"{self.id}:{thread}", "PUBLISH", 16000)

    def wait(self, thread=1, name="a"):
        """What a thread does until it sleeps."""
        assert self.take(thread, name) is not None
        ms = self.take(thread, name)
        assert ms is not None
        return ms


class Waiting(RespTest):
    """A lock that somebody has."""

    def setUp(self):
        super().setUp()
        self.broker()
        self.holder = Program(self, 9)
        self.assertIsNone(self.holder.take())

    def programs(self, count, **options):
        programs = [Program(self, 1 + i, **options) for i in range(count)]
        for program in programs:
            program.listen()
        return programs


class Turns(Waiting):

    def test_all_are_told_and_one_has_the_turn(self):
        programs = self.programs(3)
        for program in programs:
            program.wait()
        before = self.holder
        for i, program in enumerate(programs):
            self.assertEqual(before.unlock(), 1)
            for other in programs:
                other.told()
            for other in programs[i + 1:]:
                self.assert_within(1, other.take(), KEPT * 1000)
            self.assertIsNone(program.take())
            self.assertEqual([one.messages() for one in programs], [0, 0, 0], i)
            before = program

    def test_kept_for_that_program(self):
        one, other = self.programs(2)
        line, plain = self.client(), self.resp()
        one.wait()
        other.wait()
        self.holder.unlock()
        one.told()
        self.assert_within(1, other.take(), KEPT * 1000)
        self.assertIsNone(plain("SET", "a", "x", "NX", "PX", 1000))
        self.assertEqual(line.ask("TRYLOCK a").status, "BUSY")
        self.assertGreater(one.take(2), 0, "this thread has not waited")
        self.assertIsNone(one.take())
        self.assertEqual(one.client("HGET", "a", f"{one.id}:1"), "1")
        self.assertEqual(one.unlock(), 1)
        other.told()
        self.assertIsNone(other.take())

    def test_whichever_thread_has_woken(self):
        one, other = self.programs(2)
        one.wait(1)
        other.wait(1)
        one.wait(2)
        self.holder.unlock()
        one.told()
        self.assertIsNone(one.take(2))
        self.assertGreater(one.take(1), 0)
        one.unlock(2)
        other.told()
        self.assertIsNone(other.take())
        other.unlock()
        one.told()
        self.assertIsNone(one.take(1), "it has the place of the other")

    def test_a_thread_that_has_not_waited_lets_another_one_come(self):
        program, = self.programs(1)
        program.wait()
        self.holder.unlock()
        program.told()
        self.assertGreater(program.take(2), 0)
        self.assertIsNone(program.take(1))

    def test_nobody_comes(self):
        one, other = self.programs(2)
        one.wait()
        other.wait()
        self.holder.unlock()
        one.told()
        other.told()
        start = now()
        self.assertGreater(other.take(), 0)
        while other.take():
            other.told()
        self.assert_within(KEPT - 0.1, now() - start, KEPT + 2)
        self.assertGreater(one.take(), 0)
        other.unlock()
        while one.take():
            one.told()

    def test_fences_rise(self):
        one, other = self.programs(2)
        fences = [self.holder.client("LB.FENCE", "a", f"{self.holder.id}:1")]
        before = self.holder
        for turn in range(6):
            program = (one, other)[turn % 2]
            program.wait()
            before.unlock()
            program.told()
            self.assertIsNone(program.take())
            fences.append(program.client("LB.FENCE", "a", f"{program.id}:1"))
            before = program
        self.assertEqual(fences, sorted(set(fences)))

    def test_how_long_a_thread_sleeps(self):
        """It heals what may be lost, so it is no long time."""
        program = Program(self, 1)
        self.assert_within(1, program.wait(), 500)
        program.listen()
        self.assert_within(501, program.wait(), 2000)
        program.leave()
        self.assert_within(1, program.wait(), 500)

    def test_who_does_not_listen_any_more_has_no_turn(self):
        one, other = self.programs(2)
        one.wait()
        one.leave()
        other.leave()
        self.holder.unlock()
        self.assertIsNone(other.take(), "nobody listens")
        other.unlock()
        self.assertIsNone(self.holder.take())
        other.listen()
        one.wait()
        other.wait()
        self.holder.unlock()
        start = now()
        while other.take():
            other.told()
        self.assertLess(now() - start, KEPT + 2)
        other.listener.close()
        self.assertGreater(one.take(), 0)

    def test_whose_connection_breaks_has_no_turn(self):
        """While the lock is kept for it."""
        one, = self.programs(1)
        one.wait()
        self.holder.unlock()
        one.told()
        start = now()
        one.listener.close()
        while self.holder.take():
            pass
        self.assertLess(now() - start, KEPT - 0.05)

    def test_a_thread_without_a_place_is_told(self):
        """Whoever releases: nobody has a place, and somebody may sleep."""
        one, = self.programs(1)
        self.holder.unlock()
        one.told()
        self.assertIsNone(self.holder.take())
        self.holder.client("EVALSHA", SCRIPTS["FORCE"][0], 2, "a", channel_of("a"), "0", "PUBLISH")
        one.told()

    def test_who_has_given_up_stops_nobody(self):
        one, = self.programs(1)
        one.wait(1)
        one.leave()
        self.assertGreater(one.take(2), 0)
        one.listen()
        self.assertGreater(one.take(2), 0)
        self.holder.unlock()
        self.assertLess(one.told(), KEPT - 0.1)
        self.assertIsNone(one.take(2))
        one.unlock(2)
        one.told()
        one.leave()
        self.assertIsNone(self.holder.take())

    def test_the_connection_breaks_over_which_it_was_refused(self):
        """While the thread sleeps: it comes over another one."""
        program, = self.programs(1)
        self.assert_within(501, program.wait(), 2000)
        program.client.close()
        self.holder.client("PING")
        self.holder.unlock()
        self.assertLess(program.told(), KEPT / 2)

    def test_a_program_listens_anew_before_its_old_connection_ends(self):
        program, = self.programs(1)
        program.wait()
        old = program.listener
        program.listener = Resp(f"127.0.0.1:{self.brokers[0].port}", source="127.0.0.2")
        self.addCleanup(program.listener.close)
        program.listen()
        self.assertGreater(program.take(), 500)
        old.close()
        self.holder.client("PING")
        self.holder.unlock()
        self.assertLess(program.told(), KEPT / 2)
        self.assertIsNone(program.take())

    def test_others_that_leave_take_no_places_with_them(self):
        one, other = Program(self, 1), Program(self, 2, source="127.0.0.2")
        one.listen()
        other.listen()
        one.wait()
        other.leave()
        self.holder.unlock()
        one.told()
        self.assertIsNone(one.take())

    def test_braces(self):
        """The channel of `a` is that of `{a}`, too."""
        for i, name in enumerate(("{b}", "b{c}d", "x" * 200)):
            program = Program(self, 1 + i)
            program.listen(name)
            self.assertIsNone(self.holder.take(1, name))
            program.wait(1, name)
            self.holder.unlock(1, name)
            program.told(name)
            self.assertIsNone(program.take(1, name))

    def test_resp3(self):
        program, = self.programs(1, three=True)
        program.wait()
        self.holder.unlock()
        program.told()
        self.assertIsNone(program.take())


class Crowds(Waiting):
    """Very many JVMs listen for one lock."""

    def test_all_are_told(self):
        """A hundred in a turn of the loop, which goes on by itself."""
        crowd = [self.resp() for _ in range(601)]
        for listener in crowd:
            listener.send("SUBSCRIBE", channel_of("a"))
        for listener in crowd:
            self.assertEqual(listener.read()[0], "subscribe")
            self.assertEqual(listener.read(), ["message", channel_of("a"), "1"])
        crowd.pop().close()
        start = now()
        self.holder.unlock()
        for listener in crowd:  # nobody sends or awaits anything: that would wake the loop
            self.assertEqual(listener.read(), ["message", channel_of("a"), "0"])
        self.assertLess(now() - start, patience(0.5, start))


class Others(RespTest):

    def test_never_parked_while_it_listens(self):
        self.broker(resp={"park": "8s"})
        holder, program = Program(self, 9), Program(self, 1)
        names = [f"n{i}" for i in range(8)]
        for name in names:
            holder.take(1, name)
            self.assertGreater(program.take(1, name), 0)
            program.listen(name)
        start = now()
        for name in names:
            for _ in range(3):
                self.assertGreater(program.take(1, name), 0)
        self.assertLess(now() - start, 3)

    def test_users(self):
        """Who listens for another user is told nothing."""
        self.broker(auth={"users": [{"name": name, "hash": HASH, "lock": ["*"]}
                                    for name in ("j", "k")]}, ready=False)
        eventually(lambda: self.brokers[0].log_lines("guard-ready"), 10)
        holder = Program(self, 9, auth=("j", SECRET))
        stranger = Program(self, 1, auth=("k", SECRET))
        program = Program(self, 2, auth=("j", SECRET))
        self.assertIsNone(holder.take())
        stranger.listen()
        program.wait()
        holder.unlock()
        eventually(lambda: program.take() is None, 5)
        self.assertEqual(stranger.messages(), 0)
        program.listen()
        holder.wait()
        self.assertGreater(stranger.take(), 0)
        self.assertEqual(program.unlock(), 1)
        self.assertEqual(stranger.messages(), 0)

    def test_a_turn_is_taken_at_another_broker(self):
        """The connections of a program may go to several brokers."""
        server = self.redis()
        for _ in range(2):
            self.broker(server, trust_new=True)
        one, other = self.brokers
        holder = Program(self, 9)
        program = Program(self, 1, broker=one, other=other)
        near = Program(self, 1, broker=one)
        behind = Program(self, 2, broker=one)
        self.assertIsNone(holder.take())
        program.listen()
        behind.listen()
        near.wait()
        behind.wait()
        holder.unlock()
        program.told()
        start = now()
        self.assertIsNone(program.take())
        self.assertEqual(program.unlock(), 1)
        behind.told()
        self.assertIsNone(behind.take())
        self.assertLess(now() - start, KEPT)

    def test_the_hold_may_end_unheard(self):
        """Its bound has passed, and nobody has said so: the broker looks by itself."""
        self.broker(lease=1)
        holder, program = Program(self, 9), Program(self, 1)
        self.assertIsNone(holder.take(ms=1500))
        program.listen()
        program.wait()
        self.assertLess(program.told(), 4)
        time.sleep(0.1)
        self.assertIsNone(program.take())

    def test_the_broker_of_a_session_dies(self):
        """Nobody says that the name is free: the other broker looks when the key ends."""
        server = self.redis()
        for _ in range(2):
            self.broker(server, trust_new=True, lease=2)
        self.client().lock("a")
        # A look once a lease would come just before the end of the key.
        eventually(lambda: server.pttl("a") > 2400, 10)
        self.brokers[0].kill()
        eventually(lambda: server.pttl("a") < 2200, 10)
        program = Program(self, 1, broker=self.brokers[1])
        program.listen()
        program.wait()
        self.assertLess(program.told(), 3)
        self.assertIsNone(program.take())


if __name__ == "__main__":
    unittest.main()
