"""One run: the question and settings it starts with, the context of its stages, and the handle of its caller."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import astuple, dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

import anyio

from asky.concurrency import error_of, in_thread
from asky.config.limits import RunLimits
from asky.errors import AskyError, BudgetExceeded, Interrupted, NotEnoughEvidence, StorageError, UnsupportedClaim
from asky.events import (
    ApprovalDecided,
    ApprovalRequested,
    ClarificationAnswered,
    ClarificationAsked,
    Envelope,
    Event,
    Listener,
    ignore,
    listening,
)
from asky.evidence.passages import new_marker
from asky.net.reach import reach
from asky.research.no_evidence import SEE_RUN, no_evidence, outage
from asky.research.web.access import decode_access, encode_access
from asky.runs.access import Access
from asky.runs.feed import RunFeed
from asky.storage.scope import Scope
from asky.values import (
    PRIVATE_KINDS,
    Answer,
    Approve,
    Clarify,
    Failure,
    FileChange,
    OutgoingQueries,
    StoppedBy,
    UnreadFile,
    decline,
)

if TYPE_CHECKING:
    from asky.research.memory import MemoryScope
    from asky.research.web.access import WebAccess
    from asky.storage.events import EventStore
    from asky.storage.runs import RunStore

_TOO_EARLY = "stopped at a limit before everything was looked up"
_UNFINISHED = "the answer is not complete"
_LIMITS: Mapping[StoppedBy, tuple[str, str]] = MappingProxyType(
    {
        "max_turns": (_TOO_EARLY, "raise --max-turns"),
        "budget": (
            _TOO_EARLY,
            "raise --max-tokens, --max-cost or --max-time, or the limits of [budget] in research.toml",
        ),
        "length": (_UNFINISHED, "raise max_output_tokens of the model in models.toml, or ask for a shorter answer"),
        "cut": (_UNFINISHED, "ask again, or choose another model with -m"),
    }
)


@dataclass(frozen=True, slots=True)
class Question:
    """A question and its sources. `text` is what the user wrote, `shown` the same without local paths, for the model.

    `rejected` holds paths and addresses that could not be read, each with the reason, and `unread` the files among the
    documents that could not, with parts of files. `web` is `None` for a question
    that may not use the web. `memory` selects the findings to recall: those of the session, or of all sessions.
    `instructions` of the user follow asky's own in the system prompt. `task` holds what a product needs beside the
    question, as JSON.
    """

    text: str
    shown: str
    mode: str
    scope: Scope
    rejected: tuple[tuple[str, str], ...] = ()
    web: WebAccess | None = None
    memory: MemoryScope = "session"
    instructions: str = ""
    task: Mapping[str, Any] = field(default_factory=dict)
    unread: tuple[UnreadFile, ...] = ()


@dataclass(frozen=True, slots=True)
class RunSpec:
    """Everything that a run starts with; recorded as its first step.

    `session` is the name of the session; `model`, `host`, `context_tokens` and `offers_tools` describe the model.
    `limits` are those of the configuration, `options` those of the command line, by setting. `marker` is the random
    word in the fences around retrieved text.
    """

    question: Question
    session: str
    model: str
    host: str | None
    context_tokens: int
    offers_tools: bool
    limits: Mapping[str, int]
    options: Mapping[str, Any]
    marker: str = field(default_factory=new_marker)

    def encode(self) -> dict[str, Any]:
        """Return this value as JSON."""
        question = self.question
        return {
            "text": question.text,
            "shown": question.shown,
            "mode": question.mode,
            "collections": question.scope.collections,
            "sources": question.scope.sources,
            "rejected": question.rejected,
            "web": encode_access(question.web),
            "memory": question.memory,
            "instructions": question.instructions,
            "task": dict(question.task),
            "unread": [astuple(each) for each in question.unread],
            "session": self.session,
            "model": self.model,
            "host": self.host,
            "context_tokens": self.context_tokens,
            "offers_tools": self.offers_tools,
            "limits": dict(self.limits),
            "given": dict(self.options),
            "marker": self.marker,
        }


def decode_spec(data: Mapping[str, Any]) -> RunSpec:
    """Return the value that `RunSpec.encode` encoded. Raises `KeyError`, `TypeError` or `ValueError` for other data."""
    scope = Scope(*(None if each is None else tuple(each) for each in (data["collections"], data["sources"])))
    rejected = tuple((url, why) for url, why in data["rejected"])
    access = decode_access(data["web"])
    question = Question(data["text"], data["shown"], data["mode"], scope, rejected, access, data["memory"])
    # these are missing from an earlier version
    unread = tuple(UnreadFile(*each) for each in data.get("unread", ()))
    question = replace(question, instructions=data.get("instructions", ""), task=data.get("task", {}), unread=unread)
    names = ("session", "model", "host", "context_tokens", "offers_tools", "limits", "marker")
    return RunSpec(question, options=data["given"], **{name: data[name] for name in names})


class NoteInbox:
    """Notes of the user for a run in progress: added from any thread, and taken by the run.

    `more` is called for further notes whenever they are taken.
    """

    def __init__(self, more: Callable[[], Sequence[str]] = tuple) -> None:
        self._notes: deque[str] = deque()
        self._more = more

    def put(self, note: str) -> None:
        """Add a note."""
        self._notes.append(note)

    def take(self) -> list[str]:
        """Return the notes since the last call, in order, those of `more` last."""
        taken = []
        while self._notes:
            taken.append(self._notes.popleft())
        return [*taken, *self._more()]


@dataclass(slots=True)
class RunContext:
    """The id, access rules, limits, notes, approvals and events of one run.

    `approve` asks the user about search queries that may reveal private documents, and before a file of the user is
    changed; `clarify` asks what is meant, and is `None` if nobody can be asked. Both are announced in the feed. `notes`
    holds the user's notes since the last model call; `more_notes` is called for further ones. `emit` adds an event to
    the feed; `warnings` are the messages of the warnings emitted so far, in order, each once.
    """

    feed: RunFeed
    access: Access
    limits: RunLimits = field(default_factory=RunLimits)
    more_notes: Callable[[], Sequence[str]] = tuple
    approve: Approve = decline
    clarify: Clarify | None = None
    notes: NoteInbox = field(init=False)
    id: str = field(init=False)
    emit: Callable[[Event], None] = field(init=False)
    warnings: Sequence[str] = field(init=False)

    def __post_init__(self) -> None:
        self.notes = NoteInbox(self.more_notes)
        self.id, self.emit, self.warnings = self.feed.run_id, self.feed.emit, self.feed.warnings
        self.approve = _announcing_approval(self.approve, self.emit)
        if self.clarify is not None:
            self.clarify = _announcing_question(self.clarify, self.emit)


def _announcing_approval(approve: Approve, emit: Callable[[Event], None]) -> Approve:
    """Return `approve` with an event before and after the user is asked."""
    if approve is decline:  # nobody is asked
        return approve

    async def ask(asked: OutgoingQueries | FileChange) -> bool:
        if isinstance(asked, FileChange):
            emit(ApprovalRequested((), (), asked.path, "a file would be changed"))
        else:
            services = tuple(f"{name} ({host})" for name, host in asked.services)
            emit(ApprovalRequested(asked.queries, services, "", asked.reason))
        is_approved = await approve(asked)
        emit(ApprovalDecided(is_approved))
        return is_approved

    return ask


def _announcing_question(clarify: Clarify, emit: Callable[[Event], None]) -> Clarify:
    """Return `clarify` with an event before and after the user is asked."""

    async def ask(question: str) -> str | None:
        emit(ClarificationAsked(question))
        answer = await clarify(question)
        emit(ClarificationAnswered(answer))
        return answer

    return ask


def run_context(
    events: EventStore,
    mask: Callable[[str], str],
    run_id: str,
    session_id: str | None,
    access: Access,
    limits: RunLimits,
    listen: Listener = ignore,
    notes: Callable[[], Sequence[str]] = tuple,
    approve: Approve = decline,
    clarify: Clarify | None = None,
    *,
    after: int = 0,
) -> RunContext:
    """Return the context of a run whose events after number `after` go to `events` and `listen`, without secrets."""
    feed = RunFeed(
        run_id,
        events,
        listen=listen,
        mask=mask,
        after=after,
        warned_before=lambda topic: session_id is not None and events.has_warned(session_id, topic),
    )
    return RunContext(feed, access, limits, notes, approve, clarify)


class RunHandle(Protocol):
    """A run in progress, concurrent with its caller."""

    @property
    def id(self) -> str:
        """Return the id of the run."""
        ...

    @property
    def answer(self) -> Answer | None:
        """Return the answer, perhaps partial, once the run has ended; `None` before, and if nothing was written."""
        ...

    def events(self, *, after: int = 0) -> AsyncIterator[Envelope]:
        """Yield the events of the run after number `after`, in order, until it ends."""
        ...

    def tell(self, note: str) -> None:
        """Add a note of the user to the next model call."""
        ...

    def cancel(self) -> None:
        """Stop the run. The part of the answer written so far is kept."""
        ...

    async def result(self) -> Answer:
        """Wait for the answer and return it; that of a cancelled run has `stopped_by="cancelled"`.

        Raises the `AskyError` that ended the run, and `Interrupted` if it was cancelled before anything was written.
        """
        ...


RunFunction = Callable[[Callable[[Answer], None]], Awaitable[None]]
"""Executes a run, and passes its answer to the given function."""


class LiveRun:
    """A `RunHandle` for a run in this process."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._scope = anyio.CancelScope()
        self._ended = anyio.Event()
        self._kept: list[Answer] = []
        self._error: Exception | None = None

    @property
    def id(self) -> str:
        return self._context.id

    @property
    def answer(self) -> Answer | None:
        return self._kept[-1] if self._kept else None

    def events(self, *, after: int = 0) -> AsyncIterator[Envelope]:
        return self._context.feed.follow(after)

    def tell(self, note: str) -> None:
        self._context.notes.put(note)

    def cancel(self) -> None:
        self._scope.cancel()

    async def result(self) -> Answer:
        await self._ended.wait()
        if self._error is not None:
            raise self._error
        if self.answer is None:
            raise Interrupted("the run was cancelled before anything was written")
        return self.answer

    async def execute(self, function: RunFunction) -> None:
        """Execute the run; its error is raised by `result`."""
        feed = self._context.feed
        try:
            local_only = self._context.access.offline
            with self._scope, listening(self._context.emit), reach(local_only=local_only):
                await function(self._kept.append)
        except Exception as error:  # noqa: BLE001 - raised by `result`
            self._error = error
        finally:
            with closing(feed), anyio.CancelScope(shield=True), suppress(StorageError):  # the run itself reports it
                await in_thread(feed.flush)
            self._ended.set()

    async def ended(self) -> None:
        """Wait for the end of the run, however it ends."""
        await self._ended.wait()


@asynccontextmanager
async def running(context: RunContext, function: RunFunction) -> AsyncIterator[LiveRun]:
    """Execute a run while the body is executed, and yield its handle; when the body ends, the run is cancelled.

    An exception of the body is raised unchanged, not in an exception group.
    """
    run, raised, has_ended = LiveRun(context), None, anyio.Event()
    async with anyio.create_task_group() as group:
        group.start_soon(run.execute, function)
        group.start_soon(context.feed.flush_regularly, has_ended)
        try:
            yield run
        except Exception as error:  # noqa: BLE001 - raised below: a task group would wrap it
            raised = error
        finally:
            run.cancel()
            with anyio.CancelScope(shield=True):
                await run.ended()
            has_ended.set()
    if raised is not None:
        raise raised


def raise_for_outcome(answer: Answer, runs: RunStore, *, strict: bool) -> None:
    """Raise the error, and so the exit code, for an answer that is not complete and supported.

    Raises `BudgetExceeded` if a limit ended the run early, or the model did not end its answer. An answer without
    evidence raises the failure recorded in the ledger, which is read from `runs`, else `NotEnoughEvidence`. With
    `strict`, an answer with unsupported sentences or citations, or with no checked sentence, raises `UnsupportedClaim`.
    """
    if answer.stopped_by == "no_evidence":
        raise _no_evidence_error(answer, runs)
    if answer.stopped_by is not None and answer.stopped_by in _LIMITS:
        message, hint = _LIMITS[answer.stopped_by]
        raise BudgetExceeded(message, hint=hint)
    if strict and not answer.claims:
        raise UnsupportedClaim("nothing in the answer could be checked: no sentence cites a source")
    if strict and answer.faults:
        found = "statement or citation is" if answer.faults == 1 else "statements or citations are"
        raise UnsupportedClaim(
            f"{answer.faults} {found} not supported by the sources",
            hint="`asky runs show` prints the verdict on each sentence",
        )


def _no_evidence_error(answer: Answer, runs: RunStore) -> AskyError:
    ledger = runs.ledger(answer.run)
    missing = outage(ledger) or no_evidence(ledger, answer.warnings)
    if missing is None:
        of_files = any(source.kind in PRIVATE_KINDS for source, _, _ in answer.sources)
        hint = (
            f"`asky search`, with the same -d or --collection, shows what there is; {SEE_RUN}" if of_files else SEE_RUN
        )
        return NotEnoughEvidence("the sources hold too little to answer this", hint=hint)
    return error_of(Failure(answer.question, missing.code, missing.message, missing.hint))
