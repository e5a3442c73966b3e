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
from asky.research.embedding.models import find_model_folder
from asky.research.embeddings import EmbeddingClient, EmbeddingSettings
from asky.values import Document

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
import sys
from pathlib import Path
from asky.research.embeddings import EmbeddingClient, EmbeddingSettings
EmbeddingClient(EmbeddingSettings(Path(sys.argv[1]), precision=sys.argv[2])).embed_query("What is it?")
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


def client(cache: Path, precision: str = "fp32") -> EmbeddingClient:
    return EmbeddingClient(EmbeddingSettings(cache, precision=precision, local_files_only=True))  # type: ignore[arg-type]  # both are


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


def test_throughput_is_above_that_of_sentence_transformers(model_cache: Path) -> None:
    from sentence_transformers import SentenceTransformer

    texts = passages(64)
    embedder = client(model_cache)
    embedder.embed(texts[:2])
    library = SentenceTransformer(str(find_model_folder("all-MiniLM-L6-v2", local_files_only=True)), device="cpu")
    library.encode(texts[:2])
    theirs, ours = least_cpu_s(
        lambda: cpu_s(lambda: library.encode(texts, batch_size=32, normalize_embeddings=True)),
        lambda: cpu_s(lambda: embedder.embed(texts)),
        wanted=1.2,
    )
    print(f"\ntexts a CPU second: {len(texts) / ours:.1f}, sentence-transformers {len(texts) / theirs:.1f}")
    assert theirs / ours >= 1.2


def test_int8_is_quicker_than_fp32(model_cache: Path) -> None:
    texts = passages(64)
    whole, small = client(model_cache), client(model_cache, "int8")
    for embedder in (whole, small):
        embedder.embed(texts[:2])
    fp32, int8 = least_cpu_s(
        lambda: cpu_s(lambda: whole.embed(texts)), lambda: cpu_s(lambda: small.embed(texts)), wanted=1.4
    )
    print(f"\ntexts a CPU second: fp32 {len(texts) / fp32:.1f}, int8 {len(texts) / int8:.1f}")
    assert fp32 / int8 >= 1.4


def test_chunking_is_a_small_part_of_embedding(model_cache: Path) -> None:
    embedder = client(model_cache)
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


def test_a_fresh_process_embeds_a_question_for_a_few_imports_of_numpy(model_cache: Path) -> None:
    client(model_cache).embed_query("exports the model")
    numpy, cold = least_cpu_s(
        lambda: child_cpu_s("import numpy"), lambda: child_cpu_s(EMBED_ONE, str(model_cache), "fp32"), wanted=1 / 8
    )
    print(f"\n{1000 * cold:.0f} ms of CPU, import numpy {1000 * numpy:.0f} ms")
    assert cold / numpy < 8
