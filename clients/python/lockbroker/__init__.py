"""Distributed locks from lockbroker.

    import lockbroker

    broker = lockbroker.Broker()
    with broker.lock("nightly-report", wait=10) as hold:
        report(fence=hold.fence)

No block begins without its lock.  `hold.lost` is an event that is set when the
lock is lost; then `hold.check()` raises `Lost`, and so does the end of the
block.  One `Broker` serves a process: any number of threads, which exclude each
other like separate programs, and children of fork(2), which begin anew.
`broker.lock()` returns a description of how to take a lock; any number of
threads may enter it.  `lockbroker.aio` has the same for asyncio.

How it works: one thread of its own reads the brokers' lines (lockbroker/aio.py),
asks in time for how long the locks are safe, and reports losses.  As two threads
take longer to talk to each other than one to a broker, it lends some of its
sessions to threads that lock (`_Way`), and maintains their holds when these have
lasted for a moment.

An exception can strike a thread between any two steps, from a handler of a
signal.  So everything that the caller must keep for its request to continue (a
`Hold`, a `_Caller`, the token of a `_Way`) is an object that has only weak
references elsewhere: if the caller's stack was unwound the object is gone, and
the own thread, which sees that by the reference, takes the request back.
"""

from __future__ import annotations

import asyncio
import collections
import functools
import inspect
import os
import sys
import threading
import time
import warnings
import weakref
from typing import Any, Callable, Coroutine, Deque, Dict, List, Optional, Set
from typing import Tuple, TypeVar

from . import aio
from .aio import (Busy, Deadlock, Denied, Error, Grant, Limit, Lost, TimedOut,
                  Unavailable)

T = TypeVar("T")

__all__ = ["Broker", "Lock", "Hold", "Latch", "Barrier", "Error", "Busy",
           "TimedOut", "Lost", "Unavailable", "Denied", "Deadlock"]
__version__ = "1.0.0"

WAYS = 4  # sessions that are lent
MOMENT = 0.02  # seconds after which the own thread maintains a hold
PAUSE = 0.1  # seconds between two looks for dropped objects, and for ways
PARENTS = "the parent process has it"
UNUSED = 1.0  # seconds after which a session that is lent goes back


class _Caller:
    """The caller's part of its wait: without it, the wait has no caller."""

    __slots__ = ("__weakref__",)


class _Work:
    """A request of a caller, or its grant."""

    def __init__(self, ends_with_caller: bool = True) -> None:
        self.ends_with_caller = ends_with_caller
        self.limit: Optional[Limit] = None
        self.task: Optional["asyncio.Future[Any]"] = None
        self.grant: Optional[Grant] = None
        self.way: Optional["_Way"] = None  # on which it was taken, or is asked
        self.tag = ""  # the request that waits on that way
        self.is_told = False  # the caller has its grant
        self.is_given = False  # and has released it
        self.is_gone = False  # the caller, before it was begun
        self.is_ended = False  # the task, and end() has been called
        self.result: Any = None
        self.error: Optional[BaseException] = None
        self.done = threading.Lock()
        self.done.acquire()

    def end(self, task: "asyncio.Future[Any]") -> None:
        """In the own thread."""
        self.is_ended = True
        if task.cancelled():
            self.error = Error("this Broker is closed", "closed")
        else:
            self.error = task.exception()
            if self.error is None:
                self.result = task.result()
                if isinstance(self.result, Grant):
                    self.grant = self.result
        self.done.release()

    def stop(self) -> None:
        """In the own thread: the caller has abandoned it."""
        if self.limit is not None:
            self.limit.stop()
        way, tag = self.way, self.tag
        if way is not None and tag:
            way.cancel(tag)


class _Way:
    """A session that was lent: one thread at a time asks on its connection, and
    reads the answer.  It ends when `session` is None.  The own thread makes it
    and takes it back.  The holder of its token may use it."""

    def __init__(self, own: "_Own", session: aio.Session) -> None:
        self.own = own
        self.session: Optional[aio.Session] = session
        self.fd = session.lend()
        self.pace = aio.FROZEN / 3  # the time of one read
        token = _Caller()
        self.free: Deque[_Caller] = collections.deque([token])
        self.token = weakref.ref(token)
        self.data = b""  # read, and not understood yet
        self.events = b""  # for the loop
        self.wary = 0  # how often a lock is not tried before it is waited for
        self.used = aio.now()

    def claim(self) -> Optional[_Caller]:
        try:
            return self.free.pop()
        except IndexError:
            return None

    def is_abandoned(self) -> bool:
        """An exception struck the holder of the token."""
        return not self.free and self.token() is None

    def is_over(self) -> bool:
        session = self.session
        held = session is not None and bool(session.holds)
        return aio.now() > self.used + (MOMENT if held else UNUSED)

    def cut(self) -> None:
        """A thread that waits for an answer waits no longer."""
        session = self.session
        if session is not None:
            session.cut()

    def cancel(self, tag: str) -> None:
        """From another thread: the request is not to wait any longer."""
        session = self.session
        try:
            if session is not None:
                os.write(self.fd, b"@c CANCEL %s\r\n" % tag.encode())
        except OSError:
            pass

    # Asking.

    def _write(self, data: str) -> None:
        sent = data.encode()
        if os.write(self.fd, sent) != len(sent):
            raise aio.Gone()

    def _set_pace(self, session: aio.Session, allowed: float) -> None:
        pace = min(aio.FROZEN, allowed) / 3
        if not 0.8 * self.pace < pace < 1.2 * self.pace:
            session.block(self.fd, pace)
            self.pace = pace

    def _line(self, session: aio.Session, patience: Optional[float]) -> str:
        """The next reply.  Raises Gone if the broker is away or frozen (it answers
        others while it makes a request wait), or if it takes longer than
        `patience`.  Only the times count that a read waited in vain: a process
        that did not run has not waited."""
        misses = all_ = 0
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
                misses = 0
            except BlockingIOError:
                misses, all_ = misses + 1, all_ + 1
                if misses >= 3 or (patience is not None and
                                   all_ * self.pace > patience):
                    session.address.failed = aio.now()
                    raise aio.Gone() from None
                self._write("@p PING\r\n")

    def _ask(self, session: aio.Session, line: str, work: Optional[_Work] = None,
             patience: Optional[float] = None) -> aio.Reply:
        number = "%d" % next(session.tags)
        tag = "@%s " % number
        try:
            self._write(tag + line + "\r\n")
            if work is not None:
                work.tag = number
                if work.limit is not None and work.limit.stopped:
                    self.cancel(number)
            while True:
                reply = self._line(session, patience)
                if reply.startswith(tag):
                    return aio.Reply(reply[len(tag):])
                if not reply.startswith("@"):
                    aio.Reply(reply).check()
                    raise aio.Gone()  # to no request
        except OSError:
            raise aio.Gone() from None
        finally:
            if work is not None:
                work.tag = ""

    def _try(self, session: aio.Session, line: str,
             patience: float) -> Tuple[aio.Reply, aio.Reply]:
        """Asks for a name that may be free, and how long it is safe, together:
        without tags the replies come in that order.  While it waited, nothing
        else would be answered."""
        try:
            self._write(line + " wait=0\r\nPING\r\n")
            replies: List[aio.Reply] = []
            while len(replies) < 2:
                reply = self._line(session, patience)
                if not reply.startswith("@"):
                    replies.append(aio.Reply(reply))
            return replies[0], replies[1]
        except OSError:
            raise aio.Gone() from None

    def _part(self) -> None:
        """The outcome at the broker is unknown: the session ends."""
        session, self.session = self.session, None
        if session is not None:
            for hold in list(session.holds):
                hold.over = True
            session.holds.clear()
            _call(session.loop, self.own.end, self, session.part)

    # Locks.

    def take(self, words: aio.Words, limit: Limit, work: _Work,
             on_lost: Callable[[Grant], None]) -> None:
        """Leaves in `work` the grant; nothing if it must be asked for
        elsewhere."""
        token = self.claim()
        session = self.session
        if token is None or session is None:
            return
        try:
            work.way = self
            work.grant = self._take(session, words, limit, work, on_lost)
            self._done(token, holds=True)
        except aio.Gone:
            self._part()
        except aio.Error:
            self._done(token)
            raise
        except BaseException:  # an interrupt of this thread
            self._part()
            raise

    def _take(self, session: aio.Session, words: aio.Words,
              limit: Limit, work: _Work,
              on_lost: Callable[[Grant], None]) -> Grant:
        until = limit.end
        self._set_pace(session, self.own.core.share(limit, session.address))
        while True:
            sent, reply, pong = self._asked(session, words[2], limit, work)
            if reply.text.startswith("shutdown "):
                raise aio.Gone()
            reply.check()
            hold = Grant(session, words, lambda _: None)
            hold.granted(reply)
            session.holds.add(hold)
            if pong is None:
                sent = aio.now()
                pong = self._ask(session, "PING")
            session.pinged = sent
            hold.vouched(sent, pong)
            if hold.valid:
                hold.on_lost = on_lost
                return hold
            # It was lost in between.
            session.holds.discard(hold)
            hold.over = True
            for one in hold.each():
                self._ask(session, one)
            if hold.is_bounded or (until is not None and aio.now() >= until):
                raise hold.error()

    def _asked(self, session: aio.Session, line: str, limit: Limit,
               work: _Work) -> Tuple[float, aio.Reply, Optional[aio.Reply]]:
        """The time of the request, its reply, and the reply to a PING."""
        sent = aio.now()
        if self.wary and limit.end != 0:
            self.wary -= 1
        else:
            reply, pong = self._try(session, line, limit.left())
            if limit.end == 0 or not reply.is_taken:
                return sent, reply, pong
            self.wary = aio.WARY
        return sent, self._ask(
            session, line + aio.wait_word(aio.rest_of(limit.end)), work,
            None if limit.hard is None else limit.left()), None

    def _done(self, token: _Caller, holds: bool = False) -> None:
        """A request has been answered."""
        self.used = aio.now()
        if self.events:
            self.used = 0.0  # so that the loop soon hears of them
        self.free.append(token)
        if not self.events and not holds:
            self.own.idle.append(self)

    def give(self, hold: Grant) -> bool:
        """Releases it; raises Lost if it was lost.  Returns false if the own
        thread maintains it."""
        token = self.claim()
        session = self.session
        if token is None or session is None:
            return False
        safe = hold.until > aio.now()
        try:
            reply = self._give(session, hold)
            hold.over = True
            session.holds.discard(hold)
            self._done(token)
        except aio.Gone:
            # The broker ends it: it was held until now if it was safe.
            self._part()
            if not safe:
                raise hold.error() from None
            return True
        except BaseException:
            self._part()
            raise
        if hold.reason is not None:
            raise hold.error()
        try:
            reply.check()
        except Lost as error:
            raise error.about(hold.names) from None
        return True

    def _give(self, session: aio.Session, hold: Grant) -> aio.Reply:
        patience = self.own.core.patience
        self._set_pace(session, patience)
        reply = self._ask(session, hold.undo, patience=patience)
        if reply.status != "OK" and len(hold.names) > 1:
            for one in hold.each():
                self._ask(session, one, patience=patience)
        return reply


class _Own:
    """A Broker's own thread, and its state.  It does not refer to the Broker,
    which may be dropped."""

    def __init__(self, core: aio.Broker) -> None:
        self.core = core
        self.loop = asyncio.new_event_loop()
        self.ways: Set[_Way] = set()
        self.idle: List[_Way] = []
        self.in_vain = 0.0  # until then no session can be lent
        self.works: Dict[Any, _Work] = {}  # by a reference to its owner
        self.dropped: Deque[Any] = collections.deque()  # such references
        self.looking: Optional["asyncio.Future[None]"] = None
        self.may_lend = not _is_patched()
        threading.Thread(target=_serve, args=(self.loop,), daemon=True,
                         name="lockbroker").start()

    # By other threads.

    def enter(self, caller: Any, work: _Work) -> Any:
        """From now on the work is abandoned if the caller is gone: the code that
        runs then is C, where no exception strikes."""
        ref = weakref.ref(caller, self.dropped.append)
        self.works[ref] = work
        return ref

    def run(self, work: _Work, make: Callable[[], Coroutine[Any, Any, Any]]
            ) -> Any:
        """Runs it in the own thread."""
        is_open = _call(self.loop, self._begin, work, make)
        while is_open and not work.done.acquire(timeout=10 * PAUSE):
            is_open = not self.loop.is_closed()
        if not is_open:
            raise Error("this Broker is closed", "closed")
        if work.error is not None:
            raise work.error
        return work.result

    def way(self) -> Optional[_Way]:
        """A way for this thread, if there is one."""
        try:
            return self.idle.pop()
        except IndexError:
            pass
        if (not self.may_lend or len(self.ways) >= WAYS or
                aio.now() < self.in_vain):
            return None
        caller, work = _Caller(), _Work()
        ref = self.enter(caller, work)
        way: Optional[_Way] = self.run(work, self._lend)
        self.works.pop(ref, None)
        if way is None:
            self.in_vain = aio.now() + PAUSE
        return way

    # In the own thread.

    def _begin(self, work: _Work,
               make: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        if work.is_gone and work.ends_with_caller:
            return
        work.task = asyncio.ensure_future(make())
        work.task.add_done_callback(work.end)
        self.look_soon()

    def look_soon(self) -> None:
        if self.looking is None:
            self.looking = asyncio.ensure_future(self._look())

    async def _look(self) -> None:
        """... for work that has lost its owner, and for ways that have been lent
        for long enough."""
        while self.ways or self.works or self.dropped:
            pause = MOMENT if self.ways else PAUSE
            due = time.monotonic() + pause
            await asyncio.sleep(pause)
            self.core.woken(due)
            for _ in range(len(self.dropped)):
                self._give_up(self.dropped.popleft())
            for way in list(self.ways):
                if way.is_abandoned():
                    way._part()
                elif way.is_over():
                    self._take_back(way)
        self.looking = None

    def _give_up(self, ref: Any) -> None:
        work = self.works.get(ref)
        if work is None:
            return
        grant, way = work.grant, work.way
        if way is not None and way.session is not None and (
                grant is None or grant.session is way.session):
            if grant is not None:
                self._take_back(way)
            if grant is not None and way.session is not None:
                self.dropped.append(ref)  # a thread uses it just now
                return
        if work.task is not None and work.task.done() and not work.is_ended:
            self.dropped.append(ref)  # its grant is delivered in a moment
            return
        del self.works[ref]
        work.is_gone = True
        if grant is not None and not grant.over:
            if work.is_told:
                warnings.warn("lockbroker: %s was dropped while it was held" %
                              ", ".join(grant.names), ResourceWarning)
            asyncio.ensure_future(self.core.give_quietly(grant))
        elif work.task is not None and work.ends_with_caller:
            work.task.cancel()

    async def _lend(self) -> Optional[_Way]:
        try:
            session = await self.core.lend(WAYS)
        except Error:
            return None  # the next request reports the error
        if session is None:
            return None
        way = _Way(self, session)
        self.ways.add(way)
        return way

    def _take_back(self, way: _Way) -> None:
        """... unless a thread uses it."""
        token = way.claim()
        if token is not None:
            session, way.session = way.session, None
            if session is not None:
                self.end(way, session.back)

    def end(self, way: _Way, back: Callable[[bytes], None]) -> None:
        self.ways.discard(way)
        try:
            self.idle.remove(way)
        except ValueError:
            pass
        back(way.events + way.data)

    async def _owned(self, work: _Work) -> Grant:
        """What it was granted, once this thread has its session back."""
        grant = work.grant
        assert grant is not None
        while work.way is not None and work.way.session is grant.session:
            self._take_back(work.way)
            if work.way.session is not None:
                await asyncio.sleep(MOMENT / 4)  # a thread uses it just now
        return grant

    async def release(self, work: _Work) -> None:
        await self.core.release(await self._owned(work))

    async def set_value(self, work: _Work, value: str) -> None:
        await self.core.set_value(await self._owned(work), value)

    async def close(self) -> None:
        self.core.closed = True
        until = aio.now() + self.core.patience
        while self.ways and aio.now() < until:
            for way in list(self.ways):
                self._take_back(way)
                way.cut()  # if a thread waits for an answer
            await asyncio.sleep(MOMENT / 4)
        await self.core.close()

    def stop(self) -> None:
        """From any thread; waits for nothing."""
        self.core.closed = True
        _call(self.loop, self._stop)

    def _stop(self) -> None:
        asyncio.ensure_future(self.close()).add_done_callback(
            lambda _: self.loop.stop())


class Broker:
    """The way to the brokers at the addresses: HOST:PORT, tls://HOST:PORT, or
    the path of a Unix socket; without any $LOCKBROKER, or the local broker.
    The first that answers is used.  One Broker serves a process.

    `grace`: the seconds for which holds survive a lost connection.  `label`: a
    name for operators.  `patience`: the seconds that a call may take beyond its
    `wait`."""

    def __init__(self, *addresses: str, user: Optional[str] = None,
                 password: Optional[str] = None, ca: Optional[str] = None,
                 cert: Optional[str] = None, key: Optional[str] = None,
                 grace: float = 0, label: Optional[str] = None,
                 patience: float = aio.PATIENCE) -> None:
        self._core = aio.Broker(
            *addresses, user=user, password=password, ca=ca, cert=cert,
            key=key, grace=grace, label=label, patience=patience)
        self._mutex = threading.Lock()
        self._own: Optional[_Own] = None
        self._finalizer: Any = None
        self._local = threading.local()  # the holds of each thread
        self._parents: List[Any] = []
        _brokers.add(self)

    __reduce_ex__ = aio.no_copy

    def __repr__(self) -> str:
        return repr(self._core)

    def __enter__(self) -> "Broker":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Releases all holds."""
        with self._mutex:
            own, self._own = self._own, None
        self._core.closed = True
        if own is not None:
            self._finalizer.detach()
            work = _Work(ends_with_caller=False)
            try:
                own.run(work, own.close)
            finally:
                _call(own.loop, own.loop.stop)

    def _start(self) -> _Own:
        own = self._own
        if own is None:
            with self._mutex:
                if self._core.closed:
                    raise Error("this Broker is closed", "closed")
                if self._own is None:
                    self._own = self._make_own()
                    self._finalizer = weakref.finalize(self, self._own.stop)
                    self._finalizer.atexit = False
                own = self._own
        return own

    def _make_own(self) -> _Own:
        try:
            return _Own(self._core)
        except (OSError, RuntimeError) as error:  # no descriptors, no threads
            raise Unavailable("%s can not be asked: %s" % (
                ", ".join(one.text for one in self._core.addresses),
                getattr(error, "strerror", None) or error)) from error

    def _forked(self) -> None:
        """A child of fork(2) has neither the thread nor a right to the
        connections: its copies end without a word to the broker, and their
        objects stay, as their end would send one."""
        self._mutex = threading.Lock()
        self._parents.append((self._own, self._core.sessions))
        null = os.open(os.devnull, os.O_RDWR)
        for session in self._core.sessions:
            if session.away is None:
                os.dup2(null, session.writer.get_extra_info("socket").fileno())
            for hold in session.holds:
                hold.over, hold.reason = True, PARENTS
        os.close(null)
        if self._finalizer is not None:
            self._finalizer.detach()
        self._own, self._core.sessions = None, []

    def _run(self, make: Callable[[], Coroutine[Any, Any, Any]],
             ends_with_caller: bool = True) -> Any:
        own, caller, work = self._start(), _Caller(), _Work(ends_with_caller)
        ref = own.enter(caller, work)
        try:
            return own.run(work, make)
        finally:
            if work.task is None or work.task.done():
                own.works.pop(ref, None)

    def _acquire(self, hold: "Hold", wait: Optional[float],
                 stop: Optional[Any]) -> None:
        work, words, lost = hold._work, hold._words, hold.lost
        try:
            own = self._start()
        except Error as error:
            raise error.about(words[1])
        limit = Limit(own.core, aio.end_of(wait), loop=own.loop)
        work.limit = limit
        hold._own = own
        hold._ref = own.enter(hold, work)
        try:
            way = own.way() if stop is None else None
            if way is not None:
                way.take(words, limit, work, lambda _: lost.set())
            if work.grant is None:
                work.way = None
                own.run(work, lambda: _hold(own.core, words, limit, lost, stop))
        except Error as error:
            own.works.pop(hold._ref, None)
            raise error.about(words[1])

    # The objects.

    def lock(self, *names: str, shared: bool = False,
             wait: Optional[float] = None, hold: Optional[float] = None,
             keep: Optional[float] = None,
             delay: Optional[float] = None,
             value: Optional[str] = None,
             trace: Optional[str] = None) -> "Lock":
        return Lock(self, aio.lock_words(names, shared, hold, keep, delay,
                                         value, trace), wait)

    lock.__doc__ = aio.Broker.lock.__doc__

    def semaphore(self, name: str, limit: int, permits: int = 1,
                  wait: Optional[float] = None, slot: bool = False) -> "Lock":
        return Lock(self, aio.semaphore_words(name, limit, permits, slot), wait)

    semaphore.__doc__ = aio.Broker.semaphore.__doc__

    def elect(self, name: str, value: Optional[str] = None) -> "Lock":
        """A lock that is waited for; its holder leads.  value() returns the
        value: where to find the leader."""
        return self.lock(name, value=value)

    def value(self, name: str) -> Optional[str]:
        """The `value` of the current holder, through any broker; None if the
        lock is free, or the holder gave no value."""
        found: Optional[str] = self._run(lambda: self._core.value(name))
        return found

    def once(self, name: str, *, keep: Optional[float] = None,
             busy: str = "skip", wait: Optional[float] = 0,
             hold: Optional[float] = None, delay: Optional[float] = None
             ) -> Callable[[Callable[..., T]], Callable[..., Optional[T]]]:
        """Decorates a function, which is run under a lock.  In the name,
        "{day}" is its argument `day`.  With `keep`, it does not run again for
        this time, however early it ends.  If another client holds the name, the
        call returns None; with busy="raise" it raises Busy or TimedOut."""
        aio.check_once(self, name, busy, wait, keep, hold, delay)

        def decorate(call: Callable[..., T]) -> Callable[..., Optional[T]]:
            if inspect.iscoroutinefunction(call):
                raise TypeError("%r is a coroutine function; lockbroker.aio."
                                "Broker has once() for these" % (call,))
            name_of = aio.once_name(name, call)

            @functools.wraps(call)
            def run(*args: Any, **kwargs: Any) -> Optional[T]:
                is_entered, own = False, name_of(args, kwargs)
                try:
                    rest = self._core.kept.rest(own, wait)
                    if rest:
                        time.sleep(rest)
                    with self.lock(own, wait=wait and wait - rest, keep=keep,
                                   hold=hold, delay=delay):
                        is_entered = True
                        self._core.kept.enter(own, keep)
                        return call(*args, **kwargs)
                except (Busy, TimedOut):
                    if is_entered or busy == "raise":
                        raise
                    return None
            return run
        return decorate

    def latch(self, name: str) -> "Latch":
        """It has create(), count_down() and wait()."""
        return Latch(self, name)

    def barrier(self, name: str, parties: int) -> "Barrier":
        """It has wait(), which ends when this many parties wait."""
        return Barrier(self, name, parties)


_brokers: "weakref.WeakSet[Broker]" = weakref.WeakSet()


def _forked() -> None:
    for broker in list(_brokers):
        broker._forked()


os.register_at_fork(after_in_child=_forked)


async def _hold(core: aio.Broker, words: aio.Words, limit: Limit,
                lost: threading.Event, stop: Optional[Any]) -> Grant:
    watch = (None if stop is None else
             asyncio.ensure_future(aio.stop_at(limit, stop)))
    try:
        return await core.hold(words, limit, lambda _: lost.set())
    finally:
        if watch is not None:
            watch.cancel()


def _is_patched() -> bool:
    """gevent and eventlet let an event loop of theirs do a thread's waiting
    where they know of it; they do not know of reading a descriptor."""
    for module, asks in (("gevent.monkey", "is_module_patched"),
                         ("eventlet.patcher", "is_monkey_patched")):
        found = sys.modules.get(module)
        if found is not None and getattr(found, asks)("socket"):
            return True
    return False


def _call(loop: asyncio.AbstractEventLoop, call: Callable[..., Any],
          *args: Any) -> bool:
    """In the loop; false if that has ended."""
    try:
        loop.call_soon_threadsafe(call, *args)
    except RuntimeError:
        return False
    return True


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    loop.run_forever()
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
    loop.close()


class Hold:
    """A hold of a program: until it is released or lost.  Its methods may be
    called in any thread."""

    def __init__(self, broker: Broker, words: aio.Words,
                 lock: "weakref.ref[Lock]") -> None:
        self._broker, self._lock = broker, lock
        self._words = aio.traced(words)
        self._work = _Work()
        self._own: Optional[_Own] = None
        self._ref: Any = None
        self.lost = threading.Event()

    __reduce_ex__ = aio.no_copy

    def __repr__(self) -> str:
        grant = self._grant()
        return aio.shown(self, grant, *([] if grant is not None else
                                        ["not held"]))

    def release(self) -> None:
        """Raises Lost if it was lost."""
        work, own = self._work, self._own
        grant = work.grant
        if grant is None or own is None or work.is_given:
            raise Lost("%s is not held" % ", ".join(self.names), "not-held")
        if grant.reason == PARENTS:
            raise grant.error()
        done = False
        try:
            if work.way is None or not work.way.give(grant):
                self._broker._run(lambda: own.release(work),
                                  ends_with_caller=False)
            done = True
        except Error:
            done = True
            raise
        finally:
            work.is_given = True
            if done:
                own.works.pop(self._ref, None)
            else:  # an interrupt of this thread
                own.dropped.append(self._ref)
            lock = self._lock()
            if lock is not None:
                lock._forget(self)

    def set_value(self, value: str) -> None:
        """Changes the value that Broker.value() returns.  Raises Lost if the
        lock was lost."""
        self.check()
        work, own = self._work, self._own
        assert own is not None
        self._broker._run(lambda: own.set_value(work, value))

    def _exit(self, kind: Any, *_: object) -> None:
        try:
            self.release()
        except Error:
            if kind is None:
                raise

    def check(self) -> None:
        """Raises Lost if the lock is lost, or no longer safe by this host's own
        clock."""
        grant = self._grant()
        if grant is None:
            raise Lost("%s is not held" % ", ".join(self.names), "not-held")
        grant.check()

    def _grant(self) -> Optional[Grant]:
        return None if self._work.is_given else self._work.grant

    @property
    def names(self) -> Tuple[str, ...]:
        return self._words[1]

    @property
    def name(self) -> str:
        return self._words[1][0]

    @property
    def valid(self) -> float:
        """The seconds for which no other client can get it."""
        grant = self._grant()
        return 0.0 if grant is None else grant.valid

    @property
    def slot(self) -> Optional[int]:
        """... of a semaphore with slot=True; None without one."""
        grant = self._grant()
        return None if grant is None else grant.slot

    @property
    def fences(self) -> Tuple[int, ...]:
        grant = self._grant()
        return () if grant is None else grant.fences

    @property
    def fence(self) -> int:
        """Rises with each exclusive grant of the (first) name."""
        grant = self._grant()
        if grant is None:
            raise Error("not held", "not-held").about(self.names)
        return grant.fence


class _Exit:
    """A `with` looks up the end of its block before it enters: so from then on
    only the frame refers to the Hold, and if an exception strikes it anywhere
    the Hold is gone with the block."""

    def __get__(self, lock: "Optional[Lock]", _: Any = None) -> Any:
        if lock is None:
            return Lock._leave  # of a type: contextlib.ExitStack
        hold = Hold(lock._broker, lock._words, lock._self)
        lock._local.next = weakref.ref(hold)
        return _Leave(lock, hold)


class _Leave:
    """The end of a block."""

    def __init__(self, lock: "Lock", hold: Hold) -> None:
        self.lock, self.hold = lock, hold

    def __call__(self, *error: Any) -> None:
        if self.hold._own is None:  # not entered: called by another
            self.lock._leave(*error)
        else:
            self.hold._exit(*error)


class Lock:
    """How to take something: any number of threads may enter it, one by one or,
    if it is shared, together.  `with` and acquire() give a `Hold`; the methods
    of the Lock itself are about the latest one of the calling thread, or about
    the only one."""

    def __init__(self, broker: Broker, words: aio.Words,
                 wait: Optional[float]) -> None:
        self._broker, self._words, self._wait = broker, words, wait
        self._self = weakref.ref(self)
        self._local = threading.local()
        self._kept: List[Hold] = []  # from acquire()
        self._holds: List[Tuple[Any, Any]] = []  # thread, weak reference
        self._works: Set[_Work] = set()  # in acquire()

    __reduce_ex__ = aio.no_copy

    def __repr__(self) -> str:
        held = sum(_is_held(ref()) for _, ref in self._holds)
        return aio.shown(self, None, *(["held %d times" % held] if held > 1 else
                                       ["held"] if held else []))

    def __enter__(self) -> Hold:
        ref = self._local.__dict__.pop("next", None)
        hold = ref() if ref is not None else None
        if hold is None:
            return self.acquire()
        return self._take(hold, None)

    __exit__ = _Exit()

    def acquire(self, *, stop: Optional[threading.Event] = None) -> Hold:
        """Takes it without a block; release() of the returned Hold releases it.
        Raises the errors of Broker.lock(), and never returns without a hold.
        `stop`: an event that ends the wait (Error, code "cancelled")."""
        hold = Hold(self._broker, self._words, self._self)
        try:
            self._take(hold, stop)
            self._kept.append(hold)
            return hold
        except BaseException:
            if hold in self._kept:
                self._kept.remove(hold)
            raise

    def _take(self, hold: Hold, stop: Optional[threading.Event]) -> Hold:
        me = threading.current_thread()
        mine: List[Any] = self._broker._local.__dict__.setdefault("holds", [])
        mine[:] = [ref for ref in mine if _is_held(ref())]
        aio.refuse_twice(self._words, [
            h._work.grant for h in [ref() for ref in mine] if h is not None])
        self._works.add(hold._work)
        try:
            self._broker._acquire(hold, self._wait, stop)
        finally:
            self._works.discard(hold._work)
        ref = weakref.ref(hold)
        mine.append(ref)
        self._holds = [one for one in self._holds if _is_held(one[1]())]
        self._holds.append((me, ref))
        hold._work.is_told = True
        return hold

    def cancel(self) -> None:
        """Ends all waits in acquire(): they raise Error with the code
        "cancelled".  From any thread."""
        own = self._broker._own
        if own is not None:
            for work in list(self._works):
                _call(own.loop, work.stop)

    def _mine(self) -> Hold:
        me = threading.current_thread()
        holds = [(owner, ref()) for owner, ref in self._holds]
        held = [(owner, hold) for owner, hold in holds if _is_held(hold)]
        own: List[Hold] = [hold for owner, hold in held if owner is me]
        if own:
            return own[-1]
        if len(held) > 1:
            raise Error("it is held more than once, and not by this thread",
                        "not-held").about(self._words[1])
        if not held:
            raise Lost("%s is not held" % ", ".join(self._words[1]), "not-held")
        only: Hold = held[0][1]
        return only

    def _forget(self, hold: Hold) -> None:
        self._holds = [one for one in self._holds if one[1]() is not hold]
        self._kept = [one for one in self._kept if one is not hold]

    def release(self) -> None:
        """Raises Lost if it was lost."""
        self._mine().release()

    def set_value(self, value: str) -> None:
        """Changes the value that Broker.value() returns.  Raises Lost if the
        lock was lost."""
        self._mine().set_value(value)

    def _leave(self, kind: Any, *_: object) -> None:
        try:
            self._mine().release()
        except Error:
            if kind is None:
                raise

    def check(self) -> None:
        """Raises Lost if the lock is lost, or no longer safe by this host's own
        clock."""
        self._mine().check()

    @property
    def lost(self) -> threading.Event:
        return self._mine().lost

    @property
    def valid(self) -> float:
        """The seconds for which no other client can get it."""
        return self._mine().valid if self._holds else 0.0

    @property
    def slot(self) -> Optional[int]:
        """... of a semaphore with slot=True; None without one."""
        return self._mine().slot if self._holds else None

    @property
    def fences(self) -> Tuple[int, ...]:
        return self._mine().fences if self._holds else ()

    @property
    def fence(self) -> int:
        """Rises with each exclusive grant of the (first) name."""
        return self._mine().fence


def _is_held(hold: Optional[Hold]) -> bool:
    return hold is not None and not hold._work.is_given


class Latch:
    """Opens for all when it has been counted down to 0."""

    def __init__(self, broker: Broker, name: str) -> None:
        self._broker = broker
        self._latch = aio.Latch(broker._core, name)

    def create(self, count: int) -> int:
        return int(self._broker._run(lambda: self._latch.create(count)))

    def count_down(self, by: int = 1) -> int:
        """Returns how much is left."""
        return int(self._broker._run(lambda: self._latch.count_down(by)))

    def wait(self, timeout: Optional[float] = None) -> None:
        self._broker._run(lambda: self._latch.wait(timeout))


class Barrier:
    """Lets all parties go when the last of them has come."""

    def __init__(self, broker: Broker, name: str, parties: int) -> None:
        self._broker = broker
        self._barrier = aio.Barrier(broker._core, name, parties)

    def wait(self, timeout: Optional[float] = None) -> int:
        """Returns how many were still to come: 0 to the last."""
        return int(self._broker._run(lambda: self._barrier.wait(timeout)))
