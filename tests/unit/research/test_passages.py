"""Where passages end, and reading a stored text in passages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path

import pytest

from asky.errors import UsageError
from asky.evidence.keys import KeyRing
from asky.research.excerpts.passages import MAX_PASSAGE_CHARACTERS, cut_passages, read_passages
from asky.storage.corpus import CorpusStore
from asky.storage.database import Database
from asky.storage.documents import DocumentStore
from asky.values import Document, Evidence, Page, Section, Source, source_id

SENTENCE = "The tide at gauge {:05d} rises twice a day and falls again. "  # 59 characters
PROSE = "".join(SENTENCE.format(number) for number in range(600))


def cut(text: str, *edges: int, max_chars: int = 60) -> list[str]:
    return [text[each.start : each.end] for each in cut_passages(text, edges, max_chars=max_chars)]


def test_a_passage_ends_with_a_paragraph_where_one_ends_in_its_second_half() -> None:
    text = "One sentence of the first. Another one there.\n\nA second. It goes on and on for long."
    assert cut(text) == ["One sentence of the first. Another one there.", "A second. It goes on and on for long."]


def test_a_paragraph_that_ends_early_does_not_end_a_passage() -> None:
    text = "Short.\n\nA sentence that is longer. And another one. The last of them all goes here."
    assert cut(text) == ["Short.\n\nA sentence that is longer. And another one.", "The last of them all goes here."]


def test_a_sentence_that_is_longer_than_a_passage_is_cut_between_words() -> None:
    assert cut("seven words " * 10, max_chars=50) == ["seven words seven words seven words seven words"] * 2 + [
        "seven words seven words"
    ]


def test_a_word_that_is_longer_than_a_passage_is_cut_between_characters() -> None:
    assert cut("x" * 150) == ["x" * 60, "x" * 60, "x" * 30]


def test_a_passage_ends_where_its_page_does_even_inside_a_sentence() -> None:
    text = "The mill was rebuilt by the miller's widow."
    assert cut(text, 21) == ["The mill was rebuilt", "by the miller's widow."]


class Library:
    """A store with one source of a known text."""

    def __init__(self, folder: Path) -> None:
        self.database = Database(folder / "asky.db")
        self.documents = DocumentStore(self.database)
        self.corpus = CorpusStore(self.database, self.documents)
        self.keys = KeyRing("run")
        self.source = Source(source_id("file:///tides"), "file", "file:///tides", "Tides")
        self.document_id = 0

    def add(self, text: str, *, pages: tuple[Page, ...] = (), sections: tuple[Section, ...] = ()) -> None:
        document = Document(text, "application/pdf", None, sections, pages)
        self.document_id = self.documents.put_document(document, [], []).id

    def read(self, start: int = 0, *, budget: int = 6000, limit: int = 12) -> tuple[list[Evidence], int | None]:
        return read_passages(
            self.source, self.document_id, start, self.documents, self.keys, budget=budget, fitting=fitting, limit=limit
        )

    def read_all(self, **limits: int) -> list[Evidence]:
        found, rest = self.read(**limits)
        while rest is not None:
            more, rest = self.read(rest, **limits)
            found += more
        return found


def fitting(texts: Sequence[str], budget: int) -> int:
    return sum(spent <= budget for spent in accumulate(map(tokens, texts)))


def tokens(text: str) -> int:
    return len(text.split())


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    opened = Library(tmp_path)
    yield opened
    opened.database.close()


def test_every_passage_that_is_read_has_its_own_key_and_exact_place(library: Library) -> None:
    library.add(PROSE)
    found, rest = library.read()
    assert len(found) == len({each.key for each in found}) == 12
    for each in found:
        assert PROSE[each.span.start : each.span.end] == each.text
        assert each.text.startswith("The tide")
        assert each.text.endswith("again.")
        assert len(each.text) <= MAX_PASSAGE_CHARACTERS
        assert each.sha256 == Document(PROSE, "text/plain").sha256
    assert rest == found[-1].span.end


@pytest.mark.parametrize("limits", [{}, {"budget": 1000}, {"budget": 100}, {"limit": 1}])
def test_reading_on_from_where_it_ended_gives_the_whole_text_without_a_gap(
    library: Library, limits: dict[str, int]
) -> None:
    library.add("\n\n" + PROSE + "\n")
    found = library.read_all(**limits)
    assert " ".join(each.text for each in found) == PROSE.strip()
    assert len({each.key for each in found}) == len(found)


def test_passages_stay_within_the_budget_together(library: Library) -> None:
    library.add(PROSE)
    found, rest = library.read(budget=1000)
    assert 600 < sum(tokens(each.text) for each in found) <= 1000
    assert rest is not None


def test_a_budget_that_is_smaller_than_a_passage_gives_a_shorter_one(library: Library) -> None:
    library.add(PROSE)
    found, _ = library.read(budget=100)
    assert 50 < sum(tokens(each.text) for each in found) <= 100
    assert all(each.text.endswith("again.") for each in found)


def test_no_passage_crosses_a_page_and_each_says_its_page_and_section(library: Library) -> None:
    first, second = "Heads\n" + "One page of prose here. " * 20, "The other page has more prose. " * 20
    text = first + second
    pages = (Page(1, "i", 0, len(first)), Page(2, "ii", len(first), len(text)))
    library.add(text, pages=pages, sections=(Section("Heads", 1, 0, len(text)),))
    found, rest = library.read()
    assert [(each.location.page, each.location.page_label) for each in found] == [(1, "i"), (2, "ii")]
    assert [each.location.section for each in found] == ["Heads", "Heads"]
    assert found[1].text == second.strip()
    assert rest is None


def test_text_with_many_characters_a_token_is_not_cut_inside_a_sentence(library: Library) -> None:
    row = "|" + " " * 117 + "|\n"
    library.add(row * 2000)
    found, rest = library.read(budget=100)
    assert rest is not None
    assert all(each.text.endswith("|") and len(each.text) % len(row) == len(row) - 1 for each in found)


def test_a_start_behind_the_text_is_refused(library: Library) -> None:
    library.add("Some words.\n\n")
    for start in (11, 13, 10**30):
        with pytest.raises(UsageError, match="nothing to read"):
            library.read(start)
