"""The port of search services: requests and results.

    AuthenticationFailed   auth          the key is missing, wrong or not allowed to do this
    RateLimited            rate_limited  asked too often (`retryable`), or the quota is used up (not `retryable`)
    ProviderError          bad_request   the service refuses the request itself
    ProviderError          blocked       a page for people came instead of a response: a limiter, a captcha, a proxy
    ProviderError          malformed     a response that cannot be read
    ProviderError          unavailable   a failure of the service itself (`retryable`)
    Unreachable, TimedOut                it did not respond at all

"Found nothing" is an empty list; any failure to search is one of these errors. A `ProviderError` has the word of the
table in `reason`. No message contains a key or an e-mail address, whatever the service echoes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

Origin = Literal["prompt", "search", "link"]
CandidateKind = Literal["web", "paper"]
Recency = Literal["day", "week", "month", "year"]


@dataclass(frozen=True, slots=True)
class ServiceRank:
    """The rank (from 1) of a candidate in a service's results for `query`."""

    provider: str
    rank: int
    query: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """A possible source, as described by the service or page that offered it; plain text throughout, no markup.

    `url` is absolute, http or https. `snippet` is a teaser or an abstract. `published` is an ISO 8601 date, or the
    year, or year and month, alone. `pdf_url` is an open copy of the full text. `found` lists the services that had it,
    in the order in which they were asked; a candidate from a prompt or from a page's links has none, and `parent` is
    the page that linked it.
    """

    url: str
    title: str = ""
    snippet: str = ""
    published: str | None = None
    origin: Origin = "search"
    kind: CandidateKind = "web"
    found: tuple[ServiceRank, ...] = ()
    parent: str | None = None
    doi: str | None = None
    authors: tuple[str, ...] = ()
    venue: str | None = None
    pdf_url: str | None = None
    citations: int | None = None
    is_retracted: bool = False


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A search request. `query` is plain words, without operators; a service cuts it to its limits."""

    query: str
    max_results: int = 10
    recency: Recency | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class SearchResults:
    """The results of one service: best first, no duplicate addresses.

    `notes` are for people: a rewritten query, rows dropped. `was_sent` is false if the service had been asked before,
    and nothing was sent now.
    """

    candidates: tuple[Candidate, ...]
    notes: tuple[str, ...] = ()
    was_sent: bool = True


class SearchProvider(Protocol):
    """A search service."""

    @property
    def name(self) -> str:
        """Return the name used in the configuration."""
        ...

    @property
    def host(self) -> str:
        """Return the host that requests go to, `host[:port]`; recorded in the ledger of every run that searches."""
        ...

    async def search(self, request: SearchRequest) -> SearchResults:
        """Search once, within the service's rate limits. Raises the errors of the module's table."""
        ...


@dataclass(frozen=True, slots=True)
class OpenCopy:
    """A copy of a paper that everybody may read.

    `url` is where it is, a page or the file; `pdf_url` the file, where it is known. `version` is `submittedVersion`,
    `acceptedVersion` or `publishedVersion`: only the last is what was printed. `host_type` is `publisher` or
    `repository`.
    """

    url: str
    pdf_url: str | None = None
    version: str | None = None
    license: str | None = None
    host_type: str | None = None
