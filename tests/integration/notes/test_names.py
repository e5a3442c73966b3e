"""Notes by the names that people have for them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import anyio
import pytest

from asky.errors import UsageError
from tests.support.here import run_here
from tests.support.note_lab import NoteLab

BOILER = "---\naliases: [Blue notebook, Ålesund]\n---\n\nThe boiler holds 260 litres.\n"


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[NoteLab]:
    with NoteLab(tmp_path) as opened:
        opened.put("Notes/20250211.md", BOILER)
        yield opened


def read(lab: NoteLab, name: str) -> str:
    return anyio.run(partial(lab.asky.notes.read_note, name))


@pytest.mark.parametrize("name", ["Blue notebook", "blue  NOTEBOOK", unicodedata.normalize("NFD", "Ålesund")])
def test_a_note_is_read_by_its_alias_before_anything_is_indexed(lab: NoteLab, name: str) -> None:
    assert "260 litres" in read(lab, name)


def test_an_alias_that_was_written_since_the_index_was_made_counts(lab: NoteLab) -> None:
    read(lab, "Blue notebook")
    lab.put("Notes/20250211.md", BOILER.replace("Blue notebook", "Green notebook"))
    assert "260 litres" in read(lab, "Green notebook")
    with pytest.raises(UsageError, match="Blue notebook not found"):
        read(lab, "Blue notebook")


@pytest.mark.parametrize("others", [("Work/Plan.md", "Home/Plan.md"), ("Work/a.md", "Home/b.md")])
def test_several_notes_of_one_name_or_alias_are_all_named(lab: NoteLab, others: tuple[str, str]) -> None:
    for each in others:
        lab.put(each, "---\naliases: Plan\n---\n\nText.\n")
    for command in ("read", "links", "undo", "research"):
        done = run_here("notes", command, "plan", home=lab.folder, environ=lab.environ())
        assert done.returncode == 2
        assert all(each in done.stderr for each in others)
    assert "Text." in read(lab, others[0])


def test_a_path_comes_before_another_note_of_that_name(lab: NoteLab) -> None:
    lab.put("Plan.md", "Of the vault.\n")
    lab.put("Home/Plan.md", "Of the home.\n")
    assert "Of the vault." in read(lab, "Plan")
    assert "Of the home." in read(lab, "home/plan")
