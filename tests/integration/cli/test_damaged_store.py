"""A damaged store on the command line: what is whole can be used, what is damaged is named, and there is a way out."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from asky.storage.pages import PageRow, PageTable
from asky.storage.sessions import NewMessage
from tests.support.asky_command import run_asky
from tests.support.faults import execute
from tests.support.here import run_here
from tests.support.in_process import InProcess
from tests.support.stores import TIDES, FilledStore

QUOTE = "The moon pulls on the water"


@pytest.fixture
def asky(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> InProcess:
    """A home with two sessions, of one answered question each."""
    home = tmp_path / "asky"
    with FilledStore(home) as store:
        path = tmp_path / "tides.md"
        document = store.add_text(path, TIDES)
        for name in ("first", "second"):
            store.answered(
                f"What pulls, {name}?",
                "The moon [1].",
                lambda run: [store.evidence(run, path, document, QUOTE)],
                session=name,
            )
    return InProcess(home, monkeypatch, capsys)


def runs_of(asky: InProcess) -> dict[str, str]:
    """The id of each run by its session."""
    return {each["session"]: each["id"] for each in asky("runs", "list", "--json").json["runs"]}


UNREADABLE = (b"media_type TEXT NOT NULL", b"media_type TEXT NOT N\xeeLL")
READABLE = (b"characters INTEGER NOT NULL", b"character\xf3 INTEGER NOT NULL")


def damage_schema(home: Path, old: bytes, new: bytes) -> None:
    """The first page says something else of a table."""
    with FilledStore(home) as store, store.database.read() as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    path = home / "data" / "asky.db"
    data = path.read_bytes()
    assert data.count(old) == 1
    path.write_bytes(data.replace(old, new))


@pytest.mark.parametrize(
    "command", [("session", "list"), ("runs", "show"), ("search", "moon"), ("corpus", "list"), ("-c", "And?")]
)
def test_a_damaged_schema_is_said_with_a_way_out(asky: InProcess, tmp_path: Path, command: tuple[str, ...]) -> None:
    damage_schema(asky.home, *UNREADABLE)
    done = run_asky(*command, home=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "is damaged: malformed database schema (document)" in done.stderr
    assert "asky doctor" in done.stderr
    assert "unexpected" not in done.stderr


def test_doctor_says_of_a_damaged_schema_what_to_do_and_changes_nothing(asky: InProcess, tmp_path: Path) -> None:
    damage_schema(asky.home, *UNREADABLE)
    before = (asky.home / "data" / "asky.db").read_bytes()
    for options in (["--json"], ["--repair", "--json"]):
        done = run_here("doctor", *options, home=tmp_path)
        assert done.returncode == 1
        (problem,) = [each for each in json.loads(done.stdout)["checks"] if each["state"] == "problem"]
        assert "malformed database schema" in problem["message"]
        assert "backup" in problem["hint"]
    assert (asky.home / "data" / "asky.db").read_bytes() == before


def test_a_schema_that_can_still_be_read_is_damaged_too_where_it_is_not_the_one_that_asky_makes(
    asky: InProcess, tmp_path: Path
) -> None:
    damage_schema(asky.home, *READABLE)
    done = run_here("-c", "And the sun?", home=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "is damaged: " in done.stderr
    assert "characters" in done.stderr
    checked = run_here("doctor", "--json", home=tmp_path)
    problems = {each["name"]: each for each in json.loads(checked.stdout)["checks"] if each["state"] == "problem"}
    assert problems["schema"]["message"] == "damaged: table document"
    assert all(each["hint"] for each in problems.values())


def test_lists_show_a_damaged_row_among_the_others(asky: InProcess) -> None:
    ids = runs_of(asky)
    execute(asky.home, "UPDATE session SET settings = '{' WHERE name = 'first'")
    execute(asky.home, "UPDATE run SET answer = '[1]' WHERE id = ?", ids["first"])
    sessions = asky("session", "list")
    assert sessions.code == 0
    assert re.search(r"^first +damaged$", sessions.out, re.MULTILINE)
    assert re.search(r"^second +\d{4}-.*2 messages  \S", sessions.out, re.MULTILINE)
    assert "the settings of the session first: it is not JSON" in sessions.err
    assert "asky doctor" in sessions.err
    runs = asky("runs", "list")
    assert runs.code == 0
    assert f"{ids['first']}  damaged\n" in runs.out
    assert f"{ids['second']}  1 citation" in runs.out
    listed = asky("runs", "list", "--json").json
    assert [each["id"] for each in listed["runs"]] == [ids["second"]]
    assert [each["name"] for each in listed["damaged"]] == [ids["first"]]
    kept = asky("session", "list", "--json").json
    assert ([each["name"] for each in kept["sessions"]], kept["damaged"][0]["name"]) == (["second"], "first")


def test_a_damaged_session_stands_in_the_way_of_no_other_and_of_no_run(asky: InProcess) -> None:
    ids = runs_of(asky)
    execute(asky.home, "UPDATE session SET settings = '{' WHERE name = 'first'")
    assert asky("session", "show", "second").code == 0
    assert asky("runs", "show", ids["first"]).code == 0
    assert asky("memory", "list").code == 0
    done = asky("session", "show", "first")
    assert (done.code, done.out) == (1, "")
    assert "the settings of the session first" in done.err


def test_lists_of_findings_and_pages_show_the_others_beside_a_damaged_one(asky: InProcess) -> None:
    with FilledStore(asky.home) as store:
        for text in ("The moon pulls.", "The sun pulls too."):
            store.findings.add(text, session_id=None, run_id=None)
        for name in ("a", "b"):
            url = f"https://{name}.example"
            PageTable(store.database, store.corpus).put(PageRow(url, url, 1.0, 2.0, 1.0))
    execute(asky.home, """UPDATE finding SET passages = '[{"source_id": 5}]' WHERE text LIKE 'The sun%'""")
    execute(asky.home, """UPDATE page SET links = '[["https://c.example", 5, 0]]' WHERE url = 'https://a.example'""")
    for command, kind, whole in (
        (("memory", "list"), "findings", "The moon pulls."),
        (("cache", "list"), "pages", "https://b.example"),
    ):
        done = asky(*command)
        assert (done.code, whole in done.out) == (0, True)
        assert "asky doctor" in done.err
        listed = asky(*command, "--json").json
        assert (len(listed[kind]), len(listed["damaged"])) == (1, 1)


def test_a_call_without_its_arguments_is_damage_and_a_repair_takes_the_calls_of_its_turn_out(asky: InProcess) -> None:
    with FilledStore(asky.home) as store:
        session = store.sessions.find("first")
        assert session is not None
        called = [NewMessage("call", "", {"calls": [["a", "look"]]}), NewMessage("tool", "seen", {"id": "a"})]
        store.sessions.append(session.id, called, run_id=runs_of_store(store)["first"])
    done = asky("session", "show", "first")
    assert (done.code, done.out) == (1, "")
    assert "the data of a message" in done.err
    assert "its row and those that depend on it were removed" in asky("doctor", "--repair").out
    shown = asky("session", "show", "--json", "first").json
    assert [each["role"] for each in shown["messages"]] == ["user", "assistant"]


def runs_of_store(store: FilledStore) -> dict[str, str]:
    """The id of each run by the name of its session."""
    names = store.sessions.names()
    return {names[run.session_id]: run.id for run in store.runs.recent() if run.session_id is not None}


def test_a_session_whose_name_is_damaged_stands_in_the_way_of_no_other(asky: InProcess, tmp_path: Path) -> None:
    execute(asky.home, "UPDATE session SET name = CAST(name || x'ff' AS TEXT) WHERE name = 'first'")
    with FilledStore(asky.home) as store:
        (damaged,) = [id_ for id_, name in store.sessions.names().items() if name != "second"]
        store.findings.add("The moon pulls.", session_id=damaged, run_id=None, tags=[])
    done = run_here("-c", "--no-web", "--json", "What pulls on the water?", home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["session"] == "second"
    listed = asky("memory", "list", "--json")
    assert listed.code == 0, listed.err
    assert [each["session"] for each in listed.json["findings"]] == ["first\ufffd"]
    assert runs_of(asky)["first\ufffd"]


def test_a_repair_that_cannot_mend_a_row_says_so_and_writes_no_file(asky: InProcess) -> None:
    execute(asky.home, "UPDATE session SET name = 'second' || ? WHERE name = 'first'", "\ufffd")
    execute(asky.home, "UPDATE session SET name = CAST(name || x'ff' AS TEXT) WHERE name = 'second'")
    for _ in range(2):
        done = asky("doctor", "--repair", "--json")
        assert done.code == 1
        (row,) = [each for each in done.json["checks"] if each["name"] == "rows"]
        assert (row["state"], "it cannot be repaired" in row["hint"]) == ("problem", True)
    assert not list((asky.home / "data").glob("asky.db.set-aside-*"))


def test_a_record_may_call_its_metadata_what_the_store_calls_something_else(asky: InProcess, tmp_path: Path) -> None:
    file = tmp_path / "notes.jsonl"
    metadata = {"of_the_work": {"doi": "x"}, "published": "2020"}
    file.write_text(json.dumps({"id": "1", "text": "The moon pulls on the mud.", "metadata": metadata}))
    assert asky("corpus", "add", "--jsonl", str(file)).code == 0
    done = asky("corpus", "list", "--json")
    assert done.code == 0, done.err
    assert "jsonl:default/1" in done.out


@pytest.mark.few(4)
@pytest.mark.parametrize(
    "change",
    [
        "UPDATE session SET settings = '{'",
        "UPDATE message SET data = '{'",
        "UPDATE message SET content = CAST(x'61ff' AS TEXT)",
        "UPDATE run SET answer = '{'",
        "UPDATE run SET answer = '{}'",
        "UPDATE run SET question = CAST(x'61ff' AS TEXT)",
        "UPDATE passage SET source = '{}'",
        "UPDATE source SET metadata = '[]'",
        "UPDATE document SET pages = '{'",
        "INSERT INTO step SELECT id, 0, 'begun', '', x'00ff' FROM run",
    ],
)
def test_whatever_is_damaged_doctor_names_it_and_repair_makes_every_command_work(
    asky: InProcess, tmp_path: Path, change: str
) -> None:
    run_id = runs_of(asky)["second"]
    execute(asky.home, change)
    commands = [
        ("session", "list"),
        ("session", "show", "first"),
        ("session", "export", "first", "--format", "json"),
        ("runs", "list"),
        ("runs", "show", run_id),
        ("runs", "export", run_id),
    ]
    for command in commands:
        done = asky(*command)
        assert done.code == 0 or "doctor" in done.err, done.err
        assert "unexpected" not in done.err
    before = asky("doctor", "--json")
    assert before.code == 1
    problems = [each for each in before.json["checks"] if each["state"] == "problem" and each["name"] == "rows"]
    assert problems
    assert all("asky doctor --repair" in each["hint"] for each in problems)
    repaired = asky("doctor", "--repair")
    assert repaired.code == 0, repaired.out
    (file,) = (asky.home / "data").glob("asky.db.set-aside-*.jsonl")
    assert str(file) in repaired.out
    for command in commands:
        done = asky(*command)
        assert (done.code, "damaged" in done.err) == (0, False), done.err
    assert asky("doctor").code == 0
    gone = asky("session", "rm", "first", "-y")
    assert gone.code == 0, gone.err


def test_many_damaged_rows_are_counted_and_not_all_listed(asky: InProcess) -> None:
    for number in range(30):
        execute(asky.home, "INSERT INTO session VALUES (?, ?, 'm', '', '', '{')", f"s{number:02}", f"name {number:02}")
    done = asky("doctor", "--json")
    rows = [each for each in done.json["checks"] if each["name"] == "rows"]
    assert len(rows) == 21
    assert rows[-1]["message"] == "and 10 more"


def test_a_bundle_that_would_fail_its_check_is_not_written(asky: InProcess, tmp_path: Path) -> None:
    run_id = runs_of(asky)["second"]
    file = tmp_path / "answer.zip"
    assert asky("runs", "export", run_id, "--bundle", str(file)).code == 0
    assert asky("runs", "verify", str(file)).code == 0
    file.unlink()
    execute(asky.home, "UPDATE run SET answer = replace(answer, 'The moon', 'The mood') WHERE id = ?", run_id)
    done = run_here("runs", "export", run_id, "--bundle", str(file), home=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "nothing was written" in done.stderr
    assert "asky doctor" in done.stderr
    assert not file.exists()
    altered = run_here("doctor", "--json", home=tmp_path)
    assert altered.returncode == 1
    (problem,) = [each for each in json.loads(altered.stdout)["checks"] if each["state"] == "problem"]
    assert (problem["name"], run_id in problem["message"]) == ("answers", True)


def test_a_record_without_its_beginning_is_damage_and_no_crash(asky: InProcess) -> None:
    run_id = runs_of(asky)["second"]
    with FilledStore(asky.home) as store:
        store.runs.steps.add(run_id, "set aside", "", {})
    done = asky("runs", "replay", run_id)
    assert (done.code, done.out) == (1, "")
    assert "its question and settings are missing" in done.err
