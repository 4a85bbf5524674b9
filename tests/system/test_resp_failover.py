"""Lock libraries written for Redis, at a pair of brokers of which one is killed.

Each process has one address; behind it is one of the brokers, or the other one if that is gone.
It takes turns with the others until it is told to stop. While it has the lock it makes a file
that must be new, and notes when that was. A last one takes the lock to be killed with it.
"""

import os
import select
import subprocess
import sys
import unittest

from lib import golang, npm
from lib.case import SystemTest, pad_of
from lib.proxy import Proxy
from lib.wait import eventually, hang, patience

PYTHON = r"""
import os, sys, time, redis
from redis.backoff import ConstantBackoff
from redis.exceptions import ConnectionError, LockNotOwnedError
from redis.retry import Retry
port, path, notes, px, mode = sys.argv[1:]
client = redis.Redis(port=int(port), retry=Retry(ConstantBackoff(0.05), 200),
                     retry_on_error=[ConnectionError])
while not os.path.exists(path + ".stop"):
    lock = client.lock("job", timeout=int(px) / 1000, sleep=0.02)
    assert lock.acquire(blocking_timeout=100), "time is over"
    taken = time.monotonic()
    if mode == "die":
        lock.reacquire()
        print(taken, flush=True)
        time.sleep(1000)
    os.close(os.open(path + ".held", os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    with open(notes, "a") as file:
        print(taken, file=file)
    time.sleep(0.005)
    os.unlink(path + ".held")
    try:
        lock.release()
    except LockNotOwnedError:
        pass # It was released, but the answer got lost.
"""

# What every program of node does with a way to take, extend and release.
NODE = r"""
const fs = require("fs");
const Redis = require("ioredis");
const [port, path, notes, px, mode] = process.argv.slice(2);
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const client = new Redis(+port, "127.0.0.1");
client.on("error", () => {}); // It connects again by itself.
async function work(take, extend, release) {
  while (!fs.existsSync(path + ".stop")) {
    let lock = await take();
    const taken = Number(process.hrtime.bigint()) / 1e9;
    if (mode === "die") {
      try {
        lock = await extend(lock);
      } catch { // Its time is over: these libraries count from the first try.
        await release(lock);
        continue;
      }
      console.log(taken);
      await sleep(1e6);
    }
    fs.closeSync(fs.openSync(path + ".held", "wx"));
    fs.appendFileSync(notes, taken + "\n");
    await sleep(5);
    fs.unlinkSync(path + ".held");
    await release(lock);
  }
}
function run(...ways) {
  work(...ways).then(() => process.exit(0),
    (error) => { console.error(error); process.exit(1); });
}
"""

# A release whose answer got lost is refused when it is sent again.
REDLOCK_5 = NODE + r"""
const Redlock = require("redlock").default;
const redlock = new Redlock([client], { retryCount: 3000, retryDelay: 20, retryJitter: 10,
  automaticExtensionThreshold: 1 });
redlock.on("error", () => {});
run(() => redlock.acquire(["job"], +px), (lock) => lock.extend(+px),
  (lock) => redlock.release(lock, { retryCount: 2 }).catch(() => {}));
"""

REDLOCK_4 = NODE + r"""
const Redlock = require("redlock");
const redlock = new Redlock([client], { retryCount: 3000, retryDelay: 20, retryJitter: 10 });
redlock.on("clientError", () => {});
run(() => redlock.lock("job", +px), (lock) => lock.extend(+px),
  (lock) => lock.unlock().catch(() => {}));
"""

RUBY = r"""
require "redis"
require "securerandom"
port, path, notes, px, mode = ARGV
retries = if Redis::VERSION.to_i < 5
  { reconnect_attempts: 100, reconnect_delay: 0.05, reconnect_delay_max: 0.05 }
else
  { reconnect_attempts: [0.05] * 100 }
end
redis = Redis.new(host: "127.0.0.1", port: port.to_i, **retries)
script = 'if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("%s",KEYS[1]%s) ' \
         "else return 0 end"
until File.exist?(path + ".stop")
  token = SecureRandom.hex
  sleep 0.02 until redis.set("job", token, nx: true, px: px.to_i)
  taken = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  if mode == "die"
    extend = script % ["pexpire", ",ARGV[2]"]
    raise "extend" unless redis.eval(extend, keys: ["job"], argv: [token, px]) == 1
    puts taken
    STDOUT.flush
    sleep
  end
  File.open(path + ".held", File::CREAT | File::EXCL | File::WRONLY).close
  File.open(notes, "a") { |file| file.puts(taken) }
  sleep 0.005
  File.unlink(path + ".held")
  redis.eval(script % ["del", ""], keys: ["job"], argv: [token])
end
"""

PERL = r"""
use strict;
use warnings;
use Fcntl;
use IO::Handle;
use Redis;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC sleep);
my ($port, $path, $notes, $px, $mode) = @ARGV;
my $redis;
# It connects again by itself only if it can't send.
sub redis {
    my ($command, @words) = @_;
    for (1 .. 200) {
        my $reply;
        return $reply if eval {
            $redis //= Redis->new(server => "127.0.0.1:$port");
            $reply = $redis->$command(@words);
            1;
        };
        die $@ if $@ =~ /^\[/; # This is an answer.
        undef $redis;
        sleep(0.05);
    }
    die "no broker";
}
my $same = 'if redis.call("get",KEYS[1]) == ARGV[1] then return ';
my $extend = $same . 'redis.call("pexpire",KEYS[1],ARGV[2]) else return 0 end';
my $release = $same . 'redis.call("del",KEYS[1]) else return 0 end';
for (my $i = 0; !-e "$path.stop"; $i++) {
    my $token = "$$-$i";
    sleep(0.02) until redis("set", "job", $token, "NX", "PX", $px);
    my $taken = clock_gettime(CLOCK_MONOTONIC);
    if ($mode eq "die") {
        redis("eval", $extend, 1, "job", $token, $px) == 1 or die "extend";
        print "$taken\n";
        STDOUT->flush;
        sleep(1000);
    }
    sysopen(my $held, "$path.held", O_CREAT | O_EXCL | O_WRONLY) or die "two have it";
    open(my $file, ">>", $notes) or die $!;
    print $file "$taken\n";
    close($file) or die $!;
    sleep(0.005);
    unlink("$path.held");
    redis("eval", $release, 1, "job", $token);
}
"""


# Tries again with a new connection while no broker is there.
PHP = r"""<?php
[, $port, $path, $notes, $px] = $argv;
ini_set("display_errors", "stderr");
error_reporting(E_ALL & ~E_DEPRECATED & ~E_WARNING & ~E_NOTICE);
const SAME = 'if redis.call("get",KEYS[1]) == ARGV[1] then return ';
const RELEASE = SAME . 'redis.call("del",KEYS[1]) else return 0 end';
function again($what) {
    static $client = null;
    for ($i = 0; ; $i++) {
        try {
            return $what($client = $client ?? connect());
        } catch (Exception $error) {
            if ($i == 200)
                throw $error;
            $client = null;
            usleep(50000);
        }
    }
}
function work($take, $release) {
    global $path, $notes;
    while (!file_exists("$path.stop")) {
        $lock = again($take);
        $taken = hrtime(true) / 1e9;
        if (($held = fopen("$path.held", "x")) === false)
            throw new Exception("two have it");
        fclose($held);
        file_put_contents($notes, "$taken\n", FILE_APPEND);
        usleep(5000);
        unlink("$path.held");
        again(function ($client) use ($release, $lock) { $release($client, $lock); });
    }
}
"""

PHP_REDIS = PHP + r"""
function connect() {
    $redis = new Redis();
    if (!@$redis->connect("127.0.0.1", (int) $GLOBALS["port"]))
        throw new Exception("no connection");
    return $redis;
}
work(function ($redis) use ($px) {
    $token = bin2hex(random_bytes(16));
    while (!$redis->set("job", $token, ["nx", "px" => (int) $px]))
        usleep(20000);
    return $token;
}, function ($redis, $token) {
    $redis->eval(RELEASE, ["job", $token], 1);
});
"""

PREDIS = PHP + r"""
require "/usr/share/php/Predis/Autoloader.php";
Predis\Autoloader::register();
function connect() {
    return new Predis\Client(["host" => "127.0.0.1", "port" => $GLOBALS["port"]]);
}
work(function ($redis) use ($px) {
    $token = bin2hex(random_bytes(16));
    while (!$redis->set("job", $token, "PX", $px, "NX"))
        usleep(20000);
    return $token;
}, function ($redis, $token) {
    $redis->eval(RELEASE, 1, "job", $token);
});
"""

SYMFONY = PHP + r"""
require "/usr/share/php/Symfony/Component/Lock/autoload.php";
function connect() {
    $redis = new Redis();
    if (!@$redis->connect("127.0.0.1", (int) $GLOBALS["port"]))
        throw new Exception("no connection");
    return $redis;
}
function lock_of($redis, $key) {
    // What it takes lasts so long until it has heard of it.
    $store = new Symfony\Component\Lock\Store\RedisStore($redis, $GLOBALS["px"] / 1000);
    $factory = new Symfony\Component\Lock\LockFactory($store);
    return $factory->createLockFromKey($key, $GLOBALS["px"] / 1000, false);
}
work(function ($redis) {
    $key = new Symfony\Component\Lock\Key("job");
    if (!lock_of($redis, $key)->acquire(true))
        throw new Exception("not acquired");
    return $key;
}, function ($redis, $key) {
    lock_of($redis, $key)->release();
});
"""

LARAVEL = PHP + r"""
require "/usr/share/php/Predis/Autoloader.php";
require "/usr/share/php/Illuminate/Cache/autoload.php";
Predis\Autoloader::register();
class Connections implements Illuminate\Contracts\Redis\Factory {
    private $client;
    public function __construct($client) {
        $this->client = $client;
    }
    public function connection($name = null) {
        return $this->client;
    }
}
function connect() {
    $client = new Predis\Client(["host" => "127.0.0.1", "port" => $GLOBALS["port"]]);
    return new Illuminate\Cache\RedisStore(new Connections($client));
}
work(function ($store) use ($px) {
    $lock = $store->lock("job", (int) ($px / 1000))->betweenBlockedAttemptsSleepFor(20);
    $lock->block(60);
    return $lock->owner();
}, function ($store, $owner) {
    $store->restoreLock("job", $owner)->release();
});
"""

SEMAPHORE = NODE + r"""
const { Mutex } = require("redis-semaphore");
run(async () => {
  for (;;) {
    const mutex = new Mutex(client, "job", { lockTimeout: +px, retryInterval: 20,
      acquireTimeout: 60000, refreshInterval: 0, onLockLost: () => {} });
    try {
      await mutex.acquire();
      return mutex;
    } catch (error) {
      await sleep(50);
    }
  }
}, (mutex) => mutex, (mutex) => mutex.release().catch(() => {}));
"""

GLIDE = r"""
const fs = require("fs");
const { GlideClient, Script, TimeUnit } = require("@valkey/valkey-glide");
const [port, path, notes, px] = process.argv.slice(2);
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const release = new Script('if redis.call("get",KEYS[1]) == ARGV[1] then ' +
  'return redis.call("del",KEYS[1]) else return 0 end');
const addresses = [{ host: "127.0.0.1", port: +port }];
let client;
async function again(what) {
  for (let i = 0; ; i++) {
    try {
      client = client || await GlideClient.createClient({ addresses, requestTimeout: 2000 });
      return await what();
    } catch (error) { // It connects again by itself.
      if (i === 200) throw error;
      await sleep(50);
    }
  }
}
async function work() {
  for (let i = 0; !fs.existsSync(path + ".stop"); i++) {
    const token = process.pid + "-" + i;
    const how = { conditionalSet: "onlyIfDoesNotExist",
      expiry: { type: TimeUnit.Milliseconds, count: +px } };
    while (await again(() => client.set("job", token, how)) !== "OK") await sleep(20);
    const taken = Number(process.hrtime.bigint()) / 1e9;
    fs.closeSync(fs.openSync(path + ".held", "wx"));
    fs.appendFileSync(notes, taken + "\n");
    await sleep(5);
    fs.unlinkSync(path + ".held");
    await again(() => client.invokeScript(release, { keys: ["job"], args: [token] }));
  }
}
work().then(() => process.exit(0), (error) => { console.error(error); process.exit(1); });
"""

REDIGO = r"""
package main

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/gomodule/redigo/redis"
)

var release = redis.NewScript(1, `if redis.call("get",KEYS[1]) == ARGV[1] then
	return redis.call("del",KEYS[1]) else return 0 end`)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	port, path, notes := os.Args[1], os.Args[2], os.Args[3]
	px, err := strconv.Atoi(os.Args[4])
	check(err)
	pool := &redis.Pool{MaxIdle: 1, Dial: func() (redis.Conn, error) {
		return redis.Dial("tcp", "127.0.0.1:"+port)
	}}
	again := func(what func(conn redis.Conn) (interface{}, error)) interface{} {
		for i := 0; ; i++ {
			conn := pool.Get()
			reply, err := what(conn)
			conn.Close()
			if err == nil {
				return reply
			}
			if i == 200 {
				check(err)
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	note, err := os.OpenFile(notes, os.O_APPEND|os.O_WRONLY, 0600)
	check(err)
	for i := 0; ; i++ {
		if _, err := os.Stat(path + ".stop"); err == nil {
			return
		}
		token := fmt.Sprintf("%d-%d", os.Getpid(), i)
		for again(func(conn redis.Conn) (interface{}, error) {
			return conn.Do("SET", "job", token, "NX", "PX", px)
		}) == nil {
			time.Sleep(20 * time.Millisecond)
		}
		held, err := os.OpenFile(path+".held", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0600)
		check(err)
		held.Close()
		fmt.Fprintln(note, i)
		time.Sleep(5 * time.Millisecond)
		check(os.Remove(path + ".held"))
		again(func(conn redis.Conn) (interface{}, error) {
			return release.Do(conn, "job", token)
		})
	}
}
"""


class Either(Proxy):
    """An address with two brokers behind it: the first, or the second if the first has gone."""

    def __init__(self, *brokers):
        self.paths = [broker.unix_path for broker in brokers]
        super().__init__("unix:" + self.paths[0])

    def _connect(self):
        for path in self.paths:
            self.upstream = "unix:" + path
            try:
                return super()._connect()
            except OSError as error:
                last = error
        raise last


class Killed(SystemTest):
    limit = 120
    PX = 5.0
    LEASE = 10 # Redis may be late by 3 s before the brokers refuse to grant.
    TURNS = 3

    def either(self, *brokers):
        proxy = Either(*brokers)
        self.addCleanup(proxy.stop)
        return proxy

    def start(self, address, mode):
        """A process that takes turns, or one that keeps the lock until it is killed."""
        self.started += 1
        notes = os.path.join(self.directory, f"notes{self.started}")
        with open(notes, "w", encoding="utf-8"):
            pass
        process = subprocess.Popen(
            [*self.command, str(address.port), self.path, notes, str(int(1000 * self.PX)), mode],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.env)
        self.addCleanup(self.bury, process)
        process.notes = notes
        return process

    @staticmethod
    def bury(process):
        process.kill()
        process.communicate()

    def turns(self, process):
        """When it took the lock, each time."""
        if process.poll() is not None:
            # Not an AssertionError, so that nobody waits any longer.
            raise RuntimeError(f"status {process.returncode}: {process.stderr.read()}")
        with open(process.notes, encoding="utf-8") as file:
            return [float(line) for line in file if line.endswith("\n")]

    def all_go_on(self):
        before = [len(self.turns(worker)) for worker in self.workers]
        eventually(lambda: all(len(self.turns(worker)) >= count + self.TURNS
                               for worker, count in zip(self.workers, before)),
                   hang(20), "all go on")

    def dies_with_the_lock(self, address, broker):
        """Nobody else gets it before its time is over. Return the latest moment at which it took
        it."""
        dying = self.start(address, "die")
        ready, _, _ = select.select([dying.stdout], [], [], hang(20))
        taken = dying.stdout.readline() if ready else ""
        self.assertTrue(taken, "it got no lock")
        dying.kill()
        broker.kill()
        return float(taken)

    def start_workers(self, command, env):
        """Two at each of two addresses, which prefer different brokers."""
        self.command, self.env, self.started = command, env, 0
        self.path = os.path.join(self.directory, "job")
        server = self.redis()
        one, other = (self.broker(server, trust_new=True, lease=self.LEASE) for _ in range(2))
        first, second = self.either(one, other), self.either(other, one)
        self.workers = [self.start(address, "work")
                        for address in (first, second, first, second)]
        self.all_go_on()
        return one, other, second

    def outlive(self, command, env=None):
        """They take turns before and after one of the brokers is killed."""
        one, _, _ = self.start_workers(command, env)
        one.kill()
        self.all_go_on()
        self.stop_all()

    def check(self, command, env=None):
        """As outlive(); and what happens to the lock of a process that dies with the other
        broker."""
        one, other, second = self.start_workers(command, env)
        one.kill()
        self.all_go_on()
        one.start()
        one.wait_granting()
        one.expected_status = 0
        taken = self.dies_with_the_lock(second, other)
        eventually(lambda: any(self.turns(worker)[-1] > taken for worker in self.workers),
                   hang(20), "the next has it")
        following = min(moment for worker in self.workers for moment in self.turns(worker)
                        if moment > taken)
        # Nobody looks after its hold: the key ends by itself, a pad later.
        self.assert_within(self.PX, following - taken,
                           patience(self.PX + pad_of(self.LEASE) + 3, taken))
        self.all_go_on()
        self.stop_all()

    def stop_all(self):
        with open(self.path + ".stop", "w", encoding="utf-8"):
            pass
        for worker in self.workers:
            _, error = worker.communicate(timeout=hang(20))
            self.assertEqual(worker.returncode, 0, error)

    def script(self, name, text):
        path = os.path.join(self.directory, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def program(self, language, text, *probe):
        """The probe succeeds if all is there."""
        try:
            subprocess.run([language, *probe], check=True, capture_output=True, timeout=hang(10))
        except (subprocess.SubprocessError, OSError):
            self.skipTest(f"this is not installed: {language} {' '.join(probe)}")
        return [language, self.script("job", text)]

    def check_program(self, language, text, *probe):
        self.check(self.program(language, text, *probe))

    def node(self, text, *packages):
        return ["node", self.script("job.js", text)], npm.install(self.directory, *packages)

    def check_node(self, text, *packages):
        self.check(*self.node(text, *packages))

    def test_redis_py(self):
        self.check_program(sys.executable, PYTHON, "-c", "import redis.retry")

    def test_redlock_5(self):
        self.check_node(REDLOCK_5, "redlock@5.0.0-beta.2", "ioredis@5")

    def test_redlock_4(self):
        self.check_node(REDLOCK_4, "redlock@4.2.0", "ioredis@5")

    def test_redis_rb(self):
        self.check_program("ruby", RUBY, "-e", "require 'redis'")

    def test_redis_of_perl(self):
        self.check_program("perl", PERL, "-e", "use Redis")

    def test_phpredis(self):
        self.outlive(self.program("php", PHP_REDIS, "-r", "new Redis();"))

    def test_predis(self):
        self.outlive(self.program(
            "php", PREDIS, "-r", "require '/usr/share/php/Predis/Autoloader.php';"))

    def test_symfony_lock(self):
        self.outlive(self.program(
            "php", SYMFONY, "-r",
            "new Redis(); require '/usr/share/php/Symfony/Component/Lock/autoload.php';"))

    def test_laravel(self):
        self.outlive(self.program(
            "php", LARAVEL, "-r", "require '/usr/share/php/Predis/Autoloader.php';"
                                  "require '/usr/share/php/Illuminate/Cache/autoload.php';"))

    def test_redis_semaphore(self):
        self.outlive(*self.node(SEMAPHORE, "redis-semaphore@5", "ioredis@5"))

    def test_valkey_glide(self):
        self.outlive(*self.node(GLIDE, "@valkey/valkey-glide@2"))

    def test_redigo(self):
        self.outlive([golang.build(self.directory, "job", REDIGO, "github.com/gomodule/redigo")])


if __name__ == "__main__":
    unittest.main()
