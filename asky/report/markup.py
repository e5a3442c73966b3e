"""HTML by construction: a string is text until `tag` or `escape` made it HTML, so that none is forgotten."""

from __future__ import annotations

import html
from collections.abc import Iterable

from asky.text.scrub import scrub

_VOID = frozenset({"br", "hr", "link", "meta"})


class Html(str):
    """A piece of HTML, made by the functions of this module. What is put together by other means is text again."""

    __slots__ = ()


def escape(text: str) -> Html:
    """`text` as a reader sees it: scrubbed, and safe between tags and in quoted attributes."""
    return Html(html.escape(scrub(text), quote=True))


def tag(name: str, /, *children: str, **attributes: str | int | bool | None) -> Html:
    """The element `name`; of the `children` those that are no `Html` are escaped, as are all values.

    In the names of attributes `_` stands for `-`, and one at the end for nothing (`class_`). `True` is an attribute
    without a value; `None` and `False` are none.
    """
    written = "".join(map(_attribute, attributes, attributes.values()))
    if name in _VOID:
        return Html(f"<{name}{written}>")
    return Html(f"<{name}{written}>{join(children)}</{name}>")


def join(parts: Iterable[str]) -> Html:
    """The parts one after another; those that are no `Html` are escaped."""
    return Html("".join(part if isinstance(part, Html) else escape(part) for part in parts))


def own(text: str) -> Html:
    """Text of this package's files, as it stands. Raises `ValueError` for one that could end a script or a style."""
    if "</" in text or "<!" in text:
        raise ValueError("no text for an element of a script or style")
    return Html(text)


def _attribute(name: str, value: str | int | bool | None) -> str:
    if value is None or value is False:
        return ""
    name = name.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'
