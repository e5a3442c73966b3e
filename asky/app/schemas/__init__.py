"""The JSON objects that asky prints, serves and writes. Rule: fields are added to them, never changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asky.app.schemas.cache import cache_object as cache_object
from asky.app.schemas.cache import page_object as page_object
from asky.app.schemas.cache import pages_object as pages_object
from asky.app.schemas.config import config_object as config_object
from asky.app.schemas.config import doctor_object as doctor_object
from asky.app.schemas.corpus import added_object as added_object
from asky.app.schemas.corpus import collection_object as collection_object
from asky.app.schemas.corpus import collections_object as collections_object
from asky.app.schemas.corpus import sources_object as sources_object
from asky.app.schemas.corpus import synced_object as synced_object
from asky.app.schemas.damage import damaged_objects as damaged_objects
from asky.app.schemas.event import EVENT as EVENT
from asky.app.schemas.event import error_object as error_object
from asky.app.schemas.event import event_object as event_object
from asky.app.schemas.memory import finding_fields as finding_fields
from asky.app.schemas.memory import finding_object as finding_object
from asky.app.schemas.memory import findings_object as findings_object
from asky.app.schemas.memory import scored_findings_object as scored_findings_object
from asky.app.schemas.model import default_model_object as default_model_object
from asky.app.schemas.model import model_object as model_object
from asky.app.schemas.model import model_test_object as model_test_object
from asky.app.schemas.model import models_object as models_object
from asky.app.schemas.model import origin_object as origin_object
from asky.app.schemas.note import indexed_notes_object as indexed_notes_object
from asky.app.schemas.note import note_failure_object as note_failure_object
from asky.app.schemas.note import note_hits_object as note_hits_object
from asky.app.schemas.note import note_links_object as note_links_object
from asky.app.schemas.note import note_object as note_object
from asky.app.schemas.note import note_text_object as note_text_object
from asky.app.schemas.note import note_undone_object as note_undone_object
from asky.app.schemas.note import notes_object as notes_object
from asky.app.schemas.paper import added_papers_object as added_papers_object
from asky.app.schemas.paper import paper_hits_object as paper_hits_object
from asky.app.schemas.paper import paper_notes_object as paper_notes_object
from asky.app.schemas.paper import paper_summary_object as paper_summary_object
from asky.app.schemas.paper import paper_table_object as paper_table_object
from asky.app.schemas.paper import papers_object as papers_object
from asky.app.schemas.paper import research_object as research_object
from asky.app.schemas.research import research_runs_object as research_runs_object
from asky.app.schemas.research import research_state_object as research_state_object
from asky.app.schemas.run import answer_object as answer_object
from asky.app.schemas.run import plan_object as plan_object
from asky.app.schemas.run import run_object as run_object
from asky.app.schemas.run import run_status_object as run_status_object
from asky.app.schemas.run import runs_object as runs_object
from asky.app.schemas.run import shown_run_object as shown_run_object
from asky.app.schemas.run import verified_object as verified_object
from asky.app.schemas.run import why_object as why_object
from asky.app.schemas.search import external_ids as external_ids
from asky.app.schemas.search import hit_object as hit_object
from asky.app.schemas.search import hits_object as hits_object
from asky.app.schemas.search import with_embedding as with_embedding
from asky.app.schemas.session import message_fields as message_fields
from asky.app.schemas.session import session_export_object as session_export_object
from asky.app.schemas.session import session_fields as session_fields
from asky.app.schemas.session import session_object as session_object
from asky.app.schemas.session import sessions_object as sessions_object

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
