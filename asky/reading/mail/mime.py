"""The parts of a message: split at their boundaries, each with its header fields and its bytes.

Sources: RFC 2045 (fields and encodings), RFC 2046 (parts). The fields are parsed by the standard library; the parts are
split here, because its parser compares each line with the boundary of each level: time grows with depth times size.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.message import Message
from email.parser import HeaderParser

from asky.reading.mail.charsets import Charsets
from asky.reading.mail.headers import base64_bytes, decoded

_HEAD_BYTES = 256 * 1024
"""Header lines of a part that are read; real ones have up to 30 KiB."""
MAX_PARTS = 1_000
"""The most parts of a message that are read."""
_MAX_LEVELS = 30  # of parts in parts; a mail that was forwarded and signed several times has 8

_HEAD_END = re.compile(rb"\r?\n(?:\r?\n|\Z)")
_CHARSET = re.compile(rb"charset\s*=\s*[\"']?([\w.:-]{1,60})", re.IGNORECASE)
_SOME_BOUNDARY = re.compile(rb"(?:\A|\n)--([^\s-][^\r\n]{0,199}?)[ \t]*\r?\n(?=[Cc]ontent-)")
_UU_LINES = re.compile(rb"begin [0-7]{3,4} [^\n]*\n")


@dataclass(slots=True)
class PartBudget:
    """What is left to read of one message, and what of it was not read: `(part, reason)`."""

    parts: int = MAX_PARTS
    unread: list[tuple[str, str]] = field(default_factory=list)


@dataclass(slots=True)
class MimePart:
    """A part: its fields, its type (`text/plain`), its bytes as transferred, and the parts in it."""

    head: Message
    media_type: str
    body: bytes
    parts: list[MimePart]

    def value(self, name: str) -> str:
        """Return a header field as written, unfolded; "" if there is none."""
        return " ".join(str(self.head.get(name) or "").split())

    def parameter(self, name: str, header: str = "content-type") -> str:
        """Return a parameter of a header field; "" if there is none."""
        try:
            found = self.head.get_param(name, "", header)
        except (ValueError, IndexError, TypeError, AttributeError):
            return ""
        return str(found[2] if isinstance(found, tuple) else found or "")

    @property
    def charset(self) -> str:
        """Return the charset that is declared."""
        return self.parameter("charset")

    @property
    def disposition(self) -> str:
        """Return `inline`, `attachment` or ""."""
        return self.value("content-disposition").partition(";")[0].strip().lower()

    def file_name(self, charsets: Charsets) -> str:
        """Return the name of the file that the part is, without a folder; "" if it has none."""
        try:
            name = self.head.get_filename("") or ""
        except (ValueError, IndexError, TypeError, AttributeError):
            return ""
        return decoded(str(name), charsets).replace("\\", "/").rpartition("/")[2].strip()

    def data(self) -> bytes:
        """Return the bytes that were transferred, as far as their encoding is sound."""
        encoding = self.value("content-transfer-encoding").lower()
        if encoding == "base64":
            return base64_bytes(self.body)
        if encoding == "quoted-printable":
            return binascii.a2b_qp(self.body)
        if encoding in ("x-uuencode", "uuencode", "x-uue"):
            return uu_bytes(self.body)
        return self.body


def parse(
    data: bytes, charsets: Charsets, budget: PartBudget, *, level: int = 0, default: str = "text/plain"
) -> MimePart:
    """Return a part with the parts in it; those beyond the limits are named in `budget.unread`. Linear time."""
    head, body = _head(data, charsets, budget)
    media_type = head.get_content_type() if head.get("content-type") else default
    part = MimePart(head, media_type, body, [])
    if not media_type.startswith("multipart/"):
        return part
    if level >= _MAX_LEVELS:
        budget.unread.append(("inner parts", "too deep within other parts"))
        part.media_type, part.body = "application/x-skipped", b""
        return part
    inside = "message/rfc822" if media_type == "multipart/digest" else "text/plain"
    found = list(_split(body, part.parameter("boundary")))
    if not found:
        part.media_type = "text/plain"  # the text of a message whose parts cannot be told apart
        return part
    kept = found[: max(0, budget.parts)]
    budget.parts -= len(kept)
    if len(found) > len(kept):
        budget.unread.append((f"{len(found) - len(kept):,} more parts", f"only {MAX_PARTS:,} are read"))
    part.body = b""
    part.parts = [parse(body[a:b], charsets, budget, level=level + 1, default=inside) for a, b in kept]
    return part


def leaves(part: MimePart) -> list[MimePart]:
    """Return the parts within a part that have no parts, in order; the part itself if it has none."""
    return [leaf for each in part.parts for leaf in leaves(each)] if part.parts else [part]


def _head(data: bytes, charsets: Charsets, budget: PartBudget) -> tuple[Message, bytes]:
    """Return the header fields and the bytes below them."""
    first_line = data[:2].lstrip(b"\r")
    if first_line[:1] == b"\n":
        return Message(), data[data.index(b"\n") + 1 :]
    end = _HEAD_END.search(data)
    head, body = (data[: end.start() + 1], data[end.end() :]) if end else (data, b"")
    if len(head) > _HEAD_BYTES:
        cut = head.rfind(b"\n", 0, _HEAD_BYTES) + 1 or _HEAD_BYTES
        budget.unread.append((f"{head.count(10, cut):,} header lines", "too many"))
        head = head[:cut]
    declared = _CHARSET.search(head)
    text = charsets.text(head, None, declared[1].decode("ascii") if declared else None)
    message = HeaderParser().parsestr(text)
    rest = message.get_payload()  # lines that are no fields: the blank line above the text is missing
    if isinstance(rest, str) and rest.strip():
        body = rest.encode("utf-8", "replace") + b"\n" + body
    return message, body


def _split(body: bytes, boundary: str) -> Iterator[tuple[int, int]]:
    """Yield where the parts begin and end; without its boundary, by the first line that looks like one."""
    marker = b"--" + boundary.encode("utf-8", "replace")
    if not boundary or marker not in body:
        guessed = _SOME_BOUNDARY.search(body)
        if guessed is None:
            return
        marker = b"--" + guessed[1]
    start = -1
    at = body.find(marker)
    while at >= 0:
        line_end = body.find(b"\n", at)
        line_end = len(body) if line_end < 0 else line_end
        after = body[at + len(marker) : min(line_end, at + len(marker) + 80)].strip()
        if (at == 0 or body[at - 1] == 10) and (not after or after == b"--"):
            if start >= 0:
                yield start, max(start, at - (2 if body[at - 2 : at - 1] == b"\r" else 1))
            start = line_end + 1
            if after:
                return
        at = body.find(marker, max(line_end, at + 1))
    if 0 <= start < len(body):
        yield start, len(body)


def uu_bytes(data: bytes) -> bytes:
    """Return what uuencoded lines say, with or without their `begin` and `end`."""
    begin = _UU_LINES.search(data)
    pieces = []
    for line in data[begin.end() if begin else 0 :].split(b"\n"):
        if line.strip() in (b"end", b"`"):
            break
        try:
            pieces.append(binascii.a2b_uu(line.rstrip(b"\r")))
        except binascii.Error:
            continue
    return b"".join(pieces)
