"""Summaries that a model writes: what it is shown of a paper, and what its checked answer becomes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from asky.errors import NotEnoughEvidence
from asky.papers.references import cited_by_page
from asky.papers.summaries import PaperSummary, SummaryPassage, summary_head
from asky.research.excerpts.locations import location_of
from asky.research.excerpts.overview import overview_spans
from asky.values import Hit, Span

if TYPE_CHECKING:
    from asky.storage.papers import Paper
    from asky.values import Answer, Document

SUMMARY_QUESTION = (
    'Summarise the paper "{title}": the problem, the method, the data, the findings, the limits and the conclusion, as'
    " far as the passages say so, in at most 300 words."
)
_MAX_PASSAGES = 15
_OPENING_CHARS = 600
_MIN_CHARS = 40
_FIRST_HEADING = re.compile(r"\A\s*#{1,6} [^\n]*\n+")


def summary_hits(paper: Paper, document: Document, document_id: int) -> list[Hit]:
    """Return the passages that tell a paper as a whole: abstract, introduction, conclusion, then openings of sections.

    They are at most 15, disjoint, and each lies on one page.
    """
    text = document.text

    def read(span: Span) -> str:
        return text[span.start : span.end]

    spans = overview_spans(("summary",), read, len(text), document.sections, document.pages)
    for opening in _openings(document):
        if not any(opening.start < each.end and each.start < opening.end for each in spans):
            spans.append(opening)
    return [
        Hit(
            rank,
            0.0,
            None,
            None,
            paper.source,
            document_id,
            -rank,
            span,
            read(span),
            location_of(document.sections, document.pages, span.start),
        )
        for rank, span in enumerate(spans[:_MAX_PASSAGES], start=1)
    ]


def _openings(document: Document) -> Iterator[Span]:
    """Yield the beginning of each section, up to the end of its page, without white space around it."""
    for section in document.sections:
        page_end = next((each.end for each in document.pages if each.start <= section.start < each.end), section.end)
        end = min(section.end, section.start + _OPENING_CHARS, page_end)
        part = document.text[section.start : end]
        start = section.start + len(part) - len(part.lstrip())
        if len(part.strip()) >= _MIN_CHARS:
            yield Span(start, start + len(part.strip()))


def written_summary(paper: Paper, answer: Answer) -> PaperSummary:
    """Return the summary in an answer about `summary_hits`, with the pages that it cites in place of its markers.

    Raises `NotEnoughEvidence` if it cites nothing.
    """
    if not answer.citations:
        raise NotEnoughEvidence(
            f"the summary by {answer.model} cites nothing: the old one stays",
            hint=f"`asky runs show {answer.run}` shows it",
        )
    told = _FIRST_HEADING.sub("", cited_by_page(answer)).strip()
    return PaperSummary(f"{summary_head(paper, answer.model)}{told}\n", answer.model, tuple(_passages(answer)))


def _passages(answer: Answer) -> Sequence[SummaryPassage]:
    found = []
    for each in sorted(answer.citations, key=lambda citation: citation.span.start):
        place = each.location
        page = place.page_label or (str(place.page) if place.page is not None else None)
        found.append(SummaryPassage(each.span.start, each.span.end, page))
    return found
