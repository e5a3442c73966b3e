"""Forms: what was entered stands with its label."""

from __future__ import annotations

from collections.abc import Sequence

import pymupdf

from asky.reading.pdf import read
from tests.support.files import check_document
from tests.support.pdf_forms import Change, Draw, add_field, add_fields, pdf_page

TEXT, BOX = pymupdf.PDF_WIDGET_TYPE_TEXT, pymupdf.PDF_WIDGET_TYPE_CHECKBOX
LIST = pymupdf.PDF_WIDGET_TYPE_LISTBOX
CHOICE = pymupdf.PDF_WIDGET_TYPE_COMBOBOX


def text_of(draw: Draw, change: Change | None = None) -> str:
    document = read(pdf_page(draw, change), "a.pdf")
    check_document(document)
    return document.text


def test_a_value_stands_with_the_label_on_its_left_or_above() -> None:
    def draw(page: pymupdf.Page) -> None:
        page.insert_text((60, 100), "Name of the boat:")
        add_field(page, TEXT, "f1", (200, 88, 400, 104), "Silver Heron")
        page.insert_text((60, 122), "Street, town", fontsize=8)
        add_field(page, TEXT, "f2", (60, 126, 400, 160), "12 Quay Street\n5003 Bergen", field_flags=4096)
        page.insert_text((60, 190), "Phone")
        add_field(page, TEXT, "f3", (200, 178, 400, 194))

    lines = text_of(draw).split("\n")
    assert "Name of the boat: Silver Heron" in lines
    assert "Street, town: 12 Quay Street 5003 Bergen" in lines
    assert "Phone" in lines


def test_two_fields_on_one_height_have_their_own_labels() -> None:
    def draw(page: pymupdf.Page) -> None:
        page.insert_text((60, 100), "First name")
        add_field(page, TEXT, "f1", (150, 88, 290, 104), "Ragnhild")
        page.insert_text((310, 100), "Family name")
        add_field(page, TEXT, "f2", (390, 88, 540, 104), "Aas")

    assert text_of(draw) == "First name: Ragnhild Family name: Aas"


def test_boxes_are_ticked_or_not_and_a_choice_is_what_is_shown() -> None:
    def draw(page: pymupdf.Page) -> None:
        page.insert_text((60, 215), "Membership:")
        for at, (name, ticked) in enumerate((("single", False), ("family", True))):
            add_field(page, BOX, name, (150 + 110 * at, 205, 162 + 110 * at, 217), ticked)
            page.insert_text((168 + 110 * at, 215), name)
        page.insert_text((60, 265), "Boat class")
        add_field(page, CHOICE, "cls", (150, 253, 290, 269), "B", choice_values=[("A", "Dinghy"), ("B", "Keelboat")])

    text = text_of(draw)
    assert "Membership: [ ] single [x] family" in text
    assert "Boat class: Keelboat" in text


def test_a_field_without_words_near_it_is_named_by_its_tooltip() -> None:
    def draw(page: pymupdf.Page) -> None:
        page.insert_text((60, 60), "An application")
        add_field(page, TEXT, "f1", (60, 400, 400, 420), "Arrives in June", field_label="Remarks")

    assert "Remarks: Arrives in June" in text_of(draw).split("\n")


def test_dots_to_write_on_give_way_to_what_was_written() -> None:
    def draw(page: pymupdf.Page) -> None:
        page.insert_text((60, 520), "Name: ......................................")
        add_field(page, TEXT, "f1", (95, 508, 280, 524), "Ola Nordmann")

    assert text_of(draw) == "Name: Ola Nordmann"


def test_fields_in_rows_and_columns_are_a_table() -> None:
    def draw(page: pymupdf.Page) -> None:
        for x, head in ((60, "Item"), (200, "Number"), (320, "Price")):
            page.insert_text((x, 380), head, fontname="hebo")
        for number, row in enumerate((("Key", "2", "15.00"), ("Flag", "1", "22.50"))):
            for x, width, cell in zip((60, 200, 320), (130, 110, 110), row, strict=True):
                add_field(page, TEXT, f"{x}.{number}", (x, 386 + 18 * number, x + width, 402 + 18 * number), cell)

    assert text_of(draw) == "Item | Number | Price\n--- | --- | ---\nKey | 2 | 15.00\nFlag | 1 | 22.50"


def test_hidden_fields_and_passwords_are_left_out() -> None:
    def draw(page: pymupdf.Page) -> None:
        page.insert_text((60, 60), "Open")
        add_field(page, TEXT, "f1", (60, 80, 200, 96), "hidden value")
        add_field(page, TEXT, "f2", (60, 110, 200, 126), "pass phrase", field_flags=1 << 13)

    def hide(document: pymupdf.Document) -> None:
        first = next(document[0].widgets())
        document.xref_set_key(first.xref, "F", "2")

    assert text_of(draw, hide) == "Open"


def test_fields_whose_parents_go_in_a_circle_and_very_many_are_harmless() -> None:
    def many(document: pymupdf.Document) -> None:
        number = document.get_new_xref()
        field = f"<</Type/Annot/Subtype/Widget/FT/Tx/T(key)/V(worth)/Rect[60 500 200 520]/Parent {number} 0 R>>"
        document.update_object(number, field)
        document.xref_set_key(document[0].xref, "Annots", f"[{f'{number} 0 R ' * 6000}]")

    document = read(pdf_page(lambda page: page.insert_text((60, 60), "Open"), many), "a.pdf")
    assert "worth" in document.text
    assert document.metadata["unread_parts"] == "page 1: 1,000 of its notes and fields are too many"


def test_the_values_of_a_form_that_only_adobe_lays_out_are_read_and_its_pages_named() -> None:
    def change(document: pymupdf.Document) -> None:
        number = document.get_new_xref()
        document.update_object(number, "<<>>")
        kind = "xmlns:xfa='http://www.xfa.org/schema/xfa-data/1.0/'"
        data = f"<xfa:data {kind}><form><Boat>Silver Heron</Boat></form></xfa:data>"
        document.update_stream(number, data.encode())
        form = f"<</Fields[]/XFA[(datasets) {number} 0 R]>>"
        document.xref_set_key(document.pdf_catalog(), "AcroForm", form)

    document = read(pdf_page(lambda page: page.insert_text((60, 60), "Please wait..."), change), "a.pdf")
    assert document.text == "Boat: Silver Heron\n"
    assert "XFA" in document.metadata["unread_parts"]


def test_a_list_shows_all_its_options_and_a_choice_the_one_that_is_made() -> None:
    def draw(page: pymupdf.Page) -> None:
        page.insert_text((60, 100), "Services wanted:")
        add_field(page, LIST, "services", (200, 88, 330, 150), "Water", choice_values=["Water", "Power", "Fuel"])
        page.insert_text((60, 200), "Town")
        add_field(page, CHOICE, "town", (200, 188, 330, 204), choice_values=["Bergen", "Oslo"])

    def choose_two(document: pymupdf.Document) -> None:
        first = next(document[0].widgets())
        document.xref_set_key(first.xref, "V", "[(Water)(Fuel)]")

    assert text_of(draw).split() == ["Services", "wanted:", "[x]", "Water", "[", "]", "Power", "[", "]", "Fuel", "Town"]
    assert "Services wanted: [x] Water [ ] Power [x] Fuel" in text_of(draw, choose_two)


def test_of_many_options_of_a_list_only_what_is_chosen_is_read() -> None:
    def draw(page: pymupdf.Page) -> None:
        page.insert_text((60, 100), "Berth")
        add_field(page, LIST, "berth", (200, 88, 330, 150), "7", choice_values=[str(number) for number in range(40)])

    assert text_of(draw) == "Berth: 7"


def radio(buttons: Sequence[tuple[int, int, str, bool]], more: str = "") -> Change:
    """A choice of buttons: x and y of each, its state, and whether it is on."""

    def change(document: pymupdf.Document) -> None:
        kids = [
            f"/Rect[{x} {842 - y - 12} {x + 12} {842 - y}]/AS/{state if is_on else 'Off'}"
            f"/AP<</N<</{state} {{on}}/Off {{on}}>>>>"
            for x, y, state, is_on in buttons
        ]
        add_fields(document, [f"/FT/Btn/Ff 49152/T(choice){more}"], kids)

    return change


def test_buttons_of_a_choice_stand_with_their_words_or_with_what_they_stand_for() -> None:
    def labelled(page: pymupdf.Page) -> None:
        for x, word in ((60, "Insured?"), (216, "Yes"), (296, "No")):
            page.insert_text((x, 108), word)

    row = radio([(200, 98, "Y", True), (280, 98, "N", False)])
    assert text_of(labelled, row) == "Insured? [x] Yes [ ] No"
    assert text_of(lambda page: page.insert_text((60, 108), "Insured?"), row) == "Insured? [x] Y [ ] N"
    column = radio(
        [(60, 200 + 20 * number, str(number), number == 1) for number in range(3)],
        "/TU(Payment)/Opt[(Card)(Cash)(Invoice)]",
    )
    assert text_of(lambda page: page.insert_text((60, 108), "Form"), column).split("\n\n") == [
        "Form",
        "Payment: [ ] Card\nPayment: [x] Cash\nPayment: [ ] Invoice",
    ]


def test_a_box_on_the_right_of_its_words_says_only_whether_it_is_ticked() -> None:
    def draw(page: pymupdf.Page) -> None:
        for number, (word, ticked) in enumerate((("Sauna", False), ("Shore power", True))):
            page.insert_text((60, 122 + 18 * number), word)
            add_field(page, BOX, word, (200, 112 + 18 * number, 212, 124 + 18 * number), ticked)

    assert text_of(draw) == "Sauna [ ]\nShore power [x]"


def test_a_signature_says_who_signed_and_when_and_an_empty_one_leaves_its_label() -> None:
    def draw(page: pymupdf.Page) -> None:
        page.insert_text((60, 100), "Signature of the owner:")
        page.insert_text((60, 160), "Signature of the harbour:")

    def sign(document: pymupdf.Document) -> None:
        value = "/V<</Type/Sig/Filter/Adobe.PPKLite/Name(Ada Byrne)/M(D:20260301120000Z)>>"
        places = ("/Rect[240 734 400 764]", "/Rect[240 674 400 704]")
        add_fields(document, [f"/FT/Sig/T(a){places[0]}{value}", f"/FT/Sig/T(b){places[1]}"])

    lines = text_of(draw, sign).split("\n")
    assert "Signature of the owner: signed by Ada Byrne on 2026-03-01" in lines
    assert "Signature of the harbour:" in lines
