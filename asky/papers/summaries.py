"""Summaries of papers: sentences of its abstract, introduction and conclusion, each paragraph with its page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from asky.evidence.keys import KEY, KeyRing
from asky.evidence.paper_names import PAPER_URI
from asky.evidence.passages import new_marker, render_passages
from asky.llm.port import ChatModel, Message, TextDelta, ToolCall
from asky.research.excerpts.locations import location_of
from asky.research.excerpts.overview import overview_spans
from asky.storage.papers import Paper
from asky.values import Document, Evidence, Section, Source, source_id

SUMMARIES = "paper summaries"
"""The collection with the summaries of all papers."""

EXTRACTIVE = "extractive"
"""What a summary is made by if it only quotes the paper."""

_QUESTION = "Summarise this paper."
_CALL = "overview"
_RETRIEVAL_TOOL = "get_relevant_content"
_CITED = re.compile(rf" ?\[(?P<key>{KEY.pattern})\]")
_NOTHING = "No sentence of the paper sums it up."
_MEDIA_TYPE = "text/markdown"


@dataclass(frozen=True, slots=True)
class SummaryPassage:
    """Characters `[start, end)` of a paper's text on which its summary rests, and their page."""

    start: int
    end: int
    page: str | None


@dataclass(frozen=True, slots=True)
class PaperSummary:
    """A summary as Markdown, what it was made by, and the passages that it rests on, in order of the text."""

    text: str
    made_by: str
    passages: tuple[SummaryPassage, ...]


async def summarize(model: ChatModel, paper: Paper, document: Document, document_id: int) -> PaperSummary:
    """Return what `model`, which quotes, makes of the parts of a paper that tell it as a whole.

    Every paragraph ends in the page that it is from, as in `[2005.11401v4, page 5]`. Raises what `ChatModel.stream`
    raises.
    """
    evidence = _evidence(paper, document, document_id)
    shown = render_passages(evidence, marker=new_marker())
    messages = [
        Message("user", _QUESTION),
        Message("assistant", "", (ToolCall(_CALL, _RETRIEVAL_TOOL, "{}"),)),
        Message("tool", shown, tool_call_id=_CALL),
    ]
    pieces = [piece.text async for piece in model.stream(messages, ()) if isinstance(piece, TextDelta)]
    written = "".join(pieces).strip()
    by_key = {each.key: each for each in evidence}
    used = [by_key[key] for key in dict.fromkeys(KEY.findall(written)) if key in by_key]
    told = _with_pages(written, by_key, paper) if used else _NOTHING
    return PaperSummary(
        f"{summary_head(paper, EXTRACTIVE)}{told}\n",
        EXTRACTIVE,
        tuple(
            SummaryPassage(each.span.start, each.span.end, _page(each))
            for each in sorted(used, key=lambda each: each.span.start)
        ),
    )


def summary_source(paper: Paper, path: str) -> Source:
    """Return the source of a paper's summary, a Markdown file at `path`, as private as the paper."""
    uri = f"{PAPER_URI}{paper.id}#summary"
    source = paper.source
    return Source(
        source_id(uri),
        source.kind,
        uri,
        source.title,
        url=source.url,
        path=path,
        authors=source.authors,
        published=source.published,
        doi=source.doi,
    )


def summary_document(paper: Paper, summary: PaperSummary) -> Document:
    """Return a summary as a document; its metadata says what it was made by and which passages it rests on.

    The facts at its head are a section of their own: they share no chunk with its sentences.
    """
    passages = " ".join(f"{each.start}-{each.end}:{each.page or ''}" for each in summary.passages)
    facts: Mapping[str, str] = {
        "author": "; ".join(paper.source.authors),
        "published": paper.source.published or "",
        "summary_by": summary.made_by,
        "rests_on": passages,
    }
    title, begin = paper.source.title, summary.text.find("\n\n", summary.text.find("\n- ")) + 2
    sections = (Section(title, 0, 0, begin), Section(title, 1, begin, len(summary.text)))
    return Document(summary.text, _MEDIA_TYPE, title, sections, metadata={k: v for k, v in facts.items() if v})


def read_summary(document: Document) -> PaperSummary:
    """Return the summary in a document that `summary_document` made."""
    facts = document.metadata
    return PaperSummary(document.text, facts.get("summary_by", EXTRACTIVE), tuple(_passages(facts.get("rests_on", ""))))


def _evidence(paper: Paper, document: Document, document_id: int) -> list[Evidence]:
    """Return the passages that tell a paper as a whole, most important first."""
    text, keys = document.text, KeyRing(paper.name)
    spans = overview_spans(
        ("summary",), lambda span: text[span.start : span.end], len(text), document.sections, document.pages
    )
    sha256 = document.sha256
    return [
        Evidence(
            keys.key_for(sha256, span),
            paper.source,
            document_id,
            sha256,
            span,
            text[span.start : span.end],
            location_of(document.sections, document.pages, span.start),
        )
        for span in spans
    ]


def summary_head(paper: Paper, made_by: str) -> str:
    """Return what stands above a summary: the facts about the paper, and what the summary was made by."""
    source = paper.source
    facts = {
        "Paper id": paper.name,
        "Authors": ", ".join(source.authors),
        "Published": source.published or "",
        "Summary": "quoted from the paper, without a model"
        if made_by == EXTRACTIVE
        else f"written by {made_by} from the passages that it cites",
    }
    return f"# {source.title}\n\n" + "".join(f"- {name}: {value}\n" for name, value in facts.items() if value) + "\n"


def _with_pages(text: str, by_key: Mapping[str, Evidence], paper: Paper) -> str:
    """Return `text` with pages in place of keys; of several in a row with one page the last stays."""

    def page(key: str) -> str:
        place = _page(by_key[key]) if key in by_key else None
        return f" [{paper.name}, page {place}]" if place else f" [{paper.name}]"

    made, last = "", ""
    pieces = _CITED.split(text)  # text, key, text, key, ...
    for piece, key in zip(pieces[::2], [*pieces[1::2], ""], strict=True):
        mark = page(key) if key else ""
        if last and (mark != last or "\n" in piece):  # another page begins another paragraph
            made, piece = f"{made}{last}\n\n", piece.lstrip()
        made += piece
        last = mark
    return (made + last).rstrip()


def _page(evidence: Evidence) -> str | None:
    place = evidence.location
    return place.page_label or (str(place.page) if place.page is not None else None)


def _passages(text: str) -> Iterable[SummaryPassage]:
    for each in text.split():
        span, _, page = each.partition(":")
        start, _, end = span.partition("-")
        yield SummaryPassage(int(start), int(end), page or None)
