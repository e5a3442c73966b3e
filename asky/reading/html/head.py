"""Metadata in a page's head: title, author, date, site, language, canonical address."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from typing import Any
from urllib.parse import urlsplit

from asky.reading.html.links import absolute_url
from asky.reading.html.survey import Survey
from asky.text.scrub import one_line

_DATES = (
    "article:published_time", "og:published_time", "datepublished", "citation_publication_date", "citation_date",
    "dc.date.issued", "dcterms.issued", "dc.date", "dcterms.date", "parsely-pub-date", "sailthru.date", "pubdate",
    "publishdate", "publication_date", "date",
)  # fmt: skip
_AUTHORS = ("author", "dc.creator", "dcterms.creator", "parsely-author", "sailthru.author", "article:author")
_JOURNALS = ("citation_journal_title", "prism.publicationname", "citation_conference_title")
_DOIS = ("citation_doi", "prism.doi", "dc.identifier", "dcterms.identifier")
_DOI = re.compile(r"(?:doi:\s?|https?://(?:dx\.)?doi\.org/)?(10\.\d{4,9}/[^\s\"<>{}\\]{1,200})", re.IGNORECASE)
_DATE = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*")
_TYPE = re.compile(r'"@type"\s*:\s*"(\w{1,60})"')
_SINGLE_ITEM_TYPES = frozenset(
    {"Article", "NewsArticle", "BlogPosting", "ReportageNewsArticle", "TechArticle", "Product"}
)
_MAX_NODES = 2_000
_MAX_AUTHORS = 10
_HOST_FORMS = ("www.", "m.", "amp.", "mobile.")


def title_of(survey: Survey) -> str | None:
    """Return the title for sharing, else the window's, else the first heading."""
    return survey.metas.get("og:title") or survey.title or survey.heading or None


def describe(survey: Survey, url: str | None) -> dict[str, str | None]:
    """Return the metadata of a page: `author`, `published` (YYYY-MM-DD), `site_name`, `language`, `description`.

    For a paper also `published_in`, its journal, and `doi`, in lower case. The date is from the page's structured data,
    its meta elements or its first `time` element, in this order. With `url` also `canonical_url`, if the page names one
    on its own site.
    """
    nodes = list(_nodes(survey.json_ld))
    return {
        "author": _author(survey, nodes),
        "published": _published(survey, nodes),
        "site_name": survey.metas.get("og:site_name") or survey.metas.get("application-name"),
        "published_in": next((name for key in _JOURNALS if (name := survey.metas.get(key))), None),
        "doi": _doi(survey),
        "language": _language(survey),
        "description": survey.metas.get("description") or survey.metas.get("og:description"),
        "canonical_url": canonical_url_of(survey, url) if url else None,
    }


def is_about_one_item(survey: Survey) -> bool:
    """Return whether the page declares itself an article or a product, not a list of them or a home page."""
    kind = survey.metas.get("og:type", "").lower()
    if kind == "article" or kind.startswith("product"):
        return True
    return any(name in _SINGLE_ITEM_TYPES for script in survey.json_ld for name in _TYPE.findall(script))


def canonical_url_of(survey: Survey, url: str) -> str | None:
    """Return the page's canonical address, if it is on the same site and more specific than the site's home page.

    The same site is the same host, apart from a leading `www.` or a mobile form.
    """
    canonical = absolute_url(survey.canonical, url) if survey.canonical else None
    if canonical is None:
        return None
    named, requested = urlsplit(canonical), urlsplit(url)
    if _site(named.hostname or "") != _site(requested.hostname or "") or named.port != requested.port:
        return None
    is_front = named.path in ("", "/") and not named.query
    return None if is_front and (requested.path not in ("", "/") or requested.query) else canonical


def _site(host: str) -> str:
    for form in _HOST_FORMS:
        host = host.removeprefix(form)
    return host


def _nodes(scripts: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the objects of structured data, in page order; invalid JSON is left out."""
    left = _MAX_NODES
    for script in scripts:
        try:
            stack = [json.loads(script)]
        except (ValueError, RecursionError):
            continue
        while stack and left:
            node = stack.pop()
            if isinstance(node, list):
                stack += reversed(node)
            elif isinstance(node, dict):
                left -= 1
                yield node
                stack += [part for part in (node.get("@graph"), node.get("mainEntity")) if part is not None]


def _published(survey: Survey, nodes: Iterable[dict[str, Any]]) -> str | None:
    candidates = [node.get("datePublished") for node in nodes]
    candidates += [survey.metas.get(name) for name in _DATES]
    return next((day for value in [*candidates, survey.time] if (day := iso_date(value))), None)


def _doi(survey: Survey) -> str | None:
    matches = (_DOI.fullmatch(survey.metas.get(name, "").strip()) for name in _DOIS)
    return next((match[1].lower() for match in matches if match), None)


def iso_date(value: object) -> str | None:
    """Return the day at the beginning of a text, year first, as YYYY-MM-DD."""
    found = _DATE.match(value.strip()) if isinstance(value, str) else None
    try:
        return date(*map(int, found.groups())).isoformat() if found else None
    except ValueError:
        return None


def _author(survey: Survey, nodes: Iterable[dict[str, Any]]) -> str | None:
    if survey.authors:
        return "; ".join(survey.authors[:_MAX_AUTHORS])
    candidates = [survey.metas.get(name, "") for name in _AUTHORS]
    named = next((name for name in candidates if name and "://" not in name and not name.startswith("@")), None)
    return named or next((name for node in nodes if (name := _names(node.get("author")))), None)


def _names(value: object) -> str | None:
    people = value if isinstance(value, list) else [value]
    names = [one_line(name) for person in people[:_MAX_AUTHORS] if (name := _name(person))]
    return "; ".join(dict.fromkeys(name for name in names if name)) or None


def _name(person: object) -> str | None:
    name = person.get("name") if isinstance(person, dict) else person
    return name if isinstance(name, str) and "://" not in name else None


def _language(survey: Survey) -> str | None:
    candidates = (survey.language, survey.metas.get("content-language", ""), survey.metas.get("og:locale", ""))
    return next((name.replace("_", "-") for name in candidates if _LANGUAGE.fullmatch(name)), None)
