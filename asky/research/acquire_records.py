"""Adding the records of a JSON Lines file to a collection, in batches of one transaction each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from asky.concurrency import in_thread
from asky.errors import UsageError
from asky.events import Listener, StageAdvanced, StageFinished, StageStarted
from asky.research.ingest import NO_TEXT, Ingester, KeptRecord
from asky.research.records import parse_record
from asky.research.tally import AcquireReport, Tally
from asky.values import Document, Source

if TYPE_CHECKING:
    from asky.storage.database import Database

_BATCH_RECORDS = 64


@dataclass(slots=True)
class _KeptLine:
    """The last line with one id so far, and what became of the record once it was kept."""

    number: int
    record: KeptRecord | None


class RecordAcquirer:
    """Reads records into collections."""

    def __init__(self, database: Database, ingester: Ingester, listener: Listener) -> None:
        self._database = database
        self._ingester = ingester
        self._listener = listener

    async def add(self, collection_id: int, collection: str, lines: Iterable[bytes], name: str) -> AcquireReport:
        """See `asky.research.acquire.Acquirer.add_records`."""
        tally = Tally(self._listener)
        self._listener(StageStarted("read"))
        kept: dict[str, _KeptLine] = {}
        batch: dict[str, tuple[Source, Document]] = {}
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                source, document = parse_record(line, collection)
            except UsageError as error:
                tally.say(f"{name}:{number}", "failed", error.message)
                continue
            if (earlier := kept.get(source.id)) is not None:
                tally.say(
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
            assert each.record is not None  # every batch has been kept
            tally.chunks += each.record.chunks_added
            empty = each.record.verdict == "empty"
            tally.say(f"{name}:{each.number}", each.record.verdict, NO_TEXT if empty else None)
        report = tally.report()
        self._listener(StageFinished("read", report.seconds, f"{sum(report.verdicts.values())} records"))
        return report

    def _keep_records(
        self, batch: Mapping[str, tuple[Source, Document]], collection_id: int, kept: Mapping[str, _KeptLine]
    ) -> None:
        """Keep a batch, and note in `kept` what became of each; a second one with the same text changes nothing."""
        cuts = {id_: self._ingester.cut(document) for id_, (_, document) in batch.items()}
        with self._database.write():
            found = {
                id_: self._ingester.keep_record(source, document, cuts[id_], collection_id)
                for id_, (source, document) in batch.items()
            }
        for id_, record in found.items():
            if kept[id_].record is None or record.verdict != "unchanged":
                kept[id_].record = record
