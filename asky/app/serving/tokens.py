"""The token of a server: it is made on the first start, in a file that only the user can read."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from pathlib import Path

from asky.config.paths import resolve_paths, write_private
from asky.errors import ConfigError, UsageError

_MIN_TOKEN_CHARS = 16
_TOKEN_BYTES = 32


def read_token(environ: Mapping[str, str], file: Path | None, *, server: str) -> tuple[str, str]:
    """Return the token of `server`, and where it is.

    It is in `file`, in the variable `ASKY_SERVER_TOKEN` for the server `server`, or in the file `server-token` in the
    folder of asky's state, which is made if need be. Raises `UsageError` if a file cannot be read or a token is too
    short, and `ConfigError` if others can read the file.
    """
    variable = f"ASKY_{server.upper()}_TOKEN"
    if file is not None:
        return _sound(_read(file), f"the file {file}"), str(file)
    if given := environ.get(variable):
        return _sound(given.strip(), f"the variable {variable}"), f"${variable}"
    own = resolve_paths(environ).state / f"{server}-token"
    if not own.exists():
        write_private(own, secrets.token_urlsafe(_TOKEN_BYTES) + "\n")
    if own.stat().st_mode & 0o077:
        raise ConfigError(f"others can read {own}", hint="delete it: the next start makes a new one")
    return _sound(_read(own), f"the file {own}"), str(own)


def _read(file: Path) -> str:
    try:
        return file.read_text("utf-8").strip()
    except (OSError, UnicodeError) as error:
        raise UsageError(f"cannot read the token in {file}: {getattr(error, 'strerror', None) or 'not text'}") from None


def _sound(token: str, where: str) -> str:
    if len(token) < _MIN_TOKEN_CHARS or not token.isascii() or not token.isprintable() or " " in token:
        raise UsageError(
            f"{where} holds no usable token", hint=f"it takes at least {_MIN_TOKEN_CHARS} ASCII characters, no spaces"
        )
    return token
