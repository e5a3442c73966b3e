"""The web: which search services are set up and work, what is allowed within private networks, and the browser."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from asky.config.loader import Config
from asky.config.secrets import scrub
from asky.errors import AskyError, ConfigError, NotConfigured
from asky.health.check import Check, note, ok, problem
from asky.values import Failure

if TYPE_CHECKING:
    from asky.net.breaker import Breaker
    from asky.search.catalog import Surroundings
    from asky.search.check import ServiceCheck
    from asky.search.port import SearchProvider

_SEARCH = "web search"
_NETWORK = "private networks"
_BROWSER = "browser"

RunAsync = Callable[[Callable[[], Awaitable["list[ServiceCheck]"]]], "list[ServiceCheck]"]
"""Runs asynchronous work from synchronous code and returns what it returns."""


@dataclass(frozen=True, slots=True)
class _SetUp:
    """A service that could be asked; `key` names it to the breaker."""

    provider: SearchProvider
    key: str


def check_web(config: Config, environ: Mapping[str, str], state: Path, *, run: RunAsync | None) -> Iterator[Check]:
    """Each search service of a valid `config`, what it allows of the network, and the browser where it wants one.

    `run` lets each service be asked once, which may cost what a search costs; without it nothing is sent. `state` is
    where breakers are kept.
    """
    for each in _check_services(config, environ, state / "net", run):
        hint = None if each.hint is None else scrub(each.hint, environ)
        yield Check(each.name, each.state, scrub(each.message, environ), hint)
    yield from _check_sources(config)
    yield from _check_private(config.network.allow_private)
    if config.network.browser:
        yield _check_browser()


def _check_services(config: Config, environ: Mapping[str, str], folder: Path, run: RunAsync | None) -> Iterator[Check]:
    from asky.net.breaker import Breaker  # with the client: only where the rest could be examined
    from asky.net.pace import Pace
    from asky.search.catalog import Surroundings, configured, finders

    surroundings = Surroundings(environ, Pace(folder), Breaker(folder))
    try:
        names = configured(config.search, environ)
    except ConfigError as error:
        yield problem(_SEARCH, error.message, error.hint)
        return
    if not names:
        yield note(
            _SEARCH,
            "no service is set up: only addresses that a question names are read",
            "`asky config set search.searxng.base_url URL`, or the key of brave, tavily, exa or serper in its variable",
        )
    found: list[_SetUp] = []
    for name in names:
        try:
            found.append(_set_up(name, config, surroundings))
        except AskyError as error:
            yield problem(_SEARCH, error.message, error.hint)
    for name in finders(config.search):
        yield _check_finder(name, config, surroundings)
    if run is not None and found:
        for asked in run(lambda: _ask([each.provider for each in found])):
            yield _judge(asked)
    elif found:
        yield from _check_breakers(found, surroundings.breaker)


def _check_finder(name: str, config: Config, surroundings: Surroundings) -> Check:
    from asky.search.catalog import make_service

    try:
        service = make_service(name, config.search, surroundings)
    except AskyError as error:
        return problem(_SEARCH, error.message, error.hint)
    return ok(_SEARCH, f"{name} at {service.host} is set up; it is asked for open copies of papers")


def _set_up(name: str, config: Config, surroundings: Surroundings) -> _SetUp:
    from asky.search.catalog import make_provider, make_service

    return _SetUp(make_provider(name, config.search, surroundings), make_service(name, config.search, surroundings).key)


async def _ask(providers: list[SearchProvider]) -> list[ServiceCheck]:
    """What each service does, in their order; all are asked at the same time."""
    import time

    from asky.concurrency import gather
    from asky.search.check import check_service

    async def ask(provider: SearchProvider) -> ServiceCheck:
        return await check_service(provider, time.monotonic)

    found = await gather(providers, ask, limit=len(providers))
    return [each for each in found if not isinstance(each, Failure)]  # the check makes none


def _judge(asked: ServiceCheck) -> Check:
    if asked.error is not None:
        return problem(_SEARCH, f"{asked.name}: {asked.error.message}", asked.error.hint)
    where = f"{asked.name} at {asked.host}"
    if not asked.works:
        return note(_SEARCH, f"{where} found nothing for a word that is everywhere", "its own settings may say why")
    return ok(_SEARCH, "; ".join([f"{where} found {_pages(asked.results)} in {asked.seconds:.1f} s", *asked.notes]))


def _pages(count: int) -> str:
    return "1 page" if count == 1 else f"{count} pages"


def _check_breakers(found: list[_SetUp], breaker: Breaker) -> Iterator[Check]:
    failing = {state.key: state for state in breaker.states()}
    for each in found:
        where, state = f"{each.provider.name} at {each.provider.host}", failing.get(each.key)
        if state is None:
            yield ok(_SEARCH, f"{where} is set up; `asky doctor --live` asks it")
            continue
        times = "once" if state.failures == 1 else f"{state.failures} times in a row"
        last = f"{where} failed {times} ({state.reason})"
        if state.rests_s is None:
            yield note(_SEARCH, last, "`asky doctor --live` asks it")
        elif state.rests_s > 0:
            yield note(_SEARCH, f"{last}: it is not asked for now", f"it is tried again in {state.rests_s:.0f} s")
        else:
            yield note(_SEARCH, last, "it is tried again with the next search; `asky doctor --live` asks it")


def _check_sources(config: Config) -> Iterator[Check]:
    """The domains of `research.sources`; nothing where they are in order."""
    from asky.research.source_policy import parse_domains

    chosen = config.research.sources
    for key, domains in (("allow_domains", chosen.allow_domains), ("deny_domains", chosen.deny_domains)):
        try:
            parse_domains(domains)
        except AskyError as error:
            yield problem("source policy", f"research.sources.{key}: {error.message}", error.hint)


def _check_private(entries: tuple[str, ...]) -> Iterator[Check]:
    from asky.net.guard import Guard

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
    """Whether there is what `network.browser` needs; nothing is started."""
    from asky.net.browser_process import find_chromium, load_playwright  # only where pages are to be read with it

    try:
        load_playwright()
        return ok(_BROWSER, f"pages that need JavaScript are read with {find_chromium()}")
    except NotConfigured as error:
        return problem(_BROWSER, f"network.browser is true, but {error.message}", error.hint)
