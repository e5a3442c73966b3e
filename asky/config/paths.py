"""Locations of asky's files, which are kept private: folders 0700, files 0600."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from asky.errors import ConfigError, StoreFull, UsageError

_BELOW_HOME: Mapping[str, str] = MappingProxyType(
    {"config": ".config", "data": ".local/share", "cache": ".cache", "state": ".local/state"}
)
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@dataclass(frozen=True, slots=True)
class Paths:
    """The four folders, absolute; they need not exist. `state` holds data worth keeping but not worth moving."""

    config: Path
    data: Path
    cache: Path
    state: Path

    @property
    def models(self) -> Path:
        """Models that were downloaded: worth keeping, because the network may be away when they are needed."""
        return self.data / "models"


def resolve_paths(environ: Mapping[str, str]) -> Paths:
    """Return the folders under `ASKY_HOME`, or those of the XDG variables or their defaults; creates nothing.

    A relative XDG variable is ignored, as its specification requires. Raises `ConfigError` if no folder can be
    determined.
    """
    names = ("config", "data", "cache", "state")
    if home := environ.get("ASKY_HOME"):
        root = Path(os.path.abspath(expand_user(home, environ)))  # noqa: PTH100 - resolve() would follow symlinks
        if root.exists() and not root.is_dir():
            raise ConfigError(f"ASKY_HOME: {root} is not a folder")
        return Paths(*(root / name for name in names))
    return Paths(*(_xdg_folder(name, environ) for name in names))


def prepared_models(environ: Mapping[str, str]) -> Path:
    """Return the folder in which earlier versions kept embedding models that they had converted; nothing uses it now.

    Raises `ConfigError` as `resolve_paths` does.
    """
    if chosen := environ.get("ASKY_MODEL_CACHE"):
        return Path(os.path.abspath(expand_user(chosen, environ)))  # noqa: PTH100 - as in resolve_paths
    return _xdg_folder("cache", environ) / "models"


def user_file(environ: Mapping[str, str], name: str) -> Path:
    """Return the path of the user's configuration file `name`, whether it exists or not."""
    return resolve_paths(environ).config / name


def _xdg_folder(name: str, environ: Mapping[str, str]) -> Path:
    """Return asky's folder of this kind. Source: XDG Base Directory Specification 0.8."""
    base = environ.get(f"XDG_{name.upper()}_HOME", "")
    folder = Path(base) if Path(base).is_absolute() else home_folder(environ) / _BELOW_HOME[name]
    if not folder.is_absolute():
        raise ConfigError("the home folder is unknown", hint="set HOME or ASKY_HOME")
    return folder / "asky"


def expand_user(text: str, environ: Mapping[str, str]) -> Path:
    """Return `text` as a path, with a leading `~` expanded. Raises `ConfigError` without a home folder."""
    if text == "~" or text.startswith("~/"):
        return home_folder(environ) / text[2:]
    return Path(text)


def home_folder(environ: Mapping[str, str]) -> Path:
    """Return the user's home folder. Raises `ConfigError` if neither `HOME` nor the user database has one."""
    if home := environ.get("HOME"):
        return Path(home)
    try:
        return Path.home()
    except RuntimeError:
        raise ConfigError("the home folder is unknown", hint="set HOME or ASKY_HOME") from None


def ensure_private_dir(path: Path) -> Path:
    """Create the folder `path`, and missing parents, readable by the user alone; return `path`.

    An existing folder is made private, unless another user owns it or it is on a read-only disk. Raises `ConfigError`
    if it cannot be created, `StoreFull` if the disk is full.
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
    except PermissionError:  # another user's folder: its owner decides
        return
    except OSError as error:
        if error.errno != errno.EROFS:  # files on a read-only disk can still be read
            raise


def write_private(path: Path, text: str) -> None:
    """Replace the file at `path` by `text` atomically, mode 0600; a symlink is kept and its target replaced.

    Raises `ConfigError` if it cannot be written and `StoreFull` if the disk is full; the old file is then intact.
    """
    target = path.resolve()
    _prepare_folder(path, target)
    try:
        replace_text(target, text, mode=0o600)
    except OSError as error:
        raise _unwritable(target, error) from error


def replace_text(target: Path, text: str, *, mode: int | None = None) -> None:
    """Call `replace_bytes` with `text` as UTF-8."""
    replace_bytes(target, text.encode("utf-8"), mode=mode)


def replace_bytes(target: Path, data: bytes, *, mode: int | None = None) -> None:
    """Make `data` the content of the file `target`, which is not a symlink, atomically.

    `mode` sets the permission bits; without it they are unchanged, or follow the umask for a new file. Raises
    `OSError`; the old file is then intact.
    """
    kept = target.stat().st_mode & 0o777 if mode is None and target.exists() else None
    first = kept if mode is None else mode
    temporary = target.with_name(f".{target.name[:50]}.{os.urandom(4).hex()}.new")  # a name has at most 255 bytes
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if first is None else first)
    try:
        with os.fdopen(handle, "wb") as file:
            if kept is not None:
                os.fchmod(handle, kept)  # regardless of the umask
            file.write(data)
            file.flush()
            os.fsync(handle)
        temporary.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def update_private(path: Path, change: Callable[[str | None], str]) -> None:
    """Replace the file at `path` by the result of `change` on its text (`None` without one), under a process lock.

    Raises what `change`, `read_text` and `write_private` raise; the old file is then intact.
    """
    import fcntl  # POSIX only, as this package is

    from asky.config.documents import read_text  # 30 ms: only to edit a file

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
    """Make the folder of one of our files private; one behind a symlink is the user's and stays."""
    if target.parent == path.parent.resolve():
        ensure_private_dir(target.parent)


def _unwritable(path: Path, error: OSError) -> ConfigError | StoreFull:
    if error.errno in _FULL:
        return StoreFull(f"disk full while saving to {path}; nothing was changed")
    reason = (error.strerror or type(error).__name__).lower()
    return ConfigError(f"cannot write {path}: {reason}", hint="set ASKY_HOME to a folder that you can write")


def current_folder() -> Path:
    """Return the folder that asky was started in. Raises `UsageError` if it has been deleted."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise UsageError("the current folder does not exist any more", hint="change to another one") from None
