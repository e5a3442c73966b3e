"""Floors of reading books, each with the hash of its data. A floor only rises."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from asky.errors import SourceUnreadable
from asky.reading.books.epub import read
from tests.quality.books import books, kept


@dataclass(frozen=True, slots=True)
class Floor:
    """What a reading of the set with this hash must hold of the characters that the chapters show.

    MuPDF reaches 1.0000 and 1.0000 on the first set and .9996 and .9996 on the second.
    """

    name: str
    sha256: str
    kept: float
    in_order: float


FLOORS = [
    Floor("epub3_samples", "eeb0fc750a522bbec8bf08d4e959366a40225d64cbb6270ae36ff654039770cd", 0.9999, 0.9999),
    Floor("epub_w3c_tests", "47fba8c8e62030668220aac737a291e2ef7c9516792fd4ce841a80d936b56dde", 0.9999, 0.9999),
]


@pytest.mark.parametrize("floor", FLOORS, ids=lambda floor: floor.name)
def test_books_keep_their_text_in_its_order(floor: Floor, data_folder: Path) -> None:
    paths, sha256 = books(data_folder / floor.name)
    assert sha256 == floor.sha256, "the floor was measured on other data"
    found = kept(paths, _text)
    print(f"\n{floor.name}: {len(paths)} books, {found}")
    assert found.found / found.shown >= floor.kept
    assert found.in_order / found.shown >= floor.in_order


def _text(path: Path) -> str:
    try:
        return read(path.read_bytes(), path.name).text
    except SourceUnreadable:
        return ""
