'use strict';
// The driver of the conformance story for the client in Node.
// usage: driver.js ADDRESSES [grace]
const { Broker } = require('../node');

const say = (...words) => console.log(words.join(' '));
const options = process.argv.includes('grace') ? { grace: 5000 } : {};
const broker = new Broker(process.argv[2], options);
const blocks = new Map();

const waiting = (wait) => (wait === '-' ? {} : { wait: +wait });

function lock(wait, words, fn) {
  const names = words.filter((word) => !word.includes('='));
  const ask = waiting(wait);
  if (names.length < words.length) ask.value = words.at(-1).replace(/.*?=/, '');
  return broker.request(names, ask, fn);
}

function slot(wait, [name, limit], fn) {
  return broker.semaphore(name, { ...waiting(wait), limit: +limit, slot: true }, fn);
}

async function block(number, ask, ...words) {
  try {
    await ask(...words, (held) => new Promise((end) => {
      held.signal.addEventListener('abort', () => say(number, 'told'));
      blocks.set(number, { lock: held, end });
      say(number, 'held', held.slot === undefined ? held.fences.join() : `slot=${held.slot}`);
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
  if (what === 'lock') block(number, lock, wait, names);
  else if (what === 'slot') block(number, slot, wait, names);
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
