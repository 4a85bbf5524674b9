"""Child processes that never outlive the test run, and what tests can do to them."""

import ctypes
import os
import signal
import subprocess
import time

from .wait import eventually, hang, now

_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def die_with_parent():
    """In the child: be killed when the test process dies, however it dies."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class Process:
    """One child. Its output goes to a file; it is stopped by pid, always."""

    def __init__(self, argv, log_path, env=None, preexec=None, pass_fds=(), cwd=None):
        def in_child():
            die_with_parent()
            if preexec:
                preexec()

        self.argv = argv
        self.log_path = log_path
        with open(log_path, "ab") as log:
            self.popen = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=env, cwd=cwd,
                preexec_fn=in_child, pass_fds=pass_fds)
        self.pid = self.popen.pid

    @property
    def returncode(self):
        return self.popen.poll()

    @property
    def alive(self):
        return self.popen.poll() is None

    def wait(self):
        """The exit status; negative for a signal."""
        try:
            return self.popen.wait(hang())
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{self.argv[0]} did not end") from None

    def signal(self, number):
        self.popen.send_signal(number)

    def freeze(self):
        """SIGSTOP, and return when it has really stopped."""
        self.signal(signal.SIGSTOP)
        eventually(lambda: self.state() == "T", what="process stopped")

    def thaw(self):
        self.signal(signal.SIGCONT)

    def kill(self):
        """kill -9."""
        if self.alive:
            self.signal(signal.SIGKILL)
        return self.wait()

    def stop(self):
        """SIGTERM, then SIGKILL if that does not help. Return the exit status."""
        if self.alive:
            self.signal(signal.SIGTERM)
            # A needless SIGTERM makes LeakSanitizer hang while it looks for leaks.
            if self.state() == "T":
                self.signal(signal.SIGCONT)
            try:
                self.popen.wait(hang())
            except subprocess.TimeoutExpired:
                self.kill()
        return self.returncode

    def output(self):
        with open(self.log_path, "rb") as log:
            return log.read().decode("utf-8", "replace")

    # What /proc knows about it.

    def _stat(self):
        with open(f"/proc/{self.pid}/stat", "rb") as stat:
            return stat.read().rsplit(b") ", 1)[1].split()

    def state(self):
        return self._stat()[0].decode()

    def cpu_seconds(self):
        fields = self._stat()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def rss_bytes(self):
        return int(self._stat()[21]) * os.sysconf("SC_PAGE_SIZE")

    def open_fds(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def children(self):
        with open(f"/proc/{self.pid}/task/{self.pid}/children", "rb") as children:
            return [int(pid) for pid in children.read().split()]

    def listening_ports(self):
        """The TCP ports it listens on, as the kernel sees it."""
        inodes = set()
        for fd in os.listdir(f"/proc/{self.pid}/fd"):
            try:
                target = os.readlink(f"/proc/{self.pid}/fd/{fd}")
            except OSError:
                continue
            if target.startswith("socket:["):
                inodes.add(target[8:-1])
        ports = []
        for table in ("tcp", "tcp6"):
            try:
                with open(f"/proc/{self.pid}/net/{table}", encoding="ascii") as lines:
                    rows = [line.split() for line in lines][1:]
            except OSError:
                continue
            ports += [int(row[1].rsplit(":", 1)[1], 16) for row in rows
                      if row[3] == "0A" and row[9] in inodes]
        return ports


class _Adopted:
    """What Popen is to a child that we have started, for one that became ours."""

    def __init__(self, pid):
        self.pid = pid
        self.returncode = None

    def poll(self):
        if self.returncode is None:
            try:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:
                return None if not pid_gone(self.pid) else 0
            if pid == self.pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, timeout):
        end = now() + timeout
        while self.poll() is None:
            if now() > end:
                raise subprocess.TimeoutExpired(str(self.pid), timeout)
            time.sleep(0.005)
        return self.returncode

    def send_signal(self, number):
        if self.poll() is None:
            os.kill(self.pid, number)


class Orphan(Process):
    """A process that another one has started, and whose parent has gone: call adopt_orphans()
    before."""

    def __init__(self, pid, log_path):
        self.argv = [f"process {pid}"]
        self.log_path = log_path
        self.popen = _Adopted(pid)
        self.pid = pid


def adopt_orphans():
    """This process is the one to which orphans of its descendants go, instead of init."""
    _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1)


def pid_gone(pid):
    """Whether no process has this pid any more (a zombie counts as gone)."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            return stat.read().rsplit(b") ", 1)[1][:1] == b"Z"
    except OSError:
        return True


def rss_bytes(pid):
    with open(f"/proc/{pid}/statm", "rb") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
