"""A TCP proxy between a broker and its Redis that can misbehave in many ways.

Faults are attributes, changed while it runs:

    delay        seconds that each chunk is held back, in both directions
    stalled      nothing passes; what was held passes late when it is false again
    split        every byte is passed on by itself
    trickle      a Trickle: a few bytes at a time, with pauses, and a stall now and then
    refuse       new connections are closed at once
    cut()        all connections are closed, what was under way is gone
    drop_reply(match)    the next request that contains `match` passes; its reply does not,
                         and the connection is cut instead: "executed, but nobody was told"
    drop_request(match)  the next request that contains `match` does not pass, and the
                         connection is cut: "never executed"
    notice(match)        nothing is broken; `fired` is set when such a request comes
"""

import random
import socket
import struct
import threading
import time


class Trickle:
    """A line that is slow and loses packets, as TCP lets both ends see that."""

    def __init__(self, most, pause=0.002, stall=0.3, every=150):
        """At most so many bytes at a time; and a stall, in seconds, once in about so many
        pieces."""
        self.most = most
        self.pause = pause
        self.stall = stall
        self.every = every
        self.stalls = 0
        self._thread = threading.local()

    def _sleep(self, seconds):
        """So long on average: what a busy machine sleeps too long comes off the next sleeps, or
        the line would be slower there than anybody meant."""
        late = getattr(self._thread, "late", 0.0)
        if late < seconds:
            begin = time.monotonic()
            time.sleep(seconds - late)
            late += time.monotonic() - begin
        self._thread.late = min(late - seconds, 0.1)

    def pass_on(self, data, target):
        while data:
            n = random.randint(1, self.most)
            target.sendall(data[:n])
            data = data[n:]
            if random.randrange(self.every) == 0:
                self.stalls += 1
                time.sleep(self.stall)
            else:
                self._sleep(random.random() * self.pause)


class _Link:
    """One connection through the proxy."""

    def __init__(self, proxy, downstream, upstream):
        self.proxy = proxy
        self.downstream = downstream
        self.upstream = upstream
        self.doomed = False
        self.tail = b""

    def close(self):
        # This reset makes both ends notice at once, with nothing delivered late.
        for sock in (self.downstream, self.upstream):
            try:
                if sock.family == socket.AF_INET:
                    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                    struct.pack("ii", 1, 0))
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            sock.close()


class Proxy:
    """Listens on a port of its own; forwards to `upstream` ("unix:/path" or "host:port")."""

    def __init__(self, upstream):
        self.upstream = upstream
        self.delay = 0.0
        self.split = False
        self.trickle = None
        self.refuse = False
        self.connections = 0
        self.fired = threading.Event()
        self._drop = None
        self._lock = threading.Lock()
        self._flow = threading.Event()
        self._flow.set()
        self._links = []
        self._cuts = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._stopping = False
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    @property
    def stalled(self):
        return not self._flow.is_set()

    @stalled.setter
    def stalled(self, value):
        if value:
            self._flow.clear()
        else:
            self._flow.set()

    def drop_reply(self, match):
        self._arm("reply", match)

    def drop_request(self, match):
        self._arm("request", match)

    def notice(self, match):
        self._arm("notice", match)

    def _arm(self, what, match):
        with self._lock:
            self.fired.clear()
            self._drop = (what, match if isinstance(match, bytes) else match.encode())

    def cut(self):
        with self._lock:
            self._cuts += 1
            links, self._links = self._links, []
        for link in links:
            link.close()

    def stop(self):
        self._stopping = True
        self._flow.set()
        # The listener's thread sleeps in accept(); closing alone would not wake it.
        try:
            self._listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._listener.close()
        self.cut()

    # The threads: one that accepts, two for each connection.

    def _accept(self):
        while not self._stopping:
            try:
                downstream, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            cuts = self._cuts
            if self.refuse:
                downstream.close()
                continue
            try:
                upstream = self._connect()
            except OSError:
                downstream.close()
                continue
            downstream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            link = _Link(self, downstream, upstream)
            self.welcome(link)
            with self._lock:
                late = self.refuse or self._cuts != cuts
                if not late:
                    self._links.append(link)
            if late:
                link.close()
                continue
            for source, target, judge in ((downstream, upstream, self._judge_request),
                                          (upstream, downstream, self._judge_reply)):
                threading.Thread(target=self._forward, args=(link, source, target, judge),
                                 daemon=True).start()

    def _connect(self):
        if self.upstream.startswith("unix:"):
            sock = socket.socket(socket.AF_UNIX)
            sock.connect(self.upstream[5:])
            return sock
        host, port = self.upstream.rsplit(":", 1)
        return socket.create_connection((host, int(port)))

    # Subclasses with ideas of their own may replace these.

    def welcome(self, _link):
        """Called with each connection, before anything passes."""

    def hold(self, _link, _is_request):
        """Called with each chunk; returns when it may pass."""
        self._flow.wait()

    def hold_end(self, _link, _is_request):
        """The same for the end of one side's stream."""

    def alter(self, _link, _is_request, data):
        """Called with each chunk that passes; returns what passes in its place."""
        return data

    def _judge_request(self, link, data):
        """Whether this request may pass; marks the link if the reply must not."""
        with self._lock:
            if self._drop is None:
                link.tail = b""
                return True
            what, match = self._drop
            seen = link.tail + data
            link.tail = seen[-(len(match) - 1):] if len(match) > 1 else b""
            if match not in seen:
                return True
            self._drop = None
            link.doomed = what == "reply"
            if what != "reply":
                self.fired.set()
            return what != "request"

    def _judge_reply(self, link, _data):
        if link.doomed:
            self.fired.set()
        return not link.doomed

    def _forward(self, link, source, target, judge):
        try:
            while True:
                data = source.recv(65536)
                if not data:
                    break
                if self.delay:
                    time.sleep(self.delay)
                self.hold(link, source is link.downstream)
                if not judge(link, data):
                    break
                data = self.alter(link, source is link.downstream, data)
                trickle = self.trickle
                if trickle:
                    trickle.pass_on(data, target)
                elif self.split:
                    for byte in data:
                        target.sendall(bytes((byte,)))
                else:
                    target.sendall(data)
        except OSError:
            pass
        self.hold_end(link, source is link.downstream)
        with self._lock:
            if link in self._links:
                self._links.remove(link)
        link.close()
