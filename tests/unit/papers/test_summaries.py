"""Summaries of papers: every paragraph says its page, and the passages behind it are known."""

from __future__ import annotations

import anyio

from asky.evidence.passages import parse_passages
from asky.llm.extractive.model import ExtractiveModel
from asky.papers.summaries import read_summary, summarize, summary_document
from asky.storage.papers import Paper
from asky.values import Document, Page, Section, Source

ABSTRACT = "Abstract\n\nThe moon raises two tides a day. We measured the water at nine harbours for forty years.\n\f"
CONCLUSION = (
    "Conclusion\n\nWe found that the sun strengthens or weakens the tides by a third. More harbours are needed.\n"
)
TEXT = ABSTRACT + CONCLUSION
DOCUMENT = Document(
    TEXT,
    "application/pdf",
    "On tides",
    (Section("Abstract", 1, 0, len(ABSTRACT)), Section("Conclusion", 1, len(ABSTRACT), len(TEXT))),
    (Page(1, "iv", 0, len(ABSTRACT)), Page(2, None, len(ABSTRACT), len(TEXT))),
)
PAPER = Paper("2101.00001", 2, None, None, "complete", Source("s1", "file", "paper:2101.00001", "On tides"))


def test_paragraphs_of_several_pages_say_each_its_own() -> None:
    model = ExtractiveModel(read_passages=parse_passages)
    made = anyio.run(summarize, model, PAPER, DOCUMENT, 1)
    assert made.text == (
        "# On tides\n\n- Paper id: 2101.00001v2\n- Summary: quoted from the paper, without a model\n\n"
        "The moon raises two tides a day. We measured the water at nine harbours for forty years."
        " [2101.00001v2, page iv]\n\nWe found that the sun strengthens or weakens the tides by a third."
        " More harbours are needed. [2101.00001v2, page 2]\n"
    )
    quoted = [TEXT[each.start : each.end] for each in made.passages]
    assert [each.page for each in made.passages] == ["iv", "2"]
    assert ("two tides" in quoted[0], "by a third" in quoted[1]) == (True, True)
    assert read_summary(summary_document(PAPER, made)) == made


def test_a_text_without_sentences_has_an_empty_summary() -> None:
    model = ExtractiveModel(read_passages=parse_passages)
    made = anyio.run(summarize, model, PAPER, Document("", "application/pdf"), 1)
    assert made.passages == ()
    assert made.text.endswith("\n\nNo sentence of the paper sums it up.\n")
