"""What a chunk costs on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench.conftest import INDEXED_CHUNKS
from tests.bench.measure import bytes_below

pytestmark = pytest.mark.slow


def test_a_chunk_of_200_words_takes_less_than_6_kb_with_both_indexes(indexed_folder: Path) -> None:
    chroma = bytes_below(indexed_folder / "chroma") / INDEXED_CHUNKS
    everything = bytes_below(indexed_folder) / INDEXED_CHUNKS
    print(f"\nbytes a chunk: SQLite {everything - chroma:.0f}, Chroma {chroma:.0f}")
    assert chroma > 4 * 384  # its vectors are there
    assert everything <= 6000
