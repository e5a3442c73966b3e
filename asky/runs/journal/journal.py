"""The journal of one run: its external inputs, step by step, from which it is resumed or replayed.

A step is on disk before its data is used. The steps recorded by an earlier process are replayed first, instead of the
calls that they record. A live run then continues and appends its own steps; a replayed run ends without contacting any
host.

| kind | key | data |
|---|---|---|
| `begun` | | the question, the model and the limits |
| `searched` | a hash of service and request | the results of one search service |
| `researched` | a node and its cycle | what a node of the research agent has found |
| `prepared` | | the first messages and the tools |
| `called` | a hash of the request | the reply, or the error and the text received before it |
| `summarised` | a hash of the request | the reply with the summary of a page |
| `ran` | tool, arguments and number | the result of a tool |
| `counted` | | the number of passages and sources searched |
| `judged` | | verdicts of a model on the claims, or why there are none |
| `compared` | | warnings about sources that changed since an earlier turn |
| `finished` | | how the run ended |
| `set aside` | | the usage of a call that is made again |

In addition, each step holds the changes of the run's state (`state`), and the budget decisions and user notes since the
step before (`met`).
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import anyio

from asky.concurrency import in_thread
from asky.llm.codec import (
    digest,
)
from asky.llm.port import ModelUsage
from asky.runs.journal.state import RunState
from asky.runs.journal.steps import QUARANTINED, quarantine_step, replayable_steps, used_by
from asky.storage.steps import Step

if TYPE_CHECKING:
    from asky.research.run import ResearchRun
    from asky.storage.documents import DocumentStore
    from asky.storage.runs import RunStore

Phase = Literal["writing", "checking", "mending", "ending"]  # as recorded in `cancelled_in`; `mending` is the revision
StopReason = Literal["time", "cancelled"]

_STEP_NAMES = {
    "called": "model call",
    "ran": "tool call",
    "prepared": "preparation",
    "counted": "count",
    "compared": "comparison",
    "judged": "judgement",
}


class StepMissing(Exception):
    """A replayed run needs a step that its journal lacks. Not an `AskyError`: nothing may take it for a failed call."""


class RunJournal:
    """The journal and the `state` of the run that `research` belongs to. `steps` are those recorded so far, in order.

    Without `is_live` the run is replayed: nothing is called, and no step is added. `new_warnings` are the warnings of
    this process. `ending` is the data of the `finished` step, empty for a run that has not ended. `on_stale` receives
    the usage of each recorded call that is discarded. All methods are called from one event loop; the steps of tools
    that run concurrently are found in any order.
    """

    def __init__(
        self,
        runs: RunStore,
        research: ResearchRun,
        steps: Sequence[Step] = (),
        *,
        new_warnings: Sequence[str] = (),
        is_live: bool = True,
        on_stale: Callable[[ModelUsage], None],
    ) -> None:
        self.is_live = is_live
        self.on_stale = on_stale
        self.phase: Phase = "writing"
        self.last_call: Literal["made", "replayed", "recorded"] = "made"  # how the budget counts it
        self.estimate: ModelUsage | None = None  # of the last call, if it ended without reported usage
        self._runs = runs
        self._run_id = research.run_id
        self.state = RunState(research, new_warnings)
        self._steps = replayable_steps(steps) if steps else []
        self._model_calls = deque(each for each in self._steps if each.kind == "called")
        self._other_steps: dict[tuple[str, str], deque[Step]] = {}
        for each in self._steps:
            if each.kind != "called":
                self._other_steps.setdefault((each.kind, each.key), deque()).append(each)
        finished = self._other_steps.get(("finished", ""))
        self.ending: Mapping[str, Any] = finished[0].data if finished else {}
        self._all_steps = list(steps)
        self._tool_calls: Counter[str] = Counter()
        self._note_reads = 0
        self._inputs: dict[str, Any] = {}
        self._unsaved_inputs: dict[str, Any] = {}
        for each in steps:
            self._inputs |= each.data.get("met", {})
        self._is_restored = not steps
        self._adding = anyio.Lock()
        self._cancel_for: dict[StopReason, Callable[[], None]] = {}

    # recorded steps

    def restore(self, documents: DocumentStore) -> None:
        """Restore the state of the run as of its last step."""
        self.state.restore((each.data["state"] for each in self._all_steps if "state" in each.data), documents)
        self._is_restored = True

    def side_usage(self) -> list[ModelUsage]:
        """Return the usage of calls outside the tool loop: of summaries, and of calls that are made again."""
        return used_by(each for each in self._all_steps if each.kind in ("summarised", QUARANTINED))

    def recorded(self, kind: str) -> list[Step]:
        """Return all recorded steps of that kind, also those that `next_step` has returned, in order."""
        return [each for each in self._all_steps if each.kind == kind]

    @property
    def is_replaying(self) -> bool:
        """True if the next model call is answered from the journal."""
        return not self.is_live or bool(self._model_calls)

    async def next_step(self, kind: str, key: str = "") -> Mapping[str, Any] | None:
        """Remove and return the data of the next step of that kind and key; `None` if a live run has no such step.

        Raises `StepMissing` if a replayed run has none.
        """
        found = self._other_steps.get((kind, key))
        if found:
            return found.popleft().data
        if not self.is_live:
            await self._raise_missing(kind)
        return None

    async def next_call(self, key: str) -> Mapping[str, Any] | None:
        """Remove and return the data of the next model call; `None` if a live run has to make it.

        If the request of a live run differs from the recorded one, the calls recorded from there on, and their tool
        results, are discarded. Answers of search services are kept for the same searches until all recorded calls have
        been replayed; searches after that are sent again. Raises `StepMissing` as `next_step` does.
        """
        if self._model_calls and self._model_calls[0].key == key:
            return self._model_calls.popleft().data
        if not self.is_live:
            await self._raise_missing("called")
        if self._model_calls:
            stale = [
                *self._model_calls,
                *(each for (kind, _), found in self._other_steps.items() if kind == "ran" for each in found),
            ]
            self._model_calls.clear()
            self._drop("ran")
            await in_thread(self._runs.steps.replace, self._run_id, [quarantine_step(each) for each in stale])
            for used in used_by(stale):
                self.on_stale(used)
        else:
            self._drop("searched")
        return None

    def _drop(self, kind: str) -> None:
        self._other_steps = {name: found for name, found in self._other_steps.items() if name[0] != kind}

    async def _raise_missing(self, kind: str) -> NoReturn:
        """Stop if the recorded run was stopped here; else raise `StepMissing`."""
        await self.stop_if_recorded()
        at = self._model_calls[0].ordinal if self._model_calls else len(self._all_steps) - 1
        expects = "the run continued differently" if self._model_calls else "the run ended"
        raise StepMissing(f"{_STEP_NAMES.get(kind, kind)} that was not recorded: {expects} at step {at}")

    def tool_call_key(self, name: str, arguments: str) -> str:
        """Return the key of the next call of a tool; equal calls get different keys, numbered in order."""
        same = digest(name, arguments)
        self._tool_calls[same] += 1
        return f"{same[:32]}-{self._tool_calls[same]}"

    # stops

    def on_stop(self, reason: StopReason, cancel: Callable[[], None]) -> None:
        """Register the function that stops a replayed run where the recorded one ran out of time or was cancelled."""
        self._cancel_for[reason] = cancel

    def time_limit(self, seconds: float | None) -> anyio.CancelScope:
        """Return a cancel scope that ends a live run after `seconds`, and a replayed one where its time ran out."""
        scope = anyio.move_on_after(seconds if self.is_live else None)
        self.on_stop("time", scope.cancel)
        return scope

    async def stop_for(self, reason: StopReason) -> NoReturn:
        """Stop the replayed run, for the reason that stopped the recorded one."""
        self._cancel_for[reason]()
        await anyio.sleep_forever()
        raise AssertionError("sleeping in a cancelled scope raises")

    @property
    def recorded_stop(self) -> StopReason | None:
        """The reason why the recorded run was stopped, if in this phase and if all recorded calls were replayed."""
        if self.is_live or self._model_calls:
            return None
        if self.phase == "writing" and self.ending.get("allowed_s") is not None:
            return "time"
        if self.phase == "mending" and self.ending.get("mended_late"):
            return "time"
        return "cancelled" if self.ending.get("cancelled_in") == self.phase else None

    async def stop_if_recorded(self) -> None:
        """Stop here if the recorded run was stopped here; else do nothing."""
        if reason := self.recorded_stop:
            await self.stop_for(reason)

    async def enter(self, phase: Phase) -> None:
        """Begin a phase; a replayed run stops here if the recorded one was stopped in it."""
        self.phase = phase
        await self.stop_if_recorded()

    # budget decisions and notes

    def decide(self, name: str, decide: Callable[[], Any]) -> Any:
        """Return the recorded decision of that name while replaying, else the result of `decide()`, which is recorded.

        `None` is not recorded: a missing decision is `None`.
        """
        if self.is_replaying:
            return self._inputs.get(name)
        found = decide()
        self.record_input(name, found)
        return found

    def next_notes(self, new: Callable[[], Sequence[str]]) -> Sequence[str]:
        """Return the user's notes since the last call, in order: recorded ones, then in a live run those of `new()`.

        Notes are the user's own words, so queries may repeat them as they may repeat the question.
        """
        self._note_reads += 1
        name = f"notes {self._note_reads}"
        notes: list[str] = list(self._inputs.get(name) or ())
        if not self.is_replaying and (received := new()):
            self.state.research.question = "\n".join([self.state.research.question, *received])
            notes += received
            self.record_input(name, notes)
        return notes

    def record_input(self, name: str, found: Any) -> None:
        """Record a budget decision or notes with the next step; `None` only to replace a value of the same name."""
        if found is not None or self._inputs.get(name) is not None:
            self._inputs[name] = self._unsaved_inputs[name] = found

    # appending

    async def add(self, kind: str, key: str, data: Mapping[str, Any], *, used: ModelUsage | None = None) -> None:
        """Append a step and, if `used` is given, a ledger entry with this usage; both are on disk on return."""
        with anyio.CancelScope(shield=True):
            async with self._adding:  # changes are recorded in their order
                step = self._step(kind, key, data)
                await in_thread(self._commit, step, used)
                self._mark_recorded(step)  # only now: the changes of a step that failed belong to the next one

    def add_last(self, data: Mapping[str, Any]) -> None:
        """Append the `finished` step in the open transaction."""
        self._commit(self._step("finished", "", data), None)

    def add_state(self) -> None:
        """Append a step with only the state of a run that fails, in the open transaction."""
        self._commit(self._step(QUARANTINED, "", {}), None)

    def _step(self, kind: str, key: str, data: Mapping[str, Any]) -> Step:
        state = {"state": self.state.changes()} if self._is_restored else {}  # before `restore` it is empty
        inputs = {"met": dict(self._unsaved_inputs)} if self._unsaved_inputs else {}
        return Step(0, kind, key, {**data, **state, **inputs})

    def _mark_recorded(self, step: Step) -> None:
        self.state.mark_recorded()
        for name, found in step.data.get("met", {}).items():
            if self._unsaved_inputs[name] is found:  # it may have been replaced meanwhile
                del self._unsaved_inputs[name]

    def _commit(self, step: Step, used: ModelUsage | None) -> None:
        with self._runs.steps.together():
            self._runs.steps.add(self._run_id, step.kind, step.key, step.data)
            if used is not None:
                self._runs.record(self._run_id, "called", asdict(used))


MakeData = Callable[[], Awaitable[Mapping[str, Any]]]
"""Returns the data of a step as JSON."""


async def get_or_record(journal: RunJournal, kind: str, make: MakeData) -> Mapping[str, Any]:
    """Return the data of the only step of that kind: from the journal, else from `make()`, recorded now."""
    found = await journal.next_step(kind)
    if found is None:
        found = await make()
        await journal.add(kind, "", found)
    return found
