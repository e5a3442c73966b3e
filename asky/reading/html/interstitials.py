"""Detection of obstacle pages: challenges, walls, shells without content, missing pages."""

from __future__ import annotations

from asky.errors import SourceUnreadable
from asky.reading.html.interstitial_signs import (
    ASKS_FOR_SCRIPTS,
    CONSENT,
    CONSENTING,
    GUARDS,
    LOGIN_TITLE,
    MISSING,
    ROOT,
    SHORT,
    SMALL,
    TINY,
    VISIBLE_TEXT,
    WAITS,
)
from asky.reading.html.survey import Survey

_CONSENT_SHARE, _CONSENT_WORDS = 0.05, 8
_COUNTED_CHARS = 50_000
_VISIBLE_CHARS = 10_000


def refuse_interstitial(survey: Survey, html: str, text: str, name: str) -> None:
    """Raise SourceUnreadable if a page from the web only stands in the way of another.

    `text` is the extracted text. Verdicts: blocked (refused, rate limited, a consent wall), captcha, login (also pages
    for subscribers only), needs_javascript, missing (a page that says it is not there). Pages without any text are left
    to the caller, unless scripts would write one.

    A sign counts only on a page with little text, for a page may well be about captchas or the status 404. Source: the
    limits of `interstitial_signs`; of 645 pages with text (wcxb, trafilatura's and readability's) none is refused.
    """
    found = _sign(survey, html, text)
    if found is not None:
        verdict, message = found
        hint = (
            "`asky config set network.browser true` reads such pages in a browser"
            if verdict == "needs_javascript"
            else None
        )
        raise SourceUnreadable(f"{name}: {message}", verdict=verdict, hint=hint)


def _sign(survey: Survey, html: str, text: str) -> tuple[str, str] | None:
    size = max(_chars(survey.text), _chars(text))
    visible = "\n".join((survey.title, survey.heading, survey.text[:_VISIBLE_CHARS], survey.noscript[:_VISIBLE_CHARS]))
    for signs, where in ((GUARDS, html), (VISIBLE_TEXT, visible)):
        for sign in signs:
            if size <= sign.max_chars and sign.pattern.search(where):
                return sign.verdict, sign.message
    headings = (survey.title, survey.heading)
    if survey.passwords and size <= SMALL and any(map(LOGIN_TITLE.search, headings)):
        return "login", "only a form to log in"
    if _is_consent(survey.text, size):
        return "blocked", "only a request to agree to cookies"
    if _chars(text) <= SMALL and any(map(MISSING.search, headings)):
        return "missing", "the page says that there is no such page"
    if _is_shell(survey, html, size):
        return "needs_javascript", "the page is written by scripts, which were not run"
    return None


def _is_shell(survey: Survey, html: str, size: int) -> bool:
    if not survey.scripts or size > SHORT:
        return False
    if size == 0 or ASKS_FOR_SCRIPTS.search(survey.text):
        return True
    if size > TINY:
        return False
    return any(map(bool, (ASKS_FOR_SCRIPTS.search(survey.noscript), ROOT.search(html), WAITS.fullmatch(survey.text))))


def _is_consent(text: str, size: int) -> bool:
    if size > 2 * SMALL:
        return False
    about = len(CONSENT.findall(text))
    return about >= _CONSENT_WORDS and about >= _CONSENT_SHARE * len(text.split())


def _chars(text: str) -> int:
    """Count the non-white-space characters, up to the largest limit."""
    few = len("".join(text[: 2 * CONSENTING].split()))
    return few if few > CONSENTING else len("".join(text[:_COUNTED_CHARS].split()))
