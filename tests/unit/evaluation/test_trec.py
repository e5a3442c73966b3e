"""Judgements and rankings in trec_eval's formats, in its order."""

from __future__ import annotations

from pathlib import Path

import pytest

from asky.app.evaluation.trec import measure_runs
from asky.errors import UsageError
from asky.evaluation.trec import ordered, read_trec_run, run_lines


def test_equal_scores_are_ordered_by_name_the_last_first() -> None:
    assert ordered({"a": 1.0, "c": 1.0, "b": 2.0}) == ("b", "c", "a")


def test_scores_are_compared_in_single_precision() -> None:
    # 1 + 1e-9 is 1 in single precision, so that the name decides
    assert ordered({"a": 1.000000001, "b": 1.0}) == ("b", "a")
    assert ordered({"a": 1e300, "b": 1.0}) == ("a", "b")


def test_the_ranks_of_a_file_are_ignored(tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    path.write_text("q1 Q0 a 1 0.1 tag\nq1 Q0 b 2 0.2 tag\n", "utf-8")
    assert read_trec_run(path) == {"q1": ("b", "a")}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("q1 Q0 a 1 0.1\n", "line 1: 5 columns instead of 6"),
        ("q1 Q0 a 1 high tag\n", "line 1: the score is no number"),
        ("q1 Q0 a 1 1 tag\nq1 Q0 a 2 2 tag\n", "line 2: 'a' is ranked twice for 'q1'"),
        ("", "no rankings"),
    ],
)
def test_a_run_in_error_is_refused(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "run.txt"
    path.write_text(content, "utf-8")
    with pytest.raises(UsageError, match=message):
        read_trec_run(path)


def test_a_ranking_that_is_written_is_read_in_the_same_order(tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    names = ["z", "a", "m n", *(f"d{n}" for n in range(97))]
    path.write_text("".join(run_lines("q1", names, "asky")), "utf-8")
    assert read_trec_run(path) == {"q1": ("z", "a", "m_n", *names[3:])}


def test_runs_are_measured_as_trec_eval_does_with_every_judged_query(tmp_path: Path) -> None:
    """By hand: q1 has a relevant document at rank 2 of its two, q2 is not in the run and counts 0, q3 has none."""
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("q1 0 a 1\nq1 0 b 1\nq1 0 x 0\nq2 0 a 1\nq3 0 a 0\n", "utf-8")
    run = tmp_path / "run.txt"
    run.write_text("q1 Q0 x 1 3 t\nq1 Q0 a 2 2 t\nq9 Q0 a 1 1 t\n", "utf-8")
    result = measure_runs(qrels, [run])
    (_, _, summary), *_ = result.summaries()
    values = {name: each.interval.mean for name, each in summary.figures.items()}
    dcg, ideal = 1 / 1.584962500721156, 1 + 1 / 1.584962500721156
    assert values == pytest.approx(
        {"ndcg_cut_10": dcg / ideal / 2, "recall_10": 0.25, "recip_rank": 0.25, "map": 0.125}
    )
    assert [(each.place, each.kind) for each in result.problems] == [
        ("query q3", "no_positives"),
        ("query q2", "unranked"),
        ("query q3", "unranked"),
        ("query q9", "unjudged"),
    ]


def test_judgements_in_error_are_refused(tmp_path: Path) -> None:
    qrels, run = tmp_path / "qrels.txt", tmp_path / "run.txt"
    run.write_text("q1 Q0 x 1 3 t\n", "utf-8")
    for content, message in (
        ("q1 0 a\n", "line 1: 3 columns instead of 4"),
        ("q1 0 a yes\n", "line 1: a judgement has"),
        ("q1 0 a 1\nq1 0 a 2\n", "judged twice for 'q1', differently"),
        ("q1 0 a 0\n", "no query has a relevant document"),
        ("\n", "no judgements"),
    ):
        qrels.write_text(content, "utf-8")
        with pytest.raises(UsageError, match=message):
            measure_runs(qrels, [run])
