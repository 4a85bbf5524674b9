"""The client for Go (clients/go): its own tests, with a broker, and programs that use it."""

import os
import re
import shutil
import signal
import subprocess
import unittest

from lib import golang, spoken
from lib.case import SystemTest
from lib.delays import program_loses
from lib.manual import SOURCE, read_source
from lib.proxy import Proxy
from lib.slots import program_keeps_and_loses
from lib.wait import eventually, hang
from test_tls_clients import ClientsTest

README = read_source("clients/go/README.md")
# What the programs here begin with. say() tells the test something, and hear() waits for a line
# of it.
BEGIN = """package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	lockbroker "github.com/lockbroker/lockbroker/clients/go"
)

var (
	ctx    = context.Background()
	config lockbroker.Config
	lines  = bufio.NewScanner(os.Stdin)
	_      = []any{tls.Config{}, x509.NewCertPool, time.Now, errors.Is, runtime.GC}
)

func say(words ...any) { fmt.Println(words...) }
func hear() { lines.Scan() }

func main() {
	broker, err := settings().Open(os.Args[1:]...)
	if err != nil {
		say(err)
		os.Exit(1)
	}
	defer broker.Close()
	use(broker)
}

func file(name string) []byte {
	data, err := os.ReadFile(name)
	if err != nil {
		panic(err)
	}
	return data
}

func settings() lockbroker.Config {
	config := lockbroker.Config{}
	if ca := os.Getenv("CA"); ca != "" {
		config.TLS = &tls.Config{RootCAs: x509.NewCertPool()}
		config.TLS.RootCAs.AppendCertsFromPEM(file(ca))
	}
	if cert := os.Getenv("CERT"); cert != "" {
		pair, err := tls.X509KeyPair(file(cert), file(os.Getenv("KEY")))
		if err != nil {
			panic(err)
		}
		config.TLS.Certificates = []tls.Certificate{pair}
	}
	return config
}
"""


class Go(SystemTest):
    limit = 200

    def setUp(self):
        golang.needs_client()
        super().setUp()

    def program(self, use, *addresses, **env):
        """One whose broker does this."""
        path = os.path.join(self.directory, "program")
        if os.path.exists(path):
            shutil.rmtree(path + ".d")
        golang.with_client(self.directory, "program", BEGIN + use)
        return self.start(*addresses, **env)

    def start(self, *addresses, **env):
        program = spoken.Program(
            [os.path.join(self.directory, "program"), *(addresses or [self.brokers[0].unix_path])],
            stderr=subprocess.STDOUT, env={**os.environ, **env})
        self.addCleanup(program.close)
        return program


class Tests(Go):
    """What `go test` runs: the examples of the documentation, too."""

    def check(self, *argv):
        broker = self.broker(self.redis(), trust_new=True)
        status = self.client(broker)
        status.ok("WATCH billing-leader")
        out = golang.run(golang.CLIENT, "test", "-count=1", "-timeout=100s", "-v", *argv, ".",
                         LOCKBROKER=f"{broker.unix_path},127.0.0.1:{broker.port}")
        for name in ("TestManyGoroutines", "Example", "ExampleLock_Context", "TestWordsOfTime"):
            self.assertIn(f"--- PASS: {name} (", out)
        self.assertEqual([status.event(), status.event()][1]["value"], "10.0.0.7:80")
        eventually(lambda: status.stats()["clients"] == "1", 10)
        self.assertEqual(status.stats()["locks_held"], "0")

    def test_with_the_race_detector(self):
        if shutil.which("cc") is None:
            self.skipTest("no C compiler is installed")
        self.check("-race")

    def test_with_one_processor(self):
        self.check("-cpu=1")

    def test_without_a_broker(self):
        self.assertRegex(golang.run(golang.CLIENT, "test", "-count=1", "-v", ".", LOCKBROKER=""),
                         "only words are tested(?s:.*)PASS: TestWordsOfAddresses")

    def test_form(self):
        golang.run(golang.CLIENT, "vet", "./...")
        gofmt = subprocess.run(["gofmt", "-l", golang.CLIENT], capture_output=True, text=True,
                               check=False)
        self.assertEqual((gofmt.returncode, gofmt.stdout), (0, ""))
        self.assertEqual(golang.run(golang.CLIENT, "list", "-deps", "-f",
                                    "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").split(),
                         [golang.MODULE])

    def test_other_systems(self):
        """It can be compiled for them."""
        for system, processor in (("darwin", "arm64"), ("windows", "amd64"), ("linux", "386")):
            golang.run(golang.CLIENT, "vet", ".", GOOS=system, GOARCH=processor, CGO_ENABLED="0")

    def test_staticcheck(self):
        done = subprocess.run([golang.staticcheck(), "./..."], cwd=golang.CLIENT,
                              capture_output=True, text=True, check=False,
                              env={**os.environ, **golang.OFFLINE})
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))


class Documents(Go):
    def test_what_readme_says(self):
        """Its commands, with its program, in a new module."""
        self.broker()
        control = self.client()
        fetch, run = re.findall(r"(?m)(?:^    go .*\n)+", README)
        with open(os.path.join(self.directory, "main.go"), "w", encoding="utf-8") as file:
            file.write(re.search(r"^```go\n(package main\n.*?)^```$", README, re.M | re.S)[1])
        golang.run(self.directory, "mod", "init", "example.net/first")
        env = {**os.environ, **golang.OFFLINE, "LOCKBROKER": self.brokers[0].unix_path,
               "SOURCES": SOURCE}
        done = subprocess.run(["sh", "-ec", fetch + run], env=env, cwd=self.directory,
                              capture_output=True, text=True, check=False, timeout=hang(100))
        self.assertRegex(done.stdout, r"^here we work \d+\n$", done.stderr)
        self.assertEqual(control.ok("STATUS nightly-report")["state"], "free")

    def test_what_go_doc_shows(self):
        """Each name has a sentence, and README names it."""
        shown = golang.run(golang.CLIENT, "doc", "-all", ".")
        self.assertNotRegex(shown, r"(?m)^func .*\n\n(func|type)", "one without a comment")
        names = set(re.findall(r"(?m)^(?:func|type) (?:\([^)]*\) )?([A-Z]\w*)", shown))
        self.assertGreater(len(names), 30)
        missing = [name for name in names if not re.search(rf"\b{name}\b", README)]
        self.assertEqual(missing, [])

    def test_version(self):
        version = re.search(r"AC_INIT\(\[lockbroker\], \[([^]]*)\]\)",
                            read_source("configure.ac"))[1]
        self.assertIn(f"\n## {version}\n", read_source("clients/go/CHANGELOG.md"))
        self.assertIn(f"{golang.MODULE}@v{version}\n", README)
        self.assertIn("\ngo 1.21\n", read_source("clients/go/go.mod"))


class Faults(Go):
    def test_a_frozen_program(self):
        """What goes on after it was stopped finds its context ended before it does anything."""
        server = self.redis()
        main = self.broker(server, lease=1.5, trust_new=True)
        second = self.broker(server, lease=1.5, name="b2", ready=True).client()
        program = self.program("""
func use(broker *lockbroker.Broker) {
	err := broker.Do(ctx, "a", func(ctx context.Context, lock *lockbroker.Lock) error {
		say("works")
		for ctx.Err() == nil {
			say("works")
		}
		say("ends", lock.Valid(), errors.Is(context.Cause(ctx), lockbroker.ErrLost))
		return ctx.Err()
	})
	say(errors.Is(err, lockbroker.ErrLost))
}
""")
        self.assertEqual(program.next(), "works")
        program.process.send_signal(signal.SIGSTOP)
        main.freeze()  # else it would renew for ever: the connection stands
        self.addCleanup(main.thaw)
        self.assertEqual(second.ask("LOCK a wait=20s", timeout=20).status, "OK")
        # All that was written before it was stopped has been read when it says nothing more.
        eventually(lambda: self.drained(program), 20)
        program.process.send_signal(signal.SIGCONT)
        said = program.next()
        if said == "works":  # was being written when it was stopped
            said = program.next()
        self.assertEqual([said, program.next()], ["ends 0s true", "true"])
        main.thaw()
        self.assertEqual(program.finish(), 0)

    @staticmethod
    def drained(program):
        size = program.said.qsize()
        while not program.said.empty():
            program.said.get()
        return size == 0

    def test_giving_back_to_a_frozen_broker(self):
        """It was held until then; what is given back is finished when the broker goes on."""
        broker = self.broker(self.redis(), lease=30, trust_new=True)
        control = self.client(broker)
        program = self.program("""
func use(broker *lockbroker.Broker) {
	lock, err := broker.Lock(ctx, "a")
	say(err)
	hear()
	begun := time.Now()
	err = lock.Unlock()
	say(err, time.Since(begun) < 1500*time.Millisecond)
	hear()
}
""")
        self.assertEqual(program.next(), "<nil>")
        broker.freeze()
        self.addCleanup(broker.thaw)
        program.tell()
        self.assertEqual(program.next(), "<nil> true")
        broker.thaw()
        eventually(lambda: control.ok("STATUS a")["state"] == "free", 10)
        program.tell()
        self.assertEqual(program.finish(), 0)

    def test_replacements(self):
        """They are noticed by nobody: no lock is lost, and what is new goes to the new one."""
        broker = self.broker(self.redis(), trust_new=True)
        program = self.program("""
func use(broker *lockbroker.Broker) {
	err := broker.Do(ctx, "a", func(ctx context.Context, lock *lockbroker.Lock) error {
		say("held")
		hear()
		return broker.Do(ctx, "b", func(ctx context.Context, lock *lockbroker.Lock) error {
			return lock.Err()
		})
	})
	say(err)
	hear()
}
""")
        self.assertEqual(program.next(), "held")
        old = broker.replace()
        program.tell()
        self.assertEqual(program.next(), "<nil>")
        eventually(lambda: not old.alive, 30, "it has gone to the new one")
        self.assertEqual(broker.log_lines("lock-lost"), [])
        program.tell()
        self.assertEqual(program.finish(), 0)

    def test_a_session_that_survives(self):
        """Its connection is cut, and it has what it had."""
        broker = self.broker(self.redis(), trust_new=True)
        net = Proxy(f"127.0.0.1:{broker.port}")
        self.addCleanup(net.stop)
        program = self.program("""
func use(_ *lockbroker.Broker) {
	broker, err := lockbroker.Config{Grace: 10 * time.Second}.Open(os.Args[1:]...)
	if err != nil {
		panic(err)
	}
	defer broker.Close()
	err = broker.Semaphore("s", 3).Do(ctx, func(ctx context.Context, lock *lockbroker.Lock) error {
		say("held")
		hear()
		time.Sleep(50 * time.Millisecond)
		say(ctx.Err(), lock.Err())
		return nil
	}, lockbroker.Permits(2))
	say(err)
}
""", f"127.0.0.1:{net.port}")
        self.assertEqual(program.next(), "held")
        control = self.client(broker)
        self.assertEqual(control.ok("STATUS s kind=semaphore")["free"], "1")
        before = self.peer(control)
        net.cut()
        eventually(lambda: self.peer(control) not in (None, before), 10, "another connection")
        program.tell()
        self.assertEqual([program.next(), program.next()], ["<nil> <nil>", "<nil>"])
        self.assertEqual(program.finish(), 0)
        self.assertEqual(control.ask("ACQUIRE s limit=3 permits=3 wait=0").status, "OK")

    def test_a_delay(self):
        program_loses(self, lambda addresses: self.program("""
func use(broker *lockbroker.Broker) {
	lock, err := broker.Lock(ctx, "a", lockbroker.Delay(30*time.Second))
	if err != nil {
		panic(err)
	}
	<-lock.Context().Done()
	say("lost")
	hear()
}
""", addresses))

    def test_slots(self):
        program_keeps_and_loses(self, lambda address: self.program("""
func use(_ *lockbroker.Broker) {
	broker, err := lockbroker.Config{Grace: 10 * time.Second}.Open(os.Args[1:]...)
	if err != nil {
		panic(err)
	}
	defer broker.Close()
	gpus := broker.Semaphore("gpu", 2)
	var held [2]*lockbroker.Lock
	for i := range held {
		if held[i], err = gpus.Acquire(ctx, lockbroker.Slot()); err != nil {
			panic(err)
		}
	}
	one, two := held[0], held[1]
	_, err = gpus.Acquire(ctx, lockbroker.Slot(), lockbroker.Try())
	say(one.Slot(), two.Slot(), err.(*lockbroker.Error).Code)
	hear()
	if one.Err() == nil && two.Err() == nil {
		say(one.Slot(), two.Slot(), "safe")
	}
	if err := two.Unlock(); err != nil {
		panic(err)
	}
	inside := one.Context()
	<-inside.Done()
	say(one.Slot(), context.Cause(inside).(*lockbroker.LostError).Reason)
}
""", address))

    @staticmethod
    def peer(control):
        (row,) = control.ok("QUEUE s kind=semaphore").body
        found = re.search(r" peer=(\S+)", row)
        return found and found[1]

    def test_goroutines_and_descriptors(self):
        """Brokers that are opened and closed leave none behind, nor do locks that are not had."""
        broker = self.broker(self.redis(), trust_new=True)
        self.client(broker).lock("taken")
        program = self.program("""
func use(_ *lockbroker.Broker) {
	before := runtime.NumGoroutine()
	for i := 0; i < 50; i++ {
		broker, err := lockbroker.Open(os.Args[1:]...)
		if err != nil {
			panic(err)
		}
		for n := 0; n < 10; n++ {
			short, cancel := context.WithTimeout(ctx, time.Millisecond)
			go broker.Lock(short, "taken")
			_, err = broker.Lock(short, "taken")
			if err == nil {
				panic("it has two holders")
			}
			cancel()
		}
		_, _ = broker.Lock(ctx, "mine", lockbroker.Keep(0))
		broker.Close()
	}
	time.Sleep(100 * time.Millisecond) // of those that did not wait
	files, _ := os.ReadDir("/proc/self/fd")
	say(runtime.NumGoroutine()-before, len(files) < 20)
}
""")
        self.assertEqual(program.next(60), "0 true")
        self.assertEqual(program.finish(), 0)


class Tls(ClientsTest, Go):
    def test_a_lock(self):
        self.tls_broker()
        use = """
func use(broker *lockbroker.Broker) {
	err := broker.Do(ctx, "a", func(ctx context.Context, lock *lockbroker.Lock) error {
		say(lock.Fence())
		hear()
		return nil
	}, lockbroker.Wait(5*time.Second))
	say(err)
}
"""
        address = f"tls://localhost:{self.port}"
        program = self.program(use, address, CA=self.file("ca.crt"))
        fence = program.next()
        self.assertEqual(str(self.client().ok("STATUS a").fence), fence)
        program.tell()
        self.assertEqual(program.next(), "<nil>")
        self.assertEqual(program.finish(), 0)
        self.assertEqual(self.client().ok("STATUS a")["state"], "free")
        refused = self.start(address)
        self.assertRegex(refused.next(), "no broker answers .*certificate")

    def test_a_user_by_certificate(self):
        self.broker_by_certificate()
        use = """
func use(broker *lockbroker.Broker) {
	for _, name := range []string{"a", "b"} {
		_, err := broker.Lock(ctx, name, lockbroker.Try())
		say(err == nil, errors.Is(err, lockbroker.ErrDenied))
	}
}
"""
        address, files = f"tls://localhost:{self.port}", {"CA": self.file("ca.crt")}
        program = self.program(use, address, CERT=self.file("client.crt"),
                               KEY=self.file("client.key"), **files)
        self.assertEqual([program.next(), program.next()], ["true false", "false true"])
        program = self.start(address, **files)
        self.assertEqual([program.next(), program.next()], 2 * ["false true"])


if __name__ == "__main__":
    unittest.main()
