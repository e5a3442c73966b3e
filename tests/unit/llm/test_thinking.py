"""Thinking is kept out of the answer, whatever the pieces, and nothing else is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.llm.endpoint.thinking import ThinkingSplitter
from tests.support.timing import check_linear


def split(*pieces: str, starts_inside: bool = False) -> tuple[str, ThinkingSplitter]:
    splitter = ThinkingSplitter(starts_inside=starts_inside)
    text = "".join([splitter.feed(piece) for piece in pieces])
    return text + splitter.end(), splitter


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("<think>a</think>\n\nHello", "Hello"),
        ("  \n<think>a</think> Hello", "Hello"),
        ("<think></think>Hello", "Hello"),
        ("<think>a<think>b</think>Hello", "Hello"),
        ("One.\n<think>a</think>\nTwo.", "One.\nTwo."),
        ("Hello", "Hello"),
        ("  Hello  ", "  Hello  "),
        ("a < b and <th> and <think", "a < b and <th> and <think"),
        ("Use the tag <think> here", "Use the tag <think> here"),
        ("Write `<think>x</think>`.", "Write `<think>x</think>`."),
        ("```xml\n<think>x</think>\n```\nDone", "```xml\n<think>x</think>\n```\nDone"),
        ("Hello\n<think> is a tag", "Hello\n<think> is a tag"),
        ("<think>never closed", ""),
        ("", ""),
    ],
)
def test_the_answer_is_what_is_not_thinking_in_one_piece_or_in_many(text: str, answer: str) -> None:
    assert split(text)[0] == answer
    assert split(*text)[0] == answer
    assert not split(text)[1].closed_unopened


def test_text_is_given_out_as_soon_as_it_is_certain() -> None:
    splitter = ThinkingSplitter()
    assert splitter.feed("Hello <") == "Hello "
    assert splitter.feed("b> you") == "<b> you"


def test_thinking_without_an_opening_tag_is_dropped_where_it_has_not_been_shown() -> None:
    text, splitter = split("I wonder.\n</think>\n\nHello")
    assert text == "Hello"
    assert splitter.closed_unopened


def test_thinking_that_was_shown_before_its_closing_tag_came_is_noticed() -> None:
    text, splitter = split("I wonder.\n", "</think>", "\n\nHello")
    assert text == "I wonder.\nHello"
    assert splitter.closed_unopened


def test_a_text_known_to_begin_within_thinking_is_held_back_until_that_closes() -> None:
    splitter = ThinkingSplitter(starts_inside=True)
    assert splitter.feed("I wonder</thi") == ""
    assert splitter.feed("nk>\nHello") == "Hello"
    assert splitter.closed_unopened


def test_thinking_that_was_expected_and_did_not_come_was_the_answer() -> None:
    text, splitter = split("Hello", " there", starts_inside=True)
    assert text == "Hello there"
    assert not splitter.closed_unopened
    assert split("<think>a</think>Hello", starts_inside=True)[0] == "Hello"
    assert split("<think>a", starts_inside=True)[0] == ""


TOKENS = st.lists(
    st.sampled_from(["<think>", "</think>", "a", " ", "\n", "```", "`", "<", "/th", "ink>", "b\n"]), max_size=14
)


@given(TOKENS)
def test_with_an_opening_tag_the_answer_does_not_depend_on_the_pieces(tokens: list[str]) -> None:
    text = "<think>x</think>" + "".join(tokens)
    assert split(text)[0] == split(*text)[0] == split("<think>x</think>", *tokens)[0]


@pytest.mark.parametrize("starts_inside", [False, True])
def test_a_long_run_of_backquotes_takes_time_in_proportion(starts_inside: bool) -> None:
    def read(count: int) -> None:
        run = ["```"] * count
        assert split("a ", *run, " b", starts_inside=starts_inside)[0] == "a " + "".join(run) + " b"

    check_linear(read, 3_000)


@pytest.mark.parametrize(
    "unit",
    ["a <think> b ", "```\n<think>x</think>\n```\n", "<think>a</think>\nb\n", "a</think> ", "`</think>` ", "<think\n"],
)
@pytest.mark.parametrize("starts_inside", [False, True])
def test_one_large_piece_takes_time_in_proportion_however_many_tags_are_in_it(unit: str, starts_inside: bool) -> None:
    check_linear(lambda times: split(unit * times, starts_inside=starts_inside), 2_000)


def test_a_fence_in_pieces_hides_a_tag_like_a_whole_one() -> None:
    assert split("`", "`", "`", "", "\n<think>x</think>\n``", "`")[0] == "```\n<think>x</think>\n```"
