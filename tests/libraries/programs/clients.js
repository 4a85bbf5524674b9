// The two scripts of the manual of Redis, by ioredis and by node-redis.
const { BUSY_MS, ports, say, contend, sleep, run } = require("./common.js");
const RELEASE = 'if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("del",KEYS[1]) else return 0 end';
const EXTEND = 'if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("pexpire",KEYS[1],ARGV[2]) else return 0 end';
async function connect(port) {
  if (process.env.CLIENT === "ioredis") {
    const client = new (require("ioredis"))(port);
    return { set: (k, t, ms) => client.set(k, t, "PX", ms, "NX"), get: (k) => client.get(k),
      eval: (text, k, ...args) => client.eval(text, 1, k, ...args) };
  }
  const client = require("redis").createClient({ url: "redis://127.0.0.1:" + port });
  client.on("error", () => {}); // It connects again by itself.
  await client.connect();
  return { set: (k, t, ms) => client.set(k, t, { PX: ms, NX: true }), get: (k) => client.get(k),
    eval: (text, k, ...args) => client.eval(text, { keys: [k], arguments: args.map(String) }) };
}
run(async () => {
  const [one, other] = await Promise.all(ports.map(connect));
  let tokens = 0;
  await contend(async (number, work) => {
    const client = number % 2 ? one : other, token = "t" + process.pid + "-" + ++tokens;
    while (await client.set("busy", token, BUSY_MS) !== "OK") await sleep(10);
    await work();
    if (await client.eval(RELEASE, "busy", token) !== 1) throw new Error("it was lost");
  });
  await say("take", () => one.set("job", "t", 20000));
  await say("another is refused", () => other.set("job", "u", 20000));
  await say("look", () => other.get("job"));
  await say("extend", () => one.eval(EXTEND, "job", "t", 30000));
  await say("another extends", () => other.eval(EXTEND, "job", "u", 30000));
  await say("release of another's", () => other.eval(RELEASE, "job", "u"));
  await say("release", () => one.eval(RELEASE, "job", "t"));
  await say("take for a while", () => one.set("job", "v", 200));
  await sleep(400);
  await say("extend what is over", () => one.eval(EXTEND, "job", "v", 1000));
  await say("take what is over", () => other.set("job", "w", 20000));
  await say("release it", () => other.eval(RELEASE, "job", "w"));
});
