"""Every rule of the protocol as a story: transcripts/*.t, one test for each file."""

import sys

from lib import transcript
from lib.case import SystemTest
from lib.wait import eventually


class Stories:
    """Plays a file: its stories get clients of their own."""

    def play_stories(self, script, make_client, control):
        faults = []
        for story in script.stories:
            player = transcript.Player(make_client)
            try:
                player.play(story, script.path)
            except transcript.Mismatch as fault:
                faults.append(f"story '{story.title}'\n  {fault}")
            finally:
                player.close()
            if not self.becomes_idle(control):
                faults.append(f"story '{story.title}'\n  its clients are gone, but something of "
                              "them is left, or the broker hangs")
                break
        if faults:
            self.fail("\n" + "\n".join(faults))

    def becomes_idle(self, control):
        def is_idle():
            stats = control.stats()
            return [stats[key] for key in ("locks_held", "waiters", "clients")] == ["0", "0", "1"]
        try:
            return eventually(is_idle, 30)
        except AssertionError:
            return False


class Transcripts(SystemTest, Stories):
    """One broker with an embedded Redis for each file."""

    limit = 60

    def play(self, script):
        broker = self.broker(**script.settings)
        self.play_stories(script, lambda tcp: broker.client(tcp=tcp), self.client(broker))


def _add_tests():
    for script in transcript.all_scripts():
        name = "test_" + script.path.rsplit("/", 1)[1][:-2].replace("-", "_")
        setattr(Transcripts, name, lambda self, script=script: self.play(script))


try:
    _add_tests()
except AssertionError as error:
    sys.exit(f"transcripts: {error}")
