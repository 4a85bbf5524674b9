"""The way back from a bad successor: the process that it has replaced accepts again."""

import signal

from lib import http
from lib.client import Client
from lib.resp import Resp
from lib.wait import eventually
from test_tls_clients import ClientsTest


class Returns(ClientsTest):
    limit = 60

    def prepare(self, **settings):
        self.b = self.tls_broker(self.redis(), more=[{"http": "127.0.0.1:0"}], trust_new=True,
                                 locks={"lease": "2s"}, **settings)
        self.web = http.of(self.b)
        self.tcp = ("127.0.0.1", self.b.port)
        self.holder, self.waiter, self.idle = self.clients(3, self.b)
        self.fence = self.holder.lock("a")
        self.waiter.send("LOCK a")

    def successor_is_killed(self):
        bad, old = self.b.process, self.b.replaced.pop()
        before = len(self.b.log_lines("returned clients="))
        self.assertTrue(old.alive)
        bad.kill()
        eventually(lambda: len(self.b.log_lines("returned clients=")) > before, 5, "it returns")
        self.b.process = old

    def all_is_as_before(self):
        for place in (lambda: Client(self.tcp), lambda: self.client(self.b), self.tls):
            client = place()
            self.addCleanup(client.close)
            client.ok("READY")
            self.assertEqual(client.ask("TRYLOCK a").status, "BUSY")
            name = f"new-{id(client)}"
            client.lock(name)
            client.ok(f"UNLOCK {name}")
        self.assertEqual(self.web.get("/readyz").status, 200)
        asks = self.client(self.b)
        self.assertEqual(asks.stats()["leaving"], "0")
        self.assertEqual(self.holder.ok("LOCK a").fence, self.fence)
        self.holder.ok("UNLOCK a")
        eventually(lambda: [row.split()[-1] for row in asks.ok("BROKERS").body
                            if "leaving=1" not in row and "missing=1" not in row] == ["self=1"],
                   20, "BROKERS says who is there")

    def test_if_it_is_killed_at_once(self):
        self.prepare()
        resp = Resp(f"unix:{self.b.unix_path}")
        resp("SET", "token", "mine", "NX", "PX", "600000")
        resp.close()
        self.b.replace()
        self.successor_is_killed()
        self.all_is_as_before()
        # It can be replaced again, by a better one, which has what is of no connection.
        self.b.replace()
        asks = self.client(self.b)
        eventually(lambda: asks.stats()["token_holds"] == "1", 20, "it is handed over again")
        asks.close()
        self.holder.ok("UNLOCK a")
        self.assertGreater(self.waiter.reply().fence, self.fence)
        self.client(self.b).ok("READY")

    def test_with_those_that_left_before(self):
        self.prepare()
        gone = self.client(self.b)
        key = gone.ok("SESSION grace=1m")["key"]
        gone.lock("kept")
        gone.reset()
        first = self.b.replace()
        stays = self.client(self.b)
        stays.ok("PING")
        self.b.replace()
        self.successor_is_killed()
        asks = self.client(self.b)
        self.assertEqual(asks.stats()["leaving"], "1")
        back = self.client(self.b)
        self.assertEqual(back.ok(f"RESUME key={key}")["locks"], "1")
        for client in self.holder, self.waiter, self.idle, back:
            client.send("QUIT")
            client.close()
        self.assertEqual(first.wait(), 0)
        eventually(lambda: asks.stats()["leaving"] == "0", 5, "it has left")
        self.assertEqual(self.b.log_lines("leaving-died"), [])

    def test_not_if_it_was_stopped(self):
        self.prepare()
        old = self.b.replace()
        self.b.signal(signal.SIGTERM)
        self.assertEqual((self.b.process.wait(), old.wait()), (0, 0))
        self.assertEqual(self.b.log_lines("returned "), [])

    def test_not_after_ten_seconds(self):
        self.prepare()
        old = self.b.replace()
        listening = len(old.listening_ports())
        self.assertGreater(listening, 0)
        eventually(lambda: old.listening_ports() == [], 15, "it gives its places up")
        self.b.process.kill()
        self.b.process = self.b.replaced.pop()
        eventually(lambda: self.b.log_lines("successor-gone"), 5, "it is noticed")
        self.assertEqual(self.b.log_lines("returned "), [])
        with self.assertRaises(OSError):
            Client(self.tcp)
        self.holder.ok("PING")
