"""`asky eval`: search and answers measured on the user's own questions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from asky.app.requests import DocumentName
from asky.cli.context import CommandContext, Stopped, command_context
from asky.cli.options import DocumentPath, complete_key, complete_model, json_option, verbosity_options
from asky.cli.saving import require_writable, save_text
from asky.errors import AskyError, GateFailed, UsageError
from asky.text.counting import counted
from asky.text.printable import json_document

if TYPE_CHECKING:
    from asky.app.evaluation.service import EvalRequest, EvalResult, Evaluation, Gate

_SUFFIXES = (".html", ".json", ".run")


@dataclass(frozen=True, slots=True)
class _Options:
    """The options, as click names them."""

    docs: tuple[DocumentName, ...]
    collection: str | None
    split: str | None
    model: str | None
    research: bool
    lean: bool
    offline: bool
    retrieval_only: bool
    vary: tuple[str, ...]
    gate: Path | None
    limit: int | None
    sample: int | None
    concurrency: int
    max_cost: float | None
    keep_runs: bool
    fresh: bool
    strict: bool
    qrels: Path | None
    run: tuple[Path, ...]
    output: tuple[Path, ...]
    as_json: bool
    quiet: bool
    verbose: bool

    def request(self, questions: Path) -> EvalRequest:
        from asky.app.evaluation.requests import EvalRequest

        return EvalRequest(
            questions=questions,
            split=self.split,
            documents=self.docs,
            collection=self.collection,
            model=self.model,
            mode="research" if self.research else "lean" if self.lean else "standard",
            offline=self.offline,
            retrieval_only=self.retrieval_only,
            vary=self.vary,
            limit=self.limit,
            sample=self.sample,
            concurrency=self.concurrency,
            max_cost_usd=self.max_cost,
            keep_runs=self.keep_runs,
            fresh=self.fresh,
        )

    def check(self, questions: Path | None) -> None:
        """Raise `UsageError` if options contradict each other or a file cannot be written."""
        if (questions is None) == (self.qrels is None):
            raise UsageError(
                "give QUESTIONS, or --qrels and --run", hint="for example: asky eval questions.jsonl -d docs"
            )
        if bool(self.run) != (self.qrels is not None):
            raise UsageError("--qrels and --run belong together")
        if self.research and self.lean:
            raise UsageError("-r and -L cannot be combined", hint="use one of them")
        if self.limit is not None and self.sample is not None:
            raise UsageError("--limit and --sample cannot be combined", hint="use one of them")
        if self.retrieval_only and (self.model or self.research or self.lean or self.max_cost or self.keep_runs):
            raise UsageError("--retrieval-only asks no model", hint="leave the options for answers out")
        for path in self.output:
            if path.suffix.lower() not in _SUFFIXES:
                raise UsageError(f"{path}: not {', '.join(_SUFFIXES)}", hint="for example: -o report.html")
            require_writable(path)


@click.command()
@click.argument("questions", type=click.Path(path_type=Path), required=False)
@click.option("-d", "--docs", type=DocumentPath(), multiple=True, help="Measure on this file or folder (repeatable).")
@click.option("--collection", help="Measure on this collection.  [default: default]")
@click.option("--split", metavar="NAME", help="Judgements of a BEIR folder to use, such as test or dev.")
@click.option("--retrieval-only", is_flag=True, help="Measure search alone; no model is called.")
@click.option(
    "-m", "--model", help="Model to answer with: an alias or PROVIDER:MODEL_ID.", shell_complete=complete_model
)
@click.option("-r", "--research", is_flag=True, help="Ask in research mode.")
@click.option("-L", "--lean", is_flag=True, help="Ask in lean mode: one search and one model call.")
@click.option("--offline", is_flag=True, help="Never touch the network.")
@click.option(
    "--vary",
    metavar="KEY=A,B",
    multiple=True,
    help="Measure with each of these values of a configuration key; several options make a grid (repeatable).",
    shell_complete=complete_key,
)
@click.option(
    "--gate",
    type=click.Path(path_type=Path),
    help="Exit with code 13 if a measure is worse than this TOML file allows.",
)
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Measure the first N questions.")
@click.option("--sample", type=click.IntRange(1), metavar="N", help="Measure N questions, the same ones every time.")
@click.option(
    "-j",
    "--concurrency",
    type=click.IntRange(1, 32),
    default=1,
    show_default=True,
    help="Maximum number of questions asked at once.",
)
@click.option(
    "--max-cost", type=click.FloatRange(0, min_open=True), metavar="USD", help="Stop when the answers have cost this."
)
@click.option("--keep-runs", is_flag=True, help="Keep the answers as runs, for `asky runs show`.")
@click.option("--fresh", is_flag=True, help="Measure everything anew, also after an interruption.")
@click.option("--strict", is_flag=True, help="Exit with code 2 if a question has a problem, such as an unknown source.")
@click.option("--qrels", type=click.Path(path_type=Path), help="Judgements in trec_eval's format, for --run.")
@click.option(
    "--run", type=click.Path(path_type=Path), multiple=True, help="Measure this ranking in its format (repeatable)."
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    multiple=True,
    help="Also write a page (.html), the result (.json), or the ranking for trec_eval (.run) (repeatable).",
)
@json_option
@verbosity_options
def eval(questions: Path | None, **params: Any) -> None:
    """Measure search and answers on QUESTIONS: a questions.jsonl, a file like SQuAD's, or a BEIR folder.

    A line of questions.jsonl is an object with "question", and "facts" and "sources" of a right answer, or
    "answerable": false. Each question is asked as `asky ask` would, without the web.

    \b
      asky eval questions.jsonl -d docs
      asky eval questions.jsonl -d docs --vary retrieval.dense_weight=0.5,0.7 --retrieval-only
      asky eval questions.jsonl -d docs --gate gate.toml -o report.html
    """
    options = _Options(**params)
    options.check(questions)
    with command_context(quiet=options.quiet, verbose=options.verbose, as_json=options.as_json) as ctx:
        service = ctx.asky.evaluation
        gate = service.read_gate(options.gate) if options.gate is not None else None
        if questions is None:
            assert options.qrels is not None  # see `check`
            result = service.measure_runs(options.qrels, options.run)
        else:
            result = _measure(ctx, service.open(options.request(questions)), options)
        _finish(ctx, result, options, gate)


def _measure(ctx: CommandContext, evaluation: Evaluation, options: _Options) -> EvalResult:
    """Measure, and return the result; show what has been measured before an error or Ctrl-C is raised."""
    try:
        ctx.run(evaluation.run)
    except AskyError as error:
        if evaluation.done:
            _show(ctx, evaluation.result(), options, None)
        if isinstance(error, Stopped):
            error.message = f"stopped; {evaluation.done:,} of {counted(evaluation.total, 'question')} measured"
            error.hint = evaluation.goes_on
        raise
    return evaluation.result()


def _show(ctx: CommandContext, result: EvalResult, options: _Options, gate: Gate | None) -> dict[str, Any]:
    """Print a result and write its files; return it as an `asky.eval/1` object."""
    from asky.app.evaluation.schema import eval_object
    from asky.cli.evaluation_view import print_evaluation

    found = eval_object(result, gate)
    for path in options.output:
        save_text(path, _written(ctx, result, found, path.suffix.lower()))
    if options.as_json:
        ctx.terminal.json(found)
    else:
        print_evaluation(ctx.terminal, found)
    for path in options.output:
        ctx.terminal.note(f"wrote {path}")
    return found


def _written(ctx: CommandContext, result: EvalResult, found: dict[str, Any], suffix: str) -> str:
    service = ctx.asky.evaluation
    if suffix == ".html":
        return service.page(found)
    return service.run_text(result) if suffix == ".run" else json_document(found)


def _finish(ctx: CommandContext, result: EvalResult, options: _Options, gate: Gate | None) -> None:
    """Show a complete result. Raises the error of a failed gate, of a failed question, or of problems if they count."""
    found = _show(ctx, result, options, gate)
    if found["gate"] is not None:
        _judge(ctx, found["gate"]["checks"], len(result.variants))
    result.raise_for_failures()
    if options.strict and result.problems:
        problems = counted(len(result.problems), "problem")
        raise UsageError(f"{problems} of the questions: {result.problems[0]}", hint="-v lists all")


def _judge(ctx: CommandContext, checks: list[dict[str, Any]], variants: int) -> None:
    """Print a line for each limit that failed. Raises `GateFailed` if one did."""
    failed = [each for each in checks if not each["passed"]]
    for each in failed:
        where = f"{each['variant']}: " if variants > 1 else ""
        ctx.terminal.ask(f"gate failed: {where}{each['text']}")
    if failed:
        names = ", ".join(dict.fromkeys(each["measure"] for each in failed))
        raise GateFailed(f"{len(failed)} of {counted(len(checks), 'limit')} of the gate failed: {names}")
    ctx.terminal.note(f"gate passed: {counted(len(checks), 'limit')}")
