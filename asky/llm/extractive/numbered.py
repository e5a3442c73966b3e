"""Things that a question names by a word with a number: "buoy 50", "room B12", "lamp_080"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from asky.text.terms import content_terms

_TOKEN = re.compile(r"[^\W_]+(?:[.,'’][^\W_]+)*")
_CODE = re.compile(r"[a-z]{0,4}\d[\d.,]*[a-z]?")
_JOINS = frozenset("and or to through no nos nr number numbers".split())  # noqa: SIM905 - "buoys no. 40 to 50"
_BETWEEN = re.compile(r"[\s_,&/#.–—-]*")  # a word and its numbers
_NAMES = re.compile(r"[\s_#-]*(?:\b(?:nos?|nr|numbers?)\b[\s_.#]*)?", re.IGNORECASE)
_MONTH = re.compile(
    r"jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?",
    re.IGNORECASE,
)
_CELL = re.compile(r"[^;|\n]+")
_VALUE_ALONE = re.compile(r"[^:]{1,60}: [ #]*(?P<number>[A-Za-z]{0,4}\d[\d.,]*[A-Za-z]?) *")


@dataclass(frozen=True, slots=True)
class NumberedThing:
    """The stem of a word, the number or code behind it, without leading zeros, and the stem of the word after both.

    `after` may be ""; with it the number may be an amount instead: "who scored 50 points".
    """

    word: str
    number: str
    after: str


@dataclass(frozen=True, slots=True)
class _Token:
    start: int
    end: int
    stem: str
    number: str
    joins: bool


def numbered_things(question: str) -> frozenset[NumberedThing]:
    """Return what a question names by a word with a number directly behind it; a date is no thing."""
    tokens = [token for token in _tokens(question) if not token.joins]
    return frozenset(
        NumberedThing(one.stem, other.number, after.stem if after else "")
        for one, other, after in zip_longest(tokens, tokens[1:], tokens[2:])
        if other and other.number and _is_name(question, one) and _NAMES.fullmatch(question, one.end, other.start)
    )


def _is_name(text: str, token: _Token) -> bool:
    is_word = bool(token.stem) and not token.number
    return is_word and _MONTH.fullmatch(text, token.start, token.end) is None


def stands_in(thing: NumberedThing, text: str) -> bool:
    """Return whether the word and the number of `thing` stand together in `text`, or in one cell: "Order no.: 5501".

    Nothing but other numbers is between them: "buoys 40, 50 and 60".
    """
    return thing.number in _numbers_with(thing.word, text)


def names_another(things: Iterable[NumberedThing], text: str, above: str = "") -> bool:
    """Return whether `text` has the word of one of `things` with another number, and its own number elsewhere.

    "Buoy 40: 50 m" names another than "buoy 50", unless the headings `above` it name the thing.
    """
    return any(
        any(token.number == thing.number for token in _tokens(text))
        and bool(found := _numbers_with(thing.word, text))
        and thing.number not in found
        and not (thing.after and thing.number in _numbers_with(thing.after, text))
        and not stands_in(thing, above)
        for thing in things
    )


def _numbers_with(word: str, text: str) -> frozenset[str]:
    """Return the numbers beside the word with the stem `word` in `text`, and those alone in a cell that it names."""
    found: set[str] = set()
    for match in _CELL.finditer(text):
        cell = match[0]
        tokens = _tokens(cell)
        places = [place for place, token in enumerate(tokens) if token.stem == word and not token.number]
        for place in places:
            for step in (1, -1):
                found.update(_run(cell, tokens, place, step))
        if places and (alone := _VALUE_ALONE.fullmatch(cell)) is not None:
            found.update(token.number for token in _tokens(alone["number"]))
    return frozenset(found)


def _run(text: str, tokens: Sequence[_Token], place: int, step: int) -> Iterator[str]:
    """Yield the numbers that follow the word at `place`, or with a `step` of -1 those that stand before it."""
    while 0 <= place + step < len(tokens):
        last, token = tokens[place], tokens[place + step]
        begin, end = (last, token) if step > 0 else (token, last)
        if not (token.number or token.joins) or _BETWEEN.fullmatch(text, begin.end, end.start) is None:
            return
        if token.number:
            yield token.number
        place += step


def _tokens(text: str) -> list[_Token]:
    found = []
    for match in _TOKEN.finditer(text):
        lower = match[0].casefold()
        number = (lower.replace(",", "").lstrip("0") or "0") if _CODE.fullmatch(lower) else ""
        stems = content_terms(match[0])
        found.append(_Token(*match.span(), stems[-1] if stems else "", number, lower in _JOINS))
    return found
