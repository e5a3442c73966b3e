"""Response bodies, decoded in bounded memory: at most one gzip layer, and never more than a cap of bytes."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from asky.errors import SourceUnreadable
from asky.net.connection import OpenConnection

_STEP = 1 << 18
_MAX_INFLATION = 100
"""Data that compresses better than this is not text: pages compress 3 to 20 times. Source: RFC 1951, whose limit is
1,032 times.
"""

_PDF = b"%PDF-"
_PDF_WITHIN = 1024
"""The PDF signature must start within so many bytes. Source: implementation note 13 of the PDF Reference 1.7."""


@dataclass(frozen=True, slots=True)
class Caps:
    """Maximum decoded size of a body in bytes: of a PDF, and of anything else."""

    page: int
    pdf: int


@dataclass(frozen=True, slots=True)
class Body:
    """A body. `is_cut` says that there was more, which was not read."""

    data: bytes = field(repr=False)
    is_cut: bool = False


async def read_body(opened: OpenConnection, host: str, caps: Caps) -> Body:
    """Return the decoded body, cut at the cap for pages.

    Raises `SourceUnreadable`: `too_large` for a PDF beyond its cap and for data that inflates beyond one, `truncated`
    for one that ends early, `failed` for an encoding that was not requested or that is damaged.
    """
    collected = _Collected()
    decoder = _Gzip(host) if _is_packed(opened, host) else _Plain()
    async for piece in opened.pieces:
        for part in decoder.decode(piece):
            collected.add(part)
            if collected.size > caps.page and collected.size > _MAX_INFLATION * decoder.used:
                raise SourceUnreadable(
                    f"{host} sent compressed data that expands to more than {_megabytes(caps.page)}",
                    verdict="too_large",
                )
            if collected.is_pdf and collected.size > caps.pdf:
                raise SourceUnreadable(
                    f"{host} sent a PDF of more than {_megabytes(caps.pdf)}",
                    verdict="too_large",
                    hint="raise network.max_pdf_mb",
                )
            if not collected.is_pdf and collected.size > caps.page:
                return Body(collected.join()[: caps.page], is_cut=True)
    decoder.finish()
    return Body(collected.join())


class _Collected:
    """The parts of a body, and whether it is a PDF."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._head = b""
        self.size = 0

    def add(self, part: bytes) -> None:
        self._parts.append(part)
        self.size += len(part)
        if len(self._head) < _PDF_WITHIN:
            self._head += part[:_PDF_WITHIN]

    @property
    def is_pdf(self) -> bool:
        return _PDF in self._head

    def join(self) -> bytes:
        return b"".join(self._parts)


class _Plain:
    used = 0

    def decode(self, piece: bytes) -> Iterator[bytes]:
        self.used += len(piece)
        yield piece

    def finish(self) -> None:
        pass


class _Gzip:
    """A stream of gzip members. Never holds more than one step of decoded bytes; `used` counts the encoded ones."""

    def __init__(self, host: str) -> None:
        self._host = host
        self._member = _new_member()
        self.used = 0
        self._is_done = False

    def decode(self, piece: bytes) -> Iterator[bytes]:
        rest, has_more = piece, False
        while (rest or has_more) and not self._is_done:
            if self._member.eof:
                if not rest.startswith(b"\x1f"):  # no other member, but padding, which gzip(1) ignores too
                    self._is_done = True
                    return
                self._member = _new_member()
            part = self._inflate(rest)
            left = self._member.unused_data if self._member.eof else self._member.unconsumed_tail
            self.used += len(rest) - len(left)
            rest, has_more = left, len(part) == _STEP and not self._member.eof
            if part:
                yield part

    def _inflate(self, data: bytes) -> bytes:
        try:
            return self._member.decompress(data, _STEP)
        except zlib.error:
            raise SourceUnreadable(f"could not read {self._host}: its gzip encoding is damaged") from None

    def finish(self) -> None:
        if self.used and not self._member.eof:
            raise SourceUnreadable(
                f"{self._host} sent only a part of the page", verdict="truncated", hint="try again later"
            )


def _new_member() -> zlib._Decompress:
    return zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)


def _is_packed(opened: OpenConnection, host: str) -> bool:
    values = ",".join(opened.head.headers.get("content-encoding", ())).lower().split(",")
    named = [name for value in values if (name := value.strip()) not in ("", "identity")]
    if not named:
        return False
    if len(named) == 1 and named[0] in ("gzip", "x-gzip"):
        return True
    raise SourceUnreadable(f"could not read {host}: it used an encoding that was not requested")


def _megabytes(size: int) -> str:
    return f"{size / (1 << 20):g} MB"
