"""Comparison of a claim with a record, value by value.

- a yes or no (`OutdoorSeating: false`) with what a clause says of it, and `null` with anything said of it;
- hours by day with the days and times of the claim;
- a number beside the names of one row and one column with the cell where they meet.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from asky.evidence.verification.opening_hours import DAYS, Times, differing_days, hours_of
from asky.evidence.verification.quantities import Quantity, agree, quantities
from asky.evidence.verification.records import Value, spelled_name
from asky.text.terms import STOP_WORDS, content_terms, stem, words

_MAX_CLAIM_CHARS = 2_000  # a longer claim is no sentence
_LABEL_WORDS = 8
_NUMBER_CHARS = 24
_SAME_LETTERS = 4
_VAGUE = frozenset({"lot", "street"})  # "a lot", "State Street": they need the name around them
_NEGATORS = frozenset(
    "not no never none neither nor cannot without lack lacks lacking unavailable rather non".split()  # noqa: SIM905
)
_AFFIRM = frozenset(
    "has have had offers offer provides provide features feature includes include accepts takes".split()  # noqa: SIM905
)
_BE = frozenset({"is", "are", "was", "were", "do", "does", "did"})

_VERBS = r"(?:it|they|there|does|do|is|are|has|have|can|doesn't|don't|isn't|offers?|provides?|accepts?|lacks?)"
_SPLIT = re.compile(
    r"[;:]\s|(?<=[a-z)])\.\s"
    r"|,?\s*\b(?:but|while|although|though|however|whereas|except|yet|because|as it|as they)\b,?"
    rf"|,?\s+and\s+(?=(?:{_VERBS}|the|did|was|were|had|will|also|no|not|takes?|caters?|features?|allows?)\b)"
    rf"|,\s+(?={_VERBS}\b)|,\s+and\s+(?=(?:[\w-]+\s){{1,4}}(?:is|has|was)\b)",
    re.IGNORECASE,
)
_LEADING = re.compile(r"^\W*(?:while|although|though|despite)\b([^,]*),", re.IGNORECASE)
_SAYS_UNKNOWN = re.compile(
    r"\b(?:specif|mention|provide (?:any |details|information)|information|details?|unclear|unknown|not known|"
    r"states?d?\b|null)",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_IN_BRACKETS = re.compile(r"\([^()]*\)")


@dataclass(frozen=True, slots=True)
class ValueFault:
    """A value that a claim differs from: `name` and `value` as in the record; a `value` of `null` is unknown.

    `is_certain` is false where the claim has the one word of a name, such as "casual", but not that of what it belongs
    to, such as "ambience": it may be said of something else.
    """

    name: str
    value: str
    is_certain: bool = True

    @property
    def is_unknown(self) -> bool:
        return self.value == "null"


@dataclass(frozen=True, slots=True)
class _Decided:
    """A yes, a no or a `null`, with the stems of its name of which a clause must have all, or the name in one word."""

    value: Value
    terms: tuple[str, ...]
    joined: str | None
    around: str | None


@dataclass(frozen=True, slots=True)
class Record:
    """The values of a passage, ready for comparison with any number of claims.

    `elsewhere` are the stems of its texts, `labels` the texts that name a row, `cells` its numbers with the terms of
    their names, `columns` counts the names.
    """

    decided: tuple[_Decided, ...]
    elsewhere: frozenset[str]
    hours: Mapping[int, Times | None]
    hours_written: Mapping[int, str]
    labels: tuple[tuple[Value, frozenset[str]], ...]
    cells: tuple[tuple[Value, frozenset[str], Quantity], ...]
    columns: Mapping[str, int]


def read_record(values: Sequence[Value]) -> Record:
    """Return the values of a passage, indexed; linear time."""
    decided = [value for value in values if value.truth is not None or value.is_null]
    texts = [value for value in values if value.truth is None and not value.is_null]
    numbers = [(value, number) for value in texts if (number := _number_of(value.text)) is not None]
    numbered = {id(value) for value, _ in numbers}
    hours = {value.name: value.text for value in values if value.name.lower() in DAYS}
    return Record(
        tuple(_decided(decided)),
        frozenset(stem(word) for value in texts for word in words(value.text)),
        hours_of(hours),
        {DAYS.index(name.lower()): text for name, text in hours.items()},
        tuple(
            (value, _label_terms(value.text))
            for value in texts
            if id(value) not in numbered and value.text.count(" ") < _LABEL_WORDS and _label_terms(value.text)
        ),
        tuple((value, _label_terms(value.name), number) for value, number in numbers if _label_terms(value.name)),
        Counter(value.name for value in values),
    )


def value_faults(claim: str, record: Record) -> list[ValueFault]:
    """Return the values that `claim` says otherwise, and the `null` ones that it says anything of, each once."""
    if len(claim) > _MAX_CLAIM_CHARS:
        return []
    faults = [fault for clause in _clauses(claim) for fault in _truth_faults(clause, record)] if record.decided else []
    for day in differing_days(claim, record.hours) if record.hours else ():
        faults.append(ValueFault(DAYS[day].capitalize(), record.hours_written.get(day, "null")))
    return list(dict.fromkeys([*faults, *(_cell_faults(claim, record) if record.cells else ())]))


# yes, no and unknown


def _decided(values: Sequence[Value]) -> Iterator[_Decided]:
    """Yield the values whose name no other object repeats; a word that several names share does not tell them apart."""
    parts = {value.name: words(spelled_name(value.name)) for value in values}
    shared = Counter(stem(part) for name in parts.values() for part in set(name))
    repeated = Counter((value.around, value.name) for value in values)
    for value in values:
        name = parts[value.name]
        if not name or repeated[value.around, value.name] > 1:
            continue
        stems = () if any(part in STOP_WORDS for part in name) else tuple(stem(part) for part in name)
        terms = tuple(term for term in stems if shared[term] < 2) or stems
        around = words(spelled_name(value.around))
        joined = "".join(name).rstrip("s") if len(name) > 1 else None
        yield _Decided(value, terms, joined, stem(around[-1]) if around else None)


def _clauses(claim: str) -> list[list[str]]:
    leading = _LEADING.match(claim)
    parts = [leading[1], claim[leading.end() :]] if leading else [claim]
    return [words(part) for each in parts for part in _SPLIT.split(each) if part]


def _truth_faults(clause: list[str], record: Record) -> Iterator[ValueFault]:
    where: dict[str, int] = {}
    for at, word in enumerate(clause):
        for part in word.split("-"):
            where.setdefault(stem(part), at)
    joined = {word.replace("-", "").rstrip("s"): at for at, word in enumerate(clause)}
    joined |= {one + other.rstrip("s"): at for at, (one, other) in enumerate(pairwise(clause), 1)}
    for each in record.decided:
        place = _mention(each, where, joined, record.elsewhere)
        if place is None:
            continue
        if each.value.is_null:
            if each.value.around and not _SAYS_UNKNOWN.search(" ".join(clause)):
                yield ValueFault(each.value.name, "null")
        elif each.value.truth == _is_denied(clause, place):
            yield ValueFault(each.value.name, each.value.text, _is_certain(each, where))


def _is_certain(decided: _Decided, where: Mapping[str, int]) -> bool:
    """Return whether a name cannot be that of something else: "ambience" and "ambiance" count as the same word."""
    around = decided.around
    if around is None or len(decided.terms) != 1 or decided.joined is not None:
        return True
    return any(term[:_SAME_LETTERS] == around[:_SAME_LETTERS] for term in where)


def _mention(
    decided: _Decided, where: Mapping[str, int], joined: Mapping[str, int], elsewhere: frozenset[str]
) -> int | None:
    """Return the position at which a clause mentions a value by its name, or `None`.

    A word that also stands in the record's texts may be theirs, and then needs the name around it: "garage" where
    garage doors are sold is no parking.
    """
    terms = decided.terms
    if terms and all(term in where for term in terms):
        is_own = any(term not in elsewhere and term not in _VAGUE for term in terms)
        if is_own or decided.around in where:
            return max(where[term] for term in terms)
    return joined.get(decided.joined) if decided.joined else None


def _is_denied(clause: Sequence[str], place: int) -> bool:
    """Return whether a clause denies what it mentions at `place`: "no parking", "parking is not available"."""
    if any(word in _NEGATORS or word.endswith("n't") for word in clause[: place + 1]):
        return True
    if any(word in _BE or word in _AFFIRM for word in clause[:place]):
        return False  # what follows is said of something else
    has_be = False
    for word in clause[place + 1 :]:
        if word == "unavailable" or word.endswith("n't") or (word == "not" and has_be):
            return True
        has_be = has_be or word in _BE
    return False


# numbers


def _cell_faults(claim: str, record: Record) -> Iterator[ValueFault]:
    """Yield the cell whose number differs from the one that `claim` says of its row and its column.

    A row is named by one of its texts, and by a year if several are; a column by its name; a name that only one row has
    needs no row. The claim must have at most one number for each cell, beside those in the names, each in digits and in
    the record: right for 8 of 11 claims about tables of `tools/reader_data`, where that bound was chosen, and for 29
    of 88 without it, most of which state a sum or a difference.
    """
    terms = frozenset(content_terms(claim))
    labels = [label for label, named in record.labels if named <= terms]
    rows = {label.row for label in labels}
    years = [
        value
        for value, _, _ in record.cells
        if value.row in rows and value.text in terms and _YEAR.fullmatch(value.text)
    ]
    rows = {value.row for value in years} or rows
    cells = [
        (value, number)
        for value, named, number in record.cells
        if named <= terms and (record.columns[value.name] == 1 or value.row in rows) and value not in years
    ]
    if not cells:
        return
    names = [*(label.text for label in labels), *(value.text for value in years), *(value.name for value, _ in cells)]
    named_numbers = {each for name in names for quantity in quantities(name) for each in quantity.values}
    said = [
        each
        for each in quantities(claim)
        if each.certain and each.month is None and named_numbers.isdisjoint(each.values)
    ]
    held = {each for _, _, number in record.cells for each in number.values}
    if any(each.is_small_word or held.isdisjoint(each.values) for each in said):
        return
    if len(said) <= len(cells) and any(not any(agree(each, number) for _, number in cells) for each in said):
        cell = cells[0][0]
        label = next((label.text for label in labels if label.row == cell.row), "")
        yield ValueFault(f"{label}, {cell.name}" if label else cell.name, cell.text)


@lru_cache(maxsize=4096)
def _label_terms(name: str) -> frozenset[str]:
    return frozenset(content_terms(spelled_name(_IN_BRACKETS.sub(" ", name))))


def _number_of(text: str) -> Quantity | None:
    """Return the number that a value is, with a unit or a sign at most."""
    if len(text) > _NUMBER_CHARS or len(text.split()) > 2:
        return None
    found = quantities(text)
    return found[0] if len(found) == 1 and found[0].month is None else None
