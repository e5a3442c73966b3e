"""Splits a document into chunks: spans of its stored text that fit an embedding model's window.

Sentences are packed greedily. The text is tokenised once, a segment of sentences at a time, and token counts of spans
are sums over that. Only spans near the limit are counted twice, because a tokenizer may treat a word at the start of a
text differently from the same word inside one.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from asky.errors import ConfigError
from asky.text.beside.remarks import REMARK
from asky.text.cuts import between_characters, cut_between
from asky.text.sentences import iter_sentences
from asky.values import Chunk, Document, Span

_SEGMENT_CHARS = 8192  # tokenised together: a longer segment costs more per token, and memory
_MARGIN = 8  # tokens below the limit from which a span is counted separately
_CHARS_PER_TOKEN = 16  # cap for text that a tokenizer maps to few tokens, such as a run of unknown characters
_HEADING_FILL = 0.5  # a chunk that is this full ends before a heading
_SPACE = re.compile(r"\s*")
_LINE_END = re.compile(r"[\n\r\u2028\u2029]|$")
_MARKED_HEADING = re.compile(r"#{1,6}[ \t]")
# A remark, or the row of a table, "Room: B2; Diet: soft" or "| B2 | soft |": half of a row may say something else.
_WHOLE_LINE = re.compile(
    rf"{REMARK.pattern}|^(?:\|[^\n]*\||[^\n:;|]{{1,60}}: [^\n]*; [^\n:;]{{1,60}}: [^\n]*)$", re.MULTILINE
)


class Tokenizer(Protocol):
    """Splits text into an embedding model's tokens. Special tokens are never counted."""

    def offsets(self, text: str) -> Sequence[tuple[int, int]]:
        """Return the tokens of `text` as half-open character ranges, in order; characters may be in none or several."""
        ...

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text when tokenised separately."""
        ...


@dataclass(frozen=True, slots=True)
class ChunkSettings:
    """The size of a chunk and of its overlap with the previous one, in tokens of the embedder's tokenizer.

    `max_tokens` must not exceed the embedder's own `max_tokens`, less the context added when a chunk is embedded, or
    the end of a chunk is ignored. Raises `ConfigError` unless it is at least 16 and `overlap_tokens` at most half of
    it.

    Source: on 276 questions with marked answers over 3 texts (0.2 MB), dense search with all-MiniLM-L6-v2, the share of
    the answers' characters in the best 1,000 tokens: 200/0 .86, 200/32 .83, 200/64 .87, 254/0 .81, 254/32 .86, 254/64
    .86, 100/0 .90; in the best 10 chunks: .95, .94, .93, .95, .97, .94, .89. One standard error is .02.
    """

    max_tokens: int = 200
    overlap_tokens: int = 30

    def __post_init__(self) -> None:
        if self.max_tokens < 16:
            raise ConfigError(f"a chunk of {self.max_tokens} tokens is too small", hint="use 16 tokens or more")
        if not 0 <= self.overlap_tokens <= self.max_tokens // 2:
            raise ConfigError(
                f"an overlap of {self.overlap_tokens} tokens is too large for chunks of {self.max_tokens}",
                hint="use at most half of the chunk",
            )


_Sentence = tuple[int, int, bool]  # start, end, whether it is a heading


class _Unit(NamedTuple):
    """A sentence, or a part of one that is longer than a chunk.

    `before` and `after` count the document's tokens up to the unit and up to the next one; `cuts` counts the units so
    far, this one included, that begin or end inside a word, where counts of parts don't add up to that of the whole.
    """

    start: int
    end: int
    heading: bool
    before: int
    after: int
    cut: bool
    cuts: int


def chunk_document(document: Document, tokenizer: Tokenizer, settings: ChunkSettings) -> list[Chunk]:
    """Return the chunks of `document`, in order of start and of end; none for white space alone.

    Only white space lies between chunks, before the first and after the last. A chunk holds whole sentences, remarks
    and rows of tables, begins and ends with a character that is not white space, and has at most `settings.max_tokens`
    tokens when tokenised separately. It repeats the last sentences of the previous chunk, up to
    `settings.overlap_tokens`, unless it begins with a heading; a heading is in the chunk of the text that follows it,
    and ends the previous chunk if that is half full. No chunk crosses a page boundary, so that each is cited with one
    page, or the end of a section of level 0: data about the document and its prose are not mixed. A sentence longer
    than a chunk is cut at a line break, else between words, else between characters. The result is deterministic for
    the same document, tokenizer and settings.
    """
    counter = _Counter(document.text, tokenizer, settings.max_tokens, sorted(_limits(document)))
    packed = _pack(_units(document, counter), counter, settings.overlap_tokens)
    return [
        Chunk(ordinal, Span(units[0].start, units[-1].end), counter.tokens(units[0], units[-1]))
        for ordinal, units in enumerate(packed)
    ]


def _limits(document: Document) -> set[int]:
    """Return the offsets that no chunk crosses."""
    return {page.start for page in document.pages} | {each.end for each in document.sections if each.level == 0}


class _Counter:
    """Counts the tokens of spans of one text against the limit of a chunk."""

    def __init__(self, text: str, tokenizer: Tokenizer, max_tokens: int, limits: Sequence[int]) -> None:
        self.text = text
        self._limits = limits
        self.max_tokens = max_tokens
        self.max_chars = max_tokens * _CHARS_PER_TOKEN
        self._tokenizer = tokenizer

    def count(self, start: int, end: int) -> int:
        return self._tokenizer.count([self.text[start:end]])[0]

    def last_characters(self, start: int, end: int) -> list[int]:
        """Return the offset of the last character of each token of the segment `[start, end)`, in order."""
        return [start + max(a, b - 1) for a, b in self._tokenizer.offsets(self.text[start:end])]

    def may_share_chunk(self, one: _Unit, other: _Unit) -> bool:
        return bisect_right(self._limits, one.start) == bisect_right(self._limits, other.start)

    def tokens(self, first: _Unit, last: _Unit) -> int:
        return min(last.after - first.before, self.max_tokens)

    def fits(self, first: _Unit, last: _Unit) -> bool:
        """Return whether the span from `first` to `last` is within the limit when tokenised separately."""
        tokens = last.after - first.before
        if tokens > self.max_tokens or last.end - first.start > self.max_chars:
            return False
        whole = last.cuts == first.cuts - first.cut
        return (whole and tokens <= self.max_tokens - _MARGIN) or self.count(first.start, last.end) <= self.max_tokens


def _pack(units: Iterable[_Unit], counter: _Counter, overlap_tokens: int) -> Iterator[list[_Unit]]:
    chunk: list[_Unit] = []
    shared = 0  # this many units at its start are also in the previous chunk
    for unit in units:
        if chunk and not counter.may_share_chunk(chunk[-1], unit):
            yield chunk
            chunk, shared = [], 0
        while len(chunk) > shared and _ends_before(unit, chunk, counter):
            held = _trailing_headings(chunk, shared)
            if held == len(chunk) - shared and shared:
                chunk, shared = chunk[shared:], 0  # nothing new but headings: they take the place of the overlap
                continue
            done = chunk if held == len(chunk) else chunk[: len(chunk) - held]
            yield done
            chunk, shared = chunk[len(done) :], 0
            if not chunk and not unit.heading:
                chunk = _overlap(done, unit, counter, overlap_tokens)
                shared = len(chunk)
        chunk.append(unit)
    if chunk:
        yield chunk


def _ends_before(unit: _Unit, chunk: Sequence[_Unit], counter: _Counter) -> bool:
    if unit.heading and not chunk[-1].heading:
        filled = chunk[-1].after - chunk[0].before
        if filled >= _HEADING_FILL * counter.max_tokens:
            return True
    return not counter.fits(chunk[0], unit)


def _trailing_headings(chunk: Sequence[_Unit], shared: int) -> int:
    count = 0
    while count < len(chunk) - shared and chunk[-1 - count].heading:
        count += 1
    return count


def _overlap(done: Sequence[_Unit], unit: _Unit, counter: _Counter, overlap_tokens: int) -> list[_Unit]:
    """Return the last units of the chunk `done` that the next one repeats before `unit`: not all, and no heading."""
    first = len(done)
    while first > 1 and not done[first - 1].heading and _is_short(done[first - 1], done[-1], overlap_tokens):
        first -= 1
    while first < len(done) and not counter.fits(done[first], unit):
        first += 1
    return list(done[first:])


def _is_short(first: _Unit, last: _Unit, max_tokens: int) -> bool:
    return last.after - first.before <= max_tokens and last.end - first.start <= max_tokens * _CHARS_PER_TOKEN


def _units(document: Document, counter: _Counter) -> Iterator[_Unit]:
    tokens = cuts = 0
    for segment in _segments(_sentences(document)):
        lasts = counter.last_characters(segment[0][0], segment[-1][1])
        for i, (start, end, heading) in enumerate(segment):
            after = segment[i + 1][0] if i + 1 < len(segment) else end
            counted = bisect_left(lasts, after) - bisect_left(lasts, start)
            unit = _Unit(start, end, heading, tokens, tokens + counted, False, cuts)
            for part in [unit] if counter.fits(unit, unit) else _parts(unit, lasts, counter):
                yield part
                tokens, cuts = part.after, part.cuts


def _segments(sentences: Iterable[_Sentence]) -> Iterator[list[_Sentence]]:
    segment: list[_Sentence] = []
    for sentence in sentences:
        if segment and sentence[1] - segment[0][0] > _SEGMENT_CHARS:
            yield segment
            segment = []
        segment.append(sentence)
    if segment:
        yield segment


def _sentences(document: Document) -> Iterator[_Sentence]:
    """Yield the sentences, which also end at a page, section or heading line, in parts of bounded length."""
    text = document.text
    headings = _heading_lines(document)
    starts = {start for start, _ in headings}
    sections = {section.start for section in document.sections}
    edges = sorted(sections | _limits(document) | starts | {end for _, end in headings})
    following = 0
    for span in _with_whole_lines(iter_sentences(text), [found.span() for found in _WHOLE_LINE.finditer(text)]):
        start = span.start
        while following < len(edges) and edges[following] < span.end:
            if edges[following] > start:
                yield from _sentence(text, start, edges[following], starts)
                start = edges[following]
            following += 1
        yield from _sentence(text, start, span.end, starts)


def _with_whole_lines(sentences: Iterable[Span], lines: Sequence[tuple[int, int]]) -> Iterator[Span]:
    """Yield the sentences with each of the `lines` as one of them, whatever sentences are in it."""
    if not lines:
        yield from sentences
        return
    done, number = 0, 0
    for sentence in sentences:
        start = max(sentence.start, done)
        while number < len(lines) and lines[number][0] < sentence.end:
            begin, done = lines[number]
            if start < begin:
                yield Span(start, begin)
            yield Span(begin, done)
            start, number = done, number + 1
        if start < sentence.end:
            yield Span(start, sentence.end)


def _heading_lines(document: Document) -> list[tuple[int, int]]:
    """Return the lines that hold a section's heading. A section may also begin without one."""
    lines = []
    for section in document.sections:
        start = _skip_space(document.text, section.start, len(document.text))
        line_end = _LINE_END.search(document.text, start)
        if line_end and section.heading.strip()[:20] in document.text[start : line_end.start()]:
            lines.append((start, line_end.start()))
    return lines


def _sentence(text: str, start: int, end: int, headings: Container[int]) -> Iterator[_Sentence]:
    start = _skip_space(text, start, end)
    heading = start in headings or _MARKED_HEADING.match(text, start) is not None
    while end - start > _SEGMENT_CHARS:
        cut = cut_between(text, start, start + _SEGMENT_CHARS)
        yield start, cut, heading
        start = _skip_space(text, cut, end)
    if start < end:
        yield start, start + len(text[start:end].rstrip()), heading


def _parts(unit: _Unit, lasts: Sequence[int], counter: _Counter) -> Iterator[_Unit]:
    """Yield the parts of an overlong unit, each of which fits."""
    text, start, tokens, cuts = counter.text, unit.start, unit.before, unit.cuts
    while start < unit.end:
        end = _part_end(unit, start, lasts, counter)
        next_start = _skip_space(text, end, unit.end)
        cut = not (_is_edge(text, start, unit.start) and _is_edge(text, end, unit.end))
        counted = counter.count(start, end) if cut else bisect_left(lasts, end) - bisect_left(lasts, start)
        while counted > counter.max_tokens and end - start > 1:
            end = next_start = between_characters(text, start, start + (end - start) // 2)
            counted, cut = counter.count(start, end), True
        yield _Unit(start, end, unit.heading, tokens, tokens + counted, cut, cuts + cut)
        start, tokens, cuts = next_start, tokens + counted, cuts + cut


def _part_end(unit: _Unit, start: int, lasts: Sequence[int], counter: _Counter) -> int:
    """Return the end of a part from `start`: as far as the limits allow, at the best cut before that."""
    beyond = bisect_left(lasts, start) + counter.max_tokens - _MARGIN
    end = min(unit.end, start + counter.max_chars, lasts[beyond] if beyond < len(lasts) else unit.end)
    if end >= unit.end:
        return unit.end
    return cut_between(counter.text, start, max(end, start + 1))


def _is_edge(text: str, position: int, edge: int) -> bool:
    return position == edge or text[position].isspace() or text[position - 1].isspace()


def _skip_space(text: str, start: int, end: int) -> int:
    match = _SPACE.match(text, start, end)
    return match.end() if match else start
