"""`asky session`: conversations."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from asky.cli.arguments import as_utf8
from asky.cli.damaged import describe_damaged, note_damaged
from asky.cli.export_forms import FORMS, SAY_FORMAT, SUFFIXES_TOLD, Form, form_of
from asky.cli.options import complete_session, json_option
from asky.cli.session_export import export_session, message_object, session_object
from asky.cli.terminal import one_line
from asky.cli.workbench import workbench
from asky.errors import UsageError
from asky.storage.stored_json import Unreadable

if TYPE_CHECKING:
    from asky.cli.terminal import Terminal
    from asky.storage.sessions import Session, SessionStore


@click.group()
def session() -> None:
    """List, show, rename, export and remove conversations."""


@session.command("list")
@json_option
def list_(as_json: bool) -> None:
    """List sessions, the last used first."""
    with workbench() as bench:
        found = bench.services.sessions.listed()
        damaged = [each for each in found if isinstance(each, Unreadable)]
        if as_json:
            listed = [session_object(each) for each in found if not isinstance(each, Unreadable)]
            bench.terminal.json({"schema": "asky.sessions/1", "sessions": listed, "damaged": describe_damaged(damaged)})
        elif not found:
            bench.terminal.note("no sessions yet; `asky -s NAME` starts one")
        else:
            _print_sessions(bench.terminal, found)
        note_damaged(bench.terminal, damaged)


def _print_sessions(terminal: Terminal, found: Sequence[Session | Unreadable]) -> None:
    width = max(len(one_line(each.name)) for each in found)
    for each in found:
        name = f"{one_line(each.name):<{width}}"
        if isinstance(each, Unreadable):
            terminal.line(f"{name}  damaged")
        else:
            used = f"{each.updated_at[:10]} {each.updated_at[11:16]}"
            messages = f"{each.messages} message{'' if each.messages == 1 else 's'}"
            terminal.line(f"{name}  {used}  {each.mode:<8}  {messages}")


@session.command()
@click.argument("name", shell_complete=complete_session)
@json_option
def show(name: str, as_json: bool) -> None:
    """Show the transcript of the session NAME."""
    with workbench() as bench:
        sessions = bench.services.sessions
        found = find_session(sessions, name)
        messages = sessions.messages(found.id)
        asked_of = bench.services.corpus.names(found.collections)
        if as_json:
            shown = {"session": session_object(found), "messages": [message_object(each) for each in messages]}
            bench.terminal.json({"schema": "asky.session/1", "collections": asked_of, **shown})
            return
        if not messages:
            bench.terminal.note("nothing was asked in this session yet")
        for line in _settings_lines(found, asked_of):
            bench.terminal.note(one_line(line))
        for each in messages:
            if each.role not in ("user", "note", "assistant"):
                continue
            head = f"{each.role}, {each.created_at[:10]} {each.created_at[11:16]} UTC"
            run = f", run {each.run_id}" if each.run_id is not None and each.role == "assistant" else ""
            withdrawn = ", taken back: no model gets it any more" if each.is_withdrawn else ""
            bench.terminal.out.write(bench.terminal.paint(head + run + withdrawn, 1) + "\n")
            bench.terminal.line(each.content + "\n")


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
        text = export_session(bench.services, find_session(bench.services.sessions, name), chosen)
        if output is None:
            bench.terminal.out.write(text)
            return
        save_text(output, text)
        bench.terminal.note(f"wrote {output}")


@session.command()
@click.argument("name", shell_complete=complete_session)
def rm(name: str) -> None:
    """Remove the session NAME with its runs, its findings and what was piped into it.

    What its model calls cost still counts for the limits of the day.
    """
    with workbench() as bench:
        services = bench.services
        found = find_session(services.sessions, name)
        runs = services.sessions.remove(found.id, services.corpus, services.documents)
        bench.terminal.note(f"removed the session {found.name}: {runs} run{'' if runs == 1 else 's'}")


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
