"""The statements of a text that was written elsewhere, each with what it cites."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from asky.evidence.plain_text import plain_text, without_links
from asky.evidence.references.cited import CitedReference, CitedText, read_citations
from asky.evidence.references.tables import cells_by_row
from asky.evidence.verification.claims import ClaimDraft, split_claims
from asky.text.terms import words
from asky.values import Span

_WIKILINK = re.compile(r"\[\[[^\[\]\n]{1,500}\]\]")


@dataclass(frozen=True, slots=True)
class CitedStatement:
    """A sentence, or a cell of a table, at `span` of the original; `text` is what it says, without markup.

    `written` is the part of the original, with its links and addresses.
    """

    span: Span
    text: str
    written: str
    references: tuple[CitedReference, ...]


@dataclass(frozen=True, slots=True)
class ReadText:
    """The statements of a text in order, and everything that it cites; `ignored` counts citations beyond the limit."""

    statements: tuple[CitedStatement, ...]
    references: tuple[CitedReference, ...]
    ignored: int = 0


def read_statements(text: str) -> ReadText:
    """Return what `text`, Markdown or plain, states and cites.

    Headings, questions, code, the heads of tables and reference lists are no statements. The cells of a table are, with
    the heads of their row and column; a cell without a citation has those of its row.
    """
    cited = read_citations(text)
    by_number = {each.n: each for each in cited.references}
    found = []
    for draft in _drafts(cited):
        span = cited.original(draft.span)
        written = text[span.start : span.end]
        if _only_links(written):
            continue
        references = tuple(by_number[n] for n in draft.citations if n in by_number)
        found.append(CitedStatement(span, draft.text, written, references))
    return ReadText(tuple(found), cited.references, cited.ignored)


def _only_links(source: str) -> bool:
    """Return whether a line has nothing but links, as lists of further reading do."""
    linked = "](" in source or "[[" in source
    return linked and not words(plain_text(_WIKILINK.sub(" ", without_links(source))))


def _drafts(cited: CitedText) -> Iterator[ClaimDraft]:
    rows = cells_by_row(cited.text)
    for draft in split_claims(cited.text):
        cells = rows.get(cited.text.rfind("\n", 0, draft.span.start) + 1)
        if draft.states is not None:
            continue
        if cells:
            yield from (ClaimDraft(cell.span, cell.text, cell.citations or draft.citations) for cell in cells)
        else:
            yield draft
