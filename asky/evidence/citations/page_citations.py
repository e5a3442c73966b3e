"""Citations of papers by page, `[2509.10446v1, page 5]`: written for the reader, and read where a model writes them.

A model sees passage keys. One that writes pages all the same is understood if the page was shown: its citation becomes
the key of the passage on that page which shares most words with the sentence before it. Anything else of this form
cites nothing, and is struck out like an unknown key.

Understood are `page 5`, `pages 5-6`, `pages 5, 7 and 9`, `p. 5`, `pp. 5-6`, `p5`, printed page numbers such as `iv`
and `page iv (PDF 6)`, arXiv ids of both styles with or without their version, DOIs and other names of papers, and
several of these in one bracket. Without the version, the version that was shown is meant.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from asky.evidence.citations.rewriting import StreamRewriter
from asky.evidence.citations.scanner import AnswerScanner
from asky.evidence.paper_names import PAPER_URI, paper_name
from asky.text.terms import STOP_WORDS, words
from asky.values import Evidence, Page, Source

_MAX_CHARS = 400  # a longer bracket is prose
_MAX_RANGE = 50  # pages; a longer range cites nothing in particular
_ALIAS = "Pffffffff{:08x}"  # longer than any key that is issued

_PLACE = r"[A-Za-z]{0,3}-?\d{1,5}|[ivxlcdmIVXLCDM]{1,9}"
_PDF = r"(?:\s*\(PDF\s*(?:p\.?\s*|page\s*)?\d{1,5}\))"
_RANGE = rf"(?:{_PLACE}){_PDF}?(?:\s*[-–—]\s*(?:{_PLACE}){_PDF}?)?"
_BETWEEN = r"\s*(?:,\s*and|,\s*&|,|&|and)\s*"
_MORE = rf"(?:{_BETWEEN}(?:(?:pages?|pp?)\b\.?\s*)?(?:{_RANGE})(?![\w./]))*"
_ITEM = re.compile(
    rf"(?P<name>[^\s,;\[\]](?:[^,;\[\]]|[,;](?=\S)){{0,199}}?)\s*,?\s+"
    rf"(?:pages?|pgs?|pp?)\b\.?\s*(?P<places>(?:{_RANGE})(?![\w./]){_MORE})",
    re.IGNORECASE,
)
_BETWEEN_ITEMS = re.compile(r"\s*(?:[;,]\s*(?:and\s+)?|and\s+|&\s*)", re.IGNORECASE)
_ONE_RANGE = re.compile(
    rf"(?<!\w)(?P<first>{_PLACE})(?!\w)(?P<pdf>{_PDF})?(?:\s*[-–—]\s*(?P<last>{_PLACE})(?P<last_pdf>{_PDF})?)?",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"(?:(?:see|also|cf|sources?|arxiv|doi|paper|id)\b[.:]?\s*|https?://[^\s/]+/(?:abs/|pdf/)?)+", re.IGNORECASE
)
_P_DIGITS = re.compile(r"\b(pp?)(?=\d)", re.IGNORECASE)
_BRACKET = re.compile(r"\\?\[")
_CLOSING = re.compile(r"\\?\]")
_BREAK = re.compile(r"[\[\]]|\n[ \t>]*\n")
_NUMBER = re.compile(r"\d+")
_VERSION = re.compile(r"v[1-9]\d{0,3}$")


@dataclass(frozen=True, slots=True)
class PageCitation:
    """A paper as it is named and the pages cited, as `(first, last)` labels or numbers; `written` is all of it."""

    name: str
    ranges: tuple[tuple[str, str], ...]
    written: str


PagesOf = Callable[[int], Sequence[Page]]
"""Returns all pages of the document with an id, in order."""


def read_page_citations(content: str) -> tuple[PageCitation, ...]:
    """Return the citations in the content of a bracket, in order; none if it holds anything else. Linear time."""
    text = _P_DIGITS.sub(r"\1 ", " ".join(content.replace("\\", "").replace("*", "").split()))
    if len(text) > _MAX_CHARS:
        return ()
    found, position = list[PageCitation](), 0
    while position < len(text):
        item = _ITEM.match(text, position)
        if item is None:
            return ()
        lead = _LEAD.match(item["name"])
        name = item["name"][lead.end() if lead else 0 :].strip(" \"'`_") or item["name"]
        found.append(PageCitation(name, tuple(_ranges(item["places"])), item.group().strip()))
        position = item.end()
        if position < len(text):
            between = _BETWEEN_ITEMS.match(text, position)
            if between is None:
                return ()
            position = between.end()
    return tuple(found)


def with_pages(text: str, citations: Sequence[Mapping[str, object]]) -> str:
    """Return an answer with `[2509.10446v1, page 5]` in place of each `[n]` that cites a paper.

    `citations` are those of its `asky.answer/1` object. Of several markers in a row with one page, one stays. Code is
    unchanged. Linear time.
    """
    by_number = {each["n"]: each for each in citations}
    made, last = list[str](), ""
    scanner = AnswerScanner(numbered=True)
    for piece in scanner.feed(text) + scanner.close():
        cited = by_number.get(int(piece.source[1:-1])) if piece.kind == "number" else None
        mark = page_citation(cited) if cited is not None else None
        if mark is None:
            made.append(piece.source)
            last = last if not piece.source.strip() and "\n" not in piece.source else ""
        elif mark != last:
            made.append(f" {mark}" if last and made[-1] == last else mark)
            last = mark
    return "".join(made)


def page_citation(citation: Mapping[str, object]) -> str | None:
    """Return `[2509.10446v1, page 5]` for a citation of a paper, an object of an answer; `None` for any other."""
    name, page = citation.get("paper"), citation.get("page_label") or citation.get("page")
    if name is None:
        return None
    return f"[{name}, page {page}]" if page is not None else f"[{name}]"


def cites_page(citation: Mapping[str, object], wanted: PageCitation) -> bool:
    """Return whether a citation, an object of an answer, is of one of the pages that `wanted` names."""
    name, page, label = citation.get("paper"), citation.get("page"), citation.get("page_label")
    if not isinstance(name, str) or not isinstance(page, int):
        return False
    if wanted.name.lower() not in (name.lower(), _VERSION.sub("", name.lower()), str(citation.get("doi")).lower()):
        return False
    shown = str(label or page).lower()
    return any(
        first.lower() == shown or (first.isdecimal() and last.isdecimal() and int(first) <= page <= int(last))
        for first, last in wanted.ranges
    )


@dataclass(slots=True)
class PageCitations:
    """Finds the passages that citations by page mean, among those `shown` in a run, which may grow."""

    shown: Mapping[str, Evidence]
    pages_of: PagesOf
    _pages: dict[int, Sequence[Page]] = field(default_factory=dict)

    def keys(self, citation: PageCitation, sentence: str) -> tuple[str, ...]:
        """Return the key of a passage for each page that `citation` names, each once; none if a page was not shown.

        Of several passages on a page, that which shares most words with `sentence`; of equal ones the first shown.
        """
        passages = [each for each in self.shown.values() if _is_named(citation.name, each.source)]
        if not passages:
            return ()
        pages = {page.index: page for page in self._pages_of(passages[0].document_id)}
        wanted = frozenset(words(sentence)) - STOP_WORDS
        keys: dict[str, None] = {}
        for first, last in citation.ranges:
            begin, end = _index(pages.values(), first), _index(pages.values(), last)
            if begin is None or end is None or not 0 <= end - begin < _MAX_RANGE:
                return ()
            for index in range(begin, end + 1):
                there = [each for each in passages if index in pages and _stands_on(each, pages[index])]
                if not there:
                    return ()
                keys[max(there, key=lambda each: len(wanted.intersection(words(each.text)))).key] = None
        return tuple(keys)

    def _pages_of(self, document_id: int) -> Sequence[Page]:
        if document_id not in self._pages:
            self._pages[document_id] = self.pages_of(document_id)
        return self._pages[document_id]


class PageCitationStream(StreamRewriter):
    """Replaces citations by page in an answer with keys; see `PageCitations`. An open bracket is held back."""

    def __init__(self, citations: PageCitations) -> None:
        super().__init__()
        self._citations = citations

    def _pieces(self, *, is_final: bool) -> Iterator[str]:
        while self._held:
            opening = _BRACKET.search(self._held)
            if opening is None:
                keep = 0 if is_final or not self._held.endswith("\\") else 1
                yield self._pass(len(self._held) - keep)
                return
            stop = _BREAK.search(self._held, opening.end())
            if stop is None and not is_final and len(self._held) - opening.end() <= _MAX_CHARS:
                yield self._pass(opening.start())
                return
            yield self._pass(opening.start())
            length = opening.end() - opening.start()
            found = read_page_citations(self._held[length : stop.start() - opening.start()]) if stop is not None else ()
            if stop is None or stop.group() != "]" or not found:
                yield self._pass(length)
                continue
            keys = ", ".join(key for each in found for key in self._keys_or_struck(each))
            self._before = ""
            self._held = self._held[stop.end() - opening.start() :]
            yield f"[{keys}]"

    def _keys_or_struck(self, citation: PageCitation) -> Iterable[str]:
        keys = self._citations.keys(citation, self._last_sentence())
        if keys:
            return keys
        alias = _ALIAS.format(len(self.struck))
        self.struck[alias] = f"[{citation.written.replace('~', '')}?]"
        return (alias,)


def _index(pages: Collection[Page], place: str) -> int | None:
    """Return the page with this printed number, or else the page of the PDF with this number, if there is one."""
    printed = (page.index for page in pages if page.label is not None and page.label.lower() == place.lower())
    found = next(printed, None)
    if found is None and place.isdecimal():
        found = next((page.index for page in pages if page.index == int(place)), None)
    return found


def _stands_on(passage: Evidence, page: Page) -> bool:
    return passage.span.start < page.end and page.start < passage.span.end


def _is_named(name: str, source: Source) -> bool:
    cited = paper_name(source)
    if cited is None:
        return False
    names = (cited, source.uri.removeprefix(PAPER_URI), source.doi or "")
    return name.lower() in map(str.lower, names)


def _ranges(places: str) -> Iterator[tuple[str, str]]:
    for each in _ONE_RANGE.finditer(places):
        first = _physical(each["first"], each["pdf"])
        last = _physical(each["last"], each["last_pdf"]) if each["last"] else first
        yield first, _completed(first, last)


def _physical(place: str, pdf: str | None) -> str:
    """Return the number of the page in the PDF, if it is given as in `iv (PDF 6)`."""
    found = _NUMBER.search(pdf or "")
    return found.group() if found else place


def _completed(first: str, last: str) -> str:
    """Return `128` for the end of `125-8`."""
    if first.isdecimal() and last.isdecimal() and int(last) < int(first) and len(last) < len(first):
        return first[: -len(last)] + last
    return last
