"""`asky ask`, the default command: a question in, an answer with citations out."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from asky.cli.judging import judge
from asky.cli.lasting import find_last
from asky.cli.options import complete_model, complete_prompt, complete_session, json_option, verbosity_options
from asky.cli.questions import Asked, read_question
from asky.cli.running import Stopped
from asky.cli.workbench import Workbench, workbench
from asky.errors import UsageError
from asky.storage.corpus import DEFAULT_COLLECTION
from asky.values import Answer

if TYPE_CHECKING:
    from asky.chat.answering import Answerer, Mode
    from asky.cli.asking import Asking
    from asky.cli.terminal import Terminal
    from asky.cli.viewing import Format, View
    from asky.cli.web import WebWish
    from asky.events import Listener
    from asky.storage.sessions import Session

_BUILTIN = "no model is configured: answering with sentences quoted from the sources"


@dataclass(frozen=True, slots=True)
class _Options:
    """The flags of one question, as click names them."""

    research: bool
    lean: bool
    docs: tuple[Path, ...]
    collection: tuple[str, ...]
    web: bool | None
    site: tuple[str, ...]
    since: str | None
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

    @property
    def uses_web(self) -> bool:
        """Whether the question may use the web; documents that it names keep it off, unless --web is there too."""
        names_documents = bool(self.docs or self.collection)
        return not self.lean and self.web is not False and (self.web is True or not names_documents)

    @property
    def has_wishes(self) -> bool:
        """Whether something is said of the sources on the web."""
        return bool(self.site) or self.since is not None

    def following(self, session: Session | None) -> _Options:
        """These flags, and for what they leave open what earlier questions of the session said.

        Documents that are named now keep the question off the web, as in a new session.
        """
        if session is None:
            return self
        said = session.settings
        open_mode = not (self.research or self.lean)
        names_documents = bool(self.docs or self.collection)
        web = self.web if self.web is not None or (said.get("web") and names_documents) else said.get("web")
        keeps_sites = web is not False and not self.has_wishes
        return replace(
            self,
            research=self.research or (open_mode and session.mode == "research"),
            lean=self.lean or (open_mode and session.mode == "lean" and web is not True),
            web=web,
            site=tuple(said.get("sites", ())) if keeps_sites else self.site,
            since=said.get("since") if keeps_sites else self.since,
            shortlist=said.get("shortlist", "auto") if self.shortlist == "auto" else self.shortlist,
            model=self.model or said.get("model"),
        )

    def check(self) -> None:
        """Raise `UsageError` for flags that contradict each other."""
        if self.output is not None and self.output.suffix not in (".md", ".html", ".json"):
            raise UsageError(f"{self.output}: not .md, .html or .json")
        both = {
            "-s and -c": self.session is not None and self.resume,
            "-r and -L": self.research and self.lean,
            "--json and --json-stream": self.as_json and self.json_stream,
            "-L and --web": self.lean and self.web is True,
        }
        for names, are_given in both.items():
            if are_given:
                raise UsageError(f"{names} do not go together", hint="use one of them")
        if self.has_wishes:
            self._check_wishes()

    def _check_wishes(self) -> None:
        from asky.research.source_policy import SourcePolicy  # for a question that has some

        if not self.uses_web:
            hint = "leave them out, or add --web"
            raise UsageError("--site and --since are about the web, which is not used", hint=hint)
        SourcePolicy().narrowed(self.site, self.since, today=datetime.now(timezone.utc).date())

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
@click.argument("question", nargs=-1, shell_complete=complete_prompt)
@click.option("-r", "--research", is_flag=True, help="Research: keep findings for later questions of the session.")
@click.option("-L", "--lean", is_flag=True, help="One search and one model call, without tools.")
@click.option("-d", "--docs", type=click.Path(path_type=Path), multiple=True, help="Answer from this file or folder.")
@click.option("--collection", multiple=True, help="Answer from this collection of `asky corpus`.")
@click.option(
    "--web/--no-web", default=None, help="Use the web; by default where neither -d nor --collection names documents."
)
@click.option("--site", multiple=True, metavar="DOMAIN", help="Use pages of this domain only; with - before it, none.")
@click.option("--since", metavar="WHEN", help="Use nothing published before: 2024, 2024-05-01, 30d, 6m, 1y.")
@click.option(
    "--shortlist",
    type=click.Choice(["auto", "on", "off"]),
    default="auto",
    help="Choose and read web sources before the model is asked; by default as configured.",
)
@click.option("--offline", is_flag=True, help="Reach no host but one on this machine; of the web, use the cache.")
@click.option("-s", "--session", help="Ask in this session; it is made on first use.", shell_complete=complete_session)
@click.option("-c", "--continue", "resume", is_flag=True, help="Ask in the session that was used last.")
@click.option("-m", "--model", help="Answer with this model: an alias or PROVIDER:ID.", shell_complete=complete_model)
@click.option("--max-turns", type=click.IntRange(1, 200), help="Most model calls.")
@click.option("--max-tokens", type=click.IntRange(1), help="Most tokens, prompts and answers together.")
@click.option("--max-cost", type=click.FloatRange(0, min_open=True), metavar="USD", help="Most money.")
@click.option("--max-time", type=click.FloatRange(0, min_open=True), metavar="SECONDS", help="Longest time.")
@click.option("--dry-run", is_flag=True, help="Show what would be done, reached and spent; do nothing.")
@click.option("--strict", is_flag=True, help="Exit with 12 when a sentence is not supported by its sources.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Write the answer to FILE (.md, .html or .json) too."
)
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
        last = find_last(bench, options.session, options.resume)
        options = options.following(last)
        options.check()
        if options.dry_run:
            _show_plan(bench, asked, options, last)
            return
        with closing(views[0]) as view:
            try:
                answer = _answer(bench, asked, options, last)
            except BaseException as error:
                if isinstance(error, Stopped) and isinstance(error.value, Answer) and error.value.text:
                    _give(bench, error.value, view, options.output)
                else:
                    view.fail(error)
                raise
            _give(bench, answer, view, options.output)
        judge(answer, bench.services.runs, strict=options.strict)
        if silent and not options.quiet and _is_builtin(answer.model, options.model):
            click.echo(_BUILTIN, err=True)


def _give(bench: Workbench, answer: Answer, view: View, output: Path | None) -> None:
    """Write and print the answer."""
    from asky.cli.answers import write_answer

    try:
        if output is not None:
            write_answer(output, answer, bench.services)
    finally:  # an answer whose file cannot be written is printed all the same
        view.give(answer)


def _answer(bench: Workbench, asked: Asked, options: _Options, last: Session | None) -> Answer:
    from asky.cli.asking import Asking  # the research stack: not for a usage error

    answerer = _answerer(bench, options)
    if _is_builtin(answerer.model.name, options.model):
        bench.terminal.note(_BUILTIN)
    asking = Asking(bench, answerer, options.mode, _web_wish(bench, options), options.model)
    for path in options.docs:
        asking.add_folder(path)
    _add_collections(asking, bench, options, last)
    return asking.ask(asked.question, asked.context, options.session, options.resume)


def _show_plan(bench: Workbench, asked: Asked, options: _Options, last: Session | None) -> None:
    from asky.cli.asking import Asking
    from asky.cli.planning import print_plan

    asking = Asking(bench, _answerer(bench, options), options.mode, _web_wish(bench, options), options.model)
    _add_collections(asking, bench, options, last)
    for path in options.docs:
        asking.grant(path)
    plan = asking.plan(asked.question, asked.context, options.session, options.resume)
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


def _add_collections(asking: Asking, bench: Workbench, options: _Options, last: Session | None) -> None:
    """Add the collections that are named, or the default one where neither the question nor its session names any."""
    names = options.collection
    has_some = bool(names or options.docs or (last is not None and last.collections))
    if not has_some and DEFAULT_COLLECTION in bench.services.corpus.collections():
        names = (DEFAULT_COLLECTION,)
    for name in names:
        asking.add_collection(bench.services.corpus.collection(name))


def _web_wish(bench: Workbench, options: _Options) -> WebWish | None:
    """What the flags say of the web; `None` keeps a question off it, as documents that it names do."""
    if not options.uses_web:
        return None
    from asky.cli.web import WebWish

    own = bench.services.config.model(options.model).model.source_shortlist_enabled
    is_demanded = options.web is True or options.has_wishes
    return WebWish(is_demanded, options.shortlist, own, options.site, options.since)


def _is_builtin(model: str, asked_for: str | None) -> bool:
    return model == "extractive" and asked_for is None
