"""Signs of fonts of pictures: what Wingdings, Webdings and Symbol draw for a character is read, not its code."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from asky.reading.office.word.symbols import sign

_PICTORIAL = re.compile(r"font-family:[^;\"]{0,60}(?:wingdings|webdings)", re.IGNORECASE)
_PRIVATE = re.compile(r"[\uf000-\uf0ff]")
_FONTS = (
    (re.compile(r"wingdings[\s_-]?2", re.IGNORECASE), "wingdings 2"),
    (re.compile(r"wingdings[\s_-]?3", re.IGNORECASE), "wingdings 3"),
    (re.compile(r"wingdings", re.IGNORECASE), "wingdings"),
    (re.compile(r"webdings", re.IGNORECASE), "webdings"),
    (re.compile(r"symbol", re.IGNORECASE), "symbol"),
)
_CODES = 0x100  # what lies above is a character already
_BULLETS = frozenset("•▪●■◆❖➢❑❒◦→➔")
BULLET = "-"


def may_have_signs(texts: str, html: str) -> bool:
    """Return whether a page may have signs: `texts` are its lines, `html` is the page as MuPDF writes it."""
    return _PRIVATE.search(texts) is not None or _PICTORIAL.search(html) is not None


def sign_lines(blocks: Sequence[Mapping[str, Any]]) -> dict[int, str]:
    """Return the texts of the lines with signs, by their number on the page.

    A sign at the beginning of a line that only marks an item is a bullet; a box to tick, ticked or not, stays. A
    picture that no word stands for is left out, unless it is such a mark.
    """
    found: dict[int, str] = {}
    lines = (line for block in blocks for line in block.get("lines", ()))
    for number, line in enumerate(lines):
        pieces: list[tuple[str, bool]] = []  # with whether it is a sign, which stands apart
        for span in line["spans"]:
            text, font = span["text"], _font(span["font"])
            shown = "".join(_shown(each, font) for each in text) if font or _PRIVATE.search(text) else text
            is_first = not any(piece.strip() for piece, _ in pieces)
            is_sign = shown != text and (font != "symbol" or is_first)
            pieces.append((_as_mark(shown, text) if is_sign and is_first else shown, is_sign))
        written = _joined(pieces)
        if written != "".join(span["text"] for span in line["spans"]):
            found[number] = written
    return found


def _joined(pieces: Sequence[tuple[str, bool]]) -> str:
    written, was_sign = "", False
    for piece, is_sign in pieces:
        is_close = bool(written) and not written[-1].isspace() and not piece[:1].isspace()
        written += f" {piece}" if is_close and (is_sign or was_sign) else piece
        was_sign = is_sign
    return written


def _font(name: str) -> str:
    return next((font for pattern, font in _FONTS if pattern.search(name)), "")


def _shown(character: str, font: str) -> str:
    place = ord(character)
    if 0xF000 <= place < 0xF000 + _CODES:
        return sign(f"{place:x}", font) if font else character
    if font in ("", "symbol") or place >= _CODES or character.isspace():
        return character
    return sign(f"{place:x}", font)


def _as_mark(shown: str, text: str) -> str:
    """Return the beginning of a line whose first character is a sign: a bullet, or what it shows."""
    rest = shown.lstrip()
    if len(rest) < len(text.lstrip()):
        return f"{BULLET} {rest}" if rest else BULLET
    return BULLET + rest[1:] if rest[0] in _BULLETS else rest
