"""The answer of a run as the text of a note's section: each citation as a link to its source."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import quote

from asky.evidence.citations.scanner import AnswerScanner
from asky.values import Answer, Source

_SPECIAL = re.compile(r"([\\\[\]`*_<>|])")
_MAX_TITLE_CHARS = 120
PREVIEW_CHARS = 500


def render_section(answer: Answer, link_to: Callable[[Source], str]) -> str:
    """Return the text of `answer` with a link in place of each `[n]`, as `link_to` writes it for the source of [n].

    Of several links in a row to one source, one stays. Code is unchanged. Linear time.
    """
    by_number = {each.n: each.source for each in answer.citations}
    links = {source.id: link_to(source) for source in by_number.values()}
    made, last = list[str](), ""
    scanner = AnswerScanner(numbered=True)
    for piece in scanner.feed(answer.text) + scanner.close():
        source = by_number.get(int(piece.source[1:-1])) if piece.kind == "number" else None
        if source is None:
            made.append(piece.source)
            last = last if not piece.source.strip() and "\n" not in piece.source else ""
        elif source.id != last:
            needs_space = bool(made) and not made[-1][-1:].isspace() and made[-1][-1:] not in "(“"
            made.append(" " * needs_space + links[source.id])
            last = source.id
    return "".join(made).strip()


def web_link(source: Source) -> str:
    """Return `[Title](URL)` for a web page or a paper."""
    title = " ".join(source.title.split())[:_MAX_TITLE_CHARS] or "source"
    shown = _SPECIAL.sub(r"\\\1", title)
    return f"[{shown}]({quote(source.url or '', safe=_URL_SAFE)})"


_URL_SAFE = "/:?#[]@!$&'*+,;=%-._~"  # all that an address may have but parentheses, which would end the link


def preview(section: str) -> str:
    """Return the first 500 characters of a section, followed by `...` if there are more."""
    return section if len(section) <= PREVIEW_CHARS else f"{section[:PREVIEW_CHARS]}..."
