"""Clients that go by their own clocks, and brokers and servers that die, freeze and forget."""

import random
import threading

from lib.case import SystemTest
from lib.cluster import Cluster
from lib.ports import free_port
from lib.resp import RedisError
from lib.sentinel import NAME, Watched
from lib.stress import Crowd
from lib.wait import eventually, hang, let_time_pass

LEASE = 1


class Trouble(threading.Thread):
    """One deed after the other, drawn at random. Each leaves everything running. What a deed has
    started dies with this thread, so that goes on until the test is over."""

    def __init__(self, seed, deeds, pause, over):
        super().__init__(daemon=True)
        self.random = random.Random(f"{seed}/trouble")
        self.deeds = deeds
        self.pause = pause
        self.stopping = threading.Event()
        self.stopped = threading.Event()
        self.over = over
        self.done = []
        self.failed = None

    def run(self):
        try:
            while not self.stopping.wait(self.random.uniform(*self.pause)):
                deed = self.random.choice(self.deeds)
                self.done.append(deed.__name__)
                deed(self)
        # pylint: disable-next=broad-except
        except Exception as failure:
            self.failed = failure
        self.stopped.set()
        self.over.wait()

    def stop(self):
        self.stopping.set()
        assert self.stopped.wait(hang(90)), f"the last of {self.done} did not end"
        if self.failed:
            raise self.failed

    def freeze(self, things):
        one = self.random.choice(things)
        one.freeze()
        try:
            let_time_pass(self.random.choice((0.3, 1, 2.5)) * LEASE * self.random.random())
        finally:
            one.thaw()


class Stress(SystemTest):
    """A minute for each topology. Nobody is granted what another counts on, and everybody is
    answered when all is well again."""

    limit = 240
    seconds = 60

    def setUp(self):
        super().setUp()
        self.over = threading.Event()
        # Last of all: cleanups run in reverse.
        self.addCleanup(self.over.set)

    def brokers_of(self, count=3, node=None, **redis):
        for _ in range(count):
            directory = f"{self.directory}/b{len(self.brokers) + 1}"
            listen = [{"unix": f"{directory}/s"}, {"tcp": f"127.0.0.1:{free_port()}"}]
            self.broker(node, lease=LEASE, ready=False, listen=listen, redis=redis)
        for broker in self.brokers:
            broker.wait_granting(40)

    def broker_deeds(self):
        def freeze_a_broker(trouble):
            trouble.freeze(self.brokers)

        def kill_a_broker(trouble):
            one = trouble.random.choice(self.brokers)
            one.kill()
            one.expected_status = 0
            one.start()

        def stop_a_broker(trouble):
            one = trouble.random.choice(self.brokers)
            one.stop()
            one.start()

        return [freeze_a_broker] * 3 + [kill_a_broker, stop_a_broker]

    @staticmethod
    def server_deeds(servers, forgetful=True):
        def freeze_a_server(trouble):
            trouble.freeze(servers)

        def empty_a_server(trouble):
            trouble.random.choice(servers).cmd("FLUSHALL")

        def restart_a_server(trouble):
            trouble.random.choice(servers).restart()

        return [freeze_a_server] * 4 + [empty_a_server, restart_a_server] * forgetful

    def stress(self, deeds, grants):
        seed = random.randrange(1 << 32)
        crowd = Crowd(self.brokers, seed)
        trouble = Trouble(seed, self.broker_deeds() + deeds, (0.2, 3),
                          self.over)
        trouble.start()
        try:
            crowd.run(self.seconds)
        finally:
            trouble.stop()
        crowd.finish(hang(30))
        self.assertEqual(crowd.faults, [], f"seed {seed}, {trouble.done}")
        self.assertGreater(crowd.grants, grants, trouble.done)
        for broker in self.brokers:
            client = self.client(broker, timeout=hang(30))
            for name in sorted(crowd.fences):
                client.lock(name)
                client.ok(f"UNLOCK {name}")

    def test_it_can_fail(self):
        """What the check is worth: with keys deleted behind the brokers' backs it finds that."""
        server = self.redis()
        self.brokers_of(node=server)
        crowd = Crowd(self.brokers, random.randrange(1 << 32))

        def delete_keys(_trouble):
            server.cmd("DEL", "lock:x0", "lock:x1")

        trouble = Trouble(crowd.seed, [delete_keys], (0.05, 0.2), self.over)
        trouble.start()
        try:
            for _ in range(60):
                crowd.run(1)
                if any("believed" in fault for fault in crowd.faults):
                    return
        finally:
            trouble.stop()
        self.fail(f"{crowd.grants} grants, and nothing was found")

    def test_standalone(self):
        server = self.redis()
        self.brokers_of(node=server)
        self.stress(self.server_deeds([server]), 100)

    def test_quorum(self):
        nodes = [self.redis() for _ in range(3)]
        self.brokers_of(node=nodes[0], mode="quorum", nodes=[node.address for node in nodes],
                        reply_timeout="300ms")
        self.stress(self.server_deeds(nodes), 50)

    def test_embedded(self):
        self.brokers_of(1)
        self.stress([], 100)

    def sentinels(self, confirm):
        watched = Watched(self)
        self.brokers_of(node=watched.addresses[0], mode="sentinel", nodes=watched.addresses,
                        master=NAME, replicas=confirm)
        for server in watched.servers:
            eventually(lambda: server.cmd("HEXISTS", "lock:@guard", "id"), 10, "guard replicated")

        def hand_over(_trouble):
            try:
                watched.sentinels[0].cmd("SENTINEL", "FAILOVER", NAME)
            except RedisError:
                pass

        self.stress(self.server_deeds(watched.servers, forgetful=False) + [hand_over], 50)

    def test_sentinel(self):
        self.sentinels(0)

    def test_replicated(self):
        self.sentinels(1)

    def test_cluster(self):
        cluster = Cluster(self.directory, 3, 1)
        self.addCleanup(cluster.stop)
        self.brokers_of(mode="cluster", nodes=cluster.addresses[:2], replicas=1)

        def fail_over(trouble):
            try:
                trouble.random.choice(cluster.nodes).cmd("CLUSTER", "FAILOVER")
            except RedisError:
                pass

        self.stress(self.server_deeds(cluster.nodes, forgetful=False) + [fail_over], 50)
