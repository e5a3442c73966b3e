"""`asky setup`: the first choices, in four questions."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import click

from asky.app.corpus import raise_for_added
from asky.app.diagnostics import DiagnosticsService
from asky.app.models import set_default
from asky.app.setup import keyless_services, services_in_use, use_services
from asky.cli.context import command_context
from asky.cli.model_test_view import test_model
from asky.cli.terminal.terminal import one_line, say
from asky.config.paths import current_folder, expand_user
from asky.errors import AskyError, UsageError
from asky.installation import install_command
from asky.text.counting import counted

if TYPE_CHECKING:
    from asky.app.models import AvailableProvider
    from asky.cli.context import CommandContext

_SHOWN_IDS = 30
_SHOWN_ROOTS = 3
_EXTRACTIVE = "extractive"
_KEPT_CHARS = 7  # of "Enter  "


@click.command()
def setup() -> None:
    """Choose a model, documents and search services in four questions.

    Press Enter to skip a question. Each answer takes effect at once, so that Ctrl-C loses none of them, and each can be
    changed later: see `asky models default`, `asky corpus` and `asky config set search.providers`.
    """
    if not (_is_terminal(sys.stdin) and _is_terminal(sys.stderr)):
        raise UsageError(
            "setup asks questions, and there is no terminal",
            hint="use `asky models default MODEL`, `asky corpus add PATH` and `asky config set search.providers NAMES`",
        )
    _say("Press Enter to skip a question. Every answer can be changed later.\n")
    model = _choose_model()
    has_documents = _add_documents()
    has_web = _choose_services()
    _test(model)
    _say_what_next(has_documents=has_documents, has_web=has_web)


def _is_terminal(stream: object) -> bool:
    return getattr(stream, "isatty", lambda: False)()


# 1. the model


def _choose_model() -> str | None:
    """Set the default model and return its name; `None` if the present one is kept, which is a choice too."""
    with command_context() as ctx:
        current = ctx.asky.config.default
        available = ctx.asky.models.find_available()
        _say("1/4  Which model shall write the answers?")
        built_in = " (built in: quotes sentences, needs no key and no network)" if current == _EXTRACTIVE else ""
        _keep(f"{current}{built_in}")
        for number, each in enumerate(available, start=1):
            _say(f"       {number:<5}  {_described(each)}", hang=_KEPT_CHARS)
        _say("       or type PROVIDER:MODEL_ID, such as ollama:qwen3:8b")
        while True:
            text = _ask("model")
            if not text:
                if not ctx.asky.config.is_default_chosen:
                    _takes(partial(set_default, current, environ=os.environ, cwd=current_folder()))
                return None
            name = _model_called(ctx, text, available)
            if name is not None and _takes(partial(set_default, name, environ=os.environ, cwd=current_folder())):
                _say(f"       {one_line(name)} answers from now on\n")
                return name


def _described(each: AvailableProvider) -> str:
    if each.key_variable is not None:
        return f"{each.name} ({each.key_variable} is set)"
    return f"{each.first_model} (runs at {each.place})"


def _model_called(ctx: CommandContext, text: str, available: Sequence[AvailableProvider]) -> str | None:
    """Return the model that `text` means: a number of the list, a provider, or a name; `None` if it is yet open."""
    names = {each.name: each for each in available}
    chosen = names.get(text)
    if text.isascii() and text.isdigit():
        if not 0 < int(text) <= len(available):
            _say(f"       there is no number {text}")
            return None
        chosen = available[int(text) - 1]
        if chosen.key_variable is None:
            return chosen.first_model
    if chosen is None:
        return text
    try:
        ids = chosen.model_ids or ctx.run(lambda: ctx.asky.models.list_ids(chosen.name))
    except AskyError as error:
        _say(f"       {error.message}; type {chosen.name}:MODEL_ID")
        return None
    more = f" and {len(ids) - _SHOWN_IDS} more" if len(ids) > _SHOWN_IDS else ""
    _say(f"       {chosen.name} has {', '.join(map(one_line, ids[:_SHOWN_IDS]))}{more}")
    _say(f"       type {chosen.name}:MODEL_ID")
    return None


# 2. documents


def _add_documents() -> bool:
    """Add a file or folder to the default collection; return whether it holds anything."""
    _say("2/4  Which file or folder of documents shall it answer from? It is read here and sent nowhere.")
    with command_context() as ctx:
        documents = ctx.asky.corpus.list_sources()
        roots = ctx.asky.corpus.followed()
    if documents:
        _keep(f"{counted(len(documents), 'document')}{f' in {_listed(roots)}' if roots else ''}, and add none")
    while True:
        text = _ask("path")
        if not text:
            return bool(documents)
        if not _takes(partial(_add, text)):
            continue
        _say("       `asky corpus sync` reads what changes there\n")
        return True


def _add(text: str) -> None:
    path = expand_user(text, os.environ)
    with command_context() as ctx:
        raise_for_added(ctx.run(lambda: ctx.asky.corpus.add([path])))


# 3. the web


def _choose_services() -> bool:
    """Set the search services, and return whether there are any."""
    free = keyless_services()
    with command_context() as ctx:
        present = services_in_use(ctx.asky.config, os.environ)
    _say("3/4  Which services shall it search the web with? None needs a key; each is sent your questions.")
    if present:
        _keep(", ".join(present))
    for name, summary in free.items():
        _say(f"       {name:<17}{summary}", hang=17)
    if "ddgs" not in free:
        install = install_command(extra="ddgs")
        _say(f"       {'ddgs':<17}the whole web, through DuckDuckGo: first `{install}`, then name it here", hang=17)
    while True:
        text = _ask("names, or all")
        if not text:
            return bool(present)
        names = list(free) if text == "all" else text.replace(",", " ").split()
        if _takes(partial(use_services, names, environ=os.environ, cwd=current_folder())):
            _say(f"       {', '.join(map(one_line, names))} from now on\n")
            return True


# 4. a test


def _test(model: str | None) -> None:
    """Call the chosen model once, if the user agrees."""
    _say("4/4  Test it now? A chosen model is called once, which costs about as much as a short question.")
    if _ask("y/n").lower() not in ("y", "yes"):
        return
    with command_context() as ctx:
        _takes(lambda: test_model(ctx, model, as_json=False))
    for check in DiagnosticsService().check():
        if check.state == "problem":
            _say(f"       {check.name}: {check.message}" + (f" ({check.hint})" if check.hint else ""))


def _say_what_next(*, has_documents: bool, has_web: bool) -> None:
    documents = 'asky "your question"' if has_documents else 'asky -d PATH "your question"'
    _say(f"\nNow ask: {documents}" + (' or, with the web, asky -r "your question"' if has_web else ""))


def _takes(change: Callable[[], object]) -> bool:
    """Make a change, and return whether it succeeded; if not, say why."""
    try:
        change()
    except AskyError as error:
        _say(f"       {error.message}" + (f" ({error.hint})" if error.hint else ""))
        return False
    return True


def _ask(what: str) -> str:
    return str(click.prompt(f"       {what}", default="", show_default=False, err=True)).strip()


def _keep(present: str) -> None:
    """Say what stays if the user only presses Enter."""
    _say(f"       Enter  keep {one_line(present)}", hang=_KEPT_CHARS)


def _listed(roots: Sequence[str]) -> str:
    """Return the first roots, and how many more there are."""
    more = f" and {len(roots) - _SHOWN_ROOTS} more" if len(roots) > _SHOWN_ROOTS else ""
    return ", ".join(map(one_line, roots[:_SHOWN_ROOTS])) + more


def _say(text: str, *, hang: int = 0) -> None:
    say(text, hang=hang)
