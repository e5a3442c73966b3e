"""The lines of a page of a PDF as MuPDF finds them, without what a reader of the page does not see."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from asky.reading.mupdf import mupdf_errors, refuse_memory_errors
from asky.reading.pages.beside.forms import Field, page_fields, with_fields
from asky.reading.pages.beside.notes import PageNotes, page_notes
from asky.reading.pages.beside.objects import MAX_ANNOTATIONS, count_annotations
from asky.reading.pages.directions import Direction, direct
from asky.reading.pages.hidden import hidden_lines, may_hide
from asky.reading.pages.letters import join_initials, may_have_spaced, plain_bullet
from asky.reading.pages.lines import Line, PageLines
from asky.reading.pages.pieces import Found, Letters, closed_up, cut
from asky.reading.pages.signs import may_have_signs, sign_lines
from asky.reading.pages.tables.rules import drawn_rules, may_have_table
from asky.reading.raised.exponents import Shift
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
_TURNED = 2.2  # times the font's size: a line that is higher is turned
_OVER = 0.4  # of a box's height: a base line that is higher is that of a line upside down
_SLANT = 0.35  # of a turned line's longer side, that the shorter one has at least if it is slanted
_CORNER = 0.2  # of a slanted line's height, in which its first letter stands on its base line
_TURNED_LINES = 3
_STEEP = 3.0  # times the font's size: a slanted line is at least so high
_OFF_LEVEL = 0.15  # of the direction's length
_FEW = 6  # turned lines, that may be a table


def page_lines(page: pymupdf.Page) -> PageLines:
    """Return the page's lines, without blank ones; on a page turned by its file or by its text, as they are read.

    Ligatures are spelled out (`ﬁ` becomes `fi`), so that a word search finds them. A glyph without a known character is
    U+FFFD, not a guess. Text outside the page's box, on layers that are off and in ink that does not show is left out,
    unless it lies over an image: then it is the text of a scan. The fields of a form stand with their labels.
    """
    rotation = page.rotation
    if rotation:
        page.set_rotation(0)  # text is taken from the page as if it were not turned
    try:
        return _page_lines(page)
    finally:
        if rotation:
            page.set_rotation(rotation)


def _page_lines(page: pymupdf.Page) -> PageLines:
    import pymupdf  # 0.1 s: only if a PDF is read

    mupdf = pymupdf.mupdf
    flags = pymupdf.TEXT_PRESERVE_WHITESPACE | pymupdf.TEXT_MEDIABOX_CLIP
    # Without annotations: fields and notes are read on their own. The list costs .1 ms, and halves every other pass.
    shown = page.get_displaylist(annots=0)
    text_page = pymupdf.TextPage(shown.get_textpage(flags))
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
    is_shifted, hides = may_be_shifted(html_text), may_hide(html_text)
    has_signs = may_have_signs(texts, html_text)
    spans = text_page.extractDICT()["blocks"] if is_shifted or hides or has_signs else []
    shifts = shifts_in(spans) if is_shifted else {}
    hidden = hidden_lines(page, shown, spans) if hides else frozenset()
    found = list(_lines(blocks, marks, shifts, hidden, sign_lines(spans) if has_signs else {}))
    if _are_doubtful([each.direction for each in found]):
        found = _checked(found, spans or text_page.extractDICT()["blocks"])
    removed = sum(each.removed for each in found)
    shown_lines = [each for each in found if each.line.text]
    fields, notes = _beside(page, text_page)
    is_turned = sum(each.direction is not Direction.RIGHT for each in shown_lines) >= _FEW
    has_cells = is_turned or may_have_table([each.line for each in shown_lines])
    rules = drawn_rules(shown, flags) if has_cells else ()
    letters = Letters(text_page)
    pieces = cut(closed_up(shown_lines, letters) if may_have_spaced(texts) else shown_lines, rules, fields, letters)
    lines = [(each.line, each.direction, each.x) for each in pieces]
    upright = join_initials([line for line, direction, _ in lines if direction is Direction.RIGHT])
    upright += notes.lines
    if fields:
        upright = with_fields(upright, fields)
    lines = [
        *((line, Direction.RIGHT, line.x0) for line in upright),
        *(each for each in lines if each[1] is not Direction.RIGHT),
    ]
    found_page = direct(lines, page.rect.width, page.rect.height, rules, removed)
    return replace(found_page, remarks=notes.remarks, unread_notes=notes.unread, has_files=notes.has_files)


def _beside(page: pymupdf.Page, text_page: pymupdf.TextPage) -> tuple[list[Field], PageNotes]:
    """Return the fields and the notes of a page; none if they are damaged, for its text can be read without them."""
    try:
        if not (count := count_annotations(page)):
            return [], PageNotes()
        notes = page_notes(page, text_page)
        return page_fields(page), replace(notes, unread=max(0, count - MAX_ANNOTATIONS))
    except mupdf_errors() as error:
        refuse_memory_errors(error)
        return [], PageNotes()


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
    hidden: frozenset[int],
    signs: Mapping[int, str],
) -> Iterator[Found]:
    """Yield the lines of a page in the file's order, without blank and hidden ones."""
    number = -1
    for block_number, block in enumerate(blocks):
        for each in block.get("lines", ()):
            number += 1
            text = each["text"]
            raised: tuple[tuple[int, int], ...] = ()
            if number in marks:
                raised = _places(text, marks[number])
            shifts = shifted[number][1] if number in shifted and shifted[number][0] == text else ()
            removed = 0
            if number in signs:
                text, raised, shifts = signs[number], (), ()
            if not (text.isascii() and text.isprintable()):
                text, removed = scrub_counted(text)
                if text != each["text"]:
                    raised, shifts = (), ()
                text = text.replace("\n", " ")
                text = plain_bullet(text, each["font"]["name"])
            elif len(text) < 3:
                text = plain_bullet(text, each["font"]["name"])
            if not text or text.isspace() or number in hidden:
                text = ""
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
            x = each["x"] / _SCALE
            yield Found(line, _direction(line, x), x, number, removed)


def _direction(line: Line, x: float) -> Direction:
    """Return where a line runs: its origin begins its base line, which lies near its box's lower edge."""
    width, height = line.x1 - line.x0, line.y1 - line.y0
    if height <= width and height < _TURNED * line.size:
        is_over = line.base - line.y0 < _OVER * height and x - line.x0 > line.x1 - x and len(line.text) > 2
        return Direction.LEFT if is_over else Direction.RIGHT
    if height < _TURNED * line.size or len(line.text) < 3:
        return Direction.RIGHT
    if min(width, height) > _SLANT * max(width, height) and len(line.text) > 3:
        begins_at_corner = min(line.y1 - line.base, line.base - line.y0) < _CORNER * height
        if begins_at_corner and height > _STEEP * line.size:
            return Direction.SLANTED
    if height <= width:
        return Direction.RIGHT
    # Lines that are read upwards begin at their box's lower edge.
    return Direction.UP if abs(line.base - line.y1) < abs(line.base - line.y0) else Direction.DOWN


def _are_doubtful(directions: Sequence[Direction]) -> bool:
    """Return whether some lines may run otherwise than their boxes say: short ones among turned ones, say."""
    turned = directions.count(Direction.UP) + directions.count(Direction.DOWN)
    return turned >= _TURNED_LINES or Direction.LEFT in directions or Direction.SLANTED in directions


def _checked(found: Sequence[Found], blocks: Sequence[Any]) -> list[Found]:
    """Return the lines with the directions of their letters; formulas with large signs only seem to be turned."""
    runs = [line["dir"] for block in blocks for line in block.get("lines", ())]
    return [
        each._replace(direction=_running(*runs[each.number])) if each.number < len(runs) else each for each in found
    ]


def _running(x: float, y: float) -> Direction:
    if min(abs(x), abs(y)) > _OFF_LEVEL:
        return Direction.SLANTED
    if abs(x) > abs(y):
        return Direction.RIGHT if x > 0 else Direction.LEFT
    return Direction.DOWN if y > 0 else Direction.UP


@lru_cache(maxsize=256)
def _is_bold(font: str) -> bool:
    return _BOLD.search(font) is not None


@lru_cache(maxsize=256)
def _is_mono(font: str) -> bool:
    return _MONO.search(font) is not None


def _places(text: str, marks: Sequence[tuple[str, str]]) -> tuple[tuple[int, int], ...]:
    return tuple((len(before), len(before) + len(mark)) for before, mark in marks if text.startswith(mark, len(before)))
