"""Reading papers where everybody may: at the copy that search or a finder knows, else at the landing page."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Protocol

import anyio

from asky.errors import AskyError, ProviderError, SourceUnreadable, TimedOut
from asky.search.identifiers import doi_of
from asky.search.port import Candidate
from asky.text.urls import host_of

if TYPE_CHECKING:
    from asky.research.web_page import WebPage
    from asky.search.unpaywall import OpenCopy

PDF = "application/pdf"
LOOKUP_S = 3.0
"""Longest wait for a finder: half of what one page of a shortlist may take, so that the paper can still be read."""

_AT_ONCE = 2  # of a service that fails, no more than these are told to the user
_OF_THE_PAPER = ("bad_request", "malformed")  # failures that say nothing about the next paper
_RESOLVERS = ("doi.org", "www.doi.org", "dx.doi.org")


class CopyFinder(Protocol):
    """Knows where papers can be read for free; `asky.search.unpaywall.Unpaywall`."""

    @property
    def name(self) -> str:
        """As the configuration calls it."""
        ...

    @property
    def host(self) -> str:
        """Where requests go."""
        ...

    async def find_open_copy(self, doi: str) -> OpenCopy | None:
        """The best open copy of a paper; `None` where none is known. Raises the errors of `asky.search.port`."""
        ...


NoteLookup = Callable[[str, "OpenCopy | None", "AskyError | None"], Awaitable[None]]
"""Is told which DOI was asked for and what came of it: a copy, nothing, or an error."""


class OpenCopies:
    """Asks `finder` for each DOI once. One that fails is not asked again: papers are read at their landing pages."""

    def __init__(self, finder: CopyFinder, note: NoteLookup, *, patience_s: float = LOOKUP_S) -> None:
        self._finder = finder
        self._note = note
        self._patience_s = patience_s
        self._found: dict[str, OpenCopy | None] = {}
        self._asking: dict[str, anyio.Lock] = {}
        self._turns = anyio.CapacityLimiter(_AT_ONCE)
        self._has_failed = False

    async def of(self, doi: str) -> OpenCopy | None:
        """The open copy of a paper, where one is known. Whatever keeps the finder from telling is noted, not raised."""
        key = doi_of(doi)
        if key is None:
            return None
        async with self._asking.setdefault(key, anyio.Lock()):
            if key not in self._found:
                async with self._turns:
                    if self._has_failed:
                        return None
                    self._found[key] = None  # asked once, also where nobody waits for the answer
                    self._found[key] = await self._ask(key)
            return self._found[key]

    async def _ask(self, doi: str) -> OpenCopy | None:
        copy: OpenCopy | None = None
        error: AskyError | None = None
        try:
            with anyio.fail_after(self._patience_s):
                copy = await self._finder.find_open_copy(doi)
        except TimeoutError:
            error = TimedOut(f"{self._finder.name} did not answer within {self._patience_s:g} s")
        except AskyError as raised:
            error = raised
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):  # what was sent was sent, however little time there is to say so
                await self._note(doi, None, TimedOut(f"{self._finder.name} was not waited for any longer"))
            raise
        if error is not None and not (isinstance(error, ProviderError) and error.reason in _OF_THE_PAPER):
            self._has_failed = True
        await self._note(doi, copy, error)
        return copy


class ReadAddress(Protocol):
    """Reads one address, and notes what came of it; `asky.research.web.WebRun.read`."""

    async def __call__(self, url: str, *, asked_for: bool = False, wants_pdf: bool = False) -> WebPage: ...


class PaperReader:
    """Reads papers. `read_copy` reads an address that the user's policy has a say in, `read` the landing page."""

    def __init__(self, read: ReadAddress, read_copy: ReadAddress, copies: OpenCopies | None) -> None:
        self._read = read
        self._read_copy = read_copy
        self._copies = copies

    async def read(self, paper: Candidate, *, asked_for: bool = False) -> WebPage:
        """The paper at its open copy, or at its landing page where there is none or it cannot be read.

        Raises what reading the landing page raises; where the open copy was tried, `SourceUnreadable` with both
        reasons.
        """
        address, is_pdf = await self._open_address(paper)
        if address is None or address == paper.url:
            return await self._read(paper.url, asked_for=asked_for)
        try:
            return await self._read_copy(address, wants_pdf=is_pdf)
        except AskyError as error:
            first = error
        try:
            return await self._read(paper.url, asked_for=asked_for)
        except AskyError as error:
            verdict = error.verdict if isinstance(error, SourceUnreadable) else error.code
            both = f"{first.message}; its landing page: {error.message}"
            raise SourceUnreadable(both, verdict=verdict, hint=error.hint) from None

    async def _open_address(self, paper: Candidate) -> tuple[str | None, bool]:
        """Where everybody may read the paper, and whether a PDF is to be expected there."""
        if paper.pdf_url is not None:
            return paper.pdf_url, True
        if paper.doi is None or self._copies is None:
            return None, False
        copy = await self._copies.of(paper.doi)
        return (copy.pdf_url or copy.url, copy.pdf_url is not None) if copy is not None else (None, False)


def named_paper(url: str) -> Candidate | None:
    """The paper that the user named by its DOI; any other address is meant as it is."""
    doi = doi_of(url) if host_of(url) in _RESOLVERS else None
    return Candidate(url, origin="prompt", kind="paper", doi=doi) if doi is not None else None
