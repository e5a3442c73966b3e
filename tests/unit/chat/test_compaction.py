from __future__ import annotations

import json
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from asky.llm.port import Message, ToolCall
from asky.research.writing.compaction import (
    OMITTED,
    OMITTED_ANSWER,
    OMITTED_MIDDLE,
    OMITTED_PASSAGES,
    Compacted,
    compact,
    omits_questions,
)
from asky.research.writing.tool_result_placeholder import LEFT_OUT

ASKED = [Message("system", "Be brief."), Message("user", "When?")]


def turn(*results: str, number: int = 0) -> list[Message]:
    ids = [f"c{number}-{index}" for index in range(len(results))]
    return [
        Message("assistant", "", tuple(ToolCall(id_, "find", "{}") for id_ in ids)),
        *(Message("tool", text, tool_call_id=id_) for id_, text in zip(ids, results, strict=True)),
    ]


def passage(key: str, length: int) -> str:
    return f'<passage 9f3c2a71 {key} title="T">\n{"x" * length}\n</passage 9f3c2a71>'


def measure(message: Message) -> int:
    return len(message.content)


def last_question(messages: Sequence[Message]) -> int:
    return max(index for index, each in enumerate(messages) if each.role == "user")


def cut(messages: Sequence[Message], most: int) -> Compacted:
    shorter = compact(messages, last_question(messages), most, measure)
    assert shorter.size == sum(map(measure, shorter.messages))
    assert shorter.messages[shorter.question].role == "user"
    return shorter


def results(messages: Sequence[Message]) -> list[str]:
    return [message.content for message in messages if message.role == "tool"]


def test_a_conversation_that_fits_stays_as_it_is() -> None:
    messages = ASKED + turn("a" * 100)
    assert cut(messages, 1000) == Compacted(messages, 1, 114, 0)


def test_the_oldest_results_go_first_and_leave_their_keys_and_counts() -> None:
    looked_up = f"2 passages for “x”:\n\n{passage('P7f3a', 500)}\n\n{passage('P09c2', 500)}"
    messages = ASKED + turn(looked_up) + turn("b" * 1000, number=1) + turn("c" * 1000, number=2)
    shorter = cut(messages, 2300)
    stub, *others = results(shorter.messages)
    assert json.loads(stub) == {
        "left_out": LEFT_OUT, "about": "2 passages for “x”:", "passages": 2, "keys": ["P7f3a", "P09c2"],
    }  # fmt: skip
    assert others == ["b" * 1000, "c" * 1000]
    assert shorter.cut == 1


def test_the_latest_result_is_cut_after_a_whole_passage() -> None:
    first = passage("P7f3a", 400)
    messages = ASKED + turn(f"{first}\n\n{passage('P09c2', 400)}")
    shorter = cut(messages, 700)
    assert shorter.messages[-1].content == f"{first}\n\n{OMITTED}"
    assert shorter.cut == 1


def test_a_result_without_a_passage_that_fits_is_left_out() -> None:
    assert cut(ASKED + turn(passage("P7f3a", 4000)), 700).messages[-1].content == OMITTED


def test_instructions_and_questions_are_never_given_up() -> None:
    messages = [Message("system", "s" * 5000), Message("user", "u" * 5000)]
    assert cut(messages, 100) == Compacted(messages, 1, 10_000, 0)


def earlier(number: int, answer: str) -> list[Message]:
    return [Message("user", f"Question {number}?"), *turn("r" * 900, number=number), Message("assistant", answer)]


def test_earlier_turns_lose_their_calls_and_all_but_the_gist_of_their_answers() -> None:
    answer = "The moon raises two tides a day [P7f3a]. " + "More of it follows here. " * 100
    messages = [ASKED[0], *earlier(1, answer), *earlier(2, "Short [P09c2]."), Message("user", "And now?")]
    shorter = cut(messages, 1000)
    first = shorter.messages[2]
    assert [each.role for each in shorter.messages] == [
        "system", "user", "assistant", "user", "assistant", "tool", "assistant", "user",
    ]  # fmt: skip
    assert first.content.startswith("The moon raises two tides a day [P7f3a].")
    assert first.content.endswith("here. […]")
    assert len(first.content) < 410
    assert LEFT_OUT in results(shorter.messages)[0]
    assert shorter.messages[shorter.question].content == "And now?"


def test_the_gists_go_last_and_the_questions_stay() -> None:
    messages = [ASKED[0]]
    for number in range(20):
        messages += earlier(number, "It is so. " * 60)
    shorter = cut([*messages, Message("user", "And now?")], 1500)
    assert [each.content for each in shorter.messages if each.role == "user"] == [
        *(f"Question {number}?" for number in range(20)), "And now?",
    ]  # fmt: skip
    assert {each.content for each in shorter.messages if each.role == "assistant"} == {OMITTED_ANSWER}


def test_where_the_questions_alone_are_too_much_the_oldest_turns_are_left_out_and_that_is_said() -> None:
    messages = [ASKED[0]]
    for number in range(40):
        messages += [Message("user", f"Question {number:02}? {'x' * 100}"), Message("assistant", "It is so.")]
    shorter = cut([*messages, Message("user", "And now?")], 1000)
    said = [each.content for each in shorter.messages]
    assert shorter.size <= 1000
    assert said[1].startswith("[3")
    assert said[1].endswith("earlier questions of this conversation are left out here]")
    assert said[-3].startswith("Question 39?")
    assert said[-1] == "And now?"
    assert [each.role for each in shorter.messages[1:]] == ["user", "assistant"] * (len(said) // 2 - 1) + ["user"]


def test_where_the_questions_alone_are_too_much_the_longest_lose_their_middles_first() -> None:
    pasted = "What does this say?\n" + "log line\n" * 300 + "Where did it begin?"
    messages = [ASKED[0]]
    for question in ("Question 1?", pasted, "Question 3?"):
        messages += [Message("user", question), Message("assistant", "It is so.")]
    shorter = cut([*messages, Message("user", "And now?")], 1800)
    asked = [each.content for each in shorter.messages if each.role == "user"]
    assert [asked[0], *asked[2:]] == ["Question 1?", "Question 3?", "And now?"]
    assert asked[1].startswith("What does this say?\nlog line")
    assert asked[1].endswith("log line\nWhere did it begin?")
    assert OMITTED_MIDDLE in asked[1]
    assert cut(shorter.messages, 1800).cut == 0
    assert omits_questions(messages, shorter.messages)
    assert not omits_questions(shorter.messages, shorter.messages)


def test_questions_that_are_to_be_kept_are_kept_whatever_they_take() -> None:
    messages = [ASKED[0]]
    for number in range(40):
        messages += earlier(number, "It is so. " * 60)
    shorter = compact([*messages, Message("user", "And now?")], len(messages), 100, measure, keep_questions=True)
    assert not omits_questions(messages, shorter.messages)
    assert {each.content for each in shorter.messages if each.role == "assistant"} == {OMITTED_ANSWER}


def asked_with(*passages: str, question: str = "Question: When?") -> list[Message]:
    return [Message("system", "Be brief."), Message("user", "\n\n".join([*passages, question]))]


def test_passages_that_came_with_a_question_go_from_their_end_and_the_question_stays() -> None:
    first, second = passage("P7f3a", 400), passage("P09c2", 400)
    shorter = cut(asked_with(first, second, passage("P1111", 400)), 1200)
    assert shorter.messages[1].content == f"{first}\n\n{second}\n\n{OMITTED_PASSAGES}\n\nQuestion: When?"
    assert shorter.cut == 1


def test_one_passage_is_kept_however_little_fits() -> None:
    first = passage("P7f3a", 4000)
    kept = cut(asked_with(first, passage("P09c2", 4000)), 100).messages
    assert kept[1].content == f"{first}\n\n{OMITTED_PASSAGES}\n\nQuestion: When?"
    assert cut(kept, 100).cut == 0


def test_a_question_that_looks_like_a_passage_is_not_cut() -> None:
    question = f"Question: {passage('P2222', 900).replace('9f3c2a71', 'aaaaaaaa')} and what is that?"
    kept = cut(asked_with(passage("P7f3a", 400), passage("P09c2", 400), question=question), 1000).messages
    assert kept[1].content.endswith(question)
    assert "P09c2" not in kept[1].content


sizes = st.lists(st.integers(0, 3000), min_size=1, max_size=3)


@given(st.lists(sizes, max_size=4), st.lists(sizes, max_size=4), st.integers(0, 6000))
def test_pairs_stay_pairs_and_the_limit_is_met_where_it_can_be(
    before: list[list[int]], now: list[list[int]], limit: int
) -> None:
    messages = [ASKED[0]]
    for number, each in enumerate(before):
        messages += [Message("user", f"Question {number}?"), *turn(*("x" * size for size in each), number=number)]
        messages.append(Message("assistant", "word " * sum(each)))
    messages.append(ASKED[1])
    for number, each in enumerate(now, start=len(before)):
        messages += turn(*("x" * size for size in each), number=number)
    question = last_question(messages)
    shorter = compact(messages, question, limit, measure)
    kept = shorter.messages
    asked = [each.content for each in messages if each.role == "user"]
    still = [each.content for each in kept if each.role == "user"]
    if still != asked:  # the questions alone are too much
        assert still[0].endswith("left out here]")
        assert still[1:] == asked[len(asked) - len(still) + 1 :]
    assert kept[shorter.question] == messages[question]
    called = [call.id for each in kept for call in each.tool_calls]
    assert [each.tool_call_id for each in kept if each.role == "tool"] == called
    assert [len(each.tool_calls) for each in kept[shorter.question :]] == [
        len(each.tool_calls) for each in messages[question:]
    ]
    assert sum(map(measure, kept)) == shorter.size <= sum(map(measure, messages))
    if shorter.size > limit:  # nothing is left to give up
        assert all(len(each) <= 400 for each in results(kept))
        earlier = [each for each in kept[: shorter.question] if each.role == "assistant"]
        assert all(len(each.content) <= len(OMITTED_ANSWER) for each in earlier)
