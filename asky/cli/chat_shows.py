"""What slash commands print or write of a conversation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from asky.cli.chat_status import spent_words
from asky.cli.options import check_output
from asky.cli.saving import save_text
from asky.cli.terminal import one_line
from asky.errors import UsageError

if TYPE_CHECKING:
    from asky.cli.chat_talk import Talk

_REJECTED_SHOWN = 5


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
        terminal.line(f"last answer  {calls}, {spent_words(tokens, used.cost_usd)}, {used.seconds:.1f} s")
    status = talk.status()
    asked = len(talk.bench.services.sessions.run_ids(session.id))
    questions = f"{asked} question{'' if asked == 1 else 's'}"
    terminal.line(f"session      {questions}, {spent_words(status.tokens, status.cost_usd)}")
    if status.tokens and status.cost_usd is None:
        terminal.note("no price of the model is known")


def show_session(talk: Talk) -> None:
    """The session and how its next question is asked."""
    terminal = talk.bench.terminal
    if talk.session is None:
        name = talk.session_name
        terminal.note(
            f"{name}: nothing was asked in it yet" if name else "a new session; it gets its name when you ask"
        )
        return
    session, status = talk.session, talk.status()
    web = "on" if status.uses_web else "off"
    count = f"{session.messages} message{'' if session.messages == 1 else 's'}"
    terminal.line(f"{one_line(session.name)}: {count} since {session.created_at[:10]}")
    terminal.line(f"model {one_line(status.model)}, mode {status.mode}, web {web}")


def show_docs(talk: Talk) -> None:
    """The folders and files of this chat, and the collections of the session."""
    from asky.cli.documents import folder_collection  # with what reads them

    terminal = talk.bench.terminal
    names = {id_: name for name, id_ in _collections(talk).items()}
    shown = [names[each] for each in (talk.session.collections if talk.session else ()) if each in names]
    waiting = [folder_collection(each) for each in talk.choices.docs]
    lines = [each for each in dict.fromkeys([*shown, *waiting]) if not each.startswith("session ")]
    for line in lines:
        terminal.line(one_line(line))
    if not lines:
        terminal.note("no documents are named; /docs PATH adds some")


def _collections(talk: Talk) -> dict[str, int]:
    corpus = talk.bench.services.corpus
    return {name: corpus.collection(name) for name in corpus.collections()}


def save_answer(talk: Talk, path: Path) -> None:
    """Write the last answer to a file, in the form that its suffix says. Raises what `write_answer` does."""
    from asky.cli.answers import write_answer  # with the evidence layer

    check_output(path)
    answer = talk.last_run().answer
    assert answer is not None
    write_answer(path, answer, talk.bench.services)
    talk.bench.terminal.note(f"wrote {path}")


def export_chat(talk: Talk, path: Path) -> None:
    """Write the whole session to a file, in the form that its suffix says. Raises what `save_text` does."""
    from asky.cli.export_forms import form_of
    from asky.cli.session_export import export_session

    save_text(path, export_session(talk.bench.services, talk.require_session(), form_of(path)))
    talk.bench.terminal.note(f"wrote {path}")
