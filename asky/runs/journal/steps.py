"""Selection of the recorded steps that a run is resumed or replayed from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from asky.llm.port import ModelUsage
from asky.storage.steps import Step

QUARANTINED = "set aside"
"""The kind of a discarded step: only its usage, its state and the user's notes still count."""


def used_by(steps: Iterable[Step]) -> list[ModelUsage]:
    """Return the usage of each step that has one, in order."""
    return [ModelUsage(**each.data["usage"]) for each in steps if each.data.get("usage") is not None]


def resumable_steps(steps: Sequence[Step]) -> tuple[list[Step], list[Step]]:
    """Return the steps from which a run is resumed, and those of them that replace stored steps of the same ordinal.

    The `finished` step is quarantined, and so is the last call if it failed or was cut off.
    """
    changed = [quarantine_step(each) for each in steps if each.kind == "finished"]
    calls = [each for each in steps if each.kind == "called"]
    if calls and "reply" not in calls[-1].data:
        changed.append(quarantine_step(calls[-1]))
    by_ordinal = {each.ordinal: each for each in changed}
    return [by_ordinal.get(each.ordinal, each) for each in steps], changed


def quarantine_step(step: Step) -> Step:
    """Return `step` with only what still counts after it is discarded: its usage, its state and the user's notes."""
    notes = {name: each for name, each in step.data.get("met", {}).items() if name.startswith("notes")}
    kept = {name: step.data[name] for name in ("usage", "state") if step.data.get(name) is not None}
    return replace(step, kind=QUARANTINED, key="", data={**kept, **({"met": notes} if notes else {})})


def replayable_steps(steps: Sequence[Step]) -> list[Step]:
    """Return `steps` without quarantined steps and without searches before the last `prepared` or `called` step.

    Those searches had ended by then, and the step that they belong to is replayed as a whole.
    """
    ended = max((index for index, each in enumerate(steps) if each.kind in ("prepared", "called")), default=0)
    return [
        each
        for index, each in enumerate(steps)
        if each.kind != QUARANTINED and (each.kind != "searched" or index > ended)
    ]
