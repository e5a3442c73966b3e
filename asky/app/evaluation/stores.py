"""The store that a variant is measured in: the user's own, or one for documents that are in no collection."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from asky.app.inputs import report_notes, unread_of
from asky.app.search import SearchScope, SearchService
from asky.config.paths import resolve_paths
from asky.errors import NotConfigured, UsageError
from asky.events import Warned
from asky.storage.corpus import DEFAULT_COLLECTION
from asky.storage.scope import Scope
from asky.values import Source
from asky.wiring import Services

if TYPE_CHECKING:
    from asky.app.evaluation.requests import EvalRequest
    from asky.config.loader import Config
    from asky.evaluation.questions import CorpusText, QuestionSet
    from asky.events import Listener

_INDEXING = ("research.chunking.", "research.embedding.", "research.reading.")
"""Keys that change what is stored of a document: a store keeps what it has, so each of their values needs its own."""


@dataclass(frozen=True, slots=True)
class MeasuredStore:
    """An open store and what is measured in it: `scope` is searched, `documents` and `collections` are asked about."""

    services: Services
    search: SearchService
    scope: SearchScope
    documents: tuple[Path | str, ...]
    collections: tuple[str, ...]
    sources: Sequence[Source]
    fingerprint: str


def changes_index(key: str) -> bool:
    """Return whether a configuration key changes what is stored of a document."""
    return key.startswith(_INDEXING)


@contextmanager
def open_services(
    config: Config,
    environ: Mapping[str, str],
    request: EvalRequest,
    questions: QuestionSet,
    keys: Sequence[str],
    listen: Listener,
) -> Iterator[Services]:
    """Open the parts for a variant in which `keys` are set, over its store.

    Documents that the question set brings, and those of a variant that indexes them differently, are kept in the cache.
    Raises `UsageError` for stored documents that would have to be indexed differently.
    """
    retrieval = replace(config.research.retrieval, embed_in_background=False)
    config = replace(config, research=replace(config.research, retrieval=retrieval))
    differs = [key for key in keys if changes_index(key)]
    if differs and questions.corpus is None and not request.documents:
        raise UsageError(
            f"{differs[0]} changes how documents are stored: stored ones cannot be measured with it",
            hint="name their folder with --docs",
        )
    if questions.corpus is not None or differs:
        environ = _own_home(config, environ, request, questions)
    with Services(config, environ, listener=listen) as services:
        yield services


def _own_home(
    config: Config, environ: Mapping[str, str], request: EvalRequest, questions: QuestionSet
) -> dict[str, str]:
    """Return the environment of a store in the cache, the same for documents that are indexed in the same way."""
    research = config.research
    what = (
        questions.sha256 if questions.corpus is not None else [str(Path(each).absolute()) for each in request.documents]
    )
    parts = [what, repr(research.chunking), repr(research.embedding), repr(research.reading)]
    name = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]
    folder = resolve_paths(environ).cache / "evaluation" / name
    return {**environ, "ASKY_HOME": str(folder)}


async def fill(services: Services, request: EvalRequest, questions: QuestionSet) -> MeasuredStore:
    """Bring the documents up to date and embed them all, so that what is found does not depend on the time.

    Without an embedding model, a warning says that words alone are searched. Raises as `SearchService.resolve` does,
    and `UsageError` if there is no document.
    """
    search = SearchService(services)
    if questions.corpus is not None:
        collection = await _add_corpus(services, questions.corpus)
        scope = SearchScope((collection,), tuple(unread_of(services, (collection,))))
        collections: tuple[str, ...] = (DEFAULT_COLLECTION,)
    else:
        scope = await search.resolve(request.documents, request.collection)
        collections = (request.collection,) if request.collection is not None else ()
    whole = Scope(scope.collections)
    try:
        await services.acquirer.embed(whole)
    except NotConfigured as error:
        services.listener(Warned(f"{error.message}; measured by keywords only", error.hint))
    sources = services.corpus.sources(whole)
    if not sources:
        raise UsageError("there are no documents to search", hint="name them with --docs PATH or --collection NAME")
    fingerprint = _fingerprint(services, scope.collections)
    return MeasuredStore(services, search, scope, request.documents, collections, sources, fingerprint)


async def _add_corpus(services: Services, corpus: Sequence[CorpusText]) -> int:
    collection = services.corpus.collection(DEFAULT_COLLECTION, create=True)
    if services.corpus.count_sources(Scope((collection,))) < len(corpus):
        report = await services.acquirer.add_records(collection, DEFAULT_COLLECTION, _lines(corpus), "corpus.jsonl")
        for note in report_notes(report, changes_only=True):
            services.listener(note)
    return collection


def _lines(corpus: Sequence[CorpusText]) -> Iterator[bytes]:
    for each in corpus:
        yield json.dumps({"id": each.id, "title": each.title, "text": each.text}).encode()


def _fingerprint(services: Services, collections: Sequence[int]) -> str:
    """Return a hash that changes with the files of the collections."""
    digest = hashlib.sha256()
    for each in collections:
        for uri, state in sorted(services.corpus.files(each).items()):
            digest.update(repr((uri, state.size, state.mtime_ns, state.verdict)).encode("utf-8", "replace"))
    return digest.hexdigest()
