"""lockbrokerd -t --probe: what it finds, and that the manual's ACL is enough and no more."""

import os
import re
import socket
import subprocess
import threading

from lib.broker import find_program
from lib.case import SystemTest
from lib.cluster import Cluster
from lib.fake import FakeServer
from lib.manual import SOURCE
from lib.sentinel import NAME, Watched
from lib.wait import eventually, hang


def manual_acls():
    """The rules of the two ACL SETUSER lines in lockbroker-admin(7): at Redis, at the Sentinels."""
    with open(os.path.join(SOURCE, "man", "lockbroker-admin.7"), encoding="utf-8") as file:
        text = file.read().replace("\\-", "-")
    found = re.findall(r"^ACL SETUSER lockbroker on >PASSWORD (.*?)^\.Ed", text, re.M | re.S)
    assert len(found) == 2
    return [rules.split() for rules in found]


def script_commands():
    """What the scripts call."""
    commands = set()
    folder = os.path.join(SOURCE, "src", "lua")
    for name in os.listdir(folder):
        if name.endswith(".lua"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                commands |= set(re.findall(r'redis\.call\(\s*"(\w+)"', file.read()))
    return {command.lower() for command in commands}


class Probe(SystemTest):
    limit = 40

    def probe(self, nodes, lease=2, **redis):
        """The exit status, and the findings as [level, what, text]."""
        broker = self.broker(nodes[0] if nodes else None, start=False, lease=lease,
                             redis={"mode": "standalone", "nodes": nodes, **redis})
        broker.write_config()
        done = subprocess.run(
            [find_program(), "-t", "--probe", "-c", broker.config_path], text=True,
            capture_output=True, check=False, timeout=hang())
        self.assertEqual(done.stderr, "")
        lines = [re.match(r"(ok|warn|fail) +(\S+(?: \S+)?): (.*)", line).groups()
                 for line in done.stdout.splitlines()]
        levels = {level for level, _, _ in lines}
        self.assertEqual(done.returncode, 1 if "fail" in levels else 0)
        return done.returncode, lines

    def finds(self, lines, level, pattern):
        self.assertTrue([line for line in lines if line[0] == level
                         and re.search(pattern, line[2])], f"no {level} {pattern} in {lines}")

    def user(self, server, rules):
        server.cmd("ACL", "DELUSER", "tester")
        server.cmd("ACL", "SETUSER", "tester", "on", ">geheim", *rules)
        return {"user": "tester", "password": "geheim"}

    def watched(self):
        """Everything is as the manual says."""
        watched = Watched(self, min_replicas_to_write=1, min_replicas_max_lag=2)
        return watched

    def finds_no_fault(self, nodes, **redis):
        """Soon, and not at once: a replica counts while it has confirmed something within
        min-replicas-max-lag, and it does so once a second."""
        def is_fit():
            status, lines = self.probe(nodes, **redis)
            self.assertEqual((status, {line[0] for line in lines}), (0, {"ok"}), lines)
            return True
        eventually(is_fit, 20)

    def test_a_fit_server(self):
        server = self.redis()
        status, lines = self.probe([server.address])
        self.assertEqual((status, {line[0] for line in lines}), (0, {"ok"}))
        self.assertEqual(server.keys(), [])

    def test_a_running_broker_does_not_notice(self):
        server = self.redis()
        self.broker(server, lease=1, trust_new=True)
        client = self.client()
        fence = client.lock("x")
        before = server.cmd("HGET", "lock:@guard", "n")
        for _ in range(3):
            self.assertEqual(self.probe([server.address], lease=1)[0], 0)
        self.assertEqual(server.cmd("HGET", "lock:@guard", "n"), before)
        self.assertEqual(client.ok("LOCK x").fence, fence)
        self.assertEqual(client.events, [])

    def test_nobody_there(self):
        status, lines = self.probe(["127.0.0.1:1"])
        self.assertEqual(status, 1)
        self.finds(lines, "fail", "down: Connection refused")

    def test_a_server_that_is_silent(self):
        """It is not waited for, however long a broker would."""
        with socket.create_server(("127.0.0.1", 0)) as listener:
            address = f"127.0.0.1:{listener.getsockname()[1]}"
            lines = self.probe([address], connect_timeout="1m")[1]
            self.finds(lines, "fail", "1 of 1 .*no server that can be used: no answer yet")
            lines = self.probe([address], connect_timeout="50ms")[1]
            self.finds(lines, "fail", "accepts the connection but does not answer")

    def test_what_is_no_redis(self):
        broker = self.broker(self.redis(), lease=2)
        address = f"127.0.0.1:{broker.port}"
        self.finds(self.probe([address])[1], "fail", "is a lockbroker or a proxy")
        lines = self.probe([address], mode="sentinel", master="m", replicas=0)[1]
        self.finds(lines, "fail", "check that this is a Sentinel")

    def test_no_program_to_start(self):
        for program, level in (("no-such-server", "fail"), ("/nowhere/redis-server", "fail"),
                               ("redis-server", "ok")):
            lines = self.probe([], mode="embedded", server=program)[1]
            self.finds(lines, level, program)

    def test_passwords(self):
        server = self.redis(requirepass="geheim")
        self.finds(self.probe([server.address])[1], "fail", "NOAUTH.*password_file")
        self.finds(self.probe([server.address], password="no")[1], "fail", "WRONGPASS")
        self.assertEqual(self.probe([server.address], password="geheim")[0], 0)

    def test_eviction(self):
        server = self.redis(maxmemory_policy="allkeys-lru")
        status, lines = self.probe([server.address])
        self.assertEqual(status, 0)
        self.finds(lines, "warn", "allkeys-lru.*noeviction")
        server.config("maxmemory", "100mb")
        self.finds(self.probe([server.address])[1], "fail", "allkeys-lru may evict")

    def test_a_replica(self):
        master = self.redis(tcp=True, repl_diskless_sync_delay=0)
        replica = self.redis(tcp=True)
        Watched.attach(replica, master)
        self.finds(self.probe([replica.address])[1], "fail", "replica")
        self.finds(self.probe([master.address])[1], "warn", "redis.replicas is 0")
        self.finds(self.probe([master.address], replicas=2)[1], "fail", "no grant would count")
        self.finds(self.probe([master.address], replicas=1)[1], "warn",
                   "min-replicas-to-write 0")
        master.config("min-replicas-to-write", "1")
        lines = self.probe([master.address], replicas=1)[1]
        self.finds(lines, "warn", "min-replicas-max-lag 10")
        self.finds(lines, "warn", "repl-backlog-ttl 3600")
        master.config("min-replicas-max-lag", "2")
        master.config("repl-backlog-ttl", "0")
        self.finds_no_fault([master.address], replicas=1)
        master.config("repl-diskless-sync-delay", "5")
        self.finds(self.probe([master.address], replicas=1)[1], "warn",
                   "repl-diskless-sync-delay 5")

    def test_replicas_that_are_not_in_step(self):
        """One line says so, and not the list of all commands that write."""
        master = self.redis(tcp=True, min_replicas_to_write=1)
        lines = self.probe([master.address], replicas=1)[1]
        self.finds(lines, "fail", "fewer than min-replicas-to-write of 0 replicas are in sync")
        self.assertNotIn("ZREMRANGEBYSCORE", str(lines))

    def test_a_server_in_place_of_a_sentinel(self):
        master = self.redis(tcp=True, requirepass="secret")
        self.finds(self.probe([master.address], mode="sentinel", master=NAME,
                              replicas=0)[1], "fail",
                   "for a Sentinel set redis.sentinel_password_file")

    def test_sentinels(self):
        watched = self.watched()
        sentinel = {"mode": "sentinel", "master": NAME, "replicas": 1}
        self.finds_no_fault(watched.addresses, **sentinel)
        self.finds(self.probe(watched.addresses, lease=10, **sentinel)[1], "fail",
                   "down-after-milliseconds 1000")
        self.finds(self.probe(watched.addresses, **{**sentinel, "replicas": 0})[1], "warn",
                   "a failover can grant")
        self.finds(self.probe(watched.addresses, **{**sentinel, "master": "other"})[1], "fail",
                   "stranger: master other; set redis.master to")
        self.finds(self.probe(watched.addresses[:2], **sentinel)[1], "warn", "3 Sentinels")
        for gone in watched.sentinels[:2]:
            gone.kill()
        lines = self.probe(watched.addresses, **sentinel)[1]
        self.finds(lines, "fail", "down: Connection refused")

    def cluster(self):
        """As the manual says."""
        cluster = Cluster(self.directory, 3, 1, **{"min-replicas-to-write": 1,
                                                   "min-replicas-max-lag": 2,
                                                   "cluster-require-full-coverage": "no"})
        self.addCleanup(cluster.stop)
        return cluster

    def masters(self, lines):
        return {line[1] for line in lines if "all commands" in line[2]}

    def test_a_cluster(self):
        """It looks at every master, whichever nodes are named."""
        cluster = self.cluster()
        redis = {"mode": "cluster", "replicas": 1}
        masters = {f"redis {node.address}" for node in cluster.masters}
        for nodes in (cluster.addresses[:1], [cluster.replicas[2].tcp_address]):
            self.finds_no_fault(nodes, **redis)
            self.assertEqual(self.masters(self.probe(nodes, **redis)[1]), masters)
        self.finds(self.probe(cluster.addresses, **redis)[1], "ok",
                   "16384 of 16384 slots have a master")
        self.assertEqual([key for node in cluster.masters for key in node.keys()], [])
        status, lines = self.probe(["127.0.0.1:1", cluster.addresses[1]], **redis)
        self.assertEqual((status, self.masters(lines)), (1, masters))
        self.finds(lines, "fail", "down: Connection refused")

    def test_a_cluster_that_is_not_fit(self):
        cluster = self.cluster()
        redis = {"mode": "cluster", "replicas": 1}
        nodes = cluster.addresses
        self.finds(self.probe(nodes, lease=10, **redis)[1], "fail",
                   "cluster-node-timeout 2000.*0.3 of locks.lease")
        self.finds(self.probe(nodes, **{**redis, "replicas": 0})[1], "warn",
                   "redis.replicas is 0")
        cluster.masters[1].config("min-replicas-to-write", "0")
        self.finds(self.probe(nodes, **redis)[1], "warn", "min-replicas-to-write 0")
        for master in cluster.masters:
            master.config("cluster-require-full-coverage", "yes")
        self.finds(self.probe(nodes, **redis)[1], "warn", "cluster-require-full-coverage yes")
        cluster.masters[2].cmd("CLUSTER", "DELSLOTS", 16383)
        lines = self.probe(cluster.addresses[2:3], **redis)[1]
        self.finds(lines, "fail", "16383 of 16384 slots")
        self.finds(lines, "fail", "CLUSTERDOWN")
        cluster.replicas[0].kill()
        eventually(lambda: "connected_slaves:0" in cluster.masters[0].cmd(
            "INFO", "replication"), 10, "it is gone")
        self.finds(self.probe(nodes, **redis)[1], "fail", "no grant would count")
        self.finds(self.probe([self.redis().address], **redis)[1], "fail",
                   "cluster support disabled")

    def test_a_quorum(self):
        """It looks at every server, and says everything about each that is not fit."""
        clock = self.clock()
        nodes = [self.redis(clock=clock if number == 4 else None) for number in range(7)]
        addresses = [node.address for node in nodes]
        status, lines = self.probe(addresses, mode="quorum")
        self.assertEqual((status, {line[0] for line in lines}), (0, {"ok"}))
        self.assertEqual(self.masters(lines), {f"redis {address}" for address in addresses})
        nodes[0].kill()
        nodes[1].config("maxmemory-policy", "allkeys-lru")
        nodes[1].config("maxmemory", "100mb")
        nodes[2].config("requirepass", "geheim")
        Watched.attach(nodes[3], self.redis(tcp=True, repl_diskless_sync_delay=0))
        clock.step(3600)
        status, lines = self.probe(addresses, mode="quorum")
        self.assertEqual(status, 1)
        for number, level, pattern in (
                (0, "fail", "Connection refused"), (1, "fail", "may evict"),
                (2, "fail", "NOAUTH"), (3, "fail", "is a replica"),
                (4, "warn", r"clock differs by \+3[56][0-9]{5} ms")):
            self.finds([line for line in lines if addresses[number] in line[1]], level, pattern)
        self.finds(lines, "warn", "3[56][0-9]{5} ms apart")

    def rubbish(self, **answers):
        """A server that greets well, and answers with these, and with +OK otherwise."""
        info = b"redis_version:7.0.15\r\nrole:master\r\n"
        server = FakeServer({
            "": b"+OK\r\n", "CLIENT ID": b":1\r\n", "INFO": b"$%d\r\n%s\r\n" % (len(info), info),
            "SCRIPT": b"$40\r\n%s\r\n" % (40 * b"a"),
            "SUBSCRIBE": b"*3\r\n$9\r\nsubscribe\r\n$1\r\nx\r\n:1\r\n", **answers})
        self.addCleanup(server.stop)
        return server.address

    def test_servers_that_are_none(self):
        """Whatever they answer, the probe calls it wrong, and takes no harm."""
        two = b"*2\r\n"
        for kind in (b"+OK\r\n", b":1\r\n", b"$-1\r\n", b"*0\r\n", b"*1\r\n*0\r\n",
                     two + b":1\r\n:2\r\n", two + b"$-1\r\n$-1\r\n",
                     two + b"$1\r\na\r\n$5\r\n65536\r\n",
                     two + b"$1\r\na\r\n$25\r\n" + 25 * b"9" + b"\r\n",
                     b"*1\r\n*3\r\n:0\r\n:9223372036854775807\r\n*0\r\n",
                     b"*1\r\n*3\r\n:5\r\n:1\r\n*2\r\n$1\r\na\r\n:70000\r\n"):
            for answer in (kind, two + kind + kind):
                sentinel = self.rubbish(SENTINEL=answer)
                status, lines = self.probe([sentinel], mode="sentinel", master=NAME,
                                           replicas=0)
                self.assertEqual(status, 1, answer)
                self.finds(lines, "fail", "sentinel|stranger|not a reply of a Sentinel|like a Sentinel")
                node = self.rubbish(CLUSTER=answer)
                status, lines = self.probe([node], mode="cluster", replicas=0)
                self.assertEqual(status, 1, answer)
                lines = self.probe([self.rubbish(EVALSHA=answer, CONFIG=answer)])[1]
                self.finds(lines, "fail", "EVALSHA: ")

    def test_servers_that_would_drive_a_terminal(self):
        server = self.rubbish(INFO=b"-ERR \x1b[2J\xc2\x9b\x7f\xff gone\r\n")
        lines = self.probe([server])[1]
        self.finds(lines, "fail", r"INFO: \?\[2J\?+ gone")

    def test_the_manual_names_what_the_scripts_call(self):
        rules, _ = manual_acls()
        # Those for a cluster are named below the line.
        self.assertEqual(script_commands() - {"cluster"} - {rule[1:] for rule in rules}, set())

    def test_the_acl_of_the_manual_is_enough(self):
        """For the probe, and for a broker that does everything once."""
        server = self.redis()
        account = self.user(server, manual_acls()[0])
        status, lines = self.probe([server.address], database=1, **account)
        self.assertEqual(status, 0, lines)
        self.finds(lines, "warn", "CONFIG GET is not permitted")
        broker = self.broker(server, lease=1, redis={"trust_new": True, **account})
        other = self.broker(server, lease=1, ready=False, redis=account)
        a, b = self.client(broker), self.client(other)
        a.lock("x")
        b.send("LOCK x")
        eventually(lambda: self.client(other).ok("STATUS x")["waiters"] == "1")
        a.ok("UNLOCK x")
        self.assertTrue(b.reply(5).ok)
        a.ok("LATCH l count=2")
        for request in ("LOCK s mode=shared", "ACQUIRE sem limit=3", "COUNTDOWN l",
                        "STATUS x", "QUEUE x"):
            a.ok(request)
            b.ok(request)
        a.send("BARRIER all parties=2")
        b.ok("BARRIER all parties=2")
        a.ok("UNLOCK-FORCE x")
        self.assertEqual(b.event(5, kind="LOST").words[1], "x")
        for one in (broker, other):
            self.assertFalse(one.log_lines("NOPERM|noperm|can't run this command"))

    def test_each_right_of_the_acl_is_missed(self):
        """Take one rule away: the probe names the command."""
        server = self.redis()
        rules = manual_acls()[0]
        for rule in rules:
            if rule.startswith("-"):
                continue
            account = self.user(server, [one for one in rules if one != rule])
            _, lines = self.probe([server.address], database=1, replicas=1, **account)
            word = {"~": "key", "&": "channel"}.get(rule[0], rule[1:].split("|")[0])
            bad = [line for line in lines if line[0] != "ok"
                   and re.search(rf"\b{word}", line[2], re.I)]
            self.assertTrue(bad, f"nothing said of {rule}: {lines}")

    def test_all_rights_that_are_wanted_are_told_at_once(self):
        """As one line, which cures it, and is that of the manual."""
        server = self.redis()
        account = self.user(server, ["~*", "&*", "+@all", "-evalsha", "-client|id"])
        _, lines = self.probe([server.address], **account)
        told = [text for _, what, text in lines if what == "redis.user"]
        self.assertEqual(len(told), 1, lines)
        words = told[0].split(": ", 1)[1].split()
        self.assertEqual([word for word in words[3:] if not word.startswith("reset")],
                         manual_acls()[0])
        server.cmd(*words)
        self.assertEqual(self.probe([server.address], **account)[0], 0)

    def test_a_proxy_that_closes(self):
        """As twemproxy does where it does not know a command."""
        with socket.create_server(("127.0.0.1", 0)) as listener:
            def close_each():
                while True:
                    try:
                        listener.accept()[0].close()
                    except OSError:
                        return
            threading.Thread(target=close_each, daemon=True).start()
            lines = self.probe([f"127.0.0.1:{listener.getsockname()[1]}"])[1]
            self.finds(lines, "fail", "a proxy such as twemproxy does that")
            listener.shutdown(socket.SHUT_RDWR)

    def test_the_acl_of_the_manual_for_sentinels(self):
        watched = self.watched()
        for sentinel in watched.sentinels:
            sentinel.cmd("ACL", "SETUSER", "asker", "on", ">geheim", *manual_acls()[1])
        secret = self.directory + "/secret"
        with open(secret, "w", encoding="ascii") as file:
            file.write("geheim\n")
        account = {"sentinel_user": "asker", "sentinel_password_file": secret}
        self.finds_no_fault(watched.addresses, mode="sentinel", master=NAME, replicas=1,
                            **account)
        for sentinel in watched.sentinels:
            sentinel.cmd("ACL", "SETUSER", "asker",
                         "-sentinel|get-master-addr-by-name")
        lines = self.probe(watched.addresses, mode="sentinel", master=NAME, replicas=1,
                           **account)[1]
        told = [text for _, what, text in lines if what == "redis.sentinel_user"]
        self.assertEqual(len(told), 1, lines)
        self.assertEqual(told[0].split(" asker resetchannels ")[1].split(), manual_acls()[1])
