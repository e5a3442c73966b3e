"""What is searched for next."""

from __future__ import annotations

from asky.agent.planning import plan_by_rules


def test_a_pronoun_is_searched_for_with_the_subject_of_the_question_before() -> None:
    first, second = plan_by_rules("What is the Rance barrage and when was it opened?")
    assert (first.text, first.context) == ("What is the Rance barrage", "")
    assert second.context == "rance barrage"
    assert second.queries == ("when was it opened rance barrage",)


def test_a_question_that_refers_to_something_else_itself_explains_no_pronoun() -> None:
    first, second = plan_by_rules("Who wrote it and what is their main finding?")
    assert (first.context, second.context) == ("", "")
    assert second.queries == ()
