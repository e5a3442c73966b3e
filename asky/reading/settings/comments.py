"""Comments of YAML and TOML files, by the path of the value that they stand above or on whose line they end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import yaml

_LINE_BREAK = re.compile("\r\n|[\r\n\x85\u2028\u2029]")
_AFTER_KEY = re.compile(r"\s{0,99}:?\s{0,99}(?:[&!|>]\S*\s+)*#(?P<text>.*)")
_AFTER_VALUE = re.compile(r"\s{0,99},?\s{0,99}#(?P<text>.*)")
_TOML_PART = r"""(?:[\w-]+|"[^"\n]*"|'[^'\n]*')"""
_TOML_KEY = re.compile(rf"\s*(?P<key>{_TOML_PART}(?:\s*\.\s*{_TOML_PART})*)\s*=")
_TOML_TABLE = re.compile(rf"\s*(?P<open>\[\[?)\s*(?P<key>{_TOML_PART}(?:\s*\.\s*{_TOML_PART})*)\s*\]\]?")
_TOML_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|#(?P<comment>[^\n]*)|(?P<bracket>[\[\]{}])|\n',
    re.DOTALL,
)


class YamlComments:
    """The comments of one text; `by_path` is filled by `add` for each value, in the order of the file."""

    def __init__(self, text: str) -> None:
        self._lines = _LINE_BREAK.split(text) if "#" in text else []
        self._first_free = 0  # lines before belong to values
        self._seen: set[int] = set()
        self.by_path: dict[str, str] = {}

    def add(self, path: str, key: yaml.Node, value: yaml.Node) -> None:
        """Keep the comments of a value below `key`; of a member of a list, `key` is the value itself."""
        if not self._lines or id(key) in self._seen:
            return
        self._seen.add(id(key))
        line = key.start_mark.line
        above = line
        while above > self._first_free and self._line(above - 1).lstrip().startswith("#"):
            above -= 1
        found = [self._line(each).strip() for each in range(above, line)]
        after = _AFTER_VALUE.match(self._line(value.end_mark.line), value.end_mark.column)
        is_block = getattr(value, "style", None) in ("|", ">") or getattr(value, "flow_style", None) is False
        if is_block:
            after = _AFTER_KEY.match(self._line(line), key.end_mark.column) if key is not value else None
        if after:
            found.append(after["text"])
        if hasattr(value, "value") and isinstance(value.value, str):
            self._first_free = max(self._first_free, value.end_mark.line + (not is_block))
        self._first_free = max(self._first_free, line + 1)
        if text := _joined(found):
            self.by_path[path] = text

    def _line(self, number: int) -> str:
        return self._lines[number] if number < len(self._lines) else ""


def toml_comments(text: str) -> dict[str, str]:
    """Return the comments of a valid TOML file by path; those within a list are the list's."""
    found: dict[str, list[str]] = {}
    tables: dict[str, int] = {}
    table, above = "", list[str]()
    for line, comments in _toml_lines(text):
        if not line.strip():
            if not comments:
                above = []
            above += comments
            continue
        if header := _TOML_TABLE.match(line):
            table = _resolved(header["key"], tables)
            if header["open"] == "[[":
                plain = table
                tables[plain] = tables.get(plain, -1) + 1
                table = f"{plain}[{tables[plain]}]"
            path = table
        elif key := _TOML_KEY.match(line):
            path = f"{table}.{_plain(key['key'])}" if table else _plain(key["key"])
        else:
            above = []
            continue
        found.setdefault(path, []).extend([*above, *comments])
        above = []
    return {path: joined for path, each in found.items() if (joined := _joined(each))}


def _toml_lines(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each entry without its comments, and those; an entry spans several lines while a bracket is open."""
    pieces: list[str] = []
    comments: list[str] = []
    depth = at = 0
    for token in _TOML_TOKEN.finditer(text):
        pieces.append(text[at : token.start()])
        at = token.end()
        if token["comment"] is not None:
            comments.append(token["comment"])
        elif token[0] != "\n":
            depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token[0], 0)
            pieces.append(token[0])
        elif depth <= 0:
            yield "".join(pieces), comments
            pieces, comments, depth = [], [], 0
    yield "".join([*pieces, text[at:]]), comments


def _plain(key: str) -> str:
    return ".".join(part.strip("\"'") for part in re.findall(_TOML_PART, key))


def _resolved(key: str, tables: dict[str, int]) -> str:
    """Return the path of a table, with the number of each list of tables that it is in."""
    path = ""
    parts = [part.strip("\"'") for part in re.findall(_TOML_PART, key)]
    for number, part in enumerate(parts):
        path = f"{path}.{part}" if path else part
        if path in tables and number < len(parts) - 1:
            path = f"{path}[{tables[path]}]"
    return path


def _joined(comments: list[str]) -> str:
    return " ".join(text for each in comments if (text := each.strip().lstrip("#").strip()))
