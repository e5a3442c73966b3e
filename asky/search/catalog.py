"""The adapters of the search services; `asky.search.service_table` says what each service is.

Each name there is a key of the configuration's table `search`, and a module of `asky.search.providers`, which is
imported when it is used, with

    def make(service: Service) -> SearchProvider

The adapters of the services in `PAPER_LOOKUPS` are `PaperLookup`s as well. A `finder` does not search, and its `make`
returns another type; `make_provider` refuses it, `make_service` does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from asky.config.endpoints import base_url_fault
from asky.config.schema import Search
from asky.errors import ConfigError, NotConfigured
from asky.installation import install_hint
from asky.net.retry import Retry, RetryBudget, Waiting
from asky.search.identifiers import Identifier
from asky.search.lookup import PAPER_LOOKUPS, FoundPaper, PaperLookup
from asky.search.port import SearchProvider, SearchRequest, SearchResults
from asky.search.service import Service
from asky.search.service_table import PACKAGES, listed, row_of, searching, settings_of
from asky.search.service_table import ROWS as ROWS
from asky.search.service_table import configured as configured
from asky.search.service_table import finders as finders

if TYPE_CHECKING:
    from asky.net.breaker import Breaker
    from asky.net.pace import Pace


@dataclass(frozen=True, slots=True)
class SearchContext:
    """State shared by the services of a process: environment with keys, rate limits, breakers, time, retries."""

    environ: Mapping[str, str]
    pace: Pace
    breaker: Breaker
    waiting: Waiting = field(default_factory=Waiting)
    budget: RetryBudget = field(default_factory=RetryBudget)


def keyless() -> dict[str, str]:
    """Return the search services that can be used without a key or an account, with their summaries.

    Those over the whole web come first. A package that is not installed is left out.
    """
    free = {name: ROWS[name] for name in searching() if ROWS[name].key != "required" and ROWS[name].base_url}
    usable = [(name, row) for name, row in free.items() if name not in PACKAGES or find_spec(name) is not None]
    return {name: row.summary for name, row in sorted(usable, key=lambda each: each[1].kind == "paper")}


def check_packages(names: Iterable[str]) -> None:
    """Raise `NotConfigured` if one of these services needs a package that is not installed."""
    for name in names:
        if name in PACKAGES and find_spec(name) is None:
            hint = install_hint("installs it", extra=name)
            raise NotConfigured(f"{name} needs a package that is not installed", hint=hint)


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
    if row_of(name).kind == "finder":
        raise ConfigError(f"{name} is not a search service", hint=f"search services: {listed(searching())}")
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
    row, settings = row_of(name), settings_of(search, name)
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
