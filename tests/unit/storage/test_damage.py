"""Damage in the store's values: each is found, told apart from what is whole, and set aside without a loss."""

from __future__ import annotations

import base64
import json
import os
import sqlite3
import stat
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from asky.errors import StorageError, StoreDamaged, StoreFull
from asky.storage.events import EventStore, StoredEvent
from asky.storage.pages import PageRow, PageTable
from asky.storage.repair.damage import Damage, find_damage, quarantine
from asky.storage.sessions import NewMessage
from asky.storage.stored_json import Unreadable
from asky.values import Link
from tests.support.stores import TIDES, FilledStore

QUOTE = "The moon pulls on the water"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[FilledStore]:
    """A store with something in every table that commands read."""
    with FilledStore(tmp_path) as filled:
        path = tmp_path / "tides.md"
        document = filled.add_text(path, TIDES)
        run = filled.answered(
            "What pulls?", "The moon [1].", lambda run: [filled.evidence(run, path, document, QUOTE)], session="tides"
        )
        for number in range(3):
            filled.runs.steps.add(run, "set aside", "", {"number": number})
        filled.findings.add("The moon pulls.", session_id=None, run_id=run, tags=["moon"])
        page = PageRow("https://a.example", "https://a.example", 1.0, 2.0, 1.0, links=(Link("https://b", "b", 0),))
        PageTable(filled.database, filled.corpus).put(page)
        yield filled


def execute(store: FilledStore, sql: str, *parameters: object) -> None:
    with store.database.write() as connection:
        connection.execute(sql, parameters)


def one(store: FilledStore, sql: str) -> Any:
    with store.database.read() as connection:
        return connection.execute(sql).fetchone()[0]


def damage(store: FilledStore) -> list[Damage]:
    return find_damage(store.database)


def files(store: FilledStore) -> list[Path]:
    """The files of all repairs."""
    return sorted(store.data.glob("asky.db.set-aside-*"))


def repair(store: FilledStore) -> list[dict[str, Any]]:
    """What the file of a repair holds."""
    path, repaired = quarantine(store.database, store.data)
    assert path is not None
    assert repaired
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_a_whole_store_has_no_damage_and_nothing_is_written_for_it(store: FilledStore) -> None:
    before = sorted(store.data.iterdir())
    assert damage(store) == []
    assert quarantine(store.database, store.data) == (None, [])
    assert sorted(store.data.iterdir()) == before


# a change, the damaged value by table and column, what is wrong, what a repair does, and the value after it
CHANGES = [
    ("UPDATE session SET settings = '{'", "session", "settings", "it is not JSON", "emptied", "{}"),
    ("UPDATE session SET settings = '[1]'", "session", "settings", "it is not what asky writes", "emptied", "{}"),
    ("UPDATE session SET mode = CAST(x'6162ff' AS TEXT)", "session", "mode", "it is not UTF-8", "replaced", "ab\ufffd"),
    ("UPDATE message SET data = x'7b7d' WHERE id = 1", "message", "data", "it is not text", "emptied", "{}"),
    ("UPDATE message SET content = 5.5 || x'c3' WHERE id = 1", "message", "content", "UTF-8", "replaced", "5.5\ufffd"),
    ("UPDATE message SET data = '{\"shown\": 5}' WHERE id = 1", "message", "data", "it is not what", "emptied", "{}"),
    ("UPDATE run SET answer = '[1]'", "run", "answer", "it is not what asky writes", "emptied", None),
    ("UPDATE run SET finished_at = x'00'", "run", "finished_at", "it is not text", "emptied", None),
    ("UPDATE document SET sections = '[[1]]'", "document", "sections", "it is not what asky", "emptied", "[]"),
    ("UPDATE source SET metadata = 'x'", "source", "metadata", "it is not JSON", "emptied", "{}"),
    ('UPDATE source SET metadata = \'{"of_the_work": {"doi": 5}}\'', "source", "metadata", "not what", "emptied", "{}"),
    ("UPDATE text_block SET text = CAST(x'ff' AS TEXT)", "text_block", "text", "UTF-8", "replaced", "\ufffd"),
    ("UPDATE finding SET tags = '[1]'", "finding", "tags", "it is not what asky writes", "emptied", "[]"),
    ("UPDATE page SET links = '{}'", "page", "links", "it is not what asky writes", "emptied", "[]"),
    ("UPDATE page SET summary = '{}'", "page", "summary", "it is not what asky writes", "emptied", None),
]


@pytest.mark.parametrize(("change", "table", "column", "why", "action", "after"), CHANGES)
def test_a_damaged_value_is_named_and_another_takes_its_place(
    store: FilledStore, change: str, table: str, column: str, why: str, action: str, after: object
) -> None:
    before = one(store, f"SELECT count(*) FROM {table}")
    execute(store, change)
    (found,) = damage(store)
    assert (found.table, found.column, found.repair) == (table, column, action)
    assert why in found.why
    (kept,) = repair(store)
    assert (kept["table"], kept["column"]) == (table, column)
    assert damage(store) == []
    assert one(store, f"SELECT {column} FROM {table} LIMIT 1") == after
    assert one(store, f"SELECT count(*) FROM {table}") == before


@pytest.mark.parametrize("data", ["{", "[]", "[" * 100_000], ids=["cut", "no object", "nested"])
def test_an_event_that_cannot_be_read_is_named_and_taken_out(store: FilledStore, data: str) -> None:
    run, events = store.runs.find(None).id, EventStore(store.database)
    events.append(run, [StoredEvent(seq, "2026-11-01T00:00:00Z", "warned", {"n": seq}) for seq in (1, 2, 3)])
    execute(store, "UPDATE event SET data = ? WHERE seq = 2", data)
    with pytest.raises(StoreDamaged, match=f"event 2 of run {run}"):
        events.after(run, 0)
    (found,) = damage(store)
    assert (found.table, found.column, found.repair, found.run) == ("event", "data", "taken out", run)
    repair(store)
    assert [each.seq for each in events.after(run, 0)] == [1, 3]


def test_an_answer_whose_letters_are_damaged_keeps_the_others(store: FilledStore) -> None:
    execute(store, "UPDATE run SET answer = CAST(replace(CAST(answer AS BLOB), x'6d6f6f6e', x'6dff6f6e') AS TEXT)")
    with pytest.raises(StoreDamaged, match=r"\(answer\) is not UTF-8"):
        store.runs.find(None)
    repair(store)
    answer = store.runs.find(None).answer
    assert answer is not None
    assert answer["answer"] == "The m\ufffdon [1]."


def test_a_record_ends_before_its_first_damaged_step_and_all_that_came_later_is_kept_in_the_file(
    store: FilledStore,
) -> None:
    run = store.runs.find(None).id
    execute(store, "UPDATE step SET data = ? WHERE ordinal >= 1", zlib.compress(b"[]"))
    assert [each.repair for each in damage(store)] == ["taken out", "taken out"]
    kept = repair(store)
    assert [each["row"]["ordinal"] for each in kept] == [1, 2]
    assert base64.b64decode(kept[0]["row"]["data"]["bytes"]) == zlib.compress(b"[]")
    assert [each.data for each in store.runs.steps.of(run)] == [{"number": 0}]
    assert damage(store) == []


def test_a_call_that_cannot_be_read_goes_with_its_turn_s_other_calls_and_results_and_no_other_turn_does(
    store: FilledStore,
) -> None:
    session = store.sessions.open("tides", mode="research").id
    run = store.runs.find(None).id
    other = store.answered("And then?", "Ebb.", lambda _: [], session="tides")
    for id_ in (run, other):
        called = [NewMessage("call", "", {"calls": [["a", "look", "{}"]]}), NewMessage("tool", "seen", {"id": "a"})]
        store.sessions.append(session, called, run_id=id_)
    execute(store, "UPDATE message SET data = '{\"id\": 5}' WHERE role = 'tool' AND run_id = ?", run)
    (found,) = damage(store)
    assert (found.table, found.column, found.repair, found.run) == ("message", "data", "taken out", run)
    assert [each["row"]["role"] for each in repair(store)] == ["call", "tool"]
    said = [(each.role, each.run_id) for each in store.sessions.messages(session)]
    assert said == [
        ("user", run), ("assistant", run), ("user", other), ("assistant", other), ("call", other), ("tool", other),
    ]  # fmt: skip
    assert damage(store) == []


def test_a_passage_without_its_source_goes(store: FilledStore) -> None:
    run = store.runs.find(None).id
    (whole,) = store.runs.passages(run)
    execute(store, "UPDATE passage SET source = '{'")
    (found,) = damage(store)
    assert (found.repair, found.run) == ("taken out", run)
    (kept,) = repair(store)
    assert kept["row"]["key"] == whole.key
    assert store.runs.passages(run) == []


def test_a_ledger_is_not_rewritten_and_says_what_was_set_aside(store: FilledStore) -> None:
    run = store.runs.find(None).id
    assert not store.findings.may_depend_on_web(run, None)
    with store.database.write() as connection:
        connection.execute("DROP TRIGGER ledger_is_append_only")  # the disk asks no trigger
        connection.execute("UPDATE ledger SET data = '{' WHERE kind = 'asked'")
    with pytest.raises(StoreDamaged, match=f"the ledger of run {run}: it is not JSON"):
        store.runs.ledger(run)
    (kept,) = repair(store)
    assert (kept["row"]["kind"], kept["row"]["data"]) == ("asked", "{")
    kinds = [each.kind for each in store.runs.ledger(run)]
    assert "asked" not in kinds
    assert kinds[-1] == "set_aside"
    entry = store.runs.ledger(run)[-1].data
    assert (entry["table"], entry["column"]) == ("ledger", "data")
    assert (store.data / entry["file"]).is_file()
    assert store.findings.may_depend_on_web(run, None)  # what was damaged may have been of the web


def test_a_key_that_other_rows_hang_on_is_named_and_left_alone(store: FilledStore) -> None:
    with store.database.read() as connection:
        connection.execute("PRAGMA foreign_keys=OFF")
    execute(store, "UPDATE session SET id = CAST(x'ff' AS TEXT)")
    (found,) = damage(store)
    assert (found.row, found.repair) == ("\ufffd (tides)", None)
    assert quarantine(store.database, store.data) == (None, [])
    assert one(store, "SELECT hex(id) FROM session") == "FF"
    assert store.sessions.listed() == [Unreadable("tides", f"the store {store.database.path} is damaged: a text in it"
                                                  " (id) is not UTF-8")]  # fmt: skip


def test_a_reference_is_emptied_and_one_value_that_cannot_be_repaired_keeps_no_other_from_it(
    store: FilledStore,
) -> None:
    other = store.sessions.open("other", mode="standard").id
    execute(store, "UPDATE session SET name = ? WHERE id = ?", "tides\ufffd", other)
    with store.database.read() as connection:
        connection.execute("PRAGMA foreign_keys=OFF")
    execute(store, "UPDATE message SET run_id = CAST(x'ff' AS TEXT) WHERE role = 'user'")
    execute(store, "UPDATE session SET name = CAST(name || x'ff' AS TEXT) WHERE name = 'tides'")
    execute(store, "UPDATE run SET answer = '{'")
    with store.database.read() as connection:
        connection.execute("PRAGMA foreign_keys=ON")
    assert [each.repair for each in damage(store)] == ["emptied", "emptied", "replaced"]
    repair(store)
    (left,) = damage(store)
    assert (left.table, left.column) == ("session", "name")  # another session is called so
    assert one(store, "SELECT run_id FROM message WHERE role = 'user'") is None
    assert store.runs.find(None).answer is None


def test_what_is_set_aside_is_the_users_alone_and_never_overwritten(store: FilledStore) -> None:
    for _ in range(2):  # within one second, as the clock may have it
        execute(store, "UPDATE session SET settings = '{'")
        repair(store)
    assert len(files(store)) == 2
    assert all(stat.S_IMODE(each.stat().st_mode) == 0o600 for each in files(store))


def test_nothing_is_changed_where_the_file_cannot_be_written(store: FilledStore, tmp_path: Path) -> None:
    execute(store, "UPDATE session SET settings = '{'")
    with pytest.raises(StorageError, match="cannot write"):
        quarantine(store.database, tmp_path / "nowhere")
    assert one(store, "SELECT settings FROM session") == "{"


def test_what_no_mend_can_help_is_not_said_to_be_set_aside_and_makes_no_file(store: FilledStore) -> None:
    run = store.runs.find(None).id
    store.sessions.open("other", mode="standard")
    execute(store, "UPDATE session SET name = ? WHERE name = 'other'", "tides\ufffd")
    execute(store, "UPDATE session SET name = CAST(name || x'ff' AS TEXT) WHERE name = 'tides'")
    with store.database.read() as connection:
        connection.execute("PRAGMA ignore_check_constraints=ON")
        connection.execute("UPDATE run SET status = CAST(x'72ff' AS TEXT)")
        connection.execute("PRAGMA ignore_check_constraints=OFF")
    before = damage(store)
    assert [(each.table, each.column, each.repair) for each in before] == [
        ("run", "status", "replaced"),
        ("session", "name", "replaced"),
    ]
    for _ in range(2):
        assert quarantine(store.database, store.data) == (None, [])
        assert (damage(store), files(store)) == (before, [])
    assert "set_aside" not in [each.kind for each in store.runs.ledger(run)]
    execute(store, "UPDATE session SET settings = '{'")
    path, repaired = quarantine(store.database, store.data)
    assert path is not None
    assert {(each.table, each.column) for each in repaired} == {("session", "settings")}
    assert {json.loads(line)["column"] for line in path.read_text("utf-8").splitlines()} == {"settings"}
    assert damage(store) == before


def test_a_row_with_two_damaged_values_is_kept_as_it_was_with_both(store: FilledStore) -> None:
    execute(store, "UPDATE session SET settings = '{', mode = CAST(x'6162ff' AS TEXT)")
    first, second = repair(store)
    assert (first["column"], second["column"]) == ("mode", "settings")
    assert base64.b64decode(first["row"]["mode"]["text"]) == b"ab\xff"
    assert first["row"]["settings"] == second["row"]["settings"] == "{"
    assert damage(store) == []


def test_no_file_is_left_where_the_repair_fails_after_it_was_written(store: FilledStore) -> None:
    execute(store, "UPDATE run SET answer = '{'")
    execute(store, "CREATE TRIGGER full BEFORE INSERT ON ledger BEGIN SELECT RAISE(ABORT, 'disk is full'); END")
    with pytest.raises(StoreFull):
        quarantine(store.database, store.data)
    assert (one(store, "SELECT answer FROM run"), files(store)) == ("{", [])


def test_no_file_is_left_where_the_repair_cannot_be_committed(store: FilledStore) -> None:
    execute(store, "UPDATE run SET answer = '{'")
    written: list[Path] = []

    def refuse(action: int, operation: str | None, *_: object) -> int:
        if action != sqlite3.SQLITE_TRANSACTION or operation != "COMMIT":
            return sqlite3.SQLITE_OK
        written.extend(files(store))
        return sqlite3.SQLITE_DENY

    with store.database.read() as connection:
        connection.set_authorizer(refuse)
    with pytest.raises(StorageError, match="not authorized"):
        quarantine(store.database, store.data)
    store.database.close()
    assert len(written) == 1
    assert (one(store, "SELECT answer FROM run"), files(store)) == ("{", [])


def test_the_file_is_on_disk_before_anything_is_changed(store: FilledStore, monkeypatch: pytest.MonkeyPatch) -> None:
    execute(store, "UPDATE run SET answer = '{'")
    synced: list[int] = []
    sync = os.fsync

    def note(descriptor: int) -> None:
        sync(descriptor)
        synced.append(os.fstat(descriptor).st_ino)

    monkeypatch.setattr(os, "fsync", note)
    path, _ = quarantine(store.database, store.data)
    assert path is not None
    assert synced == [path.stat().st_ino]


def test_metadata_that_say_something_else_of_the_work_are_damage_and_crash_nothing(store: FilledStore) -> None:
    execute(store, "UPDATE source SET metadata = ?", json.dumps({"of_the_work": "x"}))
    execute(store, "UPDATE passage SET source = '{'")
    id_ = one(store, "SELECT id FROM source")
    with pytest.raises(StoreDamaged, match="the metadata of the source"):
        store.corpus.source(id_)
    assert [(each.table, each.repair) for each in damage(store)] == [("passage", "taken out"), ("source", "emptied")]
    repair(store)
    assert store.corpus.source(id_) is not None


def test_a_session_whose_name_is_damaged_hides_no_other_ones_name(store: FilledStore) -> None:
    fine = store.sessions.open("fine", mode="standard").id
    tides = one(store, "SELECT id FROM session WHERE name = 'tides'")
    execute(store, "UPDATE session SET name = CAST('tide' || x'ff' AS TEXT) WHERE name = 'tides'")
    assert store.sessions.names() == {fine: "fine", tides: "tide\ufffd"}
    assert store.sessions.name_of(tides) == "tide\ufffd"
    assert store.sessions.name_of("gone") is None
    with store.database.read() as connection:
        connection.execute("PRAGMA foreign_keys=OFF")
    execute(store, "UPDATE session SET id = CAST(x'ff' AS TEXT) WHERE id = ?", tides)
    assert store.sessions.names() == {fine: "fine", "\ufffd": "tide\ufffd"}


def test_texts_are_read_as_usual_after_a_look_at_damaged_ones(store: FilledStore) -> None:
    execute(store, "UPDATE session SET name = CAST(x'ff' AS TEXT)")
    damage(store)
    with pytest.raises(StoreDamaged, match="not UTF-8"):
        store.sessions.recent()


def test_a_finding_that_cannot_be_read_hides_no_other(store: FilledStore) -> None:
    second = store.findings.add("The sun pulls too.", session_id=None, run_id=None)
    third = store.findings.add("The mill burned.", session_id=None, run_id=None)
    execute(store, "UPDATE finding SET passages = '[{\"source_id\": 5}]' WHERE id = ?", second)
    listed = store.findings.listed()
    assert [each.name if isinstance(each, Unreadable) else each.id for each in listed] == [third, str(second), 1]
    assert [each.why for each in listed if isinstance(each, Unreadable)] == [
        f"the store is damaged: the passages of finding {second}: it is not what asky writes there"
    ]
    execute(store, "UPDATE finding SET text = CAST(x'ff' AS TEXT) WHERE id = ?", third)
    assert [isinstance(each, Unreadable) for each in store.findings.listed()] == [True, True, False]
    with store.database.read() as connection:
        connection.execute("PRAGMA ignore_check_constraints=ON")
        connection.execute("UPDATE finding SET trust = 'nobody' WHERE id = 1")
    assert all(isinstance(each, Unreadable) for each in store.findings.listed())


@pytest.mark.parametrize("place", ["start = -5", "end = start - 1", "end = x'00'"])
def test_a_passage_that_lies_nowhere_is_damage_that_names_its_run(store: FilledStore, place: str) -> None:
    run = store.runs.find(None).id
    execute(store, f"UPDATE passage SET {place}")
    with pytest.raises(StoreDamaged, match=f"the place of passage P[0-9a-f]+ of run {run}"):
        store.runs.passages(run)


def test_lists_go_on_past_a_row_that_cannot_be_read(store: FilledStore) -> None:
    store.sessions.open("fine", mode="standard")
    other = store.answered("Who?", "Nobody.", lambda _: [])
    execute(store, "UPDATE session SET settings = '{' WHERE name = 'tides'")
    execute(store, "UPDATE run SET answer = '{' WHERE id <> ?", other)
    sessions, runs = store.sessions.listed(), store.runs.listed()
    assert {each.name: isinstance(each, Unreadable) for each in sessions} == {
        "fine": False,
        "tides": True,
    }
    assert [isinstance(each, Unreadable) for each in runs] == [False, True]
    assert [each.name for each in store.runs.listed() if isinstance(each, Unreadable)] != [other]
    assert len(store.runs.listed(limit=1)) == 1
    assert list(store.sessions.names().values()) == [each.name for each in sessions]
