"""`asky memory`: what was found before and kept for later questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from asky.cli.arguments import as_utf8
from asky.cli.options import json_option
from asky.cli.session import find_session
from asky.cli.terminal import one_line, plain
from asky.cli.workbench import Workbench, workbench
from asky.errors import UsageError

if TYPE_CHECKING:
    from asky.storage.findings import Finding

_MAX_CHARS = 2_000
_MAX_TAGS = 8
_MAX_TAG_CHARS = 40
_MAX_QUERY_CHARS = 20_000
_ALL = 1 << 31

_session_option = click.option("-s", "--session", help="Only the findings of this session.")


@click.group()
def memory() -> None:
    """List, search and edit saved findings.

    A finding is a note, not a source: a later question can be led by it, and cites the passages themselves.
    """


@memory.command("list")
@_session_option
@json_option
def list_(session: str | None, as_json: bool) -> None:
    """List findings, the newest first."""
    with workbench() as bench:
        found = bench.services.findings.recent(session_id=_session_id(bench, session))
        if as_json:
            described = _described(bench, found)
            bench.terminal.json({"schema": "asky.findings/1", "findings": described})
            return
        if not found:
            bench.terminal.note("no findings yet; `asky memory add TEXT` keeps one")
        _print(bench, found)


@memory.command()
@click.argument("query")
@click.option("-k", "limit", type=click.IntRange(1, 1000), default=10, show_default=True, help="Most findings.")
@_session_option
@click.option("--all-sessions", is_flag=True, help="The findings of every session.")
@json_option
def search(query: str, limit: int, session: str | None, all_sessions: bool, as_json: bool) -> None:
    """Find the findings about QUERY, the best first.

    Without --session and --all-sessions these are the findings of the session that was used last, and those that
    belong to none.
    """
    if session is not None and all_sessions:
        raise UsageError("--session and --all-sessions contradict each other", hint="use one of them")
    if not query.strip() or len(query) > _MAX_QUERY_CHARS:
        raise UsageError(f"the query is {'empty' if not query.strip() else 'too long'}")
    with workbench() as bench:
        found = _search(bench, query, session, all_sessions)[:limit]
        if as_json:
            described = _described(bench, [finding for finding, _ in found])
            scored = [{**each, "score": round(score, 4)} for each, (_, score) in zip(described, found, strict=True)]
            bench.terminal.json({"schema": "asky.findings/1", "query": query, "findings": scored})
            return
        if not found:
            bench.terminal.note("nothing found" + ("" if all_sessions else "; --all-sessions looks further"))
        _print(bench, [finding for finding, _ in found])


def _search(bench: Workbench, query: str, session: str | None, all_sessions: bool) -> list[tuple[Finding, float]]:
    services = bench.services
    if session is not None:
        return services.vectors.search_findings(query, session_id=_session_id(bench, session), limit=_ALL)
    found = services.vectors.search_findings(query, session_id=None, limit=_ALL)
    last = services.sessions.recent(limit=1)
    if all_sessions or not last:
        return found
    return [(finding, score) for finding, score in found if finding.session_id in (None, last[0].id)]


@memory.command()
@click.argument("text")
@click.option("-s", "--session", help="Keep it for this session; without, it belongs to none.")
@click.option("--tag", "tags", multiple=True, help="A word or two to find it by; can be given again.")
@json_option
def add(text: str, session: str | None, tags: tuple[str, ...], as_json: bool) -> None:
    """Keep TEXT as a finding of your own."""
    kept, kept_tags = _checked(text), [_checked_tag(tag) for tag in dict.fromkeys(tags)]
    if len(kept_tags) > _MAX_TAGS:
        raise UsageError(f"{len(kept_tags)} tags; {_MAX_TAGS} are the limit")
    with workbench() as bench:
        session_id = _session_id(bench, session)
        # Its vector is made by the first search: no model is loaded for this.
        id_ = bench.services.findings.add(kept, session_id=session_id, run_id=None, tags=kept_tags, trust="user")
        if as_json:
            bench.terminal.json({"schema": "asky.finding/1", "id": id_, "text": kept, "tags": kept_tags})
        else:
            bench.terminal.note(f"kept as finding {id_}")


@memory.command()
@click.argument("finding_id", metavar="ID", type=click.IntRange(1, (1 << 63) - 1))
def rm(finding_id: int) -> None:
    """Forget the finding ID."""
    with workbench() as bench:
        if not bench.services.findings.remove(finding_id):
            raise UsageError(f"there is no finding {finding_id}", hint="`asky memory list` shows what there is")
        bench.terminal.note(f"forgot finding {finding_id}")


@memory.command()
@_session_option
def export(session: str | None) -> None:
    """Print findings as JSON, one a line, the oldest first."""
    with workbench() as bench:
        found = bench.services.findings.recent(session_id=_session_id(bench, session))
        for each in _described(bench, found[::-1]):
            bench.terminal.json({"schema": "asky.finding/1", **each})


def _session_id(bench: Workbench, name: str | None) -> str | None:
    return None if name is None else find_session(bench.services.sessions, name).id


def _checked(text: str) -> str:
    """The text as it is kept: without anything that could steer a terminal."""
    kept = plain(as_utf8(text)).strip()
    if not kept:
        raise UsageError("the finding is empty")
    if len(kept) > _MAX_CHARS:
        raise UsageError(
            f"the finding has {len(kept):,} characters; {_MAX_CHARS:,} are the limit",
            hint="keep longer texts as documents: asky corpus add FILE",
        )
    return kept


def _checked_tag(tag: str) -> str:
    kept = one_line(as_utf8(tag))
    if not 0 < len(kept) <= _MAX_TAG_CHARS:
        raise UsageError(f"not a tag: {kept[:_MAX_TAG_CHARS]!r}", hint=f"use 1 to {_MAX_TAG_CHARS} characters")
    return kept


def _described(bench: Workbench, findings: Sequence[Finding]) -> list[dict[str, Any]]:
    names = {each.id: each.name for each in bench.services.sessions.recent(limit=_ALL)}
    return [
        {
            "id": each.id,
            "text": each.text,
            "tags": list(each.tags),
            "trust": each.trust,
            "session": names.get(each.session_id) if each.session_id is not None else None,
            "run": each.run_id,
            "passages": [dict(passage) for passage in each.passages],
            "created_at": each.created_at,
        }
        for each in findings
    ]


def _print(bench: Workbench, findings: Sequence[Finding]) -> None:
    for each in _described(bench, findings):
        facts = [each["created_at"][:10], "yours" if each["trust"] == "user" else "from a model"]
        facts += [f"session {each['session']}"] if each["session"] is not None else []
        facts += [f"{len(each['passages'])} passages"] if each["passages"] else []
        facts += [f"#{tag}" for tag in each["tags"]]
        bench.terminal.line(f"{each['id']}  {one_line(each['text'])}")
        bench.terminal.out.write(bench.terminal.paint(f"    {', '.join(facts)}", 2) + "\n")
