"""The objects of a PDF beside its text: annotations, fields, embedded files. Any of them may be missing or wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from asky.reading.mupdf import mupdf_errors, refuse_memory_errors
from asky.text.scrub import scrub_counted

if TYPE_CHECKING:
    import pymupdf

PdfObject = Any
"""MuPDF's handle of an object; it follows references by itself."""

MAX_ANNOTATIONS = 5_000
"""The most annotations of a page that are read; a form of 20 pages has some hundreds."""
_HIDDEN = 1 << 1 | 1 << 5  # ISO 32000-2, table 167: Hidden, NoView
_MAX_CHARS = 100_000
_MAX_ITEMS = 1_000


def shown_annotations(page: pymupdf.Page) -> Iterator[PdfObject]:
    """Yield the annotations of a page that are shown, in the file's order, `MAX_ANNOTATIONS` at most."""
    listed = get(page_object(page), "Annots")
    for each in items(listed, MAX_ANNOTATIONS):
        if not number(each, "F") & _HIDDEN:
            yield each


def count_annotations(page: pymupdf.Page) -> int:
    """Return how many annotations a page lists, 0 if they are all links; .03 ms."""
    import pymupdf

    links = (pymupdf.PDF_ANNOT_LINK, pymupdf.PDF_ANNOT_POPUP)
    kinds = [kind for _, kind, _ in page.annot_xrefs()]
    return len(kinds) if any(kind not in links for kind in kinds) else 0


def page_object(page: pymupdf.Page) -> PdfObject:
    """Return the dictionary of a page."""
    import pymupdf

    return pymupdf.mupdf.pdf_page_from_fz_page(page.this).obj()


def root(document: pymupdf.Document) -> PdfObject:
    """Return the dictionary of the file."""
    import pymupdf

    mupdf = pymupdf.mupdf
    return get(mupdf.pdf_trailer(mupdf.pdf_document_from_fz_document(document.this)), "Root")


def get(held: PdfObject, *keys: str, inherited: bool = False) -> PdfObject | None:
    """Return what stands under the keys, one within the other; `None` if nothing does. Fields inherit from parents."""
    import pymupdf

    mupdf = pymupdf.mupdf
    for key in keys:
        if held is None or not mupdf.pdf_is_dict(held):
            return None
        held = _inherited(held, key) if inherited else mupdf.pdf_dict_gets(held, key)
        if held is None or mupdf.pdf_is_null(held):
            return None
    return held


def _inherited(held: PdfObject, key: str) -> PdfObject | None:
    import pymupdf

    try:
        return pymupdf.mupdf.pdf_dict_gets_inheritable(held, key)
    except mupdf_errors() as error:  # its parents go in a circle
        refuse_memory_errors(error)
        return pymupdf.mupdf.pdf_dict_gets(held, key)


def items(held: PdfObject | None, most: int = _MAX_ITEMS) -> Iterator[PdfObject]:
    """Yield the items of an array."""
    import pymupdf

    mupdf = pymupdf.mupdf
    if held is not None and mupdf.pdf_is_array(held):
        for index in range(min(most, mupdf.pdf_array_len(held))):
            yield mupdf.pdf_array_get(held, index)


def entries(held: PdfObject | None) -> Iterator[tuple[str, PdfObject]]:
    """Yield the keys and values of a dictionary."""
    import pymupdf

    mupdf = pymupdf.mupdf
    if held is not None and mupdf.pdf_is_dict(held):
        for index in range(min(_MAX_ITEMS, mupdf.pdf_dict_len(held))):
            yield mupdf.pdf_to_name(mupdf.pdf_dict_get_key(held, index)), mupdf.pdf_dict_get_val(held, index)


def said(held: PdfObject | None) -> str:
    """Return the text of a string, name, number or text stream, scrubbed; "" for anything else."""
    import pymupdf

    mupdf = pymupdf.mupdf
    if held is None:
        return ""
    if mupdf.pdf_is_string(held):
        text = mupdf.pdf_to_text_string(held)
    elif mupdf.pdf_is_name(held):
        text = mupdf.pdf_to_name(held)
    elif mupdf.pdf_is_number(held):
        text = f"{mupdf.pdf_to_real(held):g}"
    else:
        return ""
    return scrub_counted(text[:_MAX_CHARS].replace("\r\n", "\n").replace("\r", "\n"))[0].strip()


def is_true(held: PdfObject | None) -> bool:
    """Return whether an object is the word `true`."""
    import pymupdf

    return held is not None and bool(pymupdf.mupdf.pdf_to_bool(held))


def name(held: PdfObject | None) -> str:
    """Return a name, without its slash; "" for anything else."""
    import pymupdf

    return pymupdf.mupdf.pdf_to_name(held) if held is not None and pymupdf.mupdf.pdf_is_name(held) else ""


def number(held: PdfObject, key: str, *, inherited: bool = False) -> int:
    """Return a whole number; 0 if there is none."""
    import pymupdf

    value = get(held, key, inherited=inherited)
    return int(pymupdf.mupdf.pdf_to_int(value)) if value is not None else 0


def box(held: PdfObject, page: pymupdf.Page) -> tuple[float, float, float, float] | None:
    """Return the rectangle of an annotation on the page, from its upper left corner; `None` if it has none."""
    import pymupdf

    value = get(held, "Rect")
    if value is None:
        return None
    rect = pymupdf.mupdf.pdf_to_rect(value)
    x0, y0, x1, y1 = pymupdf.Rect(rect.x0, rect.y0, rect.x1, rect.y1) * page.transformation_matrix
    return (min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)) if abs(x1 - x0) < 1e5 and abs(y1 - y0) < 1e5 else None


def identity(held: PdfObject) -> int:
    """Return the number of an object in its file; 0 for one that stands in another."""
    import pymupdf

    return int(pymupdf.mupdf.pdf_to_num(held))
