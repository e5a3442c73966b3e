"""What holds for the chunks of every text."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asky.research.chunker import ChunkSettings, Tokenizer, chunk_document
from asky.values import Chunk, Document, Page, Section
from tests.support.embedding import FakeTokenizer
from tests.support.timing import check_linear


class ContextTokenizer:
    """Sees a word at the start of a text in another way than inside it: a token more, and no space before it."""

    _TOKEN = re.compile(r" ?[^\W_]{1,6}|\s|[^\w\s]|_")

    def offsets(self, text: str) -> list[tuple[int, int]]:
        spans = [match.span() for match in self._TOKEN.finditer(text)]
        return [spans[0], *spans] if spans else []

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(self.offsets(text)) for text in texts]


WORDS = ["word ", "Sentence one. ", "Two? ", "x" * 40, "漢字。", "👩\u200d👩\u200d👧", "e\u0301", "\x01", "\ufeff"]
FORMS = ["\n", "\n\n", "# Head\n", "- item\n", "| a | b |\n", " ", "\t", ".", "1. ", "…", "\u2028"]
PIECES = st.sampled_from(WORDS + FORMS)
TEXTS = st.lists(PIECES | st.text(max_size=8), max_size=120).map("".join)
TOKENIZERS = st.sampled_from([FakeTokenizer(), ContextTokenizer()])


@st.composite
def documents(draw: st.DrawFn) -> Document:
    text = draw(TEXTS)
    starts = draw(st.lists(st.integers(0, len(text)), max_size=5).map(sorted))
    sections = tuple(Section(text[start : start + 5], 1, start, len(text)) for start in starts)
    ends = [*draw(st.lists(st.integers(0, len(text)), max_size=3).map(sorted)), len(text)]
    pages = tuple(Page(n, None, start, end) for n, (start, end) in enumerate(zip([0, *ends], ends, strict=False), 1))
    return Document(text, "text/plain", sections=sections, pages=pages)


SETTINGS = st.tuples(st.integers(16, 64), st.integers(0, 32)).map(lambda n: ChunkSettings(n[0], min(n[1], n[0] // 2)))


def check(document: Document, tokenizer: Tokenizer, size: ChunkSettings, chunks: Sequence[Chunk]) -> None:
    text = document.text
    covered = 0
    for ordinal, chunk in enumerate(chunks):
        start, end = chunk.span.start, chunk.span.end
        assert chunk.ordinal == ordinal
        assert text[covered:start].strip() == ""
        assert start < end
        assert end > covered
        assert text[start:end] == text[start:end].strip()
        assert not any(start < page.start < end for page in document.pages)
        covered = end
    assert text[covered:].strip() == ""
    starts = [chunk.span.start for chunk in chunks]
    assert starts == sorted(set(starts))
    counts = tokenizer.count([text[chunk.span.start : chunk.span.end] for chunk in chunks])
    assert max(counts, default=0) <= size.max_tokens


@settings(deadline=None)
@given(documents(), TOKENIZERS, SETTINGS)
def test_chunks_cover_the_text_in_order_within_the_limit_and_are_the_same_again(
    document: Document, tokenizer: Tokenizer, size: ChunkSettings
) -> None:
    chunks = chunk_document(document, tokenizer, size)
    check(document, tokenizer, size, chunks)
    assert chunk_document(document, tokenizer, size) == chunks


@pytest.mark.parametrize("max_tokens", range(16, 33))
def test_a_chunk_that_seems_to_fill_the_limit_exactly_is_counted_by_itself(max_tokens: int) -> None:
    """Its first word has a token more where the text begins with it."""
    size = ChunkSettings(max_tokens, 0)
    for text in ("Word. " * 200, "Sentence one. " * 60, "word " * 200):
        check(
            Document(text, "text/plain"),
            ContextTokenizer(),
            size,
            chunk_document(Document(text, "text/plain"), ContextTokenizer(), size),
        )


@pytest.mark.parametrize(
    "piece",
    ["a", "a ", "漢", "é", "e\u0301", "👩‍👩‍👧", ".", "- \n", "\x01\n\n", "# h\n", "\u200d", "word, ", "A sentence. "],
)
def test_odd_text_is_cut_in_linear_time(piece: str) -> None:
    size = ChunkSettings(200, 32)

    def document(chars: int) -> Document:
        return Document(piece * (chars // len(piece)), "text/plain")

    check_linear(lambda chars: chunk_document(document(chars), FakeTokenizer(), size), 6_000)
    long = document(48_000)
    check(long, FakeTokenizer(), size, chunk_document(long, FakeTokenizer(), size))
