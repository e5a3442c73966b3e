"""The result of an evaluation: the figures of each variant, and the outcome of each question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from asky.concurrency import error_of
from asky.evaluation.gate import Gate, GateCheck, check_gate
from asky.evaluation.questions import QuestionProblem, QuestionSet
from asky.evaluation.scoring import Scored, score
from asky.evaluation.sources import Relevant
from asky.evaluation.summary import PRECISION_AT, VariantSummary, differences, summarize
from asky.text.counting import counted
from asky.values import Failure, UnreadFile

GOES_ON = "the same command goes on from there"


@dataclass(frozen=True, slots=True)
class MeasuredVariant:
    """What was recorded of a variant: by the id of a question, the ranking and the answer, or the failure."""

    name: str
    settings: Mapping[str, str]
    records: Mapping[str, Mapping[str, Any]]
    failures: Mapping[str, Failure]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalResult:
    """What was measured. `relevant` has the documents of each question, `documents` the name of each document by its
    id: its external id, path, URL or title. `unread` is what could not be read of the documents. `model` is `None` if
    nothing was asked.

    `complete` is false if questions are left, because they failed or the evaluation was stopped.
    """

    questions: QuestionSet
    problems: tuple[QuestionProblem, ...]
    relevant: Mapping[str, Relevant]
    documents: Mapping[str, str]
    model: str | None
    mode: str | None
    variants: tuple[MeasuredVariant, ...]
    complete: bool
    unread: tuple[UnreadFile, ...] = ()

    def scored(self, variant: MeasuredVariant) -> list[Scored]:
        """Return the measured questions of a variant, in the order of the set."""
        return [
            score(each, self.relevant[each.id].gains, record["ranking"], record["answer"])
            for each in self.questions.questions
            if (record := variant.records.get(each.id)) is not None
        ]

    def summaries(self) -> list[tuple[MeasuredVariant, list[Scored], VariantSummary]]:
        """Return each variant with its questions and figures; the differences are to the first one."""
        found: list[tuple[MeasuredVariant, list[Scored], VariantSummary]] = []
        for each in self.variants:
            scored = self.scored(each)
            found.append((each, scored, summarize(scored, found[0][1] if found else None)))
        return found

    def raise_for_failures(self) -> None:
        """Raise the error of the first question that failed, if one did."""
        failed = [failure for each in self.variants for failure in each.failures.values()]
        if failed:
            error = error_of(failed[0])
            error.message = f"{counted(len(failed), 'question')} failed; {failed[0].subject}: {failed[0].message}"
            error.hint = f"{error.hint}; {GOES_ON}" if error.hint else GOES_ON
            raise error


def judge(
    gate: Gate, scored: Sequence[Scored], summary: VariantSummary, earlier: Sequence[Scored]
) -> tuple[GateCheck, ...]:
    """Return each limit of `gate` with its outcome for one variant, with the questions of the earlier result."""
    values = {name: each.interval.mean for name, each in summary.figures.items()}
    if summary.precision_at_70 is not None:
        values[PRECISION_AT] = summary.precision_at_70
    changes = {name: each.mean for name, each in differences(scored, earlier).items()}
    return check_gate(gate, values, changes)
