"""Opening a file beneath a folder, so that no link, rename or special name escapes it."""

from __future__ import annotations

import errno
import os
import sys
from collections import deque
from collections.abc import Callable, Sequence
from functools import cache

Opener = Callable[[int, Sequence[str]], tuple[int, tuple[str, ...]]]
"""Takes a folder's descriptor and path components; returns a descriptor and the components with links resolved."""

MAX_LINKS = 40  # as many as Linux follows in one path

_FILE_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC | os.O_NOFOLLOW
_FOLDER_FLAGS = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW


def make_opener() -> Opener:
    """Return the opener for this machine: the kernel's own confinement if available, else a walk of the components.

    Either way links that stay beneath the folder are followed and opening never blocks (`O_NONBLOCK`). The opener
    raises `OSError`: `EXDEV` for a link that is absolute or leads out, `ELOOP` for circular links.
    """
    kernel_open = _load_openat2(sys.platform, os.uname().machine)
    if kernel_open is None:
        return walk_beneath

    def open_beneath(folder: int, parts: Sequence[str]) -> tuple[int, tuple[str, ...]]:
        try:
            return kernel_open(folder, os.fsencode("/".join(parts) or ".")), tuple(parts)
        except OSError as error:
            if error.errno not in _LEFT_TO_THE_WALK:
                raise
        return walk_beneath(folder, parts)

    return open_beneath


def walk_beneath(folder: int, parts: Sequence[str]) -> tuple[int, tuple[str, ...]]:
    """Open `parts` one component at a time without following links, resolving them here; an `Opener`.

    Each step is relative to the descriptor of the previous one, and `..` (which only a link can contain) goes back
    along those descriptors, so a rename during the walk cannot escape `folder`.
    """
    opened = [os.dup(folder)]
    names: list[str] = []
    todo = deque(part for part in parts if part not in ("", "."))
    links = 0
    try:
        while todo:
            name = todo.popleft()
            if name == "..":
                if not names:
                    raise _os_error(errno.EXDEV)
                names.pop()
                os.close(opened.pop())
                continue
            link = _open_step(opened, name, last=not todo)
            if link is None:
                names.append(name)
                continue
            links += 1
            if links > MAX_LINKS:
                raise _os_error(errno.ELOOP)
            if link.startswith("/"):
                raise _os_error(errno.EXDEV)
            todo.extendleft(part for part in reversed(link.split("/")) if part not in ("", "."))
        return opened.pop(), tuple(names)
    finally:
        for descriptor in opened:
            os.close(descriptor)


def _open_step(opened: list[int], name: str, *, last: bool) -> str | None:
    """Open `name` in the last folder of `opened` and append its descriptor; for a link, return its target."""
    try:
        opened.append(os.open(name, _FILE_FLAGS if last else _FOLDER_FLAGS, dir_fd=opened[-1]))
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.ENOTDIR, errno.EMLINK):
            raise
        try:
            return os.readlink(name, dir_fd=opened[-1])
        except OSError:  # not a link: the error of the first call stands
            raise error from None
    return None


def _os_error(code: int) -> OSError:
    return OSError(code, os.strerror(code))


# Linux's openat2: the number is the same on every architecture but alpha; flags from linux/openat2.h
_OPENAT2 = 437
_RESOLVE_NO_MAGICLINKS = 0x02
_RESOLVE_NO_SYMLINKS = 0x04  # so that the opened path is the requested one; links are left to the walk, which names it
_RESOLVE_BENEATH = 0x08
# a link in the path; a concurrent rename; a kernel or a sandbox without the call
_LEFT_TO_THE_WALK = frozenset({errno.ELOOP, errno.EAGAIN, errno.EINTR, errno.ENOSYS, errno.EPERM, errno.EINVAL})


@cache
def _load_openat2(platform: str, machine: str) -> Callable[[int, bytes], int] | None:
    """Return the call of the kernel, if it has one; it is kept: loading makes classes, which refer to themselves."""
    if platform != "linux" or machine == "alpha":
        return None
    import ctypes  # only if a file is opened

    class OpenHow(ctypes.Structure):
        _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))

    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    how = OpenHow(_FILE_FLAGS, 0, _RESOLVE_BENEATH | _RESOLVE_NO_MAGICLINKS | _RESOLVE_NO_SYMLINKS)
    size = ctypes.c_size_t(ctypes.sizeof(OpenHow))
    number = ctypes.c_long(_OPENAT2)

    def kernel_open(folder: int, path: bytes) -> int:
        descriptor = int(libc.syscall(number, ctypes.c_int(folder), ctypes.c_char_p(path), ctypes.byref(how), size))
        if descriptor < 0:
            raise _os_error(ctypes.get_errno())
        return descriptor

    return kernel_open
