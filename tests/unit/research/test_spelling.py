from __future__ import annotations

import unicodedata
from pathlib import Path

from asky.research.local.spelling import as_on_disk

COMPOSED, APART = (unicodedata.normalize(form, "Café Ålesund") for form in ("NFC", "NFD"))


def test_a_name_is_found_however_its_accents_are_composed(tmp_path: Path) -> None:
    (tmp_path / APART).mkdir()
    (tmp_path / APART / f"{COMPOSED}.md").touch()
    for folder, file in ((COMPOSED, COMPOSED), (COMPOSED, APART), (APART, APART)):
        assert as_on_disk(tmp_path / folder / f"{file}.md") == tmp_path / APART / f"{COMPOSED}.md"


def test_a_name_that_is_there_or_means_several_stays(tmp_path: Path) -> None:
    (tmp_path / APART).touch()
    assert as_on_disk(tmp_path / APART) == tmp_path / APART
    (tmp_path / COMPOSED).touch()
    assert as_on_disk(tmp_path / COMPOSED) == tmp_path / COMPOSED
    for missing in (tmp_path / "Bodø", tmp_path / "ø\0", Path("ø/x")):
        assert as_on_disk(missing) == missing
