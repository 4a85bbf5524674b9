"""The commands of lockbroker-recipes(7) and of the README, as they are printed there."""

import json
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import unittest

from lib import golang, http, jdk, recipes
from lib.broker import find_program
from lib.case import SystemTest
from lib.liblockbroker import link
from lib.manual import SOURCE, blocks, read_source
from lib.npm import version
from lib.proc import die_with_parent
from lib.wait import eventually, let_time_pass, patience

class ShellTest(SystemTest):
    """Runs what a reader would paste."""

    limit = 60
    lease = 2
    recipes = blocks("man/lockbroker-recipes.7", "recipe")

    def setUp(self):
        super().setUp()
        self.broker(lease=self.lease, http=True)
        self.control = self.client()

    def program(self, name, *lines):
        """Stands for the reader's own program."""
        path = os.path.join(self.directory, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(["#!/bin/sh", *lines, ""]))
        os.chmod(path, 0o755)

    def start(self, name, edit=lambda text: text):
        return self.shell(edit(self.recipes[name]))

    def shell(self, text):
        env = dict(os.environ, LOCKBROKER=self.brokers[0].unix_path,
                   PATH=os.path.dirname(find_program("lockbroker")) + ":" + os.environ["PATH"])
        child = subprocess.Popen(["sh", "-c", text], env=env, text=True,
                                 cwd=self.directory, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                 preexec_fn=die_with_parent, start_new_session=True)
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.wait)
        self.addCleanup(self.kill, child)
        return child

    @staticmethod
    def kill(child):
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def end(self, child):
        out = child.communicate(timeout=patience(20))[0]
        return child.returncode, out

    def lines(self, name="did"):
        """What the programs have written to a file."""
        try:
            with open(os.path.join(self.directory, name), encoding="utf-8") as file:
                return file.read().split()
        except FileNotFoundError:
            return []


class Recipes(ShellTest):
    def test_leader(self):
        self.program("billing-daemon", "echo $LOCKBROKER_FENCE >>did", "exec sleep 60")
        first = self.start("leader")
        eventually(self.lines, 5, "a leader")
        self.start("leader")
        eventually(lambda: "waiters=1" in self.control.ok("STATUS billing-leader").text, 5)
        status, out = self.end(self.start("leader-status"))
        self.assertEqual(status, 0)
        self.assertRegex(out, "state +held")
        self.kill(first)
        fences = eventually(lambda: len(self.lines()) == 2 and self.lines(), 5, "another leader")
        self.assertGreater(int(fences[1]), int(fences[0]))

    def test_why(self):
        first, second = self.client(), self.client()
        first.ok("SESSION label=etl")
        second.ok("SESSION label=api")
        second.lock("export")
        first.lock("nightly-report")
        first.send("LOCK export")
        eventually(lambda: "waiters=1" in self.control.ok("STATUS export").text, 5)
        status, out = self.end(self.start("why"))
        self.assertEqual(status, 0)
        self.assertRegex(out, r"^nightly-report: held by etl through broker \S+ for [\d.]+ s, "
                              r"which waits for export: held by api through broker \S+ for "
                              r"[\d.]+ s\n$")

    def test_where_the_leader_is(self):
        self.program("billing-daemon", "exec sleep 60")
        self.start("leader-value")
        eventually(lambda: self.control.ok("STATUS billing-leader")["state"] == "held", 5)
        self.assertEqual(self.end(self.start("leader-address")), (0, os.uname().nodename + ":8080\n"))

    @unittest.skipIf(shutil.which("curl") is None, "curl is not installed")
    def test_where_the_leader_is_not(self):
        port = http.of(self.brokers[0]).port

        def here():
            return self.end(self.start("leader-here",
                                       lambda text: text.replace("5627", str(port))))
        self.assertEqual(here()[0], 22, "nobody leads")
        self.control.ok("SESSION label=elsewhere")
        self.control.lock("billing-leader")
        self.assertEqual(here()[0], 22)
        self.control.ok("SESSION label=" + os.uname().nodename)
        status, out = here()
        self.assertEqual((status, json.loads(out)["label"]), (0, os.uname().nodename))

    def test_quotas(self):
        """Added to the configuration, with the user of this test as the team."""
        broker = self.brokers[0]
        me = pwd.getpwuid(os.getuid()).pw_name
        with open(broker.config_path, "a", encoding="utf-8") as file:
            file.write(self.recipes["quotas"].replace("unix: [etl]", f"unix: [{me}]")
                       .replace("holds: 500", "holds: 2"))
        broker.signal(signal.SIGHUP)
        eventually(lambda: broker.log_lines(" reloaded "), 5, "a reload")
        for name in "etl/a", "etl/b":
            self.control.lock(name)
        self.assertIn("limits.holds", self.control.err("LOCK etl/c", "limit").text)
        self.control.err("LOCK other", "denied")

    def test_drill(self):
        self.program("billing-daemon", "exec sleep 60")
        self.start("leader")
        eventually(lambda: "state=held" in self.control.ok("STATUS billing-leader").text, 5)
        status, out = self.end(self.start("drill"))
        self.assertEqual(status, 0)
        self.assertRegex(out, r"^\S+ let go [\d.]+ s after the loss\n$")

    def test_spans(self):
        """Of a log of the broker, one line for each hold with a trace."""
        broker = self.brokers[0]
        broker.write_config({"log": {"audit": True, "format": "json"}})
        broker.signal(signal.SIGHUP)
        eventually(lambda: broker.log_lines('"reloaded"'), 5, "a reload")
        client = self.client()
        trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        for words in f"a trace={trace}", "b":
            client.ok(f"LOCK {words}")
            client.ok(f"UNLOCK {words[0]}")
        eventually(lambda: len(broker.log_lines('"lock-ended"')) == 2, 5, "both have ended")
        out = subprocess.run([sys.executable, "-c", self.recipes["spans"]], text=True, check=True,
                             input="\n".join(broker.log_lines('"event"')), capture_output=True)
        [line] = out.stdout.splitlines()
        spans = json.loads(line)["resourceSpans"][0]["scopeSpans"][0]["spans"]
        self.assertEqual([(span["traceId"], span["parentSpanId"], span["name"]) for span in spans],
                         [(trace[3:35], trace[36:52], name) for name in ("wait for a", "hold a")])
        for span in spans:
            self.assertLessEqual(int(span["startTimeUnixNano"]), int(span["endTimeUnixNano"]))

    def test_cron(self):
        self.program("nightly-report", "echo ran >>did")

        def without_time(text):
            return re.sub(r"^([^ ]+ ){5}", "", text).replace("-w 1m", "-w 1")
        for _ in range(3):
            self.assertEqual(self.end(self.start("cron", without_time)), (0, ""))
        self.assertEqual(self.lines(), ["ran"])

    def test_workers(self):
        self.program("thumbnail", "echo + >>did", "sleep 0.1", "echo - >>did")
        for i in range(12):
            with open(os.path.join(self.directory, f"{i}.jpg"), "w", encoding="utf-8"):
                pass
        self.assertEqual(self.end(self.start("workers")), (0, ""))
        at_once, most = 0, 0
        for sign in self.lines():
            at_once += 1 if sign == "+" else -1
            most = max(most, at_once)
        self.assertEqual((len(self.lines()), at_once), (24, 0))
        self.assertIn(most, (2, 3, 4))

    def test_gpu(self):
        self.program("train", "echo $CUDA_VISIBLE_DEVICES >>did", "sleep 0.3")
        children = [self.start("gpu") for _ in range(4)]
        for child in children:
            self.assertEqual(self.end(child), (0, ""))
        self.assertEqual(len(self.lines()), 4)
        self.assertLessEqual(set(self.lines()), set("0123"))

    def test_gpu_of_a_program(self):
        path = os.path.join(self.directory, "jobs.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write("""
batches = ["one", "two"]
def train(batch, device):
    print(batch, device)
""" + self.recipes["gpu-python"])
        name = "gpu:" + os.uname().nodename
        self.assertEqual(self.control.ok(f"ACQUIRE {name} limit=4 slot=yes")["slot"], "0")
        python = os.path.join(SOURCE, "clients", "python")
        self.assertEqual(self.end(self.shell(f"PYTHONPATH={python} {sys.executable} {path}")),
                         (0, "one 1\ntwo 1\n"))

    def test_phases(self):
        self.program("migrate", "echo migrated >>did")
        self.program("serve", "echo serving >>did")
        children = [self.start("phases") for _ in range(2)]
        let_time_pass(0.2)
        self.assertEqual(self.lines(), [])
        children.append(self.start("phases"))
        for child in children:
            self.assertEqual(self.end(child)[0], 0)
        self.assertEqual(self.lines(), ["migrated"] + 3 * ["serving"])

    def test_phases_with_one_that_dies(self):
        first, second = self.start("phases"), self.start("phases")
        eventually(lambda: "\nbarriers 1" in "\n" + "\n".join(self.control.ok("STATS").body), 5)
        eventually(lambda: self.control.stats()["clients"] == "3", 5)
        let_time_pass(0.2)
        self.kill(first)
        self.assertEqual(self.end(second)[0], 1)

    def test_latch(self):
        self.program("migrate", "sleep 0.3", "echo migrated >>did")
        self.program("serve", "echo serving >>did")
        status, out = self.end(self.start("latch"))
        self.assertEqual((status, self.lines()), (0, ["migrated", "serving"]), out)

    def test_deployment(self):
        self.program("job", "echo job >>did", "exec sleep 60")
        self.program("deploy", "echo deployed >>did")
        jobs = [self.start("job"), self.start("job")]
        eventually(lambda: self.lines() == ["job", "job"], 5)
        deploy = self.start("deploy")
        eventually(lambda: "waiters=1" in self.control.ok("STATUS app/release").text, 5)
        late = self.start("job")
        eventually(lambda: "waiters=2" in self.control.ok("STATUS app/release").text, 5)
        self.assertEqual(self.lines(), ["job", "job"])
        for job in jobs:
            self.kill(job)
        self.assertEqual(self.end(deploy), (0, ""))
        eventually(lambda: self.lines() == ["job", "job", "deployed", "job"], 5)
        self.kill(late)

    def test_rolling(self):
        self.program("restart", "echo + >>did")
        self.program("wait-until-healthy", "sleep 0.1", "echo - >>did")
        for child in [self.start("rolling") for _ in range(3)]:
            self.assertEqual(self.end(child), (0, ""))
        self.assertEqual(self.lines(), 3 * ["+", "-"])

    def test_netcat(self):
        port = str(self.brokers[0].port)
        status, out = self.end(self.start("nc", lambda text: text.replace("5625", port)))
        self.assertEqual(status, 0)
        self.assertRegex(out, r"^OK fence=\d+ depth=1\r?\n$")

    def test_all_are_tried(self):
        text = "".join(read_source(f"tests/system/test_recipes{of}.py")
                       for of in ("", "_fences", "_frameworks"))
        of_languages = {f"{name}-{language}" for name in recipes.ALL
                        for language in recipes.LANGUAGES}
        self.assertEqual(of_languages - set(self.recipes), set(), "a language is missing")
        for name in set(self.recipes) - of_languages:
            self.assertRegex(text, rf'(start\(|recipes\[)"{name}"', "not tried")


class Readme(ShellTest):
    @staticmethod
    def blocks():
        return [re.sub(r"^    ", "", block, flags=re.M)
                for block in re.findall(r"(?:^    .*\n(?:\n(?=    ))?)+", read_source("README.md"),
                                        re.M)]

    def block(self, part):
        (found,) = [block for block in self.blocks() if part in block]
        return found

    def test_it_is_short(self):
        text = read_source("README.md")
        self.assertLessEqual(len(text.split()), 1200)
        self.assertIn("$ nc localhost", "".join(text.splitlines(True)[:12]), "a session first")
        for picture in re.findall(r"!\[[^]]*\]\(([^)]*)\)", text):
            self.assertTrue(os.path.exists(os.path.join(SOURCE, picture)), picture)

    def test_each_block_is_run(self):
        """By the step readme of tests/run."""
        done = subprocess.run([os.path.join(SOURCE, "tests", "readme"), "check"], check=False,
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))

    def test_a_conversation(self):
        lines = self.block("$ nc localhost").splitlines()
        self.assertEqual(lines[0], "$ nc localhost 5625")
        requests, replies = lines[1::2], lines[2::2]
        self.assertGreaterEqual(len(requests), 2)
        for request, reply in zip(requests, replies):
            pattern = re.sub(r"fence=\d+", r"fence=\\d+", reply)
            self.assertRegex(self.control.ask(request).text, f"^{pattern}$")

    def test_commands(self):
        self.program("report", "echo reported >>did")
        first, second, said = self.block("$ build/lockbroker").splitlines()
        text = first.removeprefix("$ build/").removesuffix(" &").replace("sleep 10", "sleep 0")
        self.assertEqual(self.end(self.shell(text)), (0, ""))
        text = second.removeprefix("$ build/").replace(" -v", "")
        self.assertEqual(self.end(self.shell(text)), (0, ""))
        self.assertEqual(self.lines(), ["reported"])
        self.control.lock("nightly-report")
        self.assertEqual(self.end(self.shell(second.removeprefix("$ build/"))), (1, said + "\n"))

    def run_program(self, text):
        env = {**os.environ, "LOCKBROKER": self.brokers[0].unix_path,
               "PYTHONPATH": os.path.join(SOURCE, "clients", "python")}
        return subprocess.run([sys.executable, "-c", text], check=False, timeout=patience(20),
                              env=env, capture_output=True, text=True)

    def test_a_program(self):
        text = self.block("import lockbroker")
        done = self.run_program(text)
        self.assertRegex(done.stdout, r"^here we work \d+\n$", done.stderr)
        self.assertEqual(self.control.ok("STATUS nightly-report")["state"], "free")
        # It does not work without its lock.
        self.control.lock("nightly-report")
        done = self.run_program(text.replace("wait=10", "wait=0.1"))
        self.assertEqual((done.returncode, done.stdout), (1, ""))

    def test_brokers_elsewhere(self):
        self.program("report", "echo reported >>did")
        text = self.block("export LOCKBROKER")
        for name, port in (("lock1", 1), ("lock2", self.brokers[0].port)):
            text = text.replace(name + ".example.net", f"127.0.0.1:{port}")
        self.assertEqual(self.end(self.shell(text)), (0, ""))
        self.assertEqual(self.lines(), ["reported"])

    def test_cron(self):
        self.program("report", "echo reported >>did")
        text = re.sub(r"^([^ ]+ ){5}", "", self.block("0 3 * * *")).replace("-w 1m", "-w 1")
        for _ in range(2):
            self.assertEqual(self.end(self.shell(text)), (0, ""))
        self.assertEqual(self.lines(), ["reported"])

    def test_configuration(self):
        path = os.path.join(self.directory, "readme.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.block("mode: standalone"))
        done = subprocess.run([find_program(), "-t", "-c", path], check=False,
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, f"{path}: no fault\n"))


class Programs(ShellTest):
    """The recipes in Python, Node, Go, Java and C: they report, or say that another host does."""

    def run_them(self, *argv, **env):
        for held in (False, True):
            if held:
                self.control.lock("nightly-report")
            done = subprocess.run(
                argv, cwd=self.directory, text=True, capture_output=True, check=False,
                timeout=patience(20),
                env=dict(os.environ, LOCKBROKER=self.brokers[0].unix_path, **env))
            yield done.returncode, done.stdout + done.stderr
        self.assertEqual(len(self.lines()), 1)  # in vain the second time

    def write(self, name, text):
        path = os.path.join(self.directory, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace("wait=10)", "wait=0.1)").replace("10000", "100")
                       .replace("ofSeconds(10)", "ofMillis(100)"))
        return path

    def test_python(self):
        path = self.write("nightly.py", """
def report(part, fence):
    if part == 99:
        with open("did", "a") as file:
            print(fence, file=file)
""" + self.recipes["python"])
        ends = self.run_them(sys.executable, path,
                             PYTHONPATH=os.path.join(SOURCE, "clients", "python"))
        self.assertEqual(list(ends), [(0, ""), (0, "another host reports\n")])

    @unittest.skipIf(version() < 18, "node is not installed, or is older than 18")
    def test_node(self):
        os.makedirs(os.path.join(self.directory, "node_modules"))
        os.symlink(os.path.join(SOURCE, "clients", "node"),
                   os.path.join(self.directory, "node_modules", "lockbroker"))
        path = self.write("nightly.js", """
const report = ({ fence }) => require('fs').appendFileSync('did', fence + '\\n');
""" + self.recipes["node"])
        self.assertEqual(list(self.run_them("node", path)),
                         [(0, ""), (0, "another host reports\n")])

    def test_go(self):
        program = golang.with_client(
            self.directory, "nightly-go",
            self.recipes["go"].replace("10*time.Second", "100*time.Millisecond"), """
package main

import (
	"context"
	"fmt"
	"os"
)

func report(_ context.Context, fence uint64) error {
	return os.WriteFile("did", []byte(fmt.Sprintln(fence)), 0o644)
}
""")
        self.assertEqual(list(self.run_them(program)),
                         [(0, ""), (0, "another host reports\n")])

    def test_java(self):
        jdk.need(jdk.UNIX)
        path = self.write("Nightly.java", self.recipes["java"] + """
class Report {
  static void report(int part, long fence) throws java.io.IOException {
    if (part == 99)
      java.nio.file.Files.writeString(java.nio.file.Path.of("did"), fence + "\\n",
          java.nio.file.StandardOpenOption.CREATE, java.nio.file.StandardOpenOption.APPEND);
  }
}
""")
        jdk.compiled([path], self.directory, jdk.jar())
        argv = ["java", *jdk.FLAGS, "-cp", f"{jdk.jar()}:{self.directory}", "Nightly"]
        self.assertEqual(list(self.run_them(*argv)), [(0, ""), (0, "another host reports\n")])

    @unittest.skipIf(shutil.which("cc") is None, "no C compiler is installed")
    def test_c(self):
        path = self.write("nightly.c", self.recipes["c"] + """
int
report(uint64_t fence, struct lockbroker *lb)
{
	FILE *file = fopen("did", "a");

	if (file != NULL) {
		fprintf(file, "%" PRIu64 "\\n", fence);
		fclose(file);
	}
	return lockbroker_process(lb);
}
""")
        program = link(self.directory, "nightly", path)
        ends = list(self.run_them(program, LD_LIBRARY_PATH=self.directory))
        self.assertEqual(ends[0], (0, ""))
        self.assertEqual(ends[1][0], 2)
        self.assertIn("nightly-report: ", ends[1][1])
