"""The rules of `.gitignore` files, matched one name at a time during a folder walk.

Implemented here because a walk needs what regular expressions over whole paths do not give: whether one entry is
excluded (the folders above it are known not to be), in bounded time. Measured with pathspec 1.1.1: the pattern
`*a*a*a*a*a*b` against a name of 120 letters takes 4.8 s, the usual `*`, `!*/`, `!*.md` excludes every folder, and its
import costs half of what discovering 1,000 files does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

_POSIX_CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "\\x21-\\x7e",
    "lower": "a-z",
    "print": "\\x20-\\x7e",
    "punct": "\\x21-\\x2f\\x3a-\\x40\\x5b-\\x60\\x7b-\\x7e",
    "space": "\\s",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}

_Matcher = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class IgnoreRule:
    """One line. `segments` are matchers of path components, with `None` for `**`; one segment if not anchored."""

    segments: tuple[_Matcher | None, ...]
    anchored: bool
    folders_only: bool
    excludes: bool

    def matches(self, parts: Sequence[str], *, folder: bool) -> bool:
        """Return whether the rule matches the entry `parts`, relative to the folder of the rule."""
        if self.folders_only and not folder:
            return False
        if not self.anchored:
            matcher = self.segments[0]
            return matcher is None or bool(matcher(parts[-1]))
        return _match_segments(self.segments, parts)


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The rules of one folder and of the folders above it; it lies `depth` levels below the root."""

    rules: tuple[IgnoreRule, ...] = ()
    depth: int = 0
    above: IgnoreRules | None = None

    def below(self, rules: tuple[IgnoreRule, ...], depth: int) -> IgnoreRules:
        """Return these rules with those of a subfolder, which take precedence; the same value if it has none."""
        return IgnoreRules(rules, depth, self) if rules else self

    def excludes(self, parts: Sequence[str], *, folder: bool) -> bool:
        """Return whether the entry `parts` (from the root) is excluded; the last rule decides, deeper folders first."""
        level: IgnoreRules | None = self
        while level is not None:
            rest = parts[level.depth :]
            for rule in reversed(level.rules):
                if rule.matches(rest, folder=folder):
                    return rule.excludes
            level = level.above
        return False


def parse_rules(lines: Iterable[str]) -> tuple[IgnoreRule, ...]:
    """Return the rules of an ignore file, in order, without blank lines, comments and lines that match nothing.

    Source: gitignore(5) and git's wildmatch.
    """
    return tuple(rule for line in lines if (rule := _parse_rule(line)) is not None)


def _parse_rule(line: str) -> IgnoreRule | None:
    pattern = _without_trailing_spaces(line.removesuffix("\n").removesuffix("\r"))
    if not pattern or pattern.startswith("#"):
        return None
    excludes = not pattern.startswith("!")
    pattern = pattern if excludes else pattern[1:]
    folders_only = pattern.endswith("/")
    pattern = pattern.removesuffix("/")
    anchored = "/" in pattern
    names = pattern.removeprefix("/").split("/")
    if not all(names):  # nothing left, or an empty component, which no path has
        return None
    segments: list[_Matcher | None] = []
    for name in names:
        if anchored and len(name) > 1 and not name.strip("*"):
            if segments[-1:] != [None]:
                segments.append(None)
            continue
        matcher = _matcher(name)
        if matcher is None:
            return None
        segments.append(matcher)
    if anchored and segments[-1] is None:  # `a/**` names what is inside `a`, not `a`
        segments.append(bool)
    return IgnoreRule(tuple(segments), anchored, folders_only, excludes)


def _without_trailing_spaces(line: str) -> str:
    kept = line.rstrip(" ")
    escaped = (len(kept) - len(kept.rstrip("\\"))) % 2 == 1
    return kept + " " if escaped and kept != line else kept


def _match_segments(segments: Sequence[_Matcher | None], parts: Sequence[str]) -> bool:
    """Match components, `None` matching any number; only the last `None` is retried, so the time is their product."""
    at = part = 0
    retry_at, retry_part = -1, 0
    while part < len(parts):
        if at < len(segments) and segments[at] is None:
            retry_at, retry_part = at, part
            at += 1
        elif at < len(segments) and (matcher := segments[at]) is not None and matcher(parts[part]):
            at += 1
            part += 1
        elif retry_at >= 0:
            retry_part += 1
            at, part = retry_at + 1, retry_part
        else:
            return False
    return at == len(segments)


def _matcher(glob: str) -> _Matcher | None:
    """Return a matcher of one path component, or `None` if git matches nothing (an unclosed `[`, a final backslash)."""
    pieces: list[str] = [""]  # regular expressions between stars
    at = 0
    plain = True
    while at < len(glob):
        char = glob[at]
        at += 1
        if char == "*":
            plain = False
            if pieces[-1] or len(pieces) == 1:
                pieces.append("")
        elif char == "?":
            plain = False
            pieces[-1] += "."
        elif char == "[":
            plain = False
            parsed = _parse_class(glob, at)
            if parsed is None:
                return None
            pieces[-1] += parsed[0]
            at = parsed[1]
        elif char == "\\":
            plain = False
            if at == len(glob):
                return None
            pieces[-1] += re.escape(glob[at])
            at += 1
        else:
            pieces[-1] += re.escape(char)
    return glob.__eq__ if plain else re.compile(_join_stars(pieces), re.DOTALL).fullmatch


def _join_stars(pieces: Sequence[str]) -> str:
    """Return one expression in which each star is lazy and never retried, except the last: linear, as in `fnmatch`."""
    if len(pieces) == 1:
        return pieces[0]
    middle = [f"(?=(?P<s{n}>.*?{piece}))(?P=s{n})" for n, piece in enumerate(pieces[1:-1])]
    return pieces[0] + "".join(middle) + ".*" + pieces[-1]


def _parse_class(glob: str, at: int) -> tuple[str, int] | None:
    """Return the expression of the bracket whose `[` is at `at - 1`, and its end; `None` if it is unclosed."""
    negated = glob[at : at + 1] in ("!", "^") and glob[at : at + 1] != ""
    at += negated
    items: list[str] = []
    first = True
    while at < len(glob) and (first or glob[at] != "]"):
        first = False
        named = re.compile(r"\[:([a-z]*):\]").match(glob, at)
        if named:
            if named.group(1) not in _POSIX_CLASSES:
                return None
            items.append(_POSIX_CLASSES[named.group(1)])
            at = named.end()
            continue
        low, at = _class_character(glob, at)
        high = low
        if glob[at : at + 1] == "-" and at + 1 < len(glob) and glob[at + 1] != "]":
            high, at = _class_character(glob, at + 1)
        if low <= high:
            items.append(f"{re.escape(low)}-{re.escape(high)}")
    if at >= len(glob):
        return None
    if not items:
        return ("." if negated else "(?!)"), at + 1
    return f"[{'^' if negated else ''}{''.join(items)}]", at + 1


def _class_character(glob: str, at: int) -> tuple[str, int]:
    if glob[at] == "\\" and at + 1 < len(glob):
        at += 1
    return glob[at], at + 1
