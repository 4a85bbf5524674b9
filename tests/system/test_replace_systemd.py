"""What a service manager is told where a broker is replaced."""

import os
import signal
import socket

from lib.broker import find_program
from lib.client import Client
from lib.proc import Orphan
from test_systemd import NotifyTest


class Systemd(NotifyTest):
    """What a service manager is told."""

    def test_main_pid(self):
        path = self.notify_socket()
        b = self.broker(self.redis(), start=False, trust_new=True)
        b.spawn(env={"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "400000"})
        self.told("READY=1")
        self.told("WATCHDOG=1")
        old = b.process
        b.signal(signal.SIGUSR2)
        told = self.told("READY=1")
        mains = [line for line in told if line.startswith("MAINPID=")]
        self.assertEqual(len(mains), 1, told)
        pid = int(mains[0].split("=")[1])
        self.assertNotIn("STOPPING=1", told)
        b.replaced_by(pid)
        self.assertEqual(old.wait(), 0)
        # It is not the child of the one that started it, and the watchdog goes on.
        self.assertIsInstance(b.process, Orphan)
        with open(f"/proc/{pid}/status", encoding="ascii") as status:
            self.assertIn(f"PPid:\t{os.getpid()}\n", status.read())
        for _ in range(3):
            self.told("WATCHDOG=1")
        b.signal(signal.SIGTERM)
        self.told("STOPPING=1")
        self.assertEqual(b.process.wait(), 0)

    def test_a_unit_that_can_not_be_told(self):
        b = self.broker(self.redis(), start=False, trust_new=True)
        b.start(argv=["/bin/sh", "-c", 'SYSTEMD_EXEC_PID=$$ exec "$0" -c "$1"', find_program(),
                      b.config_path])
        self.assertRegex(self.client(b).ask("REPLACE").text, "unavailable .*Type=notify")

    def test_sockets_that_were_passed_in(self):
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)

        def pass_on():
            os.dup2(listener.fileno(), 3, inheritable=True)

        b = self.broker(self.redis(), start=False, trust_new=True)
        b.start(argv=["/bin/sh", "-c", 'LISTEN_PID=$$ exec "$0" -c "$1"', find_program(),
                      b.config_path],
                env={"LISTEN_FDS": "1"}, preexec=pass_on, pass_fds=(3,))
        for _ in range(2):
            self.assertEqual(b.replace().wait(), 0)
            client = Client(listener.getsockname())
            client.ok("PING")
            client.close()
