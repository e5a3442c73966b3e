"""Whether an answer holds the facts that it should."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from asky.evaluation.questions import Fact
from asky.text.terms import words

_MARKER = re.compile(r"\[\d+(?:, ?\d+)*\]")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
"""Thai, Lao, Myanmar, Khmer, kana and Han: written without blanks, so that a fact is a part of a word."""


def missing_facts(answer: str, facts: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the facts of which `answer` holds no form, in order.

    A form is held if its words follow each other in the answer, whatever their case, hyphens, thousands separators and
    punctuation. Citation markers are not part of an answer. It holds "not the Nile" where it should hold "the Nile",
    too: what a sentence says of its words is for the check against its sources.
    """
    text = _MARKER.sub(" ", answer)
    spaced, unspaced = f" {_spaced(text)} ", _unspaced(text)

    def holds(form: str) -> bool:
        if _UNSPACED.search(form):
            return _unspaced(form) in unspaced
        wanted = _spaced(form)
        return f" {wanted} " in spaced if wanted else _unspaced(form) in unspaced

    return tuple(fact for fact in facts if not any(map(holds, fact)))


def _spaced(text: str) -> str:
    found = [part for word in words(text) for part in word.removesuffix("%").split("-")]
    return " ".join(re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", part) for part in found)


def _unspaced(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())
