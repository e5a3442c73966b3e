"""Splits a numbered answer into the statements that need a source.

A claim is a sentence or a table row. Questions, and sentences that say what the sources lack, are claims only if they
carry a citation. Headings, lines in bold and lines that end in a colon are claims if they carry a citation or contain a
number. Code, rules, table heads, lines of links, and asky's own notes, which begin with `⚠` (`markers` keeps models
from writing that sign), are never claims.

A citation belongs to the sentence that it ends or follows: `X does Y [1].` and `X does Y. [1]` are the same. In a list
item the citations of a sentence also apply to the sentences before it that have none, the citations of the sentence
that introduces a list to its items (see `lists`), and the citations below a heading to the heading. An answer of one or
two words ("Yes.") is joined to the sentence after it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from asky.evidence.citations.layout import Layout
from asky.evidence.marks import WARNING_SIGN
from asky.evidence.plain_text import plain_text, without_links
from asky.evidence.verification.headings import (
    States,
    citations_below,
    heading_level,
    is_bold,
    is_proper,
    what_heading_states,
    without_number_signs,
    without_underline,
)
from asky.evidence.verification.lists import ListUnit, covering_citations
from asky.text.sentences import sentence_spans
from asky.text.terms import words
from asky.values import Span

_LEAD_IN_WORDS = 2
_LEAD_IN_CHARS = 100
_MAX_INDENT = 40  # columns; deeper items count as nested in the same one
_END_IN_MARKERS = re.compile(r"""[.!?]["'”’)*_]{0,4}[ \t]?(?:\[\d{1,3}\]){1,20}\s+(?=[^\W\d_]|["“*_])(?![a-z])""")
_BOLD_MARKERS = re.compile(r"(\*{1,3}|_{1,3})((?:\[\d{1,3}\]){1,20}\1)\s+")
_QUOTATION = re.compile(r"(?:>[ \t]?)+")
# "1.", "2)", "(3)", "1.2.", "a)", "(iv)", also in bold; a letter with a full stop may be an initial.
_ITEM = re.compile(
    r"(?:[-*+•◦▪‣·●○■□–—]|(?P<bold>\*\*)?(?:\(?\d{1,3}(?:\.\d{1,3}){0,4}(?:\\?[.)])|\(?[A-Za-z]\)|"
    r"\(?[ivx]{1,5}\)|[ivx]{2,5}\.)(?(bold)\*\*))(?:[ \t]+|$)(?:\[[ xX]\][ \t]+)?"
)
_DEFINITION = re.compile(r"\[[^\]\n]{1,200}\]:[ \t]")
_BETWEEN = " \t\n>"  # what may stand between a list and its introduction
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
class ClaimDraft:
    """A claim before verification: its span, its text without markup, and the numbers it cites.

    `states` is what a heading without its own citations states: for a `"fact"`, its citations are those below it, and
    only its numbers matter; a `"count"` is a claim only if the passages contradict it. `None` for other claims.
    """

    span: Span
    text: str
    citations: tuple[int, ...]
    states: States | None = None


@dataclass(frozen=True, slots=True)
class _Unit:
    """A sentence, heading or table row. `begins_block` is false if it continues the block of the previous unit.

    `source` is the text at `span`, `level` the result of `heading_level`. `indent` is the column of its list item,
    `None` outside a list; `begins_item` is true for the first sentence of one. A heading has in `below` the citations
    below it; `covered` are the citations that cover a list item.
    """

    span: Span
    source: str
    text: str
    citations: tuple[int, ...]
    begins_block: bool
    begins_item: bool
    indent: int | None
    level: int
    below: tuple[int, ...] = ()
    covered: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        return len(words(self.text))

    @property
    def states(self) -> States | None:
        return what_heading_states(self.text) if self.level else None


def split_claims(answer: str) -> list[ClaimDraft]:
    """Return the claims of a numbered answer, in order; their spans do not overlap; linear time.

    `citations` has each number once, in order of appearance.
    """
    units = list(_with_lead_ins(answer, _units(answer)))
    below = citations_below([unit.level for unit in units], [unit.citations for unit in units])
    covered = covering_citations(list(_list_units(answer, units)))
    units = [
        replace(unit, below=cited, covered=around) if cited or around else unit
        for unit, cited, around in zip(units, below, covered, strict=True)
        if _is_claim(unit)
    ]
    return [_draft(unit) for unit in _with_later_citations(units)]


def _draft(unit: _Unit) -> ClaimDraft:
    if unit.citations:
        return ClaimDraft(unit.span, unit.text, unit.citations)
    return ClaimDraft(unit.span, unit.text, unit.below or unit.covered, unit.states)


def _list_units(answer: str, units: Iterable[_Unit]) -> Iterator[ListUnit]:
    end = 0
    for unit in units:
        follows = not _ITEM.sub("", answer[end : unit.span.start]).strip(_BETWEEN)
        yield ListUnit(unit.indent, unit.begins_item, follows, unit.citations)
        end = unit.span.end


def _is_claim(unit: _Unit) -> bool:
    if unit.source.startswith(WARNING_SIGN) or _DEFINITION.match(unit.source):
        return False
    if not unit.size or ("](" in unit.source and not words(plain_text(without_links(unit.source)))):
        return False
    return (bool(unit.citations) and not _is_label(unit)) or not _needs_no_source(unit)


def _is_label(unit: _Unit) -> bool:
    """Return whether this is a heading of one or two words, whose citation applies to what follows."""
    return is_proper(unit.level) and unit.size <= _LEAD_IN_WORDS


def _needs_no_source(unit: _Unit) -> bool:
    if unit.source.rstrip(_CLOSING).endswith(("?", "？")):
        return True
    if unit.level and unit.states is None:
        return True
    return _ABSTAINS.search(unit.text) is not None and _TURNS.search(unit.text) is None


def _cells(row: str) -> str:
    return "; ".join(cell.strip() for cell in row.split("|"))


def _units(answer: str) -> list[_Unit]:
    """Return the sentences, headings and table rows; a line of markers alone belongs to the unit before it."""
    layout = Layout(answer)
    sentences = [(part, False) for span in _sentences(answer) for part in layout.outside(answer, span)]
    lines = [*((span, True) for span in layout.rows), *((span, False) for span in layout.headings)]
    units: list[_Unit] = []
    end = 0
    for span, is_row in sorted([*sentences, *lines], key=lambda item: item[0].start):
        unit = _unit(answer, span, is_row, layout, answer[end : span.start], units[-1:])
        end = span.end
        if unit.text or not units or not unit.citations:
            units.append(unit)
        elif not units[-1].citations and not answer[units[-1].span.end : span.start].strip():
            whole = Span(units[-1].span.start, span.end)
            units[-1] = replace(units[-1], span=whole, source=answer[whole.start : whole.end], citations=unit.citations)
    return units


def _sentences(answer: str) -> Iterator[Span]:
    """Yield the sentences of the answer; markers between a stop and a capital always end one."""
    for span in sentence_spans(answer):
        start = span.start
        bold = _BOLD_MARKERS.match(answer, span.start, span.end)
        if bold is not None and "\n" not in answer[max(0, start - 1) : start]:  # they belong to the previous sentence
            yield Span(start, bold.end(2))
            start = bold.end()
        for match in _END_IN_MARKERS.finditer(answer, span.start, span.end):
            yield Span(start, start + len(answer[start : match.end()].rstrip()))
            start = match.end()
        yield Span(start, span.end)


def _unit(answer: str, span: Span, is_row: bool, layout: Layout, gap: str, previous: list[_Unit]) -> _Unit:
    """Return the sentence or row at `span`, without the markers of quotations and list items before it."""
    quoted = _after(_QUOTATION, answer, span.start, span.end)
    start = quoted if is_row else _after(_ITEM, answer, quoted, span.end)
    begins_item = start > quoted
    begins_block = is_row or begins_item or not previous or gap.count("\n") > 1
    indent = _column(answer, quoted) if begins_item else None
    around = previous[0].indent if previous and not is_row else None
    if not begins_item and around is not None and (not begins_block or around < _column(answer, span.start)):
        indent = around
    source = answer[start : span.end]
    level = 0 if is_row else heading_level(source)
    if level:
        source = without_underline(source)
    visible = _cells(source) if is_row else without_number_signs(source) if level else source
    unit = Span(start, start + len(source))
    return _Unit(unit, source, plain_text(visible), layout.citations(unit), begins_block, begins_item, indent, level)


def _column(answer: str, position: int) -> int:
    """Return the characters before `position` in its line, at most `_MAX_INDENT`."""
    before = answer[max(0, position - _MAX_INDENT) : position]
    return len(before) - (before.rfind("\n") + 1)


def _after(pattern: re.Pattern[str], text: str, start: int, end: int) -> int:
    match = pattern.match(text, start, end)
    return match.end() if match else start


def _with_lead_ins(answer: str, units: Iterable[_Unit]) -> Iterator[_Unit]:
    """Yield the units, with those of one or two words joined to the next unit of their block."""
    held: _Unit | None = None
    for unit in units:
        if held is not None and unit.begins_block:
            yield held
        elif held is not None:
            unit = _joined(answer, held, unit)
        held = unit if _is_lead_in(unit) else None
        if held is None:
            yield unit
    if held is not None:
        yield held


def _joined(answer: str, unit: _Unit, following: _Unit) -> _Unit:
    span = Span(unit.span.start, following.span.end)
    source, text = answer[span.start : span.end], f"{unit.text} {following.text}"
    level, cited = heading_level(source), following.citations
    return replace(unit, span=span, source=source, text=text, citations=cited, level=level)


def _is_lead_in(unit: _Unit) -> bool:
    if (
        unit.citations
        or is_proper(unit.level)
        or not 1 <= unit.size <= _LEAD_IN_WORDS
        or len(unit.source) > _LEAD_IN_CHARS
    ):
        return False
    return is_bold(unit.level) or _is_claim(unit)


def _with_later_citations(units: list[_Unit]) -> list[_Unit]:
    """Yield the units; those of a list item without citations get those of the next unit that has some."""
    later: _Unit | None = None
    result: list[_Unit] = []
    for unit in reversed(units):
        is_open = unit.indent is not None and not unit.level and not unit.citations
        if is_open and later is not None and not later.begins_block:
            unit = replace(unit, citations=later.citations)
        result.append(unit)
        later = unit
    return result[::-1]
