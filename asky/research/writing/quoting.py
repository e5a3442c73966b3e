"""What the built-in model writes about several topics: for each, the sentences that it quotes from its passages."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from itertools import groupby
from typing import TYPE_CHECKING, Any

from asky.evidence.passages import render_passages
from asky.llm.port import ABSTENTION, Message, ModelUsage, Reply, TextDelta, ToolCall, is_abstention
from asky.research.tool_specs import GET_RELEVANT_CONTENT
from asky.text.markdown import begins_item
from asky.text.terms import terms_of

if TYPE_CHECKING:
    from asky.llm.port import ChatModel, ToolChoice, ToolSpec
    from asky.values import Evidence

_CALL = "topic {}"
_HEADING = "### {}"
_MAX_ITEMS = 8


def quoting_messages(
    topics: Sequence[tuple[str, Sequence[Evidence]]], marker: str, *, once: bool = True
) -> Iterator[Message]:
    """Yield the question of each topic, and a search with its passages as the result; nothing for one without any.

    If `once`, a passage on several topics comes with the first of them, so that nothing is quoted twice.
    """
    seen: set[str] = set()
    for number, (label, found) in enumerate(topics, start=1):
        passages = [passage for passage in found if not (once and passage.key in seen)]
        seen.update(passage.key for passage in passages)
        if passages:
            call = _CALL.format(number)
            yield Message("user", label)
            yield Message("assistant", "", (ToolCall(call, GET_RELEVANT_CONTENT.name, "{}"),))
            yield Message("tool", render_passages(passages, marker=marker), tool_call_id=call)


class TopicQuoter:
    """A chat model that has `inner`, which only quotes, answer on each topic of `quoting_messages`.

    Its reply has a heading for each topic on which `inner` did not abstain; it abstains if there is none.
    """

    def __init__(self, inner: ChatModel) -> None:
        self.name = inner.name
        self.host = inner.host
        self.context_tokens = inner.context_tokens
        self._inner = inner

    async def stream(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],  # noqa: ARG002 - the port's parameters: nothing is called
        *,
        tool_choice: ToolChoice = "auto",  # noqa: ARG002
        schema: Mapping[str, Any] | None = None,  # noqa: ARG002
    ) -> AsyncGenerator[TextDelta | Reply, None]:
        """Yield the text on each topic as one piece, then the reply."""
        written = ""
        for at, message in enumerate(messages):
            if message.role != "user" or len(messages) <= at + 2:
                continue
            text = await self._on_topic([*messages[: at and 1], *messages[at : at + 3]])
            if text:
                text = _with_short_lists(text, terms_of(message.content))
                piece = ("\n\n" if written else "") + f"{_HEADING.format(_first_line(message.content))}\n\n{text}"
                written += piece
                yield TextDelta(piece)
        if not written:
            written = ABSTENTION
            yield TextDelta(written)
        yield Reply(Message("assistant", written), "stop", ModelUsage(cost_usd=0.0))

    async def _on_topic(self, messages: Sequence[Message]) -> str:
        async with aclosing(self._inner.stream(messages, (), tool_choice="none")) as stream:
            async for item in stream:
                if isinstance(item, Reply):
                    text = item.message.content.strip()
                    return "" if is_abstention(text) else text
        return ""


def is_quoted_on(question: str, text: str) -> bool:
    """Return whether `text`, which `TopicQuoter` wrote, has something on that topic."""
    return _HEADING.format(_first_line(question)) in text.split("\n")


def _first_line(question: str) -> str:
    """Return what stands above the text on a topic: its question, without what explains it on further lines."""
    line = question.partition("\n")[0]
    return line[:1].upper() + line[1:]


def _with_short_lists(text: str, topic: frozenset[str]) -> str:
    """Return `text` without most items of its long lists: those stay that have a word of the topic, each with the next.

    If none has, the first stay.
    """
    kept: list[str] = []
    for is_list, group in groupby(text.split("\n"), key=begins_item):
        lines = list(group)
        if is_list and len(lines) > _MAX_ITEMS:
            about = {number for number, line in enumerate(lines) if topic & terms_of(line)}
            wanted = sorted(about | {number + 1 for number in about}) or range(len(lines))
            lines = [lines[number] for number in wanted if number < len(lines)][:_MAX_ITEMS]
        kept += lines
    return "\n".join(kept)
