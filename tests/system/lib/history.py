"""Clients that fight for a name, and a check of what they were told.

Each contender notes when it held the name for sure: from the arrival of the grant to the
sending of the release, to the arrival of the loss, or to the end of what it was last told to
be valid, whichever is first. No two such intervals may overlap, and fences must rise.
"""

import threading
import time

from .client import Client
from .wait import eventually, hang, now, parse_ms


class Contender(threading.Thread):
    """Locks and unlocks one name, over and over, until told to stop."""

    def __init__(self, address, name, think=0.002):
        super().__init__(daemon=True)
        self.address = address
        self.name = name
        self.think = think
        self.held = []
        self.fault = None
        self.stopping = False

    def run(self):
        while not self.stopping:
            try:
                self._session()
            except (OSError, AssertionError) as error:
                self.fault = error
                time.sleep(0.02)

    def _session(self):
        client = Client(self.address)
        try:
            while not self.stopping:
                self._round(client)
        finally:
            client.close()

    def _round(self, client):
        reply = client.ask(f"LOCK {self.name} wait=500ms")
        if not reply.ok:
            if reply.status == "ERR":
                time.sleep(0.02)
            return
        begin, asked = reply.at, now()
        valid = parse_ms(client.ok("PING").fields.get("valid", "0ms"))
        sure = asked + valid / 1000
        time.sleep(self.think)
        client.pump()
        lost = [event.at for event in client.events if event.status == "!LOST"]
        end = min([now(), sure] + lost)
        self.held.append((begin, end, reply.fence))
        client.events.clear()
        client.ask(f"UNLOCK {self.name}")


def run_contenders(addresses, name, seconds, grants, each=2):
    """Let clients of all brokers fight for a name, for so long and until there were so many grants.
    Return the contenders."""
    crowd = [Contender(address, name) for address in addresses for _ in range(each)]
    for one in crowd:
        one.start()
    time.sleep(seconds)
    return stop_contenders(crowd, grants)


def granted(crowd, since=0.0):
    return sum(begin > since for one in crowd for begin, _, _ in one.held)


def stop_contenders(crowd, grants=0, since=0.0):
    """When there were so many grants (since then), and each contender had one: on a slow machine
    that takes longer."""
    eventually(lambda: granted(crowd, since) >= grants and (
        grants == 0 or all(one.held for one in crowd)), hang(), f"{grants} grants")
    for one in crowd:
        one.stopping = True
    for one in crowd:
        one.join(hang())
        assert not one.is_alive(), "a contender was never answered"
    return crowd


def check_history(crowd):
    """Fail if two held the name at once, or if a fence did not rise. Return the grants."""
    # A grant that was read together with its loss was never certainly held.
    held = sorted(interval for one in crowd for interval in one.held
                  if interval[1] - interval[0] > 0.001)
    for (begin, end, fence), (begin_2, _, fence_2) in zip(held, held[1:]):
        assert fence_2 > fence, f"broken promise: fence {fence_2} was granted after {fence}"
        assert begin_2 >= end, \
            f"broken promise: held twice for {(end - begin_2) * 1000:.1f} ms: " \
            f"fences {fence} and {fence_2}"
    return len(held)
