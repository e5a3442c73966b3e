"""Verdicts of a reader of claims on passages, window by window."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from asky.research.judging.entailment_judge import EntailmentJudge
from asky.research.judging.judge import CitedClaim, ModelVerdict
from asky.values import Evidence, Location, Source, Span


def claim(*passages: str, number: int = 0) -> CitedClaim:
    shown = tuple(
        Evidence(f"P{at}", Source("s1", "file", "file:///a.md", "A"), 1, "", Span(0, len(text)), text, Location())
        for at, text in enumerate(passages)
    )
    return CitedClaim(number, "The tide is high.", shown)


def judged(logits: Sequence[Sequence[float]], *claims: CitedClaim) -> dict[int, ModelVerdict]:
    """The verdicts by these logits of entailed, contradicted and neither, one row for each window."""

    def read(items: Sequence[tuple[str, str]]) -> Any:
        assert len(items) == len(logits)
        return np.array(logits, dtype=np.float32).reshape(-1, 3)

    return EntailmentJudge("nli", read).verdicts(claims)


@pytest.mark.parametrize(
    ("outputs", "verdict"),
    [
        ((2.0, 0.0, 0.0), "supported"),
        ((0.0, 2.0, 0.0), "contradicted"),
        ((0.0, 0.0, 3.0), "unsupported"),
        ((1.0, 0.0, 1.4), "partial"),
    ],
)
def test_the_verdict_follows_from_the_likeliest_relation(outputs: tuple[float, ...], verdict: str) -> None:
    found = judged([outputs], claim("One passage."))[0]
    assert found.verdict == verdict
    assert math.isclose(found.score, math.exp(outputs[0]) / sum(map(math.exp, outputs)), rel_tol=1e-5)


def test_the_passage_that_supports_most_decides() -> None:
    found = judged([(0.0, 5.0, 0.0), (5.0, 0.0, 0.0)], claim("It is low.", "It is high."))
    assert found[0].verdict == "supported"


def test_a_long_passage_is_read_in_windows_of_whole_sentences() -> None:
    sentence = "The water rises and falls twice a day here."
    windows: list[str] = []

    def read(items: Sequence[tuple[str, str]]) -> Any:
        windows.extend(passage for _, passage in items)
        return np.zeros((len(items), 3), dtype=np.float32)

    text = " ".join([sentence] * 100)
    EntailmentJudge("nli", read).verdicts([claim(text)])
    assert sum(each.count("twice") for each in windows) == 100
    assert len(windows) == 5
    assert all(each.endswith("here.") and len(each.split()) <= 220 for each in windows)


def test_a_passage_without_words_gives_no_verdict() -> None:
    assert judged([], claim("  ")) == {}
