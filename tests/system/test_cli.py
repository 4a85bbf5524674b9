"""The `lockbroker` command against a real broker: what `run` promises, and the rest."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import termios

from lib.broker import find_program
from lib.case import SystemTest
from lib.ports import free_port
from lib.proc import die_with_parent, pid_gone
from lib.wait import eventually, hang, let_time_pass, now, patience


class CommandTest(SystemTest):
    """Starts `lockbroker`, by default against the test's first broker."""

    def setUp(self):
        super().setUp()
        self.program = find_program("lockbroker")

    def start(self, *args, address=None, env=None, **options):
        full = {key: value for key, value in os.environ.items() if key != "LOCKBROKER"}
        if address is None:
            full["LOCKBROKER"] = self.brokers[0].unix_path
        full.update(env or {})
        argv = [self.program] + (["-S", address] if address else []) + [str(a) for a in args]
        options.setdefault("stdin", subprocess.DEVNULL)
        options.setdefault("stderr", subprocess.PIPE)
        child = subprocess.Popen(argv, env=full, stdout=subprocess.PIPE, cwd=self.directory,
                                 text=True, preexec_fn=die_with_parent, **options)
        self.addCleanup(self.bury, child)
        return child

    @staticmethod
    def bury(child):
        child.kill()
        child.wait()
        for pipe in (child.stdin, child.stdout, child.stderr):
            if pipe:
                pipe.close()

    def end(self, child, timeout=10):
        out, err = child.communicate(timeout=hang(timeout))
        return child.returncode, out, err

    def run_it(self, *args, **options):
        return self.end(self.start(*args, **options))


class Run(CommandTest):
    """lockbroker run: flock(1)'s habits, and better."""

    def setUp(self):
        super().setUp()
        self.server = self.redis()
        self.broker(self.server, trust_new=True, lease=2)
        self.control = self.client()

    def held(self, name="x"):
        return self.control.ok(f"STATUS {name}")["state"] == "held"

    def await_held(self, name="x"):
        eventually(lambda: self.held(name), 5, f"{name} is held")

    def await_waiter(self, name="x"):
        eventually(lambda: self.control.ok(f"STATUS {name}")["waiters"] == "1", 5)

    def path(self, name):
        return os.path.join(self.directory, name)

    def await_file(self, name):
        def content():
            if os.path.exists(self.path(name)):
                with open(self.path(name), encoding="ascii") as file:
                    return file.read().strip()
            return ""
        return eventually(content, 5, f"{name} is written")

    def test_status_of_the_child(self):
        for command, status in ((("true",), 0), (("false",), 1), (("sh", "-c", "exit 42"), 42),
                                (("sh", "-c", "kill -9 $$"), 137),
                                (("sh", "-c", "kill -TERM $$"), 143)):
            with self.subTest(command):
                self.assertEqual(self.run_it("run", "x", "--", *command)[0], status)
                self.assertFalse(self.held())

    def test_streams(self):
        child = self.start("run", "x", "--", "sh", "-c", "cat; echo err >&2",
                           stdin=subprocess.PIPE)
        out, err = child.communicate("in\n", timeout=hang())
        self.assertEqual((child.returncode, out, err), (0, "in\n", "err\n"))

    def test_environment(self):
        _, out, _ = self.run_it("run", "x", "--", "sh", "-c",
                                "echo $LOCKBROKER_NAME $LOCKBROKER_FENCE")
        name, fence = out.split()
        self.assertEqual(name, "x")
        self.assertGreater(self.control.lock("x"), int(fence))

    def test_a_string_for_the_shell(self):
        self.assertEqual(self.run_it("run", "x", "-c", "echo a && exit 3")[:2], (3, "a\n"))

    def test_it_holds_while_the_child_runs_and_no_longer(self):
        os.mkfifo(self.path("fifo"))
        child = self.start("run", "x", "--", "sh", "-c", f"read line < {self.path('fifo')}")
        self.await_held()
        let_time_pass(2.5)
        self.assertTrue(self.held())
        with open(self.path("fifo"), "w", encoding="ascii") as fifo:
            fifo.write("\n")
        self.assertEqual(self.end(child)[0], 0)
        self.assertEqual(self.control.ask("TRYLOCK x").status, "OK")

    def test_busy(self):
        self.control.lock("x")
        self.assertEqual(self.run_it("run", "-n", "x", "--", "touch", self.path("ran"))[0], 1)
        self.assertEqual(self.run_it("run", "-n", "-E", "75", "x", "true")[0], 75)
        start = now()
        self.assertEqual(self.run_it("run", "-w", "0.3", "x", "--", "true")[0], 1)
        self.assertGreater(now() - start, 0.29)
        self.assertEqual(self.run_it("run", "-w", "300ms", "-E", "9", "x", "true")[0], 9)
        self.assertFalse(os.path.exists(self.path("ran")))

    def test_it_waits(self):
        self.control.lock("x")
        child = self.start("run", "x", "--", "echo", "done")
        self.await_waiter()
        self.control.ok("UNLOCK x")
        self.assertEqual(self.end(child)[:2], (0, "done\n"))

    def test_usage_and_commands_that_fail(self):
        not_executable = self.path("plain")
        with open(not_executable, "w", encoding="ascii") as file:
            file.write("x")
        for args, status in ((("run",), 64), (("run", "x"), 64), (("nonsense",), 64),
                             (("run", "--nonsense", "x", "true"), 64),
                             (("run", "-w", "soon", "x", "true"), 64),
                             (("run", "x", "--", self.path("missing")), 127),
                             (("run", "x", "--", not_executable), 126)):
            with self.subTest(args):
                status_got, out, err = self.run_it(*args)
                self.assertEqual(status_got, status, err)
                self.assertTrue(err.strip(), "one line for each failure")
                self.assertEqual(out, "")
        self.assertFalse(self.held())

    def test_unreachable(self):
        status, _, err = self.run_it("run", "x", "--", "true", address="127.0.0.1:1")
        self.assertEqual(status, 69)
        self.assertTrue(err.strip())

    def test_several_addresses(self):
        broker = self.brokers[0]
        for address in (f"127.0.0.1:1,{broker.unix_path}", f"/nowhere,127.0.0.1:{broker.port}"):
            self.assertEqual(self.run_it("run", "x", "--", "echo", "a", address=address)[:2],
                             (0, "a\n"))

    def test_signals_are_forwarded(self):
        child = self.start("run", "x", "--", "sh", "-c",
                           f"trap 'exit 7' TERM; echo up > {self.path('up')}; "
                           "while :; do sleep 0.05; done")
        self.await_file("up")
        child.send_signal(signal.SIGTERM)
        self.assertEqual(self.end(child)[0], 7)
        self.assertFalse(self.held())

    def test_a_signal_while_it_waits(self):
        self.control.lock("x")
        child = self.start("run", "x", "--", "true")
        self.await_waiter()
        child.send_signal(signal.SIGINT)
        self.assertEqual(self.end(child)[0] % 256, 130 if child.returncode > 0 else 254)
        eventually(lambda: self.control.ok("STATUS x")["waiters"] == "0")

    def test_the_child_cannot_inherit_the_connection(self):
        _, out, _ = self.run_it("run", "x", "--", "sh", "-c", "ls -l /proc/self/fd")
        self.assertNotIn("socket:", out)

    def test_the_child_dies_with_the_wrapper(self):
        child = self.start("run", "x", "--", "sh", "-c",
                           f"echo $$ > {self.path('pid')}; exec sleep 60")
        pid = int(self.await_file("pid"))
        child.kill()
        eventually(lambda: pid_gone(pid), 2, "the child is gone")
        eventually(lambda: not self.held(), 5, "released")

    def lost(self, *options, trap="", before="x"):
        """A run whose lock is taken away; return its status, and the seconds until it ended."""
        child = self.start("run", *options, before, "--", "sh", "-c",
                           f"{trap} echo $$ > {self.path('pid')}; while :; do sleep 0.05; done")
        self.await_file("pid")
        self.server.cmd("DEL", "lock:x")
        start = now()
        return self.end(child)[0], now() - start

    def test_lost(self):
        status, took = self.lost()
        self.assertEqual(status, 123)
        self.assertLess(took, patience(2.5))

    def test_lost_and_nobody_reads_what_it_says(self):
        """A pager that has stopped, a terminal that was stopped: the command is ended all the
        same."""
        reader, writer = os.pipe()
        for fd in (reader, writer):
            self.addCleanup(os.close, fd)
        os.set_blocking(writer, False)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(writer, bytes(4096))
        os.set_blocking(writer, True)
        for name, options in (("x", ()), ("y", ("-v",))):
            with self.subTest(options):
                child = self.start("run", *options, name, "--", "sh", "-c",
                                   f"echo up > {self.path(name)}; exec sleep 60", stderr=writer)
                self.await_file(name)
                self.server.cmd("DEL", f"lock:{name}")
                self.assertEqual(child.wait(hang()), 123)

    def test_lost_and_deaf_to_term(self):
        status, took = self.lost("-k", "1", trap="trap '' TERM;")
        self.assertEqual(status, 123)
        self.assert_within(0.9, took, patience(4))

    def test_lost_and_killed(self):
        status, took = self.lost("--on-lost=kill", trap="trap '' TERM;")
        self.assertEqual(status, 123)
        self.assertLess(took, patience(2.5))

    def test_lost_and_ignored(self):
        child = self.start("run", "--on-lost=ignore", "x", "--", "sh", "-c",
                           f"echo up > {self.path('up')}; sleep 2; exit 5")
        self.await_file("up")
        self.server.cmd("DEL", "lock:x")
        self.assertIn(self.end(child)[0], (5, 123))

    def test_hold(self):
        start = now()
        status, _, _ = self.run_it("run", "--hold", "500ms", "x", "--", "sleep", "30")
        self.assertEqual(status, 123)
        self.assertLess(now() - start, patience(5))

    def test_keep(self):
        self.assertEqual(self.run_it("run", "--keep", "1m", "x", "--", "true")[0], 0)
        self.assertEqual(self.run_it("run", "-n", "x", "--", "true")[0], 1)

    def test_a_frozen_broker(self):
        """By its own clock the last valid= is over: the child ends in time."""
        child = self.start("run", "-k", "1", "x", "--", "sh", "-c",
                           f"echo up > {self.path('up')}; exec sleep 60")
        self.await_file("up")
        let_time_pass(1)
        self.brokers[0].freeze()
        start = now()
        self.assertEqual(self.end(child)[0], 123)
        self.assertLess(now() - start, patience(2 + 0.5))

    def test_a_killed_broker(self):
        child = self.start("run", "-k", "1", "x", "--", "sh", "-c",
                           f"echo up > {self.path('up')}; exec sleep 60")
        self.await_file("up")
        self.brokers[0].kill()
        self.assertEqual(self.end(child)[0], 123)


class Lock(CommandTest):
    """lockbroker lock: a lock for a person at a terminal, or for a script."""

    def setUp(self):
        super().setUp()
        self.server = self.redis()
        self.broker(self.server, trust_new=True, lease=2)
        self.control = self.client()

    def state(self, name="x"):
        return self.control.ok(f"STATUS {name}")["state"]

    def lock(self, *args, **options):
        """One that holds the lock, and its fence."""
        child = self.start("lock", "x", *args, stdin=subprocess.PIPE, **options)
        line = child.stdout.readline()
        self.assertRegex(line, r"^fence=\d+$")
        self.assertEqual(self.state(), "held")
        return child, int(line[len("fence="):])

    def await_free(self):
        eventually(lambda: self.state() == "free", 5, "given back")

    def test_until_the_end_of_input(self):
        child, fence = self.lock()
        child.stdin.write("dropped\n")
        child.stdin.flush()
        self.assertEqual(self.run_it("run", "-n", "x", "true")[0], 1)
        self.assertEqual(self.end(child), (0, "", ""))
        self.assertEqual(self.state(), "free")
        self.assertGreater(self.control.lock("x"), fence)

    def test_until_a_signal(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            child, _ = self.lock()
            child.send_signal(signal.SIGUSR1)
            child.send_signal(number)
            self.assertEqual(child.wait(hang()), 0)
            self.assertEqual(self.state(), "free")

    def test_input_that_has_ended_before(self):
        status, out, err = self.run_it("lock", "x")
        self.assertEqual((status, err), (0, ""))
        self.assertRegex(out, r"^fence=\d+\n$")
        self.assertEqual(self.state(), "free")

    def test_it_lives_longer_than_a_lease(self):
        child, _ = self.lock()
        let_time_pass(3)
        self.assertEqual(self.state(), "held")
        self.assertEqual(self.end(child)[0], 0)

    def test_it_waits_as_run_does(self):
        self.control.lock("x")
        self.assertEqual(self.run_it("lock", "-n", "x")[:2], (1, ""))
        self.assertEqual(self.run_it("lock", "x", "--wait", "100ms", "-E", "75")[:2], (75, ""))
        child = self.start("lock", "x", stdin=subprocess.PIPE)
        eventually(lambda: self.control.ok("STATUS x")["waiters"] == "1")
        child.send_signal(signal.SIGTERM)
        self.assertEqual(child.wait(hang()), 143)
        eventually(lambda: self.control.ok("STATUS x")["waiters"] == "0")

    def test_it_leaves_the_queue_at_the_end_of_input(self):
        self.control.lock("x")
        child = self.start("lock", "x")
        eventually(lambda: self.control.ok("STATUS x")["waiters"] == "1")
        self.assertEqual(self.end(child), (1, "", ""))
        eventually(lambda: self.control.ok("STATUS x")["waiters"] == "0")

    def test_it_says_that_it_is_lost(self):
        child, _ = self.lock()
        self.control.ok("UNLOCK-FORCE x")
        self.assertEqual(child.wait(hang()), 123)
        self.assertEqual(child.stderr.read(),
                         "lockbroker: x: lock lost (forced): it was released by force\n")

    def test_it_says_that_the_broker_is_gone(self):
        child, _ = self.lock()
        self.brokers[0].kill()
        self.assertEqual(child.wait(hang()), 123)
        self.assertIn("x: lock lost (", child.stderr.read())

    def test_a_shell_script(self):
        done = subprocess.run(["bash", "-c", f"""
            coproc {self.program} lock -w 1m x || exit
            read -r fence <&"${{COPROC[0]}}" || exit 1
            echo "$fence"
            {self.program} run -n x true && exit 2
            eval "exec ${{COPROC[1]}}>&-"; wait "$COPROC_PID"
            """], env=dict(os.environ, LOCKBROKER=self.brokers[0].unix_path), text=True,
            capture_output=True, check=False, timeout=hang())
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"^fence=\d+\n$")
        self.await_free()

    def test_what_it_tells_programs(self):
        child = self.start("--json", "lock", "x", "-a", "y", stdin=subprocess.PIPE)
        self.assertRegex(json.loads(child.stdout.readline())["fence"], r"^\d+,\d+$")
        self.assertEqual(self.end(child)[0], 0)
        status, out, _ = self.run_it("lock", "-l", "2", "s")
        self.assertEqual((status, out), (0, "granted\n"))

    def test_wrong_usage(self):
        for words in ((), ("x", "true"), ("--on-lost=term", "x"), ("-c", "true", "x")):
            self.assertEqual(self.run_it("lock", *words)[0], 64, words)


class Others(CommandTest):
    """status queue list stats ping version send."""

    def setUp(self):
        super().setUp()
        self.broker()
        self.holder = self.client()
        self.fence = self.holder.lock("x")

    def test_ping(self):
        self.assertEqual(self.run_it("ping")[0], 0)
        self.assertEqual(self.run_it("ping", address="127.0.0.1:1")[0], 69)

    def test_version(self):
        status, out, _ = self.run_it("version")
        self.assertEqual(status, 0)
        self.assertIn(self.holder.ok("VERSION")["version"], out)

    def test_version_says_that_nobody_else_shares_the_locks(self):
        """It says so of an embedded Redis, and of no other."""
        self.assertEqual(self.holder.ok("VERSION")["redis"], "embedded")
        self.assertRegex(self.run_it("version")[1],
                         r"(?m)^embedded Redis: .* clients of this broker only$")
        self.assertEqual(json.loads(self.run_it("version", "--json")[1])["redis"], "embedded")
        shared = self.broker(self.redis(), trust_new=True)
        self.assertNotIn("redis", self.client(shared).ok("VERSION").fields)
        status, out, _ = self.run_it("version", address=shared.unix_path)
        self.assertEqual(status, 0)
        self.assertNotIn("edis", out)

    def test_status(self):
        status, out, _ = self.run_it("status", "x")
        self.assertEqual(status, 0)
        self.assertIn("held", out)
        self.assertIn(str(self.fence), out)

    def test_queue_says_what_it_does_not_list(self):
        waiters = self.clients(3)
        for waiter in waiters:
            waiter.send("LOCK x")
        eventually(lambda: self.holder.ok("STATUS x")["waiters"] == "3")
        self.assertNotIn("more", self.run_it("queue", "x")[1])
        status, out, err = self.run_it("queue", "--limit", "2", "x")
        self.assertEqual((status, err), (0, ""))
        shown = out.count("\nwaiter ")
        self.assertIn(shown, (1, 2))
        self.assertEqual(out.splitlines()[-1], f"and {3 - shown} more waiting")
        self.assertEqual(self.run_it("queue", "--limit", "many", "x")[0], 64)

    def test_history_tells_who_had_it(self):
        other = self.client()
        other.ok("SESSION label=before")
        fence = other.ok("LOCK y")["fence"]
        other.ok("UNLOCK y")
        self.holder.ok("LOCK y")
        status, out, err = self.run_it("history", "y")
        self.assertEqual((status, err), (0, ""))
        head, now, before = out.splitlines()
        self.assertEqual(head.split()[:4], ["ENDED", "HELD", "WAITED", "END"])
        self.assertEqual((now.split()[0], now.split()[3]), ("-", "held"))
        self.assertIn("before", before.split())
        self.assertIn("released", before.split())
        self.assertNotIn("BY", head)
        self.assertEqual(len(self.run_it("history", "--limit", "1", "y")[1].splitlines()), 2)
        rows = [json.loads(line) for line in
                self.run_it("--json", "history", "y")[1].splitlines()]
        self.assertEqual([row["end"] for row in rows], ["held", "released"])
        self.assertEqual(str(rows[1]["fence"]), fence)
        self.assertEqual(self.run_it("history", "none"), (
            0, "no hold has ended through this broker\n", ""))
        self.assertEqual(self.run_it("--json", "history", "none"), (0, "", ""))

    def test_json(self):
        self.holder.ok("SESSION label=cron")
        for args in (("status", "x"), ("queue", "x"), ("list",), ("stats",), ("ping",),
                     ("version",), ("send", "STATUS", "x")):
            with self.subTest(args):
                status, out, err = self.run_it(args[0], "--json", *args[1:])
                self.assertEqual(status, 0, err)
                for line in out.splitlines():
                    json.loads(line)
                self.assertTrue(out.strip())
        shown = json.loads(self.run_it("status", "--json", "x")[1])
        self.assertEqual(shown["state"], "held")
        self.assertEqual(int(shown["fence"]), self.fence)

    def test_top(self):
        """The busiest names come first, by what happened between two tables."""
        holder, waiter = self.holder, self.client()
        for name in ("queued", "hot"):
            holder.lock(name)
        waiter.send("@1 LOCK queued", "@2 LOCK hot")
        child = self.start("--json", "top", "-n", "2", bufsize=1)
        first = [json.loads(child.stdout.readline()) for _ in range(3)]
        self.assertFalse([line for line in first if "rate" in line])
        self.assertEqual([line["name"] for line in first][2], "x")
        holder.ok("UNLOCK hot")
        self.assertTrue(waiter.reply(tag="2").ok)
        status, out, err = self.end(child)
        self.assertEqual((status, err), (0, ""))
        second = [json.loads(line) for line in out.splitlines()]
        self.assertEqual([(line["name"], line["state"], line["waiters"]) for line in second],
                         [("hot", "held", 0), ("queued", "held", 1), ("x", "held", 0)])
        self.assertGreater(second[0]["rate"], 0)
        self.assertEqual(second[1]["rate"], 0)
        self.assertGreater(second[1]["oldest_ms"], 500)

    def test_top_as_text(self):
        status, out, err = self.run_it("top", "-b", "-n", "1")
        self.assertEqual((status, err), (0, ""))
        self.assertRegex(out, r"^\S+: 1 name, 1 held, 0 waiting\n\nNAME +STATE +HOLDER +FOR"
                              r" +WAITING +HANDOFFS/S +OLDEST\nx +held +\S+ +\S+ +0 +- +-\n")
        self.assertEqual(self.run_it("top", "-n", "0")[0], 64)
        self.assertEqual(self.run_it("top", "surplus")[0], 64)

    def test_top_of_a_broker_that_hears_nothing(self):
        server = self.redis()
        broker = self.broker(server, name="b2", trust_new=True)
        client = self.client(broker)
        address = broker.unix_path
        self.assertNotIn("heard", self.run_it("top", "-b", "-n", "1", address=address)[1])
        server.cmd("ACL", "SETUSER", "default", "-subscribe")
        server.cmd("CLIENT", "KILL", "TYPE", "pubsub")
        eventually(lambda: client.stats()["redis_nodes_subscribed"] == "0", what="it is deaf")
        self.assertIn("waiting\nRedis: messages of 0 of 1 servers are heard; waiters may be"
                      " passed by\n\n", self.run_it("top", "-b", "-n", "1", address=address)[1])
        node = f"node=unix:{server.unix_path}"
        eventually(lambda: broker.log_lines(f"warning redis-unsubscribed {node} why="))
        server.cmd("ACL", "SETUSER", "default", "+subscribe")
        eventually(lambda: broker.log_lines(f"notice redis-subscribed {node}$"), patience(5))

    def on_a_terminal(self, *words):
        """Start a command with a terminal of its own; return it, our end of the terminal, and its
        end."""
        ours, theirs = os.openpty()
        for fd in (ours, theirs):
            self.addCleanup(os.close, fd)
        child = subprocess.Popen([self.program, "-S", self.brokers[0].unix_path, *words],
                                 stdin=theirs, stdout=theirs, stderr=theirs,
                                 preexec_fn=die_with_parent)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        return child, ours, theirs

    @staticmethod
    def read_until_drawn(terminal):
        seen = b""
        while b"held" not in seen.rpartition(b"NAME")[2]:
            seen += os.read(terminal, 4096)
        return seen

    def test_top_on_a_terminal(self):
        """It draws on the alternate screen, q quits, and the terminal is as before."""
        child, ours, theirs = self.on_a_terminal("top")
        seen = self.read_until_drawn(ours)
        os.write(ours, b"q")
        self.assertEqual(child.wait(hang()), 0)
        seen += os.read(ours, 4096)
        self.assertRegex(seen, rb"(?s)^\033\[\?1049h.*\033\[\?1049l$")
        fresh = os.openpty()
        for fd in fresh:
            self.addCleanup(os.close, fd)
        self.assertEqual(termios.tcgetattr(theirs), termios.tcgetattr(fresh[1]))

    def test_top_of_a_broker_that_hangs(self):
        """A signal ends it, whether or not an answer is still to come."""
        child, ours, _ = self.on_a_terminal("top")
        self.read_until_drawn(ours)
        self.brokers[0].freeze()
        let_time_pass(1.5)  # it has asked again by then
        start = now()
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.wait(hang()), 0)
        self.assertLess(now() - start, patience(2))
        self.brokers[0].thaw()

    def test_top_of_a_broker_that_goes_away(self):
        """An error message does not vanish together with the screen."""
        child, ours, _ = self.on_a_terminal("top")
        self.read_until_drawn(ours)
        self.brokers[0].kill()
        self.assertEqual(child.wait(hang()), 69)
        seen = os.read(ours, 4096).rpartition(b"\033[?1049l")[2]
        self.assertIn(b"the connection was closed", seen)

    def test_send(self):
        status, out, _ = self.run_it("send", "STATUS", "x")
        self.assertEqual(status, 0)
        self.assertTrue(out.startswith("OK state=held"), out)
        status, _, _ = self.run_it("send", "UNLOCK", "x")
        self.assertNotEqual(status, 0)

    def test_addresses(self):
        broker = self.brokers[0]
        for address in (broker.unix_path, f"127.0.0.1:{broker.port}"):
            self.assertEqual(self.run_it("ping", address=address)[0], 0)
        self.assertEqual(self.run_it("ping", env={"LOCKBROKER": f"127.0.0.1:{broker.port}"})[0],
                         0)
        self.assertEqual(self.run_it("ping", address="nonsense:port")[0], 64)


class Whereabouts(CommandTest):
    """Who has the lock, since when and where, whichever broker is asked."""

    def setUp(self):
        super().setUp()
        self.server = self.redis()

    def two(self, address=None):
        """b1, which has x and can be found at its address; and b2, which is asked."""
        port = free_port()
        b1 = self.broker(self.server, trust_new=True, lease=2, listen=[
            {"unix": os.path.join(self.directory, "b1", "s")}, {"tcp": f"127.0.0.1:{port}"}],
            broker={"address": address or f"127.0.0.1:{port}"})
        self.b2 = self.broker(self.server, trust_new=True, lease=2)
        self.holder = self.client(b1)
        self.holder.ok("SESSION label=cron")
        self.fence = self.holder.lock("x")
        return f"127.0.0.1:{port}"

    def shown(self, *words):
        """The output of `status`, as a dictionary for each block."""
        status, out, err = self.run_it("status", *words, "x", address=self.b2.unix_path)
        self.assertEqual((status, err), (0, ""))
        return [dict(line.split(None, 1) for line in block.splitlines())
                for block in out.split("\n\n")]

    def test_on_another_broker(self):
        address = self.two()
        self.client(self.b2).send("LOCK x")
        eventually(lambda: self.client(self.b2).ok("STATUS x")["waiters"] == "1")
        (shown,) = self.shown()
        self.assertEqual({key: shown[key] for key in ("state", "broker", "address", "label",
                                                      "fence", "waiters")},
                         {"state": "held", "broker": "b1", "address": address, "label": "cron",
                          "fence": str(self.fence), "waiters": "1"})
        self.assertRegex(shown["age"], r"^[\d.]+ s$")
        (local,) = self.shown("--local")
        self.assertEqual((local["broker"], local["address"]), ("b1", address))
        out = self.run_it("--json", "status", "x", address=self.b2.unix_path)[1]
        self.assertEqual(json.loads(out)["label"], "cron")
        self.assertIn("age_ms", json.loads(out))

    def test_an_address_where_nobody_answers(self):
        hole = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(hole.close)
        self.two(f"127.0.0.1:{hole.getsockname()[1]}")
        self.brokers[0].freeze()
        self.addCleanup(self.brokers[0].thaw)
        start = now()
        status, out, err = self.run_it("status", "x", address=self.b2.unix_path)
        self.assertEqual(status, 0)
        self.assertRegex(out, "broker +b1")
        self.assertIn("does not answer: label and age unknown", err)
        self.assert_within(0.9, now() - start, patience(2.5))

    def test_queue_has_a_row_for_it(self):
        address = self.two()
        out = self.run_it("queue", "x", address=self.b2.unix_path)[1]
        title, row = out.splitlines()
        self.assertRegex(title, r"^ROLE .* BROKER +ADDRESS")
        self.assertRegex(row, rf"^holder .* b1 +{address} ")
        self.assertNotIn("BROKER", self.run_it("queue", "x")[1])

    def test_who_was_ended(self):
        self.two()
        status, out, err = self.run_it("unlock-force", "x", address=self.b2.unix_path)
        self.assertEqual((status, err), (0, ""))
        self.assertRegex(out, r"^ended cron \(held [\d.]+ s\)\n$")
        self.holder.lock("y")
        self.assertRegex(self.run_it("unlock-force", "y")[1], r"^ended cron \(held [\d.]+ s\)\n$")
        self.holder.lock("z")
        shown = json.loads(self.run_it("--json", "unlock-force", "z")[1])
        self.assertEqual((shown["name"], shown["ended"]), ("z", "cron"))
        self.server.cmd("SET", "lock:plain", "token", "PX", "60000")
        self.assertEqual(self.run_it("unlock-force", "plain")[1], "ended a plain Redis client\n")

    def test_other_kinds(self):
        self.two()
        for request in ("UNLOCK x", "ACQUIRE x limit=2", "LATCH x count=3"):
            self.holder.ok(request)
        lock, *others = self.shown()
        self.assertEqual(lock["state"], "free")
        self.assertEqual({shown["kind"] for shown in others}, {"semaphore", "latch"})
        (latch,) = self.shown("--kind", "latch")
        self.assertEqual((latch["kind"], latch["count"]), ("latch", "3"))
        (semaphore,) = self.shown("--kind", "semaphore")
        self.assertEqual((semaphore["limit"], semaphore["free"]), ("2", "1"))
        self.assertEqual(self.run_it("status", "--kind", "barrier", "x")[0], 1)


class Ready(CommandTest):
    """ping --ready: can a lock be had now?"""

    def test_by_the_exit_status(self):
        server = self.redis()
        self.broker(server, trust_new=True)
        status, out, err = self.run_it("ping", "--ready")
        self.assertEqual((status, err), (0, ""))
        self.assertRegex(out, r"^OK from \S+ in [\d.]+ ms; new locks can be granted$")
        shown = json.loads(self.run_it("ping", "--ready", "--json")[1])
        self.assertIs(shown["ready"], True)
        server.stop()
        eventually(lambda: self.run_it("ping", "--ready")[0] == 69, what="it is not ready")
        self.assertRegex(self.run_it("ping", "--ready")[2], r"^lockbroker: unavailable: .*Redis")
        self.assertEqual(self.run_it("ping")[0], 0)
        err = self.run_it("--json", "ping", "--ready")[2]
        self.assertEqual(json.loads(err)["code"], "unavailable")

    def test_how_long_it_lasts(self):
        broker = self.broker(self.redis(), lease=5)
        eventually(lambda: broker.log_lines("guard-pending"), what="it knows how long")
        status, _, err = self.run_it("ping", "--ready")
        self.assertEqual(status, 69)
        self.assertRegex(err, r"\d s\b")
