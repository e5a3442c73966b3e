from __future__ import annotations

from pathlib import Path

import pytest

from asky.evidence.export.citing import place_text, reference
from asky.research.excerpts.locations import Places
from asky.storage.database import Database
from asky.storage.documents import DocumentStore
from asky.storage.migrations import BLOCK_CHARACTERS
from asky.values import Document, Location, Page, Section, Span

CODE = "text/x-source"


@pytest.fixture
def documents(tmp_path: Path) -> DocumentStore:
    return DocumentStore(Database(tmp_path / "store.db"))


@pytest.mark.parametrize(
    ("media_type", "line"),
    [
        ("text/plain", 3),
        (CODE, 3),
        ("text/x-markup", 3),
        ("text/markdown", None),
        ("text/csv", None),
        ("text/html", None),
    ],
)
def test_a_line_is_known_where_the_text_is_stored_as_in_its_file(
    documents: DocumentStore, media_type: str, line: int | None
) -> None:
    stored = documents.put_document(Document("a\n\nb c\n", media_type), [], []).id
    assert Places(documents).at(stored, 3) == Location(line=line)


def test_sections_within_a_span_begin_where_one_begins_or_ends(documents: DocumentStore) -> None:
    sections = (Section("A", 1, 0, 60), Section("B", 2, 10, 20), Section("C", 2, 20, 40), Section("D", 3, 25, 30))
    stored = documents.put_document(Document("x" * 80, CODE, sections=sections), [], []).id
    places = Places(documents)
    assert places.sections_in(stored, Span(10, 80)) == (
        (10, "A › C"),
        (15, "A › C › D"),
        (20, "A › C"),
        (30, "A"),
        (50, ""),
    )
    assert places.sections_in(stored, Span(10, 20)) == ()


def test_a_text_with_pages_has_no_lines(documents: DocumentStore) -> None:
    paged = Document("a\nb", "text/plain", pages=(Page(1, "i", 0, 3),))
    stored = documents.put_document(paged, [], []).id
    assert Places(documents).at(stored, 2) == Location(page=1, page_label="i")


def test_lines_are_counted_across_blocks(documents: DocumentStore) -> None:
    text = "x" * (BLOCK_CHARACTERS - 1) + "\n" + "ab\n" * BLOCK_CHARACTERS
    stored = documents.put_document(Document(text, "text/plain"), [], []).id
    for position in (0, BLOCK_CHARACTERS - 1, BLOCK_CHARACTERS, 2 * BLOCK_CHARACTERS, len(text) - 1):
        assert documents.line(stored, position) == text.count("\n", 0, position) + 1


def test_a_line_is_shown_where_there_is_no_page() -> None:
    citation = {"title": "retry.py", "section": "wait", "page": None, "page_label": None, "url": None, "path": None}
    assert reference({**citation, "line": 12}) == "retry.py, wait, line 12"
    assert place_text(citation) is None  # answers stored before there were lines
    assert place_text({**citation, "page": 3, "line": 12}) == "p. 3"


def test_the_columns_of_a_table_that_begins_above_are_known(documents: DocumentStore) -> None:
    rows = "".join(f"Buoy {number} | {number} m\n" for number in range(2_000))
    text = f"Buoys\n\nBuoy | Chain\n--- | ---\n{rows}\nThe end."
    stored = documents.put_document(Document(text, "text/html"), [], []).id
    places = Places(documents)
    assert places.at(stored, text.index("Buoy 1500")).columns == "Buoy | Chain"
    assert places.at(stored, text.index("Buoy | ")).columns is None
    assert places.at(stored, text.index("The end")).columns is None
