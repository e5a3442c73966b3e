"""The store: its file, and whether everything in it still fits together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from asky.errors import AskyError, StoreBusy, StoreDamaged
from asky.health.answers import check_answers
from asky.health.check import Check, note, ok, problem
from asky.health.machine import format_bytes
from asky.health.rows import check_rows
from asky.storage.corpus import CorpusStore
from asky.storage.database import Database
from asky.storage.documents import DocumentStore
from asky.storage.integrity import StoreIntegrity
from asky.storage.lexical import LexicalIndex
from asky.storage.migrations import MIGRATIONS
from asky.storage.pages import PageCounts, PageTable
from asky.storage.runs import RunStore

_MAGIC = b"SQLite format 3\0"
_VERSION_AT = 60  # where the header of an SQLite file holds `user_version`, four bytes, big end first
_NAMED = 3
BACKUP_HINT = "restore asky.db from a backup, or move it away and add the documents again; nothing was deleted"


def check_file(path: Path) -> Check:
    """Whether there is a store that this asky can open; does not open it, because opening one would update it."""
    try:
        with path.open("rb") as file:
            header = file.read(_VERSION_AT + 4)
    except FileNotFoundError:
        return note("store", "nothing added yet", "`asky corpus add PATH` makes the store")
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
    """Whether the file is whole. Where it is not, nothing else that it says can be relied on."""
    return _guarded("store", lambda: _check_pages(StoreIntegrity(database)))


def check_store(database: Database, *, repair: bool) -> Iterator[Check]:
    """The checks of a whole store.

    With `repair` what no command can read is set aside, and indexes that are out of step are made anew.
    """
    integrity = StoreIntegrity(database)
    yield _guarded("schema", lambda: _check_schema(integrity))
    yield _guarded("tables", lambda: _check_tables(integrity, repair))
    yield from _guarded_all("rows", lambda: check_rows(database, repair=repair))
    yield _guarded("answers", lambda: check_answers(database))
    yield _guarded("references", lambda: _check_references(integrity))
    yield _guarded("texts", lambda: _check_texts(integrity))
    yield _guarded("full-text index", lambda: _check_words(LexicalIndex(database), repair))
    yield _guarded("runs", lambda: _check_runs(RunStore(database)))


def check_cache(database: Database, *, max_bytes: int, now: float) -> Check:
    """What the cache of web pages holds at `now` (seconds since 1970), of what it may."""
    pages = PageTable(database, CorpusStore(database, DocumentStore(database)))
    return _guarded("web cache", lambda: _check_cache(pages.counts(now), max_bytes))


def _guarded(name: str, check: Callable[[], Check]) -> Check:
    (found,) = _guarded_all(name, lambda: [check()])
    return found


def _guarded_all(name: str, check: Callable[[], Iterable[Check]]) -> Iterator[Check]:
    """The checks; a store that cannot even be asked is a problem of its own."""
    try:
        yield from check()
    except StoreBusy as error:
        yield note(name, f"not checked: {error.message}", "run it again when the other process is done")
    except StoreDamaged as error:  # its own hint is to ask for this check-up
        yield problem(name, error.message, BACKUP_HINT)
    except AskyError as error:
        yield problem(name, error.message, error.hint or BACKUP_HINT)


def _check_pages(integrity: StoreIntegrity) -> Check:
    found = integrity.file_problems().of_pages
    if found:
        return problem("store", f"the file is damaged: {'; '.join(found[:_NAMED])}", BACKUP_HINT)
    counts = integrity.counts()
    return ok(
        "store",
        f"schema {len(MIGRATIONS)}: {counts.sources:,} sources, {counts.documents:,} documents,"
        f" {counts.chunks:,} passages, {counts.runs:,} runs",
    )


def _check_schema(integrity: StoreIntegrity) -> Check:
    if altered := integrity.schema_problems():
        return problem("schema", f"is damaged in {', '.join(altered[:_NAMED])}", BACKUP_HINT)
    return ok("schema", "is the one that asky makes")


def _check_tables(integrity: StoreIntegrity, repair: bool) -> Check:
    name, fine = "tables", "rows and their indexes agree"
    found = integrity.file_problems().of_rows
    if not found:
        return ok(name, fine)
    message = f"{'; '.join(found[:_NAMED])}{'; …' if len(found) > _NAMED else ''}"
    if not any("index" in each for each in found):
        return problem(name, message, BACKUP_HINT)
    if not repair:
        return problem(name, message, "`asky doctor --repair` makes indexes anew from the rows")
    integrity.rebuild_indexes()
    left = integrity.file_problems().of_rows
    if not left:
        return ok(name, f"indexes were out of step; made anew, {fine}")
    return problem(name, "; ".join(left[:_NAMED]), BACKUP_HINT)


def _check_references(integrity: StoreIntegrity) -> Check:
    broken = integrity.broken_references()
    if not broken:
        return ok("references", "every row points at rows that exist")
    words = "; ".join(f"{count:,} rows of {table} point at no {parent}" for table, parent, count in broken)
    return problem("references", words, BACKUP_HINT)


def _check_texts(integrity: StoreIntegrity) -> Check:
    changed, lost = integrity.changed_documents(), integrity.lost_passages()
    if changed:
        numbers = ", ".join(map(str, changed[:_NAMED]))
        message = f"{len(changed):,} stored texts are not what was hashed when they were read (documents {numbers}"
        return problem("texts", f"{message}{', …' if len(changed) > _NAMED else ''})", BACKUP_HINT)
    if lost:
        run_id, key = lost[0]
        return problem(
            "texts",
            f"{len(lost):,} cited passages lie outside of their text, {key} of run {run_id} first",
            BACKUP_HINT,
        )
    return ok("texts", "every text matches its hash, and every shown passage lies in its text")


def _check_words(index: LexicalIndex, repair: bool) -> Check:
    name, fine = "full-text index", "holds exactly the stored passages"
    if _is_in_step(index):
        return ok(name, fine)
    message = "is not in step with the stored passages: searches by words miss or invent some"
    if not repair:
        return problem(name, message, "`asky doctor --repair` makes it anew from the stored texts")
    index.rebuild()
    if _is_in_step(index):
        return ok(name, f"was not in step with the stored passages; made anew, it {fine}")
    return problem(name, f"{message}; making it anew did not help", BACKUP_HINT)


def _is_in_step(index: LexicalIndex) -> bool:
    try:
        return index.check()
    except StoreDamaged:
        return False


def _check_cache(counts: PageCounts, max_bytes: int) -> Check:
    words = f"{counts.pages:,} pages with {format_bytes(counts.bytes)} of text, {format_bytes(max_bytes)} at most"
    if counts.bytes > max_bytes:
        return note("web cache", words, "those that were unused longest are forgotten the next time the web is used")
    return ok("web cache", words)


def _check_runs(runs: RunStore) -> Check:
    interrupted = runs.interrupted()
    if not interrupted:
        return ok("runs", "none was cut short")
    count = len(interrupted)
    return note(
        "runs",
        f"{count:,} {'was' if count == 1 else 'were'} cut short, {interrupted[0]} first",
        "their processes were killed: `asky runs resume ID` goes on with one, `asky runs show ID -v` has what it found",
    )
