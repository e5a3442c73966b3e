"""The answer of a run as the text of a note's section: harmless, with a link in place of each citation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from urllib.parse import quote

from asky.evidence.citations.scanner import AnswerScanner
from asky.notes.harmless import harmless
from asky.text.wikilinks import visible
from asky.values import Answer, Source

PREVIEW_CHARS = 500
_MAX_TITLE_CHARS = 120
_GROUP = re.compile(r"[ \t]*\[(\d{1,3}(?:, \d{1,3})*)\]")
_NO_LABEL = re.compile(r"[^\w\s.,;:()'’&+/–—?!\"“”„‚‘-]|:(?=:)")  # could be markup, to Markdown or to a plugin
_URL_SAFE = "/:?#@!&'*+,;=%-._~"  # not the brackets, which would end a link
_BARE = re.compile(r"%(?![0-9A-Fa-f]{2})|(?<=:):")


def render_section(answer: Answer, links: Mapping[str, str]) -> str:
    """Return the text of `answer`, made harmless, with links in place of `[n]`.

    `links` has the link to each cited source by its id. Links stand in parentheses, unless the sentence goes on around
    them; of several in a row to one source, in consecutive sentences of a paragraph or items of a list, the last stays.
    Code is unchanged.
    """
    sources = {each.n: each.source.id for each in answer.citations}
    text = harmless(_with_groups(answer.text), urls=(), wikilinks=())
    groups = list(_link_groups(visible(text), sources, links))
    pieces, end = list[str](), 0
    for number, (start, stop, shown) in enumerate(groups):
        pieces.append(text[end:start])
        end = stop
        following = groups[number + 1] if number + 1 < len(groups) else None
        if following is None or following[2] != shown or not _belongs(text[:start], text[stop : following[0]]):
            pieces.append(" " * bool(start) + _placed(shown, text[:start], text[stop:]))
    return "".join([*pieces, text[end:]]).strip()


def _belongs(before: str, between: str) -> bool:
    """Return whether what follows is of the same paragraph or list, or is introduced by what comes before."""
    return "\n\n" not in between or before.endswith(":")


def _link_groups(text: str, sources: Mapping[int, str], links: Mapping[str, str]) -> Iterator[tuple[int, int, str]]:
    """Yield the start and the end of each `[1, 2]` in `text`, and the links to its sources, each once."""
    for found in _GROUP.finditer(text):
        numbers = [int(each) for each in found[1].split(", ")]
        shown = dict.fromkeys(links[sources[each]] for each in numbers if each in sources)
        if shown:
            yield found.start(), found.end(), ", ".join(shown)


def _placed(links: str, before: str, after: str) -> str:
    """Return links as they stand between two parts of a text: in parentheses, or as words of a sentence."""
    is_word = before[-1:].isalnum() and re.match(r"[ \t]*[^\W_]|,", after) is not None
    return links if is_word or before.endswith("(") else f"({links})"


def _with_groups(text: str) -> str:
    """Return an answer with `[1, 2]` in place of `[1][2]`: next to each other they would be a link."""
    return "".join(_grouped(text))


def _grouped(text: str) -> Iterator[str]:
    scanner, numbers, gap = AnswerScanner(numbered=True), list[str](), ""
    for piece in scanner.feed(text) + scanner.close():
        if piece.kind == "number":
            numbers.append(piece.source[1:-1])
            gap = ""
        elif numbers and not piece.source.strip() and "\n" not in piece.source:
            gap += piece.source
        else:
            yield f"[{', '.join(numbers)}]{gap}" if numbers else ""
            yield piece.source
            numbers, gap = [], ""
    yield f"[{', '.join(numbers)}]" if numbers else ""


def web_link(source: Source) -> str:
    """Return `[Title](URL)` for a web page or a paper; its title without what could be markup."""
    title = " ".join(_NO_LABEL.sub(" ", source.title).split())[:_MAX_TITLE_CHARS].strip() or "source"
    url = _BARE.sub(lambda match: quote(match[0], safe=""), source.url or "")
    return f"[{title}]({quote(url, safe=_URL_SAFE)})"


def preview(section: str) -> str:
    """Return the first 500 characters of a section, followed by `...` if there are more."""
    return section if len(section) <= PREVIEW_CHARS else f"{section[:PREVIEW_CHARS]}..."
