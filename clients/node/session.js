'use strict';
/*
 * A session: one connection to a broker, what is asked and held there, and the
 * clock by which it is safe.  See index.js.
 */

const dns = require('dns');
const net = require('net');
const os = require('os');
const { performance } = require('perf_hooks');
const tls = require('tls');
const { inspect } = require('util');

const TRY_AGAIN = 100; // between attempts to find a broker
const SILENCE = 10000; // without `wait`, so long no broker may answer in a row
const FAILED = 10000; // so long an address that did not answer is tried last
const PATIENCE = 1000; // a call takes at most so much longer than its `wait`
const STILL = 300; // a timer that is later than this: the program did not run
const FROZEN = 5000; // a broker that says nothing for so long is given up
const CONNECT = 3000; // for one address
const BRIEF = 1000; // an answer is older than its arrival by less
const ROOM = 16384; // so many bytes are read at once
const QUIT = 1000; // so long an answer to QUIT is waited for
const MOMENT = 1000; // so long a request waits for its session to come back
const WARY = 8; // so often a lock is waited for at once after one was not free
// The key of what ends by `hold=`: that bounds the `valid=` of all that its
// session has, so that it gets a session of its own.
const ALONE = 'alone';

/*
 * `names`: what was asked for.  As far as the broker knows: `holder` (label or
 * address of who has it), `broker` (through which), `age` (for so many ms),
 * `before` (so many waited before).
 */
class LockError extends Error {
  constructor(code, text) {
    super(text || code);
    this.code = code;
  }

  /* Says for which names, unless it does already. */
  about(names) {
    if (this.names) return this;
    this.names = names;
    this.message = `${names.join(', ')}: ${this.message}`;
    return this;
  }
}
LockError.prototype.name = 'LockError';

/* For people. */
function span(ms) {
  for (const [unit, length] of [['d', 864e5], ['h', 36e5], ['min', 6e4], ['s', 1e3]])
    if (ms >= length) return `${Math.floor(ms / length)} ${unit}`;
  return `${Math.floor(ms)} ms`;
}

/* Is it to be asked again? */
const again = Symbol('again');

/* The connection is gone, and with it what was asked over it. */
class Gone extends LockError {
  constructor() {
    super('unavailable', 'the broker does not answer');
    this[again] = true;
  }
}

/*
 * A clock that nobody sets.  performance.now() stands still while the host is
 * suspended and os.uptime() does not, but costs a file; so it is read only when
 * the time of day has moved against the other clock.
 */
const started = os.uptime() * 1000 - performance.now();
let apart = Date.now() - performance.now();
let asleep = 0;

function now() {
  const awake = performance.now();
  const moved = Date.now() - awake - apart;
  if (moved > 20 || moved < -20) {
    apart += moved;
    asleep = Math.max(asleep, os.uptime() * 1000 - awake - started);
  }
  return awake + asleep;
}

/*
 * How long one call may take: its `wait` and the patience, not counting time in
 * which the program did not run; without a `wait`, SILENCE from the last answer.
 */
class Limit {
  constructor(patience, wait) {
    this.patience = patience;
    this.quiet = now(); // no broker has answered since
    this.hard = wait === Infinity ? Infinity : this.quiet + wait + patience;
  }

  left() {
    return Math.min(this.hard, this.hard === Infinity ? this.quiet + SILENCE :
      Infinity) - now();
  }

  /* So much of that for one address, if there are others to try. */
  share(others) {
    const left = Math.max(0, this.left());
    return others ? Math.max(left / 2, Math.min(left, this.patience / 2)) : left;
  }

  /* The program stood still for so long. */
  still(ms) {
    this.quiet += ms;
    this.hard += ms;
  }
}

/*
 * Names are resolved once at a time: a name server that is dead keeps a thread of
 * four for as long as it is waited for.
 */
const looked = new Map();

function lookup(host, options, done) {
  const key = JSON.stringify([host, options]);
  const waiting = looked.get(key);
  if (waiting) {
    waiting.push(done);
    return;
  }
  looked.set(key, [done]);
  dns.lookup(host, options, (...found) => {
    const all = looked.get(key);
    looked.delete(key);
    for (const one of all) one(...found);
  });
}

function sleep(ms) {
  return new Promise((done) => setTimeout(done, ms));
}

// Words of the protocol.

function duration(value, what) {
  if (typeof value !== 'number' || !(value >= 0) || value === Infinity)
    throw new LockError('bad-option', `${what} is not a time in ms: ${inspect(value)}`);
  return `${what}=${Math.ceil(value)}ms`;
}

/* The word for an option, if it is given. */
function optional(what, value) {
  return value == null ? '' : ' ' + duration(value, what);
}

const UNITS = { ms: 1, s: 1e3, m: 6e4, h: 36e5, d: 864e5 };

function milliseconds(text) {
  const number = parseInt(text, 10) || 0;
  if (text.endsWith('ms')) return number; // as brokers say it
  return number * (UNITS[text.slice(String(number).length)] || 1);
}

/* What is read has a character for each byte until this has seen it. */
function utf8(text) {
  return Buffer.from(text, 'latin1').toString();
}

/* A reply, taken apart when it is asked for its parts. */
class Reply {
  constructor(text) {
    this.text = text;
    this.ok = text.startsWith('OK');
    this.rows = [];
  }

  get(key) {
    return field(this.text, key);
  }

  /* undefined if it is OK, else the error that it is. */
  get error() {
    if (this.ok) return undefined;
    const text = utf8(this.text);
    const [status, code] = text.split(' ', 2);
    switch (status) {
      case 'BUSY':
        return this.refused('busy', '');
      case 'TIMEOUT':
        return this.refused('timeout', 'not granted in time; ');
      case 'CANCELLED':
        return new LockError('cancelled');
      case 'ERR': {
        const error = new LockError(code || 'internal',
          text.slice(`${status} ${code} `.length));
        error[again] = code === 'shutdown';
        return error;
      }
      default:
        return new LockError('unavailable', text.startsWith('-') ?
          'that is a Redis server, not a lockbroker; use port 5625' :
          `that is no lockbroker: it says ${JSON.stringify(text.slice(0, 40))}`);
    }
  }

  /* ... with what the broker knows (SESSION why=yes). */
  refused(code, begins) {
    const [holder, broker, age, before, kept, name] =
      ['holder', 'broker', 'age', 'before', 'kept', 'name'].map((key) => {
        const value = this.get(key);
        return value === undefined ? undefined : utf8(value);
      });
    let text = begins;
    if (kept) {
      text += `reserved (keep= or delay=) for another ${span(milliseconds(kept))}`;
    } else {
      text += `held by ${holder || 'another'}`;
      if (broker) text += ` through ${broker}`;
      if (age) text += ` for ${span(milliseconds(age))}`;
    }
    if (before) text += `; ${before} before this one`;
    const error = new LockError(code, text);
    Object.assign(error, { holder, broker });
    if (age) error.age = milliseconds(age);
    if (before) error.before = +before;
    return name ? error.about([name]) : error;
  }

  /* Itself if it is OK, or throws the error that it is. */
  check() {
    const error = this.error;
    if (error) throw error;
    return this;
  }
}

/* The value of a word KEY=VALUE, but not of the first. */
function field(text, key) {
  const at = text.indexOf(` ${key}=`);
  if (at < 0) return undefined;
  const from = at + key.length + 2;
  const end = text.indexOf(' ', from);
  return end < 0 ? text.slice(from) : text.slice(from, end);
}

const REASONS = {
  unreachable: ': no broker could confirm it in time',
  hold: ': its hold= is over',
  forced: ': an administrator ended it',
  taken: ': somebody else has it in Redis',
  shutdown: ': the broker stops',
  drill: ': this is a drill; let go of it now',
};

/* What a session has been granted: locks, or permits of a semaphore. */
class Hold {
  constructor(session, want, reply) {
    this.session = session;
    this.want = want;
    const fence = reply.get('fence'); // of each name
    this.fences = want.names.length > 1 && fence ? fence.split(',').map(Number) :
      fence ? [+fence] : [];
    const slot = reply.get('slot');
    this.slot = slot === undefined ? undefined : +slot;
    this.ends = now() + (want.hold ?? Infinity); // by `hold=`, or earlier
    this.until = 0; // by now(); 0: no PING has covered it yet
    this.over = false; // lost, or given back
    this.given = false; // given back, or about to be
    this.reason = this.error = undefined; // why it was lost
    this.controller = undefined; // made when somebody asks for its signal
  }

  lose(reason) {
    if (this.over) return;
    this.leave();
    this.reason = reason;
    this.error = new LockError('lost', `${this.want.names.join(', ')} was lost ` +
      `(${reason})${REASONS[reason] || ''}`);
    this.error.names = this.want.names;
    if (this.controller) this.controller.abort(this.error);
  }

  leave() {
    this.over = true;
    this.session.holds.delete(this);
  }

  /* For so long nobody else can have it; with 0 it is lost. */
  get valid() {
    if (this.over) return 0;
    const left = this.until - now();
    if (left > 0) return left;
    this.session.drop(this.why());
    return 0;
  }

  /* Why the last `valid=` is over: `hold=` bounded it, or no other came. */
  why() {
    return this.ends - this.until < BRIEF ? 'hold' : 'unreachable';
  }

  /*
   * A program that was stopped goes on where it was before any timer runs, so
   * that `aborted` looks at the clock first.
   */
  get signal() {
    if (!this.controller) {
      const controller = this.controller = new AbortController();
      const aborted = () => this.valid === 0 && this.error !== undefined;
      Object.defineProperty(controller.signal, 'aborted', { get: aborted });
      if (this.error) controller.abort(this.error);
    }
    return this.controller.signal;
  }
}

/*
 * One connection, and the session of the broker that belongs to it.  It is
 * `new`, `open` (takes requests), `shut` (takes no more of them), `away` (its
 * connection is lost, and it may come back with its holds) or `gone`.
 */
class Session {
  constructor(broker, limit) {
    this.broker = broker;
    this.state = 'new';
    this.silent = false; // a request was given up; nothing came since
    this.brisk = FROZEN; // the least silence that a request allows
    this.busy = new Set(); // kinds with names that are held or asked for here
    this.holds = new Set();
    this.calls = new Map(); // by tag
    this.tag = 0;
    this.tried = []; // without tags, so in order
    this.wary = 0; // so often a lock is not tried before it is waited for
    this.out = ''; // to be written at the end of this turn
    this.partial = ''; // of a line
    this.rows = undefined; // the reply whose rows are being read
    this.close = () => {}; // ends the connection: 'end', 'reset' or 'destroy'
    this.refer = () => {}; // does the program go on for it?
    this.failed = () => {}; // the connection that is being made has failed
    this.heard = now();
    this.ready = this.connect(limit);
    this.ready.catch(() => {});
  }

  // The connection.

  /* To the first address that answers. */
  async connect(limit) {
    const why = [];
    const places = this.broker.places();
    for (const [i, place] of places.entries()) {
      if (i > 0 && limit.left() <= 0) {
        why.push(`${place.text}: not tried, out of time`);
        continue;
      }
      try {
        const reply = await this.greet(place,
          Math.min(CONNECT, limit.share(i + 1 < places.length)));
        this.place = place;
        this.id = reply.get('id');
        this.key = reply.get('key');
        if (this.state === 'new') this.state = 'open';
        return;
      } catch (error) {
        const passing = !(error instanceof LockError) ||
          ['unavailable', 'shutdown', 'limit'].includes(error.code);
        if (!passing) {
          this.drop();
          throw error;
        }
        place.failed = now();
        if (this.state === 'gone') throw new Gone(); // it said that it stops
        why.push(`${place.text}: ${error.message || 'no answer'}`);
      }
    }
    this.drop();
    throw new LockError('unavailable', `no broker answers (${why.join('; ')})`);
  }

  /* Asks for a session, of an older broker, and where there is no place for its
   * grace, for less. */
  async greet(place, patience) {
    const { broker } = this;
    for (;;) {
      const { why, options: { label, grace } } = broker;
      const hello = 'SESSION' + (label ? ` label=${label}` : '') +
        optional('grace', grace || undefined) + why;
      try {
        return await this.dial(place, hello, patience);
      } catch (error) {
        if (error.code === 'bad-option' && why) {
          broker.why = '';
        } else if (error.code === 'limit' && grace) {
          if (!broker.options.grace) continue;
          broker.options.grace = 0;
          process.emitWarning('lockbroker: locks will not survive a lost ' +
            `connection: the broker refuses grace=: ${error.message}`);
        } else {
          throw error;
        }
      }
    }
  }

  /*
   * A connection to a place, and what is to be said first there.  A frozen
   * broker is connected, too: only an answer tells.
   */
  async dial(place, hello, patience) {
    const { user, password } = this.broker.options;
    this.attach(place);
    const why = new Promise((_, fail) => { this.failed = fail; });
    why.catch(() => {});
    const timer = setTimeout(() => this.failed(new Error('no answer')), patience);
    const { close } = this;
    try {
      const login = user && this.say(`AUTH ${user} ${password}`);
      const said = this.say(hello);
      said.catch(() => {});
      if (login) (await Promise.race([login, why])).check();
      return (await Promise.race([said, why])).check();
    } catch (error) {
      close('destroy');
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  attach(place) {
    const { secure, path, host, port } = place;
    const read = (length, bytes) => {
      if (this.socket === socket) this.read(bytes.toString('latin1', 0, length));
      return true;
    };
    // Without TLS all is read into one buffer, instead of a new one each time.
    const onread = secure ? undefined :
      { buffer: Buffer.allocUnsafeSlow(ROOM), callback: read };
    const raw = net.connect({ path, host, port, noDelay: true, onread, lookup });
    const socket = secure ?
      tls.connect({ ...this.broker.context(place), socket: raw }) : raw;
    if (secure) socket.on('data', (bytes) => read(bytes.length, bytes));
    let why = 'the connection is lost';
    const failed = (error) => { why = error.message; };
    raw.on('error', failed);
    socket.on('error', failed);
    this.out = this.partial = '';
    this.rows = undefined;
    socket.on('close', () => this.socket === socket && this.cut(why));
    this.socket = socket;
    this.close = (how) => {
      if (this.socket === socket) this.socket = undefined;
      if (socket.destroyed) return undefined; // it has ended already
      if (how === 'end') {
        socket.end('QUIT\r\n');
        setTimeout(() => socket.destroy(), QUIT).unref();
        raw[this.broker.closed ? 'ref' : 'unref'](); // close() is waited for
        return new Promise((done) => socket.on('close', done));
      }
      if (how === 'reset' && raw.resetAndDestroy && !path) {
        raw.resetAndDestroy();
      } else {
        socket.destroy();
        raw.destroy();
      }
      return undefined;
    };
    // A program ends if there is nothing left but sessions without work.
    this.refer = (on) => (on ? raw.ref() : raw.unref());
  }

  /* The connection has ended. */
  cut(why) {
    this.socket = undefined;
    this.failed(new Error(why));
    if (this.state === 'new' || this.state === 'away') {
      this.fail();
    } else if ((this.holds.size || this.asked) && this.key &&
        this.broker.options.grace && !this.broker.closed) {
      this.state = 'away';
      this.fail();
      this.home = this.comeBack().catch(() => this.drop('unreachable'));
    } else {
      this.drop(why);
    }
  }

  /*
   * Looks for the session as long as the broker keeps it, though it may hold
   * nothing here: the broker knows what it was granted, and was not told of what
   * was given back meanwhile.
   */
  async comeBack() {
    const end = now() + this.broker.options.grace;
    for (let ended = 0; now() < end && ended < this.broker.addresses.length;
      await sleep(TRY_AGAIN)) {
      ended = 0;
      for (const place of this.broker.addresses) {
        try {
          await this.dial(place, `RESUME key=${this.key}`,
            Math.min(Math.max(end - now(), 1), CONNECT));
          await this.sort();
          return;
        } catch (error) {
          if (this.state !== 'away') return;
          if (error.code === 'not-found') ended++;
        }
      }
    }
    this.drop('unreachable');
  }

  /* Waits for a moment until it is known whether it goes on. */
  async comesBack() {
    if (this.state === 'away') await Promise.race([this.home, sleep(MOMENT)]);
  }

  /*
   * What was asked for when the connection was lost may have been granted, and
   * what is held here may have been lost: the broker lists what there is.
   */
  async sort() {
    const { rows } = (await this.say('LIST')).check();
    const listed = new Map(rows.map((row) => [row.split(' ', 2).join(' '), row]));
    const kept = [...this.holds].filter((hold) =>
      hold.want.keys.every((key) => listed.has(key)));
    for (const hold of [...this.holds])
      if (!kept.includes(hold)) hold.lose('unreachable');
    for (const key of kept.flatMap((hold) => hold.want.keys)) listed.delete(key);
    for (const [key, row] of listed) {
      const [kind, name] = key.split(' ');
      if (kind === 'lock') await this.say(`UNLOCK ${name}`);
      if (kind === 'semaphore')
        await this.say(`RELEASE ${name} permits=${field(row, 'permits')}`);
    }
    await this.ping([...this.holds]);
    // Those given back between the two answers: send() could not say it.
    for (const { want } of kept.filter((hold) => hold.given))
      for (const name of want.names) this.say(want.undo(name)).catch(() => {});
    if (this.state === 'away') this.state = 'open';
    this.settle();
  }

  /*
   * Gives the session up, and with it all that it has.  Returns a promise of the
   * end of its connection.
   */
  drop(reason) {
    if (this.state === 'gone') return undefined;
    // Who still holds something may go on until that is over: a reset, unlike
    // an end, keeps it from others until then.  Nor may an end cut the delay off,
    // which begins with a loss.
    const promised = [...this.holds].some((hold) => hold.until > now() ||
      hold.want.delay > 0);
    this.state = 'gone';
    for (const hold of [...this.holds]) hold.lose(reason);
    clearTimeout(this.timer);
    this.broker.sessions.delete(this);
    const ended = this.close(promised ? 'reset' : 'end');
    this.fail();
    return ended;
  }

  /* All calls fail. */
  fail(error) {
    const calls = [...this.tried, ...this.calls.values()];
    this.tried = [];
    this.calls.clear();
    for (const call of calls) call.fail(error || new Gone());
  }

  // What the broker says.

  read(text) {
    this.heard = now();
    this.silent = false;
    const all = this.partial + text;
    let from = 0;
    for (let end; (end = all.indexOf('\n', from)) >= 0; from = end + 1)
      this.line(all.slice(from, all[end - 1] === '\r' ? end - 1 : end));
    this.partial = all.slice(from);
  }

  line(line) {
    if (this.rows) {
      const { reply, tag } = this.rows;
      reply.rows.push(utf8(line));
      if (--this.rows.left > 0) return;
      this.rows = undefined;
      this.done(reply, tag);
    } else if (line[0] === '!') {
      this.event(utf8(line));
    } else {
      const at = line[0] === '@' ? line.indexOf(' ') : -1;
      const reply = new Reply(line.slice(at + 1));
      const tag = at < 0 ? undefined : +line.slice(1, at);
      const left = reply.ok ? +(reply.get('lines') || 0) : 0;
      if (left) this.rows = { reply, tag, left };
      else this.done(reply, tag);
    }
  }

  done(reply, tag) {
    const call = tag === undefined ? this.tried.shift() : this.calls.get(tag);
    if (tag !== undefined) this.calls.delete(tag);
    if (!this.asked) this.brisk = FROZEN;
    if (call) call.done(reply);
    else if (tag === undefined && reply.error) this.fail(reply.error); // to no request
    else if (tag === undefined) this.drop('that is no broker');
  }

  event(text) {
    const [what, name] = text.split(' ', 2);
    if (what === '!LOST') {
      const key = `${field(text, 'kind') || 'lock'} ${name}`;
      const fence = +field(text, 'fence');
      for (const hold of [...this.holds]) {
        const at = hold.want.keys.indexOf(key);
        if (at >= 0 && !(fence < hold.fences[at]))
          hold.lose(field(text, 'reason'));
      }
    } else if (what === '!SHUTDOWN' || what === '!LEAVING') {
      this.shut();
      if (what === '!SHUTDOWN')
        for (const hold of [...this.holds]) hold.lose('shutdown');
      this.settle();
    }
  }

  /* Takes no more requests. */
  shut() {
    if (this.state === 'gone') return;
    this.state = 'shut';
    if (this.place) this.place.failed = now();
  }

  /* Ends it if there is nothing left to do. */
  settle() {
    if (this.busy.size || this.asked || this.state === 'away') return;
    if (this.state === 'shut') this.drop();
    else this.refer(false);
  }

  // Its own clock.

  /* How long what it has is safe: the least of it. */
  left() {
    let least = Infinity;
    for (const hold of this.holds)
      if (hold.until > 0) least = Math.min(least, hold.until);
    return least - now();
  }

  /* Has the timer come at that time at the latest. */
  arm(at) {
    if (this.timer && this.due <= at) return;
    clearTimeout(this.timer);
    this.due = at;
    this.timer = setTimeout(() => this.tick(), Math.max(Math.ceil(at - now()), 1));
    this.timer.unref();
  }

  /*
   * Asks how long what it has is safe, and says when that is over.  A broker
   * that says nothing is given up, as it may be frozen.
   */
  tick() {
    this.timer = undefined;
    const left = this.left();
    const late = now() - this.due;
    if (late > STILL) this.heard += late; // it was this program
    const frozen = this.asked && now() - this.heard > FROZEN;
    if (left <= 0 || (frozen && !this.holds.size)) {
      const over = [...this.holds].find((hold) => hold.until && hold.until <= now());
      this.drop(over ? over.why() : 'unreachable');
      return;
    }
    if (!this.holds.size && !this.asked) return;
    if (this.state !== 'away') this.ping([...this.holds]).catch(() => {});
    this.arm(now() + Math.min(Math.max(Math.min(left, this.brisk) / 3, 20), left));
  }

  /* What was granted before this is safe for as long as the broker says. */
  ping(holds) {
    const sent = now();
    return this.say('PING', (reply) => this.covers(holds, sent, reply));
  }

  covers(holds, sent, reply) {
    const valid = milliseconds(reply.get('valid') || '');
    if (!valid) return;
    for (const hold of holds) hold.until = Math.max(hold.until, sent + valid);
    this.arm(sent + Math.min(valid, FROZEN) / 3);
  }

  // Requests.

  /* Can these keys be entered here? */
  isFree(keys) {
    if (this.tried.length || this.silent ||
        (this.state !== 'open' && this.state !== 'new'))
      return false;
    return !this.busy.size || !(this.busy.has(ALONE) || keys.includes(ALONE) ||
      keys.some((key) => this.busy.has(key)));
  }

  send(line, at) {
    return this.state === 'away' ? Promise.reject(new Gone()) : this.say(line, at);
  }

  /*
   * Is the lock perhaps free, and nothing else to do here?  Then it is tried
   * first: without tags a PING is answered right behind it, but nothing else is
   * meanwhile.
   */
  maybeFree(keys, rest) {
    if (this.busy.size > keys.length || this.holds.size || this.asked) return false;
    if (rest === 0 || this.wary === 0) return true;
    this.wary--;
    return false;
  }

  /* Is the answer to such a try the one to the request? */
  isFinal(reply, rest) {
    if (reply.ok || rest === 0 || !/^(BUSY|ERR unavailable )/.test(reply.text))
      return true;
    this.wary = WARY;
    return false;
  }

  /* Asks, for so long; what is granted is the `hold` of the promise. */
  take(want, rest) {
    const line = rest === Infinity || want.brief ? want.line :
      want.line + optional('wait', rest);
    const said = this.send(line, (reply) => {
      said.hold = this.granted(want, reply);
    });
    return said;
  }

  /*
   * The same at once or not at all, and what is granted is safe when the promise
   * resolves.  No others use this session until it has been answered.
   */
  try(want) {
    const sent = now();
    let reply;
    const said = new Promise((done, fail) => {
      const grant = (answer) => {
        reply = answer;
        said.hold = this.granted(want, answer);
        if (!said.hold) done(answer);
      };
      const pong = (answer) => {
        if (!said.hold) return;
        this.covers([said.hold], sent, answer);
        done(reply);
      };
      const lost = (error) => {
        if (said.hold) said.hold.leave();
        fail(error);
      };
      if (this.socket) {
        this.hush();
        this.tried.push({ done: grant, fail: lost }, { done: pong, fail: lost });
        this.write(`${want.line} wait=0\r\nPING\r\n`);
      } else {
        fail(new Gone());
      }
    });
    return said;
  }

  granted(want, reply) {
    if (!reply.ok || !want.undo) return undefined;
    const hold = new Hold(this, want, reply);
    this.holds.add(hold);
    return hold;
  }

  /*
   * Resolves with the reply, whatever it says.  `at` is called with it before
   * anything that the broker says later is looked at.
   */
  say(line, at) {
    const tag = ++this.tag;
    const promise = new Promise((done, fail) => {
      if (!this.socket) {
        fail(new Gone());
        return;
      }
      this.hush();
      this.calls.set(tag, { fail, done: at ? (reply) => {
        at(reply);
        done(reply);
      } : done });
      this.write(`@${tag} ${line}\r\n`);
    });
    promise.tag = tag;
    return promise;
  }

  /* From now on the broker's silence counts, unless it does already. */
  hush() {
    if (!this.asked) this.heard = now();
  }

  /* A request allows so much of it: it is asked meanwhile whether it lives. */
  allow(silence) {
    if (silence >= this.brisk) return;
    this.brisk = Math.max(silence, 60);
    this.arm(now() + this.brisk / 3);
  }

  /* So many replies are yet to come. */
  get asked() {
    return this.calls.size + this.tried.length;
  }

  /*
   * What is said in one turn is written together, but at once if nobody else here
   * could say something.
   */
  write(text) {
    if (this.busy.size < 2 && !this.out) {
      this.socket.write(text);
    } else {
      if (!this.out) {
        process.nextTick(() => {
          if (this.socket && this.out) this.socket.write(this.out);
          this.out = '';
        });
      }
      this.out += text;
    }
    this.arm(now() + this.brisk / 3);
  }
}


module.exports = {
  ALONE, FAILED, FROZEN, Gone, Limit, LockError, PATIENCE, STILL, Session, Hold,
  TRY_AGAIN, again, duration, field, now, optional, sleep, utf8,
};
