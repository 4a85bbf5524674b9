"""Waiting for things to happen, always with a deadline, never with a guess.

An upper limit is a claim (released at once, not when the lease ends): it is exact on an idle
machine, and stretched by as much as this machine was just seen to be late; or it finds a hang,
and is generous, since that costs nothing where all is well.
"""

import collections
import os
import threading
import time

# Slow runs (valgrind, sanitizers) stretch every limit by this factor.
PATIENCE = float(os.environ.get("SYSTEM_TEST_PATIENCE", "1"))
# Long enough for whatever need not wait, but less than the usual lease: what comes only when
# that has run out does not pass for prompt.
PROMPT = 9.0


def now():
    return time.monotonic()


class _Lateness(threading.Thread):
    """Sleeps for a moment, over and over, and notes how much too long that took: so much a busy
    machine, or one that is paused, takes from a process that mostly sleeps."""

    PERIOD = 0.01
    USUAL = 0.002

    def __init__(self):
        super().__init__(daemon=True)
        self.asleep_since = now()
        self.noted = collections.deque(maxlen=20000)

    def run(self):
        while True:
            self.asleep_since = now()
            time.sleep(self.PERIOD)
            self._note(self.asleep_since, now())

    def _note(self, begin, end):
        late = end - begin - self.PERIOD
        if late > self.USUAL:
            self.noted.append((end, late))

    def since(self, moment):
        """The seconds lost since then, including those that are being lost now."""
        lost = max(0.0, now() - self.asleep_since - self.PERIOD - self.USUAL)
        for end, late in reversed(self.noted.copy()):
            if end < moment:
                break
            lost += late
        return lost


_LATENESS = _Lateness()
_LATENESS.start()
# One wait is a chain of processes that each wait for the processor.
_CHAIN = 4


def patience(seconds, since=None):
    """The limit for a claim about something that takes at most `seconds` on an idle machine, and
    was done here since then, or just now."""
    stretched = seconds * PATIENCE
    return stretched + _CHAIN * _LATENESS.since(since or now() - stretched - 10)


def hang(seconds=10):
    """The limit for something that takes about so long, and must not hang."""
    return 4 * seconds * PATIENCE


class Deadline:
    """So many seconds from now, and more if the machine is late."""

    def __init__(self, seconds):
        self.begin = now()
        self.limit = seconds * PATIENCE

    def left(self):
        """The seconds that are left; 0 if the time is over."""
        passed = now() - self.begin
        if passed < self.limit:
            return self.limit - passed
        return max(0.0, self.limit + _CHAIN * _LATENESS.since(self.begin) - passed)

    def over(self):
        return self.left() <= 0


def eventually(check, timeout=PROMPT, what="", every=0.01):
    """Call check() until it returns something true, and return that; fail at the deadline."""
    deadline = Deadline(timeout)
    while True:
        try:
            last = check()
            if last:
                return last
        except (AssertionError, OSError) as error:
            last = error
        if deadline.over():
            raise AssertionError(f"not within {timeout}s: {what or check} (last: {last!r})")
        time.sleep(every)


def moment(check, timeout=PROMPT, what="", every=0.01):
    """Wait as eventually() does. Return a moment at which it certainly was not so yet: lower limits
    count from there."""
    looks = []

    def look():
        looks.append(now())
        return check()
    eventually(look, timeout, what, every)
    return looks[-2] if len(looks) > 1 else looks[0]


def let_time_pass(seconds):
    """Sleep. Only for tests whose subject is time itself."""
    time.sleep(seconds)


def parse_ms(text):
    """The milliseconds in a duration of a reply, such as '9898ms'."""
    assert text.endswith("ms") and text[:-2].isdigit(), f"not a duration in whole ms: {text!r}"
    return int(text[:-2])
