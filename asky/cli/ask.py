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
from asky.cli.manner import Manner, join, tell_model
from asky.cli.options import check_output, complete_prompt, json_option, output_option, verbosity_options
from asky.cli.questions import Asked, read_question
from asky.cli.workbench import Workbench, workbench
from asky.errors import UsageError

if TYPE_CHECKING:
    from asky.cli.asking import Asking
    from asky.cli.viewing import Format
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

    def check(self, *, is_followed: bool = False) -> None:
        """See `Choices.check`."""
        check_output(self.output)
        if self.as_json and self.json_stream:
            raise UsageError("--json and --json-stream do not go together", hint="use one of them")
        Choices.check(self, is_followed=is_followed)  # with `slots`, `super()` knows a class that is replaced


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
        manner = join(bench, options, last)
        options = manner.choices
        options.check(is_followed=True)
        if options.dry_run:
            _show_plan(bench, asked, manner)
            return
        answer = make_and_give(bench, opening.view, options.output, lambda: _answer(bench, asked, manner))
        judge(answer, bench.services.runs, strict=options.strict)
        if silent and not options.quiet and _is_builtin(answer.model, options.model):
            click.echo(BUILTIN, err=True)


def _answer(bench: Workbench, asked: Asked, manner: Manner[_Options]) -> Answer:
    options = manner.choices
    asking = _asking(bench, manner)
    for path in options.docs:
        asking.add_folder(path)
    add_collections(asking, bench, options, manner.session)
    asking.memory = "all" if options.all_sessions else "session"
    return asking.ask(asked.question, asked.context, manner.session or options.session, False)


def _show_plan(bench: Workbench, asked: Asked, manner: Manner[_Options]) -> None:
    from asky.cli.planning import print_plan

    options = manner.choices
    asking = _asking(bench, manner, is_plan=True)
    add_collections(asking, bench, options, manner.session)
    for path in options.docs:
        asking.grant(path)
    session = manner.session.id if manner.session is not None else options.session
    plan = asking.plan(asked.question, asked.context, session, False)
    print_plan(bench.terminal, plan, bench.services.config.budget, as_json=options.as_json or options.json_stream)


def _asking(bench: Workbench, manner: Manner[_Options], *, is_plan: bool = False) -> Asking:
    from asky.cli.asking import Asking  # the research stack: not for a usage error

    options = manner.choices
    answerer = open_answerer(bench, options)
    tell_model(bench, manner)
    if _is_builtin(answerer.model.name, options.model) and not is_plan:
        bench.terminal.note(BUILTIN)
    return Asking(bench, answerer, options.mode, web_wish(bench, options), manner.chosen_model)


def _is_builtin(model: str, asked_for: str | None) -> bool:
    return model == "extractive" and asked_for is None
