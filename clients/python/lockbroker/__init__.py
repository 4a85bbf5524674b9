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
asks in time for how long the locks are safe, and tells of losses.
"""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from typing import Any, Coroutine, List, Optional, Tuple, TypeVar

from . import aio
from .aio import (Busy, Deadlock, Denied, Error, Hold, Lost, TimedOut,
                  Unavailable)

__all__ = ["Broker", "Lock", "Latch", "Barrier", "Error", "Busy", "TimedOut",
           "Lost", "Unavailable", "Denied", "Deadlock"]
__version__ = "1.0.0"

T = TypeVar("T")


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
        self._pid = 0
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
        if loop is not None and self._pid == os.getpid():
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
        self._pid = os.getpid()
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
            os.dup2(null, session.writer.get_extra_info("socket").fileno())
        os.close(null)
        self._loop, self._core.sessions = None, []

    def _run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        future = asyncio.run_coroutine_threadsafe(coroutine, self._start())
        try:
            return future.result()
        except BaseException:
            future.cancel()  # an interrupt of this thread
            raise

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


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    loop.run_forever()
    loop.close()


class Lock:
    """Held inside `with`; `lost` is set when it is lost."""

    def __init__(self, broker: Broker, words: aio.Words,
                 wait: Optional[float]) -> None:
        self._broker, self._words, self._wait = broker, words, wait
        self._hold: Optional[Hold] = None
        self.lost = threading.Event()

    def __enter__(self) -> "Lock":
        return self.acquire()

    def acquire(self) -> "Lock":
        if self._hold is not None:
            raise Error("this object is in use; make another", "in-use")
        kind, names, line, undo = self._words
        self.lost.clear()
        self._hold = self._broker._run(self._broker._core.hold(
            kind, names, lambda rest: line + aio.wait_word(rest), self._wait,
            undo, lambda _: self.lost.set()))
        return self

    def release(self) -> None:
        """Raises Lost if it was lost."""
        hold, self._hold = self._hold, None
        if hold is None:
            raise Error("not held", "not-held")
        if self._broker._pid != os.getpid():
            raise Lost("the lock is the parent's of this process", "not-held")
        self._broker._run(self._broker._core.release(hold, self._words[3]))

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
            raise Error("no fence", "not-held")
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
