"""A page without its frame: menus, banners, side columns, dialogs. For pages that are not articles."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from asky.reading.html.consent import drop_consent, mentions_consent
from asky.reading.html.plain import empty

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_FRAMING = ("nav", "footer", "aside", "dialog", "menu", "button", "select", "label", "form", "header")
_NOT_TEXT = ("script", "style", "svg", "template", "iframe")
_NAMING_BUTTONS = " | ".join(f".//{tag}//button" for tag in ("h1", "h2", "h3", "h4", "h5", "h6", "dt", "summary"))
_SECTION_TOOL = "mw-editsection"  # of MediaWiki: [edit]
_CUSTOM_TAG = re.compile(r"<[a-z]{1,40}-")
_CUSTOM = re.compile(r"(?:^|-)(?:nav|navigation|navbar|footer|menu|sidebar|breadcrumbs?)(?:$|-)")
_ROLES = frozenset(
    {"navigation", "banner", "contentinfo", "complementary", "dialog", "alertdialog", "search", "menu", "menubar"}
)
_NAMED = ("div", "section", "ul", "ol", "aside")
# Words in an element's class or id. Not `menu`, `header` or `filter`: shops put their products into such elements.
_COMMENTS = re.compile(
    r"(?:^|[\s_-])(?:comments?|comment-?list(?:ing)?|disqus_thread|respond)(?:$|[\s_-])", re.IGNORECASE
)
_NOISE = re.compile(
    r"(?:^|[\s_-])(?:cookies?|consent|gdpr|onetrust|newsletter|breadcrumbs?|related|recommend(?:ed|ations?)|shar(?:e|ing)"
    r"|sidebar|popup|modal)(?:$|[\s_-])",
    re.IGNORECASE,
)
# An element that contains this much of the page is the page, whatever its name. Source: what each rule adds to the F1
# of all pages when read without their frame (wcxb, trafilatura's and readability's set): elements and roles .028, .026,
# .011; names .005, .027, .006; the main element .005, .016, .006; `noscript` .019, 0, 0; comments -.001, .008, .010,
# since forums lose posts and articles lose comments. `_NOISE_SHARE` and `_MAIN_SHARE` at half and twice: within .010.
_FRAME_SHARE = 0.9
_FORM_SHARE = 0.5
_NOISE_SHARE = 0.3
_NOSCRIPT_SHARE = 0.5
_LINKED_SHARE = 0.2
_PROSE_CHARS = 100  # of a paragraph; a form that contains one presents a product
_MAIN_SHARE = 0.3
_MAIN_PROSE = 0.5  # of the paragraphs of a page
_MAIN_IDS = 'id("main content main-content")'  # from the parser's table: a search takes as long as the rest of `prune`


def lay_open(tree: HtmlElement, html: str) -> None:
    """Make the content of the tree of `html` look like content, before anything is taken from it.

    What asks for consent is emptied, and what edits a section; side columns that hold the text are none; what a shadow
    root shows is shown, and a heading that is a button; elements with names of their own are blocks, unless they stand
    among words.
    """
    body = tree.find(".//body")
    if body is None:
        return
    if mentions_consent(html):
        drop_consent(body)
    paragraphs = sum(map(_chars, body.iter("p"))) if body.find(".//aside") is not None else 0
    for aside in list(body.iter("aside")):
        if _has_heading(aside) or sum(map(_chars, aside.iter("p"))) > _MAIN_PROSE * paragraphs:
            aside.tag = "div"
    for button in body.xpath(_NAMING_BUTTONS) if "<button" in html else ():
        button.tag = "span"
    for template in list(body.iter("template")):
        if template.get("shadowrootmode") or template.get("shadowroot"):
            template.tag = "div"
    for custom in body.xpath('.//*[contains(name(), "-")]') if _CUSTOM_TAG.search(html) else ():
        framing = _CUSTOM.search(custom.tag)
        if framing or not _has_words(custom.getparent()):
            custom.tag = "nav" if framing else "div"
    for tool in body.xpath(f'.//*[contains(@class, "{_SECTION_TOOL}")]') if _SECTION_TOOL in html else ():
        empty(tool)
    for numbered in body.iter("ol"):
        if "reversed" in numbered.attrib and "start" not in numbered.attrib:
            numbered.set("start", str(sum(1 for _ in numbered.iterchildren("li"))))


def prune(tree: HtmlElement) -> HtmlElement:
    """Reduce `tree` to possible content, and return the element that contains it."""
    body = tree.find(".//body")
    if body is None:
        body = tree
        for head in tree.xpath("./head"):
            empty(head)
    _show_noscript(body)
    total = _chars(body)
    with_role = body.xpath(".//*[@role]")
    for element in (*body.iter(*_FRAMING), *(each for each in with_role if each.get("role").strip().lower() in _ROLES)):
        if element is not body and _is_frame(element, total):
            empty(element)
    region = _region(body, with_role)
    _drop_named(region, _COMMENTS, share=1.0)
    _drop_named(region, _NOISE, share=_NOISE_SHARE)
    return region


def _show_noscript(body: HtmlElement) -> None:
    """Keep a `noscript` that contains most of the page: forums write the whole thread into it."""
    for element in list(body.iter(*_NOT_TEXT)):
        empty(element)
    found = list(body.iter("noscript"))
    total = _chars(body) if found else 0
    for element in found:
        if _chars(element) >= _NOSCRIPT_SHARE * total > 0:
            element.tag = "div"
        else:
            empty(element)


def _is_frame(element: HtmlElement, total: int) -> bool:
    if element.tag == "header" and (_has_heading(element) or _is_within_content(element)):
        return False
    if element.tag == "label" and next(element.iterancestors("form"), None) is None:
        return False  # a tab, or an item to tick off
    if element.tag == "aside" and _is_within_content(element) and _is_prose(element):
        return False
    if element.tag == "form" and (
        _has_heading(element) or any(_chars(part) >= _PROSE_CHARS for part in element.iter("p"))
    ):
        return False
    return _chars(element) < (_FORM_SHARE if element.tag == "form" else _FRAME_SHARE) * total or total == 0


def _is_within_content(element: HtmlElement) -> bool:
    return next(element.iterancestors("article", "main"), None) is not None or any(
        (each.get("role") or "").strip().lower() == "main" for each in element.iterancestors()
    )


def _has_words(element: HtmlElement) -> bool:
    """Return whether words stand in an element beside its members."""
    return bool((element.text or "").strip()) or any((child.tail or "").strip() for child in element)


def _is_prose(element: HtmlElement) -> bool:
    """Return whether the text of an element is no list of links: a hint, a box, notes."""
    linked = sum(_chars(link) for link in element.iter("a") if not link.get("href", "#").startswith("#"))
    return linked < _LINKED_SHARE * _chars(element)


def _region(body: HtmlElement, with_role: Sequence[HtmlElement]) -> HtmlElement:
    """Return the element marked as the main one, if it contains enough of the text; else the body."""
    with_role = [element for element in with_role if element.get("role") == "main" and _is_in(element, body)]
    found = [*body.iter("main"), *with_role] or [each for each in body.xpath(_MAIN_IDS) if _is_in(each, body)]
    if not found:
        return body
    largest = max(found, key=_chars)
    return largest if _chars(largest) >= _MAIN_SHARE * _chars(body) else body


def _drop_named(region: HtmlElement, names: re.Pattern[str], *, share: float) -> None:
    total = _chars(region)
    known: dict[tuple[str | None, str | None], bool] = {}  # most elements share their names with others
    for element in list(region.iter(*_NAMED)):
        called = element.get("class"), element.get("id")
        if called not in known:
            known[called] = names.search(f"{called[0] or ''} {called[1] or ''}") is not None
        if not known[called] or element is region or _has_heading(element):
            continue
        if element.find(".//main") is None and _chars(element) < share * total:
            empty(element)


def _is_in(element: HtmlElement, body: HtmlElement) -> bool:
    """Return whether `element` is still below `body`, and not in a part that was removed."""
    return any(ancestor is body for ancestor in element.iterancestors(body.tag))


def _has_heading(element: HtmlElement) -> bool:
    return element.find(".//h1") is not None


def _chars(element: HtmlElement) -> int:
    return len(element.text_content())
