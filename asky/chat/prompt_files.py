"""Questions and saved prompts read from files."""

from __future__ import annotations

import codecs
import errno
import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from asky.config.paths import expand_user
from asky.config.prompts import MAX_QUESTION_CHARS
from asky.errors import UsageError
from asky.research.local.names import show_target, uri_path

_MAX_BYTES = 4 * MAX_QUESTION_CHARS + 3  # four bytes per character, and a byte-order mark
_FORMS = "file://PATH is a file in this folder or below it, file:///PATH one from / on, file://~/PATH one of your own"
_THIS_HOST = re.compile(r"(?<=^file://)localhost(?=/)", re.IGNORECASE)
_KINDS: Mapping[int, str] = MappingProxyType(
    {
        stat.S_IFDIR: "is a folder",
        stat.S_IFIFO: "is a pipe",
        stat.S_IFSOCK: "is a socket",
        stat.S_IFCHR: "is a device",
        stat.S_IFBLK: "is a device",
    }
)


def read_prompt_file(uri: str, environ: Mapping[str, str]) -> str:
    """Return the text of the file at `file://PATH`, where PATH is absolute, relative, or begins with `~`.

    `localhost` before an absolute PATH is ignored. Raises `UsageError` for anything but a regular file, for a file that
    cannot be read or is longer than a question may be, and for text that is not UTF-8.
    """
    name = uri_path(_THIS_HOST.sub("", uri))
    if not name:
        raise UsageError(f"{uri} does not name a file", hint=_FORMS)
    path = expand_user(name, environ)
    shown = show_target(str(path))
    try:
        data = _read(path, shown)
    except OSError as error:
        hint = _FORMS if error.errno in (errno.ENOENT, errno.ENOTDIR) else None
        raise UsageError(f"cannot read {shown}: {error.strerror}", hint=hint) from error
    except ValueError as error:
        raise UsageError(f"cannot read {shown}: this is not a valid file name") from error
    return decode_prompt(data, shown)


def decode_prompt(data: bytes, shown: str) -> str:
    """Return `data` as text. Raises `UsageError`, which names `shown`, for data that is not text in UTF-8."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise UsageError(f"{shown} is UTF-16, not UTF-8", hint="save it as UTF-8, or: iconv -f UTF-16 -t UTF-8 FILE")
    if b"\0" in data:
        raise UsageError(f"{shown} is not a text file", hint="pass documents with -d")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{shown} is not UTF-8: byte {error.start + 1} is not part of any character",
            hint="save it as UTF-8; if it is Latin-1: iconv -f LATIN1 -t UTF-8 FILE",
        ) from None


def _read(path: Path, shown: str) -> bytes:
    _check_kind(path.stat(), shown)  # before opening: that may trigger a device, or block on a pipe
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        found = os.fstat(handle)
        _check_kind(found, shown)
        # some kernel files return None while they have no data
        data = (file.read(_MAX_BYTES + 1) or b"") if found.st_size <= _MAX_BYTES else b""
    size = max(found.st_size, len(data))
    if size > _MAX_BYTES:
        raise UsageError(
            f"{shown} has {'more than ' if size == len(data) else ''}{size:,} bytes; a question has at most"
            f" {MAX_QUESTION_CHARS:,} characters",
            hint="pass long documents with -d, and a short question",
        )
    return data


def _check_kind(found: os.stat_result, shown: str) -> None:
    if not stat.S_ISREG(found.st_mode):
        kind = _KINDS.get(stat.S_IFMT(found.st_mode), "is a special file")
        raise UsageError(f"{shown} {kind}, not a regular file", hint="a question can be piped in: asky - < FILE")
