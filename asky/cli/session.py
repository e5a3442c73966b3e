"""`asky session`: conversations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from asky.cli.arguments import as_utf8
from asky.cli.export_forms import FORMS, SUFFIXES_TOLD, Form, form_of
from asky.cli.options import complete_session, json_option
from asky.cli.session_export import export_session, message_object, session_object
from asky.cli.workbench import workbench
from asky.errors import UsageError

if TYPE_CHECKING:
    from asky.storage.sessions import Session, SessionStore


@click.group()
def session() -> None:
    """List, show, rename, export and remove conversations."""


@session.command("list")
@json_option
def list_(as_json: bool) -> None:
    """List sessions, the last used first."""
    with workbench() as bench:
        found = bench.services.sessions.recent()
        if as_json:
            bench.terminal.json({"schema": "asky.sessions/1", "sessions": [session_object(each) for each in found]})
            return
        if not found:
            bench.terminal.note("no sessions yet; `asky -s NAME` starts one")
        width = max((len(each.name) for each in found), default=0)
        for each in found:
            used = f"{each.updated_at[:10]} {each.updated_at[11:16]}"
            messages = f"{each.messages} message{'' if each.messages == 1 else 's'}"
            bench.terminal.line(f"{each.name:<{width}}  {used}  {each.mode:<8}  {messages}")


@session.command()
@click.argument("name", shell_complete=complete_session)
@json_option
def show(name: str, as_json: bool) -> None:
    """Show the transcript of the session NAME."""
    with workbench() as bench:
        sessions = bench.services.sessions
        found = find_session(sessions, name)
        messages = sessions.messages(found.id)
        if as_json:
            shown = {"session": session_object(found), "messages": [message_object(each) for each in messages]}
            bench.terminal.json({"schema": "asky.session/1", **shown})
            return
        if not messages:
            bench.terminal.note("nothing was asked in this session yet")
        for line in _settings_lines(found):
            bench.terminal.note(line)
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

    chosen = form or ("md" if output is None else form_of(output))
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
        runs = services.runs.recent(session_id=found.id)
        if any(run.status == "running" for run in runs):
            raise UsageError(f"a question is being answered in {found.name}", hint="stop it first, or wait for its end")
        services.sessions.remove(found.id, services.corpus, services.documents)
        bench.terminal.note(f"removed the session {found.name}: {len(runs)} run{'' if len(runs) == 1 else 's'}")


def find_session(sessions: SessionStore, name: str) -> Session:
    """The session with that name or id. Raises `UsageError` where there is none."""
    found = sessions.find(as_utf8(name))
    if found is None:
        raise UsageError(f"there is no session {name!r}", hint="`asky session list` shows what there is")
    return found


def _settings_lines(found: Session) -> list[str]:
    """How the next question of a session is asked where it says nothing else."""
    said = found.settings
    known = {
        "model": said.get("model"),
        "web": None if "web" not in said else "yes" if said["web"] else "no",
        "sites": ", ".join(said.get("sites", ())),
        "since": said.get("since"),
    }
    told = [f"{name} {value}" for name, value in known.items() if value]
    return [f"mode {found.mode}" + "".join(f"; {each}" for each in told)]
