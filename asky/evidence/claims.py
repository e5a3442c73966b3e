"""Cuts a numbered answer into the statements that need a source.

A claim is a sentence or a table row. These are none unless they carry a citation: lines all in bold, questions, what
ends in a colon, and sentences that say what the sources do not hold. Never claims are headings, code, rules, table
heads, lines of links, and asky's own notes, which begin with `⚠` (`markers` keeps models from writing that sign).

A citation belongs to the sentence that it ends or follows: `X does Y [1].` and `X does Y. [1]` are the same. In a list
item the citations of a sentence also hold for the sentences before it that have none. An answer of one or two words
("Yes.") goes with the sentence after it.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from asky.evidence.scanner import AnswerScanner
from asky.text.sentences import sentence_spans
from asky.text.terms import words
from asky.values import Span, Verdict

WARNING_SIGN = "⚠"
"""Begins every note and mark that asky itself adds to an answer."""

MARKED: tuple[Verdict, ...] = ("uncited", "unsupported", "contradicted")
"""The verdicts that are shown in the answer itself."""

_LEAD_IN_WORDS = 2
_MARK = re.compile(rf" {WARNING_SIGN} (?:uncited|unsupported|contradicted)\b")
_MARKER = re.compile(r"\[(\d{1,3})\]")
_END_IN_MARKERS = re.compile(r"""[.!?]["'”’)*_]{0,4}[ \t]?(?:\[\d{1,3}\]){1,20}\s+(?=[^\W\d_]|["“*_])(?![a-z])""")
_BOLD_MARKERS = re.compile(r"(\*{1,3}|_{1,3})((?:\[\d{1,3}\]){1,20}\1)\s+")
_REFERENCE = re.compile(r"[ \t]?(\*{0,3})(?:\[\^?\d{1,3}(?:[ ]?[,;–-][ ]?\d{1,3})*\??\]|~~\[P[0-9a-f]+\]~~)\1")
_QUOTED_LINE = re.compile(r"\n[ \t]*(?:>[ \t]?)+")
_QUOTATION = re.compile(r"(?:>[ \t]?)+")
_ITEM = re.compile(r"(?:[-*+•]|\d{1,3}[.)])(?:[ \t]+|$)(?:\[[ xX]\][ \t]+)?")
_HEADING = re.compile(r"#{1,6}(?:\s|$)")
_UNDERLINED = re.compile(r"\n[ \t]*(?:=+|-+)[ \t]*$")
_ALL_BOLD = re.compile(r"\*\*[^*\n]+\*\*:?|__[^_\n]+__:?")
_TABLE_LINE = re.compile(r"^[ \t>]*\|[ \t]*(.*?)[ \t]*\|?[ \t]*$", re.MULTILINE)
_TABLE_RULE = re.compile(r"[ \t|:-]*-[ \t|:-]*")
_DEFINITION = re.compile(r"\[[^\]\n]{1,200}\]:[ \t]")
_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\n]*\)")
_ADDRESS = re.compile(r"<?(?:https?://|www\.)[^\s>]+>?", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,80}>")
_EMPHASIS = re.compile(r"[*`]+|(?<![^\W_])_+|_+(?![^\W_])|~~")
_CELL = re.compile(r"[ \t]*\|[ \t]*")
_CLOSING = " \t\n*_`\"'”’)]"

_MATERIAL = r"(?:sources?|passages?|documents?|evidence|context|texts?|excerpts?|material|results)"
_TELLS = (
    r"(?:say|tell|state|mention|contain|provide|specify|include|cover|address|discuss|answer|give|hold|report|describe|"
    r"explain|indicate|show)"
)
_ABSTAINS = re.compile(
    rf"\b{_MATERIAL}\b[^.;:]{{0,60}}\b(?:do|does|did)(?: not|n't)(?: \w+)? {_TELLS}\b"
    r"|\b(?:I|we)\b[^.;:]{0,20}\b(?:could|can|did)(?: ?not|n't) (?:find|answer|determine|tell|say|verify|confirm)\b"
    rf"|\bno (?:information|mention|answer|{_MATERIAL})\b[^.;:]{{0,60}} (?:in|from|among) (?:\w+ ){{0,3}}{_MATERIAL}\b"
    r"|\b(?:not enough|insufficient) (?:information|evidence)\b",
    re.IGNORECASE,
)
_TURNS = re.compile(r"\b(?:but|however|although|though|yet|nevertheless)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Draft:
    """A claim before it is checked: where it stands, what it says without markup, and the numbers it cites."""

    span: Span
    text: str
    citations: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Unit:
    """A sentence or table row. `begins_block` is false where it goes on from the unit before it."""

    span: Span
    text: str
    citations: tuple[int, ...]
    begins_block: bool
    in_item: bool


def mark(verdict: str) -> str:
    """What `mark_unsupported` puts after a claim with this verdict."""
    return f" {WARNING_SIGN} {verdict}"


def without_marks(answer: str) -> str:
    """`answer` as it was before it was marked."""
    return _MARK.sub("", answer)


def split_claims(answer: str) -> list[Draft]:
    """The claims of a numbered answer, in order; their spans do not overlap; linear time.

    `citations` has each number once, in order of appearance. Marks do not count: an answer has the same claims before
    and after it is marked, with spans in the text as given, and no claim ends in its mark.
    """
    marks = [match.span() for match in _MARK.finditer(answer)]
    text = without_marks(answer)
    units = [unit for unit in _with_lead_ins(text, _units(text)) if _is_claim(text, unit)]
    drafts = [Draft(unit.span, unit.text, unit.citations) for unit in _with_later_citations(units)]
    return list(_moved(drafts, marks)) if marks else drafts


def _moved(drafts: Iterable[Draft], marks: Sequence[tuple[int, int]]) -> Iterator[Draft]:
    """The claims of a text without marks, in the text that has them at `marks`."""
    places = []  # of each mark, in the text without marks
    shifts = [0]
    for start, end in marks:
        places.append(start - shifts[-1])
        shifts.append(shifts[-1] + end - start)
    for draft in drafts:
        start, end = draft.span.start, draft.span.end
        span = Span(start + shifts[bisect_right(places, start)], end + shifts[bisect_left(places, end)])
        yield replace(draft, span=span)


def plain_text(markdown: str) -> str:
    """`without_markup` in one line."""
    return " ".join(without_markup(markdown).split())


def without_markup(markdown: str) -> str:
    """`markdown` as a reader sees it: without emphasis, tags, link targets and bare addresses.

    References go too, those of the answer (`[1]`, `[7?]`) and those of a source's own (`[12]`, `[3, 4]`), so that a
    quotation is the same in both.
    """
    text = _QUOTED_LINE.sub("\n", _REFERENCE.sub("", markdown))
    return _EMPHASIS.sub("", _TAG.sub(" ", _ADDRESS.sub(" ", _LINK.sub(r" \1 ", text))))


def _is_claim(answer: str, unit: _Unit) -> bool:
    source = answer[unit.span.start : unit.span.end]
    if _HEADING.match(source) or _UNDERLINED.search(source) or _DEFINITION.match(source):
        return False
    if source.startswith(WARNING_SIGN) or not words(plain_text(_LINK.sub(" ", source))):
        return False
    return bool(unit.citations) or not _needs_no_source(source, unit.text)


def _needs_no_source(source: str, text: str) -> bool:
    if source.rstrip(_CLOSING).endswith((":", "?", "：", "？")) or _ALL_BOLD.fullmatch(source):
        return True
    return _ABSTAINS.search(text) is not None and _TURNS.search(text) is None


class _Layout:
    """Where the markers, the fenced code and the table rows of an answer are."""

    def __init__(self, answer: str) -> None:
        self._markers: list[tuple[int, int]] = []  # position, number
        self._skipped: list[tuple[int, int]] = []  # fences, then the lines of tables too
        scanner = AnswerScanner()
        position = 0
        for piece in scanner.feed(answer) + scanner.close():
            if piece.kind == "fence":
                self._skipped.append((position, position + len(piece.source)))
            elif piece.kind == "number" and (marker := _MARKER.fullmatch(piece.source)):
                self._markers.append((position, int(marker[1])))
            position += len(piece.source)
        lines = [line for line in _TABLE_LINE.finditer(answer) if not self.skips(line.start())]
        self._skipped = sorted([*self._skipped, *(line.span() for line in lines)])
        self.rows = [Span(*line.span(1)) for line in _table_body(lines)]

    def skips(self, position: int) -> bool:
        index = bisect_right(self._skipped, (position, math.inf)) - 1
        return index >= 0 and position < self._skipped[index][1]

    def citations(self, span: Span) -> tuple[int, ...]:
        first, last = (bisect_left(self._markers, (place, 0)) for place in (span.start, span.end))
        return tuple(dict.fromkeys(number for _, number in self._markers[first:last]))


def _table_body(lines: list[re.Match[str]]) -> Iterator[re.Match[str]]:
    """The rows of tables without their heads and rules."""
    for line, after in zip_longest(lines, lines[1:]):
        is_head = after is not None and after.start() == line.end() + 1 and _TABLE_RULE.fullmatch(after[1])
        if line[1] and not is_head and not _TABLE_RULE.fullmatch(line[1]):
            yield line


def _units(answer: str) -> list[_Unit]:
    """The sentences and table rows of the answer; a line of markers alone belongs to what stands before it."""
    layout = _Layout(answer)
    sentences = [(span, False) for span in _sentences(answer) if not layout.skips(span.start)]
    rows = [(span, True) for span in layout.rows]
    units: list[_Unit] = []
    end = 0
    for span, is_row in sorted([*sentences, *rows], key=lambda item: item[0].start):
        unit = _unit(answer, span, is_row, layout, answer[end : span.start], units[-1:])
        end = span.end
        if unit.text or not units or not unit.citations:
            units.append(unit)
        elif not units[-1].citations and not answer[units[-1].span.end : span.start].strip():
            units[-1] = replace(units[-1], span=Span(units[-1].span.start, span.end), citations=unit.citations)
    return units


def _sentences(answer: str) -> Iterator[Span]:
    """The sentences of the answer; markers between a stop and a capital end one whatever stands before the stop."""
    for span in sentence_spans(answer):
        start = span.start
        bold = _BOLD_MARKERS.match(answer, span.start, span.end)
        if bold is not None and "\n" not in answer[max(0, start - 1) : start]:  # they end the sentence before them
            yield Span(start, bold.end(2))
            start = bold.end()
        for match in _END_IN_MARKERS.finditer(answer, span.start, span.end):
            yield Span(start, start + len(answer[start : match.end()].rstrip()))
            start = match.end()
        yield Span(start, span.end)


def _unit(answer: str, span: Span, is_row: bool, layout: _Layout, gap: str, previous: list[_Unit]) -> _Unit:
    """The sentence or row at `span`, without the marks of quotations and list items before it."""
    quoted = _after(_QUOTATION, answer, span.start, span.end)
    start = quoted if is_row else _after(_ITEM, answer, quoted, span.end)
    begins_block = is_row or start > quoted or not previous or gap.count("\n") > 1
    in_item = start > quoted or (not begins_block and previous[0].in_item)
    source = answer[start : span.end]
    text = plain_text(_CELL.sub("; ", source) if is_row else source)
    return _Unit(Span(start, span.end), text, layout.citations(Span(start, span.end)), begins_block, in_item)


def _after(pattern: re.Pattern[str], text: str, start: int, end: int) -> int:
    match = pattern.match(text, start, end)
    return match.end() if match else start


def _with_lead_ins(answer: str, units: Iterable[_Unit]) -> Iterator[_Unit]:
    """The units, those of one or two words joined to the unit after them in their block."""
    held: _Unit | None = None
    for unit in units:
        if held is not None and unit.begins_block:
            yield held
        elif held is not None:
            span = Span(held.span.start, unit.span.end)
            unit = replace(held, span=span, text=f"{held.text} {unit.text}", citations=unit.citations)
        held = unit if _is_lead_in(answer, unit) else None
        if held is None:
            yield unit
    if held is not None:
        yield held


def _is_lead_in(answer: str, unit: _Unit) -> bool:
    if unit.citations or not 1 <= len(words(unit.text)) <= _LEAD_IN_WORDS:
        return False
    return _is_claim(answer, unit) or _ALL_BOLD.fullmatch(answer[unit.span.start : unit.span.end]) is not None


def _with_later_citations(units: list[_Unit]) -> list[_Unit]:
    """The units, those of a list item without citations with the citations of the next that has some."""
    later: _Unit | None = None
    result: list[_Unit] = []
    for unit in reversed(units):
        if unit.in_item and not unit.citations and later is not None and not later.begins_block:
            unit = replace(unit, citations=later.citations)
        result.append(unit)
        later = unit
    return result[::-1]
