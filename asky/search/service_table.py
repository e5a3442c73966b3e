"""The table of search services: what each is, what it needs, its rate limits, and which of them the user searches with.

Light to import: the status line of a chat asks which services there are. `asky.search.catalog` makes their adapters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from asky.config.schema import Search, SearchPackage, SearchServiceSettings
from asky.errors import ConfigError
from asky.net.host_policy import ARXIV, WIKIPEDIA

Kind = Literal["web", "paper", "finder"]
Need = Literal["none", "optional", "required"]

PACKAGES = frozenset({"ddgs"})
"""Services that are packages of their own, which have to be installed."""

AUTOMATIC = ("searxng", "brave", "tavily", "exa", "serper")
"""The services used if they are configured and the user has named none, in this order."""


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """Limits of a service per request: characters and words of a query, and results; `None` is no limit."""

    query_chars: int = 1000
    query_words: int | None = None
    results: int = 20


@dataclass(frozen=True, slots=True)
class ServiceRow:
    """The properties of a service; the user's `SearchServiceSettings` take precedence.

    `base_url` is `None` if the user must provide it. `key` and `email` say whether they are used, `key_variable` is the
    usual name of the variable. `gap_s` and `at_once` are the rate limits of the service, `keyed_gap_s` the gap with a
    key.
    """

    summary: str
    kind: Kind
    base_url: str | None
    gap_s: float
    key: Need = "none"
    key_variable: str | None = None
    keyed_gap_s: float | None = None
    at_once: int = 2
    email: Need = "none"
    limits: RequestLimits = field(default_factory=RequestLimits)
    timeout_s: float = 30.0
    max_tries: int = 3


ROWS: Mapping[str, ServiceRow] = MappingProxyType(
    {
        "searxng": ServiceRow(
            "a SearXNG instance of your own", "web", None, 1.0, limits=RequestLimits(query_chars=2000, results=100)
        ),
        "brave": ServiceRow(
            "Brave Search; needs a paid plan",
            "web",
            "https://api.search.brave.com/res/v1",
            1.1,
            key="required",
            key_variable="BRAVE_API_KEY",
            at_once=1,
            limits=RequestLimits(query_chars=400, query_words=50, results=20),
        ),
        "tavily": ServiceRow(
            "Tavily; 1000 searches a month are free",
            "web",
            "https://api.tavily.com",
            0.6,
            key="required",
            key_variable="TAVILY_API_KEY",
            limits=RequestLimits(query_chars=400, results=20),
        ),
        "exa": ServiceRow(
            "Exa; needs a paid plan",
            "web",
            "https://api.exa.ai",
            0.1,
            key="required",
            key_variable="EXA_API_KEY",
            at_once=4,
            limits=RequestLimits(query_chars=2000, results=100),
        ),
        "serper": ServiceRow(
            "Serper: results of Google; 2500 searches are free",
            "web",
            "https://google.serper.dev",
            0.2,
            key="required",
            key_variable="SERPER_API_KEY",
            limits=RequestLimits(query_chars=2000, results=100),
        ),
        "ddgs": ServiceRow(
            "the ddgs package, which scrapes DuckDuckGo: read its terms first",
            "web",
            "https://html.duckduckgo.com",
            2.5,
            at_once=1,
            limits=RequestLimits(query_chars=400, results=50),
            max_tries=1,
        ),
        "semantic_scholar": ServiceRow(
            "Semantic Scholar: papers",
            "paper",
            "https://api.semanticscholar.org/graph/v1",
            1.1,
            key="optional",
            key_variable="SEMANTIC_SCHOLAR_API_KEY",
            at_once=1,
            limits=RequestLimits(query_chars=300, results=100),
        ),
        "pubmed": ServiceRow(
            "PubMed: biomedical papers",
            "paper",
            "https://eutils.ncbi.nlm.nih.gov/entrez/eutils",
            0.34,
            key="optional",
            key_variable="NCBI_API_KEY",
            keyed_gap_s=0.11,
            email="optional",
            limits=RequestLimits(query_chars=1000, results=100),
        ),
        "arxiv": ServiceRow(
            "arXiv: preprints",
            "paper",
            "https://export.arxiv.org/api",
            ARXIV.gap_s,
            at_once=ARXIV.at_once,
            email="optional",
            limits=RequestLimits(query_chars=300, results=100),
            timeout_s=60.0,
            max_tries=1,
        ),
        "openalex": ServiceRow(
            "OpenAlex: papers; a free key allows more",
            "paper",
            "https://api.openalex.org",
            0.1,
            key="optional",
            key_variable="OPENALEX_API_KEY",
            limits=RequestLimits(query_chars=1000, results=100),
        ),
        "crossref": ServiceRow(
            "Crossref: papers",
            "paper",
            "https://api.crossref.org/v1",
            0.5,
            at_once=1,
            email="optional",
            limits=RequestLimits(query_chars=1000, results=100),
        ),
        "unpaywall": ServiceRow(
            "Unpaywall: open copies of papers by their DOI; it is not a search service",
            "finder",
            "https://api.unpaywall.org/v2",
            0.2,
            email="required",
        ),
        "wikipedia": ServiceRow(
            "Wikipedia",
            "web",
            "https://en.wikipedia.org",
            WIKIPEDIA.gap_s,
            at_once=WIKIPEDIA.at_once,
            email="optional",
            limits=RequestLimits(query_chars=300, results=50),
        ),
    }
)
"""By name. Source of limits: the services' documentation in November 2026. The strictest are used slightly slower,
as connections take varying time to open.
"""


def configured(search: Search, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of the services to search with: those the user named, else the configured ones of `AUTOMATIC`.

    Each once, in that order; named services that do not search are in `finders`. Raises `ConfigError` for an unknown
    name.
    """
    if named := _named(search, lambda row: row.kind != "finder"):
        return named
    return tuple(name for name in AUTOMATIC if _is_set_up(name, settings_of(search, name), environ))


def finders(search: Search) -> tuple[str, ...]:
    """Return the finders that the user named, each once, in that order. Raises `ConfigError` as `configured` does."""
    return _named(search, lambda row: row.kind == "finder")


def settings_of(search: Search, name: str) -> SearchServiceSettings | SearchPackage:
    """Return the user's settings of the service `name`, which must be one of `ROWS`."""
    settings: SearchServiceSettings | SearchPackage = getattr(search, name)
    return settings


def _named(search: Search, is_wanted: Callable[[ServiceRow], bool]) -> tuple[str, ...]:
    rows = {name: row_of(name) for name in search.providers}
    return tuple(name for name, row in rows.items() if is_wanted(row))


def row_of(name: str) -> ServiceRow:
    """Return the row of a service. Raises `ConfigError` for an unknown name, with the nearest ones as a hint."""
    row = ROWS.get(name)
    if row is None:
        from difflib import get_close_matches  # only if there is an error already

        close = get_close_matches(name[:100].lower(), ROWS, n=2)
        hint = f"did you mean {' or '.join(close)}?" if close else f"known services: {listed(searching())}"
        raise ConfigError(f"there is no search service called {name[:100]!r}", hint=hint)
    return row


def searching() -> Iterable[str]:
    """Return the names of the services that search."""
    return (name for name, row in ROWS.items() if row.kind != "finder")


def listed(names: Iterable[str]) -> str:
    """Return the names in one line."""
    return ", ".join(names)


def _is_set_up(name: str, settings: SearchServiceSettings | SearchPackage, environ: Mapping[str, str]) -> bool:
    row = ROWS[name]
    variable = settings.api_key_env or row.key_variable
    has_key = variable is not None and bool(environ.get(variable, "").strip())
    return (settings.base_url or row.base_url) is not None and (row.key != "required" or has_key)
