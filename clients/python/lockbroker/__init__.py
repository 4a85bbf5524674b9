"""Distributed locks from lockbroker.

    import lockbroker

    broker = lockbroker.Broker()
    with broker.lock("nightly-report", wait=10) as lock:
        report(fence=lock.fence)

No block begins without its lock.  `lock.lost` is an event that is set when the
lock is lost, `lock.check()` raises `Lost` then, and so does the end of the
block.  A `Broker` may be used by any number of threads, which exclude each
other as strangers do, and by children of fork(2), which begin anew.
`lockbroker.aio` has the same for asyncio.

How it works: one thread of its own reads what brokers say (lockbroker/aio.py),
asks in time for how long the locks are safe, and tells of losses.  As it takes
two threads longer to talk to each other than to a broker, it lends some of its
sessions to those that lock (`_Way`), and looks after what they hold when that
has lasted for a moment.
"""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from typing import Any, Callable, Coroutine, List, Optional, Set, Tuple
from typing import TypeVar

from . import aio
from .aio import (Busy, Deadlock, Denied, Error, Hold, Lost, TimedOut,
                  Unavailable)

__all__ = ["Broker", "Lock", "Latch", "Barrier", "Error", "Busy", "TimedOut",
           "Lost", "Unavailable", "Denied", "Deadlock"]
__version__ = "1.0.0"

T = TypeVar("T")

WAYS = 4  # so many sessions are lent
MOMENT = 0.02  # seconds after which the own thread looks after what is held
PAUSE = 0.1  # seconds after which it is asked again for one to lend
PARENTS = "the parent process has it"
UNUSED = 1.0  # seconds after which a session that is lent goes back


class _Way:
    """A session that was lent: one thread at a time asks on its connection, and
    reads the answer.  It ends when `session` is None.  The loop of the broker's
    own thread makes it and takes it back; who has the mutex may use it."""

    def __init__(self, broker: "Broker", session: aio.Session) -> None:
        self.broker = broker
        self.session: Optional[aio.Session] = session
        self.fd = session.lend()
        self.mutex = threading.Lock()
        self.data = b""  # read, and not understood yet
        self.events = b""  # for the loop
        self.wary = 0  # so often a lock is not tried before it is waited for
        self.used = aio.now()

    def is_over(self) -> bool:
        session = self.session
        held = session is not None and bool(session.holds)
        return aio.now() > self.used + (MOMENT if held else UNUSED)

    def cut(self) -> None:
        """Whoever waits for an answer waits no longer."""
        session = self.session
        if session is not None and self.mutex.locked():
            session.cut()

    # Asking.

    def _write(self, data: str) -> None:
        sent = data.encode()
        if os.write(self.fd, sent) != len(sent):
            raise aio.Gone()

    def _line(self, session: aio.Session) -> str:
        """The next reply.  Raises Gone if the broker is away, or frozen: while
        it makes a request wait, it answers others."""
        heard = 0.0
        while True:
            line, end, rest = self.data.partition(b"\n")
            if end:
                self.data = rest
                if not line.startswith(b"!"):
                    return line.decode().rstrip("\r")
                if line.startswith(b"!LOST "):
                    session.event(line.decode().rstrip("\r"))
                else:
                    self.events += line + b"\n"
                continue
            try:
                got = os.read(self.fd, 65536)
                if not got:
                    raise aio.Gone()
                self.data += got
                heard = 0.0
            except BlockingIOError:  # for aio.FROZEN / 3
                heard = heard or aio.now() - aio.FROZEN / 3
                if aio.now() > heard + aio.FROZEN:
                    raise aio.Gone() from None
                self._write("@p PING\r\n")

    def _ask(self, session: aio.Session, line: str) -> aio.Reply:
        tag = "@%d " % next(session.tags)
        try:
            self._write(tag + line + "\r\n")
            while True:
                reply = self._line(session)
                if reply.startswith(tag):
                    return aio.Reply(reply[len(tag):])
                if not reply.startswith("@"):
                    aio.Reply(reply).check()
                    raise aio.Gone()  # to no request
        except OSError:
            raise aio.Gone() from None

    def _try(self, session: aio.Session,
             line: str) -> Tuple[aio.Reply, aio.Reply]:
        """Asks for what may be free, and how long it is safe, in one go: without
        tags one is answered after the other.  While it waited, nothing else
        would be answered."""
        try:
            self._write(line + " wait=0\r\nPING\r\n")
            replies = []
            while len(replies) < 2:
                reply = self._line(session)
                if not reply.startswith("@"):
                    replies.append(aio.Reply(reply))
            return replies[0], replies[1]
        except OSError:
            raise aio.Gone() from None

    def _part(self) -> None:
        """What the broker has done is not known: the session ends."""
        session, self.session = self.session, None
        if session is not None:
            for hold in list(session.holds):
                hold.over = True
            session.holds.clear()
            _call(session.loop, self.broker._end, self, session.part)

    # Locks.

    def take(self, words: aio.Words, until: Optional[float],
             on_lost: Callable[[aio.Hold], None]) -> Optional[aio.Hold]:
        """Returns what is held; None if that has to be asked elsewhere."""
        with self.mutex:
            if self.session is None:
                return None
            try:
                return self._take(self.session, words, until, on_lost)
            except aio.Gone:
                self._part()
                return None
            except aio.Error:
                self._done()
                raise
            except BaseException:  # an interrupt of this thread
                self._part()
                raise

    def _take(self, session: aio.Session, words: aio.Words,
              until: Optional[float],
              on_lost: Callable[[aio.Hold], None]) -> aio.Hold:
        kind, names, line, undo = words
        while True:
            sent, reply, pong = self._asked(session, line, until)
            if reply.text.startswith("shutdown "):
                raise aio.Gone()
            reply.check()
            hold = aio.Hold(session, kind, names, line, lambda _: None)
            hold.granted(reply)
            session.holds.add(hold)
            if pong is None:
                sent = aio.now()
                pong = self._ask(session, "PING")
            session.pinged = sent
            hold.vouched(sent, pong)
            if hold.valid:
                hold.on_lost = on_lost
                self._done(holds=True)
                return hold
            # It was lost in between.
            session.holds.discard(hold)
            hold.over = True
            for one in hold.each(undo):
                self._ask(session, one)
            if hold.is_bounded or (until is not None and aio.now() >= until):
                raise hold.error()

    def _asked(self, session: aio.Session, line: str, until: Optional[float]
               ) -> Tuple[float, aio.Reply, Optional[aio.Reply]]:
        """When it was asked, what was answered, and what to a PING."""
        sent = aio.now()
        rest = aio.rest_of(until)
        if self.wary and rest != 0:
            self.wary -= 1
        else:
            reply, pong = self._try(session, line)
            if rest == 0 or not reply.is_taken:
                return sent, reply, pong
            self.wary = aio.WARY
            rest = aio.rest_of(until)
        return sent, self._ask(session, line + aio.wait_word(rest)), None

    def _done(self, holds: bool = False) -> None:
        """A request has been answered."""
        self.used = aio.now()
        if self.events:
            self.used = 0.0  # the loop shall hear of them soon
        elif not holds:
            self.broker._idle.append(self)

    def give(self, hold: aio.Hold, undo: str) -> bool:
        """Gives it back; raises Lost if it was lost.  Returns false if the loop
        looks after it."""
        with self.mutex:
            session = self.session
            if session is None:
                return False
            safe = hold.until > aio.now()
            try:
                reply = self._ask(session, undo)
                if reply.status != "OK" and len(hold.names) > 1:
                    for one in hold.each(undo):
                        self._ask(session, one)
            except aio.Gone:
                # The broker ends it: it was held until now if it was safe.
                self._part()
                if not safe:
                    raise hold.error() from None
                return True
            except BaseException:
                self._part()
                raise
            hold.over = True
            session.holds.discard(hold)
            self._done()
        if hold.reason is not None:
            raise hold.error()
        reply.check()
        return True


class Broker:
    """The way to the brokers at the addresses: HOST:PORT, tls://HOST:PORT, or
    the path of a Unix socket; without any $LOCKBROKER, else the local broker.
    The first that answers is used."""

    def __init__(self, *addresses: str, user: Optional[str] = None,
                 password: Optional[str] = None, ca: Optional[str] = None,
                 cert: Optional[str] = None, key: Optional[str] = None,
                 grace: float = 0, label: Optional[str] = None) -> None:
        self._core = aio.Broker(
            *addresses, user=user, password=password, ca=ca, cert=cert,
            key=key, grace=grace, label=label)
        self._mutex = threading.Lock()
        self._loop: Optional[asyncio.AbstractEventLoop] = None
        self._ways: Set[_Way] = set()  # of the loop
        self._idle: List[_Way] = []
        self._watch: Optional["asyncio.Future[None]"] = None
        self._in_vain = 0.0  # until then no session can be lent
        self._parents: List[Any] = []
        _brokers.add(self)

    def __enter__(self) -> "Broker":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Gives back all that is held."""
        with self._mutex:
            loop, self._loop = self._loop, None
        if loop is not None:
            self._core.closed = True
            self._recall(loop)
            asyncio.run_coroutine_threadsafe(
                self._core.close(), loop).result()
            loop.call_soon_threadsafe(loop.stop)
        self._core.closed = True

    def _start(self) -> asyncio.AbstractEventLoop:
        with self._mutex:
            if self._loop is None:
                self._begin()
            assert self._loop is not None
            return self._loop

    def _begin(self) -> None:
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=_serve, args=(self._loop,), daemon=True,
                         name="lockbroker").start()

    def _forked(self) -> None:
        """A child of fork(2) has neither the thread nor a right to the
        connections: its copies end without a word to the broker, and what was
        made of them stays, as its end would say one."""
        self._mutex = threading.Lock()
        self._parents.append((self._loop, self._core.sessions))
        null = os.open(os.devnull, os.O_RDWR)
        for session in self._core.sessions:
            if session.away is None:
                os.dup2(null, session.writer.get_extra_info("socket").fileno())
            for hold in session.holds:
                hold.over, hold.reason = True, PARENTS
        os.close(null)
        self._loop, self._core.sessions = None, []
        self._ways, self._idle, self._watch = set(), [], None

    def _run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        future = asyncio.run_coroutine_threadsafe(coroutine, self._start())
        try:
            return future.result()
        except BaseException:
            future.cancel()  # an interrupt of this thread
            raise

    # Sessions that are lent.

    def _way(self) -> Optional[_Way]:
        """One for this thread, if there is one."""
        self._start()
        try:
            return self._idle.pop()
        except IndexError:
            pass
        if len(self._ways) >= WAYS or aio.now() < self._in_vain:
            return None
        way = self._run(self._lend())
        if way is None:
            self._in_vain = aio.now() + PAUSE
        return way

    async def _lend(self) -> Optional[_Way]:
        try:
            session = await self._core.lend(WAYS)
        except Error:
            return None  # whoever asks otherwise is told
        if session is None:
            return None
        way = _Way(self, session)
        self._ways.add(way)
        if self._watch is None:
            self._watch = asyncio.ensure_future(self._take_back())
        return way

    async def _take_back(self) -> None:
        """... what has been lent for long enough, unless a thread uses it."""
        while self._ways:
            await asyncio.sleep(MOMENT)
            for way in list(self._ways):
                if way.is_over() and way.mutex.acquire(blocking=False):
                    session, way.session = way.session, None
                    if session is not None:
                        self._end(way, session.back)
                    way.mutex.release()
        self._watch = None

    def _end(self, way: _Way, back: Callable[[bytes], None]) -> None:
        self._ways.discard(way)
        try:
            self._idle.remove(way)
        except ValueError:
            pass
        back(way.events + way.data)

    def _recall(self, loop: asyncio.AbstractEventLoop) -> None:
        """Takes back all, also from threads that wait for an answer."""
        for way in list(self._ways):
            way.cut()
            with way.mutex:
                session, way.session = way.session, None
                if session is not None:
                    _call(loop, self._end, way, session.back)

    def _acquire(self, words: aio.Words, wait: Optional[float],
                 on_lost: Callable[[Hold], None]
                 ) -> Tuple[Hold, Optional[_Way]]:
        end = aio.end_of(wait)
        way = self._way()
        if way is not None:
            hold = way.take(words, end, on_lost)
            if hold is not None:
                return hold, way
        return self._run(self._core.hold(
            words, aio.rest_of(end), on_lost)), None

    # What there is.

    def lock(self, *names: str, shared: bool = False,
             wait: Optional[float] = None, hold: Optional[float] = None,
             keep: Optional[float] = None,
             delay: Optional[float] = None) -> "Lock":
        """The lock of a name, or of several, all or none.  `wait`: for ever
        (None), so many seconds, or not at all (0)."""
        return Lock(self, aio.lock_words(names, shared, hold, keep, delay),
                    wait)

    def semaphore(self, name: str, limit: int, permits: int = 1,
                  wait: Optional[float] = None) -> "Lock":
        """Permits of a semaphore of which `limit` may be out."""
        return Lock(self, aio.semaphore_words(name, limit, permits), wait)

    def elect(self, name: str) -> "Lock":
        """A lock that is waited for: who has it leads."""
        return self.lock(name)

    def latch(self, name: str) -> "Latch":
        return Latch(self, name)

    def barrier(self, name: str, parties: int) -> "Barrier":
        return Barrier(self, name, parties)


_brokers: "weakref.WeakSet[Broker]" = weakref.WeakSet()


def _forked() -> None:
    for broker in list(_brokers):
        broker._forked()


os.register_at_fork(after_in_child=_forked)


def _call(loop: asyncio.AbstractEventLoop, call: Callable[..., None],
          *args: Any) -> None:
    """In the loop, unless it has ended."""
    try:
        loop.call_soon_threadsafe(call, *args)
    except RuntimeError:
        pass


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    loop.run_forever()
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
    loop.close()


class Lock:
    """Held inside `with`; `lost` is set when it is lost."""

    def __init__(self, broker: Broker, words: aio.Words,
                 wait: Optional[float]) -> None:
        self._broker, self._words, self._wait = broker, words, wait
        self._hold: Optional[Hold] = None
        self._way: Optional[_Way] = None
        self.lost = threading.Event()

    def __enter__(self) -> "Lock":
        return self.acquire()

    def acquire(self) -> "Lock":
        if self._hold is not None:
            raise Error("this object is in use; make another", "in-use")
        self.lost.clear()
        self._hold, self._way = self._broker._acquire(
            self._words, self._wait, lambda _: self.lost.set())
        return self

    def release(self) -> None:
        """Raises Lost if it was lost."""
        hold, self._hold = self._hold, None
        if hold is None:
            raise Error("not held", "not-held")
        if hold.reason == PARENTS:
            raise hold.error()
        undo = self._words[3]
        if self._way is None or not self._way.give(hold, undo):
            self._broker._run(self._broker._core.release(hold, undo))

    def __exit__(self, kind: Any, *_: object) -> None:
        try:
            self.release()
        except Error:
            if kind is None:
                raise

    def check(self) -> None:
        """Raises Lost if the lock is lost, or no longer safe by this host's own
        clock."""
        if self._hold is None:
            raise Lost("not held", "not-held")
        self._hold.check()

    @property
    def valid(self) -> float:
        """For so many seconds nobody else can have it."""
        return 0.0 if self._hold is None else self._hold.valid

    @property
    def fences(self) -> Tuple[int, ...]:
        return () if self._hold is None else self._hold.fences

    @property
    def fence(self) -> int:
        """Rises with each exclusive grant of the (first) name."""
        if not self.fences:
            raise Error("no fence", "not-held" if self._hold is None
                        else "unsupported")
        return self.fences[0]


class Latch:
    """Opens for all when it has been counted down to 0."""

    def __init__(self, broker: Broker, name: str) -> None:
        self._broker = broker
        self._latch = aio.Latch(broker._core, name)

    def create(self, count: int) -> int:
        return self._broker._run(self._latch.create(count))

    def count_down(self, by: int = 1) -> int:
        """Returns how much is left."""
        return self._broker._run(self._latch.count_down(by))

    def wait(self, timeout: Optional[float] = None) -> None:
        self._broker._run(self._latch.wait(timeout))


class Barrier:
    """Lets all parties go when the last of them has come."""

    def __init__(self, broker: Broker, name: str, parties: int) -> None:
        self._broker = broker
        self._barrier = aio.Barrier(broker._core, name, parties)

    def wait(self, timeout: Optional[float] = None) -> int:
        """Returns how many were still to come: 0 to the last."""
        return self._broker._run(self._barrier.wait(timeout))
