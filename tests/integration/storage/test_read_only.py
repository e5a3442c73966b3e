"""A store that can be read and not written: by its modes, or because its disk is mounted so."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.confined import bound_by_modes, read_only_disk, run_confined
from tests.support.faults import FAULTS, build_index
from tests.support.search_store import SearchStore
from tests.support.stores import FilledStore, fill_home

# Runs command lines one after the other, and prints what each left behind.
_COMMANDS = textwrap.dedent(
    """
    import contextlib, io, json, sys
    from asky.__main__ import run

    done = []
    for arguments in json.loads(sys.argv[1]):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run(arguments)
        done.append([code, out.getvalue(), err.getvalue()])
    print(json.dumps(done))
    """
)

Done = list[tuple[int, str, str]]


def _by_modes(data: Path) -> list[str]:
    (data / "asky.db").chmod(0o400)
    data.chmod(0o500)
    return bound_by_modes()


def _by_mode_of_the_file(data: Path) -> list[str]:
    (data / "asky.db").chmod(0o400)
    return bound_by_modes()


def _by_mode_of_the_folder(data: Path) -> list[str]:
    data.chmod(0o500)
    return bound_by_modes()


WAYS = pytest.mark.parametrize("lock", [_by_modes, _by_mode_of_the_file, _by_mode_of_the_folder, read_only_disk])


@pytest.fixture
def home(tmp_path: Path) -> Path:
    fill_home(tmp_path)
    return tmp_path


def _run(home: Path, prefix: Sequence[str], *commands: Sequence[str]) -> Done:
    command = [sys.executable, "-c", _COMMANDS, json.dumps(commands)]
    no_model = {"ASKY_RESEARCH__EMBEDDING__MODEL": str(home / "no-model")}  # the real one takes a quarter of a minute
    done: Done = json.loads(run_confined(prefix, command, home=home, environ=no_model).stdout)
    return done


def _python(home: Path, prefix: Sequence[str], code: str, *arguments: Path) -> Any:
    command = [sys.executable, "-c", textwrap.dedent(code), *arguments]
    return json.loads(run_confined(prefix, command, home=home).stdout)


@pytest.mark.few(1)
@WAYS
def test_what_reads_works_where_nothing_can_be_written(home: Path, lock: Callable[[Path], list[str]]) -> None:
    data = home / "asky" / "data"
    before = sorted(data.iterdir())
    commands = {
        "The moon pulls": ["search", "moon"],
        "The sea rises and falls twice a day.": ["why", "1"],
        "1 citation": ["runs", "list"],
        "How often?": ["runs", "show"],
        '"schema": "asky.run/1"': ["runs", "export"],
        "lab": ["session", "list"],
        "Twice a day": ["session", "show", "lab"],
        "tides.md": ["corpus", "list"],
        "sources      1": ["corpus", "status"],
    }
    done = _run(home, lock(data), *commands.values())
    for (expected, command), (code, out, err) in zip(commands.items(), done, strict=True):
        assert code == 0, (command, err)
        assert expected.replace(" ", "") in out.replace(" ", ""), command
    data.chmod(0o700)
    assert sorted(data.iterdir()) == before


@pytest.mark.few(1)
@WAYS
def test_what_writes_says_that_it_cannot(home: Path, lock: Callable[[Path], list[str]]) -> None:
    data = home / "asky" / "data"
    commands = [["ask", "How often?"], ["corpus", "add", str(home / "docs")], ["memory", "add", "a note"]]
    for code, _, err in _run(home, lock(data), *commands):
        assert code == 1
        assert f"cannot write {data / 'asky.db'}: it is read-only\n" in err
        assert "hint: " in err
        assert "unexpected" not in err
    data.chmod(0o700)


def test_a_folder_that_others_can_open_is_read_where_that_cannot_be_changed(home: Path) -> None:
    data = home / "asky" / "data"
    data.chmod(0o755)
    ((code, out, err),) = _run(home, read_only_disk(data), ["search", "moon"])
    assert (code, "The moon pulls" in out) == (0, True), err


def test_a_check_up_says_what_it_could_not_check_and_goes_on(home: Path) -> None:
    with FilledStore(home / "asky") as store:
        store.add_vectors(1)
    build_index(home / "asky")
    data = home / "asky" / "data"
    ((_, out, err),) = _run(home, read_only_disk(data), ["doctor", "--full", "--json"])
    assert "unexpected" not in err
    checks = {each["name"]: each for each in json.loads(out)["checks"]}
    lock = data / "chroma" / "lock"
    assert checks["vector index"]["state"] == "note"
    assert checks["vector index"]["message"] == f"not checked: {lock}: read-only file system"
    assert checks["vector index"]["hint"]
    assert checks["full-text index"]["state"] == "ok"
    assert "embedding model" in checks


def test_a_repair_that_cannot_write_says_so_and_speaks_of_no_backup(home: Path) -> None:
    FAULTS["lost words"][0](home / "asky")
    ((code, out, _),) = _run(home, read_only_disk(home / "asky" / "data"), ["doctor", "--repair", "--json"])
    (check,) = [each for each in json.loads(out)["checks"] if each["name"] == "full-text index"]
    assert (code, check["state"]) == (1, "problem")
    assert "cannot write" in check["message"]
    assert "backup" not in check["hint"]


@pytest.mark.parametrize("embedded", [False, True])
def test_a_store_that_is_not_wholly_embedded_is_searched_as_it_is(tmp_path: Path, embedded: bool) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    store = SearchStore(folder)
    store.add("tides", "The moon pulls the sea.")
    if embedded:
        store.search.store_chunk_embeddings(store.scope)
        store.add("mill", "The mill burned down in a moonless night.")
    store.close()
    found = _python(
        tmp_path,
        read_only_disk(folder),
        """
        import json, sys
        from pathlib import Path
        from tests.support.search_store import SearchStore

        store = SearchStore(Path(sys.argv[1]))
        print(json.dumps([store.found("moon sea"), store.search.tables.lexical.check(), store.embedder.embedded]))
        """,
        folder,
    )
    assert found == [["/tides"], True, []]


_READ_COLLECTIONS = """
    import json, sys
    from pathlib import Path
    from asky.errors import StorageError
    from asky.storage.corpus import CorpusStore
    from asky.storage.database import Database
    from asky.storage.documents import DocumentStore

    try:
        database = Database(Path(sys.argv[1]))
        print(json.dumps(CorpusStore(database, DocumentStore(database)).collections()))
    except StorageError as error:
        print(json.dumps([error.message, error.hint]))
"""
_DIE_WITH_A_LOG = """
    import os, sys
    from pathlib import Path
    from asky.storage.database import Database

    with Database(Path(sys.argv[1])).write() as connection:
        connection.execute("INSERT INTO collection(name, created_at) VALUES ('logged', 'now')")
    print("null", flush=True)
    os._exit(0)
"""


def test_what_is_only_in_the_log_of_a_killed_process_is_read(tmp_path: Path) -> None:
    path = tmp_path / "data" / "asky.db"
    _python(tmp_path, [], _DIE_WITH_A_LOG, path)
    assert _python(tmp_path, read_only_disk(path.parent), _READ_COLLECTIONS, path) == ["logged"]


def test_a_log_that_cannot_be_read_is_said_and_not_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "data" / "asky.db"
    _python(tmp_path, [], _DIE_WITH_A_LOG, path)
    Path(f"{path}-shm").unlink()
    message, hint = _python(tmp_path, read_only_disk(path.parent), _READ_COLLECTIONS, path)
    assert message == f"cannot read {path} without writing: asky.db-wal holds changes that it lacks"
    assert "ASKY_HOME" in hint
    assert _python(tmp_path, [], _READ_COLLECTIONS, path) == ["logged"]


def test_the_log_of_a_store_behind_a_link_is_not_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "data" / "asky.db"
    _python(tmp_path, [], _DIE_WITH_A_LOG, path)
    link = tmp_path / "link.db"
    link.symlink_to(path)
    assert _python(tmp_path, read_only_disk(path.parent), _READ_COLLECTIONS, link) == ["logged"]


def test_a_store_that_is_neither_there_nor_can_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    path = tmp_path / "data" / "asky.db"
    message, _ = _python(tmp_path, read_only_disk(path.parent), _READ_COLLECTIONS, path)
    assert message == f"cannot write {path}: Read-only file system"
