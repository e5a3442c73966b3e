"""Text that every later stage can carry: storage, JSON, a terminal."""

from __future__ import annotations

import re

# Lone surrogates cannot be encoded, NUL ends a string for some readers of SQLite text.
_UNENCODABLE = "\x00\ud800-\udfff"
# Controls drive terminals. Bidirectional controls and tag characters show a reader other text than the model gets.
_INVISIBLE = "\x01-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f"
_BREAKS = "\r\x0b\x85"

# What moves a cursor, colours, or sets a window's title. One without its end takes only its own parameters along, never
# the text after it. Source: ECMA-48, 5.4 and 8.3.89; xterm ends strings with BEL too.
_SEQUENCE = re.compile(
    r"""
      (?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?                                                    # CSI
    | (?:\x1b\]|\x9d)(?:[^\x00-\x1f\x7f-\x9f]*(?:\x07|\x1b\\|\x9c)|[0-9]*;?)           # OSC
    | (?:\x1b[PX^_]|[\x90\x98\x9e\x9f])(?:[^\x00-\x1f\x7f-\x9f]*(?:\x1b\\|\x9c))?      # DCS, SOS, PM, APC
    | \x1b[()*+][0-9A-Za-z]                                                              # character sets
    """,
    re.VERBOSE,
)
_REMNANT = "\x7f"  # removed by `scrub`, so that no scrubbed text has one

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


def strip_sequences(text: str) -> str:
    """`text` without terminal escape sequences, whole: `scrub` takes only the characters that begin them."""
    return _SEQUENCE.sub("", text)


def scrub_marked(text: str) -> tuple[str, str]:
    """`scrub(text)`, and the same with DEL for each character that an escape sequence leaves in it.

    What is found in the second stands at the same offsets in the first, and `one_line` takes the marks out of it.
    """
    clean = scrub(text)
    if not _SEQUENCE.search(text):
        return clean, clean
    pieces, end = [], 0
    for sequence in _SEQUENCE.finditer(text):
        pieces += [scrub(text[end : sequence.start()]), _REMNANT * len(scrub(sequence.group()))]
        end = sequence.end()
    return clean, "".join([*pieces, scrub(text[end:])])


def one_line(text: str, max_chars: int | None = 200) -> str:
    """`text` without escape sequences, scrubbed, its white space collapsed: for titles, headings and labels.

    Longer ones are shortened with an ellipsis, unless `max_chars` is `None`.
    """
    part = text if max_chars is None else text[: 8 * max_chars]
    line = " ".join(scrub(strip_sequences(part)).split())
    return line if max_chars is None or len(line) <= max_chars else line[: max_chars - 1].rstrip() + "…"
