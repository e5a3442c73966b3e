"""The numbers of lists, headings and notes in Word documents, as Word shows them."""

from __future__ import annotations

import pytest

from asky.reading.office.word.number_forms import counted_form
from asky.reading.office.word.reader import read
from asky.values import Document
from tests.support.word_files import deleted, heading_styles, p, part, sdt, tbl, tc, tr, word_file


def level(place: int, form: str, text: str, extra: str = "") -> str:
    start = "" if "w:start" in extra else '<w:start w:val="1"/>'
    return f'<w:lvl w:ilvl="{place}">{start}{extra}<w:numFmt w:val="{form}"/><w:lvlText w:val="{text}"/></w:lvl>'


def abstract(id_: int, *levels: str) -> str:
    return f'<w:abstractNum w:abstractNumId="{id_}">{"".join(levels)}</w:abstractNum>'


def number(id_: int, of: int, extra: str = "") -> str:
    return f'<w:num w:numId="{id_}"><w:abstractNumId w:val="{of}"/>{extra}</w:num>'


def item(text: str, list_: int = 1, place: int = 0, style: str = "") -> str:
    stated = f'<w:numPr><w:ilvl w:val="{place}"/><w:numId w:val="{list_}"/></w:numPr>'
    return p(text, style=style, properties=stated)


def document(body: str, *definitions: str, styles: str = "") -> Document:
    parts: dict[str, tuple[str, str | bytes]] = {
        "numbering.xml": ("numbering", part("w:numbering", "".join(definitions))),
        "styles.xml": ("styles", part("w:styles", heading_styles() + styles)),
    }
    return read(word_file(body, parts), "a.docx")


def lines(body: str, *definitions: str, styles: str = "") -> list[str]:
    return [line for line in document(body, *definitions, styles=styles).text.split("\n") if line]


LEGAL = abstract(
    1,
    level(0, "decimal", "%1."),
    level(1, "decimal", "%1.%2"),
    level(2, "lowerLetter", "(%3)"),
    level(3, "lowerRoman", "%4)"),
)


def test_levels_count_within_each_other() -> None:
    body = "".join(item(text, 1, int(place)) for place, text in zip("01222301120", "abcdefghijk", strict=True))
    assert lines(body, LEGAL, number(1, 1)) == [
        "1. a", "1.1 b", "(a) c", "(b) d", "(c) e", "i) f", "2. g", "2.1 h", "2.2 i", "(a) j", "3. k",
    ]  # fmt: skip


def test_a_list_goes_on_or_starts_again_as_its_number_says() -> None:
    again = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride>'
    body = item("a") + item("b", 2) + item("c", 3) + item("d", 3) + item("e", 1)
    found = lines(body, LEGAL, number(1, 1), number(2, 1), number(3, 1, again))
    assert found == ["1. a", "2. b", "5. c", "6. d", "7. e"]


def test_a_number_may_have_levels_of_its_own() -> None:
    own = f'<w:lvlOverride w:ilvl="0">{level(0, "upperRoman", "Part %1")}</w:lvlOverride>'
    assert lines(item("Scope"), LEGAL, number(1, 1, own)) == ["Part I Scope"]


@pytest.mark.parametrize(
    ("extra", "expected"),
    [("", ["1 a", "1.1 b", "2 c", "2.1 d"]), ('<w:lvlRestart w:val="0"/>', ["1 a", "1.1 b", "2 c", "2.2 d"])],
)
def test_a_level_restarts_unless_it_says_otherwise(extra: str, expected: list[str]) -> None:
    levels = abstract(1, level(0, "decimal", "%1"), level(1, "decimal", "%1.%2", extra))
    body = item("a") + item("b", place=1) + item("c") + item("d", place=1)
    assert lines(body, levels, number(1, 1)) == expected


def test_headings_are_numbered_by_their_style() -> None:
    linked = '<w:pStyle w:val="berschrift{}"/>'
    levels = abstract(
        1, level(0, "decimal", "%1", linked.format(1)), level(1, "decimal", "%1.%2", linked.format(2))
    )  # fmt: skip
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="N{n}"><w:basedOn w:val="berschrift{n}"/>'
        f'<w:pPr><w:numPr><w:ilvl w:val="{n - 1}"/><w:numId w:val="1"/></w:numPr></w:pPr></w:style>'
        for n in (1, 2)
    )
    found = document(
        p("Terms", style="N1") + p("Scope", style="N2") + p("Text.") + p("Rent", style="N2") + p("End", style="N1"),
        levels, number(1, 1), styles=styles,
    )  # fmt: skip
    assert [each.heading for each in found.sections] == ["1 Terms", "1.1 Scope", "1.2 Rent", "2 End"]


def test_a_paragraph_may_take_the_number_of_its_style_away() -> None:
    styles = (
        '<w:style w:type="paragraph" w:styleId="Item"><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>'
    )
    off = '<w:numPr><w:numId w:val="0"/></w:numPr>'
    body = p("one", style="Item") + p("plain", style="Item", properties=off) + p("two", style="Item")
    assert lines(body, LEGAL, number(1, 1), styles=styles) == ["1. one", "plain", "2. two"]


def test_a_list_may_be_that_of_a_style() -> None:
    linked = '<w:abstractNum w:abstractNumId="2"><w:numStyleLink w:val="Mine"/></w:abstractNum>'
    styles = (
        '<w:style w:type="numbering" w:styleId="Mine"><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>'
    )
    assert lines(item("a", 2), LEGAL, linked, number(1, 1), number(2, 2), styles=styles) == ["1. a"]


@pytest.mark.parametrize(
    ("form", "text", "label"),
    [
        ("bullet", "", "- "),
        ("bullet", "o", "- "),
        ("bullet", " ", ""),
        ("bullet", "Note:", "Note: "),
        ("none", "Annex", "Annex "),
        ("none", "", ""),
        ("upperLetter", "%1.", "A. "),
        ("decimalZero", "%1", "01 "),
        ("ordinal", "%1", "1st "),
        ("cardinalText", "Chapter %1", "Chapter One "),
        ("decimal", "§ %1", "§ 1 "),
        ("decimal", "", ""),
        ("chineseCounting", "第%1条", "第一条 "),
    ],
)
def test_a_label_is_written_as_its_level_says(form: str, text: str, label: str) -> None:
    assert lines(item("x"), abstract(1, level(0, form, text or ("•" if form == "bullet" else ""))), number(1, 1)) == [
        f"{label}x"
    ]


def test_a_legal_number_is_decimal_throughout() -> None:
    levels = abstract(1, level(0, "upperRoman", "%1"), level(1, "decimal", "%1.%2", "<w:isLgl/>"))
    assert lines(item("a") + item("b", place=1), levels, number(1, 1)) == ["I a", "1.1 b"]


def test_deleted_items_do_not_count_and_those_in_controls_and_tables_do() -> None:
    gone = (
        '<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>'
        f'<w:rPr><w:del w:id="1"/></w:rPr></w:pPr>{deleted("gone")}</w:p>'
    )
    body = item("a") + gone + sdt(item("b")) + tbl(tr(tc(item("c")), "x")) + item("d")
    assert lines(body, LEGAL, number(1, 1)) == ["1. a", "2. b", "3. c; x", "4. d"]


def test_a_list_without_its_definition_has_bullets() -> None:
    assert read(word_file(item("a")), "a.docx").text == "- a\n\n"


def test_the_end_of_a_list_is_no_part_of_the_next_paragraph() -> None:
    assert document(item("a") + p("Text."), LEGAL, number(1, 1)).text == "1. a\n\nText.\n\n"


@pytest.mark.parametrize(
    ("count", "form", "written"),
    [
        (4, "upperRoman", "IV"),
        (1994, "lowerRoman", "mcmxciv"),
        (1_000_000, "lowerRoman", "1000000"),
        (28, "lowerLetter", "bb"),
        (21, "ordinalText", "Twenty-first"),
        (12, "ordinalText", "Twelfth"),
        (30, "ordinalText", "Thirtieth"),
        (13, "ordinal", "13th"),
        (5, "chicago", "**"),
        (21, "japaneseCounting", "二十一"),
        (3, "decimalEnclosedCircle", "③"),
        (7, "001, 002, 003", "007"),
        (7, "unheard of", "7"),
        (-3, "upperLetter", "-3"),
    ],
)
def test_forms_of_numbers(count: int, form: str, written: str) -> None:
    assert counted_form(count, form) == written
