"""Every rule of the protocol, to clients on all interfaces who need a certificate, and are users.

These are the stories of transcripts/*.t again: what holds at a Unix socket holds here.
"""

import socket
import sys

from lib import transcript
from lib.tls_client import TlsClient, context
from test_tls_clients import ClientsTest
from test_transcripts import Stories

# The stories know no users, and here are some.
_APART = {"users.t"}
# Stories of the Unix socket: its peer is a process, and root may do more.
_UNIX = {"it is for administrators", "QUEUE: who holds it and who waits, in order"}


class Orderly(TlsClient):
    """A broker that says when it ends."""

    said_so = False

    def shut(self):
        if self.said_so:
            return
        self.said_so = True
        super().shut()

    def close(self):
        if not self.eof:
            try:
                self.shut()
                self.sock.shutdown(socket.SHUT_WR)
            except (OSError, ValueError):
                pass
        super().close()


class OverTls(ClientsTest, Stories):
    limit = 90

    def play(self, script):
        settings = {section: dict(keys) for section, keys in script.settings.items()}
        # A user has a quarter of it.
        if "unowned" in settings.get("limits", {}):
            settings["limits"]["unowned"] = 4 * int(settings["limits"]["unowned"])
        self.how = context(self.file("ca"), self.file("client"))
        self.tls_broker(
            options={"client_ca": self.file("ca.crt"), "verify": "require"}, ready=False,
            auth={"users": [{"name": "deploy", "certificate": ["CN=client"], "lock": ["*"],
                             "admin": True}]}, **settings)
        script.stories = [story for story in script.stories if story.title not in _UNIX]
        self.play_stories(script, lambda tcp: self.orderly(), self.orderly())

    def orderly(self):
        client = Orderly(self.port, self.how)
        self.addCleanup(client.close)
        return client


def _add_tests():
    for script in transcript.all_scripts():
        name = script.path.rsplit("/", 1)[1]
        if name not in _APART:
            setattr(OverTls, "test_" + name[:-2].replace("-", "_"),
                    lambda self, script=script: self.play(script))


try:
    _add_tests()
except AssertionError as error:
    sys.exit(f"transcripts: {error}")
