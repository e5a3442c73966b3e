"""What an author has hidden in comments of a note is kept in the store, and nothing searches, shows or sends it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.endpoint import obedient
from tests.support.here import run_here
from tests.support.note_lab import NoteLab

SECRETS = ("ask-Leif", "code-9912", "whale-oil", "never-sold", "open-ended")
NOTE = """---
aliases: [Chain book]
---
# Chain

Grease the chain in May with tallow. %%ask-Leif about the price of tallow%%

<!-- The chain locker opens with code-9912. -->

%%
## Grease
The best grease for the chain is whale-oil.
%%

> [!tip] Care <!-- never-sold -->
> The chain is washed in fresh water every autumn.

%% open-ended: the chain is from 1931
"""
QUESTION = "What do we grease the chain with, and what opens the chain locker?"


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[NoteLab]:
    with NoteLab(tmp_path) as opened:
        opened.put("Chain.md", NOTE)
        opened.put("Boat.md", "# Boat\n\n![[Chain]]\n")
        yield opened


def test_no_outlet_has_them(lab: NoteLab, tmp_path: Path) -> None:
    lab.endpoint.play(obedient)
    said = []

    def asky(*arguments: str) -> str:
        done = run_here(*arguments, home=lab.folder, environ=lab.environ(), cwd=tmp_path)
        said.append(done.stdout + done.stderr)
        return done.stdout

    vault = str(lab.vault)
    for form in ("--json", "-v"):
        asky("search", form, "-d", vault, "chain grease locker")
        for hidden in SECRETS:
            asky("search", form, "-d", vault, hidden)
        asky("ask", "--no-web", "-d", vault, form, QUESTION)
        asky("ask", "--no-web", "-d", vault, form, "What is the note Chain about?")
        asky("ask", "--no-web", "-r", "-m", "far", "-d", vault, form, QUESTION)
        asky("why", "1", *([form] if form == "--json" else []))
    run = json.loads(asky("runs", "list", "--json"))["runs"][0]["id"]
    for file in ("answer.md", "answer.html", "answer.json"):
        asky("runs", "export", run, "-o", str(tmp_path / file))
        assert (tmp_path / file).exists()
    asky("runs", "show", run, "-v")
    asky("notes", "find", "--json", "chain grease")
    asky("notes", "read", "Chain book")
    assert "washed in fresh water" in asky("notes", "read", "Boat", "--json")
    asky("notes", "research", "Chain", "--vault-only", "--dry-run")
    asky("verify", str(lab.vault / "Chain.md"), "-d", vault)
    asky("corpus", "list")

    assert any("Grease the chain in May with tallow" in each for each in said)
    assert lab.endpoint.requests
    sent = b"".join(each.body for each in lab.endpoint.requests)
    store = lab.folder / "asky" / "data" / "asky.db"
    kept = b"".join(
        each.read_bytes()
        for each in tmp_path.rglob("*")
        if each.is_file() and lab.vault not in each.parents and not each.name.startswith(store.name)
    )
    for hidden in SECRETS:
        shown = [each for each in said if hidden in each.replace(f'"query":"{hidden}"', "")]
        assert not shown, hidden
        assert hidden.encode() not in sent, hidden
        assert hidden.encode() not in kept, hidden
    assert set(_places(store, SECRETS)) == {("document", "metadata"), ("source", "metadata")}


def _places(store: Path, hidden: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each table and column of a database that holds one of these texts."""
    with closing(sqlite3.connect(store)) as database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        for table in tables:
            rows = database.execute(f'SELECT * FROM "{table}"')
            names = [each[0] for each in rows.description]
            for row in rows:
                for name, value in zip(names, row, strict=True):
                    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
                    if any(each in text.replace(f'"query": "{each}"', "") for each in hidden):
                        yield table, name
