"""How to add packages to the environment that runs asky, whichever tool has made it."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

_EXTRA = re.compile(r"""(?P<requirement>[^;]+);.*\bextra *== *['"](?P<extra>[\w-]+)['"]""")


def install_command(*packages: str, extra: str | None = None) -> str:
    """Return the command that installs `packages`, or those of an extra of asky, where this process finds them.

    The packages of an extra are named one by one: asky itself need not be on a package index. It is `pipx inject` or
    `uv pip install` in environments of these tools, else pip with this interpreter, and what brings pip if it has none.
    """
    wanted = " ".join(shlex.quote(each) for each in (*packages, *(_packages_of(extra) if extra else ())))
    environment, python = Path(sys.prefix), shlex.quote(sys.executable)
    if (environment / "pipx_metadata.json").is_file():
        return f"pipx inject {shlex.quote(environment.name)} {wanted}"
    if (environment / "uv-receipt.toml").is_file() or (_is_missing("pip") and _is_made_by_uv(environment)):
        return f"uv pip install --python {python} {wanted}"
    if _is_missing("pip"):
        first = f"{python} -m ensurepip && " if not _is_missing("ensurepip") else ""
        return f"{first}{python} -m pip install {wanted}" if first else f"pip --python {python} install {wanted}"
    return f"{python} -m pip install {wanted}"


def install_hint(purpose: str, *packages: str, extra: str | None = None) -> str:
    """Return a hint: `install_command` and what it is for, such as "reads scanned pages"."""
    return f"`{install_command(*packages, extra=extra)}` {purpose}"


def _packages_of(extra: str) -> list[str]:
    from importlib.metadata import PackageNotFoundError, requires  # 20 ms, and only for a hint

    try:
        stated = requires("asky") or []
    except PackageNotFoundError:  # run from a checkout that is not installed
        stated = []
    found = [match for each in stated if (match := _EXTRA.match(each)) is not None and match["extra"] == extra]
    return [re.sub(r"\s", "", match["requirement"]) for match in found] or [f"asky[{extra}]"]


def _is_missing(module: str) -> bool:
    import importlib.util  # only for a hint

    return importlib.util.find_spec(module) is None


def _is_made_by_uv(environment: Path) -> bool:
    try:
        return "\nuv = " in f"\n{(environment / 'pyvenv.cfg').read_text('utf-8')}"
    except OSError:
        return False
