"""Sentence segmentation.

Two passes, each linear in the text. Lines are grouped into blocks first: headings, list items, table rows and
paragraphs are separate blocks, and the line breaks inside a wrapped paragraph are no boundaries. Blocks are then split
at the stops that end a sentence, unlike a stop after an abbreviation, inside a number or inside a URL.

Source: the cues (token before the stop, case of the word after it, frequent sentence starters, ordinals) are those of
Kiss and Strunk, "Unsupervised Multilingual Sentence Boundary Detection", Computational Linguistics 32(4), 2006, with
fixed lists in place of trained ones. docs/concepts/quality.md has what is measured.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from asky.text.abbreviations import BEFORE_ORDINALS, LABELS, MAY_END, MONTHS, NAMES, NEVER_END, STARTERS
from asky.values import Span

_ABBREVIATIONS = frozenset(word.lower() for word in NEVER_END | MAY_END | LABELS)
# Words whose number may begin the next line: "see Section\n3. Then" contains no list item.
_COUNTED = LABELS | frozenset(
    "section sections chapter table tables figure figures page pages step version part item".split()  # noqa: SIM905
)

_LINE = re.compile(r"[^\n\r\u2028\u2029]+")
_LINE_BREAKS = frozenset(("\n", "\r\n", "\r", "\u2028", "\u2029"))
_LIST_ITEM = re.compile(
    r"(?:[-*+•◦▪‣·●○■□]|[–—](?=\s+[^\W\d_a-z])|\(?\d{1,3}[.)]|\(?[A-Za-z]\)|\([ivx]{1,5}\)|\[[\dxX ]{1,3}\])\s"
)
_NUMBERED_HEADING = re.compile(r"\d{1,2}(?:\.\d{1,2}){1,4}\.?\s+[^\W\d_]")
_ALONE = re.compile(r"#{1,6}\s|\||```|~~~")
_RULE = re.compile(r"[=\-*_~+\s]+")
TIME_STAMP = re.compile(
    r"[\[(]?(?:\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d"
    r"|\d{1,2}[/ .-](?:\d\d?|[A-Z][a-z]{2})[/ .-]\d{2,4}[ :,]{1,2}\d{1,2}:\d\d"
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\d\d:\d\d:\d\d[.,]?\d*\s)"
    r"|\S+ \S+ \S+ \[\d{1,2}/[A-Z][a-z]{2}/\d{4}:"
)
"""The date and time that an entry of a log or a message of a chat begins with."""

_STOPS = re.compile(r"[.!?…]+|[。！？｡।॥؟۔።။។]+")
# Also what closes a quotation in German („...“, »...«) and in French, after a space.
_CLOSERS = re.compile(
    r"""["'”’“‘)\]}»«›‹」』）】》*_`]{0,8}(?:[ \u00a0\u202f][»›](?!\w))?(?:\[[\d,;\s–-]{1,20}\]){0,4}"""
)
_REFERENCES = re.compile(
    r"[ \t]*(?:\[(?:P[0-9a-f]{4,8}|\d{1,3})(?:, ?(?:P[0-9a-f]{4,8}|\d{1,3})){0,9}\][ \t]*){1,10}(?=\s|$)"
)
_SPACE = re.compile(r"\s*")
_OPENERS = re.compile(r"""["'“‘«‹(\[{¿¡*_`「『（]{0,4}""")
_NEXT_WORD = re.compile(r"[^\W\d_]{1,16}")
_DOTTED = re.compile(r"(?:[^\W\d_]{1,3}\.)+[^\W\d_]{1,2}")
_SPACED = re.compile(r"(?<![\w.,'’-])(?:[^\W\d_]\.[\s-]){1,4}[^\W\d_]{1,3}$")  # "z. B", "a. C", "J.-P"
_PART = re.compile(r"[^\W\d_]\.")
_ELIDED = re.compile(r"['’-](?=[^\W\d_]{2,}$)")  # "l'art", "Dipl.-Ing"
_ORDINAL = re.compile(r"(?<![\w.,:])(?:\d{1,2}\.?[–/-])?(\d{1,2}|[IVX]{1,5})$")
_DIGIT_BEFORE = re.compile(r"\d\s[^\W\d_]+$")
_MONTH = re.compile(r"[^\W\d_]{3,9}(?!\w)")
_MONTH_NUMBER = re.compile(r"(?:0?[1-9]|1[0-2])\.(?!\d)")
_WORD_BEFORE = re.compile(r"(?:\d\. (?:und|oder)|(?<!\bI )\b[^\W\d_]+)\s+$")
_LABEL_VALUE = re.compile(r"[#(\[]?(?:\d|[IVXLC]{1,6}\b|[A-Z]\b|[A-Z]{1,4}\d)")
_NUMBER = re.compile(r"[\d.]{1,8}|[^\W\d_]|[ivxlIVXL]{1,5}")
_MARKER = re.compile(r"[-*+•◦▪‣·●○■□\d.()\[\]]{1,7}|\(?[A-Za-z][.)]")
_DAYS = 31
_MAX_PART = 4  # "J.-P"
_TOKEN_CHARS = 16  # longer than every abbreviation above


class _Line(NamedTuple):
    start: int  # of the first non-white-space character
    end: int
    width: int  # characters from the start of the line, indent included
    after_blank: bool


def sentence_spans(text: str) -> list[Span]:
    """Return the sentences of `text`, in order: disjoint spans that neither begin nor end with white space.

    Every non-white-space character lies in exactly one span. A heading, a list item and a table row are separate units,
    whether or not they end in a stop; a line break inside a wrapped paragraph ends nothing. Closing quotes and brackets
    after a stop belong to the sentence before it, as do reference markers such as `[3]`. Linear in the text.
    """
    return list(iter_sentences(text))


def iter_sentences(text: str) -> Iterator[Span]:
    """Yield the spans of `sentence_spans`: for texts whose list of sentences would be large."""
    for start, end in _blocks(text):
        yield from _cut(text, start, end)


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    lines = _lines(text)
    before = next(lines, None)
    if before is None:
        return
    start, width = before.start, 0
    for line in lines:
        if _is_break(text, width, before, line):
            yield start, before.end
            start, width = line.start, 0
        else:
            width = before.width
        before = line
    yield start, before.end


def _lines(text: str) -> Iterator[_Line]:
    previous_end: int | None = None
    for match in _LINE.finditer(text):
        line = match.group()
        stripped = line.strip()
        if not stripped:
            continue
        indent = len(line) - len(line.lstrip())
        start = match.start() + indent
        after_blank = previous_end is not None and text[previous_end : match.start()] not in _LINE_BREAKS
        previous_end = match.end()
        yield _Line(start, start + len(stripped), indent + len(stripped), after_blank)


def _is_break(text: str, width: int, before: _Line, line: _Line) -> bool:
    """Return whether `line` begins a block: after a blank line, or by its form or that of the line before.

    `width` is that of the line before `before` in the same block, or 0.
    """
    if line.after_blank or _ALONE.match(text, before.start) or _ALONE.match(text, line.start):
        return True
    if _is_rule(text, before) or "\t" in text[before.start : before.end] or "\t" in text[line.start : line.end]:
        return True
    if _is_rule(text, line):
        return False  # the underline of a heading stays with it
    if TIME_STAMP.match(text, line.start, line.end):
        return True
    return _begins_item(text, before, line) or _is_hard_break(text, width, before, line)


def _is_rule(text: str, line: _Line) -> bool:
    return line.end - line.start >= 3 and _RULE.fullmatch(text, line.start, line.end) is not None


def _begins_item(text: str, before: _Line, line: _Line) -> bool:
    if _LIST_ITEM.match(text, line.start, line.end):
        if not text[line.start].isalnum() and text[line.start] not in "([":
            return True  # a bullet is no number of "part" or "version"
        return _token_before(text, before.start, before.end).rstrip(".").lower() not in _COUNTED
    return text[before.end - 1] in ".!?:" and _NUMBERED_HEADING.match(text, line.start, line.end) is not None


def _is_hard_break(text: str, width: int, before: _Line, line: _Line) -> bool:
    """Return whether the line break after `before` is deliberate: the next word would have fitted well.

    0.6 of the lines' width allows for the ragged lines of proportional type.
    """
    first = text[line.start]
    if not (first.isalpha() or first in "\"'“‘«") or first.islower() or text[before.end - 1] in ",;-–—&":
        return False
    if _MARKER.fullmatch(text, before.start, before.end):
        return False  # the number or bullet of an item whose text begins on the next line
    widest = max(width, before.width, line.width)
    word = text[line.start : line.start + widest].split(None, 1)[0]
    return before.width + 1 + len(word) < 0.6 * widest


def _cut(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the sentences of one block, whose first and last characters are not white space."""
    for match in _STOPS.finditer(text, start, end):
        stop_end = _after_closers(text, match.end(), end)
        follow = _skip(_SPACE, text, stop_end, end)
        if follow >= end:
            break
        if _ends_sentence(text, start, match, stop_end, follow, end):
            yield Span(start, stop_end)
            start = follow
    yield Span(start, end)


def _after_closers(text: str, position: int, end: int) -> int:
    position = _skip(_CLOSERS, text, position, end)
    references = _REFERENCES.match(text, position, end)
    return position + len(references.group().rstrip()) if references else position


def _skip(pattern: re.Pattern[str], text: str, position: int, end: int) -> int:
    match = pattern.match(text, position, end)
    return match.end() if match else position


def _ends_sentence(text: str, start: int, stop: re.Match[str], stop_end: int, follow: int, end: int) -> bool:
    marks = stop.group()
    if marks[0] not in ".!?…":
        return True  # a stop of its own script: needs no white space after it, and ends no abbreviation
    if follow == stop_end:
        return _is_wide(text[follow])
    if text[follow] in ".!?…,;:":
        return False  # ". . ." or a stop before punctuation
    head = _skip(_OPENERS, text, follow, end)
    lower = head < end and text[head].islower()
    if marks != ".":
        return not lower or (marks[-1] == "?" and stop_end == stop.end())
    token = _token_before(text, start, stop.start())
    if not token:  # the text separates its stops with spaces, like those of an ellipsis
        return not (lower and text[max(start, stop.start() - 2) : stop.start()].endswith((". ", ".\u00a0")))
    if lower:
        return len(token) >= 5 and token.isalpha() and token.lower() not in _ABBREVIATIONS
    return not _is_abbreviation(text, start, stop.start(), token, follow, head)


def _is_wide(character: str) -> bool:
    return "\u3040" <= character <= "\u30ff" or "\u4e00" <= character <= "\u9fff" or "\uac00" <= character <= "\ud7af"


def _token_before(text: str, start: int, position: int) -> str:
    """Return the token that ends at `position`, without opening punctuation; cut if longer than any abbreviation."""
    window = text[max(start, position - _TOKEN_CHARS) : position]
    tokens = window.split()
    return tokens[-1].lstrip("\"'“‘«([{*_") if tokens and not window[-1].isspace() else ""


def _is_abbreviation(text: str, start: int, stop: int, token: str, follow: int, head: int) -> bool:
    """Return whether the single stop after `token` belongs to it, when no lower-case word follows."""
    if _is_number_of_item(text, start, stop, token) or _is_ordinal(text, start, stop, follow, head):
        return True
    if (known := _known(text, start, stop, token, follow, head)) is not None:
        return known
    initials = False
    if len(token) <= _MAX_PART and (spaced := _SPACED.search(text, max(start, stop - _TOKEN_CHARS), stop)):
        token = "".join(spaced.group().split()).replace("-", "")
        initials = token.isupper()
    else:
        token = _ELIDED.split(token)[-1]
    if (known := _known(text, start, stop, token, follow, head)) is not None:
        return known
    if len(token) == 1 and token.isalpha():
        if _PART.match(text, follow):
            return True
        return not _is_starter(text, head, NAMES) if token.isupper() else _LABEL_VALUE.match(text, follow) is not None
    return _DOTTED.fullmatch(token) is not None and not _is_starter(text, head, NAMES if initials else frozenset())


def _known(text: str, start: int, stop: int, token: str, follow: int, head: int) -> bool | None:
    """Return whether the stop belongs to `token` by the lists of abbreviations; `None` if it is in none of them."""
    word = token.lower()
    if word in NEVER_END or token in NEVER_END:
        # In capitals it may be another word (DR, CF), and behind a number a unit: "for 1 hr."
        is_other = (len(token) > 1 and token.isupper()) or _DIGIT_BEFORE.search(
            text, max(start, stop - len(token) - 2), stop
        )
        return not (is_other and _is_starter(text, head))
    if word in MAY_END or token in MAY_END:
        return not _is_starter(text, head)
    if len(token) > 1 and (word in LABELS or word.endswith("str")):
        return _LABEL_VALUE.match(text, follow) is not None
    return None


def _is_ordinal(text: str, start: int, stop: int, follow: int, head: int) -> bool:
    """Return whether the number before `stop` is an ordinal: "31. Mai", "31. 8. beginnt", "der 2. Vorsitzende"."""
    number = _ORDINAL.search(text, max(start, stop - _TOKEN_CHARS), stop) if text[stop - 1] in "0123456789IVX" else None
    if number is None:
        return False
    if number[1].isdigit() and int(number[1]) <= _DAYS:
        month = _MONTH.match(text, follow)
        if (month and month.group().lower() in MONTHS) or _MONTH_NUMBER.match(text, follow):
            return True
    before = _WORD_BEFORE.search(text, max(start, number.start() - _TOKEN_CHARS), number.start())
    return (
        before is not None
        and (before.group()[0].isdigit() or before.group().strip().lower() in BEFORE_ORDINALS)
        and text[head : head + 1].isalpha()
        and not _is_starter(text, head)
    )


def _is_number_of_item(text: str, start: int, stop: int, token: str) -> bool:
    """Return whether `token` numbers an item: it begins the sentence, or follows the punctuation of a running list."""
    if stop - start == len(token):
        return _NUMBER.fullmatch(token) is not None
    return (
        token.isdigit()
        and len(token) <= 2
        and text[stop - len(token) - 2 : stop - len(token)].rstrip()[-1:] in (";", ":")
    )


def _is_starter(text: str, head: int, but: frozenset[str] = frozenset()) -> bool:
    """Return whether the word at `head` often begins a sentence; a capital before a stop is an initial and doesn't."""
    match = _NEXT_WORD.match(text, head)
    if match is None or not match.group()[0].isupper():
        return False
    word = match.group().lower()
    return word in STARTERS and word not in but and text[match.end() : match.end() + 1] != "."
