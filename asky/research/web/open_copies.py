"""Reading papers from open copies: the one known to search or a finder, else the landing page."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Protocol

import anyio

from asky.errors import AskyError, ProviderError, SourceUnreadable, TimedOut
from asky.search.identifiers import doi_of
from asky.search.port import Candidate
from asky.text.urls import host_of

if TYPE_CHECKING:
    from asky.research.page import WebPage
    from asky.search.port import OpenCopy

PDF = "application/pdf"
LOOKUP_S = 3.0
"""Time limit for a finder: half the time for one page of a shortlist, so that the paper can still be read."""

_AT_ONCE = 2  # limit on failures of one service that are reported to the user
_OF_THE_PAPER = ("bad_request", "malformed")  # failures that do not predict the next paper
_RESOLVERS = ("doi.org", "www.doi.org", "dx.doi.org")


class CopyFinder(Protocol):
    """Finds free copies of papers; `asky.search.providers.unpaywall.Unpaywall`."""

    @property
    def name(self) -> str:
        """Return the name used in the configuration."""
        ...

    @property
    def host(self) -> str:
        """Return the host that requests go to."""
        ...

    async def find_open_copy(self, doi: str) -> OpenCopy | None:
        """Return the best open copy of a paper; `None` if none is known. Raises the errors of `asky.search.port`."""
        ...


NoteLookup = Callable[[str, "OpenCopy | None", "AskyError | None"], Awaitable[None]]
"""Called with the DOI that was looked up and the result: a copy, nothing, or an error."""


class OpenCopies:
    """Asks `finder` once per DOI. After a failure it is not asked again: papers are read at their landing pages."""

    def __init__(self, finder: CopyFinder, note: NoteLookup, *, timeout_s: float = LOOKUP_S) -> None:
        self._finder = finder
        self._note = note
        self._timeout_s = timeout_s
        self._found: dict[str, OpenCopy | None] = {}
        self._pending: dict[str, anyio.Lock] = {}
        self._turns = anyio.CapacityLimiter(_AT_ONCE)
        self._has_failed = False

    async def of(self, doi: str) -> OpenCopy | None:
        """Return the open copy of a paper, if known. Errors of the finder are noted, not raised."""
        key = doi_of(doi)
        if key is None:
            return None
        async with self._pending.setdefault(key, anyio.Lock()):
            if key not in self._found:
                async with self._turns:
                    if self._has_failed:
                        return None
                    self._found[key] = None  # asked once, even if nobody waits for the answer
                    self._found[key] = await self._ask(key)
            return self._found[key]

    async def _ask(self, doi: str) -> OpenCopy | None:
        copy: OpenCopy | None = None
        error: AskyError | None = None
        try:
            with anyio.fail_after(self._timeout_s):
                copy = await self._finder.find_open_copy(doi)
        except TimeoutError:
            error = TimedOut(f"{self._finder.name} did not answer within {self._timeout_s:g} s")
        except AskyError as raised:
            error = raised
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):  # what was sent must be recorded, even when time is up
                await self._note(doi, None, TimedOut(f"{self._finder.name} did not answer in time"))
            raise
        if error is not None and not (isinstance(error, ProviderError) and error.reason in _OF_THE_PAPER):
            self._has_failed = True
        await self._note(doi, copy, error)
        return copy


class ReadAddress(Protocol):
    """Reads one address, and records the outcome; `asky.research.web.run.WebRun.read`."""

    async def __call__(self, url: str, *, named_by_user: bool = False, wants_pdf: bool = False) -> WebPage: ...


class PaperReader:
    """Reads papers. `read_copy` reads an address subject to the user's policy, `read` the landing page."""

    def __init__(self, read: ReadAddress, read_copy: ReadAddress, copies: OpenCopies | None) -> None:
        self._read = read
        self._read_copy = read_copy
        self._copies = copies

    async def read(self, paper: Candidate, *, named_by_user: bool = False) -> WebPage:
        """Read the paper at its open copy, or at its landing page if there is none or it cannot be read.

        Raises what reading the landing page raises; if the open copy was tried too, `SourceUnreadable` with both
        reasons.
        """
        address, is_pdf = await self._open_address(paper)
        if address is None or address == paper.url:
            return await self._read(paper.url, named_by_user=named_by_user)
        try:
            return await self._read_copy(address, wants_pdf=is_pdf)
        except AskyError as error:
            first = error
        try:
            return await self._read(paper.url, named_by_user=named_by_user)
        except AskyError as error:
            verdict = error.verdict if isinstance(error, SourceUnreadable) else error.code
            both = f"{first.message}; its landing page: {error.message}"
            raise SourceUnreadable(both, verdict=verdict, hint=error.hint) from None

    async def _open_address(self, paper: Candidate) -> tuple[str | None, bool]:
        """Return the open address of the paper, and whether a PDF is expected there."""
        if paper.pdf_url is not None:
            return paper.pdf_url, True
        if paper.doi is None or self._copies is None:
            return None, False
        copy = await self._copies.of(paper.doi)
        return (copy.pdf_url or copy.url, copy.pdf_url is not None) if copy is not None else (None, False)


def named_paper(url: str) -> Candidate | None:
    """Return the paper that the user named by its DOI; `None` for any other address."""
    doi = doi_of(url) if host_of(url) in _RESOLVERS else None
    return Candidate(url, origin="prompt", kind="paper", doi=doi) if doi is not None else None
