"""More cases: other requests than one exclusive lock, and other ways to keep
them than one server. `run` takes every case_NAME of this file as its own."""

import contextlib
import multiprocessing
import selectors
import socket
import statistics
import time


def pairs(bench, *server, mode="broker", **options):
    """The processes that run in turn."""
    return lambda: bench.load(mode, *server, **options)


# Requests.

def case_shared(bench):
    """50 readers of one name, against 50 locks of their own"""
    with bench.redis() as redis, bench.broker(redis) as broker:
        bench.compare("50 readers of a name, to own locks: pairs/s",
                      pairs(bench, broker, mode="shared", names=1),
                      pairs(bench, broker))


def case_permits(bench):
    """a semaphore of 10 for 50 clients, against a hot lock"""
    with bench.redis() as redis, bench.broker(redis) as broker:
        bench.compare("hot semaphore of 10, to a hot lock: pairs/s",
                      pairs(bench, broker, mode="permits", names=1),
                      pairs(bench, broker, names=1))


def case_several(bench):
    """three names at once, against one after another"""
    with bench.redis() as redis, bench.broker(redis) as broker:
        for names, whose in ((0, "own"), (1, "hot")):
            bench.compare(f"3 {whose} names at once, to 3 in turn: sets/s",
                          pairs(bench, broker, mode="several", names=names),
                          pairs(bench, broker, mode="each", names=names))


def case_scripts(bench):
    """fence, queue and guard: the scripts, against SET NX PX"""
    with bench.redis() as redis:
        seen = [("redis", redis)]
        a, b = bench.compare("the scripts, to SET NX PX: pairs/s",
                             pairs(bench, redis, mode="direct",
                                   processes=seen),
                             pairs(bench, redis, mode="simple",
                                   processes=seen))
    bench.ratio("the scripts, to SET NX PX: Redis CPU", a, b,
                "redis_cpu_us_per_pair", unit=" us")


# Brokers and servers.

def case_spread(bench):
    """a hot lock through 2 and 3 brokers, against 1"""
    with bench.redis() as redis, contextlib.ExitStack() as stack:
        brokers = [stack.enter_context(bench.broker(redis, f"bench{i}"))
                   for i in range(3)]
        for n in (2, 3):
            bench.compare(f"hot lock, {n} brokers to 1: grants/s",
                          pairs(bench, *brokers[:n], names=1),
                          pairs(bench, brokers[0], names=1))


@contextlib.contextmanager
def brokers(bench, redis, n, **settings):
    """So many brokers in front of it; `settings` are further settings under `redis:`."""
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(bench.broker(redis, f"bench{i}", settings))
               for i in range(n)]


def idle_row(bench, name, servers, settle):
    """What servers spend on brokers that have nothing, after `settle` s."""
    time.sleep(settle)
    seconds = 10 if bench.options.quick else 30
    start = time.monotonic(), [one.cpu_seconds() for one in servers]
    time.sleep(seconds)
    took = time.monotonic() - start[0]
    for one, before in zip(servers, start[1]):
        bench.row(name, (one.cpu_seconds() - before) / took * 100, target=2,
                  unit=" %", less=True)


def case_brokers_idle(bench):
    """200 and 800 brokers that have nothing; 100 on a cluster"""
    for n in (20, 80) if bench.options.quick else (200, 800):
        with bench.redis() as redis, brokers(bench, redis, n):
            idle_row(bench, f"{n} idle brokers: Redis, of a core", [redis],
                     20)
    n = 10 if bench.options.quick else 100
    with bench.cluster(3) as masters, \
            brokers(bench, masters[0], n, mode="cluster", replicas=0,
                    nodes=[node.tcp for node in masters]):
        idle_row(bench, f"{n} idle brokers: a master of 3, of a core", masters,
                 40)


def case_hot_brokers(bench):
    """a hot lock through 2, 50 and 200 brokers, one client each"""
    for n in (2, 50, 200):
        with bench.redis() as redis, brokers(bench, redis, n) as each:
            a, b = bench.turns(
                pairs(bench, *each, names=1, clients=n),
                pairs(bench, redis, mode="token", names=1, clients=n))
        name = f"hot lock, {n} brokers, a client each: "
        bench.ratio(name + "grants/s", a, b, "pairs_per_s")
        bench.row(name + "Jain", statistics.median(run["jain"] for run in a),
                  target=0.95)


def against_one(bench, name, redis, **settings):
    """A broker with these settings, against one in front of one server."""
    with bench.redis() as one, bench.broker(one) as plain, \
            bench.broker(redis, "other", settings=settings) as other:
        for names, whose in ((0, "own locks"), (1, "hot lock")):
            bench.compare(f"{name}, to standalone: {whose}, pairs/s",
                          pairs(bench, other, names=names),
                          pairs(bench, plain, names=names))


def case_wait(bench):
    """grants that a replica must have, against none"""
    with bench.redis() as master, bench.replica(master):
        against_one(bench, "1 replica", master, replicas=1)


def case_quorum(bench):
    """a majority of 3 and of 5 servers, against one server"""
    for n in (3, 5):
        with contextlib.ExitStack() as stack:
            nodes = [stack.enter_context(bench.redis()) for _ in range(n)]
            against_one(bench, f"quorum of {n}", nodes[0], mode="quorum",
                        nodes=[bench.node(node) for node in nodes])


def case_cluster(bench):
    """three masters of a cluster, against one server"""
    with bench.cluster(3) as masters:
        against_one(bench, "cluster of 3", masters[0], mode="cluster",
                    nodes=[node.tcp for node in masters], replicas=0)


# Failover.

LEASE_S = 5
# More than the stall, which is 0.3 lease.
DOWN_AFTER_S = 2
GRACE_S = LEASE_S * 1.01 + LEASE_S * 0.3 + 0.5


@contextlib.contextmanager
def watched(bench):
    """A master, its replica, three Sentinels that know each other, a broker."""
    with contextlib.ExitStack() as stack:
        master = stack.enter_context(bench.redis())
        replica = stack.enter_context(bench.replica(master))
        sentinels = [stack.enter_context(
            bench.sentinel(master, int(DOWN_AFTER_S * 1000)))
            for _ in range(3)]
        for one in sentinels:
            for expect in (b"num-other-sentinels\r\n$1\r\n2\r\n",
                           b"num-slaves\r\n$1\r\n1\r\n"):
                bench.await_answer("a Sentinel", one.address,
                                   b"SENTINEL master bench\r\n", expect)
        broker = stack.enter_context(bench.broker(
            master, lease=f"{LEASE_S}s", settings={
                "mode": "sentinel", "master": "bench", "replicas": 0,
                "nodes": [one.address for one in sentinels]}))
        yield master, replica, broker


def connect(server):
    if server.address.startswith("/"):
        client = socket.socket(socket.AF_UNIX)
        client.connect(server.address)
    else:
        host, port = server.address.rsplit(":", 1)
        client = socket.create_connection((host, int(port)))
    client.settimeout(60)
    return client


def ask(client, request):
    client.sendall(request)
    reply = client.recv(4096)
    assert reply.startswith(b"OK"), reply


def fail_over(bench):
    """Seconds from the death of a master to the next one, and to a grant."""
    with watched(bench) as (master, replica, broker), \
            connect(broker) as client:
        ask(client, b"LOCK before\r\n")
        ask(client, b"UNLOCK before\r\n")
        master.process.kill()
        died = time.monotonic()
        client.sendall(b"LOCK after\r\n")
        bench.await_answer("the next master", replica.tcp,
                           b"INFO replication\r\n", b"role:master")
        promoted = time.monotonic()
        assert client.recv(4096).startswith(b"OK")
        return promoted - died, time.monotonic() - died


def case_failover(bench):
    """a master dies: the first new grant, against Sentinel's own time and G"""
    runs = [fail_over(bench) for _ in range(bench.options.rounds)]
    promoted, granted = map(statistics.median, zip(*runs))
    bench.row("failover: to a master, to down-after", promoted, DOWN_AFTER_S,
              unit=" s")
    bench.row("failover: to a grant, to Sentinel's time + G", granted,
              promoted + GRACE_S, 1.15, unit=" s", less=True)


# Hostile clients.

HELD = 100_000
HOSTILE = 8
MANY_NAMES = " ".join(f"hostile-{i}" for i in range(64))
FLOODS = {
    "NAMES": ["NAMES"],
    "a mixture": ["NAMES limit=1000000", f"LOCK {MANY_NAMES} wait=0", "STATS",
                  "QUEUE hostile-1 limit=100000", "LIST", "HELP", "PING"],
}


def flood(broker, lines):
    """Sends them until it is killed, and reads all answers."""
    data = "".join(one + "\r\n" for one in lines * 64).encode()
    left = {connect(broker): b"" for _ in range(HOSTILE)}
    with selectors.DefaultSelector() as selector:
        for client in left:
            client.setblocking(False)
            selector.register(client, selectors.EVENT_READ
                              | selectors.EVENT_WRITE)
        while True:
            for key, events in selector.select():
                client = key.fileobj
                if events & selectors.EVENT_READ:
                    client.recv(1 << 20)
                if events & selectors.EVENT_WRITE:
                    rest = left[client] or data
                    left[client] = rest[client.send(rest):]


def pings(broker, seconds):
    """The 99th percentile of what a PING takes, in ms."""
    times = []
    with connect(broker) as client:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            start = time.monotonic()
            ask(client, b"PING\r\n")
            times.append(time.monotonic() - start)
            time.sleep(0.002)
    return sorted(times)[len(times) * 99 // 100] * 1000


def counter(broker, name):
    with connect(broker) as client, client.makefile("rb") as lines:
        client.sendall(b"STATS\r\n")
        count = int(lines.readline().split(b"=")[1])
        stats = dict(lines.readline().split() for _ in range(count))
    return int(stats[name.encode()])


def case_hostile(bench):
    """8 clients that send costly requests without end, beside 100,000 locks"""
    held = HELD // (10 if bench.options.quick else 1)
    seconds = bench.options.seconds * 2
    for what, lines in FLOODS.items():
        with bench.redis() as redis, bench.broker(redis) as broker, \
                bench.stay("hold", broker, "-c", 100, "-m", held // 100):
            without = pings(broker, seconds)
            hostile = multiprocessing.Process(target=flood,
                                              args=(broker, lines))
            hostile.start()
            time.sleep(0.5)
            during = pings(broker, seconds)
            hostile.kill()
            hostile.join()
            lost = counter(broker, "lost_total")
        bench.row(f"8 that flood with {what}: p99 of PING", during,
                  target=20, unit=" ms", less=True)
        bench.row("  without them", without, unit=" ms")
        bench.row("  locks lost", lost, target=0, less=True)


# TLS.

@contextlib.contextmanager
def secured(bench):
    """A Redis and a broker that also listen for TLS, at .tls each."""
    certificate, key = bench.certificate()
    with bench.redis("--tls-port", port := bench.port(), "--tls-cert-file",
                     certificate, "--tls-key-file", key, "--tls-ca-cert-file",
                     certificate, "--tls-auth-clients", "no") as redis:
        redis.tls = At(redis, port)
        port = bench.port()
        place = {"tls": f"127.0.0.1:{port}", "certificate": certificate,
                 "key": key}
        with bench.broker(redis, place=place) as broker:
            broker.tls = At(broker, port)
            yield redis, broker


class At:
    """Another address of a server."""

    def __init__(self, server, port):
        self.address = f"tls://127.0.0.1:{port}"
        self.plain = server.address
        self.pid = server.pid


def case_tls(bench):
    """locks over TLS: against plain, and against SET NX PX over TLS"""
    with secured(bench) as (redis, broker):
        for clients in (1, 50):
            a, b = bench.turns(pairs(bench, broker.tls, clients=clients),
                               pairs(bench, broker, clients=clients))
            c, d = bench.turns(
                pairs(bench, broker.tls, clients=clients),
                pairs(bench, redis.tls, mode="simple", clients=clients))
            who = f"{clients} client{'s' * (clients > 1)} over TLS"
            for x, y, what in ((a, b, "plain"), (c, d, "SET NX PX over TLS")):
                bench.ratio(f"{who}, to {what}: pairs/s", x, y, "pairs_per_s")
                bench.ratio(f"{who}, to {what}: p50", x, y, "pair_p50_us",
                            unit=" us")


def case_storm(bench):
    """50 clients while storms of 1,000 handshakes follow each other"""
    with secured(bench) as (_, broker):
        for server, how in ((broker.tls, "over TLS"), (broker, "plain")):
            rates = []

            def beside(server=server, rates=rates):
                with bench.repeated("shake", broker.tls, "-c", 20, "-m",
                                    50) as seen:
                    run = bench.load("broker", server, think_us=5000)
                rates.extend(seen)
                return run
            a, b = bench.turns(
                beside, pairs(bench, server, think_us=5000))
            name = f"50 clients {how} beside handshakes: "
            bench.row(name + "p99", statistics.median(
                run["pair_p99_us"] for run in a), statistics.median(
                run["pair_p99_us"] for run in b), 2.0, unit=" us", less=True)
            bench.row(name + "of these, a second", statistics.median(rates))
