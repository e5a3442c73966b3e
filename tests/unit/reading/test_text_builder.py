from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from asky.reading.text_builder import Heading, TextBuilder, nest
from tests.support.files import check_document


def test_a_section_lasts_to_the_next_heading_of_its_level_or_above() -> None:
    headings = [Heading(0, 1, "a"), Heading(10, 3, "b"), Heading(20, 2, "c"), Heading(30, 1, "d")]
    assert [(s.heading, s.start, s.end) for s in nest(headings, 40)] == [
        ("a", 0, 30),
        ("b", 10, 20),
        ("c", 20, 30),
        ("d", 30, 40),
    ]


def test_a_heading_without_text_ends_a_section_and_is_none() -> None:
    assert [(s.heading, s.end) for s in nest([Heading(0, 1, "a"), Heading(5, 1, " ")], 9)] == [("a", 5)]


@given(st.lists(st.tuples(st.sampled_from(["text", "heading", "page"]), st.text(), st.integers(1, 6)), max_size=20))
def test_whatever_is_added_the_document_is_sound(steps: list[tuple[str, str, int]]) -> None:
    builder = TextBuilder()
    builder.start_page(None)
    builder.add("first")
    for kind, text, level in steps:
        if kind == "page":
            builder.start_page(text)
        elif kind == "heading":
            builder.mark_heading(text, level)
        else:
            builder.add(text)
    document = builder.build("text/plain", title="\x1b t\n", metadata={"a": "", "b": None, "c": "d\n"})
    check_document(document)
    assert len(document.text) == len(builder)
    invisible = {"invisible_characters": str(builder.invisible)} if builder.invisible else {}
    assert (document.title, document.metadata) == ("t", {"c": "d"} | invisible)
