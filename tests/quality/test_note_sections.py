"""Of every note of two real vaults, asky's part is inserted, nothing else changes, and it is written once."""

from __future__ import annotations

from pathlib import Path

import pytest

from asky.notes.section import present_body, replace_section
from tests.support.notes import BODIES, inserted

_VAULTS = ("obsidian_help_en", "kepano_obsidian")


@pytest.mark.parametrize("vault", _VAULTS)
def test_nothing_of_a_note_changes_but_the_research(data_folder: Path, vault: str) -> None:
    notes = sorted(path for path in (data_folder / vault).rglob("*.md") if path.is_file())
    assert len(notes) > 50
    for number, path in enumerate(notes):
        data, body = path.read_bytes(), BODIES[number % len(BODIES)]
        once = replace_section(data, body)
        at, new = inserted(data, once)
        assert at + 2 >= len(data.rstrip()), path
        assert b"## Research" in new, path
        assert present_body(once) == body, path
        assert replace_section(replace_section(once, body), body) == once, path
        other = replace_section(once + b"\nmine\n", "### Other")
        assert other.endswith(b"mine\n"), path
        assert inserted(data, other)[1].rstrip().endswith(b"mine"), path
    print(f"\n{vault}: {len(notes)} notes, all identical outside of the section")
