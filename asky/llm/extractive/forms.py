"""The form of a passage: prose, or one of the forms whose lines are units of their own."""

from __future__ import annotations

import re
from collections import Counter
from typing import Literal

from asky.text.sentences import TIME_STAMP
from asky.text.tables import NAME_CHARS
from asky.values import Span

Form = Literal["prose", "rows", "fields", "code", "log"]

_MOST = 0.7  # the share of lines that decides the form of a passage; the others may be headings and comments
_LOG_SHARE = 0.5  # lines that continue an entry have no time
_CODE_SHARE = 0.45
_PATH_SHARE = 0.5
_FEW_LINES = 3
_SEVERAL_ROWS = 2
_MAX_LINE = 600  # characters; a longer line is a paragraph

_SENTENCES = re.compile(r"[a-z]{2}[.!?] [A-Z][a-z]+ [a-z]+ [a-z]+ .*[a-z]{2}[.!?](?: |$)")

_CELL = re.compile(r"[^;:\n]{1,60}: [^;\n]*")
_MAX_FIRST_CELL = 80  # characters of one without a name
_FIELD = re.compile(r"[^\s:#=](?:[^:\n=]|:(?=\S)){0,150}?: \S.*|[^\s:#=][^\s:=]{0,150}? ?= ?\S.*")
_PATH = re.compile(r"(?:\[\d+\])+[.:]|(?:[\w$@-]+[.\[])+|[a-z][\w$@-]*(?::| ?=)|[\w$@-]+[_-][\w$@-]+(?::| ?=)")
_BESIDE_SETTINGS = re.compile(r"[#;]|\[(?!\d+\][.:\[])")  # a comment or the name of a section: no member of a list
_IN_LIST = re.compile(r"[\w$@.-]*(?:\[\d+\])+(?:[.\[][\w$@.\[\]-]*)?: ")  # a value of a list, which may have sentences
_CODE_LINE = re.compile(
    r".*[;{}]$|.*\)\s*(?::|=>|->.*:|\{)$|[}\])]+[;,)]*$|\s*(?://|/\*|\*/|\#!|\#include|@\w+|--\s)"
    r"|\s*(?:def|class|return|import|from\s+\S+\s+import|const|let|var|function|async|await|export|if\s*\(|for\s*\("
    r"|while\s*\(|public|private|protected|static|void|func|fn|pub|impl|struct|enum|interface|package|use\s+\S+;"
    r"|elif|except|raise|yield|with\s+\S+.*:|switch|case\s.*:|try\s*[:{]|else\s*[:{]|end$|SELECT|CREATE|INSERT)\b"
    r"|\s*[\w.\[\]\"']+\s*(?::\s*[\w\[\], .|]+)?\s*(?:=|\+=|-=|:=)\s*\S|\s*[\w.]+\(.*\)$|\s*\"\"\"|\s*\#\s"
)
_MEMBER = re.compile(r"^\s*([^\s:=]*\[\d+\])\.[^\s:=.]+\s*[:=]", re.MULTILINE)
_MAX_MEMBERS = 2
_BLOCK = re.compile(r"[^\n]*\S[^\n]*(?:\n[^\n]*\S[^\n]*)*")
_BIBTEX = re.compile(r"^@[A-Za-z]{3,20}[ \t]*\{[^\n]*,[ \t]*$", re.MULTILINE)
_CODE_NAME = re.compile(
    r"\.(?:py|pyi|js|jsx|mjs|cjs|ts|tsx|go|rs|java|kt|kts|c|h|cc|cpp|hpp|cs|rb|php|swift|scala|sh|bash|zsh|sql|lua|r|jl"
    r"|pl|ps1|dart|ex|exs|erl|hs|clj|vue|css|scss|tf|gradle|proto)$|^(?:Dockerfile|Makefile)$",
    re.IGNORECASE,
)


def form_of(text: str, title: str = "") -> Form:
    """Return the form of a passage from its lines, and from `title` if that is the name of a file."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if not lines:
        return "prose"
    if is_code_name(title):
        return "code"
    rows = sum(map(is_row, lines))
    if rows >= _SEVERAL_ROWS and 2 * rows >= len(lines):  # above them stand the table's name and its head
        return "rows"
    if _share(lines, _IN_LIST) >= _MOST and all(len(line) <= _MAX_LINE for line in lines):
        return "fields"
    if any(len(line) > _MAX_LINE or _SENTENCES.search(line) for line in lines):
        return "code" if _looks_like_code(text) else "prose"
    if _share(lines, TIME_STAMP) >= _LOG_SHARE and (len(lines) > 1 or title.casefold().endswith(".log")):
        return "log"
    if rows >= _MOST * len(lines):
        return "rows"
    settings = [line for line in lines if not _BESIDE_SETTINGS.match(line)] or lines
    is_work = _BIBTEX.search(text) is not None  # a line of an entry says nothing alone
    if not is_work and _share(settings, _FIELD, whole=True) >= _MOST and _share(settings, _PATH) >= _PATH_SHARE:
        return "fields"
    return "code" if _looks_like_code(text) else "prose"


def is_code_name(name: str) -> bool:
    """Return whether a name is that of a file of source code."""
    return _CODE_NAME.search(name) is not None


def is_row(line: str) -> bool:
    """Return whether a line is the row of a table with the name of each value: `month: May; units: 5`.

    The first column may have no name: `guests; 2022: 40; 2023: 12`.
    """
    first, *others = re.split(r"; ?", line.strip())
    is_named = _CELL.fullmatch(first) is not None or (len(first) <= _MAX_FIRST_CELL and ":" not in first)
    return bool(others) and is_named and all(_CELL.fullmatch(other) for other in others)


def is_head(line: str, below: str) -> bool:
    """Return whether a line has the names of the columns of the row below it: `month; units` of `month: May; units: 5`.

    Of a row, the first column may have no name, and empty cells are left out.
    """
    names = [name.strip()[:NAME_CHARS] for name in line.split("; ")]
    named = [cell.partition(": ")[0] for cell in re.split(r"; ?", below.strip()) if ": " in cell]
    return len(names) > 1 and not is_row(line) and is_row(below) and set(named) <= set(names)


def small_objects(text: str) -> frozenset[str]:
    """Return the paths of the objects in lists that have two members, such as a name and its value."""
    owners = Counter(match[1] for match in _MEMBER.finditer(text))
    return frozenset(owner for owner, count in owners.items() if 1 < count <= _MAX_MEMBERS)


def loose_code(text: str) -> list[Span]:
    """Return the paragraphs of a text that are code without a fence, as in a book or a rich text; in order."""
    blocks = [Span(*block.span()) for block in _BLOCK.finditer(text)]
    return [each for each in blocks if _is_code(text[each.start : each.end])]


def _is_code(block: str) -> bool:
    lines = block.split("\n")
    return lines[0][:2].isspace() or _share([line.rstrip() for line in lines], _CODE_LINE) >= _CODE_SHARE


def _looks_like_code(text: str) -> bool:
    lines = [line.rstrip() for line in text.split("\n") if line.strip()]
    return len(lines) > _FEW_LINES and "```" not in text and _share(lines, _CODE_LINE) >= _CODE_SHARE


def _share(lines: list[str], pattern: re.Pattern[str], *, whole: bool = False) -> float:
    matches = pattern.fullmatch if whole else pattern.match
    return sum(matches(line) is not None for line in lines) / len(lines)
