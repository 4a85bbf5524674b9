"""Histories of a lock and a semaphore while brokers and Redis fail, which porcupine judges: of clients
of the line protocol and of Redis commands as lock libraries send them, and of processes of a
library, through its real package. What a client can't know is left to porcupine: a hold whose
client has lost its connection, or whose time is over, may have ended by itself from then on."""

import itertools
import json
import os
import random
import socket
import subprocess
import threading
import time

from faults import fence_there
from lib.broker import Broker
from lib.case import note
from lib.client import Client
from lib.cluster import Cluster
from lib.ports import free_port
from lib.proc import Process
from lib.resp import RedisError, Resp
from lib.sentinel import Watched
from lib.wait import eventually, let_time_pass, patience

CLIENTS, LIMIT, TOKEN_MS = 6, 3, 2000
# So many faults, with so many grants between two of them; and the patience for those.
STRIKES, GRANTS, GRANTS_S = 4, 30, 60
# How long a process that was replaced goes on with its connections.
LEAVE = "2s"
# Processes of a library; and what their programs ask for (BUSY_MS).
PROCESSES, BUSY_NS = 4, 6000000000
PATHS = itertools.count()
FOREVER = 1 << 62
RELEASE = ("if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) "
           "else return 0 end")


class History:
    def __init__(self):
        self.ops, self.lock, self.done = [], threading.Lock(), threading.Event()

    def add(self, kind, client, hold, call, ok=True, permits=1, returned=None):
        op = {"Kind": kind, "Client": client, "Hold": hold, "Ok": ok, "Permits": permits,
              "Call": call, "Return": returned or time.monotonic_ns()}
        self.ops.append(op)
        return op

    def grants(self):
        return sum(op["Kind"] == "grant" for op in self.ops)

    def lines(self):
        """An end is told before the next grant to somebody returns, or need not be."""
        grants = {op["Hold"]: op["Return"] for op in self.ops if op["Kind"] == "grant"}
        later = sorted(grants.values())
        for op in self.ops:
            if op["Kind"] == "end":
                since = max(op["Call"], grants[op["Hold"]])
                op["Return"] = next((when for when in later if when > since), FOREVER)
        return "".join(json.dumps(op) + "\n" for op in self.ops)


class Player(threading.Thread):
    """Takes, waits a moment, gives back, until the history is done."""

    def __init__(self, history, number, address, seed):
        super().__init__(daemon=True)
        self.history, self.number, self.address = history, number, address
        self.rng, self.client = random.Random(seed), None

    def run(self):
        while not self.history.done.is_set():
            try:
                self.client = self.client or self.connect()
                self.turn()
            except (OSError, AssertionError, RedisError):
                self.close()
                let_time_pass(0.05)
        self.close()

    def close(self):
        if self.client is not None:
            self.client.close()
        self.client = None

    def turn(self):
        call = time.monotonic_ns()
        hold = self.take()
        if hold is None:
            return
        permits = getattr(self, "permits", 1)
        self.history.add("grant", self.number, hold, call, permits=permits)
        call = self.ends_ns(call)
        if call is not None:
            self.history.add("end", self.number, hold, call, permits=permits)
        let_time_pass(self.rng.random() * 0.01)
        call = time.monotonic_ns()
        try:
            ok = self.give(hold)
        except (OSError, AssertionError, RedisError):
            # Perhaps it is given back, or the session is over.
            self.history.add("end", self.number, hold, self.lost_ns(call), permits=permits)
            raise
        self.history.add("release", self.number, hold, call, ok, permits)

    def ends_ns(self, _call):
        return None

    def lost_ns(self, call):
        return call


class Line(Player):
    """LOCK and UNLOCK. The connection may have broken since the grant."""

    job = "a"

    def connect(self):
        return Client(self.address, timeout=5)

    def take(self):
        self.took = time.monotonic_ns()
        told = self.client.ask(f"LOCK {self.job} wait=1s")
        return told.fence if told.ok else None

    def give(self, _hold):
        told = self.client.ask(f"UNLOCK {self.job}")
        if told.code == "not-held":
            # It was lost: nobody says when.
            raise AssertionError(told)
        assert told.ok, told
        return True

    def lost_ns(self, _call):
        return self.took


class Permits(Line):
    """ACQUIRE and RELEASE of a semaphore; each hold has a number of its own."""

    holds = iter(range(1, FOREVER))

    def take(self):
        self.took, self.permits = time.monotonic_ns(), self.rng.choice((1, 1, 2))
        told = self.client.ask(f"ACQUIRE s limit={LIMIT} permits={self.permits} wait=1s")
        return next(self.holds) if told.ok else None

    def give(self, _hold):
        told = self.client.ask(f"RELEASE s permits={self.permits}")
        assert told.ok, told
        return True


class Token(Player):
    """SET NX PX and the release by the token, as lock libraries send them."""

    def connect(self):
        return Resp(self.address)

    def take(self):
        self.token = f"{self.number}-{time.monotonic_ns()}"
        if self.client("SET", "a", self.token, "NX", "PX", TOKEN_MS) != "OK":
            let_time_pass(0.01)
            return None
        return self.client("LB.FENCE", "a", self.token)

    def give(self, _hold):
        return self.client("EVAL", RELEASE, 1, "a", self.token) == 1

    def ends_ns(self, call):
        return call + TOKEN_MS * 1000000


def judge(command, history, limit):
    ran = subprocess.run([*command, str(limit)], input=history.lines(), capture_output=True,
                         text=True, timeout=patience(60), check=False)
    assert ran.returncode == 0, ran.stderr
    for line in ran.stderr.splitlines():
        note(line)
    return ran.stdout.split()


class Witness(threading.Thread):
    """What processes of a library say to it (programs/common.*) becomes a history. A fence is that
    which a broker tells while they have the lock; a hold whose fence is not known is left out.
    Who has failed to give its hold back goes on with it, if its library lets it re-enter: then
    nobody has had the lock meanwhile."""

    def __init__(self, history, board, rng):
        super().__init__(daemon=True)
        self.history, self.board, self.rng, self.job = history, board, rng, None
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port, self.since, self.ends = self.listener.getsockname()[1], {}, {}
        self.began = time.monotonic_ns()
        self.start()

    def run(self):
        while True:
            try:
                conn, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(conn,), daemon=True).start()

    def serve(self, conn):
        with conn:
            try:
                number = int(conn.makefile().readline())
                returned = time.monotonic_ns()
                call = self.since.get(number, self.began)
                fence = self.fence()
                let_time_pass(self.rng.random() * 0.01)
                ends = min(time.monotonic_ns(), returned + BUSY_NS)
                self.since[number] = time.monotonic_ns()
                if fence is not None and ends - returned < BUSY_NS // 2:
                    self.held(number, fence, call, returned, ends)
                conn.sendall(b"\n")
            except (OSError, ValueError):
                pass  # it was killed

    def held(self, number, fence, call, returned, ends):
        last = self.ends.get(number)
        if last is not None and last["Hold"] == fence:
            last["Call"] = ends
            return
        self.history.add("grant", number, fence, call, returned=returned)
        self.ends[number] = self.history.add("end", number, fence, ends)

    def fence(self):
        self.job, fence = fence_there(self.board.brokers, self.job)
        return fence


def play_package(test, package, board, rng):
    """A history of processes of a library, and of two line clients of the same lock."""
    name, command, env = package
    history = History()
    witness = Witness(history, board, rng)
    test.addCleanup(witness.listener.close)
    ports = [str(broker.port) for broker in (board.brokers[0], board.brokers[-1])]
    processes = []
    for number in range(PROCESSES):
        path = os.path.join(test.directory, f"p{next(PATHS)}")
        processes.append(Process([*command, *ports], path, env={
            **os.environ, **env, "WITNESS": f"{witness.port} {number}"}))
        test.addCleanup(processes[-1].kill)
    eventually(lambda: witness.job, GRANTS_S, f"{name} takes its lock")
    players = [Line(history, PROCESSES + number, broker.unix_path, f"{rng.random()}")
               for number, broker in enumerate((board.brokers[0], board.brokers[-1]))]
    for player in players:
        player.job = witness.job
    run_history(history, players, lambda: board.strike(rng))
    witness.listener.close()
    for process in processes:
        process.kill()
    return history


def play(kinds, addresses, seed, faults):
    """A history of these kinds of clients at these addresses; faults() is one fault."""
    history = History()
    players = [kinds[number % len(kinds)](history, number, addresses[kinds[number % len(kinds)]][
        number % len(addresses[kinds[number % len(kinds)]])], f"{seed} {number}")
               for number in range(CLIENTS)]
    run_history(history, players, faults)
    return history


def run_history(history, players, faults):
    for player in players:
        player.start()
    for strike in range(STRIKES + 1):
        since = history.grants()
        eventually(lambda least=since + GRANTS: history.grants() >= least, GRANTS_S,
                   "grants go on")
        if strike < STRIKES:
            faults()
    history.done.set()
    for player in players:
        player.join(patience(20))


class Board:
    """Brokers of one topology, and what can happen to them: `faults` are those of its Redis."""

    def __init__(self, test, count, server, faults=(), **settings):
        self.faults, self.brokers = list(faults), []
        for _ in range(count):
            name = f"b{len(test.brokers) + 1}"
            listen = [{"unix": f"{test.directory}/{name}/s"},
                      {"tcp": f"127.0.0.1:{free_port()}"}]
            self.brokers.append(test.broker(server, lease=1, name=name, listen=listen, broker={
                "leave": LEAVE}, **settings))
        for broker in self.brokers:
            broker.wait_granting()

    def stop(self, broker):
        broker.stop()
        broker.start()

    def kill(self, broker):
        broker.kill()
        broker.expected_status = 0
        broker.start()

    def strike(self, rng):
        """One fault, chosen by the dice."""
        broker = rng.choice(self.brokers)
        # While it is there, the one that was replaced comes back for one that fails.
        eventually(lambda: not any(old.alive for old in broker.replaced), 40, "it is gone")
        fault = rng.choice((self.stop, self.kill, Broker.replace, *self.faults))
        if fault in self.faults:
            fault()
        else:
            fault(broker)

    def addresses(self):
        paths = [broker.unix_path for broker in self.brokers]
        return {Line: paths, Permits: paths,
                Token: [f"127.0.0.1:{broker.port}" for broker in self.brokers]}


def sentinel(test):
    watched = Watched(test, 1, down_after=0.5)
    board = Board(test, 2, watched.addresses[0], [], ready=False, redis={
        "mode": "sentinel", "nodes": watched.addresses, "master": "mymaster", "replicas": 1,
        "trust_new": True})

    def replication(server):
        # A Sentinel that makes a master a replica closes its connections.
        server.disconnect()
        return server.cmd("INFO", "replication")

    def master_and_replica():
        by_role = {"role:slave" in replication(one): one for one in watched.servers}
        return len(by_role) == 2 and (by_role[False], by_role[True])

    def follows():
        # On a machine that stalls Sentinel may have turned to the old one again.
        told = [replication(one) for one in watched.servers]
        return any("role:master" in one for one in told) and any(
            "master_link_status:up" in one for one in told)

    def fail_over():
        old, new = eventually(master_and_replica, 60, "one of them is the master")
        old.kill()
        watched.promoted(new)
        old.start()
        eventually(follows, 60, "one follows the other")

    board.faults = [fail_over, watched.hand_over]
    return board


def cluster(test):
    nodes = Cluster(f"{test.directory}/cluster", 3, 1)
    test.addCleanup(nodes.stop)

    def fail_over():
        home = nodes.home("a")
        home.kill()
        eventually(lambda: nodes.home("a") is not home, 40, "a replica has its slots")
        home.start()

    return Board(test, 2, None, [fail_over], ready=False, redis={
        "mode": "cluster", "nodes": nodes.addresses[:2], "replicas": 1, "trust_new": True})


def boards(test):
    """(name, board, whether tokens have holds there)"""
    for count in (1, 2):
        server = test.redis()
        yield f"{count} brokers", Board(test, count, server, [server.restart],
                                        trust_new=True), True
    yield "embedded", Board(test, 1, None), True
    nodes = [test.redis() for _ in range(3)]
    yield "quorum", Board(test, 2, nodes[0], [node.restart for node in nodes], ready=True, redis={
        "mode": "quorum", "nodes": [node.address for node in nodes], "trust_new": True}), False
    yield "sentinel", sentinel(test), True
    yield "cluster", cluster(test), True


def re_entered():
    """Of a process that goes on with its hold although another has had the lock meanwhile."""
    history = History()
    witness = Witness(history, None, None)
    witness.held(0, 1, 1, 2, 3)
    history.add("grant", 1, 2, 4, returned=5)
    history.add("release", 1, 2, 6, returned=7)
    witness.held(0, 1, 8, 9, 10)
    witness.listener.close()
    return history


def check(test, command, seed, packages):
    """Each topology, with clients that are written here, and with one of the packages, in turn; and
    what porcupine must see: a hold that goes on although another had the lock meanwhile, and two
    brokers that know nothing of each other."""
    rng = random.Random(seed)
    rng.shuffle(packages)
    for name, board, tokens in boards(test):
        for kinds, limit in (((Line, Token) if tokens else (Line,), 1), ((Permits,), LIMIT)):
            if limit > 1 and not tokens:
                continue
            history = play(kinds, board.addresses(), rng.random(), lambda: board.strike(rng))
            verdict, grants = judge(command, history, limit)
            note(f"{name}, {kinds}: {verdict}, {grants} grants")
            test.assertEqual(verdict, "Ok", (seed, name, kinds))
        if tokens and packages:
            package = packages[0]
            packages.append(packages.pop(0))
            history = play_package(test, package, board, rng)
            verdict, grants = judge(command, history, 1)
            note(f"{name}, {package[0]}: {verdict}, {grants} grants")
            test.assertEqual(verdict, "Ok", (seed, name, package[0]))
    test.assertEqual(judge(command, re_entered(), 1)[0], "Illegal", "one has it between")
    apart = [Board(test, 1, test.redis(), trust_new=True) for _ in range(2)]
    where = {Line: [path for board in apart for path in board.addresses()[Line]]}
    history = play((Line,), where, seed, lambda: None)
    test.assertEqual(judge(command, history, 1)[0], "Illegal", "two that grant at once")
