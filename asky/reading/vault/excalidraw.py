"""Drawings of Excalidraw, alone or in a note: what is written in them, and not how they are drawn."""

from __future__ import annotations

import json
import re

from asky.errors import SourceUnreadable
from asky.reading import markdown
from asky.reading.charset import decode
from asky.reading.text_builder import TextBuilder
from asky.text.scrub import one_line
from asky.values import Document

# The plugin writes the words of the drawing, each with an anchor, below this heading, and the drawing below the other.
_TEXTS = re.compile(r"^#{1,2} Text Elements[ \t]*$", re.MULTILINE)
_DRAWING = re.compile(r"^(?:%%[ \t]*\n)?#{1,2} (?:Drawing|Element Links|Embedded Files)[ \t]*$", re.MULTILINE)
_CODE = re.compile(r"^```(?:compressed-)?json\n.*?(?:^```|\Z)", re.MULTILINE | re.DOTALL)
_ANCHOR = re.compile(r"[ \t]*\^[A-Za-z0-9_-]{8}[ \t]*$", re.MULTILINE)
_WARNING = re.compile(r"^==⚠.*==.*$", re.MULTILINE)


def read(data: bytes, name: str) -> Document:
    """Return the note around a drawing and the words in it; of a drawing without a note, its words from the top.

    Raises SourceUnreadable: empty if nothing is written in it.
    """
    text = decode(data).replace("\r\n", "\n")
    if name.lower().endswith(".md"):
        return markdown.read(_words(text).encode("utf-8"), name)
    try:
        elements = [each for each in json.loads(text)["elements"] if each.get("text") and not each.get("isDeleted")]
        written = sorted(elements, key=lambda each: (float(each.get("y", 0)), float(each.get("x", 0))))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise SourceUnreadable(f"{name}: not a drawing of Excalidraw") from None
    builder = TextBuilder()
    for each in written:
        builder.add(f"{one_line(str(each.get('originalText') or each['text']), None)}\n")
    return builder.build("text/x-excalidraw")


def _words(text: str) -> str:
    """Return the note without its drawing: properties, what is written in it and around it."""
    drawing = _DRAWING.search(text)
    kept = _CODE.sub("", text[: drawing.start()] if drawing else text)
    texts = _TEXTS.search(kept)
    if texts:
        before = kept[: texts.start()].rstrip()
        kept = (
            f"{before.removesuffix('%%').removesuffix('# Excalidraw Data').rstrip()}\n\n{kept[texts.end() :].lstrip()}"
        )
    return _WARNING.sub("", _ANCHOR.sub("", kept)).rstrip().removesuffix("%%").rstrip() + "\n"
