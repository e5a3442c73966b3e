"""Runs that outlive the call that started them, and the questions that they have for the user."""

from __future__ import annotations

import math
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import anyio

from asky.errors import Interrupted, TimedOut, UsageError
from asky.values import FileChange, OutgoingQueries

if TYPE_CHECKING:
    from anyio.abc import TaskGroup

    from asky.app.runs import RunHandle
    from asky.events import Envelope
    from asky.values import Answer

ANSWER_S = 300.0
"""Seconds that a run waits for an answer of the user before it goes on without."""
MAX_RUNS = 8
"""The most runs of one server at once, unless it says otherwise."""
_STOP_S = 5.0
_MAX_ENDED = 32

OpenRun = Callable[["KeptRun"], AbstractAsyncContextManager["RunHandle"]]
"""Starts a run, which asks the user through the methods `approve` and `clarify` of the given one."""
Report = Callable[["Envelope"], Awaitable[None]]
Ask = Callable[["PendingApproval"], Awaitable[None]]
"""Asks the user, and settles the approval; it may also raise to end the call, and have the next one settle it."""


class TooManyRuns(UsageError):
    """The server carries on as many runs as it may."""


@dataclass(slots=True)
class PendingApproval:
    """Words that a run would send if the user approves. `settle` answers it; the first answer counts."""

    token: str
    queries: OutgoingQueries
    is_approved: bool = False
    answered: anyio.Event = field(default_factory=anyio.Event)

    def settle(self, *, is_approved: bool) -> None:
        """Pass the user's decision on to the run."""
        if not self.answered.is_set():
            self.is_approved = is_approved
            self.answered.set()


@dataclass(slots=True)
class PendingQuestion:
    """A question of a run to the user. `settle` answers it; the first answer counts."""

    text: str
    answer: str | None = None
    answered: anyio.Event = field(default_factory=anyio.Event)

    def settle(self, answer: str | None) -> None:
        """Pass the user's answer on to the run."""
        if not self.answered.is_set():
            self.answer = answer
            self.answered.set()


class KeptRun:
    """A run that this server keeps. `is_detached` says that the call that started it has returned.

    It waits `answer_s` seconds for each answer of the user; 0 says that the user cannot be asked. `pending` and
    `question` are what it waits for. `asked` is the question that it was started with, which the store has only once
    its sources are read.
    """

    def __init__(self, answer_s: float) -> None:
        self.pending: PendingApproval | None = None
        self.question: PendingQuestion | None = None
        self.is_detached = False
        self.asked: str | None = None
        self._answer_s = answer_s
        self._followers = 0
        self._handle: RunHandle | None = None
        self._answer: Answer | None = None
        self._error: Exception | None = None
        self._ended = False
        self._scope = anyio.CancelScope()
        self._changed = anyio.Event()

    @property
    def id(self) -> str | None:
        """The id of the run, once it has one."""
        return self._handle.id if self._handle is not None else None

    @property
    def handle(self) -> RunHandle | None:
        """The run, once it has an id."""
        return self._handle

    @property
    def has_ended(self) -> bool:
        """`True` once the run has an answer or an error."""
        return self._ended

    def result(self) -> Answer:
        """Return the answer of a run that has ended. Raises the error that ended it."""
        if self._error is not None:
            raise self._error
        if self._answer is None:
            raise Interrupted("the run was stopped before anything was written")
        return self._answer

    async def live(self, open_run: OpenRun, limit_s: float, started: Callable[[], None]) -> None:
        """Carry the run to its end, or stop it when `limit_s` has passed; `started` is called once it has an id."""
        try:
            with self._scope:
                async with open_run(self) as handle:
                    self._handle = handle
                    started()
                    with anyio.move_on_after(limit_s) as limit:
                        self._answer = await handle.result()
                    if limit.cancelled_caught:
                        self._error = TimedOut(f"timed out after {limit_s:g}s")
        except Exception as error:  # noqa: BLE001 - raised by `result`, in the call that waits for it
            self._error = error
        finally:
            self._ended = True
            started()
            self._wake()

    async def follow(self, wait_s: float, report: Report, ask: Ask, *, after: int = 0) -> bool:
        """Report events and have approvals settled until the run ends; return `False` if `wait_s` passed before that.

        Raises what `ask` raises.
        """
        self._followers += 1
        raised: list[Exception] = []
        try:
            with anyio.move_on_after(wait_s):
                async with anyio.create_task_group() as group:
                    group.start_soon(self._report, report, after)
                    try:
                        await self._settle_approvals(ask)
                    except Exception as error:  # noqa: BLE001 - raised below: a task group would wrap it
                        raised.append(error)
                        group.cancel_scope.cancel()
        finally:
            self._followers -= 1
        if raised:
            raise raised[0]
        return self._ended

    async def stop(self) -> None:
        """Cancel the run and wait until it has closed what it had open, at most 5 s."""
        if self._handle is not None:
            self._handle.cancel()
        else:
            self._scope.cancel()
        with anyio.move_on_after(_STOP_S, shield=True):
            await self.ended()

    async def changed(self) -> None:
        """Wait until what the run waits for is another, or the run ends."""
        await self._changed.wait()

    async def ended(self) -> None:
        """Wait for the end of the run, however it ends."""
        while not self._ended:
            await self._changed.wait()

    async def _report(self, report: Report, after: int) -> None:
        if self._handle is not None:
            async for each in self._handle.events(after=after):
                await report(each)

    async def _settle_approvals(self, ask: Ask) -> None:
        while not self._ended:
            changed, pending = self._changed, self.pending
            if pending is None:
                await changed.wait()
            else:
                await ask(pending)
                while self.pending is pending:  # until the run goes on
                    await self._changed.wait()

    async def approve(self, asked: OutgoingQueries | FileChange) -> bool:
        """Ask the user about words that the run would send; see `asky.values.Approve`.

        A change to a file is declined: who serves others writes no files of the user.
        """
        if not self._answer_s or isinstance(asked, FileChange):
            return False
        pending = self.pending = PendingApproval(secrets.token_urlsafe(16), asked)
        await self._wait_for(pending.answered)
        self.pending = None
        self._wake()
        return pending.is_approved

    async def clarify(self, question: str) -> str | None:
        """Ask the user what is meant, and return the answer; `None` without one."""
        if not self._answer_s:
            return None
        pending = self.question = PendingQuestion(question)
        await self._wait_for(pending.answered)
        self.question = None
        self._wake()
        return pending.answer

    async def _wait_for(self, answered: anyio.Event) -> None:
        self._wake()
        with anyio.move_on_after(self._answer_s):
            await answered.wait()
        if not answered.is_set() and not self._followers and not self.is_detached and self._handle is not None:
            self._handle.cancel()  # the client that alone waited for it has gone

    def _wake(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()


class RunKeeper:
    """The runs of one server, in its task group: they end with it, and their partial answers are kept."""

    def __init__(self, group: TaskGroup, max_runs: int) -> None:
        self._group = group
        self._max_runs = max_runs
        self._active: set[KeptRun] = set()  # those that start included
        self._runs: dict[str, KeptRun] = {}
        self._ended: dict[str, KeptRun] = {}

    async def start(self, open_run: OpenRun, *, answer_s: float, limit_s: float = math.inf) -> KeptRun:
        """Start a run and return it once it has an id. Raises what prevents its start.

        See `KeptRun` for `answer_s`, and `KeptRun.live` for `limit_s`. Raises `TooManyRuns` if as many are in progress
        as may be.
        """
        if len(self._active) >= self._max_runs:
            raise TooManyRuns(f"{self._max_runs} runs are in progress", hint="wait for one of them to end")
        kept, started = KeptRun(answer_s), anyio.Event()
        self._active.add(kept)
        self._group.start_soon(self._keep, kept, open_run, limit_s, started.set)
        try:
            await started.wait()
        except anyio.get_cancelled_exc_class():
            await kept.stop()
            raise
        if kept.id is None:
            kept.result()
        return kept

    def find(self, run_id: str) -> KeptRun | None:
        """Return a run that is in progress here."""
        return self._runs.get(run_id)

    def find_ended(self, run_id: str) -> KeptRun | None:
        """Return one of the last 32 runs that ended here: one that failed early is in no store."""
        return self._ended.get(run_id)

    def awaiting(self, token: str) -> KeptRun | None:
        """Return the run that waits for the approval with this token."""
        return next((each for each in self._runs.values() if each.pending and each.pending.token == token), None)

    async def _keep(self, kept: KeptRun, open_run: OpenRun, limit_s: float, started: Callable[[], None]) -> None:
        def begin() -> None:
            if kept.id is not None:
                self._runs[kept.id] = kept
            started()

        try:
            await kept.live(open_run, limit_s, begin)
        finally:
            self._active.discard(kept)
            if kept.id is not None:
                del self._runs[kept.id]
                self._remember(kept.id, kept)

    def _remember(self, run_id: str, kept: KeptRun) -> None:
        self._ended.pop(run_id, None)
        self._ended[run_id] = kept
        if len(self._ended) > _MAX_ENDED:
            del self._ended[next(iter(self._ended))]


@asynccontextmanager
async def keeping_runs(max_runs: int = MAX_RUNS) -> AsyncIterator[RunKeeper]:
    """Yield a keeper of at most `max_runs` runs at once; they are cancelled when the body ends, and then waited for."""
    async with anyio.create_task_group() as group:
        try:
            yield RunKeeper(group, max_runs)
        finally:
            group.cancel_scope.cancel()
