"""`asky agent`: research until nothing new is found."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from asky.app.agent.requests import PRIVACY_MODES, PrivacyMode, ResearchRequest
from asky.app.requests import RunLimits
from asky.app.schemas.research import research_runs_object, research_state_object
from asky.app.serving.running import start_on_server
from asky.cli.context import CommandContext, Stopped, command_context
from asky.cli.export_forms import form_of
from asky.cli.listing_group import ListingGroup
from asky.cli.options import complete_model, complete_research, json_option, verbosity_options
from asky.cli.saving import require_writable, save_bytes
from asky.cli.search_offer import turns_on_search, turns_on_services
from asky.cli.terminal.approval import Approval
from asky.cli.terminal.clarification import TerminalQuestion
from asky.cli.terminal.confirm import is_interactive
from asky.cli.view import PrintedView, open_view, print_result, run_to_end
from asky.errors import AskyError, BudgetExceeded, UsageError
from asky.text.counting import counted

if TYPE_CHECKING:
    from asky.app.agent.service import AgentService, ResearchState, ResearchSummary
    from asky.cli.view import Start
    from asky.values import Answer

_SPENT = "a limit ended the research before nothing new was found; the report says what is there"


@click.group(cls=ListingGroup)
def agent() -> None:
    """Research a question in cycles, until nothing new is found, and report on it.

    Each cycle searches the web and your own sources, takes facts from what it reads, and decides whether another one
    is worth it. Every statement of the report is checked against its passage.
    """


@agent.command()
@click.argument("question", nargs=-1, required=True)
@click.option(
    "-d",
    "--docs",
    "documents",
    type=click.Path(path_type=Path),
    multiple=True,
    metavar="PATH",
    help="File or folder to search, instead of the documents that are kept. Repeatable.",
)
@click.option(
    "--collection", "collections", multiple=True, metavar="NAME", help="Collection to search instead. Repeatable."
)
@click.option("--no-docs", is_flag=True, help="Do not search the documents that are kept.")
@click.option(
    "--privacy",
    type=click.Choice(PRIVACY_MODES),
    help="What may leave this machine: nothing, everything, or all but your own documents.  [default: cloud_allowed]",
)
@click.option("--no-web", is_flag=True, help="Do not search the web.")
@click.option("--no-library", is_flag=True, help="Do not search the paper library.")
@click.option(
    "--vault/--no-vault",
    default=None,
    help="Search your notes, or do not.  [default: only where they stay on this machine]",
)
@click.option("--domain", metavar="NAME", help="Domain that says which sources count most.  [default: by the question]")
@click.option(
    "-m", "--model", help="Model to read and write with: an alias or PROVIDER:MODEL_ID.", shell_complete=complete_model
)
@click.option("-s", "--session", metavar="NAME", help="Session to research in.  [default: a new one]")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Also write the report to this file.")
@click.option("--detach", is_flag=True, help="Start it on the server of `asky serve`, and return at once.")
@click.option("-y", "--yes", is_flag=True, help="Send search queries without asking, and ask nothing.")
@click.option("--max-cycles", type=click.IntRange(1), help="Maximum number of cycles.")
@click.option("--max-fetches", type=click.IntRange(0), help="Maximum number of pages.")
@click.option("--max-tokens", type=click.IntRange(1), help="Maximum tokens, prompts and replies combined.")
@click.option("--max-cost", type=click.FloatRange(0, min_open=True), metavar="USD", help="Maximum cost of the run.")
@click.option(
    "--max-time", type=click.FloatRange(0, min_open=True), metavar="SECONDS", help="Maximum duration of the run."
)
@click.option("--json-stream", is_flag=True, help="Print events as JSON lines; the last line is the answer.")
@json_option
@verbosity_options
def start(
    question: tuple[str, ...],
    documents: tuple[Path, ...],
    collections: tuple[str, ...],
    no_docs: bool,
    privacy: PrivacyMode | None,
    no_web: bool,
    no_library: bool,
    vault: bool | None,
    domain: str | None,
    model: str | None,
    session: str | None,
    output: Path | None,
    detach: bool,
    yes: bool,
    max_cycles: int | None,
    max_fetches: int | None,
    max_tokens: int | None,
    max_cost: float | None,
    max_time: float | None,
    json_stream: bool,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Research QUESTION, and print the report.

    It ends when cycles bring nothing new, at a limit, or with `asky agent stop` from another terminal, and always with
    a report. Ctrl-C keeps everything; `asky agent resume` goes on from there.
    """
    _require_format(as_json=as_json, json_stream=json_stream)
    if output is not None:
        form_of(output, hint="for example: -o report.md")
        require_writable(output)
    said: list[str] = []

    def attempt(*, offers: bool) -> bool:
        """Research; return `False` if search services were turned on instead, which the next attempt has."""
        with command_context(quiet=quiet, verbose=verbose, as_json=as_json or json_stream, said=said) as ctx:
            ctx.progress.notes = said
            clarify = TerminalQuestion(ctx.terminal, ctx.progress)
            request = ResearchRequest(
                query=" ".join(question),
                privacy_mode=privacy or ctx.asky.config.agent.privacy_mode,
                documents=documents,
                collections=collections,
                default_documents=not no_docs,
                library=not no_library,
                vault=vault,
                web=not no_web,
                domain=domain,
                model=model,
                session=session,
                limits=RunLimits(None, max_tokens, max_cost, max_time),
                max_cycles=max_cycles,
                max_fetches=max_fetches,
                clarifies=clarify.can_ask and not yes and not (as_json or json_stream),
                export_path=output,
            )
            if detach:
                _detach(ctx, request, as_json=as_json)
            elif offers and _turns_on_services(ctx, request):
                return False
            else:
                approve = Approval(ctx.terminal, ctx.progress, is_given=yes)
                begin = partial(ctx.asky.agent.start, request, approve=approve, clarify=clarify)
                _run(ctx, begin, as_json=as_json, json_stream=json_stream)
        return True

    offers = is_interactive() and not (yes or as_json or json_stream)
    try:
        is_done = attempt(offers=offers)
    except AskyError as error:
        if not offers or not turns_on_search(error):
            raise
        is_done = False
    if not is_done:
        attempt(offers=False)


@agent.command()
@click.argument("run_id", metavar="[ID]", required=False, shell_complete=complete_research)
@click.option("-y", "--yes", is_flag=True, help="Send search queries without asking.")
@click.option("--json-stream", is_flag=True, help="Print events as JSON lines; the last line is the answer.")
@json_option
@verbosity_options
def resume(run_id: str | None, yes: bool, json_stream: bool, as_json: bool, quiet: bool, verbose: bool) -> None:
    """Go on with research that was interrupted, by default the last.

    Nothing that was recorded is asked or paid for again.
    """
    _require_format(as_json=as_json, json_stream=json_stream)
    with command_context(quiet=quiet, verbose=verbose, as_json=as_json or json_stream) as ctx:
        service = ctx.asky.agent
        approve = Approval(ctx.terminal, ctx.progress, is_given=yes)
        begin = partial(service.resume, service.find(run_id), approve=approve)
        _run(ctx, begin, as_json=as_json, json_stream=json_stream)


@agent.command()
@click.argument("run_id", metavar="[ID]", required=False, shell_complete=complete_research)
@json_option
def status(run_id: str | None, as_json: bool) -> None:
    """Show how research stands, by default the last: its phase, what was found, and how new that was."""
    with command_context(as_json=as_json) as ctx:
        service = ctx.asky.agent
        found = service.find(run_id)
        state, stands = service.state(found), service.status(found)
        if as_json:
            ctx.terminal.json(research_state_object(state, stands))
            return
        ctx.terminal.line(f"{found}  {stands}: {state['current_phase']}")
        ctx.terminal.line(f"  {state['refined_query']}", hang=2)
        entities = counted(len(state["entities_found"]), "entity", "entities")
        has_found = state["facts_extracted"] or state["entities_found"]
        ctx.terminal.line(f"  {_counts(state)}, {entities}" if has_found else "  nothing has been found yet")
        if state["saturation_metrics"] is not None:
            shares = state["saturation_metrics"]
            new = f"{shares['new_facts_ratio']:.0%} of the facts and {shares['new_entities_ratio']:.0%} of the entities"
            ctx.terminal.line(f"  new in the last cycle: {new}")
        if state["stop_reason"]:
            ctx.terminal.line(f"  {state['stop_reason']}")
        if stands in ("interrupted", "cancelled", "failed"):
            ctx.terminal.note(f"`asky agent resume {found}` goes on")


@agent.command("list")
@click.option("-n", "--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="Maximum number.")
@json_option
def list_(limit: int, as_json: bool) -> None:
    """List research, newest first."""
    with command_context(as_json=as_json) as ctx:
        found = ctx.asky.agent.list(limit=limit)
        if as_json:
            ctx.terminal.json(research_runs_object(found))
            return
        for each in found:
            ctx.terminal.line(_described(each), hang=2)
        if not found:
            ctx.terminal.note('no research yet; `asky agent start "QUESTION"` begins one')


@agent.command()
@click.argument("run_id", metavar="[ID]", required=False, shell_complete=complete_research)
def stop(run_id: str | None) -> None:
    """Have running research end its cycle and write its report, by default the last one."""
    with command_context() as ctx:
        service = ctx.asky.agent
        found = service.find(run_id)
        service.stop(found)
        ctx.terminal.note(f"{found} ends its cycle and writes its report")


@agent.command()
@click.argument("run_id", metavar="[ID]", required=False, shell_complete=complete_research)
@json_option
def report(run_id: str | None, as_json: bool) -> None:
    """Print the report of research, by default the last."""
    with command_context(as_json=as_json) as ctx:
        service = ctx.asky.agent
        found = service.find(run_id)
        ctx.terminal.write(service.export(found, "json" if as_json else "md").data.decode())


@agent.command()
@click.argument("run_id", metavar="[ID]", required=False, shell_complete=complete_research)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), required=True, help="File; its suffix selects the format."
)
def export(run_id: str | None, output: Path) -> None:
    """Write the report of research to a file: .md, .html, .json or .pdf."""
    form = form_of(output, hint="for example: -o report.html")
    require_writable(output)
    with command_context() as ctx:
        service = ctx.asky.agent
        found = service.find(run_id)
        save_bytes(output, service.export(found, form, output.absolute().parent).data)
        ctx.terminal.note(f"wrote {output}")


def _turns_on_services(ctx: CommandContext, request: ResearchRequest) -> bool:
    """Return whether the user has turned on the services that the field of a question would ask first."""
    left_out = ctx.asky.agent.left_out_services(request)
    if left_out is None:
        return False
    ctx.terminal.ask(f"asky: {left_out.words()}")
    return turns_on_services(left_out.names, left_out.used)


def _run(ctx: CommandContext, begin: Start, *, as_json: bool, json_stream: bool) -> None:
    """Carry a run to its end and print it."""
    service = ctx.asky.agent
    try:
        if as_json:
            answer = run_to_end(ctx, PrintedView(ctx.terminal, ctx.progress), begin)
            ctx.terminal.write(service.export(answer.run, "json").data.decode())
        else:
            view = open_view(ctx, "events" if json_stream else "text", waits=False)
            answer = print_result(ctx, view, None, lambda: run_to_end(ctx, view, begin))
            for line in _outcome(service, answer):
                ctx.terminal.note(line)
        if (path := service.state(answer.run)["export_path"]) is not None:
            save_bytes(Path(path), service.export(answer.run, form_of(Path(path)), Path(path).parent).data)
    except Stopped as stopped:
        stopped.message = stopped.message.replace("asky runs resume", "asky agent resume")
        raise
    service.raise_for_outcome(answer)
    if service.is_over_budget(answer.run):
        raise BudgetExceeded(_SPENT, hint="raise the limit, or ask for less")


def _detach(ctx: CommandContext, request: ResearchRequest, *, as_json: bool) -> None:
    """Start research on the running server."""
    if request.export_path is not None:
        raise UsageError("--detach and -o cannot be combined", hint="`asky agent export -o FILE` writes it afterwards")
    found = start_on_server(request, os.environ)
    if as_json:
        ctx.terminal.json({"session_id": found, "status": "started"})
    else:
        ctx.terminal.line(found)
        ctx.terminal.note("`asky agent status` shows how it stands, and `asky agent report` prints the report")


def _outcome(service: AgentService, answer: Answer) -> Iterator[str]:
    """Yield what came of research, as notes for the user."""
    state, report = service.state(answer.run), service.report(answer.run)
    for each in report.sub_questions:
        if each.status == "unanswered" and len(report.sub_questions) > 1:
            yield f"nothing was found on: {each.text}"
    yield f"\n{state['stop_reason']}: {_counts(state)}"
    yield from service.unread_pages(answer.run)
    if state["export_path"]:
        yield f"wrote {state['export_path']}"
    yield f"`asky agent report {answer.run}` prints the whole report"


def _counts(state: ResearchState) -> str:
    """Return how many facts were found, and how many sources state them."""
    facts = state["facts_extracted"]
    sources = {address for each in facts for address in each["sources"]}
    return f"{counted(len(facts), 'fact')} from {counted(len(sources), 'source')}"


def _described(run: ResearchSummary) -> str:
    cycle = f", cycle {run.cycle}" if run.cycle else ""
    state = run.status if run.status == "finished" else f"{run.status} ({run.phase}{cycle})"
    return f"{run.id}  {run.started_at[:16].replace('T', ' ')}  {state}  {run.query}"


def _require_format(*, as_json: bool, json_stream: bool) -> None:
    if as_json and json_stream:
        raise UsageError("--json and --json-stream cannot be combined", hint="use one of them")
