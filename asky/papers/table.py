"""A table of papers: a row for each, and in each cell what it says about a column, with its words and their page."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from asky.concurrency import error_of, failure, in_thread
from asky.errors import AskyError, UsageError
from asky.events import StageAdvanced, StageFinished, StageStarted
from asky.evidence.answer import answer_json
from asky.evidence.excerpts import closest_sentence
from asky.evidence.keys import KEY, KeyRing
from asky.evidence.marks import without_marks
from asky.evidence.passages import new_marker, render_passages
from asky.evidence.plain_text import plain_text
from asky.evidence.quotes import find_quote
from asky.evidence.verification.claim_reader import ClaimReader
from asky.evidence.verification.verify import verify_claim
from asky.llm.port import Message, TextDelta, ToolCall, is_abstention
from asky.research.excerpts.locations import Places
from asky.research.excerpts.overview import overview_spans
from asky.research.excerpts.passages import interleave, join_hits
from asky.research.tool_specs import GET_RELEVANT_CONTENT
from asky.text.counting import counted
from asky.text.document_questions import TOLD_BY_ALL, read_document_question
from asky.text.scrub import one_line
from asky.text.sentences import sentence_spans
from asky.values import Evidence, Failure, Span, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from asky.events import Listener
    from asky.llm.port import ChatModel
    from asky.papers.catalog import PaperCatalog, PaperHit
    from asky.storage.documents import DocumentStore
    from asky.storage.papers import Paper
    from asky.values import Answer

MAX_COLUMNS = 12
MAX_COLUMN_CHARS = 100
MAX_PAPERS = 20
"""The number of rows if the papers are not named."""

_PASSAGES = 4  # for each cell
_MAX_PASSAGES = 15  # for each row that a model fills
_CALL = "content"
_STAGE = "table"
_KEYED = re.compile(rf"\[({KEY.pattern})\]")
_OWN = re.compile(
    r"\b(?:we|us|our|this (?:paper|work|study|article|letter|survey|thesis)|the authors?)\b", re.IGNORECASE
)
"""What a sentence has in which a paper speaks of itself: others say what is known, or stand in its first lines."""

_NUMBER = re.compile(r"\[(\d+)\]")
_NOTHING = frozenset({"", "-", "–", "—", "n/a", "na", "none", "not stated", "not mentioned", "not reported", "unknown"})
_QUESTIONS: Mapping[str, str] = MappingProxyType(
    {
        "method": "What method does this paper propose?",
        "approach": "What method does this paper propose?",
        "dataset": "Which datasets does this paper use?",
        "data": "Which datasets does this paper use?",
        "benchmark": "Which datasets does this paper use?",
        "finding": "What are the main findings of this paper?",
        "result": "What are the main findings of this paper?",
        "conclusion": "What does this paper conclude?",
        "problem": "What problem does this paper solve?",
        "limitation": "What are the limitations of this paper?",
        "funding": "Who funded this work?",
        "licence": "Under which licence is this paper?",
        "license": "Under which licence is this paper?",
        "code": "Is the code of this paper available?",
        "future work": "What future work does this paper name?",
        "n": "How many participants or samples were there?",
        "sample": "How many participants or samples were there?",
        "sample size": "How many participants or samples were there?",
        "participant": "How many participants were there?",
    }
)
"""The questions of columns that papers answer in places of their own."""


@dataclass(frozen=True, slots=True)
class CellQuote:
    """Words of a paper behind a cell: characters `[start, end)` of its text, whose hash is `sha256`, and their page."""

    text: str
    page: int | None
    page_label: str | None
    start: int
    end: int
    sha256: str


@dataclass(frozen=True, slots=True)
class TableCell:
    """What a paper says about a column; `text` is `None` if nothing was found.

    Without a model, `text` is the quotation itself. With one, it is the model's, and `verdict` says whether the
    passages that it cites support it.
    """

    text: str | None = None
    quotes: tuple[CellQuote, ...] = ()
    verdict: Verdict | None = None


@dataclass(frozen=True, slots=True)
class TableRow:
    """A paper with its cells in the order of the columns; `run` filled them with a model, unless it had a `failure`."""

    paper: Paper
    cells: tuple[TableCell, ...]
    run: str | None = None
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class FilledTable:
    """A table. `model` filled its cells; `left_out` papers had no room."""

    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]
    model: str
    left_out: int = 0


def raise_if_all_failed(rows: Sequence[TableRow]) -> None:
    """Raise the error of the first row if every row has one."""
    if rows and all(each.failure is not None for each in rows):
        first = rows[0].failure
        assert first is not None
        raise error_of(first)


def read_columns(text: str) -> tuple[str, ...]:
    """Return the columns in a list with commas.

    Raises `UsageError` without columns, for more than 12, a very long one, and one that stands there twice.
    """
    columns = tuple(filter(None, (one_line(each, None) for each in text.split(","))))
    hint = 'for example: --columns "method,dataset,n"'
    if not columns:
        raise UsageError("no columns are named", hint=hint)
    if len(columns) > MAX_COLUMNS:
        raise UsageError(f"{len(columns)} columns: at most {MAX_COLUMNS}", hint="ask for two tables")
    for each in columns:
        if len(each) > MAX_COLUMN_CHARS:
            raise UsageError(f"a column is longer than {MAX_COLUMN_CHARS} characters: {each[:40]}...", hint=hint)
        if [column.casefold() for column in columns].count(each.casefold()) > 1:
            raise UsageError(f"the column {each!r} is named twice", hint=hint)
    return columns


def column_question(column: str) -> str:
    """Return the question that a column asks each paper: itself if it is one."""
    name = column.casefold()
    known = _QUESTIONS.get(name) or _QUESTIONS.get(name.removesuffix("s"))
    return known or (column if column.endswith("?") else f"What is the {column}?")


class TableMaker:
    """Fills tables from the papers of `catalog`. `reader` reads what a model writes beside the rules."""

    def __init__(
        self,
        catalog: PaperCatalog,
        documents: DocumentStore,
        listener: Listener,
        reader: ClaimReader | None = None,
    ) -> None:
        self._catalog = catalog
        self._documents = documents
        self._listener = listener
        self._reader = reader

    async def quoted(self, columns: Sequence[str], papers: Sequence[Paper], model: ChatModel) -> list[TableRow]:
        """Return a row for each paper with sentences that `model`, which quotes, finds for each column."""

        async def row(paper: Paper) -> TableRow:
            return TableRow(paper, tuple([await self._quoted_cell(column, paper, model) for column in columns]))

        return await self._rows(papers, row)

    async def written(
        self,
        columns: Sequence[str],
        papers: Sequence[Paper],
        answer: Callable[[str, Sequence[PaperHit]], Any],
    ) -> list[TableRow]:
        """Return a row for each paper from what a model writes about it, checked against the passages that it cites.

        `answer` is awaited for the answer to a question from given passages; it is not called for a paper without any.
        """

        async def row(paper: Paper) -> TableRow:
            about = paper.source.title  # its abstract is a passage that says most of it
            hits = await self._hits([*map(column_question, columns), about], paper)
            nothing = TableRow(paper, tuple(TableCell() for _ in columns))
            if not hits:
                return nothing
            try:
                written: Answer = await answer(_instruction(columns), hits[:_MAX_PASSAGES])
            except AskyError as error:
                return TableRow(paper, nothing.cells, failure=failure(error, paper.name))
            return TableRow(paper, await in_thread(read_cells, columns, written, self._reader), written.run)

        return await self._rows(papers, row)

    async def _rows(self, papers: Sequence[Paper], row: Callable[[Paper], Any]) -> list[TableRow]:
        started, rows = time.monotonic(), list[TableRow]()
        self._listener(StageStarted(_STAGE, len(papers)))
        for number, paper in enumerate(papers, start=1):
            rows.append(await row(paper))
            self._listener(StageAdvanced(_STAGE, number, len(papers)))
        self._listener(StageFinished(_STAGE, time.monotonic() - started, counted(len(papers), "paper")))
        return rows

    async def _hits(self, queries: Sequence[str], paper: Paper) -> list[PaperHit]:
        search = self._catalog.search_content_index_filtered
        found = [await search(query, [paper.id], k=_PASSAGES) for query in queries]
        by_chunk = {each.hit.chunk_id: each for ranking in found for each in ranking}
        return [by_chunk[each.chunk_id] for each in interleave([[hit.hit for hit in ranking] for ranking in found])]

    async def _quoted_cell(self, column: str, paper: Paper, model: ChatModel) -> TableCell:
        question = column_question(column)
        hits = await self._hits([question], paper)
        evidence = await in_thread(self._evidence, question, paper, hits)
        if not evidence:
            return TableCell()
        messages = [
            Message("user", question),
            Message("assistant", "", (ToolCall(_CALL, GET_RELEVANT_CONTENT.name, "{}"),)),
            Message("tool", render_passages(evidence, marker=new_marker()), tool_call_id=_CALL),
        ]
        reply = "".join([piece.text async for piece in model.stream(messages, ()) if isinstance(piece, TextDelta)])
        if is_abstention(reply):
            return TableCell()
        by_key, asked = {each.key: each for each in evidence}, read_document_question(question)
        must_be_own = asked is not None and not TOLD_BY_ALL.isdisjoint(asked.aspects)
        for quoted, key in zip(*[iter(_KEYED.split(reply)[:-1])] * 2, strict=True):  # text, key, text, key, ...
            if key in by_key and (not must_be_own or _OWN.search(quoted)):
                return await in_thread(self._cell, quoted, by_key[key])
        return TableCell()

    def _cell(self, quoted: str, passage: Evidence) -> TableCell:
        words = plain_text(quoted).strip().lstrip("-*• ")
        span = find_quote(words, passage.text) or closest_sentence(passage.text, words)
        if span is None:
            return TableCell()
        begin = passage.span.start + span.start
        place = Places(self._documents).at(passage.document_id, begin)
        text = " ".join(passage.text[span.start : span.end].split())
        end = passage.span.start + span.end
        return TableCell(
            text, (CellQuote(text, place.page, place.page_label, begin, end, passage.sha256),), "supported"
        )

    def _evidence(self, question: str, paper: Paper, hits: Sequence[PaperHit]) -> list[Evidence]:
        """Return the passages for a question: of the parts of a paper that answer it, and of the hits."""
        keys = KeyRing(paper.name)
        found = join_hits([each.hit for each in hits], self._documents, keys, limit=_PASSAGES)
        asked = read_document_question(question)
        document_id = self._catalog.document_of(paper) if asked is not None else None
        if asked is None or document_id is None:
            return found
        text, (sections, pages) = self._documents.text(document_id), self._documents.structure(document_id)
        sha256, places = self._documents.digest(document_id)[0], Places(self._documents)

        def read(span: Span) -> str:
            return text[span.start : span.end]

        spans = overview_spans(asked.aspects, read, len(text), sections, pages)
        parts = [
            Evidence(
                keys.key_for(sha256, span), paper.source, document_id, sha256, span, read(span),
                places.at(document_id, span.start),
            )
            for span in spans
        ]  # fmt: skip
        taken = {each.key for each in parts}
        return parts + [each for each in found if each.key not in taken]


def _instruction(columns: Sequence[str]) -> str:
    asked = "; ".join(f"{each} ({column_question(each)})" for each in columns)
    return (
        f"Fill in one row of a table from this paper. Its columns: {asked}. Write one list item for each column, as"
        ' "- COLUMN: VALUE [key]", with a value of a few words, and no heading. Leave out a column that the passages'
        " say nothing about."
    )


def read_cells(columns: Sequence[str], answer: Answer, reader: ClaimReader | None = None) -> tuple[TableCell, ...]:
    """Return the cells that a model wrote as the list items of an answer, each checked against what it cites."""
    written = answer_json(answer)
    cited = {each["n"]: each for each in written["citations"]}
    lines = [plain_line.partition(":") for plain_line in without_marks(answer.text).split("\n")]
    values = {name.strip(" -*•`_#").casefold(): value for name, colon, value in lines if colon}
    return tuple(_read_cell(values.get(each.casefold(), ""), cited, reader) for each in columns)


def _read_cell(value: str, cited: Mapping[int, Mapping[str, Any]], reader: ClaimReader | None) -> TableCell:
    text = one_line(plain_text(_NUMBER.sub("", value)), None).strip(" *_")
    if text.rstrip(".").casefold() in _NOTHING:
        return TableCell()
    citations = [cited[int(n)] for n in dict.fromkeys(_NUMBER.findall(value)) if int(n) in cited]
    check = verify_claim(text, [each["quote"] for each in citations], reader=reader)
    return TableCell(text, tuple(_quote(each, text) for each in citations), check.verdict)


def _quote(citation: Mapping[str, Any], text: str) -> CellQuote:
    passage = citation["quote"]
    found = find_quote(text, passage)
    holding = (each for each in sentence_spans(passage) if found is not None and each.start <= found.start < each.end)
    span = next(holding, None) or closest_sentence(passage, text) or Span(0, len(passage))
    return CellQuote(
        " ".join(passage[span.start : span.end].split()),
        citation["page"],
        citation["page_label"],
        citation["start"] + span.start,
        citation["start"] + span.end,
        citation["sha256"],
    )
