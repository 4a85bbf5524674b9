const { BUSY_MS, ports, say, sleep, contend, run } = require("./common.js");
const Redis = require("ioredis"), { createLock, IoredisAdapter } = require("redlock-universal");
const adapters = ports.map((port) => new IoredisAdapter(new Redis(port)));
const make = (number, key, ttl, retryAttempts) => createLock({ adapter: adapters[number % 2], key,
  ttl, retryAttempts, retryDelay: 20 });
run(async () => {
  await contend(async (number, work) => {
    const lock = make(number, "busy", BUSY_MS, 1000), handle = await lock.acquire();
    await work();
    if (!await lock.release(handle)) throw new Error("it was lost");
  });
  const one = make(0, "job", 20000, 1), other = make(1, "job", 20000, 1);
  const handle = await one.acquire();
  await say("another is refused", () => other.acquire());
  await say("extend", () => one.extend(handle, 30000));
  await say("release", () => one.release(handle));
  await say("release again", () => one.release(handle));
  const short = make(0, "job", 200, 1), brief = await short.acquire();
  await sleep(400);
  await say("extend what is over", () => short.extend(brief, 1000));
  const next = await other.acquire();
  await say("release what is over", () => short.release(brief));
  await say("release it", () => other.release(next));
});
