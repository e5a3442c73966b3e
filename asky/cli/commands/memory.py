"""`asky memory`: findings saved for later questions."""

from __future__ import annotations

from typing import Literal

import click

from asky.app.memory import require_finding, require_query
from asky.app.schemas.memory import finding_object, findings_object, scored_findings_object
from asky.cli.arguments import as_utf8
from asky.cli.context import command_context
from asky.cli.finding_views import as_markdown, print_findings
from asky.cli.listing_group import ListingGroup
from asky.cli.options import complete_session, json_option, piped_text
from asky.cli.terminal.confirm import is_confirmed
from asky.cli.terminal.damaged import note_damaged
from asky.errors import UsageError

_SEE_LIST = "`asky memory list` lists the findings"


_session_option = click.option(
    "-s", "--session", shell_complete=complete_session, help="Only findings from this session."
)
_everywhere_option = click.option("--all-sessions", is_flag=True, help="Findings from all sessions (default).")


@click.group(cls=ListingGroup)
def memory() -> None:
    """List, search and edit saved findings.

    A finding is a note, not a source: it can guide later questions, which cite the passages themselves. Findings added
    without --session apply to all sessions.
    """


@memory.command("list")
@_session_option
@_everywhere_option
@json_option
def list_(session: str | None, all_sessions: bool, as_json: bool) -> None:
    """List findings, newest first."""
    with command_context() as ctx:
        _check_scope(session, all_sessions)
        listed = ctx.asky.memory.list_findings(session)
        if as_json:
            ctx.terminal.json(findings_object(listed))
        elif not listed:
            ctx.terminal.note("no findings yet; `asky memory add TEXT` saves one")
        else:
            print_findings(ctx.terminal, listed.found)
        note_damaged(ctx.terminal, listed.damaged)


@memory.command()
@click.argument("query")
@click.option(
    "-k", "limit", type=click.IntRange(1, 1000), default=10, show_default=True, help="Maximum number of findings."
)
@_session_option
@_everywhere_option
@json_option
def search(query: str, limit: int, session: str | None, all_sessions: bool, as_json: bool) -> None:
    """Search findings for QUERY, best match first."""
    require_query(query)
    with command_context() as ctx:
        _check_scope(session, all_sessions)
        found = ctx.run(lambda: ctx.asky.memory.search(as_utf8(query), session=session, limit=limit))
        if as_json:
            ctx.terminal.json(scored_findings_object(query, found))
            return
        if not found:
            ctx.terminal.note("nothing found")
        print_findings(ctx.terminal, [finding for finding, _ in found])


@memory.command()
@click.argument("text")
@click.option(
    "-s",
    "--session",
    shell_complete=complete_session,
    help="Save it for this session only; the session is created on first use. Default: all sessions.",
)
@click.option("--tag", "tags", multiple=True, help="Tag for searching (repeatable).")
@json_option
def add(text: str, session: str | None, tags: tuple[str, ...], as_json: bool) -> None:
    """Save TEXT as a finding of your own; "-" reads it from standard input."""
    finding = piped_text() if text == "-" else as_utf8(text)
    words = [as_utf8(tag) for tag in tags]
    require_finding(finding, words)
    with command_context() as ctx:
        added = ctx.asky.memory.add(finding, session=None if session is None else as_utf8(session), tags=words)
        if as_json:
            ctx.terminal.json(finding_object(added.finding))
        else:
            id_ = added.finding.id
            ctx.terminal.note(f"saved as finding {id_}" if added.is_new else f"finding {id_} already says that")


@memory.command()
@click.argument("ids", metavar="[ID]...", nargs=-1, type=click.IntRange(1, (1 << 63) - 1))
@click.option("--source", help="Delete findings that cite this source: an id, URL, domain, file or folder.")
@click.option("-s", "--session", shell_complete=complete_session, help="Delete the findings of this session.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation.")
def rm(ids: tuple[int, ...], source: str | None, session: str | None, yes: bool) -> None:
    """Delete findings by ID, by source or by session.

    Deleting more than one asks for confirmation unless --yes is given. The texts are overwritten in the store file.
    Session transcripts are not affected; `asky session rm` deletes those.
    """
    if sum((bool(ids), source is not None, session is not None)) != 1:
        raise UsageError("name IDs, a --source or a --session, but only one of these", hint=_SEE_LIST)
    with command_context() as ctx:
        service = ctx.asky.memory
        if source is not None:
            chosen = service.find_by_source(as_utf8(source))
        else:
            chosen = service.findings(session) if session is not None else service.get(ids)
        if not chosen:
            ctx.terminal.note("there is nothing to delete")
            return
        what = f"{len(chosen):,} findings"
        if len(chosen) > 1 and not (
            yes or is_confirmed(f"Delete these {what}?", f"delete {what}", lambda: print_findings(ctx.terminal, chosen))
        ):
            ctx.terminal.note("nothing was deleted")
            return
        removed = service.remove([each.id for each in chosen])
        ctx.terminal.note(f"deleted finding {chosen[0].id}" if len(chosen) == 1 else f"deleted {removed:,} findings")


@memory.command()
@_session_option
@click.option(
    "--format", "format_", type=click.Choice(["jsonl", "md"]), default="jsonl", show_default=True, help="Output format."
)
def export(session: str | None, format_: Literal["jsonl", "md"]) -> None:
    """Print findings as JSON lines or Markdown, oldest first."""
    with command_context() as ctx:
        found = ctx.asky.memory.findings(session)[::-1]
        if format_ == "md":
            for line in as_markdown(found):
                ctx.terminal.line(line)
            return
        for each in found:
            ctx.terminal.json(finding_object(each))


def _check_scope(session: str | None, all_sessions: bool) -> None:
    """Raise `UsageError` if both one session and all sessions are requested."""
    if session is not None and all_sessions:
        raise UsageError("--session and --all-sessions cannot be combined", hint="use one of them")
