"""Where asky keeps its files, and making those places private: folders 0700, files 0600."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from asky.errors import ConfigError, StoreFull

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@dataclass(frozen=True, slots=True)
class Paths:
    """The four folders, absolute; none need exist. `state` holds what is worth keeping but not worth moving."""

    config: Path
    data: Path
    cache: Path
    state: Path


def resolve_paths(environ: Mapping[str, str]) -> Paths:
    """The folders under `ASKY_HOME`, or where the XDG variables or the platform put them; creates nothing.

    A relative XDG variable is ignored, as its specification asks. Raises `ConfigError` where no folder can be named.
    """
    names = ("config", "data", "cache", "state")
    if home := environ.get("ASKY_HOME"):
        root = Path(os.path.abspath(expand_user(home, environ)))  # noqa: PTH100 - resolve() would follow symlinks
        if root.exists() and not root.is_dir():
            raise ConfigError(f"ASKY_HOME: {root} is not a folder")
        return Paths(*(root / name for name in names))
    return Paths(*(_xdg_folder(name, environ) for name in names))


def user_file(environ: Mapping[str, str], name: str) -> Path:
    """Where the user's own configuration file `name` lies, whether it exists or not."""
    return resolve_paths(environ).config / name


def _xdg_folder(name: str, environ: Mapping[str, str]) -> Path:
    base = environ.get(f"XDG_{name.upper()}_HOME", "")
    if Path(base).is_absolute():
        return Path(base) / "asky"
    from platformdirs import PlatformDirs  # 10 ms: only where neither ASKY_HOME nor XDG says it

    folder = Path(getattr(PlatformDirs("asky", appauthor=False), f"user_{name}_dir"))
    if not folder.is_absolute():
        raise ConfigError("no home folder is known", hint="set HOME or ASKY_HOME")
    return folder


def expand_user(text: str, environ: Mapping[str, str]) -> Path:
    """`text` as a path, with a leading `~` replaced by the home folder. Raises `ConfigError` where there is none."""
    if text == "~" or text.startswith("~/"):
        return home_folder(environ) / text[2:]
    return Path(text)


def home_folder(environ: Mapping[str, str]) -> Path:
    """The user's home folder. Raises `ConfigError` where neither `HOME` nor the user database knows one."""
    if home := environ.get("HOME"):
        return Path(home)
    try:
        return Path.home()
    except RuntimeError:
        raise ConfigError("no home folder is known", hint="set HOME or ASKY_HOME") from None


def ensure_private_dir(path: Path) -> Path:
    """Make the folder `path`, and the missing ones above it, readable by the user alone; returns `path`.

    An existing folder is made private if it was not, unless it is somebody else's or on a read-only disk. Raises
    `ConfigError` where it cannot be made, `StoreFull` when the disk is full.
    """
    try:
        for folder in (*reversed(path.parents), path):
            if not folder.exists():
                folder.mkdir(mode=0o700, exist_ok=True)
        if stat.S_IMODE(path.stat().st_mode) & 0o077:
            _close_to_others(path)
    except OSError as error:
        raise _unwritable(path, error) from error
    return path


def _close_to_others(folder: Path) -> None:
    try:
        folder.chmod(0o700)
    except PermissionError:  # somebody else's folder: its owner decides
        return
    except OSError as error:
        if error.errno != errno.EROFS:  # what is on a read-only disk can still be read
            raise


def write_private(path: Path, text: str) -> None:
    """Replace the file at `path` by `text` in one step, mode 0600; a symlink is kept and its target replaced.

    Raises `ConfigError` where it cannot be written and `StoreFull` when the disk is full; the old file is then intact.
    """
    target = path.resolve()
    _prepare_folder(path, target)
    try:
        replace_text(target, text, mode=0o600)
    except OSError as error:
        raise _unwritable(target, error) from error


def replace_text(target: Path, text: str, *, mode: int | None = None) -> None:
    """`replace_bytes` with `text` as UTF-8."""
    replace_bytes(target, text.encode("utf-8"), mode=mode)


def replace_bytes(target: Path, data: bytes, *, mode: int | None = None) -> None:
    """Make `data` the content of the file `target`, which is no symlink, in one step or not at all.

    `mode` holds the permission bits of the file; without it they stay as they are, or become what the umask says.
    Raises `OSError`; the old file is then intact.
    """
    kept = target.stat().st_mode & 0o777 if mode is None and target.exists() else None
    first = kept if mode is None else mode
    temporary = target.with_name(f".{target.name[:50]}.{os.urandom(4).hex()}.new")  # a name has at most 255 bytes
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if first is None else first)
    try:
        with os.fdopen(handle, "wb") as file:
            if kept is not None:
                os.fchmod(handle, kept)  # whatever the umask is
            file.write(data)
            file.flush()
            os.fsync(handle)
        temporary.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def update_private(path: Path, change: Callable[[str | None], str]) -> None:
    """Replace the file at `path` by what `change` makes of its text (`None` without one), alone among processes.

    Raises what `change`, `read_text` and `write_private` raise; the old file is then intact.
    """
    import fcntl  # POSIX only, as this package is

    from asky.config.documents import read_text

    target = path.resolve()
    _prepare_folder(path, target)
    folder = target.parent
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise _unwritable(folder, error) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)  # on the folder: no lock file to leave behind
        write_private(path, change(read_text(path)))
    finally:
        os.close(lock)


def _prepare_folder(path: Path, target: Path) -> None:
    """Make the folder of a file of ours private; one that a symlink leads to is the user's own and stays as it is."""
    if target.parent == path.parent.resolve():
        ensure_private_dir(target.parent)


def _unwritable(path: Path, error: OSError) -> ConfigError | StoreFull:
    if error.errno in _FULL:
        return StoreFull(f"disk full while saving to {path}; nothing was changed")
    reason = (error.strerror or type(error).__name__).lower()
    return ConfigError(f"cannot write {path}: {reason}", hint="set ASKY_HOME to a folder that you can write")
