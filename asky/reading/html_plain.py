"""All the visible text of a page, without judging what is content: one pass over its tags, at any depth."""

from __future__ import annotations

from asky.reading.html_blocks import BlockWriter, is_hidden
from asky.reading.text_builder import TextBuilder
from asky.values import Document

_SKIPPED_TAGS = (
    "audio button canvas datalist iframe math noembed noframes noscript object script select style svg template"
    " textarea video"
)
_PARTED_TAGS = "p blockquote pre ul ol dl table figure hr article section main header footer nav aside form"
_BLOCK_TAGS = (
    "address body caption center dd details dir div dt fieldset figcaption html legend li menu option summary tbody"
    " tfoot thead tr"
)
_SKIPPED = frozenset(_SKIPPED_TAGS.split())
_PARTED = frozenset(_PARTED_TAGS.split())
_BLOCKS = frozenset(_BLOCK_TAGS.split())
_HEADINGS = {f"h{level}": level for level in range(1, 7)}


def read_plain(html: str, media_type: str) -> Document:
    """The visible text of scrubbed HTML in the order of the source, with its headings as sections; it may be empty."""
    from lxml import etree  # 25 ms: only where a page is read

    # A target is told of tags as they come: no tree, hence no limit of depth.
    collector = _Collector()
    parser = etree.HTMLParser(target=collector, encoding="utf-8")
    parser.feed(html.encode("utf-8"))
    parser.close()
    return collector.builder.build(media_type, title="".join(collector.title))


class _Collector:
    """An lxml parser target."""

    def __init__(self) -> None:
        self.builder = TextBuilder()
        self.title: list[str] = []
        self._writer = BlockWriter(self.builder)
        self._skipping = 0  # depth within a skipped element
        self._in_title = False

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if self._skipping or tag in _SKIPPED or (tag not in ("html", "body") and is_hidden(attributes)):
            self._skipping += 1
        elif tag == "title":
            self._in_title = True
        elif tag in _HEADINGS:
            self._writer.open(2, heading=_HEADINGS[tag])
        elif tag in _PARTED:
            self._writer.open(2, preformatted=tag == "pre")
        elif tag in _BLOCKS:
            self._writer.open(1, prefix="- " if tag == "li" else "")
        elif tag in ("td", "th"):
            self._writer.part_cells()
        elif tag == "br":
            self._writer.break_line()

    def end(self, tag: str) -> None:
        if self._skipping:
            self._skipping -= 1
        elif tag == "title":
            self._in_title = False
        elif tag in _HEADINGS or tag in _PARTED:
            self._writer.close(2)
        elif tag in _BLOCKS:
            self._writer.close(1)

    def data(self, data: str) -> None:
        if self._skipping:
            return
        if self._in_title:
            self.title.append(data)
        else:
            self._writer.write(data)

    def comment(self, text: str) -> None:
        """Comments are no text."""

    def pi(self, target: str, data: str | None = None) -> None:
        """Processing instructions are no text."""

    def close(self) -> None:
        self._writer.close(0)
