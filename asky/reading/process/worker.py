"""The child process that reads files: `python -m asky.reading.process.worker MEMORY_BYTES`, frames on stdin and stdout.

It starts with the standard library alone and imports a parser when the first file needs it. It cannot write files,
start processes or use more memory than it was given, and ends when its parent closes the pipe.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from asky.errors import SourceUnreadable
from asky.reading.charset import decode, is_declarable
from asky.reading.formats import FORMATS
from asky.reading.limits import MIB, OMITTED
from asky.reading.process.frames import PREFIX, head_of, pack_document
from asky.values import Document

_LINE_CHARS = 2_000  # how far back from a cut the end of a line is searched for


def main() -> None:
    """Answer requests until the pipe is closed."""
    requests, replies = take_pipes()
    _confine(int(sys.argv[1]))
    while _serve(requests, replies):
        pass


def _serve(requests: BinaryIO, replies: BinaryIO) -> bool:
    """Answer one request; return `False` if the pipe is closed. A function, so that no file outlives its reply."""
    request = _receive(requests)
    if request is None:
        return False
    header, data = request
    _allow_cpu(header["cpu_s"])
    reply, payload = _answer(header, data)
    reply["peak_bytes"] = _peak_bytes()
    replies.write(head_of(reply, len(payload)))
    replies.write(payload)
    replies.flush()
    return True


def take_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Return the pipes to the parent, out of reach of libraries that print or read."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.close(nothing)
    return requests, replies


def _confine(memory_bytes: int) -> None:
    sys.dont_write_bytecode = True
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when a child ends
    limits = {
        resource.RLIMIT_AS: memory_bytes,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_NPROC: 0,
    }
    for limit, value in limits.items():
        _limit(limit, value, value)


def _allow_cpu(seconds: int) -> None:
    """Allow this process `seconds` more of CPU time; the system ends it after that."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(used.ru_utime + used.ru_stime) + 1 + seconds
    _limit(resource.RLIMIT_CPU, soft, resource.getrlimit(resource.RLIMIT_CPU)[1])


def _limit(limit: int, soft: int, hard: int) -> None:
    ceiling = resource.getrlimit(limit)[1]
    if ceiling != resource.RLIM_INFINITY:
        soft = min(soft, ceiling)
        hard = ceiling if hard == resource.RLIM_INFINITY else min(hard, ceiling)
    try:
        resource.setrlimit(limit, (soft, hard))
    except (OSError, ValueError):
        return  # a system without this limit; the parent's timeout still applies


def _receive(requests: BinaryIO) -> tuple[dict[str, Any], bytes] | None:
    prefix = requests.read(PREFIX.size)
    if len(prefix) < PREFIX.size:
        return None
    header_bytes, payload_bytes = PREFIX.unpack(prefix)
    header = json.loads(requests.read(header_bytes))
    data = requests.read(payload_bytes)
    return (header, data) if len(data) == payload_bytes else None


def _answer(header: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    name = header["name"]
    try:
        return pack_document(
            read(
                data,
                name=name,
                media_type=header["media_type"],
                max_chars=header["max_chars"],
                url=header["url"],
                charset=header["charset"],
                keep_chars=header["keep_chars"],
                recognise=header["recognise"],
            )
        )
    except SourceUnreadable as error:
        reply = {"verdict": error.verdict, "message": error.message, "hint": error.hint}
        return {**reply, "scanned_pages": error.scanned_pages}, b""
    except MemoryError:
        return {
            "verdict": "failed",
            "message": f"{name}: reading it needs more than {_memory_mib()}",
            "hint": None,
        }, b""
    except Exception as error:  # noqa: BLE001 - a parser can fail in any way on a hostile file; it costs that file only
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        return {"verdict": "failed", "message": f"{name}: the parser failed ({reason})", "hint": None}, b""


def read(
    data: bytes,
    *,
    name: str,
    media_type: str,
    max_chars: int,
    url: str | None = None,
    charset: str | None = None,
    keep_chars: int | None = None,
    recognise: bool = False,
) -> Document:
    """Return the document in `data`, read in this process. Raises SourceUnreadable, and whatever a parser raises.

    `recognise` is for the formats whose reader counts scanned pages.
    """
    row = next((row for row in FORMATS if row.media_type == media_type), None)
    if row is None:
        raise SourceUnreadable(f"{name}: no reader for {media_type}", verdict="unsupported")
    if charset is not None and not row.magic and is_declarable(charset):
        data = decode(data, charset).encode("utf-8", "replace")
    origin = (url,) if row.links else ()
    how = {"recognise": True} if recognise else {}
    document: Document = getattr(importlib.import_module(row.module), row.function)(data, name, *origin, **how)
    if not document.text.strip():
        raise SourceUnreadable(f"{name}: no text in it", verdict="empty")
    if keep_chars is not None and len(document.text) > keep_chars:
        document = _beginning(document, keep_chars)
    if len(document.text) > max_chars:
        raise SourceUnreadable(
            f"{name}: {len(document.text):,} characters of text, the limit is {max_chars:,}", verdict="too_large"
        )
    return document


def _beginning(document: Document, chars: int) -> Document:
    """Return at most `chars` characters of a document, up to a line end if one is near, with the structure within."""
    end = document.text.rfind("\n", max(0, chars - _LINE_CHARS), chars)
    end = end if end > 0 else chars
    return replace(
        document,
        text=document.text[:end],
        sections=tuple(replace(each, end=min(each.end, end)) for each in document.sections if each.start < end),
        pages=tuple(replace(each, end=min(each.end, end)) for each in document.pages if each.start < end),
        links=tuple(replace(each, start=min(each.start, end)) for each in document.links),
        note_links=tuple(each for each in document.note_links if each.end <= end),
        metadata={**document.metadata, OMITTED: str(len(document.text) - end)},
    )


def _memory_mib() -> str:
    return f"{resource.getrlimit(resource.RLIMIT_AS)[0] // MIB:,} MiB of memory"


def _peak_bytes() -> int:
    """Return the peak memory use of this process."""
    # Not `ru_maxrss` if there is something better: on Linux a child inherits it from its parent, however large.
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        return int(status.partition("VmHWM:")[2].split(maxsplit=1)[0]) * 1024
    except (OSError, ValueError, IndexError):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


if __name__ == "__main__":
    main()
