"""Cleaning of text for every later stage: storage, JSON, a terminal."""

from __future__ import annotations

import re

from asky.text.invisible import UNSEEN, stand_in, unneeded

# Lone surrogates cannot be encoded; NUL ends a string for some readers of SQLite text.
_UNENCODABLE = "\x00\ud800-\udfff"
# They control terminals.
_CONTROLS = "\x01-\x08\x0e-\x1f\x7f-\x84\x86-\x9f"
_BREAKS = "\r\x0b\x85"
_SOFT_HYPHEN = "\u00ad"

# Sequences that move the cursor, set colours or a window title. An unterminated one removes only its own parameters,
# never the text after it. Source: ECMA-48, 5.4 and 8.3.89; xterm ends strings with BEL too.
_SEQUENCE = re.compile(
    r"""
      (?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?                                                    # CSI
    | (?:\x1b\]|\x9d)(?:[^\x00-\x1f\x7f-\x9f]*(?:\x07|\x1b\\|\x9c)|[0-9]*;?)           # OSC
    | (?:\x1b[PX^_]|[\x90\x98\x9e\x9f])(?:[^\x00-\x1f\x7f-\x9f]*(?:\x1b\\|\x9c))?      # DCS, SOS, PM, APC
    | \x1b[()*+][0-9A-Za-z]                                                              # character sets
    """,
    re.VERBOSE,
)
_REMNANT = "\x7f"  # removed by `scrub`, so that no scrubbed text contains one

_DIRTY_ASCII = re.compile("[\x00-\x08\x0b\r\x0e-\x1f\x7f]")
_DIRT = f"{_UNENCODABLE}{_CONTROLS}{_BREAKS}"
_REPLACED = re.compile(f"[{_UNENCODABLE}]")
_CONTROL = re.compile(f"[{_CONTROLS}]")
_UNSEEN = re.compile(f"[{UNSEEN}]")
_BROKEN = re.compile(f"\r\n|[{_BREAKS}]")


def scrub(text: str) -> str:
    """Return `text` without characters that are invisible or cannot be stored; idempotent.

    Line ends (CR LF, CR, VT, NEL) become LF. NUL and lone surrogates become U+FFFD. Other C0 and C1 controls are
    removed (TAB and FF stay), and so is each invisible character that the surrounding script does not need, including
    soft hyphens; see `asky.text.invisible`. Offsets are always those of scrubbed text, so this runs before anything is
    located in it.
    """
    return scrub_counted(text)[0]


def plain_query(text: str) -> str:
    """Return a search query on one line, without terminal sequences and invisible characters."""
    return " ".join(scrub(strip_sequences(text)).split())


def scrub_counted(text: str) -> tuple[str, int]:
    """Return `scrub(text)`, and the number of invisible characters removed: many of them are a hidden message.

    Soft hyphens, which typesetting leaves behind, do not count.
    """
    if _is_clean(text):
        return text, 0
    without_controls = _clean_controls(text)
    if without_controls.isascii():
        return without_controls, 0
    visible, unseen = _UNSEEN.subn("", without_controls)
    clean, strays = unneeded().subn(stand_in, visible)
    return clean, unseen + strays - visible.count(_SOFT_HYPHEN)


def scrub_in_place(text: str) -> str:
    """Return `text` scrubbed character for character, so that offsets are preserved.

    NUL and lone surrogates become U+FFFD, and characters that `scrub` removes become a space. Line ends are unchanged,
    and so are soft hyphens: a space would split their word. Almost every text is returned unchanged.
    """
    if _is_clean(text):
        return text
    blanked = _UNSEEN.sub(" ", _CONTROL.sub(" ", _REPLACED.sub("\ufffd", text)))
    return unneeded().sub(lambda found: _SOFT_HYPHEN if found[0] == _SOFT_HYPHEN else " ", blanked)


def strip_sequences(text: str) -> str:
    """Return `text` without whole terminal escape sequences: `scrub` removes only the characters that begin them."""
    return _SEQUENCE.sub("", text)


def scrub_marked(text: str) -> tuple[str, str]:
    """Return `scrub(text)`, and the same with DEL for each remaining character of an escape sequence.

    Matches in the second have the same offsets in the first, and `one_line` removes the marks.
    """
    if not _SEQUENCE.search(text):
        clean = scrub(text)
        return clean, clean
    pieces, end = [], 0
    for sequence in _SEQUENCE.finditer(text):
        pieces += [_without_unseen(text[end : sequence.start()]), _REMNANT * len(_without_unseen(sequence.group()))]
        end = sequence.end()
    return _without_strays(_without_unseen(text), "".join([*pieces, _without_unseen(text[end:])]))


def one_line(text: str, max_chars: int | None = 200) -> str:
    """Return `text` scrubbed, without escape sequences and with collapsed white space: for titles, headings and labels.

    Longer ones are shortened with an ellipsis, unless `max_chars` is `None`.
    """
    part = text if max_chars is None else text[: 8 * max_chars]
    line = " ".join(scrub(strip_sequences(part)).split())
    return line if max_chars is None or len(line) <= max_chars else line[: max_chars - 1].rstrip() + "…"


def _is_clean(text: str) -> bool:
    return (_DIRTY_ASCII if text.isascii() else unneeded(_DIRT)).search(text) is None


def _clean_controls(text: str) -> str:
    """Return `text` with its line ends and controls scrubbed."""
    return _CONTROL.sub("", _REPLACED.sub("\ufffd", _BROKEN.sub("\n", text)))


def _without_unseen(text: str) -> str:
    """Return `text` without the characters that are removed in any context."""
    return _UNSEEN.sub("", _clean_controls(text))


def _without_strays(clean: str, marked: str) -> tuple[str, str]:
    """Return both texts without the strays of the first, whose neighbours may be marked in the second."""
    kept: tuple[list[str], list[str]] = ([], [])
    end = 0
    for found in unneeded().finditer(clean):
        for text, pieces in zip((clean, marked), kept, strict=True):
            pieces += [text[end : found.start()], stand_in(found)]
        end = found.end()
    return "".join([*kept[0], clean[end:]]), "".join([*kept[1], marked[end:]])
