"""Floor of questions over two documents of which the first leads to the second: both must be cited.

The questions of HotpotQA that their authors call bridge questions, asked through the product. An abstention cites none.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from asky.evaluation.intervals import bootstrap
from tests.quality.corpora import Corpora
from tests.quality.test_answers import ask, read_lines

pytestmark = [pytest.mark.slow, pytest.mark.model, pytest.mark.timeout(1800)]

SET = "hotpot200"
SHA256 = "437cb517162ef7c93535b84369034e31b664aedc99540f712af8ecbc449af351"
BOTH = 0.43
"""Measured, less .01: .440 [.358, .530] with the reader; by rules .485 [.403, .567], and .433 with one of
both quoted, .366 [.284, .448] without following links.
"""


def test_bridge_questions_are_answered_with_both_documents_cited(data_folder: Path, corpora: Corpora) -> None:
    corpus = corpora.open(SET)
    assert corpus.data.sha256 == SHA256, "the floor was measured on other data"
    kinds = {row["_id"]: row["type"] for row in read_lines(data_folder / SET / "queries.jsonl")}
    both = []
    for question in corpus.data.judged:
        if kinds[question.id] == "bridge":
            answer = ask(corpus, question.text)
            cited = {each.source.external_id for each in answer.citations}
            both.append(float(answer.stopped_by != "no_evidence" and question.relevant.keys() <= cited))
    print(f"\n{len(both)} bridge questions, both documents cited: {bootstrap(both)}")
    assert sum(both) / len(both) >= BOTH
