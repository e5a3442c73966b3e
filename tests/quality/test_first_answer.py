"""The first question over a new folder: it must not wait for the whole embedding, and hardly lose by it.

The folder holds a thousand files of about seven chunks each, cut from two sets; the questions are those of the sets.
"""

from __future__ import annotations

import hashlib
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest

from asky.evaluation.intervals import bootstrap
from asky.evaluation.questions import CorpusText
from asky.storage.corpus import DEFAULT_COLLECTION
from asky.storage.scope import Scope
from tests.quality.corpora import Corpora, RememberingServices, environ_in, services_in
from tests.quality.datasets import RetrievalSet, load_set, subset

pytestmark = [pytest.mark.slow, pytest.mark.model]

ROOT = Path(__file__).parents[2]
FILES = 1000
QUESTIONS_OF_A_SET = 60
ASKED = 3
"""Questions whose first answer is timed; a process and a fresh store each."""


@dataclass(frozen=True, slots=True)
class Folder:
    """The folder, its questions, its store with every chunk embedded, and the CPU seconds that embedding took."""

    path: Path
    questions: tuple[str, ...]
    services: RememberingServices
    scope: Scope
    embedding_s: float


@pytest.fixture(scope="module")
def folder(data_folder: Path, corpora: Corpora, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Folder]:
    root = tmp_path_factory.mktemp("first")
    share_cache(corpora.folder, root)
    sets = [subset(load_set(data_folder / "squad2_articles"), 95), load_set(data_folder / "covidqa")]
    write_files(root / "files", [document for each in sets for document in each.documents])
    services = services_in(root, "full")
    services.embedder.embed_query("opens the model")
    collection = services.corpus.collection(DEFAULT_COLLECTION, create=True)
    anyio.run(services.acquirer.sync, collection, services.only([root / "files"]))
    scope = Scope((collection,))
    started = time.process_time()
    anyio.run(services.acquirer.embed, scope)
    spent = time.process_time() - started
    yield Folder(root / "files", tuple(text for each in sets for text in sampled(each)), services, scope, spent)
    services.close()


def share_cache(owner: Path, other: Path) -> None:
    """Let `other` use the exported model of `owner`: what it costs once is not what is measured."""
    (owner / "cache").mkdir(parents=True, exist_ok=True)
    (other / "cache").symlink_to(owner / "cache")


def write_files(folder: Path, documents: list[CorpusText]) -> None:
    """Cut the documents at ends of sentences into about `FILES` files of like length."""
    folder.mkdir()
    size = sum(len(each.text) for each in documents) // FILES
    for each in documents:
        for number, part in enumerate(parts(each.text, size)):
            (folder / f"{each.id.replace('/', '_')} {number}.txt").write_text(part, encoding="utf-8")


def parts(text: str, size: int) -> Iterator[str]:
    count = max(1, round(len(text) / size))
    start = 0
    for number in range(1, count + 1):
        end = text.find(". ", len(text) * number // count) + 1
        end = end if end > 0 and number < count else len(text)
        if text[start:end].strip():
            yield text[start:end].strip() + "\n"
        start = end


def sampled(data: RetrievalSet) -> list[str]:
    texts = sorted((each.text for each in data.judged), key=lambda text: hashlib.sha256(text.encode()).digest())
    return texts[:QUESTIONS_OF_A_SET]


def top_source(folder: Folder, question: str) -> str | None:
    hits = folder.services.vectors.search_content_chunks(question, folder.scope, limit=10)
    return hits[0].source.id if hits else None


def test_the_first_search_finds_the_source_that_full_embedding_finds(folder: Folder) -> None:
    whole = {question: top_source(folder, question) for question in folder.questions}
    same: list[bool] = []
    for question in folder.questions:
        folder.services.vectors.clear_cache_embeddings(folder.scope)
        same.append(top_source(folder, question) == whole[question])
    files = len(folder.services.corpus.sources(folder.scope))
    print(f"\nsame top source: {bootstrap(same)} of {len(same)} questions over {files} files")
    assert sum(same) >= 0.9 * len(same)


def test_the_first_answer_costs_a_tenth_of_the_embedding(folder: Folder, tmp_path: Path) -> None:
    share_cache(folder.path.parent, tmp_path)
    spent = []
    for number, question in enumerate(folder.questions[:: len(folder.questions) // ASKED][:ASKED]):
        before = children_s()
        done = subprocess.run(
            [sys.executable, "-m", "asky", "-r", "-q", "-d", str(folder.path), question],
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **environ_in(tmp_path, str(number))},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        spent.append(children_s() - before)
        assert done.returncode in (0, 11), done.stderr
        assert done.returncode == 11 or "[1]" in done.stdout
    shares = [100 * each / folder.embedding_s for each in spent]
    print(f"\nembedding {folder.embedding_s:.0f} s of CPU; first answer", end=" ")
    print(", ".join(f"{each:.1f} s ({percent:.1f} %)" for each, percent in zip(spent, shares, strict=True)))
    assert max(shares) <= 10


def children_s() -> float:
    """CPU seconds of the children that have ended, and of theirs."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
