"""The content of square brackets as rendered: passage keys, numbers, or neither.

A renderer decodes entities, drops tags and comments and joins lines; a reader does not see emphasis and zero-width
characters, and takes `①`, `１` and `𝟏` for a 1. A bracket is normalised accordingly before it is read. Numbers in
brackets are a look-alike of a citation if they are accompanied only by words of citing ("source", "see") and locations
("p. 3").
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

from asky.evidence.citations.pieces import CLOSE, ENTITY, OPEN, PARTIAL_ENTITY

_SEEN_CHARS = 256  # a bracket with more content is not a citation
_SOURCE_CHARS = 1_024

_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_TAG = r"<[/!?A-Za-z](?:[^<>\"']|\"[^\"<>]*\"|'[^'<>]*')*>"
_COMPLETE_TAG = re.compile(_TAG)
_PARTIAL_TAG = re.compile(r"<(?:[/!?A-Za-z](?:[^<>\"']|\"[^\"<>]*\"|'[^'<>]*')*(?:\"[^\"<>]*|'[^'<>]*)?)?")
_STOP = re.compile(rf"[{re.escape(OPEN + CLOSE)}&<]|\n[ \t>]*\n")
_HIDDEN = re.compile(rf"{_TAG}|{_PARTIAL_TAG.pattern}\Z|[\s*_`~\\{_INVISIBLE}]+")
_SPELLED = re.compile(rf"{_TAG}|{ENTITY.pattern}|[^\S\n]*\n[\s>]*|\s+|_+|[*`~\\]+|[^\x00-\x7f]")
_UNSEEN = "\u200b"  # replaces content that leaves no trace on a rendered page

_WORDS = (
    "see|also|cf|passages?|sources?|keys?|refs?|references?|evidence|ids?|(?:foot|end)?notes?|cit(?:e|ed|ations?)|"
    "doc(?:ument)?s?|excerpts?|results?"
)
_LEAD = rf"[ {_UNSEEN}^#(]*(?:(?:{_WORDS})(?![A-Za-z])[ {_UNSEEN}.:#^(]*)*"
_KEY = rf"[Pp](?:{_UNSEEN}*[0-9a-fA-F]){{4,16}}(?![^\W_])"
_BETWEEN_KEYS = rf"[ {_UNSEEN},;/|&+–—-]+(?:and[ {_UNSEEN}]+)?"
_KEYS = re.compile(rf"{_LEAD}({_KEY}(?:{_BETWEEN_KEYS}{_KEY})*)", re.IGNORECASE)
_ONE_KEY = re.compile(_KEY)
_TAIL = re.compile(rf"""[ {_UNSEEN}]*[,;:.§#("“'–—-]""")
_AROUND_TAIL = " \t\n>\u00a0*_`~\\,;:/|&+–—-\u00ad\u200b\u200c\u200d\u2060\ufeff"
_OF_ENTITIES = str.maketrans("", "", "&;")
_NUMBER = r"(?!0)\d{1,3}(?!\d)"
_BETWEEN_NUMBERS = r"(?: ?[,;&–—-] ?(?:and )?| and | )"
_PLACE = (
    r"[ ,;:.(]*(?:pp?|pg|pages?|para(?:graph)?s?|sec(?:t|tions?)?|ch(?:ap|apters?)?|figs?|figures?|tables?|ll?|lines?|"
    r"vols?|art(?:icle)?s?|§+|¶+)\.? ?(?:\d+|[ivxlc]+(?![a-z]))\)?"
)
_NUMBERS = re.compile(rf"{_LEAD}{_NUMBER}(?:{_BETWEEN_NUMBERS}{_LEAD}{_NUMBER}|{_PLACE})*[ .,;:)]*", re.IGNORECASE)
_PLAIN_NUMBER = re.compile(r"([1-9]\d{0,2})\]")
_BEGINNING = re.compile(rf"[\s>*_`~\\{_INVISIBLE}]*")
_FIRST_WORD = re.compile(r"[A-Za-z0-9]{1,24}")
_MAY_BEGIN = re.compile(rf"(?:{_WORDS})\d*|[Pp][0-9a-fA-F]{{1,16}}|P", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Bracket:
    """A bracket that ends at `end`: a group of `keys` with its `tail`, or the `seen` form of its numbers."""

    end: int
    keys: tuple[str, ...] = ()
    tail: str = ""
    seen: str = ""


Unsure = Literal["unsure"]


def read_bracket(text: str, start: int, *, final: bool) -> Bracket | Unsure | None:
    """Read the bracket whose content begins at `start`; `None` if it contains neither keys nor numbers alone.

    Returns `"unsure"` until enough of the text is available, at most 1,024 characters; `final` means that the text is
    complete.
    """
    plain = _PLAIN_NUMBER.match(text, start)
    if plain is not None:
        return Bracket(plain.end(), seen=plain[1])
    window = text[start : start + _SOURCE_CHARS]
    more = not final and len(window) < _SOURCE_CHARS
    may_begin = _may_begin(window, more)
    if may_begin is not True:
        return "unsure" if may_begin is None else None
    found = _end_of_content(window, more)
    if found is None:
        return None
    if found == "unsure":
        return None if _is_long(window) else "unsure"
    end, after = found
    if _is_long(window[:end]):
        return None
    bracket = _read(window[:end], start + after)
    return bracket if bracket is not None or end < _SOURCE_CHARS else _endless(window, start + after)


def keys_and_tail(content: str, *, literal: bool = False) -> tuple[tuple[str, ...], str]:
    """Return the keys at the beginning of a bracket's content and the text after them; no keys if it is something else.

    In `literal` content, that of code, nothing is hidden.
    """
    visible, origins = (content, range(len(content) + 1)) if literal else seen(content)
    match = _KEYS.match(visible)
    if match is None:
        return (), ""
    is_over = not visible[match.end() :].strip(f" {_UNSEEN}")  # apart from invisible entities
    tail = "" if is_over else content[origins[match.end()] :]
    tail = tail.strip(_AROUND_TAIL if ENTITY.search(tail) is None else _AROUND_TAIL.translate(_OF_ENTITIES))
    if tail and _TAIL.match(visible, match.end()) is None:
        return (), ""
    return tuple("P" + key[1:].replace(_UNSEEN, "").lower() for key in _ONE_KEY.findall(match[1])), tail


def seen(source: str) -> tuple[str, list[int]]:
    """Return `source` as rendered, and for each character of that, and its end, the index in `source` it comes from.

    White space becomes one space, and invisible content U+200B.
    """
    characters: list[str] = []
    origins: list[int] = []
    position = 0
    for match in _SPELLED.finditer(source):
        characters += source[position : match.start()]
        origins += range(position, match.start())
        shown = _shown(match.group())
        characters += shown
        origins += [match.start()] * len(shown)
        position = match.end()
    characters += source[position:]
    origins += range(position, len(source) + 1)
    return "".join(characters), origins


def decoded(entity: str) -> str:
    """Return the characters that an HTML entity stands for."""
    import html  # its table of 2,231 names: only if an answer has entities

    return html.unescape(entity)


def number_seen(source: str) -> str | None:
    """Return the rendered `source` if it consists of numbers with words of citing and locations; else `None`."""
    visible = _only_seen(source)
    return visible if _NUMBERS.fullmatch(visible) else None


def _is_long(content: str) -> bool:
    return len(content) > _SEEN_CHARS and len(_HIDDEN.sub("", content)) > _SEEN_CHARS


def _only_seen(source: str) -> str:
    return " ".join(seen(source)[0].replace(_UNSEEN, "").split())


def _may_begin(window: str, more: bool) -> bool | None:
    """Return whether keys or numbers may begin like this; `None` if that is not known yet."""
    beginning = _BEGINNING.match(window)
    assert beginning is not None
    at = beginning.end()
    if at == len(window):
        return None if more else at == _SOURCE_CHARS
    first = window[at]
    if not first.isascii():
        first = _shown(first)[:1]
        return first.isdigit() or (first.isalpha() and first.isascii()) or first in ("(", "#", _UNSEEN)
    word = _FIRST_WORD.match(window, at)
    if word is None:
        return first in "&<^#("
    if word.end() == len(window) and more:
        return None
    return word.group().isdigit() or _MAY_BEGIN.fullmatch(word.group()) is not None


def _end_of_content(window: str, more: bool) -> tuple[int, int] | Unsure | None:
    """Return the end of the content and of the closing bracket, or the window's end if it is not closed.

    Returns `None` if the content has a bracket or an empty line in it.
    """
    position = 0
    while (stop := _STOP.search(window, position)) is not None:
        sign, position = stop.group(), stop.end()
        if sign in CLOSE:
            return stop.start(), position
        if sign == "&":
            partial, complete = PARTIAL_ENTITY.match(window, stop.start()), ENTITY.match(window, stop.start())
            shown = decoded(complete.group()) if complete else ""
            if complete is None and more and partial is not None and partial.end() == len(window):
                return "unsure"
            if shown and shown in CLOSE:
                return stop.start(), complete.end() if complete else position
            sign, position = shown, complete.end() if complete else position
        elif sign == "<":
            partial, complete = _PARTIAL_TAG.match(window, stop.start()), _COMPLETE_TAG.match(window, stop.start())
            if complete is None and more and partial is not None and partial.end() == len(window):
                return "unsure"
            sign, position = "", complete.end() if complete else position
        if sign and (sign in OPEN or sign[0] == "\n"):
            return None
    if more:
        return "unsure"
    return (len(window), len(window)) if len(window) == _SOURCE_CHARS else None


def _read(content: str, end: int) -> Bracket | None:
    visible = number_seen(content)
    if visible is not None:
        return Bracket(end, seen=visible)
    keys, tail = keys_and_tail(content)
    return Bracket(end, keys, tail) if keys else None


def _endless(window: str, end: int) -> Bracket | None:
    """Return a bracket that has shown nothing in so long a text; what follows may still make it a look-alike."""
    return None if _only_seen(window) else Bracket(end, seen="")


def _shown(source: str) -> str:
    """Return what is visible of a tag, an entity, white space, emphasis, or a character that is not ASCII."""
    if source[0] == "&" and len(source) > 1:
        source = decoded(source) or _UNSEEN  # `&#1;` stands for nothing
    elif source[0] == "<" and len(source) > 1:
        return _UNSEEN
    if source[0].isspace() or source[0] == "_":  # with the signs of a quotation after a line's end; inside a word,
        return " "  # an underscore is seen
    if source[0] in "*`~\\":
        return _UNSEEN
    return "".join(map(_uniform, source))


def _uniform(character: str) -> str:
    """Return a character in its plainest form: `１` and `①` as `1`."""
    if character.isascii():
        return character
    if unicodedata.category(character) in ("Mn", "Me", "Cf") or character in "\u115f\u1160\u3164\uffa0":
        return _UNSEEN
    number = unicodedata.numeric(character, None)
    if number is not None and number == int(number) and unicodedata.category(character) in ("Nd", "No"):
        return str(int(number))
    return unicodedata.normalize("NFKC", character)
