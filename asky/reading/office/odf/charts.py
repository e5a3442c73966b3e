"""Charts of OpenDocument: titles, and series with the values of the chart's own table."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from asky.reading.office.charts import Series, shown_value
from asky.reading.office.odf.names import CHART, OFFICE, STYLE, TABLE, TEXT, count, local

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_Cells: TypeAlias = dict[tuple[int, int], tuple[str, bool]]
_MAX_CELLS = 200_000
_RANGE = re.compile(r"\$?([A-Z]{1,3})\$?(\d{1,7})(?::[^$]*?\.?\$?([A-Z]{1,3})\$?(\d{1,7}))?$")


class ChartCells:
    """The cells that charts show: of a chart's own table, or of the sheets of the workbook that it stands in.

    A chart of a sheet has a copy of the values in its table, but names the places of those in the sheet.
    """

    def __init__(self, root: Element | None = None) -> None:
        self._root = root
        self._sheets: dict[str, _Cells] = {}

    def of(self, address: str, own: _Cells, own_name: str) -> _Cells:
        """Return the cells of the table that an address such as `$'My sheet'.$A$1:.$A$9` is in."""
        name = address.partition(":")[0].rpartition(".")[0].removeprefix("$").strip("'").replace("''", "'")
        if name in ("", own_name) or self._root is None:
            return own
        if name not in self._sheets:
            sheets = self._root.iterfind(f"{OFFICE}body/{OFFICE}spreadsheet/{TABLE}table")
            self._sheets[name] = _cells(next((each for each in sheets if each.get(f"{TABLE}name") == name), None))
        return self._sheets[name]


def read_chart(chart: Element, host: ChartCells) -> tuple[str, list[Series]]:
    """Return the title of an `office:chart`, with its subtitle, and its series with the names of their points."""
    inner = chart.find(f"{CHART}chart")
    if inner is None:
        return "", []
    titles = [_shown(inner.find(f"{CHART}{name}")) for name in ("title", "subtitle")]
    area = inner.find(f"{CHART}plot-area")
    if area is None:
        return ": ".join(filter(None, titles)), []
    axes: dict[str, str] = {}
    axes_of: dict[str, Element] = {}
    for axis in area.iterchildren(f"{CHART}axis"):
        dimension = axis.get(f"{CHART}dimension", "")
        axes_of.setdefault(dimension, axis)
        axes.setdefault(dimension, _shown(axis.find(f"{CHART}title")))
    across, along = (_format(chart, axes_of.get(each)) for each in ("x", "y"))
    table = inner.find(f"{TABLE}table")
    own_name = table.get(f"{TABLE}name", "") if table is not None else ""
    cells = partial(host.of, own=_cells(table), own_name=own_name)
    stated = next((each.get(f"{TABLE}cell-range-address", "") for each in area.iter(f"{CHART}categories")), "")
    categories = _range(cells, stated, across)
    series = []
    for each in area.iterchildren(f"{CHART}series"):
        domains = [one.get(f"{TABLE}cell-range-address", "") for one in each.iterchildren(f"{CHART}domain")]
        names = _range(cells, domains[-1], across) if domains else categories
        values = _range(cells, each.get(f"{CHART}values-cell-range-address", ""), along)
        if len(domains) > 1:  # bubbles: the values are their sizes, and the domains are first y, then x
            places = _range(cells, domains[0], along)
            values = [f"{value} (size {size})" for value, size in zip(places, values, strict=False)]
        name = " ".join(_range(cells, each.get(f"{CHART}label-cell-address", ""), str))
        points = [
            (names[number] if number < len(names) else str(number + 1), value)
            for number, value in enumerate(values)
            if value
        ]
        series.append(Series(name, points, axes.get("x", ""), axes.get("y", "")))
    return ": ".join(filter(None, titles)), series


def _shown(element: Element | None) -> str:
    """Return the paragraphs of a title or a cell as one line; of the names of a point's levels the whole one."""
    if element is None:
        return ""
    return " ".join(" ".join("".join(each.itertext()) for each in element.iterchildren(f"{TEXT}p")).split())


def _cells(table: Element | None) -> _Cells:
    """Return the texts of a chart's table by row and column from 1, and whether each is a number."""
    found: dict[tuple[int, int], tuple[str, bool]] = {}
    number = 0
    for row in table.iter(f"{TABLE}table-row") if table is not None else ():
        number += count(row, f"{TABLE}number-rows-repeated", 1, 1_048_576)
        column = 1
        for cell in row.iterchildren(f"{TABLE}table-cell", f"{TABLE}covered-table-cell"):
            text = _shown(cell) or cell.get(f"{OFFICE}value", "")
            repeated = count(cell, f"{TABLE}number-columns-repeated", 1, 1_000)
            for each in range(column, column + repeated) if text and text != "NaN" else ():
                if len(found) < _MAX_CELLS:
                    found[number, each] = text, cell.get(f"{OFFICE}value-type") == "float"
            column += repeated
    return found


def _range(cells_of: Callable[[str], _Cells], address: str, shown: Callable[[str], str]) -> list[str]:
    """Return the texts of a range such as `local-table.$B$2:.$B$4`, "" for empty cells; `shown` writes numbers."""
    match = _RANGE.search(address.rpartition(" ")[2])
    cells = cells_of(address) if match is not None else {}
    if match is None or not cells:
        return []
    left, top = _column(match[1]), int(match[2])
    right, bottom = (_column(match[3]), int(match[4])) if match[3] else (left, top)
    last = max(row for row, _ in cells)
    across = max(column for _, column in cells)
    found = [
        cells.get((row, column), ("", False))
        for row in range(top, min(bottom, last) + 1)
        for column in range(left, min(right, across) + 1)
    ]
    return [shown(text) if is_number else text for text, is_number in found]


def _format(chart: Element, axis: Element | None) -> Callable[[str], str]:
    """Return how the numbers on an axis are shown: as percentages, as dates, or as the table has them."""
    root = chart.getroottree().getroot()
    styles = {
        each.get(f"{STYLE}name"): each
        for each in root.iterfind(f"{OFFICE}automatic-styles/*")
        if each.get(f"{STYLE}name")
    }
    style = styles.get(axis.get(f"{CHART}style-name")) if axis is not None else None
    of_numbers = styles.get(style.get(f"{STYLE}data-style-name")) if style is not None else None
    kind = local(of_numbers) if of_numbers is not None else ""
    if kind == "percentage-style" and of_numbers is not None:
        number = of_numbers.find("{*}number")
        places = (
            next((value for key, value in number.attrib.items() if str(key).endswith("}decimal-places")), "0")
            if number is not None
            else "0"
        )
        code = f"0.{'0' * min(int(places), 10)}%" if places.isdecimal() and places != "0" else "0%"
    elif kind == "date-style":
        code = "yyyy-mm-dd"
    else:
        code = ""
    return lambda text: shown_value(text, code)


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number
