"""Tables in PDFs: rows with their columns, headers, merged cells, turned and continued tables."""

from __future__ import annotations

from collections.abc import Sequence

import pymupdf
import pytest

from asky.reading.pdf import read
from asky.text.tables import bar_tables
from tests.support.files import PrintedLine, check_document, printed_pdf
from tests.support.pdf_forms import draw_grid, pdf_page

HEAD = ("Buoy", "Chain", "Flash")


def put(page: pymupdf.Page, rows: Sequence[Sequence[str]], xs: Sequence[float], y: float, **facts: object) -> None:
    for number, row in enumerate(rows):
        for x, cell in zip(xs, row, strict=False):
            page.insert_text((x + 4, y + 20 * number), cell, fontsize=10, **facts)


def test_drawn_cells_keep_their_columns_and_lines_of_one_cell_are_joined() -> None:
    def draw(page: pymupdf.Page) -> None:
        draw_grid(page, (60, 100, 300, 380, 460), (90, 110, 150, 170, 190))
        put(page, [("Pos", "Text", "Number", "Amount")], (60, 100, 300, 380), 105)
        put(page, [("1", "Rope, three strands, sold by", "120", "144.00"), ("", "the metre")], (60, 100, 300, 380), 122)
        put(page, [("2", "Shackle", "", "52.00"), ("", "Total", "", "196.00")], (60, 100, 300, 380), 164)

    text = read(pdf_page(draw), "a.pdf").text
    assert text == (
        "Pos | Text | Number | Amount\n--- | --- | --- | ---\n"
        "1 | Rope, three strands, sold by the metre | 120 | 144.00\n"
        "2 | Shackle |  | 52.00\n| | Total |  | 196.00"
    )
    assert next(bar_tables(text)).rows[1].named == "Pos: 2; Text: Shackle; Amount: 52.00"


def test_merged_cells_name_each_column_and_each_row_that_they_cover() -> None:
    def draw(page: pymupdf.Page) -> None:
        for x, top in zip((60, 160, 260, 360, 460), (90, 90, 90, 110, 90), strict=True):
            page.draw_line((x, top), (x, 170))
        for y, left in zip((90, 110, 130, 150, 170), (60, 260, 60, 160, 60), strict=True):
            page.draw_line((left, y), (460, y))
        put(page, [("Group", "Item", "Variant")], (60, 160, 260), 105)
        put(page, [("Standard", "Long")], (260, 360), 125)
        put(page, [("Engine", "Power", "110 kW", "150 kW"), ("", "Tank", "200 l", "420 l")], (60, 160, 260, 360), 145)

    assert read(pdf_page(draw), "a.pdf").text == (
        "Group | Item | Variant Standard | Variant Long\n--- | --- | --- | ---\n"
        "Engine | Power | 110 kW | 150 kW\nEngine | Tank | 200 l | 420 l"
    )


@pytest.mark.parametrize("turned", [90, 270])
def test_a_table_that_is_printed_sideways_reads_in_rows(turned: int) -> None:
    rows = [("Stop", "Mon-Fri", "Sat"), ("Lynvik", "06:10", ""), ("Holm, near the quay", "07:05", "10:25")]

    def draw(page: pymupdf.Page) -> None:
        page.insert_text((60, 60), "Annex: timetable of the ferry")
        for number, row in enumerate(rows):
            for column, cell in enumerate(row):
                x = 300 + 20 * number * (1 if turned == 90 else -1)
                y = 700 - 150 * column if turned == 90 else 150 + 150 * column
                page.insert_text((x, y), cell, fontsize=10, rotate=turned)

    assert read(pdf_page(draw), "a.pdf").text == (
        "Annex: timetable of the ferry\n\nStop | Mon-Fri | Sat\n--- | --- | ---\nLynvik | 06:10 |\nHoly".replace(
            "Holy", "Holm, near the quay | 07:05 | 10:25"
        )
    )


def test_text_upside_down_reads_in_order() -> None:
    lines = ["The scan was fed upside down and its text layer", "was written so that every line runs to the left."]

    def draw(page: pymupdf.Page) -> None:
        for number, line in enumerate(lines):
            page.insert_text((500, 700 - 14 * number), line, rotate=180)

    assert read(pdf_page(draw), "a.pdf").text == " ".join(lines)


def buoys(start: int, stop: int, y: float, *, head: bool) -> list[PrintedLine]:
    rows = [*([HEAD] if head else []), *((f"B{n:02}", f"{n + 10} m", f"{n} s") for n in range(start, stop))]
    return [
        (x, y + 14 * n, cell, 10, "helv")
        for n, row in enumerate(rows)
        for x, cell in zip((80, 200, 320), row, strict=True)
    ]


@pytest.mark.parametrize("repeated", [True, False])
def test_a_table_over_two_pages_is_one_with_one_header(repeated: bool) -> None:
    foot: PrintedLine = (80, 770, "Harbour of Lynvik", 8, "helv")
    pages = [[*buoys(1, 41, 80, head=True), foot], [*buoys(41, 61, 80, head=repeated), foot]]
    document = read(printed_pdf(pages), "a.pdf")
    check_document(document)
    table = next(bar_tables(document.text))
    assert len(table.rows) == 60
    assert table.rows[49].named == "Buoy: B50; Chain: 60 m; Flash: 50 s"
    assert document.text.count("Chain") == 1


def test_a_list_of_names_and_values_has_no_header() -> None:
    rows = [("Name", "Silver Heron"), ("Length", "9.35 m"), ("Beam", "3.10 m")]
    lines: list[PrintedLine] = [
        (x, 80 + 14 * n, cell, 10, "helv") for n, row in enumerate(rows) for x, cell in zip((80, 250), row, strict=True)
    ]
    assert "---" not in read(printed_pdf([lines]), "a.pdf").text


def test_a_page_of_very_many_lines_is_read() -> None:
    def draw(page: pymupdf.Page) -> None:
        shape = page.new_shape()
        for number in range(5000):
            shape.draw_line((10, 10 + number * 0.15), (500, 10 + number * 0.15))
            shape.draw_line((10 + number * 0.1, 10), (10 + number * 0.1, 800))
        shape.finish()
        shape.commit()
        put(page, [(f"a{n}", f"b{n}") for n in range(30)], (20, 200), 30)

    assert "a7 | b7" in read(pdf_page(draw), "a.pdf").text


def test_what_stands_between_drawn_tables_stays_there() -> None:
    def draw(page: pymupdf.Page) -> None:
        y = 100.0
        page.insert_text((60, y - 14), "Fares of this year.", fontsize=11)
        for number, words in enumerate(("Dogs go free.", "Bikes cost two.", "Boats pay four.")):
            draw_grid(page, (57, 200, 340, 480), (y - 11, y + 3, y + 17, y + 31))
            for row, cells in enumerate(
                (("Route", "Adult", "Child"), ("Skerry", f"{number}.40", "6"), ("Holm", "8", "4"))
            ):
                for x, cell in zip((60, 204, 344), cells, strict=True):
                    page.insert_text((x, y + 14 * row), cell, fontsize=11)
            page.insert_text((60, y + 42), words, fontsize=11)
            y += 56

    paragraphs = [each.split("\n")[0] for each in read(pdf_page(draw), "a.pdf").text.split("\n\n")]
    head = "Route | Adult | Child"
    assert paragraphs == [
        *("Fares of this year.", head, "Dogs go free.", head, "Bikes cost two.", head, "Boats pay four."),
    ]


def test_cells_less_than_a_letter_apart_are_told_by_the_lines_between_them() -> None:
    def draw(page: pymupdf.Page) -> None:
        xs, rows = (60, 95, 129, 156), (("Route", "Adult", "Age"), ("Holm", "12.40", "6.2"), ("Ness", "18.10", "4.0"))
        draw_grid(page, xs, (88, 102, 116, 130))
        for number, row in enumerate(rows):
            for x, cell in zip(xs, row, strict=False):
                page.insert_text((x + 3, 99 + 14 * number), cell, fontsize=11)
        page.insert_text((60, 145), "A paragraph directly below the table, which goes on.", fontsize=11)

    assert read(pdf_page(draw), "a.pdf").text == (
        "Route | Adult | Age\n--- | --- | ---\nHolm | 12.40 | 6.2\nNess | 18.10 | 4.0\n\n"
        "A paragraph directly below the table, which goes on."
    )
