"""Very many sessions of a process that was replaced are resumed at once: none is lost on the way."""

import collections
import resource
import select
import signal
import socket
import struct

from lib.case import SystemTest, note
from lib.wait import eventually, hang, let_time_pass, now

RST = struct.pack("ii", 1, 0)


class Crowd:
    """Clients that do the same at the same time; an answer is one line."""

    def __init__(self, address, count):
        self.poll = select.epoll()
        self.socks = {}
        for _ in range(count):
            sock = socket.create_connection(address)
            self.socks[sock.fileno()] = sock
            self.poll.register(sock, select.EPOLLIN)

    def send(self, lines):
        for sock, line in zip(self.socks.values(), lines):
            sock.sendall(line.encode() + b"\n")

    def answers(self):
        """In the order of the clients."""
        told = dict.fromkeys(self.socks, b"")
        missing = set(told)
        until = now() + hang(30)
        while missing and now() < until:
            for number, _ in self.poll.poll(1):
                piece = self.socks[number].recv(4096)
                told[number] += piece
                if not piece or self.answer(told[number]):
                    missing.discard(number)
        return [self.answer(came) for came in told.values()]

    @staticmethod
    def answer(came):
        """The first whole line that is no event; "" where there is none."""
        lines = came.decode().split("\r\n")[:-1]
        return next((line for line in lines if not line.startswith("!")), "")

    def ask(self, lines):
        self.send(lines)
        return self.answers()

    def reset(self):
        for sock in self.socks.values():
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RST)
            sock.close()
        self.poll.close()


class Resumes(SystemTest):
    limit = 120
    many = 3000

    def away(self, count):
        """So many sessions with a lock, of a process that leaves, and without a connection."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        self.count = min(count, hard - 500)
        self.b = self.broker(self.redis(), trust_new=True, limits={"clients": 20000})
        self.address = ("127.0.0.1", self.b.port)
        control = self.client(self.b)  # its descriptor is small enough for select()
        crowd = Crowd(self.address, self.count)
        told = crowd.ask(["SESSION grace=5m"] * self.count)
        self.keys = [line.split(" key=")[1].split()[0] for line in told]
        crowd.ask([f"LOCK n{i}" for i in range(self.count)])
        old = self.b.replaced_by(int(control.ok("REPLACE")["pid"]))
        control.close()
        crowd.reset()
        return old

    def all_come(self, meanwhile=lambda: None):
        crowd = Crowd(self.address, self.count)
        self.addCleanup(crowd.reset)
        start = now()
        crowd.send(f"RESUME key={key}" for key in self.keys)
        meanwhile()
        told = collections.Counter(" ".join(word for word in answer.split() if "id=" not in word)
                                   for answer in crowd.answers())
        note(f"{self.count} resumed in {now() - start:.2f} s")
        self.assertEqual(told, {"OK locks=1": self.count})
        # Each has its own.
        told = crowd.ask(f"UNLOCK n{i}" for i in range(self.count))
        self.assertEqual(collections.Counter(told), {"OK depth=0": self.count})

    def test_all_at_once(self):
        self.away(self.many)
        self.all_come()
        self.assertLess(len(self.b.log_lines("client-handed-back")), 100)

    def test_all_at_once_while_the_process_stands_still(self):
        old = self.away(self.many)

        def stand_still():
            old.freeze()
            let_time_pass(0.5)
            old.thaw()
        self.all_come(stand_still)

    def test_it_stops_though_its_channel_is_full(self):
        """What the broker has to say to it waits, too; and nobody is told that the session is gone."""
        old = self.away(1000)
        old.freeze()
        crowd = Crowd(self.address, self.count)
        self.addCleanup(crowd.reset)
        told = crowd.ask(f"RESUME key={key}" for key in self.keys)
        self.assertEqual({answer.split(" ")[1] for answer in told}, {"unavailable"})
        self.b.signal(signal.SIGTERM)
        eventually(lambda: self.b.log_lines("stopping "), 5, "it begins to stop")
        old.thaw()
        self.assertEqual((self.b.process.wait(), old.wait()), (0, 0))
