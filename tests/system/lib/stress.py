"""Clients that believe in what they hold by their own clock, and a check of each grant.

One thread speaks for all of them, so that there is one order of events: before a grant is judged,
whatever has come on any connection is read. A client believes in a hold from the moment it is
told a valid= until it sends UNLOCK, QUIT or, without end=quit, an orderly close; until it reads
!LOST; or until that valid=, counted from the sending of its PING, is over. It goes on believing
when its connection or its broker has gone, as a program does that can't know. A grant is wrong if
another client still believes in the name, or in as many permits as there are; or if its fence does
not rise.
"""

import random
import select
import socket
import struct
from dataclasses import dataclass

from .client import Line
from .wait import now, parse_ms

LIMIT = 2


@dataclass
class Hold:
    """What one client was granted; `until`: how long it believes in it, by its own clock."""
    who: int
    kind: str
    name: str
    until: float = 0.0
    release_at: float = 0.0
    ping_at: float = 0.0
    pinged_at: float = 0.0


class Session:
    """A client, connection after connection."""

    careful_part = 0.4  # of connections: they ask for end=quit

    def __init__(self, crowd, number):
        self.crowd = crowd
        self.random = random.Random(f"{crowd.seed}/{number}")
        self.number = number
        self.sock = None
        self.careful = False
        self.act_at = 0.0
        self.hold = None
        self._forget()

    def _forget(self):
        self.buffer = b""
        self.expected = []
        self.asking = None

    @property
    def waits(self):
        return self.asking is not None

    # What comes.

    def read(self):
        """Take in whatever is there. Returns the grants among it, which are still to be judged."""
        grants = []
        while self.sock is not None:
            try:
                data = self.sock.recv(65536)
            except BlockingIOError:
                break
            except OSError:
                data = b""
            if not data:
                self.gone()
                break
            self.buffer += data
        *lines, self.buffer = self.buffer.split(b"\r\n")
        for raw in lines:
            self.hear(raw.decode(), grants)
        return grants

    def hear(self, text, grants):
        self.take(Line(text), grants)

    def take(self, line, grants):
        if line.status.startswith("!"):
            if line.status == "!LOST" and self.hold and line.words[1] == self.hold.name:
                self.hold = None
                self.act_at = now()
            return
        what, subject = self.expected.pop(0)
        if what == "take":
            self.asking = None
            self.act_at = now() + self.random.uniform(0, 0.05)
            if line.ok:
                grants.append((int(line.fields.get("fence", 0)), subject))
                self.granted(subject)
        elif what == "ping" and subject is self.hold and self.hold and "valid" in line.fields:
            subject.until = subject.pinged_at + parse_ms(line.fields["valid"]) / 1000
            subject.ping_at = subject.pinged_at + max(0.05, (subject.until - subject.pinged_at) / 3)

    def granted(self, hold):
        self.hold = hold
        hold.release_at = now() + self.random.choice((0.001, 0.05, 0.5, 2.0)) * self.random.random()

    def gone(self):
        """The connection has ended, and what was held is believed in for as long as was told."""
        self.sock.close()
        self.sock = None
        if self.hold:
            self.crowd.ghosts.append(self.hold)
        self.hold = None
        self.act_at = now() + self.random.uniform(0.01, 0.2)
        self._forget()

    # What is sent.

    def send(self, line, what, subject=None):
        self.expected.append((what, subject))
        try:
            self.sock.sendall(line.encode() + b"\n")
        except OSError:
            self.gone()

    def connect(self, at):
        broker = self.random.choice(self.crowd.brokers)
        self.careful = self.random.random() < self.careful_part
        unix = self.random.random() < 0.3
        self.sock = socket.socket(socket.AF_UNIX if unix else socket.AF_INET)
        self.sock.setblocking(False)
        try:
            self.sock.connect(broker.unix_path if unix else ("127.0.0.1", self.crowd.ports[broker]))
        except BlockingIOError:
            pass
        except OSError:
            self.gone()
            return
        self.act_at = at
        if not select.select([], [self.sock], [], 0.2)[1]:
            self.gone()
        elif self.careful:
            self.send("SESSION end=quit", "end")

    def ask(self, at):
        kind, name, verb = self.random.choice(self.crowd.choices)
        wait = self.random.choice(("", " wait=0", " wait=300ms", " wait=2s"))
        self.asking = Hold(self.number, kind, name)
        self.act_at = at + 3600
        self.send(verb + wait, "take", self.asking)

    def give(self):
        """In one of the ways in which that can be done, or not done at all."""
        hold, self.hold = self.hold, None
        end = self.random.random()
        if end < 0.85:
            self.act_at = now() + self.random.uniform(0, 0.05)
            self.send(f"{'RELEASE' if hold.kind == 'permit' else 'UNLOCK'} {hold.name}", "give")
            return
        tcp = self.sock.family == socket.AF_INET
        if end < 0.90:
            self.send("QUIT", "give")
        elif self.careful or (tcp and end < 0.95):
            # As a crash: it may still be at work.
            self.hold = hold
            if tcp and end < 0.95:
                self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                     struct.pack("ii", 1, 0))
        if self.sock is not None:
            self.gone()

    def turn(self, at):
        if self.sock is None:
            if at >= self.act_at and not self.crowd.ending:
                self.connect(at)
        elif self.hold:
            if at >= self.hold.release_at or (self.crowd.ending and not self.expected):
                self.give()
            elif at >= self.hold.ping_at:
                self.hold.ping_at = at + 3600
                self.hold.pinged_at = at
                self.send("PING", "ping", self.hold)
        elif not self.waits and at >= self.act_at and not self.crowd.ending:
            self.ask(at)


class Crowd:
    """So many clients of some brokers, which may be killed, frozen and started again meanwhile."""

    def __init__(self, brokers, seed, size=10, names=2):
        self.brokers = brokers
        self.ports = {broker: broker.port for broker in brokers}
        self.seed = seed
        self.ending = False
        self.ghosts = []
        self.fences = {}
        self.grants = 0
        self.faults = []
        self.choices = [("lock", f"x{n}", f"LOCK x{n}") for n in range(names)] * 3
        self.choices += [("shared", f"x{n}", f"LOCK x{n} mode=shared") for n in range(names)]
        self.choices += [("permit", "p", f"ACQUIRE p limit={LIMIT}")] * 2
        self.sessions = [Session(self, number) for number in range(size)]

    def drain(self):
        grants = []
        for session in self.sessions:
            grants += session.read()
        return grants

    def turn(self):
        by_sock = {session.sock: session for session in self.sessions if session.sock}
        readable, _, _ = select.select(list(by_sock), [], [], 0.005)
        if readable:
            self.judge_all(self.drain())
        at = now()
        for session in self.sessions:
            session.turn(at)
        self.ghosts = [ghost for ghost in self.ghosts if ghost.until > at]

    def judge_all(self, grants):
        """A grant that has come was made before, so what was told before that is there, too."""
        if not grants:
            return
        grants += self.drain()
        for fence, hold in sorted(grants, key=lambda grant: grant[0]):
            self.judge(fence, hold)

    def believers(self, hold, at):
        holds = [session.hold for session in self.sessions if session.hold] + self.ghosts
        same = [other for other in holds if other is not hold and other.until > at
                and other.name == hold.name and (other.kind == "permit") == (hold.kind == "permit")]
        if hold.kind == "shared":
            return [other for other in same if other.kind != "shared"]
        return same

    def judge(self, fence, hold):
        at = now()
        self.grants += 1
        others = self.believers(hold, at)
        if len(others) >= (LIMIT if hold.kind == "permit" else 1):
            self.faults.append(f"{hold.kind} {hold.name} fence {fence} granted to {hold.who} while "
                               + ", ".join(f"{other.who} ({other.kind}) believed in it for "
                                           f"{(other.until - at) * 1000:.0f} ms more"
                                           for other in others))
        if hold.kind == "lock":
            self.fenced(fence, hold)

    def fenced(self, fence, hold):
        """It was told the fence of its grant."""
        if fence <= self.fences.get(hold.name, 0):
            self.faults.append(f"{hold.kind} {hold.name}: fence {fence} granted after "
                               f"{self.fences[hold.name]}")
        self.fences[hold.name] = fence

    def run(self, seconds):
        end = now() + seconds
        while now() < end:
            self.turn()

    def finish(self, seconds):
        """No new requests. Whoever still waits or holds after this time is at fault, too."""
        self.ending = True
        end = now() + seconds
        while now() < end and any(session.hold or session.waits for session in self.sessions):
            self.turn()
        for session in self.sessions:
            if session.waits:
                self.faults.append(f"{session.number} was never answered about "
                                   f"{session.asking.name}")
            if session.sock:
                session.sock.close()
