"""Ingestion of JSON Lines records into a collection, in batches of one transaction each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from asky.concurrency import in_thread
from asky.errors import UsageError
from asky.events import Listener, StageAdvanced, StageFinished, StageStarted
from asky.research.corpus.ingest import NO_TEXT, Ingester, KeptRecord
from asky.research.corpus.records import parse_record
from asky.research.corpus.report import AcquireCounts, AcquireReport
from asky.values import Document, Source

if TYPE_CHECKING:
    from asky.storage.database import Database

_BATCH_RECORDS = 64


@dataclass(slots=True)
class _KeptLine:
    """The last line with a given id so far, and the outcome of its record once stored."""

    number: int
    record: KeptRecord | None


class RecordAcquirer:
    """Ingests records into collections."""

    def __init__(self, database: Database, ingester: Ingester, listener: Listener) -> None:
        self._database = database
        self._ingester = ingester
        self._listener = listener

    async def add(self, collection_id: int, collection: str, lines: Iterable[bytes], name: str) -> AcquireReport:
        """See `asky.research.corpus.acquire.Acquirer.add_records`."""
        counts = AcquireCounts(self._listener)
        self._listener(StageStarted("read"))
        kept: dict[str, _KeptLine] = {}
        batch: dict[str, tuple[Source, Document]] = {}
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                source, document = parse_record(line, collection)
            except UsageError as error:
                counts.record(f"{name}:{number}", "failed", error.message)
                continue
            if (earlier := kept.get(source.id)) is not None:
                counts.record(
                    f"{name}:{earlier.number}", "duplicate", f"line {number} has the same id, and the last counts"
                )
            kept[source.id] = _KeptLine(number, earlier.record if earlier else None)
            batch[source.id] = (source, document)
            if len(batch) >= _BATCH_RECORDS:
                await in_thread(self._keep_records, batch, collection_id, kept)
                self._listener(StageAdvanced("read", number))
                batch = {}
        await in_thread(self._keep_records, batch, collection_id, kept)
        for each in kept.values():
            assert each.record is not None  # every batch has been stored
            counts.chunks += each.record.chunks_added
            empty = each.record.verdict == "empty"
            counts.record(f"{name}:{each.number}", each.record.verdict, NO_TEXT if empty else None)
        report = counts.report()
        self._listener(StageFinished("read", report.seconds, f"{sum(report.verdicts.values())} records"))
        return report

    def _keep_records(
        self, batch: Mapping[str, tuple[Source, Document]], collection_id: int, kept: Mapping[str, _KeptLine]
    ) -> None:
        """Store a batch, and note the outcome of each in `kept`; a repeated record with the same text has no effect."""
        chunked = {id_: self._ingester.cut(document) for id_, (_, document) in batch.items()}
        with self._database.write():
            found = {
                id_: self._ingester.keep_record(source, document, chunked[id_], collection_id)
                for id_, (source, document) in batch.items()
            }
        for id_, record in found.items():
            if kept[id_].record is None or record.verdict != "unchanged":
                kept[id_].record = record
