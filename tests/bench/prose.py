"""English text that is there wherever the tests run: Python's own reference, and what libraries say of themselves."""

from __future__ import annotations

import random
import re
import sysconfig
from collections.abc import Iterator
from functools import cache
from pathlib import Path

# They come with sentence-transformers, and say more of themselves than the others do.
_LIBRARIES = ("networkx", "numpy", "scipy", "sklearn", "sympy", "torch", "transformers")
_DOCSTRING = re.compile(r'"""(.*?)"""', re.DOTALL)
_BLANK_LINE = re.compile(r"\n\s*\n")
_ENGLISH_WORD = re.compile(r"[(\"'`]*[A-Za-z][a-z]*(?:['-][a-z]+)*[.,;:)?!\"'`]*")
_FEWEST_WORDS = 12
_SHARE_OF_WORDS = 0.85


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


def real_documents(characters: int) -> Iterator[str]:
    """Documents of so many characters or a little more, of sentences as people wrote them, no paragraph twice.

    They have 9 million characters in all; the rest, which is less than a document, is left out.
    """
    document: list[str] = []
    for paragraph in _paragraphs():
        document.append(paragraph)
        if sum(map(len, document)) >= characters:
            yield "\n\n".join(document)
            document = []


@cache
def _paragraphs() -> tuple[str, ...]:
    """The paragraphs of the libraries' docstrings that are prose: no tables, no lists of parameters, no code."""
    folders = [Path(sysconfig.get_path("purelib"), name) for name in _LIBRARIES]
    modules = (each.read_text("utf-8") for folder in folders for each in sorted(folder.rglob("*.py")))
    found = (
        " ".join(paragraph.split())
        for module in modules
        for docstring in _DOCSTRING.findall(module)
        for paragraph in _BLANK_LINE.split(docstring)
    )
    return tuple(dict.fromkeys(each for each in found if _is_prose(each)))


def _is_prose(paragraph: str) -> bool:
    words = paragraph.split()
    english = sum(1 for word in words if _ENGLISH_WORD.fullmatch(word))
    return len(words) >= _FEWEST_WORDS and english >= _SHARE_OF_WORDS * len(words)


@cache
def _reference() -> str:
    from pydoc_data.topics import topics

    return "\n\n".join(text for _, text in sorted(topics.items()))


@cache
def _words() -> list[str]:
    return [word for word in _reference().split() if word.isalpha()]
