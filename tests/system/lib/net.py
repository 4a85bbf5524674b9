"""A network between processes, each of which listens behind a proxy of its own.

A partition swallows what is sent, and closes nothing: what was under way, ends of connections
too, arrives when the network is healed, as TCP sends it again. Who has connected to a proxy is
found out from the kernel, so the processes need not know of any of this; where they can be told
apart by the port that they are given, that is cheaper.

    net = Network()
    port = net.listen(server, server.port)     others connect to this port
    port = net.way(broker, server, server.port)    and the broker alone to this one
    net.cut([server, broker], [other])         both ways
    net.cut_one_way([server], [broker])        what server sends to broker
    net.heal()

Members have a `process`, as servers, Sentinels and brokers have.
"""

import errno
import os
import socket
import struct
import threading
import time

from .proxy import Proxy
from .wait import now

_SOCK_DIAG, _DIAG_BY_FAMILY, _REQUEST, _ERROR = 4, 20, 1, 2
_ANY_COOKIE = b"\xff" * 8


def _ask_kernel(source, target):
    """The inode of the TCP socket between two addresses, by sock_diag(7); 0 if there is none.
    Raises OSError if the kernel can't tell."""
    (host, port), (other, other_port) = source, target
    ends = struct.pack("!HH4s12x4s12x4x", port, other_port, socket.inet_aton(host),
                       socket.inet_aton(other)) + _ANY_COOKIE
    body = struct.pack("=BBBxI", socket.AF_INET, socket.IPPROTO_TCP, 0, 0xffffffff) + ends
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _SOCK_DIAG) as kernel:
        kernel.settimeout(5)
        kernel.send(struct.pack("=IHHII", 16 + len(body), _DIAG_BY_FAMILY, _REQUEST, 1, 0)
                    + body)
        answer = kernel.recv(4096)
    if struct.unpack_from("=H", answer, 4)[0] != _ERROR:
        return struct.unpack_from("=I", answer, 16 + 68)[0]
    code = -struct.unpack_from("=i", answer, 16)[0]
    if code != errno.ENOENT:
        raise OSError(code, os.strerror(code))
    return 0


def _look_up(source, target):
    """The same, from a table that can be long."""
    def entry(address):
        number, = struct.unpack("=I", socket.inet_aton(address[0]))
        return f"{number:08X}:{address[1]:04X}"
    with open("/proc/net/tcp", encoding="ascii") as table:
        for line in table:
            fields = line.split()
            if fields[1:3] == [entry(source), entry(target)]:
                return int(fields[9])
    return 0


def established(port):
    """How many connections to the port of this machine stand; also for who may not look into the
    process that has them."""
    with open("/proc/net/tcp", encoding="ascii") as table:
        rows = [line.split() for line in table]
    return sum(row[1].endswith(f":{port:04X}") and row[3] == "01" for row in rows)


def _inode_of_peer(sock):
    """The inode of the socket at the other end of a connection of this machine; 0: it is gone."""
    ends = sock.getpeername(), sock.getsockname()
    try:
        return _ask_kernel(*ends)
    except OSError:
        return _look_up(*ends)


def _link_of(path):
    try:
        return os.readlink(path)
    except OSError:
        return ""


def _has_socket(pid, inode):
    folder = f"/proc/{pid}/fd"
    try:
        numbers = os.listdir(folder)
    except OSError:
        return False
    return any(_link_of(f"{folder}/{fd}") == f"socket:[{inode}]" for fd in numbers)


class _Door(Proxy):
    """The way to one port of a member."""

    def __init__(self, net, member, upstream, source=None):
        self.net = net
        self.member = member
        self.source = source
        super().__init__(upstream)

    def welcome(self, link):
        link.source = self.source or self.net.owner(link.downstream)

    def hold(self, link, is_request):
        way = (link.source, self.member) if is_request else (self.member, link.source)
        self.net.wait_open(way, self)

    hold_end = hold

    @property
    def stopping(self):
        return self._stopping

    def stop(self):
        super().stop()
        self.net.wake()


class Network:
    def __init__(self):
        self._doors = []
        self._members = []
        self._shut = set()
        self._changed = threading.Condition()

    def join(self, member):
        """A member that only connects to others; to be called before it starts."""
        if member not in self._members:
            self._members.append(member)

    def listen(self, member, port):
        """Returns the port at which others reach this port of a member."""
        self.join(member)
        self._doors.append(_Door(self, member, f"127.0.0.1:{port}"))
        return self._doors[-1].port

    def way(self, source, member, port):
        """The same for one source alone."""
        self._doors.append(_Door(self, member, f"127.0.0.1:{port}", source))
        return self._doors[-1].port

    def cut(self, some, others):
        self.cut_one_way(some, others)
        self.cut_one_way(others, some)

    def cut_one_way(self, some, others):
        with self._changed:
            self._shut |= {(one, other) for one in some for other in others}

    def heal(self):
        with self._changed:
            self._shut.clear()
            self._changed.notify_all()

    def stop(self):
        for door in self._doors:
            door.stop()

    # For the doors.

    def owner(self, sock):
        """The member that has made this connection; None for any other, such as the test itself."""
        try:
            inode = _inode_of_peer(sock)
        except OSError:
            return None
        # The connection may be here before the test knows the member's pid.
        end = now() + 0.5
        while inode and not _has_socket(os.getpid(), inode):
            for member in self._members:
                if member.process and _has_socket(member.process.pid, inode):
                    return member
            if now() > end:
                break
            time.sleep(0.01)
        return None

    def wait_open(self, way, door):
        with self._changed:
            self._changed.wait_for(lambda: way not in self._shut or door.stopping)

    def wake(self):
        with self._changed:
            self._changed.notify_all()
