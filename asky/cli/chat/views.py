"""The output of slash commands about a conversation."""

from __future__ import annotations

import shlex
import shutil
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from asky.cli.chat.status import spent_words
from asky.cli.export_forms import form_of
from asky.cli.finding_views import print_findings
from asky.cli.options import check_output
from asky.cli.saving import save_bytes
from asky.cli.terminal.opened_citation import print_opened
from asky.cli.terminal.terminal import one_line
from asky.cli.verdicts import statement_lines, verdict_summary
from asky.cli.view import write_answer
from asky.errors import UsageError

if TYPE_CHECKING:
    from asky.cli.chat.screen import ChatScreen
    from asky.cli.terminal.terminal import Terminal

_REJECTED_SHOWN = 5
_DEFAULT_COLUMNS = 1_000  # without a terminal: nothing is wrapped
_MIN_TEXT_COLUMNS = 30


def show_table(terminal: Terminal, rows: Sequence[tuple[str, str]]) -> None:
    """Print two columns with the second wrapped, or below the first on a narrow terminal."""
    columns = shutil.get_terminal_size((_DEFAULT_COLUMNS, 24)).columns
    name_width = max(len(name) for name, _ in rows) + 2
    is_narrow = columns - name_width < _MIN_TEXT_COLUMNS
    indent = " " * (4 if is_narrow else name_width)
    for name, meaning in rows:
        beginning = indent if is_narrow else f"{name:<{name_width}}"
        if is_narrow:
            terminal.line(name)
        width = max(columns, _MIN_TEXT_COLUMNS)
        for line in textwrap.wrap(meaning, width, initial_indent=beginning, subsequent_indent=indent):
            terminal.line(line)


def show_sources(screen: ChatScreen) -> None:
    """Print the sources of the last answer that cites something, cited ones first, then the rejected pages."""
    answer = screen.conversation.last_run("citations").answer
    assert answer is not None
    terminal = screen.ctx.terminal
    numbers: dict[str, list[str]] = {}
    for citation in answer["citations"]:
        numbers.setdefault(citation["source_id"], []).append(f"[{citation['n']}]")
    if not answer["sources"]:
        terminal.note("the last answer has no sources")
    for source in sorted(answer["sources"], key=lambda each: each["source_id"] not in numbers):
        where = f" - {source['url']}" if source["url"] else ""
        cited = " ".join(numbers.get(source["source_id"], ())) or "not cited"
        terminal.source(f"{one_line(source['title'] + where)}  {cited}", source["url"])
    for each in answer["rejected"][:_REJECTED_SHOWN]:
        terminal.line(f"rejected: {one_line(each['url'])}: {one_line(each['reason'])}")
    if len(answer["rejected"]) > _REJECTED_SHOWN:
        terminal.note(f"and {len(answer['rejected']) - _REJECTED_SHOWN} more rejected")


def show_why(screen: ChatScreen, rest: str) -> None:
    """Print the passage behind a citation of the last answer that has one, verified again."""
    if not rest:
        raise UsageError("/why needs the number of a citation", hint="for example: /why 1")
    run = screen.conversation.last_run("citations")
    for number in screen.ctx.asky.runs.cited_numbers(run, rest):
        print_opened(screen.ctx.terminal, run, screen.ctx.asky.runs.open_citation(run, number))


def show_verdicts(screen: ChatScreen) -> None:
    """Print the verdict on each statement of the last answer."""
    answer = screen.conversation.last_run("claims", "citations").answer
    assert answer is not None
    terminal = screen.ctx.terminal
    if not answer["claims"]:
        terminal.note("the last answer has no statements that need a source")
        return
    for line in (verdict_summary(answer["claims"]), *statement_lines(answer["claims"])):
        terminal.line(line)


def show_findings(screen: ChatScreen) -> None:
    """Print the findings saved in this session."""
    found = screen.ctx.asky.memory.findings(screen.conversation.require_session().id)
    if not found:
        screen.ctx.terminal.note("no findings in this session; questions in research mode save some")
    print_findings(screen.ctx.terminal, found)


def show_cost(screen: ChatScreen) -> None:
    """Print the tokens and the cost of the last answer and of the session."""
    terminal = screen.ctx.terminal
    session = screen.conversation.require_session()
    screen.conversation.update_usage()
    if screen.answer is not None:
        used = screen.answer.usage
        tokens = used.prompt_tokens + used.completion_tokens
        calls = f"{used.llm_calls} model call{'' if used.llm_calls == 1 else 's'}"
        about = _about_if_estimated(screen, [screen.answer.run])
        terminal.line(f"last answer  {calls}, {about}{spent_words(tokens, used.cost_usd)}, {used.seconds:.1f} s")
    status = screen.conversation.status()
    run_ids = screen.ctx.asky.sessions.run_ids(session)
    questions = f"{len(run_ids)} question{'' if len(run_ids) == 1 else 's'}"
    terminal.line(
        f"session      {questions}, {_about_if_estimated(screen, run_ids)}{spent_words(status.tokens, status.cost_usd)}"
    )
    if status.tokens and status.cost_usd is None:
        terminal.note("the price of the model is not known")


def _about_if_estimated(screen: ChatScreen, run_ids: Sequence[str]) -> str:
    """Return `about ` if the usage of any call of these runs is only estimated."""
    return "about " if screen.ctx.asky.runs.has_estimates(run_ids) else ""


def show_session(screen: ChatScreen) -> None:
    """Print the session and the options of its next question."""
    terminal, session = screen.ctx.terminal, screen.conversation.look_up()
    if session is None:
        name = screen.conversation.session_name
        terminal.note(
            f"{name}: no question has been asked in it yet" if name else "a new session; your first question names it"
        )
        return
    status = screen.conversation.status()
    count = f"{session.messages} message{'' if session.messages == 1 else 's'}"
    terminal.line(f"{one_line(session.name)}: {count} since {session.created_at[:10]}")
    terminal.line(f"model {one_line(status.model)}, mode {status.mode}, web {status.web}")


def show_docs(screen: ChatScreen) -> None:
    """Print the folders, files and collections that the next question uses."""
    terminal = screen.ctx.terminal
    lines = screen.conversation.documents()
    for line in lines:
        terminal.line(one_line(line))
    if not lines:
        terminal.note("no documents are named; /docs PATH adds some")


def save_answer(screen: ChatScreen, path: Path) -> None:
    """Write the last answer to a file in the format of its suffix. Raises as `write_answer` does."""
    _require_folder(path)
    check_output(path)
    answer = screen.conversation.last_run().answer
    assert answer is not None
    write_answer(path, answer, screen.ctx.asky.runs)
    screen.ctx.terminal.note(f"wrote {path}")


def _require_folder(path: Path) -> None:
    if not path.parent.is_dir():
        raise UsageError(
            f"cannot write {path}: there is no folder {path.parent}",
            hint=f"`mkdir -p {shlex.quote(str(path.parent))}` creates it",
        )


def export_chat(screen: ChatScreen, path: Path) -> None:
    """Write the whole session to a file in the format of its suffix. Raises as `save_bytes` does."""
    _require_folder(path)
    session = screen.conversation.require_session()
    exported = screen.ctx.asky.sessions.export(session, form_of(path))
    if exported.cites_nothing:
        screen.ctx.terminal.note(f"the session {one_line(session.name)} cites nothing")
    save_bytes(path, exported.data)
    screen.ctx.terminal.note(f"wrote {path}")
