"""What the daemon tells systemd, and the sockets that systemd hands to it."""

import os
import signal
import socket
import time

from lib.broker import find_program
from lib.case import SystemTest
from lib.client import Client
from lib.manual import SOURCE
from lib.redisd import PROGRAM
from lib.wait import eventually, hang, now, patience


class NotifyTest(SystemTest):
    """Hears what a service manager is told."""

    def notify_socket(self, abstract=False):
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(sock.close)
        path = os.path.join(self.directory, "notify")
        address = "\0" + path if abstract else path
        sock.bind(address)
        sock.settimeout(hang())
        self.notify = sock
        return "@" + path if abstract else path

    def told(self, wanted):
        """Read notifications until one has this line; return all lines read."""
        lines = []
        while wanted not in lines:
            try:
                lines += self.notify.recv(4096).decode().splitlines()
            except socket.timeout:
                self.fail(f"{wanted} was not told, only {lines}")
        return lines


class Systemd(NotifyTest):
    """sd_notify, the watchdog, and sockets that are passed in."""

    def test_a_reload_checks_the_file_first(self):
        """So that `systemctl reload` fails if the file is faulty."""
        with open(os.path.join(SOURCE, "systemd", "lockbrokerd.service.in"),
                  encoding="utf-8") as file:
            reloads = [line.strip() for line in file if line.startswith("ExecReload=")]
        self.assertEqual(reloads, ["ExecReload=@sbindir@/lockbrokerd -t",
                                   "ExecReload=/bin/kill -HUP $MAINPID"])

    def test_ready_and_stopping(self):
        for abstract in (False, True):
            with self.subTest(abstract=abstract):
                path = self.notify_socket(abstract)
                broker = self.broker(start=False)
                broker.spawn(env={"NOTIFY_SOCKET": path})
                self.told("READY=1")
                # Ready means that it listens.
                self.client(broker).ok("PING")
                self.client(broker).lock("x")
                broker.signal(signal.SIGTERM)
                self.told("STOPPING=1")
                self.assertEqual(broker.process.wait(), 0)

    def test_ready_though_redis_is_not(self):
        path = self.notify_socket()
        broker = self.broker("127.0.0.1:1", start=False)
        broker.spawn(env={"NOTIFY_SOCKET": path})
        self.told("READY=1")
        self.client(broker).ok("PING")

    def test_status(self):
        path = self.notify_socket()
        broker = self.broker(start=False)
        broker.spawn(env={"NOTIFY_SOCKET": path})
        seen = self.told("READY=1")
        deadline = now() + patience(5)
        while not any(line.startswith("STATUS=") for line in seen) and now() < deadline:
            seen += self.notify.recv(4096).decode().splitlines()
        self.assertTrue(any(line.startswith("STATUS=") for line in seen), seen)

    def test_reloading(self):
        path = self.notify_socket()
        broker = self.broker(start=False)
        broker.spawn(env={"NOTIFY_SOCKET": path})
        self.told("READY=1")
        before = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
        broker.signal(signal.SIGHUP)
        lines = self.told("RELOADING=1")
        lines += [] if "READY=1" in lines else self.told("READY=1")
        usec = [line for line in lines if line.startswith("MONOTONIC_USEC=")]
        self.assertEqual(len(usec), 1, lines)
        self.assertGreaterEqual(int(usec[0].split("=")[1]), before)
        self.assertLess(lines.index("RELOADING=1"), lines.index("READY=1"))

    def test_reloading_before_it_is_ready(self):
        """A reload does not declare a start to be over that is not."""
        server = os.path.join(self.directory, "slow-redis-server")
        with open(server, "w", encoding="ascii") as file:
            file.write(f'#!/bin/sh\nsleep 1\nexec {PROGRAM} "$@"\n')
        os.chmod(server, 0o755)
        path = self.notify_socket()
        broker = self.broker(start=False, redis={"server": server})
        begin = now()
        broker.spawn(env={"NOTIFY_SOCKET": path})
        eventually(lambda: broker.log_lines("listening"), 5, "it listens")
        broker.signal(signal.SIGHUP)
        self.told("READY=1")
        self.assertGreater(now() - begin, 1)
        self.assertEqual(len(broker.log_lines("reloaded")), 1)

    def test_watchdog(self):
        path = self.notify_socket()
        broker = self.broker(start=False)
        broker.spawn(argv=["/bin/sh", "-c", 'WATCHDOG_PID=$$ exec "$0" -c "$1"',
                           find_program(), broker.config_path],
                     env={"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "400000"})
        self.told("WATCHDOG=1")
        start = now()
        for _ in range(5):
            self.told("WATCHDOG=1")
        self.assertLess(now() - start, patience(2))

    def test_no_watchdog_for_another_pid(self):
        path = self.notify_socket()
        broker = self.broker(start=False)
        broker.spawn(env={"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "200000",
                          "WATCHDOG_PID": "1"})
        self.told("READY=1")
        self.notify.settimeout(0.6)
        lines = []
        try:
            while True:
                lines += self.notify.recv(4096).decode().splitlines()
        except socket.timeout:
            pass
        self.assertNotIn("WATCHDOG=1", lines)

    def test_sockets_passed_in(self):
        unix = os.path.join(self.directory, "passed")
        listeners = [socket.create_server(("127.0.0.1", 0)), socket.socket(socket.AF_UNIX)]
        listeners[1].bind(unix)
        listeners[1].listen()
        for listener in listeners:
            self.addCleanup(listener.close)

        def pass_on():
            high = [os.dup2(sock.fileno(), 100 + i) for i, sock in enumerate(listeners)]
            for i, fd in enumerate(high):
                os.dup2(fd, 3 + i, inheritable=True)

        broker = self.broker(start=False)
        broker.start(argv=["/bin/sh", "-c", 'LISTEN_PID=$$ exec "$0" -c "$1"', find_program(),
                           broker.config_path],
                     env={"LISTEN_FDS": "2", "LISTEN_FDNAMES": "tcp:unix"},
                     preexec=pass_on, pass_fds=(3, 4))
        port = listeners[0].getsockname()[1]
        for address in (("127.0.0.1", port), unix, broker.unix_path):
            client = Client(address)
            self.addCleanup(client.close)
            client.ok("PING")
        # Sockets are not passed on to redis-server.
        for child in broker.process.children():
            for fd in os.listdir(f"/proc/{child}/fd"):
                target = os.readlink(f"/proc/{child}/fd/{fd}")
                inode = os.fstat(listeners[0].fileno()).st_ino
                self.assertNotEqual(target, f"socket:[{inode}]")
