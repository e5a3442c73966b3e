"""What the sheets of a book say that changes how its text is read: raised and lowered spans, and spans on lines."""

from __future__ import annotations

import re
from dataclasses import dataclass

_CLASS = re.compile(r"(?:span|em|i|b|strong|a|small)?\.(-?[_a-zA-Z][\w-]{0,80})")
_SHIFT = re.compile(r"vertical-align\s*:\s*(super|sub)\b", re.IGNORECASE)
_BLOCK = re.compile(r"display\s*:\s*(?:block|list-item|flex|grid|table-row)\b", re.IGNORECASE)
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_SHIFTED = re.compile(
    r"""<span\s(?:[^<>]{0,200}?\s)?(class|style)\s*=\s*["']([^"'<>]{1,200})["'][^<>]{0,200}>([^<>]{1,40})</span\s*>""",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class SpanStyles:
    """The classes of raised, of lowered and of block spans, as far as rules of a single class go."""

    raised: frozenset[str] = frozenset()
    lowered: frozenset[str] = frozenset()
    blocks: frozenset[str] = frozenset()


def styles_of(css: str) -> SpanStyles:
    """Return what the rules of some sheets say."""
    if "vertical-align" not in css and "display" not in css:
        return SpanStyles()
    found: dict[str, set[str]] = {"super": set(), "sub": set(), "block": set()}
    for rule in _COMMENT.sub(" ", css).split("}"):
        before, _, body = rule.rpartition("{")
        shift = _SHIFT.search(body)
        if shift is None and _BLOCK.search(body) is None:
            continue
        selectors = re.split(r"[{;]", before)[-1].split(",")
        names = {match[1] for each in selectors if (match := _CLASS.fullmatch(each.strip()))}
        found[shift[1].lower() if shift else "block"] |= names
    return SpanStyles(*map(frozenset, found.values()))


def with_shifts(source: str, styles: SpanStyles) -> str:
    """Return the source of a chapter with its raised and lowered spans as `sup` and `sub`."""
    if not (styles.raised or styles.lowered or "vertical-align" in source):
        return source

    def written(span: re.Match[str]) -> str:
        if span[1].lower() == "style":
            shift = _SHIFT.search(span[2])
            tag = ("sup" if shift[1].lower() == "super" else "sub") if shift else ""
        else:
            names = set(span[2].split())
            tag = "sup" if names & styles.raised else "sub" if names & styles.lowered else ""
        return f"<{tag}>{span[3]}</{tag}>" if tag else span[0]

    return _SHIFTED.sub(written, source)
