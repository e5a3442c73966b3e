"""The reader of RTF: follows the groups of a file and keeps what is shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from asky.reading.office.blocks import picture
from asky.reading.office.page_numbers import PAGE_SIGN
from asky.reading.rtf.charsets import DEFAULT, decoded, of_font, of_page, signs
from asky.reading.rtf.content import CellEdge, RtfFlow, RtfNote
from asky.reading.rtf.groups import (
    FEET,
    FLOWS,
    HEADS,
    INDEXES,
    MATH_PARTS,
    NAMES,
    OF_PARAGRAPHS,
    PAGES,
    QUIET,
    SHOWN,
    SIGNS,
    SKIPPED,
    ParagraphProperties,
    RtfGroup,
    item_label,
)
from asky.reading.rtf.tokens import RtfToken, tokens
from asky.text.beside.remarks import remark

_ABOUT_CHARS = 400


class RtfReader:
    """Reads a file: `body`, `heads` and `feet` are its texts, `remarks` lines, `unread` names of objects."""

    def __init__(self, data: bytes) -> None:
        self.body = RtfFlow()
        self.heads: list[RtfFlow] = []
        self.feet: list[RtfFlow] = []
        self.remarks: list[str] = []
        self.unread: list[str] = []
        self.facts: dict[str, str] = {}
        self.style_names: dict[int, str] = {}
        self.style_levels: dict[int, int] = {}
        self.number_kinds = {"ftn": "1", "aftn": "1"}
        self._fonts: dict[int, str] = {}
        self._greek: set[int] = set()
        self._page = DEFAULT
        self._default_font = 0
        self._group = RtfGroup()
        self._groups: list[RtfGroup] = []
        self._flows: list[tuple[RtfFlow, ParagraphProperties]] = []
        self._flow = self.body
        self._paragraph = ParagraphProperties()
        self._bytes = bytearray()
        self._name = ""  # the text of a destination that is taken when it ends
        self._skip = 0
        self._high = 0  # half of a character of two units
        self._is_optional = False
        self._fields: list[str] = []
        self._author = ""
        self._reference = ""
        self._ranges: dict[str, list[str]] = {}
        self._ended: dict[str, str] = {}
        self._property = ""
        self._edge = CellEdge(0)
        self._edges: list[CellEdge] = []
        self._left = 0
        self._is_head = False
        self._in_row = False
        self._font_in_table = self._style_in_table = 0
        self._words = self._by_word()
        for token in tokens(data):
            self._take(token)
        while self._groups:
            self._close()
        self._flush()
        self._end_paragraph()
        self.body.end_table()

    def _take(self, token: RtfToken) -> None:
        kind = token.kind
        if kind == "bytes":
            self._take_bytes(token)
        elif kind == "word":
            if self._skip:
                self._skip -= 1
            else:
                self._word(token.name, token.number)
        elif kind == "{":
            self._flush()
            self._skip = 0
            self._groups.append(self._group)
            self._group = self._group.copy()
            self._is_optional = False
        elif kind == "}":
            self._close()
        else:
            self._sign(token.name)

    def _take_bytes(self, token: RtfToken) -> None:
        data = token.data
        if self._skip:
            taken = min(self._skip, len(data))
            self._skip -= taken
            data = data[taken:]
        if self._group.name != "skip":
            self._bytes += data

    def _sign(self, sign: str) -> None:
        if self._skip:
            self._skip -= 1
        elif sign == "*":
            self._is_optional = True
        elif sign in "\\{}":
            self._bytes += sign.encode("latin-1")
        elif sign in "~_\r\n\t":
            self._flush()
            if sign in "\r\n":
                self._end_paragraph()
            else:
                self._put({"~": " ", "_": "-"}.get(sign, sign))

    def _close(self) -> None:
        """End a group, and take what its destination has said."""
        self._flush()
        self._skip = 0
        own = self._group.own
        if own in FLOWS:
            self._end_flow(own)
        elif own in NAMES:
            self._take_name(own, self._name.strip())
            self._name = ""
        elif own == "field":
            self._fields.pop()
        if self._groups:
            self._group = self._groups.pop()

    def _flush(self) -> None:
        """Add the bytes so far as characters."""
        if not self._bytes:
            return
        data = bytes(self._bytes)
        self._bytes.clear()
        font = self._group.font if self._group.font >= 0 else self._default_font
        self._put(decoded(data, self._fonts.get(font, self._page), is_greek=font in self._greek))

    def _put(self, text: str) -> None:
        group = self._group
        if group.name in NAMES:
            self._name += text
        elif group.name == "fonttbl":
            if "symbol" in text.lower():
                self._greek.add(self._font_in_table)
        elif group.name == "stylesheet":
            name = self.style_names.get(self._style_in_table, "") + text
            self.style_names[self._style_in_table] = name.partition(";")[0].partition(",")[0]
        elif not group.name and not group.hidden and not group.deleted:
            self._flow.put(text, group.raised)
            for words in self._ranges.values():
                if sum(map(len, words)) < _ABOUT_CHARS:
                    words.append(text)

    def _word(self, word: str, number: int | None) -> None:
        self._flush()
        optional, self._is_optional = self._is_optional, False
        if word == "u":
            self._unicode(number or 0)
        elif self._group.name == "skip" or (word in OF_PARAGRAPHS and self._group.name in NAMES):
            return
        elif word in FLOWS or word in NAMES or word in QUIET or word in SHOWN or word in SKIPPED:
            self._begin(word)
        elif word in self._words:
            self._words[word](1 if number is None else number)
        elif word in SIGNS:
            self._put(SIGNS[word])
        elif word in MATH_PARTS:
            self._put(MATH_PARTS[word])
        elif optional and word not in ("moMath", "moMathPara"):
            self._group.name = "skip"
        elif word.startswith("m") and word.endswith("Pr"):
            self._group.name = "skip"  # properties of formulas

    def _begin(self, word: str) -> None:
        """Begin a destination with the group; a word in the middle of one begins none."""
        group = self._group
        if group.own or not self._groups:
            return
        group.own = word
        if word in SKIPPED and word != "upr":
            group.name = "skip"
        elif word in FLOWS:
            self._flows.append((self._flow, self._paragraph))
            self._flow, self._paragraph = RtfFlow(), ParagraphProperties()
            group.name, group.raised, group.hidden = "", None, group.hidden and word in ("footnote", "annotation")
            group.deleted = group.deleted and word != "annotation"  # what it is on may be seen
        elif word in NAMES:
            group.name = word
            self._name = ""
        elif word == "field":
            self._fields.append("")
        elif word == "fldrslt":
            self._begin_result()
        elif word == "upr":
            group.name = "upr"
        elif word == "ud":
            group.name = ""
        elif word != "result":
            group.name = word

    def _begin_result(self) -> None:
        """Begin what a field shows; a table of contents is left out, and so is the number of a page in a margin."""
        kind = self._fields[-1].split()[:1] if self._fields else []
        name = kind[0].upper() if kind else ""
        if name in INDEXES:
            self._group.name = "skip"
        elif name in PAGES and self._flows:
            self._put(PAGE_SIGN)
            self._group.name = "skip"

    def _end_flow(self, own: str) -> None:
        self._end_paragraph()
        flow = self._flow
        flow.end_table()
        is_endnote = self._paragraph.is_endnote
        self._flow, self._paragraph = self._flows.pop()
        if own in HEADS:
            self.heads.append(flow)
        elif own in FEET:
            self.feet.append(flow)
        elif own == "annotation":
            about = self._ended.get(self._reference, "")
            if line := remark(" ".join(flow.lines()), author=self._author, about=about):
                self.remarks.append(line)
            self._author = self._reference = ""
        elif flow.blocks:
            self._flow.beside.append(RtfNote(flow, is_endnote) if own == "footnote" else flow)

    def _take_name(self, own: str, text: str) -> None:
        if own in ("title", "author", "subject"):
            self.facts.setdefault(own, text)
        elif own == "fldinst" and self._fields:
            self._fields[-1] = text
        elif own in ("listtext", "pntext"):
            if not self._group.hidden and not self._group.deleted:
                self._flow.label = item_label(text)
        elif own == "sn":
            self._property = text
        elif own == "sv" and self._property in ("wzDescription", "pibName"):
            if self._property == "wzDescription" and (line := picture(text)):
                self._flow.beside.append(line)
        elif own == "atnauthor":
            self._author = text
        elif own == "atnref":
            self._reference = text
        elif own == "atrfstart" and len(self._ranges) < 50:
            self._ranges[text] = []
        elif own == "atrfend":
            self._ended[text] = "".join(self._ranges.pop(text, ()))
        elif own == "objclass" and text:
            self.unread.append(text)

    def _unicode(self, number: int) -> None:
        self._skip = self._group.skips
        unit = number & 0xFFFF
        if 0xD800 <= unit < 0xDC00:
            self._high = unit
            return
        high, self._high = self._high, 0
        if 0xDC00 <= unit < 0xE000:
            if high:
                self._put(chr(0x10000 + ((high - 0xD800) << 10) + (unit - 0xDC00)))
            return
        font = self._group.font if self._group.font >= 0 else self._default_font
        text = chr(unit)
        self._put(signs(text, is_greek=font in self._greek) if 0xF000 <= unit <= 0xF0FF else text)

    def _end_paragraph(self) -> None:
        if self._group.deleted and self._groups and not self._in_row:
            return  # the mark of the paragraph is deleted: it goes on
        each = self._paragraph
        level = each.level or self.style_levels.get(each.style, 0)
        in_table = each.in_table or (self._in_row and not self._flows)
        self._flow.end_paragraph(style=each.style, level=level, depth=each.depth, in_table=in_table)

    def _by_word(self) -> Mapping[str, Callable[[int], None]]:
        """Return what each control word does that is no destination, by its number (1 if it has none)."""

        def char(name: str, value: Callable[[int], object]) -> Callable[[int], None]:
            return lambda number: setattr(self._group, name, value(number))

        def part(name: str, value: Callable[[int], object]) -> Callable[[int], None]:
            return lambda number: setattr(self._paragraph, name, value(number))

        return {
            "par": lambda _: self._end_paragraph(),
            "sect": lambda _: self._end_paragraph(),
            "page": lambda _: self._end_paragraph(),
            "column": lambda _: self._end_paragraph(),
            "pard": lambda _: self._paragraph.reset(),
            "plain": lambda _: self._plain(),
            "v": char("hidden", bool),
            "deleted": char("deleted", bool),
            "super": char("raised", lambda number: True if number else None),
            "sub": char("raised", lambda number: False if number else None),
            "up": char("raised", lambda number: True if number else None),
            "dn": char("raised", lambda number: False if number else None),
            "nosupersub": char("raised", lambda _: None),
            "uc": char("skips", lambda number: min(max(number, 0), 100)),
            "f": self._font,
            "fcharset": self._charset,
            "cpg": lambda number: self._fonts.__setitem__(self._font_in_table, of_page(number)),
            "deff": lambda number: setattr(self, "_default_font", number),
            "ansicpg": lambda number: setattr(self, "_page", of_page(number)),
            "mac": lambda _: setattr(self, "_page", "mac_roman"),
            "pc": lambda _: setattr(self, "_page", "cp437"),
            "pca": lambda _: setattr(self, "_page", "cp850"),
            "s": self._style,
            "outlinelevel": self._outline,
            "ilvl": part("depth", lambda number: min(max(number, 0), 8)),
            "intbl": part("in_table", bool),
            "ftnalt": part("is_endnote", bool),
            "chpgn": lambda _: self._put(PAGE_SIGN if self._flows else ""),
            "trowd": lambda _: self._row_begins(),
            "trleft": lambda number: self._set_row("_left", number),
            "trhdr": lambda _: self._set_row("_is_head", value=True),
            "clmrg": lambda _: setattr(self._edge, "goes_on_left", True),
            "clvmgf": lambda _: setattr(self._edge, "begins_below", True),
            "clvmrg": lambda _: setattr(self._edge, "goes_on_above", True),
            "cellx": self._cell_edge,
            "cell": lambda _: self._flow.end_cell(),
            "nestcell": lambda _: self._flow.end_inner_cell(),
            "nestrow": lambda _: self._flow.end_inner_row(),
            "row": lambda _: self._row_ends(),
            "yr": lambda number: self._time("yr", number),
            "mo": lambda number: self._time("mo", number),
            "dy": lambda number: self._time("dy", number),
            **{
                f"{of}{prefix}n{kind}": self._note_kind(prefix, sign)
                for of in ("", "s")  # of the document, of a section
                for prefix in ("ftn", "aftn")
                for kind, sign in (("ar", "1"), ("alc", "a"), ("auc", "A"), ("rlc", "i"), ("ruc", "I"))
            },
        }

    def _note_kind(self, prefix: str, sign: str) -> Callable[[int], None]:
        return lambda _: self.number_kinds.__setitem__(prefix, sign)

    def _plain(self) -> None:
        group = self._group
        group.hidden = group.deleted = False
        group.raised, group.font = None, -1

    def _font(self, number: int) -> None:
        if self._group.name == "fonttbl":
            self._font_in_table = number
            self._fonts.setdefault(number, self._page)
        else:
            self._group.font = number

    def _charset(self, number: int) -> None:
        if self._group.name == "fonttbl":
            self._fonts[self._font_in_table] = of_font(number, self._page)

    def _style(self, number: int) -> None:
        if self._group.name == "stylesheet":
            self._style_in_table = number
        else:
            self._paragraph.style = number

    def _outline(self, number: int) -> None:
        level = number + 1 if 0 <= number < 9 else 0
        if self._group.name == "stylesheet":
            self.style_levels[self._style_in_table] = level
        else:
            self._paragraph.level = level

    def _row_begins(self) -> None:
        if self._group.name != "nesttableprops":
            self._edges, self._edge, self._left, self._is_head = [], CellEdge(0), 0, False
            self._in_row = True

    def _set_row(self, name: str, value: object) -> None:
        if self._group.name != "nesttableprops":
            setattr(self, name, value)

    def _cell_edge(self, right: int) -> None:
        if self._group.name != "nesttableprops":
            self._edge.right = right
            self._edges.append(self._edge)
            self._edge = CellEdge(0)

    def _row_ends(self) -> None:
        self._flow.end_row(self._edges, self._left, is_head=self._is_head)
        self._in_row = False

    def _time(self, part: str, number: int) -> None:
        if self._group.name in ("creatim", "revtim"):
            self.facts[f"{self._group.name}.{part}"] = f"{number:02d}"
