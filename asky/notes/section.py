"""The `## Research` section of a note: bytes in, bytes out, and nothing but asky's own part of it changes.

    ## Research

    what you have written there, which stays

    %% asky:begin sha=0123456789ab %%

    ### what asky has written, replaced by the next run

    %% asky:end %%

The hash is that of asky's part. If it is another one, you have edited that part: it is yours from then on.
"""

from __future__ import annotations

import codecs
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from asky.errors import SourceUnreadable, UsageError
from asky.text.beside.marked_parts import BEGIN, END
from asky.text.headings import MarkdownHeading, markdown_headings, paragraph_lines
from asky.text.plain import plain

HEADING = "Research"
_LEVEL = 2
_HASH = re.compile(r"\bsha=([0-9a-f]+)")
_HASH_CHARS = 12
_LINE_END = re.compile(r"\r\n|\n|\r")
_BLANK = " \t\r\n"
_LEADING_BLANKS = re.compile(r"\A(?:[ \t]*(?:\r\n|\n|\r))+")
_FIRST_BLANK = re.compile(r"[ \t]*(?:\r|\n|\Z)")
# Whatever stands between a first line of `---` and the next is front matter, be it YAML or not, as in Obsidian.
_FRONT_MATTER = re.compile(
    r"---[ \t]*(?:\r\n|\n|\r)(?:.*?(?:\r\n|\n|\r))??(?:---|\.\.\.)[ \t]*(?:\r\n|\n|\r|\Z)", re.DOTALL
)
_WIDE_MARKS = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True, slots=True)
class _Part:
    """Asky's part of a text, from the line of its first marker to the end of that of its last one.

    `body` is what is between the markers. `is_edited` says that somebody has changed it, or removed the last marker.
    """

    start: int
    end: int
    body: str
    is_edited: bool


@dataclass(frozen=True, slots=True)
class _Section:
    """The section: its text is from `start`, behind the heading, to `end`."""

    heading: MarkdownHeading
    start: int
    end: int
    part: _Part | None


def replace_section(note: bytes, body: str) -> bytes:
    """Return `note` with `body` as asky's part of its `## Research` section; its headings are of level 3 and below.

    A part that asky has written before is replaced; one that was edited since stays above the new one, without markers.
    In a section without one, the new part comes last. Without a section it is appended after a blank line. Everything
    else stays byte for byte, and the part has the line ends that most of the note's lines have. The same `body` again
    returns the same bytes.

    Raises `SourceUnreadable` if the note is not UTF-8 text, and `UsageError` if there are several sections and not
    exactly one has a part of asky's, or if the part would not be what a reader sees: hidden by code, HTML or a comment
    that is not closed above it, or ended by a heading of its own.
    """
    mark, text = _decode(note)
    body = _normal(body)
    headings, section = _find(text)
    part = section.part if section else None
    if part is not None and not part.is_edited and _normal(part.body) == body:
        return note
    before, written, after = _pieces(text, section, body)
    outline = [
        *(_named(each) for each in headings if each.start < len(text) - len(after) and not _is_in(each, part)),
        *_outline(written),
        *(_named(each) for each in headings if each.start >= len(text) - len(after)),
    ]
    new = before + written + after
    _check(new, outline, body)
    return mark + new.encode("utf-8")


def present_body(note: bytes) -> str | None:
    """Return what asky has written into the section, with LF, as given; `None` if nothing, or it was edited since.

    Raises as `replace_section` does.
    """
    section = _find(_decode(note)[1])[1]
    return _normal(section.part.body) if section and section.part and not section.part.is_edited else None


def _decode(note: bytes) -> tuple[bytes, str]:
    """Return the byte order mark of a note and its text."""
    mark = codecs.BOM_UTF8 if note.startswith(codecs.BOM_UTF8) else b""
    if note.startswith(_WIDE_MARKS) or b"\x00" in note:
        raise SourceUnreadable("the note is not UTF-8 text", verdict="unsupported", hint="save it as UTF-8")
    try:
        return mark, note[len(mark) :].decode("utf-8")
    except UnicodeDecodeError as error:
        line = note.count(b"\n", 0, error.start) + 1
        raise SourceUnreadable(
            f"the note is not UTF-8 text: line {line}", verdict="unsupported", hint="save it as UTF-8"
        ) from None


def _find(text: str) -> tuple[list[MarkdownHeading], _Section | None]:
    """Return the headings of a note and its section."""
    front = _FRONT_MATTER.match(text)
    headings = markdown_headings(text, front.end() if front else 0)
    sections = [
        _section(text, headings, number)
        for number, heading in enumerate(headings)
        if heading.level == _LEVEL and plain(heading.source).casefold() == HEADING.casefold()
    ]
    owned = [section for section in sections if section.part is not None]
    if len(owned) == 1 or len(sections) <= 1:
        return headings, next(iter(owned or sections), None)
    lines = ", ".join(str(_line_number(text, section.heading.start)) for section in owned or sections)
    raise UsageError(f"the note has several sections “## {HEADING}”: lines {lines}", hint="rename all but one")


def _section(text: str, headings: Sequence[MarkdownHeading], number: int) -> _Section:
    heading = headings[number]
    end = next((each.start for each in headings[number + 1 :] if each.level <= _LEVEL), len(text))
    return _Section(heading, heading.end, end, _part(text, heading.end, end))


def _part(text: str, start: int, end: int) -> _Part | None:
    """Return the first part of asky's in a section; without its last marker it goes on to the end of the section."""
    begin = None
    for offset, line in paragraph_lines(text[start:end]) if "asky:begin" in text[start:end] else ():
        if begin is None and (found := BEGIN.fullmatch(line)):
            begin = (start + offset, start + offset + len(line), _HASH.search(found[1]))
        elif begin is not None and END.fullmatch(line):
            body = text[begin[1] : start + offset]
            is_edited = begin[2] is None or begin[2][1] != _hash(_normal(body))
            return _Part(begin[0], start + offset + len(line), body, is_edited)
    return _Part(begin[0], end, text[begin[1] : end], True) if begin else None


def _pieces(text: str, section: _Section | None, body: str) -> tuple[str, str, str]:
    """Return what stays above the new part, the part with its line ends and blank lines, and what stays below it."""
    part, end = section.part if section else None, _dominant_end(text)
    lines = [f"%% asky:begin sha={_hash(body)} %%", "", *body.split("\n"), "", "%% asky:end %%"]
    if part is not None and not part.is_edited:
        closing = end if _is_ended(text[part.start : part.end]) else ""
        return text[: part.start], end.join(lines) + closing, text[part.end :]
    if section is None:
        before, after, lines = text, "", [f"## {HEADING}", "", *lines]
    elif part is None:
        at = _content_end(text, section.start, section.end)
        before, after = text[:at], text[at:]
    else:
        kept = part.body[: _content_end(part.body, 0, len(part.body))]
        before, after = text[: part.start] + _LEADING_BLANKS.sub("", kept), text[part.end :]
    closing = end if after or not text or _is_ended(text) else ""
    distance = end if after and not _FIRST_BLANK.match(after) else ""
    return before, _distance(before, end) + end.join(lines) + closing + distance, after


def _content_end(text: str, start: int, end: int) -> int:
    """Return the end of the last line between two offsets that is not blank; `start` if all are."""
    last = start + len(text[start:end].rstrip(_BLANK))
    if last == start:
        return start
    found = _LINE_END.search(text, last, end)
    return found.end() if found else end


def _distance(before: str, end: str) -> str:
    """Return the line ends that make the next line follow a blank one."""
    if not before:
        return ""
    if not _is_ended(before):
        return end + end
    return end if _LINE_END.split(before)[-2].strip(_BLANK) else ""


def _is_ended(text: str) -> bool:
    return text.endswith(("\n", "\r"))


def _check(text: str, outline: list[tuple[int, str]], body: str) -> None:
    """Assert that a new text has its headings, and the section with its part. Raises `UsageError`."""
    headings, section = _find(text)
    part = section.part if section else None
    is_there = part is not None and not part.is_edited and _normal(part.body) == body
    if not is_there or [_named(each) for each in headings] != outline:
        raise UsageError(
            f"the section “## {HEADING}” would not be seen as one: code, HTML or a comment above it is not closed",
            hint="close it in the note: ``` or ~~~, <!-- or a tag, %%, or --- below the properties",
        )


def _outline(text: str) -> list[tuple[int, str]]:
    return [_named(each) for each in markdown_headings(text)]


def _named(heading: MarkdownHeading) -> tuple[int, str]:
    return heading.level, heading.source


def _is_in(heading: MarkdownHeading, part: _Part | None) -> bool:
    return part is not None and not part.is_edited and part.start <= heading.start < part.end


def _dominant_end(text: str) -> str:
    """Return the line end that most lines have; LF if none has more."""
    windows = text.count("\r\n")
    counts = {"\n": text.count("\n") - windows, "\r\n": windows, "\r": text.count("\r") - windows}
    return max(counts, key=lambda end: counts[end])


def _normal(body: str) -> str:
    """Return a text with LF and without blank lines around it, which is what is compared and hashed."""
    return _LEADING_BLANKS.sub("", _LINE_END.sub("\n", body)).rstrip(_BLANK)


def _hash(body: str) -> str:
    return hashlib.sha256(body.encode("utf-8")).hexdigest()[:_HASH_CHARS]


def _line_number(text: str, offset: int) -> int:
    return len(_LINE_END.findall(text, 0, offset)) + 1
