from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asky.errors import (
    AskyError,
    BudgetExceeded,
    ContextOverflow,
    ProviderError,
    SourceUnreadable,
    TimedOut,
    Unreachable,
)
from asky.events import Event, ModelCalled, TextDiscarded, ToolCalled, ToolReturned, Warned
from asky.llm.port import Message, ModelUsage, Reply, ToolCall, ToolSpec
from asky.llm.spending import Budget, NoBudget
from asky.llm.tokens import TokenCounter
from asky.llm.tools import Tool, ToolRegistry, ToolResult
from asky.research.writing.notes import noted_text
from asky.research.writing.reply_writer import EMPTY_REPLY
from asky.research.writing.tool_loop import ANSWER_NOW, LoopResult, LoopSettings, run_loop
from asky.research.writing.tool_result_placeholder import LEFT_OUT
from asky.research.writing.transcript import Transcript
from asky.values import Failure
from tests.support.examples import examples
from tests.support.models import ScriptedModel, Turn, calls, tool_call

LOOKUP = ToolSpec(
    "lookup",
    "Looks it up.",
    {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"], "additionalProperties": False},
)
QUESTION = (Message("system", "Be brief."), Message("user", "When did the mill burn?"))


def registry(run: Callable[[Mapping[str, Any]], Any] | None = None) -> ToolRegistry:
    async def lookup(arguments: Mapping[str, Any]) -> ToolResult:
        return ToolResult(f"found {arguments['q']}", f"1 passage for {arguments['q']}")

    return ToolRegistry([Tool(LOOKUP, run or lookup)])


def lookup(query: str, call_id: str = "c1") -> ToolCall:
    return tool_call("lookup", {"q": query}, call_id=call_id)


class Run:
    """One run of the loop and everything that it said."""

    def __init__(
        self,
        model: ScriptedModel,
        tools: ToolRegistry | None = None,
        limits: LoopSettings | None = None,
        budget: Budget | None = None,
    ) -> None:
        self.transcript = Transcript(list(QUESTION))
        self.events: list[Event] = []
        self.text: list[str] = []
        self.model = model
        self._tools = tools or registry()
        self._limits = limits or LoopSettings(max_turns=20)
        self._budget = budget

    async def loop(self) -> LoopResult:
        return await run_loop(
            self.model,
            self.transcript,
            self._tools,
            settings=self._limits,
            listener=self.events.append,
            on_text=self.text.append,
            budget=self._budget,
        )

    def __call__(self) -> LoopResult:
        return anyio.run(self.loop)


def test_an_answer_without_tools_ends_the_loop() -> None:
    run = Run(ScriptedModel("It burned in 1911."))
    result = run()
    assert result.reply_text == "It burned in 1911."
    assert "".join(run.text) == "It burned in 1911."
    assert len(run.text) > 1
    assert result.messages == (*QUESTION, Message("assistant", "It burned in 1911."))
    assert result.stopped_by is None
    assert result.warnings == ()
    assert run.events == [ModelCalled("scripted", "model.test", 1)]


def test_tool_calls_are_run_and_answered_and_the_model_goes_on() -> None:
    run = Run(ScriptedModel(calls(lookup("mill", "a"), text="Looking."), "In 1911."))
    result = run()
    assert result.messages[2:] == (
        Message("assistant", "Looking.", (lookup("mill", "a"),)),
        Message("tool", "found mill", tool_call_id="a"),
        Message("assistant", "In 1911."),
    )
    assert result.turns == 2
    assert run.events == [
        ModelCalled("scripted", "model.test", 1),
        TextDiscarded("Looking."),
        ToolCalled("a", "lookup", "mill"),
        ToolReturned("a", "lookup", "1 passage for mill"),
        ModelCalled("scripted", "model.test", 2),
    ]


def test_what_the_model_sent_is_kept_and_sent_back_verbatim() -> None:
    raw = {"role": "assistant", "content": None, "reasoning_content": "hm", "extra": {"signature": "s"}}
    model = ScriptedModel(calls(lookup("mill"), raw=raw), "In 1911.")
    Run(model)()
    assert model.sent[1][0][2].raw is raw


def test_each_call_sends_what_the_call_before_sent_and_more() -> None:
    model = ScriptedModel(*(calls(lookup(f"q{i}")) for i in range(5)), "Done.")
    Run(model)()
    for (before, tools_before), (after, tools_after) in zip(model.sent, model.sent[1:], strict=False):
        assert after[: len(before)] == before
        assert tools_after == tools_before


def test_usage_is_summed_over_all_calls() -> None:
    script = (
        calls(lookup("mill")),
        Turn("Done.", usage=ModelUsage(7, 3, 0.5, estimated=True)),
    )
    result = Run(ScriptedModel(*script))()
    assert result.usage == ModelUsage(107, 13, 0.51, True)
    unknown = Run(ScriptedModel(script[0], Turn("Done.", usage=ModelUsage(7, 3, None))))()
    assert unknown.usage.cost_usd is None


def test_an_error_of_a_tool_is_told_to_the_model_and_the_run_goes_on() -> None:
    async def broken(_arguments: Mapping[str, Any]) -> ToolResult:
        raise SourceUnreadable("the file is damaged", hint="mend it")

    run = Run(ScriptedModel(calls(lookup("mill")), "I could not look."), registry(broken))
    result = run()
    assert result.messages[3].content == "error: source_unreadable: the file is damaged"
    assert run.events[2] == ToolReturned(
        "c1",
        "lookup",
        "the file is damaged",
        Failure("lookup", "source_unreadable", "the file is damaged", "mend it"),
    )


def test_a_fault_of_ours_in_a_tool_is_raised_bare() -> None:
    async def faulty(_arguments: Mapping[str, Any]) -> ToolResult:
        raise KeyError("oops")

    run = Run(ScriptedModel(calls(lookup("a"), lookup("b", "c2"))), registry(faulty))
    with pytest.raises(KeyError, match="oops"):
        run()
    assert run.transcript.messages == list(QUESTION)


def test_the_last_turn_gets_no_tools_and_is_asked_to_answer() -> None:
    model = ScriptedModel(calls(lookup("a")), calls(lookup("b")), "What there is.")
    run = Run(model, limits=LoopSettings(max_turns=3))
    result = run()
    assert model.choices == ["auto", "auto", "none"]
    assert [tools for _, tools in model.sent] == [(LOOKUP,)] * 3
    assert model.sent[2][0][-1] == Message("user", ANSWER_NOW)
    assert result.reply_text == "What there is."
    assert result.stopped_by == "max_turns"
    assert result.warnings == ("stopped after 3 turns",)
    assert run.events[-2] == Warned("stopped after 3 turns")


def test_calls_made_although_no_tools_were_offered_are_not_run() -> None:
    ran: list[str] = []

    async def note(arguments: Mapping[str, Any]) -> ToolResult:
        ran.append(arguments["q"])
        return ToolResult("", "")

    model = ScriptedModel(calls(lookup("a")), calls(lookup("b"), text="So far: nothing."))
    result = Run(model, registry(note), LoopSettings(max_turns=2))()
    assert ran == ["a"]
    assert result.reply_text == "So far: nothing."
    assert result.messages[-1] == Message("assistant", "So far: nothing.")


def test_a_run_without_tools_is_one_call_and_no_limit_stops_it() -> None:
    model = ScriptedModel("Hello.")
    result = Run(model, ToolRegistry([]), LoopSettings(max_turns=1))()
    assert result.stopped_by is None
    assert result.warnings == ()
    assert model.sent[0] == (QUESTION, ())


def test_a_call_made_again_and_again_is_stopped_and_the_model_made_to_answer() -> None:
    same = '{ "q" : "mill" }'
    model = ScriptedModel(
        calls(lookup("mill")),
        calls(tool_call("lookup", same)),
        calls(lookup("mill", "x"), lookup("other", "y")),
        "Enough.",
    )
    result = Run(model)()
    assert [m.content for m in result.messages if m.role == "tool"] == [
        "found mill",
        "found mill",
        "error: repeated_call: this call was made before; its result is above",
        "found other",
    ]
    assert model.choices == ["auto", "auto", "auto", "none"]
    assert result.reply_text == "Enough."
    assert result.stopped_by is None
    assert result.warnings == ("the model made the same call 3 times",)


def test_bad_calls_are_told_twice_and_then_end_the_gathering() -> None:
    model = ScriptedModel(
        calls(tool_call("nope", {"n": 1})),
        calls(tool_call("lookup", "{")),
        calls(tool_call("lookup", {"q": 1})),
        "I give up.",
    )
    result = Run(model)()
    assert [m.content.split(":")[1].strip() for m in result.messages if m.role == "tool"] == [
        "unknown_tool",
        "bad_arguments",
        "bad_arguments",
    ]
    assert model.choices == ["auto", "auto", "auto", "none"]
    assert result.warnings == ("the model made only bad tool calls in 3 replies",)


@pytest.mark.parametrize("finish", ["cut", "length"])
def test_a_call_that_was_cut_is_never_run_and_the_model_is_asked_again(finish: Any) -> None:
    ran: list[object] = []

    async def note(arguments: Mapping[str, Any]) -> ToolResult:
        ran.append(arguments)
        return ToolResult("", "")

    model = ScriptedModel(Turn("Let me see.", (lookup("a"),), finish), "In 1911.")
    result = Run(model, registry(note))()
    assert ran == []
    assert result.reply_text == "In 1911."
    assert result.messages == (*QUESTION, Message("assistant", "In 1911."))
    assert len(result.warnings) == 1


def test_a_broken_reply_is_asked_for_once_more_and_its_text_taken_back() -> None:
    run = Run(ScriptedModel(Turn("It burned in", finish="cut"), "In 1911."))
    result = run()
    assert result.reply_text == "In 1911."
    assert result.warnings == ("the model's reply was cut off; asking again",)
    assert TextDiscarded("It burned in") in run.events
    assert run.model.sent[0] == run.model.sent[1]


def test_an_answer_that_breaks_off_twice_is_kept_and_said_to_be_incomplete() -> None:
    result = Run(ScriptedModel(Turn("It burned in", finish="cut")))()
    assert result.reply_text == "It burned in"
    assert result.warnings[-1] == "the answer is not complete: the model's stream was cut off"
    assert (result.is_complete, result.stopped_by) == (False, "cut")
    assert result.turns == 2


def test_a_failure_after_some_text_is_tried_once_more() -> None:
    class Failing(ScriptedModel):
        async def stream(self, messages: Any, tools: Any, **options: Any) -> Any:
            async for item in super().stream(messages, tools, **options):
                yield item
                if len(self.sent) <= failures:
                    raise ProviderError("the upstream went away", retryable=True)

    failures = 1
    run = Run(Failing("It burned in 1911."))
    assert run().reply_text == "It burned in 1911."
    assert run.transcript.warnings == ["the upstream went away; asking again"]
    assert TextDiscarded("It burn") in run.events
    assert run.transcript.unfinished_text == ""  # a whole reply has come: what broke off is no answer any more
    failures = 2
    run = Run(Failing("It burned in 1911."))
    with pytest.raises(ProviderError):
        run()
    assert run.transcript.partial_text == "It burn"


def test_a_call_that_was_too_slow_is_not_made_again() -> None:
    class Slow(ScriptedModel):
        async def stream(self, messages: Any, tools: Any, **options: Any) -> Any:
            async for item in super().stream(messages, tools, **options):
                yield item
                raise TimedOut("nothing for 60 s")

    run = Run(Slow("It burned in 1911."))
    with pytest.raises(TimedOut):
        run()
    assert len(run.model.sent) == 1


def test_what_a_failed_call_used_is_counted() -> None:
    class Costly(ScriptedModel):
        async def stream(self, messages: Any, tools: Any, **options: Any) -> Any:
            async for item in super().stream(messages, tools, **options):
                if not isinstance(item, Reply):
                    continue
                error = ProviderError("broke off while it was thinking")
                error.spent = ModelUsage(100, 5000, 0.5, estimated=True)
                raise error
                yield item

    run = Run(Costly("It burned in 1911."))
    with pytest.raises(ProviderError):
        run()
    assert run.transcript.calls == [ModelUsage(100, 5000, 0.5, estimated=True)]


def test_words_before_a_call_that_was_cut_are_taken_back() -> None:
    cut = Turn("Let me look. ", (lookup("mill"),), "length")
    run = Run(ScriptedModel(cut, "In 1911."))
    assert run().reply_text == "In 1911."
    assert TextDiscarded("Let me look. ") in run.events
    assert run.transcript.warnings == ["the model's reply ended within a tool call; asking again"]


def words(count: int) -> str:
    return " ".join(["pull of the moon"] * (count // 4))


def test_room_is_made_before_a_prompt_outgrows_the_context() -> None:
    async def find(_arguments: Mapping[str, Any]) -> ToolResult:
        return ToolResult(words(2000), "much")

    class Small(ScriptedModel):
        context_tokens = 4000

    run = Run(Small(calls(lookup("a")), calls(lookup("b")), "In 1911."), registry(find))
    assert run().reply_text == "In 1911."
    contents = [[message.content for message in messages if message.role == "tool"] for messages, _ in run.model.sent]
    assert contents[1] == [words(2000)]
    assert LEFT_OUT in contents[2][0]
    counter = TokenCounter()
    assert all(counter.count(messages, tools) <= 3500 for messages, tools in run.model.sent)
    assert [message.content for message in run.transcript.work if message.role == "tool"] == [words(2000)] * 2


def test_what_the_endpoint_counts_is_believed_before_our_own_count() -> None:
    async def find(_arguments: Mapping[str, Any]) -> ToolResult:
        return ToolResult(words(400), "something")

    class Small(ScriptedModel):
        context_tokens = 4000

    script = (calls(lookup("a")), replace(calls(lookup("b")), usage=ModelUsage(3400, 10, 0.01)), "In 1911.")
    run = Run(Small(*script), registry(find))
    assert run().reply_text == "In 1911."
    contents = [message.content for message in run.model.sent[2][0] if message.role == "tool"]
    assert LEFT_OUT in contents[0]


def test_a_conversation_that_is_too_long_loses_its_oldest_results_once() -> None:
    async def find(arguments: Mapping[str, Any]) -> ToolResult:
        return ToolResult(words(int(arguments["q"])), "much")

    script = (calls(lookup("6000")), calls(lookup("3000")), ContextOverflow("too long"), "In 1911.")
    run = Run(ScriptedModel(*script), registry(find))
    assert run().reply_text == "In 1911."
    contents = [message.content for message in run.model.sent[3][0] if message.role == "tool"]
    assert LEFT_OUT in contents[0]
    assert contents[1] == words(3000)
    assert run.transcript.warnings == [
        "the conversation was too long for the model: part of what was looked up was left out",
        "stopped gathering: the model's context is full",
    ]
    assert run.model.choices[-1] == "none"
    with pytest.raises(ContextOverflow):
        Run(ScriptedModel(*script[:3]), registry(find))()


def test_a_conversation_without_results_to_give_up_stays_too_long() -> None:
    with pytest.raises(ContextOverflow):
        Run(ScriptedModel(ContextOverflow("too long")))()


def test_what_the_endpoint_warns_of_is_said_once() -> None:
    class Worried(ScriptedModel):
        async def stream(self, messages: Any, tools: Any, **options: Any) -> Any:
            async for item in super().stream(messages, tools, **options):
                yield replace(item, warnings=("the prompt was cut",)) if isinstance(item, Reply) else item

    result = Run(Worried(calls(lookup("mill")), "In 1911."))()
    assert result.warnings == ("the prompt was cut",)


def test_an_answer_at_the_models_limit_is_kept_and_said_to_be_incomplete() -> None:
    result = Run(ScriptedModel(Turn("It burned in", finish="length")))()
    assert result.reply_text == "It burned in"
    assert result.warnings == ("the answer is not complete: it was cut at the model's limit",)
    assert (result.is_complete, result.stopped_by) == (False, "length")


def test_an_empty_reply_is_asked_for_once_more() -> None:
    model = ScriptedModel(calls(lookup("mill")), " \n", "In 1911.")
    result = Run(model)()
    assert model.sent[2][0][-1] == Message("user", EMPTY_REPLY)
    assert result.reply_text == "In 1911."
    assert result.warnings == ("the model's reply was empty; asking again",)


def test_an_empty_first_reply_is_asked_again_without_a_second_user_message() -> None:
    model = ScriptedModel("", "In 1911.")
    Run(model)()
    assert model.sent[0] == model.sent[1]


def test_two_empty_replies_are_no_answer() -> None:
    model = ScriptedModel(calls(lookup("mill")), "", Turn("", finish="cut"))
    result = Run(model)()
    assert result.reply_text == ""
    assert len(model.sent) == 3
    assert result.warnings[-1] == "the model's reply was empty or incomplete twice"


def test_an_error_of_the_model_is_raised_and_the_conversation_so_far_is_kept() -> None:
    run = Run(ScriptedModel(calls(lookup("mill")), Unreachable("gone")))
    with pytest.raises(Unreachable):
        run()
    assert [message.role for message in run.transcript.messages] == ["system", "user", "assistant", "tool"]
    assert run.transcript.usage.prompt_tokens == 100


def test_a_stream_without_a_reply_is_an_error_of_the_provider() -> None:
    class Silent(ScriptedModel):
        async def stream(self, messages: Any, tools: Any, **options: Any) -> Any:
            del messages, tools, options
            if self.sent:
                yield None

    with pytest.raises(ProviderError, match="scripted ended its stream without a reply"):
        Run(Silent("never"))()


def test_a_cancelled_run_leaves_its_partial_text_and_closes_the_stream() -> None:
    run = Run(ScriptedModel(calls(lookup("mill")), Turn("The mill burned", hangs=True)))

    async def main() -> None:
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as group:
                group.start_soon(run.loop)
                while run.transcript.partial_text != "The mill burned":
                    await anyio.lowlevel.checkpoint()
                scope.cancel()

    anyio.run(main)
    assert run.transcript.partial_text == "The mill burned"
    assert run.model.closed_early == 1
    assert [message.role for message in run.transcript.messages] == ["system", "user", "assistant", "tool"]


def test_a_run_cancelled_inside_a_tool_leaves_a_valid_conversation() -> None:
    async def hang(_arguments: Mapping[str, Any]) -> ToolResult:
        scopes[0].cancel()
        await anyio.sleep_forever()
        raise AssertionError

    run = Run(ScriptedModel(calls(lookup("mill"), text="Looking.")), registry(hang))
    scopes: list[anyio.CancelScope] = []

    async def main() -> None:
        with anyio.CancelScope() as scope:
            scopes.append(scope)
            await run.loop()

    anyio.run(main)
    assert run.transcript.messages == list(QUESTION)
    assert run.transcript.partial_text == ""


def test_a_listener_that_fails_while_text_arrives_closes_the_stream() -> None:
    model = ScriptedModel("A long enough answer.")

    def fail(_text: str) -> None:
        raise BrokenPipeError

    async def main() -> None:
        await run_loop(model, Transcript(list(QUESTION)), registry(), settings=LoopSettings(20), on_text=fail)

    with pytest.raises(BrokenPipeError):
        anyio.run(main)
    assert model.closed_early == 1


class TokenBudget(NoBudget):
    """A budget of prompt tokens, as a fake."""

    def __init__(self, tokens: int, nearly: int = 0) -> None:
        self.left = tokens
        self._nearly = nearly

    def check(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> None:
        del messages, tools
        if self.left <= 0:
            raise BudgetExceeded("no tokens are left")

    def nearly_spent(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> bool:
        del messages, tools
        return self.left <= self._nearly

    def record(self, usage: ModelUsage) -> None:
        self.left -= usage.prompt_tokens


def test_a_spent_budget_ends_the_run_before_the_next_call() -> None:
    model = ScriptedModel(calls(lookup("a")), calls(lookup("b")), "never")
    result = Run(model, budget=TokenBudget(200))()
    assert len(model.sent) == 2
    assert result.reply_text == ""
    assert result.stopped_by == "budget"
    assert result.warnings == ("no tokens are left",)


def test_a_nearly_spent_budget_ends_the_gathering_and_an_answer_is_written() -> None:
    model = ScriptedModel(calls(lookup("a")), "What there is.")
    result = Run(model, budget=TokenBudget(200, nearly=100))()
    assert model.choices == ["auto", "none"]
    assert result.reply_text == "What there is."
    assert result.stopped_by == "budget"


SCRIPTS = st.lists(
    st.one_of(
        st.sampled_from(["", "Text."]),
        st.just(Unreachable("gone")),
        st.builds(
            Turn,
            st.sampled_from(["", "Text."]),
            st.lists(
                st.builds(
                    ToolCall,
                    st.sampled_from(["a", "b"]),
                    st.sampled_from(["lookup", "nope"]),
                    st.one_of(
                        st.just('{"q": "x"}'), st.just("{"), st.integers(0, 99).map(lambda n: json.dumps({"q": str(n)}))
                    ),
                ),
                max_size=4,
            ).map(tuple),
            st.sampled_from([None, "cut", "length"]),
        ),
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=examples(60), deadline=None)
@given(SCRIPTS, st.integers(1, 6))
def test_any_script_ends_within_its_turns_and_leaves_a_valid_conversation(
    script: list[str | Turn | AskyError], max_turns: int
) -> None:
    run = Run(ScriptedModel(*script), limits=LoopSettings(max_turns=max_turns))
    try:
        result: LoopResult | None = run()
    except Unreachable:
        result = None
    assert len(run.model.sent) <= max_turns + 1
    messages = list(run.transcript.messages)
    while messages:
        message = messages.pop(0)
        for call in message.tool_calls:
            assert messages.pop(0).tool_call_id == call.id
    if result is not None:
        assert result.reply_text.strip() or result.warnings


def test_a_note_of_the_user_follows_the_results_and_leads_the_next_call() -> None:
    waiting = [[], ["Only the north mill.", "And be brief."]]
    model = ScriptedModel(calls(lookup("mill")), "In 1911.")
    transcript = Transcript(list(QUESTION))

    async def loop() -> LoopResult:
        return await run_loop(
            model, transcript, registry(), settings=LoopSettings(20), notes=lambda: waiting.pop(0) if waiting else []
        )

    result = anyio.run(loop)
    assert result.reply_text == "In 1911."
    sent = model.sent[1][0]
    assert [each.role for each in sent] == ["system", "user", "assistant", "tool", "user"]  # roles alternate
    assert "Only the north mill." in sent[-1].content
    assert sent[-1].content.endswith("And be brief.")
    assert [noted_text(each) for each in transcript.work if each.role == "user"] == [
        "Only the north mill.",
        "And be brief.",
    ]


def test_a_note_before_the_first_call_is_sent_with_the_question() -> None:
    waiting = [["The one in Ulm."]]
    model = ScriptedModel("In 1911.")
    transcript = Transcript(list(QUESTION))

    async def loop() -> LoopResult:
        return await run_loop(
            model, transcript, registry(), settings=LoopSettings(20), notes=lambda: waiting.pop(0) if waiting else []
        )

    anyio.run(loop)
    sent = model.sent[0][0]
    assert [each.role for each in sent] == ["system", "user"]
    assert sent[1].content.startswith("When did the mill burn?\n\n")
    assert sent[1].content.endswith("The one in Ulm.")
    assert [noted_text(each) for each in transcript.work[:1]] == ["The one in Ulm."]


def test_the_request_to_answer_now_follows_a_note_too() -> None:
    waiting = [[], ["Hurry."]]
    model = ScriptedModel(calls(lookup("mill")), "In 1911.")
    transcript = Transcript(list(QUESTION))

    async def loop() -> LoopResult:
        return await run_loop(
            model, transcript, registry(), settings=LoopSettings(2), notes=lambda: waiting.pop(0) if waiting else []
        )

    anyio.run(loop)
    last = model.sent[1][0][-1]
    assert last.role == "user"
    assert last.content.index("Hurry.") < last.content.index(ANSWER_NOW)
