"""Runs that outlive the call that started them, and the questions that they have for the user."""

from __future__ import annotations

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
    from asky.values import Answer, Approve

ANSWER_S = 300.0
"""Seconds that a run waits for the user's approval before it goes on without."""
MAX_RUNS = 8
"""The most runs of one server at once."""
_STOP_S = 5.0

OpenRun = Callable[["Approve"], AbstractAsyncContextManager["RunHandle"]]
"""Starts a run, which asks the user through the given function."""
Report = Callable[["Envelope"], Awaitable[None]]
Ask = Callable[["PendingApproval"], Awaitable[None]]
"""Asks the user, and settles the approval; it may also raise to end the call, and have the next one settle it."""


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


class KeptRun:
    """A run that this server keeps. `is_detached` says that the call that started it has returned.

    It waits `answer_s` seconds for the user's approval; 0 says that the user cannot be asked.
    """

    def __init__(self, answer_s: float) -> None:
        self.pending: PendingApproval | None = None
        self.is_detached = False
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
                async with open_run(self._approve) as handle:
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

    async def _approve(self, asked: OutgoingQueries | FileChange) -> bool:
        if not self._answer_s or isinstance(asked, FileChange):  # as `Consent.approve` has it
            return False
        pending = self.pending = PendingApproval(secrets.token_urlsafe(16), asked)
        self._wake()
        with anyio.move_on_after(self._answer_s):
            await pending.answered.wait()
        self.pending = None
        self._wake()
        if not pending.answered.is_set() and not self._followers and not self.is_detached and self._handle is not None:
            self._handle.cancel()  # the client that alone waited for it has gone
        return pending.is_approved

    def _wake(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()


class RunKeeper:
    """The runs of one server, in its task group: they end with it, and their partial answers are kept."""

    def __init__(self, group: TaskGroup) -> None:
        self._group = group
        self._runs: dict[str, KeptRun] = {}

    async def start(self, open_run: OpenRun, *, answer_s: float, limit_s: float) -> KeptRun:
        """Start a run and return it once it has an id. Raises what prevents its start.

        See `KeptRun` for `answer_s`, and `KeptRun.live` for `limit_s`. Raises `UsageError` if too many are in progress.
        """
        if len(self._runs) >= MAX_RUNS:
            raise UsageError(f"{MAX_RUNS} runs are in progress", hint="wait for one of them with run_status")
        kept, started = KeptRun(answer_s), anyio.Event()
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
            self._runs.pop(kept.id or "", None)


@asynccontextmanager
async def keeping_runs() -> AsyncIterator[RunKeeper]:
    """Yield a keeper; its runs are cancelled when the body ends, and then waited for."""
    async with anyio.create_task_group() as group:
        try:
            yield RunKeeper(group)
        finally:
            group.cancel_scope.cancel()
