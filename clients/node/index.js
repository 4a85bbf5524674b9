'use strict';
/*
 * Distributed locks from lockbroker, in the shape of Web Locks.
 *
 *	const { Broker } = require('lockbroker');
 *	const broker = new Broker();
 *	await broker.request('nightly-report', { wait: 10000 }, async (lock) => {
 *	  await report({ fence: lock.fence, signal: lock.signal });
 *	});
 *
 * How it works: a session is one connection to a broker.  What it holds is safe
 * until the last `valid=` that the broker told it has run out, by this host's
 * own clock and counted from when the question was sent.  So each grant is
 * followed by a PING before the function is called, and each session asks again
 * every third of what it was told.  On one session there is at most one hold or
 * request for a name; a further one takes another session.
 *
 * All times are milliseconds.
 */

const fs = require('fs');
const net = require('net');
const os = require('os');
const { inspect } = require('util');
const {
  ALONE, FAILED, FROZEN, Gone, Limit, LockError, PATIENCE, STILL, Session, Hold,
  TRY_AGAIN, again, duration, field, now, optional, sleep, utf8,
} = require('./session.js');

const LOCAL_SOCKET = '/run/lockbrokerd/lockbrokerd.sock';
const PORT = 5625;
const IDLE = 8; // so many sessions without work are kept
const RETRY = 200; // so long a request waits at least at a second broker
const LOOK = 200; // how often it is looked whether a broker is silent

// Words of the protocol.

const BAD = {
  'bad-name': /[\x00-\x20\x7f=\p{Cs}]/u,
  'bad-option': /[\x00-\x20\x7f\p{Cs}]/u,
};

function word(text, code = 'bad-name') {
  if (typeof text !== 'string')
    throw new TypeError(`not a string: ${inspect(text)}`);
  const [bad] = BAD[code].exec(text) || [];
  if (bad || text === '')
    throw new LockError(code, `not a word: ${JSON.stringify(text)}` +
      (bad ? ` has ${bad === ' ' ? 'a space' : JSON.stringify(bad)} in it` : ''));
  return text;
}

function count(value, what) {
  if (!Number.isSafeInteger(value) || value < 0)
    throw new LockError('bad-option', `${what} is not a number: ${value}`);
  return value;
}

// Options.

const WAIT = ['wait', 'signal'];
const GRANT = [...WAIT, 'ifAvailable', 'steal', 'hold'];
const KNOWN = {
  lock: [...GRANT, 'mode', 'keep', 'delay', 'value', 'trace'],
  semaphore: [...GRANT, 'limit', 'permits', 'slot'],
  wait: WAIT,
  create: ['ttl'],
  broker: ['addresses', 'user', 'password', 'ca', 'cert', 'key', 'grace', 'label',
    'patience'],
};
/* What other libraries call them. */
const MEANT = { timeout: 'wait', acquireTimeout: 'wait', lockTimeout: 'hold',
  ttl: 'hold', duration: 'hold', timeoutMs: 'wait', host: 'addresses' };

/* Refuses an option that would be passed over in silence. */
function checkOptions(kind, options) {
  for (const key of Object.keys(options || {})) {
    if (KNOWN[kind].includes(key)) continue;
    const meant = KNOWN[kind].includes(MEANT[key]) ? MEANT[key] :
      KNOWN[kind].find((one) => [...one].sort().join() === [...key].sort().join() ||
        one.toLowerCase() === key.toLowerCase());
    throw new LockError('bad-option', `no option "${key}"` +
      (meant ? ` (did you mean ${meant}?)` : `; there are ${KNOWN[kind].join(', ')}`));
  }
}

/* The bound of a hold: none at all is undefined, not 0. */
function bound(hold) {
  if (hold != null && !(hold > 0))
    throw new LockError('bad-option', `hold=${hold} would be without end; leave it out`);
  return optional('hold', hold);
}

// Where brokers are.

/* HOST:PORT, :PORT, HOST, or the path of a Unix socket; tls://HOST:PORT. */
function address(given) {
  const [scheme] = /^(?!tls:|tcp:|unix:)\w+:\/\//.exec(given) || [];
  if (scheme)
    throw new LockError('bad-option', `${scheme} is no way to a lockbroker; an ` +
      'address is HOST:PORT, tls://HOST:PORT or a path');
  const text = given.replace(/^(tcp:\/\/|unix:(\/\/)?)/, '');
  if (text.startsWith('/')) return { text: given, path: text, failed: -Infinity };
  const secure = text.startsWith('tls://');
  const [, bracketed, plain, port] =
    /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/.exec(secure ? text.slice(6) : text) ||
    (net.isIPv6(text) ? [text, text] : []);
  if ((bracketed ?? plain) === undefined || port > 65535)
    throw new LockError('bad-option', `not an address: ${given}`);
  return { text: given, secure, host: bracketed || plain || '127.0.0.1',
    port: port === undefined ? PORT : +port, failed: -Infinity };
}

function addresses(given) {
  const split = (list) => list.flatMap((one) => one.split(',')).filter(Boolean);
  for (const one of given)
    if (typeof one !== 'string')
      throw new TypeError(`an address is a string as "HOST:PORT": ${inspect(one)}`);
  let texts = split(given);
  if (!texts.length) texts = split([process.env.LOCKBROKER || '']);
  if (!texts.length) texts = [LOCAL_SOCKET, `127.0.0.1:${PORT}`];
  return texts.map(address);
}

/* PEM itself, or the file that has it. */
function pem(given) {
  if (given == null || typeof given !== 'string' || given.includes('-----BEGIN'))
    return given ?? undefined;
  return fs.readFileSync(given);
}

/* What functions see of a hold. */
class Lock {
  #hold;
  #broker;

  constructor(hold, broker) {
    this.#hold = hold;
    this.#broker = broker;
    this.names = [...hold.want.names];
    this.name = this.names[0];
    this.mode = hold.want.mode;
    this.fence = hold.fences[0];
    this.fences = hold.fences;
    this.slot = hold.slot;
  }

  get signal() {
    return this.#hold.signal;
  }

  get valid() {
    return this.#hold.valid;
  }

  /* Throws if it is lost, or no longer safe by this host's own clock. */
  check() {
    if (this.#hold.valid === 0)
      throw this.#hold.error || new LockError('lost', 'given back');
  }

  /* Changes the value that Broker.value() returns. */
  async setValue(value) {
    await this.#broker.setValue(this.#hold, value);
  }
}

/* The promise, unless the signal is aborted before. */
function abortable(promise, signal) {
  if (!signal) return promise;
  return new Promise((done, fail) => {
    const abort = () => fail(signal.reason);
    const end = (how) => (value) => {
      signal.removeEventListener('abort', abort);
      how(value);
    };
    promise.then(end(done), end(fail));
    signal.addEventListener('abort', abort);
    if (signal.aborted) abort();
  });
}

/* What is asked for: its words, and those that give it back. */
function want(kind, given, verb, rest = '', { mode, hold, delay, undo, once, brief } = {}) {
  const names = Array.isArray(given) ? given.map((name) => word(name)) : [word(given)];
  if (!names.length) throw new LockError('bad-request', 'a lock has a name');
  const all = names.length > 1 ? names.join(' ') : names[0];
  const keys = names.map((name) => `${kind} ${name}`);
  const busy = hold == null ? keys : [...keys, ALONE];
  const line = `${verb} ${all}${rest}`;
  return { kind, names, all, keys, busy, line, mode, hold, delay, undo, once, brief };
}

const MODES = new Map([['exclusive', ''], ['shared', ' mode=shared']]);
const unlock = (all) => `UNLOCK ${all}`;

/* The span of OpenTelemetry in which the program is, if it has one: what its API
 * has registered for all its copies. */
function activeTrace() {
  const api = globalThis[Symbol.for('opentelemetry.js.api.1')];
  const key = Symbol.for('OpenTelemetry Context Key SPAN');
  const span = api?.context?.active()?.getValue(key)?.spanContext();
  if (!/^(?!0+$)[0-9a-f]{32}$/.test(span?.traceId) ||
      !/^(?!0+$)[0-9a-f]{16}$/.test(span.spanId)) return undefined;
  const flags = (span.traceFlags & 255).toString(16).padStart(2, '0');
  return `00-${span.traceId}-${span.spanId}-${flags}`;
}

function wantLock(names, { mode = 'exclusive', hold, keep, delay, value,
  trace = activeTrace() }) {
  if (!MODES.has(mode)) throw new LockError('bad-option', `no mode: ${mode}`);
  const rest = MODES.get(mode) +
    bound(hold) + optional('keep', keep) + optional('delay', delay) +
    (value != null ? ` value=${word(value, 'bad-option')}` : '') +
    (trace != null ? ` trace=${word(trace, 'bad-option')}` : '');
  return want('lock', names, 'LOCK', rest, { mode, hold, delay, undo: unlock });
}

function wantPermits(name, { limit, permits, slot, hold }) {
  if (slot != null && typeof slot !== 'boolean')
    throw new LockError('bad-option', `slot is not true or false: ${inspect(slot)}`);
  if (slot && (permits ?? 1) !== 1)
    throw new LockError('bad-option', `a slot goes with one permit, not with ${permits}`);
  const many = ` permits=${count(permits ?? 1, 'permits')}`;
  const rest = ` limit=${count(limit, 'limit')}${slot ? ' slot=yes' : many}${bound(hold)}`;
  return want('semaphore', name, 'ACQUIRE', rest,
    { hold, undo: (all) => `RELEASE ${all}${many}` });
}

/* Sessions to whichever of the addresses answers first. */
class Broker {
  constructor(...given) {
    const last = given.length - 1;
    const options = typeof given[last] === 'object' && !Array.isArray(given[last]) ?
      given.pop() || {} : {};
    this.addresses = addresses([...given, options.addresses || []].flat());
    for (const key of ['user', 'password', 'label'])
      if (options[key] != null) word(options[key], 'bad-option');
    checkOptions('broker', options);
    this.options = { ...options };
    this.patience = options.patience ?? PATIENCE;
    if (!(this.patience > 0 && this.patience < Infinity))
      throw new LockError('bad-option', `patience is not a time in ms: ${this.patience}`);
    this.why = ' why=yes'; // what a refusal is to tell
    this.sessions = new Set();
    this.waiting = new Set(); // what is asked for
    this.closed = false;
  }

  context({ host }) {
    const { ca, cert, key } = this.options;
    this.files = this.files || { ca: pem(ca), cert: pem(cert), key: pem(key) };
    return { ...this.files, host, servername: net.isIP(host) ? '' : host };
  }

  /* What did not answer a moment ago comes last. */
  places() {
    return [...this.addresses].sort((a, b) => isBad(a) - isBad(b));
  }

  /* Gives back all that is held; functions that still run are told before. */
  async close() {
    this.closed = true;
    await Promise.all([...this.sessions].map(async (session) => {
      for (const hold of [...session.holds]) hold.lose('closed');
      await session.comesBack();
      await session.drop('closed');
    }));
  }

  // Sessions.

  /*
   * One that has nothing to do with these keys, which are entered there.  It may
   * have to be opened yet.
   */
  session(keys, limit) {
    if (this.closed) throw new LockError('closed', 'this Broker is closed');
    let session = this.free(keys);
    if (!session) this.sessions.add(session = new Session(this, limit));
    for (const key of keys) session.busy.add(key);
    session.refer(true);
    return session;
  }

  free(keys) {
    for (const session of this.sessions)
      if (session.isFree(keys)) return session;
    return undefined;
  }

  /* That session once it is open, or another one. */
  async opened(session, keys, until, limit, signal) {
    for (;; session = this.session(keys, limit)) {
      try {
        await this.answer(session.ready, session, limit, signal);
        if (session.state === 'open') return session;
        this.letGo(session, keys);
      } catch (error) {
        this.letGo(session, keys);
        const again = limit.left() > 0 && (error instanceof Gone ||
          (error.code === 'unavailable' &&
            now() + TRY_AGAIN < Math.min(until, now() + limit.left())));
        if (!again) throw error;
        await abortable(sleep(TRY_AGAIN), signal);
      }
    }
  }

  /*
   * The promise, but no longer than the limit allows, nor while the broker of the
   * session is silent for longer than its share of that.
   */
  answer(promise, session, limit, signal) {
    const sent = now();
    const { place } = session;
    // Another address, or, where there is time, this one by another connection.
    const others = limit.left() > 2 * this.patience ||
      this.addresses.some((one) => one !== place && !isBad(one));
    const allowed = session.state === 'new' ? Infinity :
      Math.min(FROZEN, limit.share(others));
    if (session.state !== 'new') session.allow(allowed);
    const every = Math.min(LOOK, Math.max(20, Math.min(allowed, limit.left()) / 4));
    return new Promise((done, fail) => {
      let due = sent + every;
      let begun = sent;
      const timer = setInterval(() => {
        const late = now() - due;
        due = now() + every;
        if (late > STILL) {
          limit.still(late);
          begun += late;
        }
        if (session.heard > sent) limit.quiet = Math.max(limit.quiet, session.heard);
        const silent = now() - Math.max(begun, session.heard);
        if (silent <= allowed && limit.left() > 0) return;
        const gone = new Gone();
        if (silent > allowed / 2 && session.state !== 'new') {
          session.silent = true;
          place.failed = now();
          gone.message = `${place.text} does not answer`;
        } else {
          const asked = place ? place.text : this.addresses.map((one) => one.text).join(', ');
          gone.message = `${asked} did not answer this request in time`;
        }
        end(fail)(gone);
      }, every);
      const end = (how) => (value) => {
        clearInterval(timer);
        if (how === done) limit.quiet = now();
        how(value);
      };
      abortable(promise, signal).then(end(done), end(fail));
    });
  }

  letGo(session, keys) {
    for (const key of keys) session.busy.delete(key);
    if (session.busy.size) return;
    if (this.sessions.size > IDLE &&
        [...this.sessions].filter((one) => !one.busy.size).length > IDLE) session.shut();
    session.settle();
  }

  // Requests.

  /*
   * Asks until there is an answer, and resolves with it: with what is held, and
   * safe for some time, or else with the reply.  What a broker that has gone did
   * not answer is asked again, and so is what was lost before anybody had it,
   * unless its bound was over.
   */
  async ask(what, { wait, signal } = {}) {
    if (wait != null && wait !== Infinity) duration(wait, 'wait');
    const begun = now();
    const end = wait == null ? Infinity : begun + wait;
    const limit = new Limit(this.patience, wait ?? Infinity);
    for (let tries = 1, last = what.once; ; tries++, last = limit.left() <= 0) {
      if (signal) signal.throwIfAborted();
      if (tries > 2) await abortable(sleep(TRY_AGAIN), signal);
      let session = this.session(what.busy, limit);
      await undefined; // who asks in the same turn shares it
      if (session.state !== 'open')
        session = await this.opened(session, what.busy, end, limit, signal);
      const late = tries > 1 || this.addresses.some((one) => one.failed >= begun);
      const rest = this.rest(wait, end, limit, late);
      let said;
      try {
        if (what.undo && session.maybeFree(what.busy, rest)) {
          said = session.try(what);
          const reply = await this.answer(said, session, limit, signal);
          if (session.isFinal(reply, rest)) reply.check();
          else said = undefined;
        }
        if (!said) {
          said = session.take(what, rest);
          const reply = await this.answer(said, session, limit, signal);
          reply.check();
          if (!what.undo) {
            this.takeBack(session, what, said);
            return reply;
          }
          await this.answer(session.ping([said.hold]), session, limit, signal);
        }
        const { hold } = said;
        if (!hold.over && hold.until > now()) return hold;
        hold.lose('unreachable');
        hold.error[again] = hold.reason !== 'hold';
        throw hold.error;
      } catch (error) {
        this.takeBack(session, what, said);
        if (last || !(error instanceof LockError && error[again])) throw error;
        await abortable(session.comesBack(), signal);
      }
    }
  }

  /* How long the broker is to wait: one that is asked after another did not answer
   * gets a moment of the patience, though the time may be over. */
  rest(wait, end, limit, late) {
    if (end === Infinity || wait === 0) return wait === 0 ? 0 : end;
    return Math.max(1, end - now(), late ? Math.min(RETRY, limit.left() / 2) : 0);
  }

  /* Ends a request, and gives back what it was granted, or is granted yet. */
  async takeBack(session, what, said) {
    try {
      if (session.calls.has(said.tag)) await session.send(`CANCEL ${said.tag}`);
      const reply = await said;
      if (said.hold) said.hold.leave();
      if (reply.ok && what.undo) await this.undo(session, what);
      if (reply.error && reply.error[again]) session.shut();
    } catch (error) {
      if (!(error instanceof LockError)) throw error;
    } finally {
      this.letGo(session, what.busy);
    }
  }

  /* Where one of several names was lost, the others are still held. */
  async undo(session, { names, undo }) {
    await Promise.all(names.map((name) => session.send(undo(name))));
  }

  /*
   * Throws if it was lost before.  Where the broker does not answer within the
   * patience, it is finished behind this.
   */
  async release(hold) {
    const { session, want } = hold;
    const lost = hold.valid === 0;
    if (!lost) hold.leave();
    hold.given = true;
    const given = this.giveBack(session, want, lost);
    given.catch(() => {}).finally(() => this.letGo(session, want.busy));
    try {
      await this.answer(given, session, new Limit(this.patience, 0));
    } catch (error) {
      // If the connection is gone, the broker ends it: it was held until now.
      if (!lost && !(error instanceof Gone)) throw error.about(want.names);
    }
    if (lost) throw hold.error;
  }

  /* What was lost is given back as well: a broker may wait for the word. */
  async giveBack(session, want, lost) {
    if (lost) {
      await this.undo(session, want);
      return;
    }
    const { error } = await session.send(want.undo(want.all));
    if (!error) return;
    if (want.names.length > 1) await this.undo(session, want);
    throw error.code === 'not-held' ? new LockError('lost', error.message) : error;
  }

  /* Asks twice where the session has come back in between. */
  async setValue(hold, value) {
    const { session, want: { kind, names } } = hold;
    try {
      word(value, 'bad-option');
      if (kind !== 'lock' || names.length > 1)
        throw new LockError('bad-option', 'only a lock of one name has a value');
      const limit = new Limit(this.patience, 0);
      for (let last = false; ; last = true) {
        if (hold.valid === 0) throw hold.error || new LockError('lost', 'given back');
        const said = session.send(`SETVALUE ${names[0]} value=${value}`);
        try {
          (await this.answer(said, session, limit)).check();
          return;
        } catch (error) {
          if (last || !(error instanceof Gone)) throw error;
          await session.comesBack();
        }
      }
    } catch (error) {
      if (error instanceof LockError) error.about(names);
      throw error;
    }
  }

  /*
   * Calls the function with what is held, and gives it back.  The options may be
   * left out.
   */
  async run(make, names, given, call) {
    const fn = call === undefined ? given : call;
    const options = (call !== undefined && given) || {};
    const { steal, ifAvailable } = options;
    if (typeof fn !== 'function') throw new TypeError('a lock needs a function');
    if (steal) throw new LockError('unsupported', 'a lock can not be stolen');
    checkOptions(make === wantLock ? 'lock' : 'semaphore', options);
    const what = make(names, options);
    let hold = null;
    this.waiting.add(what);
    try {
      hold = await this.ask(what, ifAvailable ? { ...options, wait: 0 } : options);
    } catch (error) {
      if (error instanceof LockError) error.about(what.names);
      if (!ifAvailable || error.code !== 'busy') throw error;
    } finally {
      this.waiting.delete(what);
    }
    if (!hold) return fn(null);
    let value, failure;
    try {
      value = await fn(new Lock(hold, this));
    } catch (error) {
      failure = { error };
    }
    try {
      await this.release(hold);
    } catch (error) {
      // What fails because its signal was aborted fails for that reason.
      if (!failure || failure.error === error ||
          (failure.error && failure.error.cause === error)) throw error;
    }
    if (failure) throw failure.error;
    return value;
  }

  // What there is.

  /* Calls fn with the lock of a name, or of several, all or none. */
  request(names, options, fn) {
    return this.run(wantLock, names, options, fn);
  }

  /* Calls fn once it leads. */
  elect(name, options, fn) {
    return this.request(name, options, fn);
  }

  /* The value of the current holder, through any broker, or undefined. */
  async value(name) {
    const what = want('query', name, 'STATUS', '', { brief: true });
    const found = (await this.ask(what, { wait: 0 })).get('value');
    return found === undefined ? undefined : utf8(found);
  }

  /* Calls fn with permits of a semaphore of which `limit` may be out. */
  semaphore(name, options, fn) {
    return this.run(wantPermits, name, options, fn);
  }

  /* Opens for all when it has been counted down to 0. */
  latch(name) {
    const ask = async (verb, rest, more, options) =>
      +(await this.ask(want('latch', name, verb, rest, more), options)).get('count');
    return {
      create: async (number, options = {}) => {
        checkOptions('create', options);
        return ask('LATCH', ` count=${count(number, 'count')}` +
          optional('ttl', options.ttl), { once: true });
      },
      countDown: async (by = 1) => ask('COUNTDOWN',
        ` by=${count(by, 'by')}`, { once: true }),
      wait: async (options) => {
        checkOptions('wait', options);
        await ask('AWAIT', '', {}, options);
      },
    };
  }

  /* Lets all parties go when the last of them has come. */
  barrier(name, parties) {
    return {
      /* Resolves with how many were still to come: 0 to the last. */
      wait: async (options) => {
        checkOptions('wait', options);
        return +(await this.ask(want('barrier', name, 'BARRIER',
          ` parties=${count(parties, 'parties')}`, { once: true }), options)).get('index');
      },
    };
  }

  /*
   * Who holds locks, and who waits for them, through the same broker: what this
   * object does, and what the broker knows of others.
   */
  async query(pattern = '*') {
    const found = { held: [], pending: [] };
    const clientId = this.options.label || `${os.hostname()}:${process.pid}`;
    const enter = (list, { kind, names, mode }) => {
      for (const name of kind === 'lock' ? names : [])
        if (matches(name, pattern)) list.push({ name, mode, clientId });
    };
    for (const session of this.sessions)
      for (const hold of session.holds)
        if (hold.until) enter(found.held, hold.want);
    for (const one of this.waiting) enter(found.pending, one);
    const rows = await this.rows(pattern);
    const mine = new Set([...this.sessions].map((session) => session.id));
    for (const [name, row] of rows) {
      const session = field(row, 'session');
      const known = session === undefined ?
        found.held.some((one) => one.name === name) : mine.has(session);
      if (known) continue;
      found[row.startsWith('holder ') ? 'held' : 'pending'].push({
        name, mode: field(row, 'mode'), clientId: field(row, 'label') ||
          field(row, 'peer') || field(row, 'broker') });
    }
    return found;
  }

  /* [name, row of QUEUE] of all locks. */
  async rows(pattern) {
    const list = async (verb, name) =>
      (await this.ask(want('query', name, verb, ' limit=1000'))).rows;
    const names = (await list('NAMES', word(pattern)))
      .filter((row) => !field(row, 'kind')).map((row) => row.split(' ', 1)[0]);
    const queues = await Promise.all(names.map(async (name) =>
      (await list('QUEUE', name)).map((row) => [name, row])));
    return queues.flat();
  }
}

/* Did it not answer a moment ago? */
function isBad(place) {
  return now() < place.failed + FAILED;
}

function matches(name, pattern) {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) :
    name === pattern;
}

if (Symbol.asyncDispose)
  Broker.prototype[Symbol.asyncDispose] = Broker.prototype.close;

module.exports = { Broker, LockError };
