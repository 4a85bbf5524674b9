"""Keys and counters that no broker can have written: any client of Redis can write them. No broker
ends, the next LOCK is granted, and what was spoilt heals without anybody's help."""

from lib.case import SystemTest, grace_of, pad_of, top_fence
from lib.resp import Resp
from lib.wait import eventually

LEASE = 1
STRANGER = "x.0123456789abcdef.5"
SURE, MOST = 2 ** 52, 2 ** 53  # believed below, and never from there on
FENCES = (0, SURE - 1, SURE, MOST - 2)
DAY = 24 * 60 * 60


class HostileValues(SystemTest):
    limit = 60

    def prepare(self, brokers=2, **options):
        self.server = self.redis(**options)
        for _ in range(brokers):
            self.broker(self.server, lease=LEASE, trust_new=True, locks={"warm": 0})
        self.lines = [self.client(broker) for broker in self.brokers]
        self.fence = 0
        self.everybody_grants()

    def clock_us(self):
        seconds, us = self.server.cmd("TIME")
        return int(seconds) * 1000000 + int(us)

    def grants(self, client, name="fresh"):
        """Its fence, which a broker that has told a higher one does not tell."""
        fence = client.lock(name, timeout=10)
        client.ok(f"UNLOCK {name}")
        return fence

    def everybody_grants(self):
        for client in self.lines:
            self.grants(client)

    def resp(self, broker):
        connection = Resp(f"unix:{broker.unix_path}")
        self.addCleanup(connection.close)
        return connection

    def ask_everything(self, name):
        """Whatever is answered, the broker that is asked lives on."""
        for broker, client in zip(self.brokers, self.lines):
            for request in (f"STATUS {name}", f"QUEUE {name}", f"TRYLOCK {name}",
                            f"TRYLOCK {name} mode=shared", f"LOCK {name} wait=20ms"):
                client.ask(request)
            client.ask(f"UNLOCK {name}")
            connection = self.resp(broker)
            for words in (("GET", name), ("PTTL", name), ("PEXPIRE", name, "60000"),
                          ("SET", name, "mine", "NX", "PX", "50"), ("DEL", name + "-none")):
                connection.send(*words)
                connection.read()

    def check_keys(self):
        """Of each form and fence; the broker that is asked, and those that come afterwards."""
        for fence in FENCES:
            for form in (f"{STRANGER}|{fence}|tok", f"{STRANGER}|{fence}", f"@shared|{fence}",
                         f"@shared|{fence}|0123456789abcdef", f"{STRANGER}|{fence}|a b\n|u"):
                with self.subTest(value=form):
                    self.server.cmd("SET", "lock:odd", form, "PX", "600000")
                    self.ask_everything("odd")
                    self.everybody_grants()
                    self.server.cmd("DEL", "lock:odd")
                    self.lines[0].lock("odd", timeout=10)
                    self.lines[0].ok("UNLOCK odd")

    def test_keys(self):
        self.prepare(brokers=1)
        self.check_keys()

    def test_keys_and_two_brokers(self):
        self.prepare()
        self.check_keys()

    def test_keys_that_are_taken_up(self):
        """A broker dies, and the other goes through all keys."""
        self.prepare()
        for number, fence in enumerate(FENCES):
            self.server.cmd("SET", f"lock:odd-{number}", f"{STRANGER}|{fence}|tok", "PX", "600000")
            self.server.cmd("SET", f"lock:two words {number}", f"{STRANGER}|{fence + 1}|tok",
                            "PX", "600000")
            self.server.cmd("SET", f"lock:odder-{number}", f"{STRANGER}|{fence}|a b\nc|u",
                            "PX", "600000")
        self.server.cmd("SET", "lock:good", f"{STRANGER}|77|tok", "PX", "600000")
        self.brokers[1].kill()
        eventually(lambda: self.server.get("good").startswith("b1."), 20, "it is taken up")
        self.lines.pop()
        self.everybody_grants()
        self.assertEqual(self.server.get("odd-0"), f"{STRANGER}|0|tok")
        self.assertEqual(self.server.get("odd-3"), f"{STRANGER}|{MOST - 2}|tok")
        self.brokers[0].stop()
        self.brokers.append(self.broker(self.server, lease=LEASE, trust_new=True, name="b3"))
        self.assertEqual(self.grants(self.client(self.brokers[-1])) > 0, True)

    def test_counter(self):
        """What may be a fence is gone on from; all else is forgotten, and the log says so once."""
        self.prepare()
        for value in ("0", "abc", "-1", "nan", "1e300", "1.5", "", "9" * 300, SURE, MOST - 2):
            with self.subTest(value=value):
                before = [self.grants(client) for client in self.lines]
                self.server.cmd("SET", "lock:@fence", value)
                for fence, client in zip(before, self.lines):
                    self.assertGreater(self.grants(client), fence)
                self.assertLess(abs(int(self.server.get("@fence")) - self.clock_us()), 10 ** 7)
        logged = self.brokers[0].log_lines("fence-refused") + \
            self.brokers[1].log_lines("fence-refused")
        self.assert_within(1, len(logged), 2, logged)
        self.assertIn("lock:@fence", logged[0])

    def check_far_ahead(self, value):
        self.server.cmd("SET", "lock:@fence", value)
        fences = [self.grants(line) for _ in range(10) for line in self.lines]
        self.assertEqual(fences, sorted(fences))
        self.assertGreater(fences[0], value)
        for broker in self.brokers:
            logged = broker.log_lines("fence-ahead")
            self.assertEqual(len(logged), 1, logged)

    def test_counter_far_ahead(self):
        """It is believed, and told of once; nothing falls."""
        self.prepare()
        self.check_far_ahead(SURE - 2 ** 40)

    def test_counter_goes_beyond_what_a_new_broker_believes(self):
        self.prepare(brokers=1)
        self.check_far_ahead(SURE - 1)

    def test_counter_at_the_limit_with_two_brokers(self):
        """One goes on from it; the other finds a number of which it has not heard."""
        self.prepare()
        self.server.cmd("SET", "lock:@fence", SURE - 1)
        for _ in range(10):
            self.everybody_grants()

    def test_a_new_broker_heals_the_counter(self):
        """A counter that no broker has seen in its life."""
        self.prepare(brokers=1)
        self.brokers[0].stop()
        for value in (MOST - 2, SURE, "x", "0"):
            with self.subTest(value=value):
                self.server.cmd("SET", "lock:@fence", value)
                broker = self.broker(self.server, lease=LEASE, trust_new=True, ready=False)
                fence = self.client(broker).lock("a", timeout=grace_of(LEASE) + 10)
                self.assertLess(abs(fence - self.clock_us()), 10 ** 7)
                broker.stop()

    def test_clock_back_by_two_days(self):
        """Between two grants: the fence rises, at a broker that is new as well."""
        clock = self.clock()
        self.server = self.redis(clock=clock)
        self.broker(self.server, lease=LEASE, trust_new=True)
        first = self.grants(self.client())
        clock.step(-2 * DAY)
        second = self.client().lock("a", timeout=grace_of(LEASE) + 20)
        self.assertGreater(second, first)
        broker = self.broker(self.server, lease=LEASE, ready=False)
        third = self.client(broker).lock("b", timeout=grace_of(LEASE) + 20)
        self.assertGreater(third, second)
        self.assertEqual(len(broker.log_lines("fence-ahead")), 1)

    def test_guard_fields(self):
        """Fields of the guard that are no numbers; an epoch that no broker has begun."""
        self.prepare()
        for field, value in (("at", "nan"), ("at", "x"), ("swept", "x"), ("looked", "x"),
                             ("left", "x"), ("b:b9.0123456789abcdef", "x"), ("grace", "x"),
                             ("pass", "x"), ("pend", "x" * 200), ("n", "x")):
            with self.subTest(field=field, value=value):
                self.server.cmd("HSET", "lock:@guard", field, value)
                self.everybody_grants()
        replid = self.server.cmd("HGET", "lock:@guard", "id")
        self.server.cmd("HDEL", "lock:@guard", "id")
        self.server.cmd("HSET", "lock:@guard", "pend", replid + ":" + "0" * 200)
        for client in self.lines:
            client.lock("late", timeout=grace_of(LEASE) + pad_of(LEASE) + 10)
            client.ok("UNLOCK late")

    def test_messages(self):
        """Any client can publish: numbers that are of no token of ours, and fences of nobody."""
        self.prepare()
        self.lines[0].lock("held")
        for broker in self.brokers:
            channel, = self.server.cmd("PUBSUB", "CHANNELS", f"lock:@{broker.name}.*")
            for word in ("grant", "given", "waits", "look", "ends", "free", "recall", "recalled",
                         "took", "force", "force-by"):
                for seq in (0, 1, 2 ** 52, 2 ** 64 - 1):
                    for more in ("", "0 ", "0 0 0 0123456789abcdef 0 ", f"{MOST - 2} 1 1 "
                                 "0123456789abcdef 1 ", "1 2 0123456789abcdef ", "x "):
                        for name in ("held", "fresh", "unknown"):
                            self.server.cmd("PUBLISH", channel, f"{word} {seq} {more}{name}")
        self.everybody_grants()
        self.assertEqual(self.grants(self.lines[0], "unknown") > 0, True)
        self.assertIsNone(self.server.get("unknown"))

    def test_objects(self):
        """A generation of a barrier that can't be."""
        self.prepare()
        for gen in FENCES:
            with self.subTest(gen=gen):
                self.server.cmd("HSET", "lock:@barrier:b", "gen", gen, "n", 0, "parties", 2, "id",
                                self.server.cmd("HGET", "lock:@guard", "id"), "times", 1)
                for client in self.lines:
                    client.send("BARRIER b parties=2")
                first, second = (client.reply(10) for client in self.lines)
                self.assertTrue(first.ok and second.ok, (first, second))
                self.assertEqual(first["generation"], second["generation"])
                self.everybody_grants()

    def test_a_key_of_another_type_is_deleted_by_force(self):
        """As any other key of a plain client is."""
        self.prepare(brokers=1)
        admin = self.lines[0]
        for words in (("RPUSH", "lock:odd", "x"), ("HSET", "lock:odd", "x", "y"),
                      ("SADD", "lock:odd", "x"), ("SET", "lock:odd", f"{STRANGER}|0")):
            self.server.cmd(*words)
            admin.ok("UNLOCK-FORCE odd")
            self.assertEqual(self.server.cmd("EXISTS", "lock:odd"), 0)
            admin.lock("odd", timeout=10)
            admin.ok("UNLOCK odd")

    def test_shown_as_a_plain_client_s(self):
        self.prepare(brokers=1)
        for fence in (0, SURE, MOST - 2):
            self.server.cmd("SET", "lock:odd", f"{STRANGER}|{fence}", "PX", "600000")
            reply = self.lines[0].ok("STATUS odd")
            self.assertEqual(reply["state"], "held")
            self.assertNotIn("fence", reply.fields)
            self.assertNotIn("broker", reply.fields)
        self.assertEqual(top_fence(self.server.get("odd")), MOST - 2)
