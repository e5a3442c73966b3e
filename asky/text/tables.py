"""Tables whose columns are parted by bars, as Markdown has them, and rows that carry the names of their columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from asky.text.plain import plain
from asky.values import Span

NAME_CHARS = 60
"""The most characters of a column's name in its rows: a long one would multiply the text."""

_PARTS_ROW = re.compile(r":(?=\s|$)")  # of a name: would begin its value
_LINE = re.compile(r"\S[^\n]*")
_MARKS = re.compile(r"(?:>[ \t]?)+(?=[^>])|(?:[-*+]|\d{1,3}[.)])[ \t]+(?=\|)")
_BLOCK = re.compile(r"[#>]|(?:[-*+]|\d{1,3}[.)])[ \t]|```|~~~|:::|<")
_MAX_GROUP_CHARS = 200
_MAX_LINES_ABOVE = 20  # of a paragraph directly above a table
_BAR = re.compile(r"(?<!\\)\|")
_ALONE = re.compile(r"\|.*\|")  # a row that needs no head to be one
_RULE = re.compile(r"[ \t]*\|?[ \t]*:?[-=]+:?[ \t]*(?:[|+][ \t]*:?[-=]+:?[ \t]*)*\|?[ \t]*")
_GRID = re.compile(r"[ \t]*\+(?:[-=:]+\+)+[ \t]*")


@dataclass(frozen=True, slots=True)
class NamedRow:
    """A row below the head of its table: its line, and its text with the names of its columns.

    Of a row whose table has no head in the text, `named` is "". `group` is the line above it that heads a group of
    rows, if there is one.
    """

    span: Span
    named: str
    group: str = ""


@dataclass(frozen=True, slots=True)
class BarTable:
    """A table: all its lines, the names of its columns, and its rows without its head and the lines that rule it."""

    lines: tuple[Span, ...]
    names: tuple[str, ...]
    rows: tuple[NamedRow, ...]


def column_letters(column: int) -> str:
    """Return the letters of a column as worksheets have them, from 0: A to Z, AA and so on."""
    letters = ""
    column += 1
    while column:
        column, digit = divmod(column - 1, 26)
        letters = chr(ord("A") + digit) + letters
    return letters


def column_names(labels: Sequence[str]) -> tuple[str, ...]:
    """Return a name for each column, from the labels above them: none is given twice, and none is empty but the first.

    A column without a label is `column C`, and one whose label others have too `Amount (column D)`. Labels are cut at
    `NAME_CHARS`, and lose what would part names from values: semicolons, and colons before a space or at the end.
    """
    plain_names = [_PARTS_ROW.sub("", label.replace(";", ",")).strip()[:NAME_CHARS].rstrip() for label in labels]
    counts = Counter(map(str.casefold, plain_names))
    return tuple(
        name if counts[name.casefold()] == 1 and name else _by_column(name, column)
        for column, name in enumerate(plain_names)
    )


def _by_column(name: str, column: int) -> str:
    if name:
        return f"{name[: NAME_CHARS - 13].rstrip()} (column {column_letters(column)})"
    return f"column {column_letters(column)}" if column else ""


def joined_name(names: Sequence[str]) -> str:
    """Return one name for a cell over several columns: `Mon, Tue`, of many `Mon to Sun`.

    Of columns in one group, its name comes once, `Westbound, Adult, Child`; of several groups only their names.
    """
    parted = [name.split(", ") for name in names if name]
    groups = list(dict.fromkeys(parts[0] for parts in parted))
    parts = groups if len(groups) > 1 else list(dict.fromkeys(part for parts in parted for part in parts))
    joined = ", ".join(parts)
    half = NAME_CHARS // 2 - 2
    return joined if len(joined) <= NAME_CHARS else f"{parts[0][:half]} to {parts[-1][:half]}"


def named_row(names: Sequence[str], values: Sequence[str]) -> str:
    """Return a row as `name: value; name: value`, without its empty cells.

    A column may have no name. One beyond the names is called by its letters; without any names, values stand alone.
    """
    if len(values) > len(names) and names:
        names = [*names, *(f"column {column_letters(column)}" for column in range(len(names), len(values)))]
    every = names or [""] * len(values)
    return "; ".join(f"{name}: {value}" if name else value for name, value in zip(every, values, strict=False) if value)


def bar_tables(text: str, begin: int = 0, end: int | None = None, *, names: Sequence[str] = ()) -> Iterator[BarTable]:
    """Yield the tables between two offsets in order; the rows of one without a head have outer bars; linear time.

    The head is the line above the first rule (`|---|---|`, or `+===+===+` in a grid); `names` are those of a head that
    stands before `begin`, of a table whose rows go on there. Tables may stand in a quotation or an item of a list. A
    line without bars between two rows below a head is the heading of a group.
    """
    end = len(text) if end is None else end
    if "|" not in text[begin:end]:
        return
    lines = [_line(match) for match in _LINE.finditer(text, begin, end)]
    run: list[Span] = []
    headed = False
    for number, line in enumerate(lines):
        follows = bool(run) and text.count("\n", run[-1].end, line.start) == 1
        written = text[line.start : line.end]
        is_row = _is_line(written)
        is_group = follows and headed and not is_row and _is_group(text, lines, number)
        if run and not (follows and (is_row or is_group)):
            yield from _table(text, run, names if run[0] == lines[0] else ())
            run = []
        if is_row or is_group:
            headed = (bool(run) and (headed or _is_rule(written))) or (number == 0 and bool(names))
            run.append(line)
    if run:
        yield from _table(text, run, names if run[0] == lines[0] else ())


def head_above(text: str, position: int) -> str | None:
    """Return the head, cells parted by bars, of the table of which a row begins at `position`; `None` if there is none.

    Nothing but rows stands between them, and the ends of pages, after which the row has as many cells as the head. That
    is not looked for where a row is cut.
    """
    line = text[position : _end_of_line(text, position)]
    indent = text[text.rfind("\n", 0, position) + 1 : position]
    if not _is_line(line) or indent.strip(" \t>\f"):
        return None
    begin = text.rfind("\n\n", 0, position) + 1
    above = [line.lstrip(" \t>") for line in text[begin:position].strip("\n").split("\n", _MAX_LINES_ABOVE)]
    rules = (number for number in range(1, len(above)) if _is_rule(above[number]) and _is_line(above[number - 1]))
    rule = len(above) if _is_rule(line) else next(rules, 0)
    head = above[rule - 1] if rule else ""
    if not _is_line(head) or ("\f" in indent and len(cells_of(head)) != len(cells_of(line))):
        return None
    return " | ".join(cell.replace("|", "\\|") for cell in cells_of(head))


def _end_of_line(text: str, position: int) -> int:
    end = text.find("\n", position)
    return len(text) if end < 0 else end


def _line(match: re.Match[str]) -> Span:
    """Return a line without the marks of a quotation or of an item before its first bar."""
    mark = _MARKS.match(match[0])
    return Span(match.start() + (mark.end() if mark else 0), match.start() + len(match[0].rstrip()))


def _is_line(line: str) -> bool:
    return _BAR.search(line) is not None or _GRID.fullmatch(line) is not None


def _is_group(text: str, lines: Sequence[Span], number: int) -> bool:
    """Return whether a line stands directly above a row, is short, and begins no other block."""
    line = lines[number]
    below = lines[number + 1] if number + 1 < len(lines) else line
    return (
        len(line) <= _MAX_GROUP_CHARS
        and text.count("\n", line.end, below.start) == 1
        and _BLOCK.match(text, line.start) is None
        and _is_line(text[below.start : below.end])
    )


def _table(text: str, lines: Sequence[Span], known: Sequence[str]) -> Iterator[BarTable]:
    written = [text[line.start : line.end] for line in lines]
    rules = list(map(_is_rule, written))
    heads = (n for n in range(1, len(lines)) if rules[n] and not rules[n - 1] and _ends_head(written[n]))
    head = next(heads, None)
    is_barred = all(rule or _ALONE.fullmatch(line) for rule, line in zip(rules, written, strict=True))
    if head is None and not is_barred and not known:
        return
    names = column_names(cells_of(written[head - 1])) if head is not None else tuple(known)
    rows: list[NamedRow] = []
    group = ""
    for number in range(0 if head is None else head + 1, len(lines)):
        if rules[number]:
            continue
        if not _is_line(written[number]):
            group = " ".join(plain(written[number]).split())
        else:
            rows.append(NamedRow(lines[number], named_row(names, cells_of(written[number])) if names else "", group))
    if head is not None or rows:
        yield BarTable(tuple(lines), names, tuple(rows))


def _is_rule(line: str) -> bool:
    return _RULE.fullmatch(line) is not None or _GRID.fullmatch(line) is not None


def _ends_head(rule: str) -> bool:
    return not rule.startswith("+") or "=" in rule


def cells_of(row: str) -> list[str]:
    """Return the cells of a row as a reader sees them."""
    inner = row.strip()
    inner = inner[1:] if inner.startswith("|") else inner
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    return [" ".join(plain(cell.replace("\\|", "|")).split()) for cell in _BAR.split(inner)]
