"""A note as it is shown: with the notes that it embeds in place of their embeds.

Source of what an embed shows: Obsidian's help, "Embed files" and "Internal links".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from asky.errors import SourceError
from asky.evidence.unread import PARTIAL, parts_of
from asky.notes.names import NoteFile, NoteNames, is_attachment
from asky.research.corpus.report import unread_parts, verdict_of
from asky.text.wikilinks import find_block
from asky.values import Document, NoteLink, UnreadFile

MAX_DEPTH = 3
"""Maximum depth of embeds within embeds."""
MAX_CHARACTERS = 200_000
"""Maximum length of a note with all that it embeds; the rest is left out, and that is said."""
MAX_EMBEDS = 1_000
"""Maximum number of embeds that are shown of one note, those of embedded notes included."""

_REST = "the rest of the text"
_MARKS = re.compile(r"[\W_]+")
_Chain = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a note: `[start, end)` of the text of its document."""

    note: NoteFile
    document: Document
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ShownNote:
    """A note with what it embeds. `unread` is what could not be read of the note and of those that it embeds."""

    path: str
    text: str
    unread: tuple[UnreadFile, ...] = ()


def expand(note: NoteFile, read: Callable[[NoteFile], Document], names: Callable[[], NoteNames]) -> ShownNote:
    """Return `note` with what it embeds; the embeds of pictures and other files stay as they are.

    Of an embed with a heading or a block only that part is shown. In place of an embed that leads nowhere, to a note
    that cannot be read, back to where it came from, or too deep, the reason is said. `names` is called once, if
    there is an embed. Raises what `read` does for `note` itself.
    """
    return _Expansion(read, names).expand(note)


class _Expansion:
    """One expansion: the documents read, what could not be read, and how much may still be shown."""

    def __init__(self, read: Callable[[NoteFile], Document], names: Callable[[], NoteNames]) -> None:
        self._read = read
        self._list_names = names
        self._names: NoteNames | None = None
        self._documents: dict[str, Document] = {}
        self._unread: list[UnreadFile] = []
        self._characters = MAX_CHARACTERS
        self._embeds = MAX_EMBEDS

    def expand(self, note: NoteFile) -> ShownNote:
        document = self._document(note)
        whole = _Part(note, document, 0, len(document.text))
        text = self._expand(whole, ((note.relative, ""),))
        if self._characters <= 0:
            text += f"\n\n({MAX_CHARACTERS:,} characters are shown of this note.)\n"
            self._unread.append(UnreadFile(note.shown, PARTIAL, f"{MAX_CHARACTERS:,} characters are shown", _REST))
        return ShownNote(note.shown, text, tuple(dict.fromkeys(self._unread)))

    def _expand(self, part: _Part, chain: _Chain) -> str:
        pieces, end = [], part.start
        for link in part.document.note_links:
            if self._characters <= 0:
                break
            if not link.is_embed or link.start < end or link.end > part.end:
                continue
            shown = self._embedded(link, part.note, chain)
            if shown is not None:
                pieces += [self._take(part.document.text[end : link.start]), shown]
                end = link.end
        return "".join([*pieces, self._take(part.document.text[end : part.end])])

    def _take(self, text: str) -> str:
        taken = text[: max(self._characters, 0)]
        self._characters -= len(text)
        return taken

    def _embedded(self, link: NoteLink, source: NoteFile, chain: _Chain) -> str | None:
        """Return what is shown in place of an embed, `None` for one that stays as it is."""
        self._names = self._names or self._list_names()
        note = self._names.resolve(link.target, source)
        name = f"{link.target}#{link.part}" if link.part else link.target
        if note is None:
            is_file = is_attachment(link.target)
            return None if is_file else self._take(f"(The embedded note {name!r} does not exist.)")
        step = (note.relative, _folded(link.part))
        if step in chain:
            return self._take(f"(The note {name!r} embeds itself.)")
        if len(chain) > MAX_DEPTH or self._embeds <= 0:
            return self._take(f"(The embedded note {name!r} is not shown: there are too many embeds.)")
        self._embeds -= 1
        try:
            part = _part_of(note, self._document(note), link.part)
        except SourceError as error:
            why = error.message.removeprefix(f"{note.shown}: ")
            self._unread.append(UnreadFile(note.shown, verdict_of(error), why))
            return self._take(f"(The embedded note {name!r} cannot be read: {error.message})")
        if part is None:
            return self._take(f"(The embedded note {link.target!r} has no part {link.part!r}.)")
        return self._expand(part, (*chain, step)).strip("\n")

    def _document(self, note: NoteFile) -> Document:
        if note.relative not in self._documents:
            self._documents[note.relative] = document = self._read(note)
            self._unread += parts_of(note.shown, unread_parts(document.metadata))
        return self._documents[note.relative]


def _part_of(note: NoteFile, document: Document, part: str) -> _Part | None:
    """Return the part of a note that a link names, without its properties; `None` if it has no such part."""
    body = next((each.end for each in document.sections if each.level == 0), 0)
    if not part:
        return _Part(note, document, body, len(document.text))
    if part.startswith("^"):
        block = find_block(document.text, part[1:], body)
        return None if block is None else _Part(note, document, *block)
    start, end = body, len(document.text)
    for heading in part.split("#"):
        found = next(
            (
                each
                for each in document.sections
                if each.level > 0 and start <= each.start < end and _folded(each.heading) == _folded(heading)
            ),
            None,
        )
        if found is None:
            return None
        start, end = found.start, found.end
    return _Part(note, document, start, end)


def _folded(heading: str) -> str:
    """Return a heading as links compare it: a link leaves out marks that it cannot hold."""
    return _MARKS.sub(" ", heading).strip().casefold()
