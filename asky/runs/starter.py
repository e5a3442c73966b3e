"""Starting the runs of a product: in a session, with a model that may see its sources."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar

import anyio

from asky.concurrency import in_thread
from asky.events import Event, Listener, Noted, ignore
from asky.runs.access import BUILT_IN, Access, naming_session, note_built_in_stays
from asky.runs.context import run_context, running
from asky.runs.driver import BaseRunWorker
from asky.values import Approve, decline

if TYPE_CHECKING:
    from asky.config.limits import RunLimits
    from asky.runs.context import Question, RunContext, RunHandle
    from asky.storage.corpus import CorpusStore
    from asky.storage.events import EventStore
    from asky.storage.runs import RunStore
    from asky.storage.sessions import Session, SessionStore
    from asky.values import Answer, Clarify

_STANDARD = "standard"  # the mode of other questions in the session
Worker = TypeVar("Worker", bound=BaseRunWorker)


@dataclass(frozen=True, slots=True)
class OpenedSession(Generic[Worker]):
    """A session with the worker that answers in it.

    `model` is the model to remember for later runs, if any, and `told` what the user should know before it answers.
    """

    session: Session
    worker: Worker
    access: Access
    limits: RunLimits
    model: str | None
    told: tuple[Event, ...] = ()


@dataclass(frozen=True, slots=True)
class RunStarter(Generic[Worker]):
    """Starts runs. `worker` makes the worker of a model, and `mask` hides secrets in events."""

    worker: Callable[[str | None, RunLimits], Worker]
    corpus: CorpusStore
    sessions: SessionStore
    runs: RunStore
    events: EventStore
    mask: Callable[[str], str]

    def open(
        self,
        name: str | None,
        model: str | None,
        limits: RunLimits,
        *,
        offline: bool,
        private_stays: bool = False,
    ) -> OpenedSession[Worker]:
        """Return the session called `name`, created if necessary, with the worker of `model`; `None` is a new session.

        Without `model`, it is that of the session, else the default one; the built-in one if the session has private
        documents that no other has seen. Raises `UsageError` if the model may not see the sources.
        """
        session = self.sessions.open(name, mode=_STANDARD)
        chosen = model or session.settings.get("model")
        access = Access.of_session(session, chosen, self.corpus, self.runs, offline=offline)
        access = replace(access, private_stays=private_stays)
        with naming_session(session, model):
            worker, told = self.worker(chosen, limits), tuple[Event, ...]()
        if access.only_built_in and worker.model.host is not None:
            told = (Noted(note_built_in_stays(f"{worker.model.name} at {worker.model.host}")),)
            worker = self.worker(BUILT_IN, limits)
        access.require_model(worker.model)
        remembered = chosen or (worker.model.name if worker.model.host is not None else None)
        return OpenedSession(session, worker, access, limits, remembered, told)

    @asynccontextmanager
    async def start(
        self,
        opened: OpenedSession[Worker],
        question: Question,
        *,
        listen: Listener = ignore,
        notes: Callable[[], Sequence[str]] = tuple,
        approve: Approve = decline,
        clarify: Clarify | None = None,
    ) -> AsyncIterator[RunHandle]:
        """Answer `question` in the background of the body; leaving the body cancels the run if it has not finished."""
        run_id = await in_thread(self.runs.new_id)
        context = run_context(
            self.events,
            self.mask,
            run_id,
            opened.session.id,
            opened.access,
            opened.limits,
            listen,
            notes,
            approve,
            clarify,
        )
        async with running(context, partial(self._run, opened, question, context)) as run:
            yield run

    async def _run(
        self,
        opened: OpenedSession[Worker],
        question: Question,
        context: RunContext,
        on_answer: Callable[[Answer], None],
    ) -> None:
        for each in opened.told:
            context.emit(each)
        with anyio.CancelScope(shield=True):
            await in_thread(self._remember, opened.session, opened.model)
        await opened.worker.answer(question, opened.session, context, on_answer=on_answer)

    def _remember(self, session: Session, model: str | None) -> None:
        self.sessions.remember(session.id, mode=session.mode, settings={**session.settings, "model": model})
