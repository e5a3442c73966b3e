"""RSS and Atom: the entries of a feed, each under its title with its author, its date, its text and its link."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from asky.errors import SourceUnreadable
from asky.reading.charset import decode
from asky.reading.html.links import absolute_url
from asky.reading.html.powers import with_powers
from asky.reading.html.survey import survey_page
from asky.reading.limits import MAX_LINKS
from asky.reading.text_builder import TextBuilder
from asky.text.scrub import one_line, scrub_counted, strip_sequences
from asky.values import Document, Link

if TYPE_CHECKING:
    from lxml.etree import _Element

_DECLARED = re.compile(rb"""<\?xml[^>]{0,100}?encoding\s*=\s*["']([A-Za-z0-9_.:-]{1,40})""")
_PROLOG = re.compile(r"\s*<\?xml[^>]*\?>")
_DTD = re.compile(r"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)
_SUMMARIES = ("encoded", "content", "description", "summary")  # the whole text first
_DATES = ("pubDate", "published", "updated", "date")
_AUTHORS = ("author", "creator")
_DURATION = "duration"  # of an episode


def read(data: bytes, name: str, url: str | None = None) -> Document:
    """Return the entries of a feed in order, a section each below its title and description.

    Of the texts of an entry the fullest stands there once. Without `url` only absolute links are kept. Raises
    SourceUnreadable: failed for invalid XML or a document type declaration, empty for a feed without entries.
    """
    root, invisible = _parse(data, name)
    is_rss = _tag(root) != "feed"
    builder, links = TextBuilder(invisible), dict[str, Link]()
    channel = next(root.iter("{*}channel"), root)
    if url is None:
        about = _text(channel, "description") or _text(channel, "subtitle")
        _add(builder, one_line(_text(channel, "title"), None), level=1)
        _add(builder, _plain(about, builder) if about else "")
    count = 0
    for entry in root.iter("{*}item" if is_rss else "{*}entry"):
        count += 1
        start = len(builder) + (2 if len(builder) else 0)
        address = absolute_url(_href(entry), url)
        _write(entry, builder, address if url is None else None)
        if address and len(links) < MAX_LINKS and start < len(builder):
            links.setdefault(address, Link(address, one_line(_text(entry, "title")), start))
    if not count or not len(builder):
        raise SourceUnreadable(f"{name}: a feed without entries", verdict="empty")
    media_type = "application/rss+xml" if is_rss else "application/atom+xml"
    return replace(builder.build(media_type, title=_text(channel, "title")), links=tuple(links.values()))


def _parse(data: bytes, name: str) -> tuple[_Element, int]:
    from lxml import etree  # 25 ms: only if XML is read

    declared = _DECLARED.match(data)
    source = strip_sequences(decode(data, declared[1].decode("ascii") if declared else None))
    text, invisible = scrub_counted(source)
    if _DTD.search(text):
        raise SourceUnreadable(f"{name}: the feed declares a document type, which may expand to anything")
    parser = etree.XMLParser(
        encoding="utf-8", resolve_entities=False, no_network=True, recover=True, remove_comments=True
    )
    try:
        root = etree.fromstring(_PROLOG.sub("", text, count=1).encode("utf-8"), parser)
    except (etree.LxmlError, ValueError) as error:
        raise SourceUnreadable(f"{name}: not a feed ({one_line(str(error), 100)})") from None
    if root is None or _tag(root) not in ("rss", "RDF", "feed"):
        raise SourceUnreadable(f"{name}: XML, but not a feed", verdict="unsupported")
    return root, invisible


def _write(entry: _Element, builder: TextBuilder, address: str | None) -> None:
    texts = [value for name in _SUMMARIES if (value := _source(entry, name))] or [_described(entry)]
    _add(builder, one_line(_text(entry, "title"), None), level=2)
    _add(builder, next((one_line(value) for name in _DATES if (value := _text(entry, name))), ""))
    facts = {
        "By": next((value for name in _AUTHORS if (value := _person(entry, name))), ""),
        "Categories": ", ".join(_categories(entry)),
        "Duration": _text(entry, _DURATION),
        "Link": address or "",
    }
    _add(builder, "\n".join(f"{name}: {one_line(value)}" for name, value in facts.items() if value))
    _add(builder, _plain(texts[0], builder) if texts[0] else "")


def _source(entry: _Element, name: str) -> str:
    """Return a text as HTML, whether it is written as text or as elements."""
    from lxml import etree

    found = next((child for child in _children(entry, name) if len(child) or (child.text or "").strip()), None)
    if found is None or not len(found):
        return "".join(found.itertext()).strip() if found is not None else ""
    return (found.text or "") + "".join(etree.tostring(each, encoding="unicode", method="html") for each in found)


def _add(builder: TextBuilder, block: str, level: int = 0) -> None:
    if block:
        if len(builder):
            builder.add("\n\n")
        if level:
            builder.mark_heading(block, level)
        builder.add(block)


def _person(entry: _Element, name: str) -> str:
    """Return the author as a feed names one: in a `name`, or as `mail (name)`."""
    for person in _children(entry, name):
        named = _text(person, "name") or ("" if len(person) else "".join(person.itertext()).strip())
        found = re.fullmatch(r"\S+@\S+\s+\((.+)\)", named)
        if named:
            return found[1] if found else named
    return ""


def _categories(entry: _Element) -> list[str]:
    found = (
        each.get("label") or each.get("term") or (each.text or "").strip() for each in _children(entry, "category")
    )
    return list(dict.fromkeys(one_line(each) for each in found if each))


def _described(entry: _Element) -> str:
    """Return the description of an entry's media, as video channels have it."""
    return next(("".join(each.itertext()).strip() for each in entry.iter("{*}description")), "")


def _plain(summary: str, builder: TextBuilder) -> str:
    """Return the text of a summary, which is HTML."""
    html, invisible = scrub_counted(summary)
    survey = survey_page(with_powers(html))
    builder.invisible += invisible + survey.builder.invisible
    return survey.text


def _href(entry: _Element) -> str:
    links = list(_children(entry, "link"))
    named = next((link for link in links if link.get("rel", "alternate") == "alternate" and link.get("href")), None)
    if named is not None:
        return str(named.get("href"))
    return next(("".join(link.itertext()).strip() for link in links), "")


def _text(element: _Element, name: str) -> str:
    return next(("".join(child.itertext()).strip() for child in _children(element, name)), "")


def _children(element: _Element, name: str) -> Iterator[_Element]:
    return (child for child in element if _tag(child) == name)


def _tag(element: _Element) -> str:
    return str(element.tag).rpartition("}")[2]
