"""What embedding costs, as ratios of CPU time within one run."""

from __future__ import annotations

import os
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from asky.research.chunker import ChunkSettings, chunk_document
from asky.research.embeddings import EmbeddingClient, EmbeddingSettings
from asky.values import Document
from tests.support.tiny_model import published_model

pytestmark = [pytest.mark.slow, pytest.mark.model]

ROOT = Path(__file__).parents[2]
FEWEST_ROUNDS, MOST_ROUNDS = 3, 12
SYLLABLES = [
    "ka",
    "lo",
    "mi",
    "ter",
    "ben",
    "dra",
    "sol",
    "ing",
    "ation",
    "re",
    "pro",
    "con",
    "ver",
    "da",
    "tu",
    "po",
    "li",
    "ne",
    "sa",
    "wo",
]

EMBED_ONE = """
from asky.research.embeddings import EmbeddingClient, EmbeddingSettings
EmbeddingClient(EmbeddingSettings()).embed_query("What is it?")
"""


def sentences(count: int, seed: int) -> list[str]:
    chance = random.Random(seed)
    vocabulary = ["".join(chance.choices(SYLLABLES, k=chance.choice((1, 1, 2, 2, 3)))) for _ in range(3000)]
    return [" ".join(chance.choices(vocabulary, k=chance.randint(6, 30))).capitalize() + "." for _ in range(count)]


def passages(count: int) -> list[str]:
    """Texts of 60 to 190 words, as chunks are."""
    chance = random.Random(7)
    supply = iter(sentences(count * 12, 8))
    return [" ".join(next(supply) for _ in range(chance.randint(4, 11))) for _ in range(count)]


def cpu_s(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def least_cpu_s(slow: Callable[[], float], quick: Callable[[], float], *, wanted: float) -> tuple[float, float]:
    """The least that each says it took; they take turns, so that a slow spell of the machine is no one's alone.

    They go on until the first takes `wanted` times as long as the second, for as many rounds as such a spell may last.
    """
    rounds: list[tuple[float, float]] = []
    least = (0.0, 1.0)
    while len(rounds) < FEWEST_ROUNDS or (len(rounds) < MOST_ROUNDS and least[0] < wanted * least[1]):
        rounds.append((slow(), quick()))
        least = (min(each for each, _ in rounds), min(each for _, each in rounds))
    return least


def child_cpu_s(*arguments: str) -> float:
    def spent() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = spent()
    subprocess.run(
        [sys.executable, "-c", *arguments], cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=True
    )
    return spent() - before


def test_throughput_is_above_that_of_sentence_transformers() -> None:
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(1)  # its best: two threads take more CPU time than they save
    texts = passages(64)
    embedder = EmbeddingClient(EmbeddingSettings())
    embedder.embed(texts[:2])
    library = SentenceTransformer(str(published_model()), device="cpu")
    library.encode(texts[:2])
    theirs, ours = least_cpu_s(
        lambda: cpu_s(lambda: library.encode(texts, batch_size=32, normalize_embeddings=True)),
        lambda: cpu_s(lambda: embedder.embed(texts)),
        wanted=1.8,
    )
    print(f"\ntexts a CPU second: {len(texts) / ours:.1f}, sentence-transformers {len(texts) / theirs:.1f}")
    assert theirs / ours >= 1.8


def test_chunking_is_a_small_part_of_embedding() -> None:
    embedder = EmbeddingClient(EmbeddingSettings())
    document = Document("\n\n".join(passages(200)), "text/plain")
    size = ChunkSettings(200, 32)
    chunks = chunk_document(document, embedder.tokenizer, size)
    sample = [document.text[chunk.span.start : chunk.span.end] for chunk in chunks[:48]]
    embedding, chunking = least_cpu_s(
        lambda: cpu_s(lambda: embedder.embed(sample)) / len(sample),
        lambda: cpu_s(lambda: chunk_document(document, embedder.tokenizer, size)) / len(chunks),
        wanted=25,
    )
    print(f"\n{1 / chunking:.0f} chunks a CPU second, {100 * chunking / embedding:.1f} % of embedding them")
    assert chunking / embedding < 0.04


def test_a_fresh_process_embeds_a_question_for_a_few_imports_of_numpy() -> None:
    numpy, cold = least_cpu_s(lambda: child_cpu_s("import numpy"), lambda: child_cpu_s(EMBED_ONE), wanted=1 / 8)
    print(f"\n{1000 * cold:.0f} ms of CPU, import numpy {1000 * numpy:.0f} ms")
    assert cold / numpy < 8
