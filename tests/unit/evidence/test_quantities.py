from __future__ import annotations

import pytest

from asky.evidence.verification.quantities import quantities
from tests.support.timing import check_linear


def values(text: str) -> list[set[str]]:
    return [set(quantity.values) for quantity in quantities(text) if quantity.certain]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,400 and 1400 and 1400.0 and 01400", [{"1400"}] * 4),
        ("1\u202f400 and 1\u00a0400", [{"1400"}] * 2),
        ("3.50 and 3.5", [{"3.5"}] * 2),
        ("1.400", [{"1.4", "1400"}]),
        ("twelve, Twenty-Five, twenty five", [{"12"}, {"25"}, {"25"}]),
        ("one hundred and twelve thousand and five", [{"112005"}]),
        ("two and three; a hundred; four hundred", [{"2"}, {"3"}, {"100"}, {"400"}]),
        ("1.4 million, 1.4m, 2 thousand", [{"1400000"}, {"1.4", "1400000"}, {"2000"}]),
        ("2010–2015 and 10-20", [{"2010"}, {"2015"}, {"10"}, {"20"}]),
        ("3rd of the 1990s, ٤٥", [{"3"}, {"1990", "1990s"}, {"45"}]),
        ("version 1.2.3", [{"1.2.3"}]),
        ("1,5", [{"1,5", "1.5", "1", "5"}]),
        ("½, 0.5, 1/2, .5 and 0.50", [{"0.5"}, {"0.5"}, {"0.5"}, {"5"}, {"0.5"}]),
        ("2½ and 2 ½ and 2 1/2 and 2.5", [{"2.5"}] * 4),
        ("¾ mile, 3/4 mile, ¹⁄₄ mile", [{"0.75"}, {"0.75"}, {"0.25"}]),
        ("½ million", [{"500000"}]),
        ("24/7 and 3/4/5", [{"24"}, {"7"}, {"3"}, {"4"}, {"5"}]),
        ("↉", [{"0"}]),
        ("10^6.6, 10**6.6, 10^{6.6}, $10^{6.60}$ and 10^(6.6)", [{"10^6.6"}] * 5),
        ("10⁶·⁶, 10⁶˙⁶, 10<sup>6.6</sup> and 10 to the power of 6.6", [{"10^6.6"}] * 4),
        ("106.6 and 10 and 6.6", [{"106.6"}, {"10"}, {"6.6"}]),
        ("10⁶, 10^6, one million", [{"1000000"}] * 3),
        ("10⁻³, 10^−3, 10^{-3}", [{"0.001"}] * 3),
        ("3.5 × 10^6, 3.5·10⁶, 3.5 \\times 10^{6}, 3.5 million", [{"3500000"}] * 4),
        ("4 × 10^30, 1 × 10^30, 10^30", [{"4×10^30"}, {"10^30"}, {"10^30"}]),
        ("2^10, 0^-1, 1.2.3^4", [{"1024"}, {"0^-1"}, {"1.2.3^4"}]),
        ("5 m^2, 5 m², 5 m2, 5 s^-1, R^2", [{"5"}] * 4),
        ("in 1911² and 2024³, 2¼", [{"1911"}, {"2024"}, {"2.25"}]),
        ("**10** 6 apples", [{"10"}, {"6"}]),
        ("no number at all", []),
    ],
)
def test_numbers_agree_however_they_are_written(text: str, expected: list[set[str]]) -> None:
    assert values(text) == expected


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("⅔", "2/3"),
        ("⅔", "0.67"),
        ("⅔", "two-thirds"),
        ("two thirds", "⅔"),
        ("⅓", "a third"),
        ("½", "half"),
        ("2½", "two and a half"),
        ("3½", "3 and a half"),
        ("¼", "one quarter"),
        ("1⁄8", "⅛"),
    ],
)
def test_fractions_agree_however_they_are_written(text: str, same: str) -> None:
    (wanted,) = [quantity for quantity in quantities(text) if quantity.certain]
    assert any(not wanted.values.isdisjoint(quantity.values) for quantity in quantities(same))


def test_a_fraction_is_named_as_it_is_written() -> None:
    assert [quantity.written for quantity in quantities("½, 2 ½ and 1/2") if quantity.certain] == ["½", "2 ½", "1/2"]


@pytest.mark.parametrize(
    "text", ["half of them", "one of them", "the third", "COVID-19", "H1N1", "5G and 3D", "x_5 and #7", "v2"]
)
def test_what_may_be_no_number_is_uncertain(text: str) -> None:
    found = quantities(text)
    assert found
    assert not any(quantity.certain for quantity in found)


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("12 km", "km"),
        ("12km", "km"),
        ("12-kilometre", "km"),
        ("twelve kilometers", "km"),
        ("12%", "%"),
        ("12 percent", "%"),
        ("12 per cent", "%"),
        ("$12", "$"),
        ("12 dollars", "$"),
        ("12 cats", None),
        ("the 2012s", None),
        ("12", None),
    ],
)
def test_units_are_known_by_one_name(text: str, unit: str | None) -> None:
    assert [quantity.unit for quantity in quantities(text)] == [unit]


@pytest.mark.parametrize(
    "text", ["12 March 2020", "March 12, 2020", "12th of Mar. 2020", "2020-03-12", "on 13/3/2020", "3/13/2020"]
)
def test_dates_give_day_month_and_year_in_any_order(text: str) -> None:
    found = quantities(text)
    assert {quantity.month for quantity in found} == {None, 3}
    assert {value for quantity in found for value in quantity.values} <= {"12", "13", "2020"}
    assert len(found) == 3


def test_a_month_counts_only_beside_a_number() -> None:
    assert [quantity.month for quantity in quantities("They may March in May and 5 march")] == [5, None]
    assert quantities("He may come in March") == []


def test_a_date_that_cannot_be_is_plain_numbers() -> None:
    assert values("2020-13-45 and 03/04/2021") == [{"2020"}, {"13"}, {"45"}, {"3"}, {"4"}, {"2021"}]


@pytest.mark.parametrize(
    "unit",
    [
        *("1", "1,", "1.", "one ", "hundred ", "twenty-", "and ", "May ", "1 ", "1/", "10/10/2000", "½ ", "million "),
        *("10^", "1^1", "1×10^", "1²", "10 ** "),
    ],
)
def test_hostile_text_takes_linear_time(unit: str) -> None:
    check_linear(lambda chars: quantities(unit * (chars // len(unit))), 3_000)
