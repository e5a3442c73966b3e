"""Charts as lines of text, one for each series: what a chart shows without its picture.

    Chart “Rents”, Harbour (Crowns by Year): 2024 = 10; 2025 = 12

For readers of every office format:

- `chart_lines(package: Package, path: str) -> list[str]`: the lines of a chart's part (`c:chartSpace`, and
  `cx:chartSpace` of newer kinds such as waterfalls), by the values that the file keeps beside the formulas.
- `series_lines(title, series) -> list[str]`: the same lines for a format that finds titles and `Series` itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from asky.reading.office.archive import Package
from asky.reading.office.number_formats import shown_number

if TYPE_CHECKING:
    from lxml.etree import _Element as Element


@dataclass(frozen=True, slots=True)
class Series:
    """A series of a chart: its name, its points as category and value, and the titles of its axes."""

    name: str
    points: Sequence[tuple[str, str]]
    category_title: str = ""
    value_title: str = ""


def chart_lines(package: Package, path: str) -> list[str]:
    """Return a line for each series of the chart in a part, then the texts drawn over it; [] if it shows none.

    Raises what the parser of XML raises.
    """
    root = package.xml(path)
    if root is None:
        return []
    title, series = _new_chart(root) if "chartex" in root.nsmap.get(root.prefix, "") else _chart(root)
    over = [package.xml(each) for each in package.related(path, "chartUserShapes")]
    drawn = [text for part in over if part is not None for body in part.iter("{*}txBody") if (text := _written(body))]
    return [*series_lines(title, series), *(f"In the chart: {text}" for text in drawn)]


def series_lines(title: str, series: Iterable[Series]) -> list[str]:
    """Return a line for each series with points, or one with the title if there is none; [] without either."""
    title = " ".join(title.split())
    chart = f"Chart “{title}”" if title else "Chart"
    lines = []
    for each in series:
        if not each.points:
            continue
        name = " ".join(each.name.split())
        by = f"by {each.category_title}" if each.category_title else ""
        axes = " ".join(filter(None, (each.value_title, by)))
        head = f"{chart}, {name}" if name and name != title else chart
        points = "; ".join(f"{category} = {value}" if category else value for category, value in each.points)
        lines.append(f"{head} ({axes}): {points}" if axes else f"{head}: {points}")
    return lines or ([chart] if title else [])


def shown_value(value: str, code: str, *, since_1904: bool = False) -> str:
    """Return a number of a file as the format `code` of Excel shows it; any other text as it is."""
    try:
        number = float(value)
    except ValueError:
        return value
    return shown_number(number, code or "General", since_1904=since_1904)


def _chart(root: Element) -> tuple[str, list[Series]]:
    """Return the title and the series of a chart of `c:chartSpace`."""
    chart = root.find("{*}chart")
    area = chart.find("{*}plotArea") if chart is not None else None
    if chart is None or area is None:
        return "", []
    since_1904 = _flag(root.find("{*}date1904"))
    axes = _axes(area)
    series = []
    for group in area:
        if _local(group).endswith("Chart"):
            named = [axes[number] for each in group.findall("{*}axId") if (number := _value(each)) in axes]
            across, along = (next((title for kind, title in named if kind is way), "") for way in (True, False))
            series += [_series(each, across, along, since_1904=since_1904) for each in group.findall("{*}ser")]
    title = _title(chart)
    if not title and len(series) == 1 and not _flag(chart.find("{*}autoTitleDeleted")):
        title = series[0].name  # what the program shows then
    return title, series


def _axes(area: Element) -> dict[str, tuple[bool, str]]:
    """Return whether each axis is that of the categories (of two axes of numbers the one that lies), and its title."""
    found = [each for each in area if _local(each) in ("catAx", "dateAx", "valAx")]
    has_names = any(_local(each) != "valAx" for each in found)
    return {
        _value(each.find("{*}axId")): (
            _local(each) != "valAx" or (not has_names and _value(each.find("{*}axPos")) in ("b", "t")),
            _title(each),
        )
        for each in found
    }


def _series(element: Element, across: str, along: str, *, since_1904: bool) -> Series:
    parts = {_local(each): each for each in element}
    name, categories, values, sizes = (
        _points(found, since_1904=since_1904) if (found := parts.get(kind, parts.get(other))) is not None else {}
        for kind, other in (("tx", ""), ("cat", "xVal"), ("val", "yVal"), ("bubbleSize", ""))
    )
    points = [
        (
            categories.get(number, "" if categories else str(number + 1)),
            f"{value} (size {sizes[number]})" if number in sizes else value,
        )
        for number, value in sorted(values.items())
    ]
    return Series(" ".join(name.values()), points, across, along)


def _points(element: Element, *, since_1904: bool) -> dict[int, str]:
    """Return the texts that a file keeps of a range, by number from 0; several levels as one text, the widest first."""
    levels = element.findall(".//{*}lvl")
    if len(levels) > 1:
        return _joined([_level(each, since_1904=since_1904) for each in levels])
    single = element.find("{*}v")
    if single is not None:
        return {0: single.text or ""}
    return _level(levels[0] if levels else element, since_1904=since_1904)


def _level(element: Element, *, since_1904: bool) -> dict[int, str]:
    stated = element.find(".//{*}formatCode")
    code = element.get("formatCode") or (stated.text if stated is not None else None) or ""
    has_numbers = any(element.find(f".//{{*}}{kind}") is not None for kind in ("numCache", "numLit"))
    is_text = not has_numbers and _local(element.getparent()) != "numDim"
    found: dict[int, str] = {}
    for point in element.iter("{*}pt"):
        inner = point.find("{*}v")
        text = " ".join(((point if inner is None else inner).text or "").split())
        number = point.get("idx", "")
        if text and number.isdecimal():
            own = point.get("formatCode") or code
            found[int(number)] = text if is_text else shown_value(text, own, since_1904=since_1904)
    return found


def _joined(levels: Sequence[dict[int, str]]) -> dict[int, str]:
    """Return the names of points by levels: the last is the widest, and its names hold up to the next one."""
    names = {number: [text] for number, text in levels[0].items()}
    for level in levels[1:]:
        starts, current = iter(sorted(level)), -1
        following = next(starts, None)
        for number in sorted(names):
            while following is not None and following <= number:
                current, following = following, next(starts, None)
            if current in level:
                names[number].append(level[current])
    return {number: " ".join(reversed(texts)) for number, texts in names.items()}


def _new_chart(root: Element) -> tuple[str, list[Series]]:
    """Return the title and the series of a chart of `cx:chartSpace`."""
    data = {each.get("id"): each for each in root.iterfind("{*}chartData/{*}data")}
    chart = root.find("{*}chart")
    if chart is None:
        return "", []
    axes = {
        ("cat" if each.find("{*}catScaling") is not None else "val"): _title(each) for each in chart.iter("{*}axis")
    }
    series = []
    for each in chart.iter("{*}series"):
        name = each.find("{*}tx")
        of = data.get(_value(each.find("{*}dataId")))
        if of is None or each.get("hidden") == "1":
            continue
        texts = of.find("{*}strDim")
        numbers = of.find("{*}numDim")
        categories = _points(texts, since_1904=False) if texts is not None else {}
        values = _points(numbers, since_1904=False) if numbers is not None else {}
        points = [(categories.get(number, ""), value) for number, value in sorted(values.items())]
        written = _written(name) if name is not None else ""
        series.append(Series(written, points, axes.get("cat", ""), axes.get("val", "")))
    return _title(chart), series


def _title(element: Element) -> str:
    """Return the title of a chart or of an axis that is shown."""
    title = element.find("{*}title")
    if title is None or _flag(element.find("{*}delete")):
        return ""
    text = title.find("{*}tx")
    return _written(text) if text is not None else ""


def _written(element: Element) -> str:
    """Return the text of a rich text, or of the cell that is referred to."""
    paragraphs = ["".join(each.text or "" for each in paragraph.iter("{*}t")) for paragraph in element.iter("{*}p")]
    texts = paragraphs or [each.text or "" for each in element.iter("{*}v")]
    return " ".join(" ".join(texts).split())


def _value(element: Element | None) -> str:
    return element.get("val", "") if element is not None else ""


def _flag(element: Element | None) -> bool:
    return element is not None and element.get("val", "1") in ("1", "true")


def _local(element: Element | None) -> str:
    return element.tag.rpartition("}")[2] if element is not None and isinstance(element.tag, str) else ""
