"""The fields of a form on a page: what was entered, beside its label."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from asky.reading.pages.beside.objects import PdfObject, box, entries, get, items, name, number, said, shown_annotations
from asky.reading.pages.lines import Line

if TYPE_CHECKING:
    import pymupdf

# ISO 32000-2, tables 227, 229 and 231, by bit position.
_PUSH_BUTTON = 1 << 16
_RADIO = 1 << 15
_PASSWORD = 1 << 13
_COMBO = 1 << 17
_LISTED = 20  # options of a list that are shown with what is chosen

_FAR = 260.0  # points: a label on the same height is not farther away
_NEAR_BOX = 30.0  # from a box to tick to its words
_ABOVE = 16.0  # from a label's lower edge to the field below it
_FILLER = re.compile(r"[\s_.…·‥]*$")
_ENDS_NAME = re.compile(r"[\w)\]’'\"”%]$")
_SIZE = 10.0
_MAX_PAIRS = 200_000  # of a field and a line: a form of 200 fields has a tenth
_PLAIN_STATES = re.compile(r"on|1|0|yes|true|checked|x|\d+", re.IGNORECASE)


@dataclass(slots=True)
class Field:
    """A field on its page: `kind` is text, tick or sign; `title` is its tooltip, else its name; `value` "" if empty.

    Of a box to tick, `value` is what it stands for, and `chosen` says whether it is ticked.
    """

    x0: float
    y0: float
    x1: float
    y1: float
    kind: str
    title: str
    value: str
    chosen: bool = False

    @property
    def middle(self) -> float:
        """Return the height of its middle."""
        return (self.y0 + self.y1) / 2


def page_fields(page: pymupdf.Page) -> list[Field]:
    """Return the fields of a page that are shown, in the file's order; buttons are none."""
    found = []
    for widget in shown_annotations(page):
        if name(get(widget, "Subtype")) != "Widget":
            continue
        place = box(widget, page)
        if place is not None and (field := _field(widget, place)) is not None:
            found.append(field)
    return found


def _field(widget: PdfObject, place: tuple[float, float, float, float]) -> Field | None:
    kind = name(get(widget, "FT", inherited=True))
    flags = number(widget, "Ff", inherited=True)
    title = " ".join((said(get(widget, "TU", inherited=True)) or said(get(widget, "T", inherited=True))).split())
    if kind == "Btn":
        if flags & _PUSH_BUTTON:
            return None
        return _tick(widget, place, title, is_radio=bool(flags & _RADIO))
    if kind == "Ch":
        return Field(*place, "text", title, _chosen(widget, is_combo=bool(flags & _COMBO)))
    if kind == "Sig":
        return Field(*place, "sign", title, _signature(get(widget, "V", inherited=True)))
    if kind == "Tx":
        value = "" if flags & _PASSWORD else said(get(widget, "V", inherited=True))
        return Field(*place, "text", title, " ".join(value.split()))
    return None


def _tick(widget: PdfObject, place: tuple[float, float, float, float], title: str, *, is_radio: bool) -> Field:
    states = [key for key, _ in entries(get(widget, "AP", "N")) if key != "Off"]
    export = states[0] if states else ""
    shown = name(get(widget, "AS")) or name(get(widget, "V", inherited=True))
    chosen = shown not in ("", "Off") and (not export or shown == export)
    options = [said(each) for each in items(get(widget, "Opt", inherited=True))]
    if export.isdigit() and int(export) < len(options):
        export = options[int(export)]
    if not is_radio and _PLAIN_STATES.fullmatch(export):
        export = ""
    return Field(*place, "tick", title, export, chosen)


def _chosen(widget: PdfObject, *, is_combo: bool) -> str:
    """Return what is chosen, as it is shown: an option is a text, or what is stored and what is shown.

    A list shows all its options, those that are not chosen too; unless there are many, they are marked.
    """
    options: dict[str, str] = {}
    for option in items(get(widget, "Opt", inherited=True)):
        stored, *shown = [said(each) for each in items(option)] or [said(option)]
        options[stored] = " ".join((shown[0] if shown else stored).split())
    value = get(widget, "V", inherited=True)
    values = [text for each in [*items(value)] or [value] if (text := said(each))]
    if not is_combo and len(options) <= _LISTED and set(values) <= set(options):
        return " ".join(f"[{'x' if stored in values else ' '}] {shown}" for stored, shown in options.items())
    return ", ".join(options.get(text, " ".join(text.split())) for text in values)


def _signature(value: PdfObject | None) -> str:
    if value is None:
        return ""
    by, date = " ".join(said(get(value, "Name")).split()), said(get(value, "M"))
    match = re.match(r"(?:D:)?(\d{4})(\d\d)(\d\d)", date)
    on = f" on {match[1]}-{match[2]}-{match[3]}" if match else ""
    return f"signed{f' by {by}' if by else ''}{on}"


def with_fields(lines: Sequence[Line], fields: Sequence[Field]) -> list[Line]:
    """Return the lines of a page with what was entered into its fields, each row of the page as one block.

    A field belongs to the words on its left, else to those above it, a box to tick to those on its right. A field
    without words near is named by its tooltip or name; fields in rows and columns are the cells of a table.
    """
    found = list(lines)
    if len(fields) * len(lines) > _MAX_PAIRS:
        lines = ()  # no person fills that in: each by its own name
    cells = _in_grid(fields, lines)
    wanted = [
        (cost, own, at, where)
        for own, field in enumerate(fields)
        if own not in cells
        for cost, at, where in _labels(field, lines, fields)
    ]
    labelled: dict[int, tuple[int, str]] = {}
    used: set[int] = set()
    for _, own, at, where in sorted(wanted):
        if own not in labelled and (at not in used or fields[own].kind == "tick"):
            labelled[own] = (at, where)
            used.add(at)
    placed: dict[int, list[tuple[float, int, str]]] = {}
    for own, (at, where) in labelled.items():
        placed.setdefault(at, []).append((fields[own].x0, own, where))
    for at, entered in placed.items():
        for _, own, where in sorted(entered):
            found[at] = _joined(found[at], fields[own], where, lines)
    for own, field in enumerate(fields):
        if own not in labelled and (text := _alone(field, is_cell=own in cells)):
            found.append(_line(field, text, in_column=own in cells))
    return _in_rows(line for line in found if line.text)


def _labels(field: Field, lines: Sequence[Line], fields: Sequence[Field]) -> Iterator[tuple[float, int, str]]:
    """Yield the lines that may name a field, each with how far it is and where it stands."""
    for at, line in enumerate(lines):
        height = line.y1 - line.y0
        level = min(line.y1, field.y1) - max(line.y0, field.y0)
        if level > 0.4 * min(height, field.y1 - field.y0):
            left, right = field.x0 - line.x1, line.x0 - field.x1
            if field.kind == "tick" and -2 <= right < _NEAR_BOX and not _between(field.x1, line.x0, field, fields):
                yield right, at, "right"
            elif (
                -3 <= left < _FAR and not _between(line.x1, field.x0, field, fields) and not _other(line, field, lines)
            ):
                yield (left / 4 if field.kind != "tick" else 60 + left), at, "left"
        elif field.kind != "tick" and min(line.x1, field.x1) - max(line.x0, field.x0) > 0:
            above, below = field.y0 - line.y1, line.y0 - field.y1
            shift = abs(line.x0 - field.x0)
            if -0.4 * height <= above < _ABOVE and shift < 0.5 * (field.x1 - field.x0):
                yield 12 + max(0.0, above) + shift / 4, at, "above"
            elif -2 <= below < _ABOVE / 2 and shift < 0.5 * (field.x1 - field.x0):
                yield 60 + below + shift / 4, at, "below"


def _between(start: float, end: float, field: Field, fields: Sequence[Field]) -> bool:
    """Return whether another field stands between two places on the field's height."""
    return any(
        other is not field
        and start - 2 <= other.x0
        and other.x1 <= end + 2
        and other.y0 < field.middle < other.y1
        and not (field.kind == other.kind == "tick" and field.title == other.title)  # the next button of a choice
        for other in fields
    )


def _other(line: Line, field: Field, lines: Sequence[Line]) -> bool:
    """Return whether other words stand between a line and the field on its right."""
    return any(
        other is not line
        and line.x1 - 1 <= other.x0
        and other.x1 <= field.x0 + 3
        and other.y0 < field.middle < other.y1
        for other in lines
    )


def _in_grid(fields: Sequence[Field], lines: Sequence[Line]) -> set[int]:
    """Return the fields that are cells: side by side without words between them, in two rows or more."""
    order = sorted(
        (number for number in range(len(fields)) if fields[number].kind == "text"), key=lambda n: fields[n].x0
    )
    rows: dict[int, list[int]] = {}
    for at in order:
        rows.setdefault(round(fields[at].middle / 4), []).append(at)
    pairs: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for row in rows.values():
        for before, after in pairwise(row):
            one, other = fields[before], fields[after]
            has_words = any(
                one.x1 - 3 < line.x0 and line.x1 < other.x0 + 3 and line.y0 < one.middle < line.y1 for line in lines
            )
            if not has_words and -2 < other.x0 - one.x1 < 3 * _SIZE:
                pairs.setdefault((round(one.x1 / 4), round(other.x0 / 4)), []).append((before, after))
    return {at for found in pairs.values() if len(found) > 1 for pair in found for at in pair}


def _joined(line: Line, field: Field, where: str, lines: Sequence[Line]) -> Line:
    if field.kind == "tick":
        mark = "[x]" if field.chosen else "[ ]"
        if where == "right":
            return line._replace(text=f"{mark} {line.text.lstrip()}", x0=min(line.x0, field.x0), entered=True)
        text = f"{line.text.rstrip()} {f'{mark} {field.value}'.strip()}"
        return line._replace(text=text, x1=max(line.x1, field.x1), entered=True)
    if not field.value:
        return line._replace(entered=True)
    label = _FILLER.sub("", line.text) or field.title
    goes_on = any(
        other.x0 >= field.x1 - 2 and other.x0 - field.x1 < 20 and other.y0 < field.middle < other.y1 for other in lines
    )
    colon = ":" if _ENDS_NAME.search(label) and not goes_on and ": " not in label else ""
    return line._replace(
        text=f"{label}{colon} {field.value}",
        x1=max(line.x1, field.x1 if where != "above" else line.x1),
        entered=not goes_on,
    )


def _alone(field: Field, *, is_cell: bool) -> str:
    if field.kind == "tick":
        mark = "[x]" if field.chosen else "[ ]"
        if field.title and field.value:
            return f"{field.title}: {mark} {field.value}"
        return f"{mark} {field.title or field.value}" if field.title or field.value else ""
    if is_cell or not field.title or not field.value:
        return field.value
    return f"{field.title}: {field.value}"


def _line(field: Field, text: str, *, in_column: bool) -> Line:
    height = min(field.y1 - field.y0, 1.4 * _SIZE)
    base = min(field.middle, field.y0 + height / 2) + 0.35 * _SIZE
    x1 = min(field.x1, field.x0 + 0.5 * _SIZE * len(text))
    return Line(
        text,
        field.x0,
        base - _SIZE,
        x1,
        base + 0.3 * _SIZE,
        base,
        _SIZE,
        bold=False,
        mono=False,
        block=-1,
        entered=not in_column,
        in_column=in_column,
    )


def _in_rows(lines: Iterator[Line]) -> list[Line]:
    """Return lines from top to bottom and from left to right, those on one height as one block."""
    rows: list[list[Line]] = []
    for line in sorted(lines, key=lambda each: each.base):
        if rows and line.base - rows[-1][0].base < 0.35 * max(line.size, rows[-1][0].size):
            rows[-1].append(line)
        else:
            rows.append([line])
    return [
        line._replace(block=number, base=row[0].base)
        for number, row in enumerate(rows)
        for line in sorted(row, key=lambda each: each.x0)
    ]
