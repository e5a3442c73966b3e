"""The walk through a part of a Word document: what is seen becomes blocks, with all changes accepted."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from asky.reading.office.page_numbers import PAGE_SIGN, without_page_numbers
from asky.reading.office.word.drawings import KNOWN, read_drawing
from asky.reading.office.word.fields import WordFields
from asky.reading.office.word.formulas import formula_text
from asky.reading.office.word.grid import read_table
from asky.reading.office.word.names import MC, M, R, W, switch, value
from asky.reading.office.word.properties import has_own_mark, is_drop_cap, is_hidden, list_label, run_format
from asky.reading.office.word.state import NoteKind, WordState
from asky.reading.office.word.styles import WordStyle, outline_level
from asky.reading.office.word.symbols import has_private, sign, without_private
from asky.reading.office.word.tree import WordBlock, WordParagraph, WordPiece

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_LEFT_OUT_NAMES = (
    "del moveFrom pPr rPr tblPr tblGrid sdtPr sdtEndPr customXmlPr smartTagPr rt rubyPr proofErr bookmarkStart"
    " bookmarkEnd permStart permEnd"
)
_LEFT_OUT = frozenset(W + name for name in _LEFT_OUT_NAMES.split())
_OF_COMMENTS = (f"{W}commentRangeStart", f"{W}commentRangeEnd", f"{W}commentReference")
_BREAK = re.compile(r"[ \t\r]*\n\s*")
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
_GALLERY = f"{W}docPartObj/{W}docPartGallery"
_CONTENTS = "Table of Contents"
_BREAKS = {f"{W}br": "\n", f"{W}cr": "\n", f"{W}tab": "\t", f"{W}ptab": "\t", f"{W}noBreakHyphen": "-"}


class WordWalk:
    """Walks through the content of one part. `is_margin` is for the heads and feet of pages."""

    def __init__(self, state: WordState, part: str, *, is_margin: bool = False) -> None:
        self._state, self._part, self._is_margin = state, part, is_margin
        self._relations = state.relations(part)
        self._fields = WordFields(pages=is_margin)
        self._links: list[str] = []
        self._pieces: list[WordPiece] = []
        self._after: list[WordBlock] = []
        self._style = WordStyle()
        self._inline_handlers: dict[object, Callable[[Element], None]] = {
            f"{W}r": self._run,
            f"{W}hyperlink": self._hyperlink,
            f"{W}fldSimple": self._simple_field,
            f"{W}sdt": self._inline_control,
            f"{W}commentRangeStart": self._open_range,
            f"{W}commentRangeEnd": self._close_range,
            f"{W}del": self._deleted,
            f"{M}oMath": self._formula,
            f"{M}oMathPara": self._formula,
            f"{MC}AlternateContent": self._inline_alternate,
        }
        self._run_handlers: dict[object, Callable[[Element], None]] = {
            f"{W}footnoteReference": self._note,
            f"{W}endnoteReference": self._note,
            f"{W}commentReference": self._comment,
            f"{W}drawing": self._graphic,
            f"{W}pict": self._graphic,
            f"{W}object": self._graphic,
            f"{W}ruby": self._ruby,
            f"{W}pgNum": self._page_number,
            f"{MC}AlternateContent": self._run_alternate,
        }

    def blocks(self, container: Element | None) -> list[WordBlock]:
        """Return the blocks of a body, a cell, a note or the like."""
        found: list[WordBlock] = []
        if container is not None:
            self._into(container, found)
        self._flush(found)
        return found

    # blocks

    def _into(self, container: Element, found: list[WordBlock]) -> None:
        for child in container:
            tag = child.tag
            if tag == f"{W}p":
                self._paragraph(child, found)
            elif tag == f"{W}tbl":
                self._flush(found)
                table = read_table(child, self._content, self.blocks, self._state.styles)
                if any(cell.blocks for row in table.rows for cell in row):
                    found.append(table)
            elif tag == f"{W}sdt":
                if (content := self._content(child)) is not None:
                    self._into(content, found)
            elif tag == f"{MC}AlternateContent":
                self._alternate(child, partial(self._into, found=found))
            elif tag == f"{W}altChunk":
                self._flush(found)
                found += self._state.chunk(self._relations.get(child.get(f"{R}id", "")))
            elif tag == f"{W}subDoc":
                self._state.skip_linked(self._relations.get(child.get(f"{R}id", "")))
            elif tag == f"{W}sectPr":
                self._state.end_section(child)
            elif tag in self._inline_handlers:
                self._inline_handlers[tag](child)
            elif isinstance(tag, str) and tag.startswith(W) and tag not in _LEFT_OUT:
                self._into(child, found)

    def _paragraph(self, element: Element, found: list[WordBlock]) -> None:
        properties = element.find(f"{W}pPr")
        mark = properties.find(f"{W}rPr") if properties is not None else None
        styles = self._state.styles
        style_id = value(properties, "pStyle")
        self._style = style = styles.of_paragraph(style_id)
        self._inline(element)
        stated = value(properties, "outlineLvl")
        level = style.level if stated is None else outline_level(stated)
        if properties is not None and (section := properties.find(f"{W}sectPr")) is not None:
            self._state.end_section(section)
        if mark is not None and (mark.find(f"{W}del") is not None or mark.find(f"{W}moveFrom") is not None):
            return  # what was before the mark continues in the next paragraph
        if is_hidden(mark, style, styles):
            if level and switch(mark, "specVanish"):  # a heading that shares its line with the text after it
                self._close(found, level, "", "")
            return
        if properties is not None and is_drop_cap(properties):
            return
        role = "title" if style.name == "title" and not self._is_margin else ""
        self._close(found, 1 if role else level, list_label(properties, style, self._state.numbering), role)

    def _close(self, found: list[WordBlock], level: int, label: str, role: str) -> None:
        """End the paragraph that has been collected, and add what is anchored in it."""
        pieces, self._pieces = self._pieces, []
        if any(PAGE_SIGN in piece.text for piece in pieces):
            pieces = [WordPiece(without_page_numbers("".join(piece.text for piece in pieces)))]
        if any(piece.note is not None or piece.text.strip() for piece in pieces):
            found.append(WordParagraph(pieces, level, label, role))
        found += self._after
        self._after = []

    def _flush(self, found: list[WordBlock]) -> None:
        """End a paragraph whose mark is deleted where no other paragraph follows."""
        if self._pieces or self._after:
            self._close(found, 0, "", "")

    def _content(self, control: Element) -> Element | None:
        """Return what holds the content of a control; None for a placeholder, and for a table of contents."""
        properties = control.find(f"{W}sdtPr")
        if switch(properties, "showingPlcHdr"):
            return None
        gallery = properties.find(_GALLERY) if properties is not None else None
        if gallery is not None and gallery.get(f"{W}val") == _CONTENTS:
            return None
        return control.find(f"{W}sdtContent")

    # within a paragraph

    def _inline(self, element: Element) -> None:
        handlers = self._inline_handlers
        for child in element:
            tag = child.tag
            handler = handlers.get(tag)
            if handler is not None:
                handler(child)
            elif isinstance(tag, str) and tag.startswith(W) and tag not in _LEFT_OUT:
                self._inline(child)

    def _run(self, run: Element) -> None:
        styles = self._state.styles
        hidden, raised, font = run_format(run.find(f"{W}rPr"), self._style, styles)
        has_mark, note = False, None
        for child in run:
            tag = child.tag
            if tag == f"{W}fldChar":
                self._field(child, hidden=hidden)
            elif tag == f"{W}instrText":
                self._fields.instruct(child.text or "")
            elif hidden or not self._fields.is_seen:
                continue
            elif tag == f"{W}t":
                text = child.text or ""
                if "\n" in text:  # of a file whose XML is indented
                    text = _BREAK.sub(" ", text if child.get(_SPACE) == "preserve" else text.strip())
                if not has_mark:
                    self._add(without_private(text, font) if has_private(text) else text, raised)
                elif note is not None:
                    note.mark += text.strip()
            elif tag in _BREAKS:
                self._add(_BREAKS[tag])
            elif tag == f"{W}sym":
                self._add(sign(child.get(f"{W}char", ""), child.get(f"{W}font", "")), raised)
            elif tag in self._run_handlers:
                self._run_handlers[tag](child)
                if has_own_mark(child):
                    has_mark, note = True, self._pieces[-1].note if self._pieces else None

    def _add(self, text: str, raised: bool | None = None) -> None:
        if text and self._fields.is_seen:
            link = self._links[-1] if self._links else self._fields.link
            self._pieces.append(WordPiece(text, raised, link))
            self._state.seen_in_ranges(text)

    def _field(self, element: Element, *, hidden: bool) -> None:
        kind = element.get(f"{W}fldCharType")
        shown = ""
        if kind == "begin" and self._state.ends(self._part, element):
            shown = self._fields.begin(element)
        elif kind == "separate":
            shown = self._fields.separate()
        elif kind == "end":
            shown = self._fields.end()
        if shown and not hidden:
            link = self._links[-1] if self._links else ""
            self._pieces.append(WordPiece(shown, None, link))
            self._state.seen_in_ranges(shown)

    def _simple_field(self, element: Element) -> None:
        self._fields.begin()
        self._fields.instruct(element.get(f"{W}instr", ""))
        if shown := self._fields.separate():
            self._pieces.append(WordPiece(shown))
        self._inline(element)
        self._fields.end()

    def _hyperlink(self, element: Element) -> None:
        relation = self._relations.get(element.get(f"{R}id", ""))
        target = relation.target if relation is not None and relation.is_external else ""
        anchor = element.get(f"{W}anchor", "") if target and "#" not in target else ""
        self._links.append(f"{target}#{anchor}" if anchor else target)
        self._inline(element)
        self._links.pop()

    def _inline_control(self, element: Element) -> None:
        content = self._content(element)
        if content is not None:
            self._inline(content)

    def _formula(self, element: Element) -> None:
        text = formula_text(element)
        if text and self._pieces and self._pieces[-1].text[-1:].isalnum() and text[0].isalnum():
            text = f" {text}"
        self._add(text)

    def _ruby(self, element: Element) -> None:
        """Add words, and above which sounds they have in brackets: 漢字(かんじ)."""
        base, above = element.find(f"{W}rubyBase"), element.find(f"{W}rt")
        if base is not None:
            self._inline(base)
        if above is not None and any((each.text or "").strip() for each in above.iter(f"{W}t")):
            self._add("(")
            self._inline(above)
            self._add(")")

    def _page_number(self, _: Element) -> None:
        self._add(PAGE_SIGN if self._is_margin else "")

    def _note(self, element: Element) -> None:
        kind: NoteKind = "footnote" if element.tag == f"{W}footnoteReference" else "endnote"
        is_numbered = not has_own_mark(element)
        part, content, note = self._state.note(kind, element.get(f"{W}id", ""), is_numbered=is_numbered)
        if note is not None:
            note.blocks = WordWalk(self._state, part).blocks(content)
            self._pieces.append(WordPiece("", None, "", note))

    # comments

    def _open_range(self, element: Element) -> None:
        self._state.open_range(element.get(f"{W}id", ""))

    def _close_range(self, element: Element) -> None:
        self._state.close_range(element.get(f"{W}id", ""))

    def _deleted(self, element: Element) -> None:
        """Note the comments that begin or end in deleted text: what they are on may be seen."""
        for each in element.iter(*_OF_COMMENTS):
            handler = self._inline_handlers.get(each.tag) or self._run_handlers[each.tag]
            handler(each)

    def _comment(self, element: Element) -> None:
        self._state.comment(element.get(f"{W}id", ""))

    # drawings

    def _graphic(self, element: Element) -> None:
        """Add what a drawing, a picture or an object shows after this paragraph."""
        self._after += read_drawing(element, self._state, self._relations, self._boxed)

    def _boxed(self, content: Element) -> list[WordBlock]:
        return WordWalk(self._state, self._part, is_margin=self._is_margin).blocks(content)

    def _inline_alternate(self, element: Element) -> None:
        self._alternate(element, self._inline)

    def _run_alternate(self, element: Element) -> None:
        self._alternate(element, self._run)

    def _alternate(self, element: Element, walk: Callable[[Element], None]) -> None:
        """Walk through exactly one alternative: the first with something known, else the one for old programs."""
        for each in element:
            is_choice = each.tag == f"{MC}Choice"
            if each.tag == f"{MC}Fallback" or (is_choice and any(node.tag in KNOWN for node in each.iter())):
                walk(each)
                return
