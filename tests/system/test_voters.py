"""Who votes in a quorum: brokers with other servers are refused, and servers are replaced."""

import shlex
import socket
import unittest

from lib.case import SystemTest, grace_of
from lib.history import Contender, check_history, granted, stop_contenders
from lib.wait import eventually, let_time_pass, now

LEASE = 1


class Monitor:
    """The calls that a server gets, word by word."""

    def __init__(self, server):
        self.sock = socket.create_connection(("127.0.0.1", server.port), 10)
        self.sock.sendall(b"MONITOR\r\n")
        self.lines = self.sock.makefile("r")
        self.lines.readline()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.sock.close()

    def call(self, operation):
        """Waits for a call of the script that begins with an operation."""
        for line in self.lines:
            words = shlex.split(line)[3:]
            if words[0].lower() == "evalsha" and operation in words:
                return words
        raise AssertionError("the connection broke")


class Voters(SystemTest):
    """Servers, of which each broker has its own list."""

    limit = 60

    def setUp(self):
        super().setUp()
        self.nodes = [self.redis(tcp=True) for _ in range(5)]

    def settings(self, numbers):
        return {"mode": "quorum", "nodes": [self.nodes[number - 1].address for number in numbers],
                "reply_timeout": "500ms", "trust_new": True}

    def start(self, *numbers, ready=True):
        return self.broker(self.nodes[0], lease=LEASE, ready=ready, redis=self.settings(numbers))

    def restart(self, broker, *numbers):
        broker.stop()
        broker.settings["redis"].update(self.settings(numbers))
        broker.start()

    def is_refused(self, broker, text, client=None):
        client = client or self.client(broker)
        reply = eventually(lambda: self.refusal(client, text), 10, "a refusal that says why")
        self.assertEqual(reply.code, "unavailable")
        eventually(lambda: broker.log_lines(f"quorum-servers.*{text}"), 5)

    @staticmethod
    def refusal(client, text):
        reply = client.ask("TRYLOCK other", timeout=10)
        assert not reply.ok, "granted by servers that vote for others"
        return reply if text in reply.text else None

    def test_with_another_server(self):
        here = self.client(self.start(1, 2, 3))
        here.lock("x")
        there = self.start(1, 2, 4, ready=False)
        self.is_refused(there, self.nodes[3].address)
        let_time_pass(2 * grace_of(LEASE))
        self.is_refused(there, self.nodes[3].address)
        self.assertTrue(here.silent(), "lost")
        here.lock("other")

    def test_with_one_server_in_common(self):
        """Two majorities would miss each other, if these brokers were allowed to grant."""
        here = self.client(self.start(1, 2, 3))
        here.lock("other")
        there = self.start(3, 4, 5, ready=False)
        self.is_refused(there, "make redis.nodes the same")
        here.lock("new")

    def test_a_new_quorum_begins_with_all_its_servers(self):
        self.nodes[2].kill()
        here = self.start(1, 2, 3, ready=False)
        self.is_refused(here, "all of its servers")
        self.nodes[2].start()
        self.client(here).lock("other", timeout=10)

    def test_brokers_start_without_a_minority(self):
        fence = self.client(self.start(1, 2, 3)).lock("x")
        self.nodes[2].kill()
        self.brokers[0].stop()
        there = self.start(1, 2, 3)
        self.assertGreater(self.client(there).lock("x", timeout=10), fence)

    def test_one_server_twice(self):
        one = self.nodes[0]
        broker = self.broker(one, lease=LEASE, ready=False, redis={
            **self.settings([1, 2]),
            "nodes": [one.address, self.nodes[1].address, f"localhost:{one.port}"]})
        self.is_refused(broker, "the same server")

    def test_replacing_a_server(self):
        """One broker after the other, while clients contend: brokers of the new list wait for the
        last one of the old list. Nobody is granted what another has."""
        brokers = [self.start(1, 2, 3) for _ in range(2)]
        crowd = [Contender(broker.unix_path, "x") for broker in brokers]
        for one in crowd:
            one.start()
        self.addCleanup(stop_contenders, crowd)
        begin = now()
        eventually(lambda: all(granted([one], begin) for one in crowd), 20)
        self.nodes[2].kill()
        stop_contenders(crowd[:1], 10)
        self.restart(brokers[0], 1, 2, 4)
        self.is_refused(brokers[0], self.nodes[3].address)
        begin = now()
        eventually(lambda: granted(crowd[1:], begin), 10, "the old list goes on")
        stop_contenders(crowd[1:], 10)
        self.restart(brokers[1], 1, 2, 4)
        again = [Contender(broker.unix_path, "x") for broker in brokers]
        for one in again:
            one.start()
        self.addCleanup(stop_contenders, again)
        begin = now()
        eventually(lambda: all(granted([one], begin) for one in again), grace_of(LEASE) + 20,
                   "grants begin again")
        # The new one votes: another one may die.
        let_time_pass(grace_of(LEASE))
        self.nodes[0].kill()
        begin = now()
        eventually(lambda: all(granted([one], begin) for one in again), grace_of(LEASE) + 20,
                   "the new server votes")
        stop_contenders(again, 10)
        check_history(crowd + again)

    def guard(self, number, *fields):
        return [value or "" for value in self.nodes[number - 1].cmd("HMGET", "lock:@guard", *fields)]

    def ids(self, *numbers):
        return ",".join(sorted(self.guard(number, "node")[0] for number in numbers))

    def test_a_set_that_came_to_nothing(self):
        """Two brokers with different lists drew two sets of one version. A server that has pledged to
        the one that was not agreed on is taken over as a new one."""
        broker = self.start(1, 2, 3)
        self.client(broker).lock("x")
        self.restart(broker, 1, 2, 4)
        self.client(broker).lock("x", timeout=grace_of(LEASE) + 10)
        for number in (1, 2, 4):
            eventually(lambda number=number: self.guard(number, "open") == [""] and
                       self.guard(number, "set")[0].endswith(self.ids(1, 2, 4)), 10)
        version = int(self.guard(1, "set")[0].split(":")[0])
        broker.stop()
        self.nodes[2].cmd("HSET", "lock:@guard", "set", f"{version}:{self.ids(1, 2, 3)}",
                          "open", "p3")
        self.nodes[3].kill()
        broker.settings["redis"].update(self.settings([1, 2, 3]))
        broker.start()
        self.client(broker).lock("x", timeout=2 * grace_of(LEASE) + 20)
        eventually(lambda: self.guard(1, "set")[0] == f"{version + 1}:{self.ids(1, 2, 3)}", 10)

    def test_who_has_pledged_stays(self):
        """The script itself compares that when it runs: what the broker knows of it may be past. And
        only whoever was settled in the set before has a say in the next."""
        server = self.nodes[0]
        with Monitor(server) as monitor:
            broker = self.start(1, 2, 3)
            call = monitor.call("enlist")
        broker.stop()  # it would put right what it finds here
        this = f"7:{self.ids(1, 2, 3)}"
        other = f"7:{self.ids(1, 2)},{'f' * 16}"
        following = "8" + other[1:]
        later = "9" + other[1:]
        for to, how, mark, left in (
                (other, "u", "p3", None), (other, "u", "o", None), (other, "u", "", None),
                (other, "u", "k3", "k3"), (other, "u", "n", "n"),
                (other, "m", "p3", "k3"), (other, "m", "o", "n"), (other, "m", "", "n"),
                (following, "m", "", "k3"), (following, "m", "k3", "n"),
                (following, "m", "p3", "n"), (following, "m", "n", "n"),
                (later, "m", "", "n"),
                (this, "p", "k3", "p3"), (this, "p", "n", "o"), (this, "p", "", "")):
            with self.subTest(to=to[0], how=how, mark=mark):
                server.cmd("HSET", "lock:@guard", "set", this)
                server.cmd("HDEL", "lock:@guard", "open")
                if mark:
                    server.cmd("HSET", "lock:@guard", "open", mark)
                server.cmd(*call[:-1], f"{self.ids(1)} {to} {this} {how} ")
                self.assertEqual(self.guard(1, "set", "open"),
                                 [this, mark] if left is None else [to, left])

    def test_too_many_servers_at_once(self):
        broker = self.start(1, 2, 3)
        self.client(broker).lock("x")
        self.restart(broker, 1, 4, 5)
        self.is_refused(broker, "make redis.nodes the same")
        # As the manual says: all brokers are stopped, and the guards deleted.
        broker.stop()
        self.nodes[0].cmd("DEL", "lock:@guard")
        broker.start()
        self.client(broker).lock("y", timeout=grace_of(LEASE) + 10)


if __name__ == "__main__":
    unittest.main()
