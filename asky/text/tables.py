"""Tables whose columns are parted by bars, as Markdown has them, and rows that carry the names of their columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from asky.text.plain import plain
from asky.values import Span

NAME_CHARS = 60
"""The most characters of a column's name in its rows: a long one would multiply the text."""

_LINE = re.compile(r"\S[^\n]*")
_BAR = re.compile(r"(?<!\\)\|")
_ALONE = re.compile(r"\|.*\|")  # a row that needs no head to be one
_RULE = re.compile(r"[ \t]*\|?[ \t]*:?[-=]+:?[ \t]*(?:[|+][ \t]*:?[-=]+:?[ \t]*)*\|?[ \t]*")
_GRID = re.compile(r"[ \t]*\+(?:[-=:]+\+)+[ \t]*")


@dataclass(frozen=True, slots=True)
class NamedRow:
    """A row below the head of its table: its line, and its text with the names of its columns.

    Of a row whose table has no head in the text, `named` is "".
    """

    span: Span
    named: str


@dataclass(frozen=True, slots=True)
class BarTable:
    """A table: all its lines, the names of its columns, and its rows without its head and the lines that rule it."""

    lines: tuple[Span, ...]
    names: tuple[str, ...]
    rows: tuple[NamedRow, ...]


def named_row(names: Sequence[str], values: Sequence[str]) -> str:
    """Return a row as `name: value; name: value`, without its empty cells; a column may have no name."""
    every = [*names, *[""] * (len(values) - len(names))]
    return "; ".join(f"{name}: {value}" if name else value for name, value in zip(every, values, strict=False) if value)


def bar_tables(text: str, begin: int = 0, end: int | None = None) -> Iterator[BarTable]:
    """Yield the tables between two offsets in order; the rows of one without a head have outer bars; linear time.

    The head is the line above the first rule (`|---|---|`, or `+===+===+` in a grid).
    """
    end = len(text) if end is None else end
    if "|" not in text[begin:end]:
        return
    run: list[Span] = []
    for match in [*_LINE.finditer(text, begin, end), None]:
        follows = match is not None and bool(run) and text.count("\n", run[-1].end, match.start()) == 1
        if run and not (follows and match is not None and _is_line(match[0])):
            yield from _table(text, run)
            run = []
        if match is not None and _is_line(match[0]):
            run.append(Span(match.start(), match.start() + len(match[0].rstrip())))


def _is_line(line: str) -> bool:
    return _BAR.search(line) is not None or _GRID.fullmatch(line) is not None


def _table(text: str, lines: Sequence[Span]) -> Iterator[BarTable]:
    written = [text[line.start : line.end] for line in lines]
    rules = [_RULE.fullmatch(line) is not None or _GRID.fullmatch(line) is not None for line in written]
    heads = (n for n in range(1, len(lines)) if rules[n] and not rules[n - 1] and _ends_head(written[n]))
    head = next(heads, None)
    if head is None and not all(rule or _ALONE.fullmatch(line) for rule, line in zip(rules, written, strict=True)):
        return
    names = tuple(name[:NAME_CHARS] for name in cells_of(written[head - 1])) if head is not None else ()
    first = 0 if head is None else head + 1
    rows = tuple(
        NamedRow(line, named_row(names, cells_of(written[n])) if names else "")
        for n, line in enumerate(lines)
        if n >= first and not rules[n]
    )
    if head is not None or rows:
        yield BarTable(tuple(lines), names, rows)


def _ends_head(rule: str) -> bool:
    return not rule.startswith("+") or "=" in rule


def cells_of(row: str) -> list[str]:
    """Return the cells of a row as a reader sees them."""
    inner = row.strip()
    inner = inner[1:] if inner.startswith("|") else inner
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    return [" ".join(plain(cell.replace("\\|", "|")).split()) for cell in _BAR.split(inner)]
