"""Location of a character in a document, in terms a reader can use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from asky.text.tables import head_above
from asky.values import Location, Page, Section, Span

if TYPE_CHECKING:
    from asky.storage.documents import DocumentStore

SEPARATOR = " › "


_TABLE_CHARS = 64 * 1024
_ROW_CHARS = 400

# These are stored line by line as in their file. Other texts are rendered, or cited by their headings.
_WITH_LINES = ("text/plain", "text/x-source", "text/x-markup")

SNIPPET = "text/x-snippet"
ABSTRACT = "text/x-abstract"
_PARTS = {SNIPPET: "search snippet", ABSTRACT: "abstract"}  # what a service says of a work has no other place in it


class Places:
    """Finds locations in stored documents; each document's structure is read once."""

    def __init__(self, documents: DocumentStore) -> None:
        self._documents = documents
        self._structures: dict[int, tuple[Sequence[Section], Sequence[Page], str]] = {}

    def at(self, document_id: int, position: int) -> Location:
        """Return the location of the character at `position`. Raises as `DocumentStore.digest` does."""
        sections, pages, media_type = self._structure(document_id)
        if media_type in _PARTS:
            return Location(section=_PARTS[media_type])
        has_lines = media_type.startswith(_WITH_LINES)
        line = self._documents.line(document_id, position) if has_lines and not pages else None
        return replace(
            location_of(sections, pages, position, line), columns=columns_at(self._documents, document_id, position)
        )

    def sections_in(self, document_id: int, span: Span) -> tuple[tuple[int, str], ...]:
        """Return where other sections begin within `span`, from its start, and the headings of each, joined.

        Raises as `at` does.
        """
        sections, _, _ = self._structure(document_id)
        edges = {edge for each in sections for edge in (each.start, each.end) if span.start < edge < span.end}
        return tuple((edge - span.start, path_of(sections, edge)) for edge in sorted(edges))

    def _structure(self, document_id: int) -> tuple[Sequence[Section], Sequence[Page], str]:
        if document_id not in self._structures:
            media_type = self._documents.media_type(document_id)
            self._structures[document_id] = (*self._documents.structure(document_id), media_type)
        return self._structures[document_id]


def columns_at(documents: DocumentStore, document_id: int, position: int) -> str | None:
    """Return the names of the columns of a table that goes on at `position`, as `Location.columns` has them.

    `None` if its head does not stand within 64 Ki characters above.
    """
    start = max(0, position - _TABLE_CHARS)
    return head_above(documents.text(document_id, Span(start, position + _ROW_CHARS)), position - start)


def path_of(sections: Sequence[Section], position: int) -> str:
    """Return the headings above the character at `position`, joined; "" if there are none."""
    return SEPARATOR.join(each.heading for each in sections if each.start <= position < each.end)


def location_of(sections: Sequence[Section], pages: Sequence[Page], position: int, line: int | None = None) -> Location:
    """Return the headings above the character at `position`, joined, its page and its `line`."""
    page = next((each for each in pages if each.start <= position < each.end), None)
    return Location(
        section=path_of(sections, position) or None,
        page=page.index if page else None,
        page_label=page.label if page else None,
        line=line,
    )
