"""The port of search services: what is asked of them, and what they find.

    AuthenticationFailed   auth          the key is missing, wrong or not allowed to do this
    RateLimited            rate_limited  asked too often (`retryable`), or the quota is used up (not `retryable`)
    ProviderError          bad_request   the service refuses the request itself
    ProviderError          blocked       a page for people came instead of an answer: a limiter, a captcha, a proxy
    ProviderError          malformed     an answer that cannot be read
    ProviderError          unavailable   a failure of the service's own (`retryable`)
    Unreachable, TimedOut                it did not answer at all

"Found nothing" is an empty list; whatever kept a service from searching is one of these errors. A `ProviderError` has
the word of the table in `reason`. No message holds a key or an e-mail address, whatever the service repeats.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

Origin = Literal["prompt", "search", "link"]
CandidateKind = Literal["web", "paper"]
Recency = Literal["day", "week", "month", "year"]


@dataclass(frozen=True, slots=True)
class Found:
    """That a service had a candidate at `rank` (from 1) for `query`."""

    provider: str
    rank: int
    query: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """A source that might be read, as whoever offered it described it; plain text throughout, no markup.

    `url` is absolute, http or https. `snippet` is what was shown of it: a teaser or an abstract. `published` is an ISO
    8601 date, or the year, or year and month, alone. `pdf_url` is an open copy of the full text. `found` says which
    services had it, in the order in which they were asked; a candidate of a prompt or of a page's links has none, and
    `parent` is the page whose link it was.
    """

    url: str
    title: str = ""
    snippet: str = ""
    published: str | None = None
    origin: Origin = "search"
    kind: CandidateKind = "web"
    found: tuple[Found, ...] = ()
    parent: str | None = None
    doi: str | None = None
    authors: tuple[str, ...] = ()
    venue: str | None = None
    pdf_url: str | None = None
    citations: int | None = None
    is_retracted: bool = False


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What is searched for. `query` is plain words, without operators; a service cuts it to what it takes."""

    query: str
    max_results: int = 10
    recency: Recency | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class SearchResults:
    """What one service found: best first, no address twice. `notes` are for people: a rewritten query, rows dropped.

    `was_sent` is false where the service had been asked before, and nothing was sent now.
    """

    candidates: tuple[Candidate, ...]
    notes: tuple[str, ...] = ()
    was_sent: bool = True


class SearchProvider(Protocol):
    """A search service."""

    @property
    def name(self) -> str:
        """As the configuration calls it."""
        ...

    @property
    def host(self) -> str:
        """Where requests go, `host[:port]`; it is in the ledger of every run that asks."""
        ...

    async def search(self, request: SearchRequest) -> SearchResults:
        """Ask once, at the service's pace. Raises the errors of the module's table."""
        ...
