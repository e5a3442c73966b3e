"""Remarks beside a text: lines that readers write, and that nobody takes for the document's own words."""

from __future__ import annotations

import pytest

from asky.evidence.verification.verify import verify_answer
from asky.research.chunker import ChunkSettings, chunk_document
from asky.text.beside.remarks import is_about_remarks, remark, remark_spans, without_remarks
from asky.values import Document
from tests.support.embedding import FakeTokenizer

RENT = "The rent of the quay is 5,150 euros a year."
NOTED = remark("Is this true? I think the rent was lowered to 3,900 euros.", author="Ada Byrne", about="5,150 euros")


def test_a_long_remark_is_several_lines_that_are_remarks_each() -> None:
    lines = remark("The rent was lowered. " * 60, author="Ada", about="the rent").split("\n")
    assert len(lines) > 1
    assert all(len(line) < 560 for line in lines)
    assert lines[0].startswith("[Comment by Ada on “the rent”: The rent was lowered.")
    assert all(line.startswith("[Comment by Ada (continued): ") for line in lines[1:])
    assert len(remark_spans("\n".join(lines))) == len(lines)


def test_without_remarks_a_text_keeps_its_offsets_and_lines() -> None:
    text = f"{RENT}\n{NOTED}\n[Comment: so]\nAfter [Comment by x: y] it.\n"
    assert without_remarks(text) == f"{RENT}\n{' ' * len(NOTED)}\n{' ' * 13}\nAfter [Comment by x: y] it.\n"


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("Which comments are there on the rent?", True),
        ("What did the reviewers say?", True),
        ("Is there feedback from Ada?", True),
        ("What do the notes in the margin say?", True),
        ("What is the rent of the quay?", False),
        ("Who recommends the quay?", False),
    ],
)
def test_a_question_asks_for_remarks_in_words(question: str, asks: bool) -> None:
    assert is_about_remarks(question) is asks


def test_a_remark_supports_what_its_author_said_and_nothing_that_the_document_says() -> None:
    def verdict(claim: str) -> str:
        return verify_answer(f"{claim} [1]", {1: f"{RENT}\n\n{NOTED}"})[0].verdict

    assert verdict(RENT) == "supported"
    assert verdict("The rent was lowered to 3,900 euros.") in ("unsupported", "contradicted")
    assert verdict("Ada Byrne comments that the rent was lowered to 3,900 euros.") == "supported"
    claims = verify_answer(f"- {NOTED} [1]", {1: f"{RENT}\n\n{NOTED}"})
    assert {each.verdict for each in claims} == {"supported"}


def test_no_chunk_begins_or_ends_within_a_remark() -> None:
    text = "\n".join(f"{RENT}\n{NOTED}" for _ in range(20))
    chunks = chunk_document(Document(text, "text/plain"), FakeTokenizer(), ChunkSettings(60, 10))
    assert len(chunks) > 1
    for start, end in remark_spans(text):
        for chunk in chunks:
            assert not start < chunk.span.start < end
            assert not start < chunk.span.end < end
