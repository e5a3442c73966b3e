"""The contents of a report: an answer, and the passage behind each citation in its context, checked again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from asky.errors import StoreDamaged, UsageError
from asky.evidence.citation_lookup import PassageContext, passage_context
from asky.report.research_report import REPORTED, ResearchReport, decode_research
from asky.storage.stored_json import SEE_DOCTOR
from asky.values import Span

if TYPE_CHECKING:
    from asky.storage.documents import DocumentStore
    from asky.storage.runs import Run, RunStore

_CONTEXT_CHARS = 300


@dataclass(frozen=True, slots=True)
class ReportedPassage:
    """The passage of a citation: its context in the stored text, and whether that text has the cited hash."""

    around: PassageContext
    hash_matches: bool


@dataclass(frozen=True, slots=True)
class ReportedAnswer:
    """An `asky.answer/1` object, and the passages of its citations by number, where the stored text has the quote.

    `asked_at` is a timestamp of the store; `added` holds the notes that the user added during the run, and `research`
    the report of a run that researched in cycles.
    """

    answer: Mapping[str, Any]
    passages: Mapping[int, ReportedPassage]
    asked_at: str | None = None
    added: tuple[str, ...] = ()
    research: ResearchReport | None = None


def report_run(run: Run, *, runs: RunStore, documents: DocumentStore) -> ReportedAnswer:
    """Gather the report of a stored run, reading each cited document once. Raises `UsageError` without an answer."""
    if run.answer is None:
        raise UsageError(
            f"run {run.id} has no answer: its status is {run.status}",
            hint="`asky runs list` shows the runs with an answer",
        )
    ids = {documents.digest(each)[0]: each for each in dict.fromkeys(p.document_id for p in runs.passages(run.id))}
    passages = gather_passages(
        run.answer["citations"], lambda sha256: documents.text(ids[sha256]) if sha256 in ids else None
    )
    return ReportedAnswer(run.answer, passages, run.started_at, research=research_of(run, runs))


def research_of(run: Run, runs: RunStore) -> ResearchReport | None:
    """Return the report that a run of research has put into its ledger, with the answer of the run; `None` without one.

    Raises `StoreDamaged` if it cannot be read.
    """
    entries = [{"kind": each.kind, "data": each.data} for each in runs.ledger(run.id)]
    try:
        return _research(entries, run.answer)
    except ValueError as error:
        raise StoreDamaged(f"the store is damaged: the report of run {run.id}: {error}", hint=SEE_DOCTOR) from error


def report_export(export: Mapping[str, Any]) -> ReportedAnswer:
    """Gather the report of an `asky.run/1` object, as made by `export_run`. Raises `UsageError` without an answer."""
    if export["answer"] is None:
        raise UsageError(f"the exported run {export['run']['id']} has no answer")
    texts = {each["sha256"]: each["text"] for each in export["documents"]}
    return ReportedAnswer(
        export["answer"],
        gather_passages(export["answer"]["citations"], texts.get),
        export["run"]["started_at"],
        research=_research(export["ledger"], export["answer"]),
    )


def _research(ledger: Sequence[Mapping[str, Any]], answer: Mapping[str, Any] | None) -> ResearchReport | None:
    """Return the last report in the entries of a ledger. Raises `ValueError` if it is none."""
    found = next((each["data"] for each in reversed(ledger) if each["kind"] == REPORTED), None)
    if found is None:
        return None
    report = decode_research(found)
    return report if answer is None else replace(report, answer=answer)


def gather_passages(
    citations: Sequence[Mapping[str, Any]], text_of: Callable[[str], str | None]
) -> dict[int, ReportedPassage]:
    """Return the passages of `citations` by number, as far as `text_of` finds their text by its hash.

    Each text is read once and released before the next.
    """
    found: dict[int, ReportedPassage] = {}
    by_text: dict[str, list[Mapping[str, Any]]] = {}
    for each in citations:
        by_text.setdefault(each["sha256"], []).append(each)
    for sha256, cited in by_text.items():
        text = text_of(sha256)
        if text is None:
            continue
        matches = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() == sha256
        for each in cited:
            if text[each["start"] : each["end"]] == each["quote"]:
                span = Span(each["start"], each["end"])
                found[each["n"]] = ReportedPassage(passage_context(text, span, _CONTEXT_CHARS), matches)
    return found
