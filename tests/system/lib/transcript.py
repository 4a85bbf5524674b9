"""Send/expect stories: reads transcripts/*.t and plays them against a broker.

A file has comments (#), settings for its broker (`set locks.max_hold 500ms`, before the first
story) and stories (`== title`). A story has clients, made when first named, and these lines:

    a> LOCK x             client a sends the line
    a>> 'PI' + '\\x00\\n'   client a sends these bytes: a Python literal, with + and * allowed
    a< OK depth=1         the next untagged reply to a
    a< @7 OK depth=1      the reply to a with that tag
    a: lock x age=<N>ms   the next line of the body of a's last reply
    a: ...                any more lines of that body
    a! LOST x fence=<F>   the next event to a, without its `!`
    a.                    nothing is unread for a, and nothing comes for a moment
    a| tcp                a is to use TCP; also: shut (its sending side), close, reset (RST),
                          eof (the broker has closed, and nothing is left to be read)
    ? STATUS x => ...     ask on a connection of its own until the answer is this
    time T                remember the time ...
    since T 900..1600     ... and insist that so many ms are over
    pause 300             let so many ms pass (where time is the subject)
    settle                let what was sent take effect, where nothing tells that it has

What is expected has words, which must be those of the line, in order, and then fields, which
must be among those of the line, in any order: a reply may have fields that we don't know. In a
word or value, `<N>` is a number, the same wherever it has the same name in a story; `<$K>` is
a text likewise, and may be sent; `<N>M>` is a number N above the number M; `<5..9>` is a number between two; `<*>` is anything; `a|b` is one
of two. `no:session` means that the line has no such field. After ERR and its code, `~hold`
means that the text for people mentions that.
"""

import ast
import glob
import os
import re

from .wait import eventually, let_time_pass, now, patience

_PLACE = re.compile(r"<(\*|\$[A-Z]|\d+\.\.\d+|[A-Z][A-Z0-9]*(?:>[A-Z][A-Z0-9]*)?)>")


class Mismatch(AssertionError):
    """What came is not what the story says."""


class Story:
    """A title and its lines, each with its number in the file."""

    def __init__(self, title):
        self.title = title
        self.lines = []


class Script:
    """One file: settings for its broker, and stories."""

    def __init__(self, path):
        self.path = path
        self.settings = {}
        self.stories = []
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                self._take(number, line.rstrip("\n"))
        assert self.stories, f"{path}: no story"

    def _take(self, number, line):
        if not line.strip() or line.startswith("#"):
            return
        if line.startswith("== "):
            self.stories.append(Story(line[3:].strip()))
        elif line.startswith("set "):
            assert not self.stories, f"{self.path}:{number}: settings come first"
            section, key, value = re.match(r"set (\w+)\.(\w+) (.*)", line).groups()
            self.settings.setdefault(section, {})[key] = value
        else:
            assert self.stories, f"{self.path}:{number}: a line before the first story"
            self.stories[-1].lines.append((number, line))


def all_scripts():
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return [Script(path) for path in sorted(glob.glob(os.path.join(here, "transcripts", "*.t")))]


# Matching.

def _word_matches(pattern, word, known):
    """Whether one word or value fits; learns the numbers that it names."""
    if any(_one_matches(choice, word, known) for choice in _alternatives(pattern)):
        return True
    return False


def _alternatives(pattern):
    return pattern.split("|") if "|" in pattern and "<" not in pattern else [pattern]


def _one_matches(pattern, word, known):
    regex, names, end = "", [], 0
    for place in _PLACE.finditer(pattern):
        regex += re.escape(pattern[end:place.start()])
        regex += "(.+)" if place[1][0] in "*$" else r"(0|[1-9][0-9]*)"
        names.append(place[1])
        end = place.end()
    found = re.fullmatch(regex + re.escape(pattern[end:]), word)
    if not found:
        return False
    learned = dict(known)
    for name, text in zip(names, found.groups()):
        if not _place_fits(name, text, learned):
            return False
    known.update(learned)
    return True


def _place_fits(name, text, known):
    if name == "*":
        return True
    if name[0] == "$":
        return known.setdefault(name, text) == text
    value = int(text)
    if ".." in name:
        low, high = name.split("..")
        return int(low) <= value <= int(high)
    name, _, above = name.partition(">")
    if above:
        assert above in known, f"<{above}> is not known yet"
        if value <= known[above]:
            return False
    return known.setdefault(name, value) == value


def line_matches(pattern, text, known):
    """Whether a line (without tag) fits a pattern; `known` holds the numbers learned so far."""
    wanted = pattern.split(" ")
    words = [word for word in text.split(" ") if "=" not in word]
    fields = dict(word.split("=", 1) for word in text.split(" ") if "=" in word)
    if wanted[:1] == ["ERR"]:
        return _err_matches(wanted, text)
    for want in wanted:
        if want.startswith("no:"):
            if want[3:] in fields:
                return False
        elif "=" in want:
            key, value = want.split("=", 1)
            if key not in fields or not _word_matches(value, fields[key], known):
                return False
        elif not words or not _word_matches(want, words.pop(0), known):
            return False
    return not words


def _err_matches(wanted, text):
    parts = text.split(" ", 2)
    # Every ERR has a text for people.
    if len(parts) < 3 or parts[0] != "ERR" or not parts[2].strip():
        return False
    if not _word_matches(wanted[1], parts[1], {}):
        return False
    return all(want[1:].lower() in parts[2].lower() for want in wanted[2:])


# Playing.

class Player:
    """Plays the stories of one script, each with clients of its own."""

    def __init__(self, make_client):
        self.make_client = make_client
        self.clients = {}
        self.tcp = set()
        self.known = {}
        self.times = {}
        self.bodies = {}

    def play(self, story, path):
        for number, line in story.lines:
            try:
                self._step(line)
            except (AssertionError, OSError) as error:
                raise Mismatch(f"{os.path.basename(path)}:{number}: {line}\n"
                               f"    {error}") from None
        for name, client in self.clients.items():
            client.pump()
            left = client.replies + client.tagged + client.events
            if left:
                raise Mismatch(f"{os.path.basename(path)}: story '{story.title}': "
                               f"client {name} was told more: {left}")

    def close(self):
        for client in self.clients.values():
            client.close()

    def _client(self, name):
        if name not in self.clients:
            self.clients[name] = self.make_client(tcp=name in self.tcp)
        return self.clients[name]

    def _step(self, line):
        head, _, rest = line.partition(" ")
        if head == "?":
            request, answer = rest.split(" => ", 1)
            self._poll(request, answer)
        elif head == "time":
            self.times[rest] = now()
        elif head == "since":
            self._since(*rest.split(" "))
        elif head == "pause":
            let_time_pass(int(rest) / 1000)
        elif head == "settle":
            let_time_pass(patience(0.2))
        else:
            found = re.fullmatch(r"([a-z]\w*)(>>|[><:!.|])(?: (.*))?", line)
            assert found, "not a line of a story"
            self._ACTIONS[found[2]](self, found[1], found[3] or "")

    def _send(self, name, request):
        for place, text in self.known.items():
            if place[0] == "$":
                request = request.replace(f"<{place}>", text)
        self._client(name).send(request)

    def _send_raw(self, name, literal):
        self._client(name).send_raw(_bytes_of(ast.parse(literal, mode="eval").body))

    def _reply(self, name, pattern):
        tag = None
        if pattern.startswith("@"):
            tag, pattern = pattern[1:].split(" ", 1)
        reply = self._client(name).reply(tag=tag)
        text = reply.text if tag is None else reply.text.split(" ", 1)[1]
        self._insist(pattern, text)
        self.bodies[name] = list(reply.body)

    def _body(self, name, pattern):
        body = self.bodies.get(name)
        assert body is not None, "no reply before this"
        if pattern == "...":
            body.clear()
            return
        assert body, "the reply has no more lines"
        self._insist(pattern, body.pop(0))

    def _event(self, name, pattern):
        self._insist(pattern, self._client(name).event().text[1:])

    def _silent(self, name, _rest):
        client = self._client(name)
        assert client.silent(), f"told {client.lines[-3:]}, end of stream: {client.eof}"

    def _do(self, name, what):
        if what == "tcp":
            self.tcp.add(name)
            return
        client = self._client(name)
        if what == "eof":
            client.expect_eof()
            left = client.replies + client.tagged + client.events
            assert not left and not client.buffer, f"unexpected before the end: {left}"
        else:
            {"shut": client.shut, "close": client.close, "reset": client.reset}[what]()

    def _insist(self, pattern, text):
        assert line_matches(pattern, text, self.known), f"got: {text}   knowing {self.known}"

    def _poll(self, request, answer):
        prober = self.make_client(tcp=False)
        try:
            def fits():
                reply = prober.ask(request)
                known = dict(self.known)
                assert line_matches(answer, reply.text, known), f"got: {reply.text}"
                self.known = known
                return True
            eventually(fits, 5, f"{request} => {answer}")
        finally:
            prober.close()

    def _since(self, name, bounds):
        low, high = (int(bound) for bound in bounds.split(".."))
        passed = (now() - self.times[name]) * 1000
        assert low <= passed, f"only {passed:.0f} ms are over"
        assert passed <= patience(high), f"{passed:.0f} ms are over"

    _ACTIONS = {">": _send, ">>": _send_raw, "<": _reply, ":": _body, "!": _event,
                ".": _silent, "|": _do}


def _bytes_of(node):
    """A literal of str or bytes, with + and * allowed: 'x' * 4096 + '\\n'."""
    if isinstance(node, ast.Constant):
        value = node.value
        return value.encode() if isinstance(value, str) else value
    assert isinstance(node, ast.BinOp), "only literals, + and *"
    left, right = _bytes_of(node.left), _bytes_of(node.right)
    return left + right if isinstance(node.op, ast.Add) else left * right
