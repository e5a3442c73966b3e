"""The forms of citations and their look-alikes: keys in brackets, words and code; numbers in brackets or superscript.

Each function examines one position of a `Window` and returns a `Decision`.
"""

from __future__ import annotations

import re

from asky.evidence.citations.pieces import (
    CIRCLED,
    CLOSE,
    ENTITY,
    OPEN,
    PARTIAL_ENTITY,
    SUPERSCRIPTS,
    Decision,
    FoundPiece,
    Window,
)
from asky.evidence.citations.tags import TAG_CHARS
from asky.evidence.keys import MAX_DIGITS, MIN_DIGITS

_ENTITY_CHARS = 34
_LABEL_CHARS = 100
_SUPERSCRIPT_CHARS = 64
_KEY_CHARS = 1 + MIN_DIGITS, 1 + MAX_DIGITS

_WORD = re.compile(r"P[0-9a-fA-F]{0,16}")
_KEY = re.compile(r"[Pp][0-9a-fA-F]{4,16}")
_GLUE_BEFORE = tuple("/-=&#@_.")  # a word next to these belongs to a path, an address or a name
_GLUE_AFTER = tuple("/-=&#@_")
_FOOTNOTE = re.compile(rf"\[\^[^\]\[\s]{{1,{_LABEL_CHARS}}}(\]?)(:?)")
_SUPERSCRIPTS = re.compile(rf"⁽?[{SUPERSCRIPTS}]{{1,{_SUPERSCRIPT_CHARS}}}⁾?|[{CIRCLED}]{{1,{_SUPERSCRIPT_CHARS}}}")
_SUPERSCRIPT_TAG = re.compile(r"<sup\b[^<>]*>((?:[^<\n]|<(?!/sup))*)</sup\s*>", re.IGNORECASE)


def word_at(window: Window, at: int) -> Decision:
    """Examine the word that begins with the `P` at `at` and may be a key."""
    match = _WORD.match(window.text, at)
    assert match is not None
    end = match.end()
    if window.lacks(end + 1):
        return None
    before, after = window.character(at - 1), window.character(end)
    alone = not (before.isalnum() or after.isalnum() or before in _GLUE_BEFORE or after in _GLUE_AFTER)
    if alone and _KEY_CHARS[0] <= len(match.group()) <= _KEY_CHARS[1]:
        return FoundPiece("word", end, (_normal(match.group()),))
    return end


def keys_in_code(content: str, end: int) -> FoundPiece | None:
    """Return the citation of a code span that contains keys and nothing else, as some models write one; else `None`.

    `end` is the end of the span.
    """
    if _KEY.fullmatch(content):
        return FoundPiece("word", end, (_normal(content),))
    if content and content[0] in OPEN and content[-1] in CLOSE:
        from asky.evidence.citations.brackets import keys_and_tail  # as in `bracket_at`

        keys, tail = keys_and_tail(content[1:-1], literal=True)
        if keys and not tail:
            return FoundPiece("keys", end, keys)
    return None


def bracket_at(window: Window, at: int, start: int) -> Decision:
    """Examine the bracket that opens at `at` and whose content begins at `start`."""
    from asky.evidence.citations.brackets import read_bracket  # 4 ms of patterns: only for an answer with brackets

    if window.lacks(start + 1):
        return None
    doubled = window.character(start) in OPEN
    bracket = read_bracket(window.text, start + doubled, final=window.is_final)
    if bracket == "unsure":
        return None
    if bracket is None:
        return _footnote(window, at) if window.text.startswith("[^", at) else start
    end = bracket.end + doubled
    if doubled:
        if window.lacks(end):
            return None
        if window.character(end - 1) not in CLOSE:
            return start
    return FoundPiece("keys" if bracket.keys else "number", end, bracket.keys, bracket.tail, bracket.seen)


def _footnote(window: Window, at: int) -> Decision:
    """Examine `[^note]: ...`, which would turn `[^note]` elsewhere into a superscript number."""
    label = _FOOTNOTE.match(window.text, at)
    if label is None or not window.begins_line(at):
        return at + 1
    if window.lacks(label.end() + 1) and not label[2] and label.end() - at < _LABEL_CHARS:
        return None
    return FoundPiece("text", at + 1, seen="\\[") if label[2] else at + 1


def entity_at(window: Window, at: int) -> Decision:
    """Examine the entity at `at`: one may open a bracket or be a superscript number."""
    match = ENTITY.match(window.text, at)
    if match is None:
        partial = PARTIAL_ENTITY.match(window.text, at)
        may_continue = partial is not None and window.lacks(partial.end() + 1) and partial.end() - at < _ENTITY_CHARS
        return None if may_continue else at + 1
    from asky.evidence.citations.brackets import decoded  # as in `bracket_at`

    character = decoded(match.group())
    if character and character in OPEN:
        return bracket_at(window, at, match.end())
    if _SUPERSCRIPTS.fullmatch(character):
        return _superscript_number(window, at, match.end(), character)
    return match.end()


def superscript_tag_at(window: Window, at: int) -> Decision:
    """Examine `<sup>1</sup>`, which may read as a reference."""
    head = window.text[at : at + 4].lower()
    if window.lacks(at + 4) and "<sup".startswith(head):
        return None
    if head != "<sup":
        return at + 1
    match = _SUPERSCRIPT_TAG.match(window.text, at, at + TAG_CHARS)
    if match is None:
        return None if window.lacks(at + TAG_CHARS) else at + 1
    from asky.evidence.citations.brackets import number_seen

    visible = number_seen(match[1])
    return _superscript_number(window, at, match.end(), visible) if visible else at + 1


def superscript_at(window: Window, at: int) -> Decision:
    """Examine a superscript or circled number, which may read as a reference."""
    match = _SUPERSCRIPTS.match(window.text, at)
    if match is None:
        return None if window.lacks(at + 2) else at + 1  # `⁽`, whose number may follow
    return _superscript_number(window, at, match.end(), match.group())


def _superscript_number(window: Window, at: int, end: int, visible: str) -> Decision:
    """Decide about a superscript or circled number; `visible` is the number itself, or its digits."""
    from asky.evidence.citations import superscript_citations  # as in `bracket_at`

    after = window.text[end : end + superscript_citations.AFTER_CHARS]
    if window.lacks(end + superscript_citations.AFTER_CHARS) and not after.strip(superscript_citations.AFTER_WORD):
        return None
    before = window.text[max(0, at - superscript_citations.BEFORE_CHARS) : at]
    reference = superscript_citations.superscript_reference(visible, before, after)
    return FoundPiece("number", end, seen=reference) if reference else end


def _normal(key: str) -> str:
    return "P" + key[1:].lower()
