"""The states of a session with the library."""

from __future__ import annotations

import pytest

from asky.errors import UsageError
from asky.papers.states import INITIAL, PaperState, encode_state, read_state

ANSWERED = INITIAL.researched("what are tides", ["1", "2"], "An answer.", "r1")


def test_numbers_mean_the_papers_shown_last_whatever_came_after() -> None:
    state = INITIAL.selected(["b", "a"])
    assert (state.numbered("1"), state.numbered("2"), state.numbered("2101.00001")) == ("b", "a", "2101.00001")
    assert state.summarized("a", "About a.").opened("b").numbered("1") == "b"
    assert ANSWERED.opened("2").summarized("1", "About 1.").numbered("2") == "2"
    with pytest.raises(UsageError, match="no paper 3: the last list has 2"):
        state.numbered("3")
    with pytest.raises(UsageError, match="no paper 1: nothing is listed yet"):
        INITIAL.numbered("1")
    assert INITIAL.numbered("2001") == "2001"  # may be a year in a title


def test_an_answer_stays_to_be_improved_and_saved_while_its_papers_are_looked_at() -> None:
    state = ANSWERED.summarized("1", "About 1.").opened("2")
    assert (state.name, state.selected_paper, state.require_answer(), state.require_draft()) == (
        "research",
        "2",
        "what are tides",
        "An answer.",
    )


def test_a_summary_or_a_search_can_be_saved_but_not_improved() -> None:
    for state in (INITIAL.summarized("a", "About a."), INITIAL.searched("tides", ["a"], "1. [a, page 1]")):
        assert state.require_draft()
        with pytest.raises(UsageError, match="nothing to improve"):
            state.require_answer()


def test_nothing_found_clears_the_state() -> None:
    assert ANSWERED.selected([]) == ANSWERED.searched("x", [], "") == INITIAL
    with pytest.raises(UsageError, match="nothing to save"):
        INITIAL.require_draft()
    with pytest.raises(UsageError, match="nothing to save"):
        ANSWERED.selected(["a"]).require_draft()


@pytest.mark.parametrize("state", [INITIAL, ANSWERED, ANSWERED.opened("2"), INITIAL.summarized("a", "About a.")])
def test_a_state_is_kept_in_the_settings_of_a_session(state: PaperState) -> None:
    assert read_state({"model": "far", "papers": encode_state(state)}) == state


@pytest.mark.parametrize("settings", [None, {}, {"papers": 1}, {"papers": {"name": "elsewhere"}}, {"papers": {}}])
def test_settings_without_a_state_that_can_be_read_are_the_initial_one(settings: dict[str, object] | None) -> None:
    assert read_state(settings) == INITIAL
