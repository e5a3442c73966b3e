"""`asky ask`, the default command: a question in, an answer with citations out."""

from __future__ import annotations

import select
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from asky.cli.options import json_option, verbosity_options
from asky.cli.running import Stopped
from asky.cli.workbench import Workbench, workbench
from asky.errors import BudgetExceeded, NotEnoughEvidence, UnsupportedClaim, UsageError
from asky.storage.corpus import DEFAULT_COLLECTION
from asky.values import Answer

if TYPE_CHECKING:
    from asky.chat.answering import Mode

_MAX_QUESTION_CHARS = 20_000
_MAX_INPUT_BYTES = 32 << 20
_PATIENCE_S = 2.0  # after which a pipe that says nothing is mentioned
_BUILTIN = "no model is configured: answering with sentences quoted from the sources"
_DOUBTFUL = ("unsupported", "contradicted", "uncited")


@dataclass(frozen=True, slots=True)
class _Asked:
    """The question and the text that came with it through a pipe."""

    question: str
    context: str | None


@click.command()
@click.argument("question", nargs=-1)
@click.option("-r", "--research", is_flag=True, help="Research: keep findings for later questions of the session.")
@click.option("-d", "--docs", type=click.Path(path_type=Path), multiple=True, help="Answer from this file or folder.")
@click.option("--collection", multiple=True, help="Answer from this collection of `asky corpus`.")
@click.option("--no-web", is_flag=True, help="Use documents only (web sources are not available yet).")
@click.option("--offline", is_flag=True, help="Reach no host.")
@click.option("-s", "--session", help="Ask in this session; it is made on first use.")
@click.option("-c", "--continue", "resume", is_flag=True, help="Ask in the session that was used last.")
@click.option("-m", "--model", help="Answer with this model.")
@click.option("--max-turns", type=click.IntRange(1, 200), help="Most model calls.")
@click.option("--strict", is_flag=True, help="Exit with 12 when a sentence is not supported by its sources.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write the answer to FILE (.md or .json) too.")
@json_option
@verbosity_options
def ask(
    question: tuple[str, ...],
    research: bool,
    docs: tuple[Path, ...],
    collection: tuple[str, ...],
    no_web: bool,  # noqa: ARG001 - there are no web sources to leave out yet
    offline: bool,
    session: str | None,
    resume: bool,
    model: str | None,
    max_turns: int | None,
    strict: bool,
    output: Path | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Answer QUESTION from documents, citing the passages that the answer rests on.

    "-" reads the question from standard input, file://PATH from a file. Text that is piped in beside a question is a
    source like any other.
    """
    asked = _read_question(question)
    if output is not None and output.suffix not in (".md", ".json"):
        raise UsageError(f"{output}: not .md or .json")
    if session is not None and resume:
        raise UsageError("-s and -c name a session each", hint="use one of them")
    flags: dict[str, object] = {}
    if offline:
        flags["research.embedding.local_files_only"] = True
    if max_turns is not None:
        flags["research.max_turns"] = max_turns
    with workbench(quiet=quiet, verbose=verbose, as_json=as_json, flags=flags) as bench:
        mode: Mode = "research" if research else "standard"
        try:
            answer = _answer(bench, asked, mode, docs, collection, (session, resume), model)
        except Stopped as stop:
            if isinstance(stop.value, Answer) and stop.value.text:
                _give(bench, stop.value, output, as_json=as_json)
            raise
        _give(bench, answer, output, as_json=as_json)
        _judge(answer, strict=strict)
        if as_json and not quiet and _is_builtin(answer.model, model):
            click.echo(_BUILTIN, err=True)


def _give(bench: Workbench, answer: Answer, output: Path | None, *, as_json: bool) -> None:
    """Write and print the answer."""
    from asky.cli.answers import print_answer, write_answer  # with the evidence layer: not for a usage error
    from asky.evidence.answer import answer_json

    try:
        if output is not None:
            write_answer(output, answer)
    finally:  # an answer whose file cannot be written is printed all the same
        if as_json:
            bench.terminal.json(answer_json(answer))
        else:
            print_answer(bench.terminal, answer)


def _answer(
    bench: Workbench,
    asked: _Asked,
    mode: Mode,
    docs: Sequence[Path],
    collections: Sequence[str],
    session: tuple[str | None, bool],
    model_name: str | None,
) -> Answer:
    from asky.cli.asking import Asking  # the research stack: not for a usage error

    model = bench.services.model(model_name)
    if _is_builtin(model.name, model_name):
        bench.terminal.note(_BUILTIN)
    asking = Asking(bench, model, mode)
    for path in docs:
        asking.add_folder(path)
    for name in collections:
        asking.add_collection(bench.services.corpus.collection(name))
    if not docs and not collections and DEFAULT_COLLECTION in bench.services.corpus.collections():
        asking.add_collection(bench.services.corpus.collection(DEFAULT_COLLECTION))
    return asking.ask(asked.question, asked.context, *session)


def _is_builtin(model: str, asked_for: str | None) -> bool:
    return model == "extractive" and asked_for is None


def _judge(answer: Answer, *, strict: bool) -> None:
    """End with the exit code that says how far the answer can be trusted."""
    if answer.stopped_by == "no_evidence":
        raise NotEnoughEvidence("the sources hold too little to answer this", hint="`asky search` shows what there is")
    if answer.stopped_by in ("budget", "max_turns"):
        raise BudgetExceeded("stopped at a limit before the answer was complete", hint="raise --max-turns")
    doubtful = [claim for claim in answer.claims if claim.verdict in _DOUBTFUL]
    if strict and doubtful:
        raise UnsupportedClaim(f"{len(doubtful)} of {len(answer.claims)} sentences are not supported by their sources")


def _read_question(words: tuple[str, ...]) -> _Asked:
    text, piped = " ".join(words), None
    if text == "-":
        text = _piped() or ""
    elif text.startswith("file://"):
        text = _read_file(Path(text.removeprefix("file://")))
    else:
        piped = _piped()
        if not text and piped:
            text, piped = piped, None
    text = text.encode("utf-8", "replace").decode().strip()
    if not text:
        raise UsageError("the question is empty", hint='for example: asky -r -d docs "How does search work?"')
    if len(text) > _MAX_QUESTION_CHARS:
        raise UsageError(
            f"the question has {len(text):,} characters; {_MAX_QUESTION_CHARS:,} are the limit",
            hint="put long text into a file and name it with -d, or pipe it in beside a short question",
        )
    return _Asked(text, piped if piped and piped.strip() else None)


def _piped() -> str | None:
    """What was piped in; `None` on a terminal. Raises `UsageError` for more than 32 MiB."""
    if sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():
        return None
    if not select.select([sys.stdin], [], [], _PATIENCE_S)[0]:
        click.echo("asky: waiting for the end of standard input (for none, add: < /dev/null)", err=True)
    data = sys.stdin.buffer.read(_MAX_INPUT_BYTES + 1)
    if len(data) > _MAX_INPUT_BYTES:
        raise UsageError(f"more than {_MAX_INPUT_BYTES >> 20} MiB on standard input", hint="name files with -d")
    return data.decode("utf-8", "replace")


def _read_file(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(4 * _MAX_QUESTION_CHARS + 1).decode("utf-8", "replace")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
