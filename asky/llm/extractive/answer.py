"""The text of an extractive answer: quoted units with their keys, or an abstention."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from itertools import pairwise

from asky.llm.extractive.units import RECORDS, PassageText, Unit, UnitKind
from asky.llm.port import ABSTENTION
from asky.text.indices import indices_in_code, shown_text
from asky.text.plain import plain
from asky.text.sentences import sentence_spans
from asky.text.terms import words

_MAX_FAILURE_CHARS = 200
_INDENT = 4
_RECORD_LINES: frozenset[UnitKind] = frozenset({"row", "table", "field"})
_MAX_SPAN_CHARS = 900  # of a code span; the checks of an answer take a longer one for text
_INDEX = re.compile(r"\[\d{1,3}\]")
_FENCE = re.compile(r"(?:^|(?<=\n))[ \t]*(?:```|~~~)[^\n]*")
_BULLET = re.compile(r"^[-*+•]\s+")


def quote_units(units: Sequence[Unit], passages: Sequence[PassageText]) -> Iterator[str]:
    """Yield the answer in pieces that join to Markdown: each unit with its key, a paragraph for each source.

    `units` are best first; sources come in the order of their best unit, and so do the passages of a source, whose
    units are in text order. Sentences make up a paragraph, fragments and records a list; lists, tables and code keep
    their lines.
    """
    previous: Unit | None = None
    for unit in _in_reading_order(units, passages):
        yield _separator(previous, unit, passages) + _quoted(unit, passages[unit.passage])
        previous = unit


def abstain(
    closest: Sequence[Unit], passages: Sequence[PassageText], failure: str | None, doubt: str | None = None
) -> Iterator[str]:
    """Yield an abstention in pieces: that there is no answer, then the closest units, or why there are none.

    `failure` says why the search did not work, `None` if it did; `doubt` why what was found is no answer.
    """
    yield ABSTENTION
    if doubt is not None:
        yield f" {doubt}"
    if closest:
        yield "\n\nThe closest passages say:\n"
        for unit in closest:
            yield f"\n- {_on_one_line(unit)} [{passages[unit.passage].key}]"
    elif failure is not None:
        yield f"\n\nThe search did not work: {' '.join(failure.split())[:_MAX_FAILURE_CHARS]}"
    elif not passages:
        yield "\n\nNo passage was found."
    elif doubt is None:
        yield "\n\nNo passage that was found comes close."


def _quoted(unit: Unit, passage: PassageText) -> str:
    """Return a unit as Markdown; each line of a list and each sentence has its key: without, it would be unsourced."""
    key, lines = passage.key, unit.quote.split("\n")
    if unit.kind == "property":  # it says nothing without the note that it is a property of
        return f"- {passage.title.removesuffix('.md')}: {_cited(shown_text(' '.join(lines)), key)}"
    if unit.kind == "code":
        body = _aligned(unit.quote.strip("\n"))
        if "\n" not in body and "`" not in body:
            return f"- `{body.strip()}` [{key}]"
        fence = "````" if "```" in body else "```"
        return f"{fence}\n{body}\n{fence}\n\n[{key}]"
    if unit.kind == "remark":
        return f"- {indices_in_code(unit.quote)} [{key}]"
    if unit.kind in ("entry", "task"):
        return f"- {_cited(' '.join(lines), key)}"
    if unit.kind in RECORDS:
        return "\n".join(f"- {_record(line)} [{key}]" for line in lines)
    if unit.kind == "list":
        return "\n".join(_lines_with_key(lines, key))
    return _cited(unit.quote, key) if unit.complete else f"- {_cited(unit.quote.removeprefix('- '), key)}"


def _cited(text: str, key: str) -> str:
    """Return a text with the key after each of its sentences; a row of a table is one."""
    ends = [span.end for span in sentence_spans(text) if words(text[span.start : span.end])]
    pieces = [text[start:end] for start, end in pairwise([0, *ends])]
    if not pieces or sum("|" in piece for piece in pieces) > 1:
        return f"{indices_in_code(text)} [{key}]"
    return f" [{key}]".join(map(indices_in_code, [*pieces, text[ends[-1] :]]))


def _is_block(unit: Unit) -> bool:
    return unit.kind == "code" and ("\n" in unit.quote.strip("\n") or "`" in unit.quote)


def _on_one_line(unit: Unit) -> str:
    if unit.kind in _RECORD_LINES:
        return " ".join(map(_record, unit.quote.split("\n")))
    line = _BULLET.sub("", " ".join(_FENCE.sub("", unit.quote).split()))
    is_span = unit.kind == "code" and "`" not in line and len(line) <= _MAX_SPAN_CHARS
    return f"`{line}`" if is_span else indices_in_code(line)


def _record(line: str) -> str:
    """Return a row or a setting as Markdown; the `[1]` of a path would read as a citation, unless it is in code."""
    line = line.strip().strip("|").strip()
    if not _INDEX.search(line):
        return plain(line)
    return f"`{line}`" if "`" not in line and len(line) <= _MAX_SPAN_CHARS else indices_in_code(plain(line))


def _aligned(code: str) -> str:
    """Return code whose first line lost its indent, as passages begin with a letter, with that taken off the others."""
    first, *rest = code.split("\n")
    indents = [len(line) - len(line.lstrip()) for line in rest if line.strip()]
    if not indents or first[:1].isspace():
        return textwrap.dedent(code)
    closing = [len(line) - len(line.lstrip()) for line in rest if line.lstrip()[:1] in (")", "]", "}")]
    is_open = any(first.count(one) > first.count(other) for one, other in ("()", "[]", "{}"))
    inside = is_open or first.rstrip().endswith(":")
    lost = closing[0] if is_open and closing else min(indents) - _INDENT * inside
    lost = min(lost, *indents)
    return "\n".join([first, *(line[lost:] for line in rest)]) if lost > 0 else code


def _lines_with_key(lines: Sequence[str], key: str) -> Iterator[str]:
    """Yield the lines of a list, each with the key; of a block of code in it, only the line behind it has one."""
    opened = ""
    for line in lines:
        fence = line.lstrip()[:3]
        if fence in ("```", "~~~"):
            opened = "" if opened else fence
            yield line if opened else f"{line}\n\n[{key}]"
        else:
            yield line if opened or not line.strip() else _cited(line, key)
    if opened:  # the list ends inside the block
        yield f"{opened}\n\n[{key}]"


def _in_reading_order(units: Sequence[Unit], passages: Sequence[PassageText]) -> list[Unit]:
    titles = list(dict.fromkeys(passages[unit.passage].title for unit in units))
    ranks = list(dict.fromkeys(unit.passage for unit in units))
    return sorted(units, key=lambda u: (titles.index(passages[u.passage].title), ranks.index(u.passage), u.position))


def _separator(previous: Unit | None, unit: Unit, passages: Sequence[PassageText]) -> str:
    """Return the separator before `unit`: a space in a paragraph, a line break in a list, else a blank line."""
    if previous is None:
        return ""
    same_source = passages[previous.passage].title == passages[unit.passage].title
    if same_source and previous.complete and unit.complete:
        return " "
    in_list = not any(each.complete or each.kind == "list" or _is_block(each) for each in (previous, unit))
    return "\n" if same_source and in_list else "\n\n"
