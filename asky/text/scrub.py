"""Text that every later stage can carry: storage, JSON, a terminal."""

from __future__ import annotations

import re

from asky.text.invisible import STRAY, UNSEEN, pattern_of_dirt, stand_in

# Lone surrogates cannot be encoded, NUL ends a string for some readers of SQLite text.
_UNENCODABLE = "\x00\ud800-\udfff"
# They drive terminals.
_CONTROLS = "\x01-\x08\x0e-\x1f\x7f-\x84\x86-\x9f"
_BREAKS = "\r\x0b\x85"
_SOFT_HYPHEN = "\u00ad"

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

_DIRTY_ASCII = re.compile("[\x00-\x08\x0b\r\x0e-\x1f\x7f]")
_DIRTY = pattern_of_dirt(f"{_UNENCODABLE}{_CONTROLS}{_BREAKS}")
_REPLACED = re.compile(f"[{_UNENCODABLE}]")
_CONTROL = re.compile(f"[{_CONTROLS}]")
_UNSEEN = re.compile(f"[{UNSEEN}]")
_BROKEN = re.compile(f"\r\n|[{_BREAKS}]")


def scrub(text: str) -> str:
    """`text` without what no reader of it can see or carry; scrubbing twice changes nothing more.

    Line ends (CR LF, CR, VT, NEL) become LF. NUL and lone surrogates become U+FFFD. Other C0 and C1 controls are
    removed (TAB and FF stay), and so is each invisible character that the script around it does not need, soft hyphens
    included; see `asky.text.invisible`.
    Offsets are always those of scrubbed text, so this runs before anything is located in it.
    """
    return scrub_counted(text)[0]


def scrub_counted(text: str) -> tuple[str, int]:
    """`scrub(text)`, and how many invisible characters went: many are a message to somebody else than the reader.

    Soft hyphens, which typesetting leaves behind, do not count.
    """
    if _is_clean(text):
        return text, 0
    settled = _settle(text)
    if settled.isascii():
        return settled, 0
    steady, unseen = _UNSEEN.subn("", settled)
    clean, strays = STRAY.subn(stand_in, steady)
    return clean, unseen + strays - steady.count(_SOFT_HYPHEN)


def scrub_in_place(text: str) -> str:
    """`text` scrubbed character for character, so that its offsets stay those of the text that was given.

    NUL and lone surrogates become U+FFFD, and what `scrub` removes becomes a space. Line ends stay as they are, and so
    do soft hyphens: a space would cut their word in two. Almost every text is returned unchanged.
    """
    if _is_clean(text):
        return text
    blanked = _UNSEEN.sub(" ", _CONTROL.sub(" ", _REPLACED.sub("\ufffd", text)))
    return STRAY.sub(lambda stray: _SOFT_HYPHEN if stray[0] == _SOFT_HYPHEN else " ", blanked)


def strip_sequences(text: str) -> str:
    """`text` without terminal escape sequences, whole: `scrub` takes only the characters that begin them."""
    return _SEQUENCE.sub("", text)


def scrub_marked(text: str) -> tuple[str, str]:
    """`scrub(text)`, and the same with DEL for each character that an escape sequence leaves in it.

    What is found in the second stands at the same offsets in the first, and `one_line` takes the marks out of it.
    """
    if not _SEQUENCE.search(text):
        clean = scrub(text)
        return clean, clean
    pieces, end = [], 0
    for sequence in _SEQUENCE.finditer(text):
        pieces += [_steady(text[end : sequence.start()]), _REMNANT * len(_steady(sequence.group()))]
        end = sequence.end()
    return _without_strays(_steady(text), "".join([*pieces, _steady(text[end:])]))


def one_line(text: str, max_chars: int | None = 200) -> str:
    """`text` without escape sequences, scrubbed, its white space collapsed: for titles, headings and labels.

    Longer ones are shortened with an ellipsis, unless `max_chars` is `None`.
    """
    part = text if max_chars is None else text[: 8 * max_chars]
    line = " ".join(scrub(strip_sequences(part)).split())
    return line if max_chars is None or len(line) <= max_chars else line[: max_chars - 1].rstrip() + "…"


def _is_clean(text: str) -> bool:
    return (_DIRTY_ASCII if text.isascii() else _DIRTY).search(text) is None


def _settle(text: str) -> str:
    """`text` with its line ends and controls scrubbed."""
    return _CONTROL.sub("", _REPLACED.sub("\ufffd", _BROKEN.sub("\n", text)))


def _steady(text: str) -> str:
    """`text` scrubbed of what goes wherever it stands."""
    return _UNSEEN.sub("", _settle(text))


def _without_strays(clean: str, marked: str) -> tuple[str, str]:
    """Both texts without the strays of the first, whose neighbours may be marked in the second."""
    kept: tuple[list[str], list[str]] = ([], [])
    end = 0
    for stray in STRAY.finditer(clean):
        for text, pieces in zip((clean, marked), kept, strict=True):
            pieces += [text[end : stray.start()], stand_in(stray)]
        end = stray.end()
    return "".join([*kept[0], clean[end:]]), "".join([*kept[1], marked[end:]])
