"""The tokens of a file of RTF: braces, control words, bytes in hexadecimal, characters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_TOKEN = re.compile(rb"\\([a-zA-Z]{1,40})(-?\d{1,10})?[ ]?|\\'([0-9a-fA-F]{2})|\\(.)|([{}])|([^\\{}]+)|\\", re.DOTALL)
_LINE_ENDS = b"\r\n\0"


class RtfToken(NamedTuple):
    """`kind` is "{", "}", "word" (with its name and its number, if it has one), "sign", or "bytes"."""

    kind: str
    name: str = ""
    number: int | None = None
    data: bytes = b""


def tokens(data: bytes) -> Iterator[RtfToken]:
    """Yield the tokens of a file; binary data are left out, and so are the ends of lines."""
    position, end = 0, len(data)
    while position < end:
        match = _TOKEN.match(data, position)
        if match is None:
            return
        position = match.end()
        word, number, hexadecimal, sign, brace, text = match.groups()
        if text is not None:
            if plain := text.translate(None, _LINE_ENDS):
                yield RtfToken("bytes", data=plain)
        elif word is not None:
            value = int(number) if number is not None else None
            if word == b"bin":
                position += max(value or 0, 0)
            else:
                yield RtfToken("word", word.decode("ascii"), value)
        elif hexadecimal is not None:
            yield RtfToken("bytes", "hex", data=bytes((int(hexadecimal, 16),)))
        elif brace is not None:
            yield RtfToken(brace.decode("ascii"))
        elif sign is not None:
            yield RtfToken("sign", sign.decode("latin-1"))
