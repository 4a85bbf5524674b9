"""Own locks, from 1 client to 4,000: the broker as it is by default, without warm names, and a relay
that only copies bytes, each against SET NX PX; with Redis near by, and half a millisecond away.
`run` takes case_points as one of its own.

Where the kernel places three processes on two processors changes one build by 2.7x, for seconds. So
turns are short and take turns, in another order each round; what counts is the ratio of each round,
and how far apart those are. Each contestant has a Redis of its own, so its names are its own."""

import contextlib
import statistics

POINTS = (1, 3, 10, 30, 100, 1000, 4000)
# 50 is where many calls under way begin to pay.
FAR_POINTS = (1, 3, 10, 50, 100, 1000, 4000)
# Least ratios to SET NX PX without warm names.
COLD = {3: 0.28, 10: 0.45, 30: 0.62, 100: 0.75, 1000: 0.9}
FAR = {1: 0.6, 50: 0.8}
WAY_US = 250
TURN_S, ROUNDS = 0.3, 10
# Before the first turn, so that names have their reserve of fences; and before each.
FIRST_S, BEFORE_S = 1, 0.1


@contextlib.contextmanager
def hop(bench, redis, us=0):
    """One more process between clients and this Redis, which copies bytes so much later."""
    port = bench.port()
    program = bench.options.build / "tests/bench/hop"
    with bench.process([str(program), str(port), redis.tcp.rsplit(":", 1)[1], str(us)],
                       f"127.0.0.1:{port}", b"PING\r\n", b"PONG") as process:
        process.tcp = process.address
        yield process


class Contestant:
    def __init__(self, name, mode, server, redis, broker=None):
        self.name, self.mode, self.server = name, mode, server
        self.processes = [("redis", redis)] + ([("broker", broker)] if broker else [])

    def turn(self, bench, clients, before, seconds):
        return bench.load(self.mode, self.server, clients=clients, warm=before, seconds=seconds,
                          processes=self.processes)


@contextlib.contextmanager
def contestants(bench, us):
    with contextlib.ExitStack() as stack:
        def redis():
            """A server, and where it is reached."""
            server = stack.enter_context(bench.redis())
            return server, stack.enter_context(hop(bench, server, us)) if us else server

        everyone = []
        for name, locks in (("by default", {"warm": "auto"}), ("without warm names", {"warm": 0})):
            server, at = redis()
            broker = stack.enter_context(bench.broker(at, **locks))
            everyone.append(Contestant(name, "broker", broker, server, broker))
        server, at = redis()
        relay = stack.enter_context(hop(bench, at))
        everyone.append(Contestant("a relay", "simple", relay, server, relay))
        server, at = redis()
        everyone.append(Contestant("SET NX PX", "simple", at, server))
        yield everyone


def in_rotation(bench, everyone, clients):
    """What each measured, round by round."""
    quick = bench.options.quick
    for one in everyone:
        one.turn(bench, clients, 0.2 if quick else FIRST_S, 0.05)
    runs = {one.name: [] for one in everyone}
    for number in range(bench.options.rounds if bench.options.given else 3 if quick else ROUNDS):
        first = number % len(everyone)
        for one in everyone[first:] + everyone[:first]:
            runs[one.name].append(one.turn(bench, clients, BEFORE_S,
                                           bench.options.seconds if bench.options.given else TURN_S))
    return runs


def tell(bench, what, a, b, key, **how):
    """A row, and under it the quartiles of the ratios of the rounds."""
    ratios = [x[key] / y[key] for x, y in zip(a, b) if y[key]]
    if not ratios:
        return
    bench.row(what, statistics.median(x[key] for x in a), statistics.median(y[key] for y in b),
              ratio=statistics.median(ratios), **how)
    if len(ratios) > 1:
        low, _, high = statistics.quantiles(ratios, n=4)
        print(f"   of {len(ratios)} rounds: quartiles {low:.2f}x and {high:.2f}x", flush=True)


def measure(bench, points, us, targets):
    where = ", Redis 0.5 ms away" if us else ""
    with contestants(bench, us) as everyone:
        *others, plain = everyone
        for clients in points:
            runs = in_rotation(bench, everyone, clients)
            for one in others:
                name = f"{clients} client{'s' * (clients > 1)}{where}, {one.name}: "
                target = targets.get(clients) if one.name == "without warm names" else None
                tell(bench, name + "pairs/s", runs[one.name], runs[plain.name], "pairs_per_s",
                     target=target)
                tell(bench, name + "p50", runs[one.name], runs[plain.name], "pair_p50_us",
                     unit=" us")
                tell(bench, name + "Redis CPU", runs[one.name], runs[plain.name],
                     "redis_cpu_us_per_pair", unit=" us")
                bench.row(name + "its own CPU", statistics.median(
                    run["broker_cpu_us_per_pair"] for run in runs[one.name]), unit=" us")


def case_points(bench):
    """own locks of 1 to 4,000 clients, against SET NX PX and a relay"""
    if bench.options.unix:
        print("points: skipped, the relay is between TCP sockets")
        return
    quick = slice(0, 4) if bench.options.quick else slice(None)
    measure(bench, POINTS[quick], 0, COLD)
    measure(bench, FAR_POINTS[quick], WAY_US, FAR)
