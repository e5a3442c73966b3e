"""`asky memory`: what was found before and kept for later questions."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Literal

import click

from asky.cli.arguments import as_utf8
from asky.cli.confirming import is_confirmed
from asky.cli.damaged import describe_damaged, note_damaged
from asky.cli.finding_views import as_markdown, describe, print_findings
from asky.cli.options import complete_session, json_option
from asky.cli.session import find_session
from asky.cli.workbench import Workbench, workbench
from asky.errors import UsageError
from asky.storage.stored_json import Unreadable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from asky.storage.findings import Finding, FindingScope

_MAX_QUERY_CHARS = 20_000
_MAX_PIPED_BYTES = 1 << 20  # far more than a finding may have: enough to say how long the text is
_NO_SUCH = "`asky memory list` shows what there is"


_session_option = click.option(
    "-s", "--session", shell_complete=complete_session, help="Only the findings of this session."
)
_everywhere_option = click.option("--all-sessions", is_flag=True, help="The findings of every session; the default.")


@click.group()
def memory() -> None:
    """List, search and edit saved findings.

    A finding is a note, not a source: a later question of its session can be led by it, and cites the passages
    themselves. What you add without --session is for the questions of every session.
    """


@memory.command("list")
@_session_option
@_everywhere_option
@json_option
def list_(session: str | None, all_sessions: bool, as_json: bool) -> None:
    """List findings, the newest first."""
    with workbench() as bench:
        listed = bench.services.findings.listed(_scope(bench, session, all_sessions))
        found = [each for each in listed if not isinstance(each, Unreadable)]
        damaged = [each for each in listed if isinstance(each, Unreadable)]
        if as_json:
            described = describe(bench, found)
            bench.terminal.json(
                {"schema": "asky.findings/1", "findings": described, "damaged": describe_damaged(damaged)}
            )
        elif not listed:
            bench.terminal.note("no findings yet; `asky memory add TEXT` keeps one")
        else:
            print_findings(bench, found)
        note_damaged(bench.terminal, damaged)


@memory.command()
@click.argument("query")
@click.option("-k", "limit", type=click.IntRange(1, 1000), default=10, show_default=True, help="Most findings.")
@_session_option
@_everywhere_option
@json_option
def search(query: str, limit: int, session: str | None, all_sessions: bool, as_json: bool) -> None:
    """Find the findings about QUERY, the best first."""
    if not query.strip() or len(query) > _MAX_QUERY_CHARS:
        is_empty = not query.strip()
        what = "empty" if is_empty else f"longer than {_MAX_QUERY_CHARS:,} characters"
        raise UsageError(f"the query is {what}", hint="`asky memory list` shows all findings" if is_empty else None)
    with workbench() as bench:
        scope = _scope(bench, session, all_sessions)
        found = bench.services.vectors.search_findings(as_utf8(query), scope, limit=limit)
        if as_json:
            described = describe(bench, [finding for finding, _ in found])
            scored = [{**each, "score": round(score, 4)} for each, (_, score) in zip(described, found, strict=True)]
            bench.terminal.json({"schema": "asky.findings/1", "query": query, "findings": scored})
            return
        if not found:
            bench.terminal.note("nothing found")
        print_findings(bench, [finding for finding, _ in found])


@memory.command()
@click.argument("text")
@click.option(
    "-s",
    "--session",
    shell_complete=complete_session,
    help="Keep it for this session, which is made on first use; without, it is for all.",
)
@click.option("--tag", "tags", multiple=True, help="A word or two to find it by; can be given again.")
@json_option
def add(text: str, session: str | None, tags: tuple[str, ...], as_json: bool) -> None:
    """Keep TEXT as a finding of your own; "-" reads it from standard input."""
    from asky.research.memory import clean_finding, clean_tags  # with what scrubs texts: not for --help

    kept = clean_finding(_piped() if text == "-" else as_utf8(text))
    kept_tags = clean_tags([as_utf8(tag) for tag in tags])
    with workbench() as bench:
        findings, session_id = bench.services.findings, _begun_id(bench, session)
        known = findings.same(kept, session_id=session_id)
        # Its vector is made by the first search: no model is loaded for this.
        id_ = findings.add(kept, session_id=session_id, run_id=None, tags=kept_tags, trust="user")
        if as_json:
            (shown,) = describe(bench, list(findings.get([id_]).values()))
            bench.terminal.json({"schema": "asky.finding/1", **shown})
        else:
            bench.terminal.note(f"kept as finding {id_}" if known is None else f"finding {id_} says that already")


@memory.command()
@click.argument("ids", metavar="[ID]...", nargs=-1, type=click.IntRange(1, (1 << 63) - 1))
@click.option("--source", help="Those that rest on this source: an id, an address, a domain, a file or a folder.")
@click.option("-s", "--session", shell_complete=complete_session, help="Those of this session.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask, however many they are.")
def rm(ids: tuple[int, ...], source: str | None, session: str | None, yes: bool) -> None:
    """Forget findings: by their IDs, all that rest on a source, or all of a session.

    More than one are forgotten only after you say so, or with --yes. The texts are overwritten in the store's file.
    What was said in a session stays in its transcript; `asky session rm` removes that.
    """
    if sum((bool(ids), source is not None, session is not None)) != 1:
        raise UsageError("name IDs, a --source or a --session, and one of them only", hint=_NO_SUCH)
    with workbench() as bench:
        chosen = _of_source(bench, source) if source is not None else _named(bench, ids, session)
        if not chosen:
            bench.terminal.note("there is nothing to forget")
            return
        what = f"{len(chosen):,} findings"
        if len(chosen) > 1 and not (
            yes or is_confirmed(f"Forget these {what}?", f"forget {what}", lambda: print_findings(bench, chosen))
        ):
            bench.terminal.note("nothing was forgotten")
            return
        removed = bench.services.findings.remove([each.id for each in chosen])
        bench.terminal.note(f"forgot finding {chosen[0].id}" if len(chosen) == 1 else f"forgot {removed:,} findings")


@memory.command()
@_session_option
@click.option(
    "--format", "format_", type=click.Choice(["jsonl", "md"]), default="jsonl", show_default=True, help="How."
)
def export(session: str | None, format_: Literal["jsonl", "md"]) -> None:
    """Print findings as JSON, one a line, or as Markdown; the oldest first."""
    with workbench() as bench:
        found = bench.services.findings.recent(_scope(bench, session, False))[::-1]
        if format_ == "md":
            for line in as_markdown(bench, found):
                bench.terminal.line(line)
            return
        for each in describe(bench, found):
            bench.terminal.json({"schema": "asky.finding/1", **each})


def _scope(bench: Workbench, session: str | None, all_sessions: bool) -> FindingScope:
    """All findings, unless the user names a session: who looks after a memory has to see what is in it."""
    from asky.storage.findings import EVERY_FINDING, FindingScope  # with SQLite: not for --help

    if session is not None and all_sessions:
        raise UsageError("--session and --all-sessions contradict each other", hint="use one of them")
    return EVERY_FINDING if session is None else FindingScope("session", _session_id(bench, session))


def _session_id(bench: Workbench, name: str | None) -> str | None:
    return None if name is None else find_session(bench.services.sessions, name).id


def _begun_id(bench: Workbench, name: str | None) -> str | None:
    """The id of a session that is made where there is none of that name, as a question makes one."""
    if name is None:
        return None
    sessions = bench.services.sessions
    known = sessions.find(as_utf8(name))
    session = known or sessions.open(as_utf8(name), mode="standard")
    if known is None:
        bench.terminal.note(f"began the session {session.name}")
    return session.id


def _named(bench: Workbench, ids: Sequence[int], session: str | None) -> list[Finding]:
    if session is not None:
        return bench.services.findings.recent(_scope(bench, session, False))
    found = bench.services.findings.get(ids)
    missing = [str(id_) for id_ in dict.fromkeys(ids) if id_ not in found]
    if missing:
        raise UsageError(f"there is no finding {', '.join(missing)}", hint=_NO_SUCH)
    return list(found.values())


def _of_source(bench: Workbench, source: str) -> list[Finding]:
    from asky.research.memory import source_test  # 40 ms: for this only

    if not source.strip():
        raise UsageError("the source has no name")
    is_named = source_test(as_utf8(source.strip()))
    found = [each for each in bench.services.findings.recent() if any(map(is_named, each.passages))]
    if not found:
        raise UsageError(f"no finding rests on {source!r}", hint=_NO_SUCH)
    return found


def _piped() -> str:
    """The text on standard input."""
    if sys.stdin is None or sys.stdin.closed:
        raise UsageError("there is no standard input to read the finding from")
    return sys.stdin.buffer.read(_MAX_PIPED_BYTES).decode("utf-8", "replace")
