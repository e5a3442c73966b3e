"""The record of one run: what it got from outside, step by step, to be taken up again or played again from there.

A step is on disk before anything is made of it. The steps of an earlier process are played first, in place of what they
record; then a live run goes on and adds its own, and one that is played again ends: nothing is asked of anybody.

| kind | key | what it holds |
|---|---|---|
| `begun` | | the question, the model and the limits |
| `searched` | a hash of service and request | what one search service found |
| `prepared` | | the first messages and the tools |
| `called` | a hash of the request | the reply, or the error with what had come before it |
| `summarised` | a hash of the request | the reply that is the summary of a page |
| `ran` | tool, arguments and number | the result of a tool |
| `counted` | | what had been searched, in numbers |
| `finished` | | how the run ended |
| `set aside` | | what a call had used that is made anew |

Every step holds, besides, what has changed of the run's state, and which limits and notes it met on the way.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import anyio

from asky.chat.packing import digest
from asky.concurrency import in_thread
from asky.llm.port import ModelUsage
from asky.storage.steps import Step

if TYPE_CHECKING:
    from asky.chat.run_state import RunState
    from asky.storage.documents import DocumentStore
    from asky.storage.runs import RunStore

Phase = Literal["writing", "checking", "mending", "ending"]
Cut = Literal["time", "cancelled"]

SET_ASIDE = "set aside"
_WORDS = {
    "called": "model call",
    "ran": "tool call",
    "prepared": "preparation",
    "counted": "count",
    "compared": "comparison",
}


class Missing(Exception):
    """Something is not in the record that is played. No `AskyError`: nobody may take it for a call that failed."""


class Record:
    """The record of one run, of which `steps` are there already.

    Unless it `is_live` nothing is added. `on_stale` is told what a call had used that is of no use any more. Steps are
    taken and added by one event loop; those of tools that run together are found whatever their order.
    """

    def __init__(
        self,
        runs: RunStore,
        run_id: str,
        state: RunState,
        steps: Sequence[Step] = (),
        *,
        is_live: bool = True,
        on_stale: Callable[[ModelUsage], None],
    ) -> None:
        self.is_live = is_live
        self.on_stale = on_stale
        self.phase: Phase = "writing"
        self.counts: Literal["anew", "again", "already"] = "anew"  # the last call, as far as the budget goes
        self.estimate: ModelUsage | None = None  # of the last call, where it was cut off and nobody has said more
        self._runs = runs
        self._run_id = run_id
        self._state = state
        self._steps = _playable(steps)
        self._calls = deque(each for each in self._steps if each.kind == "called")
        self._others: dict[tuple[str, str], deque[Step]] = {}
        for each in self._steps:
            if each.kind != "called":
                self._others.setdefault((each.kind, each.key), deque()).append(each)
        self._all = list(steps)
        self._numbers: Counter[str] = Counter()
        self._met: dict[str, Any] = {}
        self._pending: dict[str, Any] = {}
        for each in steps:
            self._met |= each.data.get("met", {})
        self._is_restored = not steps
        self._adding = anyio.Lock()
        self._cuts: dict[Cut, Callable[[], None]] = {}

    # what there is

    def restore(self, documents: DocumentStore) -> None:
        """Bring the state of the run to where the record ends."""
        self._state.restore((each.data["state"] for each in self._all if "state" in each.data), documents)
        self._is_restored = True

    def spent_beside(self) -> list[ModelUsage]:
        """What was used by calls that no reply of the loop stands for: summaries, and calls that were set aside."""
        return _used(each for each in self._all if each.kind in ("summarised", SET_ASIDE))

    @property
    def is_playing(self) -> bool:
        """Whether the next call of the model is one that is not made."""
        return not self.is_live or bool(self._calls)

    @property
    def ending(self) -> Mapping[str, Any]:
        """How the run ended; nothing for one that has not."""
        found = self._others.get(("finished", ""))
        return found[0].data if found else {}

    async def take(self, kind: str, key: str = "") -> Mapping[str, Any] | None:
        """The next step of that kind and key, taken off the record, or `None` where it is to be made.

        Raises `Missing` where nothing is made.
        """
        found = self._others.get((kind, key))
        if found:
            return found.popleft().data
        if not self.is_live:
            await self._miss(kind)
        return None

    async def take_call(self, key: str) -> Mapping[str, Any] | None:
        """The next call of the model, or `None` where it is to be made. Raises as `take` does.

        Where a live run asks for something else than was recorded, nothing that was recorded from there on is of use,
        but for what search services have answered: the same may be asked of them. Else a tool that was cut has ended by
        the time of a new call, and what is searched for from then on is to be found anew.
        """
        if self._calls and self._calls[0].key == key:
            return self._calls.popleft().data
        if not self.is_live:
            await self._miss("called")
        if self._calls:
            stale = [
                *self._calls,
                *(each for (kind, _), found in self._others.items() if kind == "ran" for each in found),
            ]
            self._calls.clear()
            self._drop("ran")
            await in_thread(self._runs.steps.replace, self._run_id, [set_aside(each) for each in stale])
            for used in _used(stale):
                self.on_stale(used)
        else:
            self._drop("searched")
        return None

    def _drop(self, kind: str) -> None:
        self._others = {name: found for name, found in self._others.items() if name[0] != kind}

    async def _miss(self, kind: str) -> NoReturn:
        """Stop where the run was stopped; a record that goes on, or that ends with an answer, lacks something."""
        await self.pass_on()
        at = self._calls[0].ordinal if self._calls else len(self._all) - 1
        expects = "the run went on otherwise" if self._calls else "the run ended"
        raise Missing(f"{_WORDS.get(kind, kind)} that was not recorded: {expects} at step {at}")

    def number(self, name: str, arguments: str) -> str:
        """The key of the next call of a tool: each is one of its own, also where it is like another."""
        same = digest(name, arguments)
        self._numbers[same] += 1
        return f"{same[:32]}-{self._numbers[same]}"

    # where it was stopped

    def on_cut(self, how: Cut, cancel: Callable[[], None]) -> None:
        """Have `cancel` called where the run was stopped in that way: by the `time`, or `cancelled` by the user."""
        self._cuts[how] = cancel

    async def stop(self, how: Cut) -> NoReturn:
        """Stop as the run was stopped."""
        self._cuts[how]()
        await anyio.sleep_forever()
        raise AssertionError("a cancelled scope lets nobody sleep")

    @property
    def stops_by(self) -> Cut | None:
        """In which way the run was stopped, if it was in this phase and no call is left to play."""
        if self.is_live or self._calls:
            return None
        if self.phase == "writing" and self.ending.get("allowed_s") is not None:
            return "time"
        if self.phase == "mending" and self.ending.get("mended_late"):
            return "time"
        return "cancelled" if self.ending.get("cancelled_in") == self.phase else None

    async def pass_on(self) -> None:
        """Go on with what was asked for, unless the run was stopped before it could."""
        if how := self.stops_by:
            await self.stop(how)

    async def enter(self, phase: Phase) -> None:
        """Begin a phase; the run ends here if it is where it was cancelled."""
        self.phase = phase
        await self.pass_on()

    # limits and notes

    def met(self, what: str) -> Any:
        """What was met at that point, or `None`."""
        return self._met.get(what)

    def meet(self, what: str, found: Any) -> None:
        """Keep with the next step what was met; `None` is kept only where it takes the place of something."""
        if found is not None or self._met.get(what) is not None:
            self._met[what] = self._pending[what] = found

    # what is added

    async def add(self, kind: str, key: str, data: Mapping[str, Any], *, used: ModelUsage | None = None) -> None:
        """Append a step, and what a call has used to the ledger with it. Both are on disk when this returns."""
        with anyio.CancelScope(shield=True):
            async with self._adding:  # what changed is recorded in the order in which it did
                step = self._step(kind, key, data)
                await in_thread(self._commit, step, used)
                self._mark_recorded(step)  # not before: what a failed step held is for a later one to hold

    def add_last(self, data: Mapping[str, Any]) -> None:
        """Append how the run ended, in the transaction under way."""
        self._commit(self._step("finished", "", data), None)

    def add_state(self) -> None:
        """Append what the run has come to where it fails, in the transaction under way."""
        self._commit(self._step(SET_ASIDE, "", {}), None)

    def _step(self, kind: str, key: str, data: Mapping[str, Any]) -> Step:
        state = {"state": self._state.changes()} if self._is_restored else {}  # else it is not the run's
        return Step(0, kind, key, {**data, **state, **({"met": dict(self._pending)} if self._pending else {})})

    def _mark_recorded(self, step: Step) -> None:
        self._state.mark_recorded()
        for what, found in step.data.get("met", {}).items():
            if self._pending[what] is found:  # or it was met anew meanwhile
                del self._pending[what]

    def _commit(self, step: Step, used: ModelUsage | None) -> None:
        with self._runs.steps.together():
            self._runs.steps.add(self._run_id, step.kind, step.key, step.data)
            if used is not None:
                self._runs.record(self._run_id, "called", asdict(used))


def _used(steps: Iterable[Step]) -> list[ModelUsage]:
    return [ModelUsage(**each.data["usage"]) for each in steps if each.data.get("usage") is not None]


def usable_steps(steps: Sequence[Step]) -> tuple[list[Step], list[Step]]:
    """The steps to take a run up from, and those among them that are to be put in the place of others.

    How the run ended is taken back, and so is the call that it ended with, if that failed or was cut off.
    """
    changed = [set_aside(each) for each in steps if each.kind == "finished"]
    calls = [each for each in steps if each.kind == "called"]
    if calls and "reply" not in calls[-1].data:
        changed.append(set_aside(calls[-1]))
    by_ordinal = {each.ordinal: each for each in changed}
    return [by_ordinal.get(each.ordinal, each) for each in steps], changed


def set_aside(step: Step) -> Step:
    """What is left of a step that is made anew: what it used, what had changed, and what the user had said."""
    met = {what: found for what, found in step.data.get("met", {}).items() if what.startswith("notes")}
    kept = {name: step.data[name] for name in ("usage", "state") if step.data.get(name) is not None}
    return replace(step, kind=SET_ASIDE, key="", data={**kept, **({"met": met} if met else {})})


def _playable(steps: Sequence[Step]) -> list[Step]:
    """`steps` without what was set aside, and without the searches that belong to a step which is played whole.

    When a preparation is complete, or the model is called again, all who had searched before have ended.
    """
    ended = max((place for place, each in enumerate(steps) if each.kind in ("prepared", "called")), default=0)
    return [
        each
        for place, each in enumerate(steps)
        if each.kind != SET_ASIDE and (each.kind != "searched" or place > ended)
    ]


Made = Callable[[], Awaitable[Mapping[str, Any]]]
"""Makes the data of a step."""


async def once(record: Record, kind: str, make: Made) -> Mapping[str, Any]:
    """The data of the only step of that kind: as recorded, or made and recorded now."""
    found = await record.take(kind)
    if found is None:
        found = await make()
        await record.add(kind, "", found)
    return found
