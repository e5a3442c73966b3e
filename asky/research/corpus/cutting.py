"""A document's chunks, and the context that each is embedded and found with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from asky.research.chunker import ChunkSettings, chunk_document
from asky.research.corpus.file_names import name_words
from asky.research.excerpts.locations import SEPARATOR

if TYPE_CHECKING:
    from asky.config.schema import Chunking
    from asky.research.chunker import Tokenizer
    from asky.values import Chunk, Document, Section


def cut_document(
    document: Document, path: str, tokenizer: Tokenizer, chunking: Chunking
) -> tuple[list[Chunk], list[str]]:
    """Return the document's chunks and the context of each; `path` is a file's, or ""."""
    settings = ChunkSettings(chunking.max_tokens, chunking.overlap_tokens)
    chunks = chunk_document(document, tokenizer, settings)
    return chunks, contexts_of(document, chunks, name_words(path, document.title))


def contexts_of(document: Document, chunks: Sequence[Chunk], names: str = "") -> list[str]:
    """Return the context of each chunk: the title and the headings above its first character, joined, or "".

    `names` follows on a line of its own: it is found by its words and not embedded, so that a file that is renamed or
    moved keeps its vectors. `chunks` are in the order of their starts, as sections are: a single pass covers both.

    Source: the pages of a documentation as files without titles, 44 questions: nDCG@10 .719 without names, .749 found
    by words, .747 embedded too; with titles .741, .753, .766; 95 articles as files, 103 questions: .986, .986, .982.
    """
    contexts = []
    sections = iter(document.sections)
    following = next(sections, None)
    open_: list[Section] = []
    for chunk in chunks:
        start = chunk.span.start
        while following is not None and following.start <= start:
            if following.end > start:
                open_.append(following)
            following = next(sections, None)
        open_ = [section for section in open_ if section.end > start]
        path = dict.fromkeys([document.title] if document.title else [])
        path.update(dict.fromkeys(section.heading for section in open_))
        headed = SEPARATOR.join(path)
        contexts.append(f"{headed}\n{names}" if names else headed)
    return contexts
