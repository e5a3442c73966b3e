"""Office files: documents, presentations and spreadsheets, of Microsoft Office and of OpenDocument.

Headings, slides and sheets are sections; tables are rows of `name: value` pairs, as in CSV files. Macros are not run,
external links are not followed, and comments are left out. Each format is read by its well-known library.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from asky.errors import SourceUnreadable
from asky.reading.csv_table import add_rows
from asky.reading.raised.exponents import spelled_runs
from asky.reading.text_builder import TextBuilder
from asky.reading.zip_guard import check_zip
from asky.values import Document

if TYPE_CHECKING:
    from collections.abc import Iterator

_OLD_FORMAT = b"\xd0\xcf\x11\xe0"  # the container of .doc, .xls and .ppt, and of encrypted new ones
_MAX_CELLS = 2_000_000
_WORD = "word/document.xml"
_SLIDES = "ppt/presentation.xml"
_SHEETS = "xl/workbook.xml"
_OPEN = "content.xml"
_FORMULA = re.compile(rb"<(?:\w{1,20}:)?f[ />]")
_SIGN_BYTES = 24  # more than any text that `_FORMULA` matches
_BLOCK_BYTES = 1 << 20


def read_word(data: bytes, name: str) -> Document:
    """Return the text of a `.docx` file: paragraphs and tables in order, headings as sections."""
    check_word(data, name)
    import docx  # 60 ms: only if there is one to read
    from docx.table import Table

    with UnreadableOffice(name):
        document = docx.Document(io.BytesIO(data))
        builder = TextBuilder()
        for block in document.iter_inner_content():
            if isinstance(block, Table):
                add_rows(builder, [[_cell_text(cell) for cell in row.cells] for row in block.rows])
                builder.add("\n")
                continue
            text = _word_text(block).strip()
            if not text:
                continue
            style = (block.style.name or "") if block.style is not None else ""
            level = heading_level(style)
            if level:
                builder.mark_heading(text, level)
            item = "- " if style.startswith("List") else ""
            builder.add(f"{item}{text}\n" if item else f"{text}\n\n")
        facts = document.core_properties
        title = facts.title or next((p.text for p in document.paragraphs if p.style and p.style.name == "Title"), None)
        return builder.build(_media("wordprocessingml.document"), title=title, metadata=_facts(facts))


def read_slides(data: bytes, name: str) -> Document:
    """Return the text of a `.pptx` file: a section for each slide, with its tables and the speaker's notes."""
    _check(data, name, _SLIDES)
    import pptx  # 110 ms: only if there is one to read

    with UnreadableOffice(name):
        presentation = pptx.Presentation(io.BytesIO(data))
        builder = TextBuilder()
        for number, slide in enumerate(presentation.slides, start=1):
            head = slide.shapes.title
            title = " ".join(_frame_text(head.text_frame).split()) if head is not None and head.has_text_frame else ""
            builder.mark_heading(title or f"Slide {number}", 1)
            builder.start_page(None)
            if title:
                builder.add(f"{title}\n\n")
            for shape in _shapes(slide.shapes):
                if shape.has_text_frame and shape is not head and shape.shape_id != getattr(head, "shape_id", None):
                    lines = (" ".join(_slide_text(each).split()) for each in shape.text_frame.paragraphs)
                    builder.add("".join(f"- {line}\n" for line in lines if line))
                if getattr(shape, "has_table", False) and shape.has_table:
                    rows = [[_frame_text(cell.text_frame) for cell in row.cells] for row in shape.table.rows]
                    add_rows(builder, rows)
            if slide.has_notes_slide and (notes := slide.notes_slide.notes_text_frame) and notes.text.strip():
                builder.add(f"\nNotes: {_frame_text(notes).strip()}\n")
            builder.add("\n")
        facts = presentation.core_properties
        return builder.build(_media("presentationml.presentation"), title=facts.title, metadata=_facts(facts))


def read_sheets(data: bytes, name: str) -> Document:
    """Return the cells of an `.xlsx` file: a section for each sheet, formulas as their last computed value.

    A formula that no program has computed yet is shown itself. Raises SourceUnreadable: too_large beyond two million
    cells.
    """
    _check(data, name, _SHEETS)
    import openpyxl  # 220 ms: only if there is one to read

    with UnreadableOffice(name):
        values = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
        has_formulas = _has_formulas(data)
        written = openpyxl.load_workbook(io.BytesIO(data), read_only=True, keep_links=False) if has_formulas else None
        builder = TextBuilder()
        budget = iter(range(_MAX_CELLS))
        for sheet in values.worksheets:
            builder.mark_heading(sheet.title, 1)
            builder.add(f"{sheet.title}\n")
            rows = sheet.iter_rows(values_only=True)
            add_rows(builder, _within(_shown(rows, written[sheet.title] if written else None), budget, name))
            builder.add("\n")
        return builder.build(
            _media("spreadsheetml.sheet"), title=values.properties.title, metadata=_facts(values.properties)
        )


def read_open_document(data: bytes, name: str) -> Document:
    """Return the text of an `.odt`, `.ods` or `.odp` file: headings, slides and sheets as sections, tables as rows."""
    _check(data, name, _OPEN)
    from lxml import etree

    with UnreadableOffice(name), zipfile.ZipFile(io.BytesIO(data)) as archive:
        parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False)
        root = etree.fromstring(archive.read(_OPEN), parser)
        meta = etree.fromstring(archive.read("meta.xml"), parser) if "meta.xml" in archive.namelist() else None
        builder = TextBuilder()
        _spell_powers(root)
        _add_open(builder, root)
        facts = (
            {etree.QName(each).localname: each.text for each in meta.iter("{*}*") if each.text}
            if meta is not None
            else {}
        )
        return builder.build(
            "application/vnd.oasis.opendocument",
            title=facts.get("title"),
            metadata={
                "author": facts.get("initial-creator") or facts.get("creator"),
                "published": (facts.get("date") or "")[:10],
            },
        )


def _word_text(paragraph: Any) -> str:
    """Return the text of a paragraph with its exponents as `^...`."""
    if not paragraph._p.xpath(".//w:vertAlign"):
        return str(paragraph.text)
    return spelled_runs((item.text, _vertical(item)) for item in paragraph.iter_inner_content())


def _vertical(item: Any) -> bool | None:
    font = getattr(item, "font", None)  # links have none
    return True if font is not None and font.superscript else False if font is not None and font.subscript else None


def _cell_text(cell: Any) -> str:
    return "\n".join(_word_text(each) for each in cell.paragraphs)


def _slide_text(paragraph: Any) -> str:
    """Return the text of a paragraph with its exponents as `^...`."""
    runs = [(run.text, int(run._r.rPr.get("baseline", 0)) if run._r.rPr is not None else 0) for run in paragraph.runs]
    if not any(baseline for _, baseline in runs):
        return str(paragraph.text)
    return spelled_runs((text, baseline > 0 if baseline else None) for text, baseline in runs)


def _frame_text(frame: Any) -> str:
    return "\n".join(_slide_text(each) for each in frame.paragraphs)


def _spell_powers(root: Any) -> None:
    """Replace the content of paragraphs that have raised or lowered text by its text, with exponents as `^...`."""
    shifted: dict[str, bool] = {}
    for properties in root.iter("{*}text-properties"):
        place = next((value for name, value in properties.attrib.items() if name.endswith("}text-position")), "")
        name = next((value for name, value in properties.getparent().attrib.items() if name.endswith("}name")), "")
        if place[:1] not in ("", "0"):
            shifted[name] = not place.startswith(("sub", "-"))
    if not shifted:
        return

    def runs(element: Any, raised: bool | None) -> Iterator[tuple[str, bool | None]]:
        yield element.text or "", raised
        for child in element:
            style = next((value for name, value in child.attrib.items() if name.endswith("}style-name")), "")
            yield from runs(child, shifted.get(style, raised))
            yield child.tail or "", raised

    spans = [each for each in root.iter("{*}span") if any(value in shifted for value in each.attrib.values())]
    for paragraph in {each: None for span in spans for each in span.iterancestors("{*}p", "{*}h")}:
        text = spelled_runs(runs(paragraph, None))
        tail = paragraph.tail
        del paragraph[:]
        paragraph.text, paragraph.tail = text, tail


def _add_open(builder: TextBuilder, root: Any) -> None:
    from lxml import etree

    def add(element: Any) -> None:
        for child in element:
            tag = etree.QName(child).localname if isinstance(child.tag, str) else ""
            if tag == "h":
                text = _open_text(child)
                builder.mark_heading(
                    text, int(next((v for k, v in child.attrib.items() if k.endswith("outline-level")), 1))
                )
                builder.add(f"{text}\n\n")
            elif tag == "p":
                text = _open_text(child)
                builder.add(f"{text}\n\n" if text else "")
            elif tag == "table":
                named = next((v for k, v in child.attrib.items() if k.endswith("}name")), "")
                if named:
                    builder.mark_heading(named, 1)
                    builder.add(f"{named}\n")
                add_rows(builder, _open_rows(child))
                builder.add("\n")
            elif tag == "list-item":
                builder.add(f"- {_open_text(child)}\n")
            elif tag == "page":
                named = next((v for k, v in child.attrib.items() if k.endswith("}name")), "Slide")
                builder.mark_heading(named, 1)
                builder.add(f"{named}\n")
                add(child)
            elif tag not in ("annotation", "tracked-changes", "forms"):
                add(child)

    add(root)


def _open_rows(table: Any) -> Iterator[list[str]]:
    budget = _MAX_CELLS
    for row in table.iter("{*}table-row"):
        cells: list[str] = []
        for cell in row.iterchildren("{*}table-cell"):
            repeated = next((int(v) for k, v in cell.attrib.items() if k.endswith("number-columns-repeated")), 1)
            text = _open_text(cell)
            cells += [text] * (min(repeated, 1_000) if text else min(repeated, 50))
        budget -= len(cells)
        if budget < 0:
            return
        yield cells


def _open_text(element: Any) -> str:
    return " ".join("".join(element.itertext()).split())


class UnreadableOffice:
    """Turns whatever a library raises for a broken file into SourceUnreadable."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if error is None or isinstance(error, SourceUnreadable | MemoryError) or not isinstance(error, Exception):
            return
        reason = " ".join(str(error).split())[:120] or type(error).__name__
        raise SourceUnreadable(f"{self._name}: not a readable office file ({reason})") from None


def check_word(data: bytes, name: str) -> None:
    """Raise SourceUnreadable if the bytes are no `.docx` file."""
    _check(data, name, _WORD)


def _check(data: bytes, name: str, entry: str) -> None:
    if data.startswith(_OLD_FORMAT):
        raise SourceUnreadable(
            f"{name}: encrypted, or in the format of Office before 2007", verdict="encrypted", hint="save it again"
        )
    check_zip(data, name, needs=[entry])


def _within(rows: Iterable[Sequence[str]], budget: Iterator[int], name: str) -> Iterator[Sequence[str]]:
    for row in rows:
        for _ in row:
            if next(budget, None) is None:
                raise SourceUnreadable(f"{name}: more than {_MAX_CELLS:,} cells", verdict="too_large")
        yield row


def _has_formulas(data: bytes) -> bool:
    """Return whether a workbook has a formula: only then is it worth reading a second time, for what was written."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for entry in archive.namelist():
            if not entry.startswith("xl/worksheets/"):
                continue
            with archive.open(entry) as stream:
                before = b""
                while block := stream.read(_BLOCK_BYTES):
                    if _FORMULA.search(before + block):
                        return True
                    before = block[-_SIGN_BYTES:]
    return False


def _shown(rows: Iterable[Sequence[object]], written: Any) -> Iterator[list[str]]:
    """Yield the cells of a sheet as text; `written` is the sheet with its formulas, if it may have any."""
    if written is None:
        yield from ([_cell(value) for value in row] for row in rows)
        return
    for row, other in zip(rows, written.iter_rows(values_only=True), strict=False):
        yield [_cell(value, formula) for value, formula in zip(row, other, strict=False)]


def _cell(value: object, formula: object = None) -> str:
    if value is None:
        return str(formula) if isinstance(formula, str) and formula.startswith("=") else ""
    if isinstance(value, str):
        return value
    if hasattr(value, "isoformat"):
        return str(value.isoformat()).removesuffix("T00:00:00")
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def heading_level(style: str) -> int:
    """Return the level of the headings that have this style of Word, 0 for text."""
    if style == "Title":
        return 1
    return int(style[8:]) if style.startswith("Heading ") and style[8:].isdigit() else 0


def _shapes(shapes: Iterable[Any]) -> Iterator[Any]:
    for shape in shapes:
        if hasattr(shape, "shapes"):
            yield from _shapes(shape.shapes)
        else:
            yield shape


def _facts(facts: Any) -> dict[str, str | None]:
    created = facts.modified or facts.created
    return {
        "author": getattr(facts, "author", None) or getattr(facts, "creator", None),
        "published": created.date().isoformat() if created is not None else None,
        "subject": facts.subject,
    }


def _media(kind: str) -> str:
    return f"application/vnd.openxmlformats-officedocument.{kind}"
