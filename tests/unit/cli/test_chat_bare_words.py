"""A command without its slash is no question; words that are one stay one."""

from __future__ import annotations

import pytest

from asky.cli.chat.bare_words import command_meant
from asky.errors import UsageError


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("help", "/help"),
        ("Help!", "/help"),
        ("?", "/help"),
        ("why 2", "/why 2"),
        ("why [12].", "/why [12]"),
        ("Exit", "/quit"),
        ("/exit", "/quit"),
        (":q", "/quit"),
        ("bye", "/quit"),
        ("sources", "/sources"),
        ("web off", "/web off"),
        ("mode lean", "/mode lean"),
        ("save answer.md", "/save answer.md"),
        ("undo", "/undo"),
    ],
)
def test_a_bare_command_is_meant(line: str, command: str) -> None:
    assert command_meant(line) == command


@pytest.mark.parametrize(
    "line",
    [
        "why",
        "why?",
        "why not",
        "why 2 people signed",
        "help me",
        "help?",
        "web pages about tides",
        "sources of the Rhine",
        "save the whales",
        "check the oven",
        "/why 1",
        "/exit now",
        "exits",
    ],
)
def test_words_of_a_question_stay_a_question(line: str) -> None:
    assert command_meant(line) is None


@pytest.mark.parametrize("line", ["clear", "Clear.", "/clear", "new", "history"])
def test_a_command_of_other_programs_is_not_asked(line: str) -> None:
    with pytest.raises(UsageError, match="nothing was asked") as refused:
        command_meant(line)
    assert refused.value.hint


def test_a_saved_prompt_keeps_its_name() -> None:
    assert command_meant("/new", {"new": "What is new?"}) is None
    assert command_meant("/exit", {"exit": "..."}) is None
