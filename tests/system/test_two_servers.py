"""An address that leads to another server from one connection to the next.

A load balancer, a Kubernetes service or a name in the DNS may do that. A broker whose connections
lead to two servers would have half of its locks on each; it notices, and moves to one of them.
"""

from lib.case import SystemTest
from lib.wait import eventually

NAMES = [f"n{number}" for number in range(12)]


class TwoServers(SystemTest):

    lease = 2

    def setUp(self):
        super().setUp()
        self.first, self.second = self.redis(), self.redis()
        self.way = self.proxy(self.first)
        self.moved = self.broker(self.way.address, lease=self.lease, redis={"trust_new": True})

    def links(self, server, subscriber):
        """The ids of the broker's connections to a server."""
        return [row["id"] for row in server.clients()
                if self.moved.name in row["name"] and (row["sub"] != "0") == subscriber]

    def lead_to_second(self):
        """Later connections lead there; the others stay where they are."""
        self.way.upstream = self.second.unix_address

    def has_moved(self):
        """None of its connections is left at the first server."""
        eventually(lambda: not self.links(self.first, False) and not self.links(self.first, True),
                   10, "the first server is left")
        eventually(lambda: len(self.links(self.second, False)) == 2
                   and len(self.links(self.second, True)) == 1, 10, "the second one is used")
        self.assertEqual(len(self.moved.log_lines("redis-two-servers")), 1)

    def test_one_command_link_leads_elsewhere(self):
        """All go there; whatever the other server keeps is reported as lost, and nothing is held on
        both."""
        holder = self.client(self.moved)
        for name in NAMES:
            holder.lock(name)
        there = self.broker(self.second, lease=self.lease, trust_new=True)
        rival = self.client(there)
        self.lead_to_second()
        self.first.cmd("CLIENT", "KILL", "ID", self.links(self.first, False)[0])
        self.has_moved()
        granted = {name for name in NAMES if rival.ask(f"TRYLOCK {name}").ok}
        lost = set()
        while not granted <= lost:
            lost.add(holder.event(10, kind="LOST").text.split()[1])

    def test_the_subscription_leads_elsewhere(self):
        """Its messages would come from the wrong server."""
        self.lead_to_second()
        self.first.cmd("CLIENT", "KILL", "ID", self.links(self.first, True)[0])
        self.has_moved()
