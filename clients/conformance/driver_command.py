"""The driver of the conformance story for the command `lockbroker`.
usage: driver_command.py ADDRESSES [grace] [run]

A block is a process: `lockbroker lock`, or, with `run`, a program under `lockbroker run`.
$LOCKBROKER_COMMAND names the command."""

import os
import resource
import subprocess
import sys
import threading
import time

PROGRAM = os.environ.get("LOCKBROKER_COMMAND", "lockbroker")
# It says when it begins and that it is to end, and ends with its input.
BLOCK = 'trap "echo told; exit 1" TERM; echo "fence=$LOCKBROKER_FENCE"; read -r line; exit 0'
# What the end of the command means, until it has a lock.
CODES = {69: "unavailable", 76: "unavailable", 77: "denied", 123: "lost"}

mutex = threading.Lock()


def say(*words):
    with mutex:
        print(*words, flush=True)


class Block:
    """A command that holds a lock."""

    most = 0  # descriptors that a command may have; 0: as many as it likes

    def __init__(self, address, options, number, wait, names):
        self.number, self.wait = number, wait
        self.held = self.told = self.ending = False
        words = ["run" if "run" in options else "lock", "-v"]
        if wait != "-":
            words += ["-n"] if wait == "0" else ["-w", wait + "ms"]
        if "grace" in options:
            words += ["--grace", "5s"]
        for name in names[1:]:
            words += ["-a", name]
        words.append(names[0])
        if "run" in options:
            words += ["--", "sh", "-c", BLOCK]
        most = Block.most
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            [PROGRAM, "-S", address, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
            preexec_fn=(lambda: limit(0, most)) if most else None)
        self.why = ""
        self.over, self.turn = False, threading.Lock()
        self.listener = threading.Thread(target=self.listen)
        self.listener.start()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def listen(self):
        """What it says to people: the last line counts."""
        for line in self.process.stderr:
            self.why = line.strip() or self.why

    def run(self):
        for line in self.process.stdout:
            line = line.strip()
            if line.startswith("fence="):
                self.held = True
                say(self.number, "held", line[len("fence="):])
            elif line == "told":
                self.tell()
        status = self.process.wait()
        self.listener.join()
        if self.held and status == 123:
            self.tell()
        with self.turn:
            self.over = True
        if not self.held or self.ending:
            self.say_end(status)

    def tell(self):
        if not self.told:
            self.told = True
            say(self.number, "told")

    def say_end(self, status):
        if self.held and status == 0:
            say(self.number, "released")
            return
        busy = "busy" if self.wait == "0" else "timeout"
        say(self.number, CODES.get(status, busy if status == 1 else "failed"), self.why)

    def check(self):
        say(self.number, "lost" if self.told or self.over else "safe")

    def unlock(self):
        with self.turn:
            over = self.over
            self.ending = not over
        if over:
            self.say_end(self.process.returncode)
        else:
            self.end()

    def end(self):
        if not self.held:
            self.process.terminate()
        try:
            self.process.stdin.close()
        except OSError:
            pass


def limit(pid, most):
    resource.prlimit(pid, resource.RLIMIT_NOFILE,
                     (most, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))


def main():
    blocks = {}
    for line in sys.stdin:
        what, number, *rest = line.split()
        if what == "lock":
            blocks[number] = Block(sys.argv[1], sys.argv[2:], number, rest[0], rest[1:])
        elif what == "check":
            blocks[number].check()
        elif what == "unlock":
            blocks[number].unlock()
        elif what == "descriptors":
            Block.most = int(number)
        elif what == "stall":
            time.sleep(int(number) / 1000)
            say(number, "stalled")
    for block in blocks.values():
        block.end()
    for block in blocks.values():
        block.thread.join()


if __name__ == "__main__":
    main()
