"""A session as a Markdown document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from asky.evidence.export.citing import as_written
from asky.evidence.export.markdown import answer_markdown, question_markdown

if TYPE_CHECKING:
    from asky.storage.runs import Run


def session_markdown(name: str, runs: Sequence[Run], notes: Mapping[str | None, tuple[str, ...]]) -> str:
    """Return a session as Markdown: its runs in order, each with the notes that were typed in it, by the run's id."""
    parts = [f"# Session {as_written(name)}\n"]
    for number, run in enumerate(runs, start=1):
        added = notes.get(run.id, ())
        if run.answer is not None:
            parts.append(answer_markdown(run.answer, level=2, added=added, label=f"{number}-"))
        else:
            question = question_markdown(run.question, level=2, added=added)
            parts.append(f"{question}\nNo answer was written: the run is {run.status}.\n")
    return "\n".join(parts)
