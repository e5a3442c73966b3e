"""Footnotes of a chapter: each is named by its mark, which is left out of the sentence, and stays in its place.

Source: EPUB Structural Semantics 1.1, "noteref" and "footnote"; DPUB-ARIA 1.1, "doc-noteref" and "doc-backlink". Books
of before them have raised links that lead to a note, which leads back.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from asky.reading.books.archive import resolved
from asky.reading.books.contents import kinds
from asky.reading.html.plain import empty

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_FOOTNOTES = frozenset({"footnote", "note"})
_ENDNOTES = frozenset({"endnote", "endnotes", "rearnote", "rearnotes"})
_BLOCKS = frozenset({"p", "li", "div", "aside", "dd", "dt", "td", "blockquote", "section", "tr"})
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_MARK = re.compile(r"[\s\[(]*([\divxlc]{1,6}|[a-zA-Z]|[*†‡§¶#]{1,4})[\s\]).]*")
_BACK = re.compile(r"[\s↩↵↑⏎^\ufe0e\ufe0f]*")
_MAX_NOTES = 5_000
_FEW = 4  # links in one raised text
_FIRST_LINKS = 40  # of a note, among which one leads back


def name_notes(root: HtmlElement, path: str) -> None:
    """Begin each footnote of the chapter at `path` with `Footnote 1: `, and empty the marks that refer to notes.

    A note in another file keeps its number; so does an endnote, and one that nothing refers to.
    """
    named: dict[str, HtmlElement] | None = None
    headed: dict[HtmlElement, bool] = {}
    done: set[HtmlElement] = set()
    for link in [each for each, _ in zip(root.iter("a"), range(20 * _MAX_NOTES), strict=False)]:
        is_stated = "noteref" in kinds(link)
        mark = _MARK.fullmatch("".join(link.itertext()))
        if (mark is None and not is_stated) or _goes_back(link):
            continue
        target, place = resolved(path, link.get("href") or "")
        if not place or not target:
            continue
        note = None
        if target == path:
            if named is None:
                named = {each.get("id"): each for each in root.iter("*") if each.get("id")}
            note = _note(named.get(place), link, headed, is_stated=is_stated)
            if note is None:
                continue
        elif not is_stated and not _is_raised(link):
            continue
        if note is not None and not _is_endnote(note) and note not in done and len(done) < _MAX_NOTES:
            done.add(note)
            if not _is_within(link, note):
                _open(note, mark[1] if mark else "")
        if mark is not None:
            _drop(link)


def _note(
    target: HtmlElement | None, link: HtmlElement, headed: dict[HtmlElement, bool], *, is_stated: bool
) -> HtmlElement | None:
    """Return the block of the note that a link leads to; of one that is not stated to be a note, if it leads back.

    `headed` holds which blocks hold a heading, so that each is searched once.
    """
    if target is None:
        return None
    note = target if target.tag in _BLOCKS else next(target.iterancestors(*_BLOCKS), None)
    if note is None or note.tag == "tr":
        return None
    if is_stated or not (_FOOTNOTES | _ENDNOTES).isdisjoint(kinds(note)):
        return note
    if note not in headed:
        headed[note] = next(note.iter(*_HEADINGS), None) is not None
    if headed[note]:
        return None
    place = next((each.get("id") for each in (link, link.getparent(), *link) if each.get("id")), None)
    links = zip(note.iter("a"), range(_FIRST_LINKS), strict=False)
    return note if place and any((each.get("href") or "").endswith(f"#{place}") for each, _ in links) else None


def _is_endnote(note: HtmlElement) -> bool:
    said = kinds(note)
    if not _FOOTNOTES.isdisjoint(said):
        return False
    return any(not _ENDNOTES.isdisjoint(kinds(each)) for each in (note, *note.iterancestors()))


def _is_raised(link: HtmlElement) -> bool:
    parent = link.getparent()
    return (parent is not None and parent.tag == "sup") or link.find("sup") is not None


def _goes_back(link: HtmlElement) -> bool:
    return not {"backlink", "referrer"}.isdisjoint(kinds(link)) or "back" in (link.get("class") or "").lower()


def _is_within(link: HtmlElement, note: HtmlElement) -> bool:
    return any(each is note for each in link.iterancestors(note.tag))


def _open(note: HtmlElement, label: str) -> None:
    """Show a note that is shown on a touch, without its links back, under its name."""
    for back in list(note.iter("a")):
        if _goes_back(back) or _BACK.fullmatch("".join(back.itertext())):
            _drop(back)
    _name(note, label)
    note.tag = "div"
    for key in ("class", "style", "hidden"):
        note.attrib.pop(key, None)


def _name(note: HtmlElement, label: str) -> None:
    """Begin a note with `Footnote 1: `, in the place of its own number; the words of a link are no number."""
    first = note
    while not (first.text or "").strip() and len(first) and first[0].tag in (*_BLOCKS, "ol", "ul"):
        first = first[0]
    for own in [each for each, _ in zip(first.iter("a", "sup"), range(4), strict=False)]:
        before = (first.text or "").strip()
        shown = _MARK.fullmatch("".join(own.itertext()))
        if not before and shown and shown[1] == label:
            _drop(own)
            break
    own_text = (first.text or "").lstrip()
    shown = _MARK.match(own_text)
    if shown and shown[1] == label and shown.end() > len(label):
        first.text = own_text[shown.end() :]
    first.text = f"Footnote{f' {label}' if label else ''}: {(first.text or '').lstrip()}"


def _drop(link: HtmlElement) -> None:
    """Empty a link, with the raised text or the bracket that it stands in."""
    parent = link.getparent()
    if parent is not None and parent.tag == "sup" and len(parent) < _FEW:
        beside = "".join(parent.itertext()).replace("".join(link.itertext()), "", 1)
        link = parent if _BACK.fullmatch(beside) else link
    empty(link)
