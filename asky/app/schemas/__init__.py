"""The JSON objects that asky prints, serves and writes. Rule: fields are added to them, never changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asky.agent.models import ResearchState as ResearchState
    from asky.agent.records import ResearchSummary as ResearchSummary
    from asky.notes.catalog import IndexedNotes as IndexedNotes
    from asky.notes.catalog import LinkedNote as LinkedNote
    from asky.notes.catalog import NoteEntry as NoteEntry
    from asky.notes.catalog import NoteHit as NoteHit
    from asky.notes.service import NoteResult as NoteResult
    from asky.papers.keeping import AddedPaper as AddedPaper
    from asky.papers.service import AddedPapers as AddedPapers
    from asky.papers.states import PaperState as PaperState
    from asky.papers.table import CellQuote as CellQuote
    from asky.papers.table import FilledTable as FilledTable
    from asky.papers.table import TableCell as TableCell
    from asky.storage.papers import Paper as Paper
