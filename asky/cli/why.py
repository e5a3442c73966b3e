"""`asky why`: the stored passage that a citation rests on, checked again."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import click

from asky.cli.options import complete_run, json_option
from asky.cli.run_lookup import find_run
from asky.cli.terminal import one_line
from asky.cli.workbench import workbench
from asky.evidence.citing import page_text
from asky.storage.corpus import DEFAULT_COLLECTION

if TYPE_CHECKING:
    from asky.cli.terminal import Terminal
    from asky.evidence.opening import OpenedCitation
    from asky.storage.runs import Run

_BOLD, _DIM, _GREEN, _RED = 1, 2, 32, 31

_SOURCE_NOW: Mapping[str, str] = MappingProxyType(
    {
        "changed": "the source has another text by now: this is the one that the answer was given",
        "modified": "the file was modified after it was read",
        "missing": "the file is not there any more: this is the text that was read for the answer",
        "unreadable": "the source could not be read any more: this is the text that was read for the answer",
        "removed": "the source is not in the store any more: this is the text that was read for the answer",
    }
)


@click.command()
@click.argument("number", type=click.IntRange(min=1), metavar="N")
@click.option(
    "--run",
    "run_id",
    shell_complete=complete_run,
    help="The run whose answer is meant, by its id or the beginning of it.  [default: last]",
)
@click.option(
    "--context",
    type=click.IntRange(0, 1_000_000),
    default=300,
    show_default=True,
    help="Characters to show on either side.",
)
@json_option
@click.pass_context
def why(ctx: click.Context, number: int, run_id: str | None, context: int, as_json: bool) -> None:
    """Show the stored passage behind citation N of an answer, in its context.

    The passage is checked again: its text and the hash of the whole stored text must be those of the answer, or the
    exit code is 1. The text that an answer was made from is kept, whatever becomes of its source.
    """
    from asky.evidence.opening import open_citation  # not for --help

    with workbench() as bench:
        services = bench.services
        run = find_run(bench, run_id)
        opened = open_citation(
            run,
            number,
            runs=services.runs,
            documents=services.documents,
            corpus=services.corpus,
            context_chars=context,
        )
        if as_json:
            bench.terminal.json(_json(run, opened))
        else:
            print_opened(bench.terminal, run, opened)
    if not (opened.quote_matches and opened.hash_matches):
        ctx.exit(1)


def _json(run: Run, opened: OpenedCitation) -> dict[str, Any]:
    around = opened.surroundings
    return {
        "schema": "asky.why/1",
        "run": run.id,
        "question": run.question,
        "citation": opened.citation,
        "key": opened.key,
        "passage": opened.passage,
        "before": around.before,
        "after": around.after,
        "sha256": opened.sha256,
        "checks": {"quote": opened.quote_matches, "sha256": opened.hash_matches},
        "source_now": opened.source_now,
    }


def print_opened(terminal: Terminal, run: Run, opened: OpenedCitation) -> None:
    """Print a citation of a run with its passage in its context, and whether both are what the answer says."""
    citation = opened.citation
    place = ", ".join(part for part in (citation["title"], citation["section"], page_text(citation)) if part)
    where = citation["url"] or citation["path"]
    _painted(terminal, f"[{citation['n']}] {one_line(place)}", _BOLD)
    for line in (
        *([where] if where else []),
        f"characters [{citation['start']}, {citation['end']}) of the text with sha256 {citation['sha256']}",
        f"run {run.id}: {run.question}",
    ):
        _painted(terminal, f"    {one_line(line)}", _DIM)
    terminal.line()
    _print_passage(terminal, opened)
    terminal.line()
    if opened.quote_matches and opened.hash_matches:
        _painted(terminal, "checked: the stored text has this hash, and the quote of the answer stands in it", _GREEN)
    if not opened.hash_matches:
        _painted(terminal, f"FAILED: the stored text has another hash, {opened.sha256}", _RED)
    if not opened.quote_matches:
        _painted(terminal, f"FAILED: the answer quotes another text: {citation['quote']}", _RED)
    if opened.source_now != "same":
        again = f"; {_again(opened)} reads it again" if opened.source_now == "modified" else ""
        terminal.line(_SOURCE_NOW[opened.source_now] + again)


def _again(opened: OpenedCitation) -> str:
    """What has a file read again: bringing a collection that follows it up to date, or naming it once more."""
    if not opened.followed_by:
        return f"a question with -d {shlex.quote(str(opened.source.path))}"
    name = opened.followed_by[0]
    return "`asky corpus sync" + ("" if name == DEFAULT_COLLECTION else f" --collection {shlex.quote(name)}") + "`"


def _print_passage(terminal: Terminal, opened: OpenedCitation) -> None:
    """The passage in its context: bold where colour is wanted, between marks on lines of their own elsewhere."""
    around = opened.surroundings
    before = ("… " if around.cut_before else "") + around.before.lstrip()
    after = around.after.rstrip() + (" …" if around.cut_after else "")
    if not terminal.colored:
        for part in (before.rstrip(), ">>>", opened.passage, "<<<", after.lstrip()):
            if part:
                terminal.line(part)
        return
    terminal.write(before)
    # A pager resets the style at each line.
    terminal.out.write("\n".join(terminal.paint(line, _BOLD) for line in opened.passage.splitlines()))
    terminal.write(after + "\n")


def _painted(terminal: Terminal, text: str, code: int) -> None:
    terminal.out.write(terminal.paint(text, code) + "\n")
