"""`asky session`: conversations."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from asky.app.schemas.session import session_object, sessions_object
from asky.cli.arguments import as_utf8
from asky.cli.context import command_context
from asky.cli.export_forms import FORMAT_HINT, FORMS, KNOWN_SUFFIXES, Form, form_of, print_exported, require_destination
from asky.cli.listing_group import ListingGroup
from asky.cli.options import complete_session, json_option
from asky.cli.saving import save_bytes
from asky.cli.terminal.confirm import is_confirmed
from asky.cli.terminal.damaged import note_damaged
from asky.cli.terminal.terminal import cut_to_width, one_line
from asky.text.counting import counted
from asky.values import Unreadable

if TYPE_CHECKING:
    from asky.app.sessions import SessionContents, SessionDetails, SessionSummary
    from asky.cli.terminal.terminal import Terminal

_DEFAULT_COLUMNS = 1_000  # without a terminal: almost nothing is cut
_MIN_QUESTION_COLUMNS = 30


@click.group(cls=ListingGroup)
def session() -> None:
    """List, show, rename, export and delete sessions."""


@session.command("list")
@json_option
def list_(as_json: bool) -> None:
    """List sessions, most recently used first."""
    with command_context() as ctx:
        listed = ctx.asky.sessions.list()
        if as_json:
            ctx.terminal.json(sessions_object(listed))
        elif not listed:
            ctx.terminal.note("no sessions yet; `asky -s NAME` starts one")
        else:
            _print_sessions(ctx.terminal, listed)
        note_damaged(ctx.terminal, [each for each in listed if isinstance(each, Unreadable)])


def _print_sessions(terminal: Terminal, listed: Sequence[SessionSummary | Unreadable]) -> None:
    """Print a line for each session, with its first question at the end or, on a narrow terminal, on a line below."""
    columns = shutil.get_terminal_size((_DEFAULT_COLUMNS, 24)).columns
    rows = [_row(each) for each in listed]
    width = max(len(name) for name, _, _ in rows)
    facts_width = max(len(facts) for _, facts, _ in rows)
    for name, facts, question in rows:
        row = f"{name:<{width}}  {facts}"
        beside = columns - width - facts_width - 4
        if question and beside >= _MIN_QUESTION_COLUMNS:
            row = f"{name:<{width}}  {facts:<{facts_width}}  {_shorten(question, beside)}"
        terminal.line(row)
        if question and beside < _MIN_QUESTION_COLUMNS:
            terminal.line(f"    {_shorten(question, max(columns, _MIN_QUESTION_COLUMNS) - 4)}")


def _row(each: SessionSummary | Unreadable) -> tuple[str, str, str]:
    """Return the name of a session, its facts, and its first question."""
    if isinstance(each, Unreadable):
        return one_line(each.name), "damaged", ""
    found = each.session
    used = f"{found.updated_at[:10]} {found.updated_at[11:16]}"
    facts = f"{used}  {found.mode:<8}  {counted(found.messages, 'message')}"
    return one_line(found.name), facts, one_line(each.first_question or "")


def _shorten(text: str, columns: int) -> str:
    cut = cut_to_width(text, columns)
    return cut if cut == text else f"{cut_to_width(text, columns - 1)}…"


@session.command()
@click.argument("name", shell_complete=complete_session)
@json_option
def show(name: str, as_json: bool) -> None:
    """Show the transcript of session NAME."""
    with command_context() as ctx:
        details = ctx.asky.sessions.show(name)
        if as_json:
            ctx.terminal.json(session_object(details))
            return
        from asky.cli.terminal.session_transcript import print_transcript  # not for a list

        if not details.messages and not details.runs and not details.damaged:
            ctx.terminal.note("no question has been asked in this session yet")
        for line in _settings_lines(details):
            ctx.terminal.note(one_line(line))
        print_transcript(ctx.terminal, details.messages, details.runs)
        note_damaged(ctx.terminal, details.damaged)


@session.command()
@click.argument("name", shell_complete=complete_session)
@click.argument("new_name")
def rename(name: str, new_name: str) -> None:
    """Rename session NAME to NEW_NAME."""
    with command_context() as ctx:
        ctx.asky.sessions.rename(name, new_name)
        ctx.terminal.note(f"the session {name} is now {as_utf8(new_name)}")


@session.command()
@click.argument("name", shell_complete=complete_session)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help=f"Write to PATH instead of stdout; the suffix selects the format: {KNOWN_SUFFIXES}.",
)
@click.option("--format", "form", type=click.Choice(FORMS), help="Format to write, regardless of the suffix.")
def export(name: str, output: Path | None, form: Form | None) -> None:
    """Export session NAME: questions and answers with their sources; JSON includes everything retrieved.

    `bibtex`, `csl` (CSL-JSON) and `ris` list the cited sources, each once.
    """
    chosen = form or ("md" if output is None else form_of(output, hint=FORMAT_HINT))
    require_destination(chosen, output)
    with command_context() as ctx:
        found = ctx.asky.sessions.find(name)
        exported = ctx.asky.sessions.export(found, chosen)
        if exported.cites_nothing:
            ctx.terminal.note(f"the session {one_line(found.name)} cites nothing")
        if output is None:
            print_exported(ctx.terminal, exported, chosen)
            return
        save_bytes(output, exported.data)
        ctx.terminal.note(f"wrote {output}")


@session.command()
@click.argument("name", shell_complete=complete_session)
@click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation.")
def rm(name: str, yes: bool) -> None:
    """Delete session NAME with its runs, findings and piped texts.

    Asks for confirmation unless the session is empty or --yes is given. The session's cost still counts towards
    the daily limits.
    """
    with command_context() as ctx:
        sessions = ctx.asky.sessions
        found = sessions.find(name)
        contents_text = _describe_contents(sessions.contents(found))
        what = f"the session {one_line(found.name)}"
        if (
            contents_text
            and not yes
            and not is_confirmed(f"Remove {what}: {contents_text}?", f"remove {what}: {contents_text}")
        ):
            ctx.terminal.note("nothing was removed")
            return
        runs = sessions.remove(found)
        ctx.terminal.note(f"removed {what}: {counted(runs, 'run')}")


def _describe_contents(contents: SessionContents) -> str:
    """Return the contents of a session as text, empty if there are none."""
    counts = [(contents.runs, "run"), (contents.findings, "finding")]
    return " and ".join(counted(count, noun) for count, noun in counts if count)


def _settings_lines(details: SessionDetails) -> list[str]:
    """Return the settings and collections with which the session's next question is asked."""
    found = details.session
    settings = found.settings
    known = {
        "model": settings.get("model"),
        "web": None if "web" not in settings else "yes" if settings["web"] else "no",
        "sites": ", ".join(settings.get("sites", ())),
        "since": settings.get("since"),
        "shortlist": settings.get("shortlist") if settings.get("shortlist") != "auto" else None,
    }
    parts = [f"{name} {value}" for name, value in known.items() if value]
    others = [
        f"asked of {'' if name.startswith('folder ') else 'collection '}{name}" for name in details.named_collections
    ]
    own = ["asked of its own texts and of the pages read for it"]
    return [
        f"mode {found.mode}" + "".join(f"; {each}" for each in parts),
        *others,
        *(own if details.has_own_collection else []),
    ]
