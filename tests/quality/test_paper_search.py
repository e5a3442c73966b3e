"""Does going from summaries to texts find as much as searching all texts at once? Questions about papers of a library.

Of what a reference answer says, the share is measured whose content words stand in the passages that are found.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio
import pytest

from asky.evaluation.intervals import bootstrap
from asky.papers.catalog import CONTENT, CONTENT_CUTOFF
from asky.research.ranking import Selection
from asky.storage.papers import PaperTable
from asky.storage.scope import Scope
from asky.text.terms import content_terms
from asky.values import Hit
from tests.quality.corpora import Corpora, RememberingServices, services_in

pytestmark = [pytest.mark.slow, pytest.mark.model]

_SETS = ("aragog", "arxiv_pdfs", "jose_papers")
_PASSAGES = 15
_FLOOR = 0.81
"""Measured, less .01, on the questions with the hash below."""
_SHA256 = "7d3d13092957d5e573893ab8ca6ef59ebb45f8cf27c274e3b54f0249bc352c5a"


@dataclass(frozen=True, slots=True)
class Question:
    """A question about the papers whose files are called `papers`, and the content words of its answer."""

    id: str
    text: str
    words: frozenset[str]
    papers: tuple[str, ...]


@pytest.fixture(scope="module")
def questions(data_folder: Path) -> list[Question]:
    (path,) = (data_folder / "aragog").rglob("queries*.jsonl")
    assert hashlib.sha256(path.read_bytes()).hexdigest() == _SHA256, "the floor was measured on other questions"
    return [
        Question(row["_id"], row["text"], frozenset(content_terms(row["answer"])), tuple(row["derived_paper_guess"]))
        for row in map(json.loads, path.read_text("utf-8").splitlines())
    ]


@pytest.fixture(scope="module")
def library(data_folder: Path, corpora: Corpora) -> Iterator[RememberingServices]:
    with services_in(corpora.folder, "papers") as services:
        anyio.run(partial(services.papers.add, [data_folder / name / "papers" for name in _SETS]))
        anyio.run(services.papers.retry)  # a kept store may be of another version
        yield services


def test_stage_2_finds_at_least_what_a_search_of_all_texts_finds(
    library: RememberingServices, questions: list[Question]
) -> None:
    """Measured: .823 of the words in the passages of stage 2, .822 in those of the same selection from all texts.

    The difference is .002 [-.015, .021] over 13 questions; each question's paper is among those of stage 1.
    """
    ids = papers_by_file(library)
    flat, staged, named = [], [], 0
    for each in questions:
        papers, hits = staged_hits(library, each)
        flat.append(share(each, flat_hits(library, each)))
        staged.append(share(each, hits))
        named += any(ids[stem] in papers for stem in each.papers)
        print(f"\n{each.id}: {staged[-1]:.2f} in {len(hits)} passages of {len(papers)} papers, {flat[-1]:.2f}", end="")
    gain = bootstrap([ours - theirs for ours, theirs in zip(staged, flat, strict=True)])
    print(f"\nstage 2 {bootstrap(staged)}, all texts {bootstrap(flat)}, difference {gain}; paper named in {named}")
    assert gain.mean >= 0
    assert sum(staged) / len(staged) >= _FLOOR
    assert named == len(questions)


def flat_hits(library: RememberingServices, question: Question) -> Sequence[Hit]:
    scope = Scope((library.corpus.collection(CONTENT),))
    chosen = Selection(CONTENT_CUTOFF, 0.6)
    return library.vectors.search_content_chunks(question.text, scope, limit=_PASSAGES, selection=chosen)


def staged_hits(library: RememberingServices, question: Question) -> tuple[list[str], Sequence[Hit]]:
    """The ids of the papers that stage 1 names, and the passages of stage 2."""
    summaries = anyio.run(library.papers.search_summary_index, question.text)
    papers = list(dict.fromkeys(each.paper.id for each in summaries))
    found = anyio.run(library.papers.search_content_index_filtered, question.text, papers, _PASSAGES)
    return papers, [each.hit for each in found]


def share(question: Question, hits: Sequence[Hit]) -> float:
    found = {term for each in hits for term in content_terms(each.text)}
    return len(question.words & found) / len(question.words)


def papers_by_file(library: RememberingServices) -> dict[str, str]:
    """The id of the paper in each file, by the file's name without suffix."""
    table = PaperTable(library.database)
    found = {Path(path).stem: table.with_content(file.content_sha256) for path, file in table.files().items()}
    return {stem: paper.id for stem, paper in found.items() if paper is not None}
