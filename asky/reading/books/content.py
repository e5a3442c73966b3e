"""What a reader sees of a chapter, as elements of a page: formulas, drawings, pictures and readings as words."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING

from asky.reading.books.contents import kinds
from asky.reading.html.blocks import is_hidden
from asky.reading.html.plain import empty
from asky.reading.html.sheets import Sheets
from asky.reading.office.blocks import picture
from asky.reading.office.math import math_text

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_MENUS = frozenset({"toc", "landmarks", "page-list"})
_LEFT_OUT = frozenset({"head", "rp"})
_PLAYED = frozenset({"audio", "video"})
_SHOWN = frozenset({"button", "object", "noscript"})
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_SAYS_NOTHING = frozenset(
    [
        *("cover", "cover image", "cover page", "titlepage", "title page", "image", "images", "picture", "photo"),
        *("illustration", "figure", "img", "logo", "ornament", "decoration"),
    ]
)
_LINE_SHIFTS = ("x", "y", "dy")  # a piece of a drawing's text with one of them stands apart
_WHOLE = frozenset({"html", "body"})
_INLINE = frozenset({"span", "a", "em", "i", "b", "strong", "small", "cite"})
_BLOCK_STYLE = re.compile(r"display\s*:\s*block", re.IGNORECASE)
_LIST_STYLE = re.compile(r"list-style(?:-type)?\s*:\s*(lower|upper)-(alpha|latin|roman)", re.IGNORECASE)


def show(root: HtmlElement, css: str, blocks: Collection[str], skip: Callable[[str, str], None]) -> None:
    """Change the tree of a chapter to what is seen of it; `css` are its sheets, `blocks` the classes of spans on lines.

    What attributes or plain rules of sheets hide, lists of contents and numbers of printed pages are left out. Formulas
    and drawings become their text, pictures their alternative text, readings above or beside characters follow these in
    brackets. `skip` is called with the name of each sound, film or page within the page, and why it is not read.
    """
    sheets = Sheets(f"<style>{css}</style>") if "display" in css or "visibility" in css or "font-size" in css else None
    hides = sheets.hide if sheets is not None and sheets.hide_something else None
    for element in list(root.iter("*")):
        tag = element.tag
        shape = _SHAPES.get(tag)
        if shape is None and not element.attrib and hides is None:
            continue
        if tag in _LEFT_OUT:
            empty(element)
        elif tag in _WHOLE:
            pass
        elif _is_left_out(element) or (hides is not None and hides(tag, element.get)):
            empty(element)
        elif tag in _PLAYED:
            skip(_source(element), "a film" if tag == "video" else "a sound")
            empty(element)
        elif tag == "iframe":
            skip(_source(element), "a page within the page")
            empty(element)
        elif shape is not None:
            shape(element)
        elif tag in _INLINE and _is_block(element, blocks):
            element.tag = "div"


def _is_left_out(element: HtmlElement) -> bool:
    attributes = element.attrib
    if not attributes:
        return False
    if ("hidden" in attributes or "style" in attributes) and is_hidden(attributes):
        return True
    if attributes.get("display") == "none" or attributes.get("visibility") == "hidden":  # of a drawing
        return True
    said = kinds(element)
    return bool(said) and ("pagebreak" in said or (element.tag == "nav" and not _MENUS.isdisjoint(said)))


def _is_block(element: HtmlElement, blocks: Collection[str]) -> bool:
    if blocks and any(each in blocks for each in (element.get("class") or "").split()):
        return True
    return _BLOCK_STYLE.search(element.get("style") or "") is not None


def _source(element: HtmlElement) -> str:
    inner = next((each.get("src") for each in element.iter("source", element.tag) if each.get("src")), None)
    return inner or str(element.tag)


def _show_picture(image: HtmlElement) -> None:
    """Make a picture its alternative text, in brackets; one of a letter or of a heading is read as words."""
    alt = " ".join((image.get("alt") or "").split())
    parent = image.getparent()
    text = picture(alt) if alt.lower() not in _SAYS_NOTHING else ""
    is_initial = len(alt) == 1 and (image.tail or "")[:1].isalpha()
    is_heading = parent is not None and parent.tag in _HEADINGS and not any(each.strip() for each in parent.itertext())
    empty(image)
    image.text = alt if text and (is_initial or is_heading) else text


def _show_figure(figure: HtmlElement) -> None:
    """Leave out the alternative texts that only repeat the caption."""
    caption = next(figure.iter("figcaption"), None)
    said = " ".join("".join(caption.itertext()).split()) if caption is not None else ""
    for image in figure.iter("img") if said else ():
        if " ".join((image.get("alt") or "").split()) == said:
            image.set("alt", "")


def _show_formula(formula: HtmlElement) -> None:
    text = math_text(formula) or (formula.get("alttext") or "")
    is_block = formula.get("display") == "block"
    empty(formula)
    formula.text = text
    formula.tag = "div" if is_block else "span"


def _show_drawing(drawing: HtmlElement) -> None:
    """Make a drawing the lines of its text, or its title if it has none."""
    for each in [each for each in drawing.iter("*") if _is_left_out(each)]:
        empty(each)
    lines = [line for each in drawing.iter("text") if (line := " ".join("".join(_drawn(each)).split()))]
    inner = list(drawing.iter("foreignObject", "foreignobject"))
    title = next((each for tag in ("title", "desc") for each in drawing.iterchildren(tag)), None)
    named = drawing.get("aria-label") or ("".join(title.itertext()) if title is not None else "")
    empty(drawing)
    if not lines and not inner:
        named = " ".join(named.split())
        drawing.text = picture(named) if named.lower() not in _SAYS_NOTHING else ""
        return
    drawing.tag = "div"
    for line in lines:
        part = drawing.makeelement("p")
        part.text = line
        drawing.append(part)
    for each in inner:
        each.tag, each.tail = "div", None
        drawing.append(each)


def _drawn(element: HtmlElement) -> Iterator[str]:
    yield element.text or ""
    for child in element.iterdescendants("*"):
        if child.tag in ("title", "desc", "style", "script"):
            yield child.tail or ""
            continue
        is_apart = any(name in child.attrib for name in _LINE_SHIFTS)
        yield f"{' ' if is_apart else ''}{child.text or ''}"
        yield child.tail or ""


def _show_readings(ruby: HtmlElement) -> None:
    """Write the readings of characters in brackets after all of them: 漢字(かんじ)."""
    base, readings = [ruby.text or ""], []
    for child in ruby.iterchildren():
        said = "".join(child.itertext())
        if child.tag in ("rt", "rtc"):
            readings.append(said.strip())
        elif child.tag != "rp":
            base.append(said)
        base.append(child.tail or "")
    empty(ruby)
    between = " " if any(" " in each or each.isascii() for each in readings) and len(readings) > 1 else ""
    above = between.join(filter(None, readings))
    ruby.text = f"{''.join(base).strip()}({above})" if above else "".join(base)


def _show_choice(choice: HtmlElement) -> None:
    """Keep what is chosen of a list to choose from, else its first option."""
    options = list(choice.iter("option"))
    chosen = next((each for each in options if "selected" in each.attrib), options[0] if options else None)
    text = "".join(chosen.itertext()) if chosen is not None else ""
    empty(choice)
    choice.text = text


def _show_switch(switch: HtmlElement) -> None:
    """Keep one of the forms that a part of a chapter is given in: formulas and drawings, else the usual one."""
    cases = [each for each in switch.iterchildren("case") if "MathML" in (each.get("required-namespace") or "")]
    kept = cases[0] if cases else next(switch.iterchildren("default"), None)
    for each in list(switch):
        if each is not kept:
            empty(each)


def _show_numbers(numbered: HtmlElement) -> None:
    """Give a numbered list the type that its style states, and one that counts down its first number."""
    style = _LIST_STYLE.search(numbered.get("style") or "")
    if style is not None:
        sign = "i" if style[2].lower() == "roman" else "a"
        numbered.set("type", sign.upper() if style[1].lower() == "upper" else sign)
    if "reversed" in numbered.attrib and "start" not in numbered.attrib:
        numbered.set("start", str(sum(1 for _ in numbered.iterchildren("li"))))


def _show_words(element: HtmlElement) -> None:
    element.tag = "div" if element.tag in ("object", "noscript") else "span"


_SHAPES: dict[str, Callable[[HtmlElement], None]] = {
    "figure": _show_figure,
    "img": _show_picture,
    "math": _show_formula,
    "svg": _show_drawing,
    "ol": _show_numbers,
    "ruby": _show_readings,
    "select": _show_choice,
    "switch": _show_switch,
    **dict.fromkeys(_SHOWN, _show_words),
    **dict.fromkeys((*_LEFT_OUT, *_PLAYED, "iframe"), empty),
}
