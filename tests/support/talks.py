"""A chat in the test's own process, without its rounds and its terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import Any

from asky.cli.chat_talk import Stage, Talk
from asky.cli.choices import Choices
from asky.cli.terminal import Terminal
from asky.cli.workbench import workbench
from asky.events import Listener

_NAMES = ("docs", "collection", "site")


def choices(**given: Any) -> Choices:
    """The flags of `asky chat`, of which these were typed."""
    none = {each.name: False if each.type == "bool" else None for each in fields(Choices)}
    return Choices(**{**none, **dict.fromkeys(_NAMES, ()), "shortlist": "auto", **given})


@contextmanager
def open_talk(**given: Any) -> Iterator[Talk]:
    """What `asky chat` has between two inputs, with the configuration of the process."""
    stages: list[Stage] = []

    def listening(_: Terminal, others: Listener) -> Stage:
        stages.append(Stage(others))
        return stages[0]

    with workbench(listening=listening) as bench:
        yield Talk(bench, stages[0], choices(**given))
