"""Findings as terminal lines and as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from asky.app.memory import SavedFinding, describe_source
from asky.cli.terminal.terminal import Terminal, one_line, plain

_TRUST = {"user": "yours", "local": "from your documents", "web": "from web pages"}
_SOURCES_NAMED = 3
_MARKUP = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~$&:@])")  # with : and @, so that a bare URL does not become a link


def print_findings(terminal: Terminal, findings: Sequence[SavedFinding]) -> None:
    """Print two lines for each finding: its text, and its date, origin, session, sources and tags."""
    for each in findings:
        terminal.line(f"{each.id}  {one_line(each.text)}")
        facts = one_line(", ".join(_facts(each, each.session)))
        terminal.line(f"    {facts}", 2)


def noted_lines(answer: Mapping[str, Any]) -> Iterator[str]:
    """Yield the findings that an `asky.answer/1` object could not weigh, and where each comes from.

    Answers of earlier versions have none.
    """
    for each in answer.get("noted", ()):
        is_own = each["trust"] == "user"
        sources = {passage["source_id"]: describe_source(passage) for passage in each["passages"]}
        origin = [each["created_at"][:10], *([] if is_own else [_TRUST[each["trust"]]]), *sources.values()]
        begin = "you noted" if is_own else "noted earlier"
        yield f"{begin}: “{one_line(each['text'])}” ({one_line(', '.join(origin))})"


def as_markdown(findings: Sequence[SavedFinding]) -> Iterator[str]:
    """Yield the lines of a Markdown document with a section for each session; all text in it is escaped."""
    yield "# Findings"
    section: str | None = None
    for each in sorted(findings, key=lambda one: one.session or ""):
        name = f"Session {each.session}" if each.session is not None else "Of no session"
        if name != section:
            section = name
            yield f"\n## {_escaped(name)}\n"
        yield f"- {_escaped(each.text)}  "
        yield f"  *{_escaped(', '.join(_facts(each, None)))}*"


def _facts(finding: SavedFinding, session: str | None) -> list[str]:
    sources = {each["source_id"]: each for each in finding.passages}
    named = [describe_source(each) for each in list(sources.values())[:_SOURCES_NAMED]]
    more = len(sources) - len(named)
    return [
        finding.created_at[:10],
        _TRUST[finding.trust],
        *([f"session {session}"] if session is not None else []),
        *([f"cites {'; '.join(named)}" + (f" and {more} more" if more else "")] if named else []),
        *(f"#{tag}" for tag in finding.tags),
    ]


def _escaped(text: str) -> str:
    return _MARKUP.sub(r"\\\1", " ".join(plain(text).split()))
