"""Writing a result to a file that the user named."""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path

from asky.errors import AskyError, StoreFull, UsageError

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def save_text(path: Path, text: str) -> None:
    """Make `text` the content of `path`; what was there is replaced in one step, or not at all.

    A symlink is followed, a device or pipe is written to. Raises `UsageError` where `path` cannot be written and
    `StoreFull` when the disk is full.
    """
    try:
        target = path.resolve()
        if target.exists() and not target.is_file():
            target.write_text(text, "utf-8")
        else:
            _replace(target, text)
    except (OSError, RuntimeError) as error:  # a loop of symlinks is a RuntimeError
        raise _unwritable(path, error) from error


def _replace(target: Path, text: str) -> None:
    temporary = target.with_name(f".{target.name[:200]}.{os.getpid()}.new")
    try:
        with temporary.open("x", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            temporary.chmod(target.stat().st_mode & 0o777)
        temporary.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def _unwritable(path: Path, error: Exception) -> AskyError:
    if isinstance(error, OSError) and error.errno in _FULL:
        return StoreFull(f"disk full while saving to {path}; nothing was changed", hint="free some space")
    reason = getattr(error, "strerror", None) or "not a path that can be written"
    return UsageError(f"cannot write {path}: {reason.lower()}")
