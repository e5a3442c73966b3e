"""The text of a chapter, with the offsets of its headings and of the places that the contents lead to."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from asky.reading.html.plain import SHAPING, SKIPPED, PlainText
from asky.values import Section

if TYPE_CHECKING:
    from lxml.html import HtmlElement


@dataclass(slots=True)
class ChapterText:
    """A chapter's text, its headings with the levels of their tags, and the offset of the block of each place in it."""

    text: str = ""
    headings: tuple[Section, ...] = ()
    places: dict[str, int] = field(default_factory=dict)
    invisible: int = 0


def write_chapter(root: HtmlElement, wanted: Collection[str]) -> ChapterText:
    """Return the text of a chapter as it is seen, whose tables are arranged; `wanted` are ids to find."""
    from lxml import etree  # 25 ms: only if a book is read

    plain = PlainText(rules=True)
    writer = plain.writer
    found: list[str] = []
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        tag = element.tag
        if event == "end":
            if tag in SHAPING:
                plain.end(tag)
            text = element.tail if element is not root else None
        elif tag in SKIPPED:
            walk.skip_subtree()
            continue
        else:
            if tag in SHAPING:
                plain.start(tag, element.attrib)
            if wanted and (name := element.get("id") or element.get("name")) in wanted:
                writer.mark()
                found.append(name)
            text = element.text
        if text:
            writer.write(text)
    writer.close(0)
    document = plain.builder.build("")
    behind = [len(document.text)] * (len(found) - len(writer.places))
    places = dict(zip(reversed(found), reversed([*writer.places, *behind]), strict=True))
    return ChapterText(document.text, document.sections, places, plain.builder.invisible)
