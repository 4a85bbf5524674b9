"""Every rule of the protocol as a story: transcripts/*.t, one test for each file."""

import sys

from lib import transcript
from lib.case import SystemTest
from lib.wait import eventually


class Transcripts(SystemTest):
    """One broker with an embedded Redis for each file; stories get clients of their own."""

    limit = 60

    def play(self, script):
        broker = self.broker(**script.settings)
        control = self.client(broker)
        faults = []
        for story in script.stories:
            player = transcript.Player(lambda tcp: broker.client(tcp=tcp))
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


def _add_tests():
    for script in transcript.all_scripts():
        name = "test_" + script.path.rsplit("/", 1)[1][:-2].replace("-", "_")
        setattr(Transcripts, name, lambda self, script=script: self.play(script))


try:
    _add_tests()
except AssertionError as error:
    sys.exit(f"transcripts: {error}")
