"""Plain text of Markdown: the words that a reader sees, without markup."""

from __future__ import annotations

import re

_REFERENCE = re.compile(r"[ \t]?(\*{0,3})(?:\[\^?\d{1,3}(?:[ ]?[,;–-][ ]?\d{1,3})*\]|~~\[[^\[\]~\n]{0,256}\]~~)\1")
_QUOTED_LINE = re.compile(r"\n[ \t]*(?:>[ \t]?)+")
_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\n]*\)")
_TARGET = re.compile(r"\]\(\s*<?([^()\s<>]+)")
_ADDRESS = re.compile(r"<?(?:https?://|www\.)[^\s>]+>?", re.IGNORECASE)
_MAIL_ADDRESS = re.compile(r"<([^\s<>@]{1,80}@[^\s<>@]{1,80})>")
_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,80}>")
_EMPHASIS = re.compile(r"[*`]+|(?<![^\W_])_+|_+(?![^\W_])|~~")

HIDDEN = "\u200b"
"""A character that no search for a quotation sees."""


def plain_text(markdown: str) -> str:
    """Return `without_markup` on one line."""
    return " ".join(without_markup(markdown).split())


def without_markup(markdown: str) -> str:
    """Return `markdown` without emphasis, tags, link targets and bare addresses.

    References are removed too, both the answer's (`[1]`, `[7?]`) and a source's own (`[12]`, `[3, 4]`), so that a
    quotation is the same in both.
    """
    text = _QUOTED_LINE.sub("\n", _REFERENCE.sub("", markdown))
    return _EMPHASIS.sub("", _TAG.sub(" ", _ADDRESS.sub(" ", _LINK.sub(r" \1 ", text))))


def addresses(markdown: str) -> list[str]:
    """Return what `without_markup` leaves out of `markdown` of addresses and link targets, as written."""
    inside = (*_TARGET.finditer(markdown), *_MAIL_ADDRESS.finditer(markdown))
    found = [*(each[1] for each in inside), *(each[0] for each in _ADDRESS.finditer(markdown))]
    return [each.strip("<>").rstrip(".,;:!?)") for each in found]


def masked_markup(markdown: str) -> str:
    """Return `without_markup`, with what it leaves out as characters that no search for a quotation sees.

    The others keep their offsets.
    """
    text = _REFERENCE.sub(_masked, markdown)
    text = _QUOTED_LINE.sub(lambda m: "\n" + HIDDEN * (len(m[0]) - 1), text)
    text = _LINK.sub(
        lambda m: f" {HIDDEN * (m.start(1) - m.start() - 1)}{m[1]} {HIDDEN * (m.end() - m.end(1) - 1)}", text
    )
    for pattern in (_ADDRESS, _TAG):
        text = pattern.sub(lambda m: " " + HIDDEN * (len(m[0]) - 1), text)
    return _EMPHASIS.sub(_masked, text)


def _masked(found: re.Match[str]) -> str:
    return HIDDEN * len(found[0])


def without_links(markdown: str) -> str:
    """Return `markdown` without its links and their texts."""
    return _LINK.sub(" ", markdown)
