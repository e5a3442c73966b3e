"""The types of a source shortlist, and the callables used to build it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from asky.research.page import WebPage
from asky.search.port import Candidate
from asky.values import Failure

if TYPE_CHECKING:
    from asky.research.vector_store_common import Vectors


class Searched(Protocol):
    """The merged results of several services for several queries: best first, no duplicate addresses.

    `failures` names the services that could not search; those that searched and found nothing are not among them.
    """

    @property
    def candidates(self) -> Sequence[Candidate]: ...

    @property
    def failures(self) -> Sequence[Failure]: ...


SearchAll = Callable[[Sequence[str]], Awaitable[Searched]]
"""Sends all queries to the services at once. Raises an `AskyError` if none of them could search."""

EmbedTexts = Callable[[Sequence[str]], "Vectors | None"]
"""Returns unit vectors, float32[n, dim], one per text and in order, or `None` without an embedding model.

Called in worker threads, one call at a time. The same question over the same pages asks for the same texts.
"""


@dataclass(frozen=True, slots=True)
class Shortlisted:
    """A source that was chosen.

    `page` is `None` for a paper that could not be read but whose abstract is known: the candidate's `snippet` is then
    its text, and `unread_because` gives the reason. `score`, about 0 to 1.5, orders the sources that the question does
    not name; `reasons` describe its components. `copies` are the addresses of duplicates. `published` is the date that
    the page states, else that of the search.
    """

    candidate: Candidate
    page: WebPage | None
    score: float
    reasons: tuple[str, ...]
    copies: tuple[str, ...] = ()
    unread_because: str | None = None
    published: str | None = None

    @property
    def url(self) -> str:
        """Return the final address; the candidate's address may have redirected there."""
        return self.candidate.url if self.page is None else self.page.source.url or self.candidate.url

    @property
    def text(self) -> str:
        """Return the text that can be cited."""
        return self.candidate.snippet if self.page is None else self.page.document.text


@dataclass(frozen=True, slots=True)
class Shortlist:
    """All candidates of a question, chosen or rejected; each address once.

    `selected` is best first, `rejected` holds (address, reason) in the order of consideration. `read` counts candidates
    with a text, and `origins` the different texts among them. `failures` are those of searching: an empty shortlist
    with failures means "could not search", one without "nothing found". `seconds` is the duration of each step:
    `search` (including named pages), `read`, `score` and `total`.
    """

    selected: tuple[Shortlisted, ...]
    rejected: tuple[tuple[str, str], ...]
    queries: tuple[str, ...] = ()
    read: int = 0
    origins: int = 0
    failures: tuple[Failure, ...] = ()
    warnings: tuple[str, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)

    @property
    def considered(self) -> int:
        """Return the number of candidates."""
        return len(self.selected) + len(self.rejected)

    def summary(self) -> str:
        """Return a one-line summary, such as `8 of 40 candidates; 19 texts, 17 origins`."""
        return f"{len(self.selected)} of {self.considered} candidates; {self.read} texts, {self.origins} origins"
