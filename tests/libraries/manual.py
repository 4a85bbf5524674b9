#!/usr/bin/python3
"""What lockbroker-resp(7) and README tell of the libraries that ran, from what the runner has noted
in `ran`. Without arguments it writes that into both; `unit/test_manual.py` checks it."""

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True

from table import ROWS, name_of  # noqa: E402 (it is in that directory)

PAGE, README = (os.path.join(TOP, path) for path in ("man/lockbroker-resp.7", "README.md"))
LANGUAGES = {"python": "Python", "node": "Node.js", "java": "Java", "go": "Go", "rust": "Rust",
             "php": "PHP", "ruby": "Ruby"}
BEGIN, END = '.\\" Made by tests/libraries/manual.py:\n', '.\\" So far.\n'
NUMBERS = re.compile(r"\d+ lock libraries in \d+ languages")


def read():
    with open(os.path.join(HERE, "ran"), encoding="utf-8") as file:
        return dict(line.rstrip("\n").split("\t") for line in file)


def libraries(language, ran):
    """(library, [version]) in the order of the table; * marks what faults have struck."""
    found = {}
    for row in ROWS:
        if row.language == language and row.hunted and name_of(row) in ran:
            marks = found.setdefault(row.library, {}).setdefault(row.version, [])
            marks.append(ran[name_of(row)] == "faults")
    return [(library, [version + "*" * all(marks) for version, marks in versions.items()])
            for library, versions in found.items()]


def block(ran):
    """A table: the language once, its libraries, and their versions."""
    rows = [(name * (at == 0), library, ", ".join(versions))
            for language, name in LANGUAGES.items()
            for at, (library, versions) in enumerate(libraries(language, ran))]
    widths = " ".join(f'"{max((row[at] for row in rows), key=len)}"' for at in (0, 1))
    return "\n".join([f'.Bl -column {widths} "versions"',
                      ".It Em language Ta Em library Ta Em versions",
                      *(f".It {name or chr(92) + '&'} Ta {library} Ta {versions}"
                        for name, library, versions in rows), ".El"]) + "\n"


def numbers(ran):
    rows = [{library.split()[0] for library, _ in libraries(language, ran)}
            for language in LANGUAGES]
    return f"{sum(map(len, rows))} lock libraries in {sum(map(bool, rows))} languages"


def main():
    ran = read()
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    begin, end = page.index(BEGIN) + len(BEGIN), page.index(END)
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(page[:begin] + block(ran) + page[end:])
    with open(README, encoding="utf-8") as file:
        text = NUMBERS.sub(numbers(ran), file.read())
    with open(README, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()
