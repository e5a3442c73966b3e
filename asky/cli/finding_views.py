"""Findings as a person or a program reads them: lines, JSON, Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from asky.cli.terminal import one_line, plain

if TYPE_CHECKING:
    from asky.cli.workbench import Workbench
    from asky.storage.findings import Finding

_TRUST = {"user": "yours", "local": "from your documents", "web": "from web pages"}
_SOURCES_NAMED = 3
_MARKUP = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~$&:@])")  # with : and @ a bare address does not become a link


def describe(bench: Workbench, findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """The findings as JSON objects."""
    names = bench.services.sessions.names()
    return [
        finding_object(each, session=names.get(each.session_id) if each.session_id is not None else None)
        for each in findings
    ]


def finding_object(finding: Finding, *, session: str | None) -> dict[str, Any]:
    """A finding in JSON; `session` is the name of its session."""
    return {
        "id": finding.id,
        "text": finding.text,
        "tags": list(finding.tags),
        "trust": finding.trust,
        "session": session,
        "run": finding.run_id,
        "passages": [dict(passage) for passage in finding.passages],
        "created_at": finding.created_at,
    }


def print_findings(bench: Workbench, findings: Sequence[Finding]) -> None:
    """Two lines each: what it says, and what is known of it."""
    for each in describe(bench, findings):
        bench.terminal.line(f"{each['id']}  {one_line(each['text'])}")
        facts = one_line(", ".join(_facts(each, each["session"])))
        bench.terminal.out.write(bench.terminal.paint(f"    {facts}", 2) + "\n")


def as_markdown(bench: Workbench, findings: Sequence[Finding]) -> Iterator[str]:
    """The lines of a document with a section for each session. No text in it is markup, and none a link."""
    yield "# Findings"
    section: str | None = None
    for each in sorted(describe(bench, findings), key=lambda one: one["session"] or ""):
        name = f"Session {each['session']}" if each["session"] is not None else "Of no session"
        if name != section:
            section = name
            yield f"\n## {_escaped(name)}\n"
        yield f"- {_escaped(each['text'])}  "
        yield f"  *{_escaped(', '.join(_facts(each, None)))}*"


def _facts(described: Mapping[str, Any], session: str | None) -> list[str]:
    sources = {each["source_id"]: each for each in described["passages"]}
    named = [_source(each) for each in list(sources.values())[:_SOURCES_NAMED]]
    more = len(sources) - len(named)
    return [
        described["created_at"][:10],
        _TRUST[described["trust"]],
        *([f"session {session}"] if session is not None else []),
        *([f"rests on {'; '.join(named)}" + (f" and {more} more" if more else "")] if named else []),
        *(f"#{tag}" for tag in described["tags"]),
    ]


def _source(passage: Mapping[str, Any]) -> str:
    from asky.research.memory import host_of_passage  # where there is a passage

    title = passage.get("title") or passage["source_id"]
    host = host_of_passage(passage)
    return f"“{title}”" + (f" at {host}" if host else "")


def _escaped(text: str) -> str:
    return _MARKUP.sub(r"\\\1", " ".join(plain(text).split()))
