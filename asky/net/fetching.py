"""The port of content fetching: one address in, the bytes behind it out, or an error that says why not.

    SourceRefused      our own policy forbids it: scheme, port, user name, private address, robots.txt, a redirect to
                       one of these or from https to http
    SourceUnreadable   there is nothing to read; `verdict` is one of
                         missing    404, 410
                         blocked    401, 402, 403, 407, 451, 511, 999
                         truncated  it ended before its end, or is a part that nobody asked for (206)
                         too_large  it inflates beyond the cap of a page, or is a PDF beyond its own
                         failed     5xx, any other status, more than five redirects, an encoding that was not asked
                                    for, and what is no HTTP
    RateLimited        429 or 503 with a longer wait than there is time for; or our own pace has no turn in that time
    Unreachable        no answer: refused, no such name, TLS, a connection that was closed instead of an answer
    TimedOut           the one deadline of the fetch

Only `Unreachable` where it is `retryable`, 408, 425, 429, 500 and 502 to 504 are tried again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

Reached = Callable[[str], None]
"""Is told the name of a host right before each connection to it: for a page, a redirect, robots.txt or a script."""


def unheard(host: str) -> None:
    """The `Reached` of those who do not want to know."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """What an address held. `url` is where it was at last, after redirects, without a fragment.

    `status` is 200, or 304 with an empty `body` where the validators that were sent still hold. `media_type` and
    `charset` are what the header said, lower case; nobody has checked them. `is_cut` says that the body went on after
    the cap. Validators are as the header has them. `redirects` are the addresses that led here, in order, the requested
    one first; there are none where nothing did.
    """

    requested: str
    url: str
    status: int
    body: bytes = field(default=b"", repr=False)  # asyncio makes the repr of what a task returns, four times its size
    media_type: str | None = None
    charset: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    is_cut: bool = False
    redirects: tuple[str, ...] = ()


class Fetcher(Protocol):
    """Fetches content from addresses that anybody may have chosen."""

    async def fetch(
        self,
        url: str,
        *,
        etag: str | None = None,
        last_modified: str | None = None,
        asked_for: bool = False,
        reached: Reached = unheard,
    ) -> Fetched:
        """What is at `url` (absolute, http or https). Raises the errors of the module's table.

        `asked_for` says that the user typed this very address, so that robots.txt, which is for crawlers, is not asked.
        `reached` has been told of every host, whatever comes of the fetch.
        """
        ...
