from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from asky.reading.text_builder import Heading, nest
from asky.research.corpus.cutting import contexts_of
from asky.research.excerpts.locations import SEPARATOR
from asky.research.index.embed_chunks import embedding_text
from asky.values import Chunk, Document, Section, Span
from tests.support.embedding import FakeTokenizer
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


def test_words_of_the_name_follow_on_a_line_that_is_not_embedded() -> None:
    document = Document("x" * 70, "text/plain", "Tides")
    assert contexts_of(document, chunks_at(0), "retry courier") == ["Tides\nretry courier"]
    assert contexts_of(Document("x" * 70, "text/plain"), chunks_at(0), "retry") == ["\nretry"]
    assert embedding_text("Tides\nretry courier", "The text.", FakeTokenizer()) == "Tides\nThe text."
    assert embedding_text("\nretry", "The text.", FakeTokenizer()) == "The text."


def test_contexts_take_time_for_each_section_once() -> None:
    def make(count: int) -> None:
        sections = tuple(Section(f"Head {at}", 2, at * 10, at * 10 + 10) for at in range(count))
        document = Document("x" * 10 * count, "text/html", "T", sections)
        contexts = contexts_of(document, chunks_at(*range(0, 10 * count, 100)))
        assert contexts[-1] == f"T{SEPARATOR}Head {count - 10}"

    check_linear(make, 3_000)


def test_what_is_known_of_a_section_is_found_in_all_its_chunks_and_not_embedded() -> None:
    mail = {"from": "Ada Byrne <ada@x.test>", "date": "2026-05-03T09:00:00+02:00", "thread": "<1@x.test>", "to": "Bob"}
    document = Document("x" * 70, "message/rfc822", None, (Section("Dock", 1, 10, 40, mail), Section("Pay", 1, 40, 70)))
    told = "Dock\nbox Ada Byrne <ada@x.test> 2026-05-03 3 May 2026 <1@x.test>"
    assert contexts_of(document, chunks_at(0, 10, 30, 40), "box") == ["\nbox", told, told, "Pay\nbox"]
    assert embedding_text(told, "The text.", FakeTokenizer()) == "Dock\nThe text."
