"""The recipes of lockbroker-recipes(7) for what compares fences, with the real resources.

Those that are not installed, and can't be had from their registries, are skipped.
"""

import os
import shutil
import sqlite3
import subprocess
import sys
import unittest

from lib import pinned, recipes
from lib.postgresql import PostgreSQL
from lib.proc import die_with_parent
from lib.wait import eventually, patience
from test_recipes import ShellTest
from test_recipes_languages import SOON, Programs

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

    def test_sql_in_postgresql(self):
        """The statement as it is printed, by psql, which knows :fence as a variable, too."""
        server = PostgreSQL(self)

        def write(fence, total):
            return server.sql(self.recipes["sql"], id=1, fence=fence, total=total)
        server.sql("CREATE TABLE ledger (id int, total int, fence bigint);"
                   "INSERT INTO ledger VALUES (1, 0, 0);")
        self.assertEqual([write(7, 1), write(7, 2), write(9, 3), write(8, 4)],
                         ["UPDATE 1", "UPDATE 1", "UPDATE 1", "UPDATE 0"])
        self.assertEqual(server.sql("SELECT total, fence FROM ledger;"), "3|9")

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


class Stores(Programs):
    """The recipes for each language, with SQLite or PostgreSQL: `sql` runs a statement there."""

    limit = 90
    table = ("CREATE TABLE ledger (id bigint, total bigint, fence bigint);"
             "INSERT INTO ledger VALUES (7, 0, 0);")

    def sqlite(self):
        database = sqlite3.connect(os.path.join(self.directory, "books.sqlite"))
        self.addCleanup(database.close)
        database.executescript(self.table)

        def sql(text):
            rows = database.execute(text).fetchall()
            database.commit()
            return "|".join(map(str, *rows)) if rows else ""
        return sql

    def postgresql(self):
        server = PostgreSQL(self)
        server.sql(self.table)
        return server, server.sql

    def store(self, sql, late="too late", **env):
        """`late`: what a program says that writes after the next one."""
        self.assertEqual(self.run_it("store", "11", **env), (0, ""))
        total, fence = map(int, sql("SELECT total, fence FROM ledger;").split("|"))
        self.assertEqual(total, 11)
        self.touch("slow")
        first = self.launch("store", "12", **env)
        eventually(lambda: self.lines() == ["computes"], SOON, "it computes")
        self.control.ok("UNLOCK-FORCE ledger")
        self.forget("slow")
        self.assertEqual(self.run_it("store", "13", **env), (0, ""))
        self.touch("go")
        status, out = self.end(first)
        self.assertNotEqual(status, 0)
        self.assertRegex(out, late)
        total, later = map(int, sql("SELECT total, fence FROM ledger;").split("|"))
        self.assertEqual(total, 13)
        self.assertGreater(later, fence)
        # A program with its lock, and a holder after it that has written already.
        sql(f"UPDATE ledger SET fence = {2 ** 53 - 1};")
        status, out = self.run_it("store", "14", **env)
        self.assertNotEqual(status, 0)
        self.assertRegex(out, "too late|TooLate")
        self.assertEqual(sql("SELECT total, fence FROM ledger;"), f"13|{2 ** 53 - 1}")

    def test_python(self):
        self.made = recipes.python(self.directory)
        self.store(self.sqlite(), late="TooLate")

    def test_c(self):
        self.made = recipes.c_with_sqlite(self.directory)
        self.store(self.sqlite())

    def test_node(self):
        server, sql = self.postgresql()
        self.made = recipes.node(self.directory, "pg")
        self.store(sql, BOOKS=f"postgres://postgres@127.0.0.1:{server.port}/postgres")

    def test_go(self):
        """Its context, which ends with the lock, keeps the late statement back."""
        server, sql = self.postgresql()
        self.made = recipes.go_with_postgresql(self.directory)
        self.store(sql, late="ledger was lost", BOOKS=(
            f"postgres://postgres@127.0.0.1:{server.port}/postgres?sslmode=disable"))

    def test_java(self):
        server, sql = self.postgresql()
        self.made = recipes.java(self.directory, "PostgreSQL JDBC")
        self.store(sql, BOOKS=(
            f"jdbc:postgresql://127.0.0.1:{server.port}/postgres?user=postgres"))


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
