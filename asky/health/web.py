"""Checks of web access: the search services, the private hosts that are allowed, and the browser."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from asky.concurrency import gather
from asky.config.loader import Config
from asky.config.secrets import scrub
from asky.errors import AskyError, ConfigError, NotConfigured
from asky.health.check import Check, note, ok, problem
from asky.net.breaker import Breaker
from asky.net.browser.process import find_chromium, load_playwright
from asky.net.guard import Guard
from asky.net.pace import Pace
from asky.search.catalog import SearchContext, configured, finders, keyless, make_provider, make_service
from asky.search.check import check_service
from asky.text.addresses import parse_domains
from asky.values import Failure

if TYPE_CHECKING:
    from asky.search.check import ServiceCheck
    from asky.search.port import SearchProvider

_SEARCH = "web search"
_NETWORK = "private networks"
_BROWSER = "browser"

RunAsync = Callable[[Callable[[], Awaitable["list[ServiceCheck]"]]], "list[ServiceCheck]"]
"""Runs asynchronous work from synchronous code and returns its result."""


@dataclass(frozen=True, slots=True)
class _ConfiguredService:
    """A service that can be searched; `key` is its name in the circuit breaker."""

    provider: SearchProvider
    key: str


def check_web(config: Config, environ: Mapping[str, str], state: Path, *, run: RunAsync | None) -> Iterator[Check]:
    """Yield checks of each search service of a valid `config`, of its network rules, and of the browser if it is
    enabled.

    `run` sends one search to each service, which may cost money; without it nothing is sent. `state` is the folder of
    the circuit breakers.
    """
    for each in _check_services(config, environ, state / "net", run):
        hint = None if each.hint is None else scrub(each.hint, environ)
        yield Check(each.name, each.state, scrub(each.message, environ), hint)
    yield from _check_sources(config)
    yield from _check_private(config.network.allow_private)
    if config.network.browser:
        yield _check_browser()


def _check_services(config: Config, environ: Mapping[str, str], folder: Path, run: RunAsync | None) -> Iterator[Check]:
    context = SearchContext(environ, Pace(folder), Breaker(folder))
    try:
        names = configured(config.search, environ)
    except ConfigError as error:
        yield problem(_SEARCH, error.message, error.hint)
        return
    if not names:
        yield note(
            _SEARCH,
            "no search service is set up: only addresses named in a question are read",
            f"run `asky setup` for those without a key ({', '.join(keyless())}), or set the API key of brave, tavily,"
            " exa or serper, or search.searxng.base_url",
        )
    found: list[_ConfiguredService] = []
    for name in names:
        try:
            found.append(_configure(name, config, context))
        except AskyError as error:
            yield problem(_SEARCH, error.message, error.hint)
    for name in finders(config.search):
        yield _check_finder(name, config, context)
    if run is not None and found:
        for checked in run(lambda: _check_all([each.provider for each in found])):
            yield _report(checked)
    elif found:
        yield from _check_breakers(found, context.breaker)


def _check_finder(name: str, config: Config, context: SearchContext) -> Check:
    try:
        service = make_service(name, config.search, context)
    except AskyError as error:
        return problem(_SEARCH, error.message, error.hint)
    return ok(_SEARCH, f"{name} at {service.host} is set up; it looks up open copies of papers")


def _configure(name: str, config: Config, context: SearchContext) -> _ConfiguredService:
    return _ConfiguredService(
        make_provider(name, config.search, context), make_service(name, config.search, context).key
    )


async def _check_all(providers: list[SearchProvider]) -> list[ServiceCheck]:
    """Check all services concurrently; return the results in their order."""
    import time

    async def ask(provider: SearchProvider) -> ServiceCheck:
        return await check_service(provider, time.monotonic)

    found = await gather(providers, ask, limit=len(providers))
    return [each for each in found if not isinstance(each, Failure)]  # a check returns its error as a result


def _report(checked: ServiceCheck) -> Check:
    if checked.error is not None:
        return problem(_SEARCH, f"{checked.name}: {checked.error.message}", checked.error.hint)
    where = f"{checked.name} at {checked.host}"
    if not checked.works:
        return note(_SEARCH, f"{where} found nothing for a very common word", "check the settings of the service")
    return ok(
        _SEARCH, "; ".join([f"{where} found {_pages(checked.results)} in {checked.seconds:.1f} s", *checked.notes])
    )


def _pages(count: int) -> str:
    return "1 page" if count == 1 else f"{count} pages"


def _check_breakers(found: list[_ConfiguredService], breaker: Breaker) -> Iterator[Check]:
    failing = {state.key: state for state in breaker.states()}
    for each in found:
        where, state = f"{each.provider.name} at {each.provider.host}", failing.get(each.key)
        if state is None:
            yield ok(_SEARCH, f"{where} is set up; `asky doctor --live` tests it")
            continue
        times = "once" if state.failures == 1 else f"{state.failures} times in a row"
        last = f"{where} failed {times} ({state.reason})"
        if state.retry_in_s is None:
            yield note(_SEARCH, last, "`asky doctor --live` tests it")
        elif state.retry_in_s > 0:
            yield note(_SEARCH, f"{last}: it is paused", f"it is tried again in {state.retry_in_s:.0f} s")
        else:
            yield note(_SEARCH, last, "it is tried again with the next search; `asky doctor --live` tests it")


def _check_sources(config: Config) -> Iterator[Check]:
    """Check the domains of `research.sources`; yield nothing if they are valid."""
    chosen = config.research.sources
    for key, domains in (("allow_domains", chosen.allow_domains), ("deny_domains", chosen.deny_domains)):
        try:
            parse_domains(domains)
        except AskyError as error:
            yield problem("source policy", f"research.sources.{key}: {error.message}", error.hint)


def _check_private(entries: tuple[str, ...]) -> Iterator[Check]:
    wrong = 0
    for entry in entries:
        try:
            Guard([entry])
        except ConfigError as error:
            wrong += 1
            yield problem(_NETWORK, error.message, error.hint)
    if not wrong:
        allowed = ", ".join(entries)
        yield ok(_NETWORK, f"pages of {allowed} may be fetched" if allowed else "none of their pages is fetched")


def _check_browser() -> Check:
    """Check the requirements of `network.browser`, without starting anything."""
    try:
        load_playwright()
        return ok(_BROWSER, f"pages that need JavaScript are read with {find_chromium()}")
    except NotConfigured as error:
        return problem(_BROWSER, f"network.browser is true, but {error.message}", error.hint)
