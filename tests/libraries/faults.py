"""Eight processes of one library that contend for one lock, while brokers and Redis fail under
whoever has it and under those that wait.

Each process says to the witness here when it has the lock, and gives it back when it is told to.
So two at a time are seen from outside, and their fences are read while they have it."""

import os
import re
import socket
import threading

from lib.case import note
from lib.client import Client
from lib.ports import free_port
from lib.proc import Process
from lib.wait import eventually, let_time_pass, now

PROCESSES, LEASE_S = 8, 2
# What the programs ask for (BUSY_MS), and how late their word may come.
BUSY_S, LATE_S = 6, 2
WORK_S = 0.005
# A release that failed costs the rest of a hold, and a JVM its own time-outs.
TURNS_S = BUSY_S + 30
# What a machine that is busy for a second looks like.
LATE = "Redis was frozen"
# What no program may be told, whatever has failed.
BAD_ERRORS = ("not known to lockbroker", "not served", "unknown command", "wrong number of arg")


def fence_there(brokers, name):
    """The name of the lock of a library (None: the only one that there is), and the fence of its
    present hold, or None where no broker can be asked."""
    for broker in brokers:
        try:
            client = Client(broker.unix_path, timeout=1)
        except OSError:
            continue
        try:
            name = name or next(row.split()[0] for row in client.ok("NAMES").body
                                if re.match(r"(?!\S*signal)\S*busy ", row))
            told = client.ask(f"STATUS {name}")
            if "fence" in told.fields:
                return name, int(told.fields["fence"])
        except (AssertionError, OSError, StopIteration):
            pass
        finally:
            client.close()
    return name, None


class Witness(threading.Thread):
    def __init__(self, fence_of):
        super().__init__(daemon=True)
        self.fence_of = fence_of
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        self.lock = threading.Lock()
        self.inside, self.fence, self.last, self.faults = {}, 0, None, []
        self.turns, self.fences = [0] * PROCESSES, 0
        self.go = threading.Event()
        self.go.set()
        self.start()

    def run(self):
        while True:
            try:
                conn, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve_safely, args=(conn,), daemon=True).start()

    def serve_safely(self, conn):
        try:
            self.serve(conn)
        except Exception as error:
            self.faults.append(repr(error))

    def serve(self, conn):
        with conn:
            try:
                number = int(conn.makefile().readline())
            except ValueError:
                return  # it was killed
            self.enter(number)
            let_time_pass(WORK_S)
            self.go.wait()
            with self.lock:
                self.inside.pop(number, None)
                self.turns[number] += 1
            try:
                conn.sendall(b"\n")
            except OSError:
                pass

    def enter(self, number):
        with self.lock:
            for other, since in self.inside.items():
                if now() < since + BUSY_S - LATE_S:
                    self.faults.append(f"{number} has it beside {other}")
            self.inside[number] = now()
        fence = self.fence_of()
        with self.lock:
            if fence is None or number not in self.inside or len(self.inside) > 1:
                return
            self.fences += 1
            # Whose release has failed goes on with its hold.
            if fence < self.fence or (fence == self.fence and number != self.last):
                self.faults.append(f"the fence of {number} is {fence} after {self.fence}")
            self.fence, self.last = fence, number

    def all_again(self):
        """Waits until each process has had a turn from now on."""
        begin = list(self.turns)
        eventually(lambda: self.faults or all(
            now_ > then for now_, then in zip(self.turns, begin)), TURNS_S,
            "each process has its turn")

    def hold(self):
        """Whoever has it next keeps it until release()."""
        self.go.clear()
        eventually(lambda: self.inside, TURNS_S, "one of them has it")

    def release(self):
        self.go.set()


class Hunt:
    """The processes, the brokers and Redis of a test, and what can happen to them."""

    def __init__(self, test, command, env, brokers):
        self.test, self.redis, self.name = test, test.redis(), None
        self.brokers = [test.broker(self.redis, trust_new=True, lease=LEASE_S, listen=[
            {"unix": os.path.join(test.directory, f"b{number + 1}", "s")},
            {"tcp": f"127.0.0.1:{free_port()}"}]) for number in range(brokers)]
        self.witness = Witness(self.fence)
        test.addCleanup(self.witness.listener.close)
        ports = [str(broker.port) for broker in (self.brokers[0], self.brokers[-1])]
        self.processes = []
        for number in range(PROCESSES):
            path = os.path.join(test.directory, f"p{number}")
            process = Process([*command, *ports], path, env={
                **os.environ, **env, "WITNESS": f"{self.witness.port} {number}"})
            test.addCleanup(process.kill)
            self.processes.append(process)

    def fence(self):
        """Of the present hold, where a broker can be asked."""
        self.name, fence = fence_there(self.brokers, self.name)
        return fence

    def errors(self):
        """What the programs were told since the last time, without repetitions."""
        said = set()
        for number, process in enumerate(self.processes):
            self.test.assertTrue(process.alive, f"{number} ended:\n{process.output()[-3000:]}")
            with open(process.log_path, "r+", encoding="utf-8", errors="replace") as file:
                said |= {re.sub(r"[0-9.]+ s", "T", line.strip())[:300] for line in file
                         if line.startswith("error") and LATE not in line}
                file.truncate(0)
        return sorted(said)

    def stop(self):
        self.brokers[0].stop()
        self.brokers[0].start()

    def kill(self):
        self.brokers[0].kill()
        self.brokers[0].expected_status = 0
        self.brokers[0].start()

    def replace(self):
        self.brokers[0].replace()

    def restart_redis(self):
        self.redis.restart()


# In this order: if the successor is killed soon, the one that was replaced comes back.
FAULTS = {"stop": Hunt.stop, "kill": Hunt.kill, "redis": Hunt.restart_redis,
          "replace": Hunt.replace}


def hunt(test, command, env, brokers, faults):
    """Each of the faults under a holder and under waiters."""
    game = Hunt(test, command, env, brokers)
    witness = game.witness
    witness.all_again()
    test.assertEqual(witness.faults, [], "broken promise")
    test.assertEqual(game.errors(), [], "without a fault")
    for fault in faults:
        witness.hold()
        begin = now()
        FAULTS[fault](game)
        took = now() - begin
        let_time_pass(0.2)
        witness.release()
        witness.all_again()
        said = game.errors()
        note(f"{fault}, {brokers} brokers: {took:.1f}s, all again after {now() - begin:.1f}s, "
             f"{sum(witness.turns)} turns, {witness.fences} fences; {said}")
        test.assertEqual(witness.faults, [], "broken promise")
        for line in said:
            test.assertFalse(any(bad in line for bad in BAD_ERRORS), line)
        if fault == "replace":
            test.assertEqual(said, [], "of a replacement nobody notices anything")
    test.assertGreater(witness.fences, PROCESSES)
