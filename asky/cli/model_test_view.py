"""`asky models test`: a tiny real call, and the report on the endpoint."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from asky.app.schemas.model import model_test_object
from asky.cli.terminal.terminal import one_line
from asky.config.keys import dotted

if TYPE_CHECKING:
    from asky.app.models import ModelTarget, ModelTrial
    from asky.cli.context import CommandContext
    from asky.cli.terminal.terminal import Terminal

_COLORS = {"yes": 32, "no": 31, "?": 33}
_REMARK_AT = 25  # the column after the state and the name


def test_model(ctx: CommandContext, name: str | None, *, as_json: bool) -> None:
    """Call the model `name`, by default the default model, and print what its endpoint can do.

    Raises the error of the call after printing the results, and `NotConfigured` if the call cannot be made.
    """
    models, terminal = ctx.asky.models, ctx.terminal
    target = models.target(name)
    if target.host is not None:
        terminal.note(f"calling {target.alias}: {target.id} at {target.host}")
    trial = ctx.run(lambda: models.test(name))
    if trial.may_be_our_fault:
        terminal.note("it failed; making the same call with the official openai client")
        failed = trial
        trial = ctx.run(lambda: models.ask_official_client(failed))
    if as_json:
        terminal.json(model_test_object(trial))
    else:
        _print(terminal, trial)
    if trial.error is not None:
        raise trial.error


def _print(terminal: Terminal, trial: ModelTrial) -> None:
    if trial.abilities is None:
        alias = one_line(trial.target.alias)
        terminal.line(f"{alias} answers within asky: it needs no endpoint, no key and no network")
        return
    for state, name, remark in list_rows(trial):
        row = f"{name:<20}{one_line(remark)}".rstrip()
        terminal.parts([(f"{state:<5}", (_COLORS[state],)), (row, ())], hang=_REMARK_AT)
    for warning in trial.abilities.warnings:
        terminal.line(f"     {one_line(warning)}")
    if trial.official is not None:
        terminal.line(_verdict(trial.official.failure))


def _verdict(failure: str | None) -> str:
    if failure is None:
        return "the official openai client got a reply to the same request: the fault may be asky's, please report it"
    return f"the official openai client fails too: {failure}"


def list_rows(trial: ModelTrial) -> Iterator[tuple[str, str, str]]:
    """Yield the abilities of the endpoint: `yes`, `no` or `?`, a name, and a remark."""
    found = trial.abilities
    if found is None:
        return
    answers = "" if found.first_token_ms is None else f"first token after {found.first_token_ms:,.0f} ms"
    yield _state(found.streams is not None), "answers", answers
    if found.streams is None:
        return
    yield _state(found.streams), "streams", "" if found.streams else "the reply came in one piece"
    yield _state(found.reports_usage), "reports tokens", "" if found.reports_usage else "tokens are estimated"
    yield _tools_row(found.tool_calls, reads_text=trial.target.text_tool_calls)
    if found.honours_tool_choice is not None:
        yield _state(found.honours_tool_choice), "calls none", "with tool_choice none"
    yield _context_row(trial.target, found.context_tokens)


def _tools_row(how: str | None, *, reads_text: bool) -> tuple[str, str, str]:
    if how is None:
        return "?", "calls tools", "none were offered: tools = false"
    if how == "text":
        return _state(reads_text), "calls tools", "they come as text"
    called = how == "native"
    return _state(called), "calls tools", "" if called else "it made no call when asked to"


def _context_row(target: ModelTarget, found: int | None) -> tuple[str, str, str]:
    configured = target.context_tokens or 0
    if found is None:
        return "?", "context size", f"it does not report one; asky assumes {configured:,} tokens"
    told = f"it reports {found:,} tokens, asky assumes {configured:,}"
    if found == configured:
        return "yes", "context size", told
    return _state(found > configured), "context size", f"{told}: `asky config set {_context_key(target)} {found}`"


def _context_key(target: ModelTarget) -> str:
    """Return the key with the context size of the tested model: of its alias, or of the provider without one."""
    if target.is_alias:
        return dotted(("models", target.alias, "context_tokens"))
    return dotted(("providers", target.provider, "context_tokens"))


def _state(value: bool | None) -> str:
    return "?" if value is None else "yes" if value else "no"
