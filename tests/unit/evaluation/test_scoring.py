"""What one question adds to each measure, worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from asky.evaluation.abstention import CurvePoint, precision_at, precision_curve
from asky.evaluation.facts import missing_facts
from asky.evaluation.questions import EvalQuestion
from asky.evaluation.scoring import MEASURES, Scored, score
from asky.evaluation.sources import UNKNOWN, SourceNames
from asky.evaluation.summary import summarize
from asky.values import Source


def answer(text: str = "It is 12 fathoms deep [1].", *cited: str, **more: Any) -> dict[str, Any]:
    """An `asky.answer/1` object as far as it is judged."""
    return {
        "answer": text,
        "citations": [{"source_id": each} for each in cited],
        "claims": [{"verdict": "supported"}, {"verdict": "unsupported"}, {"verdict": "supported"}],
        "stopped_by": None,
        **more,
    }


DEEP = EvalQuestion(id="deep", text="How deep?", facts=(("12 fathoms",), ("low water", "ebb")), sources={"sea": 1})


# facts


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("It is 12 Fathoms deep.", "12 fathoms"),
        ("It costs 1,400 dollars.", "1400"),
        ("It costs 1400 dollars.", "1,400 dollars"),
        ("A state-of-the-art mill", "state of the art"),
        ("Paris [1] and Rome [2, 3]", "Paris and Rome"),
        ("grew by 40%", "40 %"),
        ("北京是中国的首都。", "首都"),
        ("the folder `.obsidian`", ".obsidian"),
        ("press ! twice", "!"),
    ],
)
def test_a_fact_is_held_whatever_its_spelling(text: str, fact: str) -> None:
    assert missing_facts(text, [(fact,)]) == ()


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("It is 112 fathoms deep.", "12 fathoms"),
        ("It is 12.5 fathoms deep.", "12"),
        ("In 1999 [2000] ships came", "2000"),
        ("twelve", "12"),
        ("ships", "ship"),
    ],
)
def test_a_fact_is_not_held_by_parts_of_words_numbers_and_markers(text: str, fact: str) -> None:
    assert missing_facts(text, [(fact,)]) == ((fact,),)


def test_any_form_of_a_fact_is_enough() -> None:
    assert missing_facts("It ebbs at ten.", DEEP.facts) == DEEP.facts
    assert missing_facts("12 fathoms at the ebb", DEEP.facts) == ()


# one question


def test_a_ranking_is_measured_by_documents_and_the_first_relevant_one_is_named() -> None:
    scored = score(DEEP, {"s1": 1}, ["s2", "s2", "s1"], None)
    assert scored.ratios["recip_rank"] == (0.5, 1.0)
    assert scored.first_rank == 2
    assert set(scored.ratios) == {"ndcg_cut_10", "recall_10", "recip_rank", "map"}


def test_an_answer_is_right_with_all_facts_and_an_expected_source() -> None:
    text = "It is 12 fathoms deep at the ebb [1][2]."
    scored = score(DEEP, {"s1": 1, "s9": 1}, None, answer(text, "s1", "s2", "s1"))
    assert scored.right is True
    assert {name: value for name, (value, _) in scored.ratios.items()} == {
        "answered": 1.0,
        "facts_all": 1.0,
        "facts_share": 1.0,
        "right_source": 1.0,
        "citation_recall": 0.5,
        "citation_precision": 0.5,
        "right": 1.0,
        "claims_supported": 2.0,
        "claims_partial": 0.0,
        "claims_unsupported": 1.0,
        "claims_contradicted": 0.0,
        "claims_uncited": 0.0,
    }
    assert scored.ratios["claims_supported"] == (2.0, 3.0)


def test_a_right_answer_from_another_source_is_not_right() -> None:
    scored = score(DEEP, {"s1": 1}, None, answer("12 fathoms at the ebb", "s2"))
    assert (scored.ratios["facts_all"][0], scored.ratios["right_source"][0], scored.right) == (1.0, 0.0, False)


def test_half_of_the_facts_are_half_of_them_and_not_right() -> None:
    scored = score(DEEP, {"s1": 1}, None, answer("12 fathoms [1]", "s1"))
    assert (scored.ratios["facts_share"][0], scored.right, scored.missing) == (0.5, False, (("low water", "ebb"),))


def test_a_question_that_is_declined_has_no_facts_no_citations_and_no_verdicts() -> None:
    """The passages that an abstention shows are no answer, even where they hold one."""
    scored = score(DEEP, {"s1": 1}, None, answer("12 fathoms at the ebb", "s1", stopped_by="no_evidence"))
    assert (scored.answered, scored.right, scored.missing) == (False, False, DEEP.facts)
    assert scored.ratios["citation_recall"] == (0.0, 1.0)
    assert "citation_precision" not in scored.ratios
    assert not [name for name in scored.ratios if name.startswith("claims")]


def test_a_question_without_an_answer_is_right_if_it_is_declined() -> None:
    none = EvalQuestion(id="x", text="x", answerable=False)
    declined = score(none, {}, None, answer("", stopped_by="no_evidence"))
    assert (declined.right, declined.ratios) == (True, {"declined": (1.0, 1.0)})
    given = score(none, {}, None, answer())
    assert (given.right, given.ratios["declined"]) == (False, (0.0, 1.0))


def test_a_question_that_says_nothing_of_its_answer_is_neither_right_nor_wrong() -> None:
    scored = score(EvalQuestion(id="x", text="x"), {}, ["s1"], answer())
    assert scored.right is None
    assert {name for name in scored.ratios if not name.startswith("claims")} == {"answered"}


def test_every_measure_is_one_that_a_table_knows() -> None:
    scored = score(DEEP, {"s1": 1}, ["s1"], answer("x", "s1"))
    assert set(scored.ratios) <= set(MEASURES)


@pytest.mark.parametrize(
    ("fields", "confidence"),
    [
        ({"confidence": 0.8, "relevance": 0.1}, 0.8),
        ({"confidence": None, "relevance": 0.1}, None),
        ({"relevance": 0.1}, 0.1),
        ({}, None),
        ({"confidence": True}, None),
    ],
)
def test_the_confidence_of_an_answer_is_read_if_it_has_one(fields: dict[str, Any], confidence: float | None) -> None:
    assert score(DEEP, {}, None, answer(**fields)).confidence == confidence
    assert score(DEEP, {}, None, answer(stopped_by="no_evidence", **fields)).confidence is None


# all questions


def given(name: str, confidence: float, *, right: bool, answerable: bool = True) -> Scored:
    return Scored(id=name, answerable=answerable, answered=True, right=right, confidence=confidence)


def test_the_curve_answers_the_surest_first_and_equal_ones_together() -> None:
    """Four answerable questions, one of them declined, and one without an answer that got one."""
    scored = [
        given("a", 0.9, right=True),
        given("b", 0.5, right=False),
        given("c", 0.5, right=True),
        given("none", 0.4, right=False, answerable=False),
        Scored(id="d", answered=False, right=False),
    ]
    curve = precision_curve(scored)
    assert curve == (CurvePoint(0.9, 0.25, 1.0), CurvePoint(0.5, 0.75, 2 / 3), CurvePoint(0.4, 0.75, 0.5))
    assert precision_at(curve, 0.7) == pytest.approx(2 / 3)
    assert precision_at(curve, 0.8) is None


def test_without_a_confidence_for_every_answer_there_is_no_curve() -> None:
    sure = given("a", 0.9, right=True)
    assert precision_curve([sure, Scored(id="b", answered=True, right=True)]) == ()
    assert precision_curve([]) == ()
    assert precision_curve([given("a", 0.9, right=False, answerable=False)]) == ()


def test_a_summary_has_figures_over_the_questions_that_have_them() -> None:
    first = [Scored(id="a", ratios={"map": (1.0, 1.0)}), Scored(id="b", ratios={"map": (0.5, 1.0)}), Scored(id="c")]
    second = [Scored(id="b", ratios={"map": (0.25, 1.0)}), Scored(id="a", ratios={"map": (0.75, 1.0)})]
    summary = summarize(second, first)
    assert (summary.figures["map"].interval.mean, summary.figures["map"].questions) == (0.5, 2)
    difference = summary.differences["map"]
    assert (difference.mean, difference.low, difference.high) == (-0.25, -0.25, -0.25)
    assert set(summary.figures) == {"map"}


# sources


SOURCES = [
    Source("s1", "file", "file:///v/Notes/Sea.md", "The sea", path="/v/Notes/Sea.md"),
    Source("s2", "file", "file:///v/Old/Sea.md", "Old sea", path="/v/Old/Sea.md"),
    Source("s3", "file", "jsonl:c/int:7", "Seven", external_id=7),
    Source("s4", "web", "https://a.example/x", "A page", url="https://a.example/x"),
]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("s1", {"s1"}),
        ("/v/Notes/Sea.md", {"s1"}),
        ("notes/sea.md", {"s1"}),
        ("./Notes/Sea", {"s1"}),
        ("Notes\\Sea.md", {"s1"}),
        ("the SEA", {"s1"}),
        ("Sea.md", {"s1", "s2"}),
        ("7", {"s3"}),
        ("https://a.example/x", {"s4"}),
        ("ea.md", set()),
        ("md", set()),
        ("", set()),
    ],
)
def test_a_document_is_found_by_each_of_its_names(name: str, found: set[str]) -> None:
    assert SourceNames(SOURCES).find(name) == found


def test_names_of_no_document_and_of_several_are_reported_and_keep_their_gain() -> None:
    question = EvalQuestion(id="q", text="q", sources={"Sea.md": 2, "gone.md": 1, "7": 1})
    relevant, problems = SourceNames(SOURCES).resolve(question)
    assert relevant.gains == {"s1": 2, "s2": 2, f"{UNKNOWN}gone.md": 1, "s3": 1}
    assert [(each.place, each.kind) for each in problems] == [
        ("question q", "ambiguous_source"),
        ("question q", "unknown_source"),
    ]
    assert "/v/Notes/Sea.md, /v/Old/Sea.md" in problems[0].message
