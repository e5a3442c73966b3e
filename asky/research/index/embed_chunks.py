"""Embedding of chunks: all that have no vector, or as many as there is time for while a question waits."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, zip_longest
from typing import TYPE_CHECKING

from asky.events import StageAdvanced, StageFinished, StageStarted
from asky.research.vector_store_common import check_vectors, ids_from_bytes, ids_to_bytes, vectors_to_bytes
from asky.storage.scope import Scope
from asky.storage.vectors import Coverage, Pack

if TYPE_CHECKING:
    from asky.research.chunker import Tokenizer
    from asky.research.embedding.embedder import Embedder, Progress
    from asky.research.index.store_parts import StoreParts

_EMBED_BATCH = 512  # chunks per commit: about 15 s of work on two cores, the most that a kill can lose
_BACKGROUND_BATCH = 64  # about 1 s of two cores that nobody else wants; at the lowest priority it may take minutes
_SHOWN_FROM = 32  # chunks: about half a second
_STAGE = "embed"  # as `Acquirer.embed` calls it
_GOES_ON = "that goes on in the background; `asky corpus status` shows how far it is"
MAX_CONTEXT_TOKENS = 32  # of a title and headings before a chunk; the rest of the window belongs to the chunk


def embedding_text(context: str, text: str, tokenizer: Tokenizer) -> str:
    """Return the text that is embedded for a chunk: its title and headings, cut at 32 tokens, then its text.

    Source: with the title nDCG@10 .791, without it .787 (four sets that have titles, both legs).
    """
    context = context.partition("\n")[0]
    if not context or text.startswith(context):
        return text
    tokens = tokenizer.offsets(context)
    if len(tokens) > MAX_CONTEXT_TOKENS:
        context = context[: tokens[MAX_CONTEXT_TOKENS - 1][1]]
    return f"{context}\n{text}"


def store_chunk_embeddings(
    store: StoreParts, scope: Scope, progress: Progress | None, batch_size: int = _EMBED_BATCH
) -> int:
    """See `VectorStore.store_chunk_embeddings`."""
    embedder = store.embedder()
    if embedder is None:
        return 0
    space_id = store.space(embedder)
    coverage = store.tables.vectors.coverage(space_id, scope)
    total, done = coverage.chunks - coverage.embedded, 0
    missing = _missing(store, space_id, scope)
    report = progress or _ignore
    report(0, total)
    while batch := list(islice(missing, batch_size)):
        embed_chunks(store, embedder, batch, progress=_from(done, total, report))
        done += len(batch)
    return done


def _from(before: int, total: int, report: Progress) -> Progress:
    """Convert progress within a batch to progress of all batches."""
    return lambda done, _: report(before + done, total)


def _ignore(done: int, total: int) -> None:
    """Ignore progress."""


def embed_chunks(
    store: StoreParts, embedder: Embedder, chunk_ids: Sequence[int], *, progress: Progress | None = None
) -> None:
    """Embed these chunks and store their vectors, in one transaction; deleted chunks are skipped."""
    inputs = list(store.tables.documents.chunk_inputs(chunk_ids))
    texts = [embedding_text(context, text, embedder.tokenizer) for _, context, text in inputs]
    vectors = embedder.embed(texts, progress=progress)
    check_vectors(vectors, count=len(inputs), dim=embedder.dim)
    documents = store.tables.chunks.documents_of([id_ for id_, _, _ in inputs])
    rows: dict[int, list[int]] = defaultdict(list)
    for row, (id_, _, _) in enumerate(inputs):
        if id_ in documents:
            rows[documents[id_]].append(row)
    packs = [
        Pack(document, ids_to_bytes([inputs[row][0] for row in each]), vectors_to_bytes(vectors[each]))
        for document, each in rows.items()
    ]
    store.tables.vectors.put(store.space(embedder), packs)


def _missing(store: StoreParts, space_id: int, scope: Scope) -> Iterator[int]:
    for document_id in store.tables.vectors.incomplete_documents(space_id, scope):
        yield from _missing_of(store, space_id, document_id)


def _missing_of(store: StoreParts, space_id: int, document_id: int) -> list[int]:
    have = _embedded_of(store, space_id, [document_id])
    return [each for each in store.tables.documents.chunk_ids(document_id) if each not in have]


def _embedded_of(store: StoreParts, space_id: int, document_ids: Sequence[int]) -> set[int]:
    packs = store.tables.vectors.ids_of(space_id, document_ids)
    return {each for ids in packs for each in ids_from_bytes(ids).tolist()}


def clear_cache_embeddings(store: StoreParts, scope: Scope) -> int:
    """See `VectorStore.clear_cache_embeddings`."""
    embedder = store.embedder()
    return store.tables.vectors.remove(store.space(embedder), scope) if embedder else 0


# in the background


def begun_scope(store: StoreParts, space_id: int) -> Scope:
    """Return the collections of which something is embedded, so that the rest of them is wanted too.

    Others have only been added for a search by words.
    """
    return Scope(store.tables.vectors.begun_collections(space_id))


def count_left(store: StoreParts) -> int | None:
    """See `VectorStore.count_left`."""
    embedder = store.embedder()
    if embedder is None:
        return None
    space_id = store.space(embedder)
    coverage = store.tables.vectors.coverage(space_id, begun_scope(store, space_id))
    return coverage.chunks - coverage.embedded


def embed_left(store: StoreParts, progress: Progress) -> int:
    """See `VectorStore.embed_left`."""
    embedder = store.embedder()
    if embedder is None:
        return 0
    return store_chunk_embeddings(store, begun_scope(store, store.space(embedder)), progress, _BACKGROUND_BATCH)


# while a question waits


class _Ended(Exception):
    """Nobody waits for the vectors any more."""


def always() -> bool:
    """Embed as long as it takes."""
    return True


def embed_for_queries(
    store: StoreParts,
    embedder: Embedder,
    scope: Scope,
    found: Mapping[str, Iterable[int]],
    first: Sequence[str],
    may_embed: Callable[[], bool] = always,
) -> Coverage:
    """Embed at most `embed_at_once` chunks of the scope for these queries together; warn if others remain unembedded.

    The others are left to the background process, if there may be one. While it is at work on a scope, only lexical
    hits are embedded here.

    `found` maps each query to its lexical hits, best first. These are embedded first, then chunks of the sources
    `first`, then others. Repeating the same queries over the same texts embeds nothing more, even if others were run in
    between. `may_embed` is asked at every batch of the model; once it says no, the vectors that are left stay missing,
    without a warning. Returns the coverage afterwards.
    """
    space_id = store.space(embedder)
    before = store.tables.vectors.coverage(space_id, scope)
    if before.embedded >= before.chunks or not may_embed():
        return before
    reached = before
    if not store.tables.vectors.read_only:
        embedding_cache, task = store.cached_embedder(embedder), _task_key(store, scope, before, found)
        is_new = not before.embedded or not embedding_cache.is_done(task)
        is_under_way = bool(before.embedded) and store.background is not None and store.background.state().is_running
        fill = is_new and not is_under_way
        selected = _select_chunks(store, space_id, scope, before, found, first, fill=fill)
        try:
            if selected:
                _embed_shown(store, embedder, selected, may_embed)
        except _Ended:
            return before
        reached = Coverage(before.chunks, before.embedded + len(selected))
        if fill:
            embedding_cache.mark_done(task)
    if reached.embedded < reached.chunks:
        background = None if store.tables.vectors.read_only else store.background
        was_running = background is not None and background.state().is_running
        goes_on = background is not None and background.start()
        _warn_incomplete(store, space_id, before, reached, goes_on=goes_on, is_repeat=was_running)
    return reached


def _embed_shown(store: StoreParts, embedder: Embedder, selected: Sequence[int], may_embed: Callable[[], bool]) -> None:
    """Embed these chunks, as a stage with its progress if that takes more than a moment.

    Raises `_Ended` once they may not be embedded any more, with none of them stored.
    """
    is_shown = len(selected) >= _SHOWN_FROM

    def advance(done: int, total: int) -> None:
        if not may_embed():
            raise _Ended
        if is_shown:
            store.listener(StageAdvanced(_STAGE, done, total))

    started = time.monotonic()
    if is_shown:
        store.listener(StageStarted(_STAGE, len(selected)))
    embed_chunks(store, embedder, selected, progress=advance)
    if is_shown:
        store.listener(StageFinished(_STAGE, time.monotonic() - started, f"{len(selected)} passages"))


def _task_key(store: StoreParts, scope: Scope, coverage: Coverage, queries: Iterable[str]) -> str:
    """Return the key under which embedding for these queries is recorded; it changes with the texts in scope."""
    return "\n".join([f"embedded of {coverage.chunks} up to {store.tables.chunks.newest(scope)} for", *queries])


def _select_chunks(
    store: StoreParts,
    space_id: int,
    scope: Scope,
    coverage: Coverage,
    found: Mapping[str, Iterable[int]],
    first: Sequence[str],
    *,
    fill: bool,
) -> list[int]:
    """Return the chunks to embed: the best lexical hits of the queries in turn, and with `fill` others up to the limit.

    If all that are missing fit, they are all returned. Hits that have a vector count towards the limit too: the fewer
    hits there are, the more the result depends on the other chunks.
    """
    limit = store.settings.embed_at_once
    if fill and coverage.chunks - coverage.embedded <= limit:
        return list(_missing(store, space_id, scope))
    best = list(dict.fromkeys(id_ for rank in zip_longest(*found.values()) for id_ in rank if id_ is not None))[:limit]
    have = _embedded_of(store, space_id, sorted(set(store.tables.chunks.documents_of(best).values())))
    selected = [each for each in best if each not in have]
    if fill and len(best) < limit:
        others = (each for each in _missing_fairly(store, space_id, scope, first) if each not in best)
        selected += islice(others, limit - len(best))
    return selected


def _missing_fairly(store: StoreParts, space_id: int, scope: Scope, first: Sequence[str]) -> Iterator[int]:
    """Yield chunks without a vector, documents with the fewest vectors first; sources in `first` precede others.

    At most `embed_at_once` documents are considered, as each has at least one such chunk.
    """
    incomplete, limit = store.tables.vectors.incomplete_documents, store.settings.embed_at_once
    documents = incomplete(space_id, scope)
    embedded = Counter(store.tables.chunks.documents_of(sorted(_embedded_of(store, space_id, documents))).values())
    preferred = set(incomplete(space_id, Scope(scope.collections, tuple(first)))) if first else set[int]()
    for is_preferred in (True, False):
        group = sorted((each for each in documents if (each in preferred) == is_preferred), key=embedded.__getitem__)
        ranked = [
            (embedded[document] + rank, id_)
            for document in group[:limit]
            for rank, id_ in enumerate(_missing_of(store, space_id, document))
        ]
        yield from (id_ for _, id_ in sorted(ranked))


def _warn_incomplete(
    store: StoreParts, space_id: int, before: Coverage, reached: Coverage, *, goes_on: bool, is_repeat: bool
) -> None:
    """Warn that not everything is embedded; `is_repeat` if the process that goes on with it was running before."""
    missing = f"{reached.chunks - reached.embedded:,} of {reached.chunks:,} passages"
    if not before.embedded and store.tables.vectors.other_spaces(space_id):
        message = f"the embedding model has changed: {missing} are not embedded with the new one"
    else:
        message = f"{missing} are not embedded yet and are found by keywords only"
    hint = _GOES_ON if goes_on else "`asky corpus sync --all` embeds them"
    store.warn("coverage", message, hint, is_repeat=is_repeat)
