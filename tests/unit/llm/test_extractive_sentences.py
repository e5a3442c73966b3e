from __future__ import annotations

from dataclasses import dataclass

import pytest

from asky.llm.extractive.sentences import read_sentences


@dataclass(frozen=True)
class Passage:
    text: str
    key: str = "P0001"
    title: str = "Mills"


def quotable(text: str) -> list[str]:
    return [sentence.quote for sentence in read_sentences([Passage(text)]) if sentence.quotable]


def test_prose_is_quotable_sentence_by_sentence() -> None:
    text = "The mill burned in 1911. Nobody was hurt, as the\nnight shift had ended."
    assert quotable(text) == ["The mill burned in 1911.", "Nobody was hurt, as the night shift had ended."]
    for sentence in read_sentences([Passage(text)]):
        assert text[sentence.span.start : sentence.span.end] == sentence.text


@pytest.mark.parametrize(
    "text",
    [
        "# The history of the old mill",
        "History of the mill\n===================",
        "| Year | Event of note | Source of it |",
        "1911\tthe mill burned\tdown to the ground",
        "It burned.",
        "[12] Byrne, A. (1911). The fire at the mill. Clare Press.",
        "Byrne, A. The fire at the mill. doi:10.1000/182 is where it is.",
        "See the report at https://example.org/reports/1911/fire",
        "These are the causes of the fire:",
        "For more information, see the report on the fire.",
        "$ mill --burn --year 1911 now",
        "for (i = 0; i < n; i++) { burn(mills[i]); }",
        "**Why the mill burned down in 1911.**",
        "![a picture of the burning mill](fire.png)",
        "As shown in [P7f3a], the mill burned in 1911.",
        "1911 1912 1913 1914 1915 1916 a b c",
        "mill " * 100 + ".",
        "x" * 5_000 + " burned in the year of 1911.",
    ],
)
def test_what_is_no_prose_is_not_quotable(text: str) -> None:
    assert quotable(text) == []


def test_the_title_repeated_is_not_quotable() -> None:
    passage = Passage("The old mill at Clare. The old mill at Clare burned.", title="The old mill at Clare")
    assert [s.quote for s in read_sentences([passage]) if s.quotable] == ["The old mill at Clare burned."]


def test_fenced_code_is_not_quotable_even_where_it_reads_like_prose() -> None:
    text = (
        "The mill burned in 1911.\n\n```\nThis comment is a full sentence here.\n```\n\nIt was rebuilt the year after."
    )
    assert quotable(text) == ["The mill burned in 1911.", "It was rebuilt the year after."]
    assert quotable("```\nThis fence is never closed again.\nNor is this line of it.") == []


def test_a_list_item_is_quotable_without_its_marker() -> None:
    text = "Causes:\n\n- a spark from the grindstone\n2. Dry flour dust in the loft."
    sentences = [sentence for sentence in read_sentences([Passage(text)]) if sentence.quotable]
    assert [sentence.quote for sentence in sentences] == ["a spark from the grindstone", "Dry flour dust in the loft."]
    assert [sentence.complete for sentence in sentences] == [False, True]


def test_reference_numbers_of_the_source_are_not_shown() -> None:
    assert quotable("The mill [a water mill] burned[3] in 1911 [4, 5].") == ["The mill [a water mill] burned in 1911."]


def test_a_sentence_that_an_earlier_passage_holds_comes_once() -> None:
    text = "The mill burned in 1911. It was rebuilt the year after."
    sentences = read_sentences([Passage(text), Passage("It was  rebuilt the year after. Then it was sold again.")])
    assert [(s.passage, s.quote) for s in sentences] == [
        (0, "The mill burned in 1911."),
        (0, "It was rebuilt the year after."),
        (1, "Then it was sold again."),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "工場は1911年に火事で焼けた。",
        "Мельница сгорела в 1911 году.",
        "चक्की 1911 में जल गई थी।",
        "المطحنة احترقت في عام 1911.",
    ],
)
def test_prose_of_any_script_is_quotable(text: str) -> None:
    assert quotable(text) == [text]
