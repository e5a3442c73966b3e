"""Writing results to files that the user names."""

from __future__ import annotations

import errno
import os
import shlex
from pathlib import Path

from asky.config.paths import replace_bytes
from asky.errors import AskyError, StoreFull, UsageError

_DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def save_text(path: Path, text: str) -> None:
    """Write `text` to `path` as UTF-8; see `save_bytes`."""
    save_bytes(path, text.encode("utf-8"))


def save_bytes(path: Path, data: bytes) -> None:
    """Write `data` to `path`; an existing file is replaced in one step or left unchanged.

    A symlink is followed; a device or pipe is written to directly. Raises `UsageError` if `path` cannot be written and
    `StoreFull` if the disk is full.
    """
    try:
        target = path.resolve()
        if target.exists() and not target.is_file():
            target.write_bytes(data)
        else:
            replace_bytes(target, data)
    except (OSError, RuntimeError) as error:  # a loop of symlinks is a RuntimeError
        raise _write_error(path, error) from error


def require_writable(path: Path) -> None:
    """Raise `UsageError` if it is already clear that `save_bytes` could not write `path`."""
    try:
        target = path.resolve()
        folder = target.parent
        if target.is_dir():
            raise _os_error(errno.EISDIR)
        if not folder.is_dir():
            hint = f"`mkdir -p {shlex.quote(str(folder))}` creates it"
            raise UsageError(f"cannot write {path}: there is no folder {folder}", hint=hint)
        is_device = target.exists() and not target.is_file()
        if not (os.access(target, os.W_OK) if is_device else os.access(folder, os.W_OK | os.X_OK)):
            is_read_only = os.statvfs(folder).f_flag & os.ST_RDONLY
            raise _os_error(errno.EROFS if is_read_only else errno.EACCES)
    except (OSError, RuntimeError) as error:  # as for `save_bytes`
        raise _write_error(path, error) from error


def _os_error(number: int) -> OSError:
    return OSError(number, os.strerror(number))


def _write_error(path: Path, error: Exception) -> AskyError:
    if isinstance(error, OSError) and error.errno in _DISK_FULL:
        return StoreFull(f"disk full while saving to {path}; nothing was changed", hint="free some space")
    reason = getattr(error, "strerror", None) or "not a path that can be written"
    is_missing = isinstance(error, OSError) and error.errno == errno.ENOENT
    hint = f"`mkdir -p {shlex.quote(str(path.parent))}` creates its folder" if is_missing else None
    return UsageError(f"cannot write {path}: {reason.lower()}", hint=hint)
