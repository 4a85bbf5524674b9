"""A running program of the test's that is told lines, and says lines."""

import queue
import subprocess
import threading

from lib.wait import hang


class Program:
    patience_s = 20

    def __init__(self, argv, read=lambda line: line.rstrip("\n"), stderr=subprocess.PIPE, env=None):
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, text=True, env=env)
        self.said = queue.Queue()
        self.reader = threading.Thread(target=self._read, args=(read,), daemon=True)
        self.reader.start()

    def _read(self, read):
        for line in self.process.stdout:
            self.said.put(read(line))

    def next(self, timeout=None):
        """What it says next."""
        try:
            return self.said.get(timeout=hang(timeout or self.patience_s))
        except queue.Empty:
            self.process.kill()
            errors = self.end() if self.process.stderr else self.process.poll()
            raise AssertionError(f"it says nothing: {errors}") from None

    def tell(self, line="go"):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def end(self):
        """What it has written to standard error; it ends by itself."""
        self.process.wait(hang(self.patience_s))
        self.reader.join()
        return self.process.stderr.read()

    def finish(self):
        """Its exit status; it hears no more."""
        self.process.stdin.close()
        status = self.process.wait(hang(self.patience_s))
        self.reader.join()
        return status

    def close(self):
        self.process.kill()
        self.process.wait()
        self.reader.join()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                if stream:
                    stream.close()
            except OSError:  # it had not read all that it was told
                pass
