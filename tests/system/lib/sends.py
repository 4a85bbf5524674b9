"""The order in which a lockbrokerd writes to all its sockets (sendshim.c)."""

import os

from .wait import eventually


class Sends:
    """What a process writes that is started with `environment`."""

    def __init__(self, directory):
        top = os.environ.get("top_builddir", ".")
        shim = os.path.abspath(os.path.join(top, "tests", "system", "sendshim.so"))
        if not os.path.exists(shim):
            raise FileNotFoundError(f"{shim} is not built: make check builds it")
        self.path = os.path.join(directory, "sends")
        asan = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
        self.environment = {"LD_PRELOAD": shim, "SENDSHIM": self.path, "ASAN_OPTIONS": asan}

    def all(self):
        """Every piece that was written, in order."""
        with open(self.path, "rb") as file:
            data = file.read()
        pieces = []
        while data:
            length, _, data = data.partition(b"\n")
            pieces.append(data[:int(length)])
            data = data[int(length):]
        return pieces

    def first(self, start, *words):
        """The number of the first piece from `start` on that has all these words; wait for it,
        because a piece may have been read before it is noted."""
        def found():
            return [number for number, piece in enumerate(self.all())
                    if number >= start and all(word.encode() in piece for word in words)]
        return eventually(found, 5, f"{words} is written")[0]
