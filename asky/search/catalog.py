"""The catalog of search services: what each is, what it needs, and its rate limits.

Each name is a key of the configuration's table `search`, and a module of `asky.search.providers`, which is imported
when it is used, with

    def make(service: Service) -> SearchProvider

The adapters of the services in `PAPER_LOOKUPS` are `PaperLookup`s as well. A `finder` does not search, and its `make`
returns another type; `make_provider` refuses it, `make_service` does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from asky.config.endpoints import base_url_fault
from asky.config.schema import Search, SearchPackage, SearchServiceSettings
from asky.errors import ConfigError, NotConfigured
from asky.installation import install_hint
from asky.net.host_policy import ARXIV, WIKIPEDIA
from asky.net.retry import Retry, RetryBudget, Waiting
from asky.search.identifiers import Identifier
from asky.search.lookup import PAPER_LOOKUPS, FoundPaper, PaperLookup
from asky.search.port import SearchProvider, SearchRequest, SearchResults
from asky.search.service import RequestLimits, Service

if TYPE_CHECKING:
    from asky.net.breaker import Breaker
    from asky.net.pace import Pace

Kind = Literal["web", "paper", "finder"]
Need = Literal["none", "optional", "required"]

PACKAGES = frozenset({"ddgs"})
"""Services that are packages of their own, which have to be installed."""

AUTOMATIC = ("searxng", "brave", "tavily", "exa", "serper")
"""The services used if they are configured and the user has named none, in this order."""


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


@dataclass(frozen=True, slots=True)
class SearchContext:
    """State shared by the services of a process: environment with keys, rate limits, breakers, time, retries."""

    environ: Mapping[str, str]
    pace: Pace
    breaker: Breaker
    waiting: Waiting = field(default_factory=Waiting)
    budget: RetryBudget = field(default_factory=RetryBudget)


def configured(search: Search, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of the services to search with: those the user named, else the configured ones of `AUTOMATIC`.

    Each once, in that order; named services that do not search are in `finders`. Raises `ConfigError` for an unknown
    name.
    """
    if named := _named(search, lambda row: row.kind != "finder"):
        return named
    return tuple(name for name in AUTOMATIC if _is_set_up(name, settings_of(search, name), environ))


def keyless() -> dict[str, str]:
    """Return the search services that can be used without a key or an account, with their summaries.

    Those over the whole web come first. A package that is not installed is left out.
    """
    free = {name: ROWS[name] for name in _searching() if ROWS[name].key != "required" and ROWS[name].base_url}
    usable = [(name, row) for name, row in free.items() if name not in PACKAGES or find_spec(name) is not None]
    return {name: row.summary for name, row in sorted(usable, key=lambda each: each[1].kind == "paper")}


def check_packages(names: Iterable[str]) -> None:
    """Raise `NotConfigured` if one of these services needs a package that is not installed."""
    for name in names:
        if name in PACKAGES and find_spec(name) is None:
            hint = install_hint("installs it", extra=name)
            raise NotConfigured(f"{name} needs a package that is not installed", hint=hint)


def finders(search: Search) -> tuple[str, ...]:
    """Return the finders that the user named, each once, in that order. Raises `ConfigError` as `configured` does."""
    return _named(search, lambda row: row.kind == "finder")


def make_providers(search: Search, context: SearchContext) -> tuple[SearchProvider, ...]:
    """Return the services of `configured`. One that is not usable as configured raises an error when called.

    Raises `ConfigError` as `configured` and `make_provider` do.
    """
    return tuple(_make_or_unusable(name, search, context) for name in configured(search, context.environ))


def make_provider(name: str, search: Search, context: SearchContext) -> SearchProvider:
    """Return the service `name`, as configured by the user.

    Raises `ConfigError` for a name that is unknown or does not search, `NotConfigured` for a package that is not
    installed, and what `make_service` raises.
    """
    if _row(name).kind == "finder":
        raise ConfigError(f"{name} is not a search service", hint=f"search services: {_listed(_searching())}")
    service = make_service(name, search, context)
    provider: SearchProvider = import_module(f"asky.search.providers.{name}").make(service)
    return provider


def make_lookups(search: Search, context: SearchContext) -> tuple[PaperLookup, ...]:
    """Return the registries of `PAPER_LOOKUPS`, whichever services the user searches with.

    One that is not usable as configured raises an error when called. Raises `ConfigError` as `make_provider` does.
    """
    names = dict.fromkeys(name for names in PAPER_LOOKUPS.values() for name in names)
    return tuple(_make_or_unusable(name, search, context) for name in names)


def make_service(name: str, search: Search, context: SearchContext) -> Service:
    """Return the client of the service `name`, for its adapter.

    Raises `NotConfigured` naming the variable or configuration key that is missing, and `ConfigError` for an unknown
    name or an invalid address.
    """
    row, settings = _row(name), settings_of(search, name)
    base_url = settings.base_url or row.base_url
    if base_url is None:
        raise NotConfigured(f"{name} has no address", hint=f"set search.{name}.base_url to where it is")
    if fault := base_url_fault(base_url):
        raise ConfigError(f"search.{name}.base_url: {fault}")
    if row.email == "required" and not search.email:
        raise NotConfigured(f"{name} asks its users for an e-mail address", hint="set search.email to yours")
    variable = settings.api_key_env or row.key_variable
    api_key = _read_key(variable, context.environ)
    if api_key is None and (row.key == "required" or settings.api_key_env is not None):
        raise NotConfigured(
            f"{name} needs a key: the variable {variable} is not set",
            hint=f"export {variable}=..., or search with another service",
        )
    gap_s = row.keyed_gap_s if api_key is not None and row.keyed_gap_s is not None else row.gap_s
    return Service(
        name=name,
        base_url=base_url,
        pace=context.pace,
        breaker=context.breaker,
        api_key=api_key,
        key_variable=variable,
        email=None if row.email == "none" else search.email,
        parameters=settings.parameters,
        limits=row.limits,
        gap_s=gap_s if settings.gap_s is None else settings.gap_s,
        at_once=row.at_once,
        timeout_s=row.timeout_s if settings.timeout_s is None else settings.timeout_s,
        retry=Retry(max_tries=row.max_tries),
        budget=context.budget,
        waiting=context.waiting,
    )


def settings_of(search: Search, name: str) -> SearchServiceSettings | SearchPackage:
    """Return the user's settings of the service `name`, which must be one of `ROWS`."""
    settings: SearchServiceSettings | SearchPackage = getattr(search, name)
    return settings


class _Unusable:
    """A service that is named but not configured: a search fails with what is missing, like any other failure."""

    def __init__(self, name: str, error: NotConfigured) -> None:
        self.name = name
        self.host = ""
        self._error = error

    async def search(self, request: SearchRequest) -> SearchResults:  # noqa: ARG002 - the port's signature
        raise self._error

    async def lookup(self, identifier: Identifier) -> FoundPaper | None:  # noqa: ARG002 - the port's signature
        raise self._error


def _make_or_unusable(name: str, search: Search, context: SearchContext) -> Any:
    """Return the adapter of a service, or what stands in for it."""
    try:
        return make_provider(name, search, context)
    except NotConfigured as error:
        return _Unusable(name, error)


def _named(search: Search, is_wanted: Callable[[ServiceRow], bool]) -> tuple[str, ...]:
    rows = {name: _row(name) for name in search.providers}
    return tuple(name for name, row in rows.items() if is_wanted(row))


def _row(name: str) -> ServiceRow:
    row = ROWS.get(name)
    if row is None:
        from difflib import get_close_matches  # only if there is an error already

        close = get_close_matches(name[:100].lower(), ROWS, n=2)
        hint = f"did you mean {' or '.join(close)}?" if close else f"known services: {_listed(_searching())}"
        raise ConfigError(f"there is no search service called {name[:100]!r}", hint=hint)
    return row


def _searching() -> Iterable[str]:
    return (name for name, row in ROWS.items() if row.kind != "finder")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)


def _is_set_up(name: str, settings: SearchServiceSettings | SearchPackage, environ: Mapping[str, str]) -> bool:
    row = ROWS[name]
    variable = settings.api_key_env or row.key_variable
    has_key = variable is not None and bool(environ.get(variable, "").strip())
    return (settings.base_url or row.base_url) is not None and (row.key != "required" or has_key)


def _read_key(variable: str | None, environ: Mapping[str, str]) -> str | None:
    """Return the key, `None` if the variable is not set. Raises `NotConfigured` for a value that no header can hold."""
    key = environ.get(variable, "").strip() if variable else ""
    if not key:
        return None
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise NotConfigured(
            f"the value of {variable} is not a valid key: it contains white space or other invalid characters",
            hint=f"set {variable} to the key alone",
        )
    return key
