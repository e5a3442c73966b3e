"""The exponents of a page: `10<sup>6</sup>` is read as `10^6`, not as 106."""

from __future__ import annotations

import html
import re

from asky.reading.raised.exponents import Shift, spelled

_SHIFTED = re.compile(
    r"<(?P<tag>sup|sub)(?:\s[^<>]{0,200})?>(?P<content>(?:[^<>]|</?(?:i|em|b|strong|var|span|small)(?:\s[^<>]{0,200})?>){1,80})"
    r"</(?P=tag)\s*>",
    re.IGNORECASE,
)
_ANY = re.compile(r"<su[pb][\s>]", re.IGNORECASE)
_TAG = re.compile(r"</?([a-z][a-z0-9]*)[^<>]*>", re.IGNORECASE)
_INLINE = frozenset("i em b strong var span small sup sub font mark u abbr cite q dfn tt".split())  # noqa: SIM905
_NEAR = 200  # characters of source that hold the base of an exponent


def with_powers(source: str) -> str:
    """Return the source of a page with the exponents of its `<sup>` as `^...`, see `asky.reading.raised.exponents`.

    Other raised and lowered text stays as it is, without tags: the extractor would part `CO<sub>2</sub>` on small
    pages. What contains a link keeps its tags.
    """
    if _ANY.search(source) is None:
        return source
    pieces: list[str] = []
    position = 0
    last: re.Match[str] | None = None
    for match in _SHIFTED.finditer(source):
        before = _before(source[max(0, match.start() - _NEAR) : match.start()])
        content = _visible(match["content"])
        after = _after(source[match.end() : match.end() + _NEAR])
        shift = Shift(len(before), len(before) + len(content), match["tag"].lower() == "sup")
        shifts = [shift]
        if last is not None and last.end() == match.start():  # an exponent above an index, or the other way round
            length = len(_visible(last["content"]))
            shifts.insert(0, Shift(len(before) - length, len(before), last["tag"].lower() == "sup"))
        last = match
        written = spelled(f"{before}{content}{after}", shifts, {})
        kept = written[len(before) : len(written) - len(after)] if written.startswith(before) else content
        pieces += [source[position : match.start()], html.escape(kept, quote=False)]
        position = match.end()
    return "".join([*pieces, source[position:]])


def _before(source: str) -> str:
    """Return the text that ends a piece of source, from its last block on."""
    if "<" not in source[: source.find(">") + 1]:
        source = source[source.find(">") + 1 :]  # it began inside a tag
    blocks = [tag.end() for tag in _TAG.finditer(source) if tag[1].lower() not in _INLINE]
    return _visible(source[blocks[-1] if blocks else 0 :])


def _after(source: str) -> str:
    """Return the text that begins a piece of source, up to its first block."""
    block = next((tag.start() for tag in _TAG.finditer(source) if tag[1].lower() not in _INLINE), len(source))
    return _visible(source[:block]).partition("<")[0]


def _visible(source: str) -> str:
    return html.unescape(_TAG.sub("", source))
