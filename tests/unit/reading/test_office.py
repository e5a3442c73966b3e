from __future__ import annotations

import contextlib
import io
import zipfile
from collections.abc import Callable
from typing import Any

import docx
import openpyxl
import pptx
import pytest

from asky.errors import SourceUnreadable
from asky.reading.formats import format_of, reader_version
from asky.reading.office import open_document
from asky.reading.office import sheets as sheets_reader
from asky.reading.office import slides as slides_reader
from asky.reading.office.word import reader as word_reader
from asky.reading.zip_guard import check_zip
from asky.values import Document
from tests.support.office_files import open_document as open_file

Reader = Callable[[bytes, str], Document]


def saved(document: Any) -> bytes:
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def archive(**entries: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name, text in entries.items():
            made.writestr(name.replace("__", "."), text)
    return out.getvalue()


def word() -> bytes:
    document = docx.Document()
    document.core_properties.title, document.core_properties.author = "On Mills", "Ada Byrne"
    document.add_heading("Mills", 1)
    document.add_paragraph("The mill burned in 1911.")
    document.add_paragraph("a spark", style="List Bullet")
    table = document.add_table(rows=2, cols=2)
    for cell, text in zip(
        (c for row in table.rows for c in row.cells), ("Mill", "Built", "Clare", "1820"), strict=True
    ):
        cell.text = text
    return saved(document)


def slides() -> bytes:
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[1])
    slide.shapes.title.text = "Mills"
    slide.placeholders[1].text = "They grind\nThey burn"
    slide.notes_slide.notes_text_frame.text = "Say it slowly."
    return saved(presentation)


def sheets() -> bytes:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Sales"
    for row in (["Month", "Units", "Total"], ["March", 56, "=B2*2"], [None, None, None], ["April", 7.5, None]):
        sheet.append(row)
    book.create_sheet("Empty")
    return saved(book)


OPEN = open_file(
    '<text:h text:outline-level="1">Mills</text:h><text:p>The mill <text:span>burned</text:span>.</text:p>'
)


def test_a_document_has_its_headings_lists_and_tables() -> None:
    document = word_reader.read(word(), "a.docx")
    assert document.text == (
        "Mills\n\nThe mill burned in 1911.\n\n- a spark\n\nMill; Built\nMill: Clare; Built: 1820\n\n"
    )
    assert (document.title, document.metadata["author"]) == ("On Mills", "Ada Byrne")
    assert [section.heading for section in document.sections] == ["Mills"]


def test_a_presentation_has_a_section_for_each_slide_with_its_notes() -> None:
    document = slides_reader.read(slides(), "a.pptx")
    assert document.text == "Mills\n\n- They grind\n- They burn\n\nNotes: Say it slowly.\n\n"
    assert [section.heading for section in document.sections] == ["Mills"]


def test_a_spreadsheet_has_rows_under_their_names_and_formulas_that_nothing_has_computed() -> None:
    document = sheets_reader.read(sheets(), "a.xlsx")
    assert document.text == (
        "Sales\nMonth; Units; Total\nMonth: March; Units: 56; Total: =B2*2 (not computed)\nMonth: April; Units: 7.5\n\n"
        "Empty\n\n"
    )
    assert [section.heading for section in document.sections] == ["Sales", "Empty"]


@pytest.mark.extended
def test_a_formula_far_behind_in_a_large_sheet_is_shown_too() -> None:
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Data")
    for number in range(20_000):
        sheet.append([f"row {number}", number])
    sheet.append(["all", "=SUM(B1:B20000)"])
    out = io.BytesIO()
    book.save(out)
    text = sheets_reader.read(out.getvalue(), "a.xlsx").text
    assert text.startswith("Data\nrow 0; 0\nrow 1; 1\n")
    assert text.endswith("row 19999; 19999\nall; =SUM(B1:B20000) (not computed)\n\n")


def test_exponents_of_office_files_have_a_sign() -> None:
    document = docx.Document()
    paragraph = document.add_paragraph("There are 10")
    paragraph.add_run("6.6").font.superscript = True
    paragraph.add_run(" of CO")
    paragraph.add_run("2").font.subscript = True
    paragraph.add_run(" in 1998")
    cell = document.add_table(rows=1, cols=1).rows[0].cells[0].paragraphs[0]
    cell.add_run("5 m")
    cell.add_run("2").font.superscript = True
    text = word_reader.read(saved(document), "a.docx").text
    assert "There are 10^6.6 of CO2 in 1998\n" in text
    assert "5 m^2" in text

    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[1])
    line = slide.placeholders[1].text_frame.paragraphs[0]
    for piece, baseline in (("It is 10", None), ("-3", "30000"), (" of H", None), ("2", "-25000"), ("O", None)):
        run = line.add_run()
        run.text = piece
        if baseline:
            run._r.get_or_add_rPr().set("baseline", baseline)
    assert "- It is 10^-3 of H2O\n" in slides_reader.read(saved(presentation), "a.pptx").text


@pytest.mark.parametrize(
    ("read", "whole", "name"),
    [
        (word_reader.read, word(), "a.docx"),
        (slides_reader.read, slides(), "a.pptx"),
        (sheets_reader.read, sheets(), "a.xlsx"),
        (open_document.read, OPEN, "a.odt"),
    ],
    ids=["docx", "pptx", "xlsx", "odt"],
)
def test_a_document_has_the_media_type_whose_reader_has_a_version(read: Reader, whole: bytes, name: str) -> None:
    row = format_of(name)
    assert row is not None
    assert read(whole, name).media_type == row.media_type
    assert reader_version(row.media_type) == row.version


@pytest.mark.parametrize(
    ("read", "whole"),
    [
        (word_reader.read, word()),
        (slides_reader.read, slides()),
        (sheets_reader.read, sheets()),
        (open_document.read, OPEN),
    ],
    ids=["docx", "pptx", "xlsx", "odt"],
)
def test_whatever_part_of_a_file_is_missing_or_damaged_is_no_other_error(read: Reader, whole: bytes) -> None:
    for size in range(0, len(whole), max(1, len(whole) // 40)):
        for damaged in (whole[:size], whole[:size] + b"\x00" * 40 + whole[size + 40 :]):
            with contextlib.suppress(SourceUnreadable):
                read(damaged, "a")


@pytest.mark.parametrize("read", [word_reader.read, slides_reader.read, sheets_reader.read, open_document.read])
def test_other_files_with_the_name_of_an_office_file_are_refused(read: Reader) -> None:
    for data, verdict in ((archive(a="b"), "unsupported"), (b"\xd0\xcf\x11\xe0" + b"\0" * 600, "encrypted")):
        with pytest.raises(SourceUnreadable) as raised:
            read(data, "a")
        assert raised.value.verdict == verdict


def test_an_archive_that_unpacks_to_far_more_than_its_size_is_not_opened() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("content.xml", b"0" * (64 << 20))
    with pytest.raises(SourceUnreadable) as raised:
        check_zip(out.getvalue(), "a.odt", needs=["content.xml"])
    assert raised.value.verdict == "too_large"
    check_zip(archive(a="b"), "a.zip")
