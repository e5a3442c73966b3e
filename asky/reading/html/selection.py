"""Which blocks of a page are its text: those that the extractor found, and what it lost among them.

The extractor is good at telling an article from the page around it. But it drops headings, lists, definitions and code
that belong to the article, and it knows no numbers of lists. So it only says where the text is: its words mark blocks
of the page without its frame, and the blocks that were lost between them are taken back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from asky.reading.html.blocks import TextBlock
from asky.reading.html.choice import WordsInOrder
from asky.reading.html.plain import PlainText
from asky.reading.text_builder import TextBuilder

_STRUCTURE = frozenset({"li", "dt", "dd", "pre", "tr", "blockquote"})
_MARK = re.compile(r"^ *\d{1,6}\. ", re.MULTILINE)  # of an item, which is no word of it
_RUN = 3  # words in a row that show that a text is part of another
_PAIR = 2
_SEARCHED_CHARS = 20_000_000  # 20 ms; in longer texts pairs of words in a row have to do, which take linear time


@dataclass(frozen=True, slots=True)
class TakenBack:
    """What is taken back among the blocks that the extractor found.

    `covered`: the share of its words that must be in blocks of the page; with less, its own text is kept. `links`: the
    share of a heading that is in links from which it is another page's. `structure_links`, `prose_links`: likewise of
    items and of paragraphs. `prose`: the fewest words of a paragraph. `near`: within how many blocks below a heading
    content must begin. `end_prose`: the fewest words of a paragraph before the first and behind the last block found,
    `None` if nothing is taken there but the headings above.

    Source: what each adds to the F1 of wcxb, trafilatura's and readability's pages, as limits of the web: the blocks
    found, in place of the extractor's own text, .001, .001, .013; headings .005, .000, -.001; items, rows, quotes and
    code .006, .000, .001; paragraphs of 30 words .002, .000, .000 (of 20 .003, -.001, .001). As a file, those pages
    are .007, -.046 and .000 from the extractor's text: news have teasers around them.
    """

    covered: float = 0.8
    links: float = 0.5
    structure_links: float = 0.1
    prose: int = 30
    prose_links: float = 0.3
    near: int = 1
    captions: bool = False
    end_prose: int | None = None


WEB = TakenBack()
"""Of a page of the web: teasers and captions between the paragraphs of an article stay out."""

FILE = TakenBack(structure_links=0.5, prose=1, prose_links=0.5, near=2, captions=True, end_prose=3)
"""Of a file that somebody keeps: a text that is lost costs more than one too many."""


@dataclass(frozen=True, slots=True)
class Selected:
    """The text that was selected, and of the words of the blocks that are no lists of links the number left out."""

    builder: TextBuilder
    words: int
    left_out: int


@dataclass(slots=True)
class _Candidate:
    block: TextBlock
    words: int
    linked: float
    is_kept: bool = False


def select(main: str, framed: PlainText, rule: TakenBack) -> Selected | None:
    """Return the blocks of `framed` that `main` has, and what it lost among them; `None` if it has too few of them."""
    text = framed.builder.text()
    sought = _Sought(main)
    candidates = list(_candidates(text, framed.writer.blocks or (), sought))
    found = [number for number, each in enumerate(candidates) if each.is_kept]
    covered = sum(candidates[number].words for number in found)
    if not found or covered < rule.covered * sought.size:
        return None
    first = found[0]
    if rule.end_prose is not None:  # from the title on
        first = next((number for number, each in enumerate(candidates[:first]) if each.block.level == 1), first)
    _take_back(candidates, first, found[-1], rule)
    _keep_lines(candidates)
    kept = [each for each in candidates if each.is_kept]
    if len(kept) == len(candidates):
        return Selected(framed.builder, sum(each.words for each in kept), 0)
    lost = sum(each.words for each in candidates if not each.is_kept and each.linked < rule.prose_links)
    builder = _written(text, kept)
    builder.invisible = framed.builder.invisible  # removed when its text was written
    return Selected(builder, sum(each.words for each in kept), lost)


class _Sought:
    """The lines of a text, and its words in a row, to find blocks of another text in it."""

    def __init__(self, text: str) -> None:
        plain = _MARK.sub("", text)
        words, start = WordsInOrder(plain), 0
        lines = []
        for line in plain.split("\n"):
            lines.append(words.of(start, start + len(line)))
            start += len(line) + 1
        self._lines = set(lines) - {""}
        self._row = f" {' '.join(line for line in lines if line)} "
        self.size = self._row.count(" ") - 1
        self._left = _SEARCHED_CHARS

    def has(self, words: str, *, is_joined: bool) -> bool:
        """Return whether the words are a line of the text, or some in a row of it, which a joined term may be too."""
        if words in self._lines:
            return True
        if words.count(" ") + 1 < (_PAIR if is_joined else _RUN):
            return False
        self._left -= len(self._row)
        if self._left > 0:
            return f" {words} " in self._row
        return all(pair in self._pairs for pair in pairwise(words.split(" ")))

    @cached_property
    def _pairs(self) -> set[tuple[str, str]]:
        return set(pairwise(self._row.split()))


def _candidates(text: str, blocks: Sequence[TextBlock], sought: _Sought) -> Iterator[_Candidate]:
    words = WordsInOrder(text)
    for block in _whole(text, blocks):
        said = words.of(block.start + block.mark, block.end)
        share = 0.0
        if block.linked:
            share = block.linked / max(1, len("".join(text[block.start : block.end].split())))
        is_kept = sought.has(said, is_joined=block.kind == "dt")
        yield _Candidate(block, said.count(" ") + 1 if said else 0, share, is_kept)


def _whole(text: str, blocks: Sequence[TextBlock]) -> Iterator[TextBlock]:
    """Yield the blocks, and as rows the lines between them, which were written by others."""
    end = 0
    for block in blocks:
        yield from _lines(text, end, block.start)
        yield block
        end = block.end
    yield from _lines(text, end, len(text))


def _lines(text: str, start: int, end: int) -> Iterator[TextBlock]:
    if not text[start:end].strip():
        return
    for line in text[start:end].splitlines(keepends=True):
        if shown := line.strip():
            begin = start + line.index(shown)
            yield TextBlock(begin, begin + len(shown), 0, "tr", 0, 0)
        start += len(line)


def _take_back(candidates: list[_Candidate], first: int, last: int, rule: TakenBack) -> None:
    """Mark what belongs to the blocks found, from the end: a heading belongs to what stands below it."""
    is_content = [each.is_kept for each in candidates]  # and what has a structure
    for number in range(len(candidates) - 1, -1, -1):
        each = candidates[number]
        is_within = first <= number <= last
        if each.is_kept or not each.words:
            continue
        if each.block.level:
            is_above = any(is_content[number + 1 : number + 1 + rule.near]) and each.linked < rule.links
            each.is_kept = is_above and (number < last or rule.end_prose is not None)
            is_content[number] = each.is_kept
        elif is_within or rule.end_prose is not None:
            is_structure = each.block.kind in _STRUCTURE and each.linked < rule.structure_links
            fewest = rule.prose if is_within else rule.end_prose or 0
            is_prose = each.words >= fewest and each.linked < rule.prose_links
            each.is_kept = is_structure or (is_prose and (rule.captions or each.block.kind != "figcaption"))
            is_content[number] = is_structure or (rule.end_prose is not None and each.is_kept)


def _keep_lines(candidates: Sequence[_Candidate]) -> None:
    """Mark the blocks without words between kept ones: the line below the names of a table's columns."""
    for before, each, after in zip(candidates, candidates[1:], candidates[2:], strict=False):
        each.is_kept = each.is_kept or (not each.words and before.is_kept and after.is_kept)


def _written(text: str, kept: Sequence[_Candidate]) -> TextBuilder:
    builder = TextBuilder()
    for each in kept:
        block = each.block
        gap = "\n\n" if text.endswith("\n\n", 0, block.start) else "\n"
        shown = text[block.start : block.end]
        before = gap if len(builder) else ""
        if block.level:
            builder.mark_heading(shown, block.level, len(builder) + len(before))
        builder.add(before + shown)
    return builder
