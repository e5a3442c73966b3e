"""Lists: the citations that cover items without their own.

An item is covered by the citations of the item that it is nested in, or of the sentence right before the list. Without
those, the citations of the last item cover a list in which no other item has any: "- a fire\n- a flood [1]".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ListUnit:
    """A sentence, heading or table row. `indent` is the column of its list item, `None` outside a list.

    `begins_item` is false for later sentences of an item; `follows` is true if nothing stands between it and the unit
    before.
    """

    indent: int | None
    begins_item: bool
    follows: bool
    citations: tuple[int, ...]


@dataclass(slots=True)
class _Item:
    """A list item with its sentences `first` to `end`, and the items nested in it up to `nested_end`."""

    indent: int
    first: int
    end: int
    citations: tuple[int, ...]
    covered: tuple[int, ...] = ()
    nested_end: int = 0


def covering_citations(units: Sequence[ListUnit]) -> list[tuple[int, ...]]:
    """Return for each unit the citations that cover it as part of a list; linear time for a given depth."""
    found: list[tuple[int, ...]] = [()] * len(units)
    for items in _lists(units):
        first = items[0].first
        _cover_from_above(items, units[first - 1].citations if first and units[first].follows else ())
        _cover_from_end(items)
        for item in items:
            found[item.first : item.end] = [item.covered] * (item.end - item.first)
    return found


def _lists(units: Sequence[ListUnit]) -> Iterator[list[_Item]]:
    items: list[_Item] = []
    for at, unit in enumerate(units):
        if unit.indent is None:
            if items:
                yield items
            items = []
        elif items and not unit.begins_item:
            items[-1].end = at + 1
            items[-1].citations = items[-1].citations or unit.citations
        else:
            items.append(_Item(unit.indent, at, at + 1, unit.citations))
    if items:
        yield items


def _cover_from_above(items: Sequence[_Item], introduced_by: tuple[int, ...]) -> None:
    """Set `covered` to the citations of the item around each item or of the sentence before the list, and nesting."""
    around: list[_Item] = []
    for at, item in enumerate(items):
        while around and around[-1].indent >= item.indent:
            around.pop().nested_end = at
        item.covered = (around[-1].citations or around[-1].covered) if around else introduced_by
        around.append(item)
    for item in around:
        item.nested_end = len(items)


def _cover_from_end(items: Sequence[_Item]) -> None:
    """Cover a list, or an item with those nested in it, by the citations at its end if no others are in it."""
    cited = [0]
    for item in items:
        cited.append(cited[-1] + bool(item.citations))
    groups = [(0, len(items)), *((at, item.nested_end) for at, item in enumerate(items))]
    for first, end in groups:
        if end - first > 1 and items[end - 1].citations and cited[end] - cited[first] == 1:
            for item in items[first : end - 1]:
                item.covered = item.covered or items[end - 1].citations
