"""The daemon's command line, and the faults of a configuration that it reports."""

import os
import re
import signal
import socket
import subprocess

from lib.broker import find_program
from lib.case import SystemTest
from lib.wait import eventually, hang


class CommandLine(SystemTest):
    """Options, faults in the configuration, exit statuses."""

    def run_it(self, *options, config=None, env=None):
        argv = [find_program()]
        if config is not None:
            path = os.path.join(self.directory, "test.yaml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(config)
            argv += ["-c", path]
        done = subprocess.run(argv + list(options), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=hang(),
                              cwd=self.directory, text=True,
                              env=dict(os.environ, RUNTIME_DIRECTORY=self.directory,
                                       **(env or {})))
        return done.returncode, done.stdout, done.stderr

    def test_version(self):
        status, out, _ = self.run_it("-V")
        self.assertEqual(status, 0)
        self.assertRegex(out, r"lockbroker\S* \d+\.\d+")
        version = self.broker()
        self.assertIn(self.client(version).ok("VERSION")["version"], out)

    def test_settings_on_the_command_line(self):
        config = ("locks: {lease: 20s, max_keep: 2h}\nlisten:\n  - tcp: 127.0.0.1:1\n"
                  "redis:\nauth: {users: []}\n")
        options = {"listen.tcp": "127.0.0.1:5999", "listen.http": "127.0.0.1:6000",
                   "listen.unix": "/tmp/x", "listen.mode": "0600", "redis.mode": "quorum",
                   "redis.nodes": "a:1,[::1]:2,unix:/r", "locks.lease": "30s",
                   "log.audit": "true", "limits.clients": "50", "broker.name": "7"}
        words = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
        status, out, err = self.run_it("-T", *words, config=config)
        self.assertEqual((status, err), (0, ""))
        for line in ('lease: "30s"', 'max_keep: "2h"', "audit: true", "clients: 50", 'name: "7"',
                     'tcp: "127.0.0.1:5999"', 'http: "127.0.0.1:6000"', 'unix: "/tmp/x"',
                     'mode: "0600"', '"a:1"', '"[::1]:2"', '"unix:/r"'):
            self.assertIn(line.replace('"', ""), out.replace('"', ""))
        self.assertNotIn("127.0.0.1:1\n", out.replace('"', ""))
        self.assertEqual(self.run_it("-T", *words, config="")[0], 0)
        self.assertEqual(self.run_it("-t", *words, config=config),
                         (0, "", f"{self.directory}/test.yaml: no fault\n"))

    def test_faults_on_the_command_line(self):
        for option, words in (("locks.lese=3s", "did you mean locks.lease"),
                              ("lease=3s", "did you mean locks.lease"),
                              ("locks.lease=3", "has no unit"),
                              ("locks=3", "expected a mapping"), ("locks.lease", "no value"),
                              ("redis.nodes=a:1,b", "b"), ("listen.tpc=a:1", "did you mean listen.tcp"),
                              ('listen=[{tcp: ":1"}]', "expected listen.tcp=HOST:PORT"),
                              ("redis.nodes=a:1", "without redis.mode"),
                              ("redis.replicas=1", "no replicas")):
            for more in ("-t",), ():
                status, out, err = self.run_it(*more, "-o", option, config="")
                self.assertEqual((status, out), (2, ""))
                self.assertTrue(err.startswith("-o: "), err)
                self.assertIn(words, err)
                self.assertEqual(err.count("\n"), 1)

    def test_a_reload_keeps_what_the_command_line_says(self):
        broker = self.broker(start=False)
        broker.spawn(argv=[find_program(), "-c", broker.config_path, "-o", "limits.holds=1"])
        client = eventually(lambda: self.reached(broker), 10, "it listens")
        client.ok("LOCK a")
        client.err("LOCK b", "limit")
        broker.settings["limits"] = {"holds": 5, "waiters": 7}
        broker.write_config()
        broker.signal(signal.SIGHUP)
        eventually(lambda: broker.log_lines("reloaded"), 5, "it has reloaded")
        client.err("LOCK b", "limit")

    def test_the_log_says_what_the_broker_was_started_with(self):
        broker = self.broker(start=False)
        broker.spawn(argv=[find_program(), "-c", broker.config_path, "-o", "locks.lease=3s",
                           "-o", "redis.mode=quorum", "-o", "redis.nodes=127.0.0.1:1,[::1]:1,unix:/r"])
        line, = eventually(lambda: broker.log_lines(" starting "), 10, "it starts")
        for field in (f"pid={broker.process.pid}", f"file={broker.config_path}", "mode=quorum",
                      'nodes="127.0.0.1:1,[::1]:1,unix:/r"', "lease_ms=3000"):
            self.assertIn(field.replace('"', ""), line.replace('"', ""))
        # Before that, a signal ends it as it does any program.
        eventually(lambda: self.client(broker).ok("PING"), 10, "it answers")

    def reached(self, broker):
        try:
            return self.client(broker)
        except OSError:
            return None

    def test_help(self):
        status, out, _ = self.run_it("-h")
        self.assertEqual(status, 0)
        for option in ("-c", "-t", "-T", "-V", "-h"):
            self.assertIn(option, out)

    def test_output_that_nobody_takes(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            for option in ("-T", "-h", "-V"):
                with self.subTest(option):
                    done = subprocess.run([find_program(), option], stdout=full, timeout=hang(),
                                          stderr=subprocess.PIPE, text=True, check=False)
                    self.assertEqual(done.returncode, 1)
                    self.assertIn("No space left", done.stderr)

    def test_usage(self):
        for options in (("-x",), ("-c",), ("surplus",)):
            with self.subTest(options):
                status, out, err = self.run_it(*options)
                self.assertEqual(status, 2)
                self.assertTrue(err.strip())
                self.assertEqual(out, "")

    def test_a_file_that_is_not_there(self):
        status, _, err = self.run_it("-t", "-c", self.directory + "/none.yaml")
        self.assertEqual(status, 2)
        self.assertIn("none.yaml", err)

    def test_a_default_file_that_is_not_there(self):
        default = re.search(r"(\S+\.yaml)", self.run_it("-h")[1]).group(1)
        if os.path.exists(default):
            self.skipTest("there is a default file on this machine")
        self.assertEqual(self.run_it("-t"), (0, "", f"{default}: does not exist; the defaults were checked\n"))

    def test_a_good_file(self):
        for config in ("", "# nothing\n", "broker:\n  name: x\nlocks: {lease: 5s}\n"):
            with self.subTest(config):
                self.assertEqual(self.run_it("-t", config=config)[0], 0)

    def test_what_has_no_effect_is_told(self):
        """It is reported, and is no fault."""
        for config, key in (("redis: {trust_new: true}\n", "redis.trust_new"),
                            ("redis:\n  mode: standalone\n  nodes: ['127.0.0.1:1']\n"
                             "  server: valkey-server\n", "redis.server")):
            status, out, err = self.run_it("-t", config=config)
            self.assertEqual((status, out), (0, ""))
            self.assertRegex(err, f"^{key}: has no effect with redis.mode ")
        for config in ("redis: {server: valkey-server}\n",
                       "redis: {mode: standalone, nodes: ['127.0.0.1:1'], trust_new: true}\n"):
            self.assertEqual(self.run_it("-t", config=config),
                             (0, "", f"{self.directory}/test.yaml: no fault\n"))

    def test_effective_configuration(self):
        status, out, _ = self.run_it("-T", config="locks:\n  lease: 7s\n")
        self.assertEqual(status, 0)
        self.assertRegex(out, r"(?m)^  lease: \"?7s\"?$")
        self.assertRegex(out, r"(?m)^  handovers: 64$")
        for section in ("broker", "listen", "redis", "locks", "limits", "log"):
            self.assertRegex(out, rf"(?m)^{section}:")
        # The output is itself a configuration, and the same one.
        again = self.run_it("-T", config=out)
        self.assertEqual((again[0], again[1]), (0, out))

    def test_secrets_are_not_printed(self):
        _, out, err = self.run_it("-T", config="redis: {mode: standalone, "
                                  "nodes: [127.0.0.1:1], password: hush-hush}\n")
        self.assertNotIn("hush-hush", out + err)

    def faults(self, config):
        """Status and faults of -t: (line, column, key, text) each."""
        status, _, err = self.run_it("-t", config=config)
        found = re.findall(r"(?m)^(\S*test\.yaml):(\d+):(\d+): (\S+): (.+)$", err)
        self.assertTrue(found, f"no fault in the form FILE:LINE:COLUMN: KEY: in {err!r}")
        return status, [(int(f[1]), int(f[2]), f[3], f[4]) for f in found]

    def test_faults_are_reported_all_at_once(self):
        status, faults = self.faults("locks:\n  lease: 5\n  handovers: many\nlimits:\n"
                                     "  clinets: 5\n  line: 4096\n  line: 100\nfoo: 1\n")
        self.assertEqual(status, 2)
        self.assertEqual([fault[:3] for fault in faults],
                         [(2, 10, "locks.lease"), (3, 14, "locks.handovers"),
                          (5, 3, "limits.clinets"), (7, 3, "limits.line"), (8, 1, "foo")])

    def test_a_mistyped_key_gets_a_suggestion(self):
        _, faults = self.faults("limits:\n  clinets: 5\n")
        self.assertIn("clients", faults[0][3])

    def test_faulty_values(self):
        for config, key in (
                ("locks: {lease: 999ms}", "locks.lease"),
                ("locks: {lease: [1s]}", "locks.lease"),
                ("redis: {mode: nonsense}", "redis.mode"),
                ("redis: {mode: standalone, nodes: [nonsense]}", "redis.nodes"),
                ("redis: {trust_new: maybe}", "redis.trust_new"),
                ("limits: {output: 1}", "limits.output"),
                ("limits: {line: -1}", "limits.line"),
                ("listen: [{tcp: '127.0.0.1:99999'}]", "listen"),
                ("log: {level: loud}", "log.level"),
                ("broker: {name: 'a b'}", "broker.name"),
                ("broker: x", "broker"),
                ("redis: 5", "redis")):
            with self.subTest(config):
                status, faults = self.faults(config + "\n")
                self.assertEqual(status, 2)
                self.assertTrue(faults[0][2].startswith(key), faults)

    def test_what_yaml_can_but_we_refuse(self):
        for config in ("locks: &a {lease: 5s}\n", "a: &x 1\nb: *x\n", "locks: {lease: 5s\n",
                       "--- {}\n--- {}\n", "\tlocks:\n", "[" * 1000, "- locks\n"):
            with self.subTest(config[:30]):
                status, _, err = self.run_it("-t", config=config)
                self.assertEqual(status, 2)
                self.assertRegex(err, r"test\.yaml:\d+")

    def test_a_bad_configuration_stops_the_start(self):
        self.assertEqual(self.run_it(config="locks: {lease: 5}\n")[0], 2)

    def test_a_port_in_use(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            status, _, err = self.run_it(config=f"listen: [{{tcp: '127.0.0.1:{port}'}}]\n")
        self.assertEqual(status, 1)
        self.assertIn(str(port), err)

    def test_redis_server_is_missing(self):
        broker = self.broker(start=False, redis={"server": "no-such-redis-server"})
        broker.spawn()
        eventually(lambda: broker.log_lines("no-such-redis-server"), 5, "a clear message")
        # Whether it gives up (1), or stays and tries again, is not of interest here.
        eventually(lambda: not broker.process.alive or self.client(broker).ok("PING"), 5)
        broker.expected_status = broker.stop()
        self.assertIn(broker.expected_status, (0, 1))

    def test_mode_that_is_not_there_yet(self):
        for mode in ("sentinel", "cluster", "quorum"):
            status, _, err = self.run_it("-t", config=f"redis:\n  mode: {mode}\n"
                                         "  nodes: ['127.0.0.1:1']\n")
            self.assertEqual(status, 2, mode)
            self.assertTrue(err.strip())
