"""The shortlist where question and page are in different languages: words and vectors say nothing there."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import numpy as np
import numpy.typing as npt
import pytest

from asky.config.schema import ShortlistSettings
from asky.research.shortlist_types import EmbedTexts, Shortlist
from asky.research.source_policy import SourcePolicy
from asky.research.source_shortlist import source_shortlist
from asky.search.port import Candidate
from tests.support.shortlist_web import FakeWeb, page

pytestmark = pytest.mark.anyio

Vectors = npt.NDArray[np.float32]

QUESTIONS = {
    "German": "Was ist die Ursache der Gezeiten im Meer?",
    "French": "Quelle est la cause des marées dans la mer ?",
    "Russian": "В чём причина приливов в море?",
    "Japanese": "海の潮の満ち引きの原因は何ですか?",
    "Arabic": "ما سبب المد والجزر في البحر؟",
}
ENGLISH = "The tides are the rise and fall of the sea. They are caused by the gravity of the moon, number {}."
GERMAN = "Die Gezeiten sind das Steigen und Fallen des Meeres und werden vom Mond verursacht, das ist die Nummer {}."
SAID = "in another language than the question: taken in search order"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class English:
    """An embedding model for which the question is unlike every other text."""

    def __init__(self, question: str) -> None:
        self._question = question

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.asarray([(1.0, 0.0) if text == self._question else (0.05, 0.9987) for text in texts], np.float32)


def without_model(texts: Sequence[str]) -> None:
    return None


def web_of(text: str, count: int = 4) -> FakeWeb:
    found = [Candidate(f"https://site{number}.example/a") for number in range(count)]
    words = [f"{text.format(number)} " + " ".join(f"item{number}x{at}" for at in range(30)) for number in range(count)]
    return FakeWeb({each.url: page(each.url, words[number]) for number, each in enumerate(found)}, found)


async def shortlist(web: FakeWeb, question: str, embed: EmbedTexts | None = None) -> Shortlist:
    return await source_shortlist(
        question,
        search=web.search,
        read=web.read,
        embed=embed or English(question).embed,
        settings=ShortlistSettings(),
        policy=SourcePolicy(),
        today=date(2026, 11, 1),
    )


def urls(made: Shortlist) -> list[str]:
    return [each.candidate.url for each in made.selected]


@pytest.mark.parametrize("language", QUESTIONS)
async def test_english_pages_are_taken_in_search_order_and_the_reason_says_so(language: str) -> None:
    web = web_of(ENGLISH)

    made = await shortlist(web, QUESTIONS[language])

    assert urls(made) == [each.url for each in web.found]
    assert all(SAID in each.reasons for each in made.selected)
    assert made.warnings == ()


@pytest.mark.parametrize("language", QUESTIONS)
async def test_so_they_are_without_an_embedding_model(language: str) -> None:
    web = web_of(ENGLISH)

    made = await shortlist(web, QUESTIONS[language], without_model)

    assert urls(made) == [each.url for each in web.found]
    assert all(SAID in each.reasons for each in made.selected)


async def test_an_english_question_keeps_german_pages() -> None:
    web = web_of(GERMAN)

    assert urls(await shortlist(web, "What causes the tides of the sea?")) == [each.url for each in web.found]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What causes the tides of the sea?", ENGLISH),
        (QUESTIONS["German"], GERMAN),
        (QUESTIONS["Russian"], "Часы работы нашего офиса указаны на следующей странице, номер {}. Позвоните нам."),
        ("neap tide amplitude", GERMAN),
    ],
)
async def test_in_one_language_what_is_about_something_else_is_rejected(question: str, text: str) -> None:
    made = await shortlist(web_of(text), question)

    assert urls(made) == []
    assert {reason for _, reason in made.rejected} == {"not about the question (meaning 0.05)"}


async def test_a_page_that_is_known_to_fit_goes_before_those_in_another_language() -> None:
    question = "What causes the tides of the sea?"
    web = web_of(GERMAN)
    last = web.found[-1].url
    web.pages = {**web.pages, last: page(last, "The tides are caused by the moon, which pulls at the sea. " * 3)}

    def embed(texts: Sequence[str]) -> Vectors:
        return np.asarray([(1.0, 0.0) if "tide" in text else (0.05, 0.9987) for text in texts], np.float32)

    made = await shortlist(web, question, embed)

    assert urls(made) == [last, *(each.url for each in web.found[:-1])]


async def test_of_more_than_can_be_read_those_are_read_that_search_had_first() -> None:
    web = web_of(ENGLISH, 30)
    web.found = [Candidate(each.url, title="The tides of the sea and the moon") for each in web.found]

    def embed(texts: Sequence[str]) -> Vectors:
        likeness = [1.0 if text == QUESTIONS["German"] else 0.19 * (place > 20) for place, text in enumerate(texts)]
        return np.asarray([(each, (1 - each**2) ** 0.5) for each in likeness], np.float32)

    await shortlist(web, QUESTIONS["German"], embed)

    assert set(web.read_urls) == {each.url for each in web.found[:20]}
