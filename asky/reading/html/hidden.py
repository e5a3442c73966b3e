"""Removal of hidden text from a page's tree, keeping everything visible."""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import TYPE_CHECKING

from asky.reading.html.blocks import is_hidden
from asky.reading.html.plain import empty, write_tree
from asky.reading.html.sheets import Sheets

if TYPE_CHECKING:
    from lxml.html import HtmlElement

# If a style sheet hides so much of the page, that is the page, and a script shows it. Source: of 649 pages seven are
# such (a whole article, a table of standings, two of a consent manager's panels); hidden, they cost wcxb .0014 and
# trafilatura's set .0046; with any limit from .1 to .3 neither loses anything.
_PAGE_SHARE = 0.3
_OPENERS = ("h2", "h3", "h4", "h5", "dt")  # a button in one of these opens what is below it
_CONTROLS = " | ".join([".//*[@role='tab']", *(f".//{tag}//*[@aria-controls]" for tag in _OPENERS)])


def apply_visibility(tree: HtmlElement, html: str, page_chars: int) -> int:
    """Empty the elements of `tree` that their own attributes or the sheets of `html` hide, and show others.

    `page_chars` is the length of the page's text without the former. Returns how many characters, without white space,
    only the sheets hide. The body itself is never hidden: many are, until they are loaded. Elements hidden from screen
    readers alone are shown to the extractor, which would leave them out.
    """
    folded = _folded(tree) if "aria-controls" in html or "tabpanel" in html else set()
    marked = tree.xpath('.//body//*[@hidden or @style or @aria-hidden="true"]')
    for element in marked:
        if not is_hidden(element.attrib):
            continue
        if element in folded:
            element.attrib.pop("hidden", None)
            element.attrib.pop("style", None)
        else:
            empty(element)
    sheets = Sheets(html)
    count = _drop_styled(tree, sheets, page_chars, folded) if sheets.hide_something else 0
    _show_to_extractor(marked)
    return count


def _folded(tree: HtmlElement) -> set[HtmlElement]:
    """Return the panels that a reader opens: those of tabs, and those below headings that are buttons."""
    controls = tree.xpath(_CONTROLS)
    named = {each.get("aria-controls") or (each.get("href") or "").removeprefix("#") for each in controls} - {""}
    panels = {each for each in tree.xpath(".//*[@id]") if each.get("id") in named} if named else set()
    return panels | set(tree.xpath('.//*[@role="tabpanel"]'))


def _drop_styled(tree: HtmlElement, sheets: Sheets, page_chars: int, folded: Set[HtmlElement]) -> int:
    body = tree.find(".//body")
    elements: Iterable[HtmlElement] = ()
    if body is not None:
        elements = body.xpath(".//*[@class or @id]") if sheets.hide_by_name else body.iterdescendants("*")
    hidden = [element for element in elements if sheets.hide(element.tag, element.get) and element not in folded]
    count = 0
    too_large: set[HtmlElement] = set()
    for element in reversed(hidden):  # inner ones first, so that no text is counted twice
        if element in too_large:
            continue
        text = write_tree(element).text()
        if len(text) < _PAGE_SHARE * page_chars:
            count += len("".join(text.split()))
            empty(element)
        else:
            too_large.update(element.iterancestors())
    return count


def _show_to_extractor(elements: Iterable[HtmlElement]) -> None:
    """Let the extractor see text that is hidden from screen readers alone: tabs, captions, folded sections.

    A single word is mostly an icon or a sign, and stays out. Source: of 364 such elements of wcxb with 20 characters or
    more a person counts 31 to the content; its F1 rises by .001, by .24 at most for a page, and no other set's falls.
    """
    for element in elements:
        if element.get("aria-hidden") != "true":
            continue
        if len(element.text_content().split(maxsplit=1)) > 1:
            del element.attrib["aria-hidden"]
        else:
            empty(element)
