from __future__ import annotations

import time

import pytest

from asky.errors import SourceUnreadable
from asky.reading.detection import media_type_of
from asky.reading.formats import format_of
from asky.reading.rtf.document import read
from asky.values import Document

HEAD = (
    r"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\fnil\fcharset0 Calibri;}{\f1\fnil\fcharset204 Arial Cyr;}"
    r"{\f2\fnil\fcharset2 Symbol;}{\f3\fnil\fcharset128 MS Mincho;}}"
    r"{\stylesheet{\s0 Normal;}{\s1\outlinelevel0 heading 1;}{\s2 heading 2,h2;}{\s15 Title;}{\s16 toc 1;}}"
)


def document(body: str, head: str = HEAD) -> Document:
    return read((head + body + "}").encode("latin-1"), "a.rtf")


def text(body: str) -> str:
    return document(body).text


def test_characters_of_code_pages_and_unicode_are_read() -> None:
    assert text(r"The mill\'e6 and {\f1\'cf\'f0\'e8} caf\u233?\u10?s \u-10179?\u-8704? {\uc2\u8217\'81\'66}.\par") == (
        "The millæ and При café\ns 😀 ’.\n\n"
    )
    assert text(r"{\f3\'93\'fa\'96{}} {\f2 a\'b7} \{x\}\~y\_z \ldblquote q\rdblquote\emdash\par").startswith("日")
    assert text(r"{\f2 a\'b7} \{x\}\~y\_z \ldblquote q\rdblquote\emdash\par") == "α• {x} y-z “q”—\n\n"


def test_a_paragraph_ends_at_its_mark_and_line_ends_of_the_file_are_nothing() -> None:
    assert text("One\nword\\tab tabbed\\line below\\par\nTwo\\\nThree") == (
        "Oneword\ttabbed\nbelow\n\nTwo\n\nThree\n\n"
    )


def test_hidden_and_deleted_text_is_left_out_and_new_text_stays() -> None:
    body = r"The rent {\v secret }is {\deleted 4200}{\revised 5150} euros\plain\v x\v0  a month.\par"
    assert text(body) == "The rent is 5150 euros a month.\n\n"


def test_fields_show_their_results_and_a_table_of_contents_is_left_out() -> None:
    link = r'{\field{\*\fldinst {HYPERLINK "http://a.example"}}{\fldrslt the {\b list}}}'
    contents = r'{\field{\*\fldinst TOC \\o "1-3"}{\fldrslt Mills 3\par Boats 4\par}}'
    assert text(rf"See {link}.\par {contents}\pard\s16 Mills 3\par\pard Text.\par") == "See the list.\n\nText.\n\n"


def test_headings_are_known_by_their_style_or_their_level() -> None:
    body = r"\pard\s15 The plan\par\pard\s1 Mills\par\pard\s2 Of wood\par\pard\outlinelevel2 Deep\par\pard Text.\par"
    found = document(body)
    assert [(each.level, each.heading) for each in found.sections] == [
        (1, "The plan"),
        (1, "Mills"),
        (2, "Of wood"),
        (3, "Deep"),
    ]
    assert found.title == "The plan"


def test_lists_have_the_numbers_and_bullets_that_are_shown() -> None:
    body = (
        r"{\pntext\f2\'b7\tab}{\*\pn\pnlvlblt}dot\par{\listtext\pard\plain\f2 \'b7\tab}\ilvl1 circle\par"
        r"\pard{\listtext 2.\tab}second\par\pard\s1{\listtext\pard\plain\tab}Mills\par\pard\bullet\tx360\tab Quay\par"
        r"(a)\tab first\par"
    )
    assert text(body) == "- dot\n  - circle\n2. second\n\nMills\n\n- Quay\n(a) first\n\n"


def test_notes_heads_feet_boxes_and_comments_have_their_places() -> None:
    body = (
        r"{\header\pard QM-2291\tab Page {\field{\*\fldinst PAGE}{\fldrslt 1}}\par}"
        r"{\footer Harbour office\par}"
        r"{\headerf\pard QM-2291\par}\aftnnrlc "
        r"The slip is {\*\atrfstart 1}closed{\*\atrfend 1}{\*\atnid B}{\*\atnauthor Bo}\chatn"
        r"{\*\annotation{\*\atnref 1}\pard Sure?\par}{\super\chftn}{\footnote\pard\chftn  Except for boats.}"
        r" in May{\footnote\ftnalt By law.}.\par"
        r"{\shp{\*\shpinst{\sp{\sn wzDescription}{\sv The pump}}{\shptxt\pard In a box\par}}{\shprslt twice}}Next.\par"
    )
    assert text(body) == (
        "QM-2291\n\nThe slip is closed in May.\n\nFootnote 1: Except for boats.\n\nNext.\n\n[Picture: The pump]\n\n"
        "In a box\n\nEndnote i: By law.\n\nHarbour office\n\n[Comment by Bo on “closed”: Sure?]\n\n"
    )


def test_cells_stay_under_their_names() -> None:
    head = r"\trowd\trhdr\cellx1000\cellx2000\cellx3000\pard\intbl Day\cell Noon\cell Night\cell\row"
    merged = r"\trowd\clvmgf\cellx1000\cellx2010\cellx3000 Mon\cell Idunn\cell Steinar\cell\row"
    below = r"\trowd\clvmrg\cellx1000\cellx2000\cellx3000 \cell Petra\par and Oskar\cell Marit\cell\row"
    wide = r"\trowd\cellx1000\cellx3000 Tue\cell Jonas\cell\row\pard After.\par"
    shown = text(head + merged + below + wide)
    assert "Noon: Idunn; Night: Steinar\n" in shown
    assert "Noon: Petra and Oskar; Night: Marit\n" in shown
    assert "; Night: Jonas" not in shown
    assert shown.endswith("\n\nAfter.\n\n")


def test_a_table_within_a_cell_is_text_of_the_cell() -> None:
    inner = r"\itap2 a\nestcell b\nestcell{\*\nesttableprops\trowd\cellx500\cellx900\nestrow}{\nonesttables\par}"
    body = rf"\trowd\cellx1000\cellx2000\pard\intbl Pump\cell {inner}\pard\intbl\itap1 c\cell\row\pard"
    assert text(body) == "Pump; a; b c\n\n"


def test_exponents_have_a_sign_and_formulas_are_text() -> None:
    assert text(r"10{\super 6} of CO{\sub 2}, 5 m\up6 2\up0 .\par") == "10^6 of CO2, 5 m^2.\n\n"
    formula = r"{\mmath{\*\moMath{\mf{\mfPr{\mtype bar}}{\mnum{\mr a}}{\mden{\mr 2}}}}{\mmathPict{\pict 00}}}"
    assert text(rf"So {formula}.\par") == "So a/2.\n\n"


def test_pictures_and_objects_are_not_text() -> None:
    sheet = r"{\object\objemb{\*\objclass Excel.Sheet.8}{\*\objdata 0105}{\result{\pict 00}}}"
    body = rf"{{\pict\pngblip 89504e47}}{sheet}x\bin4 {{{{{{{{y\par"
    found = document(body)
    assert found.text == "xy\n\n"
    assert found.metadata["unread_parts"] == "Excel.Sheet.8: an object of another program"


def test_facts_are_those_of_the_file() -> None:
    found = document(r"{\info{\title On {\b Mills}}{\author Ada Byrne}{\creatim\yr2024\mo5\dy3}}x\par")
    assert (found.title, found.metadata["author"], found.metadata["published"]) == (
        "On Mills",
        "Ada Byrne",
        "2024-05-03",
    )


def test_the_unicode_form_of_a_text_is_read_once() -> None:
    assert text(r"{\upr{\*\bkmkstart x}{\*\ud{caf\u233?}}}\par") == "café\n\n"


def test_it_is_known_by_its_content() -> None:
    row = format_of("a.rtf")
    assert row is not None
    assert media_type_of("a.rtf", HEAD.encode()) == row.media_type == document("x").media_type
    for name in ("letter", "letter.txt"):
        assert media_type_of(name, HEAD.encode()) == row.media_type
    assert media_type_of("a.rtf", b"plain text") is None
    with pytest.raises(SourceUnreadable):
        read(b"plain text", "a.rtf")


@pytest.mark.parametrize(
    "body",
    [
        "{" * 50_000 + "x",
        "}" * 50_000 + "x",
        r"{\footnote " * 5_000 + "x",
        r"{\field{\*\fldinst " * 5_000 + "x",
        r"\trowd" + "".join(rf"\cellx{n * 100}" for n in range(5_000)) + r" x\cell" * 5_000 + r"\row",
        "".join(rf"\trowd\cellx{n * 37 % 9973 * 50}\cellx{n * 91}x\cell y\cell\row" for n in range(1, 3_000)),
        r"{\field {\footnote\header a}}}}}}\field}}\footnote}} b",
        r"\u99999999999?\bin99999999999 x",
        r"\bin-5 x{\*",
        r"{\*\atrfstart 1}" + "x " * 5_000,
    ],
)
def test_odd_files_are_harmless(body: str) -> None:
    started = time.process_time()
    document(body)
    assert time.process_time() - started < 5


def test_a_comment_in_deleted_text_is_read() -> None:
    comment = r"{\*\atrfend 1}{{\*\atnid A}{\*\atnauthor Ada}\chatn{\*\annotation{\*\atnref 1}Is the hall free?}}"
    body = r"{\*\atrfstart 1}We meet on {\deleted " + comment + r"8 April}15 April.\par"
    assert text(body) == "We meet on 15 April.\n\n[Comment by Ada on “We meet on”: Is the hall free?]\n\n"
