"""Lexical support: how much of a claim's words the passages contain."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from asky.evidence.citations.markers import masked_lookalikes
from asky.evidence.plain_text import masked_markup
from asky.evidence.quotes import Quotable
from asky.evidence.verification.numerals import eras_of_year
from asky.evidence.verification.opposites import Pole, poles_of
from asky.evidence.verification.powers import with_powers
from asky.evidence.verification.quantities import NUMBER_WORDS, Quantity, quantities
from asky.evidence.verification.record_claims import Record, read_record
from asky.evidence.verification.records import describes, read_values, rows_of, spelled
from asky.evidence.verification.word_for_word import WholeUnits
from asky.text.sentences import sentence_spans
from asky.text.terms import content_terms, stem, words

_WINDOW_SENTENCES = 3
_NUMBER_WEIGHT = 2.0
_TERMS_KNOWN = 16_384
_NEGATIONS = frozenset(
    {"not", "no", "never", "none", "nobody", "nothing", "neither", "nor", "cannot", "without", "hardly", "barely"}
)
_NOT_NEGATED_BEFORE = frozenset({"only", "just", "merely", "doubt", "least"})  # "not only", "no doubt"


@dataclass(frozen=True, slots=True)
class Statement:
    """A claim, or a sentence of a passage, in the forms that are compared."""

    terms: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    quantities: tuple[Quantity, ...]
    values: frozenset[str]
    months: frozenset[int]
    negated: bool
    poles: frozenset[Pole]
    text: str


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage that has been analysed once, for any number of claims.

    `units` maps each value of its numbers to the units it has there; `None` is an unknown unit. A year also gives its
    decade and its century. `record` has the values of a record, which are also read as sentences with their names, and
    as `rows`, each with its terms; the first `said` of the sentences are those of the text itself. `is_description` is
    true if some values are texts, such as the reviews of a place, which a claim sums up.
    """

    quotable: Quotable
    whole: WholeUnits
    sentences: tuple[Statement, ...]
    terms: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    units: Mapping[str, frozenset[str | None]]
    said: int
    record: Record | None = None
    rows: tuple[tuple[str, frozenset[str]], ...] = ()
    is_description: bool = False


@dataclass(frozen=True, slots=True)
class Support:
    """Shares of a claim that passages contain, each in [0, 1].

    `window`: of its terms, the best three consecutive sentences of one passage; `together`: of its terms, all passages;
    `pairs`: of its pairs of neighbouring terms, all passages. A number counts as two terms. `score` is their mean.

    Source: of coverage by everything, by windows of 1, 2, 3 and 5 sentences, of pairs and near pairs and their means,
    the mean of these three was best or within 0.005 of it on AttributionBench (dev), WiCE (dev) and RAGTruth.
    """

    window: float
    together: float
    pairs: float

    @property
    def score(self) -> float:
        return (self.window + self.together + self.pairs) / 3


def read_statement(text: str) -> Statement:
    """Return the comparable forms of `text`, taken as one statement."""
    terms = _terms(text)
    found = tuple(quantities(text))
    read = words(text)
    return Statement(
        terms=frozenset(terms),
        pairs=frozenset(pairwise(terms)),
        quantities=found,
        values=frozenset(value for quantity in found for value in quantity.values),
        months=frozenset(quantity.month for quantity in found if quantity.month is not None),
        negated=_is_negated(read),
        poles=poles_of(read),
        text=text,
    )


def _terms(text: str) -> list[str]:
    """Return the content terms of `text`, with small number words as digits, and powers written in one way."""
    return [_as_digits(term) for term in content_terms(with_powers(text))]


@lru_cache(maxsize=_TERMS_KNOWN)
def _as_digits(term: str) -> str:
    """Return a term, or the digits of a number word if it is the stem of one."""
    return next((str(value) for name, value in NUMBER_WORDS.items() if stem(name) == term), term)


def _is_negated(words_read: list[str]) -> bool:
    return any(
        (word in _NEGATIONS or word.endswith("n't")) and after not in _NOT_NEGATED_BEFORE
        for word, after in pairwise([*words_read, ""])
    )


def read_passage(text: str, columns: str | None = None) -> Passage:
    """Return a passage with its sentences; `columns` is the head of a table that goes on at its start."""
    values = read_values(text, columns)
    whole = f"{text}\n\n{spelled(values)}" if values else text
    spans = sentence_spans(whole)
    sentences = tuple(read_statement(whole[span.start : span.end]) for span in spans)
    terms = _terms(whole)
    units: dict[str, set[str | None]] = {}
    for sentence in sentences:
        for quantity in sentence.quantities:
            for value in quantity.values:
                units.setdefault(value, set()).add(quantity.unit)
                for era in eras_of_year(value):
                    units.setdefault(era, set()).add(None)
    return Passage(
        Quotable(masked_markup(masked_lookalikes(text)), ignore_case=True, columns=columns),
        WholeUnits(text),
        sentences,
        frozenset(terms),
        frozenset(pairwise(terms)),
        {value: frozenset(known) for value, known in units.items()},
        sum(span.start < len(text) for span in spans),
        read_record(values) if values else None,
        tuple((row, frozenset(_terms(row))) for row in rows_of(values)),
        describes(values, text),
    )


def measure_support(claim: Statement, passages: Sequence[Passage]) -> Support:
    """Return how much of `claim` the passages contain; all zero for a claim without terms."""
    total = _weight(claim.terms)
    if not total:
        return Support(0.0, 0.0, 0.0)
    window = _best_window(claim.terms, passages)
    together = _weight(frozenset().union(*(claim.terms & passage.terms for passage in passages)))
    held_pairs = sum(any(pair in passage.pairs for passage in passages) for pair in claim.pairs)
    pairs = held_pairs / len(claim.pairs) if claim.pairs else together / total
    return Support(window / total, together / total, pairs)


def coverage(terms: frozenset[str], by: frozenset[str]) -> float:
    """Return the share of `terms` that is in `by`; 0 without terms."""
    return len(terms & by) / len(terms) if terms else 0.0


def _best_window(terms: frozenset[str], passages: Sequence[Passage]) -> float:
    best = 0.0
    for passage in passages:
        held: deque[frozenset[str]] = deque(maxlen=_WINDOW_SENTENCES)
        for sentence in passage.sentences:
            held.append(terms & sentence.terms)
            if held[-1]:
                together = frozenset().union(*held)
                best = max(best, _weight(together))
                if len(together) == len(terms):
                    return best
    return best


def _weight(terms: frozenset[str]) -> float:
    return sum(_NUMBER_WEIGHT if term[0].isdigit() else 1.0 for term in terms)
