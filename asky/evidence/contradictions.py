"""Sentences of different sources that say the same and differ in a number, a date, or a negation.

Two sentences say the same if they have the same content words but for a few more on one side, name the same, and agree
in the words that limit a statement ("after", "most", "may", "if"). Precision comes before recall: what may be another
period, another subject, a rounded value or a bound is no contradiction. Meaning is not compared.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from itertools import islice
from typing import Literal

from asky.evidence.alike_sentences import SourcedSentence, alike_pairs, sourced_sentences
from asky.evidence.answer import build_citation
from asky.evidence.plain_text import plain_text
from asky.evidence.verification.quantities import Quantity
from asky.text.beside.remarks import without_remarks
from asky.text.terms import content_terms, stem, words
from asky.values import Citation, Claim, Contradiction, ContradictionSide, Evidence, Source

ContradictionKind = Literal["number", "date", "negation"]
_Difference = tuple[ContradictionKind, tuple[str, str]]
"""The kind, and what each of two sentences says: "7 kg" and "9 kg", or nothing for a negation."""

_ALIKE_TERMS = 0.85  # of its content terms
_MIN_TERMS = 3
_MIN_NEGATED_TERMS = 4
_MAX = 5
_MAX_WORDS = 60
_MAX_NUMBERS = 6
_MAX_SENTENCES = 400  # of all passages together, which bounds the time
_MAX_PAIRS = 500
_PATTERN = 3  # sources that fill in a sentence differently
_ROUNDED = 0.05  # of the larger value, by which two numbers differ that may be roundings of one
_NEAR_CHARS = 30  # of a number, where the words stand that limit it
_FIRST_YEAR, _LAST_YEAR = 1000, 2100

_HARMLESS = frozenset(
    {"over", "out", "up", "off", "then", "where", "same", "both", "during", "while", "further", "such"}
)
"""Of the words that limit what is said, those that a longer sentence may have beside those of a shorter one."""
_UNNAMED = frozenset(
    """
    it its he his she her they their this these that those such there we our i my us you your here
    """.split()  # noqa: SIM905 - a list literal of as many quoted words is harder to read
)
"""First words, or persons, that leave open what a sentence is about."""
_SPEAKERS = frozenset(["we", "our", "i", "my", "us", "me", "mine", "ours", "you", "your"])
_BOUND = re.compile(
    r"\b(?:about|approximately|approx|around|roughly|nearly|almost|some|circa|ca|over|more than|at least|up to|fewer|"
    r"less than|under|below|above|exceed\w*|maximum|minimum|max|min|between|or more|or less|estimated|average|within|"
    r"every|only|just|another|other|additional|further|remaining|rest|first|last|next|previous)\b|[~≈<>≤≥±]",
    re.IGNORECASE,
)
_LABELS = frozenset(
    """
    fig figure figures table tables section sections chapter chapters page pages step steps version versions
    volume vol part parts season episode level grade class group phase stage type no number nr appendix equation
    eq algorithm theorem lemma room building line lines item question exercise act article rule case day week
    round game match race test experiment study model layer unit module lesson node port station platform flight
    bus route highway interstate psalm verse paragraph issue option category tier rank ranked v
    """.split()  # noqa: SIM905 - a list literal of as many quoted words is harder to read
)
"""Words before a number that names something instead of counting it."""
_ONCE = frozenset(
    stem(each)
    for each in """
    born died death birth founded established incorporated built completed opened inaugurated released published
    installed bought purchased acquired merged launched invented discovered signed adopted abolished formed
    premiered assassinated executed married introduced patented ratified dissolved destroyed demolished created
    designed erected closed founding
    """.split()  # noqa: SIM905 - as above
)
"""What happens once, so that two dates of it cannot both be right."""
_VERSION = re.compile(
    r"\d+|\b(?:v|ver|version|draft|final|rev|revision|revised|edition|ed|copy|updated?|old|new|january|february|march|"
    r"april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|"
    r"first|second|third|q|quarter|annual|monthly|weekly|daily)\b",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+|[%$€£¥]")
_IN_BRACKETS = re.compile(r"\([^)]*\)")
_NAMED_FIRST = re.compile(r"(?:The |An? |In |At )?[^\W\d_a-z][\w'’-]* [^\W\d_a-z][\w'’-]*[ ,]")


@dataclass(frozen=True, slots=True)
class FoundContradiction:
    """Two sentences that cannot both hold; `explanation` says what differs, as written: "7 kg, 9 kg"."""

    kind: ContradictionKind
    sides: tuple[SourcedSentence, SourcedSentence]
    explanation: str


def answer_contradictions(
    claims: Sequence[Claim], citations: Sequence[Citation], shown: Mapping[str, Evidence]
) -> tuple[tuple[Contradiction, ...], tuple[Citation, ...]]:
    """Return the contradictions between what an answer cites and says, and all passages shown; at most five.

    Also returns the citations, followed by those of passages that contradict a cited one and were not cited. A claim is
    compared if it does not quote, and cites one source.
    """
    key_of = {each.n: each.key for each in citations}
    cited = [*key_of.values()]
    sentences = [
        SourcedSentence(" ".join(plain_text(claim.text).split()), source, key_of[claim.citations[0]])
        for claim in claims
        if claim.checks.get("quotation") is None and (source := _only_source(claim, key_of, shown)) is not None
    ]
    for key in [*cited, *(key for key in shown if key not in set(cited))]:
        sentences += sourced_sentences(without_remarks(shown[key].text), shown[key].source, key)
    found = [each for each in find_contradictions(sentences) if any(side.key in cited for side in each.sides)][:_MAX]
    order = list(dict.fromkeys([*cited, *(side.key for each in found for side in each.sides)]))
    numbers = {key: n for n, key in enumerate(order, start=1)}
    added = [build_citation(numbers[key], shown[key]) for key in order[len(cited) :]]
    return tuple(_reported(each, numbers) for each in found), (*citations, *added)


def _only_source(claim: Claim, key_of: Mapping[int, str], shown: Mapping[str, Evidence]) -> Source | None:
    sources = {source.id: source for n in claim.citations if n in key_of for source in [shown[key_of[n]].source]}
    return next(iter(sources.values())) if len(sources) == 1 else None


def _reported(found: FoundContradiction, numbers: Mapping[str, int]) -> Contradiction:
    sides = (ContradictionSide(each.text, (numbers[each.key],), each.source.title) for each in found.sides)
    return Contradiction(tuple(sides), found.explanation, "check", found.kind)


def find_contradictions(sentences: Iterable[SourcedSentence]) -> list[FoundContradiction]:
    """Return the pairs of `sentences` that contradict each other, in their order; near-linear time.

    Of several pairs with the same difference, the first counts. At most 400 sentences are read, and the first 500 pairs
    of those that are alike.
    """
    read = list(dict.fromkeys(sentences))[:_MAX_SENTENCES]
    place = {id(each): at for at, each in enumerate(read)}
    found: dict[frozenset[str], list[FoundContradiction]] = defaultdict(list)
    for pair in islice(alike_pairs(read), _MAX_PAIRS):
        difference = None if _are_versions(pair[0].source, pair[1].source) else _difference(*pair)
        if difference is not None:
            kind, values = difference
            sides = sorted(zip(pair, values, strict=True), key=lambda side: place[id(side[0])])
            (first, one), (second, other) = sides
            explanation = f"{one}, {other}" if one else "one of the two denies it"
            found[first.terms & second.terms].append(FoundContradiction(kind, (first, second), explanation))
    return [each for same in found.values() for each in _without_patterns(same)]


def _without_patterns(same: Sequence[FoundContradiction]) -> Sequence[FoundContradiction]:
    """Return what was found for one sentence, once; nothing if it is a pattern that every source fills in differently.

    Articles on towns all have a sentence on their population.
    """
    sources = {side.source.id for each in same for side in each.sides}
    differences = {each.explanation for each in same}
    if len(differences) >= _PATTERN and len(sources) >= _PATTERN:
        return ()
    return list({each.explanation: each for each in reversed(same)}.values())[::-1]


def _are_versions(first: Source, second: Source) -> bool:
    """Return whether two sources are one, or versions, periods or reprints of one document, by identifier or title."""
    if first.id == second.id or (first.doi and first.doi == second.doi):
        return True
    bare = [" ".join(words(_VERSION.sub(" ", each.title.replace("_", " ")))) for each in (first, second)]
    return bare[0] == bare[1] and bool(first.title and second.title)


def _difference(first: SourcedSentence, second: SourcedSentence) -> _Difference | None:
    """Return what two sentences with alike terms contradict each other in, if they do."""
    if not _say_the_same(first, second):
        return None
    numbers = [first.numbers, second.numbers]
    if max(map(len, numbers)) > _MAX_NUMBERS:
        return None
    lacking = [_lacking(numbers[0], numbers[1]), _lacking(numbers[1], numbers[0])]
    if not lacking[0] and not lacking[1]:
        return _opposite(first, second)
    if not lacking[0] or not lacking[1] or first.is_negated or second.is_negated:
        return None
    if all(_is_date(each, side) for side, part in zip(numbers, lacking, strict=True) for each in part):
        return _dates(first, second, numbers)
    if len(lacking[0]) != 1 or len(lacking[1]) != 1:
        return None
    return _values((first, second), (lacking[0][0], lacking[1][0]))


def _say_the_same(first: SourcedSentence, second: SourcedSentence) -> bool:
    """Return whether two sentences are about the same, as far as their words tell."""
    if max(len(first.words), len(second.words)) > _MAX_WORDS:
        return False
    if len(first.terms & second.terms) < max(_MIN_TERMS, _ALIKE_TERMS * len(first.terms)):
        return False
    if first.limits - second.limits or not (second.limits - first.limits) <= _HARMLESS:
        return False
    if not _SPEAKERS.isdisjoint([*first.words, *second.words]) or not first.names <= second.names | second.terms:
        return False
    if first.words[0] in _UNNAMED or second.words[0] in _UNNAMED or not second.begins_with(first.terms):
        return False
    return _is_named(first, second)


def _is_named(first: SourcedSentence, second: SourcedSentence) -> bool:
    """Return whether two sentences name what they are about, and do not leave it to the title of their source.

    "The watershed has an area of 3 sqmi" is true of many creeks. They have a word by which their titles differ, begin
    with a name of two words, or the title of one source contains that of the other.
    """
    titles = [set(content_terms(_IN_BRACKETS.sub("", each.source.title))) for each in (first, second)]
    if (titles[0] ^ titles[1]) & first.terms & second.terms:
        return True
    is_part = all(titles) and (titles[0] <= titles[1] or titles[1] <= titles[0])
    return is_part or all(_NAMED_FIRST.match(each.text) for each in (first, second))


def _lacking(numbers: Sequence[Quantity], others: Sequence[Quantity]) -> list[Quantity]:
    """Return those of `numbers` that `others` do not have."""
    values = frozenset(value for each in others for value in each.values)
    months = {each.month for each in others if each.month}
    return [each for each in numbers if (each.month not in months if each.month else each.values.isdisjoint(values))]


def _is_date(number: Quantity, numbers: Sequence[Quantity]) -> bool:
    if number.month:
        return True
    if number.unit is None and number.written.isdigit() and _FIRST_YEAR <= int(number.written) <= _LAST_YEAR:
        return True
    return any(each.month and abs(each.position - number.position) == 1 for each in numbers)


def _dates(
    first: SourcedSentence, second: SourcedSentence, numbers: Sequence[Sequence[Quantity]]
) -> _Difference | None:
    """Return a difference between two dates of what happens once; both sentences have one date."""
    if not first.terms & second.terms & _ONCE:
        return None
    written: list[str] = []
    for side in numbers:
        parts = [each for each in side if _is_date(each, side)]
        years = [each for each in parts if not each.month and len(each.written) == len("2000")]
        if len(years) > 1 or sum(each.month is not None for each in parts) > 1 or len(parts) > len("dmy"):
            return None
        written.append(" ".join(each.written for each in parts))
    if len(written[0].split()) != len(written[1].split()):
        return None
    return "date", (written[0], written[1])


def _values(sides: tuple[SourcedSentence, SourcedSentence], numbers: tuple[Quantity, Quantity]) -> _Difference | None:
    """Return a difference between two numbers of the same thing."""
    if numbers[0].unit != numbers[1].unit:
        return None
    beside = [_beside(side, number) for side, number in zip(sides, numbers, strict=True)]
    if beside[0] is None or beside[0] != beside[1] or any(_is_date(number, [number]) for number in numbers):
        return None
    if _may_be_rounded(*numbers):
        return None
    return "number", (_written(numbers[0]), _written(numbers[1]))


def _written(number: Quantity) -> str:
    return number.written if number.unit is None else f"{number.written} {number.unit}"


def _beside(side: SourcedSentence, number: Quantity) -> tuple[str, str] | None:
    """Return the words before and after a number; `None` if it is part of a name, a bound, or written otherwise."""
    at = side.text.find(number.written)
    if at < 0:
        return None
    end = at + len(number.written)
    if _BOUND.search(side.text[max(0, at - _NEAR_CHARS) : end + _NEAR_CHARS]):
        return None
    before = _TOKEN.findall(side.text[max(0, at - _NEAR_CHARS) : at])
    after = _TOKEN.findall(side.text[end : end + _NEAR_CHARS])
    last, following = before[-1] if before else "", after[0] if after else ""
    if stem(last.casefold()) in _LABELS or last.casefold() in _LABELS or (len(before) > 1 and last[:1].isupper()):
        return None
    return stem(last.casefold()), stem(following.casefold())


def _may_be_rounded(first: Quantity, second: Quantity) -> bool:
    """Return whether any of the values of two numbers are nearly equal, or cannot be compared."""
    try:
        pairs = [(Decimal(one), Decimal(other)) for one in first.values for other in second.values]
    except InvalidOperation:
        return True
    return any(abs(one - other) <= Decimal(_ROUNDED) * max(abs(one), abs(other)) for one, other in pairs)


def _opposite(first: SourcedSentence, second: SourcedSentence) -> _Difference | None:
    if first.is_negated == second.is_negated or first.terms ^ second.terms or len(first.terms) < _MIN_NEGATED_TERMS:
        return None
    return "negation", ("", "")
