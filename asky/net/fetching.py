"""The port of content fetching: one address in, its content out, or an error with the reason.

    SourceRefused      our own policy forbids it: scheme, port, user name, private address, robots.txt, a redirect to
                       one of these or from https to http
    SourceUnreadable   there is nothing to read; `verdict` is one of
                         missing    404, 410
                         blocked    401, 402, 403, 407, 451, 511, 999
                         truncated  it ended early, or is a part that was not requested (206)
                         too_large  it inflates beyond the cap of a page, or is a PDF beyond its own
                         failed     5xx, any other status, more than five redirects, an encoding that was not
                                    requested, and anything but HTTP
    RateLimited        429 or 503 with a longer wait than there is time for; or our own pace has no turn in that time,
                       for which a page that the user named waits as long as its caller does
    Unreachable        no response: refused, no such name, TLS, a connection closed without a response
    TimedOut           the one deadline of the fetch

Only 408, 425, 429, 500, 502 to 504, and `Unreachable` if it is `retryable`, are retried.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

Reached = Callable[[str], None]
"""Called with the name of a host right before each connection to it: for a page, a redirect, robots.txt or a script."""


def ignore_host(host: str) -> None:
    """Ignore the host: a `Reached` for callers that do not need it."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """The content at an address. `url` is the final one, after redirects, without a fragment.

    `status` is 200, or 304 with an empty `body` if the validators that were sent still match. `media_type` and
    `charset` are from the header, lower case and unverified. `is_cut` says that the body continued after the cap.
    Validators are as in the header. `redirects` are the addresses that led here, in order, the requested one first;
    empty if there were none.
    """

    requested: str
    url: str
    status: int
    body: bytes = field(default=b"", repr=False)  # asyncio makes the repr of a task's result, four times its size
    media_type: str | None = None
    charset: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    is_cut: bool = False
    redirects: tuple[str, ...] = ()


class Fetcher(Protocol):
    """Fetches content from untrusted addresses."""

    async def fetch(
        self,
        url: str,
        *,
        etag: str | None = None,
        last_modified: str | None = None,
        named_by_user: bool = False,
        reached: Reached = ignore_host,
    ) -> Fetched:
        """Return the content at `url` (absolute, http or https). Raises the errors of the module's table.

        `named_by_user` says that the user typed this very address, so that robots.txt, which is for crawlers, is not
        checked, and waiting for a turn at the host takes none of the page's time. `reached` is called for every host,
        whatever the result.
        """
        ...
