"""Reading TOML: errors with file, line and column that never repeat the line, and the position of each key."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from asky.config.keys import KeyPath
from asky.errors import ConfigError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found,unused-ignore] # installed where it is needed

MAX_BYTES = 262_144
_MAX_STATEMENT_LINES = 100
_PLACE = re.compile(r"\s*\(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)\Z")


@dataclass(frozen=True, slots=True)
class TomlDocument:
    """A parsed file. `lines` holds the line, from 1, of each key whose position is known."""

    path: Path
    data: Mapping[str, Any]
    lines: Mapping[KeyPath, int]


@dataclass(frozen=True, slots=True)
class TomlStatement:
    """Lines `[start, end)`, from 0, that hold one table header (`key` is empty) or one key with its value."""

    start: int
    end: int
    table: KeyPath
    key: KeyPath


def parse_toml(text: str) -> dict[str, Any]:
    """Parse TOML. Raises `ValueError` for a syntax error and `RecursionError` for absurd nesting."""
    data: dict[str, Any] = tomllib.loads(text)
    return data


def read_document(path: Path) -> TomlDocument | None:
    """Return the parsed file at `path`, or `None` if there is none.

    Raises `ConfigError` for anything but a readable regular file of at most `MAX_BYTES` of UTF-8 TOML.
    """
    text = read_text(path)
    return None if text is None else parse_document(path, text)


def read_text(path: Path) -> str | None:
    """Return the text of the file at `path`, without a byte order mark; `None` if missing. Raises `ConfigError`."""
    try:
        if not path.is_file():
            if not path.exists():
                return None
            raise ConfigError(f"{path}: not a regular file")
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or type(error).__name__}") from error
    if len(content) > MAX_BYTES:
        raise ConfigError(f"{path}: too large for a configuration file ({MAX_BYTES:,} bytes)")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{line}: not UTF-8 text") from None


def parse_document(path: Path, text: str) -> TomlDocument:
    """Parse `text`, reporting errors as from `path`. Raises `ConfigError`."""
    try:
        data = parse_toml(text)
    except RecursionError:
        raise ConfigError(f"{path}: tables or lists are nested too deeply") from None
    except ValueError as error:
        # `from None`: the parser's exception contains the whole text, and with it any secrets in the file.
        raise ConfigError(f"{path}{_place(error)}: not valid TOML: {_reason(error)}") from None
    return TomlDocument(path, data, {s.table + s.key: s.start + 1 for s in statements(text)})


def _place(error: ValueError) -> str:
    found = _PLACE.search(str(error))
    if found is None or found["line"] is None:
        return ""
    return f":{found['line']}:{found['column']}"


def _reason(error: ValueError) -> str:
    found = _PLACE.search(str(error))
    if found is None:
        return "a number that is too long"  # the parser's other errors all have a position
    reason = str(error)[: found.start()]
    reason = reason[:1].lower() + reason[1:]
    return reason if found["line"] else f"{reason} at the end of the file"


def statements(text: str) -> Iterator[TomlStatement]:
    """Yield the statements of `text`, which must be valid, in order; end early at a value of more than a hundred lines.

    Each is recognised by parsing it separately, so that quoting and strings need no second implementation of the
    grammar.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    table: KeyPath = ()
    at = 0
    while at < len(lines):
        line = lines[at].strip()
        if not line or line.startswith("#"):
            at += 1
            continue
        end, data = _shortest_parse(lines, at)
        if data is None:
            return
        if line.startswith("["):
            table = _way(data)
            yield TomlStatement(at, end, table, ())
        else:
            statement = "\n".join(lines[at:end])
            yield TomlStatement(at, end, table, _way(parse_toml(statement[: key_end(statement)] + "= 0")))
        at = end


def _shortest_parse(lines: list[str], start: int) -> tuple[int, dict[str, Any] | None]:
    for end in range(start + 1, min(start + _MAX_STATEMENT_LINES, len(lines)) + 1):
        try:
            return end, parse_toml("\n".join(lines[start:end]))
        except ValueError:
            continue
    return start, None


def _way(data: object) -> KeyPath:
    """Return the path to the only key, or the only empty table, of a document."""
    path: list[str] = []
    while isinstance(data, (dict, list)) and data:
        if isinstance(data, list):
            data = data[0]
        else:
            name, data = next(iter(data.items()))
            path.append(name)
    return tuple(path)


def key_end(statement: str) -> int:
    """Return the position of the `=` in a `key = value` statement: the first one that ends a complete key."""
    at = statement.find("=")
    while at != -1:
        try:
            parse_toml(statement[:at] + "= 0")
        except ValueError:
            at = statement.find("=", at + 1)
        else:
            return at
    raise ValueError("not a key with a value")
