"""What asks for consent to cookies: banners and dialogs, which are never the content of a page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from asky.reading.html.plain import empty

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_ELEMENTS = ("div", "section", "aside", "dialog", "form", "footer", "header", "p")
# Names of consent managers and of what pages call their own banners. A recipe may be called `cookie` too, so the text
# has to ask for something as well.
_NAMES = re.compile(
    r"(?:^|[\s_-])(?:cookies?|cookie-?(?:banner|bar|box|consent|dialog|info|law|layer|message|modal|notice|overlay|popup)"
    r"|consent|gdpr|onetrust|usercentrics|didomi|iubenda|klaro|borlabs|cmpbox|truste|qc-cmp2?|sp_message)"
    r"|(?:cybot|^|[\s_-])cookie(?:bot|consent|banner|notice)|gdpr|consent-?(?:banner|manager|dialog|box|layer|modal)",
    re.IGNORECASE,
)
_SUBJECTS = ("cookie", "consent", "privacy", "datenschutz", "einwilligung", "confidentialit", "privacidad", "personver")
_SUBJECT = re.compile("|".join(_SUBJECTS), re.IGNORECASE)
_REQUEST = re.compile(
    r"\baccept|\bagree|\ballow|\breject|\bdecline|\bconsent|\bwe use|\buses? cookies|akzeptier|zustimm|einwillig"
    r"|verwend|ablehnen|autoris|refus|utilis|acept|rechaz|accett|rifiut|godta|godkjenn|accepter|godkänn|tillåt|toestaan"
    r"|akkoord",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")
_CONSENT_CHARS = 6_000  # a privacy policy is longer, and is read where it is the page
_BUTTON_CHARS = 40
_BUTTONS = 20  # looked at: a page that has more of them is about something else
_CLIMB = 6
_DENSITY = 0.02  # of words that name the subject: 1 of 8 to 30 in banners, less than 1 of 100 in articles
_PAGE_SHARE = 0.9


def mentions_consent(html: str) -> bool:
    """Return whether anything in a page may ask for consent; most articles say nothing like it."""
    lower = html.lower()
    return any(word in lower for word in _SUBJECTS)


def drop_consent(body: HtmlElement) -> None:
    """Empty the elements below `body` that ask for consent: by their names, and around buttons that give it."""
    total = _chars(body)
    known: dict[tuple[str | None, str | None], bool] = {(None, None): False}  # most elements share their names
    for element in list(body.iter(*_ELEMENTS)):
        called = element.get("class"), element.get("id")
        if called not in known:
            known[called] = _NAMES.search(f"{called[0] or ''} {called[1] or ''}") is not None
        if known[called] and _asks(element, total, 0.0):
            empty(element)
    pressed = (each for each in body.iter("button", "a") if _is_pressed(each))
    for _, button in zip(range(_BUTTONS), list(pressed), strict=False):
        _drop_around(button, total)


def _drop_around(button: HtmlElement, total: int) -> None:
    """Empty the smallest element around a button that asks for consent, if that is all it does."""
    for _, around in zip(range(_CLIMB), button.iterancestors(), strict=False):
        if around.tag in ("body", "main", "article") or _chars(around) > _CONSENT_CHARS:
            return
        if around.tag in _ELEMENTS and _chars(around) > 2 * _BUTTON_CHARS and _asks(around, total, _DENSITY):
            empty(around)
            return


def _is_pressed(element: HtmlElement) -> bool:
    text = " ".join(element.text_content()[: 2 * _BUTTON_CHARS].split())
    return 0 < len(text) <= _BUTTON_CHARS and _REQUEST.search(text) is not None


def _asks(element: HtmlElement, total: int, density: float) -> bool:
    text = element.text_content()
    if len(text) > _CONSENT_CHARS or len(text) >= _PAGE_SHARE * total or element.find(".//h1") is not None:
        return False
    named = len(_SUBJECT.findall(text))
    return named > 0 and _REQUEST.search(text) is not None and named >= density * len(_WORD.findall(text))


def _chars(element: HtmlElement) -> int:
    return len(element.text_content())
