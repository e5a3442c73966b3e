from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.text.languages import are_foreign, languages_of

ENGLISH = "The tides are the rise and fall of the sea, and they are caused by the moon and the sun."
TOO_LITTLE = languages_of("tides")
QUESTIONS = {
    "en": "What causes the tides of the sea?",
    "de": "Was ist die Ursache der Gezeiten?",
    "fr": "Quelle est la cause des marées ?",
    "es": "¿Cuál es la causa de las mareas?",
    "it": "Qual è la causa delle maree?",
    "pt": "Qual é a causa das marés?",
    "nl": "Wat is de oorzaak van de getijden?",
    "sv": "Vad är orsaken till tidvattnet?",
    "da": "Hvad er årsagen til tidevandet?",
    "pl": "Jaka jest przyczyna pływów?",
    "cs": "Jaká je příčina přílivu?",
    "fi": "Mikä on vuorovesien syy?",
    "hu": "Miért van az árapály?",
    "ro": "Care este cauza mareelor din mare?",
    "tr": "Gelgitlerin nedeni nedir ve nasıl olur?",
    "id": "Apa yang menyebabkan pasang dan surut?",
    "cyrillic": "В чём причина приливов?",
    "greek": "Ποια είναι η αιτία της παλίρροιας;",
    "japanese": "潮の満ち引きの原因は何ですか?",
    "hangul": "조석은 왜 일어납니까?",
    "arabic": "ما سبب المد والجزر؟",
    "hebrew": "מה הסיבה לגאות ולשפל?",
    "devanagari": "ज्वार का कारण क्या है?",
    "thai": "น้ำขึ้นน้ำลงเกิดจากอะไร",
}


@pytest.mark.parametrize("language", QUESTIONS)
def test_a_question_says_its_language(language: str) -> None:
    assert languages_of(QUESTIONS[language]) == {language}


@pytest.mark.parametrize("language", [each for each in QUESTIONS if each != "en"])
def test_every_other_language_is_foreign_to_english_and_none_to_itself(language: str) -> None:
    found = languages_of(QUESTIONS[language])

    assert are_foreign(found, languages_of(ENGLISH))
    assert not are_foreign(found, found)


def test_han_alone_may_be_chinese_or_japanese() -> None:
    assert languages_of("满潮的原因") == {"chinese", "japanese"}
    assert not are_foreign(languages_of("満潮"), languages_of("満潮は月の引力で起こる。"))


@pytest.mark.parametrize(
    "words",
    ["tides", "neap tide amplitude", "Los Angeles Las Vegas distance", "Die Hard", "El Niño", "En Vogue members"],
)
def test_names_and_single_words_may_be_in_any_latin_language_and_in_no_other_script(words: str) -> None:
    assert languages_of(words) == TOO_LITTLE >= {"en", "de", "fr", "tr"}
    assert not are_foreign(languages_of(words), languages_of(ENGLISH))
    assert are_foreign(languages_of(words), languages_of(QUESTIONS["cyrillic"]))


def test_languages_that_are_much_alike_are_both_possible() -> None:
    swedish = (
        "Våra öppettider står på nästa sida. Ring oss innan du kommer, så att vi kan förbereda de papper som behövs för"
        " skatten på din bil."
    )
    assert languages_of(swedish) == {"da", "sv"}
    assert languages_of("Wie entstehen Gezeiten?") == {"de", "nl"}


def test_a_few_words_of_a_language_among_many_others_say_nothing() -> None:
    names = " ".join(f"wort{chr(97 + at // 26)}{chr(97 + at % 26)}" for at in range(60))

    assert languages_of(f"{names} pour dans") == TOO_LITTLE
    assert languages_of("Mawimbi ya bahari husababishwa na mvuto wa mwezi na jua, na maji hupanda") == TOO_LITTLE


def test_latin_names_and_terms_do_not_make_a_text_latin() -> None:
    assert languages_of("Что такое BERT и transformer?") == {"cyrillic"}
    assert languages_of("What does 満潮 mean in the language of Japan?") == {"en"}
    assert languages_of("Ｗｈａｔ ｉｓ ｔｈｅ ｔｉｄｅ") == {"en"}


@pytest.mark.parametrize("text", ["", " \n", "2 + 2 = 4?", "🙂"])
def test_without_letters_there_is_no_language_and_nothing_is_foreign(text: str) -> None:
    assert languages_of(text) == frozenset()
    assert not are_foreign(languages_of(text), languages_of(ENGLISH))


@given(st.text(max_size=300), st.text(max_size=300))
def test_being_foreign_goes_both_ways_and_never_holds_of_a_text_and_itself(one: str, other: str) -> None:
    first, second = languages_of(one), languages_of(other)

    assert are_foreign(first, second) is are_foreign(second, first)
    assert not are_foreign(first, first)
    assert all(each == each.lower() and each for each in first)
