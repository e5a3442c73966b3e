from __future__ import annotations

import pytest

from asky.text.follow_ups import is_follow_up, names_topic


@pytest.mark.parametrize(
    "question",
    [
        "And why?", "And how often?", "Since when?", "Is it so?", "?",
        "Und warum?", "Und wie oft?", "Seit wann?", "Was ist das?", "Wie viele gibt es davon?", "Und für wen?",
        "Et pourquoi ?", "Depuis quand ?", "Qu'est-ce que c'est ?", "Y en a-t-il d'autres ?", "C’est où ?",
        "¿Y por qué?", "Y por que?", "¿Desde cuándo?", "¿Cómo es eso?", "¿Y ellos?",
    ],
)  # fmt: skip
def test_a_question_without_a_topic_is_a_follow_up(question: str) -> None:
    assert is_follow_up(question)
    assert not names_topic(question)


@pytest.mark.parametrize(
    "question",
    [
        "What about the sun?", "How long does that take?", "And in winter?",
        "Und für die Sonne?", "Gilt das auch für Seen?", "Wie hoch ist sie?",
        "Et le soleil ?", "Quelle est leur hauteur ?", "Comment ça marche ?",
        "¿Y el sol?", "¿Cuál es su altura?", "¿Y en invierno?",
    ],
)  # fmt: skip
def test_a_question_with_little_of_a_topic_that_points_back_is_a_follow_up(question: str) -> None:
    assert is_follow_up(question)
    assert names_topic(question)


@pytest.mark.parametrize(
    "question",
    [
        "What is tea?", "Who was Bach?", "Is war ever just?", "What is man?",
        "Did the moon and the sun raise the tide?",
        "Was ist Eis?", "Warum ist der Himmel blau?", "Wie entstehen die Gezeiten?",
        "Qu'est-ce que le pain ?", "C'est quoi l'eau ?", "Combien de marées y a-t-il par jour ?",
        "¿Qué es la fe?", "¿Por qué el cielo es azul?", "¿Cuántas mareas hay al día?",
        "Почему небо голубое?", "潮は何時ですか", "天気", "Cos'è il pane?",
    ],
)  # fmt: skip
def test_a_question_that_names_its_topic_stands_alone(question: str) -> None:
    assert not is_follow_up(question)
    assert names_topic(question)
