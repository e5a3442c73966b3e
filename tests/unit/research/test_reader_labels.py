"""What the outputs of models that read pairs mean."""

from __future__ import annotations

from typing import Any

import pytest

from asky.research.embedding.labels import VerdictOutputs, answer_output, labels_of, uses_of, verdict_outputs

CLASSIFIER = {"architectures": ["BertForSequenceClassification"]}


def config(*labels: str) -> dict[str, Any]:
    return {**CLASSIFIER, "id2label": {str(at): label for at, label in enumerate(labels)}}


def test_labels_are_read_in_the_order_of_their_numbers() -> None:
    numbered = {**CLASSIFIER, "id2label": {"2": "ENTAILMENT", "0": "neutral", "1": " Contradiction"}}
    assert labels_of(numbered) == ("neutral", "contradiction", "entailment")


@pytest.mark.parametrize("bad", [{"1": "a", "2": "b"}, ["a", "b"], {"x": "a"}, "ab"])
def test_labels_that_are_not_numbered_from_zero_are_refused(bad: Any) -> None:
    with pytest.raises(ValueError, match="does not number the labels"):
        labels_of({**CLASSIFIER, "id2label": bad})


@pytest.mark.parametrize("bad", [{}, {"architectures": ["BertModel"]}, [], "text", {"architectures": None}])
def test_what_does_not_classify_is_refused(bad: Any) -> None:
    with pytest.raises(ValueError, match="does not classify"):
        labels_of(bad)


@pytest.mark.parametrize(
    ("labels", "outputs"),
    [
        (("contradiction", "entailment", "neutral"), VerdictOutputs(1, 0)),
        (("entailment", "neutral", "contradiction"), VerdictOutputs(0, 2)),
        (("entailment", "not_entailment"), VerdictOutputs(0, None)),
        (("non-entailment", "entailment"), VerdictOutputs(1, None)),
        (("supports", "refutes", "not enough info"), VerdictOutputs(0, 1)),
    ],
)
def test_verdicts_are_found_in_any_order(labels: tuple[str, ...], outputs: VerdictOutputs) -> None:
    assert verdict_outputs(labels) == outputs


@pytest.mark.parametrize("labels", [("label_0", "label_1", "label_2"), ("0", "1"), ("label_0", "label_1")])
def test_labels_without_names_are_refused_for_both_tasks(labels: tuple[str, ...]) -> None:
    for read in (verdict_outputs, answer_output):
        with pytest.raises(ValueError, match="do not say what they mean"):
            read(labels)
    with pytest.raises(ValueError, match="do not say what they mean"):
        uses_of(config(*labels), has_modules=False)


def test_a_single_output_scores_answers_and_judges_no_claims() -> None:
    assert answer_output(("label_0",)) == 0
    with pytest.raises(ValueError, match="single output"):
        verdict_outputs(("label_0",))


def test_an_entailment_model_answers_no_questions() -> None:
    with pytest.raises(ValueError, match="judges claims"):
        answer_output(("contradiction", "entailment", "neutral"))


def test_a_label_says_which_output_answers() -> None:
    assert answer_output(("irrelevant", "relevant")) == 1
    assert answer_output(("yes", "no")) == 0
    with pytest.raises(ValueError, match="not exactly one"):
        answer_output(("red", "green"))


def test_a_model_is_used_for_what_its_configuration_says() -> None:
    assert uses_of(config("LABEL_0"), has_modules=False) == ("answers",)
    assert uses_of(config("entailment", "neutral", "contradiction"), has_modules=True) == ("verdicts",)
    assert uses_of(config("entailment", "not_entailment"), has_modules=False) == ("answers", "verdicts")
    assert uses_of({"architectures": ["BertModel"]}, has_modules=True) == ("embedding",)
    with pytest.raises(ValueError, match="does not classify"):
        uses_of({"architectures": ["LlamaForCausalLM"]}, has_modules=False)
