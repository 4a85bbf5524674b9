"""Waiting for things to happen, always with a deadline, never with a guess."""

import os
import time

# Slow runs (valgrind, sanitizers, a busy machine) stretch every deadline by this factor.
PATIENCE = float(os.environ.get("SYSTEM_TEST_PATIENCE", "1"))


def patience(seconds):
    """The deadline to use for something that takes `seconds` at most on an idle machine."""
    return seconds * PATIENCE


def now():
    return time.monotonic()


def eventually(check, timeout=5.0, what="", every=0.01):
    """Call check() until it returns something true, and return that; fail at the deadline."""
    deadline = now() + patience(timeout)
    last = None
    while True:
        try:
            last = check()
            if last:
                return last
        except (AssertionError, OSError) as error:
            last = error
        if now() > deadline:
            raise AssertionError(f"not within {timeout}s: {what or check} (last: {last!r})")
        time.sleep(every)


def let_time_pass(seconds):
    """Sleep. Only for tests whose subject is time itself."""
    time.sleep(seconds)


def parse_ms(text):
    """The milliseconds in a duration of a reply, such as '9898ms'."""
    assert text.endswith("ms") and text[:-2].isdigit(), f"not a duration in whole ms: {text!r}"
    return int(text[:-2])
