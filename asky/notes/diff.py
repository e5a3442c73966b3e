"""The difference between two versions of a note, as a unified diff."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import takewhile

_CONTEXT = 3
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_NO_LINE_END = "\\ No newline at end of file\n"


def unified_diff(old: bytes, new: bytes, name: str) -> str:
    """Return what changes from `old` to `new` as a unified diff with three lines of context; empty if nothing does.

    Lines end with LF; the CR of a CRLF belongs to its line, and a last line without an end is marked. Only what is
    between the first and the last change is compared, so a long note takes no time.
    """
    before, after = _lines(old), _lines(new)
    start = max(0, _common(before, after) - _CONTEXT)
    end = min(_common(before[start:][::-1], after[start:][::-1]), max(0, min(len(before), len(after)) - start))
    cut = max(0, end - _CONTEXT)
    hunks = list(_hunks(before[start : len(before) - cut], after[start : len(after) - cut], start))
    return "".join([f"--- {name}\n", f"+++ {name}\n", *hunks]) if hunks else ""


def _hunks(before: Sequence[str], after: Sequence[str], offset: int) -> Iterator[str]:
    for group in SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes(_CONTEXT):
        first, last = group[0], group[-1]
        yield f"@@ -{_range(first[1], last[2], offset)} +{_range(first[3], last[4], offset)} @@\n"
        for kind, i, j, k, m in group:
            if kind == "equal":
                yield from (_shown(" ", line) for line in before[i:j])
            else:
                yield from (_shown("-", line) for line in before[i:j])
                yield from (_shown("+", line) for line in after[k:m])


def _range(start: int, end: int, offset: int) -> str:
    """Return the range of lines of a hunk. Source: POSIX diff, unified format: an empty one begins after its line."""
    length = end - start
    first = start + offset + (1 if length else 0)
    return str(first) if length == 1 else f"{first},{length}"


def _shown(sign: str, line: str) -> str:
    return f"{sign}{line}" if line.endswith("\n") else f"{sign}{line}\n{_NO_LINE_END}"


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _lines(data: bytes) -> list[str]:
    return _LINE.findall(data.decode("utf-8", "replace"))
