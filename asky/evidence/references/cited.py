"""Reads the citations of a text that a person or another tool wrote, and numbers them as `split_claims` expects.

Understood are numbers (`[3]`, `[1, 2]`, `[1-3]`, `【3†source】`, `day³`, `<sup>3</sup>`), footnotes (`[^3]`), links
(`[the report](report.pdf)`, `[the report][1]`, `[[Note]]`, addresses), names of files (`[report.pdf, p. 3]`), papers by
page (`[2509.10446v1, page 5]`), and authors with a year (`(Smith 2020)`, `Smith et al. (2020, p. 4)`, `[@smith2020]`).
What a number or an author means stands in the reference list, which is no claim and is left out. In code nothing is a
citation.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from urllib.parse import unquote

from asky.evidence.citations.page_citations import read_page_citations
from asky.evidence.citations.scanner import AnswerScanner
from asky.evidence.references.listed import ReferenceList, find_references
from asky.text.wikilinks import visible
from asky.values import Span

MAX_REFERENCES = 999
"""Different citations that are followed: as many as three digits number. Later ones are as if they were not there."""

_MAX_RANGE = 50  # numbers; `[1-900]` is no citation
_LINK = re.compile(
    r"(?P<image>!?)\[(?P<text>(?:\\.|[^\[\]\\\n]|\[[^\[\]\n]{0,200}\]){0,500})\]"
    r"\((?:<(?P<angled>[^<>\n]{1,2000})>|(?P<target>[^\s()<>]{1,2000}(?:\([^\s()<>]{0,200}\)[^\s()<>]{0,500}){0,5}))"
    r"(?:[ \t]+[\"'(][^\n]{0,300}?[\"')])?[ \t]*\)"
)
_FOOTNOTE = re.compile(r"\[\^(?P<note>[^\]\[\s]{1,100})\](?!:)")
_LABELLED = re.compile(r"\[(?P<text>[^\[\]\n]{1,300})\]\[(?P<label>[^\[\]\n]{0,200})\]")
_WIKILINK = re.compile(r"(?P<image>!?)\[\[(?P<note>[^\[\]|\n]{1,500})(?:\\?\|(?P<text>[^\[\]\n]{0,500}))?\]\]")
_ADDRESS = re.compile(r"<?(?P<url>https?://[^\s<>\"'`{}|\\^\[\]]{1,2000})>?")
_DAGGER = re.compile(r"[【\[](?P<number>\d{1,3})(?::\d{1,3})?†[^】\]\n]{0,200}[】\]]")
_KEYS = re.compile(r"\[(?P<keys>-?@[\w:.#$%&+?<>~/-]{1,100}[^\[\]\n]{0,200})\]")
_ONE_KEY = re.compile(
    r"@(?P<author>[^\W\d_]+)[^\W\d]{0,20}?_?(?P<year>(?:1[5-9]|20)\d\d)\w{0,20}(?:,\s*pp?\.?\s*(?P<page>\d{1,4}))?"
)
_BRACKET = re.compile(r"\((?P<round>[^()\n]{3,300}(?:\n[^()\n]{1,200})?)\)|\[(?P<square>[^\[\]\n]{3,300})\](?!\()")

_NAME = r"(?:(?:[Vv]an|[Vv]on|[Dd]e[rnl]?|[Dd]i|[Dd]a|[Ll][ae]|[Tt]er|[Aa]l)[ -]){0,3}[^\W\d_a-z][\w'’.-]{1,40}"
_YEAR = r"(?:1[5-9]|20)\d\d[a-z]?"
_PAGE = r"(?:[,:]?\s*(?:pages?|pgs?|pp?|S)\.?\s*|:\s*)(?P<page>\d{1,4})(?:\s*[-–]\s*(?P<last>\d{1,4}))?"
_AUTHORS = rf"(?P<author>{_NAME})(?P<more>(?:,?\s+(?:&|and|und|et)\s+{_NAME}|,\s+{_NAME}){{0,5}}(?:,?\s+et\s+al\.?)?)"
_AUTHOR_YEAR = re.compile(
    rf"(?:(?:see|also|cf|e\.g|by|in|as|from)[.,]?\s+){{0,3}}{_AUTHORS}(?P<comma>,?)\s+"
    rf"(?P<year>{_YEAR}(?:\s*,\s*{_YEAR}){{0,4}})(?:{_PAGE})?"
)
_NARRATIVE = re.compile(rf"(?<!\w){_AUTHORS}(?:['’]s)?\s+(?P<paren>\((?P<year>{_YEAR})(?:{_PAGE})?\))")
_BEFORE_YEARS = (
    "january february march april may june july august september october november december spring summer autumn fall"
    " winter since until before after version figure table section chapter part in of from copyright updated"
)
_NO_AUTHORS = frozenset(_BEFORE_YEARS.split())
_SUFFIXES = r"pdf|docx?|odt|md|markdown|txt|html?|epub|csv|tsv|xlsx?|pptx?|json|ya?ml|toml|rst|tex|org|eml|ipynb|py"
_FILE = re.compile(
    rf"(?:(?:see|also|source|sources|quelle|from|cf|file)[.:]?\s+){{0,3}}[`\"“]?(?P<file>(?!www\.)[^\s,;:`\"][^,;:`\"\n]{{0,200}}?"
    rf"\.(?:{_SUFFIXES}))[`\"”]?(?:{_PAGE})?(?:,\s*(?:section|sec\.|line|§)[^,;]{{0,80}})?",
    re.IGNORECASE,
)
_IN_NUMBER_PAGE = re.compile(r"\b(?:pages?|pgs?|pp?)\.?\s*(\d{1,4})(?:\s*[-–]\s*(\d{1,4}))?", re.IGNORECASE)
_NUMBERS = re.compile(r"(?<!\w)(\d{1,3})(?:\s*[-–—]\s*(\d{1,3}))?(?!\w)")
_LAST_PAGE = re.compile(r"\b(?:p\.|page)\s*(\d{1,4})(?:\s*[-–]\s*(\d{1,4}))?[\s.)]*$", re.IGNORECASE)
_ENDS = re.compile(r"[)*_\]”\"]*[ \t]*(?:[.!?…。।॥؟][)*_\]”\"]*(?=\s|\Z)|\n[ \t]*(?:\n|[-*+>|#]|\d{1,3}[.)])|\||\s*\Z)")
_JOINS = "(:["


@dataclass(frozen=True, slots=True)
class CitedReference:
    """What a citation refers to.

    `n` numbers it in `CitedText.text`, and `written` is its first citation, word for word. `names` are the texts that
    may name its source, the most telling first: an address, the name of a file, an entry of the reference list.
    `author` and `year` are those of a citation by them. `pages` are the cited ones, as `(first, last)`. A link within a
    sentence, whose text is part of it, `is_mention`: it may say where the statement stands, or only name something.
    """

    n: int
    written: str
    names: tuple[str, ...]
    author: str = ""
    year: str = ""
    pages: tuple[int, int] | None = None
    is_mention: bool = False


@dataclass(frozen=True, slots=True)
class CitedText:
    """A text whose citations are `[n]`, and whose reference list is left out.

    `edits` are the spans of the original that were replaced, in order, and by what; `places` are where that begins in
    `text`. `ignored` counts the citations beyond `MAX_REFERENCES`.
    """

    text: str
    references: tuple[CitedReference, ...]
    edits: tuple[tuple[Span, str], ...]
    places: tuple[int, ...]
    ignored: int = 0

    def original(self, span: Span) -> Span:
        """Return the characters of the original that became `span`; where these were replaced, all of them."""
        starts, ends = self._at(span.start, begins=True), self._at(span.end, begins=False)
        return Span(starts, max(starts, ends))

    def _at(self, position: int, *, begins: bool) -> int:
        index = bisect_right(self.places, position if begins else position - 1) - 1
        if index < 0:
            return position
        (old, new), place = self.edits[index], self.places[index]
        if position < place + len(new):
            return old.start if begins else old.end
        return position - place - len(new) + old.end


@dataclass(frozen=True, slots=True)
class _Use:
    """A place that cites: `span` is replaced by `kept` and the markers of `keys`."""

    span: Span
    kept: str
    keys: tuple[CitedReference, ...]


def read_citations(text: str) -> CitedText:
    """Return `text` with its citations numbered; linear time but for the sorting of citations."""
    shown = visible(text)
    listed = find_references(text, shown)
    hidden = list(listed.spans)
    uses = _outside(sorted(_uses(text, shown, listed), key=lambda use: (use.span.start, -use.span.end)), hidden)
    numbers: dict[tuple[object, ...], CitedReference] = {}
    edits: list[tuple[Span, str]] = []
    ignored = 0
    for use in uses:
        marks = list(dict.fromkeys(filter(None, (_number(each, numbers) for each in use.keys))))
        ignored += bool(use.keys) and not marks
        after = text[use.span.end : use.span.end + 1]
        made = use.kept + (" " if use.kept and marks else "") + "".join(f"[{n}]" for n in marks)
        edits.append((use.span, made + (" " if marks and after and after in _JOINS else "")))
    edits = sorted([*edits, *((span, "") for span in hidden)], key=lambda edit: edit[0].start)
    pieces, places, position, length = list[str](), list[int](), 0, 0
    for span, new in edits:
        pieces += [text[position : span.start], new]
        places.append(length + span.start - position)
        position, length = span.end, places[-1] + len(new)
    made = "".join([*pieces, text[position:]])
    return CitedText(made, tuple(numbers.values()), tuple(edits), tuple(places), ignored)


def _number(reference: CitedReference, known: dict[tuple[object, ...], CitedReference]) -> int | None:
    name = reference.names or reference.written
    key = (name, reference.author, reference.year, reference.pages, reference.is_mention)
    if key not in known:
        if len(known) == MAX_REFERENCES:
            return None
        known[key] = replace(reference, n=len(known) + 1)
    return known[key].n


def _outside(uses: list[_Use], hidden: list[Span]) -> Iterator[_Use]:
    """Yield those that overlap neither an earlier one nor the reference list."""
    starts, end = [each.start for each in hidden], 0
    for use in uses:
        place = bisect_right(starts, use.span.end - 1) - 1
        if use.span.start >= end and (place < 0 or hidden[place].end <= use.span.start):
            end = use.span.end
            yield use


def _uses(text: str, shown: str, listed: ReferenceList) -> Iterator[_Use]:
    yield from _links(text, shown, listed)
    yield from _numbers(text, shown, listed)
    for found in _BRACKET.finditer(shown):
        keys = tuple(_in_bracket(text[found.start() : found.end()], found["round"] or found["square"], listed))
        if keys:
            yield _Use(Span(*found.span()), "", keys)
    for found in _NARRATIVE.finditer(shown):
        keys = tuple(_author_years(found, found[0], listed, certain=True))
        if keys:
            yield _Use(Span(*found.span("paren")), "", keys)


def _links(text: str, shown: str, listed: ReferenceList) -> Iterator[_Use]:
    for found in _LINK.finditer(shown):
        target, label = unquote(found["angled"] or found["target"]), text[found.start("text") : found.end("text")]
        if found["image"] or target.startswith(("#", "mailto:", "javascript:")):
            continue
        number = label.strip("[]()^ ")
        entry = listed.entry(number) if number.isdecimal() else None
        names = (target, *([entry] if entry else []), *([] if number.isdecimal() else [label]))
        kept = "" if number.isdecimal() or label == target else label
        mentions = bool(kept) and _is_within(shown, found)
        yield _Use(Span(*found.span()), kept, (CitedReference(0, found[0], names, is_mention=mentions),))
    for found in _FOOTNOTE.finditer(shown):
        entry = listed.entry(f"^{found['note']}") or listed.entry(found["note"])
        page = _LAST_PAGE.search(entry or "")
        pages = _pages(page[1], page[2]) if page else None
        yield _Use(Span(*found.span()), "", (CitedReference(0, found[0], (entry,) if entry else (), pages=pages),))
    for found in _LABELLED.finditer(shown):
        entry = listed.entry(found["label"] or found["text"])
        if entry is not None and not found["text"].isdecimal():
            named = CitedReference(0, found[0], (entry, found["text"]), is_mention=_is_within(shown, found))
            yield _Use(Span(*found.span()), found["text"], (named,))
    for found in _WIKILINK.finditer(shown):
        if not found["image"] and not found["note"].strip("^ ").isdecimal():
            name = found["note"].partition("#")[0].strip()
            kept = (found["text"] or found["note"]).strip()
            named = CitedReference(0, found[0], (name,), is_mention=_is_within(shown, found))
            yield _Use(Span(*found.span()), kept, (named,) if name else ())
    for found in _KEYS.finditer(shown):
        keys = tuple(
            CitedReference(0, found[0], (), each["author"].capitalize(), each["year"], _pages(each["page"], None))
            for each in _ONE_KEY.finditer(found["keys"])
        )
        yield _Use(Span(*found.span()), "", keys)
    for found in _ADDRESS.finditer(shown):
        url = found["url"].rstrip(".,;:!?*_~")
        url = url[:-1] if url.endswith(")") and url.count(")") > url.count("(") else url
        closed = found[0].startswith("<") and found[0].endswith(">")
        end = found.end() if closed else found.start("url") + len(url)
        yield _Use(Span(found.start(), end), "", (CitedReference(0, url, (url,)),))


def _is_within(shown: str, link: re.Match[str]) -> bool:
    """Return whether a link stands within a sentence: in no brackets, and not at the end."""
    in_brackets = shown[max(0, link.start() - 4) : link.start()].rstrip("*_ ").endswith(("(", "[", "—", "–"))
    return not in_brackets and _ENDS.match(shown, link.end()) is None


def _numbers(text: str, shown: str, listed: ReferenceList) -> Iterator[_Use]:
    for found in _DAGGER.finditer(shown):
        yield _Use(Span(*found.span()), "", tuple(_numbered(found[0], found["number"], listed)))
    scanner, position = AnswerScanner(), 0
    for piece in scanner.feed(text) + scanner.close():
        if piece.kind == "number":
            keys = tuple(_numbered(piece.source, piece.seen, listed))
            yield _Use(Span(position, position + len(piece.source)), "", keys)
        position += len(piece.source)


def _numbered(written: str, seen: str, listed: ReferenceList) -> Iterator[CitedReference]:
    page = _IN_NUMBER_PAGE.search(seen)
    pages = _pages(page[1], page[2]) if page else None
    for found in _NUMBERS.finditer(_IN_NUMBER_PAGE.sub(" ", seen)):
        first, last = int(found[1]), int(found[2] or found[1])
        if last - first > _MAX_RANGE:
            continue
        for number in range(first, last + 1):
            entry = listed.entry(str(number)) or listed.entry(f"^{number}")
            one = f"[{number}]" if (first, last) != (number, number) or "," in seen else written
            yield CitedReference(0, one, (entry,) if entry else (), pages=pages)


def _in_bracket(whole: str, content: str, listed: ReferenceList) -> Iterator[CitedReference]:
    by_page = read_page_citations(content) if whole[0] == "[" else ()
    if by_page:
        for each in by_page:
            first, last = each.ranges[0]
            yield CitedReference(0, whole, (each.name,), pages=_pages(first, last))
        return
    parts = [part.strip() for part in content.split(";")]
    files = [_FILE.fullmatch(part) for part in parts]
    if all(files):
        for found in filter(None, files):
            yield CitedReference(0, whole, (found["file"],), pages=_pages(found["page"], found["last"]))
        return
    flat = [" ".join(part.split()) for part in parts]
    authors = [_AUTHOR_YEAR.fullmatch(part) for part in flat]
    if all(authors):
        for part, found in zip(flat, filter(None, authors), strict=True):
            certain = bool(found["more"] or found["comma"])
            yield from _author_years(found, f"({part})" if len(parts) > 1 else whole, listed, certain=certain)


def _author_years(
    found: re.Match[str], written: str, listed: ReferenceList, *, certain: bool
) -> Iterator[CitedReference]:
    """Yield a reference for each year; "(Smith 2020)" is one only if it is `certain` or listed."""
    author = found["author"]
    if author.split()[-1].casefold() in _NO_AUTHORS:
        return
    for year in re.findall(_YEAR, found["year"]):
        entry = listed.by_author(author, year) or listed.by_author(author, year[:4])
        if certain or entry is not None or listed:
            names = (entry,) if entry else ()
            yield CitedReference(0, written, names, author, year[:4], _pages(found["page"], found["last"]))


def _pages(first: str | None, last: str | None) -> tuple[int, int] | None:
    if first is None or not first.isdecimal():
        return None
    end = int(last) if last is not None and last.isdecimal() else int(first)
    return int(first), max(int(first), end)
