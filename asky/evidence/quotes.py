"""Search for a quotation in the text that it is attributed to."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from asky.text.tables import bar_tables, cells_of
from asky.values import Span

_QUOTES = frozenset("'\"`´‘’‚‛“”„‟«»‹›′″")
_HYPHENS = frozenset("-‐‑\u00ad")
_DASHES = frozenset("‒–—―−")
_LINE_ENDS = frozenset("\n\r\u2028\u2029")
_IGNORED = frozenset("*\u200b\u200c\u200d\u2060\ufeff")  # emphasis and zero-width characters
_BOUNDARY = "\x00"
_OPENS = frozenset("([{")
_CLOSES = frozenset(".,;:!?)]}")  # a space before them is that of a link which was taken off: "the mill ."


class Quotable:
    """A text in which many quotations can be searched; `columns` is the head of a table that goes on at its start."""

    def __init__(self, text: str, *, ignore_case: bool = False, columns: str | None = None) -> None:
        self._text = text
        self._columns = cells_of(columns) if columns else ()
        self._ignore_case = ignore_case
        self._rows: list[tuple[str, Span]] | None = None
        self._normal, self._origins = _normalised(text, ignore_case)

    def find(self, quote: str) -> Span | None:
        """Search like `find_quote` in this text."""
        return self.find_prepared(prepare_quote(quote, ignore_case=self._ignore_case))

    def find_prepared(self, wanted: str) -> Span | None:
        """Search like `find` for the result of `prepare_quote`, with the same `ignore_case`."""
        return next(self.places(wanted), None)

    def places(self, wanted: str) -> Iterator[Span]:
        """Yield where the result of `prepare_quote` stands, in order."""
        start = self._normal.find(wanted) if wanted else -1
        if wanted and start < 0:
            yield from self._rows_with(wanted)
        while start >= 0:
            end = start + len(wanted)
            origins = [self._origins[i] for i in range(start, end) if self._normal[i] != _BOUNDARY]
            yield Span(origins[0], origins[-1] + 1)
            start = self._normal.find(wanted, end - 1)

    def _rows_with(self, wanted: str) -> Iterator[Span]:
        """Yield the rows of tables that have `wanted` in them when their columns are named: `Mill: Clare`."""
        if self._rows is None:
            rows = (row for table in bar_tables(self._text, names=self._columns) if table.names for row in table.rows)
            self._rows = [(prepare_quote(row.named, ignore_case=self._ignore_case), row.span) for row in rows]
        yield from (span for named, span in self._rows if wanted in named)


def quoted_spans(claims: Sequence[Mapping[str, Any]], n: int, length: int) -> list[Span]:
    """Return the characters of citation `n`'s passage that the claims of a stored answer quote, in order and merged.

    `length` is that of the passage; what lies outside is left out. Empty for answers that recorded no quotations.
    """
    found = (claim["checks"].get("quotation") for claim in claims)
    places = sorted((each["start"], each["end"]) for each in found if each and each["n"] == n)
    spans: list[Span] = []
    for start, end in places:
        if spans and start <= spans[-1].end:
            spans[-1] = Span(spans[-1].start, max(end, spans[-1].end))
        elif 0 <= start < end <= length:
            spans.append(Span(start, end))
    return [each for each in spans if each.end <= length]


def parts_of(text: str, spans: Sequence[Span]) -> Iterator[tuple[str, bool]]:
    """Yield `text` in parts, each with whether it lies in one of `spans`, which are in order and do not overlap."""
    position = 0
    for span in spans:
        if position < span.start:
            yield text[position : span.start], False
        yield text[span.start : span.end], True
        position = span.end
    if position < len(text):
        yield text[position:], False


def prepare_quote(quote: str, *, ignore_case: bool = False) -> str:
    """Return the normalised form of a quotation, for one that is searched in many texts."""
    wanted, _ = _normalised(quote.strip(), ignore_case)
    return wanted if wanted.strip(_BOUNDARY + " ") else ""


def find_quote(quote: str, text: str, *, ignore_case: bool = False) -> Span | None:
    """Return the span of the first occurrence of `quote` in `text`, word for word, or `None`; linear time.

    Both are normalised first: white space and dashes are one space, and all quotation marks are the same; a hyphen
    inside a word is ignored, and so are one at the end of a line with the line end, soft hyphens, zero-width characters
    and asterisks, and white space inside of brackets and before stops; next to a digit all dashes are the same;
    ligatures and accents are decomposed. The quotation begins and ends at word boundaries. An empty one is never found.
    A row of a table with bars may be quoted with the names of its columns, as `named_row` writes it.
    """
    return Quotable(text, ignore_case=ignore_case).find(quote)


def _normalised(text: str, ignore_case: bool) -> tuple[str, list[int]]:
    """Return the normalised text, and for each of its characters the index in `text` that it comes from.

    A boundary mark separates word characters from others, so that a plain search finds whole words only.
    """
    characters: list[str] = []
    origins: list[int] = []
    in_word = False
    index = 0
    for character, index in _characters(text):
        is_word = character.isalnum() or unicodedata.combining(character) != 0
        if is_word != in_word:
            characters.append(_BOUNDARY)
            origins.append(index)
            in_word = is_word
        characters.append(character.casefold() if ignore_case else character)
        origins.extend([index] * len(characters[-1]))
    if in_word:
        characters.append(_BOUNDARY)
        origins.append(index)
    return "".join(characters), origins


def _characters(text: str) -> Iterator[tuple[str, int]]:
    """Yield the significant characters with their index."""
    last = " "
    held = ""  # white space and dashes since `last`
    held_at = 0
    for index, source in enumerate(text):
        for character in source if source.isascii() else unicodedata.normalize("NFKD", source):
            if character in _IGNORED:
                continue
            if character.isspace() or character in _DASHES or character in _HYPHENS:
                held_at = held_at if held else index
                held += character
                continue
            if held and (separator := _separator(held, last, character)):
                yield separator, held_at
            held = ""
            last = "'" if character in _QUOTES else character
            yield last, index


def _separator(held: str, before: str, after: str) -> str:
    """Return the replacement for `held`, the white space and dashes between two characters."""
    visible = held.replace("\u00ad", "")
    if not visible or (visible.isspace() and (before in _OPENS or after in _CLOSES)):
        return ""
    digits = before.isdigit() + after.isdigit()
    if not visible.isspace() and (digits == 2 or (digits == 1 and not any(map(str.isspace, held)))):
        return "-"
    hyphenates = held[0] in _HYPHENS and before.isalpha() and after.isalpha()
    if hyphenates and (len(held) == 1 or (held[1:].isspace() and not _LINE_ENDS.isdisjoint(held))):
        return ""
    return " "
