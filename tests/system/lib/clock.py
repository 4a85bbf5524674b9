"""Clocks of redis-server and lockbrokerd that a test sets while they run (clockshim.c)."""

import mmap
import os
import struct
import time

SIZE = 48
US = 1000000


def find_shim():
    top = os.environ.get("top_builddir", ".")
    path = os.path.abspath(os.path.join(top, "tests", "system", "clockshim.so"))
    if not os.path.exists(path):
        raise FileNotFoundError(f"{path} is not built: make check builds it")
    return path


class Clock:
    """The clocks of the processes that are started with `environment`."""

    def __init__(self, directory, name="clock"):
        self.path = os.path.join(directory, name)
        with open(self.path, "w+b") as file:
            file.truncate(SIZE)
            self.fields = mmap.mmap(file.fileno(), SIZE)
        # A sanitizer wants to be the first library that is loaded, and need not be.
        asan = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
        self.environment = {"LD_PRELOAD": find_shim(), "CLOCKSHIM": self.path,
                            "ASAN_OPTIONS": asan}

    def _add(self, at, amount):
        value, = struct.unpack_from("=q", self.fields, at)
        struct.pack_into("=q", self.fields, at, value + amount)

    def step(self, seconds):
        """The time of day jumps; back if the number is negative."""
        self._add(0, int(seconds * US))

    def suspend(self, seconds):
        """As if the machine had slept for so long: both its clocks went on."""
        self._add(8, int(seconds * US))
        self._add(0, int(seconds * US))

    def hurry(self, seconds):
        """What counts the time for which the machine was awake, and no lease does, is late by so
        much more."""
        self._add(32, int(seconds * US))

    def stop_waiting(self):
        """Whoever sleeps by it can't do so any more: the loop of a lockbrokerd fails."""
        self._add(40, 1)

    def drift(self, fraction):
        """From now on the time of day goes too fast, or too slow."""
        struct.pack_into("=q", self.fields, 24, time.monotonic_ns() // 1000)
        struct.pack_into("=q", self.fields, 16, int(fraction * US))
