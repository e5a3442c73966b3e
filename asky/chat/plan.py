"""What a question would do, without doing it: which model, which hosts, how many calls, and what they may cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from asky.chat.preparing import withheld_tools
from asky.chat.prompts import CONVERSATION_PROMPT, LEAN_PROMPT, research_system_prompt
from asky.llm.budget import REPLY_TOKENS
from asky.llm.port import Message, ModelUsage, ToolSpec
from asky.llm.tokens import TokenCounter
from asky.research.tools import TOOL_SPECS
from asky.text.urls import host_of

if TYPE_CHECKING:
    from asky.chat.answering import Mode
    from asky.llm.endpoint import Prices
    from asky.llm.port import ChatModel

_USUAL_SEARCHES = 1


@dataclass(frozen=True, slots=True)
class Estimate:
    """Calls, and the tokens of all of them together; `cost_usd` is `None` without a known price."""

    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class PlannedService:
    """A search service; `host` is `None` where it is named but not set up."""

    name: str
    host: str | None


@dataclass(frozen=True, slots=True)
class WebPlan:
    """What would be done on the web.

    Before the model is asked, `queries` are sent to each of the `services`, and of what they find and the addresses
    that the question `named` at most `max_pages` pages are read; none of that where the model is to choose. It
    `may_search` and read more. Where it `is_offline`, pages that were read before are all there is. `wanted` says
    in words what sources have to be. The `finder` is asked where papers among those pages can be read.
    """

    services: tuple[PlannedService, ...] = ()
    queries: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    max_pages: int = 0
    may_search: bool = False
    is_offline: bool = False
    wanted: tuple[str, ...] = ()
    finder: PlannedService | None = None

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts that are known beforehand; those of pages that are found come on top."""
        searching = self.services if self.queries or self.may_search else ()
        asked = [*searching, *([self.finder] if self.finder is not None else [])]
        return (*(each.host for each in asked if each.host), *map(host_of, self.named))


@dataclass(frozen=True, slots=True)
class Plan:
    """`hosts` are those of which it is known that they would be reached.

    `usual` is a run with one search, `most` one that uses every turn. `sources` are in the corpus; `unread` names what
    would be read first, `web` what would be done on the web. `earlier_tokens` is what was said in the session before,
    as far as it goes with each call.
    """

    model: str
    hosts: tuple[str, ...]
    mode: str
    sources: int
    unread: tuple[str, ...]
    tools: tuple[str, ...]
    usual: Estimate
    most: Estimate
    web: WebPlan | None = None
    earlier_tokens: int = 0


def offered_tools(mode: Mode, web: WebPlan | None) -> list[ToolSpec]:
    """The tools of a run in this mode, in the order in which it offers them."""
    specs = list(TOOL_SPECS)
    if web is not None:
        from asky.research.web_tools import WEB_TOOL_SPECS  # for questions to the web only

        specs = [*(each for each in WEB_TOOL_SPECS if each.name != "web_search" or web.services), *specs]
    preloaded = web is None or web.is_offline or web.max_pages > 0
    withheld = withheld_tools(mode, preloaded=preloaded)
    return [each for each in specs if each.name not in withheld]


def make_plan(
    model: ChatModel,
    question: str,
    *,
    mode: str,
    sources: int,
    unread: Sequence[str],
    tools: Sequence[ToolSpec],
    max_turns: int,
    passage_tokens: int,
    prices: Prices | None,
    may_call: bool = True,
    web: WebPlan | None = None,
    earlier: Callable[[Sequence[ToolSpec]], Sequence[Message]] = lambda _: (),
    counter: TokenCounter | None = None,
) -> Plan:
    """The plan for `question` over `sources` sources, what is `unread` and the `web`.

    A prompt grows by `passage_tokens` with each search before it. Where the model may not call `tools`, it gets the
    passages of one search. `earlier` gives what goes with a question from before it, by the tools that are offered.
    """
    has_sources = sources > 0 or bool(unread) or web is not None
    searching = has_sources and may_call
    offered = tuple(tools) if searching else ()
    system = research_system_prompt(offered) if searching else CONVERSATION_PROMPT
    if has_sources and not searching:
        system = LEAN_PROMPT
    counter = counter or TokenCounter()
    earlier_tokens = sum(map(counter.count_message, earlier(offered)))
    first = earlier_tokens + counter.count([Message("system", system), Message("user", question)], offered)
    if has_sources and not searching:
        first += passage_tokens
    free = model.host is None

    def estimate(calls: int) -> Estimate:
        # each call sends what the ones before it sent, what their searches brought, and their replies
        grown = [first + each * (passage_tokens + REPLY_TOKENS) for each in range(calls)]
        prompt = sum(min(tokens, model.context_tokens) for tokens in grown)
        usage = ModelUsage(prompt, calls * REPLY_TOKENS)
        cost = 0.0 if free else prices.cost_usd(usage.prompt_tokens, usage.completion_tokens) if prices else None
        return Estimate(calls, prompt, usage.completion_tokens, cost)

    return Plan(
        model=model.name,
        hosts=tuple(dict.fromkeys([*([] if model.host is None else [model.host]), *(web.hosts if web else ())])),
        mode=mode,
        sources=sources,
        unread=tuple(unread),
        tools=tuple(spec.name for spec in offered),
        usual=estimate(min(1 + _USUAL_SEARCHES, max_turns) if searching else 1),
        most=estimate(max_turns if searching else 1),
        web=web,
        earlier_tokens=earlier_tokens,
    )
