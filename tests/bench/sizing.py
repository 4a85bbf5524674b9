"""What a fleet takes: ten brokers on one Redis. `run` takes every case_NAME of
this file as its own; the figures are those of "How much of what" in
lockbroker-admin(7)."""

import contextlib
import socket
import time
from types import SimpleNamespace

BROKERS = 10
HELD = 1_000_000
HOLDERS = 1000
IDLE = 10_000
LEASE = "60s"


def redis_memory(redis):
    """used_memory of it, in bytes."""
    host, port = redis.tcp.rsplit(":", 1)
    with socket.create_connection((host, int(port)), 5) as s:
        s.sendall(b"INFO memory\r\n")
        with s.makefile("rb") as answer:
            for said in answer:
                if said.startswith(b"used_memory:"):
                    return int(said.split(b":")[1])
    raise EOFError("INFO memory")


def used(redis, fleet):
    """Bytes of Redis and of all brokers, then their seconds of a processor."""
    return (redis_memory(redis), sum(one.rss_kib() for one in fleet) * 1024,
            redis.cpu_seconds(), sum(one.cpu_seconds() for one in fleet),
            time.monotonic())


def growth(before, after):
    return [b - a for a, b in zip(before, after)]


def fleet_row(bench, name, redis, fleet, unit):
    bench.row(name + ": Redis", redis, unit=unit)
    bench.row(name + ": all brokers", fleet, unit=unit)


def connections(bench, redis, fleet, everyone):
    count = IDLE // (10 if bench.options.quick else 1)
    before = used(redis, fleet)
    with bench.stay("idle", everyone, "-c", count):
        _, memory, *_ = growth(before, used(redis, fleet))
    bench.row(f"an idle connection of {count:,}: its broker", memory / count,
              unit=" B")


def pairs(bench, redis, fleet):
    """LOCK and UNLOCK of own names, through all of them."""
    seen = [("redis", redis)] + [(f"b{i}", one) for i, one in enumerate(fleet)]
    result = bench.load("broker", *fleet, clients=50 * BROKERS,
                        processes=seen)
    bench.row(f"{50 * BROKERS} clients: pairs/s", result["pairs_per_s"])
    cpu = [result[f"{name}_cpu_us_per_pair"] for name, _ in seen]
    fleet_row(bench, "a pair", cpu[0], sum(cpu[1:]), " us")


def held(bench, redis, fleet, everyone):
    count = HELD // (10 if bench.options.quick else 1)
    before = used(redis, fleet)
    with bench.stay("hold", everyone, "-c", HOLDERS, "-m", count // HOLDERS):
        of_redis, of_fleet, *_, seconds = growth(before, used(redis, fleet))
        bench.row(f"{count:,} locks: taken in a second", count / seconds)
        fleet_row(bench, "a held lock", of_redis / count, of_fleet / count,
                  " B")
        before = used(redis, fleet)
        time.sleep(10 if bench.options.quick else 60)
        _, _, of_redis, of_fleet, took = growth(before, used(redis, fleet))
        fleet_row(bench, f"{count:,} leases of {LEASE}, of a core",
                  of_redis / took * 100, of_fleet / took * 100, " %")
        others = bench.load("broker", *fleet, clients=BROKERS, think_us=2000)
        bench.row("p99 of others meanwhile", others["pair_p99_us"], unit=" us")


def case_sizing(bench):
    """10 brokers on one Redis: a million locks, connections, pairs"""
    with bench.redis() as redis, contextlib.ExitStack() as stack:
        fleet = [stack.enter_context(bench.broker(redis, f"bench{i}",
                                                  lease=LEASE))
                 for i in range(BROKERS)]
        everyone = SimpleNamespace(
            address=",".join(one.address for one in fleet))
        connections(bench, redis, fleet, everyone)
        pairs(bench, redis, fleet)
        held(bench, redis, fleet, everyone)
