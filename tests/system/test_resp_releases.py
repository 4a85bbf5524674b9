"""Each text that a release of a lock library has sent (releases.json) does at the broker what it does
on a bare redis-server, in each state of the lock and for each number.

tests/libraries/walked says which histories were walked by tests/libraries/walk. By hand, tag by
tag: Symfony Lock, redlock-rb, RedLock.net, distributed-lock-redis, Laravel. Those of Redisson are in
lib/redisson_scripts.py, those that use sorted sets (Symfony 5.2 and later) in
test_resp_script_numbers.py. Not walked: Dapr, StackExchange.Redis, celery-singleton, releases of
ioredis-lock before 5.
"""

import hashlib
import json
import os
import unittest

from test_resp_meanings import InEachState

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "releases.json"),
          encoding="utf-8") as file:
    RELEASES = json.load(file)
# The tokens of one library say how much of them counts.
META = {"bound": ("t-meta", 20000), "another's": ("u-meta", 20000), "free": None}


class Releases(InEachState):
    def test_each_text(self):
        for one in RELEASES:
            text, words = one["text"], one["words"].split()
            sha1 = hashlib.sha1(text.encode()).hexdigest()
            for client in (self.one, self.bare):
                self.assertEqual(client("SCRIPT", "LOAD", text), sha1, one["of"])

            def request(_, number, sha1=sha1, words=words):
                return "EVALSHA", sha1, *(number if word == "N" else word for word in words)

            more = {"states": META} if "t-meta" in words else {}
            if "N" not in words:
                more["numbers"] = ("0",)
            elif "numbers" in one:
                more["numbers"] = one["numbers"]
            with self.subTest(of=one["of"]):
                self.check(request, **more)

    def test_another_database(self):
        """The scripts of @sesamecare-oss/redlock select one first."""
        for one in RELEASES:
            if "SELECT" not in one["text"]:
                continue
            words = ["9000" if word == "N" else word for word in one["words"].split()]
            words[3] = "1"
            self.assertEqual(self.one.error("EVAL", one["text"], *words),
                             "ERR lockbroker has database 0 only")

    def test_the_probe_of_redisson(self):
        """With it Redisson 4 looks whether it has come to a cluster; the keys are no locks."""
        text = "redis.call('get', KEYS[1]) redis.call('get', KEYS[2])"
        self.assertIsNone(self.one("EVAL", text, 2, "test1", "test2"))
        self.assertEqual(self.brokers[0].log_lines("script-unknown"), [])


if __name__ == "__main__":
    unittest.main()
