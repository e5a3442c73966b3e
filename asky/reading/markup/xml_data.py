"""XML that holds data: a line for each value, under the path of its elements."""

from __future__ import annotations

import plistlib
import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from xml.parsers.expat import ExpatError

from asky.reading.settings.json_tree import Pairs, value_lines
from asky.reading.text_builder import TextBuilder

if TYPE_CHECKING:
    from lxml.etree import _Element

_NAMES = ("name", "id", "key")
_NAME = re.compile(r"[\w.:/ -]{1,80}")
_ENCODED_CHARS = 1_000  # of a value without a space that nobody wrote: a picture in base 64
_ENCODED = re.compile(r"[A-Za-z0-9+/=_\-\s]+")
_LONG_WORD = 60


def data_lines(root: _Element, builder: TextBuilder) -> Iterator[str]:
    """Yield `path.to[3].name: value` for each text and attribute below `root`; a blank line between its members.

    An element that is named by an attribute, `name`, `id` or `key`, has that name in the path; of others with equal
    tags each has its number, from 0. Values in base 64 are skipped.
    """
    # An explicit stack: the depth of the file is untrusted.
    yield from _values("", root, builder, named=False)
    stack = [_members("", root)]
    while stack:
        path, element = next(stack[-1], (None, None))
        if path is None or element is None:
            stack.pop()
            continue
        if len(stack) == 1 and len(element):
            yield "\n"
        yield from _values(path, element, builder, named=path.endswith("]"))
        if len(element):
            stack.append(_members(f"{path}.", element))


def plist_lines(data: bytes) -> Iterator[str]:
    """Yield the values of a property list of Apple's; nothing where it cannot be read."""
    try:
        root = plistlib.loads(data)
    except (ValueError, ExpatError, plistlib.InvalidFileException, TypeError, IndexError, RecursionError):
        return iter(())
    return value_lines(_pairs(root))


def _members(prefix: str, parent: _Element) -> Iterator[tuple[str, _Element]]:
    elements = [each for each in parent if isinstance(each.tag, str)]
    counts = Counter(each.tag for each in elements)
    seen: Counter[Any] = Counter()
    for each in elements:
        tag = _local(each.tag)
        name = next((value for key in _NAMES if (value := each.get(key, ""))), "")
        number = seen[each.tag]
        seen[each.tag] += 1
        if name and _NAME.fullmatch(name):
            yield f"{prefix}{tag}[{name}]", each
        else:
            yield f"{prefix}{tag}[{number}]" if counts[each.tag] > 1 else f"{prefix}{tag}", each


def _values(path: str, element: _Element, builder: TextBuilder, *, named: bool) -> Iterator[str]:
    text = " ".join(_words(element).split()) if len(element) else _words(element).strip()
    if text and _is_encoded(text):
        builder.skip(path or _local(str(element.tag)), "encoded data")
    elif text:
        yield f"{path}: {text}\n" if path else f"{text}\n"
    is_name_shown = named and any(path.endswith(f"[{element.get(key)}]") for key in _NAMES)
    for key, value in element.items():
        if value.strip() and not (is_name_shown and key in _NAMES and path.endswith(f"[{value}]")):
            label = _local(str(key))
            if label != "schemaLocation":
                yield f"{path}.{label}: {value}\n" if path else f"{label}: {value}\n"


def _words(element: _Element) -> str:
    """Return what stands directly in an element."""
    pieces = [element.text or "", *(each.tail or "" for each in element)]
    return " ".join(pieces) if len(element) else pieces[0]


def _is_encoded(text: str) -> bool:
    return (
        len(text) >= _ENCODED_CHARS
        and _ENCODED.fullmatch(text) is not None
        and min(map(len, text.split()[:3])) >= _LONG_WORD
    )


def _pairs(value: object) -> object:
    if isinstance(value, dict):
        return Pairs((str(key), _pairs(each)) for key, each in value.items())
    if isinstance(value, list):
        return [_pairs(each) for each in value]
    if isinstance(value, bytes):
        return f"({len(value):,} bytes)"
    return value if isinstance(value, bool) else str(value)


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]
