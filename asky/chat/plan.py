"""The plan of a question: its model, hosts, number of calls and estimated cost, without sending anything."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from asky.chat.context_builder import withheld_tools
from asky.llm.budget import REPLY_TOKENS
from asky.llm.port import Message, ModelUsage, ToolSpec
from asky.llm.tokens import TokenCounter
from asky.research.tool_specs import TOOL_SPECS, WEB_TOOL_SPECS
from asky.research.writing.prompts import CONVERSATION_PROMPT, LEAN_PROMPT, research_system_prompt, with_instructions
from asky.text.urls import host_of

if TYPE_CHECKING:
    from asky.llm.endpoint.endpoint import Prices
    from asky.llm.port import ChatModel

_USUAL_SEARCHES = 1


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number of calls, and their total tokens and cost; `cost_usd` is `None` without a known price."""

    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class PlannedService:
    """A search service; `host` is `None` if it is not configured."""

    name: str
    host: str | None


@dataclass(frozen=True, slots=True)
class WebPlan:
    """The planned use of the web.

    Before the first model call, `queries` are sent to each of the `services`, and at most `max_pages` pages are read,
    from the results and from the addresses `named` in the question; none if the model chooses pages itself. With
    `may_search`, the model can search and read more. With `is_offline`, only cached pages are used. `wanted` describes
    the required sources, one phrase each. The `finder` is a service that is asked for open copies of papers.
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
        """The hosts known beforehand: of services and named addresses, not of pages that searches find."""
        searching = self.services if self.queries or self.may_search else ()
        asked = [*searching, *([self.finder] if self.finder is not None else [])]
        return (*(each.host for each in asked if each.host), *map(host_of, self.named))


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a question. `hosts` are the hosts that it is known to contact, each once.

    `usual` estimates a run with one search, `most` one that uses every turn. `sources` is the number of sources in the
    corpus, `unread` names documents that would be read first, and `web` is `None` for a question that does not use the
    web. `earlier_tokens` are the tokens of the session history in each call.
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


def offered_tools(mode: str, web: WebPlan | None) -> list[ToolSpec]:
    """Return the tools offered in a run of this mode, in the order of its prompt."""
    specs = list(TOOL_SPECS)
    if web is not None:
        specs = [*(each for each in WEB_TOOL_SPECS if each.name != "web_search" or web.services), *specs]
    preloaded = web is None or web.is_offline or web.max_pages > 0
    withheld = withheld_tools(mode, preloaded=preloaded)
    return [each for each in specs if each.name not in withheld]


def make_plan(
    model: ChatModel,
    question: str,
    *,
    instructions: str = "",
    mode: str,
    sources: int,
    unread: Sequence[str],
    tools: Sequence[ToolSpec],
    max_turns: int,
    passage_tokens: int,
    prices: Prices | None,
    may_call: bool = True,
    web: WebPlan | None = None,
    history_messages: Callable[[Sequence[ToolSpec]], Sequence[Message]] = lambda _: (),
    counter: TokenCounter | None = None,
) -> Plan:
    """Return the plan for `question` over `sources` stored sources, the `unread` documents and the `web`.

    The estimate assumes that each search adds `passage_tokens` to the later prompts, and that a model that may not call
    `tools` receives the passages of one search. `history_messages` returns the session's messages for the given tools.
    """
    has_sources = sources > 0 or bool(unread) or web is not None
    searching = has_sources and may_call
    offered = tuple(tools) if searching else ()
    system = research_system_prompt(offered) if searching else CONVERSATION_PROMPT
    if has_sources and not searching:
        system = LEAN_PROMPT
    counter = counter or TokenCounter()
    earlier_tokens = sum(map(counter.count_message, history_messages(offered)))
    asked = [Message("system", with_instructions(system, instructions)), Message("user", question)]
    first = earlier_tokens + counter.count(asked, offered)
    if has_sources and not searching:
        first += passage_tokens
    free = model.host is None

    def estimate(calls: int) -> Estimate:
        # each call sends the previous prompt again, with the passages and the reply since
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
