"""Answers: whether each still says what was checked, and each of its quotes still stands in its text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from asky.errors import StorageError
from asky.evidence.bundle_check import claim_fault, quote_fault
from asky.health.check import Check, ok, problem
from asky.storage.database import Database
from asky.storage.documents import DocumentStore
from asky.storage.integrity import StoreIntegrity
from asky.values import Span

_NAMED = 3
_HINT = "what it says now is not what was checked: restore asky.db from a backup, or ask again; nothing was deleted"


def check_answers(database: Database) -> Check:
    """Whether every claim stands in its answer, and every quote where its citation says. Reads no text whole."""
    integrity = StoreIntegrity(database)
    checking = _Checking(DocumentStore(database), integrity.documents_by_hash())
    altered = [(run, fault) for run, answer in integrity.answers() if (fault := checking.fault(run, answer))]
    if not altered:
        return ok("answers", "every claim stands in its answer, and every quote in its text")
    words = "; ".join(f"run {run}: {fault}" for run, fault in altered[:_NAMED])
    more = f"; and {len(altered) - _NAMED:,} more" if len(altered) > _NAMED else ""
    return problem(
        "answers", f"{len(altered):,} {'was' if len(altered) == 1 else 'were'} altered: {words}{more}", _HINT
    )


class _Checking:
    def __init__(self, documents: DocumentStore, ids: Mapping[str, int]) -> None:
        self._documents = documents
        self._ids = ids

    def fault(self, run: str, answer: Mapping[str, Any]) -> str | None:
        """The first thing that is wrong with an answer."""
        if answer["run"] != run:
            return "it is of another run"
        for number, claim in enumerate(answer["claims"], start=1):
            if fault := claim_fault(claim, answer["answer"], len(answer["citations"])):
                return f"claim {number}: {fault}"
        for citation in answer["citations"]:
            if fault := self._citation_fault(citation):
                return f"citation {citation['n']}: {fault}"
        return None

    def _citation_fault(self, citation: Mapping[str, Any]) -> str | None:
        document = self._ids.get(citation["sha256"])
        if document is None:
            return quote_fault(citation, None)
        start, end = citation["start"], citation["end"]
        if not 0 <= start < end:
            return "its offsets lie outside of the text"
        try:
            passage = self._documents.text(document, Span(start, end))
        except StorageError:  # which is reported of the text itself
            return None
        return quote_fault({**citation, "start": 0, "end": end - start}, passage)
