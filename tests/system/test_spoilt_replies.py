"""What Redis says is spoilt on its way: any byte, number, word or text. No broker ends, and once
that is over, names are granted again. SPOIL_SEED, SPOIL_SECONDS, SPOIL_RATE (of so many replies one)
and SPOIL_CLIENTS make other and longer runs."""

import os
import random

from lib.case import SystemTest, grace_of, note, pad_of
from lib.spoil import Spoiler, shop
from lib.wait import patience

LEASE = 1
SECONDS = float(os.environ.get("SPOIL_SECONDS", "4"))
RATE = int(os.environ.get("SPOIL_RATE", "20"))
CLIENTS = int(os.environ.get("SPOIL_CLIENTS", "6"))


class SpoiltReplies(SystemTest):
    limit = 60 + 2 * SECONDS

    def spoiler(self, server, seed):
        spoiler = Spoiler(server.unix_address, seed)
        self.addCleanup(spoiler.stop)
        self.spoilers.append(spoiler)
        return spoiler.address

    def spoil_for_a_while(self):
        for spoiler in self.spoilers:
            spoiler.rate = RATE
        asked = shop(self.brokers, SECONDS, self.seed, CLIENTS)
        spoilt = sum(spoiler.spoilt for spoiler in self.spoilers)
        for spoiler in self.spoilers:
            spoiler.rate = 0
            spoiler.cut()
        note(f"seed {self.seed}: {spoilt} replies of {asked} requests were spoilt")
        for broker in self.brokers:
            self.assertTrue(broker.process.alive, f"{broker.name} has ended; seed {self.seed}")

    def grants_again(self):
        """Whatever the brokers have come to believe; all clients have gone."""
        limit = patience(grace_of(LEASE) + LEASE + pad_of(LEASE) + 4)
        for broker in self.brokers:
            client = self.client(broker)
            for name in [f"fresh-{broker.name}"] + [f"n{number}" for number in range(7)]:
                reply = client.ask(f"LOCK {name} wait={int(limit)}s", limit + 10)
                while reply.code == "unavailable" and limit > 0:
                    limit -= 0.5
                    reply = client.ask(f"LOCK {name} wait={int(limit) + 1}s", limit + 10)
                self.assertTrue(reply.ok, (broker.name, name, self.seed, reply))
                client.ok(f"UNLOCK {name}", 10)

    def prepare(self):
        self.spoilers = []
        self.seed = int(os.environ.get("SPOIL_SEED", random.randrange(10 ** 6)))
        note(f"SPOIL_SEED={self.seed}")

    def check(self, **settings):
        for number in range(2):
            nodes = [self.spoiler(server, f"{self.seed}/{number}/{at}")
                     for at, server in enumerate(self.servers)]
            redis = {"nodes": nodes, "reply_timeout": "500ms", **settings}
            self.broker(nodes[0], lease=LEASE, trust_new=True, ready=False, redis=redis,
                        locks={"warm": "100ms"})
        for broker in self.brokers:
            broker.wait_granting()
        self.spoil_for_a_while()

    def test_standalone(self):
        self.prepare()
        self.redis()
        self.check()
        self.grants_again()

    def test_quorum(self):
        """A set of servers that was spoilt, and written, may have no majority any more; so only
        that no broker ends is claimed."""
        self.prepare()
        for _ in range(3):
            self.redis()
        self.check(mode="quorum")
