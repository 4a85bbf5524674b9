"""Threads of Redisson that wait: each JVM listens over one connection, and is told when the turn
of one of its threads has come."""

import random
import select
import time
import unittest

from lib.case import note
from lib.redisson import SCRIPTS, channel_of, latch_of
from lib.resp import Resp
from lib.wait import eventually, now, patience
from test_resp import HASH, SECRET, RespTest

HOLDER = "0000:1"
KEPT = 0.5  # seconds for which a name is kept for a JVM


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
        assert self.next()[0] == "unsubscribe"

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

    def introduce(self, program):
        """From its first turn on the broker knows where it listens."""
        program.wait()
        self.holder.unlock()
        program.told()
        self.assertIsNone(program.take())
        program.unlock()
        self.assertIsNone(self.holder.take())


class Turns(Waiting):

    def test_only_the_one_whose_turn_it_is(self):
        programs = self.programs(3)
        for program in programs:
            program.wait()
        before = self.holder
        for i, program in enumerate(programs):
            self.assertEqual(before.unlock(), 1)
            program.told()
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
        self.assertGreater(other.take(), 0)
        self.assertIsNone(plain("SET", "a", "x", "NX", "PX", 1000))
        self.assertEqual(line.ask("TRYLOCK a").status, "BUSY")
        self.assertGreater(one.take(2), 0, "this thread has not waited")
        self.assertIsNone(one.take())
        self.assertEqual(one.client("HGET", "a", f"{one.id}:1"), "1")
        self.assertEqual(one.unlock(), 1)
        other.told()

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
        self.introduce(program)
        program.wait()
        self.holder.unlock()
        program.told()
        self.assertGreater(program.take(2), 0)
        self.assertLess(program.told(), KEPT / 2)
        self.assertIsNone(program.take(1))

    def test_nobody_comes(self):
        one, other = self.programs(2)
        one.wait()
        other.wait()
        self.holder.unlock()
        one.told()
        self.assert_within(KEPT - 0.1, other.told(), KEPT + 2)
        while other.take():  # both are woken before the turn of the other has come
            other.told()
        self.assertGreater(one.take(), 0)
        other.unlock()
        while one.take():
            one.told()

    def test_threads_that_may_have_been_woken_by_several(self):
        """JVMs of one host: the broker does not know yet who listens where."""
        second, first, third = self.programs(3, source="127.0.0.1")
        for program, thread in (first, 1), (second, 1), (first, 2):
            program.wait(thread)
        self.holder.unlock()
        third.told()  # the last one that subscribed; it has no thread that waits
        self.assertIsNone(first.take(1), "it looks by itself")
        start = now()
        first.unlock(1)
        while second.listener not in (told := self.who_is_told(second, first, third)):
            if first.listener in told:
                self.assertGreater(first.take(2), 0)
        self.assertLess(now() - start, KEPT - 0.1)
        self.assertIsNone(second.take())

    def who_is_told(self, *programs):
        """The listeners that have read a message, once there is one."""
        ready, _, _ = select.select([one.listener.sock for one in programs], [], [], patience(10))
        told = [one for one in programs if one.listener.sock in ready]
        self.assertTrue(told, "nobody is told")
        for one in told:
            one.told()
        return [one.listener for one in told]

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
        program = Program(self, 1)
        self.assert_within(1, program.wait(), 500)
        program.listen()
        self.assert_within(1, program.wait(), 500, "nobody knows yet who listens")
        self.holder.unlock()
        program.told()
        self.assertIsNone(program.take())
        self.assertEqual(program.unlock(), 1)
        self.assertIsNone(self.holder.take())
        self.assert_within(501, program.wait(), 10000)
        other = Program(self, 2)
        self.assert_within(1, other.wait(), 500)
        self.assert_within(1, other.wait(), 500, "who listens is another one")

    def test_who_does_not_listen_any_more_has_no_turn(self):
        one, other = self.programs(2)
        for program in one, other:
            self.introduce(program)
        one.wait()
        other.wait()
        one.leave()
        self.holder.unlock()
        self.assertLess(other.told(), KEPT / 2)
        self.assertIsNone(other.take())
        other.listener.close()
        self.assertGreater(one.take(), 0)

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
        self.introduce(program)
        self.assert_within(501, program.wait(), 10000)
        program.client.close()
        self.holder.client("PING")
        self.holder.unlock()
        self.assertLess(program.told(), KEPT / 2)

    def test_a_program_listens_anew_before_its_old_connection_ends(self):
        """Which was thought to be the one that listens, and takes the places with it."""
        program, = self.programs(1)
        self.introduce(program)
        program.wait()
        old = program.listener
        program.listener = Resp(f"127.0.0.1:{self.brokers[0].port}", source="127.0.0.2")
        self.addCleanup(program.listener.close)
        program.listen()
        self.assertGreater(program.take(), 500)
        old.close()
        self.assertEqual(program.next(), ["message", channel_of("a"), "1"])
        self.assertGreater(program.take(), 0)
        self.holder.unlock()
        self.assertLess(program.told(), KEPT / 2)

    def test_others_that_leave_take_no_places_with_them(self):
        """Also while it is not known who listens where."""
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

    ALL = ["message", channel_of("a"), "1"]

    def crowd(self, count):
        """Those of which the broker knows nothing."""
        crowd = [self.resp() for _ in range(count)]
        for listener in crowd:
            listener.send("SUBSCRIBE", channel_of("a"))
        for listener in crowd:
            self.assertEqual(listener.read()[0], "subscribe")
            self.assertEqual(listener.read(), self.ALL)
        return crowd

    def messages(self, crowd):
        """How many each has by now; all of them wake all threads."""
        counts = []
        for listener in crowd:
            listener.send("PING")
            counts.append(0)
            while (reply := listener.read())[0] != "pong":
                self.assertEqual(reply, self.ALL)
                counts[-1] += 1
        return counts

    def test_the_one_whose_turn_it_is(self):
        first, = self.programs(1)
        self.introduce(first)
        crowd = self.crowd(300)
        self.assert_within(501, first.wait(), 10000)
        self.holder.unlock()
        self.assertLess(first.told(), KEPT / 2)
        self.assertIsNone(first.take())
        self.assertEqual(self.messages(crowd), [0] * len(crowd))

    def test_who_has_heard_a_message(self):
        """One that comes last; that all have been greeted is over."""
        self.crowd(300)
        time.sleep(0.15)
        program, = self.programs(1)
        for _ in range(2):  # whether others listen from its address is not looked up
            self.introduce(program)
        self.assert_within(501, program.wait(), 10000)

    def test_one_breaks(self):
        *crowd, one = self.crowd(601)
        start = now()
        one.close()
        for listener in crowd:
            self.assertEqual(listener.read(), self.ALL)
        self.assertLess(now() - start, patience(0.5, start))
        self.assertEqual(self.messages(crowd), [0] * len(crowd))

    def test_very_many_break(self):
        """At once: those that stay look a few times, and not once for each."""
        crowd = self.crowd(400)
        random.shuffle(crowd)
        gone, stay = crowd[50:], crowd[:50]
        self.brokers[0].freeze()
        for listener in gone:
            listener.close()
        self.brokers[0].thaw()
        for listener in stay:
            self.assertEqual(listener.read(), self.ALL)
        line = self.client()
        eventually(lambda: line.stats()["clients"] == str(len(stay) + 3), 10)
        counts = self.messages(stay)
        note(f"{max(counts) + 1} messages at most")
        self.assertLess(max(counts), len(gone) / 4)

    def test_a_program_listens_no_more(self):
        """Those look of which nothing is known: its threads may sleep there."""
        one, other = self.programs(2)
        self.introduce(one)
        self.introduce(other)
        crowd = self.crowd(300)
        one.leave()
        for listener in crowd:
            self.assertEqual(listener.read(), self.ALL)
        self.assertEqual(self.messages(crowd), [0] * len(crowd))
        self.assertEqual(other.messages(), 0)

    def test_nobody_comes(self):
        """Who it was is woken, whoever it is."""
        program, = self.programs(1)
        program.wait()
        crowd = self.crowd(300)
        self.holder.unlock()
        for listener in crowd[:-1]:  # one of them was told of the turn before
            self.assertEqual(listener.read(), ["message", channel_of("a"), "0"])
        program.told()
        self.assertIsNone(program.take())


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

    def test_users_whose_connections_break(self):
        """Those of another user are not woken, unless there are very many users."""
        names = [f"j{i}" for i in range(8)]
        self.broker(auth={"users": [{"name": name, "hash": HASH, "lock": ["*"]}
                                    for name in names]}, ready=False)
        eventually(lambda: self.brokers[0].log_lines("guard-ready"), 10)
        one, two, *strangers = [Program(self, i, auth=(name, SECRET))
                                for i, name in enumerate([names[0], *names])]
        for program in one, two, *strangers:
            program.listen()
        one.listener.close()
        self.assertEqual(two.next(), ["message", channel_of("a"), "1"])
        self.assertIn(0, [stranger.messages() for stranger in strangers])

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
