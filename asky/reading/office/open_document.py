"""Files of OpenDocument: headings, slides and sheets as sections, tables as rows."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from typing import Any

from asky.reading.office.archive import UnreadableOffice, check_archive
from asky.reading.raised.exponents import spelled_runs
from asky.reading.tables.rows import add_rows
from asky.reading.text_builder import TextBuilder
from asky.values import Document

_MAX_CELLS = 2_000_000
_OPEN = "content.xml"


def read(data: bytes, name: str) -> Document:
    """Return the text of an `.odt`, `.ods` or `.odp` file: headings, slides and sheets as sections, tables as rows."""
    check_archive(data, name, _OPEN)
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
