"""A chat in the test's own process, without its rounds and its terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from asky.app.requests import AskRequest, WebOptions
from asky.cli.chat.screen import ChatScreen
from asky.cli.context import command_context

_OF_THE_WEB = ("allowed", "sites", "since", "shortlist")


def typed(**given: Any) -> AskRequest:
    """What was typed to `asky chat`, by the fields of `AskRequest` and `WebOptions`."""
    web = {name: given.pop(name) for name in _OF_THE_WEB if name in given}
    return AskRequest(question="", web=WebOptions(**web), **given)


@contextmanager
def open_talk(**given: Any) -> Iterator[ChatScreen]:
    """What `asky chat` has between two inputs, with the configuration of the process."""
    with command_context() as ctx:
        yield ChatScreen(ctx, ctx.asky.converse(typed(**given), ctx.terminal.note))
