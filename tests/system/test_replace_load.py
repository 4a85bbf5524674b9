"""A broker whose process is replaced over and over, under the load of each kind of client."""

import contextlib
import os
import subprocess
import threading
import time
import uuid

from lib import http
from lib.broker import find_program
from lib.case import note
from lib.client import Client
from lib.resp import REDIS_PY_RELEASE, Resp
from lib.tls_client import context
from lib.wait import eventually, hang, now, patience
from test_replace_asked import leavers
from test_tls_clients import ClientsTest

try:
    import redis
except ImportError:
    redis = None


class Room:
    """What so many may be in at a time, under fences that rise."""

    def __init__(self, most=1):
        self.most, self.inside, self.fence = most, 0, 0
        self.guard = threading.Lock()

    @contextlib.contextmanager
    def entered(self, fence=None):
        with self.guard:
            self.inside += 1
            assert self.inside <= self.most, f"{self.inside} are in it"
            assert fence is None or fence > self.fence, f"{fence} after {self.fence}"
            self.fence = fence or self.fence
        yield
        with self.guard:
            self.inside -= 1


class Parties:
    """Three meet, again and again: each has its own place in each round."""

    def __init__(self):
        self.guard, self.places = threading.Lock(), {}

    def met(self, reply):
        with self.guard:
            places = self.places.setdefault(reply["generation"], set())
            assert reply["index"] not in places and reply["index"] in "012", (reply, places)
            places.add(reply["index"])


class UnderLoad(ClientsTest):
    """Many replacements after each other, and clients that notice none of them."""

    limit = 300

    def setUp(self):
        super().setUp()
        self.over = threading.Event()
        self.faults, self.threads = [], []
        self.rooms = {"x": Room(), "y": Room(), "pool": Room(2), "token": Room(), "job": Room()}
        self.parties = Parties()
        self.turns = {}  # by the name of who takes them
        self.longest = self.slowest = 0.0
        self.addCleanup(self.join)

    def join(self):
        self.over.set()
        for thread in self.threads:
            thread.join(hang())

    def begin(self, what, *args):
        who = f"{len(self.threads)}-{what.__name__}"
        self.turns[who] = 0

        def run():
            try:
                what(who, *args)
            except Exception as fault:  # pylint: disable=broad-except
                self.faults.append(f"{who}: {fault!r}")
                self.over.set()
        self.threads.append(threading.Thread(target=run))
        self.threads[-1].start()

    @contextlib.contextmanager
    def turn(self, who):
        start = now()
        yield
        self.turns[who] += 1
        self.longest = max(self.longest, now() - start)

    @staticmethod
    def expect_leaving(client):
        for event in client.events:
            assert event.text.startswith("!LEAVING"), event.text

    # What they do in a turn.

    def take_lock(self, client, name):
        fence = client.lock(name, timeout=60)
        with self.rooms[name].entered(fence):
            pass
        client.ok(f"UNLOCK {name}")

    def take_permit(self, client):
        client.ok("ACQUIRE pool limit=2", timeout=60)
        with self.rooms["pool"].entered():
            pass
        client.ok("RELEASE pool")

    def meet(self, client):
        client.send("BARRIER meet parties=3 wait=1m")
        client.wait_for(lambda: client.replies or self.over.is_set(), 60)
        reply = client.replies and client.replies.pop()
        if reply and not self.over.is_set():
            assert reply.ok, reply
            self.parties.met(reply)

    # Who they are.

    def comes_again(self, who, connect, act, *args):
        """When it is told that the broker leaves: it has nothing then."""
        while not self.over.is_set():
            client = connect()
            while not self.over.is_set() and not client.events:
                with self.turn(who):
                    act(client, *args)
            self.expect_leaving(client)
            client.close()

    def stays(self, who, connect, act, *args):
        client = connect()
        while not self.over.is_set():
            with self.turn(who):
                act(client, *args)
        self.expect_leaving(client)
        client.close()

    def connects(self, who, address):
        """No attempt is refused or waits."""
        while not self.over.is_set():
            start = now()
            with self.turn(who):
                client = Client(address)
                client.ok("PING")
            self.slowest = max(self.slowest, now() - start)
            client.close()

    def looks(self, who, web):
        while not self.over.is_set():
            with self.turn(who):
                answer = web.get("/readyz")
                assert answer.status == 200, answer.text

    def resumes(self, who, connect):
        """A session that loses its connection, and is found again."""
        while not self.over.is_set():
            with self.turn(who):
                client = connect()
                key = client.ok("SESSION grace=1m")["key"]
                fence = client.lock("resumed")
                client.reset()
                client = connect()
                assert client.ok(f"RESUME key={key}")["locks"] == "1"
                assert f" fence={fence}" in client.ok("LIST").body[0]
                client.ok("UNLOCK resumed")
                client.ok("QUIT")
                self.expect_leaving(client)
                client.close()

    def takes_tokens(self, who, path, turns):
        """As redis-py does, on one connection for some time."""
        while not self.over.is_set():
            resp = Resp(f"unix:{path}")
            for _ in range(turns):
                token = uuid.uuid4().hex
                with self.turn(who):
                    while not resp("SET", "token", token, "NX", "PX", 60000):
                        time.sleep(0.005)
                    with self.rooms["token"].entered():
                        pass
                    assert resp("EVALSHA", REDIS_PY_RELEASE, 1, "token", token) == 1
                if self.over.is_set():
                    break
            resp.close()

    def uses_redis_py(self, who, path):
        client = redis.Redis(unix_socket_path=path)
        while not self.over.is_set():
            with self.turn(who), client.lock("token", timeout=60, sleep=0.005), \
                    self.rooms["token"].entered():
                pass
        client.connection_pool.disconnect()

    def locks_by_resp(self, who, path):
        resp = Resp(f"unix:{path}")
        resp("HELLO", "3")
        while not self.over.is_set():
            with self.turn(who):
                with self.rooms["x"].entered(resp("LOCK", "x")):
                    pass
                resp("UNLOCK", "x")
        resp.close()

    def asks_the_first(self, who, connect):
        """It leaves, and alone knows who holds and waits: four."""
        while not self.over.is_set():
            with self.turn(who):
                client = connect()
                if isinstance(client, Resp):
                    assert client("LEAVING", self.first) == "OK"
                    rows = client("QUEUE", "held")
                else:
                    client.ok(f"LEAVING {self.first}")
                    rows = client.ok("QUEUE held").body
                assert len(rows) == 4, rows
                client.close()

    def resp_over_tls(self):
        resp, client = Resp.__new__(Resp), self.tls()
        resp.sock, resp.file, resp.pushes = client.sock, client.sock.makefile("rb"), []
        return resp

    def runs(self, who, path):
        """`lockbroker run` with a command that fails if another runs."""
        inside = os.path.join(self.directory, "inside")
        while not self.over.is_set():
            with self.turn(who):
                done = subprocess.run(
                    [find_program("lockbroker"), "-S", path, "run", "job", "--", "sh", "-c",
                     f"mkdir {inside} && rmdir {inside}"],
                    stderr=subprocess.PIPE, check=False, text=True)
                assert done.returncode == 0, done

    def begin_all(self, b):
        path, tcp = b.unix_path, ("127.0.0.1", b.port)
        places = (lambda: Client(tcp), lambda: Client(path), self.tls)
        for name in "xy":
            for kind, place in ((self.comes_again, places[0]), (self.stays, places[1]),
                                (self.comes_again, places[2])):
                self.begin(kind, place, self.take_lock, name)
        self.begin(self.stays, self.tls, self.take_lock, "x")
        for act in self.take_permit, self.meet:
            self.begin(self.comes_again, places[0], act)
            self.begin(self.comes_again, places[1], act)
            self.begin(self.stays, places[2], act)
        for place in places[:2]:
            self.begin(self.resumes, place)
            self.begin(self.runs, path)
        self.begin(self.takes_tokens, path, 10)
        self.begin(self.takes_tokens, path, 1000000)
        if redis:
            self.begin(self.uses_redis_py, path)
        self.begin(self.locks_by_resp, path)
        for place in (*places, lambda: Resp(f"unix:{path}"), self.resp_over_tls):
            self.begin(self.asks_the_first, place)
        self.begin(self.looks, http.of(b))
        self.begin(self.connects, tcp)
        self.begin(self.connects, path)

    # Those that hold and wait all the time.

    def begin_holders(self, b):
        """One of each kind that holds, and three that wait for one of them."""
        self.held, self.over_tls, resp = self.client(b), self.tls(), Resp(f"unix:{b.unix_path}")
        self.addCleanup(resp.close)
        resp("HELLO", "3")
        self.fences = {"held": self.held.lock("held"), "tls": self.over_tls.lock("tls"),
                       "resp": resp("LOCK", "resp")}
        self.queued = [self.client(b), self.tls(), self.client(b)]
        asks = self.client(b)
        for i, client in enumerate(self.queued):
            client.send("LOCK held")
            eventually(lambda i=i: asks.ok("STATUS held")["waiters"] == str(i + 1), 5, "it waits")
        self.resp = resp
        self.done = os.path.join(self.directory, "done")
        self.addCleanup(self.touch)
        self.job = subprocess.Popen(
            [find_program("lockbroker"), "-S", b.unix_path, "run", "long", "--", "sh", "-c",
             f"while ! [ -e {self.done} ]; do sleep 0.05; done"])
        eventually(lambda: asks.ok("STATUS long")["state"] == "held", 10, "it runs")
        asks.close()

    def touch(self):
        if os.path.isdir(self.directory):
            with open(self.done, "w", encoding="ascii"):
                pass

    def end_holders(self, b):
        """Who held still holds, and who waited has its turn in the order in which they came."""
        asks = self.client(b)
        for name, fence in self.fences.items():
            self.assertEqual(int(asks.ok(f"STATUS {name}")["fence"]), fence)
        self.assertEqual(asks.ask("TRYLOCK long").status, "BUSY")
        self.over_tls.ok("UNLOCK tls")
        self.resp("UNLOCK", "resp")
        before, fence = self.held, self.fences["held"]
        for client in self.queued:
            self.assertEqual(client.replies, [])
            before.ok("UNLOCK held")
            reply = client.reply()
            self.assertGreater(reply.fence, fence)
            before, fence = client, reply.fence
        before.ok("UNLOCK held")
        self.touch()
        self.assertEqual(self.job.wait(hang()), 0)
        self.resp.close()
        for client in (self.held, self.over_tls, *self.queued):
            self.expect_leaving(client)
            client.close()
        asks.close()

    # The replacements.

    def replace_often(self, times, b):
        self.begin_holders(b)
        b.replace()
        asks = self.client(b)
        self.first = leavers(asks)[0]["instance"]
        asks.close()
        fds = b.process.open_fds()
        self.begin_all(b)
        rss = None
        for _ in range(times - 1):
            before = self.grand_total()
            b.replace()
            rss = rss or b.process.rss_bytes()
            eventually(lambda before=before: self.grand_total() > before + 20 or
                       self.over.is_set(), 20, "it goes on")
            if self.over.is_set():
                break
            self.forget_ended(b)
        self.over.set()
        self.join()
        self.assertEqual(self.faults, [])
        self.check_rest(b, times, fds, rss)

    def grand_total(self):
        return sum(self.turns.values())

    @staticmethod
    def forget_ended(b):
        for old in b.replaced[:]:
            if not old.alive:
                assert old.returncode == 0
                b.replaced.remove(old)

    def check_rest(self, b, times, fds, rss):
        """Only those that stayed have kept a process."""
        self.end_holders(b)
        asks = self.client(b)
        eventually(lambda: asks.stats()["leaving"] == "0", 25, "all have left")
        self.assertEqual(b.log_lines("leaving-died"), [])
        self.assertEqual(asks.stats()["replaced_total"], str(times))
        note(" ".join(f"{who}={turns}" for who, turns in self.turns.items()))
        note(f"{self.grand_total()} turns, the longest {self.longest:.1f} s; "
             f"a connection took at most {self.slowest * 1000:.0f} ms")
        self.assertGreater(min(self.turns.values()), times / 10)
        self.assert_within(0, self.longest, patience(5))
        self.assert_within(0, self.slowest, patience(0.1))
        for places in list(self.parties.places.values())[:-1]:
            self.assertEqual(len(places), 3)
        now_fds, now_rss = b.process.open_fds(), b.process.rss_bytes()
        note(f"descriptors {fds} -> {now_fds}, resident {rss >> 10} -> {now_rss >> 10} kB")
        self.assertLessEqual(now_fds, fds + 8)
        self.assertLessEqual(now_rss, rss * 1.5)

    def replaceable(self, *server, **settings):
        return self.tls_broker(*server, more=[{"http": "127.0.0.1:0"}], **settings)

    def test_twenty(self):
        self.replace_often(20, self.replaceable(self.redis(), trust_new=True))

    def test_twenty_with_an_embedded_redis(self):
        self.replace_often(20, self.replaceable())

    def test_eighty(self):
        self.replace_often(80, self.replaceable(self.redis(), trust_new=True))


class UnderWay(ClientsTest):
    def test_a_handshake_that_is_under_way_when_the_process_is_replaced(self):
        broker = self.tls_broker(self.redis(), trust_new=True)
        sock, later = self.connect(), self.tls()
        later.ok("PING")
        later.close()
        old = broker.replace()
        sock = context(self.file("ca")).wrap_socket(sock, server_hostname="localhost")
        sock.sendall(b"PING\r\n")
        self.assertIn(b"OK", sock.recv(100))
        self.assertTrue(old.alive)
        sock.close()
        self.assertEqual(old.wait(), 0)
