"""A real lockbrokerd: configured, started, watched, stopped."""

import json
import os
import re
import signal

from .client import Client
from .proc import Orphan, Process, adopt_orphans
from .redisd import PROGRAM
from .wait import eventually

# What a sanitizer or an assertion leaves in the output.
_CRASH = re.compile(r"AddressSanitizer|LeakSanitizer|runtime error:|Assertion .* failed")
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*\Z|[0-9]+[a-zA-Z]*\Z|[0-9.]+:[0-9]+\Z"
                    r"|unix:/[A-Za-z0-9_./-]+\Z")


def find_program(name="lockbrokerd"):
    """The program built in $top_builddir (default: the working directory); $LOCKBROKERD may
    name another daemon."""
    given = os.environ.get("LOCKBROKERD") if name == "lockbrokerd" else None
    top = os.environ.get("top_builddir", ".")
    places = [given] if given else [os.path.join(top, name)]
    for place in places:
        if os.access(place, os.X_OK):
            return os.path.abspath(place)
    raise FileNotFoundError(f"{name} is not built: tried {', '.join(places)}")


def to_yaml(value, indent=0):
    """Enough YAML for a configuration: nested mappings, lists of scalars, lists of mappings."""
    pad = " " * indent
    lines = []
    for key, entry in value.items():
        if isinstance(entry, dict):
            lines += [f"{pad}{key}:", to_yaml(entry, indent + 2)]
        elif isinstance(entry, list) and entry and isinstance(entry[0], dict):
            lines.append(f"{pad}{key}:")
            for item in entry:
                first, *rest = to_yaml(item, indent + 4).splitlines()
                lines += [pad + "  - " + first.strip(), *rest]
        elif isinstance(entry, list):
            lines.append(f"{pad}{key}: [{', '.join(_scalar(item) for item in entry)}]")
        else:
            lines.append(f"{pad}{key}: {_scalar(entry)}")
    return "\n".join(lines)


def _scalar(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(value)
    return text if isinstance(value, int) or _PLAIN.match(text) else json.dumps(text)


def merge(base, more):
    """A new nested mapping: base, overlaid with everything in more."""
    result = dict(base)
    for key, value in more.items():
        if isinstance(value, dict) and isinstance(result.get(key), dict):
            value = merge(result[key], value)
        result[key] = value
    return result


class Broker:
    """One lockbrokerd with a generated configuration in a directory of its own.

    `redis` is a RedisServer, an address, or None for the embedded one. `settings` is laid over
    the generated configuration, in the shape of lockbrokerd.yaml.
    """

    def __init__(self, directory, name="b1", redis=None, settings=None):
        self.directory = os.path.join(directory, name)
        os.makedirs(self.directory, exist_ok=True)
        self.name = name
        self.unix_path = os.path.join(self.directory, "s")
        self.config_path = os.path.join(self.directory, "lockbrokerd.yaml")
        self.log_path = os.path.join(self.directory, "log")
        self.process = None
        self.replaced = []  # processes that leave, or have left
        self.expected_status = 0
        self._port = None
        address = getattr(redis, "address", redis)
        self.settings = merge({
            "broker": {"name": name},
            "listen": [{"unix": self.unix_path}, {"tcp": "127.0.0.1:0"}],
            "redis": {"mode": "standalone", "nodes": [address]} if address
                     else {"mode": "embedded", "server": PROGRAM},
        }, settings or {})

    def write_config(self, settings=None):
        self.settings = merge(self.settings, settings or {})
        with open(self.config_path, "w", encoding="utf-8") as file:
            file.write(to_yaml(self.settings) + "\n")

    def environment(self, **more):
        env = {key: value for key, value in os.environ.items()
               if key not in ("NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES",
                              "WATCHDOG_USEC", "WATCHDOG_PID", "JOURNAL_STREAM",
                              "LOCKBROKER", "LOCKBROKER_BOOT", "STATE_DIRECTORY")}
        env["RUNTIME_DIRECTORY"] = self.directory
        env.update(more)
        return env

    def spawn(self, env=None, argv=None, preexec=None, pass_fds=()):
        """Start it, and don't wait for anything."""
        self.write_config()
        self._port = None
        adopt_orphans()
        self.process = Process(argv or [self._program(), "-c", self.config_path], self.log_path,
                               env=self.environment(**(env or {})), preexec=preexec,
                               pass_fds=pass_fds, cwd=self.directory)
        return self

    def _program(self):
        """$LOCKBROKERD_BESIDE, another version, is what every second broker of a test runs."""
        beside = os.environ.get("LOCKBROKERD_BESIDE")
        return beside if beside and self.name[-1] in "02468" else find_program()

    def start(self, **options):
        """Start it, and return when it answers a PING."""
        self.spawn(**options)
        eventually(self._answers, 10, f"{self.name} answers")
        return self

    def _answers(self):
        if not self.process.alive:
            # Not an AssertionError, so that nobody waits any longer.
            raise RuntimeError(f"lockbrokerd ended, status {self.process.returncode}:\n"
                               + self.log()[-3000:])
        probe = Client(self.unix_path, timeout=1.0)
        try:
            return probe.ok("PING")
        finally:
            probe.close()

    @property
    def pid(self):
        return self.process.pid

    @property
    def port(self):
        if self._port is None:
            self._port = eventually(self._plain_port, 5, "a TCP port")
        return self._port

    def _plain_port(self):
        """What the log says: a broker with users lets only root look at its descriptors."""
        told = re.search(r"listening address=(?!unix:)\S+:(\d+)$",
                         self.log().rpartition(" starting ")[2], re.MULTILINE)
        return int(told.group(1)) if told else (self.process.listening_ports() or [None])[0]

    def client(self, tcp=False, **options):
        address = ("127.0.0.1", self.port) if tcp else self.unix_path
        return Client(address, **options)

    def wait_granting(self, timeout=15.0):
        """Return when Redis is fit to grant: it is reached and blessed, and every server that is up
        is heard."""
        probe, control = self.client(), self.client()
        try:
            probe.lock("wait-granting", timeout=timeout)
            probe.ok("UNLOCK wait-granting")
            probe.ok("QUIT")
            probe.expect_eof()
            eventually(lambda: self._listens(control.stats()), 5, "messages are heard")
            control.ok("QUIT")
            control.expect_eof()
        finally:
            probe.close()
            control.close()
        return self

    @staticmethod
    def _listens(stats):
        return stats["redis_nodes_subscribed"] == stats["redis_nodes_up"]

    def log(self):
        with open(self.log_path, "rb") as file:
            return file.read().decode("utf-8", "replace")

    def log_lines(self, pattern):
        return [line for line in self.log().splitlines() if re.search(pattern, line)]

    def replace(self):
        """Have a new process take over, which is that of the broker from then on."""
        control = self.client()
        pid = int(control.ok("REPLACE")["pid"])
        control.close()
        return self.replaced_by(pid)

    def replaced_by(self, pid):
        """The same, if the test itself has brought it about. Returns the old process."""
        old = self.process
        self.replaced.append(old)
        self.process = Orphan(pid, self.log_path)
        return old

    # Faults and ends.

    def freeze(self):
        self.process.freeze()

    def thaw(self):
        self.process.thaw()

    def kill(self):
        self.expected_status = -signal.SIGKILL
        return self.process.kill()

    def signal(self, number):
        self.process.signal(number)

    def stop(self):
        return self.process.stop()

    def check_end(self):
        """Stop it if it still runs; fail if it did not end as expected."""
        if self.process is None:
            return
        status = self.stop()
        for old in self.replaced:
            assert old.stop() == 0, f"a process of {self.name} that was replaced failed"
        crash = _CRASH.search(self.log())
        assert not crash, f"{self.name} crashed:\n{self.log()[crash.start():][:4000]}"
        assert status == self.expected_status, \
            f"{self.name} ended with status {status}, not {self.expected_status}; its last " \
            f"words:\n{self.log()[-2000:]}"
