/* Runs one of the recipes in Node: main.js NAME ARGUMENT. */
'use strict';

const recipes = require('./recipes');

const programs = {
  once: (day) => recipes.nightlyReport(day),
  lead: (address) => recipes.lead(address),
  leader: async () => console.log(await recipes.leader() || 'none'),
  thumbnails: () => Promise.all([1, 2, 3].map((i) => recipes.thumbnail(`${i}.jpg`))),
  store: async () => {
    const { Pool } = require('pg');
    const books = new Pool({ connectionString: process.env.BOOKS });
    try {
      await recipes.store(books);
    } finally {
      await books.end();
    }
  },
};

programs[process.argv[2]](process.argv[3]).finally(() => recipes.broker.close())
  .catch((error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
