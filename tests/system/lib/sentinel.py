"""A master, its replicas and their Sentinels: the test's own, on free ports."""

import os
import secrets
import shutil

from .ports import free_port
from .proc import Process
from .redisd import PROGRAM, RedisServer
from .resp import RedisError, Resp
from .wait import eventually, moment

NAME = "mymaster"


class Sentinel:
    """A redis-sentinel that knows its master, and from the start its fellows, too. With tls
    (options of redis.conf) it also listens on a Unix socket, for the test."""

    def __init__(self, directory, lines=(), tls=None, clock=None):
        self.directory = directory
        os.makedirs(directory, exist_ok=True)
        self.port = self.seen_port = free_port()
        self.id = secrets.token_hex(20)
        self.lines = list(lines)
        self.tls = tls
        self.clock = clock
        self.process = None

    @property
    def address(self):
        return f"127.0.0.1:{self.seen_port}"

    def start(self, monitor, fellows=()):
        """monitor: HOST PORT QUORUM."""
        path = os.path.join(self.directory, "sentinel.conf")
        lines = [f"port {self.port}"]
        if self.tls:
            lines = ["port 0", f"tls-port {self.port}", f"unixsocket {self.directory}/socket"]
            lines += [f"{key} {value}" for key, value in self.tls.items()]
        lines += ["bind 127.0.0.1", f"dir {self.directory}", f"sentinel myid {self.id}", *self.lines, f"sentinel monitor {NAME} {monitor}",
                 f"sentinel failover-timeout {NAME} 4000"]
        if self.seen_port != self.port:
            lines += ["sentinel announce-ip 127.0.0.1",
                      f"sentinel announce-port {self.seen_port}"]
        lines += [f"sentinel known-sentinel {NAME} 127.0.0.1 {fellow.seen_port} {fellow.id}"
                  for fellow in fellows if fellow is not self]
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        self.spawn()
        return self

    def spawn(self):
        path = os.path.join(self.directory, "sentinel.conf")
        env = {**os.environ, **self.clock.environment} if self.clock else None
        self.process = Process([shutil.which(PROGRAM), path, "--sentinel"],
                               os.path.join(self.directory, "log"), env=env,
                               cwd=self.directory)

    def cmd(self, *args):
        connection = Resp(f"unix:{self.directory}/socket" if self.tls else self.address)
        try:
            return connection(*args)
        finally:
            connection.close()

    def master_port(self):
        return int(self.cmd("SENTINEL", "get-master-addr-by-name", NAME)[1])

    def sees(self, replicas, fellows):
        """Whether it would take part in a failover now."""
        fields = self.cmd("SENTINEL", "master", NAME)
        fields = dict(zip(fields[::2], fields[1::2]))
        return (fields["flags"] == "master" and int(fields["num-slaves"]) >= replicas
                and int(fields["num-other-sentinels"]) >= fellows)

    def is_tilted(self):
        """Its clock jumped: it watches, and does nothing."""
        return "sentinel_tilt:1" in self.cmd("INFO", "sentinel")

    def freeze(self):
        self.process.freeze()

    def thaw(self):
        self.process.thaw()

    def kill(self):
        self.process.kill()

    def stop(self):
        if self.process is not None:
            self.process.kill()


class Watched:
    """Servers, the first of which begins as the master, watched by three Sentinels. clocks: one for
    each server; sentinel_clock: that of the first Sentinel; net: the Network that all of them are
    in."""

    def __init__(self, test, replicas=1, down_after=1.0, host="127.0.0.1", lines=(), tls=None,
                 clocks=None, sentinel_clock=None, net=None, **options):
        self.test = test
        options = {"repl-diskless-sync-delay": 0, "repl-backlog-ttl": 0, **options}
        if tls:
            self.servers = [self.tls_server(test, number, {**options, **tls})
                            for number in range(1 + replicas)]
        else:
            self.servers = [test.redis(tcp=True, clock=clock, **options)
                            for clock in clocks or [None] * (1 + replicas)]
        for server in self.servers if net else []:
            self.move_in(net, server)
        for server in self.servers[1:]:
            self.attach(server, self.servers[0])
        lines = [*lines]
        self.sentinels = [Sentinel(os.path.join(test.directory, f"s{number}"), lines, tls,
                                   None if number else sentinel_clock) for number in range(3)]
        for sentinel in self.sentinels if net else []:
            sentinel.seen_port = net.listen(sentinel, sentinel.port)
        for sentinel in self.sentinels:
            test.addCleanup(sentinel.stop)
            sentinel.start(f"{host} {self.servers[0].seen_port} 2\n"
                           f"sentinel down-after-milliseconds {NAME} {int(down_after * 1000)}",
                           self.sentinels)
        for sentinel in self.sentinels:
            eventually(lambda: sentinel.sees(replicas, 2), 40, "a Sentinel sees everybody")

    @staticmethod
    def tls_server(test, number, options):
        """Its TCP port speaks TLS only."""
        port = free_port()
        server = RedisServer(os.path.join(test.directory, f"t{number}"),
                             options={**options, "port": 0, "tls-port": port})
        test.addCleanup(server.stop)
        server.start()
        server.port = port
        return server

    @property
    def addresses(self):
        return [sentinel.address for sentinel in self.sentinels]

    @property
    def master(self):
        return self.servers[0]

    @property
    def replica(self):
        return self.servers[1]

    @staticmethod
    def move_in(net, server):
        """Others reach it through the network from now on."""
        server.far_port = net.listen(server, server.port)
        for key, value in (("ip", "127.0.0.1"), ("port", str(server.far_port))):
            server.options[f"replica-announce-{key}"] = value
            server.config(f"replica-announce-{key}", value)

    @staticmethod
    def attach(replica, master):
        """Make it a replica, and wait until it is in step by its own word, and by its master's,
        which counts it for WAIT and min-replicas-to-write only from then on."""
        replica.cmd("REPLICAOF", "127.0.0.1", str(master.seen_port))
        eventually(lambda: "master_link_status:up" in replica.cmd("INFO", "replication"), 30,
                   "a replica in step")
        eventually(lambda: f",port={replica.seen_port},state=online," in master.cmd(
            "INFO", "replication"), 30, "its master knows")

    def cut_off(self, replica, master):
        """Freeze a replica, and let nothing reach it that the master does from now on."""
        replica.freeze()
        master.cmd("CLIENT", "KILL", "TYPE", "replica")
        eventually(lambda: "connected_slaves:0" in master.cmd("INFO", "replication"), 5,
                   "no replica")

    def hand_over(self):
        """A failover that an operator asks for; a Sentinel may want to look around first."""
        def accepted():
            try:
                return self.sentinels[0].cmd("SENTINEL", "FAILOVER", NAME)
            except RedisError:
                return False
        eventually(accepted, 40, "a failover", every=0.2)

    @staticmethod
    def promoted(server, timeout=40):
        """Wait until it is a master by its own word. Return a moment before that."""
        return moment(lambda: "role:master" in server.cmd("INFO", "replication"), timeout,
                      "promoted")
