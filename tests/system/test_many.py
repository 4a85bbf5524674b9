"""Very many leases at once: what is done for them keeps nobody waiting.

LEASES=300000 is the long run.
"""

import os
import time

from lib.case import SystemTest, note
from lib.wait import now, patience

LEASES = int(os.environ.get("LEASES", "20000"))
A_SESSION = 9000
A_BATCH = 500
# Some tenths of that on an idle machine.
PING_MOST_S = float(os.environ.get("PING_MOST_S", "2"))


class Many(SystemTest):

    limit = 30 + LEASES // 2000

    def setUp(self):
        super().setUp()
        self.server = self.redis()
        self.broker(self.server, lease=10, trust_new=True)

    def hold(self):
        """All leases, in as few sessions as limits.holds allows."""
        for first in range(0, LEASES, A_SESSION):
            client = self.client(timeout=60)
            last = min(first + A_SESSION, LEASES)
            for start in range(first, last, A_BATCH):
                batch = range(start, min(start + A_BATCH, last))
                client.send(*(f"@{n} LOCK n{n}" for n in batch))
                for n in batch:
                    self.assertEqual(client.reply(60, tag=str(n)).status, "OK")

    def slowest_ping(self, client, seconds):
        """All that follow each other for so long."""
        slowest, end = 0, time.monotonic() + seconds
        while time.monotonic() < end:
            begin = time.monotonic()
            client.ask("PING", 60)
            slowest = max(slowest, time.monotonic() - begin)
            time.sleep(0.002)
        return slowest

    def test_none_is_lost_with_the_data_of_redis(self):
        self.hold()
        client = self.client()
        before = self.slowest_ping(client, 5)
        begin = now()
        self.server.cmd("FLUSHALL")
        slowest = self.slowest_ping(client, 12)
        stats = client.stats()
        said = (f"{LEASES} leases: {stats['lost_total']} lost, "
                f"{stats['reasserted_total']} written again; slowest PING of another client "
                f"{slowest:.3f} s, and {before:.3f} s before; "
                f"{stats['things_at_a_time_max']} things a step")
        note(said)
        self.assertEqual(int(stats["lost_total"]), 0, said)
        self.assertGreaterEqual(int(stats["reasserted_total"]), LEASES)
        self.assertLessEqual(int(stats["things_at_a_time_max"]), 1000)
        self.assertLess(slowest, patience(PING_MOST_S, begin), said)
