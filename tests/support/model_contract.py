"""What every chat model does, whatever it knows: the tests of each adapter call `check_chat_model`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing

from asky.llm.port import ChatModel, Message, Reply, TextDelta, ToolSpec

RETRIEVAL_SPEC = ToolSpec(
    "get_relevant_content",
    "Passages that bear on the queries.",
    {
        "type": "object",
        "properties": {
            "queries": {
                "type": "array",
                "items": {"type": "string", "minLength": 1, "maxLength": 400},
                "minItems": 1,
                "maxItems": 6,
            }
        },
        "required": ["queries"],
        "additionalProperties": False,
    },
)


async def read_reply(model: ChatModel, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> tuple[str, Reply]:
    """The concatenated deltas and the one reply of a call, checked for their order."""
    text: list[str] = []
    reply: Reply | None = None
    async with aclosing(model.stream(messages, tools)) as stream:
        async for item in stream:
            assert reply is None, "nothing may follow the reply"
            if isinstance(item, TextDelta):
                text.append(item.text)
            else:
                reply = item
    assert reply is not None, "a stream ends with a reply"
    return "".join(text), reply


async def check_chat_model(model: ChatModel) -> None:
    """Assert the port's promises on a plain question, with and without tools."""
    assert model.name
    assert model.context_tokens > 0
    question = (Message("system", "Answer from passages."), Message("user", "When did the mill burn?"))
    for tools in ((RETRIEVAL_SPEC,), ()):
        before = tuple(question)
        text, reply = await read_reply(model, question, tools)
        assert question == before, "messages are not changed"
        assert reply.message.role == "assistant"
        assert reply.message.content == text, "the deltas add up to the content"
        if reply.finish == "tool_calls":
            assert reply.message.tool_calls, "a tool_calls reply has calls"
        if reply.finish == "stop":
            assert not reply.message.tool_calls, "a stop reply has none"
        assert len({call.id for call in reply.message.tool_calls}) == len(reply.message.tool_calls)
        assert reply.usage.prompt_tokens >= 0
        assert reply.usage.completion_tokens >= 0
        assert {call.name for call in reply.message.tool_calls} <= {spec.name for spec in tools}
    await _check_that_it_can_be_left_early(model, question)


async def _check_that_it_can_be_left_early(model: ChatModel, messages: Sequence[Message]) -> None:
    async with aclosing(model.stream(messages, ())) as stream:
        async for _ in stream:
            break
    text, reply = await read_reply(model, messages, ())
    assert reply.message.content == text, "a call that was left early does not disturb the next one"
