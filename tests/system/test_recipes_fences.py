"""The recipes of lockbroker-recipes(7) for what compares fences, with the real resources.

Those that are not installed, and can't be had from their registries, are skipped.
"""

import glob
import os
import shutil
import sqlite3
import subprocess
import sys
import unittest

from lib import pinned
from lib.proc import die_with_parent
from lib.wait import eventually, patience
from test_recipes import ShellTest

# The newest server of Debian's packages, which put it beside the PATH; or None.
POSTGRES = max(glob.glob("/usr/lib/postgresql/*/bin"), default=None)
MARIADB = shutil.which("mariadbd", path=os.environ["PATH"] + ":/usr/sbin")
# What is written by whom, in this order, and the last that is too late.
WRITES = ((2 ** 53 - 3, 1), (2 ** 53 - 3, 1), (2 ** 53 - 1, 3), (2 ** 53 - 2, 4))


class Fences(ShellTest):
    def test_fences(self):
        with open(os.path.join(self.directory, "store"), "w", encoding="utf-8") as file:
            file.write(self.recipes["store"])
        os.chmod(os.path.join(self.directory, "store"), 0o755)
        self.program("compute-ledger", "echo $LOCKBROKER_FENCE")
        self.assertEqual(self.end(self.start("fenced")), (0, ""))
        (fence,) = self.lines("ledger.csv")
        # An earlier holder, which was suspended until now.
        late = subprocess.run([os.path.join(self.directory, "store"), "ledger.csv"], check=False,
                              cwd=self.directory, input="old\n", capture_output=True, text=True,
                              env=dict(os.environ, LOCKBROKER_FENCE=str(int(fence) - 1)))
        self.assertEqual(late.returncode, 1)
        self.assertIn("too late", late.stderr)
        self.assertEqual(self.lines("ledger.csv"), [fence])
        self.assertEqual(self.end(self.start("fenced")), (0, ""))
        self.assertGreater(int(self.lines("ledger.csv")[0]), int(fence))

    def test_fences_in_sql(self):
        database = sqlite3.connect(":memory:")
        self.addCleanup(database.close)
        database.execute("CREATE TABLE ledger (id, total, fence)")
        database.execute("INSERT INTO ledger VALUES (1, 0, 5)")
        for fence, changed in ((4, 0), (5, 1), (6, 1), (5, 0)):
            cursor = database.execute(self.recipes["sql"],
                                      {"id": 1, "total": fence, "fence": fence})
            self.assertEqual(cursor.rowcount, changed, fence)

    @unittest.skipUnless(POSTGRES and os.getuid() == 0, "no PostgreSQL, or not root")
    def test_sql_in_postgresql(self):
        """The statement as it is printed, by psql, which knows :fence as a variable, too."""
        data = os.path.join(self.directory, "pg")
        os.mkdir(data)
        shutil.chown(data, "postgres")
        os.chmod(self.directory, 0o755)

        def run(*argv, text=None):
            done = subprocess.run(["runuser", "-u", "postgres", "--", *argv], cwd=data, text=True,
                                  input=text, capture_output=True, timeout=patience(60))
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout
        run(os.path.join(POSTGRES, "initdb"), "-D", "d", "-A", "trust", "-N")
        server = subprocess.Popen(
            ["runuser", "-u", "postgres", "--", os.path.join(POSTGRES, "postgres"), "-D",
             os.path.join(data, "d"), "-k", data, "-c", "listen_addresses="],
            stderr=subprocess.DEVNULL, preexec_fn=die_with_parent, start_new_session=True)
        self.addCleanup(server.wait)
        self.addCleanup(self.kill, server)
        ready = [os.path.join(POSTGRES, "pg_isready"), "-q", "-h", data]
        eventually(lambda: subprocess.run(ready, check=False).returncode == 0, 30, "it is ready")

        def sql(text, **variables):
            sets = [f"--set={key}={value}" for key, value in variables.items()]
            return run("psql", "-h", data, "-d", "postgres", "-At", *sets, text=text).strip()

        def write(fence, total):
            return sql(self.recipes["sql"], id=1, fence=fence, total=total)
        sql("CREATE TABLE ledger (id int, total int, fence bigint);"
            "INSERT INTO ledger VALUES (1, 0, 0);")
        self.assertEqual([write(7, 1), write(7, 2), write(9, 3), write(8, 4)],
                         ["UPDATE 1", "UPDATE 1", "UPDATE 1", "UPDATE 0"])
        self.assertEqual(sql("SELECT total, fence FROM ledger;"), "3|9")

    @unittest.skipUnless(MARIADB and shutil.which("mariadb"), "no MariaDB")
    def test_mariadb(self):
        """Also a row that is written as it was is told to be written."""
        data = os.path.join(self.directory, "maria")
        os.mkdir(data)
        server = subprocess.Popen(
            [MARIADB, "--no-defaults", f"--datadir={data}", f"--socket={data}/socket",
             f"--pid-file={data}/pid", "--skip-networking", "--skip-grant-tables",
             "--innodb-buffer-pool-size=8M", "--innodb-log-file-size=4M",
             *(["--user=root"] if os.getuid() == 0 else [])],
            stderr=subprocess.DEVNULL, preexec_fn=die_with_parent, start_new_session=True)
        self.addCleanup(server.wait)
        self.addCleanup(self.kill, server)
        client = f"mariadb --no-defaults -S {data}/socket"

        def run(text):
            return self.end(self.shell(text))
        eventually(lambda: run(f"{client} -e 'CREATE DATABASE books'")[0] == 0, 30, "it is ready")
        self.assertEqual(run(f"{client} books -e 'CREATE TABLE ledger (id INT PRIMARY KEY, "
                             "total INT, fence BIGINT, writes INT) ENGINE=InnoDB; "
                             "INSERT INTO ledger VALUES (7, 0, 0, 0)'"), (0, ""))
        ends = [self.end(self.start("mysql-fence", lambda text, at=at: (
            f"LOCKBROKER_FENCE={at[0]} TOTAL={at[1]}\n" + text.replace("mariadb", client))))
            for at in WRITES]
        self.assertEqual(ends, [*3 * [(0, "")], (1, "too late\n")])
        self.assertEqual(run(f"{client} books -N -e 'SELECT total, writes FROM ledger'"),
                         (0, "3\t3\n"))

    @unittest.skipUnless(shutil.which("redis-cli"), "redis-cli is not installed")
    def test_redis_fence(self):
        """A real Redis refuses a holder with a lower fence, and accepts the same one again."""
        server = self.redis()

        def write(fence, total):
            return self.end(self.start("redis-fence", lambda text: (
                f"LOCKBROKER_FENCE={fence} TOTAL={total}; "
                + text.replace("redis-cli", f"redis-cli -s {server.unix_path}"))))[1]
        high = 2 ** 53 - 1
        for fence, total in ((high - 1, 1), (high - 1, 2), (high, 3)):
            self.assertNotIn("STALE", write(fence, total))
        self.assertIn("STALE", write(high - 1, 4))
        self.assertEqual(server.cmd("HGET", "ledger", "total"), "3")
        self.assertEqual(server.cmd("HGET", "ledger", "fence"), str(high))

    def test_s3(self):
        """With a server that compares ETags as S3 does."""
        folder = pinned.folder_of("moto")
        path = os.path.join(self.directory, "fenced.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.recipes["s3-fence"] + S3)
        done = subprocess.run(
            [sys.executable, path, repr(WRITES)], capture_output=True, text=True, check=False,
            timeout=patience(60), cwd=self.directory,
            env=dict(os.environ, PYTHONPATH=f"{folder}/packages", PYTHONDONTWRITEBYTECODE="1",
                     AWS_EC2_METADATA_DISABLED="true"))
        self.assertEqual(done.stdout.splitlines(), [
            "written written written late", "late 12", "late 14", "late 16", "late 18"],
            done.stderr)


# A holder that is suspended between its look and its write, while a later one writes: something
# else, the same bytes, the first thing at all, or something that is gone again.
S3 = """
import sys
from moto.server import ThreadedMotoServer

server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
host, port = server.get_host_and_port()
s3 = boto3.client("s3", endpoint_url=f"http://{host}:{port}", region_name="us-east-1",
                  aws_access_key_id="x", aws_secret_access_key="x")
s3.create_bucket(Bucket="books")

def write(key, data, fence):
    try:
        store(s3, "books", key, data, fence)
        return "written"
    except TooLate:
        return "late"

def overtaken(key, data, fence, by, *, gone=False):
    put = s3.put_object
    def late(**words):
        s3.put_object = put
        if gone:
            s3.delete_object(Bucket="books", Key=key)
        store(s3, "books", key, by, fence + 1)
        return put(**words)
    s3.put_object = late
    told = write(key, data, fence)
    body = s3.get_object(Bucket="books", Key=key)["Body"].read()
    assert body == b"%d\\n%s" % (fence + 1, by), body
    print(told, body.split()[0].decode())

print(*[write("ledger", b"%d" % data, fence) for fence, data in eval(sys.argv[1])])
for key, fence, by, gone in (("a", 11, b"y", False), ("a", 13, b"x", False),
                             ("b", 15, b"y", False), ("a", 17, b"y", True)):
    overtaken(key, b"x", fence, by, gone=gone)
"""
