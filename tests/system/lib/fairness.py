"""Whether all get the same, and wait for nothing but their turn."""

import bisect


def jain(counts):
    """Jain's index: 1 if all are equal."""
    return sum(counts) ** 2 / len(counts) / max(1, sum(n * n for n in counts))


def beyond(waits, holds):
    """Of each wait, what the holds of others do not explain; all are (from, to)."""
    holds = sorted(holds)
    begins = [begin for begin, _ in holds]
    for start, end in waits:
        i = max(bisect.bisect_left(begins, start) - 1, 0)
        worked = 0
        while i < len(holds) and holds[i][0] < end:
            worked += max(0, min(end, holds[i][1]) - max(start, holds[i][0]))
            i += 1
        yield end - start - worked
