"""HTML as Markdown, with its links and footnotes: for a page whose citations are followed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from asky.errors import SourceUnreadable
from asky.reading.html.blocks import is_hidden
from asky.reading.html.page import decode_html, parse_html
from asky.reading.html.plain import SKIPPED, empty
from asky.reading.html.tables import arrange_tables
from asky.text.scrub import one_line
from asky.values import Document

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_FRAME = frozenset({"nav", "form", "dialog", "menu"})
_BLOCK_TAGS = (
    "p div section article main header footer aside blockquote figure figcaption address center dl dt dd details"
    " summary fieldset ul ol table caption thead tbody tfoot body html hr"
)
_BLOCKS = frozenset(_BLOCK_TAGS.split())
_HEADINGS = {f"h{level}": "#" * level for level in range(1, 7)}
_CELLS = ("td", "th")
_BACK = re.compile(r"(?:[\s\u21a9\ufe0e\ufe0f^\u2191\u2934]|jump up(?: to)?:?)*[a-z]?", re.IGNORECASE)
_NUMBER = re.compile(r"[\[(]?(?:note )?([0-9]{1,3}|[a-z]|[*\u2020\u2021])[\])]?")
_LABEL = re.compile(r"[^\w.:-]")
_SCHEME = re.compile(r"(?!https?:|file:)[a-z][a-z0-9+.-]*:", re.IGNORECASE)


def read(data: bytes, name: str) -> Document:
    """Return a page as Markdown: headings, lists, tables, links, and as `[^id]` the references to its own footnotes.

    Menus, forms and hidden elements are left out. Raises SourceUnreadable: empty if there is no text, failed if it is
    nested too deeply.
    """
    html, _ = decode_html(data)
    tree = parse_html(html)
    if tree is None:
        raise SourceUnreadable(f"{name}: not a readable page")
    for element in tree.xpath(".//*[@hidden or @style]"):
        if is_hidden(element.attrib):
            empty(element)
    arrange_tables(tree)
    body = tree.find(".//body")
    writer = _Writer(_footnotes(tree))
    writer.write(body if body is not None else tree)
    text = writer.text()
    if not text.strip():
        raise SourceUnreadable(f"{name}: no visible text in the page", verdict="empty")
    title = tree.findtext(".//title") or ""
    return Document(text, "text/markdown", title=one_line(title) or None)


def _footnotes(tree: HtmlElement) -> set[str]:
    """Return the ids of the elements that short links such as `<a href="#fn1">1</a>` lead to."""
    found = set()
    for link in tree.iter("a"):
        href = link.get("href") or ""
        if href.startswith("#") and _NUMBER.fullmatch(link.text_content().strip()):
            found.add(href[1:])
    return found - {link.get("id") for link in tree.iter("a")}


class _Writer:
    """Collects blocks of Markdown from a tree, without recursion."""

    def __init__(self, footnotes: set[str]) -> None:
        self._footnotes = footnotes
        self._blocks: list[str] = []
        self._inline: list[str] = []
        self._prefix = ""
        self._lists: list[int | None] = []
        self._rows: list[list[str]] | None = None
        self._has_head = False
        self._links: list[tuple[str, int]] = []
        self._code = 0

    def text(self) -> str:
        return "\n\n".join(self._blocks) + "\n"

    def write(self, root: HtmlElement) -> None:
        """Write the elements below `root`."""
        from lxml import etree  # 25 ms: only if a page is read

        walk = etree.iterwalk(root, events=("start", "end"))
        for event, element in walk:
            if event == "end":
                self._end(str(element.tag), element)
                tail = element.tail if element is not root else None
                self._add(tail)
            elif not isinstance(element.tag, str) or element.tag in SKIPPED or element.tag in _FRAME:
                walk.skip_subtree()
                element.clear(keep_tail=True)
                element.tag = "span"
            else:
                self._start(element.tag, element.attrib)
                self._add(element.text)
        self._close()

    def _add(self, text: str | None) -> None:
        if text:
            self._inline.append(text if self._code else re.sub(r"\s+", " ", text))

    def _start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if self._rows is None and (tag in _BLOCKS or tag in _HEADINGS or tag in ("li", "pre")):
            self._close()
        if tag in _HEADINGS:
            self._prefix = f"{_HEADINGS[tag]} "
        elif tag in ("ul", "ol"):
            self._lists.append(0 if tag == "ol" else None)
        elif tag == "li":
            self._prefix = self._item()
        elif tag == "table" and self._rows is None:
            self._rows, self._has_head = [], False
        elif tag == "tr" and self._rows is not None:
            self._rows.append([])
            self._inline.clear()
        elif tag in _CELLS:
            self._inline.clear()
        elif tag == "pre":
            self._code += 1
        elif tag == "br":
            self._inline.append(" " if self._rows is not None else "\n")
        elif tag == "a":
            self._links.append((attributes.get("href") or "", len(self._inline)))
        if attributes.get("id") in self._footnotes and self._rows is None:
            self._close()
            self._prefix = f"[^{_label(attributes['id'])}]: "

    def _end(self, tag: str, element: HtmlElement) -> None:
        if tag == "a" and self._links:
            self._end_link(*self._links.pop())
        elif tag == "sup":
            self._end_superscript(element)
        elif tag in _CELLS and self._rows:
            self._has_head = self._has_head or tag == "th"
            self._rows[-1].append(self._take().replace("\\|", "|").replace("|", "/").replace("\n", " "))
        elif tag == "table" and self._rows is not None:
            self._end_table()
        elif tag in ("ul", "ol"):
            self._close()
            if self._lists:
                self._lists.pop()
        elif tag == "pre":
            self._end_code()
        elif self._rows is None and (tag in _BLOCKS or tag in _HEADINGS or tag == "li"):
            self._close()

    def _end_link(self, href: str, start: int) -> None:
        label = "".join(self._inline[start:])
        shown = label.strip()
        del self._inline[start:]
        if href.startswith("#"):
            if href[1:] in self._footnotes:
                self._inline.append(f"[^{_label(href[1:])}]")
            elif not _BACK.fullmatch(label):
                self._inline.append(label)
        elif shown and href and not _SCHEME.match(href) and not self._code:
            number = shown.strip("[]()")
            name = number if number.isdecimal() else shown.replace("[", "(").replace("]", ")")
            self._inline.append(f"[{name}](<{href.strip()}>)")
        else:
            self._inline.append(label)

    def _end_superscript(self, element: HtmlElement) -> None:
        number = _NUMBER.fullmatch(element.text_content().strip())
        if number is not None and element.find(".//a") is None and self._inline:
            written = self._inline.pop().strip(" []()")
            self._inline.append(f"<sup>{written}</sup>")

    def _end_table(self) -> None:
        rows = [row for row in self._rows or () if any(row)]
        self._rows = None
        self._inline.clear()
        if not rows:
            return
        width = max(map(len, rows))
        while width > 1 and rows and len(rows[0]) == 1:  # a title
            self._blocks += rows.pop(0)
        if not self._has_head and width > 1:
            rows.insert(0, [])  # Markdown has no tables without a head
        lines = [
            row[0] if len(row) == 1 < width else f"| {' | '.join([*row, *[''] * (width - len(row))])} |" for row in rows
        ]
        self._blocks.append("\n".join([lines[0], f"|{'---|' * width}", *lines[1:]]))

    def _end_code(self) -> None:
        self._code -= 1
        code = self._take(whole=True)
        if not self._code and code.strip():
            self._blocks.append(f"```\n{code.strip(chr(10))}\n```")

    def _item(self) -> str:
        if not self._lists:
            return "- "
        indent, last = "  " * (len(self._lists) - 1), self._lists[-1]
        if last is None:
            return f"{indent}- "
        self._lists[-1] = last + 1
        return f"{indent}{last + 1}. "

    def _take(self, *, whole: bool = False) -> str:
        text = "".join(self._inline)
        self._inline.clear()
        return text if whole else "\n".join(" ".join(line.split()) for line in text.split("\n")).strip()

    def _close(self) -> None:
        if self._code:
            return
        text = self._take()
        if text:
            if self._prefix.startswith("#"):
                text = text.replace("\n", " ")
            self._blocks.append(self._prefix + text)
            self._prefix = ""


def _label(id_: str) -> str:
    return _LABEL.sub("-", id_)[:80]
