"""The guarded fetcher, opened over loopback sites."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio

from asky.errors import AskyError, SourceUnreadable
from asky.net.fetcher import FetchLimits, GuardedFetcher
from asky.net.fetching import Fetched
from asky.net.guard import Guard, Resolve
from asky.net.pace import Pace
from asky.net.retry import Retry, RetryBudget, Waiting
from tests.support.site import Site

ONCE = Retry(max_tries=1)


def names(table: Mapping[str, Sequence[str]]) -> Resolve:
    """A resolver that knows the names of `table` and no others."""

    async def resolve(host: str) -> Sequence[str]:
        if host not in table:
            raise socket.gaierror(socket.EAI_NONAME, "no such name")
        return table[host]

    return resolve


def open_fetcher(
    *sites: Site,
    allow: Sequence[str] = (),
    resolve: Resolve | None = None,
    folder: Path | None = None,
    robots: bool = False,
    retry: Retry = ONCE,
    waiting: Waiting | None = None,
    budget: RetryBudget | None = None,
    pace: Pace | None = None,
    context: Callable[[], ssl.SSLContext] | None = None,
    **limits: Any,
) -> GuardedFetcher:
    """A fetcher that may reach `sites`: no gap between requests and one try, unless said otherwise."""
    guard = Guard([*(site.authority for site in sites), *allow], resolve=resolve)
    given: dict[str, Any] = {"host_gap_s": 0.0, "per_host": 8, "timeout_s": 60.0, **limits}
    return GuardedFetcher(
        guard,
        pace or Pace(folder),
        FetchLimits(**given),
        robots=robots,
        retry=retry,
        budget=budget,
        waiting=waiting,
        context=context,
    )


def fetch(fetcher: GuardedFetcher, url: str, **options: Any) -> Fetched:
    """One fetch from sync code."""

    async def main() -> Fetched:
        return await fetcher.fetch(url, **options)

    return anyio.run(main)


def outcome(fetcher: GuardedFetcher, url: str, **options: Any) -> str:
    """What comes of a fetch in a word: `ok`, `cut`, the verdict, or the code of the error. Any other error passes."""
    try:
        fetched = fetch(fetcher, url, **options)
    except SourceUnreadable as error:
        return error.verdict
    except AskyError as error:
        return error.code
    return "cut" if fetched.is_cut else "ok"
