"""What was said in a session, for people: each question, its answer with the sources, and what became of the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from asky.cli.answers import print_citations

if TYPE_CHECKING:
    from asky.cli.terminal import Terminal
    from asky.storage.runs import Run
    from asky.storage.sessions import StoredMessage

_SHOWN = ("user", "note", "assistant")
_STATES = {
    "running": "is being answered now",
    "interrupted": "was interrupted",
    "failed": "has failed",
    "cancelled": "was stopped",
}


def print_transcript(terminal: Terminal, messages: Sequence[StoredMessage], runs: Sequence[Run]) -> None:
    """Print the transcript, the oldest turn first; `runs` are those of the session, in any order.

    A run that was interrupted has no messages: its question stands where it was asked.
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
            terminal.line(f"{_way_out(run)}\n")


def _turns(messages: Sequence[StoredMessage], runs: Sequence[Run]) -> Iterator[list[StoredMessage] | str]:
    """The messages of each run together, and the ids of runs without any, in the order in which they were asked."""
    said = {each.run_id for each in messages}
    silent = sorted((each.started_at, each.id) for each in runs if each.id not in said)
    turn: list[StoredMessage] = []
    for each in messages:
        if turn and each.run_id != turn[-1].run_id:
            yield turn
            turn = []
        while not turn and silent and silent[0][0] < each.created_at:
            yield silent.pop(0)[1]
        turn.append(each)
    if turn:
        yield turn
    yield from (id_ for _, id_ in silent)


def _print_turn(terminal: Terminal, turn: Sequence[StoredMessage], run: Run | None) -> None:
    for each in turn:
        if each.role not in _SHOWN:
            continue
        is_answer = each.role == "assistant"
        named = f", run {each.run_id}" if each.run_id is not None and is_answer else ""
        withdrawn = ", taken back: no model gets it any more" if each.is_withdrawn else ""
        _print_head(terminal, each.role, each.created_at, named + withdrawn)
        terminal.line(each.content + "\n")
        if is_answer and run is not None and run.answer is not None and run.answer["citations"]:
            print_citations(terminal, run.answer["citations"])
            terminal.line()


def _print_head(terminal: Terminal, role: str, time: str, more: str = "") -> None:
    terminal.out.write(terminal.paint(f"{role}, {time[:10]} {time[11:16]} UTC{more}", 1) + "\n")


def _way_out(run: Run) -> str:
    """How a run stands that has not finished, and what can be done."""
    state = f"run {run.id} {_STATES[run.status]}"
    if run.status == "running":
        return state
    why = f"`asky runs show {run.id}` says why, " if run.status == "failed" else ""
    return f"{state}: {why}`asky runs resume {run.id}` goes on with it"
