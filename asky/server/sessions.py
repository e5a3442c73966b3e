"""The runs of a server: those that it carries on, and those that the store has from before or from other processes."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import anyio.to_thread

from asky.app.schemas.run import answer_object
from asky.app.serving.research import AGENT
from asky.errors import AskyError, UsageError
from asky.server.errors import RunConflict, SessionNotFound
from asky.server.messages import RunProgress

if TYPE_CHECKING:
    from asky.app.asky import Asky
    from asky.app.runs import Run, RunHandle
    from asky.app.serving.research import ResearchAgent, ResearchRequest
    from asky.app.serving.runs import KeptRun, OpenRun, RunKeeper
    from asky.events import Envelope
    from asky.server.errors import Failures
    from asky.server.settings import ServerSettings

Value = TypeVar("Value")


async def in_worker(function: Callable[..., Value], *args: Any) -> Value:
    """Return the value of a function that reads the store, called in a thread."""
    return await anyio.to_thread.run_sync(partial(function, *args), abandon_on_cancel=True)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The status of a run, with its `asky.answer/1` object if it has one and its `asky.error/1` object if it failed."""

    status: str
    answer: Mapping[str, Any] | None
    error: dict[str, Any] | None = None


class Sessions:
    """Finds, starts and steers runs; `keeper` holds those of this process."""

    def __init__(
        self,
        asky: Asky,
        keeper: RunKeeper,
        agent: ResearchAgent,
        failures: Failures,
        settings: ServerSettings,
    ) -> None:
        self.mask = asky.services.mask
        self._asky = asky
        self._keeper = keeper
        self.agent = agent
        self._failures = failures
        self._settings = settings

    # finding

    async def find(self, run_id: str) -> Run:
        """Return a run of the store. Raises `SessionNotFound`."""
        try:
            run = await in_worker(self._asky.runs.find, run_id)
        except UsageError:
            raise SessionNotFound from None
        if run.id != run_id:  # the beginning of an id
            raise SessionNotFound
        return run

    def kept(self, run_id: str) -> KeptRun | None:
        """Return a run that is in progress here."""
        return self._keeper.find(run_id)

    def require_kept(self, run_id: str) -> KeptRun:
        """Return a run that is in progress here. Raises `RunConflict`."""
        kept = self._keeper.find(run_id)
        if kept is None:
            raise RunConflict("the run is not in progress here", hint="POST /api/research/{session_id}/resume")
        return kept

    async def is_known(self, run_id: str) -> bool:
        """Return whether there is a run with that id."""
        if self._memory(run_id) is not None:
            return True
        try:
            await self.find(run_id)
        except SessionNotFound:
            return False
        return True

    async def require_known(self, run_id: str) -> None:
        """Raise `SessionNotFound` if there is no run with that id."""
        if self._memory(run_id) is None:
            await self.find(run_id)

    async def outcome(self, run_id: str) -> Outcome:
        """Return how a run ended, or that it has not. Raises `SessionNotFound`."""
        kept = self._memory(run_id)
        error = _error_of(kept) if kept is not None and kept.has_ended else None
        try:
            run = await self.find(run_id)
        except SessionNotFound:
            if kept is None:
                raise
            if error is not None:  # it failed before it was stored
                return Outcome("failed", None, self._failures.report(error)[1])
            return Outcome("running", None)
        if run.status != "failed":
            return Outcome(run.status, run.answer)
        if error is not None:
            return Outcome(run.status, run.answer, self._failures.report(error)[1])
        return Outcome(run.status, run.answer, await in_worker(self._stored_error, run_id))

    def _stored_error(self, run_id: str) -> dict[str, Any]:
        ledger = self._asky.runs.show(run_id).ledger
        data = next((each.data for each in ledger if each.kind == "failed"), {})
        stored = AskyError(str(data.get("message", "the run failed")))
        return self._failures.report(stored)[1] | {"code": str(data.get("code", "error"))}

    async def events(self, run_id: str) -> AsyncGenerator[Envelope, None]:
        """Yield all events of a run, and go on until it ends; none for one that is not known."""
        kept = self._memory(run_id)
        if kept is not None and kept.handle is not None:
            async for each in kept.handle.events():
                yield each
            await kept.ended()
            return
        after, is_running = 0, True
        while is_running:
            try:
                is_running = (await self.find(run_id)).status == "running"
            except SessionNotFound:
                return
            async for each in self._asky.runs.events(run_id, after=after):
                after = each.seq
                yield each
            if is_running:
                await anyio.sleep(self._settings.poll_s)

    async def progress(self, run_id: str) -> RunProgress:
        """Return how far a run is by its stored events."""
        progress = RunProgress()
        try:
            async for each in self._asky.runs.events(run_id):
                progress = progress.after(each.event)
        except UsageError:  # it still reads its sources
            return progress
        return progress

    def _memory(self, run_id: str) -> KeptRun | None:
        return self._keeper.find(run_id) or self._keeper.find_ended(run_id)

    # starting and stopping

    async def start_research(self, request: ResearchRequest) -> KeptRun:
        """Start a run of the agent. Raises what prevents its start."""
        agent = self.agent
        kept = await self.start(lambda kept: agent.start(request, approve=kept.approve, clarify=kept.clarify))
        kept.asked = request.query
        return kept

    def asked(self, run_id: str) -> str | None:
        """Return the question of a run that was started here, before the store has it."""
        kept = self._memory(run_id)
        return kept.asked if kept is not None else None

    async def resume(self, run_id: str) -> KeptRun:
        """Go on with a run of any product. Raises `RunConflict` if it is in progress or has finished."""
        run = await self.find(run_id)
        if self.kept(run_id) is not None or run.status in ("running", "finished"):
            state = "has finished" if run.status == "finished" else "is in progress"
            raise RunConflict(f"the run {state}")
        chat = self._asky.chat

        def open_run(kept: KeptRun) -> AbstractAsyncContextManager[RunHandle]:
            if run.mode == AGENT:
                return self.agent.resume(run_id, approve=kept.approve, clarify=kept.clarify)
            return chat.resume(run_id, approve=kept.approve)

        try:
            return await self.start(open_run)
        except UsageError as error:  # another process was quicker
            raise RunConflict(error.message, hint=error.hint) from error

    async def start(self, open_run: OpenRun) -> KeptRun:
        """Start a run of any product. Raises what prevents its start."""
        kept = await self._keeper.start(open_run, answer_s=self._settings.answer_s)
        kept.is_detached = True
        return kept

    async def stop(self, run_id: str) -> str:
        """Have a run end early, and return its status: `stopping`, or how it has ended."""
        kept = self.kept(run_id)
        if kept is not None:
            _answer_nothing(kept)
        run = None if kept is not None and not await self._is_stored(run_id) else await self.find(run_id)
        if run is not None and run.mode == AGENT and run.status == "running":
            await in_worker(self.agent.stop, run_id)
            return "stopping"
        if kept is not None and kept.handle is not None:
            kept.handle.cancel()
            return "stopping"
        assert run is not None
        if run.status == "running":
            raise RunConflict("another process has the run", hint="stop it there")
        return run.status

    async def _is_stored(self, run_id: str) -> bool:
        try:
            await self.find(run_id)
        except SessionNotFound:
            return False
        return True


def _answer_nothing(kept: KeptRun) -> None:
    """Have a run go on that waits for the user."""
    if kept.pending is not None:
        kept.pending.settle(is_approved=False)
    if kept.question is not None:
        kept.question.settle(None)


def _error_of(kept: KeptRun) -> Exception | None:
    try:
        kept.result()
    except Exception as error:  # noqa: BLE001 - it is reported
        return error
    return None


def answer_of(kept: KeptRun) -> dict[str, Any]:
    """Return the `asky.answer/1` object of a run that has ended. Raises the error that ended it."""
    return answer_object(kept.result())
