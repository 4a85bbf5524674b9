"""What `make html` makes, in a browser: how wide it is, and its search."""

import shutil
import subprocess
import unittest
from pathlib import Path

from lib import chromium
from lib.case import SystemTest
from lib.manual import SOURCE
from lib.wait import eventually

MAN = Path(SOURCE, "man")


@unittest.skipUnless(shutil.which("mandoc"), "mandoc is not installed")
@unittest.skipIf(chromium.program() is None, "no chromium")
class Html(SystemTest):
    limit = 90

    def setUp(self):
        super().setUp()
        self.site = Path(self.directory) / "html"
        subprocess.run([MAN / "html", self.site, "1.0", *sorted(MAN.glob("*.[1-9]"))], check=True)
        self.browser = chromium.Browser()
        self.addCleanup(self.browser.close)

    def open(self, target):
        self.browser.ask("Page.navigate", url=f"{self.site.as_uri()}/{target}")
        eventually(lambda: self.browser.evaluate(
            f"location.href.endsWith({target!r}) && document.readyState") == "complete", 20, target)

    def test_a_telephone_scrolls_only_code_sideways(self):
        self.browser.look(390)
        for path in sorted(self.site.glob("*.html")):
            with self.subTest(page=path.name):
                self.open(path.name)
                self.assertEqual(self.browser.evaluate("document.documentElement.scrollWidth"), 390)
                self.assertEqual(self.browser.evaluate(
                    "[...document.querySelectorAll('body *')].filter(e => !e.closest('pre') && "
                    "e.getBoundingClientRect().right > 390).map(e => e.textContent)"), [])

    def test_dark(self):
        grounds = []
        for dark in (False, True):
            self.browser.look(1200, dark)
            self.open("lockbroker.7.html")
            grounds.append(self.browser.evaluate(
                "getComputedStyle(document.documentElement).backgroundColor"))
        self.assertEqual(grounds, ["rgb(255, 255, 255)", "rgb(21, 24, 28)"])

    def test_search(self):
        self.open("lockbrokerd.8.html")
        self.browser.evaluate("document.forms[0].q.value = 'warm_names'; document.forms[0].submit()")
        eventually(lambda: "1 place" in (self.browser.text("#count") or ""), 20, "it has searched")
        self.assertTrue(self.browser.evaluate("document.querySelector('#hits a').href")
                        .endswith("/lockbrokerd.yaml.5.html#locks.warm_names"))
        self.browser.evaluate("document.querySelector('#hits a').click()")
        eventually(lambda: self.browser.text(":target") == "locks.warm_names", 20, "it is there")
        self.open("index.html?q=lease%20no-such-word")
        self.assertEqual(self.browser.text("#count"), "0 places")
        self.open("index.html?q=lease")
        self.assertEqual(self.browser.text("#hits a"), "lease")
        self.assertEqual(self.browser.said, [])


if __name__ == "__main__":
    unittest.main()
