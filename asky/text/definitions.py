"""Definitions in source code: the line that begins one, and the kinds of them that a question asks for."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

_KINDS: dict[str, tuple[str, str]] = {  # how a question calls them; what stands in the line of one
    "class": (r"class(?:es)?|structs?|records?", r"\b(?:class|struct|record)\b"),
    "function": (
        r"functions?|methods?|procedures?|routines?|subroutines?",
        r"\b(?:def|function|func|fn|fun|sub|proc|procedure)\b|^[^(=]*\([^)]*\)[^;=]*\{",
    ),
    "exception": (
        r"exceptions?|errors?|error (?:types|classes)",
        r"\b(?:class|struct|enum|type|interface)\b.*(?:Exception|Error|Warning|Fault)\b",
    ),
    "interface": (r"interfaces?|protocols?|traits?", r"\b(?:interface|protocol|trait)\b|\bclass\b.*\bProtocol\b"),
    "enum": (r"enums?|enumerations?", r"\benum\b|\bclass\b.*\b\w*(?:Enum|Flag)\b"),
    "table": (r"tables?|views?", r"(?i:\bcreate\b.*\b(?:table|view)\b)"),
}
KIND_NAMES = "|".join(names for names, _ in _KINDS.values())
"""How questions call the kinds of definitions: alternatives of a regular expression."""
KIND_WORDS = """
    class classes struct record function method procedure routine subroutine exception error interface protocol trait
    enum enumeration table view define declare implement exist export raise throw provide offer include
"""
"""The words of questions for definitions that name no subject."""

_NAMED = {kind: re.compile(rf"\b(?:{names})\b", re.IGNORECASE) for kind, (names, _) in _KINDS.items()}
_LINES = {kind: re.compile(line) for kind, (_, line) in _KINDS.items()}
_SUBTYPE = re.compile(r"\b(?:class|interface|struct|enum)\s+(?P<name>\w+)(?P<bases>.*)")
_MAX_LINE = 200  # characters
_MOST_ABOVE = 12  # lines of comments and decorators
_REMARK = re.compile(r"\s+(?:#|//)\s.*")
_PRIVATE = re.compile(r"\b(?:def|class)\s+_|\bprivate\b")
_NO_DEFINITION = re.compile(r"\s*(?:#|//|/?\*|@|--)")


def kinds_in(question: str) -> frozenset[str]:
    """Return the kinds of definitions that `question` names: "which exceptions are there?"."""
    return frozenset(kind for kind, pattern in _NAMED.items() if pattern.search(question))


def definition_line(text: str, name: str) -> tuple[int, int] | None:
    """Return where the line that defines `name` stands near the beginning of `text`, without its indent,
    a remark behind it and an open bracket.

    Comments and decorators may stand above it. `None` if the line that has the name is no definition.
    """
    word = re.compile(rf"(?<![\w$]){re.escape(re.split(r'[.:]+', name)[-1])}(?![\w$])")
    for match in list(re.finditer(r"[^\n]*\S[^\n]*", text))[:_MOST_ABOVE]:
        line = match.group()
        if word.search(line) and not _NO_DEFINITION.match(line):
            start = match.start() + len(line) - len(line.lstrip())
            end = min(match.start() + len(_REMARK.sub("", line).rstrip().removesuffix("(")), start + _MAX_LINE)
            return (start, end) if _is_of(text[start:end], _LINES) else None
    return None


def is_private(line: str) -> bool:
    """Return whether a definition is for its own file only, as its underscore or keyword says."""
    return _PRIVATE.search(line) is not None


def are_of_kinds(lines: Sequence[str], kinds: Collection[str]) -> list[bool]:
    """Return which of these definitions are of one of `kinds`, or of any if that is empty.

    Those that are derived from one of them, by its name, are too.
    """
    chosen = [not kinds or _is_of(line, kinds) for line in lines]
    derived = [_SUBTYPE.search(line) for line in lines]
    names = {found["name"] for found, is_chosen in zip(derived, chosen, strict=True) if found and is_chosen}
    for number, found in enumerate(derived):
        if found is not None and not chosen[number] and names.intersection(re.findall(r"\w+", found["bases"])):
            chosen[number] = True
            names.add(found["name"])
    return chosen


def _is_of(line: str, kinds: Collection[str]) -> bool:
    return any(_LINES[kind].search(line) for kind in kinds)
