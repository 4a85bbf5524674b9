"""The recipes of lockbroker-recipes(7) that it shows in each language: a job for each day, a
leader, a semaphore, as they are printed (lib/recipes.py)."""

import itertools
import os
import signal
import subprocess

from lib import recipes
from lib.proc import die_with_parent
from lib.wait import eventually, patience
from test_recipes import ShellTest

# Starts of programs, of a virtual machine for example, on a busy machine; a turn of a leader.
SOON = 20


class Programs(ShellTest):
    """Start one of `self.made`, which a test makes first."""

    lease = 10  # nothing is lost but what the test takes away
    made = None

    def launch(self, name, argument="-", **env):
        child = subprocess.Popen(
            [*self.made.argv, name, argument], cwd=self.directory, text=True,
            env={**os.environ, "LOCKBROKER": self.brokers[0].unix_path, **self.made.env, **env},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            preexec_fn=die_with_parent, start_new_session=True)
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.wait)
        self.addCleanup(self.kill, child)
        return child

    def end(self, child):
        out = child.communicate(timeout=patience(SOON))[0]
        return child.returncode, out

    def run_it(self, name, argument="-", **env):
        return self.end(self.launch(name, argument, **env))

    def touch(self, name):
        with open(os.path.join(self.directory, name), "w", encoding="ascii"):
            pass

    def forget(self, *names):
        """The files that the programs have made, or look for."""
        for name in names:
            os.remove(os.path.join(self.directory, name))

    def waiters(self, name):
        """... and its kind."""
        return self.control.ok(f"STATUS {name}").fields.get("waiters")


class Languages(Programs):
    limit = 90

    def once(self, is_told=True):
        """is_told: the function that runs can learn that its lock is lost."""
        today, tomorrow = "2026-11-28", "2026-11-29"
        for child in [self.launch("once", today) for _ in range(3)]:
            self.assertEqual(self.end(child), (0, ""))
        self.assertEqual(self.lines(), [today])
        self.touch("slow")
        child = self.launch("once", tomorrow)
        eventually(lambda: self.lines() == [today, tomorrow], SOON, "the next day")
        self.control.ok(f"UNLOCK-FORCE report:{tomorrow}")
        if not is_told:
            self.touch("go")
        status, out = self.end(child)
        self.assertNotEqual(status, 0, out)
        self.assertRegex(out, "(?i)lost|forced")
        # If no broker can grant it, that is no reason to skip it.
        status, out = self.run_it("once", today, LOCKBROKER=os.path.join(self.directory, "none"))
        self.assertNotEqual(status, 0, out)
        self.forget("did", "slow", *([] if is_told else ["go"]))

    def leads(self, address):
        """Has this one worked as the latest leader?"""
        turns = [line.split("/") for line in self.lines("billed")]
        return bool(turns) and turns[-1][0] == address

    def lead(self, address):
        """Another one that wants to."""
        child = self.launch("lead", address)
        eventually(lambda: self.leads(address) or self.waiters("billing-leader") == "1", SOON,
                   "it leads, or waits")
        return child

    def leader(self):
        self.assertEqual(self.run_it("leader"), (0, "none\n"))
        first = self.lead("host-a:80")
        second = self.lead("host-b:80")
        self.assertEqual(self.run_it("leader"), (0, "host-a:80\n"))
        self.kill(first)
        eventually(lambda: self.leads("host-b:80"), SOON, "the next one leads")
        self.assertEqual(self.run_it("leader"), (0, "host-b:80\n"))
        third = self.lead("host-c:80")
        reply = self.control.ok("DRILL billing-leader max=30s")
        self.assertNotEqual(reply["took"], "max", "it did not stop")
        eventually(lambda: self.leads("host-c:80"), SOON, "the third one leads")
        eventually(lambda: self.waiters("billing-leader") == "1", SOON, "it wants another turn")
        self.assertIsNone(second.poll())
        for child in second, third:
            child.send_signal(signal.SIGKILL)
        self.assertRegex(self.end(second)[1], "(?i)lost|drill")
        turns = [line.split("/") for line in self.lines("billed")]
        self.assertEqual([address for address, _ in itertools.groupby(turns, lambda at: at[0])],
                         ["host-a:80", "host-b:80", "host-c:80"])
        fences = [int(fence) for _, fence in turns]
        self.assertEqual(fences, sorted(fences))
        self.assertEqual(len(set(fences)), 3)

    def semaphore(self):
        """Of six threads of two programs four are at work."""
        children = [self.launch("thumbnails") for _ in range(2)]
        eventually(lambda: self.lines() == 4 * ["+"] and self.waiters("thumbnails kind=semaphore") == "2", SOON,
                   "four convert, two wait")
        self.assertEqual(self.lines(), 4 * ["+"])
        self.touch("go")
        for child in children:
            self.assertEqual(self.end(child), (0, ""))
        at_work = list(itertools.accumulate(1 if sign == "+" else -1 for sign in self.lines()))
        self.assertEqual((len(at_work), max(at_work), at_work[-1]), (12, 4, 0))
        self.forget("did", "go")

    def all(self, program, **once):
        self.made = program
        self.once(**once)
        self.leader()
        self.semaphore()

    def test_python(self):
        """The function with @broker.once gets no lock that it could look at."""
        self.all(recipes.python(self.directory), is_told=False)

    def test_node(self):
        self.all(recipes.node(self.directory))

    def test_go(self):
        self.all(recipes.go(self.directory))

    def test_java(self):
        self.all(recipes.java(self.directory))

    def test_c(self):
        self.all(recipes.c(self.directory))
