from __future__ import annotations

import json

import click
import pytest

from asky.app.failures import ErrorReport
from asky.cli.failures import describe, render
from asky.errors import AskyError, Interrupted, NotEnoughEvidence, RateLimited

ENVIRON = {"OPENAI_API_KEY": "sk-0123456789", "HOME": "/home/someone"}


class Group(Exception):
    """Stands for the exception groups of every version of Python."""

    def __init__(self, *exceptions: BaseException) -> None:
        super().__init__("group")
        self.exceptions = exceptions


def test_an_expected_error_is_its_message_hint_and_code() -> None:
    report = describe(RateLimited("slow down", hint="wait a minute"), environ={})
    assert report == ErrorReport(6, "rate_limited", "slow down", "wait a minute")
    assert render(report, as_json=False) == "asky: slow down\nhint: wait a minute\n"
    assert json.loads(render(report, as_json=True)) == {
        "schema": "asky.error/1",
        "code": "rate_limited",
        "message": "slow down",
        "hint": "wait a minute",
    }


def test_an_error_without_a_hint_is_one_line() -> None:
    report = describe(NotEnoughEvidence("nothing"), environ={})
    assert render(report, as_json=False) == "asky: nothing\n"
    assert json.loads(render(report, as_json=True))["hint"] is None


def test_what_came_from_outside_can_neither_steer_the_terminal_nor_add_lines() -> None:
    report = describe(AskyError("bad\x1b]0;x\x07\nname\u202e", hint="a\r\nb"), environ={})
    assert render(report, as_json=False) == "asky: bad name\nhint: a b\n"
    assert json.loads(render(report, as_json=True))["message"] == "bad name"


def test_an_unexpected_error_names_its_type_and_how_to_see_more() -> None:
    report = describe(ValueError("odd"), environ={})
    assert report.exit_code == 1
    assert report.message == "unexpected ValueError: odd"
    assert "ASKY_DEBUG=1" in (report.hint or "")
    assert report.details is None
    assert describe(KeyError(), environ={}).message == "unexpected KeyError"


def fail() -> None:
    raise ValueError("odd sk-0123456789")


def test_debugging_adds_the_traceback_with_secrets_masked() -> None:
    with pytest.raises(ValueError, match="odd") as caught:
        fail()
    report = describe(caught.value, environ=ENVIRON, debug=True)
    assert report.message == "unexpected ValueError: odd ***"
    text = render(report, as_json=False)
    assert text.startswith("Traceback (most recent call last):\n")
    assert text.endswith("asky: unexpected ValueError: odd ***\n")
    assert "sk-0123456789" not in text
    assert "Traceback" in json.loads(render(report, as_json=True))["details"]


@pytest.mark.parametrize("where", ["message", "hint"])
def test_secrets_are_masked_in_messages_and_hints(where: str) -> None:
    error = AskyError("refused", hint="none")
    setattr(error, where, "got sk-0123456789 from https://u:p@host/")
    report = describe(error, environ=ENVIRON)
    assert getattr(report, where) == "got *** from https://***@host/"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (KeyboardInterrupt(), 130),
        (click.Abort(), 130),
        (Interrupted("stopped"), 130),
        (MemoryError(), 1),
        (RecursionError("too deep"), 1),
        (OSError(28, "No space left on device"), 1),
        (click.UsageError("wrong"), 2),
        (click.BadParameter("wrong"), 2),
        (click.FileError("x", "gone"), 2),
        (Group(Group(RateLimited("slow"))), 6),
        (Group(RateLimited("slow"), ValueError("x")), 1),
    ],
)
def test_each_kind_of_error_has_its_exit_code(error: BaseException, code: int) -> None:
    assert describe(error, environ={}).exit_code == code


def test_memory_has_a_message_that_needs_none() -> None:
    assert describe(MemoryError(), environ={}).message == "out of memory"
