"""PowerPoint: the text of each slide as it is shown, then its notes and the remarks about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asky.errors import SourceUnreadable
from asky.reading.embedded.file import add_file
from asky.reading.office.archive import Package, UnreadableOffice, check_archive, media_type
from asky.reading.office.blocks import OfficeBlocks
from asky.reading.office.drawing import chosen, paragraphs
from asky.reading.office.slide_comments import authors_of, comment_lines
from asky.reading.office.slide_shapes import R, Shapes
from asky.reading.office.slide_styles import P, SlideStyles, placeholder
from asky.reading.text_builder import TextBuilder
from asky.values import Document

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_UNNAMED = "PowerPoint Presentation"  # the title that PowerPoint gives


def read(data: bytes, name: str) -> Document:
    """Return the text of a presentation: each slide a section and a page, in the order in which they are shown.

    The title comes first; the other shapes follow in the order of the slide, then what stands on the margin (footers
    and dates, once in the document), the speaker's notes, comments and embedded files. A hidden slide says so. Texts of
    masters and layouts, hidden shapes and slide numbers are left out.
    """
    check_archive(data, name, "_rels/.rels")
    with UnreadableOffice(name):
        package = Package(data)
        main = package.xml(package.main)
        if main is None or main.tag != f"{P}presentation":
            raise SourceUnreadable(f"{name}: its content does not match its name", verdict="unsupported")
        builder = TextBuilder()
        reader = _Slides(package, main, builder)
        relations = package.relations(package.main)
        for each in main.iterfind(f"{P}sldIdLst/{P}sldId"):
            relation = relations.get(each.get(f"{R}id", ""))
            if relation is not None and not relation.is_external:
                reader.add(relation.target)
        facts = package.facts()
        title = facts.pop("title", "")
        if not title or title == _UNNAMED:
            title = reader.title
        return builder.build(media_type("presentationml.presentation"), title=title, metadata=facts)


class _Slides:
    """Adds slides to a text, one after the other."""

    def __init__(self, package: Package, main: Element, builder: TextBuilder) -> None:
        self._package = package
        self._builder = builder
        self._blocks = OfficeBlocks(builder)
        self._styles = SlideStyles(package, main)
        self._authors = authors_of(package)
        self._on_margins: set[str] = set()
        self._number = 0
        self.title = ""  # of the presentation: what its first slide shows, if that is a title slide

    def add(self, path: str) -> None:
        """Add the slide in a part."""
        self._number += 1
        slide = self._part(path)
        if slide is None:
            self._start("", is_hidden=False)
            return
        shapes = Shapes(self._package, path, self._styles)
        tree = slide.find(f"{P}cSld/{P}spTree")
        if tree is not None:
            shapes.take(tree)
        if self._number == 1 and shapes.is_title_slide:
            self.title = shapes.title
        self._start(shapes.title, is_hidden=slide.get("show") in ("0", "false"))
        shapes.write(self._blocks)
        for text in shapes.margins:
            if text not in self._on_margins:
                self._on_margins.add(text)
                self._blocks.paragraph(text)
        if notes := self._notes(path):
            self._blocks.paragraph(f"Notes: {notes}")
        comments = [root for each in self._package.related(path, "comments") if (root := self._part(each)) is not None]
        for line in comment_lines(comments, self._authors, shapes.texts):
            self._blocks.item(line)
        self._blocks.close()
        for embedded, data in shapes.files:
            add_file(self._builder, data, embedded, level=2, kind="Embedded file")
        for part, reason in shapes.unread:
            self._builder.skip(f"slide {self._number}, {part}", reason)

    def _part(self, path: str) -> Element | None:
        """Return the root of a part; `None` if it is missing or damaged, which costs that part alone."""
        from lxml.etree import XMLSyntaxError

        try:
            root = self._package.xml(path)
        except XMLSyntaxError:
            root = None
        if root is None:
            self._builder.skip(f"slide {self._number}", f"{path.rpartition('/')[2]} is missing or damaged")
        return root

    def _start(self, title: str, *, is_hidden: bool) -> None:
        heading = title or f"Slide {self._number}"
        self._builder.start_page(None)
        if is_hidden:
            heading = f"{heading} (hidden slide)"
        if title or is_hidden:
            self._blocks.heading(heading, 1)
        else:
            self._builder.mark_heading(heading, 1)

    def _notes(self, path: str) -> str:
        """Return the speaker's notes of a slide."""
        lines: list[str] = []
        for notes in self._package.related(path, "notesSlide")[:1]:
            root = self._part(notes)
            tree = root.find(f"{P}cSld/{P}spTree") if root is not None else None
            for shape in chosen(tree) if tree is not None else ():
                body = shape.find(f"{P}txBody")
                if body is not None and placeholder(shape)[0] == "body":
                    lines += map(str, paragraphs(body))
        return "\n".join(lines)
