"""The line below the prompt: what the next question is asked with, and what the session has cost so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from asky.cli.progress import cut_to_width
from asky.cli.terminal import one_line
from asky.text.counting import counted


@dataclass(frozen=True, slots=True)
class Status:
    """`cost_usd` is `None` where no price is known; `session` is `None` before the first question."""

    model: str
    mode: str
    session: str | None
    uses_web: bool
    tokens: int = 0
    cost_usd: float | None = None


def status_line(status: Status, columns: int) -> str:
    """The status in at most `columns` cells: where there is little room, the last facts are left out, never halved."""
    parts = [one_line(part) for part in _parts(status)]
    line = parts[0]
    for part in parts[1:]:
        longer = f"{line} | {part}"
        if cut_to_width(longer, columns) != longer:
            break
        line = longer
    return cut_to_width(line, columns)


def _parts(status: Status) -> Sequence[str]:
    return (
        status.model,
        status.mode,
        f"web {'on' if status.uses_web else 'off'}",
        spent_words(status.tokens, status.cost_usd),
        status.session or "new session",
    )


def spent_words(tokens: int, cost_usd: float | None) -> str:
    """`1,234 tokens, 0.0123 USD`; without a price the tokens alone."""
    cost = f", {cost_usd:.4f} USD" if cost_usd else ""
    return counted(tokens, "token") + cost
