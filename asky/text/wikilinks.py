"""What Obsidian adds to Markdown: links between notes, embeds, tags, ids of blocks, and comments.

Nothing of it counts inside of code, formulas and comments. Linear in the length of the text.
Source: Obsidian's help, "Internal links", "Embed files", "Tags" and "Basic formatting syntax".
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from urllib.parse import unquote

from asky.values import NoteLink

MAX_TAGS = 200
"""Maximum number of tags of one note; later ones are left out."""

_MAX_CHARS = 500  # of a target or an alias: no file name is longer
# What may open something that hides what is inside of it; whatever opens first counts. Escaped characters open nothing.
_OPENING = re.compile(r"\\[^\n]|`+|~{3,}|%%|<!--|\$\$")
_BEFORE_FENCE = re.compile(r"(?:[ \t]*(?:>|[-+*][ \t]|\d{1,9}[.)][ \t]))*[ \t]*")
_COMMENTS = ("%%", "<!--")
_CLOSING = re.compile(r"`+|%%|-->|\$\$")
_BLANK_LINE = re.compile(r"\n[ \t>]*(?=\n)")
_NOT_LINE_END = re.compile(r"[^\n]")
_WIKILINK = re.compile(rf"(!?)\[\[([^\[\]|\n]{{1,{_MAX_CHARS}}})(?:\|((?:(?!\]\]|\[\[)[^\n]){{0,{_MAX_CHARS}}}))?\]\]")
_MARKDOWN_LINK = re.compile(
    rf"(!?)\[((?:\\.|[^\[\]\\\n]){{0,{_MAX_CHARS}}})\]"
    rf"\((?:<([^<>\n]{{1,{_MAX_CHARS}}})>|([^\s()<>]{{1,{_MAX_CHARS}}}))(?:[ \t]+\"[^\"\n]*\")?\)"
)
_MAY_BE_LINK = re.compile(r"!\[|\[")
_LINK = re.compile(rf"(?:{_WIKILINK.pattern})|(?:{_MARKDOWN_LINK.pattern})")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_NOTE = re.compile(r"\.(?:md|markdown|txt)\Z", re.IGNORECASE)
# White space and punctuation end a tag, all but `_`, `-` and `/`; letters of any script and emoji belong to it.
_TAG = re.compile(r"#([^\s!-,.:-@\[-^`{-~\u2000-\u206f\u2e00-\u2e7f\x7f]{1,200})(?![^\s!-,.:-@\[-^`{-~])")
_ITEM = re.compile(r"[ \t>]*(?:[-+*]|\d{1,9}[.)])[ \t]")
_ENDS_BLOCK = re.compile(r"[ \t>]*$| {0,3}#{1,6}[ \t]", re.MULTILINE)


def visible(text: str, start: int = 0) -> str:
    """Return `text` with a space for each character that is code, a formula or a comment, from offset `start` on.

    Line ends stay, so offsets and lines do too. Escaped characters are spaces as well.
    """
    closing = _Closing(text)
    pieces, end = [text[:start]], start
    while found := _OPENING.search(text, end):
        stop = found.end() if found[0][0] == "\\" else closing.end_of(found)
        pieces.append(text[end : found.start()])
        end = stop or found.end()
        hidden = text[found.start() : end]
        pieces.append(_NOT_LINE_END.sub(" ", hidden) if stop else hidden)
    return "".join([*pieces, text[end:]])


def find_comments(text: str, start: int = 0) -> list[tuple[int, int]]:
    """Return the places of `%% comments %%` and `<!-- comments -->` from offset `start` on, in order.

    A comment that begins a line may be left open: it reaches to the end of the text.
    """
    if "%%" not in text and "<!--" not in text:
        return []
    closing, found, end = _Closing(text), list[tuple[int, int]](), start
    while opening := _OPENING.search(text, end):
        stop = opening.end() if opening[0][0] == "\\" else closing.end_of(opening)
        if stop and opening[0] in _COMMENTS:
            found.append((opening.start(), stop))
        end = stop or opening.end()
    return found


def is_left_open(text: str, comment: tuple[int, int]) -> bool:
    """Return whether nothing closes a comment that `find_comments` has found."""
    begin, end = comment
    mark = "-->" if text.startswith("<!--", begin) else "%%"
    return end == len(text) and (end - begin < len(mark) + 2 or not text.endswith(mark))


class _Closing:
    """The places in a text where code, formulas and comments may end."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._ends: dict[str, list[int]] = {}
        for found in _CLOSING.finditer(text):
            self._ends.setdefault(found[0], []).append(found.end())
        self._blank_lines = [found.start() for found in _BLANK_LINE.finditer(text)]

    def end_of(self, opening: re.Match[str]) -> int | None:
        """Return where the thing ends that `opening` begins, `None` if it begins nothing.

        Code, formulas and comments within a line end in the same paragraph; a comment that begins a line may be left
        open, and has the rest of the text then.
        """
        mark = opening[0]
        if mark[0] in "`~" and len(mark) >= 3 and (before := _before_fence(self._text, opening)) is not None:
            return _end_of_fence(self._text, mark, opening.end(), is_quoted=">" in before)
        if mark[0] == "~":
            return None
        end = self._next("-->" if mark == "<!--" else mark, opening.end())
        if mark in _COMMENTS:
            before = _line_before(self._text, opening.start())
            if before is not None and not before.strip():
                return end or len(self._text)
        if end is None or (mark != "<!--" and end > self._end_of_paragraph(opening.end())):
            return None
        return end

    def _next(self, mark: str, start: int) -> int | None:
        ends = self._ends.get(mark, [])
        index = bisect_right(ends, start + len(mark) - 1)
        return ends[index] if index < len(ends) else None

    def _end_of_paragraph(self, start: int) -> int:
        index = bisect_right(self._blank_lines, start - 1)
        return self._blank_lines[index] if index < len(self._blank_lines) else len(self._text)


def find_links(text: str, start: int = 0, *, shown: str | None = None) -> Iterator[NoteLink]:
    """Yield the links to notes, in order: `[[wikilinks]]`, embeds, and Markdown links to files with a note's suffix.

    Before `start`, in the front matter, nothing is code. A pipe may be escaped, as it is in tables. `shown` is
    `visible(text, start)`, if that is known.
    """
    end = 0
    for found in _links(visible(text, start) if shown is None else shown):
        written = _LINK.match(text, found.start()) or found  # with the code in an alias, and an escaped pipe
        link = _markdown_link(written) if written[2] is None else _wikilink(written)
        if link is not None and link.start >= end:
            end = link.end
            yield link


def find_tags(text: str, start: int = 0, *, shown: str | None = None) -> list[str]:
    """Return the `#tags` from offset `start` on, without `#`, each once and in order; for `shown` see `find_links`.

    A tag begins a word, is in no link, and has a character that is no digit; case does not distinguish tags.
    """
    if "#" not in text:
        return []
    if shown is None:
        shown = visible(text, start)
    links = [found.span() for found in _links(shown, start)]
    found: dict[str, str] = {}
    for tag in _TAG.finditer(shown, start):
        name, before = tag[1].rstrip("/"), tag.start() - 1
        link = bisect_right(links, (before, len(text))) - 1
        if (before >= start and not shown[before].isspace()) or (link >= 0 and before < links[link][1]):
            continue
        if name and not name.isdecimal():
            found.setdefault(name.casefold(), name)
            if len(found) >= MAX_TAGS:
                break
    return list(found.values())


def _links(shown: str, start: int = 0) -> Iterator[re.Match[str]]:
    """Yield what looks like a link, in order; none overlaps another."""
    end = start
    for place in _MAY_BE_LINK.finditer(shown, start):
        if place.start() >= end and (found := _LINK.match(shown, place.start())):
            end = found.end()
            yield found


def find_block(text: str, name: str, start: int = 0) -> tuple[int, int] | None:
    """Return the place of the block with the id `name`, from offset `start` on, or `None`.

    It is the list item or paragraph whose line ends in `^name`, or the one above if nothing else is on that line.
    """
    shown = visible(text, start)
    found = re.compile(rf"(?:(?<=[\s\])])|^)\^{re.escape(name)}[ \t]*$", re.IGNORECASE | re.MULTILINE).search(
        shown, start
    )
    if found is None:
        return None
    end = len(text[: found.start()].rstrip(" \t\n>"))
    begin = _line_start(text, end)
    while begin > start and not _ITEM.match(text, begin):
        above = _line_start(text, begin - 1)
        if _ENDS_BLOCK.match(text, above):
            break
        begin = above
    return max(begin, start), max(end, start)


def _wikilink(found: re.Match[str]) -> NoteLink | None:
    target, alias = found[2], (found[3] or "").strip()
    if found[3] is not None:
        target = target.removesuffix("\\")  # `\|` in a table
    name, _, part = target.strip().partition("#")
    if not name.strip() and not part.strip():
        return None
    return NoteLink(name.strip(), part.strip(), alias, bool(found[1]), *found.span())


def _markdown_link(found: re.Match[str]) -> NoteLink | None:
    written = found[6] or found[7]
    path, _, part = written.partition("#")
    if _SCHEME.match(path) or not (_NOTE.search(path) or (not path and part)):
        return None
    alias = re.sub(r"\\([^\w\s])", r"\1", found[5]).strip()
    return NoteLink(unquote(path), unquote(part), alias, bool(found[4]), *found.span())


def _before_fence(text: str, mark: re.Match[str]) -> str | None:
    """Return what is before `mark` on a line in which it opens fenced code, `None` if it opens none.

    Only marks of quotes and lists may be there, and no other backtick after backticks.
    """
    before = _line_before(text, mark.start())
    if before is None or not _BEFORE_FENCE.fullmatch(before):
        return None
    return None if mark[0][0] == "`" and "`" in text[mark.end() : _line_end(text, mark.end())] else before


def _end_of_fence(text: str, mark: str, end: int, *, is_quoted: bool) -> int:
    """Return where the code ends that a fence opens: with the line that closes it, or the quote around it."""
    closing = re.compile(rf"[ \t>]*{mark[0]}{{{len(mark)},}}[ \t]*$", re.MULTILINE)
    end = _line_end(text, end)
    while end < len(text):
        line = end + 1
        if is_quoted and not text[line : line + _MAX_CHARS].lstrip(" \t").startswith(">"):
            return end
        if found := closing.match(text, line):
            return found.end()
        end = _line_end(text, line)
    return end


def _line_before(text: str, position: int) -> str | None:
    """Return what is before `position` on its line, `None` if that is long: a line may be the whole text."""
    begin = text.rfind("\n", max(0, position - _MAX_CHARS), position) + 1
    return text[begin:position] if begin or position < _MAX_CHARS else None


def _line_start(text: str, position: int) -> int:
    return text.rfind("\n", 0, position) + 1


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end
