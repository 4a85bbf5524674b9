"""The tables of the sources, read as text: rows of macros, and keys of settings."""

import os
import re
from pathlib import Path

TOP = Path(os.environ.get("LOCKBROKER_SRC",
                          Path(__file__).resolve().parents[2]))


def source(path):
    return (TOP / path).read_text(encoding="utf-8")


def rows(text, macro):
    """The arguments of each macro(...) in a table, cut at their commas."""
    found = []
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"#[ \t]*(define|undef|include)\b(.*\\\n)*.*", " ", text)
    for match in re.finditer(rf"\b{macro}\(", text):
        found.append(arguments(text, match.end()))
    return found


def arguments(text, at):
    """The text from `at` to the closing parenthesis."""
    out, word, depth, quoted = [], "", 0, False
    while True:
        c = text[at]
        if quoted and c == "\\":
            word += text[at:at + 2]
            at += 2
            continue
        if c == '"':
            quoted = not quoted
        elif not quoted and c == "(":
            depth += 1
        elif not quoted and c == ")":
            if depth == 0:
                out.append(word.strip())
                return out
            depth -= 1
        if c == "," and depth == 0 and not quoted:
            out.append(word.strip())
            word = ""
        else:
            word += c
        at += 1


def string(literal):
    """The value of one or more adjacent C string literals."""
    parts = re.findall(r'"((?:[^"\\]|\\.)*)"', literal)
    return re.sub(r"\\(.)", r"\1", "".join(parts))


class Keys:
    """The keys of mappings inside of settings, from the tables of src/config."""

    PATHS = ("endpoints", "auth", "script_texts", "types")

    def __init__(self):
        text = "\n".join(source(f"src/config/{name}.c") for name in self.PATHS)
        self.texts = dict(re.findall(r'#define (\w+)[ \\\n\t]+("[^"\n]*")\n', text))
        self.choices = dict(re.findall(r"(choices_\w+)\[\] = \{(.*?)NULL \}", text, flags=re.S))
        self.types = {(a or b): body for a, b, body in re.findall(
            r"(?<!define )\b(?:(?:TYPE|ROW)\((\w+),|config_type (\w+) = \{)([^;]*);", text)}
        macros = re.findall(r"#define (RIGHTS|USER_LIMIT)\((\w+)\)((?:.*\\\n)*.*)", text)
        for name, parameter, body in macros:
            text = re.sub(rf"(?<!define )\b{name}\((\w+)\)", lambda m, b=body, p=parameter: re.sub(
                rf"\b{p}\b", m.group(1), b.replace("#" + p, f'"{m.group(1)}"')), text)
        self.tables = {name: re.findall(r'\{[\s\\]*"(\w+)", &(\w+),(.*?)\}', body, flags=re.S)
                       for name, body in re.findall(
                           r"config_field (\w+)\[\] = \{(.*?)\};", text, flags=re.S)}
        places = re.search(r"enum config_place \{(.*?)CONFIG_PLACE_MAX", source(
            "src/config/config.h"), flags=re.S).group(1).count("CONFIG_PLACE_")
        self.listen = {key: "no default" for key, _, _ in self.tables["endpoint_keys"][:places]}
        self.listen |= dict.fromkeys(re.findall(
            r'config_node_child\(node, "(\w+)"\) != NULL', text), "required with Li tls")
        self.listen |= {name.lower(): f'default Li "{value}"' for name, value in re.findall(
            r"#define (\w+)_DEFAULT (\d+)", text)}
        self.most = re.search(r"#define LIMIT_MAX (\d+)", text).group(1)

    def type_of(self, name):
        return self.types.get(name.removesuffix("_type").removeprefix("config_type_"),
                              self.types.get(name))

    def of(self, name):
        """(key, what it takes, its default) of each key in a type, at any depth."""
        text = self.type_of(name)
        inner = re.search(r"(?:LIST_OF\(struct \w+, |WORDS_OF\()(\w+)\)", text)
        table = re.search(r"MAPPING_OF\(struct \w+, (\w+)\)", text)
        required = int((re.search(r"\.required = (\d+)", text) or (0, 0))[1])
        found = set().union(*[self.of(inner.group(1))] if inner else [])
        for at, (key, kind, rest) in enumerate(self.tables[table.group(1)] if table else ()):
            if "is_hidden" not in self.type_of(kind):
                value = "required" if at < required else self.default(kind, rest)
                if table.group(1) == "endpoint_keys":
                    value = self.listen.get(key, value)
                found |= self.of(kind) | {(key, self.taken(kind, rest), value)}
        return found

    def taken(self, kind, rest):
        text, chosen = self.type_of(kind), re.search(r"choices_\w+", rest)
        item = re.search(r"WORDS_OF\((\w+)\)|LIST_OF\(struct \w+, (\w+)\)", text)
        given = re.search(r"\.expected =\s*((?:EXPECTED_\w+|\"(?:[^\"\\]|\\.)*\"|\s)+)", text)
        given = string(re.sub(r"EXPECTED_\w+", lambda m: self.texts[m.group()],
                              given.group(1))) if given else "text"
        if ".min = 0, .max = LIMIT_MAX" in rest:
            return f"number, 0 to {self.most}"
        if item and "TEXT_OF" in self.type_of(item.group(1) or item.group(2)):
            return "list, each " + self.taken(item.group(1) or item.group(2), "")
        if chosen and given == "text":
            *most, last = re.findall(r'"(\w+)"', self.choices[chosen.group()])
            given = ", ".join(most) + " or " + last
        return re.sub(r"^(an?|the) (?=absolute|readable|mapping|list|sha1|name of)| \(.*\)$",
                      "", given)

    def default(self, kind, rest):
        """A key that is not given is zero: the first choice, no text, an empty list."""
        text, chosen = self.type_of(kind), re.search(r"choices_\w+", rest)
        if chosen:
            value = re.findall(r'"[\w.]+"', self.choices[chosen.group()])[0]
            value = value if "is_quoted" in text else string(value)
        elif "MAPPING_OF" in text:
            value = "absent"
        elif "LIST_OF" in text or "WORDS_OF" in text:
            value = "[]"
        elif "TEXT_OF" in text:
            value = '""'
        else:
            value = "false" if "FLAG" in kind else "0"
        return f"default Li {value}"
