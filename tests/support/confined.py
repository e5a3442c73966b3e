"""Commands that run where files cannot be written, or in a network of their own.

They are bound by file modes even as root, or find a read-only or a full disk.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.support.asky_command import clean_environment

_REMOUNT = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
_SMALL_DISK = 'mount -t tmpfs -o size=2m,nr_inodes=9 none "$0" && exec "$@"'


def bound_by_modes() -> list[str]:
    """What to put before a command so that file modes bind it."""
    if os.geteuid() != 0:
        return []
    return _possible(["setpriv", "--bounding-set=-dac_override,-dac_read_search"])


def read_only_disk(folder: Path) -> list[str]:
    """What to put before a command so that it finds `folder` on a disk that can only be read."""
    return _possible([*_own_mounts(), "sh", "-c", _REMOUNT, str(folder)])


def small_disk(folder: Path) -> list[str]:
    """What to put before a command so that it finds `folder` to be an empty disk of 2 MiB and eight files."""
    return _possible([*_own_mounts(), "sh", "-c", _SMALL_DISK, str(folder)])


def own_network() -> list[str]:
    """What to put before a command so that it has a network of its own, which leads nowhere until it is set up."""
    if not shutil.which("ip"):
        pytest.skip("ip is needed to set up a network")
    return _possible(["unshare", "-rn"])


def run_confined(
    prefix: Sequence[str], command: Sequence[object], *, home: Path, environ: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """The finished command, with its output as text; it must succeed."""
    return subprocess.run(
        [*prefix, *map(str, command)],
        capture_output=True,
        text=True,
        env=clean_environment(home, environ),
        timeout=300,
        check=True,
    )


def _own_mounts() -> list[str]:
    return ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--mount"]


def _possible(prefix: list[str]) -> list[str]:
    """`prefix`, or the test is skipped: not every machine lets a process give up rights or mount anything."""
    try:
        subprocess.run([*prefix, "true"], capture_output=True, text=True, timeout=300, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"{prefix[0]}: {getattr(error, 'stderr', None) or error}")
    return prefix
