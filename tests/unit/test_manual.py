"""The man pages name everything that there is.

What there is comes from the tables of the sources (verbs, options, errors,
events, fields, statistics, settings, commands, exit statuses), never from a
list in this file; what the pages say is read from their mdoc source.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from tables import TOP, Keys, rows, source, string


class Page:
    """A page as lines of plain words, without escapes and macros."""

    def __init__(self, name):
        text = source("man/" + name).replace("\\\n", "")
        text = text.replace("\\(dq", '"').replace("\\&", "")
        text = text.replace("\\-", "-").replace("\\en", "\n")
        self.lines = [line for line in text.split("\n")
                      if not line.startswith('.\\"')]

    def section(self, title):
        """The lines of one .Sh; none if there is no such section."""
        out, inside = [], False
        for line in self.lines:
            if line.startswith(".Sh "):
                inside = line == ".Sh " + title
            elif inside:
                out.append(line)
        return out

    def items(self):
        """(the heading of a list item, the text below it), nested items too."""
        out, stack = [], []
        for line in self.lines:
            if line.startswith(".Bl "):
                stack.append(None)
            elif line.startswith(".El"):
                stack.pop()
            elif line.startswith(".It "):
                stack[-1] = (words(line[4:]), [])
                out.append(stack[-1])
                line = line[4:]
            for open_item in stack:
                if open_item is not None:
                    open_item[1].append(line)
        return [(head, " ".join(words(line) for line in body))
                for head, body in out]

    def heads(self):
        return [head for head, _ in self.items()]

    def text(self):
        return " ".join(words(line) for line in self.lines)


def words(line):
    """The words of a line without its macros."""
    if line.startswith("."):
        line = line[1:]
    line = re.sub(r"\b(Li|Ar|Cm|Em|Ql|Pa|Ev|Dv|Op|Pq|Sq|Dq|Ns|No|It|Pp|Xr)\b ?",
                  "", line)
    return re.sub(r"\s+", " ", line).strip()


class Protocol(unittest.TestCase):
    def setUp(self):
        self.page = Page("lockbroker-protocol.7")
        self.heads = self.page.heads()
        self.verbs = rows(source("src/base/verbs.def"), "VERB")
        self.options = {row[0]: string(row[1])
                        for row in rows(source("src/wire/option.def"),
                                        "OPTION")}

    def test_every_verb_with_its_usage(self):
        self.assertGreater(len(self.verbs), 20)
        for row in self.verbs:
            with self.subTest(verb=string(row[1])):
                self.assertIn(string(row[11]), self.heads)

    def test_the_table_of_verbs(self):
        for row in self.verbs:
            line = f".It Li {string(row[1])} Ta {string(row[12])}"
            with self.subTest(verb=string(row[1])):
                self.assertIn(line, self.page.lines)

    def test_every_option_of_every_verb(self):
        self.assertGreater(len(self.options), 10)
        seen = set()
        for row in self.verbs:
            verb = string(row[1])
            head = " ".join(h for h in self.heads
                            if h.split(" ")[0] == verb)
            for option in re.findall(r"\bO\((\w+)\)", row[5]):
                seen.add(option)
                with self.subTest(verb=verb, option=option):
                    self.assertIn(self.options[option] + "=", head)
        self.assertEqual(seen, set(self.options), "options of no verb")

    def check_words(self, path, macro, column, heads_only, before=""):
        there = [before + string(row[column]) for row in rows(
            re.sub(r"#define \w+\(\w+\)", "", source(path)), macro)]
        self.assertGreater(len(there), 3)
        for word in there:
            with self.subTest(word=word):
                if heads_only:
                    self.assertIn(word, [h.split(" ")[0] for h in self.heads])
                else:
                    self.assertRegex(self.page.text(),
                                     rf"(?<![\w-]){re.escape(word)}")

    def test_every_error(self):
        self.check_words("src/base/err.h", "ERROR", 1, True)

    def test_every_event(self):
        self.check_words("src/base/reply_status.h", "EVENT", 1, True, "!")

    def test_every_field_of_a_reply(self):
        self.check_words("src/base/field.h", "FIELD", 1, False)

    def statistics(self):
        """(name, type, help) of each."""
        out = [(string(row[0]), row[1], string(row[2])) for row in
               rows(source("src/daemon/monitor/statistics.def"), "STATISTIC")]
        return out + [(name, kind, text) for name, kind, text in re.findall(
            r'\bSTAT\(\w+, "(\w+)", (\w+), "(.*)"\)',
            source("src/core/dump.h"))]

    def test_every_statistic_with_its_help(self):
        there = self.statistics()
        items = dict(Page("lockbroker-metrics.7").items())
        self.assertGreater(len(there), 30)
        for name, _, text in there:
            with self.subTest(statistic=name):
                head = name + " " + text
                self.assertEqual(items.get(name, "")[:len(head)], head)
                self.assertTrue(text.endswith("."))

    def test_counters_are_totals(self):
        for name, kind, _ in self.statistics():
            with self.subTest(statistic=name):
                self.assertEqual(kind == "COUNTER", name.endswith("_total"))


class Settings(unittest.TestCase):
    """Path, type, range, default, and whether SIGHUP is enough."""

    TEXTS = ("STRING", "WORD", "SECRET", "URL")
    TYPES = {
        "ADDRESS": "address", "AUTH": "mapping", "BOOL": "true or false",
        "BYTES": "size, or a number of bytes", "CHOICE": "", "CLASSES": "list of mappings",
        "DURATION": "duration", "LISTEN": "list of mappings", "NAME": "text",
        "NODES": "list of addresses", "NUMBER": "number", "PATTERNS": "list of patterns",
        "SCRIPTS": "list of mappings", "SECRET": "text", "SIZE": "size", "STRING": "text",
        "URL": "URL", "WARM": "auto or duration", "WORD": "text without spaces",
    }
    UNITS = {
        "DURATION": (("d", 86400000), ("h", 3600000), ("m", 60000),
                     ("s", 1000), ("ms", 1)),
        "SIZE": (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10), ("B", 1)),
        "BYTES": (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10), ("B", 1)),
        "NUMBER": (("", 1),),
    }
    UNITS["WARM"] = UNITS["DURATION"]

    def setUp(self):
        text = source("src/config/fields.def")
        self.fields = rows(text, "FIELD")
        self.names = {"DURATION_MS_MAX": 365 * 86400000,
                      "METRICS_CLASSES_MAX": 64,
                      "RESP_SCRIPTS_MAX": 64}
        for name, value in re.findall(r"#define (\w+) (.+)", text):
            self.names[name] = self.number(value)
        self.choices = {
            name: re.findall(r'"(\w+)"', values) for name, values in
            re.findall(r"choices_(\w+)\[\] = \{(.*?)\}",
                       source("src/config/fields.c"), flags=re.S)}
        self.items = dict(Page("lockbrokerd.yaml.5").items())

    def number(self, expression):
        expression = re.sub(r"INT64_C\((\d+)\)", r"\1", expression)
        expression = re.sub(r"[A-Z_]+", lambda m: str(self.names[m.group()]),
                            expression)
        return eval(expression, {"__builtins__": {}})

    def amount(self, kind, value):
        if value == 0:
            return "0"
        for unit, factor in self.UNITS[kind]:
            if value % factor == 0:
                return f"{value // factor}{unit}"
        raise AssertionError(value)

    def closing_line(self, row):
        """The last line of a setting: type and range, default, reloadable."""
        kind, low, high = row[2], self.number(row[4]), self.number(row[5])
        taken = self.TYPES[kind]
        if kind in self.UNITS:
            taken += f", {self.amount(kind, max(low, 0))} to {self.amount(kind, high)}"
        elif kind == "CHOICE":
            *most, last = self.choices[row[6][len("choices_"):]]
            taken = ", ".join(most) + " or " + last
        elif high > 0:
            taken += f", {low} to {high} " if low else f", at most {high} "
            taken += {"NAME": "characters"}.get(kind, "bytes" if kind in self.TEXTS else "items")
        default = string(row[7]).replace('"', r"\(dq")
        default = "as shown" if kind == "LISTEN" else f"Li {default}"
        change = "reloadable" if row[8] == "true" else "needs a restart"
        return f".D1 {taken}; default {default} ; No {change}"

    def own_lines(self):
        """The lines of each item of a setting, without the lists in it, by its path."""
        out, stack = {}, []
        for line in source("man/lockbrokerd.yaml.5").split("\n"):
            if line.startswith(".Bl "):
                stack.append(None)
            elif line == ".El":
                stack.pop()
            elif line.startswith(".It Li "):
                stack[-1] = line[len(".It Li "):]
            path = [head for head in stack if head]
            if path and line != ".El":
                name = path[0] if len(path) == 1 else f"{path[0]} {path[-1]}"
                out.setdefault(name, []).append(line)
        return out

    def check_item(self, lines, closing):
        self.assertIsNotNone(lines, "has no item")
        self.assertEqual(lines[-1], closing)
        self.assertEqual(sum(line.startswith(".D1 ") for line in lines), 1)

    def test_every_setting(self):
        """Each has an item, whose last line is made from its row of the table."""
        self.assertGreater(len(self.fields), 30)
        own = self.own_lines()
        for row in self.fields:
            with self.subTest(setting=string(row[1])):
                self.check_item(own.get(string(row[1])), self.closing_line(row))

    def test_every_key_of_a_mapping(self):
        """The same for each key in listen, auth, metrics.classes and resp.scripts."""
        keys, own, total = Keys(), self.own_lines(), 0
        for row in self.fields:
            if row[2] not in ("LISTEN", "AUTH", "CLASSES", "SCRIPTS"):
                continue
            setting, found = string(row[1]), keys.of("config_type_" + row[2])
            there = [path.split()[1] for path in own if path.startswith(setting + " ")]
            self.assertEqual(sorted(there), sorted(key for key, _, _ in found))
            total += len(found)
            for key, taken, value in found:
                taken = taken.replace(" . ", r" \&. ")
                change = "reloadable" if row[8] == "true" else "needs a restart"
                line = f".D1 {taken}; {value} ; No {change}".replace('"', r"\(dq")
                with self.subTest(setting=setting, key=key):
                    self.check_item(own[f"{setting} {key}"], line)
        self.assertGreater(total, 25)

    def test_the_default_listeners(self):
        default = [string(row[7]) for row in self.fields
                   if row[2] == "LISTEN"]
        addresses = re.findall(r'(\w+): ("[^"]*")', default[0])
        self.assertGreater(len(addresses), 1)
        for key, address in addresses:
            self.assertRegex(self.items["listen"],
                             rf"- {key}: \"?{re.escape(address.strip(chr(34)))}")

    def test_every_key_of_a_listener(self):
        keys = re.findall(r'{ "(\w+)", &\w+, AT\(',
                          source("src/config/endpoints.c"))
        self.assertGreater(len(keys), 3)
        for key in keys:
            with self.subTest(key=key):
                self.assertIn(key, self.items)

    def test_nothing_that_is_not_there(self):
        there = {string(row[1]) for row in self.fields}
        sections = {path.split(".")[0] for path in there}
        for head in self.items:
            # Without a dot, it is a key of a mapping, as `limits` of a user.
            if "." in head and head.split(".")[0] in sections:
                self.assertIn(head, there)


class Command(unittest.TestCase):
    def setUp(self):
        self.page = Page("lockbroker.1")

    def test_every_command(self):
        commands = re.findall(r'\{ "([\w-]+)", -?\d+, -?\d+, WORDS_',
                              source("src/cli/subcommands.c"))
        self.assertGreater(len(commands), 8)
        for command in commands:
            with self.subTest(command=command):
                self.assertRegex("\n".join(self.page.section("DESCRIPTION")),
                                 rf"(?m)^\.(It Cm|Ss) {command}( |$)")

    def test_every_option(self):
        for path in ("src/cli/subcommands.c", "src/cli/run_options.c"):
            names = re.findall(r'\{ "([\w-]+)", \w+_argument',
                               source(path))
            self.assertGreater(len(names), 2)
            for name in names:
                with self.subTest(option=name):
                    self.assertRegex("\n".join(self.page.lines),
                                     rf"Fl -{name}(?![\w-])")

    def test_every_exit_status(self):
        statuses = [(row[0], row[1]) for row in rows(
            re.sub(r"#define \w+\(\w+\)", "", source("src/cli/exit.h")),
            "EXIT") if len(row) == 3 and row[1].isdigit()]
        self.assertGreater(len(statuses), 5)
        lines = self.page.section("EXIT STATUS")
        for name, status in statuses:
            with self.subTest(exit=name):
                self.assertIn(".It " + status + "+N" * (name == "SIGNAL"),
                              lines)


class Paths(unittest.TestCase):
    """Every mention of a configuration file is of the same one."""

    WHERE = ("README.md", "NEWS", "conf/*.yaml", "man/*.[1-9]", "systemd/*")

    def test_one_directory_of_the_configuration(self):
        found = set()
        for pattern in self.WHERE:
            paths = sorted(TOP.glob(pattern))
            self.assertTrue(paths, pattern)
            for path in paths:
                if path.is_file():
                    found |= set(re.findall(r"/etc/lockbroker\w*/?",
                                            path.read_text(encoding="utf-8")))
        self.assertEqual(found, {"/etc/lockbroker/"})
        self.assertIn("\nConfigurationDirectory=lockbroker\n",
                      source("systemd/lockbrokerd.service.in"))

    def test_every_example_is_installed(self):
        listed = re.findall(r"conf/[\w.-]+\.yaml", source("conf/local.mk"))
        there = [f"conf/{path.name}" for path in (TOP / "conf").glob("*.yaml")]
        self.assertEqual(sorted(listed), sorted(there))


BUILD = Path(os.environ.get("top_builddir", TOP / "build/test"))


@unittest.skipUnless((BUILD / "Makefile").exists(), "not configured")
class Made(unittest.TestCase):
    """What the build makes of the pages."""

    def make(self, *target):
        done = subprocess.run(["make", "-s", "-C", BUILD, *target], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)

    @unittest.skipUnless(shutil.which("mandoc"), "mandoc is not installed")
    def test_html(self):
        self.make("html")
        made = {path.name: path.read_text(encoding="utf-8")
                for path in (BUILD / "html").glob("*.html")}
        pages = {path.name + ".html" for path in (TOP / "man").glob("*.[1-9]")}
        self.assertEqual(set(made), pages | {"index.html"})
        self.assertLessEqual(pages, set(re.findall(r'href="([\w.-]+)"', made["index.html"])))
        entries = json.loads((BUILD / "html/words.js").read_text(encoding="utf-8")
                             .removeprefix("const entries = ").removesuffix(";\n"))
        for name, text in made.items():
            with self.subTest(page=name):
                self.check_links(name, made)
                self.check_contents(name, text, {entry[1] for entry in entries if entry[0] == name})
        self.check_entries({f"{file}#{anchor}" for file, anchor, _, _ in entries})

    def check_links(self, name, made):
        """Each one leads to an anchor that is there, and no page of ours is without one."""
        anchors = {page: re.findall(r' id="([^"]*)"', text) for page, text in made.items()}
        self.assertEqual(len(anchors[name]), len(set(anchors[name])))
        links = re.findall(r'<a\b[^>]*?href="([^"]*)"', made[name])
        self.assertGreater(len(links), 5)
        for link in links:
            page, _, anchor = link.partition("#")
            if not link.startswith("https://manpages.debian.org/"):
                self.assertIn(page or name, made)
                self.assertIn(anchor, ["", *anchors[page or name]], link)
        bare = re.sub(r"<(pre|a|h1|title)\b.*?</\1>", "", made[name], flags=re.S)
        self.assertEqual(re.findall(r"\blockbroker[\w.-]*\(\d\)", bare), [])

    def check_contents(self, name, text, found):
        """Each section is in the table of contents, and in the index of the search."""
        if name == "index.html":
            return
        sections = re.findall(r'<h[12][^>]* id="([^"]*)"', text)
        contents = re.search(r"<nav .*?</nav>", text, flags=re.S).group()
        self.assertEqual(re.findall(r'href="#([^"]*)"', contents), sections)
        self.assertLessEqual(set(sections), found)

    def check_entries(self, found):
        """The search finds each setting, verb, event and metric by its name."""
        wanted = [("lockbrokerd.yaml.5", string(row[1]))
                  for row in rows(source("src/config/fields.def"), "FIELD")]
        wanted += [("lockbroker-protocol.7", string(row[1]))
                   for row in rows(source("src/base/verbs.def"), "VERB")]
        wanted += [("lockbroker-protocol.7", "!" + string(row[1])) for row in rows(
            re.sub(r"#define \w+\(\w+\)", "", source("src/base/reply_status.h")), "EVENT")]
        wanted += [("lockbroker-metrics.7", name) for name in re.findall(
            r"(?m)^\.It Li ([a-z]\w*)$", source("man/lockbroker-metrics.7"))]
        wanted += [("lockbroker-log.7", name) for name in re.findall(
            r"(?m)^\.It Li ([a-z-]+)", source("man/lockbroker-log.7"))]
        self.assertGreater(len(wanted), 300)
        for page, name in wanted:
            with self.subTest(page=page, name=name):
                self.assertIn(f"{page}.html#{name}", found)

    def test_client(self):
        self.make("man/client.py")
        text = (BUILD / "man/client.py").read_text(encoding="utf-8")
        compile(text, "client.py", "exec")
        self.assertTrue(text.startswith("import "), text)
        self.assertIn("\nclass Lock", text)


class Packed(unittest.TestCase):
    def test_by_every_build(self):
        """A build without Check packs the same files as any other."""
        for path in sorted(TOP.glob("**/local.mk")):
            depth = 0
            for line in path.read_text(encoding="utf-8").splitlines():
                depth += line.startswith("if ") - line.startswith("endif")
                if depth:
                    self.assertNotRegex(line, "EXTRA_DIST|^dist_", path)


class Containers(unittest.TestCase):
    """The image and the examples that use it agree on what they have to."""

    def test_user(self):
        user = re.search(r"^USER (\d+):(\d+)$", source("Containerfile"), flags=re.M).groups()
        self.assertEqual(user, ("5625", "5625"))
        for text in ("runAsUser: 5625", "runAsGroup: 5625", '"5625:5625"'):
            self.assertIn(text, source("conf/kubernetes.yaml"))
        self.assertIn("uid=5625,gid=5625", source("conf/compose.yaml"))

    def test_commands_are_those_of_the_command(self):
        page = source("man/lockbroker.1")
        for path in "Containerfile", "conf/kubernetes.yaml":
            commands = re.findall(r'\["lockbroker", "(\w+)"|"lockbroker -S \S+ (\w+)', source(path))
            commands = [one or other for one, other in commands]
            self.assertTrue(commands, path)
            for command in commands:
                self.assertTrue(re.search(rf"\n\.(It Cm|Ss) {command}\b", page), command)

    def test_the_chart_makes_the_example(self):
        helm = os.environ.get("HELM") or shutil.which("helm")
        if helm is None:
            self.skipTest("helm is not installed")
        with tempfile.TemporaryDirectory() as home:
            made = subprocess.run([TOP / "packaging/kubernetes"], check=True, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                  env={**os.environ, "HELM": helm, "HOME": home}).stdout
        self.assertEqual(made, source("conf/kubernetes.yaml"))

    def test_the_chart_has_the_alerts(self):
        self.assertEqual(source("packaging/helm/lockbroker-alerts.yaml"),
                         source("conf/lockbroker-alerts.yaml"))

    def test_it_can_drain_in_the_time_that_it_has(self):
        text = source("conf/kubernetes.yaml")
        leave = int(re.search(r"leave: (\d+)m", text).group(1))
        grace = int(re.search(r"terminationGracePeriodSeconds: (\d+)", text).group(1))
        self.assertGreater(grace, leave * 60)


class Version(unittest.TestCase):
    """It is set in configure.ac; what can't be made from that says the same."""

    def test_everywhere(self):
        version = re.search(r"AC_INIT\(\[lockbroker\], \[(.*?)\]\)",
                            source("configure.ac")).group(1)
        for path, pattern in (
                ("NEWS", r"lockbroker (\S+)"),
                ("packaging/helm/Chart.yaml", r"\nversion: (.*)"),
                ("packaging/helm/Chart.yaml", r"\nappVersion: (.*)"),
                ("clients/python/lockbroker/__init__.py", r'__version__ = "(.*)"'),
                ("clients/java/pom.xml", r"\n  <version>(.*)</version>"),
                ("clients/java/shedlock/pom.xml", r"\n  <version>(.*)</version>"),
                ("clients/java/README.md", r"\n  <version>(.*)</version>"),
                ("clients/java/CHANGELOG.md", r"\n## (\S+)"),
                ("packaging/debian/changelog", r"lockbroker \((.*)-[^-]*\)")):
            with self.subTest(path=path):
                found = re.search(pattern, source(path)).group(1)
                self.assertEqual(found, version)


@unittest.skipUnless((TOP / "man/lockbrokerd.8").exists(), "no page yet")
class Daemon(unittest.TestCase):
    def test_every_option(self):
        letters = re.search(r"^usage: lockbrokerd.*$|\"usage: lockbrokerd (.*)\"",
                            source("src/daemon/process/daemon.c"), flags=re.M).group()
        options = re.findall(r"(?<!-)-(\w+)", letters)
        self.assertGreater(len("".join(options)), 4)
        page = Page("lockbrokerd.8")
        for letter in "".join(options):
            with self.subTest(option=letter):
                self.assertRegex("\n".join(page.lines),
                                 rf"(?m)^\.It Fl {letter}\b")

    def test_every_event_of_the_log(self):
        """From the tables, and from each LOG() that names its event."""
        there = {string(row[2]) for row in rows(
            re.sub(r"#define \w+\(\w+\)", "", source("src/core/notice.h")),
            "ROW") if len(row) == 3 and '"' in row[2]}
        there |= {string(row[2]) for row in rows(
            re.sub(r"#define \w+\(\w+\)", "", source("src/store/refusal.h")),
            "REFUSAL") if len(row) == 4}
        self.assertGreater(len(there), 35)
        for path in sorted((TOP / "src").rglob("*.c")):
            there |= set(re.findall(r'\bLOG\(\s*[A-Z]+,\s*"([a-z-]+)"',
                                    path.read_text(encoding="utf-8")))
        self.assertGreater(len(there), 80)
        heads = {word for line in Page("lockbroker-log.7").lines
                 if line.startswith(".It Li")
                 for word in line[len(".It Li"):].replace(",", " ").split()}
        for event in sorted(there):
            with self.subTest(event=event):
                self.assertIn(event, heads)

    def test_each_event_has_its_level(self):
        levels = [(string(row[2]), row[1]) for row in rows(
            re.sub(r"#define \w+\(\w+\)", "", source("src/core/notice.h")),
            "ROW") if len(row) == 3 and '"' in row[2]]
        for path in sorted((TOP / "src").rglob("*.c")):
            levels += [(event, level) for level, event in re.findall(
                r'\bLOG\(\s*([A-Z]+),\s*"([a-z-]+)"', path.read_text(encoding="utf-8"))]
        self.assertGreater(len(levels), 80)
        page = re.findall(r"(?m)^\.It Li (.*)\n\.Pq (.*)$", source("man/lockbroker-log.7"))
        for event, level in levels:
            with self.subTest(event=event):
                (said,) = [text for heads, text in page
                           if event in heads.replace(",", " ").split()]
                self.assertIn(level.lower(), said)


class Designs(unittest.TestCase):
    """What a newcomer reads: ARCHITECTURE.md, and the DESIGN of a folder."""

    def test_each_folder_has_one(self):
        for folder in {path.parent for path in (TOP / "src").rglob("*.[ch]")}:
            files = [path for path in folder.iterdir() if path.suffix in (".c", ".h")]
            if len(files) > 5:
                with self.subTest(folder=str(folder)):
                    self.assertTrue((folder / "DESIGN").exists())

    def test_they_name_files_that_are_there(self):
        there = {str(path.relative_to(TOP)) for folder in ("src", "tests", "clients")
                 for path in (TOP / folder).rglob("*.*")}
        for path in (TOP / "ARCHITECTURE.md", *(TOP / "src").rglob("DESIGN")):
            text = path.read_text(encoding="utf-8")
            for name in re.findall(r"`([\w/.-]+\.(?:[ch]|def|lua|js|awk))`", text):
                with self.subTest(path=str(path), name=name):
                    self.assertTrue(any(("/" + file).endswith("/" + name)
                                        for file in there))

    def test_they_are_short(self):
        for path, most in ((TOP / "ARCHITECTURE.md", 350),
                           *((path, 200) for path in (TOP / "src").rglob("DESIGN"))):
            with self.subTest(path=str(path)):
                self.assertLessEqual(len(path.read_text(encoding="utf-8").splitlines()), most)


class Libraries(unittest.TestCase):
    """lockbroker-resp(7) and README name the lock libraries that the runner has noted."""

    def test_what_ran(self):
        path = str(TOP / "tests/libraries")
        sys.path.insert(0, path)
        self.addCleanup(sys.path.remove, path)
        import manual
        ran, page = manual.read(), source("man/lockbroker-resp.7")
        known = {manual.name_of(row) for row in manual.ROWS}
        self.assertEqual(set(ran) - known, set())
        begin = page.index(manual.BEGIN) + len(manual.BEGIN)
        self.assertEqual(page[begin:page.index(manual.END)], manual.block(ran))
        self.assertEqual(manual.NUMBERS.findall(source("README.md")), [manual.numbers(ran)])


class Diagnostics(unittest.TestCase):
    """DIAGNOSTICS has every text that the sources send, and no other."""

    def texts(self, files, calls):
        """Each literal in a call, as the parts around what varies."""
        found, named = set(), {}
        texts = [re.sub(r"/\*.*?\*/", " ", path.read_text(encoding="utf-8"), flags=re.S)
                 for pattern in files for path in TOP.glob(pattern)]
        for text in texts:
            named |= dict(re.findall(r'#define (\w+)[\s\\]+((?:"[^"\n]*"[\s\\]*)+)', text))
        for text in texts:
            local = named | dict(re.findall(r'static const char (\w+)\[\] =\s*("[^"]*");', text))
            for call in re.finditer(calls, text):
                given = text[call.end():text.index(";\n", call.end())]
                given = re.sub(r"\b\w+\b", lambda m: local.get(m.group(), m.group()), given)
                for literal in re.findall(r'(?:"(?:[^"\\]|\\.)*"[\s\\]*)+', given):
                    literal = re.sub(r"\\n$|\\n(?=\"$)", "", literal.strip())
                    found.add(tuple(part for part in re.split(
                        r"%(?:\.\*s|[sdu])|(?<=')\w+(?=' command)", string(literal))
                                    if part and not re.fullmatch("![A-Z]+", part)))
        return found

    def check(self, page, least, files, calls):
        texts = self.texts(files, calls)
        parts = [part for text in texts for part in text if len(part) > 3]
        self.assertGreaterEqual(len(parts), least)
        heads = [line.replace('""', "\0").split('"')[1].replace("\0", '"')
                 for line in Page(page).section("DIAGNOSTICS") if re.match(r'\.(It )?Li "', line)]
        for text in texts:
            with self.subTest(page=page, text=text):
                self.assertTrue(any(all(part in head for part in text) for head in heads))
        for head in heads:
            with self.subTest(page=page, head=head):
                self.assertTrue(any(part in head for part in parts) or head.endswith(" REASON"))

    def test_errors_to_clients_of_redis(self):
        self.check("lockbroker-resp.7", 70, (
            "src/daemon/resp/*.c", "src/resp/*.c", "src/wire/resp_re*.c",
            "src/daemon/bridge/broker.c"),
            r"\b(?:resp_fail|resp_error|ask_refuse|refuse|resp_multi_spoil|goes_wrong|"
            r"wrong_number)\(|\bbuf_adds\((?=(?:why|w->why|b), \"[A-Zuw])|\bhints\[\] = {")

    def test_messages_of_the_command(self):
        """All but the texts of say_usage(), which are in the words of the command line,
        of TLS (src/tls/wording.c) and of the holder that `run` waits for."""
        self.check("lockbroker.1", 60, ("src/cli/*.c", "src/client/client.[ch]"),
                   r"\bsay\((?=\s*\")|\bsay_code\(\s*[^,]+,|\breturn strcmp\(code,|"
                   r"\bclient_ended\(\s*c,|c->stranger = |\brun_(?:lost|again)\(run,|"
                   r"\bsnprintf\((?:c->)?why, sizeof\((?:c->)?why\),(?=\s*\"(?:the|%s \())|"
                   r"\b(?:all|act|table)\[\] = {(?=\s*(?:{ \"(?:!|hold)|\[ON_LOST))")

    def test_messages_of_the_daemon(self):
        self.check("lockbrokerd.8", 12, (
            "src/daemon/process/daemon.c", "src/daemon/users/acl.c", "src/config/faults.c",
            "src/config/rules.c", "src/auth/users.c"),
            r"\bfprintf\(\s*stderr,|\breturn wrong\(|\bsnprintf\(line, HEAD_SIZE,|"
            r"\bbuf_add[sf]\(&?(?:text|out),(?=\s*\")")

    def test_texts_of_the_library(self):
        self.check("lockbroker.3", 11, ("clients/c/lockbroker.c",),
                   r"\bmeanings\[\] = {|\(size_t\)code < n \?")


if __name__ == "__main__":
    unittest.main()
