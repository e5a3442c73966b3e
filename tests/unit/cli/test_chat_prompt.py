"""The keys of the prompt, typed into a pipe."""

from __future__ import annotations

import asyncio

import pytest
from prompt_toolkit import PromptSession
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from asky.cli.chat.prompt import _bindings


def test_ctrl_c_just_after_enter_is_no_accident_of_the_event_loop() -> None:
    async def ask() -> str:
        answer = await session.prompt_async("> ")
        session.app.key_processor.send_sigint()  # as the loop does with a signal, until it has ended too
        return answer

    with create_pipe_input() as keyboard:
        session: PromptSession[str] = PromptSession(
            key_bindings=_bindings(lambda: False), input=keyboard, output=DummyOutput()
        )
        keyboard.send_text("a question\r")
        assert asyncio.run(ask()) == "a question"


def test_alt_minus_before_an_arrow_is_no_accident_either(caplog: pytest.LogCaptureFixture) -> None:
    with create_pipe_input() as keyboard:
        session: PromptSession[str] = PromptSession(
            key_bindings=_bindings(lambda: False), input=keyboard, output=DummyOutput(), multiline=True
        )
        keyboard.send_text("one\ntwo\x1b-\x1b[A\x1b-\x1b[B\r")
        asking = session.prompt_async("> ", set_exception_handler=False)
        assert asyncio.run(asyncio.wait_for(asking, timeout=20)) == "one\ntwo"
    assert caplog.records == []  # where a loop says what befell it
