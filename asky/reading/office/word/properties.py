"""What the properties of runs and paragraphs say, with those of their styles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asky.reading.office.word.names import W, number, switch, value
from asky.reading.office.word.numbering import Numbering
from asky.reading.office.word.styles import RAISED, WordStyle, WordStyles

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_LISTS = ("list bullet", "list number")


def run_format(properties: Element | None, style: WordStyle, styles: WordStyles) -> tuple[bool, bool | None, str]:
    """Return whether a run is hidden, whether it is raised, as in `WordPiece`, and its font; `style` is around it."""
    if properties is None:
        return bool(style.is_hidden or styles.is_hidden) and is_hidden(None, style, styles), None, ""
    vertical = value(properties, "vertAlign")
    raised = RAISED.get(vertical) if vertical is not None else _shifted(properties)
    if vertical is None and raised is None and (own := value(properties, "rStyle")) is not None:
        raised = styles.get(own).raised
    fonts = properties.find(f"{W}rFonts")
    font = (fonts.get(f"{W}ascii") or fonts.get(f"{W}hAnsi") or "") if fonts is not None else ""
    return is_hidden(properties, style, styles), raised, font


def is_hidden(properties: Element | None, style: WordStyle, styles: WordStyles) -> bool:
    """Return whether text, or the mark of a paragraph, with these properties of a run is hidden."""
    direct = switch(properties, "vanish")
    if direct is not None:
        return direct
    named = value(properties, "rStyle")
    own = styles.get(named).is_hidden if named is not None else None
    if own is None and style.is_hidden is None:
        return styles.is_hidden
    return bool(own) is not bool(style.is_hidden)  # a property that each style switches over


def _shifted(properties: Element) -> bool | None:
    """Return whether smaller letters stand above (True) or below (False) the line: how LibreOffice writes `<sup>`."""
    position = value(properties, "position")
    if position is None or properties.find(f"{W}sz") is None or number(position) == 0:
        return None
    return number(position) > 0


def list_label(properties: Element | None, style: WordStyle, numbering: Numbering) -> str:
    """Count a paragraph if it is in a list, and return its number as `Numbering.label` does."""
    stated = properties.find(f"{W}numPr") if properties is not None else None
    list_id, level = value(stated, "numId"), value(stated, "ilvl")
    place = number(level) if level is not None else None
    if list_id is None and style.list_id is not None:
        list_id = style.list_id
        if place is None:
            place = numbering.level_of(list_id, style.list_styles)
        if place is None:
            place = style.list_level
    if list_id is None:
        return "- " if style.name.startswith(_LISTS) else ""
    return numbering.label(list_id, place or 0)


def is_drop_cap(properties: Element) -> bool:
    """Return whether a paragraph is the large letter that begins the next one."""
    frame = properties.find(f"{W}framePr")
    return frame is not None and frame.get(f"{W}dropCap") in ("drop", "margin")


def has_own_mark(reference: Element) -> bool:
    """Return whether the mark of a note follows as text, in place of a number."""
    return reference.get(f"{W}customMarkFollows", "0").lower() in ("1", "true", "on")
