"""A driver of the conformance story (clients/conformance): what it says and when, and what it uses
of the machine."""

import os
import resource
import signal
import subprocess
import threading
import time


def status_of(pid, key):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        for line in file:
            if line.startswith(key + ":"):
                return int(line.split()[1])
    return 0


class Driver:
    """One process; those that it starts are its own as well."""

    def __init__(self, argv, log_path):
        self.log_path = log_path
        with open(log_path, "wb") as log:
            self.process = subprocess.Popen(  # pylint: disable=consider-using-with
                argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)
        self.pid = self.process.pid
        self.news = threading.Condition()
        self.said = []  # (when, words)
        self.ended = False
        self.asked = {}  # by the number of a block, when
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            with self.news:
                self.said.append((time.monotonic(), line.split()))
                self.news.notify_all()
        with self.news:
            self.ended = True
            self.news.notify_all()

    def tell(self, line):
        self.asked[line.split()[1]] = time.monotonic()
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except OSError:
            raise AssertionError(f"it has ended: {self.log()}") from None

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()[-2000:]

    def hear(self, number, timeout, *wanted):
        """What it says of a block, other than `told`, or one of the words that are wanted; and
        when."""
        def is_it(words):
            return words[0] == number and (
                words[1] in wanted if wanted else words[1] != "told")

        with self.news:
            self.news.wait_for(
                lambda: self.ended or any(is_it(words) for _, words in self.said), timeout)
            for one in self.said:
                if is_it(one[1]):
                    self.said.remove(one)
                    return one[1][1:], one[0]
            what = "has ended" if self.ended else f"says nothing in {timeout:.1f} s"
            raise AssertionError(f"it {what} of {number} {wanted}; it said {self.said}\n{self.log()}")

    # What it uses.

    def processes(self):
        """It, and those that it has started."""
        found, todo = [], [self.pid]
        while todo:
            pid = todo.pop()
            found.append(pid)
            try:
                for task in os.listdir(f"/proc/{pid}/task"):
                    with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as file:
                        todo += map(int, file.read().split())
            except OSError:
                continue
        return found

    def uses(self):
        """Descriptors, threads and kB, of the process that has most."""
        most = (0, 0, 0)
        for pid in self.processes():
            try:
                now = (len(os.listdir(f"/proc/{pid}/fd")), status_of(pid, "Threads"),
                       status_of(pid, "VmRSS"))
            except OSError:
                continue
            most = tuple(map(max, most, now))
        return most

    def limit_descriptors(self, most=None):
        """From now on it can open none; or so many, or as many as it likes (0)."""
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        for pid in self.processes():
            try:
                there = set(map(int, os.listdir(f"/proc/{pid}/fd")))
                free = next(n for n in range(len(there) + 1) if n not in there)
                resource.prlimit(pid, resource.RLIMIT_NOFILE,
                                 (free if most is None else most or hard, hard))
            except OSError:
                continue

    def signal(self, number):
        """To all of them; who goes on goes on before those that it looks after."""
        for pid in self.processes():
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                continue

    # Its end.

    def end(self):
        try:
            self.process.stdin.close()
        except OSError:
            pass

    def wait(self, timeout):
        """Its exit status, and the seconds of processor time that it and its children took."""
        ended = threading.Event()

        def stop():
            if not ended.wait(timeout):
                self.signal(signal.SIGKILL)

        threading.Thread(target=stop, daemon=True).start()
        _, status, usage = os.wait4(self.pid, 0)
        ended.set()
        self.process.returncode = os.waitstatus_to_exitcode(status)
        return self.process.returncode, usage.ru_utime + usage.ru_stime

    def close(self):
        if self.process.returncode is None:
            self.signal(signal.SIGKILL)
            self.process.wait()
        self.reader.join()
        self.process.stdout.close()
        self.end()
