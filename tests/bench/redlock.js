// The driver for node-redlock 5; see libraries.py.
// usage: redlock.js PORT WORKERS SECONDS one|own WORK-MS PAUSE-MS
const Redis = require("ioredis");
const Redlock = require("redlock").default;

const [port, workers, seconds, name, workMs, pauseMs] = process.argv.slice(2);
const sleep = (ms) =>
  ms > 0 ? new Promise((done) => setTimeout(done, ms)) : null;
const turns = [];

async function work(client, index, begin) {
  const redlock = new Redlock([client], { retryCount: -1 });
  const resource = name === "one" ? name : "own" + index;
  await sleep(pauseMs * index / workers);
  while (performance.now() < begin + seconds * 1000) {
    const start = performance.now();
    const lock = await redlock.acquire([resource], 20000);
    const taken = performance.now();
    await sleep(+workMs);
    await lock.release();
    const end = performance.now();
    turns.push([(taken - begin) / 1000, index, taken - start, end - start]);
    await sleep(pauseMs * (0.5 + Math.random()));
  }
}

async function main() {
  const clients = [];
  for (let i = 0; i < +workers; i++)
    clients.push(new Redis(+port, "127.0.0.1"));
  await Promise.all(clients.map((client) => client.ping()));
  console.log("ready");
  await new Promise((go) => process.stdin.once("data", go));
  const begin = performance.now();
  await Promise.all(clients.map((client, index) => work(client, index, begin)));
  process.stdout.write(JSON.stringify(turns) + "\n", () => process.exit(0));
}

main().catch((error) => { console.error(error); process.exit(1); });
