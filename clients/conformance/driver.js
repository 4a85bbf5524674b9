'use strict';
// The driver of the conformance story for the client in Node.
// usage: driver.js ADDRESSES [grace]
const { Broker } = require('../node');

const say = (...words) => console.log(words.join(' '));
const options = process.argv.includes('grace') ? { grace: 5000 } : {};
const broker = new Broker(process.argv[2], options);
const blocks = new Map();

async function block(number, wait, words) {
  const names = words.filter((word) => !word.includes('='));
  const ask = wait === '-' ? {} : { wait: +wait };
  if (names.length < words.length) ask.value = words.at(-1).replace(/.*?=/, '');
  try {
    await broker.request(names, ask, (lock) => new Promise((end) => {
      lock.signal.addEventListener('abort', () => say(number, 'told'));
      blocks.set(number, { lock, end });
      say(number, 'held', lock.fences.join());
    }));
    say(number, 'released');
  } catch (error) {
    say(number, error.code, error.message);
  }
}

function check(number) {
  try {
    blocks.get(number).lock.check();
    say(number, 'safe');
  } catch (error) {
    say(number, 'lost');
  }
}

/* What others read, or what can be read of them. */
async function value(number, ask) {
  try {
    say(number, ...await ask());
  } catch (error) {
    say(number, error.code, error.message);
  }
}

const setValue = (number, text) => value(number, async () => {
  await blocks.get(number).lock.setValue(text);
  return ['valued'];
});
const readValue = (number, name) => value(number, async () => {
  const found = await broker.value(name);
  return found === undefined ? ['none'] : ['read', found];
});

/* The event loop stands still. */
function stall(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, +ms);
  say(ms, 'stalled');
}

const lines = require('readline').createInterface({ input: process.stdin });
lines.on('line', (line) => {
  const [what, number, wait, ...names] = line.split(' ');
  if (what === 'lock') block(number, wait, names);
  else if (what === 'unlock') blocks.get(number).end();
  else if (what === 'check') check(number);
  else if (what === 'value') setValue(number, wait);
  else if (what === 'read') readValue(number, wait);
  else if (what === 'stall') stall(number);
});
lines.on('close', async () => {
  for (const one of blocks.values()) one.end();
  await broker.close();
});
