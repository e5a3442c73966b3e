"""Texts of PDFs as they were meant: columns, paragraphs, heads and feet, tables, headings."""

from __future__ import annotations

import pytest

from asky.reading.pdf import read
from asky.text.sentences import sentence_spans
from asky.values import Document
from tests.support.files import PrintedLine, check_document, column_of, pdf, printed_pdf

LEFT = (
    "The first column tells of the river and of the mill that stood beside it for two hundred years before the "
    "flood took it away. Nobody has built there since, and the meadow is grazed by the sheep of three farms. What "
    "remains of the weir can be seen in dry summers, when the water is low enough to walk"
)
RIGHT = (
    "across on the stones. The second column tells of the people who worked the mill, of their names in the book of "
    "the parish, and of the wages that they were paid. It closes with the list of the millers, of whom the last was "
    "a woman. She left the house in the year of the flood and never came back to the valley."
)


def sentences(document: Document) -> list[str]:
    return [document.text[span.start : span.end] for span in sentence_spans(document.text)]


def page_texts(document: Document) -> list[str]:
    return [document.text[page.start : page.end] for page in document.pages]


@pytest.mark.parametrize("swapped", [False, True])
def test_columns_are_read_one_after_the_other_whatever_the_file_s_order(swapped: bool) -> None:
    title: list[PrintedLine] = [(120, 80, "The Mill on the River and What Became of It", 18, "hebo")]
    left, right = column_of(LEFT, 60, 130, 44), column_of(RIGHT, 330, 130, 44)
    document = read(printed_pdf([[*title, *right, *left] if swapped else [*title, *left, *right]]), "a.pdf")
    check_document(document)
    assert document.text == f"The Mill on the River and What Became of It\n\n{LEFT} {RIGHT}"
    assert "when the water is low enough to walk across on the stones." in sentences(document)[3]


def test_a_side_bar_in_small_letters_stands_in_no_sentence_of_the_text_beside_it() -> None:
    bar = ["DOI: 10.5555/mill.7", "Submitted: 06 October 2018", "Published: 06 January 2019"]
    bar += ["Authors of papers retain", "the copyright of the work", "under a free licence"]
    beside: list[PrintedLine] = [(40, 105 + 9.5 * n, line, 7, "helv") for n, line in enumerate(bar)]
    text = column_of(f"{LEFT} {RIGHT}", 190, 100, 66)
    document = read(printed_pdf([[*beside, *text]]), "a.pdf")
    check_document(document)
    assert document.text.startswith(f"{LEFT} {RIGHT}\n\nDOI: 10.5555/mill.7")


def test_labels_beside_the_rows_of_a_table_are_no_side_bar() -> None:
    rows = column_of(f"{LEFT} {RIGHT}", 190, 100, 66)
    labels: list[PrintedLine] = [(40, row[1], f"Label number {n}", 7, "helv") for n, row in enumerate(rows)]
    document = read(printed_pdf([[line for pair in zip(labels, rows, strict=True) for line in pair]]), "a.pdf")
    assert document.text.index("Label number 1") < document.text.index("The second column")


def test_a_sentence_that_goes_on_overleaf_is_on_the_page_where_it_begins() -> None:
    head: list[PrintedLine] = [(60, 40, "A. Miller: The Mill", 9, "helv")]
    foot: list[PrintedLine] = [(300, 770, "Page {}", 9, "helv")]
    pages = [
        [
            *head,
            *column_of(text, 60, 100, 90),
            *[(x, y, line.format(number), size, font) for x, y, line, size, font in foot],
        ]
        for number, text in enumerate((LEFT, RIGHT, LEFT.replace("first", "third")), start=1)
    ]
    document = read(printed_pdf(pages), "a.pdf")
    check_document(document)
    first, second, third = page_texts(document)
    assert "low enough to walk across on the stones.\n\n" in first
    assert second.startswith("The second column tells")
    assert third.startswith("The third column")
    assert document.text.count("A. Miller: The Mill") == 1  # kept once, in no sentence
    assert "Page 1" not in document.text
    assert "Page 2" not in document.text


def test_text_beside_the_repeated_head_of_a_table_is_no_running_head() -> None:
    head: list[PrintedLine] = [(60, 60, "Mill", 8, "hebo"), (150, 60, "Wheels", 8, "hebo")]
    rights = [
        RIGHT,
        RIGHT.replace("across", "across and along"),
        RIGHT.replace("across", "across in the sun and along"),
    ]
    pages = [[*head, *column_of(LEFT, 60, 100, 44), *column_of(right, 330, 60, 44)] for right in rights]
    document = read(printed_pdf(pages), "a.pdf")
    check_document(document)
    for right, text in zip(rights, page_texts(document), strict=True):
        assert f"{LEFT} {right}" in text


def test_an_address_in_a_note_ends_no_sentence_that_goes_on_overleaf() -> None:
    note: list[PrintedLine] = [(60, 158, "3https://mill.org/", 6, "helv")]
    pages = [[*column_of(LEFT, 60, 100, 90), *note], column_of(RIGHT, 60, 100, 90)]
    document = read(printed_pdf(pages), "a.pdf")
    assert page_texts(document)[0] == f"{LEFT} across on the stones.\n\n3https://mill.org/\n\f"


def test_a_word_broken_at_the_end_of_a_page_is_whole() -> None:
    before = "It was a matter of normalization, they said, and of other things that they talked about,"
    pages = [
        [
            *column_of(before, 60, 100, 90),
            (60, 112, "and that nobody understood; this one was called the full normal-", 10, "helv"),
        ],
        column_of(
            "ization of the scales. After that the price of grain was never the same in the two towns.", 60, 100, 90
        ),
    ]
    first, second = page_texts(read(printed_pdf(pages), "a.pdf"))
    assert "called the full normalization of the scales." in first
    assert second.startswith("After that")


def test_a_turned_stamp_in_the_margin_stands_at_the_end_and_is_known() -> None:
    import pymupdf

    with pymupdf.open() as opened:
        page = opened.new_page(width=612, height=792)
        page.insert_text((30, 500), "arXiv:2101.00001v2  [cs.DL]  3 Feb 2021", fontsize=16, rotate=90)
        for x, y, line, size, font in column_of(LEFT + " across.", 80, 100, 90):
            page.insert_text((x, y), line, fontsize=size, fontname=font)
        document = read(opened.tobytes(), "a.pdf")
    assert document.text == f"{LEFT} across.\n\narXiv:2101.00001v2  [cs.DL]  3 Feb 2021"
    assert (document.metadata["arxiv"], document.metadata["published"]) == ("2101.00001v2", "2021-02-03")


@pytest.mark.parametrize("angle", [90, 180, 270])
def test_a_page_that_the_file_turns_reads_as_before(angle: int) -> None:
    import pymupdf

    with pymupdf.open(stream=printed_pdf([column_of(LEFT, 60, 100, 90)])) as opened:
        opened[0].set_rotation(angle)
        assert read(opened.tobytes(), "a.pdf").text == LEFT


@pytest.mark.parametrize("angle", [90, 270])
def test_a_page_whose_text_is_turned_reads_as_an_upright_one(angle: int) -> None:
    import pymupdf

    with pymupdf.open() as opened:
        page = opened.new_page(width=612, height=792)
        for number, (_, _, line, size, font) in enumerate(column_of(LEFT, 0, 0, 90)):
            at = (100 + 12 * number, 700) if angle == 90 else (500 - 12 * number, 60)
            page.insert_text(at, line, fontsize=size, fontname=font, rotate=angle)
        assert read(opened.tobytes(), "a.pdf").text == LEFT


def test_line_numbers_of_a_draft_are_left_out() -> None:
    lines = column_of(f"{LEFT} {RIGHT}", 100, 100, 60)
    numbers: list[PrintedLine] = [(60, y, str(number), 8, "helv") for number, (_, y, _, _, _) in enumerate(lines, 1)]
    assert read(printed_pdf([[*numbers, *lines]]), "a.pdf").text == f"{LEFT} {RIGHT}"


@pytest.mark.parametrize("columns", [2, 3])
def test_columns_of_numbers_that_stand_beside_no_text_are_read(columns: int) -> None:
    numbers: list[PrintedLine] = [
        (60 + 60 * column, 100 + 14 * number, str(100 * column + number), 10, "helv")
        for number in range(1, 25)
        for column in range(columns)
    ]
    shown = read(printed_pdf([[*numbers]]), "a.pdf").text.split()
    assert {"1", "24", "101", "124"} <= set(shown)


def test_a_table_of_numbers_below_a_line_of_text_is_read() -> None:
    numbers: list[PrintedLine] = [
        (60 + 60 * column, 120 + 14 * number, str(100 * column + number), 10, "helv")
        for number in range(1, 25)
        for column in range(3)
    ]
    heading: PrintedLine = (60, 100, "Berths of the three piers", 12, "helv")
    assert "224" in read(printed_pdf([[heading, *numbers]]), "a.pdf").text


def test_rows_of_a_table_are_lines_of_cells() -> None:
    rows = [("Mill", "Year", "Wheels"), ("Upper", "1690", "2"), ("Lower", "1702", "4"), ("Town", "1731", "3")]
    table = [
        (x, 200.0 + 14 * number, cell, 10.0, "helv")
        for number, row in enumerate(rows)
        for x, cell in zip((80.0, 250.0, 420.0), row, strict=True)
    ]
    document = read(printed_pdf([[*column_of(LEFT, 60, 100, 90), *table]]), "a.pdf")
    assert "Mill | Year | Wheels\n--- | --- | ---\nUpper | 1690 | 2\nLower | 1702 | 4\nTown | 1731 | 3" in document.text


def test_code_and_lists_keep_their_lines() -> None:
    code: list[PrintedLine] = [
        (80, 200 + 12 * number, line, 10, "cour")
        for number, line in enumerate(("def mill(grain):", "    return flour(grain)", "print(mill(3))"))
    ]
    items: list[PrintedLine] = [
        (80, 300, "1. Open the sluice.", 10, "helv"),
        (80, 314, "2. Close it again.", 10, "helv"),
    ]
    text = read(printed_pdf([[*column_of(LEFT, 60, 100, 90), *code, *items]]), "a.pdf").text
    assert "def mill(grain):\n" in text
    assert "return flour(grain)\nprint(mill(3))" in text
    assert "1. Open the sluice.\n2. Close it again." in text


def test_headings_on_the_pages_are_sections_where_there_is_no_outline() -> None:
    def section(number: int, heading: str, y: float) -> list[PrintedLine]:
        return [(60, y, heading, 12, "hebo"), *column_of(f"{LEFT} {number}.", 60, y + 20, 90)]

    lines = [
        (150.0, 60.0, "The Mill on the River", 18.0, "hebo"),
        *section(1, "Abstract", 100),
        *section(2, "1 Introduction", 200),
        *section(3, "2 Mills", 300),
        *section(4, "2.1 Upper Mill", 400),
        *section(5, "3 Conclusion", 500),
        *section(6, "References", 600),
    ]
    document = read(printed_pdf([lines]), "a.pdf")
    check_document(document)
    assert [(each.heading, each.level) for each in document.sections] == [
        ("Abstract", 1), ("1 Introduction", 1), ("2 Mills", 1), ("2.1 Upper Mill", 2), ("3 Conclusion", 1),
        ("References", 1),
    ]  # fmt: skip
    for number, each in enumerate(document.sections, start=1):
        part = document.text[each.start : each.end]
        assert part.startswith(each.heading)
        assert f"{number}." in part


def test_an_outline_finds_its_headings_by_their_words() -> None:
    import pymupdf

    pages = [
        [(60.0, 60.0, "I. INTRODUCTION", 12.0, "hebo"), *column_of(LEFT + ".", 60, 80, 90)],
        [
            (60.0, 60.0, "II. THE MILLS", 12.0, "hebo"),
            *column_of(RIGHT, 60, 80, 90),
            (60.0, 200.0, "[1] B. Weir, 2001.", 10.0, "helv"),
        ],
    ]
    with pymupdf.open(stream=printed_pdf(pages)) as opened:
        opened.set_toc([[1, "I Introduction", 1], [1, "The Mills", 1], [1, "References", 2]])
        document = read(opened.tobytes(), "a.pdf")
    found = [document.text[each.start : each.end].split("\n")[0] for each in document.sections]
    assert found == ["I. INTRODUCTION", "II. THE MILLS", "[1] B. Weir, 2001."]


def test_an_abstract_over_both_columns_is_read_before_them_with_its_short_last_line() -> None:
    abstract = column_of(f"Summary of it all. {LEFT}.", 100, 100, 80)
    left, right = column_of(LEFT, 60, 230, 44), column_of(RIGHT, 330, 230, 44)
    text = read(printed_pdf([[*abstract, *left, *right]]), "a.pdf").text
    assert text == f"Summary of it all. {LEFT}.\n\n{LEFT} {RIGHT}"


def test_two_columns_below_a_longer_text_over_the_whole_page_are_read_one_after_the_other() -> None:
    thanks = [
        line for number in range(5) for line in column_of(f"{LEFT} {number}.", 60, 60 + 48 * number, 108)
    ]  # 15 lines over the page, and 8 and 8 below them
    left = column_of(f"{LEFT} {LEFT}", 60, 340, 46)
    right = column_of(f"{RIGHT} {RIGHT}", 330, 346, 46)
    text = read(printed_pdf([[*thanks, *left, *right]]), "a.pdf").text
    assert text.endswith(f"{LEFT} {LEFT} {RIGHT} {RIGHT}")


def test_a_figure_s_number_in_a_line_that_begins_with_an_index_is_no_mark_of_a_note() -> None:
    index: list[PrintedLine] = [(60, 103, "i", 7, "helv")]
    rest: list[PrintedLine] = [(64, 100, "is small. Figure", 10, "helv"), (136.5, 100, "2", 10, "hebo")]
    rest += [(145, 100, "shows the details of what was found there.", 10, "helv")]
    assert "Figure 2 shows" in read(printed_pdf([[*index, *rest]]), "a.pdf").text


@pytest.mark.parametrize(
    ("first", "second", "text"),
    [
        ("as was shown by many others before us, see the reports [1-", "6] and those of", "reports [1-6] and"),
        (
            "all is at the usual place, which is https://mills.example/list/",
            "old and new",
            "https://mills.example/list/old",
        ),
    ],
)
def test_ranges_and_addresses_that_go_on_have_no_space_in_them(first: str, second: str, text: str) -> None:
    lines: list[PrintedLine] = [(60, 100, first, 10, "helv"), (60, 112, second, 10, "helv")]
    assert text in read(printed_pdf([lines]), "a.pdf").text


@pytest.mark.extended
def test_zero_size_letters_and_a_thousand_pages_are_read() -> None:
    tiny = printed_pdf([[(60, 100, "invisible", 0.01, "helv"), *column_of(LEFT, 60, 200, 90)]])
    assert LEFT in read(tiny, "a.pdf").text
    document = read(pdf([f"Word {7 * number} of the book\n{number}" for number in range(1000)]), "a.pdf")
    check_document(document)
    # Numbers that do not go with the pages are no page numbers: every page keeps its line.
    assert all(text.startswith(f"Word {7 * number} of the book") for number, text in enumerate(page_texts(document)))
