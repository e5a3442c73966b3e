"""Forms in XFA, which only Adobe's programs lay out: the values of those whose pages hold nothing but a notice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from asky.reading.mupdf import mupdf_errors, refuse_memory_errors
from asky.reading.office.archive import parse_xml
from asky.reading.pages.beside.attachments import unpacked
from asky.reading.pages.beside.objects import PdfObject, get, identity, is_true, items, root, said

if TYPE_CHECKING:
    import pymupdf
    from lxml.etree import _Element as Element

_MAX_BYTES = 8 * 1024 * 1024
_MAX_VALUES = 5_000
_DATA = "{http://www.xfa.org/schema/xfa-data/1.0/}data"


def xfa_values(document: pymupdf.Document) -> list[str] | None:
    """Return what was entered into a form whose pages are laid out by the program that shows it, as `name: value`.

    `None` if the file is no such form: it has none, or its fields stand on its pages as well.
    """
    import pymupdf

    form = get(root(document), "AcroForm", "XFA")
    if form is None:
        return None
    if not is_true(get(root(document), "NeedsRendering")):
        kinds = {kind for page in document for _, kind, _ in page.annot_xrefs()}
        if pymupdf.PDF_ANNOT_WIDGET in kinds:
            return None
    found: list[str] = []
    for stream in _packets(form):
        try:
            data = unpacked(document, identity(stream), stream, _MAX_BYTES)
            if data:
                found += _values(data)
        except mupdf_errors() as error:
            refuse_memory_errors(error)
        except (SyntaxError, RecursionError):  # lxml's error for what is no XML is a SyntaxError
            continue
    return found[:_MAX_VALUES]


def _packets(form: PdfObject) -> Iterator[PdfObject]:
    """Yield the streams that may hold what was entered: the packet of that name, or the one that holds all of them."""
    parts = list(items(form))
    if not parts:
        yield form
    for title, stream in zip(parts[::2], parts[1::2], strict=False):
        if said(title) == "datasets":
            yield stream


def _values(data: bytes) -> Iterator[str]:
    tree = parse_xml(data)
    for part in tree.iter(_DATA):
        for each in part.iter():
            text = " ".join((each.text or "").split())
            if text and not len(each) and isinstance(each.tag, str):
                yield f"{_name(each)}: {text}"


def _name(element: Element) -> str:
    return str(element.tag).rpartition("}")[2].replace("_", " ")
