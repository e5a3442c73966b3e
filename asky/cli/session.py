"""`asky session`: conversations."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from asky.cli.arguments import as_utf8
from asky.cli.confirming import is_confirmed
from asky.cli.damaged import describe_damaged, note_damaged
from asky.cli.export_forms import FORMS, SAY_FORMAT, SUFFIXES_TOLD, Form, form_of
from asky.cli.options import complete_session, json_option
from asky.cli.progress import cut_to_width
from asky.cli.session_export import export_session, message_object, session_object
from asky.cli.terminal import one_line
from asky.cli.workbench import workbench
from asky.errors import UsageError
from asky.storage.stored_json import Unreadable
from asky.text.counting import counted

if TYPE_CHECKING:
    from asky.cli.terminal import Terminal
    from asky.storage.sessions import Session, SessionStore
    from asky.wiring import Services

_WIDE = 1_000  # columns where there is no terminal: hardly anything is cut
_NARROW = 30


@click.group()
def session() -> None:
    """List, show, rename, export and remove conversations."""


@session.command("list")
@json_option
def list_(as_json: bool) -> None:
    """List sessions, the last used first."""
    with workbench() as bench:
        found = bench.services.sessions.listed()
        asked = bench.services.sessions.first_questions()
        damaged = [each for each in found if isinstance(each, Unreadable)]
        if as_json:
            listed = [
                session_object(each) | {"first_question": asked.get(each.id)}
                for each in found
                if not isinstance(each, Unreadable)
            ]
            bench.terminal.json({"schema": "asky.sessions/1", "sessions": listed, "damaged": describe_damaged(damaged)})
        elif not found:
            bench.terminal.note("no sessions yet; `asky -s NAME` starts one")
        else:
            _print_sessions(bench.terminal, found, asked)
        note_damaged(bench.terminal, damaged)


def _print_sessions(
    terminal: Terminal, found: Sequence[Session | Unreadable], first_questions: Mapping[str, str]
) -> None:
    """A line for each; what was asked first stands behind it or, where there is little room, on a line below."""
    columns = shutil.get_terminal_size((_WIDE, 24)).columns
    rows = [(each, f"{one_line(each.name)}", _facts(each)) for each in found]
    width = max(len(name) for _, name, _ in rows)
    facts_width = max(len(facts) for _, _, facts in rows)
    for each, name, facts in rows:
        row = f"{name:<{width}}  {facts}"
        question = "" if isinstance(each, Unreadable) else one_line(first_questions.get(each.id, ""))
        beside = columns - width - facts_width - 4
        if question and beside >= _NARROW:
            row = f"{name:<{width}}  {facts:<{facts_width}}  {_cut(question, beside)}"
        terminal.line(row)
        if question and beside < _NARROW:
            terminal.line(f"    {_cut(question, max(columns, _NARROW) - 4)}")


def _facts(each: Session | Unreadable) -> str:
    if isinstance(each, Unreadable):
        return "damaged"
    used = f"{each.updated_at[:10]} {each.updated_at[11:16]}"
    return f"{used}  {each.mode:<8}  {counted(each.messages, 'message')}"


def _cut(text: str, columns: int) -> str:
    cut = cut_to_width(text, columns)
    return cut if cut == text else f"{cut_to_width(text, columns - 1)}…"


@session.command()
@click.argument("name", shell_complete=complete_session)
@json_option
def show(name: str, as_json: bool) -> None:
    """Show the transcript of the session NAME."""
    with workbench() as bench:
        sessions = bench.services.sessions
        found = find_session(sessions, name)
        messages = sessions.messages(found.id)
        listed = bench.services.runs.listed(session_id=found.id)
        damaged = [each for each in listed if isinstance(each, Unreadable)]
        runs = [each for each in listed if not isinstance(each, Unreadable)]
        asked_of = bench.services.corpus.names(found.collections)
        if as_json:
            from asky.evidence.export import describe_run

            unfinished = [describe_run(each, session=found.name) for each in runs[::-1] if each.status != "finished"]
            shown = {"session": session_object(found), "messages": [message_object(each) for each in messages]}
            bench.terminal.json(
                {"schema": "asky.session/1", "collections": asked_of, **shown, "unfinished": unfinished}
            )
            return
        from asky.cli.session_transcript import print_transcript  # with the evidence layer: not for a list

        if not messages and not listed:
            bench.terminal.note("nothing was asked in this session yet")
        for line in _settings_lines(found, asked_of):
            bench.terminal.note(one_line(line))
        print_transcript(bench.terminal, messages, runs)
        note_damaged(bench.terminal, damaged)


@session.command()
@click.argument("name", shell_complete=complete_session)
@click.argument("new_name")
def rename(name: str, new_name: str) -> None:
    """Call the session NAME by NEW_NAME."""
    with workbench() as bench:
        sessions = bench.services.sessions
        sessions.rename(find_session(sessions, name).id, new_name)
        bench.terminal.note(f"the session {name} is now {as_utf8(new_name)}")


@session.command()
@click.argument("name", shell_complete=complete_session)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help=f"Write to FILE instead of stdout, by its suffix {SUFFIXES_TOLD}.",
)
@click.option("--format", "form", type=click.Choice(FORMS), help="Write this, whatever FILE is called.")
def export(name: str, output: Path | None, form: Form | None) -> None:
    """Export the session NAME: its questions and answers with their sources; as JSON, all that was looked up too.

    `bibtex`, `csl` (CSL-JSON) and `ris` list the sources that its answers cite, each once.
    """
    from asky.cli.saving import save_text  # with the export, not with the other commands

    chosen = form or ("md" if output is None else form_of(output, hint=SAY_FORMAT))
    with workbench() as bench:
        text = export_session(bench, find_session(bench.services.sessions, name), chosen)
        if output is None:
            bench.terminal.out.write(text)
            return
        save_text(output, text)
        bench.terminal.note(f"wrote {output}")


@session.command()
@click.argument("name", shell_complete=complete_session)
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
def rm(name: str, yes: bool) -> None:
    """Remove the session NAME with its runs, its findings and what was piped into it.

    One in which something was asked or kept is removed only after you say so, or with --yes. What its model calls cost
    still counts for the limits of the day.
    """
    with workbench() as bench:
        services = bench.services
        found = find_session(services.sessions, name)
        held = _held(services, found)
        what = f"the session {one_line(found.name)}"
        if held and not yes and not is_confirmed(f"Remove {what}: {held}?", f"remove {what}: {held}"):
            bench.terminal.note("nothing was removed")
            return
        runs = services.session_removal.remove(found.id)
        bench.terminal.note(f"removed {what}: {counted(runs, 'run')}")


def _held(services: Services, found: Session) -> str:
    """What is in a session, in words; empty for one with nothing."""
    from asky.storage.findings import FindingScope  # with SQLite: not for --help

    runs = len(services.sessions.run_ids(found.id))
    findings = len(services.findings.recent(FindingScope("session", found.id)))
    counts = [(runs, "run"), (findings, "finding")]
    return " and ".join(counted(count, noun) for count, noun in counts if count)


def find_session(sessions: SessionStore, name: str) -> Session:
    """The session with that name or id. Raises `UsageError` where there is none."""
    found = sessions.find(as_utf8(name))
    if found is None:
        raise UsageError(f"there is no session {name!r}", hint="`asky session list` shows what there is")
    return found


def _settings_lines(found: Session, asked_of: Sequence[str]) -> list[str]:
    """How the next question of a session is asked where it says nothing else, and of which collections."""
    from asky.storage.sessions import own_collection  # with SQLite: not for --help

    said = found.settings
    known = {
        "model": said.get("model"),
        "web": None if "web" not in said else "yes" if said["web"] else "no",
        "sites": ", ".join(said.get("sites", ())),
        "since": said.get("since"),
        "shortlist": said.get("shortlist") if said.get("shortlist") != "auto" else None,
    }
    told = [f"{name} {value}" for name, value in known.items() if value]
    own = own_collection(found.id)
    others = [
        f"asked of {'' if name.startswith('folder ') else 'collection '}{name}" for name in asked_of if name != own
    ]
    return [
        f"mode {found.mode}" + "".join(f"; {each}" for each in told),
        *others,
        *(["asked of what was given to it alone, and of pages that were read for it"] if own in asked_of else []),
    ]
