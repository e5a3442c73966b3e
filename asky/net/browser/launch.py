"""Becomes a confined browser: run as a script by `asky.net.browser.process`, without importing asky.

    python launch.py FOLDER BROWSER [FLAG...]

It records its process id and its parent's in FOLDER/pids, drops the network, the root user and everything else that a
browser for one page does not need, and then becomes the browser. If the system supports no such confinement, only the
flags apply.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
from pathlib import Path

_NEW_USER = 0x1000_0000
_NEW_NETWORK = 0x4000_0000
_SET_DEATH_SIGNAL = 1
_NOBODY = 65_534
_MIB = 1 << 20

_LIMITS = {
    resource.RLIMIT_CORE: 0,
    resource.RLIMIT_CPU: 120,  # seconds per process; the page's deadline is far below it
    resource.RLIMIT_DATA: 2048 * _MIB,  # not AS: a browser reserves terabytes that it never touches
    resource.RLIMIT_FSIZE: 512 * _MIB,
}


def main(folder: Path, command: list[str]) -> None:
    """Confine this process and run `command` in it."""
    if os.getpgrp() != os.getpid():
        os.setpgid(0, 0)
    (folder / "pids").write_text(f"{os.getpid()} {os.getppid()}", encoding="ascii")
    for limit, value in _LIMITS.items():
        _lower(limit, value)
    flags = _confine(folder) if sys.platform == "linux" else []
    os.execv(command[0], [*command, *flags])  # noqa: S606 - no shell is meant to see the command


def _confine(folder: Path) -> list[str]:
    """Drop the network and root; return the flags that the browser then needs."""
    libc = ctypes.CDLL(None, use_errno=True)
    flags = []
    if os.geteuid() == 0:
        libc.unshare(_NEW_NETWORK)
        _become_nobody(folder)
        if not _may(libc, _NEW_USER):
            flags = ["--no-sandbox"]  # an unprivileged user without a network is confined enough
    elif _may(libc, _NEW_USER | _NEW_NETWORK, _NEW_USER):
        _leave_network(libc)
    libc.prctl(_SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    return flags


def _become_nobody(folder: Path) -> None:
    for path in (folder, *folder.rglob("*")):
        os.chown(path, _NOBODY, _NOBODY)
    os.setgroups([])
    os.setresgid(_NOBODY, _NOBODY, _NOBODY)
    os.setresuid(_NOBODY, _NOBODY, _NOBODY)


def _leave_network(libc: ctypes.CDLL) -> None:
    user, group = os.geteuid(), os.getegid()
    libc.unshare(_NEW_USER | _NEW_NETWORK)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        Path("/proc/self", name).write_text(text, encoding="ascii")


def _may(libc: ctypes.CDLL, *steps: int) -> bool:
    """Return whether this process could take such steps out of its namespaces, tried in a child."""
    child = os.fork()
    if child == 0:
        os._exit(any(libc.unshare(step) for step in steps))
    return os.waitpid(child, 0)[1] == 0


def _lower(limit: int, value: int) -> None:
    ceiling = resource.getrlimit(limit)[1]
    capped = value if ceiling == resource.RLIM_INFINITY else min(value, ceiling)
    resource.setrlimit(limit, (capped, capped))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
