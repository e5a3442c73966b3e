"""A guard for prompts of runs whose private passages stay on this machine: the last check before a model elsewhere.

Whoever writes a prompt leaves out what `Access.may_see` denies; this guard stands under all calls of a run, and refuses
a prompt that holds a private passage all the same: the passage itself, or nine words in a row of one, be it in a fact,
a summary or a list. From every other prompt it strikes the names that only private passages, their headings, titles and
files hold. Words of the user's question, of public passages and of the model itself do not count. Shorter quotations
without a name and other wordings pass: it is a net, not a filter.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any

from asky.concurrency import in_thread
from asky.errors import UsageError
from asky.evidence.passages import parse_passages
from asky.llm.port import Reply
from asky.research.web.file_names import private_file_names
from asky.research.web.query_leak_guard import text_and_titles, without_names
from asky.research.writing.templates import all_templates
from asky.runs.access import is_on_this_machine
from asky.text.letters import fold
from asky.text.terms import word_runs
from asky.values import PRIVATE_KINDS

if TYPE_CHECKING:
    from asky.llm.port import ChatModel, Message, TextDelta, ToolChoice, ToolSpec
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
        self._written: list[str] = []  # by the model

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
        public = await in_thread(self._public, messages)
        async with aclosing(self._inner.stream(public, tools, tool_choice=tool_choice, schema=schema)) as items:
            async for item in items:
                if schema is not None and isinstance(item, Reply):  # else it may be joined to what a quoter has added
                    self._written.append(item.message.content)
                yield item

    def _public(self, messages: Sequence[Message]) -> Sequence[Message]:
        """Return the messages without private names. Raises `UsageError` for private passages."""
        self._require_public([each.content for each in messages])
        run = self._research
        private = [each for each in list(run.shown.values()) if each.source.kind in PRIVATE_KINDS]
        if not private and not run.private_notes:
            return messages
        public = [each for each in list(run.shown.values()) if each.source.kind not in PRIVATE_KINDS]
        known = [run.question, *self._written, all_templates(), *map(text_and_titles, public)]
        known += [each.content for each in messages if each.role == "system"]
        hidden, files = (
            [*map(text_and_titles, private), *run.private_notes],
            private_file_names(each.source for each in private),
        )
        return [
            replace(each, content=without_names(each.content, hidden, files, known)) if each.role == "user" else each
            for each in messages
        ]

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
