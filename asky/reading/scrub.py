"""Text that every later stage can carry: storage, JSON, a terminal."""

from __future__ import annotations

import re

# Lone surrogates cannot be encoded, NUL ends a string for some readers of SQLite text.
_UNENCODABLE = "\x00\ud800-\udfff"
# Controls drive terminals. Bidirectional controls and tag characters show a reader other text than the model gets.
_INVISIBLE = "\x01-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f"
_BREAKS = "\r\x0b\x85"

_DIRTY = re.compile(f"[{_UNENCODABLE}{_INVISIBLE}{_BREAKS}]")
_REPLACED = re.compile(f"[{_UNENCODABLE}]")
_REMOVED = re.compile(f"[{_INVISIBLE}]")
_BROKEN = re.compile(f"\r\n|[{_BREAKS}]")


def scrub(text: str) -> str:
    """`text` without what no reader of it can see or carry; scrubbing twice changes nothing more.

    Line ends (CR LF, CR, VT, NEL) become LF. NUL and lone surrogates become U+FFFD. Other C0 and C1 controls (TAB and
    FF stay), bidirectional controls (U+202A-202E, U+2066-2069) and tag characters (U+E0000-E007F) are removed.
    Offsets are always those of scrubbed text, so this runs before anything is located in it.
    """
    if not _DIRTY.search(text):
        return text
    return _REMOVED.sub("", _REPLACED.sub("\ufffd", _BROKEN.sub("\n", text)))


def scrub_in_place(text: str) -> str:
    """`text` scrubbed character for character, so that its offsets stay those of the text that was given.

    NUL and lone surrogates become U+FFFD, and what `scrub` removes becomes a space. Line ends stay as they are. Almost
    every text is returned unchanged.
    """
    return _REMOVED.sub(" ", _REPLACED.sub("\ufffd", text))


def one_line(text: str, max_chars: int = 200) -> str:
    """`text` scrubbed, its white space collapsed, and shortened with an ellipsis: for titles, headings and labels."""
    line = " ".join(scrub(text[: 8 * max_chars]).split())
    return line if len(line) <= max_chars else line[: max_chars - 1].rstrip() + "…"
