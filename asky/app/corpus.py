"""Stored documents: add, list, sync and remove them."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from asky.app.inputs import report_notes, unread_of
from asky.app.requests import as_tuple
from asky.app.requests import is_address as is_address
from asky.concurrency import in_thread
from asky.errors import AskyError, SourceError, UsageError
from asky.events import Noted
from asky.net.reach import reach
from asky.research.corpus.records import open_lines
from asky.research.corpus.report import AcquireCounts, verdict_of
from asky.research.corpus.report import DiskChanges as DiskChanges
from asky.research.local.names import show_name, show_target, uri_path
from asky.research.local.spelling import as_on_disk
from asky.storage.corpus import DEFAULT_COLLECTION as DEFAULT_COLLECTION
from asky.storage.scope import Scope
from asky.text.counting import counted
from asky.text.urls import parse_address
from asky.values import source_id

if TYPE_CHECKING:
    from asky.research.adapters import SourceAdapters
    from asky.research.corpus.report import AcquireReport
    from asky.research.local.files import LocalRoots
    from asky.values import Source, UnreadFile
    from asky.wiring import Services

_USERINFO = re.compile(r"(?<=//)[^/?#]*@")
_SHOWN_PATHS = 5
_MAX_SHOWN_CHARS = 200
_FOLLOWS_NOTHING = "it follows no files or folders: nothing to read"
_ADDABLE = "add files, folders, pages at http:// or https://, and targets of [research.source_adapters]"


@dataclass(frozen=True, slots=True)
class AddedDocuments:
    """The result of adding documents to a collection, or of syncing it.

    `reports` are those of the files, the records, the targets and the web pages, in this order, each if there were any.
    `embedded` is the number of passages embedded, `named` that of files, targets and pages named, and `errors` are
    those of them.
    """

    collection: str
    reports: tuple[AcquireReport, ...] = ()
    embedded: int = 0
    named: int = 0
    errors: tuple[AskyError, ...] = ()


@dataclass(frozen=True, slots=True)
class ListedSource:
    """A source of a collection. `why` explains any verdict; that of `indexed` lists the parts that were not read."""

    source: Source
    verdict: str
    why: str | None


@dataclass(frozen=True, slots=True)
class IndexingStatus:
    """How far the embedding of a store is. `passages_left` are those of collections that are partly embedded.

    `state` is `running` while the background process with the id `pid` embeds them, and `done` if there are none.
    Otherwise it is `off` if the configuration rules the background out, `failed` if `problem` ended it, or `stopped`:
    the next question starts it again.
    """

    state: Literal["running", "done", "stopped", "failed", "off"]
    passages_left: int
    pid: int | None
    problem: str | None


@dataclass(frozen=True, slots=True)
class CollectionSummary:
    """The roots and contents of a collection.

    `chunks` is its number of passages, and `verdicts` counts its sources by verdict. `embedded` is the number of
    embedded passages, or `None` without an embedding model. `engine` is what compares a question with their vectors:
    an exact scan up to `exact_max_chunks` of them and Chroma above; that is `None` if the configuration names one.
    `on_disk` is what has changed since the last sync, `unread` what that could not read.
    """

    name: str
    roots: tuple[str, ...]
    sources: int
    chunks: int
    characters: int
    verdicts: dict[str, int]
    embedded: int | None
    engine: Literal["exact", "chroma"] | None
    exact_max_chunks: int | None
    on_disk: DiskChanges
    unread: tuple[UnreadFile, ...] = ()


@dataclass(frozen=True, slots=True)
class RemovedDocuments:
    """The numbers of documents removed from a collection, and of those that other collections still hold.

    `followed` pairs each name passed to `remove` with the folder above it that the collection still follows: the next
    sync adds those documents again.
    """

    documents: int
    kept_elsewhere: int
    followed: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class RemovedCollection:
    """The contents of a removed collection. `roots` are the folders and files that it followed."""

    name: str
    documents: int
    passages: int
    kept_elsewhere: int
    roots: tuple[str, ...]


class CorpusService:
    """Keeps documents in named collections. Synchronous methods only read the store; the others are coroutines.

    Notes about single files are `Noted` events outside of any run.
    """

    def __init__(self, services: Services) -> None:
        self._services = services

    # reading

    def list_collections(self) -> list[str]:
        """Return the names of all collections, sorted."""
        return self._services.corpus.collections()

    def list_sources(self, collection: str = DEFAULT_COLLECTION) -> list[ListedSource]:
        """Return the sources of a collection, readable or not; none if the default collection does not exist yet.

        Raises `UsageError` if any other collection does not exist.
        """
        store = self._services.corpus
        if collection == DEFAULT_COLLECTION and collection not in store.collections():
            return []
        collection_id = store.collection(collection)
        states = store.files(collection_id)
        return [
            ListedSource(each, states[each.uri].verdict, states[each.uri].why)
            for each in store.sources(Scope((collection_id,)))
        ]

    def followed(self, collection: str = DEFAULT_COLLECTION) -> list[str]:
        """Return the folders and files that a collection follows; none if it does not exist."""
        store = self._services.corpus
        return store.roots(store.collection(collection)) if collection in store.collections() else []

    def sync_unchanged(self, collection: str = DEFAULT_COLLECTION) -> AddedDocuments | None:
        """Return what `sync` would if there were nothing to say, read, remove and embed, or else `None`.

        Sizes and times of files decide: none is opened. It costs less than `sync`, which needs an event loop.
        """
        services = self._services
        collection_id = services.corpus.collection(collection)
        followed = [Path(each) for each in services.corpus.roots(collection_id)]
        if not all(map(os.path.lexists, followed)):
            return None  # `sync` says which are missing
        coverage = services.vectors.coverage(Scope((collection_id,)))
        if coverage is not None and coverage.embedded < coverage.chunks:
            return None
        report = services.acquirer.sync_unchanged(collection_id, services.only(followed))
        if report is None:
            return None
        if not followed:
            services.listener(Noted(_FOLLOWS_NOTHING))
            return AddedDocuments(collection)
        for note in report_notes(report):
            services.listener(note)
        return AddedDocuments(collection, (report,))

    async def summarize(self, collection: str = DEFAULT_COLLECTION) -> CollectionSummary:
        """Return what a collection holds and how much of it is embedded."""
        return await in_thread(self._summarize, collection)

    async def changes(self, collection: str = DEFAULT_COLLECTION) -> DiskChanges:
        """Return what has changed in the files of a collection since its last sync; no file is opened."""
        return await in_thread(self._changes, collection)

    async def indexing(self) -> IndexingStatus | None:
        """Return how far the embedding of the whole store is; `None` without an embedding model."""
        return await in_thread(self._indexing)

    # adding

    async def add(
        self,
        documents: Sequence[Path | str] = (),
        *,
        records: Path | str | None = None,
        collection: str = DEFAULT_COLLECTION,
        embed: bool = True,
        offline: bool = False,
    ) -> AddedDocuments:
        """Add files, folders with everything below them, web pages by URL, and targets of adapters.

        Files and folders are followed from then on; adding a page or a target again refreshes it. `records` is a JSON
        Lines file of `{"id", "text", "title"?, "url"?, "metadata"?}` objects. Without `embed`, only words are indexed;
        `sync` embeds later. With `offline`, no host is contacted: only cached pages are added, programs of adapters run
        only for what is not cached, and no embedding model is downloaded.

        Raises `UsageError`, before anything is written, if a path does not exist or a URL is invalid. Sources that
        could not be read are in the result; see `raise_for_added`. If a single page was to be added and cannot be read,
        its error is raised.
        """
        names = [str(each) for each in as_tuple("documents", documents)]
        if not names and records is None:
            raise UsageError("nothing to add", hint="name files, folders or web pages, or a file of records")
        adapters = self._services.adapters(None)
        targets = [each for each in names if adapters.runs_program(each)]
        urls = [each for each in names if is_address(each) and each not in targets]
        paths = [_local_path(each) for each in names if not is_address(each) and each not in targets]
        with ExitStack() as opened, reach(local_only=offline):
            file = None if records is None else Path(records)
            lines = await in_thread(_open, file, opened)
            for url in urls:
                _require_address(url)
            files = [each for each in paths if not each.is_dir()]
            reports: list[AcquireReport] = []
            errors: list[AskyError] = []
            if paths:
                await in_thread(self._services.only, paths)  # all must exist before anything is written
                reports.append(await self._sync(collection, paths))
                errors += await in_thread(self._file_errors, files)
            if file is not None:
                reports.append(await self._add_records(collection, lines, file.name))
            if targets:
                report, failed = await in_thread(self._add_targets, collection, targets, adapters, not offline)
                if failed and len(names) == 1 and file is None:
                    raise failed[0]
                errors += failed
                reports.append(report)
            if urls:
                pages = await self._services.web(offline=offline).page_acquirer.add(collection, urls)
                if pages.errors and len(names) == 1 and not reports:
                    raise pages.errors[0]  # it says all that the report would
                errors += pages.errors
                reports.append(pages.report)
            named = len(files) + len(targets) + len(urls)
            return await self._finish(AddedDocuments(collection, tuple(reports), 0, named, tuple(errors)), embed=embed)

    async def sync(self, collection: str = DEFAULT_COLLECTION) -> AddedDocuments:
        """Update a collection from the folders that it follows, and embed new passages.

        The result has no report if there is no folder to read.
        """
        collection_id, roots = await in_thread(self._follow, collection, [])
        if not self._services.corpus.roots(collection_id):
            self._services.listener(Noted(_FOLLOWS_NOTHING))
        reports = (await self._services.acquirer.sync(collection_id, roots),) if roots else ()
        return await self._finish(AddedDocuments(collection, reports), embed=True)

    # removing

    async def remove(self, names: Sequence[str], *, collection: str | None = None) -> RemovedDocuments:
        """Remove documents from a collection by id, path, file name, folder, URL or external id.

        Without `collection` it is the one that has them all. The collection no longer follows the named paths. Cited
        passages stay readable. Raises `UsageError` if a name matches nothing in the collection, or if several
        collections have them all; then nothing is removed.
        """
        return await in_thread(self._remove, as_tuple("names", names), collection)

    async def remove_collection(self, collection: str) -> RemovedCollection:
        """Remove a whole collection. Cited passages stay readable."""
        return await in_thread(self._remove_collection, collection)

    # indexes

    async def rebuild(self, collection: str = DEFAULT_COLLECTION, *, embeddings: bool = False) -> int | None:
        """Rebuild the indexes from the stored texts and vectors; with `embeddings`, embed the collection again first.

        Returns the number of passages in the vector index, or `None` without an embedding model.
        """
        services = self._services

        def rebuild_words() -> Scope:
            scope = Scope((services.corpus.collection(collection),))
            services.lexical.rebuild()
            services.vectors.tables.titles.rebuild()
            if embeddings:
                services.vectors.clear_cache_embeddings(scope)
            return scope

        scope = await in_thread(rebuild_words)
        if embeddings:
            await services.acquirer.embed(scope)
        return await in_thread(lambda: services.vectors.rebuild_index())

    def _summarize(self, collection: str) -> CollectionSummary:
        services = self._services
        collection_id = services.corpus.collection(collection)
        found = services.corpus.status(collection_id)
        scope, retrieval = Scope((collection_id,)), services.config.research.retrieval
        coverage = services.vectors.coverage(scope)
        return CollectionSummary(
            found.name,
            found.roots,
            found.sources,
            found.chunks,
            found.characters,
            found.verdicts,
            coverage.embedded if coverage else None,
            services.vectors.engine(scope),
            retrieval.exact_max_chunks if retrieval.engine == "auto" else None,
            self._changes(collection),
            tuple(unread_of(services, (collection_id,))),
        )

    def _changes(self, collection: str) -> DiskChanges:
        store = self._services.corpus
        if collection == DEFAULT_COLLECTION and collection not in store.collections():
            return DiskChanges()
        collection_id = store.collection(collection)
        roots = [Path(each) for each in store.roots(collection_id) if os.path.lexists(each)]
        return self._services.acquirer.compare(collection_id, self._services.only(roots))

    def _indexing(self) -> IndexingStatus | None:
        services = self._services
        found, left = services.background.state(), services.vectors.count_left()
        if left is None:
            return None
        if found.is_running:
            state: Literal["running", "done", "stopped", "failed", "off"] = "running"
        elif not left:
            state = "done"
        elif not services.config.research.retrieval.embed_in_background:
            state = "off"
        else:
            state = "failed" if found.problem else "stopped"
        return IndexingStatus(state, left, found.pid, found.problem if state == "failed" else None)

    async def _sync(self, collection: str, new: Sequence[Path]) -> AcquireReport:
        collection_id, roots = await in_thread(self._follow, collection, new)
        return await self._services.acquirer.sync(collection_id, roots)

    def _file_errors(self, files: Sequence[Path]) -> list[SourceError]:
        """Return an error for each of the named `files` that cannot be searched after they were read."""
        errors = []
        for each in files:
            state = self._services.corpus.file(source_id(Path(os.path.realpath(each)).as_uri()))
            if state is None or state.verdict != "indexed":
                errors.append(SourceError(f"{show_name(str(each))} could not be added", hint="the reason is above"))
        return errors

    def _follow(self, collection: str, new: Sequence[Path]) -> tuple[int, LocalRoots]:
        """Make the collection follow `new` too; return its id and those of its roots that exist."""
        store = self._services.corpus
        collection_id = store.collection(collection, create=bool(new))
        for each in new:
            store.add_root(collection_id, os.path.realpath(each))
        followed = store.roots(collection_id)
        existing = [each for each in followed if os.path.lexists(each)]
        for path in followed:
            if path not in existing:
                note = f"{path} does not exist; its documents are kept until `asky corpus rm` removes them"
                self._services.listener(Noted(note))
        return collection_id, self._services.only([Path(each) for each in existing])

    async def _add_records(self, collection: str, lines: Iterator[bytes], name: str) -> AcquireReport:
        store = self._services.corpus

        def open_collection() -> tuple[bool, int]:
            is_new = collection not in store.collections()
            return is_new, store.collection(collection, create=True)

        is_new, collection_id = await in_thread(open_collection)
        report = await self._services.acquirer.add_records(collection_id, collection, lines, name)
        if is_new and not await in_thread(store.files, collection_id):  # no line was a record
            await in_thread(store.remove_collection, collection_id)
        return report

    def _add_targets(
        self, collection: str, targets: Sequence[str], adapters: SourceAdapters, refresh: bool
    ) -> tuple[AcquireReport, tuple[AskyError, ...]]:
        store, errors = self._services.corpus, list[AskyError]()
        counts = AcquireCounts(self._services.listener)
        is_new = collection not in store.collections()
        collection_id = store.collection(collection, create=True)
        for target in targets:
            try:
                self._services.target_acquirer.add(target, adapters, collection_id, counts, refresh=refresh)
            except SourceError as error:
                counts.record(show_target(target), verdict_of(error), error.message)
                errors.append(error)
        if is_new and not store.files(collection_id):
            store.remove_collection(collection_id)
        return counts.report(), tuple(errors)

    async def _finish(self, added: AddedDocuments, *, embed: bool) -> AddedDocuments:
        """Emit notes about every report, and embed new passages."""
        services = self._services
        for report in added.reports:
            for note in report_notes(report):
                services.listener(note)
        if not embed or added.collection not in await in_thread(services.corpus.collections):
            return added
        scope = Scope((await in_thread(services.corpus.collection, added.collection),))
        embedded = await services.acquirer.embed(scope)
        if embedded:
            services.listener(Noted(f"embedded {counted(embedded, 'passage')}"))
        return replace(added, embedded=embedded)

    def _remove(self, names: Sequence[str], collection: str | None) -> RemovedDocuments:
        store = self._services.corpus
        collection_id = store.collection(collection or self._collection_with(names))
        chosen = self._find_sources(collection_id, names)
        followed = tuple(self._stop_following(collection_id, names))
        forgotten = store.remove_sources(collection_id, chosen)
        return RemovedDocuments(len(chosen), len(chosen) - forgotten, followed)

    def _collection_with(self, names: Sequence[str]) -> str:
        """Return the only collection that has all these documents, or else the default one."""
        having = []
        for name in self._services.corpus.collections():
            with suppress(UsageError):
                self._find_sources(self._services.corpus.collection(name), names)
                having.append(name)
        if len(having) > 1 and DEFAULT_COLLECTION not in having:
            choices = " or ".join(f"--collection {shlex.quote(name)}" for name in having)
            raise UsageError("several collections have that", hint=f"add {choices}")
        if not having and DEFAULT_COLLECTION not in self._services.corpus.collections():
            raise UsageError(f"{', '.join(names)}: in no collection", hint="`asky corpus list` lists the documents")
        return having[0] if len(having) == 1 else DEFAULT_COLLECTION

    def _find_sources(self, collection_id: int, names: Sequence[str]) -> list[str]:
        """Return the ids of the named sources; `1` matches both the record 1 and the record "1"."""
        store = self._services.corpus
        sources = store.sources(Scope((collection_id,)))
        chosen: dict[str, None] = {}
        for each in names:
            path = _real_path(each)
            found = [source.id for source in sources if _is_named(source, each, path)]
            found = found or self._find_by_file_name(sources, each)
            if not found and path not in store.roots(collection_id):
                raise UsageError(f"{each}: not in this collection", hint="`asky corpus list` lists the documents")
            chosen |= dict.fromkeys(found)
        return list(chosen)

    def _find_by_file_name(self, sources: Sequence[Source], name: str) -> list[str]:
        """Return the id of the only source whose file is called `name`. Raises `UsageError` if there are several."""
        found = [source for source in sources if source.path is not None and Path(source.path).name == name]
        if len(found) > 1:
            paths = ", ".join(str(source.path) for source in found[:_SHOWN_PATHS])
            raise UsageError(f"{len(found)} files are called {name}", hint=f"name one by its path: {paths}")
        return [source.id for source in found]

    def _stop_following(self, collection_id: int, names: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Stop following the named paths; yield each that lies in a folder still followed, with that folder."""
        store = self._services.corpus
        for each in names:
            path = _real_path(each)
            if not store.remove_root(collection_id, path):
                parents = [root for root in store.roots(collection_id) if path.startswith(root + os.sep)]
                if parents:
                    yield each, parents[0]

    def _remove_collection(self, collection: str) -> RemovedCollection:
        store = self._services.corpus
        collection_id = store.collection(collection)
        found = store.status(collection_id)
        forgotten = store.remove_collection(collection_id)
        return RemovedCollection(found.name, found.sources, found.chunks, found.sources - forgotten, found.roots)


def raise_for_added(*added: AddedDocuments) -> None:
    """Raise an error if something could not be added.

    The error of a single file or page is raised as it is; several become one error, of their common class if they share
    one.
    Raises `SourceError` if sources were read and none of them can be searched.
    """
    for each in added:
        _raise_for_named(each.errors, each.named)
    reports = [report for each in added for report in each.reports]
    examined = sum(sum(each.verdicts.values()) for each in reports)
    if examined and not any(each.verdicts.get(usable) for each in reports for usable in ("indexed", "unchanged")):
        raise SourceError(f"none of {examined:,} could be added", hint="the reasons are above")


def _raise_for_named(errors: Sequence[AskyError], named: int) -> None:
    if len(errors) == 1:
        raise errors[0]
    if errors:
        kinds = {type(error) for error in errors}
        kind = kinds.pop() if len(kinds) == 1 else SourceError
        raise kind(f"{len(errors)} of {named} could not be added", hint="the reasons are above")


def _require_address(url: str) -> None:
    """Raise `UsageError` if `url` cannot be the URL of a page."""
    try:
        parse_address(url)
    except ValueError as error:
        shown = _USERINFO.sub("", url)[:_MAX_SHOWN_CHARS]  # it may hold a password
        raise UsageError(f"{shown}: {error}", hint=_ADDABLE) from None


def _open(records: Path | None, opened: ExitStack) -> Iterator[bytes]:
    """Return the lines of a file of records, which `opened` closes; none if `records` is `None`."""
    if records is None:
        return iter(())

    return opened.enter_context(open_lines(records))


def _local_path(name: str) -> Path:
    return as_on_disk(Path(uri_path(name) or name))


def _real_path(name: str) -> str:
    """Return the real path for `name`, or `name` itself if no file can have such a name."""
    path = uri_path(name) or name
    return path if "\0" in path else os.path.realpath(as_on_disk(Path(path)))


def _is_named(source: Source, name: str, path: str) -> bool:
    ids = (source.id, source.uri, source.url, None if source.external_id is None else str(source.external_id))
    below = source.path is not None and (source.path == path or source.path.startswith(path + os.sep))
    return name in ids or below
