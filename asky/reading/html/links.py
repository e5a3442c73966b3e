"""A page's links: absolute, each address once, with their position in its kept text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from urllib.parse import urljoin, urlsplit

from asky.reading.html.survey import Anchor
from asky.reading.limits import MAX_LINKS, MAX_URL_CHARS
from asky.text.scrub import one_line
from asky.values import Link

_LABEL_CHARS = 200
_TIDY = re.compile(r"[\t\n\r]")
_BLANK = re.compile(r"[\x00-\x20\x7f]")
# Most references have these forms, and joining and splitting them takes ten times as long as recognising them.
_ORIGIN = re.compile(r"https?://[\w.-]+(?::\d+)?(?=[/?#]|\Z)", re.ASCII)
_ROOTED = re.compile(r"(?:/[\w-][\w.~%+,=-]*)+/?", re.ASCII)
_PLAIN = re.compile(r"https?://[\w.-]+(?::\d+)?(?:[/?][!-~]*)?", re.ASCII)
_LIST_MARK = re.compile(r"\s*(?:- |(?:\d{1,6}|[A-Za-z]{1,8})\. )")


def absolute_url(reference: str, base: str | None) -> str | None:
    """Resolve `reference` against `base`: http or https, without a fragment; `None` for anything else.

    Addresses with a user name or beyond `MAX_URL_CHARS` are never offered, hence `None` too.
    """
    reference, _, _ = _TIDY.sub("", reference.strip()).partition("#")
    try:
        url = _joined(reference, base or "")
        if not _PLAIN.fullmatch(url):
            parts = urlsplit(url)
            if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
                return None
            url = _BLANK.sub(lambda blank: f"%{ord(blank[0]):02X}", url)
    except ValueError:
        return None
    return url if len(url) <= MAX_URL_CHARS else None


def _joined(reference: str, base: str) -> str:
    if reference.startswith(("http://", "https://")):
        return reference
    origin = _ORIGIN.match(base) if _ROOTED.fullmatch(reference) else None
    return origin[0] + reference if origin else urljoin(base, reference)


def links_of(
    anchors: Sequence[Anchor], seen: str, text: str, *, base: str | None, page: str | None
) -> tuple[Link, ...]:
    """Convert `anchors`, whose offsets are in the text `seen`, to links with offsets in the kept text.

    In page order. Of a repeated address the first position within `text` counts, else the first. Fragments are not part
    of an address, and a link to the page itself is left out. At most `MAX_LINKS`: those in the text come first.
    """
    places = _Places(seen, text)
    # without their fragments: the contents of a long page have hundreds of them
    urls = {target: absolute_url(target, base) for target in {anchor.href.partition("#")[0] for anchor in anchors}}
    found: dict[str, tuple[int, Link]] = {}
    for number, anchor in enumerate(anchors):
        start = places.find(anchor.start)
        url = urls[anchor.href.partition("#")[0]]
        if url is None or url == page or (url in found and (start is None or found[url][1].start < len(text))):
            continue
        label = one_line("".join(anchor.pieces), _LABEL_CHARS) or one_line(anchor.label, _LABEL_CHARS)
        found[url] = (number, Link(url, label, len(text) if start is None else start))
    return tuple(link for _, link in sorted(_within_limit(found.values(), len(text)), key=lambda item: item[0]))


def _within_limit(found: Iterable[tuple[int, Link]], end: int) -> list[tuple[int, Link]]:
    ordered = sorted(found, key=lambda item: (item[1].start >= end, item[0]))
    return ordered[:MAX_LINKS]


class _Places:
    """Maps the blocks of one text to their positions in another that contains some of them, by their first lines."""

    def __init__(self, seen: str, text: str) -> None:
        self._seen = seen
        self._starts: dict[str, list[int]] = {}
        self._found: dict[int, int | None] = {}
        start = 0
        for line in text.split("\n"):
            self._starts.setdefault(_key(line), []).append(start)
            start += len(line) + 1
        self._starts.pop("", None)

    def find(self, start: int) -> int | None:
        """Return the position of the block at `start` of the seen text; equal blocks are matched top down."""
        if start not in self._found:
            end = self._seen.find("\n", start)
            places = self._starts.get(_key(self._seen[start : len(self._seen) if end < 0 else end]))
            self._found[start] = places[0] if places else None
            if places and len(places) > 1:
                del places[0]
        return self._found[start]


def _key(line: str) -> str:
    mark = _LIST_MARK.match(line)
    return line[mark.end() :].strip() if mark else line.strip()
