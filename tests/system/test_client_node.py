"""The Node client (clients/node), as programs use it."""

import hashlib
import json
import os
import re
import signal
import subprocess
import time
import unittest

from lib import npm, spoken
from lib.case import SystemTest
from lib.delays import program_loses
from lib.npm import version
from lib.proxy import Proxy
from lib.slots import program_keeps_and_loses
from lib.wait import eventually, hang
from test_tls_clients import ClientsTest

FOLDER = os.path.join(
    os.environ.get("LOCKBROKER_SRC") or os.path.join(os.path.dirname(__file__), "..", ".."),
    "clients", "node")

# What programs begin with. say() tells the test something; `await hear()` is
# what it answers; code() is the code of the error that a promise ends with.
BEGIN = """
const { Broker, LockError } = require(process.argv[2]);
const given = JSON.parse(process.argv[3]);
const say = (...what) => console.log(JSON.stringify(what));
const lines = require('readline').createInterface({ input: process.stdin });
const heard = [], wanted = [];
lines.on('line', (line) => (wanted.length ? wanted.shift()(line) : heard.push(line)));
const hear = () => (heard.length ? Promise.resolve(heard.shift()) :
  new Promise((done) => wanted.push(done)));
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const aborted = (lock) => new Promise((done) =>
  lock.signal.addEventListener('abort', () => done(lock.signal.reason.code)));
const code = (promise) => promise.then(() => 'none', (error) => error.code || error.name);
const broker = new Broker(...given);
(async () => {
"""
END = """
  await broker.close();
  lines.close();
})();
"""


class Program(spoken.Program):
    """A running program of Node."""

    def __init__(self, path, text, given):
        with open(path, "w", encoding="utf-8") as file:
            file.write(BEGIN + text + END)
        super().__init__(["node", "--unhandled-rejections=strict", path, FOLDER, json.dumps(given)],
                         read=json.loads)


@unittest.skipIf(version() < 18, "node is not installed, or is older than 18")
class Client(SystemTest):
    limit = 60

    def prepare(self, lease=10, **settings):
        self.server = self.redis()
        self.main = self.broker(self.server, lease=lease, trust_new=True, **settings)
        self.control = self.client()

    def start(self, text, *addresses, **options):
        given = list(addresses) or [f"127.0.0.1:{self.main.port}"]
        program = Program(os.path.join(self.directory, f"{time.monotonic_ns()}.js"), text,
                          given + ([options] if options else []))
        self.addCleanup(program.close)
        return program

    def story(self, text, *addresses, **options):
        """All that a program says until its end, which must be a good one."""
        program = self.start(text, *addresses, **options)
        errors = program.end()
        self.assertEqual((program.process.returncode, errors), (0, ""))
        return list(program.said.queue)


class Blocks(Client):
    def test_a_function(self):
        self.prepare()
        program = self.start("""
            say(await broker.request('a', { wait: 5000 }, async (lock) => {
              say(lock.name, lock.mode, lock.fence, lock.valid, lock.signal.aborted);
              await hear();
              lock.check();
              kept = lock;
              return 'value';
            }));
            try { kept.check(); } catch (error) { say(error.code); }
            var kept;""")
        name, mode, fence, valid, aborted = program.next()
        self.assertEqual((name, mode, aborted), ("a", "exclusive", False))
        status = self.control.ok("STATUS a")
        self.assertEqual((status["state"], status.fence), ("held", fence))
        self.assertTrue(1000 < valid <= 10000)
        program.tell()
        self.assertEqual([program.next(), program.next()], [["value"], ["lost"]])
        self.assertEqual(program.end(), "")
        self.assertEqual(self.control.ok("STATUS a")["state"], "free")

    def test_tasks_exclude_each_other(self):
        self.prepare()
        said = self.story("""
            await broker.request('a', async () => {
              say(await broker.request('a', { ifAvailable: true }, (lock) => lock));
              say(await code(broker.request('a', { wait: 0 }, () => 'both')));
              say(await code(broker.request('a', { wait: 100 }, () => 'both')));
            });
            let inside = 0, most = 0;
            const fences = [];
            await Promise.all(Array.from({ length: 50 }, async () => {
              for (let i = 0; i < 4; i++)
                await broker.request('a', async (lock) => {
                  most = Math.max(most, ++inside);
                  fences.push(lock.fence);
                  await sleep(0);
                  inside--;
                });
            }));
            say(most, fences);""")
        self.assertEqual(said[:3], [[None], ["busy"], ["timeout"]])
        most, fences = said[3]
        self.assertEqual((most, len(fences)), (1, 200))
        self.assertEqual(fences, sorted(set(fences)))

    def test_several_names_shared_hold_keep(self):
        self.prepare()
        said = self.story("""
            await broker.request(['a', 'b'], async (lock) => say(lock.names, lock.fences.length));
            await broker.request('s', { mode: 'shared' }, () =>
              broker.request('s', { mode: 'shared', wait: 0 }, (lock) => say(lock.mode)));
            await broker.request('k', { keep: 30000 }, () => {});
            await broker.request('o', async (other) => {
              say(await code(broker.request('h', { hold: 200 }, async (lock) => {
                say(await aborted(lock));
                lock.check();
              })));
              other.check();
            });
            try {
              await broker.request('h', { hold: 200 }, async (lock) => {
                await aborted(lock);
                throw new RangeError('what is under way comes first');
              });
            } catch (error) { say(error.name); }
            say(await code(broker.request('a', { steal: true }, () => {})));""")
        self.assertEqual(said, [[["a", "b"], 2], ["shared"], ["lost"], ["lost"],
                                ["RangeError"], ["unsupported"]])
        self.assertEqual(self.control.ask("TRYLOCK k").status, "BUSY")

    def test_of_several_names_one_is_lost(self):
        """The others are given back with it."""
        self.prepare()
        program = self.start("""
            say(await code(broker.request(['a', 'b', 'c'], async () => {
              say('held');
              await hear();
            })));
            await hear();""")
        program.next()
        self.control.ok("UNLOCK-FORCE b")
        program.tell()
        self.assertEqual(program.next(), ["lost"])
        for name in ("a", "b", "c"):
            self.assertEqual(self.control.ok(f"STATUS {name}")["state"], "free")
        program.tell()
        self.assertEqual(program.end(), "")

    def test_semaphore_latch_barrier_elect(self):
        self.prepare()
        self.control.ok("WATCH leader")
        said = self.story("""
            await broker.semaphore('s', { limit: 2 }, () =>
              broker.semaphore('s', { limit: 2, wait: 0 }, async () =>
                say(await code(broker.semaphore('s', { limit: 2, wait: 0 }, () => {})))));
            await broker.semaphore('s', { limit: 2, permits: 2 }, () => say('both'));
            const latch = broker.latch('l');
            say(await latch.create(2), await code(latch.wait({ wait: 50 })));
            say(await latch.countDown(), await latch.countDown());
            await latch.wait();
            say(await Promise.all([1, 2, 3].map(() => broker.barrier('b', 3).wait())));
            await broker.elect('leader', async () => say((await broker.query()).held));
            await broker.elect('leader', { value: '10.0.0.7:80' }, async (lock) => {
              await lock.setValue('\u00e9l\u00e8ve=1');
              say(await broker.value('leader'), await broker.value('other'),
                await code(lock.setValue('a b')));
            });
            await broker.request(['a', 'b'], async (lock) => say(await code(lock.setValue('x'))));
            say(await code(broker.request('a', { value: 'a b' }, () => {})));""")
        self.assertEqual(said[:4], [["busy"], ["both"], [2, "timeout"], [1, 0]])
        self.assertEqual(sorted(said[4][0]), [0, 1, 2])
        self.assertEqual([(held["name"], held["mode"]) for held in said[5][0]],
                         [("leader", "exclusive")])
        self.assertEqual(said[6:], [["\u00e9l\u00e8ve=1", None, "bad-option"],
                                    *2 * [["bad-option"]]])
        while self.control.event().fields.get("value") != "\u00e9l\u00e8ve=1":
            pass

    def test_slots(self):
        program_keeps_and_loses(self, lambda address: self.start("""
            const gpu = (more, fn) =>
              broker.semaphore('gpu', { limit: 2, slot: true, ...more }, fn);
            await code(gpu({}, async (one) => {
              await gpu({}, async (two) => {
                say(one.slot, two.slot, await code(gpu({ wait: 0 }, () => {})));
                await hear();
                one.check();
                two.check();
                say(one.slot, two.slot, 'safe');
              });
              await aborted(one);
              say(one.slot, /\\((.*)\\)/.exec(one.signal.reason.message)[1]);
            }));""", address, grace=10000))

    def test_slots_that_can_not_be(self):
        self.prepare()
        said = self.story("""
            for (const options of [{ permits: 2 }, { slot: 'yes' }, { limit: 513 }])
              await broker.semaphore('gpu', { limit: 2, slot: true, ...options }, () => {})
                .catch((error) => say(error.code, error.message));
            for (const slot of [undefined, null, false])
              await broker.semaphore('gpu', { limit: 2, permits: 2, slot }, (two) =>
                say(two.slot === undefined));
            await broker.request('gpu', (lock) => say(lock.slot === undefined));
            say(await code(broker.request('gpu', { slot: true }, () => {})));""")
        self.assertEqual(said, [
            ["bad-option", "a slot goes with one permit, not with 2"],
            ["bad-option", "slot is not true or false: 'yes'"],
            ["bad-option", "gpu: slot=yes takes a limit= of at most 512"],
            *4 * [[True]], ["bad-option"]])

    def test_traces(self):
        """Its own option, or the span of OpenTelemetry in which it asks."""
        self.prepare()
        self.story("""
            await broker.request('a', { trace: '00-' + '1'.repeat(32) + '-b7ad6b7169203331-00' },
              () => {});
            const span = { spanContext: () => ({ traceId: '2'.repeat(32),
              spanId: 'b7ad6b7169203331', traceFlags: 1 }) };
            const key = Symbol.for('OpenTelemetry Context Key SPAN');
            globalThis[Symbol.for('opentelemetry.js.api.1')] = { context: { active: () =>
              ({ getValue: (asked) => (asked === key ? span : undefined) }) } };
            await broker.request('a', () => {});""")
        rows = self.control.ok("HISTORY a").body
        self.assertEqual([re.search(r" trace=00-(.)", row)[1] for row in rows], ["2", "1"])

    def test_types(self):
        """A typed program compiles by what index.d.ts says, and a wrong one does not."""
        where = npm.install(self.directory, "typescript", "@types/node")["NODE_PATH"]
        program = """
            import { Broker, LockError } from 'lockbroker';
            async function main() {
              const broker = new Broker('a:1', { grace: 10 });
              const fence: number = await broker.request('x', { wait: 10 }, (lock) => lock.fence);
              const name: string | null = await broker.request(
                ['x', 'y'], { ifAvailable: true }, (lock) => lock === null ? null : lock.name);
              await broker.semaphore('s', { limit: 3 }, (permits) => permits.WHAT);
              const slot: number | null = await broker.semaphore('s',
                { limit: 3, slot: true, ifAvailable: true }, (permit) => permit && permit.slot);
              await broker.latch('l').wait({ wait: 5 }).catch((error: LockError) => error.holder);
              console.log(fence, name, slot);
            }
            void main();"""
        folder = os.path.dirname(where)
        os.symlink(os.path.abspath(FOLDER), os.path.join(where, "lockbroker"))
        for what, status in ("valid", 0), ("fence", 1):
            with open(os.path.join(folder, f"{what}.ts"), "w", encoding="utf-8") as file:
                file.write(program.replace("WHAT", what))
            done = subprocess.run(
                [os.path.join(where, ".bin", "tsc"), "--noEmit", "--strict", "--target", "es2022",
                 "--module", "nodenext", "--moduleResolution", "nodenext", "--preserveSymlinks",
                 f"{what}.ts"], cwd=folder, stdout=subprocess.PIPE, check=False, timeout=hang(60))
            self.assertEqual(min(done.returncode, 1), status, done.stdout)

    def test_errors(self):
        self.prepare()
        said = self.story("""
            say(await code(broker.latch('none').wait()));
            for (const name of ['a b', '', 'a\\r\\nUNLOCK-FORCE b', 'a=b'])
              say(await code(broker.request(name, () => say('no name'))));
            say(await code(broker.request('a'.repeat(5000), () => say('too long'))));
            for (const call of [() => new Broker(6379), () => new Broker('redis://a:1'),
              () => broker.request(5, () => {}),
              () => broker.request('a', { wait: '10' }, () => {})])
              try { await call(); } catch (error) { say(error.message); }
            await broker.request('held', async () => {
              await broker.request('held', { wait: 0 }, () => say('both'))
                .catch((error) => say(error.message.replace(/by .*/, 'by')));
            });
            const nobody = new Broker('127.0.0.1:1');
            say(await code(nobody.request('a', { wait: 0 }, () => say('nobody grants'))));
            await nobody.close();
            say(await code(nobody.request('a', () => say('closed'))));""")
        self.assertEqual(said, [["not-found"]] + [["bad-name"]] * 4 + [
            ["too-long"], ['an address is a string as "HOST:PORT": 6379'],
            ["redis:// is no way to a lockbroker; an address is HOST:PORT, tls://HOST:PORT or a path"],
            ["not a string: 5"], ["a: wait is not a time in ms: '10'"],
            ["held: held by"],
            ["unavailable"], ["closed"]])

    def test_what_others_do_is_seen(self):
        self.prepare()
        self.control.ok("SESSION label=worker")
        self.control.lock("a")
        program = self.start("""
            const waiting = broker.request('a', () => say('granted'));
            let seen;
            do seen = await broker.query('a*');
            while (!seen.pending.length);
            say(seen);
            await waiting;""", label="here")
        seen, = program.next()
        self.assertEqual([(one["name"], one["clientId"]) for one in seen["held"]],
                         [("a", "worker")])
        self.assertEqual([(one["name"], one["clientId"]) for one in seen["pending"]],
                         [("a", "here")])
        self.control.ok("UNLOCK a")
        self.assertEqual(program.next(), ["granted"])
        self.assertEqual(program.end(), "")

    def test_names_in_pieces(self):
        """Characters of several bytes, and each byte comes by itself."""
        self.prepare()
        net = Proxy(f"127.0.0.1:{self.main.port}")
        self.addCleanup(net.stop)
        net.split = True
        program = self.start("""
            const names = ['größe', '鍵', '𝄞'];
            say(await code(broker.request(names, async (lock) => {
              const { held } = await broker.query();
              say(held.map((one) => one.name).sort(), lock.fences.length);
              say(await aborted(lock), lock.signal.reason.message);
            })));
            const other = new Broker(given[0]);
            await broker.request(names, async () => {
              say((await other.query()).held.map((one) => one.name).sort());
            });
            await other.close();
            say(await broker.request('é'.repeat(200), () => {}).catch((e) => e.message));""",
                             net.address)
        names = sorted(["größe", "鍵", "𝄞"])
        self.assertEqual(program.next(), [names, 3])
        self.control.ok("UNLOCK-FORCE 鍵")
        self.assertEqual(program.next(), ["lost", "größe, 鍵, 𝄞 was lost (forced): an administrator ended it"])
        self.assertEqual([program.next(), program.next()], [["lost"], [names]])
        self.assertIn('"éééé', program.next()[0])
        self.assertEqual(program.end(), "")

    def test_what_is_asked_at_once_shares_a_session(self):
        self.prepare()
        self.assertEqual(self.story("""
            for (let i = 0; i < 3; i++) {
              await Promise.all(Array.from({ length: 50 }, (_, n) =>
                broker.request(`n${n}`, () => {})));
              say(broker.sessions.size);
            }"""), [[1]] * 3)

    def test_users(self):
        secret = "s" * 43
        users = os.path.join(self.directory, "users")
        with open(users, "w", encoding="utf-8") as file:
            file.write("deploy:sha256:" + hashlib.sha256(secret.encode()).hexdigest() + "\n")
        os.chmod(users, 0o600)
        self.prepare(auth={"users": [{"name": "deploy", "lock": ["deploy/*"]}],
                           "users_file": users}, ready=False)
        eventually(lambda: self.main.log_lines("guard-ready"), 10, "it grants")
        text = """
            say(await code(broker.request('deploy/web', () => {})));
            say(await code(broker.request('other', () => {})));"""
        self.assertEqual(self.story(text, user="deploy", password=secret), [["none"], ["denied"]])
        wrong = self.story(text, user="deploy", password="wrong")
        self.assertEqual(wrong, [["auth"], ["auth"]])

    def test_a_broker_that_leaves(self):
        self.prepare()
        second = self.broker(self.server, name="b2", lease=10)
        program = self.start("""
            await broker.request('a', async (lock) => {
              say('a');
              await hear();
              await broker.request('b', { wait: 10000 }, async () => {
                say('b');
                await hear();
              });
              lock.check();
            });""", self.main.unix_path, second.unix_path)
        self.assertEqual(program.next(), ["a"])
        self.control.ok("DRAIN")
        program.tell()
        self.assertEqual(program.next(), ["b"])
        self.assertEqual(second.client().ok("STATUS b")["state"], "held")
        program.tell()
        self.assertEqual(program.end(), "")
        eventually(lambda: not self.main.process.alive, 10)

    def test_an_aborted_wait_gives_back_what_comes(self):
        self.prepare()
        self.control.lock("a")
        program = self.start("""
            const end = new AbortController();
            const waiting = code(broker.request('a', { signal: end.signal }, () => say('held')));
            await hear();
            end.abort();
            say(await waiting);
            await hear();
            await broker.request('a', { wait: 5000 }, () => say('then'));""")
        eventually(lambda: self.control.ok("STATUS a")["waiters"] == "1", 10)
        program.tell()
        self.assertIn(program.next(), (["AbortError"], [20]))  # 20: what DOMException calls it
        eventually(lambda: self.control.ok("STATUS a")["waiters"] == "0", 10)
        self.control.ok("UNLOCK a")
        program.tell()
        self.assertEqual(program.next(), ["then"])
        self.assertEqual(program.end(), "")


class Faults(Client):
    def test_a_cut_connection(self):
        self.prepare()
        net = Proxy(f"127.0.0.1:{self.main.port}")
        self.addCleanup(net.stop)
        program = self.start("""
            say(await code(broker.request('a', async (lock) => {
              say('a');
              say(await aborted(lock));
            })));
            await broker.request('b', { wait: 10000 }, () => say('b'));""",
                             f"127.0.0.1:{net.port}")
        self.assertEqual(program.next(), ["a"])
        net.cut()
        self.assertEqual([program.next() for _ in range(3)], [["lost"], ["lost"], ["b"]])
        self.assertEqual(program.end(), "")

    def test_a_delay(self):
        program_loses(self, lambda addresses: self.start("""
            await code(broker.request('a', { delay: 30000 }, async (lock) => {
              say(await aborted(lock));
              await hear();
            }));""", addresses))

    def test_a_session_is_resumed(self):
        self.prepare()
        net = Proxy(f"127.0.0.1:{self.main.port}")
        self.addCleanup(net.stop)
        program = self.start("""
            await broker.request('a', async (lock) => {
              say(lock.fence);
              await hear();
              for (let last = lock.valid; last >= lock.valid;) {
                last = lock.valid;
                await sleep(10);
              }
              say(lock.signal.aborted);
              await hear();
            });""", f"127.0.0.1:{net.port}", grace=10000)
        fence, = program.next()
        net.cut()
        eventually(lambda: net.connections == 2, 5)
        program.tell()
        self.assertEqual(program.next(), [False])
        self.assertEqual(self.control.ok("STATUS a").fence, fence)
        program.tell()
        self.assertEqual(program.end(), "")
        self.assertEqual(self.control.ok("STATUS a")["state"], "free")

    def test_what_was_asked_when_the_connection_was_lost(self):
        """It is asked again, and what the broker had done of it is found by the session that
        is resumed: nothing is kept until the grace is over."""
        self.prepare()
        net = Proxy(f"127.0.0.1:{self.main.port}")
        self.addCleanup(net.stop)
        program = self.start("""
            const block = async (lock) => {
              say(lock.valid > 0);
              await hear();
            };
            const kinds = {
              LOCK: () => broker.request('b', { wait: 20000 }, block),
              PING: () => broker.request('b', { wait: 20000 }, block),
              TRY: () => broker.request('b', { wait: 0 }, block),
              ACQUIRE: () => broker.semaphore('p', { limit: 1, wait: 20000 }, block),
            };
            const check = async () => {
              for (let what; (what = await hear()) !== 'end';) {
                await kinds[what]();
                say('given');
              }
            };
            await check();
            await broker.request('a', async (lock) => {
              await check();
              say(lock.signal.aborted);
            });""", f"127.0.0.1:{net.port}", grace=200000)
        for _ in range(2):
            for happens in (net.drop_reply, net.drop_request):
                for what, take, give in (("LOCK", "LOCK b", "UNLOCK b"), ("PING", "PING", "b"),
                                         ("TRY", "LOCK b", "UNLOCK b"),
                                         ("ACQUIRE", "ACQUIRE p", "RELEASE p")):
                    happens(take)
                    program.tell(what)
                    self.assertEqual(program.next(), [True])
                    self.assertTrue(net.fired.is_set())
                    happens(give)
                    program.tell()
                    self.assertEqual(program.next(), ["given"])
                    self.assertTrue(net.fired.is_set())
                    eventually(lambda: self.control.ok("STATUS b")["state"] == "free", 10)
            program.tell("end")
        self.assertEqual(program.next(), [False])
        self.assertEqual(program.end(), "")
        self.assertEqual(self.control.stats()["locks_held"], "0")

    def test_a_frozen_broker(self):
        self.prepare(lease=1.5)
        second = self.broker(self.server, lease=1.5, name="b2")
        program = self.start("""
            say(await code(broker.request('a', async (lock) => {
              say('a');
              await aborted(lock);
              say(lock.valid);
            })));
            await broker.request('b', { wait: 20000 }, () => say('b'));""",
                             f"127.0.0.1:{self.main.port}", f"127.0.0.1:{second.port}")
        self.assertEqual(program.next(), ["a"])
        self.main.freeze()
        self.addCleanup(self.main.thaw)
        other = second.client()
        other.send("LOCK a wait=20s")
        # Nobody else has it before the function was told.
        self.assertEqual(program.next(), [0])
        told = time.monotonic()
        self.assertEqual(other.reply(20).status, "OK")
        self.assertGreaterEqual(time.monotonic(), told)
        self.assertEqual([program.next(), program.next()], [["lost"], ["b"]])
        self.assertEqual(program.end(), "")
        self.main.thaw()

    def test_a_frozen_program(self):
        """What goes on after it was stopped finds its signal aborted before it does anything."""
        self.prepare(lease=1.5)
        second = self.broker(self.server, lease=1.5, name="b2").client()
        program = self.start("""
            say(await code(broker.request('a', async (lock) => {
              say('a');
              for (let i = 0; !lock.signal.aborted; i++)
                if (i % 1e6 === 0) say('works');
              say('ends', lock.valid);
            })));""")
        self.assertEqual(program.next(), ["a"])
        self.assertEqual(program.next(), ["works"])
        program.process.send_signal(signal.SIGSTOP)
        self.main.freeze()  # else it would renew for ever: the connection stands
        self.addCleanup(self.main.thaw)
        self.assertEqual(second.ask("LOCK a wait=20s", timeout=20).status, "OK")
        while not program.said.empty():
            program.said.get()
        program.process.send_signal(signal.SIGCONT)
        said = program.next()
        if said == ["works"]:  # was being written when it was stopped
            said = program.next()
        self.assertEqual([said, program.next()], [["ends", 0], ["lost"]])
        self.main.thaw()

    def under_load(self, happens):
        """50 tasks take one lock while something happens to their broker."""
        self.prepare(lease=1.5)
        program = self.start("""
            const end = performance.now() + 6000, fences = [], broken = [];
            let inside = 0;
            setTimeout(() => say(fences.length), 1000);
            await Promise.all(Array.from({ length: 50 }, async () => {
              while (performance.now() < end)
                await broker.request('a', { wait: 20000 }, async (lock) => {
                  if (++inside !== 1) broken.push(lock.fence);
                  fences.push(lock.fence);
                  await sleep(0);
                  inside--;
                }).catch((error) => { if (error.code !== 'lost') throw error; });
            }));
            say(fences, broken);""", self.main.unix_path)
        before, = program.next()
        happens()
        fences, broken = program.next(40)
        self.assertEqual(program.end(), "")
        self.assertEqual(broken, [])
        self.assertEqual(fences, sorted(set(fences)))
        self.assertGreater(len(fences), before)

    def test_a_restart_under_load(self):
        def restart():
            self.main.stop()
            self.main.start()
        self.under_load(restart)

    def test_replacements_under_load(self):
        """They are noticed by nobody: no lock is lost."""
        def replace():
            self.control.close()
            for _ in range(3):
                old = self.main.replace()
                eventually(lambda: not old.alive, 30, "its clients have gone to the new one")
        self.under_load(replace)
        self.assertEqual(self.main.log_lines("lock-lost"), [])

    def test_a_program_that_is_killed_leaves_nothing_behind(self):
        self.prepare()
        program = self.start("""
            await broker.request('a', async () => { say('a'); await hear(); });""")
        self.assertEqual(program.next(), ["a"])
        self.assertEqual(self.control.ask("TRYLOCK a").status, "BUSY")
        program.process.kill()
        program.end()
        self.control.lock("a", "wait=12s")

    def test_a_program_goes_on_after_close(self):
        """Nothing else keeps it alive."""
        self.prepare()
        self.assertEqual(self.story("""
            lines.close();
            process.stdin.destroy();
            await broker.request('a', { wait: Infinity }, () => {});
            await broker.close();
            say('closed');"""), [["closed"]])

    def test_a_program_ends_without_close(self):
        """Sessions without work do not keep it alive."""
        self.prepare()
        program = self.start("""
            await broker.request('a', () => {});
            lines.close();
            process.stdin.destroy();
            return;""")
        self.assertEqual(program.end(), "")
        self.assertEqual(program.process.returncode, 0)


class Tls(ClientsTest, Client):
    def test_a_lock(self):
        self.tls_broker()
        text = """
            say(await code(broker.request('a', { wait: 5000 }, async (lock) => {
              say(lock.fence);
              await hear();
            })));"""
        address = f"tls://localhost:{self.port}"
        program = self.start(text, address, ca=self.file("ca.crt"))
        fence, = program.next()
        self.assertEqual(self.client().ok("STATUS a").fence, fence)
        program.tell()
        self.assertEqual(program.next(), ["none"])
        self.assertEqual(program.end(), "")
        self.assertEqual(self.client().ok("STATUS a")["state"], "free")
        refused = """
            await broker.request('a', { wait: 1000 }, () => say('held'))
              .catch((error) => say(error.code, error.message));"""
        (code, why), = self.story(refused, address)
        self.assertEqual(code, "unavailable")
        self.assertIn("certificate", why)

    def test_a_user_by_certificate(self):
        self.broker_by_certificate()
        text = """
            say(await code(broker.request('a', { wait: 5000 }, () => {})));
            say(await code(broker.request('b', { wait: 5000 }, () => {})));"""
        address, ca = f"tls://localhost:{self.port}", self.file("ca.crt")
        known = self.story(text, address, ca=ca, cert=self.file("client.crt"),
                           key=self.file("client.key"))
        self.assertEqual(known, [["none"], ["denied"]])
        self.assertEqual(self.story(text, address, ca=ca), [["auth"], ["auth"]])
