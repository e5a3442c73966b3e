"""Prints the passage behind a citation in its context."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from asky.app.answers import parts_of, place_text, plain_text, quoted_spans, section_text
from asky.app.runs import DEFAULT_COLLECTION
from asky.cli.terminal.terminal import one_line

if TYPE_CHECKING:
    from asky.app.runs import OpenedCitation, Run
    from asky.cli.terminal.terminal import Terminal

_SHOWN_QUOTE = 100  # characters
_SHOWN_BETTER = 240
_BOLD, _DIM, _UNDERLINED, _GREEN, _RED = 1, 2, 4, 32, 31

_SOURCE_NOW: Mapping[str, str] = MappingProxyType(
    {
        "changed": "the source has changed; this is the text used for the answer",
        "modified": "the file was modified after it was read",
        "missing": "the file no longer exists; this is the text used for the answer",
        "unreadable": "the source can no longer be read; this is the text used for the answer",
        "removed": "the source was removed from the store; this is the text used for the answer",
    }
)


def print_opened(terminal: Terminal, run: Run, opened: OpenedCitation) -> None:
    """Print a citation of a run with its passage in context, and whether both match the answer."""
    citation = opened.citation
    where = citation["url"] or citation["path"]
    _print_painted(terminal, f"[{citation['n']}] {one_line(_place(citation))}", _BOLD)
    if where:
        terminal.source(f"    {one_line(where)}", where, _DIM)
    for line in (
        f"characters [{citation['start']}, {citation['end']}) of the text with sha256 {citation['sha256']}",
        f"run {run.id}: {run.question}",
    ):
        _print_painted(terminal, f"    {one_line(line)}", _DIM)
    terminal.line()
    _print_passage(terminal, opened)
    terminal.line()
    if opened.quote_matches and opened.hash_matches:
        _print_painted(terminal, "checked: the stored text has this hash and contains the answer's quote", _GREEN)
    if not opened.hash_matches:
        _print_painted(terminal, f"FAILED: the hash of the stored text is {opened.sha256}", _RED)
    if not opened.quote_matches:
        _print_painted(terminal, f"FAILED: the answer's quote is not in the stored text: {citation['quote']}", _RED)
    for better in opened.better:
        terminal.line(f"{better.key} supports “{_brief(plain_text(better.claim))}”: {one_line(better.source.title)}")
        _print_painted(terminal, f"    “{_brief(better.text)}”", _DIM)
    if opened.source_now != "same":
        remedy = f"; {_refresh_command(opened)} reads it again" if opened.source_now == "modified" else ""
        terminal.line(_SOURCE_NOW[opened.source_now] + remedy)


def print_citations(terminal: Terminal, run: Run) -> None:
    """Print the citations of a run, each with its place and the beginning of what is quoted from it."""
    answer = run.answer or {"citations": [], "claims": []}
    for citation in answer["citations"]:
        passage = citation["quote"]
        quoted = quoted_spans(answer["claims"], citation["n"], len(passage))
        _print_painted(terminal, f"[{citation['n']}] {one_line(_place(citation))}", _BOLD)
        terminal.line(f"    {one_line(passage[quoted[0].start if quoted else 0 :])[:_SHOWN_QUOTE]}")
    terminal.note(f"`asky why N` shows the passage behind [N] of run {run.id}")


def note_earlier(terminal: Terminal, run: Run, later: Run) -> None:
    """Say that a run is shown because the last one cites nothing."""
    terminal.note(f"the last run, {later.id}, cites nothing; this is run {run.id}: “{_brief(run.question)}”")


def _place(citation: Mapping[str, Any]) -> str:
    return ", ".join(part for part in (citation["title"], section_text(citation), place_text(citation)) if part)


def _brief(text: str) -> str:
    shown = one_line(text)
    return shown if len(shown) <= _SHOWN_BETTER else shown[:_SHOWN_BETTER].rsplit(" ", 1)[0] + " …"


def _refresh_command(opened: OpenedCitation) -> str:
    """Return the command that reads a file again: syncing a collection that follows it, or passing it again."""
    if not opened.followed_by:
        return f"a question with -d {shlex.quote(str(opened.source.path))}"
    name = opened.followed_by[0]
    return "`asky corpus sync" + ("" if name == DEFAULT_COLLECTION else f" --collection {shlex.quote(name)}") + "`"


def _print_passage(terminal: Terminal, opened: OpenedCitation) -> None:
    """Print the passage in its context, and the words that the answer quotes.

    On a coloured terminal the passage is bold and the words are underlined; elsewhere the passage stands between marks
    on lines of their own, and the words below it.
    """
    context = opened.context
    before = ("… " if context.cut_before else "") + context.before.lstrip()
    after = context.after.rstrip() + (" …" if context.cut_after else "")
    if not terminal.colored:
        for part in (before.rstrip(), ">>>", opened.passage, "<<<", after.lstrip()):
            if part:
                terminal.line(part)
        for span in opened.quoted:
            terminal.line(f"quoted: “{' '.join(opened.passage[span.start : span.end].split())}”")
        return
    passage = [
        (part, (_BOLD, _UNDERLINED) if is_quoted else (_BOLD,))
        for part, is_quoted in parts_of(opened.passage, opened.quoted)
    ]
    terminal.parts([(before, ()), *passage, (after, ())])


def _print_painted(terminal: Terminal, text: str, code: int) -> None:
    terminal.line(text, code)
