"""JSON as people write it in settings: with comments, commas too many, single quotes and keys without quotes (JSON5).

Source: json5.org, spec 1.0; the JSON with comments of editors' settings.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from asky.reading.settings.json_tree import Pairs

_TOKEN = re.compile(
    r"""(?P<space>[\s\ufeff]+)|//(?P<line>[^\n]*)|/\*(?P<block>.*?)\*/|(?P<sign>[{}\[\]:,])"""
    r"""|"(?P<double>(?:[^"\\\n]|\\[\s\S])*)"|'(?P<single>(?:[^'\\\n]|\\[\s\S])*)'|(?P<word>[^\s{}\[\]:,"'/]+)""",
    re.DOTALL,
)
_CONTINUED = re.compile(r"\\\r?\n")
_SINGLE = re.compile(r"\\'|\"")
_STARS = re.compile(r"^[ \t]*\*+[ \t]?", re.MULTILINE)
_WORD = re.compile(r"[+-]?(?:[\w.$+-]+)")
_CONSTANTS = {"true": True, "false": False, "null": None}
_MAX_DEPTH = 1_000  # as of the strict parser; each level makes the paths longer


class _Token(NamedTuple):
    kind: str
    value: str
    line: int


def parse_relaxed(text: str) -> tuple[object, dict[str, str]]:
    """Return the value of a text, objects as `Pairs` and numbers as written, and its comments by their values' paths.

    A comment belongs to the value on whose line it ends, else to the next one below it. Raises ValueError.
    """
    return _Parser(text).parse()


class _Parser:
    """Builds the value with a stack of its own: the depth of the file is untrusted."""

    def __init__(self, text: str) -> None:
        self._tokens = _tokens(text)
        self._above: list[str] = []
        self._comments: dict[str, list[str]] = {}
        self._last = ("", -1)  # the path of the last value or key, and its line
        self._stack: list[Pairs | list[object]] = []
        self._paths: list[str] = []
        self._key: str | None = None

    def parse(self) -> tuple[object, dict[str, str]]:
        holder: list[object] = []
        is_value_next = True
        for token in self._tokens:
            if token.kind == "comment":
                self._note(token)
            elif not self._stack and holder:
                raise ValueError(f"more than one value, line {token.line + 1}")
            elif token.kind == "sign" and token.value in "{[":
                if len(self._stack) >= _MAX_DEPTH or not self._may_hold():
                    raise ValueError(f"unexpected {token.value}, line {token.line + 1}")
                path = self._begin(token)
                value: Pairs | list[object] = Pairs() if token.value == "{" else []
                self._place(value, holder)
                self._stack.append(value)
                self._paths.append(path)
                is_value_next = True
            elif token.kind == "sign" and token.value in "}]":
                if (
                    not self._stack
                    or self._key is not None
                    or isinstance(self._stack[-1], Pairs) != (token.value == "}")
                ):
                    raise ValueError(f"unexpected {token.value}, line {token.line + 1}")
                self._stack.pop()
                self._last = (self._paths.pop(), token.line)
                is_value_next = False
            elif token.kind == "sign" and token.value == ",":
                if is_value_next or not self._stack or self._key is not None:
                    raise ValueError(f"unexpected comma, line {token.line + 1}")
                is_value_next = True
            elif token.kind == "sign":
                raise ValueError(f"unexpected colon, line {token.line + 1}")
            else:
                if not is_value_next:
                    raise ValueError(f"a comma is missing, line {token.line + 1}")
                is_value_next = self._take(token, holder)
        if not holder or self._stack:
            raise ValueError("the text ends too early")
        return holder[0], {path: " ".join(each) for path, each in self._comments.items() if path}

    def _take(self, token: _Token, holder: list[object]) -> bool:
        """Take a key or a plain value; return whether a value has to follow."""
        if self._stack and isinstance(self._stack[-1], Pairs) and self._key is None:
            following = next(self._uncommented(), None)
            if following is None or following.value != ":" or following.kind != "sign":
                raise ValueError(f"a colon is missing, line {token.line + 1}")
            self._key = token.value
            self._begin_key(token)
            return True
        if token.kind == "word" and not _WORD.fullmatch(token.value):
            raise ValueError(f"unexpected {token.value[:20]!r}, line {token.line + 1}")
        path = self._begin(token)
        self._place(_CONSTANTS.get(token.value, token.value) if token.kind == "word" else token.value, holder)
        self._last = (path, token.line)
        return False

    def _uncommented(self) -> Iterator[_Token]:
        for token in self._tokens:
            if token.kind != "comment":
                yield token
                return
            self._note(token)

    def _may_hold(self) -> bool:
        return not self._stack or not isinstance(self._stack[-1], Pairs) or self._key is not None

    def _path(self) -> str:
        if not self._stack:
            return ""
        if self._key is not None:
            return f"{self._paths[-1]}.{self._key}" if self._paths[-1] else self._key
        return f"{self._paths[-1]}[{len(self._stack[-1])}]"

    def _begin_key(self, token: _Token) -> None:
        self._last = (self._path(), token.line)
        self._attach(self._last[0])

    def _begin(self, token: _Token) -> str:
        path = self._path()
        self._last = (path, token.line)
        self._attach(path)
        return path

    def _attach(self, path: str) -> None:
        if self._above and path:
            self._comments.setdefault(path, []).extend(self._above)
            self._above = []

    def _place(self, value: object, holder: list[object]) -> None:
        if not self._stack:
            holder.append(value)
        elif self._key is not None:
            self._stack[-1].append((self._key, value))
            self._key = None
        else:
            self._stack[-1].append(value)  # type: ignore[arg-type]

    def _note(self, token: _Token) -> None:
        text = " ".join(_STARS.sub("", token.value).split()).lstrip("/ ")
        path, line = self._last
        if text and path and line == token.line:
            self._comments.setdefault(path, []).append(text)
        elif text:
            self._above.append(text)


def _tokens(text: str) -> Iterator[_Token]:
    at = line = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise ValueError(f"unexpected {text[at]!r}, line {line + 1}")
        kind, value = str(found.lastgroup), found[str(found.lastgroup)]
        if kind in ("line", "block"):
            yield _Token("comment", value, line)
        elif kind in ("double", "single"):
            yield _Token("string", _string(value, kind), line)
        elif kind != "space":
            yield _Token(kind, value, line)
        line += found[0].count("\n")
        at = found.end()


def _string(written: str, kind: str) -> str:
    """Return the characters of a quoted text."""
    written = _CONTINUED.sub("", written)
    if kind == "single":
        written = _SINGLE.sub(lambda sign: "'" if sign[0] == "\\'" else '\\"', written)
    try:
        return str(json.loads(f'"{written}"', strict=False))
    except ValueError:
        return written
