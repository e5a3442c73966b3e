"""The contents of a report: an answer, and the passage behind each citation in its context, checked again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from asky.errors import UsageError
from asky.evidence.citation_lookup import PassageContext, passage_context
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

    `asked_at` is a timestamp of the store; `added` holds the notes that the user added during the run.
    """

    answer: Mapping[str, Any]
    passages: Mapping[int, ReportedPassage]
    asked_at: str | None = None
    added: tuple[str, ...] = ()


def report_run(run: Run, *, runs: RunStore, documents: DocumentStore) -> ReportedAnswer:
    """Gather the report of a stored run, reading each cited document once. Raises `UsageError` without an answer."""
    if run.answer is None:
        raise UsageError(
            f"run {run.id} has no answer: its status is {run.status}",
            hint="`asky runs list` shows the runs with an answer",
        )
    ids = {documents.digest(each)[0]: each for each in dict.fromkeys(p.document_id for p in runs.passages(run.id))}
    passages = _passages(run.answer["citations"], lambda sha256: documents.text(ids[sha256]) if sha256 in ids else None)
    return ReportedAnswer(run.answer, passages, run.started_at)


def report_export(export: Mapping[str, Any]) -> ReportedAnswer:
    """Gather the report of an `asky.run/1` object, as made by `export_run`. Raises `UsageError` without an answer."""
    if export["answer"] is None:
        raise UsageError(f"the exported run {export['run']['id']} has no answer")
    texts = {each["sha256"]: each["text"] for each in export["documents"]}
    return ReportedAnswer(
        export["answer"], _passages(export["answer"]["citations"], texts.get), export["run"]["started_at"]
    )


def _passages(
    citations: Sequence[Mapping[str, Any]], text_of: Callable[[str], str | None]
) -> dict[int, ReportedPassage]:
    """Return the passages whose text `text_of` finds by hash; each text is read once and released before the next."""
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
