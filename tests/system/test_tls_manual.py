"""The chapter on exposing a broker to a network, pasted as it stands in the manual."""

import os
import re
import subprocess
import unittest

from lib.broker import find_program
from lib.wait import eventually
from test_tls_clients import ClientsTest

MANUAL = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      "..", "..", "man", "lockbroker-admin.7")

# The programs as they are called in the manual, with the files of this test.
PROGRAMS = """
set -eu
lockbrokerd() { "$DAEMON" -c "$CONFIG" "$@"; }
lockbroker() {
	if [ "$1" = acl ]; then
		shift
		set -- acl --config "$CONFIG" "$@"
	fi
	"$COMMAND" "$@"
}
systemctl() { :; }
"""


def examples():
    """The commands to type in the chapter, a text each."""
    with open(MANUAL, encoding="ascii") as file:
        chapter = file.read().split(".Sh EXPOSING A BROKER TO A NETWORK\n")[1].split("\n.Sh")[0]
    found = re.findall(r"(?ms)^\.Bd -literal[^\n]*\n(.*?)^\.Ed$", chapter)
    return [text.replace(r"\(dq", '"').replace(r"\e", "\\") for text in found]


@unittest.skipUnless(os.getuid() == 0, "root is needed to give files to others")
class Manual(ClientsTest):
    limit = 40

    def here(self, text):
        """The same with the paths, the port and the name of this test."""
        for theirs, mine in (("/etc/lockbroker", self.file("etc")),
                             ("/run/lockbrokerd", self.file("run")),
                             ("-o lockbrokerd", "-o root"), ("-g lockbrokerd", "-g root"),
                             ("locks.example.net", "localhost"), ("5626", str(self.port)),
                             ("./deploy", "echo deployed")):
            text = text.replace(theirs, mine)
        return text

    def paste(self, text, status=0):
        environment = dict(os.environ, CONFIG=self.file("etc/lockbrokerd.yaml"),
                           DAEMON=find_program(), COMMAND=find_program("lockbroker"))
        done = subprocess.run(["/bin/sh", "-c", PROGRAMS + self.here(text)], cwd=self.directory,
                              env=environment, capture_output=True, text=True, check=False,
                              timeout=60)
        self.assertEqual(done.returncode, status, text + done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_from_nothing_to_mutual_tls(self):
        certificates, install, config, passwords, check, use = examples()
        os.mkdir(self.file("run"))
        self.paste(certificates)
        self.paste(install)
        broker = self.broker(start=False)
        with open(self.file("etc/lockbrokerd.yaml"), "w", encoding="ascii") as file:
            file.write(self.here(config))
        self.paste(passwords)
        # A denied request has an exit status of its own.
        *before, denied, restart = check.strip().splitlines()
        self.assertIn('allowed: lock "deploy/*"', self.paste("\n".join(before)))
        self.assertIn("denied: no pattern matches", self.paste(denied, 77))
        self.assertEqual(restart, "systemctl restart lockbrokerd")
        broker.spawn(argv=[find_program(), "-c", self.file("etc/lockbrokerd.yaml")])
        eventually(lambda: broker.log_lines("guard-ready"), 10, "it grants")
        self.assertEqual(self.paste(use), "deployed\nOK user=ci via=password\n")
        # Nobody else gets in.
        self.assertIn("it requires a client certificate", self.paste(
            "lockbroker -S tls://locks.example.net:5626 --ca ca.crt ping", 69))


if __name__ == "__main__":
    unittest.main()
