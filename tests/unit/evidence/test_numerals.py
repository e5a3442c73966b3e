from __future__ import annotations

import pytest

from asky.evidence.verification.numerals import fraction, scaled, values_of


@pytest.mark.parametrize(
    ("numeral", "values"),
    [
        ("007", {"7"}),
        ("2.50", {"2.5"}),
        ("1,400", {"1400"}),
        ("1,400,000.50", {"1400000.5"}),
        ("1.400", {"1.4", "1400"}),
        ("2½", {"2.5"}),
        ("3,5", {"3,5", "3.5", "3", "5"}),
        ("1.2.3", {"1.2.3"}),
    ],
)
def test_a_numeral_has_every_value_that_its_separators_allow(numeral: str, values: set[str]) -> None:
    assert values_of(numeral) == values


def test_what_is_scaled_stays_exact_and_what_is_no_number_or_a_very_long_one_is_left_out() -> None:
    assert scaled(frozenset({"1.4", "1.2.3", "9" * 19}), 10**6) == {"1400000"}


def test_a_fraction_without_an_end_is_rounded_and_cut_to_as_many_places_as_people_write() -> None:
    assert fraction(2, 1, 2) == {"2.5"}
    rounded = {each for each in fraction(0, 2, 3) if len(each) < 9}
    assert rounded == {"0.66", "0.666", "0.7", "0.67", "0.667"}
