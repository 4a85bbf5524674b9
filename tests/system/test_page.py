"""The page for people, as it is sent, and as a browser shows it."""

import html.parser
import os
import re
import unittest

from lib import chromium, http
from lib.case import SystemTest
from lib.resp import Resp
from lib.wait import eventually

HOSTILE = "<script>alert('name')</script>"
LABEL = "<svg/onload>"


class Checked(html.parser.HTMLParser):
    """Tags that are well nested, and their attributes."""

    EMPTY = {"meta", "link", "input", "br"}

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.ids = [], [], []
        self.feed(text)
        assert self.open == [], self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.ids += [value for key, value in attrs if key == "id"]
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> in {self.open}"
        self.open.pop()


class Page(SystemTest):
    limit = 60

    def web(self, **settings):
        broker = self.broker(start=False, **settings)
        broker.settings["listen"] = [{"unix": broker.unix_path}, {"http": "127.0.0.1:0"}]
        broker.start()
        eventually(lambda: broker.log_lines("guard-ready"), 15, "it grants")
        return http.of(broker)

    def labelled(self, label):
        client = self.client()
        client.ok(f"SESSION label={label}")
        return client

    def night(self, **settings):
        """Something of everything: held, waited for, lost, forced."""
        web = self.web(broker={"address": "there:5625"},
                       metrics={"classes": [{"name": "deploy", "names": ["deploy/*"]}]},
                       **settings)
        holder, waiter, evil = (self.labelled(x) for x in ("ci-7", "alice", LABEL))
        holder.lock("deploy/production")
        waiter.send("LOCK deploy/production")
        evil.lock(HOSTILE)
        holder.lock("job/short", "hold=50ms")
        holder.event(kind="LOST")
        holder.lock("job/stuck")
        self.client().ok("UNLOCK-FORCE job/stuck")
        holder.event(kind="LOST")
        return web


class Denied(Page):
    def test_of_what_is_denied_an_administrator_sees_nothing(self):
        import hashlib
        of = "sha256:" + hashlib.sha256(b"secret").hexdigest()
        web = self.web(auth={"users": [
            {"name": "root", "admin": True, "hash": of, "deny": ["secret/*"]},
            {"name": "all", "lock": ["*"], "hash": of}]})
        holder = self.client()
        holder.ok("AUTH all secret")
        holder.ok("SESSION label=somebody")
        for name in ("secret/held", "seen/held"):
            holder.ok(f"LOCK {name}")
        for name in ("secret/lost", "seen/lost"):
            holder.ok(f"LOCK {name} hold=20ms")
            holder.event(kind="LOST")
        admin = http.Http(web.port, "root", "secret")
        text = admin.get("/").text
        self.assertNotIn("secret/", text)
        self.assertIn("seen/held", text)
        self.assertIn("seen/lost", text)
        self.assertNotIn("secret/", admin.get("/status.json").text)
        text = admin.get("/?name=secret/held").text
        self.assertIn("may not be looked at", text)
        self.assertEqual(text.count("somebody"), admin.get("/").text.count("somebody"))
        self.assertEqual(admin.get("/locks/secret/held").status, 403)


class Sent(Page):
    def test_it_is_whole_without_scripts(self):
        text = self.night().get("/").text
        main = re.sub(r"<script.*?</script>|<style.*?</style>", "", text, flags=re.S)
        for words in ("Locks are granted", "2 locks were lost", "deploy/production", "ci-7",
                      "released by force", "its hold= was over", "at there:5625",
                      "&lt;script&gt;alert(&#39;name&#39;)&lt;/script&gt;",
                      "&lt;svg/onload&gt;"):
            self.assertIn(words, main)
        self.assertIn('<noscript><meta http-equiv="refresh"', main)

    def test_nothing_of_it_is_from_elsewhere_or_inline(self):
        web = self.night()
        answer = web.get("/")
        self.assertEqual(answer.headers["content-type"], "text/html; charset=utf-8")
        policy = answer.headers["content-security-policy"]
        nonce = re.search(r"script-src 'nonce-([0-9a-f]{32})'", policy).group(1)
        for rule in ("default-src 'none'", f"style-src 'nonce-{nonce}'", "connect-src 'self'",
                     "base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'"):
            self.assertIn(rule, policy)
        self.assertNotIn(nonce, web.get("/").text, "a nonce is used once")
        page = Checked(answer.text)
        self.assertEqual(len(page.ids), len(set(page.ids)))
        for tag, attributes in page.tags:
            self.assertNotIn("style", attributes)
            self.assertFalse([key for key in attributes if key.startswith("on")])
            for key in ("src", "href", "action"):
                self.assertRegex(attributes.get(key, "/"), r"\A(/|data:,\Z)", tag)
        self.assertEqual([a.get("nonce") for t, a in page.tags if t in ("script", "style")],
                         [nonce, nonce])

    def test_one_name(self):
        web = self.night()
        page = web.get("/?name=deploy%2Fproduction").text
        self.assertRegex(page, r"ci-7 \(pid:\d+\)</bdi> has had it for .*; 1 waits for it here")
        self.assertRegex(page, r"1\. <bdi>alice \(pid:\d+\)</bdi>")
        self.assertIn("Nobody has it; nobody waits for it here", web.get("/?name=other").text)
        self.assertIn("its hold= was over", web.get("/?name=job/short").text)
        self.assertIn("This is no name of a lock: it contains a space",
                      web.get("/?name=a+b").text)
        evil = web.get("/?name=%3Cscript%3Ealert('name')%3C/script%3E").text
        Checked(evil)
        self.assertIn("&lt;svg/onload&gt;", evil)
        self.assertEqual(web.get("/?name=%zz").status, 400)
        self.assertEqual(web.get("/?name=").status, 200)

    def test_token_holds(self):
        """Holds of Redis clients are shown, too, also after another broker has taken over."""
        web = self.web()
        conn = Resp("unix:" + self.brokers[0].unix_path)
        self.addCleanup(conn.close)
        conn("CLIENT", "SETNAME", "cron")
        self.assertEqual(conn("SET", "job/nightly", "secret", "NX", "PX", 600000), "OK")
        page = web.get("/").text
        self.assertRegex(page, r"(?s)id=.names.*job/nightly.*<bdi>cron")
        self.assertRegex(web.get("/?name=job/nightly").text, r"<bdi>cron .*</bdi> has had it for")
        self.brokers[0].kill()
        self.brokers[0].expected_status = 0
        self.brokers[0].start()
        line = self.brokers[0].log_lines("protocol=http")[-1]
        web = http.Http(int(http.PORT.search(line).group(1)))
        eventually(lambda: "job/nightly" in web.get("/").text, 10, "it is there")
        page = web.get("/?name=job/nightly").text
        self.assertRegex(page, r"<bdi>a Redis client</bdi> has had it for")
        self.assertNotIn("secret", page)

    def test_held_elsewhere(self):
        server = self.redis()
        one = self.broker(server, start=False, redis={"trust_new": True})
        one.settings["listen"] = [{"unix": one.unix_path}, {"http": "127.0.0.1:0"}]
        one.start()
        two = self.broker(server, redis={"trust_new": True}, broker={"address": "two:1"})
        self.client(two).lock("there")
        server.cmd("SET", "lock:plain", "x", "PX", "60000")
        web = http.of(one)
        self.assertIn(f"Somebody has it through the broker {two.name} at two:1",
                      web.get("/?name=there").text)
        self.assertIn("A client of Redis itself has it", web.get("/?name=plain").text)
        self.client(one).ask("LOCK kept keep=1m")
        self.client(one).ask("PING")
        client = self.client(one)
        client.lock("kept2", "keep=1m")
        client.ok("UNLOCK kept2")
        self.assertIn("Nobody has it, but it is kept for another", web.get("/?name=kept2").text)

    def test_while_grants_are_paused(self):
        server = self.redis()
        broker = self.broker(server, start=False, redis={"trust_new": True}, lease=2)
        broker.settings["listen"] = [{"unix": broker.unix_path}, {"http": "127.0.0.1:0"}]
        broker.start()
        web = http.of(broker)
        eventually(lambda: "nothing is wrong" in web.get("/").text, 10, "it grants")
        server.kill()
        eventually(lambda: "Grants are paused</h2>" in web.get("/").text, 10, "it is told")
        self.assertIn("can't be reached", web.get("/").text)
        server.start()
        eventually(lambda: re.search(r"Grants are paused for \S+</h2><p>No new locks for .*: .*; "
                                     r"locks that are held are kept",
                                     web.get("/").text.replace("\u00a0", "_")), 10, "for how long")

    def test_many_names_and_classes(self):
        classes = [{"name": f"class{i}", "names": [f"c{i}/*"]} for i in range(63)]
        web = self.web(metrics={"classes": classes})
        client = self.client()
        for i in range(0, 2000, 50):
            client.ok("LOCK " + " ".join(f"c{k % 63}/{k}" for k in range(i, i + 50)))
        page = web.get("/")
        self.assertLess(len(page.body), 200000)
        self.assertEqual(len(re.findall(r'<figure class="class">', page.text)), 24)
        self.assertEqual(len(re.findall(r'<th scope="row"><a', page.text)), 20)
        Checked(page.text)


class Shown(Page):
    """In a real browser."""

    def setUp(self):
        super().setUp()
        if chromium.program() is None:
            self.skipTest("chromium is not installed")

    def browser(self, url, width=1200):
        browser = chromium.Browser()
        self.addCleanup(browser.close)
        browser.look(width)
        browser.open(url)
        return browser

    def check_quiet(self, browser):
        self.assertEqual(browser.said, [], "the browser complains")

    def url(self, web, target="/"):
        return f"http://127.0.0.1:{web.port}{target}"

    def test_what_is_seen(self):
        web = self.night()
        browser = self.browser(self.url(web))
        self.assertEqual(browser.evaluate("document.title"), "Granting - b1")
        self.assertIn("Locks are granted, but look at this", browser.text(".verdict"))
        names = browser.text("#names")
        for words in ("deploy/production", "ci-7", HOSTILE, LABEL):
            self.assertIn(words, names)
        self.assertEqual(browser.evaluate("document.images.length"), 0)
        self.assertEqual(browser.evaluate("document.scripts.length"), 1)
        self.assertEqual(browser.evaluate(
            "getComputedStyle(document.querySelector('.verdict')).borderLeftWidth"), "8px")
        self.check_quiet(browser)

    def test_it_keeps_itself_up_to_date(self):
        web = self.night()
        browser = self.browser(self.url(web, "/?name=later"))
        self.assertIn("Nobody has it", browser.text("#name-asked"))
        browser.evaluate("document.querySelector('#name').value = 'half-typed'")
        self.labelled("newcomer").lock("later")
        eventually(lambda: "newcomer" in browser.text("#name-asked"), 15, "it is shown")
        self.assertEqual(browser.evaluate("document.querySelector('#name').value"), "half-typed")
        self.assertTrue(browser.evaluate("document.querySelector('#stale').hidden"))
        self.check_quiet(browser)
        self.brokers[0].kill()
        eventually(lambda: "has not answered since" in browser.text("#stale"), 15,
                   "it says that it is old")
        self.assertIn("newcomer", browser.text("#name-asked"))

    def test_without_scripts(self):
        web = self.night()
        browser = self.browser("about:blank#")
        browser.scripts(False)
        browser.ask("Page.navigate", url=self.url(web))
        eventually(lambda: "deploy/production" in (browser.text("#names") or ""), 10, "it is there")
        self.assertIn("2 locks were lost", browser.text(".troubles"))

    def test_widths_and_colours(self):
        """Nothing sticks out on a phone, and text contrasts with its background."""
        web = self.night()
        long_one = self.labelled("L" * 64)
        long_one.lock("n" * 255)
        shots = os.environ.get("SCREENSHOTS", self.directory)
        browser = self.browser(self.url(web, "/?name=" + "n" * 255))
        for width in (360, 1200):
            for dark in (False, True):
                browser.look(width, dark)
                self.assertEqual(browser.evaluate(STICKS_OUT), [], width)
                self.assertLessEqual(browser.evaluate("document.documentElement.scrollWidth"),
                                     width)
                ratios = browser.evaluate(CONTRAST)
                self.assertGreater(len(ratios), 20)
                low = [r for r in ratios if r[0] < 4.5]
                self.assertEqual(low, [], f"too little contrast, dark: {dark}")
                path = os.path.join(shots, f"page-{width}-{'dark' if dark else 'light'}.png")
                browser.screenshot(path)
                self.assertGreater(os.path.getsize(path), 20000)
        self.check_quiet(browser)

    def test_over_a_login(self):
        """Scripts use the credentials that the browser was given."""
        web = self.web(auth={"users": [{"name": "root", "admin": True, "hash": "sha256:" +
                             __import__("hashlib").sha256(b"secret").hexdigest()}]})
        self.assertEqual(web.get("/").status, 401)
        browser = self.browser(f"http://root:secret@127.0.0.1:{web.port}/")
        self.assertIn("Locks are granted", browser.text(".verdict"))
        first = browser.text("time")
        eventually(lambda: browser.text("time") != first, 15, "it goes on")


# Whatever is wider than the window.
STICKS_OUT = """
Array.from(document.querySelectorAll("body *"))
    .filter(e => e.getBoundingClientRect().right > document.documentElement.clientWidth + 0.5 &&
            !e.closest("thead, svg"))
    .map(e => e.tagName + " " + e.className + " " + (e.innerText || "").slice(0, 20))
"""

# The contrast of each text (WCAG 2) with the first background behind it.
CONTRAST = """
(function () {
    function rgb(text) {
        const v = text.match(/[\\d.]+/g).map(Number);
        return v.length > 3 && v[3] === 0 ? null : v;
    }
    function light(c) {
        const f = c.slice(0, 3).map(x => x / 255)
            .map(x => x <= 0.03928 ? x / 12.92 : Math.pow((x + 0.055) / 1.055, 2.4));
        return 0.2126 * f[0] + 0.7152 * f[1] + 0.0722 * f[2];
    }
    const out = [];
    for (const e of document.querySelectorAll("body *")) {
        if (!e.innerText || e.children.length > 0 || e.closest("svg, script, style, [hidden]"))
            continue;
        let b = e, back = null;
        while (b && !(back = rgb(getComputedStyle(b).backgroundColor)))
            b = b.parentElement;
        const one = light(rgb(getComputedStyle(e).color)), two = light(back || [255, 255, 255]);
        out.push([(Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05), e.tagName,
                  e.innerText.slice(0, 30)]);
    }
    return out;
})()
"""

if __name__ == "__main__":
    unittest.main()
