"""The cells of an Office Open XML sheet as rows of shown texts, in one pass over its XML.

What the cells say counts, not the dimension that a file states; cells that are empty or have a format only cost
nothing. Cells and rows without a reference follow the one before, as ECMA-376 part 1, 18.3.1.4 and 18.3.1.73 have it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date, datetime

from asky.errors import SourceUnreadable
from asky.reading.office.digits import general
from asky.reading.office.workbook.sheet import MAX_CELLS, MAX_COLUMNS, MAX_ROWS, SheetRow, place
from asky.reading.office.workbook.styles import Styles
from asky.reading.office.workbook.texts import Runs, feed, new_parser, unescaped
from asky.reading.tables.kinds import NOT_COMPUTED

_NEWER = re.compile(
    r"\b_xl(?:fn|ws|pm)\."
)  # what files put before the names of newer functions; Excel does not show it
_DIGITS = "0123456789"
_WPS_PICTURE = "=DISPIMG("  # the text that WPS Office stores for a picture in a cell
_PICTURE = "[picture in the cell]"
_PLAIN_DIGITS = 15
_TRUE = ("1", "true")


class CellBudget:
    """Counts the cells of a workbook; too many raise SourceUnreadable: too_large."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._left = MAX_CELLS

    def spend(self, cells: int) -> None:
        """Count the cells of a row."""
        self._left -= cells
        if self._left < 0:
            raise SourceUnreadable(f"{self._name}: more than {MAX_CELLS:,} cells", verdict="too_large")


class CellReader:
    """Reads the rows of the sheets of one workbook.

    With `is_computed_later`, the file asks Excel to compute it: programs that cannot store 0 for every formula.
    """

    def __init__(
        self,
        strings: Sequence[str],
        styles: Styles,
        budget: CellBudget,
        *,
        since_1904: bool,
        is_computed_later: bool = False,
    ) -> None:
        self._strings, self._styles, self._budget = strings, styles, budget
        self._is_computed_later = is_computed_later
        self._day_zero = date(1904, 1, 1) if since_1904 else date(1899, 12, 30)
        self._columns: dict[str, int] = {}
        self.missing = 0  # cells whose shared text is not in the file

    def rows(self, content: memoryview, prefix: str, *, hides_rows: bool = False) -> list[SheetRow]:
        """Return the rows with a value of `<sheetData>...</sheetData>`, in order of their numbers."""
        found: list[SheetRow] = []
        row_tag, c_tag, v_tag, f_tag, is_tag = (f"{prefix}{name}" for name in ("row", "c", "v", "f", "is"))
        parser, runs = new_parser(), Runs(prefix)
        bold, columns = self._styles.bold, self._columns
        text: list[str] = []
        number, column, bolds, is_hidden = 0, 0, 0, False
        cells: dict[int, str] = {}
        kind = style = value = ""
        has_value = is_inline = False
        formula: str | None = None
        formulas: dict[str, tuple[str, str]] = {}
        attributes: dict[str, str] = {}
        of_formula: dict[str, str] = {}

        def start(tag: str, given: dict[str, str]) -> None:
            nonlocal number, column, bolds, is_hidden, cells, kind, style, value, has_value, formula, attributes
            nonlocal of_formula, is_inline
            if tag == c_tag:
                attributes, kind, style, value, has_value, formula = (
                    given,
                    given.get("t", "n"),
                    given.get("s", "0"),
                    "",
                    False,
                    None,
                )
                name = given.get("r", "").rstrip(_DIGITS)
                column = columns.get(name) or self._column(name) or column + 1
                if not number and "r" in given:
                    number = int(given["r"][len(name) :] or 1)
            elif tag in (v_tag, f_tag):
                text.clear()
                has_value = has_value or tag == v_tag
                if tag == f_tag:
                    of_formula = given
            elif tag == row_tag:
                stated = given.get("r", "")
                number = int(stated) if stated.isdecimal() else number + 1
                column, bolds, cells = 0, 0, {}
                is_hidden = given["hidden"] in _TRUE if "hidden" in given else given.get("ht") == "0" or hides_rows
            elif tag == is_tag:
                is_inline = True
            elif is_inline:
                runs.start(tag, given)

        def end(tag: str) -> None:
            nonlocal value, formula, bolds, is_inline
            if tag == v_tag:
                value = "".join(text)
            elif tag == c_tag:
                shown = self._shown(kind, value, style) if value else ""
                is_unknown = not value and not (kind == "str" and has_value)
                if formula is not None and (is_unknown or (value == "0" and kind == "n" and self._is_computed_later)):
                    shown = f"{formula} {NOT_COMPUTED}"
                elif ("vm" in attributes and value == "#VALUE!") or value.startswith(_WPS_PICTURE):
                    shown = _PICTURE
                if shown and not shown.isspace() and 0 < column <= MAX_COLUMNS:
                    cells[column] = shown
                    bolds += style in bold
            elif tag == f_tag:
                formula = _formula("".join(text), of_formula, attributes.get("r", ""), formulas)
            elif tag == row_tag:
                if cells and 0 < number <= MAX_ROWS:
                    self._budget.spend(len(cells))
                    found.append(SheetRow(number, cells, is_hidden, is_bold=bolds == len(cells)))
            elif tag == is_tag:
                is_inline = False
                value = runs.take()
            elif is_inline:
                runs.end(tag)

        def characters(piece: str) -> None:
            if is_inline:
                runs.characters(piece)
            else:
                text.append(piece)

        parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, characters
        feed(parser, content)
        return _in_order(found)

    def _column(self, name: str) -> int:
        found = place(f"{name}1")
        if found is None:
            return 0
        self._columns[name] = found[1]
        return found[1]

    def _shown(self, kind: str, value: str, style: str) -> str:
        if kind == "s":
            try:
                text = self._strings[int(value)]
            except (ValueError, IndexError):
                self.missing += 1
                return ""
        elif kind == "n":
            return self._number(value, style)
        elif kind == "b":
            return "TRUE" if value.strip() in _TRUE else "FALSE"
        elif kind == "d":
            return self._date(value.strip(), style)
        elif kind == "e":
            return value
        else:
            text = unescaped(value) if kind == "str" else value
        code = self._styles.format(style)
        return text if code is None else code.text(text)

    def _number(self, value: str, style: str) -> str:
        code = self._styles.format(style)
        if code is None and value.isdecimal() and value.isascii() and len(value) <= _PLAIN_DIGITS:
            return str(int(value))
        try:
            number = float(value)
        except ValueError:
            return unescaped(value)
        return general(number) if code is None else code.number(number)

    def _date(self, value: str, style: str) -> str:
        """Return a date that is stated in ISO form as its format shows it."""
        code = self._styles.format(style)
        if code is None or not code.is_date:
            return value.replace("T", " ").removesuffix(" 00:00:00")
        try:
            moment = datetime.fromisoformat(value.removesuffix("Z"))
        except ValueError:
            return value
        since = moment.replace(tzinfo=None) - datetime.combine(self._day_zero, datetime.min.time())
        return code.number(since.total_seconds() / 86_400)


def _formula(text: str, given: dict[str, str], reference: str, shared: dict[str, tuple[str, str]]) -> str:
    """Return a formula as a program shows it; of one that is filled from another cell, that cell's, and which it is."""
    text = _NEWER.sub("", " ".join(unescaped(text).split()))
    number = given.get("si", "")
    if text:
        if given.get("t") == "shared":
            shared[number] = (text, reference)
        return f"={text}"
    if number in shared:
        origin, place_of = shared[number]
        return f"={origin}, filled from {place_of}," if place_of else f"={origin}"
    return "=..."


def _in_order(rows: list[SheetRow]) -> list[SheetRow]:
    """Return rows in the order of their numbers, those that are given twice as one."""
    if all(first.number < second.number for first, second in zip(rows, _after(rows), strict=False)):
        return rows
    found: dict[int, SheetRow] = {}
    for row in sorted(rows, key=lambda each: each.number):
        if row.number in found:
            found[row.number].cells.update(row.cells)
        else:
            found[row.number] = row
    return list(found.values())


def _after(rows: Sequence[SheetRow]) -> Iterator[SheetRow]:
    following = iter(rows)
    next(following, None)
    return following
