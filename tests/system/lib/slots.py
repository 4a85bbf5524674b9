"""Slots of a semaphore: one that two brokers have given, and a program that holds two of them."""

import re

from .proxy import Proxy
from .wait import eventually


def give_elsewhere(server, name):
    """The slots in use are those of another holder, who was first: as after a failover during
    which two brokers were given the same slot."""
    key, = server.cmd("KEYS", "*sem:" + name)
    field, = [f for f in server.cmd("HKEYS", key) if f.startswith("s:")]
    server.cmd("HSET", key, "p:x.1", f"1 {2 ** 45} 1", "s:x.1", server.cmd("HGET", key, field))


def _peers(control):
    return set(re.findall(r" peer=(\S+)", "\n".join(control.ok("QUEUE gpu kind=semaphore").body)))


def program_keeps_and_loses(test, start):
    """start() runs a program at an address, with a grace. It takes both slots of "gpu", says which
    they are and how a third one ends; hears; says the same, and whether they are safe; releases
    the second one; and says how the first one ends."""
    server = test.redis()
    broker = test.broker(server, trust_new=True, lease=10)
    control = test.client(broker)
    net = Proxy(f"127.0.0.1:{broker.port}")
    test.addCleanup(net.stop)
    program = start(net.address)

    def says(*words):
        said = program.next()
        test.assertEqual(said if isinstance(said, str) else " ".join(map(str, said)),
                         " ".join(words))

    def free(count):
        eventually(lambda: control.ok("STATUS gpu kind=semaphore")["free"] == count, 20)

    says("0", "1", "busy")
    before = _peers(control)
    net.cut()
    eventually(lambda: len(_peers(control) - before) == 2, 20, "two other connections")
    program.tell()
    says("0", "1", "safe")
    free("1")
    give_elsewhere(server, "gpu")
    says("0", "taken")
    test.assertEqual(program.finish(), 0)
