from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.research.shortlist_examine import (
    PASSAGE_CHARS,
    PASSAGES,
    ExaminedQuestion,
    card_of,
    examine,
    has_abstract,
    read_question,
)
from asky.research.shortlist_score import MIN_MEANING, RankedCandidate, counted_meaning, preference, score
from asky.search.port import Candidate, ServiceRank

TODAY = date(2026, 11, 1)
ENGLISH = "Some of the bats that hunt at night are after moths, which they find by the echo of their calls."


def question(text: str = "Which bats hunt moths?") -> ExaminedQuestion:
    return read_question(text, ["bats", "bats and caves", "moths at night", "rivers"])


def scored(
    place: int | None,
    meaning: float | None,
    text: str = "bats hunt moths",
    *,
    title: str = "",
    asked: ExaminedQuestion | None = None,
) -> float:
    asked = asked or question()
    entry = RankedCandidate(Candidate("https://x.org/", title), place, meaning, examine(text, asked))
    best = RankedCandidate(Candidate("https://y.org/"), 0, meaning, examine("bats hunt moths", asked))
    return score(asked, [entry, best], TODAY)[0].score


def test_rare_terms_weigh_more() -> None:
    weights = question().weights

    assert weights["moth"] > weights["bat"]
    assert set(weights) == {"bat", "hunt", "moth"}


@pytest.mark.parametrize(
    ("text", "wants"),
    [
        ("What is the latest on bats?", True),
        ("What changed this year?", True),
        ("How many bats are there today?", True),
        ("What was the latest in 2019?", False),
        ("How do bats hunt?", False),
        ("Which lasted longest?", False),
    ],
)
def test_a_question_that_asks_for_what_is_new_is_told(text: str, wants: bool) -> None:
    assert question(text).wants_recent is wants


def test_each_feature_lifts_a_candidate() -> None:
    plain = scored(5, 0.4)

    assert scored(5, 0.5) > plain
    assert scored(0, 0.4) > plain > scored(None, 0.4)
    assert scored(5, 0.4, title="Bats that hunt moths") > plain > scored(5, 0.4, "rivers and stones")


def test_a_point_of_meaning_outweighs_everything_else() -> None:
    assert scored(None, 0.8, "rivers") > scored(0, 0.35, "bats hunt moths", title="bats hunt moths")


def test_without_vectors_the_order_of_search_decides_between_equal_texts() -> None:
    assert scored(0, None) > scored(1, None) > scored(None, None)


def test_what_is_read_first_depends_on_the_card_and_on_search() -> None:
    assert preference(0, 0.3) > preference(30, 0.3) > preference(30, 0.1)
    assert preference(0, None) > preference(1, None) > preference(None, None)
    assert preference(None, 0.5) == pytest.approx(0.7 * 0.5)  # the share of each is a measured one
    assert preference(0, 0.0) == pytest.approx(0.3)


def test_a_card_is_one_short_line() -> None:
    assert card_of(Candidate("https://x.org/", "Bats\n at night", "They\thunt.")) == "Bats at night. They hunt."
    assert card_of(Candidate("https://x.org/")) == ""
    assert len(card_of(Candidate("https://x.org/", "t" * 1000, "s" * 9000))) == 700


def test_only_papers_with_a_real_abstract_can_stand_unread() -> None:
    abstract = "Bats hunt moths with calls that echo from wings. " * 6

    assert has_abstract(Candidate("https://x.org/", snippet=abstract, kind="paper"))
    assert not has_abstract(Candidate("https://x.org/", snippet=abstract))
    assert not has_abstract(Candidate("https://x.org/", snippet="Bats hunt moths.", kind="paper"))


def test_the_passages_are_those_that_hold_most_of_the_question() -> None:
    filler = "Rivers carry stones to the sea in spring. " * 40
    found = examine(f"{filler}Few bats hunt moths in the rain. {filler}", question())

    assert any("bats hunt moths" in passage for passage in found.passages)
    assert found.counts == {"bat": 1, "hunt": 1, "moth": 1}


@given(st.text(max_size=3000))
def test_any_text_can_be_looked_over(text: str) -> None:
    found = examine(text, question())

    assert len(found.passages) <= PASSAGES
    assert all(passage in text and 0 < len(passage) <= PASSAGE_CHARS for passage in found.passages)


def test_a_text_without_spaces_is_cut_into_shorter_passages() -> None:
    found = examine("蝙蝠は蛾を捕まえる。" * 100, read_question("蝙蝠は蛾をどう捕まえるか", ["蝙蝠"]))

    assert all(0 < len(passage) <= 200 for passage in found.passages)
    assert found.counts


def test_providers_that_agree_are_named() -> None:
    asked = question()
    candidate = Candidate(
        "https://x.org/", found=(ServiceRank("brave", 4, "q"), ServiceRank("exa", 2, "q"), ServiceRank("brave", 9, "r"))
    )

    (only,) = score(asked, [RankedCandidate(candidate, 0, None, examine("bats", asked))], TODAY)

    assert only.reasons == ("found by brave and exa, at best as number 2", "1 of 3 terms of the question")


def test_a_question_without_terms_can_be_scored() -> None:
    asked = read_question("Who is it?", [])

    (only,) = score(asked, [RankedCandidate(Candidate("https://x.org/"), None, 0.5, examine("bats", asked))], TODAY)

    assert only.score == 0.5


@given(st.floats(-1.0, 1.0))
def test_only_in_another_language_does_a_low_cosine_count_as_the_least(cosine: float) -> None:
    assert counted_meaning(cosine, is_foreign=False) == cosine
    assert counted_meaning(cosine, is_foreign=True) == max(cosine, MIN_MEANING)


@given(st.floats(-1.0, MIN_MEANING), st.floats(-1.0, MIN_MEANING))
def test_pages_in_another_language_keep_the_order_of_search(first: float, second: float) -> None:
    asked = question("Welche Fledermäuse jagen in der Nacht und warum?")

    assert scored(0, first, ENGLISH, asked=asked) > scored(1, second, ENGLISH, asked=asked)


def test_a_model_that_knows_both_languages_orders_them_by_meaning() -> None:
    asked = question("Welche Fledermäuse jagen in der Nacht und warum?")

    assert scored(9, 0.7, ENGLISH, asked=asked) > scored(0, 0.3, ENGLISH, asked=asked)
