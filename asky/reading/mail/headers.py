"""Header fields of mails: words in other charsets, addresses, dates.

Sources: RFC 5322 (fields), RFC 2047 (encoded words), RFC 2231 (parameters).
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Callable
from datetime import datetime
from email.utils import getaddresses, parsedate_to_datetime

from asky.reading.mail.charsets import Charsets

MONTHS = tuple(
    "January February March April May June July August September October November December".split()  # noqa: SIM905
)

_VALUE_CHARS = 20_000  # of one field: some have hundreds of addresses
_WORD = re.compile(r"=\?([^?\s]{1,75})\?([bBqQ])\?([^?]*)\?=")
_QUOTED_BYTE = re.compile(rb"=([0-9A-Fa-f]{2})")
_COMMENT = re.compile(r"\([^()]*\)")


def decoded(value: str, charsets: Charsets) -> str:
    """Return a field on one line, its encoded words decoded.

    Words that stand beside each other in one charset are decoded together: some programs split a character between
    them.
    """
    value = value[:_VALUE_CHARS]
    pieces: list[str] = []
    run: list[bytes] = []
    charset, end = "", 0
    for word in _WORD.finditer(value):
        between = value[end : word.start()]
        name = word[1].partition("*")[0].lower()  # RFC 2231, 5: a language may follow
        if run and (between.strip() or name != charset):
            pieces.append(charsets.text(b"".join(run), charset))
            run = []
        if between.strip() or not end:
            pieces.append(between)
        run.append(_word_bytes(word[2], word[3]))
        charset, end = name, word.end()
    if run:
        pieces.append(charsets.text(b"".join(run), charset))
    return " ".join("".join([*pieces, value[end:]]).split())


def _word_bytes(kind: str, text: str) -> bytes:
    data = text.encode("utf-8", "replace")
    if kind in "bB":
        return base64_bytes(data)
    return _QUOTED_BYTE.sub(lambda match: bytes([int(match[1], 16)]), data.replace(b"_", b" "))


_OUTSIDE_BASE64 = bytes(set(range(256)) - set(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"))


def base64_bytes(data: bytes) -> bytes:
    """Return what base64 says, as far as it goes: strays are left out, and an incomplete group at the end."""
    kept = data.translate(None, _OUTSIDE_BASE64)
    if len(kept) % 4 == 1:
        kept = kept[:-1]
    return binascii.a2b_base64(kept + b"=" * (-len(kept) % 4))


_ID = re.compile(r"<[^<>\s]{1,500}>")
_CONVERSATION_BYTES = 22  # of a conversation index; each answer adds 5 (MS-OXOMSG, 2.2.1.3)


def thread_of(references: str, answered: str, index: bytes) -> tuple[tuple[str, ...], str]:
    """Return the ids of the mails that one answers, the last one first, and that of its thread, "" if it says none.

    A thread is called by its first mail, that is the first of `References`, else the one in `In-Reply-To`, else by what
    Outlook calls a conversation, the beginning of its index.
    """
    before = _ID.findall(f"{references} {answered}")
    named = index[:_CONVERSATION_BYTES].hex() if len(index) >= _CONVERSATION_BYTES else ""
    return tuple(dict.fromkeys(reversed(before))), before[0] if before else named


def addresses(value: str, decode: Callable[[str], str]) -> list[tuple[str, str]]:
    """Return the names and addresses of a field, decoded after it was parsed: an encoded name may have a comma."""
    try:
        found = getaddresses([value[:_VALUE_CHARS]])
    except (ValueError, IndexError, TypeError, AttributeError):
        return []
    return [(decode(name), address.strip()) for name, address in found if name or address]


def time_of(value: str) -> datetime | None:
    """Return the time that a field such as `Date` states, in the zone it is written in."""
    try:
        return parsedate_to_datetime(_COMMENT.sub("", value[:200]).strip())
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def day_of(time: datetime) -> str:
    """Return a day in words: `2 March 2026`."""
    return f"{time.day} {MONTHS[time.month - 1]} {time.year}"
