"""Programs with Redisson that do anything at any time, step by step, beside a model of what they
must see: how deep a lock is, who has it, an unlock that is sent again, and who is told."""

import random
import unittest

from lib.case import note
from lib.redisson import SCRIPTS, channel_of, latch_of
from lib.resp import Resp, answer
from lib.wait import now, patience
from test_resp import RespTest

PX = 600000
SLEEP = 2.0  # seconds that a thread sleeps at most
KEPT = 0.25  # seconds for which a name is kept for a program at most
AT_ONCE = 0.015  # who has its turn and comes by then has the lock
AWAY = 2.0  # after so long nobody waits for a thread that stays away
AGAIN = ("error", "TRYAGAIN")
STEPS, SECONDS = 1000, 6
DEEPEST = 4


class Thread:
    """It has a lock, sleeps until it is told of one, or does neither."""

    def __init__(self, program, number):
        self.program, self.number = program, number
        self.token = f"{program.id}:{number}"
        self.lock = None  # that it has, or sleeps for
        self.sleeps_until = None

    def __repr__(self):
        return self.token


class Lock:
    """What the model knows of a name."""

    def __init__(self, name):
        self.name = name
        self.owner, self.depth = None, 0  # a Thread, or the text of a stranger
        self.places = []  # threads, in the order in which they were refused first
        self.mixed = False  # perhaps in another order
        self.odd_until = 0.0  # till then others may have places
        self.free_since = 0.0  # or before

    def free(self, since):
        self.owner, self.depth, self.free_since = None, 0, since

    def given_to(self, thread):
        """It has its own turn, or that of another thread of its program: they change places."""
        self.owner, self.depth = thread, 1
        if thread not in self.places:
            return
        first = self.places[0]
        if first.program is thread.program:
            self.places[self.places.index(thread)] = first
            self.places.pop(0)
        else:
            self.places.remove(thread)

    def forget(self, program):
        self.places = [thread for thread in self.places if thread.program is not program]

    def is_odd(self):
        self.mixed = self.mixed and bool(self.places)
        return self.mixed or now() < self.odd_until

    def is_free(self):
        """For everybody."""
        return self.owner is None and not self.places and not self.is_odd()

    def be_odd(self, seconds):
        self.odd_until = max(self.odd_until, now() + patience(seconds))


class Program:
    """A JVM: a connection that listens, and a few for scripts."""

    def __init__(self, walk, number, source):
        self.walk, self.source = walk, source
        self.id = f"{walk.seed:x}-{number}"
        self.threads = [Thread(self, 1 + i) for i in range(walk.random.randint(1, 3))]
        # Another broker knows nothing of an unlock that is sent again.
        broker = walk.random.choice(walk.test.brokers)
        self.pool = [self.connect(broker) for _ in range(walk.random.randint(2, 3))]
        self.broker = broker
        self.listener = self.connect(walk.random.choice(walk.test.brokers))
        self.listens = []  # to these locks
        self.came = []  # messages that were read with something else

    def connect(self, broker):
        client = Resp(f"127.0.0.1:{broker.port}", source=self.source)
        self.walk.test.addCleanup(client.close)
        return client

    def client(self, but=None):
        return self.walk.random.choice([client for client in self.pool if client is not but])

    def drop(self, client):
        client.close()
        self.pool[self.pool.index(client)] = self.connect(self.broker)

    def sleepers(self, lock):
        return [thread for thread in self.threads
                if thread.lock is lock and thread.sleeps_until is not None]

    def read_to(self, *words):
        """What begins with one of these words is the end."""
        while True:
            reply = self.listener.read()
            if reply in words or reply[0] in words:
                return
            self.came.append(reply)

    def subscribe(self, lock):
        """What is told then are all that sleep already."""
        self.walk.tell(self.id, "listens for", lock.name)
        self.listener.send("SUBSCRIBE", channel_of(lock.name))
        self.read_to("subscribe")
        reply = self.listener.read()
        assert reply == ["message", channel_of(lock.name), "1"], reply

    def listen(self, lock):
        self.listens.append(lock)
        self.subscribe(lock)

    def leave(self, lock):
        """Nobody sleeps any more; the broker finds that out when it is their turn."""
        self.walk.tell(self.id, "listens no more for", lock.name)
        self.listens.remove(lock)
        self.listener.send("UNSUBSCRIBE", channel_of(lock.name))
        self.read_to("unsubscribe")
        if any(thread.program is self for thread in lock.places):
            lock.forget(self)
            lock.be_odd(SLEEP + AWAY + KEPT)

    def messages(self):
        """Those that have come by now: of which lock, and whether all are to wake."""
        self.listener.send("PING")
        self.read_to("PONG", "pong")
        came, self.came = self.came, []
        return [(lock, reply[2] == "1") for reply in came for lock in self.listens
                if reply[:2] == ["message", channel_of(lock.name)]]

    def listen_anew(self, late):
        """Its subscriptions break; the broker may hear of that later than of the new ones."""
        old = self.listener
        if not late:
            old.close()
        self.listener = self.connect(self.walk.random.choice(self.walk.test.brokers))
        for lock in self.listens:
            lock.forget(self)
            lock.be_odd(SLEEP + AWAY + KEPT)
            self.subscribe(lock)
        return old


class Walk:
    """So many steps, drawn by the seed."""

    def __init__(self, test, seed, steps=STEPS):
        self.test, self.seed, self.steps = test, seed, steps
        self.random = random.Random(seed)
        self.story = []
        self.locks = [Lock(f"{name}{seed:x}") for name in "ab"[:self.random.randint(1, 2)]]
        self.programs = [Program(self, i, f"127.0.0.{2 + i}")
                         for i in range(self.random.randint(2, 4))]
        self.threads = [thread for program in self.programs for thread in program.threads]
        self.stranger = test.resp()
        self.strict = len(test.brokers) == 1
        self.told = 0

    def tell(self, *words):
        self.story.append(" ".join(str(word) for word in words))

    def check(self, good, *words):
        if not good:
            raise AssertionError("\n".join([f"seed {self.seed}: " + " ".join(
                str(word) for word in words)] + self.story[-40:]))

    def ask(self, client, *words):
        """As Redisson does: what is answered TRYAGAIN is sent again, here at once."""
        end = now() + patience(5)
        while True:
            reply = answer(client, *words)
            if reply != AGAIN:
                return reply
            self.check(now() < end, "TRYAGAIN for ever", words)

    def script(self, program, name, *words):
        return self.ask(program.client(), "EVALSHA", SCRIPTS[name][0], *words)

    # Steps.

    def run(self):
        end = now() + SECONDS
        while self.steps > 0 and now() < end:
            self.wake_by_time()
            self.step()
            self.steps -= 1
        for lock in self.locks:
            self.end(lock)

    def step(self):
        thread = self.random.choice(self.threads)
        if thread.lock is None:
            kinds = (self.begin, self.begin, self.begin, self.in_vain, self.drop_client,
                     self.drop_listener, self.strange)
            self.random.choice(kinds)(thread)
        elif thread.sleeps_until is not None:
            if self.random.random() < 0.15:
                self.give_up(thread)
        elif thread.lock.owner is not thread:
            self.lost(thread)
        else:
            kinds = (self.again, self.unlock, self.unlock, self.unlock, self.renew, self.look,
                     self.force, self.drop_client)
            self.random.choice(kinds)(thread)

    def take(self, thread, lock):
        """Returns whether it has the lock then."""
        had = lock.owner
        ms = self.script(thread.program, "TAKE", 1, lock.name, PX, thread.token)
        self.tell(thread, "takes", lock.name, "and is told", ms)
        if had is thread:
            self.check(ms is None, thread, "has", lock.name, "and is told", ms)
            lock.depth += 1
            return True
        if ms is None:
            self.check(had is None, thread, "is granted", lock.name, "that is of", had)
            lock.given_to(thread)
            return True
        self.check(isinstance(ms, int) and 0 < ms <= PX, thread, "is told to wait", ms)
        thread.sleeps_until = now() + ms / 1000
        if thread not in lock.places:
            lock.places.append(thread)
        return False

    def begin(self, thread):
        """lock() until it sleeps, or has the lock."""
        lock = self.random.choice(self.locks)
        free = lock.is_free()
        if thread in lock.places:
            lock.mixed = True  # that place may be gone
        if not self.take(thread, lock):
            self.check(not free, thread, "is refused what is free", lock.name)
            thread.sleeps_until = None
            if lock not in thread.program.listens:
                thread.program.listen(lock)
            if not self.take(thread, lock):
                thread.lock = lock
                self.settle(lock)
                return
        self.has(thread, lock)

    def has(self, thread, lock):
        thread.lock, thread.sleeps_until = lock, None
        if lock in thread.program.listens and not thread.program.sleepers(lock):
            thread.program.leave(lock)

    def give_up(self, thread):
        """tryLock(), whose time is over."""
        lock = thread.lock
        self.tell(thread, "gives up", lock.name)
        thread.lock = thread.sleeps_until = None
        if not thread.program.sleepers(lock):
            thread.program.leave(lock)

    def again(self, thread):
        if thread.lock.depth < DEEPEST:
            self.take(thread, thread.lock)

    def renew(self, thread):
        """Those of one program, as its watchdog does."""
        locks, mine = self.locks, thread.program.threads
        holders = [self.random.choice(mine) if lock.owner not in mine else lock.owner
                   for lock in locks]
        kept = self.script(thread.program, "RENEW", len(locks), *(lock.name for lock in locks),
                           PX, *(holder.token for holder in holders))
        self.check(kept == [int(lock.owner is holder) for lock, holder in zip(locks, holders)],
                   "renewal says", kept)

    def look(self, thread):
        """Of its own lock, or of another one."""
        lock = self.random.choice(self.locks)
        depth = self.ask(thread.program.client(), "HGET", lock.name, thread.token)
        self.check(depth == (str(lock.depth) if lock.owner is thread else None),
                   thread, "has the depth", depth, "of", lock.name, "instead of", lock.depth)

    def in_vain(self, thread):
        """An unlock of what it has not, and a look."""
        lock = self.random.choice(self.locks)
        words, latch = self.unlock_words(thread, lock)
        self.check(self.ask(thread.program.client(), *words) is None, thread, "has not", lock.name)
        self.check(self.ask(thread.program.client(), "DEL", latch) == 0, "a latch of nothing")
        self.look(thread)

    def lost(self, thread):
        """It was forced."""
        lock, thread.lock = thread.lock, None
        words, _ = self.unlock_words(thread, lock)
        self.check(self.ask(thread.program.client(), *words) is None, thread, "has lost", lock.name)

    def unlock_words(self, thread, lock):
        latch = latch_of(lock.name, self.random.getrandbits(128))
        return ("EVALSHA", SCRIPTS["UNLOCK"][0], 3, lock.name, channel_of(lock.name), latch, "0",
                PX, thread.token, "PUBLISH", 16000), latch

    def unlock(self, thread):
        """Once, or again since the answer was lost; that may come when others have the lock."""
        lock, client = thread.lock, thread.program.client()
        words, latch = self.unlock_words(thread, lock)
        how = self.random.choice(("once", "twice", "unread", "crossing", "late"))
        last, start = int(lock.depth == 1), now()
        self.tell(thread, "unlocks", lock.name, "of depth", lock.depth, how)
        if how in ("once", "twice"):
            self.say(self.ask(client, *words), last, thread)
        else:
            client.send(*words)
        other = thread.program.client(but=client)
        if how in ("unread", "late"):
            for _ in range(2):  # by then the broker has read it
                other("PING")
            thread.program.drop(client)
        lock.depth -= 1
        if last:
            lock.free(start)
            thread.lock = None
            if how == "late":
                self.settle(lock)
        if how != "once":
            self.say(self.ask(other, *words), last, thread)
        if how == "crossing":
            reply = client.read()
            self.check(reply == last or str(reply).startswith("TRYAGAIN "), "crossing:", reply)
        self.say(self.ask(other, "DEL", latch), 1, thread)
        self.settle(lock)

    def say(self, reply, expected, thread):
        self.check(reply == expected, thread, "is told", reply, "instead of", expected)

    def force(self, thread):
        """Whoever has it; seldom."""
        lock = self.random.choice(self.locks)
        if self.random.random() < 0.7 or isinstance(lock.owner, str):
            return
        start = now()
        self.tell(thread, "forces", lock.name)
        forced = self.script(thread.program, "FORCE", 2, lock.name, channel_of(lock.name), "0",
                             "PUBLISH")
        if lock.owner is None and not lock.is_free():
            return  # it may have been kept for somebody
        self.say(forced, int(lock.owner is not None), thread)
        lock.free(start)
        self.settle(lock)

    def drop_client(self, thread):
        client = thread.program.client()
        self.tell("a connection of", thread.program.id, "breaks")
        thread.program.drop(client)

    def drop_listener(self, thread):
        program, late = thread.program, self.random.random() < 0.5
        self.tell(program.id, "loses its subscriptions,", "which is heard late" if late else "")
        old = program.listen_anew(late)
        for lock in list(program.listens):
            for sleeper in program.sleepers(lock):
                self.wake(sleeper)
        old.close()
        for lock in self.locks:
            self.settle(lock)

    def strange(self, _):
        """Another library takes what is free, or gives back what it has."""
        lock = self.random.choice(self.locks)
        free, start = lock.is_free(), now()
        if lock.owner == "stranger":
            self.check(self.ask(self.stranger, "DEL", lock.name) == 1, "it has", lock.name)
            lock.free(start)
            self.tell("a stranger gives back", lock.name)
            self.settle(lock)
        elif self.ask(self.stranger, "SET", lock.name, "stranger", "NX", "PX", PX) == "OK":
            self.tell("a stranger takes", lock.name)
            self.check(lock.owner is None, "a stranger takes", lock.name, "of", lock.owner)
            lock.owner = "stranger"
        else:
            self.check(not free, "a stranger is refused", lock.name)
            lock.be_odd(SLEEP + AWAY + KEPT)

    # Who wakes.

    def wake(self, thread):
        lock, thread.sleeps_until = thread.lock, None
        if self.take(thread, lock):
            self.has(thread, lock)

    def wake_by_time(self):
        for thread in self.threads:
            if thread.sleeps_until is not None and thread.sleeps_until <= now():
                self.wake(thread)

    def hear(self, program):
        """Returns whether it was told of a turn."""
        told = program.messages()
        for lock, everybody in told:
            sleepers = program.sleepers(lock)
            self.random.shuffle(sleepers)
            for thread in sleepers if everybody else sleepers[:1]:
                self.wake(thread)
        return any(not everybody for _, everybody in told)

    def settle(self, lock):
        """A free name: all are told, and whose turn it is gets it."""
        begin, ghosts = now(), lock.is_odd()
        sleep = all(thread.sleeps_until is not None for thread in lock.places)
        sure = self.strict and sleep and not ghosts and lock.places and lock.owner is None
        first = lock.places[0].program if lock.places else None
        while lock.owner is None and any(program.sleepers(lock) for program in self.programs):
            self.wake_by_time()
            for program in self.programs:
                if lock.owner is None and program.sleepers(lock) and self.hear(program):
                    self.told += 1
            late = now() - begin
            self.check(late < patience(3, begin), lock.name, "is free for", late, "s, and",
                       lock.places, "wait")
        if sure and lock.owner is not None and now() - lock.free_since < AT_ONCE:
            self.check(lock.owner.program is first, lock.owner, "has", lock.name, "and not",
                       first.id)

    def end(self, lock):
        """All who wait have their turn."""
        while lock.owner is not None:
            if lock.owner == "stranger":
                start = now()
                self.ask(self.stranger, "DEL", lock.name)
                lock.free(start)
                self.settle(lock)
            else:
                self.unlock(lock.owner)


class Walks(RespTest):

    def walk(self, brokers):
        server = self.redis()
        for _ in range(brokers):
            self.broker(server, trust_new=True)
        # In a short walk of few threads it may happen that nobody is told.
        for _ in range(3):
            seed = random.randrange(1 << 32)
            note(f"seed {seed}")
            walk = Walk(self, seed)
            walk.run()
            if walk.told:
                return
        self.fail("nobody is told of a free name")

    def test_with_one_broker(self):
        self.walk(1)

    def test_through_two_brokers(self):
        self.walk(2)


if __name__ == "__main__":
    unittest.main()
