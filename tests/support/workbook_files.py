"""Workbooks written by hand, as programs other than openpyxl write them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from xml.sax.saxutils import quoteattr

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
TYPES = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'


def archive(parts: Mapping[str, str | bytes]) -> bytes:
    """Return a zip archive of parts by path, not compressed."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        for name, text in parts.items():
            made.writestr(name, text)
    return out.getvalue()


def relations(*targets: tuple[str, str]) -> str:
    """Return a part of relations `rId1`, `rId2`, ... of kinds to targets."""
    each = "".join(
        f'<Relationship Id="rId{number}" Type="{RELATIONS}/{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(targets, 1)
    )
    return f'<Relationships xmlns="{PACKAGE}">{each}</Relationships>'


def sheet_xml(rows: str, *, before: str = "", after: str = "") -> str:
    """Return the part of a sheet."""
    return f'<worksheet xmlns="{MAIN}" xmlns:r="{RELATIONS}">{before}<sheetData>{rows}</sheetData>{after}</worksheet>'


def styles_xml(*codes: str) -> str:
    """Return styles of which number n, from 0, has the n-th format code; those after the last are bold."""
    formats = "".join(
        f"<numFmt numFmtId='{164 + number}' formatCode={quoteattr(code)}/>" for number, code in enumerate(codes)
    )
    styles = "".join(f"<xf numFmtId='{164 + number}' fontId='0'/>" for number in range(len(codes)))
    return (
        f'<styleSheet xmlns="{MAIN}"><numFmts>{formats}</numFmts><fonts><font/><font><b/></font></fonts>'
        f"<cellXfs>{styles}<xf numFmtId='0' fontId='1'/></cellXfs></styleSheet>"
    )


def workbook(
    *sheets: str | tuple[str, str],
    styles: str = "",
    strings: str = "",
    settings: str = "",
    parts: Mapping[str, str | bytes] | None = None,
    of_sheet: Mapping[int, str] | None = None,
) -> bytes:
    """Return a workbook of the rows or parts of sheets, of each as `(attributes, part)` or as the part alone.

    `strings` are the items of the shared texts, `settings` the attributes of the workbook, `of_sheet` the relations of
    sheets by number from 1, and `parts` further parts.
    """
    made: dict[str, str | bytes] = {
        "[Content_Types].xml": TYPES,
        "_rels/.rels": relations(("officeDocument", "xl/workbook.xml")),
    }
    targets, listed = [], ""
    for number, each in enumerate(sheets, 1):
        attributes, part = each if isinstance(each, tuple) else (f'name="Sheet{number}"', each)
        kind = "chartsheet" if "<chartsheet" in part else "worksheet"
        targets.append((kind, f"sheets/sheet{number}.xml"))
        listed += f'<sheet {attributes} sheetId="{number}" r:id="rId{number}"/>'
        made[f"xl/sheets/sheet{number}.xml"] = (
            part if "<sheetData" in part or "sheet " in part[:60] else sheet_xml(part)
        )
    if styles:
        made["xl/styles.xml"] = styles
        targets.append(("styles", "styles.xml"))
    if strings:
        made["xl/sharedStrings.xml"] = f'<sst xmlns="{MAIN}">{strings}</sst>'
        targets.append(("sharedStrings", "sharedStrings.xml"))
    if parts and any(name.startswith("xl/persons") for name in parts):
        targets.append(("person", "persons/person.xml"))
    made["xl/workbook.xml"] = (
        f'<workbook xmlns="{MAIN}" xmlns:r="{RELATIONS}"><workbookPr {settings}/><sheets>{listed}</sheets></workbook>'
    )
    made["xl/_rels/workbook.xml.rels"] = relations(*targets)
    for number, text in (of_sheet or {}).items():
        made[f"xl/sheets/_rels/sheet{number}.xml.rels"] = text
    return archive({**made, **(parts or {})})


def row(*values: str | float, r: int | None = None, style: int | None = None, attributes: str = "") -> str:
    """Return a row of inline texts and numbers without references; `""` is a cell without a value."""
    cells = ""
    for value in values:
        of = f' s="{style}"' if style is not None else ""
        if isinstance(value, str):
            cells += f'<c t="inlineStr"{of}><is><t>{value}</t></is></c>' if value else f"<c{of}/>"
        else:
            cells += f"<c{of}><v>{value!r}</v></c>"
    place = f' r="{r}"' if r is not None else ""
    return f"<row{place} {attributes}>{cells}</row>"
