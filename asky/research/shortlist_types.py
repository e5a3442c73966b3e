"""What a source shortlist is, and the callables that it is made with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from asky.research.web_page import WebPage
from asky.search.port import Candidate
from asky.values import Failure

if TYPE_CHECKING:
    from asky.research.vector_store_common import Vectors


class Searched(Protocol):
    """What several services found for several queries, merged: best first, no address twice.

    `failures` names the services that could not search; those that searched and found nothing are not among them.
    """

    @property
    def candidates(self) -> Sequence[Candidate]: ...

    @property
    def failures(self) -> Sequence[Failure]: ...


SearchAll = Callable[[Sequence[str]], Awaitable[Searched]]
"""Asks the services for all queries at once. An `AskyError` that it raises says that none of them could search."""

EmbedTexts = Callable[[Sequence[str]], "Vectors | None"]
"""Unit vectors, float32[n, dim], one a text and in their order, or `None` without an embedding model.

Called in worker threads, one call at a time. The same question over the same pages asks for the same texts.
"""


@dataclass(frozen=True, slots=True)
class Shortlisted:
    """A source that was chosen.

    `page` is `None` for a paper that could not be read but whose abstract is known: the candidate's `snippet` is then
    its text, and `unread_because` says why there is no more. `score`, about 0 to 1.5, orders the sources that the
    question does not name; `reasons` say in words what it is made of. `copies` are the addresses at which the same text
    was found.
    """

    candidate: Candidate
    page: WebPage | None
    score: float
    reasons: tuple[str, ...]
    copies: tuple[str, ...] = ()
    unread_because: str | None = None

    @property
    def url(self) -> str:
        """Where it was at last; the candidate's address may have led there."""
        return self.candidate.url if self.page is None else self.page.source.url or self.candidate.url

    @property
    def text(self) -> str:
        """What can be cited of it."""
        return self.candidate.snippet if self.page is None else self.page.document.text


@dataclass(frozen=True, slots=True)
class Shortlist:
    """Every candidate of a question, chosen or rejected; each address once.

    `selected` is best first, `rejected` holds (address, reason) in the order of consideration. Of `read` candidates
    there is a text, and among those texts are `origins` different ones. `failures` are those of searching: an empty
    shortlist with failures means "could not search", one without "nothing found". `seconds` is what each step took:
    `search` (with the reading of named pages), `read`, `score` and `total`.
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
        """How many candidates there were."""
        return len(self.selected) + len(self.rejected)

    def summary(self) -> str:
        """One line for people, such as `8 of 40 candidates; 19 texts, 17 origins`."""
        return f"{len(self.selected)} of {self.considered} candidates; {self.read} texts, {self.origins} origins"
