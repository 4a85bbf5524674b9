"""Histories of clients of the line protocol and of Redis commands as lock libraries send them, of a
lock and of a semaphore, while brokers and Redis fail; porcupine judges them. What a client can't
know is left to porcupine: a hold whose client has lost its connection, or whose time is over,
may have ended by itself from then on."""

import json
import random
import subprocess
import threading
import time

from lib.case import note
from lib.client import Client
from lib.ports import free_port
from lib.resp import RedisError, Resp
from lib.wait import eventually, let_time_pass, patience

CLIENTS, LIMIT, TOKEN_MS = 6, 3, 2000
# So many faults, with so many grants between two of them; and the patience for those.
STRIKES, GRANTS, GRANTS_S = 4, 30, 60
FOREVER = 1 << 62
RELEASE = ("if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) "
           "else return 0 end")


class History:
    def __init__(self):
        self.ops, self.lock, self.done = [], threading.Lock(), threading.Event()

    def add(self, kind, client, hold, call, ok=True, permits=1):
        self.ops.append({"Kind": kind, "Client": client, "Hold": hold, "Ok": ok,
                         "Permits": permits, "Call": call, "Return": time.monotonic_ns()})

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

    def connect(self):
        return Client(self.address, timeout=5)

    def take(self):
        self.took = time.monotonic_ns()
        told = self.client.ask("LOCK a wait=1s")
        return told.fence if told.ok else None

    def give(self, _hold):
        told = self.client.ask("UNLOCK a")
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
    return ran.stdout.split()


def play(kinds, addresses, seed, faults):
    """A history of these kinds of clients at these addresses; faults() is one fault."""
    history = History()
    players = [kinds[number % len(kinds)](history, number, addresses[kinds[number % len(kinds)]][
        number % len(addresses[kinds[number % len(kinds)]])], f"{seed} {number}")
               for number in range(CLIENTS)]
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
    return history


class Board:
    """Brokers of one topology, and what can happen to them."""

    def __init__(self, test, count, server, restarts=(), **settings):
        self.restarts, self.brokers = restarts, []
        for _ in range(count):
            name = f"b{len(test.brokers) + 1}"
            listen = [{"unix": f"{test.directory}/{name}/s"},
                      {"tcp": f"127.0.0.1:{free_port()}"}]
            self.brokers.append(test.broker(server, lease=1, name=name, listen=listen, **settings))
        for broker in self.brokers:
            broker.wait_granting()

    def strike(self, rng):
        """One fault, chosen by the dice."""
        broker = rng.choice(self.brokers)
        fault = rng.choice(("stop", "kill", *("redis" for _ in self.restarts)))
        if fault == "redis":
            rng.choice(self.restarts).restart()
        elif fault == "stop":
            broker.stop()
            broker.start()
        else:
            broker.kill()
            broker.expected_status = 0
            broker.start()

    def addresses(self):
        paths = [broker.unix_path for broker in self.brokers]
        return {Line: paths, Permits: paths,
                Token: [f"127.0.0.1:{broker.port}" for broker in self.brokers]}


def boards(test):
    for count in (1, 2):
        server = test.redis()
        yield f"{count} brokers", Board(test, count, server, [server], trust_new=True), True
    yield "embedded", Board(test, 1, None), True
    nodes = [test.redis() for _ in range(3)]
    yield "quorum", Board(test, 2, nodes[0], nodes, ready=True, redis={
        "mode": "quorum", "nodes": [node.address for node in nodes], "trust_new": True}), False


def check(test, command, seed):
    """Each topology; and two brokers that know nothing of each other, which porcupine must see."""
    rng = random.Random(seed)
    for name, board, tokens in boards(test):
        for kinds, limit in (((Line, Token) if tokens else (Line,), 1), ((Permits,), LIMIT)):
            if limit > 1 and not tokens:
                continue
            history = play(kinds, board.addresses(), rng.random(), lambda: board.strike(rng))
            verdict, grants = judge(command, history, limit)
            note(f"{name}, {kinds}: {verdict}, {grants} grants")
            test.assertEqual(verdict, "Ok", (seed, name, kinds))
    apart = [Board(test, 1, test.redis(), trust_new=True) for _ in range(2)]
    where = {Line: [path for board in apart for path in board.addresses()[Line]]}
    history = play((Line,), where, seed, lambda: None)
    test.assertEqual(judge(command, history, 1)[0], "Illegal", "two that grant at once")
