"""`asky ask`, the default command: a question in, an answer with citations out."""

from __future__ import annotations

import os
import select
import sys
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from asky.cli.options import complete_model, json_option, verbosity_options
from asky.cli.running import Stopped
from asky.cli.workbench import Workbench, workbench
from asky.errors import BudgetExceeded, NotEnoughEvidence, UnsupportedClaim, UsageError
from asky.storage.corpus import DEFAULT_COLLECTION
from asky.values import Answer

if TYPE_CHECKING:
    from asky.chat.answering import Answerer, Mode
    from asky.cli.asking import Asking
    from asky.cli.terminal import Terminal
    from asky.cli.viewing import Format, View
    from asky.cli.web import WebWish
    from asky.events import Listener

_MAX_QUESTION_CHARS = 20_000
_MAX_INPUT_BYTES = 32 << 20
_PATIENCE_S = 2.0  # after which a pipe that says nothing is mentioned
_BUILTIN = "no model is configured: answering with sentences quoted from the sources"
_LIMITS = {
    "max_turns": "raise --max-turns",
    "budget": "raise --max-tokens, --max-cost or --max-time, or the limits of [budget] in research.toml",
}


@dataclass(frozen=True, slots=True)
class _Asked:
    """The question and the text that came with it through a pipe."""

    question: str
    context: str | None


@dataclass(frozen=True, slots=True)
class _Options:
    """The flags of one question, as click names them."""

    research: bool
    lean: bool
    docs: tuple[Path, ...]
    collection: tuple[str, ...]
    web: bool | None
    shortlist: Literal["auto", "on", "off"]
    offline: bool
    session: str | None
    resume: bool
    model: str | None
    max_turns: int | None
    max_tokens: int | None
    max_cost: float | None
    max_time: float | None
    dry_run: bool
    strict: bool
    output: Path | None
    json_stream: bool
    no_stream: bool
    as_json: bool
    quiet: bool
    verbose: bool

    @property
    def mode(self) -> Mode:
        return "research" if self.research else "lean" if self.lean else "standard"

    @property
    def format(self) -> Format:
        return "json" if self.as_json else "events" if self.json_stream else "text"

    def check(self) -> None:
        """Raise `UsageError` for flags that contradict each other."""
        if self.output is not None and self.output.suffix not in (".md", ".json"):
            raise UsageError(f"{self.output}: not .md or .json")
        both = {
            "-s and -c": self.session is not None and self.resume,
            "-r and -L": self.research and self.lean,
            "--json and --json-stream": self.as_json and self.json_stream,
            "-L and --web": self.lean and self.web is True,
        }
        for names, are_given in both.items():
            if are_given:
                raise UsageError(f"{names} do not go together", hint="use one of them")

    def settings(self) -> dict[str, object]:
        """What the flags say of the configuration, by dotted key."""
        said = {
            "research.max_turns": self.max_turns,
            "budget.max_tokens": self.max_tokens,
            "budget.max_cost_usd": self.max_cost,
            "budget.max_time_s": self.max_time,
            "research.embedding.local_files_only": self.offline or None,
        }
        return {key: value for key, value in said.items() if value is not None}


@click.command()
@click.argument("question", nargs=-1)
@click.option("-r", "--research", is_flag=True, help="Research: keep findings for later questions of the session.")
@click.option("-L", "--lean", is_flag=True, help="One search and one model call, without tools.")
@click.option("-d", "--docs", type=click.Path(path_type=Path), multiple=True, help="Answer from this file or folder.")
@click.option("--collection", multiple=True, help="Answer from this collection of `asky corpus`.")
@click.option(
    "--web/--no-web", default=None, help="Use the web; by default where neither -d nor --collection names documents."
)
@click.option(
    "--shortlist",
    type=click.Choice(["auto", "on", "off"]),
    default="auto",
    help="Choose and read web sources before the model is asked; by default as configured.",
)
@click.option("--offline", is_flag=True, help="Reach no host but one on this machine; of the web, use the cache.")
@click.option("-s", "--session", help="Ask in this session; it is made on first use.")
@click.option("-c", "--continue", "resume", is_flag=True, help="Ask in the session that was used last.")
@click.option("-m", "--model", help="Answer with this model: an alias or PROVIDER:ID.", shell_complete=complete_model)
@click.option("--max-turns", type=click.IntRange(1, 200), help="Most model calls.")
@click.option("--max-tokens", type=click.IntRange(1), help="Most tokens, prompts and answers together.")
@click.option("--max-cost", type=click.FloatRange(0, min_open=True), metavar="USD", help="Most money.")
@click.option("--max-time", type=click.FloatRange(0, min_open=True), metavar="SECONDS", help="Longest time.")
@click.option("--dry-run", is_flag=True, help="Show what would be done, reached and spent; do nothing.")
@click.option("--strict", is_flag=True, help="Exit with 12 when a sentence is not supported by its sources.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write the answer to FILE (.md or .json) too.")
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
    asked = _read_question(question)
    silent = options.as_json or options.json_stream
    views: list[View] = []

    def listening(terminal: Terminal, others: Listener) -> Listener:
        from asky.cli.viewing import open_view  # with the evidence layer: not for a usage error

        views.append(open_view(terminal, others, os.environ, options.format, waits=options.no_stream))
        return views[0]

    with workbench(
        quiet=options.quiet,
        verbose=options.verbose,
        as_json=silent,
        offline=options.offline,
        flags=options.settings(),
        listening=listening,
    ) as bench:
        if options.dry_run:
            _show_plan(bench, asked, options)
            return
        with closing(views[0]) as view:
            try:
                answer = _answer(bench, asked, options)
            except BaseException as error:
                if isinstance(error, Stopped) and isinstance(error.value, Answer) and error.value.text:
                    _give(error.value, view, options.output)
                else:
                    view.fail(error)
                raise
            _give(answer, view, options.output)
        _judge(answer, strict=options.strict)
        if silent and not options.quiet and _is_builtin(answer.model, options.model):
            click.echo(_BUILTIN, err=True)


def _give(answer: Answer, view: View, output: Path | None) -> None:
    """Write and print the answer."""
    from asky.cli.answers import write_answer

    try:
        if output is not None:
            write_answer(output, answer)
    finally:  # an answer whose file cannot be written is printed all the same
        view.give(answer)


def _answer(bench: Workbench, asked: _Asked, options: _Options) -> Answer:
    from asky.cli.asking import Asking  # the research stack: not for a usage error

    answerer = _answerer(bench, options)
    if _is_builtin(answerer.model.name, options.model):
        bench.terminal.note(_BUILTIN)
    asking = Asking(bench, answerer, options.mode, _web_wish(bench, options))
    for path in options.docs:
        asking.add_folder(path)
    _add_collections(asking, bench, options)
    return asking.ask(asked.question, asked.context, options.session, options.resume)


def _show_plan(bench: Workbench, asked: _Asked, options: _Options) -> None:
    from asky.cli.asking import Asking
    from asky.cli.planning import print_plan

    asking = Asking(bench, _answerer(bench, options), options.mode, _web_wish(bench, options))
    _add_collections(asking, bench, options)
    unread = [str(path) for path in options.docs] + (["standard input"] if asked.context else [])
    plan = asking.plan(asked.question, unread, options.session, options.resume)
    print_plan(bench.terminal, plan, bench.services.config.budget, as_json=options.as_json or options.json_stream)


def _answerer(bench: Workbench, options: _Options) -> Answerer:
    """The answerer for the chosen model. Raises `UsageError` for one on another machine under `--offline`."""
    from urllib.parse import urlsplit

    from asky.net.http import is_loopback

    answerer = bench.services.answerer(options.model)
    host = answerer.model.host
    if options.offline and host is not None and not is_loopback(urlsplit(f"//{host}").hostname or ""):
        raise UsageError(
            f"--offline, and the model {answerer.model.name} is at {host}",
            hint="leave --offline out, or choose a model on this machine with -m (extractive needs nothing)",
        )
    return answerer


def _add_collections(asking: Asking, bench: Workbench, options: _Options) -> None:
    names = options.collection
    if not names and not options.docs and DEFAULT_COLLECTION in bench.services.corpus.collections():
        names = (DEFAULT_COLLECTION,)
    for name in names:
        asking.add_collection(bench.services.corpus.collection(name))


def _web_wish(bench: Workbench, options: _Options) -> WebWish | None:
    """What the flags say of the web; `None` keeps a question off it, as documents that it names do."""
    names_documents = bool(options.docs or options.collection)
    if options.lean or options.web is False or (names_documents and options.web is None):
        return None
    from asky.cli.web import WebWish

    own = bench.services.config.model(options.model).model.source_shortlist_enabled
    return WebWish(options.web is True, options.shortlist, own)


def _is_builtin(model: str, asked_for: str | None) -> bool:
    return model == "extractive" and asked_for is None


def _judge(answer: Answer, *, strict: bool) -> None:
    """End with the exit code that says how far the answer can be trusted."""
    if answer.stopped_by == "no_evidence":
        raise NotEnoughEvidence("the sources hold too little to answer this", hint="`asky search` shows what there is")
    if answer.stopped_by in _LIMITS:
        raise BudgetExceeded("stopped at a limit before everything was looked up", hint=_LIMITS[answer.stopped_by])
    if strict and not answer.claims:
        raise UnsupportedClaim("nothing of the answer could be checked: it holds no sentence that cites a source")
    if strict and answer.faults:
        raise UnsupportedClaim(
            f"{answer.faults} of what the answer says or cites is not supported by its sources",
            hint="`asky runs show` has the verdict on each sentence",
        )


def _read_question(words: tuple[str, ...]) -> _Asked:
    text, piped = " ".join(words), None
    if text == "-":
        text = _piped() or ""
    elif text.casefold().startswith("file://"):
        text = _read_file(text)
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


def _read_file(uri: str) -> str:
    from asky.research.local_names import uri_path  # for a question that is in a file, and no other

    path = uri_path(uri) or uri
    try:
        with Path(path).open("rb") as file:
            return file.read(4 * _MAX_QUESTION_CHARS + 1).decode("utf-8", "replace")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"cannot read {path}: no file can have this name") from error
