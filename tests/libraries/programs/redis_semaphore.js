const { BUSY_MS, ports, say, sleep, contend, run } = require("./common.js");
const Redis = require("ioredis"), { Mutex } = require("redis-semaphore");
const clients = ports.map((port) => new Redis(port));
const make = (number, key, ms, more) => new Mutex(clients[number % 2], key,
  { lockTimeout: ms, retryInterval: 20, refreshInterval: 50, acquireTimeout: 200, ...more });
run(async () => {
  await contend(async (number, work) => {
    const mutex = make(number, "busy", BUSY_MS, { acquireTimeout: 60000 });
    await mutex.acquire();
    await work();
    await mutex.release();
  });
  const one = make(0, "job", 300), other = make(1, "job", 300);
  await say("take", () => one.acquire());
  await say("another waits in vain", () => other.acquire());
  await sleep(1000);
  await say("it is renewed", () => one.isAcquired);
  await say("another is refused", () => other.acquire());
  await say("release", () => one.release());
  await say("another takes it", () => other.acquire());
  await say("release it", () => other.release());
});
