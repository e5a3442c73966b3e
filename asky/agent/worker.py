"""The worker of the agent's runs: the shared driver, with the graph around the answer that it writes."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from asky.agent.domains import DomainConfiguration
from asky.agent.nodes import Nodes
from asky.agent.task import decode_task
from asky.agent.writing import passages_by_part, quoting_prompt, report_prompt
from asky.concurrency import in_thread
from asky.evidence.passages import parse_passages
from asky.llm.port import ABSTENTION, ChatModel, Message, ModelUsage, Reply, TextDelta, is_abstention
from asky.research.writing.quoting import TopicQuoter
from asky.runs.driver import BaseRunWorker
from asky.runs.synthesis_prompt import synthesis_prompt

if TYPE_CHECKING:
    from asky.agent.findings import Findings
    from asky.agent.obstacles import ObstacleHandler
    from asky.config.schema import BudgetSettings
    from asky.llm.port import ToolChoice, ToolSpec
    from asky.research.web.access import Web
    from asky.research.writing.prompts import Prompt
    from asky.runs.access import Access
    from asky.runs.context import RunContext, RunSpec
    from asky.runs.driver import PromptBuilder, PromptContext
    from asky.storage.runs import Run
    from asky.storage.sessions import Session
    from asky.storage.source_records import SourceRecords
    from asky.storage.steps import Step
    from asky.values import Answer, Evidence, SourceKind

_FAILED = "The report could not be written"
_PRIVATE_HEADING = "## From your own documents"


class ReportWriter:
    """A chat model that has `inner` write a report from public passages, and `quoter` quote from `private` ones.

    Without any passage it abstains, and calls neither.
    """

    def __init__(self, inner: ChatModel, quoter: ChatModel) -> None:
        self.name = inner.name
        self.host = inner.host
        self.context_tokens = inner.context_tokens
        self.private: Sequence[Message] = ()
        self._inner = inner
        self._quoter = TopicQuoter(quoter)

    async def stream(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        tool_choice: ToolChoice = "auto",
        schema: Mapping[str, Any] | None = None,
    ) -> AsyncGenerator[TextDelta | Reply, None]:
        """See `ChatModel.stream`."""
        if schema is not None or len(messages) > 2:  # a node asks, or the report is revised
            async with aclosing(self._inner.stream(messages, tools, tool_choice=tool_choice, schema=schema)) as stream:
                async for item in stream:
                    yield item
            return
        written = ""
        end = Reply(Message("assistant", ""), "stop", ModelUsage(cost_usd=0.0))
        if parse_passages(messages[-1].content):
            async with aclosing(self._inner.stream(messages, tools, tool_choice=tool_choice)) as stream:
                async for item in stream:
                    if isinstance(item, Reply):
                        end = item
                    else:
                        written += item.text
                        yield item
        quoted = await self._quotations()
        if not written and not quoted:
            quoted = ABSTENTION
        if quoted:
            piece = f"\n\n{_PRIVATE_HEADING}\n\n{quoted}" if written else quoted
            written += piece
            yield TextDelta(piece)
        yield replace(end, message=replace(end.message, content=written, raw=None))

    async def _quotations(self) -> str:
        return await _text_of(self._quoter, self.private) if self.private else ""


async def _text_of(quoter: TopicQuoter, messages: Sequence[Message]) -> str:
    """Return what `quoter` writes; "" if it abstains."""
    text = ""
    async with aclosing(quoter.stream(messages, ())) as stream:
        async for item in stream:
            text += item.text if isinstance(item, TextDelta) else ""
    return "" if is_abstention(text) else text


class ReportPrompt:
    """Builds the prompt of the report from what the nodes have `findings` of."""

    def __init__(self, worker: AgentWorker, context: PromptContext) -> None:
        self.context = context
        self.task = decode_task(context.question.task)
        self.findings: Findings | None = None
        self._worker = worker
        self._research = context.journal.state.research

    @asynccontextmanager
    async def prompt(self) -> AsyncIterator[Prompt]:
        """Yield the first messages, without tools."""
        await in_thread(self._set_private)
        async with synthesis_prompt(self.context, partial(in_thread, self._prepare), _FAILED) as prompt:
            yield prompt

    async def quotations(self) -> str:
        """Return what the built-in model quotes on each part of the question; "" if that is nothing."""
        assert self.findings is not None
        parts = passages_by_part(self.findings, self._research.shown, by_support=False)
        messages = quoting_prompt(parts, self._research.marker).messages
        return await _text_of(TopicQuoter(self._worker.quoter), messages)

    def _set_private(self) -> None:
        """Give the writer the passages to quote that its model may not see; also in a run that is resumed."""
        writer, may_see = self._worker.writer, self.context.run.access.may_see
        if writer is not None and self.findings is not None:
            parts = passages_by_part(self.findings, self._research.shown, by_support=False)
            private = _only(parts, lambda kind: not may_see(self._worker.model, kind))
            writer.private = quoting_prompt(private, self._research.marker).messages

    def _prepare(self) -> Prompt:
        assert self.findings is not None
        model, marker = self._worker.model, self._research.marker
        parts = passages_by_part(self.findings, self._research.shown, by_support=model.host is not None)
        if model.host is None:
            return quoting_prompt(parts, marker)
        parts = _only(parts, lambda kind: self.context.run.access.may_see(model, kind))
        room, counter = model.context_tokens * 2 // 5, self._worker.counter()
        return report_prompt(self.findings, parts, marker=marker, room=room, count=counter.count_text)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentWorker(BaseRunWorker):
    """Researches a question in cycles, and reports on it.

    `quoter` is the built-in model, and `limits` are those of a run. `domains` are the fields of research by name,
    `obstacles` makes the handler of failures of the run with that id, and `records` outlive runs. `checkpoints` is the
    file of the graph. `report` puts the report of a run together and keeps it. `writer` is the model of a run that is
    being executed. `page_s` is the time limit of the first attempt at a page or a search.
    """

    prompt_builder: ClassVar[Callable[[Any, PromptContext], PromptBuilder]] = ReportPrompt
    quoter: ChatModel
    web: Callable[[Access], Web]
    limits: Callable[[RunContext], BudgetSettings]
    domains: Mapping[str, DomainConfiguration]
    obstacles: Callable[[str], ObstacleHandler]
    records: SourceRecords
    checkpoints: Path
    report: Callable[[str], dict[str, Any]]
    writer: ReportWriter | None = None
    page_s: float = 20.0

    async def execute(
        self,
        spec: RunSpec,
        session: Session,
        run: Run,
        context: RunContext,
        on_answer: Callable[[Answer], None],
        steps: Sequence[Step] = (),
        *,
        is_live: bool = True,
    ) -> None:
        """Execute a run as every product does, with the report written as `ReportWriter` and `TopicQuoter` do."""
        worker = self
        if is_live:
            writer = ReportWriter(self.model, self.quoter) if self.model.host is not None else None
            worker = replace(self, model=writer or TopicQuoter(self.model), writer=writer)
        await BaseRunWorker.execute(worker, spec, session, run, context, on_answer, steps, is_live=is_live)

    def fallback(self, builder: PromptBuilder) -> Callable[[], Awaitable[str]] | None:
        """Return what quotes on each part of the question, in place of a report that cites nothing."""
        assert isinstance(builder, ReportPrompt)
        return builder.quotations

    async def carry_out(self, builder: PromptBuilder, write: Callable[[], Awaitable[Answer]]) -> None:
        """Run the graph, whose node `synthesize` calls `write`. A replayed run leaves nothing behind."""
        from asky.agent.graph import run_graph  # with LangGraph: 0.8 s

        assert isinstance(builder, ReportPrompt)
        nodes = Nodes(self, builder.context, builder.task, write)
        builder.findings = nodes.findings
        is_live = builder.context.journal.is_live
        checkpoints = self.checkpoints if is_live else None
        await run_graph(nodes, builder.context.run.id, checkpoints, max_cycles=builder.task.max_cycles)


def _only(
    parts: Sequence[tuple[str, list[Evidence]]], keep: Callable[[SourceKind], bool]
) -> list[tuple[str, list[Evidence]]]:
    return [(text, [each for each in passages if keep(each.source.kind)]) for text, passages in parts]
