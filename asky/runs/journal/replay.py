"""Resuming runs that were interrupted, and replaying runs from their journal alone."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import anyio

from asky.concurrency import in_thread
from asky.config.keys import Leaf, find
from asky.errors import ReplayMissed, StoreDamaged, UsageError
from asky.events import Event, Listener, Warned, ignore, listening
from asky.evidence.answer import answer_json
from asky.evidence.marks import without_uncited_marks
from asky.research.web.ledger import SEARCHED
from asky.runs.access import ACCESS_OPTIONS, Access
from asky.runs.context import RunContext, RunSpec, decode_spec
from asky.runs.feed import RunFeed
from asky.runs.journal.journal import StepMissing
from asky.runs.journal.searches import unlogged_searches
from asky.runs.journal.steps import resumable_steps
from asky.storage.sessions import Session, SessionStore
from asky.text.scrub import one_line

if TYPE_CHECKING:
    from asky.llm.port import ChatModel, Message, Reply, TextDelta, ToolChoice, ToolSpec
    from asky.storage.runs import Run, RunStore
    from asky.storage.steps import Step
    from asky.values import Answer


class RunWorker(Protocol):
    """Executes the runs of a product with one model."""

    @property
    def model(self) -> ChatModel: ...
    @property
    def runs(self) -> RunStore: ...
    @property
    def sessions(self) -> SessionStore: ...

    async def execute(
        self,
        spec: RunSpec,
        session: Session,
        run: Run,
        context: RunContext,
        on_answer: Callable[[Answer], None],
        steps: Sequence[Step] = (),
        *,
        is_live: bool = True,
    ) -> None:
        """Execute a run of `spec` after its recorded `steps`; without `is_live` it is replayed from them alone.

        `on_answer` receives the answer.
        """
        ...

    def for_replay(self, model: ChatModel) -> RunWorker:
        """Return a worker that replays runs with `model`, without a web, custom tools or a budget."""
        ...


_USER_ERRORS = ("usage", "config")


def recorded_spec(runs: RunStore, run: Run) -> RunSpec:
    """Return the recorded spec of `run`. Raises `UsageError` without steps, and `StoreDamaged` without a spec."""
    return _decoded_spec(run, runs.steps.of(run.id))


def _decoded_spec(run: Run, steps: Sequence[Step]) -> RunSpec:
    if not steps:
        raise UsageError(
            f"run {run.id} was not recorded: it is from an earlier version, or its damaged record was removed",
            hint="`asky runs show` prints its ledger",
        )
    first = steps[0]
    try:
        if first.kind == "begun" and first.ordinal == 0:
            return decode_spec(first.data)
    except (KeyError, TypeError, ValueError) as error:
        raise _spec_missing(run) from error
    raise _spec_missing(run)


def _spec_missing(run: Run) -> StoreDamaged:
    message = f"the record of run {run.id} is damaged: its question and settings are missing"
    return StoreDamaged(message, hint="`asky runs show` prints its answer and its ledger; ask again for a new one")


def is_withdrawn(sessions: SessionStore, run: Run) -> bool:
    """Return whether the user withdrew the turn of `run` from its session."""
    messages = sessions.messages(run.session_id) if run.session_id is not None else ()
    return any(each.run_id == run.id and each.is_withdrawn for each in messages)


def require_resumable(runs: RunStore, sessions: SessionStore, run: Run) -> RunSpec:
    """Return the recorded spec of `run`. Raises `UsageError` if the run cannot be resumed."""
    if run.status == "finished":
        raise UsageError(f"run {run.id} has finished", hint=f"`asky runs show {run.id}` prints its answer")
    if run.status == "running":
        raise UsageError(f"run {run.id} is still running", hint="wait for it, or stop its process")
    if is_withdrawn(sessions, run):
        raise UsageError(f"run {run.id} was taken back and cannot be resumed", hint="ask its question again")
    spec = recorded_spec(runs, run)
    failed = [each.data for each in runs.ledger(run.id) if each.kind == "failed"]
    if run.status == "failed" and failed and failed[-1].get("code") in _USER_ERRORS:
        raise UsageError(
            f"run {run.id} would fail again: {failed[-1].get('message')}", hint="ask again with other options"
        )
    if unknown := _unknown_settings(spec):
        raise UsageError(
            f"run {run.id} was started with an unknown setting: {one_line(unknown[0])}",
            hint="its record is from another version of asky, or was edited; ask its question again",
        )
    return spec


def _unknown_settings(spec: RunSpec) -> list[str]:
    """Return the settings given on the command line that the configuration does not have."""
    names = [name for name in spec.options if name not in ACCESS_OPTIONS]
    return [name for name in names if not isinstance(find(tuple(name.split("."))), Leaf)]


async def resume(
    worker: RunWorker, run: Run, session: Session, context: RunContext, *, on_answer: Callable[[Answer], None]
) -> None:
    """Resume `run`, which was interrupted or cancelled or has failed, and pass the stored answer to `on_answer`.

    Recorded calls are not made again, except one that was cut off. Raises what the worker raises, and `UsageError` for
    a run that cannot be resumed or that was started with another model.
    """
    runs = worker.runs
    spec = await in_thread(require_resumable, runs, worker.sessions, run)
    if worker.model.name != spec.model:
        raise UsageError(f"run {run.id} was started with the model {spec.model}, not {worker.model.name}")
    context.access.require_model(worker.model)

    def claim() -> list[Step]:
        with ExitStack() as failing:
            with runs.steps.together():
                runs.take_up(run.id)
                failing.callback(runs.release, run.id)
                usable, changed = resumable_steps(runs.steps.of(run.id))
                _log_searches(runs, run, usable)
                runs.steps.replace(run.id, changed)
                runs.record(run.id, "resumed", {"was": run.status, "steps": len(usable)})
                context.feed.start_writing()
            failing.pop_all()
        return usable

    with anyio.CancelScope(shield=True):  # a run that was claimed must be released
        steps = await in_thread(claim)
    await worker.execute(spec, session, run, context, on_answer, steps)


def _log_searches(runs: RunStore, run: Run, steps: Sequence[Step]) -> None:
    """Add to the ledger the searches whose process was killed before it logged them."""
    if not any(each.kind == "searched" for each in steps):
        return
    for entry in unlogged_searches(steps, runs.ledger(run.id)):
        runs.record(run.id, SEARCHED, entry)


async def replay(worker: RunWorker, run: Run, *, listen: Listener = ignore) -> Answer:
    """Return the answer of `run`, computed again from its journal: nothing is sent, searched, read, embedded or stored.

    Of `worker` only the stores are used. `listen` receives the warnings of the run. Raises `UsageError` for a run
    without an answer or a journal, and `ReplayMissed` if a step is missing or the result differs from the stored
    answer.
    """
    steps = await in_thread(worker.runs.steps.of, run.id)
    if run.answer is None:
        hint = f"`asky runs resume {run.id}` continues it" if run.status not in ("running", "finished") else None
        raise UsageError(f"run {run.id} has no answer to replay: its status is {run.status}", hint=hint)
    spec = _decoded_spec(run, steps)

    def forward_warning(event: Event) -> None:
        if isinstance(event, Warned):
            listen(event)

    replayer = worker.for_replay(RecordedModel(spec.model, spec.host, spec.context_tokens))
    context = RunContext(RunFeed(run.id, None, listen=forward_warning), Access(offline=True))
    session = Session(run.session_id or "", spec.session, run.mode, "", "")
    answers: list[Answer] = []
    try:
        with listening(context.emit):
            await replayer.execute(spec, session, run, context, answers.append, steps, is_live=False)
    except StepMissing as missing:
        raise _replay_missed(run, str(missing)) from missing
    _require_same(run, answer_json(answers[-1]))
    return answers[-1]


def _replay_missed(run: Run, what: str) -> ReplayMissed:
    return ReplayMissed(
        f"run {run.id} cannot be replayed: {what}", hint="its record is from another version of asky, or was edited"
    )


def _require_same(run: Run, replayed: Mapping[str, Any]) -> None:
    stored = without_uncited_marks(run.answer) if run.answer is not None else {}
    plain = json.loads(json.dumps(replayed))
    if "relevance" in stored:  # the name of the confidence before there were contradictions, whose sides are cited
        stored = {**stored, "confidence": stored["relevance"]}
        del stored["relevance"]
    if "contradictions" not in stored:
        plain["citations"] = plain["citations"][: len(stored.get("citations", ()))]
    other = [name for name, value in stored.items() if name not in plain or not _includes(plain[name], value)]
    if other:
        raise _replay_missed(run, f"the replayed answer differs in {', '.join(other)}")


def _includes(replayed: Any, stored: Any) -> bool:
    """Return whether `replayed` equals `stored`, apart from fields that `stored` lacks: newer versions add some."""
    if isinstance(stored, dict) and isinstance(replayed, dict):
        return all(name in replayed and _includes(replayed[name], value) for name, value in stored.items())
    if isinstance(stored, list) and isinstance(replayed, list):
        return len(stored) == len(replayed) and all(map(_includes, replayed, stored))
    return bool(stored == replayed)


@dataclass(frozen=True, slots=True)
class RecordedModel:
    """The model of a replayed run: its name and sizes, without the ability to be called."""

    name: str
    host: str | None
    context_tokens: int

    def stream(
        self,
        messages: Sequence[Message],  # noqa: ARG002 - the port's parameters
        tools: Sequence[ToolSpec],  # noqa: ARG002
        *,
        tool_choice: ToolChoice = "auto",  # noqa: ARG002
        schema: Mapping[str, Any] | None = None,  # noqa: ARG002
    ) -> AsyncGenerator[TextDelta | Reply, None]:
        """Raise `StepMissing`: a replayed run makes no calls."""
        raise StepMissing("a model call")
