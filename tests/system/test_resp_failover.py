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

from lib import npm
from lib.case import SystemTest
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
redis = Redis.new(host: "127.0.0.1", port: port.to_i, reconnect_attempts: 100,
                  reconnect_delay: 0.05, reconnect_delay_max: 0.05)
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


class Either(Proxy):
    """An address with two brokers behind it: the first, or the second if the first is gone."""

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
        """A process that takes turns, or one that waits for its death with the lock."""
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
            # Not an AssertionError: no use to wait any longer.
            raise RuntimeError(f"status {process.returncode}: {process.stderr.read()}")
        with open(process.notes, encoding="utf-8") as file:
            return [float(line) for line in file if line.endswith("\n")]

    def all_go_on(self):
        before = [len(self.turns(worker)) for worker in self.workers]
        eventually(lambda: all(len(self.turns(worker)) >= count + self.TURNS
                               for worker, count in zip(self.workers, before)),
                   hang(20), "all go on")

    def dies_with_the_lock(self, address, broker):
        """Not before its time is over is it another's. Returns when it took it, at the latest."""
        dying = self.start(address, "die")
        ready, _, _ = select.select([dying.stdout], [], [], hang(20))
        taken = dying.stdout.readline() if ready else ""
        self.assertTrue(taken, "it got no lock")
        dying.kill()
        broker.kill()
        return float(taken)

    def check(self, command, env=None):
        self.command, self.env, self.started = command, env, 0
        self.path = os.path.join(self.directory, "job")
        server = self.redis()
        one, other = (self.broker(server, trust_new=True, lease=self.LEASE) for _ in range(2))
        first, second = self.either(one, other), self.either(other, one)
        self.workers = [self.start(address, "work")
                        for address in (first, second, first, second)]
        self.all_go_on()
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
        self.assert_within(self.PX, following - taken,
                           patience(self.PX + 3, taken))
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

    def check_program(self, language, text, *probe):
        """The probe succeeds if all is there."""
        try:
            subprocess.run([language, *probe], check=True, capture_output=True, timeout=hang(10))
        except (subprocess.SubprocessError, OSError):
            self.skipTest(f"this is not installed: {language} {' '.join(probe)}")
        self.check([language, self.script("job", text)])

    def check_node(self, text, *packages):
        env = npm.install(self.directory, *packages)
        self.check(["node", self.script("job.js", text)], env)

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


if __name__ == "__main__":
    unittest.main()
