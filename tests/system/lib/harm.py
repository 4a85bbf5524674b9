"""What happens to a client, its broker, and the way between them: the faults of the cells
(test_client_cells.py)."""

import os
import re
import select
import signal
import socket
import struct
import threading
import time

from lib.proxy import Proxy, Trickle
from lib.wait import eventually

# So long a program stands still: longer than any `valid=` that it was told.
STILL_S = 4
NAME = "broker.cells"
NAME_SERVER = "127.78.0.1"


class Stranger:
    """Something that listens where a broker was, and is none."""

    def __init__(self, says):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.says = says
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def address(self):
        return "127.0.0.1:%d" % self.listener.getsockname()[1]

    def _accept(self):
        while True:
            try:
                sock, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, sock):
        try:
            while sock.recv(4096):
                sock.sendall(self.says)
        except OSError:
            pass
        sock.close()

    def stop(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


class Unless:
    """A socket to which nothing passes once the link is dead, but the end: so nothing is held for
    as long as TCP takes to notice."""

    def __init__(self, link, sock):
        self.link, self.sock = link, sock

    def sendall(self, data):
        if not getattr(self.link, "is_dead", False):
            self.sock.sendall(data)


class Ear:
    """A socket that nobody sleeps in, so that its close() is a reset and nothing else."""

    def __init__(self, sock):
        self.sock = sock

    def recv(self, size):
        try:
            while not select.select([self.sock], [], [], 0.05)[0]:
                pass
            return self.sock.recv(size)
        except ValueError:
            raise OSError("closed") from None


class Net(Proxy):
    """The way to the first broker.  It knows for how long what is held is safe at most."""

    def __init__(self, upstream, resets=False):
        self.until = 0.0  # by time.monotonic()
        self.resets = resets
        super().__init__(upstream)

    def forget(self):
        """Those that are there pass nothing any more."""
        with self._lock:
            links, self._links = self._links, []
        for one in links:
            one.is_dead = True
        return links

    def reset(self):
        with self._lock:
            self._cuts += 1
            links, self._links = self._links, []
        for one in links:
            for sock in (one.downstream, one.upstream):
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                sock.close()

    def _forward(self, link, source, target, judge):
        super()._forward(link, Ear(source) if self.resets else source, Unless(link, target), judge)

    def _judge_request(self, link, data):
        if b"PING" in data:
            link.pinged = time.monotonic()
        return super()._judge_request(link, data)

    def _judge_reply(self, link, data):
        if not getattr(link, "is_dead", False):
            for valid in re.findall(rb"valid=(\d+)ms", data):
                self.until = max(self.until, link.pinged + int(valid) / 1000)
        return super()._judge_reply(link, data)


class NameServer:
    """One that is dead, and the folder with the files of those that ask it."""

    @staticmethod
    def possible():
        return os.geteuid() == 0 and os.system("unshare -m true 2>/dev/null") == 0

    def __init__(self, directory):
        self.hosts = os.path.join(directory, "hosts")
        self.resolv = os.path.join(directory, "resolv.conf")
        self.write(self.hosts, f"127.0.0.1 localhost {NAME}\n")
        self.write(self.resolv, f"nameserver {NAME_SERVER}\noptions timeout:3 attempts:1\n")

    @staticmethod
    def write(path, text):
        with open(path, "r+" if os.path.exists(path) else "w", encoding="ascii") as file:
            file.truncate()
            file.write(text)

    def before(self):
        """What starts a program that asks it."""
        return ["unshare", "-m", "sh", "-c", f"mount --bind {self.hosts} /etc/hosts && "
                f"mount --bind {self.resolv} /etc/resolv.conf && exec \"$0\" \"$@\""]

    def die(self):
        self.write(self.hosts, "127.0.0.1 localhost\n")

    def live(self):
        self.write(self.hosts, f"127.0.0.1 localhost {NAME}\n")


def silent_name_server():
    """To be closed at the end; nobody reads it."""
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind((NAME_SERVER, 53))
    return server


# The faults: what is done to a cell.

def stranger(says):
    def happen(cell):
        other = Stranger(says)
        cell.test.addCleanup(other.stop)
        cell.net.upstream = other.address
        cell.net.cut()
    return happen


def frozen(cell):
    cell.test.addCleanup(cell.main.thaw)
    cell.main.freeze()


def half_open(cell):
    """What is connected is so no more, and nobody says that; new connections are well."""
    cell.dead = cell.net.forget()


def refused(cell):
    cell.net.refuse = True
    cell.net.cut()


def slow(cell):
    cell.net.trickle = Trickle(3, pause=0.02)


def drained(cell):
    cell.control.ask("DRAIN")


def stopped_state(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
        return file.read().rpartition(")")[2].split()[0] == "T"


def program_frozen(cell):
    driver = cell.driver
    driver.signal(signal.SIGSTOP)
    eventually(lambda: stopped_state(driver.pid), 10)
    if cell.state == "waits" and cell.wait is None:
        cell.hand_over()  # it is granted to one that does not run
    time.sleep(STILL_S)
    if cell.holds and not cell.kind.processes:
        driver.tell("check 1")
        cell.checked = True
    driver.signal(signal.SIGCONT)


def loop_blocked(cell):
    cell.driver.tell(f"stall {STILL_S * 1000 + 1}")
    if cell.holds:
        cell.driver.tell("check 1")
        cell.checked = True


def no_descriptors(cell):
    if cell.kind.processes:
        cell.driver.tell("descriptors 4")  # the loader needs one at a time
    else:
        cell.driver.limit_descriptors()


def descriptors(cell):
    if cell.kind.processes:
        cell.driver.tell("descriptors 0")
    else:
        cell.driver.limit_descriptors(0)


def no_names(cell):
    cell.names.die()
    cell.net.cut()


def well_again(cell):
    """What can be mended is."""
    net = cell.net
    net.refuse = False
    net.trickle, net.upstream = None, f"127.0.0.1:{cell.main.port}"
    if cell.names is not None:
        cell.names.live()


def thawed(cell):
    cell.main.thaw()


class Fault:
    """`answers`: a broker answers at the first address afterwards. `keeps`: what is held stays so
    (None: that depends). `own`: it happens to the broker, which nobody else may use. `mend`: how it
    ends, where it does."""

    def __init__(self, happen, answers, keeps=False, own=False, mend=well_again):
        self.happen, self.answers, self.keeps = happen, answers, keeps
        self.own, self.mend = own, mend


FAULTS = {
    "frozen": Fault(frozen, False, own=True, mend=thawed),
    "cut": Fault(lambda cell: cell.net.cut(), True),
    "reset": Fault(lambda cell: cell.net.reset(), True),
    "half-open": Fault(half_open, True),
    "refused": Fault(refused, False),
    "slow": Fault(slow, True, None),
    "garbage": Fault(stranger(b"\x80\xff\x00 nonsense\r\n"), False),
    "http": Fault(stranger(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"), False),
    "redis": Fault(stranger(b"-ERR unknown command 'SESSION'\r\n"), False),
    "killed": Fault(lambda cell: cell.main.kill(), False, own=True, mend=None),
    "stopped": Fault(lambda cell: cell.main.stop(), False, own=True, mend=None),
    "replaced": Fault(lambda cell: cell.main.replace(), True, True, own=True),
    "drained": Fault(drained, False, True, own=True, mend=None),
    "names": Fault(no_names, False),
    "descriptors": Fault(no_descriptors, True, True, mend=descriptors),
    "program-frozen": Fault(program_frozen, True, None),
    "loop-blocked": Fault(loop_blocked, True, None),
}
