"""The fake that other tests use in place of a model keeps the port's promises."""

from __future__ import annotations

import anyio
import pytest

from asky.errors import RateLimited
from asky.llm.port import Message
from tests.support.model_contract import RETRIEVAL_SPEC, check_chat_model, read_reply
from tests.support.models import ScriptedModel, calls, tool_call


def test_the_scripted_model_is_a_chat_model() -> None:
    search = calls(tool_call("get_relevant_content", {"queries": ["mill"]}), text="Looking.")
    anyio.run(check_chat_model, ScriptedModel(search, "It burned in 1911.", "It burned again."))


def test_it_plays_its_script_and_remembers_what_it_was_sent() -> None:
    model = ScriptedModel("one", RateLimited("slow down"), "three")
    question = (Message("user", "?"),)
    assert anyio.run(read_reply, model, question, ())[0] == "one"
    with pytest.raises(RateLimited):
        anyio.run(read_reply, model, question, (RETRIEVAL_SPEC,))
    assert [anyio.run(read_reply, model, question, ())[0] for _ in range(2)] == ["three", "three"]
    assert model.sent[1] == (question, (RETRIEVAL_SPEC,))
