"""The page of an evaluation: its plots, its tables, and the questions that were not right first."""

from __future__ import annotations

from typing import Any

from asky.report.evaluation_page import render_evaluation


def outcome(name: str, fault: str | None) -> dict[str, Any]:
    return {
        "id": name,
        "question": f"What is {name}?",
        "answerable": True,
        "facts": [["x", "y"]],
        "sources": ["a.md"],
        "ranking": ["/docs/a.md"],
        "first_rank": 1,
        "measures": {"right": 0.0 if fault else 1.0},
        "answered": True,
        "right": fault is None,
        "confidence": 0.5,
        "cited": [{"title": "A", "path": "/docs/a.md", "url": None}],
        "answer": f"It is {name} [1].",
        "stopped_by": None,
        "fault": fault,
    }


def variant(name: str, value: float, **more: Any) -> dict[str, Any]:
    def figure(mean: float) -> dict[str, Any]:
        return {"value": mean, "low": max(0.0, mean - 0.1), "high": mean + 0.1 if mean else 0.0, "questions": 2}

    return {
        "name": name,
        "measures": {"right": figure(value), "claims_partial": figure(0.0)},
        "differences": {},
        "curve": None,
        "usage": None,
        "results": [outcome("fine", None), outcome("odd", "lacks “x” / “y”")],
        **more,
    }


def page(*variants: dict[str, Any], **more: Any) -> str:
    questions = {"name": "q.jsonl", "count": 2, "answerable": 2, "documents": 3, "problems": []}
    found = {"questions": questions, "model": "extractive", "mode": "standard", "complete": True, "gate": None}
    return render_evaluation(
        {**found, "interval": {"confidence": 0.95, "samples": 2000}, "variants": variants, **more}, tool="asky test"
    )


def test_a_value_is_a_dot_at_its_place_on_its_interval() -> None:
    shown = page(variant("as configured", 0.5))
    assert "<title>0.500 [0.400, 0.600]</title>" in shown
    # the axis goes from 150 to 700: the dot is in its middle, the whisker from 370 to 480
    assert '<circle cx="425.0"' in shown
    assert '<line x1="370.0"' in shown
    assert 'x2="480.0"' in shown


def test_verdicts_that_no_sentence_has_are_in_the_table_and_not_in_the_plot() -> None:
    shown = page(variant("as configured", 0.5))
    assert "verdicts: partial" not in shown
    assert "<code>claims_partial</code>" in shown


def test_the_curve_of_each_variant_is_a_line() -> None:
    points = [{"threshold": 0.9, "share": 0.5, "precision": 1.0}, {"threshold": 0.1, "share": 1.0, "precision": 0.5}]
    shown = page(variant("one", 0.5), variant("two", 0.6, curve=points))
    # across from 150 to 700, up from 312 to 12
    assert '<polyline points="425.0,12.0 700.0,162.0" class="curve v1">' in shown
    assert "Precision over the share answered" in shown


def test_a_difference_that_excludes_zero_is_bold() -> None:
    difference = {"right": {"value": 0.1, "low": 0.02, "high": 0.2}}
    shown = page(variant("one", 0.5), variant("two", 0.6, differences=difference))
    assert '<td class="figure apart">0.600<br><span class="why">+0.100 [+0.020, +0.200]</span></td>' in shown


def test_questions_that_were_not_right_come_first_with_the_reason() -> None:
    shown = page(variant("as configured", 0.5))
    assert shown.index("What is odd?") < shown.index("What is fine?")
    assert "lacks “x” / “y”" in shown
    assert "1 of 2 were not right." in shown


def test_the_page_says_what_failed_and_what_is_left() -> None:
    check = {"variant": "as configured", "passed": False, "text": "right is 0.500; the gate wants at least 0.9"}
    shown = page(variant("as configured", 0.5), gate={"passed": False, "checks": [check]}, complete=False)
    assert '<li class="failed">failed: as configured: right is 0.500; the gate wants at least 0.9</li>' in shown
    assert "Not complete: questions are left to measure." in shown
