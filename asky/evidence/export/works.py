"""Cited works: one for each source, with the data that a bibliography needs."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

from asky.evidence.export.citing import page_text
from asky.search.identifiers import doi_of, find_identifiers
from asky.text.scrub import one_line

WorkKind = Literal["article", "preprint", "page", "document", "file", "note"]

_DATE = re.compile(r"(\d{4})(?:-(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\d|3[01]))?)?(?!\d)")
_SMALL_WORDS = frozenset(("the", "and", "for", "with", "from", "that", "this", "what", "how", "why", "are", "was"))
_MIN_WORD_CHARS = 3
_MAX_NAME_CHARS = 20
_SECOND_LEVEL = frozenset(("ac", "co", "com", "edu", "gov", "net", "org"))


@dataclass(frozen=True, slots=True)
class Name:
    """An author: the names of a person, or `literal` if it may be an organisation."""

    family: str = ""
    given: str = ""
    literal: str = ""


@dataclass(frozen=True, slots=True)
class Reference:
    """A cited source. All texts are on one line, without control characters, and can be encoded as UTF-8.

    `key` consists of a to z and 0 to 9 and is unique. `issued` and `accessed` hold the year, month and day, as far as
    known. `pages` are the cited pages, in words; `sha256` are the hashes of the cited texts; `notices` say in words
    what is to be known of it, such as a retraction.
    """

    key: str
    kind: WorkKind
    title: str
    authors: tuple[Name, ...]
    issued: tuple[int, ...]
    accessed: tuple[int, ...]
    published_in: str | None
    url: str | None
    path: str | None
    doi: str | None
    arxiv: str | None
    pmid: str | None
    pages: tuple[str, ...]
    sha256: tuple[str, ...]
    notices: tuple[str, ...] = ()

    @property
    def author_names(self) -> str:
        """Return the authors with their given names first."""
        return ", ".join(each.literal or f"{each.given} {each.family}".strip() for each in self.authors)

    @property
    def published(self) -> str:
        """Return the journal or site and the date, as far as known."""
        date = "-".join(f"{part:0{2 if place else 4}}" for place, part in enumerate(self.issued))
        return ", ".join(filter(None, (self.published_in, date)))

    @property
    def named_id(self) -> str:
        """Return the arXiv id or the DOI with its prefix; empty without one."""
        return f"arXiv:{self.arxiv}" if self.arxiv else f"doi:{self.doi}" if self.doi else ""

    @property
    def note(self) -> str:
        """Return the data for which no format has a field."""
        parts = [
            *self.notices,
            f"cited: {', '.join(self.pages)}" if self.pages else "",
            f"file: {self.path}" if self.path else "",
            f"SHA-256 of the text that was read: {', '.join(self.sha256)}" if self.sha256 else "",
        ]
        return "; ".join(part for part in parts if part)


def cited_works(answers: Iterable[Mapping[str, Any]]) -> list[Reference]:
    """Return the works that `asky.answer/1` objects cite, in order of first citation, each once.

    Citations belong to one work if they have the same DOI or the same source. A key consists of the first author's
    family name or the host, the year, and the first long word of the title; another work with the same key gets the
    suffix `a`, `b`, and so on, so that further answers never change an existing key.
    """
    taken: dict[str, int] = {}
    return [_work(citations, taken) for citations in _by_work(answers)]


def keys_of_sources(answers: Iterable[Mapping[str, Any]], works: Sequence[Reference]) -> Mapping[str, str]:
    """Return the key of each source that answers cite, by its id; `works` are those that `cited_works` returns."""
    groups = zip(_by_work(answers), works, strict=True)
    return {each["source_id"]: work.key for citations, work in groups for each in citations}


def _by_work(answers: Iterable[Mapping[str, Any]]) -> Iterable[list[Mapping[str, Any]]]:
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for answer in answers:
        for citation in answer["citations"]:
            groups.setdefault(_doi(citation) or f"source {citation['source_id']}", []).append(citation)
    return groups.values()


def citation_key(authors: Sequence[str], published: str | None, title: str) -> str:
    """Return the key of a paper without its suffix, as in `lewis2020retrieval`: see `cited_works`."""
    return _key([_name(each, "article") for each in authors], None, _date(published), title, {})


def _work(citations: Sequence[Mapping[str, Any]], taken: dict[str, int]) -> Reference:
    title = next((text for each in citations if (text := _line(each["title"]))), "") or "Untitled"
    url = _first(citations, "url")
    doi = _doi(citations[0])
    named = {each.kind: each.value for each in find_identifiers(f"{url or ''} {doi or ''}")[::-1]}
    published_in = _first(citations, "published_in")
    kind = _kind(citations, doi=doi, arxiv=named.get("arxiv"), pmid=named.get("pmid"), published_in=published_in)
    names = next((each["authors"] for each in citations if each.get("authors")), ())
    authors = tuple(_name(text, kind) for name in names if (text := _line(name)))
    issued = next((found for each in citations if (found := _date(each.get("published")))), ())
    return Reference(
        key=_key(authors, url, issued, title, taken),
        kind=kind,
        title=title,
        authors=authors,
        issued=issued,
        accessed=next((found for each in citations if (found := _date(each.get("fetched_at")))), ()),
        published_in=published_in,
        url=url,
        path=_first(citations, "path"),
        doi=doi,
        arxiv=named.get("arxiv"),
        pmid=named.get("pmid"),
        pages=tuple(dict.fromkeys(page for each in citations if (page := page_text(each)))),
        sha256=tuple(dict.fromkeys(each["sha256"] for each in citations if each["sha256"])),
        notices=tuple(dict.fromkeys(_line(one) for each in citations for one in each.get("notices", ()))),
    )


def _line(value: object) -> str:
    return one_line(value, None) if isinstance(value, str) else ""


def _first(citations: Sequence[Mapping[str, Any]], field: str) -> str | None:
    return next((text for each in citations if (text := _line(each.get(field)))), None)


def _doi(citation: Mapping[str, Any]) -> str | None:
    """Return the DOI of the source, or the one in its address."""
    doi = doi_of(citation.get("doi"))
    if doi is not None:
        return doi
    named = find_identifiers(citation["url"] or "")
    return next((each.value for each in named if each.kind == "doi"), None)


def _kind(
    citations: Sequence[Mapping[str, Any]],
    *,
    doi: str | None,
    arxiv: str | None,
    pmid: str | None,
    published_in: str | None,
) -> WorkKind:
    first = citations[0]
    if arxiv and (doi is None or "arxiv" in doi):
        return "preprint"
    if doi or pmid or (first["kind"] == "paper" and published_in):
        return "article"
    if first["kind"] == "note":
        return "note"
    if not first["url"]:
        return "file"
    has_pages = any(each["page"] is not None for each in citations)
    return "document" if has_pages or first["kind"] == "paper" else "page"


def _name(text: str, kind: WorkKind) -> Name:
    """Parse an author: `Family, Given` is a person, and so is an author of a paper; a page's may be an organisation."""
    family, comma, given = (part.strip() for part in text.partition(","))
    if comma and family and given and "," not in given:
        return Name(family=family, given=given)
    if kind in ("article", "preprint") and " " in text and "," not in text:
        given, _, family = text.rpartition(" ")
        return Name(family=family, given=given)
    return Name(literal=text)


def _date(value: object) -> tuple[int, ...]:
    match = _DATE.match(value) if isinstance(value, str) else None
    return tuple(int(part) for part in match.groups() if part) if match else ()


def _key(authors: Sequence[Name], url: str | None, issued: Sequence[int], title: str, taken: dict[str, int]) -> str:
    """Return a key that is not `taken`, which maps each key to the last suffix number used."""
    who = next((plain for each in authors[:1] if (plain := _letters(each.family))), "") or _host_name(url)
    who = who or next((plain for each in authors[:1] if (plain := _letters(each.literal))), "")
    words = [_letters(word) for word in re.split(r"[\W_]+", title)]
    long = (word for word in words if len(word) >= _MIN_WORD_CHARS and word not in _SMALL_WORDS)
    base = f"{who[:_MAX_NAME_CHARS]}{issued[0] if issued else ''}{next(long, '')[:_MAX_NAME_CHARS]}"
    if not base[:1].isalpha():
        base = f"source{base}"
    key, number = base, taken.get(base, 0)
    while key in taken:
        number += 1
        key = base + _suffix(number)
    taken[base] = number
    taken.setdefault(key, 0)
    return key


def _suffix(number: int) -> str:
    """Return `a` to `z`, `aa`, `ab`, and so on, for numbers from 1."""
    letters = ""
    while number:
        number, digit = divmod(number - 1, 26)
        letters = chr(ord("a") + digit) + letters
    return letters


def _letters(text: str) -> str:
    """Return the ASCII letters and digits of `text` in lower case, without accents."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    return "".join(char for char in plain if char.isascii() and char.isalnum())


def _host_name(url: str | None) -> str:
    """Return the part of the host that names the site: `example` of `www.example.co.uk`."""
    try:
        host = urlsplit(url or "").hostname or ""
    except ValueError:
        return ""
    labels = [label for label in host.split(".") if label]
    if ":" in host or all(label.isdigit() for label in labels):
        return _letters(host)
    labels = labels[:-1] or labels
    while len(labels) > 1 and labels[-1] in _SECOND_LEVEL:
        labels.pop()
    return _letters(labels[-1])
