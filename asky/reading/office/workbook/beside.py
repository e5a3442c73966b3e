"""What stands beside the cells of an Office Open XML sheet: remarks, and drawings with their texts and charts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from asky.reading.office.archive import Package, Relation
from asky.reading.office.charts import chart_lines
from asky.reading.office.workbook.sheet import letters, place
from asky.reading.office.workbook.texts import unescaped
from asky.reading.raised.exponents import spelled_runs
from asky.reading.text_builder import TextBuilder
from asky.text.beside.remarks import remark

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_MAX_LINE = 4_000  # characters of a series of a chart; its values are mostly cells of the workbook too
_TRUE = ("1", "true")
_RAISED = {"superscript": True, "subscript": False}


@dataclass(slots=True)
class NotesOfCell:
    """The remarks on a cell as author and text, in order; replies follow what they answer."""

    reference: str
    said: list[tuple[str, str]] = field(default_factory=list)

    def lines(self, value: str) -> Iterator[str]:
        """Yield a line for each remark, given what the cell shows."""
        about = f"{self.reference}: {value}" if value else self.reference
        yield from filter(None, (remark(text, author=author, about=about) for author, text in self.said))


Notes = dict[tuple[int, int], NotesOfCell]
"""The remarks on a sheet by row and column."""


def note_on(notes: Notes, row: int, column: int, author: str, text: str) -> None:
    """Add a remark; one that begins with its author's name in a line of its own, as Excel writes it, loses that."""
    first, _, rest = text.strip().partition("\n")
    if author and rest.strip() and first.strip().removesuffix(":") == author:
        text = rest
    notes.setdefault((row, column), NotesOfCell(f"{letters(column)}{row}")).said.append((author, text))


def remarks_of(notes: Notes, shown: Mapping[int, Mapping[int, str]]) -> list[str]:
    """Return the lines of remarks in the order of their cells; `shown` has what these show, by row and column."""
    return [
        line
        for (row, column), each in sorted(notes.items(), key=lambda item: item[0])
        for line in each.lines(shown.get(row, {}).get(column, ""))
    ]


def notes_of(package: Package, path: str, main: str) -> Notes:
    """Return the remarks on a sheet: threads with their replies, and notes where there is no thread."""
    notes: Notes = {}
    people: dict[str, str] = {}
    threads = package.related(path, "threadedComment")
    for part in package.related(main, "person") if threads else ():
        for each in _elements(package, part, "person"):
            people[each.get("id", "")] = each.get("displayName", "")
    for part in threads:
        for each in _elements(package, part, "threadedComment"):
            at = place(each.get("ref", ""))
            text = each.find("{*}text")
            if at is not None and text is not None:
                note_on(notes, *at, people.get(each.get("personId", ""), ""), text.text or "")
    has_thread = frozenset(notes)
    for part in package.related(path, "comments"):
        root = package.xml(part)
        authors = [unescaped(each.text or "") for each in root.iter("{*}author")] if root is not None else []
        for each in root.iter("{*}comment") if root is not None else ():
            at = place(each.get("ref", ""))
            number = each.get("authorId", "")
            author = authors[int(number)] if number.isdecimal() and int(number) < len(authors) else ""
            if at is not None and not (at in has_thread and author.startswith("tc=")):
                note_on(notes, *at, author, _rich_text(each))
    return notes


def _elements(package: Package, path: str, name: str) -> Iterator[Element]:
    root = package.xml(path)
    return root.iter(f"{{*}}{name}") if root is not None else iter(())


def _rich_text(element: Element) -> str:
    """Return the text of a note without the readings of its words."""
    runs = []
    for text in element.iter("{*}t"):
        run = text.getparent()
        if _local(run) != "rPh":
            shift = run.find("{*}rPr/{*}vertAlign")
            runs.append((text.text or "", _RAISED.get(shift.get("val", "")) if shift is not None else None))
    return unescaped(spelled_runs(runs))


def drawn(package: Package, path: str, builder: TextBuilder, sheet: str) -> list[str]:
    """Return the lines of what is drawn on a sheet: texts, charts, and what pictures are said to show."""
    lines: list[str] = []
    for part in package.related(path, "drawing"):
        root = package.xml(part)
        if root is None:
            continue
        relations = package.relations(part)
        for element in _shapes(root):
            lines += _lines(package, element, relations, builder, sheet)
    return [line for line in lines if line]


def _shapes(root: Element) -> Iterator[Element]:
    """Yield the shapes, pictures and frames in order; of alternatives the first; nothing that is hidden."""
    waiting = list(reversed(root))
    while waiting:
        element = waiting.pop()
        name = _local(element)
        if name == "AlternateContent":
            waiting += list(element)[:1]
        elif name in ("sp", "pic", "graphicFrame", "cxnSp"):
            properties = element.find("*/{*}cNvPr")
            if properties is None or properties.get("hidden") not in _TRUE:
                yield element
        elif name in ("twoCellAnchor", "oneCellAnchor", "absoluteAnchor", "grpSp", "Choice"):
            own = element.find("{*}nvGrpSpPr/{*}cNvPr")
            if own is None or own.get("hidden") not in _TRUE:
                waiting += reversed(element)


def _lines(
    package: Package, element: Element, relations: Mapping[str, Relation], builder: TextBuilder, sheet: str
) -> Iterator[str]:
    properties = element.find("*/{*}cNvPr")
    said = " ".join((properties.get("descr", "") if properties is not None else "").split())
    if _local(element) == "graphicFrame":
        for data in element.iter("{*}graphicData"):
            yield from _graphic(package, data, relations, builder, sheet)
        return
    body = element.find("{*}txBody")
    texts = [_paragraph(each) for each in body.iter("{*}p")] if body is not None else []
    yield from texts
    if said and said not in texts:
        yield f"[Picture: {said}]"


def _graphic(
    package: Package, data: Element, relations: Mapping[str, Relation], builder: TextBuilder, sheet: str
) -> Iterator[str]:
    for each in data:
        numbers = [value for key, value in each.attrib.items() if key.endswith(("}id", "}dm"))]
        target = next((relations[number] for number in numbers if number in relations), None)
        if target is None or target.is_external:
            continue
        if target.kind in ("chart", "chartEx"):
            lines = chart_lines(package, target.target)
            yield from map(_cut, lines)
            if not lines:
                builder.skip(f"chart on {sheet}", "no values are stored with it")
        elif target.kind == "diagramData":
            root = package.xml(target.target)
            for paragraph in root.iter("{*}p") if root is not None else ():
                yield _paragraph(paragraph)


def _paragraph(element: Element) -> str:
    runs: list[tuple[str, bool | None]] = []
    for text in element.iter("{*}t", "{*}br"):
        if _local(text) == "br":
            runs.append((" ", None))
            continue
        properties = text.getparent().find("{*}rPr")
        shift = properties.get("baseline", "0") if properties is not None else "0"
        raised = None if shift.strip("-0%") == "" else not shift.startswith("-")
        runs.append((text.text or "", raised))
    return " ".join(spelled_runs(runs).split())


def _cut(line: str) -> str:
    """Return the line of a series, without the points beyond its length, and how many they are."""
    if len(line) <= _MAX_LINE:
        return line
    kept = line[:_MAX_LINE].rpartition("; ")[0] or line[:_MAX_LINE]
    return f"{kept}; and {line.count('; ', len(kept)):,} more"


def _local(element: Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
