"""PDFs with fields, notes and files in them, made for tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pymupdf

from tests.support.files import pdf_of_objects

Box = tuple[float, float, float, float]


Draw = Callable[[pymupdf.Page], object]
Change = Callable[[pymupdf.Document], object]


def pdf_page(draw: Draw, change: Change | None = None) -> bytes:
    """A PDF of one page (595 by 842 points) as `draw` leaves it; then the file as `change` does."""
    with pymupdf.open() as document:
        draw(document.new_page(width=595, height=842))
        data: bytes = document.tobytes(no_new_id=True)
    if change is None:
        return data
    with pymupdf.open("pdf", data) as document:
        change(document)
        return bytes(document.tobytes(no_new_id=True))


def add_field(page: pymupdf.Page, kind: int, name: str, box: Box, value: object = None, **facts: object) -> None:
    """Add a field of one of PyMuPDF's kinds to a page."""
    widget = pymupdf.Widget()
    widget.field_type, widget.field_name, widget.rect = kind, name, pymupdf.Rect(box)
    for key, each in facts.items():
        setattr(widget, key, each)
    if value is not None:
        widget.field_value = value
    page.add_widget(widget)


def add_fields(document: pymupdf.Document, fields: Sequence[str], kids: Sequence[str] = ()) -> None:
    """Give the first page these fields, as the file writes them; `kids` are the buttons of the one field.

    A button stands with the states that `{on}` and `{off}` name: `/AP<</N<</Yes {on}/Off {on}>>>>`.
    """
    shown = document.get_new_xref()
    document.update_object(shown, "<</Type/XObject/Subtype/Form/BBox[0 0 10 10]>>")
    document.update_stream(shown, b" ")
    numbers = [document.get_new_xref() for _ in fields]
    below = [document.get_new_xref() for _ in kids]
    for number, each in zip(numbers, fields, strict=True):
        held = f"/Kids[{' '.join(f'{kid} 0 R' for kid in below)}]" if below else "/Type/Annot/Subtype/Widget/F 4"
        document.update_object(number, f"<<{each.replace('{on}', f'{shown} 0 R')}{held}>>")
    for kid, each in zip(below, kids, strict=True):
        written = each.replace("{on}", f"{shown} 0 R")
        document.update_object(kid, f"<</Type/Annot/Subtype/Widget/F 4/Parent {numbers[0]} 0 R{written}>>")
    widgets = " ".join(f"{number} 0 R" for number in below or numbers)
    document.xref_set_key(document[0].xref, "Annots", f"[{widgets}]")
    names = " ".join(f"{number} 0 R" for number in numbers)
    document.xref_set_key(document.pdf_catalog(), "AcroForm", f"<</Fields[{names}]>>")


def pdf_of_signs(lines: Sequence[tuple[str, int, str]], font: str) -> bytes:
    """A PDF whose lines begin with a character of `font`: what stands before it, its code as Unicode, what follows."""
    codes = "".join(f"<{place:02x}> <{code:04x}>\n" for place, (_, code, _) in enumerate(lines, start=1))
    cmap = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /A def /CMapType 2 def\n"
        "1 begincodespacerange <00> <ff> endcodespacerange\n"
        f"{len(lines)} beginbfchar\n{codes}endbfchar\nendcmap end end"
    )
    shown = []
    for place, (before, _, after) in enumerate(lines, start=1):
        x = 72 + 7 * len(before)
        shown.append(
            f"BT /T 12 Tf 72 {760 - 16 * place} Td ({before}) Tj ET BT /S 12 Tf {x} {760 - 16 * place} Td "
            f"<{place:02x}> Tj ET BT /T 12 Tf {x + 16} {760 - 16 * place} Td ({after}) Tj ET"
        )
    content = "\n".join(shown).encode("latin-1")
    resources = b"<</Font<</T 5 0 R/S 6 0 R>>>>"
    return pdf_of_objects(
        [
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources%s>>" % resources,
            b"<</Length %d>>stream\n%s\nendstream" % (len(content), content),
            b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
            b"<</Type/Font/Subtype/TrueType/BaseFont/%s/FirstChar 0/LastChar 9/Widths[%s]/ToUnicode 7 0 R>>"
            % (font.encode(), b"800 " * 10),
            b"<</Length %d>>stream\n%s\nendstream" % (len(cmap), cmap.encode()),
        ]
    )


def draw_grid(page: pymupdf.Page, xs: Sequence[float], ys: Sequence[float]) -> None:
    """Draw a line at each x and y."""
    for x in xs:
        page.draw_line((x, ys[0]), (x, ys[-1]))
    for y in ys:
        page.draw_line((xs[0], y), (xs[-1], y))
