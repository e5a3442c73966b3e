"""Location of a character in a document, in terms a reader can use."""

from __future__ import annotations

from collections.abc import Sequence

from asky.values import Location, Page, Section

SEPARATOR = " › "


def location_of(sections: Sequence[Section], pages: Sequence[Page], position: int) -> Location:
    """Return the headings above the character at `position`, joined, and its page."""
    path = [each.heading for each in sections if each.start <= position < each.end]
    page = next((each for each in pages if each.start <= position < each.end), None)
    return Location(
        section=SEPARATOR.join(path) or None,
        page=page.index if page else None,
        page_label=page.label if page else None,
    )
