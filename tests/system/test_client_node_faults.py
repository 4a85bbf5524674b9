"""The Node client where something goes wrong: brokers that say nothing, words that it does not
know."""

from lib.wait import eventually, hang
import test_client_node as node

# Asks for a name, with so much time, and says what came of it, and how long that took.
ASK = """
    const ask = async (broker, name, wait) => {
      const begun = Date.now();
      const got = await code(broker.request(name, { wait }, (lock) => lock.check()));
      say(got, Date.now() - begun);
    };
"""
# A client that has had a lock before, and another one that is new.
STATES = """
    const used = new Broker(...given);
    await used.request('u', () => {});
    const states = { fresh: broker, used };
"""


class Silence(node.Client):
    """No call takes more than its wait and the patience, whatever the broker does."""

    def addresses(self, two):
        return [f"127.0.0.1:{one.port}" for one in (self.main, self.second)[:1 + two]]

    def prepare(self, lease=10, **settings):
        super().prepare(lease, **settings)
        self.second = self.broker(self.server, name="b2", lease=lease)
        self.addCleanup(self.main.thaw)

    def has_let_go(self, name):
        """What a program gives back is given back in Redis, too."""
        control = self.second.client()
        self.addCleanup(control.close)
        eventually(lambda: control.ok(f"STATUS {name}")["state"] == "free", 10)

    def test_a_frozen_broker(self):
        """Each program asks for another name: when the broker goes on, it grants what a program has
        given up, and has that until it has read on."""
        self.prepare()
        for two in (False, True):
            for state in ("fresh", "used"):
                for wait in (0, 500):
                    with self.subTest(two=two, state=state, wait=wait):
                        name = f"{two}-{state}-{wait}"
                        program = self.start(ASK + STATES + f"""
                            say('ready');
                            await hear();
                            await ask(states.{state}, '{name}', {wait});
                            await used.close();""", *self.addresses(two))
                        self.assertEqual(program.next(), ["ready"])
                        self.has_let_go("u")
                        self.main.freeze()
                        program.tell()
                        got, took = program.next()
                        self.main.thaw()
                        self.assertEqual(got, "none" if two else "unavailable")
                        self.assertLess(took, wait + 1000 + hang(400))
                        self.assertEqual(program.end(), "")

    def test_who_waits_when_it_freezes(self):
        self.prepare()
        self.control.lock("a")
        for two in (False, True):
            with self.subTest(two=two):
                program = self.start(ASK + "await ask(broker, 'a', 3000);", *self.addresses(two))
                eventually(lambda: self.control.ok("STATUS a")["waiters"] == "1", 10)
                self.main.freeze()
                got, took = program.next()
                self.main.thaw()
                self.assertIn(got, ("timeout",) if two else ("unavailable", "timeout"))
                self.assertLess(took, 3000 + 1000 + hang(400))
                self.assertEqual(program.end(), "")
                eventually(lambda: self.control.ok("STATUS a")["waiters"] == "0", 10)

    def test_giving_back(self):
        """It was held until then; what is given back is finished when the broker goes on."""
        self.prepare(lease=30)
        program = self.start("""
            let begun;
            say(await code(broker.request('a', async () => {
              say('held');
              await hear();
              begun = Date.now();
            })));
            say(Date.now() - begun);
            await hear();""", *self.addresses(False))
        self.assertEqual(program.next(), ["held"])
        self.main.freeze()
        program.tell()
        self.assertEqual(program.next(), ["none"])
        self.assertLess(program.next()[0], 1000 + hang(400))
        self.main.thaw()
        eventually(lambda: self.control.ok("STATUS a")["state"] == "free", 10)
        program.tell()
        self.assertEqual(program.end(), "")

    def test_without_a_wait(self):
        """It goes to the broker that is well."""
        self.prepare()
        program = self.start(ASK + STATES + """
            say('ready');
            await hear();
            await ask(used, 'a', undefined);
            await used.close();""", *self.addresses(True))
        self.assertEqual(program.next(), ["ready"])
        self.main.freeze()
        program.tell()
        got, took = program.next()
        self.assertEqual(got, "none")
        self.assertLess(took, 8000)
        self.main.thaw()
        self.assertEqual(program.end(), "")


class Words(node.Client):
    def test_options(self):
        self.prepare()
        self.assertEqual(self.story("""
            const why = (promise) => promise.then(() => 'none', (error) => error.message);
            say(await why(broker.request('y', { timeout: 100 }, () => {})));
            say(await code(broker.request('y', { wiat: 100 }, () => {})));
            say(await why(broker.request('y', { Wait: 100 }, () => {})));
            say(await code(broker.request('y', { hold: 0 }, () => {})));
            say(await code(broker.semaphore('y', { limit: 1, hold: -1 }, () => {})));
            say(await code(broker.latch('l').wait({ timeout: 1 })));
            try { new Broker({ lable: 'x' }); } catch (error) { say(error.code); }
            """), [['no option "timeout" (did you mean wait?)'], ["bad-option"],
                   ['no option "Wait" (did you mean wait?)'], ["bad-option"], ["bad-option"],
                   ["bad-option"], ["bad-option"]])

    def test_errors_name_the_lock(self):
        self.prepare()
        self.control.lock("a")
        said = self.story("""
            for (const wait of [0, 100])
              await broker.request(['b', 'a'], { wait }, () => {}).catch((error) =>
                say(error.code, error.message, error.names));""")
        self.assertEqual([one[0] for one in said], ["busy", "timeout"])
        for _, message, names in said:
            self.assertIn("a", names)
            self.assertIn("held by", message)
