"""`asky runs`: every answer with what it rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from asky.cli.damaged import describe_damaged, note_damaged
from asky.cli.options import complete_run, json_option
from asky.cli.run_again import replay, resume
from asky.cli.run_exports import export, verify
from asky.cli.run_lookup import find_run, session_name
from asky.cli.session import find_session
from asky.cli.terminal import json_text, one_line
from asky.cli.workbench import Workbench, workbench
from asky.evidence.citing import reference
from asky.storage.stored_json import Unreadable
from asky.text.counting import counted
from asky.values import Evidence, Location, Span

if TYPE_CHECKING:
    from asky.cli.terminal import Terminal
    from asky.storage.runs import LedgerEntry, Run, StoredPassage

_QUESTION_CHARS = 60
_HOSTS_SHOWN = 8
_REJECTED_SHOWN = 5


@click.group()
def runs() -> None:
    """List, show, export and verify past answers with their evidence; go on with a run, or play it again."""


runs.add_command(resume)
runs.add_command(replay)
runs.add_command(export)
runs.add_command(verify)


@runs.command("list")
@click.option("-n", "limit", type=click.IntRange(1, 1_000_000), default=20, show_default=True, help="Most runs.")
@click.option("-s", "--session", help="Only the runs of this session.")
@json_option
def list_(limit: int, session: str | None, as_json: bool) -> None:
    """List runs, the newest first."""
    with workbench() as bench:
        session_id = None if session is None else find_session(bench.services.sessions, session).id
        listed = bench.services.runs.listed(limit=limit, session_id=session_id)
        found = [each for each in listed if not isinstance(each, Unreadable)]
        damaged = [each for each in listed if isinstance(each, Unreadable)]
        spent = bench.services.runs.spent_by_run([run.id for run in found])
        if as_json:
            described = [_listed(bench, run, *spent.get(run.id, (0, None))) for run in found]
            bench.terminal.json({"schema": "asky.runs/1", "runs": described, "damaged": describe_damaged(damaged)})
        elif not listed:
            bench.terminal.note("no runs yet")
        else:
            _print_runs(bench.terminal, listed, spent)
        note_damaged(bench.terminal, damaged)


def _print_runs(
    terminal: Terminal, listed: Sequence[Run | Unreadable], spent: Mapping[str, tuple[int, float | None]]
) -> None:
    is_interrupted = False
    for each in listed:
        if isinstance(each, Unreadable):
            terminal.line(f"{one_line(each.name)}  damaged")
            continue
        is_interrupted = is_interrupted or each.status == "interrupted"
        question = one_line(each.question)
        cut = question if len(question) <= _QUESTION_CHARS else question[: _QUESTION_CHARS - 1] + "…"
        used = _used(*spent.get(each.id, (0, None)))
        terminal.line(f"{each.id}  {_outcome(each):<14}  {one_line(each.model):<12}  {used:<13}  {cut}")
    if is_interrupted:
        terminal.note("`asky runs resume ID` goes on with a run that was interrupted")


def _used(tokens: int, cost_usd: float | None) -> str:
    """What a run cost, or its tokens where no price is known; nothing for a model that counts none."""
    if cost_usd:
        return f"{cost_usd:.4f} USD"
    return f"{tokens:,} tokens" if tokens else "-"


def _listed(bench: Workbench, run: Run, tokens: int, cost_usd: float | None) -> dict[str, Any]:
    from asky.evidence.export import describe_run

    answer = run.answer or {}
    return describe_run(run, session=session_name(bench, run)) | {
        "citations": len(answer.get("citations", ())),
        "stopped_by": answer.get("stopped_by"),
        "tokens": tokens,
        "cost_usd": cost_usd,
    }


def _outcome(run: Run) -> str:
    """How a run ended, in a word or two."""
    if run.answer is None or run.status == "cancelled":
        return run.status
    if run.answer["stopped_by"] == "no_evidence":
        return "no evidence"
    count = len(run.answer["citations"])
    return counted(count, "citation")


@runs.command()
@click.argument("run_id", metavar="[ID]", required=False, shell_complete=complete_run)
@click.option(
    "-v", "--verbose", is_flag=True, help="Print each search and page, everything that was rejected, and the ledger."
)
@json_option
def show(run_id: str | None, verbose: bool, as_json: bool) -> None:
    """Show a run with its evidence; by default the last one.

    Its answer, its citations, how each sentence was checked, what was searched, read and rejected, and what it used.
    The beginning of an id is enough where only one run's begins so.
    """
    from asky.evidence.export import describe_ledger, describe_run

    with workbench(verbose=verbose) as bench:
        run = find_run(bench, run_id)
        ledger = bench.services.runs.ledger(run.id)
        described = describe_run(run, session=session_name(bench, run))
        partial = _partial(ledger)
        if as_json:
            found = {"searches": _searches(ledger), "answer": run.answer, "partial": partial}
            shown = {"run": described, **_contacts(ledger), **found, "ledger": describe_ledger(ledger)}
            bench.terminal.json({"schema": "asky.shown_run/1", **shown})
            return
        _print_head(bench.terminal, described, ledger)
        if run.status == "interrupted":
            bench.terminal.note(f"`asky runs resume {run.id}` goes on with it")
        if run.answer is not None:
            _print_answer(bench.terminal, run.answer, verbose=verbose)
        elif partial is not None:
            _print_partial(bench, run, partial)
        if verbose:
            _print_web(bench.terminal, ledger)
            bench.terminal.line("\nledger")
            for entry in ledger:
                bench.terminal.line(f"  {entry.at}  {entry.kind:<9} {json_text(entry.data)}")


def _contacts(ledger: Sequence[LedgerEntry]) -> dict[str, list[str]]:
    """Every model that was asked and every host that was reached, in order of first use."""
    from asky.cli.web_trail import web_hosts

    models = dict.fromkeys(str(each.data["model"]) for each in ledger if each.data.get("model"))
    hosts = dict.fromkeys(
        host
        for each in ledger
        for host in ([str(each.data["host"])] if each.data.get("host") else web_hosts(each.kind, each.data))
    )
    return {"models": list(models), "hosts": list(hosts)}


def _searches(ledger: Sequence[LedgerEntry]) -> list[str]:
    """Every query that was searched for, in order of first use."""
    queries = [query for each in ledger if each.kind == "searched" for query in each.data.get("queries", ())]
    return list(dict.fromkeys(map(str, queries)))


def _partial(ledger: Sequence[LedgerEntry]) -> str | None:
    """What a run that failed had written of its answer, as the model wrote it."""
    return next(
        (str(each.data["partial"]) for each in ledger if each.kind == "failed" and each.data.get("partial")), None
    )


def _print_partial(bench: Workbench, run: Run, partial: str) -> None:
    """Print what had been written, its citations numbered as those of an answer are."""
    from asky.evidence.markers import number_citations

    terminal = bench.terminal
    shown = {each.key: _evidence(bench, each) for each in bench.services.runs.passages(run.id)}
    numbered = number_citations(partial, shown)
    terminal.line("\nwhat had been written when it failed, cut off and unchecked:\n")
    terminal.line(f"{numbered.text}\n")
    for number, key in enumerate(numbered.order, start=1):
        source = shown[key].source
        where = source.url or source.path
        terminal.line(f"[{number}] {one_line(source.title + (f' - {where}' if where else ''))}")


def _evidence(bench: Workbench, passage: StoredPassage) -> Evidence:
    documents, span = bench.services.documents, Span(passage.start, passage.end)
    sha256, _ = documents.digest(passage.document_id)
    text = documents.text(passage.document_id, span)
    return Evidence(passage.key, passage.source, passage.document_id, sha256, span, text, Location())


def _print_head(terminal: Terminal, run: Mapping[str, Any], ledger: Sequence[LedgerEntry]) -> None:
    from asky.cli.web_trail import web_lines

    contacts = _contacts(ledger)
    ended = f", ended {_minute(run['finished_at'])}" if run["finished_at"] else ""
    rows = [
        ("run", f"{run['id']} ({run['status']})"),
        ("question", run["question"]),
        ("session", run["session"]),
        ("mode", run["mode"]),
        ("began", f"{_minute(run['started_at'])}{ended}"),
        ("models", ", ".join(contacts["models"]) or run["model"]),
        ("hosts", _hosts(contacts["hosts"])),
        *(("web", line) for line in web_lines(ledger)),
        *(("searched", query) for query in _searches(ledger)),
        *(("ran", _program(each.data)) for each in ledger if each.kind == "ran"),
        *(("failed", each.data.get("message")) for each in ledger if each.kind == "failed"),
    ]
    for name, value in rows:
        if value:
            terminal.line(f"{name:<9} {one_line(str(value))}")


def _program(data: Mapping[str, Any]) -> str:
    """A call of a tool of the user's own, in a line."""
    import shlex  # only where one was made

    took = f", {data['output_bytes']:,} bytes, {data['seconds']:.1f} s" if "seconds" in data else ""
    end = f"exit status {data['status']}" if data["ended"] == "ended" else str(data["ended"]).replace("_", " ")
    return f"{data['tool']} ({end}{took}): {shlex.join(map(str, data['argv']))}"


def _hosts(hosts: Sequence[str]) -> str:
    """The first hosts, and how many more there are."""
    more = len(hosts) - _HOSTS_SHOWN
    return ", ".join([*hosts[:_HOSTS_SHOWN], *([f"and {more} more, in the ledger (-v)"] if more > 0 else [])]) or "none"


def _print_web(terminal: Terminal, ledger: Sequence[LedgerEntry]) -> None:
    """Print each search, choice and page."""
    from asky.cli.web_trail import web_details

    lines = list(web_details(ledger))
    if lines:
        terminal.line("\nweb")
    for line in lines:
        terminal.line(f"  {line}")


def _minute(time: str) -> str:
    """`2026-01-31 17:05 UTC` of a time as the store writes it."""
    return f"{time[:10]} {time[11:16]} UTC"


def _print_answer(terminal: Terminal, answer: Mapping[str, Any], *, verbose: bool) -> None:
    terminal.line(f"\n{answer['answer']}\n")
    for citation in answer["citations"]:
        terminal.line(f"[{citation['n']}] {one_line(reference(citation))}")
    if answer["claims"]:
        terminal.line("\nclaims")
    for claim in answer["claims"]:
        numbers = ", ".join(map(str, claim["citations"]))
        terminal.line(f"  {claim['verdict']:<12} {claim['score']:.2f}  [{numbers}] {one_line(claim['text'])}")
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
