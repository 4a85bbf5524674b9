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


def seconds(word):
    return None if word == "-" else int(word) / 1000


def lock_of(broker, wait, *names):
    value = None
    if "=" in names[-1]:
        *names, value = names
    return broker.lock(*names, wait=seconds(wait), value=value and value.partition("=")[2])


def slot_of(broker, wait, name, limit):
    return broker.semaphore(name, int(limit), wait=seconds(wait), slot=True)


def what_of(hold):
    return f"slot={hold.slot}" if hold.slot is not None else ",".join(map(str, hold.fences))


class Block:
    """A `with` block, in a thread of its own, until it is told to end."""

    def __init__(self, number, lock):
        self.number = number
        self.lock = lock
        self.end = threading.Event()
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        try:
            self.lock.acquire()
        except lockbroker.Error as error:
            say(self.number, error.code, error)
            return
        threading.Thread(target=self.watch, daemon=True).start()
        say(self.number, "held", what_of(self.lock))
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
                blocks[number] = Block(number, lock_of(broker, *rest))
            elif what == "slot":
                blocks[number] = Block(number, slot_of(broker, *rest))
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
