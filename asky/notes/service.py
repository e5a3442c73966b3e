"""Notes: found, read, and researched into a section of their own."""

from __future__ import annotations

import hashlib
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from asky.concurrency import in_thread
from asky.config.limits import RunLimits
from asky.errors import AskyError, NotEnoughEvidence, SourceError, SourceUnreadable, StorageError, UsageError
from asky.events import Listener, ignore
from asky.notes.catalog import NoteCatalog
from asky.notes.coverage import describe_missing, topics_without_findings
from asky.notes.diff import unified_diff
from asky.notes.embeds import expand
from asky.notes.modes import DEPTHS, NO_CONTENT, NOT_WRITTEN, NOTES, Depth
from asky.notes.rendering import preview, render_section, web_link
from asky.notes.research import GATHERED, NoteTask, VaultSearch
from asky.notes.section import replace_section
from asky.research.ranking import Selection
from asky.research.web.access import WebAccess
from asky.runs.context import Question, raise_for_outcome
from asky.storage.scope import Scope
from asky.storage.sessions import own_collection
from asky.values import Approve, Document, UnreadFile, decline, source_id

if TYPE_CHECKING:
    from asky.notes.names import NoteFile
    from asky.notes.research import NoteWorker
    from asky.notes.writer import NoteWriter
    from asky.runs.context import RunHandle
    from asky.runs.starter import OpenedSession, RunStarter
    from asky.values import Answer, Hit

SESSION = "notes"

PROPOSED, WRITTEN = "note_proposed", "note_written"
"""The kinds of ledger entries with the section of a note, and with the file that it was written to."""

_QUESTION = "Research the topics of the note {path}"
_PASSAGES_PER_NOTE = 4  # ranked for each note that is wanted
_RELATED = Selection(cutoff=0.3)
_CHANGED = b"\0"  # what no note consists of: stands for one that is no longer what was read


@dataclass(frozen=True, slots=True)
class _Change:
    """The bytes of a note before and after its section is written, and those of the section `alone`."""

    old: bytes
    new: bytes
    alone: bytes


@dataclass(frozen=True, slots=True)
class NoteResult:
    """The result of research into a note.

    `path` is relative to the vault, and `preview` the first 500 characters of the section. `written_to` is the file
    that holds the result, relative too: the note itself, or one beside it if the note has changed meanwhile; `None` if
    nothing was written. `diff` is what writing changes in the note. `topics_without_findings` are not counted as
    researched, and `warnings` name them. `unread` is what could not be read of the vault. Without `success`, `error`
    says why.
    """

    success: bool
    path: str = ""
    topics_researched: int = 0
    topics_without_findings: tuple[str, ...] = ()
    preview: str = ""
    error: str = ""
    hint: str | None = None
    run: str = ""
    written_to: str | None = None
    diff: str = ""
    warnings: tuple[str, ...] = ()
    unread: tuple[UnreadFile, ...] = ()

    @property
    def missing(self) -> str | None:
        """Return a sentence that names the topics without findings; `None` if there are none."""
        return describe_missing(self.topics_without_findings) if self.topics_without_findings else None


class NoteService(NoteCatalog):
    """Finds, reads and researches the notes of one vault. Synchronous methods read; the others are coroutines."""

    def __init__(
        self, *catalog: Any, starter: RunStarter[NoteWorker], writer: NoteWriter, model: str | None = None
    ) -> None:
        """`catalog` are the arguments of `NoteCatalog`, and `model` is the one that the configuration names."""
        super().__init__(*catalog)
        self._starter = starter
        self._writer = writer
        self._model = model

    async def research_note(
        self, path: str, depth: str = "shallow", focus: str | None = None, **options: Any
    ) -> NoteResult:
        """Research the topics of the note at `path`, and write the result into it as its section `## Research`.

        `options` are those of `start`. An `AskyError` becomes the `error` of the result, and the note is unchanged.
        """
        try:
            async with self.start(path, depth, focus, **options) as run:
                answer = await run.result()
                return await in_thread(self.result, answer)
        except AskyError as error:
            return NoteResult(success=False, path=path, error=error.message, hint=error.hint)

    @asynccontextmanager
    async def start(
        self,
        path: str,
        depth: str = "shallow",
        focus: str | None = None,
        *,
        model: str | None = None,
        limits: RunLimits | None = None,
        vault_only: bool = False,
        offline: bool = False,
        dry_run: bool = False,
        listen: Listener = ignore,
        notes: Callable[[], Sequence[str]] = tuple,
        approve: Approve = decline,
    ) -> AsyncIterator[RunHandle]:
        """Research a note in the background of the body; leaving the body cancels the run if it has not finished.

        `path` is relative to the vault, or absolute. With the depth `deep`, pages are read; `focus` narrows the topics.
        `approve` is asked before words of the note are sent to a search service; if it declines, and with `vault_only`
        or `offline`, only the vault is searched. With `dry_run` nothing is written until `write` is called.

        Raises `UsageError` for an unknown depth and for a note that is not there, is no text or has no content, and
        `SourceError` for what lies outside the vault or cannot be read. The run raises `NotEnoughEvidence` if the note
        has no topics or nothing is found on them, what the model raises, and an error if the note cannot be written.
        """
        if depth not in DEPTHS:
            raise UsageError(f"Invalid depth: {depth!r}. Must be 'shallow' or 'deep'.")
        note = await self.find_note(path)
        task = await in_thread(self._task, note, depth, focus, not dry_run)
        indexed = await self.index(embed=False)
        opened = await in_thread(self._open, model, limits or RunLimits(), offline)
        question = await in_thread(self._question, task, opened, vault_only or offline)
        question = replace(question, unread=tuple(indexed.report.unread))
        async with self._starter.start(opened, question, listen=listen, notes=notes, approve=approve) as run:
            yield run

    def result(self, answer: Answer) -> NoteResult:
        """Return what came of a run of `start`. Raises the error of a run that ended early."""
        runs = self._starter.runs
        try:
            raise_for_outcome(answer, runs, strict=False)
        except NotEnoughEvidence as error:
            error.hint = f"--focus names what to look for; `asky runs show {answer.run}` lists what was searched"
            raise
        entries = {each.kind: each.data for each in runs.ledger(answer.run)}
        proposed, topics = entries[PROPOSED], entries[GATHERED]["topics"]
        missing = topics_without_findings(topics, answer)
        return NoteResult(
            True,
            proposed["path"],
            len(topics) - len(missing),
            missing,
            preview(proposed["section"]),
            run=answer.run,
            written_to=entries.get(WRITTEN, {}).get("file"),
            diff=proposed["diff"],
            warnings=(*answer.warnings, *([describe_missing(missing)] if missing else [])),
            unread=answer.unread,
        )

    def write(self, run_id: str) -> str:
        """Write what the run has proposed into its note; return the path of the file that holds it.

        Raises `UsageError` if the run is none of a note or proposed nothing, and an error if it cannot be written.
        """
        run = self._starter.runs.find(run_id)
        proposed = next((each.data for each in self._starter.runs.ledger(run.id) if each.kind == PROPOSED), None)
        if proposed is None:
            raise UsageError(f"run {run.id} has proposed nothing for a note", hint="`asky notes research NOTE` does")
        change = self._change(proposed["path"], proposed["sha256"], proposed["section"])
        return self._write(run.id, proposed["path"], change)

    def undo(self, path: str) -> None:
        """Take the last change of research to a note back. Raises as `NoteWriter.undo` does."""
        self._writer.undo(self.note(path).path)

    def _open(self, model: str | None, limits: RunLimits, offline: bool) -> OpenedSession[NoteWorker]:
        return self._starter.open(SESSION, model or self._model, limits, offline=offline)

    def _task(self, note: NoteFile, depth: Depth, focus: str | None, writes: bool) -> NoteTask:
        data = self.vault.read(note)
        try:
            replace_section(data, "x")  # raises now what it would raise after the research
            text = self._text(note, data)
        except SourceUnreadable as error:
            error.message = error.message.replace("the note", note.shown, 1)
            raise
        if not text.strip():
            raise UsageError(NO_CONTENT, hint=f"{note.shown} has no text")
        if writes and not os.access(note.path, os.W_OK):
            raise StorageError(
                f"{NOT_WRITTEN}: {note.shown} is read-only", hint="--dry-run shows what would be written"
            )
        focus = " ".join(focus.split()) or None if focus else None
        return NoteTask(note.relative, hashlib.sha256(data).hexdigest(), note.stem, text, depth, focus, writes)

    def _text(self, note: NoteFile, data: bytes) -> str:
        """Return the text of a note with what it embeds, without what research has written into it."""

        def read(each: NoteFile) -> Document:
            return self.parse(each, data if each == note else self.vault.read(each))

        return expand(note, read, self._names_now).text

    def _question(self, task: NoteTask, opened: OpenedSession[NoteWorker], stays_local: bool) -> Question:
        web = None
        if not stays_local:
            collection_id = self._corpus.collection(own_collection(opened.session.id), create=True)
            web = WebAccess(collection_id, shortlist=False)
        text = _QUESTION.format(path=task.path)
        collections = (self._collection_id(), *((web.collection_id,) if web is not None else ()))
        return Question(text, text, NOTES, Scope(collections), web=web, task=task.encode())

    # for the worker of a run

    def search(self) -> VaultSearch:
        """Return the vault as runs see it."""
        return VaultSearch(self._others, self._source_of, self._linked_sources)

    def keep(self, task: NoteTask, answer: Answer) -> None:
        """Record the section that an answer is for a note and, if the task is to, write it. Raises as `write` does."""
        section = render_section(answer, self._links(answer))
        change = self._change(task.path, task.sha256, section)
        shown = unified_diff(b"" if change.old is _CHANGED else change.old, change.new, task.path)
        proposed = {"path": task.path, "sha256": task.sha256, "section": section, "diff": shown}
        self._starter.runs.record(answer.run, PROPOSED, proposed)
        if task.writes:
            self._write(answer.run, task.path, change)

    def _change(self, path: str, sha256: str, section: str) -> _Change:
        """Return what writing a section does to the note that had this hash when it was read."""
        alone = replace_section(b"", section)
        try:
            data = self.vault.read(self.vault.resolve(path))
        except (UsageError, SourceError):  # it was renamed or deleted
            return _Change(_CHANGED, alone, alone)
        if hashlib.sha256(data).hexdigest() != sha256:
            return _Change(_CHANGED, alone, alone)
        return _Change(data, replace_section(data, section), alone)

    def _write(self, run_id: str, path: str, change: _Change) -> str:
        """Write a change to a note; return the path of the file that has it, below the vault."""
        try:
            written = self._writer.write(self.vault.folder / path, change.old, change.new, aside=change.alone)
        except StorageError as error:
            error.message = f"{NOT_WRITTEN}: {error.message}"
            raise
        file = written.path.relative_to(self.vault.folder).as_posix()
        self._starter.runs.record(run_id, WRITTEN, {"path": path, "file": file, "why": written.why})
        return file

    def _links(self, answer: Answer) -> dict[str, str]:
        """Return the link to each cited source by its id."""
        notes = {each.uri: each for each in self.vault.notes()}
        sources = [each.source for each in answer.citations]
        return {
            each.id: self.vault.link_to(notes[each.uri]) if each.uri in notes else web_link(each) for each in sources
        }

    def _others(self, path: str, queries: Sequence[str], limit: int) -> list[list[Hit]]:
        """Return, for each query, the best passages of other notes than that at `path`, one a note, best first.

        What research has written into notes is left out: it is no source.
        """
        own, ranked = source_id((self.vault.folder / path).as_uri()), _PASSAGES_PER_NOTE * (limit + 1)
        rankings = self._store.search_several(queries, self.scope(), limit=ranked, selection=_RELATED)
        return [_of_each_note(hits, own)[:limit] for hits in rankings]

    def _source_of(self, target: str) -> str | None:
        note = self.vault.resolve_link(target)
        return source_id(note.uri) if note is not None else None

    def _linked_sources(self, path: str) -> frozenset[str]:
        """Return the sources of the notes that the note at `path` links to; none if it is gone."""
        with suppress(UsageError):
            targets = {each.path for each in self.links(path)}
            return frozenset(source_id(each.uri) for each in self.vault.notes() if each.shown in targets)
        return frozenset()


def _of_each_note(hits: Sequence[Hit], own: str) -> list[Hit]:
    best: dict[str, Hit] = {}
    for hit in hits:
        if hit.source.id != own:
            best.setdefault(hit.source.id, hit)
    return list(best.values())
