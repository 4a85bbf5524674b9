"""A client of the broker: sends lines, sorts what comes back into replies and events."""

import os
import select
import socket
import struct
import time

from .proc import die_with_parent
from .wait import PROMPT, Deadline, hang, now


class Line:
    """One line from the broker: an optional tag, words, key=value fields, and the time it came.

    `body` holds the lines that belong to a reply with `lines=N`.
    """

    def __init__(self, text):
        self.text = text
        self.at = now()
        self.body = []
        words = text.split(" ")
        self.tag = words.pop(0)[1:] if text.startswith("@") else None
        self.words = [word for word in words if "=" not in word]
        self.fields = dict(word.split("=", 1) for word in words if "=" in word)
        self.status = self.words[0] if self.words else ""

    @property
    def ok(self):
        return self.status == "OK"

    @property
    def code(self):
        return self.words[1] if self.status == "ERR" and len(self.words) > 1 else None

    @property
    def fence(self):
        return int(self.fields["fence"])

    def __getitem__(self, key):
        return self.fields[key]

    def __repr__(self):
        return self.text


class Client:
    """One connection. Every wait has a deadline; `timeout` is the default one.

    Untagged replies, tagged replies and events are kept apart, because their order among
    each other is not promised. `lines` has everything as it came.
    """

    def __init__(self, address, timeout=PROMPT, receive_buffer=None):
        self.timeout = timeout
        family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
        self.sock = socket.socket(family)
        if receive_buffer:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        # A connect() to a Unix socket with a time-out fails at once if the backlog is full.
        self.sock.settimeout(None if family == socket.AF_UNIX else hang())
        self.sock.connect(address)
        self.sock.settimeout(hang())
        if family == socket.AF_INET:
            self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""
        self.lines = []
        self.replies = []
        self.tagged = []
        self.events = []
        self.eof = False
        self._open_reply = None
        self._missing = 0

    # Sending.

    def send(self, *requests):
        """Send requests as lines, all in one write."""
        self.send_raw("".join(request + "\n" for request in requests).encode())

    def send_raw(self, data):
        """Send bytes as they are; replies are read meanwhile, so that neither side can block."""
        deadline = Deadline(30)
        self.sock.setblocking(False)
        try:
            while data:
                readable, writable, _ = select.select(
                    [] if self.eof else [self.sock], [self.sock], [], 1.0)
                if readable:
                    self._take()
                if writable:
                    data = data[self.sock.send(data[:65536]):]
                assert not deadline.over(), "the broker does not read"
        finally:
            self.sock.setblocking(True)

    # Receiving.

    def _take(self):
        try:
            data = self.sock.recv(65536)
        except BlockingIOError:
            return
        except ConnectionResetError:
            data = b""
        if not data:
            self.eof = True
            return
        self.buffer += data
        *complete, self.buffer = self.buffer.split(b"\n")
        for raw in complete:
            assert raw.endswith(b"\r"), f"line not ended by CRLF: {raw!r}"
            self._sort(raw[:-1].decode("utf-8", "surrogateescape"))

    def _sort(self, text):
        line = Line(text)
        self.lines.append(line)
        if self._missing:
            assert not text.startswith("!"), f"event inside a reply: {text}"
            self._open_reply.body.append(text)
            self._missing -= 1
            return
        if text.startswith("!"):
            self.events.append(line)
            return
        assert text[:1].isalpha() or text.startswith("@"), f"reply begins oddly: {text!r}"
        (self.replies if line.tag is None else self.tagged).append(line)
        if line.ok and "lines" in line.fields:
            self._open_reply, self._missing = line, int(line.fields["lines"])

    def pump(self, timeout=0.0):
        """Read whatever is there, and wait at most so long for the first of it."""
        if self.eof:
            return False
        readable, _, _ = select.select([self.sock], [], [], timeout)
        if readable:
            self._take()
        return bool(readable)

    def wait_for(self, check, timeout=None, what="a line"):
        """Read until check() returns something true, and return that."""
        limit = self.timeout if timeout is None else timeout
        deadline = Deadline(limit)
        while True:
            found = check()
            if found:
                return found
            assert not self.eof, f"end of stream instead of {what}; had {self.lines[-8:]}"
            left = deadline.left()
            assert left > 0, f"no {what} within {limit}s; had {self.lines[-8:]}"
            self.pump(min(left, 0.5))

    def reply(self, timeout=None, tag=None):
        """The next reply without a tag, or the reply with this one."""
        def take():
            if tag is None:
                whole = self.replies and not (self._missing
                                              and self.replies[0] is self._open_reply)
                return self.replies.pop(0) if whole else None
            for line in self.tagged:
                if line.tag == tag and not (self._missing and line is self._open_reply):
                    self.tagged.remove(line)
                    return line
            return None
        return self.wait_for(take, timeout, f"reply{' @' + tag if tag else ''}")

    def event(self, timeout=None, kind=None):
        """The next event, or the next of this kind ('LOST')."""
        def take():
            for line in self.events:
                if kind is None or line.status == "!" + kind:
                    self.events.remove(line)
                    return line
            return None
        return self.wait_for(take, timeout, f"event {kind or ''}")

    def expect_eof(self, timeout=None):
        """Wait for the end of the stream; lines that come before it stay to be read."""
        return self.wait_for(lambda: self.eof, timeout, "end of stream")

    def silent(self, seconds=0.05):
        """Whether everything is read, and nothing comes for a moment."""
        deadline = now() + seconds
        while now() < deadline:
            self.pump(max(0.0, deadline - now()))
            if self.eof:
                break
        return not (self.replies or self.tagged or self.events or self.eof)

    # Requests and their usual answers.

    def ask(self, request, timeout=None):
        self.send(request)
        return self.reply(timeout)

    def ok(self, request, timeout=None):
        """Ask, insist on OK, return the reply."""
        line = self.ask(request, timeout)
        assert line.ok, f"{request!r} was answered {line}"
        return line

    def lock(self, name, options="", timeout=None):
        """LOCK, insist on the grant, return its fence."""
        return self.ok(f"LOCK {name} {options}".rstrip(), timeout).fence

    def err(self, request, code, timeout=None):
        """Ask, insist on ERR with this code and a text for people, return the reply."""
        line = self.ask(request, timeout)
        assert line.code == code, f"{request!r} was answered {line}, not ERR {code}"
        assert len(line.text.split(" ", 2)) == 3, f"no text for people: {line}"
        return line

    def stats(self):
        return dict(line.split(" ", 1) for line in self.ok("STATS").body)

    # Ends.

    def shut(self):
        """Shut down the sending side, as nc -N does."""
        self.sock.shutdown(socket.SHUT_WR)

    def reset(self):
        """Close with RST (TCP only)."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()
        self.eof = True

    def close(self):
        self.sock.close()
        self.eof = True


def first_of(one, other, timeout=10.0):
    """Wait until one of the two has a reply to read; return the one that has it first."""
    deadline = now() + hang(timeout)
    while not (one.replies or other.replies):
        assert now() < deadline, f"no reply to either within {timeout}s"
        one.pump(0.02)
        other.pump(0.02)
    return (one, other) if one.replies else (other, one)


def fork_client(address, requests):
    """A client that is a process of its own, so that it can be killed. Returns its pid once it
    has sent its requests (and read nothing)."""
    ready, told = os.pipe()
    pid = os.fork()
    if pid == 0:
        die_with_parent()
        client = Client(address)
        client.send(*requests)
        os.write(told, b"x")
        time.sleep(60)
        os._exit(0)
    os.close(told)
    os.read(ready, 1)
    os.close(ready)
    return pid
