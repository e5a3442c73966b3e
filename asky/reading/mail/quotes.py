"""The parts of a mail's text by who wrote them: the sender's own words, and what they quote or pass on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from asky.reading.mail.attributions import (
    Authorship,
    attribution,
    field_of,
    head_block,
    is_beginning,
    is_certain,
    is_rule,
)
from asky.reading.mail.lines import MailLine

_ABOVE = 4  # lines that an attribution may be wrapped over
_NEAR = 5  # lines, empty ones among them, in which the text that it is about begins
_UNKNOWN = Authorship()


@dataclass(slots=True)
class MailPassage:
    """Consecutive lines of one author; `origin` is `None` for the sender's own words.

    `head` has the header lines of a mail that is passed on in the text.
    """

    origin: Authorship | None
    lines: list[MailLine] = field(default_factory=list)
    head: tuple[str, ...] = ()

    def text(self) -> str:
        """Return the lines, headings included, without tables."""
        return "\n".join(line.text for line in self.lines)

    @property
    def says_something(self) -> bool:
        """Return whether there is anything but empty lines and rules."""
        return any(line.rows or (line.text and not is_rule(line.text)) for line in self.lines) or bool(self.head)


def passages_of(lines: Sequence[MailLine]) -> list[MailPassage]:
    """Return the passages of a text in order. Linear time."""
    found = [each for each in _Parting(lines).passages() if each.says_something]
    for each in found:
        first = next((number for number, line in enumerate(each.lines) if line.text or line.rows), len(each.lines))
        del each.lines[:first]
        while each.lines and not each.lines[-1].rows and not each.lines[-1].text.strip():
            each.lines.pop()
        if each is not found[-1]:  # the rule above a mail that is passed on
            while each.lines and not each.lines[-1].rows and (is_rule(each.lines[-1].text) or not each.lines[-1].text):
                each.lines.pop()
    return [each for each in found if each.says_something]


class _Parting:
    def __init__(self, lines: Sequence[MailLine]) -> None:
        self._lines = lines
        self._texts = [line.text for line in lines]
        self._origins: list[Authorship | None] = [None]  # of each depth so far; those of deeper lines are not known

    def passages(self) -> Iterator[MailPassage]:
        passage = MailPassage(None)
        at = depth = 0
        while at < len(self._lines):
            line = self._lines[at]
            if not line.text and not line.rows:
                passage.lines.append(line)
                at += 1
                continue
            if line.depth > depth:
                self._set(line.depth, _take_attribution(passage.lines))
            depth = line.depth
            begun = self._begun(at)
            if begun is not None:
                yield passage
                passage, at = begun
                self._set(depth, passage.origin, replaces=True)
                continue
            origin = self._origins[depth] if depth < len(self._origins) else _UNKNOWN
            if origin is _UNKNOWN and (count := self._named_within(at)):
                self._set(depth, attribution(self._joined(at, count)), replaces=True)
                at += count
                continue
            if origin is not passage.origin:
                yield passage
                passage = MailPassage(origin)
            passage.lines.append(line)
            at += 1
        yield passage

    def _set(self, depth: int, origin: Authorship | None, *, replaces: bool = False) -> None:
        """Note who wrote the lines of a depth; without a new author, the one of the lines before stays."""
        known = self._origins[depth] if depth < len(self._origins) else None
        del self._origins[depth:]
        self._origins += [_UNKNOWN] * (depth - len(self._origins))
        self._origins.append(origin if origin is not None or replaces else known or _UNKNOWN)

    def _begun(self, at: int) -> tuple[MailPassage, int] | None:
        """Return the mail that begins with a line, all that follows at this depth, and where its text begins."""
        line = self._lines[at]
        is_field = ":" in line.text[:24] or "：" in line.text[:24]
        # Those that begin with a line above have been looked at from there.
        if is_beginning(line.text) or (is_field and (at == 0 or field_of(self._texts[at - 1]) is None)):
            block = head_block(self._texts, at)
            if block is not None and all(each.depth == line.depth for each in self._lines[at : block.end] if each.text):
                return MailPassage(block.origin, head=block.lines), block.end
        if "@" not in line.text or not is_certain(line.text):
            return None
        origin = attribution(line.text)
        following = next((each for each in self._lines[at + 1 : at + _NEAR] if each.text or each.rows), None)
        if origin is None or following is None or following.depth > line.depth:
            return None
        return MailPassage(origin), at + 1

    def _named_within(self, at: int) -> int:
        """Return how many lines at `at` name the author of the quote that they are in, as Apple Mail writes them."""
        depth = self._lines[at].depth
        for count in range(1, _ABOVE):
            if (
                at + count > len(self._lines)
                or not self._texts[at + count - 1]
                or self._lines[at + count - 1].depth != depth
            ):
                return 0
            if attribution(self._joined(at, count)):
                near = self._lines[at + count : at + count + _NEAR]
                following = next((line for line in near if line.text or line.rows), None)
                return count if following is not None and following.depth == depth else 0
        return 0

    def _joined(self, at: int, count: int) -> str:
        return " ".join(self._texts[at : at + count])


def _take_attribution(lines: list[MailLine]) -> Authorship | None:
    """Return who wrote the quote below some lines, and remove those that say so."""
    end = len(lines)
    while end and not lines[end - 1].text and not lines[end - 1].rows:
        end -= 1
    best: Authorship | None = None
    taken = 0
    for count in range(1, min(_ABOVE, end) + 1):
        first = lines[end - count].text.rstrip()
        if not first or (count > 1 and first.endswith((".", "!", "?"))):
            break
        origin = attribution(" ".join(line.text for line in lines[end - count : end]))
        if origin is not None and (best is None or (origin.when and not best.when)):
            best, taken = origin, count
    if best is not None:
        del lines[end - taken :]
    return best
