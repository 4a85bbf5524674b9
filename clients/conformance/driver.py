"""The driver of the conformance story for the client in Python.
usage: driver.py ADDRESSES [grace]"""

import sys
import threading
import time

import lockbroker


mutex = threading.Lock()


def say(*words):
    with mutex:
        print(*words, flush=True)


class Block:
    """A `with` block, in a thread of its own, until it is told to end."""

    def __init__(self, broker, number, wait, names, value):
        self.number = number
        self.lock = broker.lock(*names, wait=wait, value=value)
        self.end = threading.Event()
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        try:
            self.lock.acquire()
        except lockbroker.Error as error:
            say(self.number, error.code, error)
            return
        threading.Thread(target=self.watch, daemon=True).start()
        say(self.number, "held", ",".join(map(str, self.lock.fences)))
        self.end.wait()
        try:
            self.lock.release()
            say(self.number, "released")
        except lockbroker.Error as error:
            say(self.number, error.code, error)

    def watch(self):
        self.lock.lost.wait()
        say(self.number, "told")

    def value(self, text):
        try:
            self.lock.set_value(text)
            say(self.number, "valued")
        except lockbroker.Error as error:
            say(self.number, error.code, error)

    def check(self):
        try:
            self.lock.check()
            say(self.number, "safe")
        except lockbroker.Lost:
            say(self.number, "lost")


def read(broker, number, name):
    try:
        value = broker.value(name)
        say(number, *(["none"] if value is None else ["read", value]))
    except lockbroker.Error as error:
        say(number, error.code, error)


def main():
    grace = 5 if "grace" in sys.argv[2:] else 0
    blocks = {}
    with lockbroker.Broker(sys.argv[1], grace=grace) as broker:
        for line in sys.stdin:
            what, number, *rest = line.split()
            if what == "lock":
                wait = None if rest[0] == "-" else int(rest[0]) / 1000
                value = rest.pop().partition("=")[2] if "=" in rest[-1] else None
                blocks[number] = Block(broker, number, wait, rest[1:], value)
            elif what == "unlock":
                blocks[number].end.set()
            elif what == "check":
                blocks[number].check()
            elif what == "value":
                threading.Thread(target=blocks[number].value, args=rest, daemon=True).start()
            elif what == "read":
                threading.Thread(target=read, args=(broker, number, *rest), daemon=True).start()
            elif what == "stall":
                time.sleep(int(number) / 1000)
                say(number, "stalled")


if __name__ == "__main__":
    main()
