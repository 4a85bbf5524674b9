const { BUSY_MS, ports, say, sleep, contend, run } = require("./common.js");
const Redis = require("ioredis"), Redlock = ours();
// Also of its fork, which has the same interface.
function ours() {
  try {
    return require("redlock").default;
  } catch {
    return require("@sesamecare-oss/redlock").Redlock;
  }
}
function make(port, retryCount) {
  const redlock = new Redlock([new Redis(port)], { retryCount, retryDelay: 20 });
  return redlock.on("error", () => {});
}
run(async () => {
  const busy = ports.map((port) => make(port, -1));
  await contend(async (number, work) => {
    const held = await busy[number % 2].acquire(["busy"], BUSY_MS);
    await work();
    await held.release();
  });
  const one = make(ports[0], 1), other = make(ports[1], 1);
  const lock = await say("take", () => one.acquire(["job"], 20000));
  await say("another is refused", () => other.acquire(["job"], 20000));
  const longer = await say("extend", () => lock.extend(30000));
  await say("release", () => longer.release());
  await say("release again", () => longer.release());
  const short = await say("take for a while", () => one.acquire(["job"], 200));
  await sleep(400);
  await say("extend what is over", () => short.extend(1000));
  const next = await say("take what is over", () => other.acquire(["job"], 20000));
  await say("release it", () => next.release());
});
