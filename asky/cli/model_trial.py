"""`asky models test`: a tiny real call, and what it says of the endpoint."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from asky.cli.surroundings import key_variables
from asky.cli.terminal import one_line
from asky.cli.workbench import Workbench
from asky.config.secrets import scrub
from asky.errors import AskyError, NotConfigured, ProviderError, TimedOut, Unreachable
from asky.llm.official import ask_official_client

if TYPE_CHECKING:
    from asky.cli.terminal import Terminal
    from asky.llm.endpoint import Endpoint
    from asky.llm.probe import Abilities

_DOUBTFUL = (NotConfigured, ProviderError, TimedOut, Unreachable)
"""Errors that could be asky's own, so that another client is asked; a refused key or rate is the endpoint's."""
_COLORS = {"yes": 32, "no": 31, "?": 33}


def try_model(bench: Workbench, name: str | None, *, as_json: bool) -> None:
    """Call the model called `name`, or the default one, and print what its endpoint can do, found out anew.

    Raises what the call raised, having printed what there is, and `NotConfigured` where it cannot be made.
    """
    services = bench.services
    chosen = services.config.model(name)
    if chosen.provider is None:
        _print_builtin(bench.terminal, chosen.name, as_json=as_json)
        return
    endpoint = services.endpoint(name)
    bench.terminal.note(f"calling {endpoint.alias}: {endpoint.model_id} at {endpoint.host}")
    abilities = bench.run(lambda: services.probe(name))
    asked, failure = isinstance(abilities.error, _DOUBTFUL), None
    if asked:
        bench.terminal.note("it failed; making the same call with the official openai client")
        failure = ask_official_client(endpoint, abilities.request)
    if as_json:
        opinion = {"replied": failure is None, "failure": failure} if asked else None
        bench.terminal.json({**_json(endpoint, abilities), "official_client": opinion})
    else:
        _print(bench.terminal, endpoint, abilities)
        if asked:
            bench.terminal.line(_verdict(failure))
    if abilities.error is not None:
        raise abilities.error


def _print_builtin(terminal: Terminal, name: str, *, as_json: bool) -> None:
    if as_json:
        known = {"alias": name, "provider": "extractive", "id": None, "host": None, "ok": True, "error": None}
        terminal.json({"schema": "asky.model_test/1", **known})
    else:
        terminal.line(f"{one_line(name)} answers within asky: it needs no endpoint, no key and no network")


def _verdict(failure: str | None) -> str:
    if failure is None:
        return "the official openai client got a reply to the same request: the fault may be asky's, please report it"
    return f"the official openai client fails too: {failure}"


def _print(terminal: Terminal, endpoint: Endpoint, found: Abilities) -> None:
    for state, name, remark in list_rows(endpoint, found):
        state = terminal.paint(f"{state:<5}", _COLORS[state])
        terminal.out.write(f"{state}{name:<20}{one_line(remark)}".rstrip() + "\n")
    for warning in found.warnings:
        terminal.line(f"     {one_line(_masked(warning))}")


def list_rows(endpoint: Endpoint, found: Abilities) -> Iterator[tuple[str, str, str]]:
    """What the endpoint can do: `yes`, `no` or `?`, what it is, and a remark."""
    answers = "" if found.first_token_ms is None else f"first token after {found.first_token_ms:,.0f} ms"
    yield _state(found.streams is not None), "answers", answers
    if found.streams is None:
        return
    yield _state(found.streams), "streams", "" if found.streams else "the reply came in one piece"
    yield _state(found.reports_usage), "reports tokens", "" if found.reports_usage else "they are estimated"
    yield _tools_row(endpoint, found)
    if found.honours_tool_choice is not None:
        yield _state(found.honours_tool_choice), "leaves tools alone", "when it is told to"
    yield _context_row(endpoint.context_tokens, found.context_tokens)


def _tools_row(endpoint: Endpoint, found: Abilities) -> tuple[str, str, str]:
    if found.tool_calls is None:
        return "?", "calls tools", "none were offered: tools = false"
    if found.tool_calls == "text":
        return _state(endpoint.text_tool_calls), "calls tools", "they come as text"
    called = found.tool_calls == "native"
    return _state(called), "calls tools", "" if called else "it called none when it was asked to"


def _context_row(configured: int, found: int | None) -> tuple[str, str, str]:
    if found is None:
        return "?", "context size", f"it does not say; asky counts on {configured:,} tokens"
    if found < configured:
        return "no", "context size", f"it says {found:,} tokens, asky counts on {configured:,}: set context_tokens"
    return "yes", "context size", f"it says {found:,} tokens, asky counts on {configured:,}"


def _state(value: bool | None) -> str:
    return "?" if value is None else "yes" if value else "no"


def _json(endpoint: Endpoint, found: Abilities) -> dict[str, Any]:
    return {
        "schema": "asky.model_test/1",
        "alias": endpoint.alias,
        "provider": endpoint.provider,
        "id": endpoint.model_id,
        "host": endpoint.host,
        "ok": found.error is None,
        "reachable": found.reachable,
        "streams": found.streams,
        "reports_usage": found.reports_usage,
        "tool_calls": found.tool_calls,
        "honours_tool_choice": found.honours_tool_choice,
        "first_token_ms": None if found.first_token_ms is None else round(found.first_token_ms, 1),
        "context_tokens": {"configured": endpoint.context_tokens, "found": found.context_tokens},
        "warnings": [_masked(warning) for warning in found.warnings],
        "error": _error_json(found.error),
    }


def _error_json(error: AskyError | None) -> dict[str, Any] | None:
    if error is None:
        return None
    hint = None if error.hint is None else _masked(error.hint)
    return {"code": error.code, "message": _masked(error.message), "hint": hint}


def _masked(text: str) -> str:
    return scrub(text, os.environ, key_variables())
