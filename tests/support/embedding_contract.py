"""What every embedder does, whatever is behind it. A test class inherits this and gives the fixture `embedder`."""

from __future__ import annotations

import numpy as np
import pytest

from asky.research.embedding.embedder import Embedder

TEXTS = [
    "Paris is the capital of France.",
    "",
    "Bananas and other fruit grow in warm countries, and bananas are yellow when they are ripe.",
    "France",
    "日本語の文章 👩‍👩‍👧 é e\u0301",
    "a very long text " * 400,
]


class EmbedderContract:
    def test_a_vector_a_text_of_unit_length_in_order(self, embedder: Embedder) -> None:
        vectors = embedder.embed(TEXTS)
        assert vectors.shape == (len(TEXTS), embedder.dim)
        assert vectors.dtype == np.float32
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-3)
        for text, vector in zip(TEXTS, vectors, strict=True):
            assert float(embedder.embed([text])[0] @ vector) > 0.999

    def test_no_texts_give_no_vectors(self, embedder: Embedder) -> None:
        assert embedder.embed([]).shape == (0, embedder.dim)

    def test_a_question_is_nearer_to_its_answer_than_to_another_text(self, embedder: Embedder) -> None:
        question = embedder.embed_query("What is the capital of France?")
        assert question.shape == (embedder.dim,)
        assert float(np.linalg.norm(question)) == pytest.approx(1.0, abs=1e-3)
        answer, other = embedder.embed([TEXTS[0], TEXTS[2]]) @ question
        assert answer > other

    def test_what_lies_beyond_the_window_is_not_seen(self, embedder: Embedder) -> None:
        words = ["bananas"] * (embedder.max_tokens + 50)
        short, long = embedder.embed([" ".join(words), " ".join([*words, "France", "Paris"] * 2)])
        assert float(short @ long) > 0.9999

    def test_a_text_of_exactly_the_window_is_seen_whole(self, embedder: Embedder) -> None:
        text = "bananas are yellow "
        while embedder.tokenizer.count([text + "is"])[0] < embedder.max_tokens:
            text += "is "
        assert embedder.tokenizer.count([text + "France"])[0] == embedder.max_tokens
        one, other = embedder.embed([text + "France", text + "is"])
        assert float(np.abs(one - other).max()) > 1e-4

    def test_progress_reaches_the_number_of_texts(self, embedder: Embedder) -> None:
        seen: list[tuple[int, int]] = []
        embedder.embed(TEXTS, progress=lambda done, total: seen.append((done, total)))
        assert seen[-1] == (len(TEXTS), len(TEXTS))
        assert [done for done, _ in seen] == sorted({done for done, _ in seen})

    @pytest.mark.parametrize("text", [*TEXTS, "\ud800 half a pair", "\x00\x01", "a" * 5000])
    def test_tokens_lie_in_the_text_in_order(self, embedder: Embedder, text: str) -> None:
        offsets = list(embedder.tokenizer.offsets(text))
        assert embedder.tokenizer.count([text, text]) == [len(offsets)] * 2
        assert all(0 <= start <= end <= len(text) for start, end in offsets)
        assert offsets == sorted(offsets)
        assert embedder.embed([text]).shape == (1, embedder.dim)

    def test_the_fingerprint_stays_the_same(self, embedder: Embedder) -> None:
        before = embedder.fingerprint
        embedder.embed(["text"])
        assert before
        assert embedder.fingerprint == before
