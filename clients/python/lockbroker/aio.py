"""Locks of lockbroker for asyncio.

    async with lockbroker.aio.Broker() as broker:
        async with broker.lock("nightly-report", wait=10) as lock:
            await report(fence=lock.fence)

A lock belongs to the task that took it.  If it is lost, that task is
cancelled, and the block raises `Lost`.

How it works: a session is one connection to a broker.  What it holds is safe
until the last `valid=` that the broker told it has run out, by this host's own
clock and counted from when the question was sent.  So each grant is followed by
a PING before the block begins, and each session asks again every third of what
it was told.  What may be free is asked for in one go with its PING, both without
tags, so that the one is answered behind the other.  On one session there is at
most one hold or request for a name; a further one takes another session.
"""

from __future__ import annotations

import asyncio
import itertools
import math
import os
import re
import socket
import ssl
import struct
import time
from typing import Any, Awaitable, Callable, Dict, List, Optional, Sequence
from typing import Set, Tuple, TypeVar

T = TypeVar("T")

LOCAL_SOCKET = "/run/lockbrokerd/lockbrokerd.sock"
PORT = 5625
TRY_AGAIN = 0.1  # seconds between attempts to find a broker
PATIENCE = 10.0  # so long a broker is looked for, however long one may wait
FROZEN = 5.0  # a broker that says nothing for so long is given up
CONNECT = 3.0  # for one address
BRIEF = 1.0  # an answer is older than its arrival by less
IDLE = 8  # so many sessions without work are kept
MOMENT = 1.0  # so long a request waits for its session to come back
WARY = 8  # so often a lock is waited for at once after one was not free

__all__ = ["Broker", "Error", "Busy", "TimedOut", "Lost", "Unavailable",
           "Denied", "Deadlock"]


class Error(Exception):
    """What the broker refused: `code` for programs, the text for people."""

    code = "internal"

    def __init__(self, text: str, code: Optional[str] = None) -> None:
        super().__init__(text)
        if code is not None:
            self.code = code


class Busy(Error):
    """Somebody else has it, and the request was not to wait."""

    code = "busy"


class TimedOut(Error):
    """It was not granted within the time that the request would wait."""

    code = "timeout"


class Lost(Error):
    """It is no longer held, though it was not given back."""

    code = "lost"


class Unavailable(Error):
    """No broker answers, or the broker can't grant anything now."""

    code = "unavailable"


class Denied(Error):
    """User or password is wrong, or the user has no right to the name."""

    code = "denied"


class Deadlock(Error):
    """Sessions would wait for each other for ever."""

    code = "deadlock"


for _class in (Error, Busy, TimedOut, Lost, Unavailable, Denied, Deadlock):
    _class.__module__ = "lockbroker"

ERRORS = {"lost": Lost, "not-held": Lost, "unavailable": Unavailable,
          "shutdown": Unavailable, "auth": Denied, "denied": Denied,
          "deadlock": Deadlock}


class Gone(Exception):
    """The connection is gone, and with it what was asked over it."""


def now() -> float:
    """Seconds of a clock that nobody sets, and that a suspended host's does
    not stand still."""
    return time.clock_gettime(CLOCK)


CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def duration(seconds: float) -> str:
    """Rounded up: `hold=0` would be without end."""
    if not 0 <= seconds < float("inf"):
        raise Error("not a time in seconds: %r" % seconds, "bad-option")
    return "%dms" % math.ceil(seconds * 1000)


def end_of(wait: Optional[float]) -> Optional[float]:
    """When a wait from now on is over; 0: it is none."""
    if wait is None or wait == float("inf"):
        return None
    if wait != wait:
        raise Error("not a time in seconds: %r" % wait, "bad-option")
    return now() + wait if wait > 0 else 0.0


def rest_of(end: Optional[float]) -> Optional[float]:
    """What is left of a wait; one that was to last somewhat does not become a
    try."""
    return max(0.001, end - now()) if end else end


class Reply:
    """A reply, taken apart."""

    __slots__ = ("status", "words", "text", "rows")

    def __init__(self, line: str) -> None:
        self.status, _, self.text = line.partition(" ")
        self.words: Dict[str, str] = {}
        self.rows: List[str] = []
        if self.status == "OK":
            for word in self.text.split():
                key, _, value = word.partition("=")
                self.words[key] = value

    def number(self, key: str) -> int:
        return int(self.words.get(key, "0").split(",")[0])

    @property
    def is_taken(self) -> bool:
        """... what was asked for without waiting?"""
        return self.status == "BUSY" or self.text.startswith("unavailable ")

    def check(self) -> "Reply":
        """Raises what the reply says, unless that is OK."""
        if self.status == "OK":
            return self
        if self.status == "BUSY":
            raise Busy("held by another")
        if self.status == "TIMEOUT":
            raise TimedOut("not granted in time")
        if self.status == "CANCELLED":
            raise Error("cancelled", "cancelled")
        code, _, text = self.text.partition(" ")
        raise ERRORS.get(code, Error)(text or code, code)


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
        found = ADDRESS.match(
            "[%s]" % text if text.count(":") > 1 and text[0] != "[" else text)
        if found is None or int(found["port"] or 0) > 65535:
            raise Error("not an address: %r" % self.text, "bad-option")
        self.host = found["v6"] or found["host"] or "127.0.0.1"
        self.port = int(found["port"] or PORT)


def addresses(given: Sequence[str]) -> List[Address]:
    texts = [one for text in given for one in text.split(",") if one]
    if not texts:
        texts = [one for one in os.environ.get("LOCKBROKER", "").split(",")
                 if one]
    return [Address(text) for text in
            texts or [LOCAL_SOCKET, "127.0.0.1:%d" % PORT]]


class Hold:
    """What a session has been granted: locks, or permits of a semaphore."""

    def __init__(self, session: "Session", kind: str, names: Tuple[str, ...],
                 request: str, on_lost: Callable[["Hold"], None]) -> None:
        self.session = session
        self.kind = kind
        self.names = names
        self.request = request
        self.keys = keys_of(kind, names, request)  # what its session has for it
        self.is_granted = False
        self.fences: Tuple[int, ...] = ()
        self.permits = 0
        self.until = 0.0  # by now(); 0: no PING has covered it yet
        self.ends = float("inf")  # by `hold=`, or a little earlier
        self.reason: Optional[str] = None  # why it was lost
        self.over = False  # lost, or given back
        self.on_lost = on_lost

    @property
    def is_bounded(self) -> bool:
        return self.ends < float("inf")

    @property
    def valid(self) -> float:
        return 0.0 if self.over else max(0.0, self.until - now())

    def each(self, undo: str) -> List[str]:
        """What gives it back though one of several names is not held."""
        return (["UNLOCK " + name for name in self.names]
                if len(self.names) > 1 else [undo])

    def granted(self, reply: "Reply") -> None:
        self.is_granted = True
        bound = re.search(r" hold=(\d+)ms", self.request)
        if bound:
            self.ends = now() + int(bound[1]) / 1000
        self.fences = tuple(
            int(f) for f in reply.words.get("fence", "").split(",") if f)
        self.permits = reply.number("permits")

    def vouched(self, sent: float, pong: "Reply") -> None:
        """A PING was sent then, behind the grant."""
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
        return Lost("%s was lost (%s)" % (
            ", ".join(self.names), self.reason or self.why()))

    def why(self) -> str:
        """Why the last `valid=` is over: `hold=` bounded it, or no other came."""
        known = max(self.until, now())
        return "hold" if self.ends < known + BRIEF else "unreachable"


class Session:
    """One connection, and the session of the broker that belongs to it."""

    def __init__(self, core: "Broker", address: Address) -> None:
        self.core = core
        self.address = address
        self.reader: Optional[asyncio.StreamReader] = None
        self.writer: Any = None
        self.tags = itertools.count(1)
        self.calls: Dict[str, "asyncio.Future[Reply]"] = {}
        self.first: Dict[str, Callable[[Reply], None]] = {}
        self.holds: Set[Hold] = set()
        self.busy: Set[Tuple[str, str]] = set()  # kind and name
        self.open = False  # it takes new requests
        self.away: Optional["asyncio.Future[None]"] = None  # until it is back
        self.plain: List[str] = []  # tags of what was asked without, in order
        self.wary = 0  # so often a lock is not tried before it is waited for
        self.ending = 0  # requests that are being taken back
        self.key = ""
        self.heard = self.pinged = now()
        self.task: Optional["asyncio.Task[None]"] = None
        self.loop = asyncio.get_running_loop()
        self.timer: Optional[asyncio.TimerHandle] = None

    # The connection.

    async def connect(self) -> None:
        await asyncio.wait_for(self._connect(), CONNECT)
        self.open = True
        self.task = asyncio.ensure_future(self._read())

    async def _dial(self) -> None:
        a, core = self.address, self.core
        if a.path is not None:
            self.reader, self.writer = await asyncio.open_unix_connection(
                a.path)
        else:
            self.reader, self.writer = await asyncio.open_connection(
                a.host, a.port, ssl=core.context() if a.tls else None)

    async def _connect(self) -> None:
        try:
            await self._dial()
            if self.core.user is not None:
                (await self._ask("AUTH %s %s" % (
                    self.core.user, self.core.password or ""))).check()
            await self._introduce()
        except BaseException:
            if self.writer is not None:
                self.writer.transport.abort()
            raise

    async def _introduce(self) -> None:
        """A frozen broker is connected, too: only an answer tells."""
        words = ["SESSION"]
        if self.core.label:
            words.append("label=" + self.core.label)
        if self.core.grace:
            words.append("grace=" + duration(self.core.grace))
        reply = (await self._ask(" ".join(words))).check()
        self.key = reply.words.get("key", "")

    async def _ask(self, line: str) -> Reply:
        """Before anybody else reads the connection."""
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
        """Has the session back what it had before the connection was lost?"""
        until = now() + self.core.grace
        while now() < until:
            ended = 0
            for address in self.core.addresses:
                self.address = address
                try:
                    await asyncio.wait_for(self._take_up(), until - now())
                    return True
                except (OSError, Gone, Error, asyncio.TimeoutError,
                        ValueError) as error:
                    ended += getattr(error, "code", "") == "not-found"
                    if self.writer is not None:
                        self.writer.transport.abort()
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
        """What was asked for when the connection was lost may have been granted
        or given back, and what is held may have been lost: the broker lists
        what there is."""
        rows = (await self._ask("LIST")).check().rows
        listed = {(kind, name): words for kind, name, *words in
                  map(str.split, rows)}
        for hold in list(self.holds):
            if hold.keys - {ALONE} <= set(listed):
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
            self._arm()
        self.drop(why)

    def _come_home(self) -> None:
        home, self.away = self.away, None
        if home is not None and not home.done():
            home.set_result(None)

    def fail(self) -> None:
        """A request was not answered."""
        if self.away is None:
            self.drop("the broker does not answer")

    async def come_back(self) -> None:
        """Waits for a moment until it is known whether the session goes on."""
        if self.away is not None:
            await asyncio.wait([self.away], timeout=MOMENT)

    async def _read_lines(self) -> None:
        assert self.reader is not None
        while True:
            got = await self.reader.readline()
            if not got.endswith(b"\n"):
                return
            self.heard = now()
            line = got.decode().rstrip("\r\n")
            if line.startswith("!"):
                self.event(line)
            elif line.startswith("@"):
                tag, _, rest = line[1:].partition(" ")
                self._answered(tag, Reply(rest))
            elif self.plain:
                self._answered(self.plain.pop(0), Reply(line))
            elif line.startswith("ERR "):  # to what the broker can't read
                try:
                    Reply(line).check()
                except Error as error:
                    self._fail_calls(error)

    def _answered(self, tag: str, reply: Reply) -> None:
        call = self.calls.pop(tag, None)
        self.first.pop(tag, _ignore)(reply)
        if call is not None and not call.done():
            call.set_result(reply)

    def event(self, line: str) -> None:
        what, _, rest = line.partition(" ")
        words = rest.split()
        fields = dict(w.partition("=")[::2] for w in words[1:])
        if what == "!LOST":
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
        calls, self.calls, self.first, self.plain = self.calls, {}, {}, []
        for call in calls.values():
            if not call.done():
                call.set_exception(error or Gone())
                call.exception()  # for some of them nobody waits

    def drop(self, reason: str) -> None:
        """Gives the connection up, and with it all that it has."""
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
        left = min((h.until - now() for h in self.holds if h.until > 0),
                   default=FROZEN)
        every = max(0.02, min(left, FROZEN) / 3)
        pause = max(0.001, min(self.pinged + every - now(), left))
        if self.timer is not None:
            if self.timer.when() <= self.loop.time() + pause:
                return
            self.timer.cancel()
        self.timer = self.loop.call_later(pause, self._tick)

    def _tick(self) -> None:
        """Asks how long what it has is safe, and says when that is over.  A
        broker that says nothing is given up, as it may be frozen: what it
        has granted since is not safe here any more."""
        self.timer = None
        late = [hold for hold in self.holds if 0 < hold.until <= now()]
        if late or (not self.holds and self.calls and
                    now() - self.heard > FROZEN):
            self.drop(late[0].why() if late else "unreachable")
            return
        left = min((h.until - now() for h in self.holds if h.until > 0),
                   default=FROZEN)
        if now() >= self.pinged + min(left, FROZEN) / 3 and self.open:
            asyncio.ensure_future(self._ping_quietly())
        self._arm()

    async def _ping_quietly(self) -> None:
        try:
            await self.ping()
        except (Gone, Error):
            pass

    async def ping(self) -> None:
        """What was granted before this is safe for as long as it says."""
        sent = self.pinged = now()
        covered = [hold for hold in self.holds if not hold.over]
        reply = (await self.call("PING")).check()
        for hold in covered:
            hold.vouched(sent, reply)
        self._arm()

    # Lent: who borrows it speaks on its connection himself.

    def lend(self) -> int:
        """Returns the descriptor of the connection, which nobody reads here
        before back()."""
        self.busy.add(ALONE)
        self.writer.transport.pause_reading()
        fd = int(self.writer.get_extra_info("socket").fileno())
        self._block(fd, FROZEN / 3)
        return fd

    def _block(self, fd: int, seconds: float) -> None:
        """Has reading wait for so long, or not at all (0)."""
        try:
            self.writer.get_extra_info("socket").setsockopt(
                socket.SOL_SOCKET, socket.SO_RCVTIMEO,
                struct.pack("ll", int(seconds), int(seconds % 1 * 1000000)))
            os.set_blocking(fd, seconds > 0)
        except OSError:
            pass  # it is closed

    def back(self, data: bytes) -> None:
        """Goes on with what it was given meanwhile, and with what was read of
        the connection but not understood."""
        assert self.reader is not None
        self.busy.discard(ALONE)
        self._block(self.writer.get_extra_info("socket").fileno(), 0)
        for hold in self.holds:
            self.busy |= hold.keys
        if data:
            self.reader.feed_data(data)
        self.heard = now()
        self.writer.transport.resume_reading()
        self._arm()

    def part(self, data: bytes) -> None:
        """As back(), but where the answer to some request is unknown: an
        orderly end gives back whatever it has been granted."""
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

    def send(self, line: str, first: Optional[Callable[[Reply], None]] = None
             ) -> Tuple[str, "asyncio.Future[Reply]"]:
        """`first` is called with the reply before anything that the broker says
        later is looked at."""
        if self.away is not None or self.writer.transport.is_closing():
            raise Gone()
        tag, call = self._enter(first)
        self._write("@%s %s\r\n" % (tag, line))
        return tag, call

    def _enter(self, first: Optional[Callable[[Reply], None]]
               ) -> Tuple[str, "asyncio.Future[Reply]"]:
        tag = str(next(self.tags))
        call: "asyncio.Future[Reply]" = self.loop.create_future()
        if not self.calls:
            self.heard = self.pinged = now()
        self.calls[tag] = call
        if first is not None:
            self.first[tag] = first
        return tag, call

    def _write(self, text: str) -> None:
        self.writer.write(text.encode())
        if self.timer is None:
            self._arm()

    async def call(self, line: str) -> Reply:
        _, call = self.send(line)
        return await call

    async def ask(self, line: str, undo: str = "",
                  first: Optional[Callable[[Reply], None]] = None) -> Reply:
        """If the caller is cancelled, so is the request, and a grant that comes
        all the same is undone."""
        tag, call = self.send(line, first)
        return await self._answer(tag, call, undo)

    async def _answer(self, tag: str, call: "asyncio.Future[Reply]",
                      undo: str) -> Reply:
        try:
            return await call
        except asyncio.CancelledError:
            self.ending += 1
            asyncio.ensure_future(self._take_back(tag, undo))
            raise

    async def _take_back(self, tag: str, undo: str) -> None:
        try:
            call: "asyncio.Future[Reply]" = self.loop.create_future()
            if tag in self.calls:
                self.calls[tag] = call
            else:
                call.set_result(Reply("OK"))
            await self.call("CANCEL " + tag)
            if undo and (await call).status == "OK":
                await self.call(undo)
        except Gone:
            self.fail()
        finally:
            self.ending -= 1
            self.core.let_go(self, set())

    async def give_rest(self, hold: Hold) -> None:
        """Where one of several names was lost, the others are still held."""
        try:
            for name in hold.names if len(hold.names) > 1 else ():
                await self.call("UNLOCK " + name)
        except Gone:
            pass

    async def take(self, hold: Hold, end: Optional[float], undo: str) -> None:
        """Has it granted, and safe for some time."""
        def granted(reply: Reply) -> None:
            if reply.status == "OK" and not hold.over:
                hold.granted(reply)
                self.holds.add(hold)

        if self._may_be_free(hold, end):
            reply = await self._try(hold, granted, undo)
            if end == 0 or not reply.is_taken:
                reply.check()
                return
            self.wary = WARY
        (await self.ask(hold.request + wait_word(rest_of(end)), undo,
                        granted)).check()
        await self.ping()

    def _may_be_free(self, hold: Hold, end: Optional[float]) -> bool:
        """... and there is nothing else to do here?"""
        if (len(self.busy) > len(hold.keys) or self.holds or self.calls or
                self.ending):
            return False
        if end == 0 or self.wary == 0:
            return True
        self.wary -= 1
        return False

    async def _try(self, hold: Hold, granted: Callable[[Reply], None],
                   undo: str) -> Reply:
        """Until it is answered, nothing else would be here."""
        if self.away is not None or self.writer.transport.is_closing():
            raise Gone()
        def vouched(reply: Reply) -> None:
            hold.vouched(sent, reply)
            self._arm()

        tag, call = self._enter(granted)
        sent = self.pinged = now()
        ping, pong = self._enter(vouched)
        self.plain += [tag, ping]
        self.busy.add(ALONE)
        try:
            self._write(hold.request + " wait=0\r\nPING\r\n")
            reply = await self._answer(tag, call, undo)
            if reply.status == "OK":
                await pong
            return reply
        finally:
            if ALONE not in hold.keys:
                self.busy.discard(ALONE)


def _ignore(_: Reply) -> None:
    pass


class Broker:
    """Sessions to whichever of the addresses answers first."""

    def __init__(self, *given: str, user: Optional[str] = None,
                 password: Optional[str] = None, ca: Optional[str] = None,
                 cert: Optional[str] = None, key: Optional[str] = None,
                 grace: float = 0, label: Optional[str] = None) -> None:
        self.addresses = addresses(given)
        for word in (user, password, label):
            if word is not None:
                check_word(word, "bad-option")
        self.user, self.password = user, password
        self.ca, self.cert, self.key = ca, cert, key
        self.grace, self.label = grace, label
        self.sessions: List[Session] = []
        self.closed = False
        self._context: Optional[ssl.SSLContext] = None

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
        """Gives back all that is held."""
        self.closed = True
        for session in list(self.sessions):
            await session.come_back()
            session.open = False
            try:
                await asyncio.wait_for(session.call("QUIT"), 1)
            except (Gone, asyncio.TimeoutError):
                pass
            session.drop("closed")

    # Sessions.

    def forget(self, session: Session) -> None:
        if session in self.sessions:
            self.sessions.remove(session)

    def leave(self, session: Session) -> None:
        """It is asked to go: it does as soon as it has nothing."""
        session.open = False
        if not session.busy:
            session.drop("the broker leaves")

    @staticmethod
    def _is_bad(address: Address) -> bool:
        """What did not answer a moment ago comes last."""
        return now() < address.failed + PATIENCE

    async def _connect(self, until: float) -> Session:
        """Raises Unavailable if no broker answers until then."""
        while True:
            why: List[str] = []
            for address in sorted(self.addresses, key=self._is_bad):
                session = Session(self, address)
                try:
                    await session.connect()
                    self.sessions.append(session)
                    return session
                except Denied:
                    raise
                except (OSError, Gone, Error, asyncio.TimeoutError,
                        ValueError) as error:
                    address.failed = now()
                    why.append("%s: %s" % (address.text,
                                           str(error) or "no answer"))
            if now() + TRY_AGAIN >= until:
                raise Unavailable("no broker answers (%s)" % "; ".join(why))
            await asyncio.sleep(TRY_AGAIN)

    async def session(self, keys: Set[Tuple[str, str]],
                      until: float) -> Session:
        """One that has nothing to do with these; they are entered there."""
        if self.closed:
            raise Error("this Broker is closed", "closed")
        for session in self.sessions:
            if (session.open and not session.ending and
                    suits(session.busy, keys)):
                session.busy |= keys
                return session
        session = await self._connect(until)
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
                map(self._is_bad, self.addresses)):
            return None
        return await self._connect(now())

    def let_go(self, session: Session, keys: Set[Tuple[str, str]]) -> None:
        session.busy -= keys
        if session.busy or session.ending:
            return
        idle = [s for s in self.sessions if not s.busy]
        if session.away is None and (not session.open or len(idle) > IDLE):
            session.drop("not needed")

    # Requests that wait.

    async def request(self, keys: Set[Tuple[str, str]], end: Optional[float],
                      ask: Callable[[Session], Awaitable[T]],
                      again: bool = True) -> T:
        """Has `ask` ask some session until it answers; `again`: more than once
        if need be."""
        while True:
            rest = rest_of(end)
            most = PATIENCE if rest is None else min(PATIENCE, rest)
            session = await self.session(keys, now() + most)
            done = False
            try:
                result = await ask(session)
                done = isinstance(result, Hold)
                return result
            except Unavailable as error:
                if not again or error.code != "shutdown":
                    raise
                session.open = False
            except Gone:
                session.fail()
                if not again:
                    raise Unavailable("the broker does not answer") from None
                await session.come_back()
            finally:
                if not done:
                    self.let_go(session, keys)
            again = end is None or now() < end

    async def hold(self, words: "Words", wait: Optional[float],
                   on_lost: Callable[[Hold], None]) -> Hold:
        """Returns what is held, and safe for some time.  A grant whose PING
        says nothing of it was lost in between: it is asked for again."""
        kind, names, line, undo = words
        keys = keys_of(kind, names, line)
        end = end_of(wait)

        async def ask(session: Session) -> Hold:
            hold = Hold(session, kind, names, line,
                        lambda h: told and on_lost(h))
            try:
                await session.take(hold, end, undo)
                hold.check()
            except BaseException:
                hold.over = True
                session.holds.discard(hold)
                if hold.is_granted and session.open:
                    for one in hold.each(undo):
                        session.send(one)
                raise
            told.append(hold)
            return hold

        told: List[Hold] = []  # by then its loss is somebody's concern
        while True:
            try:
                return await self.request(keys, end, ask)
            except Lost:
                if ALONE in keys or (end is not None and now() >= end):
                    raise

    async def release(self, hold: Hold, line: str) -> None:
        """Raises Lost if it was lost before."""
        session = hold.session
        over, safe = hold.over, hold.until > now()
        hold.over = True
        session.holds.discard(hold)
        try:
            if not over:
                (await session.call(line)).check()
            elif hold.reason is not None:
                raise hold.error()
        except Gone:
            # The broker ends it: it was held until now if it was safe.
            if not safe:
                raise hold.error() from None
        except Lost:
            await session.give_rest(hold)
            raise
        finally:
            self.let_go(session, hold.keys)

    # What there is.

    def lock(self, *names: str, shared: bool = False,
             wait: Optional[float] = None, hold: Optional[float] = None,
             keep: Optional[float] = None,
             delay: Optional[float] = None) -> "Lock":
        return Lock(self, lock_words(names, shared, hold, keep, delay), wait)

    def semaphore(self, name: str, limit: int, permits: int = 1,
                  wait: Optional[float] = None) -> "Lock":
        return Lock(self, semaphore_words(name, limit, permits), wait)

    def elect(self, name: str) -> "Lock":
        """A lock that is waited for: who has it leads."""
        return self.lock(name)

    def latch(self, name: str) -> "Latch":
        return Latch(self, name)

    def barrier(self, name: str, parties: int) -> "Barrier":
        return Barrier(self, name, parties)

    async def query(self, kind: str, name: str, line: str) -> Reply:
        """A request that waits for nothing.  It may not be made twice."""
        async def ask(session: Session) -> Reply:
            return (await session.ask(line)).check()
        return await self.request({(kind + "?", name)}, 0.0, ask, again=False)

    async def await_(self, kind: str, name: str, line: str,
                     timeout: Optional[float], again: bool = True) -> Reply:
        async def ask(session: Session) -> Reply:
            return (await session.ask(line + wait_word(rest_of(end)))).check()
        end = end_of(timeout)
        return await self.request({(kind, name)}, end, ask, again)


Words = Tuple[str, Tuple[str, ...], str, str]  # kind, names, request, release


# What ends by `hold=` bounds the `valid=` of all that its session has, so that it
# gets a session of its own.
ALONE = ("alone", "")


def keys_of(kind: str, names: Tuple[str, ...],
            request: str) -> Set[Tuple[str, str]]:
    """What a session has to do with a request."""
    keys = {(kind, name) for name in names}
    return keys | {ALONE} if " hold=" in request else keys


def suits(busy: Set[Tuple[str, str]], keys: Set[Tuple[str, str]]) -> bool:
    if ALONE in keys:
        return not busy
    return ALONE not in busy and not busy & keys


def wait_word(rest: Optional[float]) -> str:
    return "" if rest is None else " wait=" + duration(rest)


def lock_words(names: Tuple[str, ...], shared: bool, hold: Optional[float],
               keep: Optional[float], delay: Optional[float]) -> Words:
    if not names:
        raise ValueError("a lock has a name")
    for name in names:
        check_word(name)
    line = "LOCK " + " ".join(names)
    if shared:
        line += " mode=shared"
    for word, value in (("hold", hold), ("keep", keep), ("delay", delay)):
        if value is not None:
            line += " %s=%s" % (word, duration(value))
    return "lock", names, line, "UNLOCK " + " ".join(names)


def semaphore_words(name: str, limit: int, permits: int) -> Words:
    check_word(name)
    return ("semaphore", (name,),
            "ACQUIRE %s limit=%d permits=%d" % (name, limit, permits),
            "RELEASE %s permits=%d" % (name, permits))


def check_word(text: Any, code: str = "bad-name") -> str:
    """So that it is one word of its request, and no more."""
    if not isinstance(text, str) or BAD[code].search(text) or not text:
        raise Error("not a word: %r" % (text,), code)
    return text


BAD = {"bad-name": re.compile("[\0-\x20\x7f=\ud800-\udfff]"),
       "bad-option": re.compile("[\0-\x20\x7f\ud800-\udfff]")}


class Lock:
    """Held inside `async with`; `lost` is set, and the task cancelled, when it
    is lost."""

    def __init__(self, broker: Broker, words: Words,
                 wait: Optional[float]) -> None:
        self._broker, self._words, self._wait = broker, words, wait
        self._hold: Optional[Hold] = None
        self._task: Optional["asyncio.Task[Any]"] = None
        self._cancelled = False
        self._others = 0  # cancellations of the task that are not this lock's
        self.lost = asyncio.Event()

    async def __aenter__(self) -> "Lock":
        await self.acquire()
        self._task = asyncio.current_task()
        self._others = self._cancelling()
        return self

    async def acquire(self) -> "Lock":
        if self._hold is not None:
            raise Error("this object is in use; make another", "in-use")
        self.lost.clear()
        self._cancelled = False
        self._hold = await self._broker.hold(self._words, self._wait,
                                             self._on_lost)
        return self

    def _on_lost(self, _: Hold) -> None:
        self.lost.set()
        if self._task is not None:
            self._cancelled = True
            self._task.cancel()

    async def release(self) -> None:
        hold, self._hold, self._task = self._hold, None, None
        if hold is None:
            raise Error("not held", "not-held")
        await self._broker.release(hold, self._words[3])

    async def __aexit__(self, kind: Any, error: Any, _: object) -> None:
        task, self._task = self._task, None
        if self._cancelled:
            await self._swallow(task, kind)
            if self._cancelling() > self._others:  # somebody else wants it to end
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

    @staticmethod
    def _cancelling() -> int:
        """How often the task is asked to end; before Python 3.11 nobody knows."""
        return int(getattr(asyncio.current_task(), "cancelling", int)())

    async def _swallow(self, task: Any, kind: Any) -> None:
        """The cancellation was this lock's: nobody else shall see it."""
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
