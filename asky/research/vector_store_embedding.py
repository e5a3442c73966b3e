"""How chunks come to have vectors: all that are missing, or as many at once as a question can wait for."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, zip_longest
from typing import TYPE_CHECKING

from asky.research.vector_store_common import check_vectors, ids_from_bytes, ids_to_bytes, vectors_to_bytes
from asky.storage.scope import Scope
from asky.storage.vectors import Coverage, Pack

if TYPE_CHECKING:
    from asky.research.chunker import Tokenizer
    from asky.research.embedder import Embedder, Progress
    from asky.research.vector_store import VectorStore

_EMBED_BATCH = 512  # chunks a commit: about 15 s of work on two cores, which is what a kill can cost
MAX_CONTEXT_TOKENS = 32  # of a title and headings in front of a chunk; the rest of the window is the chunk's


def embedding_text(context: str, text: str, tokenizer: Tokenizer) -> str:
    """What is embedded for a chunk: its title and headings, cut at 32 tokens, then its text.

    Source: with the title nDCG@10 .791, without it .787 (four sets that have titles, both legs).
    """
    if not context or text.startswith(context):
        return text
    tokens = tokenizer.offsets(context)
    if len(tokens) > MAX_CONTEXT_TOKENS:
        context = context[: tokens[MAX_CONTEXT_TOKENS - 1][1]]
    return f"{context}\n{text}"


def store_chunk_embeddings(store: VectorStore, scope: Scope, progress: Progress | None) -> int:
    """See `VectorStore.store_chunk_embeddings`."""
    embedder = store.embedder()
    if embedder is None:
        return 0
    space_id = store.space(embedder)
    coverage = store.tables.vectors.coverage(space_id, scope)
    total, done = coverage.chunks - coverage.embedded, 0
    missing = _missing(store, space_id, scope)
    report = progress or _unheard
    report(0, total)
    while batch := list(islice(missing, _EMBED_BATCH)):
        embed_chunks(store, embedder, batch, progress=_from(done, total, report))
        done += len(batch)
    return done


def _from(before: int, total: int, report: Progress) -> Progress:
    """Progress within a batch, told as progress of the whole."""
    return lambda done, _: report(before + done, total)


def _unheard(done: int, total: int) -> None:
    """A progress that nobody follows."""


def embed_chunks(
    store: VectorStore, embedder: Embedder, chunk_ids: Sequence[int], *, progress: Progress | None = None
) -> None:
    """Embed these chunks and keep their vectors, in one transaction; chunks that are gone are passed over."""
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


def _missing(store: VectorStore, space_id: int, scope: Scope) -> Iterator[int]:
    for document_id in store.tables.vectors.incomplete_documents(space_id, scope):
        yield from _missing_of(store, space_id, document_id)


def _missing_of(store: VectorStore, space_id: int, document_id: int) -> list[int]:
    have = _embedded_of(store, space_id, [document_id])
    return [each for each in store.tables.documents.chunk_ids(document_id) if each not in have]


def _embedded_of(store: VectorStore, space_id: int, document_ids: Sequence[int]) -> set[int]:
    packs = store.tables.vectors.ids_of(space_id, document_ids)
    return {each for ids in packs for each in ids_from_bytes(ids).tolist()}


def clear_cache_embeddings(store: VectorStore, scope: Scope) -> int:
    """See `VectorStore.clear_cache_embeddings`."""
    embedder = store.embedder()
    return store.tables.vectors.remove(store.space(embedder), scope) if embedder else 0


# while a question waits


def embed_for_queries(
    store: VectorStore, embedder: Embedder, scope: Scope, found: Mapping[str, Iterable[int]], first: Sequence[str]
) -> Coverage:
    """Embed at most `embed_at_once` chunks of the scope for these queries together, and say what stays unembedded.

    `found` has the chunks that each query's words find, best first; these are embedded before others, and of others
    those of the sources `first`. The same queries over the same texts embed nothing more, whatever is asked in between.
    Returns the coverage that is reached.
    """
    space_id = store.space(embedder)
    before = store.tables.vectors.coverage(space_id, scope)
    if before.embedded >= before.chunks:
        return before
    reached = before
    if not store.tables.vectors.read_only:
        remembered, deed = store.remembered(embedder), _deed(store, scope, before, found)
        is_new = not before.embedded or not remembered.has_noted(deed)
        wanted = _wanted(store, space_id, scope, before, found, first, fills=is_new)
        if wanted:
            embed_chunks(store, embedder, wanted)
        reached = Coverage(before.chunks, before.embedded + len(wanted))
        if is_new:
            remembered.note(deed)
    if reached.embedded < reached.chunks:
        _say_what_is_missing(store, space_id, before, reached)
    return reached


def _deed(store: VectorStore, scope: Scope, coverage: Coverage, queries: Iterable[str]) -> str:
    """What is noted of queries that have had their room: another one for every change of the texts in scope."""
    return "\n".join([f"embedded of {coverage.chunks} up to {store.tables.chunks.newest(scope)} for", *queries])


def _wanted(
    store: VectorStore,
    space_id: int,
    scope: Scope,
    coverage: Coverage,
    found: Mapping[str, Iterable[int]],
    first: Sequence[str],
    *,
    fills: bool,
) -> list[int]:
    """The chunks to embed: the best by words, each query having its turn at every rank, and what else `fills` the room.

    All that are missing, if they find room. What the words find takes room also where it has its vector: the fewer they
    find, the more depends on meaning.
    """
    room = store.settings.embed_at_once
    if fills and coverage.chunks - coverage.embedded <= room:
        return list(_missing(store, space_id, scope))
    best = list(dict.fromkeys(id_ for rank in zip_longest(*found.values()) for id_ in rank if id_ is not None))[:room]
    have = _embedded_of(store, space_id, sorted(set(store.tables.chunks.documents_of(best).values())))
    wanted = [each for each in best if each not in have]
    if fills and len(best) < room:
        others = (each for each in _missing_fairly(store, space_id, scope, first) if each not in best)
        wanted += islice(others, room - len(best))
    return wanted


def _missing_fairly(store: VectorStore, space_id: int, scope: Scope, first: Sequence[str]) -> Iterator[int]:
    """Chunks without a vector, each time the first of a document that has the fewest vectors; those of `first` before.

    Of no more documents than there is room for: each has such a chunk.
    """
    incomplete, room = store.tables.vectors.incomplete_documents, store.settings.embed_at_once
    documents = incomplete(space_id, scope)
    embedded = Counter(store.tables.chunks.documents_of(sorted(_embedded_of(store, space_id, documents))).values())
    preferred = set(incomplete(space_id, Scope(scope.collections, tuple(first)))) if first else set[int]()
    for is_preferred in (True, False):
        group = sorted((each for each in documents if (each in preferred) == is_preferred), key=embedded.__getitem__)
        ranked = [
            (embedded[document] + rank, id_)
            for document in group[:room]
            for rank, id_ in enumerate(_missing_of(store, space_id, document))
        ]
        yield from (id_ for _, id_ in sorted(ranked))


def _say_what_is_missing(store: VectorStore, space_id: int, before: Coverage, reached: Coverage) -> None:
    missing = f"{reached.chunks - reached.embedded:,} of {reached.chunks:,} passages"
    if not before.embedded and store.tables.vectors.other_spaces(space_id):
        message = f"the embedding model has changed: {missing} are not embedded with the new one"
    else:
        message = f"{missing} are not embedded yet: those are found by their words alone"
    store.say_once("coverage", message, "`asky corpus sync --all` embeds them")
