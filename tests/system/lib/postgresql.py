"""A PostgreSQL of a test, if this machine has one."""

import glob
import os
import shutil
import subprocess
import unittest

from .ports import free_port
from .proc import die_with_parent
from .wait import eventually, patience

# The newest server of Debian's packages, which put it beside the PATH; or "".
PROGRAMS = os.path.dirname(max(glob.glob("/usr/lib/postgresql/*/bin/initdb"), default=""))


class PostgreSQL:
    """On a port of this host and on a socket in its folder; its user is postgres."""

    def __init__(self, test):
        if not PROGRAMS or os.getuid() != 0:
            raise unittest.SkipTest("no PostgreSQL, or not root")
        self.folder = os.path.join(test.directory, "pg")
        self.port = free_port()
        os.mkdir(self.folder)
        shutil.chown(self.folder, "postgres")
        os.chmod(test.directory, 0o755)
        data = os.path.join(self.folder, "d")
        self.run(os.path.join(PROGRAMS, "initdb"), "-D", data, "-A", "trust", "-N")
        server = subprocess.Popen(  # pylint: disable=consider-using-with
            ["runuser", "-u", "postgres", "--", os.path.join(PROGRAMS, "postgres"), "-D", data,
             "-F", "-k", self.folder, "-p", str(self.port), "-c", "listen_addresses=127.0.0.1"],
            stderr=subprocess.DEVNULL, preexec_fn=die_with_parent, start_new_session=True)
        test.addCleanup(server.wait)
        test.addCleanup(test.kill, server)
        ready = [os.path.join(PROGRAMS, "pg_isready"), "-q", "-h", self.folder,
                 "-p", str(self.port)]
        eventually(lambda: subprocess.run(ready, check=False).returncode == 0, 30, "it is ready")

    def run(self, *argv, text=None):
        done = subprocess.run(["runuser", "-u", "postgres", "--", *argv], cwd=self.folder,
                              text=True, input=text, capture_output=True, check=False,
                              timeout=patience(60))
        if done.returncode:
            raise AssertionError(done.stderr)
        return done.stdout

    def sql(self, text, **variables):
        sets = [f"--set={key}={value}" for key, value in variables.items()]
        return self.run("psql", "-h", self.folder, "-p", str(self.port), "-d", "postgres", "-At",
                        *sets, text=text).strip()
