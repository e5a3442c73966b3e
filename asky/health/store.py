"""Checks of the store: its file, and whether its contents can be read and are consistent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from asky.errors import AskyError, StorageError, StoreBusy, StoreDamaged
from asky.evidence.export.bundle_check import claim_fault, quote_fault
from asky.health.check import Check, note, ok, problem
from asky.research.index.titles import TitleTable
from asky.storage.corpus import CorpusStore
from asky.storage.database import Database
from asky.storage.documents import DocumentStore
from asky.storage.lexical import LexicalIndex
from asky.storage.migrations import MIGRATIONS
from asky.storage.pages import PageCounts, PageTable
from asky.storage.repair.damage import Damage, Repair, find_damage, quarantine
from asky.storage.repair.integrity import StoreIntegrity
from asky.storage.runs import RunStore
from asky.text.counting import format_bytes
from asky.values import Span

_MAGIC = b"SQLite format 3\0"
_VERSION_AT = 60  # the offset of `user_version` in the header of an SQLite file: four bytes, big-endian
_MAX_LISTED = 3
BACKUP_HINT = "restore asky.db from a backup, or move it away and add the documents again; nothing was deleted"
_ALTERED_HINT = (
    "the stored answer is not the one that was checked: restore asky.db from a backup, or ask again; "
    "nothing was deleted"
)
_MAX_ROWS = 20
_NO_REPAIR_HINT = (
    "it cannot be repaired, as other rows depend on it: restore asky.db from a backup; nothing was deleted"
)
_REPAIRS: Mapping[Repair, tuple[str, str]] = MappingProxyType(
    {
        "replaced": ("replaces the invalid bytes with �", "the invalid bytes were replaced with �"),
        "emptied": ("resets the value to its default", "the value was reset to its default"),
        "taken out": (
            "removes its row and those that depend on it",
            "its row and those that depend on it were removed",
        ),
    }
)
"""What a repair would do, and what it did."""


def check_file(path: Path) -> Check:
    """Check that `path` is a store that this version of asky can open, without opening it: that would update its
    schema.
    """
    try:
        with path.open("rb") as file:
            header = file.read(_VERSION_AT + 4)
    except FileNotFoundError:
        return note("store", "nothing added yet", "`asky corpus add PATH` creates the store")
    except OSError as error:
        return problem("store", f"cannot read {path}: {error.strerror}", "check its permissions")
    if not header:
        return note("store", "nothing added yet: the store's file is empty")
    if len(header) < _VERSION_AT + 4 or not header.startswith(_MAGIC):
        return problem("store", f"{path} is not a database", BACKUP_HINT)
    version = int.from_bytes(header[_VERSION_AT:], "big")
    if 0 < version < len(MIGRATIONS):
        return note("store", f"schema {version} is older than {len(MIGRATIONS)}; the next command updates it")
    return ok("store", str(path))


def check_pages(database: Database) -> Check:
    """Check the pages of the store's file. If they are damaged, no other check of the store is reliable."""
    return _guarded("store", lambda: _check_pages(StoreIntegrity(database)))


def check_store(database: Database, *, repair: bool) -> Iterator[Check]:
    """Yield the checks of a store whose file is intact.

    With `repair`, unreadable records are moved to a backup file and inconsistent indexes are rebuilt.
    """
    integrity = StoreIntegrity(database)
    yield _guarded("schema", lambda: _check_schema(integrity))
    yield _guarded("tables", lambda: _check_tables(integrity, repair))
    yield from _guarded_all("rows", lambda: _check_rows(database, repair))
    yield _guarded("answers", lambda: _check_answers(database, integrity))
    yield _guarded("references", lambda: _check_references(integrity))
    yield _guarded("texts", lambda: _check_texts(integrity))
    yield _guarded("full-text index", lambda: _check_full_text(LexicalIndex(database), repair))
    yield _guarded("titles", lambda: _check_titles(TitleTable(database), repair))
    yield _guarded("runs", lambda: _check_runs(RunStore(database)))


def check_cache(database: Database, *, max_bytes: int, now: float) -> Check:
    """Report the size of the web cache at `now` (seconds since 1970) and its limit."""
    pages = PageTable(database, CorpusStore(database, DocumentStore(database)))
    return _guarded("web cache", lambda: _check_cache(pages.counts(now), max_bytes))


def _guarded(name: str, check: Callable[[], Check]) -> Check:
    (found,) = _guarded_all(name, lambda: [check()])
    return found


def _guarded_all(name: str, check: Callable[[], Iterable[Check]]) -> Iterator[Check]:
    """Yield the checks; an error of the store becomes a check of its own."""
    try:
        yield from check()
    except StoreBusy as error:
        yield note(name, f"not checked: {error.message}", "run `asky doctor` again when the other process is done")
    except StoreDamaged as error:  # its own hint is to run these checks
        yield problem(name, error.message, BACKUP_HINT)
    except AskyError as error:
        yield problem(name, error.message, error.hint or BACKUP_HINT)


def _check_pages(integrity: StoreIntegrity) -> Check:
    found = integrity.file_problems().of_pages
    if found:
        return problem("store", f"the file is damaged: {'; '.join(found[:_MAX_LISTED])}", BACKUP_HINT)
    counts = integrity.counts()
    return ok(
        "store",
        f"schema {len(MIGRATIONS)}: {counts.sources:,} sources, {counts.documents:,} documents,"
        f" {counts.chunks:,} passages, {counts.runs:,} runs",
    )


def _check_schema(integrity: StoreIntegrity) -> Check:
    if altered := integrity.schema_problems():
        return problem("schema", f"damaged: {', '.join(altered[:_MAX_LISTED])}", BACKUP_HINT)
    return ok("schema", "as this version of asky creates it")


def _check_tables(integrity: StoreIntegrity, repair: bool) -> Check:
    name, fine = "tables", "rows and their indexes agree"
    found = integrity.file_problems().of_rows
    if not found:
        return ok(name, fine)
    message = f"{'; '.join(found[:_MAX_LISTED])}{'; …' if len(found) > _MAX_LISTED else ''}"
    if not any("index" in each for each in found):
        return problem(name, message, BACKUP_HINT)
    if not repair:
        return problem(name, message, "`asky doctor --repair` rebuilds the indexes from the rows")
    integrity.rebuild_indexes()
    left = integrity.file_problems().of_rows
    if not left:
        return ok(name, f"indexes were inconsistent and have been rebuilt; {fine}")
    return problem(name, "; ".join(left[:_MAX_LISTED]), BACKUP_HINT)


def _check_references(integrity: StoreIntegrity) -> Check:
    broken = integrity.broken_references()
    if not broken:
        return ok("references", "every row refers to rows that exist")
    words = "; ".join(f"{count:,} rows of {table} refer to a missing {parent}" for table, parent, count in broken)
    return problem("references", words, BACKUP_HINT)


def _check_texts(integrity: StoreIntegrity) -> Check:
    changed, lost = integrity.changed_documents(), integrity.lost_passages()
    if changed:
        numbers = ", ".join(map(str, changed[:_MAX_LISTED]))
        message = f"{len(changed):,} stored texts do not match the hash taken when they were read (documents {numbers}"
        return problem("texts", f"{message}{', …' if len(changed) > _MAX_LISTED else ''})", BACKUP_HINT)
    if lost:
        run_id, key = lost[0]
        return problem(
            "texts",
            f"{len(lost):,} shown passages lie outside of their text, the first is {key} of run {run_id}",
            BACKUP_HINT,
        )
    return ok("texts", "every text matches its hash, and every shown passage lies in its text")


def _check_full_text(index: LexicalIndex, repair: bool) -> Check:
    name, fine = "full-text index", "holds exactly the stored passages"
    if _matches_chunks(index):
        return ok(name, fine)
    message = "differs from the stored passages: keyword searches miss some or return wrong ones"
    if not repair:
        return problem(name, message, "`asky doctor --repair` rebuilds it from the stored texts")
    index.rebuild()
    if _matches_chunks(index):
        return ok(name, f"differed from the stored passages and has been rebuilt; it {fine}")
    return problem(name, f"{message}; rebuilding it did not help", BACKUP_HINT)


def _check_titles(titles: TitleTable, repair: bool) -> Check:
    name, fine = "titles", "are those of the stored sources"
    if titles.is_complete():
        return ok(name, fine)
    message = "differ from those of the stored sources: links between documents are missed"
    if not repair:
        return problem(name, message, "`asky doctor --repair` collects them again")
    titles.rebuild()
    if titles.is_complete():
        return ok(name, f"differed from those of the stored sources and have been collected again; they {fine}")
    return problem(name, f"{message}; collecting them again did not help", BACKUP_HINT)


def _matches_chunks(index: LexicalIndex) -> bool:
    try:
        return index.check()
    except StoreDamaged:
        return False


def _check_cache(counts: PageCounts, max_bytes: int) -> Check:
    words = f"{counts.pages:,} pages with {format_bytes(counts.bytes)} of text, {format_bytes(max_bytes)} at most"
    if counts.bytes > max_bytes:
        return note("web cache", words, "the least recently used pages are removed the next time asky uses the web")
    return ok("web cache", words)


def _check_runs(runs: RunStore) -> Check:
    interrupted = runs.interrupted()
    if not interrupted:
        return ok("runs", "none was interrupted")
    count = len(interrupted)
    return note(
        "runs",
        f"{count:,} {'was' if count == 1 else 'were'} interrupted, the oldest is {interrupted[0]}",
        "`asky runs resume ID` continues a run; `asky runs show ID -v` shows what it had found",
    )


# rows


def _check_rows(database: Database, repair: bool) -> Iterator[Check]:
    """Yield a problem for each damaged value, at most 20."""
    found, hint = find_damage(database), "`asky doctor --repair` saves it to a file beside the store and {}"
    if repair and any(each.repair for each in found):
        path, repaired = quarantine(database, database.path.parent)
        yield from _first(
            [ok("rows", f"{_describe(each)}; {_REPAIRS[each.repair][1]}") for each in repaired if each.repair]
        )
        if path is not None:
            yield ok("rows", f"the original rows are saved in {path}; delete it when you no longer need it")
        found, hint = find_damage(database), _NO_REPAIR_HINT
    hints = [hint.format(_REPAIRS[each.repair][0]) if each.repair else _NO_REPAIR_HINT for each in found]
    yield from _first([problem("rows", _describe(each), advice) for each, advice in zip(found, hints, strict=True)])
    if not found:
        yield ok("rows", "every text and every record can be read")


def _describe(damage: Damage) -> str:
    return f"{damage.column} of {damage.table} {damage.row}: {damage.why}"


def _first(checks: Sequence[Check]) -> Iterator[Check]:
    """Yield the first 20 checks, then the number of those left out."""
    yield from checks[:_MAX_ROWS]
    for last in checks[_MAX_ROWS : _MAX_ROWS + 1]:
        yield replace(last, message=f"and {len(checks) - _MAX_ROWS:,} more")


# answers


def _check_answers(database: Database, integrity: StoreIntegrity) -> Check:
    """Check that every claim occurs in its answer and every quote at its citation's offsets. Loads no complete text."""
    documents, ids = DocumentStore(database), integrity.documents_by_hash()
    faults = ((run, next(_faults(run, answer, documents, ids), None)) for run, answer in integrity.answers())
    altered = [f"run {run}: {fault}" for run, fault in faults if fault]
    if not altered:
        return ok("answers", "every claim occurs in its answer, and every quote in its text")
    more = f"; and {len(altered) - _MAX_LISTED:,} more" if len(altered) > _MAX_LISTED else ""
    were = f"{len(altered):,} {'was' if len(altered) == 1 else 'were'} altered"
    return problem("answers", f"{were}: {'; '.join(altered[:_MAX_LISTED])}{more}", _ALTERED_HINT)


def _faults(run: str, answer: Mapping[str, Any], documents: DocumentStore, ids: Mapping[str, int]) -> Iterator[str]:
    """Yield what is wrong with an answer."""
    if answer["run"] != run:
        yield "it belongs to another run"
    for number, claim in enumerate(answer["claims"], start=1):
        if fault := claim_fault(claim, answer["answer"], len(answer["citations"])):
            yield f"claim {number}: {fault}"
    for citation in answer["citations"]:
        if fault := _citation_fault(citation, documents, ids.get(citation["sha256"])):
            yield f"citation {citation['n']}: {fault}"


def _citation_fault(citation: Mapping[str, Any], documents: DocumentStore, document: int | None) -> str | None:
    if document is None:
        return quote_fault(citation, None)
    start, end = citation["start"], citation["end"]
    if not 0 <= start < end:
        return "its offsets lie outside of the text"
    try:
        passage = documents.text(document, Span(start, end))
    except StorageError:  # reported by the check of the texts
        return None
    return quote_fault({**citation, "start": 0, "end": end - start}, passage)
