"""Records: the values of JSON, settings, rows and Markdown tables, with their names.

A record is read from its text, whole or cut at either end: raw JSON, the rows `name: value; name: value` and the lines
`path.to[3].key: value` that asky's readers write, and tables with bars.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

_MIN_VALUES = 3  # a text with fewer is no record
_MAX_VALUES = 1_000  # of a passage; later ones are compared as words only
_MAX_NAME_CHARS = 120
_PROSE_WORDS = 12  # a longer value is a text of its own

_JSON_TOKEN = re.compile(r'"((?:[^"\\\n]|\\.){0,20000})"|(-?\d[\d.eE+-]*)|(true|false|null|None)\b|([{}\[\],:])')
_JSON_NAME = re.compile(r'"[^"\\\n]{1,120}"\s*:')
_JSON_MEMBER = re.compile(r'[{,\[]\s*"[^"\\\n]{1,120}"\s*:|[{\[]\s*[{\[]')
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
_PATH_LINE = re.compile(
    r"([A-Za-z_][\w$-]*(?:\[\d+\])*(?:\.[\w$-]+(?:\[\d+\])*)*|\[\d+\](?:\.[\w$-]+(?:\[\d+\])*)+):[ \t]+(\S.*)"
)
_PAIR = re.compile(r"([^:;|\n]{1,60}):[ \t]+([^;\n]+)")
_RULE = re.compile(r"\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-{2,}:?[ \t]*)*\|?[ \t]*")
INSIDE_NAME = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[_\-./]+")
CLOCK_RANGE = re.compile(r"(?<!\d)(\d{1,2}):(\d{1,2})\s?[-–]\s?(\d{1,2}):(\d{1,2})(?!\d)")
"""Matches a range of times on a 24-hour clock: `9:0-17:30`."""

_INDEX = re.compile(r"\[\d+\]")
_LINE = re.compile(r"\S[^\n]*")

_YES = frozenset({"true", "yes", "free"})
_NO = frozenset({"false", "no"})
_NULL = frozenset({"null", "none", "n/a"})


@dataclass(frozen=True, slots=True)
class Value:
    """A value of a record: the object or row it stands in (an ordinal), its name and those around it, and its text."""

    row: int
    name: str
    around: str
    text: str

    @property
    def truth(self) -> bool | None:
        """Return whether it says yes; `None` if it is neither yes nor no."""
        lower = self.text.lower()
        return True if lower in _YES else False if lower in _NO else None

    @property
    def is_null(self) -> bool:
        return self.text.lower() in _NULL


def read_values(text: str, columns: str | None = None) -> tuple[Value, ...]:
    """Return the values of a record in the order of `text`; empty for a text that is none; linear time.

    `columns` is the head of a table with bars that goes on at the start.
    """
    tables = _table_values(text, _cells(columns) if columns else [])
    for reader in (_json_values(text), tables, _row_values(text), _path_values(text)):
        found = tuple(islice(reader, _MAX_VALUES))
        if len(found) >= _MIN_VALUES:
            return found
    return ()


def describes(values: Sequence[Value], text: str) -> bool:
    """Return whether `values` make up most of `text` and one of them is itself a text."""
    chars = sum(len(value.name) + len(value.text) for value in values)
    return 2 * chars > len(text) and any(value.text.count(" ") >= _PROSE_WORDS for value in values)


def spelled(values: Sequence[Value]) -> str:
    """Return a record as readable lines, names split into their words, for comparison by words."""
    return "\n".join(
        f"{spelled_name(f'{value.around} {value.name}')}: {_spelled_clock(value.text)}" for value in values
    )


def rows_of(values: Sequence[Value]) -> list[str]:
    """Return each object or row of a record on one line, its values with their names, in the order of the record."""
    rows: dict[int, list[str]] = {}
    for value in values:
        row = rows.setdefault(value.row, [spelled_name(value.around)] if value.around else [])
        row.append(f"{spelled_name(value.name)}: {value.text}")
    return ["; ".join(row) for row in rows.values()]


@lru_cache(maxsize=4096)
def spelled_name(name: str) -> str:
    return INSIDE_NAME.sub(" ", name)


def _spelled_clock(text: str) -> str:
    """Return `text` with the hours after noon also as those of a twelve-hour clock."""
    return CLOCK_RANGE.sub(lambda m: f"{m.group()} ({_twelve(m[1])} {_twelve(m[3])})", text) if ":" in text else text


def _twelve(hour: str) -> int:
    return (int(hour) - 1) % 12 + 1


# readers


def _json_values(text: str) -> Iterator[Value]:
    """Yield the scalar members of objects, also of JSON that is cut at either end."""
    if len(_JSON_NAME.findall(text[:4000])) < _MIN_VALUES:
        return
    names: list[str] = []  # the name of each open object or list
    rows = [0]
    rows_seen = 0
    name, pending = "", None  # the name whose value comes next; a string that may be a name
    begin = _JSON_MEMBER.search(text)  # a cut text may begin within a string
    for match in _JSON_TOKEN.finditer(text, begin.start() if begin else 0):
        sign = match[4]
        if sign == ":":
            name, pending = pending or "", None
            continue
        if pending is not None:
            if name:
                yield Value(rows[-1], name, " ".join(names[-1:]), pending)
            name, pending = "", None
        if sign in ("{", "["):
            rows_seen += 1
            names.append(name or (names[-1] if names else ""))
            rows.append(rows_seen if sign == "{" else rows[-1])
            name = ""
        elif sign in ("}", "]"):
            if names:
                names.pop()
                rows.pop()
        elif match[1] is not None:
            pending = _unescaped(match[1])
        elif sign is None and name:
            yield Value(rows[-1], name, " ".join(names[-1:]), match[2] or match[3])
            name = ""
    if pending is not None and name:
        yield Value(rows[-1], name, " ".join(names[-1:]), pending)


def _unescaped(string: str) -> str:
    if "\\" not in string:
        return string
    return _ESCAPE.sub(
        lambda m: chr(int(m[1][1:], 16)) if len(m[1]) == 5 else {"n": "\n", "t": " "}.get(m[1], m[1]), string
    )


def _table_values(text: str, header: list[str]) -> Iterator[Value]:
    """Yield the cells of tables with bars below their names; a line without bars may head a group of rows."""
    if "|" not in text:
        return
    before = ""
    for row, line in enumerate(text.split("\n")[:_MAX_VALUES]):
        line = line.strip()
        if not line:
            header, before = [], ""
        elif "|" not in line:
            before = ""
        elif _RULE.fullmatch(line) and before:
            header = _cells(before)
        elif header:
            yield from _row(row, header, _cells(line))
        before = line


def _cells(line: str) -> list[str]:
    return [cell.strip(" *_`") for cell in line.strip("|").split("|")]


def _row(row: int, header: Sequence[str], cells: Sequence[str]) -> Iterator[Value]:
    for name, cell in zip(header, cells, strict=False):
        if cell:
            yield Value(row, name, "", cell)


def _path_values(text: str) -> Iterator[Value]:
    """Yield the values of lines `path.to[3].key: value`, if most lines have that form."""
    lines = [line for line in text.split("\n") if line.strip()][:_MAX_VALUES]
    found = [_PATH_LINE.fullmatch(line) for line in lines]
    if 2 * sum(match is not None for match in found) < len(lines):
        return
    rows: dict[str, int] = {}
    for match in found:
        if match is not None and len(match[1]) <= _MAX_NAME_CHARS:
            parent, _, name = match[1].rpartition(".")
            around = _INDEX.sub("", parent.rpartition(".")[2])
            yield Value(rows.setdefault(parent, len(rows)), _INDEX.sub("", name), around, match[2])


def row_lines(text: str) -> frozenset[int]:
    """Return where the lines begin, white space left out, that are records of their own and do not go on from another.

    These are the settings of a text that has hardly anything else, lines of several names with values, the line of
    names above these, and lines of cells between bars.
    """
    lines = [(each.start(), each[0].rstrip()) for each in _LINE.finditer(text)]
    if next(_path_values(text), None) is not None:
        return frozenset(start for start, _ in lines)
    rows = {number for number, (_, line) in enumerate(lines) if _is_row(line)}
    heads = {number - 1 for number in rows if number and lines[number - 1][1].count(";") > 1}
    barred = {number for number, (_, line) in enumerate(lines) if " | " in line}
    return frozenset(lines[number][0] for number in rows | heads | barred)


def _is_row(line: str) -> bool:
    return line.count(": ") > 1 and ";" in line


def _row_values(text: str) -> Iterator[Value]:
    """Yield the values of lines `name: value; name: value`, if there are several with the same names."""
    lines = [line for line in text.split("\n") if _is_row(line)][:_MAX_VALUES]
    pairs = [[(m[1].strip(), m[2].strip()) for m in _PAIR.finditer(line)] for line in lines]
    names = Counter(name for row in pairs for name, _ in row)
    for row, found in enumerate(pairs):
        if len(found) > 1 and sum(names[name] > 1 for name, _ in found) * 2 >= len(found):
            yield from (Value(row, name, "", value) for name, value in found)
