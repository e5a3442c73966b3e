"""HTML by construction: a string is plain text until `tag` or `escape` converts it, so that none is left unescaped."""

from __future__ import annotations

import html
from collections.abc import Iterable

from asky.text.scrub import scrub

_VOID = frozenset({"br", "hr", "link", "meta"})


class Html(str):
    """A piece of HTML, made by the functions of this module. The result of any other string operation is text again."""

    __slots__ = ()


def escape(text: str) -> Html:
    """Return `text` scrubbed and escaped for element content and quoted attributes."""
    return Html(html.escape(scrub(text), quote=True))


def tag(name: str, /, *children: str, **attributes: str | int | bool | None) -> Html:
    """Return the element `name`; `children` that are not `Html` are escaped, and so are all attribute values.

    In attribute names `_` stands for `-`, and a trailing one is dropped (`class_`). `True` makes an attribute without a
    value; `None` and `False` make none.
    """
    written = "".join(map(_attribute, attributes, attributes.values()))
    if name in _VOID:
        return Html(f"<{name}{written}>")
    return Html(f"<{name}{written}>{join(children)}</{name}>")


def join(parts: Iterable[str]) -> Html:
    """Concatenate the parts; those that are not `Html` are escaped."""
    return Html("".join(part if isinstance(part, Html) else escape(part) for part in parts))


def own(text: str) -> Html:
    """Return text from this package's files, unescaped. Raises `ValueError` if it could end a script or style."""
    if "</" in text or "<!" in text:
        raise ValueError("no text for an element of a script or style")
    return Html(text)


def _attribute(name: str, value: str | int | bool | None) -> str:
    if value is None or value is False:
        return ""
    name = name.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'
