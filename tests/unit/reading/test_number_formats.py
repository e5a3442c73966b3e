"""Values as the format codes of workbooks show them."""

from __future__ import annotations

import pytest

from asky.reading.office.number_formats import NumberFormat, built_in, shown_number


@pytest.mark.parametrize(
    ("value", "code", "shown"),
    [
        (0.075, "0.00%", "7.50%"),
        (1234.5, '#,##0.00 "kr"', "1,234.50 kr"),
        (1234.5, "[$€-407] #,##0.00", "€ 1,234.50"),
        (0.30000000000000004, "General", "0.3"),
        (0.3333333333333333, "General", "0.333333333"),
        (0.6666666666666666, "General", "0.666666667"),
        (4006381333931, "General", "4006381333931"),
        (1e-05, "General", "0.00001"),
        (1.2345678e-05, "General", "1.23457E-05"),
        (1e20, "General", "1E+20"),
        (123456.789, "General", "123456.789"),
        (3.14159265358979, "General", "3.141592654"),
        (1234, "00000", "01234"),
        (12, '0" kg"', "12 kg"),
        (12, "0 \\k\\g", "12 kg"),
        (2.5, "# ?/?", "2 1/2"),
        (0.3333333, "# ??/??", "1/3"),
        (1.28, "# ?/8", "1 2/8"),
        (12345, "0.00E+00", "1.23E+04"),
        (12345, "##0.0E+0", "12.3E+3"),
        (0.00012, "0.00E+00", "1.20E-04"),
        (46083, "d/m/yy", "2026-03-02"),
        (46083, "mmm yyyy", "2026-03"),
        (46083, "[$-409]d. mmm yyyy", "2026-03-02"),
        (46083.59375, "dd/mm/yyyy hh:mm", "2026-03-02 14:15"),
        (46083.59375, "m/d/yy h:mm AM/PM", "2026-03-02 2:15 PM"),
        (1.1041666666666667, "[h]:mm", "26:30"),
        (1.1041666666666667, "[hh]:mm:ss", "26:30:00"),
        (0.59375, "h:mm", "14:15"),
        (60, "yyyy-mm-dd", "1900-02-29"),
        (1, "yyyy-mm-dd", "1900-01-01"),
        (59, "yyyy-mm-dd", "1900-02-28"),
        (61, "yyyy-mm-dd", "1900-03-01"),
        (46083, "dddd", "Monday"),
        (46083, '[$-407]dddd", "d. mmmm yyyy', "2026-03-02"),
        (46083, "dddd, d mmmm yyyy", "Monday 2026-03-02"),
        (46083, "mmmm", "March"),
        (46083, "yyyy", "2026"),
        (-5, "0;(0)", "(5)"),
        (-5, "0.0", "-5.0"),
        (0, '0;-0;"-"', "-"),
        (1, '[=1]"Yes";[=0]"No"', "Yes"),
        (0, '[=1]"Yes";[=0]"No"', "No"),
        (5, "[Red][<10]0.0;[Blue]0", "5.0"),
        (50, "[Red][<10]0.0;[Blue]0", "50"),
        (1234567, '0.0,,"M"', "1.2M"),
        (1234567, "#,##0,", "1,235"),
        (2.675, "0.00", "2.68"),
        (0.125, "0.00", "0.13"),
        (5551234567, "(000) 000-0000", "(555) 123-4567"),
        (123456789, "000-00-0000", "123-45-6789"),
        (1234.5, '_-* #,##0.00\\ "€"_-;-* #,##0.00\\ "€"_-', "1,234.50 €"),
        (-3, "#,##0.00;[Red]-#,##0.00", "-3.00"),
        (5, "@", "5"),
        (0.5, ";;;", ""),
        (5, "#.##", "5"),
        (5.25, "#.##", "5.25"),
        (5.5, "0.0#", "5.5"),
        (0.25, ".00", ".25"),
        (0, "#", ""),
        (12.5, '0.0"%"', "12.5%"),
        (10000000000.0, "#,##0", "10,000,000,000"),
        (0.01, "0%", "1%"),
        (45.123, '"Temp: "0.0"°C"', "Temp: 45.1°C"),
        (1.5, "[m]", "2160"),
        (0.0010416666666666667, "mm:ss", "01:30"),
        (0.0010474537037037037, "mm:ss.0", "01:30.5"),
        (0.0010474537037037037, "[s].00", "90.50"),
        (1, 'General" pcs"', "1 pcs"),
        (1234.567, "#,##0.0##", "1,234.567"),
        (-1234.5, "$#,##0.00_);[Red]($#,##0.00)", "($1,234.50)"),
        (12, "Standard", "12"),
        (46083, "yyyy/mm/dd;@", "2026-03-02"),
        (46083, "[$-F800]dddd\\,\\ mmmm\\ dd\\,\\ yyyy", "Monday 2026-03-02"),
        (46083.5, 'yyyy"-"mm"-"dd"T"hh:mm:ss', "2026-03-02 12:00:00"),
        (0.75, "h AM/PM", "6 PM"),
        (5, '"Q"0', "Q5"),
        (0.5, "?/?", "1/2"),
        (1e-10, "0.00%", "0.00%"),
        (-0.5, "0%", "-50%"),
        (46083, '[$-411]ggge"年"m"月"d"日"', "2026-03-02"),
        (46083, "mmm-yy", "2026-03"),
        (3, "d", "3"),
        (-1.1041666666666667, "[h]:mm", "-26:30"),
        (12345.678, "#,##0.00 [$kr-41D]", "12,345.68 kr"),
        (7, "000", "007"),
        (5, '#" of 10"', "5 of 10"),
        (1234, "#\\ ##0", "1 234"),
        (1234567, "#\\ ###\\ ##0", "1 234 567"),
        (46083, '"Due "d mmm', "Due 2026-03-02"),
        (0.5, '0.00 "%"', "0.50 %"),
        (46083, "e", "2026"),
        (0.3, "?0.0?", "0.3"),
        (-0.001, "0.00", "0.00"),
        (1e300, "0.00", "1E+300"),
        (46083, "\\n\\o \\d\\a\\t\\e", "no date"),
    ],
)
def test_a_value_is_shown_as_its_format_shows_it(value: float, code: str, shown: str) -> None:
    assert " ".join(shown_number(value, code).split()) == shown


def test_the_date_system_of_1904_begins_four_years_later() -> None:
    assert shown_number(0, "yyyy-mm-dd", since_1904=True) == "1904-01-01"
    assert shown_number(44621.5, "d/m/yy h:mm", since_1904=True) == "2026-03-02 12:00"


@pytest.mark.parametrize("value", [-1, 2_958_466, 1e12, float("inf"), float("nan")])
def test_a_number_that_is_no_date_stays(value: float) -> None:
    assert shown_number(value, "yyyy-mm-dd").lower() in (str(value), f"{value:.0f}")


def test_texts_have_what_their_format_puts_around_them() -> None:
    assert NumberFormat('"Nr. "@').text("7") == "Nr. 7"
    assert NumberFormat("0.00").text("pending") == "pending"
    assert NumberFormat(";;;").text("secret") == ""
    assert NumberFormat(";;;").number(5) == ""


def test_formats_that_have_a_number_alone_are_known() -> None:
    assert shown_number(0.075, built_in(10)) == "7.50%"
    assert shown_number(46083, built_in(14)) == "2026-03-02"
    assert shown_number(1.5, built_in(46)) == "36:00:00"
    assert built_in(99) == "General"


@pytest.mark.parametrize(
    "code",
    [
        "",
        ";",
        ";;;;;;",
        "[",
        '"',
        "\\",
        "[h",
        "0" * 5_000,
        "/",
        "?/",
        "E+",
        "0E+",
        ".",
        "%",
        "[>]0",
        "@@",
        "[=1e999]0",
        "0/0/0",
        "y" * 900,
        "_",
        "*",
        "[$-]0",
        "[>1]0;[>2]0;[>3]0",
        "0.0.0",
        "h" * 99,
    ],
)
@pytest.mark.parametrize("value", [0.0, 1.5, -2.0, 1e-300, 1e300, -1e15])
def test_any_code_gives_some_text(code: str, value: float) -> None:
    assert len(shown_number(value, code)) < 3_000
