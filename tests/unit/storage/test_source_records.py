"""What became of sources is kept beyond the runs, bounded, and decides which are asked first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from asky.storage.database import Database
from asky.storage.runs import RunStore
from asky.storage.sessions import SessionStore
from asky.storage.source_records import MAX_FAILURES, MAX_USES, AccessFailure, SourceRecords, SourceUse

KEY = "sk-canary-5b1f0c7e"


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(tmp_path / "asky.db", clock=lambda: "2026-11-21T10:00:00+00:00")
    yield opened
    opened.close()


def test_a_failure_is_kept_on_one_line_and_without_secrets(database: Database) -> None:
    records = SourceRecords(database, mask=lambda text: text.replace(KEY, "***"))
    records.record_access_failure(
        f"https://me:pw@example.org/a?key={KEY}", "brave", "blocked", f"no\naccess\x1b[31m with {KEY} " + "x" * 999
    )
    records.record_access_failure("https://example.org/b", "web", "captcha", "a captcha", run="r1")
    second, first = records.failures()
    assert second == AccessFailure(
        "https://example.org/b", "web", "captcha", "a captcha", "2026-11-21T10:00:00+00:00", "r1"
    )
    assert first.url == "https://example.org/a?key=***"
    assert first.error_message.startswith("no access with *** xxx")
    assert len(first.error_message) == 300
    assert records.failures(run="r1") == records.failures(limit=1) == [second]
    records.forget_failures()
    assert records.failures() == []


def test_failures_outlive_their_run(database: Database) -> None:
    records, runs = SourceRecords(database), RunStore(database)
    session = SessionStore(database).open("lab", mode="standard")
    run = runs.start(question="?", mode="agent", model="m", session_id=session.id)
    records.record_access_failure("https://example.org/", "web", "blocked", "no", run=run.id)
    runs.release(run.id)
    with database.write() as connection:
        connection.execute("DELETE FROM run")
    assert [each.run for each in records.failures()] == [run.id]


def test_both_tables_are_bounded_and_keep_the_newest(database: Database) -> None:
    moments = iter(range(10**6))
    database.clock = lambda: f"{next(moments):06}"
    records = SourceRecords(database)
    with database.write():
        for number in range(MAX_FAILURES + 5):
            records.record_access_failure(f"https://example.org/{number}", "web", "failed", "no")
        for number in range(MAX_USES + 5):
            records.note_use(f"field {number}", "web", queries=1)
    failures = records.failures()
    assert len(failures) == MAX_FAILURES
    assert (failures[0].url, failures[-1].url) == (f"https://example.org/{MAX_FAILURES + 4}", "https://example.org/5")
    assert [bool(records.uses(f"field {number}")) for number in (4, 5, MAX_USES + 4)] == [False, True, True]


def test_uses_add_up_by_field_and_source(database: Database) -> None:
    records = SourceRecords(database)
    records.note_use("medical", "pubmed", queries=1, results=10, used=4, new_facts=3)
    records.note_use("medical", "pubmed", queries=2, results=5, used=1, failures=1)
    records.note_use("general", "pubmed", queries=7)
    assert records.uses("medical") == {"pubmed": SourceUse(3, 15, 5, 3, 1)}


def test_sources_that_surely_give_much_come_first_and_one_lucky_query_proves_little(database: Database) -> None:
    records = SourceRecords(database)
    for name, counts in {
        "steady": (20, 200, 120, 100, 0),
        "lucky": (1, 10, 10, 10, 0),
        "failing": (20, 100, 60, 50, 10),
        "poor": (20, 200, 10, 5, 0),
        "silent": (20, 0, 0, 0, 20),
        "empty": (20, 0, 0, 0, 0),
    }.items():
        queries, results, used, new_facts, failures = counts
        records.note_use(
            "medical", name, queries=queries, results=results, used=used, new_facts=new_facts, failures=failures
        )
    ranked = records.get_ranked_sources("medical")
    assert [name for name, _ in ranked] == ["steady", "lucky", "failing", "poor", "empty", "silent"]
    assert all(0 <= score < 1 for _, score in ranked)
    assert dict(ranked)["steady"] > 1.5 * dict(ranked)["lucky"]
    assert records.get_ranked_sources("unknown") == []
