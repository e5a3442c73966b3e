"""An embedder without a model: deterministic, quick, and close where texts share words."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from zlib import crc32

import numpy as np
import numpy.typing as npt

_WORD = re.compile(r"\w+")
_TOKEN = re.compile(r"\w{1,8}|[^\w\s]")


class FakeTokenizer:
    """Tokens are runs of at most 8 word characters, and single marks of punctuation."""

    def offsets(self, text: str) -> list[tuple[int, int]]:
        return [match.span() for match in _TOKEN.finditer(text)]

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(_TOKEN.findall(text)) for text in texts]


class FakeEmbedder:
    """A hashed bag of words: `dim` buckets, the last of which is the same for every text so that no vector is zero.

    `embedded` lists every text that `embed` was given, in order; `queries` those of `embed_query`.
    """

    def __init__(self, *, dim: int = 64, max_tokens: int = 254, fingerprint: str = "fake-64-1") -> None:
        self.dim = dim
        self.max_tokens = max_tokens
        self.fingerprint = fingerprint
        self.tokenizer = FakeTokenizer()
        self.embedded: list[str] = []
        self.queries: list[str] = []

    def embed(
        self, texts: Sequence[str], *, progress: Callable[[int, int], None] | None = None
    ) -> npt.NDArray[np.float32]:
        self.embedded.extend(texts)
        vectors = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            row[:] = self._vector(text)
        if progress and texts:
            progress(len(texts), len(texts))
        return vectors

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        self.queries.append(text)
        return self._vector(text)

    def embed_queries(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        return np.stack([self.embed_query(text) for text in texts]) if texts else self.embed([])

    def _vector(self, text: str) -> npt.NDArray[np.float32]:
        kept = self.tokenizer.offsets(text)[: self.max_tokens]
        seen = text[: kept[-1][1]] if kept else ""
        vector = np.zeros(self.dim, dtype=np.float32)
        vector[-1] = 0.1
        for word in _WORD.findall(seen.lower()):
            vector[crc32(word.encode("utf-8", "surrogatepass")) % (self.dim - 1)] += 1.0
        vector /= np.linalg.norm(vector)
        return vector
