"""A real Redis Cluster of the test's own: masters, replicas, slots that move."""

import os

from .ports import BUS, free_port
from .redisd import RedisServer
from .resp import RedisError
from .wait import eventually

SLOTS = 16384


def crc16(data):
    crc = 0
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xffff
    return crc


def bucket_of(name):
    """The slot of a name, as a plain client computes it."""
    return crc16(name.encode()) % 256


def key_of(name):
    return f"lock:{{{bucket_of(name)}}}:{name}"


def slot_of(name):
    return crc16(str(bucket_of(name)).encode()) % SLOTS


class Cluster:
    """`masters` masters that share the slots evenly, each with `replicas` replicas. With `net` all
    of them are in that Network; with `tls`, redis.conf's settings for TLS, all ports speak TLS."""

    def __init__(self, directory, masters=3, replicas=0, net=None, tls=None, **options):
        self.options = {"cluster-enabled": "yes", "cluster-node-timeout": "2000",
                        "cluster-replica-validity-factor": "0", "repl-backlog-ttl": "0",
                        "repl-diskless-sync-delay": "0", **options}
        self.directory = directory
        self.net = net
        self.tls = tls
        self.nodes = [self._node(number) for number in range(masters * (1 + replicas))]
        self.masters = self.nodes[:masters]
        self.replicas = self.nodes[masters:]
        self.master_of = {}
        try:
            self._create()
        except BaseException:
            self.stop()
            raise

    def _node(self, number):
        node = RedisServer(os.path.join(self.directory, f"c{number}"), tcp=True,
                           options=self.options)
        node.port = free_port()
        node.bus_port = node.port + BUS
        if self.tls:
            node.options = {**node.options, **self.tls, "tls-cluster": "yes",
                            "tls-port": node.port, "port": 0}
        if self.net:
            node.far_port = self.net.listen(node, node.port)
            node.bus_port = self.net.listen(node, node.port + BUS)
            node.options = {**node.options, "cluster-announce-ip": "127.0.0.1",
                            "cluster-announce-port": node.far_port,
                            "cluster-announce-bus-port": node.bus_port}
        return node

    def _create(self):
        for number, node in enumerate(self.nodes):
            node.start()
            node.cmd("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
        count = len(self.masters)
        for number, node in enumerate(self.masters):
            node.cmd("CLUSTER", "ADDSLOTSRANGE", SLOTS * number // count,
                     SLOTS * (number + 1) // count - 1)
        for node in self.nodes[1:]:
            node.cmd("CLUSTER", "MEET", "127.0.0.1", self.nodes[0].seen_port,
                     self.nodes[0].bus_port)
        eventually(lambda: all(self.knows(node) == len(self.nodes) for node in self.nodes), 20,
                   "all know each other")
        for number, node in enumerate(self.replicas):
            master = self.masters[number % count]
            self.master_of[node] = master
            node.cmd("CLUSTER", "REPLICATE", self.id_of(master))
        self.wait_ok()

    def wait_ok(self, nodes=None):
        nodes = nodes or self.nodes
        eventually(lambda: all(self.is_ok(node) for node in nodes), 20, "the cluster is well")
        eventually(lambda: all(self.is_synced(node) for node in nodes), 20, "replicas have all")

    @staticmethod
    def id_of(node):
        return node.cmd("CLUSTER", "MYID")

    @staticmethod
    def knows(node):
        return node.cmd("CLUSTER", "NODES").count("connected\n") \
            + node.cmd("CLUSTER", "NODES").count("connected ")

    @staticmethod
    def is_ok(node):
        return "cluster_state:ok" in node.cmd("CLUSTER", "INFO")

    @staticmethod
    def role(node):
        return node.cmd("ROLE")[0]

    def is_synced(self, node):
        """By the replica's own word, and by its master's, which counts it for WAIT only from then
        on."""
        kind, *rest = node.cmd("ROLE")
        if kind == "master":
            return node not in self.master_of
        _, port, state, _ = rest
        master = next(one for one in self.nodes if one.seen_port == port)
        return state == "connected" and \
            f",port={node.port},state=online," in master.cmd("INFO", "replication")

    @property
    def addresses(self):
        return [node.tcp_address for node in self.nodes]

    def home(self, name):
        """The master that has this name, as the others see it."""
        slot = slot_of(name)
        for node in self.nodes:
            if not node.process.alive:
                continue
            try:
                view = node.cmd("CLUSTER", "SLOTS")
            except (OSError, RedisError):
                continue
            for first, last, master, *_ in view:
                if first <= slot <= last:
                    return next(one for one in self.nodes if one.seen_port == master[1])
        raise AssertionError(f"nobody has slot {slot}")

    def get(self, name):
        return self.home(name).cmd("GET", key_of(name))

    def move(self, name, target):
        """Move the slot of a name as redis-cli --cluster reshard does. Return the master that had
        it."""
        slot, source = slot_of(name), self.home(name)
        target.cmd("CLUSTER", "SETSLOT", slot, "IMPORTING", self.id_of(source))
        source.cmd("CLUSTER", "SETSLOT", slot, "MIGRATING", self.id_of(target))
        while True:
            keys = source.cmd("CLUSTER", "GETKEYSINSLOT", slot, 10)
            if not keys:
                break
            source.cmd("MIGRATE", "127.0.0.1", target.seen_port, "", 0, 5000, "KEYS", *keys)
        for node in (target, source):
            node.cmd("CLUSTER", "SETSLOT", slot, "NODE", self.id_of(target))
        return source

    def stop(self):
        for node in self.nodes:
            node.stop()


def names_in(bucket, count, stem="n"):
    """Different names of one bucket."""
    found, number = [], 0
    while len(found) < count:
        name = f"{stem}{number}"
        if bucket_of(name) == bucket:
            found.append(name)
        number += 1
    return found
