"""A guard for prompts of runs whose private passages stay on this machine: the last check before a model elsewhere.

Whoever writes a prompt leaves out what `Access.may_see` denies; this guard stands under all calls of a run, and refuses
a prompt that holds a private passage all the same: the passage itself, or nine words in a row of one, be it in a fact,
a summary or a list. Words of the user's question and of public passages do not count. Shorter quotations and other
wordings pass: it is a net, not a filter.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing
from types import TracebackType
from typing import TYPE_CHECKING, Any

from asky.concurrency import in_thread
from asky.errors import UsageError
from asky.evidence.passages import parse_passages
from asky.runs.access import is_on_this_machine
from asky.text.letters import fold
from asky.text.terms import word_runs
from asky.values import PRIVATE_KINDS

if TYPE_CHECKING:
    from asky.llm.port import ChatModel, Message, Reply, TextDelta, ToolChoice, ToolSpec
    from asky.research.run import ResearchRun
    from asky.runs.access import Access

_REPEATED_WORDS = 9  # as in `asky.research.web.query_leak_guard`


def guard_prompts(model: ChatModel, access: Access, research: ResearchRun) -> ChatModel:
    """Return `model`, guarded if private passages of the run may not be shown to it."""
    return PromptLeakGuard(model, research) if access.private_stays and not is_on_this_machine(model) else model


class PromptLeakGuard:
    """A `ChatModel` on another machine; a call whose prompt holds private text of the run raises `UsageError`."""

    def __init__(self, inner: ChatModel, research: ResearchRun) -> None:
        self.name = inner.name
        self.host = inner.host
        self.context_tokens = inner.context_tokens
        self._inner = inner
        self._research = research

    async def __aenter__(self) -> PromptLeakGuard:
        if isinstance(self._inner, AbstractAsyncContextManager):
            await self._inner.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(self._inner, AbstractAsyncContextManager):
            await self._inner.__aexit__(kind, error, trace)

    async def stream(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        tool_choice: ToolChoice = "auto",
        schema: Mapping[str, Any] | None = None,
    ) -> AsyncGenerator[TextDelta | Reply, None]:
        """See `ChatModel.stream`."""
        await in_thread(self._require_public, [each.content for each in messages])
        async with aclosing(self._inner.stream(messages, tools, tool_choice=tool_choice, schema=schema)) as items:
            async for item in items:
                yield item

    def _require_public(self, texts: Sequence[str]) -> None:
        run = self._research
        private = {key: each.text for key, each in list(run.shown.items()) if each.source.kind in PRIVATE_KINDS}
        if not private and not run.private_notes:
            return
        public = [each.text for key, each in list(run.shown.items()) if key not in private]
        hidden = _runs([*private.values(), *run.private_notes]) - _runs([*public, run.question])
        for text in texts:
            if any(each.key in private for each in parse_passages(text)) or not hidden.isdisjoint(_runs([text])):
                raise UsageError(
                    f"a private passage would have been sent to the model {self.name} at {self.host}",
                    hint="choose a model on this machine with -m, or a privacy mode that allows it",
                )


def _runs(texts: Iterable[str]) -> set[tuple[str, ...]]:
    return set().union(*(word_runs(fold(each), _REPEATED_WORDS) for each in texts))
