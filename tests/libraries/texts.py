"""The Lua scripts in sources and classes of a release, put together as its program does it: literals
joined by `+`, and constants of the release that stand between them."""

import ast
import re
import struct

LUA = re.compile(r"redis\.p?call|server\.call")
# What a literal is in the languages that look like C, by what it begins with.
TOKENS = re.compile(r"""
    (?P<skip> //[^\n]* | /\*.*?\*/ | \s+ )
  | (?P<block> \"\"\"[ \t]*\n (?P<lines> (?: \\. | (?!\"\"\") . )* ) \"\"\" )
  | (?P<rust> \br(?P<hash>\#*)" (?P<raw> .*? ) "(?P=hash) )
  | (?P<string> "(?: \\. | [^"\\\n] )*" | '(?: \\. | [^'\\\n] )*' )
  | (?P<tick> `(?: \\. | [^`\\] )*` )
  | (?P<word> [A-Za-z_$][\w$]* (?: \.[A-Za-z_$][\w$]* )* )
  | (?P<other> . )""", re.X | re.S)
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "0": "\0", "\n": ""}
UNKNOWN = "\0"


def unescape(text):
    def one(found):
        code = found[1]
        if code[0] in "ux" and len(code) > 1:
            return chr(int(code[1:], 16))
        return ESCAPES.get(code, code)
    return re.sub(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", one, text, flags=re.S)


def strip_block(lines):
    """A text block of Java: without the indentation that all lines have."""
    rows = lines.split("\n")
    counted = [row for row in rows if row.strip()] + rows[-1:]
    indent = min(len(row) - len(row.lstrip()) for row in counted)
    return unescape("\n".join(row[indent:].rstrip() for row in rows))


def tokens(source, language):
    """(kind, text): what "text" is, a name, or another character."""
    for found in TOKENS.finditer(source):
        kind = found.lastgroup if found.lastgroup not in ("lines", "hash", "raw") else None
        if kind == "skip":
            continue
        if found["block"] is not None:
            yield "text", strip_block(found["lines"])
        elif found["rust"] is not None:
            yield "text", found["raw"]
        elif found["string"] is not None:
            yield "text", unescape(found["string"][1:-1])
        elif found["tick"] is not None:
            inside = found["tick"][1:-1]
            yield "text" if language == "go" else "template", inside
        else:
            yield ("name" if found["word"] else "other"), found[0]


def sums(source, language, constants):
    """Each chain `literal + name + ...`, and the name that it is given to; where a name is not in
    `constants`, UNKNOWN stands for it."""
    chain, owner, last = None, None, [None, None]

    def value(kind, text):
        if kind == "text":
            return text
        if kind == "template":
            return re.sub(r"(\\.)|\$\{\s*([\w$.]+)(?:\(\))?\s*\}",
                          lambda part: unescape(part[1]) if part[1]
                          else constants.get(part[2].split(".")[-1], UNKNOWN), text)
        return constants.get(text.split(".")[-1], UNKNOWN)

    for kind, text in [*tokens(source, language), ("other", ";")]:
        known = kind in ("text", "template") or (
            kind == "name" and text.split(".")[-1] in constants)
        if chain is None and known:
            chain, plus = [value(kind, text)], False
            owner = last[0] if last[1] == "=" else None
        elif chain is not None and plus and kind != "other":
            chain.append(value(kind, text))
            plus = False
        elif chain is not None and text == "+" and kind == "other":
            plus = True
        elif chain is not None and (last[1], text) == (".", "trim"):
            chain = ["".join(chain).strip()]
        elif chain is not None and text == ".":
            pass
        elif chain is not None:
            yield owner, "".join(chain)
            chain = None
        last = [last[1], text]


def python_texts(source):
    try:
        tree = ast.parse(source)
    except SyntaxError:  # of Python 2
        for text in re.findall(r'"""(.*?)"""|\'\'\'(.*?)\'\'\'', source, re.S):
            yield unescape("".join(text))
        return
    constants = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            text = python_value(node.value, constants)
            for target in node.targets:
                name = getattr(target, "id", getattr(target, "attr", None))
                if name and text is not None:
                    constants[name] = text
    for node in ast.walk(tree):
        if isinstance(node, (ast.Constant, ast.BinOp, ast.JoinedStr)):
            text = python_value(node, constants)
            if text is not None:
                yield text


def python_value(node, constants):
    if isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)):
        return node.value if isinstance(node.value, str) else node.value.decode()
    if isinstance(node, (ast.Name, ast.Attribute)):
        return constants.get(getattr(node, "id", getattr(node, "attr", None)))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        parts = [python_value(part, constants) for part in (node.left, node.right)]
        return None if None in parts else "".join(parts)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        form, what = (python_value(part, constants) for part in (node.left, node.right))
        return None if form is None else form.replace("%s", what or UNKNOWN).replace("%%", "%")
    if isinstance(node, ast.JoinedStr):
        return "".join(python_value(getattr(part, "value", None) if isinstance(
            part, ast.FormattedValue) else part, constants) or UNKNOWN for part in node.values)
    return None


def class_texts(data):
    """Of a class file of Java: javac has joined the literals."""
    at = 10
    (count,) = struct.unpack(">H", data[8:10])
    sizes = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2,
             17: 4, 18: 4, 19: 2, 20: 2}
    index = 1
    while index < count:
        kind = data[at]
        if kind == 1:
            (size,) = struct.unpack(">H", data[at + 1:at + 3])
            yield data[at + 3:at + 3 + size].decode("utf-8", "surrogatepass").replace(
                "\1", UNKNOWN)
            at += 3 + size
        else:
            at += 1 + sizes[kind]
        index += 2 if kind in (5, 6) else 1


def of_files(files):
    """The scripts in {path: bytes}: whole ones; and those of which a part is not known, with UNKNOWN
    in its place."""
    found, parts = set(), {}
    sources = {path: data.decode("utf-8", "replace").replace("\r\n", "\n")
               for path, data in files.items() if not path.endswith(".class")}
    languages = {path: path.rsplit(".", 1)[-1] for path in sources}
    for _ in range(3):  # a constant may be made of others
        for path, source in sources.items():
            if languages[path] not in ("py", "lua"):
                parts.update((name, text) for name, text in sums(source, languages[path], parts)
                             if name and UNKNOWN not in text)
    for path, source in sources.items():
        if languages[path] == "lua":
            found.add(source)
        elif languages[path] == "py":
            found.update(python_texts(source))
        else:
            found.update(text for _, text in sums(source, languages[path], parts))
    for path, data in files.items():
        if path.endswith(".class"):
            found.update(class_texts(data))
    return {text for text in found if LUA.search(text)}
