"""Verdicts of models that read a passage and a claim together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from asky.errors import NotConfigured
from asky.research.embedding.cross_encoder import CrossEncoder, Pair
from asky.research.judging.entailment_judge import EntailmentJudge
from asky.research.judging.judge import CitedClaim, ModelVerdict
from asky.values import Evidence, Location, Source, Span


def claim(*passages: str, number: int = 0) -> CitedClaim:
    shown = tuple(
        Evidence(f"P{at}", Source("s1", "file", "file:///a.md", "A"), 1, "", Span(0, len(text)), text, Location())
        for at, text in enumerate(passages)
    )
    return CitedClaim(number, "The tide is high.", shown)


def judged(labels: tuple[str, ...], outputs: Sequence[Sequence[float]], *claims: CitedClaim) -> dict[int, ModelVerdict]:
    rows = iter(outputs)

    def read(pairs: Sequence[Pair]) -> Any:
        return np.array([next(rows) for _ in pairs], dtype=np.float32)

    return EntailmentJudge("nli", lambda: CrossEncoder(labels, read)).verdicts(claims)


THREE = ("entailment", "neutral", "contradiction")


@pytest.mark.parametrize(
    ("outputs", "verdict"),
    [
        ((2.0, 0.0, 0.0), "supported"),
        ((0.0, 0.0, 2.0), "contradicted"),
        ((0.0, 3.0, 0.0), "unsupported"),
        ((1.0, 1.4, 0.0), "partial"),
    ],
)
def test_the_verdict_follows_from_the_likeliest_relation(outputs: tuple[float, ...], verdict: str) -> None:
    found = judged(THREE, [outputs], claim("One passage."))[0]
    assert found.verdict == verdict
    assert math.isclose(found.score, math.exp(outputs[0]) / sum(map(math.exp, outputs)), rel_tol=1e-5)


def test_the_passage_that_supports_most_decides() -> None:
    found = judged(THREE, [(0.0, 0.0, 5.0), (5.0, 0.0, 0.0)], claim("It is low.", "It is high."))
    assert found[0].verdict == "supported"


def test_a_model_with_one_output_gives_a_probability() -> None:
    found = judged(("score",), [(0.0,), (-3.0,)], claim("a", number=4), claim("b", number=7))
    assert (found[4].score, found[4].verdict, found[7].verdict) == (0.5, "supported", "unsupported")


def test_a_model_with_two_outputs_supports_by_its_last() -> None:
    assert judged(("no", "yes"), [(0.0, 3.0)], claim("a"))[0].verdict == "supported"


def test_three_labels_without_entailment_are_refused() -> None:
    with pytest.raises(NotConfigured, match="red, green, blue"):
        judged(("red", "green", "blue"), [(0.0, 0.0, 0.0)], claim("a"))


def test_a_long_passage_is_read_in_windows_of_whole_sentences() -> None:
    sentence = "The water rises and falls twice a day here."
    windows: list[str] = []

    def read(pairs: Sequence[Pair]) -> Any:
        windows.extend(passage for passage, _ in pairs)
        return np.zeros((len(pairs), 1), dtype=np.float32)

    text = " ".join([sentence] * 100)
    EntailmentJudge("nli", lambda: CrossEncoder(("score",), read)).verdicts([claim(text)])
    assert sum(each.count("twice") for each in windows) == 100
    assert len(windows) == 5
    assert all(each.endswith("here.") and len(each.split()) <= 220 for each in windows)


def test_a_passage_without_words_gives_no_verdict() -> None:
    assert judged(THREE, [], claim("  ")) == {}
