from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from asky.chat.compaction import OMITTED, OMITTED_PASSAGES, compact
from asky.llm.port import Message, ToolCall

ASKED = [Message("system", "Be brief."), Message("user", "When?")]


def turn(*results: str, number: int = 0) -> list[Message]:
    ids = [f"c{number}-{index}" for index in range(len(results))]
    return [
        Message("assistant", "", tuple(ToolCall(id_, "find", "{}") for id_ in ids)),
        *(Message("tool", text, tool_call_id=id_) for id_, text in zip(ids, results, strict=True)),
    ]


def passage(key: str, length: int) -> str:
    return f'<passage 9f3c2a71 {key} title="T">\n{"x" * length}\n</passage 9f3c2a71>'


def test_a_conversation_that_fits_stays_as_it_is() -> None:
    messages = ASKED + turn("a" * 100)
    assert compact(messages, 1000) == (messages, 0)


def test_the_oldest_results_go_first() -> None:
    messages = ASKED + turn("a" * 1000) + turn("b" * 1000, number=1) + turn("c" * 1000, number=2)
    kept, shortened = compact(messages, 2300)
    assert [message.content for message in kept if message.role == "tool"] == [OMITTED, "b" * 1000, "c" * 1000]
    assert shortened == 1


def test_the_latest_result_is_cut_after_a_whole_passage() -> None:
    first = passage("P7f3a", 400)
    messages = ASKED + turn(f"{first}\n\n{passage('P09c2', 400)}")
    kept, shortened = compact(messages, 700)
    assert kept[-1].content == f"{first}\n\n{OMITTED}"
    assert shortened == 1


def test_a_result_without_a_passage_that_fits_is_left_out() -> None:
    kept, _ = compact(ASKED + turn(passage("P7f3a", 4000)), 700)
    assert kept[-1].content == OMITTED


def test_what_nobody_looked_up_is_never_given_up() -> None:
    messages = [Message("system", "s" * 5000), Message("user", "u" * 5000)]
    assert compact(messages, 100) == (messages, 0)


def asked_with(*passages: str, question: str = "Question: When?") -> list[Message]:
    return [Message("system", "Be brief."), Message("user", "\n\n".join([*passages, question]))]


def test_passages_that_came_with_a_question_go_from_their_end_and_the_question_stays() -> None:
    first, second = passage("P7f3a", 400), passage("P09c2", 400)
    kept, shortened = compact(asked_with(first, second, passage("P1111", 400)), 1200)
    assert kept[1].content == f"{first}\n\n{second}\n\n{OMITTED_PASSAGES}\n\nQuestion: When?"
    assert shortened == 1


def test_one_passage_is_kept_however_little_fits() -> None:
    first = passage("P7f3a", 4000)
    kept, _ = compact(asked_with(first, passage("P09c2", 4000)), 100)
    assert kept[1].content == f"{first}\n\n{OMITTED_PASSAGES}\n\nQuestion: When?"
    assert compact(kept, 100) == (kept, 0)


def test_a_question_that_looks_like_a_passage_is_not_cut() -> None:
    question = f"Question: {passage('P2222', 900).replace('9f3c2a71', 'aaaaaaaa')} and what is that?"
    kept, _ = compact(asked_with(passage("P7f3a", 400), passage("P09c2", 400), question=question), 1000)
    assert kept[1].content.endswith(question)
    assert "P09c2" not in kept[1].content


@given(st.lists(st.lists(st.integers(0, 3000), min_size=1, max_size=3), max_size=4), st.integers(0, 6000))
def test_every_call_keeps_its_place_and_the_limit_is_met_where_it_can_be(sizes: list[list[int]], limit: int) -> None:
    messages = list(ASKED)
    for number, turn_sizes in enumerate(sizes):
        messages += turn(*("x" * size for size in turn_sizes), number=number)
    kept, shortened = compact(messages, limit)
    assert [(message.role, message.tool_call_id, message.tool_calls) for message in kept] == [
        (message.role, message.tool_call_id, message.tool_calls) for message in messages
    ]
    assert shortened == sum(one != other for one, other in zip(kept, messages, strict=True))
    assert all(len(one.content) <= len(other.content) for one, other in zip(kept, messages, strict=True))
    if sum(len(message.content) for message in kept) > limit:  # nothing is left to give up
        assert all(len(message.content) <= len(OMITTED) for message in kept if message.role == "tool")
