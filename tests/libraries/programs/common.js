// What the programs of node share: each step says what it came to, in words.
const ports = process.argv.slice(2, 4).map(Number);
async function say(what, call) {
  let result;
  try { result = await call(); } catch (error) { result = error.name; }
  console.log(what, ["object", "function"].includes(typeof result) && result ? "done" : String(result));
  return result;
}
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
async function contend(turn) {
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
module.exports = { ports, say, sleep, contend, run };
