"""`lockbroker complete`, and the scripts that pass the line to it: bash, zsh, fish."""

import os
import re
import shutil
import subprocess

from lib.manual import SOURCE
from lib.wait import hang
from test_cli import CommandTest


class Complete(CommandTest):
    """What a word may become, without any shell."""

    def setUp(self):
        super().setUp()
        self.broker()
        holder = self.client()
        for name in ("nightly-report", "nightly/part:2", "ledger"):
            holder.lock(name)

    def offered(self, *typed, **options):
        status, out, err = self.run_it("complete", "--", *typed, **options)
        self.assertEqual((status, err), (0, ""))
        return sorted(out.splitlines())

    def test_commands_as_the_help_has_them(self):
        """They come from the same table, so a new command is offered as well."""
        listed = re.findall(r"^  ([a-z-]+) +[a-z]", self.run_it("help")[1], re.M)
        self.assertGreater(len(listed), 12)
        self.assertEqual(self.offered(""), sorted(listed))
        self.assertEqual(self.offered("st"), ["stats", "status"])
        self.assertEqual(self.offered("--json", "st"), ["stats", "status"])
        self.assertEqual(self.offered("help", "e"), ["elect"])
        self.assertEqual(self.offered("nonsense", ""), [])

    def test_options_as_the_help_has_them(self):
        for command in ("run", "lock", "elect", "status", "ping", "top"):
            with self.subTest(command):
                helped = re.findall(r"--[a-z-]+", self.run_it("help", command)[1])
                self.assertLessEqual(set(helped), set(self.offered(command, "--")))
                self.assertNotIn("--password", self.offered(command, "--"), "it is refused")
        self.assertEqual(self.offered("run", "--ke"), ["--keep", "--key"])
        self.assertEqual(self.offered("--j"), ["--json"])

    def test_values_of_options(self):
        self.assertEqual(self.offered("run", "--on-lost", ""), ["ignore", "kill", "term"])
        self.assertEqual(self.offered("status", "--kind", "la"), ["latch"])
        self.assertEqual(self.offered("run", "-w", ""), [])
        self.assertEqual(self.offered("run", "-vw", ""), [])
        self.assertEqual(self.offered("run", "-a", "led"), ["ledger"])
        self.assertEqual(self.offered("-S", ""), ["@file"])

    def test_names_as_the_broker_has_them(self):
        both = ["nightly-report", "nightly/part:2"]
        for words in (("status",), ("queue",), ("unlock-force",), ("run",), ("lock",),
                      ("run", "-w", "5"), ("run", "-nE", "75"), ("run", "--hold=5s"), ("watch", "ledger"),
                      ("--json", "status"), ("send", "LOCK"), ("status", "--")):
            with self.subTest(words):
                self.assertEqual(self.offered(*words, "nig"), both)
        self.assertEqual(self.offered("status", "ledger", ""), [])
        self.assertEqual(self.offered("send", "unlo"), ["unlock", "unlock-force"])

    def test_which_broker_is_asked(self):
        here = self.brokers[0].unix_path
        nowhere = {"LOCKBROKER": "127.0.0.1:1"}
        self.assertEqual(self.offered("status", "led", env=nowhere), [])
        self.assertEqual(self.offered("-S", here, "status", "led", env=nowhere), ["ledger"])
        self.assertEqual(self.offered("status", "-S", here, "led", env=nowhere), ["ledger"])

    def test_the_command_of_run_is_left_to_the_shell(self):
        self.assertEqual(self.offered("run", "x", ""), ["@command"])
        self.assertEqual(self.offered("run", "x", "--", "l"), ["@command"])
        self.assertEqual(self.offered("run", "x", "ls", "-"), ["@file"])

    # The shells.

    def script(self, *parts):
        return os.path.join(SOURCE, "completion", *parts)

    def run_shell(self, *argv):
        env = dict(os.environ, LOCKBROKER=self.brokers[0].unix_path, LC_ALL="C.UTF-8",
                   PATH=os.path.dirname(self.program) + ":" + os.environ["PATH"])
        done = subprocess.run(argv, env=env, capture_output=True, text=True, check=False,
                              timeout=hang())
        self.assertEqual(done.stderr, "")
        return sorted(done.stdout.split("\n")[:-1])

    def in_bash(self, line, words):
        """The content of COMPREPLY for the line, which bash splits into these words."""
        return self.run_shell(
            "bash", "-c", f". {self.script('bash', 'lockbroker')}\n"
            'COMP_LINE=$1 COMP_POINT=${#1}; shift; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))\n'
            '_lockbroker; printf "%s\\n" "${COMPREPLY[@]}"', "bash", line, *words)

    def test_bash(self):
        self.assertEqual(self.in_bash("lockbroker st", ["lockbroker", "st"]),
                         ["stats", "status"])
        self.assertEqual(self.in_bash("lockbroker status nig", ["lockbroker", "status", "nig"]),
                         ["nightly-report", "nightly/part:2"])
        self.assertEqual(self.in_bash("lockbroker status nightly/part:",
                                      ["lockbroker", "status", "nightly/part", ":"]), ["2"])
        address = f"127.0.0.1:{self.brokers[0].port}"
        self.assertEqual(
            self.in_bash(f"lockbroker -S {address} status le",
                         ["lockbroker", "-S", "127.0.0.1", ":", address.split(":")[1], "status",
                          "le"]), ["ledger"])
        self.assertIn("true", self.in_bash("lockbroker run x tru",
                                           ["lockbroker", "run", "x", "tru"]))
        self.client().lock("it's$5")
        self.assertEqual(self.in_bash("lockbroker status it", ["lockbroker", "status", "it"]),
                         [r"it\'s\$5"])

    def test_bash_at_a_prompt(self):
        """Readline itself, on a terminal: it completes what was typed."""
        out = self.run_shell(
            "bash", "-c", "printf '. %s\\nlockbroker unlo\\tnightly-\\t\\nexit\\n' \"$1\" |"
            " script -qec 'bash --norc --noprofile -i' /dev/null", "bash",
            self.script("bash", "lockbroker"))
        self.assertIn("ended", "\n".join(out))

    @staticmethod
    def shell_or_skip(test, name):
        if not shutil.which(name):
            test.skipTest(f"{name} is not installed")

    def test_zsh(self):
        self.shell_or_skip(self, "zsh")
        self.assertEqual(
            self.run_shell("zsh", "-fc",
                           "compadd() { print -l -- ${(P)2} }; _command_names() { print @c };"
                           "words=(lockbroker status led) CURRENT=3;"
                           f". {self.script('zsh', '_lockbroker')}"), ["ledger"])

    def test_fish(self):
        self.shell_or_skip(self, "fish")
        self.assertEqual(
            self.run_shell("fish", "--no-config", "-c",
                           f"source {self.script('fish', 'lockbroker.fish')};"
                           "complete -C 'lockbroker status led'"), ["ledger"])
