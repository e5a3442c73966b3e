"""Rankings in the format of trec_eval: those of others measured, and ours written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from asky.app.evaluation.result import EvalResult, MeasuredVariant
from asky.errors import UsageError
from asky.evaluation.questions import EvalQuestion, QuestionProblem, QuestionSet, hash_files
from asky.evaluation.sources import Relevant
from asky.evaluation.trec import Qrels, Run, read_trec_qrels, read_trec_run, run_lines


def measure_runs(qrels: Path, runs: Sequence[Path]) -> EvalResult:
    """Return the measures of rankings against judgements, each run a variant.

    As with `trec_eval -c`, a judged query that a run lacks counts 0. A query without a relevant document is in no
    average. Raises `UsageError` for files that cannot be read and lines in error.
    """
    problems: list[QuestionProblem] = []
    judged = read_trec_qrels(qrels, problems)
    questions = tuple(_questions(judged, problems, qrels.name))
    if not questions:
        raise UsageError(f"{qrels}: no query has a relevant document")
    read = {path: read_trec_run(path) for path in runs}
    for path, run in read.items():
        problems += _unmatched(judged, run, path.name)
    names = {name: name for each in judged.values() for name in each}
    return EvalResult(
        questions=QuestionSet(name=qrels.name, format="trec", questions=questions, sha256=hash_files([qrels])),
        problems=tuple(problems),
        relevant={each.id: Relevant(dict(each.sources), {name: name for name in each.sources}) for each in questions},
        documents=names,
        model=None,
        mode=None,
        variants=tuple(
            MeasuredVariant(
                str(path), {}, {each.id: {"ranking": run.get(each.id, ()), "answer": None} for each in questions}, {}
            )
            for path, run in read.items()
        ),
        complete=True,
    )


def _questions(judged: Qrels, problems: list[QuestionProblem], table: str) -> Iterator[EvalQuestion]:
    for id_, gains in judged.items():
        relevant = {name: gain for name, gain in gains.items() if gain > 0}
        if relevant:
            yield EvalQuestion(id=id_, text=id_, sources=relevant)
        else:
            message = f"no document is relevant in {table}: it is left out"
            problems.append(QuestionProblem(f"query {id_}", "no_positives", message))


def _unmatched(judged: Qrels, run: Run, name: str) -> Iterator[QuestionProblem]:
    for id_ in judged:
        if id_ not in run:
            yield QuestionProblem(f"query {id_}", "unranked", f"{name} does not rank it: it counts 0")
    for id_ in run:
        if id_ not in judged:
            yield QuestionProblem(f"query {id_}", "unjudged", f"{name} ranks it, and it is not judged: it is left out")


def run_text(result: EvalResult, variant: MeasuredVariant) -> str:
    """Return the ranking of each question in the format of a run: 100 passages' documents, best first."""
    lines = (
        line
        for id_, record in variant.records.items()
        for line in run_lines(id_, [result.documents.get(each, each) for each in record["ranking"]], "asky")
    )
    return "".join(lines)
