"""A run as one object with its own evidence: every citation can be checked without the store."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from asky.storage.runs import LedgerEntry, Run, StoredPassage

SCHEMA = "asky.run/1"


def export_run(
    run: Run,
    passages: Sequence[StoredPassage],
    texts: Mapping[int, str],
    ledger: Sequence[LedgerEntry],
    *,
    session: str | None,
) -> dict[str, Any]:
    """Return the `asky.run/1` object of a run.

    `texts` maps the id of each document that a passage comes from to its complete text; equal texts are exported once.
    Hashes and quotes are computed from those texts, not taken from the answer. `session` is the name of the run's
    session.
    """
    hashes = {id_: hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() for id_, text in texts.items()}
    documents = {hashes[each.document_id]: texts[each.document_id] for each in passages}
    return {
        "schema": SCHEMA,
        "run": describe_run(run, session=session),
        "answer": run.answer,
        "passages": [_passage(each, texts[each.document_id], hashes[each.document_id]) for each in passages],
        "documents": [{"sha256": sha256, "text": text} for sha256, text in documents.items()],
        "ledger": describe_ledger(ledger),
    }


def describe_run(run: Run, *, session: str | None) -> dict[str, Any]:
    """Return the run without its answer."""
    return {
        "id": run.id,
        "session": session,
        "mode": run.mode,
        "question": run.question,
        "model": run.model,
        "status": run.status,
        "started_at": run.started_at,
        "finished_at": run.finished_at,
    }


def describe_ledger(ledger: Sequence[LedgerEntry]) -> list[dict[str, Any]]:
    """Return the entries in order."""
    return [{"at": each.at, "kind": each.kind, "data": each.data} for each in ledger]


def _passage(passage: StoredPassage, text: str, sha256: str) -> dict[str, Any]:
    return {
        "key": passage.key,
        "source_id": passage.source.id,
        "title": passage.source.title,
        "path": passage.source.path,
        "url": passage.source.url,
        "sha256": sha256,
        "start": passage.start,
        "end": passage.end,
        "quote": text[passage.start : passage.end],
    }
