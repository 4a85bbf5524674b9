"""How cost grows with clients, with locks that are held, with brokers on one Redis, and with clients
that wait for one name. `run` takes case_growth as one of its own; nothing but `run growth` runs it.

Each curve becomes a picture beside this file, growth-NAME.svg, which README.md shows."""

import concurrent.futures
import contextlib
import math
import resource
from pathlib import Path
from types import SimpleNamespace

import sizing

HERE = Path(__file__).resolve().parent
CLIENTS = (1, 10, 100, 1000, 10_000)
HELD = (100, 1000, 10_000, 100_000, 1_000_000)
BROKERS = (1, 10, 100, 1000)
WAITERS = (1, 10, 100, 1000, 10_000, 100_000)
QUICK = 3  # points of each
HOLDERS = 100
OTHERS = 50
# Of the machine's memory this much is left alone.
SPARE_KIB = 1 << 20
DESCRIPTORS = 250_000
LEASE = "30s"
# A load goes on until each client that waits has had several turns.
WAITERS_A_SECOND = 2000


def more_descriptors():
    """As many as the largest points need, if this process may have them."""
    with contextlib.suppress(ValueError, PermissionError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def within(points, what):
    """Those of the points for which there are descriptors."""
    limit = more_descriptors()
    for n in points:
        if n + 100 > limit:
            print(f"{what}: {n:,} need more than {limit:,} descriptors")
            return
        yield n


def available_kib():
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1])
    return 0


def point(bench, x, redis, broker, **load):
    """One load at a broker."""
    run = bench.load("broker", broker, processes=[("redis", redis), ("broker", broker)], **load)
    return {"x": x, "pairs/s": run["pairs_per_s"], "p50 us": run["pair_p50_us"],
            "p99 us": run["pair_p99_us"], "broker us": run["broker_cpu_us_per_pair"],
            "Redis us": run["redis_cpu_us_per_pair"]}


# Curves: each yields its points.

def clients(bench, points):
    """own locks, by the number of clients"""
    for n in within(points, "clients"):
        with bench.redis() as redis, bench.broker(redis, warm="auto") as broker:
            yield point(bench, n, redis, broker, clients=n, warm=1)


def held(bench, points):
    """50 clients beside locks that others hold"""
    for n in points:
        with bench.redis() as redis, bench.broker(redis, lease=LEASE, warm="auto") as broker:
            before = sizing.redis_memory(redis), broker.rss_kib()
            with bench.stay("hold", broker, "-c", HOLDERS, "-m", n // HOLDERS):
                memory = sizing.redis_memory(redis) - before[0], broker.rss_kib() - before[1]
                yield {**point(bench, n, redis, broker, clients=OTHERS),
                       "broker B": memory[1] * 1024 / n, "Redis B": memory[0] / n}


def brokers(bench, points):
    """50 clients of one broker, beside idle ones on the same Redis"""
    with bench.redis() as redis, contextlib.ExitStack() as stack:
        busy = stack.enter_context(bench.broker(redis, "busy", warm="auto"))
        idle = []
        for n in points:
            while len(idle) < n - 1:
                if available_kib() < SPARE_KIB:
                    print(f"brokers: memory is enough for {len(idle) + 1:,}")
                    n = len(idle) + 1
                    break
                idle.append(stack.enter_context(
                    bench.broker(redis, f"idle{len(idle)}", warm="auto")))
            memory = sum(one.rss_kib() for one in idle) * 1024 / max(len(idle), 1)
            yield {**point(bench, n, redis, busy, clients=OTHERS), "an idle broker B": memory}
            if len(idle) < n - 1 or available_kib() < SPARE_KIB:
                return


def waiters(bench, points):
    """one lock, by the number of clients that want it"""
    limit = more_descriptors() - 100
    for n in points:
        with bench.redis() as redis, contextlib.ExitStack() as stack:
            # As many as have descriptors for all of the clients.
            count = -(-n // limit)
            shares = [(n + i) // count for i in range(count)]
            near = [stack.enter_context(bench.broker(redis, f"b{i}", warm="auto"))
                    for i in range(len(shares))]
            before = sum(broker.rss_kib() for broker in near)
            if len(near) > 1:
                print(f"waiters {n:,}: through {len(near)} brokers")
            yield {**together(bench, n, redis, near, shares),
                   "broker kept B": (sum(broker.rss_kib() for broker in near) - before) * 1024 / n}


def together(bench, n, redis, brokers, shares):
    """One load of one name at each of these brokers, at once; until each client had its turns."""
    def load(broker, clients):
        return point(bench, n, redis, SimpleNamespace(address=broker.unix, pid=broker.pid),
                     clients=clients, names=1, warm=1,
                     seconds=max(bench.options.seconds, n / WAITERS_A_SECOND))

    with concurrent.futures.ThreadPoolExecutor(len(brokers)) as pool:
        seen = list(pool.map(load, brokers, shares))
    rate = sum(p["pairs/s"] for p in seen)
    # Each load has counted all that Redis did, and its own broker.
    broker_us = sum(p["broker us"] * p["pairs/s"] for p in seen) / rate
    redis_us = sum(p["Redis us"] * p["pairs/s"] for p in seen) / rate / len(seen)
    return {"x": n, "pairs/s": rate, "p50 us": max(p["p50 us"] for p in seen),
            "p99 us": max(p["p99 us"] for p in seen), "broker us": broker_us,
            "Redis us": redis_us}


CURVES = ((clients, CLIENTS, "clients"), (held, HELD, "locks held"),
          (brokers, BROKERS, "brokers"), (waiters, WAITERS, "clients that want it"))
PANELS = (("pairs/s", ("pairs/s",)), ("a pair, us", ("p50 us", "p99 us")),
          ("processor time a pair, us", ("broker us", "Redis us")),
          ("memory of one, bytes", ("broker B", "Redis B", "an idle broker B", "broker kept B")))

# Pictures: both axes are logarithmic.

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 300, 240, 52, 30, 42
COLOURS = ("#1f6fb4", "#c8501e", "#2c8a4b", "#7a4fa3")


def decades(values):
    """The powers of ten that enclose them, as exponents."""
    low = math.floor(math.log10(min(values)))
    return low, max(math.ceil(math.log10(max(values))), low + 1)


def short(exponent):
    """A power of ten, as an axis has it."""
    for unit, letter in ((6, "M"), (3, "k")):
        if exponent >= unit:
            return f"{10 ** (exponent - unit)}{letter}"
    return f"{10.0 ** exponent:g}"


def panel(at, title, x_title, lines):
    """One diagram: its lines by name, each a list of (x, y)."""
    everything = [xy for line in lines.values() for xy in line]
    (x0, x1), (y0, y1) = (decades([xy[i] for xy in everything]) for i in (0, 1))
    right, bottom = WIDTH - 14, HEIGHT - BOTTOM

    def place(x, y):
        return (at + LEFT + (math.log10(x) - x0) / (x1 - x0) * (right - LEFT),
                bottom - (math.log10(y) - y0) / (y1 - y0) * (bottom - TOP))

    yield f'<text x="{at + LEFT}" y="14" font-weight="bold">{title}</text>'
    for e in range(x0, x1 + 1):
        x, _ = place(10.0 ** e, 10.0 ** y0)
        yield f'<path d="M{x:.0f} {TOP}V{bottom}" stroke="#ddd"/>'
        yield f'<text x="{x:.0f}" y="{bottom + 15}" text-anchor="middle">{short(e)}</text>'
    for e in range(y0, y1 + 1):
        _, y = place(10.0 ** x0, 10.0 ** e)
        yield f'<path d="M{at + LEFT} {y:.0f}H{at + right}" stroke="#ddd"/>'
        yield f'<text x="{at + LEFT - 5}" y="{y + 4:.0f}" text-anchor="end">{short(e)}</text>'
    yield (f'<text x="{at + (LEFT + right) / 2:.0f}" y="{bottom + 32}" text-anchor="middle">'
           f'{x_title}</text>')
    for number, (name, line) in enumerate(lines.items()):
        colour = COLOURS[number % len(COLOURS)]
        spots = [place(*xy) for xy in line]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in spots)
        yield f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
        yield from (f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in spots)
        if len(lines) > 1:
            yield (f'<text x="{at + right}" y="{TOP + 12 + 14 * number}" fill="{colour}" '
                   f'text-anchor="end">{name}</text>')


def picture(points, x_title):
    """The panels side by side, as SVG."""
    drawn, width = [], 0
    for title, keys in PANELS:
        lines = {key: [(p["x"], p[key]) for p in points if p.get(key, 0) > 0] for key in keys}
        lines = {key: line for key, line in lines.items() if line}
        if lines:
            drawn += panel(width, title, x_title, lines)
            width += WIDTH
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT}" '
                      f'width="{width}" height="{HEIGHT}" font-family="sans-serif" '
                      f'font-size="11">',
                      f'<rect width="{width}" height="{HEIGHT}" fill="white"/>', *drawn,
                      "</svg>", ""])


def case_growth(bench):
    """how cost grows with clients, locks, brokers, waiters; draws pictures"""
    for curve, points, x_title in CURVES:
        seen = []
        for p in curve(bench, points[:QUICK] if bench.options.quick else points):
            seen.append(p)
            print(f"{curve.__name__} {p['x']:,}: "
                  + ", ".join(f"{key} {value:,.1f}" for key, value in p.items() if key != "x"),
                  flush=True)
        path = HERE / f"growth-{curve.__name__}.svg"
        path.write_text(picture(seen, x_title))
        print(f"{curve.__name__}: {path}")
