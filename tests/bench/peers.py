"""What a user would pick instead, in turn in one run: plain SET NX, lock libraries
on Redis, etcd's lock and ZooKeeper's.  `run` takes case_peers as one of its own.

Each peer has a server of its own, with its data in memory, and the client that its
users would have; so what is compared is what such a user gets from this machine,
clients included, and not the servers alone."""

import contextlib
import functools
import json
import os
import shutil
import signal
import statistics
import subprocess
import tempfile
import threading
from pathlib import Path

import libraries
import redisson
from install import Absent

CLIENTS = 50
PATIENCE = 60  # seconds for a run, beyond what it measures
ZOOKEEPER = "/usr/share/java/zookeeper.jar"
PYTHON = "/usr/bin/python3"  # which has Debian's packages
COLUMNS = ("pairs_per_s", "p50", "p99", "jain", "cpu")


def has_module(name):
    return subprocess.run([PYTHON, "-c", f"import {name}"], check=False,
                          capture_output=True).returncode == 0


@functools.lru_cache(maxsize=None)
def redis_py(bench):
    return libraries.redis_py(bench)


@functools.lru_cache(maxsize=None)
def redlock(bench):
    """Once: npm fetches it."""
    return libraries.redlock(bench)


def driver(kind):
    path = libraries.HERE.parent.parent / "clients/python"
    return ([PYTHON, str(libraries.HERE / "peerlocks.py"), kind],
            dict(os.environ, PYTHONPATH=str(path)))


def jain(turns):
    """Jain's index over the grants of the workers."""
    counts = [0] * CLIENTS
    for turn in turns:
        counts[turn[1]] += 1
    return sum(counts) ** 2 / CLIENTS / sum(n * n for n in counts)


def figures(turns, seconds, names, before):
    took = [turn[2 if names else 3] for turn in turns]
    return {"pairs_per_s": len(turns) / seconds,
            "p50": libraries.percentile(took, 0.5),
            "p99": libraries.percentile(took, 0.99), "jain": jain(turns),
            "before": before}


def by_loadgen(own, hot, index=0):
    """A peer that the driver in C speaks to: its mode for each of the two."""
    def run(bench, servers, names):
        result = bench.load(hot if names else own, servers[index],
                            clients=CLIENTS, names=names, warm=1)
        # Of own locks what counts is the pair; of one, the wait for it.
        kind = "wait" if names else "pair"
        return {"pairs_per_s": result["pairs_per_s"],
                "p50": result[f"{kind}_p50_us"] / 1e3,
                "p99": result[f"{kind}_p99_us"] / 1e3, "jain": result["jain"]}
    return run


def by_driver(find, index=0):
    """One with a driver of 50 workers, as libraries.py has them."""
    def run(bench, servers, names):
        argv, env = find(bench)
        seconds = bench.options.seconds
        argv = [*argv, servers[index].address.rsplit(":", 1)[1], str(CLIENTS),
                str(seconds), "one" if names else "own", "0", "0"]
        with subprocess.Popen(argv, env=env, stdin=subprocess.PIPE, text=True,
                              stdout=subprocess.PIPE, stderr=bench.log,
                              start_new_session=True) as child:
            end = threading.Timer(seconds + PATIENCE, os.killpg,
                                  (child.pid, signal.SIGKILL))
            end.start()
            if child.stdout.readline() == "ready\n":
                before = sum(server.cpu_seconds() for server in servers)
                text, _ = child.communicate("go\n")
            else:
                child.wait()
            end.cancel()
        if child.returncode != 0:
            return None
        turns = [turn for turn in json.loads(text) if turn[0] < seconds]
        return figures(turns, seconds, names, before)
    return run


@functools.lru_cache(maxsize=None)
def jvms(_bench):
    try:
        return redisson.program("Redisson", "", "RedissonBench.java")
    except Absent:
        return None


def by_jvms(bench, servers, names):
    """Redisson's: five processes with ten threads each."""
    threads = CLIENTS // redisson.JVMS
    running = redisson.run_jvms(*jvms(bench), servers[0].address.rsplit(":", 1)[1],
                                threads, bench.options.seconds, 0, "one" if names else "own")
    next(running)
    before = sum(server.cpu_seconds() for server in servers)
    turns = [(begin, i * threads + thread, (begin - start) * 1e3, (end - start) * 1e3)
             for i, thread, start, begin, end in running]
    return figures(turns, bench.options.seconds, names, before)


@contextlib.contextmanager
def redis_alone(bench):
    with bench.redis() as redis:
        yield [redis]


def brokers(**locks):
    @contextlib.contextmanager
    def serve(bench):
        with bench.redis() as redis, bench.broker(redis, **locks) as broker:
            yield [broker, redis]
    return serve


@contextlib.contextmanager
def etcd_alone(bench):
    port, peers = bench.port(), bench.port()
    url, own = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{peers}"
    with in_memory() as directory, bench.process(
            ["etcd", "--data-dir", directory, "--listen-client-urls", url,
             "--advertise-client-urls", url, "--listen-peer-urls", own,
             "--initial-advertise-peer-urls", own,
             "--initial-cluster", f"default={own}", "--log-level", "error"],
            f"127.0.0.1:{port}",
            b"GET /health HTTP/1.0\r\n\r\n", b"true") as server:
        yield [server]


@contextlib.contextmanager
def zookeeper_alone(bench):
    port = bench.port()
    with in_memory() as directory:
        config = Path(directory) / "zoo.cfg"
        config.write_text("\n".join([
            f"dataDir={directory}", f"clientPort={port}", "tickTime=2000",
            "clientPortAddress=127.0.0.1", "admin.enableServer=false",
            "maxClientCnxns=0", "forceSync=no", "4lw.commands.whitelist=ruok",
            ""]))
        with bench.process(
                ["java", "-Xmx1g", "-cp", ZOOKEEPER,
                 "org.apache.zookeeper.server.quorum.QuorumPeerMain",
                 str(config)], f"127.0.0.1:{port}", b"ruok", b"imok") as server:
            yield [server]


def in_memory():
    """A directory whose files no disk is waited for."""
    return tempfile.TemporaryDirectory(
        prefix="lb-peer-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)


# Name, what serves it, how it is run, what it needs and where that is from.
PEERS = (
    ("lockbroker, in C", brokers(), by_loadgen("broker", "broker"), ()),
    ("lockbroker with locks.warm, in C", brokers(warm="1s"),
     by_loadgen("broker", "broker"), ()),
    ("SET NX, in C", redis_alone, by_loadgen("simple", "pubsub"), ()),
    ("lockbroker, in Python", brokers(), by_driver(lambda _: driver("broker")),
     ()),
    ("lockbroker with locks.warm, in Python", brokers(warm="1s"),
     by_driver(lambda _: driver("broker")), ()),
    ("redis-py", redis_alone, by_driver(redis_py),
     (("python3-redis", redis_py),)),
    ("node-redlock", redis_alone, by_driver(redlock),
     (("nodejs and npm, which fetches redlock and ioredis", redlock),)),
    ("Redisson at lockbroker", brokers(), by_jvms,
     (("a JDK and Maven, which fetches Redisson", jvms),)),
    ("Redisson", redis_alone, by_jvms,
     (("a JDK and Maven, which fetches Redisson", jvms),)),
    ("etcd's lock, in Python", etcd_alone,
     by_driver(lambda _: driver("etcd")),
     (("etcd-server", lambda _: shutil.which("etcd")),
      ("python3-grpcio", lambda _: has_module("grpc")))),
    ("ZooKeeper, kazoo's lock", zookeeper_alone,
     by_driver(lambda _: driver("zookeeper")),
     (("zookeeper", lambda _: Path(ZOOKEEPER).exists()),
      ("default-jre-headless", lambda _: shutil.which("java")),
      ("python3-kazoo", lambda _: has_module("kazoo")))),
)


def measure(bench, run, servers, names):
    """One run, and the processor time of the servers meanwhile; or None."""
    begin = sum(server.cpu_seconds() for server in servers)
    result = run(bench, servers, names)
    if result is None:
        return None
    # The driver in C has a second before it counts, which costs as much.
    seconds = bench.options.seconds + (0 if "before" in result else 1)
    used = sum(server.cpu_seconds() for server in servers) - \
        result.pop("before", begin)
    result["cpu"] = used * 1e6 / (result["pairs_per_s"] * seconds)
    return result


def cells(runs):
    """The medians, as columns of the table."""
    return [figure_of(key, statistics.median(run[key] for run in runs))
            for key in COLUMNS]


def figure_of(key, value):
    if key == "jain":
        return f"{value:.3f}"
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}"


def case_peers(bench):
    """50 clients of what a user would pick instead: etcd, ZooKeeper, libraries"""
    if bench.options.unix:
        print("peers: skipped, the drivers speak TCP")
        return
    found, results = [], {}
    for name, serve, run, needs in PEERS:
        missing = [what for what, is_there in needs if not is_there(bench)]
        if missing:
            print(f"peers: {name}: skipped, install {', '.join(missing)}")
        else:
            found.append((name, serve, run))
    for _ in range(bench.options.rounds):
        for name, serve, run in found:
            with serve(bench) as servers:
                # A server in Java compiles itself while it is used.
                measure(bench, run, servers, 0)
                for names in (0, 1):
                    result = measure(bench, run, servers, names)
                    if result is None:
                        print(f"peers: {name}: failed, or took too long")
                        continue
                    results.setdefault((name, names), []).append(result)
                    if bench.options.json:
                        bench.options.json.write(json.dumps(
                            {"peer": name, "names": names, **result}) + "\n")
    for names, title in ((0, f"{CLIENTS} clients, own locks: a pair"),
                         (1, f"{CLIENTS} clients, one lock: the wait")):
        print(f"\n| {title} | pairs/s | p50 ms | p99 ms | Jain "
              "| servers' CPU a pair, us |")
        print("|" + " --- |" * (len(COLUMNS) + 1))
        for name, _, _ in found:
            if (name, names) in results:
                print(f"| {name} | "
                      + " | ".join(cells(results[name, names])) + " |",
                      flush=True)
