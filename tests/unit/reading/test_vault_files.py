"""Canvases, bases and drawings of a vault."""

from __future__ import annotations

import json

import pytest

from asky.errors import SourceUnreadable
from asky.reading.detection import media_type_of
from asky.reading.process.worker import read as read_file
from asky.reading.vault.canvas import read
from asky.reading.vault.excalidraw import read as read_drawing


def card(id_: str, x: int, y: int, **content: object) -> dict[str, object]:
    return {"id": id_, "x": x, "y": y, "width": 200, "height": 100, **content}


def test_a_canvas_is_read_in_rows_by_group_and_its_arrows_are_lines() -> None:
    nodes = [
        card("b", 300, 1010, type="text", text="It costs 12 crowns."),
        card("a", 0, 1000, type="text", text="# Oil\nRape or fish."),
        {**card("g", -50, 900, type="group", label="Fuel"), "width": 900, "height": 400},
        card("f", 0, 0, type="file", file="Notes/Lamp log.md", subpath="#May"),
        card("p", 0, 200, type="file", file="Pictures/lamp.png"),
        card("l", 300, 10, type="link", url="https://a.example/"),
    ]
    edges = [
        {"id": "e", "fromNode": "a", "toNode": "f", "label": "see"},
        {"id": "x", "fromNode": "a", "toNode": "gone"},
    ]
    document = read(json.dumps({"nodes": nodes, "edges": edges}).encode(), "plan.canvas")
    assert document.text == (
        "[[Lamp log#May]]\n\nhttps://a.example/\n\n[[lamp.png]]\n\n"
        "Fuel\n\n# Oil\nRape or fish.\n\nIt costs 12 crowns.\n\n"
        "Oil → [[Lamp log#May]]: see\n"
    )
    assert [(each.level, each.heading) for each in document.sections] == [(1, "Fuel"), (2, "Oil")]


@pytest.mark.parametrize("data", [b'{"nodes": []}', b"{}"])
def test_an_empty_canvas_is_empty(data: bytes) -> None:
    with pytest.raises(SourceUnreadable) as caught:
        read(data, "a.canvas")
    assert caught.value.verdict == "empty"


def test_what_is_no_canvas_is_json() -> None:
    assert read(b'{"nodes": [{"x": 1}]}', "a.canvas").text == "nodes[0].x: 1\n"
    assert read(b"[1]", "a.canvas").text == "[0]: 1\n"


DRAWING = """---
excalidraw-plugin: parsed
tags: [lamp]
---
==⚠  Switch to EXCALIDRAW VIEW in the MORE OPTIONS menu of this document. ⚠== You can decompress it.

Why we drew this.

# Excalidraw Data

## Text Elements
Lamp room ^Abc12345

Forty metres ^xYz98765

%%
## Drawing
```compressed-json
N4KAkARALgngDgUwgLgAQQQDwMYEMA2AlgCYBOuA7hADTgQBuCpAzoQPYB2KqATLZMzYBXUtiRoIACyhQ4zZ
```
%%
"""


def test_a_drawing_is_what_is_written_in_it() -> None:
    document = read_drawing(DRAWING.encode(), "Lamp.excalidraw.md")
    assert document.text.split("---\n")[2].split() == ["Why", "we", "drew", "this.", "Lamp", "room", "Forty", "metres"]
    assert document.metadata["tags"] == "lamp"
    alone = {"elements": [{"text": "below", "y": 9}, {"text": "above", "y": 1}, {"type": "arrow"}]}
    assert read_drawing(json.dumps(alone).encode(), "a.excalidraw").text == "above\nbelow\n"


def test_files_of_a_vault_find_their_readers() -> None:
    base = b'filters:\n  and:\n    - file.hasTag("book")\nviews:\n  - type: table\n    name: Unread\n'
    assert media_type_of("Lamp.excalidraw.md", DRAWING.encode()) == "text/x-excalidraw"
    assert media_type_of("Lamp.md", b"# a") == "text/markdown"
    kind = media_type_of("Books.base", base)
    assert kind is not None
    text = read_file(base, name="Books.base", media_type=kind, max_chars=10_000).text
    assert "views[0].name: Unread" in text
    assert 'filters.and[0]: file.hasTag("book")' in text
