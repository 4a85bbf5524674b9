"""Lock libraries themselves: they are written for Redis, and only the address is another one.

Those that are not installed, and can't be had from npm, are skipped.
"""

import os
import shutil
import subprocess
import sys
import unittest

from lib.case import SystemTest
from lib.wait import eventually, hang

try:
    import redis
except ImportError:
    redis = None

# Takes the lock some times, and writes down when it has it; the file must not be torn.
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
            file.write(text)
        return path

    def python(self, broker):
        script = self.script("job.py", PYTHON)
        return ([sys.executable, script, str(broker.port), self.path, str(self.ROUNDS)], None)

    def node(self, script, *packages):
        """A command that runs a script of node, which may use these packages."""
        if not (shutil.which("node") and shutil.which("npm")):
            self.skipTest("node and npm are not installed")
        modules = os.path.join(self.directory, "node")
        os.mkdir(modules)
        try:
            subprocess.run(["npm", "install", "--silent", *packages],
                           cwd=modules, check=True, capture_output=True, timeout=hang(20))
        except (subprocess.SubprocessError, OSError):
            self.skipTest(f"npm can't install {packages}")
        env = dict(os.environ, NODE_PATH=os.path.join(modules, "node_modules"))
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

    def test_redlock_4(self):
        self.broker()
        self.run_all([self.node(NODE, "redlock@4.2.0", "ioredis@5")])
        self.assertEqual(self.count(), 2 * self.ROUNDS)

    def test_redlock_5(self):
        self.broker()
        self.run_all([self.node(NODE_5, "redlock@5.0.0-beta.2", "ioredis@5")])
        self.assertEqual(self.count(), 2 * self.ROUNDS)

    def check_client(self, package):
        self.broker()
        self.run_all([self.node(CLIENTS[package] + USE, package)])

    def test_ioredis(self):
        self.check_client("ioredis")

    def test_iovalkey(self):
        self.check_client("iovalkey")

    def test_node_redis(self):
        self.check_client("redis")


if __name__ == "__main__":
    unittest.main()
