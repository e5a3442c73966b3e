"""Helpers shared by the scholarly services: papers as candidates, dates, abstracts, and query words."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import date
from typing import Any, Literal
from urllib.parse import quote

from asky.errors import AskyError
from asky.search.dates import first_day_of, iso_date
from asky.search.identifiers import Identifier, arxiv_id_of, doi_field
from asky.search.port import Candidate, SearchRequest
from asky.search.reply import Explain, ServiceReply, UnknownIdentifier, nothing_special, unknown
from asky.search.rows import MAX_SNIPPET_CHARS, MAX_TITLE_CHARS, plain, prepare, table, web_url
from asky.search.service import Service
from asky.text.terms import STOP_WORDS, words

_MARK = re.compile(r"\W*(?:(?P<taken>retracted)|withdrawn)(?: article| paper| chapter)?\s?[:\]]", re.IGNORECASE)
_FORMULA = re.compile(
    r"<(?P<name>(?:jats:)?tex-math|(?:mml:)?annotation)\b[^<>]{0,1000}>[^<>]{0,5000}</(?P=name)>", re.IGNORECASE
)
_OWN_TITLE = re.compile(
    r"<(?P<name>(?:jats:)?title)\b[^<>]{0,200}>\s{0,99}(?:abstract|summary)\s{0,99}</(?P=name)>", re.IGNORECASE
)
_TITLE_END = re.compile(r"[:.]?\s{0,99}</(?:jats:)?title>", re.IGNORECASE)
_ESCAPED_MARKUP = re.compile(r"&lt;/?(?:jats:)?(?:p|i|b|em|strong|sub|sup|title|sec|italic|bold)\b", re.IGNORECASE)
_MAX_ABSTRACT_CHARS = 4 * MAX_SNIPPET_CHARS


def paper(
    *,
    title: str,
    doi: object = None,
    arxiv: Identifier | None = None,
    page: object = None,
    keeps_page: bool = False,
    abstract: str = "",
    authors: Iterable[str] = (),
    venue: str = "",
    published: str | None = None,
    pdf_url: object = None,
    citations: int | None = None,
    is_retracted: bool = False,
    is_notice: bool = False,
) -> Candidate | None:
    """Return a paper, or `None` if it has no title or no address.

    `page` is its address if it has neither an arXiv id nor a DOI, which take precedence in this order, as arXiv's page
    can be read by everyone; or always, with `keeps_page`. `doi`, `page` and `pdf_url` are unprocessed, the other texts
    are plain; authors have their family name last. A mark in its title counts unless it is itself a notice.
    """
    name = doi_field(doi)
    arxiv = arxiv or arxiv_id_of(name)
    named = arxiv_url(arxiv) if arxiv else doi_url(name) if name else None
    url = named if named and not keeps_page else web_url(page)
    if not title or url is None:
        return None
    return Candidate(
        url=url,
        title=title,
        snippet=abstract,
        published=published,
        kind="paper",
        doi=name,
        authors=tuple(author for author in authors if author),
        venue=venue or None,
        pdf_url=web_url(pdf_url) or (arxiv_url(arxiv, "pdf") if arxiv else None),
        citations=citations,
        is_retracted=is_retracted or (not is_notice and mark_in_title(title) is not None),
    )


def mark_in_title(title: str) -> Literal["retraction", "withdrawal"] | None:
    """Return what a title such as `RETRACTED: ...` or `[Withdrawn Article] ...` says of its paper."""
    match = _MARK.match(title)
    return None if match is None else "retraction" if match["taken"] else "withdrawal"


def arxiv_url(arxiv: Identifier, view: str = "abs") -> str:
    """Return the arXiv page of a paper: the version named, else the newest."""
    version = f"v{arxiv.version}" if arxiv.version else ""
    return f"https://arxiv.org/{view}/{arxiv.value}{version}"


def doi_url(doi: str) -> str:
    """Return the address of a DOI."""
    return f"https://doi.org/{quote(doi, safe='/:;()._-')}"


def plain_title(value: object) -> str:
    """Return a title without markup; formulas once, not in each of their forms."""
    return plain(_FORMULA.sub("", value[: 4 * MAX_TITLE_CHARS]), MAX_TITLE_CHARS) if isinstance(value, str) else ""


def plain_abstract(value: object) -> str:
    """Return an abstract without markup, JATS or HTML, even if the markup is escaped; its headings end in a colon."""
    if not isinstance(value, str):
        return ""
    text = value[:_MAX_ABSTRACT_CHARS]
    if _ESCAPED_MARKUP.search(text):
        import html  # only for this rare defect

        text = html.unescape(text)
    text = _TITLE_END.sub(": </title>", _OWN_TITLE.sub(" ", _FORMULA.sub("", text)))
    return plain(text)


def date_of(year: object, month: object = None, day: object = None) -> str | None:
    """Return the date in ISO 8601, or as much of it as is valid; a month is a number or an English name."""
    exact_first = (
        (f"{year}-{month}-{day}", f"{month} {day}, {year}") if month and day else (),
        (f"{year}-{month}", f"{month} {year}") if month else (),
        (f"{year}",),
    )
    return next((found for form in itertools.chain(*exact_first) if (found := iso_date(form))), None)


async def fetch_record(
    service: Service,
    path: str,
    params: Mapping[str, Any] | None = None,
    *,
    headers: Mapping[str, str] | None = None,
    explain: Explain = nothing_special,
) -> Mapping[str, Any] | None:
    """Return the JSON object at `path`, or `None` if the service says that it has none there.

    The user's parameters are for searches and are not sent: a filter among them would hide notices.
    """

    def explain_lookup(reply: ServiceReply) -> AskyError | None:
        return unknown(reply, service.name) or explain(reply)

    try:
        answer = await service.get_json(path, params, headers=headers, explain=explain_lookup)
    except UnknownIdentifier:
        return None
    return table(service.name, answer)


def in_path(identifier: str) -> str:
    """Return an identifier as the end of a path: its slashes stay, and a dot after one leads nowhere else."""
    return quote(identifier, safe="/:").replace("/.", "/%2E")


def first_day(service: Service, request: SearchRequest) -> date | None:
    """Return the first day of the requested recency; `None` without one."""
    return None if request.recency is None else first_day_of(request.recency, service.today())


def joined_filters(service: Service, own: str | None) -> str | None:
    """Return the user's parameter `filter` combined (AND) with one of the adapter's own."""
    return ",".join(filter(None, (str(service.parameters.get("filter") or ""), own))) or None


def clean_query(service: Service, request: SearchRequest) -> tuple[str, tuple[str, ...]]:
    """Return the query without operators, as the service takes it, and notes about what was cut.

    Raises `ProviderError` (bad_request) if nothing is left to search for.
    """
    return prepare(service, replace(request, query=without_operators(request.query)))


def search_words(query: str, max_words: int) -> tuple[list[str], tuple[str, ...]]:
    """Return the content words of `query`, at most `max_words`, without duplicates, and a note if some are left out.

    For services that require all words of a query: with every "what" and "of" nothing would be found. Stop words stay
    if there are no others.
    """
    found = list(dict.fromkeys(words(query)))
    content_words = [word for word in found if word not in STOP_WORDS] or found
    if len(content_words) <= max_words:
        return content_words, ()
    return content_words[:max_words], (f"only {max_words} of the query's {len(content_words)} words were searched for",)


def without_operators(query: str) -> str:
    """Return `query` without the operators of search languages: quotes, brackets, wildcards, capitals of AND and OR."""
    kept = "".join(each if unicodedata.category(each)[0] in "LMN" or each in ".,'+#&-" else " " for each in query)
    text = re.sub(r"(?<![^\W_])-", " ", unicodedata.normalize("NFC", kept))
    return " ".join(re.sub(r"\b(?:AND|OR|NOT|ANDNOT)\b", lambda match: match[0].lower(), text).split())
