"""Diagrams of Office (SmartArt): the texts of their points as a list, by the data of a diagram, not its drawing."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from asky.reading.office.archive import Package
from asky.reading.office.drawing import paragraphs

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_SHOWN = ("node", "asst")


def diagram_lines(package: Package, path: str) -> list[str]:
    """Return the texts of the diagram whose data are the part `path`, each with its bullet, indented by its level.

    Raises what the parser of XML raises.
    """
    root = package.xml(path)
    if root is None:
        return []
    points = {each.get("modelId", ""): each for each in root.iterfind("{*}ptLst/{*}pt")}
    below: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for each in root.iterfind("{*}cxnLst/{*}cxn"):
        if each.get("type", "parOf") == "parOf":
            order = each.get("srcOrd", "0")
            below[each.get("srcId", "")].append((int(order) if order.isdecimal() else 0, each.get("destId", "")))
    roots = [name for name, point in points.items() if point.get("type") == "doc"]
    lines: list[str] = []
    seen: set[str] = set()
    waiting = [(name, -1) for name in reversed([*roots, *points])]  # what hangs nowhere comes last
    while waiting:
        name, level = waiting.pop()
        point = points.get(name)
        if point is None or name in seen or point.get("type", "node") not in (*_SHOWN, "doc"):
            continue
        seen.add(name)
        lines += _lines(point, max(level, 0))
        waiting += [(child, level + 1) for _, child in sorted(below[name], reverse=True)]
    return lines


def _lines(point: Element, level: int) -> list[str]:
    body = point.find("{*}t")
    texts = [each.text.replace("\n", " ") for each in paragraphs(body)] if body is not None else []
    return [f"{'  ' * min(level, 8)}- {text}" for text in texts]
