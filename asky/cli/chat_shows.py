"""What slash commands print or write of a conversation."""

from __future__ import annotations

import shlex
import shutil
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from asky.cli.chat_status import spent_words
from asky.cli.options import check_output
from asky.cli.saving import save_text
from asky.cli.terminal import one_line
from asky.errors import UsageError
from asky.storage.corpus import DEFAULT_COLLECTION

if TYPE_CHECKING:
    from asky.cli.chat_talk import Talk
    from asky.cli.terminal import Terminal

_REJECTED_SHOWN = 5
_WIDE = 1_000  # columns where there is no terminal: nothing is wrapped
_NARROW = 30


def show_table(terminal: Terminal, rows: Sequence[tuple[str, str]]) -> None:
    """Two columns, the second of which is wrapped; on a narrow terminal it stands below the first."""
    columns = shutil.get_terminal_size((_WIDE, 24)).columns
    left = max(len(name) for name, _ in rows) + 2
    is_narrow = columns - left < _NARROW
    indent = " " * (4 if is_narrow else left)
    for name, meaning in rows:
        beginning = indent if is_narrow else f"{name:<{left}}"
        if is_narrow:
            terminal.line(name)
        width = max(columns, _NARROW)
        for line in textwrap.wrap(meaning, width, initial_indent=beginning, subsequent_indent=indent):
            terminal.line(line)


def show_sources(talk: Talk) -> None:
    """The sources of the last answer, those that it cites first; then what was passed over."""
    answer = talk.last_run().answer
    assert answer is not None
    terminal = talk.bench.terminal
    numbers: dict[str, list[str]] = {}
    for citation in answer["citations"]:
        numbers.setdefault(citation["source_id"], []).append(f"[{citation['n']}]")
    if not answer["sources"]:
        terminal.note("the last answer rests on no source")
    for source in sorted(answer["sources"], key=lambda each: each["source_id"] not in numbers):
        where = f" - {source['url']}" if source["url"] else ""
        cited = " ".join(numbers.get(source["source_id"], ())) or "not cited"
        terminal.line(f"{one_line(source['title'] + where)}  {cited}")
    for each in answer["rejected"][:_REJECTED_SHOWN]:
        terminal.line(f"passed over: {one_line(each['url'])}: {one_line(each['reason'])}")
    if len(answer["rejected"]) > _REJECTED_SHOWN:
        terminal.note(f"and {len(answer['rejected']) - _REJECTED_SHOWN} more that were passed over")


def show_why(talk: Talk, rest: str) -> None:
    """The passage behind a citation of the last answer, checked again."""
    number = rest.strip("[]")
    if not number.isascii() or not number.isdigit() or not int(number[:9]) > 0:
        raise UsageError("/why needs the number of a citation", hint="for example: /why 1")
    from asky.cli.why import print_opened
    from asky.evidence.opening import open_citation

    run, services = talk.last_run(), talk.bench.services
    opened = open_citation(
        run,
        int(number[:9]),
        runs=services.runs,
        documents=services.documents,
        corpus=services.corpus,
        context_chars=300,
    )
    print_opened(talk.bench.terminal, run, opened)


def show_findings(talk: Talk) -> None:
    """What was kept of this session."""
    from asky.cli.finding_views import print_findings
    from asky.storage.findings import FindingScope

    found = talk.bench.services.findings.recent(FindingScope("session", talk.require_session().id))
    if not found:
        talk.bench.terminal.note("no findings in this session; questions in the mode research keep some")
    print_findings(talk.bench, found)


def show_cost(talk: Talk) -> None:
    """Tokens and money, of the last answer and of the session."""
    terminal = talk.bench.terminal
    session = talk.require_session()
    talk.count_spent()
    if talk.answer is not None:
        used = talk.answer.usage
        tokens = used.prompt_tokens + used.completion_tokens
        calls = f"{used.llm_calls} model call{'' if used.llm_calls == 1 else 's'}"
        about = _about(talk, [talk.answer.run])
        terminal.line(f"last answer  {calls}, {about}{spent_words(tokens, used.cost_usd)}, {used.seconds:.1f} s")
    status = talk.status()
    asked = talk.bench.services.sessions.run_ids(session.id)
    questions = f"{len(asked)} question{'' if len(asked) == 1 else 's'}"
    terminal.line(f"session      {questions}, {_about(talk, asked)}{spent_words(status.tokens, status.cost_usd)}")
    if status.tokens and status.cost_usd is None:
        terminal.note("no price of the model is known")


def _about(talk: Talk, run_ids: Sequence[str]) -> str:
    """`about ` where a call of these runs is counted by an estimate: nobody has reported what it used."""
    ledgers = (talk.bench.services.runs.ledger(each) for each in run_ids)
    has_estimate = any(entry.kind == "called" and entry.data.get("estimated") for each in ledgers for entry in each)
    return "about " if has_estimate else ""


def show_session(talk: Talk) -> None:
    """The session and how its next question is asked."""
    terminal, session = talk.bench.terminal, talk.look_up()
    if session is None:
        name = talk.session_name
        terminal.note(
            f"{name}: nothing was asked in it yet" if name else "a new session; it gets its name when you ask"
        )
        return
    status = talk.status()
    web = "on" if status.uses_web else "off"
    count = f"{session.messages} message{'' if session.messages == 1 else 's'}"
    terminal.line(f"{one_line(session.name)}: {count} since {session.created_at[:10]}")
    terminal.line(f"model {one_line(status.model)}, mode {status.mode}, web {web}")


def show_docs(talk: Talk) -> None:
    """The folders, files and collections that the next question is asked of."""
    terminal = talk.bench.terminal
    lines = documents_of(talk)
    for line in lines:
        terminal.line(one_line(line))
    if not lines:
        terminal.note("no documents are named; /docs PATH adds some")


def documents_of(talk: Talk) -> list[str]:
    """What the next question is asked of besides the web: the names of collections, `folder PATH` for a path."""
    from asky.cli.documents import folder_collection  # with what reads them

    corpus = talk.bench.services.corpus
    names = {corpus.collection(name): name for name in corpus.collections()}
    earlier = [names[each] for each in (talk.session.collections if talk.session else ()) if each in names]
    named = [*(folder_collection(each) for each in talk.choices.docs), *talk.choices.collection]
    if not earlier and not named and DEFAULT_COLLECTION in names.values():
        named = [DEFAULT_COLLECTION]
    return [each for each in dict.fromkeys([*earlier, *named]) if not each.startswith("session ")]


def save_answer(talk: Talk, path: Path) -> None:
    """Write the last answer to a file, in the form that its suffix says. Raises what `write_answer` does."""
    from asky.cli.answers import write_answer  # with the evidence layer

    _require_folder(path)
    check_output(path)
    answer = talk.last_run().answer
    assert answer is not None
    write_answer(path, answer, talk.bench.services)
    talk.bench.terminal.note(f"wrote {path}")


def _require_folder(path: Path) -> None:
    if not path.parent.is_dir():
        raise UsageError(
            f"cannot write {path}: there is no folder {path.parent}",
            hint=f"`mkdir -p {shlex.quote(str(path.parent))}` makes it",
        )


def export_chat(talk: Talk, path: Path) -> None:
    """Write the whole session to a file, in the form that its suffix says. Raises what `save_text` does."""
    from asky.cli.export_forms import form_of
    from asky.cli.session_export import export_session

    _require_folder(path)
    save_text(path, export_session(talk.bench, talk.require_session(), form_of(path)))
    talk.bench.terminal.note(f"wrote {path}")
