from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.reading.text_builder import Heading, nest
from asky.research.corpus.ingest import contexts_of, name_words
from asky.research.locations import SEPARATOR
from asky.values import Chunk, Document, Section, Span
from tests.support.timing import check_linear


def chunks_at(*starts: int) -> list[Chunk]:
    return [Chunk(ordinal, Span(start, start + 5), 1) for ordinal, start in enumerate(starts)]


def expected(document: Document, chunk: Chunk) -> str:
    """The plain definition: every section for every chunk."""
    path = [document.title] if document.title else []
    for section in document.sections:
        if section.start <= chunk.span.start < section.end and section.heading not in path:
            path.append(section.heading)
    return SEPARATOR.join(path)


@given(
    st.lists(st.tuples(st.integers(0, 60), st.integers(1, 4), st.sampled_from("abcd"))),
    st.lists(st.integers(0, 60)),
    st.sampled_from([None, "a", "T"]),
)
def test_the_context_of_a_chunk_is_the_title_and_the_headings_above_it(
    headings: list[tuple[int, int, str]], starts: list[int], title: str | None
) -> None:
    sections = nest([Heading(*each) for each in sorted(headings)], 70)
    document = Document("x" * 70, "text/plain", title, sections)
    chunks = chunks_at(*sorted(starts))
    assert contexts_of(document, chunks) == [expected(document, chunk) for chunk in chunks]


def test_contexts_take_time_for_each_section_once() -> None:
    def make(count: int) -> None:
        sections = tuple(Section(f"Head {at}", 2, at * 10, at * 10 + 10) for at in range(count))
        document = Document("x" * 10 * count, "text/html", "T", sections)
        contexts = contexts_of(document, chunks_at(*range(0, 10 * count, 100)))
        assert contexts[-1] == f"T{SEPARATOR}Head {count - 10}"

    check_linear(make, 3_000)


@pytest.mark.parametrize(
    ("name", "title", "words"),
    [
        ("api-ip-addresses.md", None, "api ip addresses"),
        ("courier/retry.py", None, "courier retry"),
        ("docs/api/ip-addresses.md", "IP addresses", "docs api"),
        ("a/b/c/retryDelay_ms.py", None, "b c retry Delay ms"),
        ("01-intro.md", "Intro", ""),
        ("2024/notes.txt", None, "2024 notes"),
        ("Tides.md", "Tides", ""),
        ("", None, ""),
        ("README", None, "README"),
        ("潮汐.md", None, "潮汐"),
        ("x" * 255 + ".md", None, "x" * 120),
    ],
)
def test_the_words_of_names_that_the_title_lacks(name: str, title: str | None, words: str) -> None:
    assert name_words(name, title) == words


def test_the_words_of_the_name_come_before_the_title() -> None:
    document = Document("text", "text/plain", title="Addresses")
    (context,) = contexts_of(document, chunks_at(0), name_words("api/ip.md", document.title))
    assert context == f"api ip{SEPARATOR}Addresses"
