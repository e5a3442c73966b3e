"""How far an answer can be trusted, as an exit code."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from asky.errors import BudgetExceeded, NotEnoughEvidence, UnsupportedClaim
from asky.values import Answer, Failure

if TYPE_CHECKING:
    from asky.errors import AskyError
    from asky.storage.runs import RunStore

_LIMITS: Mapping[str, str] = MappingProxyType(
    {
        "max_turns": "raise --max-turns",
        "budget": "raise --max-tokens, --max-cost or --max-time, or the limits of [budget] in research.toml",
    }
)


def judge(answer: Answer, runs: RunStore, *, strict: bool) -> None:
    """Raise the error whose exit code says how far the answer can be trusted; nothing where it is whole.

    `runs` has the ledger of its run, which tells what was missing.
    """
    if answer.stopped_by == "no_evidence":
        raise _too_little(answer, runs)
    if answer.stopped_by is not None and answer.stopped_by in _LIMITS:
        raise BudgetExceeded("stopped at a limit before everything was looked up", hint=_LIMITS[answer.stopped_by])
    if strict and not answer.claims:
        raise UnsupportedClaim("nothing of the answer could be checked: it holds no sentence that cites a source")
    if strict and answer.faults:
        raise UnsupportedClaim(
            f"{answer.faults} of what the answer says or cites is not supported by its sources",
            hint="`asky runs show` has the verdict on each sentence",
        )


def _too_little(answer: Answer, runs: RunStore) -> AskyError:
    from asky.concurrency import error_of  # these two for a question that was not answered
    from asky.research.shortfall import LOOK, outage, shortfall

    ledger = runs.ledger(answer.run)
    missing = outage(ledger) or shortfall(ledger)
    if missing is None:
        of_files = any(source.kind == "file" for source, _, _ in answer.sources)
        hint = f"`asky search`, with the same -d or --collection, shows what there is; {LOOK}" if of_files else LOOK
        return NotEnoughEvidence("the sources hold too little to answer this", hint=hint)
    return error_of(Failure(answer.question, missing.code, missing.message, missing.hint))
