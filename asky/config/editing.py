"""Setting one key in the text of a TOML file, preserving every other character, including comments."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from asky.config.documents import TomlStatement, key_end, parse_toml, statements
from asky.config.keys import KeyPath, dotted
from asky.errors import ConfigError


def set_in_text(text: str, path: KeyPath, value: object, *, file: Path) -> str:
    """Return valid TOML `text` with the key at `path` set to `value`, which has the type of a configuration key.

    Raises `ConfigError`, naming `file`, if the layout does not allow placing the key safely: the result is parsed and
    must contain the old content and the new value, and nothing else.
    """
    changed = _place(text, path, _toml(value))
    try:
        sound = parse_toml(changed) == _with(parse_toml(text), path, _plain(value))
    except (ValueError, TypeError):
        sound = False
    if not sound:
        raise ConfigError(f"{file}: cannot set {dotted(path)} in a file with this layout", hint="use: asky config edit")
    return changed


def _place(text: str, path: KeyPath, value: str) -> str:
    known = list(statements(text))
    lines = text.split("\n")
    ending = "\r" if "\r\n" in text else ""
    for statement in known:
        if statement.key and statement.table + statement.key == path:
            lines[statement.start : statement.end] = [
                _replaced("\n".join(lines[statement.start : statement.end]), value)
            ]
            return "\n".join(lines)
    *table, key = path
    line = f"{dotted((key,))} = {value}{ending}"
    at = _end_of_table(known, tuple(table))
    if at is not None:
        lines.insert(at, line)
        return "\n".join(lines)
    while lines and not lines[-1].strip():
        lines.pop()
    gap = [ending] if lines else []
    return "\n".join([*lines, *gap, f"[{dotted(tuple(table))}]{ending}", line, ""])


def _end_of_table(known: list[TomlStatement], table: KeyPath) -> int | None:
    """Return the line after the last statement of `table`; for the root, its first line if it is empty."""
    own = [s.end for s in known if s.table == table]
    if own:
        return max(own)
    return None if table else 0


def _replaced(statement: str, value: str) -> str:
    """Return the `key = value` statement with another value; a comment after a one-line statement stays."""
    body = statement.removesuffix("\r")
    comment = "" if "\n" in body else _comment(body)
    return f"{body[: key_end(body)].rstrip()} = {value}{comment}{statement[len(body) :]}"


def _comment(statement: str) -> str:
    whole = parse_toml(statement)
    at = statement.find("#")
    while at != -1:
        try:
            if parse_toml(statement[:at]) == whole:
                return statement[len(statement[:at].rstrip()) :]
        except ValueError:
            pass
        at = statement.find("#", at + 1)
    return ""


def _with(data: dict[str, Any], path: KeyPath, value: object) -> Mapping[str, Any]:
    result = copy.deepcopy(data)
    table = result
    for name in path[:-1]:
        table = table.setdefault(name, {})
    table[path[-1]] = value
    return result


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return dict(value)
    return str(value) if isinstance(value, Path) else value


def _toml(value: object) -> str:
    """Return `value` as TOML: JSON's text, numbers and lists are valid TOML, except for the delete character."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{dotted((name,))} = {_toml(item)}" for name, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    return json.dumps(_plain(value), ensure_ascii=False).replace("\x7f", "\\u007f")
