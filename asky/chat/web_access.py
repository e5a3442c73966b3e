"""That a question may use the web, and the port through which its run does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from asky.research.source_policy import SourcePolicy
    from asky.research.tools import ResearchRun
    from asky.research.web import WebRun
    from asky.research.web_summaries import Summaries, Summarise


@dataclass(frozen=True, slots=True)
class WebAccess:
    """That a question may use the web.

    What is read becomes a source of `collection_id`. `named` are the addresses that the user wrote. `shortlist` says
    that the sources are chosen and read before a model sees any of them. `policy` is what the question wants sources to
    be, `None` where it has no wish of its own. `queries` are what the user wants searched for then, in place of what
    would be made of the question.
    """

    collection_id: int
    named: tuple[str, ...] = ()
    shortlist: bool = True
    policy: SourcePolicy | None = None
    queries: tuple[str, ...] = ()


class Web(Protocol):
    """The parts by which a run reaches the web; `asky.wiring` has them."""

    def open(self, run: ResearchRun, access: WebAccess, *, is_private: bool) -> WebRun:
        """The web for one run; `is_private` says that the run can read private documents."""
        ...

    def summaries(self, summarise: Summarise | None) -> Summaries:
        """Summaries of pages for one run, made by `summarise` where there is one."""
        ...

    def cached(self) -> int | None:
        """The collection of all pages that were read before; `None` where there are none."""
        ...
