"""Journaled web access of a run, and journaled summaries of its pages."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from asky.errors import AskyError
from asky.llm.codec import decode_reply, encode_reply
from asky.llm.port import ModelUsage, Reply, TextDelta
from asky.llm.spending import spending_of
from asky.research.web.query_leak_guard import QueryLeakGuard
from asky.runs.journal.allowlist import JournaledAllowlist
from asky.runs.journal.journal import call_key
from asky.runs.journal.searches import journaled_search
from asky.runs.journal.steps import QUARANTINED

if TYPE_CHECKING:
    from asky.llm.port import ChatModel, Message, ToolChoice, ToolSpec
    from asky.research.web.run import WebRun
    from asky.runs.journal.journal import RunJournal, RunState
    from asky.values import Approve


REPLAYED = ModelUsage()
"""The usage of a replayed summary, which was counted when it was made; compared by identity."""


class JournaledSummaries:
    """A model for page summaries, outside the tool loop; recorded replies have the usage `REPLAYED`."""

    def __init__(self, inner: ChatModel, journal: RunJournal) -> None:
        self.name = inner.name
        self.host = inner.host
        self.context_tokens = inner.context_tokens
        self._inner = inner
        self._journal = journal

    async def stream(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        tool_choice: ToolChoice = "auto",
        schema: Mapping[str, Any] | None = None,
    ) -> AsyncGenerator[TextDelta | Reply, None]:
        """See `ChatModel.stream`. Also raises `StepMissing`."""
        key = call_key(self.name, messages, tools, tool_choice, schema)
        step = await self._journal.next_step("summarised", key)
        if step is not None:
            yield replace(decode_reply(step["reply"]), usage=REPLAYED)
            return
        made = self._inner.stream(messages, tools, tool_choice=tool_choice, schema=schema)
        try:
            async with aclosing(made) as stream:
                async for item in stream:
                    if isinstance(item, Reply):
                        data = {"reply": encode_reply(item), "usage": asdict(item.usage)}
                        await self._journal.add("summarised", key, data, used=item.usage)
                    yield item
        except AskyError as error:
            if (used := spending_of(error)) is not None:
                await self._journal.add(QUARANTINED, "", {"usage": asdict(used)}, used=used)
            raise


def attach_web(state: RunState, web: WebRun, journal: RunJournal, approve: Approve, *, is_private: bool) -> None:
    """Connect `web`, which was just opened, to `state`, and its searches to `journal` and `approve`."""
    web.searches.recorded = lambda ask: journaled_search(ask, journal)
    web.searches.leak_guard = QueryLeakGuard(state.sent_queries)
    web.searches.approve = approve
    web.offered = JournaledAllowlist(state.allowlist, is_private=is_private)
    web.rejected = state.rejected
    if state.web_use is None:
        state.web_use = web.ledger.use
    else:
        web.ledger.use = state.web_use
