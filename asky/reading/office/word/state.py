"""What the walks through the parts of a Word document share: its definitions, and what they came across."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from asky.reading.office.archive import Package, Relation
from asky.reading.office.word.embedded import files_in
from asky.reading.office.word.fields import begun
from asky.reading.office.word.names import W15, R, W, number, switch, value
from asky.reading.office.word.number_forms import counted_form
from asky.reading.office.word.numbering import Numbering
from asky.reading.office.word.styles import WordStyles
from asky.reading.office.word.tree import WordChunk, WordNote

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_NOTE_FORMS = {"footnote": "decimal", "endnote": "lowerRoman"}
_ABOUT_CHARS = 100  # of the words that a comment is about: more are not shown
_MARGINS = ("first", "default", "even")
NoteKind = Literal["footnote", "endnote"]


@dataclass(slots=True)
class WordComment:
    """A comment that the text refers to, and the words that it is about."""

    id: str
    about: str


class WordState:
    """The parts of a document that its walks need, and what they collect; `main` is the path of its text."""

    def __init__(self, package: Package, main: str) -> None:
        self.package, self.main = package, main
        self.unread: list[tuple[str, str]] = []
        self.styles = WordStyles(self._root("styles"))
        self.numbering = Numbering(self._root("numbering"), self.styles.list_of)
        self.settings = self._root("settings")
        self.comments: list[WordComment] = []
        self.margins: dict[str, list[str]] = {"header": [], "footer": []}
        self.files: list[tuple[str, bytes]] = []
        self._begun: dict[str, frozenset[Element]] = {}
        self._notes: dict[str, tuple[str, dict[str, Element]]] = {}
        self._seen_notes: set[tuple[str, str]] = set()
        self._counts = dict.fromkeys(_NOTE_FORMS, 0)
        self._section_notes: list[dict[str, Element]] = []
        self._section = 0
        self._ranges: dict[str, list[str]] = {}
        self._filling: dict[str, int] = {}
        self._in_force: dict[tuple[str, str], str] = {}
        self._mirrors = bool(switch(self.settings, "evenAndOddHeaders"))

    # parts

    def relations(self, part: str) -> Mapping[str, Relation]:
        """Return what a part refers to, by id."""
        return self.package.relations(part)

    def path(self, kind: str) -> str | None:
        """Return the path of the part of a kind that the text refers to."""
        found = (each for each in self.relations(self.main).values() if each.kind == kind and not each.is_external)
        return next((each.target for each in found), None)

    def _root(self, kind: str) -> Element | None:
        path = self.path(kind)
        return self._xml(path) if path is not None else None

    def _xml(self, path: str) -> Element | None:
        try:
            return self.package.xml(path)
        except SyntaxError:  # what the parser of XML raises
            self.unread.append((posixpath.basename(path), "damaged"))
            return None

    def root(self, path: str) -> Element | None:
        """Return the root of a part with text, and find where its fields end; None if it is damaged, which is noted."""
        root = self._xml(path)
        if root is not None:
            self._begun[path] = begun(root)
        return root

    def lines(self, read: Callable[[Package, str], list[str]], relation: Relation | None) -> list[str]:
        """Return what a chart or a diagram says; nothing if it is not in the file, or damaged, which is noted."""
        if relation is None or relation.is_external:
            return []
        try:
            return read(self.package, relation.target)
        except SyntaxError:
            self.unread.append((posixpath.basename(relation.target), "damaged"))
            return []

    def ends(self, part: str, element: Element) -> bool:
        """Return whether the field that an element begins also ends."""
        return element in self._begun.get(part, ())

    # sections

    def begin(self, path: str) -> Element | None:
        """Return the root of the text, and note how its sections number their notes; raise if it is damaged."""
        root = self.package.xml(path)
        if root is None:
            return None
        self._begun[path] = begun(root)
        for section in root.iter(f"{W}sectPr"):
            stated = {kind: section.find(f"{W}{kind}Pr") for kind in _NOTE_FORMS}
            self._section_notes.append({kind: each for kind, each in stated.items() if each is not None})
        return root

    def end_section(self, section: Element) -> None:
        """Note the heads and feet of the pages of a section: those of the one before hold where it states none."""
        for each in section:
            if each.tag in (f"{W}headerReference", f"{W}footerReference"):
                kind = "header" if each.tag == f"{W}headerReference" else "footer"
                relation = self.relations(self.main).get(each.get(f"{R}id", ""))
                if relation is not None and not relation.is_external:
                    self._in_force[kind, each.get(f"{W}type", "default")] = relation.target
        shown = {"default": True, "first": bool(switch(section, "titlePg")), "even": self._mirrors}
        for kind, paths in self.margins.items():
            for place in _MARGINS:
                path = self._in_force.get((kind, place))
                if path is not None and shown[place] and path not in paths:
                    paths.append(path)
        self._section += 1
        for kind in _NOTE_FORMS:
            if self._note_rule(kind, "numRestart") == "eachSect":
                self._counts[kind] = 0

    # notes

    def note(self, kind: NoteKind, id_: str, *, is_numbered: bool) -> tuple[str, Element | None, WordNote | None]:
        """Count a note and return its part, its content, and the note; None for one that is not there or known."""
        if kind not in self._notes:
            path = self.path(f"{kind}s") or ""
            root = self.root(path) if path else None
            own = root.iterchildren(f"{W}{kind}") if root is not None else ()
            found = {each.get(f"{W}id", ""): each for each in own}
            self._notes[kind] = path, found
        mark = self._next_mark(kind) if is_numbered else ""
        path, found = self._notes[kind]
        content = found.get(id_)
        if content is None or content.get(f"{W}type", "normal") != "normal" or (kind, id_) in self._seen_notes:
            return path, None, None
        self._seen_notes.add((kind, id_))
        return path, content, WordNote(kind, id_, mark)

    def _next_mark(self, kind: str) -> str:
        self._counts[kind] += 1
        first = number(self._note_rule(kind, "numStart"), 1)
        return counted_form(first + self._counts[kind] - 1, self._note_rule(kind, "numFmt") or _NOTE_FORMS[kind])

    def _note_rule(self, kind: str, name: str) -> str | None:
        own = self._section_notes[self._section].get(kind) if self._section < len(self._section_notes) else None
        stated = value(own, name)
        if stated is None and self.settings is not None:
            stated = value(self.settings.find(f"{W}{kind}Pr"), name)
        return stated

    # comments

    def open_range(self, id_: str) -> None:
        """Begin to collect the words that a comment is about."""
        if id_ not in self._ranges:
            self._ranges[id_] = []
            self._filling[id_] = 0

    def close_range(self, id_: str) -> None:
        """End to collect them."""
        self._filling.pop(id_, None)

    def seen_in_ranges(self, text: str) -> None:
        """Add text that is seen to the words of the comments around it."""
        for id_, size in list(self._filling.items()) if self._filling else ():
            self._ranges[id_].append(text[:_ABOUT_CHARS])
            self._filling[id_] = size + len(text)
            if size + len(text) > _ABOUT_CHARS:
                del self._filling[id_]

    def comment(self, id_: str) -> None:
        """Note that the text refers to a comment here."""
        self.close_range(id_)
        self.comments.append(WordComment(id_, " ".join("".join(self._ranges.get(id_, ())).split())))

    def replies(self) -> dict[str, str]:
        """Return the ids of the paragraphs of comments, each with that of the comment that it replies to."""
        root = self._root("commentsExtended")
        own = root if root is not None else ()
        found = ((each.get(f"{W15}paraId"), each.get(f"{W15}paraIdParent")) for each in own)
        return {own: parent for own, parent in found if own and parent}

    # files within the file

    def chunk(self, relation: Relation | None) -> Iterator[WordChunk]:
        """Yield the file that is shown as a part of the text."""
        data = self._data(relation)
        if relation is not None and data is not None:
            yield WordChunk(posixpath.basename(relation.target), data)

    def embed(self, relation: Relation | None, program: str) -> None:
        """Note an embedded file, or that it is none that can be read; `program` is the name of what made it."""
        data = self._data(relation)
        if relation is not None and data is not None:
            found = files_in(data, posixpath.basename(relation.target), program)
            self.files += found
            if not found:
                self.unread.append((program or posixpath.basename(relation.target), "an object of another program"))

    def skip_linked(self, relation: Relation | None) -> None:
        """Note a part of the text that is in another file."""
        if relation is not None:
            self.unread.append((posixpath.basename(relation.target) or relation.target, "a linked file"))

    def _data(self, relation: Relation | None) -> bytes | None:
        if relation is None:
            return None
        if relation.is_external:
            self.skip_linked(relation)
            return None
        data = self.package.raw(relation.target)
        if data is None:
            self.unread.append((posixpath.basename(relation.target), "missing in the file"))
        return data
