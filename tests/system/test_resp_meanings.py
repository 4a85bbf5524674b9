"""What the broker takes a script for, however it is written: texts that mean the same are known,
and each text that is known, also one in which a word was changed at random, does what it does on
a bare redis-server, in each state of the key and for each number."""

import itertools
import random
import re
import unittest

from lib.case import note
from lib.resp import RedisError
from test_resp import encode
from test_resp_numbers import Compared

# What a program does: with its lock, and where the token is another's, nobody's, or not its own.
# K, T, N: key, token, number; V: what GET says.
MINE, ELSE = "{get} == {T}", ("0", "nil")
RELEASE = [f"if {MINE} then {then} else return {no} end" for no in ELSE for then in (
    "return {del}", "{del} return 1", "{del} return true")]
EXTEND = [f"if {MINE} then {then} else return {no} end" for no in ELSE for then in itertools.chain(
    *((f"return {{{how}}}", f"{{{how}}} return 1") for how in ("pexpire", "expire", "set", "setex")))]
TAKE = [text for no in ELSE for text in (
    "if {exnx} then return 1 else return %s end" % no,
    "if {pxnx} then return 1 else return %s end" % no,
    "if {setnx} == 1 then {pexpire} return 1 else return %s end" % no,
    "if {setnx} == 1 then return {expire} else return %s end" % no)] + [
        "return {pxnx}", "return {exnx}"]
OTHER = [
    "if {get} == {T} then return {pttl} else return -3 end",
    "if {get} == {T} then {pexpire} return 1 elseif {get} == false then {bare} {pexpire} return 1 end"
    " return 0",
    "if {get} == {T} then {pexpire} return true elseif not {get} then {take} return true end"
    " return false",
    "if {get} == {T} then return {pexpire} elseif {pxnx} then return 1 else return 0 end",
    "if {get} == {T} then return {del} elseif {get} then return 0 else return -1 end",
]
TEXTS = RELEASE + EXTEND + TAKE + OTHER

CALLS = {
    "get": ("get", "{K}"), "del": ("del", "{K}"), "pttl": ("pttl", "{K}"),
    "pexpire": ("pexpire", "{K}", "{N}"), "expire": ("expire", "{K}", "{N}"),
    "set": ("set", "{K}", "{T}", "'PX'", "{N}"), "setex": ("setex", "{K}", "{N}", "{T}"),
    "take": ("set", "{K}", "{T}", "'PX'", "{N}"), "bare": ("set", "{K}", "{T}"), "setnx": ("setnx", "{K}", "{T}"),
    "pxnx": ("set", "{K}", "{T}", "'NX'", "'PX'", "{N}"),
    "exnx": ("set", "{K}", "{T}", "'EX'", "{N}", "'NX'"),
}
# Other ways to write some of them, where the lock is one's own.
WAYS = {"set": [("psetex", "{K}", "{N}", "{T}"), ("set", "{K}", "{T}", "'px'", "{N}", "'xx'"),
                ("set", "{K}", "{T}", "'XX'", "'PX'", "{N}")],
        "setex": [("set", "{K}", "{T}", "'EX'", "{N}")], "del": [("unlink", "{K}")]}

WRITTEN, CHANGED = 2, 25  # of each text

STATES = {"mine": ("t", 20000), "mine, for ever": ("t", None), "another's": ("u", 20000),
          "another's, for ever": ("u", None), "free": None}
NUMBERS = ("9000", "0", "-1", "x", "9e3")

WORDS = re.compile(r"'[^']*'|\"[^\"]*\"|[A-Za-z_]\w*|\d+|==|~=|<=|>=|\.\.|\S")
# What a word may become.
POOLS = [("==", "~=", "<", ">="), ("0", "1", "2", "-1", "nil", "false", "true", "'0'"),
         ("KEYS", "ARGV"), ("and", "or"), ("call", "pcall"), ("redis", "server"),
         ("if", "elseif", "local", "return", "not"), ("then", "do", "else", "end"),
         ("'get'", "'del'", "'pttl'", "'ttl'", "'exists'", "'persist'", "'type'"),
         ("'pexpire'", "'expire'", "'setnx'", "'set'", "'psetex'", "'setex'", "'getset'", "'append'"),
         ("'NX'", "'XX'", "'GET'", "'KEEPTTL'"), ("'PX'", "'EX'", "'PXAT'"),
         ("k", "t", "n", "v"), ("(", ")", "[", "]", ",", ".", "=")]


class Writer:
    """Writes a text in a way of its own."""

    def __init__(self, rng):
        self.rng = rng
        self.lua = rng.random() < 0.4  # Lua reads the number
        self.names = {"K": "KEYS[1]", "T": "ARGV[1]", "N": "ARGV[2]"}
        if self.lua:
            self.names["N"] = "tonumber(ARGV[2])"
        self.start = self.locals() if rng.random() < 0.6 else ""

    def locals(self):
        chosen = self.rng.sample([*self.names], self.rng.randrange(1, 4))
        names = [f"{name.lower()}{self.rng.choice(['', '_1', 'ey'])}" for name in chosen]
        values = [self.names[name] for name in chosen]
        self.names.update(zip(chosen, names))
        if self.rng.random() < 0.5:
            return f"local {', '.join(names)} = {', '.join(values)}\n"
        return "".join(f"local {name} = {value};\n" for name, value in zip(names, values))

    def call(self, what, returned):
        words = self.rng.choice([CALLS[what]] + WAYS.get(what, []))
        quote = self.rng.choice("'\"")
        command = "".join(self.rng.choice((c.lower(), c.upper())) for c in words[0])
        how = self.rng.choice(("call", "call", "pcall"))
        if how == "pcall" and not (returned or what in ("get", "del", "pttl")):
            how = "call"
        space = self.rng.choice(("", " "))
        args = f",{space}".join(word.format(**self.names) for word in words[1:])
        return f"{self.rng.choice(('redis', 'redis', 'server'))}.{how}({quote}{command}{quote}, {args})"

    def compare(self, text):
        """The sides, parentheses, and what is true anyway."""
        get, token = "{get}", self.names["T"]
        same = self.rng.choice((f"{get} == {token}", f"{token} == {get}", f"({get}) == {token}",
                                f"({get} == {token})", f"(({token}) == ({get}))",
                                f"{get} and {get} == {token}", f"not ({get} ~= {token})",
                                f"{get} ~= false and {token} == {get}"))
        return text.replace(MINE, same, 1)

    def early(self, text):
        """A return where it goes wrong, and then the rest."""
        found = re.fullmatch(r"if (\{get\} == \{T\}) then (.*) else return (\S+) end", text)
        if found is None or "elseif" in text or self.rng.random() < 0.4:
            return text
        _, then, no = found.groups()
        token = self.names["T"]
        other = self.rng.choice((f"{{get}} ~= {token}", f"{token} ~= {{get}}",
                                 f"({{get}} ~= {token})", f"not ({{get}} == {token})",
                                 f"not {{get}} or {{get}} ~= {token}"))
        return f"if {other} then return {no} end {then}"

    def write(self, text):
        text = self.compare(self.early(text))
        if "{get}" in text and self.rng.random() < 0.5:
            text = "local held = " + self.call("get", False) + "\n" + text.replace("{get}", "held")
        text = re.sub(r"else return (\S+) end$", self.end, text)
        text = re.sub(r"\breturn nil\b", lambda _: self.rng.choice(("return nil", "return false")), text)
        parts = re.split(r"(return )?\{(\w+)\}", text)
        text = parts[0]
        for ret, what, rest in zip(parts[1::3], parts[2::3], parts[3::3]):
            text += (ret or "") + (self.names[what] if what in self.names else self.call(
                what, ret is not None and rest.strip().split(" ")[0] in ("", "end", "else", "elseif")))
            text += rest
        return self.rng.choice(("", "", "#!lua\n", "-- a lock\n")) + self.start + text.replace(
            " ", self.rng.choice((" ", "\n\t", "  ")) if "(" not in text.split(" ")[0] else " ")

    def end(self, found):
        no = found.group(1)
        return self.rng.choice((f"else return {no} end", f"end return {no}") +
                               (("end", "else return end") if no == "nil" else ()))


def mutate(rng, text):
    """Another text: one word, or two, are others, are gone, or stand twice."""
    head, body = ("#!lua\n", text[6:]) if text.startswith("#!lua") else ("", text)
    words = WORDS.findall(body.replace("-- a lock", ""))
    for _ in range(rng.choice((1, 1, 2))):
        i = rng.randrange(len(words))
        pool = next((pool for pool in POOLS if words[i].lower() in map(str.lower, pool)), None)
        kind = rng.random()
        if pool is not None and kind < 0.7:
            words[i] = rng.choice(pool)
        elif kind < 0.85:
            del words[i]
        else:
            words.insert(i, rng.choice(words))
    return head + " ".join(words)


class InEachState(Compared):
    """What a request does in each state of the key, and for each number, in both."""

    limit = 240

    def sent(self, client, words):
        replies = []
        for i in range(0, len(words), 100):
            client.sock.sendall(b"".join(encode(*one) for one in words[i:i + 100]))
            replies += [client.read() for _ in words[i:i + 100]]
        return replies

    def answers(self, client, request, states, numbers):
        words = []
        for held, number in itertools.product(states.values(), numbers):
            words += [("DEL", "k"), ("DEL", "l"),
                      ("SET", "k", held[0], "NX", *(("PX", held[1]) if held[1] else ()))
                      if held else ("PING",), request(client, number), ("GET", "k"), ("PTTL", "k"),
                      ("EXISTS", "l")]
        replies = self.sent(client, words)
        return [replies[i + 3:i + 7] for i in range(0, len(replies), 7)]

    def check(self, request, *, states=STATES, numbers=NUMBERS, what=""):
        for (state, number), one, bare in zip(
                itertools.product(states, numbers),
                *(self.answers(client, request, states, numbers)
                  for client in (self.one, self.bare))):
            # Where a number is none, the broker has done nothing; Redis may have done half.
            if isinstance(bare[0], RedisError):
                self.assertIsInstance(one[0], RedisError, (what, state, number))
                token, left = states[state] or (None, -2)
                bare = [bare[0], token, -1 if left is None else left, 0]
            self.assertEqual([*map(about, one)], [*map(about, bare)], (what, state, number))


class Meanings(InEachState):
    def are_known(self, texts):
        replies = self.sent(self.one, [("SCRIPT", "LOAD", text) for text in texts])
        return [not isinstance(reply, RedisError) for reply in replies]

    def check_text(self, text):
        for_redis = re.sub(r"\bserver\b", "redis", text)
        self.check(lambda client, number: (
            "EVAL", for_redis if client is self.bare else text, 1, "k", "t", number), what=text)

    def test_what_is_written_in_other_ways(self):
        seed = random.randrange(1 << 32)
        note(f"seed {seed}")
        rng = random.Random(seed)
        texts = [Writer(rng).write(text) for text in TEXTS for _ in range(WRITTEN)]
        for text, known in zip(texts, self.are_known(texts)):
            self.assertTrue(known, text)
            self.check_text(text)

    def test_what_is_changed(self):
        seed = random.randrange(1 << 32)
        note(f"seed {seed}")
        rng = random.Random(seed)
        texts = [mutate(rng, Writer(rng).write(text)) for text in TEXTS for _ in range(CHANGED)]
        known = [text for text, is_known in zip(texts, self.are_known(texts)) if is_known]
        note(f"{len(known)} of {len(texts)} are known")
        self.assertGreater(len(known), 3 * len(TEXTS))
        for text in known:
            self.check_text(text)


def about(value):
    """Times are the same if no more than two seconds of them have passed."""
    if isinstance(value, list):
        return [*map(about, value)]
    if isinstance(value, RedisError):
        return "ERROR" if "ERROR" in str(value) else "an error"
    return ("about", (value + 2000) // 4000) if isinstance(value, int) and value > 900 else value


if __name__ == "__main__":
    unittest.main()
