"""Parsing of untrusted XML: no custom entities, no DTD, nothing loaded."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from asky.search.reply import malformed
from asky.search.rows import MAX_SNIPPET_CHARS
from asky.text.scrub import one_line

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")  # invalid in XML 1.0, but sent by careless services
_FIRST_ELEMENT = re.compile(r"<[A-Za-z_:]")


def parse_xml(text: str, name: str) -> Element:
    """Return the root of a document. Its encoding declaration is ignored: the text is decoded already.

    A DOCTYPE that only names a DTD, as in PubMed's, is skipped. Raises `ProviderError` (malformed) for one with
    declarations, and for anything but XML; `name` is the service.
    """
    from lxml import etree  # 0.02 s: only if a service answers in XML

    text = _FORBIDDEN.sub("", text).lstrip("\ufeff")
    if _declares(text):
        raise malformed(name, "its answer declares a document type")
    parser = etree.XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(text.encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError:
        raise malformed(name, "its answer is not XML" if text.strip() else "its answer is empty") from None
    return root


def text_in(element: Element | None, path: str | None = None, max_chars: int = MAX_SNIPPET_CHARS) -> str:
    """Return all text of an element, or of the first one at `path` below it, in one line; `""` if there is none."""
    if element is not None and path is not None:
        element = element.find(path)
    return "" if element is None else one_line(html.unescape("".join(element.itertext())), max_chars)


def _declares(text: str) -> bool:
    """Return whether declarations precede the first element: in the brackets of a DOCTYPE, the only valid place."""
    first = _FIRST_ELEMENT.search(text)
    prolog = text[: first.start()] if first else text
    return "<!doctype" in prolog.lower() and ("[" in prolog or "<!entity" in prolog.lower())
