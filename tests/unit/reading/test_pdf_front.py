"""Title, authors, date and identifiers of a PDF: those of its first page, else those of the file."""

from __future__ import annotations

import pytest

from asky.reading.pages.dates import find_date
from asky.reading.pdf import read
from asky.values import Document
from tests.support.files import PrintedLine, column_of, pdf, printed_pdf

BODY = (
    "Mills were built on every river of the country, and most of them are gone. We have counted those that are left, "
    "and we have measured their wheels. The result is a list of forty mills with their owners and their years."
)


def paper(*names: PrintedLine) -> Document:
    title: PrintedLine = (120, 80, "On the Mills of the Upper River", 18, "hebo")
    lines = [title, *names, (270.0, 200.0, "Abstract", 12.0, "hebo"), *column_of(BODY, 60, 230, 90)]
    return read(printed_pdf([lines]), "a.pdf")


@pytest.mark.parametrize(
    "wrong",
    [
        "Microsoft Word - final2.doc",
        "untitled",
        "paper.dvi",
        "1 Introduction",
        "main",
        "mills_v3-final",
        "arXiv:2101.00001",
    ],
)
def test_a_title_field_that_is_none_gives_way_to_the_page(wrong: str) -> None:
    lines: list[PrintedLine] = [(120, 80, "On the Mills of the Upper River", 18, "hebo"), *column_of(BODY, 60, 230, 90)]
    assert read(printed_pdf([lines], {"title": wrong}), "a.pdf").title == "On the Mills of the Upper River"


def test_a_title_field_that_the_page_bears_out_is_the_title() -> None:
    lines: list[PrintedLine] = [(120, 80, "ON THE MILLS OF THE UPPER RIVER", 18, "hebo"), *column_of(BODY, 60, 230, 90)]
    facts = {"title": "On the Mills of the Upper River"}
    assert read(printed_pdf([lines], facts), "a.pdf").title == "On the Mills of the Upper River"


def test_the_title_may_have_two_lines_and_stands_below_the_line_of_the_journal() -> None:
    lines: list[PrintedLine] = [
        (60, 40, "Journal of Old Mills, 3(2), 2019", 9, "helv"),
        (120, 80, "On the Mills of the Upper River and", 18, "hebo"),
        (120, 102, "their Owners", 18, "hebo"),
        *column_of(BODY, 60, 230, 90),
    ]
    document = read(printed_pdf([lines]), "a.pdf")
    assert document.title == "On the Mills of the Upper River and their Owners"
    assert (document.metadata["journal"], document.metadata["published"]) == ("Journal of Old Mills", "2019")


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("Ada Miller and Bo van der Weir", "Ada Miller; Bo van der Weir"),
        ("Ada Miller, Bo M. Weir & C. D. Sluice", "Ada Miller; Bo M. Weir; C. D. Sluice"),
        ("ADA MILLER", "Ada Miller"),
        ("Ada Miller* (ada@mill.org)", "Ada Miller"),
        ("By Ada Miller", "Ada Miller"),
    ],
)
def test_authors_stand_below_the_title(line: str, names: str) -> None:
    place: PrintedLine = (200, 120, "Department of Mills, University of Weir", 9, "helv")
    assert paper((200, 105, line, 11, "helv"), place).metadata["author"] == names


def test_raised_marks_do_not_stick_to_names() -> None:
    names: list[PrintedLine] = [
        (200, 105, "Ada Miller", 11, "helv"), (252.5, 101, "1,2", 7, "helv"), (263, 105, ", Bo Weir", 11, "helv"),
        (308, 101, "2", 7, "helv"),
    ]  # fmt: skip
    found = paper(*names)
    assert found.metadata["author"] == "Ada Miller; Bo Weir"
    assert "Bo Weir\n" in found.text


def test_the_file_s_authors_count_where_the_page_names_none() -> None:
    assert read(printed_pdf([column_of(BODY, 60, 80, 90)], {"author": "Ada Miller"}), "a.pdf").metadata == {
        "author": "Ada Miller"
    }
    assert read(printed_pdf([column_of(BODY, 60, 80, 90)], {"author": "Administrator"}), "a.pdf").metadata == {}


def test_a_doi_and_a_date_are_those_of_the_first_page_and_not_of_its_references() -> None:
    lines: list[PrintedLine] = [
        (120, 80, "On the Mills of the Upper River", 18, "hebo"),
        (60, 120, "DOI: 10.5555/Mills.7", 9, "helv"),
        (60, 135, "Submitted: 02 May 2018", 9, "helv"),
        (60, 150, "Published: 30 August 2018", 9, "helv"),
        *column_of(BODY, 60, 230, 90),
        (60, 400, "References", 12, "hebo"),
        (60, 420, "Weir, B. (2001). Wheels. https://doi.org/10.5555/wheels", 10, "helv"),
    ]
    found = read(printed_pdf([lines]), "a.pdf").metadata
    assert (found["doi"], found["published"]) == ("10.5555/mills.7", "2018-08-30")


def test_a_page_without_a_title_has_none() -> None:
    assert read(pdf(["Just some words.", "And more."]), "a.pdf").title is None


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("3 Feb 2021", "2021-02-03"),
        ("August 30th, 2018", "2018-08-30"),
        ("in May 2014", "2014-05"),
        ("2020-01-31", "2020-01-31"),
        ("31 Foo 2020", None),
        ("45 May 2020", None),
    ],
)
def test_dates_are_read_as_papers_print_them(text: str, date: str | None) -> None:
    assert find_date(text) == date
