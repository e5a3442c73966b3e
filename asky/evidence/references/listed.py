"""CitedReference lists: footnotes, link definitions, and the entries below a heading such as "References".

An entry has the label that the text cites it by (`1`, or `^note` for a footnote) or none. Without a heading, lines that
begin with `[1]` at the end of a text are a list too. Linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from asky.evidence.citations.pieces import SUPERSCRIPTS
from asky.values import Span

_NAMES = (
    r"references?|bibliography|works[ \t]+cited|literature(?:[ \t]+cited)?|reference[ \t]+list|cited[ \t]+works|"
    r"literatur(?:verzeichnis)?|bibliographie|références|referencias|bibliografía|参考文献|المراجع"
)
_LOOSE_NAMES = (
    r"sources?|citations|notes|footnotes|endnotes|links|quellen(?:verzeichnis)?|fußnoten|notas|fuentes|المصادر|来源"
)
_HEADING = re.compile(
    rf"^[ \t>]*(?:(?P<signs>\#{{1,6}})[ \t]+|(?:\*\*|__))?(?:\d{{1,2}}\.?[ \t]+)?"
    rf"(?:(?P<name>{_NAMES})|(?P<loose>{_LOOSE_NAMES}))[ \t]*:?(?:\*\*|__)?[ \t]*:?[ \t]*\#*[ \t]*"
    r"(?:\n[ \t]*(?:=+|-+)[ \t]*)?$",
    re.IGNORECASE | re.MULTILINE,
)
_ANY_HEADING = re.compile(r"^[ \t>]*(#{1,6})[ \t]+\S", re.MULTILINE)
_FOOTNOTE = re.compile(
    r"^[ \t>]*\[\^([^\]\[\s]{1,100})\]:[ \t]*((?:[^\n]*)(?:\n(?:[ \t]{2,}|\t)\S[^\n]*)*)", re.MULTILINE
)
_DEFINITION = re.compile(r"^[ \t>]{0,3}\[([^\[\]^\n][^\[\]\n]{0,199})\]:[ \t]+(\S[^\n]*)$", re.MULTILINE)
_NUMBERED = re.compile(r"^[ \t>]*(?:[-*+•][ \t]+)?\[(\d{1,3})\][ \t]+(\S[^\n]*)$", re.MULTILINE)
_ENTRY = re.compile(
    rf"^[ \t>]*(?:[-*+•][ \t]+)?(?:\\?\[\^?(?P<bracket>[^\[\]\s\\]{{1,40}})\\?\]:?|(?P<number>\d{{1,3}})[.):]"
    rf"|(?P<raised>[{SUPERSCRIPTS}]{{1,3}}))[ \t]*(?=\S)|^[ \t>]*[-*+•][ \t]+|^[ \t>]*(?=<?https?://)"
)
_DIGITS = str.maketrans(SUPERSCRIPTS, "0123456789")
_MAX_ENTRY_CHARS = 50_000
_ONE_ENTRY_CHARS = 600
_AUTHORS_CHARS = 300  # between the first author and the year
_TITLE_CHARS = 200  # after the year


@dataclass(frozen=True, slots=True)
class ReferenceList:
    """The entries of a text by label, those without a label in order, and the spans that hold them all, in order."""

    labelled: Mapping[str, str]
    others: tuple[str, ...]
    spans: tuple[Span, ...]

    def entry(self, label: str) -> str | None:
        """Return the entry that the text cites as `label`; a number may be the place in a list without labels."""
        found = self.labelled.get(label.casefold())
        if found is None and label.isdecimal() and not any(each.isdecimal() for each in self.labelled):
            found = self.others[int(label) - 1] if 0 < int(label) <= len(self.others) else None
        return found

    def by_author(self, author: str, year: str) -> str | None:
        """Return the first entry with this family name and then this year; `None` without one.

        Of a long paragraph, which may be several entries of a list that lost its lines, it is the part around them.
        """
        name = re.compile(rf"(?<!\w){re.escape(author)}(?!\w)", re.IGNORECASE)
        for entry in (*self.labelled.values(), *self.others):
            for found in name.finditer(entry):
                dated = entry.find(year, found.end(), found.end() + _AUTHORS_CHARS)
                if dated >= 0:
                    is_one = len(entry) <= _ONE_ENTRY_CHARS
                    return entry if is_one else entry[found.start() : dated + _TITLE_CHARS]
        return None

    def __bool__(self) -> bool:
        return bool(self.labelled or self.others)


def find_references(text: str, shown: str) -> ReferenceList:
    """Return the references that `text` lists; `shown` is the text with a space for each character of code."""
    labelled: dict[str, str] = {}
    others: list[str] = []
    spans: list[Span] = []
    for found in _FOOTNOTE.finditer(shown):
        labelled.setdefault(f"^{found[1].casefold()}", _flat(text[found.start(2) : found.end(2)]))
        spans.append(Span(*found.span()))
    for found in _DEFINITION.finditer(shown):
        labelled.setdefault(found[1].casefold(), _flat(text[found.start(2) : found.end(2)]))
        spans.append(Span(*found.span()))
    headed = list(_sections(shown))
    at_end = [each for each in _unheaded(shown) if not headed or headed[-1].end <= each.start]
    for section in (*headed, *at_end):
        spans.append(section)
        for label, entry in _entries(text[section.start : section.end]):
            if label is None:
                others.append(entry)
            else:
                labelled.setdefault(label.casefold(), entry)
    return ReferenceList(labelled, tuple(others), tuple(_merged(spans)))


def _sections(text: str) -> Iterator[Span]:
    """Yield the lists below headings, each with its heading."""
    end = 0
    for heading in _HEADING.finditer(text):
        if heading.start() < end:
            continue
        stop = _section_end(text, heading.end(), len(heading["signs"] or ""))
        if heading["loose"] is not None or not heading["signs"]:
            stop = _entries_end(text, heading.end(), stop)
        if text[heading.end() : stop].strip():
            end = stop
            yield Span(heading.start(), stop)


def _section_end(text: str, start: int, level: int) -> int:
    for heading in _ANY_HEADING.finditer(text, start):
        if not level or len(heading[1]) <= level:
            return heading.start()
    return len(text)


def _entries_end(text: str, start: int, stop: int) -> int:
    """Return where the lines end that look like entries; `start` if the first does not."""
    end, position, begins = start, start, True
    for line in text[start:stop].splitlines(keepends=True):
        blank = not line.strip()
        if not blank:
            if _ENTRY.match(line) is None and begins:
                break
            end = position + len(line)
        begins = blank or (begins and end == start)
        position += len(line)
    return end


def _unheaded(text: str) -> Iterator[Span]:
    """Yield the lines that begin with `[n]` at the end of the text, if each number is there once."""
    lines = list(_NUMBERED.finditer(text))
    first, seen, end = None, set[str](), len(text.rstrip())
    for line in reversed(lines):
        if text[line.end() : end].strip() or line[1] in seen:
            break
        seen.add(line[1])
        first, end = line.start(), line.start()
    if first is not None:
        yield Span(first, len(text.rstrip()))


def _entries(section: str) -> Iterator[tuple[str | None, str]]:
    """Yield the label and the text of each entry; a heading's line has neither."""
    label: str | None = None
    lines: list[str] = []
    fresh = True
    for line in section.split("\n"):
        begins = _ENTRY.match(line)
        if _HEADING.match(line) or not line.strip() or set(line.strip()) <= set("=-"):
            fresh = True
            continue
        if begins is not None or fresh:
            if lines:
                yield label, _flat(" ".join(lines))
            label, lines = (_label(begins), [line[begins.end() :]]) if begins is not None else (None, [line])
        else:
            lines.append(line)
        fresh = False
    if lines:
        yield label, _flat(" ".join(lines))


def _label(begins: re.Match[str]) -> str | None:
    raised = begins["raised"]
    return begins["bracket"] or begins["number"] or (raised.translate(_DIGITS) if raised else None)


def _flat(entry: str) -> str:
    return " ".join(entry.split())[:_MAX_ENTRY_CHARS]


def _merged(spans: list[Span]) -> Iterator[Span]:
    held: Span | None = None
    for span in sorted(spans, key=lambda each: (each.start, each.end)):
        if held is not None and span.start <= held.end:
            held = Span(held.start, max(held.end, span.end))
            continue
        if held is not None:
            yield held
        held = span
    if held is not None:
        yield held
