"""Where a document is cut into chunks."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from asky.errors import ConfigError
from asky.research.chunker import ChunkSettings, chunk_document
from asky.values import Document, Page, Section
from tests.support.embedding import FakeTokenizer

TOKENIZER = FakeTokenizer()


def document(text: str, *headings: str) -> Document:
    sections = [Section(heading, 1, text.index(heading), len(text)) for heading in headings]
    return Document(text, "text/plain", sections=tuple(sections))


def chunks(text: str, *headings: str, max_tokens: int = 20, overlap_tokens: int = 0) -> list[str]:
    made = chunk_document(document(text, *headings), TOKENIZER, ChunkSettings(max_tokens, overlap_tokens))
    assert [chunk.ordinal for chunk in made] == list(range(len(made)))
    texts = [text[chunk.span.start : chunk.span.end] for chunk in made]
    assert [chunk.tokens for chunk in made] == TOKENIZER.count(texts)
    return texts


def test_a_text_that_fits_is_one_chunk_without_the_white_space_around_it() -> None:
    assert chunks("  One is here. Two is there.\n\n") == ["One is here. Two is there."]


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_a_text_of_white_space_has_no_chunk(text: str) -> None:
    assert chunks(text) == []


def test_a_chunk_holds_as_many_whole_sentences_as_fit() -> None:
    text = "One two three four five six. " * 2 + "Alpha beta gamma delta. One more of it."
    assert chunks(text, max_tokens=19) == [
        "One two three four five six. One two three four five six. Alpha beta gamma delta.",
        "One more of it.",
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Room: B1; Note: Good day. Sleeps well.; Diet: soft", "Room: B2; Note: No lunch. Weigh him.; Diet: rich"),
        ("| B1 | Good day. Sleeps well at night. | soft |", "| B2 | No lunch. Weigh him in the morning. | rich |"),
    ],
)
def test_a_row_of_a_table_is_whole_whatever_sentences_are_in_it(one: str, other: str) -> None:
    assert chunks(f"{one}\n{other}", max_tokens=16) == [one, other]
    assert len(chunks(f"{one}\n{other}", max_tokens=40)) == 1


def test_the_next_chunk_repeats_the_last_sentences_up_to_the_overlap() -> None:
    text = "A one is here. B two is here. C three is here. D four is here. E five is here."
    assert chunks(text, max_tokens=16, overlap_tokens=5) == [
        "A one is here. B two is here. C three is here.",
        "C three is here. D four is here. E five is here.",
    ]
    assert chunks(text, max_tokens=16, overlap_tokens=4)[1] == "D four is here. E five is here."


def test_a_heading_is_with_what_follows_it_and_ends_a_chunk_that_is_half_full() -> None:
    text = "One two three four five six seven eight nine.\n# Next\nTen eleven twelve."
    assert chunks(text) == ["One two three four five six seven eight nine.", "# Next\nTen eleven twelve."]


def test_a_heading_ends_no_chunk_that_is_nearly_empty() -> None:
    text = "One two.\n# Next\nTen eleven twelve."
    assert chunks(text) == [text]


def test_a_heading_never_ends_a_chunk() -> None:
    text = "One two three four.\n# Next\nFive six seven eight nine ten eleven twelve one two three four no."
    assert chunks(text) == ["One two three four.", text[text.index("# Next") :]]


def test_a_chunk_that_begins_with_a_heading_repeats_nothing() -> None:
    text = "One two three four five six. Seven eight nine ten.\n# Next\nEleven twelve."
    assert chunks(text, overlap_tokens=8)[1] == "# Next\nEleven twelve."


def test_headings_alone_fill_chunks_too() -> None:
    text = "\n".join(f"# Heading {i}" for i in range(12))
    made = chunks(text)
    assert [line for chunk in made for line in chunk.split("\n")] == text.split("\n")


def test_the_sections_of_the_document_are_headings_without_a_mark() -> None:
    text = "One two three four five six seven eight nine ten\nNext part\nTen eleven twelve."
    assert chunks(text, "Next part") == [
        "One two three four five six seven eight nine ten",
        "Next part\nTen eleven twelve.",
    ]


def test_a_section_whose_text_does_not_begin_with_its_heading_still_ends_a_sentence() -> None:
    text = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen, fifteen sixteen"
    section = Section("Chapter 2", 1, text.index("fourteen,"), len(text))
    made = chunk_document(Document(text, "text/plain", sections=(section,)), TOKENIZER, ChunkSettings(16, 0))
    assert [text[chunk.span.start : chunk.span.end].split()[0] for chunk in made] == ["one", "fourteen,"]


def test_a_sentence_longer_than_a_chunk_is_cut_between_words() -> None:
    text = " ".join(f"word{i}" for i in range(100))
    made = chunks(text)
    assert " ".join(made) == text
    assert len(made) <= 10


def test_a_sentence_longer_than_a_chunk_is_rather_cut_at_a_line_break() -> None:
    lines = [f"row {i} of it, and more" for i in range(8)]
    made = chunks("\n".join(lines))
    assert all(chunk.startswith("row") for chunk in made)


def test_a_word_longer_than_a_chunk_is_cut_between_characters() -> None:
    made = chunks("abcdefgh" * 100)
    assert "".join(made) == "abcdefgh" * 100
    assert len(made) > 1


def test_text_that_is_few_tokens_is_cut_by_its_characters() -> None:
    class OneToken(FakeTokenizer):
        def offsets(self, text: str) -> list[tuple[int, int]]:
            return [(0, len(text))]

        def count(self, texts: Sequence[str]) -> list[int]:
            return [1] * len(texts)

    made = chunk_document(document("x" * 100_000), OneToken(), ChunkSettings(32, 0))
    assert max(len(chunk.span) for chunk in made) == 32 * 16


def test_a_cut_between_characters_keeps_marks_with_their_letter() -> None:
    text = "e\u0301" * 500
    assert all(chunk[0] == "e" and chunk[-1] == "\u0301" for chunk in chunks(text))


@pytest.mark.parametrize(("max_tokens", "overlap_tokens"), [(15, 0), (20, 11), (20, -1)])
def test_sizes_that_make_no_sense_are_refused(max_tokens: int, overlap_tokens: int) -> None:
    with pytest.raises(ConfigError):
        ChunkSettings(max_tokens, overlap_tokens)


def test_no_chunk_crosses_from_one_page_to_the_next_even_inside_a_sentence() -> None:
    pages = ["The first page begins a sentence that\f", "goes on here. And ends.\f", "Short.\f", "Last one."]
    text = "".join(pages)
    starts = [sum(map(len, pages[:number])) for number in range(len(pages))]
    spans = tuple(
        Page(number + 1, None, start, start + len(page))
        for number, (start, page) in enumerate(zip(starts, pages, strict=True))
    )
    made = chunk_document(Document(text, "application/pdf", pages=spans), TOKENIZER, ChunkSettings(40, 20))
    assert [text[chunk.span.start : chunk.span.end] for chunk in made] == [page.strip() for page in pages]


def test_what_a_chunk_repeats_counts_for_nothing_on_the_next_page() -> None:
    first = "A one is here. B two is here. C three is here. D four is here.\f"
    text = first + "One two three four five six seven eight. Nine ten eleven twelve one two three four."
    pages = (Page(1, None, 0, len(first)), Page(2, None, len(first), len(text)))
    made = chunk_document(Document(text, "application/pdf", pages=pages), TOKENIZER, ChunkSettings(16, 5))
    assert [text[each.span.start : each.span.end] for each in made] == [
        "A one is here. B two is here. C three is here.",
        "C three is here. D four is here.",
        "One two three four five six seven eight.",
        "Nine ten eleven twelve one two three four.",
    ]


def test_no_chunk_holds_both_data_about_the_document_and_its_text() -> None:
    text = "---\ntags: x\n---\nOne is here. Two is there.\n"
    body = text.index("One")
    made = chunk_document(
        Document(text, "text/markdown", sections=(Section("Properties", 0, 0, body),)), TOKENIZER, ChunkSettings(50, 20)
    )
    assert [text[each.span.start : each.span.end] for each in made] == [
        "---\ntags: x\n---",
        "One is here. Two is there.",
    ]
