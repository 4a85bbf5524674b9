/* The program's own part of the recipes in Node. */
'use strict';

const fs = require('fs');
const { setTimeout: pause } = require('timers/promises');

const note = (name, line) => fs.appendFileSync(name, line + '\n');

async function waitFor(name, signal) {
  while (!fs.existsSync(name) && !signal?.aborted) await pause(10);
}

exports.report = async (day, signal) => {
  note('did', day);
  if (fs.existsSync('slow')) await waitFor('go', signal);
};

exports.bill = async ({ fence }) => note('billed', `${process.argv[3]}/${fence}`);

exports.convert = async (path, signal) => {
  note('did', '+');
  await waitFor('go', signal);
  note('did', '-');
};

/* It does not heed its signal, so that only the fence ends a late write. */
exports.compute = async () => {
  if (fs.existsSync('slow')) {
    note('did', 'computes');
    await waitFor('go');
  }
  return Number(process.argv[3]);
};
