"""One local file: its name, its state, and its bytes.

A file is opened first and checked by its descriptor afterwards, so nothing can be swapped between check and use.
"""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from asky.errors import SourceError, SourceRefused, SourceUnreadable
from asky.research.local.names import refuse_outside, show_name

ABSENT = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG})
"""Error numbers for a name that no file has."""

_READ_BYTES = 1 << 20
_NOT_OPENABLE = frozenset({errno.ENXIO, errno.ENODEV, errno.EOPNOTSUPP})  # sockets, and devices without a driver


@dataclass(frozen=True, slots=True)
class FileStat:
    """The facts that distinguish two states of a file. `size` in bytes, `mtime_ns` in nanoseconds since 1970."""

    size: int
    mtime_ns: int
    inode: int
    device: int


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A file or folder beneath a granted folder.

    `path` is absolute and free of links; `relative` is the same below `root`, with `/` between components and no byte
    of the name lost (undecodable ones are surrogates, so print it with `shown`).
    """

    path: Path
    relative: str
    root: Path

    @property
    def shown(self) -> str:
        return show_name(self.relative)

    @property
    def uri(self) -> str:
        """Return the `file://` URI, percent-encoded."""
        return self.path.as_uri()


class OpenedFile:
    """A regular file that is open for reading; close it, or use it as a context manager."""

    def __init__(self, descriptor: int, file: LocalFile, state: FileStat) -> None:
        self._io = open(descriptor, "rb", buffering=0)  # noqa: SIM115 - owns the descriptor; closed by close()
        self.file = file
        self.stat = state

    def read(self, max_bytes: int) -> bytes:
        """Return the whole content. Raises `SourceUnreadable`: "too_large" if it exceeds `max_bytes`."""
        too_large = SourceUnreadable(
            f"{self.file.shown}: larger than {max_bytes:,} bytes",
            verdict="too_large",
            hint="split it, or raise the limit",
        )
        if self.stat.size > max_bytes:
            raise too_large
        blocks: list[bytes] = []
        left = max_bytes + 1
        try:
            while left and (block := self._io.read(min(left, max(_READ_BYTES, self.stat.size + 1)))):
                blocks.append(block)
                left -= len(block)
        except OSError as error:
            raise failure_of(self.file.shown, error) from error
        if not left:  # counted, not trusted: a growing file or one of /proc reports less than it holds
            raise too_large
        return b"".join(blocks)

    def close(self) -> None:
        self._io.close()

    def __enter__(self) -> OpenedFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def stat_of(status: os.stat_result) -> FileStat:
    """Return the state that the system reports."""
    return FileStat(status.st_size, status.st_mtime_ns, status.st_ino, status.st_dev)


def open_regular(descriptor: int, file: LocalFile, shown: str) -> OpenedFile:
    """Return the file behind `descriptor`. Raises `SourceRefused`, and closes it, unless it is a regular file."""
    status = os.fstat(descriptor)
    if stat.S_ISREG(status.st_mode):
        return OpenedFile(descriptor, file, stat_of(status))
    os.close(descriptor)
    if stat.S_ISDIR(status.st_mode):
        raise SourceRefused(f"{shown}: a folder, not a file", hint="discover it, then read its files")
    raise SourceRefused(f"{shown}: not a regular file")


def failure_of(shown: str, error: OSError) -> SourceError:
    """Return the error for a file that could not be opened or read."""
    if error.errno == errno.EXDEV:
        return refuse_outside(shown)
    if error.errno in _NOT_OPENABLE:
        return SourceRefused(f"{shown}: not a regular file")
    if error.errno == errno.ELOOP:
        return SourceUnreadable(f"{shown}: its links form a loop")
    if error.errno in (errno.EACCES, errno.EPERM):
        return SourceUnreadable(f"{shown}: permission denied", hint="check its permissions")
    if error.errno in ABSENT:
        return SourceUnreadable(f"{shown}: no such file, or a broken link")
    return SourceUnreadable(f"{shown}: {error.strerror or 'cannot be read'}")
