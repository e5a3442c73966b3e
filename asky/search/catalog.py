"""The search services that asky knows: what each is, what it needs, and how often it may be asked.

Each name is a key of the configuration's table `search`, and a module of this package, which is imported when it is
used, with

    def make(service: Service) -> SearchProvider

A `finder` does not search, and its `make` returns what it is; `make_provider` refuses it, `make_service` does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from asky.config.endpoints import base_url_fault
from asky.config.schema import Search, SearchPackage, SearchService
from asky.errors import ConfigError, NotConfigured
from asky.net.manners import ARXIV, WIKIPEDIA
from asky.net.retry import Retry, RetryBudget, Waiting
from asky.search.port import SearchProvider, SearchRequest, SearchResults
from asky.search.service import Limits, Service

if TYPE_CHECKING:
    from asky.net.breaker import Breaker
    from asky.net.pace import Pace

Kind = Literal["web", "paper", "finder"]
Need = Literal["none", "optional", "required"]

AUTOMATIC = ("searxng", "brave", "tavily", "exa", "serper")
"""The services that are asked where the user has set them up and named none, in this order."""


@dataclass(frozen=True, slots=True)
class Row:
    """What is known of a service; the user's `SearchService` goes before it.

    `base_url` is `None` where the user has to say it. `key` and `email` say whether they are of use, `key_variable` is
    the usual name of the variable. `gap_s` and `at_once` are the pace that the service allows, `keyed_gap_s` that with
    a key.
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
    limits: Limits = field(default_factory=Limits)
    timeout_s: float = 30.0
    max_tries: int = 3


ROWS: Mapping[str, Row] = MappingProxyType(
    {
        "searxng": Row(
            "a SearXNG instance of your own", "web", None, 1.0, limits=Limits(query_chars=2000, results=100)
        ),
        "brave": Row(
            "Brave Search; needs a paid plan",
            "web",
            "https://api.search.brave.com/res/v1",
            1.1,
            key="required",
            key_variable="BRAVE_API_KEY",
            at_once=1,
            limits=Limits(query_chars=400, query_words=50, results=20),
        ),
        "tavily": Row(
            "Tavily; 1000 searches a month are free",
            "web",
            "https://api.tavily.com",
            0.6,
            key="required",
            key_variable="TAVILY_API_KEY",
            limits=Limits(query_chars=400, results=20),
        ),
        "exa": Row(
            "Exa; needs a paid plan",
            "web",
            "https://api.exa.ai",
            0.1,
            key="required",
            key_variable="EXA_API_KEY",
            at_once=4,
            limits=Limits(query_chars=2000, results=100),
        ),
        "serper": Row(
            "Serper: results of Google; 2500 searches are free",
            "web",
            "https://google.serper.dev",
            0.2,
            key="required",
            key_variable="SERPER_API_KEY",
            limits=Limits(query_chars=2000, results=100),
        ),
        "ddgs": Row(
            "the package ddgs, which scrapes DuckDuckGo: look at its terms first",
            "web",
            "https://html.duckduckgo.com",
            2.5,
            at_once=1,
            limits=Limits(query_chars=400, results=50),
            max_tries=1,
        ),
        "semantic_scholar": Row(
            "Semantic Scholar: papers",
            "paper",
            "https://api.semanticscholar.org/graph/v1",
            1.1,
            key="optional",
            key_variable="SEMANTIC_SCHOLAR_API_KEY",
            at_once=1,
            limits=Limits(query_chars=300, results=100),
        ),
        "pubmed": Row(
            "PubMed: biomedical papers",
            "paper",
            "https://eutils.ncbi.nlm.nih.gov/entrez/eutils",
            0.34,
            key="optional",
            key_variable="NCBI_API_KEY",
            keyed_gap_s=0.11,
            email="optional",
            limits=Limits(query_chars=1000, results=100),
        ),
        "arxiv": Row(
            "arXiv: preprints",
            "paper",
            "https://export.arxiv.org/api",
            ARXIV.gap_s,
            at_once=ARXIV.at_once,
            email="optional",
            limits=Limits(query_chars=300, results=100),
            timeout_s=60.0,
            max_tries=1,
        ),
        "openalex": Row(
            "OpenAlex: papers; a free key allows more",
            "paper",
            "https://api.openalex.org",
            0.1,
            key="optional",
            key_variable="OPENALEX_API_KEY",
            limits=Limits(query_chars=1000, results=100),
        ),
        "crossref": Row(
            "Crossref: papers",
            "paper",
            "https://api.crossref.org/v1",
            0.5,
            at_once=1,
            email="optional",
            limits=Limits(query_chars=1000, results=100),
        ),
        "unpaywall": Row(
            "Unpaywall: open copies of papers by their DOI; it does not search",
            "finder",
            "https://api.unpaywall.org/v2",
            0.2,
            email="required",
        ),
        "wikipedia": Row(
            "Wikipedia",
            "web",
            "https://en.wikipedia.org",
            WIKIPEDIA.gap_s,
            at_once=WIKIPEDIA.at_once,
            email="optional",
            limits=Limits(query_chars=300, results=50),
        ),
    }
)
"""By name. Source of limits and paces: the services' documentation in November 2026. The strictest paces are a little
slower than that, as connections take unequally long to come about."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What every service of a process shares: the environment with the keys, paces, breakers, time, tries."""

    environ: Mapping[str, str]
    pace: Pace
    breaker: Breaker
    waiting: Waiting = field(default_factory=Waiting)
    budget: RetryBudget = field(default_factory=RetryBudget)


def configured(search: Search, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The names of the services to search with: those that the user named, else those of `AUTOMATIC` that are set up.

    Each once, in that order; `finders` has those that are named and do not search. Raises `ConfigError` for a name that
    is none.
    """
    if named := _named(search, lambda row: row.kind != "finder"):
        return named
    return tuple(name for name in AUTOMATIC if _is_set_up(name, settings_of(search, name), environ))


def finders(search: Search) -> tuple[str, ...]:
    """The finders that the user named, each once, in that order. Raises `ConfigError` as `configured` does."""
    return _named(search, lambda row: row.kind == "finder")


def make_providers(search: Search, surroundings: Surroundings) -> tuple[SearchProvider, ...]:
    """The services of `configured`. One that cannot be used as it is set up says so when it is asked.

    Raises `ConfigError` as `configured` and `make_provider` do.
    """
    return tuple(_make_or_excuse(name, search, surroundings) for name in configured(search, surroundings.environ))


def make_provider(name: str, search: Search, surroundings: Surroundings) -> SearchProvider:
    """The service `name`, as the user has set it up.

    Raises `ConfigError` for a name that is none or that does not search, `NotConfigured` for a package that is not
    installed, and what `make_service` raises.
    """
    if _row(name).kind == "finder":
        raise ConfigError(f"{name} does not search", hint=f"services that do: {_listed(_searching())}")
    service = make_service(name, search, surroundings)
    provider: SearchProvider = import_module(f"asky.search.{name}").make(service)
    return provider


def make_service(name: str, search: Search, surroundings: Surroundings) -> Service:
    """What asks the service `name`, for its adapter.

    Raises `NotConfigured` naming the variable or key of the configuration that is missing, and `ConfigError` for an
    unknown name or an address that is none.
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
    api_key = _read_key(variable, surroundings.environ)
    if api_key is None and (row.key == "required" or settings.api_key_env is not None):
        raise NotConfigured(
            f"{name} needs a key: the variable {variable} is not set",
            hint=f"export {variable}=..., or search with another service",
        )
    gap_s = row.keyed_gap_s if api_key is not None and row.keyed_gap_s is not None else row.gap_s
    return Service(
        name=name,
        base_url=base_url,
        pace=surroundings.pace,
        breaker=surroundings.breaker,
        api_key=api_key,
        key_variable=variable,
        email=None if row.email == "none" else search.email,
        parameters=settings.parameters,
        limits=row.limits,
        gap_s=gap_s if settings.gap_s is None else settings.gap_s,
        at_once=row.at_once,
        timeout_s=row.timeout_s if settings.timeout_s is None else settings.timeout_s,
        retry=Retry(max_tries=row.max_tries),
        budget=surroundings.budget,
        waiting=surroundings.waiting,
    )


def settings_of(search: Search, name: str) -> SearchService | SearchPackage:
    """What the user says of the service `name`, which must be one of `ROWS`."""
    settings: SearchService | SearchPackage = getattr(search, name)
    return settings


class _Unusable:
    """A service that is named but not set up: asking it fails with what is missing, as others fail otherwise."""

    def __init__(self, name: str, error: NotConfigured) -> None:
        self.name = name
        self.host = ""
        self._error = error

    async def search(self, request: SearchRequest) -> SearchResults:  # noqa: ARG002 - the port's signature
        raise self._error


def _make_or_excuse(name: str, search: Search, surroundings: Surroundings) -> SearchProvider:
    try:
        return make_provider(name, search, surroundings)
    except NotConfigured as error:
        return _Unusable(name, error)


def _named(search: Search, is_wanted: Callable[[Row], bool]) -> tuple[str, ...]:
    rows = {name: _row(name) for name in search.providers}
    return tuple(name for name, row in rows.items() if is_wanted(row))


def _row(name: str) -> Row:
    row = ROWS.get(name)
    if row is None:
        from difflib import get_close_matches  # only where something is wrong already

        close = get_close_matches(name[:100].lower(), ROWS, n=2)
        hint = f"did you mean {' or '.join(close)}?" if close else f"known services: {_listed(_searching())}"
        raise ConfigError(f"there is no search service called {name[:100]!r}", hint=hint)
    return row


def _searching() -> Iterable[str]:
    return (name for name, row in ROWS.items() if row.kind != "finder")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)


def _is_set_up(name: str, settings: SearchService | SearchPackage, environ: Mapping[str, str]) -> bool:
    row = ROWS[name]
    variable = settings.api_key_env or row.key_variable
    has_key = variable is not None and bool(environ.get(variable, "").strip())
    return (settings.base_url or row.base_url) is not None and (row.key != "required" or has_key)


def _read_key(variable: str | None, environ: Mapping[str, str]) -> str | None:
    """The key, `None` where the variable is not set. Raises `NotConfigured` for what no header can hold."""
    key = environ.get(variable, "").strip() if variable else ""
    if not key:
        return None
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise NotConfigured(
            f"the value of {variable} cannot be a key: it holds white space or other characters that no key has",
            hint=f"set {variable} again, to the key alone",
        )
    return key
