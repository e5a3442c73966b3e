from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from asky.storage.database import Database
from asky.storage.endpoints import EndpointFacts

URL = "http://localhost:8000/v1"


def test_facts_are_kept_for_an_endpoint_and_a_model_and_added_to(tmp_path: Path) -> None:
    facts = EndpointFacts(Database(tmp_path / "asky.db"))
    assert facts.recall(URL, "m") == {}
    facts.remember(URL, "m", {"temperature": "dropped", "stream_options": "dropped"})
    facts.remember(URL, "m", {"temperature": "kept"})
    again = EndpointFacts(Database(tmp_path / "asky.db"))
    assert again.recall(URL, "m") == {"temperature": "kept", "stream_options": "dropped"}
    assert again.recall(URL, "other") == {}
    assert again.recall("http://localhost:9000/v1", "m") == {}


def test_forgotten_facts_are_found_out_anew(tmp_path: Path) -> None:
    facts = EndpointFacts(Database(tmp_path / "asky.db"))
    facts.remember(URL, "m", {"temperature": "dropped"})
    facts.remember(URL, "other", {"temperature": "dropped"})
    facts.forget(URL, "m")
    assert facts.recall(URL, "m") == {}
    assert facts.recall(URL, "other") != {}


def test_a_store_that_cannot_be_written_is_no_reason_to_fail(tmp_path: Path) -> None:
    path = tmp_path / "asky.db"
    EndpointFacts(Database(path)).remember(URL, "m", {"temperature": "dropped"})
    database = Database(path)
    with closing(sqlite3.connect(path)) as damaged:
        damaged.execute("CREATE TRIGGER kept BEFORE DELETE ON endpoint BEGIN SELECT RAISE(ABORT, 'readonly'); END")
    facts = EndpointFacts(database)
    facts.forget(URL, "m")
    facts.remember(URL, "m", {"temperature": "kept"})


@pytest.mark.parametrize("damaged", ["'{bad'", "'[1]'", "CAST(x'7bff7d' AS TEXT)", "x'7b7d'", "5"])
def test_facts_that_cannot_be_read_are_not_known_and_are_learned_again(tmp_path: Path, damaged: str) -> None:
    database = Database(tmp_path / "asky.db")
    facts = EndpointFacts(database)
    facts.remember(URL, "m", {"temperature": "dropped"})
    with database.write() as connection:
        connection.execute(f"UPDATE endpoint SET facts = {damaged}")
    assert facts.recall(URL, "m") == {}
    facts.remember(URL, "m", {"stream_options": "dropped"})
    assert facts.recall(URL, "m") == {"stream_options": "dropped"}
