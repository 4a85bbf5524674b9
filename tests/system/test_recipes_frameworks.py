"""The recipes of lockbroker-recipes(7) for frameworks, with the real ones.

Those that are not installed, and can't be had from their registries, are skipped.
"""

import os
import subprocess
import sys
import unittest

from lib import jdk, pinned
from lib.manual import SOURCE
from lib.npm import version
from lib.wait import eventually, patience
from test_recipes import ShellTest

PYTHON_CLIENT = os.path.join(SOURCE, "clients", "python")
# Starts and imports of a framework on a busy machine.
SOON = 30


class Framework(ShellTest):
    limit = 60

    def write(self, name, text):
        path = os.path.join(self.directory, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def environment(self, **more):
        return dict(os.environ, LOCKBROKER=self.brokers[0].unix_path, **more)

    def launch(self, *argv, **env):
        """In the background."""
        with open(os.path.join(self.directory, "said"), "ab") as said:
            child = subprocess.Popen(  # pylint: disable=consider-using-with
                argv, cwd=self.directory, env=self.environment(**env), start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        self.addCleanup(child.wait)
        self.addCleanup(self.kill, child)
        return child

    def said(self):
        with open(os.path.join(self.directory, "said"), encoding="utf-8") as file:
            return file.read()[-3000:]

    def await_(self, check, what):
        try:
            return eventually(check, SOON, what)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.said()}") from None

    def run_it(self, *argv, **env):
        return subprocess.run(argv, cwd=self.directory, env=self.environment(**env), text=True,
                              capture_output=True, check=False, timeout=patience(SOON))


class Python(Framework):
    """Each `report` adds a line to did, each end of a job one to ended."""

    report = """
def report():
    with open("did", "a") as file:
        file.write("report\\n")

def ended(who):
    with open("ended", "a") as file:
        file.write(f"{who}\\n")

"""

    def env(self, library):
        return {"PYTHONPATH": f"{pinned.folder_of(library)}/packages:{PYTHON_CLIENT}",
                "PYTHONDONTWRITEBYTECODE": "1"}

    def ended(self, hosts):
        """Has the job ended twice at each of these hosts?"""
        ended = self.lines("ended")
        return all(ended.count(host) >= 2 for host in hosts)

    def test_celery(self):
        env = self.env("Celery")
        text = self.recipes["celery"].replace(
            "redis://localhost", f"redis+socket://{self.redis().unix_path}")
        self.write("nightly.py", self.report + text.replace("crontab(hour=3, minute=0)", "0.2") + """
from celery.signals import task_postrun

@task_postrun.connect
def postrun(task=None, state=None, **_):
    ended(task.request.hostname if state == "SUCCESS" else state)
""")
        hosts = ["a@host", "b@host"]
        for host in hosts:
            self.launch(sys.executable, "-m", "celery", "-A", "nightly", "worker", "-B",
                        "-s", "beat-" + host, "-n", host, "-c", "1", **env)
        self.await_(lambda: self.ended(hosts), "tasks at both hosts")
        self.assertEqual((self.lines(), set(self.lines("ended"))), (["report"], set(hosts)))

    def test_apscheduler(self):
        env = self.env("APScheduler")
        text = self.recipes["apscheduler"].replace('"cron", hour=3', '"interval", seconds=0.2')
        path = self.write("nightly.py", self.report + text.replace("scheduler.start()", """
import sys
from apscheduler.events import EVENT_JOB_ERROR, EVENT_JOB_EXECUTED
scheduler.add_listener(lambda _: ended(sys.argv[1]), EVENT_JOB_EXECUTED)
scheduler.add_listener(lambda _: ended("error"), EVENT_JOB_ERROR)
scheduler.start()
"""))
        hosts = ["a", "b", "c"]
        for host in hosts:
            self.launch(sys.executable, path, host, **env)
        self.await_(lambda: self.ended(hosts), "jobs at all hosts")
        self.assertEqual((self.lines(), set(self.lines("ended"))), (["report"], set(hosts)))

    def test_django(self):
        env = self.env("Django")
        path = self.write("orders.py", """
import socket, threading, urllib.error, urllib.request
from wsgiref.simple_server import WSGIRequestHandler, make_server
import django
from django.conf import settings
from django.db import connection

settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"], LOGGING_CONFIG=None, DATABASES={
    "default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "orders.sqlite",
                "ATOMIC_REQUESTS": True}})
django.setup()
""" + self.recipes["django"].replace("wait=2", "wait=0.1") + """
import os
from django.core.wsgi import get_wsgi_application
from django.urls import path

urlpatterns = [path("orders/<order>", change)]

def save(request, order, lock):
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO saved VALUES (%s, %s)", [order, lock.fence])
    if order == "lost":
        with socket.socket(socket.AF_UNIX) as control:
            control.connect(os.environ["LOCKBROKER"])
            control.sendall(b"UNLOCK-FORCE order/lost\\n")
            lock.lost.wait()

class Quiet(WSGIRequestHandler):
    def log_message(self, *_):
        pass

with connection.cursor() as cursor:
    cursor.execute("CREATE TABLE saved (id, fence)")
server = make_server("127.0.0.1", 0, get_wsgi_application(), handler_class=Quiet)
threading.Thread(target=server.serve_forever, daemon=True).start()
for order in "1", "held", "lost":
    try:
        url = f"http://127.0.0.1:{server.server_port}/orders/{order}"
        with urllib.request.urlopen(url) as answer:
            print(answer.status, answer.read().decode())
    except urllib.error.HTTPError as error:
        print(error.code, error.read().decode().split(" by ")[0].strip().splitlines()[-1])
with connection.cursor() as cursor:
    cursor.execute("SELECT id, fence > 0 FROM saved")
    print(cursor.fetchall())
""")
        self.control.lock("order/held")
        done = self.run_it(sys.executable, path, **env)
        lines = done.stdout.splitlines()
        self.assertEqual(lines[:2] + lines[3:], [
            "200 changed", "409 order/held: not granted in time; held", "[('1', 1)]"], done.stderr)
        self.assertRegex(lines[2], "^500 ")


@unittest.skipIf(version() < 20, "node is not installed, or is older than 20")
class Node(Framework):
    # Changes order 1, and one that somebody else has.
    ask = """
const change = async (request, fence) => ({ id: request.params.id, fence });
const asked = async (port) => {
  for (const id of ['1', 'held']) {
    const response = await fetch(`http://127.0.0.1:${port}/orders/${id}`, { method: 'POST' });
    console.log(response.status, (await response.text()).replace(/[0-9]{9,}/, 'N'));
  }
};
"""

    def env(self, library):
        """With the client beside the packages, as npm would have it."""
        modules = os.path.join(self.directory, "node_modules")
        os.mkdir(modules)
        os.symlink(os.path.join(SOURCE, "clients", "node"), os.path.join(modules, "lockbroker"))
        return {"NODE_PATH": f"{pinned.folder_of(library)}/node_modules"}

    def orders(self, env, text):
        path = self.write("orders.js", text.replace("2000", "100"))
        self.control.lock("order/held")
        done = self.run_it("node", path, **env)
        self.assertRegex(done.stdout, r'^200 {"id":"1","fence":N}\n409 .*order/held.*held by .*\n$',
                         done.stderr)

    def test_express(self):
        env = self.env("Express")
        self.orders(env, self.recipes["express"] + self.ask + """
const server = app.listen(0, '127.0.0.1', async () => {
  await asked(server.address().port);
  server.close();
  server.closeAllConnections?.();
  await broker.close();
});
""")

    def test_fastify(self):
        env = self.env("Fastify")
        self.orders(env, self.recipes["fastify"] + self.ask + """
fastify.listen({ port: 0, host: '127.0.0.1' }).then(async () => {
  await asked(fastify.server.address().port);
  await fastify.close();
});
""")

    def test_bullmq(self):
        env = self.env("BullMQ")
        redis = f"{{ path: '{self.redis().unix_path}' }}"
        worker = self.write("worker.js", """
const fs = require('fs');
async function charge({ account }, { fence, signal }) {
  fs.appendFileSync('did', `${account}/${fence}/+\\n`);
  await new Promise((done) => setTimeout(done, 30));
  if (!signal.aborted) fs.appendFileSync('did', `${account}/${fence}/-\\n`);
}
""" + self.recipes["bullmq"].replace("5000", "100").replace("{ host: 'localhost' }", redis))
        queue = self.write("queue.js", f"""
const {{ Queue }} = require('bullmq');
(async () => {{
  const queue = new Queue('charges', {{ connection: {redis} }});
  for (let i = 0; i < 8; i++) await queue.add('charge', {{ account: i % 2 ? 'a' : 'b' }});
  await queue.add('charge', {{ account: 'held' }});
  while (!await queue.getDelayedCount()) await new Promise((done) => setTimeout(done, 5));
  await queue.close();
}})();
""")
        self.control.lock("account/held")
        for _ in range(2):
            self.launch("node", worker, **env)
        done = self.run_it("node", queue, **env)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.await_(lambda: len(self.lines()) == 16, "eight jobs")
        self.control.ok("UNLOCK account/held")
        self.await_(lambda: len(self.lines()) == 18, "the job that was delayed")
        for account, jobs in ("a", 4), ("b", 4), ("held", 1):
            rows = [line.split("/") for line in self.lines() if line.startswith(account + "/")]
            self.assertEqual([sign for _, _, sign in rows], jobs * ["+", "-"])
            fences = [int(fence) for _, fence, sign in rows if sign == "+"]
            self.assertEqual(fences, sorted(set(fences)))


class Java(Framework):
    @unittest.skipIf(jdk.version() < 17, "no JDK of Java 17 or later is installed")
    def test_spring(self):
        """One of two applications reports, until it loses its lock."""
        path = f"{pinned.folder_of('Spring')}/jars/*:{jdk.jar()}:{self.directory}"
        text = self.recipes["spring"].replace('cron = "0 0 3 * * *"', "fixedRate = 3600000")
        text = text.replace("ofMinutes(1)", "ofMillis(100)")
        source = self.write("Nightly.java", text + """
class Report {
  static void did(Object what) {
    try {
      java.nio.file.Files.writeString(java.nio.file.Path.of("did"), what + "\\n",
          java.nio.file.StandardOpenOption.CREATE, java.nio.file.StandardOpenOption.APPEND);
    } catch (java.io.IOException error) {
      throw new java.io.UncheckedIOException(error);
    }
  }

  static void report(long fence) {
    did(fence > 0);
    try {
      Thread.sleep(600000);
    } catch (InterruptedException told) {
      did("interrupted");
    }
  }

  public static void main(String[] args) throws Exception {
    new AnnotationConfigApplicationContext(Nightly.class);
    Thread.sleep(600000);
  }
}
""")
        subprocess.run(["javac", "-nowarn", "-cp", path, "-d", self.directory, source], check=True)
        for _ in range(2):
            self.launch("java", *jdk.FLAGS, "-cp", path, "Report")
        self.await_(self.lines, "a report")
        self.await_(lambda: self.control.stats()["timeouts_total"] == "1", "the other gives up")
        self.control.ok("UNLOCK-FORCE nightly-report")
        self.await_(lambda: len(self.lines()) > 1, "it is told")
        self.assertEqual(self.lines(), ["true", "interrupted"])
