"""Counts are told with the noun that fits them."""

from __future__ import annotations

import pytest

from asky.text.counting import counted


@pytest.mark.parametrize(
    ("count", "told"), [(0, "0 searches"), (1, "1 search"), (2, "2 searches"), (12_345, "12,345 searches")]
)
def test_a_count_is_told_with_its_noun(count: int, told: str) -> None:
    assert counted(count, "search", "searches") == told


def test_most_nouns_take_an_s() -> None:
    assert [counted(count, "page") for count in (1, 2)] == ["1 page", "2 pages"]
