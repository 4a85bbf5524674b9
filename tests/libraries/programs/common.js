// What the programs of node share: each step says what it came to, in words.
const ports = process.argv.slice(2, 4).map(Number);
async function say(what, call) {
  let result;
  try { result = await call(); } catch (error) { result = error.name; }
  console.log(what, ["object", "function"].includes(typeof result) && result ? "done" : String(result));
  return result;
}
// The port of the witness of faults.py and our number there, or nothing.
const witness = process.env.WITNESS?.split(" ").map(Number);
const BUSY_MS = witness ? 6000 : 20000;
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
// While it has the lock: says so to the witness, and goes on when told to.
function witnessed() {
  return new Promise((done, failed) => {
    const socket = require("net").connect(witness[0], "127.0.0.1");
    socket.on("data", () => socket.destroy()).on("close", done).on("error", failed);
    socket.write(witness[1] + "\n");
  });
}
// Takes the lock again and again, until it is killed.
async function hunt(turn) {
  for (;;) {
    try {
      await turn(witness[1], witnessed);
    } catch (error) {
      console.log(`error ${error.name}: ${error.message}`.replace(/\n/g, " "));
      await sleep(50);
    }
  }
}
async function contend(turn) {
  if (witness) await hunt(turn);
  const fs = require("fs"), path = "/tmp/lbl-" + process.pid;
  let done = 0;
  async function work(number) {
    for (let i = 0; i < 5; i++)
      await turn(number, async () => {
        fs.closeSync(fs.openSync(path, "wx"));
        await sleep(1);
        fs.unlinkSync(path);
        done++;
      });
  }
  await Promise.all([...Array(8).keys()].map(work));
  console.log("contend", done);
}
function run(program) {
  program().then(() => process.exit(0), (error) => { console.error(error); process.exit(1); });
}
if (witness) process.on("unhandledRejection", (error) => console.log(`error unhandled: ${error}`));
module.exports = { BUSY_MS, ports, say, sleep, contend, run };
