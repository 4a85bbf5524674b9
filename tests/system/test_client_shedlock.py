"""The provider for ShedLock (clients/java/shedlock), which Maven builds with the client."""

import fcntl
import os
import re
import shutil
import subprocess
import unittest

from lib import jdk
from lib.case import SystemTest
from lib.manual import SOURCE
from lib.wait import hang

HERE = os.path.join(SOURCE, "tests", "system")
REPOSITORY = os.path.join(os.path.dirname(jdk.CACHE), "libraries", "maven")
DEPENDENCIES = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"
# Of its tests of providers Maven's registry has one version, which is of ShedLock 6.6.1; the sources
# of ShedLock have those of today.
SOURCES = os.environ.get("SHEDLOCK_SOURCES")
THEIRS = "shedlock-test-support/src/main/java/net/javacrumbs/shedlock/test/support"
THEIR_TESTS = ("AbstractLockProviderIntegrationTest", "FuzzTester",
               "AbstractExtensibleLockProviderIntegrationTest")


@unittest.skipIf(jdk.version() < 17, "no JDK of Java 17 or later is installed")
@unittest.skipIf(shutil.which("mvn") is None, "Maven is not installed")
class Provider(SystemTest):
    limit = 300

    def setUp(self):
        super().setUp()
        self.main = self.broker(self.redis(), trust_new=True)
        self.folder = os.path.join(self.directory, "java")
        shutil.copytree(jdk.FOLDER, self.folder, ignore=shutil.ignore_patterns("target"))
        self.shedlock = os.path.join(self.folder, "shedlock")
        try:
            done = self.maven(self.folder, "install").returncode == 0
        except subprocess.TimeoutExpired:
            done = False
        if not done:
            self.skipTest("Maven's registry can't be reached")

    def maven(self, folder, *argv):
        """A repository that other rows of tests/libraries have filled."""
        os.makedirs(REPOSITORY, exist_ok=True)
        with open(os.path.join(REPOSITORY, "..", "java.lock"), "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return subprocess.run(
                ["mvn", "-q", "-B", f"-Dmaven.repo.local={REPOSITORY}", *argv], cwd=folder,
                check=False, capture_output=True, text=True, timeout=hang(120),
                env=dict(os.environ, LOCKBROKER=f"127.0.0.1:{self.main.port}"))

    def test_a_story(self):
        done = self.maven(self.shedlock, DEPENDENCIES, "-DoutputDirectory=jars",
                          "-DincludeScope=runtime")
        if done.returncode != 0:
            self.skipTest("Maven's registry can't be reached")
        done = self.maven(self.shedlock, "package")
        self.assertEqual(done.returncode, 0, done.stdout)
        path = f"{self.shedlock}/jars/*:{self.shedlock}/target/*"
        subprocess.run(["javac", "-nowarn", "-cp", path, "-d", self.directory,
                        os.path.join(HERE, "ShedLockStory.java")], check=True)
        done = subprocess.run(
            ["java", *jdk.FLAGS, "-cp", f"{path}:{self.directory}", "ShedLockStory",
             f"127.0.0.1:{self.main.port}"], capture_output=True, text=True, check=False,
            timeout=hang(60))
        self.assertEqual(done.stdout.splitlines(), [
            *["a task=1 false"] * 2, *["a task=1 true"] * 2, *["least false"] * 2,
            *["least true"] * 2, "false", *["longer false"] * 2, *["executed false"] * 2],
            done.stderr)

    def test_their_tests(self):
        tests = os.path.join(self.shedlock, "src", "test", "java")
        os.makedirs(tests)
        shutil.copy(os.path.join(HERE, "LockBrokerLockProviderTest.java"), tests)
        for name in THEIR_TESTS if SOURCES else ():
            shutil.copy(os.path.join(SOURCES, THEIRS, name + ".java"), tests)
        done = self.maven(self.shedlock, "-Ptheir-tests", "test")
        if re.search("Could not (resolve|transfer|find artifact)", done.stdout):
            self.skipTest("Maven's registry can't be reached")
        self.assertEqual(done.returncode, 0, done.stdout[-6000:])
        with open(os.path.join(self.shedlock, "target", "surefire-reports",
                               "LockBrokerLockProviderTest.txt"), encoding="utf-8") as file:
            self.assertRegex(file.read(), r"Tests run: 1\d, Failures: 0, Errors: 0, Skipped: 0")
