"""Canvases (`.canvas`): the cards as they are read on the screen, by group, then the arrows between them.

Source: JSON Canvas 1.0, jsoncanvas.org/spec/1.0.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from asky.errors import SourceUnreadable
from asky.reading import json_file
from asky.reading.charset import decode
from asky.reading.markdown import find_headings
from asky.reading.text_builder import TextBuilder
from asky.text.scrub import one_line, scrub_counted
from asky.values import Document

_ROW = 0.5  # cards are in one row if they overlap by so much of the lower one's height
_NAME_CHARS = 60
_ARROW_WORD = "→"


@dataclass(frozen=True, slots=True)
class _Card:
    id: str
    kind: str
    text: str
    x: float
    y: float
    width: float
    height: float

    def holds(self, other: _Card) -> bool:
        """Return whether the middle of another card is within this one."""
        middle = (other.x + other.width / 2, other.y + other.height / 2)
        return self.x <= middle[0] <= self.x + self.width and self.y <= middle[1] <= self.y + self.height


def read(data: bytes, name: str) -> Document:
    """Return the cards from top left to bottom right, those of a group below its label, and a line for each arrow.

    A file is `[[Name]]`, a link its address, an arrow `First card → other card: label`. A file that is no canvas is
    read as JSON.
    """
    text, invisible = scrub_counted(decode(data))
    try:
        root = json.loads(text)
        nodes, edges = root.get("nodes", []), root.get("edges", [])
        cards = [_card(node) for node in nodes]
        arrows = [
            (str(edge["fromNode"]), str(edge["toNode"]), one_line(str(edge.get("label") or ""))) for edge in edges
        ]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return json_file.read(data, name)
    if not cards:
        raise SourceUnreadable(f"{name}: an empty canvas", verdict="empty")
    builder = TextBuilder(invisible)
    groups = _ordered([card for card in cards if card.kind == "group"])
    inside = {
        card.id: group for group in sorted(groups, key=_area, reverse=True) for card in cards if group.holds(card)
    }
    plain = [card for card in cards if card.kind != "group"]
    _write(builder, _ordered([card for card in plain if card.id not in inside]))
    for group in groups:
        if group.text:
            builder.mark_heading(group.text, 1 + _depth(group, groups))
            builder.add(f"{group.text}\n\n")
        _write(builder, _ordered([card for card in plain if inside.get(card.id) is group]))
    names = {card.id: _name(card) for card in cards}
    for start, end, label in arrows:
        if start in names and end in names:
            builder.add(f"{names[start]} {_ARROW_WORD} {names[end]}{f': {label}' if label else ''}\n")
    return builder.build("application/x-canvas+json")


def _card(node: dict[str, object]) -> _Card:
    kind = str(node["type"])
    text = str(node.get({"file": "file", "link": "url", "group": "label"}.get(kind, "text")) or "").strip()
    if kind == "file":
        path = PurePosixPath(text)
        shown = str(path.with_suffix("")) if path.suffix == ".md" else text
        text = f"[[{PurePosixPath(shown).name}{node.get('subpath') or ''}]]"
    x, y, width, height = (float(str(node.get(key, 0))) for key in ("x", "y", "width", "height"))
    return _Card(str(node["id"]), kind, one_line(text) if kind == "group" else text, x, y, width, height)


def _ordered(cards: Sequence[_Card]) -> list[_Card]:
    """Return cards in rows from the top, each from the left."""
    rows: list[list[_Card]] = []
    for card in sorted(cards, key=lambda each: (each.y, each.x)):
        row = rows[-1] if rows else None
        if row and card.y < row[0].y + _ROW * row[0].height:
            row.append(card)
        else:
            rows.append([card])
    return [card for row in rows for card in sorted(row, key=lambda each: each.x)]


def _write(builder: TextBuilder, cards: Sequence[_Card]) -> None:
    for card in cards:
        if card.text:
            for heading in find_headings(card.text):
                builder.mark_heading(heading.text, heading.level + 1, len(builder) + heading.start)
            builder.add(f"{card.text}\n\n")


def _name(card: _Card) -> str:
    """Return what a card is called in a line about its arrows: its first line."""
    line = next((line.strip("#*- \t") for line in card.text.split("\n") if line.strip("#*- \t")), "")
    return line if len(line) <= _NAME_CHARS else f"{line[:_NAME_CHARS].rsplit(' ', 1)[0]} …"


def _depth(group: _Card, groups: Sequence[_Card]) -> int:
    return min(4, sum(other is not group and _area(other) > _area(group) and other.holds(group) for other in groups))


def _area(card: _Card) -> float:
    return card.width * card.height
