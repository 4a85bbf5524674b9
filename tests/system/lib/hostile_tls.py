"""Stands in for lockbroker-tls, and tells the broker nonsense: `hostile_tls.py WHAT`."""

import os
import socket
import sys
import time


def packet(*texts):
    return b"".join(text.encode("latin-1") + b"\0" for text in texts)


def fds(count):
    """Ends of socket pairs, as if each were a client; the other ends stay open. They block, so
    nobody who reads from one may wait for that."""
    pairs = [socket.socketpair() for _ in range(count)]
    fds.kept += pairs
    return [pair[1].fileno() for pair in pairs]


fds.kept = []

# What is sent, and how many descriptors go with it.
NONSENSE = {
    "place": [(packet("client", "99", "1", "peer"), 1), (packet("client", "-1", "2", "peer"), 1),
              (packet("client", "0", "3", "peer"), 1), (packet("client", "x", "4", "peer"), 1)],
    "names": [(packet("client", "2", "5", "p" * 9000, *["CN=" + "n" * 400] * 50), 1)],
    "log": [(packet("log", "warning", "w" * 20000, "key", "value"), 0),
            (packet("log", "warning", "event", "k" * 20000, "value"), 0),
            (packet("log", "warning", "event", "key\nforged", "value"), 0),
            (packet("log", "warning", "event", "key", "v" * 20000), 0),
            (packet("log", "warning", "tls-odd", "key", "a value\nand another line"), 0),
            (packet("log", "", ""), 0), (packet("log", "warning", "event", "key"), 0)],
    "ends": [(packet("end", "77", "behind"), 0), (packet("end", "-1", ""), 0),
             (packet("failed", "-5"), 0), (packet("done", "", "x"), 0),
             (packet("reloaded", "", "9" * 30), 0)],
    "descriptors": [(packet("client", "2", "6", "peer"), 0), (packet("end", "6", "x"), 1),
                    (packet("client", "2", "7", "peer"), 3)],
    "unknown": [(packet("what", "is", "this"), 0)],
    "no-end": [(b"client", 0)],
    "empty": [(packet(""), 0)],
    "many": [(packet("log", *["x"] * 80), 0)],
    "gone": [],
}


def main():
    what = sys.argv[1]
    control = socket.socket(fileno=0)
    while True:
        try:
            word = control.recv(65536).split(b"\0")[0]
        except BlockingIOError:
            time.sleep(0.005)
            continue
        if word in (b"place", b"servers"):
            control.send(packet("done", "", "0"))
        if word == b"accept" and what == "gone":
            sys.exit(3)
        if word == b"accept":
            for data, count in NONSENSE[what]:
                socket.send_fds(control, [data], fds(count))
        if word == b"":
            os._exit(0)


main()
