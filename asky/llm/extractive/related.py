"""Words of a question that a document says in another form: "how long" in a table with the column *Length*."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from asky.text.terms import stem

_ASKED_WITH = {
    "length": "long",
    "duration": "long",
    "height": "high tall",
    "depth": "deep",
    "width": "wide",
    "weight": "heavy weigh",
    "size": "big large",
    "age": "old",
    "speed": "fast quick",
    "distance": "far",
    "price": "cost expensive cheap",
    "cost": "price expensive cheap",
    "fee": "cost price pay",
    "attendees": "attend present meeting",
    "present": "attend meeting",
    "participants": "attend present meeting",
    "due": "deadline",
    "deadline": "due",
    "owner": "own",
    "birthday": "born",
    "born": "birthday",
    "email": "mail contact reach",
    "phone": "call contact telephone",
    "licence": "license",
    "license": "licence",
}
_RELATED: Mapping[str, frozenset[str]] = MappingProxyType(
    {stem(said): frozenset(map(stem, asked.split())) for said, asked in _ASKED_WITH.items()}
)


def related(terms: Iterable[str]) -> frozenset[str]:
    """Return the stems that people ask with for what a text with the stems `terms` says."""
    return frozenset[str]().union(*(_RELATED[term] for term in terms if term in _RELATED))
