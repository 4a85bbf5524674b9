"""A line that really loses, delays and reorders packets, in a network namespace of its own.

    HERE:port  --->  kernel  --->  tun device  --->  this module  --->  kernel  --->  HERE:port

A packet to THERE comes out of the device. It is put back with its addresses exchanged, which
changes no checksum: so what connects to THERE is accepted by who listens at HERE, and seems to
come from THERE. TCP at both ends is the kernel's.
"""

import ctypes
import fcntl
import heapq
import os
import random
import select
import shutil
import struct
import subprocess
import threading
import time
import unittest

HERE, THERE = "10.9.0.1", "10.9.0.2"

_CLONE_NEWNET = 0x40000000
_TUNSETIFF = 0x400454ca
_IFF_TUN_NO_PI = 0x0001 | 0x1000


class LossyLine:
    """The calling thread, and what it starts from now on, is in the new namespace until stop().

    loss: of so many packets one is lost; delay: up to so many seconds, of each packet by itself.
    """

    def __init__(self, loss=20, delay=0.01):
        self.loss, self.delay = loss, delay
        self.passed = self.lost = self.overtaken = 0
        self.libc = ctypes.CDLL(None, use_errno=True)
        if not shutil.which("ip"):
            raise unittest.SkipTest("ip is not installed")
        self.home = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        self.tun = -1
        try:
            if self.libc.unshare(_CLONE_NEWNET) != 0:
                raise unittest.SkipTest("no rights to make a network namespace")
            self._make_device()
        except BaseException:
            self.stop()
            raise
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _make_device(self):
        try:
            self.tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
            fcntl.ioctl(self.tun, _TUNSETIFF, struct.pack("16sH22x", b"line", _IFF_TUN_NO_PI))
        except OSError as error:
            raise unittest.SkipTest(f"no tun device: {error}") from error
        for words in ("link set lo up", f"address add {HERE}/24 dev line", "link set line up"):
            subprocess.run(["ip", *words.split()], check=True)

    def _run(self):
        waiting, number, latest = [], 0, 0
        while not self.ended.is_set():
            now = time.monotonic()
            while waiting and waiting[0][0] <= now:
                _, sent, packet = heapq.heappop(waiting)
                self.overtaken += sent < latest
                latest = max(latest, sent)
                self.passed += 1
                self._put_back(packet)
            pause = waiting[0][0] - now if waiting else 0.1
            if not select.select([self.tun], [], [], pause)[0]:
                continue
            packet = os.read(self.tun, 65536)
            if packet[0] >> 4 != 4:
                continue
            if random.randrange(self.loss) == 0:
                self.lost += 1
                continue
            number += 1
            heapq.heappush(waiting, (time.monotonic() + random.random() * self.delay, number,
                                     packet))

    def _put_back(self, packet):
        try:
            os.write(self.tun, packet[:12] + packet[16:20] + packet[12:16] + packet[20:])
        except OSError:
            self.lost += 1

    def stop(self):
        if self.tun >= 0:
            if hasattr(self, "thread"):
                self.ended.set()
                self.thread.join()
            os.close(self.tun)
        self.libc.setns(self.home, _CLONE_NEWNET)
        os.close(self.home)
