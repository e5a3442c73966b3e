"""The choice between the plain text and the HTML of one mail, by what each contains."""

from __future__ import annotations

import html
import re

# Of the words of the HTML, a plain text that a mail program makes of it has nearly all, and a line that only refers to
# it has few: a share between the two, chosen on the made mails of the tests.
_SHARE = 0.7
_STUB_WORDS = 60  # of a plain text that only points to the HTML; a longer one is no stub, whatever the HTML says
_MAX_CHARS = 64 * 1024  # of a text, from its start
_TAG = re.compile(r"<[^<>]*>")
_WORD = re.compile(r"\w{2,}")
_UNSEEN = (("<!--", "-->"), ("<style", "</style"), ("<script", "</script"), ("<head", "</head"))


def is_html_better(plain: str, source: str) -> bool:
    """Return whether the HTML of a mail says much that its plain text leaves out."""
    shown, written = words_of_html(source), set(_WORD.findall(plain[:_MAX_CHARS].lower()))
    if not written:
        return bool(shown) or not plain.strip()
    share = len(shown & written) / len(shown) if shown else 1.0
    missing, others = len(shown - written), len(written - shown)
    return share < _SHARE and (others <= _STUB_WORDS or others <= 2 * missing)


def words_of_html(source: str) -> set[str]:
    """Return the words in HTML, without those of its head, styles, scripts and comments."""
    source = source[:_MAX_CHARS]
    for begin, end in _UNSEEN:
        source = _without(source, begin, end)
    return set(_WORD.findall(html.unescape(_TAG.sub(" ", source)).lower()))


def _without(source: str, begin: str, end: str) -> str:
    lower = source.lower()
    if len(lower) != len(source):  # a few letters have two in lower case
        lower = source
    at = lower.find(begin)
    if at < 0:
        return source
    pieces, last = [], 0
    while at >= 0:
        stop = lower.find(end, at)
        if stop < 0 or (begin == "<head" and lower[at + 5 : at + 6] not in (">", " ", "\n", "\r", "\t")):
            break
        pieces.append(source[last:at])
        last = stop + len(end)
        at = lower.find(begin, last)
    return "".join([*pieces, source[last:]])
