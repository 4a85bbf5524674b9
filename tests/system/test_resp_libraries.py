"""Lock libraries themselves: they are written for Redis, and only the address is another one.

Those that are not installed, and can't be had from npm, are skipped.

Each program takes the lock some times, and counts in a file while it has it: if two had it at a
time, the count would be too low. Most also make another file for as long, which must be new.
"""

import os
import subprocess
import sys
import unittest

from lib import golang, npm
from lib.case import SystemTest
from lib.wait import eventually, hang

try:
    import redis
except ImportError:
    redis = None

PYTHON = r"""
import os, sys, redis
port, path, rounds = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
client = redis.Redis(port=port)
for _ in range(rounds):
    lock = client.lock("job", timeout=20, sleep=0.02)
    assert lock.acquire(blocking_timeout=60)
    with open(path, "r+") as file:
        count = int(file.read())
        assert lock.owned() and client.exists("job") == 1
        lock.extend(10)
        lock.reacquire()
        file.seek(0)
        file.write(str(count + 1))
    lock.release()
"""

NODE = r"""
const fs = require("fs");
const Redis = require("ioredis");
const Redlock = require("redlock");
const [port, path, rounds] = process.argv.slice(2);
const client = new Redis(+port, "127.0.0.1");
const redlock = new Redlock([client], { retryCount: -1, retryDelay: 20, retryJitter: 10 });
async function work() {
  for (let i = 0; i < +rounds; i++) {
    let lock = await redlock.lock("job", 20000);
    const count = +fs.readFileSync(path, "utf8");
    lock = await lock.extend(20000);
    await new Promise((done) => setTimeout(done, 1));
    fs.writeFileSync(path, String(count + 1));
    await lock.unlock();
  }
}
Promise.all([work(), work()]).then(() => client.quit(),
  (error) => { console.error(error); process.exit(1); });
"""

NODE_5 = r"""
const fs = require("fs");
const Redis = require("ioredis");
const Redlock = require("redlock").default;
const [port, path, rounds] = process.argv.slice(2);
const client = new Redis(+port, "127.0.0.1");
const redlock = new Redlock([client], { retryCount: -1, retryDelay: 20, retryJitter: 10 });
async function work() {
  for (let i = 0; i < +rounds; i++) {
    await redlock.using(["job", "other"], 5000, async () => {
      const count = +fs.readFileSync(path, "utf8");
      await new Promise((done) => setTimeout(done, 1));
      fs.writeFileSync(path, String(count + 1));
    });
  }
}
Promise.all([work(), work()]).then(() => client.quit(),
  (error) => { console.error(error); process.exit(1); });
"""

SESAME = NODE_5.replace('require("redlock").default', 'require("@sesamecare-oss/redlock").Redlock')

SEMAPHORE = r"""
const fs = require("fs");
const { Mutex } = require("redis-semaphore");
const [port, path, rounds] = process.argv.slice(2);
const client = new (require("ioredis"))(+port, "127.0.0.1");
const options = { lockTimeout: 20000, retryInterval: 20, refreshInterval: 2,
  onLockLost: (error) => { throw error; } };
async function work() {
  for (let i = 0; i < +rounds; i++) {
    const mutex = new Mutex(client, "job", options);
    await mutex.acquire();
    fs.closeSync(fs.openSync(path + ".held", "wx"));
    const count = +fs.readFileSync(path, "utf8");
    await new Promise((done) => setTimeout(done, 5));
    if (!mutex.isAcquired) throw new Error("lost");
    fs.writeFileSync(path, String(count + 1));
    fs.unlinkSync(path + ".held");
    await mutex.release();
  }
}
Promise.all([work(), work()]).then(() => client.quit(),
  (error) => { console.error(error); process.exit(1); });
"""

# Libraries whose scripts are written in their own ways.
NODE_LOCKS = {
    "@microfleet/ioredis-lock": r"""
const { pathToFileURL } = require("url");
const Redis = require("ioredis");
const file = process.env.NODE_PATH + "/@microfleet/ioredis-lock/lib/redislock.js";
let clients = [];
async function lock() {
  const { createLock } = await import(pathToFileURL(file));
  const client = new Redis(port, { maxRetriesPerRequest: 3 });
  clients.push(client);
  const one = createLock(client, { timeout: 20000, retries: 3000, delay: 20 });
  await one.acquire("job");
  await one.extend(10000);
  return async () => { await one.release(); client.quit(); };
}
""",
    "node-redis-lock": r"""
const client = require("redis3").createClient(port);
const Lock = require("node-redis-lock");
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const all = new Lock({}, client);
let tokens = 0;
const taken = (token) => new Promise((done) => all.acquire("job", 20, token, (e) => done(!e)));
const ask = (...words) => new Promise((done, failed) => {
  const what = words.shift();
  all[what](...words, (error) => error ? failed(error) : done());
});
async function lock() {
  const token = process.pid + "-" + ++tokens;
  while (!(await taken(token))) await sleep(20);
  await ask("renew", "job", 10, token);
  return () => ask("release", "job", token);
}
""",
    "node-redis-warlock": r"""
const client = require("redis3").createClient(port);
const warlock = require("node-redis-warlock")(client);
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const take = () => new Promise((done, failed) =>
  warlock.lock("job", 20000, (error, unlock, id) => error ? failed(error) : done(unlock && id)));
async function lock() {
  let id;
  while (!(id = await take())) await sleep(20);
  await new Promise((done, failed) => warlock.touch("job", id, 10000, (error, reply) =>
    error || reply !== "OK" ? failed(error || reply) : done()));
  return () => new Promise((done, failed) => warlock.unlock("job", id, (error, n) =>
    error || n !== 1 ? failed(error || n) : done()));
}
""",
    # Its using() extends by itself, and tells its program by a signal if it can't.
    "redlock-universal": r"""
const { createLock, IoredisAdapter } = require("redlock-universal");
const adapter = new IoredisAdapter(new (require("ioredis"))(port));
const options = { adapter, key: "job", ttl: 1000, retryAttempts: 3000, retryDelay: 20 };
let ms = 2500;
async function lock() {
  return new Promise((taken, failed) => {
    const over = createLock(options).using(async (signal) => {
      await new Promise((done) => setTimeout(done, ms));
      ms = 0;
      if (signal.aborted) throw signal.reason;
      await new Promise((done) => taken(() => (done(), over)));
    });
    over.catch(failed);
  });
}
""",
    "redis-lock": r"""
const client = require("redis4").createClient({ url: "redis://127.0.0.1:" + port });
let ready;
async function lock() {
  await (ready ||= client.connect());
  return require("redis-lock")(client, 20)("job", 20000);
}
""",
}

LOCK_IN_TURN = r"""
const fs = require("fs");
const [port, path, rounds] = process.argv.slice(2);
@LOCK@
async function work() {
  for (let i = 0; i < +rounds; i++) {
    const unlock = await lock();
    fs.closeSync(fs.openSync(path + ".held", "wx"));
    const count = +fs.readFileSync(path, "utf8");
    await new Promise((done) => setTimeout(done, 2));
    fs.writeFileSync(path, String(count + 1));
    fs.unlinkSync(path + ".held");
    await unlock();
  }
}
work().then(() => process.exit(0), (error) => { console.error(error); process.exit(1); });
"""

# What programs without a library send, as the manual of Redis has it.
RELEASE = ('if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("del",KEYS[1]) '
           "else return 0 end")
EXTEND = ('if redis.call("get",KEYS[1]) == ARGV[1] then '
          'return redis.call("pexpire",KEYS[1],ARGV[2]) else return 0 end')

GLIDE = r"""
const fs = require("fs");
const { GlideClient, Script, TimeUnit } = require("@valkey/valkey-glide");
const [port, path, rounds] = process.argv.slice(2);
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
async function work(worker) {
  const client = await GlideClient.createClient(
    { addresses: [{ host: "127.0.0.1", port: +port }] });
  const release = new Script('@RELEASE@'), extend = new Script('@EXTEND@');
  for (let i = 0; i < +rounds; i++) {
    const token = worker + "-" + i;
    const how = { conditionalSet: "onlyIfDoesNotExist",
      expiry: { type: TimeUnit.Milliseconds, count: 20000 } };
    while (await client.set("job", token, how) !== "OK") await sleep(20);
    fs.closeSync(fs.openSync(path + ".held", "wx"));
    const count = +fs.readFileSync(path, "utf8");
    if (await client.invokeScript(extend, { keys: ["job"], args: [token, "10000"] }) !== 1)
      throw new Error("extend");
    fs.writeFileSync(path, String(count + 1));
    fs.unlinkSync(path + ".held");
    if (await client.invokeScript(release, { keys: ["job"], args: [token] }) !== 1)
      throw new Error("release");
  }
  if (!(await client.customCommand(["LOCK", worker, "wait=5s"]) > 0)) throw new Error("fence");
  if (await client.customCommand(["UNLOCK", worker]) !== 0) throw new Error("depth");
  client.close();
}
Promise.all([work("one"), work("two")]).then(() => process.exit(0),
  (error) => { console.error(error); process.exit(1); });
"""

PHP = r"""<?php
[, $port, $path, $rounds] = $argv;
ini_set("display_errors", "stderr");
error_reporting(E_ALL & ~E_DEPRECATED);
set_error_handler(function ($level, $text) { throw new Exception($text); }, E_WARNING);
function work($path) {
    fclose(fopen("$path.held", "x"));
    $count = (int) file_get_contents($path);
    usleep(1000);
    file_put_contents($path, $count + 1);
    unlink("$path.held");
}
function check($yes, $what) {
    if (!$yes)
        throw new Exception($what);
}
const RELEASE = '@RELEASE@';
const EXTEND = '@EXTEND@';
"""

PHP_REDIS = PHP + r"""
$redis = new Redis();
$redis->connect("127.0.0.1", (int) $port);
for ($i = 0; $i < $rounds; $i++) {
    $token = bin2hex(random_bytes(16));
    while (!$redis->set("job", $token, ["nx", "px" => 20000]))
        usleep(20000);
    work($path);
    check($redis->eval(EXTEND, ["job", $token, 10000], 1) === 1, "extend");
    check($redis->eval(RELEASE, ["job", $token], 1) === 1, "release");
}
"""

PREDIS = PHP + r"""
require "/usr/share/php/Predis/Autoloader.php";
Predis\Autoloader::register();
$redis = new Predis\Client(["host" => "127.0.0.1", "port" => $port]);
for ($i = 0; $i < $rounds; $i++) {
    $token = bin2hex(random_bytes(16));
    while (!$redis->set("job", $token, "PX", 20000, "NX"))
        usleep(20000);
    work($path);
    check($redis->eval(EXTEND, 1, "job", $token, 10000) === 1, "extend");
    check($redis->eval(RELEASE, 1, "job", $token) === 1, "release");
}
"""

SYMFONY = PHP + r"""
require "/usr/share/php/Symfony/Component/Lock/autoload.php";
$redis = new Redis();
$redis->connect("127.0.0.1", (int) $port);
$store = new Symfony\Component\Lock\Store\RedisStore($redis);
$factory = new Symfony\Component\Lock\LockFactory($store);
for ($i = 0; $i < $rounds; $i++) {
    $lock = $factory->createLock("job", 20);
    check($lock->acquire(true), "acquire");
    check(!$factory->createLock("job", 20)->acquire(), "two have it");
    work($path);
    $lock->refresh(10);
    check($lock->isAcquired(), "lost");
    $lock->release();
    check(!$lock->isAcquired(), "release");
}
"""

LARAVEL = PHP + r"""
require "/usr/share/php/Predis/Autoloader.php";
require "/usr/share/php/Illuminate/Cache/autoload.php";
Predis\Autoloader::register();
class Connections implements Illuminate\Contracts\Redis\Factory {
    private $client;
    public function __construct($port) {
        $this->client = new Predis\Client(["host" => "127.0.0.1", "port" => $port]);
    }
    public function connection($name = null) {
        return $this->client;
    }
}
$store = new Illuminate\Cache\RedisStore(new Connections($port));
for ($i = 0; $i < $rounds; $i++) {
    $lock = $store->lock("job", 20)->betweenBlockedAttemptsSleepFor(20);
    $lock->block(60);
    work($path);
    check(!$store->restoreLock("job", "another")->release(), "released by another");
    check($store->restoreLock("job", $lock->owner())->release(), "release");
}
"""

RUBY = r"""
require "redis"
require "securerandom"
port, path, rounds = ARGV
redis = Redis.new(host: "127.0.0.1", port: port.to_i)
release = redis.script(:load, '@RELEASE@')
rounds.to_i.times do
  token = SecureRandom.hex
  sleep 0.02 until redis.set("job", token, nx: true, px: 20000)
  File.open(path + ".held", File::CREAT | File::EXCL | File::WRONLY).close
  count = File.read(path).to_i
  sleep 0.001
  raise "extend" unless redis.eval('@EXTEND@', keys: ["job"], argv: [token, 10000]) == 1
  File.write(path, (count + 1).to_s)
  File.unlink(path + ".held")
  raise "release" unless redis.evalsha(release, keys: ["job"], argv: [token]) == 1
end
"""

PERL = r"""
use strict;
use warnings;
use Fcntl;
use Redis;
my ($port, $path, $rounds) = @ARGV;
my $redis = Redis->new(server => "127.0.0.1:$port");
my $release = $redis->script_load('@RELEASE@');
for my $i (1 .. $rounds) {
    my $token = "$$-$i";
    until ($redis->set("job", $token, "NX", "PX", 20000)) {
        select(undef, undef, undef, 0.02);
    }
    sysopen(my $held, "$path.held", O_CREAT | O_EXCL | O_WRONLY) or die "two have it";
    open(my $file, "<", $path) or die $!;
    my $count = <$file>;
    select(undef, undef, undef, 0.001);
    $redis->eval('@EXTEND@', 1, "job", $token, 10000) == 1 or die "extend";
    open($file, ">", $path) or die $!;
    print $file $count + 1;
    close($file) or die $!;
    unlink("$path.held");
    $redis->evalsha($release, 1, "job", $token) == 1 or die "release";
}
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

var release = redis.NewScript(1, `@RELEASE@`)
var extend = redis.NewScript(1, `@EXTEND@`)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func one(reply interface{}, err error) {
	n, err := redis.Int(reply, err)
	if err == nil && n != 1 {
		err = fmt.Errorf("%d", n)
	}
	check(err)
}

func work(path string) {
	held, err := os.OpenFile(path+".held", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0600)
	check(err)
	held.Close()
	text, err := os.ReadFile(path)
	check(err)
	count, err := strconv.Atoi(string(text))
	check(err)
	time.Sleep(time.Millisecond)
	check(os.WriteFile(path, []byte(strconv.Itoa(count+1)), 0600))
	check(os.Remove(path + ".held"))
}

func main() {
	rounds, err := strconv.Atoi(os.Args[3])
	check(err)
	pool := &redis.Pool{Dial: func() (redis.Conn, error) {
		return redis.Dial("tcp", "127.0.0.1:"+os.Args[1])
	}}
	for i := 0; i < rounds; i++ {
		token := fmt.Sprintf("%d-%d", os.Getpid(), i)
		conn := pool.Get()
		for {
			_, err := redis.String(conn.Do("SET", "job", token, "NX", "PX", 20000))
			if err == nil {
				break
			}
			if err != redis.ErrNil {
				check(err)
			}
			time.Sleep(20 * time.Millisecond)
		}
		work(os.Args[2])
		one(extend.Do(conn, "job", token, 10000))
		one(release.Do(conn, "job", token))
		conn.Close()
	}
}
"""

# Each connects, locks and unlocks with a verb of the broker.
CLIENTS = {
    "ioredis": r"""
const client = new (require("ioredis"))(+process.argv[2], "127.0.0.1");
const call = (...words) => client.call(...words), end = () => client.quit();
""",
    "iovalkey": r"""
const client = new (require("iovalkey"))(+process.argv[2], "127.0.0.1");
const call = (...words) => client.call(...words), end = () => client.quit();
""",
    "redis": r"""
const client = require("redis").createClient({ url: "redis://127.0.0.1:" + process.argv[2] });
const call = (...words) => client.sendCommand(words), end = () => client.close();
""",
}
USE = r"""
async function use() {
  if (client.connect && !client.call) await client.connect();
  const fence = await call("LOCK", "b", "wait=5s");
  if (!(fence > 0)) throw new Error("fence " + fence);
  if (await call("UNLOCK", "b") !== 0) throw new Error("depth");
  await end();
}
use().then(() => process.exit(0), (error) => { console.error(error); process.exit(1); });
"""


class Libraries(SystemTest):
    limit = 120
    ROUNDS = 15

    def setUp(self):
        super().setUp()
        self.path = os.path.join(self.directory, "count")
        with open(self.path, "w", encoding="utf-8") as file:
            file.write("0")

    def run_all(self, commands):
        """Runs them at the same time; each must succeed."""
        running = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=env)
                   for command, env in commands]
        try:
            for process in running:
                _, error = process.communicate(timeout=hang(60))
                self.assertEqual(process.returncode, 0, error)
        finally:
            for process in running:
                process.kill()

    def count(self):
        with open(self.path, encoding="utf-8") as file:
            return int(file.read())

    def script(self, name, text):
        path = os.path.join(self.directory, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace("@RELEASE@", RELEASE).replace("@EXTEND@", EXTEND))
        return path

    def python(self, broker):
        script = self.script("job.py", PYTHON)
        return ([sys.executable, script, str(broker.port), self.path, str(self.ROUNDS)], None)

    def program(self, language, name, text, probe):
        """A command that runs a program; `probe` succeeds if all that it needs is there."""
        try:
            subprocess.run([language, *probe], check=True, capture_output=True, timeout=hang(10))
        except (subprocess.SubprocessError, OSError):
            self.skipTest(f"this is not installed: {language} {' '.join(probe)}")
        return [language, self.script(name, text)]

    def php(self, text, needs):
        return self.program("php", "job.php", text, ["-r", needs])

    def share(self, command, env=None, workers=1):
        """Four processes take turns, at two brokers in front of one Redis."""
        server = self.redis()
        one, other = (self.broker(server, trust_new=True) for _ in range(2))
        self.run_all([([*command, str(broker.port), self.path, str(self.ROUNDS)], env)
                      for broker in (one, other, one, other)])
        self.assertEqual(self.count(), 4 * workers * self.ROUNDS)

    def node(self, script, *packages):
        """A command that runs a script of node, which may use these packages."""
        env = npm.install(self.directory, *packages)
        return (["node", self.script("job.js", script), str(self.brokers[0].port), self.path,
                 str(self.ROUNDS)], env)

    @unittest.skipUnless(redis, "python3-redis is not installed")
    def test_redis_py(self):
        """Two brokers in front of one Redis, and a line client that takes turns with them."""
        server = self.redis()
        one, other = (self.broker(server, trust_new=True) for _ in range(2))
        line = self.client(one)
        line.lock("job")
        running = [self.python(one), self.python(one), self.python(other)]
        line.send("PING")
        line.reply()
        line.ok("UNLOCK job")
        self.run_all(running)
        self.assertEqual(self.count(), 3 * self.ROUNDS)
        self.assertEqual(eventually(lambda: line.ok("STATUS job"), 5)["state"], "free")

    @unittest.skipUnless(redis, "python3-redis is not installed")
    def test_a_lock_of_redis_py(self):
        broker = self.broker()
        client = redis.Redis(port=broker.port)
        self.addCleanup(client.close)
        lock, other = client.lock("a", timeout=10), client.lock("a", timeout=10)
        self.assertTrue(lock.acquire(blocking=False))
        self.assertFalse(other.acquire(blocking=False))
        self.assertTrue(lock.locked() and lock.owned() and not other.owned())
        with self.assertRaises(redis.exceptions.LockNotOwnedError):
            other.local.token = b"x"
            other.release()
        lock.release()
        self.assertFalse(lock.locked())
        self.assertIsInstance(client.execute_command("LOCK", "b"), int)

    def check_node(self, script, package):
        self.broker()
        self.run_all([self.node(script, package, "ioredis@5")])
        self.assertEqual(self.count(), 2 * self.ROUNDS)
        self.assertEqual(self.brokers[0].log_lines("script-unknown"), [])

    def test_redlock_3(self):
        self.check_node(NODE, "redlock@3.1.2")

    def test_redlock_4_0(self):
        self.check_node(NODE, "redlock@4.0.0")

    def test_redlock_4(self):
        self.check_node(NODE, "redlock@4.2.0")

    def test_redlock_5(self):
        self.check_node(NODE_5, "redlock@5.0.0-beta.2")

    def test_sesamecare_redlock(self):
        self.check_node(SESAME, "@sesamecare-oss/redlock@1.4.0")

    def test_redlock_universal(self):
        self.check_lock("redlock-universal", "ioredis@5")

    def test_redis_semaphore_5_3(self):
        self.check_node(SEMAPHORE, "redis-semaphore@5.3.0")

    def test_redis_semaphore(self):
        self.check_node(SEMAPHORE, "redis-semaphore@5")

    def test_phpredis(self):
        self.share(self.php(PHP_REDIS, "new Redis();"))

    def test_predis(self):
        self.share(self.php(PREDIS, "require '/usr/share/php/Predis/Autoloader.php';"))

    def test_symfony_lock(self):
        self.share(self.php(
            SYMFONY, "new Redis(); require '/usr/share/php/Symfony/Component/Lock/autoload.php';"))

    def test_laravel(self):
        self.share(self.php(
            LARAVEL, "require '/usr/share/php/Predis/Autoloader.php';"
                     "require '/usr/share/php/Illuminate/Cache/autoload.php';"))

    def test_redis_rb(self):
        self.share(self.program("ruby", "job.rb", RUBY, ["-e", "require 'redis'"]))

    def test_redis_of_perl(self):
        self.share(self.program("perl", "job.pl", PERL, ["-e", "use Redis"]))

    def test_redigo(self):
        program = golang.build(
            self.directory, "job", REDIGO.replace("@RELEASE@", RELEASE).replace("@EXTEND@", EXTEND),
            "github.com/gomodule/redigo")
        self.share([program])

    def check_lock(self, package, *clients):
        env = npm.install(self.directory, package, *clients)
        script = LOCK_IN_TURN.replace("@LOCK@", NODE_LOCKS[package])
        self.share(["node", self.script("job.js", script)], env)
        self.assertEqual(self.brokers[0].log_lines("script-unknown"), [])

    def test_ioredis_lock(self):
        self.check_lock("@microfleet/ioredis-lock", "ioredis")

    def test_warlock(self):
        self.check_lock("node-redis-warlock", "redis3@npm:redis@3")

    def test_node_redis_lock(self):
        self.check_lock("node-redis-lock", "redis3@npm:redis@3")

    def test_redis_lock(self):
        self.check_lock("redis-lock", "redis4@npm:redis@4")

    def check_client(self, package):
        self.broker()
        self.run_all([self.node(CLIENTS[package] + USE, package)])

    def test_ioredis(self):
        self.check_client("ioredis")

    def test_iovalkey(self):
        self.check_client("iovalkey")

    def test_node_redis(self):
        self.check_client("redis")

    def test_valkey_glide(self):
        self.broker()
        self.run_all([self.node(GLIDE, "@valkey/valkey-glide@2")])
        self.assertEqual(self.count(), 2 * self.ROUNDS)


if __name__ == "__main__":
    unittest.main()
