"""Locks of lockbroker for asyncio.

    async with lockbroker.aio.Broker() as broker:
        async with broker.lock("nightly-report", wait=10) as hold:
            await report(fence=hold.fence)

A hold belongs to the task that took it.  If it is lost, that task is cancelled,
and the block raises `Lost`.

How it works: a session is one connection to a broker.  Its holds are safe until
the last `valid=` from the broker expires, by this host's own clock and counted
from when the question was sent.  So each grant is followed by a PING before the
block begins, and each session asks again every third of that time.  A name that
may be free is asked for together with its PING, both without tags, so that the
replies come in that order.  On one session there is at most one hold or request
for a name; a further one takes another session.

No call takes longer than its `wait` and the broker's `patience`: a request that
an unresponsive broker leaves unanswered is cancelled, asked of the next address
while there is time, and undone if it is granted after all.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import itertools
import math
import os
import re
import socket
import ssl
import string
import struct
import sys
import threading
import time
import warnings
import weakref
from typing import Any, Awaitable, Callable, Coroutine, Dict, Iterable, List
from typing import Optional, Sequence, Set, Tuple, TypeVar

T = TypeVar("T")

LOCAL_SOCKET = "/run/lockbrokerd/lockbrokerd.sock"
PORT = 5625
TRY_AGAIN = 0.1  # seconds between attempts to find a broker
SILENCE = 10.0  # without a `wait`, the longest time in which no broker answers
FAILED = 10.0  # for this time an address that did not answer is tried last
FROZEN = 5.0  # a broker that says nothing for this time is abandoned
CONNECT = 3.0  # for one address
PATIENCE = 1.0  # the longest time that a call takes beyond its `wait`
STILL = 0.3  # a timer that is later than this: the process did not run
BRIEF = 1.0  # an answer is older than its arrival by less
IDLE = 8  # sessions without work that are kept
MOMENT = 1.0  # the time that a request waits for its session to come back
WARY = 8  # how often a lock is waited for at once after it was not free
RETRY = 0.2  # the least time that a request waits at a second broker
LOOK = 0.05  # how often a `stop=` is checked

__all__ = ["Broker", "Lock", "Hold", "Latch", "Barrier", "Error", "Busy",
           "TimedOut", "Lost", "Unavailable", "Denied", "Deadlock"]


class Error(Exception):
    """A refusal by the broker: `code` is for programs, the text for users.

    `names`: the names of the request.  As far as the broker knows: `holder`
    (label or address of the holder), `broker` (the holder's), `age` (seconds
    since the grant), `before` (the number of requests ahead)."""

    code = "internal"
    names: Tuple[str, ...] = ()
    holder: Optional[str] = None
    broker: Optional[str] = None
    age: Optional[float] = None
    before: Optional[int] = None

    def __init__(self, text: str, code: Optional[str] = None) -> None:
        super().__init__(text)
        if code is not None:
            self.code = code

    @property
    def name(self) -> Optional[str]:
        return self.names[0] if self.names else None

    def about(self, names: Tuple[str, ...]) -> "Error":
        """Adds the names of the request, unless they are there."""
        if not self.names:
            self.names = names
            self.args = ("%s: %s" % (", ".join(names), self.args[0]),)
        return self


class Busy(Error):
    """Another client holds it, and the request was not to wait."""

    code = "busy"


class TimedOut(Error):
    """It was not granted within the time that the request would wait."""

    code = "timeout"


class Lost(Error):
    """It is no longer held, though it was not released."""

    code = "lost"


class Unavailable(Error):
    """No broker answers, or the broker cannot grant anything now."""

    code = "unavailable"


class Denied(Error):
    """User or password is wrong, or the user has no right to the name."""

    code = "denied"


class Deadlock(Error):
    """Sessions would wait for each other forever, or a block for itself."""

    code = "deadlock"


for _class in (Error, Busy, TimedOut, Lost, Unavailable, Denied, Deadlock):
    _class.__module__ = "lockbroker"

ERRORS = {"lost": Lost, "not-held": Lost, "unavailable": Unavailable,
          "shutdown": Unavailable, "auth": Denied, "denied": Denied,
          "deadlock": Deadlock}


class Gone(Exception):
    """The connection is gone, and its requests with it."""


def now() -> float:
    """Seconds of a clock that is never set, and that keeps running while the
    host is suspended."""
    return time.clock_gettime(CLOCK)


CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def check_seconds(seconds: Any) -> None:
    if not hasattr(seconds, "__float__"):
        raise TypeError("a time is a number of seconds, and not %r" % (seconds,))


def duration(seconds: float) -> str:
    """Rounded up."""
    check_seconds(seconds)
    if not 0 <= seconds < float("inf"):
        raise Error("not a time in seconds: %r" % seconds, "bad-option")
    return "%dms" % math.ceil(seconds * 1000)


def end_of(wait: Optional[float]) -> Optional[float]:
    """The time at which a wait from now on ends; 0: it does not wait."""
    if wait is None or wait == float("inf"):
        return None
    check_seconds(wait)
    if wait != wait:
        raise Error("not a time in seconds: %r" % wait, "bad-option")
    return now() + wait if wait > 0 else 0.0


def rest_of(end: Optional[float]) -> Optional[float]:
    """The rest of a wait; a wait that was to last somewhat does not become a
    try."""
    return max(0.001, end - now()) if end else end


def span(seconds: float) -> str:
    """A time for messages."""
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return "%d %s" % (seconds // length, unit)
    return "%d s" % seconds if seconds >= 1 else "%d ms" % (seconds * 1000)


NO_BROKER = {  # by how an answer begins
    "-": "that is a Redis server, not a lockbroker; use port 5625",
    "H": "that speaks HTTP, and is no lockbroker"}


class Reply:
    """A reply, taken apart."""

    __slots__ = ("status", "words", "text", "rows")

    def __init__(self, line: str) -> None:
        self.status, _, self.text = line.partition(" ")
        self.words: Dict[str, str] = {}
        self.rows: List[str] = []
        if self.status != "ERR":
            for word in self.text.split():
                key, _, value = word.partition("=")
                self.words[key] = value

    def number(self, key: str) -> int:
        return int(self.words.get(key, "0").split(",")[0])

    @property
    def is_taken(self) -> bool:
        """Was a request without a wait refused?"""
        return self.status == "BUSY" or self.text.startswith("unavailable ")

    def check(self) -> "Reply":
        """Raises the error of the reply, unless that is OK."""
        if self.status == "OK":
            return self
        if self.status == "BUSY":
            raise self._refused(Busy, "")
        if self.status == "TIMEOUT":
            raise self._refused(TimedOut, "not granted in time; ")
        if self.status == "CANCELLED":
            raise Error("cancelled", "cancelled")
        if self.status != "ERR":
            raise Error(NO_BROKER.get(self.status[:1], "that is no lockbroker: "
                                      "it says %r" % self.status[:40]))
        code, _, text = self.text.partition(" ")
        raise ERRORS.get(code, Error)(text or code, code)

    def _refused(self, kind: Callable[[str], Error], text: str) -> Error:
        """... with what the broker knows (SESSION why=yes)."""
        words = self.words
        age = milliseconds(words["age"]) / 1000 if "age" in words else None
        if "kept" in words:
            text += "reserved (keep= or delay=) for another " + span(
                milliseconds(words["kept"]) / 1000)
        else:
            text += "held by " + words.get("holder", "another")
            if "broker" in words:
                text += " through " + words["broker"]
            if age is not None:
                text += " for " + span(age)
        if "before" in words:
            text += "; %s before this one" % words["before"]
        error = kind(text)
        error.holder, error.broker = words.get("holder"), words.get("broker")
        error.age = age
        if "before" in words:
            error.before = self.number("before")
        if "name" in words:
            error.about((words["name"],))
        return error


def milliseconds(text: str) -> int:
    units = {"ms": 1, "s": 1000, "m": 60000, "h": 3600000, "d": 86400000}
    digits = text.rstrip("mshd")
    return int(digits) * units.get(text[len(digits):], 1)


ADDRESS = re.compile(r"(?:\[(?P<v6>[^]]*)\]|(?P<host>[^:]*))(?::(?P<port>\d+))?$")


class Address:
    """HOST:PORT, :PORT, HOST, a path of a Unix socket, each perhaps after
    tls://, tcp:// or unix:."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.failed = float("-inf")
        self.tls = text.startswith("tls://")
        self.path: Optional[str] = None
        for scheme in ("tls://", "tcp://", "unix://", "unix:"):
            if text.startswith(scheme):
                text = text[len(scheme):]
                break
        if text.startswith("/"):
            self.path = text
            return
        if "://" in text:
            raise Error("%s:// is no way to a lockbroker; an address is "
                        "HOST:PORT, tls://HOST:PORT or a path" %
                        text.partition("://")[0], "bad-option")
        found = ADDRESS.match(
            "[%s]" % text if text.count(":") > 1 and text[0] != "[" else text)
        if found is None or int(found["port"] or 0) > 65535:
            raise Error("not an address: %r" % self.text, "bad-option")
        self.host = found["v6"] or found["host"] or "127.0.0.1"
        self.port = int(found["port"] or PORT)

    def is_bad(self) -> bool:
        """An address that did not answer a moment ago comes last."""
        return now() < self.failed + FAILED


def addresses(given: Sequence[str]) -> List[Address]:
    for one in given:
        if not isinstance(one, str):
            raise TypeError("an address is a str as \"HOST:PORT\", and not %r"
                            % (one,))
    texts = [one for text in given for one in text.split(",") if one]
    if not texts:
        texts = [one for one in os.environ.get("LOCKBROKER", "").split(",")
                 if one]
    return [Address(text) for text in
            texts or [LOCAL_SOCKET, "127.0.0.1:%d" % PORT]]


def resolve(host: str, port: int) -> "asyncio.Future[List[Any]]":
    """The addresses of a host.  A thread asks for them that nothing waits for:
    a dead name server answers after a timeout of its own."""
    loop = asyncio.get_running_loop()
    future: "asyncio.Future[List[Any]]" = loop.create_future()

    def answer(found: List[Any], error: Optional[BaseException]) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(found)

    def ask() -> None:
        found: List[Any] = []
        failed: Optional[BaseException] = None
        try:
            found = socket.getaddrinfo(host, port, 0, socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            failed = error if isinstance(error, OSError) else OSError(str(error))
        try:
            loop.call_soon_threadsafe(answer, found, failed)
        except RuntimeError:
            pass  # the loop has ended

    try:
        answer(socket.getaddrinfo(host, port, 0, socket.SOCK_STREAM, 0,
                                  socket.AI_NUMERICHOST), None)
    except (OSError, UnicodeError):
        threading.Thread(target=ask, daemon=True, name="lockbroker dns").start()
    return future


async def within(seconds: float, work: Coroutine[Any, Any, T]) -> T:
    """Raises TimeoutError.  Unlike asyncio.wait_for() before Python 3.12, it is
    cancelled whenever its caller is, though the work may just have ended."""
    task = asyncio.ensure_future(work)
    task.add_done_callback(lambda t: t.cancelled() or t.exception())
    try:
        await asyncio.wait([task], timeout=seconds)
        if not task.done():
            task.cancel()
            await asyncio.wait([task])
            if task.cancelled():
                raise asyncio.TimeoutError()
    except asyncio.CancelledError:
        task.cancel()
        raise
    return task.result()


class Limit:
    """How long one call may take, by the core's clock()."""

    def __init__(self, core: "Broker", end: Optional[float],
                 patience: Optional[float] = None,
                 loop: Optional[asyncio.AbstractEventLoop] = None) -> None:
        self.core, self.end = core, end
        self.loop = loop or asyncio.get_running_loop()
        self.patience = core.patience if patience is None else patience
        self.quiet = core.clock()  # no broker has answered since
        self.stopped = False
        self.is_again = False  # a broker has not answered
        self.at: Optional[Tuple["Session", str]] = None  # the open request
        self.hard: Optional[float] = None
        if end is not None:
            self.hard = self.quiet + self.patience + (
                max(0.0, end - now()) if end else 0.0)

    def heard(self) -> None:
        self.quiet = self.core.clock()

    def stop(self) -> None:
        """The caller has abandoned it."""
        self.stopped = True
        if self.at is not None:
            session, tag = self.at
            session.give_up(tag, cancelled())

    def left(self) -> float:
        """The time left if no broker answers."""
        if self.stopped:
            return 0.0
        until = self.quiet + SILENCE if self.hard is None else self.hard
        return until - self.core.clock()

    def rest(self) -> Optional[float]:
        """How long the broker is to wait: a broker that is asked because another
        did not answer gets a moment of the patience, though the time may be up."""
        rest = rest_of(self.end)
        if not rest or not self.is_again:
            return rest
        return max(rest, min(RETRY, self.left() / 2))

    def share(self, others: bool) -> float:
        """The part of that for one address, if there are others to try."""
        left = max(0.0, self.left())
        return max(left / 2, min(left, self.patience / 2)) if others else left

    @property
    def may_wait(self) -> bool:
        """... for a broker that is not there yet?"""
        if self.end is None or self.stopped:
            return self.left() > TRY_AGAIN
        return now() + TRY_AGAIN < self.end


def cancelled() -> Error:
    return Error("the wait was cancelled", "cancelled")


class Grant:
    """A grant of a session: locks, or permits of a semaphore."""

    def __init__(self, session: "Session", words: "Words",
                 on_lost: Callable[["Grant"], None]) -> None:
        self.session = session
        self.kind, self.names, self.request, self.undo = words
        # The session's state of it.
        self.keys = keys_of(self.kind, self.names, self.request)
        self.is_granted = False
        self.fences: Tuple[int, ...] = ()
        self.permits = 0
        self.slot: Optional[int] = None
        self.until = 0.0  # by now(); 0: no PING has covered it yet
        self.ends = float("inf")  # by `hold=`, or a little earlier
        self.reason: Optional[str] = None  # why it was lost
        self.over = False  # lost, or released
        self.given = False  # ... is under way, or done
        self.on_lost = on_lost

    @property
    def is_bounded(self) -> bool:
        return self.ends < float("inf")

    @property
    def valid(self) -> float:
        return 0.0 if self.over else max(0.0, self.until - now())

    @property
    def fence(self) -> int:
        if not self.fences:
            raise Error("no fence", "unsupported")
        return self.fences[0]

    def each(self) -> List[str]:
        """The requests that release it though one of several names is not held."""
        return (["UNLOCK " + name for name in self.names]
                if len(self.names) > 1 else [self.undo])

    def granted(self, reply: "Reply") -> None:
        self.is_granted = True
        bound = re.search(r" hold=(\d+)ms", self.request)
        if bound:
            self.ends = now() + int(bound[1]) / 1000
        self.fences = tuple(
            int(f) for f in reply.words.get("fence", "").split(",") if f)
        self.permits = reply.number("permits")
        if "slot" in reply.words:
            self.slot = reply.number("slot")

    def vouched(self, sent: float, pong: "Reply") -> None:
        """A PING was sent then, after the grant."""
        if "valid" in pong.words and not self.over:
            self.until = max(self.until, sent + milliseconds(
                pong.words["valid"]) / 1000)

    def lose(self, reason: str) -> None:
        if self.over:
            return
        self.over = True
        self.reason = reason
        self.session.holds.discard(self)
        self.on_lost(self)

    def check(self) -> None:
        """Raises Lost if it is lost, or no longer safe by this host's clock."""
        if self.reason is not None or self.until <= now():
            raise self.error()

    def error(self) -> Lost:
        if self.given and self.reason is None:
            error = Lost("not held", "not-held")
        else:
            reason = self.reason or self.why()
            error = Lost("%s was lost (%s)%s" % (
                ", ".join(self.names), reason, REASONS.get(reason, "")))
        error.names = self.names
        return error

    def why(self) -> str:
        """Why the last `valid=` expired: `hold=` limited it, or no other came."""
        known = max(self.until, now())
        return "hold" if self.ends < known + BRIEF else "unreachable"


REASONS = {
    "unreachable": ": no broker could confirm it in time",
    "hold": ": its hold= is over",
    "forced": ": an administrator ended it",
    "taken": ": somebody else has it in Redis",
    "shutdown": ": the broker stops",
    "closed": ": its Broker was closed",
    "drill": ": this is a drill; let go of it now"}


class Call:
    """A request that waits for its reply."""

    __slots__ = ("reply", "first", "undo", "limit", "allowed", "sent")

    def __init__(self, reply: "asyncio.Future[Reply]",
                 first: Optional[Callable[[Reply], None]], undo: str,
                 limit: Optional[Limit], allowed: float, sent: float) -> None:
        self.reply, self.first, self.undo = reply, first, undo
        self.limit = limit
        self.allowed = allowed  # the time in which the broker may say nothing
        self.sent = sent  # by the core's clock()


class Session:
    """One connection, and the session of the broker that belongs to it."""

    def __init__(self, core: "Broker", address: Address) -> None:
        self.core = core
        self.address = address
        self.reader: Optional[asyncio.StreamReader] = None
        self.writer: Any = None
        self.tags = itertools.count(1)
        self.calls: Dict[str, Call] = {}
        self.holds: Set[Grant] = set()
        self.busy: Set[Tuple[str, str]] = set()  # kind and name
        self.open = False  # it takes new requests
        self.silent = False  # a request was abandoned; nothing came since
        self.away: Optional["asyncio.Future[None]"] = None  # until it is back
        self.plain: List[str] = []  # tags of requests without one, in order
        self.wary = 0  # how often a lock is not tried before it is waited for
        self.ending = 0  # requests that are being taken back
        self.kept: List[Grant] = []  # what LIST has shown after a RESUME
        self.key = ""
        self.heard = self.pinged = now()
        self.listened = core.clock()  # as heard, by the core's clock()
        self.brisk = FROZEN  # the least that a call allows for silence
        self.task: Optional["asyncio.Task[None]"] = None
        self.loop = asyncio.get_running_loop()
        self.timer: Optional[asyncio.TimerHandle] = None

    # The connection.

    async def connect(self, most: float) -> None:
        try:
            await within(max(0.001, most), self._connect())
        except asyncio.CancelledError:
            self._abort()  # the connection may have come in the same moment
            raise
        self.open = True
        self.task = asyncio.ensure_future(self._read())

    async def _dial(self) -> None:
        a = self.address
        if a.path is not None:
            self.reader, self.writer = await asyncio.open_unix_connection(
                a.path)
            return
        error: OSError = OSError("no address")
        for _, _, _, _, where in await resolve(a.host, a.port):
            try:
                self.reader, self.writer = await asyncio.open_connection(
                    where[0], where[1],
                    ssl=self.core.context() if a.tls else None,
                    server_hostname=a.host if a.tls else None)
                return
            except OSError as failed:
                error = failed
        raise error

    async def _connect(self) -> None:
        try:
            await self._dial()
            if self.core.user is not None:
                (await self._ask("AUTH %s %s" % (
                    self.core.user, self.core.password or ""))).check()
            await self._introduce()
        except BaseException:
            self._abort()
            raise

    def _abort(self) -> None:
        if self.writer is not None:
            self.writer.transport.abort()

    async def _introduce(self) -> None:
        """A frozen broker accepts connections, too: only an answer counts."""
        words = ["SESSION"]
        if self.core.label:
            words.append("label=" + self.core.label)
        why = self.core.why
        reply = await self._offer(words)
        if reply.text.startswith("bad-option ") and why:
            self.core.why = ""  # a broker before it knew this
            reply = await self._offer(words)
        if reply.text.startswith("limit ") and self.core.grace:
            self.core.without_grace(reply.text)
            reply = await self._offer(words, 0)
        self.key = reply.check().words.get("key", "")

    async def _offer(self, words: List[str], grace: Optional[float] = None
                     ) -> Reply:
        grace = self.core.grace if grace is None else grace
        return await self._ask(" ".join(
            words + (["grace=" + duration(grace)] if grace else []) +
            ([self.core.why] if self.core.why else [])))

    async def _ask(self, line: str) -> Reply:
        """Before anything else reads the connection."""
        self.writer.write(line.encode() + b"\r\n")
        while True:
            got = await self._line()
            if not got.startswith("!"):
                break
            self.event(got)
        reply = Reply(got)
        for _ in range(reply.number("lines")):
            reply.rows.append(await self._line())
        return reply

    async def _line(self) -> str:
        assert self.reader is not None
        got = await self.reader.readline()
        if not got.endswith(b"\n"):
            raise Gone()
        return got.decode().rstrip("\r\n")

    async def _resume(self) -> bool:
        """Has the session its state from before the connection was lost?"""
        until = now() + self.core.grace
        while now() < until:
            ended = 0
            for address in self.core.addresses:
                self.address = address
                try:
                    await within(until - now(), self._take_up())
                    return True
                except (OSError, Gone, Error, asyncio.TimeoutError,
                        ValueError) as error:
                    ended += getattr(error, "code", "") == "not-found"
                    self._abort()
            if ended == len(self.core.addresses):
                break
            await asyncio.sleep(TRY_AGAIN)
        return False

    async def _take_up(self) -> None:
        await self._dial()
        if self.core.user is not None:
            (await self._ask("AUTH %s %s" % (
                self.core.user, self.core.password or ""))).check()
        (await self._ask("RESUME key=" + self.key)).check()
        await self._sort()

    async def _sort(self) -> None:
        """Requests from before the connection was lost may have been granted, and
        holds released or lost: the broker lists the present holds."""
        rows = (await self._ask("LIST")).check().rows
        listed = {(kind, name): words for kind, name, *words in
                  map(str.split, rows)}
        self.kept = []
        for hold in list(self.holds):
            if hold.keys - {ALONE} <= set(listed):
                self.kept.append(hold)
                for key in hold.keys - {ALONE}:
                    del listed[key]
            else:
                hold.lose("unreachable")
        for (kind, name), words in listed.items():
            if kind == "lock":
                await self._ask("UNLOCK " + name)
            elif kind == "semaphore":
                await self._ask("RELEASE %s %s" % (name, words[0]))

    async def _read(self) -> None:
        why = "the connection is lost"
        while True:
            try:
                await self._read_lines()
            except (OSError, asyncio.IncompleteReadError, ValueError) as error:
                why = str(error) or why
            if (self.key and self.core.grace and not self.core.closed and
                    (self.holds or self.calls)):
                self.away = self.loop.create_future()
                self.writer.transport.abort()
            self._fail_calls()
            if self.away is None or not await self._resume():
                break
            self.open = True
            self.pinged = 0.0
            self._come_home()
            self._give_late()
            self._arm()
        self.drop("closed" if self.core.closed else why)

    def _give_late(self) -> None:
        """Those released behind LIST: send() could not say it."""
        kept, self.kept = self.kept, []
        try:
            for hold in kept:
                if hold.given:
                    for line in hold.each():
                        self.send(line)
        except Gone:
            pass  # the session comes back once more, or ends

    def _come_home(self) -> None:
        home, self.away = self.away, None
        if home is not None and not home.done():
            home.set_result(None)

    def fail(self) -> None:
        """A request was not answered.  The session's holds go by its own
        clock."""
        if self.away is None and not self.holds and not self.silent:
            self.drop("the broker does not answer")

    async def come_back(self, most: float = MOMENT) -> None:
        """Waits for a moment until it is known whether the session continues."""
        if self.away is not None:
            await asyncio.wait([self.away], timeout=max(0.0, min(MOMENT, most)))

    async def _read_lines(self) -> None:
        assert self.reader is not None
        while True:
            got = await self.reader.readline()
            if not got.endswith(b"\n"):
                return
            self._hears()
            line = got.decode().rstrip("\r\n")
            if line.startswith("!"):
                self.event(line)
            elif line.startswith("@"):
                tag, _, rest = line[1:].partition(" ")
                self._answered(tag, Reply(rest))
            elif self.plain:
                self._answered(self.plain.pop(0), Reply(line))
            elif line.startswith("ERR "):  # to a line that the broker cannot read
                try:
                    Reply(line).check()
                except Error as error:
                    self._fail_calls(error)
            else:
                return  # not a broker, or a reply to another client

    def _hears(self) -> None:
        self.heard, self.listened = now(), self.core.clock()
        self.silent = False

    def _answered(self, tag: str, reply: Reply) -> None:
        call = self.calls.pop(tag, None)
        if call is None:
            return
        if not self.calls:
            self.brisk = FROZEN
        if call.first is not None:
            call.first(reply)
        if call.limit is not None:
            call.limit.heard()
        if not call.reply.done():
            call.reply.set_result(reply)

    def event(self, line: str) -> None:
        what, _, rest = line.partition(" ")
        words = rest.split()
        fields = dict(w.partition("=")[::2] for w in words[1:])
        if what == "!LOST" and words:
            for hold in list(self.holds):
                if words[0] in hold.names and (
                        hold.kind == fields.get("kind", "lock")):
                    hold.lose(fields.get("reason", "unreachable"))
        elif what == "!SHUTDOWN":
            for hold in list(self.holds):
                hold.lose("shutdown")
            self.core.leave(self)
        elif what == "!LEAVING":
            self.core.leave(self)

    def _fail_calls(self, error: Optional[Error] = None) -> None:
        self.open = False
        calls, self.calls, self.plain = self.calls, {}, []
        self.brisk = FROZEN
        for call in calls.values():
            if not call.reply.done():
                call.reply.set_exception(error or Gone())
                call.reply.exception()  # some of them have no caller any longer

    def drop(self, reason: str) -> None:
        """Abandons the connection, and all that it holds."""
        self._fail_calls()
        self._come_home()
        for hold in list(self.holds):
            hold.lose(reason)
        self.core.forget(self)
        self.writer.transport.abort()
        if self.timer is not None:
            self.timer.cancel()
        if self.task is not None:
            self.task.cancel()

    # Its own clock.

    def _arm(self) -> None:
        """Sets the timer, unless it comes soon enough."""
        if not self.holds and not self.calls:
            return
        left = self._least()
        every = max(0.02, min(left, self.brisk) / 3)
        pause = max(0.001, min(self.pinged + every - now(), left))
        if self.timer is not None:
            if self.timer.when() <= self.loop.time() + pause:
                return
            self.timer.cancel()
        self.timer = self.loop.call_later(pause, self._tick)

    def _least(self) -> float:
        return min((h.until - now() for h in self.holds if h.until > 0),
                   default=FROZEN)

    def _tick(self) -> None:
        """Asks how long its holds are safe, and ends those that no longer are.
        A broker that says nothing is abandoned, as it may be frozen: its grants
        since then are not safe here."""
        assert self.timer is not None
        self.core.woken(self.timer.when())
        self.timer = None
        late = [hold for hold in self.holds if 0 < hold.until <= now()]
        if late or (not self.holds and self.calls and
                    self.core.clock() - self.listened > FROZEN):
            self.drop(late[0].why() if late else "unreachable")
            return
        self._look_at_calls()
        if now() >= self.pinged + min(self._least(), self.brisk) / 3 and (
                self.away is None):
            asyncio.ensure_future(self._ping_quietly())
        self._arm()

    def _look_at_calls(self) -> None:
        """A call with little time waits for an unresponsive broker for a shorter
        time than others."""
        clock = self.core.clock()
        for tag, call in list(self.calls.items()):
            limit = call.limit
            if limit is None:
                continue
            if self.listened > call.sent:
                limit.heard()
            silent = clock - max(self.listened, call.sent)
            if silent > call.allowed or limit.left() <= 0:
                self.silent = self.silent or silent > call.allowed / 2
                if self.silent:
                    self.address.failed = now()
                self.give_up(tag, Gone())

    def give_up(self, tag: str, error: Exception) -> None:
        """The caller waits no longer.  A grant that comes all the same is
        released."""
        call = self.calls.get(tag)
        if call is not None and not call.reply.done():
            call.reply.set_exception(error)
            call.reply.exception()
            self._begin_to_undo(tag, call.undo)

    async def _ping_quietly(self) -> None:
        try:
            await self.ping()
        except (Gone, Error):
            pass

    async def ping(self, limit: Optional[Limit] = None) -> None:
        """The grants before this are safe for the time that the reply gives."""
        sent = self.pinged = now()
        covered = [hold for hold in self.holds if not hold.over]
        _, call = self.send("PING", limit=limit)
        reply = (await call).check()
        for hold in covered:
            hold.vouched(sent, reply)
        self._arm()

    # Lent: the borrower uses its connection itself.

    def lend(self) -> int:
        """Returns the descriptor of the connection, which is not read here
        before back()."""
        self.busy.add(ALONE)
        self.writer.transport.pause_reading()
        fd = int(self.writer.get_extra_info("socket").fileno())
        self.block(fd, FROZEN / 3)
        return fd

    def block(self, fd: int, seconds: float) -> None:
        """Lets reading wait for this time, or not at all (0)."""
        try:
            self.writer.get_extra_info("socket").setsockopt(
                socket.SOL_SOCKET, socket.SO_RCVTIMEO,
                struct.pack("ll", int(seconds), int(seconds % 1 * 1000000)))
            os.set_blocking(fd, seconds > 0)
        except OSError:
            pass  # it is closed

    def back(self, data: bytes) -> None:
        """Continues with the requests from the time in between, and with data
        that was read from the connection but not understood."""
        assert self.reader is not None
        self.busy.discard(ALONE)
        self.block(self.writer.get_extra_info("socket").fileno(), 0)
        for hold in self.holds:
            self.busy |= hold.keys
        if data:
            self.reader.feed_data(data)
        self._hears()
        self.writer.transport.resume_reading()
        self._arm()

    def part(self, data: bytes) -> None:
        """As back(), but where the answer to some request is unknown: a clean
        close releases all grants."""
        self.open = False
        self.core.forget(self)
        self.back(data)
        self.cut(socket.SHUT_WR)
        self.loop.call_later(FROZEN, self.drop, "the broker does not answer")

    def cut(self, how: int = socket.SHUT_RDWR) -> None:
        try:
            self.writer.get_extra_info("socket").shutdown(how)
        except OSError:
            pass

    # Requests.

    def send(self, line: str, first: Optional[Callable[[Reply], None]] = None,
             undo: str = "", limit: Optional[Limit] = None
             ) -> Tuple[str, "asyncio.Future[Reply]"]:
        """`first` is called with the reply before any later line of the broker is
        handled."""
        if self.away is not None or self.writer.transport.is_closing():
            raise Gone()
        tag, call = self._enter(first, undo, limit)
        self._write("@%s %s\r\n" % (tag, line))
        return tag, call

    def _enter(self, first: Optional[Callable[[Reply], None]], undo: str,
               limit: Optional[Limit]) -> Tuple[str, "asyncio.Future[Reply]"]:
        tag = str(next(self.tags))
        sent = self.core.clock()
        if not self.calls:
            self.heard = self.pinged = now()
            self.listened = sent
        allowed = FROZEN
        if limit is not None:
            allowed = min(FROZEN, self.core.share(limit, self.address))
            self.brisk = max(0.03, min(self.brisk, allowed))
            if undo:
                limit.at = self, tag
        call = Call(self.loop.create_future(), first, undo, limit, allowed, sent)
        self.calls[tag] = call
        return tag, call.reply

    def _write(self, text: str) -> None:
        self.writer.write(text.encode())
        self._arm()

    async def call(self, line: str) -> Reply:
        _, call = self.send(line)
        return await call

    async def ask(self, line: str, limit: Limit, undo: str = "",
                  first: Optional[Callable[[Reply], None]] = None) -> Reply:
        """If the caller is cancelled, so is the request, and a grant that comes
        all the same is undone."""
        tag, call = self.send(line, first, undo, limit)
        return await self._answer(tag, call, undo)

    async def _answer(self, tag: str, call: "asyncio.Future[Reply]",
                      undo: str) -> Reply:
        try:
            return await call
        except asyncio.CancelledError:
            self._begin_to_undo(tag, undo)
            raise

    def _begin_to_undo(self, tag: str, undo: str) -> None:
        self.ending += 1
        found: "asyncio.Future[Reply]" = self.loop.create_future()
        call = self.calls.get(tag)
        if call is not None:
            call.reply, call.limit, call.first = found, None, None
        else:
            found.set_result(Reply("OK"))
        asyncio.ensure_future(self._undo(tag, found, undo))

    async def _undo(self, tag: str, found: "asyncio.Future[Reply]",
                    undo: str) -> None:
        try:
            await self.call("CANCEL " + tag)
            if undo and (await found).status == "OK":
                await self.call(undo)
        except Gone:
            self.fail()
        except Error:
            pass
        finally:
            self.ending -= 1
            self.core.let_go(self, set())

    async def give_rest(self, hold: Grant, limit: Limit) -> None:
        """A lost grant is released all the same: if one of several names was
        lost, the others are still held; and a broker may wait for the word."""
        try:
            for call in [self.send(line, limit=limit)[1] for line in hold.each()]:
                await call
        except Gone:
            pass

    async def take(self, hold: Grant, limit: Limit) -> None:
        """Gets it granted, and safe for some time."""
        def granted(reply: Reply) -> None:
            if reply.status == "OK" and not hold.over:
                hold.granted(reply)
                self.holds.add(hold)

        if self._may_be_free(hold, limit.rest()):
            reply = await self._try(hold, granted, limit)
            if limit.rest() == 0 or not reply.is_taken:
                reply.check()
                return
            self.wary = WARY
        (await self.ask(hold.request + wait_word(limit.rest()), limit,
                        hold.undo, granted)).check()
        await self.ping(limit)

    def _may_be_free(self, hold: Grant, end: Optional[float]) -> bool:
        """... and this session has no other work?"""
        if (len(self.busy) > len(hold.keys) or self.holds or self.calls or
                self.ending):
            return False
        if end == 0 or self.wary == 0:
            return True
        self.wary -= 1
        return False

    async def _try(self, hold: Grant, granted: Callable[[Reply], None],
                   limit: Limit) -> Reply:
        """Until it is answered, the session has no other requests."""
        if self.away is not None or self.writer.transport.is_closing():
            raise Gone()
        def vouched(reply: Reply) -> None:
            hold.vouched(sent, reply)
            self._arm()

        tag, call = self._enter(granted, hold.undo, limit)
        sent = self.pinged = now()
        ping, pong = self._enter(vouched, "", limit)
        self.plain += [tag, ping]
        self.busy.add(ALONE)
        try:
            self._write(hold.request + " wait=0\r\nPING\r\n")
            reply = await self._answer(tag, call, hold.undo)
            if reply.status == "OK":
                await pong
            return reply
        finally:
            if ALONE not in hold.keys:
                self.busy.discard(ALONE)


def shown(this: Any, grant: Optional[Grant], *words: str) -> str:
    """The repr() of an object."""
    told = [" ".join(repr(name) for name in this._words[1]), *words]
    if grant is not None and grant.is_granted:
        told += ["fence %d" % fence for fence in grant.fences[:1]]
        if grant.slot is not None:
            told.append("slot %d" % grant.slot)
        told.append("valid %.1f s" % grant.valid if grant.valid else "lost")
    return "<%s %s>" % (type(this).__name__, ", ".join(told))


def no_copy(this: Any, _: Any) -> Any:
    raise TypeError("a %s can be neither copied nor sent to another process: it "
                    "has connections; make a Broker there" % type(this).__name__)


class Broker:
    """Sessions to the first of the addresses that answers: HOST:PORT,
    tls://HOST:PORT, or the path of a Unix socket; without any $LOCKBROKER,
    or the local broker.  `grace`: the seconds for which holds survive a lost
    connection.  `label`: a name for operators.  `patience`: the seconds that a
    call may take beyond its `wait`."""

    def __init__(self, *given: str, user: Optional[str] = None,
                 password: Optional[str] = None, ca: Optional[str] = None,
                 cert: Optional[str] = None, key: Optional[str] = None,
                 grace: float = 0, label: Optional[str] = None,
                 patience: float = PATIENCE) -> None:
        self.addresses = addresses(given)
        for word in (user, password, label):
            if word is not None:
                check_word(word, "bad-option")
        if not 0 < patience < float("inf"):
            raise Error("not a time in seconds: %r" % patience, "bad-option")
        self.user, self.password = user, password
        self.ca, self.cert, self.key = ca, cert, key
        self.grace, self.label, self.patience = grace, label, patience
        self.why = "why=yes"
        self.sessions: List[Session] = []
        self.kept = Kept()
        self.closed = False
        self._context: Optional[ssl.SSLContext] = None
        self._still = 0.0  # seconds in which this process did not run
        self._woke = 0.0  # when that was counted last
        self._watched: Dict[Any, Grant] = {}  # by a reference to its Hold
        self._mine: "weakref.WeakKeyDictionary[Any, Any]" = (
            weakref.WeakKeyDictionary())  # of each task

    __reduce_ex__ = no_copy

    def __repr__(self) -> str:
        return "<Broker %s%s>" % (
            ", ".join(one.text for one in self.addresses),
            ", closed" if self.closed else "")

    def context(self) -> ssl.SSLContext:
        if self._context is None:
            self._context = ssl.create_default_context(cafile=self.ca)
            if self.cert is not None:
                self._context.load_cert_chain(self.cert, self.key)
        return self._context

    async def __aenter__(self) -> "Broker":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Releases all holds."""
        self.closed = True
        await asyncio.gather(*map(self._close, list(self.sessions)))

    async def _close(self, session: Session) -> None:
        await session.come_back(self.patience)
        session.open = False
        try:
            await within(self.patience, session.call("QUIT"))
        except (Gone, asyncio.TimeoutError):
            pass
        session.drop("closed")

    def without_grace(self, text: str) -> None:
        """The broker has no slot for it."""
        warnings.warn(
            "lockbroker: locks will not survive a lost connection: the broker "
            "refuses grace=: " + text.partition(" ")[2], RuntimeWarning)
        self.grace = 0

    # Time.

    def clock(self) -> float:
        """Seconds in which this process ran."""
        return time.monotonic() - self._still

    def woken(self, due: float) -> None:
        """A timer that was due then is handled now."""
        time_ = time.monotonic()
        late = time_ - max(due, self._woke)
        if late > STILL:
            self._still += late
            self._woke = time_

    # Sessions.

    def forget(self, session: Session) -> None:
        if session in self.sessions:
            self.sessions.remove(session)

    def leave(self, session: Session) -> None:
        """The broker leaves: the session ends as soon as it holds nothing."""
        session.open = False
        if not session.busy:
            session.drop("the broker leaves")

    def share(self, limit: Limit, address: Address) -> float:
        """How long a session at that address may be silent: then another address
        is tried or, if there is time, this one by another connection."""
        return limit.share(limit.left() > 2 * limit.patience or any(
            not a.is_bad() for a in self.addresses if a is not address))

    async def _connect(self, limit: Limit) -> Session:
        """Raises Unavailable if no broker answers in time."""
        while True:
            why: Dict[str, str] = {}
            rest = sorted(self.addresses, key=Address.is_bad)
            while rest and (limit.left() > 0 or not why):
                address = rest.pop(0)
                session = Session(self, address)
                try:
                    await session.connect(min(CONNECT, limit.share(bool(rest))))
                    self.sessions.append(session)
                    return session
                except Denied:
                    raise
                except (OSError, Gone, Error, asyncio.TimeoutError,
                        ValueError) as error:
                    address.failed = now()
                    limit.is_again = True
                    why[address.text] = str(error) or "no answer"
            for address in rest:
                why[address.text] = "not tried, out of time"
            self._check_open(limit)
            if not limit.may_wait:
                raise Unavailable("no broker answers (%s)" % "; ".join(
                    "%s: %s" % one for one in why.items()))
            due = time.monotonic() + TRY_AGAIN
            await asyncio.sleep(TRY_AGAIN)
            self.woken(due)

    def _check_open(self, limit: Limit) -> None:
        if self.closed:
            raise Error("this Broker is closed", "closed")
        if any(s.loop is not limit.loop for s in self.sessions):
            raise Error("this Broker has connections in another event loop, or "
                        "in one that has ended: make one for each", "closed")
        if limit.stopped:
            raise cancelled()

    async def session(self, keys: Set[Tuple[str, str]],
                      limit: Limit) -> Session:
        """A session without holds or requests for these; it gets them."""
        self._check_open(limit)
        for session in self.sessions:
            if (session.open and not session.ending and not session.silent and
                    suits(session.busy, keys)):
                session.busy |= keys
                return session
        session = await self._connect(limit)
        session.busy |= keys
        return session

    async def lend(self, most: int) -> Optional[Session]:
        """A session without work that may be lent; a new one, if there are some
        and less than `most`, and no address has just failed."""
        if self.closed or self.grace or any(a.tls for a in self.addresses):
            return None
        for session in self.sessions:
            if (session.open and not session.busy and not session.calls and
                    not session.ending):
                return session
        if not 0 < len(self.sessions) < most or any(
                map(Address.is_bad, self.addresses)):
            return None
        return await self._connect(Limit(self, 0.0, self.patience / 2))

    def let_go(self, session: Session, keys: Set[Tuple[str, str]]) -> None:
        session.busy -= keys
        if session.busy or session.ending:
            return
        idle = [s for s in self.sessions if not s.busy]
        if session.away is None and (not session.open or len(idle) > IDLE):
            session.drop("not needed")

    # Requests that wait.

    async def request(self, keys: Set[Tuple[str, str]], limit: Limit,
                      ask: Callable[[Session], Awaitable[T]],
                      again: bool = True) -> T:
        """Lets `ask` ask some session until it answers; `again`: more than once
        if need be."""
        while True:
            session = await self.session(keys, limit)
            done = False
            try:
                result = await ask(session)
                done = isinstance(result, Grant)
                return result
            except Unavailable as error:
                if not again or error.code != "shutdown":
                    raise
                session.open = False
            except Gone:
                session.fail()
                if not again or limit.left() <= 0:
                    self._check_open(limit)
                    raise Unavailable("%s %s" % (
                        session.address.text, "does not answer" if
                        session.silent or not session.open else
                        "did not answer this request in time")) from None
                limit.is_again = True
                await session.come_back(limit.left())
            finally:
                if not done:
                    self.let_go(session, keys)
            again = limit.end is None or limit.left() > 0

    async def hold(self, words: "Words", limit: Limit,
                   on_lost: Callable[[Grant], None]) -> Grant:
        """Returns a grant that is safe for some time.  A grant whose PING has no
        `valid=` was lost in between: it is asked for again."""
        keys = keys_of(words[0], words[1], words[2])

        async def ask(session: Session) -> Grant:
            hold = Grant(session, words, lambda h: (
                on_lost(h) if told else None))
            try:
                await session.take(hold, limit)
                hold.check()
            except BaseException:
                hold.over = True
                session.holds.discard(hold)
                if hold.is_granted and session.open:
                    for one in hold.each():
                        session.send(one)
                raise
            told.append(hold)
            return hold

        told: List[Grant] = []  # from then on the caller learns of a loss
        try:
            while True:
                try:
                    return await self.request(keys, limit, ask)
                except Lost:
                    if ALONE in keys or limit.left() <= 0 or (
                            limit.end is not None and now() >= limit.end):
                        raise
        except Error as error:
            raise error.about(words[1])

    async def release(self, hold: Grant) -> None:
        """Raises Lost if it was lost before.  If no broker answers within the
        patience, the release is finished after this call."""
        if hold.given:
            return
        hold.given = True
        session = hold.session
        over, hold.over = hold.over, True
        safe = hold.until > now()
        session.holds.discard(hold)
        try:
            if over:
                await session.give_rest(hold, Limit(self, 0.0))
            else:
                _, call = session.send(hold.undo, limit=Limit(self, 0.0))
                (await call).check()
        except Gone:
            # The broker ends it: it was held until now if it was safe.
            if not safe:
                raise hold.error() from None
        except Lost as error:
            await session.give_rest(hold, Limit(self, 0.0))
            raise error.about(hold.names) from None
        finally:
            self.let_go(session, hold.keys)
        if over and hold.reason is not None:
            raise hold.error()

    async def set_value(self, hold: Grant, value: str) -> None:
        """Twice, where its session has come back in between."""
        limit = Limit(self, 0.0)
        try:
            check_word(value, "bad-option")
            if hold.kind != "lock" or len(hold.names) > 1:
                raise Error("only a lock of one name has a value", "bad-option")
            for _ in range(2):
                hold.check()
                try:
                    (await hold.session.ask("SETVALUE %s value=%s" % (
                        hold.names[0], value), limit)).check()
                    return
                except Gone:
                    await hold.session.come_back(limit.left())
            hold.check()
            raise Unavailable("%s does not answer" % hold.session.address.text)
        except Error as error:
            raise error.about(hold.names)

    # Holds that a program drops, and holds that it has already.

    def watch(self, handle: "Hold", grant: Grant) -> None:
        """Releases the grant when its Hold is dropped."""
        loop = asyncio.get_running_loop()

        def dropped(ref: Any) -> None:
            try:
                loop.call_soon_threadsafe(self._dropped, ref)
            except RuntimeError:
                pass  # the loop has ended

        ref = weakref.ref(handle, dropped)
        handle._ref = ref
        self._watched[ref] = grant

    def watch_no_more(self, handle: "Hold") -> None:
        self._watched.pop(handle._ref, None)

    def _dropped(self, ref: Any) -> None:
        grant = self._watched.pop(ref, None)
        if grant is not None and not grant.over:
            warnings.warn("lockbroker: %s was dropped while it was held" %
                          ", ".join(grant.names), ResourceWarning)
            asyncio.ensure_future(self.give_quietly(grant))

    async def give_quietly(self, grant: Grant) -> None:
        try:
            await self.release(grant)
        except Error:
            pass

    # The objects.

    def lock(self, *names: str, shared: bool = False,
             wait: Optional[float] = None, hold: Optional[float] = None,
             keep: Optional[float] = None,
             delay: Optional[float] = None,
             value: Optional[str] = None,
             trace: Optional[str] = None) -> "Lock":
        """How to take the lock of a name, or of several, all or none: `with`
        and acquire() do so.

        All times are seconds.  `wait`: without limit (None), this long, or not
        at all (0).  `shared`: others may hold it, too, if they share it.
        `hold`: the maximum hold time; then the lock is lost.  `keep`: no other
        client gets it before this time after the grant, however it ends.
        `delay`: the same from an end without a release, such as a crash.
        `value`: a word that others read with Broker.value() while it is held.  `trace`: a traceparent that the
        broker's log, QUEUE and HISTORY show; by default OpenTelemetry's current
        span, if there is one.

        If it is not granted, raises Busy (it would have to wait), TimedOut,
        Unavailable, Denied or Deadlock; if it is lost, Lost at the end of its
        block."""
        return Lock(self, lock_words(names, shared, hold, keep, delay,
                                     value, trace), wait)

    def semaphore(self, name: str, limit: int, permits: int = 1,
                  wait: Optional[float] = None, slot: bool = False) -> "Lock":
        """How to take permits of a semaphore that has `limit` of them; see
        lock().

        `slot`: one permit, with a slot, a number from 0 to `limit` - 1 that no
        other hold has: Hold.slot.  A program may hold several slots of one
        semaphore.  A broker that has no slots refuses (Error, code
        "bad-option")."""
        return Lock(self, semaphore_words(name, limit, permits, slot), wait)

    def elect(self, name: str, value: Optional[str] = None) -> "Lock":
        """A lock that is waited for; its holder leads.  value() returns the
        value: where to find the leader."""
        return self.lock(name, value=value)

    async def value(self, name: str) -> Optional[str]:
        """The `value` of the current holder, through any broker; None if the
        lock is free, or the holder gave no value."""
        check_word(name)
        reply = await self.query("lock", name, "STATUS " + name, again=True)
        return reply.words.get("value")

    def once(self, name: str, *, keep: Optional[float] = None,
             busy: str = "skip", wait: Optional[float] = 0,
             hold: Optional[float] = None, delay: Optional[float] = None
             ) -> "Callable[[Coro[T]], Coro[Optional[T]]]":
        """Decorates a coroutine function, which is run under a lock.  In the
        name, "{day}" is its argument `day`.  With `keep`, it does not run again
        for this time, however early it ends.  If another client holds the name,
        the call returns None; with busy="raise" it raises Busy or TimedOut."""
        check_once(self, name, busy, wait, keep, hold, delay)

        def decorate(call: "Coro[T]") -> "Coro[Optional[T]]":
            if not inspect.iscoroutinefunction(call):
                raise TypeError("%r is no coroutine function; lockbroker.Broker "
                                "has once() for others" % (call,))
            name_of = once_name(name, call)

            @functools.wraps(call)
            async def run(*args: Any, **kwargs: Any) -> Optional[T]:
                is_entered, own = False, name_of(args, kwargs)
                try:
                    rest = self.kept.rest(own, wait)
                    if rest:
                        await asyncio.sleep(rest)
                    async with self.lock(own, wait=wait and wait - rest,
                                         keep=keep, hold=hold, delay=delay):
                        is_entered = True
                        self.kept.enter(own, keep)
                        return await call(*args, **kwargs)
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

    async def query(self, kind: str, name: str, line: str,
                    again: bool = False) -> Reply:
        """A request that waits for nothing; `again`: it may be made twice."""
        limit = Limit(self, 0.0)

        async def ask(session: Session) -> Reply:
            return (await session.ask(line, limit)).check()
        try:
            return await self.request({(kind + "?", name)}, limit, ask,
                                      again)
        except Error as error:
            raise error.about((name,))

    async def await_(self, kind: str, name: str, line: str,
                     timeout: Optional[float], again: bool = True) -> Reply:
        limit = Limit(self, end_of(timeout))

        async def ask(session: Session) -> Reply:
            return (await session.ask(
                line + wait_word(rest_of(limit.end)), limit)).check()
        try:
            return await self.request({(kind, name)}, limit, ask, again)
        except Error as error:
            raise error.about((name,))


Words = Tuple[str, Tuple[str, ...], str, str]  # kind, names, request, release
Coro = Callable[..., Coroutine[Any, Any, T]]


# A hold with `hold=` limits the `valid=` of its whole session, so it gets a
# session of its own.
ALONE = ("alone", "")


def keys_of(kind: str, names: Tuple[str, ...],
            request: str) -> Set[Tuple[str, str]]:
    """The keys of a request in its session."""
    keys = {(kind, name) for name in names}
    return keys | {ALONE} if " hold=" in request else keys


def suits(busy: Set[Tuple[str, str]], keys: Set[Tuple[str, str]]) -> bool:
    if ALONE in keys:
        return not busy
    return ALONE not in busy and not busy & keys


def wait_word(rest: Optional[float]) -> str:
    return "" if rest is None else " wait=" + duration(rest)


def lock_words(names: Tuple[str, ...], shared: bool, hold: Optional[float],
               keep: Optional[float], delay: Optional[float],
               value: Optional[str], trace: Optional[str]) -> Words:
    if not names:
        raise ValueError("a lock has a name")
    for name in names:
        check_word(name)
    if hold is not None:
        check_seconds(hold)
    if hold is not None and not hold > 0:
        raise Error("hold=%r would be without end; None is" % hold, "bad-option")
    line = "LOCK " + " ".join(names)
    if shared:
        line += " mode=shared"
    for word, time in (("hold", hold), ("keep", keep), ("delay", delay)):
        if time is not None:
            line += " %s=%s" % (word, duration(time))
    if value is not None:
        line += " value=" + check_word(value, "bad-option")
    if trace is not None:
        line += " trace=" + check_word(trace, "bad-option")
    return "lock", names, line, "UNLOCK " + " ".join(names)


def traced(words: Words) -> Words:
    """With the span in which a lock is asked for, if the program uses
    OpenTelemetry."""
    module: Any = sys.modules.get("opentelemetry.trace")
    if module is None or words[0] != "lock" or " trace=" in words[2]:
        return words
    span = module.get_current_span().get_span_context()
    if not span.is_valid:
        return words
    return (*words[:2], "%s trace=00-%032x-%016x-%02x" % (
        words[2], span.trace_id, span.span_id, span.trace_flags), words[3])


def semaphore_words(name: str, limit: int, permits: int, slot: bool) -> Words:
    check_word(name)
    if slot and permits != 1:
        raise Error("a slot goes with one permit, and not with %d" % permits,
                    "bad-option").about((name,))
    return ("semaphore", (name,),
            "ACQUIRE %s limit=%d %s" % (
                name, limit, "slot=yes" if slot else "permits=%d" % permits),
            "RELEASE %s permits=%d" % (name, permits))


def check_word(text: Any, code: str = "bad-name") -> str:
    """Makes sure that it is one word of its request."""
    if not isinstance(text, str):
        raise TypeError("%r is no str%s" % (text, "" if code != "bad-name" else
                        "; a name is one, and of several each: lock('a', 'b')"))
    bad = BAD[code].search(text)
    if bad is not None or not text:
        raise Error("not a word: %r%s" % (text, " has %s in it" % (
            "a space" if bad[0] == " " else repr(bad[0])) if bad else ""), code)
    return text


BAD = {"bad-name": re.compile("[\0-\x20\x7f=\ud800-\udfff]"),
       "bad-option": re.compile("[\0-\x20\x7f\ud800-\udfff]")}


def refuse_twice(words: Words, mine: Iterable[Any]) -> None:
    """A second request for a name that is held here would wait for itself."""
    if words[0] != "lock" or " mode=shared" in words[2]:
        return
    for grant in mine:
        if grant.kind == "lock" and not grant.over:
            for name in words[1]:
                if name in grant.names:
                    raise Deadlock("it is held by this very block").about(
                        (name,))


def check_once(broker: Any, name: Any, busy: Any, wait: Optional[float],
               *times: Optional[float]) -> None:
    """Reports mistakes where once() is written, and not when it is called."""
    if not isinstance(name, str):
        raise TypeError("once() needs a name: @broker.once(\"report:{day}\")")
    if busy not in ("skip", "raise"):
        raise Error("busy=%r is neither \"skip\" nor \"raise\"" % (busy,),
                    "bad-option")
    end_of(wait)
    keep, hold, delay = times
    broker.lock("name", keep=keep, hold=hold, delay=delay)


class Kept:
    """Names that once() also keeps from this program: a broker keeps them from
    other sessions only, and grants them again to the session that held them."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._until: Dict[str, float] = {}
        self._most = 64  # before expired ones are looked for

    def enter(self, name: str, keep: Optional[float]) -> None:
        if not keep:
            return
        with self._mutex:
            self._until[name] = now() + keep
            if len(self._until) > self._most:
                self._until = {name: until for name, until in
                               self._until.items() if until > now()}
                self._most = 64 + 2 * len(self._until)

    def rest(self, name: str, wait: Optional[float]) -> float:
        """The time for which it is kept; raises Busy or TimedOut if that is
        longer than the wait."""
        with self._mutex:
            rest = max(0.0, self._until.get(name, 0.0) - now())
        if wait is not None and rest > max(0.0, wait):
            raise (TimedOut if wait > 0 else Busy)(
                "reserved (keep= or delay=) for another %s" % span(rest)
            ).about((name,))
        return rest


def once_name(template: str, call: Callable[..., Any]
              ) -> Callable[[Tuple[Any, ...], Dict[str, Any]], str]:
    """The name of the lock, by the arguments of a call."""
    if inspect.isgeneratorfunction(call) or inspect.isasyncgenfunction(call):
        raise TypeError("%r is a generator: it runs when its call is over" %
                        (call,))
    signature = inspect.signature(call)
    others = [one.name for one in signature.parameters.values()
              if one.kind is one.VAR_KEYWORD]
    for _, field, _, _ in string.Formatter().parse(template):
        argument = re.split(r"[.[]", field or "", maxsplit=1)[0]
        if field is not None and argument not in signature.parameters and (
                not others or not argument.isidentifier()):
            raise Error("once(%r): %r has no argument %r" % (
                template, call, argument), "bad-option")

    def name_of(args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> str:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = dict(bound.arguments)
        for other in others:
            given.update(given.pop(other))
        return template.format(**given)
    return name_of


class Hold:
    """A hold of a program: until it is released or lost."""

    __reduce_ex__ = no_copy

    def __init__(self, broker: Broker, words: Words,
                 lock: "Optional[weakref.ref[Lock]]" = None) -> None:
        self._broker, self._lock = broker, lock
        self._words = traced(words)
        self._grant: Optional[Grant] = None
        self._ref: Any = None
        self._task: Any = None  # it is cancelled at a loss
        self._cancelled = False
        self._others = 0  # cancellations of the task that are not this hold's
        self.lost = asyncio.Event()

    async def _take(self, limit: Limit) -> None:
        self_ = weakref.ref(self)
        lost = self.lost

        def on_lost(_: Grant) -> None:
            lost.set()
            this = self_()
            if this is not None and this._task is not None:
                this._cancelled = True
                this._task.cancel()

        grant = await self._broker.hold(self._words, limit, on_lost)
        self._broker.watch(self, grant)
        self._grant = grant

    def _guard(self, task: Any) -> None:
        """From now on the task is cancelled at a loss."""
        self._task, self._others = task, cancelling()

    def __repr__(self) -> str:
        return shown(self, self._grant, *(
            [] if self._grant is not None else ["not held"]))

    async def release(self) -> None:
        """Raises Lost if it was lost."""
        grant, self._grant, self._task = self._grant, None, None
        if grant is None:
            raise Lost("%s is not held" % ", ".join(self._words[1]), "not-held")
        self._broker.watch_no_more(self)
        lock = self._lock() if self._lock is not None else None
        if lock is not None:
            lock._forget(self)
        await self._broker.release(grant)

    async def set_value(self, value: str) -> None:
        """Changes the value that Broker.value() returns.  Raises Lost if the
        lock was lost."""
        if self._grant is None:
            raise Lost("%s is not held" % ", ".join(self._words[1]), "not-held")
        await self._broker.set_value(self._grant, value)

    async def _exit(self, kind: Any) -> None:
        task, self._task = self._task, None
        if self._cancelled:
            await self._swallow(task, kind)
            if cancelling() > self._others:  # cancelled by the program, too
                self._cancelled = False
        try:
            await self.release()
        except Lost:
            if kind is None or (self._cancelled and
                                kind is asyncio.CancelledError):
                raise
        except Error:
            if kind is None:
                raise

    async def _swallow(self, task: Any, kind: Any) -> None:
        """The cancellation was this hold's: the program does not see it."""
        if kind is not asyncio.CancelledError:
            try:
                await asyncio.sleep(0)
            except asyncio.CancelledError:
                pass
        if hasattr(task, "uncancel"):
            task.uncancel()

    def check(self) -> None:
        """Raises Lost if the lock is lost, or no longer safe by this host's own
        clock."""
        if self._grant is None:
            raise Lost("%s is not held" % ", ".join(self._words[1]), "not-held")
        self._grant.check()

    @property
    def names(self) -> Tuple[str, ...]:
        return self._words[1]

    @property
    def name(self) -> str:
        return self._words[1][0]

    @property
    def valid(self) -> float:
        """The seconds for which no other client can get it."""
        return 0.0 if self._grant is None else self._grant.valid

    @property
    def slot(self) -> Optional[int]:
        """... of a semaphore with slot=True; None without one."""
        return None if self._grant is None else self._grant.slot

    @property
    def fences(self) -> Tuple[int, ...]:
        return () if self._grant is None else self._grant.fences

    @property
    def fence(self) -> int:
        """Rises with each exclusive grant of the (first) name."""
        if self._grant is None:
            raise Error("not held", "not-held").about(self._words[1])
        return self._grant.fence


async def stop_at(limit: Limit, stop: Any) -> None:
    if isinstance(stop, asyncio.Event):
        await stop.wait()
    while not stop.is_set():  # an event of threads
        await asyncio.sleep(LOOK)
    limit.stop()


def cancelling() -> int:
    """How often the task is asked to end; unknown before Python 3.11."""
    return int(getattr(asyncio.current_task(), "cancelling", int)())


class Lock:
    """How to take something: any number of tasks may enter it, one by one or,
    if it is shared, together.  `async with` and acquire() give a `Hold`; the
    methods of the Lock itself are about the latest one of the calling task, or
    about the only one."""

    def __init__(self, broker: Broker, words: Words,
                 wait: Optional[float]) -> None:
        self._broker, self._words, self._wait = broker, words, wait
        self._holds: List[Tuple[Any, Hold]] = []
        self._limits: Set[Limit] = set()  # of acquire() calls that wait

    __reduce_ex__ = no_copy

    def __repr__(self) -> str:
        return shown(self, None, *(["held %d times" % len(self._holds)]
                                   if len(self._holds) > 1 else
                                   ["held"] if self._holds else []))

    async def __aenter__(self) -> Hold:
        hold = await self.acquire()
        hold._guard(asyncio.current_task())
        return hold

    async def acquire(self, *, stop: Optional[Any] = None) -> Hold:
        """Takes it without a block; release() of the returned Hold releases it.
        Raises the errors of Broker.lock(), and never returns without a hold.
        `stop`: an event that ends the wait (Error, code "cancelled")."""
        task = asyncio.current_task()
        mine = self._broker._mine.setdefault(task, weakref.WeakSet())
        refuse_twice(self._words, [h._grant for h in mine if h._grant])
        hold = Hold(self._broker, self._words, weakref.ref(self))
        limit = Limit(self._broker, end_of(self._wait))
        watch = (None if stop is None else
                 asyncio.ensure_future(stop_at(limit, stop)))
        self._limits.add(limit)
        try:
            await hold._take(limit)
        finally:
            self._limits.discard(limit)
            if watch is not None:
                watch.cancel()
        mine.add(hold)
        self._holds.append((task, hold))
        return hold

    def cancel(self) -> None:
        """Ends all waits in acquire(): they raise Error with the code
        "cancelled".  From any thread."""
        for limit in list(self._limits):
            try:
                limit.loop.call_soon_threadsafe(limit.stop)
            except RuntimeError:
                pass  # the loop has ended

    def _mine(self) -> Hold:
        task = asyncio.current_task()
        holds = [hold for owner, hold in self._holds if owner is task]
        if not holds:
            holds = [hold for _, hold in self._holds]
            if len(holds) > 1:
                raise Error("it is held more than once, and not by this task",
                            "not-held").about(self._words[1])
        if not holds:
            raise Lost("not held", "not-held").about(self._words[1])
        return holds[-1]

    def _forget(self, hold: Hold) -> None:
        self._holds = [one for one in self._holds if one[1] is not hold]

    async def release(self) -> None:
        """Raises Lost if it was lost."""
        await self._mine().release()

    async def set_value(self, value: str) -> None:
        """Changes the value that Broker.value() returns.  Raises Lost if the
        lock was lost."""
        await self._mine().set_value(value)

    async def __aexit__(self, kind: Any, error: Any, _: object) -> None:
        await self._mine()._exit(kind)

    def check(self) -> None:
        """Raises Lost if the lock is lost, or no longer safe by this host's own
        clock."""
        self._mine().check()

    @property
    def lost(self) -> asyncio.Event:
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


class Latch:
    """Opens for all when it has been counted down to 0."""

    def __init__(self, broker: Broker, name: str) -> None:
        check_word(name)
        self._broker, self._name = broker, name

    async def create(self, count: int) -> int:
        reply = await self._broker.query(
            "latch", self._name, "LATCH %s count=%d" % (self._name, count))
        return reply.number("count")

    async def count_down(self, by: int = 1) -> int:
        reply = await self._broker.query(
            "latch", self._name, "COUNTDOWN %s by=%d" % (self._name, by))
        return reply.number("count")

    async def wait(self, timeout: Optional[float] = None) -> None:
        await self._broker.await_("latch", self._name, "AWAIT " + self._name,
                                  timeout)


class Barrier:
    """Lets all parties go when the last of them has come."""

    def __init__(self, broker: Broker, name: str, parties: int) -> None:
        check_word(name)
        self._broker, self._name, self._parties = broker, name, parties

    async def wait(self, timeout: Optional[float] = None) -> int:
        """Returns how many were still to come: 0 to the last."""
        reply = await self._broker.await_(
            "barrier", self._name,
            "BARRIER %s parties=%d" % (self._name, self._parties), timeout,
            again=False)
        return reply.number("index")
