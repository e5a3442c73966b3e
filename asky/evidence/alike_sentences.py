"""Sentences of passages as they are compared with those of other sources."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from asky.evidence.verification.quantities import MEASURE_WORDS, Quantity, quantities
from asky.text.sentences import sentence_spans
from asky.text.terms import STOP_WORDS, content_terms, stem, words
from asky.values import Source

_ALIKE = 0.75  # the least share of the long words of the shorter of two sentences that the longer one has
_MIN_CHARS = 20
_MAX_CHARS = 600
_MAX_PASSAGE_CHARS = 6_000  # of a passage that are read, which bounds the time; one of 200 tokens has 1,000

_NEGATIONS = frozenset({"not", "no", "never", "cannot", "without", "neither", "nor", "none"})
_NOT_NEGATED_BEFORE = frozenset({"only", "just", "merely", "doubt", "least", "longer", "more", "less"})
_LIMITING = frozenset(
    """
    above after all any because before below between both can could down during each either few from further if
    least less might may more most must off only other out over same should some such than then through under
    unless until up when where whether while will would again against almost nearly about
    """.split()  # noqa: SIM905 - a list literal of as many quoted words is harder to read
)
"""Words without a meaning of their own that change what is said."""
_ROW = re.compile(r"[|{}]|\t| {3,}|(?:\S+;){3}|_{3,}|\.{4,}")
_MAY = re.compile(r"\bmay\b")  # not the month
_MEASURES = frozenset(stem(each) for each in MEASURE_WORDS - {"second"})  # not "the second position"
_LONG_WORD = re.compile(r"[^\W\d_]{3,}")
_CAPITALISED = re.compile(r"(?<![^\W_])[^\W\d_a-z][^\W_]*(?:[-'’][^\W_]+)*")


@dataclass(frozen=True)
class SourcedSentence:
    """A sentence on one line and the source that says it; `key` is that of its passage."""

    text: str
    source: Source
    key: str

    @cached_property
    def long_words(self) -> frozenset[str]:
        """Its words of three letters and more, by which sentences that are alike are found at little cost."""
        return frozenset(_LONG_WORD.findall(self.text.lower()))

    @cached_property
    def terms(self) -> frozenset[str]:
        """Its content terms without numbers and measures."""
        return frozenset(each for each in content_terms(self.text) if not each[0].isdigit()) - _MEASURES

    @cached_property
    def words(self) -> list[str]:
        """All its words, in order."""
        return words(self.text.replace("cannot", "can not"))

    @cached_property
    def names(self) -> frozenset[str]:
        """The stems of its words that begin with a capital, at its beginning too, but for stop words and months."""
        found = (each.casefold() for each in _CAPITALISED.findall(self.text))
        return frozenset(stem(each) for each in found if each not in STOP_WORDS) - _MEASURES

    @cached_property
    def numbers(self) -> list[Quantity]:
        """Its numbers and months, without what may not be a number."""
        return [each for each in quantities(self.text) if each.certain or each.month]

    @cached_property
    def is_negated(self) -> bool:
        """Whether it has an odd number of negations."""
        found = sum(
            (word in _NEGATIONS or word.endswith("n't")) and after not in _NOT_NEGATED_BEFORE
            for word, after in zip(self.words, [*self.words[1:], ""], strict=True)
        )
        return found % 2 == 1

    @cached_property
    def limits(self) -> frozenset[str]:
        """Its words that limit what it says, such as "after", "most" and "if"."""
        found = _LIMITING.intersection(self.words)
        return found - {"may"} if "may" in found and _MAY.search(self.text) is None else found

    def begins_with(self, terms: frozenset[str]) -> bool:
        """Return whether its first content term that is no number or measure is one of `terms`."""
        first = next((each for each in content_terms(self.text) if each in self.terms), None)
        return first in terms


def sourced_sentences(text: str, source: Source, key: str) -> list[SourcedSentence]:
    """Return the sentences of a passage that can be compared: no rows, questions or fragments."""
    text = text[:_MAX_PASSAGE_CHARS]
    spans = (text[span.start : span.end] for span in sentence_spans(text))
    return [
        SourcedSentence(" ".join(each.split()), source, key)
        for each in spans
        if _MIN_CHARS <= len(each) <= _MAX_CHARS and not _ROW.search(each) and not each.endswith("?")
    ]


def alike_pairs(read: Sequence[SourcedSentence]) -> Iterator[tuple[SourcedSentence, SourcedSentence]]:
    """Yield the pairs of different sentences, the longer second, that share most long words of the shorter.

    Two such sentences share one of the shorter's rarest words, so that only those with one in common are compared.
    Source: prefix filtering, Bayardo, Ma and Srikant, "Scaling up all pairs similarity search", WWW 2007.
    """
    having: dict[str, list[int]] = defaultdict(list)
    for index, each in enumerate(read):
        for word in each.long_words:
            having[word].append(index)
    for index, each in enumerate(read):
        size = len(each.long_words)
        rare = sorted(each.long_words, key=lambda word: (len(having[word]), word))[: size - int(_ALIKE * size - 1e-9)]
        for at in sorted({at for word in rare for at in having[word]}):
            other = read[at]
            is_longer = (len(other.long_words), at) > (size, index) and other.text != each.text
            if is_longer and len(each.long_words & other.long_words) >= _ALIKE * size:
                yield each, other
