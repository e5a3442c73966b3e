"""Prints the transcript of a session: each question, its answer with sources, and the state of unfinished runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from asky.app.answers import reference
from asky.cli.terminal.markdown_stream import print_markdown

if TYPE_CHECKING:
    from asky.app.runs import Run
    from asky.app.sessions import StoredMessage
    from asky.cli.terminal.terminal import Terminal

_SHOWN = ("user", "note", "assistant")
_STATES = {
    "running": "is being answered now",
    "interrupted": "was interrupted",
    "failed": "failed",
    "cancelled": "was stopped",
}


def print_transcript(terminal: Terminal, messages: Sequence[StoredMessage], runs: Sequence[Run]) -> None:
    """Print the transcript, oldest turn first; `runs` are those of the session, in any order.

    An interrupted run has no messages: its question is printed at the time it was asked.
    """
    known = {each.id: each for each in runs}
    withdrawn = {each.run_id for each in messages if each.is_withdrawn}
    for turn in _turns(messages, runs):
        run = known.get(turn[0].run_id or "") if not isinstance(turn, str) else known[turn]
        if isinstance(turn, str):
            _print_head(terminal, "user", known[turn].started_at)
            terminal.line(known[turn].question + "\n")
        else:
            _print_turn(terminal, turn, run)
        if run is not None and run.status in _STATES and run.id not in withdrawn:
            terminal.line(f"{_describe_unfinished(run)}\n")


def _turns(messages: Sequence[StoredMessage], runs: Sequence[Run]) -> Iterator[list[StoredMessage] | str]:
    """Yield the messages of each run together, and the ids of runs without messages, in the order they were asked."""
    answered = {each.run_id for each in messages}
    unanswered = sorted((each.started_at, each.id) for each in runs if each.id not in answered)
    turn: list[StoredMessage] = []
    for each in messages:
        if turn and each.run_id != turn[-1].run_id:
            yield turn
            turn = []
        while not turn and unanswered and unanswered[0][0] < each.created_at:
            yield unanswered.pop(0)[1]
        turn.append(each)
    if turn:
        yield turn
    yield from (id_ for _, id_ in unanswered)


def _print_turn(terminal: Terminal, turn: Sequence[StoredMessage], run: Run | None) -> None:
    for each in turn:
        if each.role not in _SHOWN:
            continue
        is_answer = each.role == "assistant"
        named = f", run {each.run_id}" if each.run_id is not None and is_answer else ""
        withdrawn = ", taken back: no longer sent to a model" if each.is_withdrawn else ""
        _print_head(terminal, each.role, each.created_at, named + withdrawn)
        if is_answer:
            print_markdown(terminal, each.content)
        else:
            terminal.line(each.content)
        terminal.line()
        if is_answer and run is not None and run.answer is not None and run.answer["citations"]:
            terminal.sources(
                [(each["n"], reference(each), each["url"] or each["path"]) for each in run.answer["citations"]]
            )
            terminal.line()


def _print_head(terminal: Terminal, role: str, time: str, more: str = "") -> None:
    terminal.line(f"{role}, {time[:10]} {time[11:16]} UTC{more}", 1)


def _describe_unfinished(run: Run) -> str:
    """Return the state of an unfinished run, and the command that resumes it."""
    state = f"run {run.id} {_STATES[run.status]}"
    if run.status == "running":
        return state
    why = f"`asky runs show {run.id}` says why, " if run.status == "failed" else ""
    return f"{state}: {why}`asky runs resume {run.id}` resumes it"
