from __future__ import annotations

from pathlib import Path
from typing import Any

from asky.app.answers import answer_text


def citing(*paths: Path) -> dict[str, Any]:
    place = {"section": None, "page": None, "page_label": None, "url": None, "quote": "It is."}
    citations = [{"n": n, "title": path.stem, "path": str(path), **place} for n, path in enumerate(paths, start=1)]
    told = {"question": "?", "answer": "It is [1].", "citations": citations}
    return told | {"run": "r", "model": "m", "stopped_by": None}


def test_an_answer_in_a_vault_links_to_its_notes_as_obsidian_does(tmp_path: Path) -> None:
    (tmp_path / "vault" / ".obsidian").mkdir(parents=True)
    (tmp_path / "vault" / "answers").mkdir()
    note, other = tmp_path / "vault" / "sea" / "high tides.md", tmp_path / "other.md"
    answer = citing(note, other)
    inside = answer_text(answer, "md", tmp_path / "vault" / "answers")
    assert "[^1]: [high tides](<../sea/high%20tides.md>)" in inside
    assert f"[^2]: [other](<{other.as_uri()}>)" in inside
    for folder in (tmp_path, None):
        assert f"[^1]: [high tides](<{note.as_uri()}>)" in answer_text(answer, "md", folder)
