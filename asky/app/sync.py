"""The synchronous twin of `Asky`, for scripts and notebooks, even inside a running event loop."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from anyio.from_thread import BlockingPortal, start_blocking_portal

from asky.app.asky import Asky
from asky.app.requests import AskRequest
from asky.errors import UsageError
from asky.events import Listener, ignore

if TYPE_CHECKING:
    from asky.config.loader import Config
    from asky.values import Answer, Hit

T = TypeVar("T")


class SyncAsky:
    """Asks, searches and adds documents from synchronous code, as a context manager.

    An event loop runs in a thread of its own. Ctrl-C stops the work in progress; a partial answer is kept.
    """

    def __init__(self, inner: Asky) -> None:
        self._inner = inner
        self._starting: AbstractContextManager[BlockingPortal] | None = None
        self._portal: BlockingPortal | None = None

    @classmethod
    def open(
        cls,
        config: Config | None = None,
        *,
        environ: Mapping[str, str] = os.environ,
        listen: Listener = ignore,
    ) -> SyncAsky:
        """Return the twin of `Asky.open` with the same arguments."""
        return cls(Asky.open(config, environ=environ, listen=listen))

    def __enter__(self) -> SyncAsky:
        self._starting = start_blocking_portal()
        self._portal = self._starting.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._portal = None
        if self._starting is not None:
            self._starting.__exit__(kind, error, trace)
        self._inner.close()

    def ask(self, question: str | AskRequest, *, listen: Listener = ignore, **options: Any) -> Answer:
        """Return the answer to `question`; `options` are the fields of `AskRequest`. Raises as `ChatService.ask`."""
        request = question if isinstance(question, AskRequest) else AskRequest(question=question, **options)
        return self._call(lambda: self._inner.chat.ask(request, listen=listen))

    def search(
        self, query: str, *, documents: Sequence[Path | str] = (), collection: str | None = None, limit: int = 10
    ) -> list[Hit]:
        """Return the passages that match `query` best, best first. Raises as `SearchService.search`."""
        search = self._inner.search.search
        return self._call(lambda: search(query, documents=documents, collection=collection, limit=limit))

    def add(self, *paths: Path | str, collection: str = "default") -> None:
        """Add files and folders with everything below them to a collection, which follows them from then on.

        Web pages by URL and targets of adapters can be added as texts. Raises as `CorpusService.add`.
        """
        self._call(lambda: self._inner.corpus.add(paths, collection=collection))

    def _call(self, work: Callable[[], Awaitable[T]]) -> T:
        if self._portal is None:
            raise UsageError("this SyncAsky is not open", hint="use it as a context manager: with SyncAsky.open() as a")
        return self._portal.call(work)
