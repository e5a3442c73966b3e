"""`asky ask`, the default command: a question in, an answer with citations out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from asky.cli.choices import BUILTIN, Choices, add_collections, choice_options, open_answerer, web_wish
from asky.cli.giving import Opening, make_and_give
from asky.cli.judging import judge
from asky.cli.last_session import find_last
from asky.cli.options import check_output, complete_prompt, json_option, output_option, verbosity_options
from asky.cli.questions import Asked, read_question
from asky.cli.workbench import Workbench, workbench
from asky.errors import UsageError

if TYPE_CHECKING:
    from asky.cli.viewing import Format
    from asky.storage.sessions import Session
    from asky.values import Answer


@dataclass(frozen=True, slots=True)
class _Options(Choices):
    """The flags of one question, as click names them."""

    dry_run: bool
    strict: bool
    output: Path | None
    json_stream: bool
    no_stream: bool
    as_json: bool
    quiet: bool
    verbose: bool

    @property
    def format(self) -> Format:
        return "json" if self.as_json else "events" if self.json_stream else "text"

    def check(self) -> None:
        """Raise `UsageError` for flags that contradict each other."""
        check_output(self.output)
        if self.as_json and self.json_stream:
            raise UsageError("--json and --json-stream do not go together", hint="use one of them")
        Choices.check(self)  # with `slots`, `super()` knows a class that is replaced


@click.command()
@click.argument("question", nargs=-1, shell_complete=complete_prompt)
@choice_options
@click.option("--dry-run", is_flag=True, help="Show what would be done, reached and spent; do nothing.")
@click.option("--strict", is_flag=True, help="Exit with 12 when a sentence is not supported by its sources.")
@output_option
@click.option("--json-stream", is_flag=True, help="Print what happens as lines of JSON, the answer last.")
@click.option("--no-stream", is_flag=True, help="Print the answer when it is complete and checked.")
@json_option
@verbosity_options
def ask(question: tuple[str, ...], **given: Any) -> None:
    """Answer QUESTION from documents, citing the passages that the answer rests on.

    "-" reads the question from standard input, file://PATH from a file. Text that is piped in beside a question is a
    source like any other.
    """
    options = _Options(**given)
    options.check()
    asked = read_question(question)
    silent = options.as_json or options.json_stream
    opening = Opening(options.format, waits=options.no_stream)
    with workbench(
        quiet=options.quiet,
        verbose=options.verbose,
        as_json=silent,
        offline=options.offline,
        flags=options.settings(),
        listening=opening,
    ) as bench:
        last = find_last(bench, options.session, options.resume)
        options = options.following(last)
        options.check()
        if options.dry_run:
            _show_plan(bench, asked, options, last)
            return
        answer = make_and_give(bench, opening.view, options.output, lambda: _answer(bench, asked, options, last))
        judge(answer, bench.services.runs, strict=options.strict)
        if silent and not options.quiet and _is_builtin(answer.model, options.model):
            click.echo(BUILTIN, err=True)


def _answer(bench: Workbench, asked: Asked, options: _Options, last: Session | None) -> Answer:
    from asky.cli.asking import Asking  # the research stack: not for a usage error

    answerer = open_answerer(bench, options)
    if _is_builtin(answerer.model.name, options.model):
        bench.terminal.note(BUILTIN)
    asking = Asking(bench, answerer, options.mode, web_wish(bench, options), options.model)
    for path in options.docs:
        asking.add_folder(path)
    add_collections(asking, bench, options, last)
    asking.memory = "all" if options.all_sessions else "session"
    return asking.ask(asked.question, asked.context, options.session, options.resume)


def _show_plan(bench: Workbench, asked: Asked, options: _Options, last: Session | None) -> None:
    from asky.cli.asking import Asking
    from asky.cli.planning import print_plan

    asking = Asking(bench, open_answerer(bench, options), options.mode, web_wish(bench, options), options.model)
    add_collections(asking, bench, options, last)
    for path in options.docs:
        asking.grant(path)
    plan = asking.plan(asked.question, asked.context, options.session, options.resume)
    print_plan(bench.terminal, plan, bench.services.config.budget, as_json=options.as_json or options.json_stream)


def _is_builtin(model: str, asked_for: str | None) -> bool:
    return model == "extractive" and asked_for is None
