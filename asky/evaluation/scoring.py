"""The measures of one question: what its ranking and its answer add to each figure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from asky.evaluation.facts import missing_facts
from asky.evaluation.intervals import Ratio
from asky.evaluation.measures import average_precision, first_occurrences, ndcg, recall, reciprocal_rank
from asky.evaluation.questions import EvalQuestion, Fact

CUT = 10
"""The documents that count for nDCG and recall: what a reader looks at."""


@dataclass(frozen=True, slots=True)
class MeasureInfo:
    """A measure: its heading in a table, the group of tables, and whether a higher value is better."""

    title: str
    group: str
    meaning: str
    higher_is_better: bool = True


MEASURES: Mapping[str, MeasureInfo] = MappingProxyType(
    {
        "ndcg_cut_10": MeasureInfo("nDCG@10", "retrieval", "gain of the first 10 documents, discounted by rank"),
        "recall_10": MeasureInfo("recall@10", "retrieval", "relevant documents among the first 10"),
        "recip_rank": MeasureInfo("MRR", "retrieval", "1 / rank of the first relevant document"),
        "map": MeasureInfo("MAP", "retrieval", "precision at the rank of each relevant document"),
        "right": MeasureInfo("right", "answers", "answers with all facts that cite an expected source"),
        "facts_all": MeasureInfo("all facts", "answers", "answers that hold every expected fact"),
        "facts_share": MeasureInfo("facts", "answers", "expected facts that the answer holds"),
        "right_source": MeasureInfo("right source", "answers", "answers that cite an expected source"),
        "citation_precision": MeasureInfo("precision", "citations", "cited sources that are expected ones"),
        "citation_recall": MeasureInfo("recall", "citations", "expected sources that are cited"),
        "claims_supported": MeasureInfo("supported", "verdicts", "sentences that their passages support"),
        "claims_partial": MeasureInfo("partial", "verdicts", "sentences that they support in part", False),
        "claims_unsupported": MeasureInfo("unsupported", "verdicts", "sentences that they do not support", False),
        "claims_contradicted": MeasureInfo("contradicted", "verdicts", "sentences that they contradict", False),
        "claims_uncited": MeasureInfo("uncited", "verdicts", "sentences without a citation", False),
        "answered": MeasureInfo("answered", "abstention", "questions with an answer that got one"),
        "declined": MeasureInfo("declined", "abstention", "questions without an answer that got none"),
    }
)
"""Every measure that is a ratio of sums over questions, in the order of the tables."""

_VERDICTS = ("supported", "partial", "unsupported", "contradicted", "uncited")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """One question with what it adds to each measure that it belongs to.

    `right` is `None` without an answer to judge or anything to judge it by. `confidence` is that of an answer which was
    given, if it has one.
    """

    id: str
    ratios: Mapping[str, Ratio] = field(default_factory=dict)
    answerable: bool = True
    answered: bool | None = None
    right: bool | None = None
    confidence: float | None = None
    missing: tuple[Fact, ...] = ()
    first_rank: int | None = None


def score(
    question: EvalQuestion,
    gains: Mapping[str, int],
    ranking: Sequence[str] | None,
    answer: Mapping[str, Any] | None,
) -> Scored:
    """Return the measures of a question.

    `gains` are by the ids of documents, `ranking` has ids of passages' documents, best first, and `answer` is an
    `asky.answer/1` object; each is `None` if that was not measured. A question without an expected source is in no
    average of retrieval and citations, and one without facts in none of facts.
    """
    ratios: dict[str, Ratio] = {}
    first_rank = None
    if ranking is not None and gains and question.answerable:
        documents = first_occurrences(ranking)
        ratios |= rank_measures(documents, gains)
        first_rank = next((rank for rank, each in enumerate(documents, start=1) if gains.get(each, 0) > 0), None)
    if answer is None:
        return Scored(id=question.id, ratios=ratios, answerable=question.answerable, first_rank=first_rank)
    answered = answer.get("stopped_by") != "no_evidence"
    if not question.answerable:
        ratios["declined"] = (float(not answered), 1.0)
    missing = _judge(question, gains, answer, ratios, answered=answered) if question.answerable else ()
    if answered:
        ratios.update(_verdicts(answer))
    return Scored(
        id=question.id,
        ratios=ratios,
        answerable=question.answerable,
        answered=answered,
        right=_is_right(question, ratios, answered=answered),
        confidence=_confidence(answer) if answered else None,
        missing=missing,
        first_rank=first_rank,
    )


def rank_measures(ranking: Sequence[str], gains: Mapping[str, int]) -> dict[str, Ratio]:
    """Return the measures of a ranking for a question with a relevant document."""
    values = {
        "ndcg_cut_10": ndcg(ranking, gains, CUT),
        "recall_10": recall(ranking, gains, CUT),
        "recip_rank": reciprocal_rank(ranking, gains, None),
        "map": average_precision(ranking, gains),
    }
    return {name: (value, 1.0) for name, value in values.items()}


def _judge(
    question: EvalQuestion,
    gains: Mapping[str, int],
    answer: Mapping[str, Any],
    ratios: dict[str, Ratio],
    *,
    answered: bool,
) -> tuple[Fact, ...]:
    """Add what the answer to an answerable question adds; return the facts that it lacks.

    Where none was given, all facts and sources are missing, and there are no citations whose precision counts.
    """
    ratios["answered"] = (float(answered), 1.0)
    missing = missing_facts(answer["answer"], question.facts) if answered else question.facts
    if question.facts:
        ratios["facts_all"] = (float(not missing), 1.0)
        ratios["facts_share"] = (1 - len(missing) / len(question.facts), 1.0)
    if gains:
        cited = {each["source_id"] for each in answer["citations"]} if answered else set()
        found = cited & {each for each, gain in gains.items() if gain > 0}
        ratios["right_source"] = (float(bool(found)), 1.0)
        ratios["citation_recall"] = (len(found) / len(gains), 1.0)
        if cited:
            ratios["citation_precision"] = (len(found) / len(cited), 1.0)
    judged = [ratios[name][0] for name in ("facts_all", "right_source") if name in ratios]
    if judged:
        ratios["right"] = (min(judged), 1.0)
    return missing


def _verdicts(answer: Mapping[str, Any]) -> Iterator[tuple[str, Ratio]]:
    counts = Counter(each["verdict"] for each in answer["claims"])
    total = float(sum(counts.values()))
    if total:
        yield from ((f"claims_{each}", (float(counts[each]), total)) for each in _VERDICTS)


def _is_right(question: EvalQuestion, ratios: Mapping[str, Ratio], *, answered: bool) -> bool | None:
    """Return whether the question got what it should: a right answer, or none where there is none."""
    if not question.answerable:
        return not answered
    return bool(ratios["right"][0]) if "right" in ratios else None


def _confidence(answer: Mapping[str, Any]) -> float | None:
    """Return how sure the answer is of itself, in [0, 1]; `None` if it does not say."""
    value = answer.get("confidence", answer.get("relevance"))
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
