"""Answers to questions about a document as a whole, from its first page, its abstract, its conclusion, its headings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from asky.llm.extractive.code_answers import CODE_ASPECTS, authors, definitions, description
from asky.llm.extractive.forms import form_of, is_row
from asky.llm.extractive.questions import names
from asky.llm.extractive.units import PassageText, Unit, unit_of
from asky.text.definitions import is_private
from asky.text.document_parts import CUES, Cue
from asky.text.document_questions import Aspect, DocumentQuestion, title_terms
from asky.text.tables import bar_tables
from asky.text.terms import terms_of
from asky.values import Span

_MAX_WORDS = 180  # of one answer: an abstract has 100 to 250
_MAX_SENTENCES = 7
_FRONT_CHARS = 1_500
_MAX_OF_ABSTRACT = 3  # sentences about findings, before those of the conclusion
_MAX_LINE_CHARS = 400
_MAX_LINES = 4
_MAX_TOLD_WORDS = 120
_ENOUGH_NAMES = 3
_MAX_DEFINITIONS = 12  # below the description of a file of code
_SHOWN_ROWS = 3
_NUMBERING = re.compile(r"^(?:(?:\d+|[IVX]+|[A-Z])(?:\.\d+)*[.):]?\s+)")

_ABSTRACT = re.compile(r"\W*(?:abstract|summary|executive summary|overview|tl;?dr)\b[ \t.:*_—–-]*\n?", re.IGNORECASE)
_ABSTRACT_SECTION = re.compile(
    r"(?:^|› )[\d. ]*(?:abstract|summary(?! (?:and|&|of))|executive summary|overview|tl;?dr)\b", re.IGNORECASE
)
_END_SECTION = re.compile(
    r"(?:^|› )[\dIVX. ]*(?:(?:[\w,&]+ ){0,3}?conclu(?:sions?|ding)\b|"
    r"(?:discussion|results|findings|outlook|decisions?)\b|summary (?:and|&))",
    re.IGNORECASE,
)
_ABSTRACT_LINE = re.compile(
    r"^[ \t#*_]*(?:abstract|summary|introduction|1\.?\s+introduction|contents)\b", re.IGNORECASE | re.MULTILINE
)
_DATE = re.compile(
    r"\b\d{1,2}(?:st|nd|rd|th)?\.?\s+(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?,?\s+(?:19|20)\d\d\b"
    r"|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+(?:\d{1,2}(?:st|nd|rd|th)?,?\s+)?(?:19|20)\d\d\b"
    r"|\b(?:19|20)\d\d-\d\d(?:-\d\d)?\b|\b(?:1[5-9]|20)\d\d\b",
    re.IGNORECASE,
)
_DATED = re.compile(
    r"\b(?:publish|appear|submit|accept|received|revised|posted|released|arxiv|copyright|proceedings|conference|journal|"
    r"volume|issue|date|edition|updated)|©|\(c\)",
    re.IGNORECASE,
)
_VENUE = re.compile(
    r"\b(?:journal|proceedings|proc\.|conference|workshop|symposium|transactions|bulletin|letters|annals|review|"
    r"university press|publish(?:er|ed by)|magazine|volume|vol\.|arxiv|preprint|lecture notes|isbn|issn)",
    re.IGNORECASE,
)
_AFFILIATION = re.compile(
    r"\b(?:universit\w+|institut\w+|college|school of|department|laborator\w+|labs?|research|inc|ltd|gmbh|corporation|"
    r"academy|hospital|cent(?:er|re) for|ministry|correspondence)\b|@\w",
    re.IGNORECASE,
)
_IN_REFERENCES = re.compile(r"\((?:19|20)\d\d[a-z]?\)|\bet al\b|\bdoi\b")
_OF_FIGURE = re.compile(r"^\W*(?:fig(?:ure|\.)|table|algorithm|listing)\s*\d|(?:^|\n)[^|\n]*\|[^|\n]*\|", re.IGNORECASE)
_NO_NAMES = re.compile(
    r"^\s*(?:>>> |\$ |[#@]\w)|[={}]|\w\(", re.MULTILINE
)  # code stands above a README's first heading
_PROPERTIES = re.compile(r"---[ \t]*\n(?:[^\n]*\n)*?---[ \t]*(?:\n|\Z)")
_BYLINE = re.compile(
    r"^[ \t]*(?:(?:[Ww]ritten )?[Bb][Yy]:?|(?i:authors?|author\(s\)|creators?|from|written by):)[ \t]+"
    r"(?=\W*[A-ZÀ-Þ][\w.'’-]*[ ,]+\W*[A-ZÀ-Þ])[^\n]{2,300}$",
    re.MULTILINE,
)
_PROPOSES = re.compile(
    r"\b(?:we|this (?:paper|article|work|study|report)|the authors?)\b[^.]{0,60}\b(?:propos|introduc|present|develop|"
    r"describ|design|suggest|use|adopt|explor|investigat|stud|train)\w*"
    r"|\b(?:new|novel) (?:method|approach|algorithm|model|technique|framework|architecture)\b|\bmethod\b",
    re.IGNORECASE,
)
_FINDS = re.compile(
    r"\b(?:we|results?|experiments?|findings?|evidence|this (?:paper|study|work)|our)\b[^.]{0,80}\b(?:find|found|show|"
    r"demonstrat|achiev|outperform|improv|reveal|conclud|suggest|indicat|establish|observ|confirm)\w*"
    r"|\boutperforms?\b|\d ?%",
    re.IGNORECASE,
)
_PROBLEM = re.compile(
    r"\b(?:problem|challeng\w*|difficult\w*|however|but|limit\w*|lack\w*|address\w*|aim\w*|goals?|purpose|question|"
    r"need\w*|unknown|unclear|costly|expensive|constraints?)\b",
    re.IGNORECASE,
)
_CUES: dict[Aspect, re.Pattern[str]] = {"method": _PROPOSES, "findings": _FINDS, "problem": _PROBLEM}


@dataclass(frozen=True, slots=True)
class _Document:
    """The passages of one document, with their numbers, in the order shown, and their units."""

    passages: list[tuple[int, PassageText]]
    units: list[Unit]

    @property
    def is_table(self) -> bool:
        """Return whether most of its passages are rows."""
        with_rows = {unit.passage for unit in self.units if unit.kind == "row"}
        return 2 * len(with_rows) > len(self.passages)

    @property
    def is_code(self) -> bool:
        """Return whether it is a file of source code."""
        _, first = self.passages[0]
        return form_of(first.text, first.file or first.title) == "code"

    def of(self, number: int) -> list[Unit]:
        """Return the quotable sentences and lists of a passage."""
        return [each for each in self.units if each.passage == number and each.quotable]


def answer_about_documents(
    asked: DocumentQuestion, passages: Sequence[PassageText], units: Sequence[Unit]
) -> list[Unit]:
    """Return the units that answer `asked`, in the order of the documents; empty if nothing fits.

    `passages` begin with the overview of each document that is meant; the others, found by words, are left out if they
    are of a document whose title does not hold the subject of the question.
    """
    documents = _documents(asked, passages, units)
    words = max(_MAX_WORDS // max(1, len(documents)), 25)
    sentences = max(1, _MAX_SENTENCES // max(1, len(documents)))
    chosen: list[Unit] = []
    for document in documents:
        for aspect in asked.aspects:
            for unit in _answer(aspect, asked, document, words, sentences):
                chosen = [other for other in chosen if not _covers(unit, other)]
                if not any(_overlap(unit, other) for other in chosen):
                    chosen.append(unit)
    return chosen


def authors_in_metadata(
    asked: DocumentQuestion, passages: Sequence[PassageText], units: Sequence[Unit]
) -> Iterator[tuple[str, str]]:
    """Yield title and authors of the documents that a question about authors means, as far as their metadata has any.

    No text says so: it is for a question that nothing quotable answers.
    """
    for document in _documents(asked, passages, units) if "authors" in asked.aspects else ():
        _, first = document.passages[0]
        if first.authors:
            yield first.title, first.authors


def _documents(asked: DocumentQuestion, passages: Sequence[PassageText], units: Sequence[Unit]) -> list[_Document]:
    by_title: dict[str, list[tuple[int, PassageText]]] = {}
    for number, passage in enumerate(passages):
        by_title.setdefault(passage.title, []).append((number, passage))
    names = {
        title: title_terms(title) | terms_of(f"{found[0][1].authors} {found[0][1].file}")
        for title, found in by_title.items()
    }
    named = asked.named(names)
    if asked.of_project:  # what describes it was shown first
        named = list(by_title)[:1]
    if (asked.subject or asked.files) and not named and not asked.points_back:
        return []
    return [
        _Document(found, [unit for unit in units if unit.passage in {number for number, _ in found}])
        for title, found in by_title.items()
        if not named or title in named
    ]


def _answer(
    aspect: Aspect, asked: DocumentQuestion, document: _Document, max_words: int, max_sentences: int
) -> list[Unit]:
    if document.is_code and aspect in CODE_ASPECTS:
        found = list(definitions(document.passages, asked.kinds))
        if aspect in ("outline", "definitions"):
            return found
        said = description(document.passages, max_words)
        public = [each for each in found if not is_private(each.text)]
        most = _MAX_DEFINITIONS if max_sentences == _MAX_SENTENCES else max_sentences
        return [*said, *(public if public or said else found)[:most]]
    if document.is_code and aspect == "authors":
        return list(authors(document.passages))[:_MAX_LINES]
    if aspect == "definitions":
        return []
    if aspect == "title":
        return list(_title(document))[:1]
    if aspect == "authors":
        return list(_authors(document))[:_MAX_LINES]
    if aspect == "affiliation":
        return list(_affiliations(document))[:_MAX_LINES]
    if aspect in ("date", "venue"):
        lines = _front_lines(document, _DATE if aspect == "date" else _VENUE)
        return list({unit.text: unit for unit in lines}.values())[:2]
    if aspect == "outline":
        return list(_headings(document))
    if aspect == "fields":
        return list(_headers(document)) or list(_first_line(document))[:1]
    if aspect == "summary":
        of_table = list(_headers(document, rows=_SHOWN_ROWS)) if document.is_table else []
        return of_table or _summary(document, max_words, max_sentences)
    if aspect in CUES:
        # a dataset, a fund or a licence has a name
        told = sorted(
            _told(CUES[aspect], document),
            key=lambda unit: (-len(unit.terms & asked.terms), -min(len(names(unit.text)), _ENOUGH_NAMES)),
        )
        return _fitting(told, min(max_words, _MAX_TOLD_WORDS), max_sentences)
    return _fitting(_sentences(aspect, document), max_words, max_sentences)


# the first page


def _title(document: _Document) -> Iterator[Unit]:
    for number, passage in document.passages:
        found = _find(passage.title, passage.text)
        if found is not None:
            yield unit_of(number, passage, found, "heading")
    yield from _first_line(document)


def _find(title: str, text: str) -> Span | None:
    """Return where the words of `title` stand in `text`, whatever the white space between them."""
    parts = [re.escape(part) for part in title.split()]
    found = re.search(r"[\s*_#]+".join(parts), text, re.IGNORECASE) if parts else None
    return Span(found.start(), found.end()) if found else None


def _authors(document: _Document) -> Iterator[Unit]:
    """Yield the lines with the authors' names; where these are unknown, a line such as "by ...".

    Without one, what stands between the title and the abstract; the beginning of another text names nobody.
    """
    known = [name for _, passage in document.passages[:1] for name in re.split(r"\s*;\s*", passage.authors) if name]
    left = list(known)
    for number, passage in document.passages:
        front = passage.text[:_FRONT_CHARS]
        found = {name: span for name in left if (span := _find(name, front) or _find(name.split()[-1], front))}
        if not found:
            continue
        start, end = min(span.start for span in found.values()), max(span.end for span in found.values())
        spans = [Span(start, end)] if end - start <= 2 * _MAX_LINE_CHARS else list(found.values())
        properties = _PROPERTIES.match(front)
        if properties is not None and end <= properties.end():
            lines = _whole_lines(front, _key_of(front, start), spans[-1].end)
            yield unit_of(number, passage, lines, "property")
        else:
            yield from (
                unit_of(number, passage, _whole_lines(front, each.start, each.end), "heading") for each in spans
            )
        left = [name for name in left if name not in found]
    if known and len(left) < len(known):
        return
    for number, passage in document.passages:
        byline = _BYLINE.search(passage.text[:_FRONT_CHARS])
        if byline is not None:
            yield unit_of(number, passage, Span(byline.start(), byline.end()), "heading")
            return
    yield from [block for block in list(_front_block(document, has_end=True))[:1] if not _NO_NAMES.search(block.text)]


def _key_of(properties: str, start: int) -> int:
    """Return where the line of a property begins: of a list, the line with its key, above its members."""
    begin = properties.rfind("\n", 0, start) + 1
    while begin and properties[begin:start].lstrip().startswith("- "):
        start, begin = begin - 1, properties.rfind("\n", 0, begin - 1) + 1
    return begin


def _affiliations(document: _Document) -> Iterator[Unit]:
    """Yield what stands between the title and the abstract if it names an institution, else lines of page 1 that do."""
    front = list(_front_block(document))[:1]
    yield from front
    if not any(_AFFILIATION.search(unit.text) for unit in front):
        first = [(number, passage) for number, passage in document.passages if passage.location.page in (None, 1)]
        lines = _front_lines(_Document(first, document.units), _AFFILIATION)
        yield from (line for line in lines if not _IN_REFERENCES.search(line.text))


def _front_block(document: _Document, *, has_end: bool = False) -> Iterator[Unit]:
    """Yield what stands between the title and the abstract.

    Without an abstract it is what follows the title, or nothing if it must have that end.
    """
    is_paper = any(_is_abstract(passage) for _, passage in document.passages)
    for number, passage in document.passages:
        title = _find(passage.title, passage.text[:_FRONT_CHARS])
        if title is None and number == document.passages[0][0] and _ABSTRACT_LINE.search(passage.text):
            title = Span(0, 0)  # the file's name stands for the title, which is somewhere above the abstract
        if title is None:
            continue
        ends = _ABSTRACT_LINE.search(passage.text, title.end)
        if has_end and ends is None and not is_paper:
            continue
        end = min(ends.start() if ends else title.end + _MAX_LINE_CHARS, title.end + 2 * _MAX_LINE_CHARS)
        body = passage.text[title.end : end]
        start = title.end + len(body) - len(body.lstrip(" \t\n*_#"))
        stop = title.end + len(body.rstrip())
        if stop > start:
            yield unit_of(number, passage, _cut(passage.text, start, stop), "heading")


def _front_lines(document: _Document, pattern: re.Pattern[str]) -> Iterator[Unit]:
    """Yield the lines that `pattern` fits: those that say what kind of date or place it is, if there are any."""
    found: list[tuple[bool, int, PassageText, Span]] = []
    for number, passage in document.passages:
        for match in re.finditer(r"[^\n]*\S[^\n]*", passage.text):
            line = match.group().strip()
            if pattern.search(line) and len(line) <= _MAX_LINE_CHARS:
                start = match.start() + len(match.group()) - len(match.group().lstrip())
                found.append((not _DATED.search(line), number, passage, Span(start, start + len(line))))
    found = [each for each in found if not each[0]] or found
    for _, number, passage, span in sorted(found, key=lambda each: each[:2]):
        yield unit_of(number, passage, span, "heading")


def _first_line(document: _Document) -> Iterator[Unit]:
    for number, passage in document.passages[:1]:
        line = re.search(r"[^\n]*\w[^\n]*", passage.text)
        if line is not None:
            yield unit_of(
                number, passage, Span(line.start(), min(line.end(), line.start() + _MAX_LINE_CHARS)), "heading"
            )


def _headers(document: _Document, rows: int = 0) -> Iterator[Unit]:
    """Yield what stands above the rows of each table: its name and its columns; then so many rows of the first."""
    first: list[Unit] = []
    seen: set[str] = set()
    for number, passage in document.passages:
        lines = [Span(*match.span()) for match in re.finditer(r"[^\n]*\S[^\n]*", passage.text)]
        are_rows = [is_row(passage.text[line.start : line.end]) for line in lines]
        above = are_rows.index(True) if True in are_rows else 0
        header = passage.text[lines[0].start : lines[above - 1].end] if above else ""
        if 0 < above <= _MAX_LINES and header not in seen:
            seen.add(header)
            yield from (unit_of(number, passage, line, "item") for line in lines[:above])
            first = first or [unit_of(number, passage, line, "row") for line in lines[above : above + rows]]
        tables = [] if rows else [table for table in bar_tables(passage.text) if any(table.names)]
        yield from (unit_of(number, passage, table.lines[0], "table") for table in tables)
    yield from first


def _headings(document: _Document) -> Iterator[Unit]:
    """Yield the headings that passages begin with."""
    seen: set[str] = set()
    for number, passage in document.passages:
        heading = (passage.location.section or "").rsplit(" › ", 1)[-1]
        found = _find(heading, passage.text[: len(heading) + _MAX_LINE_CHARS // 4]) if heading else None
        is_title = heading == passage.title
        if (
            found is not None
            and heading not in seen
            and not is_title
            and not passage.text[: found.start].strip(" \t\n#*_0123456789.")
        ):
            seen.add(heading)
            yield unit_of(number, passage, found, "item")


# sentences


def _sentences(aspect: Aspect, document: _Document) -> Iterator[Unit]:
    """Yield the sentences that answer, best first."""
    beginning, ending = _telling(document)
    found = [unit for number in dict.fromkeys([*beginning, *ending]) for unit in _body(document, number)]
    cue = _CUES.get(aspect)
    fitting = [unit for unit in found if cue is None or cue.search(unit.text)]
    if aspect == "conclusion":
        of_ending = [unit for unit in found if unit.passage in ending]
        found = of_ending or found
        fitting = of_ending or [unit for unit in found if _FINDS.search(unit.text)]
    if aspect == "findings":
        of_ending = [unit for unit in fitting if unit.passage in ending]
        begun = [unit for unit in fitting if unit.passage not in ending]
        fitting = [*begun[:_MAX_OF_ABSTRACT], *of_ending[:_MAX_OF_ABSTRACT], *begun, *of_ending]
    yield from dict.fromkeys([*fitting, *found])


def _told(cue: Cue, document: _Document) -> Iterator[Unit]:
    """Yield the sentences that `cue` recognises: of a section with such a heading, or else of any."""
    found: list[Unit] = []
    others: list[Unit] = []
    for unit in (unit for number, _ in document.passages for unit in _body(document, number)):
        is_named = any(cue.heading.match(_NUMBERING.sub("", heading)) for heading in unit.section.split(" › "))
        if (cue.is_whole and is_named) or cue.sentence.search(unit.text):
            (found if is_named else others).append(unit)
    yield from found or others


_MAX_SLIDES = 8


def _summary(document: _Document, max_words: int, max_sentences: int) -> list[Unit]:
    """Return the abstract, or the beginning, and what fits of the ending.

    Of one that is too long, sentences that say what is proposed go before those about results, and these before others.
    """
    beginning, ending = _telling(document)
    found = [unit for number in beginning for unit in _body(document, number)]
    if not any(unit.complete for unit in found):  # slides: a list on each
        return _fitting(
            [unit for number, _ in document.passages for unit in _body(document, number)], max_words, _MAX_SLIDES
        )
    telling = sorted(found, key=lambda unit: (not _PROPOSES.search(unit.text), not _FINDS.search(unit.text)))
    chosen = _fitting(telling, max_words, max_sentences)
    if len(chosen) < len(found):
        return [unit for unit in found if unit in chosen]
    rest = [unit for number in ending if number not in beginning for unit in _body(document, number)]
    return _fitting([*found, *rest], max_words, max_sentences)


def _telling(document: _Document) -> tuple[list[int], list[int]]:
    """Return the numbers of the passages with the abstract, or of the first passage, and of those at the end."""
    abstract = [number for number, passage in document.passages if _is_abstract(passage)]
    ending = [number for number, p in document.passages if _END_SECTION.search(p.location.section or "")]
    return abstract or [document.passages[0][0]], ending


def _body(document: _Document, number: int) -> list[Unit]:
    """Return the sentences of a passage that are running text; of an abstract without the lines above it."""
    passage = next(passage for each, passage in document.passages if each == number)
    heads = _ABSTRACT_LINE.search(passage.text)
    start = heads.end() if heads and heads.start() < _FRONT_CHARS else 0
    units = [each for each in document.of(number) if each.span.start >= start and each.kind != "code"]
    complete = [each for each in units if (each.complete or each.kind == "list") and not _OF_FIGURE.search(each.text)]
    return [_without_label(each) for each in complete or units]


def _is_abstract(passage: PassageText) -> bool:
    return bool(_ABSTRACT.match(passage.text)) or bool(_ABSTRACT_SECTION.search(passage.location.section or ""))


def _without_label(unit: Unit) -> Unit:
    """Return `unit` without the word "Abstract" that runs into its first sentence."""
    label = _ABSTRACT.match(unit.text) if unit.position <= 1 else None
    if label is None or label.end() >= len(unit.text):
        return unit
    return replace(unit, span=Span(unit.span.start + label.end(), unit.span.end), text=unit.text[label.end() :])


def _fitting(units: Iterable[Unit], max_words: int, max_sentences: int) -> list[Unit]:
    chosen: list[Unit] = []
    words = 0
    for unit in units:
        size = len(unit.text.split())
        if chosen and (words + size > max_words or len(chosen) >= max_sentences):
            break
        chosen.append(unit)
        words += size
    return chosen


# spans


def _whole_lines(text: str, start: int, end: int) -> Span:
    """Return the lines from `start` to `end`."""
    begin = text.rfind("\n", 0, start) + 1
    stop = text.find("\n", end)
    return _cut(text, begin, stop if stop >= 0 else len(text))


def _cut(text: str, start: int, end: int) -> Span:
    body = text[start:end]
    return Span(start + len(body) - len(body.lstrip()), start + len(body.rstrip()))


def _covers(unit: Unit, other: Unit) -> bool:
    """Return whether `unit` is longer than `other` and holds all of it."""
    begins, ends = unit.span.start <= other.span.start, other.span.end <= unit.span.end
    return unit.passage == other.passage and begins and ends and len(unit.span) > len(other.span)


def _overlap(one: Unit, other: Unit) -> bool:
    return one.passage == other.passage and one.span.start < other.span.end and other.span.start < one.span.end
