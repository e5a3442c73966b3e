"""Answers to questions about files of source code: what one is for, and what it defines."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from asky.llm.extractive.units import PassageText, Unit, unit_of
from asky.text.definitions import are_of_kinds, definition_line
from asky.text.document_questions import TOLD_BY_ALL, Aspect
from asky.text.sentences import sentence_spans
from asky.values import Span

CODE_ASPECTS: frozenset[Aspect] = TOLD_BY_ALL | {"outline", "definitions"}
"""What code says of itself in other places than prose does."""

_MAX_COMMENT_CHARS = 600
_SKIPPED = r"\A(?:\s|#![^\n]*\n|#[^\n]*coding[^\n]*\n|<\?php|from __future__[^\n]*\n|['\"]use strict['\"];?)*"
_DOCSTRING = re.compile(_SKIPPED + r"(?:#[^\n]*\n|\s)*[rRuU]?(\"\"\"|''')\s*(?P<text>.*?)\s*(?:\1|\Z)", re.DOTALL)
_COMMENT = re.compile(
    _SKIPPED + r"(?P<text>/\*.*?\*/|(?:[ \t]*(?://|--)[^\n]*(?:\n|\Z))+|"
    r"(?:[ \t]*#(?!\[|include|define|pragma|if)[^\n]*(?:\n|\Z))+)",
    re.DOTALL,
)
_LEGAL = re.compile(r"\b(?:copyright|licen[cs]ed?|SPDX|all rights reserved)\b", re.IGNORECASE)
_AUTHOR = re.compile(
    r"^[ \t]*(?:[#*;]+|//+|/\*+|--|%)?[ \t]*"
    r"(?P<text>(?:@author|__author__|authors?:|written by|copyright|\(c\)|©)[^\n]{3,160})$",
    re.IGNORECASE | re.MULTILINE,
)
_CONSTANT = re.compile(r"\b[A-Z][A-Z0-9]*_?[A-Z0-9_]*[A-Z0-9]\b(?![\w'\"])")
_DIRECTIVE = re.compile(r"\.\. |:\w+:|@\w+|>>> |[=\-~^*]{4,}")


def description(passages: Sequence[tuple[int, PassageText]], max_words: int) -> list[Unit]:
    """Return what the file says of itself above its code: the first sentences of its docstring, or its first comment.

    `passages` are those of the file with their numbers, its beginning first. Empty if it says nothing, or only who may
    copy it.
    """
    number, passage = passages[0]
    docstring = _DOCSTRING.match(passage.text)
    if docstring is not None:
        start = docstring.start("text")
        return list(_sentences(number, passage, start, docstring["text"], max_words))
    start = 0
    while (comment := _COMMENT.match(passage.text[start:])) is not None:
        if not _LEGAL.search(comment["text"]):
            end = start + comment.start("text") + min(len(comment["text"].rstrip()), _MAX_COMMENT_CHARS)
            return [unit_of(number, passage, Span(start + comment.start("text"), end), "code")]
        start += comment.end()
    return []


def _sentences(number: int, passage: PassageText, start: int, text: str, max_words: int) -> Iterator[Unit]:
    words = 0
    for paragraph in re.finditer(r"\S(?:[^\n]|\n(?![ \t]*\n))*", text):
        if _DIRECTIVE.match(paragraph.group()) or _LEGAL.search(paragraph.group()):
            return
        for each in sentence_spans(paragraph.group()):
            span = Span(start + paragraph.start() + each.start, start + paragraph.start() + each.end)
            words += len(passage.text[span.start : span.end].split())
            if words > max_words:
                return
            yield unit_of(number, passage, span, "sentence")


def authors(passages: Sequence[tuple[int, PassageText]]) -> Iterator[Unit]:
    """Yield the lines at the beginning of the file that say who wrote it, or who holds its copyright."""
    number, passage = passages[0]
    for match in _AUTHOR.finditer(passage.text):
        yield unit_of(number, passage, Span(match.start("text"), match.end("text")), "code")


def constants_in(units: Sequence[Unit], among: Sequence[Unit]) -> list[Unit]:
    """Return the code of `among` that gives a value to a constant named in the code of `units`, in order, each once.

    `listen(PORT)` answers which port, once `PORT = 3200` is told too.
    """
    told = [unit for unit in units if unit.kind == "code"]
    names = dict.fromkeys(name for unit in told for name in _CONSTANT.findall(unit.text))
    found = [
        next((other for other in among if other.kind == "code" and _value_of(name).search(other.text)), None)
        for name in names
    ]
    return [other for other in dict.fromkeys(found) if other is not None and other not in told]


def _value_of(name: str) -> re.Pattern[str]:
    return re.compile(rf"^[ \t]*(?:[a-z]\w*[ \t]+){{0,4}}{name}\b[^=\n(]{{0,40}}=[^=>]", re.MULTILINE)


def definitions(passages: Sequence[tuple[int, PassageText]], kinds: Collection[str]) -> Iterator[Unit]:
    """Yield the lines that begin the definitions that passages begin with, of these kinds or of any, if it is empty."""
    found: dict[str, Unit] = {}
    for number, passage in passages:
        name = (passage.location.section or "").rpartition(" › ")[2]
        line = definition_line(passage.text, name) if name else None
        if line is not None:
            unit = unit_of(number, passage, Span(*line), "code")
            found.setdefault(unit.text, unit)
    of_kinds = are_of_kinds(list(found), kinds)
    yield from (unit for unit, is_wanted in zip(found.values(), of_kinds, strict=True) if is_wanted)
