"""JSON files: one line for each value under its full path, whatever their dialect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from asky.errors import SourceUnreadable
from asky.reading import plain_text
from asky.reading.charset import decode
from asky.reading.html import page
from asky.reading.markup import xml_file
from asky.reading.settings.files import read_json_lines
from asky.reading.settings.json_relaxed import parse_relaxed
from asky.reading.settings.json_tree import Pairs, parse_json, value_lines
from asky.reading.text_builder import UNREAD_PARTS, TextBuilder
from asky.values import Document


def read(data: bytes, name: str) -> Document:
    """Return the values of a JSON file as lines `path.to[3].key: value`, in file order.

    Numbers are written as in the file, repeated keys are all kept, empty containers are left out. A blank line
    separates the members of the outermost array. The title is the string under the outermost key `title`. Comments,
    commas too many and the like are read as people mean them, see `asky.reading.settings.json_relaxed`; a file with a
    value on each line as JSON Lines; a page or XML by its own reader. What is no JSON in any way is read as plain text,
    and says so.
    """
    text = decode(data)
    try:
        return _build(parse_json(text, name))
    except SourceUnreadable as error:
        reason = error.message.removeprefix(f"{name}: ")
    try:
        return _build(*parse_relaxed(text))
    except ValueError:
        return replace(_otherwise(data, name, text, reason), media_type="application/json")


def _build(root: object, comments: Mapping[str, str] | None = None) -> Document:
    builder = TextBuilder()
    for line in value_lines(root, comments):
        builder.add(line)
    return builder.build("application/json", title=_title(root))


def _title(root: object) -> str | None:
    if not isinstance(root, Pairs):
        return None
    return next((value for key, value in root if key == "title" and isinstance(value, str)), None)


def _otherwise(data: bytes, name: str, text: str, reason: str) -> Document:
    """Return what a file is that has the name of JSON alone."""
    start = text.lstrip("\ufeff \t\r\n")[:200].lower()
    if start.startswith(("<!doctype html", "<html")):
        return page.read(data, name)
    if start.startswith("<"):
        return xml_file.read(data, name)
    if _has_value_lines(text, name):
        return read_json_lines(data, name)
    document = plain_text.read(data, name)
    metadata = {**document.metadata, UNREAD_PARTS: f"structure: {reason}, read as plain text"}
    return replace(document, metadata=metadata)


def _has_value_lines(text: str, name: str) -> bool:
    """Return whether the first two lines with text are a value each."""
    lines = [line for line in text.split("\n", 20)[:20] if line.strip()][:2]
    try:
        return len(lines) > 1 and all(isinstance(parse_json(line, name), list) for line in lines)
    except SourceUnreadable:
        return False
