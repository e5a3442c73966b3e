"""The command line over real documents, with the real embedding model."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home folder in which asky has an empty cache."""
    (tmp_path / "home" / "asky" / "cache").mkdir(parents=True, mode=0o700)
    return tmp_path / "home"


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """Three small documents."""
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "tides.md").write_text(
        "# Tides\n\n## Causes\n\nThe moon pulls the water of the sea and raises two high tides a day. The sun raises"
        " smaller tides of its own.\n\n## Spring tides\n\nWhen the sun and the moon stand in one line, the tides are"
        " largest. Sailors call them spring tides.\n",
        "utf-8",
    )
    (folder / "bread.txt").write_text(
        "Bread rises because yeast makes carbon dioxide. A loaf is baked for forty minutes at 230 degrees.\n", "utf-8"
    )
    (folder / "rivers.html").write_text(
        "<html><head><title>Rivers</title></head><body><article><h1>Rivers</h1><p>The Nile is 6,650 kilometres long and"
        " flows through eleven countries of Africa.</p><p>The Amazon carries more water than any other river of the"
        " world.</p></article></body></html>",
        "utf-8",
    )
    return folder
