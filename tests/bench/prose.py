"""English text of any length that every Python has: its own language reference, as `help()` shows it."""

from __future__ import annotations

import random
from functools import cache


def real_text(characters: int, start: int = 0) -> str:
    """So many characters of prose and lists, from `start` on; no text has over 400,000."""
    return _reference()[start : start + characters]


def shuffled_words(characters: int, seed: int) -> str:
    """About so many characters: the words of the same text in random order, in sentences and paragraphs."""
    draw = random.Random(seed)
    sentences = []
    length = 0
    while length < characters:
        sentence = " ".join(draw.choices(_words(), k=draw.randint(6, 30))) + (". " if draw.random() < 0.9 else ".\n\n")
        sentences.append(sentence)
        length += len(sentence)
    return "".join(sentences)


@cache
def _reference() -> str:
    from pydoc_data.topics import topics

    return "\n\n".join(text for _, text in sorted(topics.items()))


@cache
def _words() -> list[str]:
    return [word for word in _reference().split() if word.isalpha()]
