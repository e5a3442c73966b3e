"""The status line below the prompt: the options of the next question, and the session's cost so far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from asky.cli.terminal.terminal import cut_to_width, one_line
from asky.text.counting import counted

if TYPE_CHECKING:
    from asky.app.conversation import ConversationStatus


def status_line(status: ConversationStatus, columns: int) -> str:
    """Return the status in at most `columns` cells; the last facts are left out if they do not fit."""
    parts = [one_line(part) for part in _parts(status)]
    line = parts[0]
    for part in parts[1:]:
        longer = f"{line} | {part}"
        if cut_to_width(longer, columns) != longer:
            break
        line = longer
    return cut_to_width(line, columns)


def _parts(status: ConversationStatus) -> Sequence[str]:
    return (
        status.model,
        status.mode,
        f"web {status.web}",
        spent_words(status.tokens, status.cost_usd),
        status.session or "new session",
    )


def spent_words(tokens: int, cost_usd: float | None) -> str:
    """Return `1,234 tokens, 0.0123 USD`, or only the tokens without a price."""
    cost = f", {cost_usd:.4f} USD" if cost_usd else ""
    return counted(tokens, "token") + cost
