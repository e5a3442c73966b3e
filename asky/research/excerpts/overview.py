"""The parts of a document that answer questions about it as a whole: its beginning, abstract, conclusion, headings."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from asky.reading.formats import SOURCE_CODE, format_of
from asky.research.excerpts.passages import cut_passages
from asky.text.definitions import are_of_kinds, definition_line, is_private
from asky.text.document_parts import CUES, Cue
from asky.text.document_questions import Aspect, DocumentQuestion, title_terms
from asky.text.sentences import sentence_spans
from asky.text.terms import content_terms
from asky.values import Page, Section, Source, Span

MAX_DOCUMENTS = 12
"""The number of documents up to which a question about "these documents" is answered from each of them."""

_FRONT_CHARS = 1_200  # a title, authors with their affiliations, and the beginning of what follows
_FOOT_CHARS = 400  # of the first page: stamps, dates and copyright lines stand there
_ABSTRACT_CHARS = 2_400
_INTRODUCTION_CHARS = 1_200
_CONCLUSION_CHARS = 2_400
_SHARED_CHARS = 12_000  # of all documents together, so that each of several gets a part
_LEAST_CHARS = 500
MAX_HEADINGS = 24
"""The number of headings, or of definitions in code, up to which a list of them is shown."""

_HEADING_CHARS = 200
_DEFINITION_CHARS = 2_000  # comments and decorators may stand above its line
_HEADER_CHARS = 600  # the name of a sheet, its columns and the first rows
_ABSTRACT_WITHIN = 8_000
_README = re.compile(r"(?:^|[/\\])readme(?:\.\w+)?$", re.IGNORECASE)
_ENTRY = re.compile(
    r"(?:^|[/\\])(?:__init__\.py|(?:lib|main|mod)\.rs|(?:doc|main)\.go|(?:index|main)\.(?:js|ts|py|c|cpp))$"
)

_ABSTRACT = re.compile(
    r"^(?:abstract|summary(?! (?:and|&|of))|executive summary|overview|tl;?dr|zusammenfassung|r[ée]sum[ée])\b",
    re.IGNORECASE,
)
_INTRODUCTION = re.compile(r"^(?:introduction|background|motivation|einleitung|einf[üu]hrung)\b", re.IGNORECASE)
_CONCLUSION = re.compile(
    r"^(?:(?:[\w,&]+ ){0,3}?conclu(?:sions?|ding)\b|summary (?:and|&)|fazit\b|schluss\b)",
    re.IGNORECASE,
)
_RESULTS = re.compile(r"^(?:discussion|results|findings|evaluation|outlook|decisions?|action items?)\b", re.IGNORECASE)
_NUMBERING = re.compile(r"^(?:(?:\d+|[IVX]+|[A-Z])(?:\.\d+)*[.):]?\s+)")
_ABSTRACT_LINE = re.compile(r"^[ \t#*_]*abstract\b[ \t.:*_—–-]*", re.IGNORECASE | re.MULTILINE)

_NEEDS_FRONT: frozenset[Aspect] = frozenset({"title", "authors", "affiliation", "date", "venue", "fields"})
_NEEDS_FOOT: frozenset[Aspect] = frozenset({"date", "venue", "affiliation"})
_NEEDS_BODY: frozenset[Aspect] = frozenset({"summary", "method", "problem", "findings", "conclusion"})
_MOST_SECTIONS = 3  # of an aspect with a heading of its own
_SECTION_CHARS = 1_600
_MOST_SENTENCES = 12  # of an aspect that sentences tell
_AROUND_CHARS = 500
_SEARCHED_CHARS = 2_000_000


def documents_meant(question: DocumentQuestion, sources: Sequence[Source], recent: Sequence[str]) -> list[Source]:
    """Return the sources that `question` is about: those whose title, file name or authors hold its subject.

    A question about a project means its outermost README, or else the file that its code begins with; one for
    definitions means all files of code, if it names none. Without a subject, or with one that a pronoun replaces, they
    are those with the ids `recent`; without these they are all, if it has no subject. Empty if there are too many.
    """
    for name in (_README, _ENTRY) if question.of_project else ():
        found = [each for each in sources if name.search(each.path or each.url or "")]
        if found:
            return [min(found, key=lambda each: (len(re.split(r"[/\\]", each.path or "")), each.path or ""))]
    if question.kinds and not question.subject and not question.files:
        return [each for each in sources if _is_code(each)]
    is_named = bool(question.subject or question.files)
    named = question.named({each.id: name_terms(each) for each in sources} if is_named else {})
    meant = [each for each in sources if each.id in named]
    if not meant and (question.points_back or not is_named):
        meant = [each for each in sources if each.id in recent]
    if not meant and not is_named:
        meant = list(sources)
    return meant if len(meant) <= MAX_DOCUMENTS else []


def name_terms(source: Source) -> frozenset[str]:
    """Return the stems in the title, the file name and the authors of `source`."""
    name = re.split(r"[/\\]", source.path or source.url or "")[-1]
    others = f"{re.sub(r'[_.+-]+', ' ', name)} {' '.join(source.authors)}"
    return title_terms(source.title) | frozenset(content_terms(others))


def overview_spans(
    aspects: Sequence[Aspect],
    read: Callable[[Span], str],
    length: int,
    sections: Sequence[Section],
    pages: Sequence[Page],
    *,
    documents: int = 1,
    is_code: bool = False,
    kinds: Collection[str] = (),
) -> list[Span]:
    """Return the passages of a document that answer questions about these `aspects`, most important first.

    `read` returns the text of a span, `length` is that of the whole text. The passages are disjoint, without white
    space around them, and none crosses the end of a page. Each of several `documents` gets a share of the room. Source
    code, which `is_code` tells, has definitions for headings: those of `kinds`, if a question asks for them.
    """
    share = max(_LEAST_CHARS, _SHARED_CHARS // documents)
    taken: list[Span] = []
    spent = 0
    asked = frozenset(aspects)
    parts = (
        _code_parts(asked, read, length, sections, kinds) if is_code else _parts(asked, read, length, sections, pages)
    )
    for wanted in parts:
        room = Span(wanted.start, min(wanted.end, wanted.start + share - spent))
        for span in _passages(room, read, pages):
            if len(span) and not any(span.start < each.end and each.start < span.end for each in taken):
                taken.append(span)
                spent += len(span)
        if spent >= share:
            break
    return taken


def _parts(
    aspects: frozenset[Aspect],
    read: Callable[[Span], str],
    length: int,
    sections: Sequence[Section],
    pages: Sequence[Page],
) -> Iterator[Span]:
    first_page = pages[0].end if pages else length
    abstract = _abstract(read, length, sections)
    if aspects & _NEEDS_FRONT:
        yield Span(0, min(_FRONT_CHARS, first_page, length))
    if aspects & _NEEDS_FOOT and first_page > _FRONT_CHARS + _FOOT_CHARS and pages:
        yield Span(first_page - _FOOT_CHARS, first_page)
    if "outline" in aspects:
        yield from _headings(sections)
    if "fields" in aspects:  # of each sheet
        yield from (_start_of(each, _HEADER_CHARS) for each in sections[:MAX_HEADINGS])
    if aspects & _NEEDS_BODY:
        conclusion = _named(sections, _CONCLUSION, last=True) or _named(sections, _RESULTS, last=True)
        introduction = _named(sections, _INTRODUCTION)
        beginning = Span(0, min(_ABSTRACT_CHARS, length))
        parts = [abstract or beginning]
        parts += [_start_of(introduction, _INTRODUCTION_CHARS)] if introduction else []
        ending = [_start_of(conclusion, _CONCLUSION_CHARS)] if conclusion else []
        yield from ([*ending, *parts] if aspects & {"findings", "conclusion"} else [*parts, *ending])
    for aspect in sorted(aspects & CUES.keys()):
        yield from _told(CUES[aspect], read, length, sections)
    if "outline" in aspects and not sections:
        yield Span(0, min(_ABSTRACT_CHARS, length))


def _code_parts(
    aspects: frozenset[Aspect],
    read: Callable[[Span], str],
    length: int,
    sections: Sequence[Section],
    kinds: Collection[str],
) -> Iterator[Span]:
    """Yield the beginning of a file of code, unless only definitions are asked for, then those of its definitions."""
    if aspects - {"definitions", "outline"}:
        yield Span(0, min(_ABSTRACT_CHARS, length, *(each.start or length for each in sections[:1])))
    text = read(Span(0, min(length, _SEARCHED_CHARS)))
    found: dict[Span, str] = {}
    for each in sections:
        begins = text[each.start : min(each.end, each.start + _DEFINITION_CHARS)]
        line = definition_line(begins, each.heading) if each.level == 1 or kinds else None
        if line is not None:
            start, end = line
            found[Span(each.start, min(each.end, each.start + max(end, _HEADING_CHARS)))] = begins[start:end]
    of_kinds = are_of_kinds(list(found.values()), kinds)
    wanted = [span for span, is_wanted in zip(found, of_kinds, strict=True) if is_wanted]
    yield from wanted if kinds else sorted(wanted, key=lambda span: is_private(found[span]))


def _told(cue: Cue, read: Callable[[Span], str], length: int, sections: Sequence[Section]) -> Iterator[Span]:
    """Yield the sections with such a heading, then what stands around the first and the last such sentences."""
    named = [each for each in sections if cue.heading.match(_NUMBERING.sub("", each.heading.strip()))]
    yield from (_start_of(each, _SECTION_CHARS) for each in named[:_MOST_SECTIONS])
    text = read(Span(0, min(length, _SEARCHED_CHARS)))
    matches = list(cue.sentence.finditer(text))
    yield from _around_each(text, matches)
    yield from reversed(_around_each(text, reversed(matches)))


def _around_each(text: str, matches: Iterable[re.Match[str]]) -> list[Span]:
    """Return what stands around the first matches, without those that an earlier one takes in."""
    found: list[Span] = []
    for match in matches:
        if len(found) == _MOST_SENTENCES // 2:
            break
        if not any(each.start < match.end() and match.start() < each.end for each in found):
            found.append(_around(text, match.start(), match.end()))
    return found


def _around(text: str, start: int, end: int) -> Span:
    """Return the sentences that text[start:end] is in, with the whole ones before and after them."""
    begin, stop = max(0, start - _AROUND_CHARS), min(len(text), end + _AROUND_CHARS)
    sentences = [Span(begin + each.start, begin + each.end) for each in sentence_spans(text[begin:stop])]
    inside = [n for n, each in enumerate(sentences) if each.start < end and start < each.end]
    whole = range(begin > 0, len(sentences) - (stop < len(text)))  # the outermost may be cut
    near = [n for n in (*inside, inside[0] - 1, inside[-1] + 1) if n in whole or n in inside]
    return Span(sentences[min(near)].start, sentences[max(near)].end)


def _abstract(read: Callable[[Span], str], length: int, sections: Sequence[Section]) -> Span | None:
    """Return the abstract: the section of that name, else the text after that word near the beginning."""
    named = _named(sections, _ABSTRACT)
    if named is not None:
        return _start_of(named, _ABSTRACT_CHARS)
    beginning = read(Span(0, min(_ABSTRACT_WITHIN, length)))
    found = _ABSTRACT_LINE.search(beginning)
    if found is None:
        return None
    end = min([found.start() + _ABSTRACT_CHARS, length, *(s.start for s in sections if s.start > found.end())])
    return Span(found.start(), end)


def _is_code(source: Source) -> bool:
    row = format_of(re.split(r"[/\\]", source.path or source.url or "")[-1])
    return row is not None and row.media_type == SOURCE_CODE


def _named(sections: Sequence[Section], name: re.Pattern[str], *, last: bool = False) -> Section | None:
    found = [each for each in sections if name.match(_NUMBERING.sub("", each.heading.strip()))]
    return found[-1 if last else 0] if found else None


def _start_of(section: Section, chars: int) -> Span:
    return Span(section.start, min(section.end, section.start + chars))


def _headings(sections: Sequence[Section]) -> Iterator[Span]:
    """Yield the line of each heading of the outermost level that has several."""
    levels = sorted({each.level for each in sections})
    level = next((each for each in levels if sum(s.level == each for s in sections) > 1), None)
    chosen = [each for each in sections if level is None or each.level == level]
    for each in chosen[:MAX_HEADINGS]:
        yield Span(each.start, min(each.end, each.start + max(len(each.heading) + 20, _HEADING_CHARS)))


def _passages(span: Span, read: Callable[[Span], str], pages: Sequence[Page]) -> Iterator[Span]:
    """Yield the passages of `span`, each on one page."""
    if not len(span):
        return
    edges = [edge - span.start for page in pages for edge in (page.start, page.end)]
    for each in cut_passages(read(span), edges):
        yield Span(span.start + each.start, span.start + each.end)
