from __future__ import annotations

import pytest

from asky.errors import SourceUnreadable
from asky.reading.pdf import decode_label, read
from tests.support.files import check_document, pdf, pdf_of_objects, pdf_with_wrong_xref, pdf_without_pages, scanned_pdf


def refusal(data: bytes) -> SourceUnreadable:
    with pytest.raises(SourceUnreadable, match=r"^a\.pdf: ") as caught:
        read(data, "a.pdf")
    return caught.value


def typeset(content: bytes, font: bytes = b"") -> bytes:
    """A one-page PDF with this content stream."""
    return pdf_of_objects(
        [
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
            b"<</Length %d>>stream\n%s\nendstream" % (len(content), content),
            b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica%s>>" % font,
        ]
    )


def test_pages_tile_the_text_and_know_their_printed_numbers() -> None:
    labels = [{"startpage": 0, "style": "r"}, {"startpage": 2, "style": "D", "prefix": "A-"}]
    document = read(pdf(["Preface", "More", "First chapter"], title="A Title", labels=labels), "a.pdf")
    check_document(document)
    assert [(p.index, p.label, document.text[p.start : p.end]) for p in document.pages] == [
        (1, "i", "Preface\n\f"),
        (2, "ii", "More\n\f"),
        (3, "A-1", "First chapter"),
    ]
    assert document.title == "A Title"
    assert document.metadata == {}


@pytest.mark.parametrize(
    ("label", "text"),
    [("<FEFF0033>", "3"), ("<feff0041002d>12", "A-12"), ("xii", "xii"), ("<FEFF>", ""), ("<FEFF003>", "<FEFF003>")],
)
def test_a_label_in_utf_16_is_shown_as_its_text(label: str, text: str) -> None:
    assert decode_label(label) == text


def test_a_file_without_labels_has_none() -> None:
    assert [page.label for page in read(pdf(["a", "b"]), "a.pdf").pages] == [None, None]


def test_sections_are_the_outline_s_where_the_titles_stand() -> None:
    pages = ["See Method below.\n1 Method\nWe measure.", "2. RESULTS\nIt works.\n2.1 Limits\nFew."]
    outline = [(1, "Method", 1), (1, "Results", 2), (2, "Limits", 2), (1, "Not on its page", 2), (1, "Nowhere", -1)]
    document = read(pdf(pages, outline=outline), "a.pdf")
    found = [(s.heading, s.level, document.text[s.start :].split("\n")[0]) for s in document.sections]
    assert found == [
        ("Method", 1, "1 Method"),
        ("Results", 1, "2. RESULTS"),
        ("Not on its page", 1, "2. RESULTS"),
        ("Limits", 2, "2.1 Limits"),
    ]


def test_the_one_outermost_entry_of_an_outline_is_the_title() -> None:
    outline = [(1, "On Bridges", 1), (2, "Intro", 1), (2, "End", 1)]
    assert read(pdf(["On Bridges\nIntro\nEnd"], outline=outline), "a.pdf").title == "On Bridges"


@pytest.mark.parametrize(
    ("printed", "text"),
    [
        ("an exam-\nple of it", "an example of it"),
        ("a well-known thing: a well-\nknown one", "a well-known thing: a well-known one"),
        ("wellknown and a well-\nknown one", "wellknown and a wellknown one"),
        ("the state-of-the-\nart of it", "the state-of-the-art of it"),
        ("model GPT-\nNeo and more", "model GPT-Neo and more"),
        ("Tuning for the task. It is task-\ntuning", "Tuning for the task. It is task-tuning"),
    ],
)
def test_words_broken_at_a_line_end_are_whole(printed: str, text: str) -> None:
    assert read(pdf([printed]), "a.pdf").text == text


def test_ligatures_are_spelled_out() -> None:
    font = b"/Encoding<</Type/Encoding/Differences[1/fi]>>"
    assert read(typeset(b"BT /F1 12 Tf 72 700 Td (\\001nd the o\\001ce) Tj ET", font), "a.pdf").text == "find the ofice"


def test_a_glyph_without_a_character_is_not_guessed() -> None:
    font = b"/Encoding<</Type/Encoding/Differences[88/g42]>>"
    text = read(typeset(b"BT /F1 12 Tf 72 700 Td (sum X of all) Tj ET", font), "a.pdf").text
    assert text == "sum \ufffd of all"


def test_blank_pages_among_others_are_counted() -> None:
    assert read(pdf(["a", "", ""]), "a.pdf").metadata == {"pages_without_text": "2 of 3"}


@pytest.mark.parametrize(
    ("pages", "message"), [(1, "a.pdf: 1 page, no text layer"), (12, "a.pdf: 12 pages, no text layer")]
)
def test_a_scan_is_named_with_its_number_of_pages(pages: int, message: str) -> None:
    error = refusal(scanned_pdf(pages))
    assert (error.verdict, error.message) == ("no_text_layer", message)
    assert error.hint is not None


def test_fonts_that_give_no_characters_are_no_text_layer() -> None:
    font = b"/Encoding<</Type/Encoding/Differences[65/g1/g2/g3]>>"
    error = refusal(typeset(b"BT /F1 12 Tf 72 700 Td (ABCABC) Tj ET", font))
    assert (error.verdict, error.message) == ("no_text_layer", "a.pdf: 1 page, the fonts give no characters")


def test_a_password_is_asked_for_and_refused() -> None:
    assert refusal(pdf(["secret"], password="x")).verdict == "encrypted"


def test_a_pdf_without_pages_is_empty() -> None:
    error = refusal(pdf_without_pages())
    assert (error.verdict, error.message) == ("empty", "a.pdf: a PDF without pages")


@pytest.mark.parametrize("data", [b"%PDF-1.7\ngarbage", pdf(["x"])[:200], b"%PDF-"])
def test_a_damaged_file_has_failed_with_one_line(data: bytes) -> None:
    error = refusal(data)
    assert error.verdict == "failed"
    assert "\n" not in error.message


def test_a_wrong_table_of_objects_is_rebuilt() -> None:
    assert read(pdf_with_wrong_xref("still here"), "a.pdf").text == "still here"
