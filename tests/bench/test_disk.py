"""What a chunk costs on disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.bench.measure import bytes_below

pytestmark = pytest.mark.slow


def test_a_further_chunk_of_200_words_takes_less_than_6_kb_with_both_indexes(
    indexed_folder: Callable[[int], Path],
) -> None:
    fewer, more = 4_000, 10_000
    small, large = indexed_folder(fewer), indexed_folder(more)

    def each(part: str) -> float:
        return (bytes_below(large / part) - bytes_below(small / part)) / (more - fewer)

    chroma, everything = each("chroma"), each(".")
    print(f"\nbytes a chunk: {everything - chroma:.0f} in SQLite, {chroma:.0f} in Chroma")
    print(f"bytes whatever the size: {bytes_below(small) - fewer * everything:.0f}")
    assert chroma > 4 * 384  # its vectors are there
    assert everything <= 6000
