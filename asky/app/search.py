"""Passages that match a query; no model is called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from asky.app.inputs import Inputs, name_documents, unread_names, unreadable_error
from asky.app.requests import DocumentName, as_tuple, document_name
from asky.app.schemas.search import hit_object
from asky.concurrency import in_thread
from asky.errors import UsageError
from asky.evidence.export.citing import place_text, section_text
from asky.research.excerpts.passages import interleave
from asky.storage.corpus import DEFAULT_COLLECTION
from asky.storage.scope import Scope

if TYPE_CHECKING:
    from asky.values import Hit, UnreadFile
    from asky.wiring import Services

_MAX_QUERY_CHARS = 100_000


@dataclass(frozen=True, slots=True)
class SearchScope:
    """The ids of the collections to search, resolved once for any number of queries.

    `unread` are the files in them that could not be read, and parts of files; `unread_names` are those of the files
    that were named themselves.
    """

    collections: tuple[int, ...]
    unread: tuple[UnreadFile, ...] = ()
    unread_names: tuple[UnreadFile, ...] = ()


class SearchService:
    """Finds passages by meaning and by words, or by words only without an embedding model."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def search(
        self, query: str, *, documents: Sequence[Path | str] = (), collection: str | None = None, limit: int = 10
    ) -> list[Hit]:
        """Return the passages that match `query` best, best first, at most `limit`.

        Raises as `resolve` and `search_in` do.
        """
        scope = await self.resolve(documents, collection)
        return await in_thread(lambda: self.search_in(scope, query, limit=limit))

    async def resolve(self, documents: Sequence[Path | str] = (), collection: str | None = None) -> SearchScope:
        """Return the scope of the files, folders and targets in `documents`, updated first, and the named collection.

        If neither is given, it is the default collection. Raises `UsageError` if a path or collection does not exist,
        or there are no documents yet, and `SourceError` for a target that cannot be read.
        """
        paths = [document_name(each) for each in as_tuple("documents", documents)]
        if not paths:
            return await in_thread(self.resolve_collection, collection)
        inputs = Inputs(self._services, self._services.listener)
        for path in paths:
            await inputs.add_document(path)
        if collection is not None:
            inputs.add(await in_thread(self._services.corpus.collection, collection))
        return await in_thread(self._scope, inputs, paths)

    def _scope(self, inputs: Inputs, paths: Sequence[DocumentName] = ()) -> SearchScope:
        collections = tuple(inputs.collections)
        unread = inputs.unread_of(collections)
        return SearchScope(collections, unread, tuple(unread_names(unread, paths)))

    def resolve_collection(self, name: str | None = None) -> SearchScope:
        """Return the scope of a stored collection, by default the default one. Raises as `resolve` does."""
        corpus = self._services.corpus
        if name is None and DEFAULT_COLLECTION not in corpus.collections():
            hint = f"{name_documents(self._services)}, or keep some with `asky corpus add PATH`"
            error = UsageError("no documents are kept yet", hint=hint)
            error.server_hint = "on the machine where asky runs, `asky setup` or `asky corpus add PATH` adds documents"
            raise error
        inputs = Inputs(self._services, self._services.listener)
        inputs.add(corpus.collection(name or DEFAULT_COLLECTION))
        return self._scope(inputs)

    def raise_for_unread(self, scope: SearchScope) -> None:
        """Raise `SourceError` if a file could not be read that was named itself, or no file in scope could."""
        if scope.unread_names:
            raise unreadable_error(scope.unread_names)
        files = [each for each in scope.unread if each.part is None]
        if files and not self._services.corpus.count_sources(Scope(scope.collections), with_text=True):
            raise unreadable_error(files)

    def search_in(self, scope: SearchScope, query: str, *, limit: int = 10) -> list[Hit]:
        """Return the passages in `scope` that match `query` best, best first, at most `limit`.

        A query of several questions ("What is X and how does Y work?") is also searched for each of them, and the
        passages found are taken in turn.

        This blocks for the computation; in an event loop, call it in a thread. Raises `UsageError` if the query is
        empty or too long.
        """
        if not query.strip():
            raise UsageError("the query is empty")
        if len(query) > _MAX_QUERY_CHARS:
            raise UsageError(f"the query has {len(query):,} characters; the limit is {_MAX_QUERY_CHARS:,}")
        queries = [query, *(part for part in self._services.sub_questions(query) if part != query)]
        hits = interleave(self._services.vectors.search_several(queries, Scope(scope.collections), limit=limit))
        return [replace(hit, rank=rank) for rank, hit in enumerate(hits[:limit], start=1)]


def describe_place(hit: Hit) -> str:
    """Return the title, section and page of a passage, and what it is linked from, each if known, in one line."""
    shown = hit_object(hit)
    linked = f"linked from {hit.linked_from}" if hit.linked_from else ""
    return " · ".join(part for part in (hit.source.title, section_text(shown), place_text(shown), linked) if part)
