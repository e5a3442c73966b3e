"""What a PDF holds beside its text: notes, typed text, files within it."""

from __future__ import annotations

import pymupdf

from asky.reading.pdf import read
from tests.support.files import check_document
from tests.support.pdf_forms import pdf_page


def opening(page: pymupdf.Page) -> None:
    page.insert_text((60, 80), "The quay was built in 1911 and rebuilt in 1960.")
    page.insert_text((60, 100), "It is 120 metres long.")


def test_notes_are_remarks_at_the_end_of_their_page() -> None:
    def draw(page: pymupdf.Page) -> None:
        opening(page)
        note = page.add_text_annot((300, 80), "Is 1911 right?")
        note.set_info(title="Ada Byrne")
        note.update()
        mark = page.add_highlight_annot(page.search_for("rebuilt in"))
        mark.set_info(content="Source?", title="Bo")
        mark.update()
        page.add_highlight_annot(page.search_for("120 metres")).update()
        hidden = page.add_text_annot((400, 80), "hidden note")
        hidden.set_flags(2)
        hidden.update()

    def reply(document: pymupdf.Document) -> None:
        page = document[0]
        number = document.get_new_xref()
        first = page.annot_xrefs()[0][0]
        document.update_object(
            number, f"<</Type/Annot/Subtype/Text/Rect[300 700 310 710]/Contents(See the book)/T(Cy)/IRT {first} 0 R>>"
        )
        listed = document.xref_get_key(page.xref, "Annots")[1]
        document.xref_set_key(page.xref, "Annots", f"{listed[:-1]} {number} 0 R]")

    document = read(pdf_page(draw, reply), "a.pdf")
    check_document(document)
    first, *remarks = document.text.split("\n\n")
    assert first == "The quay was built in 1911 and rebuilt in 1960. It is 120 metres long."
    assert remarks == [
        "[Comment by Ada Byrne: Is 1911 right?]",
        "[Comment by Bo on “rebuilt in”: Source?]",
        "[Comment by Cy on “Is 1911 right?”: See the book]",
    ]


def test_text_that_was_typed_onto_the_page_is_text_and_a_stamp_is_a_remark() -> None:
    def draw(page: pymupdf.Page) -> None:
        opening(page)
        page.add_freetext_annot((60, 120, 300, 140), "Typed by hand: see annex", fontsize=11).update()
        page.add_stamp_annot((350, 200, 500, 240), stamp=0).update()

    paragraphs = read(pdf_page(draw), "a.pdf").text.split("\n\n")
    assert paragraphs[1:] == ["Typed by hand: see annex", "[Comment: Approved]"]


def test_files_within_the_file_are_read_or_named() -> None:
    def attach(document: pymupdf.Document) -> None:
        document.embfile_add("costs.csv", b"Item,Cost\nRope,120\nPaint,80\n", filename="costs.csv")
        document.embfile_add("plan.dwg", b"AC1027\x00\x01\x02", filename="plan.dwg")
        document[0].add_file_annot((200, 200), b"The pilot boards at buoy 4.\n", "pilot.txt")

    document = read(pdf_page(opening, attach), "a.pdf")
    check_document(document)
    assert "Item: Rope; Cost: 120" in document.text
    assert "The pilot boards at buoy 4." in document.text
    assert [each.heading for each in document.sections] == ["Attachment: costs.csv", "Attachment: pilot.txt"]
    assert document.metadata["unread_parts"].startswith("plan.dwg: ")


def test_a_file_within_itself_and_one_that_unpacks_to_too_much_are_harmless() -> None:
    inner = pdf_page(opening, lambda document: document.embfile_add("b.txt", b"Deep.", filename="b.txt"))
    for _ in range(5):
        with pymupdf.open("pdf", pdf_page(opening)) as outer:
            outer.embfile_add("a.pdf", inner, filename="a.pdf")
            inner = outer.tobytes()
    document = read(inner, "a.pdf")
    assert "too deep" in document.metadata["unread_parts"]
    assert document.text.count("The quay was built") == 4
    with pymupdf.open("pdf", pdf_page(opening)) as made:
        made.embfile_add("zeros.txt", b"0" * 70_000_000, filename="zeros.txt")
        data = made.tobytes(deflate=True)
    assert read(data, "a.pdf").metadata["unread_parts"] == "zeros.txt: too large"


def test_the_cover_of_a_portfolio_gives_way_to_its_files() -> None:
    def gather(document: pymupdf.Document) -> None:
        document.embfile_add("a.txt", b"Inside the portfolio.", filename="a.txt")
        document.xref_set_key(document.pdf_catalog(), "Collection", "<</Type/Collection>>")

    cover = "For the best experience, open this PDF portfolio in another program."
    text = read(pdf_page(lambda page: page.insert_text((60, 60), cover), gather), "a.pdf").text
    assert "Inside the portfolio." in text
    assert "best experience" not in text
