"""Conversion of a service's rows to candidates: plain text, absolute addresses, ISO dates, and a count of dropped
rows.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from asky.search.port import Candidate, SearchRequest, SearchResults, ServiceRank
from asky.search.reply import bad_request, malformed
from asky.search.service import Service
from asky.search.service_table import RequestLimits
from asky.text.counting import counted
from asky.text.scrub import plain_query, scrub, strip_sequences
from asky.text.urls import canonical_url, parse_address

MAX_TITLE_CHARS = 500
MAX_SNIPPET_CHARS = 5000

_TAG = re.compile(r"<(?:/?[A-Za-z][A-Za-z0-9:-]*(?:\s[^<>]{0,1000})?/?|!--.{0,1000}?--)>", re.DOTALL)
_BLOCK = re.compile(
    r"(?:</?(?:p|div|br|li|ul|ol|h[1-6]|td|tr|title|sec|jats:p|jats:title|jats:sec)\b[^<>]{0,1000}>)", re.I
)

# Click-tracking addresses: they tell nothing about the target page, and they expire.
_REDIRECTORS = re.compile(
    r"""
      (?:^|\.)google\.[a-z.]{2,6}/(?:url|aclk|imgres)\b
    | (?:^|\.)duckduckgo\.com/(?:l/|y\.js)
    | (?:^|\.)bing\.com/(?:ck/|aclick)
    | (?:^|\.)search\.yahoo\.com/
    | (?:^|\.)baidu\.com/link\b
    | (?:^|\.)yandex\.[a-z.]{2,6}/clck/
    | (?:^|\.)startpage\.com/(?:do/)?(?:proxy|redirect)
    """,
    re.VERBOSE | re.IGNORECASE,
)

ReadRow = Callable[[Mapping[str, Any]], Candidate | None]
"""Converts a row to a candidate; `None` if it is no source."""


class Adapter:
    """The parts of `SearchProvider` other than `search`, for a service with an HTTP API."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.name = service.name
        self.host = service.host


def clip(query: str, limits: RequestLimits) -> tuple[str, tuple[str, ...]]:
    """Return `query` in one line, cut after a whole word to `limits`, and a note if it was cut."""
    words = plain_query(query).split()
    kept = words[: limits.query_words]
    while len(kept) > 1 and len(" ".join(kept)) > limits.query_chars:
        kept.pop()
    text = " ".join(kept)[: limits.query_chars]
    if text == " ".join(words):
        return text, ()
    return text, (f"the query was cut to {len(kept)} of its {len(words)} words",)


def prepare(service: Service, request: SearchRequest) -> tuple[str, tuple[str, ...]]:
    """Return the query as the service takes it, and notes about cuts. Raises `ProviderError` if nothing is left."""
    query, notes = clip(request.query, service.limits)
    if not query:
        raise bad_request(service.name, "the query is empty")
    return query, notes


def results_wanted(service: Service, request: SearchRequest) -> int:
    """Return how many results to request at once."""
    return max(1, min(request.max_results, service.limits.results))


def language_of(request: SearchRequest) -> tuple[str, str | None] | None:
    """Return the language as `("pt", "BR")` or `("pt", None)`; `None` if none or an invalid one is requested."""
    match = re.fullmatch(r"([A-Za-z]{2,3})(?:[-_]([A-Za-z]{2}|\d{3}))?", (request.language or "").strip())
    return (match[1].lower(), match[2].upper() if match[2] else None) if match else None


def table(name: str, value: object) -> Mapping[str, Any]:
    """Return `value` if it is a JSON object. Raises `ProviderError` (malformed) for anything else."""
    if not isinstance(value, Mapping):
        raise malformed(name, "its answer is not an object")
    return value


def within(value: object, *names: str) -> Any:
    """Return the value under these names in nested objects; `None` if one is missing or not an object."""
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def rows_in(name: str, answer: object, *names: str) -> Any:
    """Return the value under these names, which a response of the service `name` must have.

    Raises `ProviderError` (malformed): a response without its list of results is not one that found nothing.
    """
    rows = within(answer, *names)
    if rows is None:
        raise malformed(name, "its answer has no list of results")
    return rows


def error_text(*values: object) -> str:
    """Return the message of an error body: the first of `values` that is text, in one short line."""
    return next((text for value in values if (text := plain(value, 200))), "")


def collect(
    name: str, request: SearchRequest, rows: object, read: ReadRow, *, notes: Iterable[str] = ()
) -> SearchResults:
    """Convert `rows` with `read`, ranked in order, without duplicate addresses, at most as many as requested.

    A row that is not an object, or for which `read` returns `None`, is left out and counted in the notes. `rows` may be
    `None` for none. Raises `ProviderError` (malformed) if they are not a list.
    """
    if rows is None:
        rows = []
    if not isinstance(rows, list):
        raise malformed(name, "its answer has no list of results")
    kept: dict[str, Candidate] = {}
    dropped = 0
    for row in rows:
        candidate = read(row) if isinstance(row, Mapping) else None
        if candidate is None:
            dropped += 1
        else:
            kept.setdefault(canonical_url(candidate.url), candidate)
    best = list(kept.values())[: request.max_results]
    ranked = (
        replace(candidate, found=(ServiceRank(name, rank, request.query),))
        for rank, candidate in enumerate(best, start=1)
    )
    return SearchResults(tuple(ranked), (*notes, *_note_of(dropped)))


def page(
    url: object,
    title: object,
    *,
    snippet: str = "",
    published: str | None = None,
    authors: tuple[str, ...] = (),
) -> Candidate | None:
    """Return a web page as a candidate, `None` if `url` is not a valid address. `url` and `title` are unprocessed."""
    address = web_url(url)
    if address is None:
        return None
    return Candidate(address, plain(title, MAX_TITLE_CHARS), snippet, published, authors=authors)


def plain(value: object, max_chars: int = MAX_SNIPPET_CHARS) -> str:
    """Return `value` as plain text in one line: without markup, entities resolved; `""` for anything but text.

    Markup is removed before entities are resolved, so that `&lt;b&gt;` stays readable.
    """
    if not isinstance(value, str):
        return ""
    text = _TAG.sub("", _BLOCK.sub(" ", value[: 4 * max_chars]))
    return shorten(" ".join(scrub(strip_sequences(html.unescape(text))).split()), max_chars)


def web_url(value: object) -> str | None:
    """Return `value` if it is the address of a page: absolute, http or https, without a user, and no redirector.

    Unchanged, except that white space in it is escaped.
    """
    if not isinstance(value, str):
        return None
    url = value.strip()
    try:
        address = parse_address(url)
    except ValueError:
        return None
    if _REDIRECTORS.search(address.host + address.target):
        return None
    return url if url.isprintable() and " " not in url and scrub(url) == url else str(address)


def whole_number(value: object) -> int | None:
    """Return `value` as a non-negative count; services send digits in text too."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= 12:
        return int(value)
    return value if isinstance(value, int) and value >= 0 else None


def texts(values: object, max_chars: int = MAX_TITLE_CHARS) -> tuple[str, ...]:
    """Return the texts of a list, plain, without empty ones; of a single text, that one."""
    if isinstance(values, str):
        values = [values]
    if not isinstance(values, list):
        return ()
    return tuple(text for value in values if (text := plain(value, max_chars)))


def passages(*values: object) -> str:
    """Join several texts, or lists of texts, to one snippet with ellipses between them."""
    return shorten(" … ".join(text for value in values for text in texts(value, MAX_SNIPPET_CHARS)), MAX_SNIPPET_CHARS)


def shorten(text: str, max_chars: int) -> str:
    """Return `text`, cut to `max_chars` with an ellipsis."""
    return text if len(text) <= max_chars else text[: max_chars - 1].rstrip() + "…"


def _note_of(dropped: int) -> tuple[str, ...]:
    if not dropped:
        return ()
    return (f"{counted(dropped, 'result')} without a usable address left out",)
