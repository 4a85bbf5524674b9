#!/usr/bin/env python3
"""Plays the conformance story against a client.

usage: play.py [--broker HOST:PORT|/SOCKET] STORY DRIVER [ARGUMENT ...]

README.md describes the story and the driver.  With --broker, the cases that a
real broker can play are played there, with a second client for what others do.
Prints a line for each case; exit status 1 where one failed."""

import os
import queue
import re
import socket
import subprocess
import sys
import threading
import time

PATIENCE = float(os.environ.get("CONFORMANCE_PATIENCE", "1"))
ANSWER_S = 20 * PATIENCE  # so long an answer is waited for
SLACK_S = 0.3 * PATIENCE  # so late "in time" may be
USUAL = {"SESSION": "OK id=1 key=k1", "PING": "OK valid=5000ms", "UNLOCK": "OK depth=0",
         "LOCK": "OK fence=1 depth=1", "RESUME": "OK id=1 locks=1", "QUIT": "OK",
         "CANCEL": "ERR not-found no such request", "AUTH": "OK user=u",
         "LIST": "OK lines=0", "SETVALUE": "OK", "STATUS": "OK state=free waiters=0",
         "RELEASE": "OK permits=0"}


class Failed(Exception):
    """A client did not do what the story says."""


class Case:
    """A case of the story: `lines` are [what, rest]."""

    def __init__(self, title):
        self.title = title
        self.lines = []
        self.words = {"at": "script", "needs": "", "options": ""}


def read(path):
    cases = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            if line.startswith("== "):
                cases.append(Case(line[3:]))
                continue
            what, _, rest = line.partition(":")
            if what in cases[-1].words:
                cases[-1].words[what] = rest.strip()
            else:
                cases[-1].lines.append((what, rest.strip()))
    return cases


class Server:
    """Two listeners that answer by the same rules.  The last rule that fits a request wins."""

    def __init__(self):
        self.rules = []  # [words, reply, once]
        self.seen = []
        self.packets = []  # with which each of them came
        self.open = []  # [socket, tag and line of what was not answered]
        self.unanswered = []  # (socket, tag, line)
        self.slow = False
        self.running = threading.Event()
        self.running.set()
        self.news = threading.Condition()
        self.pinged = self.valid = 0.0
        self.listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
        for listener in self.listeners:
            threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    @property
    def addresses(self):
        return ",".join(f"127.0.0.1:{one.getsockname()[1]}" for one in self.listeners)

    def _accept(self, listener):
        while True:
            try:
                sock, _ = listener.accept()
            except OSError:
                return
            with self.news:
                self.open.append(sock)
            threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, sock):
        try:
            rest, on = b"", True
            while on:
                data = sock.recv(65536)
                *lines, rest = (rest + data).split(b"\n")
                packet = object()
                for line in lines:
                    self.running.wait()
                    on = on and self._request(sock, line.decode().strip(), packet)
                on = on and data
        except OSError:
            pass
        with self.news:
            if sock in self.open:
                self.open.remove(sock)
        sock.close()

    def _reply(self, line):
        words = line.split()
        for rule in reversed(self.rules):
            if words[:len(rule[0])] == rule[0]:
                if rule[2]:
                    self.rules.remove(rule)
                return rule[1]
        return USUAL.get(words[0].upper(), "ERR unknown-command " + words[0])

    def _request(self, sock, line, packet):
        if not line:
            return True
        tag, line = re.match(r"(@\S+ )?(.*)", line).groups()
        with self.news:
            self.seen.append(line)
            self.packets.append(packet)
            reply = self._reply(line)
            found = re.search(r"valid=(\d+)ms", reply)
            if line == "PING" and found:
                self.pinged, self.valid = time.monotonic(), int(found[1]) / 1000
            if reply == "nothing":
                self.unanswered.append((sock, tag, line))
            self.news.notify_all()
            # While a request without a tag waits, nothing more is read.
            self.news.wait_for(lambda: (sock, None, line) not in self.unanswered)
        if reply.startswith("!"):
            self.write(sock, reply)
            sock.shutdown(socket.SHUT_RDWR)
        elif reply != "nothing":
            self.write(sock, (tag or "") + reply)
        return line != "QUIT"

    def write(self, sock, line):
        data = line.encode().replace(b" / ", b"\r\n") + b"\r\n"
        try:
            for piece in ([data[i:i + 1] for i in range(len(data))] if self.slow else [data]):
                sock.sendall(piece)
                if self.slow:
                    time.sleep(0.001)
        except OSError:
            pass

    def cut(self):
        with self.news:
            for sock in self.open:
                try:
                    sock.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
            self.unanswered = [one for one in self.unanswered if one[0] not in self.open]
            self.news.notify_all()

    def down(self):
        """The first address refuses from now on."""
        self.listeners[0].shutdown(socket.SHUT_RDWR)
        self.listeners[0].close()

    def stop(self):
        self.running.set()
        self.cut()
        for listener in self.listeners:
            try:
                listener.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            listener.close()


class Driver:
    """The client's program."""

    def __init__(self, argv, addresses, options):
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            [*argv, addresses, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True)
        self.lines = queue.Queue()
        self.unclaimed = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line.strip())

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def drain(self):
        while not self.lines.empty():
            self.unclaimed.append(self.lines.get())

    def claim(self, wanted):
        """Waits until it has said so, or something that begins so."""
        end = time.monotonic() + ANSWER_S
        while True:
            self.drain()
            for line in self.unclaimed:
                if line == wanted or line.startswith(wanted + " "):
                    self.unclaimed.remove(line)
                    return
            try:
                self.unclaimed.append(self.lines.get(
                    timeout=max(0.0, end - time.monotonic())))
            except queue.Empty:
                raise Failed(f"it does not say {wanted!r}, but {self.unclaimed}") from None

    def end(self):
        """It gives back what it has when its input ends."""
        self.process.stdin.close()
        try:
            status = self.process.wait(ANSWER_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise Failed("it does not end with its input") from None
        finally:
            self.process.stdout.close()
        if status != 0:
            raise Failed(f"it ended with status {status}")


class Other:
    """Another client of the real broker."""

    def __init__(self, address):
        if address.startswith("/"):
            self.sock = socket.socket(socket.AF_UNIX)
            self.sock.settimeout(ANSWER_S)
            self.sock.connect(address)
        else:
            host, _, port = address.rpartition(":")
            self.sock = socket.create_connection((host, int(port)), ANSWER_S)
        self.file = self.sock.makefile("rb")

    def ask(self, line):
        self.sock.sendall(line.encode() + b"\n")
        reply = self.file.readline()
        if not reply.startswith(b"OK"):
            raise Failed(f"{line}: the broker says {reply!r}")

    def close(self):
        self.file.close()
        self.sock.close()


class Play:
    """One case, with the scripted server or at a real broker."""

    def __init__(self, case, argv, broker=None):
        self.case, self.argv = case, argv
        self.server = None if broker else Server()
        self.other = Other(broker) if broker else None
        self.address = broker or self.server.addresses
        self.driver = None
        self.from_ = 0  # where "saw" begins

    def run(self):
        try:
            options = self.case.words["options"].split()
            self.driver = Driver(self.argv, self.address, options)
            for what, rest in self.case.lines:
                name = "on_" + what.partition(" ")[0]
                if self.server is None and name in SCRIPTED:
                    continue
                getattr(self, name)(rest, *what.split()[1:])
            self.driver.drain()
            if self.driver.unclaimed:
                raise Failed(f"it also says {self.driver.unclaimed}")
            self.driver.end()
        finally:
            for one in (self.server, self.other):
                if one is not None:
                    (one.stop if one is self.server else one.close)()
            if self.driver is not None and self.driver.process.poll() is None:
                self.driver.process.kill()
                self.driver.process.wait()

    # The server.

    def on_server(self, rest, once=""):
        words, _, reply = rest.partition(": ")
        with self.server.news:
            self.server.rules.append([words.split(), reply, once == "once"])

    def on_send(self, rest):
        for sock in list(self.server.open):
            self.server.write(sock, rest)

    def on_answer(self, rest):
        words, _, reply = rest.partition(": ")
        for one in list(self.server.unanswered):
            sock, tag, line = one
            if line.split()[:len(words.split())] == words.split():
                self.server.write(sock, (tag or "") + reply)
                with self.server.news:
                    self.server.unanswered.remove(one)
                    self.server.news.notify_all()

    def on_saw(self, rest):
        """These requests, in this order, perhaps with others between them."""
        wanted = [one.strip() for one in rest.split(";")]
        seen = self.server.seen
        for words in wanted:
            while self.from_ < len(seen) and not (seen[self.from_] + " ").startswith(words + " "):
                self.from_ += 1
            if self.from_ == len(seen):
                raise Failed(f"it did not ask {words!r}: {seen}")
            self.from_ += 1

    def on_wait(self, rest):
        """... until the server has been asked for this."""
        with self.server.news:
            if not self.server.news.wait_for(
                    lambda: any((line + " ").startswith(rest + " ")
                                for line in self.server.seen), ANSWER_S):
                raise Failed(f"it did not ask {rest!r}: {self.server.seen}")

    def on_cut(self, _):
        self.server.cut()

    def on_down(self, _):
        self.server.down()

    def on_slow(self, _):
        self.server.slow = True

    def on_freeze(self, _):
        self.server.running.clear()

    def on_thaw(self, _):
        self.server.running.set()

    # Others.

    def on_other(self, rest):
        if self.other is not None:
            self.other.ask(rest)

    def on_pause(self, rest):
        time.sleep(int(rest) / 1000)

    # The client.

    def on_do(self, rest):
        self.driver.tell(rest)

    def on_got(self, rest):
        """`in time`: before what the last PING was told is over."""
        timely = rest.endswith(" in time")
        self.driver.claim(rest.removesuffix(" in time"))
        if timely and time.monotonic() > self.server.pinged + self.server.valid + SLACK_S:
            raise Failed(f"{rest!r} comes too late")

    def on_not(self, rest):
        self.driver.drain()
        if rest in self.driver.unclaimed:
            raise Failed(f"it says {rest!r}")


SCRIPTED = ("on_server", "on_send", "on_answer", "on_saw", "on_wait", "on_cut", "on_down",
            "on_slow", "on_freeze", "on_thaw")


def cases(path, can, broker=False):
    """Those that a client that can do this plays."""
    return [case for case in read(path) if set(case.words["needs"].split()) <= set(can)
            and set(case.words["options"].split()) <= set(can)
            and (not broker or case.words["at"] == "both")]


def main():
    words = sys.argv[1:]
    broker = None
    if words[:1] == ["--broker"]:
        broker = words[1]
        words = words[2:]
    if len(words) < 2:
        sys.exit(__doc__.strip())
    can = os.environ.get("CONFORMANCE_CAN", "two grace value slot").split()
    bad = 0
    for case in cases(words[0], can, broker is not None):
        try:
            Play(case, words[1:], broker).run()
            print("ok   ", case.title)
        except Failed as error:
            bad += 1
            print("FAIL ", case.title, "\n      ", error)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
