// A client in Node that takes a lock and gives it back, again and again; see
// clients.py.
// usage: pair.js broker|redis PORT SECONDS
const [kind, where, seconds] = process.argv.slice(2);

// The client of this tree.
function broker() {
  const { Broker } = require(process.env.LOCKBROKER_CLIENT);
  const client = new Broker(where);
  return () => client.request("pair", async () => {});
}

// ioredis with what redlock and others send: SET NX PX, and a script.
function redis() {
  const Redis = require("ioredis");
  const { randomBytes } = require("crypto");
  const client = new Redis(+where, "127.0.0.1");
  client.defineCommand("release", { numberOfKeys: 1, lua:
    "if redis.call('get', KEYS[1]) == ARGV[1] then " +
    "return redis.call('del', KEYS[1]) else return 0 end" });
  return async () => {
    const token = randomBytes(16).toString("hex");
    if (await client.set("pair", token, "PX", 20000, "NX") !== "OK")
      throw new Error("the lock is taken");
    await client.release("pair", token);
  };
}

async function main() {
  const pair = { broker, redis }[kind]();
  const took = [];
  for (let i = 0; i < 100; i++)
    await pair();
  const end = performance.now() + seconds * 1000;
  let begin = performance.now();
  while (begin < end) {
    await pair();
    const now = performance.now();
    took.push((now - begin) * 1000);
    begin = now;
  }
  process.stdout.write(JSON.stringify(took) + "\n", () => process.exit(0));
}

main().catch((error) => { console.error(error); process.exit(1); });
