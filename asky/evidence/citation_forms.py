"""The forms in which an answer cites, or seems to: keys in brackets, words and code, and numbers in brackets or raised.

Each is looked for at one place of a `Window`, and told as a `Decision`.
"""

from __future__ import annotations

import re

from asky.evidence.keys import MAX_DIGITS, MIN_DIGITS
from asky.evidence.pieces import Decision, Found
from asky.evidence.signs import BEGUN_ENTITY, CIRCLED, CLOSE, ENTITY, OPEN, SUPERSCRIPTS
from asky.evidence.tags import TAG_CHARS
from asky.evidence.window import Window

_ENTITY_CHARS = 34
_LABEL_CHARS = 100
_RAISED_CHARS = 64
_KEY_CHARS = 1 + MIN_DIGITS, 1 + MAX_DIGITS

_WORD = re.compile(r"P[0-9a-fA-F]{0,16}")
_KEY = re.compile(r"[Pp][0-9a-fA-F]{4,16}")
_GLUE_BEFORE = tuple("/-=&#@_.")  # a word next to these is part of a path, an address or a name
_GLUE_AFTER = tuple("/-=&#@_")
_FOOTNOTE = re.compile(rf"\[\^[^\]\[\s]{{1,{_LABEL_CHARS}}}(\]?)(:?)")
_RAISED = re.compile(rf"⁽?[{SUPERSCRIPTS}]{{1,{_RAISED_CHARS}}}⁾?|[{CIRCLED}]{{1,{_RAISED_CHARS}}}")
_SUPERSCRIPT = re.compile(r"<sup\b[^<>]*>((?:[^<\n]|<(?!/sup))*)</sup\s*>", re.IGNORECASE)


def word_at(window: Window, at: int) -> Decision:
    """The word that begins with the `P` at `at`, where it may be a key."""
    match = _WORD.match(window.text, at)
    assert match is not None
    end = match.end()
    if window.lacks(end + 1):
        return None
    before, after = window.character(at - 1), window.character(end)
    alone = not (before.isalnum() or after.isalnum() or before in _GLUE_BEFORE or after in _GLUE_AFTER)
    if alone and _KEY_CHARS[0] <= len(match.group()) <= _KEY_CHARS[1]:
        return Found("word", end, (_normal(match.group()),))
    return end


def keys_in_code(content: str, end: int) -> Found | None:
    """What a code span with this `content` cites, if it holds keys and nothing else, as some models write a citation.

    `end` is where the span ends.
    """
    if _KEY.fullmatch(content):
        return Found("word", end, (_normal(content),))
    if content and content[0] in OPEN and content[-1] in CLOSE:
        from asky.evidence.brackets import keys_and_tail  # as in `bracket_at`

        keys, tail = keys_and_tail(content[1:-1], literal=True)
        if keys and not tail:
            return Found("keys", end, keys)
    return None


def bracket_at(window: Window, at: int, start: int) -> Decision:
    """The bracket that opens at `at` and whose content begins at `start`."""
    from asky.evidence.brackets import read_bracket  # 4 ms of patterns: only for an answer with brackets

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
    return Found("keys" if bracket.keys else "number", end, bracket.keys, bracket.tail, bracket.seen)


def _footnote(window: Window, at: int) -> Decision:
    """`[^note]: ...`, which would turn `[^note]` elsewhere into a raised number."""
    label = _FOOTNOTE.match(window.text, at)
    if label is None or not window.begins_line(at):
        return at + 1
    if window.lacks(label.end() + 1) and not label[2] and label.end() - at < _LABEL_CHARS:
        return None
    return Found("text", at + 1, seen="\\[") if label[2] else at + 1


def entity_at(window: Window, at: int) -> Decision:
    """What the `&` at `at` begins: an entity that opens a bracket or is a raised number, or neither."""
    match = ENTITY.match(window.text, at)
    if match is None:
        begun = BEGUN_ENTITY.match(window.text, at)
        may_come = begun is not None and window.lacks(begun.end() + 1) and begun.end() - at < _ENTITY_CHARS
        return None if may_come else at + 1
    from asky.evidence.brackets import decoded  # as in `bracket_at`

    character = decoded(match.group())
    if character and character in OPEN:
        return bracket_at(window, at, match.end())
    if _RAISED.fullmatch(character):
        return _raised_number(window, at, match.end(), character)
    return match.end()


def superscript_at(window: Window, at: int) -> Decision:
    """`<sup>1</sup>` if it reads as a reference."""
    head = window.text[at : at + 4].lower()
    if window.lacks(at + 4) and "<sup".startswith(head):
        return None
    if head != "<sup":
        return at + 1
    match = _SUPERSCRIPT.match(window.text, at, at + TAG_CHARS)
    if match is None:
        return None if window.lacks(at + TAG_CHARS) else at + 1
    from asky.evidence.brackets import number_seen

    said = number_seen(match[1])
    return _raised_number(window, at, match.end(), said) if said else at + 1


def raised_at(window: Window, at: int) -> Decision:
    """A raised or circled number, if it reads as a reference."""
    match = _RAISED.match(window.text, at)
    if match is None:
        return None if window.lacks(at + 2) else at + 1  # `⁽`, and its number may still come
    return _raised_number(window, at, match.end(), match.group())


def _raised_number(window: Window, at: int, end: int, said: str) -> Decision:
    """A raised or circled number; `said` is that, or digits."""
    from asky.evidence.raised import AFTER_CHARS, AFTER_WORD, BEFORE_CHARS, raised_reference  # as in `bracket_at`

    after = window.text[end : end + AFTER_CHARS]
    if window.lacks(end + AFTER_CHARS) and not after.strip(AFTER_WORD):
        return None
    reference = raised_reference(said, window.text[max(0, at - BEFORE_CHARS) : at], after)
    return Found("number", end, seen=reference) if reference else end


def _normal(key: str) -> str:
    return "P" + key[1:].lower()
