"""Charts of OpenDocument: titles, and series with the values of the chart's own table."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from asky.reading.office.charts import Series, shown_value
from asky.reading.office.odf.names import CHART, OFFICE, STYLE, TABLE, TEXT, count, local

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_Cells: TypeAlias = dict[tuple[int, int], tuple[str, bool]]
_MAX_CELLS = 200_000
_RANGE = re.compile(r"\$?([A-Z]{1,3})\$?(\d{1,7})(?::[^$]*?\.?\$?([A-Z]{1,3})\$?(\d{1,7}))?$")


def read_chart(chart: Element) -> tuple[str, list[Series]]:
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
    cells = _cells(inner.find(f"{TABLE}table"))
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
    for number, row in enumerate(table.iter(f"{TABLE}table-row") if table is not None else (), start=1):
        column = 1
        for cell in row.iterchildren(f"{TABLE}table-cell"):
            text = _shown(cell) or cell.get(f"{OFFICE}value", "")
            for _ in range(count(cell, f"{TABLE}number-columns-repeated", 1, 1_000)):
                if text and text != "NaN" and len(found) < _MAX_CELLS:
                    found[number, column] = text, cell.get(f"{OFFICE}value-type") == "float"
                column += 1
    return found


def _range(cells: _Cells, address: str, shown: Callable[[str], str]) -> list[str]:
    """Return the texts of a range such as `local-table.$B$2:.$B$4`, "" for empty cells; `shown` writes numbers."""
    match = _RANGE.search(address.rpartition(" ")[2])
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
