"""The lines of a mail that is HTML: all that is shown, in order, with what is quoted.

Mails are laid out in tables, have no frame to leave out, and hide text that only the list of messages shows. Scripts
never run, so what a mail hides stays hidden.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from asky.reading.html.blocks import is_hidden
from asky.reading.html.page import parse_html
from asky.reading.html.plain import SKIPPED
from asky.reading.html.powers import with_powers
from asky.reading.html.sheets import Sheets
from asky.reading.html.survey import survey_page
from asky.reading.mail.attributions import attribution
from asky.reading.mail.lines import MailLine, plain_lines, quoted_line
from asky.reading.tables.cells import GridCell

if TYPE_CHECKING:
    from lxml.html import HtmlElement

# The gap that an element asks for: 1 begins a line, 2 leaves one empty.
_GAPS = {
    **dict.fromkeys(("p", "blockquote", "pre", "ul", "ol", "dl", "h1", "h2", "h3", "h4", "h5", "h6", "table", "hr"), 2),
    **dict.fromkeys(("div", "center", "tr", "li", "dt", "dd", "section", "article", "header", "footer", "main"), 1),
    **dict.fromkeys(("address", "caption", "fieldset", "figure", "figcaption", "form", "legend", "body"), 1),
}
_LEFT_OUT = SKIPPED - {"button"} | {"head", "title"}
_LINE_GAP = 2
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_FONT_SIZE = re.compile(r"font-size\s*:\s*([\d.]{1,8})\s*(px|pt|r?em|%)?[^;]*;?", re.IGNORECASE)
_UNSEEN = re.compile(r"(?:^|;)\s*(?:max-height\s*:\s*0+(?:px)?|opacity\s*:\s*0*(?:\.0+)?)\s*(?:;|!|$)", re.IGNORECASE)
_TINY = 1.0  # of a text that only the list of messages is to show
_BORDER = re.compile(r"border-left", re.IGNORECASE)
_FILE = re.compile(r"\S*\.(?:png|jpe?g|gif|bmp|svg|webp)|cid:\S*", re.IGNORECASE)
_QUOTING = frozenset({"gmail_quote", "protonmail_quote", "yahoo_quoted", "tutanota_quote", "zmail_extra"})
_HEADERS_CLASS = "moz-email-headers-table"
_MAX_COLUMN_CHARS = 60  # of a cell that is on one line with the next; longer ones are columns of text
_HIDDEN_SHARE = 0.3  # as of pages: what a sheet hides of a mail is no more than this


def html_lines(html: str) -> list[MailLine]:
    """Return the lines of a mail's HTML. What is nested too deeply for a tree is read without knowing quotes."""
    html = with_powers(html.replace("\x00", ""))
    tree = parse_html(html)
    if tree is None:
        return plain_lines(survey_page(html).text)
    return _Walk(tree, html).lines


class _Walk:
    """One pass over a tree. `lines` are complete when it is made."""

    def __init__(self, tree: HtmlElement, html: str) -> None:
        self.lines: list[MailLine] = []
        self._inline: list[str] = []
        self._gap = 0
        self._depth = 0
        self._heading = 0
        self._lists: list[int | None] = []  # per open list: the number of its last item, `None` for bullets
        self._prefix = ""
        self._pre = 0
        self._tiny: list[bool] = [False]  # per element that states a size of its letters
        self._sheets = Sheets(html)
        self._chars = len(tree.text_content()) if self._sheets.hide_something else 0
        self._walk(tree)

    def _walk(self, tree: HtmlElement) -> None:
        from lxml import etree  # 25 ms: only if HTML is read

        closing: dict[HtmlElement, bool] = {}  # of the open elements that quote or state a size: whether they quote
        walk = etree.iterwalk(tree, events=("start", "end"))
        for event, element in walk:
            tag = element.tag
            if event == "start":
                if tag in _LEFT_OUT or self._is_hidden(element):
                    walk.skip_subtree()
                    closing[element] = False
                    self._tiny.append(True)
                    continue
                if tag == "table" and _holds_data(element) and (rows := self._rows(element)):
                    self._close(_LINE_GAP)
                    self._open_gap()
                    self.lines.append(MailLine(self._depth, "", 0, rows))
                    self._gap = _LINE_GAP
                    walk.skip_subtree()
                    continue
                size = _FONT_SIZE.search(element.get("style") or "") if element.attrib else None
                quotes = tag in ("blockquote", "div") and self._quotes(element)
                if size or quotes:
                    closing[element] = quotes
                    self._tiny.append(self._is_tiny(size) if size else self._tiny[-1])
                self._start(element, tag)
                self._depth += quotes
                self._write(element.text)
            else:
                self._end(tag)
                if element in closing:
                    self._depth -= closing.pop(element)
                    self._tiny.pop()
                if element is not tree:
                    self._write(element.tail)
        self._close(0)

    def _is_hidden(self, element: HtmlElement) -> bool:
        if not element.attrib:
            return False
        style = element.get("style") or ""
        if style or "hidden" in element.attrib:
            rest = {**element.attrib, "style": _FONT_SIZE.sub("", style)}
            if is_hidden(rest) or _UNSEEN.search(style):
                return True
        if not self._sheets.hide_something or not self._sheets.hide(element.tag, element.get):
            return False
        return len(element.text_content()) < _HIDDEN_SHARE * self._chars

    @staticmethod
    def _is_tiny(size: re.Match[str]) -> bool:
        try:
            return float(size[1]) <= (_TINY if (size[2] or "px").lower() in ("px", "pt") else 0.0)
        except ValueError:
            return False

    def _rows(self, table: HtmlElement) -> tuple[tuple[GridCell, ...], ...]:
        """Return the rows of a table of data; none if it is no grid."""
        rows = []
        for row in table.iter("tr"):
            if self._is_hidden(row):
                continue
            cells = [cell for cell in row if cell.tag in ("td", "th") and not self._is_hidden(cell)]
            spans = [(_span(cell.get("rowspan")), _span(cell.get("colspan"))) for cell in cells]
            rows.append(
                tuple(
                    GridCell(self._cell_text(cell), high, wide, cell.tag == "th")
                    for cell, (high, wide) in zip(cells, spans, strict=True)
                )
            )
        is_grid = len(rows) > 1 and sum(len(cells) > 1 for cells in rows) > 1
        return tuple(rows) if is_grid else ()

    def _cell_text(self, cell: HtmlElement) -> str:
        from lxml import etree  # 25 ms: only if HTML is read

        pieces: list[str] = []
        walk = etree.iterwalk(cell, events=("start", "end"))
        for event, element in walk:
            if event == "start" and (element.tag in _LEFT_OUT or (element is not cell and self._is_hidden(element))):
                walk.skip_subtree()
            elif event == "start":
                pieces.append(f"{' ' * (element.tag in _GAPS or element.tag == 'br')}{element.text or ''}")
            else:
                pieces.append(f"{' ' * (element.tag in _GAPS)}{(element.tail if element is not cell else '') or ''}")
        return " ".join("".join(pieces).split())

    def _quotes(self, element: HtmlElement) -> bool:
        """Return whether an element holds what somebody else has written."""
        names = set((element.get("class") or "").split())
        if element.tag == "div":
            # Gmail's has the line above the quote too, in which another element quotes.
            return bool(names & (_QUOTING - {"gmail_quote"})) and element.find(".//blockquote") is None
        if element.get("type") == "cite" or element.get("cite") or names & _QUOTING:
            return True
        before = " ".join([line.text for line in self.lines[-3:] if line.depth == self._depth] + self._inline)
        return bool(_BORDER.search(element.get("style") or "")) or attribution(before[-300:]) is not None

    def _start(self, element: HtmlElement, tag: str) -> None:
        if tag in _GAPS:
            self._close(_GAPS[tag] if tag not in ("ul", "ol") or not self._lists else 1)
            if tag in _HEADINGS:
                self._heading = _HEADINGS[tag]
            elif tag == "pre":
                self._pre += 1
            elif tag in ("ul", "ol"):
                self._lists.append(0 if tag == "ol" else None)
            elif tag == "li":
                self._prefix = self._mark()
        elif tag == "br":
            self._break_line()
        elif tag in ("td", "th"):
            self._part_cells()
        elif tag == "img":
            self._picture(element)

    def _end(self, tag: str) -> None:
        if tag in _GAPS:
            self._close(_GAPS[tag] if tag not in ("ul", "ol") or len(self._lists) < _LINE_GAP else 1)
            self._heading = 0
            if tag == "pre":
                self._pre -= 1
            elif tag in ("ul", "ol"):
                del self._lists[-1:]

    def _mark(self) -> str:
        indent = "  " * (len(self._lists) - 1)
        if not self._lists or self._lists[-1] is None:
            return f"{indent}- "
        self._lists[-1] += 1
        return f"{indent}{self._lists[-1]}. "

    def _picture(self, element: HtmlElement) -> None:
        """Write what stands for a picture of the mail; for one from elsewhere only words that may be its text."""
        alt = " ".join((element.get("alt") or "").split())
        is_own = (element.get("src") or "").strip().lower().startswith("cid:")
        if alt and not _FILE.fullmatch(alt) and (is_own or len(alt.split()) > 3):
            self._inline.append(f"[Picture: {alt}]")

    def _write(self, text: str | None) -> None:
        if not text or self._tiny[-1]:
            return
        if self._pre:
            first, *others = text.split("\n")
            self._inline.append(first)
            for each in others:
                self._break_line()
                self._inline.append(each)
        elif self._inline or not text.isspace():
            said = " ".join(text.split())
            self._inline.append(f"{' ' * text[0].isspace()}{said}{' ' * text[-1].isspace()}")

    def _part_cells(self) -> None:
        said = "".join(self._inline).strip()
        if len(said) > _MAX_COLUMN_CHARS:
            self._close(1)
        elif said:
            self._inline.append(" " if said.endswith(":") else " | ")

    def _break_line(self) -> None:
        if self._inline:
            self._close(1)
        else:
            self._gap = min(_LINE_GAP, self._gap + 1)  # an empty line

    def _open_gap(self) -> None:
        if self._gap >= _LINE_GAP and self.lines:
            self.lines.append(MailLine(min(self._depth, self.lines[-1].depth), ""))
        self._gap = 1

    def _close(self, gap: int) -> None:
        """End the line, if one has begun, and ask for a gap after it."""
        text = "".join(self._inline)
        self._inline.clear()
        said = text.rstrip() if self._pre else " ".join(text.split()).removesuffix(" |")
        if said.strip():
            self._open_gap()
            line = quoted_line(said)
            self.lines.append(MailLine(self._depth + line.depth, self._prefix + line.text, self._heading))
            self._prefix = ""
        self._gap = max(self._gap, gap)


def _holds_data(table: HtmlElement) -> bool:
    """Return whether a table holds data, and does not lay out a mail."""
    if (table.get("role") or "").lower() in ("presentation", "none") or _HEADERS_CLASS in (table.get("class") or ""):
        return False
    is_bordered = (table.get("border") or "0").strip() not in ("", "0")
    return (is_bordered or table.find(".//th") is not None) and table.find(".//table") is None


def _span(value: str | None) -> int:
    return min(1_000, int(value)) if value and value.isdecimal() and len(value) < 6 else 1
