"""Past answers with their evidence: list, show, export and verify them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from typing import TYPE_CHECKING, Any, BinaryIO

from asky.agent.modes import AGENT
from asky.app.answers import (
    ExportedDocument,
    answer_text,
    export_cited,
    exported_text,
    rendered,
    research_markdown,
)
from asky.app.records import RunDetails, RunSummary
from asky.app.sessions import find_session
from asky.errors import StoreDamaged, UsageError
from asky.evidence.citation_lookup import open_citation
from asky.evidence.citations.markers import number_citations
from asky.evidence.citations.page_citations import cites_page, read_page_citations, with_pages
from asky.evidence.export.run_export import export_run
from asky.papers.modes import PAPERS
from asky.report.gathering import report_run, research_of
from asky.storage.corpus import DEFAULT_COLLECTION
from asky.storage.runs import LedgerEntry, Run
from asky.storage.stored_json import SEE_DOCTOR
from asky.text.printable import json_document, json_text
from asky.values import Evidence, Location, Source, Span, Unreadable
from asky.version import __version__

if TYPE_CHECKING:
    from pathlib import Path

    from asky.app.answers import Form
    from asky.events import Envelope
    from asky.evidence.citation_lookup import OpenedCitation as OpenedCitation
    from asky.evidence.export.bundle_check import CheckedBundle as CheckedBundle
    from asky.report.gathering import ReportedAnswer
    from asky.report.research_report import ResearchReport as ResearchReport
    from asky.runs.context import RunHandle as RunHandle
    from asky.storage.runs import StoredPassage
    from asky.wiring import Services

__all__ = ["DEFAULT_COLLECTION", "LedgerEntry", "PartialText", "Run", "RunDetails", "RunService", "RunSummary"]


@dataclass(frozen=True, slots=True)
class PartialText:
    """The partial answer of a run that failed, with numbered citations; `sources[n - 1]` is the source of `[n]`."""

    text: str
    sources: tuple[Source, ...]


class RunService:
    """Reads and exports past runs.

    `find` looks a run up by its id or by a unique prefix, or returns the last one; the other methods take its result.
    """

    def __init__(self, services: Services) -> None:
        self._services = services

    def find(self, run_id: str | None = None) -> Run:
        """Return the run with that id or unique prefix, by default the last run.

        Raises `UsageError` if there is none.
        """
        return self._services.runs.find(None if run_id is None else run_id.encode("utf-8", "replace").decode())

    def find_citing(self, run_id: str | None = None) -> tuple[Run, Run | None]:
        """Return the run of `find`, or by default the last one that cites something, and the last run if it is later.

        If no run cites anything, it is the last run. Raises as `find` does.
        """
        last = self.find(run_id)
        if run_id is not None or (last.answer is not None and last.answer["citations"]):
            return last, None
        citing = self._services.runs.last_citing()
        return (citing, last) if citing is not None else (last, None)

    def list(self, *, limit: int | None = 20, session: str | None = None) -> Sequence[RunSummary | Unreadable]:
        """Return runs, newest first, of all sessions or of one; unreadable runs keep their place as `Unreadable`.

        Raises `UsageError` if the session does not exist.
        """
        runs, sessions = self._services.runs, self._services.sessions
        session_id = None if session is None else find_session(sessions, session).id
        listed = runs.listed(limit=limit, session_id=session_id)
        spent = runs.spent_by_run([each.id for each in listed if not isinstance(each, Unreadable)])
        return [
            each if isinstance(each, Unreadable) else RunSummary(each, *spent.get(each.id, (0, None)))
            for each in listed
        ]

    def session_names(self, runs: Iterable[Run]) -> Mapping[str, str | None]:
        """Return the session name of each run, by run id."""
        return {each.id: self._session_name(each) for each in runs}

    def show(self, run_id: str | None = None) -> RunDetails:
        """Return a run with its ledger; see `find`."""
        run = self.find(run_id)
        return RunDetails(run, ledger=self._services.runs.ledger(run.id), session=self._session_name(run))

    def partial_text(self, details: RunDetails) -> PartialText | None:
        """Return the partial answer of a run that failed, with numbered citations, or `None` if nothing was written.

        It has not been verified.
        """
        if details.partial is None:
            return None

        shown = {each.key: self._evidence(each) for each in self._services.runs.passages(details.run.id)}
        numbered = number_citations(details.partial, shown)
        return PartialText(numbered.text, tuple(shown[key].source for key in numbered.order))

    async def events(self, run_id: str | None = None, *, after: int = 0) -> AsyncIterator[Envelope]:
        """Yield the stored events of a run with a number above `after`; see `find`.

        The `RunHandle` of a run in progress yields its events as they happen.
        """
        from asky.concurrency import in_thread  # anyio: only for asynchronous callers
        from asky.runs.feed import stored_events

        run = await in_thread(self.find, run_id)
        async for each in stored_events(self._services.events, run.id, after):
            yield each

    async def events_since(self, run_id: str, after: int = 0, *, limit: int = 200) -> Sequence[Envelope]:
        """Return at most `limit` stored events of a run with a number above `after`, in order; see `find`."""
        found: list[Envelope] = []
        async for each in self.events(run_id, after=after):
            found.append(each)
            if len(found) == limit:
                break
        return found

    def has_estimates(self, run_ids: Iterable[str]) -> bool:
        """Return whether the usage of any model call of these runs is only estimated."""
        ledgers = (self._services.runs.ledger(each) for each in run_ids)
        return any(entry.kind == "called" and entry.data.get("estimated") for each in ledgers for entry in each)

    # citations

    def cited_numbers(self, run: Run, text: str) -> Sequence[int]:
        """Return the numbers of a run's citations that `text` names: `1`, `[1]` or, of papers, `2509.10446v1, page 5`.

        A page may be cited by several. Raises `UsageError` if `text` is neither, or if nothing on that page is cited.
        """
        named = text.strip().strip("[]").strip()
        if named.isascii() and named.isdigit() and int(named[:9]) > 0:
            return [int(named[:9])]
        wanted = read_page_citations(named)
        if not wanted:
            raise UsageError(f"{text[:80]!r} names no citation", hint='for example: 1, or "2509.10446v1, page 5"')
        citations = run.answer["citations"] if run.answer is not None else ()
        found = [each["n"] for each in citations if any(cites_page(each, citation) for citation in wanted)]
        if not found:
            raise UsageError(
                f"the answer of run {run.id} cites nothing from {named[:80]}", hint="`asky why` lists them"
            )
        return found

    def open_citation(self, run: Run, n: int, *, context_chars: int = 300) -> OpenedCitation:
        """Return citation `n` of an answer with its stored passage, and whether that still matches the answer.

        It includes up to `context_chars` characters of context on either side. Raises `UsageError` if the run has no
        answer or the answer has no such citation, and `StoreDamaged` if the store has lost the passage.
        """
        services = self._services
        return open_citation(
            run,
            n,
            runs=services.runs,
            documents=services.documents,
            corpus=services.corpus,
            context_chars=context_chars,
        )

    # exports

    def export(self, run: Run, form: Form, folder: Path | None = None) -> ExportedDocument:
        """Return the answer of a run in a format, for a file in `folder` if that is known; see `answer_text`.

        `json` is the run with all its evidence as `asky.run/1`.
        Raises `UsageError` if the run has no answer, except for `json`.
        """
        if form == "json":
            return exported_text(json_text(self.evidence(run)) + "\n")
        if form == "html" or form == "pdf":
            return rendered([self._reported(run)], form)
        if run.answer is None:
            raise UsageError(
                f"run {run.id} has no answer: its status is {run.status}",
                hint="`asky runs list` shows how each run ended",
            )
        if form == "md":
            return self.export_answer(run.answer, "md", folder)
        return export_cited([self._services.papers.noticed(run.answer)], form)

    def export_answer(self, answer: Mapping[str, Any], form: Form, folder: Path | None = None) -> ExportedDocument:
        """Return an `asky.answer/1` object in a format, for a file in `folder` if that is known; see `answer_text`.

        Markdown of an answer from the paper library cites by page and lists the papers. An answer of the agent comes
        with the rest of its report, as JSON in an `asky.research/1` object. For `html`, `pdf` and answers of the agent,
        the run has to be in the store.
        """
        if form == "html" or form == "pdf":
            return rendered([self._reported(self.find(answer["run"]))], form)
        if answer["mode"] == AGENT and (report := self.research_report(self.find(answer["run"]))) is not None:
            if form == "json":
                return exported_text(json_document(report.encode()))
            if form == "md":
                return exported_text(research_markdown(report, folder))
        papers = self._services.papers if form == "md" and answer["mode"] == PAPERS else None
        cited_by_page = with_pages(answer["answer"], answer["citations"]) if papers is not None else ""
        body = papers.format_research_result(cited_by_page)[0] if papers is not None else None
        noticed = self._services.papers.noticed(answer) if form in ("tex", "bibtex", "csl", "ris") else answer
        return exported_text(answer_text(noticed, form, folder, body))

    def research_report(self, run: Run) -> ResearchReport | None:
        """Return the report of a run of the agent, `None` before it has one. Raises `StoreDamaged`."""
        return research_of(run, self._services.runs)

    def evidence(self, run: Run) -> dict[str, Any]:
        """Return a run as an `asky.run/1` object, with the full text of every document shown in it."""
        runs, documents = self._services.runs, self._services.documents
        passages = runs.passages(run.id)
        texts = {id_: documents.text(id_) for id_ in dict.fromkeys(each.document_id for each in passages)}
        return export_run(run, passages, texts, runs.ledger(run.id), session=self._session_name(run))

    def page(self, run: Run) -> str:
        """Return the answer of a run as HTML, with its cited passages in context.

        Raises `UsageError` if the run has no answer.
        """
        return rendered([self._reported(run)], "html").text

    def _reported(self, run: Run) -> ReportedAnswer:
        return report_run(run, runs=self._services.runs, documents=self._services.documents)

    def bundle(self, run: Run) -> bytes:
        """Return a run as a zip archive with its report, evidence and bibliography, for `verify`.

        Raises `StoreDamaged` if the archive would fail verification.
        """
        from asky.evidence.export.bundle import make_bundle
        from asky.evidence.export.bundle_check import check_bundle

        data = make_bundle(self.evidence(run), self.page(run), tool=f"asky {__version__}")
        if faults := check_bundle(BytesIO(data)).faults:
            more = f", and {len(faults) - 1} more" if len(faults) > 1 else ""
            raise StoreDamaged(
                f"nothing was written: a bundle of run {run.id} would fail its check: {faults[0]}{more}",
                hint=SEE_DOCTOR,
            )
        return data

    @staticmethod
    def verify(bundle: BinaryIO) -> CheckedBundle:
        """Verify an archive opened for reading and seeking; no store is needed.

        Its report, bibliography and README must be what asky produces from the evidence in it.
        """
        from asky.evidence.export.bundle_check import check_bundle
        from asky.report.reproduction import reproduction_faults

        checked = check_bundle(bundle)
        return checked if checked.faults else replace(checked, faults=reproduction_faults(bundle))

    def _session_name(self, run: Run) -> str | None:
        return self._services.sessions.name_of(run.session_id) if run.session_id is not None else None

    def _evidence(self, passage: StoredPassage) -> Evidence:
        documents, span = self._services.documents, Span(passage.start, passage.end)
        sha256, _ = documents.digest(passage.document_id)
        text = documents.text(passage.document_id, span)
        return Evidence(passage.key, passage.source, passage.document_id, sha256, span, text, Location())
