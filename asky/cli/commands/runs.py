"""`asky runs`: past answers with their evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from asky.app.schemas.run import runs_object, shown_run_object
from asky.cli.commands.resume import replay, resume
from asky.cli.commands.run_exports import export, verify
from asky.cli.context import command_context
from asky.cli.finding_views import noted_lines
from asky.cli.listing_group import ListingGroup
from asky.cli.options import complete_run, json_option
from asky.cli.terminal.damaged import note_damaged
from asky.cli.terminal.markdown_stream import print_markdown
from asky.cli.terminal.terminal import json_text, one_line
from asky.cli.terminal.web_trail import web_details, web_lines
from asky.cli.verdicts import confidence_lines, contradiction_lines, statement_lines
from asky.cli.view import cited_sources
from asky.text.counting import counted
from asky.values import Unreadable

if TYPE_CHECKING:
    from asky.app.runs import LedgerEntry, PartialText, Run, RunDetails, RunSummary
    from asky.cli.terminal.terminal import Terminal

_QUESTION_CHARS = 60
_HOSTS_SHOWN = 8
_REJECTED_SHOWN = 5


@click.group(cls=ListingGroup)
def runs() -> None:
    """List, show, export and verify past answers and their evidence; resume or replay a run."""


runs.add_command(resume)
runs.add_command(replay)
runs.add_command(export)
runs.add_command(verify)


@runs.command("list")
@click.option(
    "-n", "limit", type=click.IntRange(1, 1_000_000), default=20, show_default=True, help="Maximum number of runs."
)
@click.option("-s", "--session", help="Show only runs in this session.")
@json_option
def list_(limit: int, session: str | None, as_json: bool) -> None:
    """List runs, newest first."""
    with command_context() as ctx:
        listed = ctx.asky.runs.list(limit=limit, session=session)
        if as_json:
            found = [each.run for each in listed if not isinstance(each, Unreadable)]
            ctx.terminal.json(runs_object(listed, ctx.asky.runs.session_names(found)))
        elif not listed:
            ctx.terminal.note("no runs yet")
        else:
            _print_runs(ctx.terminal, listed)
        note_damaged(ctx.terminal, [each for each in listed if isinstance(each, Unreadable)])


def _print_runs(terminal: Terminal, listed: Sequence[RunSummary | Unreadable]) -> None:
    is_interrupted = False
    for each in listed:
        if isinstance(each, Unreadable):
            terminal.line(f"{one_line(each.name)}  damaged")
            continue
        run = each.run
        is_interrupted = is_interrupted or run.status == "interrupted"
        question = one_line(run.question)
        cut = question if len(question) <= _QUESTION_CHARS else question[: _QUESTION_CHARS - 1] + "…"
        used = _used(each.tokens, each.cost_usd)
        terminal.line(f"{run.id}  {_outcome(run):<14}  {one_line(run.model):<12}  {used:<13}  {cut}")
    if is_interrupted:
        terminal.note("`asky runs resume ID` resumes an interrupted run")


def _used(tokens: int, cost_usd: float | None) -> str:
    """Return the cost of a run, or its tokens if no price is known; `-` for a model that counts none."""
    if cost_usd:
        return f"{cost_usd:.4f} USD"
    return f"{tokens:,} tokens" if tokens else "-"


def _outcome(run: Run) -> str:
    """Return how a run ended, in a word or two."""
    if run.answer is None or run.status == "cancelled":
        return run.status
    if run.answer["stopped_by"] == "no_evidence":
        return "no evidence"
    count = len(run.answer["citations"])
    return counted(count, "citation")


@runs.command()
@click.argument("run_id", metavar="[ID]", required=False, shell_complete=complete_run)
@click.option("-v", "--verbose", is_flag=True, help="Include every search, page and rejected source, and the ledger.")
@json_option
def show(run_id: str | None, verbose: bool, as_json: bool) -> None:
    """Show a run and its evidence; by default the last run.

    Includes the answer, its citations, each verdict, what was searched, read and rejected, and the cost.
    An unambiguous prefix of an id is enough.
    """
    with command_context(verbose=verbose) as ctx:
        details = ctx.asky.runs.show(run_id)
        if as_json:
            ctx.terminal.json(shown_run_object(details))
            return
        run = details.run
        _print_head(ctx.terminal, details)
        if run.status == "interrupted":
            ctx.terminal.note(f"`asky runs resume {run.id}` resumes it")
        if run.answer is not None:
            _print_answer(ctx.terminal, run.answer, verbose=verbose)
        elif (partial := ctx.asky.runs.partial_text(details)) is not None:
            _print_partial(ctx.terminal, partial)
        if verbose:
            _print_web(ctx.terminal, details.ledger)
            ctx.terminal.line("\nledger")
            for entry in details.ledger:
                ctx.terminal.line(f"  {entry.at}  {entry.kind:<9} {json_text(entry.data)}")


def _print_partial(terminal: Terminal, partial: PartialText) -> None:
    """Print the partial answer of a failed run, with a line for each source that it cites."""
    terminal.line("\nthe partial answer before the failure, unchecked:\n")
    terminal.line(f"{partial.text}\n")
    for number, source in enumerate(partial.sources, start=1):
        where = source.url or source.path
        terminal.line(f"[{number}] {one_line(source.title + (f' - {where}' if where else ''))}")


def _print_head(terminal: Terminal, details: RunDetails) -> None:
    run, ledger = details.run, details.ledger
    ended = f", ended {_minute(run.finished_at)}" if run.finished_at else ""
    rows = [
        ("run", f"{run.id} ({run.status})"),
        ("question", run.question),
        ("session", details.session),
        ("mode", run.mode),
        ("began", f"{_minute(run.started_at)}{ended}"),
        ("models", ", ".join(details.models) or run.model),
        ("hosts", _hosts(details.hosts)),
        *(("web", line) for line in web_lines(ledger)),
        *(("searched", query) for query in details.searches),
        *(("ran", _program(each.data)) for each in ledger if each.kind == "ran"),
        *(("note", _note(each.data)) for each in ledger if each.kind == "note_researched"),
        *(("failed", each.data.get("message")) for each in ledger if each.kind == "failed"),
    ]
    for name, value in rows:
        if value:
            terminal.line(f"{name:<9} {one_line(str(value))}")


def _program(data: Mapping[str, Any]) -> str:
    """Return a line for a call of a user-defined tool."""
    import shlex  # only for a call

    took = f", {data['output_bytes']:,} bytes, {data['seconds']:.1f} s" if "seconds" in data else ""
    end = f"exit status {data['status']}" if data["ended"] == "ended" else str(data["ended"]).replace("_", " ")
    return f"{data['tool']} ({end}{took}): {shlex.join(map(str, data['argv']))}"


def _note(data: Mapping[str, Any]) -> str:
    """Return a line for a note that the run had researched."""
    return f"{data['path']} ({'written' if data['written_to'] else 'not written'}), run {data['run']}"


def _hosts(hosts: Sequence[str]) -> str:
    """Return the first hosts, and the number of others."""
    more = len(hosts) - _HOSTS_SHOWN
    return ", ".join([*hosts[:_HOSTS_SHOWN], *([f"and {more} more, in the ledger (-v)"] if more > 0 else [])]) or "none"


def _print_web(terminal: Terminal, ledger: Sequence[LedgerEntry]) -> None:
    """Print each search, selection and page."""
    lines = list(web_details(ledger))
    if lines:
        terminal.line("\nweb")
    for line in lines:
        terminal.line(f"  {line}")


def _minute(time: str) -> str:
    """Return `2026-01-31 17:05 UTC` for a stored time."""
    return f"{time[:10]} {time[11:16]} UTC"


def _print_answer(terminal: Terminal, answer: Mapping[str, Any], *, verbose: bool) -> None:
    terminal.line()
    print_markdown(terminal, answer["answer"])
    terminal.line()
    terminal.sources(cited_sources(answer))
    if answer["claims"]:
        terminal.line("\nclaims")
    for line in statement_lines(answer["claims"]):
        terminal.line(line)
    for line in (*confidence_lines(answer), *noted_lines(answer), *contradiction_lines(answer)):
        terminal.line(line)
    usage = answer["usage"]
    used = [
        counted(usage["llm_calls"], "model call"),
        f"{usage['prompt_tokens']:,} + {usage['completion_tokens']:,} tokens",
        *([] if usage["cost_usd"] is None else [f"{usage['cost_usd']:.4f} USD"]),
        counted(usage["searches"], "search", "searches"),
        counted(usage["fetches"], "fetch", "fetches"),
        f"{usage['seconds']:.1f} s",
    ]
    terminal.line(f"\nused      {', '.join(used)}")
    rejected = answer["rejected"]
    for each in rejected if verbose else rejected[:_REJECTED_SHOWN]:
        terminal.line(f"rejected  {one_line(each['url'])}: {one_line(each['reason'])}")
    if len(rejected) > _REJECTED_SHOWN and not verbose:
        terminal.line(f"rejected  {len(rejected) - _REJECTED_SHOWN} more, which -v prints")
    for warning in answer["warnings"]:
        terminal.line(f"warning   {one_line(warning)}")
