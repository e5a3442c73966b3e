"""The lines of a PDF page with their place, font size and weight."""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from asky.reading.raised.exponents import Shift, spelled
from asky.reading.raised.shifts import may_be_shifted, shifts_in
from asky.text.scrub import scrub_counted

if TYPE_CHECKING:
    import pymupdf

_SCALE = 100.0  # MuPDF writes whole numbers: hundredths of a point
_MONO = re.compile(r"mono|courier|consol|typewriter|cmtt|sftt|inconsol|menlo|code", re.IGNORECASE)
_BOLD = re.compile(r"bold|black|heavy|medi(?:um)?$|cmbx|cmb\d|semibold|demi", re.IGNORECASE)
_TAG = re.compile(r"<[^>]*>")
_RAISED = re.compile(r"<sup>(?:<[^>]*>)*([^<>]{1,40})(?:</\w+>)*</sup>")
# After two letters or the stop of a sentence only: what stands after a symbol is an exponent. A line that begins with
# an index counts as raised from there on, so a mark does not follow what is raised itself.
_BEFORE_RAISED = re.compile(r"(?:[A-Za-z.,;:)'?!]{2}|;)(?:</(?!sup)\w+>)*$")
_MAY_BE_RAISED = re.compile(
    r"[\d*†‡§¶∥⋆∗♯](?:(?<=[a-z]{4}.)|(?<=[a-z)][.,;:?!].)|(?<=[.,?!]”.))\d?(?=[\s,.;:)]|$)", re.MULTILINE
)
# What marks a footnote or an affiliation: numbers, single letters, daggers and the like, with commas between them.
MARK = r"(?:[\d*†‡§¶∥⋆∗♯#⊥]|[a-z](?![a-z]))"
_FOOTNOTE_MARK = re.compile(rf"\s*{MARK}{{1,3}}(?:\s*[,;–-]\s*{MARK}{{1,3}})*\s*,?\s*")
# It stands after a word, a name or the stop of a sentence; after a unit, a symbol or a number it is an exponent.
_MARKED = re.compile(
    r"(?:[a-z]{4}|[a-z]{2}[.,;:)”\"’'?!]|[^\W\d_][^\W\d_]+[.?!][”\"’')]?"
    r"|\b[A-ZÀ-Þ][a-zß-ÿ]{2,}|\b[A-ZÀ-Þ][a-zß-ÿ.]+ [A-ZÀ-Þ][a-zß-ÿ]+)$"
)
# TeX's fonts draw an accent before its letter.
_ACCENTS = {
    "´": "\u0301",
    "`": "\u0300",
    "¨": "\u0308",
    "ˆ": "\u0302",
    "˜": "\u0303",
    "ˇ": "\u030c",
    "˚": "\u030a",
    "¯": "\u0304",
}
_ACCENT = re.compile("[´`¨ˆ˜ˇ˚¯]")
_ACCENTED = re.compile(r"([´¨ˆ˜ˇ˚¯])([A-Za-zıȷ])|(?<=\w)(`)([aeiouAEIOU])")
_UPRIGHT = 0.6
_SENTENCE_SPACE = 1.15  # times the font's size; columns and cells lie farther apart


class Line(NamedTuple):
    """A line as MuPDF found it, in points from the upper left corner of the page.

    `base` is the y of its base line, `size` that of its first letter's font, `block` counts the file's blocks. `raised`
    holds the superscripts that look like marks, as (start, end) in `text`; `shifts` all that is raised or lowered.
    """

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    base: float
    size: float
    bold: bool
    mono: bool
    block: int
    raised: tuple[tuple[int, int], ...] = ()
    shifts: tuple[Shift, ...] = ()

    @property
    def width(self) -> float:
        """Return the width in points."""
        return self.x1 - self.x0


@dataclass(frozen=True, slots=True)
class PageLines:
    """The lines of a page: `upright` are those of its main direction, `turned` the others, both in file order.

    `invisible` counts the invisible characters that were removed.
    """

    width: float
    height: float
    upright: tuple[Line, ...] = ()
    turned: tuple[Line, ...] = ()
    invisible: int = 0


def page_lines(page: pymupdf.Page) -> PageLines:
    """Return the page's lines, without blank ones; on a page turned by its file or by its text, as they are read.

    Ligatures are spelled out (`ﬁ` becomes `fi`), so that a word search finds them. A glyph without a known character is
    U+FFFD, not a guess. Text outside the page's box is left out.
    """
    import pymupdf  # 0.1 s: only if a PDF is read

    mupdf = pymupdf.mupdf
    flags = pymupdf.TEXT_PRESERVE_WHITESPACE | pymupdf.TEXT_MEDIABOX_CLIP
    text_page = page.get_textpage(flags=flags)
    # .4 ms a page with the parsing, where get_text("dict") takes 1.9.
    buffer = mupdf.fz_new_buffer(1 << 14)
    output = mupdf.FzOutput(buffer)
    mupdf.fz_print_stext_page_as_json(output, text_page.this, _SCALE)
    output.fz_close_output()
    written = buffer.fz_buffer_extract().decode("utf-8", "replace")
    blocks = json.loads(written, strict=False)["blocks"]
    texts = "\n".join(line["text"] for block in blocks for line in block.get("lines", ()))
    # Only MuPDF's HTML tells what is raised, for another .2 ms; and only its spans how far, for 1.2 ms.
    html_text = text_page.extractHTML()
    marks = _raised_in(html_text) if page.number == 0 or _MAY_BE_RAISED.search(texts) else {}
    shifts = shifts_in(text_page.extractDICT()["blocks"]) if may_be_shifted(html_text) else {}
    lines, invisible = _lines(blocks, marks, shifts)
    return _directed(lines, page.rect.width, page.rect.height, page.rotation, invisible)


def _raised_in(written: str) -> dict[int, list[tuple[str, str]]]:
    """Return, for each line with superscripts that may be marks, the text before each and the superscript."""
    found: dict[int, list[tuple[str, str]]] = {}
    if "<sup>" not in written:
        return found
    for number, line in enumerate(written.split("<p ")[1:]):
        at = line.find("<sup>")
        while at >= 0:
            match = _RAISED.match(line, at)
            if match and _BEFORE_RAISED.search(line, max(0, at - 24), at):
                mark = html.unescape(match[1])
                if _FOOTNOTE_MARK.fullmatch(mark):
                    before = _TAG.sub("", line[line.index(">") + 1 : at])
                    found.setdefault(number, []).append((html.unescape(before), mark))
            at = line.find("<sup>", at + 5)
    return found


def _lines(
    blocks: Sequence[Any],
    marks: dict[int, list[tuple[str, str]]],
    shifted: dict[int, tuple[str, tuple[Shift, ...]]],
) -> tuple[list[tuple[Line, bool, float]], int]:
    """Return the lines, each with whether it is upright and the x of its origin, and the number of invisible ones."""
    lines: list[tuple[Line, bool, float]] = []
    number, removed = -1, 0
    for block_number, block in enumerate(blocks):
        for each in block.get("lines", ()):
            number += 1
            text = each["text"]
            raised: tuple[tuple[int, int], ...] = ()
            if number in marks:
                raised = _places(text, marks[number])
            shifts = shifted[number][1] if number in shifted and shifted[number][0] == text else ()
            if not (text.isascii() and text.isprintable()):
                text, invisible = scrub_counted(text)
                removed += invisible
                if text != each["text"]:
                    raised, shifts = (), ()
                text = text.replace("\n", " ")
            if not text or text.isspace():
                continue
            font, box = each["font"], each["bbox"]
            x0, y0, w, h = box["x"] / _SCALE, box["y"] / _SCALE, box["w"] / _SCALE, box["h"] / _SCALE
            line = Line(
                text,
                x0,
                y0,
                x0 + w,
                y0 + h,
                each["y"] / _SCALE,
                font["size"] / _SCALE,
                font["weight"] == "bold" or _is_bold(font["name"]),
                _is_mono(font["name"]),
                block_number,
                raised,
                shifts,
            )
            upright = h <= w or h < 2.2 * line.size or len(text) < 3
            lines.append((line, upright, each["x"] / _SCALE))
    return lines, removed


@lru_cache(maxsize=256)
def _is_bold(font: str) -> bool:
    return _BOLD.search(font) is not None


@lru_cache(maxsize=256)
def _is_mono(font: str) -> bool:
    return _MONO.search(font) is not None


def _places(text: str, marks: Sequence[tuple[str, str]]) -> tuple[tuple[int, int], ...]:
    return tuple((len(before), len(before) + len(mark)) for before, mark in marks if text.startswith(mark, len(before)))


def _whole(lines: Iterable[Line]) -> tuple[Line, ...]:
    """Return the lines, with those joined that MuPDF divides at the wide space after a sentence."""
    found: list[Line] = []
    for line in lines:
        last = found[-1] if found else None
        if (
            last is not None
            and last.block == line.block
            and abs(last.base - line.base) < 0.5
            and 0 <= line.x0 - last.x1 < _SENTENCE_SPACE * last.size
        ):
            shift = len(last.text.rstrip()) + 1
            found[-1] = last._replace(
                text=f"{last.text.rstrip()} {line.text}",
                x1=line.x1,
                y0=min(last.y0, line.y0),
                y1=max(last.y1, line.y1),
                raised=(*last.raised, *((start + shift, end + shift) for start, end in line.raised)),
                shifts=(*last.shifts, *(Shift(s.start + shift, s.end + shift, s.raised) for s in line.shifts)),
            )
        else:
            found.append(line)
    return tuple(found)


def _directed(
    lines: Sequence[tuple[Line, bool, float]], width: float, height: float, rotation: int, invisible: int
) -> PageLines:
    """Return the lines by direction. Where most letters are turned, the page is."""
    if rotation in (90, 270):
        width, height = height, width  # the text was taken from the page as if it were not turned
    up = sum(len(line.text) for line, upright, _ in lines if upright)
    total = sum(len(line.text) for line, _, _ in lines)
    if not lines or up >= (1 - _UPRIGHT) * total:
        upright = _whole(line for line, is_upright, _ in lines if is_upright)
        turned = tuple(line for line, is_upright, _ in lines if not is_upright)
        return PageLines(width, height, upright, turned, invisible)
    vertical = [(line, x) for line, is_upright, x in lines if not is_upright]
    # Lines that are read upwards begin at their box's lower edge.
    rises = sum(1 if abs(line.base - line.y1) < abs(line.base - line.y0) else -1 for line, _ in vertical) >= 0
    turned_lines = _whole(_turn(line, x, width, height, rises) for line, x in vertical)
    others = tuple(line for line, is_upright, _ in lines if is_upright)
    return PageLines(height, width, turned_lines, others, invisible)


def _turn(line: Line, x: float, width: float, height: float, rises: bool) -> Line:
    if rises:
        x0, x1, y0, y1, base = height - line.y1, height - line.y0, line.x0, line.x1, x
    else:
        x0, x1, y0, y1, base = line.y0, line.y1, width - line.x1, width - line.x0, width - x
    return Line(line.text, x0, y0, x1, y1, base, line.size, line.bold, line.mono, line.block, line.raised, line.shifts)


def spelled_out(line: Line) -> str:
    """Return the line's text without the marks of footnotes, and with a sign before exponents.

    `evidence.3 We` becomes `evidence. We`, and a raised 2 after an m becomes `m^2`.
    """
    if not line.raised and not line.shifts:
        return line.text
    marks = {start: end for start, end in line.raised if _MARKED.search(line.text, max(0, start - 24), start)}
    return spelled(line.text, line.shifts, marks)


def compose_accents(text: str) -> str:
    """Return `text` with accents that precede their letter combined with it: `G¨oteborg` is `Göteborg`."""
    if _ACCENT.search(text) is None:
        return text
    return _ACCENTED.sub(_composed, text)


def _composed(match: re.Match[str]) -> str:
    accent, letter = match[1] or match[3], match[2] or match[4]
    plain = {"ı": "i", "ȷ": "j"}.get(letter, letter)
    composed = unicodedata.normalize("NFC", plain + _ACCENTS[accent])
    return composed if len(composed) == 1 else match[0]
