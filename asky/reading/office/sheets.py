"""Workbooks: a section for each sheet, its tables as rows, then what is drawn and remarked on it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from asky.errors import SourceUnreadable
from asky.reading.charset import decode
from asky.reading.detection import HEAD_BYTES, is_text
from asky.reading.html.page import read as read_page
from asky.reading.office.archive import Package, UnreadableOffice, check_archive, media_type
from asky.reading.office.open_document import read_flat
from asky.reading.office.workbook.binary import BinaryWorkbook
from asky.reading.office.workbook.flat_xml import NAMESPACE, FlatWorkbook
from asky.reading.office.workbook.layout import RowMarks, add_sheet
from asky.reading.office.workbook.open_xml import OpenWorkbook
from asky.reading.office.workbook.sheet import Sheet
from asky.reading.tables.csv_file import read as read_rows
from asky.reading.zip_guard import check_zip
from asky.values import Document

_ARCHIVE = b"PK\x03\x04"
_CONTAINER = b"\xd0\xcf\x11\xe0"
_BIFF = re.compile(rb"\x09[\x00\x02\x04\x08][\x04\x06\x08\x10]\x00")
_OLD_ROWS = re.compile(rb"ID;P|TABLE\r?\n0,1\r?\n")
_OPEN_DOCUMENT = b"urn:oasis:names:tc:opendocument:xmlns:office"
_STREAMS = tuple(name.encode("utf-16-le") for name in ("Workbook", "Book"))
_PROTECTED = "EncryptedPackage".encode("utf-16-le")
_PAGE = re.compile(
    r"\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--[^>]{0,500}-->\s*)*<(?:!doctype\s+html|html|head|body|table)\b",
    re.IGNORECASE,
)
_USUAL_MAIN = "xl/workbook.xml"
_OLD_TYPE = "application/vnd.ms-excel"


def read(data: bytes, name: str) -> Document:
    """Return the cells of a workbook as they are shown: a section for each sheet, formulas by their stored value.

    Raises SourceUnreadable: too_large beyond two million cells with a value, encrypted, unsupported for `.xlsb` and for
    what is no workbook.
    """
    reader = _read_container if data.startswith(_CONTAINER) else _read_archive
    return reader(data, name, media_type("spreadsheetml.sheet"))


def read_any(data: bytes, name: str) -> Document:
    """Return what a file called `.xls` says, by what it is: a workbook of either kind, a web page, XML, or rows.

    Many programs give that name to tables in other formats, and Excel opens them by their content too.
    """
    if data.startswith(_ARCHIVE):
        return _read_archive(data, name, _OLD_TYPE)
    if data.startswith(_CONTAINER) or _BIFF.match(data):
        return _read_container(data, name, _OLD_TYPE)
    if not is_text(data[:HEAD_BYTES]):
        raise SourceUnreadable(f"{name}: its content does not match its name", verdict="unsupported")
    if _OLD_ROWS.match(data):
        raise SourceUnreadable(
            f"{name}: rows of an old format (SYLK, DIF)", verdict="unsupported", hint="save it as .xlsx"
        )
    if _OPEN_DOCUMENT in data[:HEAD_BYTES]:
        return replace(read_flat(data, name), media_type=_OLD_TYPE)
    is_page = _PAGE.match(decode(data[:HEAD_BYTES])) is not None
    if NAMESPACE in data[:HEAD_BYTES] and not is_page:  # which pages that Excel writes may name too
        with UnreadableOffice(name):
            return _built(FlatWorkbook(data, name).sheets(), RowMarks(), _OLD_TYPE)
    document = read_page(data, name, None) if is_page else read_rows(data, name)
    return replace(document, media_type=_OLD_TYPE)


def _read_archive(data: bytes, name: str, kind: str) -> Document:
    check_zip(data, name)
    with UnreadableOffice(name):
        package = Package(data)
        main = _main(package)
        if main.lower().endswith(".bin"):
            raise SourceUnreadable(f"{name}: a binary workbook", verdict="unsupported", hint="save it as .xlsx")
        builder = RowMarks()
        return _built(OpenWorkbook(package, main, builder, name).sheets(), builder, kind, package.facts())


def _main(package: Package) -> str:
    """Return the path of the workbook's own part, or of what else the file is about; "" if it says nothing."""
    try:
        return package.main
    except ValueError:
        return _USUAL_MAIN


def _read_container(data: bytes, name: str, kind: str) -> Document:
    if data.startswith(_CONTAINER):
        if _PROTECTED in data:
            raise SourceUnreadable(f"{name}: needs a password", verdict="encrypted")
        if not any(stream in data for stream in _STREAMS):
            check_archive(data, name, "")
    with UnreadableOffice(name):
        builder = RowMarks()
        return _built(BinaryWorkbook(data, builder, name).sheets(), builder, kind)


def _built(sheets: Iterable[Sheet], builder: RowMarks, kind: str, facts: Mapping[str, str] | None = None) -> Document:
    for sheet in sheets:
        add_sheet(builder, sheet)
    stated = dict(facts or {})
    return builder.build(kind, title=stated.pop("title", None), metadata=stated)
