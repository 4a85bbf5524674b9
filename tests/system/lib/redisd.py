"""A real redis-server of the test's own: started, frozen, killed, emptied, misconfigured."""

import os
import shutil

from .ports import free_port
from .proc import Process
from .resp import RedisError, Resp
from .wait import eventually

# Another program may be tested: valkey-server.
PROGRAM = os.environ.get("REDIS_SERVER", "redis-server")


class RedisServer:
    """redis-server in a directory of its own; on a Unix socket, and on a TCP port if asked.

    It keeps nothing over a restart unless `options` say so, for example
    {"appendonly": "yes", "appendfsync": "always"}. With a `clock` the test sets its time.
    """

    def __init__(self, directory, tcp=False, options=None, clock=None):
        self.directory = directory
        os.makedirs(directory, exist_ok=True)
        self.options = dict(options or {})
        self.unix_path = os.path.join(directory, "redis.sock")
        self.port = free_port() if tcp else 0
        self.far_port = None  # where others reach it, if not at its port
        self.clock = clock
        self.process = None
        self._admin = None

    @property
    def unix_address(self):
        return "unix:" + self.unix_path

    @property
    def tcp_address(self):
        assert self.port, "this server has no TCP port"
        return f"127.0.0.1:{self.seen_port}"

    @property
    def seen_port(self):
        return self.far_port or self.port

    @property
    def address(self):
        return self.tcp_address if self.port else self.unix_address

    def start(self, wait_loaded=True, **more_options):
        program = shutil.which(PROGRAM)
        assert program, f"{PROGRAM} is not installed"
        options = {
            "port": self.port, "bind": "127.0.0.1", "unixsocket": self.unix_path,
            "dir": self.directory, "save": "", "daemonize": "no", "loglevel": "notice",
            "maxmemory-policy": "noeviction", **self.options, **more_options}
        argv = [program]
        for key, value in options.items():
            argv += ["--" + key, *(value if isinstance(value, list) else [str(value)])]
        env = {**os.environ, **self.clock.environment} if self.clock else None
        self.process = Process(argv, os.path.join(self.directory, "redis.log"), env=env,
                               cwd=self.directory)
        eventually(lambda: self._is_up(wait_loaded), 10, "redis-server is up")
        return self

    def _is_up(self, wait_loaded):
        assert self.process.alive, self.process.output()[-2000:]
        self.disconnect()
        try:
            return self.cmd("PING") == "PONG"
        except RedisError as error:
            return not wait_loaded or str(error).startswith(("NOAUTH", "NOPERM"))

    # Commands, on a connection of the test's own.

    def cmd(self, *args):
        if self._admin is None:
            self._admin = Resp(self.unix_address)
        try:
            return self._admin(*args)
        except OSError:
            self.disconnect()
            raise

    def connect(self):
        return Resp(self.unix_address)

    def disconnect(self):
        if self._admin is not None:
            self._admin.close()
            self._admin = None

    def config(self, key, value):
        assert self.cmd("CONFIG", "SET", key, value) == "OK"

    def pttl(self, name, prefix="lock:"):
        """The key's time to live in ms; None if there is no such key."""
        left = self.cmd("PTTL", prefix + name)
        return None if left == -2 else left

    def get(self, name, prefix="lock:"):
        return self.cmd("GET", prefix + name)

    def keys(self, pattern="*"):
        return sorted(self.cmd("KEYS", pattern))

    def clients(self):
        """A dict for each connection, as CLIENT LIST has it."""
        return [dict(word.split("=", 1) for word in line.split())
                for line in self.cmd("CLIENT", "LIST").splitlines()]

    def calls(self, command):
        """How often Redis ran a command since the last CONFIG RESETSTAT."""
        for line in self.cmd("INFO", "commandstats").splitlines():
            if line.startswith(f"cmdstat_{command.lower()}:"):
                return int(line.split("calls=")[1].split(",")[0])
        return 0

    # Faults.

    def freeze(self):
        self.process.freeze()

    def thaw(self):
        self.process.thaw()

    def kill(self):
        self.disconnect()
        self.process.kill()

    def stop(self):
        self.disconnect()
        if self.process is not None:
            # No data is worth a clean end; besides, SIGTERM has no effect while a script runs for
            # ever.
            self.process.kill()

    def restart(self, **options):
        """kill -9, then start again: empty, or with the data that its persistence saved."""
        self.kill()
        return self.start(**options)
