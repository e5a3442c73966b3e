"""Metadata of a PDF from its first page: title, authors, date, DOI and arXiv id; else from the file's own."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from asky.reading.pages.authors import authors_below, authors_of_file
from asky.reading.pages.dates import find_date, year_in
from asky.reading.pages.letters import compose_accents
from asky.reading.pages.lines import Line, PageLines
from asky.reading.pages.paragraphs import body_size

_ARXIV = re.compile(
    r"arxiv\s*:\s*(?P<id>\d{4}\.\d{4,5}(?:v\d+)?|[a-z-]+(?:\.[a-z-]{2,})?/\d{7}(?:v\d+)?)"
    r"(?:\s*\[[^\]]*\])?\s*(?P<date>\d{1,2}\s+[a-z]{3,9}\.?\s+\d{4})?",
    re.IGNORECASE,
)
_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"'<>{}|\\^`\[\]]{2,200}")
_LABELLED_DOI = re.compile(r"(?:doi\s*[:.]?\s*|doi\.org/)(10\.\d{4,9}/[^\s\"'<>{}|\\^`\[\]]{2,200})", re.IGNORECASE)
_REFERENCES = re.compile(r"(?:\d+\.?\s*)?(?:references|bibliography|literature cited)\W*", re.IGNORECASE)
_JOURNAL = re.compile(
    r"\b((?:(?:[A-Z][\w&-]+ )*(?:Journal|Transactions|Annals|Bulletin|Letters|Review)s?"
    r"(?: (?:of|on|for|in|and|the|[A-Z&][\w&-]*))+|Proceedings of(?: (?:of|on|for|in|and|the|[A-Z&][\w&-]*))+))"
)
# Lines above or beside a title.
_NO_TITLE = re.compile(
    r"arxiv:|\bdraft\b|preprint|typeset using|^proceedings|^(?:the )?journal\b|\bjournal of\b|transactions on"
    r"|\bvol(?:ume|\.)"
    r"|\bissn\b|\bdoi\b|https?:|www\.|copyright|©|\(c\)|all rights reserved|contents lists available"
    r"|research article$"
    r"|^(?:\d[\d.]*\s+|[ivx]+\.\s+)?(?:review|article|paper|letter|abstract|summary"
    r"|introduction|contents|table of contents|open access)$"
    r"|to appear in|appeared in|published|submitted|accepted|received|under review|^workshop|conference on"
    r"|\bworkshop on\b"
    r"|contemporary mathematics|lecture notes",
    re.IGNORECASE,
)
_NO_FILE_TITLE = re.compile(
    r"^(?:microsoft (?:word|powerpoint|excel)\b|powerpoint|untitled|title|document ?\d*|paper|manuscript|main"
    r"|final|draft"
    r"|(?:\d[\d.]*\s+)?(?:introduction|abstract|contents|summary)|slide ?\d*|print|layout|template|arxiv\s*:)"
    r"|\.(?:docx?|dvi|tex|pdf|indd|qxd|pptx?|xlsx?|e?ps|rtf|odt|txt|html?|fm|pages|key)\W*$|^[\w.+-]*[\d_][\w.+-]*$"
    r"|^\d+(?:\.\d+)*\.?\s+\S+$",
    re.IGNORECASE,
)
_MIN_TITLE_LETTERS = 5
_MAX_TITLE_CHARS = 300
_TITLE_PART = 0.6  # of the first page's height
_CLEARLY_LARGER = 1.15
_TRAILING_MARKS = re.compile(r"[\s*∗⋆†‡§¶]+$")
_FIRST_ROWS = 40


@dataclass(frozen=True, slots=True)
class PageFacts:
    """The title, and the other facts under the keys of a document's metadata."""

    title: str | None
    metadata: dict[str, str | None]


def front_matter(
    pages: Sequence[PageLines], text: str, facts: Mapping[str, str | None], outline: Sequence[tuple[int, str, int]]
) -> PageFacts:
    """Return what the first page says, with what the file says where the page says nothing and the file is plausible.

    `text` is that of the first page, `facts` the file's own, `outline` its entries (level, title, page from 0).
    """
    first = next((page for page in pages if page.upright), PageLines(0, 0))
    body = body_size(line for page in pages[:5] for line in page.upright)
    group = _title_lines(first, body) if first.upright else []
    title = _title(group, body, text, facts.get("title") or "") or _outline_title(outline)
    stamp = _stamp([*first.turned, *first.upright])
    names = authors_below(first, group) if group else []
    names = authors_of_file(facts.get("author") or "", names, text)
    subject = facts.get("subject") or ""
    journal = _journal(first, subject)
    return PageFacts(
        title,
        {
            "author": "; ".join(names),
            "published": _published(first, stamp, subject),
            "doi": _doi(first, subject),
            "arxiv": stamp["id"] if stamp else None,
            "journal": journal,
            "subject": subject if subject != journal else None,
            "keywords": facts.get("keywords"),
        },
    )


# title


def _title_lines(page: PageLines, body: float) -> list[Line]:
    """Return the lines of the title: the largest text in the upper part, else the first that is bold or in capitals."""
    groups = [group for group in _groups(page) if _may_be_title(group)]
    if not groups:
        return []
    largest = max(group[0].size for group in groups)
    if largest > 1.05 * body:
        return next(group for group in groups if group[0].size > 0.97 * largest)
    for group in groups[:6]:
        text = " ".join(line.text for line in group)
        if (
            group[0].size > 0.95 * body
            and len(text) > 12
            and text[-1] != "."
            and (all(line.bold for line in group) or text.isupper())
            and len(text.split()) > 1
        ):
            return group
    return []


def _groups(page: PageLines) -> list[list[Line]]:
    """Return runs of lines of one size and weight, one below the other, from the upper part of the page."""
    groups: list[list[Line]] = []
    last = None
    for line in page.upright:
        if line.y0 > _TITLE_PART * page.height or _NO_TITLE.search(line.text.strip()):
            continue
        same = last is not None and abs(last.size - line.size) < 0.04 * line.size and last.bold == line.bold
        if last is not None and same and -1 <= line.base - last.base < 1.9 * line.size and line.text.strip():
            groups[-1].append(line)
        else:
            groups.append([line])
        last = line
    return groups


def _may_be_title(group: Sequence[Line]) -> bool:
    text = " ".join(line.text for line in group)
    letters = sum(character.isalpha() for character in text)
    return letters >= _MIN_TITLE_LETTERS and letters > 0.6 * len(text.replace(" ", "")) and len(text) < _MAX_TITLE_CHARS


def _title(group: Sequence[Line], body: float, text: str, given: str) -> str | None:
    """Return the page's title or the file's: the file's if the page bears it out, or shows no title of its own."""
    printed = _joined(group, text)
    plausible = " ".join(given.split())
    if len(plausible) < _MIN_TITLE_LETTERS or _NO_FILE_TITLE.search(plausible):
        plausible = ""
    if not plausible:
        return printed or None
    known, shown = _letters(plausible), _letters(printed)
    if printed and shown != known and (known not in _letters(text) or len(known) < 0.6 * len(shown)):
        clear = group[0].size > _CLEARLY_LARGER * body and len(printed.split()) > 1
        return printed if clear else plausible
    return plausible


def _joined(group: Sequence[Line], text: str) -> str:
    title = ""
    for line in group:
        part = _unmarked(line)
        if title.endswith("-") and part[:1].isalpha():
            whole = f"{title.split()[-1][:-1]}{part.split()[0]}"
            title = title[:-1] + part if part[0].islower() and whole.lower() in text.lower() else title + part
        else:
            title = f"{title} {part}" if title else part
    return _TRAILING_MARKS.sub("", compose_accents(" ".join(title.split())))


def _unmarked(line: Line) -> str:
    text = line.text
    for start, end in reversed(line.raised):
        if not text[end:].strip():
            text = text[:start]
    return text.strip()


def _letters(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


def _outline_title(entries: Sequence[tuple[int, str, int]]) -> str | None:
    """Return the one outermost entry above all others, if it is on the first page."""
    outermost = [entry for entry in entries if entry[0] == 1]
    if len(outermost) == 1 and len(entries) > 1 and entries[0] == outermost[0] and entries[0][2] == 0:
        return outermost[0][1]
    return None


# identifiers, date, journal


def _stamp(lines: Sequence[Line]) -> re.Match[str] | None:
    """Return the arXiv id with its date: that of the margin, else one at the head or foot of the page."""
    for line in [*lines[:_FIRST_ROWS], *lines[-3:]]:
        match = _ARXIV.search(line.text)
        if match and (match["date"] or len(line.text) < 60):
            return match
    return None


def _doi(page: PageLines, subject: str) -> str | None:
    """Return the first DOI above the references; a labelled one is preferred."""
    lines = []
    for line in page.upright:
        if _REFERENCES.fullmatch(line.text.strip()):
            break
        lines.append(line.text)
    edges = [line.text for line in page.upright if line.y0 > 0.9 * page.height or line.y1 < 0.1 * page.height]
    for pattern in (_LABELLED_DOI, _DOI):
        for text in [*edges, *lines, subject]:
            if match := pattern.search(text):
                found = _trimmed(match[pattern.groups])
                whole = (_trimmed(other[0]) for line in lines for other in _DOI.finditer(line))
                return max((doi for doi in whole if doi.startswith(found)), key=len, default=found)
    return None


def _trimmed(doi: str) -> str:
    doi = doi.rstrip(".,;:")
    while doi.endswith(")") and doi.count(")") > doi.count("("):
        doi = doi[:-1].rstrip(".,;:")
    return doi.lower()


def _published(page: PageLines, stamp: re.Match[str] | None, subject: str) -> str | None:
    """Return the date of the stamp, else one that the first page states, else the year of its head or foot."""
    if stamp and stamp["date"]:
        return find_date(stamp["date"])
    texts = [line.text for line in page.upright]
    edges = [line.text for line in page.upright if line.y1 < 0.12 * page.height or line.y0 > 0.88 * page.height]
    stated = year_in(texts, edges, subject)
    if stated:
        return stated
    number = re.match(r"(\d\d)(\d\d)\.", stamp["id"]) if stamp else None
    return f"20{number[1]}-{number[2]}" if number else None


def _journal(page: PageLines, subject: str) -> str | None:
    edges = [line.text for line in page.upright if line.y1 < 0.15 * page.height or line.y0 > 0.85 * page.height]
    for text in [*edges, subject]:
        if match := _JOURNAL.search(text[:_MAX_TITLE_CHARS]):
            return re.sub(r"(?: (?:of|on|for|in|and|the))+$", "", match[1]).strip()
    return None
