"""The targets of adapters that the model of a run may read: what the sources of its session link to.

A target goes to a program of the user's, which may pass it on, so a model can neither invent nor respell one: it names
a source that the user has named, or a link of such a source, and follows a limited number of links. Local files are no
such targets, whatever the adapter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from asky.concurrency import in_thread
from asky.errors import SourceError, SourceRefused, SourceUnreadable
from asky.events import Listener, PageRead
from asky.llm.tools import Tool
from asky.research.adapters import AdapterListing
from asky.research.corpus.page_links import PageLinks
from asky.research.local.names import is_local_target, show_target
from asky.research.tool_specs import EXTRACT_TARGETS

if TYPE_CHECKING:
    from asky.research.adapters import SourceAdapters
    from asky.research.page import WebPage
    from asky.research.run import ResearchRun
    from asky.research.vector_store import VectorStore
    from asky.storage.pages import PageTable
    from asky.storage.runs import RunStore
    from asky.values import Source

MAX_FOLLOWED = 10
"""Maximum number of links that a model may follow in a run, as on one host of the web."""


class OfferedTargets:
    """The targets offered in `run`; `read` reads one into the session's own collection."""

    def __init__(
        self,
        run: ResearchRun,
        adapters: SourceAdapters,
        pages: PageTable,
        runs: RunStore,
        read: Callable[[str], WebPage | AdapterListing],
        *,
        listener: Listener,
    ) -> None:
        self._run = run
        self._adapters = adapters
        self._pages = pages
        self._runs = runs
        self._read = read
        self._listener = listener
        self._listed: set[str] = set()
        self._followed: set[str] = set()

    def handles(self, target: str) -> bool:
        """Return whether an adapter reads `target`, rather than the web."""
        return self._adapters.runs_program(target) and not is_local_target(target)

    def shown(self, source: Source) -> str | None:
        """Return the target of `source` if it is one that a model can name, and `None` if it holds a secret."""
        return source.uri if self.handles(source.uri) and show_target(source.uri) == source.uri else None

    def tool(self, store: VectorStore) -> Tool:
        """Return `extract_links` for targets alone."""
        return Tool(EXTRACT_TARGETS, PageLinks(self.read, store, self._run.marker).extract_links)

    async def read(self, target: str) -> WebPage | AdapterListing:
        """Read a target that was offered, as a source of the session. Raises `SourceRefused` for any other."""
        return await in_thread(self._read_offered, target)

    def _read_offered(self, target: str) -> WebPage | AdapterListing:
        self._require(target)
        shown = show_target(target)
        try:
            found = self._read(target)
        except SourceError as error:
            verdict = error.verdict if isinstance(error, SourceUnreadable) else error.code
            self._record(PageRead(shown, verdict, error.message))
            raise
        links: Sequence[str]
        if isinstance(found, AdapterListing):
            links = [each.url for each in found.links]
            self._listed.update(links)
            texts = [each.text for each in found.links]
            self._record(PageRead(shown, "fetched"))
        else:
            texts = [found.source.title, *(each.text for each in found.document.links)]
            self._run.pages.append(found.source.id)
            self._record(PageRead(shown, "cached" if found.was_cached else "fetched"))
        self._run.private_notes += texts  # the model sees them
        return found

    def _require(self, target: str) -> None:
        rows = self._pages.of_files(self._run.scope.collections or ())
        if not self.handles(target):
            raise SourceRefused(f"{show_target(target)}: no adapter is configured for it")
        if any(row.url == target for row in rows) or target in self._followed:
            return
        if target not in self._listed and not any(link.url == target for row in rows for link in row.links):
            raise SourceRefused(
                f"{show_target(target)} was not offered by any source", hint="choose a target that a source links to"
            )
        if len(self._followed) >= MAX_FOLLOWED:
            raise SourceRefused(f"{MAX_FOLLOWED} links of your sources were followed in this run, which is the limit")
        self._followed.add(target)

    def _record(self, event: PageRead) -> None:
        self._listener(event)
        entry: dict[str, object] = {
            "url": event.url,
            "verdict": event.verdict,
            "why": event.why,
            "at": None,
            "hosts": [],
        }
        self._runs.record(self._run.run_id, "read", entry)
