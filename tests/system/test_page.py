"""The page for people: its files, what /status.json gives it to draw, and as a browser shows it."""

import hashlib
import html.parser
import os
import re
import unittest

from lib import chromium, http
from lib.case import SystemTest
from lib.resp import Resp
from lib.wait import eventually, patience

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
        broker = self.broker(http=True, ready=False, **settings)
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
        of = "sha256:" + hashlib.sha256(b"secret").hexdigest()
        web = self.web(auth={"users": [
            {"name": "boss", "admin": True, "hash": of},
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
        boss, root = (http.Http(web.port, who, "secret") for who in ("boss", "root"))
        self.assertIn("secret/held", boss.get("/status.json").text)
        text = root.get("/status.json").text
        self.assertNotIn("secret/", text, "a list made for one is not for the other")
        for name in ("seen/held", "seen/lost"):
            self.assertIn(name, text)
        self.assertNotIn("secret/", root.get("/status.json?names=secret/*").text)
        told = root.get("/status.json?name=secret/held").json["asked"]
        self.assertEqual(told, {"name": "secret/held", "fault": "you are not allowed to view this name"})
        self.assertEqual(root.get("/locks/secret/held").status, 403)
        nobody = http.Http(web.port)
        self.assertEqual(nobody.get("/").status, 401)
        for file in ("page.css", "page.js", "draw.js"):
            self.assertEqual(nobody.get("/page/" + file).status, 200)


class Sent(Page):
    def test_nothing_of_it_is_from_elsewhere_or_inline(self):
        web = self.web()
        answer = web.get("/?name=a")
        self.assertEqual(answer.headers["content-type"], "text/html; charset=utf-8")
        policy = answer.headers["content-security-policy"]
        for rule in ("default-src 'none'", "style-src 'self'", "script-src 'self'",
                     "connect-src 'self'", "base-uri 'none'", "form-action 'self'",
                     "frame-ancestors 'none'", "require-trusted-types-for 'script'",
                     "trusted-types 'none'"):
            self.assertIn(rule, policy)
        page = Checked(answer.text)
        self.assertEqual(len(page.ids), len(set(page.ids)))
        self.assertIn("<noscript>", answer.text)
        for tag, attributes in page.tags:
            self.assertNotIn(tag, ("style", "iframe"))
            self.assertNotIn("style", attributes)
            self.assertFalse([key for key in attributes if key.startswith("on")])
            for key in ("src", "href", "action"):
                self.assertRegex(attributes.get(key, "/"), r"\A(/|data:,\Z)", tag)
        for tag, attributes in page.tags:
            if tag == "script" or attributes.get("rel") == "stylesheet":
                file = web.get(attributes.get("src") or attributes["href"])
                self.assertEqual(file.status, 200)
                self.assertRegex(file.headers["content-type"], r"\Atext/(css|javascript);")
                self.assertNotRegex(file.text, r"innerHTML|outerHTML|insertAdjacent|document\.write")
        self.assertEqual(web.get("/page/other.js").status, 404)
        self.assertEqual(web.get("/page/").status, 400)

    def test_what_a_query_may_say(self):
        web = self.web()
        for query in ("limit=x", "limit=", "limit=1001", "limit=99999999999999999999", "sort=x",
                      "names=%zz", "names=" + "n" * 257, "name=%zz"):
            self.assertEqual(web.get("/status.json?" + query).status, 400, query)
        for query in ("limit=0", "limit=1000", "sort=age", "names=", "names=*", "name="):
            self.assertEqual(web.get("/status.json?" + query).status, 200, query)
        asked = web.get("/status.json?name=a+b").json["asked"]
        self.assertEqual(asked, {"name": "a b", "fault": "contains a space"})

    def test_names(self):
        """Of thousands there are those that are asked for, in either order."""
        web = self.web()
        client, waiter = self.labelled("first"), self.client()
        client.lock("c0/oldest")
        eventually(lambda: client.ok("STATUS c0/oldest")["age"] != "0ms", 5, "it is older")
        for i in range(0, 2000, 50):
            client.ok("LOCK " + " ".join(f"c{k % 10}/{k:04}" for k in range(i, i + 50)))
        waiter.send("LOCK c3/1003")
        self.client().ok("ACQUIRE c3/permits limit=2")
        eventually(lambda: self.client().ok("STATUS c3/1003")["waiters"] == "1", 5, "one waits")

        def names(query):
            told = web.get("/status.json?" + query).json
            return told["names_total"], [n["name"] for n in told["names"]], told["names"]
        total, listed, _ = names("")
        self.assertEqual((total, len(listed)), (2002, 100))
        total, listed, rows = names("names=c3/*&limit=5")
        self.assertEqual((total, listed[:2]), (201, ["c3/1003", "c3/0003"]))
        self.assertEqual((rows[0]["holder"], rows[0]["waiters"]), ("first", 1))
        self.assertGreaterEqual(rows[0]["age_ms"], rows[0]["oldest_ms"])
        self.assertEqual(names("sort=age&limit=1")[1], ["c0/oldest"])
        ages = [n["age_ms"] for n in names("names=c3/*&sort=age&limit=1000")[2]]
        self.assertEqual(len(ages), 201)
        self.assertEqual(ages, sorted(ages, reverse=True))
        self.assertEqual(names("names=c3/permits")[2][0]["kind"], "semaphore")
        self.assertEqual(names("names=c3")[:2], (0, []))

    def test_one_name(self):
        web = self.night()

        def asked(name):
            return web.get("/status.json?name=" + name).json["asked"]
        told = asked("deploy%2Fproduction")
        self.assertEqual([(r["is"], r["label"]) for r in told["queue"]],
                         [("holder", "ci-7"), ("waiter", "alice")])
        self.assertEqual((told["waiters"], told["class"]), (1, "deploy"))
        self.assertEqual(asked("job/short")["class"], "other")
        one, two = self.labelled("worker-1"), self.labelled("worker-2")
        one.ok("ACQUIRE thumbnails limit=2 permits=2")
        two.send("ACQUIRE thumbnails limit=2")
        rows = eventually(lambda: (lambda rows: len(rows) == 2 and rows)(
            asked("thumbnails")["semaphore"]), 5, "one waits")
        self.assertEqual([(r["is"], r["label"], r["permits"]) for r in rows],
                         [("holder", "worker-1", 2), ("waiter", "worker-2", 1)])
        self.assertEqual(asked("other")["queue"], [])
        self.assertEqual(asked("job/short")["history"][0]["end"], "hold")

    def test_token_holds(self):
        """Holds of Redis clients are told, too, also after another broker has taken over."""
        web = self.web(locks={"lease": "1s"})
        conn = Resp("unix:" + self.brokers[0].unix_path)
        self.addCleanup(conn.close)
        conn("CLIENT", "SETNAME", "cron")
        self.assertEqual(conn("SET", "job/nightly", "secret", "NX", "PX", 600000), "OK")
        told = web.get("/status.json?name=job/nightly").json
        self.assertEqual([(n["name"], n["holder"]) for n in told["names"]],
                         [("job/nightly", "cron")])
        self.assertEqual([(h["end"], h["label"]) for h in told["asked"]["history"]],
                         [("held", "cron")])
        self.brokers[0].kill()
        self.brokers[0].expected_status = 0
        self.brokers[0].start()
        line = self.brokers[0].log_lines("protocol=http")[-1]
        web = http.Http(int(http.PORT.search(line).group(1)))
        # Ten seconds at a lease of 1 s.
        eventually(lambda: "job/nightly" in web.get("/status.json").text, patience(10),
                   "it is taken up")
        answer = web.get("/status.json?name=job/nightly")
        self.assertEqual(answer.json["asked"]["history"][0]["end"], "held")
        self.assertNotIn("secret", answer.text)

    def test_many_classes(self):
        classes = [{"name": f"class{i}", "names": [f"c{i}/*"]} for i in range(63)]
        web = self.web(metrics={"classes": classes})
        client = self.client()
        for k in range(63):
            client.lock(f"c{k}/1")
        told = web.get("/status.json")
        self.assertLess(len(told.body), 200000)
        self.assertEqual([sum(minute["granted"] for minute in c["hour"])
                          for c in told.json["classes"]], [1] * 63 + [0])


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

    def drawn(self, web, target="/"):
        browser = self.browser(self.url(web, target))
        eventually(lambda: browser.evaluate("!!document.querySelector('.verdict .sign')"), 10,
                   "it is drawn")
        return browser

    def check_quiet(self, browser):
        self.assertEqual(browser.said, [], "the browser complains")

    def url(self, web, target="/"):
        return f"http://127.0.0.1:{web.port}{target}"

    def test_what_is_seen(self):
        web = self.night()
        self.client().ok("ACQUIRE thumbnails limit=2")
        browser = self.drawn(web)
        self.assertEqual(browser.evaluate("document.title"), "Granting - b1")
        self.assertIn("Granting locks, with warnings", browser.text(".verdict"))
        lost = browser.text(".troubles")
        self.assertIn("1 lock was lost", lost, "what was released by force is not counted")
        for words in ("job/short", "ci-7", "it reached its hold= limit"):
            self.assertIn(words, lost)
        names = browser.text("#names")
        for words in ("deploy/production", "ci-7", "thumbnails", "semaphore"):
            self.assertIn(words, names)
        self.assertIn("released by force by uid", browser.text("#losses"))
        self.assertIn("this one", browser.text("#brokers"))
        self.assertIn("at there:5625", browser.text("#head"))
        told = self.drawn(web, "/?name=deploy%2Fproduction").text("#name-asked")
        self.assertIn("lockbroker history deploy/production", told)
        self.assertRegex(told, r"lockbroker unlock-force --fence \d+ deploy/production")
        self.assertIn("The last hour of its class\ndeploy", told)
        told = self.drawn(web, "/?name=thumbnails").text("#name-asked")
        self.assertIn("No lock, but a semaphore.", told)
        self.assertEqual(browser.evaluate(
            "getComputedStyle(document.querySelector('.verdict')).borderLeftWidth"), "8px")
        self.check_quiet(browser)

    def test_hostile_names(self):
        """They stay text, and show what they are."""
        web = self.night()
        turned = self.labelled("z\u200bz")
        turned.lock("a\u202eb")
        browser = self.drawn(web)
        names = browser.text("#names")
        for words in (HOSTILE, LABEL, "a\\u202eb", "z\\u200bz"):
            self.assertIn(words, names)
        self.assertEqual(browser.evaluate("document.images.length"), 0)
        self.assertEqual(browser.evaluate("document.scripts.length"), 2)
        browser.evaluate("[...document.querySelectorAll('#list a')]"
                         ".filter(a => a.innerText.includes('script'))[0].click()")
        eventually(lambda: HOSTILE in (browser.text("#name-asked") or ""), 10, "it is shown")
        self.assertIn(LABEL, browser.text("#name-asked"))
        self.check_quiet(browser)

    def test_filter_and_order(self):
        web = self.web()
        old, client = self.labelled("old"), self.labelled("new")
        old.lock("job/z")
        eventually(lambda: client.ok("STATUS job/z")["age"] != "0ms", 5, "it is older")
        for i in range(80):
            client.lock(f"job/{i:03}")
        client.lock("other")
        browser = self.drawn(web)
        self.assertIn("And 32 more", browser.text("#list"))
        browser.evaluate("document.querySelector('#list button').click()")
        rows = "document.querySelectorAll('#list tbody tr').length"
        eventually(lambda: browser.evaluate(rows) == 82, 10, "all are there")
        self.choose(browser, "#sort", "age", "change")
        first = "document.querySelector('#list tbody th').innerText"
        eventually(lambda: browser.evaluate(first) == "job/z", 10, "the oldest is first")
        self.choose(browser, "#filter", "oth", "input")
        eventually(lambda: browser.evaluate(rows) == 1, 10, "one begins so")
        self.assertEqual(browser.evaluate("location.search"), "?names=oth&sort=age")
        self.choose(browser, "#filter", "nothing", "input")
        eventually(lambda: "No name that you may view begins with that" in browser.text("#list"), 10, "none")
        self.check_quiet(browser)

    def choose(self, browser, selector, value, event):
        browser.evaluate(f"(e => {{ e.value = '{value}'; e.dispatchEvent(new Event('{event}')); }})"
                         f"(document.querySelector('{selector}'))")

    def test_it_keeps_itself_up_to_date(self):
        web = self.night()
        browser = self.drawn(web, "/?name=later")
        self.assertIn("No holder; no waiters here", browser.text("#name-asked"))
        self.labelled("newcomer").lock("later")
        eventually(lambda: "newcomer" in browser.text("#name-asked"), 15, "it is shown")
        self.check_quiet(browser)
        self.brokers[0].kill()
        eventually(lambda: "No answer since" in browser.text("#now"), 15, "it says that it is old")
        self.assertEqual(browser.evaluate("document.title"), "No answer - b1")
        self.assertNotIn("no problems", browser.text())
        self.assertIn("newcomer", browser.text("#name-asked"))

    def test_held_elsewhere(self):
        server = self.redis()
        one = self.broker(server, http=True, lease=30, redis={"trust_new": True})
        two = self.broker(server, lease=30, redis={"trust_new": True},
                          broker={"address": "two:1", "http_address": "http://two.example:9/"})
        far = self.client(two)
        far.ok("SESSION label=ci-7")
        far.lock("there")
        server.cmd("SET", "lock:plain", "x", "PX", "60000")
        client = self.client(one)
        client.lock("kept2", "keep=1m")
        client.ok("UNLOCK kept2")
        web = http.of(one)
        eventually(lambda: len(web.get("/status.json").json["brokers"]) == 2, 15, "both are known")
        eventually(lambda: re.search(
            rf"ci-7 \(pid:\d+\) has held it for .* through the broker {two.name} at two:1;",
            self.drawn(web, "/?name=there").text("#name-asked")), 30, "that broker tells who")
        two.freeze()
        self.assertIn(f"It is held through the broker {two.name} at two:1",
                      self.drawn(web, "/?name=there").text("#name-asked"))
        two.thaw()
        for name, words in (("plain", "A plain Redis client holds it"),
                            ("kept2", "No holder, but the name is reserved for another")):
            self.assertIn(words, self.drawn(web, "/?name=" + name).text("#name-asked"))
        self.client(one).send("LOCK there")
        client.ok("ACQUIRE some limit=3")
        browser = self.drawn(web)
        self.assertEqual(browser.evaluate("document.querySelector('#brokers a').href"),
                         "http://two.example:9/")
        eventually(lambda: "at " + two.name in browser.text("#list"), 10, "where it is held")
        self.assertIn("http://two.example:9/?name=there", browser.evaluate(
            "[...document.querySelectorAll('#list a')].map(e => e.href)"))
        self.assertRegex(browser.text("#list"), r"reserved \(was pid:\d+\)")
        self.assertIn("1 of 3", browser.text("#list"))

    def test_while_grants_are_paused(self):
        server = self.redis()
        broker = self.broker(server, http=True, redis={"trust_new": True}, lease=4)
        browser = self.drawn(http.of(broker))
        eventually(lambda: "no problems" in browser.text("#now"), 20, "it is well")
        self.labelled("ci-7").lock("a")
        server.freeze()
        eventually(lambda: "No new locks since" in browser.text("#now"), 15, "it is told")
        eventually(lambda: re.search(r"1 lock at risk.*First: a \(ci-7\) in ",
                                     browser.text("#now")), 15, "before it is lost")
        self.assertIn("at risk", browser.text("table.names"))
        eventually(lambda: "1 lock was lost" in browser.text("#now"), 15, "and when it is lost")
        self.assertEqual(browser.evaluate("document.title"), "Paused - b1")
        server.thaw()
        eventually(lambda: "Granting resumes in" in browser.text("#now"), 15, "for how long")

    def test_a_new_redis_is_no_alarm(self):
        # It starts for as long as that, and so does the browser on a busy machine.
        broker = self.broker(self.redis(), http=True, lease=30)
        browser = self.drawn(http.of(broker))
        eventually(lambda: re.search("Starting: first locks in .* no broker has used this Redis",
                                     browser.text(".verdict.warn") or "", re.DOTALL), 20,
                   "it starts")

    def test_while_it_is_drained(self):
        """It is no alarm; what it waits for, and until when."""
        web = self.web()
        self.labelled("etl").lock("a")
        self.client().ok("DRAIN")
        browser = self.drawn(web)
        eventually(lambda: re.search(r"Draining for .*: 1 left.*The longest is a, which etl has held "
                                     r"for .*The broker exits once no lock is held, by [\d:]{8} "
                                     r"UTC at the latest", browser.text(".verdict.warn") or "",
                                     re.DOTALL), 10, "it is told")
        self.assertEqual(browser.evaluate("document.title"), "Draining - b1")
        self.client().ok("DRAIN abort=yes")
        eventually(lambda: "no problems" in browser.text("#now"), 10, "it goes on")
        self.check_quiet(browser)

    def test_without_scripts(self):
        web = self.night()
        browser = self.browser("about:blank#")
        browser.scripts(False)
        browser.ask("Page.navigate", url=self.url(web))
        eventually(lambda: "This page needs scripts" in (browser.text() or ""), 10, "it is said")
        self.assertEqual(browser.evaluate("document.querySelector('noscript a').pathname"),
                         "/readyz")

    def test_widths_and_colours(self):
        """Nothing sticks out on a phone, and text contrasts with its background."""
        web = self.night()
        long_one = self.labelled("L" * 64)
        long_one.lock("n" * 255)
        shots = os.environ.get("SCREENSHOTS", self.directory)
        browser = self.drawn(web)
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

    def test_rows_on_a_phone(self):
        """With waiters or without, they end at the same edge; nobody has a barrier."""
        web = self.night()
        party = self.labelled("party")
        party.lock("a-rather-long-name/of-an-import/" + "customers/" * 6 + "17")
        party.send("BARRIER meeting parties=2")
        browser = self.drawn(web)
        eventually(lambda: "meeting" in browser.text("#list"), 10, "it is drawn")
        browser.look(390)
        self.assertEqual(len(set(browser.evaluate(ENDS))), 1)
        self.assertEqual(browser.evaluate(CUT), [], "a name is cut")
        self.assertNotIn("not told", browser.text("#list"))
        self.check_quiet(browser)

    def test_many_losses(self):
        """The number is that of all; those of one moment and one cause are one row."""
        web = self.web()
        holder = self.labelled("many")
        browser = self.drawn(web)
        for i in range(120):
            holder.lock(f"many/{i}", "hold=1ms")
            holder.event(kind="LOST")
        eventually(lambda: "120 locks were lost" in (browser.text(".troubles") or ""), 20,
                   "all are told")
        holder.lock("stuck")
        self.client().ok("UNLOCK-FORCE stuck")
        rows = "[...document.querySelectorAll('#losses tbody tr')].map(e => e.innerText)"
        eventually(lambda: len(browser.evaluate(rows)) == 2, 20, "another cause is another row")
        self.assertRegex(browser.evaluate(rows)[1],
                         r"(?s)99 locks\s+many \(pid:\d+\)\s+it reached its hold= limit\s+[\d:]{8}")
        self.assertNotIn("many/70", browser.text("#losses"))
        browser.evaluate("document.querySelector('#losses summary').click()")
        self.assertIn("many/70, which many (pid:", browser.text("#losses"))
        browser.evaluate("navigator.clipboard.writeText = text => { window.copied = text; }")
        browser.evaluate("document.querySelector('#losses button').click()")
        text = browser.evaluate("window.copied")
        self.assertRegex(text, r"\Ab1, 2\d{3}-.*Z: lost and released by force\n"
                         r"[\d:]{8} UTC: 1 lock: released by force by .*\n  stuck, which many ")
        self.assertIn("UTC: 99 locks: it reached its hold= limit\n  many/119, which many (pid:", text)
        browser.evaluate("document.querySelector('.troubles a[href*=since]').click()")
        eventually(lambda: "no problems" in (browser.text(".verdict") or ""), 20, "it is seen")
        self.check_quiet(browser)

    def test_over_a_login(self):
        """Scripts use the credentials that the browser was given."""
        web = self.web(auth={"users": [{"name": "root", "admin": True, "hash": "sha256:" +
                             __import__("hashlib").sha256(b"secret").hexdigest()}]})
        self.assertEqual(web.get("/").status, 401)
        browser = self.browser(f"http://root:secret@127.0.0.1:{web.port}/")
        eventually(lambda: "Granting locks" in (browser.text(".verdict") or ""), 10, "it is drawn")
        first = browser.text("time")
        eventually(lambda: browser.text("time") != first, 15, "it goes on")


# Where each row of the names ends.
ENDS = """
Array.from(document.querySelectorAll("#list tbody tr"))
    .map(row => Math.round(Math.max(...Array.from(row.querySelectorAll("td"))
        .map(e => e.getBoundingClientRect().right))))
"""

# Names of which something is not shown.
CUT = """
Array.from(document.querySelectorAll("#list a, #list bdi, #list .tag"))
    .filter(e => e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0)
    .map(e => e.innerText)
"""

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
