"""What the `lockbroker` command says, and exits with, if it is used wrongly or finds something
other than a broker."""

import json
import os
import re
import socket
import threading

from lib.manual import SOURCE
from test_cli import CommandTest


class Speaker:
    """A server that says the same to every client that sends something, and hangs up."""

    def __init__(self, words):
        self.words = words
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                link, _ = self.listener.accept()
            except OSError:
                return
            with link:
                link.recv(4096)
                link.sendall(self.words)

    def stop(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


class Usage(CommandTest):
    """Nothing here gets as far as a broker."""

    nowhere = "127.0.0.1:1"

    def refused(self, *args):
        status, out, err = self.run_it(*args, address=self.nowhere)
        self.assertEqual((status, out), (64, ""), err)
        return err

    def test_a_mistyped_command(self):
        self.assertEqual(self.refused("rnu", "x", "true"),
                         "lockbroker: 'rnu' is not a command; did you mean 'run'?\n"
                         "lockbroker: try 'lockbroker help'\n")
        self.assertIn("'help stauts'"[6:-1] + "' is not a command; did you mean 'status'?",
                      self.refused("help", "stauts"))
        self.assertIn("'frobnicate' is not a command\n", self.refused("frobnicate"))

    def test_a_mistyped_option(self):
        self.assertEqual(self.refused("run", "--wiat", "5", "x", "true"),
                         "lockbroker: run: '--wiat' is not an option; did you mean --wait?\n"
                         "lockbroker: try 'lockbroker help run'\n")
        for words, said in (
                (("--jsom", "ping"), "'--jsom' is not an option; did you mean --json?"),
                (("status", "--knid=latch", "x"), "did you mean --kind?"),
                (("top", "--cuont", "1"), "did you mean --count?"),
                (("elect", "--wait", "5", "x", "true"), "'--wait' is not an option"),
                (("run", "-z", "x", "true"), "'-z' is not an option"),
                (("ping", "--kind", "latch"), "'--kind' is not an option"),
                (("run", "--k", "5", "x", "true"), "'--k' is ambiguous"),
                (("run", "-w"), "-w needs a value"),
                (("run", "--wait"), "--wait needs a value"),
                (("ping", "--json=yes"), "--json takes no value")):
            with self.subTest(words):
                self.assertIn(said, self.refused(*words))

    def test_what_excludes_each_other(self):
        self.assertIn("-n and -w exclude each other", self.refused("run", "-n", "-w", "5", "x",
                                                                   "true"))
        self.assertIn("-S is given twice", self.refused("-S", "127.0.0.1:2", "ping"))
        self.assertIn("-S is given twice", self.refused("ping", "-S", "127.0.0.1:2"))
        self.assertIn("-c STRING and COMMAND exclude each other",
                      self.refused("run", "-c", "true", "x", "true"))

    def test_words_that_are_missing(self):
        self.assertIn("run: no command given\n", self.refused("run", "x"))
        self.assertIn("usage: lockbroker status", self.refused("status"))
        self.assertIn("too many words; usage: lockbroker stats", self.refused("stats", "x"))
        self.assertIn("'sloth' is not lock, semaphore", self.refused("status", "--kind", "sloth",
                                                                     "x"))

    def test_no_words_at_all(self):
        status, out, err = self.run_it(address=self.nowhere)
        self.assertEqual((status, out), (64, ""))
        self.assertRegex(err, r"^usage: lockbroker(.|\n)* 76  ")
        status, out, err = self.run_it("help", address=self.nowhere)
        self.assertEqual((status, err), (0, ""))
        self.assertRegex(out, r"^usage: lockbroker")

    def test_json(self):
        status, out, err = self.run_it("--json", "rnu", address=self.nowhere)
        self.assertEqual((status, out), (64, ""))
        self.assertEqual(json.loads(err), {
            "code": "usage", "text": "'rnu' is not a command; did you mean 'run'?"})


class Statuses(CommandTest):
    """One for each row of the manual's table, whichever command meets it."""

    def setUp(self):
        super().setUp()
        self.server = self.redis()
        self.broker(self.server, trust_new=True)
        self.control = self.client()

    def check(self, rows, address=None):
        for status, words in rows:
            with self.subTest(words):
                got, _, err = self.run_it(*words, address=address)
                self.assertEqual(got, status, err)

    def test_done_and_refused(self):
        self.control.lock("held")
        self.check(((0, ("ping",)), (0, ("run", "x", "true")), (0, ("send", "STATUS", "x")),
                    (1, ("run", "-n", "held", "true")), (1, ("run", "-w", "0.1", "held", "true")),
                    (1, ("send", "TRYLOCK", "held")), (1, ("send", "LOCK", "held", "wait=1ms")),
                    (1, ("send", "UNLOCK", "x")), (1, ("unlock-force", "x")),
                    (1, ("send", "COUNTDOWN", "x")), (1, ("send", "RESUME", "key=1.x"))))

    def test_list_says_what_it_does_not_list(self):
        for number in range(5):
            self.control.lock(f"few-{number}")
        self.control.lock("other")
        out = self.run_it("list", "few-*", "--limit", "2")[1]
        self.assertEqual(out.splitlines()[-1], "and 3 more")
        self.assertEqual([line.split()[0] for line in out.splitlines()],
                         ["NAME", "few-0", "few-1", "and"])
        self.assertNotIn("more", self.run_it("list", "few-*")[1])
        self.assertEqual(self.run_it("names", "other")[1], "other\n")

    def test_wrong_usage(self):
        """A mistake in a request never looks like a lock that is busy."""
        self.control.ok("ACQUIRE s limit=2")
        self.check(((64, ("list", "a=b")), (64, ("send", "LOCK", "a", "wait=5")),
                    (64, ("send", "LCOK", "a")), (64, ("send", "LOCK")), (64, ("send", "LOCK", "@a")),
                    (64, ("send", "x" * 5000)), (64, ("run", "-n", "-l", "3", "s", "true")),
                    (64, ("run", "a b", "true")), (64, ("status", "a=b")), (64, ("queue", "@a"))))

    def test_no_broker_or_none_that_can_serve(self):
        self.check(((69, ("ping",)), (69, ("run", "x", "true")), (69, ("status", "x")),
                    (69, ("send", "PING")), (69, ("watch", "x"))), address="127.0.0.1:1")
        self.server.stop()
        self.check(((69, ("run", "-n", "x", "true")), (69, ("send", "TRYLOCK", "x")),
                    (69, ("unlock-force", "x"))))

    def test_what_is_no_broker(self):
        """The error names the mistake: a port of something else."""
        redis = self.redis(tcp=True)
        others = [redis.address]
        for words in (b"HTTP/1.1 400 Bad Request\r\n\r\n", b"220 mail.example.net\r\n",
                      b"\x15\x03\x01\0\x02\x02\x16"):
            speaker = Speaker(words)
            self.addCleanup(speaker.stop)
            others.append(speaker.address)
        for address in others:
            self.check(((76, ("ping",)), (76, ("status", "x")), (76, ("run", "x", "true")),
                        (76, ("run", "-w", "1m", "x", "true")), (76, ("elect", "x", "true")),
                        (76, ("send", "PING")), (76, ("top", "-n", "1"))),
                       address)
        err = self.run_it("ping", address=redis.address)[2]
        self.assertEqual(err, f"lockbroker: no broker answers: {redis.address}: is a Redis "
                              "server, not a lockbroker; use port 5625\n")
        err = self.run_it("ping", address=others[1])[2]
        self.assertEqual(err, f"lockbroker: no broker answers: {others[1]}: not the lockbroker protocol; "
                              "check address and port\n")
        # The other address may be a broker that is not there yet.
        self.check(((69, ("ping",)),), f"{redis.address},127.0.0.1:1")

    def test_not_permitted(self):
        self.check(((77, ("unlock-force", "x")), (77, ("send", "UNLOCK-FORCE", "x"))),
                   f"127.0.0.1:{self.brokers[0].port}")

    def test_of_a_command(self):
        self.check(((123, ("run", "--hold", "200ms", "x", "sleep", "30")),
                    (126, ("run", "x", self.directory)), (127, ("run", "x", "./missing")),
                    (137, ("run", "x", "-c", "kill -9 $$"))))

    def test_the_manual_and_the_help_have_them_all(self):
        with open(os.path.join(SOURCE, "man/lockbroker.1"), encoding="utf-8") as page:
            table = page.read().partition(".Sh EXIT STATUS")[2].partition(".Sh")[0]
        listed = re.findall(r"^\.It (\d+)", table, re.M)
        helped = re.findall(r"^ +(\d+)  ", self.run_it("help")[1], re.M)
        self.assertEqual(listed, helped)


class Json(CommandTest):
    """--json: errors for programs, and fields for everything in a reply."""

    def setUp(self):
        super().setUp()
        self.broker()
        self.control = self.client()

    def test_errors(self):
        self.assertEqual(json.loads(self.run_it("--json", "unlock-force", "x")[2])["code"],
                         "not-held")
        for words, code in ((("ping",), "unreachable"), (("run", "x", "true"), "unreachable")):
            err = self.run_it("--json", *words, address="127.0.0.1:1")[2]
            self.assertEqual(json.loads(err)["code"], code)
        err = self.run_it("--json", "run", "-n", "-l", "3", "s", "true")[2]
        self.assertEqual(err, "")

    def test_errors_have_a_colon_for_people(self):
        self.assertRegex(self.run_it("unlock-force", "x")[2], r"^lockbroker: not-held: \S")
        self.control.ok("ACQUIRE s limit=2")
        self.assertRegex(self.run_it("run", "-n", "-l", "3", "s", "true")[2],
                         r"^lockbroker: s: mismatch: \S")

    def body(self, *words):
        status, out, err = self.run_it("--json", "send", *words)
        self.assertEqual(status, 0, err)
        return json.loads(out)["body"]

    def test_members_of_a_body(self):
        self.control.ok("SESSION label=cron")
        fence = self.control.lock("x")
        (row,) = self.body("QUEUE", "x")
        self.assertEqual({key: row[key] for key in ("role", "label", "fence")},
                         {"role": "holder", "label": "cron", "fence": fence})
        self.assertIn("age_ms", row)
        self.assertEqual(self.body("@7", "names")[0]["name"], "x")
        self.assertEqual(self.body("STATS")["locks_held"], 1)
        self.assertEqual(self.body("LIST"), [])
        self.assertIn("PING", "".join(self.body("HELP")))


